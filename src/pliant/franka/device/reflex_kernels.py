"""Kernels of contact, collision and reflexes: the checks of measurements."""

from __future__ import annotations

import math

import numpy as np

from pliant.base.codecache import njit
from pliant.franka.device.kinematics import rotation_error_kernel
from pliant.franka.device.memory import (
    AXIS,
    CARTESIAN_POSITION,
    CARTESIAN_VELOCITY,
    DEVIATION,
    DEVIATION_OFF,
    EXTERNAL,
    MOTION,
    RATE,
    THRESHOLD,
)
from pliant.franka.device.parameters import CAPSULES, HAND_CAPSULES
from pliant.franka.wire.fci import ERROR

# Self collision: the wrist (links 6 and 7) and the hand against the base and the shoulder (links 0 to 2). Other pairs
# are kept apart by the joint limits.
_SHAPES = (*CAPSULES, *((7, *capsule) for capsule in HAND_CAPSULES))
_CAP_LINK = np.array([c[0] for c in _SHAPES])
_CAP_A = np.array([c[1] for c in _SHAPES])
_CAP_B = np.array([c[2] for c in _SHAPES])
_CAP_R = np.array([c[3] for c in _SHAPES])
_N_ARM = len(CAPSULES)
_PAIRS = np.array(
    [(i, j) for i, shape in enumerate(CAPSULES) for j, other in enumerate(_SHAPES) if shape[0] <= 2 and other[0] >= 6]
)


@njit(error_model="numpy")
def raise_error(s, index):
    """Set an error whose check is on; return 1 if it is new, else 0."""
    if s.enabled[index] and not s.errors[index]:
        s.errors[index] = 1
        return 1
    return 0


@njit(error_model="numpy")
def _segments(A, B, i, j):
    """Return the squared distance of two segments (clamped closest points), from rows i and j of A to those of B."""
    d1 = (B[i, 0] - A[i, 0], B[i, 1] - A[i, 1], B[i, 2] - A[i, 2])
    d2 = (B[j, 0] - A[j, 0], B[j, 1] - A[j, 1], B[j, 2] - A[j, 2])
    r = (A[i, 0] - A[j, 0], A[i, 1] - A[j, 1], A[i, 2] - A[j, 2])
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
def self_collision(R, p, hand, ends):
    """Return whether the wrist, or the hand where there is one, overlaps the base or the shoulder.

    Args:
        R: rotations of the links, shape (7, 3, 3).
        p: their origins, shape (7, 3) [m].
        hand: whether there is a hand.
        ends: scratch, shape (2, `memory.N_CAPSULES`, 3).
    """
    A, B = ends[0], ends[1]
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
        if j >= _N_ARM and not hand:
            continue
        reach = _CAP_R[i] + _CAP_R[j]
        # cheap rejection by midpoints
        far = 0.0
        size = reach
        for r in range(3):
            d = 0.5 * (A[i, r] + B[i, r] - A[j, r] - B[j, r])
            far += d * d
            size += 0.5 * (abs(A[i, r] - B[i, r]) + abs(A[j, r] - B[j, r]))
        if far < size * size and _segments(A, B, i, j) < reach * reach:
            return True
    return False


@njit(error_model="numpy")
def deviates(s, row):
    """Return whether the measured pose is farther from the desired one than a row of `DEVIATION` allows."""
    off = True
    for axis in range(3):
        off = off and s.deviation[row, axis] >= DEVIATION_OFF[axis]
    if off:
        return False
    d = 0.0
    for r in range(3):
        d += (s.X_d[r, 3] - s.X[r, 3]) ** 2
    rotation_error_kernel(s.X_d, s.X, s.w3)
    a = math.sqrt(s.w3[0] ** 2 + s.w3[1] ** 2 + s.w3[2] ** 2)
    return (
        math.sqrt(d) > s.deviation[row, AXIS.translation]
        or a > s.deviation[row, AXIS.rotation]
        or abs(s.q_d[2] - s.q[2]) > s.deviation[row, AXIS.elbow]
    )


@njit(error_model="numpy")
def check_contact(s):
    """Compare the estimated external torques and wrench with the thresholds; return the number of errors raised."""
    raised = 0
    moving = s.mode == MOTION
    accelerating = False
    for i in range(7):
        if abs(s.ddq_d[i]) > 0.1:
            accelerating = True
    low = THRESHOLD.lower_acceleration if accelerating else THRESHOLD.lower_nominal
    high = THRESHOLD.upper_acceleration if accelerating else THRESHOLD.upper_nominal
    for i in range(13):
        value = abs(s.residual[i]) if i < 7 else abs(s.F_K[i - 7])
        lower = s.threshold_torque[low, i] if i < 7 else s.threshold_force[low, i - 7]
        upper = s.threshold_torque[high, i] if i < 7 else s.threshold_force[high, i - 7]
        reflex = ERROR.joint_reflex if i < 7 else ERROR.cartesian_reflex
        s.contact[i] = 1.0 if value > lower else 0.0
        if moving and value > upper and s.enabled[reflex]:
            s.collision[i] = 1.0
            raised += raise_error(s, reflex)
    return raised


@njit(error_model="numpy")
def check_motion(s):
    """Check the measurements of a running motion; return the number of errors raised."""
    raised = 0
    power, speed, turn = 0.0, 0.0, 0.0
    for i in range(7):
        if s.q[i] < s.q_min[i] or s.q[i] > s.q_max[i]:
            raised += raise_error(s, ERROR.joint_position_limits_violation)
        if abs(s.dq[i]) > s.velocity_margin * s.dq_max[i]:
            raised += raise_error(s, ERROR.joint_velocity_violation)
        if abs(s.tau_J[i]) > s.tau_range * s.tau_max[i]:
            raised += raise_error(s, ERROR.tau_J_range_violation)
        power += abs(s.tau_J[i] * s.dq[i])
    if power > s.power_limit:
        raised += raise_error(s, ERROR.power_limit_violation)
    for r in range(3):
        v, w = 0.0, 0.0
        for i in range(7):
            v += s.J[r, i] * s.dq[i]
            w += s.J[r + 3, i] * s.dq[i]
        speed += v * v
        turn += w * w
    if s.generator == CARTESIAN_POSITION or s.generator == CARTESIAN_VELOCITY:
        fast = math.sqrt(speed) > s.velocity_margin * s.cartesian[AXIS.translation, RATE.velocity]
        if fast or math.sqrt(turn) > s.velocity_margin * s.cartesian[AXIS.rotation, RATE.velocity]:
            raised += raise_error(s, ERROR.cartesian_velocity_violation)
    if s.enabled[ERROR.self_collision_avoidance_violation] and self_collision(s.R, s.p, s.hand, s.capsules):
        raised += raise_error(s, ERROR.self_collision_avoidance_violation)
    if s.controller != EXTERNAL and deviates(s, DEVIATION.path):
        raised += raise_error(s, ERROR.max_path_pose_deviation_violation)
    return raised


@njit(error_model="numpy")
def check_guiding(s):
    """Check that a guided arm does not move farther beyond a limit; return the number of errors raised."""
    raised = 0
    for i in range(7):
        beyond = max(s.q[i] - s.q_max[i], s.q_min[i] - s.q[i])
        if beyond > max(0.0, s.q_latch[i] - s.q_max[i], s.q_min[i] - s.q_latch[i]) + s.wrong_way:
            raised += raise_error(s, ERROR.joint_move_in_wrong_direction)
    return raised
