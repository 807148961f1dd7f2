"""Dynamic visual servoing of a torque-controlled Franka arm before an AprilTag (Oliva et al. 2022, section V)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from pliant import vision
from pliant.base.argument_checks import ControlError
from pliant.base.errors import BridgeError, DeviceError
from pliant.base.numerics import Array
from pliant.base.options import option
from pliant.base.spatial import inverse
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film
from pliant.experiments.panels import Level, Line, Panel, draw
from pliant.papers._servo_figures import error_lines, film_of
from pliant.papers.arms import EXACT, RENDERED
from pliant.papers.franka_visual_servo import (
    DEMONSTRATION,
    PAPER,
    end_errors,
    error_targets,
    interface_statement,
    interface_table,
    missing_client,
    start_poses,
)

if TYPE_CHECKING:
    from pliant.papers.arms.tag_servo import Cell, Plant, Run, Setup, Start

Features = Literal["pose", "points"]
FEATURES: tuple[Features, ...] = ("pose", "points")
CYCLE = 1e-3
"""Time between two torques [s]."""
STEP = 1e-4
"""Time over which Jacobians are differenced [s]; its error, of order STEP^2, is far below that of the torque's 1 ms."""
TORQUE_RATE = 1.0
"""Largest change of a torque that the robot's interface allows in a millisecond [N m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrankaDynamicServoOptions:
    """Assumptions of the experiment: the paper names the study and prints nothing of it."""

    starts: int = option(5, low=1, high=500, source="ours")
    """Number of start poses."""
    frequency: float = option(6.0, unit="rad/s", low=0.1, high=30.0, source="ours")
    """Natural frequency w of the error; K = w^2, D = 2 w."""
    null_damping: float = option(10.0, unit="1/s", low=0.0, high=100.0, source="ours; the paper's left arm has 100")
    """Damping k of the motion of the joints that the camera does not see."""
    null_space: Literal["speed", "inertia"] = option("speed", source="ours; the paper's left arm has inertia")
    """What is damped: speed: dq - pinv(J) J dq, towards the least joint speeds; inertia: the published N M dq, towards
    the least kinetic energy, which may take the joints beyond their speed limits."""
    decay: float = option(4.0, unit="1/s", low=0.1, high=1000.0, source=DEMONSTRATION)
    """Rate mu of the smooth start, which multiplies K and D by 1 - exp(-mu t)."""
    near: float = option(0.3, unit="m", low=0.1, high=1.0, source="assumed")
    """Least distance of the camera from the tag at the start."""
    far: float = option(0.5, unit="m", low=0.1, high=1.0, source="assumed")
    """Largest distance at the start."""
    tilt: float = option(math.radians(30.0), unit="rad", low=0.0, high=1.2, source="assumed")
    """Largest angle between the line of sight and the tag's normal at the start."""
    turn: float = option(math.radians(45.0), unit="rad", low=0.0, high=1.5, source="assumed")
    """Largest turn of the camera about its optical axis at the start."""
    size: float = option(0.08, unit="m", low=0.01, high=0.2, source=DEMONSTRATION)
    """Edge of the tag's black border."""
    distance: float = option(0.24, unit="m", low=0.1, high=1.0, source=f"{DEMONSTRATION}: three times the tag")
    """Desired distance of the camera, which faces the tag."""


@dataclass(slots=True)
class TorqueRun:
    """A run of the torque loop."""

    features: Features
    """Features that the law controls."""
    servo: Run
    """Motion of the camera, one row per image."""
    torque: Array = field(default_factory=lambda: np.zeros((0, 7)))
    """Commanded torques without gravity, one row per millisecond, shape (n, 7) [N m]."""
    null_speed: float = math.nan
    """Largest joint velocity that the camera does not see, at the end [rad/s]."""
    speed: float = 0.0
    """Largest joint velocity over its limit."""


def setup_of(options: FrankaDynamicServoOptions) -> Setup:
    """Return tag, goal and tolerance."""
    from pliant.papers.arms.tag_servo import Setup

    none = vision.AdaptiveGain(
        at_zero=1.0, at_infinity=1.0, slope_at_zero=0.0
    )  # the torque laws have stiffness and damping
    return Setup(
        size=options.size,
        distance=options.distance,
        gain=none,
        decay=options.decay,
        smooth="scaled",
        interaction="current",
        timeout=6.0,
        settle=0.3,
    )


