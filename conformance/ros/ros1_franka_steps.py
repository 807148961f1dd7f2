"""What real rospy and actionlib do with a Franka arm by the names of franka_ros. Prints one JSON line.

Usage: ros1_franka_steps.py TYPES; TYPES is a file of JSON: full definitions of messages, and of services by part.
"""

import json
import sys
from pathlib import Path

import actionlib
import genpy.dynamic
import rospy
from sensor_msgs.msg import JointState


def service(name, made, md5sum):
    """Return a service class as genpy would generate it."""
    kind = name.partition("/")[2]
    parts = {"_request_class": made[f"{name}Request"], "_response_class": made[f"{name}Response"]}
    return type(kind, (), {"_type": name, "_md5sum": md5sum, **parts})


def main():
    texts = json.loads(Path(sys.argv[1]).read_text())
    kinds = {}
    for name, text in texts["messages"].items():
        kinds.update(genpy.dynamic.generate_dynamic(name, text))
    rospy.init_node("user", anonymous=True, disable_signals=True)
    found = {"sums": {name: kinds[name]._md5sum for name in texts["messages"]}}

    state = rospy.wait_for_message("/franka_state_controller/franka_states", kinds["franka_msgs/FrankaState"], 60)
    found["q"], found["mode"] = list(state.q), state.robot_mode
    found["m_total"], found["errors"] = state.m_total, state.current_errors.joint_reflex
    joints = rospy.wait_for_message("/franka_gripper/joint_states", JointState, 60)
    found["fingers"] = joints.name

    def call(name, kind, **values):
        rospy.wait_for_service(name, 60)
        made = service(kind, kinds, texts["services"][kind])
        answer = rospy.ServiceProxy(name, made)(made._request_class(**values))
        return [answer.success, answer.error]

    load = {"F_x_center_load": [0.0] * 3, "load_inertia": [1e-3, 0, 0, 0, 1e-3, 0, 0, 0, 1e-3]}
    found["load"] = call("/franka_control/set_load", "franka_msgs/SetLoad", mass=0.2, **load)
    found["wrong_load"] = call("/franka_control/set_load", "franka_msgs/SetLoad", mass=-1.0, **load)

    def act(name, kind, **values):
        client = actionlib.SimpleActionClient(name, kinds[f"{kind}Action"])
        assert client.wait_for_server(rospy.Duration(60)), name
        client.send_goal(kinds[f"{kind}Goal"](**values))
        assert client.wait_for_result(rospy.Duration(60)), name
        return client.get_state(), client.get_result()

    found["homing"] = act("/franka_gripper/homing", "franka_gripper/Homing")[0]
    done, result = act("/franka_gripper/move", "franka_gripper/Move", width=0.05, speed=0.1)
    found["move"] = [done, result.success, result.error]
    done, result = act("/franka_gripper/move", "franka_gripper/Move", width=0.5, speed=0.1)
    found["wide"] = [done, result.success, result.error]
    epsilon = kinds["franka_gripper/GraspEpsilon"](inner=0.005, outer=0.005)
    done, result = act(
        "/franka_gripper/grasp", "franka_gripper/Grasp", width=0.03, epsilon=epsilon, speed=0.1, force=20.0
    )
    found["nothing"] = [done, result.success, result.error]
    command = kinds["control_msgs/GripperCommand"](position=0.02, max_effort=0.0)
    done, result = act("/franka_gripper/gripper_action", "control_msgs/GripperCommand", command=command)
    found["command"] = [done, result.position, result.reached_goal]
    found["recovery"] = act("/franka_control/error_recovery", "franka_msgs/ErrorRecovery")[0]
    print("RESULT " + json.dumps(found), flush=True)


main()
