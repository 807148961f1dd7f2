"""Loops of deflection over torque: closed forms of single losses, fits that find what made a loop."""

import numpy as np
import pytest

from pliant.base.errors import LawError
from pliant.identification.loops import (
    IN_FORCE,
    OFF,
    TorqueLoops,
    fit_loops,
    loop_misfits,
    predict_loop,
    refit_one,
    validate_loops,
)

PRESETS = (0.0, 0.4602, 0.6903)
TORQUE = np.round(np.linspace(-1.4, 1.4, 29), 1)
LAW = ("k", "a", "torque_zero", "deflection_zero")
COMPLETE = (*LAW, "parallel", "friction", "spring_friction", "presliding", "dead_zone", "motor_friction")


def predicted(torque, preset, values):
    return predict_loop(torque, preset, values, turn=1.47)


def closed_form(preset, torque=TORQUE, *, friction=0.0, torque_offset=0.0, position_offset=0.0):
    """Return the loop of the law with Coulomb friction: phi = asinh((tau -+ F) / (2 k cosh(a p))) / a."""
    scale = 2.0 * OFF["k"] * np.cosh(OFF["a"] * preset)
    loads = np.stack([torque - torque_offset - friction, torque - torque_offset + friction])
    return np.arcsinh(loads / scale) / OFF["a"] + position_offset


def test_blocks_that_are_off_leave_the_law():
    for preset in PRESETS:
        np.testing.assert_allclose(predicted(TORQUE, preset, {}), closed_form(preset), atol=1e-4)


def test_friction_of_the_bearing_widens_the_loop_against_the_torque():
    found = predicted(TORQUE, 0.4602, {"friction": 0.05, "torque_zero": 0.02, "deflection_zero": 0.01})
    backwards = closed_form(0.4602, friction=-0.05, torque_offset=0.02, position_offset=0.01)
    np.testing.assert_allclose(found, backwards, atol=1e-4)


def test_hysteresis_far_from_a_turn_is_its_torque_and_vanishes_at_the_turn():
    rising, falling = predicted(TORQUE, 0.0, {"hysteresis": 0.05, "presliding": 0.01})
    wide = closed_form(0.0, friction=0.05)
    middle = np.abs(TORQUE) < 1.0
    np.testing.assert_allclose(rising[middle], wide[0][middle], atol=1e-3)
    np.testing.assert_allclose(falling[middle], wide[1][middle], atol=1e-3)
    ends = predicted(np.array([-1.47, 1.47]), 0.0, {"hysteresis": 0.05, "presliding": 0.03})
    np.testing.assert_allclose(ends[0], ends[1], atol=3e-4)


def test_a_dead_zone_lowers_the_preset_of_two_loaded_motors_by_itself():
    near = np.array([-0.05, 0.0, 0.05])
    found = predicted(near, 0.6903, {"dead_zone": 0.05, "motor_friction": 0.02})
    np.testing.assert_allclose(found[0], closed_form(0.6403, near)[0], atol=2e-5)


def test_yielding_motors_lower_the_preset_by_the_load_of_their_springs():
    from scipy.optimize import brentq

    def excess(preset):
        return preset - 0.6903 + 0.1 * OFF["k"] * np.sinh(OFF["a"] * preset)

    preset = float(brentq(excess, 0.0, 0.7, xtol=1e-12))
    near = np.array([-0.02, 0.02])
    found = predicted(near, 0.6903, {"droop": 0.1})
    assert np.ptp(found[0]) == pytest.approx(np.ptp(closed_form(preset, near)[0]), rel=1e-3)


def test_stretching_tendons_are_in_series_with_the_springs():
    found = predicted(TORQUE, 0.0, {"stretch": 0.1})
    np.testing.assert_allclose(found, closed_form(0.0) + 0.1 * 0.5 * TORQUE, atol=5e-4)


def made_by_blocks(**presets_in_force):
    values = {"k": 0.004, "a": 8.5, "parallel": 0.4, "friction": 0.01, "spring_friction": 0.2, "presliding": 0.06}
    values |= {"dead_zone": 0.08, "motor_friction": 0.04, "torque_zero": 0.01, "deflection_zero": 0.005}
    loops = {p: predicted(TORQUE, presets_in_force.get(str(p), p), values) for p in PRESETS}
    return TorqueLoops(torque=TORQUE, turn=1.47, deflection=loops)


def test_two_loops_predict_the_third_of_a_joint_that_has_the_blocks_and_no_others():
    loops = made_by_blocks()
    found = fit_loops(loops.without(0.4602), COMPLETE)
    assert loop_misfits(loops, found)[0.4602] < 1e-3
    law = fit_loops(loops.without(0.4602), LAW)
    assert loop_misfits(loops, law)[0.4602] > 0.05


def test_the_one_number_that_differs_in_a_loop_is_found_and_no_other_does_as_well():
    loops = made_by_blocks(**{"0.4602": 0.5})
    fit = validate_loops(loops, COMPLETE)
    assert fit.predicted[0.4602] > 0.05
    found = {name: by_preset[0.4602] for name, by_preset in refit_one(loops, fit).items()}
    assert set(found) == {IN_FORCE, *COMPLETE}
    assert min(found, key=found.__getitem__) == IN_FORCE
    assert found[IN_FORCE] < 5e-3
    assert all(value <= fit.predicted[0.4602] for value in found.values())


def test_a_parameter_that_does_not_exist_is_refused_by_name():
    with pytest.raises(LawError, match=r"no parameter 'backlsh'.*backlash"):
        fit_loops(made_by_blocks(), ["k", "backlsh"])
    with pytest.raises(LawError, match="no parameter 'kk'"):
        predicted(TORQUE, 0.0, {"kk": 1.0})