@dataclass(slots=True)
class _Seen:
    """The last image, carried into the base by the arm's kinematics at its stamp."""

    X_FO: Array
    """Pose of the tag in the base."""
    p_F: Array
    """Corners in the base, shape (4, 3) [m]."""
    pixels: Array
    """Measured corners [pixels]."""


def _carried(cell: Cell, look: Callable[[], tuple[_Seen, float, object]]) -> _Seen:
    """Take an image."""
    from pliant.papers.arms.tag_servo import MAX_AGE
    from pliant.vision.checks import require_fresh

    seen, age, _ = look()
    require_fresh(age, MAX_AGE)
    X_FC = cell.arm.get_fMc()
    p_C = np.column_stack([seen.xy * seen.Z[:, None], seen.Z])
    return _Seen(X_FC @ seen.X_CO, p_C @ X_FC[:3, :3].T + X_FC[:3, 3], seen.pixels)


def _camera(q: Array, tool: Array) -> tuple[Array, Array]:
    """Return the pose of the camera in the base and its Jacobian in the base's axes."""
    from pliant.franka.robots.kinematics import forward_kinematics, jacobian

    return forward_kinematics(q, F_T_EE=tool), jacobian(q, F_T_EE=tool, axes="base")


def pose_torque(options: FrankaDynamicServoOptions, scale: float) -> Callable[..., Array]:
    """Return the torque law of the pose: computed torque for the camera, towards where the tag asks it to be."""
    from pliant.control.cartesian import CartesianComputedTorque

    w = options.frequency
    law = CartesianComputedTorque(scale * w * w, 2.0 * scale * w, null_damping=_published_damping(options))

    def torque(seen: _Seen, goal: Array, q: Array, dq: Array, tool: Array, mass: Array, bias: Array) -> Array:
        X_FC, J = _camera(q, tool)
        later, before = _camera(q + STEP * dq, tool)[1], _camera(q - STEP * dq, tool)[1]
        drift = (later - before) @ dq / (2.0 * STEP)
        return law(X_FC, J, drift, dq, mass, bias, seen.X_FO @ np.linalg.inv(goal))

    return torque


def points_torque(options: FrankaDynamicServoOptions, scale: float) -> Callable[..., Array]:
    """Return the torque law of the corners in the image."""
    from pliant.vision.visual_servoing import image_points_task, servo_torque

    w = options.frequency

    def torque(seen: _Seen, goal: Array, q: Array, dq: Array, tool: Array, mass: Array, bias: Array) -> Array:
        desired, desired_Z = vision.project_points(vision.tag_corners(options.size), goal)

        def task(q: Array) -> object:
            X_FC, J = _camera(q, tool)
            R = X_FC[:3, :3]
            xy, Z = vision.project_points((seen.p_F - X_FC[:3, 3]) @ R, np.eye(4))
            return image_points_task(xy, Z, desired, desired_Z).through(np.concatenate([R.T @ J[:3], R.T @ J[3:]]))

        later, before = task(q + STEP * dq).interaction, task(q - STEP * dq).interaction
        return servo_torque(
            task(q),
            dq,
            mass,
            bias,
            stiffness=scale * w * w,
            damping=2.0 * scale * w,
            drift=(later - before) @ dq / (2.0 * STEP),
            null_damping=_published_damping(options),
        )

    return torque


def _published_damping(options: FrankaDynamicServoOptions) -> float:
    return options.null_damping if options.null_space == "inertia" else 0.0


def null_torque(options: FrankaDynamicServoOptions, J: Array, dq: Array, mass: Array) -> Array:
    """Return the torque that damps the joint velocity that the camera does not see, without accelerating the camera."""
    if options.null_space == "inertia":
        return np.zeros(len(dq))
    return -options.null_damping * mass @ (dq - np.linalg.pinv(J) @ (J @ dq))


LAWS = {"pose": pose_torque, "points": points_torque}


