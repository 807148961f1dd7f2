"""The firmware of a control board, compiled: generators, ramps, controllers, faults, for all axes in one call."""

from __future__ import annotations

import math

import numpy as np

from pliant.base.codecache import njit
from pliant.control_boards import layout as at
from pliant.control_boards.layout import ControlMode as Mode
from pliant.laws.layout import OUT

IDLE, POSITION, DIRECT = int(Mode.IDLE), int(Mode.POSITION), int(Mode.POSITION_DIRECT)
VELOCITY, VELOCITY_DIRECT, MIXED = int(Mode.VELOCITY), int(Mode.VELOCITY_DIRECT), int(Mode.MIXED)
TORQUE, CURRENT, PWM, FAULTY = int(Mode.TORQUE), int(Mode.CURRENT), int(Mode.PWM), int(Mode.HARDWARE_FAULT)
NOT_CONFIGURED = int(Mode.NOT_CONFIGURED)
MINIMUM_JERK, CONSTANT_SPEED, TRAPEZOID = 0, 1, 2
LOOP_P, LOOP_V, LOOP_T, LOOP_C = (at.END + loop * at.GAINS for loop in range(4))
SHOWN_TORQUE, SHOWN_STIFFNESS = OUT["torque"], OUT["stiffness"]
SHOWN_EQUILIBRIUM = OUT["equilibrium"]
SHOWN_MOTOR, SHOWN_MOTOR_SPEED = OUT["motor_1_position"], OUT["motor_1_velocity"]
SLOWEST = 1e-12
"""Speed [rad/s] and acceleration [rad/s^2] of a trajectory that is asked for with less: its duration stays finite."""
SPRING_STEP = 0.5
"""Part of the error of a spring's torque that one step of its equilibrium takes away."""  # assumed


@njit()
def plan(A: np.ndarray, a: int, goal: float, speed0: float, dt: float) -> None:
    """Begin a trajectory of axis a from its reference to a goal, with the generated speed that it has.

    Minimum jerk: T = |d|/speed. Trapezoid, in the direction of the goal with start speed v0, limit v and acceleration
    r: peak = min(v, sqrt(r d + v0^2/2)); an axis that is faster than r can stop before the goal brakes harder, so that
    it stops there.
    """
    start = A[at.POSITION_REFERENCE, a]
    d = goal - start
    A[at.POSITION_TARGET, a] = goal
    A[at.START, a] = start
    A[at.GOAL, a] = goal
    A[at.GENERATED, a] = start
    A[at.GENERATED_SPEED, a] = speed0
    A[at.STEP, a] = 0.0
    A[at.MOVING, a] = 1.0
    A[at.MOTION_DONE, a] = 0.0
    speed = max(A[at.SPEED, a], SLOWEST)
    kind = int(A[at.KIND, a])
    A[at.START_SPEED, a] = speed0
    if kind != TRAPEZOID:
        A[at.DURATION, a] = abs(d) / speed
        return
    way = 1.0 if d >= 0.0 else -1.0
    rest, v0, r = abs(d), speed0 * way, max(A[at.SLOPE, a], SLOWEST)
    A[at.START_SPEED, a] = v0
    if v0 > 0.0 and rest < 0.5 * v0 * v0 / r:
        # Too fast to stop with r.
        slope = 0.5 * v0 * v0 / rest if rest > 0.0 else math.inf
        A[at.PEAK, a] = v0
        A[at.FIRST, a] = 0.0
        A[at.SECOND, a] = 0.0
        A[at.SLOPE_1, a] = 0.0
        A[at.SLOPE_2, a] = slope
        A[at.DURATION, a] = 2.0 * rest / v0
        return
    peak = min(speed, math.sqrt(r * rest + 0.5 * v0 * v0))
    slope = r if peak >= v0 else -r
    first = (peak - v0) / slope
    ramps = 0.5 * (v0 + peak) * first + 0.5 * peak * peak / r
    cruise = (rest - ramps) / peak if peak > 0.0 else 0.0
    if cruise < 0.0:
        cruise = 0.0
    A[at.PEAK, a] = peak
    A[at.FIRST, a] = first
    A[at.SECOND, a] = first + cruise
    A[at.SLOPE_1, a] = slope
    A[at.SLOPE_2, a] = r
    A[at.DURATION, a] = first + cruise + peak / r


