"""Computed torque for the pose of an end effector: the error obeys its linear equation on an exact model."""

import numpy as np
import pytest
from scipy.linalg import expm

from pliant.base.argument_checks import ControlError
from pliant.base.spatial import exp_so3, hat, pose
from pliant.control import CartesianComputedTorque
from pliant.control.cartesian import _rotation_rate
from pliant.franka.robots import dynamics, kinematics

START = np.array([0.1, -0.5, 0.2, -2.1, -0.1, 1.7, 0.6])


def jacobian(q):
    return kinematics.jacobian(q)


def drift(q, dq, h=1e-6):
    return (jacobian(q + h * dq) - jacobian(q - h * dq)) @ dq / (2 * h)


def bias(q, dq):
    return dynamics.coriolis(q, dq) @ dq + dynamics.gravity(q)


def desired(t, X_0, moving=1.0):
    """A pose that circles and turns: X, V, A in world axes."""
    w, r = 1.3, 0.05
    c, s = np.cos(w * t), np.sin(w * t)
    turn = np.array([0.2, -0.3, 0.25])
    p = X_0[:3, 3] + moving * r * np.array([c - 1.0, s, 0.5 * s])
    v = moving * r * w * np.array([-s, c, 0.5 * c])
    a = moving * r * w * w * np.array([-c, -s, -0.5 * s])
    rate, growth = moving * np.sin(0.8 * t) * 0.5, moving * 0.4 * np.cos(0.8 * t)
    angle = moving * 0.5 * (1.0 - np.cos(0.8 * t)) / 0.8
    X = pose(p, exp_so3(turn * angle) @ X_0[:3, :3])
    return X, np.concatenate([v, turn * rate]), np.concatenate([a, turn * growth])


