"""Services, parameters and the graph of the ROS 2 bridge, as clients of both rmws see them."""

import threading

import pytest
from ros2_clients import DOMAINS, CycloneClient, FastClient, until

from pliant.bridges import make_bridge
from pliant.bridges.ros2 import Participant
from pliant.bridges.ros2.participant import DISTROS
from pliant.bridges.ros2.rtps_participant import RtpsParticipant
from pliant.model import load
from pliant.simulation import Simulation, sync
from pliant.wire.ros import Codec, Registry, registry

pytestmark = pytest.mark.network
NODE = "/pliant_qbmove_2dof"


@pytest.fixture
def domain():
    return next(DOMAINS)


@pytest.fixture
def world(domain):
    pytest.importorskip("cyclonedds", reason="no cyclonedds; type: pip install 'pliant[ros2]'")
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine

    open_ = []

    def make(options=""):
        robot = load("qbmove-2dof")
        bridge = make_bridge(f"ros2:domain={domain},aggregate_rate=1000,tf=false{options}", robot)
        simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=sync())
        bridge.bind(simulation)
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
    assert "valid is 1 to 1000000" in step.call(count=0)["message"]
    assert call["reset"].call() == {"success": True, "message": "time is 0"}
    assert simulation.time_ns == 0
    assert call["resume"].call()["success"]
    until(lambda: simulation.time_ns > 5_000_000)
    gazebo = fast("/gazebo/pause_physics", "std_srvs/Empty")
    gazebo.ask()
    until(lambda: simulation.paused)
    assert bridge.health()["service_calls"] >= 8


def test_parameters_are_read_and_set_in_both_conventions(world, fast, domain):
    _, bridge = world()
    listed = fast(f"{NODE}/list_parameters", "rcl_interfaces/ListParameters").call(prefixes=["joint_1"])
    assert "joint_1.kp_1" in listed["result"]["names"]
    setter = CycloneClient(domain, f"{NODE}/set_parameters", "rcl_interfaces/SetParameters", guid=3)
    events = []
    try:
        setter.participant.subscribe("/parameter_events", "rcl_interfaces/ParameterEvent", events.append)
        until(lambda: setter.publication.matched == 1)
        service = bridge.transport.node._services[f"{NODE}/set_parameters"]
        until(lambda: [p for p in service.writer.state.proxies.values() if p.count >= 0])
        until(lambda: bridge.transport.participant.publications["/parameter_events"].matched == 1)
        reply = setter.call(
            parameters=[
                {"name": "joint_1.kp_1", "value": {"type": 3, "double_value": 0.75}},
                {"name": "joint_1.kp_1", "value": {"type": 4, "string_value": "much"}},
            ]
        )
        good, bad = reply["results"]
        assert good["successful"]
        assert "joint_1.kp_1 is string; valid is double" in bad["reason"]
        until(lambda: events)
        (changed,) = events[-1]["changed_parameters"]
        assert (changed["name"], changed["value"]["double_value"]) == ("joint_1.kp_1", 0.75)
    finally:
        setter.participant.stop()
    getter = fast(f"{NODE}/get_parameters", "rcl_interfaces/GetParameters")
    assert getter.call(names=["joint_1.kp_1"])["values"][0]["double_value"] == 0.75


@pytest.mark.parametrize("distro", ["humble", "jazzy"])
def test_the_graph_has_every_endpoint_of_the_node(world, domain, distro):
    _, bridge = world(f",distro={distro}")
    watcher = Participant("watcher", domain=domain, distro=distro)
    types = Registry(2)
    types.add({"rmw_dds_common/Gid": f"uint8[{DISTROS[distro]}] data\n"})
    told = []
    watcher.codec = Codec(2, types)
    watcher.start()
    try:
        # The node's last word is kept for who comes later.
        watcher.subscribe(
            "ros_discovery_info", "rmw_dds_common/ParticipantEntitiesInfo", told.append, plain=True, latch=True
        )
        until(lambda: any(n["node_name"] == NODE[1:] for m in told for n in m["node_entities_info_seq"]))
    finally:
        watcher.stop()
    node = next(n for m in reversed(told) for n in m["node_entities_info_seq"] if n["node_name"] == NODE[1:])
    readers = {gid["data"][:16] for gid in node["reader_gid_seq"]}
    writers = {gid["data"][:16] for gid in node["writer_gid_seq"]}
    own = bridge.transport.node
    assert {len(gid["data"]) for gid in node["reader_gid_seq"]} == {DISTROS[distro]}
    assert set(own.gids[0]) <= readers
    assert set(own.gids[1]) <= writers
    assert len(own.gids[0]) == len(own.services) >= 15
    assert len(writers) == len(bridge.served.handles) + len(own.services)


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
