"""The floating Franka arm, its estimate of wrenches, and its dynamics library."""

import numpy as np
import pytest
from mutations import quick

from pliant.experiments.base import Verdict
from pliant.franka.client import FrankaRobot
from pliant.papers.franka_float import accuracy, call_times, estimates, float_arm, kinematics_statement, push


def test_a_floating_arm_stays_and_an_arm_with_wrong_gravity_sinks():
    with FrankaRobot.simulated("fer", friction=False) as robot:
        assert np.abs(float_arm(robot, 1.0)).max() < 1e-9
    with FrankaRobot.simulated("fer", friction=False) as robot:
        push(robot, np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0]))
        assert np.abs(float_arm(robot, 0.5)).max() > 1e-3


def test_the_observer_recovers_random_wrenches():
    wrenches, found, trace = estimates(np.random.default_rng(5), 2, settle=1.5)
    assert np.abs(wrenches).max() > 2.0
    error = np.abs(found - wrenches)
    assert error[:, :3].max() < 0.2
    assert error[:, 3:].max() < 0.05
    assert np.abs(trace[40]).max() < 1e-3


def test_the_dynamics_are_those_of_mujoco():
    found = accuracy(np.random.default_rng(1), 20)
    assert found["M [kg m^2]"][0] < 1e-12
    assert found["C dq + g [N m]"][0] < 1e-12
    # what the paper's library has more or less is known
    assert 0.03 < found["M of variant frankasim less M [kg m^2]"][0] < 0.1
    assert set(call_times()) == {"mass", "coriolis", "gravity", "friction"}


def test_flange_and_end_effector_are_where_the_paper_prints_them():
    found = kinematics_statement(np.random.default_rng(2), 20)
    assert found.verdict is Verdict.REPRODUCED
    assert max(t.measured for t in found.targets) < 1e-12


@pytest.mark.slow
def test_the_experiment_passes():
    result = quick("franka-float")
    assert [t.name for t in result.failures] == []
    assert {f.name for f in result.figures} == {"drift", "wrench"}
