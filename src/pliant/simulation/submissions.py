"""Actions that other threads submit to the thread of the loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future


class Submissions:
    """Actions that wait for the loop, in the order of their submission.

    The loop asks `waiting` in every step; `add` is called with the loop's lock held.
    """

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting: deque[tuple[Callable[[], object], Future[object]]] = deque()

    def add(self, action: Callable[[], object]) -> Future[object]:
        """Add an action; return the future of its result."""
        future: Future[object] = Future()
        self.waiting.append((action, future))
        return future

    def run(self) -> None:
        """Run the actions that wait now; an error goes to the future of its action."""
        waiting = self.waiting
        for _ in range(len(waiting)):
            if not waiting:  # an action that steps has run the others
                return
            action, future = waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(action())
            except Exception as error:  # the asker gets it
                future.set_exception(error)
