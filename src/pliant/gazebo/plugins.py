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
from pathlib import Path
from typing import Any

from pliant.base.documents.xml_tree import line_of
from pliant.base.errors import LawError, ModelError, nearest
from pliant.base.options import parse_number
from pliant.formats.source import TagReader
from pliant.formats.tags import Tags, library_of, place_of
from pliant.gazebo.plugin_kinds import CONTROLLER_TAGS, PLUGINS, REQUIRED_TAGS, PluginKind
from pliant.gazebo.written import write_plugin
from pliant.laws import PID, CompliantActuator, DCMotor, Mode
from pliant.model.interface import JointInterface
from pliant.model.parameters import change_actuator, put_value


def _kind_name(filename: str) -> str:
    """Return the X of libX_plugin.so, "" for another file name."""
    match = re.fullmatch(r"(?:lib)?(\w+?)_plugin(?:\.so|\.dylib|\.dll)?", library_of(filename))
    return match.group(1) if match else ""


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
                self.refuse(f"the required tag <{tag}> is missing; must be {REQUIRED_TAGS[tag]}", tag, element)

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
            valid = REQUIRED_TAGS["operation_mode"]
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

    def block(self, default: Any, prefix: str, tags: Mapping[str, str]) -> Any:
        """Return a motor, a drive or a controller: the default with the values of the tags, path by tag."""
        values: dict[str, object] = {}
        fields = {prefix + part: path.partition(".") for part, path in tags.items()}
        for tag, (name, _, leaf) in fields.items():
            known = getattr(default, name)
            if leaf:
                number = self.value(tag, getattr(known, leaf))
                values[name] = self.build(type(known), {leaf: number}, {tag: leaf}) or known
            else:
                values[name] = self.value(tag, known)
        return self.build(type(default), values, {tag: name for tag, (name, _, _) in fields.items()})

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


def read_plugin(
    element: ET.Element, joints: Mapping[str, str], file: str | Path | None, notes: list[str]
) -> tuple[CompliantActuator, JointInterface]:
    """Return the actuator of a joint that a plugin element of the toolbox describes, and what it publishes.

    Args:
        element: the plugin element, of a kind in `PLUGINS`.
        joints: type of every joint of the description, by name.
        file: name of the file, for messages.
        notes: list to which tags without effect are added.

    Raises:
        ModelError: a tag that is missing, unknown, given twice or not valid; a joint that does not exist or cannot be
            driven. The message names file, line and tag.
    """
    kind = PLUGINS[_kind_name(element.get("filename", ""))]
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
    motor, gains = usual.motor_1 or DCMotor(), usual.pid_1 or PID()
    motors = [reader.block(motor, prefix, kind.motor_tags) for prefix in kind.motors]
    first = PID(kp=0.8, kd=0.2) if mode == Mode.LINK_PID else gains
    controllers = [reader.block(first if not i else gains, p, CONTROLLER_TAGS) for i, p in enumerate(kind.controllers)]
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


READER = TagReader(
    name="plugins",
    title="the toolbox",
    owns=lambda filename: _kind_name(filename) in PLUGINS,
    actuator=read_plugin,
    write=write_plugin,
)
"""The toolbox's plugin tags, one element for each joint."""
