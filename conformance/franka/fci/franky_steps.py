"""franky-control against the server: its motions of every kind, stop, recovery, gripper."""

import faulthandler
import sys
import time

import franky
import numpy as np
from steps import Steps

HOST = sys.argv[1]
faulthandler.dump_traceback_later(200, exit=True)
step = Steps()
robot = franky.Robot(HOST, realtime_config=franky.RealtimeConfig.Ignore)
robot.relative_dynamics_factor = 0.3
q0 = np.array(robot.state.q)
Affine, relative = franky.Affine, franky.ReferenceType.Relative


@step
def connect_and_read():
    assert robot.state.robot_mode == franky.RobotMode.Idle
    assert robot.model is not None
    return [round(float(x), 3) for x in robot.state.q]


@step
def setters():
    robot.set_collision_behavior([20.0] * 7, [20.0] * 6)
    robot.set_joint_impedance([3000.0] * 3 + [2500.0] * 2 + [2000.0] * 2)


@step
def model():
    from pliant.franka.robots import dynamics
    from pliant.franka.robots.parameters import FR3, FRANKA_HAND

    state = robot.state
    q = np.array(state.q)
    error = np.abs(np.array(robot.model.gravity(state)).reshape(-1) - dynamics.gravity(q, FRANKA_HAND, arm=FR3)).max()
    assert error < 1e-4, error
    return float(error)


@step
def joint_motion():
    goal = q0 + np.array([0.2, 0.1, 0, 0.2, 0, 0.1, 0.2])
    robot.move(franky.JointMotion(goal.tolist()))
    assert np.allclose(robot.state.q, goal, atol=2e-3)
    robot.move(franky.JointMotion(q0.tolist()))
    assert np.allclose(robot.state.q, q0, atol=2e-3)


@step
def joint_waypoints():
    way = [franky.JointWaypoint((q0 + d).tolist()) for d in (0.1, -0.1, 0.0)]
    robot.move(franky.JointWaypointMotion(way))
    assert np.allclose(robot.state.q, q0, atol=2e-3)


@step
def joint_velocity():
    robot.move(franky.JointVelocityMotion([0.1, 0, 0, 0, 0, 0, -0.2], duration=franky.Duration(500)))
    robot.move(franky.JointVelocityStopMotion())
    assert robot.state.q[0] > q0[0] + 0.02


@step
def cartesian_motion():
    before = np.array(robot.state.O_T_EE.translation)
    robot.move(franky.CartesianMotion(Affine([0.05, 0.03, 0.02]), relative))
    moved = np.linalg.norm(np.array(robot.state.O_T_EE.translation) - before)
    assert abs(moved - np.linalg.norm([0.05, 0.03, 0.02])) < 2e-3, moved


@step
def cartesian_waypoints():
    there, back = Affine([-0.05, 0.02, 0.0]), Affine([0.05, -0.02, 0.0])
    way = [franky.CartesianWaypoint(there, relative), franky.CartesianWaypoint(back, relative)]
    robot.move(franky.CartesianWaypointMotion(way))


@step
def cartesian_velocity():
    robot.move(franky.CartesianVelocityMotion(franky.Twist([0.05, 0, 0], [0, 0, 0.1]), duration=franky.Duration(500)))
    robot.move(franky.CartesianVelocityStopMotion())


def stop():
    """Stop an endless motion; that it was preempted is the answer to expect."""
    text = "preempted"
    robot.stop()
    try:
        robot.join_motion()
    except franky.ControlException as fault:
        text = str(fault)
    assert "preempted" in text, text


@step
def joint_impedance_until_stopped():
    robot.move(franky.JointImpedanceMotion(list(robot.state.q)), asynchronous=True)
    time.sleep(0.3)
    assert robot.state.robot_mode == franky.RobotMode.Move
    stop()


@step
def cartesian_impedance_until_stopped():
    pose = robot.state.O_T_EE
    robot.move(franky.CartesianImpedanceMotion(pose), asynchronous=True)
    time.sleep(0.3)
    assert robot.state.robot_mode == franky.RobotMode.Move
    stop()


@step
def reflex_and_recovery():
    robot.set_collision_behavior([1e-6] * 7, [1e-6] * 6)
    try:
        robot.move(franky.JointMotion((np.array(robot.state.q) + 0.2).tolist()))
    except franky.ControlException as fault:
        text = str(fault)
    else:
        raise AssertionError("no reflex")
    assert "reflex" in text, text
    robot.set_collision_behavior([20.0] * 7, [20.0] * 6)
    assert robot.has_errors
    robot.recover_from_errors()
    time.sleep(0.1)
    robot.move(franky.JointMotion(q0.tolist()))
    return text


@step
def gripper():
    hand = franky.Gripper(HOST)
    assert hand.homing()
    assert hand.move(0.03, 0.1)
    assert abs(hand.width - 0.03) < 2e-3
    assert hand.grasp(0.0, 0.1, 20.0, epsilon_outer=1.0)
    assert hand.is_grasped
    hand.open(0.1)
    return round(hand.width, 3)
