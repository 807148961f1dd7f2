"""Robots of the catalogue for tests."""

from __future__ import annotations

import pytest

from pliant import load
from pliant.base.errors import MissingDependency
from pliant.model import Robot


def robot_or_skip(name: str) -> Robot:
    """Return a robot of the catalogue; skip the test where what the robot needs is not installed."""
    try:
        return load(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))
