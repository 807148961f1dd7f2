"""What a control board answers to its clients: remote calls of both dialects, commands of the stream, state.

Everything here turns messages into calls of `ControlBoardDevice` and back; there is no socket. The functions read and
change the board, so they belong to the loop's thread. A bridge calls them in one of two ways:

    reply = answer(board, request, 4)                                             # in the loop's thread, as in `tick`
    future = board.request("call", function=lambda b: answer(b, request, 4))      # from any other thread

| port | what to call |
|---|---|
| ``/rpc:i`` (dialect 3), ``/nws/rpc:i`` (dialect 4) | `answer`: a Bottle; bytes for the version of dialect 4 |
| ``/command:i`` | `command`, with the Bottle of either dialect |
| ``/stateExt:o`` | `StateEncoder`, once a board and dialect: bytes from a sample |
| ``/state:o`` | `positions`: the vector of positions from a sample |

On the wire, revolute axes are in degrees, prismatic ones in metres, temperatures in degrees Celsius, and gains and
stiffnesses are per degree; the board has SI and radians. Motors follow the axes in number and in order.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import DeviceError, WireError
from pliant.yarp.control_board.device import REFERENCES, REMOTE_VARIABLES, ControlBoardDevice
from pliant.yarp.control_board.joined import JoinedBoard
from pliant.yarp.control_board.layout import ControlMode, InteractionMode
from pliant.yarp.wire import control_board as v4
from pliant.yarp.wire import control_board_v3 as v3
from pliant.yarp.wire.binary import Dialect, encode_bottle
from pliant.yarp.wire.joints import JointState, StreamCommand
from pliant.yarp.wire.objects import Stamp, vector
from pliant.yarp.wire.records import Pid
from pliant.yarp.wire.values import FAIL, IS, OK, Bottle, Vocab, bottle, number, text

__all__ = ["CONTROL_MODES", "StateEncoder", "answer", "command", "joint_state", "positions", "user_scale"]

Board = ControlBoardDevice | JoinedBoard
Array = NDArray[np.float64]
Axes = Sequence[int] | None
DEGREE = math.pi / 180.0
CELSIUS = 273.15
YARP_VERSION = (4, 0, 0)
"""What clients of dialect 4 are told; they compare the protocol number in front of it only."""

CONTROL_MODES: dict[ControlMode, Vocab] = {
    ControlMode.IDLE: Vocab.of("idl"),
    ControlMode.POSITION: Vocab.of("pos"),
    ControlMode.POSITION_DIRECT: Vocab.of("posd"),
    ControlMode.VELOCITY: Vocab.of("vel"),
    ControlMode.VELOCITY_DIRECT: Vocab.of("veld"),
    ControlMode.MIXED: Vocab.of("mix"),
    ControlMode.TORQUE: Vocab.of("torq"),
    ControlMode.CURRENT: Vocab.of("icur"),
    ControlMode.PWM: Vocab.of("ipwm"),
    ControlMode.HARDWARE_FAULT: Vocab.of("hwfa"),
    ControlMode.CALIBRATING: Vocab.of("cal"),
    ControlMode.CALIBRATION_DONE: Vocab.of("cald"),
    ControlMode.NOT_CONFIGURED: Vocab.of("cfgn"),
    ControlMode.CONFIGURED: Vocab.of("cfgy"),
}
"""Control mode of the board -> its vocabulary."""
_REQUESTED = {
    **{
        code.name: mode.name.lower()
        for mode, code in CONTROL_MODES.items()
        if mode <= ControlMode.PWM and mode != ControlMode.IDLE
    },
    "idl": "idle",
    "fidl": "force_idle",
}
"""Vocabulary of a mode that a client asks for -> the board's name of it."""
_INTERACTION = {InteractionMode.STIFF: Vocab.of("stif"), InteractionMode.COMPLIANT: Vocab.of("comp")}
_INTERACTION_NAMES = {"stif": "stiff", "comp": "compliant"}
_LOOPS = {"pos": "position", "vel": "velocity", "trq": "torque", "cur": "current"}
_SLOTS = {
    **{f"{key}1": loop for key, loop in _LOOPS.items()},
    "pod1": "position",
    "mix1": "position",
    "ved1": "velocity",
}
"""Slot of a controller in dialect 4 -> controller of the board."""
_REVOLUTE, _PRISMATIC = Vocab.of("atrv"), Vocab.of("atpr")


def user_scale(board: Board) -> Array:
    """Return what an angle or length of each axis is multiplied by for the wire, shape (axes,): 180/pi, or 1."""
    return np.where(board.slides, 1.0, 1.0 / DEGREE)


# -- quantities of axes: name -> how the board reads and takes them -------------------------------------------------
_SCALED = frozenset(
    {
        "position", "velocity", "acceleration", "motor_position", "motor_velocity", "motor_acceleration",
        "position_reference", "position_target", "velocity_reference", "velocity_target", "speed",
        "acceleration_limit", "low", "high", "max_speed",
    }
)  # fmt: skip
"""Quantities that are in degrees, or degrees a second, on the wire where the axis is revolute."""


def _chosen(board: Board, axes: Axes) -> list[int]:
    return list(range(len(board.axes))) if axes is None else list(axes)


def _scales(board: Board, axes: Axes) -> Array:
    scale = user_scale(board)
    for a in _chosen(board, axes):
        if not 0 <= a < len(scale):
            raise DeviceError(f"{board.name}: the axis is {a}; must be 0 to {len(scale) - 1}", field="axes")
    return scale[_chosen(board, axes)]


def _read(quantity: str, board: Board, axes: Axes) -> list[float]:
    """Return a quantity of axes in the units of the wire."""
    values = board.read_row(quantity, axes)
    if quantity in _SCALED:
        values = values * _scales(board, axes)
    elif quantity == "temperature":
        values = values - CELSIUS
    return values.tolist()


def _motor(what: str, board: Board, axes: Axes) -> list[float]:
    values = board.motor(what, axes)
    return (values - CELSIUS if what == "temperature_limit" else values).tolist()


def _set_motor(what: str, board: Board, axes: Axes, values: Sequence[float]) -> None:
    for a, value in zip(_chosen(board, axes), values, strict=True):
        board.set_motor(what, a, value + CELSIUS if what == "temperature_limit" else value)


def _to_si(board: Board, axes: Axes, values: Sequence[float]) -> Array:
    scales = _scales(board, axes)
    if len(values) != len(scales):
        raise DeviceError(f"{board.name}: {len(values)} values for {len(scales)} axes", field="values")
    return np.asarray(values, dtype=float) / scales


