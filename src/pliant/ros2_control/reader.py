"""Reader of the tags of ros2_control: actuators, sensors, initial positions, hardware components.

A joint with a plugin tag of the toolbox keeps that actuator; the tags give it limits of commands and parameters.
"""

from __future__ import annotations

import functools
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path

from pliant.formats.source import Draft, TagReader, WingTags
from pliant.model.sensors import SensorDescription
from pliant.ros2_control.interface import EXTENSION, ControlInterface
from pliant.ros2_control.sensors import served_sensors
from pliant.ros2_control.served_joints import apply_params, command_limits, serve_joints
from pliant.ros2_control.tags import Ros2Control, read_all


def _read(
    root: ET.Element, joints: Mapping[str, str], sensors: Sequence[SensorDescription], file: Path,
    package_paths: Sequence[str | Path],
) -> WingTags:  # fmt: skip
    """Return what the tags of a URDF ask for; an SDF has none."""
    if root.tag != "robot":
        return WingTags()
    control = read_all(root, joints, file)
    limits = {joint: command_limits(described) for joint, described in control.joints.items()}
    interface = ControlInterface(systems=tuple(control.systems), limits={j: each for j, each in limits.items() if each})
    return WingTags(
        extension=interface if interface.systems else None,
        initial={j: d.initial["position"] for j, d in control.joints.items() if "position" in d.initial},
        places={joint: described.place for joint, described in control.joints.items()},
        notes=control.notes,
        complete=functools.partial(_complete, control),
    )


def _complete(control: Ros2Control, draft: Draft) -> None:
    """Add the actuators of the joints, their parameters, and the sensors."""
    serve_joints({j: described for j, described in control.joints.items() if j not in draft.joints}, draft)
    for joint, described in control.joints.items():
        ignored = [k for k, v in described.initial.items() if k != "position" and v != 0.0]
        if ignored:
            what = ", ".join(ignored)
            draft.notes.append(f"{described.place}joint {joint!r}: the initial_value of {what} has no effect")
    draft.sensors += served_sensors(control.sensors, draft)
    apply_params(draft.actuators, control.joints)


READER = TagReader(name=EXTENSION, title="ros2_control", read=_read, elements=("ros2_control",))
"""Reader of the tags ``<ros2_control>`` and ``<transmission>`` of a URDF."""
