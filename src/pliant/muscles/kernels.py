"""The step of an actuator whose law has pressures as inputs: two chambers with a valve each in place of motors.

Scalar functions, as `pliant.laws.kernels`, whose arguments they have; modes 0 and 1 are those of any actuator. In modes
2 and 3 the references are the pressures, ideally. In modes 4 to 6 the state of muscle i is the content of its chamber
and the opening of its valve (`pliant.muscles.drive`). The torque of a step is that of the contents at its beginning.
"""
# The law_* names are bound by pliant.laws.compile.
# ruff: noqa: F821
# pyright: reportUndefinedVariable=false

from __future__ import annotations

import math

from pliant.laws import layout as at
from pliant.laws.friction_kernels import friction_level, friction_step
from pliant.laws.kernels import advance as joint_advance
from pliant.laws.kernels import hold as joint_hold
from pliant.laws.kernels import less_link_losses
from pliant.laws.kernels import link_torque as joint_link_torque
from pliant.laws.motor_kernels import pid_step
from pliant.laws.observation_kernels import observe as joint_observe
from pliant.laws.observation_kernels import observe_link
from pliant.laws.reference_kernels import advance_references, effective_references, rest_references

# Inside the block of a motor in the parameter vector: valve and air of a muscle.
N_SUPPLY = 0  # absolute pressures
N_AMBIENT = 1
N_FLOW = 2  # conductance times the reference pressure
N_CRITICAL = 3
N_LAG = 4
N_DEAD = 5
N_EXPONENT = 6

# Inside the state of a motor: content of the chamber, opening of its valve.
S_CONTENT = 0
S_OPENING = 1

LAMINAR = 0.999
"""Ratio of the pressures above which the flow is linear in their difference (ISO 6358 has 0.999 to 0.995 in use)."""
THIN = 1.0e-6
"""Smallest ratio of the content of a chamber to its volume; the air of real muscles is above 0.1."""


def valve_flow(par, b, upstream, downstream):
    """Return R T m' of the open valve [W] from a pressure to a lower one; ``b`` is the base of its block in par."""
    critical = par[b + N_CRITICAL]
    ratio = downstream / upstream
    if ratio <= critical:
        share = 1.0
    else:
        x = (min(ratio, LAMINAR) - critical) / (1.0 - critical)
        share = math.sqrt(1.0 - x * x)
        if ratio > LAMINAR:
            share = share * (1.0 - ratio) / (1.0 - LAMINAR)
    return par[b + N_FLOW] * upstream * share


def gas_pressure(par, b, content, volume):
    """Return the absolute pressure of the air in a chamber."""
    return par[b + N_AMBIENT] * math.pow(max(content / volume, THIN), par[b + N_EXPONENT])


def gas_energy(par, b, content, volume):
    """Return the work that the air in a chamber can do against the ambient air."""
    n = par[b + N_EXPONENT]
    y = max(content / volume, THIN)
    if n - 1.0 < 1.0e-6:
        inner = y * math.log(y)
    else:
        inner = (math.pow(y, n) - y) / (n - 1.0)
    return par[b + N_AMBIENT] * volume * (inner - (y - 1.0))


def flow_energy(par, b, pressure):
    """Return the work that air of a pressure can do, per R T and mass."""
    n = par[b + N_EXPONENT]
    m = (n - 1.0) / n
    x = math.log(pressure / par[b + N_AMBIENT])
    if m < 1.0e-6:
        return x
    return (1.0 - math.exp(-m * x)) / m


def content_step(par, b, content, volume, opening, h):
    """Return the content of a chamber after a step with an opening of its valve. The pressure does not pass that on
    the other side of the valve in a step."""
    n = par[b + N_EXPONENT]
    y = max(content / volume, THIN)
    pressure = par[b + N_AMBIENT] * math.pow(y, n)
    other = par[b + N_AMBIENT]
    if opening > 0.0:
        other = par[b + N_SUPPLY]
    equal = volume * math.pow(other / par[b + N_AMBIENT], 1.0 / n)
    scale = h * abs(opening) / (par[b + N_AMBIENT] * math.pow(y, n - 1.0))
    if other > pressure:
        return min(content + scale * valve_flow(par, b, other, pressure), max(equal, content))
    return max(content - scale * valve_flow(par, b, pressure, other), min(equal, content))


def chamber_step(par, k, mode, ref, volume, h, act):
    """Advance the chamber of muscle ``k``, 0 or 1; returns (content, opening, integral)."""
    b = at.M_1 + k * at.M_STRIDE
    a = int(par[at.A_MOTOR_1 + k])
    integral = act[a + at.S_INTEGRAL]
    u = ref
    if mode >= 5:
        ref = min(max(ref, 0.0), par[b + N_SUPPLY] - par[b + N_AMBIENT])
        gauge = gas_pressure(par, b, act[a + S_CONTENT], volume) - par[b + N_AMBIENT]
        c = at.C_1 + k * at.C_PARAMETERS
        integral, u = pid_step(par, c, integral, ref, gauge, 0.0, 0.0, -1.0, 1.0, h)
    u = min(max(u, -1.0), 1.0)
    opening = u
    if par[b + N_LAG] > 0.0:
        x = h / par[b + N_LAG]
        opening = (act[a + S_OPENING] + x * u) / (1.0 + x)
    return content_step(par, b, act[a + S_CONTENT], volume, opening, h), opening, integral


