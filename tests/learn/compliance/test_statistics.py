"""Intervals, tests and verdicts."""

import numpy as np
import pytest
from scipy.stats import bootstrap, permutation_test, trim_mean

from pliant.base.errors import PliantError
from pliant.base.numerics import holm
from pliant.learn.compliance.statistics import MAX_EXACT, Interval, interval, iqm, judge, sign_flip, smallest_p


@pytest.mark.parametrize("runs", [1, 3, 4, 7, 10, 16])
def test_the_interquartile_mean_is_the_trimmed_mean_of_a_quarter(runs):
    scores = np.random.default_rng(runs).normal(size=runs)
    assert iqm(scores) == pytest.approx(trim_mean(scores, 0.25))


def test_the_sign_flip_test_counts_all_signs():
    rng = np.random.default_rng(0)
    assert sign_flip(np.array([1.0, 2.0, 3.0]), rng) == pytest.approx(2.0 / 8.0)
    assert sign_flip(np.array([1.0, 2.0, -3.0]), rng) == 1.0
    assert sign_flip(np.zeros(4), rng) == 1.0
    assert sign_flip(np.ones(10), rng) == smallest_p(10)


@pytest.mark.parametrize("runs", [5, 8, 10, 13, 18])
def test_the_sign_flip_test_is_scipys_permutation_test_of_paired_samples(runs):
    differences = np.random.default_rng(runs).normal(0.4, 1.0, runs)
    exact = runs <= MAX_EXACT
    expected = permutation_test(
        (differences,), lambda x, axis: x.mean(axis=axis), permutation_type="samples", vectorized=True,
        n_resamples=np.inf if exact else 50_000, rng=np.random.default_rng(1),
    ).pvalue  # fmt: skip
    found = sign_flip(differences, np.random.default_rng(2))
    assert found == pytest.approx(expected, abs=1e-12 if exact else 0.01)


@pytest.mark.parametrize("runs", [5, 9, 10, 20])
def test_the_interval_of_runs_is_scipys_percentile_bootstrap_of_the_interquartile_mean(runs):
    scores = np.random.default_rng(runs).normal(size=runs)
    found = interval(scores[:, None], np.random.default_rng(1))
    expected = bootstrap(
        (scores,), lambda x, axis: trim_mean(x, 0.25, axis=axis), n_resamples=20_000, method="percentile",
        vectorized=True, rng=np.random.default_rng(2),
    ).confidence_interval  # fmt: skip
    width = expected.high - expected.low
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.05 * width)


def test_holm_multiplies_the_smallest_p_by_all_claims():
    assert holm([0.04, 0.01, 0.03], 3) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.01], 10) == pytest.approx([0.1])  # claims that were not tested are counted
    with pytest.raises(PliantError, match="3 p-values of a family of 2"):
        holm([0.1, 0.1, 0.1], 2)


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_of_95_percent_contains_the_truth_about_so_often(monkeypatch, seed):
    from pliant.learn.compliance import statistics

    monkeypatch.setattr(statistics, "REPLICATES", 150)
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(60):  # runs and episodes both vary
        scores = rng.normal(0.0, 1.0, (10, 1)) + rng.normal(0.0, 1.0, (1, 30)) + rng.normal(0.0, 1.0, (10, 30))
        found = interval(scores, rng)
        hits += found.low <= 0.0 <= found.high
    assert hits >= 49  # a binomial of 60 draws with 0.92 is below with a probability of 0.3 %


def test_a_verdict_needs_the_corrected_p_and_the_interval():
    above, around = Interval(1.0, 0.5, 1.5), Interval(0.2, -0.1, 0.5)
    assert judge(above, 0.01, runs=10, count=10) == "better"
    assert judge(Interval(-1.0, -1.5, -0.5), 0.01, runs=10, count=10) == "worse"
    assert judge(above, 0.06, runs=10, count=10) == "no difference"
    assert judge(around, 0.01, runs=10, count=10) == "no difference"
    assert judge(above, 0.01, runs=5, count=10) == "not judged"
