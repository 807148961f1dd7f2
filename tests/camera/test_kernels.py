"""The loops over pixels against what interpolation and convolution are: small pictures, of different sides."""

import numpy as np
import pytest

from pliant.camera.kernels import blur, look_up_colors, look_up_depths

ROWS, COLUMNS = 5, 7
PLACES = np.array([[0.0, 0.0], [3.25, 1.5], [5.75, 3.5], [6.0, 4.0], [2.0, 3.0], [6.0, 0.5]], dtype=np.float32)


def looked_up(kernel, picture, *more, places=PLACES):
    shape = (2, len(places) // 2)
    out = np.empty((*shape, *picture.shape[2:]), dtype=picture.dtype)
    kernel(picture, places[:, 0].reshape(shape).copy(), places[:, 1].reshape(shape).copy(), *more, out)
    return out.reshape(len(places), *picture.shape[2:])


def test_colours_that_grow_linearly_are_interpolated_exactly_up_to_the_edges():
    column, row = np.meshgrid(np.arange(COLUMNS), np.arange(ROWS))
    picture = np.stack([4 * column + 20 * row, 200 - 8 * column, 10 + 12 * row], axis=2).astype(np.uint8)
    c, r = PLACES.astype(float).T
    expected = np.stack([4 * c + 20 * r, 200 - 8 * c, 10 + 12 * r], axis=1)
    np.testing.assert_array_equal(looked_up(look_up_colors, picture), np.floor(expected + 0.5))


def test_depths_of_a_plane_are_exact_because_their_inverse_is_linear():
    column, row = np.meshgrid(np.arange(COLUMNS, dtype=float), np.arange(ROWS, dtype=float))
    picture = (1.0 / (0.5 + 0.01 * column - 0.02 * row)).astype(np.float32)
    c, r = PLACES.astype(float).T
    found = looked_up(look_up_depths, picture, 0.2)
    np.testing.assert_allclose(found, 1.0 / (0.5 + 0.01 * c - 0.02 * r), rtol=1e-6)


@pytest.mark.parametrize("turned", [False, True])
def test_across_an_edge_the_depth_is_that_of_the_nearest_pixel(turned):
    picture = np.ones((ROWS, COLUMNS), dtype=np.float32)
    places = np.array([[2.4, 1.0], [2.6, 1.0], [2.5, 3.3], [1.9, 2.0]], dtype=np.float32)
    if turned:
        picture, places = picture.T.copy(), places[:, ::-1].copy()
        picture[3:] = 3.0
    else:
        picture[:, 3:] = 3.0
    np.testing.assert_array_equal(looked_up(look_up_depths, picture, 0.2, places=places), [1.0, 3.0, 3.0, 1.0])
    # A step within the tolerance is a surface.
    smooth = looked_up(look_up_depths, picture, 2.5, places=places)
    np.testing.assert_allclose(smooth, [1.0 / (0.6 + 0.4 / 3), 1.0 / (0.4 + 0.6 / 3), 1.5, 1.0], rtol=1e-6)


@pytest.mark.parametrize("far", [(1, 2), (1, 3), (2, 2), (2, 3)])
def test_one_far_pixel_of_the_four_is_an_edge(far):
    picture = np.ones((ROWS, COLUMNS), dtype=np.float32)
    picture[far] = 3.0
    around = np.array([[c, r] for r in (1.3, 1.7) for c in (2.3, 2.7)], dtype=np.float32)
    found = looked_up(look_up_depths, picture, 0.2, places=around)
    nearest = [(round(float(r)), round(float(c))) for c, r in around]
    np.testing.assert_array_equal(found, [3.0 if pixel == far else 1.0 for pixel in nearest])


def test_a_blurred_point_is_the_product_of_the_weights_and_the_edges_go_on():
    weights = np.array([0.1, 0.2, 0.4, 0.25, 0.05], dtype=np.float32)
    picture = np.zeros((7, 9, 3), dtype=np.uint8)
    picture[3, 5, 1] = 200
    out = np.empty_like(picture)
    blur(picture, weights, out)
    expected = np.zeros((7, 9))
    expected[1:6, 3:8] = 200.0 * np.outer(weights[::-1], weights[::-1])
    np.testing.assert_allclose(out[..., 1], expected, atol=0.51)
    assert not out[..., [0, 2]].any()
    corner = np.zeros((7, 9, 3), dtype=np.uint8)
    corner[0, 8] = 250
    blur(corner, weights, out)
    np.testing.assert_allclose(out[0, 8], 250.0 * weights[:3].sum() * weights[2:].sum(), atol=0.51)
    full = np.full((7, 9, 3), 255, dtype=np.uint8)
    blur(full, weights, out)
    np.testing.assert_array_equal(out, full)
