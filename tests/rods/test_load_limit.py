"""Loads up to the loss of stability: Euler's column, and a robot that carries until a stiffness vanishes."""

import math

import numpy as np
import pytest

from pliant.base.spatial import pose
from pliant.rods import (
    ContinuumParallelRobot,
    DistalJoint,
    Limb,
    RobotDescription,
    Rod,
    Round,
    critical_load,
    load_robot,
    load_until_unstable,
)

DOWN = (0.0, 0.0, -1.0, 0.0, 0.0, 0.0)


def test_a_column_buckles_at_eulers_load():
    rod = Rod(length=1.0, section=Round(radius=1e-3), young_modulus=200e9, shear_modulus=80e9, density=0.0)
    limb = Limb(rod=rod, distal=DistalJoint(kind="fixed"))
    column = RobotDescription(name="column", limbs=(limb,), gravity=(0.0, 0.0, 0.0), home=pose((0.0, 0.0, 1.0)))
    load, index = critical_load(ContinuumParallelRobot(column), np.zeros(0), DOWN, 0.2, 0.6)
    assert load == pytest.approx(math.pi**2 * 200e9 * math.pi * 1e-12 / 16.0, rel=2e-3)
    assert index == 2


def test_a_robot_carries_until_a_stiffness_vanishes_and_no_more_than_it_is_asked_for():
    home = load_robot("Stewart_Gough_6PFR").home()
    loads, found = load_until_unstable(home, DOWN, 40.0)
    assert len(loads) == len(found)
    assert all(np.diff(loads) > 0.0)
    assert all(s.morse_index == 0 for s in found)
    assert found[-1].smallest_stiffness < 0.01 * home.smallest_stiffness
    few, _ = load_until_unstable(home, DOWN, 0.5)
    assert few.tolist() == [0.0, 0.25, 0.5]
