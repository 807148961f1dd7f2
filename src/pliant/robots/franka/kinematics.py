"""Where the arm's frames are: forward kinematics, Jacobians, inverse kinematics.

Poses map coordinates of a frame to the base. Twists are translation first, (v, omega). Link i's frame is that of
the modified Denavit-Hartenberg convention; ``flange`` and ``end_effector`` follow link 7.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import ModelError, nearest
from pliant.robots.franka.compiling import njit
from pliant.robots.franka.parameters import D_FLANGE, DH, EE_OF_HAND, ELBOW_FLIP

__all__ = ["FRAMES", "elbow", "forward_kinematics", "frames", "inverse_kinematics", "jacobian"]

Array = NDArray[np.float64]
FRAMES = (*(f"link{i}" for i in range(1, 8)), "flange", "end_effector")
"""Names that `forward_kinematics` and `jacobian` accept."""

_A = tuple(float(x) for x in DH[:7, 0])
_CA = tuple(float(round(math.cos(x))) for x in DH[:7, 1])
_SA = tuple(float(round(math.sin(x))) for x in DH[:7, 1])
_D = tuple(float(x) for x in DH[:7, 2])


@njit(fastmath=False, error_model="numpy")
def frames_kernel(q, R, p):
    """Write rotation (7, 3, 3) and origin (7, 3) of the links, in the base."""
    x0, x1, x2 = 1.0, 0.0, 0.0
    y0, y1, y2 = 0.0, 1.0, 0.0
    z0, z1, z2 = 0.0, 0.0, 1.0
    p0, p1, p2 = 0.0, 0.0, 0.0
    for i in range(7):
        a, ca, sa, d = _A[i], _CA[i], _SA[i], _D[i]
        p0 += a * x0
        p1 += a * x1
        p2 += a * x2
        u0, u1, u2 = ca * y0 + sa * z0, ca * y1 + sa * z1, ca * y2 + sa * z2
        z0, z1, z2 = ca * z0 - sa * y0, ca * z1 - sa * y1, ca * z2 - sa * y2
        p0 += d * z0
        p1 += d * z1
        p2 += d * z2
        c, s = math.cos(q[i]), math.sin(q[i])
        y0, y1, y2 = c * u0 - s * x0, c * u1 - s * x1, c * u2 - s * x2
        x0, x1, x2 = c * x0 + s * u0, c * x1 + s * u1, c * x2 + s * u2
        R[i, 0, 0], R[i, 1, 0], R[i, 2, 0] = x0, x1, x2
        R[i, 0, 1], R[i, 1, 1], R[i, 2, 1] = y0, y1, y2
        R[i, 0, 2], R[i, 1, 2], R[i, 2, 2] = z0, z1, z2
        p[i, 0], p[i, 1], p[i, 2] = p0, p1, p2


@njit(error_model="numpy")
def tool_kernel(R7, p7, F_T_EE, T):
    """Write the end effector's pose (4, 4) from link 7 and its pose in the flange."""
    for r in range(3):
        for c in range(3):
            T[r, c] = R7[r, 0] * F_T_EE[0, c] + R7[r, 1] * F_T_EE[1, c] + R7[r, 2] * F_T_EE[2, c]
        T[r, 3] = p7[r] + R7[r, 0] * F_T_EE[0, 3] + R7[r, 1] * F_T_EE[1, 3] + R7[r, 2] * (F_T_EE[2, 3] + D_FLANGE)
        T[3, r] = 0.0
    T[3, 3] = 1.0


@njit(error_model="numpy")
def jacobian_kernel(R, p, x, n, J):
    """Write the Jacobian (6, 7) of point x that moves with link n (1 to 7), in base axes."""
    for i in range(7):
        if i >= n:
            for r in range(6):
                J[r, i] = 0.0
            continue
        z0, z1, z2 = R[i, 0, 2], R[i, 1, 2], R[i, 2, 2]
        d0, d1, d2 = x[0] - p[i, 0], x[1] - p[i, 1], x[2] - p[i, 2]
        J[0, i] = z1 * d2 - z2 * d1
        J[1, i] = z2 * d0 - z0 * d2
        J[2, i] = z0 * d1 - z1 * d0
        J[3, i], J[4, i], J[5, i] = z0, z1, z2


@njit(error_model="numpy")
def rotation_error_kernel(Rd, R, out):
    """Write the rotation vector, in base axes, that turns R into Rd."""
    E = np.empty((3, 3))
    for r in range(3):
        for c in range(3):
            E[r, c] = Rd[r, 0] * R[c, 0] + Rd[r, 1] * R[c, 1] + Rd[r, 2] * R[c, 2]
    v0, v1, v2 = 0.5 * (E[2, 1] - E[1, 2]), 0.5 * (E[0, 2] - E[2, 0]), 0.5 * (E[1, 0] - E[0, 1])
    sine = math.sqrt(v0 * v0 + v1 * v1 + v2 * v2)
    cosine = 0.5 * (E[0, 0] + E[1, 1] + E[2, 2] - 1.0)
    angle = math.atan2(sine, cosine)
    if angle < 1e-8:
        out[0], out[1], out[2] = v0, v1, v2
    elif math.pi - angle > 1e-4:
        k = angle / sine
        out[0], out[1], out[2] = v0 * k, v1 * k, v2 * k
    else:
        best = 0
        for i in range(1, 3):
            if E[i, i] > E[best, best]:
                best = i
        length = 0.0
        axis = np.empty(3)
        for i in range(3):
            axis[i] = 0.5 * (E[i, best] + E[best, i])
        axis[best] -= cosine
        for i in range(3):
            length += axis[i] * axis[i]
        length = math.sqrt(length)
        sign = 1.0 if axis[0] * v0 + axis[1] * v1 + axis[2] * v2 >= 0.0 else -1.0
        for i in range(3):
            out[i] = sign * angle * axis[i] / length


