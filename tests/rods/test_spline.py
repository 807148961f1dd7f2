"""Cubic spline, against closed forms and SciPy."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline as ScipySpline

from pliant.rods.spline import CubicSpline

pytestmark = pytest.mark.quick


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
