"""The scenarios that come with pliant."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources

from pliant.devices.base import Device
from pliant.simulation.scenario import Scenario, read_scenario

__all__ = ["shipped_scenarios"]


@functools.lru_cache(maxsize=1)
def _shipped() -> dict[str, Scenario]:
    files = resources.files("pliant.simulation") / "scenarios"
    with resources.as_file(files) as folder:
        return {path.stem: read_scenario(path) for path in sorted(folder.glob("*.yaml"))}


def shipped_scenarios(devices: Mapping[str, Device]) -> dict[str, Scenario]:
    """Return the scenarios of pliant that fit these devices, by name.

    Args:
        devices: name -> device.
    """
    return {name: scenario for name, scenario in _shipped().items() if not scenario.problems(devices)}
