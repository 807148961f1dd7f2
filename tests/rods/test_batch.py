"""Batches over poses, robots and parameters, against solving one by one."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.rods import ContinuumParallelRobot, NoEquilibrium, load_robot, solve_batch
from pliant.rods.parameters import with_values
from pliant.rods.variation import with_parameters


def test_rows_with_parameters_are_solved_as_by_robots_with_these_numbers():
    robot = load_robot("Stewart_Gough_6PFR")
    columns = {"base_radius": [0.47, 0.5, 0.55], "length": [1.02, 0.98, 1.0], "plate.mass": [0.1, 0.5, 0.3]}
    poses = [robot.description.home] * 3
    found = robot.solve_batch(poses, parameters=columns, workers=2)
    for k, one in enumerate(found):
        values = {name: column[k] for name, column in columns.items()}
        anew = ContinuumParallelRobot(with_values(robot.description, values))
        assert one.robot.description.plate.mass == columns["plate.mass"][k]
        assert one.q == pytest.approx(anew.solve_igm(poses[k]).q, abs=1e-8)
        assert one.smallest_stiffness == pytest.approx(anew.solve_igm(poses[k]).smallest_stiffness, rel=1e-6)


def test_rows_of_several_robots_come_back_in_their_order():
    robots = [load_robot("3RR"), load_robot("3PR")]
    order = [robots[k] for k in (0, 1, 1, 0)]
    poses = [robot.pose_numbers(robot.description.home) for robot in order]
    found = solve_batch(order, poses, workers=2)
    assert [one.robot.name for one in found] == ["3RR", "3PR", "3PR", "3RR"]
    assert all(one.q == pytest.approx(robot.home().q, abs=1e-7) for one, robot in zip(found, order))


def test_a_large_change_is_made_little_by_little_and_stays_on_its_branch():
    home = load_robot("3RR").home()
    moved = with_parameters(home, {"length": 1.35, "plate_joint.x": 0.03})
    assert moved.stable
    back = with_parameters(moved, {"length": 1.0, "plate_joint.x": home.robot.description.limbs[0].distal.pose[0, 3]})
    assert back.q == pytest.approx(home.q, abs=1e-6)


def test_a_row_that_does_not_reach_its_parameters_gives_the_error():
    robot = load_robot("3RR")
    home = robot.pose_numbers(robot.description.home)
    good, bad = robot.solve_batch([home, home], parameters={"length": [1.0, 0.05]})
    assert good.stable
    assert isinstance(bad, NoEquilibrium)


def test_numbers_of_rows_that_differ_are_named():
    robot = load_robot("3RR")
    home = robot.pose_numbers(robot.description.home)
    with pytest.raises(ModelError, match="parameter 'length' needs a finite number for each of the 2 rows"):
        robot.solve_batch([home, home], parameters={"length": [1.0]})
    with pytest.raises(ModelError, match="2 robots; must be one, or 1"):
        solve_batch([robot, robot], [home])
    assert np.shape(robot.solve_batch([])) == (0,)
