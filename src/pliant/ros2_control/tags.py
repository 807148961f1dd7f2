"""Read the ``<ros2_control>`` and ``<transmission>`` tags of a URDF."""

from __future__ import annotations

import difflib
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pliant.base.documents.xml_tree import line_of
from pliant.base.errors import ModelError, nearest
from pliant.base.options import parse_bool, parse_number
from pliant.formats.tags import Tags, place_of
from pliant.ros2_control.interface import ControlSystem
from pliant.ros2_control.sensors import ControlSensor

HARDWARE = "pliant/CompliantSystem"
"""Name of the hardware plugin in tags written by pliant."""
INTERFACES = ("position", "velocity", "acceleration", "effort", "stiffness")
"""Interfaces of a joint: the standard ones of ros2_control's hardware_interface, and pliant's stiffness [N m/rad]."""
TOPIC_PARAMS = ("joint_commands_topic", "joint_states_topic", "trigger_joint_command_threshold",
                "sum_wrapped_joint_states")  # fmt: skip
"""Params of hardware that talks over topics of joint states (TopicBasedSystem, JointStateTopicSystem). The last two
concern the other side alone."""
SYSTEM_TYPES = ("system", "actuator", "sensor")
HARDWARE_INTERFACES = {
    "PositionJointInterface": "position",
    "VelocityJointInterface": "velocity",
    "EffortJointInterface": "effort",
}
"""hardwareInterface of a ROS 1 transmission -> command interface."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledJoint:
    """Joint of a ``<ros2_control>`` element."""

    joint: str
    """Name of the joint."""
    system: str
    """Name of the ros2_control element."""
    hardware: str = ""
    """Name of the hardware plugin."""
    commands: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Command interface -> limits "min" and "max", if given, in the unit of the interface."""
    states: tuple[str, ...] = ()
    """State interfaces."""
    initial: Mapping[str, float] = field(default_factory=dict)
    """Initial value by state interface, if given."""
    params: Mapping[str, str] = field(default_factory=dict)
    """Further parameters by name."""
    mimics: bool | None = None
    """The ``mimic`` attribute of the joint; None if it has none, so that the ``<mimic>`` tag of the URDF applies."""
    file: str | Path | None = None
    """File that contains the element, or None."""
    line: int | None = None
    """Line in the file, counted from 1, or None."""

    @property
    def place(self) -> str:
        """Location for notes: ``file:line: ``."""
        return f"{self.file or 'description'}:{self.line or '?'}: "

    def fail(self, message: str, name: str | None = None) -> ModelError:
        """Return an error at the joint's line."""
        return ModelError(
            f"<ros2_control> joint {self.joint!r}: {message}", file=self.file, line=self.line, field=name or self.joint
        )


@dataclass(slots=True)
class Ros2Control:
    """Content of the ``<ros2_control>`` elements of a URDF."""

    joints: dict[str, ControlledJoint] = field(default_factory=dict)
    """Joints by name, in the order of the file."""
    systems: list[ControlSystem] = field(default_factory=list)
    """The elements, in the order of the file."""
    sensors: list[ControlSensor] = field(default_factory=list)
    """The ``<sensor>`` elements."""
    gpios: list[str] = field(default_factory=list)
    """Names of the ``<gpio>`` elements."""
    notes: list[str] = field(default_factory=list)
    """Notes on tags that have no effect."""


# -- reading ----------------------------------------------------------------------------------------------


def read_ros2_control(root: ET.Element, joints: Mapping[str, str], file: str | Path | None = None) -> Ros2Control:
    """Return the content of the ``<ros2_control>`` elements of a URDF.

    Args:
        root: the robot element.
        joints: type of every joint of the robot, by name.
        file: file of the element tree, for messages.

    Raises:
        ModelError: an element has no name; a joint or an interface does not exist or is duplicated; a limit or an
            initial value is not a number; or a minimum is greater than its maximum. The message names file and line.
    """
    found = Ros2Control()
    names: dict[str, int | None] = {}
    for system in root.iter("ros2_control"):
        reader = _Reader(system, joints, file, found)
        if reader.system in names:
            raise reader.fail(
                system, f"the name {reader.system!r} is given twice, first in line {names[reader.system]}", "name"
            )
        names[reader.system] = line_of(system)
        for element in system:
            if element.tag == "joint":
                reader.joint(element)
            elif element.tag == "sensor":
                found.sensors.append(reader.sensor(element))
            elif element.tag == "gpio":
                found.gpios.append(reader.component(element))
            elif element.tag not in ("hardware", "transmission"):
                reader.note(
                    element,
                    f"<{element.tag}> in <ros2_control name={reader.system!r}> has no effect; "
                    + nearest(element.tag, ("hardware", "joint", "sensor", "gpio", "transmission")),
                )
        found.systems.append(reader.described(found.joints.values()))
    if found.gpios:
        shown = ", ".join(map(repr, found.gpios[:8])) + (", ..." if len(found.gpios) > 8 else "")
        found.notes.append(f"the gpio elements of ros2_control {shown} are not served")
    return found


