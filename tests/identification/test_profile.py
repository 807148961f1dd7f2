"""Intervals by the profile of the likelihood, against models whose intervals are known."""

import numpy as np
import pytest
from identification_cases import pull

from pliant.base.errors import LawError
from pliant.identification import fit_law
from pliant.identification.profile import QUANTILE, profile_of
from pliant.laws import SEA, QbMove

FREE = (np.full(2, -1e6), np.full(2, 1e6))


def test_the_interval_of_a_linear_model_is_1_96_standard_errors_on_both_sides():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((200, 2))
    y = A @ [1.0, 2.0] + 0.1 * rng.standard_normal(200)
    x = np.linalg.lstsq(A, y, rcond=None)[0]
    r = A @ x - y
    errors = np.sqrt(np.diag(np.linalg.inv(A.T @ A)) * (r @ r) / 198)
    for i in (0, 1):
        for inflation in (1.0, 3.0):
            found = profile_of(lambda z: A @ z - y, x, A, i, inflation, FREE, float)
            assert found.low == pytest.approx(x[i] - QUANTILE * inflation * errors[i], abs=0.02 * inflation * errors[i])
            assert found.high == pytest.approx(
                x[i] + QUANTILE * inflation * errors[i], abs=0.02 * inflation * errors[i]
            )


def test_the_interval_of_a_curved_model_is_where_the_sum_of_squares_says():
    # y = x^2 with one datum: S = (x^2 - 1)^2 / 0.25 + const; the ends follow by hand, and are not symmetric.
    rest = np.array([0.5, -0.5, 0.5, -0.5])

    def residuals(z):
        return np.r_[(z[0] ** 2 - 1.0) / 0.5, rest, 0.0 * z[1]]

    jacobian = np.zeros((6, 2))
    jacobian[0, 0] = 4.0
    found = profile_of(residuals, np.array([1.0, 0.0]), jacobian, 0, 1.0, FREE, float)
    half = 0.5 * QUANTILE * np.sqrt(rest @ rest / 4)
    assert found.low == pytest.approx(np.sqrt(1.0 - half), abs=0.01)
    assert found.high == pytest.approx(np.sqrt(1.0 + half), abs=0.01)


def test_a_fit_states_intervals_that_hold_the_truth_in_19_of_20_draws():
    inside = 0
    for seed in range(40):
        found = fit_law("sea", pull(SEA(k=12.0), (0.0,), noise=0.2, n=60, seed=seed), starts=1, profile=True)
        profile = found["k"].profile
        inside += profile.low <= 12.0 <= profile.high
        assert found.as_dict()["estimates"][0]["interval_95"] == [profile.low, profile.high]
    assert 34 <= inside <= 40  # 38 +- 2 standard deviations of a binomial


def test_a_profile_needs_a_linear_loss():
    with pytest.raises(LawError, match="profile needs loss 'linear'; found 'huber'"):
        fit_law(QbMove(), pull(QbMove(), (0.1,)), profile=True, loss="huber")
