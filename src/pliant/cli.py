"""The command line: run, check, list, reproduce, sweep, export, replay, identify.

Exit codes: 0 done; 1 wrong input (the message says what); 2 wrong usage; 3 a check or an experiment failed its
targets; 4 the simulation diverged; 130 interrupted.
"""

from __future__ import annotations

import logging
import math
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from pliant import __version__
from pliant.cli_output import Debug, Json, clean, emit, make_console
from pliant.errors import DivergedError, PliantError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

__all__ = ["app", "main"]

app = App(
    name="pliant",
    help="Simulate robots that bend: compliant actuators, soft feet, continuum parallel robots and compliant arms.",
    version=__version__,
    help_on_error=False,
)

Settings = Annotated[
    list[str],
    Parameter(
        name="--set",
        help="A parameter, PATH=VALUE, such as elbow.k1=0.002 or option.timestep=0.0005; repeat.",
        negative=(),
        consume_multiple=False,
    ),
]
Imports = Annotated[
    list[str],
    Parameter(
        name="--import",
        negative=(),
        consume_multiple=False,
        help="Python file or module with laws or experiments of your own; repeat.",
    ),
]
Packages = Annotated[
    list[Path], Parameter(name="--package-path", negative=(), consume_multiple=False, help="Folder with ROS packages.")
]


def _assignments(items: list[str], option: str = "--set") -> dict[str, str]:
    out: dict[str, str] = {}
    for item in items:
        path, eq, value = item.partition("=")
        if not eq or not path.strip() or not value.strip():
            raise PliantError(f"{option} {item!r}; valid: {option} PATH=VALUE", field=option)
        out[path.strip()] = value.strip()
    return out


def _import(names: list[str]) -> None:
    if names:
        from pliant.model.plugins import import_user_module

        for name in names:
            import_user_module(name)


def _load(source: str, settings: list[str], timestep: float | None, packages: list[Path], manager: Path | None = None):
    from pliant.model import load

    assigned = _assignments(settings)
    options = {p.removeprefix("robot."): v for p, v in assigned.items() if p.startswith("robot.")}
    robot = load(source, timestep=timestep, manager=manager, package_paths=packages, options=options)
    robot.update({p: v for p, v in assigned.items() if not p.startswith("robot.")})
    return robot


