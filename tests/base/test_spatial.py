"""Rotations and quaternions obey the axioms of their groups and agree with each other."""

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.spatial import (
    conjugate,
    exp_so3,
    hat,
    inverse,
    log_so3,
    pose,
    quaternion_from_rotation,
    quaternion_from_rpy,
    quaternion_product,
    rotate,
    rotation_from_quaternion,
    rotation_from_rpy,
    rpy_from_rotation,
)

pytestmark = pytest.mark.quick

ONE = np.array([1.0, 0.0, 0.0, 0.0])
numbers = st.floats(-1.0, 1.0)
quaternions = (
    st.tuples(numbers, numbers, numbers, numbers)
    .map(np.array)
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: q / np.linalg.norm(q))
)
vectors = st.tuples(numbers, numbers, numbers).map(np.array)


def close(a, b):
    return np.allclose(a, b, rtol=0.0, atol=1e-12)


@given(quaternions, quaternions, quaternions)
def test_products_are_associative_with_one_as_identity_and_the_conjugate_as_inverse(p, q, r):
    assert close(quaternion_product(quaternion_product(p, q), r), quaternion_product(p, quaternion_product(q, r)))
    assert close(quaternion_product(ONE, q), q)
    assert close(quaternion_product(q, ONE), q)
    assert close(quaternion_product(q, conjugate(q)), ONE)


@given(quaternions, quaternions)
def test_the_matrix_of_a_product_is_the_product_of_the_matrices(p, q):
    expected = rotation_from_quaternion(p) @ rotation_from_quaternion(q)
    assert close(rotation_from_quaternion(quaternion_product(p, q)), expected)


@given(quaternions, quaternions, vectors, vectors)
def test_turning_vectors_is_linear_keeps_lengths_and_follows_products(p, q, u, v):
    assert close(rotate(q, v), rotation_from_quaternion(q) @ v)
    assert close(rotate(q, u + 2.0 * v), rotate(q, u) + 2.0 * rotate(q, v))
    assert rotate(q, v) @ rotate(q, v) == pytest.approx(v @ v, abs=1e-12)
    assert close(rotate(p, rotate(q, v)), rotate(quaternion_product(p, q), v))


@given(quaternions)
def test_a_rotation_matrix_has_one_quaternion_whose_largest_component_is_positive(q):
    R = rotation_from_quaternion(q)
    assert close(R @ R.T, np.eye(3))
    assert np.linalg.det(R) == pytest.approx(1.0)
    back = quaternion_from_rotation(R)
    largest = np.abs(back).max()
    assert back[np.abs(back) > largest - 1e-9].max() > 0.0  # of equal ones, rounding decides
    assert min(np.abs(back - q).max(), np.abs(back + q).max()) < 1e-12


def test_many_quaternions_give_many_matrices():
    q = np.random.default_rng(0).standard_normal((2, 5, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    R = rotation_from_quaternion(q)
    assert R.shape == (2, 5, 3, 3)
    assert close(R[1, 3], rotation_from_quaternion(q[1, 3]))


@given(quaternions)
def test_matrices_are_those_of_mujoco(q):
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, q)
    assert close(rotation_from_quaternion(q).ravel(), R)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_half_turns_have_a_quaternion(axis, sign):
    w = np.zeros(3)
    w[axis] = sign * np.pi
    assert close(np.abs(quaternion_from_rotation(exp_so3(w))), np.abs(np.append(0.0, w / np.pi)))


@given(st.tuples(st.floats(-3.1, 3.1), st.floats(-1.57, 1.57), st.floats(-3.1, 3.1)))
def test_roll_pitch_yaw_come_back_and_give_the_same_rotation_as_quaternion(rpy):
    R = rotation_from_rpy(rpy)
    assert close(rotation_from_quaternion(quaternion_from_rpy(rpy)), R)
    assert np.allclose(rotation_from_rpy(rpy_from_rotation(R)), R, rtol=0.0, atol=1e-12)


@given(vectors.map(lambda v: 3.0 * v / max(1.0, np.linalg.norm(v))))
def test_the_logarithm_inverts_the_exponential(w):
    assert np.allclose(log_so3(exp_so3(w)), w, rtol=0.0, atol=1e-8)


@given(quaternions, vectors)
def test_a_pose_times_its_inverse_is_the_identity(q, p):
    X = pose(p, rotation_from_quaternion(q))
    assert close(X @ inverse(X), np.eye(4))


def test_skew_matrices_of_several_vectors_are_those_of_each():
    vectors = np.random.default_rng(4).normal(size=(2, 3, 3))
    x = np.array([0.3, -1.0, 2.0])
    assert hat(vectors) @ x == pytest.approx(np.cross(vectors, x), abs=1e-15)
    assert np.array_equal(hat(vectors)[1, 2], hat(vectors[1, 2]))
