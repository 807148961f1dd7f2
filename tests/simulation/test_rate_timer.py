"""When a rate is due."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.simulation.rate_timer import RateTimer

MS = 1_000_000


def due(every, stamps):
    return [stamp // MS for stamp in stamps if every.due(stamp)]


@pytest.mark.parametrize(
    ("rate", "expected"),
    [(0.0, list(range(1, 11))), (1000.0, list(range(1, 11))), (500.0, [2, 4, 6, 8, 10]), (300.0, [4, 7, 10])],
)
def test_a_rate_is_due_at_the_first_step_at_or_after_each_of_its_times(rate, expected):
    assert due(RateTimer(rate), range(MS, 11 * MS, MS)) == expected


def test_times_that_start_anew_are_due_anew():
    every = RateTimer(500.0)
    assert due(every, range(MS, 6 * MS, MS)) == [2, 4]
    assert due(every, range(0, 5 * MS, MS)) == [0, 2, 4]


@given(st.sampled_from([0.0, 100.0, 333.0, 1000.0]), st.lists(st.integers(0, 30), min_size=1, max_size=40))
def test_the_same_time_gets_the_same_answer_as_often_as_it_is_asked(rate, steps):
    once, often = RateTimer(rate), RateTimer(rate)
    for step in steps:
        answer = once.due(step * MS)
        assert [often.due(step * MS) for _ in range(3)] == [answer] * 3
