"""Messages of one topic in the robot's time: the times of their arrival made even, gaps and jumps found.

A message without a stamp has the time of its arrival, which jitters, while robots measure at an even rate. The time of
the next message is therefore that of the last one and a period T; a loop corrects it slowly by the median of what the
arrivals of the last seconds differ by. T is the median of (a_{j+L} - a_j) / L over these arrivals, with L half their
number. Both medians ignore messages that come late, and the times move by no jump where a message was lost.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.base.numerics import Array

FEW = 20
"""Messages from which a period is estimated, at least."""
LONG = 0.9
"""Time that they span, at least [s]."""
MEMORY = 4.0
"""Arrivals over which the medians are taken [s]."""
MOST = 5000
"""Most of these arrivals."""
CORRECTED = 1.0
"""Time constant of the correction [s]."""
SLEW = 0.002
"""Most that the correction changes the period, as a part of it: a constant delay of all topics does no harm, a period
that changes does."""
NICE = 1e-4
"""Periods are multiples of this [s], if they are `NEAR` to one: 10 ms rather than 10.003 ms."""
NEAR = 2e-3
BACK = 0.2
"""A time that goes back by more than this is a restart; by less, the message came out of order [s]."""
GAP = 1.0
"""A pause of more than this, and of more than `GAP_PERIODS` periods, is a gap [s]."""
GAP_PERIODS = 20.0


class EvenClock:
    """Gives messages that are measured at an even rate the times of their measurement, but for a constant delay."""

    def __init__(self) -> None:
        self.period = 0.0
        """Estimated period [s]; 0 before `FEW` messages."""
        self._arrivals = np.empty(0)
        self._last = np.nan

    def times(self, arrivals: Array, *, loose: bool = False) -> Array:
        """Return the times of further messages.

        Args:
            arrivals: times of their arrival, not decreasing, shape (n,) [s]; the first call needs `FEW` over `LONG`.
            loose: take the medians as they are; the times may then jump against those before.
        """
        n = len(arrivals)
        known = np.concatenate([self._arrivals, arrivals])
        self.period = _period(known)
        steps = self.period * np.arange(1, n + 1)
        line = self.period * np.arange(1 - len(known), 1)
        if loose or np.isnan(self._last):
            found = steps - steps[-1] + np.median(known - line)
        else:
            found = self._last + steps
            error = float(np.median(known - line)) - float(found[-1])
            span = float(steps[-1])
            most = SLEW * span
            found = found + min(max(error * min(1.0, span / CORRECTED), -most), most) * np.arange(1, n + 1) / n
        self._last = float(found[-1])
        first = max(int(np.searchsorted(known, known[-1] - MEMORY)), len(known) - MOST, 0)
        self._arrivals = known[min(first, max(0, len(known) - FEW)) :]
        return found


def _period(arrivals: Array) -> float:
    half = len(arrivals) // 2
    period = float(np.median(arrivals[half:] - arrivals[: len(arrivals) - half])) / half
    nice = NICE * round(period / NICE)
    return nice if nice > 0.0 and abs(period - nice) < NEAR * period else max(period, 1e-6)


class Stream:
    """The messages of one topic since the shadow began anew.

    Args:
        name: the topic.
        ports: the values that it carries.
        rank: of several sources of one port the lowest is taken.
        stamped: whether times are the robot's own.
        events: whether messages come when something changes, and not at an even rate.
    """

    def __init__(self, name: str, ports: Sequence[str], *, rank: int, stamped: bool, events: bool) -> None:
        self.name, self.ports, self.rank = name, tuple(ports), rank
        self.stamped, self.events = stamped, events
        self.last = -np.inf
        """Time of the newest message, as it came [s]."""
        self.given = -np.inf
        """Time of the newest message that `take` returned [s]."""
        self._clock = EvenClock()
        self._times: list[float] = []
        self._values: list[tuple[float, ...]] = []

    def fault(self, time: float) -> str:
        """Return what is wrong with the time of the next message; "" for nothing."""
        pause = time - self.last
        if not np.isfinite(pause):
            return ""
        if pause < -BACK:
            return f"the time goes back from {self.last:.3f} to {time:.3f} s ({self.name}): a restart"
        if not self.events and pause > max(GAP, GAP_PERIODS * self._clock.period):
            return f"nothing from {self.last:.3f} to {time:.3f} s ({self.name}): a gap, or a jump of the clock"
        return ""

    def put(self, time: float, values: Sequence[float]) -> None:
        """Add a message; one that came out of order is dropped."""
        if time < self.last or (time == self.last and self.stamped):
            return
        self.last = time
        self._times.append(time)
        self._values.append(tuple(values))

    def take(self, *, loose: bool = False) -> tuple[Array, Array]:
        """Return times, shape (n,) [s], and values, shape (n, ports), that have not been returned.

        Args:
            loose: as of `EvenClock.times`, before a segment has begun.
        """
        even = not (self.stamped or self.events)
        if not self._times:
            return np.empty(0), np.empty((0, len(self.ports)))
        early = len(self._times) < FEW or self.last - self._times[0] < LONG
        if even and not self._clock.period and early:
            return np.empty(0), np.empty((0, len(self.ports)))
        times, values = np.array(self._times), np.array(self._values).reshape(len(self._times), -1)
        self._times.clear()
        self._values.clear()
        if even:
            times = self._clock.times(times, loose=loose)
        new = np.diff(times, prepend=self.given) > 1e-9
        if new.any():
            self.given = float(times[new][-1])
        return times[new], values[new]
