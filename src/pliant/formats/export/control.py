"""Transmissions, ros2_control's tags and the toolbox's plugin tags of an exported robot."""

from __future__ import annotations

import dataclasses
import math
import xml.etree.ElementTree as ET
from pathlib import Path

from pliant.formats.export.source import Source, numbers
from pliant.formats.gazebo import CONTROLLER_TAGS, PLUGINS
from pliant.formats.ros2_control import HARDWARE
from pliant.laws import CompliantActuator, Mode
from pliant.model.interface import JointInterface

STATES = ("position", "velocity", "effort")
TRANSMISSION = "transmission_interface/SimpleTransmission"
_HARDWARE_INTERFACE = {
    "position": "hardware_interface/PositionJointInterface",
    "velocity": "hardware_interface/VelocityJointInterface",
    "effort": "hardware_interface/EffortJointInterface",
}
_COMMANDS: dict[Mode, tuple[str, ...]] = {
    Mode.LINK_TORQUE: ("effort",),
    Mode.LINK_PID: ("position",),
    Mode.SPRING_REFS: ("position",),
    Mode.SPRING_EQ_PRESET: ("position", "stiffness"),
    Mode.MOTOR_TORQUES: ("effort",),
    Mode.PID_REFS: ("position",),
    Mode.PID_EQ_PRESET: ("position", "stiffness"),
}


def commands_of(actuator: CompliantActuator) -> tuple[str, ...]:
    """Return the command interfaces that an actuator's mode takes; a stiffness only where there are two motors."""
    return tuple(c for c in _COMMANDS[actuator.mode] if c != "stiffness" or actuator.law.motors > 1)


def write_control(root: ET.Element, source: Source, *, plugins: bool = True) -> None:
    """Write the transmissions, the ``<ros2_control>`` element and, if wanted, the toolbox's plugins."""
    native = source.native_commands()
    system = ET.Element("ros2_control", name=source.robot.name or "robot", type="system")
    ET.SubElement(ET.SubElement(system, "hardware"), "plugin").text = HARDWARE
    for joint in source.single_joints():
        actuator = source.robot.actuators.get(source.joints[joint])
        commands: tuple[str, ...] = ()
        params: dict[str, str] = {}
        if actuator is not None:
            commands, params = commands_of(actuator), _beyond_plugin(actuator)
        elif joint in native:
            commands = tuple(native[joint].interfaces)
            params = {key: numbers(value) for key, value in native[joint].gains.items()}
        if joint in source.mimics:
            commands = ()
        if commands:
            _write_transmission(root, source.joints[joint], commands[0])
        _write_joint(system, source, joint, commands, params)
    if len(system) > 1:
        root.append(system)
    for joint, actuator in source.robot.actuators.items() if plugins else ():
        _write_plugin(root, source, joint, actuator)


def _write_transmission(root: ET.Element, joint: str, command: str) -> None:
    transmission = ET.SubElement(root, "transmission", name=f"{joint}_transmission")
    ET.SubElement(transmission, "type").text = TRANSMISSION
    inner = ET.SubElement(transmission, "joint", name=joint)
    ET.SubElement(inner, "hardwareInterface").text = _HARDWARE_INTERFACE[command]
    motor = ET.SubElement(transmission, "actuator", name=f"{joint}_motor")
    ET.SubElement(motor, "mechanicalReduction").text = "1"


def _write_joint(
    system: ET.Element, source: Source, joint: int, commands: tuple[str, ...], params: dict[str, str]
) -> None:
    model, name = source.model, source.joints[joint]
    element = ET.SubElement(system, "joint", name=name)
    effort, velocity = source.effort(joint), source.velocity(joint)
    ranges: dict[str, tuple[float, float]] = {"velocity": (-velocity, velocity), "effort": (-effort, effort)}
    if model.jnt_limited[joint]:
        ranges["position"] = (float(model.jnt_range[joint, 0]), float(model.jnt_range[joint, 1]))
    described = source.interface(joint)
    if described is not None:
        ranges |= described.command_limits
    for what in commands:
        interface = ET.SubElement(element, "command_interface", name=what)
        for key, value in zip(("min", "max"), ranges.get(what, (-math.inf, math.inf))):
            if math.isfinite(value):
                ET.SubElement(interface, "param", name=key).text = numbers(value)
    start = float(source.rest[model.jnt_qposadr[joint]])
    for what in (*STATES, "stiffness") if name in source.robot.actuators else STATES:
        interface = ET.SubElement(element, "state_interface", name=what)
        if what == "position" and start:
            ET.SubElement(interface, "param", name="initial_value").text = numbers(start)
    for path, value in params.items():
        ET.SubElement(element, "param", name=path).text = value


