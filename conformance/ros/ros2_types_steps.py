"""What real rclpy does with the types of exported packages. Runs in an interpreter that has them; prints one JSON line.

Usage: ros2_types_steps.py echo SPACE JOINT, goals COUNT EXTRA, franka, moveit CONTROLLER, or control ON OFF
"""

import json
import random
import sys
import threading
import time

import rclpy
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile

LIMIT = 90.0
"""How long anything may take on a machine that has much to do [s]."""
HOME = [0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.785]
CONTROLLER = "/fr3_arm_controller/follow_joint_trajectory"


def until(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.005)


def result(future, what):
    until(future.done, what)
    return future.result()


def echo(node, space, joint):
    """Hear states as StateInfo and call Step."""
    from pliant_msgs.srv import Step
    from std_srvs.srv import Trigger
    from viactors_plugins.msg import StateInfo

    states = []
    node.create_subscription(StateInfo, f"/{space}/{joint}/link_state", states.append, QoSProfile(depth=100))
    until(lambda: len(states) > 50, "states")
    types = dict(node.get_topic_names_and_types())
    pause, step = node.create_client(Trigger, "/pliant/pause"), node.create_client(Step, "/pliant/step")
    assert pause.wait_for_service(LIMIT)
    assert step.wait_for_service(LIMIT)
    result(pause.call_async(Trigger.Request()), "pause")
    said = [result(step.call_async(Step.Request(count=n)), "step") for n in (10, 25)]
    times = [s.time.sec * 10**9 + s.time.nanosec for s in said]
    last = states[-1]
    return {
        "type": types[f"/{space}/{joint}/link_state"],
        "q": last.q,
        "ref_1": last.ref_1,
        "success": [s.success for s in said],
        "stepped": times[1] - times[0],
        "wrong": result(step.call_async(Step.Request(count=0)), "step").message,
    }


def goals(node, count, extra):
    """Send goals; then cancel some, and pre-empt some by the next one."""
    from control_msgs.action import FollowJointTrajectory
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectoryPoint

    last, fed = {}, []
    node.create_subscription(JointState, "/joint_states", lambda m: last.update(zip(m.name, m.position)), 10)
    client = ActionClient(node, FollowJointTrajectory, CONTROLLER)
    assert client.wait_for_server(LIMIT)
    joints, draw = [f"fr3_joint{i}" for i in range(1, 8)], random.Random(3)

    def send():
        target = [q + draw.uniform(-0.3, 0.3) for q in HOME]
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = joints
        point = JointTrajectoryPoint(positions=target, velocities=[0.0] * 7, accelerations=[0.0] * 7)
        point.time_from_start.nanosec = 800_000_000
        goal.trajectory.points = [point]
        handle = result(client.send_goal_async(goal, feedback_callback=fed.append), "goal")
        assert handle.accepted
        return handle, handle.get_result_async(), target

    done, errors, cancelled, preempted = [], [], [], []
    for _ in range(int(count)):
        _, ended, target = send()
        found = result(ended, "the end of a goal")
        done.append([found.status, found.result.error_code])
        until(lambda t=target: max(abs(last.get(j, 9) - q) for j, q in zip(joints, t)) < 0.02, "the arm arrives")
        errors.append(max(abs(last[j] - q) for j, q in zip(joints, target)))
    for _ in range(int(extra)):
        handle, ended, _ = send()
        time.sleep(0.2)
        result(handle.cancel_goal_async(), "cancel")
        cancelled.append(result(ended, "a cancelled goal").status)
    for _ in range(int(extra)):
        _, ended, _ = send()
        time.sleep(0.2)
        _, second, _ = send()
        preempted.append([result(ended, "a pre-empted goal").status, result(second, "the goal after it").status])
    bad = FollowJointTrajectory.Goal()
    bad.trajectory.joint_names = ["elbow"]
    refused = result(client.send_goal_async(bad), "a wrong goal").accepted
    found = {"done": done, "worst": max(errors), "cancelled": cancelled, "preempted": preempted, "refused": refused}
    return {**found, "feedback": len(fed)}


