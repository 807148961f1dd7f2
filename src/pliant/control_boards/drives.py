"""How a control board drives each joint: through a motor, a servo of the model, or a compliant actuator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import DeviceError
from pliant.control_boards import layout as at
from pliant.engine.base import Engine, MujocoState
from pliant.laws import CompliantActuator, Mode

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """Drive between a control board and a joint."""

    joint: str
    """Name of the joint."""
    kind: int
    """`layout.FORCE`, `layout.SERVO` or `layout.SPRING`."""
    slide: bool
    """Whether the joint is prismatic."""
    q: int
    """Address of its position in ``qpos``."""
    v: int
    """Address of its speed in ``qvel``."""
    control: int
    """Address of its control in ``ctrl``."""
    second: int = -1
    """Address of the second reference of a compliant joint; -1 for none."""
    gear: float = 1.0
    """Transmission: length of the actuator over position of the joint."""
    gain: float = 1.0
    """Force of the actuator per unit of its control."""
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Force of the actuator without control: constant, per length, per speed."""
    row: int = -1
    """Row of a compliant joint in the engine's observations; -1 for another joint."""
    low: float = -np.inf
    """Lower limit of the joint."""
    high: float = np.inf
    """Upper limit of the joint."""
    actuator: CompliantActuator | None = None
    """The actuator of a compliant joint."""

    @property
    def gives_torque(self) -> bool:
        """Whether a torque can be asked of it."""
        return self.kind != at.SPRING or (self.actuator is not None and self.actuator.mode != Mode.LINK_PID)

    @property
    def preset_range(self) -> tuple[float, float] | None:
        """Lowest and highest stiffness preset of a compliant joint; None where its stiffness is fixed."""
        a = self.actuator
        if a is None or self.second < 0 or a.law.motors != 2:
            return None
        if a.law.second_input == "pressure":
            return 0.0, a.motor_1.max_position
        length = float(getattr(a.law, "L", np.inf))
        return (1e-3 * length, 0.999 * length) if a.law.second_input == "lever" else (0.0, np.pi)

    def write(self, joints: np.ndarray, i: int) -> None:
        """Write the constants of joint i of a board into the array of its joints."""
        column = joints[:, i]
        column[at.Q_ADDRESS], column[at.V_ADDRESS] = self.q, self.v
        column[at.CONTROL], column[at.SECOND_CONTROL] = self.control, self.second
        column[at.DRIVE], column[at.TRANSMISSION] = self.kind, self.gear
        column[at.FORCE_GAIN] = self.gain
        column[at.BIAS_0], column[at.BIAS_1], column[at.BIAS_2] = self.bias
        column[at.OBSERVED] = self.row


def find_drive(
    board: str, joint: str, engine: Engine, state: MujocoState, actuators: Mapping[str, CompliantActuator]
) -> Drive:
    """Return how a joint is driven.

    Args:
        board: name of the board, for messages.
        joint: name of the joint.
        engine: the engine.
        state: the same, as MuJoCo's model and data.
        actuators: the compliant actuators of the robot, by joint.

    Raises:
        DeviceError: the joint does not exist, or has an actuator that a board cannot command.
    """
    import mujoco

    model = state.model
    j = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
    if j < 0:
        raise DeviceError(f"{board}: the model has no joint {joint!r}", field="joints")
    kinds = {int(mujoco.mjtJoint.mjJNT_HINGE): False, int(mujoco.mjtJoint.mjJNT_SLIDE): True}
    if int(model.jnt_type[j]) not in kinds:
        raise DeviceError(f"{board}: the joint {joint!r} is neither hinge nor slide", field="joints")
    limited = bool(model.jnt_limited[j])
    common = {
        "joint": joint,
        "slide": kinds[int(model.jnt_type[j])],
        "q": int(model.jnt_qposadr[j]),
        "v": int(model.jnt_dofadr[j]),
        "low": float(model.jnt_range[j, 0]) if limited else -np.inf,
        "high": float(model.jnt_range[j, 1]) if limited else np.inf,
    }
    if joint in actuators:
        return _compliant(board, joint, model, state, actuators[joint], common)
    found: list[Drive] = []
    for i in range(model.nactuator):
        if int(model.actuator_trntype[i]) != int(mujoco.mjtTrn.mjTRN_JOINT) or int(model.actuator_trnid[i, 0]) != j:
            continue
        plain = int(model.actuator_dyntype[i]) == int(mujoco.mjtDyn.mjDYN_NONE)
        fixed = int(model.actuator_gaintype[i]) == int(mujoco.mjtGain.mjGAIN_FIXED)
        affine = int(model.actuator_biastype[i]) in (int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE))
        gain, gear = float(model.actuator_gainprm[i, 0]), float(model.actuator_gear[i, 0])
        if not (plain and fixed and affine and gain != 0.0 and gear != 0.0):
            continue
        has_bias = int(model.actuator_biastype[i]) == int(mujoco.mjtBias.mjBIAS_AFFINE)
        b0, b1, b2 = model.actuator_biasprm[i, :3].tolist() if has_bias else (0.0, 0.0, 0.0)
        found.append(
            Drive(
                kind=at.SERVO if b1 != 0.0 else at.FORCE,
                control=int(model.actuator_ctrladr[i]),
                gear=gear,
                gain=gain,
                bias=(b0, b1, b2),
                **common,
            )
        )
    if not found:
        raise DeviceError(
            f"{board}: the joint {joint!r} has no actuator that a control board can command; must be a motor, a "
            "position or velocity servo with a gear and without states of its own, or a compliant actuator",
            field="joints",
        )
    return min(found, key=lambda drive: drive.kind)


def _compliant(
    board: str, joint: str, model: mujoco.MjModel, state: MujocoState, actuator: CompliantActuator, common: dict
) -> Drive:
    mode = actuator.mode
    i = model.actuator(joint).id
    address = int(model.actuator_ctrladr[i])
    row = state.compliant_joints().index(joint)
    if mode == Mode.LINK_TORQUE:
        return Drive(kind=at.FORCE, control=address, row=row, actuator=actuator, **common)
    moved = mode in (Mode.SPRING_REFS, Mode.PID_REFS) and actuator.law.motors == 2
    if moved or mode == Mode.MOTOR_TORQUES:
        raise DeviceError(
            f"{board}: the compliant joint {joint!r} is in mode {int(mode)}, with references of its motors; a "
            "control board needs mode 6 or 3 (equilibrium and preset), 1 (position) or 0 (torque)",
            field="mode",
        )
    second = address + 1 if actuator.commands == 2 else -1
    return Drive(kind=at.SPRING, control=address, second=second, row=row, actuator=actuator, **common)
