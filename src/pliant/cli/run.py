"""`pliant run`: simulate a robot."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError
from pliant.base.warn import print_warning
from pliant.cli.checks import refuse_unused
from pliant.cli.options import (
    NO_SETTINGS,
    References,
    RobotOptions,
    Source,
    Timestep,
    assignments,
    check_bridges,
    import_modules,
)
from pliant.cli.output import emit, make_console, number, plain, print_table
from pliant.cli.outputs import NO_ADDITIONS, Additions, add_monitors, asked_additions, asked_files
from pliant.cli.simulating import DEFAULT_RUN, Run, RunOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from pliant.engine.base import Engine
    from pliant.model import Robot
    from pliant.model.problem import Problem
    from pliant.simulation import Simulation

MAX_SHOWN = 16
"""Longest array of a sample that is printed at the end of a run."""
MAX_TOLD = 2
"""Notes and warnings of a robot that are printed without --verbose, where there are more than one more."""
MAX_FIELDS = 12
"""Most fields of a device whose values are printed as text."""


def run(
    source: Source,
    *,
    options: RobotOptions = NO_SETTINGS,
    reference: References = (),
    additions: Additions = NO_ADDITIONS,
    joint_rate: Annotated[
        float | None, Parameter(help="Samples of each joint or actuator per second; default 100, at most one per step.")
    ] = None,
    manager: Annotated[Path | None, Parameter(help="File (YAML) of the toolbox's plugin manager.")] = None,
    timestep: Timestep = None,
    check: Annotated[bool, Parameter(help="Refuse a robot with errors of `pliant check`.")] = True,
    verbose: Annotated[bool, Parameter(help="Print all notes and warnings of the robot, not only the first.")] = False,
    plan: RunOptions = DEFAULT_RUN,
) -> int:
    """Simulate a robot: a URDF, MJCF, SDF or YAML file, or the name of a catalogue robot.

    Joints hold their pose until the first command; parallel robots hold their equilibrium. At the end, prints the state
    of each joint, or of the other devices that take commands, and the energy audit.

    Examples:
        pliant run qbmove-2dof -r joint_1/equilibrium_position=0.5 --plot run.png
        pliant run robot.urdf --bridge ros1 --view
        pliant run fr3 --bridge fci
    """
    if joint_rate is not None and not (math.isfinite(joint_rate) and joint_rate > 0.0):
        raise PliantError(f"--joint-rate is {joint_rate:g}; must be > 0 Hz", field="joint-rate")
    constants = assignments(reference, "--reference")
    import_modules(options.import_)
    check_bridges(plan.bridge)  # before loading the robot, which may take long
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.simulation.commands import put_constants

    console = make_console(quiet=plan.json)
    added = asked_additions(additions).values()
    robot = options.load(source, timestep, manager)
    for one in added:
        one.extend(robot)
    problems = robot.check()
    _tell(robot, problems, console, check=check, verbose=verbose or plan.json)
    if check and any(p.severity == "error" for p in problems):
        raise PliantError(
            ". Also ".join(f"{p.subject}: {p.message}; {p.hint}" for p in problems if p.severity == "error")
            + ". --no-check runs the robot anyway",
            file=robot.file,
        )
    driven = bool(robot.actuators or robot.spec.actuators)
    refuse_unused(joint_rate is not None and not driven, "--joint-rate", "a compliant joint or an actuator")
    period = None if joint_rate is None else _joint_period(joint_rate, robot.timestep)
    engine = MujocoEngine(robot, dump_folder=plan.output_folder, check=False)
    monitors = add_monitors(engine)
    devices = make_devices(robot, joint_sample_period=period)
    if not devices and not constants:
        _explain_no_device(robot, plan, console)
    with Run(plan, console, engine, devices, robot) as done:
        simulation = done.simulation
        for line in (line for one in added for line in one.begin(simulation)):
            console.print(line, soft_wrap=True)
        put_constants(simulation.devices, constants, "--reference ")
        if robot.actuators and not plan.json:
            print_table(console, _introduction(robot, engine))
        done.start()
        done.go()
    states = {joint: _joint_state(engine, joint) for joint in engine.compliant_joints()}
    samples = _last_samples(simulation, robot)
    if plan.json:
        emit(
            {
                "source": source,
                "joints": states,
                "devices": samples,
                **{name: monitor and monitor.as_dict() for name, monitor in monitors.items()},
                "notes": robot.notes,
                **done.as_dict(),
            }
        )
        return done.conclude()
    done.say_served()
    if states:
        print_table(console, _state_table(states, robot))
    for name, values in samples.items():
        if len(values) > MAX_FIELDS:
            text = f"{len(values)} fields; --json prints their last values"
        else:
            text = ", ".join(f"{field} {_shown(value)}" for field, value in values.items())
        console.print(f"{name}: {plain(text)}", soft_wrap=True)
    for line in filter(None, (monitor.line() for monitor in monitors.values() if monitor is not None)):
        console.print(line, soft_wrap=True)
    done.say_end()
    return done.conclude()


def _tell(robot: Robot, problems: Sequence[Problem], console: Console, *, check: bool, verbose: bool) -> None:
    """Print notes and warnings of a robot: all, or so many that the start of the run is not lost among them."""
    errors = [p for p in problems if p.severity == "error" and not check]
    warnings = [p for p in problems if p.severity == "warning"]
    count = len(robot.notes) + len(warnings)
    left = count if verbose or count <= MAX_TOLD + 1 else MAX_TOLD
    for problem in [*errors, *warnings[:left]]:
        ignored = " (an error, which --no-check ignores)" if problem.severity == "error" else ""
        print_warning(f"{problem.subject}: {problem.message}{ignored}")
    for note in robot.notes[: max(0, left - len(warnings))]:
        console.print(f"[yellow]note[/yellow] {plain(note)}", soft_wrap=True)
    if left < count:
        text = f"{count - left} further notes and warnings of the robot: --verbose prints them"
        console.print(f"[yellow]note[/yellow] {text}", soft_wrap=True)


def _explain_no_device(robot: Robot, plan: RunOptions, console: Console) -> None:
    """Say that a robot takes no commands and has no samples; refuse to record or draw them.

    Raises:
        PliantError: --record, or a figure.
    """
    from pliant.model.robot import actuator_hint

    joints = [joint for joint in robot.joints if joint]
    hint = f"; {actuator_hint(joints[-1])}" if joints else ""
    for option in (*(["record"] if plan.record is not None else []), *asked_files(plan.figures)):
        raise PliantError(
            f"--{option}: the robot has no compliant actuator and no other device, so there are no samples{hint}",
            field=option,
        )
    text = f"the robot has no compliant actuator and no other device: it takes no commands{hint}"
    console.print(f"[yellow]note[/yellow] {plain(text)}", soft_wrap=True)


def _joint_period(rate: float, dt: float) -> float:
    """Return the time between two samples of a joint [s], a whole number of steps."""
    steps = 1.0 / (rate * dt)
    if steps > 1.0 - 1e-6 and abs(steps - round(steps)) < 1e-3 * steps:
        return round(steps) * dt
    below, above = 1.0 / (dt * (math.floor(steps) + 1)), 1.0 / (dt * max(1, math.floor(steps)))
    nearest_rates = f"{above:g} Hz" if below >= above or steps < 1.0 else f"{below:g} or {above:g} Hz"
    raise PliantError(
        f"--joint-rate is {rate:g} Hz; must divide the rate of the steps, {1.0 / dt:g} Hz; nearest: {nearest_rates}",
        field="joint-rate",
    )


def _joint_state(engine: Engine, joint: str) -> dict[str, float]:
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


def _last_samples(simulation: Simulation, robot: Robot) -> dict[str, dict[str, float | list[float]]]:
    """Return the last values of the devices that take commands, beside compliant joints and their board."""
    found: dict[str, dict[str, float | list[float]]] = {}
    for name, device in simulation.devices.items():
        if robot.actuators or not device.commands:
            continue
        try:
            values = simulation.sample(name).values
        except PliantError:  # the run was shorter than the device's period
            continue
        found[name] = {
            field: value if isinstance(value, float) else value.tolist()
            for field, value in values.items()
            if device.samples[field].size <= MAX_SHOWN
        }
    return found


def _shown(value: float | list[float]) -> str:
    numbers = value if isinstance(value, list) else [value]
    return " ".join(f"{v:.5g}" for v in numbers)


def _introduction(robot: Robot, engine: Engine) -> Table:
    from rich.table import Table

    from pliant.laws import COMMAND_NAMES

    table = Table(title=f"{robot.name or 'robot'}, step {engine.dt * 1e3:g} ms", title_justify="left", box=None)
    for column in ("joint", "law", "mode", "commands"):
        table.add_column(column)
    for joint, actuator in list(robot.actuators.items())[:30]:
        names = ", ".join(f"{joint}/{n}" for n in COMMAND_NAMES[actuator.mode][: actuator.commands])
        table.add_row(joint, actuator.law.label, f"{actuator.mode.value} {actuator.mode.name.lower()}", names)
    return table


def _state_table(states: dict[str, dict[str, float]], robot: Robot) -> Table:
    """Return the last state of the joints; a column has the unit in its head, or in its cells where joints differ."""
    from rich.table import Table

    from pliant.laws.fields import JOINT_FIELDS

    table = Table(box=None)
    table.add_column("joint")
    cells = {joint: [joint] for joint in states}
    for field in ("position", "velocity", "torque", "stiffness", "energy", "equilibrium", "preset"):
        units = {
            joint: JOINT_FIELDS[field].unit_of(robot.actuators[joint].law.second_input, slides=robot.slides(joint))
            for joint in states
        }
        common = len(set(units.values())) == 1
        table.add_column(f"{field}\n{next(iter(units.values())) if common else ''}", justify="right", no_wrap=True)
        for joint, state in states.items():
            value = state[field]
            unit = "" if common or not math.isfinite(value) else f" {units[joint]}"
            cells[joint].append(number(value, 3 if abs(value) < 1e-3 else 4) + unit)
    for row in cells.values():
        table.add_row(*row)
    return table