def drive(
    cell: Cell,
    start: Start,
    features: Features,
    options: FrankaDynamicServoOptions,
    *,
    carry: bool = True,
    duration: float | None = None,
) -> TorqueRun:
    """Bring the camera to its goal by joint torques: one torque a millisecond, one image in 20 ms.

    Between two images the target stands still in the base, and the arm's kinematics says how the camera sees it.

    Args:
        cell: the arm.
        start: where it is, and its goal.
        features: what the law controls.
        options: gains.
        carry: whether the kinematics carries the features on; else they are held for 20 ms.
        duration: length of the run [s]; None: until it has converged.
    """
    from pliant.papers.arms.tag_servo import PERIOD, begin_with_image, look_with, make_run, servo_rows
    from pliant.vision.visual_servoing import ServoMonitor, ServoStatus, pose_below

    arm, goal, setup = cell.arm, start.goal, setup_of(options)
    look = look_with(cell, setup)
    each = round(PERIOD / CYCLE)
    monitor = ServoMonitor(pose_below(setup.translation, setup.rotation), growth=20.0)
    tool = arm.get_flMe() @ arm.get_eMc()
    rows = servo_rows()
    torques: list[Array] = []
    status, message, end = "running", "", math.inf
    null_speed, speed, ages = math.nan, 0.0, [0.0]
    limits = np.array(arm.arm.limits.velocity)
    until = setup.timeout if duration is None else duration
    try:
        begin_with_image(arm, "force_torque")
        began, k, seen = arm.time, 0, None
        while (t := k * CYCLE) < until - 0.5 * CYCLE and t < end:
            q, dq = arm.get_position(), arm.get_velocity("joint")
            X_FC, J = _camera(q, tool)
            if k % each == 0:
                seen = _carried(cell, look)
                if cell.picture is not None:
                    ages.append(cell.picture()[0])
                V = J @ dq
                velocity = np.concatenate([X_FC[:3, :3].T @ V[:3], X_FC[:3, :3].T @ V[3:]])
                rows.add(arm.time - began, cell.true_pose(), seen.pixels, velocity, q)
                state = monitor(vision.pose_features(inverse(X_FC) @ seen.X_FO, goal), t)
                if state is ServoStatus.DIVERGED:
                    status, message = str(state), "the error has grown twentyfold"
                    break
                if state is ServoStatus.CONVERGED and status != state:
                    status, end = str(state), t + setup.settle
                null_speed = float(np.abs(dq - np.linalg.pinv(J) @ V).max())
            assert seen is not None
            if k % each == 0 or carry:
                q_law = q
            law = LAWS[features](options, 1.0 - math.exp(-options.decay * t))
            mass = arm.get_mass()
            tau = law(seen, goal, q_law, dq, tool, mass, arm.get_coriolis()) + null_torque(options, J, dq, mass)
            speed = max(speed, float((np.abs(dq) / limits).max()))
            torques.append(tau)
            arm.set_force_torque("joint", tau, filter_gain=1.0)
            k += 1
        arm.stop_motion()
    except (vision.VisionError, ControlError) as fault:
        arm.stop_motion()
        status, message = "stopped", str(fault)
    except (DeviceError, BridgeError) as fault:
        status, message = "fault", str(fault)
    message = message or ("" if status == ServoStatus.CONVERGED else f"not converged within {until:g} s")
    kind = "PBVS" if features == "pose" else "IBVS"
    run = make_run(cell, kind, goal, setup.size, rows, age=max(ages), status=status, message=message)
    return TorqueRun(features, run, np.array(torques).reshape(-1, 7), null_speed, speed)


def run_torques(
    start: Start,
    features: Features,
    options: FrankaDynamicServoOptions,
    *,
    rendered: bool,
    fci: bool = False,
    plant: Plant | None = None,
    carry: bool = True,
    duration: float | None = None,
) -> TorqueRun:
    """Servo an arm of this process, or one that another process serves through the Franka Control Interface.

    By default the dynamics of the arm are those of the controller's model.
    """
    from pliant.papers.arms.tag_servo import Plant, run_program

    def program(cell: Cell) -> TorqueRun:
        return drive(cell, start, features, options, carry=carry, duration=duration)

    exact = Plant(friction=False, compensated=False, motor_inertia=0.0)
    how = {"rendered": rendered, "fci": fci, "period": CYCLE, "plant": plant or exact}
    return run_program(program, start, setup_of(options), lambda run: run.servo, **how)


