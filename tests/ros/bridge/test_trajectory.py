"""Trajectories as joint_trajectory_controller interpolates them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.errors import DeviceError
from pliant.ros.bridge.trajectory import MAX_POINTS, JointPoints, MotionState, Trajectory, read_points

S = 1_000_000_000
REST = MotionState(np.array([0.5]), np.zeros(1), np.zeros(1))


def points(times, positions, velocities=None, accelerations=None, start_ns=0):
    def column(values):
        return np.array([np.nan] * len(times) if values is None else values, dtype=float)[:, None]

    return JointPoints(
        times=np.array(times, dtype=float),
        positions=np.array(positions, dtype=float)[:, None],
        velocities=column(velocities),
        accelerations=column(accelerations),
        start_ns=start_ns,
    )


def motion(trajectory, at):
    state = trajectory.at(round(at * S))
    return float(state.position[0]), float(state.velocity[0]), float(state.acceleration[0])


def test_positions_alone_are_joined_by_lines():
    trajectory = Trajectory(points([1, 2], [1.5, -0.5]), 10 * S, REST)
    assert motion(trajectory, 10.5) == pytest.approx((1.0, 1.0, 0.0))
    assert motion(trajectory, 11.25) == pytest.approx((1.0, -2.0, 0.0))
    assert motion(trajectory, 12.0) == (-0.5, 0.0, 0.0)
    assert motion(trajectory, 99.0) == (-0.5, 0.0, 0.0)
    assert trajectory.end_ns == 12 * S


@given(
    ends=st.lists(st.floats(-2, 2), min_size=6, max_size=6),
    h=st.floats(0.1, 5),
    quintic=st.booleans(),
)
def test_velocities_and_accelerations_are_met_at_the_points(ends, h, quintic):
    x0, x1, v0, v1, a0, a1 = ends
    trajectory = Trajectory(points([0, h], [x0, x1], [v0, v1], [a0, a1] if quintic else None), 0, REST)
    first = motion(trajectory, 0.0)
    late = h * (1 - 1e-6)
    last = motion(trajectory, late)
    assert first[:2] == pytest.approx((x0, v0))
    assert last[:2] == pytest.approx((x1, v1), abs=1e-3)
    if quintic:
        assert first[2] == pytest.approx(a0)
        assert last[2] == pytest.approx(a1, abs=1e-2 * (1 + 100 / h**2))


@given(at=st.floats(0.01, 0.99), quintic=st.booleans())
def test_velocity_and_acceleration_are_the_derivatives_of_the_position(at, quintic):
    trajectory = Trajectory(points([0, 1], [0.3, -1.0], [0.5, 1.5], [2.0, -1.0] if quintic else None), 0, REST)
    d = 1e-4
    before, here, after = (motion(trajectory, at + k * d) for k in (-1, 0, 1))
    assert here[1] == pytest.approx((after[0] - before[0]) / (2 * d), abs=1e-4)
    assert here[2] == pytest.approx((after[1] - before[1]) / (2 * d), abs=1e-4)


def test_what_is_over_at_the_start_is_left_away_and_the_rest_begins_where_the_joint_is():
    trajectory = Trajectory(points([1, 2, 3], [9.0, 9.0, 1.5], start_ns=10 * S), 12 * S + 1, REST)
    assert motion(trajectory, 12.5)[0] == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(DeviceError, match=r"ended at 13 s; it is 13\.5 s"):
        Trajectory(points([1, 3], [9.0, 1.5], start_ns=10 * S), 13 * S + S // 2, REST)


def test_a_start_in_the_future_is_waited_for():
    trajectory = Trajectory(points([1], [1.5], start_ns=10 * S), 8 * S, REST)
    assert motion(trajectory, 9.0) == (0.5, 0.0, 0.0)
    assert motion(trajectory, 10.5)[0] == pytest.approx(1.0)


def test_in_ros_2_the_way_to_a_start_in_the_future_begins_at_once():
    trajectory = Trajectory(points([1], [1.5], start_ns=10 * S), 8 * S, REST, early=True)
    assert motion(trajectory, 8.0)[0] == pytest.approx(0.5)
    assert motion(trajectory, 9.5)[0] == pytest.approx(1.0)
    assert motion(trajectory, 11.0)[0] == 1.5


@pytest.mark.parametrize(("early", "between"), [(False, 0.5), (True, 1.0)])
def test_a_first_point_at_time_0_of_a_start_in_the_future_is_not_taken_before(early, between):
    trajectory = Trajectory(points([0, 1], [1.5, 2.5], start_ns=10 * S), 8 * S, REST, early=early)
    assert motion(trajectory, 9.0)[0] == pytest.approx(between)
    assert motion(trajectory, 10.5)[0] == pytest.approx(2.0)


def test_a_point_at_time_0_is_taken_at_once():
    trajectory = Trajectory(points([0], [1.5]), 8 * S, REST)
    assert motion(trajectory, 8.0)[0] == 1.5


def test_each_segment_has_the_degree_that_both_of_its_points_allow():
    velocities, accelerations = [1.0, 1.0, np.nan, np.nan, 0.0], [0.0, np.nan, np.nan, np.nan, np.nan]
    trajectory = Trajectory(points([1, 2, 3, 4, 5], [0.5, 2, 3, 5, 6], velocities, accelerations), 0, REST)
    assert motion(trajectory, 0.5) == pytest.approx((0.34375, -0.4375, 1.5))  # x = 0.5 - 4 s^3 + 7 s^4 - 3 s^5
    assert motion(trajectory, 1.5) == pytest.approx((1.25, 1.75, 0.0))  # cubic
    assert motion(trajectory, 2.25) == pytest.approx((2.25, 1.0, 0.0))  # lines
    assert motion(trajectory, 4.75) == pytest.approx((5.75, 1.0, 0.0))


@given(
    begin=st.floats(-50, 50),
    path=st.lists(st.floats(-20, 20), min_size=1, max_size=4),
    wraps=st.booleans(),
)
def test_a_joint_without_limits_takes_the_short_way_and_the_same_path_from_there(begin, path, wraps):
    still = MotionState(np.array([begin]), np.zeros(1), np.zeros(1))
    times = list(range(1, len(path) + 1))
    trajectory = Trajectory(points(times, path), 0, still, wraps=np.array([wraps]))
    found = [motion(trajectory, t)[0] for t in times]
    assert np.diff(found) == pytest.approx(np.diff(path), abs=1e-9)
    turns = (found[0] - path[0]) / (2 * np.pi)
    assert turns == pytest.approx(round(turns), abs=1e-9)
    assert abs(found[0] - begin) <= np.pi + 1e-9 if wraps else found[0] == path[0]


def message(names=("a", "b"), **changes):
    point = {"positions": [1.0, 2.0], "velocities": [], "accelerations": [], "time_from_start": S, **changes}
    return {"header": {"stamp": 0}, "joint_names": list(names), "points": [point]}


def test_values_are_put_into_the_order_of_the_joints():
    found = read_points(message(velocities=[3.0, 4.0], accelerations=[5.0, 6.0]), ["b", "a"])
    assert found.positions.tolist() == [[2.0, 1.0]]
    assert found.velocities.tolist() == [[4.0, 3.0]]
    assert found.accelerations.tolist() == [[6.0, 5.0]]
    assert np.isnan(read_points(message(), ["b", "a"]).velocities).all()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (message(names=("a",)), "joint_names are"),
        (message(names=("a", "c")), "joint_names are"),
        (message(time_from_start=-1), "time_from_start of point 0"),
        (message(positions=[1.0]), "point 0 has 1 positions"),
        (message(velocities=[1.0]), "point 0 has 1 velocities"),
        (message(accelerations=[1.0, 2.0, 3.0]), "point 0 has 3 accelerations"),
        (message(positions=[1.0, np.nan]), "point 0 has positions"),
        (message(velocities=[np.inf, 0.0]), "point 0 has velocities"),
        ({**message(), "points": []}, "has 0 points"),
        ({**message(), "points": message()["points"] * 2}, "time_from_start of point 1"),
        ({**message(), "points": message()["points"] * (MAX_POINTS + 1)}, f"must be 1 to {MAX_POINTS}"),
    ],
)
def test_a_wrong_trajectory_is_refused_with_what_is_wrong(wrong, said):
    with pytest.raises(DeviceError, match=said):
        read_points(wrong, ["a", "b"])
