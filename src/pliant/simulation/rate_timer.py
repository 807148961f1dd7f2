"""When something is due that happens at a rate of simulation time."""

from __future__ import annotations


class RateTimer:
    """Says when something is due that happens at a rate of simulation time.

    A rate that does not divide the steps' is kept on average: each time is the first step at or after the exact one.

    Args:
        rate: in Hz; 0 for every step.
    """

    def __init__(self, rate: float) -> None:
        self.period_ns = 1 if not rate else max(1, round(1e9 / rate))
        self._last = 0
        self._asked = -1
        self._due = False

    def due(self, stamp_ns: int) -> bool:
        """Return whether it is due at this time [ns]; the same time gets the same answer, and times may start anew."""
        if stamp_ns != self._asked:
            k = stamp_ns // self.period_ns
            # Smaller than the last: the simulation was reset.
            self._due = k > self._last or (k < self._last and not stamp_ns % self.period_ns)
            self._last, self._asked = k, stamp_ns
        return self._due
