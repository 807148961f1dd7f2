"""Answers of the robot: the statuses of each command by version, and their bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from pliant.base.errors import WireError, nearest
from pliant.franka.wire.fci.frames import Frame, check_version, encode_frame
from pliant.franka.wire.fci.requests import COMMANDS, command_number

__all__ = [
    "Response",
    "cartesian_limit_payload",
    "decode_response",
    "encode_response",
    "status_name",
    "status_number",
]

_SETTER_5 = ("success", "not_possible", "invalid_argument")
_SETTER_6 = (*_SETTER_5, "safety")
_MOVE_5 = (
    "success",
    "started",
    "preempted",
    "not_possible",
    "singular_start",
    "invalid_argument",
    "reflex",
    "emergency",
    "input_error",
    "aborted",
)
_MOVE_6 = (*_MOVE_5[:3], "preempted_safety", "safety", *_MOVE_5[3:])
_STOP_5 = ("success", "not_possible", "emergency", "reflex", "aborted")
_STOP_6 = ("success", "not_possible", "safety", "emergency", "reflex", "aborted")
_RECOVERY_5 = ("success", "not_possible", "manual_recovery", "reflex", "emergency", "aborted")
_RECOVERY_6 = ("success", "not_possible", "safety", "manual_recovery", "reflex", "emergency", "aborted")
_STATUSES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Connect": (("success", "incompatible_version"), ("success", "incompatible_version")),
    "Move": (_MOVE_5, _MOVE_6),
    "StopMove": (_STOP_5, _STOP_6),
    "AutomaticErrorRecovery": (_RECOVERY_5, _RECOVERY_6),
    "LoadModelLibrary": (("success", "error"), ("success", "error")),
    "GetRobotModel": (("success", "not_possible", "safety"), ("success", "not_possible", "safety")),
}
_SETTER = (_SETTER_5, _SETTER_6)


def _statuses(version: int, command: str) -> tuple[str, ...]:
    check_version(version)
    return _STATUSES.get(command, _SETTER)[version >= 6]


def status_number(version: int, command: str, status: str) -> int:
    """Return the number that a version sends for a named status of a command.

    Args:
        version: protocol version, 4 to 10.
        command: class name of the request, such as ``"Move"``.
        status: such as ``"success"``, ``"started"``, ``"preempted"``, ``"reflex"``.

    Raises:
        WireError: the version has no such status for that command.
    """
    names = _statuses(version, command)
    try:
        return names.index(status)
    except ValueError:
        raise WireError(
            f"{command} has no status {status!r} in version {version}: {nearest(status, names)}",
            field="status",
        ) from None


def status_name(version: int, command: str, number: int) -> str:
    """Return the name of a status number; the inverse of `status_number`."""
    names = _statuses(version, command)
    if not 0 <= number < len(names):
        raise WireError(
            f"{command} status {number} is not one of 0 to {len(names) - 1} in version {version}",
            field="status",
        )
    return names[number]


@dataclass(frozen=True, slots=True)
class Response:
    """An answer of the robot."""

    command: str
    """Class name of the request."""
    command_id: int
    """That of the request."""
    status: str
    """Name of the status; `status_number` gives the number of a version."""
    payload: bytes = b""
    """Bytes that follow the status: the server's version (Connect), a URDF, a library, a Cartesian limit."""


def encode_response(response: Response, *, version: int) -> bytes:
    """Return the frame of an answer, header included."""
    status = status_number(version, response.command, response.status)
    number = command_number(version, response.command)
    return encode_frame("robot", number, response.command_id, bytes([status]) + response.payload)


def decode_response(frame: Frame, *, version: int) -> Response:
    """Return the answer in a frame; the client's side."""
    check_version(version)
    if not 0 <= frame.command < len(COMMANDS[version]):
        raise WireError(f"answer to unknown command {frame.command}", field="command")
    name = COMMANDS[version][frame.command].__name__
    if not frame.payload:
        raise WireError(f"answer to {name} without a status", field="status")
    expected = {"Connect": 3, "GetCartesianLimit": 154, "LoadModelLibrary": None, "GetRobotModel": None}.get(name, 1)
    if expected is not None and len(frame.payload) != expected:
        raise WireError(f"answer to {name} has {len(frame.payload)} bytes, not {expected}", field="size")
    return Response(
        command=name,
        command_id=frame.command_id,
        status=status_name(version, name, frame.payload[0]),
        payload=frame.payload[1:],
    )


_CARTESIAN_LIMIT = struct.Struct("<3d16dB")


def cartesian_limit_payload(size: tuple[float, ...], frame: tuple[float, ...], active: bool) -> bytes:
    """Return what follows the status in the answer to GetCartesianLimit: size (3), pose (16), active."""
    try:
        return _CARTESIAN_LIMIT.pack(*size, *frame, active)
    except struct.error as fault:
        raise WireError(f"Cartesian limit: {fault}") from None
