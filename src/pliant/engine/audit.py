"""The energy audit of a run: what went in, what is stored, what was lost, what does not add up."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.laws import layout

if TYPE_CHECKING:
    from pliant.engine.mujoco_engine import MujocoEngine

__all__ = ["EnergyAudit", "EnergyBalance"]

_OUT = layout.OUT
# torque and the velocity it works on, as columns of an observation
_EFFORT = [_OUT["motor_1_effort"], _OUT["motor_2_effort"]]
_FRICTION = [_OUT["motor_1_friction"], _OUT["motor_2_friction"]]
_DAMPING = [_OUT["motor_1_damping"], _OUT["motor_2_damping"]]
_SPEED = [_OUT["motor_1_velocity"], _OUT["motor_2_velocity"]]
_LINK = [_OUT["link_friction_torque"], _OUT["link_damping_torque"]]
_COPPER = _OUT["copper_power"]
_STORED = layout.OUT["stored_energy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EnergyBalance:
    """Energies of a run [J]. Work into the robot counts positive, losses positive."""

    motors: float
    """Mechanical work of the motors' torques (modes 4 to 6) and of torques applied to the link (modes 0, 1)."""
    references: float
    """Work of moving references in modes 2 and 3, where the motors are ideal."""
    external: float
    """Work of external torques and wrenches."""
    stored: float
    """Change of kinetic, potential, spring, bristle and motor energy."""
    motor_friction: float
    """Lost in the motors' presliding friction."""
    motor_damping: float
    """Lost in the motors' viscous friction."""
    link_losses: float
    """Lost in the actuators' own friction and damping of the link."""
    joint_damping: float
    """Lost in the joints' viscous damping and other passive forces of the model."""
    constraints: float
    """Lost in joint friction, stops and contacts."""
    copper: float
    """Heat in the windings; not part of the mechanical balance."""

    @property
    def residual(self) -> float:
        """What does not add up [J]: the error of the time integration."""
        supplied = self.motors + self.references + self.external
        lost = self.motor_friction + self.motor_damping + self.link_losses + self.joint_damping + self.constraints
        return supplied - lost - self.stored

    throughput: float = 0.0
    """Sum of the magnitudes of all exchanges over the run [J]."""

    @property
    def relative(self) -> float:
        """The residual over the throughput, 0 where nothing moved."""
        return abs(self.residual) / self.throughput if self.throughput > 1e-12 else 0.0

    def as_dict(self) -> dict[str, float]:
        """Return all terms with residual and relative, for JSON."""
        return {**asdict(self), "residual": self.residual, "relative": self.relative}


class EnergyAudit:
    """Accumulates the balance of one engine, step by step.

    Over a step, the work of a torque that is applied to a body with constant inertia is its value times the mean of the
    velocities before and after: exactly its part in the change of kinetic energy. The work of a reference that jumps
    is the change of the spring's energy at the moment of the jump. So the residual is the error of the integrator (the
    springs' torques are those of the step's start) and shrinks with the time step.
    """

    def __init__(self, engine: MujocoEngine) -> None:
        self._engine = engine
        self._work = np.zeros(9)
        where = engine._where
        self._direct = (
            engine.model.actuator_user[where[:, 0], layout.P_MODE] < 2 if where.size else np.zeros(0, dtype=bool)
        )
        self._dofs = where[:, 2]
        self.reset()

    def reset(self) -> None:
        """Start a new balance at the present state."""
        self._work[:] = 0.0
        self._throughput = 0.0
        self._last_stored = self._first_stored = self._stored()
        self._first_rigid = self.rigid_energy()
        self._velocity = self._engine.data.qvel.copy()

    def _stored(self) -> float:
        return float(self._engine.observed[:, _STORED].sum()) if self._engine.observed.size else 0.0

    def before(self) -> None:
        """Take the state before a step, with the references of that step."""
        engine = self._engine
        engine._observe()
        stored = self._stored()
        # Nothing moved since the last step, so a change of stored energy is the work of the references.
        self._work[1] += stored - self._last_stored
        self._throughput += abs(stored - self._last_stored)
        self._start = stored
        self._before = engine.observed.copy()
        np.copyto(self._velocity, engine.data.qvel)

    def after(self) -> None:
        """Take the state after a step and add the step's exchanges."""
        engine = self._engine
        data, h = engine.data, engine.dt
        mean = 0.5 * h * (self._velocity + data.qvel)
        was, now = self._before, engine.observed
        moved = 0.5 * h * (was[:, _SPEED] + now[:, _SPEED])
        motors = float(np.nansum(was[:, _EFFORT] * moved))
        friction = float(np.nansum(was[:, _FRICTION] * moved))
        damping = float(np.nansum(was[:, _DAMPING] * moved))
        turned = mean[self._dofs]
        link = float((was[:, _LINK].sum(axis=1) * turned).sum())
        if self._direct.any():
            motors += float(((was[:, _OUT["torque"]] + was[:, _LINK].sum(axis=1)) * turned)[self._direct].sum())
        external = float(data.qfrc_applied @ mean)
        if data.xfrc_applied.any():
            external += self._wrench_work(h)
        passive = -float(data.qfrc_damper @ mean)
        constraint = -float(data.qfrc_constraint @ mean)
        terms = (motors, 0.0, external, friction, damping, link, passive, constraint)
        for i, term in enumerate(terms):
            self._work[i] += term
            self._throughput += abs(term)
        self._work[8] += 0.5 * h * float(was[:, _COPPER].sum() + now[:, _COPPER].sum())
        self._last_stored = self._stored()
        self._throughput += abs(self._last_stored - self._start)

    def _wrench_work(self, h: float) -> float:
        data = self._engine.data
        # cvel is (angular, linear) about the subtree's centre of mass, in world axes.
        moved = data.xfrc_applied.any(axis=1)
        total = 0.0
        for b in np.flatnonzero(moved):
            root = self._engine.model.body_rootid[b]
            omega, linear = data.cvel[b, :3], data.cvel[b, 3:]
            at = linear + np.cross(omega, data.xipos[b] - data.subtree_com[root])
            total += float(data.xfrc_applied[b, :3] @ at + data.xfrc_applied[b, 3:] @ omega)
        return total * h

    def rigid_energy(self) -> float:
        """Return kinetic plus potential energy of the bodies at the present state [J]."""
        import mujoco

        model, data = self._engine.model, self._engine.data
        probe = mujoco.MjData(model)
        probe.qpos[:], probe.qvel[:], probe.time = data.qpos, data.qvel, data.time
        if model.nmocap:
            probe.mocap_pos[:], probe.mocap_quat[:] = data.mocap_pos, data.mocap_quat
        mujoco.mj_fwdPosition(model, probe)
        mujoco.mj_fwdVelocity(model, probe)
        mujoco.mj_energyPos(model, probe)
        mujoco.mj_energyVel(model, probe)
        return float(probe.energy.sum())

    def balance(self) -> EnergyBalance:
        """Return the balance since the last reset."""
        w = self._work
        stored = self._last_stored - self._first_stored + self.rigid_energy() - self._first_rigid
        return EnergyBalance(
            motors=w[0],
            references=w[1],
            external=w[2],
            stored=stored,
            motor_friction=w[3],
            motor_damping=w[4],
            link_losses=w[5],
            joint_damping=w[6],
            constraints=w[7],
            copper=w[8],
            throughput=self._throughput,
        )