def _refer(kind: str, board: Board, axes: Axes, values: Sequence[float]) -> None:
    si = _to_si(board, axes, values) if "{" in REFERENCES[kind][0] else np.asarray(values, dtype=float)
    board.refer(kind, si, axes)


def _set_with(method: str, board: Board, axes: Axes, values: Sequence[float]) -> None:
    getattr(board, method)(_to_si(board, axes, values), axes)


_GET: dict[str, Callable[[Board, Axes], list[float]]] = {
    **{
        name: functools.partial(_read, name)
        for name in _SCALED
    },
    **{
        name: functools.partial(_read, name)
        for name in (
            "torque", "torque_reference", "current", "current_reference", "duty_cycle", "duty_reference", "temperature",
        )
    },
    **{
        name: functools.partial(_motor, name)
        for name in (
            "max_current", "nominal_current", "peak_current", "max_duty", "temperature_limit", "counts_per_revolution",
            "gear_ratio",
        )
    },
    "supply_voltage": lambda board, axes: board.supply_voltage(axes).tolist(),
}  # fmt: skip
"""Quantity -> its values for axes, in the units of the wire."""

_SET: dict[str, Callable[[Board, Axes, Sequence[float]], None]] = {
    **{kind: functools.partial(_refer, kind) for kind in REFERENCES},
    "relative": functools.partial(_set_with, "move_relative"),
    "speed": functools.partial(_set_with, "set_speed"),
    "acceleration": functools.partial(_set_with, "set_acceleration"),
    "encoder": functools.partial(_set_with, "set_encoder"),
    "motor_encoder": functools.partial(_set_with, "set_motor_encoder"),
    **{
        name: functools.partial(_set_motor, name)
        for name in (
            "max_current", "nominal_current", "peak_current", "max_duty", "temperature_limit", "counts_per_revolution",
            "gear_ratio",
        )
    },
}  # fmt: skip
"""Quantity -> how axes take it, in the units of the wire."""


# -- the rest: functions of the board and the arguments of a call, in the units of the wire ---------------------------
def _axis(board: Board, j: int) -> int:
    board.read_row("position", j)
    return j


def _name(board: Board, j: int) -> str:
    return board.axes[_axis(board, j)]


def _type(board: Board, j: int) -> Vocab:
    return _PRISMATIC if board.slides[_axis(board, j)] else _REVOLUTE


def _modes(board: Board, axes: Axes) -> list[Vocab]:
    return [CONTROL_MODES[board.mode_of(a)] for a in _chosen(board, axes)]


def _set_modes(board: Board, axes: Axes, modes: Sequence[Vocab]) -> None:
    unknown = next((m for m in modes if m.name not in _REQUESTED), None)
    if unknown is not None:
        raise DeviceError(f"{board.name}: the control mode [{unknown.name}] cannot be requested", field="mode")
    board.set_control_mode([_REQUESTED[m.name] for m in modes], axes)


def _interactions(board: Board, axes: Axes) -> list[Vocab]:
    return [_INTERACTION[board.interaction_of(a)] for a in _chosen(board, axes)]


def _set_interactions(board: Board, axes: Axes, modes: Sequence[Vocab]) -> None:
    unknown = next((m for m in modes if m.name not in _INTERACTION_NAMES), None)
    if unknown is not None:
        raise DeviceError(f"{board.name}: there is no interaction mode [{unknown.name}]", field="mode")
    board.set_interaction_mode([_INTERACTION_NAMES[m.name] for m in modes], axes)


def _impedance(board: Board, j: int) -> tuple[float, float]:
    stiffness, damping = board.impedance(j)
    (scale,) = _scales(board, [j])
    return stiffness / scale, damping / scale


def _set_impedance(board: Board, j: int, stiffness: float, damping: float) -> None:
    (scale,) = _scales(board, [j])
    board.set_impedance(j, stiffness * scale, damping * scale)


def _impedance_limits(board: Board, j: int) -> tuple[float, ...]:
    (scale,) = _scales(board, [j])
    return tuple(value / scale for value in board.impedance_limits(j))


def _limits(board: Board, j: int) -> tuple[float, float]:
    return _read("low", board, [j])[0], _read("high", board, [j])[0]


def _set_limits(board: Board, j: int, low: float, high: float) -> None:
    (scale,) = _scales(board, [j])
    board.set_position_limits(j, low / scale, high / scale)


def _speed_limits(board: Board, j: int) -> tuple[float, float]:
    return 0.0, _read("max_speed", board, [j])[0]


def _set_speed_limits(board: Board, j: int, low: float, high: float) -> None:
    (scale,) = _scales(board, [j])
    board.set_speed_limit(j, high / scale)


def _torque_ranges(board: Board, axes: Axes) -> tuple[list[float], list[float]]:
    most = board.read_row("max_torque", axes)
    return (-most).tolist(), most.tolist()


def _current_ranges(board: Board, axes: Axes) -> tuple[list[float], list[float]]:
    most = board.motor("max_current", axes)
    return (-most).tolist(), most.tolist()


# -- controllers -------------------------------------------------------------------------------------------------------
def _per_angle(board: Board, loop: str, axes: Axes) -> Array:
    """Return the scale of a controller's error on the wire."""
    return _scales(board, axes) if loop in ("position", "velocity") else np.ones(len(_chosen(board, axes)))


def _pid(board: Board, loop: str, j: int) -> Pid:
    gains = board.gains(loop, j)
    (scale,) = _per_angle(board, loop, [j])
    return Pid(
        kp=gains["kp"] / scale,
        kd=gains["kd"] / scale,
        ki=gains["ki"] / scale,
        max_int=gains["max_integral"],
        **{k: gains[k] for k in ("max_output", "offset", "scale", "stiction_up", "stiction_down", "kff")},
    )


def _set_pid(board: Board, loop: str, j: int, pid: Pid) -> None:
    (scale,) = _per_angle(board, loop, [j])
    board.set_gains(
        loop,
        [j],
        kp=pid.kp * scale,
        kd=pid.kd * scale,
        ki=pid.ki * scale,
        max_integral=pid.max_int,
        **{k: getattr(pid, k) for k in ("max_output", "offset", "scale", "stiction_up", "stiction_down", "kff")},
    )


