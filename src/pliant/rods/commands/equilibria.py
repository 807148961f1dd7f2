"""`pliant cpr equilibria`: every equilibrium at a pose or at joint values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError
from pliant.cli.options import Debug, Json
from pliant.cli.output import emit, make_console, print_table
from pliant.cli.progress import Bar
from pliant.rods.commands.inputs import (
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from pliant.rods import Equilibrium


def equilibria(
    robot: Robot,
    *,
    pose: Annotated[str | None, Parameter(help=POSE, allow_leading_hyphen=True)] = None,
    q: Annotated[str | None, Parameter(help=JOINTS, allow_leading_hyphen=True)] = None,
    wrench: Annotated[str | None, Parameter(help=WRENCH, allow_leading_hyphen=True)] = None,
    controlled: Annotated[str | None, Parameter(help=CONTROLLED)] = None,
    starts: Annotated[int, Parameter(help="Number of random starts.")] = 60,
    seed: Annotated[int, Parameter(help="Seed of the random starts.")] = 0,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Find the equilibria at a pose or at joint values: energy, stability, strain and connection with home.

    Without --pose and --q it searches at the robot's home pose. More equilibria may exist than are found.

    Examples:
        pliant cpr equilibria 3RR --starts 20
    """
    from pliant.rods import load_robot

    console = make_console(quiet=json)
    statics = load_robot(robot)
    if pose is not None and q is not None:
        raise PliantError("--pose and --q exclude each other; give one of them", field="pose")
    load, held = plate_wrench(statics, wrench), freedoms(controlled)
    at = plate_pose(statics, pose)
    joints = None if q is None else numbers(q, "--q")
    with Bar(console, statics.name, "starts", shown=not json) as bar:
        found = statics.equilibria(
            at, load, q=joints, controlled=held, starts=starts, seed=seed, progress=lambda done, count: bar(done, count)
        )
    if json:
        emit({"robot": statics.name, "equilibria": [_row(one) for one in found]})
        return 0
    _print(console, found)
    return 0


def _row(one: Equilibrium) -> dict[str, object]:
    from pliant.rods.limits import beyond_limits

    return {
        "q": one.q,
        "pose": one.solution.robot.pose_numbers(one.plate_pose),
        "energy": one.energy,
        "index": one.index,
        "verdict": one.solution.stability().verdict,
        "smallest_stiffness": one.solution.smallest_stiffness,
        "strain": one.strain,
        "connection": one.connection,
        "joint_limits": beyond_limits(one.solution),
    }


def _print(console: Console, found: Sequence[Equilibrium]) -> None:
    from rich.table import Table

    from pliant.rods.limits import beyond_limits

    table = Table(box=None)
    for column in ("energy [J]", "stability", "stiffness [N/m]", "strain", "joint values", "connection"):
        table.add_column(column, justify="right" if column in ("energy [J]", "stiffness [N/m]", "strain") else "left")
    for one in found:
        verdict = one.solution.stability().verdict
        table.add_row(
            f"{one.energy:.4f}", f"unstable ({one.index})" if one.index else verdict,
            f"{one.solution.smallest_stiffness:.4g}", f"{1e3 * one.strain:.3g}e-3",
            ", ".join(f"{v:.4f}" for v in one.q), one.connection,
        )  # fmt: skip
    print_table(console, table)
    for row, one in enumerate(found, 1):
        outside = beyond_limits(one.solution)
        if outside:
            console.print(f"[yellow]joint limit[/yellow] row {row}: {', '.join(outside)}", soft_wrap=True)
    console.print(f"{len(found)} equilibria; more may exist (--starts)", soft_wrap=True)
