"""How much is said."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.errors import PliantError
from pliant.base.ratelimit import RateLimit


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_a_burst_passes_then_so_many_a_second_and_the_rest_is_counted():
    clock = Clock()
    limit = RateLimit(burst=3, rate=2.0, clock=clock)
    assert [limit.admit() for _ in range(5)] == [0, 0, 0, None, None]
    assert limit.held == 2
    clock.now += 0.5  # one message more
    assert limit.admit() == 2
    assert limit.admit() is None
    assert limit.release() == 1
    assert limit.held == 0


def test_a_long_silence_saves_up_no_more_than_a_burst():
    clock = Clock()
    limit = RateLimit(burst=2, rate=10.0, clock=clock)
    clock.now += 3600.0
    assert [limit.admit() for _ in range(4)] == [0, 0, None, None]


def test_a_clock_that_goes_back_gives_nothing_away():
    clock = Clock()
    limit = RateLimit(burst=1, rate=1.0, clock=clock)
    assert limit.admit() == 0
    clock.now -= 50.0
    assert limit.admit() is None


@given(st.lists(st.floats(0.0, 5.0), min_size=1, max_size=200), st.integers(1, 5), st.floats(0.1, 10.0))
def test_never_more_than_burst_plus_rate_times_time_pass_and_none_is_forgotten(gaps, burst, rate):
    clock = Clock()
    limit = RateLimit(burst=burst, rate=rate, clock=clock)
    answers = []
    for gap in gaps:
        clock.now += gap
        answers.append(limit.admit())
    passed = [a for a in answers if a is not None]
    assert len(passed) <= burst + rate * sum(gaps) + 1e-6
    assert len(passed) + sum(passed) + limit.held == len(gaps)


def test_threads_do_not_lose_a_count():
    limit = RateLimit(burst=1, rate=1e-9, clock=lambda: 0.0)
    passed = []

    def ask():
        for _ in range(2000):
            if limit.admit() is not None:
                passed.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 1
    assert limit.held == 4 * 2000 - 1


@pytest.mark.parametrize("wrong", [{"burst": 0}, {"rate": 0.0}, {"rate": float("nan")}, {"rate": float("inf")}])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(PliantError, match="must be"):
        RateLimit(**wrong)
