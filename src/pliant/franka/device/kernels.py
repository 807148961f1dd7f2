"""The arithmetic of one control cycle, compiled. All state lies in one record, `MEMORY`.

`observe` turns measurements into kinematics, dynamics, the external-torque estimate and the published numbers;
`control` turns a command into joint torques. Both set bits in ``errors`` and return how many they set.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.base.codecache import njit
from pliant.franka.device.dynamics import coriolis_kernel, friction_kernel, gravity_kernel, mass_kernel
from pliant.franka.device.kinematics import (
    cholesky_solve_kernel,
    frames_kernel,
    inverse_kernel,
    jacobian_kernel,
    rotation_error_kernel,
    tool_kernel,
)
from pliant.franka.device.parameters import CAPSULES, ELBOW_FLIP
from pliant.franka.wire.fci import N_REALS, REALS

__all__ = ["ASYNC", "DT", "FINISH", "GUIDING", "HOLD", "MEMORY", "MOTION", "WAIT", "control", "observe", "publish"]

DT = 1e-3
"""Control period [s]."""

HOLD, MOTION, GUIDING = 0, 1, 2
JOINT_POSITION, JOINT_VELOCITY, CARTESIAN_POSITION, CARTESIAN_VELOCITY, NONE = 0, 1, 2, 3, 4
JOINT_IMPEDANCE, CARTESIAN_IMPEDANCE, EXTERNAL = 0, 1, 2
# flags of `control`
PRESENT, ELBOW, FIRST, FINISH, ASYNC, WAIT = 1, 2, 4, 8, 16, 32


def _memory() -> np.dtype:
    f, i, u = "f8", "i8", "u1"
    return np.dtype(
        [
            # what the cabinet sets
            ("table", f, (7, 10)),
            ("friction", f, (7, 3)),
            ("friction_on", i),
            ("gravity", f, (3,)),
            ("rotor_inertia", f, (7,)),  # that the torque loop leaves, reflected
            ("joint_stiffness", f, (7,)),
            ("torque_loop", f),  # gain of the low-pass of the torque loop
            ("F_T_EE", f, (4, 4)),
            ("EE_T_K", f, (4, 4)),
            ("K_theta", f, (7,)),
            ("K_x", f, (6,)),
            ("zeta", f),
            ("K_null", f),
            ("wrong_way", f),  # how much farther beyond a limit the arm may be guided [rad]
            ("singular", f),  # manipulability below which the external wrench is zero
            ("observer_gain", f),
            ("q_min", f, (7,)),
            ("q_max", f, (7,)),
            ("dq_max", f, (7,)),
            ("ddq_max", f, (7,)),
            ("dddq_max", f, (7,)),
            ("dq_offset", f, (7,)),
            ("dq_dec", f, (7,)),
            ("position_dependent", i),
            ("cartesian", f, (3, 3)),  # rows translation, rotation, elbow; columns velocity, acceleration, jerk
            ("tau_max", f, (7,)),
            ("tau_rate", f),
            ("tau_range", f),
            ("velocity_margin", f),
            ("power_limit", f),
            ("start_tolerance", f),
            ("tol_ddq", f),
            ("tol_dddq", f),
            ("threshold_torque", f, (4, 7)),  # lower, upper while accelerating; lower, upper nominal
            ("threshold_force", f, (4, 6)),
            ("deviation", f, (2, 3)),  # path, goal
            ("filter", f, (5,)),  # gains: joint position, joint velocity, Cartesian position, velocity, torque
            ("enabled", u, (41,)),
            ("guiding_free", i, (7,)),
            ("mode", i),
            ("controller", i),
            ("generator", i),
            # measured and derived
            ("q", f, (7,)),
            ("dq", f, (7,)),
            ("tau_J", f, (7,)),
            ("tau_J_last", f, (7,)),
            ("dq_last", f, (7,)),
            ("rotor_torque", f, (7,)),  # what accelerates the rotors, low-passed by the torque loop
            ("rotor_drive", f, (7,)),  # what the motors add to the desired torque to accelerate the rotors
            ("R", f, (7, 3, 3)),
            ("p", f, (7, 3)),
            ("X", f, (4, 4)),
            ("XK", f, (4, 4)),
            ("J", f, (6, 7)),
            ("JK", f, (6, 7)),
            ("M", f, (7, 7)),
            ("C", f, (7, 7)),
            ("g", f, (7,)),
            ("tau_f", f, (7,)),
            ("S", f, (7, 6)),
            ("V", f, (7, 6)),
            ("D", f, (7, 6)),
            ("integral", f, (7,)),
            ("observer_started", i),
            ("residual", f, (7,)),
            ("F_K", f, (6,)),
            # desired
            ("q_d", f, (7,)),
            ("dq_d", f, (7,)),
            ("ddq_d", f, (7,)),
            ("X_c", f, (4, 4)),
            ("dX_c", f, (6,)),
            ("ddX_c", f, (6,)),
            ("X_d", f, (4, 4)),
            ("elbow_c", f, (2,)),
            ("delbow_c", f),
            ("ddelbow_c", f),
            ("use_elbow", i),
            ("tau_c", f, (7,)),
            ("tau_d", f, (7,)),
            ("target", f, (7,)),
            ("target_velocity", f, (7,)),
            ("X_latch", f, (4, 4)),
            ("q_latch", f, (7,)),
            ("q_hold", f, (7,)),
            ("contact", f, (13,)),
            ("collision", f, (13,)),
            ("errors", u, (41,)),
            ("rest", i),
            ("torque", f, (7,)),
            ("reals", f, (N_REALS,)),
            # scratch
            ("A7", f, (7, 7)),
            ("K7", f, (7, 7)),
            ("D7", f, (7, 7)),
            ("P7", f, (7, 7)),
            ("A6", f, (6, 6)),
            ("b7", f, (7,)),
            ("b6", f, (6,)),
            ("w3", f, (3,)),
            ("q_new", f, (7,)),
            ("X_new", f, (4, 4)),
            ("dX_new", f, (6,)),
        ],
        align=True,
    )


MEMORY = _memory()
"""Layout of a cabinet's whole state: copying it saves and restores the controller."""

