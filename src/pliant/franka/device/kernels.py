"""The arithmetic of one control cycle, compiled. All state lies in one record, `memory.MEMORY`.

`observe` turns measurements into kinematics, dynamics, the external-torque estimate and the published numbers;
`control` turns a command into joint torques. Both set bits in ``errors`` and say in ``raised`` how many they set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.base.codecache import njit
from pliant.franka.device.dynamics import friction_kernel
from pliant.franka.device.estimation_kernels import (
    estimate_external_torques,
    estimate_wrench,
    follow_rotors,
    update_model,
)
from pliant.franka.device.impedance_kernels import cartesian_impedance, joint_impedance
from pliant.franka.device.kinematics import (
    copy_kernel,
    copy_rows_kernel,
    frames_kernel,
    jacobian_kernel,
    tool_kernel,
)
from pliant.franka.device.memory import (
    CARTESIAN_IMPEDANCE,
    DEVIATION,
    DT,
    EXTERNAL,
    FILTER,
    FINISH,
    GUIDING,
    JOINT_POSITION,
    JOINT_VELOCITY,
    MOTION,
    NONE,
    PRESENT,
    UNUSABLE,
    WAIT,
)
from pliant.franka.device.motion_kernels import decelerate, finite, generate
from pliant.franka.device.parameters import ELBOW_FLIP
from pliant.franka.device.reflex_kernels import check_contact, check_guiding, check_motion, deviates, raise_error
from pliant.franka.device.static_friction import bristles_step
from pliant.franka.wire.fci import AT, ERROR

LOCKED_TRANSLATION, LOCKED_ROTATION, LOCKED_ELBOW = 3000.0, 300.0, 200.0
"""Stiffness of directions that a hand must not move in guiding mode [N/m, N m/rad, N m/rad]."""  # assumed


@njit(error_model="numpy")
def _elbow_sign(q):
    """Return the elbow's sign, which joint 4 decides."""
    return 1.0 if q[3] >= ELBOW_FLIP else -1.0


@njit(error_model="numpy")
def _columns(T, reals, at):
    for c in range(4):
        for r in range(4):
            reals[at + 4 * c + r] = T[r, c]


def observe(s, q, dq, motor_torque, inertia, acceleration):
    """Take in the measurements of a cycle, those of `Sensors`. Without an error, publish.

    The links get the torque of the motors less what accelerates their rotors.
    """
    for i in range(7):
        s.q[i] = q[i]
        s.dq[i] = dq[i]
        s.tau_J[i] = motor_torque[i] - inertia[i] * acceleration[i]
    update_model(s)
    follow_rotors(s)
    estimate_external_torques(s)
    estimate_wrench(s)
    raised = check_contact(s)
    if s.mode == MOTION:
        raised += check_motion(s)
    elif s.mode == GUIDING:
        raised += check_guiding(s)
    s.raised = raised
    if not raised:
        publish(s)


@njit(error_model="numpy")
def goal_deviates(s):
    """Raise 1 if the end of a motion is farther from the desired pose than the Move request allows."""
    s.raised = 1 if deviates(s, DEVIATION.goal) else 0


@njit(error_model="numpy")
def desired_pose(s):
    """Bring the desired and the commanded motion of the end effector to that of the joints, unaccelerated."""
    _desired_pose(s)
    _follow_joints(s)
    s.ddX_c[:] = 0.0
    s.ddelbow_c = 0.0


@njit(error_model="numpy")
def _desired_pose(s):
    """Bring X_d and dX_d to q_d and dq_d."""
    R, p, J = s.search.R, s.search.p, s.search.J
    frames_kernel(s.q_d, R, p)
    tool_kernel(R[6], p[6], s.F_T_EE, s.X_d)
    jacobian_kernel(R, p, s.X_d[:3, 3], 7, J)
    for r in range(6):
        v = 0.0
        for i in range(7):
            v += J[r, i] * s.dq_d[i]
        s.dX_d[r] = v


@njit(error_model="numpy")
def _follow_joints(s):
    """Bring the commanded pose, twist and elbow, where no Cartesian command sets them, to the desired ones."""
    copy_rows_kernel(s.X_d, s.X_c, 4)
    for r in range(6):
        s.ddX_c[r] = (s.dX_d[r] - s.dX_c[r]) / DT
        s.dX_c[r] = s.dX_d[r]
    s.elbow_c[0] = s.q_d[2]
    s.elbow_c[1] = _elbow_sign(s.q_d)
    s.delbow_c = s.dq_d[2]
    s.ddelbow_c = s.ddq_d[2]


