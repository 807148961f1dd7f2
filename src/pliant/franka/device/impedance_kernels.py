"""Kernels of the impedance controllers."""

from __future__ import annotations

import math

from pliant.base.codecache import njit
from pliant.franka.device.kinematics import (
    cholesky_kernel,
    cholesky_solve_kernel,
    factor_solve_kernel,
    rotation_error_kernel,
)
from pliant.franka.device.memory import DT


@njit(error_model="numpy")
def _projector(s, J):
    """Write P = 1 - J' (J J')^-1 J to P7."""
    B = s.b6
    for r in range(6):
        for c in range(r + 1):
            v = 0.0
            for i in range(7):
                v += J[r, i] * J[c, i]
            s.A6[r, c] = v
        s.A6[r, r] += 1e-8
    cholesky_kernel(s.A6, 6)
    for j in range(7):
        for r in range(6):
            B[r] = J[r, j]
        factor_solve_kernel(s.A6, B, 6)
        for i in range(7):
            v = 1.0 if i == j else 0.0
            for r in range(6):
                v -= J[r, i] * B[r]
            s.P7[i, j] = v


@njit(error_model="numpy")
def _solve_impedance(s, force):
    """Write tau_d for stiffness K7, damping D7 and the generalized force at the end of the cycle, implicitly.

    (M + B + h D + h^2 K) a = force + r, tau_d = M a - r + C dq, and the motors add B a for their rotors. The impedance
    acts with the position and velocity that the arm has at the end of the cycle, which is stable at any stiffness.
    r is the estimated external torque: without it the arm would seem to accelerate where something holds it, and be
    softer than asked.
    """
    for i in range(7):
        s.b7[i] = force[i] + s.residual[i]
        for k in range(7):
            s.A7[i, k] = s.M[i, k] + DT * s.D7[i, k] + DT * DT * s.K7[i, k]
        s.A7[i, i] += s.rotor_inertia[i]
    if not cholesky_solve_kernel(s.A7, s.b7, 7):
        s.b7[:] = 0.0
    for i in range(7):
        v = -s.residual[i]
        for k in range(7):
            v += s.M[i, k] * s.b7[k] + s.C[i, k] * s.dq[k]
        s.tau_d[i] = v
        s.rotor_drive[i] = s.rotor_inertia[i] * s.b7[i]


@njit(error_model="numpy")
def joint_impedance(s):
    force = s.force
    s.K7[:, :] = 0.0
    s.D7[:, :] = 0.0
    for i in range(7):
        s.K7[i, i] = s.K_theta[i]
        s.D7[i, i] = 2.0 * s.zeta * math.sqrt(s.K_theta[i] * (s.M[i, i] + s.rotor_inertia[i]))
        v = s.K_theta[i] * (s.q_d[i] - s.q[i] - DT * s.dq[i]) + s.D7[i, i] * (s.dq_d[i] - s.dq[i])
        v += s.rotor_inertia[i] * s.ddq_d[i]
        for k in range(7):
            v += s.M[i, k] * s.ddq_d[k]
        force[i] = v
    _solve_impedance(s, force)


@njit(error_model="numpy")
def cartesian_impedance(s, X_d, q_d, use_rates, K, K_null):
    """Springs K (6) along and about the axes of K's frame towards X_d, and K_null on the elbow."""
    force, JL, e, Dx, w, XKd = s.force, s.JL, s.e6, s.D6, s.w3, s.XKd
    for r in range(3):
        for c in range(4):
            v = X_d[r, 3] if c == 3 else 0.0
            for k in range(3):
                v += X_d[r, k] * s.EE_T_K[k, c]
            XKd[r, c] = v
    rotation_error_kernel(XKd[:, :3], s.XK, w)
    for r in range(3):
        e[r] = 0.0
        e[3 + r] = 0.0
        for k in range(3):
            e[r] += s.XK[k, r] * (XKd[k, 3] - s.XK[k, 3])
            e[3 + r] += s.XK[k, r] * w[k]
        for i in range(7):
            a, b = 0.0, 0.0
            for k in range(3):
                a += s.XK[k, r] * s.JK[k, i]
                b += s.XK[k, r] * s.JK[k + 3, i]
            JL[r, i] = a
            JL[r + 3, i] = b
    # damping from the apparent inertia along each axis: lambda = 1 / (J (M + B)^-1 J')_rr
    for i in range(7):
        for k in range(7):
            s.A7[i, k] = s.M[i, k]
        s.A7[i, i] += s.rotor_inertia[i]
    cholesky_kernel(s.A7, 7)
    for r in range(6):
        for i in range(7):
            s.b7[i] = JL[r, i]
        factor_solve_kernel(s.A7, s.b7, 7)
        mobility = 1e-9
        for i in range(7):
            mobility += JL[r, i] * s.b7[i]
        Dx[r] = 2.0 * s.zeta * math.sqrt(K[r] / mobility)
    _projector(s, JL)
    for i in range(7):
        for k in range(i + 1):
            a, b = 0.0, 0.0
            for r in range(6):
                a += JL[r, i] * K[r] * JL[r, k]
                b += JL[r, i] * Dx[r] * JL[r, k]
            # P is a projector: P K_null P = K_null P
            a += K_null * s.P7[i, k]
            b += 2.0 * s.zeta * math.sqrt(K_null * 0.5) * s.P7[i, k]
            s.K7[i, k] = s.K7[k, i] = a
            s.D7[i, k] = s.D7[k, i] = b
    for i in range(7):
        v = 0.0
        for r in range(6):
            v += JL[r, i] * K[r] * e[r]
        for k in range(7):
            v += K_null * s.P7[i, k] * (q_d[k] - s.q[k])
            rate = s.dq_d[k] - s.dq[k] if use_rates else -s.dq[k]
            v += s.D7[i, k] * rate - DT * s.K7[i, k] * s.dq[k]
            if use_rates:
                v += s.M[i, k] * s.ddq_d[k]
        if use_rates:
            v += s.rotor_inertia[i] * s.ddq_d[i]
        force[i] = v
    _solve_impedance(s, force)
