"""Constants, checks of numbers, Holm's correction and the matrix exponential, so that running a robot needs no package
but NumPy."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import PliantError

Array = NDArray[np.float64]
"""Array of floating-point numbers in double precision."""
DEGREE = math.pi / 180.0
"""One degree [rad]."""
DEGREES = 180.0 / math.pi
"""One radian [degrees]."""
GRAVITY = 9.81
"""Acceleration of gravity, as in MuJoCo's default [m/s^2]."""


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number of Python or NumPy, and no truth value."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_finite_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number of Python or NumPy that is finite in double precision."""
    return is_number(value) and abs(value) <= sys.float_info.max


def for_kernels(x: ArrayLike) -> Array:
    """Return an array that compiled functions can share: contiguous and writeable, a copy where it is not.

    numba compiles a function once more, which may take 20 s, for arrays that are read-only or in another order.

    Args:
        x: numbers of any shape.
    """
    if type(x) is np.ndarray and x.dtype == np.float64 and x.flags.carray:  # as most are, in a tenth of the time
        return x
    return np.require(x, np.float64, ("C", "W"))


def is_positive_definite(matrix: Array) -> bool:
    """Return whether a symmetric matrix is positive definite, for a twentieth of the time of its eigenvalues."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def holm(p: Sequence[float], count: int | None = None) -> list[float]:
    """Return p-values corrected for their number (Holm 1979, step-down).

    Those below 0.05 then are significant with at most 5 % of false findings in the whole family.

    Args:
        p: p-values of the claims that were tested.
        count: number of all claims of the family; those that were not tested count as p = 1. None: those of ``p``.

    Raises:
        PliantError: more p-values than claims.
    """
    count = len(p) if count is None else count
    if len(p) > count:
        raise PliantError(f"{len(p)} p-values of a family of {count} claims; must be at most {count}", field="p")
    corrected, largest = [1.0] * len(p), 0.0
    for rank, k in enumerate(np.argsort(p, kind="stable").tolist()):
        largest = max(largest, min(1.0, (count - rank) * p[k]))
        corrected[k] = largest
    return corrected
