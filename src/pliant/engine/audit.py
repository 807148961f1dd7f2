"""The energy audit of a run: what went in, what is stored, what was lost, what does not add up."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.laws.compile import native
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
    P_MODE,
)

if TYPE_CHECKING:
    import mujoco

__all__ = ["EnergyAudit", "EnergyBalance"]

_W = OBSERVATIONS
# what the accumulator holds
_MOTORS, _REFERENCES, _EXTERNAL, _FRICTION, _DAMPING, _LINK, _PASSIVE, _CONSTRAINT, _COPPER = range(9)
_THROUGHPUT, _STORED, _START = 9, 10, 11
_SIZE = 12


def audit_before(observed, n, was, qvel, nv, velocity, sums):
    """Take the state before a step, with the references of that step (C arrays, see `EnergyAudit`)."""
    stored = 0.0
    for i in range(n):
        stored += observed[i * _W + O_STORED_ENERGY]
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
    """Accumulates the balance of one simulation, step by step.

    Over a step, the work of a torque that is applied to a body with constant inertia is its value times the mean of the
    velocities before and after: exactly its part in the change of kinetic energy. The work of a reference that jumps
    is the change of the spring's energy at the moment of the jump. So the residual is the error of the integrator (the
    springs' torques are those of the step's start) and shrinks with the time step.

    Args:
        model: the compiled model.
        data: its state.
        where: addresses of the compliant actuators, as `pliant.engine.callbacks.addresses` gives them.
        observed: their observations, shape (actuators, `pliant.laws.layout.OBSERVATIONS`).
        observe: brings the observations up to date.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        where: np.ndarray,
        observed: np.ndarray,
        observe: Callable[[], None],
    ) -> None:
        self._model, self._data, self._observed, self._observe = model, data, observed, observe
        self._dt = float(model.opt.timestep)
        modes = model.actuator_user[where[:, 0], P_MODE] if where.size else np.zeros(0)
        self._sums = np.zeros(_SIZE)
        self._was = np.zeros_like(observed)
        self._velocity = np.zeros(model.nv)
        self._dofs = np.ascontiguousarray(where[:, 2], dtype=np.int64)
        self._direct = (modes < 2).astype(np.int64)
        n, nv = where.shape[0], model.nv
        pointer, integer, double = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
        self._before = ctypes.CFUNCTYPE(None, pointer, integer, pointer, pointer, integer, pointer, pointer)(
            native(
                audit_before,
                lambda t: t.void(
                    *(t.CPointer(t.float64), t.int64, t.CPointer(t.float64), t.CPointer(t.float64), t.int64),
                    *(t.CPointer(t.float64), t.CPointer(t.float64)),
                ),
            )
        )
        self._after = ctypes.CFUNCTYPE(
            *(None, pointer, pointer, integer, pointer, pointer, pointer, pointer, integer),
            *(pointer, pointer, pointer, double, pointer),
        )(
            native(
                audit_after,
                lambda t: t.void(
                    *(t.CPointer(t.float64), t.CPointer(t.float64), t.int64, t.CPointer(t.int64), t.CPointer(t.int64)),
                    *(t.CPointer(t.float64), t.CPointer(t.float64), t.int64, t.CPointer(t.float64)),
                    *(t.CPointer(t.float64), t.CPointer(t.float64), t.float64, t.CPointer(t.float64)),
                ),
            )
        )

        def at(array: np.ndarray) -> int:
            return array.ctypes.data

        # mjData keeps its arrays where they are, so the addresses are taken once.
        sums, was, velocity, seen = at(self._sums), at(self._was), at(self._velocity), at(observed)
        self._before_arguments = (seen, n, was, at(data.qvel), nv, velocity, sums)
        self._after_arguments = (
            *(seen, was, n, at(self._dofs), at(self._direct), at(data.qvel), velocity, nv),
            *(at(data.qfrc_applied), at(data.qfrc_damper), at(data.qfrc_constraint), self._dt, sums),
        )
        self._wrenches = data.xfrc_applied
        self.reset()

    def reset(self) -> None:
        """Start a new balance at the present state."""
        self._sums[:] = 0.0
        self._sums[_STORED] = self._first_stored = float(self._observed[:, O_STORED_ENERGY].sum())
        self._first_rigid = self.rigid_energy()

    def before(self) -> None:
        """Take the state before a step, with the references of that step."""
        self._observe()
        self._before(*self._before_arguments)

    def after(self) -> None:
        """Take the state after a step and add the step's exchanges."""
        self._after(*self._after_arguments)
        if np.count_nonzero(self._wrenches):
            work = self._wrench_work(self._dt)
            self._sums[_EXTERNAL] += work
            self._sums[_THROUGHPUT] += abs(work)

    def _wrench_work(self, h: float) -> float:
        data = self._data
        # cvel is (angular, linear) about the subtree's centre of mass, in world axes.
        moved = data.xfrc_applied.any(axis=1)
        total = 0.0
        for b in np.flatnonzero(moved):
            root = self._model.body_rootid[b]
            omega, linear = data.cvel[b, :3], data.cvel[b, 3:]
            at = linear + np.cross(omega, data.xipos[b] - data.subtree_com[root])
            total += float(data.xfrc_applied[b, :3] @ at + data.xfrc_applied[b, 3:] @ omega)
        return total * h

    def rigid_energy(self) -> float:
        """Return kinetic plus potential energy of the bodies at the present state [J]."""
        import mujoco

        model, data = self._model, self._data
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
        w = self._sums
        stored = w[_STORED] - self._first_stored + self.rigid_energy() - self._first_rigid
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
            copper=float(w[_COPPER]),
            throughput=float(w[_THROUGHPUT]),
        )
