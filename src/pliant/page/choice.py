"""The choice of a page: what else it can show, from the list of robots and from files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from pliant.page.controls import Say, guarded
from pliant.page.dropped import open_dropped
from pliant.page.loaded import Opened
from pliant.page.server import PageServer, icon
from pliant.page.uploads import MAX_DROPPED_BYTES

if TYPE_CHECKING:
    import viser

HINT = (
    "A robot (URDF, MJCF, SDF, YAML), a zip archive of a robot with its meshes, or a recording (.mcap); files and "
    "folders can also be dropped on the page"
)


class RobotChoice:
    """The list of robots on a page, and its button for files, to which dropped files go.

    Args:
        names: names to choose from.
        replaceable: names that a robot from a file may have, because they came from files themselves.
        opener: returns what a file holds, from its content, its name, and the names that are taken.
        hint: says which files it opens.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        replaceable: Sequence[str] = (),
        opener: Callable[[bytes, str, Collection[str]], Sequence[Opened]] = open_dropped,
        hint: str = HINT,
    ) -> None:
        self._opener, self._hint = opener, hint
        self.names = list(names)
        """Names to choose from."""
        self.taken = [name for name in names if name not in replaceable]
        """Names that a robot from a file may not have."""
        self.wanted = ""
        """What somebody chose on the page."""
        self.opened: Sequence[Opened] = []
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

        def give(event: viser.GuiEvent[viser.GuiUploadButtonHandle]) -> None:
            file = event.target.value
            if table is None or not table(file.name, file.content):
                self.open(file.name, file.content)

        choice.on_update(changed)
        button = server.gui.add_upload_button("Open a file", icon=icon("upload"), color="gray", hint=self._hint)
        server.uploads.accept(button, MAX_DROPPED_BYTES, say)
        button.on_upload(guarded(say, give))

    def open(self, name: str, data: bytes) -> None:
        """Leave this page for what a file holds.

        Raises:
            PliantError: it cannot be opened.
        """
        self.opened = self._opener(data, name, self.taken)
        self.change_to(self.opened[0].name)
