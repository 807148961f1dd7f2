"""Mechanism of a robot with elastic rods beside its bodies: an equilibrium to start from, servos, limbs that extend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.base.spatial import cross, pose
from pliant.model.description import REST_KEY
from pliant.model.interface import PartDefaults
from pliant.model.problem import Problem
from pliant.model.robot import Robot
from pliant.model.wanted import check_robot
from pliant.parallel.model.assembly import PLATE
from pliant.parallel.model.flex import bend
from pliant.parallel.model.options import ParallelOptions
from pliant.parallel.model.rod_weight import Extension
from pliant.rods.limits import refuse_beyond
from pliant.rods.model.damping import bending_frequency, install_damping, material_damping, simulated_damping

if TYPE_CHECKING:
    from pliant.rods.description import RobotDescription
    from pliant.rods.solution import Solution

OWN_WRENCH = 6
"""Numbers at the start of MuJoCo's ``userdata``, a part of the state: the wrench that `MechanismState` has put on the
plate, so that forces of others on it stay."""
MAX_RESIDUAL = 1e-8
"""Largest scaled residual of an equilibrium."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Servo:
    """The position servo of an actuated joint."""

    name: str
    """Name of the joint and of its actuator."""
    stiffness: float
    """Stiffness [N/m or N m/rad]."""
    inertia: float
    """Mass or inertia that it moves beside the rod [kg or kg m^2]."""
    limits: tuple[float, float] | None
    """Range of the joint in the model [m or rad]: its limits, of an extension within what its elements can follow
    (`pliant.parallel.model.extension.REACH`); None: endless."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParallelMechanism(PartDefaults):
    """The description of a continuum parallel robot in `Robot.devices`."""

    name: str = "cpr"
    """Name of its device."""
    solution: Solution
    """The equilibrium that the model starts from."""
    options: ParallelOptions
    """How the rods became a model, and how the robot is driven."""
    servos: tuple[Servo, ...]
    """The servos, in the order of q."""
    constraints: tuple[str, ...] = ()
    """Names of the equality constraints that hold the robot together."""
    elastic: Mapping[str, float] = field(default_factory=dict)
    """Stiffness of the joints of chains [N m/rad or N/m], 1 of flexes, that are the elasticity of the rods, by name."""
    extensions: tuple[Extension, ...] = ()
    """The limbs whose rods change their length."""
    bent: Mapping[str, Array] = field(default_factory=dict)
    """Where the equilibrium has the points of a flex and the twists of its edges, by name."""
    edges: Mapping[str, Array] = field(default_factory=dict)
    """Rest lengths of the edges of each flex [m], by name."""

    @property
    def description(self) -> RobotDescription:
        """Description of the robot's parts."""
        return self.solution.robot.description

    @property
    def actuators(self) -> list[str]:
        """Names of the servos, in the order of q."""
        return [servo.name for servo in self.servos]

    # -- what `Robot` asks of a part of the model ---------------------------------------------------------------

    def prefixed(self, prefix: str) -> ParallelMechanism:
        """Refuse: the equilibrium is that of a robot which stands alone in the world.

        Raises:
            ModelError: always.
        """
        raise ModelError(
            f"attach: the parallel robot {self.description.name!r} cannot follow under the prefix {prefix!r}: its "
            "equilibrium was solved for its present pose; attach the other robot to it instead",
            field="prefix",
        )

    def install(self, spec: mujoco.MjSpec, original: mujoco.MjSpec) -> None:
        """Set what depends on the time step: damping of servos and rods, stiffness of the constraints."""
        dt = float(spec.option.timestep)
        install_damping(spec, self.elastic, self.options.damping)
        for servo in self.servos:
            # As fast as two steps of the simulation allow: critically damped, or slower where the mass is small.
            kv = max(2.0 * np.sqrt(servo.stiffness * servo.inertia), 2.0 * servo.stiffness * dt)
            spec.actuator(servo.name).set_to_position(kp=servo.stiffness, kv=kv)
        for extension in self.extensions:
            extension.install(spec)
        own = set(self.constraints)
        for equality in spec.equalities:
            if equality.name in own:
                equality.solref = (2.0 * dt, 1.0)

    def finish(self, model: mujoco.MjModel) -> None:
        """Make the equilibrium the initial state of the compiled model, and the controls of its key frame."""
        if self.bent:
            bend(model, self.bent, self.edges)
        key = model.key(REST_KEY).id
        model.key_qpos[key] = model.qpos0
        for servo, q in zip(self.servos, self.solution.q):
            model.key_ctrl[key, model.actuator_ctrladr[model.actuator(servo.name).id]] = q

    def check(self, spec: mujoco.MjSpec) -> list[Problem]:
        """Check the start: its residual and stability, direct against inverse model, the error of integration."""
        out = []
        start = self.solution
        robot = start.robot
        if spec.option.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE:
            out += self._check_damping(float(spec.option.timestep))
        if start.morse_index:
            text = f"the start is unstable in {start.morse_index} directions: the model will leave it"
            out.append(Problem("warning", "stability", text))
        out += [Problem("info", "stability", motion) for motion in start.stability().free]
        back = robot.solve_dgm(start.q, start.wrench, start=start, branch="smooth", follower=start.follower)
        fine = start.with_steps(4 * max(start.steps, 4))
        fine = robot.solve_dgm(start.q, start.wrench, start=fine, branch="smooth", follower=start.follower)
        for subject, value, limit, unit in (
            ("scaled residual at the start", start.residual, MAX_RESIDUAL, ""),
            ("direct against inverse model", 1e3 * _distance(back, start), 1e-3, "mm"),
            ("integration against four times the steps", 1e3 * _distance(fine, start), 1e-2, "mm"),
        ):
            out.append(measured(subject, value, limit, unit))
        return out

    def _check_damping(self, dt: float) -> list[Problem]:
        """Warn where the damping that was asked for is less than that of the integrator alone."""
        asked = self.options.damping
        if dt <= asked:
            return []
        d = self.description
        rods = [(i, bending_frequency(limb.rod)) for i, limb in enumerate(d.limbs) if limb.rod.values(0.5).mass > 0.0]
        if rods:
            limb, f = min(rods, key=lambda one: one[1])
            what = f"at {f:.3g} Hz, where the rod of {d.limb_name(limb)} swings if it is clamped at its base,"
        else:
            f, what = 10.0, "at 10 Hz"
        text = (
            f"the integrator discrete damps the rods as much as a robot.damping of the time step, {dt:g} s, which is "
            f"more than the {asked:g} s that were asked for: {what} the damping ratio is "
            f"{simulated_damping(f, asked, dt):.4f} instead of {material_damping(f, asked):.4f}"
        )
        hint = f"use an option.timestep of at most {asked:g} s" if asked > 0.0 else "use a smaller option.timestep"
        return [Problem("warning", "robot.damping", text, hint)]

    @property
    def stiff(self) -> bool:
        """Whether it needs the integrator ``discrete``: yes."""
        return True

    def export(self, spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
        """Refuse a flex.

        Raises:
            ModelError: the rods are a flex.
        """
        if self.bent:
            raise ModelError(
                "a flex is compiled straight and bent afterwards, which no MJCF file holds; set robot.variant to chain",
                field="variant",
            )

    # -- the running robot --------------------------------------------------------------------------------------

    def bind(self, model: mujoco.MjModel, data: mujoco.MjData) -> MechanismState:
        """Return the mechanism in a simulation of the compiled robot."""
        return MechanismState(self, model, data)


def measured(subject: str, value: float, limit: float, unit: str, *, least: bool = False) -> Problem:
    """Return what a measured value says: an error where it is beyond its limit, else information.

    Args:
        least: whether the value must be at least, not at most, the limit. Such a speed depends on the machine: below
            the limit it is a warning.
    """
    passed = value >= limit if least else value <= limit
    severity: Literal["error", "warning", "info"] = "info" if passed else "warning" if least else "error"
    text = f"{value:.3g}{' ' * bool(unit)}{unit} (must be {'>=' if least else '<='} {limit:g})"
    return Problem(severity, subject, text, value=float(value), limit=limit, unit=unit)


def _distance(one: Solution, two: Solution) -> float:
    return float(np.abs(one.plate_pose - two.plate_pose).max())


class MechanismState:
    """A continuum parallel robot in a simulation: MuJoCo's model and data, read and written as joints and plate.

    Args:
        mechanism: the robot.
        model: what `Robot.compile` returned.
        data: its data.
    """

    def __init__(self, mechanism: ParallelMechanism, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self.mechanism = mechanism
        self.model = model
        self.data = data
        names = mechanism.actuators
        self._controls = [int(model.actuator_ctrladr[model.actuator(name).id]) for name in names]
        self._joints = [int(model.jnt_qposadr[model.joint(name).id]) for name in names]
        self._plate = int(model.body(PLATE).id)
        first = int(model.body_dofadr[self._plate])
        self._plate_dofs = slice(first, first + int(model.body_dofnum[self._plate]))
        self._com = np.asarray(mechanism.description.plate.com, dtype=float)
        self._wrench = np.zeros(6)

    def start(self) -> None:
        """Put the simulation at rest in the equilibrium: positions, controls, wrench on the plate; time 0."""
        mujoco.mj_resetDataKeyframe(self.model, self.data, self.model.key(REST_KEY).id)
        self.set_wrench(self.mechanism.solution.wrench)
        mujoco.mj_forward(self.model, self.data)

    def set_joints(self, q: ArrayLike) -> None:
        """Command the servos: actuated joint values, shape (actuators,) [m or rad].

        Raises:
            ModelError: the values do not fit the robot, or one is beyond its range.
        """
        values = self.mechanism.solution.robot.checked_joints(q)
        limits = [servo.limits for servo in self.mechanism.servos]
        refuse_beyond(self.mechanism.actuators, limits, values, ModelError)
        self.data.ctrl[self._controls] = values

    def joints(self) -> Array:
        """Return the actuated joint values, shape (actuators,) [m or rad]."""
        return np.array(self.data.qpos[self._joints])

    def plate_pose(self) -> Array:
        """Return the plate pose, shape (4, 4)."""
        return pose(self.data.xpos[self._plate], self.data.xmat[self._plate].reshape(3, 3))

    def plate_twist(self) -> Array:
        """Return the velocity of the plate's origin and its turning, world axes, shape (6,) or planar (3,)."""
        speed = self.data.qvel[self._plate_dofs]
        if len(speed) == 3:
            return speed
        # MuJoCo gives the turning of a free body in its own axes.
        twist = speed.copy()
        twist[3:] = self.data.xmat[self._plate].reshape(3, 3) @ speed[3:]
        return twist

    def set_wrench(self, wrench: ArrayLike) -> None:
        """Apply a dead wrench to the plate about its origin, world axes, shape (6,) or planar (3,) [N, N m].

        Forces of others on the plate stay. MuJoCo refers a wrench to the centre of mass: where that is off the origin,
        call it once a step, as `step` does.
        """
        self._wrench = self.mechanism.solution.robot.checked_wrench(wrench)
        self._put_wrench()

    def _put_wrench(self) -> None:
        w, arm = self._wrench, self.data.xmat[self._plate].reshape(3, 3) @ self._com
        applied, own = self.data.xfrc_applied[self._plate], self.data.userdata[:OWN_WRENCH]
        applied -= own
        own[:3], own[3:] = w[:3], w[3:] - cross(arm, w[:3])
        applied += own

    def step(self) -> None:
        """Advance the simulation by one step, under the wrench that was set last."""
        if self._com.any() and self._wrench.any():
            self._put_wrench()
        mujoco.mj_step(self.model, self.data)


def find_mechanism(robot: Robot) -> ParallelMechanism | None:
    """Return the parallel mechanism of a robot, None where it has none."""
    check_robot(robot, "find_mechanism", compiled=False)
    return next((device for device in robot.devices if isinstance(device, ParallelMechanism)), None)


def mechanism_of(robot: Robot) -> ParallelMechanism:
    """Return the parallel mechanism of a robot.

    Raises:
        ModelError: it has none.
    """
    found = find_mechanism(robot)
    if found is None:
        raise ModelError(f"{robot.name!r} is not a parallel robot: it has no elastic rods", field="robot")
    return found
