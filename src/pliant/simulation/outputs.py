"""Files that wings make of a run or a recording, beside the recording.

A wing declares the options of such a file (`pliant.base.wing.Wing.outputs`) under the name of the option that names the
file, such as "video"; the names of its further options begin with it. ``pliant run`` and ``pliant replay`` have them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from pliant.simulation.bridge import Bridge

if TYPE_CHECKING:
    import mujoco

    from pliant.engine import Engine
    from pliant.recording import Recording

Progress = Callable[[int, int], None]
"""Called with the numbers of parts that are done, and of all."""


class Outcome(Protocol):
    """Outcome of a file: written or not, and why."""

    @property
    def fault(self) -> str:
        """Why the file is shorter than the run, or missing; empty if it is whole."""
        ...

    def line(self) -> str:
        """Return what is printed of the file; "" if there is none."""
        ...

    def as_dict(self) -> object:
        """Return the file for JSON: its name, or a dictionary; None if there is none."""
        ...


class OutputBridge(Bridge, Protocol):
    """A bridge of the run that makes the file."""

    def finish(self, progress: Progress | None = None) -> Outcome:
        """Finish the file after the run."""
        ...


class OutputOptions(Protocol):
    """Options of a file: a frozen dataclass of `cyclopts`; without arguments it asks for no file."""

    label: ClassVar[str]
    """Name of the file in texts, such as "film"."""
    parts: ClassVar[str]
    """What its progress counts, such as "pictures"."""
    recorded: ClassVar[bool]
    """Whether it shows the samples of a recording, which a run makes for it; else it shows the robot as it moves."""

    @property
    def file(self) -> Path | None:
        """The file; None if none is asked for."""
        ...

    def follow(self, engine: Engine, *, contacts: bool, wait: bool) -> OutputBridge | None:
        """Return what follows a run: with or without contact forces; it may let the run wait, or must keep its pace. A
        file that shows samples has none: `replay` makes it of the recording of the run."""
        ...

    def replay(
        self, found: Recording, model: Callable[[], mujoco.MjModel], progress: Progress
    ) -> tuple[Outcome, tuple[str, ...]]:
        """Make the file of a recording; return also the joints that it shows at rest, because they were not recorded.
        ``model`` returns the compiled robot, which may take long."""
        ...
