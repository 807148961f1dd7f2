"""Read a robot: MJCF, URDF, SDF, pliant's own YAML, or a name of the catalogue."""

from __future__ import annotations

import dataclasses
import math
import os
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mujoco

from pliant.documents.files import read_file
from pliant.documents.xml_tree import Node, line_of, parse_xml
from pliant.documents.yaml_tree import Document, parse_yaml
from pliant.errors import LawError, MissingDependency, ModelError, nearest
from pliant.formats.gazebo import Plugins, read_plugins
from pliant.formats.manager import manager_from_mapping, read_manager
from pliant.formats.ros2_control import read_all
from pliant.formats.sensor_tags import SensorTags, read_sensor_tags
from pliant.formats.served_joints import apply_params, command_limits, place_initially, serve_joints
from pliant.formats.urdf import read_urdf
from pliant.laws import CompliantActuator, get_law, registered_laws
from pliant.model.description import REST_KEY, is_authored
from pliant.model.interface import Interface
from pliant.model.parameters import change_actuator
from pliant.model.robot import Robot
from pliant.model.sensors import described_sensors, sensor_from_mapping
from pliant.options import parse_number

__all__ = ["DEFAULT_TIMESTEP", "load"]

DEFAULT_TIMESTEP = 0.001
"""Time step where neither the file nor the caller names one [s]."""

SUFFIXES = (".xml", ".mjcf", ".urdf", ".sdf", ".world", ".yaml", ".yml")


def load(
    path_or_name: str | Path,
    *,
    timestep: float | None = None,
    manager: str | Path | None = None,
    package_paths: Sequence[str | Path] = (),
    allow_missing_meshes: bool = False,
    self_collision: bool | None = None,
    options: Mapping[str, Any] | None = None,
) -> Robot:
    """Read a robot from a file or take it from the catalogue.

    XML is told apart by its root element: ``<mujoco>``, ``<robot>`` (URDF) or ``<sdf>``. The compliant-actuator
    toolbox's plugin tags in URDF and SDF become compliant actuators; other plugins are listed in `Robot.notes`.

    Args:
        path_or_name: a file (.xml, .urdf, .sdf, .yaml), or a name of the catalogue (``pliant list``).
        timestep: time step [s]; None takes the file's, or 0.001 s where it has none.
        manager: the toolbox's plugin manager file (YAML) that goes with the robot.
        package_paths: folders that hold ROS packages, searched first for ``package://`` addresses.
        allow_missing_meshes: leave out collision meshes that are not found rather than fail.
        self_collision: whether a URDF's links collide with each other; None does as Gazebo does.

        options: options of a robot of the catalogue (`pliant.robots`), by name; text is converted.

    Returns:
        The robot.

    Raises:
        ModelError: no such file or name, or the description is wrong; the message names file, line and field.
        MissingDependency: an optional package is needed; the message has the command to type.

    Example:
        >>> robot = pliant.load("arm.urdf", timestep=0.0005)
    """
    if timestep is not None:
        timestep = float(parse_number(timestep, "timestep"))
        if not 0.0 < timestep < math.inf:
            raise ModelError(f"timestep is {timestep:g}; valid: more than 0 s", field="timestep")
    text = os.fspath(path_or_name)
    path = Path(text).expanduser()
    if not (path.suffix.lower() in SUFFIXES or os.sep in text or "/" in text or path.exists()):
        robot = _from_catalogue(text, options or {})
    else:
        if not path.exists():
            raise ModelError(f"there is no file {text!r}{_similar_files(path)}", file=text)
        if options:
            raise ModelError(
                f"{text!r} is a file, and only robots of the catalogue have options ({', '.join(options)})", file=text
            )
        robot = _from_file(path, package_paths, allow_missing_meshes, self_collision)
    if timestep is not None:
        robot.set("option.timestep", timestep)
    if manager is not None:
        modes = {joint: a.mode for joint, a in robot.actuators.items()}
        settings, notes = read_manager(manager, [j for j in robot.joints if j], modes)
        robot.interface = robot.interface.replace(
            manager=settings, namespace=settings.namespace, sample_time=settings.sample_time
        )
        robot.notes.extend(notes)
    return robot


def _similar_files(path: Path) -> str:
    try:
        names = [p.name for p in path.parent.iterdir() if p.suffix.lower() in SUFFIXES]
    except OSError:
        return f"; there is no folder {str(path.parent)!r}"
    return f"; {nearest(path.name, names)}" if names else ""


