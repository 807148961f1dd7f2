"""Transmissions and ros2_control's tags of a robot as URDF."""

from __future__ import annotations

import dataclasses
import math
import xml.etree.ElementTree as ET

from pliant.formats.gazebo import CONTROLLER_TAGS, PLUGINS
from pliant.formats.tags import numbers
from pliant.laws import CompliantActuator, Mode
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


# -- what the toolbox's tags cannot say -------------------------------------------------------------------


def flat(value: object, path: str = "") -> dict[str, object]:
    """Return the values of nested dataclasses by their paths."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        out: dict[str, object] = {}
        for item in dataclasses.fields(value):
            out |= flat(getattr(value, item.name), f"{path}.{item.name}" if path else item.name)
        return out
    return {path: value}


def _beyond_plugin(actuator: CompliantActuator) -> dict[str, str]:
    """Return the parameters that no plugin tag has: path -> text; all of them for a law without a plugin."""
    kind = kind_of(actuator)
    plain = CompliantActuator(law=type(actuator.law)(), mode=actuator.mode)
    defaults = flat(plain)
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
    for path, value in flat(actuator).items():
        if path not in covered and value is not None and value != defaults.get(path):
            out[path.removeprefix("law.")] = str(value)
    return out


def kind_of(actuator: CompliantActuator) -> str | None:
    """Return the toolbox's plugin of a law, None for a law without one."""
    return next((name for name, kind in PLUGINS.items() if kind.law_name == actuator.law.name), None)
