"""Elements between motors and link: the law, elements in series with it and branches in parallel to it.

Scalar functions of the compiled step (see `pliant.laws.kernels`). Elements in series (backlash, tendons, plastic flow)
are offsets between a motor or the link and its end of the spring; they transmit the load of the spring. Branches
(hysteresis, creep) act on the deflection between the ends. The equations are those of `pliant.laws.transmission` and
`pliant.laws.spring`.
"""
# The law_* names are bound by pliant.laws.compile.
# ruff: noqa: F821
# pyright: reportUndefinedVariable=false

from __future__ import annotations

from pliant.laws import layout as at
from pliant.laws.friction_kernels import slide
from pliant.laws.functions import saturate

LEVER_STEP = 1.0e-5
"""Step of the difference that gives the stiffness of a lever's load [m]."""


def state_at(par, place, act):
    """Return the state whose place is at ``place`` in par; 0 for an absent one."""
    k = int(par[place])
    if k >= 0:
        return act[k]
    return 0.0


def rate_at(par, place, rate):
    """Return the rate of the state whose place is at ``place`` in par; 0 for an absent one."""
    k = int(par[place])
    if k >= 0:
        return rate[k]
    return 0.0


def outputs(par, act):
    """Return the positions of both motors after their elastic gears; 0 for an absent motor."""
    th1 = act[int(par[at.A_MOTOR_1])]
    th2 = 0.0
    if par[at.A_MOTOR_2] >= 0.0:
        th2 = act[int(par[at.A_MOTOR_2])]
    if par[at.P_BLOCKS] > 0.0:
        if par[at.A_GEAR_1] >= 0.0:
            th1 = act[int(par[at.A_GEAR_1])]
        if par[at.A_GEAR_2] >= 0.0:
            th2 = act[int(par[at.A_GEAR_2])]
    return th1, th2


def gear_torque(par, b, twist, slip, h):
    """Return the elastic torque and the damping torque of an elastic gear: ``twist`` is rotor less output, ``slip``
    its rate. The damping is implicit in the rate."""
    k = par[b + at.M_GEAR_STIFFNESS]
    m = 1.0 / par[b + at.M_INERTIA] + 1.0 / par[b + at.M_GEAR_INERTIA]
    c = par[b + at.M_GEAR_DAMPING]
    if h * h * m * k > 1.0:
        c += h * k
    elastic = k * twist
    return elastic, c * (slip - h * m * elastic) / (1.0 + h * m * c)


def tendon_force(par, t, s, end):
    """Return force, slope and energy of the tendons whose block begins at ``t`` at a stretch ``s``.

    With slack these are of the straight piece on which ``end`` lies: an implicit step is continuous at the edge of the
    slack, where tendons come to rest, only with the piece on which it ends.
    """
    k = par[t]
    preload = par[t + 2]
    if preload > 0.0:
        one = max(preload + k * s, 0.0)
        other = max(preload - k * s, 0.0)
        slope = 0.0
        if one > 0.0:
            slope += k
        if other > 0.0:
            slope += k
        return one - other, slope, 0.5 * (one * one + other * other) / k - preload * preload / k
    edge = 0.5 * par[t + 3]
    if edge > 0.0 and abs(end) <= edge:
        return 0.0, 0.0, 0.0
    e = s - saturate(end, edge)
    return k * e, k, 0.5 * k * e * e


def deflection(par, q, x1, x2):
    """Return the deflection on which the branches act, from the ends of the spring."""
    if par[at.P_SECOND] == 1.0:
        return q - 0.5 * (x1 + x2)
    return q - x1


def branches(par, delta, act):
    """Return torque, stiffness and energy of hysteresis and creep at a deflection."""
    torque = 0.0
    stiffness = 0.0
    energy = 0.0
    s = int(par[at.A_SLIP])
    if s >= 0:
        k = par[at.P_SLIP]
        for i in range(at.SLIPS):
            x = delta - slide(delta, act[s + i], par[at.P_SLIP + 1] * (i + 1.0) / at.SLIPS)
            torque += k * x
            energy += 0.5 * k * x * x
        stiffness += k * at.SLIPS
    c = int(par[at.A_CREEP])
    if c >= 0:
        k = par[at.P_CREEP]
        x = delta - act[c]
        torque += k * x
        energy += 0.5 * k * x * x
        stiffness += k
    return torque, stiffness, energy


def motor_offset(par, k, act):
    """Return the position of motor ``k``, 0 or 1, less that of its end of the spring."""
    return state_at(par, at.A_PLAY_1 + k, act) + state_at(par, at.A_TENDON_1 + k, act)


def link_offset(par, act):
    """Return the link angle less that of its end of the spring."""
    return state_at(par, at.A_PLAY, act) + state_at(par, at.A_YIELD, act)


def ends(par, q, th1, th2, act):
    """Return the positions of the spring's ends: link, motor 1, motor 2."""
    if par[at.P_BLOCKS] > 0.0:
        q = q - link_offset(par, act)
        th1 = th1 - motor_offset(par, 0, act)
        th2 = th2 - motor_offset(par, 1, act)
    return q, th1, th2


def shared(par, torque, load_1, load_2, branch):
    """Return the torque and the loads of the law together with those of the branches."""
    if par[at.P_SECOND] == 1.0:
        return torque - branch, load_1 - 0.5 * branch, load_2 - 0.5 * branch
    return torque - branch, load_1 - branch, load_2


def spring_torques(par, x, x1, x2, act):
    """Return the torque of the spring with these ends on the link and its loads on the motors, with all blocks."""
    torque, load_1, load_2 = law_torques(x, x1, x2, par)  # at first, where what the energy shares with it is found
    branch = 0.0
    if par[at.P_BLOCKS] > 0.0:
        if state_at(par, at.A_BROKEN, act) != 0.0:
            return 0.0, 0.0, 0.0
        branch, _, _ = branches(par, deflection(par, x, x1, x2), act)
    return shared(par, torque, load_1, load_2, branch)


