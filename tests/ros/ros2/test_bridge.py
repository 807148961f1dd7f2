"""The ROS 2 bridge with a second participant in the same process; conformance/ros has Fast DDS."""

import threading

import numpy as np
import pytest
from ros2_clients import DOMAINS, until

from pliant.base.errors import BridgeError
from pliant.robots.loading import load
from pliant.ros.ros2 import Ros2Node
from pliant.simulation import Simulation, sync
from pliant.simulation.bridges import make_bridge

pytestmark = pytest.mark.network


@pytest.fixture
def world():
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine

    open_ = []

    def make(options="", domain=None):
        domain = next(DOMAINS) if domain is None else domain
        robot = load("qbmove-2dof")
        bridge = make_bridge(f"ros2:domain={domain},aggregate_rate=1000{options}", robot)
        simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=sync())
        open_.append(simulation.close)
        simulation.start()
        client = Ros2Node("client", domain=domain)
        client.start()
        open_.append(client.stop)
        return simulation, bridge, client

    yield make
    for close in reversed(open_):
        close()


def test_the_topics_are_those_of_ros_1(world):
    from pliant.ros.bridge import RosBridge, RosOptions
    from pliant.ros.ros1 import Ros1Node

    simulation, bridge, _ = world()
    options = RosOptions(aggregate_rate=1000)
    one = RosBridge(bridge.robot, Ros1Node("probe", master="http://127.0.0.1:9"), options)
    one.bind(simulation)
    one.plan(simulation.devices)
    rename = {"viactors_plugins/state_info": "viactors_plugins/StateInfo", "rosgraph_msgs/Log": "rcl_interfaces/Log"}
    # dynamic_reconfigure is ROS 1's, and so is the controllers' state as it stands there
    ours = ("parameter_descriptions", "parameter_updates", "_controller/state")
    out = {h.topic: rename.get(h.type, h.type) for h in one.topics.handles if not h.topic.endswith(ours)}
    out["/parameter_events"] = "rcl_interfaces/ParameterEvent"
    assert {h.topic: h.type for h in bridge.topics.handles} == out
    # joint_trajectory_controller calls its topic by another name in ROS 2
    group = "/qbmove_2dof/joint_trajectory_controller"
    into = {
        f"{group}/joint_trajectory" if topic == f"{group}/command" else topic: item["type"]
        for topic, item in one.topics.incoming.items()
    }
    # a controller manager, which is ROS 2's, switches to it
    into["/qbmove_2dof/forward_effort_controller/commands"] = "std_msgs/Float64MultiArray"
    assert {t: i["type"] for t, i in bridge.topics.incoming.items()} == into


def test_states_are_heard_and_commands_obeyed(world):
    simulation, bridge, client = world()
    states, clock = [], []
    client.subscribe("/qbmove_2dof/robot_state", "sensor_msgs/JointState", states.append)
    client.subscribe("/clock", "rosgraph_msgs/Clock", clock.append)
    command = client.advertise("/qbmove_2dof/reference_1", "std_msgs/Float64MultiArray")
    publications = bridge.node.publications
    until(lambda: publications["/qbmove_2dof/robot_state"].matched and publications["/clock"].matched)
    until(lambda: command.matched)
    item = bridge.topics.incoming["/qbmove_2dof/reference_1"]
    for values, expected in (([0.1, 0.2], [0.1, 0.2]), ([0.3], [0.1, 0.2]), ([np.nan, 0.0], [0.1, 0.2])):
        before = item["count"]
        command.send(client.codec.encode("std_msgs/Float64MultiArray", {"data": values}))
        until(lambda before=before: item["count"] > before)
        simulation.step(20)
        found = [simulation.engine.port(f"{j}/reference_1")[0] for j in simulation.devices["board"].joints]
        assert found == expected
    until(lambda: len(states) == len(clock) == 60)
    assert [m["header"]["stamp"] for m in states] == [1_000_000 * (k + 1) for k in range(60)]
    sample = simulation.sample("board").values
    assert states[-1]["position"].tolist() == sample["position"].tolist()
    assert bridge.health()["rejected"] == 2


def test_the_topics_of_control_pause_and_step(world):
    simulation, _, client = world()
    runner = threading.Thread(target=lambda: simulation.run(None), daemon=True)
    runner.start()
    pause = client.advertise("/pliant/pause", "std_msgs/Bool")
    step = client.advertise("/pliant/step", "std_msgs/UInt64")
    until(lambda: pause.matched and step.matched)
    pause.send(client.codec.encode("std_msgs/Bool", {"data": True}))
    until(lambda: simulation.paused)

    def steps():
        return simulation.submit(lambda: simulation.steps).result(30.0)

    until(lambda: steps() == steps(), "the step that was being taken is done")
    before = steps()
    step.send(client.codec.encode("std_msgs/UInt64", {"data": 7}))
    until(lambda: simulation.steps == before + 7)
    pause.send(client.codec.encode("std_msgs/Bool", {"data": False}))
    until(lambda: simulation.steps > before + 10)
    simulation.stop()
    runner.join(10)


@pytest.mark.parametrize("first", ["pliant", "client"])
def test_another_type_or_quality_on_a_topic_is_told(world, first):
    domain = next(DOMAINS)
    early = None
    if first == "client":
        early = Ros2Node("early", domain=domain)
        early.start()
        early.advertise("/qbmove_2dof/reference_1", "std_msgs/Float32MultiArray")
    try:
        _, bridge, client = world(domain=domain)
        if first == "pliant":
            client.advertise("/qbmove_2dof/reference_1", "std_msgs/Float32MultiArray")
        client.advertise("/qbmove_2dof/reference_2", "std_msgs/Float64MultiArray", reliable=False)
        client.subscribe("/qbmove_2dof/robot_state", "std_msgs/Float64", lambda _: None)
        client.advertise("/qbmove_2dof/joint_3/equilibrium_position", "std_msgs/Float64")

        def told(*parts):
            return any(all(part in fault for part in parts) for fault in bridge.health()["last_faults"])

        until(lambda: told("reference_1", "Float32MultiArray_; the type must be", "Float64MultiArray_"))
        until(lambda: told("reference_2", "best effort"))
        until(lambda: told("joint_3", "did you mean"))
        until(lambda: told("robot_state", "reads std_msgs::msg::dds_::Float64_"))
    finally:
        if early is not None:
            early.stop()


def test_two_robots_in_one_name_space_are_refused(world):
    domain = next(DOMAINS)
    world(domain=domain)
    with pytest.raises(BridgeError, match="name space /qbmove_2dof"):
        world(domain=domain)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("domain=233", "0 to 232"),
        ("domain=-2", "0 to 232"),
        ("distro=foxy", "humble"),
        ("joint_states=-1", r"must be a number >= 0 \[Hz\]"),
        ("namespace=///", "such as left"),
    ],
)
def test_wrong_options_are_refused(options, says):
    with pytest.raises(BridgeError, match=says):
        make_bridge(f"ros2:{options}", None)


def test_a_queue_that_nobody_empties_is_bounded_and_counted(world):
    _, bridge, _ = world()
    node = bridge.node
    publication = node.publications["/clock"]
    stuck = threading.Event()
    node.participant.write = lambda writer, data: stuck.wait(10)
    data = bridge.node.codec.encode("rosgraph_msgs/Clock", {})
    for _ in range(5000):
        publication.send(data)
    assert len(node.outbox) <= 2000
    assert publication.drops >= 2900
    assert bridge.health()["dropped"] == publication.drops
    stuck.set()
