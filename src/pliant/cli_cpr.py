"""The command line for continuum parallel robots: solve, run, check, view, list.

Exit codes as of `pliant`: 0 done; 1 wrong input or no equilibrium (the message says why); 2 wrong usage; 3 a check
failed its targets; 4 the simulation diverged.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from pliant.cli_output import Debug, Json, emit, make_console
from pliant.errors import PliantError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from rich.console import Console

    from pliant.rods import ContinuumParallelRobot, Solution

__all__ = ["cpr"]

cpr = App(
    name="cpr",
    help="Continuum parallel robots: solve, simulate, check and move robots of elastic rods.",
    help_on_error=False,
)

Robot = Annotated[str, Parameter(help="A name of `pliant cpr list`, a YAML file, or a folder of the Gazebo simulator.")]
Numbers = Annotated[str | None, Parameter(allow_leading_hyphen=True)]
WRENCH = "Wrench on the plate about its origin, world axes: fx,fy,fz,mx,my,mz (planar: fx,fy,mz) [N, N m]."
POSE = "Plate pose: x,y,z,roll,pitch,yaw (planar: x,y,angle) [m, rad]; solves for the joint values."
JOINTS = "Actuated joint values, separated by commas [m or rad]; solves for the plate pose."


def numbers(text: str, option: str, count: Sequence[int] | None = None) -> np.ndarray:
    """Read numbers separated by commas or spaces.

    Raises:
        PliantError: what is no finite number, or a wrong count.
    """
    import numpy as np

    words = text.replace(",", " ").split()
    values = []
    for word in words:
        try:
            values.append(float(word))
        except ValueError:
            raise PliantError(f"{option} {text!r}: {word!r} is not a number", field=option) from None
        if not math.isfinite(values[-1]):
            raise PliantError(f"{option} {text!r}: {word!r} is not finite", field=option)
    if count is not None and len(values) not in count:
        wanted = " or ".join(str(c) for c in count)
        raise PliantError(f"{option} {text!r} has {len(values)} numbers; valid: {wanted}", field=option)
    return np.array(values)


def to_pose(robot: ContinuumParallelRobot, values: np.ndarray) -> np.ndarray:
    """Return a pose as the solver takes it: (x, y, angle), or 4x4 from (x, y, z[, roll, pitch, yaw])."""
    import numpy as np

    from pliant.spatial import pose, rotation_from_rpy

    if robot.planar:
        return values
    rpy = values[3:] if len(values) == 6 else np.zeros(3)
    return pose(values[:3], rotation_from_rpy(rpy))


def pose_numbers(robot: ContinuumParallelRobot, X: np.ndarray) -> list[float]:
    """Return a 4x4 pose as (x, y, angle) or (x, y, z, roll, pitch, yaw)."""
    import numpy as np

    R = X[:3, :3]
    if robot.planar:
        return [float(X[0, 3]), float(X[1, 3]), float(np.arctan2(R[1, 0], R[0, 0]))]
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    return [*X[:3, 3].tolist(), *map(float, (np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])))]


def _load(source: str, accuracy: str = "accurate") -> ContinuumParallelRobot:
    from pliant.rods import load_robot

    return load_robot(source, accuracy=accuracy)


def _report(solution: Solution) -> dict[str, Any]:
    """Return what `solve` tells of a solution."""
    robot = solution.robot
    d = robot.description
    limits = [d.limbs[i].joints[j].limits for i, j in d.actuators]
    beyond = [
        f"{d.limb_name(i)} at {q:.4g} is outside {limit[0]:g} to {limit[1]:g}"
        for (i, _), q, limit in zip(d.actuators, solution.q, limits)
        if limit is not None and not limit[0] - 1e-9 <= q <= limit[1] + 1e-9
    ]
    return {
        "robot": robot.name,
        "q": solution.q,
        "pose": pose_numbers(robot, solution.plate_pose),
        "plate_pose": solution.plate_pose,
        "wrench": solution.wrench,
        "residual": solution.residual,
        "iterations": solution.iterations,
        "stable": solution.stable,
        "morse_index": solution.morse_index,
        "smallest_stiffness": solution.smallest_stiffness,
        "singular_values": solution.singular_values(),
        "condition_numbers": solution.condition_numbers(),
        "actuator_forces": solution.actuator_forces(),
        "base_wrenches": solution.base_wrenches,
        "largest_bending_strain": max(float(c.bending_strain.max()) for c in solution.centrelines(41)),
        "starts": list(solution.starts),
        "joint_limits": beyond,
    }


# -- list -----------------------------------------------------------------------------------------------------


@cpr.command(name="list")
def list_(*, json: Json = False, debug: Debug = False) -> int:
    """List the parallel robots of the catalogue."""
    from pliant.rods import catalogue, load_description

    rows = []
    for name in catalogue():
        d = load_description(name)
        rows.append(
            {
                "name": name,
                "kind": "planar" if d.planar else "spatial",
                "limbs": len(d.limbs),
                "actuators": [d.limbs[i].joints[j].kind for i, j in d.actuators],
                "plate_joints": [limb.distal.kind for limb in d.limbs],
                "controlled": list(d.controlled or d.freedoms),
            }
        )
    if json:
        emit({"robots": rows})
        return 0
    from rich.table import Table

    table = Table(box=None)
    for column in ("name", "", "limbs", "actuated", "plate joints", "controls"):
        table.add_column(column, no_wrap=column == "name")
    for row in rows:
        table.add_row(
            row["name"], row["kind"], str(row["limbs"]), ", ".join(dict.fromkeys(row["actuators"])),
            ", ".join(dict.fromkeys(row["plate_joints"])), " ".join(row["controlled"]),
        )  # fmt: skip
    make_console().print(table)
    return 0


# -- solve ----------------------------------------------------------------------------------------------------


@cpr.command
def solve(
    robot: Robot,
    *,
    pose: Annotated[str | None, Parameter(help=POSE, allow_leading_hyphen=True)] = None,
    q: Annotated[str | None, Parameter(help=JOINTS, allow_leading_hyphen=True)] = None,
    wrench: Annotated[str | None, Parameter(help=WRENCH, allow_leading_hyphen=True)] = None,
    controlled: Annotated[
        str | None, Parameter(help="Freedoms held at the pose where there are fewer actuators: z,rx,ry.")
    ] = None,
    follower: Annotated[bool, Parameter(negative=(), help="The wrench turns with the plate.")] = False,
    configuration: Annotated[str | None, Parameter(help="Solve a saved configuration of the robot's file.")] = None,
    to: Annotated[
        str | None,
        Parameter(
            help="Follow a straight line from there to this pose (with --q: these values).", allow_leading_hyphen=True
        ),
    ] = None,
    steps: Annotated[int, Parameter(help="Rows of that line.")] = 50,
    path: Annotated[
        Path | None, Parameter(help="Follow a table (.csv) of poses, or of joint values with --q-path.")
    ] = None,
    q_path: Annotated[bool, Parameter(negative=(), help="The table holds joint values.")] = False,
    accuracy: Annotated[str, Parameter(help="accurate (1e-6 m) or fast (1e-5 m).")] = "accurate",
    seed: Annotated[int, Parameter(help="Seed of the random restarts.")] = 0,
    figure: Annotated[Path | None, Parameter(help="Draw the rods (.png, .svg, .pdf).")] = None,
    output: Annotated[Path | None, Parameter(help="Write the path (.csv) or the rods' shapes (.csv).")] = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Solve the direct or inverse geometrico-static model, at one point or along a path.

    Without --pose and --q it solves the robot's home pose.
    """
    console = make_console(quiet=json)
    statics = _load(robot, accuracy)
    planar = statics.planar
    if sum(v is not None for v in (pose, q, configuration)) > 1:
        raise PliantError("--pose, --q and --configuration exclude each other; give one of them", field="pose")
    load = None if wrench is None else numbers(wrench, "--wrench", (3,) if planar else (6,))
    held = None if controlled is None else controlled.replace(",", " ").split()
    direct, values = q is not None, None
    if configuration is not None:
        saved = statics.description.configurations
        if configuration not in saved:
            raise PliantError(
                f"{statics.name} has no configuration {configuration!r}; {nearest(configuration, saved)}",
                field="configuration",
            )
        one = saved[configuration]
        direct = "q" in one
        values = one["q"] if direct else to_pose(statics, _saved_pose(planar, one["pose"]))
    elif q is not None:
        values = numbers(q, "--q")
    elif pose is not None:
        values = to_pose(statics, numbers(pose, "--pose", (3,) if planar else (3, 6)))
    if path is not None or to is not None:
        rows = _rows(statics, values, path, to, steps, direct or q_path)
        return _follow(statics, rows, load, not (direct or q_path), held, follower, figure, output, json, console)
    options: dict[str, Any] = {"follower": follower, "seed": seed}
    if direct:
        solution = statics.solve_dgm(values, load, **options)
    elif values is None and load is None and held is None:
        solution = statics.home()
    else:
        goal = statics.description.home if values is None else values
        solution = statics.solve_igm(goal, load, controlled=held, **options)
    report = _report(solution)
    if output is not None:
        _write_shapes(solution, output)
    if figure is not None:
        _draw([[solution]], [statics.name], figure)
    if json:
        emit({**report, "figure": figure and str(figure), "output": output and str(output)})
        return 0
    _print_solution(console, solution, report)
    _tell(console, figure, output)
    return 0


