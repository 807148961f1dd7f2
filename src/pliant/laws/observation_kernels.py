"""Observed quantities of an actuator: the fields of `pliant.laws.fields.OBSERVED` (see `pliant.laws.kernels`)."""
# The law_* names are bound by pliant.laws.compile.
# ruff: noqa: F821
# pyright: reportUndefinedVariable=false

from __future__ import annotations

import math

from pliant.laws import layout as at
from pliant.laws.friction_kernels import friction_level, friction_step
from pliant.laws.motor_kernels import motor_command, motor_motion, motor_torques, pid_step, winding
from pliant.laws.reference_kernels import effective_references, preset_of
from pliant.laws.spring_kernels import (
    branches,
    deflection,
    ends,
    gear_torque,
    motor_offset,
    outputs,
    spring_torques,
    state_at,
    tendon_force,
)

ROUNDING = 1.0e-12
"""Relative difference of a reference and that of the step before at which they are the same."""


def reference_rate(par, k, ref, h, act, full):
    """Return the rate of reference ``k``, 0 or 1, that a feed-forward takes: after a step (``full`` of 1) that of the
    step, whose reference is still there, otherwise that of the step to come."""
    previous = int(par[at.A_PREVIOUS_1 + k])
    if previous < 0:
        return 0.0
    change = ref - act[previous]
    kept = int(par[at.A_RATES])
    if full == 1.0 and kept > 0 and abs(change) <= ROUNDING * max(1.0, abs(ref)):
        return act[kept + k]
    return change / h


def observe_motor(par, k, mode, ref, load, preset, h, act, full, out):
    """Write the fields of motor ``k``, 0 or 1, and add its powers in, of friction, damping and copper; returns its
    stored energy.

    The energy of an elastic gear is that at the time of the velocities, half a step before the positions."""
    b = at.M_1 + k * at.M_STRIDE
    c = at.C_1 + k * at.C_PARAMETERS
    a = int(par[at.A_MOTOR_1 + k])
    cur = int(par[at.A_CURRENT_1 + k])
    hot = int(par[at.A_TEMPERATURE_1 + k])
    gear = int(par[at.A_GEAR_1 + k])
    o = at.O_MOTOR_1_POSITION + k * at.O_MOTION_STRIDE  # position, velocity, effort
    x = at.O_MOTOR_1_FRICTION + k * at.O_LOSS_STRIDE  # friction, damping, speed limit, stop, cogging
    v = at.O_MOTOR_1_OUTPUT_VELOCITY + k
    pos = act[a]
    vel = act[a + 1]
    stored = 0.5 * par[b + at.M_INERTIA] * vel * vel
    out[v] = vel
    slip = 0.0
    lost = 0.0
    of_gear = 0.0
    if gear >= 0:
        out[v] = act[gear + 1]
        slip = vel - act[gear + 1]
        elastic, lost = gear_torque(par, b, pos - act[gear], slip, h)
        stored += 0.5 * par[b + at.M_GEAR_INERTIA] * act[gear + 1] * act[gear + 1]
        stored += 0.5 * elastic * (pos - act[gear] - h * slip)
        of_gear = (elastic + lost - load) / par[b + at.M_GEAR_INERTIA]
        load = elastic + lost
    u = ref
    if mode >= 5:
        ref_rate = reference_rate(par, k, ref, h, act, full)
        _, u = motor_command(par, b, c, act[a + 3], ref, pos, vel, ref_rate, h)
    current = act[cur] if cur >= 0 else 0.0
    heat = act[hot] if hot >= 0 else 0.0
    effort, friction, hold, d, _, current = motor_torques(
        par, b, pos, vel, act[a + 2], current, heat, u, load, preset, h
    )
    torque = effort - load - friction - hold - d * vel
    out[o] = pos
    out[o + 1] = vel
    out[o + 2] = effort
    out[x] = friction
    out[x + 1] = d * vel
    out[x + 4] = hold
    if hot >= 0:
        out[at.O_MOTOR_1_TEMPERATURE + k] = heat
    after = 0.0
    limits = par[b + at.M_SPEED] < at.BIG or par[b + at.M_LOW] > -at.BIG or par[b + at.M_HIGH] < at.BIG
    if limits or gear >= 0:
        _, after = motor_motion(par, b, pos, vel, torque, h)
    if limits:
        free = vel + torque / par[b + at.M_INERTIA] * h
        limited = free
        if par[b + at.M_SPEED] < at.BIG:
            limited = min(max(free, -par[b + at.M_SPEED]), par[b + at.M_SPEED])
        out[x + 2] = par[b + at.M_INERTIA] / h * (free - limited)
        out[x + 3] = par[b + at.M_INERTIA] / h * (limited - after)
    if gear >= 0:
        out[at.O_GEAR_POWER] += lost * (slip + 0.5 * (after - vel - h * of_gear))
    if par[b + at.M_RESISTANCE] > 0.0:
        r, _ = winding(par, b, heat)
        out[at.O_COPPER_POWER] += r * current * current
    out[at.O_MOTOR_POWER] += effort * vel
    out[at.O_FRICTION_POWER] += friction * vel
    out[at.O_DAMPING_POWER] += d * vel * vel
    if pos <= par[b + at.M_LOW] or pos >= par[b + at.M_HIGH]:
        out[at.O_AT_STOP] = 1.0
    return stored


