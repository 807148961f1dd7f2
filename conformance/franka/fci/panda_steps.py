"""panda-python (protocol version 5) against the server: motions, controllers, model library, recovery, gripper."""

import faulthandler
import sys
import time

import numpy as np
import panda_py
from panda_py import controllers, libfranka
from steps import Steps

HOST = sys.argv[1]
faulthandler.dump_traceback_later(200, exit=True)
step = Steps()
panda = panda_py.Panda(HOST)


def settle(seconds=0.3):
    time.sleep(seconds)


@step
def connect_and_read():
    assert panda.get_state().robot_mode == libfranka.RobotMode.kIdle
    return [round(float(x), 3) for x in panda.q]


@step
def setters():
    robot = panda.get_robot()
    robot.set_collision_behavior([20.0] * 7, [20.0] * 7, [20.0] * 6, [20.0] * 6)
    robot.set_joint_impedance([3000.0] * 7)
    robot.set_load(0.0, [0.0] * 3, [0.0] * 9)


@step
def model():
    from pliant.franka.robots import dynamics, kinematics
    from pliant.franka.robots.parameters import FRANKA_HAND

    served, state = panda.get_model(), panda.get_state()
    q = np.array(state.q)
    J = np.reshape(served.zero_jacobian(libfranka.Frame.kEndEffector, state), (6, 7), order="F")
    errors = {
        "mass": np.abs(np.reshape(served.mass(state), (7, 7)) - dynamics.mass(q, FRANKA_HAND)).max(),
        "gravity": np.abs(np.array(served.gravity(state)) - dynamics.gravity(q, FRANKA_HAND)).max(),
        "jacobian": np.abs(J - kinematics.jacobian(q)).max(),
    }
    assert max(errors.values()) < 1e-9, errors
    return {name: float(value) for name, value in errors.items()}


@step
def move_to_start():
    assert panda.move_to_start()
    assert np.allclose(panda.q, [0, -np.pi / 4, 0, -3 * np.pi / 4, 0, np.pi / 2, np.pi / 4], atol=5e-3)


@step
def move_to_joint_position():
    goal = np.add(panda.q, [0.3, 0.1, -0.1, 0.1, 0.1, 0.1, -0.3])
    assert panda.move_to_joint_position(goal)
    assert np.allclose(panda.q, goal, atol=5e-3)


@step
def move_to_pose():
    T = np.array(panda.get_pose())
    T[:3, 3] += [0.05, 0.05, -0.05]
    assert panda.move_to_pose(T)
    error = np.abs(panda.get_position() - T[:3, 3]).max()
    assert error < 0.01, error
    return float(error)


def hold(controller, act, seconds=1.0):
    panda.start_controller(controller)
    with panda.create_context(frequency=200, max_runtime=seconds) as context:
        while context.ok():
            act(controller, context)
    panda.stop_controller()
    panda.raise_error()


@step
def integrated_velocity():
    before = np.array(panda.q)
    hold(controllers.IntegratedVelocity(), lambda c, _: c.set_control(np.array([0.2, 0, 0, 0, 0, 0, 0.2])))
    moved = np.array(panda.q) - before
    assert moved[0] > 0.05, moved
    return [round(float(x), 3) for x in moved]


@step
def cartesian_impedance():
    x, o = panda.get_position(), panda.get_orientation()
    hold(controllers.CartesianImpedance(), lambda c, _: c.set_control(x, o))
    assert np.allclose(panda.get_position(), x, atol=5e-3)


@step
def applied_torque():
    hold(controllers.AppliedTorque(), lambda c, _: c.set_control(np.zeros(7)), 0.5)


@step
def joint_position():
    q = np.array(panda.q)
    hold(controllers.JointPosition(), lambda c, _: c.set_control(q))
    assert np.allclose(panda.q, q, atol=5e-3)


@step
def applied_force():
    hold(controllers.AppliedForce(), lambda c, _: c.set_control(np.zeros(6)), 0.5)


@step
def reflex_and_recovery():
    robot = panda.get_robot()
    robot.set_collision_behavior([1e-6] * 7, [1e-6] * 7, [1e-6] * 6, [1e-6] * 6)
    goal = np.array(panda.q)
    goal[0] -= 0.3
    assert not panda.move_to_joint_position(goal)
    for _ in range(150):
        # the socket still holds older states
        state = robot.read_once()
    assert state.robot_mode == libfranka.RobotMode.kReflex
    text = str(state.current_errors)
    robot.set_collision_behavior([20.0] * 7, [20.0] * 7, [20.0] * 6, [20.0] * 6)
    panda.recover()
    settle()
    assert panda.move_to_joint_position(goal)
    return text


@step
def gripper():
    hand = libfranka.Gripper(HOST)
    assert hand.homing()
    assert hand.move(0.04, 0.1)
    for _ in range(20):
        state = hand.read_once()
    assert abs(state.width - 0.04) < 2e-3
    assert hand.grasp(0.0, 0.1, 20.0, 0.05, 0.05)
    assert hand.stop()
    return round(state.width, 4)
