"""The server of the Franka Control Interface: TCP 1337 and 1338, UDP states and commands.

One `ArmServer` is the network side of one arm's cabinet; `FciServer` runs any number of them together with the
physics, in one thread and one of three modes:

* ``lockstep`` (default): publish state k, wait for command k, advance. Nothing is ever lost, robot time runs as fast
  as the client does, and two runs give the same states. Without a motion, states stream at 1 kHz of the wall clock.
* ``paced``: the same, never faster than 1 kHz.
* ``wall``: 1 kHz of the wall clock whatever the client does; late commands are dropped and counted as the robot does.

Everything runs on the loopback interface unless asked otherwise. The cabinet is handed in: this module knows bytes,
sockets and time, not robots.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.errors import BridgeError, PliantError, WireError, nearest
from pliant.wire import fci

__all__ = ["ArmServer", "CabinetLike", "FciServer", "GripperLike", "PlantArm"]

Array = NDArray[np.float64]
Mode = Literal["lockstep", "paced", "wall"]
PERIOD = 1e-3
"""The robot's cycle [s]."""
GRIPPER_DIVIDER = 10
"""The gripper publishes at a tenth of the robot's rate, 100 Hz."""  # assumed; the real hand is slower

OUT_LIMIT = 1 << 22
"""Most bytes that wait for a client to read them."""

_log = logging.getLogger("pliant.fci")
_RESET = struct.pack("ii", 1, 0)


class CabinetLike(Protocol):
    """What the server needs of a control cabinet."""

    @property
    def moving(self) -> bool: ...
    @property
    def awaits_command(self) -> bool: ...
    @property
    def first_command_due(self) -> bool: ...
    @property
    def state(self) -> fci.RobotState: ...

    def observe(self, q: Any, dq: Any, tau_J: Any) -> fci.RobotState: ...
    def control(self, command: fci.RobotCommand | None = None) -> Array: ...
    def request(self, request: fci.Request, command_id: int = 0) -> None: ...
    def take_answers(self) -> list[Any]: ...
    def disconnected(self) -> None: ...
    def settle(self, q: Any, dq: Any) -> Array | None: ...


class GripperLike(Protocol):
    """What the server needs of a hand's controller."""

    answers: list[Any]

    def request(self, request: fci.GripperRequest, command_id: int = 0) -> None: ...
    def step(self, width: float, rate: float) -> float: ...
    def state(self, message_id: int) -> fci.GripperState: ...


class PlantArm(Protocol):
    """One arm of the physics: what its sensors say, what its motors take."""

    def read(self) -> tuple[Array, Array, Array]:
        """Return q [rad], dq [rad/s] and the link-side torques of the last step [N m], shape (7,) each."""
        ...

    def write(self, torque: Array) -> None:
        """Apply joint torques during the next step, shape (7,) [N m]."""
        ...

    def read_hand(self) -> tuple[float, float]:
        """Return the width between the fingers [m] and its rate [m/s]."""
        ...

    def write_hand(self, force: float) -> None:
        """Apply a force to each finger, positive opening [N]."""
        ...

    def settle(self, q: Array) -> None:
        """Rest exactly at q: what static friction does to an arm that has come to a stand."""
        ...


def _listen(host: str, port: int, what: str) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(8)
    except OSError as fault:
        listener.close()
        if fault.errno == errno.EADDRINUSE:
            text = f"{what}: TCP port {port} of {host} is in use by another program; stop it or choose another address"
        elif fault.errno in (errno.EADDRNOTAVAIL, errno.EACCES):
            text = f"{what}: cannot listen on {host}:{port}: {fault.strerror}"
        else:
            text = f"{what}: cannot listen on {host}:{port}: {fault}"
        raise BridgeError(text, field="port") from None
    except (OverflowError, TypeError) as fault:
        listener.close()
        raise BridgeError(f"{what}: {host}:{port} is no address: {fault}", field="port") from None
    listener.setblocking(False)
    return listener


