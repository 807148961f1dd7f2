"""Limits that cut the torque of a spring, and rates that no whole number of steps has, are named before a run."""

import mujoco
import numpy as np
import pytest

from pliant import load
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Camera, ForceTorque, Imu, Laser, Robot


def warnings(robot):
    return [p.message for p in robot.check() if p.severity == "warning" and "effort limit" in p.message]


@pytest.mark.parametrize("mode", range(7))
@pytest.mark.parametrize("name", ["sea-1dof", "qbmove-1dof", "bavs-1dof", "awas2-1dof"])
def test_a_limit_below_the_torque_of_the_spring_is_named_with_the_torque_that_samples_show(name, mode):
    robot = load(name)
    robot.set("joint.mode", mode)
    assert warnings(robot) == []
    robot.set("joint.effort", 0.5)
    found = [message for message in warnings(robot) if "of which the joint gets at most" in message]
    assert len(found) == (mode >= 2)  # the others have no spring
    if mode >= 2:
        told = float(found[0].split("up to ")[1].split()[0])
        robot.set("joint.effort", 1.001 * told)
        assert not any("of which" in message for message in warnings(robot))


def test_the_torque_of_a_sample_is_that_of_the_spring_and_the_link_gets_the_limit():
    robot = load("sea-1dof")
    robot.set("joint.effort", 0.5)
    engine = MujocoEngine(robot, check=False)
    engine.port("joint/reference_1")[0] = 0.4
    engine.step(1)
    data = engine.data
    assert data.qfrc_actuator[0] == 0.5
    assert engine.port("joint/torque")[0] > 0.9 * np.abs(data.actuator_force).max() > 0.5


@pytest.mark.parametrize("kind", [Imu, ForceTorque, Laser, Camera])
@pytest.mark.parametrize("step", [0.0005, 0.001, 0.002])
def test_a_rate_far_from_that_of_the_samples_is_named_with_it(kind, step):
    spec = mujoco.MjSpec()
    spec.option.timestep = step
    spec.worldbody.add_body(name="arm").add_geom(size=[0.1] * 3)
    for rate in (1.0, 30.0, 60.0, 100.0, 300.0, 400.0, 700.0, 1000.0, 4000.0):
        robot = Robot(spec.copy())
        robot.devices.append(kind(name="sensor", body="arm", rate=rate))
        (device,) = make_devices(robot)
        actual = 1e9 / device.sample_period_ns
        found = [p.message for p in robot.check() if p.subject == "sensor"]
        assert len(found) == (abs(actual / rate - 1.0) > 0.05), (rate, actual)
        assert all(f"samples at {actual:.4g} Hz in place of {rate:g} Hz" in message for message in found)
        robot.set("sensor.enabled", False)
        assert not any(p.subject == "sensor" for p in robot.check())