def _set_pids(board: Board, loop: str, pids: Sequence[Pid]) -> None:
    if len(pids) != len(board.axes):
        raise DeviceError(f"{board.name}: {len(pids)} controllers for {len(board.axes)} axes", field="pids")
    for j, pid in enumerate(pids):  # all of them before the first is taken
        if not np.isfinite(dataclasses.astuple(pid)).all() or min(pid.max_int, pid.max_output) < 0.0:
            raise DeviceError(
                f"{board.name}: the controller of axis {j} must have finite gains, and limits >= 0: {pid}"
            )
    for j, pid in enumerate(pids):
        _set_pid(board, loop, j, pid)


def _controller(row: str, board: Board, loop: str, axes: Axes) -> list[float]:
    scaled = row in ("error", "error_limit")
    return (board.controller(row, loop, axes) * (_per_angle(board, loop, axes) if scaled else 1.0)).tolist()


def _set_controller(row: str, board: Board, loop: str, axes: Axes, values: Sequence[float]) -> None:
    scales = _per_angle(board, loop, axes) if row == "error_limit" else 1.0
    if axes is None and len(values) != len(board.axes):
        raise DeviceError(f"{board.name}: {len(values)} values for {len(board.axes)} axes", field=row)
    board.set_controller(row, loop, np.asarray(values, dtype=float) / scales, axes)


def _controller_references(board: Board, loop: str, axes: Axes) -> list[float]:
    return (board.controller_reference(loop, axes) * _per_angle(board, loop, axes)).tolist()


def _set_controller_references(board: Board, loop: str, axes: Axes, values: Sequence[float]) -> None:
    scales = _per_angle(board, loop, axes)
    if len(values) != len(scales):
        raise DeviceError(f"{board.name}: {len(values)} references for {len(scales)} axes", field="references")
    board.set_controller_reference(loop, np.asarray(values, dtype=float) / scales, axes)


# -- remote variables --------------------------------------------------------------------------------------------------
_VARIABLE_POWER = {
    "hardwareVelocityLimit": 1,
    "hardwareHiStop": 1,
    "hardwareLowStop": 1,
    "yarp_jntMaxVel": 1,
    "yarp_jntMaxPos": 1,
    "yarp_jntMinPos": 1,
    "SHORTCUT_all_pos_kp": -1,
    "SHORTCUT_all_pos_kd": -1,
    "SHORTCUT_all_pos_ki": -1,
    "stiffness": -1,
    "stiffness_preset": 1,
    "equilibrium": 1,
}


def _variable(board: Board, key: str) -> Bottle:
    """Return the value of a remote variable: a list that holds one list of a number for each axis."""
    values = board.remote_variable(key) * user_scale(board) ** _VARIABLE_POWER.get(key, 0)
    return Bottle((vector(values),))


def _set_variable(board: Board, key: str, value: Bottle) -> None:
    items = value.items
    if len(items) == 1 and isinstance(items[0], Bottle):
        items = items[0].items
    try:
        numbers = np.array([number(item) for item in items])
    except WireError as error:
        raise DeviceError(f"{board.name}: {key} must be a list of numbers: {error.message}", field=key) from None
    if len(numbers) != len(board.axes):
        raise DeviceError(
            f"{board.name}: {key} has {len(numbers)} numbers; must be {len(board.axes)}, one for each axis", field=key
        )
    board.set_remote_variable(key, (numbers / user_scale(board) ** _VARIABLE_POWER.get(key, 0)).tolist())


# -- dialect 4 ---------------------------------------------------------------------------------------------------------
Method = Callable[..., Any]
_METHODS_4: dict[str, Method] = {}


def _one_get(quantity: str) -> Method:
    return lambda board, j: (_GET[quantity](board, [j])[0],)


def _all_get(quantity: str) -> Method:
    return lambda board: (_GET[quantity](board, None),)


def _group_get(quantity: str) -> Method:
    return lambda board, joints: (_GET[quantity](board, joints),)


def _one_set(quantity: str) -> Method:
    return lambda board, j, value: _SET[quantity](board, [j], [value])


def _all_set(quantity: str) -> Method:
    return lambda board, values: _SET[quantity](board, None, values)


def _group_set(quantity: str) -> Method:
    return lambda board, joints, values: _SET[quantity](board, joints, values)


for _quantity, _names in {
    "position": ("getEncoderOneRPC", "getEncoderAllRPC", ""),
    "velocity": ("getEncoderSpeedOneRPC", "getEncoderSpeedAllRPC", ""),
    "acceleration": ("getEncoderAccelerationOneRPC", "getEncoderAccelerationAllRPC", ""),
    "motor_position": ("getMotorEncoderOneRPC", "getMotorEncoderAllRPC", ""),
    "motor_velocity": ("getMotorEncoderSpeedOneRPC", "getMotorEncoderSpeedAllRPC", ""),
    "motor_acceleration": ("getMotorEncoderAccelerationOneRPC", "getMotorEncoderAccelerationAllRPC", ""),
    "counts_per_revolution": ("getMotorEncoderCountsPerRevolutionRPC", "", ""),
    "current_reference": ("getRefCurrentOneRPC", "getRefCurrentAllRPC", ""),
    "current": ("getCurrentOneRPC", "getCurrentAllRPC", ""),
    "duty_reference": ("getRefDutyCycleOneRPC", "getRefDutyCycleAllRPC", ""),
    "duty_cycle": ("getDutyCycleOneRPC", "getDutyCycleAllRPC", ""),
    "torque_reference": ("getRefTorqueOneRPC", "getRefTorqueAllRPC", "getRefTorqueGroupRPC"),
    "position_reference": ("getRefPositionOneRPC", "getRefPositionAllRPC", "getRefPositionGroupRPC"),
    "position_target": ("getTargetPositionOneRPC", "getTargetPositionAllRPC", "getTargetPositionGroupRPC"),
    "velocity_target": ("getTargetVelocityOneRPC", "getTargetVelocityAllRPC", "getTargetVelocityGroupRPC"),
    "velocity_reference": ("getRefVelocityOneRPC", "getRefVelocityAllRPC", "getRefVelocityGroupRPC"),
    "speed": ("getTrajSpeedOneRPC", "getTrajSpeedsAllRPC", "getTrajSpeedsGroupRPC"),
    "acceleration_limit": (
        "getTrajAccelerationOneRPC",
        "getTrajAccelerationAllRPC",
        "getTrajAccelerationGroupRPC",
    ),
    "temperature": ("getTemperatureOneRPC", "getTemperatureAllRPC", ""),
    "temperature_limit": ("getTemperatureLimitRPC", "", ""),
    "gear_ratio": ("getGearboxRatioRPC", "", ""),
    "max_current": ("getMaxCurrentRPC", "", ""),
    "nominal_current": ("getNominalCurrentRPC", "", ""),
    "peak_current": ("getPeakCurrentRPC", "", ""),
    "max_duty": ("getPWMLimitRPC", "", ""),
    "supply_voltage": ("getPowerSupplyVoltageRPC", "", ""),
}.items():
    for _method, _make in zip(_names, (_one_get, _all_get, _group_get), strict=True):
        if _method:
            _METHODS_4[_method] = _make(_quantity)