class _Link:
    """A TCP connection that never blocks: bounded input by frames, output queued."""

    def __init__(self, sock: socket.socket, port: Literal["robot", "gripper"]) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self.peer: str = sock.getpeername()[0]
        self.framer = fci.Framer(port)
        self.out = bytearray()
        self.udp: socket.socket | None = None

    def receive(self) -> list[fci.Frame] | None:
        """Return the frames that came; None when the peer is gone."""
        try:
            data = self.sock.recv(65536)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError:
            return None
        return self.framer.feed(data) if data else None

    def send(self, data: bytes) -> None:
        if len(self.out) + len(data) > OUT_LIMIT:
            raise WireError(f"the client does not read its answers; {len(self.out)} bytes wait", field="size")
        self.out += data
        self.flush()

    def flush(self) -> None:
        while self.out:
            try:
                sent = self.sock.send(self.out)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self.out.clear()
                return
            del self.out[:sent]

    def open_udp(self, host: str, port: int) -> None:
        """Open the socket that states leave from and commands come to.

        Raises:
            WireError: the peer cannot be reached at that port.
        """
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            udp.bind((host, 0))
            if port == 0:
                raise OSError("port 0")
            udp.connect((self.peer, port))
        except OSError as fault:
            udp.close()
            raise WireError(f"states cannot be sent to {self.peer}:{port}: {fault}", field="udp_port") from None
        udp.setblocking(False)
        self.udp = udp

    def close(self, *, reset: bool = False) -> None:
        if reset:
            with contextlib.suppress(OSError):
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.sock.close()
        if self.udp is not None:
            self.udp.close()

    @property
    def gone(self) -> bool:
        """Whether the peer has closed, even if what it sent before is still unread."""
        poll = select.poll()
        poll.register(self.sock, select.POLLRDHUP)
        return bool(poll.poll(0))


