"""The lock that lets one thread at a time run a simulation."""

from __future__ import annotations

import threading

from pliant.base.errors import PliantError


class Owner:
    """Lets one thread at a time into the engine; a second one gets an error instead of waiting."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise PliantError(
                "another thread runs this simulation; from here use request(), submit(), pause(), resume(), stop()"
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()
