"""Messages of one topic in the robot's time: their times made even, gaps and jumps found.

A message without a stamp has the time of its arrival, which jitters, while robots measure at an even rate. With k the
number of a message, T the mean period and a_k its arrival, the time is k T plus the median of a_j - j T over the
neighbours j of k. A median keeps the step that a lost message leaves, and is not moved by a message that came late.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.base.numerics import Array

__all__ = ["Stream", "even_times"]

NEIGHBOURS = 25
"""Messages before and after one, at most, over which the time of its arrival is evened."""
EVENED = 0.25
"""Time that these messages span at most, to each side [s]."""
FEW = 8
"""Messages from which a period is estimated, at least."""
BACK = 0.2
"""A time that goes back by more than this is a restart; by less, the message came out of order [s]."""
GAP = 1.0
"""A pause of more than this, and of more than `GAP_PERIODS` periods, is a gap [s]."""
GAP_PERIODS = 20.0


def even_times(arrivals: Array, neighbours: int) -> Array:
    """Return the times of messages that were measured at an even rate.

    Args:
        arrivals: times of their arrival, shape (n,) [s].
        neighbours: messages to each side over which the median is taken.
    """
    n = len(arrivals)
    if n < 3:
        return arrivals
    number = np.arange(n)
    period = (arrivals[-1] - arrivals[0]) / (n - 1)
    rest = arrivals - period * number
    width = 2 * min(neighbours, (n - 1) // 2) + 1
    inner = np.median(np.lib.stride_tricks.sliding_window_view(rest, width), axis=1)
    side = width // 2
    middle = np.concatenate([np.full(side, inner[0]), inner, np.full(n - side - len(inner), inner[-1])])
    return np.maximum.accumulate(period * number + middle)


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
        """Time of the newest message [s]."""
        self.given = -np.inf
        """Time of the newest message that `take` returned [s]."""
        self._times: list[float] = []
        self._values: list[tuple[float, ...]] = []
        self._old = 0
        """Messages at the begin of the lists that `take` has returned, kept as neighbours."""

    def fault(self, time: float) -> str:
        """Return what is wrong with the time of the next message; "" for nothing."""
        if not self._times:
            return ""
        pause = time - self.last
        if pause < -BACK:
            return f"the time goes back from {self.last:.3f} to {time:.3f} s ({self.name}): a restart"
        if not self.events and pause > max(GAP, GAP_PERIODS * self.period):
            return f"nothing from {self.last:.3f} to {time:.3f} s ({self.name}): a gap, or a jump of the clock"
        return ""

    @property
    def period(self) -> float:
        """Mean time between messages [s]; infinite for the first few, whose period is not known."""
        n = len(self._times)
        return (self._times[-1] - self._times[0]) / (n - 1) if n >= FEW else 0.0

    def put(self, time: float, values: Sequence[float]) -> None:
        """Add a message; one that came out of order is dropped."""
        if time < self.last or (time == self.last and self.stamped):
            return
        self.last = time
        self._times.append(time)
        self._values.append(tuple(values))

    def take(self) -> tuple[Array, Array]:
        """Return times, shape (n,) [s], and values, shape (n, ports), that have not been returned and are settled."""
        n = len(self._times)
        if self.stamped or self.events:
            first, end, times = self._old, n, np.array(self._times)
            side = 0
        else:
            if n < FEW:
                return np.empty(0), np.empty((0, len(self.ports)))
            side = int(np.clip(round(EVENED / max(self.period, 1e-9)), 2, NEIGHBOURS))
            first, end = self._old, n - side
            times = even_times(np.array(self._times), side)
        if end <= first:
            return np.empty(0), np.empty((0, len(self.ports)))
        chosen = np.arange(first, end)
        chosen = chosen[np.diff(times[chosen], prepend=self.given) > 1e-9]
        found = times[chosen], np.array(self._values).reshape(n, -1)[chosen]
        if len(chosen):
            self.given = float(found[0][-1])
        kept = max(0, end - 4 * side)
        del self._times[:kept], self._values[:kept]
        self._old = end - kept
        return found
