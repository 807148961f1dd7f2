"""Kernels of the energy audit: what the actuators, the joints and MuJoCo's own elements exchange in one step.

They are compiled with their arrays bound (`pliant.laws.compile.bound`); a named tuple groups arguments.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.laws import layout as at

# What the accumulator holds, and its size.
(
    MOTORS, REFERENCES, EXTERNAL, FRICTION, DAMPING, LINK, PASSIVE, CONSTRAINT, COPPER,
    THROUGHPUT, STORED, START, INTEGRATOR, SPEED, STOPS, COGGING, TRANSMISSION, SPRING, VALVES, TENDONS, SIZE,
) = range(21)  # fmt: skip


WRITTEN = 4
"""Place of the result among the arguments of the call that observes."""


class StepSpan(NamedTuple):
    """The degrees of freedom before and after a step."""

    velocity: np.ndarray
    """Velocities before the step, shape (nv,)."""
    qvel: np.ndarray
    """Velocities now, shape (nv,)."""
    nv: int
    """Number of degrees of freedom."""
    h: float
    """Time step [s]."""
    sums: np.ndarray
    """Receives the exchanges [J]."""


class CompliantRows(NamedTuple):
    """The compliant actuators of a model."""

    even: np.ndarray
    """Observations, shape (n, `pliant.laws.layout.OBSERVATIONS`); the next ones are written where the last but one
    were."""
    odd: np.ndarray
    """Others of the same shape."""
    call: np.ndarray
    """Arguments of the call that observes: at `WRITTEN` the address of ``even`` or ``odd``, which it writes."""
    first: int
    """Address of ``even``."""
    both: int
    """Sum of both addresses."""
    n: int
    """Number of actuators."""
    dofs: np.ndarray
    """Degree of freedom of each, -1 for none."""
    direct: np.ndarray
    """1 where the actuator applies torques to the link (modes 0 and 1)."""
    rows: np.ndarray
    """Row of each in the forces of the actuators."""
    shares: np.ndarray
    """Share of each motor in the deflection of the spring, shape (n, 2)."""
    blocks: np.ndarray
    """1 where the actuator has blocks between its motors and its link."""


class JointForces(NamedTuple):
    """Forces on the degrees of freedom that act in a step, each of shape (nv,)."""

    applied: np.ndarray
    """Forces from outside."""
    damper: np.ndarray
    """Forces of dampers."""
    constraint: np.ndarray
    """Forces of constraints."""


class Servos(NamedTuple):
    """Actuators that are not compliant joints, one per output: f = f_start - kv dv - h kp v, limited."""

    n: int
    """Number of outputs."""
    rows: np.ndarray
    """Row of each in the forces of the actuators."""
    kp: np.ndarray
    """Position gain."""
    kv: np.ndarray
    """Velocity gain."""
    low: np.ndarray
    """Least force."""
    high: np.ndarray
    """Most force."""
    held: np.ndarray
    """Limited degree of freedom that it drives, -1 for none."""


class Transmission(NamedTuple):
    """Forces of all actuators and their moments, as MuJoCo stores them: sparse rows."""

    n: int
    """Number of rows."""
    force: np.ndarray
    """Force of each row."""
    moment: np.ndarray
    """Moments of all rows."""
    counts: np.ndarray
    """Number of moments of each row."""
    first: np.ndarray
    """First moment of each row."""
    column: np.ndarray
    """Degree of freedom of each moment."""


class Implicit(NamedTuple):
    """Terms that the integrator evaluates at the end of the step, 0 or 1."""

    damped: int
    """Dampers of joints."""
    servoed: int
    """Velocity gains of actuators."""
    sprung: int
    """Springs of joints and position gains of actuators."""


class JointSprings(NamedTuple):
    """Springs of joints that are no compliant actuators."""

    n: int
    """Number of springs."""
    dof: np.ndarray
    """Degree of freedom of each."""
    place: np.ndarray
    """Address of each in ``qpos``."""
    which: np.ndarray
    """Joint of each."""
    stiffness: np.ndarray
    """Stiffness of all joints."""
    bend: np.ndarray
    """Coefficients of the second and third power of all joints, shape (njnt, 2)."""
    rest: np.ndarray
    """Rest positions of all joints, as ``qpos``."""
    qpos: np.ndarray
    """Positions now."""
    before: np.ndarray
    """Positions before the step."""


class ElasticTendons(NamedTuple):
    """Tendons with a spring or a damper."""

    n: int
    """Number of them."""
    which: np.ndarray
    """Tendon of each."""
    stiffness: np.ndarray
    """Stiffness of all tendons."""
    bend: np.ndarray
    """Coefficients of the second and third power of all tendons, shape (ntendon, 2)."""
    damping: np.ndarray
    """Coefficient of damping of all tendons."""
    span: np.ndarray
    """Lengths between which the spring of each tendon is slack, shape (ntendon, 2)."""
    length: np.ndarray
    """Lengths at the start of the step."""
    moment: np.ndarray
    """Change of the lengths with the degrees of freedom, a sparse matrix: its numbers."""
    counts: np.ndarray
    """How many in each row."""
    first: np.ndarray
    """First number of each row."""
    column: np.ndarray
    """Degree of freedom of each number."""


class PassiveForces(NamedTuple):
    """Passive forces on the degrees of freedom, each of shape (nv,)."""

    damping: np.ndarray
    """Coefficient of damping."""
    hidden: np.ndarray
    """Friction that a device includes in a motor's torque."""
    gravcomp: np.ndarray
    """Compensation of gravity."""
    applied: np.ndarray
    """Share of it that does not count as the actuators'."""
    fluid: np.ndarray
    """Forces of a fluid."""
    adhesion: np.ndarray
    """Forces of adhesion."""


