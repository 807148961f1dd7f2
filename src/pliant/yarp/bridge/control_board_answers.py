"""Answers of a control board to its clients: remote calls of both dialects, and commands of the stream.

The calls are those of `pliant.yarp.wire.board_calls`; here is how each quantity of theirs is read from a board and set,
and in which unit it is on the wire. There is no socket. The functions read and change the board, so they belong to the
loop's thread. A bridge calls them in one of two ways:

    reply = answer(board, request, 4)                                             # in the loop's thread, as in `tick`
    future = board.request("call", function=lambda b: answer(b, request, 4))      # from any other thread

| port | function to call |
|---|---|
| ``/rpc:i`` (dialect 3), ``/nws/rpc:i`` (dialect 4) | `answer`: a Bottle; bytes for the version of dialect 4 |
| ``/command:i`` | `command`, with the Bottle of either dialect |

On the wire, revolute axes are in degrees, prismatic ones in metres, temperatures in degrees Celsius, and gains and
stiffnesses are per degree; the board has SI and radians. Motors follow the axes in number and in order.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.base.errors import DeviceError, WireError
from pliant.base.numerics import DEGREE, Array
from pliant.control_boards import ControlBoardDevice, JoinedBoard
from pliant.control_boards.joined import Column, Columns
from pliant.control_boards.layout import MOTOR_CONSTANTS, QUANTITIES, REFERENCES, ControlMode, InteractionMode
from pliant.control_boards.modes import REQUESTED_MODES
from pliant.control_boards.state import Axes
from pliant.control_boards.variables import REMOTE_VARIABLES
from pliant.yarp.bridge.requests import words_of
from pliant.yarp.wire import board_calls, joints
from pliant.yarp.wire import control_board as v4
from pliant.yarp.wire import control_board_v3 as v3
from pliant.yarp.wire.binary import Dialect
from pliant.yarp.wire.board_calls import CALLS, Call
from pliant.yarp.wire.joints import StreamCommand
from pliant.yarp.wire.objects import Stamp, vector
from pliant.yarp.wire.records import PROTOCOL_VERSION, Fields, Pid
from pliant.yarp.wire.values import FAIL, IS, OK, Bottle, Vocab, number, text

Row = list[Any]
CELSIUS = 273.15

CONTROL_MODES = {mode: Vocab.of(joints.CONTROL_MODES[mode.name.lower()]) for mode in ControlMode}
"""Control mode of the board -> its vocabulary."""
INTERACTION_MODES = {InteractionMode.STIFF: Vocab.of("stif"), InteractionMode.COMPLIANT: Vocab.of("comp")}
"""Interaction mode of the board -> its vocabulary."""
_MODE_REQUESTS = {
    "control_mode": {
        **{joints.CONTROL_MODES[name]: name for name in REQUESTED_MODES if name in joints.CONTROL_MODES},
        "fidl": "force_idle",
    },
    "interaction_mode": {code.name: mode.name.lower() for mode, code in INTERACTION_MODES.items()},
}
"""Unit of a mode -> vocabulary that a client asks for -> the board's name of it."""
_LOOPS = {"pos": "position", "vel": "velocity", "trq": "torque", "cur": "current"}
_SLOTS: dict[Dialect, dict[str, str]] = {
    3: _LOOPS,
    4: {
        **{f"{key}1": loop for key, loop in _LOOPS.items()},
        "pod1": "position",
        "mix1": "position",
        "ved1": "velocity",
    },
}
"""Slot of a controller in each dialect -> controller of the board."""


# -- units -----------------------------------------------------------------------------------------------------------
@functools.cache
def _scale_of(slides: tuple[bool, ...]) -> Array:
    scale = np.where(slides, 1.0, 1.0 / DEGREE)
    scale.flags.writeable = False
    return scale


def user_scale(board: JoinedBoard | ControlBoardDevice) -> Array:
    """Return the factor of each axis from SI to the wire's angles and lengths, shape (axes,): 180/pi, or 1."""
    return _scale_of(tuple(board.slides))