_O = {name: place.offset for name, place in REALS.items()}
_Q, _DQ, _QD, _DQD, _DDQD = _O["q"], _O["dq"], _O["q_d"], _O["dq_d"], _O["ddq_d"]
_TAUJ, _TAUJD, _DTAUJ, _TAUX = _O["tau_J"], _O["tau_J_d"], _O["dtau_J"], _O["tau_ext_hat_filtered"]
_XEE, _XEED, _XEEC, _FTEE, _ETK = _O["O_T_EE"], _O["O_T_EE_d"], _O["O_T_EE_c"], _O["F_T_EE"], _O["EE_T_K"]
_OF, _KF, _DXD, _DDO = _O["O_F_ext_hat_K"], _O["K_F_ext_hat_K"], _O["O_dP_EE_d"], _O["O_ddP_O"]
_EL, _ELD, _ELC, _DELC, _DDELC = _O["elbow"], _O["elbow_d"], _O["elbow_c"], _O["delbow_c"], _O["ddelbow_c"]
_DXC, _DDXC, _TH, _DTH = _O["O_dP_EE_c"], _O["O_ddP_EE_c"], _O["theta"], _O["dtheta"]
_JC, _CC, _JX, _CX = (
    _O["joint_contact"],
    _O["cartesian_contact"],
    _O["joint_collision"],
    _O["cartesian_collision"],
)

# Self collision: the wrist (links 6 and 7) against the base and the shoulder (links 0 to 2). Other pairs are kept
# apart by the joint limits.
_CAP_LINK = np.array([c[0] for c in CAPSULES])
_CAP_A = np.array([c[1] for c in CAPSULES])
_CAP_B = np.array([c[2] for c in CAPSULES])
_CAP_R = np.array([c[3] for c in CAPSULES])
_PAIRS = np.array(
    [(i, j) for i in range(len(CAPSULES)) for j in range(len(CAPSULES)) if CAPSULES[i][0] <= 2 and CAPSULES[j][0] >= 6]
)


@njit(error_model="numpy")
def _raise(s, index):
    if s.enabled[index] and not s.errors[index]:
        s.errors[index] = 1
        return 1
    return 0


@njit(error_model="numpy")
def _columns(T, reals, at):
    for c in range(4):
        for r in range(4):
            reals[at + 4 * c + r] = T[r, c]


@njit(error_model="numpy")
def _segments(a0, a1, b0, b1):
    """Return the squared distance of two segments (clamped closest points)."""
    d1, d2, r = a1 - a0, b1 - b0, a0 - b0
    a = d1[0] * d1[0] + d1[1] * d1[1] + d1[2] * d1[2]
    e = d2[0] * d2[0] + d2[1] * d2[1] + d2[2] * d2[2]
    f = d2[0] * r[0] + d2[1] * r[1] + d2[2] * r[2]
    c = d1[0] * r[0] + d1[1] * r[1] + d1[2] * r[2]
    b = d1[0] * d2[0] + d1[1] * d2[1] + d1[2] * d2[2]
    denominator = a * e - b * b
    s = 0.0
    if denominator > 1e-12:
        s = min(1.0, max(0.0, (b * f - c * e) / denominator))
    t = (b * s + f) / e
    if t < 0.0:
        t = 0.0
        s = min(1.0, max(0.0, -c / a))
    elif t > 1.0:
        t = 1.0
        s = min(1.0, max(0.0, (b - c) / a))
    total = 0.0
    for k in range(3):
        x = r[k] + s * d1[k] - t * d2[k]
        total += x * x
    return total


