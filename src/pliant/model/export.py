"""A robot as URDF with ``<transmission>`` and ``<ros2_control>`` tags, and the reading of such tags.

The tags give the simulated robot the names that the real one's controllers use: every compliant joint offers the
command interfaces position, velocity, effort and stiffness as far as its mode takes them, and the state interfaces
position, velocity, effort, stiffness. Beside them stand the toolbox's ``<gazebo><plugin>`` tags, by which pliant (and
Gazebo with the toolbox) builds the same actuators again; what those cannot say stands in ``<param>`` tags of the joint.
"""

from __future__ import annotations

import dataclasses
import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from pliant.errors import ModelError, nearest
from pliant.laws import PID, CompliantActuator, Mode
from pliant.model.gazebo import CONTROLLER_TAGS, MOTOR_TAGS, PLUGINS
from pliant.model.interface import JointInterface
from pliant.model.parameters import parse_number
from pliant.model.xmltree import line_of

__all__ = ["ControlledJoint", "actuator_of", "apply_params", "export_urdf", "read_ros2_control"]

HARDWARE = "pliant/CompliantSystem"
"""Name of the hardware plugin in the exported tags."""
COMMAND_INTERFACES = ("position", "velocity", "effort", "stiffness")
STATE_INTERFACES = ("position", "velocity", "effort", "stiffness")
TRANSMISSION = "transmission_interface/SimpleTransmission"
SMALL = 1e-6
"""Mass [kg] of a link that only joins two joints of one body; assumed, small enough to be felt nowhere."""
DEFAULT_VELOCITY = 100.0
"""Velocity limit where the robot has none, that of the toolbox's templates [rad/s or m/s]."""

