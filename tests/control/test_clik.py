import numpy as np
import pytest

from pliant.base.argument_checks import ControlError
from pliant.base.spatial import exp_so3, pose
from pliant.control import ClosedLoopInverseKinematics, MinimumJerk, damped_pseudo_inverse, pose_error

LENGTHS = np.array([0.3, 0.25, 0.2])


def position(q):
    a = np.cumsum(q)
    return np.array([LENGTHS @ np.cos(a), LENGTHS @ np.sin(a)])


def jacobian(q):
    a = np.cumsum(q)
    x = np.stack([-LENGTHS * np.sin(a), LENGTHS * np.cos(a)])
    return np.cumsum(x[:, ::-1], axis=1)[:, ::-1]


def planar_pose(q):
    return pose((*position(q), 0.0), exp_so3([0.0, 0.0, q.sum()]))


def pose_jacobian(q):
    J = np.zeros((6, 3))
    J[:2] = jacobian(q)
    J[5] = 1.0
    return J


def test_pseudo_inverse_is_exact_away_from_singularities_and_bounded_at_them():
    J = jacobian(np.array([0.3, 0.8, -0.5]))
    np.testing.assert_allclose(damped_pseudo_inverse(J), np.linalg.pinv(J), atol=1e-12)
    nearly = np.diag([1.0, 1e-9])
    assert np.abs(damped_pseudo_inverse(nearly, damping=0.05)).max() < 1.1
    assert np.abs(np.linalg.pinv(nearly)).max() > 1e8


def test_the_damping_follows_the_smallest_singular_value_and_grows_as_printed():
    U, V = exp_so3([0.3, -0.2, 0.5]), exp_so3([-0.4, 0.1, 0.2])
    for smallest in (0.0, 0.004, 0.015, 0.03):
        s = np.array([1.0, 0.5, smallest])
        square = max(0.0, 1.0 - (smallest / 0.02) ** 2) * 0.05**2
        expected = (V * np.divide(s, s * s + square, out=np.zeros(3), where=s > 0)) @ U.T
        np.testing.assert_allclose(damped_pseudo_inverse((U * s) @ V.T, 0.05, 0.02), expected, atol=1e-12)
    singular = (U * [1.0, 0.5, 0.0]) @ V.T
    np.testing.assert_allclose(damped_pseudo_inverse(singular, threshold=0.0), np.linalg.pinv(singular), atol=1e-12)


@pytest.mark.parametrize("settings", [{}, {"max_velocity": 0.5}, {"posture": np.zeros(3), "max_velocity": [0.3, 1, 2]}])
def test_a_mirrored_task_has_the_mirrored_motion(settings):
    clik = ClosedLoopInverseKinematics(position, jacobian, gain=20.0, **settings)
    q, goal, rate = np.array([0.3, 0.8, -0.5]), np.array([-0.2, 0.4]), np.array([0.1, 0.3])
    mirror = np.array([1.0, -1.0])
    dq = clik.velocity(q, goal, rate)
    np.testing.assert_allclose(clik.velocity(-q, mirror * goal, mirror * rate), -dq, atol=1e-12)
    if settings:
        assert np.max(np.abs(dq) / settings["max_velocity"]) == pytest.approx(1.0)


def test_the_error_decays_exponentially_with_the_gain():
    clik = ClosedLoopInverseKinematics(position, jacobian, gain=5.0)
    q = np.array([0.3, 0.8, -0.5])
    goal = position(q) + np.array([0.01, -0.02])
    e0 = np.linalg.norm(clik.error(q, goal))
    for _ in range(2000):
        q = clik.step(q, goal, dt=1e-4)
    # 0.2 s at K = 5 1/s
    assert np.linalg.norm(clik.error(q, goal)) == pytest.approx(e0 * np.exp(-1.0), rel=2e-3)


def test_a_trajectory_is_tracked_with_the_feed_forward_and_lags_without_it():
    start = np.array([0.3, 0.8, -0.5])
    path = MinimumJerk(start=position(start), goal=position(start) + np.array([0.1, -0.1]), duration=1.0)
    times = np.arange(0.0, 1.5, 1e-3)
    clik = ClosedLoopInverseKinematics(position, jacobian, gain=20.0)
    q = clik.track(start, path, times)
    error = np.array([np.linalg.norm(path(t).position - position(x)) for t, x in zip(times, q, strict=True)])
    assert error.max() < 1e-4
    assert error[-1] < 1e-6


@pytest.mark.parametrize("gain", [0.2, 1.0, 50.0])
def test_solve_removes_the_same_part_of_the_error_in_a_step_whatever_the_gain(gain):
    start, goal = np.array([0.2, -0.3, 0.5]), position(np.array([0.25, -0.28, 0.52]))
    clik = ClosedLoopInverseKinematics(position, jacobian, gain=gain)
    one = clik.solve(start, goal, rate=0.25, max_iterations=1)
    assert one.iterations == 1
    assert np.linalg.norm(one.error) == pytest.approx(0.75 * np.linalg.norm(clik.error(start, goal)), rel=0.02)
    assert clik.solve(start, goal, rate=0.25).converged


