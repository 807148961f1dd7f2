"""References of a board's axes, the trajectories to them, and the encoders that they are counted with."""

from __future__ import annotations

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.control_boards import layout as at
from pliant.control_boards.description import TRAJECTORIES
from pliant.control_boards.layout import REFERENCES, ControlMode
from pliant.control_boards.modes import hold, position_now, set_control_mode
from pliant.control_boards.state import Array, Axes, BoardState, Numbers
from pliant.devices.base import request


def take_references(board: BoardState, kind: str, chosen: np.ndarray, values: Array, *, strict: bool) -> None:
    """Take references; with ``strict`` refuse them where an axis is in another control mode."""
    table = board.axis_table
    modes = REFERENCES[kind][2]
    if strict:
        _check_modes(board, kind, chosen)
    taken = False
    for a, value in zip(chosen, values):
        if int(table[at.CONTROL_MODE, a]) not in modes:
            continue
        taken = True
        if kind == "position":
            _begin(board, int(a), float(value))
        elif kind == "position_direct":
            goal = min(max(value, table[at.LOW, a]), table[at.HIGH, a])
            table[at.POSITION_REFERENCE, a] = table[at.POSITION_TARGET, a] = goal
        elif kind in ("velocity", "velocity_direct"):
            most = table[at.MAX_SPEED, a]
            table[at.VELOCITY_TARGET, a] = min(max(value, -most), most)
            table[at.COMMAND_TIME, a] = board.now
        elif kind == "torque":
            table[at.TORQUE_REFERENCE, a] = value
        else:
            current = kind == "current"
            row, limit = (at.COMMANDED_CURRENT, at.MAX_CURRENT) if current else (at.COMMANDED_DUTY, at.MAX_DUTY)
            table[row, a] = min(max(value, -table[limit, a]), table[limit, a])
            table[at.TORQUE_REFERENCE, a] = table[row, a] * table[at.TORQUE_PER_DUTY, a]
    if not taken and not strict:
        board.count_stale(f"a {kind} reference came while none of its axes is in such a control mode")


def _check_modes(board: BoardState, kind: str, chosen: np.ndarray) -> None:
    modes = REFERENCES[kind][2]
    for a in chosen:
        now = int(board.axis_table[at.CONTROL_MODE, a])
        if now not in modes:
            raise DeviceError(
                f"{board.name}: a {kind} reference arrived for the axis {board.axes[a]!r} in mode "
                f"{ControlMode(now).name.lower()}; must be in mode {' or '.join([m.name.lower() for m in modes])}",
                field="mode",
            )


def _begin(board: BoardState, a: int, target: float) -> None:
    """Begin a trajectory."""
    table = board.axis_table
    if table[at.SPEED, a] <= 0.0 or table[at.SLOPE, a] <= 0.0:
        raise DeviceError(
            f"{board.name}: the trajectory speed of {board.axes[a]!r} is {table[at.SPEED, a]:g}; must be > 0",
            field="speed",
        )
    goal = min(max(target, table[at.LOW, a]), table[at.HIGH, a])
    speed = table[at.GENERATED_SPEED, a] if table[at.MOVING, a] else 0.0
    board.plan(table, a, goal, speed, board.step_s)


@request
def refer(board: BoardState, kind: str, values: Numbers, axes: Axes = None) -> None:
    """Give references of a kind of `REFERENCES` to axes, all of which must be in a control mode that takes them.

    Torques, currents and duty cycles are exceptions: they are taken in every mode, and have no effect in others.

    Raises:
        DeviceError: an unknown kind, an axis in another mode, or numbers that are not finite.
    """
    if kind not in REFERENCES:
        raise DeviceError(f"{board.name}: the reference is {kind!r}; {nearest(kind, REFERENCES)}", field="kind")
    chosen = board.select(axes, works=True)
    array = board.values_of(values, len(chosen), kind)
    board.count_command()
    take_references(board, kind, chosen, array, strict=kind not in ("torque", "current", "pwm"))


@request
def move(board: BoardState, targets: Numbers, axes: Axes = None) -> None:
    """Begin trajectories to targets [rad or m], which are brought inside the limits."""
    refer(board, "position", targets, axes)


@request
def move_relative(board: BoardState, deltas: Numbers, axes: Axes = None) -> None:
    """Begin trajectories to targets relative to the measured positions [rad or m]."""
    chosen = board.select(axes, works=True)
    array = board.values_of(deltas, len(chosen), "deltas")
    refer(board, "position", board.axis_table[at.POSITION, chosen] + array, chosen.tolist())


