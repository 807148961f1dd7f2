"""Energy audit of a run: supplied, stored and dissipated energy, and the balance error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.laws.compile import bound
from pliant.laws.layout import (
    A_DELAY,
    A_SLEW,
    O_COPPER_POWER,
    O_LINK_DAMPING_TORQUE,
    O_LINK_FRICTION_TORQUE,
    O_LOAD_1,
    O_LOAD_2,
    O_MOTOR_1_EFFORT,
    O_MOTOR_1_FRICTION,
    O_MOTOR_1_POSITION,
    O_MOTOR_1_VELOCITY,
    O_MOTOR_2_EFFORT,
    O_MOTOR_2_FRICTION,
    O_MOTOR_2_POSITION,
    O_MOTOR_2_VELOCITY,
    O_STORED_ENERGY,
    O_TORQUE,
    OBSERVATIONS,
    P_COMPANION,
    P_DELAY,
    P_MODE,
)

if TYPE_CHECKING:
    import mujoco

__all__ = ["EnergyAudit", "EnergyBalance"]

_W = OBSERVATIONS
# what the accumulator holds
_MOTORS, _REFERENCES, _EXTERNAL, _FRICTION, _DAMPING, _LINK, _PASSIVE, _CONSTRAINT, _COPPER = range(9)
_THROUGHPUT, _STORED, _START, _INTEGRATOR, _SPEED, _STOPS, _COGGING = 9, 10, 11, 12, 13, 14, 15
_SIZE = 16


class StepSpan(NamedTuple):
    """The degrees of freedom before and after a step."""

    velocity: np.ndarray
    """Velocities before the step, shape (nv,)."""
    qvel: np.ndarray
    """Velocities now, shape (nv,)."""
    nv: int
    """Number of degrees of freedom."""
    h: float
    """Time step [s]."""
    sums: np.ndarray
    """Receives the exchanges [J]."""


class CompliantRows(NamedTuple):
    """The compliant actuators of a model."""

    observed: np.ndarray
    """Observations now, shape (n, `pliant.laws.layout.OBSERVATIONS`)."""
    was: np.ndarray
    """Observations before the step."""
    n: int
    """Number of actuators."""
    dofs: np.ndarray
    """Degree of freedom of each, -1 for none."""
    direct: np.ndarray
    """1 where the actuator applies torques to the link (modes 0 and 1)."""
    rows: np.ndarray
    """Row of each in the forces of the actuators."""


class JointForces(NamedTuple):
    """Forces on the degrees of freedom that act in a step, each of shape (nv,)."""

    applied: np.ndarray
    """Forces from outside."""
    damper: np.ndarray
    """Forces of dampers."""
    constraint: np.ndarray
    """Forces of constraints."""


class Servos(NamedTuple):
    """Actuators that are not compliant joints, one per output: f = f_start - kv dv - h kp v, limited."""

    n: int
    """Number of outputs."""
    rows: np.ndarray
    """Row of each in the forces of the actuators."""
    kp: np.ndarray
    """Position gain."""
    kv: np.ndarray
    """Velocity gain."""
    low: np.ndarray
    """Least force."""
    high: np.ndarray
    """Most force."""
    held: np.ndarray
    """Limited degree of freedom that it drives, -1 for none."""


class Transmission(NamedTuple):
    """Forces of all actuators and their moments, as MuJoCo stores them: sparse rows."""

    n: int
    """Number of rows."""
    force: np.ndarray
    """Force of each row."""
    moment: np.ndarray
    """Moments of all rows."""
    count: np.ndarray
    """Number of moments of each row."""
    first: np.ndarray
    """First moment of each row."""
    column: np.ndarray
    """Degree of freedom of each moment."""


class Implicit(NamedTuple):
    """What the integrator evaluates at the end of the step, 0 or 1."""

    damped: int
    """Dampers of joints."""
    servoed: int
    """Velocity gains of actuators."""
    sprung: int
    """Springs of joints and position gains of actuators."""


class JointSprings(NamedTuple):
    """Springs of joints that are no compliant actuators."""

    n: int
    """Number of springs."""
    dof: np.ndarray
    """Degree of freedom of each."""
    place: np.ndarray
    """Address of each in ``qpos``."""
    which: np.ndarray
    """Joint of each."""
    stiffness: np.ndarray
    """Stiffness of all joints."""
    rest: np.ndarray
    """Rest positions of all joints, as ``qpos``."""
    qpos: np.ndarray
    """Positions now."""
    before: np.ndarray
    """Positions before the step."""


class PassiveForces(NamedTuple):
    """Passive forces on the degrees of freedom, each of shape (nv,)."""

    damping: np.ndarray
    """Coefficient of damping."""
    hidden: np.ndarray
    """Friction that a device includes in a motor's torque."""
    gravcomp: np.ndarray
    """Compensation of gravity."""
    applied: np.ndarray
    """Share of it that does not count as the actuators'."""
    fluid: np.ndarray
    """Forces of a fluid."""
    adhesion: np.ndarray
    """Forces of adhesion."""


