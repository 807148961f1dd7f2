"""The panel of Franka arms, as the page finds it; the arms' own module is not loaded for other robots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from pliant.devices.base import Device, Sample
from pliant.page.controls import Panel, Say
from pliant.page.panels import DevicePanel
from pliant.simulation.bridge import SimulationControl

if TYPE_CHECKING:
    from viser import GuiApi

    from pliant.franka.device.arm import FrankaArm


def _accepts(device: Device) -> bool:
    return "franka_arm" in device.signatures


def _make(gui: GuiApi, device: Device, simulation: SimulationControl, say: Say, latest: Mapping[str, Sample]) -> Panel:
    from pliant.franka.page import ArmPanel

    return ArmPanel(gui, cast("FrankaArm", device), simulation, say, latest)


PANEL = DevicePanel(accepts=_accepts, make=_make)
"""Joint targets, speed and hand of an arm."""
