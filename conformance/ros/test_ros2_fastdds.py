"""pliant on the wire of ROS 2 with Fast DDS, the DDS below rmw_fastrtps: a peer built here from our own C++ source."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import real

from pliant.ros.wire import Codec, Registry, dds_type_name, registry

SOURCE = Path(__file__).parent / "peer.cpp"
STATE = ("rt/qbmove_5dof/robot_state", "sensor_msgs::msg::dds_::JointState_")
COMMAND = "rt/qbmove_5dof/reference_1"
COUNT = 12_000

pytestmark = [
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("g++") is None or not Path("/usr/include/fastdds").exists(),
        reason="no Fast DDS or no compiler; type: apt-get install --no-install-recommends libfastrtps-dev g++",
    ),
]


@pytest.fixture(scope="module")
def peer(tmp_path_factory):
    program = tmp_path_factory.mktemp("peer") / "peer"
    subprocess.run(
        ["g++", "-std=c++17", "-O2", SOURCE, "-o", program, "-lfastrtps", "-lfastcdr"], check=True, timeout=300
    )

    def run(domain, *arguments, timeout=90):
        result = subprocess.run(
            [program, str(domain), *map(str, arguments)], capture_output=True, text=True, timeout=timeout, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    run.program = program
    return run


@pytest.fixture
def domain():
    return real.free_domain()


@pytest.fixture
def serve(domain):
    started = []

    def start(duration, options="", source="qbmove-5dof", *arguments):
        process = real.pliant(
            ["run", source, "--bridge", f"ros2:domain={domain},aggregate_rate=1000{options}", "--duration", duration,
             "--no-check", "--json", *arguments], os.environ,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


@pytest.mark.alone
def test_nothing_is_lost_in_either_direction(peer, serve, domain):
    process = serve(24)
    arguments = [peer.program, str(domain), "send", COMMAND, "5", str(COUNT), "1000"]
    sender = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        heard = peer(domain, "listen", *STATE, COUNT, 60)
        said = json.loads(sender.communicate(timeout=100)[0])
        bridge = json.loads(real.interrupted(process))["health"]["bridges"]["ros2"]
    finally:
        if sender.poll() is None:
            sender.kill()
            sender.communicate()
    assert heard["received"] >= COUNT
    assert heard["missing"] == heard["backward"] == 0
    assert said["sent"] == COUNT
    assert bridge["received"] == COUNT
    assert bridge["dropped"] == bridge["rejected"] == 0
    last = Codec(2).decode("sensor_msgs/JointState", bytes.fromhex(heard["last"]))
    assert last["name"] == [f"joint_{k}" for k in range(1, 6)]
    assert last["header"]["stamp"] % 1_000_000 == 0


def test_every_topic_has_its_name_type_and_hash(peer, serve, domain):
    serve(60)
    wanted = {
        "writer rt/clock rosgraph_msgs::msg::dds_::Clock_",
        "writer rt/tf tf2_msgs::msg::dds_::TFMessage_",
    }
    for name in ("reference_1", "reference_2"):
        wanted.add(f"reader rt/qbmove_5dof/{name} std_msgs::msg::dds_::Float64MultiArray_")
    for k in range(1, 6):
        base = f"rt/qbmove_5dof/joint_{k}/"
        wanted.add(f"writer {base}link_state viactors_plugins::msg::dds_::StateInfo_")
        wanted.add(f"writer {base}motor_1_state sensor_msgs::msg::dds_::JointState_")
        wanted.add(f"writer {base}torque_el1_state std_msgs::msg::dds_::Float64_")
        for name in ("equilibrium_position", "stiffness_preset", "external_torque"):
            wanted.add(f"reader {base}{name} std_msgs::msg::dds_::Float64_")
    seen, missing = {}, wanted
    end = time.monotonic() + 55
    while missing and time.monotonic() < end:  # discovery tells one after the other
        seen = peer(domain, "graph", 3)
        missing = wanted - set(seen["endpoints"])
    assert missing == set()
    clock = "RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564"
    assert f"rt/clock typehash={clock};" in seen["hashes"]


def test_the_node_is_announced_to_graph_tools(peer, serve, domain):
    serve(20, ",distro=humble")
    heard = peer(domain, "listen", "ros_discovery_info", "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_", 1, 20)
    types = Registry(2)
    types.add({"rmw_dds_common/Gid": "uint8[24] data\n"})
    found = Codec(2, types).decode("rmw_dds_common/ParticipantEntitiesInfo", bytes.fromhex(heard["last"]))
    (node,) = found["node_entities_info_seq"]
    assert node["node_name"] == "pliant_qbmove_5dof"
    assert len(node["writer_gid_seq"]) > 40
    assert len(node["reader_gid_seq"]) > 20
    own = found["gid"]["data"][:12]
    assert {gid["data"][:12] for gid in (*node["writer_gid_seq"], *node["reader_gid_seq"])} == {own}


@pytest.mark.alone
@pytest.mark.parametrize("wait_ms", [0, 200])
def test_a_node_that_was_there_before_loses_nothing(peer, serve, domain, wait_ms):
    # It sends as soon as it takes itself for connected, or a little later, as most programs do.
    arguments = [peer.program, str(domain), "send", COMMAND, "5", "3000", "1000", str(wait_ms)]
    earlier = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        time.sleep(1.0)  # until it is there: it has nobody to tell that to
        process = serve(12)
        said = json.loads(earlier.communicate(timeout=100)[0])
        bridge = json.loads(real.interrupted(process, 120))["health"]["bridges"]["ros2"]
    finally:
        if earlier.poll() is None:
            earlier.kill()
            earlier.communicate()
    assert said["sent"] == 3000
    assert bridge["received"] == 3000
    assert bridge["rejected"] == 0


def call(peer, domain, name, kind, values, count):
    service = registry(2).service(kind)
    request, response = (dds_type_name(part.name) for part in (service.request, service.response))
    data = Codec(2).encode(service.request, values)
    data += bytes(-len(data) % 4)
    said = peer(domain, "call", name, request, response, data.hex(), count)
    assert said["answered"] == said["paired"] == count, said
    assert said["foreign"] == 0
    return Codec(2).decode(service.response, bytes.fromhex(said["last"]))


def test_services_are_answered_in_the_convention_of_rmw_fastrtps(peer, serve, domain):
    process = serve(90)
    assert call(peer, domain, "pliant/pause", "std_srvs/Trigger", {}, 1)["message"] == "paused"
    first = call(peer, domain, "pliant/step", "pliant_msgs/Step", {"count": 3}, 50)
    assert first["success"]
    again = call(peer, domain, "pliant/step", "pliant_msgs/Step", {"count": 7}, 1)
    assert again["time"] - first["time"] == 7_000_000
    assert "must be 1 to 1000000" in call(peer, domain, "pliant/step", "pliant_msgs/Step", {"count": 0}, 1)["message"]
    assert call(peer, domain, "pliant/resume", "std_srvs/Trigger", {}, 1)["success"]
    call(peer, domain, "gazebo/unpause_physics", "std_srvs/Empty", {}, 1)
    process.kill()


def test_parameters_are_listed_and_set_from_fast_dds(peer, serve, domain):
    process = serve(90)
    node = "pliant_qbmove_5dof"
    found = call(peer, domain, f"{node}/list_parameters", "rcl_interfaces/ListParameters", {}, 2)["result"]
    # Five joints with a mode and six gains each, and the time: the reply goes out in one piece or in fragments.
    assert len(found["names"]) == 36
    asked = {"parameters": [{"name": "joint_3.kp_2", "value": {"type": 3, "double_value": 0.5}}]}
    (result,) = call(peer, domain, f"{node}/set_parameters", "rcl_interfaces/SetParameters", asked, 1)["results"]
    assert result["successful"], result["reason"]
    asked = {"names": ["joint_3.kp_2"]}
    (value,) = call(peer, domain, f"{node}/get_parameters", "rcl_interfaces/GetParameters", asked, 1)["values"]
    assert value["double_value"] == 0.5
    process.kill()


def test_a_goal_is_followed_for_fast_dds(peer, serve, domain):
    process = serve(90)
    joint = "joint_2"
    controller = f"{joint}_motor_positions_trajectory_controller"
    action = f"qbmove_5dof/{joint}/control/{controller}/follow_joint_trajectory/_action"
    kind = "control_msgs/action/FollowJointTrajectory"
    loose = [{"name": f"{joint}_motor_{k}_joint", "position": -1.0} for k in (1, 2)]
    points = [{"positions": [0.1, 0.1], "time_from_start": 1_500_000_000}]
    trajectory = {"joint_names": [item["name"] for item in loose], "points": points}
    goal = {"trajectory": trajectory, "path_tolerance": loose, "goal_tolerance": loose}
    asked = {"goal_id": {"uuid": bytes(range(16))}, "goal": goal}
    taken = call(peer, domain, f"{action}/send_goal", f"{kind}_SendGoal", asked, 1)
    assert taken["accepted"]
    # The reply comes when the goal has ended: either it waits, or the result has been kept.
    ended = call(peer, domain, f"{action}/get_result", f"{kind}_GetResult", {"goal_id": asked["goal_id"]}, 2)
    assert ended["status"] == 4
    assert ended["result"]["error_code"] == 0
    unknown = call(peer, domain, f"{action}/get_result", f"{kind}_GetResult", {"goal_id": {"uuid": bytes(16)}}, 1)
    assert unknown["status"] == 0
    asked["goal_id"] = {"uuid": bytes(range(1, 17))}
    points[0]["time_from_start"] = 1_000_000_000_000
    assert call(peer, domain, f"{action}/send_goal", f"{kind}_SendGoal", asked, 1)["accepted"]
    cancelled = call(peer, domain, f"{action}/cancel_goal", "action_msgs/CancelGoal", {}, 1)
    assert cancelled["return_code"] == 0
    assert [info["goal_id"]["uuid"] for info in cancelled["goals_canceling"]] == [bytes(range(1, 17))]
    process.kill()


def test_the_endpoints_of_services_have_their_names_types_and_hashes(peer, serve, domain):
    serve(60)
    seen = {}
    end = time.monotonic() + 50
    while not any("pauseRequest" in e for e in seen.get("endpoints", [])) and time.monotonic() < end:
        seen = peer(domain, "graph", 2)
    endpoints = set(seen["endpoints"])
    assert "reader rq/pliant/pauseRequest std_srvs::srv::dds_::Trigger_Request_" in endpoints
    assert "writer rr/pliant/pauseReply std_srvs::srv::dds_::Trigger_Response_" in endpoints
    base = "pliant_qbmove_5dof/get_parameters"
    assert f"reader rq/{base}Request rcl_interfaces::srv::dds_::GetParameters_Request_" in endpoints
    published = "RIHS01_bf9803d5c74cf989a5de3e0c2e99444599a627c7ff75f97b8c05b01003675cbc"
    assert f"rr/{base}Reply typehash={published};" in seen["hashes"]


def test_lock_step_is_bit_identical(peer, serve, domain):
    results = []
    for run in range(2):
        process = serve(3, f",sync=reference_1,tf=false,namespace=run{run}")
        results.append(peer(domain, "drive", f"rt/run{run}/robot_state", f"rt/run{run}/reference_1", 5, 2900))
        process.kill()
        process.communicate()
    first, second = results
    assert first["received"] == second["received"] == 2900
    assert first["gaps"] == first["backward"] == 0
    assert first["digest"] == second["digest"]
    print(first, second)  # benchmarks/ros.py measures how fast it answers