class TorqueLimits(NamedTuple):
    """Joints that limit the sum of what their actuators, and their compensation of gravity, ask for."""

    n: int
    """Number of limited degrees of freedom."""
    dofs: np.ndarray
    """The limited degrees of freedom."""
    least: np.ndarray
    """Least torque, shape (nv,)."""
    most: np.ndarray
    """Most torque, shape (nv,)."""
    lifted: np.ndarray
    """Share of the compensation of gravity that counts as the actuators', shape (nv,)."""
    torque: np.ndarray
    """Torque that acts, shape (nv,)."""
    asked: np.ndarray
    """Torque that is asked for; a buffer of shape (nv,)."""


def centred_energy(observed, r, d, direct, velocity, h):
    """Return the stored energy of an actuator at the time of the velocities, half a step before the positions.

    ``r`` is the start of its row in ``observed``, ``d`` its degree of freedom, ``velocity`` the joint velocities.
    """
    stored = observed[r + O_STORED_ENERGY]
    if direct != 0:
        return stored
    if d >= 0:
        spring = observed[r + O_TORQUE] + observed[r + O_LINK_FRICTION_TORQUE] + observed[r + O_LINK_DAMPING_TORQUE]
        stored += 0.5 * h * velocity[d] * spring
    if observed[r + O_MOTOR_1_EFFORT] == observed[r + O_MOTOR_1_EFFORT]:  # not NaN: the mode has this motor
        stored -= 0.5 * h * observed[r + O_MOTOR_1_VELOCITY] * observed[r + O_LOAD_1]
    if observed[r + O_MOTOR_2_EFFORT] == observed[r + O_MOTOR_2_EFFORT]:
        stored -= 0.5 * h * observed[r + O_MOTOR_2_VELOCITY] * observed[r + O_LOAD_2]
    return stored


def audit_before(joints, span):
    """Take the state before a step, with the references of that step (C arrays, see `EnergyAudit`)."""
    observed, was, n, dofs, direct, _ = joints
    velocity, qvel, nv, h, sums = span
    stored = 0.0
    for i in range(n):
        stored += centred_energy(observed, i * _W, dofs[i], direct[i], qvel, h)
    for k in range(n * _W):
        was[k] = observed[k]
    for k in range(nv):
        velocity[k] = qvel[k]
    # Nothing moved since the last step, so a change of stored energy is the work of the references.
    work = stored - sums[_STORED]
    sums[_REFERENCES] += work
    sums[_THROUGHPUT] += abs(work)
    sums[_START] = stored


def audit_motor(observed, was, r, o, x, load, h, gone):
    """Add the exchanges of one motor in a step to ``gone``: work, friction, damping, speed limit, stops,
    cogging.

    ``o`` is the column of its position, followed by velocity and effort, ``x`` of its friction, followed by damping,
    speed limit and stop, and ``load`` of its load. Where a stop shortens the way of a step, it takes up the work of
    the load on the rest of the way.
    """
    turned = 0.5 * h * (was[r + o + 1] + observed[r + o + 1])
    if turned == turned and was[r + o + 2] == was[r + o + 2]:  # not NaN: the mode has this motor
        gone[0] += was[r + o + 2] * turned
        gone[1] += was[r + x] * turned
        gone[2] += was[r + x + 1] * turned
        gone[3] += was[r + x + 2] * turned
        gone[5] += was[r + x + 4] * turned
        if was[r + x + 3] != 0.0:
            short = observed[r + o] - was[r + o] - h * observed[r + o + 1]
            gone[4] += was[r + x + 3] * turned - 0.5 * (was[r + load] + observed[r + load]) * short