def linear_error(time: Array, options: FrankaDynamicServoOptions) -> Array:
    """Return y of y'' + s (2 w y' + w^2 y) = 0, s = 1 - exp(-mu t), from y = 1 and rest, by Runge-Kutta's method.

    Args:
        time: increasing from 0, shape (n,) [s].
        options: w and mu.
    """
    w, mu = options.frequency, options.decay

    def rate(t: float, y: Array) -> Array:
        return np.array([y[1], -(1.0 - math.exp(-mu * t)) * (2.0 * w * y[1] + w * w * y[0])])

    y, found, substeps = np.array([1.0, 0.0]), [1.0], 20
    for a, b in itertools.pairwise(time):
        h = float(b - a) / substeps
        for i in range(substeps):
            t = float(a) + i * h
            k1 = rate(t, y)
            k2 = rate(t + 0.5 * h, y + 0.5 * h * k1)
            k3 = rate(t + 0.5 * h, y + 0.5 * h * k2)
            y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(t + h, y + h * k3))
        found.append(float(y[0]))
    return np.array(found)


def equation_error(run: TorqueRun, options: FrankaDynamicServoOptions) -> float:
    """Return the largest distance of the error from that of its equation, over the error at the start."""
    if len(run.servo.time) < 2:
        return math.inf
    e, y = run.servo.pose_errors, linear_error(run.servo.time, options)
    apart = e - np.outer(y, e[0])
    return max(
        float(np.linalg.norm(apart[:, rows], axis=1).max() / np.linalg.norm(e[0, rows]))
        for rows in (slice(0, 3), slice(3, 6))
    )


def of(runs: Sequence[TorqueRun], features: str, rendered: bool) -> list[TorqueRun]:
    """Return the runs of one kind."""
    return [run for run in runs if run.features == features and run.servo.rendered == rendered]


def _end_targets(runs: Sequence[TorqueRun], rendered: bool, source: str) -> list[Target]:
    kind = RENDERED if rendered else EXACT
    targets = []
    for features in FEATURES:
        chosen = of(runs, features, rendered)
        if chosen:
            targets += error_targets(*end_errors([run.servo for run in chosen]), f"{features}, {kind}", source)
    return targets


def study_statement(runs: Sequence[TorqueRun], missing: str) -> Statement:
    """Judge that dynamic visual servoing can be studied with the simulator."""
    what = "The simulator is used to study dynamic visual servoing."
    where = "section V"
    targets = _end_targets(runs, True, "section V prints no number; the tolerance is that of the demonstrations")
    if not targets:
        return Statement(what=what, where=where, found=f"It cannot be judged without rendered images: {missing}.")
    parts = []
    for features in FEATURES:
        chosen = of(runs, features, True)
        if chosen:
            place, angle = end_errors([run.servo for run in chosen])
            parts.append(
                f"by {features} {sum(r.servo.converged for r in chosen)} of {len(chosen)} starts, within "
                f"{1e3 * place:.2g} mm and {math.degrees(angle):.2g} deg"
            )
    return Statement(
        what=what,
        where=where,
        targets=targets,
        found="Joint torques, one a millisecond, bring the camera to its goal on rendered images, one in 20 ms: "
        + "; ".join(parts)
        + ".",
        rests_on="The paper prints neither laws nor gains of that study; the law is the computed torque of its left "
        "arm in the space of the features.",
    )


def checks(runs: Sequence[TorqueRun], options: FrankaDynamicServoOptions) -> list[Target]:
    """Return the checks of laws and simulation."""
    targets = _end_targets(runs, False, "ours: exact features have no error")
    by_pose = [run for run in runs if run.features == "pose"]
    if by_pose:
        targets += [
            Target("largest distance of the pose's error from its linear equation, over the error at the start",
                   100.0 * max(equation_error(run, options) for run in by_pose), high=1.0, unit="%",
                   source="the law: e'' + D e' + K e = 0 with an exact model; 1 % is ours"),
            Target("largest distance of the camera from a straight line, pose",
                   1e3 * max(run.servo.path_deviation for run in by_pose), high=1.0, unit="mm",
                   source="the law: all entries of the error shrink alike; 1 mm is ours"),
        ]  # fmt: skip
    change = max(
        float(np.abs(np.diff(run.torque, axis=0, prepend=0.0)).max()) if len(run.torque) else math.inf for run in runs
    )
    targets.append(
        Target("largest change of a torque within a millisecond", change, high=TORQUE_RATE, unit="N m",
               source="limit of the robot's interface, 1000 N m/s")
    )  # fmt: skip
    return targets