@njit()
def sample_trajectory(A: np.ndarray, a: int, dt: float) -> None:
    """Advance the trajectory of axis a by one step; its generated position and speed are in the state.

    Minimum jerk with s = t/T, d = xf - x0, v = v0 T:
    x = x0 + v s + (10 d - 6 v) s^3 - (15 d - 8 v) s^4 + (6 d - 3 v) s^5. Motion is done when s reaches 1 - dt/T.
    """
    goal = A[at.GOAL, a]
    if not A[at.MOVING, a]:
        A[at.GENERATED_SPEED, a] = 0.0
        return
    A[at.STEP, a] += 1.0
    t, T = A[at.STEP, a] * dt, A[at.DURATION, a]
    start, d = A[at.START, a], goal - A[at.START, a]
    if dt > T or t >= T:
        A[at.GENERATED, a] = goal
        A[at.GENERATED_SPEED, a] = 0.0
        A[at.MOVING, a] = 0.0
        A[at.MOTION_DONE, a] = 1.0
        return
    kind = int(A[at.KIND, a])
    if kind == MINIMUM_JERK:
        s, v = t / T, A[at.START_SPEED, a] * T
        b, c, e = 10.0 * d - 6.0 * v, 15.0 * d - 8.0 * v, 6.0 * d - 3.0 * v
        A[at.GENERATED, a] = start + s * (v + s * s * (b + s * (s * e - c)))
        A[at.GENERATED_SPEED, a] = (v + s * s * (3.0 * b + s * (5.0 * s * e - 4.0 * c))) / T
        if s >= 1.0 - dt / T:
            A[at.MOTION_DONE, a] = 1.0
    elif kind == CONSTANT_SPEED:
        A[at.GENERATED, a] = start + d * t / T
        A[at.GENERATED_SPEED, a] = d / T
        if T - t < dt:
            A[at.MOTION_DONE, a] = 1.0
    else:
        way = 1.0 if d >= 0.0 else -1.0
        v0, peak = A[at.START_SPEED, a], A[at.PEAK, a]
        first, second = A[at.FIRST, a], A[at.SECOND, a]
        if t <= first:
            x = v0 * t + 0.5 * A[at.SLOPE_1, a] * t * t
            v = v0 + A[at.SLOPE_1, a] * t
        elif t <= second:
            x = 0.5 * (v0 + peak) * first + peak * (t - first)
            v = peak
        else:
            left = T - t
            x = abs(d) - 0.5 * A[at.SLOPE_2, a] * left * left
            v = A[at.SLOPE_2, a] * left
        A[at.GENERATED, a] = start + way * x
        A[at.GENERATED_SPEED, a] = way * v


@njit()
def clip(x: float, low: float, high: float) -> float:
    return low if x < low else high if x > high else x


@njit()
def pid(A: np.ndarray, g: int, a: int, J: np.ndarray, i: int, error: float, rate: float, dt: float) -> float:
    """Return the output of a controller for joint i with the gains of axis a: -(kp e + ki int(e) + kd de/dt).

    The integral part and the output are limited; offset and feedforward are added before the limit.
    """
    if not A[g + at.ENABLED, a]:
        return 0.0
    limit = A[g + at.ERROR_LIMIT, a]
    if limit > 0.0:
        error = clip(error, -limit, limit)
    J[at.J_ERROR, i] = error
    part, ki = A[g + at.MAX_INTEGRAL, a], A[g + at.KI, a]
    integral = 0.0
    if ki != 0.0 and part > 0.0:
        J[at.J_INTEGRAL, i] = clip(J[at.J_INTEGRAL, i] + ki * error * dt, -part, part)
        integral = J[at.J_INTEGRAL, i]
    out = -(A[g + at.KP, a] * error + integral + A[g + at.KD, a] * rate)
    out += A[g + at.OFFSET, a] + A[g + at.FEEDFORWARD, a]
    return clip(out, -A[g + at.MAX_OUTPUT, a], A[g + at.MAX_OUTPUT, a])


