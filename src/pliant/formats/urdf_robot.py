"""Read URDF: bodies, compliant actuators, sensors and interfaces of one robot.

The compliant-actuator toolbox's plugin tags become compliant actuators, Gazebo's sensor tags described sensors, and the
plugin tags that wings read their devices; ``<ros2_control>`` and ``<transmission>`` tags say which joints have a
controller. Other plugins are listed in the robot's notes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from pliant.base.documents.xml_tree import Node
from pliant.base.errors import ModelError
from pliant.formats.control_sensors import served_sensors
from pliant.formats.gazebo import Plugins, read_plugins
from pliant.formats.ros2_control import read_all
from pliant.formats.sensor_tags import SensorTags, read_sensor_tags
from pliant.formats.served_joints import apply_params, command_limits, place_initially, serve_joints
from pliant.formats.source import DEFAULT_TIMESTEP, Source, WingTags, read_wing_tags, tag_readers
from pliant.formats.urdf import read_bodies
from pliant.model.check.declared import wide_play
from pliant.model.description import REST_KEY, is_authored
from pliant.model.interface import Interface, InterfaceExtension
from pliant.model.robot import Robot
from pliant.model.sensors import Camera, SensorDescription


def read_urdf(source: Source) -> Robot:
    """Return the robot of a URDF file.

    Raises:
        ModelError: the description is wrong; the message names file and line.
        MissingDependency: a mesh needs a converter that is not installed.
    """
    return robot_of_urdf(source.root, source)


def robot_of_urdf(
    root: Node,
    source: Source,
    plugins: Plugins | None = None,
    sensors: SensorTags | None = None,
    tags: Mapping[str, WingTags] | None = None,
) -> Robot:
    """Return the robot of a URDF tree.

    Args:
        root: the robot element; it is changed.
        source: the file that it comes from, and how to read it.
        plugins: compliant actuators of a file that the tree was made from; None reads those of the tree.
        sensors: sensors of such a file; None reads those of the tree.
        tags: what wings found in the plugin tags of such a file; None reads those of the tree.
    """
    path = source.path
    types = {j.get("name", ""): j.get("type", "") for j in root.findall("joint")}
    if plugins is None:
        plugins = read_plugins(root, types, path)
    if sensors is None:
        sensors = read_sensor_tags(root, path, types)
    if tags is None:
        tags = read_wing_tags(root, types, sensors.devices, path, source.package_paths)
    control = read_all(root, types, path, plugins.joints)
    controlled, notes = control.joints, control.notes
    model = read_bodies(
        root,
        path,
        package_paths=source.package_paths,
        allow_missing_meshes=source.allow_missing_meshes,
        self_collision=source.self_collision,
    )
    extensions: dict[str, InterfaceExtension] = {}
    for reader in tag_readers():
        extension = tags[reader.name].extension if reader.name in tags else None
        if extension is not None:
            extensions[reader.name], missing = reader.complete(model.spec, extension)
            notes += missing
    if not is_authored(model.spec, "timestep"):
        model.spec.option.timestep = DEFAULT_TIMESTEP
    tagged = {joint: described for joint, described in controlled.items() if joint not in plugins.joints}
    served = serve_joints(tagged, types, model.mimics, model.spec, model.spec.option.timestep)
    plugins.actuators.update(served[0])
    plugins.joints.update(served[1])
    initial = {joint: value for found in tags.values() for joint, value in found.initial.items()}
    notes += [*served[2], *place_initially(model.spec, controlled, model.mimics, REST_KEY, initial)]
    joints = {}
    for joint, described in plugins.joints.items():
        limits = [v for v in (model.velocity_limits.get(joint), described.velocity_limit) if v is not None]
        joints[joint] = dataclasses.replace(
            described,
            velocity_limit=min(limits, default=None),
            command_limits=command_limits(controlled[joint]) if joint in controlled else {},
        )
    gazebo = {sensor.name for sensor in sensors.devices}
    sensors.devices += served_sensors(control.sensors, root, model.spec, gazebo, notes)
    robot = Robot(
        model.spec,
        plugins.actuators,
        [*_shown(sensors, tags), *(device for found in tags.values() for device in found.devices)],
        interface=Interface(joints=joints, systems=tuple(control.systems), extensions=extensions),
        notes=[*plugins.notes, *sensors.notes, *notes, *model.notes],
        file=path,
    )
    apply_params(robot, controlled)
    for joint, actuator in robot.actuators.items():
        wide = wide_play(robot, joint, actuator)
        if wide is not None:
            described = robot.interface.joints.get(joint)
            raise ModelError(wide.message, file=path, line=described.line if described else None, field=wide.field)
    return robot


def _shown(sensors: SensorTags, tags: Mapping[str, WingTags]) -> list[SensorDescription]:
    """Return the sensors; of a robot that wings show, those that no plugin reads are described and not enabled."""
    showing = [reader.title for reader in tag_readers() if reader.name in tags and tags[reader.name].extension]
    if not showing:
        return sensors.devices
    used = {name for found in tags.values() for name in found.used}
    colored = {name for found in tags.values() for name in found.colored}
    silent = [s.name for s in sensors.devices if s.name not in used and s.enabled]
    if silent:
        sensors.notes.append(
            f"{len(silent)} sensors that no {' or '.join(showing)} plugin reads ({', '.join(silent[:3])}"
            f"{', ...' if len(silent) > 3 else ''}) are not enabled: --set NAME.enabled=true"
        )
    shown = [s if s.name in used else dataclasses.replace(s, enabled=False) for s in sensors.devices]
    return [dataclasses.replace(s, color=True) if isinstance(s, Camera) and s.name in colored else s for s in shown]
