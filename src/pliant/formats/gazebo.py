"""The `<gazebo><plugin>` tags of the ROS-Gazebo compliant-actuator toolbox, with the defaults of its code.

One plugin element describes one joint. Text between the tags is ignored, as Gazebo does; a value has to be a number
and nothing else. Where the code's defaults and the comments of its templates differ, the code's hold: motor damping
0.2698 N m s/rad (the templates print 0.0019) and motor friction 0.02 N m (0.5).
"""

from __future__ import annotations

import ast
import math
import operator
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pliant.base.documents.xml_tree import line_of
from pliant.base.errors import LawError, ModelError, nearest
from pliant.base.options import parse_number
from pliant.formats.block_tags import block_tags
from pliant.formats.sensor_tags import is_sensor_plugin
from pliant.formats.source import tag_readers
from pliant.formats.tags import Tags, place_of
from pliant.laws import PID, CompliantActuator, DCMotor, Drive, Law, Mode, PreslidingFriction, get_law
from pliant.model.interface import JointInterface
from pliant.model.parameters import MODE_NAMES, change_actuator, put_value


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginKind:
    """Meaning of the tags of one of the toolbox's plugins."""

    name: str
    """The X of libX_plugin.so."""
    law_name: str
    """Name of the law of the spring."""
    springs: Mapping[str, str]
    """Parameter of the law by tag."""
    motors: tuple[str, ...]
    """Prefix of the motor tags, one entry a motor; of muscles, of the tags of their valves."""
    controllers: tuple[str, ...]
    """Prefix of the controller tags, one entry a motor."""
    unused: tuple[str, ...] = ()
    """Tags that the original reads and never uses."""
    files: tuple[str, ...] = ()
    """Tags of ``springs`` that name a file, relative to the description."""
    flags: tuple[str, ...] = ()
    """Tags of ``springs`` that are true or false."""

    @property
    def law(self) -> type[Law]:
        """Law of the spring."""
        return get_law(self.law_name)

    @property
    def motor_tags(self) -> Mapping[str, str]:
        """Field of a motor, or of the drive of a muscle, by tag without prefix."""
        return DRIVE_TAGS if self.law.second_input == "pressure" else MOTOR_TAGS

    @property
    def tags(self) -> list[str]:
        """Every tag that may stand in the plugin element."""
        motors = [prefix + part for prefix in self.motors for part in self.motor_tags]
        controllers = [prefix + part for prefix in self.controllers for part in CONTROLLER_TAGS]
        return [*REQUIRED_TAGS, *self.springs, *self.unused, *motors, *controllers, *self.blocks]

    @property
    def blocks(self) -> dict[str, str]:
        """Path of a parameter of the actuator by tag, for what the toolbox has no tags for."""
        own = {name if name != "friction" else "friction.torque" for name in MOTOR_TAGS.values()}
        return block_tags(self.motors, [f"motor_{k + 1}.{name}" for k in range(len(self.motors)) for name in own])


REQUIRED_TAGS = ("joint", "operation_mode", "pub_eltau", "pub_state", "sub_ext_tau")
MOTOR_TAGS = {
    "J": "inertia",
    "D": "damping",
    "tauMax": "max_torque",
    "maxVel": "max_velocity",
    "minPos": "min_position",
    "maxPos": "max_position",
    "tauFric": "friction",
}
DRIVE_TAGS = {
    "supply": "supply_pressure",
    "ambient": "ambient_pressure",
    "conductance": "conductance",
    "criticalRatio": "critical_ratio",
    "timeConstant": "time_constant",
    "deadVolume": "dead_volume",
    "exponent": "exponent",
}
CONTROLLER_TAGS = {"P": "kp", "I": "ki", "D": "kd"}

