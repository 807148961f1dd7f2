"""pliant with Debian's roscore and rospy: every client here is the real one, in a process of its own."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "helpers"))
import real
from native_actuators import TRANSMISSIONS, every_transmission

pytestmark = [
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.skipif(real.rospy_python() is None, reason=f"no interpreter has rospy; type: {real.INSTALL}"),
]


@pytest.fixture
def core():
    core = real.Roscore()
    yield core
    core.close()


@pytest.fixture
def serve(core):
    """Run a robot on the bridge; what it prints at the end is JSON."""
    started = []

    def start(source, duration, *arguments, bridge="ros1"):
        process = real.pliant(
            ["run", source, "--bridge", bridge, "--duration", duration, "--no-check", "--json", *arguments], core.env
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.close()


@pytest.mark.parametrize("source", [real.JOINT, real.TOOLBOX], ids=["own", "toolbox"])
def test_the_main_job_a_robot_of_the_toolbox_driven_by_rospy(core, serve, source):
    if not source.exists():
        pytest.skip(f"{source} is not there")
    process = serve(source, 600)
    found = real.ros1_step(core, "main_job", "toBEassigned", "joint", 3)
    said = json.loads(real.interrupted(process))
    base = "/toBEassigned/joint"
    expected = {
        f"{base}/link_state": ("viactors_plugins/state_info", 100),
        f"{base}/torque_el1_state": ("std_msgs/Float64", 100),
        f"{base}/torque_el2_state": ("std_msgs/Float64", 100),
        f"{base}/motor_1_state": ("sensor_msgs/JointState", 100),
        f"{base}/motor_2_state": ("sensor_msgs/JointState", 100),
        "/toBEassigned/robot_state": ("sensor_msgs/JointState", 1000),
        "/toBEassigned/motor_1_state": ("sensor_msgs/JointState", 1000),
        "/toBEassigned/motor_2_state": ("sensor_msgs/JointState", 1000),
        "/joint_states": ("sensor_msgs/JointState", 1000),
        "/clock": ("rosgraph_msgs/Clock", 1000),
    }
    assert {t: k for t, k in found["types"].items() if t in expected} == {t: k for t, (k, _) in expected.items()}
    for topic, (_, rate) in expected.items():
        assert found["rates"][topic] == pytest.approx(rate, rel=0.02), topic
    # rospy slept 3 s of simulation time: the clock paces it; a busy machine lets it oversleep
    assert 2.99 <= found["sim"] < 6.0
    assert found["use_sim_time"] is True
    assert found["ref"] == pytest.approx([0.7, 0.3])
    # mode 5: the motors follow the references to within friction / kp
    assert found["motors"] == pytest.approx([0.7, 0.3], abs=0.01)
    assert found["q"] == pytest.approx(0.5, abs=0.02)
    assert found["names"] == ["joint"]
    assert said["health"]["bridges"]["ros1"]["dropped"] == 0


def test_every_topic_on_every_step_is_offered(core, serve):
    process = serve(real.JOINT, 600, "--joint-rate", 1000)
    found = real.ros1_step(core, "main_job", "toBEassigned", "joint", 2)
    said = json.loads(real.interrupted(process))
    assert found["rates"]["/toBEassigned/joint/link_state"] == pytest.approx(1000, rel=0.02)
    print("loop time a step:", said["health"]["bridges"]["ros1"]["loop_us_per_step"], "us")


def test_nothing_is_lost_from_five_joints(core, serve):
    process = serve("qbmove-5dof", 600, bridge="ros1:aggregate_rate=1000")
    found = real.ros1_step(core, "no_loss", "qbmove_5dof", "-", 6)
    bridge = json.loads(real.interrupted(process))["health"]["bridges"]["ros1"]
    assert found["missing"] == 0
    assert found["received"] > 6000
    assert bridge["dropped"] == 0


def test_services_and_reconfiguration(core, serve):
    process = serve(real.JOINT, 60)
    found = real.ros1_step(core, "services", "toBEassigned", "joint")
    assert found["answers"]
    assert found["paused_at"] == 20_000_000
    assert found["kp_1"] == 90.0
    assert {"operation_mode", "kp_1", "kd_2"} <= set(found["described"])
    assert "pause" in found["refused"]
    process.kill()


def test_lock_step_is_bit_identical(core, serve):
    results = []
    for _ in range(2):
        process = serve("qbmove-5dof", 3, bridge="ros1:sync=reference_1,aggregate_rate=1000")
        results.append(real.ros1_step(core, "lock_step", "qbmove_5dof", "-", 2.9, 5))
        process.kill()
        process.communicate()
    first, second = results
    assert first["count"] == second["count"] == 2900
    assert first["digest"] == second["digest"]
    print("real-time factors:", first["rtf"], second["rtf"])  # benchmarks/ros.py judges them


def test_the_tools_of_ros_see_the_node(core, serve):
    if not Path("/usr/bin/rosnode").exists():
        pytest.skip("rosnode is not there; type: apt-get install --no-install-recommends python3-rosnode")
    process = serve(real.JOINT, 40)

    def tool(*words):
        return real.tool(core, *words)

    real.until(lambda: "/toBEassigned/joint/reference_1" in core.state()[1], "it is registered")
    info = tool("rosnode", "info", "/pliant_toBEassigned")
    assert "/toBEassigned/robot_state [sensor_msgs/JointState]" in info
    assert "/toBEassigned/joint/reference_1 [" in info
    assert "/pliant/pause" in info
    assert "toBEassigned" in tool("rosparam", "get", "/namespace")
    assert "xmlrpc reply" in tool("rosnode", "ping", "-c1", "/pliant_toBEassigned")
    process.kill()
    process.communicate()


def test_a_roscore_that_dies_is_reported_and_the_run_goes_on(core, serve):
    process = serve(real.JOINT, 10)
    real.ros1_step(core, "no_loss", "toBEassigned", "joint", 1)
    core.close()
    health = json.loads(real.finish(process))["health"]["bridges"]["ros1"]
    assert health["master_state"] == "gone"
    assert any("gone" in fault for fault in health["last_faults"])


def test_the_actuators_of_mujoco_of_every_transmission_are_driven_and_heard_by_rospy(core, serve, tmp_path):
    (tmp_path / "every.xml").write_text(every_transmission())
    process = serve(tmp_path / "every.xml", 600, bridge="ros1:namespace=every")
    found = real.ros1_step(core, "native_actuators", "every", "driven_", len(TRANSMISSIONS))
    said = json.loads(real.interrupted(process))
    assert len(found["obeyed"]) == len(TRANSMISSIONS)
    assert all(found["obeyed"].values()), found["obeyed"]
    assert len(found["heard"]) > 4 * len(TRANSMISSIONS)
    assert all(found["heard"].values()), found["heard"]
    assert said["health"]["bridges"]["ros1"]["rejected"] == 0