@njit()
def references(A: np.ndarray, a: int, now: float, dt: float) -> None:
    """Advance the references of one axis: watchdog, ramp, trajectory."""
    mode = int(A[at.CONTROL_MODE, a])
    low, high = A[at.LOW, a], A[at.HIGH, a]
    A[at.VELOCITY_REFERENCE, a] = 0.0
    if mode in (VELOCITY, VELOCITY_DIRECT, MIXED):
        timeout = A[at.TIMEOUT, a]
        if timeout >= 0.0 and now - A[at.COMMAND_TIME, a] > timeout:
            A[at.VELOCITY_TARGET, a] = 0.0
            A[at.RAMP, a] = 0.0
        step = A[at.SLOPE, a] * dt
        target = A[at.VELOCITY_TARGET, a]
        if mode == VELOCITY_DIRECT:
            A[at.RAMP, a] = target
        else:
            A[at.RAMP, a] += clip(target - A[at.RAMP, a], -step, step)
    if mode in (POSITION, MIXED):
        last = A[at.GENERATED, a]
        sample_trajectory(A, a, dt)
        if mode == POSITION:
            A[at.POSITION_REFERENCE, a] = A[at.GENERATED, a]
            A[at.VELOCITY_REFERENCE, a] = A[at.GENERATED_SPEED, a]
        else:
            new = A[at.POSITION_REFERENCE, a] + (A[at.GENERATED, a] - last) + A[at.RAMP, a] * dt
            A[at.VELOCITY_REFERENCE, a] = A[at.GENERATED_SPEED, a] + A[at.RAMP, a]
            if new < low or new > high:
                A[at.VELOCITY_REFERENCE, a] = 0.0
            A[at.POSITION_REFERENCE, a] = clip(new, low, high)
    elif mode in (VELOCITY, VELOCITY_DIRECT):
        A[at.VELOCITY_REFERENCE, a] = A[at.RAMP, a]
        if not A[at.DIRECT, a]:
            new = A[at.POSITION_REFERENCE, a] + A[at.RAMP, a] * dt
            if new < low or new > high:
                A[at.VELOCITY_REFERENCE, a] = 0.0
            A[at.POSITION_REFERENCE, a] = clip(new, low, high)


@njit()
def effort(A: np.ndarray, a: int, J: np.ndarray, i: int, q: float, dt: float) -> float:
    """Return the torque that the board asks of joint i, whose axis is a, by the mode of the axis.

    Args:
        q: position of the joint, from the zero of its axis.
    """
    mode = int(A[at.CONTROL_MODE, a])
    soft = A[at.INTERACTION_MODE, a] > 0.5
    v, ref, speed = J[at.J_VELOCITY, i], J[at.J_REFERENCE, i], J[at.J_SPEED, i]
    if A[at.BRAKED, a]:
        return pid(A, LOOP_P, a, J, i, q - ref, v, dt)
    if mode == IDLE or mode >= FAULTY:
        return 0.0
    guarded = soft
    if mode in (TORQUE, PWM, CURRENT):
        guarded = True
        out = J[at.J_EFFORT, i]
        g = LOOP_C if mode == CURRENT else LOOP_T
        if mode != PWM and (A[g + at.KP, a] != 0.0 or A[g + at.KI, a] != 0.0):
            out += pid(A, g, a, J, i, J[at.J_TORQUE, i] - out, 0.0, dt)
        elif mode != PWM:
            out += A[g + at.OFFSET, a] + A[g + at.FEEDFORWARD, a]
    elif (mode in (VELOCITY, VELOCITY_DIRECT)) and A[at.DIRECT, a]:
        out = pid(A, LOOP_V, a, J, i, v - speed, J[at.J_ACCELERATION, i], dt)
        guarded = True
    elif soft:
        out = -A[at.STIFFNESS, a] * (q - ref) - A[at.DAMPING, a] * v + A[at.TORQUE_OFFSET, a]
    else:
        out = pid(A, LOOP_P, a, J, i, q - ref, v - speed, dt)
    if guarded:
        # Beyond a limit, a torque that pushes further out gives way to the position controller.
        x = A[at.POSITION, a]
        over = x - A[at.HIGH, a] if x > A[at.HIGH, a] else x - A[at.LOW, a] if x < A[at.LOW, a] else 0.0
        if over * out > 0.0:
            most = A[LOOP_P + at.MAX_OUTPUT, a]
            out = clip(-over * A[LOOP_P + at.KP, a], -most, most)
    return out


