"""Control boards: the ports of their state, of commands and of calls, in both dialects.

The messages are in `control_board_answers` and `control_board_state`; here are the ports, and which client gets which
dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np

from pliant.base.errors import PliantError
from pliant.base.numerics import DEGREES
from pliant.control_boards import ControlBoardDevice, JoinedBoard
from pliant.devices.base import Sample, SampleSource
from pliant.devices.fields import Values
from pliant.yarp.bridge.control_board_answers import answer, command
from pliant.yarp.bridge.control_board_state import StateEncoder
from pliant.yarp.bridge.messages import Answer, Arrival, answered
from pliant.yarp.bridge.port import Port
from pliant.yarp.bridge.requests import RequestQueue, words_of
from pliant.yarp.bridge.served import Served
from pliant.yarp.model.services import ControlBoardServer
from pliant.yarp.wire import Bottle, Dialect
from pliant.yarp.wire.binary import encode_vector
from pliant.yarp.wire.board_calls import CALL_PORTS

MAX_CLIENTS = 256
"""Most clients of one part whose dialect is remembered."""
MAX_REASONS = 100
"""Most reasons of refused calls that are told of one port."""


@dataclass(slots=True)
class ClientDialects:
    """The dialects of a part's clients: nothing in a connection names it, but the ports that they connect to do."""

    default: Dialect
    """Of clients that have shown none."""
    known: dict[str, Dialect] = field(default_factory=dict)
    """Beginning of the names of a client's ports -> its dialect."""

    def heard(self, sender: str, dialect: Dialect, ending: str) -> None:
        """Note that a client has connected to the calls of a dialect, or has sent a command in it."""
        if not sender.endswith(ending):
            return
        prefix = sender[: -len(ending)]
        if len(self.known) >= MAX_CLIENTS and prefix not in self.known:
            self.known.clear()
        self.known[prefix] = dialect

    def dialect_of(self, receiver: str) -> Dialect:
        """Return the dialect of the client that a receiving port, such as ``/client/stateExt:i``, belongs to."""
        return self.known.get(receiver.rsplit("/", 1)[0], self.default)


@dataclass(frozen=True, slots=True)
class _Axes:
    """The axes of a part, and where they are found in the samples of boards."""

    boards: tuple[SampleSource, ...]
    """The boards, each once."""
    numbers: tuple[np.ndarray, ...]
    """Of each board, the numbers of the part's axes."""
    order: np.ndarray
    """Where each axis of the part is in the numbers, one board after the other."""
    whole: bool
    """Whether the part is one board, all of it, in its order."""

    def gather(self, samples: Mapping[str, Sample]) -> Values:
        """Return the values of the part's axes."""
        first = samples[self.boards[0].name].values
        if self.whole:
            return first
        tables = [samples[board.name].values for board in self.boards]
        return {
            name: np.concatenate([np.asarray(table[name])[own] for table, own in zip(tables, self.numbers)])[self.order]
            for name in first
        }

    def stamp_ns(self, samples: Mapping[str, Sample]) -> int:
        """Return the mean time of the axes' samples."""
        stamps = [samples[board.name].stamp_ns for board in self.boards]
        if len(set(stamps)) == 1:
            return stamps[0]
        counts = [len(own) for own in self.numbers]
        return sum([stamp * count for stamp, count in zip(stamps, counts)]) // sum(counts)


def _axes_of(axes: Sequence[tuple[SampleSource, int]]) -> _Axes:
    boards = {board.name: board for board, _ in axes}
    numbers = {name: [i for board, i in axes if board.name == name] for name in boards}
    places = [k for name in boards for k, (board, _) in enumerate(axes) if board.name == name]
    only = next(iter(boards.values()))
    whole = len(boards) == 1 and numbers[only.name] == list(range(only.samples["position"].shape[0]))
    return _Axes(
        tuple(boards.values()), tuple([np.array(n, dtype=int) for n in numbers.values()]), np.argsort(places), whole
    )


