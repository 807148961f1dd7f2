"""Requests to the simulation itself, by name, and the simulations that are still open when the interpreter ends."""

from __future__ import annotations

import atexit
import contextlib
import inspect
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Protocol

from pliant.base.errors import PliantError, nearest
from pliant.simulation.bridge import SimulationControl


class _Requested(SimulationControl, Protocol):
    """Interface of a simulation for `request_simulation`."""

    def reset(self, seed: int | None = None) -> None:
        """Reset to time 0."""
        ...

    def health(self) -> dict[str, object]:
        """Return state and counters."""
        ...

    def close(self) -> None:
        """Stop bridges and close the recording."""
        ...


OPEN: weakref.WeakSet[_Requested] = weakref.WeakSet()
"""Simulations that were not closed."""


def request_simulation(simulation: _Requested, name: str, args: Mapping[str, object]) -> Future[object]:
    """Send a request to the simulation: reset(seed), pause, resume, stop, health.

    Raises:
        PliantError: the request does not exist, or does not accept the arguments.
    """
    actions: dict[str, Callable[..., object]] = {
        "reset": simulation.reset,
        "pause": simulation.pause,
        "resume": simulation.resume,
        "stop": simulation.stop,
        "health": simulation.health,
    }
    if name not in actions:
        raise PliantError(f"simulation: there is no request {name!r}; {nearest(name, actions)}", field=name)
    try:
        inspect.signature(actions[name]).bind(**args)
    except TypeError as error:
        raise PliantError(f"simulation: request {name!r} was called with {sorted(args)}: {error}", field=name) from None
    if name in ("pause", "resume", "stop"):  # these may not wait for a step that a pause holds back
        future: Future[object] = Future()
        future.set_result(actions[name](**args))
        return future
    return simulation.submit(lambda: actions[name](**args))


@atexit.register
def _close_all() -> None:
    """Stop bridges and close recordings of simulations that nobody closed."""
    for simulation in list(OPEN):
        with contextlib.suppress(Exception):  # the interpreter is going down; there is nobody to tell
            simulation.close()
