"""`pliant cpr solve`: the static models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pliant.base.errors import PliantError, nearest
from pliant.cli.checks import refuse_unused
from pliant.cli.options import Debug, Json
from pliant.cli.output import emit, make_console, print_table
from pliant.rods.commands.inputs import (
    ACCURACY,
    CONTROLLED,
    JOINTS,
    POSE,
    WRENCH,
    Robot,
    freedoms,
    numbers,
    plate_pose,
    plate_wrench,
)
from pliant.rods.commands.writing import check_outputs, draw, tell, write_shapes, write_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from rich.console import Console

    from pliant.rods import ContinuumParallelRobot, Solution
    from pliant.rods.path import Path as SolvedPath


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Given quantities: a plate pose or joint values, the load, and what is controlled."""

    pose: Annotated[str | None, Parameter(help=POSE, allow_leading_hyphen=True)] = None
    """Plate pose; None for the home pose."""
    q: Annotated[str | None, Parameter(help=JOINTS, allow_leading_hyphen=True)] = None
    """Joint values; None to solve for them."""
    wrench: Annotated[str | None, Parameter(help=WRENCH, allow_leading_hyphen=True)] = None
    """Wrench on the plate."""
    controlled: Annotated[str | None, Parameter(help=CONTROLLED)] = None
    """Controlled degrees of freedom; None for those of the robot."""
    follower: Annotated[bool, Parameter(negative=())] = False
    """The wrench rotates with the plate."""
    configuration: str | None = None
    """Solve a configuration that is saved in the file of the robot."""

    def values(self, robot: ContinuumParallelRobot) -> tuple[np.ndarray | None, bool]:
        """Return the given pose or joint values, None for home, and whether they are joint values.

        Raises:
            PliantError: more than one is given, a number is wrong, or the robot has no such configuration.
        """
        if self.configuration is not None:
            saved = robot.description.configurations
            if self.configuration not in saved:
                raise PliantError(
                    f"{robot.name} has no configuration {self.configuration!r}; {nearest(self.configuration, saved)}",
                    field="configuration",
                )
            one = saved[self.configuration]
            if "q" in one:
                return one["q"], True
            return robot.pose_from_numbers(_saved_pose(robot.planar, one["pose"])), False
        if self.q is not None:
            return numbers(self.q, "--q"), True
        return plate_pose(robot, self.pose), False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A path to follow instead of one point."""

    to: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    """Follow a straight line to this pose (with --q: to these values)."""
    steps: int | None = None
    """Number of points of that line; default 50."""
    path: Path | None = None
    """Follow a table (.csv) of poses, or of joint values with --q-path."""
    q_path: Annotated[bool, Parameter(negative=())] = False
    """The table of --path has joint values."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """Which equilibrium is found, and how well."""

    branch: str = "home"
    """Which of several equilibria: home (continued from home, and its stable neighbour where it has lost its
    stability), smooth (continued from home, also where it is unstable) or lowest (of the lowest energy)."""
    accuracy: Annotated[str, Parameter(help=ACCURACY)] = "accurate"
    """Largest error."""
    seed: int = 0
    """Seed of the random restarts."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Files of the result."""

    figure: Path | None = None
    """Draw the rods (.png, .svg, .pdf)."""
    output: Path | None = None
    """Write the path or the shapes of the rods (.csv)."""

    def as_dict(self) -> dict[str, str | None]:
        """Return the files for JSON."""
        return {"figure": self.figure and str(self.figure), "output": self.output and str(self.output)}


HOME, ONE_POINT, ACCURATE, NO_FILES = Problem(), Course(), Method(), Written()


