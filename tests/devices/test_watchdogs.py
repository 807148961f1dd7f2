"""The option ``watchdog`` of every device that takes commands: after the silence it stops what the command began."""

import threading
import time

import numpy as np
import pytest

from pliant.base.errors import DeviceError
from pliant.devices import make_devices
from pliant.devices.base import DeviceBase, FieldInfo
from pliant.engine import MujocoEngine
from pliant.franka.wire import fci
from pliant.robots import build_robot
from pliant.simulation import Simulation

ROBOTS = {
    "qbmove-2dof": {"joint_1", "board"},
    "3RR": {"cpr"},
    "tdcr": {"tendons"},
    "softfoot": {"press"},
    "softfoot-bench": {"load"},
    "biped": {"torso"},
    "fr3": {"franka"},
    "Stewart_Gough_6PFR": {"controller", "cpr"},
}
"""Robot -> some of its devices that take commands."""
OPTIONS = {"Stewart_Gough_6PFR": {"controller": True, "segments": 4}}
WATCHDOG = 0.02


def started(name, **options):
    robot = build_robot(name, OPTIONS.get(name, {}) | options)
    devices = make_devices(robot, watchdog=WATCHDOG)
    return Simulation(MujocoEngine(robot), devices, pacer="free")


@pytest.mark.parametrize("name", ROBOTS)
def test_every_device_that_takes_commands_stops_when_its_watchdog_trips(name):
    with started(name) as simulation:
        takers = {n: d for n, d in simulation.devices.items() if d.commands}
        assert ROBOTS[name] <= set(takers)
        for device in takers.values():
            assert type(device)._trip is not DeviceBase._trip
            assert device._watchdog_ns == round(WATCHDOG * 1e9), device.name


def test_a_device_without_a_safe_state_refuses_a_watchdog():
    class Valve(DeviceBase):
        pass

    with pytest.raises(DeviceError, match="valve: watchdog is no option of this device: Valve defines no _trip"):
        Valve("valve", samples={}, commands={"open": {"width": FieldInfo()}}, watchdog=0.1)
    Valve("valve", samples={"width": FieldInfo()}, watchdog=0.1)  # it takes no commands: nothing trips


def test_the_press_pushes_with_its_load_again():
    with started("softfoot") as simulation:
        press = simulation.devices["press"]
        load = press.description.load
        press.inbox.put({"force": load + 20.0})
        simulation.run(WATCHDOG)
        assert simulation.engine.port(press.written_ports[0])[0] == pytest.approx(20.0)
        simulation.run(0.01)
        assert simulation.engine.port(press.written_ports[0])[0] == 0.0
        assert press.health()["watchdog_trips"] == 1


def test_the_tendons_spools_stay_where_they_are():
    with started("tdcr") as simulation:
        tendons = simulation.devices["tendons"]
        tendons.inbox.put({"pull": [0.005, 0.0, 0.0, 0.005, 0.0, 0.0]})
        simulation.run(WATCHDOG + 0.002)
        assert tendons.stopped()
        simulation.run(0.3)
        assert np.abs(simulation.sample("tendons").values["pull"]).max() < 0.004


def test_a_parallel_robots_servos_stay_where_they_are():
    with started("3RR") as simulation:
        cpr = simulation.devices["cpr"]
        goal = cpr.held("joints_values") + 0.3
        cpr.inbox.put({"joints_values": goal}, mode="dgm_parameters")
        simulation.run(WATCHDOG + 0.002)
        assert cpr.stopped()
        there = simulation.engine.port(f"{cpr.joints[0]}/control")[0]
        simulation.run(0.3)
        assert simulation.engine.port(f"{cpr.joints[0]}/control")[0] == there
        assert abs(there - goal[0]) > 0.1
        cpr.inbox.put({"joints_values": goal}, mode="dgm_parameters")
        for _ in range(30):  # a stream that goes on
            cpr.inbox.put({"joints_values": goal}, mode="dgm_parameters")
            simulation.run(0.01)
        assert simulation.engine.port(f"{cpr.joints[0]}/control")[0] == pytest.approx(goal[0])


