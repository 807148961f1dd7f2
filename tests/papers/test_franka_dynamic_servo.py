"""Visual servoing of a Franka arm by joint torques."""

import math

import numpy as np
import pytest
from mutations import quick

from pliant.base.spatial import pose
from pliant.papers import franka_dynamic_servo as module
from pliant.papers.arms.tag_servo import Wish, cell, exact_camera, missing_for_pictures, starts

OPTIONS = module.FrankaDynamicServoOptions(starts=1)


@pytest.fixture(scope="module")
def start():
    wish = Wish(near=OPTIONS.near, far=OPTIONS.far, tilt=OPTIONS.tilt, turn=OPTIONS.turn)
    return starts(1, np.random.default_rng(1), wish, module.setup_of(OPTIONS), exact_camera())[0][0]


@pytest.mark.network
@pytest.mark.nightly
@pytest.mark.slow
def test_the_quick_version_judges_every_statement_and_passes_its_checks():
    result = quick("franka-dynamic-servo")
    assert not result.error
    assert [target.name for target in result.failures] == []
    assert [(statement.what, statement.found) for statement in result.not_reproduced] == []
    assert any("rendered images: " in note for note in result.notes) == bool(missing_for_pictures())


def test_the_equation_of_the_error_without_smooth_start_is_that_of_critical_damping():
    time = np.linspace(0.0, 1.0, 51)
    options = module.FrankaDynamicServoOptions(frequency=5.0, decay=1000.0)  # 0.6 of the gains after 1 ms
    critical = (1.0 + 5.0 * time) * np.exp(-5.0 * time)
    assert np.abs(module.linear_error(time, options) - critical).max() < 2e-3


def test_the_equation_of_the_error_satisfies_itself():
    h = 1e-3
    time = np.arange(0.0, 1.0, h)
    options = module.FrankaDynamicServoOptions(frequency=5.0, decay=4.0)
    y = module.linear_error(time, options)
    rate, acceleration = (y[2:] - y[:-2]) / (2 * h), (y[2:] - 2 * y[1:-1] + y[:-2]) / h**2
    scale = 1.0 - np.exp(-4.0 * time[1:-1])
    assert np.abs(acceleration + scale * (10.0 * rate + 25.0 * y[1:-1])).max() < 1e-3


@pytest.mark.parametrize("features", module.FEATURES)
def test_torques_begin_at_zero_and_stay_finite(start, features):
    run = module.run_torques(start, features, OPTIONS, rendered=False, duration=0.06)
    assert np.abs(run.torque[0]).max() < 1e-3
    assert np.isfinite(run.torque).all()
    assert len(run.torque) == 60
    assert len(run.servo.time) == 3


@pytest.mark.parametrize("features", module.FEATURES)
def test_a_tag_out_of_view_stops_the_arm_and_says_why(start, features):
    with cell(start, module.setup_of(OPTIONS), rendered=False, period=module.CYCLE) as found:
        found.true_pose = lambda: pose((1.0, 0.0, 0.3), np.diag([1.0, -1.0, -1.0]))
        run = module.drive(found, start, features, OPTIONS, duration=0.2)
        assert found.arm.get_robot_state() == "stop"
    assert run.servo.status == "stopped"
    assert "the image has 640 x 480 pixels" in run.servo.message
    assert not len(run.torque)
    assert math.isinf(module.end_errors([run.servo])[0])


def test_the_damping_of_unseen_motion_does_not_accelerate_the_camera_and_opposes_that_motion(start):
    from pliant.franka.robots import dynamics, kinematics

    J, mass = kinematics.jacobian(start.q), dynamics.mass(start.q)
    dq = np.random.default_rng(0).normal(size=7)
    torque = module.null_torque(OPTIONS, J, dq, mass)
    acceleration = np.linalg.solve(mass, torque)
    assert np.abs(J @ acceleration).max() < 1e-9
    unseen = dq - np.linalg.pinv(J) @ (J @ dq)
    np.testing.assert_allclose(acceleration, -OPTIONS.null_damping * unseen, atol=1e-9)
    published = module.FrankaDynamicServoOptions(null_space="inertia")
    assert not module.null_torque(published, J, dq, mass).any()
