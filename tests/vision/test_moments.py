import math

import numpy as np
import pytest

from pliant.base.spatial import exp_so3, pose
from pliant.camera.conditions import Condition, VisionError
from pliant.vision import (
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
    skew_features,
    skew_interaction,
    solve,
    stack,
)
from pliant.vision.poses import pose_features
from pliant.vision.tasks import Task

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


@KINDS
def test_interaction_of_the_skew_is_its_derivative(moments, dense):
    L = skew_interaction(seen(moments, X_CO), plane_of_target(X_CO), dense=dense)
    numeric = derivative(lambda X: skew_features(seen(moments, X), dense=dense))
    np.testing.assert_allclose(L, numeric, atol=1e-8 * max(1.0, np.abs(L).max()))


@KINDS
def test_the_skew_keeps_its_length_when_the_image_is_moved_scaled_and_turned(moments, dense):
    xy = project_points(CORNERS, X_CO)[0]
    here = skew_features(moments(xy), dense=dense)
    np.testing.assert_allclose(skew_features(moments(3.0 * xy + [0.4, -0.2]), dense=dense), here, rtol=1e-9)
    c, s = math.cos(0.5), math.sin(0.5)
    turned = skew_features(moments(xy @ [[c, s], [-s, c]]), dense=dense)
    # s_y + i s_x is a number of the complex plane that turns with the image
    assert complex(turned[1], turned[0]) == pytest.approx(complex(here[1], here[0]) * complex(c, s), rel=1e-9)


def test_the_skew_of_a_right_triangle_has_the_value_of_its_formula():
    m = polygon_moments([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    # Centred moments of the triangle: mu20 = 2/9, mu11 = -1/18, mu02 = 1/18; mu30 = 8/135, mu21 = -2/135,
    # mu12 = -1/135, mu03 = 1/135.
    c1, s1, c2, s2 = 1 / 6, -1 / 9, 7 / 135, 11 / 135
    c3, s3, K = c1**2 - s1**2, 2 * s1 * c1, (c1**2 + s1**2) * (5 / 18) ** 1.5
    np.testing.assert_allclose(skew_features(m), [(c2 * c3 + s2 * s3) / K, (s2 * c3 - c2 * s3) / K], rtol=1e-12)


@KINDS
def test_moments_alone_bring_the_camera_to_its_goal(moments, dense):
    goal = facing_pose(0.24)
    m = seen(moments, goal)
    size = m[0, 0] if dense else m[0, 0] * sum(shape_of_moments(m)[[2, 4]])

    def features(m):
        return np.concatenate([moment_features(m, size, 0.24, dense=dense), skew_features(m, dense=dense)])

    X = camera_moved(goal, [0.02, -0.03, -0.08, 0.06, -0.06, 0.3], 1.0)
    wanted = features(m)
    for _ in range(400):
        m, plane = seen(moments, X), plane_of_target(X)
        first = Task(
            error=moment_features(m, size, 0.24, dense=dense) - wanted[:4],
            interaction=moment_features_interaction(m, plane, size, 0.24, dense=dense),
        )
        tilt = Task(
            error=skew_features(m, dense=dense) - wanted[4:], interaction=skew_interaction(m, plane, dense=dense)
        )
        X = camera_moved(X, solve(stack(first, tilt), 1.0), 0.04)
    assert np.abs(pose_features(X, goal)).max() < 1e-5


def test_round_empty_and_edge_on_targets_are_named():
    square = polygon_moments([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    edge_on = pose([0.0, 0.0, 0.4], exp_so3([math.pi / 2, 0.0, 0.0]))
    for call in (
        lambda: moment_features(square, 1.0, 1.0),
        lambda: polygon_moments([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]),
        lambda: shape_of_moments(np.zeros((4, 4))),
        lambda: plane_of_target(edge_on),
        lambda: skew_features(square),
        lambda: skew_features(point_moments([[0.1, 0.1], [0.1, 0.1]]), dense=False),
        lambda: moment_features(point_moments([[0.1, 0.1], [0.1, 0.1]]), 1.0, 1.0, dense=False),
    ):
        with pytest.raises(VisionError) as e:
            call()
        assert e.value.condition is Condition.DEGENERATE


def test_moments_of_too_low_an_order_are_refused():
    with pytest.raises(VisionError, match="needs order 4"):
        moment_interaction(polygon_moments([[0, 0], [1, 0], [0, 1]], 3), [0, 0, 1], 2, 1)
    with pytest.raises(VisionError, match="up to order 4"):
        skew_interaction(polygon_moments([[0, 0], [1, 0], [0, 1]], 3), [0, 0, 1])


def test_a_polygon_beyond_all_numbers_is_named():
    with pytest.raises(VisionError) as e:
        polygon_moments(1e200 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    assert e.value.condition in (Condition.NOT_FINITE, Condition.DEGENERATE)
