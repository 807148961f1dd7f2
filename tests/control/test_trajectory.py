import numpy as np
import pytest

from pliant.base.argument_checks import ControlError
from pliant.control import MinimumJerk

pytestmark = pytest.mark.quick

SMOOTH = [
    MinimumJerk(start=0.1, goal=0.9, duration=2.0, begin=0.5),
    MinimumJerk(start=[0.0, 1.0], goal=[0.8, -0.4], duration=3.0),
]


@pytest.mark.parametrize("trajectory", SMOOTH, ids=lambda t: type(t).__name__)
def test_velocity_and_acceleration_are_the_derivatives_of_the_position(trajectory):
    t = np.linspace(0.55, 2.4, 41)
    h = 1e-5
    motion = trajectory(t)
    before, after = trajectory(t - h), trajectory(t + h)
    np.testing.assert_allclose(motion.velocity, (after.position - before.position) / (2 * h), atol=1e-7)
    np.testing.assert_allclose(motion.acceleration, (after.velocity - before.velocity) / (2 * h), atol=1e-5)


def test_minimum_jerk_is_at_rest_at_both_ends_and_passes_the_middle_at_15_8_of_the_mean_speed():
    motion = MinimumJerk(start=0.0, goal=0.8, duration=20.0)
    for t in (0.0, 20.0, -1.0, 25.0):
        assert motion(t).velocity == 0.0
        assert motion(t).acceleration == 0.0
    assert motion(0.0).position == 0.0
    assert motion(20.0).position == pytest.approx(0.8, abs=1e-15)
    assert motion(10.0).position == pytest.approx(0.4, abs=1e-15)
    assert motion(10.0).velocity == pytest.approx(15.0 / 8.0 * 0.8 / 20.0, rel=1e-14)


@pytest.mark.parametrize(
    ("trajectory", "begin"),
    [
        (MinimumJerk(start=0.1, goal=0.9, duration=2.0, begin=0.5), 0.5),
        (MinimumJerk(start=0.3, goal=-0.2, duration=0.7), 0.0),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_motion_rests_at_its_ends_before_it_begins_and_after_its_duration(trajectory, begin):
    end = begin + trajectory.duration
    for inside, outside in ((begin, begin - 0.7), (end, end + 0.7)):
        assert trajectory(outside) == (pytest.approx(trajectory(inside).position, abs=1e-14), 0.0, 0.0)
        assert trajectory(begin + 0.01).velocity != 0.0
        assert trajectory(end - 0.01).velocity != 0.0


def test_many_times_and_many_joints_give_a_table():
    motion = MinimumJerk(start=0.0, goal=[0.8, 0.4], duration=1.0)(np.linspace(0.0, 1.0, 11))
    assert motion.position.shape == motion.velocity.shape == (11, 2)
    np.testing.assert_allclose(motion.position[:, 0], 2.0 * motion.position[:, 1])
    assert MinimumJerk(start=0.0, goal=[0.8, 0.4], duration=1.0)(0.5).position.shape == (2,)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: MinimumJerk(0.0, 1.0, 0.0), "duration is 0"),
        (lambda: MinimumJerk([0.0, 0.0], [1.0, 1.0, 1.0], 1.0), "start has 2 numbers; must be 1 or 3"),
        (lambda: MinimumJerk(np.nan, 1.0, 1.0), r"start\[0\] is nan"),
        (lambda: MinimumJerk(0.0, 1.0, -1.0), "duration is -1"),
        (lambda: MinimumJerk("far", 1.0, 1.0), "must be numbers"),
    ],
)
def test_bad_parameters_are_named(make, text):
    with pytest.raises(ControlError, match=text):
        make()
