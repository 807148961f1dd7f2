"""Reference motions: minimum jerk, sinusoid, chirp, step.

A trajectory is called with a time, or an array of times, and returns position, velocity and acceleration. A motion of
n joints has parameters of shape (n,); one of a single joint has numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.numerics import Array
from pliant.control.checks import ControlError, number, vector

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
class Hold:
    """Stay at a position."""

    position: Values
    """Position, number or shape (n,) [rad]."""
    duration: float = 0.0
    """Length [s]; the position is held after it as well."""

    def __post_init__(self) -> None:
        _store(self, position=self.position)
        number("Hold", "duration", self.duration, "s", low=0.0)

    def __call__(self, time: ArrayLike) -> Motion:
        t, p = _spread(time, self.position)
        out = p + 0.0 * t
        return Motion(out, 0.0 * out, 0.0 * out)


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


@dataclass(frozen=True, eq=False)
class Sinusoid:
    """x = offset + amplitude sin(omega (t - begin) + phase), and at rest at its first point before ``begin``."""

    amplitude: Values
    """Amplitude, number or shape (n,) [rad]."""
    omega: Values
    """Angular frequency [rad/s]."""
    duration: float = np.inf
    """Length [s]; afterwards the last position is held."""
    offset: Values = 0.0
    """Centre [rad]."""
    phase: Values = 0.0
    """Phase at ``begin`` [rad]."""
    begin: float = 0.0
    """Time at which it begins [s]."""

    def __post_init__(self) -> None:
        _store(self, amplitude=self.amplitude, omega=self.omega, offset=self.offset, phase=self.phase)
        if not self.duration > 0.0:
            raise ControlError(f"Sinusoid: duration is {self.duration}; must be more than 0 s", field="duration")
        number("Sinusoid", "begin", self.begin, "s")

    def __call__(self, time: ArrayLike) -> Motion:
        t, w = _spread(time, self.omega)
        local = t - self.begin
        inside = (local >= 0.0) & (local <= self.duration)
        x = w * np.clip(local, 0.0, self.duration) + self.phase
        a = self.amplitude * w
        return Motion(
            self.offset + self.amplitude * np.sin(x),
            np.where(inside, a * np.cos(x), 0.0),
            np.where(inside, -a * w * np.sin(x), 0.0),
        )


@dataclass(frozen=True, eq=False)
class Chirp:
    """Sine whose frequency rises linearly from ``start_hz`` to ``end_hz``:

    x = offset + amplitude sin(2 pi (start t + (end - start) t^2 / (2 duration)))
    """

    amplitude: Values
    """Amplitude, number or shape (n,) [rad]."""
    start_hz: float
    """Frequency at the beginning [Hz]."""
    end_hz: float
    """Frequency at the end [Hz]."""
    duration: float
    """Length [s], positive; afterwards the last position is held."""
    offset: Values = 0.0
    """Centre [rad]."""

    def __post_init__(self) -> None:
        _store(self, amplitude=self.amplitude, offset=self.offset)
        number("Chirp", "start_hz", self.start_hz, "Hz", low=0.0)
        number("Chirp", "end_hz", self.end_hz, "Hz", low=0.0)
        number("Chirp", "duration", self.duration, "s", low=0.0, above=True)

    def frequency(self, time: ArrayLike) -> object:
        """Return the frequency of the moment [Hz]."""
        t = np.clip(np.asarray(time, dtype=float), 0.0, self.duration)
        return self.start_hz + (self.end_hz - self.start_hz) * t / self.duration

    def __call__(self, time: ArrayLike) -> Motion:
        t, a = _spread(time, self.amplitude)
        inside = (t >= 0.0) & (t <= self.duration)
        s = np.clip(t, 0.0, self.duration)
        rate = (self.end_hz - self.start_hz) / self.duration
        x = 2.0 * np.pi * (self.start_hz * s + 0.5 * rate * s * s)
        w = 2.0 * np.pi * (self.start_hz + rate * s)
        return Motion(
            self.offset + a * np.sin(x),
            np.where(inside, a * w * np.cos(x), 0.0),
            np.where(inside, a * (2.0 * np.pi * rate * np.cos(x) - w * w * np.sin(x)), 0.0),
        )


@dataclass(frozen=True, eq=False)
class Step:
    """Jump from ``start`` to ``goal`` at ``begin``; velocity and acceleration are 0 on both sides."""

    goal: Values
    """Position from ``begin`` on, number or shape (n,) [rad]."""
    start: Values = 0.0
    """Position before [rad]."""
    begin: float = 0.0
    """Time of the jump [s]."""
    duration: float = 0.0
    """Length [s], for those who ask how long to run."""

    def __post_init__(self) -> None:
        _store(self, goal=self.goal, start=self.start)
        number("Step", "begin", self.begin, "s")
        number("Step", "duration", self.duration, "s", low=0.0)

    def __call__(self, time: ArrayLike) -> Motion:
        t, goal = _spread(time, self.goal)
        out = np.where(t >= self.begin, goal, self.start) + 0.0 * t
        return Motion(out, 0.0 * out, 0.0 * out)
