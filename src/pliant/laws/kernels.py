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

from pliant.laws import layout as at
from pliant.laws.friction_kernels import bristle_torque, friction_level, friction_step
from pliant.laws.motor_kernels import heat_step, motor_command, motor_motion, motor_torques, pid_step
from pliant.laws.observation_kernels import observe as observe  # a kernel of the step, as those below
from pliant.laws.reference_kernels import advance_references, effective_references, preset_of, rest_references
from pliant.laws.spring_kernels import (
    advance_spring,
    ends,
    gear_torque,
    outputs,
    rest_spring,
    spring_torques,
    torque_ahead,
)


def feedforward_rate(par, k, ref, per, act, rate):
    """Return the rate of reference ``k``, 0 or 1, in this step, and write that of the states that keep it."""
    previous = int(par[at.A_PREVIOUS_1 + k])
    kept = int(par[at.A_RATES])
    found = (ref - act[previous]) * per
    rate[previous] = found
    if kept > 0:
        rate[kept + k] = (found - act[kept + k]) * per
    return found


def advance_motor(par, k, mode, ref, load, preset, h, act, rate):
    """Write the rates of the states of motor ``k``, 0 or 1."""
    per = 1.0 / h
    b = at.M_1 + k * at.M_STRIDE
    c = at.C_1 + k * at.C_PARAMETERS
    a = int(par[at.A_MOTOR_1 + k])
    cur = int(par[at.A_CURRENT_1 + k])
    hot = int(par[at.A_TEMPERATURE_1 + k])
    prev = int(par[at.A_PREVIOUS_1 + k])
    gear = int(par[at.A_GEAR_1 + k])
    pos = act[a]
    vel = act[a + 1]
    if gear >= 0:
        elastic, damping = gear_torque(par, b, pos - act[gear], vel - act[gear + 1], h)
        rate[gear + 1] = (elastic + damping - load) / par[b + at.M_GEAR_INERTIA]
        rate[gear] = act[gear + 1] + h * rate[gear + 1]
        load = elastic + damping
    u = ref
    integral = act[a + 3]
    if mode >= 5:
        ref_rate = 0.0
        if prev >= 0:
            ref_rate = feedforward_rate(par, k, ref, per, act, rate)
        integral, u = motor_command(par, b, c, act[a + 3], ref, pos, vel, ref_rate, h)
    current = act[cur] if cur >= 0 else 0.0
    heat = act[hot] if hot >= 0 else 0.0
    effort, friction, hold, d, w, new = motor_torques(par, b, pos, vel, act[a + 2], current, heat, u, load, preset, h)
    new_pos, new_vel = motor_motion(par, b, pos, vel, effort - load - friction - hold - d * vel, h)
    if cur >= 0:
        rate[cur] = (new - current) * per
    if hot >= 0:
        rate[hot] = (heat_step(par, b, heat, new, h) - heat) * per
    rate[a] = (new_pos - pos) * per
    rate[a + 1] = (new_vel - vel) * per
    rate[a + 2] = (w - act[a + 2]) * per
    rate[a + 3] = (integral - act[a + 3]) * per


def advance(par, q, dq, r1, r2, h, act, rate):
    """Advance the actuator's state by one step: write ``rate`` so that next = act + h * rate."""
    mode = int(par[at.P_MODE])
    per = 1.0 / h
    advance_references(par, r1, r2, h, act, rate)
    r1, r2 = effective_references(par, r1, r2, h, act)
    if mode == 1:
        a = int(par[at.A_MOTOR_1])
        ref_rate = 0.0
        k = int(par[at.A_PREVIOUS_1])
        if k >= 0:
            ref_rate = feedforward_rate(par, 0, r1, per, act, rate)
        new, _ = pid_step(par, at.C_1, act[a], r1, q, dq, ref_rate, -at.BIG, at.BIG, h)
        rate[a] = (new - act[a]) * per
    elif mode >= 4 or (mode >= 2 and par[at.P_BLOCKS] > 0.0):
        th1 = r1
        th2 = r2
        if mode == 3 or mode == 6:
            th1, th2 = law_references(r1, r2, par)
        if mode == 6:
            r1 = th1
            r2 = th2
        if mode >= 4:
            th1, th2 = outputs(par, act)
        x, x1, x2 = ends(par, q, th1, th2, act)
        torque, load_1, load_2 = spring_torques(par, x, x1, x2, act)
        if mode >= 4:
            preset = preset_of(par, th1, th2)
            advance_motor(par, 0, mode, r1, load_1, preset, h, act, rate)
            if par[at.A_MOTOR_2] >= 0.0:
                advance_motor(par, 1, mode, r2, load_2, preset, h, act, rate)
        if par[at.P_BLOCKS] > 0.0:
            advance_spring(par, x, x1, x2, torque, load_1, load_2, h, act, rate)

    s = int(par[at.A_LINK])
    if s >= 0:
        load = 0.0
        preset = 0.0
        if mode >= 2:
            th1, th2 = motor_positions(par, r1, r2, h, act, rate)
            preset = preset_of(par, th1, th2)
            if par[at.P_LINK_FRICTION + at.F_LOAD] > 0.0:
                load = torque_ahead(par, q, th1, th2, h, act, rate)
        level = friction_level(par, at.P_LINK_FRICTION, load, preset)
        w, _ = friction_step(par, at.P_LINK_FRICTION, q, dq, act[s], level, h)
        rate[s] = (w - act[s]) * per


