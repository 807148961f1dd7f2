"""Intervals of parameters by the profile of the likelihood: right where the model is curved within its errors.

For each parameter, the sum of squares is minimised over all others at values beside the solution. With s^2 the variance
of the residuals, the signed root of the likelihood ratio is

    t(p) = sign(p - p0) sqrt((S(p) - S(p0)) / s^2) / f

and the 95 % interval is where |t| <= 1.96 (Venzon and Moolgavkar 1988, Applied Statistics 37(1)). For a linear model it
is 1.96 standard errors wide on both sides. f >= 1 enlarges it where residuals are correlated
(`pliant.identification.correlation`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.base.numerics import Array

QUANTILE = 1.959964
"""Quantile of the normal distribution for an interval of 95 %."""

REACH = 40.0
"""Standard errors beyond which a parameter is called unlimited on a side."""

MAX_REFINEMENTS = 6
"""Most points of one side of a profile."""

MAX_CORRECTIONS = 8
"""Most steps of the minimisation over the other parameters, which keep the Jacobian of the solution."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The likelihood along one parameter."""

    values: Array
    """Values of the parameter, increasing, in its unit, shape (n,)."""
    ratio: Array
    """Signed root t of the likelihood ratio, shape (n,); a straight line for a linear model."""
    low: float
    """Lower end of the 95 % interval; -infinity, or 0 of a positive parameter, if the data do not limit it."""
    high: float
    """Upper end of the 95 % interval; infinity if the data do not limit it."""


def profile_of(
    residuals: Callable[[Array], Array],
    x: Array,
    jacobian: Array,
    index: int,
    inflation: float,
    bounds: tuple[Array, Array],
    value_of: Callable[[float], float],
) -> Profile:
    """Return the profile of one parameter.

    Args:
        residuals: residuals at a point of the search, shape (m,).
        x: solution, shape (n,).
        jacobian: Jacobian of the residuals there, shape (m, n).
        index: the parameter.
        inflation: factor f of its standard error.
        bounds: lower and upper bounds of the search, each of shape (n,).
        value_of: value of the parameter at its scaled value.
    """
    r0 = residuals(x)
    cost, (m, n) = float(r0 @ r0), jacobian.shape
    variance = cost / max(1, m - n)
    covariance = np.linalg.pinv(jacobian.T @ jacobian) * variance
    error = math.sqrt(max(float(covariance[index, index]), 0.0))
    center = value_of(float(x[index]))
    if error == 0.0 or variance == 0.0:
        return Profile(np.array([center]), np.zeros(1), -math.inf, math.inf)
    direction = covariance[:, index] / error
    others = np.delete(np.arange(n), index)
    solve = np.linalg.pinv(jacobian[:, others])

    def ratio(away: float) -> tuple[float, float]:
        """Return the scaled value at a distance in standard errors, and |t| there."""
        y = np.clip(x + away * direction, *bounds)
        best = math.inf
        for _ in range(MAX_CORRECTIONS):
            r = residuals(y)
            now = float(r @ r)
            if not math.isfinite(now):
                return float(y[index]), math.inf
            if now > best - 1e-3 * variance:
                best = min(best, now)
                break
            best = now
            y[others] -= solve @ r
            y = np.clip(y, *bounds)
        return float(y[index]), math.sqrt(max(0.0, best - cost) / variance) / inflation

    points = {float(x[index]): 0.0}
    ends = []
    for side in (-1.0, 1.0):
        near, far = (0.0, 0.0, float(x[index])), None
        away = QUANTILE * inflation
        end = side * math.inf
        for _ in range(MAX_REFINEMENTS):
            at, t = ratio(side * away)
            if math.isfinite(t):
                points[at] = side * t
            if abs(t - QUANTILE) < 0.02:
                end = at
                break
            if t < QUANTILE:
                near = (away, t, at)
                if away >= REACH * inflation:
                    break
            else:
                far = (away, t, at)
            if far is None:
                away = min(REACH * inflation, away * min(4.0, max(1.1, 1.05 * QUANTILE / max(t, 1e-9))))
            elif math.isfinite(far[1]):
                share = (QUANTILE - near[1]) / (far[1] - near[1])
                away = near[0] + share * (far[0] - near[0])
                end = near[2] + share * (far[2] - near[2])
            else:
                away = 0.5 * (near[0] + far[0])
        ends.append(end)
    low, high = (value_of(e) if math.isfinite(e) else e for e in ends)
    if low == -math.inf and value_of(-60.0) >= 0.0 > -1.0 and bounds[0][index] > -1e5:
        low = 0.0
    order = sorted(points)
    return Profile(np.array([value_of(p) for p in order]), np.array([points[p] for p in order]), low, high)
