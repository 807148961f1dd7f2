"""Devices that run the worlds of a sweep: the cores, and what other packages of pliant offer by name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pliant.base.errors import PliantError
from pliant.base.wing import offers, resolve

if TYPE_CHECKING:
    from pliant.batch.measures import Measures
    from pliant.batch.worlds import RobotBatch
    from pliant.model.robot import Robot

CPU = "cpu"
"""The device of the sweep itself: MuJoCo's batch on all cores."""


class WorldBackend(Protocol):
    """Functions that simulate many worlds of one robot on a device."""

    @staticmethod
    def check_device(device: str) -> None:
        """Raise a `PliantError` if this machine has no such device or misses a package."""
        ...

    @staticmethod
    def make_batch(robot: Robot, worlds: int, device: str) -> RobotBatch:
        """Return a batch of worlds on a device."""
        ...

    @staticmethod
    def run_measured(
        batch: RobotBatch, joints: Sequence[str], commands: Sequence[Sequence[tuple[int, float]]], steps: int
    ) -> Measures:
        """Run a batch and return the results of its joints.

        Args:
            batch: what `make_batch` returned.
            joints: compliant joints, each driven by the actuator of the same name.
            commands: the controls that change before each step, as (column of ``ctrl``, value).
            steps: number of steps.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendEntry:
    """A back end that is imported when one of its devices is used."""

    devices: Mapping[str, str]
    """Name of a device -> description; ``:N`` at the end of a name stands for a number."""
    target: str
    """The `WorldBackend`, as "module:name"."""


def backend_entries() -> list[BackendEntry]:
    """Return the back ends that wings declare, beside the cores."""
    return [offer.load() for offer in offers("batches")]


def describe_devices() -> str:
    """Return the names of all devices with their descriptions, for a help text."""
    found = {CPU: "all cores"}
    for entry in backend_entries():
        found.update(entry.devices)
    return ", ".join(f"{name} ({text})" for name, text in found.items())


def check_device_name(device: str) -> None:
    """Raise a `PliantError` if nothing has a device of this name."""
    if device != CPU:
        _entry(device)


def find_backend(device: str) -> WorldBackend:
    """Return the back end of a device that is not `CPU`.

    Raises:
        PliantError: no back end has a device of this name.
    """
    return resolve(_entry(device).target, f"the device {device!r}")


def _entry(device: str) -> BackendEntry:
    for entry in backend_entries():
        if any(re.fullmatch(re.escape(name).replace(":N", r":\d{1,3}"), device) for name in entry.devices):
            return entry
    *names, last = [CPU, *(name for entry in backend_entries() for name in entry.devices)]
    raise PliantError(f"device is {device!r}; must be {', '.join(names)} or {last}", field="device")
