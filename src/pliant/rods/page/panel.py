"""The panels of parallel and of tendon-driven robots; the solvers of rods are not loaded for other robots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from pliant.devices.base import Device
from pliant.model.robot import Robot
from pliant.page.panels import RobotPanel, RobotSection, Surroundings

if TYPE_CHECKING:
    from pliant.rods.device.parallel import ParallelRobotDevice
    from pliant.rods.device.tendons import TendonDevice


def _with(signature: str, devices: Mapping[str, Device]) -> Device | None:
    return next((device for device in devices.values() if signature in device.signatures), None)


def _make(around: Surroundings, devices: Mapping[str, Device]) -> RobotSection | None:
    found = _with("parallel_robot", devices)
    if found is None:
        return None
    from pliant.rods.page.section import RodSection

    return RodSection(around, cast("ParallelRobotDevice", found))


def _statics(robot: Robot, *, host: str, port: int, tell: Callable[[str], None]) -> bool:
    from pliant.rods.page.section import show_statics

    return show_statics(robot, host=host, port=port, tell=tell)


def _make_tendons(around: Surroundings, devices: Mapping[str, Device]) -> RobotSection | None:
    found = _with("tendons", devices)
    if found is None:
        return None
    from pliant.rods.page.tendons import TendonSection

    return TendonSection(around, cast("TendonDevice", found))


PANEL = RobotPanel(make=_make, statics=_statics)
"""Sections of parallel robots."""
TENDON_PANEL = RobotPanel(make=_make_tendons)
"""Sections of tendon-driven robots."""