class TorqueLimits(NamedTuple):
    """Joints that limit the sum of what their actuators, and their compensation of gravity, ask for."""

    n: int
    """Number of limited degrees of freedom."""
    dofs: np.ndarray
    """The limited degrees of freedom."""
    least: np.ndarray
    """Least torque, shape (nv,)."""
    most: np.ndarray
    """Most torque, shape (nv,)."""
    lifted: np.ndarray
    """Share of the compensation of gravity that counts as the actuators', shape (nv,)."""
    torque: np.ndarray
    """Torque that acts, shape (nv,)."""
    asked: np.ndarray
    """Torque that is asked for; a buffer of shape (nv,)."""


class WrenchForces(NamedTuple):
    """Forces from which the share of the wrenches on bodies follows, each but the wrenches of shape (nv,)."""

    wrenches: np.ndarray
    """Wrenches on all bodies."""
    size: int
    """Number of their elements."""
    smooth: np.ndarray
    """Sum of all forces but those of constraints."""
    passive: np.ndarray
    """Passive forces."""
    bias: np.ndarray
    """Coriolis, centrifugal and gravitational forces."""
    applied: np.ndarray
    """Forces from outside on the degrees of freedom."""
    actuator: np.ndarray
    """Forces of the actuators."""


def copy_numbers(source, count, target):
    """Copy numbers (C arrays)."""
    for k in range(count):
        target[k] = source[k]


def take_places(values, places, count, taken):
    """Copy the numbers at some places (C arrays)."""
    for k in range(count):
        taken[k] = values[places[k]]


def swap_places(values, places, count, taken):
    """Exchange the numbers at some places with those that were taken (C arrays)."""
    for k in range(count):
        taken[k], values[places[k]] = values[places[k]], taken[k]


def audit_wrenches(forces, span):
    """Add the work of the wrenches on bodies in one step: of what is left of the forces that acted; and take the
    velocities at its end as those before the next one (C arrays)."""
    wrenches, size, smooth, passive, bias, applied, actuator = forces
    velocity, qvel, nv, h, sums = span
    acting = 0
    for k in range(size):
        if wrenches[k] != 0.0:
            acting = 1
    if acting != 0:
        work = 0.0
        for k in range(nv):
            force = smooth[k] - (passive[k] - bias[k] + applied[k] + actuator[k])
            work += 0.5 * h * force * (velocity[k] + qvel[k])
        sums[EXTERNAL] += work
        sums[THROUGHPUT] += abs(work)
    for k in range(nv):
        velocity[k] = qvel[k]


