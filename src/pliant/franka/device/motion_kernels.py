"""Kernels of the motion generators: commands in, desired joint positions out, and the checks of commands."""

from __future__ import annotations

import math

from pliant.base.codecache import njit
from pliant.franka.device.kinematics import copy_kernel, copy_rows_kernel, inverse_kernel, rotation_error_kernel
from pliant.franka.device.memory import (
    ASYNC,
    AXIS,
    CARTESIAN_POSITION,
    CARTESIAN_VELOCITY,
    DT,
    ELBOW,
    FILTER,
    FIRST,
    JOINT_POSITION,
    JOINT_VELOCITY,
    PRESENT,
    RATE,
    UNUSABLE,
)
from pliant.franka.device.reflex_kernels import raise_error
from pliant.franka.wire.fci import ERROR, MOTION_AT

# Errors of the joint positions that a generator leads to: position, velocity, acceleration, jerk beyond its limit.
JOINT_ERRORS = (
    ERROR.joint_motion_generator_position_limits_violation,
    ERROR.joint_motion_generator_velocity_limits_violation,
    ERROR.joint_motion_generator_velocity_discontinuity,
    ERROR.joint_motion_generator_acceleration_discontinuity,
)
CARTESIAN_ERRORS = (
    ERROR.cartesian_motion_generator_joint_position_limits_violation,
    ERROR.cartesian_motion_generator_joint_velocity_limits_violation,
    ERROR.cartesian_motion_generator_joint_velocity_discontinuity,
    ERROR.cartesian_motion_generator_joint_acceleration_discontinuity,
)


@njit(error_model="numpy")
def finite(x, n):
    """Return whether n numbers are finite, and none is absurdly large."""
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
def _accept_joints(s, q_new):
    """Make q_new the desired joint positions."""
    for i in range(7):
        dq = (q_new[i] - s.q_d[i]) / DT
        s.ddq_d[i] = (dq - s.dq_d[i]) / DT
        s.dq_d[i] = dq
        s.q_d[i] = q_new[i]


@njit(error_model="numpy")
def _check_joints(s, q_new, errors, slack):
    """Check q_new against the limits, and accept it if it keeps them; return the number of errors."""
    position, velocity, acceleration, jerk = errors
    raised = 0
    for i in range(7):
        dq = (q_new[i] - s.q_d[i]) / DT
        ddq = (dq - s.dq_d[i]) / DT
        dddq = (ddq - s.ddq_d[i]) / DT
        lower, upper = _velocity_bounds(s, i)
        if q_new[i] < s.q_min[i] or q_new[i] > s.q_max[i]:
            raised += raise_error(s, position)
        if dq > upper + 1e-3 or dq < lower - 1e-3:
            raised += raise_error(s, velocity)
        if abs(ddq) > s.ddq_max[i] + slack * s.tol_ddq + 1e-6:
            raised += raise_error(s, acceleration)
        if abs(dddq) > s.dddq_max[i] + slack * s.tol_dddq + 1e-3:
            raised += raise_error(s, jerk)
    if not raised:
        _accept_joints(s, q_new)
    return raised


@njit(error_model="numpy")
def _at_rest(s):
    rests = True
    for i in range(7):
        rests = rests and s.dq_d[i] == 0.0
    return rests


@njit(error_model="numpy")
def _joint_motion(s, motion, flags):
    """Follow commanded positions or velocities, or go on without a command; return the number of errors."""
    raised = 0
    position = s.generator == JOINT_POSITION
    start = MOTION_AT.q_c if position else MOTION_AT.dq_c
    invalid_start = ERROR.joint_position_motion_generator_start_pose_invalid
    if flags & PRESENT:
        wanted = motion[start : start + 7]
        if not finite(wanted, 7):
            return raise_error(s, ERROR.joint_motion_generator_velocity_limits_violation) + UNUSABLE
        if position and flags & FIRST and _at_rest(s):
            # The first position may be the desired or the measured one; it becomes q_d, with zero differences.
            near = True
            for i in range(7):
                near = near and min(abs(wanted[i] - s.q_d[i]), abs(wanted[i] - s.q[i])) <= s.start_tolerance
            if near:
                copy_kernel(wanted, s.q_d, 7)
            elif raise_error(s, invalid_start):
                return 1
        for i in range(7):
            if position:
                gain = s.filter[FILTER.joint_position]
                s.q_new[i] = gain * wanted[i] + (1.0 - gain) * s.q_d[i]
                if (flags & FIRST) and abs(wanted[i] - s.q_d[i]) > s.start_tolerance:
                    raised += raise_error(s, invalid_start)  # from a motion that a new one has preempted
            else:
                gain = s.filter[FILTER.joint_velocity]
                s.q_new[i] = s.q_d[i] + DT * (gain * wanted[i] + (1.0 - gain) * s.dq_d[i])
        if raised:
            return raised
        return _check_joints(s, s.q_new, JOINT_ERRORS, 1.0)
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
def _take_pose(s, T, first):
    """Write X_new and the twist dX_new that lead to 16 column-major numbers; return the number of errors."""
    if not finite(T, 16):
        return raise_error(s, ERROR.cartesian_position_motion_generator_invalid_frame) + UNUSABLE
    if not _proper(T):
        raised = raise_error(s, ERROR.cartesian_position_motion_generator_invalid_frame)
        # without the check a broken frame cannot be followed either
        return raised if raised else UNUSABLE
    for r in range(3):
        for c in range(3):
            s.X_new[r, c] = T[4 * c + r]
        s.X_new[r, 3] = T[12 + r]
    if first:
        # The first pose may be the desired or the measured one; it becomes O_T_EE_c, with zero differences.
        if min(_distance(s, s.X_c), _distance(s, s.X)) > s.start_tolerance:
            wrong = ERROR.cartesian_position_motion_generator_start_pose_invalid
            return raise_error(s, wrong) + (0 if s.enabled[wrong] else UNUSABLE)
        if _at_rest(s):
            copy_rows_kernel(s.X_new, s.X_c, 3)
    rotation_error_kernel(s.X_new, s.X_c, s.w3)
    gain = s.filter[FILTER.cartesian_position]
    for r in range(3):
        s.dX_new[r] = gain * (T[12 + r] - s.X_c[r, 3]) / DT
        s.dX_new[3 + r] = gain * s.w3[r] / DT
    return 0


