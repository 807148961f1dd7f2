"""`pliant compare`: two runs in one figure, with their differences in numbers."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.cli.options import Debug, Imports, Json, Packages, Settings, assignments, import_modules, load_robot
from pliant.cli.output import emit, make_console, number, plain, print_table
from pliant.cli.progress import Bar
from pliant.cli.simulating import check_figure, refuse_unused
from pliant.errors import PliantError

if TYPE_CHECKING:
    from rich.console import Console

    from pliant.devices.base import DeviceBase
    from pliant.model import Robot
    from pliant.recording import Recording
    from pliant.recording.comparison import RunDifference

__all__ = ["compare"]

RECORDINGS = (".mcap",)
SAMPLES = 10_000
"""Samples of a joint that are kept at most at full rate; longer runs have fewer a second, down to 100."""
MAX_ROWS = 40
"""Most signals that are printed; --json has all."""
DURATION = 2.0
"""Simulated time of robots that are compared, without --duration [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One of the two runs."""

    source: str
    settings: list[str]
    name: str

    @property
    def recorded(self) -> bool:
        """Whether it is a recording, not a robot."""
        return Path(self.source).suffix.lower() in RECORDINGS


def compare(
    first: Annotated[str, Parameter(help="A recording (.mcap) or a robot.")],
    second: Annotated[str, Parameter(help="A recording (.mcap) or a robot.")],
    *,
    set: Settings = [],
    set_a: Annotated[list[str], Parameter(negative=(), consume_multiple=False, help="As --set, for the first.")] = [],
    set_b: Annotated[list[str], Parameter(negative=(), consume_multiple=False, help="As --set, for the second.")] = [],
    reference: Annotated[
        list[str],
        Parameter(
            name="--reference",
            alias="-r",
            negative=(),
            consume_multiple=False,
            help="Constant command from t = 0 of both robots, DEVICE/COMMAND=VALUE; may be repeated.",
        ),
    ] = [],
    command: Annotated[Path | None, Parameter(help="Table of commands over time of both robots.")] = None,
    scenario: Annotated[Path | None, Parameter(help="Events over time of both robots: YAML or JSON.")] = None,
    duration: Annotated[float | None, Parameter(help="Seconds to simulate robots; default 2.")] = None,
    timestep: Annotated[float | None, Parameter(help="Time step of robots [s].")] = None,
    seed: Annotated[int, Parameter(help="Seed of all randomness of robots.")] = 0,
    names: Annotated[
        str | None, Parameter(help="Names of the two in the table and the figure, such as soft,stiff.")
    ] = None,
    plot: Annotated[Path | None, Parameter(help="Draw both in one figure (.png, .svg, .pdf).")] = None,
    package_path: Packages = [],
    import_: Imports = [],
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Compare two runs: recordings (.mcap), or robots that are simulated with the same commands.

    For each signal that both have, prints the last value, the peak, and the difference over the common time. Two
    signals of a device with equal values are printed once. A difference is not an error: the exit code is 0.
    `pliant replay --compare` checks whether two recordings are equal.
    """
    import_modules(import_)
    first_name, second_name = _names(names, first, second, set_a, set_b)
    sides = (
        _Side(source=first, settings=[*set, *set_a], name=first_name),
        _Side(source=second, settings=[*set, *set_b], name=second_name),
    )
    _refuse(sides, set, set_a, set_b, reference, command, scenario, duration, timestep)
    if plot is not None:
        check_figure(plot, "--plot")
    console = make_console(quiet=json)
    constants = assignments(reference, "--reference")
    from pliant.recording import read_recording
    from pliant.recording.comparison import differences, plot_comparison

    length = DURATION if duration is None else duration
    runs = [None if side.recorded else _load(side, console, timestep, length, package_path) for side in sides]
    _refuse_strangers(sides, runs)
    with tempfile.TemporaryDirectory(prefix="pliant-") as scratch:
        recordings: list[Recording] = []
        for k, (side, run) in enumerate(zip(sides, runs, strict=True)):
            path = Path(side.source)
            if run is not None:
                path = Path(scratch) / f"{k}.mcap"
                _simulate(side, run, path, console, constants, command, scenario, length, seed, json)
            recordings.append(read_recording(path))
        one, two = recordings
        found = differences(one, two)
        if plot is not None:
            plot_comparison(one, two, plot, names=(sides[0].name, sides[1].name))
        if json:
            emit(
                {
                    "names": [side.name for side in sides],
                    "durations": [one.duration, two.duration],
                    "rates": [None if run is None else run.rate for run in runs],
                    "signals": [dataclasses.asdict(d) for d in found],
                    "plot": None if plot is None else str(plot),
                }
            )
            return 0
    _print(console, found, sides)
    rates = dict.fromkeys(f"{run.rate:g}" for run in runs if run is not None and run.robot.actuators)
    if rates:
        console.print(f"[dim]joints sampled {' and '.join(rates)} times a second[/dim]")
    if plot is not None:
        console.print(f"plot: {plot}", soft_wrap=True)
    return 0


def _names(text: str | None, first: str, second: str, own_a: list[str], own_b: list[str]) -> tuple[str, str]:
    """Return what the two are called: as asked, by their sources, or by the settings in which they differ."""
    if text is not None:
        parts = [part.strip() for part in text.split(",")]
        if len(parts) != 2 or not all(parts):
            raise PliantError(f"--names is {text!r}; must be two names with a comma, such as soft,stiff", field="names")
        return parts[0], parts[1]
    one, two = (f"{Path(s).stem} {', '.join(own)}".strip() for s, own in ((first, own_a), (second, own_b)))
    return (one, two) if one != two else (f"{one} (first)", f"{two} (second)")


def _refuse(
    sides: tuple[_Side, _Side],
    both: list[str],
    own_a: list[str],
    own_b: list[str],
    reference: list[str],
    command: Path | None,
    scenario: Path | None,
    duration: float | None,
    timestep: float | None,
) -> None:
    """Refuse options that have no effect on recordings, and files that do not exist."""
    import math

    from pliant.loading import SUFFIXES

    recorded = [side.recorded for side in sides]
    for given, option in (
        (both, "--set"), (reference, "--reference"), (command, "--command"), (scenario, "--scenario"),
        (duration is not None, "--duration"), (timestep is not None, "--timestep"),
    ):  # fmt: skip
        refuse_unused(all(recorded) and bool(given), option, "a robot: both are recordings")
    refuse_unused(recorded[0] and bool(own_a), "--set-a", "a robot: the first is a recording")
    refuse_unused(recorded[1] and bool(own_b), "--set-b", "a robot: the second is a recording")
    if duration is not None and not (math.isfinite(duration) and 0.0 < duration <= 1e6):
        raise PliantError(f"--duration is {duration:g} s; must be > 0 and <= 1e6", field="duration")
    for side in sides:
        path = Path(side.source)
        if side.recorded and not path.is_file():
            raise PliantError("the recording does not exist", file=side.source)
        if not side.recorded and path.is_file() and path.suffix.lower() not in SUFFIXES and not _is_xml(path):
            raise PliantError("must be an .mcap recording of pliant or a robot", file=side.source)


def _is_xml(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(256).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    except OSError as error:
        raise PliantError(f"the file cannot be read: {error.strerror}", file=path) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """A robot that will be simulated."""

    robot: Robot
    devices: list[DeviceBase]
    rate: float
    """Samples of each joint a second [Hz]."""


def _load(side: _Side, console: Console, timestep: float | None, duration: float, packages: list[Path]) -> _Run:
    """Load a robot, with joints that are sampled often enough to show how they swing."""
    from pliant.devices import make_devices

    robot = load_robot(side.source, side.settings, timestep, packages)
    period = max(1, round(min(1e-2, max(1e-3, duration / SAMPLES)) / robot.timestep)) * robot.timestep
    return _Run(robot=robot, devices=make_devices(robot, joint_sample_period=period), rate=round(1.0 / period, 6))


def _refuse_strangers(sides: tuple[_Side, _Side], runs: list[_Run | None]) -> None:
    """Refuse two that share no device, before anything is simulated."""
    from pliant.recording import read_recording

    have = [
        list(read_recording(Path(side.source)).devices) if run is None else [device.name for device in run.devices]
        for side, run in zip(sides, runs, strict=True)
    ]
    if set(have[0]) & set(have[1]):
        return
    said = [f"{side.source} has {', '.join(names) or 'none'}" for side, names in zip(sides, have, strict=True)]
    raise PliantError(f"the two share no device: {'; '.join(said)}")


def _simulate(
    side: _Side,
    run: _Run,
    path: Path,
    console: Console,
    constants: Mapping[str, str],
    command: Path | None,
    scenario: Path | None,
    duration: float,
    seed: int,
    quiet: bool,
) -> None:
    """Run a robot and record it."""
    from pliant.cli.run import put_constants
    from pliant.engine import MujocoEngine
    from pliant.recording import Recorder
    from pliant.simulation import Simulation, read_commands, read_scenario

    table = None if command is None else read_commands(command)
    events = None if scenario is None else read_scenario(scenario)
    engine = MujocoEngine(run.robot)
    with (
        Simulation(engine, run.devices, recorder=Recorder(path), seed=seed) as simulation,
        Bar(console, f"simulating {side.name}", "s", shown=not quiet) as bar,
    ):
        if table is not None:
            simulation.play(table)
        if events is not None:
            events.install(simulation)
        put_constants(simulation, constants)
        simulation.run(duration, lambda p: bar(p.done, p.total))


def _print(console: Console, found: list[RunDifference], sides: tuple[_Side, _Side]) -> None:
    from rich.table import Table

    from pliant.recording.comparison import distinct, noise

    table = Table(box=None)
    table.add_column("signal")
    one, two = (plain(side.name) for side in sides)
    for what in ("last", "peak"):
        table.add_column(f"{what}\n{one}", justify="right")
        table.add_column(f"{what}\n{two}", justify="right")
    for what in ("rms\ndifference", "largest\ndifference", "at\ns"):
        table.add_column(what, justify="right", no_wrap=True)
    table.add_column("unit")
    differing = [d for d in found if d.largest > noise(d)]
    shown = distinct(differing)
    for d in shown[:MAX_ROWS]:
        values = (0.0 if abs(v) <= noise(d) else v for v in (*d.final, *d.peak, d.rms, d.largest))
        table.add_row(plain(d.name), *map(number, values), number(d.at), plain(d.unit))
    if differing:
        print_table(console, table)
    repeated, cut = len(differing) - len(shown), max(0, len(shown) - MAX_ROWS)
    rest = f", {repeated} of them with the numbers of another one" if repeated else ""
    rest += f", {cut} of them not shown" if cut else ""
    rest += " (--json prints all)" if rest else ""
    console.print(f"{len(differing)} of {len(found)} common signals differ{rest}")
