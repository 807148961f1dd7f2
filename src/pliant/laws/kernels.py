"""The step of a compliant actuator, written once.

Scalar functions that Python runs and numba compiles; `pliant.laws.compile` binds the names ``law_torques``,
``law_stiffness``, ``law_reported_stiffness``, ``law_energy`` and ``law_references`` to the kernels of one law.
``par`` is the parameter vector of `pliant.laws.layout`; ``act`` is the state, ``rate`` its rate of change over the
step: next = act + h * rate. Angles [rad], torques [N m], h the time step [s].

Order of one step, as in the original toolbox: references, controllers, old load at the old motor positions and the
new link angle, motors, torque at the new motor positions (old ones in mode 4).
"""
# The law_* names are bound by pliant.laws.compile.
# ruff: noqa: F821
# pyright: reportUndefinedVariable=false

from __future__ import annotations

import math

from pliant.laws.layout import (
    A_CURRENT_1,
    A_CURRENT_2,
    A_DELAY,
    A_LINK,
    A_MOTOR_1,
    A_MOTOR_2,
    A_PREVIOUS_1,
    A_PREVIOUS_2,
    A_SLEW,
    A_TEMPERATURE_1,
    A_TEMPERATURE_2,
    BIG,
    C_1,
    C_2,
    C_ANTI_WINDUP,
    C_FEEDFORWARD,
    C_KD,
    C_KI,
    C_KP,
    C_LIMIT,
    F_BREAKAWAY,
    F_BRISTLE_DAMPING,
    F_LEVEL,
    F_LOAD,
    F_PRESET,
    F_STIFFNESS,
    F_STRIBECK_VELOCITY,
    M_1,
    M_2,
    M_AMBIENT,
    M_COGGING,
    M_COGGING_PERIODS,
    M_COGGING_PHASE,
    M_COPPER,
    M_CURRENT,
    M_DAMPING,
    M_DERATING,
    M_FRICTION,
    M_HIGH,
    M_HOTTEST,
    M_INDUCTANCE,
    M_INERTIA,
    M_KB,
    M_KT,
    M_LOW,
    M_NO_LOAD_SPEED,
    M_PRESET_DAMPING,
    M_RESISTANCE,
    M_RIPPLE,
    M_SPEED,
    M_SUPPLY,
    M_SUPPLY_RESISTANCE,
    M_THERMAL_CAPACITY,
    M_THERMAL_RESISTANCE,
    M_TORQUE,
    O_AT_STOP,
    O_COPPER_POWER,
    O_DAMPING_POWER,
    O_ELASTIC_TORQUE,
    O_ENERGY,
    O_EQUILIBRIUM,
    O_FRICTION_POWER,
    O_LINK_DAMPING_TORQUE,
    O_LINK_FRICTION_TORQUE,
    O_LINK_LOSS_POWER,
    O_LOAD_1,
    O_LOAD_2,
    O_MOTOR_1_EFFORT,
    O_MOTOR_1_FRICTION,
    O_MOTOR_1_POSITION,
    O_MOTOR_1_TEMPERATURE,
    O_MOTOR_1_VELOCITY,
    O_MOTOR_2_EFFORT,
    O_MOTOR_2_FRICTION,
    O_MOTOR_2_POSITION,
    O_MOTOR_2_TEMPERATURE,
    O_MOTOR_2_VELOCITY,
    O_MOTOR_POWER,
    O_PRESET,
    O_REPORTED_STIFFNESS,
    O_STIFFNESS,
    O_STORED_ENERGY,
    O_TORQUE,
    OBSERVATIONS,
    P_DELAY,
    P_LINK_DAMPING,
    P_LINK_FRICTION,
    P_MODE,
    P_RESOLUTION_1,
    P_RESOLUTION_2,
    P_SECOND,
    P_SLEW_1,
    P_SLEW_2,
    P_STATES,
)

# ruff: noqa: RUF100

TINY = 1.0e-12
"""Keeps a friction level of 0 out of a division [N m]."""


