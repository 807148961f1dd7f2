"""Sensors: inertial units and force/torque sensors, as multiple analog sensors and as the older vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from pliant.base.errors import WireError
from pliant.base.spatial import rotation_from_quaternion, rpy_from_rotation
from pliant.devices.base import Sample, SampleSource
from pliant.devices.signatures import WRENCH
from pliant.yarp.bridge.messages import Answer, Arrival
from pliant.yarp.bridge.served import BottleTemplate, Served
from pliant.yarp.wire import Bottle, Dialect, Vocab, encode_bottle
from pliant.yarp.wire.binary import encode_vector
from pliant.yarp.wire.sensors import Measurement, SensorNames, encode_measurements, encode_metadata
from pliant.yarp.wire.values import text

__all__ = ["channels", "measured_groups", "metadata_answer", "serve_imu", "serve_wrench"]

DEGREES = 180.0 / math.pi
TEMPERATURE = 25.0
"""What force/torque sensors show as their temperature [degC]; they have none."""
Numbers = Callable[[Sample], list[float]]


def measured_groups(device: SampleSource) -> dict[str, Numbers]:
    """Return what an inertial unit or a force/torque sensor measures, by group, in the units of the wire."""
    if WRENCH.of(device):
        return {"temperatures": lambda s: [TEMPERATURE], "six_axis_force_torques": _six}
    groups: dict[str, Numbers] = {
        "gyroscopes": lambda s: (np.asarray(s.values["angular_velocity"]) * DEGREES).tolist(),
        "linear_accelerometers": lambda s: np.asarray(s.values["linear_acceleration"]).tolist(),
        "magnetometers": lambda s: [0.0, 0.0, 0.0],
    }
    if "orientation" in device.samples:
        groups["orientations"] = _angles
    return groups


def channels(device: SampleSource) -> Numbers:
    """Return the numbers of the older vector of an inertial unit (12) or a force/torque sensor (6)."""
    if WRENCH.of(device):
        return _six
    groups = measured_groups(device)
    turn = groups.get("orientations", lambda s: [0.0, 0.0, 0.0])
    parts = (turn, groups["linear_accelerometers"], groups["gyroscopes"], groups["magnetometers"])
    return lambda sample: [number for part in parts for number in part(sample)]


def _six(sample: Sample) -> list[float]:
    return [*np.asarray(sample.values["force"]).tolist(), *np.asarray(sample.values["torque"]).tolist()]


def _angles(sample: Sample) -> list[float]:
    return (rpy_from_rotation(rotation_from_quaternion(sample.values["orientation"])) * DEGREES).tolist()


def serve_imu(served: Served, name: str, device: SampleSource) -> None:
    """Serve an inertial unit.

    | port | content |
    |---|---|
    | ``/robot/imu/measures:o`` | gyroscope [deg/s], accelerometer [m/s^2], magnetometer (zeros), orientation [deg] |
    | ``/robot/imu/rpc:o`` | ``getMetadata`` |
    | ``/robot/imu`` | 12 numbers: roll, pitch, yaw [deg], acceleration, angular velocity [deg/s], zeros |
    """
    numbers = channels(device)
    _serve_measures(served, name, device, measured_groups(device))
    served.publish(served.full_name(name), "Vector", device, lambda s, dialect: encode_vector(numbers(s), dialect))


def serve_wrench(served: Served, name: str, device: SampleSource) -> None:
    """Serve a force/torque sensor.

    | port | content |
    |---|---|
    | ``/robot/ft/measures:o`` | force [N] and torque [N m], and a constant temperature |
    | ``/robot/ft/rpc:o`` | ``getMetadata`` |
    | ``/robot/ft/analog:o`` | the six numbers |
    """
    _serve_measures(served, name, device, measured_groups(device))
    served.publish(
        served.full_name(name, "analog:o"), "Vector", device, lambda s, dialect: encode_vector(_six(s), dialect)
    )


def _serve_measures(served: Served, name: str, device: SampleSource, groups: Mapping[str, Numbers]) -> None:
    """Serve the sensors of one device, each of the device's name, and their names at ``rpc:o``."""
    sizes = {"temperatures": 1, "six_axis_force_torques": 6}
    empty = {group: (Measurement((0.0,) * sizes.get(group, 3), 0.0),) for group in groups}
    template = BottleTemplate(encode_measurements(empty))
    order = [group for group in _order() if group in groups]

    def encode(sample: Sample, dialect: Dialect) -> bytes:
        time = sample.stamp_ns / 1e9
        numbers: list[float] = []
        for group in order:
            numbers += groups[group](sample)
            numbers.append(time)
        return template.fill(numbers, dialect)

    served.publish(served.full_name(name, "measures:o"), "SensorStreamingData", device, encode)
    names = {group: (SensorNames(name, device.frame),) for group in groups}
    metadata = encode_metadata(names)
    served.input(
        served.full_name(name, "rpc:o"),
        "Bottle",
        is_rpc=True,
        on_data=lambda arrival: metadata_answer(arrival, metadata),
    )


def _order() -> tuple[str, ...]:
    from pliant.yarp.wire.sensors import SENSOR_GROUPS

    return SENSOR_GROUPS


def metadata_answer(arrival: Arrival, metadata: Bottle) -> Answer:
    """Return the answer to a call of an analog-sensors server."""
    items = arrival.bottle().items
    items = items[1:] if items[:1] == ("__direct__",) else items
    name = text(items[0]) if items else ""
    if name == "help":
        return Bottle((Vocab.of("many"), "*** Available commands:", "getMetadata", "help"))
    if name != "getMetadata":
        raise WireError(f"an analog-sensors server has no call {name[:80]!r}; must be getMetadata", field="method")
    return encode_bottle(metadata, 3)  # texts only: the same in both dialects
