"""The file that a robot is read from, and what the caller says about reading it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.documents.files import read_file
from pliant.documents.xml_tree import Node, parse_xml
from pliant.documents.yaml_tree import Document, parse_yaml

if TYPE_CHECKING:
    from pliant.model.robot import Robot

__all__ = ["DEFAULT_TIMESTEP", "Format", "Source"]

DEFAULT_TIMESTEP = 0.001
"""Time step where neither the file nor the caller names one [s]."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A robot's file, parsed when first asked for."""

    path: Path
    """The file, or a folder."""
    package_paths: Sequence[str | Path] = ()
    """Folders that hold ROS packages, searched first for ``package://`` addresses."""
    allow_missing_meshes: bool = False
    """Leave out collision meshes that are not found, with a note, rather than fail."""
    self_collision: bool | None = None
    """Whether a URDF's links collide with each other; None does as Gazebo does."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the robot, for formats that have any; text is converted."""
    load: Callable[..., Robot]
    """Loads another robot, file or catalogue name, that the file names, with further arguments of `pliant.load`, which
    sets it."""

    @functools.cached_property
    def root(self) -> Node:
        """The root element of an XML file."""
        return parse_xml(read_file(self.path), self.path)

    @functools.cached_property
    def document(self) -> Document:
        """The document of a YAML file."""
        return parse_yaml(read_file(self.path), self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A kind of robot description, and the function that reads it."""

    name: str
    """What it is called in messages."""
    read: Callable[[Source], Robot]
    """Returns the robot of a file."""
    suffixes: tuple[str, ...]
    """Suffixes of its files."""
    root: str = ""
    """Root element of an XML format; "" for a YAML format."""
    key: str = ""
    """Top-level key that tells a YAML format from the others; "" for the format of all other files."""
    folder: str = ""
    """File in it that tells a folder of this format; "" where it has no folders."""
    has_options: bool = False
    """Whether its robots take options."""

    def matches(self, source: Source) -> bool:
        """Say whether a file or folder is of this format."""
        if source.path.is_dir():
            return bool(self.folder) and (source.path / self.folder).is_file()
        if self.root:
            return source.root.tag == self.root
        value: Any = source.document.value
        return not self.key or (isinstance(value, Mapping) and self.key in value)