def _saved_pose(planar: bool, values: Sequence[float]) -> np.ndarray:
    import numpy as np

    v = np.asarray(values, dtype=float)
    return v[[0, 1, 5]] if planar and len(v) == 6 else v


def _print_solution(console: Console, solution: Solution, report: dict[str, Any]) -> None:
    from rich.table import Table

    robot = solution.robot
    d = robot.description
    kind = "inverse model" if solution.inverse else "direct model"
    tries = f", {len(solution.starts)} starts" if len(solution.starts) > 1 else ""
    console.print(
        f"{robot.name}: {kind}, residual {solution.residual:.1e}, {solution.iterations} iterations{tries}",
        soft_wrap=True,
    )
    if solution.stable:
        console.print(f"[green]stable[/green], smallest plate stiffness {solution.smallest_stiffness:.4g} N/m")
    else:
        console.print(f"[yellow]unstable[/yellow]: {solution.morse_index} directions in which the energy falls")
    table = Table(box=None)
    for column in ("limb", "joint", "value", "", "force", "", "bending strain"):
        table.add_column(column, justify="right" if column in ("value", "force", "bending strain") else "left")
    lines = solution.centrelines(41)
    for a, (i, j) in enumerate(d.actuators):
        joint = d.limbs[i].joints[j].kind
        turning = joint == "revolute"
        table.add_row(
            d.limb_name(i), joint, f"{solution.q[a]:.6f}", "rad" if turning else "m",
            f"{report['actuator_forces'][a]:.4g}", "N m" if turning else "N",
            f"{1e3 * lines[i].bending_strain.max():.3g}e-3",
        )  # fmt: skip
    console.print(table)
    names = ("x", "y", "angle") if robot.planar else ("x", "y", "z", "roll", "pitch", "yaw")
    console.print("plate: " + ", ".join(f"{n} {v:.6f}" for n, v in zip(names, report["pose"])), soft_wrap=True)
    margins = ", ".join(f"{k} {v:.3g}" for k, v in report["singular_values"].items())
    console.print(f"smallest singular values: {margins}", soft_wrap=True)
    for text in report["joint_limits"]:
        console.print(f"[yellow]joint limit[/yellow] {text}", soft_wrap=True)


