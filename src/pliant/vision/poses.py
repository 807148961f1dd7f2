"""The pose of a target as a feature: translation and theta-u, and which of two alike poses is meant.

Frames: C is the present optical frame, D the desired one, O the target. Features are the translation and the rotation
vector theta-u of X_DC = X_DO X_CO^-1; both are zero at the goal.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.spatial import hat, inverse, log_so3, pose
from pliant.camera.conditions import Array, Condition, VisionError, finite_array, number
from pliant.vision.checks import pose_matrix


def pose_features(X_CO: ArrayLike, X_DO: ArrayLike) -> Array:
    """Return translation and theta-u of the present optical frame in the desired one.

    Args:
        X_CO: present pose of the target in the optical frame, shape (4, 4).
        X_DO: desired pose of the target in the optical frame, shape (4, 4).

    Returns:
        shape (6,) [m, rad]; the angle is in [0, pi].

    Raises:
        VisionError: an argument is not a pose.
    """
    X_DC = pose_matrix("X_DO", X_DO) @ inverse(pose_matrix("X_CO", X_CO))
    return np.concatenate([X_DC[:3, 3], log_so3(X_DC[:3, :3])])


def theta_u_interaction(theta_u: ArrayLike) -> Array:
    """Return the matrix that maps omega of the camera, in its own axes, to the rate of theta-u of X_DC.

        L_w = I + (theta/2) [u]x + (1 - sinc(theta)/sinc(theta/2)^2) [u]x^2,  sinc(x) = sin(x)/x

    (Malis, Chaumette and Boudet 1999). The bracket equals 1 - (theta/2) cot(theta/2). L_w theta-u = theta-u.

    Args:
        theta_u: rotation vector, shape (3,) [rad]; its length must be below 2 pi.

    Returns:
        shape (3, 3).

    Raises:
        VisionError: OUT_OF_RANGE at 2 pi and above, where the matrix is singular; bad arrays.
    """
    w = finite_array("theta_u", theta_u, (3,))
    half = 0.5 * float(np.linalg.norm(w))
    if half >= math.pi - 1e-6:
        raise VisionError(Condition.OUT_OF_RANGE, f"theta is {2 * half:g} rad; must be less than 2 pi", field="theta_u")
    # The bracket over theta^2, by its series where the difference would cancel (next term: half^4/945).
    ratio = (1.0 / 12.0 + half * half / 180.0) if half < 1e-3 else (1.0 - half / math.tan(half)) / (4.0 * half * half)
    S = hat(w)
    return np.eye(3) + 0.5 * S + ratio * S @ S


def pose_interaction(X_DC: ArrayLike) -> Array:
    """Return the interaction matrix of `pose_features`: blockdiag(R_DC, L_w) (Chaumette and Hutchinson 2006).

    Args:
        X_DC: present optical frame in the desired one, shape (4, 4).

    Returns:
        shape (6, 6).

    Raises:
        VisionError: the argument is not a pose.
    """
    X = pose_matrix("X_DC", X_DC)
    L = np.zeros((6, 6))
    L[:3, :3] = X[:3, :3]
    L[3:, 3:] = theta_u_interaction(log_so3(X[:3, :3]))
    return L


def nearest_alike_pose(X_CO: ArrayLike, X_DO: ArrayLike, *, turns: int = 2) -> Array:
    """Return the desired pose, turned about the target's z axis so that the camera has to rotate least.

    A gripper or camera often may reach a tag in several orientations. Call this once, before the servo starts:
    changing the goal on the way would make the camera velocity jump.

    Args:
        X_CO: present pose of the target in the optical frame, shape (4, 4).
        X_DO: desired pose, shape (4, 4).
        turns: how many orientations are alike: 2 allows 0 and pi about z, 4 each quarter turn.

    Returns:
        The pose as given where two are equally near, shape (4, 4).

    Raises:
        VisionError: an argument is not a pose; turns below 1.
    """
    X_CO, X_DO = pose_matrix("X_CO", X_CO), pose_matrix("X_DO", X_DO)
    number("turns", turns, low=1, high=360)
    best, least = X_DO, math.inf
    for k in range(int(turns)):
        a = 2.0 * math.pi * k / int(turns)
        c, s = math.cos(a), math.sin(a)
        candidate = X_DO @ pose(R=[[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        angle = float(np.linalg.norm(log_so3(candidate[:3, :3] @ X_CO[:3, :3].T)))
        if angle < least - 1e-9:
            best, least = candidate, angle
    return best


def facing_pose(distance: float) -> Array:
    """Return the pose of a target whose z axis points at the camera, its x axis to the right: R = diag(1, -1, -1).

    Args:
        distance: from the optical centre to the target, along the optical axis [m].

    Returns:
        shape (4, 4).

    Raises:
        VisionError: a distance of zero or less.
    """
    return pose((0.0, 0.0, number("distance", distance, low=0.0, above=True)), np.diag([1.0, -1.0, -1.0]))
