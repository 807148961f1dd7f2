"""Read SDF 1.7 or later: one model with links and joints, by way of URDF."""

from __future__ import annotations

import dataclasses
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from pliant.base.documents.xml_tree import Node, line_of, parse_xml
from pliant.base.errors import MissingDependency, ModelError
from pliant.formats.gazebo import read_plugins
from pliant.formats.sensor_tags import read_sensor_tags
from pliant.formats.source import Source, read_wing_tags
from pliant.formats.urdf_robot import robot_of_urdf
from pliant.model.robot import Robot

__all__ = ["read_sdf"]


def read_sdf(source: Source) -> Robot:
    """Return the robot of an SDF file, by way of the URDF that rod writes of it.

    Raises:
        ModelError: no model, several models, or a description that cannot be read.
        MissingDependency: rod is not installed.
    """
    root, path, collision = source.root, source.path, source.self_collision
    models = [m for m in root.iter("model") if m.find("link") is not None]
    if not models:
        raise ModelError("the SDF has no model with a link", file=path, line=root.line)
    if len(models) > 1:
        names = ", ".join(repr(m.get("name", "")) for m in models[:6])
        raise ModelError(
            f"the SDF has {len(models)} models ({names}); it must have one. Load them apart, and join them with "
            "Robot.attach",
            file=path,
            line=models[1].line if isinstance(models[1], Node) else None,
        )
    joints = {j.get("name", ""): j.get("type", "") for j in models[0].findall("joint")}
    plugins = read_plugins(root, joints, path)
    sensors = read_sensor_tags(models[0], path, joints)
    tags = read_wing_tags(models[0], joints, sensors.devices, path, source.package_paths)
    try:
        import rod
        from rod.urdf.exporter import UrdfExporter
    except ImportError:
        raise MissingDependency("rod", command='pip install "pliant[sdf]"', purpose=f"reading {path}") from None
    collide = models[0].find("self_collide")
    if collision is None:
        collision = collide is not None and (collide.text or "").strip().lower() in ("true", "1")
    _complete(models[0])
    try:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "model.sdf"
            copy.write_text(ET.tostring(root, encoding="unicode"), encoding="utf-8")
            model = rod.Sdf.load(sdf=copy, is_urdf=False).models()[0]
        found = {"link": len(model.links()), "joint": len(model.joints())}
        for what, count in found.items():
            if count != len(models[0].findall(what)):
                raise ValueError(
                    f"{len(models[0].findall(what)) - count} of the {what} elements lack something that they need"
                )
        text = UrdfExporter(pretty=False).to_urdf_string(sdf=model)
    except Exception as error:  # rod raises whatever it meets: IndexError, KeyError, RuntimeError, ...
        version = root.get("version", "none")
        raise ModelError(
            f"the SDF (version {version}) cannot be read: {type(error).__name__}: {' '.join(str(error).split())}; "
            "must be SDF 1.7 or later, one model with links and joints",
            file=path,
        ) from error
    urdf = parse_xml(text.encode(), None)
    robot = robot_of_urdf(
        _without_lines(urdf), dataclasses.replace(source, self_collision=collision), plugins, sensors, tags
    )
    _physics(root, robot, path)
    robot.notes.append("the SDF was read through rod, as the URDF that it writes")
    return robot


def _complete(model: ET.Element) -> None:
    """Write out the defaults of SDF that rod takes for required; it drops joints that lack them without a word."""
    for joint in model.findall("joint"):
        for axis in joint.findall("axis"):
            if axis.find("xyz") is None:
                ET.SubElement(axis, "xyz").text = "0 0 1"
            for dynamics in axis.findall("dynamics"):
                for tag in ("spring_reference", "spring_stiffness"):
                    if dynamics.find(tag) is None:
                        ET.SubElement(dynamics, tag).text = "0"
    for element in [e for e in model if e.tag == "plugin"]:
        model.remove(element)


def _physics(root: Node, robot: Robot, path: Path) -> None:
    """Take time step and gravity over from a world."""
    for tag, option in (("physics/max_step_size", "option.timestep"), ("gravity", "option.gravity")):
        node = root.find(f"world/{tag}")
        if node is not None:
            try:
                robot.set(option, (node.text or "").strip())
            except ModelError as error:
                raise ModelError(f"<{tag}>: {error.message}", file=path, line=line_of(node), field=tag) from error


def _without_lines(root: Node) -> Node:
    """Forget the lines of a text that is no file of the user's."""
    for element in root.iter():
        if isinstance(element, Node):
            element.line = 0
    return root
