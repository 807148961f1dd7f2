"""Options by which wings add to simulations of any robot: to the robot, or to the simulation before its first step.

A wing declares them (`pliant.base.wing.Wing.additions`); ``pliant run`` and ``pliant compare`` have them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pliant.model import Robot
    from pliant.simulation.loop import Simulation


def _add_nothing(_: object) -> tuple[str, ...]:
    """Leave the robot or the simulation as it is."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """Addition to a simulation."""

    extend: Callable[[Robot], object] = _add_nothing
    """Adds to the robot, before its model is compiled."""
    begin: Callable[[Simulation], Sequence[str]] = _add_nothing
    """Begins in the simulation, before its first step; returns lines to print, with the markup of Rich."""


class AdditionOptions(Protocol):
    """Options of an addition: a frozen dataclass of `cyclopts`; without arguments it asks for nothing."""

    def make(self) -> Addition | None:
        """Read the files and return the addition; None if nothing is asked for."""
        ...
