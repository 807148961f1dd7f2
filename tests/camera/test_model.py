import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.camera.conditions import Condition, VisionError
from pliant.camera.model import CameraModel

PLAIN = CameraModel(fx=600.0, fy=610.0, cx=319.5, cy=239.5, width=640, height=480)
LENS = CameraModel(
    fx=600.0, fy=610.0, cx=322.0, cy=237.0, width=640, height=480, k1=-0.28, k2=0.09, p1=4e-4, p2=-7e-4, k3=-0.01
)
inside = st.tuples(st.floats(-0.5, 0.5), st.floats(-0.4, 0.4))


def test_a_point_on_the_axis_is_at_the_principal_point():
    np.testing.assert_allclose(LENS.project([[0.0, 0.0, 0.7]]), [[322.0, 237.0]])


def test_distortion_has_the_values_of_its_equation():
    # x = 1, y = 2, r^2 = 5: f = 1 + 5/8 + 25/16 + 125/32; tangential 4 p1 + 7 p2 and 13 p1 + 4 p2. Exact in binary.
    camera = CameraModel(fx=1, fy=1, cx=0, cy=0, width=9, height=9, k1=0.125, k2=0.0625, k3=0.03125, p1=0.25, p2=0.5)
    f = 1 + 0.625 + 1.5625 + 3.90625
    np.testing.assert_array_equal(camera.distort([[1.0, 2.0]]), [[f + 1.0 + 3.5, 2 * f + 3.25 + 2.0]])


@given(inside)
def test_undistortion_is_the_inverse_of_the_distortion(xy):
    np.testing.assert_allclose(LENS.undistort(LENS.distort([xy])), [xy], atol=1e-11)
    np.testing.assert_allclose(LENS.normalized(LENS.pixels([xy])), [xy], atol=1e-11)


@pytest.mark.parametrize("camera", [PLAIN, LENS])
def test_the_jacobian_is_the_derivative(camera):
    xy, h = np.array([0.12, -0.07]) / 0.6, 1e-6
    numeric = [(camera.pixels([xy + h * d])[0] - camera.pixels([xy - h * d])[0]) / (2 * h) for d in np.eye(2)]
    analytic = camera.distort_jacobian([xy])[0] * [[camera.fx], [camera.fy]]
    np.testing.assert_allclose(analytic, np.transpose(numeric), rtol=1e-6, atol=1e-5)


def test_a_pixel_beyond_the_fold_of_the_lens_is_named():
    with pytest.raises(VisionError) as e:
        LENS.undistort([[3.0, 3.0]])
    assert e.value.condition is Condition.DISTORTION


def test_the_field_of_view_reaches_the_outer_edges_of_the_image():
    camera = CameraModel.from_field_of_view(np.pi / 2, 640, 480)
    np.testing.assert_allclose(camera.project([[0.0, -1.0, 1.0], [0.0, 1.0, 1.0]])[:, 1], [-0.5, 479.5])
    assert camera.in_view([[-0.5, -0.5], [639.5, 479.5], [639.6, 10.0]]).tolist() == [True, True, False]


def test_libraries_with_the_origin_at_the_corner_get_half_a_pixel_more():
    assert PLAIN.corner_origin_parameters == (600.0, 610.0, 320.0, 240.0)
    assert PLAIN.K[0, 2] == 319.5


def test_an_image_has_a_whole_number_of_pixels():
    with pytest.raises(VisionError, match=r"width is 640\.5; must be a whole number"):
        CameraModel(fx=1.0, fy=1.0, cx=0.0, cy=0.0, width=640.5, height=480)
    with pytest.raises(VisionError, match="height is -480; must be at least 1"):
        CameraModel.from_field_of_view(0.7, 640, -480)


def test_a_focal_length_of_zero_is_refused():
    with pytest.raises(VisionError, match="fx"):
        CameraModel(fx=0.0, fy=1.0, cx=0.0, cy=0.0, width=1, height=1)
