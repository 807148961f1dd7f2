"""The streams and names of YARP's multiple analog sensors: twelve groups of measurements, ten before YARP 3.11.

Source: recorded traffic of YARP 4.0.0; dialect 3 differs in the tags of floats only. The first ten groups are
those of the thrift files of YARP 3.5.0 to 3.10.1.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pliant.base.errors import WireError, nearest
from pliant.yarp.wire.binary import read_value
from pliant.yarp.wire.objects import vector
from pliant.yarp.wire.values import Bottle, bottle

SENSOR_GROUPS = (
    "gyroscopes",
    "linear_accelerometers",
    "magnetometers",
    "orientations",
    "temperatures",
    "six_axis_force_torques",
    "contact_load_cells",
    "encoder_arrays",
    "skin_patches",
    "positions",
    "linear_velocities",
    "angular_accelerometers",
)
"""Groups of a multiple-analog-sensors stream, in the order of the wire."""
EARLY_GROUPS = 10
"""Groups that clients of YARP 3.5 to 3.10 read: the first of `SENSOR_GROUPS`. They refuse any other number."""
T = TypeVar("T")
_EMPTY = struct.pack("<2i", 256, 0)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One sensor's values."""

    values: tuple[float, ...]
    """Gyroscope [deg/s], accelerometer [m/s^2], magnetometer [T], orientation (roll, pitch, yaw) [deg], temperature
    [degC], six-axis force/torque (force [N], torque [Nm]), and so on."""
    time: float
    """When they were measured [s]."""


def encode_measurements(groups: Mapping[str, Sequence[Measurement]]) -> Bottle:
    """Return the Bottle of a `measures:o` stream: the groups, each a list of (vector, time) lists.

    Raises:
        WireError: a group that is none of `SENSOR_GROUPS`.
    """
    return _listed(groups, lambda m: bottle(vector(m.values), float(m.time)))


def _listed(groups: Mapping[str, Sequence[T]], encode: Callable[[T], Bottle]) -> Bottle:
    """Return the list of all groups in the order of the wire, each the list of what its sensors are encoded as."""
    for name in groups:
        if name not in SENSOR_GROUPS:
            raise WireError(f"sensor group {name!r}: {nearest(name, SENSOR_GROUPS)}", field="group")
    return Bottle(tuple([Bottle(tuple([encode(item) for item in groups.get(name, ())])) for name in SENSOR_GROUPS]))


def cut_measurements(data: bytes, count: int) -> bytes:
    """Return the bytes of a `measures:o` message of dialect 3 with the first groups only, as earlier clients read it.

    Raises:
        WireError: the message has fewer groups.
    """
    (found,) = struct.unpack_from("<i", data, 4)
    if found < count:
        raise WireError(f"{found} groups of sensors cannot be cut to {count}")
    if found == count:
        return data
    end = len(data) - 8 * (found - count)
    if data[end:] != _EMPTY * (found - count):  # the groups behind have measurements, which the client does not know
        end = 8
        for _ in range(count):
            _, end = read_value(data, 3, end)
    return struct.pack("<2i", 256, count) + data[8:end]


@dataclass(frozen=True, slots=True)
class SensorNames:
    """Names by which clients match sensors."""

    name: str
    """Name of the sensor."""
    frame: str
    """Name of the frame that it measures in."""
    metadata: str = ""
    """Additional text, usually empty."""


def encode_metadata(groups: Mapping[str, Sequence[SensorNames]]) -> Bottle:
    """Return the reply to `getMetadata`: the groups, each a list of (name, frame, metadata) records.

    Raises:
        WireError: a group that is none of `SENSOR_GROUPS`.
    """
    return _listed(groups, lambda s: Bottle((s.name, s.frame, s.metadata), layout="tagged"))
