"""The panel of parallel robots; the solvers of rods are not loaded for other robots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from pliant.devices.base import Device
from pliant.model.robot import Robot
from pliant.page.panels import RobotPanel, RobotSection, Surroundings

if TYPE_CHECKING:
    from pliant.parallel.device.parallel import ParallelRobotDevice


def _make(around: Surroundings, devices: Mapping[str, Device]) -> RobotSection | None:
    found = next((device for device in devices.values() if "parallel_robot" in device.signatures), None)
    if found is None:
        return None
    from pliant.parallel.page.section import RodSection

    return RodSection(around, cast("ParallelRobotDevice", found))


def _statics(robot: Robot, *, host: str, port: int, tell: Callable[[str], None]) -> bool:
    from pliant.parallel.page.section import show_statics

    return show_statics(robot, host=host, port=port, tell=tell)


PANEL = RobotPanel(make=_make, statics=_statics)
"""Sections of parallel robots."""