def motor_positions(par, r1, r2, h, act, rate):
    """Return the motor positions that the spring sees in this step (r1, r2: effective references)."""
    mode = int(par[at.P_MODE])
    if mode == 3:
        return law_references(r1, r2, par)
    if mode == 2:
        return r1, r2
    th1, th2 = outputs(par, act)
    if mode != 4:
        a = int(par[at.A_MOTOR_1])
        b = int(par[at.A_MOTOR_2])
        if par[at.P_BLOCKS] > 0.0:
            if par[at.A_GEAR_1] >= 0.0:
                a = int(par[at.A_GEAR_1])
            if par[at.A_GEAR_2] >= 0.0:
                b = int(par[at.A_GEAR_2])
        th1 += h * rate[a]
        if b >= 0:
            th2 += h * rate[b]
    return th1, th2


def link_torque(par, q, dq, r1, r2, h, act, rate):
    """Return the torque of the actuator on the link in this step, friction and damping of the link included."""
    mode = int(par[at.P_MODE])
    r1, r2 = effective_references(par, r1, r2, h, act)
    preset = 0.0
    if mode == 0:
        torque = r1
    elif mode == 1:
        a = int(par[at.A_MOTOR_1])
        ref_rate = 0.0
        k = int(par[at.A_PREVIOUS_1])
        if k >= 0:
            ref_rate = rate[k]
        _, torque = pid_step(par, at.C_1, act[a], r1, q, dq, ref_rate, -at.BIG, at.BIG, h)
    else:
        th1, th2 = motor_positions(par, r1, r2, h, act, rate)
        torque = torque_ahead(par, q, th1, th2, h, act, rate)
        preset = preset_of(par, th1, th2)
    return less_link_losses(par, torque, q, dq, preset, h, act, rate)


def less_link_losses(par, torque, q, dq, preset, h, act, rate):
    """Return a torque on the link less the friction and damping of the link in this step."""
    s = int(par[at.A_LINK])
    if s >= 0:
        torque -= bristle_torque(par, at.P_LINK_FRICTION, q, dq, act[s] + h * rate[s], rate[s])
    d = par[at.P_LINK_DAMPING] + par[at.P_LINK_DAMPING + 1] * abs(preset)
    if d > 0.0:
        torque -= d * dq
    return torque


def hold(par, q, preset, act):
    """Write the state of an actuator at rest at link angle q; returns the references that keep it there.

    Mode 0 and 4: zero torque. Mode 1, 3, 6: the present angle (and the preset). Mode 2, 5: the motor positions of the
    present angle and preset.
    """
    mode = int(par[at.P_MODE])
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
    for k in range(int(par[at.P_STATES])):
        act[k] = 0.0
    if mode >= 4:
        a = int(par[at.A_MOTOR_1])
        act[a] = th1
        act[a + 2] = th1
        b = int(par[at.A_MOTOR_2])
        if b >= 0:
            act[b] = th2
            act[b + 2] = th2
    if mode >= 2 and par[at.P_BLOCKS] > 0.0:
        rest_spring(par, q, th1, th2, act)
    eff_1 = ref_1
    eff_2 = ref_2
    if mode == 6:
        eff_1 = th1
        eff_2 = th2
    if par[at.A_PREVIOUS_1] >= 0.0:
        act[int(par[at.A_PREVIOUS_1])] = eff_1
    if par[at.A_PREVIOUS_2] >= 0.0:
        act[int(par[at.A_PREVIOUS_2])] = eff_2
    if par[at.A_LINK] >= 0.0:
        act[int(par[at.A_LINK])] = q
    if par[at.A_TEMPERATURE_1] >= 0.0:
        act[int(par[at.A_TEMPERATURE_1])] = par[at.M_1 + at.M_AMBIENT]
    if par[at.A_TEMPERATURE_2] >= 0.0:
        act[int(par[at.A_TEMPERATURE_2])] = par[at.M_2 + at.M_AMBIENT]
    rest_references(par, ref_1, ref_2, act)
    return ref_1, ref_2


