"""How often a topic is sent while somebody listens."""

from __future__ import annotations

import time
from collections.abc import Callable


class SendRate:
    """Counts the messages of a topic, and the time in which somebody listened to it.

    Args:
        clock: returns a time that never goes back [s].

    Example:
        >>> times = iter((0.0, 0.5, 1.0, 100.0, 100.5))
        >>> rate = SendRate(lambda: next(times))
        >>> for period in (1, 1, 1, 2, 2):
        ...     rate.sent(period)
        >>> rate.gaps, rate.hz
        (3, 2.0)
    """

    __slots__ = ("_clock", "_last", "_listened", "_period", "gaps")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = 0.0
        self._period = 0
        self._listened = 0.0
        self.gaps = 0
        """Times between two messages in which somebody listened."""

    def sent(self, period: int) -> None:
        """Note a message.

        Args:
            period: which of the times with a listener it is, from 1 on; 0 where nobody listens.
        """
        now = self._clock()
        if period and period == self._period:
            self.gaps += 1
            self._listened += now - self._last
        self._last, self._period = now, period

    @property
    def hz(self) -> float:
        """Messages a second of the time in which somebody listened; 0 without two messages in it."""
        return self.gaps / max(1e-9, self._listened) if self.gaps else 0.0
