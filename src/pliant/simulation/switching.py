"""How long a thread of a bridge may keep the interpreter while the loop wants it."""

from __future__ import annotations

import sys
import threading

SWITCH_INTERVAL = 5e-4
"""Longest time [s] that a thread keeps the interpreter; Python's default is ten times as long, more than a step may be
late."""


class SwitchInterval:
    """Python's switch interval, made short while any bridge is open; the last one to close restores it."""

    _lock = threading.Lock()
    _users = 0
    _before = 0.0

    def __init__(self) -> None:
        self._short = False

    def shorten(self) -> None:
        """Make it short, unless it is shorter already; may be called twice."""
        kind = SwitchInterval
        with kind._lock:
            if self._short:
                return
            self._short = True
            if not kind._users:
                kind._before = sys.getswitchinterval()
                sys.setswitchinterval(min(kind._before, SWITCH_INTERVAL))
            kind._users += 1

    def restore(self) -> None:
        """Make it what it was before the first bridge; may be called twice, and before `shorten`."""
        kind = SwitchInterval
        with kind._lock:
            if not self._short:
                return
            self._short = False
            kind._users -= 1
            if not kind._users:
                sys.setswitchinterval(kind._before)
