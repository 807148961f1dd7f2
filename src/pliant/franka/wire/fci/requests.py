"""Requests to the robot: their types, their command numbers by version, their bytes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from pliant.base.errors import WireError, nearest
from pliant.franka.wire.fci.frames import VERSIONS, FieldCodec, Frame, check_version, encode_frame

__all__ = [
    "COMMANDS",
    "UNLIMITED_DEVIATION",
    "AutomaticErrorRecovery",
    "Connect",
    "Controller",
    "GetCartesianLimit",
    "GetRobotModel",
    "LoadModelLibrary",
    "MotionGenerator",
    "Move",
    "Request",
    "SetCartesianImpedance",
    "SetCollisionBehavior",
    "SetEEToK",
    "SetFilters",
    "SetGuidingMode",
    "SetJointImpedance",
    "SetLoad",
    "SetNEToEE",
    "StopMove",
    "command_number",
    "decode_request",
    "encode_request",
    "knows_generator",
]


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


UNLIMITED_DEVIATION = (10.0, 3.12, 6.283185307179586)
"""Allowed deviation of a motion that every client sends, which switches the check off: [m], [rad], elbow [rad]."""


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
    maximum_path_deviation: tuple[float, ...] = UNLIMITED_DEVIATION
    """Translation [m], rotation [rad], elbow [rad]."""
    maximum_goal_deviation: tuple[float, ...] = UNLIMITED_DEVIATION
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
    """Read a virtual wall (versions 4 and 5)."""

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
    """Set the cut-off frequencies of the command filters [Hz] (versions 4 and 5)."""

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
    """Fetch the shared library of the robot's model (versions 4 to 9)."""

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
"""Type of each request, in the order of the command numbers -> struct codes of its fields, as `FieldCodec` takes."""


def _commands_of(version: int) -> tuple[type, ...]:
    absent: set[type] = set()
    if version >= 6:
        absent |= {GetCartesianLimit, SetFilters}
    if version >= 10:
        absent.add(LoadModelLibrary)
    if version < 8:
        absent.add(GetRobotModel)
    return tuple(c for c in _CODES if c not in absent)


COMMANDS = {v: _commands_of(v) for v in VERSIONS}
"""Version -> type of each request, in the order of the command numbers."""
_NUMBERS = {v: {c.__name__: n for n, c in enumerate(COMMANDS[v])} for v in VERSIONS}


def knows_generator(version: int | None, generator: int) -> bool:
    """Return whether a version has a motion generator: `MotionGenerator.NONE` came with version 7."""
    return generator != MotionGenerator.NONE or (version is not None and version >= 7)


def _codec(version: int, kind: type) -> FieldCodec[Any]:
    codes = _CODES[kind]
    return FieldCodec(kind, codes[:4] if kind is Move and version < 10 else codes)


_CODECS = {(v, c): _codec(v, c) for v in VERSIONS for c in COMMANDS[v]}


def command_number(version: int, command: str) -> int:
    """Return the number of a command in a version, such as ``command_number(5, "SetLoad") == 10``."""
    check_version(version)
    try:
        return _NUMBERS[version][command]
    except KeyError:
        raise WireError(
            f"version {version} has no command {command!r}: {nearest(command, _NUMBERS[version])}",
            field="command",
        ) from None


def encode_request(request: Request, *, version: int, command_id: int) -> bytes:
    """Return the frame of a request, header included.

    Raises:
        WireError: the version does not know the request, or a field does not fit.
    """
    number = command_number(version, type(request).__name__)
    return encode_frame("robot", number, command_id, _CODECS[version, type(request)].pack(request))


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
        return _CODECS[5, Connect].unpack(frame.payload)
    check_version(version)
    commands = COMMANDS[version]
    if not 0 <= frame.command < len(commands):
        raise WireError(
            f"command {frame.command} is not one of 0 to {len(commands) - 1} in version {version}",
            field="command",
        )
    return _CODECS[version, commands[frame.command]].unpack(frame.payload)