def show(par, r1, r2, h, act, rate, out):
    """Write what a narrow trace shows: motor positions that make the torque of this step, equilibrium and preset."""
    r1, r2 = effective_references(par, r1, r2, h, act)
    th1, th2 = motor_positions(par, r1, r2, h, act, rate)
    out[0] = th1
    out[1] = th2
    out[2] = 0.5 * (th1 + th2) if par[at.P_SECOND] == 1.0 else th1
    out[3] = preset_of(par, th1, th2)
    if par[at.P_SECOND] == 0.0:
        out[1] = math.nan
        out[3] = math.nan


def call_step(function, par, q, dq, r1, r2, h, act, rate):
    """Call a kernel of the step. In machine code the function is an address, as in the next two (`compile.loop`)."""
    return function(par, q, dq, r1, r2, h, act, rate)


def call_observe(function, par, q, dq, r1, r2, h, act, full, out):
    function(par, q, dq, r1, r2, h, act, full, out)


def call_show(function, par, r1, r2, h, act, rate, out):
    function(par, r1, r2, h, act, rate, out)


def simulate(step, par, q, dq, ref_1, ref_2, h, act, load, torque, trace):
    """Run the actuator for as many steps as there are references; fills torque (n,) and trace (n, columns).

    ``step`` holds the law's advance, link_torque, observe and show, so that one machine code serves all laws.

    Without a load, the link moves as recorded in q and dq, each (n,). With a load (inertia, gravity, angle, damping: a
    rigid body on its axis) it moves freely from q[0] and dq[0], and q and dq, each (n + 1,), are filled; torque
    holds the external torque on the link at first. The method is semi-implicit Euler with implicit damping.

    A trace of OBSERVATIONS columns shows everything, a narrower one the columns `layout.SHOWN`. ``act`` has room for
    the states twice.
    """
    states = int(par[at.P_STATES])
    mode = int(par[at.P_MODE])
    rate = act[states:]
    for i in range(ref_1.shape[0]):
        for k in range(states):
            rate[k] = 0.0
        external = torque[i]
        r1 = ref_1[i]
        r2 = ref_2[i]
        call_step(step[0], par, q[i], dq[i], r1, r2, h, act, rate)
        torque[i] = call_step(step[1], par, q[i], dq[i], r1, r2, h, act, rate)
        # Modes 5 and 6 show the motors that made the torque, which are those after their step.
        if trace.shape[1] < at.OBSERVATIONS:
            call_show(step[3], par, r1, r2, h, act, rate, trace[i])
        elif mode <= 4:
            call_observe(step[2], par, q[i], dq[i], r1, r2, h, act, 2.0, trace[i])
        for k in range(states):
            act[k] += h * rate[k]
        if mode > 4 and trace.shape[1] >= at.OBSERVATIONS:
            call_observe(step[2], par, q[i], dq[i], r1, r2, h, act, 1.0, trace[i])
        if load.shape[0] > 0:
            pull = torque[i] + external - load[1] * math.sin(q[i] - load[2]) - load[3] * dq[i]
            dq[i + 1] = dq[i] + h * pull / (load[0] + h * load[3])
            q[i + 1] = q[i] + h * dq[i + 1]
            if not abs(q[i + 1]) < 1e6:
                q[i + 1 :] = math.inf
                return


def evaluate(q, theta_1, theta_2, p, out):
    """Evaluate a law at many points: rows of out are torque, loads, stiffness, energy."""
    for i in range(q.shape[0]):
        torque, load_1, load_2 = law_torques(q[i], theta_1[i], theta_2[i], p)
        out[0, i] = torque
        out[1, i] = load_1
        out[2, i] = load_2
        out[3, i] = law_stiffness(q[i], theta_1[i], theta_2[i], p)
        out[4, i] = law_energy(q[i], theta_1[i], theta_2[i], p)