def observe_blocks(par, x, x1, x2, act, out):
    """Write what the blocks of a spring with these ends store and how far they are displaced."""
    out[at.O_LINK_OFFSET] = state_at(par, at.A_PLAY, act)
    out[at.O_PLASTIC] = state_at(par, at.A_YIELD, act)
    out[at.O_MOTOR_1_OFFSET] = motor_offset(par, 0, act)
    out[at.O_MOTOR_2_OFFSET] = motor_offset(par, 1, act)
    out[at.O_BROKEN] = state_at(par, at.A_BROKEN, act)
    if out[at.O_BROKEN] == 0.0:
        torque, _, energy = branches(par, deflection(par, x, x1, x2), act)
        out[at.O_BRANCH_TORQUE] = torque
        out[at.O_BRANCH_ENERGY] = energy
    for k in range(2):
        if par[at.A_TENDON_1 + k] >= 0.0:
            stretch = state_at(par, at.A_TENDON_1 + k, act)
            _, _, energy = tendon_force(par, at.M_1 + k * at.M_STRIDE + at.M_TENDON, stretch, stretch)
            out[at.O_TENDON_ENERGY] += energy


def observe_link(par, q, dq, load, preset, h, act, out):
    """Write friction and damping of the link under a load, and take them from the torque on the link."""
    s = int(par[at.A_LINK])
    if s >= 0:
        level = friction_level(par, at.P_LINK_FRICTION, load, preset)
        _, friction = friction_step(par, at.P_LINK_FRICTION, q, dq, act[s], level, h)
        out[at.O_LINK_FRICTION_TORQUE] = friction
        out[at.O_TORQUE] -= friction
        out[at.O_LINK_LOSS_POWER] += friction * dq
    d = par[at.P_LINK_DAMPING] + par[at.P_LINK_DAMPING + 1] * abs(preset)
    out[at.O_TORQUE] -= d * dq
    out[at.O_LINK_DAMPING_TORQUE] = d * dq
    out[at.O_LINK_LOSS_POWER] += d * dq * dq


