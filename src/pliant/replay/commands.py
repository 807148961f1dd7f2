"""`pliant replay`: summarise a recording or a bag, or publish it again."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pliant.base.documents.tables import read_npz
from pliant.base.errors import PliantError, RecordingError, nearest
from pliant.cli.checks import check_page, refuse_unused
from pliant.cli.messages import say_error
from pliant.cli.options import VIEW_HOST, Debug, Json, Settings, load_robot, make_bridge, repeated
from pliant.cli.output import emit, make_console, number, plain, print_table
from pliant.cli.outputs import (
    NO_FIGURES,
    NO_OUTPUTS,
    SHOW_OPTIONS,
    Figures,
    Outputs,
    asked_files,
    say_missing,
)  # fmt: skip
from pliant.cli.progress import Bar
from pliant.cli.simulating import say_served, say_where

if TYPE_CHECKING:
    import mujoco
    from rich.console import Console

    from pliant.recording import Recording
    from pliant.replay.player import Replay
    from pliant.simulation import Bridge
    from pliant.simulation.bridge import TopicReport

MAX_EVENTS = 20
"""Most events of a recording that are printed."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    """Publishing a recording on bridges.

    Raises:
        PliantError: options that have no effect.
    """

    bridge: Annotated[tuple[str, ...], repeated()] = ()
    """Publish on a bridge: NAME or NAME:KEY=VALUE,...; may be repeated."""
    speed: float | None = None
    """Recorded seconds per wall second; default 1 with a bridge, otherwise as fast as possible."""
    start: float | None = None
    """Start of the replay, from the first sample [s]."""
    duration: float | None = None
    """Length of the replay [s]; default: to the end."""
    loop: Annotated[bool, Parameter(negative=())] = False
    """Repeat until Ctrl-C."""
    delay: float | None = None
    """Wait before the first sample [s], so that subscribers find the topics."""
    wait: Annotated[bool, Parameter(negative=())] = False
    """Wait until every published topic has a subscriber."""

    def __post_init__(self) -> None:
        for option, given in (("--loop", self.loop), ("--delay", self.delay is not None), ("--wait", self.wait)):
            refuse_unused(given and not self.bridge, option, "--bridge")
        for option, given in (("--start", self.start), ("--duration", self.duration)):
            refuse_unused(given is not None and not self.plays, option, "--bridge or --speed")

    @property
    def plays(self) -> bool:
        """Whether the recording is played."""
        return bool(self.bridge) or self.speed is not None


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """Files that a recording is written to, drawn in or compared with.

    Raises:
        PliantError: options that have no effect.
    """

    export: Path | None = None
    """Write the recording as .csv or .npz."""
    figures: Figures = NO_FIGURES
    compare: Path | None = None
    """Compare with another recording, value by value."""
    overwrite: Annotated[bool, Parameter(negative=())] = False
    """Replace an existing export."""

    def __post_init__(self) -> None:
        refuse_unused(self.overwrite and self.export is None, "--overwrite", "--export")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """The recorded robot in a film or on a page.

    Raises:
        PliantError: options that have no effect, or a file that cannot be written.
    """

    outputs: Outputs = NO_OUTPUTS
    html: Path | None = None
    """Write the recorded joints as a page that plays in any browser (.html)."""
    view: Annotated[bool, Parameter(negative=())] = False
    """Show the recorded joints and curves in the browser, with a time slider."""
    view_port: int | None = None
    """Port of the page; default, or with 0, the first free one from 8080."""
    view_host: str = VIEW_HOST
    """Address of this machine to serve the page on; it has no password."""
    robot: str | None = None
    """Robot of the film or page; default: that of the recorded command line."""
    set: Settings = ()

    def __post_init__(self) -> None:
        shown = asked_files(self.outputs) or self.html is not None or self.view
        showing = f"{', '.join([*SHOW_OPTIONS, '--html'])} or --view"
        refuse_unused(self.robot is not None and not shown, "--robot", showing)
        refuse_unused(self.view_port is not None and not self.view, "--view-port", "--view")
        refuse_unused(self.view_host != VIEW_HOST and not self.view, "--view-host", "--view")
        refuse_unused(bool(self.set) and self.robot is None, "--set", "--robot")
        if self.html is not None:
            check_page(self.html, "--html")

    def model(self, found: Recording) -> mujoco.MjModel:
        """Return the compiled robot: the one that is named, or that was recorded."""
        if self.robot is not None:
            return load_robot(self.robot, self.set, None, ()).compile()
        from pliant.recording.recorded_motion import recorded_robot

        source, settings, packages = recorded_robot(found)
        return load_robot(source, settings, None, packages).compile()


NO_PUBLISHING, NO_FILES, NOTHING_SHOWN = PublishOptions(), FileOptions(), ShowOptions()


def replay(
    recording: Annotated[
        Path, Parameter(help="A recording (.mcap), a ROS bag, or the dump of a diverged simulation (.npz).")
    ],
    *,
    publish: PublishOptions = NO_PUBLISHING,
    files: FileOptions = NO_FILES,
    show: ShowOptions = NOTHING_SHOWN,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Summarise, export, plot, compare or publish a recording.

    Also reads ROS bags (.bag, .mcap, .db3, folders of ros2 bag), and the dump of a diverged simulation (.npz).

    Examples:
        pliant replay run.mcap --plot run.png --export run.csv
        pliant replay run.mcap --compare again.mcap
    """
    from pliant.recording.recording import Recording
    from pliant.replay.player import open_replay

    console = make_console(quiet=json)
    only_recordings = (
        ("--export", files.export), ("--compare", files.compare),
        *((f"--{name}", options.file) for name, options in asked_files(files.figures, show.outputs).items()),
        ("--html", show.html), ("--view", show.view or None),
    )  # fmt: skip
    given = [option for option, value in only_recordings if value is not None]
    if recording.suffix == ".npz":
        playing = [option for option, on in (("--bridge", publish.bridge), ("--speed", publish.speed)) if on]
        for option in [*playing, *(option for option in given if option != "--compare")]:
            raise PliantError(f"{option} cannot be used with the dump of a diverged simulation", file=recording)
        return _show_dump(recording, json, console)
    _check_recording(recording)
    with open_replay(recording) as opened:
        found = opened.source
        done: dict[str, Any] = {"recording": str(recording), "duration": opened.length}
        code, drawn = 0, []
        if isinstance(found, Recording):
            done["duration"] = found.duration
            done["complete"] = found.complete
            done["events"] = [{"time": e.time, "event": e.name, **e.values} for e in found.events]
            if files.export is not None:
                done["export"] = _export(found, files.export, overwrite=files.overwrite)
            drawn, code = _make(found, files.figures, show, console, json, done)
            code = _compare(found, files.compare, done) or code
            code = _show_robot(found, show, console, json, done) or code
        else:
            for option in given:
                raise PliantError(
                    f"{option} is for recordings of pliant, and this file is a bag; `pliant export bag` converts bags",
                    file=recording,
                    field=option.lstrip("-"),
                )
            done["complete"] = not found.fault
            done["topics"] = [_topic_row(topic, found.duration) for topic in found.topics]
        if not json:
            _show(opened, console)
        if publish.plays:
            played = _play(opened, publish, console, json)
            done.update(played)
            code = code or (130 if played["interrupted"] else 0)
    if json:
        emit(done)
    else:
        _print_end(recording, done, drawn, console)
    return code