def _rows(statics, values, path, to, steps, direct) -> Any:
    import numpy as np

    from pliant.spatial import exp_so3, log_so3
    from pliant.spatial import pose as make_pose

    count = (statics.actuator_count,) if direct else ((3,) if statics.planar else (3, 6))
    if path is not None:
        if to is not None:
            raise PliantError("--path and --to exclude each other; give one of them", field="path")
        table = read_table(path, count)
        return table if direct else [to_pose(statics, row) for row in table]
    if not 2 <= steps <= 1_000_000:
        raise PliantError(f"--steps is {steps}; valid: 2 to 1000000", field="steps")
    end = numbers(to, "--to", count)
    s = np.linspace(0.0, 1.0, steps)[:, None]
    if direct:
        return np.asarray(values) + s * (end - np.asarray(values))
    if statics.planar:
        begin = statics.home().pose2d if values is None else np.asarray(values)
        return begin + s * (end - begin)
    A = np.asarray(statics.description.home if values is None else values)
    B = to_pose(statics, end)
    turn = log_so3(B[:3, :3] @ A[:3, :3].T)
    return [make_pose(A[:3, 3] + t * (B[:3, 3] - A[:3, 3]), exp_so3(t * turn) @ A[:3, :3]) for t in s[:, 0]]


def read_table(path: Path, count: Sequence[int]) -> np.ndarray:
    """Read a CSV of numbers, with or without a line of headings.

    Raises:
        PliantError: file and line of what is wrong.
    """
    import numpy as np

    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PliantError(f"cannot be read: {error}", file=path) from None
    rows, width = [], None
    for number, line in enumerate(lines, 1):
        text = line.split("#")[0].strip()
        if not text:
            continue
        words = [w for w in text.replace(";", ",").replace(",", " ").split() if w]
        try:
            row = [float(w) for w in words]
        except ValueError:
            if rows or number > 1:
                raise PliantError(f"not numbers: {text[:80]!r}", file=path, line=number) from None
            continue
        if not all(math.isfinite(v) for v in row):
            raise PliantError(f"a number is not finite: {text[:80]!r}", file=path, line=number)
        width = len(row) if width is None else width
        if len(row) != width or len(row) not in count:
            wanted = " or ".join(str(c) for c in count)
            raise PliantError(f"{len(row)} numbers in a row; valid: {wanted}", file=path, line=number)
        rows.append(row)
    if not rows:
        raise PliantError("the table has no rows", file=path)
    return np.array(rows)


