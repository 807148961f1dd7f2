"""Arrays for kernels, and matrices that are positive definite."""

import numpy as np
import pytest

from pliant.base.numerics import for_kernels, is_positive_definite

pytestmark = pytest.mark.quick


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
