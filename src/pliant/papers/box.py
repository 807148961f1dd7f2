"""An arm of five qbMoves pushes a box, soft and stiff (Mengacci et al. 2021, section 4.2.3, figure 14)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import PliantError
from pliant.base.options import option
from pliant.control import ClosedLoopInverseKinematics, GravityCompensation, MinimumJerk
from pliant.papers.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.papers.curves import draw_curves
from pliant.papers.films import Film, Shot

if TYPE_CHECKING:
    import mujoco
    from numpy.typing import NDArray

    from pliant.model.robot import Robot

__all__ = [
    "PRESETS",
    "Arm",
    "BoxOptions",
    "GoalSweep",
    "Plan",
    "Push",
    "box",
    "judge_goals",
    "judge_pushes",
    "plan_push",
    "push",
    "sweep_goals",
    "verify",
]

PAPER = "Mengacci et al. 2021, Front. Robot. AI 8:713083"
ROBOT = "qbmove-5dof"
PRESETS = {"soft": 0.2, "stiff": 0.6}
"""Stiffness presets [rad]. Section 4.2."""
BOX_MASS = 2.0
"""Mass of the box [kg]. Section 4.2.3."""
GRAVITY = 9.81
BALL = 0.014
"""Radius of the ball at the end of the arm [m]: assumed."""
JOINT_FRICTION = 0.025
"""Friction of the joints [N m]. Section 4.2."""
CONTACT_HEIGHT = 0.2
"""Height of the tip's path over the floor [m], 65 mm below the upper edge of the box: assumed."""
GUESS = (0.0, -0.5, 0.0, 1.8, 0.9)
"""Where the search for the first pose begins [rad]: upper arm down, elbow bent forward."""
WAIT, MOVE, HOLD = 0.5, 3.0, 1.5
"""Time at rest before the motion, of the motion, and at its end [s]: assumed."""
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
PUSHES = tuple(round(0.03 + 0.005 * k, 3) for k in range(21))
"""Pushes of the sweep over the goal [m]; the quick version has those from 55 to 100 mm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxOptions:
    """Assumptions of the experiment ``box``."""

    springs: str = option(
        "maker-pro",
        choices=("toolbox", "kit", "maker-pro"),
        source="assumed: the only set that was measured on a device whose two springs are alike",
    )
    """Set of spring parameters of every joint, see `pliant.robots.qbmove.SPRINGS`."""
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
    from pliant.robots import build_robot

    return build_robot(
        ROBOT,
        {
            "springs": options.springs,
            "box_friction": options.box_friction,
            "tip_friction": options.tip_friction,
            "module_length": options.module_length,
            "module_mass": options.module_mass,
            "box_mass": BOX_MASS,
            "box_distance": options.face,
            "shoulder_height": CONTACT_HEIGHT - options.height,
            "preset": preset,
            "timestep": timestep,
        },
    )


class Arm:
    """The arm's own model, for planning: forward kinematics, Jacobian and gravity of the tip.

    Args:
        model: the compiled model of arm and box.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        import mujoco

        from pliant.robots.qbmove_5dof.build import JOINTS, TIP

        self._mujoco, self.model, self.data = mujoco, model, mujoco.MjData(model)
        self.site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, TIP)
        self.qpos = [int(model.joint(j).qposadr[0]) for j in JOINTS]
        self.dofs = [int(model.joint(j).dofadr[0]) for j in JOINTS]

    def _at(self, q: NDArray[np.float64]) -> None:
        self.data.qpos[self.qpos] = q
        self._mujoco.mj_kinematics(self.model, self.data)
        self._mujoco.mj_comPos(self.model, self.data)

    def forward(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the position of the tip in the world [m] and the pitch of the last link [rad], shape (4,)."""
        self._at(q)
        along = -self.data.site_xmat[self.site].reshape(3, 3)[:, 2]
        return np.array([*self.data.site_xpos[self.site], math.atan2(along[0], -along[2])])

    def jacobian(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the Jacobian of `forward`, shape (4, 5) [m/rad, rad/rad]; its last row holds in the plane y = 0."""
        self._at(q)
        position, rotation = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        self._mujoco.mj_jacSite(self.model, self.data, position, rotation, self.site)
        return np.vstack([position, -rotation[1]])[:, self.dofs]

    def gravity(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the torques that hold the arm at rest, shape (5,) [N m]."""
        self._at(q)
        self.data.qvel[:] = 0.0
        self._mujoco.mj_comVel(self.model, self.data)
        out = np.zeros(self.model.nv)
        self._mujoco.mj_rne(self.model, self.data, 0, out)
        return out[self.dofs]

    def load(self, q: NDArray[np.float64], force: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the torques that hold the arm at rest while its ball pushes a wall x = constant, shape (5,) [N m].

        Args:
            q: joint positions [rad].
            force: force of the ball on the wall [N], shape (3,).
        """
        gravity = self.gravity(q)
        out = np.zeros(self.model.nv)
        body = int(self.model.site_bodyid[self.site])
        point = self.data.site_xpos[self.site] + [BALL, 0.0, 0.0]
        self._mujoco.mj_applyFT(self.model, self.data, force, np.zeros(3), point, body, out)
        return gravity + out[self.dofs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The commands of the arm, computed before it moves."""

    time: NDArray[np.float64]
    """Time of each sample [s], shape (t,)."""
    tip: NDArray[np.float64]
    """Desired position of the tip [m], shape (t, 3)."""
    joints: NDArray[np.float64]
    """Joint positions by inverse kinematics [rad], shape (t, 5)."""
    equilibrium: NDArray[np.float64]
    """Equilibrium commands: joints and the springs' deflection under gravity [rad], shape (t, 5)."""
    tracking_error: float
    """Largest distance between desired tip and tip of the planned joints [m]."""


def plan_push(
    robot: Robot, model: mujoco.MjModel, preset: float, options: BoxOptions | None = None, every: float = 0.005
) -> Plan:
    """Plan the push: minimum jerk along x, CLIK, compensation of the springs' deflection.

    Args:
        robot: the catalogue's robot, for its laws.
        model: its compiled model.
        preset: stiffness preset of all joints [rad].
        options: the path; None takes the defaults.
        every: time between two samples [s].

    Raises:
        PliantError: the path leaves the reach of the arm.
    """
    options = options or BoxOptions()
    arm = Arm(model)
    shoulder = float(model.body("link_2").pos[2] + model.body("link_1").pos[2] + model.body("base").pos[2])
    first = np.array([options.face - options.approach, 0.0, shoulder + options.height, options.pitch])
    last = first + np.array([options.approach + options.push, 0.0, 0.0, 0.0])
    clik = ClosedLoopInverseKinematics(
        arm.forward, arm.jacobian, gain=options.gain, threshold=0.002, damping=0.01, posture=GUESS, posture_gain=0.0
    )
    begin = clik.solve(GUESS, first, tolerance=1e-9)
    path = MinimumJerk(start=first, goal=last, duration=MOVE, begin=WAIT)
    time = np.asarray(np.arange(round((WAIT + MOVE + HOLD) / every) + 1) * every, dtype=np.float64)
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
class Push:
    """One push, recorded."""

    preset: float
    """Stiffness preset [rad]."""
    plan: Plan
    """The commands."""
    time: NDArray[np.float64]
    """Time of each sample [s], shape (t,)."""
    tip: NDArray[np.float64]
    """Position of the tip [m], shape (t, 3)."""
    joints: NDArray[np.float64]
    """Joint positions [rad], shape (t, 5)."""
    box: NDArray[np.float64]
    """Position of the box [m], shape (t, 3)."""
    force: NDArray[np.float64]
    """Force of the tip on the box, world axes [N], shape (t, 3)."""
    unbalanced: float
    """Largest difference between the springs' torque and gravity with contact force, at the end [N m]."""
    qpos: NDArray[np.float64]
    """All of qpos, for pictures, shape (t, nq)."""

    @property
    def displacement(self) -> NDArray[np.float64]:
        """How far the box has moved along x [m], shape (t,)."""
        return self.box[:, 0] - self.box[0, 0]

    @property
    def horizontal_force(self) -> NDArray[np.float64]:
        """Horizontal force of the tip on the box [N], shape (t,)."""
        return np.hypot(self.force[:, 0], self.force[:, 1])

    @property
    def remaining(self) -> float:
        """Distance of the tip from its goal at the end [m]."""
        return float(np.linalg.norm(self.plan.tip[-1] - self.tip[-1]))

    @property
    def advance(self) -> float:
        """How far beyond the first contact the tip is at the end [m]."""
        return float(self.tip[-1, 0] - self.contact)

    @property
    def joint_error(self) -> float:
        """Largest difference between a joint and its planned position at the end [rad]."""
        return float(np.max(np.abs(self.plan.joints[-1] - self.joints[-1])))

    @property
    def contact(self) -> float:
        """x of the tip when it first touches the box [m]; NaN if it never does."""
        touching = np.flatnonzero(self.horizontal_force > 0.0)
        return float(self.tip[touching[0], 0]) if touching.size else math.nan

    def friction_ratio(self, friction: float, speed: float = 5e-3) -> float:
        """Return the mean of the pushing force over what Coulomb's law asks for, while the box slides.

        Args:
            friction: coefficient under the box.
            speed: a box that is faster slides [m/s].

        Returns:
            The ratio; NaN where the box never slides.
        """
        velocity = np.gradient(self.displacement, self.time)
        acceleration = np.gradient(velocity, self.time)
        at = (velocity > speed) & (self.horizontal_force > 0.5)
        if np.count_nonzero(at) < 5:
            return math.nan
        normal = BOX_MASS * GRAVITY - self.force[at, 2]
        return float(np.mean((self.force[at, 0] - BOX_MASS * acceleration[at]) / (friction * normal)))


def push(preset: float, options: BoxOptions | None = None, timestep: float = 1e-3, every: float = 0.005) -> Push:
    """Plan and run a push.

    Args:
        preset: stiffness preset of all joints [rad].
        options: assumptions; None takes the defaults.
        timestep: of the simulation [s].
        every: time between two samples of plan and record [s].
    """
    import mujoco

    from pliant.engine import MujocoEngine
    from pliant.robots.qbmove_5dof.build import BOX, JOINTS, TIP

    options = options or BoxOptions()
    robot = build_arm(options, preset, timestep)
    engine = MujocoEngine(robot)
    model, data = engine.model, engine.data
    plan = plan_push(robot, model, preset, options, every)
    engine.set_pose(dict(zip(JOINTS, plan.joints[0])))
    references = [engine.port(f"{joint}/reference_1") for joint in JOINTS]
    for joint in JOINTS:
        engine.port(f"{joint}/reference_2")[0] = preset
    motors = [[engine.port(f"{joint}/motor_{i}_position") for i in (1, 2)] for joint in JOINTS]
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, TIP)
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, BOX)
    pair = {mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name) for name in (TIP, BOX)}
    box_geom = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, BOX)
    arm = [int(model.joint(j).qposadr[0]) for j in JOINTS]
    wrench = np.zeros(6)

    def contact_force() -> NDArray[np.float64]:
        total = np.zeros(3)
        for i in range(data.ncon):
            contact = data.contact[i]
            if {int(contact.geom[0]), int(contact.geom[1])} == pair:
                mujoco.mj_contactForce(model, data, i, wrench)
                # The frame's first axis points from the first geom to the second; the force acts on the second.
                world = contact.frame.reshape(3, 3).T @ wrench[:3]
                total += world if int(contact.geom[1]) == box_geom else -world
        return total

    rows: dict[str, list[Any]] = {k: [] for k in ("tip", "joints", "box", "force", "qpos")}

    def record() -> None:
        rows["tip"].append(data.site_xpos[site].copy())
        rows["joints"].append(data.qpos[arm])
        rows["box"].append(data.xpos[body].copy())
        rows["force"].append(contact_force())
        rows["qpos"].append(data.qpos.copy())

    record()
    substeps = round(every / timestep)
    for command in plan.equilibrium[:-1]:
        for view, value in zip(references, command):
            view[0] = value
        engine.step(substeps)
        record()
    recorded = {k: np.array(v) for k, v in rows.items()}
    q, contact = recorded["joints"][-1], contact_force()
    load = Arm(model).load(q, contact)
    springs = [
        type(a.law).torques(float(angle), float(one[0]), float(two[0]), a.law.parameters())[0]
        for a, angle, (one, two) in zip(robot.actuators.values(), q, motors)
    ]
    return Push(preset=preset, plan=plan, time=plan.time, unbalanced=float(np.max(np.abs(springs - load))), **recorded)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalSweep:
    """Pushes to many goals, soft and stiff."""

    push: NDArray[np.float64]
    """Commanded ways beyond the first contact [m], shape (n,)."""
    path: NDArray[np.float64]
    """Commanded ways of the tip in all [m], shape (n,)."""
    moved: NDArray[np.float64]
    """Largest displacement of the box, soft and stiff [m], shape (2, n)."""
    advance: NDArray[np.float64]
    """How far beyond the first contact the tip is at the end, soft and stiff [m], shape (2, n)."""
    remaining: NDArray[np.float64]
    """Distance of the tip from its goal at the end, soft and stiff [m], shape (2, n)."""
    joint_error: NDArray[np.float64]
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
    options: BoxOptions,
    pushes: Sequence[float] | NDArray[np.float64],
    progress: Callable[[float], None] | None = None,
    timestep: float = 1e-3,
    every: float = 0.005,
) -> GoalSweep:
    """Push to many goals at once, soft and stiff, in one batch.

    The joints follow the plan of the farthest goal, as a function of the tip's position.

    Args:
        options: assumptions; ``push`` is not used.
        pushes: commanded ways beyond the first contact [m], increasing.
        progress: called now and then with the fraction done.
        timestep: of the simulation [s].
        every: time between two commands [s].
    """
    import mujoco

    from pliant.engine import hold_pose, make_batch
    from pliant.robots.qbmove_5dof.build import BOX, JOINTS

    goals = np.asarray(pushes, dtype=float)
    count = goals.size
    farthest = replace(options, push=float(goals[-1]))
    robot = build_arm(options, PRESETS["soft"], timestep)
    batch = make_batch(robot, 2 * count)
    model = batch.model
    plans = [plan_push(robot, model, preset, farthest, every) for preset in PRESETS.values()]
    begin = options.face - options.approach
    path = MinimumJerk(start=np.full(count, begin), goal=options.face + goals, duration=MOVE, begin=WAIT)
    x = path(plans[0].time).position
    commands = np.empty((x.shape[0], 2 * count, len(JOINTS)))
    for k, plan in enumerate(plans):
        for j in range(len(JOINTS)):
            commands[:, k * count : (k + 1) * count, j] = np.interp(x, plan.tip[:, 0], plan.equilibrium[:, j])
    final = np.stack([np.interp(x[-1], plans[0].tip[:, 0], plans[0].joints[:, j]) for j in range(len(JOINTS))], axis=1)
    arm = Arm(model)
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
    substeps = round(every / timestep)
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


