"""The panel of parallel robots, as the page finds it; the solver of rods is not loaded for other robots."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from pliant.devices.base import Device
from pliant.model.robot import Robot
from pliant.page.panels import RobotPanel, RobotSection, Surroundings

__all__ = ["PANEL"]


def _make(around: Surroundings, devices: Mapping[str, Device]) -> RobotSection | None:
    module = sys.modules.get("pliant.rods.device.parallel")
    if module is None:
        return None
    found = next((device for device in devices.values() if isinstance(device, module.ParallelRobotDevice)), None)
    if found is None:
        return None
    from pliant.rods.page.section import RodSection

    return RodSection(around, found)


def _statics(robot: Robot, *, host: str, port: int, tell: Callable[[str], None]) -> bool:
    from pliant.rods.page.section import show_statics

    return show_statics(robot, host=host, port=port, tell=tell)


PANEL = RobotPanel(make=_make, statics=_statics)
"""Sections of parallel robots."""
