"""What actionlib's client does with the trajectory controller of a Franka arm. Prints one JSON line.

Usage: ros1_arm_goals_steps.py TYPES COUNT EXTRA; TYPES is a file of JSON, type -> full definition. Of the goals the
first EXTRA are cancelled, as many are pre-empted by the goal after them, the others are waited for.
"""

import json
import random
import sys
from pathlib import Path

import actionlib
import genpy.dynamic
import rospy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

ACTION = "control_msgs/FollowJointTrajectory"
CONTROLLER = "/position_joint_trajectory_controller/follow_joint_trajectory"
HOME = [0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.785]


def main():
    texts, count, extra = json.loads(Path(sys.argv[1]).read_text()), int(sys.argv[2]), int(sys.argv[3])
    kinds = {}
    for name, text in texts.items():
        kinds.update(genpy.dynamic.generate_dynamic(name, text))
    Goal, Point = kinds[f"{ACTION}Goal"], kinds["trajectory_msgs/JointTrajectoryPoint"]
    rospy.init_node("planner", anonymous=True, disable_signals=True)
    last = {}
    rospy.Subscriber("/joint_states", JointState, lambda m: last.update(zip(m.name, m.position)))
    joints = [f"fr3_joint{i}" for i in range(1, 8)]
    found = {"description": rospy.wait_for_message("/robot_description", String, 60).data.count("file://")}
    found["parameter"] = rospy.get_param("/robot_description").count("<link")
    client = actionlib.SimpleActionClient(CONTROLLER, kinds[f"{ACTION}Action"])
    assert client.wait_for_server(rospy.Duration(60))
    draw = random.Random(3)

    def goal():
        target = [q + draw.uniform(-0.3, 0.3) for q in HOME]
        made, point = Goal(), Point()
        made.trajectory.joint_names = joints
        point.positions, point.velocities, point.accelerations = target, [0.0] * 7, [0.0] * 7
        point.time_from_start = rospy.Duration(0.8)
        made.trajectory.points = [point]
        return made, target

    states, errors, fed = [], [], []
    for k in range(count):
        made, target = goal()
        active = []
        client.send_goal(made, active_cb=lambda a=active: a.append(1), feedback_cb=fed.append)
        if k < 2 * extra:
            while not active:
                rospy.sleep(0.005)
            rospy.sleep(0.1)
        if k < extra:
            client.cancel_goal()
        if extra <= k < 2 * extra:
            second = actionlib.SimpleActionClient(CONTROLLER, kinds[f"{ACTION}Action"])
            assert second.wait_for_server(rospy.Duration(60))
            second.send_goal(goal()[0])
            assert second.wait_for_result(rospy.Duration(60))
        assert client.wait_for_result(rospy.Duration(60))
        states.append([client.get_state(), client.get_result().error_code])
        if k >= 2 * extra:
            rospy.sleep(0.4)
            errors.append(max(abs(last[j] - q) for j, q in zip(joints, target)))
    found["states"], found["worst"], found["feedback"] = states, max(errors), len(fed)
    print("RESULT " + json.dumps(found), flush=True)


main()
