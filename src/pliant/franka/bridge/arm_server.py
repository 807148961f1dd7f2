"""The server of one arm's port: requests and commands in, states and answers out."""

from __future__ import annotations

import logging
import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pliant.base.errors import BridgeError, PliantError, WireError
from pliant.base.listening import listen
from pliant.devices.base import Command
from pliant.franka.bridge.hand_server import HandServer, VacuumServer
from pliant.franka.bridge.sockets import MAX_HELD, Connection, accepted
from pliant.franka.wire import fci

if TYPE_CHECKING:
    from pliant.franka.device.arm import FrankaArm, StateValues
    from pliant.franka.device.parameters import Arm

_COUNTERS = ("cycles", "connections", "refused", "lost", "late", "malformed", "timeouts")
FIRST_COMMAND_S = 0.6
"""How long a cycle waits for the first command of a motion [s of wall time]. The client may need another state before
it commands: with several arms it may be starting the motion of another. It gives up after 1 s without a state. An arm
at rest stands still meanwhile."""
STATES_BEFORE_COMMAND = 2
"""States that a client reads between the start of a motion and its first command: it waits for the new mode, then for
a state to answer. A client of libfranka takes states that have come together for one, so each is sent when it has read
all others."""
MAX_WAITING = 16
"""Most connections that have not said Connect; beyond, the oldest of them is closed."""
_log = logging.getLogger("pliant.fci")


