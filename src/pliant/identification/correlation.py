"""Standard errors where the residuals are correlated: sums of the gradient over blocks of samples.

A quantised sensor, a missing effect or a filter leaves residuals that resemble their neighbours. The usual covariance
s^2 (J^T J)^-1 is then too small. With blocks b that are longer than the correlation, and g_b = J_b^T r_b,

    cov = (J^T J)^-1 (sum_b g_b g_b^T) (J^T J)^-1 B / (B - 1)

which is the limit of the bootstrap of blocks for a linearised model (Kunsch 1989, Annals of Statistics 17(3); Zeger and
Liang 1986, Biometrics 42(1)).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

from pliant.base.numerics import Array

BLOCKS = 40
"""Blocks of all samples together, but not more than would have 4 samples each."""  # assumed


def lag_correlation(r: Array, breaks: Iterable[int]) -> float:
    """Return the lag-1 correlation of residuals, shape (m,), without pairs across the breaks."""
    top, bottom = 0.0, 0.0
    for a, b in itertools.pairwise([0, *breaks, r.size]):
        piece = r[a:b]
        if piece.size > 2:
            top += float(piece[1:] @ piece[:-1])
            bottom += float(piece @ piece)
    return top / bottom if bottom > 0.0 else 0.0


def block_inflation(jacobian: Array, residual: Array, breaks: Iterable[int]) -> Array:
    """Return by which factor correlation enlarges the standard error of each parameter, shape (n,), at least 1.

    Args:
        jacobian: derivatives of the residuals, shape (m, n).
        residual: residuals at the solution, shape (m,).
        breaks: first sample of each series but the first one.
    """
    m, n = jacobian.shape
    size = max(4, m // BLOCKS)
    edges = [0, *breaks, m]
    cuts = [c for a, b in itertools.pairwise(edges) for c in range(a, max(a + 1, b - size + 1), size)]
    if len(cuts) <= n + 2:
        return np.ones(n)
    gradient = np.add.reduceat(jacobian * residual[:, None], cuts, axis=0)
    bread = np.linalg.pinv(jacobian.T @ jacobian)
    usual = np.diag(bread) * float(residual @ residual) / max(1, m - n)
    robust = np.diag(bread @ (gradient.T @ gradient) @ bread) * len(cuts) / (len(cuts) - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.sqrt(robust / usual)
    return np.where(np.isfinite(factor), np.maximum(factor, 1.0), 1.0)
