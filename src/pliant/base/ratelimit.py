"""How much is said: so many messages at once, so many a second after that, and the rest counted."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from pliant.base.errors import PliantError


class RateLimit:
    """Lets some messages through and counts the others; any thread may ask.

    Args:
        burst: messages that pass at once, 1 or more.
        rate: messages a second that pass after that, above 0.
        clock: returns a time that never goes back [s].

    Raises:
        PliantError: a burst below 1, or a rate that is not a finite number above 0.

    Example:
        >>> limit = RateLimit(burst=1, rate=1.0, clock=lambda: 0.0)
        >>> limit.admit(), limit.admit(), limit.held
        (0, None, 1)
    """

    def __init__(self, *, burst: int = 5, rate: float = 1.0, clock: Callable[[], float] = time.monotonic) -> None:
        if burst < 1:
            raise PliantError(f"burst is {burst!r}; must be at least 1 message", field="burst")
        if not (math.isfinite(rate) and rate > 0.0):
            raise PliantError(f"rate is {rate!r}; must be more than 0 messages a second", field="rate")
        self._burst, self._rate, self._clock = burst, rate, clock
        self._lock = threading.Lock()
        self._tokens = float(burst)
        self._at = clock()
        self._held = 0

    def admit(self) -> int | None:
        """Ask for one message.

        Returns:
            None where it is held back; else how many were held back since the one that passed before it.
        """
        with self._lock:
            now = self._clock()
            self._tokens = min(float(self._burst), self._tokens + max(0.0, now - self._at) * self._rate)
            self._at = now
            if self._tokens < 1.0:
                self._held += 1
                return None
            self._tokens -= 1.0
            return self._take()

    def release(self) -> int:
        """Return how many were held back and not told yet; from now on they count as told."""
        with self._lock:
            return self._take()

    @property
    def held(self) -> int:
        """How many were held back and not told yet."""
        return self._held

    def _take(self) -> int:
        held, self._held = self._held, 0
        return held
