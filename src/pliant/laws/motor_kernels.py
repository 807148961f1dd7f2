"""Motors and their controllers: scalar functions of the compiled step (see `pliant.laws.kernels`)."""

from __future__ import annotations

import math

from pliant.laws import layout as at
from pliant.laws.friction_kernels import friction_level, friction_step


def torque_limits(par, b, vel):
    """Return the lowest and the highest torque command that a motor takes at a velocity."""
    low = -par[b + at.M_TORQUE]
    high = par[b + at.M_TORQUE]
    if par[b + at.M_NO_LOAD_SPEED] < at.BIG:
        x = vel / par[b + at.M_NO_LOAD_SPEED]
        high = high * min(1.0, max(0.0, 1.0 - x))
        low = low * min(1.0, max(0.0, 1.0 + x))
    return low, high


def effective_limits(par, b, pos, vel):
    """Return the limits beyond which a torque command changes nothing: of the torque, by supply voltage and current of
    a cold winding at a steady current, and 0 in the direction in which the motor is at its largest speed or at a stop.

    With u = K_t v / R, the voltage v is at most that of the bus, (V R + e R_s) / (R + R_s) where the current through
    R_s lets it sag, e the back-EMF; and the current (v - e) / R is at most I: v <= R I + e.
    """
    low, high = torque_limits(par, b, vel)
    if par[b + at.M_RESISTANCE] > 0.0:
        emf = par[b + at.M_KT] / par[b + at.M_RESISTANCE] * par[b + at.M_KB] * vel
        if par[b + at.M_SUPPLY] < at.BIG:
            sagging = par[b + at.M_RESISTANCE] + par[b + at.M_SUPPLY_RESISTANCE]
            most = par[b + at.M_KT] * par[b + at.M_SUPPLY] / sagging
            shift = emf * par[b + at.M_SUPPLY_RESISTANCE] / sagging
            low = max(low, shift - most)
            high = min(high, shift + most)
        if par[b + at.M_CURRENT] < at.BIG:
            most = par[b + at.M_KT] * par[b + at.M_CURRENT]
            low = max(low, emf - most)
            high = min(high, emf + most)
    if par[b + at.M_SPEED] < at.BIG:
        if vel >= par[b + at.M_SPEED]:
            high = min(high, 0.0)
        if vel <= -par[b + at.M_SPEED]:
            low = max(low, 0.0)
    if par[b + at.M_HIGH] < at.BIG and pos >= par[b + at.M_HIGH]:
        high = min(high, 0.0)
    if par[b + at.M_LOW] > -at.BIG and pos <= par[b + at.M_LOW]:
        low = max(low, 0.0)
    return low, high


def winding(par, b, heat):
    """Return the resistance and the largest current of a motor at the temperature ``heat`` of its winding."""
    r = par[b + at.M_RESISTANCE]
    most = par[b + at.M_CURRENT]
    if par[b + at.M_THERMAL_RESISTANCE] > 0.0:
        r = r * (1.0 + par[b + at.M_COPPER] * (heat - par[b + at.M_AMBIENT]))
        if heat >= par[b + at.M_HOTTEST]:
            most = 0.0
        elif most < at.BIG and heat > par[b + at.M_DERATING]:
            most = most * (par[b + at.M_HOTTEST] - heat) / (par[b + at.M_HOTTEST] - par[b + at.M_DERATING])
    return r, most


def armature(par, b, vel, current, heat, u, h):
    """Return the current of a motor after a step with the torque command u."""
    r, most = winding(par, b, heat)
    bus = par[b + at.M_SUPPLY]
    emf = par[b + at.M_KB] * vel
    asked = par[b + at.M_RESISTANCE] * u / par[b + at.M_KT]  # the drive knows the cold winding
    coil = par[b + at.M_INDUCTANCE] / h
    kept = coil * current - emf
    r = r + coil
    sagging = r + par[b + at.M_SUPPLY_RESISTANCE]  # at the limit the bus has sagged to what the winding gets
    new = min(max((kept + asked) / r, (kept - bus) / sagging), (kept + bus) / sagging)
    new = min(max(new, -most), most)
    if par[b + at.M_CURRENT_RATE] < at.BIG:
        new = min(max(new, current - h * par[b + at.M_CURRENT_RATE]), current + h * par[b + at.M_CURRENT_RATE])
    return new


