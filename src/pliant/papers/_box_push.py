"""The simulation of the box experiment: an arm of five qbMoves plans and makes pushes, one at a time or in a batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.base.errors import PliantError
from pliant.base.numerics import GRAVITY, Array
from pliant.base.options import option
from pliant.control import ClosedLoopInverseKinematics, GravityCompensation, MinimumJerk
from pliant.engine import MujocoEngine, hold_pose
from pliant.experiments.runs import drive
from pliant.experiments.trace import Trace, Traced
from pliant.feet.contacts import contact_forces
from pliant.joints.qbmove_5dof.build import BOX, JOINTS, TIP
from pliant.joints.qbmove_5dof.kinematics import ArmKinematics
from pliant.robots import build_robot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from pliant.model.robot import Robot

ROBOT = "qbmove-5dof"
PRESETS = {"soft": 0.2, "stiff": 0.6}
"""Stiffness presets [rad]. Section 4.2."""
BOX_MASS = 2.0
"""Mass of the box [kg]. Section 4.2.3."""
CONTACT_HEIGHT = 0.2
"""Height of the tip's path over the floor [m], 65 mm below the upper edge of the box: assumed."""
GUESS = (0.0, -0.5, 0.0, 1.8, 0.9)
"""Where the search for the first pose begins [rad]: upper arm down, elbow bent forward."""
WAIT, MOVE, HOLD = 0.5, 3.0, 1.5
"""Time at rest before the motion, of the motion, and at its end [s]: assumed."""
TIMESTEP = 1e-3
"""Time step of the simulation [s]: assumed."""
EVERY = 0.005
"""Time between two commands, and between two rows of a record [s]."""
STAYED = 1e-4
"""A box that moves less stands still [m]: contacts give way a little. Ours."""
MOVED = 5e-3
"""A box that moves more has moved [m]. Ours."""
STOPPED = 5e-3
"""A tip that ends less far beyond its first contact with the box was stopped by it [m]. Ours."""
REACHED = 0.1
"""A tip that ends within this part of its commanded path has reached its goal. Ours."""
BAND = 0.08
"""Tolerance of a joint that follows its desired motion [rad]. Section 4.3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxOptions:
    """Assumptions of the experiment ``box``."""

    springs: str = option(
        "maker-pro",
        choices=("toolbox", "kit", "maker-pro"),
        source="assumed: the only set that was measured on a device whose two springs are alike",
    )
    """Set of spring parameters of every joint, see `pliant.joints.qbmove.SPRINGS`."""
    box_friction: float = option(0.23, low=0.0, high=10.0, source="section 4.2.3, footnote 6")
    """Friction coefficient of box and floor."""
    tip_friction: float = option(0.5, low=0.0, high=10.0, source="assumed")
    """Friction coefficient of tip and box."""
    module_length: float = option(
        0.1, unit="m", low=0.066, high=0.5, source="assumed: edge of the cube in the authors' robot package"
    )
    """Distance between neighbouring axes."""
    module_mass: float = option(0.26, unit="kg", low=1e-6, high=10.0, source="assumed")
    """Mass of one qbMove with its bracket."""
    face: float = option(0.03, unit="m", low=-1.0, high=2.0, source="assumed")
    """x of the tip when it touches the box, from the shoulder's axis."""
    height: float = option(-0.19, unit="m", low=-2.0, high=2.0, source="assumed")
    """Height of the path over the shoulder's pitch axis."""
    pitch: float = option(2.2, unit="rad", low=-math.pi, high=math.pi, source="assumed")
    """Direction of the last link, from straight down towards the box; it is kept along the path."""
    approach: float = option(
        0.08, unit="m", low=0.0, above=True, high=2.0, source="section 4.2.3: the box is in the middle of the path"
    )
    """Commanded distance of the tip to the first contact with the box."""
    push: float = option(0.08, unit="m", low=0.0, above=True, high=2.0, source="assumed: see the sweep over the goal")
    """Commanded distance of the tip after the first contact."""
    gain: float = option(20.0, unit="1/s", low=0.0, above=True, high=200.0, source="assumed")
    """Gain of the inverse kinematics."""


