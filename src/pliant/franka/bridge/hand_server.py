"""The servers of the hand's and the vacuum gripper's port: requests in, states and answers out."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from pliant.base.errors import WireError
from pliant.base.listening import listen
from pliant.franka.bridge.sockets import Connection, accepted, refuse
from pliant.franka.wire import fci

if TYPE_CHECKING:
    from pliant.franka.device.arm import FrankaArm, StateValues
    from pliant.franka.device.gripper import GripperAnswer

DIVIDER = 10
"""The hand publishes at a tenth of the robot's rate, 100 Hz."""  # assumed; the real hand is slower
MAX_CONNECTIONS = 16
"""Most connections to one hand at a time; beyond, the oldest that has not said Connect is closed."""


class HandServer:
    """The network side of one arm's hand. Any number of clients may connect.

    Args:
        device: the arm that carries the hand.
        host: address to listen on.
        port: TCP port; 0 takes a free one.
    """

    tool = "gripper"
    """Name of the served tool."""
    version = fci.GRIPPER_VERSION
    """Protocol version."""

    def __init__(self, device: FrankaArm, *, host: str, port: int) -> None:
        self.device = device
        self.host, self.port = host, port
        self.malformed = 0
        """Connections that were ended because of what they sent."""
        self.last_fault = ""
        """The last fault in words."""
        self.changed = True
        """Whether the set of sockets has changed since it was last asked for."""
        self._listener: socket.socket | None = None
        self._connections: list[Connection] = []
        self._due: list[tuple[Connection, bytes]] = []

    def open(self) -> None:
        """Listen.

        Raises:
            BridgeError: the port is in use, or the address is not of this machine.
        """
        self._listener = listen(self.host, self.port, f"{self.device.name}: {self.tool}")
        self.port = self._listener.getsockname()[1]

    def close(self) -> None:
        """Close every socket."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        if self._listener is not None:
            self._listener.close()
        self._listener = None

    def handlers(self) -> dict[socket.socket, Callable[[], None]]:
        """Return what handles each socket when it has something to read; none blocks."""
        self.changed = False
        found: dict[socket.socket, Callable[[], None]] = {}
        if self._listener is not None:
            found[self._listener] = partial(self._accept, self._listener)
        for connection in self._connections:
            found[connection.sock] = partial(self._receive, connection)
        return found

    def publish(self, values: StateValues) -> None:
        """Send the answers that are due, and at a tenth of the robot's rate the state."""
        if self._due:
            self._send_answers()
        message_id = values.state.message_id
        if not self._connections or message_id % DIVIDER:
            return
        for connection in [c for c in self._connections if c.overdue]:
            self.last_fault = f"a client of the {self.tool} was disconnected, because it did not send Connect"
            self._drop(connection)
        data = self._state(values)
        for connection in self._connections:
            if connection.out:
                connection.flush()
            connection.send_datagram(data)

    def _state(self, values: StateValues) -> bytes:
        assert self.device.gripper is not None
        return fci.encode_gripper_state(self.device.gripper.state(values.state.message_id))

    def _decode(self, frame: fci.Frame) -> fci.GripperRequest | fci.VacuumRequest:
        return fci.decode_gripper_request(frame)

    def _accept(self, listener: socket.socket) -> None:
        for sock in accepted(listener):
            if len(self._connections) >= MAX_CONNECTIONS:
                silent = next((c for c in self._connections if c.udp is None), None)
                if silent is None:
                    self.last_fault = f"a client of the {self.tool} was refused: {MAX_CONNECTIONS} are connected"
                    refuse(sock)
                    continue
                self._drop(silent)
            with contextlib.suppress(OSError):
                self._connections.append(Connection(sock, "gripper"))
                self.changed = True

    def _drop(self, connection: Connection) -> None:
        connection.close()
        if connection in self._connections:
            self._connections.remove(connection)
        self.changed = True

    def _receive(self, connection: Connection) -> None:
        if connection not in self._connections:
            return  # it was closed after the sockets were found ready
        try:
            frames = connection.receive()
            if frames is None:
                self._drop(connection)
                return
            for frame in frames:
                request = self._decode(frame)
                if isinstance(request, fci.Connect):
                    self._connect(connection, request, frame.command_id)
                elif connection.udp is None:
                    raise WireError(f"command {frame.command} before Connect (0)", field="command")
                else:
                    self._ask(connection, request, frame.command_id)
            self._send_answers()
        except WireError as fault:
            self._refuse(connection, fault)

    def _refuse(self, connection: Connection, fault: WireError) -> None:
        self.malformed += 1
        self.last_fault = f"the {self.tool}'s client sent a malformed request: {fault}"
        self._drop(connection)

    def _connect(self, connection: Connection, request: fci.Connect, command_id: int) -> None:
        same = request.version == self.version
        if same and connection.udp is None:
            connection.open_udp(self.host, request.udp_port)
        status = "success" if same else "incompatible_version"
        version = struct.pack("<H", self.version)
        connection.send(fci.encode_gripper_response(0, command_id, status, payload=version))

    def _ask(self, connection: Connection, request: fci.GripperRequest | fci.VacuumRequest, command_id: int) -> None:
        def answered(answer: GripperAnswer) -> None:
            data = fci.encode_gripper_response(answer.command, command_id, answer.status)
            self._due.append((connection, data))

        self.device.ask(request, answered)

    def _send_answers(self) -> None:
        due, self._due = self._due, []
        for connection, data in due:
            if connection in self._connections:
                try:
                    connection.send(data)
                except WireError as fault:
                    self._refuse(connection, fault)


class VacuumServer(HandServer):
    """The network side of one arm's vacuum gripper: the same conversation with other requests and states."""

    tool = "vacuum gripper"
    version = fci.VACUUM_VERSION

    def _state(self, values: StateValues) -> bytes:
        assert self.device.vacuum is not None
        return fci.encode_vacuum_state(self.device.vacuum.state(values.state.message_id))

    def _decode(self, frame: fci.Frame) -> fci.VacuumRequest:
        return fci.decode_vacuum_request(frame)
