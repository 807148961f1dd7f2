"""Requests that a person types while a run goes on."""

import json
import os
import threading

import numpy as np
import pytest

from pliant.base.errors import DeviceError
from pliant.cli.console import RequestConsole, list_requests, parse_line
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.robots.build import build_arms
from pliant.franka.wire.fci import RobotMode
from pliant.simulation import Simulation


@pytest.fixture(scope="module")
def simulation():
    robot = build_arms()
    with Simulation(MujocoEngine(robot), make_devices(robot)) as made:
        made.start()
        yield made


def mode(simulation):
    simulation.step(2)
    return int(simulation.sample("franka").values["robot_mode"])


def test_a_line_names_device_request_and_values(simulation):
    devices = simulation.devices
    assert parse_line("franka.user_stop on", devices) == ("franka", "user_stop", {"pressed": True})
    assert parse_line("brakes off", devices) == ("franka", "brakes", {"locked": False})
    assert parse_line("guide", devices) == ("franka", "guide", {})
    moved = parse_line("gripper_move width=0.04 speed=0.1", devices)
    assert moved == ("franka", "gripper_move", {"width": 0.04, "speed": 0.1})
    assert parse_line("set_ee_to_k EE_T_K=1,0", devices)[2] == {"EE_T_K": (1.0, 0.0)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("user_stpo", "user_stop"),
        ("frnka.guide", "franka"),
        ("franka.gide", "guide"),
        ("guide maybe", "on or off"),
        ("stop_move on", "NAME=VALUE"),
        ("gripper_move width=wide", "not a number"),
    ],
)
def test_a_line_that_is_not_understood_is_named(simulation, line, message):
    with pytest.raises(DeviceError, match=message):
        parse_line(line, simulation.devices)


def test_lines_of_a_stream_reach_the_devices_and_the_thread_ends(simulation):
    reader, writer = os.pipe()
    said, before = [], set(threading.enumerate())
    with os.fdopen(reader, encoding="utf-8") as stream:
        arrived = threading.Semaphore(0)
        console = RequestConsole(simulation, stream, said.append)
        entered = console.enter
        console.enter = lambda line: (entered(line), arrived.release())
        console.start()
        os.write(writer, b"user_st")
        os.write(writer, b"op on\nbrakes\nnonsense\n\n")
        for _ in range(4):  # lines
            assert arrived.acquire(timeout=60.0)
        assert mode(simulation) == RobotMode.USER_STOPPED
        os.write(writer, b"user_stop off\n")
        os.close(writer)
        assert arrived.acquire(timeout=60.0)
        simulation.step()
        assert mode(simulation) == RobotMode.OTHER
        console.close()
    assert "franka.user_stop: done" in said
    assert any("nonsense" in text for text in said)
    assert not [t for t in set(threading.enumerate()) - before if t.name == "pliant-console"]
    simulation.request("franka", "brakes", locked=False)
    assert mode(simulation) == RobotMode.IDLE


def test_help_lists_every_request_as_it_is_typed(simulation):
    said = []
    RequestConsole(simulation, None, said.append).enter(" help ")
    assert said == list_requests(simulation.devices)
    assert len(said) == sum(len(device.requests) for device in simulation.devices.values())
    assert "franka.user_stop on|off" in said
    assert "franka.gripper_move width= speed=" in said
    assert "franka.automatic_error_recovery" in said
    for line in said:
        words = [word + "1" if word.endswith("=") else "on" for word in line.split()[1:]]
        parse_line(" ".join([line.split()[0], *words]), simulation.devices)


def test_a_robot_without_requests_takes_no_console(call, tmp_path):
    file = tmp_path / "rod.xml"
    body = '<body><joint name="hinge"/><geom name="rod" size="0.1"/></body>'
    file.write_text(f'<mujoco model="rod"><worldbody>{body}</worldbody></mujoco>', encoding="utf-8")
    code, _, err = call("run", file, "--console", "--duration", "0.01")
    assert code == 1
    assert "--console: this robot has no requests to type; omit it" in err


def test_locked_brakes_hold_the_arm_against_any_pull(simulation):
    simulation.request("franka", "brakes")
    simulation.step(5)
    start = np.array(simulation.sample("franka").values["q"])
    pull = simulation.engine.port("franka_joint2/external_torque")
    pull[:] = 200.0
    assert mode(simulation) == RobotMode.OTHER
    simulation.step(50)
    values = simulation.sample("franka").values
    pull[:] = 0.0
    np.testing.assert_array_equal(values["q"], start)
    assert not np.any(values["dq"])
    assert not values["errors"].any()
    refused = simulation.request("franka", "move", controller=0, motion_generator=0)
    simulation.step()
    with pytest.raises(DeviceError, match="the robot's mode is other"):
        refused.result(0.0)
    simulation.request("franka", "brakes", locked=False)
    assert mode(simulation) == RobotMode.IDLE
    simulation.step(200)
    np.testing.assert_allclose(simulation.sample("franka").values["q"], start, atol=1e-4)


def test_the_load_of_the_foot_is_a_command_of_its_run(call):
    foot = ("--set", "robot.n_chains=1", "--set", "robot.lump=true", "--set", "robot.coupling=midpoint")
    code, out, _ = call("run", "softfoot", *foot, "--reference", "press/force=800", "--duration", "0.2", "--json")
    assert code == 0
    assert json.loads(out)["devices"]["press"]["force"] == pytest.approx(800.0)


def test_a_view_of_a_robot_without_requests_takes_no_console(call, tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text("<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>")
    code, _, err = call("view", str(file), "--console")
    assert code != 0
    assert "--console: this robot has no requests to type; omit it" in err
    code, _, err = call("view", "3RR", "--statics", "--console")
    assert code != 0
    assert "--console is for a simulation; omit it, or omit --statics" in err
