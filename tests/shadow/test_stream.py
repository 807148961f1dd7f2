"""Times of messages: even where robots measure at an even rate, with gaps and restarts found."""

import numpy as np
import pytest

from pliant.shadow.stream import EvenClock, Stream


def test_late_messages_and_stalls_do_not_move_the_times_of_even_measurements():
    rng = np.random.default_rng(0)
    true = np.arange(3000) * 0.01
    delay = rng.exponential(0.003, true.size)
    for begin in (5.0, 12.0, 19.0):
        stalled = (true > begin) & (true < begin + 0.3)
        delay[stalled] += begin + 0.3 - true[stalled]
    arrivals = np.maximum.accumulate(true + delay)
    clock = EvenClock()
    found = [clock.times(arrivals[:200])]
    for k in range(200, true.size, 10):
        found.append(clock.times(arrivals[k : k + 10]))
    error = np.concatenate(found) - true
    assert clock.period == pytest.approx(0.01, rel=1e-12)
    later = error[400:]
    assert np.abs(later - np.median(later)).max() < 6e-4  # the arrivals differ by up to 300 ms
    assert 0.001 < np.median(later) < 0.004  # the median delay


def test_a_lost_message_is_made_up_for_without_a_jump():
    arrivals = np.delete(np.arange(2000) * 0.01, 1000)
    clock = EvenClock()
    found = np.concatenate([clock.times(arrivals[k : k + 100]) for k in range(0, 1999, 100)])
    assert np.diff(found).max() < 0.01 * 1.01
    assert found[-1] == pytest.approx(arrivals[-1], abs=2e-3)


def stream(times, **options):
    made = Stream("topic", ["joint/position"], **{"rank": 0, "stamped": True, "events": False} | options)
    for time in times:
        made.put(time, [2.0 * time])
    return made


def test_stamped_messages_keep_their_times_and_those_out_of_order_are_dropped():
    times, values = stream([0.0, 0.1, 0.05, 0.1, 0.2]).take()
    np.testing.assert_allclose(times, [0.0, 0.1, 0.2])
    np.testing.assert_allclose(values[:, 0], [0.0, 0.2, 0.4])


def test_a_restart_and_a_gap_are_told_and_a_pause_of_commands_is_not():
    times = 0.01 * np.arange(200)
    assert stream(times).fault(2.0) == ""
    assert "goes back from 1.990 to 0.500 s" in stream(times).fault(0.5)
    assert "nothing from 1.990 to 4.000 s" in stream(times).fault(4.0)
    assert stream(times, events=True).fault(60.0) == ""


def test_nothing_is_given_before_the_period_is_known():
    few = stream(0.01 * np.arange(10), stamped=False)
    assert len(few.take()[0]) == 0
    for time in 0.01 * np.arange(10, 120):
        few.put(time, [2.0 * time])
    times, values = few.take()
    assert len(times) == 120
    np.testing.assert_allclose(values[:, 0], 2.0 * times, atol=1e-9)
