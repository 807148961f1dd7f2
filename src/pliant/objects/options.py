"""The option of ``pliant run`` that gives a robot spare objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclopts import Parameter

if TYPE_CHECKING:
    from pliant.simulation.additions import Addition


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class SpareObjects:
    """Spare objects of any robot; the docstring is the help text of the command line."""

    objects: int | None = None
    """Largest number of objects that scenarios and programs can make during the run; default none."""

    def make(self) -> Addition | None:
        """Return what gives a robot the objects; None if none are asked for."""
        if self.objects is None:
            return None
        from pliant.objects.description import add_world
        from pliant.simulation.additions import Addition

        count = self.objects
        return Addition(extend=lambda robot: add_world(robot, count))
