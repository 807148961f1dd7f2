"""Vision with force: tool weight, force in feature space, admittance, and the servo that gives way."""

import numpy as np
import pytest
from scipy.linalg import expm

from pliant.base.argument_checks import ControlError
from pliant.base.spatial import exp_so3, inverse, pose
from pliant.camera.conditions import Condition, VisionError
from pliant.vision import camera_moved, facing_pose, solve
from pliant.vision.kinematics import adjoint
from pliant.vision.poses import pose_features, pose_interaction
from pliant.vision.vision_force import FeatureAdmittance, HybridPoseServo, ToolLoad, feature_force, matrix_exponential
from pliant.vision.visual_servoing import pbvs_velocity

G = np.array([0.0, 0.0, -9.81])
GOAL = facing_pose(0.2)
TOOL = pose([0.01, -0.05, 0.12], exp_so3([0.1, -0.4, 0.2]))


# ---------------------------------------------------------------------------- the tool's weight
def test_a_tool_at_rest_pulls_its_sensor_down_and_turns_it_by_its_lever():
    load = ToolLoad(2.0, (0.0, 0.0, 0.1))
    np.testing.assert_allclose(load.weight(np.eye(3)), [0, 0, -19.62, 0, 0, 0], atol=1e-12)
    on_its_side = exp_so3([np.pi / 2, 0, 0])  # the sensor's z lies along -y of the world
    np.testing.assert_allclose(load.weight(on_its_side), [0, -19.62, 0, 1.962, 0, 0], atol=1e-12)


def test_what_is_left_after_the_weight_is_the_contact_in_any_orientation():
    rng = np.random.default_rng(1)
    load = ToolLoad(0.9, (0.01, -0.02, 0.06), bias=rng.normal(size=6))
    for _ in range(20):
        R, contact = exp_so3(rng.normal(size=3)), rng.normal(size=6)
        np.testing.assert_allclose(load.contact(load.weight(R) + load.bias + contact, R), contact, atol=1e-12)


def test_mass_centre_and_bias_are_found_from_measurements_in_several_orientations():
    rng = np.random.default_rng(2)
    true = ToolLoad(0.73, (-0.01, 0.0, 0.03), bias=rng.normal(size=6))
    rotations = [exp_so3(rng.normal(size=3)) for _ in range(8)]
    measured = [true.weight(R) + true.bias for R in rotations]
    found = ToolLoad.identify(measured, rotations)
    expected = [true.mass, *true.center, *true.bias]
    np.testing.assert_allclose([found.mass, *found.center, *found.bias], expected, atol=1e-12)
    noisy = [m + rng.normal(scale=0.01, size=6) for m in measured]
    assert abs(ToolLoad.identify(noisy, rotations).mass - true.mass) < 0.01


def test_orientations_that_do_not_tell_weight_from_bias_are_refused():
    load = ToolLoad(1.0)
    rotations = [exp_so3([0, 0, a]) for a in (0.0, 0.5, 1.0)]  # turned about the vertical only
    with pytest.raises(ControlError, match="do not separate weight and bias"):
        ToolLoad.identify([load.weight(R) for R in rotations], rotations)
    with pytest.raises(ControlError, match="2 wrenches and 2 rotations"):
        ToolLoad.identify([load.weight(R) for R in rotations[:2]], rotations[:2])


# ---------------------------------------------------------------------------- force in feature space
def test_a_force_accelerates_the_features_as_it_accelerates_the_virtual_mass_at_the_tool():
    rng = np.random.default_rng(3)
    X_CO = facing_pose(0.3) @ pose([0.02, 0.01, 0.0], exp_so3([0.2, -0.1, 0.3]))
    L = pose_interaction(GOAL @ inverse(X_CO))
    inertia = np.array([2.0, 3.0, 1.0, 0.1, 0.2, 0.3])
    for _ in range(5):
        at_tool = rng.normal(size=6)  # in the tool's axes, about its origin
        R = TOOL[:3, :3]
        in_camera = np.concatenate([R @ at_tool[:3], R @ at_tool[3:]])
        wrench = in_camera + np.append(np.zeros(3), np.cross(TOOL[:3, 3], in_camera[:3]))  # about the camera
        acceleration = adjoint(TOOL) @ (at_tool / inertia)  # of the camera, from that of the tool
        np.testing.assert_allclose(feature_force(L, wrench, TOOL, inertia), L @ acceleration, atol=1e-12)


