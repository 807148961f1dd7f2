"""Robots that were opened from files on the page, and the names to choose from."""

from __future__ import annotations

from collections.abc import Sequence

from pliant.page.panels import OpenedRobot

MAX_LOADED = 16
"""Most robots from files that one page keeps."""


class LoadedRobots:
    """Robots from files, beside those of a catalogue.

    Args:
        names: names of the catalogue.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._catalogue = list(names)
        self.robots: dict[str, OpenedRobot] = {}
        """Robots from files by name."""

    @property
    def names(self) -> list[str]:
        """All names, those of robots from files first."""
        return [*self.robots, *self._catalogue]

    def add(self, robot: OpenedRobot | None) -> None:
        """Keep a robot; the oldest gives way."""
        if robot is None:
            return
        self.robots[robot.name] = robot
        while len(self.robots) > MAX_LOADED:
            del self.robots[next(iter(self.robots))]
