"""The fit of the bench's set-up: known parameters are found again, with errors that are true."""

import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.feet.fit import fit_setup
from pliant.feet.trials import Trials, all_trials, simulate_trials

TRUTH = {"heel_block": -0.063, "closure_compliance": 1.1e-5}


def _measured(positions=(2, 5), noise=0.3, **truth):
    trials = all_trials((100.0,), (0.01, 0.02), positions)
    found = simulate_trials(trials, coupling="midpoint", tendon="fixed", duration=2.5, ramp=0.5, **truth)
    rng = np.random.default_rng(3)
    mounting = rng.uniform(-0.2, 0.2, 6)
    return Trials(
        trials=found.trials,
        force=found.force + noise * rng.standard_normal(found.force.shape),
        pitch=found.pitch + mounting + np.radians(noise) * rng.standard_normal(found.pitch.shape),
    )


def test_known_parameters_are_found_again_with_errors_that_cover_them():
    from pliant.feet.softfoot_bench import SoftFootBenchOptions

    reduced = SoftFootBenchOptions(coupling="midpoint", tendon="fixed")
    progress = []
    fit = fit_setup(
        _measured(**TRUTH),
        list(TRUTH),
        reduced,
        force_sigma=0.3,
        pitch_sigma=np.radians(0.3),
        starts=1,
        max_iterations=4,
        progress=progress.append,
    )
    for name, truth in TRUTH.items():
        estimate = fit[name]
        assert abs(estimate.value - truth) < 3.0 * estimate.standard_error, name
        assert 0.0 < estimate.standard_error < 0.15 * abs(truth), name
        assert getattr(fit.options, name) == estimate.value
    assert fit.rms_force[1] < 0.4 < fit.rms_force[0]
    assert fit.rms_pitch[1] < fit.rms_pitch[0]
    assert fit.covariance == pytest.approx(fit.covariance.T)
    assert progress == sorted(progress)
    assert fit["heel_block"].unit == "m"


def test_what_cannot_be_fitted_is_refused():
    measured = _measured()
    with pytest.raises(PliantError, match="'edge_radius' cannot be fitted"):
        fit_setup(measured, ["edge_radius"])
    with pytest.raises(PliantError, match="force_sigma is 0; must be > 0"):
        fit_setup(measured, ["pitch"], force_sigma=0.0)
    with pytest.raises(PliantError, match="there must be at least one parameter"):
        fit_setup(measured, [])
