"""The state datagram: modes, fields, packing."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import WireError, nearest
from pliant.base.numerics import Array
from pliant.franka.wire.fci.errors import ERRORS
from pliant.franka.wire.fci.frames import VERSIONS, check_version
from pliant.franka.wire.fci.layout import in_order, offsets

__all__ = [
    "AT",
    "N_REALS",
    "REALS",
    "ControllerMode",
    "MotionGeneratorMode",
    "RobotMode",
    "RobotState",
    "StatePacker",
    "decode_state",
    "state_size",
]


class ControllerMode(IntEnum):
    """The controller that a state reports."""

    JOINT_IMPEDANCE = 0
    CARTESIAN_IMPEDANCE = 1
    EXTERNAL = 2
    OTHER = 3


class MotionGeneratorMode(IntEnum):
    """The motion generator that a state reports: one higher than in the request."""

    IDLE = 0
    JOINT_POSITION = 1
    JOINT_VELOCITY = 2
    CARTESIAN_POSITION = 3
    CARTESIAN_VELOCITY = 4
    NONE = 5


class RobotMode(IntEnum):
    """Mode of the robot as a whole."""

    OTHER = 0
    IDLE = 1
    MOVE = 2
    GUIDING = 3
    REFLEX = 4
    USER_STOPPED = 5
    AUTOMATIC_ERROR_RECOVERY = 6


REALS = in_order(
    (
        ("O_T_EE", 16, "", "measured pose of the end effector in the base, column-major"),
        ("O_T_EE_d", 16, "", "desired pose of the end effector in the base, column-major"),
        ("F_T_EE", 16, "", "end effector in the flange, column-major"),
        ("EE_T_K", 16, "", "stiffness frame in the end effector, column-major"),
        ("F_T_NE", 16, "", "nominal end effector in the flange, column-major"),
        ("NE_T_EE", 16, "", "end effector in the nominal end effector, column-major"),
        ("m_ee", 1, "kg", "mass of the end effector"),
        ("I_ee", 9, "kg m^2", "inertia of the end effector about its centre of mass"),
        ("F_x_Cee", 3, "m", "centre of mass of the end effector in the flange"),
        ("m_load", 1, "kg", "mass of the load"),
        ("I_load", 9, "kg m^2", "inertia of the load about its centre of mass"),
        ("F_x_Cload", 3, "m", "centre of mass of the load in the flange"),
        ("elbow", 2, "", "measured elbow: position of joint 3 [rad], sign of joint 4"),
        ("elbow_d", 2, "", "desired elbow"),
        ("tau_J", 7, "N m", "measured link-side torques, gravity included"),
        ("tau_J_d", 7, "N m", "desired torques, gravity and friction excluded"),
        ("dtau_J", 7, "N m/s", "rate of the measured torques"),
        ("q", 7, "rad", "measured joint positions"),
        ("q_d", 7, "rad", "desired joint positions"),
        ("dq", 7, "rad/s", "measured joint velocities"),
        ("dq_d", 7, "rad/s", "desired joint velocities"),
        ("ddq_d", 7, "rad/s^2", "desired joint accelerations"),
        ("joint_contact", 7, "", "1 for a joint in contact"),
        ("cartesian_contact", 6, "", "1 for a direction of the base in contact, at the stiffness frame"),
        ("joint_collision", 7, "", "1 for a joint in collision, until error recovery"),
        ("cartesian_collision", 6, "", "1 for such a direction in collision, until error recovery"),
        ("tau_ext_hat_filtered", 7, "N m", "estimate of the external torques"),
        ("O_F_ext_hat_K", 6, "N, N m", "wrench of the robot on its surroundings at the stiffness frame, base axes"),
        ("K_F_ext_hat_K", 6, "N, N m", "the same wrench in the axes of the stiffness frame"),
        ("O_dP_EE_d", 6, "m/s, rad/s", "desired twist of the end effector in the base"),
        ("O_ddP_O", 3, "m/s^2", "acceleration of gravity in the base"),
        ("elbow_c", 2, "", "commanded elbow"),
        ("delbow_c", 2, "rad/s", "rate of the commanded elbow"),
        ("ddelbow_c", 2, "rad/s^2", "second derivative of the commanded elbow"),
        ("O_T_EE_c", 16, "", "commanded pose of the end effector in the base, column-major"),
        ("O_dP_EE_c", 6, "m/s, rad/s", "commanded twist of the end effector in the base"),
        ("O_ddP_EE_c", 6, "m/s^2, rad/s^2", "rate of the commanded twist"),
        ("theta", 7, "rad", "motor positions at the joint side of the gears"),
        ("dtheta", 7, "rad/s", "motor velocities at the joint side of the gears"),
    )
)
"""Real fields of the state by name, in wire order."""
N_REALS = sum(place.count for place in REALS.values())
"""Number of real numbers in a state."""
AT = offsets(REALS)
"""Where each real field begins, for compiled code too: ``AT.q`` is ``REALS["q"].offset``."""


@dataclass(slots=True, kw_only=True, eq=False)
class RobotState:
    """The state of the robot, as one cycle publishes it. SI, radians, matrices column-major.

    The real numbers lie in one array in wire order, so that packing is one copy. Each field of `REALS` is
    also an attribute that returns a view: ``state.q[3]``, ``state.O_T_EE.reshape(4, 4).T``.
    """

    message_id: int = 0
    """Robot time [ms]; rises by one each cycle."""
    reals: Array = field(default_factory=lambda: np.zeros(N_REALS))
    """Every real field, shape (284,)."""
    accelerometers: NDArray[np.float32] = field(default_factory=lambda: np.zeros(36, np.float32))
    """Six top then six bottom readings of three axes [m/s^2]; version 10 only."""
    motion_generator_mode: int = 0
    """A `MotionGeneratorMode`."""
    controller_mode: int = 3
    """A `ControllerMode`."""
    errors: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(len(ERRORS), np.uint8))
    """Current errors, 0 or 1 each, in the order of `ERRORS`."""
    reflex_reason: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(len(ERRORS), np.uint8))
    """The errors that ended the last motion."""
    robot_mode: int = RobotMode.IDLE
    """A `RobotMode`."""
    success_rate: float = 0.0
    """Fraction of the last 100 commands that came in time; 0 without a motion."""

    def __getattr__(self, name: str) -> Array:
        try:
            place = REALS[name]
        except KeyError:
            raise AttributeError(f"RobotState has no field {name!r}: {nearest(name, REALS)}") from None
        return self.reals[place.offset : place.end]

    def snapshot(self) -> RobotState:
        """Return the state as it is now, with real numbers that no later cycle changes.

        The arrays of errors are shared: who changes the errors of a state gives it new arrays.
        """
        # Called in every cycle: setting the fields one by one takes half the time of the constructor.
        copy = RobotState.__new__(RobotState)
        copy.reals = reals = self.reals.copy()
        reals.setflags(write=False)
        copy.message_id = self.message_id
        copy.accelerometers = self.accelerometers
        copy.motion_generator_mode = self.motion_generator_mode
        copy.controller_mode = self.controller_mode
        copy.errors = self.errors
        copy.reflex_reason = self.reflex_reason
        copy.robot_mode = self.robot_mode
        copy.success_rate = self.success_rate
        return copy

    def matrix(self, name: str) -> Array:
        """Return a 16- or 9-number field as a matrix (a view), shape (4, 4) or (3, 3)."""
        view = getattr(self, name)
        side = 4 if len(view) == 16 else 3
        return view.reshape(side, side).T

    def error_names(self) -> list[str]:
        """Return the names of the errors that are set."""
        return [ERRORS[i] for i in np.flatnonzero(self.errors)]


def _state_dtype(version: int) -> np.dtype:
    real = "<f8" if version < 10 else "<f4"
    parts: list[Any] = [("message_id", "<u8"), ("reals", real, (N_REALS,))]
    if version >= 10:
        parts.append(("accelerometers", "<f4", (36,)))
    parts += [
        ("motion_generator_mode", "u1"),
        ("controller_mode", "u1"),
        ("errors", "u1", (len(ERRORS),)),
        ("reflex_reason", "u1", (len(ERRORS),)),
        ("robot_mode", "u1"),
        ("success_rate", real),
    ]
    return np.dtype(parts)


_STATE_DTYPES = {v: _state_dtype(v) for v in VERSIONS}


def _absent_from_version_4() -> tuple[tuple[int, int], ...]:
    """Return begin and end of what a datagram of version 5 has and one of version 4 has not.

    Version 4 has no acceleration of the base and 37 errors: the public headers of libfranka 0.8 and 0.9.
    """
    at = {name: place[1] for name, place in (_STATE_DTYPES[5].fields or {}).items()}
    base = at["reals"] + 8 * AT.O_ddP_O
    ends = [at[name] + len(ERRORS) for name in ("errors", "reflex_reason")]
    return ((base, base + 8 * REALS["O_ddP_O"].count), *((end - _LATE_ERRORS, end) for end in ends))


_LATE_ERRORS = 4
"""How many errors, the last ones, came with version 5."""
_ABSENT_4 = _absent_from_version_4()
_MODES = struct.Struct("<BB")
_ID = struct.Struct("<Q")
_TAILS = {False: struct.Struct("<Bd"), True: struct.Struct("<Bf")}


def state_size(version: int) -> int:
    """Return the length of the state datagram: 2373 bytes, of version 4 2341, from version 10 on 1377."""
    check_version(version)
    return _STATE_DTYPES[version].itemsize - (sum(end - at for at, end in _ABSENT_4) if version < 5 else 0)


def _without_absent(data: bytearray) -> bytearray:
    """Return a datagram of version 4, from one of version 5."""
    for at, end in reversed(_ABSENT_4):
        data = data[:at] + data[end:]
    return data


def _with_absent(data: bytes) -> bytes:
    """Return a datagram of version 5 from one of version 4: what version 4 has not is zero."""
    for at, end in _ABSENT_4:
        data = data[:at] + bytes(end - at) + data[at:]
    return data


class StatePacker:
    """Pack states into datagrams of one version, into a buffer prepared once.

    Args:
        version: protocol version, 4 to 10.
    """

    def __init__(self, version: int) -> None:
        check_version(version)
        self.version = version
        dtype = _STATE_DTYPES[version]
        self._buffer = bytearray(dtype.itemsize)
        record = np.frombuffer(self._buffer, dtype=dtype, count=1)
        self._reals = record["reals"][0]
        self._accelerometers = record["accelerometers"][0] if version >= 10 else None
        self._errors = record["errors"][0]
        self._reflex = record["reflex_reason"][0]
        offsets = {name: dtype.fields[name][1] for name in dtype.names}  # type: ignore[index,union-attr]
        self._modes_at = offsets["motion_generator_mode"]
        self._tail_at = offsets["robot_mode"]
        self._tail = _TAILS[version >= 10]
        # the arrays of bits and accelerations that the buffer holds: a state gets new ones where they change
        self._seen_errors: object = None
        self._seen_reflex: object = None
        self._seen_accelerometers: object = None

    def pack(self, state: RobotState) -> bytearray:
        """Return the datagram of a state. The buffer is reused: send or copy it before the next call."""
        buffer = self._buffer
        _ID.pack_into(buffer, 0, state.message_id)
        self._reals[:] = state.reals
        _MODES.pack_into(buffer, self._modes_at, state.motion_generator_mode, state.controller_mode)
        self._tail.pack_into(buffer, self._tail_at, state.robot_mode, state.success_rate)
        if state.errors is not self._seen_errors or state.reflex_reason is not self._seen_reflex:
            self._seen_errors, self._seen_reflex = state.errors, state.reflex_reason
            self._errors[:], self._reflex[:] = state.errors, state.reflex_reason
        if self._accelerometers is not None and state.accelerometers is not self._seen_accelerometers:
            self._seen_accelerometers = state.accelerometers
            self._accelerometers[:] = state.accelerometers
        return buffer if self.version > 4 else _without_absent(buffer)


def decode_state(data: bytes, *, version: int) -> RobotState:
    """Return the state in a datagram; the client's side.

    Raises:
        WireError: the datagram has not exactly the version's length.
    """
    size = state_size(version)
    if len(data) != size:
        raise WireError(f"state of {len(data)} bytes; version {version} has {size}", field="size")
    record = np.frombuffer(data if version > 4 else _with_absent(data), dtype=_STATE_DTYPES[version], count=1)[0]
    return RobotState(
        message_id=int(record["message_id"]),
        reals=record["reals"].astype(np.float64),
        accelerometers=record["accelerometers"].copy() if version >= 10 else np.zeros(36, np.float32),
        motion_generator_mode=int(record["motion_generator_mode"]),
        controller_mode=int(record["controller_mode"]),
        errors=record["errors"].copy(),
        reflex_reason=record["reflex_reason"].copy(),
        robot_mode=int(record["robot_mode"]),
        success_rate=float(record["success_rate"]),
    )
