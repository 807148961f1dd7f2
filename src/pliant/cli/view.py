"""`pliant view`: show a robot in the browser."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.cli.console import listening
from pliant.cli.options import Debug, Imports, Packages, Settings, import_modules, load_robot
from pliant.errors import PliantError

if TYPE_CHECKING:
    from pliant.model import Robot

__all__ = ["view"]


def view(
    source: str,
    *,
    set: Settings = [],
    port: Annotated[
        int | None, Parameter(help="Port of the page, 0 for a free one; default 8080, for a parallel robot 8090.")
    ] = None,
    host: Annotated[
        str, Parameter(help="Address of this machine to serve on; the page has no password.")
    ] = "127.0.0.1",
    open_browser: Annotated[bool, Parameter(name="--open", negative=(), help="Open the page in a browser.")] = False,
    console: Annotated[
        bool,
        Parameter(
            negative=(),
            help="Take requests from standard input, one a line: [DEVICE.]REQUEST [on|off] [NAME=VALUE ...], such as "
            "press.press force=500.",
        ),
    ] = False,
    package_path: Packages = [],
    import_: Imports = [],
    debug: Debug = False,
) -> int:
    """Show a robot in the browser until Ctrl-C.

    A robot with joints and motors is simulated in real time. A parallel robot is moved by hand, and its statics are
    solved; the page has joints, pose, wrench, controlled degrees of freedom and saved configurations, and can switch to
    another parallel robot.
    """
    import_modules(import_)
    robot = load_robot(source, set, None, package_path)
    from pliant.model.parallel import find_mechanism

    mechanism = find_mechanism(robot)
    if mechanism is None:
        return _simulate(robot, port, host, open_browser, console)
    if console:
        raise PliantError("--console: a parallel robot is moved on its page; omit it", field="console")
    from pliant.viewer.cpr import ParallelView

    with ParallelView(mechanism.solution.robot, port=8090 if port is None else port, host=host) as page:
        _tell(page.url, open_browser)
        try:
            page.wait()
        except KeyboardInterrupt:
            return 0
    return 0


def _simulate(robot: Robot, port: int | None, host: str, open_browser: bool, console: bool) -> int:
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.simulation import Simulation, paced
    from pliant.viewer import PageView

    devices = make_devices(robot)
    if console and not any(device.requests for device in devices):
        raise PliantError("--console: this robot has no requests to type; omit it", field="console")
    engine = MujocoEngine(robot)
    page = PageView(engine, port=port or 0, host=host, open_browser=open_browser, title=robot.name or "robot")
    with Simulation(engine, devices, [page], pacer=paced(1.0)) as simulation, contextlib.ExitStack() as stack:
        try:
            simulation.start()
            _tell(page.url, False)
            if console:
                stack.enter_context(listening(simulation, sys.stdin, _say))
            simulation.run()
        except KeyboardInterrupt:
            return 0
    return 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _tell(url: str, open_browser: bool) -> None:
    print(f"view: {url} (Ctrl-C ends)", file=sys.stderr, flush=True)
    if open_browser:
        import webbrowser

        webbrowser.open(url)
