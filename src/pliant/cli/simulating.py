"""Build a simulation from the options of `pliant run`, run it and print the report."""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pliant.base.errors import PliantError
from pliant.base.options import check_values, option
from pliant.cli.checks import refuse_unused
from pliant.cli.messages import say_error
from pliant.cli.options import VIEW_HOST, Debug, Json, make_bridge, option_name, repeated
from pliant.cli.output import plain, print_table
from pliant.cli.outputs import FILES, NO_FIGURES, NO_OUTPUTS, SHOW_OPTIONS, Figures, Outputs, asked_files
from pliant.cli.progress import Bar
from pliant.cli.termination import interrupt_main

if TYPE_CHECKING:
    from rich.console import Console

    from pliant.devices import Device
    from pliant.engine import Engine
    from pliant.model import Robot
    from pliant.simulation import Bridge, RunReport, Simulation
    from pliant.simulation.bridge import TopicReport
    from pliant.simulation.outputs import Outcome
    from pliant.simulation.pacer import Pacer

FILE_OPTIONS = ("record", *FILES)
"""Options with files; the names of options about such a file begin with its own."""
SWITCHES = ("--overwrite", "--json", "--debug")
MAX_DURATION = 1e9
"""Longest simulation [s]: time is counted in nanoseconds, in 64 bits."""
USUAL_DURATION = 5.0
"""Simulated time without --duration and without a bridge [s]."""
GRACE = 1.0
"""Time that a run has to end by itself after the first Ctrl-C [s]."""
MANY_STEPS = 1_000_000
"""Steps of a run from which on its progress names their number."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of a run of any robot; the docstrings are the help texts of the command line.

    Raises:
        PliantError: wrong values, or options that exclude each other.
    """

    duration: float | None = option(None, low=0.0, high=MAX_DURATION, unit="s")
    """Seconds to simulate, in all: a reset does not start them again; default 5, with a bridge until Ctrl-C."""
    rtf: float | None = option(None, low=0.0, above=True)
    """Simulated seconds per wall second; default: as fast as possible, 1 with a bridge that is not in lock-step."""
    record: Path | None = None
    """Write a recording (.mcap)."""
    overwrite: Annotated[bool, Parameter(negative=())] = False
    """Replace an existing recording."""
    figures: Figures = NO_FIGURES
    outputs: Outputs = NO_OUTPUTS
    contacts: Annotated[bool, Parameter(negative=())] = False
    """Draw contact forces in the film, and write them into the recording, for `pliant replay`."""
    bridge: Annotated[tuple[str, ...], repeated()] = ()
    """Serve an interface: NAME or NAME:KEY=VALUE,...; may be repeated.
    `pliant list` has the names and their options."""
    sync_timeout: float | None = option(None, low=0.0, above=True, high=threading.TIMEOUT_MAX, unit="s")
    """Longest time to wait for the answer of a bridge in lock-step [s of wall time]; default 5."""
    on_timeout: str | None = option(None, choices=("error", "halt", "hold"))
    """Reaction to a timeout: error (default) ends with an error, halt ends the run and keeps its results, hold
    continues with the last command."""
    on_dead_thread: str | None = option(None, choices=("error", "hold"))
    """Reaction to a thread of a bridge that died: error (default) ends the run with an error, hold continues without
    it. A run always continues without its page."""
    realtime: Annotated[bool, Parameter(negative=())] = False
    """Request real-time scheduling (SCHED_FIFO) for the loop; the system must permit it."""
    console: Annotated[bool, Parameter(negative=())] = False
    """Read requests from standard input, one per line: [DEVICE.]REQUEST [on|off] [NAME=VALUE ...], such as
    franka.user_stop on."""
    view: Annotated[bool, Parameter(negative=())] = False
    """Show the simulation in the browser."""
    view_port: int | None = option(None, low=0, high=65535)
    """Port of the page; default, or with 0, the first free one from 8080."""
    view_host: str = VIEW_HOST
    """Address of this machine to serve the page on; it has no password."""
    seed: int = 0
    """Seed of all randomness."""
    json: Json = False
    debug: Debug = False

    def __post_init__(self) -> None:
        check_values(self, names=option_name)
        refuse_unused(self.view_port is not None and not self.view, "--view-port", "--view")
        refuse_unused(self.view_host != VIEW_HOST and not self.view, "--view-host", "--view")
        refuse_unused(self.overwrite and self.record is None, "--overwrite", "--record")
        kept = self.record is not None or asked_files(self.outputs)
        refuse_unused(self.contacts and not kept, "--contacts", " or ".join(["--record", *SHOW_OPTIONS]))
        refuse_unused(
            self.realtime and self.rtf is None and not self.bridge and not self.view,
            "--realtime",
            "--rtf, --bridge or --view",
        )
        for name, given in (("--sync-timeout", self.sync_timeout), ("--on-timeout", self.on_timeout)):
            refuse_unused(given is not None and not self.bridge, name, "a --bridge in lock-step")
        refuse_unused(self.on_dead_thread is not None and not self.bridge, "--on-dead-thread", "--bridge")

    @property
    def output_folder(self) -> Path | None:
        """Folder of the run's recording, figure or film; None for a run that writes none."""
        files = (self.record, *(options.file for options in asked_files(self.figures, self.outputs).values()))
        written = [file for file in files if file is not None]
        return written[0].absolute().parent if written else None


