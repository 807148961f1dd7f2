"""Kinematics of the Franka arms: frames, Jacobians, inverse kinematics.

Poses map coordinates of a frame to the base. Twists are translation first, (v, omega). Link i's frame is that of
the modified Denavit-Hartenberg convention; ``flange`` and ``end_effector`` follow link 7.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.codecache import njit
from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array, for_kernels
from pliant.franka.device.kinematics import frames_kernel, inverse_kernel, jacobian_kernel, tool_kernel
from pliant.franka.device.memory import SEARCH
from pliant.franka.device.parameters import ELBOW_FLIP
from pliant.franka.robots.parameters import EE_OF_HAND

FRAMES = (*(f"link{i}" for i in range(1, 8)), "flange", "end_effector")
"""Names that `forward_kinematics` and `jacobian` accept."""


@njit(error_model="numpy")
def _frames_batch(q, R, p):
    for k in range(q.shape[0]):
        frames_kernel(q[k], R[k], p[k])


@njit(error_model="numpy")
def _pose_batch(q, F_T_EE, link, T):
    R = np.empty((7, 3, 3))
    p = np.empty((7, 3))
    for k in range(q.shape[0]):
        frames_kernel(q[k], R, p)
        if link < 7:
            T[k, :3, :3] = R[link]
            T[k, :3, 3] = p[link]
            T[k, 3, :3] = 0.0
            T[k, 3, 3] = 1.0
        else:
            tool_kernel(R[6], p[6], F_T_EE, T[k])


@njit(error_model="numpy")
def _jacobian_batch(q, F_T_EE, link, body, J):
    R = np.empty((7, 3, 3))
    p = np.empty((7, 3))
    X = np.empty((4, 4))
    for k in range(q.shape[0]):
        frames_kernel(q[k], R, p)
        if link < 7:
            X[:3, :3] = R[link]
            X[:3, 3] = p[link]
            jacobian_kernel(R, p, p[link], link + 1, J[k])
        else:
            tool_kernel(R[6], p[6], F_T_EE, X)
            jacobian_kernel(R, p, X[:3, 3], 7, J[k])
        if body:
            for c in range(7):
                for h in range(0, 6, 3):
                    a, b, d = J[k, h, c], J[k, h + 1, c], J[k, h + 2, c]
                    for r in range(3):
                        J[k, h + r, c] = X[0, r] * a + X[1, r] * b + X[2, r] * d


_EYE = np.eye(4)


def as_numbers(x: ArrayLike, name: str) -> Array:
    """Return an array of numbers.

    Raises:
        ModelError: it holds something else.
    """
    try:
        return np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{name} is {x!r}; must be an array of numbers", field=name) from None


def as_joints(x: ArrayLike, name: str = "q") -> Array:
    """Return numbers of seven joints, shape (..., 7).

    Raises:
        ModelError: another shape, or no numbers.
    """
    rows = as_numbers(x, name)
    if rows.shape[-1:] != (7,):
        raise ModelError(f"{name} has shape {rows.shape}; must be (..., 7)", field=name)
    return rows


def _tool(frame: str, F_T_EE: ArrayLike | None) -> tuple[int, Array]:
    if frame not in FRAMES:
        raise ModelError(f"no frame {frame!r}: {nearest(frame, FRAMES)}", field="frame")
    if frame == "flange":
        return 7, _EYE
    tool = EE_OF_HAND if F_T_EE is None else for_kernels(F_T_EE)
    if tool.shape != (4, 4):
        raise ModelError(f"F_T_EE has shape {tool.shape}; must be (4, 4)", field="F_T_EE")
    return min(FRAMES.index(frame), 7), tool


def frames(q: ArrayLike) -> tuple[Array, Array]:
    """Return rotations and origins of the seven links in the base.

    Args:
        q: joint positions, shape (..., 7) [rad].

    Returns:
        rotations, shape (..., 7, 3, 3), and origins, shape (..., 7, 3) [m].
    """
    q = as_joints(q)
    flat = for_kernels(q.reshape(-1, 7))
    R, p = np.empty((len(flat), 7, 3, 3)), np.empty((len(flat), 7, 3))
    _frames_batch(flat, R, p)
    return R.reshape(*q.shape[:-1], 7, 3, 3), p.reshape(*q.shape[:-1], 7, 3)


def forward_kinematics(q: ArrayLike, frame: str = "end_effector", *, F_T_EE: ArrayLike | None = None) -> Array:
    """Return the pose of a frame in the base.

    Args:
        q: joint positions, shape (..., 7) [rad].
        frame: one of `FRAMES`.
        F_T_EE: pose of the end effector in the flange, shape (4, 4); default that of the Franka Hand.

    Returns:
        Poses, shape (..., 4, 4).

    Raises:
        ModelError: a wrong shape or an unknown frame.
    """
    q = as_joints(q)
    link, tool = _tool(frame, F_T_EE)
    flat = for_kernels(q.reshape(-1, 7))
    T = np.empty((len(flat), 4, 4))
    _pose_batch(flat, tool, link, T)
    return T.reshape(*q.shape[:-1], 4, 4)


def jacobian(
    q: ArrayLike,
    frame: str = "end_effector",
    *,
    F_T_EE: ArrayLike | None = None,
    axes: Literal["base", "body"] = "base",
) -> Array:
    """Return the geometric Jacobian of a frame's origin.

    Args:
        q: joint positions, shape (..., 7) [rad].
        frame: one of `FRAMES`.
        F_T_EE: pose of the end effector in the flange, shape (4, 4); default that of the Franka Hand.
        axes: whether the twist (v, omega) is expressed in the base's axes or in those of the frame itself.

    Returns:
        shape (..., 6, 7), translation first.

    Raises:
        ModelError: a wrong shape, frame or kind of axes.
    """
    if axes not in ("base", "body"):
        raise ModelError(f"axes {axes!r}: {nearest(axes, ('base', 'body'))}", field="axes")
    q = as_joints(q)
    link, tool = _tool(frame, F_T_EE)
    flat = for_kernels(q.reshape(-1, 7))
    J = np.empty((len(flat), 6, 7))
    _jacobian_batch(flat, tool, link, axes == "body", J)
    return J.reshape(*q.shape[:-1], 6, 7)


def elbow(q: ArrayLike) -> Array:
    """Return the elbow of the interface: (q3, +1 or -1), the sign that of q4 beyond its flip at -0.467 rad.

    Args:
        q: joint positions, shape (..., 7) [rad].

    Returns:
        shape (..., 2).
    """
    q = as_joints(q)
    return np.stack([q[..., 2], np.where(q[..., 3] >= ELBOW_FLIP, 1.0, -1.0)], axis=-1)


def inverse_kinematics(
    X: ArrayLike,
    q0: ArrayLike,
    *,
    elbow: float | None = None,
    F_T_EE: ArrayLike | None = None,
    iterations: int = 100,
    tolerance: float = 1e-9,
) -> Array:
    """Return joint positions that bring the end effector to a pose, near a start.

    Args:
        X: pose in the base, shape (4, 4).
        q0: start of the search, shape (7,) [rad].
        elbow: value of joint 3 [rad]; None: the least motion.
        F_T_EE: pose of the end effector in the flange, shape (4, 4); default that of the Franka Hand.
        iterations: most Newton steps.
        tolerance: largest error accepted [m, rad].

    Returns:
        shape (7,) [rad].

    Raises:
        ModelError: no solution was found from q0.
    """
    q = as_joints(q0).copy()
    X = np.ascontiguousarray(X, dtype=np.float64)
    if X.shape != (4, 4) or q.shape != (7,):
        raise ModelError(f"pose and start have shapes {X.shape} and {q.shape}; must be (4, 4) and (7,)")
    _, tool = _tool("end_effector", F_T_EE)
    residual = inverse_kernel(np.zeros(1, SEARCH)[0], q, X, tool, elbow is not None, elbow or 0.0, iterations, 1e-6)
    if not residual <= tolerance:
        raise ModelError(f"no joint positions found for the pose: error {residual:.3g} after {iterations} steps")
    return q
