"""The walking device: what it reads, what it commands, what it refuses."""

import math

import numpy as np
import pytest

from pliant.base.errors import DeviceError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots import build_robot
from pliant.simulation import Simulation
from pliant.walking.device import WalkingDescription


def walking(**options):
    robot = build_robot("biped", {"controller": "walking", **options})
    engine = MujocoEngine(robot)
    devices = make_devices(robot)
    return engine, devices, next(device for device in devices if device.name == "walking")


@pytest.mark.parametrize("actuation", ["torque", "position"])
def test_it_walks_with_torques_and_with_position_servos(actuation):
    engine, devices, device = walking(actuation=actuation)
    with Simulation(engine, devices, pacer="free") as simulation:
        simulation.run(4.5)
    sample = device.read(engine.time_ns).values
    assert list(sample) == list(device.samples)
    assert sample["fallen"] == 0.0
    assert sample["steps"] >= 2.0
    assert engine.data.qpos[0] > 0.15


def test_it_stops_on_both_feet_when_told():
    engine, devices, device = walking(walk_start=0.2)
    with Simulation(engine, devices, pacer="free") as simulation:
        simulation.run(3.0)
        device.inbox.put({"step_length": 0.0})
        simulation.run(2.5)
        steps = device.walker.steps
        simulation.run(1.0)
    assert device.walker.steps == steps >= 2
    assert device.walker.phase == 0
    assert np.abs(engine.data.qvel[:3]).max() < 0.05


def test_a_longer_step_goes_farther():
    distances = []
    for length in (0.05, 0.15):
        engine, devices, device = walking(walk_start=-1.0)
        with Simulation(engine, devices, pacer="free") as simulation:
            simulation.run(0.2)
            assert device.walker.phase == 0
            device.inbox.put({"step_length": length})
            simulation.run(4.0)
        distances.append(engine.data.qpos[0])
    assert distances[1] > distances[0] + 0.1


def test_the_command_has_limits():
    _, _, device = walking()
    with pytest.raises(DeviceError, match="step_length"):
        device.inbox.put({"step_length": 1.0})


def test_it_needs_the_ankle_sensors():
    robot = build_robot("biped", {"controller": "walking"})
    robot.set("l_ankle_ft.enabled", False)
    engine = MujocoEngine(robot)
    device = next(d for d in make_devices(robot) if d.name == "walking")
    with pytest.raises(DeviceError, match="force/torque sensors must be enabled"):
        device.attach(engine)


def test_its_description_follows_its_robot_under_a_prefix():
    robot = build_robot("biped", {"controller": "walking"})
    described = next(d for d in robot.devices if isinstance(d, WalkingDescription))
    other = described.prefixed("a/")
    assert (other.name, other.base, other.joints[0]) == ("a/walking", "a/waist", f"a/{described.joints[0]}")
    assert other.force_torque == ("a/l_ankle_ft", "a/r_ankle_ft")
    assert math.isclose(other.sole, described.sole)
