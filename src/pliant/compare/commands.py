"""`pliant compare`: two runs in one figure, with their differences in numbers."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.base.documents.files import open_file
from pliant.base.errors import PliantError
from pliant.cli.checks import check_figure, refuse_unused
from pliant.cli.messages import say_error
from pliant.cli.options import (
    NO_SETTINGS,
    Debug,
    Json,
    References,
    RobotOptions,
    assignments,
    import_modules,
    load_robot,
    repeated,
)
from pliant.cli.output import emit, make_console, number, plain, print_table
from pliant.cli.outputs import NO_ADDITIONS, Additions, asked_additions
from pliant.cli.progress import Bar
from pliant.films.options import NO_FILM, Film

if TYPE_CHECKING:
    import mujoco
    from rich.console import Console

    from pliant.compare.runs import RunDifference
    from pliant.devices.base import DeviceBase
    from pliant.films.film import FilmOptions, FilmReport
    from pliant.model import Robot
    from pliant.recording import Recording
    from pliant.simulation.additions import Addition
    from pliant.simulation.pose_track import PoseTrack

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


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class PairOptions:
    """Settings in which the two differ, and the figure of both."""

    set_a: Annotated[tuple[str, ...], repeated()] = ()
    """As --set, for the first."""
    set_b: Annotated[tuple[str, ...], repeated()] = ()
    """As --set, for the second."""
    names: str | None = None
    """Names of the two in the table and the figure, such as soft,stiff."""
    plot: Path | None = None
    """Draw both in one figure (.png, .svg, .pdf)."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedOptions:
    """How robots are simulated."""

    duration: float | None = None
    """Seconds to simulate robots; default 2."""
    timestep: float | None = None
    """Time step of robots [s]."""
    seed: int = 0
    """Seed of all randomness of robots."""

    @property
    def length(self) -> float:
        """Simulated time [s]."""
        return DURATION if self.duration is None else self.duration


