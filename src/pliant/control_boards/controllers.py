"""Controllers of a board's axes, and the constants of its motors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.control_boards import layout as at
from pliant.control_boards.layout import ControlMode, Loop, loop_row
from pliant.control_boards.modes import forget, hold
from pliant.control_boards.references import take_references
from pliant.control_boards.state import Array, Axes, BoardState, Numbers
from pliant.devices.base import request

_REFERENCE_KINDS = {"position": "position_direct", "velocity": "velocity", "torque": "torque", "current": "current"}
_MOTOR_PARAMETERS = slice(at.MOTOR_PARAMETERS, at.MOTOR_PARAMETERS + at.PARAMETER_COUNT)


@request
def set_gains(board: BoardState, loop: str, axes: Axes = None, **gains: float) -> None:
    """Set parameters of a controller: kp, kd, ki, max_integral, max_output, offset and so on, in SI.

    Raises:
        DeviceError: an unknown controller or parameter, a limit that is negative, or a number that is not finite.
    """
    first, chosen = loop_row(loop), board.select(axes)
    for name, value in gains.items():
        if name not in at.GAIN_NAMES:
            raise DeviceError(f"{board.name}: no gain {name!r}; {nearest(name, at.GAIN_NAMES)}", field=name)
        board.values_of([value], 1, name)
        if name.startswith("max_") and value < 0.0:
            raise DeviceError(f"{board.name}: {name} is {value:g}; must be >= 0", field=name)
    for name, value in gains.items():
        board.axis_table[first + at.GAIN_NAMES.index(name), chosen] = float(value)
    if first != loop_row(Loop.POSITION) or not {"kp", "kd", "ki"} & set(gains):
        return
    for i, drive in enumerate(board.drives):
        # A servo of the model follows its own law until a client gives it other gains.
        if drive.kind == at.SERVO and board.joint_table[at.AXIS, i] in chosen:
            board.joint_table[at.DRIVE, i] = at.FORCE


def gains(board: BoardState, loop: str, axis: int) -> dict[str, float]:
    """Return the parameters of a controller."""
    first, (a,) = loop_row(loop), board.select(axis)
    return {name: float(board.axis_table[first + k, a]) for k, name in enumerate(at.GAIN_NAMES)}


def controller(board: BoardState, row: str, loop: str, axes: Axes = None) -> Array:
    """Return one row of a controller's live state: error, output, feedforward, error_limit, enabled, offset."""
    return board.axis_table[loop_row(loop) + at.LOOP_ROWS[row], board.select(axes)].copy()


@request
def set_controller(board: BoardState, row: str, loop: str, values: Numbers, axes: Axes = None) -> None:
    """Set one row of controllers: offset or feedforward [N m], error_limit (0 for none), enabled (0 or 1)."""
    if row not in at.LOOP_SETTINGS:
        raise DeviceError(f"{board.name}: a controller has no {row!r}; {nearest(row, at.LOOP_SETTINGS)}", field=row)
    chosen = board.select(axes)
    array = board.values_of(values, len(chosen), row)
    if row == "error_limit" and (array < 0.0).any():
        raise DeviceError(f"{board.name}: the error limit is {array.tolist()}; must be >= 0", field=row)
    board.axis_table[loop_row(loop) + at.LOOP_ROWS[row], chosen] = array


@request
def reset_controller(board: BoardState, axes: Axes = None) -> None:
    """Forget the integral parts of the controllers of axes."""
    for a in board.select(axes):
        forget(board, int(a))


def controller_reference(board: BoardState, loop: str, axes: Axes = None) -> Array:
    """Return what a controller of axes follows, in its units: rad or m, rad/s or m/s, N m, A."""
    chosen = board.select(axes)
    loop_row(loop)
    return board.axis_table[at.LOOP_REFERENCES[loop], chosen].copy()


@request
def set_controller_reference(board: BoardState, loop: str, values: Numbers, axes: Axes = None) -> None:
    """Give a controller its reference; it has an effect where the control mode follows references of its kind.

    An axis in position mode ends its trajectory and follows a reference of position at once.
    """
    table = board.axis_table
    loop_row(loop)
    chosen = board.select(axes, works=True)
    array = board.values_of(values, len(chosen), "references")
    if loop == "position":
        for a, value in zip(chosen, array):
            if table[at.CONTROL_MODE, a] == ControlMode.POSITION:
                hold(board, int(a), float(min(max(value, table[at.LOW, a]), table[at.HIGH, a])))
    take_references(board, _REFERENCE_KINDS[loop], chosen, array, strict=False)


@request
def set_motor(board: BoardState, what: str, axis: int, value: float) -> None:
    """Set a constant of a motor: max_current, nominal_current, peak_current, max_duty, temperature_limit,
    counts_per_revolution, gear_ratio, torque_per_duty.

    Raises:
        DeviceError: no such constant, or a value that is not above 0.
    """
    if what not in at.MOTOR_CONSTANTS:
        raise DeviceError(f"{board.name}: a motor has no {what!r}; {nearest(what, at.MOTOR_CONSTANTS)}", field=what)
    (a,) = board.select(axis)
    (number,) = board.values_of([value], 1, what)
    if number <= 0.0:
        raise DeviceError(f"{board.name}: {what} is {number:g}; must be > 0", field=what)
    if what == "max_duty" and number > 100.0:
        raise DeviceError(f"{board.name}: {what} is {number:g}; must be <= 100 %", field=what)
    board.axis_table[at.MOTOR_CONSTANTS[what], a] = number


@request
def set_motor_parameters(board: BoardState, axis: int, parameters: Sequence[float]) -> None:
    """Keep the nine parameters of a motor's torque model, which an ideal source of torque does not need."""
    (a,) = board.select(axis)
    array = board.values_of(parameters, at.PARAMETER_COUNT, "motor parameters")
    board.axis_table[_MOTOR_PARAMETERS, a] = array


def motor_parameters(board: BoardState, axis: int) -> tuple[float, ...]:
    """Return the nine parameters of a motor's torque model."""
    (a,) = board.select(axis)
    return tuple(board.axis_table[_MOTOR_PARAMETERS, a].tolist())


def supply_voltage(board: BoardState, axes: Axes = None) -> Array:
    """Return the voltage that supplies the amplifier of axes [V]."""
    return np.full(len(board.select(axes)), board.description.supply_voltage)


@request
def set_brake(board: BoardState, axis: int, on: bool, automatic: bool = False) -> None:
    """Close or open the brake of an axis, or let it close by itself while the axis has no torque."""
    (a,) = board.select(axis, works=True)
    board.axis_table[at.BRAKE_AUTO if automatic else at.BRAKE_MANUAL, a] = float(bool(on))


def brake(board: BoardState, axis: int) -> tuple[bool, bool]:
    """Return whether the brake of an axis is closed, and whether it closes by itself."""
    (a,) = board.select(axis)
    table = board.axis_table
    off = bool(table[at.CONTROL_MODE, a] in (ControlMode.IDLE, ControlMode.HARDWARE_FAULT))
    auto = bool(table[at.BRAKE_AUTO, a])
    return bool(table[at.BRAKE_MANUAL, a]) or (auto and off), auto
