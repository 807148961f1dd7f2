"""Laser scanners: the scan that YARP's rangefinder clients read."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pliant.bridges.yarp.served import Served
from pliant.devices.base import Sample, SampleSource
from pliant.model.yarp import LaserScan, VectorServer
from pliant.wire.yarp import Dialect
from pliant.wire.yarp.binary import encode_bottle
from pliant.wire.yarp.values import Bottle

__all__ = ["encode_scan", "is_laser", "limited", "serve_laser"]

DEGREES = 180.0 / math.pi
IN_USE = 1
"""Status of a scanner that measures."""


def is_laser(device: SampleSource) -> bool:
    """Return whether a device is a laser scanner."""
    return device.metadata.get("kind", "") == "laser"


def limited(described: LaserScan | None, angles: NDArray[np.float64]) -> Callable[[NDArray[np.float64]], list[float]]:
    """Return what a plugin makes of the ranges of a sensor: clipped or discarded, without skipped sectors.

    Args:
        described: what the plugin says; None for the ranges as they are.
        angles: of the rays, from the first one on [rad].
    """
    if described is None:
        return lambda ranges: ranges.tolist()
    skipped = np.zeros(angles.size, dtype=bool)
    for start, end in described.skipped:
        skipped |= (angles >= start - 1e-12) & (angles <= end + 1e-12)
    clip, discard = described.range_clip, described.range_discard

    def change(ranges: NDArray[np.float64]) -> list[float]:
        if discard is not None:
            ranges = np.where((ranges <= discard[0]) | (ranges >= discard[1]), np.inf, ranges)
        elif clip is not None:
            ranges = np.clip(ranges, *clip)
        return np.where(skipped, np.inf, ranges).tolist()

    return change


def encode_scan(limits: tuple[float, float, float, float], ranges: list[float], dialect: Dialect) -> bytes:
    """Return a scan as bytes: a list of four limits, the ranges, and the status.

    Args:
        limits: angle of the first and the last ray [deg], nearest and farthest distance [m].
        ranges: distances [m].
        dialect: of the numbers.
    """
    return encode_bottle(Bottle((*limits, Bottle(tuple(ranges), layout=""), IN_USE), layout="tagged"), dialect)


def serve_laser(served: Served, name: str, device: SampleSource) -> None:
    """Serve the scans of a laser at the port that its server names, else at ``/robot/device/laser:o``."""
    low, high, near, far = (float(device.metadata[key]) for key in ("min_angle", "max_angle", "min_range", "max_range"))
    robot = served.robot
    interface = None if robot is None else robot.interface.yarp
    devices = () if interface is None else interface.devices
    described = next((d for d in devices if isinstance(d, LaserScan) and d.sensor == device.name), None)
    servers = () if interface is None else interface.servers
    own = "" if described is None else described.name
    ports = [(s.port, s.period) for s in servers if isinstance(s, VectorServer) and own and s.device == own]
    change = limited(described, np.linspace(0.0, high - low, device.samples["ranges"].size))
    limits = (low * DEGREES, high * DEGREES, near, far)

    def encode(sample: Sample, dialect: Dialect) -> bytes:
        return encode_scan(limits, change(np.asarray(sample.values["ranges"])), dialect)

    for port, period in ports or [(served.full_name(name, "laser:o"), None)]:
        served.publish(port, "LaserScan2D", device, encode, period=period)
