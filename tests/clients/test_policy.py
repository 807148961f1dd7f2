"""A policy over ROS: it moves a served robot as it does in process, and stops where the robot is silent."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))
from fake_master import FakeMaster
from ros1_world import until

from pliant.bridges import make_bridge
from pliant.bridges.ros1 import Ros1Node
from pliant.clients.policy import PolicyRun, RosJoints, open_node, run_policy
from pliant.control import Policy, PolicyError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.errors import BridgeError
from pliant.robots import build_robot
from pliant.simulation import Simulation

pytestmark = pytest.mark.network
PERIODS = 12


def policy(**changes):
    """Point at a target with damping; the preset grows with the target."""
    values = {
        "robot": "qbmove-1dof",
        "observations": ("joint/position", "joint/velocity", "input/target"),
        "commands": ("joint/equilibrium_position", "joint/stiffness_preset"),
        "low": np.array([-1.5, 0.0]),
        "high": np.array([1.5, 0.6]),
        "layers": ((np.array([[-0.2, -0.01, 0.8], [0.0, 0.0, 1.0]]), np.zeros(2)),),
        "period": 0.1,
        "mean": np.zeros(3),
        "scale": np.ones(3),
        "namespace": "qbmove_1dof",
    }
    return Policy(**(values | changes))


def simulation():
    robot = build_robot("qbmove-1dof", {"mounting": "hanging", "springs": "maker-pro", "timestep": 0.001})
    return robot, lambda made: Simulation(MujocoEngine(robot), make_devices(robot), made, pacer="free")


@pytest.fixture
def master():
    master = FakeMaster()
    yield master
    master.close()


class Served:
    """The robot on the ROS 1 bridge, stepped by the test, and the policy's node."""

    def __init__(self, master, chosen):
        robot, make = simulation()
        self.bridge = make_bridge(f"ros1:master={master.uri},host=127.0.0.1", robot)
        self.simulation = make([self.bridge])
        self.simulation.start()
        self.joints = RosJoints(chosen, Ros1Node("/policy", master=master.uri, host="127.0.0.1"))
        self.joints.start()

    def close(self):
        self.joints.stop()
        self.simulation.close()


@pytest.fixture
def served(master):
    made = []

    def make(chosen):
        made.append(Served(master, chosen))
        return made[-1]

    yield make
    for item in made:
        item.close()


def test_a_policy_over_ros_1_moves_the_robot_as_the_same_policy_in_process_does(served):
    chosen = policy()
    _, make = simulation()
    alone = make([])
    alone.start()
    expected = []
    steps = 100
    alone.step(steps)
    for _ in range(PERIODS):
        sample = alone.sample("joint").values
        seen = np.float32([sample["position"], sample["velocity"]])  # link_state has 32 bits
        values = chosen.act([*seen.astype(float), 0.5])
        alone.devices["joint"].inbox.put(dict(zip(("equilibrium_position", "stiffness_preset"), map(float, values))))
        alone.step(steps)
        expected.append(float(alone.sample("joint").values["position"]))
    alone.close()

    world = served(chosen)
    node = world.bridge.node
    until(lambda: all(p.active for p in world.joints._publications), "the robot listens")
    until(lambda: node.publications[world.joints.topic("joint", "link_state")].connections, "the policy listens")
    run = PolicyRun(chosen, world.joints, {"target": 0.5})
    found = []
    world.simulation.step(steps)
    topics = [world.joints.topic("joint", name) for name in ("equilibrium_position", "stiffness_preset")]
    for count in range(1, PERIODS + 1):
        want = node.publications[world.joints.topic("joint", "link_state")].count
        until(lambda want=want: world.joints.counts.get("joint", 0) >= want, "the last state")
        run.step()
        until(lambda count=count: all(node.subscriptions[t].count >= count for t in topics), "both commands")
        world.simulation.step(steps)
        found.append(float(world.simulation.sample("joint").values["position"]))
    assert found == pytest.approx(expected, abs=1e-9)
    assert abs(found[-1] - found[0]) > 0.1  # it moved
    assert run.steps == PERIODS


def test_a_robot_that_falls_silent_stops_the_policy_and_nothing_more_is_sent(served):
    world = served(policy())
    until(lambda: (world.simulation.step(10), world.joints.counts.get("joint"))[1], "a state")
    run = PolicyRun(policy(), world.joints, {"target": 0.5}, timeout=0.2)

    def act_on():  # nobody steps the simulation
        end = time.monotonic() + 5.0
        while time.monotonic() < end:
            run.step()

    with pytest.raises(BridgeError, match=r"more than 0\.2 s; the robot keeps its last references"):
        act_on()
    sent = [p.count for p in world.joints._publications]
    assert sent == [run.steps, run.steps]


def test_a_message_that_holds_nan_stops_the_policy(served):
    world = served(policy())
    until(lambda: (world.simulation.step(10), world.joints.counts.get("joint"))[1], "a state")
    run = PolicyRun(policy(), world.joints, {"target": 0.5}, timeout=60.0)
    take = world.joints._taker("joint")
    take({"q": float("nan"), "dq": 0.0, "ref_1": 0.0, "ref_2": 0.0, "tau": 0.0, "stiff": 0.0})
    with pytest.raises(BridgeError, match="observation holds a number that is not finite"):
        run.step()
    assert run.steps == 0


def test_a_robot_that_is_not_there_is_named(master):
    joints = RosJoints(policy(), Ros1Node("/policy", master=master.uri, host="127.0.0.1"))
    with (
        joints,
        pytest.raises(BridgeError, match=r"nobody answers on /qbmove_1dof/joint/link_state within 0\.1 s; start the"),
    ):
        joints.wait(0.1)


def test_a_run_ends_after_its_duration(served):
    world = served(policy(period=0.001))
    until(lambda: (world.simulation.step(10), world.joints.counts.get("joint"))[1], "a state")
    until(lambda: all(p.active for p in world.joints._publications), "the robot listens")
    run = PolicyRun(policy(period=0.001), world.joints, {"target": 0.5}, timeout=60.0)
    run_policy(run, duration=0.02)
    assert run.steps == 20


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, "needs the input 'target'; give it as --input target=VALUE"),
        ({"target": 1.0, "targett": 2.0}, "has no input 'targett'"),
        ({"target": float("nan")}, "must be a finite number"),
    ],
)
def test_inputs_that_cannot_be_are_refused(inputs, words):
    joints = RosJoints(policy(), open_node("ros1"))
    with pytest.raises(PolicyError, match=words):
        PolicyRun(policy(), joints, inputs)


def test_an_observation_or_a_bridge_that_ros_does_not_have_is_refused():
    wrong = policy(observations=("joint/positron", "joint/velocity", "input/target"))
    with pytest.raises(PolicyError, match="is not in the joint's message link_state"):
        RosJoints(wrong, open_node("ros1"))
    with pytest.raises(BridgeError, match="'fci' is no bridge of ROS"):
        open_node("fci")