def slide(position, anchor, z_max):
    """Return the friction anchor that keeps |position - anchor| <= z_max (Hayward and Armstrong 2000)."""
    if position - anchor < -z_max:
        return position + z_max
    if position - anchor > z_max:
        return position - z_max
    return anchor


def torque_limits(par, b, vel):
    """Return the lowest and the highest torque command that a motor takes at a velocity."""
    low = -par[b + M_TORQUE]
    high = par[b + M_TORQUE]
    if par[b + M_NO_LOAD_SPEED] < BIG:
        x = vel / par[b + M_NO_LOAD_SPEED]
        high = high * min(1.0, max(0.0, 1.0 - x))
        low = low * min(1.0, max(0.0, 1.0 + x))
    return low, high


def effective_limits(par, b, pos, vel):
    """Return the limits beyond which a torque command changes nothing: of the torque, by the supply voltage
    (K_t V / R), and 0 in the direction in which the motor is at its largest speed or at a stop."""
    low, high = torque_limits(par, b, vel)
    if par[b + M_RESISTANCE] > 0.0 and par[b + M_SUPPLY] < BIG:
        most = par[b + M_KT] * par[b + M_SUPPLY] / par[b + M_RESISTANCE]
        low = max(low, -most)
        high = min(high, most)
    if par[b + M_RESISTANCE] > 0.0 and par[b + M_CURRENT] < BIG:
        most = par[b + M_KT] * par[b + M_CURRENT]
        low = max(low, -most)
        high = min(high, most)
    if par[b + M_SPEED] < BIG:
        if vel >= par[b + M_SPEED]:
            high = min(high, 0.0)
        if vel <= -par[b + M_SPEED]:
            low = max(low, 0.0)
    if par[b + M_HIGH] < BIG and pos >= par[b + M_HIGH]:
        high = min(high, 0.0)
    if par[b + M_LOW] > -BIG and pos <= par[b + M_LOW]:
        low = max(low, 0.0)
    return low, high


def friction_level(par, f, load, preset):
    """Return the Coulomb level of a friction block at ``f``."""
    return par[f + F_LEVEL] + par[f + F_LOAD] * abs(load) + par[f + F_PRESET] * abs(preset)


def bristle_torque(par, f, x, v, w, slip):
    """Return the friction against the motion of a friction block: ``w`` is the anchor after the step, ``slip`` its
    rate in the step."""
    return par[f + F_STIFFNESS] * (x - w) + par[f + F_BRISTLE_DAMPING] * (v - slip)


def friction_step(par, f, x, v, w, level, h):
    """Return the anchor of a friction block after a step, and the friction against the motion in the step.

    ``x`` and ``v`` are the position and the velocity, ``w`` is the anchor, ``level`` the Coulomb level.
    """
    k = par[f + F_STIFFNESS]
    before = w
    if par[f + F_STRIBECK_VELOCITY] > 0.0:  # LuGre: dw/dt = K |v| (x - w) / g(v), implicit in w
        s = v / par[f + F_STRIBECK_VELOCITY]
        a = h * k * abs(v) / max(level + par[f + F_BREAKAWAY] * math.exp(-s * s), TINY)
        w = w + (x - w) * a / (1.0 + a)
    elif abs(k * (x - w)) > level:  # the division only where the bristle slides
        w = slide(x, w, level / k)
    return w, bristle_torque(par, f, x, v, w, (w - before) / h)


def winding(par, b, heat):
    """Return the resistance and the largest current of a motor at the temperature ``heat`` of its winding."""
    r = par[b + M_RESISTANCE]
    most = par[b + M_CURRENT]
    if par[b + M_THERMAL_RESISTANCE] > 0.0:
        r = r * (1.0 + par[b + M_COPPER] * (heat - par[b + M_AMBIENT]))
        if heat >= par[b + M_HOTTEST]:
            most = 0.0
        elif most < BIG and heat > par[b + M_DERATING]:
            most = most * (par[b + M_HOTTEST] - heat) / (par[b + M_HOTTEST] - par[b + M_DERATING])
    return r, most


