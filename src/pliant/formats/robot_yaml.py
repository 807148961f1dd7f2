"""Read pliant's own YAML: a robot made of another file or of a catalogue name, with changes."""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pliant.base.documents.files import exists
from pliant.base.documents.yaml_tree import Document, read_yaml
from pliant.base.errors import LawError, ModelError, nearest
from pliant.base.options import describe, parse_bool
from pliant.base.wing import offer, offers
from pliant.formats.manager import give_manager
from pliant.formats.source import Block, Source
from pliant.laws import CompliantActuator, Law, Mode, get_law, registered_laws
from pliant.model.check.declared import wide_play
from pliant.model.parameters import change_actuator, parse_mode
from pliant.model.robot import Robot
from pliant.model.sensor_reading import sensor_from_mapping

__all__ = ["read_robot_yaml"]

YAML_FIELDS = ("model", "name", "namespace", "manager", "option", "actuators", "sensors", "set")
"""Fields of the core; blocks of wings stand beside them."""


def find_block(name: str) -> Block:
    """Return a block of options that a wing declares.

    Raises:
        ModelError: no wing declares one of this name.
    """
    found = offer("blocks", name)
    if found is None:
        raise ModelError(
            f"no block of options {name!r}; {nearest(name, [o.key for o in offers('blocks')])}", field=name
        )
    return found.load()


def read_robot_yaml(source: Source) -> Robot:
    """Return the robot of a YAML file: another file or a robot of the catalogue, with changes.

    Raises:
        ModelError: a field that is unknown or not valid; the message names file, line and field.
    """
    path, document = source.path, source.document
    top = document.value

    def fail(message: str, *keys: object) -> ModelError:
        return ModelError(message, file=path, line=document.line(*keys), field=".".join(map(str, keys)) or None)

    def fail_within(error: ModelError, *keys: str) -> ModelError:
        """Return an error at the part of an entry that the field of another error names."""
        within: list[object] = [*keys]
        for part in (error.field or "").removeprefix(f"{keys[-1]}.").split("."):
            if (*within, part) in document.lines:
                within.append(part)
        return fail(error.message, *within)

    blocks = [found.key for found in offers("blocks")]
    known = [*YAML_FIELDS[:-1], *blocks, YAML_FIELDS[-1]]
    if not isinstance(top, Mapping):
        raise fail(f"the file holds {top!r}; must be a mapping with {', '.join(known)}")
    if "joints_name" in top and "model" not in top:
        raise fail("this is a plugin manager's file; load the robot's URDF and name this file with manager=")
    for key in top:
        if key not in known:
            raise fail(f"unknown field {key!r}; {nearest(str(key), known)}", key)
    given = {name: find_block(name) for name in blocks if top.get(name) is not None}
    _check_types(document, path, given)
    if "model" not in top:
        raise fail("the field 'model' is missing; name a robot of the catalogue, or a file relative to this one")
    model = str(top["model"])
    beside = path.parent / model
    inner = beside if exists(beside) or re.fullmatch(r"\.[A-Za-z]+", beside.suffix) else model
    if isinstance(inner, Path) and inner.suffix.lower() in (".yaml", ".yml"):
        raise fail(f"model is {model!r}; must be a file of another kind, or a name of the catalogue", "model")
    try:
        robot = source.load(inner)
    except ModelError as error:
        if error.line is None and (error.file is None or Path(error.file) == Path(inner)):
            raise fail(f"model: {error.message}", "model") from error
        raise
    robot.file = str(path)
    if "name" in top:
        robot.spec.modelname = str(top["name"])
    if "namespace" in top:
        robot.interface = robot.interface.replace(namespace=str(top["namespace"]).strip("/"))
    for name, block in given.items():
        try:
            block.apply(robot, top[name])
        except ModelError as error:
            raise fail_within(error, name) from error
    for joint, tree in (top.get("actuators") or {}).items():
        try:
            _actuator_from_yaml(robot, joint, tree, path.parent)
        except ModelError as error:
            raise fail_within(error, "actuators", joint) from error
    for name, tree in (top.get("sensors") or {}).items():
        try:
            if any(device.name == name for device in robot.devices):
                raise ModelError(f"sensors.{name}: the model has a device of this name; set its fields under 'set'")
            robot.devices.append(sensor_from_mapping(name, tree, f"sensors.{name}"))
        except ModelError as error:
            inner = (error.field or "").removeprefix(f"sensors.{name}.")
            raise fail(error.message, "sensors", name, *([inner] if inner in tree else [])) from error
    for section in ("option", "set"):
        for name, value in (top.get(section) or {}).items():
            dotted = f"option.{name}" if section == "option" else name
            joint, _, leaf = str(dotted).rpartition(".")
            if joint in robot.actuators:
                value = _beside(type(robot.actuators[joint].law), {leaf: value}, path.parent)[leaf]
            try:
                robot.set(dotted, value)
            except ModelError as error:
                raise fail(error.message, section, name) from error
    if "manager" in top:
        namespace = robot.interface.namespace if "namespace" in top else None
        if isinstance(top["manager"], str):
            give_manager(robot, read_yaml(path.parent / top["manager"]), namespace=namespace)
        else:
            give_manager(robot, document, ("manager",), namespace)
    return robot


