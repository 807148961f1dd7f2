import numpy as np
import pytest

from pliant.base.spatial import exp_so3, inverse, log_so3, pose
from pliant.camera.conditions import Condition, VisionError
from pliant.vision import camera_moved, eye_in_hand_jacobian, eye_to_hand_jacobian

X_EC = pose([0.03, 0.01, 0.06], exp_so3([0.1, -0.2, 1.5]))
X_CO = pose([0.05, -0.03, 0.4], exp_so3([2.9, 0.3, -0.2]))


def arm(q):
    """Return the pose of an arm with a prismatic and two revolute joints."""
    return pose([q[0], 0.0, 0.0]) @ pose(R=exp_so3([0, 0, q[1]])) @ pose([0.3, 0, 0.1], exp_so3([0, q[2], 0]))


def body_jacobian(f, q, h=1e-6):
    columns = []
    for d in np.eye(3):
        after, before = inverse(f(q)) @ f(q + h * d), inverse(f(q)) @ f(q - h * d)
        turn = log_so3(after[:3, :3]) - log_so3(before[:3, :3])
        columns.append(np.concatenate([after[:3, 3] - before[:3, 3], turn]) / (2 * h))
    return np.transpose(columns)


Q = np.array([0.2, -0.4, 0.9])


def test_eye_in_hand_jacobian_is_that_of_the_camera():
    J = eye_in_hand_jacobian(body_jacobian(arm, Q), X_EC)
    np.testing.assert_allclose(J, body_jacobian(lambda q: arm(q) @ X_EC, Q), atol=1e-9)


def test_eye_to_hand_jacobian_moves_the_camera_as_the_target_sees_it():
    X_CW, X_EO = pose([0.2, 0.1, 1.0], exp_so3([2.0, 0.4, 0.1])), pose([0.0, 0.02, 0.05], exp_so3([0.3, 0, 0]))
    J = eye_to_hand_jacobian(body_jacobian(arm, Q), X_CW @ arm(Q))
    seen = lambda q: inverse(X_CW @ arm(q) @ X_EO)  # noqa: E731 - the camera's pose in the target
    np.testing.assert_allclose(J, body_jacobian(seen, Q), atol=1e-9)


def test_a_screw_of_two_halves_is_the_whole():
    twist = np.array([0.1, -0.3, 0.2, 0.5, 1.1, -0.7])
    once = camera_moved(X_CO, twist, 1.0)
    np.testing.assert_allclose(camera_moved(camera_moved(X_CO, twist, 0.5), twist, 0.5), once, atol=1e-14)
    np.testing.assert_allclose(camera_moved(once, -twist, 1.0), X_CO, atol=1e-14)


def test_a_camera_that_approaches_sees_the_depth_shrink():
    assert camera_moved(pose([0, 0, 0.5]), [0, 0, 0.1, 0, 0, 0], 1.0)[2, 3] == 0.4


def test_small_rotations_join_the_closed_form():
    for angle in (0.99e-4, 1.01e-4):
        X = camera_moved(np.eye(4), [1.0, 0.0, 0.0, 0.0, 0.0, angle], 1.0)
        position = inverse(X)[:3, 3]
        np.testing.assert_allclose(position, [np.sin(angle) / angle, 2 * np.sin(angle / 2) ** 2 / angle, 0], atol=1e-8)


def test_a_motion_without_a_meaning_is_named():
    for rate, condition in [
        (1e7, Condition.OUT_OF_RANGE),
        (1e200, Condition.NOT_FINITE),
        (np.nan, Condition.NOT_FINITE),
    ]:
        with pytest.raises(VisionError) as e:
            camera_moved(X_CO, [0.0, 0.0, 0.0, 0.0, rate, 0.0], 1.0)
        assert e.value.condition is condition