PLUGINS: dict[str, PluginKind] = {
    kind.name: kind
    for kind in (
        PluginKind(
            name="sea",
            law_name="sea",
            springs={"spring_k": "k", "max_def": "max_deflection"},
            motors=("mot_",),
            controllers=("ctrl_",),
        ),
        PluginKind(
            name="qbmove",
            law_name="qbmove",
            springs={
                "spring_a1": "a1",
                "spring_k1": "k1",
                "spring_a2": "a2",
                "spring_k2": "k2",
                "max_def": "max_deflection",
            },
            motors=("mot_1_", "mot_2_"),
            controllers=("ctrl_1_", "ctrl_2_"),
        ),
        PluginKind(
            name="bavs",
            law_name="bavs",
            springs={
                "spring_a": "a",
                "spring_b": "b",
                "spring_k": "k",
                "spring_k_e": "k_e",
                "max_def": "max_deflection",
            },
            motors=("mot_1_", "mot_2_"),
            controllers=("ctrl_1_", "ctrl_2_"),
        ),
        PluginKind(
            name="awas_ii",
            law_name="awas_ii",
            springs={"spring_Ks": "Ks", "spring_L": "L", "spring_r_t": "r_t", "max_def": "max_deflection"},
            motors=("mot_",),
            controllers=("ctrl_",),
            unused=("spring_l_0",),
        ),
        PluginKind(
            name="pam",
            law_name="pam",
            springs={
                "muscle_radius": "radius",
                "muscle_length": "length",
                "braid_angle": "braid_angle",
                "end_correction": "end_correction",
                "muscle_contraction": "contraction",
                "pulley_radius": "pulley_radius",
                "max_def": "max_deflection",
            },
            motors=("valve_1_", "valve_2_"),
            controllers=("ctrl_1_", "ctrl_2_"),
        ),
        PluginKind(
            name="sea_table",
            law_name="sea_table",
            springs={"spring_table": "table", "spring_odd": "odd", "spring_scale": "torque_scale"},
            files=("spring_table",),
            flags=("spring_odd",),
            motors=("mot_",),
            controllers=("ctrl_",),
        ),
    )
}
"""The plugins by the X of libX_plugin.so: four of the toolbox, and pliant's own of the same form."""


@dataclass(slots=True)
class Plugins:
    """Findings in the plugin elements of a description."""

    actuators: dict[str, CompliantActuator] = field(default_factory=dict)
    """Compliant actuators by joint, in the order of the file."""
    joints: dict[str, JointInterface] = field(default_factory=dict)
    """Published quantities of each of these joints, by joint."""
    notes: list[str] = field(default_factory=list)
    """Plugins that were not understood, and tags without effect."""


def read_plugins(root: ET.Element, joints: Mapping[str, str], file: str | Path | None = None) -> Plugins:
    """Read all plugin elements below an element of a URDF or SDF.

    Args:
        root: root of the description.
        joints: type of every joint of the description, by name.
        file: name of the file, for messages.

    Raises:
        ModelError: a tag that is missing, unknown, given twice or not valid; a joint that does not exist, cannot be
            driven or is described twice. The message names file, line and tag.
    """
    found = Plugins()
    of_wings = tag_readers()
    others = [element for reader in of_wings for tag in reader.elements for element in root.iter(tag)]
    elsewhere = {id(plugin) for element in others for plugin in element.iter("plugin")}
    for element in root.iter("plugin"):
        if id(element) in elsewhere:
            continue
        filename = element.get("filename", "")
        name = element.get("name", "")
        kind = _kind(filename)
        if kind is None and (is_sensor_plugin(filename) or any(reader.owns(filename) for reader in of_wings)):
            continue  # read with the sensors, or by a wing
        if kind is None:
            what = f"plugin {name!r} ({filename or 'no filename'})"
            found.notes.append(f"{place_of(element, file)}{what} is not understood and left out")
            continue
        actuator, interface = _read(element, kind, joints, file, found.notes)
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
    return found


def _kind(filename: str) -> PluginKind | None:
    base = re.split(r"[/\\]", filename.strip())[-1]
    match = re.fullmatch(r"(?:lib)?(\w+?)_plugin(?:\.so|\.dylib|\.dll)?", base)
    return PLUGINS.get(match.group(1)) if match else None