def audit_after(joints, span, forces, force, gone):
    """Add the exchanges of one step (C arrays, see `EnergyAudit`)."""
    observed, was, n, dofs, direct, rows = joints
    velocity, qvel, nv, h, sums = span
    applied, damper, constraint = forces
    external = 0.0
    passive = 0.0
    contact = 0.0
    for k in range(nv):
        mean = 0.5 * h * (velocity[k] + qvel[k])
        external += applied[k] * mean
        passive -= damper[k] * mean
        contact -= constraint[k] * mean
    link = 0.0
    copper = 0.0
    stored = 0.0
    ahead = 0.0
    for k in range(6):
        gone[k] = 0.0
    for i in range(n):
        r = i * _W
        d = dofs[i]
        stored += centred_energy(observed, r, d, direct[i], qvel, h)
        copper += 0.5 * h * (was[r + O_COPPER_POWER] + observed[r + O_COPPER_POWER])
        audit_motor(observed, was, r, O_MOTOR_1_POSITION, O_MOTOR_1_FRICTION, O_LOAD_1, h, gone)
        audit_motor(observed, was, r, O_MOTOR_2_POSITION, O_MOTOR_2_FRICTION, O_LOAD_2, h, gone)
        if d >= 0:
            turned = 0.5 * h * (velocity[d] + qvel[d])
            lost = (was[r + O_LINK_FRICTION_TORQUE] + was[r + O_LINK_DAMPING_TORQUE]) * turned
            link += lost
            if direct[i] != 0:
                gone[0] += was[r + O_TORQUE] * turned + lost
            else:
                ahead += (force[rows[i]] - was[r + O_TORQUE]) * turned
    sums[_MOTORS] += gone[0]
    sums[_EXTERNAL] += external
    sums[_FRICTION] += gone[1]
    sums[_DAMPING] += gone[2]
    sums[_SPEED] += gone[3]
    sums[_STOPS] += gone[4]
    sums[_COGGING] += gone[5]
    sums[_LINK] += link
    sums[_PASSIVE] += passive
    sums[_CONSTRAINT] += contact
    sums[_COPPER] += copper
    sums[_INTEGRATOR] -= ahead
    for k in range(6):
        sums[_THROUGHPUT] += abs(gone[k])
    sums[_THROUGHPUT] += abs(external) + abs(link) + abs(passive) + abs(ahead)
    sums[_THROUGHPUT] += abs(contact) + abs(stored - sums[_START])
    sums[_STORED] = stored