def solve(
    robot: Robot,
    *,
    problem: Problem = HOME,
    course: Course = ONE_POINT,
    method: Method = ACCURATE,
    written: Written = NO_FILES,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Compute the plate pose for joint values (direct model), or the reverse (inverse model), at a point or on a path.

    Without --pose and --q it solves the robot's home pose.

    Examples:
        pliant cpr solve 3RR --figure rods.png
        pliant cpr solve Stewart_Gough_6PFR --pose 0,0,0.7,0,0,0.2
    """
    from pliant.rods import load_robot

    console = make_console(quiet=json)
    check_outputs(written.figure, written.output)
    statics = load_robot(robot, accuracy=method.accuracy)
    _refuse_contradictions(problem, course)
    load, held = plate_wrench(statics, problem.wrench), freedoms(problem.controlled)
    values, direct = problem.values(statics)
    options: dict[str, Any] = {"follower": problem.follower, "branch": method.branch}
    if course.path is not None or course.to is not None:
        rows = _rows(statics, values, course, direct or course.q_path)
        options |= {"inverse": not (direct or course.q_path), "controlled": held}
        return _follow(statics, statics.follow(rows, load, **options), written, json, console)
    if direct:
        solution = statics.solve_dgm(values, load, seed=method.seed, **options)
    elif values is None and load is None and held is None and method.branch == "home":
        solution = statics.home()
    else:
        goal = statics.description.home if values is None else values
        solution = statics.solve_igm(goal, load, controlled=held, seed=method.seed, **options)
    report = _report(solution)
    if written.output is not None:
        write_shapes(solution, written.output)
    if written.figure is not None:
        draw([[solution]], [statics.name], written.figure)
    if json:
        emit({**report, **written.as_dict()})
        return 0
    _print_solution(console, solution, report)
    tell(console, written.figure, written.output)
    return 0


def _refuse_contradictions(problem: Problem, course: Course) -> None:
    """Refuse options that exclude each other or have no effect."""
    if sum(v is not None for v in (problem.pose, problem.q, problem.configuration)) > 1:
        raise PliantError("--pose, --q and --configuration exclude each other; give one of them", field="pose")
    refuse_unused(course.steps is not None and course.to is None, "--steps", "--to")
    refuse_unused(course.q_path and course.path is None, "--q-path", "--path")
    refuse_unused(problem.follower and problem.wrench is None, "--follower", "--wrench")
    joints = problem.q is not None or course.q_path
    refuse_unused(problem.controlled is not None and joints, "--controlled", "a plate pose to solve for")


def _report(solution: Solution) -> dict[str, Any]:
    """Return the report of a solution."""
    from pliant.rods.limits import beyond_limits

    robot = solution.robot
    return {
        "robot": robot.name,
        "q": solution.q,
        "pose": robot.pose_numbers(solution.plate_pose),
        "plate_pose": solution.plate_pose,
        "wrench": solution.wrench,
        "residual": solution.residual,
        "iterations": solution.iterations,
        "stable": solution.stable,
        "morse_index": solution.morse_index,
        "free_motions": list(solution.stability().free),
        "smallest_stiffness": solution.smallest_stiffness,
        "singular_values": solution.singular_values(),
        "condition_numbers": solution.condition_numbers(),
        "actuator_forces": solution.actuator_forces(),
        "base_wrenches": solution.base_wrenches,
        "largest_bending_strain": max(float(c.bending_strain.max()) for c in solution.centrelines(41)),
        "starts": list(solution.starts),
        "branch": solution.branch,
        "note": solution.note,
        "joint_limits": beyond_limits(solution),
    }


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


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
    stability = solution.stability()
    if stability.verdict == "unstable":
        console.print(f"[yellow]unstable[/yellow]: {_count(stability.index, 'direction')} in which the energy falls")
    elif stability.verdict == "neutral":
        console.print(f"[yellow]neutral[/yellow]: {'; '.join(stability.free)}; otherwise stable", soft_wrap=True)
    else:
        console.print(f"[green]stable[/green], smallest plate stiffness {solution.smallest_stiffness:.4g} N/m")
    if solution.note:
        console.print(f"[yellow]note[/yellow]: {solution.note}", soft_wrap=True)
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
    print_table(console, table)
    names = ("x", "y", "angle") if robot.planar else ("x", "y", "z", "roll", "pitch", "yaw")
    pose = [f"{name} {round(value, 6) + 0.0:.6f}" for name, value in zip(names, report["pose"])]  # no -0
    console.print(f"plate: {', '.join(pose)}", soft_wrap=True)
    margins = ", ".join(f"{k} {v:.3g}" for k, v in report["singular_values"].items())
    console.print(f"smallest singular values: {margins}", soft_wrap=True)
    for text in report["joint_limits"]:
        console.print(f"[yellow]joint limit[/yellow] {text}", soft_wrap=True)


def _rows(
    statics: ContinuumParallelRobot, values: np.ndarray | None, course: Course, direct: bool
) -> np.ndarray | list[np.ndarray]:
    """Return the joint values or the poses of a path."""
    import numpy as np

    from pliant.rods.geometry import between
    from pliant.rods.tables import joint_columns, plate_columns, read_table

    steps = 50 if course.steps is None else course.steps
    count = (statics.actuator_count,) if direct else ((3,) if statics.planar else (3, 6))
    if course.path is not None:
        if course.to is not None:
            raise PliantError("--path and --to exclude each other; give one of them", field="path")
        names = joint_columns(statics.actuator_count) if direct else plate_columns(statics.planar)[0]
        table = read_table(course.path, count, names)
        return table if direct else [statics.pose_from_numbers(row) for row in table]
    if not 2 <= steps <= 1_000_000:
        raise PliantError(f"--steps is {steps}; must be 2 to 1000000", field="steps")
    end = numbers(course.to or "", "--to", count)
    s = np.linspace(0.0, 1.0, steps)[:, None]
    if direct:
        return np.asarray(values) + s * (end - np.asarray(values))
    if statics.planar:
        begin = statics.home().pose2d if values is None else np.asarray(values)
        return begin + s * (end - begin)
    A = np.asarray(statics.description.home if values is None else values)
    B = statics.pose_from_numbers(end)
    return [between(A, B, part) for part in s[:, 0]]


def _beyond_limits(statics: ContinuumParallelRobot, q: np.ndarray) -> list[str]:
    """Return one sentence for each joint that a path takes outside its limits."""
    import numpy as np

    d, out = statics.description, []
    for a, (i, j) in enumerate(d.actuators):
        limits = d.limbs[i].joints[j].limits
        if limits is None:
            continue
        rows = np.flatnonzero((q[:, a] < limits[0] - 1e-9) | (q[:, a] > limits[1] + 1e-9))
        if rows.size:
            worst = rows[int(np.argmax(np.maximum(limits[0] - q[rows, a], q[rows, a] - limits[1])))]
            out.append(
                f"{d.limb_name(i)} is outside {limits[0]:g} to {limits[1]:g} at {rows.size} of {len(q)} rows, "
                f"first at row {rows[0]}, farthest at row {worst} ({q[worst, a]:.4g})"
            )
    return out


def _follow(statics: ContinuumParallelRobot, done: SolvedPath, written: Written, json: bool, console: Console) -> int:
    """Write and print a path that was followed."""
    import numpy as np

    from pliant.rods.tables import joint_columns, plate_columns

    poses = np.array([statics.pose_numbers(X) for X in done.plate_poses])
    picks = sorted({round(k) for k in np.linspace(0, len(done) - 1, 25)})
    index = {k: done[k].morse_index for k in picks}
    unstable = [k for k, count in index.items() if count]
    if written.output is not None:
        head = ",".join([*joint_columns(statics.actuator_count), *plate_columns(statics.planar)[0]])
        write_table(written.output, head, np.hstack([done.q, poses]))
    if written.figure is not None:
        shown = [done[k] for k in sorted({0, len(done) // 3, 2 * len(done) // 3, len(done) - 1})]
        draw([shown], [f"{statics.name}, {len(done)} poses"], written.figure)
    beyond = _beyond_limits(statics, done.q)
    data = {
        "robot": statics.name,
        "rows": len(done),
        "largest_residual": float(done.residual.max()),
        "mean_iterations": float(done.iterations.mean()),
        "q": done.q,
        "poses": poses,
        "unstable_rows": unstable,
        "joint_limits": beyond,
        "notes": [{"row": row, "note": note} for row, note in done.notes],
        **written.as_dict(),
    }
    if json:
        emit(data)
        return 0
    console.print(
        f"{statics.name}: {len(done)} rows, largest residual {data['largest_residual']:.1e}, "
        f"{data['mean_iterations']:.1f} iterations per row", soft_wrap=True,
    )  # fmt: skip
    span = done.q.max(axis=0) - done.q.min(axis=0)
    console.print("joint travel: " + ", ".join(f"{v:.4g}" for v in span), soft_wrap=True)
    for row, note in done.notes:
        console.print(f"[yellow]note[/yellow]: row {row}: {note}", soft_wrap=True)
    for text in beyond:
        console.print(f"[yellow]joint limit[/yellow] {text}", soft_wrap=True)
    if unstable:
        console.print(f"[yellow]unstable[/yellow] at rows {', '.join(map(str, unstable))} of the checked rows")
    else:
        console.print(f"[green]stable[/green] at all {len(index)} checked rows")
    tell(console, written.figure, written.output)
    return 0