@njit(error_model="numpy")
def publish(s):
    """Write the published numbers; after an error and its reflex, once more."""
    o = s.reals
    _columns(s.X, o, AT.O_T_EE)
    _columns(s.X_d, o, AT.O_T_EE_d)
    _columns(s.X_c, o, AT.O_T_EE_c)
    for i in range(7):
        o[AT.q + i] = s.q[i]
        o[AT.dq + i] = s.dq[i]
        o[AT.q_d + i] = s.q_d[i]
        o[AT.dq_d + i] = s.dq_d[i]
        o[AT.ddq_d + i] = s.ddq_d[i]
        o[AT.tau_J + i] = s.tau_J[i]
        o[AT.tau_J_d + i] = s.tau_d[i]
        rate = (s.tau_J[i] - s.tau_J_last[i]) / DT
        o[AT.dtau_J + i] = rate
        s.tau_J_last[i] = s.tau_J[i]
        o[AT.tau_ext_hat_filtered + i] = -s.residual[i]
        o[AT.theta + i] = s.q[i] + s.tau_J[i] / s.joint_stiffness[i]
        o[AT.dtheta + i] = s.dq[i] + rate / s.joint_stiffness[i]
        o[AT.joint_contact + i] = s.contact[i]
        o[AT.joint_collision + i] = s.collision[i]
    for r in range(6):
        o[AT.cartesian_contact + r] = s.contact[7 + r]
        o[AT.cartesian_collision + r] = s.collision[7 + r]
        o[AT.O_F_ext_hat_K + r] = s.F_K[r]
        o[AT.O_dP_EE_c + r] = s.dX_c[r]
        o[AT.O_ddP_EE_c + r] = s.ddX_c[r]
        o[AT.O_dP_EE_d + r] = s.dX_d[r]
    for r in range(3):
        o[AT.K_F_ext_hat_K + r] = s.XK[0, r] * s.F_K[0] + s.XK[1, r] * s.F_K[1] + s.XK[2, r] * s.F_K[2]
        o[AT.K_F_ext_hat_K + 3 + r] = s.XK[0, r] * s.F_K[3] + s.XK[1, r] * s.F_K[4] + s.XK[2, r] * s.F_K[5]
        o[AT.O_ddP_O + r] = s.gravity[r]
    o[AT.elbow] = s.q[2]
    o[AT.elbow + 1] = _elbow_sign(s.q)
    o[AT.elbow_d] = s.q_d[2]
    o[AT.elbow_d + 1] = _elbow_sign(s.q_d)
    o[AT.elbow_c] = s.elbow_c[0]
    o[AT.elbow_c + 1] = s.elbow_c[1]
    o[AT.delbow_c] = s.delbow_c
    o[AT.ddelbow_c] = s.ddelbow_c


@njit(error_model="numpy")
def _take_torques(s, tau):
    """Take the client's torques if they are finite and do not jump; return the number of errors."""
    if not finite(tau, 7):
        return raise_error(s, ERROR.controller_torque_discontinuity) + UNUSABLE
    raised = 0
    gain = s.filter[FILTER.controller]
    for i in range(7):
        t = gain * tau[i] + (1.0 - gain) * s.tau_c[i]
        if abs(t - s.tau_c[i]) / DT > s.tau_rate + 0.1:
            raised += raise_error(s, ERROR.controller_torque_discontinuity)
        s.q_new[i] = t
    if not raised:
        copy_kernel(s.q_new, s.tau_c, 7)
    return raised


