"""A parallel robot on ROS 1: Debian's roscore, and rospy scripts written for the Gazebo simulator."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import real

ROBOT = "Stewart_Gough_6PFR"
NAMES = {"6PFR": ROBOT, "3PR": "cpr_3PR"}

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


def drive(core, step, *arguments, robot="6PFR", seconds=600.0, bridge="ros1"):
    """Run a robot on the bridge and one step of the script; return what both said."""
    command = [
        "run",
        robot,
        "--bridge",
        bridge,
        "--set",
        "robot.segments=4",
        "--duration",
        seconds,
        "--json",
        *arguments,
    ]
    process = real.pliant(command, core.env)
    try:
        script = subprocess.run(
            [real.rospy_python(), Path(__file__).parent / "ros1_cpr_steps.py", step, NAMES.get(robot, robot)],
            env=core.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        lines = [line[7:] for line in script.stdout.splitlines() if line.startswith("RESULT ")]
        assert lines, f"{step}: {script.returncode}\n{script.stdout}\n{script.stderr}"
        if seconds == 600.0:
            process.send_signal(2)  # its work is done: end as Ctrl-C does
        out, err = process.communicate(timeout=60)
        return json.loads(lines[0]), json.loads(out), err
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def test_a_script_for_the_simulator_moves_the_robot_and_calls_its_services(core):
    found, said, err = drive(core, "drive")
    assert found["direct"]
    assert found["inverse"]
    assert found["names"] == [f"limb{i}/prismatic" for i in range(1, 7)]
    assert found["layout"] == 0
    assert len(found["vector"]) == 7 * 6 + 6
    assert found["vector"][42:45] == pytest.approx([0.0, 0.0, 1.15], abs=1e-5)
    assert found["moved"][44] == pytest.approx(1.12, abs=1e-6)
    assert found["moved"][36] == pytest.approx(found["vector"][36] - 0.03, abs=1e-4)
    assert "has 2 numbers; must be 48" in found["refusal"]
    assert found["state"][0] is True
    assert found["wrong"][0] is False
    assert "valid names: distal_plate::distal_plate" in found["wrong"][1]
    types = {
        "/dgm_parameters": "cpr_messages/DGMParams",
        "/igm_parameters": "cpr_messages/IGMParams",
        "/controller_wrench": "geometry_msgs/Wrench",
        "/joint_values": "std_msgs/Float32MultiArray",
        "/joint_states": "sensor_msgs/JointState",
        f"/{ROBOT}/plate_pose": "geometry_msgs/PoseStamped",
        f"/{ROBOT}/rods": "visualization_msgs/MarkerArray",
    }
    assert {t: found["types"].get(t) for t in types} == types
    assert found["lines"] == "visualization_msgs/MarkerArray"
    assert found["parameters"] == {
        "/robot_name": ROBOT,
        "/limb_name_prefix": "limb",
        "/number_of_limbs": 6,
        "/underactuation_vector": [1.0] * 6,
        "/rod": {"E": 200e9, "G": 80e9, "radius": 1e-3, "L": 1.0, "ds": 5e-3},
    }
    assert found["extends"] is False
    assert found["guess"] == 42
    assert said["health"]["bridges"]["ros1"]["rejected"] >= 1
    # what is refused is told to ROS and on the console
    assert found["logged"]
    assert "joints_values has 4 numbers; must be 6" in err
    assert "Traceback" not in err


def test_the_controller_pulls_the_plate_to_the_pose_of_a_script(core):
    found, _, err = drive(core, "control", "--set", "robot.controller=true")
    assert found["arrived"]
    assert found["heard"]
    assert found["x"] == pytest.approx(0.02)
    assert found["time"] > 0.0
    assert "Traceback" not in err


def test_a_removed_robot_comes_back_with_a_reset(core):
    found, _, err = drive(core, "remove")
    assert found["there"]
    assert found["passed"]
    assert found["silent"] == 0
    assert found["back"]
    assert "Traceback" not in err


def test_a_script_for_the_planar_simulator_moves_a_planar_robot(core):
    found, _, err = drive(core, "planar", robot="3PR")
    assert found["inverse"]
    assert found["direct"]
    assert found["vector"] == [1.0, 1.0, 1.0]
    assert "Traceback" not in err


def test_two_runs_in_lock_step_with_a_script_are_equal(core):
    ends = []
    for _ in range(2):
        found, said, _ = drive(core, "lockstep", seconds=0.5, bridge="ros1:sync=/dgm_parameters")
        assert found["steps"] == 500
        assert said["steps"] == 500
        assert said["health"]["devices"]["cpr"]["commands"] >= 499
        state = said["devices"]["cpr"]
        ends.append((state["joint_values"], state["pose"]))
    assert ends[0] == ends[1]
    assert ends[0][0][5] > ends[0][0][0] + 0.015