def serve_described_parts(served: Served) -> set[str]:
    """Open the ports of the parts that the robot describes: axes of one or of several boards at one prefix.

    Returns:
        The boards that a part shows; they need no ports of their own.
    """
    shown: set[str] = set()
    for server in served.interface.servers:
        if not isinstance(server, ControlBoardServer):
            continue
        axes = [(served.devices.get(axis.board), axis.index) for axis in server.axes]
        found = [(board, i) for board, i in axes if board is not None and "control_board" in board.signatures]
        if found and len(found) == len(axes):  # else a board of it is not simulated or was not recorded
            _serve_part(served, "/" + server.port.strip("/"), found, server.period)
            shown |= {board.name for board, _ in found}
    return shown


def serve_control_board(served: Served, name: str, device: SampleSource) -> None:
    """Serve a control board that no part shows, all its axes at its own name."""
    axes = [(device, i) for i in range(device.samples["position"].shape[0])]
    _serve_part(served, served.full_name(name), axes, None)


def _serve_part(served: Served, prefix: str, axes: Sequence[tuple[SampleSource, int]], period: float | None) -> None:
    """Serve axes as a part.

    | port | content |
    |---|---|
    | ``state:o`` | positions [deg or m] |
    | ``stateExt:o`` | the whole state, in the dialect of each client |
    | ``command:i`` | references, in either dialect |
    | ``rpc:i``, ``nws/rpc:i`` | calls of YARP 3 and of YARP 4 |
    """
    part = _axes_of(axes)
    slides = np.array([_slides(board)[i] for board, i in axes], dtype=bool)
    scale = np.where(slides, 1.0, DEGREES)
    encoders = {3: StateEncoder(scale, 3), 4: StateEncoder(scale, 4)}
    clients = ClientDialects(served.dialect)

    def positions(values: Values, dialect: Dialect) -> bytes:
        return encode_vector(np.asarray(values["position"]) * scale, dialect)

    def extended(values: Values, dialect: Dialect) -> bytes:
        return encoders[dialect].encode(values)

    outputs = (
        (served.output(f"{prefix}/state:o", "Vector"), positions),
        (served.output(f"{prefix}/stateExt:o", "JointState", dialect_of=clients.dialect_of), extended),
    )
    _publish(served, part, outputs, period)
    live = [(board, i) for board, i in axes if isinstance(board, ControlBoardDevice)]
    if len(live) < len(axes):  # of a recording
        return
    board = JoinedBoard(part.boards[0].name if part.whole else prefix, live)
    requests = RequestQueue(live[0][0], served.simulation)

    def take(arrival: Arrival) -> Answer:
        content, dialect = arrival.bottle_and_dialect()
        clients.heard(arrival.sender, dialect, "/command:o")
        requests.call(lambda: command(board, content)).add_done_callback(refused)

    served_port = served.input(f"{prefix}/command:i", "Bottle", on_data=take)

    def refused(future: Future[None]) -> None:
        if not future.cancelled() and isinstance(fault := future.exception(), PliantError):
            served_port.reject(fault.message)

    for ending, dialect, sender_ending in CALL_PORTS:
        told = _Refusals()
        counts = _ParameterCounts(served.options.motor_parameters) if dialect == 3 else None
        on_data = _caller(board, requests, dialect, told, counts)
        port = told.port = served.input(f"{prefix}/{ending}", "Bottle", recognise=False, is_rpc=True, on_data=on_data)
        port.dialect = dialect
        port.listening_to = _listener(clients, dialect, sender_ending)


def _slides(board: SampleSource) -> Sequence[bool]:
    """Return whether each axis of a board, live or recorded, is prismatic."""
    if isinstance(board, ControlBoardDevice):
        return board.slides
    position = board.samples["position"]
    told = board.metadata.get("slides")
    if told:
        return [flag == "1" for flag in told.split(",")]
    return [position.unit == "m"] * position.size  # a recording that does not tell of each axis