def _scales(board: JoinedBoard | ControlBoardDevice, axes: Axes) -> Array:
    scale = user_scale(board)
    if axes is None:
        return scale
    chosen = [axes] if isinstance(axes, int) else list(axes)
    for a in chosen:
        if not 0 <= a < len(scale):
            raise DeviceError(f"{board.name}: the axis is {a}; must be 0 to {len(scale) - 1}", field="axes")
    return scale[chosen]


def _unit_of(quantity: str, loop: str) -> str:
    """Return the unit of a quantity; that of a controller's error is the unit of what it controls."""
    unit = board_calls.QUANTITIES[quantity].unit
    if unit == "loop_error":
        return "angle" if loop in ("position", "velocity") else ""
    return unit


def _to_wire(unit: str, column: Column, board: JoinedBoard, axes: Axes) -> Row:
    """Return a column of a quantity in the units of the wire."""
    if unit == "control_mode":
        return [CONTROL_MODES[ControlMode(int(mode))] for mode in column]
    if unit == "interaction_mode":
        return [INTERACTION_MODES[InteractionMode(int(mode))] for mode in column]
    if unit == "angle":
        column = np.asarray(column, dtype=float) * _scales(board, axes)
    elif unit == "per_angle":
        column = np.asarray(column, dtype=float) / _scales(board, axes)
    elif unit == "celsius":
        column = np.asarray(column, dtype=float) - CELSIUS
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _to_si(unit: str, values: Sequence[Any], board: JoinedBoard, axes: Axes) -> Column:
    """Return what clients sent for a column of a quantity, in the board's units."""
    if unit in _MODE_REQUESTS:
        names = _MODE_REQUESTS[unit]
        unknown = next((mode for mode in values if mode.name not in names), None)
        if unknown is not None:
            what = unit.replace("_", " ")
            raise DeviceError(f"{board.name}: the {what} [{unknown.name}] cannot be requested", field="mode")
        return [names[mode.name] for mode in values]
    if values and isinstance(values[0], Pid):
        return _checked_pids(board, axes, values)
    if unit == "celsius":
        return np.asarray(values, dtype=float) + CELSIUS
    if unit in ("angle", "per_angle"):
        scales = _scales(board, axes)
        if len(values) != len(scales):
            raise DeviceError(f"{board.name}: {len(values)} values for {len(scales)} axes", field="values")
        array = np.asarray(values, dtype=float)
        return array / scales if unit == "angle" else array * scales
    return values


def _checked_pids(board: JoinedBoard, axes: Axes, pids: Sequence[Pid]) -> Sequence[Pid]:
    """Return gains of axes, all of which are finite; or raise before the first is taken."""
    count = len(_scales(board, axes))
    if len(pids) != count:
        raise DeviceError(f"{board.name}: {len(pids)} controllers for {count} axes", field="pids")
    for pid in pids:
        if not np.isfinite(dataclasses.astuple(pid)).all() or min(pid.max_int, pid.max_output) < 0.0:
            raise DeviceError(f"{board.name}: controllers must have finite gains, and limits >= 0: {pid}", field="pids")
    return pids


# -- quantities: how a board gives and takes them, one column per field, in SI ---------------------------------------
Board = ControlBoardDevice
Chosen = Sequence[int] | None
_SAME_GAINS = ("max_output", "offset", "scale", "stiction_up", "stiction_down", "kff")


def _each(read: Callable[..., object]) -> Callable[..., Columns]:
    """Return a reader of one value per axis."""
    return lambda board, axes, *loop: [[read(board, a, *loop) for a in board.select(axes).tolist()]]


def _fields(read: Callable[[Board, int], Sequence[object]]) -> Callable[..., Columns]:
    """Return a reader of several fields an axis."""
    return lambda board, axes: list(zip(*[read(board, a) for a in board.select(axes).tolist()], strict=True))


def _put(write: Callable[..., None]) -> Callable[..., None]:
    """Return a writer of one axis after the other."""

    def put(board: Board, axes: Axes, *columns: Column) -> None:
        for a, *values in zip(board.select(axes).tolist(), *columns, strict=True):
            write(board, a, *values)

    return put


