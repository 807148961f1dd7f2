"""Checks of the arguments of controllers and estimators."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import PliantError
from pliant.base.numerics import Array

__all__ = ["ControlError", "number", "vector"]


class ControlError(PliantError):
    """A controller or an estimator was given something that it cannot work with."""


def number(
    owner: str, field: str, value: float, unit: str, *, low: float = -np.inf, above: bool = False, high: float = np.inf
) -> float:
    """Return a finite number inside [low, high], or (low, high] with ``above``.

    Raises:
        ControlError: not a number, not finite, outside the range.
    """
    try:
        if isinstance(value, bool | str):
            raise TypeError
        out = float(value)
    except (TypeError, ValueError):
        raise ControlError(f"{owner}: {field} is {value!r}; must be a number [{unit}]", field=field) from None
    if not np.isfinite(out) or out < low or out > high or (above and out <= low):
        least = "" if np.isinf(low) else f", {'more than' if above else 'at least'} {low:g}"
        most = "" if np.isinf(high) else f", at most {high:g}"
        raise ControlError(f"{owner}: {field} is {out:g}; must be a finite number{least}{most} [{unit}]", field=field)
    return out


def vector(owner: str, field: str, value: ArrayLike, size: int | None = None) -> Array:
    """Return a finite vector, of one size if given; a number becomes (1,).

    Raises:
        ControlError: another shape, or values that are not finite numbers.
    """
    try:
        out = np.atleast_1d(np.array(value, dtype=float))
    except (TypeError, ValueError):
        raise ControlError(f"{owner}: {field} is {value!r}; must be numbers", field=field) from None
    if out.ndim != 1 or (size is not None and out.shape != (size,)):
        wanted = "(n,)" if size is None else f"({size},)"
        raise ControlError(f"{owner}: {field} has shape {out.shape}; must be {wanted}", field=field)
    bad = np.flatnonzero(~np.isfinite(out))
    if bad.size:
        raise ControlError(f"{owner}: {field}[{bad[0]}] is {out[bad[0]]}; must be finite numbers", field=field)
    return out


def gains(owner: str, field: str, value: ArrayLike, size: int | None = None) -> Array:
    """Return finite numbers that are not negative, as `vector`; with a size, one number stands for all.

    Raises:
        ControlError: another shape, or values that are negative or not finite.
    """
    out = vector(owner, field, value if size is None or np.ndim(value) else np.full(size, value), size)
    if np.any(out < 0.0):
        raise ControlError(f"{owner}: {field} is {out.min():g}; must be at least 0", field=field)
    return out