def observe(par, q, dq, r1, r2, h, act, full, out):
    """Write the fields of `fields.OBSERVED` for the present state (act, not the step's result).

    Without ``full`` (0) the stiffness is left out, which no balance of energy needs: it is 0. It is 1 after a step and
    2 before one.
    """
    mode = int(par[at.P_MODE])
    for k in range(at.OBSERVATIONS):
        out[k] = 0.0
    r1, r2 = effective_references(par, r1, r2, h, act)
    nan = math.nan
    out[at.O_MOTOR_1_TEMPERATURE] = nan
    out[at.O_MOTOR_2_TEMPERATURE] = nan
    stored = 0.0
    load = 0.0
    preset = 0.0
    if mode < 2:
        torque = r1
        if mode == 1:
            ref_rate = reference_rate(par, 0, r1, h, act, full)
            _, torque = pid_step(par, at.C_1, act[int(par[at.A_MOTOR_1])], r1, q, dq, ref_rate, -at.BIG, at.BIG, h)
        out[at.O_TORQUE] = torque
        out[at.O_ELASTIC_TORQUE] = nan
        out[at.O_LOAD_1] = nan
        out[at.O_LOAD_2] = nan
        out[at.O_STIFFNESS] = nan
        out[at.O_REPORTED_STIFFNESS] = nan
        out[at.O_ENERGY] = nan
        out[at.O_MOTOR_1_POSITION] = nan
        out[at.O_MOTOR_1_VELOCITY] = nan
        out[at.O_MOTOR_1_EFFORT] = nan
        out[at.O_MOTOR_2_POSITION] = nan
        out[at.O_MOTOR_2_VELOCITY] = nan
        out[at.O_MOTOR_2_EFFORT] = nan
        out[at.O_EQUILIBRIUM] = nan
        out[at.O_PRESET] = nan
        out[at.O_MOTOR_POWER] = torque * dq
    else:
        ref_1 = r1
        ref_2 = r2
        if mode == 3 or mode == 6:
            ref_1, ref_2 = law_references(r1, r2, par)
        if mode < 4:
            th1 = ref_1
            th2 = ref_2
        else:
            th1, th2 = outputs(par, act)
        x, x1, x2 = ends(par, q, th1, th2, act)
        torque, load_1, load_2 = spring_torques(par, x, x1, x2, act)
        # Before anything is written: the machine code takes what the torques and these have in common once.
        energy = law_energy(x, x1, x2, par)
        stiffness = 0.0
        reported = 0.0
        if full > 0.0:
            stiffness = law_stiffness(x, x1, x2, par)
            reported = law_reported_stiffness(x, x1, x2, par)
        load = torque
        preset = preset_of(par, th1, th2)
        if par[at.P_BLOCKS] > 0.0:
            observe_blocks(par, x, x1, x2, act, out)
        out[at.O_ELASTIC_TORQUE] = torque
        out[at.O_TORQUE] = torque
        out[at.O_LOAD_1] = load_1
        out[at.O_LOAD_2] = load_2
        if out[at.O_BROKEN] == 0.0:
            out[at.O_ENERGY] = energy
            out[at.O_STIFFNESS] = stiffness
            out[at.O_REPORTED_STIFFNESS] = reported
        out[at.O_MOTOR_1_POSITION] = th1
        out[at.O_MOTOR_1_EFFORT] = nan
        out[at.O_MOTOR_2_POSITION] = th2
        out[at.O_MOTOR_2_EFFORT] = nan
        out[at.O_EQUILIBRIUM] = 0.5 * (th1 + th2) if par[at.P_SECOND] == 1.0 else th1
        out[at.O_PRESET] = preset
        if par[at.P_SECOND] == 0.0:
            out[at.O_MOTOR_2_POSITION] = nan
            out[at.O_MOTOR_2_VELOCITY] = nan
            out[at.O_PRESET] = nan
        stored = out[at.O_ENERGY] + out[at.O_BRANCH_ENERGY] + out[at.O_TENDON_ENERGY]
        if mode >= 4:
            stored += observe_motor(par, 0, mode, ref_1, load_1, preset, h, act, full, out)
            if par[at.A_MOTOR_2] >= 0.0:
                stored += observe_motor(par, 1, mode, ref_2, load_2, preset, h, act, full, out)
    observe_link(par, q, dq, load, preset, h, act, out)
    out[at.O_STORED_ENERGY] = stored
