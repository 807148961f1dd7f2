"""The plain loop with recording that experiments use."""

import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.engine import MujocoEngine
from pliant.experiments.runs import drive
from pliant.robots import build_robot


def engine():
    # A torque of c on inertia I alone: mode 0, no gravity, no damping.
    robot = build_robot("sea-1dof", {"mode": 0, "damping": 0.0, "timestep": 1e-3})
    robot.set("option.gravity", 0.0)
    return MujocoEngine(robot)


def test_a_constant_torque_gives_a_parabola_with_its_first_sample_at_rest():
    traces = drive(engine(), {"joint/reference_1": 0.00232}, ["joint/position", "joint/velocity"], 100, every=10)
    assert traces["time"] == pytest.approx(0.01 * np.arange(11))
    assert traces["joint/velocity"] == pytest.approx(traces["time"])  # c / I = 1 rad/s^2
    n = 10 * np.arange(11)
    assert traces["joint/position"] == pytest.approx(1e-6 * n * (n + 1) / 2)


def test_an_input_holds_during_its_own_step():
    torque = np.zeros(20)
    torque[7] = 2.32
    traces = drive(engine(), {"joint/reference_1": torque}, ["joint/velocity"], 20)
    assert np.all(traces["joint/velocity"][:8] == 0.0)
    assert traces["joint/velocity"][8:] == pytest.approx(1.0)


def test_progress_ends_at_one():
    seen = []
    drive(engine(), {"joint/reference_1": 0.0}, ["joint/position"], 100, progress=seen.append)
    assert seen[-1] == 1.0
    assert seen == sorted(seen)


def test_an_input_of_another_length_is_refused():
    with pytest.raises(PliantError, match=r"shape \(5,\); must be a number or have shape \(20,\)"):
        drive(engine(), {"joint/reference_1": np.zeros(5)}, ["joint/position"], 20)


def test_an_unknown_port_names_the_nearest():
    with pytest.raises(PliantError, match="joint/position"):
        drive(engine(), {}, ["joint/positon"], 1)