@njit(error_model="numpy")
def cholesky_solve_kernel(A, b, n):
    """Solve A x = b in place (x replaces b, the factor replaces A's lower part), A symmetric positive definite."""
    for j in range(n):
        s = A[j, j]
        for k in range(j):
            s -= A[j, k] * A[j, k]
        if not s > 1e-300:
            return False
        d = math.sqrt(s)
        A[j, j] = d
        for i in range(j + 1, n):
            t = A[i, j]
            for k in range(j):
                t -= A[i, k] * A[j, k]
            A[i, j] = t / d
    for i in range(n):
        t = b[i]
        for k in range(i):
            t -= A[i, k] * b[k]
        b[i] = t / A[i, i]
    for i in range(n - 1, -1, -1):
        t = b[i]
        for k in range(i + 1, n):
            t -= A[k, i] * b[k]
        b[i] = t / A[i, i]
    return True


@njit(error_model="numpy")
def inverse_kernel(q, T, F_T_EE, use_elbow, q3, iterations, damping):
    """Move q, in place, so that the end effector comes to T; return the residual (metres and radians mixed).

    Newton steps on six pose equations, of least norm; with use_elbow also q[2] = q3. The damping keeps the steps
    bounded near singular poses; at the solution it does not bias the result.
    """
    R = np.empty((7, 3, 3))
    p = np.empty((7, 3))
    X = np.empty((4, 4))
    J = np.empty((6, 7))
    A = np.empty((7, 7))
    b = np.empty(7)
    e = np.empty(7)
    w = np.empty(3)
    residual = 0.0
    for k in range(iterations + 1):
        frames_kernel(q, R, p)
        tool_kernel(R[6], p[6], F_T_EE, X)
        rotation_error_kernel(T, X, w)
        residual = 0.0
        for r in range(3):
            e[r] = T[r, 3] - X[r, 3]
            e[3 + r] = w[r]
            residual = max(residual, abs(e[r]), abs(w[r]))
        n = 6
        if use_elbow:
            e[6] = q3 - q[2]
            residual = max(residual, abs(e[6]))
            n = 7
        if residual < 1e-12 or k == iterations:
            break
        jacobian_kernel(R, p, X[:3, 3], 7, J)
        for r in range(n):
            for c in range(r + 1):
                s = 0.0
                if r < 6 and c < 6:
                    for i in range(7):
                        s += J[r, i] * J[c, i]
                elif r == 6 and c < 6:
                    s = J[c, 2]
                else:
                    s = 1.0
                A[r, c] = s
            A[r, r] += damping
            b[r] = e[r]
        if not cholesky_solve_kernel(A, b, n):
            break
        for i in range(7):
            s = 0.0
            for r in range(6):
                s += J[r, i] * b[r]
            if use_elbow and i == 2:
                s += b[6]
            q[i] += s
    return residual


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


def _joints(q: ArrayLike) -> Array:
    q = np.asarray(q, dtype=np.float64)
    if q.shape[-1:] != (7,):
        raise ModelError(f"joint positions of shape {q.shape}; valid is (..., 7)", field="q")
    return q


def _tool(frame: str, F_T_EE: ArrayLike | None) -> tuple[int, Array]:
    if frame not in FRAMES:
        raise ModelError(f"no frame {frame!r}: {nearest(frame, FRAMES)}", field="frame")
    if frame == "flange":
        return 7, _EYE
    tool = EE_OF_HAND if F_T_EE is None else np.ascontiguousarray(F_T_EE, dtype=np.float64)
    if tool.shape != (4, 4):
        raise ModelError(f"F_T_EE of shape {tool.shape}; valid is (4, 4)", field="F_T_EE")
    return min(FRAMES.index(frame), 7), tool


def frames(q: ArrayLike) -> tuple[Array, Array]:
    """Return rotations and origins of the seven links in the base.

    Args:
        q: joint positions, shape (..., 7) [rad].

    Returns:
        rotations, shape (..., 7, 3, 3), and origins, shape (..., 7, 3) [m].
    """
    q = _joints(q)
    flat = np.ascontiguousarray(q.reshape(-1, 7))
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
    q = _joints(q)
    link, tool = _tool(frame, F_T_EE)
    flat = np.ascontiguousarray(q.reshape(-1, 7))
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
    q = _joints(q)
    link, tool = _tool(frame, F_T_EE)
    flat = np.ascontiguousarray(q.reshape(-1, 7))
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
    q = _joints(q)
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
    q = _joints(q0).copy()
    X = np.ascontiguousarray(X, dtype=np.float64)
    if X.shape != (4, 4) or q.shape != (7,):
        raise ModelError(f"pose of shape {X.shape} and start of shape {q.shape}; valid are (4, 4) and (7,)")
    _, tool = _tool("end_effector", F_T_EE)
    residual = inverse_kernel(q, X, tool, elbow is not None, elbow or 0.0, iterations, 1e-6)
    if not residual <= tolerance:
        raise ModelError(f"no joint positions found for the pose: error {residual:.3g} after {iterations} steps")
    return q
