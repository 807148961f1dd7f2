"""The ``<sensor>`` elements of ``<ros2_control>`` tags, as described sensors.

A sensor is recognised by its state interfaces, which are those of ros2_control's semantic components: ``force.x`` to
``torque.z`` are a force/torque sensor, ``orientation.x`` to ``linear_acceleration.z`` an inertial unit. It sits on the
link that its param ``frame_id`` names, else on the link or behind the joint of its own name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pliant.base.errors import nearest
from pliant.formats.source import Draft
from pliant.model.sensors import ForceTorque, Imu, SensorDescription

FORCE_TORQUE = frozenset(f"{part}.{axis}" for part in ("force", "torque") for axis in "xyz")
ORIENTATION = frozenset(f"orientation.{axis}" for axis in "xyzw")
IMU = ORIENTATION | {f"{part}.{axis}" for part in ("angular_velocity", "linear_acceleration") for axis in "xyz"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlSensor:
    """A ``<sensor>`` element."""

    name: str
    """Its name."""
    place: str
    """``file:line: ``, for notes."""
    interfaces: tuple[str, ...] = ()
    """Names of its state interfaces."""
    params: Mapping[str, str] = field(default_factory=dict)
    """Its parameters."""


def served_sensors(found: Sequence[ControlSensor], draft: Draft) -> list[SensorDescription]:
    """Return the sensors that are served; what is not stands in the notes.

    Args:
        found: the elements.
        draft: the robot; an element with the name of one of its sensors means that sensor.
    """
    taken = {sensor.name for sensor in draft.sensors}
    notes = draft.notes
    behind = {j.get("name", ""): c.get("link", "") for j in draft.root.findall("joint") for c in j.findall("child")}
    bodies = [body.name for body in draft.spec.bodies if body.name]
    made: list[SensorDescription] = []
    for sensor in found:
        if sensor.name in taken:
            continue
        who = f"{sensor.place}the sensor {sensor.name!r} of ros2_control"
        names = set(sensor.interfaces)
        if not names or not (names <= FORCE_TORQUE or names <= IMU):
            other = sorted(names - FORCE_TORQUE - IMU)
            why = f"unknown state interfaces {', '.join(other[:4])}" if other else "no or mixed state interfaces"
            notes.append(f"{who} is not served: {why}; must be force.x to torque.z, or orientation.x to "
                         "linear_acceleration.z")  # fmt: skip
            continue
        frame = sensor.params.get("frame_id", "")
        body = frame or (sensor.name if sensor.name in bodies else behind.get(sensor.name, ""))
        if body not in bodies:
            asked = f"frame_id is {frame!r}" if frame else f"there is no link or joint {sensor.name!r}"
            notes.append(f"{who} is not served: {asked}; its param frame_id must name a link; "
                         f"{nearest(frame or sensor.name, bodies)}")  # fmt: skip
            continue
        unknown = sorted(set(sensor.params) - {"frame_id"})
        if unknown:
            notes.append(f"{who}: the params {', '.join(unknown[:8])} have no effect")
        device = sensor.name if sensor.name not in behind and sensor.name not in bodies else f"{sensor.name}_sensor"
        if names <= FORCE_TORQUE:
            made.append(ForceTorque(name=device, body=body, frame=body))
            notes.append(f"{who} is served as a force/torque sensor between {body!r} and its parent, by Gazebo's sign")
        else:
            made.append(Imu(name=device, body=body, frame=body, orientation=bool(names & ORIENTATION)))
            notes.append(f"{who} is served as an inertial unit on {body!r}")
    return made
