"""The YAML file of the toolbox's plugin manager: which joint each element of the reference arrays drives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from pliant.base.documents.yaml_tree import Document
from pliant.base.errors import ModelError, nearest
from pliant.base.options import parse_number
from pliant.laws import COMMAND_NAMES, Mode
from pliant.model.interface import PluginManager
from pliant.model.robot import Robot

MANAGER_FIELDS = ("namespace", "T_sample", "joints_number", "joints_name", "ref1_topic_name", "ref2_topic_name")
"""Parameters of the manager; the original exits where one is missing."""

ALIASES: dict[str, str] = {
    # A sample file of the toolbox and the paper use other names than its code.
    "tau_m1_command": "torque_m1_command",
    "tau_m2_command": "torque_m2_command",
    "motor_1_command": "torque_m1_command",
    "motor_2_command": "torque_m2_command",
}


def give_manager(robot: Robot, document: Document, at: tuple[str, ...] = (), namespace: str | None = None) -> None:
    """Give a robot the manager that a document describes.

    Args:
        robot: the robot; its namespace, sample time and notes change too.
        document: the manager's file, or a file with a manager in it.
        at: keys that lead to the manager.
        namespace: namespace in place of the manager's; None for that.

    Raises:
        ModelError: as of `read_manager`.
    """
    modes = {joint: actuator.mode for joint, actuator in robot.actuators.items()}
    manager, notes = read_manager(document, [j for j in robot.joints if j], modes, at)
    robot.interface = robot.interface.replace(
        manager=manager,
        namespace=manager.namespace if namespace is None else namespace,
        sample_time=manager.sample_time,
    )
    robot.notes.extend(notes)


def read_manager(
    document: Document,
    joints: Iterable[str],
    modes: Mapping[str, Mode] | None = None,
    at: tuple[str, ...] = (),
) -> tuple[PluginManager, list[str]]:
    """Return the manager that a document describes.

    Args:
        document: the manager's file, or a file with a manager in it.
        joints: names of the joints of the robot.
        modes: operation mode of the compliant joints, to say where a topic does not fit the mode; None skips that.
        at: keys that lead to the manager.

    Returns:
        (manager, notes): the settings, and what was accepted under another name or does not fit.

    Raises:
        ModelError: a parameter that is missing, unknown or not valid; the message names file, line and parameter.
    """
    part = document.value
    for key in at:
        part = part[key]
    known = list(joints)
    notes: list[str] = []

    def fail(message: str, *keys: object) -> ModelError:
        return ModelError(
            message, file=document.file, line=document.line(*at, *keys), field=str(keys[0]) if keys else None
        )

    if not isinstance(part, Mapping):
        raise fail(f"the manager's settings are {part!r}; must be a mapping with {', '.join(MANAGER_FIELDS)}")
    for key in part:
        if key not in MANAGER_FIELDS:
            raise fail(f"unknown parameter {key!r}; {nearest(str(key), MANAGER_FIELDS)}", key)
    missing = [name for name in MANAGER_FIELDS if name not in part]
    if missing:
        raise fail(f"the parameters {', '.join(missing)} are missing; all of {', '.join(MANAGER_FIELDS)} are required")

    namespace = part["namespace"]
    if not isinstance(namespace, str) or not namespace.strip("/") or any(c.isspace() for c in namespace):
        raise fail(f"namespace is {namespace!r}; must be a name without blanks", "namespace")
    try:
        sample_time = parse_number(part["T_sample"], "T_sample")
        count = parse_number(part["joints_number"], "joints_number", integer=True)
    except ModelError as error:
        raise fail(error.message, error.field) from error
    if not (math.isfinite(sample_time) and sample_time > 0.0):
        raise fail(f"T_sample is {sample_time:g}; must be a period above 0 s, such as 0.01", "T_sample")
    if count < 1:
        raise fail(f"joints_number is {count}; must be 1 or more", "joints_number")

    lists: dict[str, list[str]] = {}
    for name in ("joints_name", "ref1_topic_name", "ref2_topic_name"):
        value = part[name]
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise fail(f"{name} is {value!r}; must be a list of {count} names", name)
        if len(value) != count:
            raise fail(f"{name} has {len(value)} entries, joints_number is {count}; they must agree", name)
        lists[name] = value
    for index, joint in enumerate(lists["joints_name"]):
        if joint not in known:
            raise fail(
                f"joints_name[{index}] is {joint!r}, which the robot does not have; {nearest(joint, known)}",
                "joints_name",
                index,
            )
        if lists["joints_name"].index(joint) != index:
            raise fail(f"joints_name[{index}] is {joint!r} again; each joint once", "joints_name", index)

    references: list[list[str]] = []
    for which, name in enumerate(("ref1_topic_name", "ref2_topic_name")):
        valid = sorted({names[which] for names in COMMAND_NAMES.values()})
        chosen = []
        for index, topic in enumerate(lists[name]):
            suffix = topic.strip().strip("/")
            if suffix in ALIASES and ALIASES[suffix] in valid:
                notes.append(
                    f"{document.file}:{document.line(*at, name, index)}: {topic!r} is taken as "
                    f"'/{ALIASES[suffix]}', the name that the toolbox's code uses"
                )
                suffix = ALIASES[suffix]
            if suffix not in valid:
                raise fail(
                    f"{name}[{index}] is {topic!r}; {nearest('/' + suffix, ['/' + v for v in valid])}", name, index
                )
            joint = lists["joints_name"][index]
            if modes is not None and joint in modes and COMMAND_NAMES[modes[joint]][which] != suffix:
                mode = modes[joint]
                notes.append(
                    f"{document.file}:{document.line(*at, name, index)}: joint {joint!r} is in mode {mode.value}, "
                    f"which listens to '/{COMMAND_NAMES[mode][which]}', not to {topic!r}: its element has no effect"
                )
            chosen.append(suffix)
        references.append(chosen)
    manager = PluginManager(
        namespace=namespace.strip("/"),
        sample_time=float(sample_time),
        joints=tuple(lists["joints_name"]),
        ref_1=tuple(references[0]),
        ref_2=tuple(references[1]),
        file=None if document.file is None else str(document.file),
    )
    return manager, notes
