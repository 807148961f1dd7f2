"""How a robot begins on the page of `pliant view`: with something that moves, until somebody moves it."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["SETTINGS", "opening"]

SETTINGS = {"biped": ("robot.controller=walking",)}
"""Robot -> options that `pliant view` sets where the command line sets none: the biped walks."""
SCENARIOS = (
    "dance", "nod", "reach", "swing", "steps", "load-and-release", "press-harder", "push-on-both-hands",
    "push-on-the-planar-plate",
)  # fmt: skip
"""Scenarios of pliant that a robot may begin with, the best first."""


def opening(fitting: Iterable[str]) -> str | None:
    """Return the scenario that a robot begins with; None for none.

    Args:
        fitting: scenarios that fit the robot.
    """
    found = set(fitting)
    return next((name for name in SCENARIOS if name in found), None)