class ArmServer:
    """The network side of one arm; it serves one client at a time.

    A connection becomes that client when it says Connect; until then it keeps nobody out, and it is closed after
    `sockets.CONNECT_TIMEOUT`. A client that disappears in a motion leaves an arm that decelerates; the next client's
    Connect is answered when the arm stands, so that all states that it reads are of an arm that takes its requests. A
    second client is refused when the first has not left within `sockets.SECOND_TIMEOUT`.

    Args:
        device: the arm.
        host: address to listen on.
        port: TCP port of the robot; 0 takes a free one.
        gripper_port: TCP port of the hand; 0 takes a free one.
        vacuum_port: TCP port of the vacuum gripper; 0 takes a free one.
        system_version: which clients are served, as in `FciOptions.system_version`.
        command_timeout: how long a cycle in lock-step waits for its command [s].
    """

    def __init__(
        self,
        device: FrankaArm,
        *,
        host: str,
        port: int,
        gripper_port: int,
        vacuum_port: int,
        system_version: str = "own",
        command_timeout: float = 0.2,
    ) -> None:
        from pliant.franka.device.arm import CommandValues

        self._command_values = CommandValues
        self.device = device
        self.cabinet = device.cabinet
        """The arm's controller."""
        self.host, self.port = host, port
        self.command_timeout = command_timeout
        """How long a cycle in lock-step waits for its command [s]."""
        self.versions = _served(device.description.arm, system_version)
        """The protocol versions that are answered."""
        self.hand: HandServer | None = None
        """The server of the hand or of the vacuum gripper; None without both."""
        if device.gripper is not None:
            self.hand = HandServer(device, host=host, port=gripper_port)
        elif device.vacuum is not None:
            self.hand = VacuumServer(device, host=host, port=vacuum_port)
        self.library = device.model_library
        """Returns the model library for an architecture and a system."""
        self.counters = dict.fromkeys(_COUNTERS, 0)
        """Events since the start."""
        self.last_fault = ""
        """The last fault in words."""
        self.command: fci.RobotCommand | None = None
        """The newest command of this cycle."""
        self._changed = True
        self._listener: socket.socket | None = None
        self._waiting: list[Connection] = []
        self._connection: Connection | None = None
        self._stopping = False
        self._held: list[fci.Frame] = []
        self._version: int | None = None
        self._packer: fci.StatePacker | None = None
        self._unpacker: fci.CommandUnpacker | None = None
        self._due: list[fci.Response] = []
        self._message_id = 0
        self._unanswered = 0

    # --------------------------------------------------------------------------------------------- lifetime

    def open(self) -> None:
        """Listen on both ports, or on none.

        Raises:
            BridgeError: a port is in use, or the address is not of this machine.
        """
        self._listener = listen(self.host, self.port, f"{self.device.name}: robot")
        self.port = self._listener.getsockname()[1]
        if self.hand is not None:
            try:
                self.hand.open()
            except BridgeError:
                self.close()
                raise
        self._changed = True

    def close(self) -> None:
        """Close every socket; the arm stops."""
        self._drop("")
        for connection in self._waiting:
            connection.close()
        self._waiting.clear()
        if self._listener is not None:
            self._listener.close()
        self._listener = None
        if self.hand is not None:
            self.hand.close()
        self._changed = True

    @property
    def connected(self) -> bool:
        """Whether a client controls the robot."""
        return self._packer is not None

    @property
    def changed(self) -> bool:
        """Whether the set of sockets has changed since `handlers` was last called."""
        return self._changed or (self.hand is not None and self.hand.changed)

    def handlers(self) -> dict[socket.socket, Callable[[], None]]:
        """Return what handles each socket when it has something to read, commands before requests; none blocks."""
        self._changed = False
        found: dict[socket.socket, Callable[[], None]] = {}
        connection = self._connection
        if connection is not None:
            if connection.udp is not None:
                found[connection.udp] = partial(self._receive_commands, connection.udp)
            found[connection.sock] = partial(self._receive_requests, connection)
        for waiting in self._waiting:
            found[waiting.sock] = partial(self._greet, waiting)
        if self._listener is not None:
            found[self._listener] = partial(self._accept, self._listener)
        if self.hand is not None:
            found |= self.hand.handlers()
        return found

    # ---------------------------------------------------------------------------------------------- service

    def _accept(self, listener: socket.socket) -> None:
        for sock in accepted(listener):
            if len(self._waiting) >= MAX_WAITING:
                self._forget(self._waiting[0])
            try:
                self._waiting.append(Connection(sock, "robot"))
            except OSError:
                sock.close()
                continue
            self.counters["connections"] += 1
            self._changed = True

    def _occupied(self) -> bool:
        """Return whether a client controls the robot; let one go that has disappeared."""
        if self._connection is None:
            return False
        if not self._connection.gone:
            return True
        self._drop("the client closed the connection")
        return False

    def _forget(self, connection: Connection, *, reset: bool = False) -> None:
        """Close a connection that is not the client's."""
        self._waiting.remove(connection)
        connection.close(reset=reset)
        self._changed = True

    def _greet(self, connection: Connection) -> None:
        """Read from a connection that has not said Connect; make it the client when it does."""
        if connection not in self._waiting:
            return  # it was closed or admitted after the sockets were found ready
        try:
            frames = connection.receive()
            if frames is None:
                self._forget(connection)
                return
            while frames and not connection.asked:
                request = fci.decode_request(frames[0], version=None)
                assert isinstance(request, fci.Connect)
                if request.version in self.versions:
                    break
                self._refuse_version(connection, request, frames.pop(0).command_id)
            if not frames:
                return
            connection.ask(frames)
            if not self._occupied():
                self._admit(connection)
        except WireError as fault:
            self.counters["malformed"] += 1
            self.last_fault = f"the client sent a malformed request: {fault}"
            _log.info("%s: %s", self.device.name, self.last_fault)
            self._forget(connection, reset=True)

    def _admit(self, connection: Connection) -> None:
        """Make a connection that has said Connect the client."""
        self._waiting.remove(connection)
        self._connection = connection
        if self.cabinet.moving and not self._stopping:  # a page or a program has left it moving
            self.device.request("disconnect")
            self.device.serve()
            self._stopping = self.cabinet.busy
        frames, connection.asked = connection.asked, []
        self._take(connection, frames)

    def _attend(self) -> None:
        """Look after the connections that wait: admit, refuse, or close those that say nothing."""
        for connection in list(self._waiting):
            if connection.asked and not self._occupied():
                self._admit(connection)
            elif connection.refused:
                self.counters["refused"] += 1
                self.last_fault = f"a second client from {connection.peer} was refused: the robot serves one at a time"
                _log.warning("%s: %s", self.device.name, self.last_fault)
                self._forget(connection, reset=True)
            elif connection.overdue:
                self.last_fault = f"a connection from {connection.peer} was closed, because it did not send Connect"
                self._forget(connection)

    def disconnect(self, reason: str) -> None:
        """End the client's connection; the next client is admitted at once.

        Args:
            reason: why, for `health`.
        """
        self._drop(reason, reset=True)

    def _drop(self, reason: str, *, reset: bool = False) -> None:
        """End the connection; the arm decelerates and holds, and the server goes on."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if reason:
            self.last_fault = reason
            _log.info("%s: %s", self.device.name, reason)
        connection.close(reset=reset)
        self._version = self._packer = self._unpacker = None
        self.command = None
        self.device.client = ""
        self.device.request("disconnect")
        self.device.serve()
        self._due.clear()
        self._held.clear()
        self._stopping = self.cabinet.busy
        self._changed = True

    def _receive_requests(self, connection: Connection) -> None:
        if connection is not self._connection:
            return  # it ended after the sockets were found ready
        try:
            frames = connection.receive()
            if frames is None:
                moving = " during a motion; the arm stops" if self.device.mode else ""
                self._drop(f"the client closed the connection{moving}")
                return
        except WireError as fault:
            self._drop_malformed(fault)
        else:
            self._take(connection, frames)

    def _drop_malformed(self, fault: WireError) -> None:
        self.counters["malformed"] += 1
        self._drop(f"the client sent a malformed request: {fault}", reset=True)

    def _take(self, connection: Connection, frames: Sequence[fci.Frame]) -> None:
        """Handle requests of the client, or hold them, Connect first, while the arm stops after the last client.

        An unknown or malformed request, or too many that wait, end the connection.
        """
        try:
            self._take_all(connection, frames)
        except WireError as fault:
            self._drop_malformed(fault)

    def _take_all(self, connection: Connection, frames: Sequence[fci.Frame]) -> None:
        if self._stopping and self.cabinet.busy:
            if len(self._held) + len(frames) > MAX_HELD:
                raise WireError(f"more than {MAX_HELD} requests while the arm stops", field="size")
            self._held += frames
            return
        self._stopping = False
        for frame in frames:
            self._handle(connection, fci.decode_request(frame, version=self._version), frame.command_id)
            if self._connection is not connection:
                return

    def _resume(self) -> None:
        """Handle the requests that have waited for the arm to stand."""
        held, self._held = self._held, []
        self._stopping = False
        if self._connection is None or not held:
            return
        self._take(self._connection, held)

    def _handle(self, connection: Connection, request: fci.Request, command_id: int) -> None:
        if isinstance(request, fci.Connect):
            if self._version is None:
                self._connect(connection, request, command_id)
            else:
                self._refuse_version(connection, request, command_id)
            return
        name = type(request).__name__
        if isinstance(request, fci.GetRobotModel):
            self._answer(name, command_id, "success", self.device.urdf.encode())
        elif isinstance(request, fci.LoadModelLibrary):
            try:
                payload = self.library(request.architecture, request.system)
            except PliantError as fault:
                self.last_fault = str(fault)
                _log.warning("%s: %s", self.device.name, fault)
                self._answer(name, command_id, "error")
            else:
                self._answer(name, command_id, "success", payload)
        elif isinstance(request, fci.Move) and not fci.knows_generator(self._version, request.motion_generator):
            self._answer(name, command_id, "invalid_argument")
        else:

            def answered(answer: fci.Response) -> None:
                self._answer(answer.command, command_id, answer.status, answer.payload)

            self.device.ask(request, answered)
        self._send_answers()

    def _connect(self, connection: Connection, request: fci.Connect, command_id: int) -> None:
        """Answer the client's Connect; it gets states from now on.

        Raises:
            WireError: states cannot be sent to its UDP port.
        """
        version = request.version
        connection.open_udp(self.host, request.udp_port)
        self._version = version
        self._packer, self._unpacker = fci.StatePacker(version), fci.CommandUnpacker(version)
        self._changed = True
        self.device.client = f"the client at {connection.peer}"
        _answer_connect(connection, command_id, "success", version)

    def _refuse_version(self, connection: Connection, request: fci.Connect, command_id: int) -> None:
        """Answer a Connect of a version that is not served, or a second one, with the server's version."""
        self.last_fault = self._why_refused(request.version)
        if self._version is not None:
            self.last_fault = "a client sent Connect twice"
        _log.warning("%s: %s", self.device.name, self.last_fault)
        _answer_connect(connection, command_id, "incompatible_version", self._version or self.versions[-1])

    def _why_refused(self, version: int) -> str:
        served, title = _spoken(self.versions), self.device.description.arm.title
        if version not in fci.VERSIONS or version in self.versions:
            return f"a client of protocol version {version} was refused; served is {served}"
        return (
            f"a client of protocol version {version} (libfranka {fci.LIBRARIES[version]}) was refused, as the firmware "
            f"of the {title} refuses it; it answers {served}; the option fci:system_version=any serves any client"
        )

    def _answer(self, command: str, command_id: int, status: str, payload: bytes = b"") -> None:
        self._due.append(fci.Response(command=command, command_id=command_id, status=status, payload=payload))

    def _send_answers(self) -> None:
        due, self._due = self._due, []
        if self._connection is None or self._version is None:
            return
        try:
            for answer in due:
                self._connection.send(fci.encode_response(answer, version=self._version))
        except WireError as fault:
            self._drop(str(fault), reset=True)

    def _receive_commands(self, udp: socket.socket) -> None:
        """Keep the newest command."""
        if self._unpacker is None:
            return
        while True:
            try:
                data = udp.recv(2048)
            except OSError:
                return
            try:
                command = self._unpacker.unpack(data)
            except WireError as fault:
                self.counters["malformed"] += 1
                self.last_fault = str(fault)
                continue
            if self.command is None or command.message_id >= self.command.message_id:
                self.command = command
                if command.message_id == self._message_id:
                    return  # nothing newer can come before the next state

    # ------------------------------------------------------------------------------------------------ cycle

    def publish(self, values: StateValues) -> None:
        """Send the state of this cycle, then the answers that are due.

        A request's own answer leaves when it is handled, so the start of a motion is announced before its first state;
        the answers that end something leave after the state that shows the end.
        """
        self.counters["cycles"] += 1
        if self._waiting:
            self._attend()
        self._message_id = values.state.message_id
        motion = self.cabinet.motion
        self._unanswered = self._unanswered + 1 if motion is not None and motion.awaits_first_command else 0
        if self.hand is not None:
            self.hand.publish(values)
        connection = self._connection
        if connection is not None and self._packer is not None:
            if connection.out:
                connection.flush()
            connection.send_datagram(self._packer.pack(values.state))
        if self._due:
            self._send_answers()
        if self._stopping and not self.cabinet.busy:
            self._resume()

    @property
    def owes(self) -> float:
        """How long the next cycle waits for the client [s]; 0: the client owes nothing.

        Before the first command of a motion a client reads `STATES_BEFORE_COMMAND` states, one by one; from then on
        robot time waits for its command, so that the first one meets the state that it was computed from.
        """
        motion = self.cabinet.motion
        if motion is None or self._packer is None:
            return 0.0
        if motion.awaits_command:
            return self.command_timeout
        if motion.awaits_first_command and (self._unanswered >= STATES_BEFORE_COMMAND or self.unread):
            return min(self.command_timeout, FIRST_COMMAND_S)
        return 0.0

    @property
    def unread(self) -> bool:
        """Whether the client has not read its last state yet."""
        return self._connection is not None and self._connection.unread

    @property
    def fitting(self) -> fci.RobotCommand | None:
        """The command, if it belongs to this cycle or is the first of its motion."""
        command, motion = self.command, self.cabinet.motion
        if command is None or motion is None:
            return None
        if command.message_id == self._message_id or not motion.awaits_command:
            return command
        return None

    @property
    def timely(self) -> fci.RobotCommand | None:
        """The command, if it is at most one cycle old; a later one is dropped and counted."""
        command, motion = self.command, self.cabinet.motion
        if command is None or motion is None:
            return None
        if motion.awaits_command and self._message_id - command.message_id > 1:
            self.counters["late"] += 1
            return None
        return command

    def end_cycle(self, command: fci.RobotCommand | None) -> None:
        """Put the command of this cycle into the arm's mailbox, or count its absence."""
        self.command = None
        device = self.device
        if command is not None:
            mode = device.mode
            device.inbox.post(Command(command.message_id, mode, self._command_values(mode, command)))
        elif self.awaits_command:
            self.counters["lost"] += 1

    @property
    def begins(self) -> bool:
        """Whether the first command of a motion has come."""
        motion = self.cabinet.motion
        return motion is not None and motion.awaits_first_command and self.command is not None

    @property
    def awaits_command(self) -> bool:
        """Whether the client owes a command for each state."""
        motion = self.cabinet.motion
        return motion is not None and motion.awaits_command

    def health(self) -> Mapping[str, object]:
        """Return counters, the client's version, and the last fault in words."""
        state = self.cabinet.state
        counters = dict(self.counters)
        if self.hand is not None:
            counters["malformed"] += self.hand.malformed
        return {
            **counters,
            "name": self.device.name,
            "connected": self.connected,
            "version": self._version,
            "robot_mode": fci.RobotMode(state.robot_mode).name.lower(),
            "errors": state.error_names(),
            "last_fault": self.last_fault or ("" if self.hand is None else self.hand.last_fault),
        }