@njit(error_model="numpy")
def _run_controller(s, moving):
    """Write tau_d and rotor_drive: the client's torques, or those of an impedance."""
    if moving and s.controller == EXTERNAL:
        copy_kernel(s.tau_c, s.tau_d, 7)
        copy_kernel(s.rotor_torque, s.rotor_drive, 7)
    elif moving and s.controller == CARTESIAN_IMPEDANCE:
        cartesian_impedance(s, s.X_d, s.q_d, True, s.K_x, s.K_null)
    elif s.mode == GUIDING:
        K = s.K6
        for r in range(6):
            K[r] = 0.0 if s.guiding_free[r] else (LOCKED_TRANSLATION if r < 3 else LOCKED_ROTATION)
        cartesian_impedance(s, s.X_latch, s.q_latch, False, K, 0.0 if s.guiding_free[6] else LOCKED_ELBOW)
        for i in range(7):
            s.q_d[i], s.dq_d[i], s.ddq_d[i] = s.q[i], 0.0, 0.0
    else:
        joint_impedance(s)


class Motors(NamedTuple):
    """Arrays of the plant that `drive` reads and writes, in the order of its arguments."""

    q: NDArray[np.float64]
    dq: NDArray[np.float64]
    curve: NDArray[np.float64]
    bristles: NDArray[np.float64]
    anchors: NDArray[np.float64]
    dt: float
    friction: NDArray[np.float64]
    torque: NDArray[np.float64]

    @classmethod
    def none(cls) -> Motors:
        """Return motors that move nothing."""
        zero = np.zeros(21)
        return cls(np.zeros(7), np.zeros(7), zero, zero, np.zeros(7), 0.0, np.zeros(7), np.zeros(7))


class Sensors(NamedTuple):
    """Arrays of the plant that `observe` reads, in the order of its arguments, shape (7,) each."""

    q: NDArray[np.float64]
    dq: NDArray[np.float64]
    motor_torque: NDArray[np.float64]
    inertia: NDArray[np.float64]
    acceleration: NDArray[np.float64]

    @classmethod
    def none(cls) -> Sensors:
        """Return sensors of nothing, to write to."""
        return cls(*(np.zeros(7) for _ in cls._fields))


def drive(torque, q, dq, curve, bristles, anchors, dt, friction, motors):
    """Drive the motors; what reaches the links is less by the friction (C arrays).

    Args:
        torque: of the motors, shape (7,) [N m].
        q: joint positions, shape (7,) [rad].
        dq: joint velocities, shape (7,) [rad/s].
        curve: the identified friction, shape (21,); zeros: none.
        bristles: parameters of the static friction.
        anchors: its anchors, shape (7,) [rad]; advanced.
        dt: time step [s]; 0: no static friction.
        friction: of this step, shape (7,) [N m]; written.
        motors: where the simulation reads the torques, shape (7,) [N m]; written.
    """
    friction_kernel(dq, curve, friction)
    if dt > 0.0:
        bristles_step(bristles, q, dq, anchors, dt, friction)
    for i in range(7):
        motors[i] = torque[i] - friction[i]


def control(s, q, dq, curve, bristles, anchors, dt, friction, motors):
    """Advance the motion by one command (motion, tau, flags) and drive the motors, as `drive` says.

    It raises `UNUSABLE` and more for input that cannot be followed at all. With an error, the motors are not driven.
    """
    raised, flags = 0, s.flags
    waiting = (flags & WAIT) != 0
    moving = s.mode == MOTION and not waiting and (flags & FINISH) == 0
    if moving:
        if s.controller == EXTERNAL and flags & PRESENT:
            raised = _take_torques(s, s.tau)
        if not raised:
            raised = generate(s, s.motion, flags)
    elif s.mode != GUIDING:
        if waiting:
            copy_kernel(s.q_hold, s.q_d, 7)
        decelerate(s)
    if not waiting:
        _desired_pose(s)
    if not moving or s.generator == JOINT_POSITION or s.generator == JOINT_VELOCITY or s.generator == NONE:
        _follow_joints(s)
    _run_controller(s, moving)
    if waiting:
        # Until the first command comes, the arm holds its old place, and the desired pose is the measured one.
        copy_kernel(s.q, s.q_d, 7)
        desired_pose(s)
    for i in range(7):
        t = s.tau_d[i] + s.rotor_drive[i] + s.g[i] + s.tau_f[i]
        s.torque[i] = min(s.tau_max[i], max(-s.tau_max[i], t)) + s.motor_noise[i]
    if waiting and s.controller == EXTERNAL:
        s.tau_d[:] = 0.0  # what the client has commanded so far, from which its first torques may differ by a step
    if not raised:
        drive(s.torque, q, dq, curve, bristles, anchors, dt, friction, motors)
    s.raised = raised