def _print_end(recording: Path, done: dict[str, Any], drawn: Sequence[str], console: Console) -> None:
    """Print the duration, the files, the end of the replay and the differences."""
    state = "" if done["complete"] else " (incomplete: the recording was cut off; everything written before is there)"
    console.print(f"{recording}: {done['duration']:g} s{state}", soft_wrap=True)
    written = {key: f"{key}: {done[key]}" for key in ("export", "html", "published") if key in done}
    for line in (*filter(None, [written.pop("export", "")]), *drawn, *written.values()):
        console.print(line, soft_wrap=True)
    if done.get("interrupted"):
        console.print(f"[yellow]interrupted[/yellow] at {done['at']:g} s")
    if "differences" in done:
        _show_differences(done["differences"], console)


def _export(found: Recording, path: Path, *, overwrite: bool) -> str:
    """Export a recording; return the file."""
    from pliant.recording import export

    return str(export(found, path.suffix.lstrip("."), path, overwrite=overwrite))


def _compare(found: Recording, other: Path | None, done: dict[str, object]) -> int:
    """Compare a recording with another one; return the exit code."""
    if other is None:
        return 0
    from pliant.recording import compare

    differences = compare(found, other)
    done["differences"] = [asdict(d) for d in differences]
    return 3 if differences else 0


