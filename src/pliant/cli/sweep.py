"""`pliant sweep`: simulate a robot many times."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pliant.cli.options import Debug, Imports, Json, Packages, Settings, assignments, import_modules
from pliant.cli.output import emit, make_console, number
from pliant.cli.progress import Bar
from pliant.errors import PliantError

__all__ = ["sweep"]


def sweep(
    source: str,
    *,
    vary: Annotated[
        list[str],
        Parameter(
            negative=(),
            consume_multiple=False,
            help="PATH=v1,v2,... or low:high:count[:log] or uniform(a,b), loguniform(a,b), normal(m,s); repeat.",
        ),
    ],
    set: Settings = [],
    reference: Annotated[
        list[str],
        Parameter(alias="-r", negative=(), consume_multiple=False, help="Constant command JOINT/COMMAND=VALUE."),
    ] = [],
    command: Annotated[Path | None, Parameter(help="Table of commands over time.")] = None,
    duration: Annotated[float, Parameter(help="Seconds of each simulation.")] = 1.0,
    samples: Annotated[int, Parameter(help="Draws of the random parameters a grid point.")] = 1,
    seed: int = 0,
    output: Annotated[Path | None, Parameter(help="Folder of the result; an interrupted sweep goes on there.")] = None,
    processes: Annotated[int, Parameter(help="Processes that share the cores.")] = 1,
    dask: Annotated[str | None, Parameter(help="Address of a cluster's scheduler.")] = None,
    chunk: Annotated[int, Parameter(help="Simulations a chunk.")] = 500,
    timestep: float | None = None,
    package_path: Packages = [],
    import_: Imports = [],
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Simulate a robot many times with parameters that vary, on all cores."""
    import_modules(import_)
    from pliant.simulation.sweep import SweepPlan, parse_variation, run_sweep

    plan = SweepPlan(
        source=source,
        variations=tuple(parse_variation(v) for v in vary),
        settings=assignments(set),
        commands=assignments(reference, "--reference"),
        command_file=None if command is None else str(command),
        duration=duration,
        samples=samples,
        seed=seed,
        timestep=timestep,
        package_paths=tuple(str(p) for p in package_path),
        imports=tuple(import_),
    )
    if chunk < 1 or processes < 1:
        raise PliantError("--chunk and --processes are whole numbers of 1 or more")
    console = make_console(quiet=json)
    with Bar(console, "simulating", "simulations", shown=not json) as bar:
        result = run_sweep(plan, output, processes=processes, dask=dask, chunk=chunk, progress=bar)
    diverged = sum(bool(row[-1]) for row in result.rows)
    if json:
        emit(
            {
                "columns": list(result.columns),
                "rows": result.rows,
                "wall": result.wall,
                "diverged": diverged,
                "output": None if output is None else str(output),
            }
        )
        return 0
    import numpy as np
    from rich.table import Table

    table = Table(box=None)
    for name in ("column", "min", "median", "max"):
        table.add_column(name, justify="left" if name == "column" else "right")
    for i, name in enumerate(result.columns[1:-1], start=1):
        values = [row[i] for row in result.rows if isinstance(row[i], float) and math.isfinite(row[i])]
        if values:
            table.add_row(name, *(number(float(f(values))) for f in (np.min, np.median, np.max)))
    console.print(table)
    new = len(result.rows) - result.done_before
    rate = f", {new * plan.duration / result.wall:.0f} x real time" if new else ""
    console.print(
        f"{len(result.rows)} simulations ({result.done_before} done before), {diverged} diverged, "
        f"{result.wall:.2f} s{rate}" + (f"; table: {output / 'results.csv'}" if output is not None else "")
    )
    return 0