def judge_pushes(options: BoxOptions, runs: Mapping[str, Push]) -> list[Statement]:
    """Judge the two pushes of one commanded path.

    Args:
        options: assumptions.
        runs: "soft" and "stiff".
    """
    soft, stiff = runs["soft"], runs["stiff"]
    path = options.approach + options.push
    moved = 1e3 * float(stiff.displacement[-1])
    unknown = (
        "Body, pose, springs and path of the arm, and the gain of the inverse kinematics were never published; they "
        "were chosen so that the statement holds over a range of goals (see the sweep)."
    )
    return [
        Statement(
            what="In the soft case the box stops the movement of the end effector, and stays.",
            where="section 4.2.3, figure 14",
            targets=[
                Target(
                    "soft: largest displacement of the box",
                    high=STAYED,
                    unit="m",
                    source="section 4.2.3: the arm cannot move the box; 0.1 mm is ours",
                ).measure(float(np.max(np.abs(soft.displacement)))),
                Target(
                    "soft: way of the tip beyond the first contact",
                    high=STOPPED,
                    unit="m",
                    source="section 4.2.3: the box stops the movement; 5 mm is ours",
                    note="A tip that slips over the box would pass the box without moving it.",
                ).measure(soft.advance),
            ],
            found=f"The box moves {1e3 * np.max(np.abs(soft.displacement)):.2f} mm; the tip ends "
            f"{1e3 * soft.advance:.1f} mm beyond the first contact, {1e3 * soft.remaining:.0f} mm short of its goal.",
            rests_on=unknown,
        ),
        Statement(
            what="In the stiff case the arm moves the box.",
            where="section 4.2.3, figure 14",
            targets=[
                Target(
                    "stiff: displacement of the box",
                    low=0.5 * options.push,
                    unit="m",
                    source="section 4.2.3: the arm moves the box; half of the commanded push is ours",
                ).measure(float(stiff.displacement[-1]))
            ],
            found=f"The box moves {moved:.1f} mm; the commanded push is {1e3 * options.push:.0f} mm.",
            rests_on=unknown,
        ),
        Statement(
            what="In the stiff case the arm reaches the desired position of the end effector.",
            where="section 4.2.3, figure 14",
            targets=[
                Target(
                    "stiff: distance of the tip from its goal over the length of the path",
                    high=REACHED,
                    source="section 4.2.3: reaches; 10 % of the path is ours",
                ).measure(stiff.remaining / path),
                Target(
                    "stiff: largest difference of a joint from its desired position",
                    high=BAND,
                    unit="rad",
                    source="tolerance of section 4.3",
                ).measure(stiff.joint_error),
            ],
            found=f"The tip ends {1e3 * stiff.remaining:.1f} mm short of its goal after a path of {1e3 * path:.0f} mm, "
            f"the joints within {stiff.joint_error:.3f} rad. The command has no feedback, so the springs "
            "give way by what the force of the box bends them.",
            rests_on=unknown,
        ),
        Statement(
            what="A stiffened arm exerts a greater force on the box.",
            where="figure 14, caption",
            targets=[
                Target(
                    "largest horizontal force of the stiff arm over that of the soft one",
                    low=1.05,
                    source="figure 14, caption: an increased force; 5 % is ours",
                ).measure(float(stiff.horizontal_force.max() / soft.horizontal_force.max()))
            ],
            found=f"The largest force is {soft.horizontal_force.max():.2f} N soft and "
            f"{stiff.horizontal_force.max():.2f} N stiff.",
            rests_on=unknown,
        ),
    ]