for _quantity, _names in {
    "encoder": ("", "setEncoderAllRPC", ""),
    "motor_encoder": ("setMotorEncoderRPC", "setMotorEncodersAllRPC", ""),
    "counts_per_revolution": ("setMotorEncoderCountsPerRevolutionRPC", "", ""),
    "current": ("setRefCurrentOneRPC", "setRefCurrentAllRPC", "setRefCurrentGroupRPC"),
    "pwm": ("setRefDutyCycleOneRPC", "setRefDutyCycleAllRPC", "setRefDutyCycleGroupRPC"),
    "torque": ("setRefTorqueOneRPC", "setRefTorqueAllRPC", "setRefTorqueGroupRPC"),
    "position_direct": ("setRefPositionOneRPC", "setRefPositionAllRPC", "setRefPositionGroupRPC"),
    "position": ("positionMoveOneRPC", "positionMoveAllRPC", "positionMoveGroupRPC"),
    "relative": ("relativeMoveOneRPC", "relativeMoveAllRPC", "relativeMoveGroupRPC"),
    "velocity": ("velocityMoveOneRPC", "velocityMoveAllRPC", "velocityMoveGroupRPC"),
    "velocity_direct": ("setRefVelocityOneRPC", "setRefVelocityAllRPC", "setRefVelocityGroupRPC"),
    "speed": ("setTrajSpeedOneRPC", "setTrajSpeedAllRPC", "setTrajSpeedGroupRPC"),
    "acceleration": (
        "setTrajAccelerationOneRPC",
        "setTrajAccelerationsAllRPC",
        "setTrajAccelerationsGroupRPC",
    ),
    "temperature_limit": ("setTemperatureLimitRPC", "", ""),
    "gear_ratio": ("setGearboxRatioRPC", "", ""),
    "max_current": ("setMaxCurrentRPC", "", ""),
    "nominal_current": ("setNominalCurrentRPC", "", ""),
    "peak_current": ("setPeakCurrentRPC", "", ""),
    "max_duty": ("setPWMLimitRPC", "", ""),
}.items():
    for _method, _make in zip(_names, (_one_set, _all_set, _group_set), strict=True):
        if _method:
            _METHODS_4[_method] = _make(_quantity)


def _interfaces(board: Board) -> tuple[dict[str, bool]]:
    return (dict.fromkeys(v4.INTERFACES, True),)


def _available_modes(board: Board, j: int) -> tuple[list[Vocab]]:
    if board.is_fake(j):
        return ([CONTROL_MODES[ControlMode.NOT_CONFIGURED]],)
    modes = [code for mode, code in CONTROL_MODES.items() if mode <= ControlMode.PWM and board.can(j, mode)]
    return ([*modes, Vocab.of("fidl")],)


def _slot(slot: Vocab) -> str:
    loop = _SLOTS.get(slot.name)
    if loop is None:
        raise DeviceError(f"there is no controller in the slot [{slot.name}]", field="pidtype")
    return loop


def _slotted(function: Method) -> Method:
    """Return a method that takes a slot of dialect 4 in place of the name of a controller."""
    return lambda board, slot, *rest: function(board, _slot(slot), *rest)


