"""The toolbox's plugin tags of an exported robot."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from pliant.formats.gazebo import CONTROLLER_TAGS, PLUGINS
from pliant.laws import CompliantActuator
from pliant.model.interface import JointInterface
from pliant.ros2_control.source import Source
from pliant.ros2_control.written import flat, kind_of


def write_plugins(root: ET.Element, source: Source) -> None:
    """Write one plugin for each compliant joint whose law has one."""
    for joint, actuator in source.robot.actuators.items():
        _write_plugin(root, source, joint, actuator)


def _write_plugin(root: ET.Element, source: Source, joint: str, actuator: CompliantActuator) -> None:
    name = kind_of(actuator)
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
    values, defaults = flat(actuator), flat(CompliantActuator(law=type(actuator.law)(), mode=actuator.mode))
    for what, path in kind.blocks.items():
        value = values.get(path)
        if isinstance(value, int | float) and value != defaults.get(path):
            tag(what, float(value))
