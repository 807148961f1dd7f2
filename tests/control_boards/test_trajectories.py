"""The generators of a control board against their formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.control_boards import DT, arm, wrist

from pliant.base.errors import DeviceError

TOLERANCE = 1e-9


def quintic(x0, v0, xf, T, t):
    """Position of the polynomial of fifth order with these ends, at rest at its end, without acceleration at both."""
    powers = np.arange(6)
    rows = [
        [1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 0, 2, 0, 0, 0],
        np.ones(6),
        powers,
        powers * (powers - 1),
    ]
    # In s = t/T, where the equations are well conditioned.
    c = np.linalg.solve(np.array(rows, dtype=float), [x0, v0 * T, 0.0, xf, 0.0, 0.0])
    return np.polyval(c[::-1], t / T)


def test_minimum_jerk_is_the_quintic_between_two_rests():
    rig = arm(speed=(0.5, 0.05, 1.0))
    rig.board.move([0.8, 0.1, -1.2])
    rows = rig.rows("position_reference", 2200)
    for a, (goal, speed) in enumerate([(0.8, 0.5), (0.1, 0.05), (-1.2, 1.0)]):
        T = abs(goal) / speed
        t = DT * np.arange(1, round(T / DT))
        assert np.abs(rows[: len(t), a] - quintic(0.0, 0.0, goal, T, t)).max() < TOLERANCE
        assert (rows[round(T / DT) :, a] == goal).all()


def test_minimum_jerk_goes_on_with_the_speed_it_has_when_the_target_changes():
    rig = wrist(speed=1.0)
    rig.board.move([1.0])
    x = rig.rows("position_reference", 400)[-1, 0]
    v = rig.board.read_row("velocity_reference")[0]
    rig.board.move([-0.5])
    rows = rig.rows("position_reference", 1500)[:, 0]
    T = abs(-0.5 - x)
    t = DT * np.arange(1, int(T / DT))
    assert v > 0.5
    assert np.abs(rows[: len(t)] - quintic(x, v, -0.5, T, t)).max() < TOLERANCE


def test_minimum_jerk_is_done_one_sample_before_its_end():
    rig = wrist(speed=1.0)
    rig.board.move([0.5])
    done = rig.rows("motion_done", 520)[:, 0]
    N = 500
    assert not done[: N - 2].any()
    assert done[N - 2 :].all()


def test_constant_speed_moves_by_equal_steps():
    rig = wrist(speed=0.7, trajectory="constant_speed")
    rig.board.move([-1.0])
    rows = rig.rows("position_reference", 1600)[:, 0]
    k = np.arange(1, 1428)
    assert np.abs(rows[: len(k)] + 0.7 * DT * k).max() < TOLERANCE
    assert rows[-1] == -1.0
    assert rig.board.motion_done()


@pytest.mark.parametrize(("goal", "speed", "acceleration"), [(1.0, 0.5, 1.0), (-0.2, 0.5, 2.0), (0.9, 3.0, 4.0)])
def test_a_trapezoid_is_two_parabolas_and_a_line(goal, speed, acceleration):
    rig = wrist(speed=speed, acceleration=acceleration, trajectory="trapezoidal_speed")
    rig.board.move([goal])
    d, way = abs(goal), np.sign(goal)
    v = min(speed, np.sqrt(acceleration * d))
    ramp = v / acceleration
    T = d / v + ramp
    t = DT * np.arange(1, int(T / DT))
    x = np.where(
        t < ramp,
        0.5 * acceleration * t**2,
        np.where(t < T - ramp, 0.5 * v * ramp + v * (t - ramp), d - 0.5 * acceleration * (T - t) ** 2),
    )
    rows = rig.rows("position_reference", len(t) + 5)[:, 0]
    assert np.abs(rows[: len(t)] - way * x).max() < TOLERANCE
    assert rows[-1] == goal


@settings(max_examples=40, deadline=None)
@given(
    goals=st.lists(st.floats(-2.5, 2.5), min_size=2, max_size=4),
    after=st.integers(1, 400),
    speed=st.floats(0.1, 3.0),
    acceleration=st.floats(0.5, 20.0),
)
def test_a_trapezoid_keeps_its_speed_and_ends_at_rest_at_the_last_target(goals, after, speed, acceleration):
    rig = wrist(speed=speed, acceleration=acceleration, trajectory="trapezoidal_speed")
    x = [rig.board.read_row("position_reference")[0]]
    for goal in goals:
        rig.board.move([goal])
        for _ in range(after):
            rig.board.write()
            x.append(rig.board.read_row("position_reference")[0])
    for _ in range(200_000):
        if rig.board.motion_done():
            break
        rig.board.write()
        x.append(rig.board.read_row("position_reference")[0])
    assert x[-1] == goals[-1]
    assert np.abs(np.diff(x)).max() <= speed * DT * (1.0 + 1e-9)


def test_a_move_that_takes_less_than_a_step_is_taken_at_once():
    rig = wrist(speed=1.0)
    rig.board.move([0.0005])
    rig.step()
    assert rig.board.read_row("position_reference")[0] == 0.0005
    assert rig.board.motion_done()


def test_a_target_is_brought_inside_the_limits():
    rig = arm()
    rig.board.move([5.0, -1.0, 1.0])
    assert rig.board.read_row("position_target") == pytest.approx([2.0, -0.1, 1.0])


def test_a_relative_move_counts_from_the_measured_position():
    rig = arm(joints=("wrist",), initial_positions=(0.3,))
    rig.step(1500)
    here = rig.board.read_row("position")[0]
    rig.board.move_relative([0.25])
    assert rig.board.read_row("position_target")[0] == pytest.approx(here + 0.25, abs=1e-12)


@pytest.mark.parametrize("speed", [0.0, -1.0, np.nan, np.inf])
def test_a_speed_that_is_not_above_zero_is_refused_and_changes_nothing(speed):
    rig = arm()
    before = rig.board.read_row("speed")
    with pytest.raises(DeviceError, match="speed"):
        rig.board.set_speed(speed)
    assert (rig.board.read_row("speed") == before).all()


def test_the_speed_of_trajectories_is_at_most_that_of_the_axis():
    rig = arm(velocity_max=(0.5,))
    rig.board.set_speed([0.2, 0.9, 3.0])
    assert rig.board.read_row("speed") == pytest.approx([0.2, 0.5, 0.5])