def test_what_a_parallel_robot_has_solved_after_the_stop_moves_it_no_more(monkeypatch):
    with started("3RR") as simulation:
        cpr = simulation.devices["cpr"]
        cpr.keep_pace()
        go, solved, solve = threading.Event(), threading.Event(), cpr._solve

        def late(*arguments):
            go.wait(10.0)
            try:
                return solve(*arguments)
            finally:
                solved.set()

        monkeypatch.setattr(cpr, "_solve", late)
        cpr.inbox.put({"joints_values": cpr.held("joints_values") + 0.3}, mode="dgm_parameters")
        simulation.run(WATCHDOG + 0.002)
        assert cpr.stopped()
        there = simulation.engine.port(f"{cpr.joints[0]}/control")[0]
        go.set()
        assert solved.wait(10.0)
        for _ in range(5):
            time.sleep(0.01)
            simulation.run(0.05)
        assert simulation.engine.port(f"{cpr.joints[0]}/control")[0] == there


@pytest.mark.parametrize("policy", ["exert", "push", "hold"])
def test_the_controller_of_a_plate_gives_no_wrench_any_more(policy):
    with started("Stewart_Gough_6PFR", controller_wrench=policy) as simulation:
        controller = simulation.devices["controller"]
        plate = controller.robot
        for _ in range(3):  # a stream
            controller.heights.put({"height": 1.15})
            simulation.run(WATCHDOG / 2)
            assert not controller.stopped()
        assert plate._goal.control[2] > 0.0
        simulation.run(WATCHDOG + 0.002)
        assert controller.health()["watchdog_trips"] == 1
        assert simulation.sample(controller.name).values["active"] == 0.0
        np.testing.assert_array_equal(plate._goal.control, np.zeros(6))
        goal = plate.held("joints_values")
        simulation.run(WATCHDOG + 0.002)
        assert plate.health()["watchdog_trips"] == 1  # nothing reaches the robot any more
        np.testing.assert_array_equal(plate.held("joints_values"), goal)


def test_a_control_boards_axes_hold_their_place():
    with started("biped") as simulation:
        board = simulation.devices["torso"]
        n = len(board.axes)
        board.set_control_mode("velocity")
        board.inbox.put({"velocity": np.full(n, 0.2)}, mode="velocity")
        simulation.run(WATCHDOG + 0.004)
        assert board.stopped()
        assert {mode.name for mode in map(board.mode_of, range(n))} == {"POSITION"}
        assert (board.read_row("position_reference") == board.read_row("position_target")).all()


def test_the_biped_stops_walking():
    with started("biped", controller="walking") as simulation:
        walking = simulation.devices["walking"]
        walking.inbox.put({"step_length": 0.1})
        simulation.run(WATCHDOG / 2)
        assert walking.walker.walking
        simulation.run(WATCHDOG)
        assert not walking.walker.walking


def test_an_arm_decelerates_and_answers_who_waits_for_its_motion():
    with started("fr3") as simulation:
        arm = simulation.devices["franka"]
        answers = []
        move = fci.Move(
            controller=0,
            motion_generator=0,
            maximum_path_deviation=(10.0, 3.12, 6.28),
            maximum_goal_deviation=(10.0, 3.12, 6.28),
            use_async=True,
            maximum_joint_velocity=(1.0,) * 7,
        )
        arm.ask(move, answers.append)
        goal = arm.cabinet.fields["q_d"] + 0.3
        arm.inbox.put({"q_c": goal}, mode="joint_position")
        simulation.run(0.2)
        assert [answer.status for answer in answers] == ["started", "aborted"]
        state = simulation.sample("franka").values
        assert np.abs(state["dq_d"]).max() == 0.0
        assert np.abs(state["q_d"] - goal).min() > 0.25


def test_every_device_of_a_robot_takes_the_stamp_that_is_asked_for():
    with Simulation(
        MujocoEngine(robot := build_robot("softfoot")),
        make_devices(robot, latency=0.02, stamp="measurement"),
        pacer="free",
    ) as simulation:
        simulation.run(0.1)
        for name in simulation.devices:
            sample = simulation.sample(name)
            assert simulation.time_ns - sample.stamp_ns == 20_000_000, name
