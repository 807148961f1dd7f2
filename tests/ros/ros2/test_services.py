"""Services, parameters and the graph of the ROS 2 bridge, as clients of both rmws see them."""

import threading

import pytest
from ros2_clients import DOMAINS, CycloneClient, FastClient, until

from pliant.robots.loading import load
from pliant.ros.ros2 import Ros2Node
from pliant.ros.ros2.node import DISTROS
from pliant.ros.ros2.participant import RtpsParticipant
from pliant.ros.wire import Codec, Registry, dds_type_name, registry
from pliant.simulation import Simulation, sync
from pliant.simulation.bridges import make_bridge

pytestmark = pytest.mark.network
NODE = "/pliant_qbmove_2dof"


@pytest.fixture
def domain():
    return next(DOMAINS)


@pytest.fixture
def world(domain):
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine

    open_ = []

    def make(options=""):
        robot = load("qbmove-2dof")
        bridge = make_bridge(f"ros2:domain={domain},aggregate_rate=1000,tf=false{options}", robot)
        simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=sync())
        open_.append(simulation.close)
        simulation.start()
        runner = threading.Thread(target=lambda: simulation.run(None), daemon=True)
        runner.start()

        def end():
            simulation.stop()
            simulation.resume()
            runner.join(20)

        open_.append(end)
        return simulation, bridge

    yield make
    for close in reversed(open_):
        close()


@pytest.fixture
def fast(domain):
    participant = RtpsParticipant("client", domain=domain)
    participant.start()
    yield lambda name, kind: _ready(FastClient(participant, name, kind))
    participant.stop()


def _ready(client):
    until(lambda: client.ready)
    return client


def test_the_simulation_is_paused_stepped_reset_and_resumed_by_services(world, fast):
    simulation, bridge = world()
    call = {n: fast(f"/pliant/{n}", "std_srvs/Trigger") for n in ("pause", "step_once", "reset", "resume")}
    step = fast("/pliant/step", "pliant_msgs/Step")
    refused = step.call(count=5)
    assert not refused["success"]
    assert "call /pliant/pause first" in refused["message"]
    assert call["pause"].call() == {"success": True, "message": "paused"}
    until(lambda: simulation.paused)
    assert call["step_once"].call()["success"]
    before = simulation.time_ns
    reply = step.call(count=25)
    assert reply["success"]
    assert reply["time"] - before == 25_000_000
    assert "must be 1 to 1000000" in step.call(count=0)["message"]
    assert call["reset"].call() == {"success": True, "message": "time is 0"}
    assert simulation.time_ns == 0
    assert call["resume"].call()["success"]
    until(lambda: simulation.time_ns > 5_000_000)
    gazebo = fast("/gazebo/pause_physics", "std_srvs/Empty")
    gazebo.ask()
    until(lambda: simulation.paused)
    assert bridge.health()["service_calls"] >= 8


def test_a_reply_waits_for_the_reader_that_its_request_names_though_another_of_the_participant_is_there(world, fast):
    """Two nodes of one process have one participant, and each has a reader of its own."""
    _, bridge = world()
    first, second = (fast("/pliant/resume", "std_srvs/Trigger") for _ in range(2))
    server = bridge.node.service_server
    writer = server._services["/pliant/resume"].writer
    until(lambda: {first.reader.guid, second.reader.guid} <= set(writer.proxies))
    with server.participant.lock:
        late = writer.proxies.pop(second.reader.guid)  # not discovered yet
    number = second.ask()
    until(lambda: server._waiting or second.replies)
    assert first.call()["success"]
    with server.participant.lock:
        server.participant._send_all(writer.add(late, 0.0))
    assert until(lambda: second.replies.get(number))["success"]


def test_types_are_described_on_request(world, fast):
    world()
    client = fast(f"{NODE}/get_type_description", "type_description_interfaces/GetTypeDescription")
    own = client.codec.types.rihs01("viactors_plugins/StateInfo")
    found = client.call(type_name="viactors_plugins/msg/StateInfo", type_hash=own, include_type_sources=True)
    assert found["successful"]
    fields = [field["name"] for field in found["type_description"]["type_description"]["fields"]]
    assert fields == ["q", "dq", "ref_1", "ref_2", "tau", "stiff"]
    assert found["type_sources"][0]["raw_file_contents"].startswith("float32 q")
    assert own in client.call(type_name="viactors_plugins/msg/StateInfo", type_hash="RIHS01_0")["failure_reason"]
    assert "there is no message type 'a/B'" in client.call(type_name="a/B")["failure_reason"]


def test_parameters_are_read_and_set_in_both_conventions(world, fast, domain):
    _, bridge = world()
    listed = fast(f"{NODE}/list_parameters", "rcl_interfaces/ListParameters").call(prefixes=["joint_1"])
    assert "joint_1.kp_1" in listed["result"]["names"]
    setter = CycloneClient(domain, f"{NODE}/set_parameters", "rcl_interfaces/SetParameters", guid=3)
    events = []
    try:
        setter.participant.subscribe("/parameter_events", "rcl_interfaces/ParameterEvent", events.append)
        until(lambda: setter.publication.matched == 1)
        service = bridge.node.service_server._services[f"{NODE}/set_parameters"]
        until(lambda: [p for p in service.writer.proxies.values() if p.count >= 0])
        until(lambda: bridge.node.publications["/parameter_events"].matched == 1)
        reply = setter.call(
            parameters=[
                {"name": "joint_1.kp_1", "value": {"type": 3, "double_value": 0.75}},
                {"name": "joint_1.kp_1", "value": {"type": 4, "string_value": "much"}},
            ]
        )
        good, bad = reply["results"]
        assert good["successful"]
        assert "joint_1.kp_1 is string; must be double" in bad["reason"]
        until(lambda: events)
        (changed,) = events[-1]["changed_parameters"]
        assert (changed["name"], changed["value"]["double_value"]) == ("joint_1.kp_1", 0.75)
    finally:
        setter.participant.stop()
    getter = fast(f"{NODE}/get_parameters", "rcl_interfaces/GetParameters")
    assert getter.call(names=["joint_1.kp_1"])["values"][0]["double_value"] == 0.75


