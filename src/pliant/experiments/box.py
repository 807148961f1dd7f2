"""An arm of five qbMoves pushes a box, soft and stiff (Mengacci et al. 2021, section 4.2.3, figure 14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.control import ClosedLoopInverseKinematics, GravityCompensation, MinimumJerk
from pliant.experiments.base import Context, Figure, Result, Table, Target, experiment

if TYPE_CHECKING:
    import mujoco
    from numpy.typing import NDArray

    from pliant.model.robot import Robot

__all__ = ["BREAKAWAY", "PRESETS", "Arm", "Plan", "Push", "box", "plan_push", "push"]

PAPER = "Mengacci et al. 2021, Front. Robot. AI 8:713083"
ROBOT = "qbmove-5dof"
PRESETS = {"soft": 0.2, "stiff": 0.6}
"""Stiffness presets [rad]. Section 4.2."""
BREAKAWAY = 0.23 * 2.0 * 9.81
"""Force that moves the box: friction 0.23 under 2 kg [N]. Section 4.2.3."""
START = (0.0, -0.3, 0.0, 0.45, 0.3)
"""Pose in which the arm begins, bent, the tip in front of the box [rad]: assumed."""
GOAL_X = 0.11
"""Where the tip is sent, 60 mm beyond the first contact [m]: assumed. The paper does not print it; it must lie between
what the stiff arm gives way at the breakaway force and what the soft one does."""
WAIT, MOVE, HOLD = 1.5, 4.0, 2.5
"""Time at rest before the motion, of the motion, and at its end [s]: assumed."""
GAIN = 20.0
"""Gain of the inverse kinematics [1/s]: assumed, the paper prints none."""
STALL_SPEED = 1e-3
"""Speed below which the tip counts as at rest [m/s]."""


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
        """Return the position of the tip in the world, shape (3,) [m]."""
        self._at(q)
        return self.data.site_xpos[self.site].copy()

    def jacobian(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the Jacobian of the tip, shape (3, 5) [m/rad]."""
        self._at(q)
        out = np.zeros((3, self.model.nv))
        self._mujoco.mj_jacSite(self.model, self.data, out, None, self.site)
        return out[:, self.dofs]

    def gravity(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the torques that hold the arm at rest, shape (5,) [N m]."""
        self._at(q)
        self.data.qvel[:] = 0.0
        self._mujoco.mj_comVel(self.model, self.data)
        out = np.zeros(self.model.nv)
        self._mujoco.mj_rne(self.model, self.data, 0, out)
        return out[self.dofs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The commands of the arm, computed before it moves."""

    time: NDArray[np.float64]
    """Time of each sample [s], shape (t,)."""
    tip: NDArray[np.float64]
    """Desired x and y of the tip [m], shape (t, 2); its height is left to the joints."""
    joints: NDArray[np.float64]
    """Joint positions by inverse kinematics [rad], shape (t, 5)."""
    equilibrium: NDArray[np.float64]
    """Equilibrium commands: joints and the springs' deflection under gravity [rad], shape (t, 5)."""
    tracking_error: float
    """Largest distance between desired tip and tip of the planned joints [m]."""


def plan_push(robot: Robot, model: mujoco.MjModel, preset: float, every: float = 0.005) -> Plan:
    """Plan the push: minimum jerk along x, CLIK, compensation of the springs' deflection.

    Args:
        robot: the catalogue's robot, for its laws.
        model: its compiled model.
        preset: stiffness preset of all joints [rad].
        every: time between two samples [s].
    """
    arm = Arm(model)
    start = np.array(START)
    begin = arm.forward(start)
    path = MinimumJerk(start=begin[:2], goal=(GOAL_X, begin[1]), duration=MOVE, begin=WAIT)
    time = np.asarray(np.arange(round((WAIT + MOVE + HOLD) / every) + 1) * every, dtype=np.float64)
    clik = ClosedLoopInverseKinematics(
        arm.forward,
        arm.jacobian,
        gain=GAIN,
        rows=(0, 1),
        threshold=0.01,
        damping=0.01,
        posture=start,
        posture_gain=0.5,
    )
    joints = clik.track(start, path, time)
    tip = path(time).position
    error = max(float(np.linalg.norm(arm.forward(q)[:2] - x)) for q, x in zip(joints[::10], tip[::10]))
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
    equilibrium: NDArray[np.float64]
    """Equilibrium positions that the motors reached [rad], shape (t, 5)."""
    box: NDArray[np.float64]
    """Position of the box [m], shape (t, 3)."""
    force: NDArray[np.float64]
    """Force of the tip on the box, world axes [N], shape (t, 3)."""
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

    def friction_ratio(self, weight: float, friction: float, speed: float = 5e-3) -> float:
        """Return the mean of the pushing force over what Coulomb's law asks for, while the box slides.

        Args:
            weight: of the box [N].
            friction: coefficient under the box.
            speed: a box that is faster slides [m/s].

        Returns:
            The ratio; NaN where the box never slides.
        """
        velocity = np.gradient(self.displacement, self.time)
        acceleration = np.gradient(velocity, self.time)
        at = (velocity > speed) & (self.horizontal_force > 0.5)
        if np.count_nonzero(at) < 5:
            return float("nan")
        normal = weight - self.force[at, 2]
        return float(np.mean((self.force[at, 0] - weight / 9.81 * acceleration[at]) / (friction * normal)))

    @property
    def final_speed(self) -> float:
        """Mean speed of the tip over the last half second [m/s]."""
        last = self.time >= self.time[-1] - 0.5
        return float(np.linalg.norm(self.tip[last][-1] - self.tip[last][0]) / 0.5)


def push(preset: float, timestep: float = 1e-3, options: dict[str, Any] | None = None, every: float = 0.005) -> Push:
    """Plan and run a push.

    Args:
        preset: stiffness preset of all joints [rad].
        timestep: of the simulation [s].
        options: of the catalogue's robot.
        every: time between two samples of plan and record [s].
    """
    import mujoco

    from pliant.engine import MujocoEngine
    from pliant.robots import build_robot
    from pliant.robots.qbmove_5dof.build import BOX, JOINTS, TIP

    robot = build_robot(ROBOT, {**(options or {}), "preset": preset, "timestep": timestep})
    engine = MujocoEngine(robot)
    model, data = engine.model, engine.data
    plan = plan_push(robot, model, preset, every)
    engine.set_pose(dict(zip(JOINTS, START)))
    references = [engine.port(f"{joint}/reference_1") for joint in JOINTS]
    for joint in JOINTS:
        engine.port(f"{joint}/reference_2")[0] = preset
    reached = [engine.port(f"{joint}/equilibrium") for joint in JOINTS]
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

    rows: dict[str, list[Any]] = {k: [] for k in ("tip", "joints", "equilibrium", "box", "force", "qpos")}

    def record() -> None:
        rows["tip"].append(data.site_xpos[site].copy())
        rows["joints"].append(data.qpos[arm])
        rows["equilibrium"].append([float(view[0]) for view in reached])
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
    return Push(preset=preset, plan=plan, time=plan.time, **{k: np.array(v) for k, v in rows.items()})


@experiment("box", title="An arm pushes a box, soft and stiff", paper=PAPER, section="4.2.3")
def box(context: Context) -> Result:
    """Push a box of 2 kg with a five-joint arm: the soft arm stalls, the stiff one moves the box."""
    options: dict[str, Any] = {}
    runs = {
        name: push(preset, options=options)
        for name, preset in context.track(PRESETS.items(), lambda item: f"{item[0]} push", low=0.0, high=0.5)
    }
    soft, stiff = runs["soft"], runs["stiff"]
    contact = {name: _first_contact(run) for name, run in runs.items()}
    targets = [
        Target(
            "soft: largest displacement of the box",
            high=1e-4,
            unit="m",
            source="section 4.2.3, figure 14: the box stays",
            note="0.1 mm stands for none: contacts give way a little.",
        ).measure(float(np.max(np.abs(soft.displacement)))),
        Target(
            "soft: largest horizontal contact force",
            high=BREAKAWAY,
            unit="N",
            source="friction 0.23 under 2 kg: 4.513 N",
        ).measure(float(soft.horizontal_force.max())),
        Target(
            "soft: speed of the tip at the end", high=STALL_SPEED, unit="m/s", source="section 4.2.3: the tip stalls"
        ).measure(soft.final_speed),
        Target(
            "soft: tip short of the desired position",
            low=0.5 * (GOAL_X - contact["soft"]),
            unit="m",
            source="section 4.2.3: the box stops the tip",
            note="At least half of the way from the first contact to the goal.",
        ).measure(float(soft.plan.tip[-1, 0] - soft.tip[-1, 0])),
        Target(
            "stiff: displacement of the box",
            low=5e-3,
            unit="m",
            source="section 4.2.3, figure 14: the box moves",
            note="The paper prints no distance.",
        ).measure(float(stiff.displacement[-1])),
        Target(
            "stiff: largest horizontal contact force",
            low=BREAKAWAY,
            unit="N",
            source="friction 0.23 under 2 kg: 4.513 N",
        ).measure(float(stiff.horizontal_force.max())),
        Target(
            "stiff: pushing force over Coulomb's, while the box slides",
            equals=1.0,
            tolerance=0.03,
            source="friction 0.23 times the normal force",
            note="The tip also presses the box down or lifts it, which changes the normal force.",
        ).measure(stiff.friction_ratio(2.0 * 9.81, 0.23)),
        *_deflection_targets(),
    ]
    notes = [
        f"The commanded way beyond the first contact is {1e3 * (GOAL_X - contact['stiff']):.0f} mm. It was chosen "
        "between what the two arms give way at the breakaway force.",
        f"The planned joints follow the desired tip within {1e6 * stiff.plan.tracking_error:.1f} um.",
        "The tip drags along the box with its own friction (0.5), so the vertical force raises or lowers what the "
        "floor holds: the stiff box breaks away above 4.513 N. The short drops of the force are the tip slipping down.",
    ]
    if not context.quick:
        context.progress(0.55, "half the time step")
        changes = []
        for name, run in runs.items():
            half = push(run.preset, 5e-4, options)
            changes.append(
                [
                    name,
                    float(run.horizontal_force.max()),
                    float(half.horizontal_force.max()),
                    1e3 * float(run.displacement[-1]),
                    1e3 * float(half.displacement[-1]),
                ]
            )
        targets.append(
            Target(
                "stiff: displacement with half the time step over that with 1 ms",
                equals=1.0,
                tolerance=0.05,
                source="convergence of the simulation",
            ).measure(changes[1][4] / changes[1][3])
        )
    tables = [
        Table(
            title="The two pushes",
            columns=[
                "arm",
                "preset [rad]",
                "first contact at tip x [m]",
                "largest force [N]",
                "force at the end [N]",
                "box moved [mm]",
                "tip x at the end [m]",
                "desired x [m]",
                "tip off before the motion [mm]",
            ],
            rows=[
                [
                    name,
                    run.preset,
                    contact[name],
                    float(run.horizontal_force.max()),
                    float(run.horizontal_force[-1]),
                    1e3 * float(run.displacement[-1]),
                    float(run.tip[-1, 0]),
                    float(run.plan.tip[-1, 0]),
                    1e3 * float(np.linalg.norm((run.tip[:, :2] - run.plan.tip)[run.time <= WAIT][-1])),
                ]
                for name, run in runs.items()
            ],
            note="The last column is what the compensation of gravity leaves: the dead band of the bearings' friction.",
        )
    ]
    if not context.quick:
        tables.append(
            Table(
                title="Time step",
                columns=["arm", "force, 1 ms [N]", "force, 0.5 ms [N]", "box, 1 ms [mm]", "box, 0.5 ms [mm]"],
                rows=changes,
            )
        )
    context.progress(0.85, "figures")
    figures = [_figure_push(runs), _figure_joints(runs)]
    picture, reason = _frames(runs, options)
    if picture is not None:
        figures.insert(0, picture)
    else:
        notes.append(f"No pictures of the arm: {reason}.")
    return Result(
        targets=targets,
        tables=tables,
        figures=figures,
        summary=(
            "The same path of the tip into the box is commanded twice. With preset 0.2 rad the arm pushes with at most "
            f"{soft.horizontal_force.max():.2f} N and the box stays; with 0.6 rad it pushes with "
            f"{stiff.horizontal_force.max():.2f} N and the box slides {1e3 * stiff.displacement[-1]:.0f} mm."
        ),
        notes=notes,
        assumptions=[
            "Lengths, masses and arrangement of the arm, its first pose, the path, its duration, and the gain of the "
            "inverse kinematics: the paper prints none of them.",
            "The path prescribes x and y of the tip; its height follows from the posture that the null space seeks.",
            "Springs with the toolbox's default parameters.",
        ],
        traces={
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
    )


def _first_contact(run: Push) -> float:
    """Return x of the tip when it first touches the box [m]."""
    touching = np.flatnonzero(run.horizontal_force > 0.0)
    return float(run.tip[touching[0], 0]) if touching.size else float("nan")


def _deflection_targets() -> list[Target]:
    """Return what each arm's spring must give way for the breakaway force at three levers."""
    from pliant.control import equilibrium_for_torque
    from pliant.robots.qbmove import spring_law

    law = spring_law("toolbox")
    expected = {"soft": (0.482, 0.559, 0.591), "stiff": (0.103, 0.167, 0.197)}
    return [
        Target(
            f"{name}: deflection that carries {torque:.2f} N m",
            equals=value,
            tolerance=1e-3,
            unit="rad",
            source=f"asinh(tau / (2 k cosh(a p))) / a; 4.513 N at {lever:g} m",
        ).measure(float(equilibrium_for_torque(law, 0.0, torque, PRESETS[name])))
        for name, values in expected.items()
        for torque, lever, value in zip((0.45, 0.90, 1.20), (0.10, 0.20, 0.266), values)
    ]


def _figure_push(runs: dict[str, Push]) -> Figure:
    from pliant.experiments.style import COLORS, MUTED, label, legend, new_figure, thin

    figure, axes = new_figure(3, 1, height=1.75, sharex=True)
    some = next(iter(runs.values()))
    axes[0].plot(*thin(some.time, 1e3 * some.plan.tip[:, 0]), color=MUTED, ls="--", label="desired")
    for name, run in runs.items():
        axes[0].plot(*thin(run.time, 1e3 * run.tip[:, 0]), color=COLORS[name], label=name)
        axes[1].plot(*thin(run.time, run.horizontal_force), color=COLORS[name], label=name)
        axes[2].plot(*thin(run.time, 1e3 * run.displacement), color=COLORS[name], label=name)
    axes[1].axhline(BREAKAWAY, color=MUTED, ls=":", lw=1.2)
    axes[1].text(
        0.05, BREAKAWAY - 0.1, "4.51 N: friction under the box's own weight", fontsize=7.5, color=MUTED, va="top"
    )
    label(axes[0], "", "tip x [mm]", "the tip")
    label(axes[1], "", "force [N]", "horizontal force on the box")
    label(axes[2], "time [s]", "box x [mm]", "displacement of the box")
    legend(axes[0], loc="upper left")
    return Figure(
        name="push",
        caption="The push. Top: the tip follows the path until it meets the box. Middle: the soft arm's force stays "
        "below what friction holds, the stiff arm's passes it. Bottom: the box stays, or slides.",
        figure=figure,
    )


def _figure_joints(runs: dict[str, Push]) -> Figure:
    from pliant.experiments.style import COLORS, label, legend, new_figure, thin

    figure, axes = new_figure(1, 3, height=2.5, sharex=True, sharey=True)
    for axis, (index, title) in zip(axes, ((1, "shoulder"), (3, "elbow"), (4, "wrist"))):
        for name, run in runs.items():
            axis.plot(*thin(run.time, run.plan.equilibrium[:, index]), color=COLORS[name], ls="--", lw=1.0)
            axis.plot(*thin(run.time, run.joints[:, index]), color=COLORS[name], label=name)
        label(axis, "time [s]", "angle [rad]" if index == 1 else "", title)
    legend(axes[0], loc="upper left")
    return Figure(
        name="joints",
        caption="The joints that bend. Dashed: the equilibrium command, inverse kinematics and the springs' deflection "
        "under gravity; solid: the link. The soft arm's springs take up the whole way.",
        figure=figure,
    )


def _frames(runs: dict[str, Push], options: dict[str, Any]) -> tuple[Figure | None, str]:
    import mujoco

    from pliant.experiments._render import snapshots, strip
    from pliant.robots import build_robot

    robot = build_robot(ROBOT, options)
    face = next(iter(runs.values())).box[0, 0] - 0.5 * float(options.get("box_side", 0.265))
    world = robot.spec.worldbody
    camera = world.add_camera(name="side", pos=[0.07, -0.95, 0.25], xyaxes=[1.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    camera.fovy = 28.0
    # A stick at the first place of the box's face.
    world.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[face, -0.14, 0.15],
        size=[0.0007, 0.0007, 0.15],
        rgba=[0.85, 0.1, 0.1, 1.0],
        contype=0,
        conaffinity=0,
    )
    model = robot.compile()
    times = (0.0, WAIT + 0.5 * MOVE, WAIT + 0.75 * MOVE, WAIT + MOVE + HOLD)
    poses = [run.qpos[np.argmin(np.abs(run.time - t))] for run in runs.values() for t in times]
    pictures, reason = snapshots(model, poses, camera="side", width=400, height=400)
    if not pictures:
        return None, reason
    figure = strip(pictures, list(runs), [f"{t:.1f} s" for t in times], height=2.0)
    caption = (
        "The arm and the box. The red stick marks the first place of the box's face: the soft arm is held up by the "
        "box, the stiff arm pushes it along."
    )
    return Figure(name="frames", caption=caption, figure=figure), ""