def armature(par, b, vel, current, heat, u, h):
    """Return the current of a motor after a step with the torque command u."""
    r, most = winding(par, b, heat)
    bus = par[b + M_SUPPLY]
    emf = par[b + M_KB] * vel
    asked = par[b + M_RESISTANCE] * u / par[b + M_KT]  # the drive knows the cold winding
    if par[b + M_INDUCTANCE] > 0.0:
        x = h / par[b + M_INDUCTANCE]
        bus = max(bus - par[b + M_SUPPLY_RESISTANCE] * abs(current), 0.0)
        v = min(max(asked, -bus), bus) - emf
        current = (current + x * v) / (1.0 + x * r)
    else:
        high = (bus - emf) / (r + par[b + M_SUPPLY_RESISTANCE])  # where the bus has sagged to what the winding gets
        low = (-bus - emf) / (r + par[b + M_SUPPLY_RESISTANCE])
        current = min(max((asked - emf) / r, low), high)
    return min(max(current, -most), most)


def cogging_sine(par, b, pos):
    """Return the sine of which cogging and ripple of a motor are multiples; 0 without cogging."""
    if par[b + M_COGGING_PERIODS] > 0.0:
        return math.sin(par[b + M_COGGING_PERIODS] * pos + par[b + M_COGGING_PHASE])
    return 0.0


def motor_step(par, b, pos, vel, w, current, heat, u, load, preset, h):
    """Advance one motor; returns (pos, vel, w, effort, current). ``b`` is the base of its block in par, ``heat`` the
    temperature of its winding."""
    low, high = torque_limits(par, b, vel)
    u = min(max(u, low), high)
    if par[b + M_RESISTANCE] > 0.0:
        current = armature(par, b, vel, current, heat, u, h)
        u = par[b + M_KT] * current
    wave = cogging_sine(par, b, pos)
    hold = par[b + M_COGGING] * wave
    u = u * (1.0 + par[b + M_RIPPLE] * wave)
    f = b + M_FRICTION
    w, friction = friction_step(par, f, pos, vel, w, friction_level(par, f, load, preset), h)
    d = par[b + M_DAMPING] + par[b + M_PRESET_DAMPING] * abs(preset)
    vel = vel + (u - load - friction - hold - d * vel) / par[b + M_INERTIA] * h
    if par[b + M_SPEED] < BIG:
        vel = min(max(vel, -par[b + M_SPEED]), par[b + M_SPEED])
    pos = pos + vel * h
    if pos < par[b + M_LOW] and par[b + M_LOW] > -BIG:
        pos = par[b + M_LOW]
        vel = 0.0
    elif pos > par[b + M_HIGH] and par[b + M_HIGH] < BIG:
        pos = par[b + M_HIGH]
        vel = 0.0
    return pos, vel, w, u, current


def heat_step(par, b, heat, current, h):
    """Return the temperature of a motor's winding after a step with a current; implicit in the cooling."""
    r, _ = winding(par, b, heat)
    x = h / par[b + M_THERMAL_CAPACITY]
    y = x / par[b + M_THERMAL_RESISTANCE]
    return (heat + x * r * current * current + y * par[b + M_AMBIENT]) / (1.0 + y)


def pid_step(par, b, integral, ref, pos, vel, ref_rate, low, high, h):
    """Advance one PID; returns (integral, output). ``b`` is the base of its block in par, ``low`` and ``high`` are the
    limits of the output beyond which anti-windup stops the integration."""
    e = ref - pos
    step = par[b + C_KI] * e * h
    new = min(max(integral + step, -par[b + C_LIMIT]), par[b + C_LIMIT])
    rest = par[b + C_KP] * e - par[b + C_KD] * vel
    if par[b + C_FEEDFORWARD] > 0.0:
        rest += par[b + C_KD] * ref_rate
    out = new + rest
    if par[b + C_ANTI_WINDUP] > 0.0 and ((out > high and step > 0.0) or (out < low and step < 0.0)):
        new = integral
        out = new + rest
    return new, out


