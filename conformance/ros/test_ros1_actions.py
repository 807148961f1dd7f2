"""actionlib's own SimpleActionClient follows trajectories with qb_move's controllers."""

import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from pliant.ros.wire.types import Registry

sys.path.insert(0, str(Path(__file__).parent))
import real

ACTION = "control_msgs/FollowJointTrajectory"
CONTROLLER = "/toBEassigned/joint/control/joint_motor_positions_trajectory_controller"
PREEMPTED, SUCCEEDED, ABORTED, REJECTED = 2, 3, 4, 5

pytestmark = [
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.skipif(real.rospy_python() is None, reason=f"no interpreter has rospy; type: {real.INSTALL}"),
    pytest.mark.skipif(
        not Path("/usr/lib/python3/dist-packages/actionlib").exists(), reason=f"no actionlib; type: {real.INSTALL}"
    ),
]


def test_a_simple_action_client_of_actionlib_is_served(tmp_path):
    types = Registry(1)
    parts = "".join(f"{ACTION}Action{part} action_{part.lower()}\n" for part in ("Goal", "Result", "Feedback"))
    types.add({f"{ACTION}Action": parts})
    names = [f"{ACTION}Action", "control_msgs/JointTrajectoryControllerState"]
    texts = tmp_path / "types.json"
    texts.write_text(json.dumps({"messages": {name: types.full_text(name) for name in names}}))
    core = real.Roscore()
    process = real.pliant(["run", real.JOINT, "--bridge", "ros1", "--duration", 300, "--no-check"], core.env)
    try:
        status = f"{CONTROLLER}/follow_joint_trajectory/status"
        core.wait_for(status)
        found = real.step(core, "ros1_action_steps.py", CONTROLLER, texts)
    finally:
        process.close()
        core.close()
    # the sums that the package control_msgs has
    assert found["sums"] == dict(zip(names, ["bc4f9b743838566551c0390c65f1a248", "10817c60c2486ef6b33e97dcd87f4474"]))
    assert found["server"]
    assert found["reached"][:3] == [SUCCEEDED, 0, ""]
    assert found["cancelled"][0] == PREEMPTED
    assert found["joints"][:2] == [REJECTED, -2]
    assert "joint_names are ['elbow', 'wrist']" in found["joints"][2]
    assert found["path"][:2] == [ABORTED, -4]
    assert "position error" in found["path"][2]
    assert found["preempted"][0] == PREEMPTED
    assert "took its place" in found["preempted"][3]
    assert found["second"] == SUCCEEDED
    # one at once, then at 20 Hz of simulation time, ending at the goal
    stamps = [stamp for stamp, *_ in found["feedback"]]
    assert len(stamps) >= 9
    assert all(b - a == pytest.approx(0.05) for a, b in pairwise(stamps[1:]))
    assert found["feedback"][-1][1] == pytest.approx([0.4, 0.1], abs=0.04)
    assert found["feedback"][-1][2] == pytest.approx(found["feedback"][-1][1], abs=0.05)
    assert found["names"] == ["joint_motor_1_joint", "joint_motor_2_joint"]
    assert {b - a for a, b in pairwise(found["state_stamps"])} == {20_000_000}
    assert {b - a for a, b in pairwise(found["state_seqs"])} == {1}
