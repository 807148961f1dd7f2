"""`pliant view`: show a robot in the browser."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.cli.options import Debug, Imports, Packages, Settings, import_modules, load_robot

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
        return _simulate(robot, port, host, open_browser)
    from pliant.viewer.cpr import ParallelView

    with ParallelView(mechanism.solution.robot, port=8090 if port is None else port, host=host) as page:
        _tell(page.url, open_browser)
        try:
            page.wait()
        except KeyboardInterrupt:
            return 0
    return 0


def _simulate(robot: Robot, port: int | None, host: str, open_browser: bool) -> int:
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.simulation import Simulation, paced
    from pliant.viewer import StudioView

    engine = MujocoEngine(robot)
    page = StudioView(engine, port=port or 0, host=host, open_browser=open_browser)
    with Simulation(engine, make_devices(robot), [page], pacer=paced(1.0)) as simulation:
        try:
            simulation.start()
            _tell(page.url, False)
            simulation.run()
        except KeyboardInterrupt:
            return 0
    return 0


def _tell(url: str, open_browser: bool) -> None:
    print(f"view: {url} (Ctrl-C ends)", file=sys.stderr, flush=True)
    if open_browser:
        import webbrowser

        webbrowser.open(url)