class _Reader(Tags):
    """Read one ``<ros2_control>`` element."""

    def __init__(
        self, system: ET.Element, joints: Mapping[str, str], file: str | Path | None, found: Ros2Control
    ) -> None:
        super().__init__(system, "<ros2_control>", file, found.notes)
        self.joints = joints
        self.found = found
        self.system = self.name()
        kind = system.get("type", "system")
        if kind not in SYSTEM_TYPES:
            raise self.fail(system, f"{self.system!r}: type is {kind!r}; {nearest(kind, SYSTEM_TYPES)}", "type")
        self.hardware = self.text("hardware/plugin")
        hardware = system.find("hardware")
        self.hardware_params = {} if hardware is None else self.params(hardware, f"{self.system!r}: ")

    def fail(self, element: ET.Element, message: str, field: str | None = None) -> ModelError:
        return super().fail(element, f"<ros2_control> {message}", field)

    def described(self, joints: Iterable[ControlledJoint]) -> ControlSystem:
        """Return the whole element, whose joints have been read."""
        unknown = [name for name in self.hardware_params if name not in TOPIC_PARAMS]
        if unknown:
            shown = ", ".join(unknown[:8]) + (", ..." if len(unknown) > 8 else "")
            self.note(
                self.element, f"the params {shown} of the hardware of ros2_control {self.system!r} have no effect"
            )
        mine = [joint for joint in joints if joint.system == self.system]
        return ControlSystem(
            name=self.system,
            plugin=self.hardware,
            params=self.hardware_params,
            commands={joint.joint: tuple(joint.commands) for joint in mine},
            states={joint.joint: joint.states for joint in mine},
        )

    def params(self, element: ET.Element, who: str) -> dict[str, str]:
        """Return the params of an element, by name."""
        params: dict[str, str] = {}
        for param in element.findall("param"):
            key = param.get("name", "")
            if not key:
                raise self.fail(param, f"{who}a <param> has no name", "param")
            if key in params:
                raise self.fail(param, f"{who}the param {key!r} is given twice; keep one", key)
            params[key] = (param.text or "").strip()
        return params

    def sensor(self, element: ET.Element) -> ControlSensor:
        """Return a sensor."""
        name = self.component(element)
        return ControlSensor(
            name=name,
            place=place_of(element, self.file),
            interfaces=tuple(i.get("name", "") for i in element.findall("state_interface")),
            params=self.params(element, f"sensor {name!r}: "),
        )

    def component(self, element: ET.Element) -> str:
        """Return the name of a sensor or gpio, whose interfaces may have any name but have to have one."""
        name = element.get("name", "")
        if not name:
            raise self.fail(element, f"{self.system!r}: a <{element.tag}> has no name", "name")
        for kind in ("command_interface", "state_interface"):
            for interface in element.findall(kind):
                if not interface.get("name"):
                    raise self.fail(interface, f"{element.tag} {name!r}: a <{kind}> has no name", "name")
        return name

    def joint(self, element: ET.Element) -> None:
        name = element.get("name", "")
        who = f"joint {name!r}: "
        if name not in self.joints:
            raise self.fail(element, f"{who}the robot has no such joint; {nearest(name, self.joints)}", name)
        if name in self.found.joints:
            first = self.found.joints[name]
            raise self.fail(
                element,
                f"{who}it is given twice, first in line {first.line} of {first.system!r}; keep one",
                name,
            )
        commands: dict[str, dict[str, float]] = {}
        initial: dict[str, float] = {}
        states: list[str] = []
        for interface in element:
            if interface.tag not in ("command_interface", "state_interface"):
                continue
            what = self.interface(interface, who)
            if what is None:
                continue
            if what in (commands if interface.tag == "command_interface" else states):
                raise self.fail(interface, f"{who}the <{interface.tag}> {what!r} is given twice; keep one", what)
            numbers = self.numbers(interface, who, what)
            if interface.tag == "command_interface":
                commands[what] = {k: v for k, v in numbers.items() if k != "initial_value"}
            else:
                states.append(what)
            # Where both interfaces have one, the state is what the hardware starts from.
            if "initial_value" in numbers and (interface.tag == "state_interface" or what not in initial):
                initial[what] = numbers["initial_value"]
        mimic = element.get("mimic")
        try:
            mimics = None if mimic is None else parse_bool(mimic, "mimic")
        except ModelError as error:
            raise self.fail(element, who + error.message, "mimic") from error
        params = self.params(element, who)
        if "initial_position" in params and "position" not in initial:
            # The older way to say it, of gazebo_ros2_control.
            try:
                initial["position"] = float(parse_number(params["initial_position"], "initial_position"))
            except ModelError as error:
                raise self.fail(element, who + error.message, "initial_position") from error
            if not math.isfinite(initial["position"]):
                raise self.fail(element, f"{who}initial_position is not finite", "initial_position")
        self.found.joints[name] = ControlledJoint(
            joint=name,
            system=self.system,
            hardware=self.hardware,
            commands=commands,
            states=tuple(states),
            initial=initial,
            params=params,
            mimics=mimics,
            file=self.file,
            line=line_of(element),
        )

    def interface(self, element: ET.Element, who: str) -> str | None:
        """Return the name of an interface, or None for one that is the hardware's own and has no effect."""
        what = element.get("name", "")
        if not what:
            raise self.fail(
                element, f"{who}a <{element.tag}> has no name; must be one of {', '.join(INTERFACES)}", "name"
            )
        if what in INTERFACES:
            return what
        close = difflib.get_close_matches(what.lower(), INTERFACES, 1, 0.85)
        if close or not re.search(r"[_/.]", what):
            raise self.fail(
                element,
                f"{who}the <{element.tag}> is {what!r}; {nearest(what.lower(), INTERFACES)} (an interface of the "
                "hardware's own has a name of several words, joined by '_', '/' or '.')",
                what,
            )
        self.note(element, f"joint {element_name(who)}: the <{element.tag}> {what!r} has no effect")
        return None

    def numbers(self, interface: ET.Element, who: str, what: str) -> dict[str, float]:
        """Return the params min, max and initial_value of an interface; others are the hardware's."""
        out: dict[str, float] = {}
        for param in interface.findall("param"):
            key = param.get("name", "")
            if key not in ("min", "max", "initial_value"):
                continue
            text = (param.text or "").strip()
            if re.fullmatch(r"\$?\{.*\}", text):
                # Universal Robots' own files have limits such as {-2*pi}, which xacro leaves as they are.
                self.note(param, f"{who}{what} {key} is {text[:40]!r}, which xacro did not expand; it is left out")
                continue
            try:
                value = float(parse_number(text, f"{what} {key}"))
            except ModelError as error:
                raise self.fail(param, who + error.message, key) from error
            if key == "initial_value" and not math.isfinite(value):
                raise self.fail(param, f"{who}{what} {key} is {value}; must be a finite number", key)
            if key in out:
                raise self.fail(param, f"{who}{what} {key} is given twice; keep one", key)
            out[key] = value
        if out.get("min", -math.inf) > out.get("max", math.inf):
            raise self.fail(
                interface, f"{who}{what}: min {out['min']:g} is above max {out['max']:g}; must be below it", "min"
            )
        return out


