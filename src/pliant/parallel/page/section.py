"""The section of a parallel robot on the page, and the page of its statics alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from pliant.base.errors import PliantError
from pliant.devices.base import Device
from pliant.model.robot import Robot
from pliant.page.choice import RobotChoice
from pliant.page.dropped import plain_file_name
from pliant.page.loaded import LoadedRobots
from pliant.page.panels import OpenedRobot, Surroundings
from pliant.page.server import PageServer
from pliant.parallel.device.parallel import ParallelRobotDevice
from pliant.parallel.format import PARALLEL
from pliant.parallel.model import build_parallel, find_mechanism
from pliant.parallel.page.robot_files import read_robot
from pliant.parallel.page.rod_files import TABLE_ENDS
from pliant.parallel.page.rods import RodPanel
from pliant.parallel.page.statics_view import StaticsView
from pliant.rods.loaders import catalogue, load_robot
from pliant.rods.robot import ContinuumParallelRobot

if TYPE_CHECKING:
    import mujoco

    from pliant.page.curve_drawing import CurveDrawing

HINT = "The description of a parallel robot (.yaml), or a table of joint values or plate poses (.csv)"


class RodSection:
    """Controls and facts of a simulated parallel robot.

    Args:
        around: what the page gives.
        device: the robot's device.
    """

    def __init__(self, around: Surroundings, device: ParallelRobotDevice) -> None:
        self.device: Device | None = device
        """Device whose sliders the section replaces."""
        self.panel = RodPanel(around.server, device.robot, around.say, size=around.size, device=device)
        """The controls."""

    def show(self, drawing: CurveDrawing | None, data: mujoco.MjData) -> None:
        """Show what was found; with drawn rods at the simulated plate."""
        if drawing is None:
            self.panel.draw()
        else:
            self.panel.draw(drawing, data.body("plate").xpos.copy())

    def home(self) -> None:
        """Ask for the home pose without a load."""
        self.panel.home()

    def open(self, name: str, data: bytes) -> bool:
        """Take a table of joint values or plate poses as the path."""
        return self.panel.files.open_table(name, data)

    def close(self) -> None:
        """End the thread that solves."""
        self.panel.close()


def _opened(robot: ContinuumParallelRobot) -> OpenedRobot:
    return OpenedRobot(name=robot.name, build=lambda: build_parallel(robot), source=robot)


def _open(data: bytes, name: str, taken: Collection[str]) -> list[OpenedRobot]:
    name = plain_file_name(name)
    if not name.lower().endswith(PARALLEL.suffixes):
        raise PliantError(f"the file must end in {', '.join((*PARALLEL.suffixes, *TABLE_ENDS))}", file=name)
    return [_opened(read_robot(data, name, taken))]


def statics_choice(names: Sequence[str], replaceable: Sequence[str] = ()) -> RobotChoice:
    """Return a choice of parallel robots, from a list and from files."""
    return RobotChoice(names, replaceable=replaceable, opener=_open, hint=HINT)


def show_statics(robot: Robot, *, host: str, port: int, tell: Callable[[str], None]) -> bool:
    """Show the equilibrium of a parallel robot on a page until Ctrl-C, without a simulation.

    Args:
        robot: the robot.
        host: address that the page is served on.
        port: port of the page; 0 for the first free one.
        tell: gets the address of the page.

    Returns:
        False for a robot that is no parallel robot.
    """
    mechanism = find_mechanism(robot)
    if mechanism is None:
        return False
    shown = mechanism.solution.robot
    loaded = LoadedRobots(catalogue())
    if shown.name not in loaded.names:
        loaded.add([_opened(shown)])
    with PageServer(host=host, port=port, title=shown.name) as server:
        tell(server.url)
        while True:
            choice = statics_choice(loaded.names, list(loaded.robots))
            with StaticsView(shown, server, choice=choice) as page:
                try:
                    page.run()
                except KeyboardInterrupt:
                    return True
            if not choice.wanted:
                return True
            loaded.add(choice.opened)
            other = loaded.robots.get(choice.wanted)
            shown = other.source if isinstance(other, OpenedRobot) else load_robot(choice.wanted)