def build_arm(options: BoxOptions, preset: float, timestep: float) -> Robot:
    """Return arm and box as the options have them."""
    own = ("springs", "box_friction", "tip_friction", "module_length", "module_mass")
    scene = {"box_mass": BOX_MASS, "box_distance": options.face, "shoulder_height": CONTACT_HEIGHT - options.height}
    chosen = {name: getattr(options, name) for name in own}
    return build_robot(ROBOT, {**chosen, **scene, "preset": preset, "timestep": timestep})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The commands of the arm, computed before it moves."""

    time: Array
    """Time of each sample [s], shape (t,)."""
    tip: Array
    """Desired position of the tip [m], shape (t, 3)."""
    joints: Array
    """Joint positions by inverse kinematics [rad], shape (t, 5)."""
    equilibrium: Array
    """Equilibrium commands: joints and the springs' deflection under gravity [rad], shape (t, 5)."""
    tracking_error: float
    """Largest distance between desired tip and tip of the planned joints [m]."""


def plan_push(robot: Robot, model: mujoco.MjModel, preset: float, options: BoxOptions | None = None) -> Plan:
    """Plan the push: minimum jerk along x, CLIK, compensation of the springs' deflection.

    Args:
        robot: the catalogue's robot, for its laws.
        model: its compiled model.
        preset: stiffness preset of all joints [rad].
        options: the path; None takes the defaults.

    Raises:
        PliantError: the path leaves the reach of the arm.
    """
    options = options or BoxOptions()
    arm = ArmKinematics(model)
    shoulder = float(model.body("link_2").pos[2] + model.body("link_1").pos[2] + model.body("base").pos[2])
    first = np.array([options.face - options.approach, 0.0, shoulder + options.height, options.pitch])
    last = first + np.array([options.approach + options.push, 0.0, 0.0, 0.0])
    clik = ClosedLoopInverseKinematics(
        arm.forward, arm.jacobian, gain=options.gain, threshold=0.002, damping=0.01, posture=GUESS, posture_gain=0.0
    )
    begin = clik.solve(GUESS, first, tolerance=1e-9)
    path = MinimumJerk(start=first, goal=last, duration=MOVE, begin=WAIT)
    time = np.asarray(np.arange(round((WAIT + MOVE + HOLD) / EVERY) + 1) * EVERY, dtype=np.float64)
    joints = clik.track(begin.q, path, time)
    tip = path(time).position[:, :3]
    error = max(float(np.linalg.norm(arm.forward(q)[:3] - x)) for q, x in zip(joints[::10], tip[::10]))
    if not begin.converged or error > 1e-3 or joints[:, 3].min() < 0.0:
        raise PliantError(
            f"the path of the tip from x = {first[0]:.3f} m to {last[0]:.3f} m leaves the reach of the arm; change "
            "face, height, pitch, approach or push",
            field="push",
        )
    compensate = GravityCompensation([a.law for a in robot.actuators.values()], arm.gravity)
    equilibrium = np.array([compensate(q, preset) for q in joints])
    return Plan(time=time, tip=tip, joints=joints, equilibrium=equilibrium, tracking_error=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Push(Traced):
    """One push, recorded."""

    preset: float
    """Stiffness preset [rad]."""
    plan: Plan
    """The commands."""
    trace: Trace
    """Place of the tip and of the box [m], joint positions [rad], force of the tip on the box [N], world axes, and all
    of qpos, for pictures."""
    unbalanced: float
    """Largest difference between the springs' torque and gravity with contact force, at the end [N m]."""

    @property
    def displacement(self) -> Array:
        """How far the box has moved along x [m], shape (t,)."""
        return self.trace.box[:, 0] - self.trace.box[0, 0]

    @property
    def horizontal_force(self) -> Array:
        """Horizontal force of the tip on the box [N], shape (t,)."""
        return np.hypot(self.trace.force[:, 0], self.trace.force[:, 1])

    @property
    def remaining(self) -> float:
        """Distance of the tip from its goal at the end [m]."""
        return float(np.linalg.norm(self.plan.tip[-1] - self.trace.tip[-1]))

    @property
    def advance(self) -> float:
        """How far beyond the first contact the tip is at the end [m]."""
        return float(self.trace.tip[-1, 0] - self.contact)

    @property
    def joint_error(self) -> float:
        """Largest difference between a joint and its planned position at the end [rad]."""
        return float(np.max(np.abs(self.plan.joints[-1] - self.trace.joints[-1])))

    @property
    def contact(self) -> float:
        """x of the tip when it first touches the box [m]; NaN if it never does."""
        touching = np.flatnonzero(self.horizontal_force > 0.0)
        return float(self.trace.tip[touching[0], 0]) if touching.size else math.nan

    def friction_ratio(self, friction: float) -> float:
        """Return the mean of the pushing force over what Coulomb's law asks for, while the box slides.

        Args:
            friction: coefficient under the box.

        Returns:
            The ratio; NaN where the box never slides.
        """
        velocity = np.gradient(self.displacement, self.trace.time)
        acceleration = np.gradient(velocity, self.trace.time)
        at = (velocity > 5e-3) & (self.horizontal_force > 0.5)
        if np.count_nonzero(at) < 5:
            return math.nan
        normal = BOX_MASS * GRAVITY - self.trace.force[at, 2]
        return float(np.mean((self.trace.force[at, 0] - BOX_MASS * acceleration[at]) / (friction * normal)))


def push(preset: float, options: BoxOptions | None = None, timestep: float = TIMESTEP) -> Push:
    """Plan and run a push.

    Args:
        preset: stiffness preset of all joints [rad].
        options: assumptions; None takes the defaults.
        timestep: of the simulation [s].
    """

    options = options or BoxOptions()
    robot = build_arm(options, preset, timestep)
    engine = MujocoEngine(robot)
    model, data = engine.model, engine.data
    plan = plan_push(robot, model, preset, options)
    engine.set_pose(dict(zip(JOINTS, plan.joints[0])))
    substeps = round(EVERY / timestep)
    commands = np.repeat(plan.equilibrium[:-1], substeps, axis=0)
    inputs: dict[str, ArrayLike | float] = {f"{joint}/reference_1": column for joint, column in zip(JOINTS, commands.T)}
    inputs |= {f"{joint}/reference_2": preset for joint in JOINTS}
    site, body = model.site(TIP).id, model.body(BOX).id
    tip_geom, box_geom = (model.geom(name).id for name in (TIP, BOX))
    arm = [int(model.joint(j).qposadr[0]) for j in JOINTS]

    def force_on_box() -> Array:
        geoms, forces, _ = contact_forces(model, data)
        signs = np.all(geoms == (tip_geom, box_geom), axis=1) * 1.0 - np.all(geoms == (box_geom, tip_geom), axis=1)
        return signs @ forces

    record: dict[str, Callable[[], ArrayLike]] = {
        "tip": lambda: data.site_xpos[site],
        "joints": lambda: data.qpos[arm],
        "box": lambda: data.xpos[body],
        "force": force_on_box,
        "qpos": lambda: data.qpos,
    }
    trace = drive(engine, inputs, record, len(commands), every=substeps)
    load = ArmKinematics(model).load(trace.joints[-1], trace.force[-1])
    springs = [
        type(a.law).torques(float(angle), *(float(engine.port(f"{joint}/motor_{i}_position")[0]) for i in (1, 2)),
                            a.law.parameters())[0]
        for joint, a, angle in zip(JOINTS, robot.actuators.values(), trace.joints[-1])
    ]  # fmt: skip
    return Push(preset=preset, plan=plan, trace=trace, unbalanced=float(np.max(np.abs(springs - load))))


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalSweep:
    """Pushes to many goals, soft and stiff."""

    push: Array
    """Commanded ways beyond the first contact [m], shape (n,)."""
    path: Array
    """Commanded ways of the tip in all [m], shape (n,)."""
    moved: Array
    """Largest displacement of the box, soft and stiff [m], shape (2, n)."""
    advance: Array
    """How far beyond the first contact the tip is at the end, soft and stiff [m], shape (2, n)."""
    remaining: Array
    """Distance of the tip from its goal at the end, soft and stiff [m], shape (2, n)."""
    joint_error: Array
    """Largest difference of a joint from its planned position at the end, soft and stiff [rad], shape (2, n)."""

    @property
    def stays(self) -> NDArray[np.bool_]:
        """Where the box stops the soft arm, shape (n,)."""
        return (self.moved[0] <= STAYED) & (self.advance[0] <= STOPPED)

    @property
    def reaches(self) -> NDArray[np.bool_]:
        """Where the stiff arm moves the box and reaches its goal, shape (n,)."""
        near = (self.remaining[1] <= REACHED * self.path) & (self.joint_error[1] <= BAND)
        return near & (self.moved[1] >= MOVED)

    @property
    def range(self) -> tuple[float, float]:
        """First and last push of the longest run of neighbours at which both hold [m]; NaN where there is none."""
        both = np.concatenate([[False], self.stays & self.reaches, [False]])
        edges = np.flatnonzero(np.diff(both.astype(int)))
        runs = [(float(self.push[a]), float(self.push[b - 1])) for a, b in zip(edges[::2], edges[1::2])]
        return max(runs, key=lambda r: r[1] - r[0], default=(math.nan, math.nan))


def sweep_goals(
    options: BoxOptions, pushes: Sequence[float] | Array, progress: Callable[[float], None] | None = None
) -> GoalSweep:
    """Push to many goals at once, soft and stiff, in one batch.

    The joints follow the plan of the farthest goal, as a function of the tip's position.

    Args:
        options: assumptions; ``push`` is not used.
        pushes: commanded ways beyond the first contact [m], increasing.
        progress: called now and then with the fraction done.
    """

    from pliant.batch import make_batch

    goals = np.asarray(pushes, dtype=float)
    count = goals.size
    farthest = replace(options, push=float(goals[-1]))
    robot = build_arm(options, PRESETS["soft"], TIMESTEP)
    batch = make_batch(robot, 2 * count)
    model = batch.model
    plans = [plan_push(robot, model, preset, farthest) for preset in PRESETS.values()]
    begin = options.face - options.approach
    path = MinimumJerk(start=np.full(count, begin), goal=options.face + goals, duration=MOVE, begin=WAIT)
    x = path(plans[0].time).position
    commands = np.empty((x.shape[0], 2 * count, len(JOINTS)))
    for k, plan in enumerate(plans):
        for j in range(len(JOINTS)):
            commands[:, k * count : (k + 1) * count, j] = np.interp(x, plan.tip[:, 0], plan.equilibrium[:, j])
    final = np.stack([np.interp(x[-1], plans[0].tip[:, 0], plans[0].joints[:, j]) for j in range(len(JOINTS))], axis=1)
    arm = ArmKinematics(model)
    data = mujoco.MjData(model)
    data.qpos[arm.qpos] = plans[0].joints[0]
    qpos, act, ctrl = batch.bind("qpos"), batch.bind("act"), batch.bind("ctrl")
    qpos[:] = data.qpos
    for k, preset in enumerate(PRESETS.values()):
        hold_pose(model, data, dict.fromkeys(JOINTS, preset))
        act[k * count : (k + 1) * count], ctrl[k * count : (k + 1) * count] = data.act, data.ctrl
        for j in JOINTS:
            ctrl[k * count : (k + 1) * count, model.actuator(f"{j}/ref_2").id] = preset
    columns = [model.actuator(j).id for j in JOINTS]
    place = int(model.joint(BOX).qposadr[0])
    start, moved = float(data.qpos[place]), np.zeros(2 * count)
    substeps = round(EVERY / TIMESTEP)
    for k, command in enumerate(commands[:-1]):
        ctrl[:, columns] = command
        batch.step(nstep=substeps)
        np.maximum(moved, np.abs(qpos[:, place] - start), out=moved)
        if progress is not None and k % 20 == 0:
            progress(k / len(commands))
    q = qpos[:, arm.qpos].copy()
    desired = np.tile(
        np.stack([options.face + goals, *[np.full(count, v) for v in plans[0].tip[-1, 1:]]], axis=1), (2, 1)
    )
    tip = np.array([arm.forward(row)[:3] for row in q])
    error = np.max(np.abs(q - np.tile(final, (2, 1))), axis=1)
    return GoalSweep(
        push=goals,
        path=options.approach + goals,
        moved=moved.reshape(2, count),
        advance=(tip[:, 0] - options.face).reshape(2, count),
        remaining=np.linalg.norm(desired - tip, axis=1).reshape(2, count),
        joint_error=error.reshape(2, count),
    )