_METHODS_4 |= {
    "getDeviceInterfacesRPC": _interfaces,
    "getAvailableControlModesRPC": _available_modes,
    "getImpedanceRPC": _impedance,
    "setImpedanceRPC": _set_impedance,
    "setImpedanceOffsetRPC": lambda board, j, offset: board.set_torque_offset(j, offset),
    "getImpedanceOffsetRPC": lambda board, j: (float(board.read_row("torque_offset", j)[0]),),
    "getCurrentImpedanceLimitRPC": _impedance_limits,
    "getLastJointFaultRPC": lambda board, j: board.last_fault(j),
    "getRemoteVariableRPC": lambda board, key: (_variable(board, key),),
    "setRemoteVariableRPC": _set_variable,
    "getRemoteVariablesListRPC": lambda board: ([Bottle((key,)) for key in REMOTE_VARIABLES],),
    "getInteractionModeOneRPC": lambda board, j: (_interactions(board, [j])[0],),
    "getInteractionModesGroupRPC": lambda board, joints: (_interactions(board, joints),),
    "getInteractionModesAllRPC": lambda board: (_interactions(board, None),),
    "setInteractionModeOneRPC": lambda board, j, mode: _set_interactions(board, [j], [mode]),
    "setInteractionModesGroupRPC": _set_interactions,
    "setInteractionModesAllRPC": lambda board, modes: _set_interactions(board, None, modes),
    "getCurrentRangeOneRPC": lambda board, j: tuple(values[0] for values in _current_ranges(board, [j])),
    "getCurrentRangeAllRPC": lambda board: _current_ranges(board, None),
    "resetEncoderOneRPC": lambda board, j: board.reset_encoder([j]),
    "resetEncoderAllRPC": lambda board: board.reset_encoder(),
    "setEncoderOneRPC": lambda board, j, value: _SET["encoder"](board, [j], [float(value)]),
    "getEncoderTimedOneRPC": lambda board, j: (_read("position", board, [j])[0], board.time),
    "getEncoderTimedAllRPC": lambda board: (_read("position", board, None), [board.time] * len(board.axes)),
    "resetMotorEncoderRPC": lambda board, j: board.reset_motor_encoder([j]),
    "resetMotorEncodersRPC": lambda board: board.reset_motor_encoder(),
    "getMotorEncoderTimedOneRPC": lambda board, j: (_read("motor_position", board, [j])[0], board.time),
    "getMotorEncodersTimedAllRPC": lambda board: (
        _read("motor_position", board, None),
        [board.time] * len(board.axes),
    ),
    "getNumberOfMotorEncodersRPC": lambda board: (len(board.axes),),
    "isCalibratorDevicePresentRPC": lambda board: (True,),
    "calibrateSingleJointRPC": lambda board, j: board.calibrate([j]),
    "calibrateWholePartRPC": lambda board: board.calibrate(),
    "homingSingleJointRPC": lambda board, j: board.home([j]),
    "homingWholePartRPC": lambda board: board.home(),
    "parkSingleJointRPC": lambda board, j, wait: board.home([j]),
    "parkWholePartRPC": lambda board: board.home(),
    "quitCalibrateRPC": lambda board: board.calibrate(),
    "quitParkRPC": lambda board: board.stop(),
    "setManualBrakeActiveRPC": lambda board, j, active: board.set_brake(j, active),
    "setAutoBrakeEnabledRPC": lambda board, j, enabled: board.set_brake(j, enabled, automatic=True),
    "isJointBrakedRPC": lambda board, j: (board.brake(j)[0],),
    "getAutoBrakeEnabledRPC": lambda board, j: (board.brake(j)[1],),
    "getAxesRPC": lambda board: (len(board.axes),),
    "setControlModeOneRPC": lambda board, j, mode: _set_modes(board, [j], [mode]),
    "setControlModeAllRPC": lambda board, modes: _set_modes(board, None, modes),
    "setControlModeGroupRPC": _set_modes,
    "getAxisNameRPC": lambda board, j: (_name(board, j),),
    "getJointTypeRPC": lambda board, j: (_type(board, j),),
    "calibrateRobotRPC": lambda board: board.calibrate(),
    "abortCalibrationRPC": lambda board: board.calibrate(),
    "abortParkRPC": lambda board: board.stop(),
    "parkRPC": lambda board, wait: board.home(),
    "calibrateAxisWithParamsRPC": lambda board, j, *parameters: board.calibrate([j]),
    "setCalibrationParametersRPC": lambda board, j, *parameters: board.calibrate([j]),
    "calibrationDoneRPC": lambda board, j: board.calibrate([j]),
    "setPosLimitsRPC": _set_limits,
    "setVelLimitsRPC": _set_speed_limits,
    "getPosLimitsRPC": _limits,
    "getVelLimitsRPC": _speed_limits,
    "getNumberOfMotorsRPC": lambda board: (len(board.axes),),
    "enablePidRPC": _slotted(lambda board, loop, j: board.set_controller("enabled", loop, [1.0], [j])),
    "disablePidRPC": _slotted(lambda board, loop, j: board.set_controller("enabled", loop, [0.0], [j])),
    "resetPidRPC": _slotted(lambda board, loop, j: board.reset_controller([j])),
    "setPidRPC": _slotted(_set_pid),
    "setPidsRPC": _slotted(_set_pids),
    "setPidOffsetOneRPC": _slotted(lambda board, loop, j, v: _set_controller("offset", board, loop, [j], [v])),
    "setPidFeedforwardOneRPC": _slotted(
        lambda board, loop, j, v: _set_controller("feedforward", board, loop, [j], [v])
    ),
    "setPidReferenceRPC": _slotted(lambda board, loop, j, v: _set_controller_references(board, loop, [j], [v])),
    "setPidReferencesRPC": _slotted(lambda board, loop, v: _set_controller_references(board, loop, None, v)),
    "setPidErrorLimitRPC": _slotted(lambda board, loop, j, v: _set_controller("error_limit", board, loop, [j], [v])),
    "setPidErrorLimitsRPC": _slotted(lambda board, loop, v: _set_controller("error_limit", board, loop, None, v)),
    "getAvailablePidsRPC": lambda board, j: ([Vocab.of(f"{key}1") for key in _LOOPS] if _axis(board, j) >= 0 else [],),
    "isPidEnabledRPC": _slotted(lambda board, loop, j: (board.controller("enabled", loop, [j])[0] > 0.5,)),
    "getPidErrorRPC": _slotted(lambda board, loop, j: (_controller("error", board, loop, [j])[0],)),
    "getPidErrorsRPC": _slotted(lambda board, loop: (_controller("error", board, loop, None),)),
    "getPidReferenceRPC": _slotted(lambda board, loop, j: (_controller_references(board, loop, [j])[0],)),
    "getPidReferencesRPC": _slotted(lambda board, loop: (_controller_references(board, loop, None),)),
    "getPidErrorLimitRPC": _slotted(lambda board, loop, j: (_controller("error_limit", board, loop, [j])[0],)),
    "getPidErrorLimitsRPC": _slotted(lambda board, loop: (_controller("error_limit", board, loop, None),)),
    "getPidOutputRPC": _slotted(lambda board, loop, j: (_controller("output", board, loop, [j])[0],)),
    "getPidOutputsRPC": _slotted(lambda board, loop: (_controller("output", board, loop, None),)),
    "getPidRPC": _slotted(lambda board, loop, j: (_pid(board, loop, j),)),
    "getPidsRPC": _slotted(lambda board, loop: ([_pid(board, loop, j) for j in range(len(board.axes))],)),
    "getPidExtraInfoRPC": _slotted(lambda board, loop, j: (_pid_info(board, j),)),
    "getPidExtraInfosRPC": _slotted(lambda board, loop: ([_pid_info(board, j) for j in range(len(board.axes))],)),
    "getPidOffsetRPC": _slotted(lambda board, loop, j: (_controller("offset", board, loop, [j])[0],)),
    "getPidFeedforwardRPC": _slotted(lambda board, loop, j: (_controller("feedforward", board, loop, [j])[0],)),
    "stopOneRPC": lambda board, j: board.stop([j]),
    "stopGroupRPC": lambda board, joints: board.stop(joints),
    "stopAllRPC": lambda board: board.stop(),
    "checkMotionDoneOneRPC": lambda board, j: (board.motion_done([j]),),
    "checkMotionDoneGroupRPC": lambda board, joints: (board.motion_done(joints),),
    "checkMotionDoneAllRPC": lambda board: (board.motion_done(),),
    "getTorqueRangeOneRPC": lambda board, j: tuple(values[0] for values in _torque_ranges(board, [j])),
    "getTorqueRangeAllRPC": lambda board: _torque_ranges(board, None),
    "setMotorTorqueParamsRPC": lambda board, j, parameters: board.set_motor_parameters(j, parameters),
    "getMotorTorqueParamsRPC": lambda board, j: (board.motor_parameters(j),),
    "enableAmpRPC": lambda board, j: board.enable_amplifier(j),
    "disableAmpRPC": lambda board, j: board.enable_amplifier(j, on=False),
    "getAmpStatusAllRPC": lambda board: ([0] * len(board.axes),),
    "getAmpStatusOneRPC": lambda board, j: (0 * _axis(board, j),),
    "getPWMRPC": lambda board, m: (_read("duty_cycle", board, [m])[0],),
}