@njit(error_model="numpy")
def _self_collision(R, p):
    A = np.empty((_CAP_LINK.shape[0], 3))
    B = np.empty((_CAP_LINK.shape[0], 3))
    for k in range(_CAP_LINK.shape[0]):
        link = _CAP_LINK[k] - 1
        for r in range(3):
            if link < 0:
                A[k, r], B[k, r] = _CAP_A[k, r], _CAP_B[k, r]
            else:
                A[k, r], B[k, r] = p[link, r], p[link, r]
                for c in range(3):
                    A[k, r] += R[link, r, c] * _CAP_A[k, c]
                    B[k, r] += R[link, r, c] * _CAP_B[k, c]
    for n in range(_PAIRS.shape[0]):
        i, j = _PAIRS[n, 0], _PAIRS[n, 1]
        reach = _CAP_R[i] + _CAP_R[j]
        # cheap rejection by midpoints
        far = 0.0
        size = reach
        for r in range(3):
            d = 0.5 * (A[i, r] + B[i, r] - A[j, r] - B[j, r])
            far += d * d
            size += 0.5 * (abs(A[i, r] - B[i, r]) + abs(A[j, r] - B[j, r]))
        if far < size * size and _segments(A[i], B[i], A[j], B[j]) < reach * reach:
            return True
    return False


@njit(error_model="numpy")
def observe(memory):
    """Take in q, dq and tau_J; return the number of errors raised."""
    s = memory[0]
    raised = 0
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
    mass_kernel(s.R, s.p, s.table, s.S, s.M)
    coriolis_kernel(s.R, s.p, s.dq, s.table, s.S, s.V, s.D, s.C)
    gravity_kernel(s.R, s.p, s.table, s.gravity, s.g)
    if s.friction_on:
        friction_kernel(s.dq, s.friction, s.tau_f)
    else:
        s.tau_f[:] = 0.0

    # Torque loop: the torque that accelerates the rotors is added to the client's torque, up to the loop's bandwidth.
    # The velocity's difference is exactly the last step's acceleration.
    for i in range(7):
        inertial = s.rotor_inertia[i] * (s.dq[i] - s.dq_last[i]) / DT
        s.rotor_torque[i] += s.torque_loop * (inertial - s.rotor_torque[i])
        s.dq_last[i] = s.dq[i]

    # momentum observer: p' = tau_J + C' dq - g + tau_env, r -> tau_env
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
    # wrench of the robot on its surroundings at K: least-squares solution of JK' F = -r
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
        s.F_K[:] = s.b6
    else:
        s.F_K[:] = 0.0

    accelerating = False
    for i in range(7):
        if abs(s.ddq_d[i]) > 0.1:
            accelerating = True
    row = 0 if accelerating else 2
    moving = s.mode == MOTION
    for i in range(13):
        value = abs(s.residual[i]) if i < 7 else abs(s.F_K[i - 7])
        lower = s.threshold_torque[row, i] if i < 7 else s.threshold_force[row, i - 7]
        upper = s.threshold_torque[row + 1, i] if i < 7 else s.threshold_force[row + 1, i - 7]
        s.contact[i] = 1.0 if value > lower else 0.0
        if moving and value > upper and s.enabled[6 if i < 7 else 7]:
            s.collision[i] = 1.0
            raised += _raise(s, 6 if i < 7 else 7)

    if moving:
        power, speed, turn = 0.0, 0.0, 0.0
        for i in range(7):
            if s.q[i] < s.q_min[i] or s.q[i] > s.q_max[i]:
                raised += _raise(s, 0)
            if abs(s.dq[i]) > s.velocity_margin * s.dq_max[i]:
                raised += _raise(s, 3)
            if abs(s.tau_J[i]) > s.tau_range * s.tau_max[i]:
                raised += _raise(s, 34)
            power += abs(s.tau_J[i] * s.dq[i])
        if power > s.power_limit:
            raised += _raise(s, 26)
        for r in range(3):
            v, w = 0.0, 0.0
            for i in range(7):
                v += s.J[r, i] * s.dq[i]
                w += s.J[r + 3, i] * s.dq[i]
            speed += v * v
            turn += w * w
        if s.enabled[4]:
            if math.sqrt(speed) > s.velocity_margin * s.cartesian[0, 0]:
                if s.generator == CARTESIAN_POSITION or s.generator == CARTESIAN_VELOCITY:
                    raised += _raise(s, 4)
            elif math.sqrt(turn) > s.velocity_margin * s.cartesian[1, 0] and (
                s.generator == CARTESIAN_POSITION or s.generator == CARTESIAN_VELOCITY
            ):
                raised += _raise(s, 4)
        if s.enabled[2] and _self_collision(s.R, s.p):
            raised += _raise(s, 2)
        if s.controller != EXTERNAL and _deviates(s, 0):
            raised += _raise(s, 9)
    elif s.mode == GUIDING:
        for i in range(7):
            beyond = max(s.q[i] - s.q_max[i], s.q_min[i] - s.q[i])
            if beyond > max(0.0, s.q_latch[i] - s.q_max[i], s.q_min[i] - s.q_latch[i]) + s.wrong_way:
                raised += _raise(s, 36)
    return raised


