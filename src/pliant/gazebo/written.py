"""The toolbox's plugin tags of a robot."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from pliant.gazebo.plugin_kinds import PLUGINS
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
    name = next((name for name, kind in PLUGINS.items() if kind.law_name == actuator.law.name), None)
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
    values = flat_values(actuator)
    paths = {what: f"law.{name}" for what, name in kind.springs.items()} | kind.motor_paths
    for what, path in paths.items():
        value = values.get(path)
        if isinstance(value, Path):
            ET.SubElement(plugin, what).text = str(value.resolve())
        elif isinstance(value, int | float):
            tag(what, value if isinstance(value, bool) else float(value))
    defaults = flat_values(CompliantActuator(law=type(actuator.law)(), mode=actuator.mode))
    for what, path in kind.blocks.items():
        value = values.get(path)
        if isinstance(value, int | float) and value != defaults.get(path):
            tag(what, float(value))
    return plugin, {"mode", *paths.values(), *kind.blocks.values()}
