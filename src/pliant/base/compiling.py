"""Tell observers what is being compiled: it takes seconds to a minute, so a program shows it to its user.

`pliant.base.codecache.njit` and `pliant.laws.compile` report here what they compile, not what they load from a cache. A
program observes with `observed`; without an observer a warning is logged where much is compiled.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import threading
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

log = logging.getLogger("pliant")

MANY = 20
"""Number of functions from which a compilation is worth a warning: it takes about ten seconds or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilation:
    """How far a compilation is."""

    what: str
    """Subject of the compilation, such as "the law qbmove" or "rods"."""
    done: int
    """Number of functions that are compiled."""
    total: int
    """Number of functions in all; before the end an estimate, because some are loaded from a cache, and some are
    compiled for several types."""
    over: bool = False
    """Whether it has ended."""


Observer = Callable[[Compilation], None]

_lock = threading.RLock()
_observers: list[Observer] = []
_told: set[str] = set()
_open: list[str] = []
"""Subjects of the compilations in progress; a function is compiled within the one that calls it."""
_naming = threading.local()
"""Its ``name`` is that of what numba compiles in a thread; without one it is the package of the function."""
_done = 0
_total = 0
_ALLOCATIONS = 100_000
"""Allocations between two looks for garbage while something is compiled; numba's many objects cost a quarter of the
time with Python's 700 to 2,000."""
_usual: tuple[int, int, int] = gc.get_threshold()
"""Allocations of the program before a compilation."""


@contextlib.contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Call a function with each `Compilation` while the block runs, in the thread that compiles.

    Args:
        observer: called at the begin, after each function and at the end of a compilation.
    """
    with _lock:
        _observers.append(observer)
    try:
        yield
    finally:
        with _lock:
            _observers.remove(observer)


@contextlib.contextmanager
def compilation(what: str, functions: int) -> Iterator[None]:
    """Report that the block compiles.

    Args:
        what: what it compiles.
        functions: number of functions.
    """
    _begin(what, lambda: functions)
    try:
        yield
    finally:
        _end()


@contextlib.contextmanager
def named(what: str) -> Iterator[None]:
    """Name what numba compiles in the block; nothing is reported if it loads all from its cache.

    Args:
        what: what it compiles.
    """
    before = getattr(_naming, "name", "")
    _naming.name = what
    try:
        yield
    finally:
        _naming.name = before


def _begin(what: str, functions: Callable[[], int]) -> None:
    global _done, _total, _usual
    with _lock:
        _open.append(what)
        if len(_open) > 1:
            return
        _usual = gc.get_threshold()
        gc.set_threshold(max(_usual[0], _ALLOCATIONS) if _usual[0] else 0, *_usual[1:])
        _done, _total = 0, max(functions(), 1)
        if not _observers and _total >= MANY and what not in _told:
            _told.add(what)
            log.warning("compiling %s (once; later runs load it)", what)
        _report()


def _end() -> None:
    global _done, _total
    with _lock:
        _done += 1
        over = len(_open) == 1
        # Some functions are compiled for several types, and others are loaded.
        _total = _done if over else max(_total, _done + 1)
        _report(over=over)
        _open.pop()
        if over:
            gc.set_threshold(*_usual)


def _report(over: bool = False) -> None:
    now = Compilation(what=_open[0], done=_done, total=_total, over=over)
    for observer in list(_observers):
        observer(now)


@functools.cache
def follow_numba() -> None:
    """Report from now on which functions of pliant numba compiles."""
    from numba.core import event

    class _Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            dispatcher = event.data["dispatcher"]
            if _ours(dispatcher):
                _begin(getattr(_naming, "name", "") or _label(dispatcher), lambda: count_functions(dispatcher))

        def on_end(self, event: Any) -> None:
            if _ours(event.data["dispatcher"]):
                _end()

    event.register("numba:compile", _Listener())


def _ours(dispatcher: object) -> bool:
    return getattr(dispatcher, "__module__", "").partition(".")[0] == "pliant"


def _label(dispatcher: object) -> str:
    """Return the room or wing of a function, ``laws`` of ``pliant.laws.kernels``."""
    return dispatcher.__module__.split(".")[1].replace("_", " ")


def count_functions(function: object) -> int:
    """Return how many functions have to be compiled for one, with those that it calls.

    Args:
        function: a dispatcher of numba, or a function that becomes one.
    """
    seen: dict[int, object] = {}
    todo = [function]
    while todo:
        found = todo.pop()
        if id(found) in seen or getattr(found, "overloads", None):
            continue
        seen[id(found)] = found
        plain: Any = getattr(found, "py_func", found)
        for value in (plain.__globals__.get(name) for name in plain.__code__.co_names):
            inside = [value]
            if isinstance(value, types.ModuleType) and value.__name__.startswith("pliant."):
                inside = [vars(value).get(name) for name in plain.__code__.co_names]
            todo += [v for v in inside if hasattr(v, "py_func") and hasattr(v, "overloads")]
    return sum(getattr(f, "targetoptions", {}).get("inline") != "always" for f in seen.values())