def _row(label: str, run: TorqueRun, options: FrankaDynamicServoOptions) -> dict[str, object]:
    place, angle = run.servo.errors[-1] if len(run.servo.time) else (math.nan, math.nan)
    return {
        "run": label,
        "ended": run.servo.status,
        "time to 0.5 mm and 0.5 deg [s]": float(run.servo.converged_at) if run.servo.converged else None,
        "end [mm]": 1e3 * float(place),
        "[deg]": math.degrees(float(angle)),
        "error from its equation [%]": 100.0 * equation_error(run, options),
        "largest torque without gravity [N m]": float(np.abs(run.torque).max()) if len(run.torque) else None,
        "largest joint velocity over its limit": run.speed,
        "joint velocity unseen by the camera, at the end [rad/s]": run.null_speed,
    }


def plants_table(start: Start, options: FrankaDynamicServoOptions) -> Table:
    """Return what a wrong model and held features do to the pose law."""
    from pliant.papers.arms.tag_servo import Plant

    cases: list[tuple[str, Plant | None, bool]] = [
        ("exact model", None, True),
        ("features held between images", None, False),
        ("15 % of the motors' inertia, unknown to the law", Plant(friction=False, compensated=False), True),
        ("friction, compensated by the robot", Plant(motor_inertia=0.0), True),
        ("friction that nobody compensates", Plant(compensated=False, motor_inertia=0.0), True),
        ("as `pliant run franka`: motors' inertia, compensated friction", Plant(), True),
    ]
    rows = [
        _row(label, run_torques(start, "pose", options, rendered=False, plant=plant, carry=carry), options)
        for label, plant, carry in cases
    ]
    return Table.of(
        "What the law does not know, pose, exact features, first start",
        rows,
        "Friction that nobody compensates holds the arm where K e is below it: the law has no integral term.",
    )


def null_space_table(poses: Sequence[Start], options: FrankaDynamicServoOptions) -> Table:
    """Return what the damping of the motion that the camera does not see does to the joints."""
    cases = (
        ("towards the least joint speeds", {"null_space": "speed"}),
        ("published: towards the least kinetic energy", {"null_space": "inertia"}),
        ("none", {"null_damping": 0.0}),
    )
    rows: list[dict[str, object]] = []
    for label, changes in cases:
        changed = replace(options, **changes)  # pyright: ignore[reportArgumentType]
        runs = [run_torques(start, "pose", changed, rendered=False) for start in poses]
        lost = [run for run in runs if not run.servo.converged]
        rows.append(
            {
                "damping": label,
                "converged": f"{len(runs) - len(lost)} of {len(runs)}",
                "largest joint velocity over its limit": max(run.speed for run in runs),
                "joint velocity unseen by the camera, at the end, largest [rad/s]": max(run.null_speed for run in runs),
                "why not": lost[0].servo.message if lost else "",
            }
        )
    return Table.of(
        "Damping of the motion that the camera does not see, pose, exact features, all starts",
        rows,
        "Where joints 1 and 3 have nearly parallel axes, turning them against each other costs little energy and much "
        "speed.",
    )


def _figure(runs: Sequence[TorqueRun], options: FrankaDynamicServoOptions) -> Figure | None:
    shown = [run for run in runs if len(run.servo.time) > 1]
    if {run.features for run in shown} != set(FEATURES):
        return None
    rows: list[list[Panel]] = [[], [], []]
    for features in FEATURES:
        chosen = [run for run in shown if run.features == features]
        first = chosen[0]
        time, torque = CYCLE * np.arange(len(first.torque)), first.torque
        for row, (factor, what) in enumerate(((1e3, "distance [mm]"), (180.0 / math.pi, "angle [deg]"))):
            items = error_lines([run.servo for run in chosen], row, factor, 1e-3, lw=0.9, alpha=0.8)
            if features == "pose":
                y = np.maximum(
                    factor * first.servo.errors[0, row] * np.abs(linear_error(first.servo.time, options)), 1e-3
                )
                dashed = {"color": "black", "lw": 1.0, "ls": "--", "label": "equation, first start"}
                items.append(Line(first.servo.time, y, points=0, **dashed))
            items.append(Level(0.5, ls=":", lw=1.0))
            rows[row].append(Panel(items, "", what, "" if row else f"torques by {features}", log="y"))
        joints = [Line(time, torque[:, k], color=k, lw=1.0, points=0) for k in range(7)]
        rows[2].append(Panel(joints, "time [s]", "torques [N m]"))
    caption = (
        "Errors of the camera's true pose, and the torques of the first start, gravity excluded; dotted: 0.5 mm and "
        "0.5 deg; dashed: the linear equation of the error."
    )
    shared = {"sharex": True, "sharey": "row"}
    return draw("torque-servo", caption, [p for row in rows for p in row], rows=3, legend=0, height=1.7, **shared)


