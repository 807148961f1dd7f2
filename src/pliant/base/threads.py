"""Threads whose death is noticed: each one is logged, told and kept, whether it raised or ended too early."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable

DeathListener = Callable[[str, str], None]
"""Called with the name of a thread that died, and why."""
POLL_S = 0.5
"""How often an idle worker looks whether it is to stop [s]."""
_log = logging.getLogger("pliant.base.threads")


class Threads:
    """The threads of one owner, such as a bridge.

    A thread is dead if its work raised, or returned before `close`. Whoever listens hears of it in the dying thread.

    Example:
        >>> threads = Threads()
        >>> threads.tell(lambda name, why: None)
        >>> thread = threads.start("reader", lambda: None)
        >>> threads.join(5.0)
        >>> threads.dead
        {'reader': 'it ended by itself'}
    """

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self._listeners: list[DeathListener] = []
        self._dead: dict[str, str] = {}
        self._lock = threading.Lock()
        self._closing = False

    @property
    def dead(self) -> dict[str, str]:
        """Threads that died, and why."""
        return dict(self._dead)

    @property
    def alive(self) -> tuple[threading.Thread, ...]:
        """The threads that run."""
        return tuple(thread for thread in list(self._threads) if thread.is_alive())

    @property
    def closing(self) -> bool:
        """Whether threads may end."""
        return self._closing

    def tell(self, listener: DeathListener) -> None:
        """Call ``listener(name, why)`` for each thread that has died, and for each that will, in any thread."""
        with self._lock:
            self._listeners.append(listener)
            before = list(self._dead.items())
        for name, why in before:
            listener(name, why)

    def start(self, name: str, work: Callable[[], None]) -> threading.Thread:
        """Run ``work()`` in a daemon thread; it must not return before `close`."""
        thread = threading.Thread(target=self._run, args=(name, work), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread

    def close(self) -> None:
        """Say that threads may end from now on."""
        self._closing = True

    def join(self, timeout: float) -> None:
        """Wait until every thread has ended, together at most ``timeout`` [s]."""
        end = time.monotonic() + timeout
        for thread in list(self._threads):
            if thread is not threading.current_thread():
                thread.join(max(0.0, end - time.monotonic()))

    def _run(self, name: str, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # also what is no Exception ends a thread
            why = f"{type(error).__name__}: {error}"
            _log.debug("the thread %s died", name, exc_info=True)
        else:
            if self._closing:
                return
            why = "it ended by itself"
        with self._lock:
            self._dead[name] = why
            listeners = list(self._listeners)
        _log.error("the thread %s died: %s", name, why)
        for listener in listeners:
            try:
                listener(name, why)
            except Exception:  # the others must hear of it as well
                _log.exception("telling of the death of the thread %s", name)


class WorkerPool:
    """Threads that do jobs, begun in the order in which they came.

    Args:
        threads: whose threads they are.
        name: of the threads; a number is put behind it.
        workers: how many there are.
        limit: most jobs that wait.
    """

    def __init__(self, threads: Threads, name: str, *, workers: int, limit: int) -> None:
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue(limit)
        self._closed = False
        self._workers = workers
        for k in range(workers):
            threads.start(f"{name}-{k}", self._work)

    def submit(self, job: Callable[[], None]) -> bool:
        """Queue a job, which must not raise; return False if too many wait, or if the pool is closed."""
        if self._closed:
            return False
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            return False
        return True

    def close(self) -> None:
        """Forget the jobs that wait, and let the threads end; may be called twice. `Threads.join` waits for them."""
        self._closed = True
        try:
            while True:
                self._jobs.get_nowait()
        except queue.Empty:
            pass
        for _ in range(self._workers):
            try:
                self._jobs.put_nowait(None)
            except queue.Full:  # they look by themselves
                return

    def _work(self) -> None:
        while not self._closed:
            try:
                job = self._jobs.get(timeout=POLL_S)
            except queue.Empty:
                continue
            if job is None:
                return
            job()
            del job  # what it holds is not kept until the next one comes
