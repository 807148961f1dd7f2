"""The hand of an arm behind the interface: requests whose answers are asked for, so that the arm's cycle goes on.

libfranka's class of the hand waits until the fingers rest. Here a request is sent before the arm's next command and an
answer is taken after the arm's next state. A server that waits for the arm's commands therefore sees it in a certain
cycle, however busy the machine is.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from pliant.base.errors import BridgeError, DeviceError, WireError
from pliant.franka.bridge.probe import ClientConnection
from pliant.franka.wire import fci

_FIELDS: dict[str, tuple[type[fci.GripperRequest], tuple[str, ...]]] = {
    "homing": (fci.GripperHoming, ()),
    "move": (fci.GripperMove, ("width", "speed")),
    "grasp": (fci.GripperGrasp, ("width", "speed", "force", "epsilon_inner", "epsilon_outer")),
    "stop": (fci.GripperStop, ()),
}


def hand_request(action: str, values: tuple[float, ...]) -> fci.GripperRequest:
    """Return a request to the hand: "homing", "move", "grasp" or "stop" and its numbers, as `Backend.begin_hand`."""
    kind, fields = _FIELDS[action]
    return kind(**dict(zip(fields, values, strict=True)))


def hand_result(request: fci.GripperRequest, status: str) -> bool:
    """Return whether a request succeeded.

    Raises:
        DeviceError: the hand refused it, or ended it for another one.
    """
    if status not in ("success", "unsuccessful"):
        raise DeviceError(f"the hand refused {request}: {status}", field="hand")
    return status == "success"


class HandClient:
    """A client of the hand that never waits for the fingers.

    Args:
        address: of the arm.

    Raises:
        BridgeError: no hand answers at the address, or one of another protocol version.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        try:
            self._connection = ClientConnection(address, fci.GRIPPER_PORT, fci.GRIPPER_VERSION, "gripper")
        except (OSError, WireError, struct.error) as fault:
            raise BridgeError(f"no hand answers at {address}:{fci.GRIPPER_PORT}: {fault}", field="address") from None
        if not self._connection.accepted:
            theirs = self._connection.theirs
            self.close()
            text = f"the hand at {address} speaks version {theirs} of its protocol; must be {fci.GRIPPER_VERSION}"
            raise BridgeError(text, field="address")
        self._connection.tcp.setblocking(False)
        self._count = 0
        self._answers: dict[int, str] = {}
        self._state: fci.GripperState | None = None

    def begin(self, action: str, *values: float) -> Callable[[], bool | None]:
        """Send a request; see `Backend.begin_hand`."""
        request = hand_request(action, values)
        self._count += 1
        number = self._count
        try:
            self._connection.tcp.sendall(fci.encode_gripper_request(request, command_id=number))
        except OSError as fault:
            raise self._lost(fault) from None

        def result() -> bool | None:
            self._receive()
            status = self._answers.get(number)
            return None if status is None else hand_result(request, status)

        return result

    def _receive(self) -> None:
        try:
            for frame in self._connection.receive():
                self._answers[frame.command_id] = fci.decode_gripper_response(frame)[0]
        except BlockingIOError:
            pass
        except (OSError, WireError) as fault:
            raise self._lost(fault) from None
        # Who asks for a result asks at once: old answers are of requests that nobody waits for.
        for number in [n for n in self._answers if n <= self._count - 64]:
            del self._answers[number]

    def _lost(self, fault: Exception) -> BridgeError:
        return BridgeError(f"the hand at {self._address}: {fault}", field="address")

    def width(self, *, wait: bool) -> float:
        """Return the opening of the newest state [m].

        Args:
            wait: for a state that is newer than this call.

        Raises:
            BridgeError: no state has come, or none comes in a second.
        """
        udp = self._connection.udp
        udp.setblocking(False)
        try:
            while True:
                self._state = fci.decode_gripper_state(udp.recv(64))
        except BlockingIOError:
            pass
        except (OSError, WireError) as fault:
            raise self._lost(fault) from None
        if wait:
            udp.settimeout(1.0)
            try:
                self._state = fci.decode_gripper_state(udp.recv(64))
            except (OSError, WireError) as fault:
                raise self._lost(fault) from None
        if self._state is None:
            raise BridgeError(
                f"no state of the hand at {self._address} has come yet: ask for its width before the motion, or later",
                field="address",
            )
        return self._state.width

    def close(self) -> None:
        """Disconnect; may be called twice."""
        self._connection.close()
