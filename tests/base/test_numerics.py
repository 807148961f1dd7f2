"""Matrix exponential, against closed forms and SciPy; arrays for kernels."""

import numpy as np
import pytest
from scipy.linalg import expm

from pliant.base.numerics import for_kernels, is_positive_definite, matrix_exponential

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


@pytest.mark.parametrize("x", [[[1, 2]], np.asfortranarray(np.ones((2, 3))), np.broadcast_to(1.0, (2, 3)), np.ones(2)])
def test_kernels_get_arrays_of_one_type(x):
    given = for_kernels(x)
    assert given.dtype == np.float64
    assert given.flags.c_contiguous
    assert given.flags.writeable
    np.testing.assert_array_equal(given, x)
    assert for_kernels(given) is given


def test_a_symmetric_matrix_is_positive_definite_where_its_eigenvalues_are_positive():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    for least in (1e-6, -1e-6):
        assert is_positive_definite(Q @ np.diag([least, 0.1, 1.0, 3.0]) @ Q.T) == (least > 0.0)