def _pid_info(board: Board, j: int) -> Bottle:
    """Return the units of a controller's feedback and output: metric and torque."""
    _axis(board, j)
    return bottle(0, 4)  # assumed: codes of metric feedback and of a torque; never recorded


_EMPTY = {
    "f64": 0.0, "i32": 0, "i16": 0, "str": "", "bool": False, "vocab": Vocab(0), "bottle": Bottle(), "pid": Pid(),
    "flags": {},
}  # fmt: skip


def _empty(type_: str) -> Any:
    """Return what stands for a result that could not be had."""
    if type_.endswith("[]"):
        return ()
    name, _, repeat = type_.partition("*")
    return (_EMPTY[name],) * int(repeat) if repeat else _EMPTY[name]


def _status(error: DeviceError) -> str:
    """Return the return value of dialect 4 for what a board refused."""
    return "err7" if error.field == "axes" else "err5"


def answer(
    board: Board, request: Bottle, dialect: Dialect, count: int = 0, refused: Callable[[str], None] = lambda why: None
) -> Bottle | bytes:
    """Return the reply of a board to a remote call; it never raises for what a client sends.

    Args:
        board: the board; this is called in the loop's thread.
        request: the call.
        dialect: of the port that it came to: 3 (``/rpc:i``) or 4 (``/nws/rpc:i``).
        count: running number of the reply, for the stamps of dialect 3.
        refused: called with the reason if the call is refused, because the reply does not tell it.

    Returns:
        The reply; bytes that are sent as they are for ``getRemoteProtocolVersion`` of dialect 4, which is no Bottle.
    """
    if dialect == 3:
        return _answer_3(board, request, count, refused)
    return _answer_4(board, request, refused)


def _answer_4(board: Board, request: Bottle, refused: Callable[[str], None]) -> Bottle | bytes:
    first = request.items[:1]
    if first in (("help",), (Vocab.of("help"),)):
        return v4.encode_help()
    try:
        name, arguments = v4.decode_request(request)
    except WireError as error:
        refused(error.message)
        return v4.REFUSED
    if name not in _METHODS_4:
        return v4.encode_protocol_version(0, *YARP_VERSION)
    try:
        results = _METHODS_4[name](board, *arguments)
        return v4.encode_reply(name, *(results if results is not None else ()))
    except DeviceError as error:
        refused(error.message)
        empty = [_empty(result.type) for result in v4.METHODS[name].results]
        return v4.encode_reply(name, *empty, status=_status(error))


# -- dialect 3 ---------------------------------------------------------------------------------------------------------
def _loop_3(kind: Vocab) -> str:
    loop = _LOOPS.get(kind.name)
    if loop is None:
        raise DeviceError(f"there is no controller [{kind.name}]", field="pidtype")
    return loop


def _looped(function: Method) -> Method:
    return lambda board, kind, *rest: function(board, _loop_3(kind), *rest)


def _members(board: Board, n: int, joints: Sequence[int]) -> Sequence[int]:
    if n != len(joints):
        raise DeviceError(f"{board.name}: {len(joints)} axes where {n} are named", field="axes")
    return joints


def _one_of(values: Sequence[float], what: str) -> float:
    if len(values) != 1:
        raise DeviceError(f"{what} has {len(values)} numbers; must be 1", field=what)
    return values[0]


def _pair(values: Sequence[float], what: str) -> tuple[float, float]:
    if len(values) != 2:
        raise DeviceError(f"{what} has {len(values)} numbers; must be 2", field=what)
    return values[0], values[1]


def _set_motor_parameters(board: Board, j: int, parameters: Sequence[float]) -> None:
    """Keep the parameters of a motor's torque model; older clients send the first four of nine."""
    known = board.motor_parameters(j)
    board.set_motor_parameters(j, (*parameters, *known[4:]) if len(parameters) == 4 else parameters)


_METHODS_3: dict[str, Method] = {}
for _words, _quantity in {
    "pos": "position_target", "vel": "speed", "acc": "acceleration_limit", "dpo": "position_reference",
    "vmo": "velocity_target", "enc": "position", "esp": "velocity", "eac": "acceleration", "mnc": "motor_position",
    "msp": "motor_velocity", "mac": "motor_acceleration", "mcpr": "counts_per_revolution", "maxc": "max_current",
    "acpk": "peak_current", "acno": "nominal_current", "pwml": "max_duty", "acu": "current", "pwm": "duty_cycle",
    "avsu": "supply_voltage", "tmp": "temperature", "tmpl": "temperature_limit", "gbxr": "gear_ratio",
    "torq trq": "torque", "torq ref": "torque_reference", "ipwm ref": "duty_reference", "ipwm pwm": "duty_cycle",
    "icur ref": "current_reference",
}.items():  # fmt: skip
    for _end, _make in (("", _one_get), ("s", _all_get)):
        if f"get {_words}{_end}" in v3.METHODS:
            _METHODS_3[f"get {_words}{_end}"] = _make(_quantity)
    if f"get {_words}g" in v3.METHODS:
        _METHODS_3[f"get {_words}g"] = lambda board, n, joints, q=_quantity: (
            _GET[q](board, _members(board, n, joints)),
        )
for _words, _quantity in {
    "pos": "position", "rel": "relative", "vel": "speed", "acc": "acceleration", "vmo": "velocity", "enc": "encoder",
    "mnc": "motor_encoder", "mcpr": "counts_per_revolution", "maxc": "max_current", "acpk": "peak_current",
    "acno": "nominal_current", "pwml": "max_duty", "tmpl": "temperature_limit", "gbxr": "gear_ratio",
    "torq ref": "torque",
}.items():  # fmt: skip
    for _end, _make in (("", _one_set), ("s", _all_set)):
        if f"set {_words}{_end}" in v3.METHODS:
            _METHODS_3[f"set {_words}{_end}"] = _make(_quantity)
    if f"set {_words}g" in v3.METHODS:
        _METHODS_3[f"set {_words}g"] = lambda board, n, joints, values, q=_quantity: _SET[q](
            board, _members(board, n, joints), values
        )

