"""A policy over ROS: it moves a served robot as it does in process, and stops where the robot is silent."""

import contextlib
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))
from fake_master import FakeMaster
from policy_runs import in_a_batch, killed_in_the_middle, stepped_over_a_bridge
from ros1_world import until
from ros2_clients import DOMAINS

from pliant.base.errors import BridgeError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.learn.envs.export import export_policy
from pliant.learn.envs.make import task_of
from pliant.learn.envs.task import Action
from pliant.learn.envs.tasks import walk
from pliant.learn.policy import Policy, PolicyError
from pliant.learn.running import PolicyRun, Safety, WallClock, run_policy
from pliant.robots import build_robot
from pliant.ros.policy import RosJoints, open_node
from pliant.ros.ros1 import Ros1Node
from pliant.ros.ros2.node import Ros2Node
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge

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
        "joints": ("joint",),
    }
    return Policy(**(values | changes))


def simulation(name="qbmove-1dof"):
    options = {"mounting": "hanging", "springs": "maker-pro"} if name == "qbmove-1dof" else {}
    robot = build_robot(name, options | {"timestep": 0.001})
    return robot, lambda made: Simulation(MujocoEngine(robot), make_devices(robot), made, pacer="free")


@pytest.fixture
def master():
    master = FakeMaster()
    yield master
    master.close()


class Served:
    """The robot on the ROS 1 bridge, stepped by the test, and the policy's node."""

    def __init__(self, master, chosen, name="qbmove-1dof", clock="wall", publish_clock=False, namespace=""):
        robot, make = simulation(name)
        options = f"master={master.uri},host=127.0.0.1,clock={publish_clock}".lower()
        self.bridge = make_bridge(f"ros1:{options}", robot)
        self.simulation = make([self.bridge])
        self.simulation.start()
        node = Ros1Node("/policy", master=master.uri, host="127.0.0.1")
        self.joints = RosJoints(chosen, node, clock=clock, namespace=namespace)
        self.joints.start()

    def close(self):
        self.joints.stop()
        self.simulation.close()


@pytest.fixture
def served(master):
    made = []

    def make(chosen, **options):
        made.append(Served(master, chosen, **options))
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
    until(lambda: all(p.active for p in world.joints.node.publications.values()), "the robot listens")
    until(lambda: node.publications[world.joints.topic("joint", "link_state")].connections, "the policy listens")
    run = PolicyRun(chosen, world.joints, {"target": 0.5}, safety=Safety(timeout=60.0))
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
    run = PolicyRun(policy(), world.joints, {"target": 0.5}, safety=Safety(timeout=0.2))

    def act_on():  # nobody steps the simulation
        end = time.monotonic() + 5.0
        while time.monotonic() < end:
            run.step()

    with pytest.raises(BridgeError, match=r"more than 0\.2 s; the robot keeps its last references"):
        act_on()
    sent = [p.count for p in world.joints.node.publications.values()]
    assert sent == [run.steps, run.steps]


def test_a_message_that_holds_nan_stops_the_policy(served):
    world = served(policy())
    until(lambda: (world.simulation.step(10), world.joints.counts.get("joint"))[1], "a state")
    run = PolicyRun(policy(), world.joints, {"target": 0.5}, safety=Safety(timeout=60.0))
    take = world.joints.node.subscriptions[world.joints.topic("joint", "link_state")].callback
    take({"q": float("nan"), "dq": 0.0, "ref_1": 0.0, "ref_2": 0.0, "tau": 0.0, "stiff": 0.0})
    with pytest.raises(BridgeError, match="observation contains a number that is not finite"):
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
    until(lambda: all(p.active for p in world.joints.node.publications.values()), "the robot listens")
    run = PolicyRun(policy(period=0.001), world.joints, {"target": 0.5}, safety=Safety(timeout=60.0))
    run_policy(run, duration=0.02)
    assert run.steps == 20


@contextlib.contextmanager
def running(world, **options):
    """Run the policy in a thread while the block runs; what it raised is raised at the end."""
    run, stop, raised = PolicyRun(policy(period=60.0), world.joints, {"target": 0.5}, **options), threading.Event(), []

    def act():
        try:
            run_policy(run, stop=stop)
        except BridgeError as error:
            raised.append(error)

    thread = threading.Thread(target=act, name="policy")
    thread.start()
    try:
        yield run
    finally:
        stop.set()
        thread.join()
    if raised:
        raise raised[0]


@pytest.fixture
def clock(master):
    """What publishes ``/clock``: a time in seconds."""
    node = Ros1Node("/time", master=master.uri, host="127.0.0.1")
    node.start()
    topic = node.advertise("/clock", "rosgraph_msgs/Clock", latch=True)
    node.announce()
    yield lambda t: topic.send(node.codec.encode("rosgraph_msgs/Clock", {"clock": round(t * 1e9)}))
    node.stop()