def delayed_references(par, r1, r2, act):
    """Return the references that arrive after the delay of the bus."""
    n = int(par[P_DELAY])
    if n > 0:
        a = int(par[A_DELAY])
        i = int(act[a] + 0.5)
        r1 = act[a + 1 + i]
        r2 = act[a + 1 + n + i]
    return r1, r2


def slewed(reference, before, rate, h):
    """Return a reference that moves by at most ``rate`` from where it was one step ``before``."""
    return before + min(max(reference - before, -h * rate), h * rate)


def effective_references(par, r1, r2, h, act):
    """Return the references after delay, slew limit and quantisation."""
    r1, r2 = delayed_references(par, r1, r2, act)
    s = int(par[A_SLEW])
    if s >= 0:
        r1 = slewed(r1, act[s], par[P_SLEW_1], h)
        r2 = slewed(r2, act[s + 1], par[P_SLEW_2], h)
    if par[P_RESOLUTION_1] > 0.0:
        r1 = par[P_RESOLUTION_1] * math.floor(r1 / par[P_RESOLUTION_1] + 0.5)
    if par[P_RESOLUTION_2] > 0.0:
        r2 = par[P_RESOLUTION_2] * math.floor(r2 / par[P_RESOLUTION_2] + 0.5)
    return r1, r2


def preset_of(par, theta_1, theta_2):
    """Return the stiffness preset of two motor positions."""
    if par[P_SECOND] == 1.0:
        return 0.5 * (theta_1 - theta_2)
    if par[P_SECOND] == 2.0:
        return theta_2
    return 0.0


def advance_motor(par, b, c, a, cur, hot, prev, mode, ref, load, preset, h, act, rate):
    """Write the rates of one motor's states: ``b`` and ``c`` are the bases of its block and its controller's in par,
    ``a``, ``cur``, ``hot`` and ``prev`` the places of its states, current, temperature and last reference in act."""
    per = 1.0 / h
    pos = act[a]
    vel = act[a + 1]
    u = ref
    integral = act[a + 3]
    if mode >= 5:
        ref_rate = 0.0
        if prev >= 0:
            ref_rate = (ref - act[prev]) * per
            rate[prev] = ref_rate
        low, high = effective_limits(par, b, pos, vel)
        integral, u = pid_step(par, c, act[a + 3], ref, pos, vel, ref_rate, low, high, h)
    current = act[cur] if cur >= 0 else 0.0
    heat = act[hot] if hot >= 0 else 0.0
    new_pos, new_vel, w, _, new = motor_step(par, b, pos, vel, act[a + 2], current, heat, u, load, preset, h)
    if cur >= 0:
        rate[cur] = (new - current) * per
    if hot >= 0:
        rate[hot] = (heat_step(par, b, heat, new, h) - heat) * per
    rate[a] = (new_pos - pos) * per
    rate[a + 1] = (new_vel - vel) * per
    rate[a + 2] = (w - act[a + 2]) * per
    rate[a + 3] = (integral - act[a + 3]) * per


def advance_references(par, r1, r2, h, act, rate):
    """Write the rates of the delay line and of the slew limit."""
    per = 1.0 / h
    s = int(par[A_SLEW])
    if s >= 0:
        late_1, late_2 = delayed_references(par, r1, r2, act)
        rate[s] = (slewed(late_1, act[s], par[P_SLEW_1], h) - act[s]) * per
        rate[s + 1] = (slewed(late_2, act[s + 1], par[P_SLEW_2], h) - act[s + 1]) * per
    n = int(par[P_DELAY])
    if n > 0:
        a = int(par[A_DELAY])
        for k in range(2 * n + 1):
            rate[a + k] = 0.0
        i = int(act[a] + 0.5)
        after = i + 1 if i + 1 < n else 0
        rate[a] = (after - act[a]) * per
        rate[a + 1 + i] = (r1 - act[a + 1 + i]) * per
        rate[a + 1 + n + i] = (r2 - act[a + 1 + n + i]) * per