def centred_energy(observed, r, d, direct, share_1, share_2, velocity, h):
    """Return the stored energy of an actuator at the time of the velocities, half a step before the positions.

    ``r`` is the start of its row in ``observed``, ``d`` its degree of freedom, ``velocity`` the joint velocities,
    ``share_1`` and ``share_2`` the shares of its motors in the deflection. The torques are those of the law alone.
    """
    branch = observed[r + at.O_BRANCH_TORQUE]
    stored = observed[r + at.O_STORED_ENERGY]
    if direct != 0:
        return stored
    if d >= 0:
        spring = (
            observed[r + at.O_TORQUE] + observed[r + at.O_LINK_FRICTION_TORQUE] + observed[r + at.O_LINK_DAMPING_TORQUE]
        )
        stored += 0.5 * h * velocity[d] * (spring + branch)
    power = observed[r + at.O_MOTOR_1_OUTPUT_VELOCITY] * (observed[r + at.O_LOAD_1] + share_1 * branch)
    # What is not NaN equals itself: there is a motor.
    if observed[r + at.O_MOTOR_1_EFFORT] == observed[r + at.O_MOTOR_1_EFFORT] and power == power:
        stored -= 0.5 * h * power
    power = observed[r + at.O_MOTOR_2_OUTPUT_VELOCITY] * (observed[r + at.O_LOAD_2] + share_2 * branch)
    if observed[r + at.O_MOTOR_2_EFFORT] == observed[r + at.O_MOTOR_2_EFFORT] and power == power:
        stored -= 0.5 * h * power
    return stored


def audit_before(joints, span):
    """Add the work of references that have changed since the last step (C arrays, see `EnergyAudit`)."""
    even, odd, call, first, _, n, dofs, direct, _, shares, _ = joints
    _, qvel, _, h, sums = span
    observed = even if call[WRITTEN] == first else odd
    stored = 0.0
    for i in range(n):
        share_1, share_2 = shares[2 * i], shares[2 * i + 1]
        stored += centred_energy(observed, i * at.OBSERVATIONS, dofs[i], direct[i], share_1, share_2, qvel, h)
    # Nothing moved since the last step, so a change of stored energy is the work of the references.
    work = stored - sums[STORED]
    sums[REFERENCES] += work
    sums[THROUGHPUT] += abs(work)
    sums[STORED] = stored


def audit_start(joints, span):
    """Take the state at the start of a step, with the references of that step (C arrays, see `EnergyAudit`)."""
    call, both = joints.call, joints.both
    velocity, qvel, nv, _, sums = span
    call[WRITTEN] = both - call[WRITTEN]
    for k in range(nv):
        velocity[k] = qvel[k]
    sums[START] = sums[STORED]


def audit_motor(observed, was, r, o, x, load, share, h):
    """Return the exchanges of one motor in a step: work, friction, damping, speed limit, stops, cogging.

    ``o`` is the column of its position, followed by velocity and effort, ``x`` of its friction, followed by damping,
    speed limit and stop, and ``load`` of its load. Where a stop shortens the way of a step, it takes up the work of
    the load of the law on the rest of the way; ``share`` is the motor's in the deflection.
    """
    effort = was[r + o + 2]
    turned = 0.5 * h * (was[r + o + 1] + observed[r + o + 1])
    if turned != turned or effort != effort:  # NaN: the mode has no such motor
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    stop = was[r + x + 3]
    stopped = 0.0
    if stop != 0.0:
        short = observed[r + o] - was[r + o] - h * observed[r + o + 1]
        held = was[r + load] + observed[r + load]
        held += share * (was[r + at.O_BRANCH_TORQUE] + observed[r + at.O_BRANCH_TORQUE])
        stopped = stop * turned - 0.5 * held * short
    limited = was[r + x + 2] * turned
    return effort * turned, was[r + x] * turned, was[r + x + 1] * turned, limited, stopped, was[r + x + 4] * turned


