"""Scalar helpers for kernels. Python runs them, numba compiles them."""

from __future__ import annotations

import math


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
        z = 1.0 / 362880.0 + y * (1.0 / 39916800.0 + y * (1.0 / 6227020800.0))
        return x + x * y * (1.0 / 6.0 + y * (1.0 / 120.0 + y * (1.0 / 5040.0 + y * z)))
    e = math.exp(x)
    return 0.5 * (e - 1.0 / e)


def cosh(x: float) -> float:
    """Return cosh x from one `exp`."""
    e = math.exp(x)
    return 0.5 * (e + 1.0 / e)


def where(condition: bool, a: float, b: float) -> float:
    """Return a where the condition holds, else b: the branch that an energy may have."""
    if condition:
        return a
    return b