class _Bar:
    """A progress bar that appears only when the work takes more than a moment."""

    def __init__(self, console: Console, label: str, unit: str, *, shown: bool = True) -> None:
        self._console, self._label, self._unit, self._shown = console, label, unit, shown
        self._progress: Any = None
        self._task: Any = None
        self._began = time.perf_counter()

    def __call__(self, done: float, total: float | None, note: str = "") -> None:
        if not self._shown:
            return
        if self._progress is None:
            if time.perf_counter() - self._began < 0.5:
                return
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            self._progress = Progress(
                TextColumn("[bold]{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:.5g}/{task.total:.5g} {task.fields[unit]} {task.fields[note]}")
                if total is not None
                else TextColumn("{task.completed:.5g} {task.fields[unit]} {task.fields[note]}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            self._progress.start()
            self._task = self._progress.add_task(self._label, total=total, unit=self._unit, note="")
        self._progress.update(self._task, completed=done, note=note)

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _say_if_compiling(robot: Any, console: Console) -> None:
    from pliant.laws.compile import is_cached

    missing = sorted({a.law.name for a in robot.actuators.values() if not is_cached(type(a.law))})
    if missing:
        console.print(
            f"[dim]compiling the law{'s' if len(missing) > 1 else ''} {', '.join(missing)} "
            "(some seconds, once; later runs load it)[/dim]"
        )


# -- run -----------------------------------------------------------------------------------------------------


@app.command
def run(
    source: str,
    *,
    set: Settings = [],
    command: Annotated[Path | None, Parameter(help="Table of commands over time: CSV, NPZ, YAML or JSON.")] = None,
    reference: Annotated[
        list[str],
        Parameter(
            name="--reference",
            alias="-r",
            negative=(),
            consume_multiple=False,
            help="A constant command from t = 0 on, JOINT/COMMAND=VALUE; repeat.",
        ),
    ] = [],
    scenario: Annotated[Path | None, Parameter(help="Events over time: YAML or JSON.")] = None,
    duration: Annotated[
        float | None, Parameter(help="Seconds to simulate; 5 without a bridge, else until Ctrl-C.")
    ] = None,
    rtf: Annotated[
        float | None,
        Parameter(
            help="Simulated seconds per wall second; default: as fast as possible, 1 with a bridge that does not wait."
        ),
    ] = None,
    record: Annotated[Path | None, Parameter(help="Write a recording (.mcap).")] = None,
    overwrite: Annotated[bool, Parameter(negative=(), help="Replace a recording that exists.")] = False,
    plot: Annotated[Path | None, Parameter(help="Draw position, torque and stiffness (.png, .svg, .pdf).")] = None,
    bridge: Annotated[
        list[str],
        Parameter(negative=(), consume_multiple=False, help="Serve an interface: NAME or NAME:KEY=VALUE,...; repeat."),
    ] = [],
    joint_rate: Annotated[
        float | None, Parameter(help="Samples of each joint a second; default 100, the step's rate is the most.")
    ] = None,
    view: Annotated[bool, Parameter(negative=(), help="Show the simulation in the browser.")] = False,
    view_port: Annotated[int, Parameter(help="Port of the page; 0 takes the first free one from 8080 on.")] = 0,
    manager: Annotated[Path | None, Parameter(help="The toolbox's plugin manager file (YAML).")] = None,
    timestep: Annotated[float | None, Parameter(help="Time step [s].")] = None,
    seed: int = 0,
    package_path: Packages = [],
    check: Annotated[bool, Parameter(help="Refuse a robot that `pliant check` finds wrong.")] = True,
    import_: Imports = [],
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Simulate a robot: a URDF, MJCF, SDF or YAML file, or a name of the catalogue.

    Joints hold their pose until the first command. The end shows the state of each joint and the energy audit.
    """
    _import(import_)
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.simulation import Recorder, Simulation, free, paced, read_commands, read_scenario, sync

    console = make_console(quiet=json)
    robot = _load(source, set, timestep, package_path, manager)
    for note in robot.notes:
        console.print(f"[yellow]note[/yellow] {_plain(note)}", soft_wrap=True)
    problems = robot.check()
    for problem in problems:
        if problem.severity == "warning" or (problem.severity == "error" and not check):
            text = f"[yellow]{problem.severity}[/yellow] {problem.subject}: {_plain(problem.message)}"
            console.print(text, soft_wrap=True)
    if check and any(p.severity == "error" for p in problems):
        raise PliantError(
            "\n".join(f"{p.subject}: {p.message}. {p.hint}" for p in problems if p.severity == "error")
            + "\n(--no-check runs it all the same)"
        )
    _say_if_compiling(robot, console)
    engine = MujocoEngine(robot, audit=True, check=False)
    if joint_rate is not None and not (math.isfinite(joint_rate) and joint_rate > 0.0):
        raise PliantError(f"--joint-rate is {joint_rate:g}; valid is a rate above 0 Hz", field="joint-rate")
    devices = make_devices(robot, joint_sample_period=None if joint_rate is None else 1.0 / joint_rate)
    bridges = [_make_bridge(name, robot) for name in bridge]
    if view:
        from pliant.viewer import StudioView

        bridges.append(StudioView(engine, port=view_port))
    if any(b.lockstep for b in bridges):
        if rtf is not None:
            raise PliantError("--rtf does not go with a bridge that keeps time itself; leave it out", field="rtf")
        pacer: Any = sync()
    else:
        pacer = free() if rtf is None and not bridges else paced(1.0 if rtf is None else rtf)
    recorder = None
    scratch: Any = None
    if record is not None or plot is not None:
        target = record
        if target is None:
            import tempfile

            scratch = tempfile.TemporaryDirectory()
            target = Path(scratch.name) / "run.mcap"
        recorder = Recorder(target, overwrite=overwrite, command_line=_command_line())
    if duration is None and not bridges:
        duration = 5.0
    constants = _assignments(reference, "--reference")
    described = [str(getattr(d, "name", d)) for d in robot.devices if hasattr(d, "make")]
    if described:
        console.print(
            f"[dim]starting {', '.join(described)} (the very first start compiles for about half a minute)[/dim]"
        )
    simulation = Simulation(engine, devices, bridges, pacer=pacer, recorder=recorder, seed=seed)
    for wire in bridges:
        if hasattr(wire, "bind"):  # a bridge with services: pause, step, reset
            wire.bind(simulation)
    report = None
    try:
        with simulation:
            if command is not None:
                simulation.play(read_commands(command))
            if scenario is not None:
                read_scenario(scenario).install(simulation)
            for name, value in constants.items():
                _put(simulation, name, value)
            if robot.actuators and not json:
                console.print(_introduction(robot, engine))
            simulation.start()
            for wire in bridges:
                for who, where in getattr(wire, "addresses", {}).items():
                    console.print(f"{wire.name}: {who} at {where} (Ctrl-C ends)", soft_wrap=True)
            if view:
                console.print(f"look at it: {bridges[-1].url} (Ctrl-C ends)", soft_wrap=True)
            with _Bar(console, "simulating", "s", shown=not json) as bar:
                try:
                    report = simulation.run(
                        duration, lambda p: bar(p.done, p.total, f"{p.done / max(p.wall, 1e-9):.3g} x real time")
                    )
                except KeyboardInterrupt:
                    if duration is not None:
                        raise
            health = simulation.health()
            served = {wire.name: wire.report() for wire in bridges if hasattr(wire, "report")}
    finally:
        if plot is not None and recorder is not None and recorder.path.exists():
            from pliant.simulation import plot_recording

            plot_recording(recorder.path, plot)
        if scratch is not None:
            scratch.cleanup()
    balance = engine.audit.balance() if engine.audit is not None else None
    states = {joint: _joint_state(engine, joint) for joint in engine.compliant_joints()}
    if json:
        emit(
            {
                "source": source,
                "time": simulation.time,
                "steps": simulation.steps,
                "rtf": None if report is None else report.achieved_rtf,
                "joints": states,
                "energy": balance.as_dict() if balance else None,
                "notes": robot.notes,
                "recording": None if record is None else str(record),
                "plot": None if plot is None else str(plot),
                "health": health,
                "served": served,
            }
        )
        return 0
    for name, rows in served.items():
        console.print(_served_table(name, rows, health["bridges"]))
    if states:
        console.print(_state_table(states, engine))
    if balance is not None and balance.throughput > 1e-6:
        console.print(
            f"energy [J]: in {balance.motors + balance.references + balance.external:.4g}, "
            f"stored {balance.stored:.4g}, "
            f"motor losses {balance.motor_friction + balance.motor_damping:.4g}, "
            f"joint losses {balance.joint_damping + balance.link_losses + balance.constraints:.4g}, "
            f"not accounted for {balance.residual:.2g} ({100 * balance.relative:.2g} % of what moved)",
            soft_wrap=True,
        )
    speed = "" if report is None else f", {report.achieved_rtf:.3g} x real time"
    console.print(f"{simulation.steps} steps, {simulation.time:g} s simulated{speed}")
    for path, what in ((record, "recording"), (plot, "plot")):
        if path is not None:
            console.print(f"{what}: {path}")
    return 0


def _command_line() -> str:
    """Return what was typed, without the names of the files that are written: equal runs give equal recordings."""
    words = []
    skip = False
    for word in sys.argv[1:]:
        if skip or word.split("=")[0] in ("--record", "--plot"):
            skip = not skip and "=" not in word
            continue
        words.append(word)
    return " ".join(["pliant", *words])


def _make_bridge(name: str, robot: Any) -> Any:
    from pliant.bridges import make_bridge

    return make_bridge(name, robot)


def _put(simulation: Any, name: str, value: str) -> None:
    device, slash, field = name.rpartition("/")
    if not slash or device not in simulation.devices:
        valid = [f"{d.name}/{f}" for d in simulation.devices.values() for m in d.inbox.accepted for f in d.commands[m]]
        raise PliantError(f"--reference {name}: no such command; {nearest(name, valid)}", field=name)
    try:
        numbers: Any = [float(v) for v in value.split(",")]
    except ValueError:
        raise PliantError(
            f"--reference {name}={value}: not a number; valid: one number, or several with commas", field=name
        ) from None
    found = simulation.devices[device]
    shapes = {fields[field].shape for fields in found.commands.values() if field in fields}
    single = len(numbers) == 1 and shapes <= {()}
    found.inbox.put({field: numbers[0] if single else numbers})


def _served_table(name: str, rows: list[dict[str, Any]], health: dict[str, Any]) -> Any:
    from rich.table import Table

    own = health.get(name, {})
    note = f"{own.get('dropped', 0)} dropped, {own.get('rejected', 0)} refused, "
    note += f"{own.get('loop_us_per_step', 0.0):.0f} us a step"
    table = Table(title=f"{name}: {note}", title_justify="left", box=None)
    for column in ("topic", "type", "", "messages", "Hz", "peers"):
        table.add_column(column, justify="right" if column in ("messages", "Hz") else "left")
    for row in rows:
        if row["count"] or row["peers"]:
            peers = ", ".join(row["peers"])
            table.add_row(
                row["topic"], row["type"], row["direction"], str(row["count"]), f"{row['rate']:.1f}", _plain(peers)
            )
    silent = sum(1 for row in rows if not row["count"] and not row["peers"])
    if silent:
        table.caption = f"{silent} more topics, which nobody used"
        table.caption_justify = "left"
    return table


def _joint_state(engine: Any, joint: str) -> dict[str, float]:
    fields = (
        "position",
        "velocity",
        "torque",
        "stiffness",
        "energy",
        "equilibrium",
        "preset",
        "motor_1_position",
        "motor_2_position",
    )
    return {field: float(engine.port(f"{joint}/{field}")[0]) for field in fields}


def _introduction(robot: Any, engine: Any) -> Any:
    from rich.table import Table

    from pliant.laws import COMMAND_NAMES

    table = Table(title=f"{robot.name or 'robot'}, step {engine.dt * 1e3:g} ms", title_justify="left", box=None)
    for column in ("joint", "law", "mode", "commands"):
        table.add_column(column)
    for joint, actuator in list(robot.actuators.items())[:30]:
        names = ", ".join(f"{joint}/{n}" for n in COMMAND_NAMES[actuator.mode][: actuator.commands])
        table.add_row(joint, actuator.law.label, f"{actuator.mode.value} {actuator.mode.name.lower()}", names)
    return table


def _number(value: float, digits: int = 4) -> str:
    return "-" if not math.isfinite(value) else f"{value:.{digits}g}"


def _state_table(states: dict[str, dict[str, float]], engine: Any) -> Any:
    from rich.table import Table

    table = Table(box=None)
    table.add_column("joint")
    units = {
        "position": "rad",
        "velocity": "rad/s",
        "torque": "N m",
        "stiffness": "N m/rad",
        "energy": "J",
        "equilibrium": "rad",
        "preset": "",
    }
    for field, unit in units.items():
        table.add_column(f"{field}\n{unit}", justify="right", no_wrap=True)
    for joint, state in states.items():
        table.add_row(joint, *(_number(state[field], 3 if abs(state[field]) < 1e-3 else 4) for field in units))
    return table


# -- check ---------------------------------------------------------------------------------------------------


@app.command
def check(
    source: str,
    *,
    set: Settings = [],
    manager: Path | None = None,
    timestep: float | None = None,
    package_path: Packages = [],
    import_: Imports = [],
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Look a robot over: time-step bounds, parameters, limits, names, defaults that were filled in.

    Prints all findings at once. Exit code 3 where one is an error.
    """
    _import(import_)
    robot = _load(source, set, timestep, package_path, manager)
    problems = robot.check()
    errors = sum(p.severity == "error" for p in problems)
    if json:
        emit(
            {
                "source": source,
                "ok": errors == 0,
                "problems": [
                    {"severity": p.severity, "subject": p.subject, "message": p.message, "hint": p.hint}
                    for p in problems
                ],
                "notes": robot.notes,
            }
        )
        return 3 if errors else 0
    from rich.table import Table

    console = make_console()
    table = Table(box=None, show_header=False, padding=(0, 1))
    style = {"error": "red", "warning": "yellow", "info": "dim"}
    for p in problems:
        hint = f"\n[dim]{_plain(p.hint)}[/dim]" if p.hint else ""
        table.add_row(f"[{style[p.severity]}]{p.severity}[/]", p.subject, _plain(p.message) + hint)
    for note in robot.notes:
        table.add_row("[dim]note[/dim]", "", _plain(note))
    console.print(table)
    warnings = sum(p.severity == "warning" for p in problems)
    console.print(f"{source}: {errors} errors, {warnings} warnings")
    return 3 if errors else 0


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


# -- list ----------------------------------------------------------------------------------------------------


@app.command(name="list")
def list_(*, import_: Imports = [], json: Json = False, debug: Debug = False) -> int:
    """List the robots of the catalogue, the experiments, the laws and the bridges."""
    _import(import_)
    from pliant.bridges import list_bridges
    from pliant.experiments import list_experiments
    from pliant.laws import registered_laws
    from pliant.robots import list_robots

    robots = {r.name: r.summary for r in list_robots()}
    experiments = {e.name: e.summary for e in list_experiments()}
    laws = {
        name: {f: getattr(cls(), f) for f in cls.parameter_fields()} for name, cls in sorted(registered_laws().items())
    }
    bridges = list_bridges()
    if json:
        emit({"robots": robots, "experiments": experiments, "laws": laws, "bridges": bridges})
        return 0
    from rich.table import Table

    console = make_console()
    for title, rows in (
        ("robots", robots),
        ("experiments", experiments),
        ("laws", {n: ", ".join(f"{k}={v:g}" for k, v in p.items()) for n, p in laws.items()}),
        ("bridges", bridges),
    ):
        table = Table(title=title, title_justify="left", box=None, show_header=False)
        for name, text in rows.items():
            table.add_row(f"[bold]{name}[/bold]", _plain(text))
        console.print(table)
        console.print()
    return 0


# -- reproduce -----------------------------------------------------------------------------------------------


@app.command
def reproduce(
    experiment: Annotated[str, Parameter(help="Name of an experiment, or all.")] = "all",
    *,
    output: Annotated[Path, Parameter(help="Folder of the reports.")] = Path("reports"),
    quick: Annotated[bool, Parameter(negative=(), help="Run the short versions.")] = False,
    every: Annotated[
        bool, Parameter(name="--all-targets", negative=(), help="Print every target of a long list.")
    ] = False,
    seed: int = 0,
    import_: Imports = [],
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Run a published experiment again and hold its figures against the published ones.

    Writes a self-contained HTML report with figures. Exit code 3 where a target is missed.
    """
    _import(import_)
    from pliant.experiments import find_experiment, list_experiments
    from pliant.experiments import reproduce as run_experiments

    console = make_console(quiet=json)
    chosen = [e.name for e in list_experiments()] if experiment == "all" else [find_experiment(experiment).name]
    with _Bar(console, "reproducing", "", shown=not json) as bar:

        def progress(name: str, fraction: float, note: str = "") -> None:
            bar(round(chosen.index(name) + fraction, 2), len(chosen), f"{name} {note}")

        results = run_experiments(chosen, output, quick=quick, seed=seed, progress=progress)
    index = output / "index.html"
    failed = [r for r in results if not r.passed]
    if json:
        emit({"passed": not failed, "experiments": [r.as_dict() for r in results], "report": str(index)})
        return 3 if failed else 0
    from rich.table import Table

    for result in results:
        verdict = "[green]pass[/green]" if result.passed else "[red]FAIL[/red]"
        table = Table(title=f"{result.name}: {verdict}", title_justify="left", box=None)
        for column, justify in (("target", "left"), ("measured", "right"), ("expected", "left"), ("", "left")):
            table.add_column(column, justify=justify)  # type: ignore[arg-type]
        for name, measured, expected, passed in _target_rows(result.targets, every):
            table.add_row(
                _plain(name), _plain(measured), _plain(expected), "[green]pass[/green]" if passed else "[red]FAIL[/red]"
            )
        console.print(table)
        if result.error:
            console.print(f"[red]{_plain(result.error)}[/red]")
        console.print()
    total = sum(len(r.targets) for r in results)
    passed = sum(t.passed for r in results for t in r.targets)
    console.print(f"{passed} of {total} targets met; report: {index}", soft_wrap=True)
    return 3 if failed else 0


def _target_rows(targets: list[Any], every: bool) -> Iterator[tuple[str, str, str, bool]]:
    """Yield name, measured, expected, verdict; of a long list the groups that passed as one row each."""

    def row(target: Any) -> tuple[str, str, str, bool]:
        measured = "-" if target.measured is None else f"{target.measured:.6g} {target.unit}"
        return target.name, measured, target.expected, target.passed

    if every or len(targets) <= 25:
        yield from map(row, targets)
        return
    groups: dict[str, list[Any]] = {}
    for target in targets:
        groups.setdefault(target.name.split(":")[0], []).append(target)
    for name, members in groups.items():
        good = sum(t.passed for t in members)
        if len(members) == 1:
            yield row(members[0])
            continue
        yield name, f"{good} of {len(members)}", "all (the report lists them)", good == len(members)
        yield from (row(t) for t in members if not t.passed)


# -- sweep ---------------------------------------------------------------------------------------------------


@app.command
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
    _import(import_)
    from pliant.simulation.sweep import SweepPlan, parse_variation, run_sweep

    plan = SweepPlan(
        source=source,
        variations=tuple(parse_variation(v) for v in vary),
        settings=_assignments(set),
        commands=_assignments(reference, "--reference"),
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
    with _Bar(console, "simulating", "simulations", shown=not json) as bar:
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
            table.add_row(name, *(_number(float(f(values))) for f in (np.min, np.median, np.max)))
    console.print(table)
    new = len(result.rows) - result.done_before
    rate = f", {new * plan.duration / result.wall:.0f} x real time" if new else ""
    console.print(
        f"{len(result.rows)} simulations ({result.done_before} done before), {diverged} diverged, "
        f"{result.wall:.2f} s{rate}" + (f"; table: {output / 'results.csv'}" if output is not None else "")
    )
    return 0


# -- export --------------------------------------------------------------------------------------------------


@app.command
def export(
    format: Annotated[str, Parameter(help="urdf")],
    source: str,
    *,
    output: Annotated[Path | None, Parameter(help="The file; without it the text is printed.")] = None,
    set: Settings = [],
    package_path: Packages = [],
    import_: Imports = [],
    debug: Debug = False,
) -> int:
    """Write a robot as URDF, with limits, transmissions, ros2_control tags and the toolbox's plugin tags."""
    _import(import_)
    from pliant.model.export import export_urdf

    if format != "urdf":
        raise PliantError(f"export {format}: no such format; {nearest(format, ['urdf'])}", field="format")
    text = export_urdf(_load(source, set, None, package_path), output)
    if output is None:
        print(text, end="")
    else:
        make_console().print(f"written: {output}", soft_wrap=True)
    return 0


# -- replay --------------------------------------------------------------------------------------------------


@app.command
def replay(
    recording: Path,
    *,
    speed: Annotated[float, Parameter(help="Recorded seconds per wall second; default: do not wait.")] = math.inf,
    bridge: Annotated[list[str], Parameter(negative=(), consume_multiple=False, help="Publish on a bridge.")] = [],
    export: Annotated[Path | None, Parameter(help="Write the recording as .csv or .npz.")] = None,
    plot: Annotated[Path | None, Parameter(help="Draw the recording (.png, .svg, .pdf).")] = None,
    compare: Annotated[Path | None, Parameter(help="Compare with another recording, number by number.")] = None,
    overwrite: Annotated[bool, Parameter(negative=(), help="Replace an export that exists.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Look at a recording: summarise, export, plot, compare, or publish it again.

    Also takes the dump that a diverged simulation leaves (.npz).
    """
    import numpy as np

    from pliant.simulation import read_recording
    from pliant.simulation import replay as replay_samples

    console = make_console(quiet=json)
    if recording.suffix == ".npz":
        return _show_dump(recording, json, console)
    found = read_recording(recording)
    done: dict[str, Any] = {"recording": str(recording), "complete": found.complete, "duration": found.duration}
    if export is not None:
        from pliant.simulation import export as export_recording

        done["export"] = str(export_recording(found, export.suffix.lstrip("."), export, overwrite=overwrite))
    if plot is not None:
        from pliant.simulation import plot_recording

        plot_recording(found, plot)
        done["plot"] = str(plot)
    if bridge:
        bridges = [_make_bridge(name, None) for name in bridge]
        count = sum(1 for _ in replay_samples(found, speed=1.0 if math.isinf(speed) else speed, bridges=bridges))
        done["published"] = count
    elif not math.isinf(speed):
        for _ in replay_samples(found, speed=speed):
            pass
    code = 0
    if compare is not None:
        from pliant.simulation import compare as compare_recordings

        differences = compare_recordings(found, compare)
        done["differences"] = [str(d) for d in differences]
        code = 3 if differences else 0
    if json:
        emit(done)
        return code
    from rich.table import Table

    table = Table(box=None)
    for name in ("signal", "samples", "min", "max", "last"):
        table.add_column(name, justify="left" if name == "signal" else "right")
    for name in found:
        values = np.asarray(found[name], dtype=float)
        finite = values[np.isfinite(values)]
        if name.endswith("time") or not finite.size:
            continue
        last = values[-1] if values.ndim == 1 else values[-1][0]
        table.add_row(name, str(len(values)), *(_number(float(v)) for v in (finite.min(), finite.max(), last)))
    console.print(table)
    state = "" if found.complete else " (cut off: what was written before is all there)"
    console.print(f"{recording}: {found.duration:g} s{state}")
    for key in ("export", "plot", "published"):
        if key in done:
            console.print(f"{key}: {done[key]}")
    if compare is not None:
        for line in done["differences"]:
            console.print(_plain(line))
        console.print("identical" if not done["differences"] else f"{len(done['differences'])} signals differ")
    return code


def _show_dump(path: Path, as_json: bool, console: Console) -> int:
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as file:
            data = {name: file[name] for name in file.files}
        joints, qvel, qpos, times = (data[name] for name in ("joints", "qvel", "qpos", "time"))
    except (OSError, ValueError, KeyError) as error:
        raise PliantError(f"not a dump of a diverged simulation ({error})", file=path) from None
    if as_json:
        emit({name: values for name, values in data.items() if name != "states"})
        return 0
    from rich.table import Table

    table = Table(title="the last states before the simulation diverged", title_justify="left", box=None)
    for name in ("t \\[s]", *(f"{j} velocity" for j in joints)):
        table.add_column(name, justify="right")
    for i in sorted({*range(0, len(times), max(1, len(times) // 15)), len(times) - 1}):
        table.add_row(f"{times[i]:.6g}", *(_number(float(v)) for v in qvel[i]))
    console.print(table)
    console.print(f"{path}: {len(times)} states, {qpos.shape[1]} positions each")
    return 0


# -- identify ------------------------------------------------------------------------------------------------


@app.command
def identify(
    file: Annotated[
        list[Path], Parameter(negative=(), help="Recorded traces: CSV, NPZ, or a recording's export; one or several.")
    ],
    *,
    kind: Annotated[str, Parameter(help="What is fitted: spring, friction or servo.")] = "spring",
    law: Annotated[str, Parameter(help="Law: a name that `pliant list` shows.")] = "qbmove",
    set: Settings = [],
    free: Annotated[
        list[str],
        Parameter(negative=(), consume_multiple=False, help="Parameter to fit; repeat. Default: those of the kind."),
    ] = [],
    symmetric: Annotated[bool, Parameter(negative=(), help="Fit equal springs.")] = False,
    column: Annotated[
        list[str],
        Parameter(negative=(), consume_multiple=False, help="QUANTITY=COLUMN where the file's names differ; repeat."),
    ] = [],
    unit: Annotated[
        list[str], Parameter(negative=(), consume_multiple=False, help="QUANTITY=UNIT, such as position=deg; repeat.")
    ] = [],
    device: Annotated[str | None, Parameter(help="Device whose columns of a recording's export are read.")] = None,
    figure: Annotated[Path | None, Parameter(help="Draw data and fit (.png, .svg, .pdf).")] = None,
    datasheet: Annotated[Path | None, Parameter(help="Write a data sheet of the fitted actuator (JSON).")] = None,
    seed: int = 0,
    import_: Imports = [],
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Fit spring parameters, friction or servo lag to recorded traces, with standard errors."""
    _import(import_)
    from pliant.laws import CompliantActuator, Mode, get_law
    from pliant.laws import identify as fits
    from pliant.laws.measurements import read_measurement
    from pliant.model.parameters import change_actuator

    kinds = ("spring", "friction", "servo")
    if kind not in kinds:
        raise PliantError(f"--kind {kind}; {nearest(kind, kinds)}", field="kind")
    data = [
        read_measurement(
            path,
            _assignments(column, "--column"),
            _assignments(unit, "--unit"),
            **({"device": device} if device else {}),
        )
        for path in file
    ]
    mode = Mode.PID_EQ_PRESET if kind == "servo" else Mode.SPRING_REFS
    start = CompliantActuator(get_law(law)(), mode)
    tree: dict[str, Any] = {}
    for path_, value in _assignments(set).items():
        node = tree
        *outer, last = path_.removeprefix("law.").split(".")
        for part in outer:
            node = node.setdefault(part, {})
        node[last] = value
    if tree:
        start = change_actuator(start, tree, "actuator")
    names = {"free": tuple(free)} if free else {}
    console = make_console(quiet=json)
    with console.status("fitting ...") if not json else _nothing():
        if kind == "spring":
            found = fits.fit_law(start.law, data, symmetric=symmetric, seed=seed, **names)
        elif kind == "friction":
            found = fits.fit_friction(start, data, seed=seed, **names)
        else:
            found = fits.fit_servo(start, data, seed=seed, **names)
    import json as json_module

    try:
        if figure is not None:
            found.figure().savefig(figure, dpi=150, bbox_inches="tight")
        if datasheet is not None:
            datasheet.write_text(json_module.dumps(clean(fits.datasheet(found.actuator)), indent=2) + "\n")
    except OSError as error:
        raise PliantError(f"it cannot be written: {error.strerror}", file=error.filename) from None
    if json:
        emit(found.as_dict())
        return 0
    console.print(_plain(found.report()), soft_wrap=True)
    for path, what in ((figure, "figure"), (datasheet, "data sheet")):
        if path is not None:
            console.print(f"{what}: {path}")
    return 0


def _nothing() -> Any:
    import contextlib

    return contextlib.nullcontext()


# Continuum parallel robots have commands of their own, in a module that is imported when one of them is asked for.
app.command("pliant.cli_cpr:cpr", name="cpr", help="Continuum parallel robots: solve, check, simulate, view.")


# -- main ----------------------------------------------------------------------------------------------------


def _lines(error: PliantError) -> Iterator[str]:
    yield from str(error).splitlines()


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in arguments
    logging.getLogger("pliant").addHandler(logging.NullHandler())
    warnings.showwarning = lambda message, *_: print(f"pliant: warning: {message}", file=sys.stderr)  # type: ignore
    try:
        code = app(arguments, exit_on_error=True, print_error=True)
    except DivergedError as error:
        if debug:
            raise
        print(f"pliant: {error}", file=sys.stderr)
        raise SystemExit(4) from None
    except PliantError as error:
        if debug:
            raise
        for i, line in enumerate(_lines(error)):
            print(f"pliant: {line}" if i == 0 else f"        {line}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        print("pliant: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        raise SystemExit(0) from None
    raise SystemExit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
