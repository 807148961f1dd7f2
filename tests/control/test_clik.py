import numpy as np
import pytest

from pliant.base.spatial import exp_so3, pose
from pliant.control import ClosedLoopInverseKinematics, MinimumJerk, damped_pseudo_inverse, pose_error
from pliant.control.checks import ControlError

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


def test_solve_reaches_a_pose_and_says_when_it_cannot():
    wanted = np.array([0.4, -0.6, 0.9])
    clik = ClosedLoopInverseKinematics(planar_pose, pose_jacobian, rows=(0, 1, 5))
    found = clik.solve(np.array([0.2, -0.3, 0.5]), planar_pose(wanted))
    assert found.converged
    np.testing.assert_allclose(found.q, wanted, atol=1e-6)
    far = ClosedLoopInverseKinematics(position, jacobian).solve(
        np.array([0.3, 0.4, 0.1]), [2.0, 0.0], max_iterations=300
    )
    assert not far.converged
    assert np.all(np.isfinite(far.q))
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
