"""Geometry of limbs: base poses and tip frames for joint values, and errors between poses."""

from __future__ import annotations

import numpy as np

from pliant.base.numerics import Array
from pliant.base.spatial import exp_so3, log_so3, pose, rotation_from_quaternion
from pliant.rods import kernels
from pliant.rods.description import Limb
from pliant.rods.kernels import layout
from pliant.rods.statics import Statics

QUATERNION = slice(layout.TIP_Q, layout.TIP_M)  # of the state at a tip
MOMENT = slice(layout.TIP_M, layout.TIP_N)
FORCE = slice(layout.TIP_N, layout.TIP_LENGTH)


def simpson_weights(points: int) -> Array:
    """Return the weights of Simpson's rule over [0, 1] at an odd number of points at equal distances."""
    weights = np.ones(points)
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    return weights / (3.0 * (points - 1))


def freedom_indices(planar: bool) -> list[int]:
    """Return the components of a twist or a wrench that the plate's freedoms have."""
    return [0, 1, 5] if planar else list(range(6))


def motion(kind: str, axis: Array, q: float) -> Array:
    """Return what a joint of this kind does at a value, shape (4, 4)."""
    M = np.eye(4)
    if kind == "prismatic":
        M[:3, 3] = q * axis
    elif kind == "revolute":
        M[:3, :3] = exp_so3(q * axis)
    return M


def turned(axis: Array, angle: Array, v: Array) -> Array:
    """Return vectors turned about axes of length 1 (Rodrigues' formula), shape (..., 3)."""
    c, s = np.cos(angle)[..., None], np.sin(angle)[..., None]
    return c * v + s * np.cross(axis, v) + (1.0 - c) * np.sum(axis * v, axis=-1, keepdims=True) * axis


def rotations(poses: Array) -> Array:
    """Return the rotations of poses as the kernels have them, shape (..., 3, 3)."""
    return poses[..., : layout.POS_X].reshape(*poses.shape[:-1], 3, 3)


def rod_bases(md: kernels.Model, Q: Array) -> tuple[Array, Array, Array]:
    """Return rotation, position and rest length of the base of every rod for joint values Q, shape (states, n, k)."""
    R = np.broadcast_to(rotations(md.base), (*Q.shape[:2], 3, 3))
    p, length = np.broadcast_to(md.base[:, 9:], (*Q.shape[:2], 3)), np.broadcast_to(md.rest, Q.shape[:2])
    for j in range(Q.shape[2]):
        q, kind, has = Q[:, :, j], md.kind[:, j], j < md.joint_count
        p = p + (R @ md.offset[:, j, 9:, None])[..., 0]
        R = R @ np.where(has[:, None, None], rotations(md.offset[:, j]), np.eye(3))
        axis = (R @ md.axis[:, j, :, None])[..., 0]
        p = p + np.where(has & (kind == layout.PRISMATIC), q, 0.0)[..., None] * axis
        angle = np.where(has & (kind == layout.REVOLUTE), q, 0.0)
        R = np.stack([turned(axis, angle, R[..., c]) for c in range(3)], axis=-1)
        length = np.where(has & (kind == layout.EXTENSION), q, length)
    return R @ rotations(md.attach), p + (R @ md.attach[:, 9:, None])[..., 0], length


def root_pose(limb: Limb, Q: Array, rest: float) -> tuple[Array, float]:
    """Return the pose of the rod's base and its rest length for base joint values Q."""
    X, L = np.asarray(limb.base, dtype=float), float(rest)
    for j, joint in enumerate(limb.joints):
        axis = np.asarray(joint.axis, dtype=float) / np.linalg.norm(joint.axis)
        X = X @ joint.pose @ motion(joint.kind, axis, Q[j])
        if joint.kind == "extension":
            L = float(Q[j])
    return X @ limb.attach, L


def tip_joint_frames(robot: Statics, X: Array) -> tuple[Array, Array, Array]:
    """Return the axes of every distal joint on the plate, as the rod's tip carries them, and the frames of the tips.

    The tips are those of the last integration in the robot's memory.

    Returns:
        Three arrays of shape (limbs, 3, 3).
    """
    md = robot._model(robot._steps(None, None))
    tips = rotation_from_quaternion(robot._wk.tips[:, QUATERNION])
    on_plate = np.reshape(X[:9], (3, 3)) @ md.plate_joint[:, :9].reshape(-1, 3, 3)
    return on_plate, tips @ md.tip[:, :9].reshape(-1, 3, 3), tips


def between(A: Array, B: Array, part: float) -> Array:
    """Return the pose at a part of the way from A to B, in [0, 1]: a straight line, turned about one axis."""
    turn = exp_so3(part * log_so3(B[:3, :3] @ A[:3, :3].T))
    return pose(A[:3, 3] + part * (B[:3, 3] - A[:3, 3]), turn @ A[:3, :3])


def pose_angles(X: Array) -> Array:
    """Return (x, y, z, roll, pitch, yaw) of a pose, R = Rx Ry Rz, shape (6,) [m, rad]."""
    R = X[:3, :3]
    pitch = np.arctan2(R[0, 2], np.hypot(R[0, 0], R[0, 1]))
    return np.array([*X[:3, 3], np.arctan2(-R[1, 2], R[2, 2]), pitch, np.arctan2(-R[0, 1], R[0, 0])])
