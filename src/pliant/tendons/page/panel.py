"""The panel of tendon-driven robots; the solver of their statics is not loaded for other robots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from pliant.devices.base import Device
from pliant.page.panels import RobotPanel, RobotSection, Surroundings

if TYPE_CHECKING:
    from pliant.tendons.device import TendonDevice


def _make(around: Surroundings, devices: Mapping[str, Device]) -> RobotSection | None:
    found = next((device for device in devices.values() if "tendons" in device.signatures), None)
    if found is None:
        return None
    from pliant.tendons.page.section import TendonSection

    return TendonSection(around, cast("TendonDevice", found))


PANEL = RobotPanel(make=_make)
"""Sections of tendon-driven robots."""