def _publish(
    served: Served,
    part: _Axes,
    outputs: Sequence[tuple[Port, Callable[[Values, Dialect], bytes]]],
    period: float | None,
) -> None:
    """Send the state of a part at most once per period, when the last of its fastest boards has been sampled."""
    boards = sorted(part.boards, key=list(served.devices.values()).index)  # in the order of their samples in a step
    shortest = min([board.sample_period_ns for board in boards])
    last = [board for board in boards if board.sample_period_ns == shortest][-1]
    every = served.every(last, period)
    latest = served.collect([board.name for board in boards])
    count = 0

    def send(sample: Sample) -> None:
        nonlocal count
        if len(latest) < len(boards) or not every.due(sample.stamp_ns):
            return
        count = (count + 1) & 0x7FFFFFFF
        if not any(port.active for port, _ in outputs):
            return
        samples = dict(latest)
        envelope = f"{count} {part.stamp_ns(samples) * 1e-9:.15g}"
        for port, encode in outputs:
            if port.active:
                port.write(lambda dialect, encode=encode: encode(part.gather(samples), dialect), envelope)

    served.writers[last.name].append(send)


def _listener(clients: ClientDialects, dialect: Dialect, ending: str) -> Callable[[str, bool], None]:
    def listening(sender: str, connected: bool) -> None:
        if connected:
            clients.heard(sender, dialect, ending)

    return listening


class _Refusals:
    """Tells why the calls to a port were refused, each reason once: programs repeat their calls."""

    def __init__(self) -> None:
        self.port: Port | None = None
        self._reasons: set[str] = set()

    def add(self, why: str) -> None:
        """Tell a reason that is new."""
        if self.port is None or why in self._reasons or len(self._reasons) >= MAX_REASONS:
            return
        self._reasons.add(why)
        self.port.complain(f"{self.port.name}: a call was refused: {why}")


class _ParameterCounts:
    """Numbers in the replies to getMotorTorqueParams: each version of YARP 3 reads exactly as many as it sends.

    The version cannot be asked for, so a client that has sent parameters gets as many back.

    Args:
        default: for a client that has sent none.
    """

    def __init__(self, default: int) -> None:
        self._default = default
        self._sent: dict[str, int] = {}

    def count(self, sender: str, request: Bottle) -> int | None:
        """Return the numbers in the reply to a call; None for every other call."""
        words, last = words_of(request.items), request.items[-1] if request.items else None
        if words == ["set", "torq", "mtps"] and isinstance(last, Bottle):
            self._sent.pop(sender, None)
            self._sent[sender] = len(last)
            while len(self._sent) > MAX_REASONS:
                self._sent.pop(next(iter(self._sent)))
        return self._sent.get(sender, self._default) if words == ["get", "torq", "mtps"] else None


def _caller(
    board: JoinedBoard,
    requests: RequestQueue,
    dialect: Dialect,
    refusals: _Refusals,
    parameters: _ParameterCounts | None,
) -> Callable[[Arrival], Answer]:
    """Return what answers the calls of a dialect, in the loop's thread."""
    count = 0

    def call(arrival: Arrival) -> Answer:
        nonlocal count
        count = (count + 1) & 0x7FFFFFFF
        number, request = count, arrival.bottle(dialect)
        numbers = None if parameters is None else parameters.count(arrival.sender, request)

        def answer_call() -> Bottle | bytes:
            reply = answer(board, request, dialect, number, refusals.add)
            return reply if numbers is None else _shortened(reply, numbers)

        # A caller that gives up cancels its answer, not the call.
        return answered(requests.call(answer_call), lambda reply: reply)

    return call


def _shortened(reply: Bottle | bytes, count: int) -> Bottle | bytes:
    """Return a reply whose list has at most so many elements."""
    if isinstance(reply, bytes):
        return reply
    return Bottle(tuple([Bottle(item.items[:count]) if isinstance(item, Bottle) else item for item in reply.items]))
