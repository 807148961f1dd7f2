"""The paper's torque-controlled trajectory of a Franka arm."""

import importlib.util

import numpy as np
import pytest
from mutations import quick

from pliant.papers.arms.opened import open_robot
from pliant.papers.franka_torque import START, WAVES, desired, drive, linear_error


def test_the_desired_trajectory_is_the_published_sines_and_its_derivatives():
    h = 1e-6
    for t in (0.7, 3.0, 11.0):
        q, dq, ddq = desired(t)
        before, after = desired(t - h), desired(t + h)
        np.testing.assert_allclose(dq, (after[0] - before[0]) / (2 * h), atol=1e-8)
        np.testing.assert_allclose(ddq, (after[1] - before[1]) / (2 * h), atol=1e-8)
        assert q[1] == q[4] == q[5] == q[6] == 0.0
    assert desired(START + 2.5)[0][0] == pytest.approx(1.0)
    assert not desired(START - 1e-9)[1].any()
    assert [joint for joint, _, _ in WAVES] == [0, 2, 3]


@pytest.mark.parametrize(("friction", "feedforward"), [(False, False), (True, True)])
def test_computed_torque_leaves_the_error_of_its_linear_dynamics(friction, feedforward):
    with open_robot(friction=friction, compensated=False, fci=False) as arm:
        run = drive(arm.left, feedforward=feedforward, duration=2.0, through=arm.through)
    assert run.lost == 0
    np.testing.assert_allclose(run.error, linear_error(run), atol=1e-4)
    assert np.abs(run.error).max() > 0.01


def test_friction_that_nobody_compensates_shows():
    with open_robot(friction=True, compensated=False, fci=False) as arm:
        run = drive(arm.left, feedforward=False, duration=2.0)
    assert np.abs(run.error - linear_error(run)).max() > 1e-3


@pytest.mark.network
@pytest.mark.slow
def test_the_experiment_passes():
    result = quick("franka-torque")
    assert [t.name for t in result.failures] == []
    assert {f.name for f in result.figures} == {"positions", "torques"}
    through = "pylibfranka is not installed" if importlib.util.find_spec("pylibfranka") is None else "with pylibfranka"
    assert any(through in note for note in result.notes)
