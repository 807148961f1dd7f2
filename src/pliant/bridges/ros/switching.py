"""How long a thread of a wire may keep the interpreter while the loop wants it."""

from __future__ import annotations

import sys

__all__ = ["SwitchInterval"]

SWITCH_INTERVAL = 5e-4
"""Longest time [s] that a thread keeps the interpreter; Python's default is ten times as long, more than a step may be
late."""


class SwitchInterval:
    """Python's switch interval, made short while a wire is open."""

    def __init__(self) -> None:
        self._before: float | None = None

    def shorten(self) -> None:
        """Make it short, unless it is shorter already."""
        self._before = sys.getswitchinterval()
        sys.setswitchinterval(min(self._before, SWITCH_INTERVAL))

    def restore(self) -> None:
        """Make it what it was before; may be called twice, and before `shorten`."""
        if self._before is not None:
            sys.setswitchinterval(self._before)
            self._before = None