def run(law, moving, seconds=0.24, dt=0.004, dq=(0.1,) * 7):
    """Integrate the arm under the law (Runge-Kutta, the law in every stage); return times and errors."""
    X_0 = kinematics.forward_kinematics(START)
    offset = pose([0.03, -0.02, 0.04], exp_so3([0.2, 0.3, -0.25]))
    X_0 = X_0 @ offset

    def rate(t, y):
        q, dq = y[:7], y[7:]
        X, V, A = desired(t, X_0, moving)
        M, n = dynamics.mass(q), bias(q, dq)
        tau = law(kinematics.forward_kinematics(q), jacobian(q), drift(q, dq), dq, M, n, X, V, A)
        return np.concatenate([dq, np.linalg.solve(M, tau - n)])

    y = np.concatenate([START, dq])
    times, errors = [], []
    for k in range(round(seconds / dt) + 1):
        t = k * dt
        times.append(t)
        errors.append(law.error(kinematics.forward_kinematics(y[:7]), desired(t, X_0, moving)[0]))
        k1 = rate(t, y)
        k2 = rate(t + dt / 2, y + dt / 2 * k1)
        k3 = rate(t + dt / 2, y + dt / 2 * k2)
        k4 = rate(t + dt, y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.array(times), np.array(errors), y


@pytest.mark.parametrize("moving", [0.0, 1.0])
def test_the_error_of_an_exact_model_obeys_its_linear_equation(moving):
    law = CartesianComputedTorque([400.0, 300.0, 500.0, 200.0, 250.0, 150.0], 25.0, null_damping=20.0)
    times, errors, _ = run(law, moving)
    # The rate at the start by one-sided differences of fourth order, then the exact solution of e'' + D e' + K e = 0.
    h = times[1]
    rate = (-25 * errors[0] + 48 * errors[1] - 36 * errors[2] + 16 * errors[3] - 3 * errors[4]) / (12 * h)
    for i in range(6):
        A = np.array([[0.0, 1.0], [-law.stiffness[i], -law.damping[i]]])
        exact = np.array([(expm(A * t) @ [errors[0, i], rate[i]])[0] for t in times])
        np.testing.assert_allclose(errors[:, i], exact, atol=2e-6)


def null_motion(q, dq):
    """Return the part of a joint velocity that is orthogonal, by the mass matrix, to what moves the end effector."""
    J, M = jacobian(q), dynamics.mass(q)
    J_over_M = np.linalg.solve(M, J.T).T
    return dq - np.linalg.solve(M, J.T @ np.linalg.solve(J @ J_over_M.T, J @ dq))


def test_the_motion_that_does_not_move_the_end_effector_is_damped():
    start = 0.5 * np.linalg.svd(jacobian(START))[2][-1]
    sizes = []
    for k in (0.0, 60.0):
        _, _, y = run(CartesianComputedTorque(400.0, null_damping=k), 0.0, seconds=0.1, dt=0.005, dq=start)
        sizes.append(np.linalg.norm(null_motion(y[:7], y[7:])))
    assert sizes[0] > 0.3
    assert sizes[1] < 0.1 * sizes[0]


@pytest.mark.parametrize("angle", [0.0, 5e-4, 0.02, 1.0, 2.9])
def test_the_rate_of_a_rotation_vector_is_the_inverse_of_the_left_jacobian(angle):
    axis, w, h = np.array([0.6, -0.48, 0.64]), np.array([0.3, 0.7, -0.4]), 1e-5

    def left_jacobian(phi):  # sum of S^k / (k + 1)!
        block = np.block([[hat(phi), np.eye(3)], [np.zeros((3, 6))]])
        return expm(block)[:3, 3:]

    A, dA = _rotation_rate(angle * axis, w)
    np.testing.assert_allclose(A @ left_jacobian(angle * axis), np.eye(3), atol=1e-10)
    ahead, behind = (np.linalg.inv(left_jacobian(angle * axis + step * A @ w)) for step in (h, -h))
    np.testing.assert_allclose(dA, (ahead - behind) / (2 * h), atol=1e-8 if angle < 2 else 1e-6)


def arguments():
    q, dq = START, np.full(7, 0.1)
    X = kinematics.forward_kinematics(q)
    return {
        "X_WE": X,
        "J": jacobian(q),
        "dJdq": drift(q, dq),
        "dq": dq,
        "mass": dynamics.mass(q),
        "bias": bias(q, dq),
        "X_WD": X,
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dq": np.full(6, 0.1)}, r"dq has shape \(6,\); must be \(7,\)"),
        ({"bias": np.full(7, np.nan)}, r"bias\[0\] is nan"),
        ({"J": np.ones((6, 3))}, r"J has shape \(6, 3\); must be finite numbers of shape \(6, n\)"),
        ({"mass": np.eye(6)}, r"mass has shape \(6, 6\)"),
        ({"X_WD": 2 * np.eye(4)}, "X_WD is not a pose"),
        ({"X_WD": np.diag([1.0, 1.0, -1.0, 1.0])}, "X_WD is not a pose"),  # a mirror
        ({"X_WE": np.diag([1.0, 1.0, 1.0, 2.0])}, "X_WE is not a pose"),
        ({"J": np.vstack([np.ones((1, 7)), np.zeros((5, 7))])}, "the arm is singular"),
    ],
)
def test_what_it_cannot_work_with_is_refused(change, message):
    with pytest.raises(ControlError, match=message):
        CartesianComputedTorque()(**{**arguments(), **change})


def test_half_a_turn_is_refused():
    given = arguments()
    given["X_WD"] = given["X_WE"] @ pose(R=np.diag([1.0, -1.0, -1.0]))
    with pytest.raises(ControlError, match="half a turn"):
        CartesianComputedTorque()(**given)


def test_gains_below_zero_are_refused():
    with pytest.raises(ControlError, match="stiffness is -1; must be at least 0"):
        CartesianComputedTorque(-1.0)
    with pytest.raises(ControlError, match="null_damping"):
        CartesianComputedTorque(1.0, null_damping=-2.0)
