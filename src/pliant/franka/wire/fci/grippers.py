"""The hand and the vacuum gripper: requests, answers and states on their TCP ports."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pliant.base.errors import WireError, nearest
from pliant.franka.wire.fci.frames import FieldCodec, Frame, encode_frame
from pliant.franka.wire.fci.requests import Connect

__all__ = [
    "GRIPPER_PORT",
    "GRIPPER_VERSION",
    "VACUUM_VERSION",
    "GripperGrasp",
    "GripperHoming",
    "GripperMove",
    "GripperRequest",
    "GripperState",
    "GripperStop",
    "Vacuum",
    "VacuumDropOff",
    "VacuumRequest",
    "VacuumState",
    "VacuumStop",
    "decode_gripper_request",
    "decode_gripper_response",
    "decode_gripper_state",
    "decode_vacuum_request",
    "decode_vacuum_response",
    "decode_vacuum_state",
    "encode_gripper_request",
    "encode_gripper_response",
    "encode_gripper_state",
    "encode_vacuum_request",
    "encode_vacuum_response",
    "encode_vacuum_state",
]

GRIPPER_PORT = 1338
"""TCP port of the hand that every stock client uses."""
GRIPPER_VERSION = 3
"""The gripper protocol version of every client that speaks `VERSIONS`."""
VACUUM_VERSION = 1
"""The same of the vacuum gripper."""

_STATUSES = ("success", "fail", "unsuccessful", "aborted")
_CONNECT_STATUSES = ("success", "incompatible_version")
R = TypeVar("R")

# ------------------------------------------------------------------------------------------------- gripper


@dataclass(frozen=True, slots=True, kw_only=True)
class GripperHoming:
    """Find the largest width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GripperGrasp:
    """Close or open on an object."""

    width: float
    """Expected size of the object [m]."""
    epsilon_inner: float
    """How much smaller it may be [m]."""
    epsilon_outer: float
    """How much larger it may be [m]."""
    speed: float
    """Of the change of width [m/s]."""
    force: float
    """Grasping force [N]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GripperMove:
    """Go to a width."""

    width: float
    """[m]."""
    speed: float
    """Of the change of width [m/s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GripperStop:
    """End the running motion."""


GripperRequest = Connect | GripperHoming | GripperGrasp | GripperMove | GripperStop


@dataclass(frozen=True, slots=True, kw_only=True)
class GripperState:
    """Published state of the gripper."""

    message_id: int
    """Robot time [ms], modulo 2^32."""
    width: float
    """Opening between the fingers [m]."""
    max_width: float
    """Largest opening, found by homing [m]."""
    is_grasped: bool
    """Whether an object is held."""
    temperature: int
    """[degC]."""


_GRIPPER_STATE = FieldCodec(GripperState, ("I1", "d1", "d1", "?1", "H1"))
encode_gripper_state, decode_gripper_state = _GRIPPER_STATE.pack, _GRIPPER_STATE.unpack


# ------------------------------------------------------------------------------------------ vacuum gripper


@dataclass(frozen=True, slots=True, kw_only=True)
class Vacuum:
    """Suck an object."""

    vacuum: int
    """Setpoint [10 mbar], 0 to 255."""
    profile: int = 0
    """Production setup profile, 0 to 3."""
    timeout: int
    """After which the attempt is given up [ms]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VacuumDropOff:
    """Blow the object off."""

    timeout: int
    """After which the attempt is given up [ms]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VacuumStop:
    """End the running operation."""


VacuumRequest = Connect | Vacuum | VacuumDropOff | VacuumStop


@dataclass(frozen=True, slots=True, kw_only=True)
class VacuumState:
    """Published state of the vacuum gripper."""

    message_id: int
    """Robot time [ms], modulo 2^32."""
    in_control_range: bool
    """Whether the vacuum is at its setpoint."""
    part_detached: bool
    """Whether the object has been given off after it was held."""
    part_present: bool
    """Whether an object is held."""
    device_status: int = 0
    """0 green, 1 yellow, 2 orange, 3 red."""
    actual_power: int
    """Power of the pump [%]."""
    vacuum: int
    """Pressure below that of the surroundings [mbar]."""


_VACUUM_STATE = FieldCodec(VacuumState, ("I1", "?1", "?1", "?1", "B1", "i1", "i1"))
encode_vacuum_state = _VACUUM_STATE.pack


def decode_vacuum_state(data: bytes) -> VacuumState:
    """Return the vacuum gripper's state in a datagram; the client's side."""
    state = _VACUUM_STATE.unpack(data)
    if state.device_status > 3:
        raise WireError(f"device_status is {state.device_status}; must be 0 to 3", field="device_status")
    return state


# ------------------------------------------------------------------------------------- requests and answers


class _Conversation(Generic[R]):
    """Requests and answers on the port of one tool; the statuses of both tools are the same.

    Args:
        tool: name of the tool, for messages.
        codes: type of each request, in the order of the command numbers -> struct codes of its fields.
    """

    def __init__(self, tool: str, codes: dict[type, tuple[str, ...]]) -> None:
        self._tool = tool
        self._numbers = {kind: number for number, kind in enumerate(codes)}
        self._codecs: list[FieldCodec[Any]] = [FieldCodec(kind, row) for kind, row in codes.items()]

    def encode_request(self, request: R, *, command_id: int) -> bytes:
        """Return the frame of a request; the client's side.

        Raises:
            WireError: the tool has no such request, or a field does not fit.
        """
        number = self._numbers.get(type(request))
        if number is None:
            raise WireError(f"{type(request).__name__} is not a request to the {self._tool}", field="command")
        return encode_frame("gripper", number, command_id, self._codecs[number].pack(request))

    def decode_request(self, frame: Frame) -> R:
        """Return the request in a frame.

        Raises:
            WireError: an unknown command number, or a payload of the wrong size.
        """
        number, last = frame.command, len(self._codecs) - 1
        if not 0 <= number <= last:
            raise WireError(f"{self._tool} command {number} is not one of 0 to {last}", field="command")
        return self._codecs[number].unpack(frame.payload)

    def encode_response(self, command: int, command_id: int, status: str, *, payload: bytes = b"") -> bytes:
        """Return the frame of an answer.

        Args:
            command: number of the request, from 0.
            command_id: that of the request.
            status: ``success``, ``fail``, ``unsuccessful``, ``aborted``; for Connect ``incompatible_version``.
            payload: for Connect, the server's version (u16).

        Raises:
            WireError: no such status.
        """
        names = _CONNECT_STATUSES if command == 0 else _STATUSES
        if status not in names:
            raise WireError(f"the {self._tool} has no status {status!r}: {nearest(status, names)}", field="status")
        return encode_frame("gripper", command, command_id, struct.pack("<H", names.index(status)) + payload)

    def decode_response(self, frame: Frame) -> tuple[str, bytes]:
        """Return the status and what follows it; the client's side.

        Raises:
            WireError: an unknown command number or status, or an answer of the wrong size.
        """
        if not 0 <= frame.command < len(self._codecs):
            raise WireError(f"answer to unknown {self._tool} command {frame.command}", field="command")
        expected = 4 if frame.command == 0 else 2
        if len(frame.payload) != expected:
            raise WireError(f"{self._tool} answer of {len(frame.payload)} bytes, not {expected}", field="size")
        names = _CONNECT_STATUSES if frame.command == 0 else _STATUSES
        number = struct.unpack_from("<H", frame.payload)[0]
        if number >= len(names):
            raise WireError(f"{self._tool} status {number} is not one of 0 to {len(names) - 1}", field="status")
        return names[number], frame.payload[2:]


_gripper = _Conversation[GripperRequest](
    "gripper",
    {
        Connect: ("H1", "H1"),
        GripperHoming: (),
        GripperGrasp: ("d1",) * 5,
        GripperMove: ("d1", "d1"),
        GripperStop: (),
    },
)
encode_gripper_request, decode_gripper_request = _gripper.encode_request, _gripper.decode_request
encode_gripper_response, decode_gripper_response = _gripper.encode_response, _gripper.decode_response

_vacuum = _Conversation[VacuumRequest](
    "vacuum gripper",
    {Connect: ("H1", "H1"), Vacuum: ("B1", "B1", "q1"), VacuumDropOff: ("q1",), VacuumStop: ()},
)
encode_vacuum_request, decode_vacuum_request = _vacuum.encode_request, _vacuum.decode_request
encode_vacuum_response, decode_vacuum_response = _vacuum.encode_response, _vacuum.decode_response