def element_name(who: str) -> str:
    """Return the quoted name in "joint 'name': "."""
    return who.removeprefix("joint ").removesuffix(": ")


def read_transmissions(
    root: ET.Element, joints: Mapping[str, str], file: str | Path | None = None
) -> tuple[dict[str, ControlledJoint], list[str]]:
    """Return the joints driven by ROS 1 ``<transmission>`` tags, in the form of ros2_control joints, and notes.

    Unsupported interfaces and unknown joints cause a note instead of an error, because such tags describe a controller
    rather than the robot, and are often outdated.
    """
    found: dict[str, ControlledJoint] = {}
    notes: list[str] = []
    for transmission in root.findall("transmission"):
        for element in transmission.findall("joint"):
            name = element.get("name", "")
            place = place_of(element, file)
            if name not in joints:
                notes.append(f"{place}<transmission> joint {name!r} is not of the robot; {nearest(name, joints)}")
                continue
            # Old files have the interface with the actuator.
            both = [*element.findall("hardwareInterface"), *transmission.findall("actuator/hardwareInterface")]
            given = [(node.text or "").strip().rpartition("/")[2] for node in both]
            commands = {HARDWARE_INTERFACES[g]: {} for g in given if g in HARDWARE_INTERFACES}
            if not commands or name in found:
                continue
            found[name] = ControlledJoint(
                joint=name,
                system=transmission.get("name", ""),
                commands=commands,
                file=file,
                line=line_of(element),
            )
    return found, notes


def read_all(root: ET.Element, types: Mapping[str, str], file: str | Path | None = None) -> Ros2Control:
    """Return all joints driven by ros2_control tags or, in a file without such tags, by transmissions, and notes."""
    found = read_ros2_control(root, types, file)
    if root.find(".//ros2_control") is not None:
        return found
    joints, notes = read_transmissions(root, types, file)
    return Ros2Control(joints=joints, notes=notes)
