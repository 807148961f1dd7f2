"""An arm on what a user's own robot carries it with."""

import mujoco
import numpy as np
import pytest

import pliant
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Robot
from pliant.simulation import Simulation

LEAN, YAW = [np.cos(0.35), np.sin(0.35), 0.0, 0.0], [np.cos(0.6), 0.0, 0.0, np.sin(0.6)]


def on_a_mount(quaternions):
    """An FR3 on bodies that each are turned on the one before, or on the world; its device is ``franka``."""
    spec = mujoco.MjSpec()
    spec.option.timestep = 0.001
    body = spec.worldbody
    for k, quaternion in enumerate(quaternions):
        body = body.add_body(name=f"mount{k}", pos=[0.0, 0.0, 0.8], quat=quaternion)
    body.add_site(name="flange", quat=LEAN)
    robot = Robot(spec)
    robot.attach(pliant.load("fr3"), site="flange")
    return robot


@pytest.mark.parametrize("quaternions", [[], [LEAN], [YAW, LEAN], [LEAN, YAW, LEAN]])
def test_an_arm_on_turned_bodies_compensates_gravity_as_it_acts_on_its_base(quaternions):
    robot = on_a_mount(quaternions)
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
        device = simulation.devices["franka"]
        data, base = simulation.engine.data, simulation.engine.model.body("franka_link0").id
        expected = data.xmat[base].reshape(3, 3).T @ simulation.engine.model.opt.gravity
        assert device.plant.gravity == pytest.approx(expected)
        q = np.array(device.plant.read()[0])
        simulation.run(0.5)
        assert np.array(device.plant.read()[0]) == pytest.approx(q, abs=1e-6)
        assert simulation.sample("franka").values["O_F_ext_hat_K"] == pytest.approx(np.zeros(6), abs=0.05)