def torque_ahead(par, q, th1, th2, h, act, rate):
    """Return the torque of the spring on the link at the motor positions th1, th2 of this step's end (modes 5, 6), or
    of its start; the branches keep the torque of the start."""
    branch = 0.0
    if par[at.P_BLOCKS] > 0.0:
        if state_at(par, at.A_BROKEN, act) != 0.0:
            return 0.0
        before_1 = th1
        before_2 = th2
        ahead = 0.0
        if par[at.P_MODE] > 3.0:
            before_1, before_2 = outputs(par, act)
        if par[at.P_MODE] > 4.0:
            ahead = h
        q, x1, x2 = ends(par, q, before_1, before_2, act)
        branch, _, _ = branches(par, deflection(par, q, x1, x2), act)
        th1 += x1 - before_1 - ahead * (rate_at(par, at.A_PLAY_1, rate) + rate_at(par, at.A_TENDON_1, rate))
        th2 += x2 - before_2 - ahead * (rate_at(par, at.A_PLAY_2, rate) + rate_at(par, at.A_TENDON_2, rate))
    torque, _, _ = law_torques(q, th1, th2, par)
    return torque - branch


def lever_stiffness(par, x, x1, x2):
    """Return the slope of the load on motor 2 with its own position, where that is a lever."""
    _, _, above = law_torques(x, x1, x2 + LEVER_STEP, par)
    _, _, below = law_torques(x, x1, x2 - LEVER_STEP, par)
    return abs(above - below) / (2.0 * LEVER_STEP)


def play_rate(b, load, width, damping, h):
    """Return the rate of the state of a backlash under a load; ``damping`` is that of the implicit step."""
    return (saturate(b + h * load / damping, 0.5 * width) - b) / h


def advance_motor_end(par, k, load, stiffness, h, act, rate):
    """Write the rates of the offsets between motor ``k``, 0 or 1, and its end of the spring."""
    b = at.M_1 + k * at.M_STRIDE
    s = int(par[at.A_PLAY_1 + k])
    if s >= 0:
        p = b + at.M_PLAY
        rate[s] = play_rate(act[s], load, par[p], par[p + 1] + h * stiffness, h)
    s = int(par[at.A_TENDON_1 + k])
    if s >= 0:
        t = b + at.M_TENDON
        damping = par[t + 1] + h * stiffness
        force, slope, _ = tendon_force(par, t, act[s], act[s] + h * load / damping)  # the end without tension
        rate[s] = (load - force) / (damping + h * slope)


def advance_spring(par, x, x1, x2, torque, load_1, load_2, h, act, rate):
    """Write the rates of the states of all blocks of the spring in a step with these ends and torques at its start.

    Each series element is implicit in its own offset with the stiffness of the whole spring times the number of the
    elements, so that elements that relax the same spring together do not overshoot.
    """
    delta = deflection(par, x, x1, x2)
    number = 0.0
    for k in range(at.A_PLAY, at.A_YIELD + 1):
        if par[k] >= 0.0:
            number += 1.0
    for k in range(at.A_PLAY_1, at.A_TENDON_2 + 1):
        if par[k] >= 0.0:
            number += 1.0
    stiffness = 0.0
    lever = 0.0
    if state_at(par, at.A_BROKEN, act) == 0.0 and number > 0.0:
        _, k_branch, _ = branches(par, delta, act)
        stiffness = number * (abs(law_stiffness(x, x1, x2, par)) + k_branch)
        lever = stiffness
        if par[at.P_SECOND] == 2.0 and (par[at.A_PLAY_2] >= 0.0 or par[at.A_TENDON_2] >= 0.0):
            lever = number * lever_stiffness(par, x, x1, x2)
    k = int(par[at.A_PLAY])
    if k >= 0:
        rate[k] = play_rate(act[k], -torque, par[at.P_PLAY], par[at.P_PLAY + 1] + h * stiffness, h)
    k = int(par[at.A_YIELD])
    if k >= 0:
        beyond = torque - saturate(torque, par[at.P_YIELD])
        rate[k] = -beyond / (par[at.P_YIELD + 1] + h * stiffness)
    k = int(par[at.A_BROKEN])
    if k >= 0:
        rate[k] = 0.0
        if act[k] == 0.0 and abs(torque) >= par[at.P_BREAK] and par[at.P_BREAK] < at.BIG:
            rate[k] = torque / h
    k = int(par[at.A_SLIP])
    if k >= 0:
        for i in range(at.SLIPS):
            rate[k + i] = (slide(delta, act[k + i], par[at.P_SLIP + 1] * (i + 1.0) / at.SLIPS) - act[k + i]) / h
    k = int(par[at.A_CREEP])
    if k >= 0:
        rate[k] = (delta - act[k]) / (par[at.P_CREEP + 1] + h)
    advance_motor_end(par, 0, load_1, stiffness, h, act, rate)
    advance_motor_end(par, 1, load_2, lever, h, act, rate)


def rest_spring(par, q, th1, th2, act):
    """Write the states of the blocks of a spring at rest."""
    delta = deflection(par, q, th1, th2)
    k = int(par[at.A_SLIP])
    if k >= 0:
        for i in range(at.SLIPS):
            act[k + i] = delta
    k = int(par[at.A_CREEP])
    if k >= 0:
        act[k] = delta
    k = int(par[at.A_GEAR_1])
    if k >= 0:
        act[k] = th1
    k = int(par[at.A_GEAR_2])
    if k >= 0:
        act[k] = th2