for _words, _row in {"err": "error", "out": "output", "lim": "error_limit"}.items():
    _METHODS_3[f"get pid {_words}"] = _looped(lambda board, loop, j, row=_row: (_controller(row, board, loop, [j])[0],))
    _METHODS_3[f"get pid {_words}s"] = _looped(lambda board, loop, row=_row: (_controller(row, board, loop, None),))

_METHODS_3 |= {
    "get axes": lambda board: (len(board.axes),),
    "set sto": lambda board, j: board.stop([j]),
    "set stos": lambda board: board.stop(),
    "set stog": lambda board, n, joints: board.stop(_members(board, n, joints)),
    "get don": lambda board, j: (int(board.motion_done([j])),),
    "get dons": lambda board: (int(board.motion_done()),),
    "get dong": lambda board, n, joints: (int(board.motion_done(_members(board, n, joints))),),
    "set ere": lambda board, j: board.reset_encoder([j]),
    "set eres": lambda board: board.reset_encoder(),
    "set mre": lambda board, m: board.reset_motor_encoder([m]),
    "set mres": lambda board: board.reset_motor_encoder(),
    "get mnum": lambda board: (len(board.axes),),
    "get mtnm": lambda board: (len(board.axes),),
    "set llim": _set_limits,
    "get llim": _limits,
    "set vlim": _set_speed_limits,
    "get vlim": _speed_limits,
    "set aen": lambda board, j: board.enable_amplifier(j),
    "set adi": lambda board, j: board.enable_amplifier(j, on=False),
    "get asta": lambda board: ([0] * len(board.axes),),
    "get asts": lambda board, j: (0 * _axis(board, j),),
    "get name": lambda board, j: (_name(board, j),),
    "get type": lambda board, j: (_type(board, j),),
    "set torq mtps": _set_motor_parameters,
    "get torq mtps": lambda board, j: (board.motor_parameters(j),),
    "get torq rng": lambda board, j: tuple(values[0] for values in _torque_ranges(board, [j])),
    "get torq rngs": lambda board: _torque_ranges(board, None),
    "set iimp ipr": lambda board, j, gains: _set_impedance(board, j, *_pair(gains, "impedance")),
    "get iimp ipr": lambda board, j: (_impedance(board, j),),
    "set iimp iof": lambda board, j, offset: board.set_torque_offset(j, _one_of(offset, "offset")),
    "get iimp iof": lambda board, j: (board.read_row("torque_offset", j).tolist(),),
    "get iimp llim": lambda board, j: (_impedance_limits(board, j),),
    "set icmd cmod": lambda board, j, mode: _set_modes(board, [j], [mode]),
    "set icmd cmog": lambda board, n, joints, modes: _set_modes(board, _members(board, n, joints), modes),
    "set icmd cmds": lambda board, modes: _set_modes(board, None, modes),
    "get icmd cmod": lambda board, j: (_modes(board, [j])[0],),
    "get icmd cmog": lambda board, n, joints: (_modes(board, _members(board, n, joints)),),
    "get icmd cmds": lambda board: (_modes(board, None),),
    "set intm mode": lambda board, j, mode: _set_interactions(board, [j], [mode]),
    "set intm modg": lambda board, n, joints, modes: _set_interactions(board, _members(board, n, joints), modes),
    "set intm mods": lambda board, modes: _set_interactions(board, None, modes),
    "get intm mode": lambda board, j: (_interactions(board, [j])[0],),
    "get intm modg": lambda board, n, joints: (_interactions(board, _members(board, n, joints)),),
    "get intm mods": lambda board: (_interactions(board, None),),
    "set pid pid": _looped(_set_pid),
    "set pid pids": _looped(_set_pids),
    "set pid ref": _looped(lambda board, loop, j, v: _set_controller_references(board, loop, [j], [v])),
    "set pid refs": _looped(lambda board, loop, v: _set_controller_references(board, loop, None, v)),
    "set pid lim": _looped(lambda board, loop, j, v: _set_controller("error_limit", board, loop, [j], [v])),
    "set pid lims": _looped(lambda board, loop, v: _set_controller("error_limit", board, loop, None, v)),
    "set pid off": _looped(lambda board, loop, j, v: _set_controller("offset", board, loop, [j], [v])),
    "set pid res": _looped(lambda board, loop, j: board.reset_controller([j])),
    "set pid ena": _looped(lambda board, loop, j: board.set_controller("enabled", loop, [1.0], [j])),
    "set pid dis": _looped(lambda board, loop, j: board.set_controller("enabled", loop, [0.0], [j])),
    "get pid pid": _looped(lambda board, loop, j: (_pid(board, loop, j),)),
    "get pid pids": _looped(lambda board, loop: ([_pid(board, loop, j) for j in range(len(board.axes))],)),
    "get pid ref": _looped(lambda board, loop, j: (_controller_references(board, loop, [j])[0],)),
    "get pid refs": _looped(lambda board, loop: (_controller_references(board, loop, None),)),
    "get pid ena": _looped(lambda board, loop, j: (int(board.controller("enabled", loop, [j])[0] > 0.5),)),
    "get icur rng": lambda board, j: tuple(values[0] for values in _current_ranges(board, [j])),
    "get icur rngs": lambda board: _current_ranges(board, None),
    "set reca cal": lambda board, j: board.calibrate([j]),
    "set reca cals": lambda board: board.calibrate(),
    "set reca hom": lambda board, j: board.home([j]),
    "set reca homs": lambda board: board.home(),
    "set reca par": lambda board, j: board.home([j]),
    "set reca pars": lambda board: board.home(),
    "set reca quca": lambda board: board.calibrate(),
    "set reca qupa": lambda board: board.stop(),
    "get reca isca": lambda board: (1,),
    "get ijfl jhfl": lambda board, j: board.last_fault(j),
    "calj": lambda board, j, *parameters: board.calibrate([j]),
    "cljp": lambda board, j, *parameters: board.calibrate([j]),
    "cal": lambda board: board.calibrate(),
    "cald": lambda board, j: board.calibrate([j]),
    "park": lambda board, wait: board.home(),
}
_IVAR, _MVAR, _LVAR = Vocab.of("ivar"), Vocab.of("mvar"), Vocab.of("lvar")