def volumes(par, q):
    """Return the volumes of both chambers, with their tubes, at an angle of the link."""
    _, load_1, load_2 = law_torques(q, 0.0, 0.0, par)
    return max(-load_1, 0.0) + par[at.M_1 + N_DEAD], max(-load_2, 0.0) + par[at.M_2 + N_DEAD]


def supplied(par, b, pressure):
    """Return a gauge pressure that the supply can give."""
    return min(max(pressure, 0.0), par[b + N_SUPPLY] - par[b + N_AMBIENT])


def pressures(par, q, r1, r2, act):
    """Return the gauge pressures of both muscles (r1, r2: effective references)."""
    mode = int(par[at.P_MODE])
    if mode >= 4:
        v1, v2 = volumes(par, q)
        p1 = gas_pressure(par, at.M_1, act[int(par[at.A_MOTOR_1]) + S_CONTENT], v1) - par[at.M_1 + N_AMBIENT]
        p2 = gas_pressure(par, at.M_2, act[int(par[at.A_MOTOR_2]) + S_CONTENT], v2) - par[at.M_2 + N_AMBIENT]
        return p1, p2
    if mode == 3:
        r1, r2 = law_references(r1, r2, par)
    return supplied(par, at.M_1, r1), supplied(par, at.M_2, r2)


def write_chamber(par, k, mode, ref, volume, h, act, rate):
    """Write the rates of the states of the chamber of muscle ``k``, 0 or 1."""
    a = int(par[at.A_MOTOR_1 + k])
    content, opening, integral = chamber_step(par, k, mode, ref, volume, h, act)
    rate[a + S_CONTENT] = (content - act[a + S_CONTENT]) / h
    rate[a + S_OPENING] = (opening - act[a + S_OPENING]) / h
    rate[a + 2] = 0.0
    rate[a + at.S_INTEGRAL] = (integral - act[a + at.S_INTEGRAL]) / h


def advance(par, q, dq, r1, r2, h, act, rate):
    """Advance the actuator's state by one step: write ``rate`` so that next = act + h * rate."""
    mode = int(par[at.P_MODE])
    if mode < 2:
        joint_advance(par, q, dq, r1, r2, h, act, rate)
    else:
        advance_references(par, r1, r2, h, act, rate)
        r1, r2 = effective_references(par, r1, r2, h, act)
        s = int(par[at.A_LINK])
        if s >= 0:
            p1, p2 = pressures(par, q, r1, r2, act)
            torque, _, _ = law_torques(q, p1, p2, par)
            level = friction_level(par, at.P_LINK_FRICTION, torque, 0.5 * (p1 + p2))
            w, _ = friction_step(par, at.P_LINK_FRICTION, q, dq, act[s], level, h)
            rate[s] = (w - act[s]) / h
        if mode >= 4:
            if mode == 6:
                r1, r2 = law_references(r1, r2, par)
            v1, v2 = volumes(par, q)
            write_chamber(par, 0, mode, r1, v1, h, act, rate)
            write_chamber(par, 1, mode, r2, v2, h, act, rate)


def link_torque(par, q, dq, r1, r2, h, act, rate):
    """Return the torque of the actuator on the link in this step, friction and damping of the link included."""
    mode = int(par[at.P_MODE])
    if mode < 2:
        return joint_link_torque(par, q, dq, r1, r2, h, act, rate)
    r1, r2 = effective_references(par, r1, r2, h, act)
    p1, p2 = pressures(par, q, r1, r2, act)
    torque, _, _ = law_torques(q, p1, p2, par)
    return less_link_losses(par, torque, q, dq, 0.5 * (p1 + p2), h, act, rate)


def balance_angle(par, q, p1, p2):
    """Return the angle at which two pressures give no torque, near q; q itself where they give no stiffness.

    The torque is quadratic in the angle, so that a few steps of Newton's method are exact."""
    x = q
    for _ in range(6):
        torque, _, _ = law_torques(x, p1, p2, par)
        slope = law_stiffness(x, p1, p2, par)
        if slope > 1.0e-9:
            x = x + min(max(torque / slope, -0.5), 0.5)
    return x


