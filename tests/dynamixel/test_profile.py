"""Motion profiles against the formulas of ROBOTIS' manual and against their own integral."""

import math
import random

import pytest

from pliant.dynamixel.profile import RECTANGULAR, STEP, TRAPEZOIDAL, TRIANGULAR, plan, plan_time


def test_a_trapezoid_has_the_published_times():
    # t1 = V/A, t2 = distance/V, t3 = t1 + t2 from standstill.
    profile = plan(1.0, 0.0, 4.0, 0.5, 2.0)
    assert profile.kind == TRAPEZOIDAL
    assert profile.duration == pytest.approx(0.5 / 2.0 + 3.0 / 0.5)
    assert profile.at(0.25)[1] == pytest.approx(0.5)
    assert profile.at(0.125)[0] == pytest.approx(1.0 + 0.5 * 2.0 * 0.125**2)


def test_a_short_way_has_a_triangular_profile():
    profile = plan(0.0, 0.0, -0.1, 5.0, 2.0)
    assert profile.kind == TRIANGULAR
    assert profile.duration == pytest.approx(2.0 * math.sqrt(0.1 / 2.0))


def test_without_acceleration_the_profile_is_rectangular_and_without_velocity_a_step():
    assert plan(0.0, 0.0, 1.0, 0.25, 0.0).kind == RECTANGULAR
    assert plan(0.0, 0.0, 1.0, 0.25, 0.0).at(2.0)[:2] == pytest.approx((0.5, 0.25))
    assert plan(0.0, 0.0, 1.0, 0.0, 3.0).kind == STEP
    assert plan(0.0, 0.0, 1.0, 0.0, 3.0).at(0.0) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("rise", "kind"), [(0.0, RECTANGULAR), (0.4, TRAPEZOIDAL), (1.0, TRIANGULAR), (5.0, TRIANGULAR)]
)
def test_a_profile_by_time_takes_its_time(rise, kind):
    profile = plan_time(0.0, 0.0, 3.0, 2.0, rise)
    assert (profile.kind, profile.duration) == (kind, pytest.approx(2.0))
    assert profile.at(1.0)[0] == pytest.approx(1.5)
    assert plan_time(0.0, 0.0, 3.0, 0.0, rise).kind == STEP


def test_every_profile_is_continuous_from_its_start_to_its_goal():
    draw = random.Random(3)
    for _ in range(200):
        p, v, goal = draw.uniform(-3, 3), draw.uniform(-2, 2), draw.uniform(-3, 3)
        speed, rise = draw.uniform(0.1, 3.0), draw.uniform(0.2, 9.0)
        timed = draw.random() < 0.5
        profile = plan_time(p, v, goal, speed, rise) if timed else plan(p, v, goal, speed, rise)
        assert profile.at(0.0)[:2] == pytest.approx((p, v))
        n, dt = 300, profile.duration / 300
        most = max(abs(acceleration) for _, acceleration in profile.pieces)
        before, was = p, v
        for k in range(1, n + 1):
            where, velocity, acceleration = profile.at(k * dt)
            assert abs(where - before - 0.5 * (velocity + was) * dt) <= most * dt * dt + 1e-9
            if not timed:
                assert abs(velocity) <= max(speed, abs(v)) * (1 + 1e-9)
                assert abs(acceleration) <= rise * (1 + 1e-9)
            before, was = where, velocity
        last = profile.at(profile.duration * (1 - 1e-9))
        assert last[0] == pytest.approx(goal, abs=1e-6)
        assert last[1] == pytest.approx(0.0, abs=1e-5)
        assert profile.at(profile.duration + 1.0) == (goal, 0.0, 0.0)
