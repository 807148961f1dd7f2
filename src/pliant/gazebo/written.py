"""The toolbox's plugin tags of a robot."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from pliant.gazebo.plugin_kinds import CONTROLLER_TAGS, PLUGINS, PluginKind
from pliant.laws import CompliantActuator
from pliant.model.interface import JointInterface
from pliant.model.parameters import flat_values


def write_plugin(actuator: CompliantActuator, described: JointInterface) -> tuple[ET.Element, set[str]] | None:
    """Return the plugin element of a compliant joint, and the paths of the parameters that its tags can carry.

    Args:
        actuator: the actuator of the joint.
        described: name of the joint, and what it publishes.

    Returns:
        None for a law without a plugin, such as a user's own.
    """
    name = next((name for name, kind in PLUGINS.items() if kind.law is type(actuator.law)), None)
    if name is None:
        return None
    kind = PLUGINS[name]
    plugin = ET.Element("plugin", name=described.plugin or f"{described.joint}_{name}", filename=f"lib{name}_plugin.so")

    def tag(what: str, value: object) -> None:
        text = str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int) else repr(value)
        ET.SubElement(plugin, what).text = text

    ET.SubElement(plugin, "joint").text = described.joint
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
    values = flat_values(actuator)
    defaults = flat_values(CompliantActuator(law=type(actuator.law)(), mode=actuator.mode))
    for what, path in kind.blocks.items():
        value = values.get(path)
        if isinstance(value, int | float) and value != defaults.get(path):
            tag(what, float(value))
    return plugin, _carried(kind)


def _carried(kind: PluginKind) -> set[str]:
    """Return the paths of the parameters that a kind of plugin has tags for."""
    found = {"mode", *(f"law.{name}" for name in kind.springs.values()), *kind.blocks.values()}
    for k in range(1, len(kind.motors) + 1):
        found |= {f"motor_{k}.{name if name != 'friction' else 'friction.torque'}" for name in kind.motor_tags.values()}
        found |= {f"pid_{k}.{name}" for name in CONTROLLER_TAGS.values()}
    return found
