"""Energy audit of a run: supplied, stored and dissipated energy, and the balance error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.laws.compile import bound
from pliant.laws.layout import (
    O_COPPER_POWER,
    O_LINK_DAMPING_TORQUE,
    O_LINK_FRICTION_TORQUE,
    O_MOTOR_1_DAMPING,
    O_MOTOR_1_EFFORT,
    O_MOTOR_1_FRICTION,
    O_MOTOR_1_VELOCITY,
    O_MOTOR_2_DAMPING,
    O_MOTOR_2_EFFORT,
    O_MOTOR_2_FRICTION,
    O_MOTOR_2_VELOCITY,
    O_STORED_ENERGY,
    O_TORQUE,
    OBSERVATIONS,
    P_COMPANION,
    P_MODE,
)

if TYPE_CHECKING:
    import mujoco

__all__ = ["EnergyAudit", "EnergyBalance"]

_W = OBSERVATIONS
# what the accumulator holds
_MOTORS, _REFERENCES, _EXTERNAL, _FRICTION, _DAMPING, _LINK, _PASSIVE, _CONSTRAINT, _COPPER = range(9)
_THROUGHPUT, _STORED, _START, _INTEGRATOR = 9, 10, 11, 12
_SIZE = 13


def audit_before(observed, n, was, dofs, direct, qvel, nv, velocity, h, sums):
    """Take the state before a step, with the references of that step (C arrays, see `EnergyAudit`)."""
    stored = 0.0
    for i in range(n):
        r = i * _W
        stored += observed[r + O_STORED_ENERGY]
        d = dofs[i]
        if d >= 0 and direct[i] == 0:
            spring = observed[r + O_TORQUE] + observed[r + O_LINK_FRICTION_TORQUE] + observed[r + O_LINK_DAMPING_TORQUE]
            stored += 0.5 * h * qvel[d] * spring
    for k in range(n * _W):
        was[k] = observed[k]
    for k in range(nv):
        velocity[k] = qvel[k]
    # Nothing moved since the last step, so a change of stored energy is the work of the references.
    work = stored - sums[_STORED]
    sums[_REFERENCES] += work
    sums[_THROUGHPUT] += abs(work)
    sums[_START] = stored


def audit_after(observed, was, n, dofs, direct, qvel, velocity, nv, applied, damper, constraint, h, sums):
    """Add the exchanges of one step (C arrays, see `EnergyAudit`)."""
    external = 0.0
    passive = 0.0
    contact = 0.0
    for k in range(nv):
        mean = 0.5 * h * (velocity[k] + qvel[k])
        external += applied[k] * mean
        passive -= damper[k] * mean
        contact -= constraint[k] * mean
    motors = 0.0
    friction = 0.0
    damping = 0.0
    link = 0.0
    copper = 0.0
    stored = 0.0
    for i in range(n):
        r = i * _W
        stored += observed[r + O_STORED_ENERGY]
        copper += 0.5 * h * (was[r + O_COPPER_POWER] + observed[r + O_COPPER_POWER])
        moved = 0.5 * h * (was[r + O_MOTOR_1_VELOCITY] + observed[r + O_MOTOR_1_VELOCITY])
        if (
            moved == moved and was[r + O_MOTOR_1_EFFORT] == was[r + O_MOTOR_1_EFFORT]
        ):  # not NaN: the mode has this motor
            motors += was[r + O_MOTOR_1_EFFORT] * moved
            friction += was[r + O_MOTOR_1_FRICTION] * moved
            damping += was[r + O_MOTOR_1_DAMPING] * moved
        moved = 0.5 * h * (was[r + O_MOTOR_2_VELOCITY] + observed[r + O_MOTOR_2_VELOCITY])
        if moved == moved and was[r + O_MOTOR_2_EFFORT] == was[r + O_MOTOR_2_EFFORT]:
            motors += was[r + O_MOTOR_2_EFFORT] * moved
            friction += was[r + O_MOTOR_2_FRICTION] * moved
            damping += was[r + O_MOTOR_2_DAMPING] * moved
        d = dofs[i]
        if d >= 0:
            turned = 0.5 * h * (velocity[d] + qvel[d])
            lost = (was[r + O_LINK_FRICTION_TORQUE] + was[r + O_LINK_DAMPING_TORQUE]) * turned
            link += lost
            if direct[i] != 0:
                motors += was[r + O_TORQUE] * turned + lost
            else:
                spring = (
                    observed[r + O_TORQUE] + observed[r + O_LINK_FRICTION_TORQUE] + observed[r + O_LINK_DAMPING_TORQUE]
                )
                stored += 0.5 * h * qvel[d] * spring
    sums[_MOTORS] += motors
    sums[_EXTERNAL] += external
    sums[_FRICTION] += friction
    sums[_DAMPING] += damping
    sums[_LINK] += link
    sums[_PASSIVE] += passive
    sums[_CONSTRAINT] += contact
    sums[_COPPER] += copper
    sums[_THROUGHPUT] += abs(motors) + abs(external) + abs(friction) + abs(damping) + abs(link) + abs(passive)
    sums[_THROUGHPUT] += abs(contact) + abs(stored - sums[_START])
    sums[_STORED] = stored


def audit_model(
    actuators, rows, kp, kv, low, high, force, moment, count, first, column, damped, servoed, sprung, springs, dof,
    place, which, stiffness, rest, nv, damping, hidden, gravcomp, applied, fluid, adhesion, qpos, before, qvel,
    velocity, outputs, limits, capped, least, most, held, lifted, torque, asked, h, sums,
):  # fmt: skip
    """Add what MuJoCo's own elements exchange in one step (C arrays, see `EnergyAudit`).

    The integrator evaluates some forces at the end of the step, linearised: f = f_start - d (v_1 - v_0) - h k v_1. The
    flags say for what: ``damped`` dampers of joints, ``servoed`` the d of actuators, ``sprung`` every k; d and k of
    an actuator do not act while it, or the joint ``held`` that it drives, is at its limit.
    """
    motors = 0.0
    for i in range(actuators):
        row = rows[i]
        mean = 0.0
        change = 0.0
        new = 0.0
        for k in range(first[row], first[row] + count[row]):
            a, b = velocity[column[k]], qvel[column[k]]
            mean += 0.5 * moment[k] * (a + b)
            change += moment[k] * (b - a)
            new += moment[k] * b
        f = force[row]
        free = held[i] < 0 or least[held[i]] < torque[held[i]] < most[held[i]]
        if servoed != 0 and free and low[i] < f < high[i]:
            f -= kv[i] * change
            if sprung != 0:
                f -= h * kp[i] * new
        motors += h * f * mean
    if limits > 0:  # joints limit the sum of what their actuators, and their compensation of gravity, ask for
        for k in range(nv):
            asked[k] = lifted[k] * gravcomp[k]
        for row in range(outputs):
            for k in range(first[row], first[row] + count[row]):
                asked[column[k]] += moment[k] * force[row]
        for i in range(limits):
            d = capped[i]
            motors += 0.5 * h * (velocity[d] + qvel[d]) * (torque[d] - asked[d])
    friction = 0.0
    passive = 0.0
    external = 0.0
    for k in range(nv):
        mean = 0.5 * h * (velocity[k] + qvel[k])
        friction += hidden[k] * mean
        external += applied[k] * gravcomp[k] * mean
        passive += (damping[k] * damped * (qvel[k] - velocity[k]) - fluid[k] - adhesion[k]) * mean
    lost = 0.0
    if sprung != 0:
        for i in range(springs):
            c = stiffness[which[i]]
            old, now = before[place[i]] - rest[place[i]], qpos[place[i]] - rest[place[i]]
            d = dof[i]
            acting = -c * (old + h * qvel[d])
            lost -= 0.5 * c * (now * now - old * old) + 0.5 * h * (velocity[d] + qvel[d]) * acting
    sums[_MOTORS] += motors + friction
    sums[_FRICTION] += friction
    sums[_EXTERNAL] += external
    sums[_PASSIVE] += passive
    sums[_INTEGRATOR] += lost
    sums[_THROUGHPUT] += abs(motors + friction) + abs(friction) + abs(external) + abs(passive) + abs(lost)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnergyBalance:
    """Energies of a run [J]. Work done on the robot is positive; losses are positive."""

    motors: float
    """Mechanical work of the motors' torques (modes 4 to 6), of torques applied to the link (modes 0, 1), and of all
    actuators that are not compliant joints: arm motors, servos of parallel robots, MuJoCo's own actuators. Only the
    torque that remains after the torque limits of the joints is counted."""
    references: float
    """Work of moving references in modes 2 and 3, where the motors are ideal, and of rods whose length changes."""
    external: float
    """Work of external torques and wrenches, and of MuJoCo's gravity compensation of single bodies."""
    stored: float
    """Change of kinetic, potential, spring, bristle and motor energy."""
    motor_friction: float
    """Loss in the presliding friction of the motors, and in friction that a device includes in a motor's torque."""
    motor_damping: float
    """Loss in the viscous friction of the motors."""
    link_losses: float
    """Loss in the friction and damping that the actuators apply to the link."""
    joint_damping: float
    """Loss in the viscous damping of the joints and in other passive forces of the model."""
    constraints: float
    """Loss in joint friction, joint limits and contacts."""
    integrator: float
    """Loss in the numerical damping of joint springs by MuJoCo's integrator ``discrete``; 0 with other integrators."""
    copper: float
    """Heat in the motor windings; not part of the mechanical balance."""

    @property
    def residual(self) -> float:
        """Energy balance error [J], caused by the time integration: supplied less lost less stored energy."""
        supplied = self.motors + self.references + self.external
        lost = self.motor_friction + self.motor_damping + self.link_losses + self.joint_damping + self.constraints
        return supplied - lost - self.integrator - self.stored

    throughput: float = 0.0
    """Sum of the magnitudes of all exchanges over the run [J]."""

    @property
    def relative(self) -> float:
        """Residual divided by throughput; 0 if nothing moved."""
        return abs(self.residual) / self.throughput if self.throughput > 1e-12 else 0.0

    def as_dict(self) -> dict[str, float]:
        """Return all terms, with ``residual`` and ``relative``, as a dictionary for JSON."""
        return {**asdict(self), "residual": self.residual, "relative": self.relative}