@pytest.mark.parametrize("asked", ["ros", "auto"])
def test_a_policy_acts_once_a_period_of_the_clock_where_one_is_published(served, clock, asked):
    clock(100.0)
    world = served(policy(), clock=asked)
    until(lambda: (world.simulation.step(10), world.joints.counts.get("joint"))[1], "a state")
    with running(world, safety=Safety(timeout=60.0)) as run:
        until(lambda: (world.simulation.step(10), run.steps)[1] == 1, "the first action")
        clock(159.9)  # a period of 60 s is not over
        until(lambda: world.joints.clock.now() == pytest.approx(159.9), "the time")
        assert run.steps == 1
        clock(160.0)
        until(lambda: run.steps == 2, "the second action")
        clock(10.0)  # the simulation was reset: the period goes on
        clock(69.0)
        until(lambda: world.joints.clock.now() == pytest.approx(219.0), "the time")
        assert run.steps == 2
        clock(70.0)
        until(lambda: run.steps == 3, "the third action")
        assert run.late == 0


def test_without_a_clock_a_policy_acts_on_wall_time_or_says_that_there_is_none(served):
    world = served(policy(), clock="auto")
    until(lambda: (world.simulation.step(10), world.joints.counts.get("joint"))[1], "a state")
    world.joints.wait()
    assert isinstance(world.joints.clock, WallClock)


def test_a_clock_that_nobody_sends_is_named(served):
    world = served(policy(), clock="ros")
    until(lambda: (world.simulation.step(10), world.joints.counts.get("joint"))[1], "a state")
    until(lambda: all(p.active for p in world.joints.node.publications.values()), "the robot listens")
    with pytest.raises(BridgeError, match=r"nobody sends /clock within 0\.1 s; .*--clock wall"):
        world.joints.wait(0.1)


def test_the_clock_of_the_simulation_is_that_of_the_policy(served):
    world = served(policy(), clock="auto", publish_clock=True)
    until(lambda: (world.simulation.step(10), world.joints.counts.get("joint"))[1], "a state")
    waits = threading.Thread(target=world.joints.wait)  # the clock may be heard later than the states
    waits.start()
    until(lambda: (world.simulation.step(10), not waits.is_alive())[1], "the clock")
    until(lambda: world.joints.clock.now() == pytest.approx(world.simulation.time, abs=1e-9), "its time")


def test_a_robot_with_other_joints_than_the_policys_is_refused(served):
    # The policy for two joints would move the first two of five.
    chosen = policy(
        robot="qbmove-2dof",
        observations=("joint_1/position", "joint_1/velocity", "input/target"),
        commands=("joint_1/equilibrium_position", "joint_1/stiffness_preset"),
        joints=("joint_1", "joint_2"),
        namespace="qbmove_2dof",
    )
    world = served(chosen, name="qbmove-5dof", namespace="qbmove_5dof")
    until(lambda: (world.simulation.step(10), world.joints.counts.get("joint_1"))[1], "a state")
    words = (
        r"the robot in the name space /qbmove_5dof has the joints joint_1, .*joint_5; the policy is for qbmove-2dof "
        r"with joint_1, joint_2; give the name space of that robot with --namespace"
    )
    until(lambda: (world.simulation.step(10), world.joints._robot_joints)[1], "the names")
    with pytest.raises(BridgeError, match=words):
        world.joints.wait()
    assert [p.count for p in world.joints.node.publications.values()] == [0, 0]


def test_a_clock_that_does_not_exist_is_refused():
    with pytest.raises(BridgeError, match="there is no clock 'walls'; did you mean 'wall'"):
        RosJoints(policy(), open_node("ros1"), clock="walls")


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