def _check_types(document: Document, path: Path, blocks: Mapping[str, Block]) -> None:
    """Check the types of the top level; what lies below is checked where it is used."""
    import msgspec

    Top = msgspec.defstruct(
        "Robot",
        [
            ("model", str, msgspec.UNSET),
            ("name", str, msgspec.UNSET),
            ("namespace", str, msgspec.UNSET),
            ("manager", str | dict[str, Any], msgspec.UNSET),
            ("option", dict[str, Any] | None, None),
            ("actuators", dict[str, dict[str, Any]] | None, None),
            ("sensors", dict[str, dict[str, Any]] | None, None),
            *((name, block.type | None, None) for name, block in blocks.items()),
            ("set", dict[str, Any] | None, None),
        ],
    )
    try:
        msgspec.convert(document.value, Top)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `")
        keys = [int(k) if k.isdigit() else k for k in where.rstrip("`").removeprefix("$").strip(".").split(".") if k]
        shown = ".".join(map(str, keys)) or "the file"
        raise ModelError(f"{shown}: {message}", file=path, line=document.line(*keys), field=shown) from error


def _beside(law: type[Law], tree: Mapping[str, object], folder: Path) -> dict[str, object]:
    """Return the parameters of a law, its files relative to a folder."""
    files = [info.name for info in describe(law) if Path in (info.type, *typing.get_args(info.type))]
    return {k: folder / v if k in files and isinstance(v, str) and v else v for k, v in tree.items()}


def _actuator_from_yaml(robot: Robot, joint: str, tree: Mapping[str, object], folder: Path) -> None:
    existing = robot.actuators.get(joint)
    name = tree.get("law")
    law = registered_laws().get(str(name)) or (type(existing.law) if existing is not None else Law)
    tree = _beside(law, tree, folder)
    if parse_bool(tree.pop("replace", False), f"actuators.{joint}.replace"):
        for own in robot.remove_own_actuators(joint):
            robot.notes.append(f"joint {joint!r} has a compliant actuator in place of the model's own, {own!r}")
    if existing is None:
        if not isinstance(name, str):
            raise ModelError(
                f"actuators.{joint}: the field 'law' is missing; must be one of {', '.join(sorted(registered_laws()))}",
                field=f"{joint}.law",
            )
        try:
            existing = CompliantActuator(get_law(name)())
        except LawError as error:
            raise ModelError(f"actuators.{joint}: {error.message}", field=f"{joint}.law") from error
        del tree["law"]
        actuator = change_actuator(existing, tree, joint)
        robot.add_actuator(joint, actuator)
    else:
        of_link = existing.mode is Mode.LINK_PID and "law" in tree and "pid_1" not in tree
        if of_link and parse_mode(tree.get("mode", Mode.LINK_PID)) != Mode.LINK_PID:
            existing = dataclasses.replace(existing, pid_1=None)  # the gains are those of the link, not of a motor
        robot.actuators[joint] = change_actuator(existing, tree, joint)
    wide = wide_play(robot, joint, robot.actuators[joint])
    if wide is not None:
        raise wide
