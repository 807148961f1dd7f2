"""Rotations, quaternions, poses and wrench transport.

Poses ``X_AB`` are 4x4 homogeneous matrices that map coordinates in B to coordinates in A. Quaternions are
(w, x, y, z). Twists and wrenches are 6-vectors, translation or force first: ``(v, omega)``, ``(f, m)``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.numerics import Array


def cross(a: Array, b: Array) -> Array:
    """Return a x b of two vectors, shape (3,): twenty times as fast as numpy's."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def hat(v: ArrayLike) -> Array:
    """Return the skew matrix S with S @ x = v x x, or those of several vectors.

    Args:
        v: shape (..., 3).

    Returns:
        shape (..., 3, 3).
    """
    v = np.asarray(v, dtype=float)
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    S = np.zeros((*v.shape, 3))
    S[..., 0, 1], S[..., 0, 2], S[..., 1, 2] = -z, y, -x
    S[..., 1, 0], S[..., 2, 0], S[..., 2, 1] = z, -y, x
    return S


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


def pose_error(desired: ArrayLike, actual: ArrayLike) -> Array:
    """Return (position error, rotation vector from actual to desired) in world axes, shape (6,) [m, rad].

    Args:
        desired: pose X_WD, shape (4, 4).
        actual: pose X_WA, shape (4, 4).
    """
    D, A = np.asarray(desired, dtype=float), np.asarray(actual, dtype=float)
    return np.concatenate([D[:3, 3] - A[:3, 3], log_so3(D[:3, :3] @ A[:3, :3].T)])


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


def rpy_from_rotation(R: ArrayLike) -> Array:
    """Return roll, pitch, yaw about fixed axes of a rotation matrix; the inverse of `rotation_from_rpy`.

    The yaw is taken of the matrix with the roll already turned back, so that both together are exact even where roll
    and yaw turn about nearly the same axis.

    Args:
        R: shape (3, 3).

    Returns:
        shape (3,) [rad], the pitch in [-pi/2, pi/2].
    """
    R = np.asarray(R, dtype=float)
    roll = np.arctan2(R[2, 1], R[2, 2])
    s, c = np.sin(roll), np.cos(roll)
    pitch = np.arctan2(-R[2, 0], s * R[2, 1] + c * R[2, 2])
    yaw = np.arctan2(s * R[0, 2] - c * R[0, 1], c * R[1, 1] - s * R[1, 2])
    return np.array([roll, pitch, yaw])


def quaternion_product(p: ArrayLike, q: ArrayLike) -> Array:
    """Return p q, the rotation by q and then, in the outer frame, by p.

    Args:
        p: w, x, y, z, shape (4,).
        q: w, x, y, z, shape (4,).

    Returns:
        shape (4,).
    """
    a, b, c, d = np.asarray(p, dtype=float)
    e, f, g, h = np.asarray(q, dtype=float)
    return np.array(
        [
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ]
    )


def conjugate(q: ArrayLike) -> Array:
    """Return the inverse of a unit quaternion, shape (4,)."""
    return np.asarray(q, dtype=float) * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """Return a vector turned by a unit quaternion, shape (3,)."""
    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    t = 2.0 * np.cross(q[1:], v)
    return v + q[0] * t + np.cross(q[1:], t)


def rotation_from_quaternion(q: ArrayLike) -> Array:
    """Return the rotation matrices of unit quaternions.

    Args:
        q: w, x, y, z, shape (..., 4).

    Returns:
        shape (..., 3, 3).
    """
    w, x, y, z = np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def quaternion_from_rotation(R: ArrayLike) -> Array:
    """Return the unit quaternion of a rotation matrix, its largest component positive.

    Args:
        R: shape (3, 3).

    Returns:
        w, x, y, z, shape (4,).
    """
    R = np.asarray(R, dtype=float)
    trace = float(np.trace(R))
    q = np.empty(4)
    i = int(np.argmax([trace, R[0, 0], R[1, 1], R[2, 2]]))
    if i == 0:
        q[:] = 1.0 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        a, b, c = i - 1, i % 3, (i + 1) % 3
        q[0] = R[c, b] - R[b, c]
        q[1 + a] = 1.0 + R[a, a] - R[b, b] - R[c, c]
        q[1 + b] = R[a, b] + R[b, a]
        q[1 + c] = R[a, c] + R[c, a]
    return q / np.linalg.norm(q)


def quaternion_from_rpy(rpy: ArrayLike) -> Array:
    """Return the unit quaternion of roll, pitch, yaw about fixed axes, shape (4,); see `rotation_from_rpy`."""
    half = 0.5 * np.asarray(rpy, dtype=float)
    q = np.array([1.0, 0.0, 0.0, 0.0])
    for axis in range(3):
        turn = np.zeros(4)
        turn[0], turn[1 + axis] = np.cos(half[axis]), np.sin(half[axis])
        q = quaternion_product(turn, q)
    return q


def is_rotation(R: Array, tolerance: float = 1e-6) -> bool:
    """Return whether a matrix, shape (3, 3), is a rotation: finite, orthonormal and right-handed.

    Args:
        R: the matrix.
        tolerance: largest entry of R^T R - I.
    """
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    return (  # six comparisons that are false for NaN
        abs(a * a + d * d + g * g - 1.0) <= tolerance
        and abs(b * b + e * e + h * h - 1.0) <= tolerance
        and abs(c * c + f * f + i * i - 1.0) <= tolerance
        and abs(a * b + d * e + g * h) <= tolerance
        and abs(a * c + d * f + g * i) <= tolerance
        and abs(b * c + e * f + h * i) <= tolerance
        and a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0.0
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
