"""`pliant cpr workspace`: where a parallel robot can go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError
from pliant.cli.options import Debug, Json, Workers, check_workers
from pliant.cli.output import emit, make_console, print_table
from pliant.cli.progress import Bar
from pliant.rods.commands.inputs import ACCURACY, POSE, WRENCH, Robot, numbers, plate_pose, plate_wrench
from pliant.rods.commands.writing import check_outputs, save_figure, tell, write_table

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from pliant.rods.analysis import Workspace

MAX_CELLS = 4_000_000


def workspace(
    robot: Robot,
    *,
    axis: Annotated[
        list[str],
        Parameter(
            help="Degree of freedom of the plate to vary: x=-0.3:0.3:41 (from, to, number of values) [m or rad]; may "
            "be repeated. Names: x y z rx ry rz (planar: x y angle); rotations turn the plate about world axes.",
            negative=(),
        ),
    ],
    pose: Annotated[
        str | None,
        Parameter(help=POSE.split(";")[0] + ", which the axes vary; default the home pose.", allow_leading_hyphen=True),
    ] = None,
    wrench: Annotated[str | None, Parameter(help=WRENCH, allow_leading_hyphen=True)] = None,
    accuracy: Annotated[str, Parameter(help=ACCURACY)] = "accurate",
    workers: Workers = None,
    figure: Annotated[Path | None, Parameter(help="Draw the map of one or two axes (.png, .svg, .pdf).")] = None,
    output: Annotated[Path | None, Parameter(help="Write a row per cell (.csv).")] = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Map where a parallel robot can go: stable, neutral, unstable, beyond the joint limits, not in equilibrium.

    Examples:
        pliant cpr workspace 3RR --axis x=-0.3:0.3:41 --axis y=0.2:0.8:41 \\
            --figure map.png
    """
    import numpy as np

    from pliant.rods import load_robot
    from pliant.rods.analysis import STATES

    console = make_console(quiet=json)
    check_outputs(figure, output)
    statics = load_robot(robot, accuracy=accuracy)
    axes = _axes(axis)
    cells = int(np.prod([len(v) for v in axes.values()]))
    if cells > MAX_CELLS:
        raise PliantError(f"the grid has {cells} cells; must be at most {MAX_CELLS}", field="axis")
    check_workers(workers)
    middle, load = plate_pose(statics, pose), plate_wrench(statics, wrench)
    with Bar(make_console(quiet=True), statics.name, "cells", shown=not json) as bar:
        found = statics.workspace(axes, pose=middle, wrench=load, workers=workers, progress=bar)
    if output is not None:
        _write(output, found)
    if figure is not None:
        from pliant.rods.figures import figure_of_workspace

        save_figure(figure_of_workspace(statics.name, found), figure)
    counts = found.counts()
    stable = found.stiffness[found.stable]
    data = {
        "robot": statics.name,
        "axes": axes,
        "cells": cells,
        "counts": counts,
        "states": list(STATES),
        "state": found.state,
        "smallest_stiffness": float(stable.min()) if stable.size else None,
        "figure": figure and str(figure),
        "output": output and str(output),
    }
    if json:
        emit(data)
        return 0
    console.print(f"{statics.name}: {' x '.join(str(len(v)) for v in axes.values())} cells", soft_wrap=True)
    _print_counts(console, counts)
    if stable.size:
        console.print(f"smallest plate stiffness of the stable cells: {stable.min():.4g} to {stable.max():.4g} N/m")
    tell(console, figure, output)
    return 0


def _write(file: Path, found: Workspace) -> None:
    """Write a row for each cell."""
    import numpy as np

    grid = np.meshgrid(*found.axes.values(), indexing="ij")
    q = found.q.reshape(-1, found.q.shape[-1])
    head = [*found.axes, "state", "morse_index", "stiffness", "serial", "missing"]
    columns = [*grid, found.state, found.morse_index, found.stiffness, found.serial, found.missing]
    table = np.column_stack([*(c.ravel() for c in columns), q])
    write_table(file, ",".join([*head, *(f"q{a + 1}" for a in range(q.shape[1]))]), table)


def _print_counts(console: Console, counts: dict[str, int]) -> None:
    from rich.table import Table

    table = Table(box=None)
    for column, side in (("cells", "left"), ("", "right"), ("", "right")):
        table.add_column(column, justify=side)
    for name, count in counts.items():
        table.add_row(name, str(count), f"{100.0 * count / sum(counts.values()):.1f} %")
    print_table(console, table)


def _axes(texts: list[str]) -> dict[str, np.ndarray]:
    """Read the axes of the grid.

    Raises:
        PliantError: an axis is given twice, or is not of the form of `_axis`.
    """
    axes: dict[str, np.ndarray] = {}
    for text in texts:
        name, values = _axis(text)
        if name in axes:
            raise PliantError(f"--axis {name} is given twice", field="axis")
        axes[name] = values
    return axes


def _axis(text: str) -> tuple[str, np.ndarray]:
    """Read "x=-0.3:0.3:41", or "x=0.1" for one value.

    Raises:
        PliantError: it is not of that form.
    """
    import numpy as np

    name, sign, rest = text.partition("=")
    parts = rest.split(":")
    if not sign or len(parts) not in (1, 3):
        raise PliantError(f"--axis {text!r} must be NAME=FROM:TO:NUMBER, such as x=-0.3:0.3:41", field="axis")
    values = [numbers(part, f"--axis {text!r}:", (1,))[0] for part in parts]
    if len(values) == 1:
        return name.strip(), np.array(values)
    count = values[2]
    if count != round(count) or not 2 <= count <= 100_000:
        raise PliantError(f"--axis {text!r}: the number of values must be 2 to 100000", field="axis")
    return name.strip(), np.linspace(values[0], values[1], int(count))