def test_rows_may_be_selected_by_the_loop_or_by_the_functions_that_it_is_given():
    q, wanted = np.array([0.2, -0.3, 0.5]), planar_pose(np.array([0.4, -0.6, 0.9]))
    rows = [0, 1, 5]
    of_all = ClosedLoopInverseKinematics(planar_pose, pose_jacobian, rows=rows)
    of_three = ClosedLoopInverseKinematics(planar_pose, lambda q: pose_jacobian(q)[rows], rows=rows)
    rate = np.array([0.1, -0.2, 0.0, 0.0, 0.0, 0.3])
    dq = of_all.velocity(q, wanted, rate)
    assert np.linalg.norm(dq) > 1.0
    np.testing.assert_array_equal(of_three.velocity(q, wanted, rate[rows]), dq)


def test_solve_reaches_a_pose_and_says_when_it_cannot():
    wanted = np.array([0.4, -0.6, 0.9])
    clik = ClosedLoopInverseKinematics(planar_pose, pose_jacobian, rows=(0, 1, 5))
    found = clik.solve(np.array([0.2, -0.3, 0.5]), planar_pose(wanted))
    assert found.converged
    np.testing.assert_allclose(found.q, wanted, atol=1e-6)
    for start in ([0.3, 0.4, 0.1], *np.random.default_rng(0).uniform(-1.5, 1.5, (4, 3))):
        far = ClosedLoopInverseKinematics(position, jacobian).solve(start, [2.0, 0.0], max_iterations=300)
        assert not far.converged
        assert 2.0 - LENGTHS.sum() <= np.linalg.norm(far.error) < 1.2 * (2.0 - LENGTHS.sum())


def test_joint_speed_stays_bounded_at_the_stretched_arm():
    clik = ClosedLoopInverseKinematics(position, jacobian, gain=10.0, damping=0.1, threshold=0.1)
    speed = np.abs(clik.velocity(np.array([0.0, 1e-6, -1e-6]), [0.6, 0.0])).max()
    assert speed < 10.0 * 0.15 / (2.0 * 0.1)  # |e| K / (2 lambda)


def test_the_posture_moves_the_joints_but_not_the_task():
    q = np.array([0.3, 0.8, -0.5])
    goal = position(q)
    clik = ClosedLoopInverseKinematics(position, jacobian, posture=np.array([0.9, -0.4, 0.2]), posture_gain=2.0)
    dq = clik.velocity(q, goal)
    assert np.linalg.norm(dq) > 0.1
    np.testing.assert_allclose(jacobian(q) @ dq, 0.0, atol=1e-12)
    free = np.linalg.svd(jacobian(q))[2][-1]  # the motion that does not move the task
    assert free @ dq == pytest.approx(2.0 * free @ (np.array([0.9, -0.4, 0.2]) - q), rel=1e-9)


def test_limits_hold_position_and_speed():
    clik = ClosedLoopInverseKinematics(position, jacobian, gain=50.0, limits=([-1.0] * 3, [1.0] * 3), max_velocity=0.5)
    q = np.array([0.9, 0.9, 0.9])
    dq = clik.velocity(q, [-0.5, -0.5])
    assert np.abs(dq).max() == pytest.approx(0.5)
    for _ in range(2000):
        q = clik.step(q, [-0.5, -0.5], dt=1e-2)
        assert np.abs(q).max() <= 1.0


def test_pose_error_is_the_rotation_that_is_left():
    X = pose((0.1, 0.2, 0.3), exp_so3([0.3, -0.1, 0.2]))
    Y = pose((0.1, 0.2, 0.4), exp_so3([0.0, 0.05, 0.0]) @ X[:3, :3])
    np.testing.assert_allclose(pose_error(Y, X), [0.0, 0.0, 0.1, 0.0, 0.05, 0.0], atol=1e-12)


def test_shapes_that_do_not_fit_are_named():
    clik = ClosedLoopInverseKinematics(position, jacobian)
    q = np.array([0.3, 0.8, -0.5])
    with pytest.raises(ControlError, match=r"desired has shape \(3,\); must be \(2,\)"):
        clik.velocity(q, [0.0, 0.0, 0.0])
    with pytest.raises(ControlError, match="Jacobian has shape"):
        ClosedLoopInverseKinematics(position, lambda q: np.zeros((3, 3))).velocity(q, [0.0, 0.0])
    with pytest.raises(ControlError, match="is above upper"):
        ClosedLoopInverseKinematics(position, jacobian, limits=([1.0], [0.0]))
    with pytest.raises(ControlError, match="must be at least 0"):
        ClosedLoopInverseKinematics(position, jacobian, gain=-1.0)
