"""Matrix exponential and cubic spline, against closed forms and SciPy."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline as ScipySpline
from scipy.linalg import expm

from pliant.base.numerics import CubicSpline, for_kernels, matrix_exponential

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("norm", [0.0, 1e-9, 0.3, 1.0, 7.0, 60.0])
def test_the_exponential_is_that_of_scipy(norm):
    A = np.random.default_rng(0).normal(size=(3, 3))
    A *= norm / np.abs(A).sum(axis=1).max()
    assert matrix_exponential(A) == pytest.approx(expm(A), rel=1e-12, abs=1e-13 * np.abs(expm(A)).max())


def test_the_exponential_of_a_rotation_rate_is_the_rotation():
    angle = 2.7
    assert matrix_exponential([[0.0, -angle], [angle, 0.0]]) == pytest.approx(
        np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]), abs=1e-14
    )


def test_a_spline_of_a_cubic_is_the_cubic_also_outside_its_nodes():
    x = np.array([0.0, 0.2, 0.7, 1.1, 2.0])
    cubic = np.polynomial.Polynomial([1.0, -2.0, 0.5, 3.0])
    at = np.linspace(-0.5, 2.5, 31)
    assert CubicSpline(x, cubic(x))(at) == pytest.approx(cubic(at), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("nodes", [2, 3, 4, 9])
def test_splines_of_vectors_are_those_of_scipy(nodes):
    rng = np.random.default_rng(nodes)
    x, y = np.sort(rng.uniform(size=nodes)), rng.normal(size=(nodes, 3))
    at = np.linspace(x[0], x[-1], 17)
    assert CubicSpline(x, y)(at) == pytest.approx(ScipySpline(x, y)(at), abs=1e-9 * np.abs(ScipySpline(x, y)(at)).max())
    assert CubicSpline(x, y)(at[5]).shape == (3,)


def test_nodes_that_do_not_increase_are_refused():
    with pytest.raises(ValueError, match="increase"):
        CubicSpline([0.0, 0.0, 1.0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("x", [[[1, 2]], np.asfortranarray(np.ones((2, 3))), np.broadcast_to(1.0, (2, 3)), np.ones(2)])
def test_kernels_get_arrays_of_one_type(x):
    given = for_kernels(x)
    assert given.dtype == np.float64
    assert given.flags.c_contiguous
    assert given.flags.writeable
    np.testing.assert_array_equal(given, x)
    assert for_kernels(given) is given
