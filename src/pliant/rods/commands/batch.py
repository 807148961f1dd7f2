"""`pliant cpr batch`: many poses or joint values at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError
from pliant.cli.options import Debug, Json, Workers, check_workers
from pliant.cli.output import emit, make_console
from pliant.cli.progress import Bar
from pliant.rods.commands.inputs import ACCURACY, Robot
from pliant.rods.commands.writing import tell, write_table

SHOWN = 5
"""Rows without an equilibrium, and rows with a note, whose reasons are printed."""


def batch(
    robot: Robot,
    table: Annotated[
        Path,
        Parameter(
            help="CSV file with a row for each problem: a plate pose x,y,z,roll,pitch,yaw (planar: x,y,angle), or "
            "joint values with --q; optionally also the wrench."
        ),
    ],
    *,
    q: Annotated[bool, Parameter(negative=(), help="The table has joint values.")] = False,
    accuracy: Annotated[str, Parameter(help=ACCURACY)] = "accurate",
    workers: Workers = None,
    output: Annotated[
        Path | None, Parameter(help="Write joint values, pose, index and residual per row (.csv).")
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Solve many poses, or joint values, on all cores. Exit code 3 if a row has no equilibrium.

    Examples:
        pliant cpr batch 3RR poses.csv --output joints.csv
    """
    import numpy as np

    from pliant.rods import load_robot
    from pliant.rods.tables import joint_columns, plate_columns, read_table

    console = make_console(quiet=json)
    statics = load_robot(robot, accuracy=accuracy)
    size = 3 if statics.planar else 6
    width = statics.actuator_count if q else size
    check_workers(workers)
    joint_names = joint_columns(statics.actuator_count)
    pose_names, wrench_names = plate_columns(statics.planar)
    rows = read_table(table, (width, width + size), [*(joint_names if q else pose_names), *wrench_names])
    wrenches = rows[:, width:] if rows.shape[1] > width else None
    goals = rows[:, :width] if q else [statics.pose_from_numbers(row[:width]) for row in rows]
    with Bar(make_console(quiet=True), statics.name, "rows", shown=not json) as bar:
        found = statics.solve_batch(goals, wrenches, inverse=not q, workers=workers, progress=bar)
    failed = {k: str(s) for k, s in enumerate(found) if isinstance(s, PliantError)}
    values = np.full((len(found), statics.actuator_count), np.nan)
    poses = np.full((len(found), size), np.nan)
    index, residual = np.full(len(found), -1), np.full(len(found), np.nan)
    for k, s in enumerate(found):
        if k not in failed:
            values[k], poses[k] = s.q, statics.pose_numbers(s.plate_pose)
            index[k], residual[k] = s.morse_index, s.residual
    if output is not None:
        head = [*joint_names, *pose_names, "morse_index", "residual"]
        write_table(output, ",".join(head), np.column_stack([values, poses, index, residual]))
    unstable = np.flatnonzero(index > 0).tolist()
    solved = {k: s for k, s in enumerate(found) if not isinstance(s, PliantError)}
    neutral = [k for k, s in solved.items() if s.morse_index == 0 and not s.stable]
    notes = {k: s.note for k, s in solved.items() if s.note}
    if json:
        emit(
            {
                "robot": statics.name, "rows": len(found), "q": values, "poses": poses, "morse_index": index,
                "residual": residual, "failed": failed, "unstable_rows": unstable,
                "neutral_rows": neutral, "notes": notes, "output": output and str(output),
            }
        )  # fmt: skip
        return 3 if failed else 0
    console.print(
        f"{statics.name}: {len(found)} rows, {len(found) - len(failed)} solved, {len(unstable)} of these unstable"
        + (f", {len(neutral)} neutral" if neutral else ""),
        soft_wrap=True,
    )
    for k, reason in list(failed.items())[:SHOWN]:
        console.print(f"[yellow]row {k + 1}[/yellow] {reason}", soft_wrap=True)
    if len(failed) > SHOWN:
        console.print(f"and {len(failed) - SHOWN} more rows without an equilibrium")
    for k, note in list(notes.items())[:SHOWN]:
        console.print(f"row {k + 1}: {note}", soft_wrap=True, markup=False)
    if len(notes) > SHOWN:
        console.print(f"and {len(notes) - SHOWN} more rows with a note (--json)")
    tell(console, output)
    return 3 if failed else 0