@njit(error_model="numpy")
def _deviates(s, row):
    if s.deviation[row, 0] >= 10.0 and s.deviation[row, 1] >= 3.12 and s.deviation[row, 2] >= 6.28:
        return False
    d = 0.0
    for r in range(3):
        d += (s.X_d[r, 3] - s.X[r, 3]) ** 2
    rotation_error_kernel(s.X_d, s.X, s.w3)
    a = math.sqrt(s.w3[0] ** 2 + s.w3[1] ** 2 + s.w3[2] ** 2)
    return math.sqrt(d) > s.deviation[row, 0] or a > s.deviation[row, 1] or abs(s.q_d[2] - s.q[2]) > s.deviation[row, 2]


@njit(error_model="numpy")
def goal_deviates(memory):
    """Return whether the end of a motion is farther from the desired pose than the Move request allows."""
    return _deviates(memory[0], 1)


@njit(error_model="numpy")
def desired_pose(memory, reset_command):
    """Bring X_d to q_d; with reset_command also the commanded pose, at rest."""
    s = memory[0]
    _desired_pose(s)
    if reset_command:
        s.X_c[:, :] = s.X_d
        s.dX_c[:] = 0.0
        s.ddX_c[:] = 0.0
        s.elbow_c[0] = s.q_d[2]
        s.elbow_c[1] = 1.0 if s.q_d[3] >= ELBOW_FLIP else -1.0
        s.delbow_c = 0.0
        s.ddelbow_c = 0.0


@njit(error_model="numpy")
def _desired_pose(s):
    R = np.empty((7, 3, 3))
    p = np.empty((7, 3))
    frames_kernel(s.q_d, R, p)
    tool_kernel(R[6], p[6], s.F_T_EE, s.X_d)


@njit(error_model="numpy")
def publish(memory):
    """Write the published numbers of this cycle."""
    s = memory[0]
    o = s.reals
    _columns(s.X, o, _XEE)
    _columns(s.X_d, o, _XEED)
    _columns(s.X_c, o, _XEEC)
    for i in range(7):
        o[_Q + i] = s.q[i]
        o[_DQ + i] = s.dq[i]
        o[_QD + i] = s.q_d[i]
        o[_DQD + i] = s.dq_d[i]
        o[_DDQD + i] = s.ddq_d[i]
        o[_TAUJ + i] = s.tau_J[i]
        o[_TAUJD + i] = s.tau_d[i]
        rate = (s.tau_J[i] - s.tau_J_last[i]) / DT
        o[_DTAUJ + i] = rate
        s.tau_J_last[i] = s.tau_J[i]
        o[_TAUX + i] = -s.residual[i]
        o[_TH + i] = s.q[i] + s.tau_J[i] / s.joint_stiffness[i]
        o[_DTH + i] = s.dq[i] + rate / s.joint_stiffness[i]
        o[_JC + i] = s.contact[i]
        o[_JX + i] = s.collision[i]
    for r in range(6):
        o[_CC + r] = s.contact[7 + r]
        o[_CX + r] = s.collision[7 + r]
        o[_OF + r] = s.F_K[r]
        o[_DXC + r] = s.dX_c[r]
        o[_DDXC + r] = s.ddX_c[r]
        v = 0.0
        for i in range(7):
            v += s.J[r, i] * s.dq_d[i]
        o[_DXD + r] = v
    for r in range(3):
        o[_KF + r] = s.XK[0, r] * s.F_K[0] + s.XK[1, r] * s.F_K[1] + s.XK[2, r] * s.F_K[2]
        o[_KF + 3 + r] = s.XK[0, r] * s.F_K[3] + s.XK[1, r] * s.F_K[4] + s.XK[2, r] * s.F_K[5]
        o[_DDO + r] = s.gravity[r]
    o[_EL] = s.q[2]
    o[_EL + 1] = 1.0 if s.q[3] >= ELBOW_FLIP else -1.0
    o[_ELD] = s.q_d[2]
    o[_ELD + 1] = 1.0 if s.q_d[3] >= ELBOW_FLIP else -1.0
    o[_ELC] = s.elbow_c[0]
    o[_ELC + 1] = s.elbow_c[1]
    o[_DELC] = s.delbow_c
    o[_DDELC] = s.ddelbow_c


