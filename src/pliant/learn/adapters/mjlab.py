"""The laws as actuators of mjlab: an `ActuatorCfg` for its entities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pliant.base.errors import LawError, importing
from pliant.laws.actuator import CompliantActuator
from pliant.learn.adapters.joints import TorchJoints, check_second, match_actuators

if TYPE_CHECKING:
    import mujoco
    import mujoco_warp as mjwarp
    import torch
    from mjlab.entity import Entity

with importing("mjlab", command="pip install mjlab", purpose="the laws as its actuators"):
    from mjlab.actuator import actuator as base
    from mjlab.utils.spec import create_motor_actuator


@dataclass(kw_only=True)
class CompliantJointsCfg(base.ActuatorCfg):
    """Compliant joints of an entity of mjlab.

    The position target of a joint is its first reference, or the effort target in modes of torques. The actuators have
    their own delays and limits: mjlab's are left at their defaults.

    Example:
        >>> knee = CompliantActuator(QbMove(k1=0.002))
        >>> CompliantJointsCfg(target_names_expr=(".*knee",), actuators={".*knee": knee}, second="velocity_target")
    """

    actuators: dict[str, CompliantActuator] = field(default_factory=dict)
    """Regular expression of joint names -> actuator; the first that matches counts."""
    second: str = "preset"
    """Source of the second reference, the stiffness: "preset" for `CompliantJoints.preset`, a tensor that begins at
    the actuators' initial presets and may be written at any time, or "velocity_target" for mjlab's velocity target, so
    that a joint velocity action of mjlab commands the stiffness."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_second(self.second)
        if self.transmission_type != base.TransmissionType.JOINT:
            raise LawError(f"transmission_type is {self.transmission_type.value}; must be joint")

    def build(self, entity: Entity, target_ids: list[int], target_names: list[str]) -> CompliantJoints:
        """Return the actuator group of an entity.

        Raises:
            LawError: a joint has no actuator.
        """
        return CompliantJoints(self, entity, target_ids, target_names)


class CompliantJoints(base.Actuator):
    """A group of compliant joints; mjlab makes it from `CompliantJointsCfg`."""

    def __init__(self, cfg: CompliantJointsCfg, entity: Entity, target_ids: list[int], target_names: list[str]) -> None:
        super().__init__(cfg, entity, target_ids, target_names)
        self._actuators = match_actuators(cfg.actuators, target_names)
        self.joints: TorchJoints | None = None
        """The laws; None before `initialize`."""

    def edit_spec(self, spec: mujoco.MjSpec, target_names: list[str]) -> None:
        """Add a motor for each joint, which receives the torque of the law."""
        cfg = self.cfg
        more = {name: getattr(cfg, name) for name in ("armature", "frictionloss", "viscous_damping")}
        for name in target_names:
            motor = create_motor_actuator(spec, name, effort_limit=1.0e9, **more)
            motor.forcelimited = motor.ctrllimited = False
            self._mjs_actuators.append(motor)

    def initialize(self, mj_model: mujoco.MjModel, model: mjwarp.Model, data: mjwarp.Data, device: str) -> None:
        """Make the laws of all worlds, with the time step of the model."""
        super().initialize(mj_model, model, data, device)
        self.joints = TorchJoints(self._actuators, data.nworld, float(mj_model.opt.timestep), device=device)

    @property
    def preset(self) -> torch.Tensor:
        """Second reference while it is not the velocity target, shape (worlds, joints)."""
        return self._made().preset

    def _made(self) -> TorchJoints:
        if self.joints is None:
            raise LawError("the actuators were asked before mjlab initialized them")
        return self.joints

    def compute(self, cmd: base.ActuatorCmd) -> torch.Tensor:
        """Return the torques of the joints, shape (worlds, joints) [N m]."""
        second = cmd.velocity_target if self.cfg.second == "velocity_target" else None
        return self._made().compute(cmd.position_target, cmd.effort_target, second, cmd.pos, cmd.vel)

    def reset(self, env_ids: torch.Tensor | slice | None = None) -> None:
        """Put the motors of some worlds at rest at the positions that the links then have."""
        super().reset(env_ids)
        if self.joints is not None:
            self.joints.reset(env_ids)
