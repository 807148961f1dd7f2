"""The simulation's time, and the calls by which programs hold, step and reset it."""

from __future__ import annotations

import struct
from collections import deque
from concurrent.futures import Future
from typing import Any

from pliant.bridges.yarp.messages import Answer, Arrival
from pliant.bridges.yarp.served import Served
from pliant.errors import WireError
from pliant.simulation.bridge import SimulationControl
from pliant.wire.yarp import Bottle, Vocab, bottle
from pliant.wire.yarp.records import Method, parse_method
from pliant.wire.yarp.values import FAIL, text

__all__ = ["serve_clock"]

CLOCK_QUEUE = 5000
"""Times that wait for a slow reader; at 1 kHz they are five seconds."""
MAX_STEPS = 1_000_000
"""Most steps that one call may ask for."""
_TIME = struct.Struct("<4i")
_HEAD = (256 + 1, 2)
DONE = bottle(Vocab.of("done"))
"""Reply to a call that is not waited for."""

METHODS: dict[str, Method] = {
    m.name: m
    for m in map(
        parse_method,
        (
            "pauseSimulation()",
            "continueSimulation()",
            "stepSimulation(n: i32)",
            "stepSimulationAndWait(n: i32)",
            "resetSimulationTime()",
            "getSimulationTime() -> time: f64",
            "getStepSize() -> step: f64",
            "resetSimulation()",
            "resetSimulationState()",
        ),
    )
}
"""The calls of the clock's port."""


class StepQueue:
    """Steps that clients ask for, taken one call after the other.

    Other calls are answered between two steps; one that asks for steps waits until those before it are taken.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Future[None]]] = deque()
        self._busy = False

    def put(self, simulation: SimulationControl, count: int) -> Future[None]:
        """Ask for steps; the future ends when they are taken. Any thread may call this."""
        taken: Future[None] = Future()
        self._waiting.append((count, taken))
        asked = simulation.submit(lambda: self._take(simulation))
        asked.add_done_callback(lambda future: taken.cancel() if future.cancelled() else None)
        return taken

    def _take(self, simulation: SimulationControl) -> None:
        """Take all the steps that wait, in the loop's thread."""
        if self._busy:  # called between two of the steps: those that take them go on with the new ones
            return
        self._busy = True
        try:
            while self._waiting:
                count, taken = self._waiting.popleft()
                if not taken.set_running_or_notify_cancel():
                    continue
                try:
                    simulation.step(count)
                except Exception as fault:
                    taken.set_exception(fault)
                else:
                    taken.set_result(None)
        finally:
            self._busy = False


def serve_clock(served: Served, name: str) -> None:
    """Serve the time of every step as ``(seconds nanoseconds)`` at a port, and its calls at ``<name>/rpc``."""
    # A program waits for the first time before it does anything. If it is the one that asks for the steps, or while the
    # simulation is paused, no further step would give it one.
    port = served.output(name, "Bottle", queue=CLOCK_QUEUE, latch=True)

    def tick(stamp_ns: int) -> None:
        port.write(lambda dialect: _TIME.pack(*_HEAD, *divmod(stamp_ns, 1_000_000_000)))

    served.ticks.append(tick)
    if served.simulation is not None:
        steps = StepQueue()
        served.input(f"{name}/rpc", "Bottle", is_rpc=True, on_data=lambda arrival: _answer(served, steps, arrival))


def _answer(served: Served, steps: StepQueue, arrival: Arrival) -> Answer:
    request, _ = arrival.bottle_and_dialect()
    items = request.items[1:] if request.items[:1] == ("__direct__",) else request.items
    name = text(items[0]) if items else ""
    if name == "help":
        return Bottle((Vocab.of("many"), "*** Available commands:", *METHODS, "help"))
    method = METHODS.get(name)
    if method is None:
        raise WireError(f"the clock has no call {name[:80]!r}", field="method")
    if name.startswith("stepSimulation") and len(items) == 1:
        request = Bottle((*items, 1))
    arguments = method.decode_request(request)
    simulation = served.bound()
    gate = served.gate
    if name == "pauseSimulation":
        if gate is not None:
            gate.hold()
        else:
            simulation.pause()
        return DONE
    if name == "continueSimulation":
        if gate is not None:
            gate.open()
            _wake(simulation)
        simulation.resume()
        return DONE
    if name == "getSimulationTime":
        return method.encode_reply(simulation.time)
    if name == "getStepSize":
        return method.encode_reply(float(simulation.engine.dt))
    if name.startswith("stepSimulation"):
        count = int(arguments[0])
        if not 1 <= count <= MAX_STEPS:
            raise WireError(f"{count} steps; must be 1 to {MAX_STEPS}", field="n")
        if gate.is_open if gate is not None else not simulation.paused:
            raise WireError("steps are taken one by one while the simulation is paused; call pauseSimulation first")
        if gate is not None:
            stepped = gate.allow(count)
            _wake(simulation)
        else:
            stepped = steps.put(simulation, count)
        return _then(stepped, Bottle()) if name.endswith("AndWait") else DONE
    # Time and state of a simulation here belong together: each of the three resets both.
    simulation.request("simulation", "reset")
    return DONE


def _wake(simulation: SimulationControl) -> None:
    """Let a loop that waits in lock-step look at what is allowed at once."""
    simulation.submit(lambda: None)


def _then(future: Future[Any], reply: Bottle) -> Future[Bottle]:
    result: Future[Bottle] = Future()

    def done(future: Future[Any]) -> None:
        if not result.done():
            failed = future.cancelled() or future.exception() is not None
            result.set_result(bottle(FAIL) if failed else reply)

    future.add_done_callback(done)
    return result
