"""Paths solved with a prediction and one Newton step a row, against rows that are solved one by one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.branch_problems import refined_residual

from pliant.base.spatial import exp_so3
from pliant.rods import load_robot
from pliant.rods.kernels import layout


def circle(robot, rows, radius=0.02):
    home = robot.description.home
    poses = []
    for a in np.linspace(0.0, 2.0, rows):
        X = home.copy()
        X[:2, 3] += radius * (np.cos(a) - 1.0), radius * np.sin(a)
        turn = [0.0, 0.0, 0.05 * a] if robot.planar else [0.03 * a, 0.02 * a, 0.04 * a]
        X[:3, :3] = exp_so3(turn) @ X[:3, :3]
        poses.append(X)
    return poses


@pytest.mark.parametrize("name", ["Stewart_Gough_6PFR", "Stewart_Gough_6EFR", "3RR", "3PFR_spatial"])
def test_a_path_in_both_models_has_the_solutions_of_its_rows_solved_one_by_one(name):
    robot = load_robot(name)
    wrenches = np.zeros((60, 3 if robot.planar else 6))
    wrenches[:, 0] = np.linspace(0.0, 0.05, 60)
    path = robot.follow(circle(robot, 60), wrenches)
    for row in (1, 2, 30, 59):
        again = (
            robot.solve_igm(path[row].plate_pose, wrenches[row], start=path[row]) if name != "3PFR_spatial" else None
        )
        if again is not None:
            assert path[row].q == pytest.approx(again.q, abs=1e-8)
        held = path[row]
        residual = refined_residual(held, path._steps)
        assert residual < 2e-8
        assert residual <= held.residual + 1e-9
    back = robot.follow(path.q, wrenches, inverse=False, start=path[0])
    assert np.abs(back.plate_poses - path.plate_poses).max() < 1e-6


def test_rows_near_each_other_share_derivatives_and_take_one_newton_step_and_rows_far_apart_more():
    robot = load_robot("Stewart_Gough_6PFR")
    near, far = robot.follow(circle(robot, 400), one_step=True), robot.follow(circle(robot, 5))
    assert np.median(near.iterations[5:]) == 1
    assert near.iterations[5:].max() <= 2
    assert near._rows.report[5:, layout.INTEGRATIONS].sum() < 0.2 * len(near)
    assert far.iterations[1:].min() >= 2


def test_the_residual_of_a_row_that_was_not_integrated_again_is_estimated_from_above():
    robot = load_robot("Stewart_Gough_6PFR")
    path = robot.follow(circle(robot, 300), one_step=True)
    assert path.residual.max() < 1e-8
    for row in range(100, 200):  # with old derivatives and new ones
        exact = refined_residual(path[row], path._steps)
        assert exact <= path.residual[row] + 1e-11


def test_margins_are_written_only_where_they_are_asked():
    robot = load_robot("3RR")
    quick, safe = robot.follow(circle(robot, 40), one_step=True), robot.follow(circle(robot, 40))
    assert np.all(quick._rows.report[1:, layout.MARGIN] == layout.NO_MARGIN)
    assert np.all(safe._rows.report[1:, layout.MARGIN] > 0.0)
    assert quick.q == pytest.approx(safe.q, abs=1e-9)


@pytest.mark.parametrize("name", ["Stewart_Gough_6PFR", "3RR", "3PFR_spatial"])
@pytest.mark.parametrize("inverse", [True, False], ids=["poses", "joints"])
def test_rows_that_are_far_apart_have_rigid_poses_and_the_solutions_of_their_rows(name, inverse):
    robot = load_robot(name)
    home, rng = robot.home(), np.random.default_rng(0)
    joints = home.q + rng.uniform(-0.03, 0.03, (8, len(home.q)))
    alone = [robot.solve_dgm(q) for q in joints]
    rows = [s.pose2d if robot.planar else s.plate_pose for s in alone] if inverse else list(joints)
    found = robot.follow(rows, inverse=inverse)
    for one, expected in zip(found, alone):
        R = one.plate_pose[:3, :3]
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(one.q, expected.q, atol=1e-6)
        np.testing.assert_allclose(one.plate_pose, expected.plate_pose, atol=1e-6)