def franka(node):
    """Do what a client of franka_ros2 does: read the state, set a load, home, move and close the hand, recover."""
    from control_msgs.action import GripperCommand
    from control_msgs.msg import GripperCommand as Command
    from franka_msgs.action import ErrorRecovery, Grasp, Homing, Move
    from franka_msgs.msg import FrankaRobotState
    from franka_msgs.srv import SetLoad
    from geometry_msgs.msg import PoseStamped
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState

    states, poses, found = [], [], {}
    broadcaster = "/franka_robot_state_broadcaster"
    node.create_subscription(FrankaRobotState, f"{broadcaster}/robot_state", states.append, qos_profile_sensor_data)
    node.create_subscription(PoseStamped, f"{broadcaster}/current_pose", poses.append, qos_profile_sensor_data)
    until(lambda: states and poses, "the state of the arm")
    state = states[-1]
    found["q"], found["mode"] = list(state.measured_joint_state.position), state.robot_mode
    found["errors"] = state.current_errors.joint_reflex
    found["m_total"] = state.inertia_total.inertia.m
    place, current = state.o_t_ee.pose.position, poses[-1].pose.position
    found["pose"], found["tf"] = [place.x, place.y, place.z], [current.x, current.y, current.z]

    setter = node.create_client(SetLoad, "/service_server/set_load")
    assert setter.wait_for_service(LIMIT)

    def load(mass):
        request = SetLoad.Request(mass=mass, load_inertia=[1e-3, 0.0, 0.0, 0.0, 1e-3, 0.0, 0.0, 0.0, 1e-3])
        answer = result(setter.call_async(request), "SetLoad")
        return [answer.success, answer.error]

    found["load"], found["wrong_load"] = load(0.2), load(-1.0)
    until(lambda: states[-1].inertia_total.inertia.m > 0.8, "the load in the state")
    found["loaded"] = states[-1].inertia_total.inertia.m

    def act(name, kind, **values):
        client = ActionClient(node, kind, name)
        assert client.wait_for_server(LIMIT), name
        handle = result(client.send_goal_async(kind.Goal(**values)), name)
        assert handle.accepted
        return result(handle.get_result_async(), name)

    def hand(name, kind, **values):
        ended = act(f"/franka_gripper/{name}", kind, **values)
        return [ended.status, ended.result.success, ended.result.error]

    fingers = {}
    node.create_subscription(
        JointState, "/franka_gripper/joint_states", lambda m: fingers.update(zip(m.name, m.position)), 10
    )
    found["homing"] = hand("homing", Homing)
    found["move"] = hand("move", Move, width=0.05, speed=0.1)
    until(lambda: len(fingers) == 2 and abs(sum(fingers.values()) - 0.05) < 2e-3, "the fingers' states")
    found["width"] = sum(fingers.values())
    found["wide"] = hand("move", Move, width=0.5, speed=0.1)
    found["nothing"] = hand("grasp", Grasp, width=0.03, speed=0.1, force=20.0)
    ended = act("/franka_gripper/gripper_action", GripperCommand, command=Command(position=0.02, max_effort=0.0))
    found["command"] = [ended.status, ended.result.position, ended.result.reached_goal]
    until(lambda: all(abs(q - 0.02) < 1e-3 for q in fingers.values()), f"the fingers at 0.02 m: {fingers}")
    found["fingers"] = list(fingers.values())
    found["recovery"] = act("/action_server/error_recovery", ErrorRecovery).status
    return found