@njit(error_model="numpy")
def _take_twist(s, twist):
    """Write the twist dX_new of a command; return the number of errors."""
    if not finite(twist, 6):
        return raise_error(s, ERROR.cartesian_motion_generator_velocity_limits_violation) + UNUSABLE
    gain = s.filter[FILTER.cartesian_velocity]
    for r in range(6):
        s.dX_new[r] = gain * twist[r] + (1.0 - gain) * s.dX_c[r]
    return 0


@njit(error_model="numpy")
def _check_twist(s, acceleration):
    """Write the acceleration (6) that dX_new asks for, and check both; return the number of errors."""
    raised = 0
    v = s.dX_new
    for half in range(2):  # AXIS.translation, AXIS.rotation
        at = 3 * half
        for r in range(at, at + 3):
            acceleration[r] = (v[r] - s.dX_c[r]) / DT
        jerk = 0.0
        for r in range(at, at + 3):
            jerk += ((acceleration[r] - s.ddX_c[r]) / DT) ** 2
        if _norm3(v, at) > s.cartesian[half, RATE.velocity] + 1e-3:
            raised += raise_error(s, ERROR.cartesian_motion_generator_velocity_limits_violation)
        if _norm3(acceleration, at) > s.cartesian[half, RATE.acceleration] + s.tol_ddq + 1e-6:
            raised += raise_error(s, ERROR.cartesian_motion_generator_velocity_discontinuity)
        if math.sqrt(jerk) > s.cartesian[half, RATE.jerk] + s.tol_dddq + 1e-3:
            raised += raise_error(s, ERROR.cartesian_motion_generator_acceleration_discontinuity)
    return raised


@njit(error_model="numpy")
def _take_elbow(s, elbow, sign, first):
    """Check a commanded elbow; return the number of errors, and its rate and the rate's derivative."""
    delbow = ddelbow = 0.0
    if not (abs(elbow) < 10.0 and abs(sign) <= 1.0):
        return raise_error(s, ERROR.cartesian_motion_generator_elbow_limit_violation) + UNUSABLE, delbow, ddelbow
    raised = 0
    if elbow < s.q_min[2] or elbow > s.q_max[2]:
        raised += raise_error(s, ERROR.cartesian_motion_generator_elbow_limit_violation)
    if first:
        if min(abs(elbow - s.q_d[2]), abs(elbow - s.q[2])) > s.start_tolerance:
            raised += raise_error(s, ERROR.cartesian_motion_generator_start_elbow_invalid)
        if sign * s.elbow_c[1] < 0.0:
            # start_elbow_sign_inconsistent is for motions that the robot's desk starts
            raised += raise_error(s, ERROR.cartesian_motion_generator_elbow_sign_inconsistent)
        return raised, delbow, ddelbow
    if sign * s.elbow_c[1] < 0.0:
        raised += raise_error(s, ERROR.cartesian_motion_generator_elbow_sign_inconsistent)
    delbow = (elbow - s.elbow_c[0]) / DT
    ddelbow = (delbow - s.delbow_c) / DT
    jerk = abs(ddelbow - s.ddelbow_c) / DT
    limit = s.cartesian[AXIS.elbow]
    if abs(delbow) > limit[RATE.velocity] + 1e-3:
        raised += raise_error(s, ERROR.cartesian_motion_generator_elbow_limit_violation)
    if abs(ddelbow) > limit[RATE.acceleration] + s.tol_ddq or jerk > limit[RATE.jerk] + s.tol_dddq:
        raised += raise_error(s, ERROR.cartesian_motion_generator_elbow_limit_violation)
    return raised, delbow, ddelbow


