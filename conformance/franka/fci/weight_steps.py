"""pylibfranka with a weight on the hand that nobody has announced: motions that start where the arm is measured to be.

Since libfranka 0.13.5 the vendor's examples start from q and O_T_EE; the library's low-pass, which starts from the
published q_d and O_T_EE_c, is applied to the commands as its callbacks do.
"""

import faulthandler
import sys

import numpy as np
import pylibfranka as f
from steps import Steps

faulthandler.dump_traceback_later(200, exit=True)
step = Steps()
JOINT = f.ControllerMode.JointImpedance
GAIN = 1e-3 / (1e-3 + 1.0 / (2.0 * np.pi * 100.0))
robot = f.Robot(sys.argv[1], f.RealtimeConfig.kIgnore)
robot.set_collision_behavior([20.0] * 7, [20.0] * 7, [20.0] * 6, [20.0] * 6)
for _ in range(1500):  # the arm sinks into its springs
    state = robot.read_once()
SAG = float(np.abs(np.subtract(state.q, state.q_d)).max())


def run(control, make, seconds):
    t, start = 0.0, None
    while t < seconds:
        state, period = control.readOnce()
        start = state if start is None else start
        t += period.to_sec()
        given = make(start, state, t)
        given.motion_finished = t >= seconds
        control.writeOnce(given)
    return {"sag": SAG}


@step
def the_arm_sags():
    assert SAG > 1e-4
    return SAG


@step
def generate_joint_position_motion():
    def make(start, state, t):
        q = np.array(start.q)
        q[[3, 4, 6]] += np.pi / 8 * (1 - np.cos(np.pi / 2.5 * t))
        return f.JointPositions((GAIN * q + (1 - GAIN) * np.array(state.q_d)).tolist())

    return run(robot.start_joint_position_control(JOINT), make, 5.0)


@step
def generate_cartesian_pose_motion():
    def make(start, state, t):
        T = np.array(start.O_T_EE)
        angle = np.pi / 4 * (1 - np.cos(np.pi / 5 * t))
        T[12] += 0.3 * np.sin(angle)
        T[14] += 0.3 * (np.cos(angle) - 1)
        T[12:15] = GAIN * T[12:15] + (1 - GAIN) * np.array(state.O_T_EE_c[12:15])
        return f.CartesianPose(T.tolist())

    return run(robot.start_cartesian_pose_control(JOINT), make, 10.0)