def audit_model(servos, transmission, implicit, springs, passive_forces, limits, span):
    """Add what MuJoCo's own elements exchange in one step (C arrays, see `EnergyAudit`).

    The integrator evaluates some forces at the end of the step, linearised: f = f_start - d (v_1 - v_0) - h k v_1. The
    flags say for what: ``damped`` dampers of joints, ``servoed`` the d of actuators, ``sprung`` every k; d and k of
    an actuator do not act while it, or the joint ``held`` that it drives, is at its limit.
    """
    actuators, rows, kp, kv, low, high, held = servos
    outputs, force, moment, count, first, column = transmission
    damped, servoed, sprung = implicit
    sprung_joints, dof, place, which, stiffness, rest, qpos, before = springs
    damping, hidden, gravcomp, applied, fluid, adhesion = passive_forces
    limited, capped, least, most, lifted, torque, asked = limits
    velocity, qvel, nv, h, sums = span
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
    if limited > 0:
        for k in range(nv):
            asked[k] = lifted[k] * gravcomp[k]
        for row in range(outputs):
            for k in range(first[row], first[row] + count[row]):
                asked[column[k]] += moment[k] * force[row]
        for i in range(limited):
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
        for i in range(sprung_joints):
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
    """Change of kinetic, potential, spring and motor energy. Energy in friction bristles counts as friction loss."""
    motor_friction: float
    """Loss in the presliding friction of the motors, and in friction that a device includes in a motor's torque."""
    motor_damping: float
    """Loss in the viscous friction of the motors."""
    velocity_limit: float
    """Kinetic energy that the speed limit of the motors takes (``limit_velocity``)."""
    motor_stops: float
    """Energy that the stops of the motors take in impacts (``min_position``, ``max_position``)."""
    cogging: float
    """Work against the cogging of the motors, 0 over a period of it."""
    link_losses: float
    """Loss in the friction and damping that the actuators apply to the link."""
    joint_damping: float
    """Loss in the viscous damping of the joints and in other passive forces of the model."""
    constraints: float
    """Loss in joint friction, joint limits and contacts."""
    integrator: float
    """Loss by the order of evaluation in a step: numerical damping of joint springs by MuJoCo's integrator
    ``discrete``, and in modes 5 and 6 the work of the torque that the link gets from a spring because it is evaluated
    at the motor positions of the next step, as in the original toolbox. Negative where a step adds energy."""
    copper: float
    """Heat in the motor windings; not part of the mechanical balance."""

    @property
    def residual(self) -> float:
        """Energy balance error [J], caused by the time integration: supplied less lost less stored energy."""
        supplied = self.motors + self.references + self.external
        lost = self.motor_friction + self.motor_damping + self.velocity_limit + self.motor_stops + self.cogging
        lost += self.link_losses + self.joint_damping + self.constraints
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
    E + h v tau / 2 - h omega load / 2, with the velocities v of the link and omega of each motor. Without this
    correction, a moving reference on a stiff spring shows an apparent loss in each step.
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
        rows = np.ascontiguousarray(model.actuator_outadr[where[:, 0]], dtype=np.int64)
        joints = CompliantRows(observed, self._was, where.shape[0], self._dofs, self._direct, rows)
        self._span = StepSpan(self._velocity, data.qvel, model.nv, self._dt, self._sums)
        self._before = bound(audit_before, joints, self._span)
        forces = JointForces(data.qfrc_applied, data.qfrc_damper, data.qfrc_constraint)
        self._after = bound(audit_after, joints, self._span, forces, data.actuator_force, np.zeros(6))
        self._lines = _delay_lines(model, where, modes)
        self._delayed = np.zeros(self._lines.size)
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
        sprung = self._sprung = integrator == int(kind.mjINT_DISCRETE)
        servoed = sprung or integrator in (int(kind.mjINT_IMPLICIT), int(kind.mjINT_IMPLICITFAST))
        explicit = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
        damped = servoed or (integrator == int(kind.mjINT_EULER) and not explicit)

        return bound(
            audit_model,
            Servos(
                n=len(rows),
                rows=_ints(rows),
                kp=np.where(affine, -model.actuator_biasprm[of, 1], 0.0),
                kv=np.where(affine, -model.actuator_biasprm[of, 2], 0.0),
                low=np.where(limited, model.actuator_forcerange[of, 0], -np.inf),
                high=np.where(limited, model.actuator_forcerange[of, 1], np.inf),
                held=_ints(held),
            ),
            Transmission(
                n=model.nout,
                force=data.actuator_force,
                moment=data.actuator_moment,
                count=data.moment_rownnz,
                first=data.moment_rowadr,
                column=data.moment_colind,
            ),
            Implicit(int(damped), int(servoed), int(sprung)),
            JointSprings(
                n=len(joints),
                dof=_ints(model.jnt_dofadr[joints]),
                place=_ints(model.jnt_qposadr[joints]),
                which=_ints(joints),
                stiffness=model.jnt_stiffness,
                rest=model.qpos_spring,
                qpos=data.qpos,
                before=self._qpos,
            ),
            PassiveForces(
                damping=model.dof_damping,
                hidden=self._friction,
                gravcomp=data.qfrc_gravcomp,
                applied=applied,
                fluid=data.qfrc_fluid,
                adhesion=data.qfrc_adhesion,
            ),
            TorqueLimits(
                n=len(capped),
                dofs=_ints(capped),
                least=least,
                most=most,
                lifted=lifted,
                torque=data.qfrc_actuator,
                asked=np.zeros(model.nv),
            ),
            self._span,
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
        if self._lines.size:
            self._delayed[:] = self._data.act[self._lines]
        if self._sprung:
            self._qpos[:] = self._position

    def after(self) -> None:
        """Record the state after a step and add the energy exchanged in the step."""
        if self._lines.size:
            # The next references have arrived at the spring: it is evaluated with those of this step.
            arrived = self._data.act[self._lines]
            self._data.act[self._lines] = self._delayed
            self._observe()
            self._after()
            self._data.act[self._lines] = arrived
            self._observe()
        else:
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
            velocity_limit=float(w[_SPEED]),
            motor_stops=float(w[_STOPS]),
            cogging=float(w[_COGGING]),
            link_losses=float(w[_LINK]),
            joint_damping=float(w[_PASSIVE]),
            constraints=float(w[_CONSTRAINT]),
            integrator=float(w[_INTEGRATOR]),
            copper=float(w[_COPPER]),
            throughput=float(w[_THROUGHPUT]),
        )


def _ints(values: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.int64)


def _delay_lines(model: mujoco.MjModel, where: np.ndarray, modes: np.ndarray) -> np.ndarray:
    """Return the addresses in `mjData.act` of the command delay lines and slew limits of actuators with ideal motors
    (modes 2, 3)."""
    lines = [np.zeros(0, dtype=np.int64)]
    for i, mode in zip(where[:, 0], modes, strict=True):
        row, begin = model.actuator_user[i], int(model.actuator_actadr[i])
        if mode not in (2, 3):
            continue
        for place, length in ((A_DELAY, 1 + 2 * int(row[P_DELAY])), (A_SLEW, 2)):
            if row[place] >= 0.0:
                lines.append(begin + int(row[place]) + np.arange(length))
    return np.concatenate(lines)


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