def observe_chamber(par, k, mode, ref, volume, ahead, h, act, out):
    """Write opening of the valve of muscle ``k``, 0 or 1, and powers of its air, with the volume now and that half a
    step ahead; returns the energy of the air."""
    b = at.M_1 + k * at.M_STRIDE
    o = at.O_MOTOR_1_POSITION + k * at.O_MOTION_STRIDE
    content = act[int(par[at.A_MOTOR_1 + k]) + S_CONTENT]
    new, opening, _ = chamber_step(par, k, mode, ref, volume, h, act)
    out[o + 1] = math.nan
    out[o + 2] = opening
    gained = (gas_energy(par, b, new, ahead) - gas_energy(par, b, content, ahead)) / h
    paid = 0.0
    if opening > 0.0:
        y = max(content / volume, THIN)
        flow = par[b + N_AMBIENT] * math.pow(y, par[b + N_EXPONENT] - 1.0) * (new - content) / h
        paid = flow * flow_energy(par, b, par[b + N_SUPPLY])
    out[at.O_MOTOR_POWER] += paid
    out[at.O_SUPPLY_POWER] += paid
    out[at.O_VALVE_POWER] += paid - gained
    return gas_energy(par, b, content, volume)


def observe(par, q, dq, r1, r2, h, act, full, out):
    """Write the fields of `fields.OBSERVED` for the present state (act, not the step's result); without ``full`` (0)
    no stiffness and no angle of balance."""
    mode = int(par[at.P_MODE])
    if mode < 2:
        joint_observe(par, q, dq, r1, r2, h, act, full, out)
    else:
        for k in range(at.OBSERVATIONS):
            out[k] = 0.0
        r1, r2 = effective_references(par, r1, r2, h, act)
        p1, p2 = pressures(par, q, r1, r2, act)
        torque, load_1, load_2 = law_torques(q, p1, p2, par)
        out[at.O_MOTOR_1_TEMPERATURE] = math.nan
        out[at.O_MOTOR_2_TEMPERATURE] = math.nan
        out[at.O_ELASTIC_TORQUE] = torque
        out[at.O_TORQUE] = torque
        out[at.O_LOAD_1] = load_1
        out[at.O_LOAD_2] = load_2
        if full > 0.0:
            out[at.O_STIFFNESS] = law_stiffness(q, p1, p2, par)
            out[at.O_REPORTED_STIFFNESS] = law_reported_stiffness(q, p1, p2, par)
            out[at.O_EQUILIBRIUM] = balance_angle(par, q, p1, p2)
        out[at.O_MOTOR_1_POSITION] = p1
        out[at.O_MOTOR_2_POSITION] = p2
        out[at.O_PRESET] = 0.5 * (p1 + p2)
        if mode < 4:
            out[at.O_MOTOR_1_EFFORT] = math.nan
            out[at.O_MOTOR_2_EFFORT] = math.nan
            out[at.O_ENERGY] = law_energy(q, p1, p2, par)
        else:
            if mode == 6:
                r1, r2 = law_references(r1, r2, par)
            v1, v2 = volumes(par, q)
            w1, w2 = volumes(par, q + 0.5 * h * dq)
            energy = observe_chamber(par, 0, mode, r1, v1, w1, h, act, out)
            energy += observe_chamber(par, 1, mode, r2, v2, w2, h, act, out)
            out[at.O_ENERGY] = energy + law_energy(q, 0.0, 0.0, par)
        out[at.O_STORED_ENERGY] = out[at.O_ENERGY]
        observe_link(par, q, dq, torque, out[at.O_PRESET], h, act, out)
        if (
            p1 >= par[at.M_1 + N_SUPPLY] - par[at.M_1 + N_AMBIENT]
            or p2 >= par[at.M_2 + N_SUPPLY] - par[at.M_2 + N_AMBIENT]
        ):
            out[at.O_AT_STOP] = 1.0


def hold(par, q, preset, act):
    """Write the state of an actuator at rest at link angle q; returns the references that keep it there.

    Mode 4: closed valves. Mode 2, 5: the pressures of the present angle and preset. Mode 3, 6: angle and preset.
    """
    mode = int(par[at.P_MODE])
    if mode < 2:
        return joint_hold(par, q, preset, act)
    p1, p2 = law_references(q, preset, par)
    p1 = supplied(par, at.M_1, p1)
    p2 = supplied(par, at.M_2, p2)
    ref_1 = q
    ref_2 = preset
    if mode == 2 or mode == 5:
        ref_1 = p1
        ref_2 = p2
    elif mode == 4:
        ref_1 = 0.0
        ref_2 = 0.0
    for k in range(int(par[at.P_STATES])):
        act[k] = 0.0
    if mode >= 4:
        v1, v2 = volumes(par, q)
        x1 = math.pow(1.0 + p1 / par[at.M_1 + N_AMBIENT], 1.0 / par[at.M_1 + N_EXPONENT])
        x2 = math.pow(1.0 + p2 / par[at.M_2 + N_AMBIENT], 1.0 / par[at.M_2 + N_EXPONENT])
        act[int(par[at.A_MOTOR_1]) + S_CONTENT] = v1 * x1
        act[int(par[at.A_MOTOR_2]) + S_CONTENT] = v2 * x2
    if par[at.A_LINK] >= 0.0:
        act[int(par[at.A_LINK])] = q
    rest_references(par, ref_1, ref_2, act)
    return ref_1, ref_2