DEFAULT_RUN = RunOptions()
"""A run with default options."""


class Run:
    """One simulation of the command line: bridges, recorder, pacer, progress, Ctrl-C and the report.

    Args:
        plan: options of the run.
        console: output.
        engine: physics.
        devices: devices of the robot.
        robot: robot that the bridges serve.

    Raises:
        PliantError: a bridge does not exist, or options exclude each other.
    """

    def __init__(
        self,
        plan: RunOptions,
        console: Console,
        engine: Engine,
        devices: Iterable[Device],
        robot: Robot,
    ) -> None:
        from pliant.recording import Recorder
        from pliant.recording.recording import recorded_names
        from pliant.simulation import Simulation

        devices = list(devices)
        asked = sum(len(device.requests) for device in devices)
        if plan.console and not asked:
            raise PliantError("--console: this robot has no requests to type; omit it", field="console")
        self.plan, self.console = plan, console
        self.wires: list[Bridge] = [make_bridge(name, robot) for name in plan.bridge]
        waiting = [b for b in self.wires if b.lockstep and not b.own_timeout]
        for name, given in (("--sync-timeout", plan.sync_timeout), ("--on-timeout", plan.on_timeout)):
            own = [b for b in self.wires if b.own_timeout]
            hint = f" ({own[0].name} has its own option {own[0].name}:{own[0].own_timeout}=)" if own else ""
            refuse_unused(given is not None and not waiting, name, f"a --bridge in lock-step{hint}")
        told = {"command_line": command_line(), "interface": recorded_names(robot.interface)}
        if plan.view:
            from pliant.engine import mujoco_state
            from pliant.simulation.viewer import find_viewer

            state = mujoco_state(engine, "the view")
            place = (plan.view_host, plan.view_port or 0)
            self.wires.append(find_viewer("--view").run(state, place, robot.name or "robot", told))
        pacer = _pacer_of(plan, self.wires)
        self.duration = plan.duration
        if self.duration is None and not self.wires:
            self.duration = USUAL_DURATION
        waits = not self.wires and plan.rtf is None  # a run that keeps a pace does not wait for the renderer
        self._makers = {
            name: maker
            for name, options in asked_files(plan.outputs).items()
            if (maker := options.follow(engine, contacts=plan.contacts, wait=waits)) is not None
        }
        self.outcomes: dict[str, Outcome] = {}
        """What became of films and such, by the name of the option, once the run has ended."""
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        recorder = None
        if plan.record is not None or asked_files(plan.figures):
            target = plan.record
            if target is None:
                import tempfile

                self._scratch = tempfile.TemporaryDirectory()
                target = Path(self._scratch.name) / "run.mcap"
            recorder = Recorder(target, overwrite=plan.overwrite, metadata=told, contacts=plan.contacts)
        self.recorder = recorder
        try:
            self.simulation = Simulation(
                engine,
                devices,
                [*self.wires, *self._makers.values()],
                pacer=pacer,
                recorder=recorder,
                seed=plan.seed,
                sync_timeout=5.0 if plan.sync_timeout is None else plan.sync_timeout,
                on_timeout=plan.on_timeout or "error",
                on_dead_thread=plan.on_dead_thread or "error",
            )
        except BaseException:
            if recorder is not None:
                recorder.close()  # nothing was recorded: no file is left, and an old one is unchanged
            if self._scratch is not None:
                self._scratch.cleanup()
            raise
        self.report: RunReport | None = None
        """Report of the loop; None if it did not end by itself."""
        self.interrupted = False
        """Whether Ctrl-C ended a run that has a duration."""
        self.health: dict[str, Any] = {}
        self.served: dict[str, list[TopicReport]] = {}
        self._fault: PliantError | None = None

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self.simulation.close()
        except PliantError:
            if kind is None:
                raise
        finally:
            self._draw()

    def start(self) -> None:
        """Open the recording and the bridges."""
        self.simulation.start()
        for maker in self._makers.values():
            for note in maker.notes:
                self.console.print(f"[yellow]note[/yellow] {plain(note)}", soft_wrap=True)

    def _say_where(self) -> None:
        for wire in self.wires:
            say_where(self.console, wire)
            if wire.awaited:
                topics = plain(" and ".join(wire.awaited))
                text = f"{wire.name}: waits for the first message on {topics}, without a time limit"
                self.console.print(text, soft_wrap=True)

    def go(self) -> None:
        """Print the addresses and simulate until the end or Ctrl-C; in both cases the results are available afterwards.

        Whoever has read an address may end the run: the signal that follows is the normal one already.
        """
        from pliant.simulation.realtime import realtime

        pressed = False
        try:
            with _Interrupt(self.simulation) as interrupt, contextlib.ExitStack() as stack:
                self._say_where()
                if self.plan.realtime:
                    stack.enter_context(realtime())
                steps = round((self.duration or 0.0) * 1e9 / self.simulation.dt_ns)
                label = f"simulating {steps:,} steps" if steps >= MANY_STEPS else "simulating"
                bar = stack.enter_context(Bar(self.console, label, "s", shown=not self.plan.json))
                if self.plan.console:
                    stack.enter_context(self._listen())
                self.report = self.simulation.run(
                    self.duration,
                    lambda p: bar(p.done, p.total, f"{p.done / max(p.wall, 1e-9):.3g} x real time"),
                )
            pressed = interrupt.pressed
        except KeyboardInterrupt:  # the loop did not return by itself
            pressed = True
        self._finish_outputs()
        # Ctrl-C is the normal end of a run without a duration.
        self.interrupted = pressed and self.duration is not None
        self.health = self.simulation.health()
        self.served = {wire.name: rows for wire in self.wires if (rows := list(wire.report()))}

    def _finish_outputs(self) -> None:
        """Make what is left of films and such, with a progress bar."""
        for name, options in asked_files(self.plan.outputs).items():
            with Bar(self.console, options.label, options.parts, shown=not self.plan.json) as bar:
                outcome = self.outcomes[name] = self._makers[name].finish(bar)
            if outcome.fault:
                self._fault = PliantError(outcome.fault, file=options.file, field=name)

    @contextlib.contextmanager
    def _listen(self) -> Iterator[None]:
        """Take requests from standard input while the block runs."""
        from pliant.cli.console import listening

        with listening(self.simulation, sys.stdin, lambda text: self.console.print(plain(text), soft_wrap=True)):
            yield

    @property
    def achieved_rtf(self) -> float | None:
        """Simulated time over wall time, None if unknown."""
        return None if self.report is None else self.report.achieved_rtf

    @property
    def simulated(self) -> float:
        """Simulated time of all steps [s]; unlike the time of the simulation, no reset sets it back."""
        return self.simulation.steps * self.simulation.dt_ns / 1e9

    @property
    def halted(self) -> str:
        """Why the run ended early; "" if it did not, or if Ctrl-C ended it."""
        return "" if self.simulation.halted == "stopped" else self.simulation.halted

    def as_dict(self) -> dict[str, object]:
        """Return the entries that every JSON object of a run has."""
        plan = self.plan
        return {
            "time": self.simulated,
            "steps": self.simulation.steps,
            "rtf": self.achieved_rtf,
            "interrupted": self.interrupted,
            "halted": self.halted,
            "recording": None if plan.record is None else str(plan.record),
            **{name: self.outcomes[name].as_dict() if name in self.outcomes else None for name in FILES},
            "fault": None if self._fault is None else str(self._fault),
            "health": self.health,
            "served": self.served,
        }

    def say_served(self) -> None:
        """Print one table per bridge: topics, rates, peers."""
        for name, rows in self.served.items():
            say_served(self.console, name, rows, self.health["bridges"].get(name, {}))

    def say_end(self) -> None:
        """Print the duration, the reason of an early end, and the files."""
        rtf = self.achieved_rtf
        speed = "" if rtf is None or not math.isfinite(rtf) else f", {rtf:.3g} x real time"
        self.console.print(f"{self.simulation.steps} steps, {self.simulated:g} s simulated{speed}")
        if self.halted:
            self.console.print(f"[yellow]halted[/yellow] {plain(self.halted)}", soft_wrap=True)
        if self.interrupted:
            self.console.print(
                f"[yellow]interrupted[/yellow] at {self.simulated:g} of {self.duration:g} s; "
                "the results up to this time are kept"
            )
        if self.plan.record is not None:
            self.console.print(f"recording: {self.plan.record}", soft_wrap=True)
        for line in filter(None, (self.outcomes[name].line() for name in FILES if name in self.outcomes)):
            self.console.print(line, soft_wrap=True)

    def conclude(self) -> int:
        """Return the exit code of a run with results; print an error that occurred after it."""
        if self._fault is not None:
            say_error(self._fault)
            return 1
        return 130 if self.interrupted else 0

    def _draw(self) -> None:
        """Make the figures of the recorded samples."""
        asked = asked_files(self.plan.figures)
        try:
            if asked and self.recorder is not None and self.recorder.path.exists():
                from pliant.engine import mujoco_state
                from pliant.recording import read_recording

                found, engine = read_recording(self.recorder.path), self.simulation.engine
                for name, options in asked.items():
                    with Bar(self.console, options.label, options.parts, shown=not self.plan.json) as bar:
                        self.outcomes[name], _ = options.replay(
                            found, lambda: mujoco_state(engine, "the figure").model, bar
                        )
        except PliantError as error:  # print the results first
            self._fault = self._fault or error
        finally:
            if self._scratch is not None:
                self._scratch.cleanup()


