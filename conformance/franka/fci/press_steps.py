"""The control law of the vendor's force_control program, through pylibfranka: press on a surface below the flange.

The program renders the weight of a mass along z by a proportional and integral law on the measured external torques,
and ends itself where the arm moves by more than 10 mm from its start.
"""

import faulthandler
import sys

import numpy as np
import pylibfranka as f
from steps import Steps

faulthandler.dump_traceback_later(200, exit=True)
step = Steps()
MASS, K_P, K_I, FILTER = 1.0, 1.0, 2.0, 0.001
robot = f.Robot(sys.argv[1], f.RealtimeConfig.kIgnore)
robot.set_collision_behavior([100.0] * 7, [100.0] * 7, [100.0] * 6, [100.0] * 6)
model = robot.load_model()


@step
def the_weight_of_a_kilogram_is_pressed_on_the_surface():
    start = robot.read_once()
    bias = np.array(start.tau_J) - np.array(model.gravity(start))
    place = np.array(start.O_T_EE[12:15])
    control = robot.start_torque_control()
    t, desired, integral = 0.0, 0.0, np.zeros(7)
    while t < 8.0:
        state, period = control.readOnce()
        t += period.to_sec()
        moved = float(np.linalg.norm(np.array(state.O_T_EE[12:15]) - place))
        assert moved <= 0.01, f"too far away from the starting pose: {moved} m"
        external = np.array(state.tau_J) - np.array(model.gravity(state)) - bias
        jacobian = np.reshape(model.zero_jacobian(state), (7, 6)).T
        wanted = jacobian.T @ np.array([0.0, 0.0, -9.81 * desired, 0.0, 0.0, 0.0])
        integral += period.to_sec() * K_I * (wanted - external)
        desired = FILTER * MASS + (1.0 - FILTER) * desired
        command = f.Torques((wanted + K_P * (wanted - external) + integral).tolist())
        command.motion_finished = t >= 8.0
        control.writeOnce(command)
    return {"force": float(state.O_F_ext_hat_K[2]), "moved": moved}