def _films(context: Context, options: FrankaDynamicServoOptions) -> list[Film]:
    poses, _ = start_poses(replace(options, starts=1), context.rng, setup_of(options))
    runs = {f"by {features}": run_torques(poses[0], features, options, rendered=False).servo for features in FEATURES}
    caption = "Torques by the tag's pose and by its corners, from one start."
    return [film_of(list(runs.values()), setup_of(options), titles=list(runs), caption=caption)]


@experiment(
    "franka-dynamic-servo",
    title="Visual servoing by joint torques",
    paper=PAPER,
    section="V",
    films=_films,
    cameras=("view",),
)
def franka_dynamic_servo(context: Context, options: FrankaDynamicServoOptions) -> Result:
    """Move a wrist camera to a tag by joint torques, by pose and by points, with rendered and exact features."""
    from pliant.papers.arms.tag_servo import missing_for_pictures

    missing = missing_for_pictures()
    if context.quick:
        options = replace(options, starts=1)
    poses, _ = start_poses(options, context.rng, setup_of(options))
    kinds = [(features, rendered) for features in FEATURES for rendered in (False, True) if not (rendered and missing)]
    if context.quick:
        kinds = [("pose", not missing), ("points", False)]
    jobs = [(start, *kind) for kind in kinds for start in poses]
    runs = []
    for start, features, rendered in context.track(
        jobs, lambda job: f"{job[1]}, {RENDERED if job[2] else EXACT}", low=0.02, high=0.7
    ):
        runs.append(run_torques(start, features, options, rendered=rendered))
    far, near, why_not = [], [], missing_client()
    if not why_not:
        context.progress(0.7, "through the interface")
        duration = 0.3 if context.quick else None
        for features in FEATURES[:1] if context.quick else FEATURES:
            near.append(of(runs, features, not missing)[0])
            far.append(run_torques(poses[0], features, options, rendered=not missing, fci=True, duration=duration))
    tables = [
        Table.of(
            "Runs",
            [_row(f"{run.features}, {run.servo.features}", run, options) for run in runs],
            "Only the errors of the pose law have a linear equation of their own; for points the column says how far "
            "the pose is from it.",
        )
    ]
    if far:
        laws = {id(run.servo): run.features for run in far}
        servos = [run.servo for run in far]
        tables.append(interface_table(servos, ["law", "ended"], lambda run: [laws[id(run)], run.status]))
    if not context.quick:
        context.progress(0.85, "what the law does not know")
        tables.append(plants_table(poses[0], options))
        tables.append(null_space_table(poses, options))
    figure = _figure(runs, options)
    example = runs[0]
    notes = [f"There are no runs with rendered images: {missing}"] if missing else []
    if why_not:
        notes.append(f"There are no runs through the interface: {why_not}")
    place, angle = end_errors([run.servo for run in runs if run.servo.rendered == (not missing)])
    return Result(
        statements=[
            study_statement(runs, missing),
            interface_statement([r.servo for r in near], [r.servo for r in far], why_not),
        ],
        targets=checks(runs, options),
        tables=tables,
        figures=[figure] if figure else [],
        summary=f"Torques by pose and by points end within {1e3 * place:.2g} mm and {math.degrees(angle):.2g} deg.",
        notes=notes,
        assumptions=[
            "The arm has no friction and no inertia of motors, so that the law's model is exact; a table shows what "
            "each adds.",
            "Between two images the target stands still in the base; the arm's kinematics carries the features on.",
            "Place, lens and rate of the wrist camera; it has no mass.",
        ],
        traces={"time_s": example.servo.time, "error": example.servo.pose_errors, "torque_nm": example.torque},
    )
