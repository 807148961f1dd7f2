"""Checks of equilibria by the shapes of their rods alone notice what is wrong with them."""

from types import SimpleNamespace

import numpy as np
import pytest

from pliant.base.spatial import exp_so3
from pliant.rods import joint_faults, load_robot, plate_imbalance, round_trip


def test_the_balance_of_the_plate_notices_a_missing_force():
    solution = load_robot("Stewart_Gough_6PFR").home()
    assert plate_imbalance(solution) < 1e-7
    solution.wrench = solution.wrench + np.array([0.1, 0, 0, 0, 0, 0])
    assert plate_imbalance(solution) == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("name", ["Stewart_Gough_6PFF", "Stewart_Gough_6PFR", "Stewart_Gough_6PFS"])
def test_joints_are_closed_and_carry_nothing_about_their_free_axes_until_the_plate_is_moved(name):
    solution = load_robot(name).home()
    assert max(joint_faults(solution)) < 1e-7
    X = solution.plate_pose.copy()
    X[:3, :3] = X[:3, :3] @ exp_so3([0.0, 0.01, 0.0])
    X[0, 3] += 1e-3
    moved = SimpleNamespace(plate_pose=X, robot=solution.robot, centreline=solution.centreline)
    gap, turn, _ = joint_faults(moved)
    assert gap > 5e-4
    assert (turn > 5e-3) == (name != "Stewart_Gough_6PFS")


def test_both_models_agree_along_a_path_until_its_joint_values_are_changed():
    robot = load_robot("3RR")
    home = robot.home()
    poses = home.pose2d + np.linspace(0.0, 1.0, 6)[:, None] * np.array([0.02, 0.01, 0.05])
    path = robot.follow(poses, (0.0, 0.0, 0.0), start=home)
    assert round_trip(path, 4) < 1e-6