def compare(
    first: Annotated[str, Parameter(help="A recording (.mcap) or a robot.")],
    second: Annotated[str, Parameter(help="A recording (.mcap) or a robot.")],
    *,
    robot: RobotOptions = NO_SETTINGS,
    reference: References = (),
    additions: Additions = NO_ADDITIONS,
    pair: PairOptions = PairOptions(),
    simulated: SimulatedOptions = SimulatedOptions(),
    film: Film = NO_FILM,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Compare two runs: recordings (.mcap), or robots that are simulated with the same commands.

    For each signal that both have, prints the last value, the peak, and the difference over the common time. Two
    signals of a device with equal values are printed once. A difference is not an error: the exit code is 0.
    `pliant replay --compare` checks whether two recordings are equal.

    Examples:
        pliant compare before.mcap after.mcap
        pliant compare qbmove-1dof qbmove-1dof --set-a robot.preset=0.1 \\
            --set-b robot.preset=0.6 -r joint/equilibrium_position=0.5 --plot both.png
    """
    import_modules(robot.import_)
    first_name, second_name = _names(pair, first, second)
    sides = (
        _Side(source=first, settings=[*robot.set, *pair.set_a], name=first_name),
        _Side(source=second, settings=[*robot.set, *pair.set_b], name=second_name),
    )
    constants = assignments(reference, "--reference")
    added = asked_additions(additions)
    _refuse(sides, robot, pair, [*(["reference"] if constants else []), *added], simulated)
    if pair.plot is not None:
        check_figure(pair.plot, "--plot")
    looks = film.looks("480x480")
    pictures = None if film.video is None or looks is None else _Film(film.video, looks)
    console = make_console(quiet=json)
    from pliant.compare.runs import differences, plot_comparison
    from pliant.recording import read_recording

    runs = [None if side.recorded else _load(side, added, simulated, robot.package_path) for side in sides]
    _refuse_strangers(sides, runs)
    if pictures is not None:
        pictures.open([_model(side, run) for side, run in zip(sides, runs, strict=True)])
    with tempfile.TemporaryDirectory(prefix="pliant-") as scratch:
        recordings: list[Recording] = []
        for k, (side, run) in enumerate(zip(sides, runs, strict=True)):
            path = Path(side.source)
            if run is not None:
                path = Path(scratch) / f"{k}.mcap"
                track = None if pictures is None else pictures.track(k)
                bar = Bar(console, f"simulating {side.name}", "s", shown=not json)
                _simulate(run, path, constants, added, simulated, track, bar)
            recordings.append(read_recording(path))
        one, two = recordings
        found = differences(one, two)
        if pair.plot is not None:
            plot_comparison(one, two, pair.plot, names=(sides[0].name, sides[1].name))
        filmed = None if pictures is None else pictures.write(recordings, sides, console, quiet=json)
        code = 0 if filmed is None or not filmed.fault else 1
        if json:
            emit(
                {
                    "names": [side.name for side in sides],
                    "durations": [one.duration, two.duration],
                    "rates": [None if run is None else run.rate for run in runs],
                    "signals": [dataclasses.asdict(d) for d in found],
                    "plot": None if pair.plot is None else str(pair.plot),
                    "video": None if filmed is None else filmed.as_dict(),
                }
            )
            return code
    _print(console, found, sides)
    rates = dict.fromkeys(f"{run.rate:g}" for run in runs if run is not None and run.robot.actuators)
    if rates:
        console.print(f"[dim]joints sampled {' and '.join(rates)} times a second[/dim]")
    if pair.plot is not None:
        console.print(f"plot: {pair.plot}", soft_wrap=True)
    if filmed is not None and filmed.frames:
        console.print(filmed.line(), soft_wrap=True)
    return code


def _names(pair: PairOptions, first: str, second: str) -> tuple[str, str]:
    """Return what the two are called: as asked, by their sources, or by the settings in which they differ."""
    if pair.names is not None:
        parts = [part.strip() for part in pair.names.split(",")]
        if len(parts) != 2 or not all(parts):
            raise PliantError(
                f"--names is {pair.names!r}; must be two names with a comma, such as soft,stiff", field="names"
            )
        return parts[0], parts[1]
    one, two = (f"{Path(s).stem} {', '.join(own)}".strip() for s, own in ((first, pair.set_a), (second, pair.set_b)))
    return (one, two) if one != two else (f"{one} (first)", f"{two} (second)")


def _refuse(
    sides: tuple[_Side, _Side],
    robot: RobotOptions,
    pair: PairOptions,
    inputs: Collection[str],
    simulated: SimulatedOptions,
) -> None:
    """Refuse options that have no effect on recordings, and files that do not exist."""
    import math

    from pliant.robots.loading import suffixes

    recorded = [side.recorded for side in sides]
    for given, option in (
        (robot.set, "--set"), *((True, f"--{name}") for name in inputs), (simulated.duration is not None, "--duration"),
        (simulated.timestep is not None, "--timestep"),
    ):  # fmt: skip
        refuse_unused(all(recorded) and bool(given), option, "a robot: both are recordings")
    refuse_unused(recorded[0] and bool(pair.set_a), "--set-a", "a robot: the first is a recording")
    refuse_unused(recorded[1] and bool(pair.set_b), "--set-b", "a robot: the second is a recording")
    duration = simulated.length
    if not (math.isfinite(duration) and 0.0 < duration <= 1e6):
        raise PliantError(f"--duration is {duration:g} s; must be > 0 and <= 1e6", field="duration")
    for side in sides:
        path = Path(side.source)
        if side.recorded and not path.is_file():
            raise PliantError("the recording does not exist", file=side.source)
        if not side.recorded and path.is_file() and path.suffix.lower() not in suffixes() and not _is_xml(path):
            raise PliantError("must be an .mcap recording of pliant or a robot", file=side.source)


def _is_xml(path: Path) -> bool:
    try:
        with open_file(path, PliantError, max_bytes=None) as file:
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


def _load(side: _Side, added: Mapping[str, Addition], simulated: SimulatedOptions, packages: Sequence[Path]) -> _Run:
    """Load a robot and add to it, with joints that are sampled often enough to show how they swing."""
    from pliant.devices import make_devices

    robot = load_robot(side.source, side.settings, simulated.timestep, packages)
    for one in added.values():
        one.extend(robot)
    period = max(1, round(min(1e-2, max(1e-3, simulated.length / SAMPLES)) / robot.timestep)) * robot.timestep
    return _Run(robot=robot, devices=make_devices(robot, joint_sample_period=period), rate=round(1.0 / period, 6))


def _model(side: _Side, run: _Run | None) -> mujoco.MjModel:
    """Return the model that a film shows: that of a recording's command line, or that of a robot."""
    if run is not None:
        return run.robot.compile()
    from pliant.recording import read_recording
    from pliant.recording.recorded_motion import recorded_robot

    found = read_recording(Path(side.source))
    source, settings, packages = recorded_robot(found, "compare it without --video")
    return load_robot(source, settings, None, packages).compile()


class _Film:
    """The film of both runs.

    Args:
        path: file.
        looks: size of a scene, frame rate, speed, camera.
    """

    def __init__(self, path: Path, looks: FilmOptions) -> None:
        self._path, self._looks = path, looks
        self._models: list[mujoco.MjModel] = []
        self._tracks: dict[int, PoseTrack] = {}

    def open(self, models: list[mujoco.MjModel]) -> None:
        """Take the models.

        Raises:
            PliantError: one of them has no such camera.
        """
        from pliant.films.film import check_camera

        for model in models:
            check_camera(model, self._looks.camera)
        self._models = models

    def track(self, k: int) -> PoseTrack:
        """Return what keeps the poses of a run that is simulated."""
        from pliant.simulation.pose_track import PoseTrack

        self._tracks[k] = PoseTrack(self._looks.speed / self._looks.fps)
        return self._tracks[k]

    def write(
        self, recordings: list[Recording], sides: tuple[_Side, _Side], console: Console, *, quiet: bool
    ) -> FilmReport:
        """Render and write the film, and say what is missing in it."""
        import numpy as np

        from pliant.base.figures import COLORS
        from pliant.cli.outputs import say_missing
        from pliant.films.motions import film_motions
        from pliant.recording.motion import Motion
        from pliant.recording.recorded_motion import recorded_motion

        motions = []
        for k, (found, side, model, color) in enumerate(zip(recordings, sides, self._models, ("soft", "stiff"))):
            track = self._tracks.get(k)
            if track is None:
                period = self._looks.speed / self._looks.fps
                motion, missing = recorded_motion(found, model, period, title=side.name, color=COLORS[color])
                say_missing(missing, f"in the film of {side.name}", console)
            else:
                time, qpos = np.array(track.times), np.array(track.poses)
                motion = Motion(model=model, time=time, poses=qpos, title=side.name, color=COLORS[color])
            motions.append(motion)
        with Bar(console, "film", "pictures", shown=not quiet) as bar:
            report = film_motions(self._path, motions, self._looks, clock=True, progress=bar)
        if report.fault:
            say_error(PliantError(report.fault, file=self._path, field="video"))
        return report


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
    run: _Run,
    path: Path,
    constants: Mapping[str, str],
    added: Mapping[str, Addition],
    simulated: SimulatedOptions,
    track: PoseTrack | None,
    bar: Bar,
) -> None:
    """Run a robot, record it, and keep its poses for a film."""
    from pliant.engine import MujocoEngine
    from pliant.recording import Recorder
    from pliant.simulation import Simulation
    from pliant.simulation.commands import put_constants

    engine = MujocoEngine(run.robot)
    watchers = [] if track is None else [track.watch(engine.model, engine.data)]
    with (
        Simulation(engine, run.devices, watchers, recorder=Recorder(path), seed=simulated.seed) as simulation,
        bar,
    ):
        for one in added.values():
            one.begin(simulation)
        put_constants(simulation.devices, constants, "--reference ")
        simulation.run(simulated.length, lambda p: bar(p.done, p.total))


def _print(console: Console, found: list[RunDifference], sides: tuple[_Side, _Side]) -> None:
    from rich.table import Table

    from pliant.compare.runs import distinct, noise

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
        texts = (number(value, infinities=True) for value in values)
        table.add_row(plain(d.name), *texts, number(d.at), plain(d.unit))
    if differing:
        print_table(console, table)
    repeated, cut = len(differing) - len(shown), max(0, len(shown) - MAX_ROWS)
    rest = f", {repeated} of them with the numbers of another one" if repeated else ""
    rest += f", {cut} of them not shown" if cut else ""
    rest += " (--json prints all)" if rest else ""
    console.print(f"{len(differing)} of {len(found)} common signals differ{rest}")
