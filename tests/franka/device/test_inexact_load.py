"""What an inexact payload does under zero torques; docs/limitations.md says these numbers.

`FrankaRobot.simulated` has no static friction by default: the weight that the controller does not know accelerates the
arm.
"""

from pathlib import Path

import numpy as np
import pytest

from pliant.franka.client import FrankaRobot
from pliant.franka.device.parameters import Payload
from pliant.franka.robots.parameters import FR3

MASS = 1.0
TEXT = (Path(__file__).resolve().parents[3] / "docs" / "limitations.md").read_text()


def moved(offset, seconds, announced=MASS, arm="fr3"):
    """Float with a load of 1 kg whose centre of mass is announced with an offset along x; return the motion [rad]."""
    I = tuple((1e-3 * np.eye(3)).reshape(-1))
    load = Payload(mass=MASS, center_of_mass=(0.0, 0.0, 0.05), inertia=I)
    with FrankaRobot.simulated(arm, load=load) as robot:
        robot.backend.device.request("set_load", mass=announced, F_x_Cload=(offset, 0.0, 0.05), I_load=I)
        robot.backend.simulation.step(1500)
        start = robot.get_position()
        robot.set_robot_state("force_torque")
        most = np.zeros(7)
        for _ in range(round(1000 * seconds)):
            robot.set_force_torque("joint", np.zeros(7))
            most = np.maximum(most, np.abs(robot.get_position() - start))
        return float(most.max())


@pytest.mark.parametrize(
    ("offset", "announced", "seconds", "wanted", "words"),
    [
        (0.001, 1.0, 1, 0.0706, "with 1 mm by 0.07 rad in the first second"),
        (0.001, 1.0, 2, 0.2995, "and 0.30 rad in two"),
        (0.005, 1.0, 1, 0.3782, "5 mm by 0.38 rad in the first second"),
        (0.010, 1.0, 1, 0.8145, "with 10 mm by 0.81 rad"),
        (0.000, 1.05, 1, 0.1021, "with 1.05 kg announced instead of 1 kg by 0.10 rad"),
    ],
)
def test_an_inexact_load_moves_the_arm_by_what_the_limitations_say(offset, announced, seconds, wanted, words):
    assert moved(offset, seconds, announced) == pytest.approx(wanted, rel=0.02)
    assert words in " ".join(TEXT.split())


def test_an_exact_load_does_not_move_the_arm():
    assert moved(0.0, 5.0) < 5e-6  # measured 3.1e-6
    assert "drifts by 3e-6 rad in five seconds" in " ".join(TEXT.split())


def test_the_friction_that_would_hold_a_real_arm_is_larger_than_the_torque_of_these_errors():
    # the Coulomb part of the identified curve, which the limitations quote as 0.2 to 0.7 N m
    dq = 10.0
    a, b, c = np.asarray(FR3.friction).reshape(7, 3).T
    coulomb = 0.5 * (a / (1.0 + np.exp(-b * (dq + c))) - a / (1.0 + np.exp(b * (dq - c))))
    assert 0.15 < coulomb.min() < coulomb.max() < 0.75
    assert coulomb.min() > MASS * 9.81 * 0.01