def _pacer_of(plan: RunOptions, wires: Sequence[Bridge]) -> Pacer:
    """Return the pacer of a run: that of a lock-step bridge, the asked real-time factor, or none.

    Raises:
        PliantError: --rtf is given with a bridge in lock-step.
    """
    from pliant.simulation import free, paced, sync

    if any(wire.lockstep for wire in wires):
        if plan.rtf is not None:
            raise PliantError(
                "--rtf cannot be used with a bridge in lock-step, which sets the pace; omit it", field="rtf"
            )
        return sync()
    if plan.rtf is not None or any(wire.paced for wire in wires):
        return paced(1.0 if plan.rtf is None else plan.rtf)
    return free()


class _Interrupt:
    """End the run after the current step at the first Ctrl-C, and at once at the second or after 1 s.

    The deadline ends the wait of a lock-step bridge for its client, which may have no limit.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._old: Any = None
        self._timer: threading.Timer | None = None
        self.pressed = False

    def __enter__(self) -> _Interrupt:
        if threading.current_thread() is threading.main_thread():
            self._old = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._old is None:
            return
        try:
            if self._timer is not None:
                self._timer.cancel()
                self._timer.join()
        finally:
            signal.signal(signal.SIGINT, self._old)

    def _handle(self, *_: object) -> None:
        self.pressed = True
        self._simulation.stop()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._timer = threading.Timer(GRACE, interrupt_main)
        self._timer.name = "pliant-interrupt"
        self._timer.daemon = True
        self._timer.start()


def command_line() -> str:
    """Return the command line without options that do not change the recorded run, so that equal runs record equally.

    These are the names of output files, ``--overwrite`` and the form of the printed report.
    """
    import shlex

    words = []
    skip = False
    for word in sys.argv[1:]:
        if skip or (word.startswith("--") and word[2:].split("=")[0].split("-")[0] in FILE_OPTIONS):
            skip = not skip and "=" not in word
        elif word not in SWITCHES:
            words.append(word)
    return shlex.join(["pliant", *words])


def say_where(console: Console, wire: Bridge) -> None:
    """Print the addresses of a bridge and what it says of itself.

    Args:
        console: output.
        wire: the started bridge.
    """
    for who, where in wire.addresses.items():
        console.print(f"{wire.name}: {plain(who)} at {plain(where)} (Ctrl-C ends)", soft_wrap=True)
    for note in wire.notes:
        console.print(f"{wire.name}: {plain(note)}", soft_wrap=True)


def say_served(console: Console, name: str, rows: Sequence[TopicReport], health: Mapping[str, object]) -> None:
    """Print the topics of a bridge with their peers and rates.

    Args:
        console: output.
        name: name of the bridge.
        rows: its report, one row per topic.
        health: its counters.
    """
    from rich.table import Table

    console.print(
        f"{name}: {health.get('dropped', 0)} dropped, {health.get('rejected', 0)} refused, "
        f"{health.get('loop_us_per_step', 0.0):.0f} us per step",
        soft_wrap=True,
    )
    used = [row for row in rows if row["count"] or row["peers"]]
    if used:
        table = Table(box=None)
        for column in ("topic", "type", "", "messages", "Hz", "peers"):
            right = column in ("messages", "Hz")
            table.add_column(column, justify="right" if right else "left", no_wrap=right or not column)
        for row in used:
            peers = ", ".join(row["peers"])
            table.add_row(
                plain(row["topic"]), plain(row["type"]), row["direction"], str(row["count"]), f"{row['rate']:.1f}",
                plain(peers),
            )  # fmt: skip
        print_table(console, table)
    if len(used) < len(rows):
        console.print(f" {len(rows) - len(used)}{' more' if used else ''} topics without messages and peers")
