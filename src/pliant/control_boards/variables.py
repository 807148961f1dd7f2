"""Remote variables of a board: numbers of all axes that clients read and set by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.control_boards import layout as at
from pliant.control_boards.controllers import set_gains
from pliant.control_boards.drives import Drive
from pliant.control_boards.layout import Loop, loop_row
from pliant.control_boards.state import Array, BoardState
from pliant.control_boards.stiffness import impedance_within, set_impedance, spring_values
from pliant.devices.base import request


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One remote variable."""

    row: int = -1
    """Row of the axis table; -1 for a number of the joints, the model or the springs."""
    field: str = ""
    """Field of MuJoCo's model; "" for none."""
    stop: str = ""
    """Field of a drive with an end of the joint's range; "" for none."""
    angle: int = 0
    """Power of the axis' unit of length (rad or m) in it: 1 for an angle, -1 for a number per angle."""
    least: str = "0"
    """Which numbers it takes: from ``0`` on, ``above 0``, or ``any``."""
    settable: bool = True
    """Whether clients may set it."""


_P = loop_row(Loop.POSITION)
REMOTE_VARIABLES: Mapping[str, Variable] = {
    "hardwareDamping": Variable(field="dof_damping"),
    "hardwareFriction": Variable(field="dof_frictionloss"),
    "hardwareEffortLimit": Variable(row=at.MAX_TORQUE),
    "hardwareVelocityLimit": Variable(row=at.MAX_SPEED, angle=1),
    "hardwareHiStop": Variable(stop="high", angle=1, least="any"),
    "hardwareLowStop": Variable(stop="low", angle=1, least="any"),
    "yarp_jntMaxVel": Variable(row=at.MAX_SPEED, angle=1, least="above 0"),
    "yarp_jntMaxPos": Variable(row=at.HIGH, angle=1, least="any"),
    "yarp_jntMinPos": Variable(row=at.LOW, angle=1, least="any"),
    "yarp_kPWM": Variable(row=at.TORQUE_PER_DUTY, least="above 0"),
    "SHORTCUT_all_pos_kp": Variable(row=_P + at.KP, angle=-1),
    "SHORTCUT_all_pos_kd": Variable(row=_P + at.KD, angle=-1),
    "SHORTCUT_all_pos_ki": Variable(row=_P + at.KI, angle=-1),
    "VelocityTimeout": Variable(row=at.TIMEOUT, least="any"),
    "stiffness": Variable(angle=-1),
    "stiffness_preset": Variable(angle=1),
    "equilibrium": Variable(angle=1, settable=False),
}
"""The remote variables by name; the last three are those of compliant joints."""
_SHORTCUT = "SHORTCUT_all_pos_"


def _each_lead(board: BoardState, read: Callable[[Drive], float]) -> Array:
    """Return a number of the joint that leads each axis, 0 for an axis without one."""
    drives = [board.lead_drive(a) for a in range(len(board.axes))]
    return np.array([read(drive) if drive is not None else 0.0 for drive in drives])


def remote_variable(board: BoardState, name: str) -> Array:
    """Return a remote variable, one number per axis, in SI.

    Raises:
        DeviceError: there is no such variable.
    """
    variable = REMOTE_VARIABLES.get(name)
    if variable is None:
        raise DeviceError(
            f"{board.name}: there is no remote variable {name!r}; {nearest(name, REMOTE_VARIABLES)}", field="name"
        )
    if variable.row >= 0:
        return board.axis_table[variable.row].copy()
    if name == "stiffness_preset":
        return np.array([float(board.joint_table[at.PRESET, i]) if i >= 0 else 0.0 for i in board.lead_joints])
    if variable.field:
        field = getattr(board.model, variable.field)
        return _each_lead(board, lambda drive: float(np.ravel(field[drive.v])[0]))
    if variable.stop:
        return _each_lead(board, lambda drive: getattr(drive, variable.stop) if math.isfinite(drive.low) else 0.0)
    return np.nan_to_num(spring_values(board, name))


@request
def set_remote_variable(board: BoardState, name: str, values: Sequence[float]) -> None:
    """Set a remote variable, one number per axis, in SI; the hardware's are those of the model.

    Raises:
        DeviceError: there is no such variable, it is read only, or a number does not fit.
    """
    array = _checked(board, name, values)
    if name == "stiffness":
        _set_stiffness(board, array)
    elif name == "stiffness_preset":
        for a in board.springs:
            bounds = board.drives[board.lead_joints[a]].preset_range
            if bounds is not None:
                board.joint_table[at.PRESET, board.lead_joints[a]] = min(max(array[a], bounds[0]), bounds[1])
    elif REMOTE_VARIABLES[name].row >= 0:
        _set_row(board, name, array)
    else:
        for a in range(len(board.axes)):
            drive = board.lead_drive(a)
            if drive is not None:
                _set_joint_field(board.model, name, drive, float(array[a]))


def _checked(board: BoardState, name: str, values: Sequence[float]) -> Array:
    """Return the numbers of a variable that can be set, or raise."""
    known = [key for key, variable in REMOTE_VARIABLES.items() if variable.settable]
    if name not in known:
        raise DeviceError(f"{board.name}: no remote variable {name!r} can be set; {nearest(name, known)}", field="name")
    least = REMOTE_VARIABLES[name].least
    array = board.values_of(values, len(board.axes), name)
    if (least == "0" and (array < 0.0).any()) or (least == "above 0" and (array <= 0.0).any()):
        valid = ">= 0" if least == "0" else "> 0"
        raise DeviceError(f"{board.name}: {name} is {array.tolist()}; must be {valid}", field=name)
    board.select(None, works=True)
    return array


def _set_stiffness(board: BoardState, array: Array) -> None:
    wanted = [(a, float(array[a]), float(board.axis_table[at.DAMPING, a])) for a in board.springs]
    for a, stiffness, damping in wanted:  # all of them before the first is changed
        impedance_within(board, a, stiffness, damping)
    for a, stiffness, damping in wanted:
        set_impedance(board, a, stiffness, damping)


def _set_row(board: BoardState, name: str, array: Array) -> None:
    if name == "yarp_jntMaxPos" and (array < board.axis_table[at.LOW]).any():
        raise DeviceError(f"{board.name}: {name} is below yarp_jntMinPos", field=name)
    if name == "yarp_jntMinPos" and (array > board.axis_table[at.HIGH]).any():
        raise DeviceError(f"{board.name}: {name} is above yarp_jntMaxPos", field=name)
    board.axis_table[REMOTE_VARIABLES[name].row] = array
    if name.startswith(_SHORTCUT):
        for a in range(len(board.axes)):
            set_gains(board, "position", a, **{name.removeprefix(_SHORTCUT): float(array[a])})


def _set_joint_field(model: mujoco.MjModel, name: str, drive: Drive, value: float) -> None:
    if REMOTE_VARIABLES[name].stop:
        raise DeviceError("the stops of the hardware are part of the model; set yarp_jntMaxPos, yarp_jntMinPos")
    field = getattr(model, REMOTE_VARIABLES[name].field)
    field[drive.v] = value if field.ndim == 1 else (value, *field[drive.v][1:])