@njit()
def step(
    A: np.ndarray,
    J: np.ndarray,
    C: np.ndarray,
    qpos: np.ndarray,
    qvel: np.ndarray,
    forces: np.ndarray,
    control: np.ndarray,
    observed: np.ndarray,
    now: float,
    dt: float,
) -> int:
    """Run one period of the firmware: measure, look for faults, advance the references, drive the joints.

    Args:
        A: state of the axes, rows of `layout`.
        J: state of the joints.
        C: couplings, shape (2, joints, axes): joints from axes, and the transposed inverse; no column without.
        qpos: positions of the model.
        qvel: velocities of the model.
        forces: forces of all actuators on the degrees of freedom.
        control: controls of the model, written.
        observed: observations of the compliant joints, a row each, columns of `pliant.laws.layout.OUT`.
        now: time [s].
        dt: period [s].

    Returns:
        Number of axes that have a new fault.
    """
    m, n, coupled = J.shape[1], A.shape[1], C.shape[2] > 0
    faults = 0
    for i in range(m):
        J[at.J_POSITION, i] = qpos[int(J[at.Q_ADDRESS, i])]
        v = qvel[int(J[at.V_ADDRESS, i])]
        J[at.J_VELOCITY, i] = v
        J[at.J_ACCELERATION, i] = 0.0 if J[at.J_FRESH, i] > 0.5 else (v - J[at.J_LAST_VELOCITY, i]) / dt
        J[at.J_LAST_VELOCITY, i] = v
        J[at.J_TORQUE, i] = forces[int(J[at.V_ADDRESS, i])]
        b = int(J[at.MOTOR_AXIS, i])
        if b >= 0:
            gear = A[at.GEAR, b]
            x, w = J[at.J_POSITION, i], v
            row = int(J[at.OBSERVED, i])
            if row >= 0 and math.isfinite(observed[row, SHOWN_MOTOR]):
                x, w = observed[row, SHOWN_MOTOR], observed[row, SHOWN_MOTOR_SPEED]
            new = gear * w
            A[at.MOTOR_POSITION, b] = gear * x - A[at.MOTOR_ZERO, b]
            A[at.MOTOR_ACCELERATION, b] = 0.0 if J[at.J_FRESH, i] > 0.5 else (new - A[at.MOTOR_VELOCITY, b]) / dt
            A[at.MOTOR_VELOCITY, b] = new
    for a in range(n):
        if A[at.CONTROL_MODE, a] == NOT_CONFIGURED:
            continue
        q = v = r = t = 0.0
        if coupled:
            for i in range(m):
                w = C[1, i, a]
                q += w * (J[at.J_POSITION, i] - J[at.ORIGIN, i])
                v += w * J[at.J_VELOCITY, i]
                r += w * J[at.J_ACCELERATION, i]
                t += C[0, i, a] * J[at.J_TORQUE, i]
        else:
            q, v, r, t = J[at.J_POSITION, a], J[at.J_VELOCITY, a], J[at.J_ACCELERATION, a], J[at.J_TORQUE, a]
        A[at.POSITION, a] = q - A[at.ZERO, a]
        A[at.VELOCITY, a] = v
        A[at.ACCELERATION, a] = r
        A[at.TORQUE, a] = t
        unit = A[at.TORQUE_PER_DUTY, a]
        A[at.DUTY_CYCLE, a] = t / unit
        A[at.CURRENT, a] = t / unit
        if abs(t) > A[at.MAX_TORQUE, a] and A[at.CONTROL_MODE, a] != FAULTY:
            A[at.CONTROL_MODE, a] = FAULTY
            A[at.FAULT, a] = at.FAULT_TORQUE
            A[at.AMPLIFIER, a] = 0.0
            faults += 1
        references(A, a, now, dt)
        mode = int(A[at.CONTROL_MODE, a])
        off = mode == IDLE or mode >= FAULTY
        braked = A[at.BRAKE_MANUAL, a] > 0.5 or (A[at.BRAKE_AUTO, a] > 0.5 and off)
        if braked and not A[at.BRAKED, a]:
            A[at.BRAKE_POSITION, a] = A[at.POSITION, a]
        A[at.BRAKED, a] = 1.0 if braked else 0.0
    for a in range(n):
        for g in (LOOP_P, LOOP_V, LOOP_T, LOOP_C):
            A[g + at.ERROR, a] = 0.0
            A[g + at.OUTPUT, a] = 0.0
    for i in range(m):
        a = int(J[at.AXIS, i])
        ref = speed = torque = 0.0
        zero = J[at.ORIGIN, i]
        if coupled:
            for b in range(n):
                w = C[0, i, b]
                if w != 0.0:
                    x = A[at.BRAKE_POSITION, b] if A[at.BRAKED, b] else A[at.POSITION_REFERENCE, b]
                    ref += w * x
                    zero += w * A[at.ZERO, b]
                    speed += w * A[at.VELOCITY_REFERENCE, b]
                torque += C[1, i, b] * A[at.TORQUE_REFERENCE, b]
        else:
            ref = A[at.BRAKE_POSITION, a] if A[at.BRAKED, a] else A[at.POSITION_REFERENCE, a]
            zero, speed, torque = A[at.ZERO, a], A[at.VELOCITY_REFERENCE, a], A[at.TORQUE_REFERENCE, a]
        J[at.J_REFERENCE, i] = ref
        J[at.J_SPEED, i] = speed
        J[at.J_EFFORT, i] = torque
        q = J[at.J_POSITION, i] - zero
        J[at.J_ERROR, i] = 0.0
        out = effort(A, a, J, i, q, dt)
        # A torque that would be a fault in the next step is not given at all.
        if not abs(out) <= A[at.MAX_TORQUE, a]:
            A[at.FAULT, a] = at.FAULT_TORQUE if math.isfinite(out) else at.FAULT_NUMBER
            A[at.CONTROL_MODE, a] = FAULTY
            A[at.AMPLIFIER, a] = 0.0
            out = 0.0
            faults += 1
        mode = int(A[at.CONTROL_MODE, a])
        held = A[at.BRAKED, a] > 0.5
        off = (mode == IDLE or mode >= FAULTY) and not held
        placed = held or mode in (POSITION, DIRECT, MIXED)
        placed = placed or ((mode in (VELOCITY, VELOCITY_DIRECT)) and not A[at.DIRECT, a])
        J[at.J_FRESH, i] = 0.0
        drive, address = int(J[at.DRIVE, i]), int(J[at.CONTROL, i])
        gear = J[at.TRANSMISSION, i]
        if drive == at.SPRING:
            out = drive_spring(J, i, observed, control, ref + zero, J[at.J_EFFORT, i], placed, off)
        elif drive == at.SERVO and placed and not (A[at.INTERACTION_MODE, a] > 0.5 and not held):
            control[address] = gear * (ref + zero)
            J[at.J_ERROR, i] = q - ref
            bias = J[at.BIAS_0, i] + J[at.BIAS_1, i] * gear * J[at.J_POSITION, i]
            bias += J[at.BIAS_2, i] * gear * J[at.J_VELOCITY, i]
            out = gear * (J[at.FORCE_GAIN, i] * control[address] + bias)
        else:
            bias = J[at.BIAS_0, i] + J[at.BIAS_1, i] * gear * J[at.J_POSITION, i]
            bias += J[at.BIAS_2, i] * gear * J[at.J_VELOCITY, i]
            control[address] = (out / gear - bias) / J[at.FORCE_GAIN, i]
        g = LOOP_P
        if mode == TORQUE:
            g = LOOP_T
        elif mode == CURRENT:
            g = LOOP_C
        elif (mode in (VELOCITY, VELOCITY_DIRECT)) and A[at.DIRECT, a]:
            g = LOOP_V
        if not off:
            A[g + at.ERROR, a] = J[at.J_ERROR, i]
            A[g + at.OUTPUT, a] = out
    return faults


@njit()
def drive_spring(
    J: np.ndarray,
    i: int,
    observed: np.ndarray,
    control: np.ndarray,
    reference: float,
    torque: float,
    placed: bool,
    off: bool,
) -> float:
    """Write the references of a compliant joint: its equilibrium, and its preset; return the torque that it shows.

    A torque is reached by moving the equilibrium by the error over the stiffness, as a torque controller of such a
    joint does. A joint without torque lets its equilibrium follow the link.
    """
    row, address, second = int(J[at.OBSERVED, i]), int(J[at.CONTROL, i]), int(J[at.SECOND_CONTROL, i])
    if second >= 0:
        control[second] = J[at.PRESET, i]
    shown = observed[row, SHOWN_TORQUE]
    if placed:
        control[address] = reference
        return shown
    stiffness = observed[row, SHOWN_STIFFNESS]
    wanted = 0.0 if off else torque
    if stiffness > 0.0:
        # From where the motors are, so that nothing winds up while they are on their way.
        control[address] = observed[row, SHOWN_EQUILIBRIUM] + SPRING_STEP * (wanted - J[at.J_TORQUE, i]) / stiffness
    return shown