def _answer_connect(connection: Connection, command_id: int, status: str, version: int) -> None:
    answer = fci.Response(command="Connect", command_id=command_id, status=status, payload=struct.pack("<H", version))
    connection.send(fci.encode_response(answer, version=version))


def _served(arm: Arm, system_version: str) -> range:
    """Return the protocol versions that an arm answers.

    Raises:
        BridgeError: its type has no firmware of that version.
    """
    low, high = arm.protocols
    if system_version == "any":
        return fci.VERSIONS
    if system_version == "own":
        return range(low, high + 1)
    version = fci.protocol_of_system(system_version)
    if not low <= version <= high:
        first = ".".join(map(str, fci.SYSTEMS[low]))
        text = f"a {arm.title} has no system version {system_version}; its versions are {first[0]}.x, from {first} on"
        raise BridgeError(text, field="system_version")
    return range(version, version + 1)


def _spoken(versions: range) -> str:
    """Return protocol versions in words: numbers and the libraries that speak them."""
    first, last = versions[0], versions[-1]
    if first == last:
        return f"version {first} (libfranka {fci.LIBRARIES[first]})"
    low, high = fci.LIBRARIES[first].split(" to ")[0], fci.LIBRARIES[last].split(" to ")[-1]
    return f"version {first} to {last} (libfranka {low} to {high})"


def stranger_note(arm: Arm) -> str:
    """Return one line on the clients that a real arm of a type refuses."""
    low, high = arm.protocols
    refused = [v for v in fci.VERSIONS if not low <= v <= high]
    return (
        f"a real {arm.title} refuses clients of {_spoken(range(refused[0], refused[-1] + 1))}, and this one serves them"
    )
