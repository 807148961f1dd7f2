"""SO(3), SE(3) and wrench transport.

Poses ``X_AB`` are 4x4 homogeneous matrices that map coordinates in B to coordinates in A. Quaternions are
(w, x, y, z). Twists and wrenches are 6-vectors, translation or force first: ``(v, omega)``, ``(f, m)``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["adjoint", "exp_so3", "hat", "inverse", "log_so3", "pose", "rotation_from_rpy", "transport_wrench", "vee"]

Array = NDArray[np.float64]


def hat(v: ArrayLike) -> Array:
    """Return the skew matrix S with S @ x = v x x.

    Args:
        v: shape (3,).

    Returns:
        shape (3, 3).
    """
    x, y, z = np.asarray(v, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def vee(S: ArrayLike) -> Array:
    """Return v such that hat(v) is the skew part of S, shape (3,)."""
    S = np.asarray(S, dtype=float)
    return 0.5 * np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])


def exp_so3(w: ArrayLike) -> Array:
    """Return the rotation by the vector w (Rodrigues' formula).

    Args:
        w: axis times angle, shape (3,) [rad].

    Returns:
        Rotation matrix, shape (3, 3).
    """
    w = np.asarray(w, dtype=float)
    angle = float(np.linalg.norm(w))
    S = hat(w)
    if angle < 1e-6:
        return np.eye(3) + S + 0.5 * S @ S
    return np.eye(3) + np.sin(angle) / angle * S + (1.0 - np.cos(angle)) / angle**2 * S @ S


def log_so3(R: ArrayLike) -> Array:
    """Return the rotation vector of R, of length in [0, pi], shape (3,) [rad]."""
    R = np.asarray(R, dtype=float)
    v = vee(R)
    sine, cosine = float(np.linalg.norm(v)), 0.5 * (float(np.trace(R)) - 1.0)
    angle = float(np.arctan2(sine, cosine))
    if angle < 1e-8:
        return v
    if np.pi - angle > 1e-4:
        return v * angle / sine
    # Near pi the skew part vanishes: take the axis from the symmetric part, the sign from what skew part is left.
    A = 0.5 * (R + R.T) - cosine * np.eye(3)
    axis = A[:, int(np.argmax(np.diag(A)))]
    axis = axis / np.linalg.norm(axis)
    return angle * (axis if axis @ v >= 0.0 else -axis)


def rotation_from_rpy(rpy: ArrayLike) -> Array:
    """Return Rz(yaw) Ry(pitch) Rx(roll), the convention of URDF.

    Args:
        rpy: roll, pitch, yaw about fixed axes, shape (3,) [rad].

    Returns:
        Rotation matrix, shape (3, 3).
    """
    r, p, y = np.asarray(rpy, dtype=float)
    cr, sr, cp, sp, cy, sy = np.cos(r), np.sin(r), np.cos(p), np.sin(p), np.cos(y), np.sin(y)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def pose(p: ArrayLike = (0.0, 0.0, 0.0), R: ArrayLike | None = None) -> Array:
    """Return the 4x4 pose of a position (3,) [m] and a rotation matrix (3, 3)."""
    X = np.eye(4)
    X[:3, 3] = p
    if R is not None:
        X[:3, :3] = R
    return X


def inverse(X: ArrayLike) -> Array:
    """Return the inverse of a 4x4 pose, without a linear solve."""
    X = np.asarray(X, dtype=float)
    out = np.eye(4)
    out[:3, :3] = X[:3, :3].T
    out[:3, 3] = -X[:3, :3].T @ X[:3, 3]
    return out


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


def transport_wrench(F: ArrayLike, p_from: ArrayLike, p_to: ArrayLike) -> Array:
    """Move a wrench from one point to another, axes unchanged.

    Args:
        F: force and moment about ``p_from``, shape (6,) [N, N m].
        p_from: point the moment refers to, shape (3,) [m].
        p_to: point it shall refer to, shape (3,) [m].

    Returns:
        The same wrench about ``p_to``: (f, m + (p_from - p_to) x f), shape (6,).
    """
    F = np.asarray(F, dtype=float)
    arm = np.asarray(p_from, dtype=float) - np.asarray(p_to, dtype=float)
    return np.concatenate([F[:3], F[3:] + np.cross(arm, F[:3])])
