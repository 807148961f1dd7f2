"""Actions that happen at times of a run."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any

NEVER_NS = 2**63 - 1
Action = Callable[[Any], object]
"""Takes the simulation; a future that it returns is watched."""


class Schedule:
    """Actions in the order of their times; the loop asks for `next_ns` at every step.

    The caller holds a lock while other threads may add or forget actions.
    """

    __slots__ = ("_count", "_events", "_futures", "_position", "next_ns", "waits")

    def __init__(self) -> None:
        self._events: list[tuple[int, int, Action]] = []
        self._position = 0
        self._count = 0
        self._futures: list[Future[object]] = []
        self.next_ns = NEVER_NS
        """Run time of the next action [ns]."""
        self.waits = False
        """Whether a future of an action is not done yet."""

    def add(self, when_ns: int, action: Action) -> int:
        """Add an action at a run time [ns], after those of the same time; return its number."""
        number = self._count
        bisect.insort(self._events, (when_ns, number, action), key=lambda event: event[:2])
        self._count += 1
        self._look()
        return number

    def forget(self, numbers: Iterable[int]) -> None:
        """Remove actions, those that have happened too."""
        gone = set(numbers)
        self._position -= sum(number in gone for _, number, _ in self._events[: self._position])
        self._events = [event for event in self._events if event[1] not in gone]
        self._look()

    def rewind(self) -> None:
        """Begin again with the first action."""
        self._position = 0
        self._look()

    def drop_futures(self) -> None:
        """Watch no future any more."""
        self._futures.clear()
        self.waits = False

    def fire(self, simulation: object, elapsed: Callable[[], int]) -> None:
        """Run the actions whose time has come; ``elapsed()`` is the run time [ns], which an action may change."""
        while self._position < len(self._events) and elapsed() >= self._events[self._position][0]:
            action = self._events[self._position][2]
            self._position += 1
            result = action(simulation)
            if isinstance(result, Future):
                self._futures.append(result)
                self.waits = True
        self._look()

    def check_futures(self) -> None:
        """Raise the error of the first future that has failed."""
        done = [future for future in self._futures if future.done()]
        self._futures = [future for future in self._futures if not future.done()]
        self.waits = bool(self._futures)
        for future in done:
            future.result()

    def _look(self) -> None:
        self.next_ns = self._events[self._position][0] if self._position < len(self._events) else NEVER_NS
