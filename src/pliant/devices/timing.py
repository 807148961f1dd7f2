"""Durations as whole numbers of nanoseconds."""

from __future__ import annotations

import math

from pliant.base.errors import DeviceError
from pliant.engine.base import Engine


def to_ns(seconds: float, what: str) -> int:
    """Convert a duration to a whole number of nanoseconds.

    Args:
        seconds: the duration [s], >= 0.
        what: name of the duration in error messages, such as ``"elbow: period"``.

    Returns:
        The duration, rounded to the nearest nanosecond [ns].

    Raises:
        DeviceError: the duration is not a finite number >= 0.
    """
    try:
        value = float(seconds)
    except (TypeError, ValueError):
        value = math.nan
    if isinstance(seconds, str) or not math.isfinite(value) or value < 0.0:
        raise DeviceError(f"{what} is {seconds!r}; must be a finite number of seconds >= 0", field=what)
    return round(value * 1e9)


def step_ns(engine: Engine) -> int:
    """Return the time step of an engine as a whole number of nanoseconds [ns].

    Raises:
        DeviceError: the time step is not positive, or not a whole number of nanoseconds.
    """
    dt = float(engine.dt)
    result = round(dt * 1e9) if math.isfinite(dt) else 0
    if result <= 0 or abs(dt * 1e9 - result) > 1e-3:
        raise DeviceError(
            f"the engine's step dt is {dt!r} s; must be a whole number of nanoseconds above 0", field="dt"
        )
    return result
