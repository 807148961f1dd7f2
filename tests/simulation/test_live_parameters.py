"""Parameters of a robot that runs, without a wire."""

import math

import pytest

from pliant.base.errors import DeviceError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
from pliant.simulation import Simulation, sync
from pliant.simulation.live_parameters import live_parameters


@pytest.fixture
def joint():
    robot = load("qbmove-2dof")
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), [], pacer=sync()) as simulation:
        simulation.start()
        device = simulation.devices["joint_1"]
        ask = device.request

        def at_once(name, **args):  # the loop comes by at once
            future = ask(name, **args)
            device.serve()
            return future

        device.request = at_once
        yield device


def test_a_gain_that_is_set_is_read_again_under_the_name_that_is_asked_for(joint):
    parameters = live_parameters({"joint_1": joint}, lambda name: f"left_{name}")
    gain = parameters["left_joint_1.kp_1"]
    new = gain.read() + 1.0
    assert gain.change(gain.check(new))
    assert gain.read() == new
    assert not gain.change(new)


def test_the_mode_is_the_joint_s_own_and_its_range_is_that_of_the_modes(joint):
    mode = live_parameters({"joint_1": joint})["joint_1.operation_mode"]
    assert mode.read() == int(joint.mode)
    with pytest.raises(DeviceError, match="must be 0 to"):
        mode.check(99)


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, 1e9])
def test_gains_that_cannot_be_are_refused(joint, value):
    with pytest.raises(DeviceError, match=r"joint_1\.kp_1 is"):
        live_parameters({"joint_1": joint})["joint_1.kp_1"].check(value)


def test_devices_that_are_no_joints_have_none():
    assert live_parameters({}) == {}