def advance(par, q, dq, r1, r2, h, act, rate):
    """Advance the actuator's state by one step: write ``rate`` so that next = act + h * rate."""
    mode = int(par[P_MODE])
    per = 1.0 / h
    advance_references(par, r1, r2, h, act, rate)
    r1, r2 = effective_references(par, r1, r2, h, act)
    if mode == 1:
        a = int(par[A_MOTOR_1])
        ref_rate = 0.0
        k = int(par[A_PREVIOUS_1])
        if k >= 0:
            ref_rate = (r1 - act[k]) * per
            rate[k] = ref_rate
        new, _ = pid_step(par, C_1, act[a], r1, q, dq, ref_rate, -BIG, BIG, h)
        rate[a] = (new - act[a]) * per
    elif mode >= 4:
        a = int(par[A_MOTOR_1])
        b = int(par[A_MOTOR_2])
        th1 = act[a]
        th2 = act[b] if b >= 0 else 0.0
        if mode == 6:
            r1, r2 = law_references(r1, r2, par)
        preset = preset_of(par, th1, th2)
        _, load_1, load_2 = law_torques(q, th1, th2, par)
        cur = int(par[A_CURRENT_1])
        hot = int(par[A_TEMPERATURE_1])
        k = int(par[A_PREVIOUS_1])
        advance_motor(par, M_1, C_1, a, cur, hot, k, mode, r1, load_1, preset, h, act, rate)
        if b >= 0:
            cur = int(par[A_CURRENT_2])
            hot = int(par[A_TEMPERATURE_2])
            k = int(par[A_PREVIOUS_2])
            advance_motor(par, M_2, C_2, b, cur, hot, k, mode, r2, load_2, preset, h, act, rate)

    s = int(par[A_LINK])
    if s >= 0:
        load = 0.0
        preset = 0.0
        if mode >= 2:
            th1, th2 = motor_positions(par, r1, r2, h, act, rate)
            preset = preset_of(par, th1, th2)
            if par[P_LINK_FRICTION + F_LOAD] > 0.0:
                load, _, _ = law_torques(q, th1, th2, par)
        level = friction_level(par, P_LINK_FRICTION, load, preset)
        w, _ = friction_step(par, P_LINK_FRICTION, q, dq, act[s], level, h)
        rate[s] = (w - act[s]) * per


def motor_positions(par, r1, r2, h, act, rate):
    """Return the motor positions that the spring sees in this step (r1, r2: effective references)."""
    mode = int(par[P_MODE])
    if mode == 3:
        return law_references(r1, r2, par)
    if mode == 2:
        return r1, r2
    a = int(par[A_MOTOR_1])
    b = int(par[A_MOTOR_2])
    th1 = act[a]
    th2 = act[b] if b >= 0 else 0.0
    if mode != 4:
        th1 += h * rate[a]
        if b >= 0:
            th2 += h * rate[b]
    return th1, th2


def link_torque(par, q, dq, r1, r2, h, act, rate):
    """Return the torque of the actuator on the link in this step, friction and damping of the link included."""
    mode = int(par[P_MODE])
    r1, r2 = effective_references(par, r1, r2, h, act)
    preset = 0.0
    if mode == 0:
        torque = r1
    elif mode == 1:
        a = int(par[A_MOTOR_1])
        ref_rate = 0.0
        k = int(par[A_PREVIOUS_1])
        if k >= 0:
            ref_rate = rate[k]
        _, torque = pid_step(par, C_1, act[a], r1, q, dq, ref_rate, -BIG, BIG, h)
    else:
        th1, th2 = motor_positions(par, r1, r2, h, act, rate)
        torque, _, _ = law_torques(q, th1, th2, par)
        preset = preset_of(par, th1, th2)
    s = int(par[A_LINK])
    if s >= 0:
        torque -= bristle_torque(par, P_LINK_FRICTION, q, dq, act[s] + h * rate[s], rate[s])
    d = par[P_LINK_DAMPING] + par[P_LINK_DAMPING + 1] * abs(preset)
    if d > 0.0:
        torque -= d * dq
    return torque


