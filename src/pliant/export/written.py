"""Result of any export of a robot: a text, and mesh files beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pliant.base.documents.files import write_files


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotExport:
    """A robot as text of another format, in memory."""

    text: str
    """The text."""
    meshes: Mapping[str, bytes] = field(default_factory=dict)
    """Path of a mesh file below the folder of the text -> content."""
    notes: tuple[str, ...] = ()
    """Parts that the text lacks or has in part only, and parts that programs other than pliant do not see."""

    def write(self, path: str | Path, *, overwrite: bool = False) -> list[Path]:
        """Write the text and its meshes; return the files.

        Args:
            path: the file of the text; meshes go into a folder beside it.
            overwrite: replace files that exist and hold something else. A mesh there may be the one that the robot
                was read from.

        Raises:
            ModelError: a file exists and differs, or cannot be written; then nothing is written.
        """
        path = Path(path)
        return write_files(
            path.parent, {path.name: self.text.encode(), **self.meshes}, "the robot", overwrite=overwrite
        )
