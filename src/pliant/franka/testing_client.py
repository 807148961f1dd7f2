"""A client of the Franka Control Interface in a few lines, which may send what no stock client sends.

libfranka checks or fills in what its user gives; here each request and each command is the caller's own.
"""

from __future__ import annotations

import socket
import struct
from typing import Any

import numpy as np

from pliant.base.errors import BridgeError
from pliant.franka.wire import fci

PATIENCE_S = 60.0
"""Longest wait for an answer or a state [s]: a machine that is busy may take seconds."""
_PLACES = {"q": slice(0, 7), "dq": slice(7, 14), "pose": slice(14, 30), "twist": slice(30, 36), "elbow": slice(36, 38)}


class FciClient:
    """A connection to one arm.

    Args:
        host: address of the arm.
        port: TCP port of the arm.
        version: protocol version.

    Raises:
        BridgeError: the arm refuses the version.
    """

    def __init__(self, host: str, port: int, *, version: int = 10) -> None:
        self.version = version
        self._tcp = socket.create_connection((host, port), timeout=PATIENCE_S)
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind((self._tcp.getsockname()[0], 0))
        self._udp.settimeout(PATIENCE_S)
        self._framer, self._frames = fci.Framer(limit=1 << 22), list[Any]()
        self._count, self._peer = 1, ("", 0)
        # Connect: number, identifier, size, version, UDP port
        self._tcp.sendall(struct.pack("<IIIHH", 0, 0, 16, version, self._udp.getsockname()[1]))
        if (status := self.answer(0)) != "success":
            self.close()
            raise BridgeError(f"the arm at {host}:{port} refuses protocol version {version}: {status}", field="version")

    def __enter__(self) -> FciClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close both sockets."""
        self._tcp.close()
        self._udp.close()

    def send(self, request: fci.Request) -> int:
        """Send a request; return its number."""
        number, self._count = self._count, self._count + 1
        self._tcp.sendall(fci.encode_request(request, version=self.version, command_id=number))
        return number

    def answer(self, number: int) -> str:
        """Wait for an answer to a request; return its status.

        Raises:
            BridgeError: the arm has closed the connection.
        """
        while True:
            for frame in self._frames:
                if frame.command_id == number:
                    self._frames.remove(frame)
                    return fci.decode_response(frame, version=self.version).status
            data = self._tcp.recv(65536)
            if not data:
                raise BridgeError("the arm has closed the connection", field="address")
            self._frames += self._framer.feed(data)

    def ask(self, request: fci.Request) -> str:
        """Send a request; return the status of its first answer."""
        return self.answer(self.send(request))

    def state(self) -> fci.RobotState:
        """Wait for the next state."""
        data, self._peer = self._udp.recvfrom(4096)
        return fci.decode_state(data, version=self.version)

    def begin(self, move: fci.Move) -> tuple[int, fci.RobotState]:
        """Start a motion; return its number and the state that its first command answers, or one with errors.

        Raises:
            BridgeError: the arm refuses it.
        """
        number = self.send(move)
        if (status := self.answer(number)) != "started":
            raise BridgeError(f"the motion was refused: {status}", field="motion")
        while (state := self.state()).robot_mode != fci.RobotMode.MOVE:
            if state.error_names():
                return number, state
        return number, self.state()  # the arm waits for the command after two states

    def command(self, state: fci.RobotState, *, tau: object = None, finish: bool = False, **values: object) -> None:
        """Answer a state with a command.

        Args:
            state: the state.
            tau: torques, shape (7,) [N m]; None: zero.
            finish: whether it is the motion's last command.
            values: of the motion generator: q, dq, pose (16 numbers, column-major), twist, elbow.
        """
        motion = np.zeros(38)
        for name, numbers in values.items():
            motion[_PLACES[name]] = numbers
        command = fci.RobotCommand(
            message_id=state.message_id,
            motion=motion,
            tau_J_d=np.zeros(7) if tau is None else np.asarray(tau, dtype=float),
            valid_elbow="elbow" in values,
            motion_generation_finished=finish,
            torque_command_finished=finish,
        )
        self._udp.sendto(fci.encode_command(command, version=self.version), self._peer)
