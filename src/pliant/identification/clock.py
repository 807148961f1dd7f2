"""The clock of a log: rows that are missing, and stamps that jitter about the times of the samples.

A sampled log has the times t_i = t_0 + T k_i + e_i: a period T, whole numbers k_i that increase, and the jitter e_i of
the stamps. Rows are missing where k_i increases by more than 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import require
from pliant.base.numerics import Array

MAX_JITTER = 0.2
"""Largest standard deviation of the stamps, in periods, with which the rows are still told apart; assumed."""
EXACT = 0.01
"""Standard deviation in periods below which stamps are exact; assumed."""
FIRST_ROWS = 32
"""Rows from which a period is found first; then from four times as many each time."""
MOST_ROWS = 4096
"""Most of these rows that are looked at, evenly spaced."""
STEPPED = 0.02
"""Change of a command in missing rows beyond its slopes, over its range, from which it may have stepped; assumed."""
MOST_UNCERTAIN = 24
"""Most missing rows in which the command is a parameter of the fit; assumed."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Period and numbers of the samples of a log."""

    period: float
    """Time between two samples [s]."""
    begin: float
    """Time of sample 0 [s]."""
    numbers: NDArray[np.int64]
    """Number of the sample in each row, increasing, shape (n,)."""
    jitter: float
    """Standard deviation of the stamps [s]."""

    @property
    def exact(self) -> bool:
        """Whether the stamps are those of the clock."""
        return self.jitter < EXACT * self.period

    @property
    def missing(self) -> int:
        """Number of missing rows."""
        return int(self.numbers[-1] - self.numbers[0] + 1 - self.numbers.size)

    def times(self) -> Array:
        """Return the times of the clock in each row, shape (n,) [s]."""
        return np.asarray(self.begin + self.period * self.numbers, dtype=float)


def clock_of(time: Array) -> Clock | None:
    """Return the clock that sampled a log, None if its times are those of no clock.

    Args:
        time: stamps, increasing, shape (n,) [s].
    """
    require("scipy", extra="fit", purpose="identification")
    from scipy.optimize import isotonic_regression

    n = time.size
    if n < FIRST_ROWS:
        return None
    since = time - time[0]
    period = _period_of(since)
    phase = np.angle(np.mean(np.exp(2j * np.pi * since / period))) / (2.0 * np.pi)
    # Numbers increase: their excess over the number of the row does not decrease, which tells rows with jitter apart.
    rows = np.arange(n)
    excess = isotonic_regression(since / period - phase - rows).x
    numbers = np.rint(excess).astype(np.int64) + rows
    slope, begin = np.polyfit(numbers, time, 1)
    jitter = float(np.std(time - begin - slope * numbers))
    if slope <= 0.0 or jitter > MAX_JITTER * slope:
        return None
    return Clock(period=float(slope), begin=float(begin), numbers=numbers, jitter=jitter)


def _period_of(since: Array) -> float:
    """Return the period with which the times are most coherent, from the first rows to all."""
    period, known = float(np.median(np.diff(since))), 4.0
    count = FIRST_ROWS
    while True:
        part = since[:count][:: -(-count // MOST_ROWS)]
        reach = min(0.4, known * period / max(float(part[-1]), period))
        candidates = period * (1.0 + np.linspace(-reach, reach, round(40.0 * known) + 1))
        coherence = np.abs(np.mean(np.exp(2j * np.pi * part / candidates[:, None]), axis=1))
        period, known = float(candidates[np.argmax(coherence)]), 2.0
        if count >= since.size:
            return period
        count = min(4 * count, since.size)


@dataclass(frozen=True, slots=True)
class Command:
    """A command that is held between its times."""

    time: Array
    """Times [s], shape (n,)."""
    values: Array
    """Values, shape (n,)."""
    uncertain: tuple[int, ...] = ()
    """Rows whose value was interpolated where the command may have stepped."""
    limits: tuple[float, float] | None = None
    """What the drive cuts it off at; None if it takes all of it."""
    column: str = ""
    """The column of the log that has it."""


def with_missing_rows(clock: Clock | None, time: Array, values: Array) -> Command:
    """Return a command with the rows that are missing, between those of its neighbours.

    The interpolation is Akima's (1970, Journal of the ACM 17(4)): it keeps constant stretches, and is limited to the
    range of the command. It is uncertain where the command changes by more than its slopes before and after tell.
    """
    if clock is None or not clock.missing:
        return Command(time, values)
    from scipy.interpolate import Akima1DInterpolator

    numbers = clock.numbers - clock.numbers[0]
    every = np.arange(numbers[-1] + 1)
    filled = np.asarray(Akima1DInterpolator(numbers.astype(float), values)(every.astype(float)))
    filled = filled.clip(values.min(), values.max())
    steps = np.diff(numbers)
    slopes = np.diff(values) / steps
    around = 0.5 * (np.r_[slopes[:1], slopes[:-1]] + np.r_[slopes[1:], slopes[-1:]])
    jumps = np.where(steps > 1, np.abs(slopes - around) * steps, 0.0)
    largest = [i for i in np.argsort(-jumps, kind="stable").tolist() if jumps[i] > STEPPED * np.ptp(values)]
    rows = [k for i in largest for k in range(numbers[i] + 1, numbers[i + 1])]
    return Command(np.interp(every, numbers, time), filled, tuple(sorted(rows[:MOST_UNCERTAIN])))
