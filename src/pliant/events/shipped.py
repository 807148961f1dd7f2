"""The scenarios that come with pliant, and the choice between them and files."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from pliant.base.errors import DeviceError, PliantError, nearest
from pliant.base.wing import offers
from pliant.devices.base import Device
from pliant.engine.base import Engine, check_engine
from pliant.events.scenario import Scenario, read_scenario
from pliant.robots.catalogue import scenario_file

SUFFIXES = (".yaml", ".yml", ".json")


@functools.cache
def _read(name: str, package: str) -> Scenario:
    with resources.as_file(scenario_file(name, package)) as path:
        return read_scenario(path)


def _shipped() -> dict[str, Scenario]:
    """Return the scenarios that wings have for their robots, by name, sorted."""
    return {offer.key: _read(offer.key, offer.value) for offer in sorted(offers("scenarios"), key=lambda o: o.key)}


def shipped_scenarios(devices: Mapping[str, Device], engine: Engine) -> dict[str, Scenario]:
    """Return the scenarios of pliant that fit a robot, by name.

    Args:
        devices: name -> device.
        engine: the physics of the robot.
    """
    check_engine(engine, "shipped_scenarios")
    _check_devices(devices, "shipped_scenarios")
    return {name: scenario for name, scenario in _shipped().items() if not scenario.problems(devices, engine)}


def read_scenario_file(file_or_name: str | Path) -> Scenario | None:
    """Read a scenario if it is given as a file; return None for a name, which `find_scenario` takes.

    A file is what exists, has a suffix (.yaml, .yml, .json), or is written with a folder.

    Raises:
        DeviceError: the file does not exist, or is not a valid scenario.
    """
    text = os.fspath(file_or_name)
    path = Path(text).expanduser()
    if path.suffix.lower() in SUFFIXES or os.sep in text or "/" in text or path.is_file():
        return read_scenario(path)
    return None


def find_scenario(name: str, devices: Mapping[str, Device], engine: Engine) -> Scenario:
    """Return a scenario of pliant that fits a robot.

    Args:
        name: its name.
        devices: name -> device.
        engine: the physics of the robot.

    Raises:
        DeviceError: there is no such scenario, or it does not fit the robot; the message lists those that fit.
    """
    check_engine(engine, "find_scenario")
    _check_devices(devices, "find_scenario")
    fitting = shipped_scenarios(devices, engine)
    if name in fitting:
        return fitting[name]
    scenario = _shipped().get(name)
    if scenario is not None:
        why = f"does not fit this robot ({scenario.problems(devices, engine)[0].partition(';')[0]})"
    else:
        why = "is neither a file nor a scenario of pliant"
    known = f"{nearest(name, fitting)} (those that fit this robot)" if fitting else "no scenario of pliant fits it"
    raise DeviceError(f"scenario {name!r} {why}; {known}", field="scenario")


def _check_devices(given: object, asker: str) -> None:
    """Raise PliantError unless devices are given by name, as `Simulation.devices` has them."""
    if not isinstance(given, Mapping):
        raise PliantError(
            f"{asker} got {type(given).__name__} as devices; must be a mapping of device by name, such as "
            "simulation.devices",
            field="devices",
        )