@pytest.mark.parametrize(
    ("inertia", "wrench", "condition"),
    [
        ([1, 1, 1, 1, 1, 0], np.zeros(6), Condition.OUT_OF_RANGE),
        ([1] * 6, np.full(6, np.nan), Condition.NOT_FINITE),
        ([1] * 6, np.zeros(3), Condition.SHAPE),
    ],
)
def test_wrong_inertias_and_wrenches_have_a_named_condition(inertia, wrench, condition):
    with pytest.raises(VisionError) as caught:
        feature_force(np.eye(6), wrench, TOOL, inertia)
    assert caught.value.condition is condition


# ---------------------------------------------------------------------------- the admittance
@pytest.mark.parametrize("dt", [1e-4, 1e-3, 0.02, 1.0])
def test_the_admittance_is_exact_at_any_step(dt):
    K, D, F = 100.0, 100.0, 3.0
    admittance = FeatureAdmittance(dt, K, D, size=1)
    n = max(1, round(0.5 / dt))
    for _ in range(n):
        shift = admittance([F])
    fast, slow = (-D - np.sqrt(D * D - 4 * K)) / 2, (-D + np.sqrt(D * D - 4 * K)) / 2
    t = n * dt
    exact = F / K * (1.0 - (fast * np.exp(slow * t) - slow * np.exp(fast * t)) / (fast - slow))
    np.testing.assert_allclose(shift, [exact], rtol=1e-9)


def test_a_shift_ends_at_its_limit_and_comes_back():
    admittance = FeatureAdmittance(0.01, 100.0, 20.0, size=2, limit=[0.05, 1.0])
    for _ in range(1000):
        shift = admittance([100.0, 10.0])
    np.testing.assert_allclose(shift, [0.05, 0.1], atol=1e-9)
    for _ in range(2000):
        shift = admittance([0.0, 0.0])
    np.testing.assert_allclose(shift, 0.0, atol=1e-9)


def test_parameters_without_meaning_are_refused():
    for options in (
        {"dt": 0.0},
        {"dt": 0.1, "stiffness": 0.0},
        {"dt": 0.1, "damping": -1.0},
        {"dt": 0.1, "limit": 0.0},
    ):
        with pytest.raises(ControlError):
            FeatureAdmittance(**options)


# ---------------------------------------------------------------------------- both together
def test_without_contact_it_is_position_based_servoing():
    hybrid = HybridPoseServo(GOAL, TOOL, FeatureAdmittance(0.001))
    X_CO = facing_pose(0.35) @ pose([0.03, 0.02, 0.0], exp_so3([0.2, 0.3, -0.4]))
    hybrid.push(X_CO, np.zeros(6))
    np.testing.assert_allclose(solve(hybrid.task(X_CO), 1.2), pbvs_velocity(X_CO, GOAL, gain=1.2), atol=1e-14)


def test_a_constant_push_moves_the_camera_by_force_over_stiffness_and_no_farther():
    K = 100.0
    hybrid = HybridPoseServo(GOAL, pose(), FeatureAdmittance(0.01, K, 30.0), inertia=[1.0] * 6)
    X_CO, dt = GOAL.copy(), 0.01
    push = np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0])  # held in the desired camera's axes
    for _ in range(600):
        R_DC = (GOAL @ inverse(X_CO))[:3, :3]
        wrench = np.concatenate([R_DC.T @ push[:3], np.zeros(3)])
        hybrid.push(X_CO, wrench)
        X_CO = camera_moved(X_CO, solve(hybrid.task(X_CO), 4.0), dt)
    np.testing.assert_allclose(pose_features(X_CO, GOAL)[:3], push[:3] / K, atol=1e-6)
    np.testing.assert_allclose(pose_features(X_CO, GOAL)[3:], 0.0, atol=1e-6)
    np.testing.assert_allclose(hybrid.X_DG[:3, 3], push[:3] / K, atol=1e-6)


def test_an_admittance_of_another_size_is_refused():
    with pytest.raises(ControlError, match="has 3 features; must be 6"):
        HybridPoseServo(GOAL, TOOL, FeatureAdmittance(0.001, size=3))


@pytest.mark.parametrize("norm", [0.0, 1e-9, 0.3, 1.0, 7.0, 60.0])
def test_the_exponential_is_that_of_scipy(norm):
    A = np.random.default_rng(0).normal(size=(3, 3))
    A *= norm / np.abs(A).sum(axis=1).max()
    assert matrix_exponential(A) == pytest.approx(expm(A), rel=1e-12, abs=1e-13 * np.abs(expm(A)).max())


def test_the_exponential_of_a_rotation_rate_is_the_rotation():
    angle = 2.7
    assert matrix_exponential([[0.0, -angle], [angle, 0.0]]) == pytest.approx(
        np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]), abs=1e-14
    )
