"""Analog servers that a robot describes: several sensors behind one prefix, under the names of its own software."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pliant.devices.base import Sample, SampleSource
from pliant.devices.signatures import IMU, WRENCH
from pliant.simulation.rate_timer import RateTimer
from pliant.yarp.bridge.sensors import Numbers, channels, measured_groups, metadata_answer
from pliant.yarp.bridge.served import BottleTemplate, Served
from pliant.yarp.model.services import (
    AnalogServer,
    ForceTorqueSensor,
    InertialSensor,
    VectorServer,
    YarpInterface,
    yarp_interface,
)
from pliant.yarp.wire import Dialect
from pliant.yarp.wire.binary import encode_vector
from pliant.yarp.wire.sensors import SENSOR_GROUPS, Measurement, SensorNames, encode_measurements, encode_metadata

__all__ = ["serve_analog_servers"]

SIZES = {"temperatures": 1, "six_axis_force_torques": 6}
"""Numbers of a measurement by group; 3 where it is not listed."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """One sensor of a server."""

    group: str
    """Its group."""
    sensor_name: str
    """Name for the network."""
    device: SampleSource
    """The device that measures."""
    numbers: Numbers
    """What it measures, in the units of the wire."""


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
    interface = None if served.robot is None else yarp_interface(served.robot.interface)
    if interface is None:
        return set()
    shown: set[str] = set()
    for server in interface.servers:
        if isinstance(server, AnalogServer):
            sensors = [sensor for sensor in _sensors(served, interface, server) if sensor is not None]
            if sensors:
                _serve(served, server, sensors)
                shown |= {sensor.device.name for sensor in sensors}
        elif isinstance(server, VectorServer):
            device = _device(served, interface, server.device)
            if device is not None:
                _serve_vector(served, server, device)
                shown.add(device.name)
    return shown


def _device(served: Served, interface: YarpInterface, name: str) -> SampleSource | None:
    """Return the device that measures for a sensor, or None where it is not simulated."""
    described = interface.device(name)
    if not isinstance(described, ForceTorqueSensor | InertialSensor):
        return None
    device = served.devices.get(described.sensor)
    return device if device is not None and (WRENCH.of(device) or IMU.of(device)) else None


def _sensors(served: Served, interface: YarpInterface, server: AnalogServer) -> list[_Shown | None]:
    found: list[_Shown | None] = []
    for group in SENSOR_GROUPS:
        for reference in server.groups.get(group, ()):
            device = _device(served, interface, reference.device)
            numbers = None if device is None else measured_groups(device).get(group)
            if device is not None and numbers is not None:
                found.append(_Shown(group, reference.sensor_name, device, numbers))
    return found


def _serve(served: Served, server: AnalogServer, sensors: list[_Shown]) -> None:
    empty: dict[str, list[Measurement]] = {}
    names: dict[str, list[SensorNames]] = {}
    for sensor in sensors:
        empty.setdefault(sensor.group, []).append(Measurement((0.0,) * SIZES.get(sensor.group, 3), 0.0))
        frame = sensor.sensor_name if WRENCH.of(sensor.device) else sensor.device.frame
        names.setdefault(sensor.group, []).append(SensorNames(sensor.sensor_name, frame))
    template = BottleTemplate(encode_measurements(empty))
    port = served.output(f"{server.port}/measures:o", "SensorStreamingData")
    metadata = encode_metadata(names)
    served.input(
        f"{server.port}/rpc:o", "Bottle", is_rpc=True, on_data=lambda arrival: metadata_answer(arrival, metadata)
    )
    latest: dict[str, Sample] = {}
    devices = {sensor.device.name: sensor.device for sensor in sensors}
    for name in devices:
        served.writers[name].append(lambda sample: latest.__setitem__(sample.device, sample))
    fastest = min(device.sample_period_ns for device in devices.values())
    every = RateTimer(0.0 if server.period * 1e9 <= fastest else 1.0 / server.period)
    count = 0
    sent_ns = -1

    def encode(samples: Mapping[str, Sample], dialect: Dialect) -> bytes:
        numbers: list[float] = []
        for sensor in sensors:
            sample = samples[sensor.device.name]
            numbers += sensor.numbers(sample)
            numbers.append(sample.stamp_ns / 1e9)
        return template.fill(numbers, dialect)

    def tick(stamp_ns: int) -> None:
        nonlocal count, sent_ns
        if len(latest) < len(devices):
            return
        newest = max(sample.stamp_ns for sample in latest.values())
        if newest == sent_ns or not every.due(newest):
            return
        sent_ns = newest
        count = (count + 1) & 0x7FFFFFFF
        if port.active:
            samples = dict(latest)
            port.write(lambda dialect: encode(samples, dialect), f"{count} {newest * 1e-9:.15g}")

    served.ticks.append(tick)


def _serve_vector(served: Served, server: VectorServer, device: SampleSource) -> None:
    numbers = channels(device)
    served.publish(
        server.port,
        "Vector",
        device,
        lambda sample, dialect: encode_vector(numbers(sample), dialect),
        period=server.period,
    )
