"""What an actuator shows of its state: the fields of `pliant.laws.fields.OBSERVED` (see `pliant.laws.kernels`)."""
# The law_* names are bound by pliant.laws.compile.
# ruff: noqa: F821
# pyright: reportUndefinedVariable=false

from __future__ import annotations

import math

from pliant.laws.friction_kernels import friction_level, friction_step
from pliant.laws.layout import (
    A_BROKEN,
    A_CURRENT_1,
    A_CURRENT_2,
    A_GEAR_1,
    A_GEAR_2,
    A_LINK,
    A_MOTOR_1,
    A_MOTOR_2,
    A_PLAY,
    A_PLAY_1,
    A_PLAY_2,
    A_PREVIOUS_1,
    A_PREVIOUS_2,
    A_TEMPERATURE_1,
    A_TEMPERATURE_2,
    A_TENDON_1,
    A_TENDON_2,
    A_YIELD,
    BIG,
    C_1,
    C_2,
    M_1,
    M_2,
    M_GEAR_INERTIA,
    M_HIGH,
    M_INERTIA,
    M_LOW,
    M_RESISTANCE,
    M_SPEED,
    M_TENDON,
    O_AT_STOP,
    O_BRANCH_ENERGY,
    O_BRANCH_TORQUE,
    O_BROKEN,
    O_COPPER_POWER,
    O_DAMPING_POWER,
    O_ELASTIC_TORQUE,
    O_ENERGY,
    O_EQUILIBRIUM,
    O_FRICTION_POWER,
    O_GEAR_POWER,
    O_LINK_DAMPING_TORQUE,
    O_LINK_FRICTION_TORQUE,
    O_LINK_LOSS_POWER,
    O_LINK_OFFSET,
    O_LOAD_1,
    O_LOAD_2,
    O_MOTOR_1_EFFORT,
    O_MOTOR_1_FRICTION,
    O_MOTOR_1_OFFSET,
    O_MOTOR_1_OUTPUT_VELOCITY,
    O_MOTOR_1_POSITION,
    O_MOTOR_1_TEMPERATURE,
    O_MOTOR_1_VELOCITY,
    O_MOTOR_2_EFFORT,
    O_MOTOR_2_FRICTION,
    O_MOTOR_2_OFFSET,
    O_MOTOR_2_OUTPUT_VELOCITY,
    O_MOTOR_2_POSITION,
    O_MOTOR_2_TEMPERATURE,
    O_MOTOR_2_VELOCITY,
    O_MOTOR_POWER,
    O_PLASTIC,
    O_PRESET,
    O_REPORTED_STIFFNESS,
    O_STIFFNESS,
    O_STORED_ENERGY,
    O_TENDON_ENERGY,
    O_TORQUE,
    OBSERVATIONS,
    P_BLOCKS,
    P_LINK_DAMPING,
    P_LINK_FRICTION,
    P_MODE,
    P_SECOND,
)
from pliant.laws.motor_kernels import motor_command, motor_motion, motor_torques, pid_step, winding
from pliant.laws.reference_kernels import effective_references, preset_of
from pliant.laws.spring_kernels import (
    at,
    branches,
    deflection,
    ends,
    gear_torque,
    motor_offset,
    outputs,
    spring_torques,
    tendon_force,
)