def _make(
    found: Recording,
    asked: Figures | Outputs,
    show: ShowOptions,
    console: Console,
    quiet: bool,
    done: dict[str, object],
) -> tuple[list[str], int]:
    """Make files of a recording; return what is printed of them, and the exit code."""
    lines, code = [], 0
    for name, options in asked_files(asked).items():
        with Bar(console, options.label, options.parts, shown=not quiet) as bar:
            outcome, missing = options.replay(found, functools.partial(show.model, found), bar)
        say_missing(missing, f"in the {options.label}", console)
        done[name] = outcome.as_dict()
        lines += filter(None, [outcome.line()])
        if outcome.fault:
            say_error(PliantError(outcome.fault, file=options.file, field=name))
            code = 1
    return lines, code


def _show_robot(found: Recording, show: ShowOptions, console: Console, quiet: bool, done: dict[str, object]) -> int:
    """Film a recording, write it as a page, and show it in the browser; return the exit code."""
    lines, code = _make(found, show.outputs, show, console, quiet, done)
    for line in lines:
        console.print(line, soft_wrap=True)
    if show.html is not None:
        _page(found, show.html, show.model(found), console, done)
    if show.view:
        _view(found, (show.view_host, show.view_port or 0), show.model(found), console)
    return code


def _show_differences(rows: list[dict[str, Any]], console: Console) -> None:
    """Print the fields in which two recordings differ."""
    from rich.table import Table

    if not rows:
        console.print("identical")
        return
    table = Table(box=None)
    for name in ("signal", "samples", "largest difference", "at s", "only in one"):
        table.add_column(name, justify="left" if name == "signal" else "right")
    for row in rows:
        values = (number(row["largest"], infinities=True), number(row["at"]))
        table.add_row(plain(row["name"]), str(row["samples"]), *values, f"{row['missing'] or ''}")
    print_table(console, table)
    console.print(f"{len(rows)} signals differ")


def _check_recording(path: Path) -> None:
    """Refuse what is no recording, in the words of the user."""
    from pliant.recording.foreign import foreign_suffixes

    if not path.exists():
        folder = path.absolute().parent
        names = (
            [p.name for p in folder.iterdir() if p.suffix in (".mcap", *foreign_suffixes())] if folder.is_dir() else []
        )
        raise RecordingError(
            f"there is no such recording{f'; {nearest(path.name, names)}' if names else ''}", file=path
        )
    if path.suffix.lower() in (".urdf", ".xml", ".mjcf", ".sdf", ".yaml"):
        raise RecordingError("this is the file of a robot and not a recording; `pliant run` simulates it", file=path)


def _page(found: Recording, path: Path, model: mujoco.MjModel, console: Console, done: dict[str, object]) -> None:
    """Write a recording as a page that plays by itself."""
    from pliant.recording.recorded_motion import recorded_motion
    from pliant.simulation.viewer import find_viewer

    viewer = find_viewer("--html")
    motion, missing = recorded_motion(found, model, viewer.period(found.duration))
    viewer.write(path, motion, found.path.name)
    say_missing(missing, "on the page", console)
    done["html"] = str(path)


def _view(found: Recording, place: tuple[str, int], model: mujoco.MjModel, console: Console) -> None:
    """Show a recording on a page until Ctrl-C."""
    from pliant.simulation.viewer import find_viewer

    viewer = find_viewer("--view")
    viewer.recording(found, model, place, lambda missing: say_missing(missing, "on the page", console))


def _play(opened: Replay, publish: PublishOptions, console: Console, quiet: bool) -> dict[str, Any]:
    """Publish a recording until its end or Ctrl-C; print and return what was served."""
    wires: list[Bridge] = [make_bridge(name, opened) for name in publish.bridge]
    said = False
    served: dict[str, list[TopicReport]] = {}
    health: dict[str, Any] = {}

    def note() -> None:
        for wire in wires:
            health[wire.name] = dict(wire.health())
            if rows := list(wire.report()):
                served[wire.name] = rows

    def say_where() -> None:
        nonlocal said
        if not said:
            said = True
            _say_where(wires, opened, console)

    def heard() -> bool:
        say_where()
        rows = [row for wire in wires for row in wire.report()]
        return all(row["peers"] for row in rows if row["direction"] == "out" and row["topic"] != "/rosout")

    start = publish.start or 0.0
    length = opened.length - start
    length = length if publish.duration is None else min(length, publish.duration)
    count, interrupted = 0, False
    playing = opened.play(
        wires,
        speed=(1.0 if wires else math.inf) if publish.speed is None else publish.speed,
        start=start,
        duration=publish.duration,
        loop=publish.loop,
        delay=publish.delay or 0.0,
        ready=heard if publish.wait else None,
        before_stop=note,
    )
    began = time.perf_counter()
    try:
        with Bar(console, "replaying", "s", shown=not quiet) as bar:
            for _ in playing:
                say_where()
                count += 1
                if not count % 50:
                    bar(
                        opened.position - start,
                        length,
                        f"{count / max(time.perf_counter() - began, 1e-9):.0f} samples per second",
                    )
    except KeyboardInterrupt:
        interrupted = not publish.loop  # a loop has no end, so Ctrl-C is the normal way to end it
    finally:
        playing.close()
    if not quiet:
        for name, rows in served.items():
            say_served(console, name, rows, health.get(name, {}))
    return {
        "published": count,
        "interrupted": interrupted,
        "at": opened.position,
        "not_published": opened.unserved if wires else [],
        "served": served,
        "health": health,
    }


