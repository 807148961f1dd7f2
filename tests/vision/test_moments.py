import math

import numpy as np
import pytest

from pliant.spatial import exp_so3, pose
from pliant.vision import (
    Condition,
    VisionError,
    camera_moved,
    facing_pose,
    moment_features,
    moment_features_interaction,
    moment_interaction,
    plane_of_target,
    point_moments,
    polygon_moments,
    project_points,
    shape_interaction,
    shape_of_moments,
)

X_CO = pose([0.05, -0.03, 0.4], exp_so3([2.8, 0.3, -0.2]))
CORNERS = np.array([[-0.05, -0.03, 0.0], [0.06, -0.02, 0.0], [0.04, 0.05, 0.0], [-0.03, 0.02, 0.0]])
KINDS = pytest.mark.parametrize(("moments", "dense"), [(polygon_moments, True), (point_moments, False)])


def seen(moments, X, order=4):
    return moments(project_points(CORNERS, X)[0], order)


def derivative(feature, X=X_CO, h=1e-6):
    columns = [(feature(camera_moved(X, v, h)) - feature(camera_moved(X, v, -h))) / (2 * h) for v in np.eye(6)]
    return np.stack(columns, axis=-1)


def test_moments_of_a_rectangle_are_products_of_powers():
    m = polygon_moments([[1.0, 0.0], [3.0, 0.0], [3.0, 2.0], [1.0, 2.0]], 6)
    for i in range(7):
        for j in range(7 - i):
            assert m[i, j] == pytest.approx((3 ** (i + 1) - 1) / (i + 1) * 2 ** (j + 1) / (j + 1), rel=1e-13)


def test_the_sense_of_the_corners_does_not_matter():
    xy = project_points(CORNERS, X_CO)[0]
    np.testing.assert_allclose(polygon_moments(xy), polygon_moments(xy[::-1]), rtol=1e-12)


@KINDS
def test_moment_interaction_is_the_derivative_of_the_moments(moments, dense):
    m, plane = seen(moments, X_CO), plane_of_target(X_CO)
    numeric = derivative(lambda X: seen(moments, X))
    for i in range(4):
        for j in range(4 - i):
            L = moment_interaction(m, plane, i, j, dense=dense)
            np.testing.assert_allclose(L, numeric[i, j], atol=1e-7 * max(1.0, np.abs(L).max()))


@KINDS
def test_interaction_of_shape_and_of_features_is_their_derivative(moments, dense):
    m, plane = seen(moments, X_CO), plane_of_target(X_CO)
    np.testing.assert_allclose(
        shape_interaction(m, plane, dense=dense), derivative(lambda X: shape_of_moments(seen(moments, X))), atol=1e-8
    )
    L = moment_features_interaction(m, plane, 0.03, 0.24, dense=dense)
    numeric = derivative(lambda X: moment_features(seen(moments, X), 0.03, 0.24, dense=dense))
    np.testing.assert_allclose(L, numeric, atol=1e-7)


@KINDS
def test_features_of_a_parallel_target_are_decoupled_in_translation(moments, dense):
    # Chaumette 2004: for a target parallel to the image the translations move x_n, y_n, a_n by -1 each, alpha not.
    X = facing_pose(0.24)
    m = seen(moments, X)
    size = m[0, 0] if dense else m[0, 0] * sum(shape_of_moments(m)[[2, 4]])
    L = moment_features_interaction(m, plane_of_target(X), size, 0.24, dense=dense)
    np.testing.assert_allclose(L[:, :3], [[-1, 0, 0], [0, -1, 0], [0, 0, -1], [0, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(L[2:, 5], [0.0, -1.0], atol=1e-12)
    assert moment_features(m, size, 0.24, dense=dense)[2] == pytest.approx(0.24)


def test_round_empty_and_edge_on_targets_are_named():
    square = polygon_moments([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    edge_on = pose([0.0, 0.0, 0.4], exp_so3([math.pi / 2, 0.0, 0.0]))
    for call in (
        lambda: moment_features(square, 1.0, 1.0),
        lambda: polygon_moments([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]),
        lambda: shape_of_moments(np.zeros((4, 4))),
        lambda: plane_of_target(edge_on),
        lambda: moment_features(point_moments([[0.1, 0.1], [0.1, 0.1]]), 1.0, 1.0, dense=False),
    ):
        with pytest.raises(VisionError) as e:
            call()
        assert e.value.condition is Condition.DEGENERATE


def test_moments_of_too_low_an_order_are_refused():
    with pytest.raises(VisionError, match="needs order 4"):
        moment_interaction(polygon_moments([[0, 0], [1, 0], [0, 1]], 3), [0, 0, 1], 2, 1)


def test_a_polygon_beyond_all_numbers_is_named():
    with pytest.raises(VisionError) as e:
        polygon_moments(1e200 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    assert e.value.condition in (Condition.NOT_FINITE, Condition.DEGENERATE)