def _range(quantity: str) -> Callable[..., Columns]:
    def read(board: Board, axes: Axes) -> Columns:
        most = board.read_row(quantity, axes)
        return [-most, most]

    return read


def _timed(quantity: str) -> Callable[..., Columns]:
    def read(board: Board, axes: Axes) -> Columns:
        values = board.read_row(quantity, axes) * _scales(board, axes)
        return [values, [board.time] * len(values)]

    return read


def _speed_limits(board: Board, axes: Axes) -> Columns:
    most = board.read_row("max_speed", axes)
    return [np.zeros_like(most), most]


def _available_modes(board: Board, a: int) -> list[Vocab]:
    if board.is_fake(a):
        return [CONTROL_MODES[ControlMode.NOT_CONFIGURED]]
    modes = [code for mode, code in CONTROL_MODES.items() if mode <= ControlMode.PWM and board.can(a, mode)]
    return [*modes, Vocab.of("fidl")]


def _per_angle(board: Board, a: int, loop: str) -> float:
    return float(_scales(board, a)[0]) if loop in ("position", "velocity") else 1.0


def _pid(board: Board, a: int, loop: str) -> Pid:
    gains, scale = board.gains(loop, a), _per_angle(board, a, loop)
    return Pid(
        kp=gains["kp"] / scale,
        kd=gains["kd"] / scale,
        ki=gains["ki"] / scale,
        max_int=gains["max_integral"],
        **{name: gains[name] for name in _SAME_GAINS},
    )


def _set_pid(board: Board, a: int, pid: Pid, loop: str) -> None:
    scale = _per_angle(board, a, loop)
    gains = {name: getattr(pid, name) for name in _SAME_GAINS}
    scaled = {name: getattr(pid, name) * scale for name in ("kp", "kd", "ki")}
    board.set_gains(loop, [a], **scaled, max_integral=pid.max_int, **gains)


def _set_motor_parameters(board: Board, a: int, parameters: Sequence[float]) -> None:
    """Keep the parameters of a motor's torque model; older clients send the first four or eight of nine."""
    if len(parameters) in (4, 8):
        parameters = (*parameters, *board.motor_parameters(a)[len(parameters) :])
    board.set_motor_parameters(a, parameters)


_READ: dict[str, Callable[..., Columns]] = {
    **{name: lambda board, axes, name=name: [board.read_row(name, axes)] for name in QUANTITIES},
    "limits": lambda board, axes: [board.read_row("low", axes), board.read_row("high", axes)],
    "speed_limits": _speed_limits,
    "torque_range": _range("max_torque"),
    "current_range": _range("max_current"),
    "timed_position": _timed("position"),
    "timed_motor_position": _timed("motor_position"),
    "supply_voltage": lambda board, axes: [board.supply_voltage(axes)],
    "axis_name": _each(lambda board, a: board.axes[a]),
    "joint_type": _each(lambda board, a: Vocab.of("atpr" if board.slides[a] else "atrv")),
    "available_modes": _each(_available_modes),
    "available_loops": _each(lambda board, a: [Vocab.of(f"{key}1") for key in _LOOPS]),
    "impedance": _fields(lambda board, a: board.impedance(a)),
    "impedance_limits": _fields(lambda board, a: board.impedance_limits(a)),
    "last_fault": _fields(lambda board, a: board.last_fault(a)),
    "motor_parameters": _each(lambda board, a: board.motor_parameters(a)),
    "braked": _each(lambda board, a: board.brake(a)[0]),
    "automatic_brake": _each(lambda board, a: board.brake(a)[1]),
    "amplifier_status": _each(lambda board, a: 0),
    **{
        f"loop.{row}": lambda board, axes, loop, row=row: [board.controller(row, loop, axes)]
        for row in ("error", "error_limit", "output", "offset", "feedforward")
    },
    "loop.enabled": lambda board, axes, loop: [board.controller("enabled", loop, axes) > 0.5],
    "loop.reference": lambda board, axes, loop: [board.controller_reference(loop, axes)],
    "loop.pid": _each(_pid),
    # Texts: of the controller, its input and its output, and the units of ten gains. What is not known is empty.
    "loop.info": _each(lambda board, a, loop: Bottle(("",) * 13, layout="tagged")),
}
"""Quantity -> how a board gives it."""

