"""Transmissions and ros2_control's tags of a robot as URDF."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

from pliant.formats.source import write_plugin
from pliant.formats.tags import numbers
from pliant.laws import CompliantActuator, Mode
from pliant.model.interface import JointInterface
from pliant.model.parameters import flat_values
from pliant.ros2_control.interface import control_of
from pliant.ros2_control.source import Source
from pliant.ros2_control.tags import HARDWARE

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


def write_control(root: ET.Element, source: Source) -> None:
    """Write the transmissions and the ``<ros2_control>`` element."""
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
    ranges |= control_of(source.robot.interface).limits.get(name, {})
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


def _beyond_plugin(actuator: CompliantActuator) -> dict[str, str]:
    """Return the parameters that no plugin tag has: path -> text; all of them for a law without a plugin."""
    written = write_plugin(actuator, JointInterface(joint=""))
    defaults = flat_values(CompliantActuator(law=type(actuator.law)(), mode=actuator.mode))
    out: dict[str, str] = {}
    covered = {"mode"}
    if written is None:
        out |= {"law": actuator.law.name, "mode": str(actuator.mode.value)}
    else:
        covered = written[1]
    for path, value in flat_values(actuator).items():
        if path not in covered and value is not None and value != defaults.get(path):
            out[path.removeprefix("law.")] = str(value)
    return out
