"""The biped walks: on flat ground with both feet, over a bar; a fall is seen; equal seeds give equal walks."""

import math

import pytest

from pliant.base.errors import ModelError
from pliant.walking.walk import run_walk


@pytest.mark.parametrize("feet", ["rigid", "padded", "soft"])
def test_it_walks_some_steps_on_flat_ground(feet):
    result = run_walk(feet=feet, seed=1, duration=6.0)
    assert result.completed
    assert math.isnan(result.fall_time)
    assert result.steps >= 3
    assert result.distance > 0.35
    assert result.max_base_pitch < math.radians(5.0)


def test_soft_feet_that_are_pushed_sideways_stay_where_they_are():
    # With soles that creep this walk ends with a fall to the side.
    result = run_walk(feet="soft", seed=58, duration=15.0, goal=1.45, push=2.0)
    assert result.completed
    assert result.max_dcm_error < 0.08


def test_a_robot_that_stands_still_to_the_end_has_not_completed_a_walk():
    standing = run_walk(duration=1.0, push=0.0, options={"walk_start": 100.0})
    assert math.isnan(standing.fall_time)
    assert standing.steps == 0
    assert not standing.completed


def test_equal_seeds_give_equal_walks_and_other_seeds_others():
    first, again, other = (run_walk(seed=seed, duration=2.5) for seed in (3, 3, 4))
    assert repr(first) == repr(again)
    assert first.distance != other.distance


def test_a_fall_is_detected_and_ends_the_run():
    result = run_walk(feet="rigid", seed=0, duration=6.0, push=4000.0)
    assert not result.completed
    assert 1.0 < result.fall_time < 6.0
    assert result.duration == result.fall_time


@pytest.mark.parametrize(
    ("feet", "stiffness", "completed"),
    [("rigid", 100.0, False), ("soft", 100.0, True), ("rigid", 0.0, True), ("soft", 0.0, True)],
)
def test_a_bar_topples_the_robot_with_rigid_feet_and_stiff_ankles_only(feet, stiffness, completed):
    result = run_walk(
        feet=feet,
        bar_height=0.015,
        bars=[0.5],
        duration=7.0,
        push=0.0,
        options={"walk_start": 0.5, "ankle_stiffness": stiffness},
    )
    assert result.completed is completed


def test_the_bars_are_told():
    assert run_walk(bar_height=0.01, bars=[0.4, 0.8], duration=0.1).bars == (0.4, 0.8)


def test_wrong_options_are_refused():
    with pytest.raises(ModelError, match="feet"):
        run_walk(feet="round", duration=0.1)
    with pytest.raises(ModelError, match=r"robot is 'bipod'.*biped"):
        run_walk(robot="bipod", duration=0.1)
    with pytest.raises(ModelError, match="duration"):
        run_walk(duration=0.0)
    with pytest.raises(ModelError, match="foot_forward"):
        run_walk(duration=0.1, options={"foot_forwards": 0.1})


@pytest.mark.parametrize(
    ("argument", "value"), [("seed", -1), ("seed", 0.5), ("push", -1.0), ("push", math.nan), ("bars", ["near"])]
)
def test_a_wrong_argument_is_named(argument, value):
    with pytest.raises(ModelError, match=f"{'bar_positions' if argument == 'bars' else argument} "):
        run_walk(bar_height=0.01, duration=0.1, **{argument: value})
