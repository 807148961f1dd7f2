"""How the robot moves what the camera sees: eye in hand and eye to hand.

Velocities are (v, omega) of the optical frame in its own axes [m/s, rad/s]. With an interaction matrix L the rate of
the features is ds/dt = L J dq, where J is `eye_in_hand_jacobian` or `eye_to_hand_jacobian`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.spatial import exp_so3, hat, inverse, pose
from pliant.camera.conditions import Array, finite_array, finite_result, number
from pliant.vision.checks import pose_matrix

MAX_ANGLE = 1e6
"""Largest angle of one motion [rad]; beyond it the sine of the angle has lost its last digits."""  # assumed


def adjoint(X_AB: ArrayLike) -> Array:
    """Return the 6x6 matrix that maps a twist (v, omega) of B's axes and origin to A's.

    Args:
        X_AB: pose of B in A, shape (4, 4).

    Returns:
        shape (6, 6); its transpose maps a wrench (f, m) from A to B.
    """
    X = np.asarray(X_AB, dtype=float)
    R, p = X[:3, :3], X[:3, 3]
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = R
    out[:3, 3:] = hat(p) @ R
    return out


def eye_in_hand_jacobian(J_E: ArrayLike, X_EC: ArrayLike) -> Array:
    """Return the Jacobian of the camera's velocity, for a camera on the end effector.

        v_C = Ad(X_CE) J_E dq    (cVe eJe of Chaumette and Hutchinson 2007)

    Args:
        J_E: Jacobian of the end effector's twist (v, omega) in its own axes and origin, shape (6, n).
        X_EC: pose of the optical frame in the end effector's, shape (4, 4).

    Returns:
        shape (6, n).

    Raises:
        VisionError: bad arrays.
    """
    return finite_result("Jacobian", adjoint(inverse(pose_matrix("X_EC", X_EC))) @ finite_array("J_E", J_E, (6, None)))


def eye_to_hand_jacobian(J_E: ArrayLike, X_CE: ArrayLike) -> Array:
    """Return the Jacobian of the camera's apparent velocity, for a fixed camera and a target on the end effector.

        v_C = -Ad(X_CE) J_E dq

    The features move as if the target were at rest and the camera moved with this velocity.

    Args:
        J_E: Jacobian of the end effector's twist (v, omega) in its own axes and origin, shape (6, n).
        X_CE: present pose of the end effector in the optical frame, shape (4, 4).

    Returns:
        shape (6, n).

    Raises:
        VisionError: bad arrays.
    """
    return finite_result("Jacobian", -adjoint(pose_matrix("X_CE", X_CE)) @ finite_array("J_E", J_E, (6, None)))


def camera_moved(X_CO: ArrayLike, velocity: ArrayLike, dt: float) -> Array:
    """Return the pose of an object at rest after the camera has moved with a constant velocity.

    The velocity is constant in the camera's own axes; the path is the exact screw, so a large ``dt`` is no error.

    Args:
        X_CO: pose of the object in the optical frame, shape (4, 4).
        velocity: (v, omega) of the optical frame in its own axes, shape (6,) [m/s, rad/s].
        dt: duration [s].

    Returns:
        shape (4, 4).

    Raises:
        VisionError: bad arrays; more than a million radians (OUT_OF_RANGE).
    """
    twist = finite_array("velocity", velocity, (6,)) * number("dt", dt)
    X = pose_matrix("X_CO", X_CO)
    v, w = finite_result("motion", twist)[:3], twist[3:]
    with np.errstate(over="ignore"):
        angle = number("angle of the motion", float(np.linalg.norm(w)), high=MAX_ANGLE)
    S = hat(w)
    if angle < 1e-4:  # series to the fourth order: its error is below 1e-17
        a, b = 0.5 - angle**2 / 24.0, 1.0 / 6.0 - angle**2 / 120.0
    else:
        a, b = (1.0 - math.cos(angle)) / angle**2, (angle - math.sin(angle)) / angle**3
    moved = inverse(pose((np.eye(3) + a * S + b * S @ S) @ v, exp_so3(w))) @ X
    U, _, Vt = np.linalg.svd(moved[:3, :3])
    moved[:3, :3] = U @ Vt  # rotations stay rotations over millions of steps
    return finite_result("pose", moved)
