"""The vector of the accelerometers on the skin boards of one part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pliant.devices.base import Sample
from pliant.devices.signatures import IMU
from pliant.simulation.rate_timer import RateTimer
from pliant.yarp.bridge.served import Served
from pliant.yarp.model.services import SKIN_BOARDS, SkinInertials, VectorServer, yarp_interface
from pliant.yarp.wire.binary import encode_vector

__all__ = ["serve_skin_inertials", "skin_vector"]

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
        raw = [COUNTS_PER_ACCELERATION * a for a in sample.values["linear_acceleration"].tolist()]  # type: ignore[union-attr]
        values += [float(boards[label]), float(TYPES[kind]), sample.stamp_ns * 1e-9, *raw]
    return [*values, *[0.0] * (2 + 6 * most - len(values))]


def serve_skin_inertials(served: Served) -> set[str]:
    """Open the ports of the servers in front of skin boards; return the sensors that they show."""
    interface = None if served.robot is None else yarp_interface(served.robot.interface)
    shown: set[str] = set()
    for server in () if interface is None else interface.servers:
        described = interface.device(server.device) if interface and isinstance(server, VectorServer) else None
        if isinstance(server, VectorServer) and isinstance(described, SkinInertials):
            devices = [served.devices.get(name) for name in described.sensors]
            if all(device is not None and IMU.of(device) for device in devices):
                _serve(served, server, described)
                shown |= set(described.sensors)
    return shown


def _serve(served: Served, server: VectorServer, described: SkinInertials) -> None:
    port = served.output(server.port, "Vector")
    latest: dict[str, Sample] = {}
    for name in described.sensors:
        served.writers[name].append(lambda sample: latest.__setitem__(sample.device, sample))
    every = RateTimer(1.0 / server.period)
    count = 0

    def bytes_of(samples: Mapping[str, Sample], dialect: int) -> bytes:
        return encode_vector(skin_vector(described, [samples[name] for name in described.sensors]), dialect)  # type: ignore[arg-type]

    def tick(stamp_ns: int) -> None:
        nonlocal count
        if len(latest) < len(set(described.sensors)) or not every.due(stamp_ns):
            return
        count = (count + 1) & 0x7FFFFFFF
        if port.active:
            samples = dict(latest)
            port.write(lambda dialect: bytes_of(samples, dialect), f"{count} {stamp_ns * 1e-9:.15g}")

    served.ticks.append(tick)