def judge_goals(sweep: GoalSweep) -> list[Statement]:
    """Judge whether the result holds for more than one goal."""
    low, high = sweep.range
    if math.isnan(low):
        found = "No goal of the sweep has both."
        width = 0.0
    else:
        width = high - low
        found = f"Both hold for commanded pushes from {1e3 * low:.0f} to {1e3 * high:.0f} mm beyond the first contact."
    return [
        Statement(
            what="One commanded path is stopped by the box when the arm is soft and completed when it is stiff.",
            where="section 4.2.3, figure 14",
            targets=[
                Target(
                    "range of pushes at which the soft arm is stopped and the stiff one reaches its goal",
                    low=0.01,
                    unit="m",
                    source="section 4.2.3; a range of 10 mm instead of a single goal is ours",
                ).measure(width)
            ],
            found=found,
            rests_on="The arm and its path were never published.",
        ),
        Statement(
            what="The real arm behaves as the simulated one, soft and stiff.",
            where="section 4.2.3, figure 14",
            found="Only photographs of the real arm were published; there is no number to compare with.",
        ),
    ]


def verify(options: BoxOptions, runs: Mapping[str, Push]) -> list[Target]:
    """Check forces and torques of the pushes by statics and Coulomb's law."""
    return [
        *(
            Target(
                f"{name}: springs' torque less gravity and contact force, at the end",
                high=1.02 * JOINT_FRICTION,
                unit="N m",
                source="ours: statics; at rest the joints' friction holds at most 0.025 N m",
            ).measure(run.unbalanced)
            for name, run in runs.items()
        ),
        Target(
            "stiff: pushing force over Coulomb's, while the box slides",
            equals=1.0,
            tolerance=0.03,
            source="ours: Coulomb's law with the friction of the options",
            note="The tip also presses the box down or lifts it, which changes the normal force.",
        ).measure(runs["stiff"].friction_ratio(options.box_friction)),
    ]


VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("default", {}),
    ("springs of the toolbox", {"springs": "toolbox"}),
    ("springs of the kit manual", {"springs": "kit"}),
    ("modules of 0.35 kg", {"module_mass": 0.35}),
    ("modules of 80 mm, last link level", {"module_length": 0.08, "face": 0.01, "height": -0.2, "pitch": 1.2}),
    ("path 20 mm lower", {"height": -0.21}),
    ("box 20 mm further", {"face": 0.05}),
    ("last link turned by 0.3 rad", {"pitch": 1.9}),
    ("friction 0.18 under the box", {"box_friction": 0.18}),
    ("friction 0.3 under the box", {"box_friction": 0.3}),
    ("tip friction 0.8", {"tip_friction": 0.8}),
)
"""Other assumptions, one change each."""


def _scene(options: BoxOptions) -> mujoco.MjModel:
    """Return arm and box with a camera at their side and a stick at the first place of the box's face."""
    import mujoco

    robot = build_arm(options, PRESETS["soft"], 1e-3)
    face = options.face + BALL
    world = robot.spec.worldbody
    camera = world.add_camera(name="side", pos=[0.12, -1.3, 0.26], xyaxes=[1.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    camera.fovy = 30.0
    world.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[face, -0.14, 0.15],
        size=[0.0007, 0.0007, 0.15],
        rgba=[0.85, 0.1, 0.1, 1.0],
        contype=0,
        conaffinity=0,
    )
    return robot.compile()


def _films(context: Context, options: BoxOptions) -> list[Film]:
    model = _scene(options)
    runs = {name: push(preset, options) for name, preset in PRESETS.items()}
    return [
        Film(
            name="push",
            caption="The arm pushes the box, soft and stiff, with the same path. The red stick marks the first place "
            "of the box's face: the box stops the soft arm, the stiff arm pushes it along.",
            time=next(iter(runs.values())).time,
            shots=[Shot(title=name, model=model, poses=run.qpos) for name, run in runs.items()],
            camera="side",
        )
    ]


@experiment(
    "box",
    title="An arm pushes a box, soft and stiff",
    paper=PAPER,
    section="4.2.3",
    films=_films,
    cameras=("front", "side"),
)
def box(context: Context, options: BoxOptions) -> Result:
    """Push a box of 2 kg with a five-joint arm: the soft arm is stopped, the stiff one moves the box to its goal."""
    runs = {
        name: push(preset, options)
        for name, preset in context.track(PRESETS.items(), lambda item: f"{item[0]} push", low=0.0, high=0.2)
    }
    soft, stiff = runs["soft"], runs["stiff"]
    pushes = PUSHES[5:15] if context.quick else PUSHES
    sweep = sweep_goals(options, pushes, lambda f: context.progress(0.2 + 0.3 * f, "sweep over the goal"))
    targets = verify(options, runs)
    notes = [
        f"Friction holds the box against {options.box_friction * BOX_MASS * GRAVITY:.3f} N, less or more where the tip "
        "drags it up or down.",
        f"The planned joints follow the desired tip within {1e6 * stiff.plan.tracking_error:.0f} um.",
        "An arm that is commanded without feedback cannot reach its goal exactly while it pushes: the springs give way "
        f"until they carry the force. The stiff arm ends {1e3 * stiff.remaining:.1f} mm short; the soft one must "
        f"be sent more than {1e3 * sweep.push[sweep.stays][-1]:.0f} mm into the box to move it."
        if sweep.stays.any()
        else "The soft arm moves the box at every goal of the sweep.",
    ]
    tables = [
        Table(
            title="The two pushes",
            columns=[
                "arm",
                "preset [rad]",
                "largest force [N]",
                "force at the end [N]",
                "box moved [mm]",
                "tip beyond first contact [mm]",
                "tip short of its goal [mm]",
                "largest joint error [rad]",
            ],
            rows=[
                [
                    name,
                    run.preset,
                    float(run.horizontal_force.max()),
                    float(run.horizontal_force[-1]),
                    1e3 * float(run.displacement[-1]),
                    1e3 * run.advance,
                    1e3 * run.remaining,
                    run.joint_error,
                ]
                for name, run in runs.items()
            ],
        )
    ]
    figures = [_figure_push(context, runs, options), _figure_goals(sweep), _figure_joints(runs)]
    if not context.quick:
        half = {name: push(run.preset, options, 5e-4) for name, run in runs.items()}
        targets.append(
            Target(
                "stiff: displacement of the box with half the time step over that with 1 ms",
                equals=1.0,
                tolerance=0.05,
                source="ours: convergence",
            ).measure(half["stiff"].displacement[-1] / stiff.displacement[-1])
        )
        targets.append(
            Target(
                "soft: largest force with half the time step over that with 1 ms",
                equals=1.0,
                tolerance=0.05,
                source="ours: convergence",
            ).measure(half["soft"].horizontal_force.max() / soft.horizontal_force.max())
        )
        tables.append(_table_of_variants(context, options))
    context.progress(0.95, "figures")
    picture, reason = _frames(runs, options)
    if picture is not None:
        figures.insert(0, picture)
    else:
        notes.append(f"No pictures of the arm: {reason}.")
    low, high = (1e3 * value for value in sweep.range)
    return Result(
        statements=[*judge_pushes(options, runs), *judge_goals(sweep)],
        targets=targets,
        tables=tables,
        figures=figures,
        summary=(
            f"The same path of the tip, {1e3 * options.push:.0f} mm into the box, is commanded twice. With preset "
            f"0.2 rad the box stops the tip; with 0.6 rad the box slides {1e3 * stiff.displacement[-1]:.0f} mm and the "
            f"tip ends {1e3 * stiff.remaining:.0f} mm short of its goal."
            + ("" if math.isnan(low) else f" Both hold for pushes from {low:.0f} to {high:.0f} mm.")
        ),
        notes=notes,
        assumptions=[
            "Lengths, masses, arrangement, pose and springs of the arm, the path, its duration, and the gain of the "
            "inverse kinematics: the paper prints none of them. They were searched for a range of goals at which both "
            "statements hold.",
            "The path is a horizontal line at a constant pitch of the last link.",
        ],
        traces={
            **{
                f"{name}_{key}": value
                for name, run in runs.items()
                for key, value in (
                    ("time_s", run.time),
                    ("tip_m", run.tip),
                    ("desired_tip_m", run.plan.tip),
                    ("joints_rad", run.joints),
                    ("planned_joints_rad", run.plan.joints),
                    ("command_rad", run.plan.equilibrium),
                    ("force_n", run.force),
                    ("box_m", run.box),
                )
            },
            "sweep_push_m": sweep.push,
            "sweep_moved_m": sweep.moved,
            "sweep_remaining_m": sweep.remaining,
        },
    )


def _table_of_variants(context: Context, options: BoxOptions) -> Table:
    rows = []
    for label, changes in context.track(VARIANTS, lambda v: v[0], low=0.6, high=0.95):
        try:
            sweep = sweep_goals(replace(options, **changes), PUSHES[::2])
        except PliantError as error:
            rows.append([label, None, None, None, str(error)[:60]])
            continue
        low, high = sweep.range
        stopped = sweep.push[sweep.stays]
        reached = sweep.push[sweep.reaches]
        rows.append(
            [
                label,
                1e3 * float(stopped.max()) if stopped.size else None,
                1e3 * float(reached.min()) if reached.size else None,
                "none" if math.isnan(low) else f"{1e3 * low:.0f} to {1e3 * high:.0f}",
                1e3 * float(sweep.remaining[1].min()),
            ]
        )
    return Table(
        title="Range of pushes by assumption",
        columns=[
            "arm",
            "soft stopped up to [mm]",
            "stiff reaches from [mm]",
            "both [mm]",
            "stiff: least distance from the goal [mm]",
        ],
        rows=rows,
        note="Pushes from 30 to 130 mm in steps of 10 mm; one change of the assumptions a row.",
    )


def _figure_push(context: Context, runs: Mapping[str, Push], options: BoxOptions) -> Figure:
    from pliant.base.figures import COLORS, MUTED, label, legend, new_figure, thin

    figure, axes = new_figure(3, 1, height=1.75, sharex=True)
    some = next(iter(runs.values()))
    breakaway = options.box_friction * BOX_MASS * GRAVITY
    axes[0].plot(*thin(some.time, 1e3 * some.plan.tip[:, 0]), color=MUTED, ls="--", label="desired")
    for name, run in runs.items():
        draw_curves(context, axes[0], f"figure14-{name}")
        axes[0].plot(*thin(run.time, 1e3 * run.tip[:, 0]), color=COLORS[name], label=name)
        axes[1].plot(*thin(run.time, run.horizontal_force), color=COLORS[name], label=name)
        axes[2].plot(*thin(run.time, 1e3 * run.displacement), color=COLORS[name], label=name)
    axes[1].axhline(breakaway, color=MUTED, ls=":", lw=1.2)
    axes[1].text(
        0.05, breakaway + 0.1, f"{breakaway:.2f} N: friction under the box's own weight", fontsize=7.5, color=MUTED
    )
    label(axes[0], "", "tip x [mm]", "the tip")
    label(axes[1], "", "force [N]", "horizontal force on the box")
    label(axes[2], "time [s]", "box x [mm]", "displacement of the box")
    legend(axes[0], loc="upper left")
    return Figure(
        name="push",
        caption="The push. Top: the tip follows the path until it meets the box; the stiff arm ends short of its "
        "goal by what the force of the box bends its springs. Middle: the soft arm's force stays below what friction "
        "holds, the stiff arm's passes it. Bottom: the box stays, or slides.",
        figure=figure,
    )


def _figure_goals(sweep: GoalSweep) -> Figure:
    from pliant.base.figures import COLORS, MUTED, label, legend, new_figure

    figure, axes = new_figure(1, 2, height=2.7, sharex=True)
    x = 1e3 * sweep.push
    axes[0].plot(x, x, color=MUTED, ls="--", label="commanded")
    axes[1].plot(x, 1e3 * REACHED * sweep.path, color=MUTED, ls="--", label="10 % of the path")
    for k, (name, marker) in enumerate((("soft", "o"), ("stiff", "s"))):
        axes[0].plot(x, 1e3 * sweep.moved[k], f"{marker}-", ms=3.5, color=COLORS[name], label=name)
        axes[1].plot(x, 1e3 * sweep.remaining[k], f"{marker}-", ms=3.5, color=COLORS[name], label=name)
    low, high = sweep.range
    for axis in axes:
        if not math.isnan(low):
            axis.axvspan(1e3 * low, 1e3 * high, color=COLORS["pass"], alpha=0.15, lw=0, label="both hold")
        axis.set_ylim(0.0, 1.35 * axis.get_ylim()[1])
    label(axes[0], "commanded push beyond contact [mm]", "box moved [mm]", "displacement of the box")
    label(axes[1], "commanded push beyond contact [mm]", "distance from the goal [mm]", "tip at the end")
    legend(axes[0], loc="upper left")
    legend(axes[1], loc="upper left", ncols=2)
    return Figure(
        name="goals",
        caption="The result by goal. Left: the box stays under the soft arm until it is sent far enough into the box. "
        "Right: the stiff arm always ends short by about the same deflection, which is small against the path only if "
        "the path is long. Green: pushes at which the soft arm is stopped and the stiff one reaches its goal within "
        "10 % of the path.",
        figure=figure,
    )


def _figure_joints(runs: Mapping[str, Push]) -> Figure:
    from pliant.base.figures import COLORS, label, legend, new_figure, thin

    figure, axes = new_figure(1, 3, height=2.5, sharex=True, sharey=True)
    for axis, (index, title) in zip(axes, ((1, "shoulder"), (3, "elbow"), (4, "wrist"))):
        for name, run in runs.items():
            axis.plot(*thin(run.time, run.plan.equilibrium[:, index]), color=COLORS[name], ls="--", lw=1.0)
            axis.plot(*thin(run.time, run.joints[:, index]), color=COLORS[name], label=name)
        label(axis, "time [s]", "angle [rad]" if index == 1 else "", title)
    legend(axes[0], loc="best")
    return Figure(
        name="joints",
        caption="The joints that bend. Dashed: the equilibrium command, inverse kinematics and the springs' deflection "
        "under gravity; solid: the link. The soft arm's springs take up the whole way.",
        figure=figure,
    )


def _frames(runs: Mapping[str, Push], options: BoxOptions) -> tuple[Figure | None, str]:
    from pliant.model.snapshots import snapshots
    from pliant.papers._render import strip

    model = _scene(options)
    times = (0.0, WAIT + 0.5 * MOVE, WAIT + 0.75 * MOVE, WAIT + MOVE + HOLD)
    poses = [run.qpos[np.argmin(np.abs(run.time - t))] for run in runs.values() for t in times]
    pictures, reason = snapshots(model, poses, camera="side", width=400, height=400)
    if not pictures:
        return None, reason
    figure = strip(pictures, list(runs), [f"{t:.1f} s" for t in times], height=2.0)
    caption = (
        "The arm and the box. The red stick marks the first place of the box's face: the box stops the soft arm, the "
        "stiff arm pushes it along."
    )
    return Figure(name="frames", caption=caption, figure=figure), ""