class ArmServer:
    """The network side of one arm.

    Args:
        cabinet: the arm's controller.
        plant: the arm's physics.
        gripper: the hand's controller; None: nothing listens on the gripper's port.
        host: address to listen on; 127.0.0.1 unless asked otherwise.
        port: TCP port of the robot; 0 takes a free one. Every stock client uses 1337.
        gripper_port: TCP port of the hand; every stock client uses 1338.
        urdf: text that GetRobotModel serves.
        library: returns the model library for (architecture, system), or raises a `PliantError` whose message is
            logged while the client gets the documented error.
        name: how messages call the arm.
    """

    def __init__(
        self,
        cabinet: CabinetLike,
        plant: PlantArm,
        *,
        gripper: GripperLike | None = None,
        host: str = "127.0.0.1",
        port: int = 1337,
        gripper_port: int = 1338,
        urdf: str = "",
        library: Callable[[int, int], bytes] | None = None,
        name: str = "franka",
    ) -> None:
        self.cabinet = cabinet
        self.plant = plant
        self.gripper = gripper
        self.host, self.port, self.gripper_port = host, port, gripper_port
        self.name = name
        self._urdf = urdf
        self.library = library
        self._listener: socket.socket | None = None
        self._gripper_listener: socket.socket | None = None
        self._link: _Link | None = None
        self._version: int | None = None
        self._packer: fci.StatePacker | None = None
        self._unpacker: fci.CommandUnpacker | None = None
        self._hands: list[_Link] = []
        self._hand_requests: dict[int, tuple[_Link, int]] = {}
        self._hand_serial = 0
        self.command: fci.RobotCommand | None = None
        self.counters = dict.fromkeys(("cycles", "connections", "refused", "lost", "late", "malformed", "timeouts"), 0)
        self.last_fault = ""
        self.changed = True
        self.unanswered = 0
        """States published since a motion began without a command."""

    # --------------------------------------------------------------------------------------------- lifetime

    def open(self) -> None:
        """Listen.

        Raises:
            BridgeError: a port is in use, or the address is not of this machine.
        """
        self._listener = _listen(self.host, self.port, f"{self.name}: robot")
        self.port = self._listener.getsockname()[1]
        if self.gripper is not None:
            try:
                self._gripper_listener = _listen(self.host, self.gripper_port, f"{self.name}: gripper")
            except BridgeError:
                self.close()
                raise
            self.gripper_port = self._gripper_listener.getsockname()[1]
        self.changed = True

    def close(self) -> None:
        """Close every socket; the arm stops."""
        self._drop("")
        for link in self._hands:
            link.close()
        self._hands.clear()
        for listener in (self._listener, self._gripper_listener):
            if listener is not None:
                listener.close()
        self._listener = self._gripper_listener = None
        self.changed = True

    @property
    def connected(self) -> bool:
        """Whether a client holds the robot."""
        return self._packer is not None

    def sockets(self) -> list[socket.socket]:
        """Return every socket that may have something to read."""
        found = [s for s in (self._listener, self._gripper_listener) if s is not None]
        if self._link is not None:
            found.append(self._link.sock)
            if self._link.udp is not None:
                found.append(self._link.udp)
        found += [link.sock for link in self._hands]
        return found

    # ---------------------------------------------------------------------------------------------- service

    def serve(self, ready: set[int]) -> None:
        """Handle the sockets whose descriptors are ready; never blocks."""
        link = self._link
        if link is not None:
            if link.udp is not None and link.udp.fileno() in ready:
                self._datagrams(link.udp)
            if link.sock.fileno() in ready:
                self._robot(link)
            elif link.out:
                link.flush()
        if self._listener is not None and self._listener.fileno() in ready:
            self._accept()
        if self._gripper_listener is not None and self._gripper_listener.fileno() in ready:
            self._accept_hand()
        for hand in list(self._hands):
            if hand.sock.fileno() in ready:
                self._hand(hand)

    def _accept(self) -> None:
        assert self._listener is not None
        while True:
            try:
                sock, peer = self._listener.accept()
            except OSError:
                return
            if self._link is not None and not self._link.gone:
                # the robot serves one client; a reset tells the second one at once
                self.counters["refused"] += 1
                self.last_fault = f"a second client from {peer[0]} was refused: the robot serves one at a time"
                _log.warning("%s: %s", self.name, self.last_fault)
                with contextlib.suppress(OSError):
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                sock.close()
                continue
            if self._link is not None:
                self._drop("the client closed the connection")
            try:
                self._link = _Link(sock, "robot")
            except OSError:
                sock.close()
                continue
            self.counters["connections"] += 1
            self.changed = True

    def _drop(self, reason: str, *, reset: bool = False) -> None:
        """End the connection; the arm stops safely and the server lives on."""
        link, self._link = self._link, None
        if link is None:
            return
        if reason:
            self.last_fault = reason
            _log.info("%s: %s", self.name, reason)
        link.close(reset=reset)
        self._version = self._packer = self._unpacker = None
        self.command = None
        self.cabinet.disconnected()
        self.cabinet.take_answers()
        self.changed = True

    def _robot(self, link: _Link) -> None:
        try:
            frames = link.receive()
            if frames is None:
                moving = " during a motion; the arm stops" if self.cabinet.moving else ""
                self._drop(f"the client closed the connection{moving}")
                return
            for frame in frames:
                request = fci.decode_request(frame, version=self._version)
                self._request(link, request, frame.command_id)
                if self._link is not link:
                    return
        except WireError as fault:
            self.counters["malformed"] += 1
            self._drop(f"the client sent what is no request: {fault}", reset=True)

    def _request(self, link: _Link, request: fci.Request, command_id: int) -> None:
        if isinstance(request, fci.Connect):
            self._connect(link, request, command_id)
            return
        assert self._version is not None
        if isinstance(request, fci.GetRobotModel):
            self._answer("GetRobotModel", command_id, "success", self._urdf.encode())
        elif isinstance(request, fci.LoadModelLibrary):
            try:
                if self.library is None:
                    raise BridgeError("no model library is offered", field="library")
                payload = self.library(request.architecture, request.system)
            except PliantError as fault:
                self.last_fault = str(fault)
                _log.warning("%s: %s", self.name, fault)
                self._answer("LoadModelLibrary", command_id, "error")
            else:
                self._answer("LoadModelLibrary", command_id, "success", payload)
        else:
            self.cabinet.request(request, command_id)
            self.send_answers()

    def _connect(self, link: _Link, request: fci.Connect, command_id: int) -> None:
        version = request.version
        known = version in fci.VERSIONS and self._version is None
        spoken = version if version in fci.VERSIONS else fci.VERSIONS[-1]
        answer = fci.Response(
            command="Connect",
            command_id=command_id,
            status="success" if known else "incompatible_version",
            payload=struct.pack("<H", spoken),
        )
        if known:
            link.open_udp(self.host, request.udp_port)
            self._version = version
            self._packer, self._unpacker = fci.StatePacker(version), fci.CommandUnpacker(version)
            self.changed = True
        else:
            self.last_fault = f"a client of protocol version {version} was refused; spoken are 5 to 10"
            _log.warning("%s: %s", self.name, self.last_fault)
        link.send(fci.encode_response(answer, version=spoken))

    def _answer(self, command: str, command_id: int, status: str, payload: bytes = b"") -> None:
        if self._link is None or self._version is None:
            return
        answer = fci.Response(command=command, command_id=command_id, status=status, payload=payload)
        self._link.send(fci.encode_response(answer, version=self._version))

    def send_answers(self) -> None:
        """Send what the cabinet has to say."""
        try:
            for a in self.cabinet.take_answers():
                self._answer(a.command, a.command_id, a.status, a.payload)
        except WireError as fault:
            self._drop(str(fault), reset=True)

    def publish(self) -> None:
        """Send the state of this cycle, then the answers that are due.

        A request's own answers leave at once, so a motion's start is announced before its first state; the answers
        that end something leave after the state that shows the end.
        """
        self.counters["cycles"] += 1
        link = self._link
        if link is not None and link.out:
            link.flush()
        if link is not None and link.udp is not None and self._packer is not None:
            with contextlib.suppress(OSError):
                link.udp.send(self._packer.pack(self.cabinet.state))
        self.send_answers()

    def _datagrams(self, udp: socket.socket) -> None:
        """Keep the newest command."""
        assert self._unpacker is not None
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

    # ---------------------------------------------------------------------------------------------- gripper

    def _accept_hand(self) -> None:
        assert self._gripper_listener is not None
        while True:
            try:
                sock, _ = self._gripper_listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError):
                self._hands.append(_Link(sock, "gripper"))
                self.changed = True

    def _drop_hand(self, link: _Link) -> None:
        link.close()
        self._hands.remove(link)
        self._hand_requests = {n: r for n, r in self._hand_requests.items() if r[0] is not link}
        self.changed = True

    def _hand(self, link: _Link) -> None:
        assert self.gripper is not None
        try:
            frames = link.receive()
            if frames is None:
                self._drop_hand(link)
                return
            for frame in frames:
                request = fci.decode_gripper_request(frame)
                if isinstance(request, fci.GripperConnect):
                    same = request.version == fci.GRIPPER_VERSION
                    if same and link.udp is None:
                        link.open_udp(self.host, request.udp_port)
                    status = "success" if same else "incompatible_version"
                    version = struct.pack("<H", fci.GRIPPER_VERSION)
                    link.send(fci.encode_gripper_response(0, frame.command_id, status, payload=version))
                    continue
                self._hand_serial += 1
                self._hand_requests[self._hand_serial] = (link, frame.command_id)
                self.gripper.request(request, self._hand_serial)
            self._hand_answers()
        except WireError as fault:
            self.counters["malformed"] += 1
            self.last_fault = f"the gripper's client sent what is no request: {fault}"
            self._drop_hand(link)

    def _hand_answers(self) -> None:
        assert self.gripper is not None
        if not self.gripper.answers:
            return
        for a in self.gripper.answers:
            link, command_id = self._hand_requests.pop(a.command_id, (None, 0))
            if link is not None:
                link.send(fci.encode_gripper_response(a.command, command_id, a.status))
        self.gripper.answers.clear()

    # ------------------------------------------------------------------------------------------------ cycle

    def begin(self) -> None:
        """Measure and publish."""
        q, dq, tau_J = self.plant.read()
        cabinet = self.cabinet
        if cabinet.first_command_due or not cabinet.moving:
            rest = cabinet.settle(q, dq)
            if rest is not None:
                self.plant.settle(rest)
        self.present()
        cabinet.observe(q, dq, tau_J)
        self.publish()

    def present(self) -> None:
        """Count a state that is about to be published, before the cabinet observes it."""
        self.unanswered = self.unanswered + 1 if self.cabinet.first_command_due else 0

    def obey(self, command: fci.RobotCommand | None) -> None:
        """Count the command of this cycle, or its absence, before the cabinet controls."""
        if command is None and self.cabinet.awaits_command:
            self.counters["lost"] += 1

    def end(self, command: fci.RobotCommand | None) -> None:
        """Control, with the command of this cycle or without one."""
        self.obey(command)
        self.plant.write(self.cabinet.control(command))
        if self.gripper is not None:
            width, rate = self.plant.read_hand()
            self.plant.write_hand(self.gripper.step(width, rate))
            self.serve_hand()

    def serve_hand(self) -> None:
        """Send the hand's answers, and its state at a tenth of the robot's rate."""
        if self.gripper is None:
            return
        self._hand_answers()
        message_id = self.cabinet.state.message_id
        if self._hands and message_id % GRIPPER_DIVIDER == 0:
            data = fci.encode_gripper_state(self.gripper.state(message_id))
            for link in self._hands:
                if link.udp is not None:
                    with contextlib.suppress(OSError):
                        link.udp.send(data)

    def health(self) -> dict[str, Any]:
        """Return counters, the client's version, and the last fault in words."""
        return {
            **self.counters,
            "name": self.name,
            "connected": self.connected,
            "version": self._version,
            "robot_mode": fci.RobotMode(self.cabinet.state.robot_mode).name.lower(),
            "errors": self.cabinet.state.error_names(),
            "last_fault": self.last_fault,
        }


