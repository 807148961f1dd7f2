"""Equilibria of parallel robots as poses that are drawn: rods, plate and bases stand where the statics has them."""

import mujoco
import numpy as np
import pytest

from pliant.model.scene import find_root
from pliant.parallel.model import draw_solutions
from pliant.rods import load_robot
from pliant.rods.model.rod_lines import RodLines, has_rods


@pytest.fixture(scope="module", params=["3ER", "Stewart_Gough_6PFR"])
def path(request):
    """Three equilibria: of a planar robot whose rods extend, and of a hexapod on slides."""
    robot = load_robot(request.param)
    home = robot.home()
    steps = 0.03 * np.linspace(-1.0, 1.0, len(home.q))
    return [robot.solve_dgm(home.q + share * steps, start=home) for share in (0.0, 0.5, 1.0)]


def test_the_drawn_rods_and_the_plate_are_those_of_the_statics(path):
    model, poses = draw_solutions(path)
    assert has_rods(model)
    data = mujoco.MjData(model)
    lines = RodLines(model, data, 41)
    for solution, pose in zip(path, poses, strict=True):
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        expected = np.array([line.position for line in solution.centrelines(41)])
        # Ends of rods that extend are drawn with the largest length on the path.
        assert np.abs(lines() - expected).max() < 1e-3
        assert np.abs(lines()[:, 4:-4] - expected[:, 4:-4]).max() < 2e-4
        plate = data.body("plate")
        assert np.allclose(plate.xpos, solution.plate_pose[:3, 3], atol=1e-9)
        assert np.allclose(plate.xmat.reshape(3, 3), solution.plate_pose[:3, :3], atol=1e-9)


def test_no_camera_follows_a_part_of_a_drawn_robot(path):
    assert find_root(draw_solutions(path)[0]) == -1