# ------------------------------------------------------------------------------------------ motion generators


@njit(error_model="numpy")
def _finite(x, n):
    good = True
    for i in range(n):
        good = good and abs(x[i]) < 1e6
    return good


@njit(error_model="numpy")
def _velocity_bounds(s, i):
    upper = s.dq_max[i]
    lower = -upper
    if s.position_dependent:
        room = max(0.0, 2.0 * s.dq_dec[i] * (s.q_max[i] - s.q_d[i]))
        upper = min(upper, max(0.0, -s.dq_offset[i] + math.sqrt(room)))
        room = max(0.0, 2.0 * s.dq_dec[i] * (s.q_d[i] - s.q_min[i]))
        lower = max(lower, -max(0.0, -s.dq_offset[i] + math.sqrt(room)))
    return lower, upper


@njit(error_model="numpy")
def _check_joints(s, q_new, base, slack):
    """Check q_new against the limits (base 12 for joint, 27 for Cartesian generators) and accept it."""
    raised = 0
    for i in range(7):
        dq = (q_new[i] - s.q_d[i]) / DT
        ddq = (dq - s.dq_d[i]) / DT
        dddq = (ddq - s.ddq_d[i]) / DT
        lower, upper = _velocity_bounds(s, i)
        if q_new[i] < s.q_min[i] or q_new[i] > s.q_max[i]:
            raised += _raise(s, base)
        if dq > upper + 1e-3 or dq < lower - 1e-3:
            raised += _raise(s, base + 1)
        if abs(ddq) > s.ddq_max[i] + slack * s.tol_ddq + 1e-6:
            raised += _raise(s, base + 2)
        if abs(dddq) > s.dddq_max[i] + slack * s.tol_dddq + 1e-3:
            raised += _raise(s, base + 3)
    if raised:
        return raised
    for i in range(7):
        dq = (q_new[i] - s.q_d[i]) / DT
        s.ddq_d[i] = (dq - s.dq_d[i]) / DT
        s.dq_d[i] = dq
        s.q_d[i] = q_new[i]
    return 0


@njit(error_model="numpy")
def _at_rest(s):
    rests = True
    for i in range(7):
        rests = rests and s.dq_d[i] == 0.0
    return rests


@njit(error_model="numpy")
def _joint_motion(s, motion, flags):
    raised = 0
    position = s.generator == JOINT_POSITION
    start = 0 if position else 7
    if flags & PRESENT:
        if not _finite(motion[start : start + 7], 7):
            return _raise(s, 13) + 1000
        if position and flags & FIRST and _at_rest(s):
            # The first position may be the desired or the measured one; it becomes q_d, with zero differences.
            near = True
            for i in range(7):
                near = near and min(abs(motion[i] - s.q_d[i]), abs(motion[i] - s.q[i])) <= s.start_tolerance
            if near:
                s.q_d[:] = motion[:7]
            elif _raise(s, 11):
                return 1
        for i in range(7):
            if position:
                gain = s.filter[0]
                s.q_new[i] = gain * motion[i] + (1.0 - gain) * s.q_d[i]
                if (flags & FIRST) and abs(motion[i] - s.q_d[i]) > s.start_tolerance:
                    raised += _raise(s, 11)  # from a motion that a new one has preempted
            else:
                gain = s.filter[1]
                s.q_new[i] = s.q_d[i] + DT * (gain * motion[7 + i] + (1.0 - gain) * s.dq_d[i])
        if raised:
            return raised
        return _check_joints(s, s.q_new, 12, 1.0)
    # lost: constant acceleration, within the limits
    for i in range(7):
        lower, upper = _velocity_bounds(s, i)
        dq = min(upper, max(lower, s.dq_d[i] + DT * s.ddq_d[i]))
        s.ddq_d[i] = (dq - s.dq_d[i]) / DT
        s.dq_d[i] = dq
        s.q_d[i] = min(s.q_max[i], max(s.q_min[i], s.q_d[i] + DT * dq))
    return 0


@njit(error_model="numpy")
def _rotate(R, w, out):
    """Write exp(hat(w)) R to out (3, 3), w in base axes."""
    a = math.sqrt(w[0] ** 2 + w[1] ** 2 + w[2] ** 2)
    if a < 1e-12:
        k1, k2 = 1.0, 0.5
    else:
        k1, k2 = math.sin(a) / a, (1.0 - math.cos(a)) / (a * a)
    for c in range(3):
        x, y, z = R[0, c], R[1, c], R[2, c]
        u0, u1, u2 = w[1] * z - w[2] * y, w[2] * x - w[0] * z, w[0] * y - w[1] * x
        v0, v1, v2 = w[1] * u2 - w[2] * u1, w[2] * u0 - w[0] * u2, w[0] * u1 - w[1] * u0
        out[0, c] = x + k1 * u0 + k2 * v0
        out[1, c] = y + k1 * u1 + k2 * v1
        out[2, c] = z + k1 * u2 + k2 * v2


