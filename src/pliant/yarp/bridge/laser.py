"""Laser scanners: the scan that YARP's rangefinder clients read, and the calls that they make."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import WireError
from pliant.base.numerics import DEGREES
from pliant.devices.base import Sample, SampleSource
from pliant.yarp.bridge.messages import Answer, Arrival
from pliant.yarp.bridge.requests import help_reply, words_of
from pliant.yarp.bridge.served import Served
from pliant.yarp.model.services import LaserScan, VectorServer
from pliant.yarp.wire import Dialect, Vocab, bottle
from pliant.yarp.wire.binary import encode_bottle
from pliant.yarp.wire.records import PROTOCOL_CALL, PROTOCOL_VERSION, call_of, return_value
from pliant.yarp.wire.values import FAIL, IS, OK, Bottle, Value

IN_USE = 1
"""Status of a scanner that measures."""
CODES = {
    "lsdr": "getDistanceRange",
    "lsar": "getScanLimits",
    "lsas": "getHorizontalResolution",
    "lssr": "getScanRate",
    "lsnf": "getDeviceInfo",
}
"""Vocabulary of a call of YARP 3.5 and before -> the call of later versions, which ends in ``_RPC``."""
CHANGES = ("setDistanceRange", "setScanLimits", "setHorizontalResolution", "setScanRate")


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


class Rangefinder:
    """Answers the calls of rangefinder clients: by vocabularies, as YARP 3.5 makes them, and by records, as later ones.

    Nothing of a scanner can be changed by a call.

    Args:
        limits: angle of the first and the last ray [deg], nearest and farthest distance [m].
        rays: their number.
        rate: scans a second [Hz].
        info: what the scanner is.
        dialect: of the answers to records.
    """

    def __init__(
        self, limits: tuple[float, float, float, float], rays: int, rate: float, info: str, dialect: Dialect
    ) -> None:
        low, high, near, far = limits
        self._dialect = dialect
        self._values: dict[str, tuple[Value, ...]] = {
            "getDistanceRange": (near, far),
            "getScanLimits": (low, high),
            "getHorizontalResolution": ((high - low) / max(rays - 1, 1),),
            "getScanRate": (rate,),
            "getDeviceInfo": (info,),
            "getDeviceStatus": (IN_USE,),
        }

    def answer(self, request: Bottle) -> Answer:
        """Return the reply to a request.

        Raises:
            WireError: there is no such call, or it would change the scanner and came by vocabularies.
        """
        _, items = call_of(request)
        words = words_of(items)
        if words[1:2] == ["ilas"]:
            name = CODES.get(words[2] if len(words) == 3 else "", "")
            if words[0] != "get" or not name:
                raise WireError(f"a rangefinder does not take {' '.join(words)[:80]!r}; its settings are fixed")
            # Programs that use vocabularies know dialect 3 only.
            return encode_bottle(Bottle((IS, Vocab.of(words[2]), *self._values[name])), 3)
        if words == ["help"]:
            return help_reply([f"{name}_RPC" for name in (*self._values, *CHANGES)])
        if words == [PROTOCOL_CALL]:
            return PROTOCOL_VERSION
        name = words[0].removesuffix("_RPC") if words else ""
        if words[1:2] not in ([], ["RPC"]) or name not in (*self._values, *CHANGES):
            raise WireError(f"a rangefinder has no call {' '.join(words)[:80]!r}; help lists them", field="method")
        if name in CHANGES:
            return bottle(FAIL) if self._dialect == 3 else return_value("err2")
        if len(items) != len(words[:2]):
            raise WireError(f"a rangefinder takes {name} without arguments", field="method")
        done: Value = OK if self._dialect == 3 else return_value("ok")
        return Bottle((done, *self._values[name]), layout="tagged")


def serve_laser(served: Served, name: str, device: SampleSource) -> None:
    """Serve a laser.

    | port | content |
    |---|---|
    | that its server names, else ``/robot/device/laser:o`` | the scans |
    | the same with ``/rpc:i`` | the calls of `Rangefinder` |
    """
    low, high, near, far = (float(device.metadata[key]) for key in ("min_angle", "max_angle", "min_range", "max_range"))
    scans = (d for d in served.interface.devices if isinstance(d, LaserScan))
    described = next((scan for scan in scans if scan.sensor == device.name), None)
    ports = [(s.port, s.period) for s, scan in served.interface.shown_by(VectorServer, LaserScan) if scan is described]
    change = limited(described, np.linspace(0.0, high - low, device.samples["ranges"].size))
    limits = (low * DEGREES, high * DEGREES, near, far)

    def encode(sample: Sample, dialect: Dialect) -> bytes:
        return encode_scan(limits, change(np.asarray(sample.values["ranges"])), dialect)

    rays = device.samples["ranges"].size
    rate = 1e9 / device.sample_period_ns if device.sample_period_ns else 0.0
    dialects: tuple[Dialect, ...] = (3, 4)
    finders = {dialect: Rangefinder(limits, rays, rate, f"laser {name}", dialect) for dialect in dialects}

    def call(arrival: Arrival) -> Answer:
        return finders[served.receivers.dialect_of(arrival.sender)].answer(arrival.bottle())

    for port, period in ports or [(served.full_name(name, "laser:o"), None)]:
        served.publish(port, "LaserScan2D", device, encode, period=period)
        served.input(f"{port}/rpc:i", "Bottle", is_rpc=True, on_data=call)