@njit(error_model="numpy")
def _cartesian_motion(s, motion, flags):
    """Follow a commanded pose or twist, or go on without a command; return the number of errors."""
    raised = 0
    present, first = (flags & PRESENT) != 0, (flags & FIRST) != 0
    v, acceleration = s.dX_new, s.b6
    elbow, delbow, ddelbow = s.elbow_c[0], s.delbow_c, s.ddelbow_c
    if present:
        if s.generator == CARTESIAN_POSITION:
            raised = _take_pose(s, motion[MOTION_AT.O_T_EE_c : MOTION_AT.O_T_EE_c + 16], first)
        else:
            raised = _take_twist(s, motion[MOTION_AT.O_dP_EE_c : MOTION_AT.O_dP_EE_c + 6])
        if raised:
            return raised
        s.use_elbow = 1 if flags & ELBOW else 0
        raised = _check_twist(s, acceleration)
        if s.use_elbow:
            elbow = motion[MOTION_AT.elbow_c]
            more, delbow, ddelbow = _take_elbow(s, elbow, motion[MOTION_AT.elbow_c + 1], first)
            raised += more
        if raised:
            return raised
    else:
        for r in range(6):
            v[r] = s.dX_c[r] + DT * s.ddX_c[r]
            acceleration[r] = s.ddX_c[r]
        if s.use_elbow:
            delbow += DT * ddelbow
            elbow += DT * delbow

    # the pose that the command leads to: exactly the command, so that differences published equal the client's own
    if present and s.generator == CARTESIAN_POSITION and s.filter[FILTER.cartesian_position] >= 1.0:
        for r in range(3):
            s.X_new[r, 3] = motion[MOTION_AT.O_T_EE_c + 12 + r]
    else:
        for r in range(3):
            s.w3[r] = DT * v[3 + r]
            s.X_new[r, 3] = s.X_c[r, 3] + DT * v[r]
        _rotate(s.X_c, s.w3, s.X_new)
    copy_kernel(s.q_d, s.q_new, 7)
    residual = inverse_kernel(s.search, s.q_new, s.X_new, s.F_T_EE, s.use_elbow == 1, elbow, 4, 1e-9)
    if not residual < 1e-5:
        raised = raise_error(s, ERROR.cartesian_motion_generator_joint_position_limits_violation)
        return raised if raised else UNUSABLE
    if present:
        if first and s.generator == CARTESIAN_POSITION and _at_rest(s):
            copy_kernel(s.q_new, s.q_d, 7)
        raised = _check_joints(s, s.q_new, CARTESIAN_ERRORS, 10.0)
        if raised:
            return raised
    else:
        _accept_joints(s, s.q_new)
    copy_rows_kernel(s.X_new, s.X_c, 3)
    for r in range(6):
        s.dX_c[r] = v[r]
        s.ddX_c[r] = acceleration[r]
    s.elbow_c[0] = elbow if s.use_elbow else s.q_d[2]
    s.delbow_c = delbow if s.use_elbow else s.dq_d[2]
    s.ddelbow_c = ddelbow if s.use_elbow else s.ddq_d[2]
    return 0


@njit(error_model="numpy")
def _take_target(s, target):
    """Take the joint positions that an asynchronous motion goes to; return the number of errors."""
    if not finite(target, 7):
        return raise_error(s, ERROR.joint_motion_generator_velocity_limits_violation) + UNUSABLE
    raised = 0
    for i in range(7):
        if target[i] < s.q_min[i] or target[i] > s.q_max[i]:
            raised += raise_error(s, ERROR.joint_motion_generator_position_limits_violation)
    if not raised:
        copy_kernel(target, s.target, 7)
    return raised


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
def decelerate(s):
    """Bring q_d to rest with the largest deceleration, at a position limit at once; set ``rest``."""
    s.rest = 1
    for i in range(7):
        step = s.ddq_max[i] * DT
        v = s.dq_d[i]
        new = 0.0 if abs(v) <= step else v - math.copysign(step, v)
        s.ddq_d[i] = (new - v) / DT
        s.dq_d[i] = new
        s.q_d[i] += DT * new
        if (new > 0.0 and s.q_d[i] > s.q_max[i]) or (new < 0.0 and s.q_d[i] < s.q_min[i]):
            s.q_d[i] = min(s.q_max[i], max(s.q_min[i], s.q_d[i]))
            s.dq_d[i] = new = s.ddq_d[i] = 0.0
        if new != 0.0:
            s.rest = 0


@njit(error_model="numpy")
def generate(s, motion, flags):
    """Advance the desired joint positions by one command, or without one; return the number of errors."""
    if flags & ASYNC:
        raised = _take_target(s, motion[MOTION_AT.q_c : MOTION_AT.q_c + 7]) if flags & PRESENT else 0
        if not raised:
            _interpolate(s)
        return raised
    if s.generator == JOINT_POSITION or s.generator == JOINT_VELOCITY:
        return _joint_motion(s, motion, flags)
    if s.generator == CARTESIAN_POSITION or s.generator == CARTESIAN_VELOCITY:
        return _cartesian_motion(s, motion, flags)
    for i in range(7):
        s.q_d[i], s.dq_d[i], s.ddq_d[i] = s.q[i], s.dq[i], 0.0
    return 0
