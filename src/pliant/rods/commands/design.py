"""`pliant design`: numbers of a parallel robot that make it stiffer or its workspace larger."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError
from pliant.cli.options import Debug, Json, check_workers
from pliant.cli.output import emit, make_console, print_table
from pliant.cli.progress import Bar
from pliant.rods.commands.inputs import ACCURACY, Robot, numbers
from pliant.rods.commands.writing import check_outputs, save_figure, tell

if TYPE_CHECKING:
    from rich.console import Console

    from pliant.rods.design import Attempt


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How the numbers are searched."""

    starts: Annotated[int, Parameter(help="Starts of the search: the robot itself, then random ones.")] = 6
    seed: Annotated[int, Parameter(help="Seed of the random starts.")] = 0
    accuracy: Annotated[str, Parameter(help=ACCURACY)] = "accurate"
    workers: Annotated[int, Parameter(help="Processes that share the starts.")] = 1


USUAL_SEARCH = Search()


def design(
    robot: Robot,
    *,
    vary: Annotated[
        list[str],
        Parameter(
            help="Number of the robot's file and its bounds: base_radius=0.4:0.6, limb1.base.x=0.3:0.5, length=0.9:1.1 "
            "[m, rad, Pa, kg]; may be repeated.",
            negative=(),
        ),
    ],
    maximise: Annotated[
        str, Parameter(help="stiffness (the smallest of the plate), or workspace (its volume, in the plane its area).")
    ],
    pose: Annotated[
        list[str] | None,
        Parameter(
            help="Of the stiffness: plate pose x,y,z,roll,pitch,yaw (planar: x,y,angle) [m, rad]; repeated, the "
            "smallest over all of them; default the home pose.",
            negative=(), allow_leading_hyphen=True,
        ),
    ] = None,
    search: Search = USUAL_SEARCH,
    output: Annotated[
        Path | None, Parameter(help="Folder that keeps finished starts; the same command continues from them.")
    ] = None,
    figure: Annotated[Path | None, Parameter(help="Draw searches, robot and result (.png, .svg, .pdf).")] = None,
    json: Json = False,
    debug: Debug = False,
) -> int:  # fmt: skip
    """Search parameters of a parallel robot that make it stiffer, or its workspace larger, by gradients.

    Every search ends in a local optimum. How many of the starts ended in the best one is printed.

    Examples:
        pliant design 6PFR --vary base_radius=0.4:0.6 --vary length=0.9:1.1 \\
            --maximise workspace
    """
    from pliant.rods import load_robot
    from pliant.rods.design import GOALS, Goal, same_optimum
    from pliant.rods.design import design as search_all

    console = make_console(quiet=json)
    check_outputs(figure, None)
    check_workers(search.workers)
    statics = load_robot(robot, accuracy=search.accuracy)
    bounds = _bounds(vary)
    size = (3,) if statics.planar else (3, 6)
    goal = Goal(quantity=maximise, poses=tuple(tuple(numbers(text, "--pose", size).tolist()) for text in pose or []))
    if goal.poses and goal.quantity != "stiffness":
        raise PliantError("--pose is of --maximise stiffness; the workspace is seen from the home pose", field="pose")
    if output is not None:
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PliantError(f"--output: the folder cannot be made: {error.strerror}", file=output) from None
    with Bar(make_console(quiet=True), statics.name, "starts", shown=not json) as bar:
        found = search_all(
            robot, bounds, goal, accuracy=search.accuracy, starts=search.starts, seed=search.seed,
            folder=output, workers=search.workers, progress=bar,
        )  # fmt: skip
    best = found[0]
    solved = best.objective == best.objective
    same = same_optimum(found, bounds) if solved else 0
    if figure is not None and solved:
        from pliant.rods.figures import figure_of_design

        save_figure(figure_of_design(statics, found, f"{maximise} [{GOALS[maximise]}]"), figure)
    if json:
        emit(
            {
                "robot": statics.name, "maximise": maximise, "unit": GOALS[maximise], "bounds": bounds,
                "values": best.values, "objective": best.objective, "stable": best.stable, "starts": len(found),
                "same_optimum": same, "attempts": found, "output": output and str(output),
                "figure": figure and str(figure),
            }
        )  # fmt: skip
    else:
        _print(console, statics.name, found, f"{maximise} [{GOALS[maximise]}]", same)
        tell(console, output, figure)
    return 0 if solved else 3


def _bounds(texts: list[str]) -> dict[str, tuple[float, float]]:
    """Read "length=0.9:1.1".

    Raises:
        PliantError: it is not of that form, or a name is given twice.
    """
    bounds: dict[str, tuple[float, float]] = {}
    for text in texts:
        name, sign, rest = text.partition("=")
        name, parts = name.strip(), rest.split(":")
        if not sign or len(parts) != 2:
            raise PliantError(f"--vary {text!r} must be NAME=LOWEST:HIGHEST, such as length=0.9:1.1", field="vary")
        if name in bounds:
            raise PliantError(f"--vary {name} is given twice", field="vary")
        low, high = (float(numbers(part, f"--vary {text!r}:", (1,))[0]) for part in parts)
        bounds[name] = low, high
    return bounds


def _print(console: Console, name: str, found: list[Attempt], goal: str, same: int) -> None:
    from rich.table import Table

    table = Table(box=None)
    for column in (goal, "at the start", *found[0].values, "evaluations"):
        table.add_column(column, justify="right")
    for one in found:
        cells = (f"{v:.6g}{' (bound)' if n in one.at_bounds else ''}" for n, v in one.values.items())
        table.add_row(f"{one.objective:.6g}", f"{one.before:.6g}", *cells, str(len(one.history)))
    console.print(f"{name}: {len(found)} starts", soft_wrap=True)
    print_table(console, table)
    best = found[0]
    if best.objective != best.objective:
        console.print(f"[yellow]no start has an equilibrium[/yellow]: {best.note}", soft_wrap=True)
        return
    others = "" if same == len(found) else "; the others ended in other local optima or nowhere"
    console.print(f"{same} of {len(found)} starts ended in the best optimum{others}", soft_wrap=True)
    if best.ends:
        console.print("ways end at: " + ", ".join(f"{why} {count}" for why, count in best.ends.items()), soft_wrap=True)
    if not best.stable:
        console.print("[yellow]the home pose of the best is not stable[/yellow]")
