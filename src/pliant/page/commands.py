"""`pliant view`: show a robot in the browser."""

from __future__ import annotations

import contextlib
import gc
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.base.errors import DivergedError, ModelError, PliantError
from pliant.cli.console import listening
from pliant.cli.options import (
    NO_SETTINGS,
    VIEW_HOST,
    Debug,
    RobotOptions,
    Source,
    import_modules,
    load_robot,
)
from pliant.events.options import ScenarioOption

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pliant.events import Scenario
    from pliant.model import Robot
    from pliant.page import PageServer
    from pliant.page.choice import RobotChoice
    from pliant.page.loaded import LoadedRobots, OpenedRecording

LEAST_RUN = 1.0
"""A simulation that diverges twice before this time, on a page that nobody used, does so by itself [s]."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """The page of `pliant view`.

    Raises:
        PliantError: options that have no effect beside each other, or a folder without a report.
    """

    view_port: int | None = None
    """Port of the page; default, or with 0, the first free one from 8080."""
    view_host: str = VIEW_HOST
    """Address of this machine to serve the page on; it has no password."""
    open_browser: Annotated[bool, Parameter(name="--open", negative=())] = False
    """Open the page in a browser."""
    report: Path | None = None
    """Folder of a report of `pliant reproduce` that the page links to."""
    tour: Annotated[bool, Parameter(negative=())] = False
    """Begin with a guided first minute: pull the arm, soft and stiff."""
    scenario: ScenarioOption = None
    statics: Annotated[bool, Parameter(negative=())] = False
    """For a parallel robot: only its statics, without simulation."""
    console: Annotated[bool, Parameter(negative=())] = False
    """Read requests from standard input, one per line: [DEVICE.]REQUEST [on|off] [NAME=VALUE ...], such as
    press.press force=500."""

    def __post_init__(self) -> None:
        for name in ("console", "report", "tour", "scenario"):
            if self.statics and getattr(self, name):
                raise PliantError(f"--{name} is for a simulation; omit it, or omit --statics", field=name)
        if self.report is not None and not (self.report / "index.html").is_file():  # loading may take long
            message = f"--report {self.report}: there is no report in this folder (index.html)"
            raise PliantError(message, field="report")

    def tell(self, url: str) -> None:
        """Say where the page is, and open it in a browser if that is asked for."""
        _say(f"view: {url} (Ctrl-C ends)")
        if self.open_browser:
            from pliant.page.server import open_browser

            if not open_browser(url):
                _say("no browser can be opened here; open the address above in one")


DEFAULTS = ViewOptions()


def view(
    source: Source, *, options: RobotOptions = NO_SETTINGS, page: ViewOptions = DEFAULTS, debug: Debug = False
) -> int:
    """Show a robot in the browser until Ctrl-C.

    It is simulated in real time and moved on the page; the page can switch to another catalogue robot, and opens
    robots and recordings that are dropped on it.

    For a parallel robot the page also solves its statics: joints, pose, wrench, controlled degrees of freedom,
    stability, saved poses, paths and files.

    Examples:
        pliant view qbmove-5dof
        pliant view robot.urdf --open
    """
    import_modules(options.import_)
    settings = options.set or _view_settings(source)
    robot = load_robot(source, settings, None, options.package_path)
    if page.statics:
        _show_statics(robot, page)
    else:
        _simulate(robot, source, page, _command(source, settings, options.package_path))
    _say("view: ended")
    return 0


def _show_statics(robot: Robot, page: ViewOptions) -> None:
    from pliant.page.panels import robot_panels

    for panel in robot_panels():
        if panel.statics is not None and panel.statics(
            robot, host=page.view_host, port=page.view_port or 0, tell=page.tell
        ):
            return
    raise PliantError("--statics is for parallel robots; omit it", field="statics")


def _simulate(robot: Robot, source: str, page: ViewOptions, command: str) -> None:
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.events import find_scenario, read_scenario_file
    from pliant.page import PageServer
    from pliant.page.loaded import LoadedRobots
    from pliant.robots import list_robots

    if page.console and not any(device.requests for device in make_devices(robot)):
        raise PliantError("--console: this robot has no requests to type; omit it", field="console")
    if page.tour:
        from pliant.page.tour import check_tour

        check_tour({device.name: device for device in make_devices(robot)})
    given = {}
    if page.scenario is not None:
        devices, engine = {device.name: device for device in make_devices(robot)}, MujocoEngine(robot, check=False)
        chosen = read_scenario_file(page.scenario) or find_scenario(page.scenario, devices, engine)
        chosen.check(devices, engine)
        given[Path(page.scenario).name] = chosen
    loaded = LoadedRobots([entry.name for entry in list_robots()])
    folders = {} if page.report is None else {"report": page.report}
    title = source if source in loaded.names else robot.name or source
    with (
        contextlib.suppress(KeyboardInterrupt),
        PageServer(host=page.view_host, port=page.view_port or 0, title=title, folders=folders) as server,
    ):
        page.tell(server.url)
        show_robots(server, robot, title, loaded, page, given, command)


def show_robots(
    server: PageServer,
    robot: Robot,
    title: str,
    loaded: LoadedRobots,
    page: ViewOptions = DEFAULTS,
    scenarios: Mapping[str, Scenario] | None = None,
    command: str = "",
) -> None:
    """Show one robot after another, as they are chosen on the page, until Ctrl-C or `Simulation.stop`.

    A simulation that diverges begins anew, and the page says what happened; one that diverges again at once ends.

    Args:
        server: the page's server.
        robot: the first robot.
        title: its name on the page.
        loaded: robots to choose from.
        page: whether it begins with the tour, has a report, and reads requests from standard input.
        scenarios: scenarios of the first robot, by name.
        command: command line that recordings name the first robot by.

    Raises:
        DivergedError: the simulation diverges twice, each time within `LEAST_RUN` on a page that nobody used.
    """
    from pliant.page.loaded import OpenedRecording

    early = False
    shown: Robot | OpenedRecording = robot
    while True:
        gc.collect()  # a run sets aside what is there before it: without this, also the run before
        used = server.uses
        try:
            if isinstance(shown, OpenedRecording):
                choice = _play(shown, server, loaded)
            else:
                choice = _show(shown, title, server, loaded, page, scenarios or {}, command)
        except DivergedError as error:
            short = error.time is not None and error.time < LEAST_RUN
            short = short and server.uses == used  # nobody did it
            if early and short:
                raise
            early = short
            server.notify("The simulation diverged and began anew", str(error)[:600])
            _say(str(error))
            continue
        early, page = False, replace(page, tour=False)
        wanted, opened = choice.wanted, choice.opened
        del choice  # it holds the page, whose engine goes before the next one comes
        if not wanted:
            return
        loaded.add(opened)
        scenarios = None  # they belong to the first robot
        try:
            shown, title = _load(wanted, loaded), wanted
            command = (
                "" if wanted in loaded.robots else _command(wanted, _view_settings(wanted))
            )  # a file of the browser has no path
        except PliantError as error:
            server.notify(f"{wanted} cannot be shown", str(error)[:600])


def _view_settings(source: str) -> Sequence[str]:
    """Return the settings that a robot of the catalogue declares for the page; none for a file."""
    from pliant.robots import find_robot

    try:
        return find_robot(source).view_settings
    except ModelError:
        return ()


def _command(source: str, settings: Sequence[str] = (), packages: Sequence[Path] = ()) -> str:
    """Return the command line that recordings name their robot by."""
    import shlex

    words = ["pliant", "view", source]
    for option, values in (("--set", settings), ("--package-path", packages)):
        for value in values:
            words += [option, str(value)]
    return shlex.join(words)


def _load(wanted: str, loaded: LoadedRobots) -> Robot | OpenedRecording:
    from pliant.page.panels import OpenedRobot

    found = loaded.robots.get(wanted)
    if found is None:
        return load_robot(wanted, _view_settings(wanted), None, ())
    if isinstance(found, OpenedRobot):
        return found.build()
    found.check()
    return found


def _choice(loaded: LoadedRobots) -> RobotChoice:
    """Return what a page offers beside what it shows."""
    from pliant.page.choice import RobotChoice

    return RobotChoice(loaded.names, replaceable=list(loaded.robots))


def _play(recording: OpenedRecording, server: PageServer, loaded: LoadedRobots) -> RobotChoice:
    """Play a recording until another robot is chosen; return the choice."""
    from pliant.page.replay import ReplayView

    choice = _choice(loaded)
    server.rename(recording.name)
    ReplayView(*recording.open(), server, choice=choice).run()
    server.clear()
    return choice


def _show(
    robot: Robot,
    title: str,
    server: PageServer,
    loaded: LoadedRobots,
    options: ViewOptions,
    scenarios: Mapping[str, Scenario],
    command: str,
) -> RobotChoice:
    """Simulate one robot; return what was chosen next."""
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.page import PageView
    from pliant.recording.recording import recorded_names
    from pliant.simulation import Simulation, paced

    devices = make_devices(robot)
    engine = MujocoEngine(robot, check=False)
    choice = _choice(loaded)
    page = PageView(
        engine,
        title=title,
        server=server,
        choice=choice,
        report=options.report,
        needed=True,
        begin="tour" if options.tour else "opening",
        metadata={"command_line": command, "interface": recorded_names(robot.interface)},
    )
    for name, scenario in scenarios.items():
        page.offer(name, scenario)
    with Simulation(engine, devices, [page], pacer=paced(1.0)) as simulation, contextlib.ExitStack() as stack:
        try:
            simulation.start()
            if options.console:
                stack.enter_context(listening(simulation, sys.stdin, _say))
            simulation.run()
        except KeyboardInterrupt:
            choice.wanted = ""
    return choice


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