def audit_spring(observed, was, r, turned, share_1, share_2, centred, h):
    """Return the losses between motors and link in a step: of the transmission (backlash, tendons, gears) and of the
    spring (hysteresis, creep, plastic flow, breakage).

    ``turned`` is the way of the link, ``centred`` the stored energy of the actuator before the step.
    """
    out_1 = 0.5 * h * (was[r + at.O_MOTOR_1_OUTPUT_VELOCITY] + observed[r + at.O_MOTOR_1_OUTPUT_VELOCITY])
    out_2 = 0.5 * h * (was[r + at.O_MOTOR_2_OUTPUT_VELOCITY] + observed[r + at.O_MOTOR_2_OUTPUT_VELOCITY])
    load_1, load_2 = was[r + at.O_LOAD_1], was[r + at.O_LOAD_2]
    torque = was[r + at.O_TORQUE] + was[r + at.O_LINK_FRICTION_TORQUE] + was[r + at.O_LINK_DAMPING_TORQUE]
    gone = h * was[r + at.O_GEAR_POWER] - (observed[r + at.O_TENDON_ENERGY] - was[r + at.O_TENDON_ENERGY])
    lost = was[r + at.O_BRANCH_ENERGY] - observed[r + at.O_BRANCH_ENERGY]
    if observed[r + at.O_BROKEN] != 0.0 and was[r + at.O_BROKEN] == 0.0:
        # All that the spring has and gets in this step is lost.
        spring = was[r + at.O_ENERGY] + centred - was[r + at.O_STORED_ENERGY]
        return gone, lost + spring + load_1 * out_1 + load_2 * out_2 - torque * turned
    play = observed[r + at.O_LINK_OFFSET] - was[r + at.O_LINK_OFFSET]
    flow = observed[r + at.O_PLASTIC] - was[r + at.O_PLASTIC]
    off_1 = observed[r + at.O_MOTOR_1_OFFSET] - was[r + at.O_MOTOR_1_OFFSET]
    off_2 = observed[r + at.O_MOTOR_2_OFFSET] - was[r + at.O_MOTOR_2_OFFSET]
    after = observed[r + at.O_TORQUE] + observed[r + at.O_LINK_FRICTION_TORQUE] + observed[r + at.O_LINK_DAMPING_TORQUE]
    gone += 0.5 * (load_1 + observed[r + at.O_LOAD_1]) * off_1 + 0.5 * (load_2 + observed[r + at.O_LOAD_2]) * off_2
    gone -= 0.5 * (torque + after) * play
    lost -= 0.5 * (torque + after) * flow
    branch = was[r + at.O_BRANCH_TORQUE]
    lost += branch * (turned - share_1 * out_1 - share_2 * out_2)
    lost -= 0.5 * (branch + observed[r + at.O_BRANCH_TORQUE]) * (play + flow - share_1 * off_1 - share_2 * off_2)
    return gone, lost


