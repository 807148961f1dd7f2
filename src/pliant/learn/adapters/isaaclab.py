"""The laws as explicit actuators of Isaac Lab."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING

from pliant.base.errors import importing
from pliant.laws.actuator import CompliantActuator
from pliant.learn.adapters.joints import TorchJoints, check_second, match_actuators

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from isaaclab.utils.types import ArticulationActions

with importing("Isaac Lab", command="pip install isaaclab", purpose="the laws as its actuators"):
    from isaaclab.actuators import ActuatorBase, ActuatorBaseCfg
    from isaaclab.utils import configclass


class CompliantJoints(ActuatorBase):
    """A group of compliant joints; Isaac Lab makes it from `CompliantJointsCfg`.

    The position target of a joint is its first reference, or the effort target in modes of torques. With
    ``second="velocity_target"`` the velocity target is the second one, the stiffness.
    """

    def __init__(
        self,
        cfg: ActuatorBaseCfg,
        joint_names: list[str],
        joint_ids: slice | torch.Tensor,
        num_envs: int,
        device: str,
        **more: object,
    ) -> None:
        super().__init__(cfg, joint_names, joint_ids, num_envs, device, **more)
        check_second(cfg.second)
        self.joints = TorchJoints(match_actuators(cfg.actuators, joint_names), num_envs, cfg.dt, device=device)
        """The laws; ``joints.preset`` is the second reference while it is not the velocity target."""

    def reset(self, env_ids: Sequence[int]) -> None:
        """Put the motors of some worlds at rest at the positions that the links then have."""
        self.joints.reset(env_ids)

    def compute(
        self, control_action: ArticulationActions, joint_pos: torch.Tensor, joint_vel: torch.Tensor
    ) -> ArticulationActions:
        """Replace the targets of an `ArticulationActions` by the torques of the laws."""
        zero = self.joints.torque * 0.0
        targets = (control_action.joint_positions, control_action.joint_efforts, control_action.joint_velocities)
        position, effort, velocity = (zero if target is None else target for target in targets)
        second = velocity if self.cfg.second == "velocity_target" else None
        self.computed_effort = self.joints.compute(position, effort, second, joint_pos, joint_vel)
        self.applied_effort = self.computed_effort
        control_action.joint_efforts = self.applied_effort
        control_action.joint_positions = None
        control_action.joint_velocities = None
        return control_action


@configclass
class CompliantJointsCfg(ActuatorBaseCfg):
    """Compliant joints of an articulation of Isaac Lab."""

    class_type: type = CompliantJoints
    """The class that Isaac Lab makes."""
    actuators: dict[str, CompliantActuator] = MISSING  # type: ignore[assignment]
    """Regular expression of joint names -> actuator; the first that matches counts."""
    dt: float = MISSING  # type: ignore[assignment]
    """Time step of the physics, ``SimulationCfg.dt`` [s]."""
    second: str = "preset"
    """Source of the second reference: "preset" or "velocity_target"."""
    stiffness: float = 0.0
    """Gain of Isaac Lab's own controller, which the law replaces."""
    damping: float = 0.0
    """Gain of Isaac Lab's own controller, which the law replaces."""
