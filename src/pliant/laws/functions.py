"""Scalar helpers for kernels. Python runs them, numba compiles them."""

from __future__ import annotations

import math

__all__ = ["saturate", "sinh_cosh"]


def saturate(x: float, limit: float) -> float:
    """Return x held inside [-limit, limit]."""
    if x > limit:
        return limit
    if x < -limit:
        return -limit
    return x


def sinh_cosh(x: float) -> tuple[float, float]:
    """Return (sinh x, cosh x) from one `expm1`, exact to a few units in the last place, also near 0."""
    u = math.expm1(abs(x))
    v = u / (1.0 + u)
    s = 0.5 * (u + v)
    c = 1.0 + 0.5 * u * v
    if x < 0.0:
        s = -s
    return s, c
