"""Panels that wings add to the page, for their robots and devices.

A wing declares a `DevicePanel` or a `RobotPanel` (`pliant.base.wing.Wing.panels`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pliant.base.wing import offers
from pliant.devices.base import Device, Sample
from pliant.model.robot import Robot
from pliant.page.controls import Panel, Say
from pliant.page.server import PageServer
from pliant.simulation.bridge import SimulationControl

if TYPE_CHECKING:
    import mujoco
    from viser import GuiApi

    from pliant.page.curve_drawing import CurveDrawing


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePanel:
    """Panel in place of the sliders of a device."""

    accepts: Callable[[Device], bool]
    """Whether the panel is for a device."""
    make: Callable[[GuiApi, Device, SimulationControl, Say, Mapping[str, Sample]], Panel]
    """Function of viser's GUI, the device, the simulation, what tells messages, and the newest sample by device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedRobot:
    """A robot that a person opened from a file of the browser."""

    name: str
    """Its name."""
    build: Callable[[], Robot]
    """Function that returns the robot."""
    source: object = None
    """Description from which the panel made it, for the panel's own use."""

    def check(self) -> None:
        """Raise the error of a robot that cannot be built."""
        self.build().compile()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Arguments of a section of the page."""

    server: PageServer
    """The page's server."""
    say: Say
    """Tells what was refused."""
    size: float
    """Size of the robot as it is drawn [m]."""


class RobotSection(Protocol):
    """Section of the page for the whole robot."""

    @property
    def device(self) -> Device | None:
        """Device whose sliders the section replaces."""
        ...

    def show(self, drawing: CurveDrawing | None, data: mujoco.MjData) -> None:
        """Show the newest state; called some ten times a second.

        Args:
            drawing: the `pliant.page.curve_drawing.CurveDrawing` of the robot's curves, None if it has none.
            data: MuJoCo's data that is drawn.
        """
        ...

    def home(self) -> None:
        """Follow a reset of the simulation."""
        ...

    def open(self, name: str, data: bytes) -> bool:
        """Take a file that a browser gives, such as a table; return False for one that is not for the section."""
        ...

    def close(self) -> None:
        """Close the section."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotPanel:
    """Section for the robots of a wing."""

    make: Callable[[Surroundings, Mapping[str, Device]], RobotSection | None]
    """Function of the surroundings and the devices by name; None for a robot that has no such section."""
    statics: Callable[..., bool] | None = None
    """Function (robot, host=, port=, tell=) that shows the equilibrium of a robot on a page of its own, without a
    simulation, until Ctrl-C; it returns False for a robot that it is not for. None: the wing has no such page."""


def device_panel(device: Device) -> DevicePanel | None:
    """Return the panel of a device that a wing declares, None for the sliders of its fields."""
    panels = (offer.load() for offer in offers("panels"))
    return next((p for p in panels if isinstance(p, DevicePanel) and p.accepts(device)), None)


def robot_panels() -> list[RobotPanel]:
    """Return the sections for whole robots that wings declare."""
    return [panel for offer in offers("panels") if isinstance(panel := offer.load(), RobotPanel)]
