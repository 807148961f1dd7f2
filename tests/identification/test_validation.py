"""Held-out validation: the error on data that were not fitted."""

import numpy as np
import pytest
from identification_cases import SETS, pull

from pliant.base.errors import LawError
from pliant.identification import (
    Fitting,
    Measurement,
    fit_friction,
    fit_law,
    predict_actuator,
    predict_law,
    with_held_out,
)
from pliant.laws import SEA, PreslidingFriction


def fitting(law, **options):
    return Fitting(
        lambda data: fit_law(law, data, starts=2, **options),
        lambda found, data: predict_law(found.law, data, found.values),
    )


def trials(law, presets, **options):
    return [Measurement.of(t, source=f"log {i}") for i, t in enumerate(pull(law, presets, **options))]


def test_of_the_right_law_the_held_out_error_is_the_noise():
    found = with_held_out(fitting("qbmove"), trials(SETS["maker pro"], (0.0, 0.2, 0.4), noise=5e-3, n=200), 3)
    (held,) = found.held_out
    assert (held.parts, held.folds, held.samples) == ("logs", 3, 600)
    assert held.rms == pytest.approx(5e-3, rel=0.2)
    assert len(found.fold_values) == 3
    assert "error of torque on logs that were not fitted (3 folds)" in found.report()


def test_of_a_law_that_is_wrong_the_held_out_error_shows_it():
    # A line through one preset at a time fits better than it predicts the other presets.
    found = with_held_out(fitting("sea"), trials(SETS["maker pro"], (0.0, 0.5), noise=1e-3, n=200), 2)
    (held,) = found.held_out
    assert held.rms > 1.2 * held.fitted_rms


def test_one_log_is_held_out_by_windows_through_which_the_simulation_goes_on():
    friction = PreslidingFriction(torque=0.1, stiffness=50.0)
    (log,) = trials(SEA(k=5.0), (0.0,), noise=1e-3, n=400, friction=friction)
    start = Fitting(
        lambda data: fit_friction(SEA(k=4.0), data, ["law.k", "link_friction.torque"], starts=1),
        lambda found, data: predict_actuator(found.actuator, data, found.values, ("torque",)),
    )
    found = with_held_out(start, [log], 4)
    (held,) = found.held_out
    assert (held.parts, held.folds, held.samples) == ("windows", 4, 400)
    assert held.rms < 1.3 * held.fitted_rms


def test_folds_are_checked():
    data = trials(SEA(), (0.0,), n=40)
    with pytest.raises(LawError, match="folds is 1; must be a whole number >= 2"):
        with_held_out(fitting("sea"), data, 1)
    with pytest.raises(LawError, match="folds is 20; must be at most a quarter of the 40 samples"):
        with_held_out(fitting("sea"), data, 20)


def test_rows_that_are_left_out_do_not_change_a_fit():
    (log,) = trials(SEA(k=5.0), (0.0,), n=100)
    spoiled = np.array(log["torque"])
    spoiled[10:20] = 1e3
    rows = np.zeros(100, dtype=bool)
    rows[10:20] = True
    found = fit_law("sea", Measurement.of({**log, "torque": spoiled}).without(rows), starts=1)
    assert found["k"].value == pytest.approx(5.0, rel=1e-6)
