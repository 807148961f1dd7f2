"""The vector of the accelerometers on the skin boards of one part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pliant.devices.base import Sample
from pliant.devices.signatures import IMU
from pliant.simulation.rate_timer import RateTimer
from pliant.yarp.bridge.served import Served
from pliant.yarp.model.services import SKIN_BOARDS, SkinInertials, VectorServer
from pliant.yarp.wire import Dialect
from pliant.yarp.wire.binary import encode_vector

VERSION = 6.0
"""Version of the vector; gazebo-yarp-plugins, inertialMTBPartDriver."""
COUNTS_PER_ACCELERATION = 1e4 / 5.9855
"""Raw value of 1 m/s^2; gazebo-yarp-plugins, inertialMTBPartDriver."""
TYPES = {"none": 0, "acc": 1, "gyro": 2}
"""Numbers of the types of a sensor; assumed, after the names of the firmware's enumeration."""


def skin_vector(described: SkinInertials, samples: Sequence[Sample]) -> list[float]:
    """Return the vector: count, version, then position, type, time [s] and three raw values of each sensor.

    It has places for all sensors of the part; those that are not enabled are zeros. Every sensor, whatever its type,
    has its proper acceleration, as in the original.

    Args:
        described: the part and its sensors.
        samples: of the sensors, in their order.
    """
    boards, most = SKIN_BOARDS[described.part]
    values = [float(len(samples)), VERSION]
    for name, sample in zip(described.sensor_names, samples, strict=True):
        kind, label = name.rsplit("_", 2)[-2:]
        raw = [COUNTS_PER_ACCELERATION * a for a in np.asarray(sample.values["linear_acceleration"]).tolist()]
        values += [float(boards[label]), float(TYPES[kind]), sample.stamp_ns * 1e-9, *raw]
    return [*values, *[0.0] * (2 + 6 * most - len(values))]


def serve_skin_inertials(served: Served) -> set[str]:
    """Open the ports of the servers in front of skin boards; return the sensors that they show."""
    shown: set[str] = set()
    for server, described in served.interface.shown_by(VectorServer, SkinInertials):
        devices = [served.devices.get(name) for name in described.sensors]
        if all(device is not None and IMU.of(device) for device in devices):
            _serve(served, server, described)
            shown |= set(described.sensors)
    return shown


def _serve(served: Served, server: VectorServer, described: SkinInertials) -> None:
    def encode(samples: Mapping[str, Sample], dialect: Dialect) -> bytes:
        return encode_vector(skin_vector(described, [samples[name] for name in described.sensors]), dialect)

    port = served.output(server.port, "Vector")
    served.publish_together(port, described.sensors, encode, RateTimer(1.0 / server.period))
