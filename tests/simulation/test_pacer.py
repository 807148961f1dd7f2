"""Pacers, on a clock of their own."""

import math

import pytest

from pliant.base.errors import PliantError
from pliant.simulation import free, paced, sync
from pliant.simulation.pacer import as_pacer

MS = 1_000_000


class Clock:
    """Wall time that passes only when told."""

    def __init__(self, overshoot=0):
        self.now = 5_000 * MS
        self.slept = []
        self.overshoot = overshoot

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += round(seconds * 1e9) + self.overshoot


def run(pacer, clock, steps, *, work=0, dt=MS, start=0):
    for step in range(1, steps + 1):
        clock.now += work
        pacer.pace(start + step * dt)


@pytest.mark.parametrize("rtf", [0.5, 1.0, 4.0])
def test_paced_time_keeps_the_asked_factor(rtf):
    clock = Clock()
    pacer = paced(rtf, clock=clock, sleep=clock.sleep)
    pacer.start(0)
    begin = clock.now
    run(pacer, clock, 1000, work=20_000)
    assert clock.now - begin == pytest.approx(1000 * MS / rtf, abs=2_000)
    stats = pacer.stats(1000 * MS)
    assert stats.achieved_rtf == pytest.approx(rtf, rel=1e-5)
    assert stats.simulated == pytest.approx(1.0)
    assert stats.late_steps == 0


def test_a_sleep_that_is_too_long_does_not_add_up():
    clock = Clock(overshoot=60_000)
    pacer = paced(clock=clock, sleep=clock.sleep)
    pacer.start(0)
    begin = clock.now
    run(pacer, clock, 1000)
    assert clock.now - begin == pytest.approx(1000 * MS, abs=100_000)


def test_a_short_lag_is_caught_up():
    clock = Clock()
    pacer = paced(clock=clock, sleep=clock.sleep)
    pacer.start(0)
    begin = clock.now
    clock.now += 50 * MS
    run(pacer, clock, 200)
    assert clock.now - begin == pytest.approx(200 * MS, abs=1000)
    stats = pacer.stats(200 * MS)
    assert stats.late_steps == 49
    assert stats.worst_lag == pytest.approx(0.049)
    assert stats.dropped == 0.0


def test_a_long_lag_is_given_up_and_counted():
    clock = Clock()
    pacer = paced(max_lag=0.1, clock=clock, sleep=clock.sleep)
    pacer.start(0)
    begin = clock.now
    clock.now += 500 * MS
    run(pacer, clock, 200)
    assert pacer.stats(200 * MS).dropped == pytest.approx(0.499)
    assert clock.now - begin == pytest.approx((499 + 200) * MS, abs=1000)


def test_a_run_that_falls_behind_says_so_once_while_it_runs(caplog):
    clock = Clock()
    pacer = paced(clock=clock, sleep=clock.sleep)
    pacer.start(0)
    run(pacer, clock, 500, work=MS // 2)
    assert not caplog.records
    run(pacer, clock, 1000, work=2 * MS, start=500 * MS)
    (record,) = caplog.records
    assert "falls behind real time: at 0.75" in record.getMessage()
    assert "0.75 x real time so far" in record.getMessage()
    assert pacer.lost == pytest.approx(0.75, abs=0.01)
    assert pacer.stats(1500 * MS).achieved_rtf == pytest.approx(0.6, abs=0.01)


def test_a_long_first_step_is_not_told(caplog):
    clock = Clock()
    pacer = paced(clock=clock, sleep=clock.sleep)
    pacer.start(0)
    run(pacer, clock, 2, work=2000 * MS)
    run(pacer, clock, 500, work=MS // 2, start=2 * MS)
    assert not caplog.records
    assert pacer.lost > 3.0


def test_a_pause_counts_neither_as_time_nor_as_lag():
    clock = Clock()
    pacer = paced(clock=clock, sleep=clock.sleep)
    pacer.start(0)
    run(pacer, clock, 100)
    pacer.suspend(100 * MS)
    clock.now += 10_000 * MS
    pacer.start(100 * MS)
    run(pacer, clock, 100, start=100 * MS)
    stats = pacer.stats(200 * MS)
    assert stats.achieved_rtf == pytest.approx(1.0, rel=1e-5)
    assert stats.late_steps == 0
    assert stats.wall == pytest.approx(0.2, rel=1e-5)


def test_the_recent_factor_covers_the_time_since_it_was_asked():
    clock = Clock()
    pacer = paced(max_lag=10.0, clock=clock, sleep=clock.sleep)
    pacer.start(0)
    assert math.isnan(pacer.stats(0).achieved_rtf)
    run(pacer, clock, 100)
    assert pacer.stats(100 * MS).recent_rtf == pytest.approx(1.0, rel=1e-4)
    run(pacer, clock, 100, work=4 * MS, start=100 * MS)
    stats = pacer.stats(200 * MS)
    assert stats.recent_rtf == pytest.approx(0.25, rel=1e-3)
    assert stats.achieved_rtf == pytest.approx(0.4, rel=1e-3)


def test_sync_waits_for_bridges_and_free_for_nobody_and_neither_for_time():
    clock = Clock()
    assert sync().waits
    assert paced().waits
    assert not free().waits
    for pacer in (sync(), free()):
        assert not pacer.paces
        run(pacer, clock, 10)
    assert not clock.slept


@pytest.mark.parametrize("rtf", [0.0, -1.0, math.nan, math.inf, "fast"])
def test_a_factor_must_be_finite_and_above_zero(rtf):
    with pytest.raises(PliantError, match="must be a finite number above 0"):
        paced(rtf)


def test_a_pacer_may_be_named_or_given_as_a_factor():
    assert as_pacer("free").mode == "free"
    assert as_pacer(0.5).rtf == 0.5
    assert repr(as_pacer(2)) == "paced(2)"
    with pytest.raises(PliantError, match="did you mean 'paced'"):
        as_pacer("pace")
    with pytest.raises(PliantError, match="pacer is None"):
        as_pacer(None)


def test_slack_is_the_time_until_the_next_step_is_due():
    clock = Clock()
    pacer = paced(2.0, clock=clock, sleep=clock.sleep)
    pacer.start(0)
    assert pacer.slack(10 * MS) == pytest.approx(5 * MS)
    clock.now += 7 * MS
    assert pacer.slack(10 * MS) == pytest.approx(-2 * MS)
    assert free().slack(10 * MS) == math.inf
    assert sync().slack(10 * MS) == math.inf