_WRITE: dict[str, Callable[..., None]] = {
    **{kind: lambda board, axes, values, kind=kind: board.refer(kind, values, axes) for kind in REFERENCES},
    **{
        name: _put(lambda board, a, value, name=name: board.set_motor(name, a, float(value)))
        for name in MOTOR_CONSTANTS
    },
    "relative": lambda board, axes, values: board.move_relative(values, axes),
    "speed": lambda board, axes, values: board.set_speed(values, axes),
    "acceleration_limit": lambda board, axes, values: board.set_acceleration(values, axes),
    "encoder": lambda board, axes, values: board.set_encoder(values, axes),
    "encoder_count": lambda board, axes, values: board.set_encoder(values, axes),
    "motor_encoder": lambda board, axes, values: board.set_motor_encoder(values, axes),
    "limits": _put(lambda board, a, low, high: board.set_position_limits(a, low, high)),
    "speed_limits": _put(lambda board, a, low, high: board.set_speed_limit(a, high)),
    "impedance": _put(lambda board, a, stiffness, damping: board.set_impedance(a, stiffness, damping)),
    "torque_offset": _put(lambda board, a, offset: board.set_torque_offset(a, offset)),
    "control_mode": lambda board, axes, modes: board.set_control_mode(modes, axes),
    "interaction_mode": lambda board, axes, modes: board.set_interaction_mode(modes, axes),
    "motor_parameters": _put(_set_motor_parameters),
    "manual_brake": _put(lambda board, a, on: board.set_brake(a, on)),
    "automatic_brake": _put(lambda board, a, on: board.set_brake(a, on, automatic=True)),
    **{
        f"loop.{row}": lambda board, axes, values, loop, row=row: board.set_controller(row, loop, values, axes)
        for row in ("error_limit", "offset", "feedforward")
    },
    "loop.reference": lambda board, axes, values, loop: board.set_controller_reference(loop, values, axes),
    "loop.pid": lambda board, axes, pids, loop: _put(functools.partial(_set_pid, loop=loop))(board, axes, pids),
}
"""Quantity -> how a board takes it."""

_DO: dict[str, Callable[..., None]] = {
    "stop": lambda board, axes: board.stop(axes),
    "home": lambda board, axes: board.home(axes),
    "calibrate": lambda board, axes: board.calibrate(axes),
    "reset_encoder": lambda board, axes: board.reset_encoder(axes),
    "reset_motor_encoder": lambda board, axes: board.reset_motor_encoder(axes),
    "enable_amplifier": _put(lambda board, a: board.enable_amplifier(a)),
    "disable_amplifier": _put(lambda board, a: board.enable_amplifier(a, on=False)),
    "loop.enable": lambda board, axes, loop: board.set_controller("enabled", loop, 1.0, axes),
    "loop.disable": lambda board, axes, loop: board.set_controller("enabled", loop, 0.0, axes),
    "loop.reset": lambda board, axes, loop: board.reset_controller(axes),
}
"""Action -> how a board carries it out."""

_WHOLE: dict[str, Callable[[JoinedBoard, Chosen], object]] = {
    "axes": lambda board, axes: len(board.axes),
    "motors": lambda board, axes: len(board.axes),
    "motion_done": lambda board, axes: all(done > 0.5 for done in _columns(board, "motion_done", axes)[0]),
    "calibrator": lambda board, axes: True,
    "interfaces": lambda board, axes: dict.fromkeys(v4.INTERFACES, True),
    # One list with all names: the client of YARP 4.0 has room for one, and copies as many as there are.
    "variables": lambda board, axes: [Bottle(tuple(REMOTE_VARIABLES))],
}
"""Quantity of a whole part -> its value."""