@njit(error_model="numpy")
def _proper(T):
    """Return whether 16 column-major numbers are a homogeneous transform."""
    tolerance = 1e-5
    if abs(T[3]) > tolerance or abs(T[7]) > tolerance or abs(T[11]) > tolerance or abs(T[15] - 1.0) > tolerance:
        return False
    for a in range(3):
        for b in range(3):
            v = 0.0
            for k in range(3):
                v += T[4 * a + k] * T[4 * b + k]
            if abs(v - (1.0 if a == b else 0.0)) > tolerance:
                return False
    determinant = (
        T[0] * (T[5] * T[10] - T[9] * T[6]) - T[4] * (T[1] * T[10] - T[9] * T[2]) + T[8] * (T[1] * T[6] - T[5] * T[2])
    )
    return determinant > 0.0


@njit(error_model="numpy")
def _norm3(x, at):
    return math.sqrt(x[at] * x[at] + x[at + 1] * x[at + 1] + x[at + 2] * x[at + 2])


@njit(error_model="numpy")
def _distance(s, X):
    """Return the largest difference between X_new and X, along an axis [m] or about one [rad]."""
    rotation_error_kernel(s.X_new, X, s.w3)
    distance = 0.0
    for r in range(3):
        distance = max(distance, abs(s.X_new[r, 3] - X[r, 3]), abs(s.w3[r]))
    return distance


@njit(error_model="numpy")
def _cartesian_motion(s, motion, flags):
    raised = 0
    v = s.dX_new
    if flags & PRESENT:
        if s.generator == CARTESIAN_POSITION:
            T = motion[14:30]
            if not _finite(T, 16):
                return _raise(s, 31) + 1000
            if not _proper(T):
                raised = _raise(s, 31)
                # without the check a broken frame cannot be followed either
                return raised if raised else 1000
            for r in range(3):
                for c in range(3):
                    s.X_new[r, c] = T[4 * c + r]
                s.X_new[r, 3] = T[12 + r]
            if flags & FIRST:
                # The first pose may be the desired or the measured one; it becomes O_T_EE_c, with zero differences.
                if min(_distance(s, s.X_c), _distance(s, s.X)) > s.start_tolerance:
                    return _raise(s, 16) + (0 if s.enabled[16] else 1000)
                if _at_rest(s):
                    s.X_c[:3, :] = s.X_new[:3, :]
            rotation_error_kernel(s.X_new, s.X_c, s.w3)
            gain = s.filter[2]
            for r in range(3):
                v[r] = gain * (T[12 + r] - s.X_c[r, 3]) / DT
                v[3 + r] = gain * s.w3[r] / DT
        else:
            if not _finite(motion[30:36], 6):
                return _raise(s, 18) + 1000
            gain = s.filter[3]
            for r in range(6):
                v[r] = gain * motion[30 + r] + (1.0 - gain) * s.dX_c[r]
        s.use_elbow = 1 if flags & ELBOW else 0
    else:
        for r in range(6):
            v[r] = s.dX_c[r] + DT * s.ddX_c[r]

    acceleration = s.b6
    if flags & PRESENT:
        for half in range(2):
            at = 3 * half
            for r in range(at, at + 3):
                acceleration[r] = (v[r] - s.dX_c[r]) / DT
            jerk = 0.0
            for r in range(at, at + 3):
                jerk += ((acceleration[r] - s.ddX_c[r]) / DT) ** 2
            if _norm3(v, at) > s.cartesian[half, 0] + 1e-3:
                raised += _raise(s, 18)
            if _norm3(acceleration, at) > s.cartesian[half, 1] + s.tol_ddq + 1e-6:
                raised += _raise(s, 19)
            if math.sqrt(jerk) > s.cartesian[half, 2] + s.tol_dddq + 1e-3:
                raised += _raise(s, 20)
    else:
        for r in range(6):
            acceleration[r] = s.ddX_c[r]

    elbow, delbow, ddelbow = s.elbow_c[0], s.delbow_c, s.ddelbow_c
    if (flags & PRESENT) and s.use_elbow:
        elbow = motion[36]
        sign = motion[37]
        if not (abs(elbow) < 10.0 and abs(sign) <= 1.0):
            return _raise(s, 17) + 1000
        if elbow < s.q_min[2] or elbow > s.q_max[2]:
            raised += _raise(s, 17)
        if flags & FIRST:
            if min(abs(elbow - s.q_d[2]), abs(elbow - s.q[2])) > s.start_tolerance:
                raised += _raise(s, 22)
            if sign * s.elbow_c[1] < 0.0:
                raised += _raise(s, 24)
            delbow = ddelbow = 0.0
        else:
            if sign * s.elbow_c[1] < 0.0:
                raised += _raise(s, 21)
            delbow = (elbow - s.elbow_c[0]) / DT
            ddelbow = (delbow - s.delbow_c) / DT
            jerk = abs(ddelbow - s.ddelbow_c) / DT
            if abs(delbow) > s.cartesian[2, 0] + 1e-3:
                raised += _raise(s, 17)
            if abs(ddelbow) > s.cartesian[2, 1] + s.tol_ddq or jerk > s.cartesian[2, 2] + s.tol_dddq:
                raised += _raise(s, 17)
    elif s.use_elbow:
        delbow += DT * ddelbow
        elbow += DT * delbow
    if raised:
        return raised

    # the pose that the command leads to: exactly the command, so that differences published equal the client's own
    if (flags & PRESENT) and s.generator == CARTESIAN_POSITION and s.filter[2] >= 1.0:
        for r in range(3):
            s.X_new[r, 3] = motion[26 + r]
    else:
        for r in range(3):
            s.w3[r] = DT * v[3 + r]
            s.X_new[r, 3] = s.X_c[r, 3] + DT * v[r]
        _rotate(s.X_c, s.w3, s.X_new)
    s.q_new[:] = s.q_d
    residual = inverse_kernel(s.q_new, s.X_new, s.F_T_EE, s.use_elbow == 1, elbow, 4, 1e-9)
    if not residual < 1e-5:
        raised += _raise(s, 27)
        return raised if raised else 1000
    if flags & PRESENT:
        if flags & FIRST and s.generator == CARTESIAN_POSITION and _at_rest(s):
            s.q_d[:] = s.q_new
        raised = _check_joints(s, s.q_new, 27, 10.0)
        if raised:
            return raised
    else:
        for i in range(7):
            dq = (s.q_new[i] - s.q_d[i]) / DT
            s.ddq_d[i] = (dq - s.dq_d[i]) / DT
            s.dq_d[i] = dq
            s.q_d[i] = s.q_new[i]
    for r in range(3):
        for c in range(4):
            s.X_c[r, c] = s.X_new[r, c]
    for r in range(6):
        s.dX_c[r] = v[r]
        s.ddX_c[r] = acceleration[r]
    s.elbow_c[0] = elbow if s.use_elbow else s.q_d[2]
    s.delbow_c = delbow if s.use_elbow else s.dq_d[2]
    s.ddelbow_c = ddelbow if s.use_elbow else s.ddq_d[2]
    return 0


