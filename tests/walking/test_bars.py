"""Bars across the way: where they are and what they are."""

from types import SimpleNamespace

import mujoco
import pytest

from pliant.base.errors import ModelError
from pliant.walking.bars import add_bars, bar_positions


def options(**changes):
    given = {"bar_height": 0.02, "bar_positions": (), "bar_count": 3, "bar_range": (0.3, 1.2), "bar_seed": 7}
    return SimpleNamespace(**{**given, **changes})


def test_each_section_of_the_range_has_one_bar_at_the_place_of_the_seed():
    places = bar_positions(options())
    assert all(0.3 + 0.3 * i <= x < 0.6 + 0.3 * i for i, x in enumerate(places))
    assert places == bar_positions(options())
    assert places != bar_positions(options(bar_seed=8))


def test_given_places_are_taken_and_without_a_height_there_is_no_bar():
    assert bar_positions(options(bar_positions=(0.5, 0.9))) == (0.5, 0.9)
    assert bar_positions(options(bar_height=0.0)) == ()


def test_a_range_that_is_empty_is_refused():
    with pytest.raises(ModelError, match=r"bar_range is 1, 1; its first value must be < its second"):
        bar_positions(options(bar_range=(1.0, 1.0)))


def test_bars_lie_on_the_ground_and_count_from_the_ankles():
    spec = mujoco.MjSpec()
    add_bars(spec, options(bar_positions=(0.5,)), ankles=-0.02)
    model = spec.compile()
    assert model.geom("bar_1").pos == pytest.approx([0.48, 0.0, 0.01])
    assert model.geom("bar_1").size == pytest.approx([0.01, 0.4, 0.01])
