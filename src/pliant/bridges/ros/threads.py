"""Threads of a wire: when one dies, that is logged, told and kept."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

__all__ = ["WireThread"]

_log = logging.getLogger("pliant.ros")


class WireThread(threading.Thread):
    """A daemon thread that reports its death.

    Args:
        name: its name.
        work: what it runs.
        complain: called with a text if ``work`` raises.
    """

    def __init__(self, name: str, work: Callable[[], None], complain: Callable[[str], None]) -> None:
        super().__init__(name=name, daemon=True)
        self.fault = ""
        """Why it died; "" as long as it lives, and when it ended as it should."""
        self._work = work
        self._complain = complain

    def run(self) -> None:
        """Do the work."""
        try:
            self._work()
        except Exception as error:
            self.fault = f"{type(error).__name__}: {error}"
            _log.exception("the thread %s died", self.name)
            self._complain(f"the thread {self.name} died: {self.fault}")