def observe_motor(par, b, c, a, cur, hot, prev, mode, ref, load, preset, h, act, rate, out, o, x, t):
    """Write one motor's position, velocity, effort at out[o..o+2], its temperature at out[t]; friction, damping, and
    the torques of its speed limit, its stops and its cogging against the motion at out[x..x+4]; returns powers in,
    friction, damping, copper and its stored energy."""
    pos = act[a]
    vel = act[a + 1]
    u = ref
    if mode >= 5:
        ref_rate = (ref - act[prev]) / h if prev >= 0 else 0.0
        low, high = effective_limits(par, b, pos, vel)
        _, u = pid_step(par, c, act[a + 3], ref, pos, vel, ref_rate, low, high, h)
    current = act[cur] if cur >= 0 else 0.0
    heat = act[hot] if hot >= 0 else 0.0
    _, after, w, effort, current = motor_step(par, b, pos, vel, act[a + 2], current, heat, u, load, preset, h)
    friction = bristle_torque(par, b + M_FRICTION, pos, vel, w, (w - act[a + 2]) / h)
    hold = par[b + M_COGGING] * cogging_sine(par, b, pos)
    d = par[b + M_DAMPING] + par[b + M_PRESET_DAMPING] * abs(preset)
    out[o] = pos
    out[o + 1] = vel
    out[o + 2] = effort
    out[x] = friction
    out[x + 1] = d * vel
    out[x + 4] = hold
    if hot >= 0:
        out[t] = heat
    if par[b + M_SPEED] < BIG or par[b + M_LOW] > -BIG or par[b + M_HIGH] < BIG:
        free = vel + (effort - load - friction - hold - d * vel) / par[b + M_INERTIA] * h
        limited = free
        if par[b + M_SPEED] < BIG:
            limited = min(max(free, -par[b + M_SPEED]), par[b + M_SPEED])
        out[x + 2] = par[b + M_INERTIA] / h * (free - limited)
        out[x + 3] = par[b + M_INERTIA] / h * (limited - after)
    stored = 0.5 * par[b + M_INERTIA] * vel * vel
    copper = 0.0
    if par[b + M_RESISTANCE] > 0.0:
        r, _ = winding(par, b, heat)
        copper = r * current * current
    return effort * vel, friction * vel, d * vel * vel, copper, stored