def _say_where(wires: Sequence[Bridge], opened: Replay, console: Console) -> None:
    """Print the addresses, and which topics of a bag are not published."""
    for wire in wires:
        say_where(console, wire)
    if wires and opened.unserved:
        text = ", ".join(opened.unserved)
        console.print(
            f"[yellow]note[/yellow] not published, because their types are unknown: {plain(text)}", soft_wrap=True
        )


def _show(opened: Any, console: Console) -> None:
    """Print a table of the signals of a recording, or of the topics of a bag."""
    import numpy as np
    from rich.table import Table

    from pliant.recording.recording import Recording

    found = opened.source
    table = Table(box=None)
    if not isinstance(found, Recording):
        for name in ("topic", "type", "messages", "Hz"):
            table.add_column(name, justify="left" if name in ("topic", "type") else "right")
        for topic in found.topics:
            row = _topic_row(topic, found.duration)
            table.add_row(plain(row["topic"]), plain(row["type"]), str(row["messages"]), number(row["rate"]))
        print_table(console, table)
        return
    for name in ("signal", "samples", "min", "max", "last"):
        table.add_column(name, justify="left" if name == "signal" else "right")
    for name in found:
        values = np.asarray(found[name], dtype=float)
        finite = values[np.isfinite(values)]
        if name.endswith("time") or not finite.size:
            continue
        last = values[-1] if values.ndim == 1 else values[-1][0]
        table.add_row(plain(name), str(len(values)), *(number(float(v)) for v in (finite.min(), finite.max(), last)))
    print_table(console, table)
    events = [event for event in found.events if event.name != "contacts"]
    for event in events[:MAX_EVENTS]:
        console.print(plain(str(event)), soft_wrap=True)
    if len(events) > MAX_EVENTS:
        console.print(f"... ({len(events)} events in all; --json lists them)")


def _topic_row(topic: Any, duration: float) -> dict[str, Any]:
    rate = (topic.count - 1) / duration if topic.count > 1 and duration > 0.0 else math.nan
    return {"topic": topic.name, "type": topic.type, "messages": topic.count, "rate": rate}


def _show_dump(path: Path, as_json: bool, console: Console) -> int:
    data = read_npz(path, PliantError)
    missing = [name for name in ("joints", "qvel", "qpos", "time") if name not in data]
    if missing:
        raise PliantError(f"not a dump of a diverged simulation: it has no array {missing[0]!r}", file=path)
    joints, qvel, qpos, times = (data[name] for name in ("joints", "qvel", "qpos", "time"))
    shapes = [(*times.shape, len(joints)) if joints.ndim else (), (*times.shape, *qpos.shape[1:])]
    if times.ndim != 1 or not len(times) or joints.ndim != 1 or shapes != [qvel.shape, qpos.shape] or qpos.ndim != 2:
        raise PliantError("not a dump of a diverged simulation: its arrays do not fit together", file=path)
    if any(array.dtype.kind != "f" for array in (times, qvel, qpos)):
        raise PliantError("not a dump of a diverged simulation: its arrays are not numbers", file=path)
    if as_json:
        emit({name: values for name, values in data.items() if name != "states"})
        return 0
    from rich.table import Table

    table = Table(title="last states before the simulation diverged", title_justify="left", box=None)
    for name in ("t \\[s]", *(f"{j} velocity" for j in joints)):
        table.add_column(name, justify="right")
    for i in sorted({*range(0, len(times), max(1, len(times) // 15)), len(times) - 1}):
        table.add_row(f"{times[i]:.6g}", *(number(float(v)) for v in qvel[i]))
    console.print(table)
    console.print(f"{path}: {len(times)} states, {qpos.shape[1]} positions each")
    return 0
