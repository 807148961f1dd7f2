"""Robots and recordings opened from files on the page, and the names to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.base.errors import PliantError
from pliant.page.panels import OpenedRobot

if TYPE_CHECKING:
    import mujoco

    from pliant.recording.recording import Recording

MAX_LOADED = 16
"""Most robots and recordings from files that one page keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedRecording:
    """A recording that a person opened from a file of the browser."""

    name: str
    """Its name."""
    path: Path
    """Where it lies."""
    folder: object = None
    """Holds the folder in which it lies, as long as it is offered."""

    def open(self) -> tuple[Recording, mujoco.MjModel]:
        """Return the recording and the model of its robot.

        Raises:
            PliantError: it cannot be read, or its robot is not known here; the message has the command that helps.
        """
        from pliant.cli.options import load_robot
        from pliant.recording.recorded_motion import recorded_robot
        from pliant.recording.recording import read_recording

        found = read_recording(self.path)
        try:
            source, settings, packages = recorded_robot(found, "its robot is named on the command line")
            return found, load_robot(source, settings, None, packages).compile()
        except PliantError as error:
            raise PliantError(
                f"{error.message}; `pliant replay {self.name} --view --robot SOURCE` shows it on another one",
                file=self.path,
            ) from error

    def check(self) -> None:
        """Raise the error of a recording that cannot be shown."""
        self.open()


Opened = OpenedRobot | OpenedRecording


class LoadedRobots:
    """Robots and recordings from files, beside the robots of a catalogue.

    Args:
        names: names of the catalogue.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._catalogue = list(names)
        self.robots: dict[str, Opened] = {}
        """Robots and recordings from files by name."""

    @property
    def names(self) -> list[str]:
        """All names, those from files first."""
        return [*self.robots, *self._catalogue]

    def add(self, opened: Sequence[Opened]) -> None:
        """Keep what was opened; the oldest gives way."""
        self.robots |= {one.name: one for one in opened}
        while len(self.robots) > MAX_LOADED:
            del self.robots[next(iter(self.robots))]
