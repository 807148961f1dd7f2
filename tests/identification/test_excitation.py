"""Motions that make parameters identifiable."""

import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.engine import MujocoEngine
from pliant.identification import fit_actuator
from pliant.identification.excitation import NOISE, ExcitationOptions, design_excitation, log_of_command
from pliant.robots.loading import load

FREE = ["motor.inertia", "motor.damping", "motor.friction.torque", "law.k1", "law.k2"]
STEP = 1e-4  # of the simulation that is logged, and of the model that is fitted to it [s]
OPTIONS = ExcitationOptions(duration=2.0, candidates=10, seed=3)


def robot_in_mode(mode):
    robot = load("qbmove-1dof")
    robot.set("joint.mode", mode)
    return robot


@pytest.fixture(scope="module")
def designed():
    return design_excitation(robot_in_mode(6), "joint", FREE, OPTIONS)


@pytest.fixture(scope="module")
def log(designed):
    references = [np.asarray(v) for v in designed.table.columns.values()]
    return log_of_command(robot_in_mode(6), "joint", references, OPTIONS.period, step=STEP)


def test_the_motion_keeps_every_limit_also_at_a_finer_step(designed, log):
    actuator = robot_in_mode(6).actuators["joint"]
    _, every = log
    assert np.abs(every["velocity"]).max() < actuator.motor_1.max_velocity
    assert np.abs(every["motor_1_effort"]).max() < actuator.motor_1.max_torque
    for peak, limit in designed.peaks.values():
        assert peak <= OPTIONS.margin * limit


def test_the_motion_tells_more_than_a_chirp_within_the_same_limits(designed):
    gains = [np.log(designed.naive[name] / error) for name, error in designed.errors.items()]
    assert np.mean(gains) > 0.0


@pytest.mark.slow
def test_parameters_reach_the_predicted_errors_within_a_factor_of_one_and_a_half(designed, log):
    columns, _ = log
    rng = np.random.default_rng(0)
    noisy = {n: v + NOISE[n] * rng.standard_normal(v.size) if n in NOISE else v for n, v in columns.items()}
    actuator = robot_in_mode(6).actuators["joint"]
    found = fit_actuator(actuator, noisy, FREE, outputs=tuple(NOISE), starts=1, dt=STEP, weights=NOISE)
    for name in FREE:
        assert 1.0 / 1.5 < found[name].standard_error / designed.errors[name] < 1.5, found.report()
    true = {"motor.inertia": 0.0233, "motor.damping": 0.2698, "motor.friction.torque": 0.02}
    true |= {"law.k1": 0.0019, "law.k2": 0.0019}
    missed = [(found[name].value - true[name]) / designed.errors[name] for name in FREE]
    assert np.sqrt(np.mean(np.square(missed))) < 1.5, found.report()


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        pytest.param(name, parameter, marks=() if name == "qbmove-2dof" else pytest.mark.nightly)
        for name, parameter in [
            ("sea-1dof", "law.k"), ("qbmove-1dof", "law.k1"), ("bavs-1dof", "law.k"), ("awas2-1dof", "law.Ks"),
            ("qbmove-2dof", "law.k1"), ("qbmove-5dof", "law.k1"), ("sea-table-1dof", "law.torque_scale"),
        ]
    ],
)  # fmt: skip
def test_every_robot_with_motors_has_a_motion_that_begins_at_rest(name, parameter):
    robot = load(name)
    robot.update({"actuator.mode": 6})
    joint, options = next(iter(robot.actuators)), ExcitationOptions(duration=0.5, candidates=1)
    found = design_excitation(robot, joint, [parameter, "motor_1.inertia"], options)
    engine = MujocoEngine(robot)
    for k, values in enumerate(found.table.columns.values()):
        assert values[0] == engine.port(f"{joint}/reference_{k + 1}").item()
    assert all(peak <= options.margin * limit for peak, limit in found.peaks.values())


def test_another_preset_is_reached_smoothly():
    options = ExcitationOptions(duration=2.0, candidates=1, preset=0.3)
    _, preset = design_excitation(robot_in_mode(6), "joint", FREE, options).table.columns.values()
    assert preset[0] == 0.2
    assert preset[-1] == pytest.approx(0.3)
    assert np.abs(np.diff(preset)).max() < 5e-3


def test_muscles_are_refused():
    robot = load("pam-1dof")
    robot.update({"actuator.mode": 6})
    with pytest.raises(ModelError, match="joint has muscles"):
        design_excitation(robot, "joint", ["law.radius"])


def test_a_joint_without_motors_in_its_mode_is_refused():
    with pytest.raises(ModelError, match=r"joint is in mode 3; must be 5 or 6"):
        design_excitation(robot_in_mode(3), "joint", FREE)
    with pytest.raises(ModelError, match="no compliant joint 'elbow'"):
        design_excitation(robot_in_mode(6), "elbow", FREE)
