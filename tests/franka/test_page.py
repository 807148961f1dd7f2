"""A Franka arm on the page: sliders of joint targets and of the hand, and who moves the arm."""

from types import SimpleNamespace

import numpy as np
import pytest
from fci_clients import Client
from running import eventually, running

from pliant.base.errors import DeviceError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.bridge import FciBridge, FciOptions
from pliant.franka.client import FrankaRobot
from pliant.franka.page import ArmPanel
from pliant.franka.wire import fci
from pliant.robots.loading import load
from pliant.simulation import Simulation

pytestmark = pytest.mark.network


class Row:
    """A control that only has a value."""

    def __init__(self, **options):
        self.options = options
        self.value, self.min, self.max = options.get("initial_value"), options.get("min"), options.get("max")
        self.disabled, self.content = False, options.get("content", "")

    def on_update(self, work):
        self.changed = work

    on_click = on_update


class Gui:
    """Makes rows in place of viser's controls, and keeps them by label."""

    def __init__(self):
        self.rows, self.status = {}, None

    def add_slider(self, label, **options):
        self.rows[label] = Row(label=label, **options)
        return self.rows[label]

    add_button = add_slider

    def add_html(self, content):
        self.status = Row(content=content)
        return self.status

    def joint(self, number):
        """Return the slider of a joint, counted from 1."""
        return self.rows[f"joint {number} [rad]"]


HAND = SimpleNamespace(client=object())
"""An event of a browser."""


def done(work):
    """Do what was submitted at once, as the loop's thread would at the start of a step."""
    result = work()
    return SimpleNamespace(result=lambda _=None: result)


@pytest.fixture
def arm():
    """A panel over a simulation that the test steps itself."""
    robot = load("franka")
    (device, *_), said = make_devices(robot), []
    latest = {}
    with Simulation(MujocoEngine(robot, check=False), [device]) as simulation:
        simulation.run(0.01)
        latest[device.name] = simulation.sample(device.name)
        control = SimpleNamespace(submit=done)
        gui = Gui()
        panel = ArmPanel(gui, device, control, said.append, latest)

        def run(seconds):
            """Simulate, and draw the panel ten times a second."""
            rows = []
            for _ in range(round(10 * seconds)):
                for _ in range(100):
                    simulation.step()
                    rows.append(np.array(simulation.sample(device.name).values["dq_d"]))
                latest[device.name] = simulation.sample(device.name)
                panel.draw()
            return np.array(rows)

        yield SimpleNamespace(gui=gui, device=device, run=run, said=said, latest=latest)


def test_a_slider_brings_its_joint_to_the_target_within_the_limits_of_the_arm(arm):
    gui, device = arm.gui, arm.device
    start = np.array(arm.latest[device.name].values["q"])
    gui.joint(1).value, gui.joint(4).value = 0.6, -1.5
    gui.joint(1).changed(HAND)
    speeds = [arm.run(0.3)]
    assert "moving" in gui.status.content
    speeds.append(arm.run(4.0))
    q = np.array(arm.latest[device.name].values["q"])
    goal = start.copy()
    goal[[0, 3]] = 0.6, -1.5
    np.testing.assert_allclose(q, goal, atol=2e-3)
    limits = device.description.arm.limits
    speed = np.concatenate(speeds)
    assert (np.abs(speed) <= 0.25 * np.array(limits.velocity) + 1e-9).all()
    assert (np.abs(np.diff(speed, axis=0)) <= 1e-3 * np.array(limits.acceleration) + 1e-9).all()
    assert "idle" in gui.status.content  # the motion ended by itself, so that requests are taken again
    assert device.cabinet.motion is None
    assert arm.said == []


def test_a_target_beyond_the_slider_is_refused_and_the_arm_stays(arm):
    arm.gui.joint(1).value = 1e6
    arm.gui.joint(1).changed(HAND)
    assert arm.device.cabinet.motion is None
    assert "joint 1 is 1e+06 rad; must be from -2.8" in arm.said[0]