@request
def stop(board: BoardState, axes: Axes = None) -> None:
    """Stop axes: the target becomes the present position, the speed 0."""
    table = board.axis_table
    for a in board.select(axes, works=True):
        mode = int(table[at.CONTROL_MODE, a])
        if mode in (ControlMode.POSITION, ControlMode.POSITION_DIRECT, ControlMode.MIXED):
            hold(board, int(a), position_now(board, int(a)))
        elif mode in at.WATCHED:
            table[at.VELOCITY_TARGET, a] = table[at.RAMP, a] = 0.0


@request
def motion_done(board: BoardState, axes: Axes = None) -> bool:
    """Return whether no trajectory of these axes is under way."""
    return bool((board.read_row("motion_done", axes) > 0.5).all())


@request
def home(board: BoardState, axes: Axes = None) -> None:
    """Move axes to their initial positions."""
    chosen = board.select(axes, works=True).tolist()
    set_control_mode(board, "position", chosen)
    start = board.per_axis(board.description.initial_positions, 0.0)
    refer(board, "position", start[chosen] - board.axis_table[at.ZERO, chosen], chosen)


@request
def set_speed(board: BoardState, values: Numbers, axes: Axes = None) -> None:
    """Set the speed of trajectories [rad/s or m/s], at most the speed limit."""
    board.set_row(at.SPEED, values, axes, "speed", above=0.0)
    _limit_speeds(board)


def _limit_speeds(board: BoardState) -> None:
    speeds = board.axis_table[at.SPEED]
    np.minimum(speeds, board.axis_table[at.MAX_SPEED], out=speeds)


@request
def set_acceleration(board: BoardState, values: Numbers, axes: Axes = None) -> None:
    """Set the acceleration of trajectories and of the ramps of speed [rad/s^2 or m/s^2]."""
    board.set_row(at.SLOPE, values, axes, "acceleration", above=0.0)


@request
def set_trajectory(board: BoardState, kind: str, axes: Axes = None) -> None:
    """Choose how axes move to their targets: minimum_jerk, constant_speed, trapezoidal_speed."""
    if kind not in TRAJECTORIES:
        raise DeviceError(f"{board.name}: the trajectory is {kind!r}; {nearest(kind, TRAJECTORIES)}", field="kind")
    if not motion_done(board, axes):
        raise DeviceError(f"{board.name}: the trajectory cannot change while an axis moves", field="kind")
    board.axis_table[at.KIND, board.select(axes)] = float(TRAJECTORIES.index(kind))


@request
def set_position_limits(board: BoardState, axis: int, low: float, high: float) -> None:
    """Set the limits of an axis [rad or m]."""
    chosen = board.select(axis)
    low, high = board.values_of([low, high], 2, "limits")
    if low > high:
        raise DeviceError(f"{board.name}: the limits are {low:g} to {high:g}; must be in order", field="limits")
    board.axis_table[at.LOW, chosen], board.axis_table[at.HIGH, chosen] = low, high


@request
def set_speed_limit(board: BoardState, axis: int, high: float) -> None:
    """Set the largest speed of an axis [rad/s or m/s]."""
    board.set_row(at.MAX_SPEED, high, axis, "speed limit", above=0.0)
    _limit_speeds(board)


@request
def set_encoder(board: BoardState, values: Numbers, axes: Axes = None) -> None:
    """Let the encoders of axes read these positions [rad or m] now; the axes do not move."""
    table = board.axis_table
    chosen = board.select(axes, works=True)
    array = board.values_of(values, len(chosen), "encoder")
    for a, value in zip(chosen, array):  # positions count from another zero; what the axis does stays the same
        by = table[at.POSITION, a] - value
        table[at.ZERO, a] += by
        table[at.POSITION_ROWS, a] -= by


@request
def reset_encoder(board: BoardState, axes: Axes = None) -> None:
    """Let the encoders of axes read 0 now."""
    set_encoder(board, 0.0, axes)


@request
def set_motor_encoder(board: BoardState, values: Numbers, motors: Axes = None) -> None:
    """Let the encoders of motors read these positions [rad or m] now."""
    chosen = board.select(motors, works=True)
    array = board.values_of(values, len(chosen), "motor encoder")
    board.axis_table[at.MOTOR_ZERO, chosen] += board.axis_table[at.MOTOR_POSITION, chosen] - array
    board.axis_table[at.MOTOR_POSITION, chosen] = array


@request
def reset_motor_encoder(board: BoardState, motors: Axes = None) -> None:
    """Let the encoders of motors read 0 now."""
    set_motor_encoder(board, 0.0, motors)


@request
def calibrate(board: BoardState, axes: Axes = None) -> None:
    """Calibrate axes: a simulated encoder knows its zero, so this only checks that the axes exist."""
    board.select(axes)
