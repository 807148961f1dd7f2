"""Control boards: the ports of their state, of commands and of calls, in both dialects.

What is in the messages is in `control_board_answers`; here are the ports, and which client gets which dialect.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.bridges.yarp.control_board_answers import StateEncoder, answer, command
from pliant.bridges.yarp.fields import RequestQueue
from pliant.bridges.yarp.messages import Answer, Arrival
from pliant.bridges.yarp.served import Served
from pliant.devices.base import Sample, SampleSource
from pliant.devices.control_board import ControlBoardDevice
from pliant.errors import PliantError, WireError
from pliant.model.yarp import ControlBoardServer
from pliant.wire.yarp import Bottle, Dialect
from pliant.wire.yarp.binary import encode_vector

__all__ = ["ClientDialects", "is_control_board", "serve_control_board"]

DEGREES = 180.0 / math.pi
MAX_CLIENTS = 256
"""Most clients of one part whose dialect is remembered."""
CALL_PORTS: tuple[tuple[str, Dialect, str], ...] = (("rpc:i", 3, "/rpc:o"), ("nws/rpc:i", 4, "/nwc/rpc:o"))
"""Port for calls, its dialect, and how the names of the ports end by which clients connect to it."""


def is_control_board(device: SampleSource) -> bool:
    """Return whether a device, live or recorded, samples as a control board does."""
    return "interaction_mode" in device.samples and "control_mode" in device.samples


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


def _prefix_and_period(served: Served, name: str, axes: int) -> tuple[str, float | None]:
    """Return the beginning of the names and the period of a board: of its server, where the robot describes one."""
    interface = None if served.robot is None else served.robot.interface.yarp
    for server in () if interface is None else interface.servers:
        whole = [(name, i) for i in range(axes)]
        if isinstance(server, ControlBoardServer) and [(a.board, a.index) for a in server.axes] == whole:
            return "/" + server.port.strip("/"), server.period
    return served.full_name(name), None


def serve_control_board(served: Served, name: str, device: SampleSource) -> None:
    """Serve a control board.

    | port | content |
    |---|---|
    | ``state:o`` | positions [deg or m] |
    | ``stateExt:o`` | the whole state, in the dialect of each client |
    | ``command:i`` | references, in either dialect |
    | ``rpc:i``, ``nws/rpc:i`` | calls of YARP 3 and of YARP 4 |
    """
    n = device.samples["position"].shape[0]
    slides = device.slides if isinstance(device, ControlBoardDevice) else [device.samples["position"].unit == "m"] * n
    scale = np.where(np.array(slides, dtype=bool), 1.0, DEGREES)
    encoders = {3: StateEncoder(scale, 3), 4: StateEncoder(scale, 4)}
    clients = ClientDialects(served.dialect)
    prefix, period = _prefix_and_period(served, name, n)

    def positions(sample: Sample, dialect: Dialect) -> bytes:
        return encode_vector(np.asarray(sample.values["position"]) * scale, dialect)

    def extended(sample: Sample, dialect: Dialect) -> bytes:
        return encoders[dialect].encode(sample.values)

    served.publish(f"{prefix}/state:o", "Vector", device, positions, period=period)
    served.publish(f"{prefix}/stateExt:o", "JointState", device, extended, period=period, dialect_of=clients.dialect_of)
    if not isinstance(device, ControlBoardDevice):  # of a recording
        return
    requests = RequestQueue(device, served.simulation)

    def take(arrival: Arrival) -> Answer:
        content, dialect = arrival.bottle_and_dialect()
        clients.heard(arrival.sender, dialect, "/command:o")
        requests.call(lambda: command(device, content)).add_done_callback(refused)

    served_port = served.input(f"{prefix}/command:i", "Bottle", on_data=take)

    def refused(future: Future[Any]) -> None:
        if not future.cancelled() and isinstance(fault := future.exception(), PliantError):
            served_port.reject(fault.message)

    for ending, dialect, sender_ending in CALL_PORTS:
        port = served.input(f"{prefix}/{ending}", "Bottle", is_rpc=True, on_data=_caller(device, requests, dialect))
        port.dialect = dialect
        port.listening_to = _listener(clients, dialect, sender_ending)


def _listener(clients: ClientDialects, dialect: Dialect, ending: str) -> Callable[[str, bool], None]:
    def listening(sender: str, connected: bool) -> None:
        if connected:
            clients.heard(sender, dialect, ending)

    return listening


def _caller(device: ControlBoardDevice, requests: RequestQueue, dialect: Dialect) -> Callable[[Arrival], Answer]:
    """Return what answers the calls of a dialect, in the loop's thread."""
    count = 0

    def call(arrival: Arrival) -> Answer:
        nonlocal count
        count = (count + 1) & 0x7FFFFFFF
        number, request = count, arrival.bottle(dialect)
        result: Future[Bottle | bytes] = Future()
        future = requests.call(lambda: answer(device, request, dialect, number))

        def done(future: Future[Any]) -> None:
            if result.done():
                return
            if future.cancelled():
                result.set_exception(WireError("the run ended before this was done"))
            elif (fault := future.exception()) is not None:
                result.set_exception(fault)
            else:
                result.set_result(future.result())

        future.add_done_callback(done)
        return result

    return call