class FciServer:
    """Arms, physics and time in one loop.

    Args:
        arms: the arms that share the physics.
        step: advances the physics by one millisecond.
        mode: ``lockstep``, ``paced`` or ``wall``; see the module.
        command_timeout: how long a lock-step cycle waits for its command [s]; what does not come by then counts as
            lost. Below the 1 s after which a client gives up.
        priority: SCHED_FIFO priority of the loop in ``wall`` mode, 1 to 99; None: leave the scheduler alone.

    Raises:
        BridgeError: an unknown mode or a time-out out of range.
    """

    MODES = ("lockstep", "paced", "wall")

    def __init__(
        self,
        arms: Sequence[ArmServer],
        step: Callable[[], None],
        *,
        mode: Mode = "lockstep",
        command_timeout: float = 0.2,
        priority: int | None = None,
    ) -> None:
        if mode not in self.MODES:
            raise BridgeError(f"no mode {mode!r}: {nearest(str(mode), self.MODES)}", field="mode")
        if not 0.0 < command_timeout < 1.0:
            raise BridgeError(
                f"command_timeout {command_timeout} s; valid is between 0 and 1, when clients give up",
                field="command_timeout",
            )
        if not arms:
            raise BridgeError("a server without arms", field="arms")
        self.arms = list(arms)
        self.mode: Mode = mode
        self.command_timeout = command_timeout
        self._step = step
        self._priority = priority
        self._poll = select.poll()
        self._registered: list[int] = []
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._fault: BaseException | None = None
        self._next = 0.0
        self.work_s = 0.0
        """Time that the last cycle spent on anything but waiting [s]."""
        self.work_log: list[float] | None = None
        """Set to a list to record `work_s` of every cycle."""
        self.requests: list[Callable[[], None]] = []

    # --------------------------------------------------------------------------------------------- lifetime

    def open(self) -> None:
        """Listen on every port, or on none.

        Raises:
            BridgeError: a port is in use.
        """
        opened: list[ArmServer] = []
        try:
            for arm in self.arms:
                arm.open()
                opened.append(arm)
        except BridgeError:
            for arm in opened:
                arm.close()
            raise
        self._next = time.perf_counter() + PERIOD

    def close(self) -> None:
        """Close every socket."""
        for arm in self.arms:
            arm.close()

    def start(self) -> None:
        """Open the ports and run in a thread of its own.

        Raises:
            BridgeError: a port is in use, or the server runs already.
        """
        if self._thread is not None:
            raise BridgeError("the server runs already")
        self.open()
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="pliant-fci", daemon=True)
        self._thread.start()

    def stop(self, timeout: float = 5.0) -> None:
        """Stop the thread, close the sockets, and raise what ended the thread, if anything did."""
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(timeout)
        self.close()
        fault, self._fault = self._fault, None
        if fault is not None:
            raise fault

    def __enter__(self) -> FciServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        try:
            self.run(until=self._stop.is_set)
        except BaseException as fault:
            _log.exception("the loop ended")
            self._fault = fault
            self.close()

    def call(self, action: Callable[[], Any], timeout: float = 5.0) -> Any:
        """Run an action in the loop's thread between two cycles and return its result: the way to touch a cabinet
        (user stop, guiding button) from outside."""
        done = threading.Event()
        result: list[Any] = []

        def job() -> None:
            try:
                result.append((True, action()))
            except Exception as fault:
                result.append((False, fault))
            done.set()

        self.requests.append(job)
        if not done.wait(timeout):
            raise BridgeError("the server's loop does not answer")
        good, value = result[0]
        if not good:
            raise value
        return value

    def run(self, *, until: Callable[[], bool] | None = None, cycles: int | None = None) -> None:
        """Run the loop in this thread.

        Args:
            until: asked after every cycle; True ends the loop.
            cycles: number of cycles; None: without end.
        """
        if self._priority is not None:
            try:
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(self._priority))  # type: ignore[attr-defined]
            except (OSError, AttributeError) as fault:
                raise BridgeError(
                    f"priority {self._priority} refused: {fault}; run as root, raise RLIMIT_RTPRIO, or leave it out",
                    field="priority",
                ) from None
        done = 0
        while (cycles is None or done < cycles) and not (until is not None and until()):
            self.cycle()
            done += 1

    # ------------------------------------------------------------------------------------------------ cycle

    def _register(self) -> None:
        for fd in self._registered:
            with contextlib.suppress(KeyError, OSError):
                self._poll.unregister(fd)
        self._registered = []
        for arm in self.arms:
            arm.changed = False
            for sock in arm.sockets():
                self._poll.register(sock, select.POLLIN)
                self._registered.append(sock.fileno())

    def _serve(self, timeout: float) -> bool:
        """Handle sockets; wait at most timeout [s] for something to happen. Return whether something did."""
        if any(arm.changed for arm in self.arms):
            self._register()
        if timeout <= 0.0:
            ready = {fd for fd, _ in self._poll.poll(0)}
        elif timeout >= 0.02:
            ready = {fd for fd, _ in self._poll.poll(timeout * 1e3)}
        else:
            # poll counts in milliseconds; select waits for less
            ready = set(select.select(self._registered, (), (), timeout)[0])
        if ready:
            for arm in self.arms:
                arm.serve(ready)
        return bool(ready)

    def cycle(self) -> None:
        """Run one millisecond of robot time: `begin`, `exchange`, `end`, and a step of the physics."""
        t0 = time.perf_counter()
        self.begin()
        work = time.perf_counter() - t0
        commands = self.exchange()
        t0 = time.perf_counter()
        self.end(commands)
        self._step()
        self.work_s = work + time.perf_counter() - t0
        if self.work_log is not None:
            self.work_log.append(self.work_s)

    def begin(self) -> None:
        """Run what `call` queued, measure, and publish a state of every arm."""
        self.prepare()
        for arm in self.arms:
            arm.begin()

    def prepare(self) -> None:
        """Run what `call` queued, and forget the commands of the last cycle."""
        while self.requests:
            self.requests.pop(0)()
        for arm in self.arms:
            arm.command = None

    def exchange(self) -> list[fci.RobotCommand | None]:
        """Wait as the mode asks, handle what comes meanwhile, and return each arm's command for this cycle."""
        return self._wall() if self.mode == "wall" else self._lockstep()

    def end(self, commands: Sequence[fci.RobotCommand | None]) -> None:
        """Let every cabinet turn its command into torques."""
        for arm, command in zip(self.arms, commands, strict=True):
            arm.end(command)

    def _fit(self, arm: ArmServer) -> fci.RobotCommand | None:
        """Return the arm's command if it belongs to this cycle, or is the first of its motion."""
        command = arm.command
        if command is None or not arm.cabinet.moving:
            return None
        if arm.cabinet.first_command_due or not arm.cabinet.awaits_command:
            return command
        if command.message_id == arm.cabinet.state.message_id:
            return command
        return None

    @staticmethod
    def _owes(arm: ArmServer) -> bool:
        """Return whether the arm's client has to send a command before the next cycle.

        Before the first command of a motion a client reads two states (it waits for the new mode, then for a state to
        answer); from then on robot time waits for it, so that its first command meets the state it was made from.
        """
        cabinet = arm.cabinet
        return arm.connected and (cabinet.awaits_command or (cabinet.first_command_due and arm.unanswered >= 2))

    def _lockstep(self) -> list[fci.RobotCommand | None]:
        """Wait for what the clients owe; where they owe nothing, wait for the wall clock's next millisecond."""
        self._serve(0.0)
        owing = [arm for arm in self.arms if self._owes(arm)]
        if owing:
            deadline = time.perf_counter() + self.command_timeout
            while True:
                left = [arm for arm in owing if self._owes(arm) and self._fit(arm) is None]
                if not left:
                    break
                wait = deadline - time.perf_counter()
                if wait <= 0.0:
                    for arm in left:
                        if arm.cabinet.awaits_command:
                            arm.counters["timeouts"] += 1
                            arm.last_fault = f"no command within {self.command_timeout} s"
                    break
                self._serve(wait)
            if self.mode == "paced":
                self._until_next_tick(wake=False)
            else:
                self._next = time.perf_counter() + PERIOD
        else:
            self._until_next_tick(wake=True)
        return [self._fit(arm) for arm in self.arms]

    def _until_next_tick(self, *, wake: bool) -> None:
        now = time.perf_counter()
        if self._next < now - 0.1:
            # far behind: do not run to catch up
            self._next = now
        while (wait := self._next - time.perf_counter()) > 0.0:
            self._serve(wait)
            if wake and any(arm.cabinet.first_command_due and arm.command is not None for arm in self.arms):
                break
        self._next += PERIOD

    def _wall(self) -> list[fci.RobotCommand | None]:
        """Wait for the next millisecond; take commands that are at most one cycle old."""
        self._until_next_tick(wake=False)
        self._serve(0.0)
        commands: list[fci.RobotCommand | None] = []
        for arm in self.arms:
            command = arm.command
            if command is not None and arm.cabinet.awaits_command:
                age = arm.cabinet.state.message_id - command.message_id
                if age > 1:
                    arm.counters["late"] += 1
                    command = None
            commands.append(command if arm.cabinet.moving else None)
        return commands

    def health(self) -> dict[str, Any]:
        """Return the mode and each arm's counters."""
        return {"mode": self.mode, "arms": [arm.health() for arm in self.arms]}
