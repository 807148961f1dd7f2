"""Frames, Jacobians and inverse kinematics of the arm."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.base.errors import ModelError
from pliant.base.spatial import log_so3
from pliant.franka.robots import kinematics as kin
from pliant.franka.robots.parameters import ARMS, EE_OF_HAND, FER, FR3, Q_READY
from pliant.franka.robots.urdf import urdf

RNG = np.random.default_rng(1)


def test_the_stretched_arm_stands_where_its_lengths_say():
    X = kin.forward_kinematics(np.zeros(7), "flange")
    np.testing.assert_allclose(X[:3, 3], [0.088, 0, 0.333 + 0.316 + 0.384 - 0.107], atol=1e-15)
    np.testing.assert_allclose(X[:3, :3], np.diag([1.0, -1, -1]), atol=1e-15)


def test_the_ready_pose_is_the_published_one():
    X = kin.forward_kinematics(Q_READY)
    np.testing.assert_allclose(X[:3, 3], [0.30689056, 0, 0.48688247], atol=1e-3)
    np.testing.assert_allclose(X[:3, :3], np.diag([1.0, -1, -1]), atol=1e-12)


@pytest.mark.parametrize("frame", kin.FRAMES)
def test_jacobians_are_the_derivatives_of_the_poses(frame):
    q = RNG.uniform(-2, 2, 7)
    J, Jb = kin.jacobian(q, frame), kin.jacobian(q, frame, axes="body")
    X, h = kin.forward_kinematics(q, frame), 1e-6
    for i, e in enumerate(np.eye(7)):
        up, down = kin.forward_kinematics(q + h * e, frame), kin.forward_kinematics(q - h * e, frame)
        v = (up[:3, 3] - down[:3, 3]) / (2 * h)
        w = log_so3(up[:3, :3] @ down[:3, :3].T) / (2 * h)
        np.testing.assert_allclose(J[:, i], [*v, *w], atol=1e-8)
    R = X[:3, :3]
    np.testing.assert_allclose(Jb[:3], R.T @ J[:3], atol=1e-14)
    np.testing.assert_allclose(Jb[3:], R.T @ J[3:], atol=1e-14)


@pytest.mark.parametrize("kind", list(ARMS.values()), ids=lambda a: a.name)
def test_frames_equal_those_of_the_urdf_in_pinocchio(kind):
    pin = pytest.importorskip("pinocchio", reason="the Pinocchio oracle is not installed")
    model = pin.buildModelFromXML(urdf(kind))
    data = model.createData()
    q = RNG.uniform(-2, 2, 7)
    pin.framesForwardKinematics(model, data, q)
    for i in range(1, 8):
        at = data.oMf[model.getFrameId(f"link{i}")].homogeneous
        np.testing.assert_allclose(kin.forward_kinematics(q, f"link{i}"), at, atol=1e-12)
    at = data.oMf[model.getFrameId("link8")].homogeneous
    np.testing.assert_allclose(kin.forward_kinematics(q, "flange"), at, atol=1e-12)
    np.testing.assert_allclose(kin.forward_kinematics(q), at @ EE_OF_HAND, atol=1e-12)


@given(st.lists(st.floats(-0.35, 0.35), min_size=7, max_size=7), st.booleans())
@settings(max_examples=50, deadline=None)
def test_inverse_kinematics_comes_back_to_the_pose_and_the_elbow(offset, with_elbow):
    q = Q_READY + np.array(offset)
    X = kin.forward_kinematics(q)
    found = kin.inverse_kinematics(X, Q_READY, elbow=q[2] if with_elbow else None)
    np.testing.assert_allclose(kin.forward_kinematics(found), X, atol=1e-8)
    if with_elbow:
        assert found[2] == pytest.approx(q[2], abs=1e-8)


def test_a_pose_out_of_reach_is_refused():
    X = kin.forward_kinematics(Q_READY)
    X[0, 3] = 2.0
    with pytest.raises(ModelError, match="no joint positions found"):
        kin.inverse_kinematics(X, Q_READY)


def test_the_elbow_changes_its_sign_at_the_published_angle():
    q = np.tile(Q_READY, (2, 1))
    q[:, 3] = [-0.46, -0.48]
    np.testing.assert_array_equal(kin.elbow(q), [[0, 1], [0, -1]])


def test_arrays_broadcast():
    q = RNG.uniform(-2, 2, (4, 3, 7))
    assert kin.forward_kinematics(q).shape == (4, 3, 4, 4)
    assert kin.jacobian(q).shape == (4, 3, 6, 7)
    R, p = kin.frames(q)
    assert (R.shape, p.shape) == ((4, 3, 7, 3, 3), (4, 3, 7, 3))
    np.testing.assert_array_equal(kin.jacobian(q)[2, 1], kin.jacobian(q[2, 1]))


def test_bad_input_is_named():
    with pytest.raises(ModelError, match="did you mean 'flange'"):
        kin.forward_kinematics(np.zeros(7), "flang")
    with pytest.raises(ModelError, match="shape"):
        kin.jacobian(np.zeros(8))
    with pytest.raises(ModelError, match="must be one of base, body"):
        kin.jacobian(np.zeros(7), axes="world")  # type: ignore[arg-type]


def test_velocity_limits_of_the_fr3_shrink_towards_its_stops():
    lower, upper = FR3.limits.velocity_bounds(np.zeros(7))
    assert upper[0] == FR3.limits.velocity[0]
    q = np.array(FR3.limits.position_max)
    lower, upper = FR3.limits.velocity_bounds(q)
    np.testing.assert_array_equal(upper, 0)
    q0 = q - 0.05
    expected = -0.30 + np.sqrt(2 * 6.0 * 0.05)
    assert FR3.limits.velocity_bounds(q0)[1][0] == pytest.approx(expected)
    assert (lower < 0).all()
    fer_lower, fer_upper = FER.limits.velocity_bounds(q)
    np.testing.assert_array_equal(fer_upper, FER.limits.velocity)
    np.testing.assert_array_equal(fer_lower, -fer_upper)
