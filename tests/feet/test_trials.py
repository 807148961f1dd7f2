"""The trials of the SoftFoot's bench: balance, rest, batches, reduced models."""

import dataclasses

import numpy as np
import pytest

from pliant.base.errors import ModelError, PliantError
from pliant.feet.measured import rotation_errors
from pliant.feet.softfoot_bench import SoftFootBenchOptions
from pliant.feet.trials import Trial, all_trials, simulate_trials

FEW = [Trial(50.0, 0.005, 1), Trial(50.0, 0.02, 5), Trial(100.0, 0.01, 3), Trial(100.0, 0.02, 6)]


def test_there_are_48_trials_the_load_outermost_and_the_position_innermost():
    trials = all_trials()
    assert len(set(trials)) == 48
    assert [t.position for t in trials[:7]] == [1, 2, 3, 4, 5, 6, 1]
    assert len({t.load for t in trials[:24]}) == 1


@pytest.fixture(scope="module")
def few():
    return simulate_trials(FEW)


def test_the_blocks_carry_the_load_and_the_weight_at_rest(few):
    assert few.total == pytest.approx(few.load + few.weight, abs=1e-6)
    assert few.weight == pytest.approx(9.81 * (0.937152 - 4 * 0.0527465), abs=1e-4)
    assert few.speed < 1e-6


def test_equilibria_do_not_depend_on_the_time_step(few):
    # Some trials have two equilibria up to 2 N apart; a load applied at once reaches either, by the time step.
    fine = simulate_trials(FEW, timestep=1e-3)
    assert fine.force == pytest.approx(few.force, abs=1e-6)
    assert fine.pitch == pytest.approx(few.pitch, abs=1e-7)


def test_a_trial_in_a_batch_is_the_same_as_alone(few):
    alone = simulate_trials(FEW[3:])
    assert alone.force[0] == pytest.approx(few.force[3], abs=1e-9)
    assert alone.pitch[0] == pytest.approx(few.pitch[3], abs=1e-12)


def test_reduced_models_stay_within_two_newtons_and_a_third_of_a_degree(few):
    fixed = simulate_trials(FEW, tendon="fixed")
    assert np.abs(fixed.force - few.force).max() < 0.1
    reduced = simulate_trials(FEW, coupling="midpoint", tendon="fixed")
    assert np.abs(reduced.force - few.force).mean(axis=0).max() < 2.0
    assert np.degrees(np.abs(rotation_errors(reduced, few))).mean() < 0.3
    assert np.abs(reduced.force - few.force).max() > 0.1, "the reduced model is not the exact one"


def test_the_obstacle_lifts_the_modules_in_front_of_it_less_than_those_behind_it():
    found = simulate_trials([Trial(100.0, 0.02, 4)])
    assert (found.pitch[0, :4] > 0.0).all()
    assert found.pitch[0, 5] < 0.0


def test_trials_are_chosen_by_load_height_and_position(few):
    assert few.where(load=100.0).tolist() == [False, False, True, True]
    assert few.where(height=0.02, position=6).tolist() == [False, False, False, True]


def test_a_right_foot_gives_the_same_as_a_left_one(few):
    assert simulate_trials(FEW[2:3], side="right").force[0] == pytest.approx(few.force[2], abs=1e-8)


def test_options_and_changes_are_checked():
    with pytest.raises(ModelError, match="coupling"):
        simulate_trials(FEW, couplin="midpoint")
    with pytest.raises(ModelError, match="must be a whole number from 1 to 6"):
        simulate_trials([Trial(50.0, 0.01, 9)])
    with pytest.raises(ModelError, match="obstacle_height is 10"):
        simulate_trials([Trial(50.0, 10.0, 1)])
    with pytest.raises(PliantError, match="no trials"):
        simulate_trials([])
    with pytest.raises(PliantError, match="duration is -1"):
        simulate_trials(FEW, duration=-1.0)
    options = dataclasses.replace(SoftFootBenchOptions(), closure_compliance=1e-6)
    with pytest.raises(ModelError, match="time step must be <="):
        simulate_trials(FEW, options)
