"""Control modes and interaction modes of a board's axes, and what an axis does when they change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.control_boards import layout as at
from pliant.control_boards.layout import ControlMode, InteractionMode
from pliant.control_boards.state import Axes, BoardState
from pliant.devices.base import request

REQUESTED_MODES: dict[str, ControlMode] = {
    **{mode.name.lower(): mode for mode in ControlMode if mode <= ControlMode.PWM},
    "force_idle": ControlMode.IDLE,
}
"""Name of a control mode that can be asked for -> the mode; ``force_idle`` also ends a hardware fault."""
_TORQUE_MODES = (ControlMode.TORQUE, ControlMode.PWM, ControlMode.CURRENT)


def hold(board: BoardState, a: int, reference: float) -> None:
    """Let the reference of an axis rest."""
    table = board.axis_table
    for row in (at.POSITION_REFERENCE, at.POSITION_TARGET, at.GOAL, at.GENERATED):
        table[row, a] = reference
    for row in (at.MOVING, at.GENERATED_SPEED, at.VELOCITY_REFERENCE, at.VELOCITY_TARGET, at.RAMP):
        table[row, a] = 0.0
    table[at.MOTION_DONE, a] = 1.0


def position_now(board: BoardState, a: int) -> float:
    """Return the position of an axis inside its limits; on a compliant joint that of the equilibrium."""
    table = board.axis_table
    x = table[at.POSITION, a]
    drive = board.lead_drive(a)
    if drive is not None and drive.kind == at.SPRING:
        x = board.buffers.control[drive.control] - table[at.ZERO, a]
    return float(min(max(x, table[at.LOW, a]), table[at.HIGH, a]))


def forget(board: BoardState, a: int) -> None:
    """Forget the integral parts of an axis."""
    board.joint_table[at.J_INTEGRAL, board.joint_table[at.AXIS] == a] = 0.0


def _enter(board: BoardState, a: int, mode: ControlMode) -> None:
    """Reset the controllers and references of an axis for a mode."""
    table = board.axis_table
    forget(board, a)
    hold(board, a, position_now(board, a))
    table[at.COMMAND_TIME, a] = board.now
    table[at.TORQUE_REFERENCE, a] = table[at.TORQUE, a] if mode in _TORQUE_MODES else 0.0
    unit = table[at.TORQUE_PER_DUTY, a]
    table[at.COMMANDED_DUTY, a] = table[at.COMMANDED_CURRENT, a] = table[at.TORQUE_REFERENCE, a] / unit
    table[at.CONTROL_MODE, a] = mode
    table[at.AMPLIFIER, a] = 0.0 if mode == ControlMode.IDLE else 1.0


def _one_each(board: BoardState, mode: str | Sequence[str], chosen: np.ndarray) -> list[str]:
    """Return one mode for each axis."""
    modes = [mode] * len(chosen) if isinstance(mode, str) else list(mode)
    if len(modes) != len(chosen):
        raise DeviceError(f"{board.name}: {len(modes)} modes for {len(chosen)} axes", field="mode")
    return modes


@request
def set_control_mode(board: BoardState, mode: str | Sequence[str], axes: Axes = None) -> None:
    """Switch the control mode of axes; the axes of a coupling switch together.

    In a hardware fault only ``force_idle`` has an effect; other modes are ignored, as on the real board.

    Raises:
        DeviceError: a mode that cannot be asked for, or that a joint cannot take.
    """
    chosen = board.select(axes, works=True)
    modes = _one_each(board, mode, chosen)
    for a, name in zip(chosen, modes):
        if name not in REQUESTED_MODES:
            raise DeviceError(f"{board.name}: the mode is {name!r}; {nearest(name, REQUESTED_MODES)}", field="mode")
        if not can(board, int(a), REQUESTED_MODES[name]):
            raise DeviceError(
                f"{board.name}: the axis {board.axes[a]!r} cannot be in mode {name!r}: its compliant joint follows "
                "positions only",
                field="mode",
            )
    table = board.axis_table
    for first, name in zip(chosen, modes):
        new = REQUESTED_MODES[name]
        for a in board.groups[first]:
            old = int(table[at.CONTROL_MODE, a])
            if old == ControlMode.HARDWARE_FAULT and name != "force_idle":
                continue
            if old != new:
                _enter(board, a, new)
            if name == "force_idle":
                table[at.FAULT, a] = at.FAULT_NONE


def can(board: BoardState, axis: int, mode: ControlMode) -> bool:
    """Return whether an axis can be in a mode: a joint that follows positions only takes no torque."""
    drive = board.lead_drive(axis)
    return mode not in _TORQUE_MODES or drive is None or drive.gives_torque


@request
def set_interaction_mode(board: BoardState, mode: str | Sequence[str], axes: Axes = None) -> None:
    """Switch axes between ``stiff`` and ``compliant``; those of compliant joints are compliant for good.

    Raises:
        DeviceError: another mode, or ``stiff`` on a compliant joint.
    """
    chosen = board.select(axes, works=True)
    modes = _one_each(board, mode, chosen)
    for a, name in zip(chosen, modes):
        if name not in ("stiff", "compliant"):
            raise DeviceError(
                f"{board.name}: the interaction mode is {name!r}; must be stiff or compliant", field="mode"
            )
        if name == "stiff" and a in board.springs:
            raise DeviceError(
                f"{board.name}: the axis {board.axes[a]!r} has a compliant joint, which cannot be stiff; raise its "
                "stiffness with set_impedance",
                field="mode",
            )
    for first, name in zip(chosen, modes):
        new = InteractionMode[name.upper()]
        for a in board.groups[first]:
            if board.axis_table[at.INTERACTION_MODE, a] == new:
                continue
            board.axis_table[at.INTERACTION_MODE, a] = new
            now = ControlMode(int(board.axis_table[at.CONTROL_MODE, a]))
            if now != ControlMode.HARDWARE_FAULT:
                _enter(board, a, now)


@request
def enable_amplifier(board: BoardState, axis: int, on: bool = True) -> None:
    """Switch the amplifier of an axis on, which leads to position mode, or off, which leads to idle."""
    set_control_mode(board, "position" if on else "idle", axis)


def mode_of(board: BoardState, axis: int) -> ControlMode:
    """Return the control mode of an axis."""
    return ControlMode(int(board.read_row("control_mode", axis)[0]))


def modes_now(board: BoardState) -> tuple[str, ...]:
    """Return the name of the control mode of each axis."""
    return tuple(ControlMode(int(mode)).name.lower() for mode in board.read_row("control_mode"))


def interaction_of(board: BoardState, axis: int) -> InteractionMode:
    """Return the interaction mode of an axis."""
    return InteractionMode(int(board.read_row("interaction_mode", axis)[0]))