def _from_file(path: Path, package_paths: Sequence[str | Path], missing: bool, collision: bool | None) -> Robot:
    data = read_file(path)
    if path.suffix.lower() in (".yaml", ".yml"):
        return _from_yaml(parse_yaml(data, path), path, package_paths, missing, collision)
    root = parse_xml(data, path)
    if root.tag == "mujoco":
        _refuse_nan(root, path)
        return _from_mjcf(path)
    if root.tag == "robot":
        return read_urdf_with_plugins(root, path, package_paths, missing, collision)
    if root.tag == "sdf":
        return _from_sdf(root, path, package_paths, missing, collision)
    raise ModelError(
        f"the root element is <{root.tag}>; valid: <mujoco> (MJCF), <robot> (URDF), <sdf>", file=path, line=root.line
    )


def _refuse_nan(root: Node, path: Path) -> None:
    """Refuse numbers that are not numbers, which MuJoCo takes with no more than a warning."""
    for element in root.iter():
        for attribute, text in element.attrib.items():
            if attribute != "name" and any(word.lower().lstrip("+-") == "nan" for word in text.split()):
                raise ModelError(
                    f"<{element.tag}> {attribute} is {text!r}; valid: finite numbers",
                    file=path,
                    line=line_of(element),
                    field=attribute,
                )


def _from_mjcf(path: Path) -> Robot:
    try:
        spec = mujoco.MjSpec.from_file(str(path))
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"MuJoCo refuses the file: {' '.join(str(error).split())}", file=path) from error
    if not is_authored(spec, "timestep"):
        spec.option.timestep = DEFAULT_TIMESTEP
    return Robot(spec, devices=described_sensors(spec), file=path)


def read_urdf_with_plugins(
    root: Node,
    path: Path,
    package_paths: Sequence[str | Path],
    missing: bool,
    collision: bool | None,
    plugins: Plugins | None = None,
    sensors: SensorTags | None = None,
) -> Robot:
    """Return the robot of a URDF tree; ``plugins`` and ``sensors`` are those of another file that it was made from."""
    types = {j.get("name", ""): j.get("type", "") for j in root.findall("joint")}
    if plugins is None:
        plugins = read_plugins(root, types, path)
    if sensors is None:
        sensors = read_sensor_tags(root, path, types)
    controlled, notes = read_all(root, types, path, plugins.joints)
    model = read_urdf(root, path, package_paths=package_paths, allow_missing_meshes=missing, self_collision=collision)
    if not is_authored(model.spec, "timestep"):
        model.spec.option.timestep = DEFAULT_TIMESTEP
    tagged = {joint: described for joint, described in controlled.items() if joint not in plugins.joints}
    served = serve_joints(tagged, types, model.mimics, model.spec, model.spec.option.timestep)
    plugins.actuators.update(served[0])
    plugins.joints.update(served[1])
    notes += [*served[2], *place_initially(model.spec, controlled, model.mimics, REST_KEY)]
    joints = {}
    for joint, described in plugins.joints.items():
        limits = [v for v in (model.velocity_limits.get(joint), described.velocity_limit) if v is not None]
        joints[joint] = dataclasses.replace(
            described,
            velocity_limit=min(limits, default=None),
            command_limits=command_limits(controlled[joint]) if joint in controlled else {},
        )
    robot = Robot(
        model.spec,
        plugins.actuators,
        sensors.devices,
        interface=Interface(joints=joints),
        notes=[*plugins.notes, *sensors.notes, *notes, *model.notes],
        file=path,
    )
    apply_params(robot, controlled)
    return robot


# -- SDF --------------------------------------------------------------------------------------------------


def _from_sdf(
    root: Node, path: Path, package_paths: Sequence[str | Path], missing: bool, collision: bool | None
) -> Robot:
    models = [m for m in root.iter("model") if m.find("link") is not None]
    if not models:
        raise ModelError("the SDF has no model with a link", file=path, line=root.line)
    if len(models) > 1:
        names = ", ".join(repr(m.get("name", "")) for m in models[:6])
        raise ModelError(
            f"the SDF has {len(models)} models ({names}); valid: one. Load them apart and join them with Robot.attach",
            file=path,
            line=models[1].line if isinstance(models[1], Node) else None,
        )
    joints = {j.get("name", ""): j.get("type", "") for j in models[0].findall("joint")}
    plugins = read_plugins(root, joints, path)
    sensors = read_sensor_tags(models[0], path, joints)
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
            "valid: SDF 1.7 or later, one model with links and joints",
            file=path,
        ) from error
    urdf = parse_xml(text.encode(), None)
    robot = read_urdf_with_plugins(_without_lines(urdf), path, package_paths, missing, collision, plugins, sensors)
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


