"""Where ViSP's servo programs for the Franka arm end, and how much of their end error is the picture's.

`servoFrankaIBVS` moves with the gain 0.5 on the current interaction matrix and ends as soon as the sum of the squared
errors of its four points is below 5e-5; its camera comes to 3 tag sizes before the tag.
"""

import math

import mujoco
import numpy as np
import pytest

from pliant.base.errors import MissingDependency
from pliant.base.spatial import exp_so3, inverse, pose
from pliant.camera.renderer import Renderer
from pliant.vision import AprilTagDetector, facing_pose, tag_corners
from pliant.vision.kinematics import camera_moved
from pliant.vision.points import point_interaction, project_points
from pliant.vision.tags import add_tag

SIZE = 0.08
GOAL = facing_pose(3 * SIZE)


def end_of_ibvs(start, stop):
    """Return the distance of the camera from the goal at the end [m], with exact points, ten pictures a second."""
    points = tag_corners(SIZE)
    wanted, _ = project_points(points, GOAL)
    X = start @ GOAL
    for _ in range(300):
        found, Z = project_points(points, X)
        error = (found - wanted).ravel()
        if error @ error < stop:
            break
        X = camera_moved(X, -0.5 * np.linalg.pinv(point_interaction(found, Z)) @ error, 0.1)
    return float(np.linalg.norm((X @ inverse(GOAL))[:3, 3]))


def test_the_stopping_rule_of_visp_s_program_leaves_a_millimetre_even_with_exact_points():
    rng = np.random.default_rng(1)
    starts = [pose(rng.uniform(-0.06, 0.06, 3), exp_so3(rng.uniform(-0.35, 0.35, 3))) for _ in range(6)]
    ends = np.array([end_of_ibvs(start, 5e-5) for start in starts])
    assert 0.5e-3 < np.median(ends) < 2e-3
    assert ends.max() > 1.6e-3
    assert end_of_ibvs(starts[0], 0.0) < 1e-6  # the law itself goes on to the goal


def test_the_corners_of_a_rendered_tag_are_where_they_are_projected():
    spec = mujoco.MjSpec()
    spec.worldbody.add_light(pos=(0.3, 0.2, 1.0), diffuse=(0.4, 0.4, 0.4))
    camera = spec.worldbody.add_camera(name="eye", fovy=42.5)
    add_tag(spec, 0, SIZE)
    model = spec.compile()
    data = mujoco.MjData(model)
    try:
        renderer = Renderer(model, "eye", (640, 480), clip=(0.01, 5.0))
    except MissingDependency as missing:
        pytest.skip(str(missing))
    seen = renderer.camera
    detector = AprilTagDetector(seen, SIZE)
    state = np.empty(mujoco.mj_stateSize(model, renderer.state_spec))
    mujoco.mj_getState(model, data, state, renderer.state_spec)
    rng = np.random.default_rng(0)
    corners, shifts = [], []
    try:
        for _ in range(8):
            X = pose(rng.uniform(-2e-3, 2e-3, 3), exp_so3(rng.uniform(-0.01, 0.01, 3))) @ GOAL
            X_OC = inverse(X)
            quaternion = np.empty(4)
            mujoco.mju_mat2Quat(quaternion, (X_OC[:3, :3] @ np.diag([1.0, -1.0, -1.0])).ravel())
            model.cam_pos[camera.id], model.cam_quat[camera.id] = X_OC[:3, 3], quaternion
            found = detector.find(renderer.render(state, color=True).color, 0)
            true = seen.project(tag_corners(SIZE) @ X[:3, :3].T + X[:3, 3])
            corners.append(found.pixels - true)
            shifts.append(np.linalg.norm((found.X_CO @ inverse(X))[:3, 3]))
    finally:
        renderer.close()
    assert np.abs(np.mean(corners, axis=0)).max() < 0.03  # pixels; half a pixel is another convention
    assert np.std(corners, axis=0).max() < 0.06
    assert np.median(shifts) < 0.4e-3
    assert math.isclose(seen.cx, 319.5)
    assert math.isclose(seen.cy, 239.5)