@njit(error_model="numpy")
def _interpolate(s):
    """Move q_d towards the target, limited in velocity and acceleration, without overshoot."""
    for i in range(7):
        a = 0.5 * s.ddq_max[i]
        e = s.target[i] - s.q_d[i]
        reach = abs(e) / (a * DT * DT)
        # the speed from which constant deceleration ends exactly at the target, in discrete time
        v = a * DT * (-0.5 + math.sqrt(0.25 + 2.0 * reach))
        v = min(v, s.target_velocity[i], abs(e) / DT)
        if e < 0.0:
            v = -v
        lower, upper = _velocity_bounds(s, i)
        v = min(upper, max(lower, v))
        v = min(s.dq_d[i] + a * DT, max(s.dq_d[i] - a * DT, v))
        s.ddq_d[i] = (v - s.dq_d[i]) / DT
        s.dq_d[i] = v
        s.q_d[i] += DT * v


@njit(error_model="numpy")
def _decelerate(s):
    """Bring q_d to rest with the largest deceleration, at a position limit at once; set ``rest``."""
    s.rest = 1
    for i in range(7):
        step = s.ddq_max[i] * DT
        v = s.dq_d[i]
        new = 0.0 if abs(v) <= step else v - math.copysign(step, v)
        s.ddq_d[i] = (new - v) / DT if new != 0.0 else 0.0
        s.dq_d[i] = new
        s.q_d[i] += DT * new
        if (new > 0.0 and s.q_d[i] > s.q_max[i]) or (new < 0.0 and s.q_d[i] < s.q_min[i]):
            s.q_d[i] = min(s.q_max[i], max(s.q_min[i], s.q_d[i]))
            s.dq_d[i] = new = s.ddq_d[i] = 0.0
        if new != 0.0:
            s.rest = 0


# ------------------------------------------------------------------------------------------------ controllers