def observe(par, q, dq, r1, r2, h, act, rate, out):
    """Write the fields of `fields.OBSERVED` for the present state (act, not the step's result)."""
    mode = int(par[P_MODE])
    for k in range(OBSERVATIONS):
        out[k] = 0.0
    r1, r2 = effective_references(par, r1, r2, h, act)
    nan = math.nan
    out[O_MOTOR_1_TEMPERATURE] = nan
    out[O_MOTOR_2_TEMPERATURE] = nan
    stored = 0.0
    load = 0.0
    preset = 0.0
    if mode < 2:
        torque = r1
        if mode == 1:
            k = int(par[A_PREVIOUS_1])
            ref_rate = (r1 - act[k]) / h if k >= 0 else 0.0
            _, torque = pid_step(par, C_1, act[int(par[A_MOTOR_1])], r1, q, dq, ref_rate, -BIG, BIG, h)
        out[O_TORQUE] = torque
        out[O_ELASTIC_TORQUE] = nan
        out[O_LOAD_1] = nan
        out[O_LOAD_2] = nan
        out[O_STIFFNESS] = nan
        out[O_REPORTED_STIFFNESS] = nan
        out[O_ENERGY] = nan
        out[O_MOTOR_1_POSITION] = nan
        out[O_MOTOR_1_VELOCITY] = nan
        out[O_MOTOR_1_EFFORT] = nan
        out[O_MOTOR_2_POSITION] = nan
        out[O_MOTOR_2_VELOCITY] = nan
        out[O_MOTOR_2_EFFORT] = nan
        out[O_EQUILIBRIUM] = nan
        out[O_PRESET] = nan
        out[O_MOTOR_POWER] = torque * dq
    else:
        ref_1 = r1
        ref_2 = r2
        if mode == 3 or mode == 6:
            ref_1, ref_2 = law_references(r1, r2, par)
        if mode < 4:
            th1 = ref_1
            th2 = ref_2
        else:
            th1 = act[int(par[A_MOTOR_1])]
            th2 = act[int(par[A_MOTOR_2])] if par[A_MOTOR_2] >= 0.0 else 0.0
        torque, load_1, load_2 = law_torques(q, th1, th2, par)
        load = torque
        preset = preset_of(par, th1, th2)
        out[O_ELASTIC_TORQUE] = torque
        out[O_TORQUE] = torque
        out[O_LOAD_1] = load_1
        out[O_LOAD_2] = load_2
        out[O_STIFFNESS] = law_stiffness(q, th1, th2, par)
        out[O_REPORTED_STIFFNESS] = law_reported_stiffness(q, th1, th2, par)
        out[O_ENERGY] = law_energy(q, th1, th2, par)
        out[O_MOTOR_1_POSITION] = th1
        out[O_MOTOR_1_EFFORT] = nan
        out[O_MOTOR_2_POSITION] = th2
        out[O_MOTOR_2_EFFORT] = nan
        if par[P_SECOND] == 1.0:
            out[O_EQUILIBRIUM] = 0.5 * (th1 + th2)
            out[O_PRESET] = preset
        else:
            out[O_EQUILIBRIUM] = th1
            out[O_PRESET] = preset
        if par[P_SECOND] == 0.0:
            out[O_MOTOR_2_POSITION] = nan
            out[O_MOTOR_2_VELOCITY] = nan
            out[O_PRESET] = nan
        stored = out[O_ENERGY]
        if mode >= 4:
            a = int(par[A_MOTOR_1])
            k = int(par[A_CURRENT_1])
            t = int(par[A_TEMPERATURE_1])
            n = int(par[A_PREVIOUS_1])
            p, f, d, c, s = observe_motor(
                par, M_1, C_1, a, k, t, n, mode, ref_1, load_1, preset, h, act, rate, out,
                O_MOTOR_1_POSITION, O_MOTOR_1_FRICTION, O_MOTOR_1_TEMPERATURE,
            )  # fmt: skip
            out[O_MOTOR_POWER] += p
            out[O_FRICTION_POWER] += f
            out[O_DAMPING_POWER] += d
            out[O_COPPER_POWER] += c
            stored += s
            if th1 <= par[M_1 + M_LOW] or th1 >= par[M_1 + M_HIGH]:
                out[O_AT_STOP] = 1.0
            a = int(par[A_MOTOR_2])
            if a >= 0:
                k = int(par[A_CURRENT_2])
                t = int(par[A_TEMPERATURE_2])
                n = int(par[A_PREVIOUS_2])
                p, f, d, c, s = observe_motor(
                    par, M_2, C_2, a, k, t, n, mode, ref_2, load_2, preset, h, act, rate, out,
                    O_MOTOR_2_POSITION, O_MOTOR_2_FRICTION, O_MOTOR_2_TEMPERATURE,
                )  # fmt: skip
                out[O_MOTOR_POWER] += p
                out[O_FRICTION_POWER] += f
                out[O_DAMPING_POWER] += d
                out[O_COPPER_POWER] += c
                stored += s
                if th2 <= par[M_2 + M_LOW] or th2 >= par[M_2 + M_HIGH]:
                    out[O_AT_STOP] = 1.0
    s = int(par[A_LINK])
    if s >= 0:
        level = friction_level(par, P_LINK_FRICTION, load, preset)
        _, friction = friction_step(par, P_LINK_FRICTION, q, dq, act[s], level, h)
        out[O_LINK_FRICTION_TORQUE] = friction
        out[O_TORQUE] -= friction
        out[O_LINK_LOSS_POWER] += friction * dq
    d = par[P_LINK_DAMPING] + par[P_LINK_DAMPING + 1] * abs(preset)
    out[O_TORQUE] -= d * dq
    out[O_LINK_DAMPING_TORQUE] = d * dq
    out[O_LINK_LOSS_POWER] += d * dq * dq
    out[O_STORED_ENERGY] = stored


