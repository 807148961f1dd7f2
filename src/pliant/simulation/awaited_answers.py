"""The wait for the clients of lock-step bridges."""

from __future__ import annotations

import time
from collections.abc import Callable, Sized
from dataclasses import dataclass

from pliant.base.errors import BridgeError
from pliant.simulation.bridge import Bridge, LockstepBridge


@dataclass(slots=True)
class _Waiting:
    """A lock-step bridge and its counts."""

    name: str
    wait: Callable[[float], bool]
    timeouts: int = 0
    waited_ns: int = 0
    worst_ns: int = 0


class AwaitedAnswers:
    """The lock-step bridges of a run, and how long their clients took.

    Args:
        timeout: longest wait for an answer [s of wall time].
        on_timeout: ``"hold"``, ``"halt"`` or ``"error"``, as `Simulation` takes it.
    """

    def __init__(self, timeout: float, on_timeout: str) -> None:
        self.timeout = timeout
        self._on_timeout = on_timeout
        self._waiting: list[_Waiting] = []

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, name: str, bridge: Bridge) -> None:
        """Add a bridge if it is a lock-step bridge.

        Raises:
            BridgeError: it says that it is one and has no ``wait``.
        """
        if not bridge.lockstep:
            return
        if not isinstance(bridge, LockstepBridge):
            raise BridgeError(
                f"{name}: lockstep is True, but {type(bridge).__name__} has no method wait(timeout) -> bool",
                field="lockstep",
            )
        self._waiting.append(_Waiting(name, bridge.wait))

    def wait(self, time_ns: int, deaths: Sized) -> str:
        """Wait until every client has answered; return why the run must halt, "" if it goes on.

        Args:
            time_ns: simulation time of the samples [ns].
            deaths: threads that have died; if there are any, the run ends anyway, and a missing answer is no time-out.

        Raises:
            BridgeError: a client did not answer in time, and the policy is "error".
        """
        halted = ""
        for item in self._waiting:
            began = time.perf_counter_ns()
            answered = item.wait(self.timeout)
            waited = time.perf_counter_ns() - began
            item.waited_ns += waited
            item.worst_ns = max(item.worst_ns, waited)
            if answered or deaths:
                continue
            item.timeouts += 1
            if self._on_timeout == "hold":
                continue
            text = (
                f"{item.name}: no answer within {self.timeout:g} s to the samples of simulation time "
                f"{time_ns * 1e-9:g} s; is the client running?"
            )
            if self._on_timeout == "error":
                raise BridgeError(text + " (on_timeout='hold' or 'halt' would not raise)", field=item.name)
            halted = text
        return halted

    def health(self) -> dict[str, dict[str, float]]:
        """Return time-outs and waits by bridge."""
        return {
            item.name: {
                "timeouts": item.timeouts,
                "waited": item.waited_ns * 1e-9,
                "worst_wait": item.worst_ns * 1e-9,
            }
            for item in self._waiting
        }
