"""The bytes of the Franka Control Interface, protocol versions 5 to 10: no sockets, no state machine.

All integers are little-endian, all structures packed, matrices column-major. One server can speak every
version at once: the first request of a connection (`Connect`) has the same 16 bytes in all of them and
carries the number that the rest of the connection follows.

Two packet layouts exist. Versions 5 to 9 send the state in float64 (2373 bytes), version 10 in float32 with
accelerometers (1377 bytes). The command datagram is float64 throughout, 370 bytes in versions 5 and 6 and
371 from version 7 on.

Everything malformed raises `pliant.base.errors.WireError`. Every length read from a network is bounded.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import WireError, nearest

__all__ = [
    "ERRORS",
    "GRIPPER_VERSION",
    "REALS",
    "VACUUM_VERSION",
    "VERSIONS",
    "AutomaticErrorRecovery",
    "CommandUnpacker",
    "Connect",
    "Controller",
    "ControllerMode",
    "Frame",
    "Framer",
    "GetCartesianLimit",
    "GetRobotModel",
    "GripperConnect",
    "GripperGrasp",
    "GripperHoming",
    "GripperMove",
    "GripperRequest",
    "GripperState",
    "GripperStop",
    "LoadModelLibrary",
    "MotionGenerator",
    "MotionGeneratorMode",
    "Move",
    "Request",
    "Response",
    "RobotCommand",
    "RobotMode",
    "RobotState",
    "SetCartesianImpedance",
    "SetCollisionBehavior",
    "SetEEToK",
    "SetFilters",
    "SetGuidingMode",
    "SetJointImpedance",
    "SetLoad",
    "SetNEToEE",
    "StateField",
    "StatePacker",
    "StopMove",
    "Vacuum",
    "VacuumConnect",
    "VacuumDropOff",
    "VacuumRequest",
    "VacuumState",
    "VacuumStop",
    "cartesian_limit_payload",
    "command_number",
    "command_size",
    "decode_gripper_request",
    "decode_gripper_response",
    "decode_gripper_state",
    "decode_request",
    "decode_response",
    "decode_state",
    "decode_vacuum_request",
    "decode_vacuum_response",
    "decode_vacuum_state",
    "encode_command",
    "encode_gripper_request",
    "encode_gripper_response",
    "encode_gripper_state",
    "encode_request",
    "encode_response",
    "encode_vacuum_request",
    "encode_vacuum_response",
    "encode_vacuum_state",
    "state_size",
    "status_name",
    "status_number",
]

VERSIONS = range(5, 11)
"""Robot protocol versions that this module speaks (libfranka 0.9 to 0.21)."""
GRIPPER_VERSION = 3
"""The gripper protocol version of every client that speaks `VERSIONS`."""
VACUUM_VERSION = 1
"""The same of the vacuum gripper."""

Float = NDArray[np.float64]

# -------------------------------------------------------------------------------------------- enumerations


class Controller(IntEnum):
    """The controller that a Move request asks for."""

    JOINT_IMPEDANCE = 0
    CARTESIAN_IMPEDANCE = 1
    EXTERNAL = 2


class MotionGenerator(IntEnum):
    """The motion generator that a Move request asks for."""

    JOINT_POSITION = 0
    JOINT_VELOCITY = 1
    CARTESIAN_POSITION = 2
    CARTESIAN_VELOCITY = 3
    NONE = 4


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
    """What the robot does as a whole."""

    OTHER = 0
    IDLE = 1
    MOVE = 2
    GUIDING = 3
    REFLEX = 4
    USER_STOPPED = 5
    AUTOMATIC_ERROR_RECOVERY = 6


ERRORS = (
    "joint_position_limits_violation",
    "cartesian_position_limits_violation",
    "self_collision_avoidance_violation",
    "joint_velocity_violation",
    "cartesian_velocity_violation",
    "force_control_safety_violation",
    "joint_reflex",
    "cartesian_reflex",
    "max_goal_pose_deviation_violation",
    "max_path_pose_deviation_violation",
    "cartesian_velocity_profile_safety_violation",
    "joint_position_motion_generator_start_pose_invalid",
    "joint_motion_generator_position_limits_violation",
    "joint_motion_generator_velocity_limits_violation",
    "joint_motion_generator_velocity_discontinuity",
    "joint_motion_generator_acceleration_discontinuity",
    "cartesian_position_motion_generator_start_pose_invalid",
    "cartesian_motion_generator_elbow_limit_violation",
    "cartesian_motion_generator_velocity_limits_violation",
    "cartesian_motion_generator_velocity_discontinuity",
    "cartesian_motion_generator_acceleration_discontinuity",
    "cartesian_motion_generator_elbow_sign_inconsistent",
    "cartesian_motion_generator_start_elbow_invalid",
    "force_controller_desired_force_tolerance_violation",
    "start_elbow_sign_inconsistent",
    "communication_constraints_violation",
    "power_limit_violation",
    "cartesian_motion_generator_joint_position_limits_violation",
    "cartesian_motion_generator_joint_velocity_limits_violation",
    "cartesian_motion_generator_joint_velocity_discontinuity",
    "cartesian_motion_generator_joint_acceleration_discontinuity",
    "cartesian_position_motion_generator_invalid_frame",
    "controller_torque_discontinuity",
    "joint_p2p_insufficient_torque_for_planning",
    "tau_J_range_violation",
    "instability_detected",
    "joint_move_in_wrong_direction",
    "cartesian_spline_motion_generator_violation",
    "joint_via_motion_generator_planning_joint_limit_violation",
    "base_acceleration_initialization_timeout",
    "base_acceleration_invalid_reading",
)
"""Names of the 41 error bits of a state, in their order."""

# ------------------------------------------------------------------------------------------------ requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect:
    """Open the conversation."""

    version: int
    """Protocol version of the client."""
    udp_port: int
    """Port on which the client expects the state datagrams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Start a motion; answered twice with the same identifier: started, then how it ended."""

    controller: int
    """A `Controller`."""
    motion_generator: int
    """A `MotionGenerator`; NONE exists from version 7 on."""
    maximum_path_deviation: tuple[float, ...] = (10.0, 3.12, 6.283185307179586)
    """Translation [m], rotation [rad], elbow [rad]; every client sends these values, which switch it off."""
    maximum_goal_deviation: tuple[float, ...] = (10.0, 3.12, 6.283185307179586)
    """The same at the end of the motion."""
    use_async: bool = False
    """Version 10: targets come when they change, the robot interpolates."""
    maximum_joint_velocity: tuple[float, ...] = (0.0,) * 7
    """Version 10, with use_async: limit of the interpolation [rad/s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopMove:
    """End the running motion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetCartesianLimit:
    """Read a virtual wall (version 5 only)."""

    id: int
    """Number of the wall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCollisionBehavior:
    """Set the thresholds of contact (lower) and collision (upper), 7 torques and 6 wrench parts each."""

    lower_torque_acceleration: tuple[float, ...]
    """Contact torques while accelerating."""
    upper_torque_acceleration: tuple[float, ...]
    """Collision torques while accelerating."""
    lower_torque_nominal: tuple[float, ...]
    """Contact torques at constant velocity."""
    upper_torque_nominal: tuple[float, ...]
    """Collision torques at constant velocity."""
    lower_force_acceleration: tuple[float, ...]
    """Contact wrench while accelerating."""
    upper_force_acceleration: tuple[float, ...]
    """Collision wrench while accelerating."""
    lower_force_nominal: tuple[float, ...]
    """Contact wrench at constant velocity."""
    upper_force_nominal: tuple[float, ...]
    """Collision wrench at constant velocity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetJointImpedance:
    """Set the stiffness of the internal joint impedance controller."""

    K_theta: tuple[float, ...]
    """Stiffness of 7 joints [N m/rad]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCartesianImpedance:
    """Set the stiffness of the internal Cartesian impedance controller."""

    K_x: tuple[float, ...]
    """Stiffness along x, y, z [N/m] and about them [N m/rad]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetGuidingMode:
    """Choose the directions that a hand may move in guiding mode."""

    guiding_mode: tuple[bool, ...]
    """Free directions: x, y, z, roll, pitch, yaw."""
    nullspace: bool
    """Whether the elbow may be moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetEEToK:
    """Set the stiffness frame in the end effector."""

    EE_T_K: tuple[float, ...]
    """Pose, 16 numbers, column-major."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetNEToEE:
    """Set the end effector in the nominal end effector."""

    NE_T_EE: tuple[float, ...]
    """Pose, 16 numbers, column-major."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLoad:
    """Set what the robot carries beside its end effector."""

    mass: float
    """[kg]."""
    F_x_Cload: tuple[float, ...]
    """Centre of mass in the flange [m]."""
    I_load: tuple[float, ...]
    """Inertia about the centre of mass, 9 numbers, column-major [kg m^2]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFilters:
    """Set the cut-off frequencies of the command filters [Hz] (version 5 only)."""

    joint_position: float
    """Cut-off [Hz]."""
    joint_velocity: float
    """Cut-off [Hz]."""
    cartesian_position: float
    """Cut-off [Hz]."""
    cartesian_velocity: float
    """Cut-off [Hz]."""
    controller: float
    """Cut-off of the torque command [Hz]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AutomaticErrorRecovery:
    """Clear the errors and become idle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadModelLibrary:
    """Fetch the shared library of the robot's model (versions 5 to 9)."""

    architecture: int
    """0 x64, 1 x86, 2 ARM, 3 ARM64."""
    system: int
    """0 Linux, 1 Windows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRobotModel:
    """Fetch the URDF of the robot (from version 8 on)."""


Request = (
    Connect
    | Move
    | StopMove
    | GetCartesianLimit
    | SetCollisionBehavior
    | SetJointImpedance
    | SetCartesianImpedance
    | SetGuidingMode
    | SetEEToK
    | SetNEToEE
    | SetLoad
    | SetFilters
    | AutomaticErrorRecovery
    | LoadModelLibrary
    | GetRobotModel
)

# Request class -> struct codes of its fields: a letter and a count; "?" is a byte that must be 0 or 1.
_CODES: dict[type, tuple[str, ...]] = {
    Connect: ("H1", "H1"),
    Move: ("I1", "I1", "d3", "d3", "?1", "d7"),
    StopMove: (),
    GetCartesianLimit: ("i1",),
    SetCollisionBehavior: ("d7", "d7", "d7", "d7", "d6", "d6", "d6", "d6"),
    SetJointImpedance: ("d7",),
    SetCartesianImpedance: ("d6",),
    SetGuidingMode: ("?6", "?1"),
    SetEEToK: ("d16",),
    SetNEToEE: ("d16",),
    SetLoad: ("d1", "d3", "d9"),
    SetFilters: ("d1", "d1", "d1", "d1", "d1"),
    AutomaticErrorRecovery: (),
    LoadModelLibrary: ("B1", "B1"),
    GetRobotModel: (),
}
_COMMON = [
    Connect,
    Move,
    StopMove,
    GetCartesianLimit,
    SetCollisionBehavior,
    SetJointImpedance,
    SetCartesianImpedance,
    SetGuidingMode,
    SetEEToK,
    SetNEToEE,
    SetLoad,
    SetFilters,
    AutomaticErrorRecovery,
    LoadModelLibrary,
    GetRobotModel,
]


def _commands_of(version: int) -> tuple[type, ...]:
    absent: set[type] = set()
    if version >= 6:
        absent |= {GetCartesianLimit, SetFilters}
    if version >= 10:
        absent.add(LoadModelLibrary)
    if version < 8:
        absent.add(GetRobotModel)
    return tuple(c for c in _COMMON if c not in absent)


_COMMANDS = {v: _commands_of(v) for v in VERSIONS}
_NUMBERS = {v: {c.__name__: n for n, c in enumerate(_COMMANDS[v])} for v in VERSIONS}

# ------------------------------------------------------------------------------------------------ statuses

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


def _check_version(version: int) -> None:
    if version not in VERSIONS:
        raise WireError(f"protocol version {version} is not one of {VERSIONS[0]} to {VERSIONS[-1]}", field="version")


def _statuses(version: int, command: str) -> tuple[str, ...]:
    _check_version(version)
    return _STATUSES.get(command, _SETTER)[version >= 6]


def status_number(version: int, command: str, status: str) -> int:
    """Return the number that a version sends for a named status of a command.

    Args:
        version: protocol version, 5 to 10.
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


def command_number(version: int, command: str) -> int:
    """Return the number of a command in a version, such as ``command_number(5, "SetLoad") == 10``."""
    _check_version(version)
    try:
        return _NUMBERS[version][command]
    except KeyError:
        raise WireError(
            f"version {version} has no command {command!r}: {nearest(command, _NUMBERS[version])}",
            field="command",
        ) from None


# ------------------------------------------------------------------------------------------------- framing

_HEADERS = {"robot": struct.Struct("<III"), "gripper": struct.Struct("<HII")}


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of a TCP stream."""

    command: int
    """Command number, by version."""
    command_id: int
    """The client's running number, repeated in the answer."""
    payload: bytes
    """What follows the header."""


class Framer:
    """Cut a TCP stream into frames, as the bytes come.

    Args:
        port: ``"robot"`` (12-byte header) or ``"gripper"`` (10 bytes; the vacuum gripper has the same).
        limit: largest frame that is accepted, header included [bytes]. Requests need at most 428.
    """

    def __init__(self, port: Literal["robot", "gripper"] = "robot", *, limit: int = 4096) -> None:
        self._header = _HEADERS[port]
        self._limit = limit
        self._buffer = bytearray()

    @property
    def pending(self) -> int:
        """How many bytes wait for the rest of their frame."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes and return the frames that they complete.

        Raises:
            WireError: a size smaller than the header or larger than the limit; the stream is then lost, since
                the start of the next frame is unknown.
        """
        self._buffer += data
        frames: list[Frame] = []
        head = self._header.size
        start = 0
        try:
            while len(self._buffer) - start >= head:
                command, command_id, size = self._header.unpack_from(self._buffer, start)
                if not head <= size <= self._limit:
                    raise WireError(f"a frame has {size} bytes; must be {head} to {self._limit}", field="size")
                if len(self._buffer) - start < size:
                    break
                frames.append(Frame(command, command_id, bytes(self._buffer[start + head : start + size])))
                start += size
        finally:
            del self._buffer[:start]
        return frames


def _encode_frame(port: str, command: int, command_id: int, payload: bytes) -> bytes:
    header = _HEADERS[port]
    try:
        return header.pack(command, command_id, header.size + len(payload)) + payload
    except struct.error as fault:
        raise WireError(f"command {command}, id {command_id}: {fault}", field="command_id") from None


# ------------------------------------------------------------------------------------- requests and answers


def _layout(kind: type, codes: tuple[str, ...]) -> tuple[tuple[str, str, int], ...]:
    return tuple((f.name, code[0], int(code[1:])) for f, code in zip(fields(kind), codes, strict=False))


def _struct_of(codes: tuple[str, ...]) -> struct.Struct:
    return struct.Struct("<" + "".join(code[1:] + code[0].replace("?", "B") for code in codes))


def _prepare(version: int, kind: type) -> tuple[tuple[tuple[str, str, int], ...], struct.Struct]:
    codes = _CODES[kind]
    if kind is Move and version < 10:
        codes = codes[:4]
    return _layout(kind, codes), _struct_of(codes)


_PREPARED = {(v, c): _prepare(v, c) for v in VERSIONS for c in _COMMANDS[v]}


def _pack_fields(message: Any, layout: tuple[tuple[str, str, int], ...], packer: struct.Struct) -> bytes:
    flat: list[Any] = []
    for name, _, count in layout:
        value = getattr(message, name)
        if count == 1:
            flat.append(value)
        elif len(value) != count:
            raise WireError(f"{type(message).__name__}.{name} has {len(value)} numbers, not {count}", field=name)
        else:
            flat.extend(value)
    try:
        return packer.pack(*flat)
    except (struct.error, TypeError, OverflowError) as fault:
        raise WireError(f"{type(message).__name__}: {fault}") from None


def _unpack_fields(kind: type, layout: tuple[tuple[str, str, int], ...], packer: struct.Struct, payload: bytes) -> Any:
    if len(payload) != packer.size:
        raise WireError(f"{kind.__name__} has {len(payload)} bytes of payload, not {packer.size}", field="size")
    flat = packer.unpack(payload)
    values: dict[str, Any] = {}
    position = 0
    for name, code, count in layout:
        part: tuple[Any, ...] = flat[position : position + count]
        position += count
        if code == "?":
            if any(b > 1 for b in part):
                raise WireError(f"{kind.__name__}.{name} is {part}; must be 0 or 1", field=name)
            part = tuple(bool(b) for b in part)
        values[name] = part[0] if count == 1 else part
    return kind(**values)


def encode_request(request: Request, *, version: int, command_id: int) -> bytes:
    """Return the frame of a request, header included.

    Raises:
        WireError: the version does not know the request, or a field does not fit.
    """
    number = command_number(version, type(request).__name__)
    layout, packer = _PREPARED[version, type(request)]
    return _encode_frame("robot", number, command_id, _pack_fields(request, layout, packer))


def decode_request(frame: Frame, *, version: int | None) -> Request:
    """Return the request in a frame.

    Args:
        frame: from `Framer.feed`.
        version: that of the connection; None before Connect, when only Connect is valid.

    Raises:
        WireError: an unknown command number, or a payload of the wrong size.
    """
    if version is None:
        if frame.command != 0:
            raise WireError(f"command {frame.command} before Connect (0)", field="command")
        return _unpack_fields(Connect, *_PREPARED[5, Connect], frame.payload)
    _check_version(version)
    commands = _COMMANDS[version]
    if not 0 <= frame.command < len(commands):
        raise WireError(
            f"command {frame.command} is not one of 0 to {len(commands) - 1} in version {version}",
            field="command",
        )
    kind = commands[frame.command]
    return _unpack_fields(kind, *_PREPARED[version, kind], frame.payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer of the robot."""

    command: str
    """Class name of the request."""
    command_id: int
    """That of the request."""
    status: str
    """Name of the status."""
    payload: bytes = b""
    """What follows the status: the server's version (Connect), a URDF, a library, a Cartesian limit."""


def encode_response(response: Response, *, version: int) -> bytes:
    """Return the frame of an answer, header included."""
    status = status_number(version, response.command, response.status)
    number = command_number(version, response.command)
    return _encode_frame("robot", number, response.command_id, bytes([status]) + response.payload)


def decode_response(frame: Frame, *, version: int) -> Response:
    """Return the answer in a frame; the client's side."""
    _check_version(version)
    if not 0 <= frame.command < len(_COMMANDS[version]):
        raise WireError(f"answer to unknown command {frame.command}", field="command")
    name = _COMMANDS[version][frame.command].__name__
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


# --------------------------------------------------------------------------------------------------- state


class StateField(NamedTuple):
    """One real field of the state."""

    offset: int
    """Where it begins in `RobotState.reals`."""
    count: int
    """How many numbers it has."""
    unit: str
    """Unit of each number."""
    description: str
    """Meaning."""

    @property
    def end(self) -> int:
        """Where the next field begins."""
        return self.offset + self.count


_STATE_TABLE: tuple[tuple[str, int, str, str], ...] = (
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
    ("cartesian_contact", 6, "", "1 for a direction of the stiffness frame in contact"),
    ("joint_collision", 7, "", "1 for a joint in collision, until error recovery"),
    ("cartesian_collision", 6, "", "1 for a direction in collision, until error recovery"),
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
REALS: dict[str, StateField] = {}
"""Real fields of the state by name, in wire order."""
N_REALS = 0
for _name, _count, _unit, _text in _STATE_TABLE:
    REALS[_name] = StateField(N_REALS, _count, _unit, _text)
    N_REALS += _count

_IDENTITY = np.eye(4).reshape(-1)


@dataclass(slots=True, kw_only=True, eq=False)
class RobotState:
    """The state of the robot, as one cycle publishes it. SI, radians, matrices column-major.

    The real numbers lie in one array in wire order, so that packing is one copy. Each field of `REALS` is
    also an attribute that returns a view: ``state.q[3]``, ``state.O_T_EE.reshape(4, 4).T``.
    """

    message_id: int = 0
    """Robot time [ms]; rises by one each cycle."""
    reals: Float = field(default_factory=lambda: np.zeros(N_REALS))
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

    def __getattr__(self, name: str) -> Float:
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
        reals.flags.writeable = False
        copy.message_id = self.message_id
        copy.accelerometers = self.accelerometers
        copy.motion_generator_mode = self.motion_generator_mode
        copy.controller_mode = self.controller_mode
        copy.errors = self.errors
        copy.reflex_reason = self.reflex_reason
        copy.robot_mode = self.robot_mode
        copy.success_rate = self.success_rate
        return copy

    def matrix(self, name: str) -> Float:
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
        ("errors", "u1", (41,)),
        ("reflex_reason", "u1", (41,)),
        ("robot_mode", "u1"),
        ("success_rate", real),
    ]
    return np.dtype(parts)


_STATE_DTYPES = {v: _state_dtype(v) for v in VERSIONS}
_MODES = struct.Struct("<BB")
_ID = struct.Struct("<Q")
_TAILS = {False: struct.Struct("<Bd"), True: struct.Struct("<Bf")}


def state_size(version: int) -> int:
    """Return the length of the state datagram: 2373 bytes, from version 10 on 1377."""
    _check_version(version)
    return _STATE_DTYPES[version].itemsize


class StatePacker:
    """Pack states into datagrams of one version, into a buffer prepared once.

    Args:
        version: protocol version, 5 to 10.
    """

    def __init__(self, version: int) -> None:
        _check_version(version)
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

    def pack(self, state: RobotState) -> bytearray:
        """Return the datagram of a state. The buffer is reused: send or copy it before the next call."""
        buffer = self._buffer
        _ID.pack_into(buffer, 0, state.message_id)
        self._reals[:] = state.reals
        if self._accelerometers is not None:
            self._accelerometers[:] = state.accelerometers
        _MODES.pack_into(buffer, self._modes_at, state.motion_generator_mode, state.controller_mode)
        self._errors[:] = state.errors
        self._reflex[:] = state.reflex_reason
        self._tail.pack_into(buffer, self._tail_at, state.robot_mode, state.success_rate)
        return buffer


def decode_state(data: bytes, *, version: int) -> RobotState:
    """Return the state in a datagram; the client's side.

    Raises:
        WireError: the datagram has not exactly the version's length.
    """
    size = state_size(version)
    if len(data) != size:
        raise WireError(f"state of {len(data)} bytes; version {version} has {size}", field="size")
    record = np.frombuffer(data, dtype=_STATE_DTYPES[version], count=1)[0]
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


# ------------------------------------------------------------------------------------------------- command


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RobotCommand:
    """What a client sends in each cycle of a motion; only the fields of the active mode carry data."""

    message_id: int
    """Identifier of the newest state that the client had."""
    motion: Float = field(default_factory=lambda: np.zeros(38))
    """q_c (7) [rad], dq_c (7) [rad/s], O_T_EE_c (16), O_dP_EE_c (6) [m/s, rad/s], elbow_c (2)."""
    tau_J_d: Float = field(default_factory=lambda: np.zeros(7))
    """Torques without gravity and friction [N m]."""
    valid_elbow: bool = False
    """Whether elbow_c is commanded."""
    motion_generation_finished: bool = False
    """Ends the motion."""
    torque_command_finished: bool = False
    """Ends a motion of torques alone; from version 7 on."""

    _VIEWS: ClassVar[dict[str, slice]] = {
        "q_c": slice(0, 7),
        "dq_c": slice(7, 14),
        "O_T_EE_c": slice(14, 30),
        "O_dP_EE_c": slice(30, 36),
        "elbow_c": slice(36, 38),
    }

    @classmethod
    def place(cls, name: str) -> slice:
        """Return where a field lies in ``motion``."""
        return cls._VIEWS[name]

    def __getattr__(self, name: str) -> Float:
        try:
            return self.motion[RobotCommand._VIEWS[name]]
        except KeyError:
            raise AttributeError(f"RobotCommand has no field {name!r}: {nearest(name, RobotCommand._VIEWS)}") from None


def command_size(version: int) -> int:
    """Return the length of the command datagram: 370 bytes, from version 7 on 371."""
    _check_version(version)
    return 371 if version >= 7 else 370


def encode_command(command: RobotCommand, *, version: int) -> bytes:
    """Return the datagram of a command; the client's side."""
    _check_version(version)
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
        version: protocol version, 5 to 10.
    """

    def __init__(self, version: int) -> None:
        self.version = version
        self.size = command_size(version)

    def unpack(self, data: bytes) -> RobotCommand:
        """Return the command in a datagram. NaN passes: what it means is for the controller to decide.

        Raises:
            WireError: the datagram has not exactly the version's length, or a flag is neither 0 nor 1.
        """
        if len(data) != self.size:
            raise WireError(f"command of {len(data)} bytes; version {self.version} has {self.size}", field="size")
        valid_elbow, finished = data[312], data[313]
        torque_finished = data[370] if self.size == 371 else 0
        if valid_elbow > 1 or finished > 1 or torque_finished > 1:
            raise WireError("a flag of the command is neither 0 nor 1", field="motion_generation_finished")
        return RobotCommand(
            message_id=_ID.unpack_from(data)[0],
            motion=np.frombuffer(data, "<f8", 38, 8),
            tau_J_d=np.frombuffer(data, "<f8", 7, 314),
            valid_elbow=valid_elbow == 1,
            motion_generation_finished=finished == 1,
            torque_command_finished=torque_finished == 1,
        )


# ------------------------------------------------------------------------------------------------- gripper


@dataclass(frozen=True, slots=True, kw_only=True)
class GripperConnect:
    """Open the conversation with the gripper."""

    version: int
    """Protocol version of the client."""
    udp_port: int
    """Port on which the client expects the gripper's states."""


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


GripperRequest = GripperConnect | GripperHoming | GripperGrasp | GripperMove | GripperStop
_GRIPPER: tuple[type, ...] = (GripperConnect, GripperHoming, GripperGrasp, GripperMove, GripperStop)
_GRIPPER_CODES = (("H1", "H1"), (), ("d1",) * 5, ("d1", "d1"), ())
_GRIPPER_PREPARED = {
    k: (_layout(k, codes), _struct_of(codes)) for k, codes in zip(_GRIPPER, _GRIPPER_CODES, strict=True)
}
_GRIPPER_STATUSES = ("success", "fail", "unsuccessful", "aborted")
_GRIPPER_CONNECT = ("success", "incompatible_version")
_GRIPPER_STATE = struct.Struct("<IddBH")


@dataclass(frozen=True, slots=True, kw_only=True)
class GripperState:
    """What the gripper publishes."""

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


def encode_gripper_request(request: GripperRequest, *, command_id: int) -> bytes:
    """Return the frame of a gripper request; the client's side."""
    kind = type(request)
    if kind not in _GRIPPER_PREPARED:
        raise WireError(f"{kind.__name__} is not a request to the gripper", field="command")
    return _encode_frame("gripper", _GRIPPER.index(kind), command_id, _pack_fields(request, *_GRIPPER_PREPARED[kind]))


def decode_gripper_request(frame: Frame) -> GripperRequest:
    """Return the gripper request in a frame.

    Raises:
        WireError: an unknown command number, or a payload of the wrong size.
    """
    if not 0 <= frame.command < len(_GRIPPER):
        raise WireError(f"gripper command {frame.command} is not one of 0 to {len(_GRIPPER) - 1}", field="command")
    kind = _GRIPPER[frame.command]
    return _unpack_fields(kind, *_GRIPPER_PREPARED[kind], frame.payload)


def encode_gripper_response(command: int, command_id: int, status: str, *, payload: bytes = b"") -> bytes:
    """Return the frame of the gripper's answer.

    Args:
        command: number of the request, 0 to 4.
        command_id: that of the request.
        status: ``success``, ``fail``, ``unsuccessful``, ``aborted``; for Connect ``incompatible_version``.
        payload: for Connect, the server's version (u16).
    """
    names = _GRIPPER_CONNECT if command == 0 else _GRIPPER_STATUSES
    if status not in names:
        raise WireError(f"the gripper has no status {status!r}: {nearest(status, names)}", field="status")
    return _encode_frame("gripper", command, command_id, struct.pack("<H", names.index(status)) + payload)


def decode_gripper_response(frame: Frame) -> tuple[str, bytes]:
    """Return the status and what follows it; the client's side."""
    if not 0 <= frame.command < len(_GRIPPER):
        raise WireError(f"answer to unknown gripper command {frame.command}", field="command")
    expected = 4 if frame.command == 0 else 2
    if len(frame.payload) != expected:
        raise WireError(f"gripper answer of {len(frame.payload)} bytes, not {expected}", field="size")
    names = _GRIPPER_CONNECT if frame.command == 0 else _GRIPPER_STATUSES
    number = struct.unpack_from("<H", frame.payload)[0]
    if number >= len(names):
        raise WireError(f"gripper status {number} is not one of 0 to {len(names) - 1}", field="status")
    return names[number], frame.payload[2:]


def encode_gripper_state(state: GripperState) -> bytes:
    """Return the 23-byte datagram of a gripper state."""
    return _GRIPPER_STATE.pack(
        state.message_id & 0xFFFFFFFF, state.width, state.max_width, state.is_grasped, state.temperature
    )


def decode_gripper_state(data: bytes) -> GripperState:
    """Return the gripper state in a datagram; the client's side."""
    if len(data) != _GRIPPER_STATE.size:
        raise WireError(f"gripper state of {len(data)} bytes, not {_GRIPPER_STATE.size}", field="size")
    message_id, width, max_width, grasped, temperature = _GRIPPER_STATE.unpack(data)
    if grasped > 1:
        raise WireError(f"is_grasped is {grasped}; must be 0 or 1", field="is_grasped")
    return GripperState(
        message_id=message_id,
        width=width,
        max_width=max_width,
        is_grasped=grasped == 1,
        temperature=temperature,
    )


# ------------------------------------------------------------------------------------------ vacuum gripper


@dataclass(frozen=True, slots=True, kw_only=True)
class VacuumConnect:
    """Open the conversation with the vacuum gripper."""

    version: int
    """Protocol version of the client."""
    udp_port: int
    """Port on which the client expects the vacuum gripper's states."""


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


VacuumRequest = VacuumConnect | Vacuum | VacuumDropOff | VacuumStop
_VACUUM: tuple[type, ...] = (VacuumConnect, Vacuum, VacuumDropOff, VacuumStop)
_VACUUM_CODES = (("H1", "H1"), ("B1", "B1", "q1"), ("q1",), ())
_VACUUM_PREPARED = {k: (_layout(k, codes), _struct_of(codes)) for k, codes in zip(_VACUUM, _VACUUM_CODES, strict=True)}
_VACUUM_STATE = struct.Struct("<IBBBBii")
_VACUUM_FLAGS = ("in_control_range", "part_detached", "part_present")


@dataclass(frozen=True, slots=True, kw_only=True)
class VacuumState:
    """What the vacuum gripper publishes."""

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


def encode_vacuum_request(request: VacuumRequest, *, command_id: int) -> bytes:
    """Return the frame of a request to the vacuum gripper; the client's side."""
    kind = type(request)
    if kind not in _VACUUM_PREPARED:
        raise WireError(f"{kind.__name__} is not a request to the vacuum gripper", field="command")
    return _encode_frame("gripper", _VACUUM.index(kind), command_id, _pack_fields(request, *_VACUUM_PREPARED[kind]))


def decode_vacuum_request(frame: Frame) -> VacuumRequest:
    """Return the vacuum gripper's request in a frame.

    Raises:
        WireError: an unknown command number, or a payload of the wrong size.
    """
    if not 0 <= frame.command < len(_VACUUM):
        raise WireError(
            f"vacuum gripper command {frame.command} is not one of 0 to {len(_VACUUM) - 1}", field="command"
        )
    kind = _VACUUM[frame.command]
    return _unpack_fields(kind, *_VACUUM_PREPARED[kind], frame.payload)


def encode_vacuum_response(command: int, command_id: int, status: str, *, payload: bytes = b"") -> bytes:
    """Return the frame of the vacuum gripper's answer; its statuses are those of the gripper.

    Args:
        command: number of the request, 0 to 3.
        command_id: that of the request.
        status: ``success``, ``fail``, ``unsuccessful``, ``aborted``; for Connect ``incompatible_version``.
        payload: for Connect, the server's version (u16).
    """
    return encode_gripper_response(command, command_id, status, payload=payload)


def decode_vacuum_response(frame: Frame) -> tuple[str, bytes]:
    """Return the status and what follows it; the client's side."""
    if not 0 <= frame.command < len(_VACUUM):
        raise WireError(f"answer to unknown vacuum gripper command {frame.command}", field="command")
    return decode_gripper_response(frame)


def encode_vacuum_state(state: VacuumState) -> bytes:
    """Return the 16-byte datagram of a vacuum gripper's state."""
    return _VACUUM_STATE.pack(
        state.message_id & 0xFFFFFFFF,
        state.in_control_range,
        state.part_detached,
        state.part_present,
        state.device_status,
        state.actual_power,
        state.vacuum,
    )


def decode_vacuum_state(data: bytes) -> VacuumState:
    """Return the vacuum gripper's state in a datagram; the client's side."""
    if len(data) != _VACUUM_STATE.size:
        raise WireError(f"vacuum gripper state of {len(data)} bytes, not {_VACUUM_STATE.size}", field="size")
    message_id, *flags, status, power, vacuum = _VACUUM_STATE.unpack(data)
    for name, flag in zip(_VACUUM_FLAGS, flags, strict=True):
        if flag > 1:
            raise WireError(f"{name} is {flag}; must be 0 or 1", field=name)
    if status > 3:
        raise WireError(f"device_status is {status}; must be 0 to 3", field="device_status")
    return VacuumState(
        message_id=message_id,
        in_control_range=flags[0] == 1,
        part_detached=flags[1] == 1,
        part_present=flags[2] == 1,
        device_status=status,
        actual_power=power,
        vacuum=vacuum,
    )
