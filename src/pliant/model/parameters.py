"""Parameters by dotted path: conversion of text to typed values, and copies of frozen dataclasses with changes."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pliant.base.errors import DeviceError, LawError, ModelError, nearest
from pliant.base.options import parse_number, parse_value
from pliant.base.options.values import members
from pliant.laws import PID, CompliantActuator, DCMotor, Law, LeverDrive, Mode, get_law
from pliant.laws.fields import COMMANDS

T = TypeVar("T")

MODE_NAMES: dict[str, Mode] = {
    "LinkTorque": Mode.LINK_TORQUE,
    "LinkPID": Mode.LINK_PID,
    "SpringRefs": Mode.SPRING_REFS,
    "SpringEqPres": Mode.SPRING_EQ_PRESET,
    "MotorTorques": Mode.MOTOR_TORQUES,
    "PIDRefs": Mode.PID_REFS,
    "PIDEqPres": Mode.PID_EQ_PRESET,
}
"""The toolbox's names of the operation modes."""

PASSIVE_SPRING = ("stiffness", "springref")
"""Parameters of MuJoCo's passive joint spring, which a compliant joint does not have beside its actuator."""


@functools.cache
def _hints(cls: type) -> dict[str, object]:
    """Return the types of a dataclass's fields; batches ask for them once a world."""
    return typing.get_type_hints(cls)


def parse_mode(value: object, what: str = "mode") -> Mode:
    """Return an operation mode given as 0..6 or by name (`Mode` or the toolbox's).

    Raises:
        ModelError: there is no such mode.
    """
    if isinstance(value, Mode):
        return value
    names = {m.name.lower(): m for m in Mode} | {name.lower(): mode for name, mode in MODE_NAMES.items()}
    text = str(value).strip()
    if text.lower() in names:
        return names[text.lower()]
    try:
        return Mode(parse_number(value, what, integer=True))
    except (ModelError, ValueError):
        valid = ", ".join(f"{mode.value} {name}" for name, mode in MODE_NAMES.items())
        raise ModelError(f"{what} is {value!r}; must be {valid}", field=what) from None


def convert(value: object, hint: object, what: str) -> object:
    """Return a value as the annotated type of a dataclass field.

    Args:
        value: text or an object of the right type.
        hint: the annotation: float, int, bool, str, Mode, a dataclass, or one of them or None.
        what: how the message names it.

    Raises:
        ModelError: the value does not convert.
    """
    kinds = members(hint)
    if types.NoneType in kinds and (value is None or (isinstance(value, str) and value.lower() in ("none", "null"))):
        return None
    blocks = tuple(kind for kind in kinds if isinstance(kind, type) and dataclasses.is_dataclass(kind))
    if blocks:
        if isinstance(value, blocks):
            return value
        if isinstance(value, Mapping):
            return rebuild(blocks[0](), dict(value), what)
        valid = [f"{what}.{f.name}" for f in dataclasses.fields(blocks[0])]
        raise ModelError(f"{what} is {value!r}; it has parts, set one of them: {', '.join(valid)}", field=what)
    return parse_mode(value, what) if Mode in kinds else parse_value(value, hint, what)


def changed_fields(
    kind: type, tree: Mapping[str, object], where: str, current: object | None = None
) -> dict[str, object]:
    """Return fields of a dataclass from text or values; a change of a nested one is a mapping.

    Args:
        kind: the dataclass; its name cannot be changed.
        tree: changes by name.
        where: path in front of the names, for messages.
        current: the instance that is changed; None: nested ones start from their defaults.

    Raises:
        ModelError: an unknown field, a value that does not convert or that a nested class refuses.
    """
    hints = _hints(kind)
    valid = [f.name for f in dataclasses.fields(kind) if f.name != "name"]
    changes: dict[str, object] = {}
    for name, value in tree.items():
        path = f"{where}.{name}" if where else name
        if name not in valid:
            raise ModelError(f"{path}: {kind.__name__} has no {name!r}; {nearest(str(name), valid)}", field=path)
        block = getattr(current, name, None)
        if isinstance(value, Mapping) and dataclasses.is_dataclass(block):
            changes[name] = rebuild(block, value, path)
        else:
            changes[name] = convert(value, hints[name], path)
    return changes


def rebuild(instance: T, tree: Mapping[str, object], where: str) -> T:
    """Return a copy of a frozen dataclass with changes; a change of a nested one is a mapping.

    Raises:
        ModelError: an unknown field, a value that does not convert or that the class refuses.
    """
    same: Any = instance
    changes = changed_fields(type(instance), tree, where, instance)
    try:
        return dataclasses.replace(same, **changes)
    except (LawError, DeviceError) as error:
        given = ", ".join(f"{where}.{k}={v}" for k, v in tree.items() if not isinstance(v, Mapping))
        raise ModelError(
            f"{given or where}: {error.where}{error.message}", field=f"{where}.{error.field or ''}"
        ) from error


def _defaults_follow(actuator: CompliantActuator, mode: Mode) -> dict[str, object]:
    """Return what has to change with the mode because it was a default of the mode."""
    link = PID(kp=0.8, kd=0.2)
    if mode == Mode.LINK_PID and actuator.mode != Mode.LINK_PID and actuator.pid_1 == PID():
        return {"pid_1": None}
    if mode != Mode.LINK_PID and actuator.mode == Mode.LINK_PID and actuator.pid_1 == link:
        return {"pid_1": None}
    return {}


