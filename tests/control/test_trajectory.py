import numpy as np
import pytest

from pliant.control import Chirp, Hold, MinimumJerk, Sinusoid, Step
from pliant.control.checks import ControlError

pytestmark = pytest.mark.quick

SMOOTH = [
    MinimumJerk(start=0.1, goal=0.9, duration=2.0, begin=0.5),
    Sinusoid(amplitude=0.8, omega=0.8, offset=0.1, phase=0.3),
    Chirp(amplitude=0.15, start_hz=0.5, end_hz=6.0, duration=5.0),
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
        (Sinusoid(amplitude=0.8, omega=0.8, offset=0.1, phase=0.3, duration=0.7, begin=0.5), 0.5),
        (Chirp(amplitude=0.15, start_hz=0.5, end_hz=6.0, duration=5.0, offset=0.2), 0.0),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_motion_rests_at_its_ends_before_it_begins_and_after_its_duration(trajectory, begin):
    end = begin + trajectory.duration
    for inside, outside in ((begin, begin - 0.7), (end, end + 0.7)):
        assert trajectory(outside) == (pytest.approx(trajectory(inside).position, abs=1e-14), 0.0, 0.0)
        assert trajectory(begin + 0.01).velocity != 0.0
        assert trajectory(end - 0.01).velocity != 0.0


def test_chirp_reaches_its_frequencies_and_counts_the_right_number_of_turns():
    chirp = Chirp(amplitude=1.0, start_hz=0.5, end_hz=6.0, duration=30.0)
    assert chirp.frequency(0.0) == 0.5
    assert chirp.frequency(30.0) == 6.0
    assert chirp.frequency(99.0) == 6.0
    t = np.linspace(0.0, 30.0, 300_001)
    x = chirp(t).position
    rising = np.count_nonzero((x[:-1] < 0.0) & (x[1:] >= 0.0))
    assert rising == pytest.approx(30.0 * 3.25, abs=1.0)


def test_step_and_hold_have_no_velocity():
    assert Step(goal=0.8, begin=1.0)(0.999).position == 0.0
    assert Step(goal=0.8, begin=1.0)(1.0).position == 0.8
    assert Hold(0.3)(7.0) == (0.3, 0.0, 0.0)


def test_many_times_and_many_joints_give_a_table():
    motion = Sinusoid(amplitude=[0.8, 0.4], omega=0.8)(np.linspace(0.0, 1.0, 11))
    assert motion.position.shape == motion.velocity.shape == (11, 2)
    np.testing.assert_allclose(motion.position[:, 0], 2.0 * motion.position[:, 1])
    assert Sinusoid(amplitude=[0.8, 0.4], omega=0.8)(0.5).position.shape == (2,)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: MinimumJerk(0.0, 1.0, 0.0), "duration is 0"),
        (lambda: MinimumJerk([0.0, 0.0], [1.0, 1.0, 1.0], 1.0), "start has 2 numbers; must be 1 or 3"),
        (lambda: Sinusoid(np.nan, 1.0), r"amplitude\[0\] is nan"),
        (lambda: Chirp(1.0, -1.0, 2.0, 3.0), "start_hz is -1"),
        (lambda: Step("far"), "must be numbers"),
    ],
)
def test_bad_parameters_are_named(make, text):
    with pytest.raises(ControlError, match=text):
        make()