def observe_motor(par, b, c, place, cur, hot, prev, gear, mode, ref, load, preset, h, act, out, o, x, t, v):
    """Write one motor's position, velocity, effort at out[o..o+2], its temperature at out[t], the velocity after its
    gear at out[v]; friction, damping, and the torques of its speed limit, its stops and its cogging against the motion
    at out[x..x+4]; add its powers in, of friction, damping and copper; returns its stored energy.

    ``b`` and ``c`` are the bases of its block and its controller's in par; ``place``, ``cur``, ``hot``, ``prev`` and
    ``gear`` where par has the places of its states, current, temperature, last reference and the output of its gear.
    The energy of an elastic gear is that at the time of the velocities, half a step before the positions."""
    a = int(par[place])
    cur = int(par[cur])
    hot = int(par[hot])
    prev = int(par[prev])
    gear = int(par[gear])
    pos = act[a]
    vel = act[a + 1]
    stored = 0.5 * par[b + M_INERTIA] * vel * vel
    out[v] = vel
    slip = 0.0
    lost = 0.0
    of_gear = 0.0
    if gear >= 0:
        out[v] = act[gear + 1]
        slip = vel - act[gear + 1]
        elastic, lost = gear_torque(par, b, pos - act[gear], slip, h)
        stored += 0.5 * par[b + M_GEAR_INERTIA] * act[gear + 1] * act[gear + 1]
        stored += 0.5 * elastic * (pos - act[gear] - h * slip)
        of_gear = (elastic + lost - load) / par[b + M_GEAR_INERTIA]
        load = elastic + lost
    u = ref
    if mode >= 5:
        ref_rate = (ref - act[prev]) / h if prev >= 0 else 0.0
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
        out[t] = heat
    after = 0.0
    limits = par[b + M_SPEED] < BIG or par[b + M_LOW] > -BIG or par[b + M_HIGH] < BIG
    if limits or gear >= 0:
        _, after = motor_motion(par, b, pos, vel, torque, h)
    if limits:
        free = vel + torque / par[b + M_INERTIA] * h
        limited = free
        if par[b + M_SPEED] < BIG:
            limited = min(max(free, -par[b + M_SPEED]), par[b + M_SPEED])
        out[x + 2] = par[b + M_INERTIA] / h * (free - limited)
        out[x + 3] = par[b + M_INERTIA] / h * (limited - after)
    if gear >= 0:
        out[O_GEAR_POWER] += lost * (slip + 0.5 * (after - vel - h * of_gear))
    if par[b + M_RESISTANCE] > 0.0:
        r, _ = winding(par, b, heat)
        out[O_COPPER_POWER] += r * current * current
    out[O_MOTOR_POWER] += effort * vel
    out[O_FRICTION_POWER] += friction * vel
    out[O_DAMPING_POWER] += d * vel * vel
    if pos <= par[b + M_LOW] or pos >= par[b + M_HIGH]:
        out[O_AT_STOP] = 1.0
    return stored


def observe_blocks(par, x, x1, x2, act, out):
    """Write what the blocks of a spring with these ends store and how far they are displaced."""
    out[O_LINK_OFFSET] = at(par, A_PLAY, act)
    out[O_PLASTIC] = at(par, A_YIELD, act)
    out[O_MOTOR_1_OFFSET] = motor_offset(par, A_PLAY_1, A_TENDON_1, act)
    out[O_MOTOR_2_OFFSET] = motor_offset(par, A_PLAY_2, A_TENDON_2, act)
    out[O_BROKEN] = at(par, A_BROKEN, act)
    if out[O_BROKEN] == 0.0:
        torque, _, energy = branches(par, deflection(par, x, x1, x2), act)
        out[O_BRANCH_TORQUE] = torque
        out[O_BRANCH_ENERGY] = energy
    if par[A_TENDON_1] >= 0.0:
        stretch = at(par, A_TENDON_1, act)
        _, _, energy = tendon_force(par, M_1 + M_TENDON, stretch, stretch)
        out[O_TENDON_ENERGY] += energy
    if par[A_TENDON_2] >= 0.0:
        stretch = at(par, A_TENDON_2, act)
        _, _, energy = tendon_force(par, M_2 + M_TENDON, stretch, stretch)
        out[O_TENDON_ENERGY] += energy


def observe(par, q, dq, r1, r2, h, act, full, out):
    """Write the fields of `fields.OBSERVED` for the present state (act, not the step's result).

    Without ``full`` (0) the stiffness is left out, which no balance of energy needs: it is 0.
    """
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
        if par[P_BLOCKS] > 0.0:
            observe_blocks(par, x, x1, x2, act, out)
        out[O_ELASTIC_TORQUE] = torque
        out[O_TORQUE] = torque
        out[O_LOAD_1] = load_1
        out[O_LOAD_2] = load_2
        if out[O_BROKEN] == 0.0:
            out[O_ENERGY] = energy
            out[O_STIFFNESS] = stiffness
            out[O_REPORTED_STIFFNESS] = reported
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
        stored = out[O_ENERGY] + out[O_BRANCH_ENERGY] + out[O_TENDON_ENERGY]
        if mode >= 4:
            stored += observe_motor(
                par, M_1, C_1, A_MOTOR_1, A_CURRENT_1, A_TEMPERATURE_1, A_PREVIOUS_1, A_GEAR_1, mode, ref_1, load_1,
                preset, h, act, out, O_MOTOR_1_POSITION, O_MOTOR_1_FRICTION, O_MOTOR_1_TEMPERATURE,
                O_MOTOR_1_OUTPUT_VELOCITY,
            )  # fmt: skip
            if par[A_MOTOR_2] >= 0.0:
                stored += observe_motor(
                    par, M_2, C_2, A_MOTOR_2, A_CURRENT_2, A_TEMPERATURE_2, A_PREVIOUS_2, A_GEAR_2, mode, ref_2, load_2,
                    preset, h, act, out, O_MOTOR_2_POSITION, O_MOTOR_2_FRICTION, O_MOTOR_2_TEMPERATURE,
                    O_MOTOR_2_OUTPUT_VELOCITY,
                )  # fmt: skip
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