class EnergyAudit:
    """Accumulate the energy balance of one simulation, step by step.

    The work of a torque in a step is its value times step length times the mean of the velocities before and after the
    step. For a body with constant inertia this is exactly its contribution to the change of kinetic energy. The work of
    a reference that jumps is the change of spring energy at the jump. In semi-implicit integration the velocities
    belong to a time half a step before the positions, so the spring energy of a joint is evaluated at that time too:
    E + h v tau / 2. Without this correction, a moving reference on a stiff spring shows an apparent loss in each step.
    The residual is the error of the integrator and decreases with the time step. Forces that the integrator evaluates
    at the end of the step are counted with the value that acts: dampers and servos with ``implicit``, ``implicitfast``
    and ``discrete``, joint springs with ``discrete``.

    Not counted: energy stored in flexes and plugins; the velocity dependence, within a step, of actuators without
    fixed gain, of tendon dampers and of nonlinear dampers. Force limits of actuators (``forcerange``) and torque limits
    of joints (``actuatorfrcrange`` in MJCF, ``effort`` in URDF) are taken into account: only the limited torque does
    work.

    Args:
        model: the compiled model.
        data: its state.
        where: addresses of the compliant actuators, as returned by `pliant.engine.callbacks.addresses`.
        observed: their observations, shape (actuators, `pliant.laws.layout.OBSERVATIONS`).
        observe: function that updates the observations.
        friction: friction that devices subtract from motor torques, per degree of freedom; a live array of shape
            (nv,) [N m].
        variable: whether devices change the model during the run, for example the length of rods. The energy added by
            such changes is counted; this costs two evaluations of the energy per step.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        where: np.ndarray,
        observed: np.ndarray,
        observe: Callable[[], None],
        *,
        friction: np.ndarray,
        variable: bool = False,
    ) -> None:
        import mujoco

        self._variable = variable
        self._probe = mujoco.MjData(model)
        self._friction = friction
        self._model, self._data, self._observed, self._observe = model, data, observed, observe
        self._dt = float(model.opt.timestep)
        modes = model.actuator_user[where[:, 0], P_MODE] if where.size else np.zeros(0)
        self._sums = np.zeros(_SIZE)
        self._was = np.zeros_like(observed)
        self._velocity = np.zeros(model.nv)
        self._dofs = np.ascontiguousarray(where[:, 2], dtype=np.int64)
        self._direct = (modes < 2).astype(np.int64)
        self._wrenches = data.xfrc_applied
        self._position, self._qpos = data.qpos, np.zeros(model.nq)
        ends = (self._dofs, self._direct)
        moving, h = (data.qvel, self._velocity, model.nv), self._dt
        self._before = bound(
            audit_before, observed, where.shape[0], self._was, *ends, data.qvel, model.nv, self._velocity, h, self._sums
        )
        forces = (data.qfrc_applied, data.qfrc_damper, data.qfrc_constraint)
        self._after = bound(audit_after, observed, self._was, where.shape[0], *ends, *moving, *forces, h, self._sums)
        self._model_work = self._prepare_model(where)
        self.reset()

    def _prepare_model(self, where: np.ndarray) -> Callable[[], None]:
        """Return what adds the exchanges of MuJoCo's own elements in one step."""
        import mujoco

        model, data = self._model, self._data
        kind = mujoco.mjtIntegrator
        compliant = set(where[:, 0].tolist())
        companions = {i + 1 for i in compliant if model.actuator_user[i, P_COMPANION] > 0.5}
        others = [i for i in range(model.nactuator) if i not in compliant and i not in companions]
        outputs = {
            i: range(model.actuator_outadr[i], model.actuator_outadr[i] + model.actuator_outnum[i]) for i in others
        }
        rows = [row for i in others for row in outputs[i]]
        of = [i for i in others for _ in outputs[i]]
        affine = model.actuator_biastype[of] == int(mujoco.mjtBias.mjBIAS_AFFINE)
        limited = model.actuator_forcelimited[of].astype(bool)
        sliding = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
        joints = [j for j in range(model.njnt) if model.jnt_type[j] in sliding and model.jnt_stiffness[j] > 0.0]
        capped, least, most, held = _torque_limits(model, of)
        # Where a joint's compensation of gravity counts as the actuators' (actuatorgravcomp), MuJoCo applies it with
        # their forces: not at all in a model without actuators, or with actuation disabled.
        by_actuators = model.jnt_actgravcomp[model.dof_jntid].astype(np.float64)
        disabled = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
        acting = 1.0 if model.nactuator and not disabled else 0.0
        lifted, applied = acting * by_actuators, 1.0 - (1.0 - acting) * by_actuators
        integrator = int(model.opt.integrator)
        sprung = integrator == int(kind.mjINT_DISCRETE)
        servoed = sprung or integrator in (int(kind.mjINT_IMPLICIT), int(kind.mjINT_IMPLICITFAST))
        explicit = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
        damped = servoed or (integrator == int(kind.mjINT_EULER) and not explicit)

        def ints(values: Sequence[int] | np.ndarray) -> np.ndarray:
            return np.ascontiguousarray(values, dtype=np.int64)

        self._sprung = sprung
        return bound(
            audit_model,
            len(rows),
            ints(rows),
            np.where(affine, -model.actuator_biasprm[of, 1], 0.0),
            np.where(affine, -model.actuator_biasprm[of, 2], 0.0),
            np.where(limited, model.actuator_forcerange[of, 0], -np.inf),
            np.where(limited, model.actuator_forcerange[of, 1], np.inf),
            data.actuator_force,
            data.actuator_moment,
            data.moment_rownnz,
            data.moment_rowadr,
            data.moment_colind,
            int(damped),
            int(servoed),
            int(sprung),
            len(joints),
            ints(model.jnt_dofadr[joints]),
            ints(model.jnt_qposadr[joints]),
            ints(joints),
            model.jnt_stiffness,
            model.qpos_spring,
            model.nv,
            model.dof_damping,
            self._friction,
            data.qfrc_gravcomp,
            applied,
            data.qfrc_fluid,
            data.qfrc_adhesion,
            data.qpos,
            self._qpos,
            data.qvel,
            self._velocity,
            model.nout,
            len(capped),
            ints(capped),
            least,
            most,
            ints(held),
            lifted,
            data.qfrc_actuator,
            np.zeros(model.nv),
            self._dt,
            self._sums,
        )

    def reset(self) -> None:
        """Start a new balance at the current state."""
        self._sums[:] = 0.0
        self._sums[_STORED] = self._first_stored = float(self._observed[:, O_STORED_ENERGY].sum())
        self._first_rigid = self._last_rigid = None

    def shift(self, energy: float) -> None:
        """Exclude from the balance the energy [J] of bodies that a device has added to the model."""
        if self._first_rigid is not None:
            self._first_rigid += energy
        if self._last_rigid is not None:
            self._last_rigid += energy

    def before(self) -> None:
        """Record the state before a step, with the references of that step."""
        if self._first_rigid is None:  # devices have put the robot where it starts
            self._first_rigid = self.rigid_energy()
        if self._last_rigid is not None:
            work = self.rigid_energy() - self._last_rigid
            self._sums[_REFERENCES] += work
            self._sums[_THROUGHPUT] += abs(work)
        self._observe()
        self._before()
        if self._sprung:
            self._qpos[:] = self._position

    def after(self) -> None:
        """Record the state after a step and add the energy exchanged in the step."""
        self._after()
        self._model_work()
        if np.count_nonzero(self._wrenches):
            work = self._wrench_work()
            self._sums[_EXTERNAL] += work
            self._sums[_THROUGHPUT] += abs(work)
        if self._variable:
            self._last_rigid = self.rigid_energy()

    def _wrench_work(self) -> float:
        """Return the work of `mjData.xfrc_applied` in the step [J]: of what is left of the forces that acted."""
        data = self._data
        force = data.qfrc_smooth - (data.qfrc_passive - data.qfrc_bias + data.qfrc_applied + data.qfrc_actuator)
        return float(0.5 * self._dt * force @ (self._velocity + data.qvel))

    def rigid_energy(self) -> float:
        """Return the kinetic plus potential energy of the bodies in the current state [J]."""
        import mujoco

        model, data, probe = self._model, self._data, self._probe
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
        w = self._sums
        rigid = 0.0 if self._first_rigid is None else self.rigid_energy() - self._first_rigid
        stored = w[_STORED] - self._first_stored + rigid
        return EnergyBalance(
            motors=float(w[_MOTORS]),
            references=float(w[_REFERENCES]),
            external=float(w[_EXTERNAL]),
            stored=float(stored),
            motor_friction=float(w[_FRICTION]),
            motor_damping=float(w[_DAMPING]),
            link_losses=float(w[_LINK]),
            joint_damping=float(w[_PASSIVE]),
            constraints=float(w[_CONSTRAINT]),
            integrator=float(w[_INTEGRATOR]),
            copper=float(w[_COPPER]),
            throughput=float(w[_THROUGHPUT]),
        )


def _torque_limits(
    model: mujoco.MjModel, actuators: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """Return the limited degrees of freedom, least and most torque of all, and which limited one each actuator drives.

    An actuator that drives no joint, or one without a limit, has -1: through a tendon, MuJoCo's integrators take the
    derivative of a servo at the limit of a joint too.
    """
    import mujoco

    sliding = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    ends = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    limited = [j for j in range(model.njnt) if model.jnt_type[j] in sliding and model.jnt_actfrclimited[j]]
    capped = model.jnt_dofadr[limited]
    least, most = np.full(model.nv, -np.inf), np.full(model.nv, np.inf)
    least[capped], most[capped] = model.jnt_actfrcrange[limited].T
    driven = [int(model.actuator_trnid[i, 0]) if model.actuator_trntype[i] in ends else -1 for i in actuators]
    return capped, least, most, [int(model.jnt_dofadr[j]) if j in limited else -1 for j in driven]
