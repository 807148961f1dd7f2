"""What actionlib's own SimpleActionClient does with qb_move's controllers. Runs in the interpreter that has rospy.

Usage: ros1_action_steps.py CONTROLLER TYPES; TYPES is a file of JSON, type -> full definition. Prints one JSON line.
"""

import json
import sys
from pathlib import Path

import actionlib
import genpy.dynamic
import rospy
from rosgraph_msgs.msg import Clock

ACTION = "control_msgs/FollowJointTrajectory"


def main():
    controller, path = sys.argv[1:3]
    texts = json.loads(Path(path).read_text())
    kinds = {}
    for name, text in texts["messages"].items():
        kinds.update(genpy.dynamic.generate_dynamic(name, text))
    Action = kinds[f"{ACTION}Action"]
    Goal = kinds[f"{ACTION}Goal"]
    Point = kinds["trajectory_msgs/JointTrajectoryPoint"]
    Tolerance = kinds["control_msgs/JointTolerance"]
    State = kinds["control_msgs/JointTrajectoryControllerState"]
    rospy.init_node("actor", anonymous=True, disable_signals=True)
    joints = ["joint_motor_1_joint", "joint_motor_2_joint"]

    def goal(*points, names=joints, loose=True):
        made = Goal()
        made.trajectory.joint_names = names
        for at, positions in points:
            point = Point()
            point.positions, point.time_from_start = positions, rospy.Duration(at)
            made.trajectory.points.append(point)
        if loose:
            made.path_tolerance = [Tolerance(name=joint, position=-1.0) for joint in joints]
        return made

    states = []
    rospy.Subscriber(f"{controller}/state", State, states.append, queue_size=1000)
    client = actionlib.SimpleActionClient(f"{controller}/follow_joint_trajectory", Action)
    found = {"sums": {k: kinds[k]._md5sum for k in texts["messages"]}}
    found["server"] = client.wait_for_server(rospy.Duration(60))

    fed = []

    def outcome():
        assert client.wait_for_result(rospy.Duration(60))
        result = client.get_result()
        return [client.get_state(), result.error_code, result.error_string, client.get_goal_status_text()]

    client.send_goal(goal((0.2, [0.2, 0.1]), (0.5, [0.4, 0.1])), feedback_cb=fed.append)
    found["reached"] = outcome()
    found["feedback"] = [[f.header.stamp.to_sec(), list(f.desired.positions), list(f.actual.positions)] for f in fed]
    found["names"] = list(fed[0].joint_names)

    active = []
    client.send_goal(goal((20.0, [0.0, 0.0])), active_cb=lambda: active.append(1))
    while not active:
        rospy.sleep(0.01)
    client.cancel_goal()
    found["cancelled"] = outcome()

    client.send_goal(goal((0.5, [0.0, 0.0]), names=["elbow", "wrist"]))
    found["joints"] = outcome()
    client.send_goal(goal((0.05, [0.9, 0.9]), loose=False))
    found["path"] = outcome()

    # A second client takes over; the first hears that it was preempted.
    second = actionlib.SimpleActionClient(f"{controller}/follow_joint_trajectory", Action)
    second.wait_for_server(rospy.Duration(60))
    client.send_goal(goal((20.0, [0.0, 0.0])))
    rospy.sleep(0.2)
    second.send_goal(goal((0.3, [0.2, 0.2])))
    found["preempted"] = outcome()
    assert second.wait_for_result(rospy.Duration(60))
    found["second"] = second.get_state()
    found["state_stamps"] = [s.header.stamp.to_nsec() for s in states]
    found["state_seqs"] = [s.header.seq for s in states]
    found["clock"] = rospy.wait_for_message("/clock", Clock, 60).clock.to_sec()
    print("RESULT " + json.dumps(found), flush=True)
    rospy.signal_shutdown("done")


if __name__ == "__main__":
    main()
