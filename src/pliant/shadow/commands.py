"""`pliant shadow`: a simulation beside a robot or its log, and which parameter has drifted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError
from pliant.base.wing import offers
from pliant.cli.checks import check_figure
from pliant.cli.options import NO_SETTINGS, Debug, Json, RobotOptions, import_modules
from pliant.cli.output import emit, make_console, number, plain, print_table
from pliant.cli.progress import Bar
from pliant.shadow.options import Beside, Judged

if TYPE_CHECKING:
    from rich.console import Console

    from pliant.model.robot import Robot
    from pliant.shadow import Drift
    from pliant.shadow.candidates import Compared

    Sources = object
    NO_SOURCES: object = None
else:
    # One option for each listener and kind of log that a wing declares, with or without a value.
    Sources = Parameter(name="*")(
        make_dataclass(
            "Sources",
            [
                (
                    found.key.replace("-", "_"),
                    Annotated[
                        tuple[str, ...] | None,
                        Parameter(
                            name=f"--{found.key}",
                            help=f"Take {found.value.summary}, in place of LOG.",
                            consume_multiple=(0, 1),
                            negative=(),
                        ),
                    ],
                    None,
                )
                for found in (*offers("listeners"), *offers("logs"))
            ],
            frozen=True,
            kw_only=True,
            namespace={"__module__": __name__, "__doc__": "Where a robot is listened to."},
        )
    )
    NO_SOURCES = Sources()

SHOWN = 6
"""Most parameters of a window that are printed; --json has all."""


USUALLY_JUDGED = Judged()
UNTIL_INTERRUPTED = Beside()


def shadow(
    source: Annotated[str, Parameter(help="The robot as described: a file, or a name of the catalogue.")],
    log: Annotated[
        Path | None, Parameter(help="What the robot did: a recording (.mcap), a ROS bag, or a CSV or NPZ table.")
    ] = None,
    *,
    robot: RobotOptions = NO_SETTINGS,
    sources: Sources = NO_SOURCES,
    judged: Judged = USUALLY_JUDGED,
    beside: Beside = UNTIL_INTERRUPTED,
    plot: Annotated[Path | None, Parameter(help="Draw robot and simulation (.png, .svg, .pdf).")] = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Simulate beside a robot or its log, and tell which physical parameter has drifted.

    The simulation gets the commands that the robot gets. What the robot did differently is compared with what a change
    of each parameter alone would have done: springs, friction, damping, loads, delays and zeros of sensors. Nothing is
    sent to the robot.

    Examples:
        pliant shadow qbmove-1dof arm.mcap --plot shadow.png
    """
    import_modules(robot.import_)
    asked, logged = _asked(sources, "listeners"), _asked(sources, "logs")
    if len(asked) + len(logged) + (log is not None) != 1:
        names = ", ".join(f"--{found.key}" for found in (*offers("listeners"), *offers("logs")))
        raise PliantError(f"give one source: a log, or one of {names}", field="log")
    if asked:
        if plot is not None:
            raise PliantError("--plot is for a log; record the robot, or use --view", field="plot")
        from pliant.shadow.following import follow

        return follow(robot.load(source), *asked[0], judged, beside, json=json)
    beside.refuse()
    if plot is not None:
        check_figure(plot, "--plot")
    from pliant.shadow import find_drift, read_shadow_log

    console = make_console(quiet=json)
    described = robot.load(source)
    if log is None:
        return _judge_log(console, described, logged[0], judged.window, plot, json)
    read = read_shadow_log(log, described)
    for note in read.notes:
        console.print(f"warning: {plain(note)}", soft_wrap=True)
    bar = Bar(console, "simulating beside the log", "s", shown=not json)
    length = read.end - read.begin
    windows, compared = find_drift(
        described,
        read,
        watched=judged.watch,
        window=judged.window,
        settle=judged.settle,
        commands=judged.commands,
        progress=lambda done: bar(done, length),
    )
    bar.close()
    kind = f"commands are taken as {windows[0].commands} (--commands)" if judged.commands == "auto" else ""
    _tell(console, str(log), read.notes, windows, compared, plot, kind, json)
    return 0


def _judge_log(
    console: Console, robot: Robot, asked: tuple[str, str], window: float | None, plot: Path | None, json: bool
) -> int:
    """Judge a log of a kind that a wing declares."""
    from pliant.recording.live import make_source
    from pliant.shadow.drift import judge_windows

    worlds = make_source("logs", *asked, robot)
    compared = worlds.compare()
    for note in worlds.notes:
        console.print(f"warning: {plain(note)}", soft_wrap=True)
    times = [one.time for one in compared.values()]
    begin, end = float(times[0][0]), float(times[0][-1])
    length = end - begin if window is None else window
    windows = judge_windows(worlds, compared, begin, end, length, "recorded")
    _tell(console, asked[1], tuple(worlds.notes), windows, compared, plot, "", json)
    return 0


def _tell(
    console: Console,
    log: str,
    notes: tuple[str, ...],
    windows: Sequence[Drift],
    compared: Mapping[str, Compared],
    plot: Path | None,
    kind: str,
    json: bool,
) -> None:
    """Tell what the windows of a log say, and draw them."""
    if plot is not None:
        from pliant.shadow.figure import plot_shadow

        plot_shadow(compared, windows, plot)
    if json:
        found: dict[str, object] = {"log": log, "notes": list(notes), "windows": [w.row() for w in windows]}
        emit(found | ({"plot": str(plot)} if plot is not None else {}))
        return
    if kind:
        console.print(kind)
    for drift in windows:
        _say(console, drift, alone=len(windows) == 1)
    if plot is not None:
        console.print(f"plot: {plain(str(plot))}", soft_wrap=True)


def _asked(sources: object, kind: str) -> list[tuple[str, str]]:
    """Return name and value of each listener, or kind of log, that is asked for."""
    found = []
    for each in offers(kind):
        value = getattr(sources, each.key.replace("-", "_"), None)
        if value is not None:
            found.append((each.key, value[0] if value else ""))
    return found


def _say(console: Console, drift: Drift, *, alone: bool) -> None:
    if alone:
        from rich.table import Table

        table = Table(box=None)
        for name in ("parameter", "alone would be", "+-", "explains"):
            table.add_column(name, justify="left" if name == "parameter" else "right")
        for one in drift.estimates[:SHOWN]:
            sign = "x " if one.candidate.kind == "factor" else "+ "
            unit = f" {one.candidate.unit}" if one.candidate.unit else ""
            table.add_row(
                plain(one.candidate.name), f"{sign}{number(one.value)}{unit}", number(one.spread),
                f"{100.0 * one.explained:.0f} %",
            )  # fmt: skip
        print_table(console, table)
    console.print(f"{drift.begin:.4g} to {drift.end:.4g} s: {plain(drift.verdict)}", soft_wrap=True)