@njit(error_model="numpy")
def _projector(s, J):
    """Write P = 1 - J' (J J')^-1 J to P7 and leave J' (J J')^-1 unused."""
    B = np.empty(6)
    for r in range(6):
        for c in range(r + 1):
            v = 0.0
            for i in range(7):
                v += J[r, i] * J[c, i]
            s.A6[r, c] = v
        s.A6[r, r] += 1e-8
    L = s.A6.copy()
    for j in range(7):
        for r in range(6):
            B[r] = J[r, j]
        A = L.copy()
        cholesky_solve_kernel(A, B, 6)
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
def _joint_impedance(s):
    force = np.empty(7)
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
def _cartesian_impedance(s, X_d, q_d, use_rates, K, K_null):
    """Springs K (6) along and about the axes of K's frame towards X_d, and K_null on the elbow."""
    force = np.empty(7)
    JL = np.empty((6, 7))  # Jacobian in the axes of the stiffness frame
    e = np.empty(6)
    Dx = np.empty(6)
    w = np.empty(3)
    XKd = np.empty((3, 4))
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
    for r in range(6):
        for i in range(7):
            s.b7[i] = JL[r, i]
            for k in range(7):
                s.A7[i, k] = s.M[i, k]
            s.A7[i, i] += s.rotor_inertia[i]
        cholesky_solve_kernel(s.A7, s.b7, 7)
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


@njit(error_model="numpy")
def control(memory, motion, tau, flags):
    """Advance the motion by one command; write ``torque``; return the number of errors, 1000 and more for input
    that cannot be followed at all."""
    s = memory[0]
    raised = 0
    waiting = (flags & WAIT) != 0
    finishing = waiting or (flags & FINISH) != 0
    asynchronous = (flags & ASYNC) != 0
    if s.mode == MOTION and not finishing:
        if s.controller == EXTERNAL and flags & PRESENT:
            if not _finite(tau, 7):
                raised = _raise(s, 32) + 1000
            else:
                gain = s.filter[4]
                for i in range(7):
                    t = gain * tau[i] + (1.0 - gain) * s.tau_c[i]
                    if abs(t - s.tau_c[i]) / DT > s.tau_rate + 0.1:
                        raised += _raise(s, 32)
                    s.q_new[i] = t
                if not raised:
                    s.tau_c[:] = s.q_new
        if not raised:
            if asynchronous:
                if flags & PRESENT:
                    if not _finite(motion, 7):
                        raised = _raise(s, 13) + 1000
                    else:
                        for i in range(7):
                            if motion[i] < s.q_min[i] or motion[i] > s.q_max[i]:
                                raised += _raise(s, 12)
                        if not raised:
                            s.target[:] = motion[:7]
                if not raised:
                    _interpolate(s)
            elif s.generator == JOINT_POSITION or s.generator == JOINT_VELOCITY:
                raised += _joint_motion(s, motion, flags)
            elif s.generator == CARTESIAN_POSITION or s.generator == CARTESIAN_VELOCITY:
                raised += _cartesian_motion(s, motion, flags)
            else:
                for i in range(7):
                    s.q_d[i], s.dq_d[i], s.ddq_d[i] = s.q[i], s.dq[i], 0.0
    elif s.mode != GUIDING:
        if waiting:
            s.q_d[:] = s.q_hold
        _decelerate(s)
    if not waiting:
        _desired_pose(s)
    if s.mode != MOTION or s.generator == JOINT_POSITION or s.generator == JOINT_VELOCITY or s.generator == NONE:
        s.X_c[:, :] = s.X_d
        s.elbow_c[0] = s.q_d[2]
        s.elbow_c[1] = 1.0 if s.q_d[3] >= ELBOW_FLIP else -1.0
    if s.mode == MOTION and not finishing and s.controller == EXTERNAL:
        s.tau_d[:] = s.tau_c
        s.rotor_drive[:] = s.rotor_torque
    elif s.mode == MOTION and not finishing and s.controller == CARTESIAN_IMPEDANCE:
        _cartesian_impedance(s, s.X_d, s.q_d, True, s.K_x, s.K_null)
    elif s.mode == GUIDING:
        K = np.empty(6)
        for r in range(6):
            K[r] = 0.0 if s.guiding_free[r] else (3000.0 if r < 3 else 300.0)
        _cartesian_impedance(s, s.X_latch, s.q_latch, False, K, 0.0 if s.guiding_free[6] else 200.0)
        for i in range(7):
            s.q_d[i], s.dq_d[i], s.ddq_d[i] = s.q[i], 0.0, 0.0
    else:
        _joint_impedance(s)
    if waiting:
        # Until the first command comes, the arm holds its old place, and the desired pose is the measured one.
        s.q_d[:] = s.q
        desired_pose(memory, True)
    for i in range(7):
        t = s.tau_d[i] + s.rotor_drive[i] + s.g[i] + s.tau_f[i]
        s.torque[i] = min(s.tau_max[i], max(-s.tau_max[i], t))
    return raised