def _follow(statics, rows, load, inverse, held, follower, figure, output, json, console) -> int:
    import numpy as np

    done = statics.follow(rows, load, inverse=inverse, controlled=held, follower=follower)
    poses = np.array([pose_numbers(statics, X) for X in done.plate_poses])
    picks = sorted({round(k) for k in np.linspace(0, len(done) - 1, 25)})
    index = {k: done[k].morse_index for k in picks}
    unstable = [k for k, count in index.items() if count]
    if output is not None:
        names = ["x", "y", "angle"] if statics.planar else ["x", "y", "z", "roll", "pitch", "yaw"]
        head = ",".join([*(f"q{a + 1}" for a in range(statics.actuator_count)), *names])
        _write(output, head, np.hstack([done.q, poses]))
    if figure is not None:
        shown = [done[k] for k in sorted({0, len(done) // 3, 2 * len(done) // 3, len(done) - 1})]
        _draw([shown], [f"{statics.name}, {len(done)} poses"], figure)
    data = {
        "robot": statics.name,
        "rows": len(done),
        "largest_residual": float(done.residual.max()),
        "mean_iterations": float(done.iterations.mean()),
        "q": done.q,
        "poses": poses,
        "unstable_rows": unstable,
        "figure": figure and str(figure),
        "output": output and str(output),
    }
    if json:
        emit(data)
        return 0
    console.print(
        f"{statics.name}: {len(done)} rows, largest residual {data['largest_residual']:.1e}, "
        f"{data['mean_iterations']:.1f} iterations a row", soft_wrap=True,
    )  # fmt: skip
    span = done.q.max(axis=0) - done.q.min(axis=0)
    console.print("the joints move by " + ", ".join(f"{v:.4g}" for v in span), soft_wrap=True)
    if unstable:
        console.print(f"[yellow]unstable[/yellow] at rows {', '.join(map(str, unstable))} of those looked at")
    else:
        console.print(f"[green]stable[/green] at all {len(index)} rows looked at")
    _tell(console, figure, output)
    return 0


def _draw(groups: Any, titles: list[str], file: Path) -> None:
    from pliant.experiments.rod_figures import figure_of_robots
    from pliant.experiments.style import saving

    figure = figure_of_robots(groups, titles, height=4.6)
    try:
        with saving():
            figure.savefig(file, dpi=160, facecolor="white")
    except (OSError, ValueError) as error:
        raise PliantError(f"the figure cannot be written: {error}", file=file) from None


def _write(file: Path, head: str, table: Any) -> None:
    import numpy as np

    try:
        np.savetxt(file, table, delimiter=",", header=head, comments="", fmt="%.9g")
    except OSError as error:
        raise PliantError(f"cannot be written: {error}", file=file) from None


def _write_shapes(solution: Solution, file: Path) -> None:
    import numpy as np

    parts = []
    for i, line in enumerate(solution.centrelines(101)):
        parts.append(
            np.column_stack(
                [np.full(len(line.s), i + 1), line.s, line.position, line.force, line.moment, line.bending_strain]
            )
        )
    _write(file, "limb,s,x,y,z,nx,ny,nz,mx,my,mz,bending_strain", np.vstack(parts))


def _tell(console: Console, *files: Path | None) -> None:
    for file in files:
        if file is not None:
            console.print(f"written: {file}", soft_wrap=True)


# -- run ------------------------------------------------------------------------------------------------------


@cpr.command
def run(
    robot: Robot,
    *,
    q: Annotated[
        str | None, Parameter(help="Joint values to move to, from the start's.", allow_leading_hyphen=True)
    ] = None,
    pose: Annotated[
        str | None, Parameter(help="Plate pose to move to (by the inverse model).", allow_leading_hyphen=True)
    ] = None,
    wrench: Annotated[str | None, Parameter(help=WRENCH, allow_leading_hyphen=True)] = None,
    ramp: Annotated[float, Parameter(help="Seconds over which joints and wrench change.")] = 1.0,
    duration: Annotated[float, Parameter(help="Seconds to simulate.")] = 3.0,
    variant: Annotated[str, Parameter(help="chain (hinges) or flex (MuJoCo's flex).")] = "chain",
    segments: Annotated[int, Parameter(help="Elements a rod.")] = 10,
    timestep: Annotated[float, Parameter(help="Time step [s].")] = 1e-3,
    damping: Annotated[float, Parameter(help="Damping of the material [s].")] = 1e-3,
    mjcf: Annotated[Path | None, Parameter(help="Write the model (.xml) and stop.")] = None,
    figure: Annotated[Path | None, Parameter(help="Draw the plate's motion (.png, .svg, .pdf).")] = None,
    output: Annotated[Path | None, Parameter(help="Write time, joints and plate pose (.csv).")] = None,
    view: Annotated[bool, Parameter(negative=(), help="Show the simulation in the browser, in real time.")] = False,
    view_port: Annotated[int, Parameter(help="Port of the page; 0 takes the first free one from 8080 on.")] = 0,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Simulate the robot's dynamics, starting at rest from the statics' equilibrium."""
    from pliant.model.parallel import build_parallel

    console = make_console(quiet=json)
    statics = _load(robot)
    for name, value in (("duration", duration), ("ramp", ramp)):
        if not (math.isfinite(value) and value >= 0.0):
            raise PliantError(f"--{name} is {value:g}; valid: a number of seconds >= 0", field=name)
    if q is not None and pose is not None:
        raise PliantError("--q and --pose exclude each other; give one of them", field="pose")
    model_of = build_parallel(statics, variant=variant, segments=segments, timestep=timestep, damping=damping)  # type: ignore[arg-type]
    for note in model_of.notes:
        console.print(f"[yellow]note[/yellow] {note}", soft_wrap=True)
    start = model_of.solution
    load = numbers(wrench, "--wrench", (3,) if statics.planar else (6,)) if wrench is not None else None
    if pose is not None:
        goal = to_pose(statics, numbers(pose, "--pose", (3,) if statics.planar else (3, 6)))
        target = statics.solve_igm(goal, load, start=start).q
    else:
        target = start.q if q is None else numbers(q, "--q", (statics.actuator_count,))
    if mjcf is not None:
        if variant == "flex":
            raise PliantError(
                "--mjcf: a flex is compiled straight and bent afterwards, which no file holds; valid: --variant chain",
                field="mjcf",
            )
        try:
            model_of.compile()
            mjcf.write_text(model_of.assemble().to_xml(), encoding="utf-8")
        except OSError as error:
            raise PliantError(f"the model cannot be written: {error}", file=mjcf) from None
        console.print(f"written: {mjcf}")
        return 0
    trace, speed, moving = _simulate(model_of, target, load, ramp, duration, view, view_port, console, json)
    import numpy as np

    expected = statics.solve_dgm(target, load, start=start) if np.any(target != start.q) or load is not None else start
    end = trace[-1]
    reached = to_pose(statics, end[1 + statics.actuator_count :])
    if statics.planar:
        off = float(np.hypot(reached[0] - expected.pose2d[0], reached[1] - expected.pose2d[1]))
    else:
        off = float(np.linalg.norm(reached[:3, 3] - expected.plate_pose[:3, 3]))
    names = ["x", "y", "angle"] if statics.planar else ["x", "y", "z", "roll", "pitch", "yaw"]
    if output is not None:
        head = ",".join(["time", *(f"q{a + 1}" for a in range(statics.actuator_count)), *names])
        _write(output, head, trace)
    if figure is not None:
        _draw_motion(statics, trace, expected, figure)
    data = {
        "robot": statics.name,
        "variant": variant,
        "duration": float(end[0]),
        "x_real_time": speed,
        "q": end[1 : 1 + statics.actuator_count],
        "pose": end[1 + statics.actuator_count :],
        "static_pose": pose_numbers(statics, expected.plate_pose),
        "distance_to_static_pose": off,
        "plate_speed": moving,
        "notes": model_of.notes,
        "figure": figure and str(figure),
        "output": output and str(output),
    }
    if json:
        emit(data)
        return 0
    console.print(f"{statics.name}: {end[0]:g} s simulated as {variant}, {speed:.3g} x real time", soft_wrap=True)
    console.print("plate: " + ", ".join(f"{n} {v:.5f}" for n, v in zip(names, data["pose"])), soft_wrap=True)
    rest = f", still moving at {1e3 * moving:.2g} mm/s" if moving > 1e-3 else ""
    console.print(f"distance from the static solution: {1e3 * off:.3g} mm{rest}", soft_wrap=True)
    _tell(console, figure, output)
    return 0


def _simulate(model_of, target, load, ramp, duration, view, view_port, console, json) -> tuple[Any, float, float]:
    import time

    import mujoco
    import numpy as np

    from pliant.engine import MujocoEngine

    statics, begin = model_of.solution.robot, model_of.solution
    engine = MujocoEngine(model_of, check=False)
    model, data = engine.model, engine.data
    model_of.start(model, data)
    page = None
    if view:
        from pliant.viewer import StudioView

        page = StudioView(engine, port=view_port)
        page.start({})
        console.print(f"look at it: {page.url} (Ctrl-C ends)", soft_wrap=True)
    wrench = begin.wrench if load is None else statics._wrench(load)
    steps = round(duration / engine.dt)
    every = max(1, round(0.01 / engine.dt))
    rows, share = [], 0.0

    def note() -> None:
        X = model_of.plate_pose(model, data)
        rows.append([data.time, *model_of.joints(model, data), *pose_numbers(statics, X)])

    note()
    began = time.perf_counter()
    try:
        for k in range(steps):
            if share < 1.0:
                share = min(1.0, (k + 1) * engine.dt / ramp) if ramp > 0.0 else 1.0
                model_of.set_joints(model, data, begin.q + share * (target - begin.q))
                model_of.set_wrench(model, data, begin.wrench + share * (wrench - begin.wrench))
            elif wrench.any():
                model_of.set_wrench(model, data, wrench)  # about the plate's origin, wherever its mass is
            model_of.update(model, data)
            engine.step()
            if (k + 1) % every == 0 or k == steps - 1:
                note()
            if page is not None:
                page.tick(0)
                ahead = (k + 1) * engine.dt - (time.perf_counter() - began)
                if ahead > 0.0:
                    time.sleep(ahead)
    except KeyboardInterrupt:
        if page is None:
            raise
    finally:
        if page is not None:
            page.stop()
    speed = data.time / max(time.perf_counter() - began, 1e-9)
    mujoco.mj_forward(model, data)
    return np.array(rows), speed, float(np.linalg.norm(engine.data.cvel[model.body("plate").id][3:]))


def _draw_motion(statics, trace, expected, file: Path) -> None:
    from pliant.experiments.style import CYCLE, label, legend, new_figure, saving

    figure, (left, right) = new_figure(1, 2, height=2.8)
    n = statics.actuator_count
    names = ["x", "y", "angle"] if statics.planar else ["x", "y", "z", "roll", "pitch", "yaw"]
    final = pose_numbers(statics, expected.plate_pose)
    for a in range(n):
        left.plot(trace[:, 0], trace[:, 1 + a], color=CYCLE[a % 6], label=f"q{a + 1}")
    for c, name in enumerate(names):
        right.plot(trace[:, 0], trace[:, 1 + n + c] - final[c], color=CYCLE[c % 6], label=name)
    label(left, "time [s]", "joint value [m or rad]", statics.name)
    label(right, "time [s]", "plate minus static solution [m, rad]")
    legend(left, ncols=2)
    legend(right, ncols=2)
    try:
        with saving():
            figure.savefig(file, dpi=160, facecolor="white")
    except (OSError, ValueError) as error:
        raise PliantError(f"the figure cannot be written: {error}", file=file) from None


# -- check ----------------------------------------------------------------------------------------------------


@cpr.command
def check(
    robot: Robot,
    *,
    variant: Annotated[str, Parameter(help="chain (hinges) or flex (MuJoCo's flex).")] = "chain",
    segments: Annotated[int, Parameter(help="Elements a rod.")] = 10,
    timestep: Annotated[float, Parameter(help="Time step [s].")] = 1e-3,
    statics_only: Annotated[bool, Parameter(negative=(), help="Leave the dynamic model out.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Check a robot: its home equilibrium, direct against inverse model, and the dynamic model against the statics.

    Exit code 3 where a number is outside its limit.
    """
    import numpy as np

    from pliant.model.parallel import Finding, RodModel, check_parallel

    console = make_console(quiet=json)
    statics = _load(robot)
    home = statics.home()
    findings = []

    def add(name: str, value: float, limit: float, unit: str) -> None:
        findings.append(Finding(name=name, value=value, limit=limit, unit=unit, passed=value <= limit))

    add("scaled residual at home", home.residual, 1e-8, "")
    add("unstable directions at home", float(home.morse_index), 0.0, "")
    back = statics.solve_dgm(home.q, home.wrench, start=home)
    add("direct against inverse model", 1e3 * float(np.abs(back.plate_pose - home.plate_pose).max()), 1e-3, "mm")
    fine = statics.solve_dgm(home.q, home.wrench, start=home.with_steps(4 * max(home.steps, 4)))
    add("against four times the steps", 1e3 * float(np.abs(fine.plate_pose - home.plate_pose).max()), 1e-2, "mm")
    if not statics_only:
        options = RodModel(variant=variant, segments=segments, timestep=timestep)  # type: ignore[arg-type]
        findings += check_parallel(statics, options=options)
    good = all(f.passed for f in findings)
    if json:
        emit(
            {
                "robot": statics.name,
                "passed": good,
                "findings": [
                    {"name": f.name, "value": f.value, "limit": f.limit, "unit": f.unit, "passed": f.passed}
                    for f in findings
                ],
            }
        )
        return 0 if good else 3
    from rich.table import Table

    table = Table(title=statics.name, title_justify="left", box=None)
    for column in ("what", "found", "limit", "unit", ""):
        table.add_column(column, justify="right" if column in ("found", "limit") else "left")
    for f in findings:
        verdict = "[green]pass[/green]" if f.passed else "[red]FAIL[/red]"
        table.add_row(f.name, f"{f.value:.3g}", f"{f.limit:g}", f.unit, verdict)
    console.print(table)
    return 0 if good else 3


# -- view -----------------------------------------------------------------------------------------------------


@cpr.command
def view(
    robot: Annotated[str, Parameter(help="Robot to begin with; others are chosen on the page.")] = "Stewart_Gough_6PFR",
    *,
    port: Annotated[int, Parameter(help="Port of the page; 0 takes a free one.")] = 8090,
    host: Annotated[str, Parameter(help="Address to serve on; the page has no password.")] = "127.0.0.1",
    open_browser: Annotated[bool, Parameter(name="--open", negative=(), help="Open the page in a browser.")] = False,
    debug: Debug = False,
) -> int:
    """Move a robot by hand in the browser: joints, pose, wrench, freedoms, saved configurations."""
    from pliant.viewer.cpr import ParallelView

    page = ParallelView(robot, port=port, host=host)
    page.start()
    print(f"look at it: {page.url} (Ctrl-C ends)", file=sys.stderr, flush=True)
    if open_browser:
        import webbrowser

        webbrowser.open(page.url)
    try:
        page.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        page.stop()
    return 0
