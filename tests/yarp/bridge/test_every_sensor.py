"""Each kind of sensor behind a server of analog sensors: what arrives is its sample, in the units of the wire."""

from pathlib import Path

import numpy as np
import pytest
from fuzz import until
from yarp_readers import GROUPS, StockReader, read_streaming_data
from yarp_simulation import served

import pliant

pytestmark = pytest.mark.network
STRIDER = Path(__file__).parents[2] / "data" / "yarp" / "robots" / "strider.urdf"


def turns(quaternion):
    """Return roll, pitch and yaw [deg] of a quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(2 * (w * y - z * x))
    return np.degrees([roll, pitch, np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))])


SERVERS = {
    "sensors": {
        "ThreeAxisGyroscopes": ("waist_imu", lambda v: np.degrees(v["angular_velocity"])),
        "ThreeAxisLinearAccelerometers": ("waist_imu", lambda v: v["linear_acceleration"]),
        "OrientationSensors": ("waist_imu", lambda v: np.zeros(3)),  # since the start; the trunk stands still
        "TemperatureSensors": ("foot_ft", lambda v: [25.0]),
        "SixAxisForceTorqueSensors": ("foot_ft", lambda v: [*v["force"], *v["torque"]]),
    },
    "base": {
        "ThreeAxisGyroscopes": ("base_device", lambda v: np.degrees(v["angular_velocity"])),
        "ThreeAxisLinearAccelerometers": ("base_device", lambda v: v["acceleration"]),
        "OrientationSensors": ("base_device", lambda v: turns(v["orientation"])),
        "PositionSensors": ("base_device", lambda v: v["position"]),
        "LinearVelocitySensors": ("base_device", lambda v: v["linear_velocity"]),
        "ThreeAxisAngularAccelerometers": ("base_device", lambda v: np.degrees(v["angular_acceleration"])),
    },
    "cells": {"ContactLoadCellArrays": ("cells_device", lambda v: v["load"])},
    "mais": {"EncoderArrays": ("mais_device", lambda v: 255.0 * (1.0 - (np.asarray(v["angle"]) + 1.0) / 2.0))},
}
"""Server -> group of the message -> the device, and what its sample is in the units of the wire."""
KNOWN = {"ThreeAxisMagnetometers", "SkinPatches"}
"""Groups that no device of pliant has a measurement for."""


def test_every_sensor_arrives_as_its_sample():
    robot = pliant.load(STRIDER)
    with served(robot) as run:
        kept = {}
        for name in run.simulation.devices:
            writers = run.bridge.served.writers[name]
            writers.append(lambda s: kept.__setitem__((s.device, s.stamp_ns), s.values))
        run.simulation.submit(lambda: run.simulation.engine.port("wrist/velocity").__setitem__(0, 2.0)).result(30.0)
        shown, seen = set(), set()
        for server, groups in SERVERS.items():
            with StockReader("4.0") as reader:
                target = f"/tester/{server}/measures:i"
                run.bridge.network.names.register(target, "tcp", "127.0.0.1", reader.port)
                run.yarp.connect(f"/strider/{server}/measures:o", target)
                messages = [read_streaming_data("4.0", data) for data in reader.wait(5)]
            for message in messages:
                assert set(message) == set(groups), server
                for group, ((numbers, stamp),) in message.items():
                    device, expected = groups[group]
                    stamp_ns = round(stamp * 1e9)
                    until(lambda key=(device, stamp_ns): key in kept, f"the sample of {device} at {stamp}", 10.0)
                    np.testing.assert_allclose(numbers, expected(kept[device, stamp_ns]), atol=1e-9, err_msg=group)
                    seen.add(group)
                    shown.add(device)
        sensors = {n for n, d in run.simulation.devices.items() if not d.commands and d.samples}
        assert sensors - shown == {"scan", "world", "wrench"}  # a scan has a message of its own, the others calls
    assert set(GROUPS) - seen == KNOWN
