"""Named conditions under which nothing can be computed from what the camera sees.

Functions of this room return finite numbers or raise `VisionError`. A controller reads `VisionError.condition` to
decide what the arm does; it never has to look for NaN.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import PliantError
from pliant.base.numerics import Array

MIN_DEPTH = 1e-6
"""Smallest depth that counts as in front of the camera [m]; below it 1/Z leaves the range of any control."""  # assumed


class Condition(StrEnum):
    """Why nothing was computed."""

    SHAPE = "shape"
    """An array has another shape than its meaning needs."""
    NOT_FINITE = "not finite"
    """NaN or infinity was given, or numbers so large that the result overflows."""
    OUT_OF_RANGE = "out of range"
    """A parameter is outside its valid range."""
    NOT_A_POSE = "not a pose"
    """A matrix is not a rotation and a translation."""
    DEPTH = "depth"
    """A depth is zero or negative."""
    BEHIND_CAMERA = "behind camera"
    """A part of the target lies behind the camera or in its focal plane."""
    OUT_OF_VIEW = "out of view"
    """A part of the target is outside the image."""
    SINGULAR = "singular"
    """The interaction matrix or Jacobian has lost rank."""
    DEGENERATE = "degenerate"
    """The target is seen edge-on, or its features coincide, so that the feature is not defined."""
    LATE = "late"
    """The image is older than the controller accepts."""
    DISTORTION = "distortion"
    """A pixel is outside the range in which the lens distortion can be inverted."""


class VisionError(PliantError):
    """Nothing can be computed from what was given; `condition` says why.

    Attributes:
        condition: the named condition.
        field: the argument at fault.
    """

    def __init__(self, condition: Condition, message: str, *, field: str | None = None) -> None:
        super().__init__(message, field=field)
        self.condition = condition


def finite_array(field: str, value: ArrayLike, shape: tuple[int | None, ...]) -> Array:
    """Return a finite array of one shape; None in the shape stands for any length.

    Raises:
        VisionError: SHAPE or NOT_FINITE.
    """
    try:
        out = np.array(value, dtype=float)
    except (TypeError, ValueError):
        out = None
    if out is None or out.ndim != len(shape) or not all(n is None or n == m for n, m in zip(shape, out.shape)):
        found = "is not an array of numbers; must have shape" if out is None else f"has shape {out.shape}; must be"
        wanted = ", ".join("n" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "")
        raise VisionError(Condition.SHAPE, f"{field} {found} ({wanted})", field=field)
    if not np.isfinite(out).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(out))[0])
        raise VisionError(
            Condition.NOT_FINITE, f"{field}{list(index)} is {out[index]}; must be finite numbers", field=field
        )
    return out


def finite_result(name: str, value: object) -> Array:
    """Return a computed array if all of it is finite.

    Raises:
        VisionError: NOT_FINITE, because the arguments were too large or too small.
    """
    out = np.asarray(value, dtype=float)
    if not np.all(np.isfinite(out)):
        raise VisionError(
            Condition.NOT_FINITE, f"{name} overflows: the arguments are outside of any physical range", field=name
        )
    return out


def number(field: str, value: Any, *, low: float = -np.inf, above: bool = False, high: float = np.inf) -> float:
    """Return a finite number inside [low, high], or (low, high] with ``above``.

    Raises:
        VisionError: NOT_FINITE or OUT_OF_RANGE.
    """
    try:
        if isinstance(value, bool | str):
            raise TypeError
        out = float(value)
    except (TypeError, ValueError):
        raise VisionError(Condition.OUT_OF_RANGE, f"{field} is {value!r}; must be a number", field=field) from None
    if not np.isfinite(out):
        raise VisionError(Condition.NOT_FINITE, f"{field} is {out}; must be a finite number", field=field)
    if out < low or out > high or (above and out <= low):
        least = "" if np.isinf(low) else f" {'more than' if above else 'at least'} {low:g}"
        most = "" if np.isinf(high) else f" at most {high:g}"
        raise VisionError(Condition.OUT_OF_RANGE, f"{field} is {out:g}; must be{least}{most}", field=field)
    return out


def whole_number(field: str, value: object, *, low: int, high: float = np.inf) -> int:
    """Return a whole number inside [low, high].

    Raises:
        VisionError: NOT_FINITE or OUT_OF_RANGE.
    """
    found = number(field, value, low=low, high=high)
    if found != round(found):
        raise VisionError(Condition.OUT_OF_RANGE, f"{field} is {found:g}; must be a whole number", field=field)
    return int(found)


def positive_depth(field: str, value: ArrayLike, *, condition: Condition = Condition.DEPTH) -> Array:
    """Return depths, shape (n,) [m], if all are in front of the camera.

    Raises:
        VisionError: SHAPE, NOT_FINITE, or the condition given.
    """
    one = isinstance(value, float | int) or (isinstance(value, np.ndarray | np.generic) and value.ndim == 0)
    Z = finite_array(field, np.array([value]) if one else value, (None,))
    bad = np.flatnonzero(MIN_DEPTH > Z)
    if bad.size:
        raise VisionError(
            condition, f"{field}[{bad[0]}] is {Z[bad[0]]:g} m; must be at least {MIN_DEPTH:g} m", field=field
        )
    return Z
