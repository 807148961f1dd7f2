"""The step size of each element of a compliant joint, against simulations of it."""

import mujoco
import numpy as np
import pytest

from pliant.laws import PID, SEA, CompliantActuator, DCMotor, Gear, Mode, PreslidingFriction
from pliant.model.check import step_sizes
from pliant.model.robot import Robot

XML = (
    '<mujoco><option timestep="0.001"/><worldbody><body><joint name="j" axis="0 1 0"/>'
    '<inertial pos="0 0 0" mass="1" diaginertia="10 10 10"/></body></worldbody></mujoco>'
)


def spread(actuator, dt):
    """Return the largest torque in 0.4 s after a small deflection of a held link."""
    steps = round(0.4 / dt)
    q = np.full(steps, 1e-3)
    with np.errstate(all="ignore"):
        torque = actuator.simulate(q, 0.0 * q, 0.0 * q, 0.0 * q, dt).torque
    return float(np.max(np.abs(np.nan_to_num(torque, nan=1e9, posinf=1e9))))


@pytest.mark.parametrize("stiffness", [50.0, 20000.0])
@pytest.mark.parametrize("inertia", [2e-5, 2e-4, 1e-3])
def test_the_mass_after_an_elastic_gear_limits_the_step(stiffness, inertia):
    motor = DCMotor(
        inertia=0.05, damping=0.1, gear=Gear(inertia=inertia, stiffness=stiffness, damping=0.01),
        friction=PreslidingFriction(torque=0.0),
    )  # fmt: skip
    actuator = CompliantActuator(SEA(k=400.0), Mode.PID_REFS, motor, pid_1=PID(kp=20.0, kd=0.5))
    robot = Robot(mujoco.MjSpec.from_string(XML))
    robot.add_actuator("j", actuator)
    for h in (1e-4, 3e-4, 1e-3, 3e-3):
        rows = step_sizes(robot, timestep=h, modes={"j": Mode.PID_REFS})
        row = next(row for row in rows if row.element == "motor_1" and not row.stuck)
        largest = spread(actuator, h)
        if h < 0.9 * row.limit:
            assert largest < 10.0, (h, row.limit)
        if h > 1.1 * row.limit:
            assert largest > 10.0, (h, row.limit)