def _columns(board: JoinedBoard, quantity: str, axes: Chosen, *loop: str) -> list[Row]:
    """Return a quantity of axes, one list per field, in the units of the wire."""
    unit = _unit_of(quantity, *loop or ("",))
    if unit in _MODE_REQUESTS and axes is not None and len(axes) > 1:  # a group may name an axis twice here
        return [[_columns(board, quantity, [a])[0][0] for a in axes]]
    read = _READ[quantity]
    columns = board.gather(axes, lambda one, own: read(one, own, *loop))
    found = [_to_wire(unit, column, board, axes) for column in columns]
    return found or [[] for _ in board_calls.QUANTITIES[quantity].fields[4]]


def _set(board: JoinedBoard, quantity: str, axes: Chosen, columns: Sequence[Sequence[Any]], *loop: str) -> None:
    """Set a quantity of axes from one list per field, in the units of the wire."""
    unit = _unit_of(quantity, *loop or ("",))
    write = _WRITE[quantity]
    taken = [_to_si(unit, values, board, axes) for values in columns]
    board.give(axes, taken, quantity, lambda one, own, *values: write(one, own, *values, *loop))


# -- remote variables --------------------------------------------------------------------------------------------------
def _variable_scale(board: JoinedBoard, key: str) -> Array:
    """Return the factor of each axis from SI to the wire's unit of a remote variable, shape (axes,)."""
    variable = REMOTE_VARIABLES.get(key)
    return user_scale(board) ** (0 if variable is None else variable.angle)


def _variable(board: JoinedBoard, key: str) -> Bottle:
    """Return the value of a remote variable: a list that holds one list of a number for each axis."""
    columns = board.gather(None, lambda one, own: [_own(one.remote_variable(key), own)])
    return Bottle((vector(np.asarray(columns[0], dtype=float) * _variable_scale(board, key)),))


def _own(values: Array, axes: Axes) -> Array:
    return values if axes is None else values[axes]


def _set_variable(board: JoinedBoard, key: str, value: Bottle) -> None:
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

    def write(one: Board, own: Axes, values: Sequence[float]) -> None:
        whole = np.array(values)
        if own is not None:  # axes of the board that the part does not show keep theirs
            whole = one.remote_variable(key)
            whole[own] = values
        one.set_remote_variable(key, whole.tolist())

    board.give(None, [numbers / _variable_scale(board, key)], key, write)


# -- calls -------------------------------------------------------------------------------------------------------------
def _carry_out(board: JoinedBoard, call: Call, dialect: Dialect, arguments: Fields) -> Sequence[object]:
    """Read, set or do what a call asks for, and return its results."""
    loop, given = (), list(arguments)
    if call.axes == "key":
        return (_variable(board, *given),) if call.verb == "get" else _set_variable(board, *given) or ()
    if call.slotted:
        loop = (_loop(given.pop(0), dialect),)
    axes = _axes(board, call, dialect, given)
    kind = board_calls.QUANTITIES.get(call.quantity)
    if call.verb == "do" or kind is None:
        board.give(axes, (), call.quantity, lambda one, own: _DO[call.quantity](one, own, *loop))
        return ()
    one, bundled = call.axes == "one", kind.bundled and dialect == 3
    if call.verb == "set":
        if one:
            given = [[value] for value in (_bundle(given[0], call, len(kind.fields[4])) if bundled else given)]
        _set(board, call.quantity, axes, given, *loop)
        return ()
    if kind.whole:
        return (_WHOLE[call.quantity](board, axes),)
    columns = _columns(board, call.quantity, axes, *loop)
    results = [column[0] for column in columns] if one else columns
    return (results,) if bundled else results


def _axes(board: JoinedBoard, call: Call, dialect: Dialect, given: Row) -> list[int] | None:
    """Take the axes of a call from its arguments: None for all."""
    if call.axes == "one":
        return [given.pop(0)]
    if call.axes == "all":
        return None
    count = given.pop(0) if dialect == 3 else None
    joints = list(given.pop(0))
    if count is not None and count != len(joints):
        raise DeviceError(f"{board.name}: {len(joints)} axes where {count} are named", field="axes")
    return joints


