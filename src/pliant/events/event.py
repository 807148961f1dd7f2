"""Common parts of all events of a scenario: their time, their check, and the end of those that last."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from pliant.base.errors import nearest
from pliant.devices.base import Device
from pliant.engine.base import Engine

if TYPE_CHECKING:
    from pliant.simulation.loop import Simulation


class EventBase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="event"):
    at: float
    """When [s of run time], >= 0."""

    def problem(self, devices: Mapping[str, Device], engine: Engine) -> str:
        """Return the error of the event for these devices and this engine; "" if there is none."""
        device = getattr(self, "device", None)
        if device is not None and device not in devices:
            return f"there is no device {device!r}; {nearest(device, devices)}"
        return ""

    def apply(self, simulation: Simulation) -> object:
        """Do it; the loop thread calls this. An event with a duration returns its `Ending`."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The end of an event that has a duration, which is scheduled."""

    at: float
    """When it ends [s of run time]."""
    number: int
    """Number of the scheduled event, for `Simulation.forget`."""
    end: Callable[[], None]
    """Ends it; the loop thread calls this."""


def end_later(
    event: EventBase, duration: float | None, simulation: Simulation, period: float, end: Callable[[], None]
) -> Ending | None:
    """Schedule the end of an event that has just begun.

    Args:
        event: the event.
        duration: how long it lasts [s]; None for ever.
        simulation: where it happens.
        period: shortest time for which it acts [s].
        end: what ends it.

    Returns:
        The end; None if there is no duration.
    """
    if duration is None:
        return None
    at = max(event.at + duration, simulation.elapsed + period)
    return Ending(at=at, number=simulation.at(at, lambda _: end()), end=end)


def duration_problem(duration: float | None) -> str:
    """Return the error of a duration; "" if there is none."""
    if duration is None or (math.isfinite(duration) and duration > 0.0):
        return ""
    return f"duration is {duration!r}; must be a finite number of seconds above 0"
