"""The simulation's time, and the calls by which programs hold, step and reset it."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future

from pliant.base.errors import WireError
from pliant.simulation.bridge import SimulationControl, bound
from pliant.yarp.bridge.awaited import AwaitedCommands, read_counts
from pliant.yarp.bridge.messages import Answer, Arrival, answered
from pliant.yarp.bridge.requests import help_reply
from pliant.yarp.bridge.served import Served
from pliant.yarp.bridge.step_gate import StepGate
from pliant.yarp.wire import Bottle, Vocab, bottle
from pliant.yarp.wire.records import Method, call_of, parse_method
from pliant.yarp.wire.values import FAIL

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


class PausedSteps:
    """Steps that clients ask for while the simulation is paused, taken one call after the other.

    In lock-step a `StepGate` takes its place. Other calls are answered between two steps; one that asks for steps waits
    until those before it are taken. Any thread may call the methods.
    """

    def __init__(self, simulation: SimulationControl) -> None:
        self._simulation = simulation
        self._waiting: deque[tuple[int, Future[None]]] = deque()
        self._busy = False

    @property
    def is_open(self) -> bool:
        """Whether the simulation runs without waiting."""
        return not self._simulation.paused

    def open(self) -> None:
        """Let the simulation run without waiting, until `hold`."""
        self._simulation.resume()

    def hold(self) -> None:
        """Wait for calls."""
        self._simulation.pause()

    def allow(self, steps: int) -> Future[None]:
        """Ask for steps; the future is done when the last of them is."""
        taken: Future[None] = Future()
        self._waiting.append((steps, taken))
        asked = self._simulation.submit(self._take)
        asked.add_done_callback(lambda future: taken.cancel() if future.cancelled() else None)
        return taken

    def _take(self) -> None:
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
                    self._simulation.step(count)
                except Exception as fault:  # the thread that asked gets it
                    taken.set_exception(fault)
                else:
                    taken.set_result(None)
        finally:
            self._busy = False


def serve_clock(served: Served, name: str) -> None:
    """Serve the time of every step as ``(seconds nanoseconds)`` at a port, and its calls at ``<name>/rpc``."""
    # A program waits for the first time before it does anything. If it is the one that asks for the steps, or while the
    # simulation is paused, no further step would give it one.
    port = served.output(name, "Bottle", queue=CLOCK_QUEUE, latch=True, recognise=False)

    def tick(stamp_ns: int) -> None:
        port.write(lambda dialect: _TIME.pack(*_HEAD, *divmod(stamp_ns, 1_000_000_000)))

    served.ticks.append(tick)
    if served.simulation is not None:
        steps = served.gate or PausedSteps(served.simulation)
        network = served.network
        commands = AwaitedCommands(
            network.reactor, lambda: [port for port, _, way in served.ports if way == "in"], network.on_complaint
        )
        served.input(
            f"{name}/rpc", "Bottle", is_rpc=True, on_data=lambda arrival: _answer(served, steps, commands, arrival)
        )


def _answer(served: Served, steps: PausedSteps | StepGate, commands: AwaitedCommands, arrival: Arrival) -> Answer:
    request, _ = arrival.bottle_and_dialect()
    name, items = call_of(request)
    if name == "help":
        return help_reply(METHODS)
    method = METHODS.get(name)
    if method is None:
        raise WireError(f"the clock has no call {name[:80]!r}", field="method")
    counts: dict[str, int] = {}
    if name.startswith("stepSimulation"):
        lists = next((i for i, item in enumerate(items) if isinstance(item, Bottle)), len(items))
        counts = read_counts(items[lists:])
        request = Bottle(items[:lists] if lists > 1 else (*items[:1], 1))
    arguments = method.decode_request(request)
    simulation = bound(served.simulation)
    if name == "pauseSimulation":
        steps.hold()
        return DONE
    if name == "continueSimulation":
        steps.open()
        simulation.resume()
        _wake(simulation)
        return DONE
    if name == "getSimulationTime":
        return method.encode_reply(simulation.time)
    if name == "getStepSize":
        return method.encode_reply(float(simulation.engine.dt))
    if name.startswith("stepSimulation"):
        count = int(arguments[0])
        if not 1 <= count <= MAX_STEPS:
            raise WireError(f"{count} steps; must be 1 to {MAX_STEPS}", field="n")
        if steps.is_open:
            raise WireError("single steps need a paused simulation; first call pauseSimulation first")
        stepped = _after(commands.arrived(counts), lambda: steps.allow(count), simulation)
        if not name.endswith("AndWait"):
            return DONE
        return answered(stepped, lambda _: Bottle(), lambda why: bottle(FAIL))
    # Time and state of a simulation here belong together: each of the three resets both.
    simulation.request("simulation", "reset")
    return DONE


def _after(ready: Future[None], allow: Callable[[], Future[None]], simulation: SimulationControl) -> Future[None]:
    """Ask for steps when something is ready; the future is done when they are, or has the fault of what was awaited."""
    stepped: Future[None] = Future()

    def go_on(future: Future[None]) -> None:
        if (fault := future.exception()) is not None:
            stepped.set_exception(fault)
            return
        answered(allow(), stepped.set_result, lambda why: stepped.set_exception(WireError(why)))
        _wake(simulation)

    ready.add_done_callback(go_on)
    return stepped


def _wake(simulation: SimulationControl) -> None:
    """Let a loop that waits in lock-step look at what is allowed at once."""
    simulation.submit(lambda: None)
