import math

import numpy as np
import pytest

from pliant.base.argument_checks import ControlError
from pliant.control import IterativeLearning, low_pass

T = np.linspace(0.0, 1.0, 201)
REFERENCE = np.stack([np.sin(np.pi * T), 0.5 * T], axis=1)


def test_gains_of_the_paper():
    rule = IterativeLearning()
    assert rule.gain_at(1) == pytest.approx(0.5 * math.exp(-0.1))
    assert sum(rule.gain_at(n) for n in range(1, 12)) == pytest.approx(3.172, abs=5e-4)
    assert sum(rule.gain_at(n) for n in range(1, 2000)) == pytest.approx(4.754, abs=5e-4)


@pytest.mark.parametrize("gain", [1.0, 0.5])
def test_the_error_of_a_static_plant_shrinks_as_the_product(gain):
    rule = IterativeLearning(tolerance=0.0, max_runs=12)
    result = rule.run(lambda u: gain * u - 0.3, REFERENCE)
    product = np.cumprod([1.0] + [1.0 - gain * rule.gain_at(n) for n in range(1, 12)])
    expected = np.abs((1.0 - gain) * REFERENCE + 0.3).max(axis=0) * product[:, None]
    np.testing.assert_allclose(result.max_errors, expected, rtol=1e-12)
    assert product[-1] == pytest.approx({1.0: 0.0216, 0.5: 0.178}[gain], rel=0.01)
    assert result.monotone
    assert not result.converged


def test_learning_stops_at_the_first_run_inside_the_tolerance_on_all_joints():
    seen = []
    result = IterativeLearning(tolerance=0.1).run(lambda u: u - [0.3, 0.2], REFERENCE, progress=seen.append)
    assert result.converged
    assert result.runs == len(seen)
    assert result.max_errors[-1].max() <= 0.1
    assert result.max_errors[-2].max() > 0.1
    np.testing.assert_array_equal(result.records[0].command, REFERENCE)
    np.testing.assert_array_equal(result.command, result.records[-1].command)


def test_low_pass_keeps_the_phase_and_removes_the_noise():
    t = np.arange(400) * 0.025
    slow = np.sin(2 * np.pi * 0.2 * t)
    noise = 0.2 * np.sin(2 * np.pi * 15.0 * t)
    out = low_pass(slow + noise)
    assert np.abs(out - slow)[20:-20].max() < 2e-3
    lag = np.argmax(np.correlate(out, slow, "full")) - (t.size - 1)
    assert lag == 0
    assert low_pass(REFERENCE).shape == REFERENCE.shape


@pytest.mark.parametrize(("samples", "pad"), [(1, 0), (3, 0), (4, 25), (400, 3)])
def test_low_pass_keeps_a_constant_and_turns_with_the_time_axis(samples, pad):
    rng = np.random.default_rng(0)
    np.testing.assert_allclose(low_pass(np.full((samples, 2), 0.7), pad=pad), 0.7, rtol=1e-12)
    x = rng.normal(size=samples)
    np.testing.assert_allclose(low_pass(x[::-1], pad=200), low_pass(x, pad=200)[::-1], atol=1e-6)


def test_the_filter_keeps_learning_from_following_the_noise():
    rng = np.random.default_rng(1)
    plant = lambda u: u - 0.3 + 0.05 * rng.standard_normal(u.shape)  # noqa: E731
    plain = IterativeLearning(tolerance=0.0, max_runs=15, decay=np.inf).run(plant, REFERENCE)
    smooth = IterativeLearning(tolerance=0.0, max_runs=15, decay=np.inf, filter_cutoff=0.1).run(plant, REFERENCE)
    rough = lambda r: np.std(np.diff(r.command - REFERENCE, axis=0))  # noqa: E731
    assert rough(smooth) < 0.2 * rough(plain)


def test_bad_plants_and_parameters_are_named():
    rule = IterativeLearning()
    with pytest.raises(ControlError, match="run 1 returned shape"):
        rule.run(lambda u: u[:-1], REFERENCE)
    with pytest.raises(ControlError, match="not finite"):
        rule.run(lambda u: u * np.nan, REFERENCE)
    with pytest.raises(ControlError, match="decay is 0"):
        IterativeLearning(decay=0.0)
    with pytest.raises(ControlError, match="max_runs"):
        IterativeLearning(max_runs=0)
