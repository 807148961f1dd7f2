"""Read URDF: bodies, compliant actuators, sensors and interfaces of one robot.

Plugin tags and sensor tags become what the wings that read them say. Others are listed in the robot's notes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import mujoco

from pliant.base.documents.xml_tree import Node
from pliant.base.errors import ModelError
from pliant.formats.source import DEFAULT_TIMESTEP, Draft, FoundTags, Source, WingTags, read_tags, tag_readers
from pliant.formats.urdf import read_bodies
from pliant.model.check.declared import wide_play
from pliant.model.description import REST_KEY, is_authored
from pliant.model.interface import Interface
from pliant.model.robot import Robot
from pliant.model.sensors import Camera, SensorDescription


def read_urdf(source: Source) -> Robot:
    """Return the robot of a URDF file.

    Raises:
        ModelError: the description is wrong; the message names file and line.
        MissingDependency: a mesh needs a converter that is not installed.
    """
    return robot_of_urdf(source.root, source)


def robot_of_urdf(root: Node, source: Source, found: FoundTags | None = None) -> Robot:
    """Return the robot of a URDF tree.

    Args:
        root: the robot element; it is changed.
        source: the file that it comes from, and how to read it.
        found: what wings found in the tags of a file that the tree was made from; None reads those of the tree.
    """
    path = source.path
    types = {j.get("name", ""): j.get("type", "") for j in root.findall("joint")}
    if found is None:
        found = read_tags(root, types, path, source.package_paths)
    tags = found.wings.values()
    model = read_bodies(
        root,
        path,
        package_paths=source.package_paths,
        allow_missing_meshes=source.allow_missing_meshes,
        self_collision=source.self_collision,
    )
    if not is_authored(model.spec, "timestep"):
        model.spec.option.timestep = DEFAULT_TIMESTEP
    draft = Draft(
        root=root,
        types=types,
        spec=model.spec,
        mimics=model.mimics,
        actuators=found.actuators,
        joints=found.joints,
        sensors=found.sensors,
        notes=[note for of_wing in tags for note in of_wing.notes],
    )
    for of_wing in tags:
        if of_wing.complete is not None:
            of_wing.complete(draft)
    notes = [*draft.notes, *_place_initially(draft, tags)]
    joints = {}
    for joint, described in found.joints.items():
        limits = [v for v in (model.velocity_limits.get(joint), described.velocity_limit) if v is not None]
        joints[joint] = dataclasses.replace(described, velocity_limit=min(limits, default=None))
    extensions = {name: of_wing.extension for name, of_wing in found.wings.items() if of_wing.extension is not None}
    robot = Robot(
        model.spec,
        found.actuators,
        [*_shown(found), *(device for of_wing in tags for device in of_wing.devices)],
        interface=Interface(joints=joints, extensions=extensions),
        notes=[*found.notes, *notes, *model.notes],
        file=path,
    )
    for joint, actuator in robot.actuators.items():
        wide = wide_play(robot, joint, actuator)
        if wide is not None:
            described = robot.interface.joints.get(joint)
            raise ModelError(wide.message, file=path, line=described.line if described else None, field=wide.field)
    return robot


def _shown(found: FoundTags) -> list[SensorDescription]:
    """Return the sensors; of a robot that wings show, those that no plugin reads are described and not enabled."""
    tags = found.wings
    showing = [reader.title for reader in tag_readers() if reader.name in tags and tags[reader.name].selects]
    if not showing:
        return found.sensors
    used = {name for of_wing in tags.values() for name in of_wing.used}
    colored = {name for of_wing in tags.values() for name in of_wing.colored}
    silent = [s.name for s in found.sensors if s.name not in used and s.enabled]
    if silent:
        found.notes.append(
            f"{len(silent)} sensors that no {' or '.join(showing)} plugin reads ({', '.join(silent[:3])}"
            f"{', ...' if len(silent) > 3 else ''}) are not enabled: --set NAME.enabled=true"
        )
    shown = [s if s.name in used else dataclasses.replace(s, enabled=False) for s in found.sensors]
    return [dataclasses.replace(s, color=True) if isinstance(s, Camera) and s.name in colored else s for s in shown]


def _place_initially(draft: Draft, tags: Iterable[WingTags]) -> list[str]:
    """Give a robot a key frame with the joints at the initial positions that tags give, unless every joint starts at 0.

    A joint that mimics another and has no initial position of its own is put where the other puts it.

    Returns:
        Notes on initial positions outside of the joint's limits.
    """
    notes = []
    initial: dict[str, float] = {}
    places: dict[str, str] = {}
    for of_wing in tags:
        initial = {**of_wing.initial, **initial}
        places = {**of_wing.places, **places}
    for mimic in draft.mimics:
        if mimic.joint not in initial and mimic.other in initial:
            initial[mimic.joint] = mimic.multiplier * initial[mimic.other] + mimic.offset
    joints = {j.name: j for j in draft.spec.joints}
    single = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
    initial = {n: v for n, v in initial.items() if v != 0.0 and n in joints and joints[n].type in single}
    if not initial or any(k.name == REST_KEY for k in draft.spec.keys):
        return notes
    try:
        model = draft.spec.copy().compile()
    except (ValueError, RuntimeError):
        return notes  # the robot's own check says what is wrong with it
    qpos = model.qpos0.copy()
    for name, value in initial.items():
        joint = model.joint(name)
        qpos[joint.qposadr[0]] = value
        low, high = model.jnt_range[joint.id]
        if model.jnt_limited[joint.id] and not low <= value <= high:
            limits = f"outside of its limits {low:g} to {high:g}"
            notes.append(f"{places.get(name, '')}joint {name!r} starts at {value:g}, {limits}")
    draft.spec.add_key(name=REST_KEY, qpos=qpos)
    return notes
