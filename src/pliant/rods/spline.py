"""Interpolating cubic spline, so that rods need no package but NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.numerics import Array


class CubicSpline:
    """Interpolating cubic spline with continuous second derivative; its first two and last two pieces are one cubic.

    With three nodes it is a parabola, with two a line.

    Args:
        x: increasing nodes, shape (n,), n >= 2.
        y: values at the nodes, shape (n, ...).
    """

    def __init__(self, x: ArrayLike, y: ArrayLike) -> None:
        self._x, self._y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        h = np.diff(self._x)
        if len(self._x) < 2 or len(self._x) != len(self._y) or not np.all(h > 0.0):
            raise ValueError("a spline needs two nodes or more that increase, and a value for each")
        n = len(self._x)
        tail = self._y.shape[1:]
        y2 = self._y.reshape(n, -1)
        slope = np.diff(y2, axis=0) / h[:, None]
        second = np.zeros_like(y2)  # second derivatives at the nodes
        if n == 3:
            second[:] = 2.0 * (slope[1] - slope[0]) / (h[0] + h[1])
        elif n > 3:
            below, above = h[:-1].copy(), h[1:].copy()
            diagonal = 2.0 * (below + above)
            # The third derivative is continuous at the second and at the last but one node, which gives the second
            # derivatives of the outermost nodes by those of their two neighbours.
            first, last = h[0] / h[1], h[-1] / h[-2]
            diagonal[0] += h[0] * (1.0 + first)
            above[0] -= h[0] * first
            diagonal[-1] += h[-1] * (1.0 + last)
            below[-1] -= h[-1] * last
            second[1:-1] = _solve_tridiagonal(below, diagonal, above, 6.0 * np.diff(slope, axis=0))
            second[0] = (1.0 + first) * second[1] - first * second[2]
            second[-1] = (1.0 + last) * second[-2] - last * second[-3]
        self._h, self._second = h, second.reshape(n, *tail)

    def __call__(self, x: ArrayLike) -> Array:
        """Return the values at x, shape (*x.shape, ...); outside the nodes the outer cubics go on."""
        x = np.asarray(x, dtype=float)
        k = np.searchsorted(self._x[1:-1], x, side="right")
        shape = (*x.shape, *(1,) * (self._y.ndim - 1))
        h = self._h[k].reshape(shape)
        a = (self._x[k + 1] - x).reshape(shape) / h
        b = 1.0 - a
        bend = (a**3 - a) * self._second[k] + (b**3 - b) * self._second[k + 1]
        return np.asarray(a * self._y[k] + b * self._y[k + 1] + bend * h**2 / 6.0)


def _solve_tridiagonal(below: Array, diagonal: Array, above: Array, b: Array) -> Array:
    """Return x of the tridiagonal system, row by row: below[i] x[i-1] + diagonal[i] x[i] + above[i] x[i+1] = b[i].

    Thomas's algorithm; the diagonal must dominate.

    Args:
        below: shape (n,); the first number is not used.
        diagonal: shape (n,).
        above: shape (n,); the last number is not used.
        b: shape (n, columns).
    """
    x, pivot = b.copy(), diagonal.tolist()
    for i in range(1, len(x)):
        factor = below[i] / pivot[i - 1]
        pivot[i] -= factor * above[i - 1]
        x[i] -= factor * x[i - 1]
    x[-1] /= pivot[-1]
    for i in range(len(x) - 2, -1, -1):
        x[i] = (x[i] - above[i] * x[i + 1]) / pivot[i]
    return x