def audit_after(joints, span, forces, force):
    """Add the exchanges of one step, and take its end as the start of the next one, but for the velocities (C arrays,
    see `EnergyAudit`)."""
    even, odd, call, first, both, n, dofs, direct, rows, shares, blocks = joints
    velocity, qvel, nv, h, sums = span
    observed, was = (even, odd) if call[WRITTEN] == first else (odd, even)
    call[WRITTEN] = both - call[WRITTEN]
    applied, damper, constraint = forces
    external = passive = contact = 0.0
    for k in range(nv):
        mean = 0.5 * h * (velocity[k] + qvel[k])
        external += applied[k] * mean
        passive -= damper[k] * mean
        contact -= constraint[k] * mean
    motors = friction = damping = limited = stopped = cogging = 0.0
    transmission = spring = link = copper = stored = ahead = valves = 0.0
    for i in range(n):
        r = i * at.OBSERVATIONS
        d = dofs[i]
        share_1, share_2 = shares[2 * i], shares[2 * i + 1]
        stored += centred_energy(observed, r, d, direct[i], share_1, share_2, qvel, h)
        copper += 0.5 * h * (was[r + at.O_COPPER_POWER] + observed[r + at.O_COPPER_POWER])
        a = audit_motor(observed, was, r, at.O_MOTOR_1_POSITION, at.O_MOTOR_1_FRICTION, at.O_LOAD_1, share_1, h)
        b = audit_motor(observed, was, r, at.O_MOTOR_2_POSITION, at.O_MOTOR_2_FRICTION, at.O_LOAD_2, share_2, h)
        motors += a[0] + b[0]
        friction += a[1] + b[1]
        damping += a[2] + b[2]
        limited += a[3] + b[3]
        stopped += a[4] + b[4]
        cogging += a[5] + b[5]
        turned = 0.5 * h * (velocity[d] + qvel[d]) if d >= 0 else 0.0
        if blocks[i] != 0:
            centred = centred_energy(was, r, d, direct[i], share_1, share_2, velocity, h)
            gone, lost = audit_spring(observed, was, r, turned, share_1, share_2, centred, h)
            transmission += gone
            spring += lost
        motors += h * was[r + at.O_SUPPLY_POWER]
        valves += h * was[r + at.O_VALVE_POWER]
        lost = (was[r + at.O_LINK_FRICTION_TORQUE] + was[r + at.O_LINK_DAMPING_TORQUE]) * turned
        link += lost
        if direct[i] != 0:
            motors += was[r + at.O_TORQUE] * turned + lost
        else:
            ahead += (force[rows[i]] - was[r + at.O_TORQUE]) * turned
    sums[MOTORS] += motors
    sums[EXTERNAL] += external
    sums[FRICTION] += friction
    sums[DAMPING] += damping
    sums[SPEED] += limited
    sums[STOPS] += stopped
    sums[COGGING] += cogging
    sums[TRANSMISSION] += transmission
    sums[SPRING] += spring
    sums[VALVES] += valves
    sums[LINK] += link
    sums[PASSIVE] += passive
    sums[CONSTRAINT] += contact
    sums[COPPER] += copper
    sums[INTEGRATOR] -= ahead
    moved = abs(motors) + abs(friction) + abs(damping) + abs(limited) + abs(stopped) + abs(cogging) + abs(transmission)
    moved += abs(spring) + abs(external) + abs(link) + abs(passive) + abs(ahead) + abs(contact) + abs(valves)
    sums[THROUGHPUT] += moved + abs(stored - sums[START])
    sums[STORED] = stored
    sums[START] = stored


def spring_energy(e, a, b, c):
    """Return the energy of a spring of MuJoCo, a e^2 / 2 + b e^3 / 3 + c e^4 / 4, of numbers or arrays."""
    return e * e * (a / 2.0 + e * (b / 3.0 + e * c / 4.0))


def spring_force(e, change, a, b, c):
    """Return the force of a spring of MuJoCo at the end of a step of the integrator ``discrete``.

    It is that at the start, -(a e + b e^2 + c e^3), less the change of its deflection times its stiffness at the start,
    where that is positive.
    """
    return -e * (a + e * (b + e * c)) - max(a + e * (2.0 * b + e * 3.0 * c), 0.0) * change


def stretch_beyond(length, low, high):
    """Return the deflection of the spring of a tendon that is slack between two lengths."""
    return length - high if length >= high else min(length - low, 0.0)