def test_a_target_that_changes_on_the_way_is_followed_without_a_stop_and_a_new_speed_holds_at_once(arm):
    device, shoulder, speed = arm.device, arm.gui.joint(2), arm.gui.rows["speed"]
    shoulder.value = 0.8
    shoulder.changed(HAND)
    arm.run(0.8)
    speed.value = 0.1
    speed.changed(HAND)
    shoulder.value = 0.2
    shoulder.changed(HAND)
    arm.run(0.5)
    slow = arm.run(1.0)
    assert np.abs(slow[:, 1]).max() <= 0.1 * device.description.arm.limits.velocity[1] + 1e-9
    arm.run(8.0)
    assert arm.latest[device.name].values["q"][1] == pytest.approx(0.2, abs=2e-3)
    assert not np.any(arm.latest[device.name].values["errors"])
    assert arm.said == []


def test_the_hand_opens_to_its_slider_and_closes_with_the_button(arm):
    width, grasp = arm.gui.rows["hand width [m]"], arm.gui.rows["grasp"]
    width.value = 0.07
    width.changed(HAND)
    arm.run(2.0)
    assert arm.device.gripper.width == pytest.approx(0.07, abs=1e-3)
    grasp.changed(HAND)
    arm.run(3.0)
    assert arm.device.gripper.width < 0.002


def test_an_idle_arms_sliders_follow_it_and_are_no_commands(arm):
    gui, device = arm.gui, arm.device
    gui.joint(1).changed(SimpleNamespace(client=None))
    arm.run(0.1)
    assert device.cabinet.motion is None
    device.plant.start(np.array(device.description.q) + 0.3)
    device.cabinet.reset(np.array(device.description.q) + 0.3)
    arm.run(0.2)
    assert gui.joint(1).value == pytest.approx(device.description.q[0] + 0.3, abs=2e-3)


def test_while_a_program_has_the_arm_the_page_says_so_and_moves_nothing():
    robot = load("franka")
    (device, *_), said = make_devices(robot), []
    with Simulation(MujocoEngine(robot, check=False), [device]) as simulation:
        simulation.run(0.01)
        latest = {device.name: simulation.sample(device.name)}
        control = SimpleNamespace(submit=done)
        gui = Gui()
        panel = ArmPanel(gui, device, control, said.append, latest)
        client = FrankaRobot.of(simulation)
        panel.draw()
        assert "a program moves this arm" in gui.status.content
        assert all(row.disabled for row in gui.rows.values())
        gui.joint(1).value += 0.2
        gui.joint(1).changed(HAND)
        assert "a program moves this arm" in said[0]
        assert device.cabinet.motion is None
        client.close()
        panel.draw()
        assert not gui.joint(1).disabled


def test_a_client_that_connects_finds_a_standing_arm_and_the_page_waits_until_it_leaves():
    bridge = FciBridge(FciOptions(port=0, gripper_port=0, mode="paced", system_version="any"))
    with running("franka", bridges=[bridge]) as (simulation, view):
        (panel,) = view._controls.panels
        eventually(lambda: "idle" in panel._status.content)
        panel._joints[0]._impl.value = 2.0  # far, so that the motion lasts until it is looked at
        panel._move()
        eventually(lambda: abs(simulation.sample("franka").values["dq_d"][0]) > 0.1)
        with Client(bridge) as client:
            assert client.status == "success"
            state = client.newest()
            assert state.robot_mode == fci.RobotMode.IDLE
            assert not np.any(state.dq_d)
            eventually(lambda: "the client at 127.0.0.1" in panel._status.content)
            assert panel._joints[0].disabled
            with pytest.raises(DeviceError, match="the client at"):
                panel._move()
            assert client.newest().robot_mode == fci.RobotMode.IDLE
        eventually(lambda: "idle" in panel._status.content and not panel._joints[0].disabled)
        panel._joints[0]._impl.value = -2.0
        panel._move()
        eventually(lambda: simulation.sample("franka").values["robot_mode"] == fci.RobotMode.MOVE)
        assert view.health()["last_error"] == ""
