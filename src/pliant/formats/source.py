"""Source file of a robot, and the options for reading it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.base.documents.files import read_file
from pliant.base.documents.xml_tree import Node, parse_xml
from pliant.base.documents.yaml_tree import Document, parse_yaml

if TYPE_CHECKING:
    from pliant.model.robot import Robot

__all__ = ["DEFAULT_TIMESTEP", "Format", "Source"]

DEFAULT_TIMESTEP = 0.001
"""Time step if neither the file nor the caller gives one [s]."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """File of a robot, parsed on first access."""

    path: Path
    """The file, or a folder."""
    package_paths: Sequence[str | Path] = ()
    """Folders that contain ROS packages, searched first for ``package://`` URIs."""
    allow_missing_meshes: bool = False
    """Whether to omit collision meshes that are not found, with a note, instead of raising an error."""
    self_collision: bool | None = None
    """Whether the links of a URDF collide with each other; None for the behaviour of Gazebo."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the robot, for formats with options; strings are converted."""
    load: Callable[..., Robot]
    """Function that loads another robot to which the file refers, by file or catalogue name, with further arguments of
    `pliant.load`. It is set by `pliant.load`."""

    @functools.cached_property
    def root(self) -> Node:
        """Root element of an XML file."""
        return parse_xml(read_file(self.path), self.path)

    @functools.cached_property
    def document(self) -> Document:
        """Document of a YAML file."""
        return parse_yaml(read_file(self.path), self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Format of robot descriptions, with the function that reads it."""

    name: str
    """Name of the format in messages."""
    read: Callable[[Source], Robot]
    """Function that returns the robot of a file."""
    suffixes: tuple[str, ...]
    """File suffixes."""
    root: str = ""
    """Root element of an XML format; "" for a YAML format."""
    key: str = ""
    """Top-level key that identifies a YAML format; "" for the format of all other files."""
    folder: str = ""
    """File that identifies a folder of this format; "" if the format has no folders."""
    has_options: bool = False
    """Whether robots of this format have options."""

    def matches(self, source: Source) -> bool:
        """Return whether a file or folder has this format."""
        if source.path.is_dir():
            return bool(self.folder) and (source.path / self.folder).is_file()
        if self.root:
            return source.root.tag == self.root
        value: Any = source.document.value
        return not self.key or (isinstance(value, Mapping) and self.key in value)
