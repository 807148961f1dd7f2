"""One arm of two: a joint motion of three seconds through pylibfranka."""

import faulthandler
import sys

import numpy as np
import pylibfranka as f
from steps import Steps

faulthandler.dump_traceback_later(200, exit=True)
step = Steps()
robot = f.Robot(sys.argv[1], f.RealtimeConfig.kIgnore)


@step
def swing():
    control = robot.start_joint_position_control(f.ControllerMode.JointImpedance)
    t, start, lowest = 0.0, None, 1.0
    while t < 3.0:
        state, period = control.readOnce()
        t += period.to_sec()
        lowest = min(lowest, state.control_command_success_rate)
        if start is None:
            start = np.array(state.q_d)
        q = start.copy()
        q[3] += 0.2 * (1 - np.cos(2 * np.pi / 3.0 * t))
        given = f.JointPositions(q.tolist())
        given.motion_finished = t >= 3.0
        control.writeOnce(given)
    assert lowest == 1.0
    return round(float(np.abs(np.array(state.q) - start).max()), 6)
