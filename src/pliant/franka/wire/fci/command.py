"""The command datagram that a client sends in each cycle of a motion."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np

from pliant.base.errors import WireError, nearest
from pliant.base.numerics import Array
from pliant.franka.wire.fci.frames import check_version
from pliant.franka.wire.fci.layout import in_order, offsets

__all__ = ["MOTION", "MOTION_AT", "N_MOTION", "CommandUnpacker", "RobotCommand", "command_size", "encode_command"]

_ID = struct.Struct("<Q")
_MARKS = struct.Struct("<Q304xBB56x")
"""Identifier and the first two flags; the motion and the torques lie between and after them."""

MOTION = in_order(
    (
        ("q_c", 7, "rad", "joint positions"),
        ("dq_c", 7, "rad/s", "joint velocities"),
        ("O_T_EE_c", 16, "", "pose of the end effector in the base, column-major"),
        ("O_dP_EE_c", 6, "m/s, rad/s", "twist of the end effector in the base"),
        ("elbow_c", 2, "", "elbow: position of joint 3 [rad], sign of joint 4; where absent, it is free"),
    )
)
"""Fields of `RobotCommand.motion` by name, in wire order."""
N_MOTION = sum(place.count for place in MOTION.values())
"""Number of real numbers in the motion part of a command."""
MOTION_AT = offsets(MOTION)
"""Where each field of the motion begins, for compiled code too: ``MOTION_AT.dq_c``."""


@dataclass(slots=True, kw_only=True, eq=False)
class RobotCommand:
    """Command that a client sends in each cycle of a motion; only the fields of the active mode carry data.

    It is not frozen, because setting the fields one by one takes a third of the time of a frozen constructor.
    """

    message_id: int
    """Identifier of the newest state that the client had."""
    motion: Array = field(default_factory=lambda: np.zeros(N_MOTION))
    """The fields of `MOTION`, shape (38,); each is also an attribute that returns a view: ``command.q_c``. Writable,
    as the torques are: read-only arrays are another type to the compiled cabinet."""
    tau_J_d: Array = field(default_factory=lambda: np.zeros(7))
    """Torques without gravity and friction [N m]."""
    valid_elbow: bool = False
    """Whether elbow_c is commanded."""
    motion_generation_finished: bool = False
    """Ends the motion."""
    torque_command_finished: bool = False
    """Ends a motion of torques alone; from version 7 on."""

    def __getattr__(self, name: str) -> Array:
        try:
            place = MOTION[name]
        except KeyError:
            raise AttributeError(f"RobotCommand has no field {name!r}: {nearest(name, MOTION)}") from None
        return self.motion[place.offset : place.end]


def command_size(version: int) -> int:
    """Return the length of the command datagram: 370 bytes, from version 7 on 371."""
    check_version(version)
    return 371 if version >= 7 else 370


def encode_command(command: RobotCommand, *, version: int) -> bytes:
    """Return the datagram of a command; the client's side."""
    check_version(version)
    if not 0 <= command.message_id < 1 << 64:
        raise WireError(f"message_id {command.message_id} does not fit 64 bits", field="message_id")
    data = (
        _ID.pack(command.message_id)
        + np.asarray(command.motion, "<f8").tobytes()
        + bytes([command.valid_elbow, command.motion_generation_finished])
        + np.asarray(command.tau_J_d, "<f8").tobytes()
    )
    if version >= 7:
        data += bytes([command.torque_command_finished])
    if len(data) != command_size(version):
        raise WireError("a command has 38 motion numbers and 7 torques", field="motion")
    return data


class CommandUnpacker:
    """Unpack command datagrams of one version.

    Args:
        version: protocol version, 4 to 10.
    """

    def __init__(self, version: int) -> None:
        self.version = version
        self.size = command_size(version)
        self._buffer = bytearray(self.size)
        self._motion = np.frombuffer(self._buffer, "<f8", N_MOTION, 8)
        self._torques = np.frombuffer(self._buffer, "<f8", 7, 314)

    def unpack(self, data: bytes) -> RobotCommand:
        """Return the command in a datagram. NaN passes: what it means is for the controller to decide.

        Raises:
            WireError: the datagram has not exactly the version's length, or a flag is neither 0 nor 1.
        """
        if len(data) != self.size:
            raise WireError(f"command of {len(data)} bytes; version {self.version} has {self.size}", field="size")
        self._buffer[:] = data
        message_id, valid_elbow, finished = _MARKS.unpack_from(data)
        torque_finished = data[370] if self.size == 371 else 0
        if valid_elbow > 1 or finished > 1 or torque_finished > 1:
            raise WireError("a flag of the command is neither 0 nor 1", field="motion_generation_finished")
        command = RobotCommand.__new__(RobotCommand)
        command.message_id = message_id
        command.motion = self._motion.copy()
        command.tau_J_d = self._torques.copy()
        command.valid_elbow = valid_elbow == 1
        command.motion_generation_finished = finished == 1
        command.torque_command_finished = torque_finished == 1
        return command