class _Reader(Tags):
    """Take values out of one plugin element, remembering every fault."""

    def __init__(self, element: ET.Element, kind: PluginKind, file: str | Path | None) -> None:
        super().__init__(element, f"plugin {element.get('name', '')!r} ({kind.name})", file)
        self.faults: list[ModelError] = []
        self.tags: dict[str, ET.Element] = {}
        for child in element:
            if child.tag not in kind.tags:
                self.refuse(f"unknown tag <{child.tag}>; {nearest(child.tag, kind.tags, limit=50)}", child.tag, child)
            elif child.tag in self.tags:
                first = line_of(self.tags[child.tag])
                self.refuse(f"<{child.tag}> is given twice, first in line {first}; keep one", child.tag, child)
            else:
                self.tags[child.tag] = child
        for tag in REQUIRED_TAGS:
            # A slip of the pen in its name has been reported already, where it stands.
            slips = [
                t for t in element if t.tag not in kind.tags and f"did you mean {tag!r}" in nearest(t.tag, kind.tags)
            ]
            if tag not in self.tags and not slips:
                self.refuse(f"the required tag <{tag}> is missing; must be {_REQUIRED_HELP[tag]}", tag, element)

    def report(self, fault: ModelError) -> None:
        """Remember a fault."""
        self.faults.append(fault)

    def refuse(self, message: str, tag: str, element: ET.Element | None = None) -> None:
        """Remember a fault at a tag or an element."""
        self.report(self.fault(message, tag, element))

    def value(self, tag: str, default: float) -> float:
        """Return the number of a tag; it may be infinite."""
        text = self.text(tag)
        if tag not in self.tags:
            return default
        try:
            return float(parse_number(text, tag))
        except ModelError:
            result = _arithmetic(text)
            if result is None:
                self.refuse(f"<{tag}> is {text!r}, not a number; must be {_suggest(text)}", tag)
                return default
            self.note(self.tags[tag], f"<{tag}> is {text!r}, read as {result:g}")
            return result

    def mode(self) -> Mode:
        text = self.text("operation_mode", "6")
        if not re.fullmatch(r"\+?0*[0-6]", text):
            valid = ", ".join(f"{mode.value} {name}" for name, mode in MODE_NAMES.items())
            self.refuse(f"<operation_mode> is {text!r}; must be one of {valid}", "operation_mode")
            return Mode.PID_EQ_PRESET
        return Mode(int(text))

    def build(self, make: Any, values: dict[str, Any], tags: Mapping[str, str]) -> Any:
        """Return make(**values); a refusal is reported at the tag of the field at fault."""
        try:
            return make(**values)
        except LawError as error:
            tag = next((t for t, f in tags.items() if f == error.field), "")
            message = error.where + error.message if error.file else error.message.partition(": ")[2] or error.message
            self.refuse(f"<{tag}>: {message}" if tag in self.tags else message, tag or str(error.field))
            return None

    def finish(self) -> None:
        """Raise the first fault of the file, naming the others."""
        if not self.faults:
            return
        faults = sorted(self.faults, key=lambda f: f.line or 0)
        first, others = faults[0], faults[1:]
        if others:
            rest = "; ".join(f"line {f.line}: {f.message.removeprefix(self.who + ': ')}" for f in others[:8])
            more = f"; and {len(others) - 8} more" if len(others) > 8 else ""
            raise ModelError(f"{first.message}. Also {rest}{more}", file=self.file, line=first.line, field=first.field)
        raise first


_REQUIRED_HELP = {
    "joint": "the name of a joint of the robot",
    "operation_mode": ", ".join(f"{mode.value} {name}" for name, mode in MODE_NAMES.items()),
    "pub_eltau": "true or false (publish the elastic torques)",
    "pub_state": "true or false (publish the link state)",
    "sub_ext_tau": "true or false (listen to external torques)",
}


def _read(
    element: ET.Element, kind: PluginKind, joints: Mapping[str, str], file: str | Path | None, notes: list[str]
) -> tuple[CompliantActuator, JointInterface]:
    reader = _Reader(element, kind, file)
    joint = reader.text("joint") if "joint" in reader.tags else None
    if joint is not None:
        if joint not in joints:
            reader.refuse(f"<joint> is {joint!r}, which the robot does not have; {nearest(joint, joints)}", "joint")
        elif joints[joint] not in ("revolute", "continuous", "prismatic", "hinge", "slide"):
            reader.refuse(
                f"<joint> {joint!r} is {joints[joint]}; must be a revolute, continuous or prismatic joint", "joint"
            )
    mode = reader.mode()
    springs: dict[str, object] = {}
    for tag, name in kind.springs.items():
        if tag not in reader.tags:
            continue
        if tag in kind.files:
            springs[name] = (Path(file).parent if file is not None else Path()) / reader.text(tag)
        elif tag in kind.flags:
            springs[name] = reader.flag(tag, True)
        elif not math.isnan(value := reader.value(tag, math.nan)):
            # A text that is no number has been reported already; the law then keeps its default.
            springs[name] = value
    law = reader.build(kind.law, springs, kind.springs)
    for tag in kind.unused:
        if tag in reader.tags:
            reader.value(tag, 0.0)
            notes.append(f"{place_of(reader.tags[tag], file)}<{tag}> has no effect, as in the original toolbox")
    usual = CompliantActuator(kind.law())
    drive = usual.motor_1 if isinstance(usual.motor_1, Drive) else None
    motors = [_drive(reader, prefix, drive) if drive else _motor(reader, prefix) for prefix in kind.motors]
    controllers = [
        _controller(reader, prefix, PID(kp=0.8, kd=0.2) if mode == Mode.LINK_PID and i == 0 else usual.pid_1 or PID())
        for i, prefix in enumerate(kind.controllers)
    ]
    flags = {tag: reader.flag(tag, False) for tag in ("pub_eltau", "pub_state", "sub_ext_tau")}
    actuator = None
    if law is not None and all(motors) and all(controllers):
        blocks: dict[str, object] = {"motor_1": motors[0], "pid_1": controllers[0]}
        if len(motors) == 2:
            blocks.update(motor_2=motors[1], pid_2=controllers[1])
        actuator = reader.build(CompliantActuator, {"law": law, "mode": mode, **blocks}, {})
    if actuator is not None and joint is not None:
        actuator = _with_blocks(reader, kind, actuator, joint)
    reader.finish()
    notes.extend(reader.notes)
    if actuator is None or joint is None:
        raise ModelError(f"{reader.who}: the actuator cannot be built", file=file, line=line_of(element))
    interface = JointInterface(
        joint=joint,
        plugin=element.get("name", ""),
        publish_elastic_torque=flags["pub_eltau"],
        publish_state=flags["pub_state"],
        subscribe_external_torque=flags["sub_ext_tau"],
        file=file,
        line=line_of(element),
    )
    return actuator, interface