def flat_values(value: object, path: str = "") -> dict[str, object]:
    """Return the values of nested dataclasses by their paths, such as ``motor_1.friction.torque``."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        out: dict[str, object] = {}
        for item in dataclasses.fields(value):
            out |= flat_values(getattr(value, item.name), f"{path}.{item.name}" if path else item.name)
        return out
    return {path: value}


def put_value(tree: dict[str, object], names: Sequence[str], value: object, path: str) -> None:
    """Set a value in a tree of nested mappings, such as `change_actuator` takes.

    Args:
        tree: the tree.
        names: names of the blocks, and of the value.
        value: the value.
        path: its whole path, for messages.

    Raises:
        ModelError: a block of the path has been set as a whole.
    """
    for name in names[:-1]:
        inner = tree.setdefault(name, {})
        if not isinstance(inner, dict):
            raise ModelError(f"{path}: {name!r} is also set as a whole", field=path)
        tree = inner
    tree[names[-1]] = value


def change_actuator(actuator: CompliantActuator, tree: Mapping[str, object], where: str) -> CompliantActuator:
    """Return an actuator with changed parameters.

    Args:
        actuator: the actuator to start from.
        tree: changes by name; the law's own parameters may stand beside the actuator's (``{"k": 200}``); nested
            blocks are mappings (``{"motor_1": {"inertia": 0.03}}``); ``"law"`` takes a law's name or a mapping.
        where: path in front of the names, for messages.

    Raises:
        ModelError: an unknown name, with the nearest valid one; a value that does not convert or is out of range.
    """
    own = [f.name for f in dataclasses.fields(CompliantActuator)]
    hints = _hints(CompliantActuator)
    changes: dict[str, object] = {}
    law: Law = actuator.law
    law_tree: dict[str, object] = {}
    for name, value in tree.items():
        if name == "law":
            if isinstance(value, Law):
                law = value
            elif isinstance(value, Mapping):
                law_tree.update(value)
            else:
                try:
                    law = get_law(str(value))()
                except LawError as error:
                    raise ModelError(f"{where}.law: {error.message}", field=f"{where}.law") from error
        elif name not in own:
            law_tree[name] = value
    mode = parse_mode(tree.get("mode", actuator.mode), f"{where}.mode")
    _check_names(law, mode, law_tree, where)
    if law_tree:
        law = rebuild(law, law_tree, where)
    if law is not actuator.law:
        changes["law"] = law
        if (law.motors, law.second_input) != (actuator.law.motors, actuator.law.second_input):
            # Drive and controller 2 belong to the law's kind of second input.
            changes.update(motor_2=None, pid_2=None, initial_preset=None)
            if "pressure" in (law.second_input, actuator.law.second_input):
                changes.update(motor_1=DCMotor(), pid_1=None)
    if "mode" in tree:
        changes["mode"] = mode
        changes.update(_defaults_follow(actuator, mode))
    for name, value in tree.items():
        if name in ("law", "mode") or name not in own:
            continue
        path = f"{where}.{name}"
        current = changes.get(name, getattr(actuator, name))
        if not isinstance(value, Mapping):
            changes[name] = convert(value, hints[name], path)
            continue
        if current is None:
            current = _default_block(name, law, mode, hints[name])
        if not dataclasses.is_dataclass(current):
            raise ModelError(f"{path} is a single value without a part {next(iter(value), '')!r}", field=path)
        changes[name] = rebuild(current, value, path)
    try:
        return dataclasses.replace(actuator, **changes)
    except LawError as error:
        raise ModelError(
            f"{where}: {error.message.removeprefix('CompliantActuator: ')}", field=f"{where}.{error.field or ''}"
        ) from error


def _check_names(law: Law, mode: Mode, names: Iterable[str], joint: str) -> None:
    """Raise ModelError for a name that is a parameter neither of the actuator nor of its law."""
    valid = [f.name for f in dataclasses.fields(law)]
    for name in names:
        if name in valid:
            continue
        if name in PASSIVE_SPRING:
            raise ModelError(
                f"{joint}.{name}: {joint!r} is compliant, and {name} is a parameter of MuJoCo's passive spring, which "
                f"would act beside the actuator ({law.label}); {_meant_by(law, mode, name, joint)}",
                field=f"{joint}.{name}",
            )
        own = [f.name for f in dataclasses.fields(CompliantActuator)]
        raise ModelError(
            f"{joint}.{name}: neither the actuator nor its law {law.label} has {name!r}; "
            + nearest(name, [*valid, *own], limit=40),
            field=f"{joint}.{name}",
        )


def _meant_by(law: Law, mode: Mode, name: str, joint: str) -> str:
    """Return what sets the stiffness or the rest position of a compliant joint, as the end of a message."""
    first, second = (command.name for command in COMMANDS[mode])
    if name == "springref":
        return f"the rest position of its spring follows the command {joint}/{first}"
    common = {f.name for f in dataclasses.fields(Law)}
    names = sorted((f.name for f in dataclasses.fields(law)), key=common.__contains__)
    meant = f"set a parameter of its law: {', '.join(f'{joint}.{n}' for n in names)}"
    if law.motors == 2:
        meant += f"; or the stiffness preset: {joint}.initial_preset at the start"
        meant += f", the command {joint}/{second} during a run" if second == "stiffness_preset" else ""
    return meant


def _default_block(name: str, law: Law, mode: Mode, hint: object) -> object:
    """Return the block that `CompliantActuator` takes where none is given."""
    if name in ("pid_1", "pid_2", "motor_2"):
        kind = LeverDrive if law.second_input == "lever" else DCMotor
        if name == "motor_2" and law.motors == 1:
            return kind()  # refused by the actuator, with its own message
        if name == "pid_2" and law.motors == 1:
            return PID()
        return getattr(CompliantActuator(law, mode=mode), name)
    return next(m for m in members(hint) if isinstance(m, type) and m is not types.NoneType)()