def test_a_policy_over_ros_1_follows_the_batch_in_which_it_was_trained(master):
    pytest.importorskip("gymnasium")
    actions = [Action("joint/equilibrium_position", -1.0, 1.0), Action("joint/stiffness_preset", 0.0, 0.5)]
    seen = ["joint/position", "joint/velocity"]

    def observed(world):
        return np.concatenate([world.port(port) for port in seen], axis=1)

    robot, _ = simulation()
    rest = {"period": 0.1, "reward": lambda world: 0.0 * world.time}
    task = task_of(robot, actions=actions, observation={"seen": observed}, **rest)
    chosen = export_policy(task, np.array([[-0.8, -0.02, 0.6], [0.4, 0.0, -0.2]]), seen)
    expected = in_a_batch(task, lambda row, k: chosen.act(row), chosen)
    world = Served(master, chosen, name="qbmove-1dof")
    try:
        world.simulation.step(10)
        topics = [world.joints.topic("joint", name) for name in ("equilibrium_position", "stiffness_preset")]
        until(lambda: all(world.bridge.node.subscriptions[t].connections for t in topics), "the robot listens")
        run = PolicyRun(chosen, world.joints, {}, safety=Safety(timeout=60.0))

        def newest(simulation):
            values = simulation.sample("joint").values
            return np.float32([values["position"], values["velocity"]])  # link_state has 32 bits

        until(lambda: (world.simulation.step(10), world.joints.counts.get("joint"))[1], "a state")
        found = stepped_over_a_bridge(world.simulation, run, world.joints, newest, 100, 2)
    finally:
        world.close()
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert np.abs(expected[-1] - expected[0]).max() > 0.1  # it moved


@pytest.mark.slow
def test_a_walking_policy_over_ros_2_follows_the_batch_in_which_it_was_trained():
    pytest.importorskip("gymnasium")
    task = walk.task(feet="rigid", sensors="joints")
    weights = np.random.default_rng(3).normal(0.0, 0.1, (len(walk.LEGS), len(walk.NAMES) + 1))
    weights[:, -1] = 0.0  # the stance
    chosen = export_policy(task, weights, walk.NAMES)
    act = lambda row, k: chosen.act(row)  # noqa: E731
    expected = in_a_batch(task, act, chosen, worlds=1)
    robot, domain = task.robot(), next(DOMAINS)
    bridge = make_bridge(f"ros2:domain={domain},clock=false", robot)
    devices = make_devices(robot, joint_sample_period=float(robot.spec.option.timestep))
    served = Simulation(MujocoEngine(robot), devices, [bridge], pacer="free")
    joints = RosJoints(chosen, Ros2Node("policy", domain=domain), clock="wall")
    try:
        served.start()
        served.reset(seed=0)
        joints.start()
        measured = [k for k, name in enumerate(chosen.observations) if name in chosen.measured]
        until(lambda: all(p.active for p in joints._publications), "the robot listens")

        def arrived():
            served.reset(seed=0)
            served.step(1)
            return all(key in joints.counts for key in joints.joints)

        until(arrived, "a state of each joint")
        served.reset(seed=0)
        run = PolicyRun(chosen, joints, {}, safety=Safety(timeout=600.0))
        steps = round(task.period / served.engine.dt)
        first = expected[0][measured]
        real = joints.observe

        def newest(simulation):
            if simulation.time_ns == 0:
                return first
            names = [name.split("/") for name in chosen.measured]
            return np.array([simulation.sample(device).values[quantity] for device, quantity in names])

        joints.observe = lambda: (first, 0.0) if served.time_ns == 0 else real()
        found = stepped_over_a_bridge(served, run, joints, newest, steps, len(chosen.commands))
    finally:
        joints.stop()
        served.close()
    angles = len(walk.LEGS)
    np.testing.assert_allclose(found[:, :angles], expected[:, :angles], atol=1e-4)
    np.testing.assert_allclose(found, expected[:, measured], atol=2e-3)  # velocities [rad/s]
    assert np.abs(found[-1] - found[0])[:angles].max() > 0.02  # it moved


@pytest.mark.slow
@pytest.mark.parametrize("round_", [0, *(pytest.param(k, marks=pytest.mark.nightly) for k in range(1, 20))])
@pytest.mark.parametrize("kind", ["ros1", "ros2"])
def test_a_robot_that_is_killed_in_the_middle_ends_the_policy_with_an_error(kind, round_, master):
    domain = next(DOMAINS)
    if kind == "ros1":
        node, where = Ros1Node("/policy", master=master.uri, host="127.0.0.1"), f"master={master.uri},host=127.0.0.1"
    else:
        node, where = Ros2Node("policy", domain=domain), f"domain={domain}"
    chosen = policy(period=0.02)
    command = [sys.executable, "-m", "pliant", "run", "qbmove-1dof", "--set", "robot.mounting=hanging"]
    command += ["--bridge", f"{kind}:{where},clock=false", "--duration", "240"]
    joints = RosJoints(chosen, node, clock="wall")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as robot, joints:
        try:
            until(lambda: joints.counts.get("joint"), "a state", 120.0)
            run = PolicyRun(chosen, joints, {"target": 0.5}, safety=Safety(timeout=1.0))
            stopped = pytest.raises(BridgeError, match="the policy stopped: the last message of a joint is")
            with killed_in_the_middle(run, robot), stopped:
                run_policy(run, duration=120.0)
        finally:
            robot.kill()
