"""Source file of a robot, and the options for reading it."""

from __future__ import annotations

import functools
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco

from pliant.base.documents.files import read_file
from pliant.base.documents.xml_tree import Node, line_of, parse_xml
from pliant.base.documents.yaml_tree import Document, parse_yaml
from pliant.base.errors import ModelError
from pliant.base.wing import offers
from pliant.formats.tags import place_of

if TYPE_CHECKING:
    from pliant.formats.urdf_extension import Mimic
    from pliant.laws import CompliantActuator
    from pliant.model.interface import DescribedDevice, InterfaceExtension, JointInterface
    from pliant.model.robot import Robot
    from pliant.model.sensors import SensorDescription

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
    options: Mapping[str, object] = field(default_factory=dict)
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
        value: object = source.document.value
        return not self.key or (isinstance(value, Mapping) and self.key in value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Block of options that a wing adds to robot files, to `pliant.load` and, if it says so, to ``--set``."""

    apply: Callable[[Robot, Any], None]
    """Function that changes the robot. A `ModelError` of it names the field at fault, "block.key.key"."""
    type: Any
    """Type of the block in a YAML file, for msgspec."""
    settable: bool = False
    """Whether ``--set BLOCK.KEY=VALUE`` sets a key of it."""


@dataclass(slots=True, kw_only=True)
class Draft:
    """A robot of a URDF or an SDF whose bodies are read, for the wings that read its tags to complete."""

    root: ET.Element
    """The ``<robot>``; that of an SDF is written from it."""
    types: Mapping[str, str]
    """Type of every joint by name."""
    spec: mujoco.MjSpec
    """The bodies, with the time step."""
    mimics: Sequence[Mimic]
    """Joints that follow others."""
    actuators: dict[str, CompliantActuator]
    """Compliant actuators by joint."""
    joints: dict[str, JointInterface]
    """Interface of each of these joints."""
    sensors: list[SensorDescription]
    """Described sensors."""
    notes: list[str]
    """What a user should know."""


@dataclass(slots=True)
class WingTags:
    """Findings of a wing in the tags of a description."""

    extension: InterfaceExtension | None = None
    """Interface of the robot over the wing's bridge; None without such tags."""
    devices: list[DescribedDevice] = field(default_factory=list)
    """Further devices, in the order of the file."""
    initial: dict[str, float] = field(default_factory=dict)
    """Positions at the start [rad or m] by joint; those of the wing that comes first win."""
    places: dict[str, str] = field(default_factory=dict)
    """Place of the tags of a joint, "file:line: ", for notes."""
    used: set[str] = field(default_factory=set)
    """Described sensors that the wing shows."""
    selects: bool = False
    """Whether the sensors that no wing shows are not enabled."""
    colored: set[str] = field(default_factory=set)
    """Described cameras that the wing shows with their colours, also where the description has depth only."""
    notes: list[str] = field(default_factory=list)
    """What a user should know of the tags."""
    complete: Callable[[Draft], None] | None = None
    """Function that adds what the tags ask for to the robot, and may change the extension; None if nothing is added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagReader:
    """Reader of tags of one wing in URDF and SDF; all of its functions but ``owns`` are optional.

    Functions that take a list for notes add to it what a user should know.
    """

    name: str
    """Key of the extension in `pliant.model.interface.Interface.extensions`."""
    title: str
    """Name of the wing's protocol in notes."""
    owns: Callable[[str], bool] = lambda filename: False
    """Whether the file name of a plugin is one that is read here."""
    elements: tuple[str, ...] = ()
    """Elements of a robot that are read here with all that is in them."""
    actuator: (
        Callable[[ET.Element, Mapping[str, str], Path, list[str]], tuple[CompliantActuator, JointInterface]] | None
    ) = None
    """Function of a plugin element that is owned, the type of every joint by name, the file and a list for notes. It
    returns the compliant actuator of the joint that the plugin describes."""
    sensors: Callable[[ET.Element, Iterable[str], Path, list[str]], list[SensorDescription]] | None = None
    """Function of the ``<robot>`` of a URDF or the ``<model>`` or ``<world>`` of an SDF, the names that are taken, the
    file and a list for notes. It returns the sensors that the tags describe."""
    read: (
        Callable[[ET.Element, Mapping[str, str], Sequence[SensorDescription], Path, Sequence[str | Path]], WingTags]
        | None
    ) = None
    """Function of the same element, the type of every joint by name, the sensors that all readers have described, the
    file, and the folders with packages."""
    write: Callable[[CompliantActuator, JointInterface], tuple[ET.Element, set[str]] | None] | None = None
    """Function of an actuator and the interface of its joint. It returns the plugin element that ``actuator`` reads as
    the same, and the paths of the parameters that it can carry; None for an actuator without such an element."""


@dataclass(slots=True)
class FoundTags:
    """Findings of all wings in the tags of a description."""

    actuators: dict[str, CompliantActuator] = field(default_factory=dict)
    """Compliant actuators by joint, in the order of the file."""
    joints: dict[str, JointInterface] = field(default_factory=dict)
    """Interface of each of these joints, by joint."""
    sensors: list[SensorDescription] = field(default_factory=list)
    """Described sensors, in the order of the file."""
    notes: list[str] = field(default_factory=list)
    """Plugins and sensors that no wing reads, and what their readers note."""
    wings: dict[str, WingTags] = field(default_factory=dict)
    """What each wing finds beside these, by the name of its reader."""


def tag_readers() -> list[TagReader]:
    """Return the readers of tags that wings declare."""
    return [offer.load() for offer in offers("tags")]


def read_tags(
    root: ET.Element, joints: Mapping[str, str], file: Path, package_paths: Sequence[str | Path] = ()
) -> FoundTags:
    """Return what the wings find in the tags of a description.

    Args:
        root: the ``<robot>`` of a URDF, or the ``<model>`` or ``<world>`` of an SDF.
        joints: type of every joint, by name.
        file: name of the file, for messages and for the files that tags name.
        package_paths: folders that hold packages, searched first.

    Raises:
        ModelError: a tag or a file that it names is wrong, or a second plugin describes the actuator of a joint. The
            message has file and line.
    """
    readers, found = tag_readers(), FoundTags()
    others = [element for reader in readers for tag in reader.elements for element in root.iter(tag)]
    elsewhere = {id(inner) for element in others for inner in element.iter()}
    for element in root.iter("plugin"):
        if id(element) not in elsewhere:
            _read_plugin(element, readers, joints, file, found)
    of_sensors = [reader.sensors for reader in readers if reader.sensors is not None]
    for sensors in of_sensors:
        taken = [*joints, *(sensor.name for sensor in found.sensors)]
        found.sensors += sensors(root, taken, file, found.notes)
    if not of_sensors:
        for element in root.iter("sensor"):
            if id(element) not in elsewhere:
                what = f"sensor {element.get('name', '')!r} ({element.get('type') or 'no type'})"
                found.notes.append(f"{place_of(element, file)}{what} is not understood and left out")
    for reader in readers:
        if reader.read is not None:
            found.wings[reader.name] = reader.read(root, joints, found.sensors, file, package_paths)
    return found


def _read_plugin(
    element: ET.Element,
    readers: Sequence[TagReader],
    joints: Mapping[str, str],
    file: Path,
    found: FoundTags,
) -> None:
    """Add the actuator that a plugin describes, or note that no wing reads it."""
    name, filename = element.get("name", ""), element.get("filename", "")
    owners = [reader for reader in readers if reader.owns(filename)]
    read = next((owner.actuator for owner in owners if owner.actuator is not None), None)
    if read is not None:
        actuator, interface = read(element, joints, file, found.notes)
        other = found.joints.get(interface.joint)
        if other is not None:
            raise ModelError(
                f"plugin {name!r}: joint {interface.joint!r} has a compliant actuator already, from the plugin "
                f"{other.plugin!r} in line {other.line}; one per joint",
                file=file,
                line=line_of(element),
                field="joint",
            )
        found.actuators[interface.joint] = actuator
        found.joints[interface.joint] = interface
    elif not owners:
        what = f"plugin {name!r} ({filename or 'no filename'})"
        found.notes.append(f"{place_of(element, file)}{what} is not understood and left out")


def write_plugin(actuator: CompliantActuator, interface: JointInterface) -> tuple[ET.Element, set[str]] | None:
    """Return the plugin element of an actuator and the paths of the parameters that it can carry.

    Returns:
        None if no wing has plugin tags for such an actuator.
    """
    writers = (reader.write for reader in tag_readers() if reader.write is not None)
    return next((found for write in writers if (found := write(actuator, interface)) is not None), None)
