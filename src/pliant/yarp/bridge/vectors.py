"""Devices whose channels YARP sends as one vector: base state, load cells, joint angles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.base.numerics import DEGREES
from pliant.base.spatial import rotation_from_quaternion, rpy_from_rotation
from pliant.devices.base import Sample, SampleSource
from pliant.yarp.bridge.served import Served
from pliant.yarp.model.services import VectorServer
from pliant.yarp.wire.binary import encode_vector


def _base_state(sample: Sample) -> list[float]:
    """Return position, roll, pitch, yaw [rad], velocities and accelerations, linear first: 18 numbers."""
    values = sample.values
    angles = rpy_from_rotation(rotation_from_quaternion(values["orientation"]))
    rest = ("linear_velocity", "angular_velocity", "acceleration", "angular_acceleration")
    return np.concatenate([values["position"], angles, *(values[key] for key in rest)]).tolist()


CHANNELS: dict[str, Callable[[Sample], list[float]]] = {
    "base_state": _base_state,
    "load_cells": lambda sample: np.asarray(sample.values["load"]).tolist(),
    "joint_angles": lambda sample: (np.asarray(sample.values["angle"]) * DEGREES).tolist(),
}
"""Signature of a device -> its channels in the units of the wire."""


def serve_vector(served: Served, name: str, device: SampleSource) -> None:
    """Serve the channels of a device at the port that its server names, else at ``/robot/device/analog:o``."""
    channels = next(CHANNELS[kind] for kind in device.signatures if kind in CHANNELS)
    servers = [s for s in served.interface.servers if isinstance(s, VectorServer) and s.device == device.name]
    for port, period in [(s.port, s.period) for s in servers] or [(served.full_name(name, "analog:o"), None)]:
        served.publish(port, "Vector", device, lambda s, dialect: encode_vector(channels(s), dialect), period=period)
