"""The time of the loop that a bridge takes."""

from __future__ import annotations

SLOW_NS = 1_000_000
"""Steps in which a bridge takes longer than this are counted [ns]."""


class LoopCost:
    """Adds up what a bridge takes in each step: from one ``tick`` to the next.

    Example:
        >>> cost = LoopCost()
        >>> for spent in (3000, 1000):
        ...     cost.spent_ns += spent
        ...     cost.end_step()
        >>> cost.health()
        {'loop_us_per_step': 2.0, 'loop_us_worst': 3.0, 'loop_steps_over_1ms': 0}
    """

    __slots__ = ("_slow", "_steps", "_total_ns", "_worst_ns", "spent_ns")

    def __init__(self) -> None:
        self.spent_ns = 0
        """Time that the present step has taken so far [ns]; the bridge adds to it."""
        self._total_ns = self._worst_ns = self._slow = self._steps = 0

    def end_step(self) -> None:
        """Count what the step has taken, and begin the next one."""
        spent, self.spent_ns = self.spent_ns, 0
        self._total_ns += spent
        self._worst_ns = max(self._worst_ns, spent)
        self._slow += spent > SLOW_NS
        self._steps += 1

    def health(self) -> dict[str, float]:
        """Return the mean and the longest time of a step [us], and how many steps took more than 1 ms."""
        return {
            "loop_us_per_step": self._total_ns / max(1, self._steps) / 1e3,
            "loop_us_worst": self._worst_ns / 1e3,
            "loop_steps_over_1ms": self._slow,
        }
