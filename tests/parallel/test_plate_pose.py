"""The plate-pose controller against closed forms."""

import numpy as np
import pytest

from pliant.base.argument_checks import ControlError
from pliant.base.spatial import exp_so3, pose
from pliant.parallel.plate_pose import PlatePoseGains, PlatePosePID


def test_the_gains_are_those_of_the_original():
    g = PlatePoseGains()
    np.testing.assert_allclose(g.proportional, 2.0 * np.array([2.5, 2.5, 2.5, 0.04, 0.04, 0.4]))
    np.testing.assert_allclose(g.derivative, 1.8 * np.array([2.2, 2.2, 2.5, 0.035, 0.035, 0.4]))
    np.testing.assert_allclose(g.integral, 0.01 * np.array([5, 5, 5, 0.5, 0.5, 0.5]))


def test_the_first_wrench_is_the_proportional_part():
    wrench = PlatePosePID().update(pose((0.1, 0.0, 0.0), exp_so3([0.0, 0.0, 0.2])), np.eye(4))
    np.testing.assert_allclose(wrench, [0.5, 0, 0, 0, 0, 0.16], atol=2e-4)


def test_the_integral_grows_and_the_derivative_sees_the_rate():
    controller = PlatePosePID(period=0.01)
    for _ in range(100):
        wrench = controller.update(pose((0.1, 0.0, 0.0)), np.eye(4))
    assert wrench[0] == pytest.approx(5.0 * 0.1 + 0.05 * 0.1 * 1.0, rel=1e-9)
    wrench = controller.update(pose((0.2, 0.0, 0.0)), np.eye(4))
    assert wrench[0] == pytest.approx(5.0 * 0.2 + 3.96 * 10.0 + 0.05 * (0.1 + 0.002), rel=1e-9)
    controller.reset()
    assert controller.update(np.eye(4), np.eye(4)) == pytest.approx(np.zeros(6))


def test_a_free_plate_is_brought_to_the_pose():
    mass, inertia, dt = 0.112, 0.014, 1e-3
    controller = PlatePosePID()
    goal = pose((0.05, -0.02, 0.03), exp_so3([0.0, 0.1, 0.3]))
    X, v, omega = np.eye(4), np.zeros(3), np.zeros(3)
    for _ in range(20000):
        w = controller.update(goal, X)
        v, omega = v + dt * w[:3] / mass, omega + dt * w[3:] / inertia
        X = pose(X[:3, 3] + dt * v, exp_so3(dt * omega) @ X[:3, :3])
    np.testing.assert_allclose(X[:3, 3], goal[:3, 3], atol=1e-3)
    np.testing.assert_allclose(X[:3, :3], goal[:3, :3], atol=5e-3)


def test_a_limited_wrench_does_not_wind_up():
    controller = PlatePosePID(limit=(1.0, 0.1))
    for _ in range(5000):
        wrench = controller.update(pose((1.0, 0.0, 0.0)), np.eye(4))
    assert wrench[0] == 1.0
    controller.update(np.eye(4), np.eye(4))
    assert abs(controller.update(np.eye(4), np.eye(4))[0]) < 0.01


@pytest.mark.parametrize("options", [{"period": 0.0}, {"limit": (1.0, -1.0)}])
def test_wrong_options_are_refused(options):
    with pytest.raises(ControlError, match="must be"):
        PlatePosePID(**options)


def test_wrong_gains_and_poses_are_named():
    with pytest.raises(ControlError, match="six numbers"):
        PlatePoseGains(integral=(1.0, 2.0))
    with pytest.raises(ControlError, match="measured is not a pose"):
        PlatePosePID().update(np.eye(4), np.full((4, 4), np.nan))