def _bundle(values: Sequence[float], call: Call, count: int) -> Sequence[float]:
    """Return the fields that dialect 3 has in one list."""
    if len(values) != count:
        raise DeviceError(f"{call.quantity} has {len(values)} numbers; must be {count}", field=call.quantity)
    return values


def _loop(slot: Vocab, dialect: Dialect) -> str:
    loop = _SLOTS[dialect].get(slot.name)
    if loop is None:
        raise DeviceError(f"there is no controller in the slot [{slot.name}]", field="pidtype")
    return loop


def answer(
    board: JoinedBoard,
    request: Bottle,
    dialect: Dialect,
    count: int = 0,
    refused: Callable[[str], None] = lambda why: None,
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


def _answer_4(board: JoinedBoard, request: Bottle, refused: Callable[[str], None]) -> Bottle | bytes:
    if request.items[:1] in (("help",), (Vocab.of("help"),)):
        return v4.encode_help()
    try:
        name, arguments = v4.decode_request(request)
    except WireError as error:
        refused(error.message)
        return v4.REFUSED
    call = CALLS[4].get(name)
    if call is None:
        return PROTOCOL_VERSION
    try:
        return v4.encode_reply(name, *_carry_out(board, call, 4, arguments))
    except DeviceError as error:
        refused(error.message)
        empty = [result.empty for result in call.method.results]
        return v4.encode_reply(name, *empty, status="err7" if error.field == "axes" else "err5")


def _answer_3(board: JoinedBoard, request: Bottle, count: int, refused: Callable[[str], None]) -> Bottle:
    words = words_of(request.items, 2)
    if words[:1] == ["help"]:
        return v3.encode_help()
    known = words[:1] in (["get"], ["set"])
    try:
        if words == ["get", "prot"]:
            return v3.PROTOCOL_VERSION
        if words[1:] == ["ivar"] and known:
            return _answer_variable(board, request)
        if words == ["get", "don"] and len(request) == 2:
            request = Bottle((*request.items, 0))  # typed without a joint: that of axis 0
        name, arguments = v3.decode_request(request)
        results = _carry_out(board, CALLS[3][name], 3, arguments)
        return v3.encode_reply(request, *results, stamp=Stamp(count, board.time))
    except WireError as error:
        refused(error.message)
        return v3.FAILED if known else v3.NOT_UNDERSTOOD
    except DeviceError as error:
        refused(error.message)
        return v3.FAILED


def _answer_variable(board: JoinedBoard, request: Bottle) -> Bottle:
    """Return the reply to ``[get] [ivar] ...`` and ``[set] [ivar] [mvar] key values...``."""
    verb, what = (text(request[k]) if k < len(request) else "" for k in (0, 2))
    if verb == "get" and what == "lvar":
        return Bottle((IS, request[1], Bottle((*REMOTE_VARIABLES,)), OK))
    if what != "mvar" or len(request) < 4:
        return Bottle((FAIL,))
    key = text(request[3])
    if verb == "get":
        return Bottle((IS, request[1], _variable(board, key), OK))
    _set_variable(board, key, Bottle(request.items[4:]))
    return Bottle((OK,))


# -- the stream of commands --------------------------------------------------------------------------------------------
_STREAMED = {"position_move": "position", "pid_offset": "loop.offset", "pid_feedforward": "loop.feedforward"}
"""Quantity of a streamed command -> that of a call, where the names differ."""


def command(board: JoinedBoard, message: Bottle) -> None:
    """Carry out a message of ``/command:i``, of either dialect.

    Args:
        board: the board; this is called in the loop's thread.
        message: head and vector.

    Raises:
        PliantError: the message is wrong (`WireError`), or the board does not take it now (`DeviceError`). Stock boards
            drop such a message without a word; a bridge counts it.
    """
    found = StreamCommand.decode(message, len(board.axes))
    loop = () if found.slot is None else (_loop(found.slot, 4),)
    _set(board, _STREAMED.get(found.quantity, found.quantity), found.joints, [found.values], *loop)
