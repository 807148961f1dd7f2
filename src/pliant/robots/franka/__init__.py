"""The Franka arms: kinematics, identified dynamics, models, and the controller in their cabinet."""

from __future__ import annotations

from typing import Any

__all__ = ["Robot"]


def __getattr__(name: str) -> Any:
    # resolved on first use: the dynamics compile, and importing the package must stay light
    if name != "Robot":
        raise AttributeError(f"module 'pliant.robots.franka' has no attribute {name!r}")
    from pliant.robots.franka.robot import Robot

    return Robot
