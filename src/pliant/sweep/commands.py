"""`pliant sweep`: simulate a robot many times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError, nearest
from pliant.cli.checks import check_figure, refuse_unused
from pliant.cli.options import (
    NO_SETTINGS,
    Debug,
    Json,
    RobotOptions,
    Seed,
    Source,
    Timestep,
    assignments,
    import_modules,
    repeated,
)
from pliant.cli.output import counted, emit, make_console, number, print_table
from pliant.cli.progress import Bar
from pliant.sweep import METRICS, SweepPlan, parse_variation, run_sweep
from pliant.sweep.backends import CPU, describe_devices
from pliant.sweep.events import counted_events
from pliant.sweep.table import is_table
from pliant.tasks.options import Dask, Processes, make_executor

if TYPE_CHECKING:
    from rich.console import Console

    from pliant.sweep import SweepResult
    from pliant.tasks.executor import Executor

MOST_SHOWN = 40
"""Most rows of the printed table."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Varied:
    """Simulated robots, variations and times."""

    reference: Annotated[tuple[str, ...], repeated(alias="-r", help="Constant command JOINT/COMMAND=VALUE.")] = ()
    command: Annotated[Path | None, Parameter(help="Table of commands over time.")] = None
    duration: Annotated[float, Parameter(help="Seconds of each simulation.")] = 1.0
    samples: Annotated[int, Parameter(help="Random draws at each grid point.")] = 1
    seed: Seed = 0
    timestep: Timestep = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Where the results go, and which of them are shown."""

    output: Annotated[
        Path | None,
        Parameter(
            help="Folder of the results: the same command continues an interrupted sweep. "
            "Or a file for the table alone (.csv, .parquet)."
        ),
    ] = None
    plot: Annotated[
        Path | None,
        Parameter(help="Draw curves over one varied parameter, or maps over two (.png, .svg, .pdf)."),
    ] = None
    metric: Annotated[
        tuple[str, ...],
        repeated(
            help="Metric of --plot, such as rms_error; may be repeated; default: the error, "
            "the peak torque and the settling time."
        ),
    ] = ()
    show: Annotated[
        tuple[str, ...],
        repeated(
            help="Joint or quantity that is printed and drawn, such as elbow or cpr/pose*; may be repeated; default: "
            "all, the first six in a figure."
        ),
    ] = ()
    json: Json = False
    debug: Debug = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """Machines that simulate."""

    processes: Processes = None
    device: Annotated[str, Parameter(help=f"What simulates: {describe_devices()}.")] = CPU
    dask: Dask = None
    chunk: Annotated[int, Parameter(help="Simulations per chunk.")] = 500

    def executor(self) -> Executor | None:
        """Return where the simulations run; None if no option says so."""
        if self.chunk < 1:
            raise PliantError(f"--chunk is {self.chunk}; must be a whole number >= 1", field="--chunk")
        return make_executor(self.processes, self.dask)


NO_COMMANDS, ALL_SHOWN, THIS_MACHINE = Varied(), Shown(), Machines()


def sweep(
    source: Source,
    *,
    vary: Annotated[
        list[str],
        Parameter(
            negative=(),
            consume_multiple=False,
            help="PATH=v1,v2,... or low:high:count[:log] or uniform(a,b), loguniform(a,b), normal(m,s); "
            "may be repeated.",
        ),
    ],
    options: RobotOptions = NO_SETTINGS,
    varied: Varied = NO_COMMANDS,
    shown: Shown = ALL_SHOWN,
    machines: Machines = THIS_MACHINE,
) -> int:
    """Simulate a robot many times with varied parameters, on all cores.

    Examples:
        pliant sweep qbmove-1dof --vary joint.k1=0.001:0.003:20 --plot k1.png
    """
    import_modules(options.import_)
    plan = SweepPlan(
        source=source,
        variations=tuple(parse_variation(v) for v in vary),
        settings=assignments(options.set),
        commands=assignments(varied.reference, "--reference"),
        command_file=None if varied.command is None else str(varied.command),
        duration=varied.duration,
        samples=varied.samples,
        seed=varied.seed,
        timestep=varied.timestep,
        package_paths=tuple(str(p) for p in options.package_path),
        imports=tuple(options.import_),
        device=machines.device,
    )
    executor = machines.executor()
    refuse_unused(
        varied.samples > 1 and not any(v.distribution for v in plan.variations), "--samples", "a random --vary"
    )
    refuse_unused(bool(shown.metric) and shown.plot is None, "--metric", "--plot")
    if shown.plot is not None:
        check_figure(shown.plot, "--plot")
        check_drawable(plan, shown.metric)
    console = make_console(quiet=shown.json)
    with Bar(console, "simulating", "simulations", shown=not shown.json) as bar:
        result = run_sweep(
            plan, shown.output, executor=executor, chunk=machines.chunk, progress=bar, keep_interrupted=True
        )
    if shown.plot is not None and result.rows:
        from pliant.sweep.plot import plot_sweep

        plot_sweep(
            result.columns, result.rows, [v.path for v in plan.variations], shown.plot,
            random=[v.path for v in plan.variations if v.distribution],
            metrics=shown.metric, units=result.units, show=shown.show, title=_title(plan),
        )  # fmt: skip
    diverged = sum(map(bool, result.column("diverged").tolist()))
    plotted = str(shown.plot) if shown.plot is not None and result.rows else None
    if shown.json:
        emit(
            {
                "columns": list(result.columns),
                "rows": result.rows,
                "wall": result.wall,
                "diverged": diverged,
                "interrupted": result.interrupted,
                "output": None if shown.output is None else str(shown.output),
                "plot": plotted,
            }
        )
        return 130 if result.interrupted else 0
    _print_summary(console, result, [v.path for v in plan.variations], shown.show)
    _print_end(console, result, plan, shown, diverged)
    return 130 if result.interrupted else 0


def _print_end(console: Console, result: SweepResult, plan: SweepPlan, shown: Shown, diverged: int) -> None:
    """Print what was simulated and where it is, and how an interrupted sweep goes on."""
    output = shown.output
    new = len(result.rows) - result.done_before
    rate = f", {new * plan.duration / result.wall:.0f} x real time" if new else ""
    console.print(
        f"{counted(len(result.rows), 'simulation')} ({result.done_before} done before), {diverged} diverged, "
        f"{result.wall:.2f} s{rate}" + (f"; table: {_table_of(output)}" if output is not None else ""),
        soft_wrap=True,
    )
    if events := counted_events(map(str, result.column("happened").tolist())):
        console.print(f"happened: {'; '.join(events)}", soft_wrap=True, markup=False)
    if shown.plot is not None and result.rows:
        console.print(f"plot: {shown.plot}", soft_wrap=True)
    if result.interrupted:
        if output is None:
            rest = "nothing was written, because --output is missing"
        elif is_table(output):
            rest = f"these are in {output}; with a folder as --output the same command would continue"
        else:
            rest = "the same command continues the sweep"
        console.print(f"[yellow]interrupted[/yellow] after {len(result.rows)} of {plan.size} simulations; {rest}")


def _table_of(output: Path) -> Path:
    """Return the file with the table of a sweep."""
    return output if is_table(output) else output / "results.csv"


def _print_summary(console: Console, result: SweepResult, paths: list[str], show: Sequence[str]) -> None:
    """Print smallest, median and largest value of the varied parameters and of the results."""
    import numpy as np
    from rich.table import Table

    from pliant.sweep.plot import matching, sweep_metrics

    names, _ = sweep_metrics(result.columns, paths)
    kept = set(matching(show, names) if show else names)
    columns = [c for c in result.columns[1:-2] if c in paths or c.rpartition("/")[0] in kept]
    table = Table(box=None)
    for name in ("column", "min", "median", "max"):
        table.add_column(name, justify="left" if name == "column" else "right")
    for name in columns[:MOST_SHOWN]:
        i = result.columns.index(name)
        values = [row[i] for row in result.rows if isinstance(row[i], int | float) and math.isfinite(row[i])]
        if values:
            table.add_row(name, *(number(float(f(values))) for f in (np.min, np.median, np.max)))
    print_table(console, table)
    if len(columns) > MOST_SHOWN:
        rest = counted(len(columns) - MOST_SHOWN, "further column")
        console.print(f"{rest}: in the table of --output, or choose with --show", soft_wrap=True)


def _title(plan: SweepPlan) -> str:
    """Return what was simulated and commanded, for a figure."""
    asked = [f"{name} = {value}" for name, value in plan.commands.items()]
    if plan.command_file is not None:
        asked.append(f"commands of {Path(plan.command_file).name}")
    return f"{Path(plan.source).name}, {plan.duration:g} s, {', '.join(asked) or 'no command'}"


def check_drawable(plan: SweepPlan, metrics: Sequence[str]) -> None:
    """Refuse a figure that cannot be drawn before anything is simulated.

    Args:
        plan: the sweep.
        metrics: the metrics asked for.

    Raises:
        PliantError: neither one nor two parameters for the axes, or there is no such metric.
    """
    from pliant.sweep.plot import axis_paths

    axis_paths([v.path for v in plan.variations], [v.path for v in plan.variations if v.distribution])
    for name in metrics:
        if name not in METRICS:
            raise PliantError(f"--metric {name}: no such metric; {nearest(name, METRICS)}", field="metric")