def motor_torques(par, b, pos, vel, w, current, heat, u, load, preset, h):
    """Return what acts on a motor in a step with the torque command u: (effort, friction, cogging, damping
    coefficient), and anchor of its friction and current after the step. ``b`` is the base of its block in par, ``heat``
    the temperature of its winding."""
    low, high = torque_limits(par, b, vel)
    u = min(max(u, low), high)
    if par[b + at.M_RESISTANCE] > 0.0:
        current = armature(par, b, vel, current, heat, u, h)
        u = par[b + at.M_KT] * current
    hold = 0.0
    if par[b + at.M_COGGING_PERIODS] > 0.0:
        wave = math.sin(par[b + at.M_COGGING_PERIODS] * pos + par[b + at.M_COGGING_PHASE])
        hold = par[b + at.M_COGGING] * wave
        u = u * (1.0 + par[b + at.M_RIPPLE] * wave)
    f = b + at.M_FRICTION
    w, friction = friction_step(par, f, pos, vel, w, friction_level(par, f, load, preset), h)
    d = par[b + at.M_DAMPING] + par[b + at.M_PRESET_DAMPING] * abs(preset)
    return u, friction, hold, d, w, current


def motor_motion(par, b, pos, vel, torque, h):
    """Return position and velocity of a motor after a step with a torque, within its limits."""
    vel = vel + torque / par[b + at.M_INERTIA] * h
    if par[b + at.M_SPEED] < at.BIG:
        vel = min(max(vel, -par[b + at.M_SPEED]), par[b + at.M_SPEED])
    start = pos
    pos = pos + vel * h
    stop = pos
    if pos < par[b + at.M_LOW] and par[b + at.M_LOW] > -at.BIG:
        stop = par[b + at.M_LOW]
    elif pos > par[b + at.M_HIGH] and par[b + at.M_HIGH] < at.BIG:
        stop = par[b + at.M_HIGH]
    if stop != pos:
        pos = stop
        vel = 0.0
        # A rotor before a gear arrives at its stop in the step, and rests there from the next on.
        if par[b + at.M_GEAR_STIFFNESS] > 0.0:
            vel = (stop - start) / h
    return pos, vel


def heat_step(par, b, heat, current, h):
    """Return the temperature of a motor's winding after a step with a current; implicit in the cooling."""
    r, _ = winding(par, b, heat)
    x = h / par[b + at.M_THERMAL_CAPACITY]
    y = x / par[b + at.M_THERMAL_RESISTANCE]
    return (heat + x * r * current * current + y * par[b + at.M_AMBIENT]) / (1.0 + y)


def pid_step(par, b, integral, ref, pos, vel, ref_rate, low, high, h):
    """Advance one PID; returns (integral, output). ``b`` is the base of its block in par, ``low`` and ``high`` are the
    limits of the output beyond which anti-windup stops the integration."""
    e = ref - pos
    step = par[b + at.C_KI] * e * h
    new = min(max(integral + step, -par[b + at.C_LIMIT]), par[b + at.C_LIMIT])
    rest = par[b + at.C_KP] * e - par[b + at.C_KD] * vel
    if par[b + at.C_FEEDFORWARD] > 0.0:
        rest += par[b + at.C_KD] * ref_rate
    out = new + rest
    if par[b + at.C_ANTI_WINDUP] > 0.0 and ((out > high and step > 0.0) or (out < low and step < 0.0)):
        new = integral
        out = new + rest
    return new, out


def motor_command(par, b, c, integral, ref, pos, vel, ref_rate, h):
    """Advance the PID of a motor; returns (integral, torque command). ``b`` and ``c`` are the bases of the motor's and
    the controller's blocks in par."""
    low = -at.BIG
    high = at.BIG
    if par[c + at.C_ANTI_WINDUP] > 0.0:
        low, high = effective_limits(par, b, pos, vel)
    return pid_step(par, c, integral, ref, pos, vel, ref_rate, low, high, h)
