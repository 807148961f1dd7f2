"""A Franka arm on ROS 1 by the names of franka_ros: rospy, and actionlib's own client."""

import json
import os
import sys
from pathlib import Path

import pytest

from pliant.franka_ros.definitions import SERVICES_1
from pliant.ros.wire.types import Registry

sys.path.insert(0, str(Path(__file__).parent))
import real

ACTIONS = (
    "franka_msgs/ErrorRecovery",
    "franka_gripper/Homing",
    "franka_gripper/Move",
    "franka_gripper/Grasp",
    "control_msgs/GripperCommand",
)
PREEMPTED, SUCCEEDED, ABORTED = 2, 3, 4
FOLLOW = "control_msgs/FollowJointTrajectory"
GOALS = int(os.environ.get("PLIANT_ARM_GOALS", "16"))
"""Random goals of the whole arm; PLIANT_ARM_GOALS=100 in the nightly run."""
EXTRA = 4 if GOALS < 100 else 10
"""How many of them are cancelled, and how many pre-empted."""

pytestmark = [
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.skipif(real.rospy_python() is None, reason=f"no interpreter has rospy; type: {real.INSTALL}"),
    pytest.mark.skipif(
        not Path("/usr/lib/python3/dist-packages/actionlib").exists(), reason=f"no actionlib; type: {real.INSTALL}"
    ),
]


def test_a_client_of_franka_ros_reads_sets_recovers_and_grasps(tmp_path):
    types = Registry(1)
    for action in ACTIONS:
        parts = "".join(f"{action}Action{part} action_{part.lower()}\n" for part in ("Goal", "Result", "Feedback"))
        types.add({f"{action}Action": parts})
    request, response = SERVICES_1["franka_msgs/SetLoad"]
    types.add({"franka_msgs/SetLoadRequest": request, "franka_msgs/SetLoadResponse": response})
    names = ["franka_msgs/FrankaState", "franka_msgs/SetLoadRequest", "franka_msgs/SetLoadResponse"]
    names += [f"{action}Action" for action in ACTIONS]
    texts = tmp_path / "types.json"
    sums = {"franka_msgs/SetLoad": types.md5sum("franka_msgs/SetLoad")}
    texts.write_text(json.dumps({"messages": {name: types.full_text(name) for name in names}, "services": sums}))
    core = real.Roscore()
    process = real.pliant(["run", "fr3", "--bridge", "ros1", "--duration", 600], core.env)
    try:
        core.wait_for("/franka_state_controller/franka_states")
        found = real.step(core, "ros1_franka_steps.py", texts, timeout=240)
    finally:
        process.close()
        core.close()
    # the sums that the package control_msgs has
    assert found["sums"]["control_msgs/GripperCommandAction"] == "950b2a6ebe831f5d4f4ceaba3d8be01e"
    assert found["q"] == pytest.approx([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.785], abs=0.02)
    assert (found["mode"], found["errors"]) == (1, False)
    assert found["m_total"] == pytest.approx(0.73)
    assert found["fingers"] == ["fr3_finger_joint1", "fr3_finger_joint2"]
    assert found["load"] == [True, ""]
    assert found["wrong_load"] == [False, "libfranka: Set Load command rejected: invalid argument!"]
    assert found["homing"] == SUCCEEDED
    assert found["move"] == [SUCCEEDED, True, ""]
    assert found["wide"] == [ABORTED, False, "libfranka gripper: Command failed!"]
    assert found["nothing"] == [SUCCEEDED, False, ""]
    assert found["command"] == [SUCCEEDED, pytest.approx(0.04, abs=2e-3), True]
    assert found["recovery"] == SUCCEEDED


def test_actionlib_moves_the_whole_arm_to_random_goals(tmp_path):
    types = Registry(1)
    parts = "".join(f"{FOLLOW}Action{part} action_{part.lower()}\n" for part in ("Goal", "Result", "Feedback"))
    types.add({f"{FOLLOW}Action": parts})
    texts = tmp_path / "types.json"
    texts.write_text(json.dumps({f"{FOLLOW}Action": types.full_text(f"{FOLLOW}Action")}))
    core = real.Roscore()
    process = real.pliant(["run", "fr3", "--bridge", "ros1", "--duration", 1200], core.env)
    try:
        core.wait_for("/joint_states")
        found = real.step(core, "ros1_arm_goals_steps.py", texts, GOALS, EXTRA, timeout=500)
    finally:
        process.close()
        core.close()
    assert found["states"] == [[PREEMPTED, 0]] * 2 * EXTRA + [[SUCCEEDED, 0]] * (GOALS - 2 * EXTRA)
    assert found["worst"] < 0.01  # the gains of the vendor hold joint 7 by 50 N m/rad, without integral term
    assert found["feedback"] > 5 * GOALS
    assert found["description"] >= 10
    assert found["parameter"] == 14
