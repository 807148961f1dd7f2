"""Remote variables of a board: numbers of all axes that clients read and set by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import mujoco
import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.devices.base import request
from pliant.yarp.control_board import layout as at
from pliant.yarp.control_board.controllers import set_gains
from pliant.yarp.control_board.drives import Drive
from pliant.yarp.control_board.layout import Loop, loop_row
from pliant.yarp.control_board.state import Array, BoardState
from pliant.yarp.control_board.stiffness import impedance_within, set_impedance, spring_values

__all__ = ["REMOTE_VARIABLES"]

REMOTE_VARIABLES = (
    "hardwareDamping",
    "hardwareFriction",
    "hardwareEffortLimit",
    "hardwareVelocityLimit",
    "hardwareHiStop",
    "hardwareLowStop",
    "yarp_jntMaxVel",
    "yarp_jntMaxPos",
    "yarp_jntMinPos",
    "yarp_kPWM",
    "SHORTCUT_all_pos_kp",
    "SHORTCUT_all_pos_kd",
    "SHORTCUT_all_pos_ki",
    "VelocityTimeout",
    "stiffness",
    "stiffness_preset",
    "equilibrium",
)
"""Names of the remote variables; the last three are those of compliant joints."""
_READ_ONLY = ("equilibrium",)
_SIGNED = ("hardwareHiStop", "hardwareLowStop", "yarp_jntMaxPos", "yarp_jntMinPos", "VelocityTimeout")
_ABOVE_ZERO = ("yarp_kPWM", "yarp_jntMaxVel")
_SHORTCUT = "SHORTCUT_all_pos_"
_ROWS = {
    "hardwareEffortLimit": at.MAX_TORQUE,
    "hardwareVelocityLimit": at.MAX_SPEED,
    "yarp_jntMaxVel": at.MAX_SPEED,
    "yarp_jntMaxPos": at.HIGH,
    "yarp_jntMinPos": at.LOW,
    "yarp_kPWM": at.TORQUE_PER_DUTY,
    "SHORTCUT_all_pos_kp": loop_row(Loop.POSITION) + at.KP,
    "SHORTCUT_all_pos_kd": loop_row(Loop.POSITION) + at.KD,
    "SHORTCUT_all_pos_ki": loop_row(Loop.POSITION) + at.KI,
    "VelocityTimeout": at.TIMEOUT,
}
_JOINT_FIELDS = {"hardwareDamping": "dof_damping", "hardwareFriction": "dof_frictionloss"}
"""Variable of the joints -> field of MuJoCo's model."""
_STOPS = {"hardwareHiStop": "high", "hardwareLowStop": "low"}
"""Variable of the joints' ranges -> field of a drive."""


def _each_lead(board: BoardState, read: Callable[[Drive], float]) -> Array:
    """Return a number of the joint that leads each axis, 0 for an axis without one."""
    drives = [board.lead_drive(a) for a in range(len(board.axes))]
    return np.array([read(drive) if drive is not None else 0.0 for drive in drives])


def remote_variable(board: BoardState, name: str) -> Array:
    """Return a remote variable, one number per axis, in SI.

    Raises:
        DeviceError: there is no such variable.
    """
    if name in _ROWS:
        return board.axis_table[_ROWS[name]].copy()
    if name in ("stiffness", "equilibrium"):
        return np.nan_to_num(spring_values(board, name))
    if name == "stiffness_preset":
        return np.array([float(board.joint_table[at.PRESET, i]) if i >= 0 else 0.0 for i in board.lead_joints])
    if name in _JOINT_FIELDS:
        field = getattr(board.model, _JOINT_FIELDS[name])
        return _each_lead(board, lambda drive: float(np.ravel(field[drive.v])[0]))
    if name in _STOPS:
        return _each_lead(board, lambda drive: getattr(drive, _STOPS[name]) if math.isfinite(drive.low) else 0.0)
    raise DeviceError(
        f"{board.name}: there is no remote variable {name!r}; {nearest(name, REMOTE_VARIABLES)}", field="name"
    )


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
    elif name in _ROWS:
        _set_row(board, name, array)
    else:
        for a in range(len(board.axes)):
            drive = board.lead_drive(a)
            if drive is not None:
                _set_joint_field(board.model, name, drive, float(array[a]))


def _checked(board: BoardState, name: str, values: Sequence[float]) -> Array:
    """Return the numbers of a variable that can be set, or raise."""
    if name not in REMOTE_VARIABLES or name in _READ_ONLY:
        known = [v for v in REMOTE_VARIABLES if v not in _READ_ONLY]
        raise DeviceError(f"{board.name}: no remote variable {name!r} can be set; {nearest(name, known)}", field="name")
    array = board.values_of(values, len(board.axes), name)
    if name not in _SIGNED and (array < 0.0).any():
        raise DeviceError(f"{board.name}: {name} is {array.tolist()}; must be >= 0", field=name)
    if name in _ABOVE_ZERO and (array <= 0.0).any():
        raise DeviceError(f"{board.name}: {name} is {array.tolist()}; must be > 0", field=name)
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
    board.axis_table[_ROWS[name]] = array
    if name.startswith(_SHORTCUT):
        for a in range(len(board.axes)):
            set_gains(board, "position", a, **{name.removeprefix(_SHORTCUT): float(array[a])})


def _set_joint_field(model: mujoco.MjModel, name: str, drive: Drive, value: float) -> None:
    if name in _STOPS:
        raise DeviceError("the stops of the hardware are part of the model; set yarp_jntMaxPos, yarp_jntMinPos")
    field = getattr(model, _JOINT_FIELDS[name])
    field[drive.v] = value if field.ndim == 1 else (value, *field[drive.v][1:])
