"""Analog servers that a robot describes: several sensors behind one prefix, under the names of its own software."""

from __future__ import annotations

import numpy as np

from pliant.base.spatial import conjugate, quaternion_product, rotation_from_quaternion, rpy_from_rotation
from pliant.devices.base import Sample, SampleSource
from pliant.devices.signatures import IMU, WRENCH
from pliant.yarp.bridge.sensors import DEGREES, ShownSensor, measured_groups, serve_channels, serve_measures
from pliant.yarp.bridge.served import Served
from pliant.yarp.model.services import (
    AnalogServer,
    BaseState,
    ContactLoadCells,
    ForceTorqueSensor,
    InertialSensor,
    JointAngles,
    VectorServer,
)
from pliant.yarp.wire.sensors import SENSOR_GROUPS, SensorNames


def serve_analog_servers(served: Served) -> set[str]:
    """Open the ports of the servers that the robot describes in front of its sensors.

    | port | content |
    |---|---|
    | ``/prefix/measures:o`` | the measurements of all sensors of the server |
    | ``/prefix/rpc:o`` | ``getMetadata`` |
    | ``/name`` of an older server | the 6 or 12 numbers of one sensor |

    Returns:
        The devices that a server shows; they need no ports of their own.
    """
    shown: set[str] = set()
    for server in served.interface.servers:
        if isinstance(server, AnalogServer):
            sensors = _sensors(served, server)
            if sensors:
                serve_measures(served, server.port, sensors, server.period)
                shown |= {sensor.device.name for sensor in sensors}
        elif isinstance(server, VectorServer):
            device = _device(served, server.device)
            if device is not None and (WRENCH.of(device) or IMU.of(device)):
                serve_channels(served, server.port, device, server.period)
                shown.add(device.name)
    return shown


def _device(served: Served, name: str) -> SampleSource | None:
    """Return the device that measures for a sensor, or None where it is not simulated."""
    described = served.interface.device(name)
    if isinstance(described, BaseState | ContactLoadCells | JointAngles):
        return served.devices.get(name)
    if not isinstance(described, ForceTorqueSensor | InertialSensor):
        return None
    device = served.devices.get(described.sensor)
    return device if device is not None and (WRENCH.of(device) or IMU.of(device)) else None


def _sensors(served: Served, server: AnalogServer) -> list[ShownSensor]:
    found: list[ShownSensor] = []
    for group in SENSOR_GROUPS:
        for reference in server.groups.get(group, ()):
            device = _device(served, reference.device)
            numbers = None if device is None else measured_groups(device).get(group)
            described = served.interface.device(reference.device)
            if device is not None and numbers is not None:
                if group == "orientations" and isinstance(described, InertialSensor) and described.relative_orientation:
                    start = SinceStart()
                    served.writers[device.name].append(start.note)
                    numbers = start
                frame = device.frame if IMU.of(device) else reference.sensor_name
                found.append(ShownSensor(group, SensorNames(reference.sensor_name, frame), device, numbers))
    return found


class SinceStart:
    """Orientation of an inertial unit since the start of the run: roll, pitch, yaw [deg] in its own first axes."""

    def __init__(self) -> None:
        self._stamp_ns = -1
        self._first = np.array([1.0, 0.0, 0.0, 0.0])

    def note(self, sample: Sample) -> None:
        """Take note of a sample; the loop's thread calls this. The first one, and that after a reset, is the start."""
        if self._stamp_ns < 0 or sample.stamp_ns < self._stamp_ns:
            self._first = np.array(sample.values["orientation"])
        self._stamp_ns = sample.stamp_ns

    def __call__(self, sample: Sample) -> list[float]:
        turned = quaternion_product(conjugate(self._first), np.asarray(sample.values["orientation"]))
        return (rpy_from_rotation(rotation_from_quaternion(turned)) * DEGREES).tolist()
