"""A thread that solves what would keep the loop waiting."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

IDLE = 1.0
"""How long the thread waits for work before it ends [s of wall time]; the next job starts another one."""


class Solver:
    """Runs jobs one after the other in a thread of its own, which lives while there is work.

    Of each kind of job only the newest waits: one that was not begun gives way to it. The loop submits, and collects
    what is done.

    Args:
        name: of the thread.

    Example:
        >>> solver = Solver("cpr solver")
        >>> solver.submit("goal", lambda: 6 * 7)
        >>> solver.close()
        >>> solver.results()
        [('goal', 42)]
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._condition = threading.Condition()
        self._waiting: dict[str, Callable[[], object]] = {}
        self._done: deque[tuple[str, object]] = deque()
        self._thread: threading.Thread | None = None
        self._closed = False
        self.replaced = 0
        """Jobs that gave way to newer ones."""

    def submit(self, kind: str, job: Callable[[], object]) -> None:
        """Queue a job, which must not raise; its result is kept for `results`."""
        with self._condition:
            if self._closed:
                return
            if self._waiting.pop(kind, None) is not None:
                self.replaced += 1
            self._waiting[kind] = job
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._condition.notify_all()

    def results(self) -> list[tuple[str, object]]:
        """Return what was done since the last call, as (kind, result), oldest first."""
        out = []
        while self._done:
            out.append(self._done.popleft())
        return out

    def clear(self) -> None:
        """Forget the jobs that wait and the results that were not collected."""
        with self._condition:
            self._waiting.clear()
        self._done.clear()

    def close(self) -> None:
        """Let what was submitted be done, and join the thread; later jobs are not taken. May be called twice."""
        with self._condition:
            self._closed = True
            thread = self._thread
            self._condition.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while True:
            with self._condition:
                if not self._waiting and not self._closed:
                    self._condition.wait(IDLE)
                if not self._waiting:
                    # Decided under the lock: whoever submits next finds no thread and starts one.
                    self._thread = None
                    return
                kind = next(iter(self._waiting))
                job = self._waiting.pop(kind)
            self._done.append((kind, job()))
