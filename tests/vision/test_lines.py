import numpy as np
import pytest

from pliant.base.spatial import exp_so3, pose
from pliant.camera.conditions import Condition, VisionError
from pliant.vision import camera_moved, line_error, line_features, line_interaction, point_interaction, project_points

X_CO = pose([0.1, 0.05, 0.5], exp_so3([0.3, -0.4, 0.7]))
POINT, DIRECTION = np.array([0.02, 0.03, 0.01]), np.array([0.6, -0.5, 0.2])


def line(X):
    return line_features(X[:3, :3] @ POINT + X[:3, 3], X[:3, :3] @ DIRECTION)


def test_line_interaction_is_the_derivative_of_the_features():
    features, plane = line(X_CO)
    h = 1e-6
    numeric = [
        line_error(line(camera_moved(X_CO, axis, h))[0], line(camera_moved(X_CO, axis, -h))[0]) / (2 * h)
        for axis in np.eye(6)
    ]
    np.testing.assert_allclose(line_interaction(features, plane), np.transpose(numeric), atol=1e-8)


def test_line_interaction_does_not_depend_on_which_plane_holds_the_line():
    features, plane = line(X_CO)
    p, d = X_CO[:3, :3] @ POINT + X_CO[:3, 3], X_CO[:3, :3] @ DIRECTION
    n = np.cross(d, [0.3, 1.0, 0.1])
    np.testing.assert_allclose(
        line_interaction(features, plane), line_interaction(features, [*n, -n @ p]), rtol=0, atol=1e-12
    )


def test_projected_points_of_the_line_satisfy_its_equation():
    (rho, theta), _ = line(X_CO)
    xy, _ = project_points([POINT, POINT + 0.1 * DIRECTION], X_CO)
    np.testing.assert_allclose(xy @ [np.cos(theta), np.sin(theta)], rho, atol=1e-14)


def test_the_opposite_direction_is_the_same_line_of_the_image():
    p, d = X_CO[:3, :3] @ POINT + X_CO[:3, 3], X_CO[:3, :3] @ DIRECTION
    (rho, theta), _ = line_features(p, d)
    (other_rho, other_theta), _ = line_features(p, -d)
    assert other_rho == pytest.approx(-rho)
    assert abs(line_error([rho, theta], [rho, other_theta])[1]) == pytest.approx(np.pi)


def test_the_angle_of_an_error_is_the_short_way_round():
    np.testing.assert_allclose(line_error([0.0, 3.1], [0.0, -3.1]), [0.0, 6.2 - 2 * np.pi], atol=1e-14)


def test_lines_without_an_image_are_named():
    for point, direction in [([0.0, 0.0, 1.0], [0.0, 0.0, 1.0]), ([0.1, 0.2, 0.5], [0.1, 0.2, 0.5])]:
        with pytest.raises(VisionError) as e:
            line_features(point, direction)
        assert e.value.condition is Condition.DEGENERATE
    with pytest.raises(VisionError) as e:
        line_interaction([0.1, 0.2], [1.0, 0.0, 0.0, 0.0])
    assert e.value.condition is Condition.DEGENERATE
    with pytest.raises(VisionError) as e:
        line_features([0.0, 0.0, -1.0], [1.0, 0.0, 0.0])
    assert e.value.condition is Condition.BEHIND_CAMERA


def test_a_point_of_the_line_stays_on_it_for_every_camera_velocity():
    # The derivative of x cos(theta) + y sin(theta) - rho = 0 at a point that is fixed on the line.
    (rho, theta), plane = line(X_CO)
    (xy,), Z = project_points([POINT], X_CO)
    c, s = np.cos(theta), np.sin(theta)
    L = line_interaction([rho, theta], plane)
    slip = np.array([c, s]) @ point_interaction([xy], Z) + (-xy[0] * s + xy[1] * c) * L[1] - L[0]
    np.testing.assert_allclose(slip, 0.0, atol=1e-12)
