"""Energy audit of a run: the monitor that adds up supplied, stored and dissipated energy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from pliant.energy import kernels
from pliant.energy.balance import EnergyBalance
from pliant.engine.base import mujoco_state
from pliant.engine.callbacks import addresses, observer
from pliant.engine.monitor import Monitor
from pliant.laws import layout as at
from pliant.laws.compile import BoundKernel, bound

if TYPE_CHECKING:
    import mujoco

    from pliant.engine import MujocoState


class EnergyAudit(Monitor):
    """Accumulate the energy balance of one simulation, step by step.

    The work of a torque in a step is its value times step length times the mean of the velocities before and after the
    step. For a body with constant inertia this is exactly its contribution to the change of kinetic energy. The work of
    a reference that jumps is the change of spring energy at the jump. In semi-implicit integration the velocities
    belong to a time half a step before the positions, so the spring energy of a joint is evaluated at that time too:
    E + h v tau / 2 - h omega load / 2, with the velocities v of the link and omega of each motor. Without this
    correction, a moving reference on a stiff spring shows an apparent loss in each step.
    The residual is the error of the integrator and decreases with the time step. Forces that the integrator evaluates
    at the end of the step are counted with the value that acts: dampers and servos with ``implicit``, ``implicitfast``
    and ``discrete``, springs of joints and tendons with ``discrete``.

    Not counted: energy stored in flexes and plugins; the velocity dependence, within a step, of actuators without
    fixed gain and of nonlinear dampers; yield of tendons. Force limits of actuators (``forcerange``) and torque limits
    of joints (``actuatorfrcrange`` in MJCF, ``effort`` in URDF) are taken into account: only the limited torque does
    work.

    Args:
        engine: the engine; `MujocoEngine.add_monitor` lets it follow the steps.

    Example:
        >>> engine = MujocoEngine(robot)
        >>> audit = engine.add_monitor(EnergyAudit(engine))
    """

    def __init__(self, engine: MujocoState) -> None:
        import mujoco

        engine = mujoco_state(engine, "EnergyAudit")
        model, data = engine.model, engine.data
        where = addresses(model)
        self._probe = mujoco.MjData(model)
        self._friction = engine.motor_friction
        self._model, self._data = model, data
        self._dt = float(model.opt.timestep)
        modes = model.actuator_user[where[:, 0], at.P_MODE] if where.size else np.zeros(0)
        self._sums = np.zeros(kernels.SIZE)
        self._observed = np.zeros((where.shape[0], at.OBSERVATIONS))
        self._observe = observe = observer(model, data, where, self._observed, full=False)
        self._velocity = np.zeros(model.nv)
        self._dofs = np.ascontiguousarray(where[:, 2], dtype=np.int64)
        self._direct = (modes < 2).astype(np.int64)
        self._qpos = np.zeros(model.nq)
        rows = np.ascontiguousarray(model.actuator_outadr[where[:, 0]], dtype=np.int64)
        seconds = model.actuator_user[where[:, 0], at.P_SECOND] if where.size else np.zeros(0)
        blocks = (model.actuator_user[where[:, 0], at.P_BLOCKS] if where.size else np.zeros(0)).astype(np.int64)
        shares = np.where(seconds[:, None] == 1.0, (0.5, 0.5), (1.0, 0.0))
        other, address = np.zeros_like(self._observed), self._observed.ctypes.data
        joints = kernels.CompliantRows(
            self._observed, other, observe.values, address, address + other.ctypes.data, where.shape[0], self._dofs,
            self._direct, rows, shares, blocks,
        )  # fmt: skip
        self._span = kernels.StepSpan(self._velocity, data.qvel, model.nv, self._dt, self._sums)
        account_before = bound(kernels.audit_before, joints, self._span)
        start = bound(kernels.audit_start, joints, self._span)
        forces = kernels.JointForces(data.qfrc_applied, data.qfrc_damper, data.qfrc_constraint)
        account_after = bound(kernels.audit_after, joints, self._span, forces, data.actuator_force)
        model_work = self._prepare_model(where)
        before: list[BoundKernel] = []
        after, then = [observe, account_after], list[BoundKernel]()
        lines = _delay_lines(model, where, modes)
        if lines.size:
            # The next references have arrived at the spring: it is evaluated with those of this step.
            delayed = np.zeros(lines.size)
            before.append(bound(kernels.take_places, data.act, lines, lines.size, delayed))
            swap = bound(kernels.swap_places, data.act, lines, lines.size, delayed)
            after = [swap, observe, account_after, swap]
            then = [observe, account_before, start]
        if self._sprung:
            before.append(bound(kernels.copy_numbers, data.qpos, model.nq, self._qpos))
        wrenches = kernels.WrenchForces(
            wrenches=data.xfrc_applied,
            size=data.xfrc_applied.size,
            smooth=data.qfrc_smooth,
            passive=data.qfrc_passive,
            bias=data.qfrc_bias,
            applied=data.qfrc_applied,
            actuator=data.qfrc_actuator,
        )
        self.first = (observe, account_before, start)
        self.before = before
        self.after = (*after, *model_work, bound(kernels.audit_wrenches, wrenches, self._span), *then)
        self.reset()

    def _prepare_model(self, where: np.ndarray) -> list[BoundKernel]:
        """Return what adds the exchanges of MuJoCo's own elements in one step."""
        import mujoco

        model, data = self._model, self._data
        kind = mujoco.mjtIntegrator
        compliant = set(where[:, 0].tolist())
        companions = {i + 1 for i in compliant if model.actuator_user[i, at.P_COMPANION] > 0.5}
        others = [i for i in range(model.nactuator) if i not in compliant and i not in companions]
        outputs = {
            i: range(model.actuator_outadr[i], model.actuator_outadr[i] + model.actuator_outnum[i]) for i in others
        }
        rows = [row for i in others for row in outputs[i]]
        of = [i for i in others for _ in outputs[i]]
        affine = model.actuator_biastype[of] == int(mujoco.mjtBias.mjBIAS_AFFINE)
        limited = model.actuator_forcelimited[of].astype(bool)
        sliding = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
        joints = [j for j in range(model.njnt) if model.jnt_type[j] in sliding and _elastic(model, "jnt", j)]
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

        implicit = kernels.Implicit(int(damped), int(servoed), int(sprung))
        exchanges = bound(
            kernels.audit_model,
            kernels.Servos(
                n=len(rows),
                rows=_ints(rows),
                kp=np.where(affine, -model.actuator_biasprm[of, 1], 0.0),
                kv=np.where(affine, -model.actuator_biasprm[of, 2], 0.0),
                low=np.where(limited, model.actuator_forcerange[of, 0], -np.inf),
                high=np.where(limited, model.actuator_forcerange[of, 1], np.inf),
                held=_ints(held),
            ),
            kernels.Transmission(
                n=model.nout,
                force=data.actuator_force,
                moment=data.actuator_moment,
                counts=data.moment_rownnz,
                first=data.moment_rowadr,
                column=data.moment_colind,
            ),
            implicit,
            kernels.JointSprings(
                n=len(joints),
                dof=_ints(model.jnt_dofadr[joints]),
                place=_ints(model.jnt_qposadr[joints]),
                which=_ints(joints),
                stiffness=model.jnt_stiffness,
                bend=model.jnt_stiffnesspoly,
                rest=model.qpos_spring,
                qpos=data.qpos,
                before=self._qpos,
            ),
            kernels.PassiveForces(
                damping=model.dof_damping,
                hidden=self._friction,
                gravcomp=data.qfrc_gravcomp,
                applied=applied,
                fluid=data.qfrc_fluid,
                adhesion=data.qfrc_adhesion,
            ),
            kernels.TorqueLimits(
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
        tendons = [t for t in range(model.ntendon) if _elastic(model, "tendon", t) or model.tendon_damping[t] > 0.0]
        if not tendons:
            return [exchanges]
        elastic = kernels.ElasticTendons(
            n=len(tendons),
            which=_ints(tendons),
            stiffness=model.tendon_stiffness,
            bend=model.tendon_stiffnesspoly,
            damping=model.tendon_damping,
            span=model.tendon_lengthspring,
            length=data.ten_length,
            moment=data.ten_J,
            counts=model.ten_J_rownnz,
            first=model.ten_J_rowadr,
            column=model.ten_J_colind,
        )
        return [exchanges, bound(kernels.audit_tendons, elastic, implicit, self._span)]

    def reset(self) -> None:
        """Start a new balance at the current state."""
        self._sums[:] = 0.0
        self._observe.values[kernels.WRITTEN] = self._observed.ctypes.data
        self._observe()
        self._sums[kernels.STORED] = self._first_stored = float(self._observed[:, at.O_STORED_ENERGY].sum())
        self._first_rigid, self._first_tendons = None, 0.0

    def begin(self) -> None:
        """Take the energy of the bodies before the first step."""
        if self._first_rigid is None:  # devices have put the robot where it starts
            self._first_rigid, self._first_tendons = self._energies()

    @contextmanager
    def change(self) -> Iterator[None]:
        """Exclude from the balance the energy that a device adds to the bodies or takes from them."""
        if self._first_rigid is None:
            yield
            return
        before = self._energies()[0]
        try:
            yield
        finally:
            self._first_rigid += self._energies()[0] - before

    def _energies(self) -> tuple[float, float]:
        """Return the kinetic plus potential energy in the current state, and the part of the tendons' springs [J]."""
        import mujoco

        model, data, probe = self._model, self._data, self._probe
        probe.qpos[:], probe.qvel[:], probe.time = data.qpos, data.qvel, data.time
        if model.nmocap:
            probe.mocap_pos[:], probe.mocap_quat[:] = data.mocap_pos, data.mocap_quat
        mujoco.mj_fwdPosition(model, probe)
        mujoco.mj_fwdVelocity(model, probe)
        mujoco.mj_energyPos(model, probe)
        mujoco.mj_energyVel(model, probe)
        return float(probe.energy.sum()), _tendon_energy(model, probe.ten_length)

    def balance(self) -> EnergyBalance:
        """Return the balance since the last reset."""
        w = self._sums
        rigid = tendons = 0.0
        if self._first_rigid is not None:
            rigid, tendons = self._energies()
            rigid -= self._first_rigid
            tendons = tendons - self._first_tendons if self._sprung else 0.0
        stored = w[kernels.STORED] - self._first_stored + rigid
        return EnergyBalance(
            motors=float(w[kernels.MOTORS]),
            references=float(w[kernels.REFERENCES]),
            external=float(w[kernels.EXTERNAL]),
            stored=float(stored),
            motor_friction=float(w[kernels.FRICTION]),
            motor_damping=float(w[kernels.DAMPING]),
            velocity_limit=float(w[kernels.SPEED]),
            motor_stops=float(w[kernels.STOPS]),
            cogging=float(w[kernels.COGGING]),
            transmission=float(w[kernels.TRANSMISSION]),
            spring_losses=float(w[kernels.SPRING]),
            valves=float(w[kernels.VALVES]),
            link_losses=float(w[kernels.LINK]),
            joint_damping=float(w[kernels.PASSIVE]),
            constraints=float(w[kernels.CONSTRAINT]),
            integrator=float(w[kernels.INTEGRATOR] + w[kernels.TENDONS] - tendons),
            copper=float(w[kernels.COPPER]),
            throughput=float(w[kernels.THROUGHPUT]),
        )

    def line(self) -> str:
        """Return the balance as one line; "" if nothing moved."""
        balance = self.balance()
        return balance.line() if balance.throughput > 1e-6 else ""

    def as_dict(self) -> dict[str, float]:
        """Return all terms of the balance."""
        return self.balance().as_dict()


def audit_of(engine: MujocoState) -> EnergyAudit | None:
    """Return the audit of an engine; None for a model with an elastic flex, whose energy it does not count."""
    model = engine.model
    elastic = model.flex_stiffness.any() or model.flex_bending.any() or model.flex_edgestiffness.any()
    return None if elastic else EnergyAudit(engine)


def _ints(values: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.int64)


def _elastic(model: mujoco.MjModel, kind: str, index: int) -> bool:
    """Return whether a joint (``jnt``) or tendon has a spring."""
    return bool(
        getattr(model, f"{kind}_stiffness")[index] > 0.0 or getattr(model, f"{kind}_stiffnesspoly")[index].any()
    )


def _tendon_energy(model: mujoco.MjModel, length: np.ndarray) -> float:
    """Return the energy in the springs of tendons of these lengths [J]."""
    low, high = model.tendon_lengthspring.T
    e = np.maximum(length - high, 0.0) + np.minimum(length - low, 0.0)
    b, c = model.tendon_stiffnesspoly.T
    return float(kernels.spring_energy(e, model.tendon_stiffness, b, c).sum())


def _delay_lines(model: mujoco.MjModel, where: np.ndarray, modes: np.ndarray) -> np.ndarray:
    """Return the addresses in `mjData.act` of the command delay lines and slew limits of actuators with ideal motors
    (modes 2, 3)."""
    lines = [np.zeros(0, dtype=np.int64)]
    for i, mode in zip(where[:, 0], modes, strict=True):
        row, begin = model.actuator_user[i], int(model.actuator_actadr[i])
        if mode not in (2, 3):
            continue
        for place, length in ((at.A_DELAY, 1 + 2 * int(row[at.P_DELAY])), (at.A_SLEW, 2)):
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
