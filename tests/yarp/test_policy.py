"""A policy over YARP: a joint and a control board follow the batch in which the policy was trained, and refusals."""

import contextlib
import subprocess
import sys
import threading

import numpy as np
import pytest
from fuzz import until
from policy_runs import in_a_batch, killed_in_the_middle, stepped_over_a_bridge
from yarp_simulation import bench

from pliant.base.errors import BridgeError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.learn.envs.export import export_policy
from pliant.learn.envs.make import task_of
from pliant.learn.envs.task import Action
from pliant.learn.policy import Policy, PolicyError
from pliant.learn.running import PolicyRun, Safety, run_policy
from pliant.robots import build_robot
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge
from pliant.yarp.bridge.nameserver import NameServer
from pliant.yarp.client import YarpNetwork
from pliant.yarp.control_board.layout import REFERENCES
from pliant.yarp.policy import YarpDevices

pytest.importorskip("gymnasium")
pytestmark = pytest.mark.network
CASES = {
    "joint": (
        lambda: build_robot("qbmove-1dof", {"mounting": "hanging"}),
        [Action("joint/equilibrium_position", -1.0, 1.0), Action("joint/stiffness_preset", 0.0, 0.5)],
        ["joint/position", "joint/velocity"],
        [[-0.8, -0.02, 0.6], [0.4, 0.0, -0.2]],
    ),
    "board": (
        bench,
        [Action(f"arm/position_direct[{i}]", -0.8, 0.8) for i in range(2)],
        ["arm/position[0]", "arm/position[1]"],
        [[-0.3, 0.1, 0.5], [0.2, -0.3, -0.6]],
    ),
}
"""Robot, actions, observations and weights; one message carries the commands."""


def case(name):
    robot, actions, seen, weights = CASES[name]

    def observed(world):
        return np.concatenate([world.port(port) for port in dict.fromkeys(s.partition("[")[0] for s in seen)], axis=1)

    task = task_of(
        robot, actions=actions, period=0.05, observation={"seen": observed}, reward=lambda world: 0.0 * world.time
    )
    return task, export_policy(task, np.array(weights), seen)


@contextlib.contextmanager
def served(robot, policy, name="r"):
    """Serve a robot, stepped by the test, with the policy's ports."""
    bridge = make_bridge("yarp:server=127.0.0.1:0,name=r,period=0", robot)
    devices = make_devices(robot, joint_sample_period=float(robot.spec.option.timestep))
    simulation = Simulation(MujocoEngine(robot), devices, [bridge], pacer="free")
    simulation.start()
    interface = YarpDevices(policy, server=str(bridge.server.address), name=name)
    try:
        yield simulation, interface
    finally:
        interface.stop()
        simulation.close()


def opened(simulation, interface):
    """Open the policy's ports: the control mode is switched by a call, which the loop answers."""
    faults = []

    def work():
        try:
            interface.start()
        except Exception as error:
            faults.append(error)

    thread = threading.Thread(target=work, name="opening")
    thread.start()
    while thread.is_alive():
        simulation.step(1)
        thread.join(0.001)
    if faults:
        raise faults[0]


@pytest.mark.parametrize("name", list(CASES))
def test_a_policy_over_yarp_follows_the_batch_in_which_it_was_trained(name):
    task, policy = case(name)
    expected = in_a_batch(task, lambda row, k: policy.act(row), policy)
    with served(task.robot(), policy) as (simulation, interface):
        opened(simulation, interface)
        simulation.step(1)
        while simulation.time_ns % 10_000_000:  # the firmware of a board runs every 10 ms
            simulation.step(1)

        def newest(simulation):
            found = []
            for wanted in policy.measured:
                device, _, field = wanted.rpartition("/")
                field, _, index = field.rstrip("]").partition("[")
                value = simulation.sample(device).values[field]
                found.append(value[int(index)] if index else value)
            return found

        run = PolicyRun(policy, interface, {}, safety=Safety(timeout=60.0))
        run_steps = round(task.period / simulation.engine.dt)
        found = stepped_over_a_bridge(simulation, run, interface, newest, run_steps, 1)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert np.abs(expected[-1] - expected[0]).max() > 0.05  # it moved


