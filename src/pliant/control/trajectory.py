"""Reference motions: minimum jerk.

A trajectory is called with a time, or an array of times, and returns position, velocity and acceleration. A motion of
n joints has parameters of shape (n,); one of a single joint has numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.argument_checks import ControlError, number, vector
from pliant.base.numerics import Array

Values: TypeAlias = float | Array
"""A number, or one for each joint, shape (n,)."""


class Motion(NamedTuple):
    """A trajectory at one time, shape () or (n,), or at many, shape (t,) or (t, n)."""

    position: Array
    """[rad], or [m] in a task space."""
    velocity: Array
    """[rad/s]."""
    acceleration: Array
    """[rad/s^2]."""


class Trajectory(Protocol):
    """Anything that gives a motion at a time [s]."""

    duration: float

    def __call__(self, time: ArrayLike) -> Motion: ...


def _store(owner: object, **values: ArrayLike) -> None:
    """Bring values to one shape and write them into a frozen dataclass."""
    name = type(owner).__name__
    scalar = all(np.ndim(value) == 0 for value in values.values())
    arrays = {field: vector(name, field, value) for field, value in values.items()}
    size = max(a.size for a in arrays.values())
    for field, array in arrays.items():
        if array.size not in (1, size):
            raise ControlError(f"{name}: {field} has {array.size} numbers; must be 1 or {size}", field=field)
        object.__setattr__(owner, field, float(array[0]) if scalar else np.broadcast_to(array, (size,)).copy())


def _spread(time: ArrayLike, like: Values) -> tuple[Array, Values]:
    """Return (time, parameter) shapes that broadcast to (t, n)."""
    t = np.asarray(time, dtype=float)
    if np.ndim(like) == 1 and t.ndim == 1:
        t = t[:, None]
    return t, like


@dataclass(frozen=True, eq=False)
class MinimumJerk:
    """Fifth-order polynomial between two points at rest, of least integrated squared jerk (Flash and Hogan 1985).

    With s = (t - begin) / duration in [0, 1]:

        x = start + (goal - start) (10 s^3 - 15 s^4 + 6 s^5)
    """

    start: Values
    """Position before, number or shape (n,) [rad]."""
    goal: Values
    """Position after [rad]."""
    duration: float
    """Length of the motion [s], positive."""
    begin: float = 0.0
    """Time at which it begins [s]; before and after, the positions are held."""

    def __post_init__(self) -> None:
        _store(self, start=self.start, goal=self.goal)
        number("MinimumJerk", "duration", self.duration, "s", low=0.0, above=True)
        number("MinimumJerk", "begin", self.begin, "s")

    def __call__(self, time: ArrayLike) -> Motion:
        t, start = _spread(time, self.start)
        span = np.asarray(self.goal) - start
        T = self.duration
        s = np.clip((t - self.begin) / T, 0.0, 1.0)
        return Motion(
            start + span * (s**3 * (10.0 + s * (-15.0 + 6.0 * s))),
            span / T * (30.0 * s**2 * (1.0 - s) ** 2),
            span / T**2 * (60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)),
        )
