"""`pliant view`: show a robot in the browser."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.cli.console import listening
from pliant.cli.options import Debug, Imports, Packages, Settings, Source, import_modules, load_robot
from pliant.errors import PliantError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pliant.model import Robot
    from pliant.simulation import Scenario
    from pliant.viewer import PageServer

__all__ = ["view"]


def view(
    source: Source,
    *,
    set: Settings = [],
    port: Annotated[
        int | None,
        Parameter(help="Port of the page; 0, the default: the first free one from 8080; with --statics 8090."),
    ] = None,
    host: Annotated[
        str, Parameter(help="Address of this machine to serve on; the page has no password.")
    ] = "127.0.0.1",
    open_browser: Annotated[bool, Parameter(name="--open", negative=(), help="Open the page in a browser.")] = False,
    report: Annotated[
        Path | None, Parameter(help="Folder of a report of `pliant reproduce` that the page links to.")
    ] = None,
    scenario: Annotated[Path | None, Parameter(help="Events over time (YAML or JSON) that the page offers.")] = None,
    statics: Annotated[
        bool, Parameter(negative=(), help="For a parallel robot: the page of its statics only, without simulation.")
    ] = False,
    console: Annotated[
        bool,
        Parameter(
            negative=(),
            help="Read requests from standard input, one per line: [DEVICE.]REQUEST [on|off] [NAME=VALUE ...], such as "
            "press.press force=500.",
        ),
    ] = False,
    package_path: Packages = [],
    import_: Imports = [],
    debug: Debug = False,
) -> int:
    """Show a robot in the browser until Ctrl-C.

    It is simulated in real time and moved on the page; the page can switch to another catalogue robot. For a
    parallel robot the page also solves its statics: joints, pose, wrench, controlled degrees of freedom, stability,
    saved configurations and a path.
    """
    import_modules(import_)
    robot = load_robot(source, set, None, package_path)
    from pliant.model.parallel import find_mechanism

    mechanism = find_mechanism(robot)
    if statics and mechanism is None:
        raise PliantError("--statics is for parallel robots; omit it", field="statics")
    if mechanism is None or not statics:
        return _simulate(robot, source, port, host, open_browser, console, report, scenario)
    if scenario is not None:
        raise PliantError("--scenario: the page of the statics simulates nothing; omit it", field="scenario")
    if console:
        raise PliantError("--console: the page of the statics takes no requests; omit it", field="console")
    from pliant.viewer.cpr import ParallelView

    with ParallelView(mechanism.solution.robot, port=8090 if port is None else port, host=host) as page:
        _tell(page.url, open_browser)
        try:
            page.wait()
        except KeyboardInterrupt:
            return 0
    return 0


def _simulate(
    robot: Robot,
    source: str,
    port: int | None,
    host: str,
    open_browser: bool,
    console: bool,
    report: Path | None,
    scenario: Path | None,
) -> int:
    from pliant.devices import make_devices
    from pliant.robots import list_robots
    from pliant.simulation import read_scenario
    from pliant.viewer import PageServer

    if report is not None and not (report / "index.html").is_file():
        raise PliantError(f"--report {report}: there is no report in this folder (index.html)", field="report")
    if console and not any(device.requests for device in make_devices(robot)):
        raise PliantError("--console: this robot has no requests to type; omit it", field="console")
    given = {}
    if scenario is not None:
        given[scenario.name] = read_scenario(scenario)
        given[scenario.name].check({device.name: device for device in make_devices(robot)})
    names = [entry.name for entry in list_robots()]
    folders = {} if report is None else {"report": report}
    title = robot.name or source
    with PageServer(host=host, port=port or 0, title=title, folders=folders) as server:
        _tell(server.url, open_browser)
        while True:
            wanted = _show(robot, title, server, names, console, report, given)
            if not wanted:
                return 0
            given = {}  # it belongs to the first robot
            try:
                robot, title = load_robot(wanted, [], None, []), wanted
            except PliantError as error:
                server.notify(f"{wanted} cannot be shown", str(error)[:600])


def _show(
    robot: Robot,
    title: str,
    server: PageServer,
    names: list[str],
    console: bool,
    report: Path | None,
    scenarios: Mapping[str, Scenario],
) -> str:
    """Simulate one robot; return the name of the next one, "" at the end."""
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.simulation import Simulation, paced
    from pliant.viewer import PageView

    devices = make_devices(robot)
    engine = MujocoEngine(robot, check=False)
    page = PageView(engine, title=title, server=server, robots=names, report=report, needed=True)
    for name, scenario in scenarios.items():
        page.offer(name, scenario)
    with Simulation(engine, devices, [page], pacer=paced(1.0)) as simulation, contextlib.ExitStack() as stack:
        try:
            simulation.start()
            if console:
                stack.enter_context(listening(simulation, sys.stdin, _say))
            simulation.run()
        except KeyboardInterrupt:
            return ""
    return page.wanted


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _tell(url: str, open_browser: bool) -> None:
    print(f"view: {url} (Ctrl-C ends)", file=sys.stderr, flush=True)
    if open_browser:
        from pliant.viewer.server import open_browser as show

        if not show(url):
            _say("no browser can be opened here; open the address above in one")
