import numpy as np
import pytest

from pliant.base.spatial import exp_so3, hat, inverse, log_so3, pose
from pliant.camera.conditions import Condition, VisionError
from pliant.vision import (
    camera_moved,
    facing_pose,
    nearest_alike_pose,
    pose_features,
    pose_interaction,
    theta_u_interaction,
)

X_CO = pose([0.05, -0.03, 0.4], exp_so3([2.6, 0.3, -0.2]))
X_DO = facing_pose(0.24)


def test_pose_interaction_is_the_derivative_of_the_features():
    h = 1e-6
    numeric = [
        (pose_features(camera_moved(X_CO, v, h), X_DO) - pose_features(camera_moved(X_CO, v, -h), X_DO)) / (2 * h)
        for v in np.eye(6)
    ]
    np.testing.assert_allclose(pose_interaction(X_DO @ inverse(X_CO)), np.transpose(numeric), atol=1e-8)


@pytest.mark.parametrize("angle", [1e-9, 1e-5, 1.9e-3, 2.1e-3, 0.5, 2.0, 3.1, np.pi])
def test_theta_u_interaction_follows_the_published_formula(angle):
    u = np.array([2.0, -1.0, 2.0]) / 3.0
    S = hat(u)
    sinc = np.sinc(angle / np.pi)
    bracket = 1.0 - sinc / np.sinc(0.5 * angle / np.pi) ** 2
    L = theta_u_interaction(angle * u)
    np.testing.assert_allclose(L, np.eye(3) + 0.5 * angle * S + bracket * S @ S, atol=1e-14)
    np.testing.assert_allclose(L @ u, u, atol=1e-14)


def test_a_rotation_of_a_quarter_turn_has_the_value_of_the_formula():
    # theta = pi/2 about z: bracket 1 - (pi/4) cot(pi/4) = 1 - pi/4, so the upper block is pi/4 times [[1, -1], [1, 1]].
    q = np.pi / 4
    np.testing.assert_allclose(
        theta_u_interaction([0.0, 0.0, np.pi / 2]), [[q, -q, 0.0], [q, q, 0.0], [0.0, 0.0, 1.0]], atol=1e-15
    )


def test_theta_u_interaction_refuses_a_full_turn():
    with pytest.raises(VisionError) as e:
        theta_u_interaction([0.0, 0.0, 2 * np.pi])
    assert e.value.condition is Condition.OUT_OF_RANGE


def test_of_two_alike_poses_the_one_with_less_rotation_is_taken():
    turned = X_DO @ pose(R=exp_so3([0.0, 0.0, 3.0]))
    chosen = nearest_alike_pose(turned, X_DO)
    assert np.linalg.norm(pose_features(turned, chosen)[3:]) == pytest.approx(np.pi - 3.0)
    np.testing.assert_allclose(nearest_alike_pose(X_DO, X_DO), X_DO)
    quarter = X_DO @ pose(R=exp_so3([0.0, 0.0, 1.5]))
    assert np.linalg.norm(log_so3(nearest_alike_pose(quarter, X_DO, turns=4)[:3, :3] @ quarter[:3, :3].T)) < 0.08


@pytest.mark.parametrize("bad", [np.zeros((4, 4)), np.diag([1.0, 1.0, -1.0, 1.0]), 2.0 * np.eye(4), 1e200 * np.eye(4)])
def test_a_matrix_that_is_no_pose_is_named(bad):
    with pytest.raises(VisionError) as e:
        pose_features(bad, X_DO)
    assert e.value.condition is Condition.NOT_A_POSE