TAKEN = {
    "position": "position_target",
    "position_direct": "position_reference",
    "velocity": "velocity_target",
    "velocity_direct": "velocity_target",
    "torque": "torque_reference",
    "current": "current_reference",
    "pwm": "duty_reference",
}
"""Command of a board -> the quantity of its axes that shows it."""
ONE = {"low": [-1.0], "high": [1.0], "mean": [0.0], "scale": [1.0], "layers": ((np.zeros((1, 1)), [0.0]),)}


def policy_of(commands):
    n = len(commands)
    return Policy(
        robot="bench", period=0.1, observations=("arm/position[0]",), commands=commands, mean=[0.0], scale=[1.0],
        low=[-1.0] * n, high=[1.0] * n, layers=((np.zeros((n, 1)), [0.0] * n),),
    )  # fmt: skip


@pytest.mark.parametrize("kind", REFERENCES)
def test_a_policy_commands_every_reference_of_a_board_in_its_control_mode(kind):
    with served(bench(), policy_of((f"arm/{kind}[1]", f"arm/{kind}[0]"))) as (simulation, interface):
        opened(simulation, interface)
        interface.send(np.array([0.02, -0.03]))
        board = simulation.devices["arm"]

        def taken():
            simulation.step(1)
            return board.read_row(TAKEN[kind]) == pytest.approx([-0.03, 0.02])  # pwm has a message for each axis

        until(taken, f"the {kind} command at the board")
        assert board.modes_now() == (kind, kind)


def test_a_policy_that_moves_some_axes_by_a_command_for_all_is_refused():
    with served(bench(), policy_of(("arm/position[1]",))) as (simulation, interface):
        opened(simulation, interface)
        with pytest.raises(PolicyError, match=r"commands the axes \[1\] of arm/position; must be all, from 0"):
            interface.send(np.array([0.1]))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"observations": ("arm/nothing[0]",)}, r"/r/arm/stateExt:o does not have nothing\[0\]"),
        ({"observations": ("arm/position[7]",)}, r"does not have position\[7\]"),
        ({"commands": ("arm/warp[0]",)}, "no command arm/warp"),
        ({"commands": ("other/velocity[0]",)}, "/r/other"),
    ],
)
def test_what_a_robot_on_yarp_does_not_have_is_refused_by_name(changes, words):
    given = {"observations": ("arm/position[0]",), "commands": ("arm/velocity[0]",), **changes}
    policy = Policy(robot="bench", period=0.1, **given, **ONE)
    robot = bench()

    def open_and_wait(simulation, interface):
        opened(simulation, interface)
        simulation.step(20)
        interface.wait(5.0)

    with served(robot, policy) as (simulation, interface), pytest.raises((BridgeError, PolicyError), match=words):
        open_and_wait(simulation, interface)


@pytest.mark.parametrize("round_", [0, *(pytest.param(k, marks=pytest.mark.nightly) for k in range(1, 20))])
def test_a_robot_that_is_killed_in_the_middle_ends_the_policy_with_an_error(round_):
    _, policy = case("joint")
    command = [sys.executable, "-m", "pliant", "run", "qbmove-1dof", "--set", "robot.mounting=hanging"]
    with NameServer(port=0) as server:
        address = str(server.address)
        with subprocess.Popen(
            [*command, "--bridge", f"yarp:server={address},name=r", "--duration", "120"], stdout=subprocess.DEVNULL
        ) as robot:
            try:
                with YarpNetwork(address, timeout=5.0) as network:
                    until(lambda: network.exists("/r/joint/command:i"), "the robot", 60.0)
                with YarpDevices(policy, server=address, name="r") as interface:
                    run = PolicyRun(policy, interface, {}, Safety(timeout=1.0))
                    stopped = pytest.raises(BridgeError, match="the policy stopped: the last message of a joint is")
                    with killed_in_the_middle(run, robot), stopped:
                        run_policy(run, duration=60.0)
            finally:
                robot.kill()