def timed(joints, start, change, seconds, count=20):
    """Return a trajectory as time parameterisation makes it: it begins where the robot is and ends at rest."""
    from builtin_interfaces.msg import Duration
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    made = JointTrajectory(joint_names=list(joints))
    made.header.frame_id = "world"
    for k in range(count + 1):
        s = k / count
        scales = (10 * s**3 - 15 * s**4 + 6 * s**5, 30 * s**2 - 60 * s**3 + 30 * s**4, 60 * s - 180 * s**2 + 120 * s**3)
        position, velocity, acceleration = (value / seconds**n for n, value in enumerate(scales))
        point = JointTrajectoryPoint(
            positions=[q + position * d for q, d in zip(start, change)],
            velocities=[velocity * d for d in change],
            accelerations=[acceleration * d for d in change],
        )
        at = round(1e9 * s * seconds)
        point.time_from_start = Duration(sec=at // 10**9, nanosec=at % 10**9)
        made.points.append(point)
    return made


def moveit(node, controller):
    """Make the calls of MoveIt's simple controller manager, in its order: state, model, execution, stop."""
    from control_msgs.action import FollowJointTrajectory
    from control_msgs.msg import JointTolerance
    from rclpy.qos import DurabilityPolicy
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String

    last, models, fed = {}, [], []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.create_subscription(String, "/robot_description", lambda m: models.append(m.data), latched)
    node.create_subscription(JointState, "/joint_states", lambda m: last.update(zip(m.name, m.position)), 10)
    client = ActionClient(node, FollowJointTrajectory, f"{controller}/follow_joint_trajectory")
    assert client.wait_for_server(LIMIT)
    until(lambda: models and last, "the model and a state")
    joints = sorted(joint for joint in last if f'name="{joint}"' in models[0] and "finger" not in joint)

    def execute(change, seconds, **tolerances):
        goal = FollowJointTrajectory.Goal()
        goal.trajectory = timed(joints, [last[joint] for joint in joints], [change] * len(joints), seconds)
        for name, value in tolerances.items():
            getattr(goal, name).extend(JointTolerance(name=joint, position=value) for joint in joints)
        goal.goal_time_tolerance.sec = 5
        handle = result(client.send_goal_async(goal, feedback_callback=fed.append), "goal")
        assert handle.accepted
        return handle, handle.get_result_async(), [point.positions for point in goal.trajectory.points][-1]

    def ends(execution):
        found = result(execution[1], "the end of an execution")
        return [found.status, found.result.error_code]

    wide = {"path_tolerance": 0.5, "goal_tolerance": 0.05}
    moved = execute(0.2, 2.0, **wide)
    done = ends(moved)
    until(lambda: all(abs(last[j] - q) < 0.05 for j, q in zip(joints, moved[2])), f"the place of the plan after {done}")
    stopped = execute(-0.2, 4.0, **wide)
    before = len(fed)
    until(lambda: len(fed) > before + 10, "feedback")
    answer = result(stopped[0].cancel_goal_async(), "cancel")
    cancelled = [*ends(stopped), len(answer.goals_canceling)]
    again = ends(execute(-0.1, 2.0, **wide))
    off = ends(execute(0.3, 1.0, path_tolerance=1e-7))
    return {"done": done, "cancelled": cancelled, "again": again, "off": off, "joints": joints, "feedback": len(fed)}


def control(node, on, off):
    """Make the calls of the commands of ros2controlcli: list, switch there and back, list again."""
    from builtin_interfaces.msg import Duration
    from controller_manager_msgs import srv

    def call(name, kind, **values):
        client = node.create_client(getattr(srv, kind), f"/controller_manager/{name}")
        assert client.wait_for_service(LIMIT), name
        return result(client.call_async(getattr(srv, kind).Request(**values)), name)

    def states():
        rows = call("list_controllers", "ListControllers").controller
        return {row.name: [row.type, row.state, list(row.claimed_interfaces)] for row in rows}

    def switch(activate, deactivate):
        said = call(
            "switch_controller", "SwitchController", activate_controllers=activate, deactivate_controllers=deactivate,
            strictness=srv.SwitchController.Request.STRICT if hasattr(srv.SwitchController.Request, "STRICT") else 2,
            activate_asap=False, timeout=Duration(sec=5),
        )  # fmt: skip
        return [said.ok, said.message]

    types = list(call("list_controller_types", "ListControllerTypes").types)
    interfaces = call("list_hardware_interfaces", "ListHardwareInterfaces")
    (component,) = call("list_hardware_components", "ListHardwareComponents").component
    found = {"before": states(), "types": types, "component": [component.type, component.state.label]}
    found["commands"] = {row.name: [row.is_available, row.is_claimed] for row in interfaces.command_interfaces}
    found["states"] = [row.name for row in interfaces.state_interfaces]
    found["switched"], found["between"] = switch([on], [off]), states()
    found["back"], found["after"] = switch([off], [on]), states()
    found["unknown"] = switch(["no_such_controller"], [])
    return found


def main():
    rclpy.init()
    node = rclpy.create_node("planner")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    try:
        steps = {"echo": echo, "goals": goals, "franka": franka, "moveit": moveit, "control": control}
        found = steps[sys.argv[1]](node, *sys.argv[2:])
        print("RESULT " + json.dumps(found), flush=True)
    finally:
        executor.shutdown()
        thread.join()
        rclpy.shutdown()


main()