def audit_tendons(tendons, implicit, span):
    """Add what the springs and dampers of tendons lose to the order of evaluation in one step, as `audit_model`.

    The energy of a spring at the end is taken at the length that the velocities give; `TENDONS` sums that change.
    """
    elements, which, stiffness, bend, damping, slack, length, moment, counts, first, column = tendons
    _, servoed, sprung = implicit
    velocity, qvel, _, h, sums = span
    passive = 0.0
    lost = 0.0
    for i in range(elements):
        t = which[i]
        old_speed = 0.0
        speed = 0.0
        for k in range(first[t], first[t] + counts[t]):
            old_speed += moment[k] * velocity[column[k]]
            speed += moment[k] * qvel[column[k]]
        mean = 0.5 * h * (old_speed + speed)
        if servoed != 0:
            passive += damping[t] * (speed - old_speed) * mean
        if sprung != 0:
            a, b, c = stiffness[t], bend[2 * t], bend[2 * t + 1]
            low, high = slack[2 * t], slack[2 * t + 1]
            x = length[t]
            old = stretch_beyond(x, low, high)
            acting = spring_force(old, 0.0 if low < x < high else h * speed, a, b, c)
            gained = spring_energy(stretch_beyond(x + h * speed, low, high), a, b, c) - spring_energy(old, a, b, c)
            lost -= gained + mean * acting
            sums[TENDONS] += gained
    sums[PASSIVE] += passive
    sums[INTEGRATOR] += lost
    sums[THROUGHPUT] += abs(passive) + abs(lost)


def audit_model(servos, transmission, implicit, springs, passive_forces, limits, span):
    """Add what MuJoCo's own elements exchange in one step (C arrays, see `EnergyAudit`).

    The integrator evaluates some forces at the end of the step, linearised: f = f_start - d (v_1 - v_0) - h k v_1. The
    flags say for what: ``damped`` dampers of joints, ``servoed`` the d of actuators, ``sprung`` every k; d and k of
    an actuator do not act while it, or the joint ``held`` that it drives, is at its limit.
    """
    actuators, rows, kp, kv, low, high, held = servos
    outputs, force, moment, counts, first, column = transmission
    damped, servoed, sprung = implicit
    sprung_joints, dof, place, which, stiffness, bend, rest, qpos, before = springs
    damping, hidden, gravcomp, applied, fluid, adhesion = passive_forces
    limited, capped, least, most, lifted, torque, asked = limits
    velocity, qvel, nv, h, sums = span
    motors = 0.0
    for i in range(actuators):
        row = rows[i]
        mean = 0.0
        change = 0.0
        new = 0.0
        for k in range(first[row], first[row] + counts[row]):
            a, b = velocity[column[k]], qvel[column[k]]
            mean += 0.5 * moment[k] * (a + b)
            change += moment[k] * (b - a)
            new += moment[k] * b
        f = force[row]
        free = held[i] < 0 or least[held[i]] < torque[held[i]] < most[held[i]]
        if servoed != 0 and free and low[i] < f < high[i]:
            f -= kv[i] * change
            if sprung != 0:
                f -= h * kp[i] * new
        motors += h * f * mean
    if limited > 0:
        for k in range(nv):
            asked[k] = lifted[k] * gravcomp[k]
        for row in range(outputs):
            for k in range(first[row], first[row] + counts[row]):
                asked[column[k]] += moment[k] * force[row]
        for i in range(limited):
            d = capped[i]
            motors += 0.5 * h * (velocity[d] + qvel[d]) * (torque[d] - asked[d])
    friction = 0.0
    passive = 0.0
    external = 0.0
    for k in range(nv):
        mean = 0.5 * h * (velocity[k] + qvel[k])
        friction += hidden[k] * mean
        external += applied[k] * gravcomp[k] * mean
        passive += (damping[k] * damped * (qvel[k] - velocity[k]) - fluid[k] - adhesion[k]) * mean
    lost = 0.0
    if sprung != 0:
        for i in range(sprung_joints):
            joint = which[i]
            a, b, c = stiffness[joint], bend[2 * joint], bend[2 * joint + 1]
            old, now = before[place[i]] - rest[place[i]], qpos[place[i]] - rest[place[i]]
            d = dof[i]
            gained = spring_energy(now, a, b, c) - spring_energy(old, a, b, c)
            lost -= gained + 0.5 * h * (velocity[d] + qvel[d]) * spring_force(old, h * qvel[d], a, b, c)
    sums[MOTORS] += motors + friction
    sums[FRICTION] += friction
    sums[EXTERNAL] += external
    sums[PASSIVE] += passive
    sums[INTEGRATOR] += lost
    sums[THROUGHPUT] += abs(motors + friction) + abs(friction) + abs(external) + abs(passive) + abs(lost)
