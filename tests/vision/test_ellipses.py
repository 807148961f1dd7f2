import numpy as np
import pytest

from pliant.base.spatial import exp_so3, pose
from pliant.camera.conditions import Condition, VisionError
from pliant.vision import (
    camera_moved,
    circle_ellipse,
    circle_plane,
    ellipse_interaction,
    polygon_moments,
    project_points,
    shape_of_moments,
)

X_CO = pose([0.08, -0.03, 0.4], exp_so3([2.6, 0.4, -0.2]))
RADIUS = 0.05


def ellipse(X):
    return circle_ellipse(X[:3, 3], X[:3, 2], RADIUS)


def test_the_ellipse_has_the_moments_of_a_polygon_with_many_corners():
    a = np.linspace(0.0, 2 * np.pi, 20001)[:-1]
    corners = RADIUS * np.stack([np.cos(a), np.sin(a), 0 * a], axis=1)
    m = polygon_moments(project_points(corners, X_CO)[0])
    np.testing.assert_allclose(ellipse(X_CO), shape_of_moments(m), rtol=1e-6)


def test_a_circle_parallel_to_the_image_is_a_circle():
    np.testing.assert_allclose(
        circle_ellipse([0.1, 0.2, 0.5], [0, 0, -1], 0.1), [0.2, 0.4, 0.01, 0.0, 0.01], atol=1e-15
    )


def test_ellipse_interaction_is_the_derivative_of_the_ellipse():
    h = 1e-6
    numeric = [(ellipse(camera_moved(X_CO, v, h)) - ellipse(camera_moved(X_CO, v, -h))) / (2 * h) for v in np.eye(6)]
    L = ellipse_interaction(ellipse(X_CO), circle_plane(X_CO[:3, 3], X_CO[:3, 2]))
    np.testing.assert_allclose(L, np.transpose(numeric), atol=1e-8)


def test_a_centred_parallel_circle_moves_as_the_moments_say():
    # Z = 0.5, r = 0.1: n20 = n02 = (r/Z)^2/4 = 0.01; approach by v_z makes n20 grow by 2 n20/Z = 0.04.
    L = ellipse_interaction([0.0, 0.0, 0.01, 0.0, 0.01], [0.0, 0.0, 2.0])
    expected = np.zeros((5, 6))
    expected[0, 0] = expected[1, 1] = -2.0
    expected[0, 4], expected[1, 3] = -1.0 - 4.0 * 0.01, 1.0 + 4.0 * 0.01
    expected[2, 2] = expected[4, 2] = 0.04
    np.testing.assert_allclose(L, expected, atol=1e-15)
    assert np.linalg.matrix_rank(L) == 3


def test_circles_that_give_no_ellipse_are_named():
    cases = [
        (([0.0, 0.0, 0.05], [1.0, 0.0, 0.1], 0.1), Condition.BEHIND_CAMERA),
        (([0.0, 0.0, 0.5], [1.0, 0.0, 0.0], 0.1), Condition.DEGENERATE),
        (([0.0, 0.0, 0.5], [0.0, 0.0, 0.0], 0.1), Condition.DEGENERATE),
        (([0.0, 0.0, 0.5], [0.0, 0.0, 1.0], 0.0), Condition.OUT_OF_RANGE),
        (([np.nan, 0.0, 0.5], [0.0, 0.0, 1.0], 0.1), Condition.NOT_FINITE),
    ]
    for arguments, condition in cases:
        with pytest.raises(VisionError) as e:
            circle_ellipse(*arguments)
        assert e.value.condition is condition
    with pytest.raises(VisionError) as e:
        ellipse_interaction([0.0, 0.0, 0.01, 0.02, 0.01], [0.0, 0.0, 1.0])
    assert e.value.condition is Condition.DEGENERATE
