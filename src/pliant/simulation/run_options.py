"""Checks of the options of a run, and the random generators that its seed gives the devices."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from pliant.base.errors import PliantError, nearest

T = TypeVar("T")

TIMEOUT_POLICIES = ("hold", "halt", "error")
DEAD_THREAD_POLICIES = ("hold", "error")


def seeded(seed: int, name: str) -> np.random.Generator:
    """Return the random generator of one device.

    The generator depends only on the seed and the name, so adding a device does not change the noise of other devices.

    Args:
        seed: the seed of the run, >= 0.
        name: name of the device.
    """
    words = np.frombuffer(hashlib.sha256(name.encode()).digest()[:16], dtype="<u4")
    return np.random.Generator(
        np.random.PCG64(np.random.SeedSequence(seed, spawn_key=tuple(int(word) for word in words)))
    )


def check_parts(kind: str, parts: Iterable[T]) -> list[T]:
    """Return devices or bridges as a list; raise PliantError where one of them is of another type."""
    needed, hint = {
        "device": ("attach", "make_devices(robot) of pliant.devices returns those of a robot"),
        "bridge": ("publish", "pliant.simulation.make_bridge(name, ...) returns one"),
    }[kind]
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        raise PliantError(f"{kind}s is {type(parts).__name__}; must be a list of {kind}s: {hint}", field=f"{kind}s")
    found = list(parts)
    for i, part in enumerate(found):
        if isinstance(part, type) or not hasattr(part, needed):
            raise PliantError(f"{kind}s[{i}] is {part!r:.100}; must be a {kind}: {hint}", field=f"{kind}s")
    return found


def check_policies(on_timeout: str, on_dead_thread: str, sync_timeout: float) -> None:
    """Raise PliantError unless the options of a simulation about time-outs and dead threads are valid."""
    for name, value, valid in (
        ("on_timeout", on_timeout, TIMEOUT_POLICIES),
        ("on_dead_thread", on_dead_thread, DEAD_THREAD_POLICIES),
    ):
        if value not in valid:
            raise PliantError(f"{name} is {value!r}; {nearest(str(value), valid)}", field=name)
    if (
        not isinstance(sync_timeout, int | float)
        or not math.isfinite(sync_timeout)
        or not 0.0 < sync_timeout <= threading.TIMEOUT_MAX
    ):
        raise PliantError(
            f"sync_timeout is {sync_timeout!r}; must be a finite number of seconds above 0", field="sync_timeout"
        )


def checked_seed(seed: object) -> int:
    """Return a seed as an int; raise PliantError unless it is a whole number >= 0."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise PliantError(f"the seed is {seed!r}; must be a whole number >= 0", field="seed")
    return int(seed)