_COMMANDS: dict[Mode, tuple[str, ...]] = {
    Mode.LINK_TORQUE: ("effort",),
    Mode.LINK_PID: ("position",),
    Mode.SPRING_REFS: ("position",),
    Mode.SPRING_EQ_PRESET: ("position", "stiffness"),
    Mode.MOTOR_TORQUES: ("effort",),
    Mode.PID_REFS: ("position",),
    Mode.PID_EQ_PRESET: ("position", "stiffness"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledJoint:
    """A joint of a ``<ros2_control>`` element."""

    joint: str
    """Its name."""
    system: str
    """Name of the ros2_control element."""
    commands: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Command interface -> its limits, "min" and "max" where given."""
    states: tuple[str, ...] = ()
    """State interfaces."""
    params: Mapping[str, str] = field(default_factory=dict)
    """Further parameters by name."""
    line: int | None = None
    """Line in the file."""


def read_ros2_control(
    root: ET.Element, joints: Mapping[str, str], file: str | Path | None = None
) -> dict[str, ControlledJoint]:
    """Return what the ``<ros2_control>`` elements of a URDF say, by joint.

    Args:
        root: the robot element.
        joints: type of every joint of the robot, by name.
        file: where the tree came from, for messages.

    Raises:
        ModelError: a joint that does not exist or comes twice, an interface without a name, a limit that is no number.
    """
    found: dict[str, ControlledJoint] = {}
    for system in root.iter("ros2_control"):
        for element in system.findall("joint"):
            name = element.get("name", "")
            line = line_of(element)

            def fail(text: str, name: str = name, line: int | None = line) -> ModelError:
                return ModelError(f"<ros2_control> joint {name!r}: {text}", file=file, line=line, field=name)

            if name not in joints:
                raise fail(f"the robot has no such joint; {nearest(name, joints)}")
            if name in found:
                raise fail(f"it is given twice, first in line {found[name].line}; keep one")
            commands: dict[str, dict[str, float]] = {}
            for interface in element.findall("command_interface"):
                what = interface.get("name")
                if not what:
                    raise fail(f"a <command_interface> has no name; valid: {', '.join(COMMAND_INTERFACES)}")
                limits = {}
                for param in interface.findall("param"):
                    if param.get("name") in ("min", "max"):
                        try:
                            limits[str(param.get("name"))] = float(
                                parse_number((param.text or "").strip(), f"{what} {param.get('name')}")
                            )
                        except ModelError as error:
                            raise fail(error.message) from error
                commands[what] = limits
            found[name] = ControlledJoint(
                joint=name,
                system=system.get("name", ""),
                commands=commands,
                states=tuple(i.get("name", "") for i in element.findall("state_interface")),
                params={p.get("name", ""): (p.text or "").strip() for p in element.findall("param")},
                line=line,
            )
    return found


def actuator_of(described: ControlledJoint) -> tuple[CompliantActuator, JointInterface] | None:
    """Return the actuator that serves a joint which has ros2_control tags and no plugin of the toolbox.

    A position command becomes mode 1 (a PID on the link; params ``p``, ``i``, ``d``), position and stiffness become
    mode 6 of a qbMove, an effort command mode 0. A joint without one of these is passive: None.
    """
    from pliant.laws import SEA, QbMove

    commands = described.commands
    gains = {}
    for key, name in (("p", "kp"), ("i", "ki"), ("d", "kd")):
        if key in described.params:
            gains[name] = float(parse_number(described.params[key], f"{described.joint}: {key}"))
    if "position" in commands and "stiffness" in commands:
        pid = PID(**gains) if gains else None
        actuator = CompliantActuator(law=QbMove(), mode=Mode.PID_EQ_PRESET, pid_1=pid, pid_2=pid)
    elif "position" in commands:
        actuator = CompliantActuator(law=SEA(), mode=Mode.LINK_PID, pid_1=PID(**gains) if gains else None)
    elif "effort" in commands:
        actuator = CompliantActuator(law=SEA(), mode=Mode.LINK_TORQUE)
    else:
        return None
    limits = commands.get("velocity", {})
    return actuator, JointInterface(
        joint=described.joint, plugin=described.system, velocity_limit=limits.get("max"), line=described.line
    )


def apply_params(robot: Any, controlled: Mapping[str, ControlledJoint]) -> None:
    """Set the parameters of pliant's actuators that an exported file carries, such as ``link_friction.torque``.

    Raises:
        ModelError: a value that does not fit its parameter.
    """
    for joint, described in controlled.items():
        actuator = robot.actuators.get(joint)
        if actuator is None:
            continue
        first = {f.name for f in dataclasses.fields(actuator)} | {f.name for f in dataclasses.fields(actuator.law)}
        for path, text in described.params.items():
            if path.partition(".")[0] in first - {"law", "mode"}:
                robot.set(f"{joint}.{path}", text)


# -- export -----------------------------------------------------------------------------------------------


def export_urdf(robot: Any, path: str | Path | None = None) -> str:
    """Return a robot as URDF, with limits, transmissions, ros2_control tags and the toolbox's plugin tags.

    Boxes, spheres, cylinders and capsules (as cylinders) are written; other shapes are left out. URDF cannot say
    armature, tendons, equality constraints or contact parameters.

    Args:
        robot: a `pliant.model.Robot`.
        path: the file to write; None only returns the text.

    Raises:
        ModelError: a joint that URDF does not have (ball; free below the root), or the file may not be written.
    """
    model = robot.compile()
    root = ET.Element("robot", name=robot.name or "robot")
    offsets = _offsets(model)
    names = _Names(model)
    roots = [b for b in range(1, model.nbody) if model.body_parentid[b] == 0]
    fixed = len(roots) != 1 or model.body_dofnum[roots[0]] < 6
    if fixed:
        ET.SubElement(root, "link", name=names.body(0))
    for body in range(1, model.nbody):
        _write_body(root, model, robot, body, offsets, names, free_root=not fixed and body == roots[0])
    joints = [j for j in range(model.njnt) if int(model.jnt_type[j]) in (2, 3)]
    for j in joints:
        _write_transmission(root, model.joint(j).name)
    _write_control(root, model, robot, joints)
    for joint, actuator in robot.actuators.items():
        _write_plugin(root, robot, joint, actuator)
    ET.indent(root, "  ")
    text = '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
    if path is not None:
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise ModelError(f"the URDF cannot be written: {error.strerror}", file=path) from None
    return text


class _Names:
    """Names of links: those of the bodies, made unique where they have none."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._names = [model.body(b).name or f"link_{b}" for b in range(model.nbody)]

    def body(self, index: int) -> str:
        return self._names[index]


def _offsets(model: mujoco.MjModel) -> np.ndarray:
    """The place of each link's origin in its body: URDF puts it on the last joint's axis."""
    out = np.zeros((model.nbody, 3))
    for body in range(1, model.nbody):
        count, first = int(model.body_jntnum[body]), int(model.body_jntadr[body])
        if count and int(model.jnt_type[first]) in (2, 3):
            out[body] = model.jnt_pos[first + count - 1]
    return out


def _text(values: Any) -> str:
    return " ".join(repr(float(v)) if abs(float(v)) > 1e-15 else "0" for v in np.atleast_1d(values))


def _rpy(quaternion: np.ndarray) -> np.ndarray:
    """Roll, pitch, yaw about fixed axes [rad] of a unit quaternion w, x, y, z."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.ascontiguousarray(quaternion, dtype=float))
    r = matrix.reshape(3, 3)
    pitch = math.atan2(-r[2, 0], math.hypot(r[0, 0], r[1, 0]))
    if math.hypot(r[0, 0], r[1, 0]) < 1e-9:  # roll and yaw turn about one axis: all goes into yaw
        return np.array([0.0, pitch, math.atan2(-r[0, 1], r[1, 1])])
    return np.array([math.atan2(r[2, 1], r[2, 2]), pitch, math.atan2(r[1, 0], r[0, 0])])


def _origin(parent: ET.Element, position: Any, quaternion: Any) -> None:
    ET.SubElement(parent, "origin", xyz=_text(position), rpy=_text(_rpy(np.asarray(quaternion))))


def _write_body(
    root: ET.Element,
    model: mujoco.MjModel,
    robot: Any,
    body: int,
    offsets: np.ndarray,
    names: _Names,
    *,
    free_root: bool,
) -> None:
    name = names.body(body)
    link = ET.SubElement(root, "link", name=name)
    if model.body_mass[body] > 0.0:
        inertial = ET.SubElement(link, "inertial")
        _origin(inertial, model.body_ipos[body] - offsets[body], model.body_iquat[body])
        ET.SubElement(inertial, "mass", value=_text(model.body_mass[body]))
        xx, yy, zz = (repr(float(v)) for v in model.body_inertia[body])
        ET.SubElement(inertial, "inertia", ixx=xx, iyy=yy, izz=zz, ixy="0", ixz="0", iyz="0")
    for g in range(int(model.body_geomadr[body]), int(model.body_geomadr[body]) + int(model.body_geomnum[body])):
        _write_geom(link, model, g, offsets[body])
    if free_root:
        return
    parent = int(model.body_parentid[body])
    position = model.body_pos[body] - offsets[parent]
    quaternion = model.body_quat[body]
    above = names.body(parent)
    count, first = int(model.body_jntnum[body]), int(model.body_jntadr[body])
    if not count:
        joint = ET.SubElement(root, "joint", name=f"{name}_fixed", type="fixed")
        _origin(joint, position, quaternion)
        ET.SubElement(joint, "parent", link=above)
        ET.SubElement(joint, "child", link=name)
        return
    before = np.zeros(3)  # origin of the link above in the body's frame, once there
    for k, j in enumerate(range(first, first + count)):
        kind = int(model.jnt_type[j])
        joint_name = model.joint(j).name or f"{name}_joint_{k + 1}"
        if kind not in (2, 3):
            raise ModelError(
                f"joint {joint_name!r} is a {'ball' if kind == 1 else 'free'} joint of body {name!r}; URDF has hinge "
                "and slide joints, and a free root alone",
                field=joint_name,
            )
        limited = bool(model.jnt_limited[j])
        types = "prismatic" if kind == 2 else "revolute" if limited else "continuous"
        joint = ET.SubElement(root, "joint", name=joint_name, type=types)
        if k == 0:
            matrix = np.zeros(9)
            mujoco.mju_quat2Mat(matrix, np.ascontiguousarray(quaternion))
            _origin(joint, position + matrix.reshape(3, 3) @ model.jnt_pos[j], quaternion)
        else:
            _origin(joint, model.jnt_pos[j] - before, [1.0, 0.0, 0.0, 0.0])
        before = model.jnt_pos[j]
        child = name if k == count - 1 else f"{name}_between_{k + 1}"
        ET.SubElement(joint, "parent", link=above)
        ET.SubElement(joint, "child", link=child)
        ET.SubElement(joint, "axis", xyz=_text(model.jnt_axis[j]))
        low, high = model.jnt_range[j]
        limits = {"effort": _text(_effort(model, robot, j)), "velocity": _text(_velocity(robot, joint_name))}
        if limited or kind == 2:
            limits |= {"lower": _text(low if limited else -1e3), "upper": _text(high if limited else 1e3)}
        ET.SubElement(joint, "limit", limits)
        dof = int(model.jnt_dofadr[j])
        ET.SubElement(
            joint, "dynamics", damping=_text(model.dof_damping[dof]), friction=_text(model.dof_frictionloss[dof])
        )
        if child != name:
            between = ET.SubElement(ET.SubElement(root, "link", name=child), "inertial")
            ET.SubElement(between, "mass", value=repr(SMALL))
            tiny = repr(SMALL * 1e-4)
            ET.SubElement(between, "inertia", ixx=tiny, iyy=tiny, izz=tiny, ixy="0", ixz="0", iyz="0")
        above = child


def _effort(model: mujoco.MjModel, robot: Any, j: int) -> float:
    if model.jnt_actfrclimited[j]:
        return float(model.jnt_actfrcrange[j, 1])
    actuator = robot.actuators.get(model.joint(j).name)
    if actuator is not None and math.isfinite(actuator.motor_1.max_torque):
        second = actuator.motor_2
        both = actuator.law.motors == 2 and actuator.law.second_input != "lever" and second is not None
        return float(actuator.motor_1.max_torque + (second.max_torque if both else 0.0))
    return 300.0  # that of the toolbox's templates


def _velocity(robot: Any, joint: str) -> float:
    described = robot.interface.joints.get(joint)
    limit = None if described is None else described.velocity_limit
    return DEFAULT_VELOCITY if limit is None else float(limit)


def _write_geom(link: ET.Element, model: mujoco.MjModel, g: int, offset: np.ndarray) -> None:
    size = model.geom_size[g]
    kind = int(model.geom_type[g])
    shapes = {
        int(mujoco.mjtGeom.mjGEOM_BOX): ("box", {"size": _text(2 * size)}),
        int(mujoco.mjtGeom.mjGEOM_SPHERE): ("sphere", {"radius": _text(size[0])}),
        int(mujoco.mjtGeom.mjGEOM_CYLINDER): ("cylinder", {"radius": _text(size[0]), "length": _text(2 * size[1])}),
        int(mujoco.mjtGeom.mjGEOM_CAPSULE): (
            "cylinder",
            {"radius": _text(size[0]), "length": _text(2 * size[1] + 2 * size[0])},
        ),
    }
    if kind not in shapes:
        return
    tag, attributes = shapes[kind]
    collides = model.geom_contype[g] or model.geom_conaffinity[g]
    for what in ("visual", "collision") if collides else ("visual",):
        element = ET.SubElement(link, what)
        _origin(element, model.geom_pos[g] - offset, model.geom_quat[g])
        ET.SubElement(ET.SubElement(element, "geometry"), tag, attributes)


def _write_transmission(root: ET.Element, joint: str) -> None:
    transmission = ET.SubElement(root, "transmission", name=f"{joint}_transmission")
    ET.SubElement(transmission, "type").text = TRANSMISSION
    inner = ET.SubElement(transmission, "joint", name=joint)
    ET.SubElement(inner, "hardwareInterface").text = "hardware_interface/EffortJointInterface"
    motor = ET.SubElement(transmission, "actuator", name=f"{joint}_motor")
    ET.SubElement(motor, "mechanicalReduction").text = "1"


def _write_control(root: ET.Element, model: mujoco.MjModel, robot: Any, joints: list[int]) -> None:
    system = ET.SubElement(root, "ros2_control", name=robot.name or "robot", type="system")
    hardware = ET.SubElement(system, "hardware")
    ET.SubElement(hardware, "plugin").text = HARDWARE
    for j in joints:
        name = model.joint(j).name
        actuator = robot.actuators.get(name)
        element = ET.SubElement(system, "joint", name=name)
        effort, velocity = _effort(model, robot, j), _velocity(robot, name)
        ranges = {
            "position": tuple(model.jnt_range[j]) if model.jnt_limited[j] else None,
            "velocity": (-velocity, velocity),
            "effort": (-effort, effort),
            "stiffness": None,
        }
        commands = ("effort",) if actuator is None else _COMMANDS[actuator.mode]
        if actuator is not None and actuator.law.motors < 2:
            commands = tuple(c for c in commands if c != "stiffness")
        for what in commands:
            interface = ET.SubElement(element, "command_interface", name=what)
            limits = ranges[what]
            if limits is not None:
                for key, value in zip(("min", "max"), limits, strict=True):
                    ET.SubElement(interface, "param", name=key).text = _text(value)
        for what in STATE_INTERFACES if actuator is not None else STATE_INTERFACES[:3]:
            ET.SubElement(element, "state_interface", name=what)
        for path, value in _beyond_plugin(actuator).items():
            ET.SubElement(element, "param", name=path).text = value


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        out: dict[str, Any] = {}
        for item in dataclasses.fields(value):
            out |= _flat(getattr(value, item.name), f"{path}.{item.name}" if path else item.name)
        return out
    return {path: value}


def _beyond_plugin(actuator: CompliantActuator | None) -> dict[str, str]:
    """What the toolbox's tags cannot say: parameter path -> text."""
    if actuator is None:
        return {}
    if _kind_of(actuator) is None:
        return {"law": actuator.law.name}
    plain = CompliantActuator(law=type(actuator.law)(), mode=actuator.mode)
    defaults = _flat(plain)
    covered = {"mode"} | {f"law.{name}" for kind in PLUGINS.values() for name in kind.springs.values()}
    lever = actuator.law.second_input == "lever"
    for k in (1, 2) if not lever else (1,):
        covered |= {f"motor_{k}.{n}" for n in MOTOR_TAGS.values() if n != "friction"}
        covered |= {f"motor_{k}.friction.torque", *(f"pid_{k}.{n}" for n in CONTROLLER_TAGS.values())}
    out = {}
    for path, value in _flat(actuator).items():
        if path not in covered and value is not None and value != defaults.get(path):
            out[path.removeprefix("law.")] = str(value.value) if isinstance(value, Mode) else str(value)
    return out


def _kind_of(actuator: CompliantActuator) -> str | None:
    return next((name for name, kind in PLUGINS.items() if kind.law is type(actuator.law)), None)


def _write_plugin(root: ET.Element, robot: Any, joint: str, actuator: CompliantActuator) -> None:
    name = _kind_of(actuator)
    if name is None:  # a law of the user's own: the ros2_control tags name it
        return
    kind = PLUGINS[name]
    described = robot.interface.joints.get(joint) or JointInterface(joint=joint)
    plugin = ET.SubElement(
        ET.SubElement(root, "gazebo"),
        "plugin",
        name=described.plugin or f"{joint}_{name}",
        filename=f"lib{name}_plugin.so",
    )

    def tag(what: str, value: Any) -> None:
        text = str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int) else repr(value)
        ET.SubElement(plugin, what).text = text

    ET.SubElement(plugin, "joint").text = joint
    tag("operation_mode", int(actuator.mode))
    tag("pub_eltau", described.publish_elastic_torque)
    tag("pub_state", described.publish_state)
    tag("sub_ext_tau", described.subscribe_external_torque)
    for what, parameter in kind.springs.items():
        tag(what, float(getattr(actuator.law, parameter)))
    for prefix, motor in zip(kind.motors, (actuator.motor_1, actuator.motor_2)):
        if motor is not None:
            for part, parameter in MOTOR_TAGS.items():
                value = motor.friction.torque if parameter == "friction" else getattr(motor, parameter)
                tag(prefix + part, float(value))
    for prefix, pid in zip(kind.controllers, (actuator.pid_1, actuator.pid_2)):
        if pid is not None:
            for part, parameter in CONTROLLER_TAGS.items():
                tag(prefix + part, float(getattr(pid, parameter)))
