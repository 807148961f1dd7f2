"""`pliant run`: simulate a robot."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from pliant.cli.messages import say_if_compiling
from pliant.cli.options import (
    Debug,
    Imports,
    Json,
    Packages,
    Settings,
    assignments,
    import_modules,
    load_robot,
    make_bridge,
)
from pliant.cli.output import emit, make_console, number, plain
from pliant.cli.progress import Bar
from pliant.errors import PliantError, nearest

__all__ = ["run"]


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
    import_modules(import_)
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.simulation import Recorder, Simulation, free, paced, read_commands, read_scenario, sync

    console = make_console(quiet=json)
    robot = load_robot(source, set, timestep, package_path, manager)
    for note in robot.notes:
        console.print(f"[yellow]note[/yellow] {plain(note)}", soft_wrap=True)
    problems = robot.check()
    for problem in problems:
        if problem.severity == "warning" or (problem.severity == "error" and not check):
            text = f"[yellow]{problem.severity}[/yellow] {problem.subject}: {plain(problem.message)}"
            console.print(text, soft_wrap=True)
    if check and any(p.severity == "error" for p in problems):
        raise PliantError(
            "\n".join(f"{p.subject}: {p.message}. {p.hint}" for p in problems if p.severity == "error")
            + "\n(--no-check runs it all the same)"
        )
    say_if_compiling(robot, console)
    engine = MujocoEngine(robot, audit=True, check=False)
    if joint_rate is not None and not (math.isfinite(joint_rate) and joint_rate > 0.0):
        raise PliantError(f"--joint-rate is {joint_rate:g}; valid is a rate above 0 Hz", field="joint-rate")
    devices = make_devices(robot, joint_sample_period=None if joint_rate is None else 1.0 / joint_rate)
    bridges = [make_bridge(name, robot) for name in bridge]
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
        recorder = Recorder(target, overwrite=overwrite, command_line=command_line())
    if duration is None and not bridges:
        duration = 5.0
    constants = assignments(reference, "--reference")
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
                put_constant(simulation, name, value)
            if robot.actuators and not json:
                console.print(_introduction(robot, engine))
            simulation.start()
            for wire in bridges:
                for who, where in getattr(wire, "addresses", {}).items():
                    console.print(f"{wire.name}: {who} at {where} (Ctrl-C ends)", soft_wrap=True)
            if view:
                console.print(f"look at it: {bridges[-1].url} (Ctrl-C ends)", soft_wrap=True)
            with Bar(console, "simulating", "s", shown=not json) as bar:
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


def command_line() -> str:
    """Return what was typed, without the names of the files that are written: equal runs give equal recordings."""
    words = []
    skip = False
    for word in sys.argv[1:]:
        if skip or word.split("=")[0] in ("--record", "--plot"):
            skip = not skip and "=" not in word
            continue
        words.append(word)
    return " ".join(["pliant", *words])


def put_constant(simulation: Any, name: str, value: str) -> None:
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
                row["topic"], row["type"], row["direction"], str(row["count"]), f"{row['rate']:.1f}", plain(peers)
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
        table.add_row(joint, *(number(state[field], 3 if abs(state[field]) < 1e-3 else 4) for field in units))
    return table
