"""Checks of arguments that only visual servoing has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.numerics import Array
from pliant.base.spatial import is_rotation
from pliant.camera.conditions import Condition, VisionError, finite_array, number

ROUNDING_OF_AGE = 1e-6
"""Rounding of the difference of two times [s]."""


def per_row(field: str, value: ArrayLike, rows: int) -> Array:
    """Return a number or a vector as a finite vector, one number a row.

    Raises:
        VisionError: SHAPE or NOT_FINITE.
    """
    one = np.ndim(value) == 0 and not isinstance(value, str)
    each: Any = [value] * rows if one else value
    return finite_array(field, each, (rows,))


def pose_matrix(field: str, value: ArrayLike) -> Array:
    """Return a pose, shape (4, 4), after checking that it is a rotation and a translation.

    Raises:
        VisionError: SHAPE, NOT_FINITE or NOT_A_POSE.
    """
    X = finite_array(field, value, (4, 4))
    if not is_rotation(X[:3, :3]) or X[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise VisionError(
            Condition.NOT_A_POSE,
            f"{field} is not a pose: its upper left 3x3 block must be a rotation, its last row 0 0 0 1",
            field=field,
        )
    return X


def require_fresh(age: float, max_age: float) -> None:
    """Refuse an image that is too old to act on.

    Args:
        age: time since the image was taken [s].
        max_age: largest age [s].

    Raises:
        VisionError: LATE; an age that is no number (NOT_FINITE), or negative by more than rounding (OUT_OF_RANGE).
    """
    if number("age", age, low=-ROUNDING_OF_AGE) > max_age:
        raise VisionError(
            Condition.LATE, f"the image is {1e3 * age:.0f} ms old; must be at most {1e3 * max_age:.0f} ms", field="age"
        )
