"""Handle SIGTERM like Ctrl-C, so that results are kept and bridges are closed."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["terminating_as_interrupt"]


@contextlib.contextmanager
def terminating_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM, which ``kill`` and service managers send, like SIGINT while the body runs.

    Otherwise SIGTERM would end the process at once, and a ROS master would list its topics for ever. In forked
    processes, SIGTERM keeps its default action.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    process = os.getpid()

    def ended(number: int, frame: Any) -> None:
        if os.getpid() != process:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # a shell without job control lets its background jobs ignore SIGINT
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)

    before = signal.signal(signal.SIGTERM, ended)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
