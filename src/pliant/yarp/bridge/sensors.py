"""Sensors as multiple analog sensors, and as the older vectors: inertial units, force/torque sensors, base states, load
cells, joint angles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import WireError
from pliant.base.numerics import DEGREES
from pliant.base.spatial import rotation_from_quaternion, rpy_from_rotation
from pliant.devices.base import Sample, SampleSource
from pliant.devices.signatures import WRENCH
from pliant.yarp.bridge.messages import Answer, Arrival
from pliant.yarp.bridge.requests import help_reply
from pliant.yarp.bridge.served import BottleTemplate, Served
from pliant.yarp.model.services import VectorServer
from pliant.yarp.wire import Bottle, Dialect, encode_bottle
from pliant.yarp.wire.binary import encode_vector
from pliant.yarp.wire.records import call_of
from pliant.yarp.wire.sensors import (
    SENSOR_GROUPS,
    Measurement,
    SensorNames,
    cut_measurements,
    encode_measurements,
    encode_metadata,
)

TEMPERATURE = 25.0
"""Reported temperature of force/torque sensors [degC]; they measure none."""
Numbers = Callable[[Sample], list[float]]


def measured_groups(device: SampleSource) -> dict[str, Numbers]:
    """Return what a device measures for clients of multiple analog sensors, by group, in the units of the wire."""
    if WRENCH.of(device):
        return {"temperatures": lambda s: [TEMPERATURE], "six_axis_force_torques": _six}
    if "load_cells" in device.signatures:
        return {"contact_load_cells": _field("load")}
    if "joint_angles" in device.signatures:
        return {"encoder_arrays": _field("reading")}
    if "base_state" in device.signatures:
        return {
            "gyroscopes": _field("angular_velocity", DEGREES),
            "linear_accelerometers": _field("acceleration"),
            "orientations": _angles,
            "positions": _field("position"),
            "linear_velocities": _field("linear_velocity"),
            "angular_accelerometers": _field("angular_acceleration", DEGREES),
        }
    groups: dict[str, Numbers] = {
        "gyroscopes": _field("angular_velocity", DEGREES),
        "linear_accelerometers": _field("linear_acceleration"),
        "magnetometers": lambda s: [0.0, 0.0, 0.0],
    }
    if "orientation" in device.samples:
        groups["orientations"] = _angles
    return groups


def channels(device: SampleSource) -> Numbers:
    """Return the numbers that YARP sends of a device as one vector, in the units of the wire.

    12 of an inertial unit (roll, pitch, yaw, acceleration, angular velocity, zeros), 6 of a force/torque sensor, 18 of
    a base state, one for each load cell or joint; of recorded joints without raw values the angles [deg].
    """
    if WRENCH.of(device):
        return _six
    if "joint_angles" in device.signatures and "reading" not in device.samples:  # a recording of 0.3.0
        return _field("angle", DEGREES)
    known = next((CHANNELS[kind] for kind in device.signatures if kind in CHANNELS), None)
    if known is not None:
        return known
    groups = measured_groups(device)
    turn = groups.get("orientations", lambda s: [0.0, 0.0, 0.0])
    parts = (turn, groups["linear_accelerometers"], groups["gyroscopes"], groups["magnetometers"])
    return lambda sample: [number for part in parts for number in part(sample)]


def _field(name: str, factor: float = 1.0) -> Numbers:
    """Return the numbers of a field, times the unit of the wire."""
    return lambda sample: (np.asarray(sample.values[name]) * factor).tolist()


def _size(device: SampleSource, group: str) -> int:
    """Return how many numbers a measurement of a group has."""
    array = {"contact_load_cells": "load", "encoder_arrays": "reading"}.get(group)
    if array is not None:
        return device.samples[array].size
    return {"temperatures": 1, "six_axis_force_torques": 6}.get(group, 3)


def _six(sample: Sample) -> list[float]:
    return [*np.asarray(sample.values["force"]).tolist(), *np.asarray(sample.values["torque"]).tolist()]


def _angles(sample: Sample) -> list[float]:
    return (rpy_from_rotation(rotation_from_quaternion(sample.values["orientation"])) * DEGREES).tolist()


def _base_state(sample: Sample) -> list[float]:
    """Return position, roll, pitch, yaw [rad], velocities and accelerations, linear first: 18 numbers."""
    values = sample.values
    angles = rpy_from_rotation(rotation_from_quaternion(values["orientation"]))
    rest = ("linear_velocity", "angular_velocity", "acceleration", "angular_acceleration")
    return np.concatenate([values["position"], angles, *(values[key] for key in rest)]).tolist()


CHANNELS: dict[str, Numbers] = {
    "base_state": _base_state,
    "load_cells": _field("load"),
    "joint_angles": _field("reading"),
}
"""Signature of a device that is sent as a vector only, or first of all -> its channels in the units of the wire."""


def serve_channels(served: Served, port: str, device: SampleSource, period: float | None = None) -> None:
    """Serve the vector of a device at a port, every period [s]; None for that of the bridge's option."""
    numbers = channels(device)
    served.publish(port, "Vector", device, lambda s, dialect: encode_vector(numbers(s), dialect), period=period)


