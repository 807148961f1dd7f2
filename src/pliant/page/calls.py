"""Callbacks of controls run one at a time each, with the newest event: a fast browser cannot pile up work.

viser gives every event to a pool of threads, whose queue has no limit. Events that come faster than they are answered,
such as clicks on a button that asks the simulation, wait there for minutes, and one button runs in several threads.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

WORKERS = 32
"""Threads that run callbacks, each a different one."""


class _Call(NamedTuple):
    future: Future[Any]
    arguments: tuple[Any, ...]
    named: dict[str, Any]


class LatestCalls(ThreadPoolExecutor):
    """A pool of threads that runs each function in one thread at a time, with the newest event of each browser.

    An event that comes while one of the same kind, of the same browser, waits for the same function takes its place;
    the older one is answered with None.
    """

    def __init__(self, workers: int = WORKERS) -> None:
        super().__init__(max_workers=workers, thread_name_prefix="pliant-page-call")
        self._lock = threading.Lock()
        self._waiting: dict[Callable[..., Any], dict[Hashable, _Call]] = {}

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Run a function with an event, its first argument, when its turn comes.

        Raises:
            RuntimeError: the pool was shut down.
        """
        call, kind = _Call(Future(), arguments, named), _kind(arguments)
        with self._lock:
            waiting = self._waiting.get(work)
            if waiting is None:
                super().submit(self._run, work)
                waiting = self._waiting[work] = {}
            older = waiting.pop(kind, None)
            waiting[kind] = call
        if older is not None:
            older.future.set_result(None)
        return call.future

    def _run(self, work: Callable[..., Any]) -> None:
        """Run a function once, and let others run before its next event."""
        with self._lock:
            waiting = self._waiting[work]
            call = waiting.pop(next(iter(waiting)))
        try:
            result = work(*call.arguments, **call.named)
        except BaseException as error:  # the future carries it
            call.future.set_exception(error)
        else:
            call.future.set_result(result)
        with self._lock:
            if not waiting:
                del self._waiting[work]
                return
            with contextlib.suppress(RuntimeError):  # the page has ended
                super().submit(self._run, work)


def _kind(arguments: tuple[Any, ...]) -> Hashable:
    """Return what has one place in the queue of a function: the browser, and the phase of a drag."""
    event = arguments[0] if arguments else None
    return type(event), getattr(event, "client_id", None), getattr(event, "phase", None)