# -- the catalogue ----------------------------------------------------------------------------------------


def _from_catalogue(name: str, options: Mapping[str, Any]) -> Robot:
    from pliant.robots import build_robot

    return build_robot(name, options)


# -- pliant's own YAML ------------------------------------------------------------------------------------

YAML_FIELDS = ("model", "name", "namespace", "manager", "option", "actuators", "sensors", "set")


def _from_yaml(
    document: Document, path: Path, package_paths: Sequence[str | Path], missing: bool, collision: bool | None
) -> Robot:
    top = document.value

    def fail(message: str, *keys: Any) -> ModelError:
        return ModelError(message, file=path, line=document.line(*keys), field=".".join(map(str, keys)) or None)

    if not isinstance(top, Mapping):
        raise fail(f"the file holds {top!r}; valid: a mapping with {', '.join(YAML_FIELDS)}")
    if "joints_name" in top and "model" not in top:
        raise fail("this is a plugin manager's file; load the robot's URDF and name this file with manager=")
    for key in top:
        if key not in YAML_FIELDS:
            raise fail(f"unknown field {key!r}; {nearest(str(key), YAML_FIELDS)}", key)
    _check_types(document, path)
    if "model" not in top:
        raise fail("the field 'model' is missing; valid: a file (.xml, .urdf, .sdf), relative to this one, or a name")
    source = str(top["model"])
    beside = path.parent / source
    inner = beside if beside.exists() or Path(source).suffix.lower() in SUFFIXES else source
    if isinstance(inner, Path) and inner.suffix.lower() in (".yaml", ".yml"):
        raise fail(f"model is {source!r}; valid: a file of another kind, or a name of the catalogue", "model")
    try:
        robot = load(inner, package_paths=package_paths, allow_missing_meshes=missing, self_collision=collision)
    except ModelError as error:
        if error.line is None and (error.file is None or Path(error.file) == Path(inner)):
            raise fail(f"model: {error.message}", "model") from error
        raise
    robot.file = str(path)
    if "name" in top:
        robot.spec.modelname = str(top["name"])
    if "namespace" in top:
        robot.interface = robot.interface.replace(namespace=str(top["namespace"]).strip("/"))
    for joint, tree in (top.get("actuators") or {}).items():
        try:
            _actuator_from_yaml(robot, joint, tree)
        except ModelError as error:
            keys: list[Any] = ["actuators", joint]
            for part in (error.field or "").removeprefix(f"{joint}.").split("."):
                if (*keys, part) in document.lines:
                    keys.append(part)
            raise fail(error.message, *keys) from error
    for name, tree in (top.get("sensors") or {}).items():
        try:
            if any(getattr(device, "name", None) == name for device in robot.devices):
                raise ModelError(f"sensors.{name}: the model has a device of this name; set its fields under 'set'")
            robot.devices.append(sensor_from_mapping(name, tree, f"sensors.{name}"))
        except ModelError as error:
            inner = (error.field or "").removeprefix(f"sensors.{name}.")
            raise fail(error.message, "sensors", name, *([inner] if inner in tree else [])) from error
    for section in ("option", "set"):
        for name, value in (top.get(section) or {}).items():
            dotted = f"option.{name}" if section == "option" else name
            try:
                robot.set(dotted, value)
            except ModelError as error:
                raise fail(error.message, section, name) from error
    if "manager" in top:
        joints = [j for j in robot.joints if j]
        modes = {joint: a.mode for joint, a in robot.actuators.items()}
        if isinstance(top["manager"], str):
            settings, notes = read_manager(path.parent / top["manager"], joints, modes)
        else:
            settings, notes = manager_from_mapping(document, ("manager",), joints, modes)
        robot.interface = robot.interface.replace(
            manager=settings,
            namespace=str(top.get("namespace", settings.namespace)),
            sample_time=settings.sample_time,
        )
        robot.notes.extend(notes)
    return robot


def _check_types(document: Document, path: Path) -> None:
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


def _actuator_from_yaml(robot: Robot, joint: str, tree: Mapping[str, Any]) -> None:
    tree = dict(tree)
    existing = robot.actuators.get(joint)
    name = tree.get("law")
    if existing is None:
        if not isinstance(name, str):
            raise ModelError(
                f"actuators.{joint}: the field 'law' is missing; valid: {', '.join(sorted(registered_laws()))}",
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
        robot.actuators[joint] = change_actuator(existing, tree, joint)
