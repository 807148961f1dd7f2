"""What was opened from files on the page, and the names to choose from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.base.errors import PliantError
from pliant.page.controls import Say, guarded
from pliant.page.panels import OpenedRobot
from pliant.page.server import PageServer
from pliant.page.uploads import MAX_DROPPED_BYTES

if TYPE_CHECKING:
    import mujoco

    from pliant.recording.recording import Recording

HINT = (
    "A robot (URDF, MJCF, SDF, YAML), a zip archive of a robot with its meshes, or a recording (.mcap); files and "
    "folders can also be dropped on the page"
)
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
        from pliant.cli.replay import recorded_robot
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

    def choice(self) -> RobotChoice:
        """Return the choice of a page."""
        return RobotChoice(self.names, replaceable=list(self.robots))


class RobotChoice:
    """The list of robots on a page, and its button for files, to which dropped files go.

    Args:
        names: names to choose from.
        replaceable: names that a robot from a file may have, because they came from files themselves.
    """

    def __init__(self, names: Sequence[str], *, replaceable: Sequence[str] = ()) -> None:
        self.names = list(names)
        """Names to choose from."""
        self.taken = [name for name in names if name not in replaceable]
        """Names that a robot from a file may not have."""
        self.wanted = ""
        """What somebody chose on the page."""
        self.opened: list[Opened] = []
        """What somebody opened from a file on the page, the chosen one first."""
        self._leave: Callable[[str], None] = lambda _: None

    def change_to(self, name: str) -> None:
        """Leave this page for another robot."""
        self.wanted = name
        self._leave(name)

    def build(
        self,
        server: PageServer,
        title: str,
        say: Say,
        leave: Callable[[str], None],
        table: Callable[[str, bytes], bool] | None = None,
    ) -> None:
        """Add the list and the button.

        Args:
            server: the page's server.
            title: name of what is shown.
            say: tells what was refused.
            leave: called with the name of what was chosen.
            table: gets name and content of a file first; True for one that it takes.
        """
        self._leave = leave
        names = [title, *(name for name in self.names if name != title)]
        choice = server.gui.add_dropdown("robot", names, initial_value=title)

        def changed(_: object) -> None:
            if choice.value != title and choice.value in self.names:
                self.change_to(str(choice.value))

        def give(event: Any) -> None:
            file = event.target.value
            if table is None or not table(file.name, file.content):
                self.open(file.name, file.content)

        choice.on_update(changed)
        button = server.gui.add_upload_button("Open a file", icon="upload", color="gray", hint=HINT)
        server.uploads.accept(button, MAX_DROPPED_BYTES, say)
        button.on_upload(guarded(say, give))

    def open(self, name: str, data: bytes) -> None:
        """Leave this page for what a file holds.

        Raises:
            PliantError: it cannot be opened.
        """
        from pliant.page.dropped import open_dropped

        self.opened = open_dropped(data, name, self.taken)
        self.change_to(self.opened[0].name)