def _with_blocks(
    reader: _Reader, kind: PluginKind, actuator: CompliantActuator, joint: str
) -> CompliantActuator | None:
    """Return an actuator with the blocks that the tags give it; a refusal is reported at the tag at fault."""
    tree: dict[str, Any] = {}
    given = {tag: path for tag, path in kind.blocks.items() if tag in reader.tags}
    for tag, path in given.items():
        put_value(tree, path.split("."), reader.value(tag, math.nan), path)
    if not tree or reader.faults:
        return actuator
    try:
        return change_actuator(actuator, tree, joint)
    except ModelError as error:
        field_name = (error.field or "").removeprefix(f"{joint}.")
        tag = next((t for t, path in given.items() if path.startswith(field_name)), next(iter(given)))
        reader.refuse(f"<{tag}>: {error.message}", tag)
        return None


def _motor(reader: _Reader, prefix: str) -> DCMotor | None:
    default = DCMotor()
    values: dict[str, object] = {}
    for part, field_name in MOTOR_TAGS.items():
        tag = prefix + part
        if field_name == "friction":
            level = reader.value(tag, default.friction.torque)
            friction = reader.build(PreslidingFriction, {"torque": level}, {tag: "torque"})
            values["friction"] = friction or default.friction
        else:
            values[field_name] = reader.value(tag, getattr(default, field_name))
    return reader.build(DCMotor, values, {prefix + part: name for part, name in MOTOR_TAGS.items()})


def _drive(reader: _Reader, prefix: str, default: Drive) -> Drive | None:
    values = {name: reader.value(prefix + part, getattr(default, name)) for part, name in DRIVE_TAGS.items()}
    return reader.build(type(default), values, {prefix + part: name for part, name in DRIVE_TAGS.items()})


def _controller(reader: _Reader, prefix: str, default: PID) -> PID | None:
    values = {name: reader.value(prefix + part, getattr(default, name)) for part, name in CONTROLLER_TAGS.items()}
    return reader.build(PID, values, {prefix + part: name for part, name in CONTROLLER_TAGS.items()})


MAX_EXPRESSION = 200
"""Longest arithmetic expression that is read [characters]."""


def _arithmetic(text: str) -> float | None:
    """Return the result of +, -, *, /, parentheses and pow(a, b) on numbers, None for any other text.

    The toolbox's own template of the BAVS writes 1.21*pow(10,-6).
    """
    operations = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}

    def value(node: ast.AST) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return float(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
            return value(node.operand) if isinstance(node.op, ast.UAdd) else -value(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in operations:
            return operations[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "pow":
            base, exponent = node.args  # a ValueError unless there are two
            return math.pow(value(base), value(exponent))
        raise ValueError

    if len(text) > MAX_EXPRESSION or not re.fullmatch(r"[0-9eE.+*/(),\spow-]+", text) or "_" in text:
        return None
    try:
        result = value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None
    return result if math.isfinite(result) else None


_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"


def _suggest(text: str) -> str:
    """Return what to write in place of a text that is not a number."""
    text = text[:80]
    match = re.fullmatch(rf"({_NUMBER})\s*[*x]\s*10\s*\^\s*\(?\s*([+-]?\d{{1,3}})\s*\)?", text)
    if match and "e" not in match.group(1).lower():
        return repr(float(f"{match.group(1)}e{match.group(2)}"))
    if re.fullmatch(r"[+-]?\d+,\d+", text):
        return repr(float(text.replace(",", "."))) + " (a point, not a comma)"
    match = re.match(rf"({_NUMBER})\s*[\[#(a-zA-Z]", text)
    if match:
        return f"the number alone: {match.group(1)}"
    return "a number such as 0.5, 1e-6, inf or -inf"
