"""Several arms in one program: a command of each in every millisecond."""

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

from pliant.base.errors import DeviceError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.bridge import FciBridge, FciOptions
from pliant.franka.client import FrankaGroup, FrankaRobot
from pliant.robots import build_robot
from pliant.simulation import Simulation


@pytest.fixture
def arms():
    robot = build_robot("franka-torso", {"obstacle": False})
    simulation = Simulation(MujocoEngine(robot), make_devices(robot), pacer="free")
    with simulation, FrankaRobot.of(simulation, "left") as left, FrankaRobot.of(simulation, "right") as right:
        yield left, right


def swing(left, right, steps=200):
    group = FrankaGroup([left, right])
    group.start("force_torque", "velocity")
    for k in range(steps):
        left.want_force_torque("joint", [0.0] * 7)
        right.want_velocity("joint", [0.1 * min(1.0, k / 50), 0, 0, 0, 0, 0, 0])
        group.step()
        assert left.time == pytest.approx(right.time, abs=1e-9)
    return group


def test_a_step_of_a_group_is_one_millisecond_for_all_arms(arms):
    left, right = arms
    began, q = right.time, [left.get_position(), right.get_position()]
    group = swing(left, right)
    # the group's start takes the state that the first commands answer
    assert right.time - began == pytest.approx(0.2, abs=0.01)
    np.testing.assert_allclose(left.get_position(), q[0], atol=1e-4)
    assert 0.01 < (right.get_position() - q[1])[0] < 0.02
    group.stop()


def test_the_stop_of_a_group_leaves_all_arms_at_rest_without_an_error(arms):
    left, right = arms
    swing(left, right).stop()
    for robot in arms:
        assert robot.mode == "idle"
        assert robot.get_robot_state() == "stop"
        assert not robot.backend.get("errors").any()
        assert np.abs(robot.get_velocity()).max() < 1e-2


def test_an_arm_that_aborts_its_motion_stops_the_others(arms):
    left, right = arms
    group = FrankaGroup([left, right])
    group.start("force_torque", "velocity")

    def push():
        for _ in range(400):
            left.want_force_torque("joint", [40.0, 0, 0, 0, 0, 0, 0], filter_gain=1.0)
            right.want_velocity("joint", [0.05, 0, 0, 0, 0, 0, 0])
            group.step()

    with pytest.raises(DeviceError, match="aborted"):
        push()
    right.wait(0.5)
    assert left.mode == "reflex"
    assert right.mode == "idle"
    assert np.abs(right.get_velocity()).max() < 1e-3


@pytest.mark.parametrize(("ahead", "received"), [(0.0, 0), (7e-3, 7), (3600.0, 0)])
def test_a_group_takes_states_of_one_time_of_arms_that_share_a_clock(ahead, received):
    class Late:
        time = 5.0
        received = 0

        def receive(self):
            self.time += 1e-3
            self.received += 1

    late = Late()
    group = FrankaGroup([SimpleNamespace(backend=late), SimpleNamespace(backend=SimpleNamespace(time=5.0 + ahead))])
    group._catch_up()
    assert late.received == received


def test_a_group_of_no_arms_or_one_arm_twice_is_refused(arms):
    with pytest.raises(DeviceError, match="different arms"):
        FrankaGroup([])
    with pytest.raises(DeviceError, match="different arms"):
        FrankaGroup([arms[0], arms[0]])


@pytest.mark.parametrize("states", [("velocity",), ("position", "velocity"), ()])
def test_a_group_starts_velocities_or_torques_of_every_arm(arms, states):
    with pytest.raises(DeviceError, match=r"2 of 'velocity' and 'force_torque'"):
        FrankaGroup(arms).start(*states)


@pytest.mark.network
@pytest.mark.skipif(importlib.util.find_spec("pylibfranka") is None, reason="pylibfranka is not installed")
def test_two_arms_behind_the_interface_lose_nothing_with_one_thread():
    from pliant.papers.arms.franka_server import serve

    with (
        serve(torso=True, obstacle=False) as server,
        FrankaRobot.connect(server.host(0), arm="fer") as left,
        FrankaRobot.connect(server.host(1), arm="fer") as right,
    ):
        swing(left, right).stop()
        assert left.mode == right.mode == "idle"
    assert [arm["name"] for arm in server.counters["arms"]] == ["left", "right"]
    for arm in server.counters["arms"]:
        assert (arm["lost"], arm["late"], arm["timeouts"], arm["malformed"]) == (0, 0, 0, 0)
        assert arm["cycles"] > 200


@pytest.mark.network
def test_the_bridge_gives_each_arm_of_the_torso_an_address():
    robot = build_robot("franka-torso", {"obstacle": False})
    bridge = FciBridge(FciOptions(mode="lockstep", host="127.0.93.1", port=0, gripper_port=0))
    with Simulation(MujocoEngine(robot), make_devices(robot), [bridge]) as simulation:
        simulation.start()
        assert {name: place.rpartition(":")[0] for name, place in bridge.addresses.items()} == {
            "left": "127.0.93.1",
            "gripper of left": "127.0.93.1",
            "right": "127.0.93.2",
            "gripper of right": "127.0.93.2",
        }
