"""Computed torque for the pose of an end effector, with a null space: the controller of FrankaSim's left arm.

With E the end-effector frame and D the desired one, the error is the translation and the rotation vector of E in D,

    e = (t, theta u) of X_DE = X_WD^-1 X_WE,        de/dt = A(e) V_rel

where V_rel is the twist of E relative to D in D's axes. The torque

    tau = M pinv(Ja) (-K e - D de/dt - d) + n - k N M dq,      Ja = A(e) blockdiag(R_WD^T, R_WD^T) J
    N = I - Ja^T (Ja M^-1 Ja^T)^-1 Ja M^-1

with d the part of e's second derivative that does not depend on ddq (motion of D included) gives an exact model the
error e'' + D e' + K e = 0, and damps the motion that does not move E (Khatib 1987; Siciliano et al. 2010, 8.6).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.argument_checks import ControlError, gains, number, vector
from pliant.base.numerics import Array
from pliant.base.spatial import cross, hat, is_rotation, log_so3

MIN_SINGULAR_VALUE = 1e-4
"""Smallest singular value of the Jacobian over its largest; below it the arm has lost a direction."""  # assumed
NEAR = 1e-3
"""Rotation below which limits replace differences that cancel [rad]."""


class CartesianComputedTorque:
    """Drives the pose of an end effector along a desired motion by joint torques.

    Args:
        stiffness: K, number or shape (6,), translation first [1/s^2].
        damping: D, number or shape (6,) [1/s]; None for critical damping, 2 sqrt(K).
        null_damping: k of the motion that does not move the end effector [1/s].

    Raises:
        ControlError: gains that are negative or no numbers.

    Example:
        >>> law = CartesianComputedTorque([2500.0] * 3 + [400.0] * 3, null_damping=100.0)
        >>> tau = law(X_WE, J, dJdq, dq, M, n, X_WD)
    """

    def __init__(
        self, stiffness: ArrayLike = 400.0, damping: ArrayLike | None = None, *, null_damping: float = 0.0
    ) -> None:
        name = type(self).__name__
        self.stiffness = gains(name, "stiffness", stiffness, 6)
        self.damping = 2.0 * np.sqrt(self.stiffness) if damping is None else gains(name, "damping", damping, 6)
        self.null_damping = number(name, "null_damping", null_damping, "1/s", low=0.0)

    def __call__(
        self,
        X_WE: ArrayLike,
        J: ArrayLike,
        dJdq: ArrayLike,
        dq: ArrayLike,
        mass: ArrayLike,
        bias: ArrayLike,
        X_WD: ArrayLike,
        V_WD: ArrayLike = (0.0,) * 6,
        A_WD: ArrayLike = (0.0,) * 6,
    ) -> Array:
        """Return the joint torques, shape (n,) [N m].

        Args:
            X_WE: pose of the end effector, shape (4, 4).
            J: its Jacobian, (v, omega) in world axes by joint velocities, shape (6, n).
            dJdq: dJ/dt dq, shape (6,) [m/s^2, rad/s^2].
            dq: joint velocities, shape (n,) [rad/s].
            mass: M(q), shape (n, n).
            bias: Coriolis, gravity and friction torques that the joints must give, shape (n,) [N m].
            X_WD: desired pose, shape (4, 4).
            V_WD: its velocity (v, omega) in world axes [m/s, rad/s].
            A_WD: its acceleration in world axes [m/s^2, rad/s^2].

        Raises:
            ControlError: the arm is singular, the error is a half turn, arrays of other shapes or not finite.
        """
        J_ = _matrix("J", J)
        n = J_.shape[1]
        M = _matrix("mass", mass, n)
        dq_, bias_ = _vector("dq", dq, n), _vector("bias", bias, n)
        X, D = _pose("X_WE", X_WE), _pose("X_WD", X_WD)
        V_D, A_D, drift = _vector("V_WD", V_WD, 6), _vector("A_WD", A_WD, 6), _vector("dJdq", dJdq, 6)
        R = D[:3, :3].T
        e = np.concatenate([R @ (X[:3, 3] - D[:3, 3]), log_so3(R @ X[:3, :3])])
        if np.linalg.norm(e[3:]) > math.pi - NEAR:
            raise ControlError(
                "CartesianComputedTorque: the end effector is half a turn from its desired orientation; must be nearer",
                field="X_WD",
            )
        V, r, w_D = J_ @ dq_, X[:3, 3] - D[:3, 3], V_D[3:]
        away = V[:3] - V_D[:3]
        v_rel = R @ (away - cross(w_D, r))
        w_rel = R @ (V[3:] - w_D)
        # Accelerations of E without what ddq adds, relative to D and in its axes, which turn with w_D.
        a = drift[:3] - A_D[:3] - cross(A_D[3:], r) - cross(w_D, away)
        a_rel = R @ a - R @ cross(w_D, away - cross(w_D, r))
        alpha_rel = R @ (drift[3:] - A_D[3:]) - R @ cross(w_D, V[3:] - w_D)
        A, dA = _rotation_rate(e[3:], w_rel)
        de = np.concatenate([v_rel, A @ w_rel])
        free = np.concatenate([a_rel, A @ alpha_rel + dA @ w_rel])
        Ja = np.concatenate([R @ J_[:3], A @ R @ J_[3:]])
        s = np.linalg.svd(Ja, compute_uv=False)
        if s[-1] < MIN_SINGULAR_VALUE * s[0]:
            raise ControlError(
                f"CartesianComputedTorque: the arm is singular, singular values {s[0]:.3g} to {s[-1]:.3g}; must be a "
                "configuration in which the end effector can move in every direction",
                field="J",
            )
        tau = M @ (np.linalg.pinv(Ja) @ (-self.stiffness * e - self.damping * de - free)) + bias_
        if self.null_damping:
            p = M @ dq_
            Ja_over_M = np.linalg.solve(M, Ja.T).T
            tau = tau - self.null_damping * (p - Ja.T @ np.linalg.solve(Ja @ Ja_over_M.T, Ja_over_M @ p))
        return tau

    @staticmethod
    def error(X_WE: ArrayLike, X_WD: ArrayLike) -> Array:
        """Return translation and rotation vector of the end effector in the desired frame, shape (6,) [m, rad]."""
        X, D = _pose("X_WE", X_WE), _pose("X_WD", X_WD)
        R = D[:3, :3].T
        return np.concatenate([R @ (X[:3, 3] - D[:3, 3]), log_so3(R @ X[:3, :3])])


def _rotation_rate(phi: Array, w: Array) -> tuple[Array, Array]:
    """Return A with dphi/dt = A w for a rotation vector phi and w in the outer axes, and dA/dt.

    A = I - S/2 + c S^2,  S = hat(phi),  c = (1 - (x/2) cot(x/2)) / x^2,  x = |phi|: the inverse left Jacobian of SO(3).
    """
    x = float(np.linalg.norm(phi))
    S = hat(phi)
    if x < NEAR:
        c, slope = 1.0 / 12.0, 0.0  # slope is (dc/dx) / x; their terms of x^2 and x^3 are below 1e-11
    else:
        half = 0.5 * x
        cot = math.cos(half) / math.sin(half)
        c = (1.0 - half * cot) / (x * x)
        slope = ((0.25 * (1.0 + cot * cot) * x - 0.5 * cot) / (x * x) - 2.0 * c / x) / x
    A = np.eye(3) - 0.5 * S + c * S @ S
    dphi = A @ w
    dS = hat(dphi)
    dA = -0.5 * dS + slope * float(phi @ dphi) * S @ S + c * (dS @ S + S @ dS)
    return A, dA


def _vector(field: str, value: ArrayLike, size: int) -> Array:
    return vector("CartesianComputedTorque", field, value, size)


def _matrix(field: str, value: ArrayLike, n: int | None = None) -> Array:
    out = np.asarray(value, dtype=float)
    right = out.ndim == 2 and (out.shape == (n, n) if n is not None else out.shape[0] == 6 and out.shape[1] >= 6)
    if not right or not np.all(np.isfinite(out)):
        wanted = "(6, n), n >= 6" if n is None else f"({n}, {n})"
        raise ControlError(
            f"CartesianComputedTorque: {field} has shape {out.shape}; must be finite numbers of shape {wanted}",
            field=field,
        )
    return out


def _pose(field: str, value: ArrayLike) -> Array:
    out = np.asarray(value, dtype=float)
    right = out.shape == (4, 4) and np.all(np.isfinite(out)) and np.all(out[3] == (0.0, 0.0, 0.0, 1.0))
    if not right or not is_rotation(out[:3, :3]):
        raise ControlError(
            f"CartesianComputedTorque: {field} is not a pose; must be a rotation and a translation, shape (4, 4)",
            field=field,
        )
    return out
