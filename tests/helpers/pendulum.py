"""A pendulum for compliant actuators, their laws, and smooth references of every mode."""

import numpy as np

from pliant.laws import BAVS, SEA, AwAS2, Mode, QbMove
from pliant.spring_tables import TableSEA

LAWS = {"sea": SEA(k=40.0), "qbmove": QbMove(), "bavs": BAVS(), "awas_ii": AwAS2(), "sea_table": TableSEA()}
PERIOD = 0.4

PENDULUM = """<mujoco><option timestep="{dt}" integrator="implicitfast"/><worldbody><body name="link">
<joint name="joint" axis="0 1 0" damping="0.01"/>
<inertial pos="0 0 -0.1" mass="0.3" diaginertia="0.01 0.01 0.001"/></body></worldbody></mujoco>"""


def references(law, mode, t):
    """Smooth references, one period."""
    lever, two = law.second_input == "lever", law.motors == 2
    sine, rise = np.sin(2.0 * np.pi * t / PERIOD), 0.5 * (1.0 - np.cos(2.0 * np.pi * t / PERIOD))
    if mode == Mode.LINK_TORQUE:
        return 0.4 * sine, 0.0 * t
    if mode == Mode.LINK_PID:
        return 0.6 * rise, 0.0 * t
    if mode == Mode.MOTOR_TORQUES:
        return sine, 60.0 * sine if lever else 0.6 * rise
    if mode in (Mode.SPRING_REFS, Mode.PID_REFS) and two:
        return 0.6 * rise + 0.05, 0.01 + 0.004 * sine if lever else 0.4 * rise - 0.05
    return 0.6 * rise, 0.01 + 0.003 * sine if lever else 0.1 + 0.08 * sine
