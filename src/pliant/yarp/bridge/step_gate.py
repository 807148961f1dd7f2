"""Lock-step: the simulation takes the steps that clients ask for at the clock's port, and waits between them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future

POLL_S = 0.02
"""How often a waiting loop looks for requests of devices [s of wall time]."""


class StepGate:
    """Counts the steps that clients have asked for, and holds the loop when all of them are done.

    Any thread may call `allow`, `open`, `hold` and `release`; the loop's thread calls `wait` after each step.

    Args:
        timeout: longest wait for the next call after the first [s of wall time]; 0 for no limit.
    """

    def __init__(self, timeout: float = 0.0) -> None:
        self._timeout = timeout
        self._lock = threading.Lock()
        self._asked = 0
        self._begun = 0
        self._open = False
        self._released = False
        self._waiting: deque[tuple[int, Future[None]]] = deque()

    @property
    def is_open(self) -> bool:
        """Whether the simulation runs without waiting."""
        return self._open

    def allow(self, steps: int) -> Future[None]:
        """Let the loop take steps; the future is done when the last of them is."""
        future: Future[None] = Future()
        with self._lock:
            if self._released:
                future.cancel()
            else:
                self._asked += steps
                self._waiting.append((self._asked, future))
        return future

    def open(self) -> None:
        """Let the simulation run without waiting, until `hold`."""
        with self._lock:
            self._open = True

    def hold(self) -> None:
        """Wait for calls again."""
        with self._lock:
            self._open = False

    def release(self) -> None:
        """Let the loop go on because the run ends; calls that wait are cancelled."""
        with self._lock:
            self._released = True
            waiting, self._waiting = list(self._waiting), deque()
        for _, future in waiting:
            future.cancel()

    def wait(self, serve: Callable[[float], bool]) -> bool:
        """Answer the calls whose steps are done, and wait until a further step is allowed.

        Args:
            serve: runs what others ask of the loop and waits up to a time [s]; False if the run ends.

        Returns:
            False if a time limit is given and no call came in it.
        """
        began = time.monotonic()
        while True:
            done: list[Future[None]] = []
            with self._lock:
                while self._waiting and self._waiting[0][0] <= self._begun:
                    done.append(self._waiting.popleft()[1])
                go_on = self._released or self._open
                if not go_on and self._begun < self._asked:
                    self._begun += 1
                    go_on = True
                first = self._asked == 0
            for future in done:
                future.set_result(None)
            if go_on or not serve(POLL_S):
                return True
            if self._timeout > 0.0 and not first and time.monotonic() - began > self._timeout:
                return False