# -- what the toolbox's tags cannot say -------------------------------------------------------------------


def _flat(value: object, path: str = "") -> dict[str, object]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        out: dict[str, object] = {}
        for item in dataclasses.fields(value):
            out |= _flat(getattr(value, item.name), f"{path}.{item.name}" if path else item.name)
        return out
    return {path: value}


def _beyond_plugin(actuator: CompliantActuator) -> dict[str, str]:
    """Return the parameters that no plugin tag has: path -> text; all of them for a law without a plugin."""
    kind = _kind_of(actuator)
    plain = CompliantActuator(law=type(actuator.law)(), mode=actuator.mode)
    defaults = _flat(plain)
    covered = {"mode"}
    out: dict[str, str] = {}
    if kind is None:
        out |= {"law": actuator.law.name, "mode": str(actuator.mode.value)}
    else:
        covered |= {f"law.{name}" for name in PLUGINS[kind].springs.values()}
        lever = actuator.law.second_input == "lever"
        for k in (1, 2) if not lever else (1,):
            covered |= {f"motor_{k}.{n}" for n in PLUGINS[kind].motor_tags.values() if n != "friction"}
            covered |= {f"motor_{k}.friction.torque", *(f"pid_{k}.{n}" for n in CONTROLLER_TAGS.values())}
        covered |= set(PLUGINS[kind].blocks.values())
    for path, value in _flat(actuator).items():
        if path not in covered and value is not None and value != defaults.get(path):
            out[path.removeprefix("law.")] = str(value)
    return out


def _kind_of(actuator: CompliantActuator) -> str | None:
    return next((name for name, kind in PLUGINS.items() if kind.law is type(actuator.law)), None)


def _write_plugin(root: ET.Element, source: Source, joint: str, actuator: CompliantActuator) -> None:
    name = _kind_of(actuator)
    if name is None:  # a law of the user's own: the ros2_control tags name it
        return
    kind = PLUGINS[name]
    described = source.robot.interface.joints.get(joint) or JointInterface(joint=joint)
    plugin = ET.SubElement(
        ET.SubElement(root, "gazebo"),
        "plugin",
        name=described.plugin or f"{joint}_{name}",
        filename=f"lib{name}_plugin.so",
    )

    def tag(what: str, value: object) -> None:
        text = str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int) else repr(value)
        ET.SubElement(plugin, what).text = text

    ET.SubElement(plugin, "joint").text = joint
    tag("operation_mode", int(actuator.mode))
    tag("pub_eltau", described.publish_elastic_torque)
    tag("pub_state", described.publish_state)
    tag("sub_ext_tau", described.subscribe_external_torque)
    for what, parameter in kind.springs.items():
        value = getattr(actuator.law, parameter)
        if isinstance(value, Path):
            ET.SubElement(plugin, what).text = str(value.resolve())
        elif value is not None:
            tag(what, value if isinstance(value, bool) else float(value))
    for prefix, motor in zip(kind.motors, (actuator.motor_1, actuator.motor_2)):
        if motor is not None:
            for part, parameter in kind.motor_tags.items():
                value = getattr(motor, parameter)
                tag(prefix + part, float(value.torque if parameter == "friction" else value))
    for prefix, pid in zip(kind.controllers, (actuator.pid_1, actuator.pid_2)):
        if pid is not None:
            for part, parameter in CONTROLLER_TAGS.items():
                tag(prefix + part, float(getattr(pid, parameter)))
    values, defaults = _flat(actuator), _flat(CompliantActuator(law=type(actuator.law)(), mode=actuator.mode))
    for what, path in kind.blocks.items():
        value = values.get(path)
        if isinstance(value, int | float) and value != defaults.get(path):
            tag(what, float(value))