def _answer_3(board: Board, request: Bottle, count: int, refused: Callable[[str], None]) -> Bottle:
    words = [text(item) for item in request.items[:2] if isinstance(item, Vocab | str)]
    known = words[:1] in (["get"], ["set"])
    try:
        if words == ["get", "prot"]:
            return v3.PROTOCOL_VERSION
        if words[1:] == ["ivar"] and known:
            return _answer_variable(board, request)
        if words == ["get", "don"] and len(request) == 2:
            request = Bottle((*request.items, 0))  # typed without a joint: that of axis 0
        name, arguments = v3.decode_request(request)
        results = _METHODS_3[name](board, *arguments)
        return v3.encode_reply(request, *(results if results is not None else ()), stamp=Stamp(count, board.time))
    except WireError as error:
        refused(error.message)
        return v3.FAILED if known else v3.NOT_UNDERSTOOD
    except DeviceError as error:
        refused(error.message)
        return v3.FAILED


def _answer_variable(board: Board, request: Bottle) -> Bottle:
    """Return the reply to ``[get] [ivar] ...`` and ``[set] [ivar] [mvar] key values...``."""
    verb, what = (text(request[k]) if k < len(request) else "" for k in (0, 2))
    if verb == "get" and what == "lvar":
        return Bottle((IS, request[1], Bottle(REMOTE_VARIABLES), OK))
    if what != "mvar" or len(request) < 4:
        return Bottle((FAIL,))
    key = text(request[3])
    if verb == "get":
        return Bottle((IS, request[1], _variable(board, key), OK))
    _set_variable(board, key, Bottle(request.items[4:]))
    return Bottle((OK,))


# -- streams -----------------------------------------------------------------------------------------------------------
_STREAMED = {
    "position_direct": "position_direct",
    "velocity": "velocity",
    "torque": "torque",
    "position_move": "position",
    "pwm": "pwm",
    "current": "current",
    "velocity_direct": "velocity_direct",
}


def command(board: Board, message: Bottle) -> None:
    """Carry out a message of ``/command:i``, of either dialect.

    Args:
        board: the board; this is called in the loop's thread.
        message: head and vector.

    Raises:
        PliantError: the message is wrong (`WireError`), or the board does not take it now (`DeviceError`). Stock boards
            drop such a message without a word; a bridge counts it.
    """
    found = StreamCommand.decode(message, len(board.axes))
    if found.quantity in _STREAMED:
        _refer(_STREAMED[found.quantity], board, found.joints, found.values)
        return
    slot = _slot(found.slot) if found.slot is not None else ""
    row = "offset" if found.quantity == "pid_offset" else "feedforward"
    _set_controller(row, board, slot, found.joints, found.values)


_STATE_FIELDS = (
    ("joint_position", "position"),
    ("joint_velocity", "velocity"),
    ("joint_acceleration", "acceleration"),
    ("motor_position", "motor_position"),
    ("motor_velocity", "motor_velocity"),
    ("motor_acceleration", "motor_acceleration"),
    ("torque", "torque"),
    ("pwm", "duty_cycle"),
    ("current", "current"),
    ("control_mode", "control_mode"),
    ("interaction_mode", "interaction_mode"),
    ("temperature", "temperature"),
)
"""Field of the stream -> field of a sample, in the order of the stream."""
_CODES = np.array([CONTROL_MODES[ControlMode(k)].code for k in range(len(CONTROL_MODES))], dtype="<i4")
_INTERACTION_CODES = np.array([_INTERACTION[InteractionMode(k)].code for k in range(2)], dtype="<i4")
Values = Mapping[str, Any]


def positions(values: Values, scale: Array) -> Bottle:
    """Return the vector of ``/state:o``.

    Args:
        values: of a sample of the board.
        scale: `user_scale` of the board.
    """
    return vector(np.asarray(values["position"]) * scale)


def joint_state(values: Values, scale: Array) -> JointState:
    """Return the state of ``/stateExt:o`` as a record; `StateEncoder` makes its bytes faster.

    Args:
        values: of a sample of the board.
        scale: `user_scale` of the board.
    """
    fields: dict[str, Any] = {}
    for name, field in _STATE_FIELDS:
        array = np.asarray(values[field])
        if field == "control_mode":
            fields[name] = tuple(Vocab(int(_CODES[int(k)])) for k in array)
        elif field == "interaction_mode":
            fields[name] = tuple(Vocab(int(_INTERACTION_CODES[int(k)])) for k in array)
        else:
            fields[name] = tuple(_on_wire(field, array, scale).tolist())
    return JointState(**fields)


def _on_wire(field: str, array: Array, scale: Array) -> Array:
    return array * scale if field in _SCALED else array - CELSIUS if field == "temperature" else array


class StateEncoder:
    """Makes the bytes of ``/stateExt:o`` from samples; one for each board and dialect.

    Args:
        scale: `user_scale` of the board.
        dialect: 3 or 4.
    """

    def __init__(self, scale: Array, dialect: Dialect) -> None:
        n = len(scale)
        self._scale = scale
        zeros, modes = (0.0,) * n, (Vocab(0),) * n
        blank = JointState(
            **{name: modes if name.endswith("_mode") else zeros for name, _ in _STATE_FIELDS}  # type: ignore[arg-type]
        )
        template = encode_bottle(blank.encode(dialect, n), dialect)
        at, names, formats, offsets = 8, [], [], []
        fields = _STATE_FIELDS if dialect == 4 else _STATE_FIELDS[:-1]
        for name, field in fields:
            single = dialect == 4 and name in ("pwm", "temperature")
            kind = "<i4" if name.endswith("_mode") else "<f4" if single else "<f8"
            names.append(field)
            formats.append((kind, (n,)))
            offsets.append(at + 8)
            at += 8 + n * np.dtype(kind).itemsize + 8
        layout = {"names": names, "formats": formats, "offsets": offsets, "itemsize": len(template)}
        self._message = np.frombuffer(bytearray(template), dtype=np.dtype(layout))  # type: ignore[call-overload]
        self._fields = [(field, self._message[field][0]) for _, field in fields]

    def encode(self, values: Values) -> bytes:
        """Return the bytes of a sample's values."""
        for field, place in self._fields:
            array = values[field]
            if field == "control_mode":
                place[:] = _CODES[array.astype(np.intp)]
            elif field == "interaction_mode":
                place[:] = _INTERACTION_CODES[array.astype(np.intp)]
            elif field in _SCALED:
                np.multiply(array, self._scale, out=place)
            elif field == "temperature":
                place[:] = array - CELSIUS
            else:
                place[:] = array
        return self._message.tobytes()
