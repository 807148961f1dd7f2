import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.spatial import exp_so3, pose
from pliant.camera.conditions import Condition, VisionError
from pliant.vision import camera_moved, point_interaction, project_points, tag_corners

X_CO = pose([0.05, -0.03, 0.4], exp_so3([2.9, 0.3, -0.2]))


def derivative(feature, X=X_CO, h=1e-6):
    """Return the rates of a feature of the pose for each unit velocity of the camera, by central differences."""
    columns = []
    for axis in np.eye(6):
        columns.append((feature(camera_moved(X, axis, h)) - feature(camera_moved(X, axis, -h))) / (2.0 * h))
    return np.stack(columns, axis=-1)


def test_point_interaction_is_the_derivative_of_the_projection():
    points = tag_corners(0.08)
    L = point_interaction(*project_points(points, X_CO))
    np.testing.assert_allclose(L, derivative(lambda X: project_points(points, X)[0].ravel()), atol=1e-8)


def test_point_interaction_has_the_published_values():
    # x = 0.5, y = -0.25, Z = 2 in the published matrix; every number is exact in binary.
    expected = [[-0.5, 0.0, 0.25, -0.125, -1.25, -0.25], [0.0, -0.5, -0.125, 1.0625, 0.125, -0.5]]
    np.testing.assert_array_equal(point_interaction([[0.5, -0.25]], 2.0), expected)


@pytest.mark.parametrize("Z", [0.0, -1.0, 1e-12])
def test_a_depth_of_zero_or_less_is_named(Z):
    with pytest.raises(VisionError, match="Z") as e:
        point_interaction([[0.0, 0.0]], Z)
    assert e.value.condition is Condition.DEPTH


def test_a_point_behind_the_camera_is_named():
    with pytest.raises(VisionError) as e:
        project_points(tag_corners(0.08), pose([0.0, 0.0, -0.4]))
    assert e.value.condition is Condition.BEHIND_CAMERA


@given(
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(allow_nan=True, allow_infinity=True),
)
def test_no_number_gives_nan(x, y, Z):
    try:
        L = point_interaction([[x, y]], Z)
    except VisionError:
        return
    assert np.all(np.isfinite(L))
