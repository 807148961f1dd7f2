"""Kernels of what a cabinet derives from its measurements: kinematics, dynamics, external torques."""

from __future__ import annotations

from pliant.base.codecache import njit
from pliant.franka.device.dynamics import friction_kernel, gravity_kernel, mass_coriolis_kernel
from pliant.franka.device.kinematics import (
    cholesky_solve_kernel,
    copy_kernel,
    frames_kernel,
    jacobian_kernel,
    tool_kernel,
)
from pliant.franka.device.memory import DT


@njit(error_model="numpy")
def update_model(s):
    """Bring frames, Jacobians and the terms of the equation of motion to the measured joints."""
    frames_kernel(s.q, s.R, s.p)
    tool_kernel(s.R[6], s.p[6], s.F_T_EE, s.X)
    for r in range(3):
        for c in range(4):
            v = s.X[r, 3] if c == 3 else 0.0
            for k in range(3):
                v += s.X[r, k] * s.EE_T_K[k, c]
            s.XK[r, c] = v
    s.XK[3, 3] = 1.0
    jacobian_kernel(s.R, s.p, s.X[:3, 3], 7, s.J)
    jacobian_kernel(s.R, s.p, s.XK[:3, 3], 7, s.JK)
    mass_coriolis_kernel(s.R, s.p, s.dq, s.table, s.S, s.V, s.D, s.M, s.C)
    gravity_kernel(s.R, s.p, s.table, s.gravity, s.g)
    if s.friction_on:
        friction_kernel(s.dq, s.friction, s.tau_f)
    else:
        s.tau_f[:] = 0.0


@njit(error_model="numpy")
def follow_rotors(s):
    """Advance the torque loop: the torque that accelerates the rotors is added to the client's, up to its bandwidth.

    The difference of the velocity is exactly the last step's acceleration.
    """
    for i in range(7):
        inertial = s.rotor_inertia[i] * (s.dq[i] - s.dq_last[i]) / DT
        s.rotor_torque[i] += s.torque_loop * (inertial - s.rotor_torque[i])
        s.dq_last[i] = s.dq[i]


@njit(error_model="numpy")
def estimate_external_torques(s):
    """Advance the momentum observer: p' = tau_J + C' dq - g + tau_env, r -> tau_env."""
    for i in range(7):
        momentum, centrifugal = 0.0, 0.0
        for k in range(7):
            momentum += s.M[i, k] * s.dq[k]
            centrifugal += s.C[k, i] * s.dq[k]
        if not s.observer_started:
            s.integral[i] = momentum
            s.residual[i] = 0.0
        else:
            s.integral[i] += DT * (s.tau_J[i] + centrifugal - s.g[i] + s.residual[i])
            s.residual[i] = s.observer_gain * (momentum - s.integral[i])
    s.observer_started = 1


@njit(error_model="numpy")
def estimate_wrench(s):
    """Write the wrench of the robot on its surroundings at K: the least-squares solution of JK' F = -r."""
    for r in range(6):
        s.b6[r] = 0.0
        for i in range(7):
            s.b6[r] -= s.JK[r, i] * s.residual[i]
        for c in range(r + 1):
            v = 0.0
            for i in range(7):
                v += s.JK[r, i] * s.JK[c, i]
            s.A6[r, c] = v
        s.A6[r, r] += 1e-6
    solved = cholesky_solve_kernel(s.A6, s.b6, 6)
    # the factor's diagonal multiplies to the manipulability sqrt(det(JK JK'))
    manipulability = 1.0
    for r in range(6):
        manipulability *= s.A6[r, r]
    if solved and manipulability >= s.singular:
        copy_kernel(s.b6, s.F_K, 6)
    else:
        s.F_K[:] = 0.0
