"""Scalar helpers for kernels. Python runs them, numba compiles them."""

from __future__ import annotations

import math

__all__ = ["cosh", "saturate", "sinh", "where"]


def saturate(x: float, limit: float) -> float:
    """Return x held inside [-limit, limit]."""
    if x > limit:
        return limit
    if x < -limit:
        return -limit
    return x


def sinh(x: float) -> float:
    """Return sinh x to a few units in the last place (a series near 0, one `exp` elsewhere)."""
    if -0.5 < x < 0.5:
        y = x * x
        return x * (
            1.0
            + y / 6.0 * (1.0 + y / 20.0 * (1.0 + y / 42.0 * (1.0 + y / 72.0 * (1.0 + y / 110.0 * (1.0 + y / 156.0)))))
        )
    e = math.exp(x)
    return 0.5 * (e - 1.0 / e)


def cosh(x: float) -> float:
    """Return cosh x from one `exp`."""
    e = math.exp(x)
    return 0.5 * (e + 1.0 / e)


def where(condition: bool, a: float, b: float) -> float:
    """Return a where the condition holds, else b: the branch that `pliant.laws.autodiff` can differentiate."""
    if condition:
        return a
    return b