def test_a_trajectory_goal_is_followed_to_its_end(world, fast):
    simulation, bridge = world()
    joint = "joint_1"
    name = f"{joint}_motor_positions_trajectory_controller/follow_joint_trajectory"
    action = f"/qbmove_2dof/{joint}/control/{name}"
    kind = "control_msgs/action/FollowJointTrajectory"
    send = fast(f"{action}/_action/send_goal", f"{kind}_SendGoal")
    get = fast(f"{action}/_action/get_result", f"{kind}_GetResult")
    cancel = fast(f"{action}/_action/cancel_goal", "action_msgs/CancelGoal")
    fed, states = [], []
    watcher = Ros2Node("watcher", domain=send.participant.domain)
    watcher.start()
    try:
        watcher.subscribe(f"{action}/_action/feedback", f"{kind}_FeedbackMessage", fed.append)
        watcher.subscribe(f"{action}/_action/status", "action_msgs/GoalStatusArray", states.append, latch=True)
        publications = bridge.node.publications
        until(lambda: publications[f"{action}/_action/feedback"].matched == 1)
        first, second = bytes(range(16)), bytes(range(16, 32))
        loose = [{"name": f"{joint}_motor_{k}_joint", "position": -1.0} for k in (1, 2)]

        def goal(seconds):
            points = [{"positions": [0.1, 0.1], "time_from_start": int(seconds * 1e9)}]
            names = [item["name"] for item in loose]
            trajectory = {"joint_names": names, "points": points}
            return {"trajectory": trajectory, "path_tolerance": loose, "goal_tolerance": loose}

        wrong = send.call(goal_id={"uuid": first[::-1]}, goal={})
        assert not wrong["accepted"]
        assert send.call(goal_id={"uuid": first}, goal=goal(0.2))["accepted"]
        reply = get.call(goal_id={"uuid": first})
        assert reply["status"] == 4
        assert reply["result"]["error_code"] == 0
        assert send.call(goal_id={"uuid": second}, goal=goal(1000.0))["accepted"]
        number = get.ask(goal_id={"uuid": second})
        until(lambda: any(m["goal_id"]["uuid"] == second for m in fed))
        reply = cancel.call(goal_info={"goal_id": {"uuid": second}})
        assert reply["return_code"] == 0
        assert [info["goal_id"]["uuid"] for info in reply["goals_canceling"]] == [second]
        assert until(lambda: get.replies.get(number))["status"] == 5
        until(lambda: any([g["status"] for g in m["status_list"]][-1:] == [5] for m in states))
        assert {m["goal_id"]["uuid"] for m in fed} == {first, second}
        assert len(fed[0]["feedback"]["desired"]["positions"]) == 2
    finally:
        watcher.stop()
    assert not simulation.paused


@pytest.mark.parametrize("distro", ["humble", "jazzy"])
def test_the_graph_has_every_endpoint_of_the_node(world, domain, distro):
    _, bridge = world(f",distro={distro}")
    watcher = Ros2Node("watcher", domain=domain, distro=distro)
    types = Registry(2)
    types.add({"rmw_dds_common/Gid": f"uint8[{DISTROS[distro]}] data\n"})
    told = []
    watcher.start()
    try:
        # The node's last word is kept for who comes later.
        kind = "rmw_dds_common/ParticipantEntitiesInfo"
        watcher.participant.reader(
            "ros_discovery_info",
            dds_type_name(kind),
            lambda sample: told.append(Codec(2, types).decode(kind, sample.payload)),
            transient_local=True,
        )
        until(lambda: any(n["node_name"] == NODE[1:] for m in told for n in m["node_entities_info_seq"]))
    finally:
        watcher.stop()
    node = next(n for m in reversed(told) for n in m["node_entities_info_seq"] if n["node_name"] == NODE[1:])
    readers = {gid["data"][:16] for gid in node["reader_gid_seq"]}
    writers = {gid["data"][:16] for gid in node["writer_gid_seq"]}
    own = bridge.node.service_server
    assert {len(gid["data"]) for gid in node["reader_gid_seq"]} == {DISTROS[distro]}
    assert set(own.gids[0]) <= readers
    assert set(own.gids[1]) <= writers
    assert len(own.gids[0]) == len(own.calls) >= 15
    assert len(writers) == len(bridge.node.publications) + len(own.calls)


def test_the_endpoints_of_services_carry_the_hash_of_their_type(world, domain):
    world()
    watcher = RtpsParticipant("watcher", domain=domain)
    watcher.start()
    try:

        def endpoints():
            remotes = list(watcher.remotes.values())
            return {e.topic: e for r in remotes for e, _ in list(r.endpoints.values())}

        until(lambda: {"rq/pliant/stepRequest", "rr/pliant/pauseReply"} <= set(endpoints()))
        found = endpoints()
        for topic, kind, part in (
            ("rq/pliant/pauseRequest", "std_srvs/Trigger", "std_srvs::srv::dds_::Trigger_Request_"),
            ("rr/pliant/pauseReply", "std_srvs/Trigger", "std_srvs::srv::dds_::Trigger_Response_"),
        ):
            assert found[topic].type == part
            assert found[topic].user_data == f"typehash={registry(2).rihs01(kind)};".encode()
            assert found[topic].qos.reliable
            assert found[topic].qos.durability == 0
    finally:
        watcher.stop()
