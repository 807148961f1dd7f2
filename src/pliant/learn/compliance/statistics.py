"""Statistics of paired runs: interquartile means with bootstrap intervals, sign-flip tests and verdicts.

Agarwal et al. 2021, "Deep reinforcement learning at the edge of the statistical precipice" (`rliable`): the score of a
run is its mean over held-out episodes, and the scores of runs are summarised by their interquartile mean (IQM). The
interval is a percentile bootstrap that resamples runs, and episodes in common for all methods and runs, because both
are samples. `pliant.base.numerics.holm` corrects the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

ALPHA = 0.05
"""Family-wise error of the claims, and 1 - confidence of the intervals."""
REPLICATES = 4000
"""Number of bootstrap samples; ours: the limits of an interval then vary by less than 3 % of its width."""
MAX_EXACT = 14
"""Largest number of runs whose signs are all tried."""

Verdict = Literal["better", "no difference", "worse", "not judged"]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the limits of its interval of 95 %."""

    value: float
    """Interquartile mean."""
    low: float
    """2.5th percentile of the bootstrap."""
    high: float
    """97.5th percentile."""


def iqm(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the interquartile mean along the first axis: the lowest and highest quarter are left out.

    Of n scores ``int(n / 4)`` are left out at each end, as ``scipy.stats.trim_mean(scores, 0.25)`` does.
    """
    cut = len(scores) // 4
    return np.sort(scores, axis=0)[cut : len(scores) - cut].mean(axis=0)


def interval(scores: NDArray[np.float64], rng: np.random.Generator) -> Interval:
    """Return the IQM over runs of the means over episodes, with its interval of 95 %.

    Args:
        scores: shape (runs, episodes), or the differences of two methods in the same runs and episodes.
        rng: random generator of the bootstrap.
    """
    runs, episodes = scores.shape
    weights = rng.multinomial(episodes, np.full(episodes, 1.0 / episodes), size=REPLICATES) / episodes
    drawn = rng.integers(runs, size=(runs, REPLICATES))
    samples = iqm(np.take_along_axis(scores @ weights.T, drawn, axis=0))
    low, high = np.quantile(samples, (ALPHA / 2.0, 1.0 - ALPHA / 2.0))
    return Interval(float(iqm(scores.mean(axis=1))), float(low), float(high))


def smallest_p(runs: int) -> float:
    """Return the smallest p-value that a sign-flip test of a number of runs can give."""
    return 2.0 ** (1 - runs)


def sign_flip(differences: NDArray[np.float64], rng: np.random.Generator) -> float:
    """Return the two-sided p-value of the paired differences of runs, shape (runs,), being symmetric about 0.

    The mean is compared with that under all changes of sign, or under 100,000 random ones for more than `MAX_EXACT`
    runs.
    """
    runs = len(differences)
    if runs <= MAX_EXACT:
        signs = 1.0 - 2.0 * ((np.arange(2**runs)[:, None] >> np.arange(runs)) & 1)
    else:
        signs = rng.choice([-1.0, 1.0], (100_000, runs))
        signs[0] = 1.0
    means = np.abs(signs @ differences) / runs
    scale = float(np.abs(differences).max(initial=0.0))
    return float(np.mean(means >= abs(float(differences.mean())) - 1e-12 * scale))


def judge(difference: Interval, p: float, *, runs: int, count: int) -> Verdict:
    """Return the verdict on a claim.

    Args:
        difference: difference of the primary measure, signed so that above 0 the claimed method is better.
        p: p-value, corrected.
        runs: number of runs of each method.
        count: number of all registered claims.

    Returns:
        "better" or "worse" if the corrected p is below 0.05 and the interval does not contain 0; "not judged" if so few
        runs could never reach that; else "no difference".
    """
    if smallest_p(runs) * count >= ALPHA:
        return "not judged"
    if p < ALPHA and difference.low > 0.0:
        return "better"
    if p < ALPHA and difference.high < 0.0:
        return "worse"
    return "no difference"