def hold(par, q, preset, act):
    """Write the state of an actuator at rest at link angle q; returns the references that keep it there.

    Mode 0 and 4: zero torque. Mode 1, 3, 6: the present angle (and the preset). Mode 2, 5: the motor positions of the
    present angle and preset.
    """
    mode = int(par[P_MODE])
    th1, th2 = law_references(q, preset, par)
    ref_1 = 0.0
    ref_2 = 0.0
    if mode == 2 or mode == 5:
        ref_1 = th1
        ref_2 = th2
    elif mode == 1:
        ref_1 = q
    elif mode == 3 or mode == 6:
        ref_1 = q
        ref_2 = preset
    for k in range(int(par[P_STATES])):
        act[k] = 0.0
    if mode >= 4:
        a = int(par[A_MOTOR_1])
        act[a] = th1
        act[a + 2] = th1
        b = int(par[A_MOTOR_2])
        if b >= 0:
            act[b] = th2
            act[b + 2] = th2
    eff_1 = ref_1
    eff_2 = ref_2
    if mode == 6:
        eff_1 = th1
        eff_2 = th2
    if par[A_PREVIOUS_1] >= 0.0:
        act[int(par[A_PREVIOUS_1])] = eff_1
    if par[A_PREVIOUS_2] >= 0.0:
        act[int(par[A_PREVIOUS_2])] = eff_2
    if par[A_LINK] >= 0.0:
        act[int(par[A_LINK])] = q
    if par[A_SLEW] >= 0.0:
        act[int(par[A_SLEW])] = ref_1
        act[int(par[A_SLEW]) + 1] = ref_2
    if par[A_TEMPERATURE_1] >= 0.0:
        act[int(par[A_TEMPERATURE_1])] = par[M_1 + M_AMBIENT]
    if par[A_TEMPERATURE_2] >= 0.0:
        act[int(par[A_TEMPERATURE_2])] = par[M_2 + M_AMBIENT]
    n = int(par[P_DELAY])
    for k in range(n):
        act[int(par[A_DELAY]) + 1 + k] = ref_1
        act[int(par[A_DELAY]) + 1 + n + k] = ref_2
    return ref_1, ref_2


def simulate(par, q, dq, ref_1, ref_2, h, act, torque, trace):
    """Run the actuator along recorded link motion; fills torque (n,) and trace (n, OBSERVATIONS)."""
    states = int(par[P_STATES])
    for i in range(q.shape[0]):
        rate = trace[i, OBSERVATIONS:]
        advance(par, q[i], dq[i], ref_1[i], ref_2[i], h, act, rate)
        torque[i] = link_torque(par, q[i], dq[i], ref_1[i], ref_2[i], h, act, rate)
        # Modes 5 and 6 show the motors that made the torque, which are those after their step.
        if int(par[P_MODE]) > 4:
            for k in range(states):
                act[k] += h * rate[k]
            observe(par, q[i], dq[i], ref_1[i], ref_2[i], h, act, rate, trace[i])
        else:
            observe(par, q[i], dq[i], ref_1[i], ref_2[i], h, act, rate, trace[i])
            for k in range(states):
                act[k] += h * rate[k]


def evaluate(q, theta_1, theta_2, p, out):
    """Evaluate a law at many points: rows of out are torque, loads, stiffness, energy."""
    for i in range(q.shape[0]):
        torque, load_1, load_2 = law_torques(q[i], theta_1[i], theta_2[i], p)
        out[0, i] = torque
        out[1, i] = load_1
        out[2, i] = load_2
        out[3, i] = law_stiffness(q[i], theta_1[i], theta_2[i], p)
        out[4, i] = law_energy(q[i], theta_1[i], theta_2[i], p)