def serve_vector(served: Served, name: str, device: SampleSource) -> None:
    """Serve the channels of a device at the port that its server names, else at ``/robot/device/analog:o``."""
    servers = [s for s in served.interface.servers if isinstance(s, VectorServer) and s.device == device.name]
    for port, period in [(s.port, s.period) for s in servers] or [(served.full_name(name, "analog:o"), None)]:
        serve_channels(served, port, device, period)


def serve_imu(served: Served, name: str, device: SampleSource) -> None:
    """Serve an inertial unit.

    | port | content |
    |---|---|
    | ``/robot/imu/measures:o`` | gyroscope [deg/s], accelerometer [m/s^2], magnetometer (zeros), orientation [deg] |
    | ``/robot/imu/rpc:o`` | ``getMetadata`` |
    | ``/robot/imu`` | 12 numbers: roll, pitch, yaw [deg], acceleration, angular velocity [deg/s], zeros |
    """
    _serve_device(served, name, device)
    serve_channels(served, served.full_name(name), device)


def serve_wrench(served: Served, name: str, device: SampleSource) -> None:
    """Serve a force/torque sensor.

    | port | content |
    |---|---|
    | ``/robot/ft/measures:o`` | force [N] and torque [N m], and a constant temperature |
    | ``/robot/ft/rpc:o`` | ``getMetadata`` |
    | ``/robot/ft/analog:o`` | the six numbers |
    """
    _serve_device(served, name, device)
    serve_channels(served, served.full_name(name, "analog:o"), device)


@dataclass(frozen=True, slots=True)
class ShownSensor:
    """One measurement of a device as clients of multiple analog sensors see it."""

    group: str
    """Its group."""
    names: SensorNames
    """Its name and frame."""
    device: SampleSource
    """The device that measures."""
    numbers: Numbers
    """The measurement in the units of the wire."""


def _serve_device(served: Served, name: str, device: SampleSource) -> None:
    """Serve the measurements of one device, each of the device's name."""
    groups = measured_groups(device)
    names = SensorNames(name, device.frame)
    shown = [ShownSensor(group, names, device, groups[group]) for group in SENSOR_GROUPS if group in groups]
    serve_measures(served, served.full_name(name), shown)


def serve_measures(served: Served, prefix: str, sensors: Sequence[ShownSensor], period: float | None = None) -> None:
    """Serve measurements at ``measures:o`` below a prefix, and the names of the sensors at ``rpc:o``.

    Args:
        served: the ports of the bridge.
        prefix: beginning of the names of the ports.
        sensors: in the order of their groups.
        period: time between two messages [s]; None for that of the bridge's option.
    """
    empty: dict[str, list[Measurement]] = {}
    names: dict[str, list[SensorNames]] = {}
    for sensor in sensors:
        empty.setdefault(sensor.group, []).append(Measurement((0.0,) * _size(sensor.device, sensor.group), 0.0))
        names.setdefault(sensor.group, []).append(sensor.names)
    template, metadata = BottleTemplate(encode_measurements(empty)), encode_metadata(names)
    groups_of = served.receivers.sensor_groups_of

    def encode(samples: Mapping[str, Sample], dialect: Dialect) -> bytes:
        numbers: list[float] = []
        for sensor in sensors:
            sample = samples[sensor.device.name]
            numbers += sensor.numbers(sample)
            numbers.append(sample.stamp_ns / 1e9)
        return template.fill(numbers, dialect)

    devices = {sensor.device.name: sensor.device for sensor in sensors}
    fastest = min(devices.values(), key=lambda device: device.sample_period_ns)
    port = served.output(
        f"{prefix}/measures:o",
        "SensorStreamingData",
        adapt=lambda receiver, data: cut_measurements(data, groups_of(receiver)),
    )
    served.publish_together(port, devices, encode, served.every(fastest, period))

    def answer(arrival: Arrival) -> Answer:
        return _answer_names(arrival, Bottle(metadata.items[: groups_of(arrival.sender)]))

    served.input(f"{prefix}/rpc:o", "Bottle", recognise=False, is_rpc=True, on_data=answer)


def _answer_names(arrival: Arrival, metadata: Bottle) -> Answer:
    """Return the answer to a call of an analog-sensors server."""
    name, _ = call_of(arrival.bottle())
    if name == "help":
        return help_reply(["getMetadata"])
    if name != "getMetadata":
        raise WireError(f"an analog-sensors server has no call {name[:80]!r}; must be getMetadata", field="method")
    return encode_bottle(metadata, 3)  # texts only: the same in both dialects
