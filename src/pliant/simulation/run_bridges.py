"""The bridges of a run: their names, their start and end, and their threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping

from pliant.base.errors import DeadThreadError
from pliant.devices.base import Device
from pliant.simulation.bridge import Bridge, BridgeBase, LockstepBridge, SimulationControl


class RunBridges:
    """The bridges of one simulation by name; a second one of the same name has the suffix ``_2``.

    Args:
        bridges: the bridges.
        on_dead_thread: ``"error"`` or ``"hold"``, as `Simulation` takes it.
        woken: called, in any thread, when a thread has died, so that a waiting loop looks at `deaths`.
    """

    def __init__(self, bridges: Iterable[Bridge], on_dead_thread: str, woken: Callable[[], None]) -> None:
        self.by_name: dict[str, Bridge] = {}
        self.deaths: deque[DeadThreadError] = deque()
        """Threads that died although the run needs them."""
        self._hold = on_dead_thread == "hold"
        self._woken = woken
        self._started: list[Bridge] = []
        self._closed = False
        for bridge in bridges:
            base = name = bridge.name
            count = 1
            while name in self.by_name:
                count += 1
                name = f"{base}_{count}"
            self.by_name[name] = bridge

    def __bool__(self) -> bool:
        return bool(self.by_name)

    def ticks(self) -> list[Callable[[int], None]]:
        """Return what takes the time of a step, of the bridges that do something with it."""
        bridges = self.by_name.values()
        return [bridge.tick for bridge in bridges if getattr(type(bridge), "tick", None) is not BridgeBase.tick]

    def start(self, simulation: SimulationControl, devices: Mapping[str, Device]) -> None:
        """Start every bridge and hear of its threads that die."""
        for name, bridge in self.by_name.items():
            self._started.append(bridge)
            self._watch_threads(name, bridge)
            bridge.bind(simulation)
            bridge.start(devices)

    def _watch_threads(self, name: str, bridge: Bridge) -> None:
        """Hear of the threads of a bridge that die; by policy the next step, or the one that waits, ends the run."""

        def died(thread: str, why: str) -> None:
            if self._hold or self._closed:
                return
            text = f"{name}: the thread {thread} died ({why}), so the run ends (on_dead_thread='hold' would go on)"
            self.deaths.append(DeadThreadError(text, bridge=name, thread=thread, why=why))
            self._woken()
            for other in self.by_name.values():
                if isinstance(other, LockstepBridge) and other.lockstep:
                    other.release()

        bridge.threads.tell(died)

    def expect_end(self) -> None:
        """Take threads that end from now on for no fault."""
        self._closed = True

    def stop(self) -> list[Exception]:
        """Stop the bridges that were started; return their errors."""
        faults: list[Exception] = []
        for bridge in self._started:
            try:
                bridge.threads.close()
                bridge.stop()
            except Exception as error:  # the others are stopped in any case
                faults.append(error)
        return faults

    def health(self) -> dict[str, dict[str, object]]:
        """Return the health of each bridge."""
        return {name: dict(bridge.health()) for name, bridge in self.by_name.items()}

    def dead_threads(self) -> dict[str, str]:
        """Return "bridge: thread" -> why it died."""
        return {
            f"{name}: {thread}": why
            for name, bridge in self.by_name.items()
            for thread, why in bridge.threads.dead.items()
        }
