"""Newton's method for the statics of a parallel robot, by single or multiple shooting."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.rods.kernels.arrays import Unknowns
from pliant.rods.kernels.balance import residual
from pliant.rods.kernels.jit import INLINED, INNER, entry
from pliant.rods.kernels.layout import (
    BY_M,
    EXTENSION,
    FREEDOMS,
    INTEGRATIONS,
    JOINT_COLUMN,
    LANES,
    LIMBS,
    LINEARISE_ONLY,
    MARGIN,
    MOMENT,
    NO_MARGIN,
    NODE_SIZE,
    POS_X,
    RESIDUAL,
    RESIDUAL_ONLY,
    STATE,
    STEPS,
)
from pliant.rods.kernels.poses import rotation_log
from pliant.rods.kernels.shooting import place_bases, shoot
from pliant.rods.kernels.side_by_side import shoot_states
from pliant.rods.kernels.stability import stability_margin
from pliant.rods.kernels.step import apply_step, condense, in_plate_axes, solve_plate

NO_INTEGRATION, TIPS_ONLY, TIPS_AND_COLUMNS = range(3)  # what has to be integrated before the residual
SLOW = 1e-2  # factor of the residual in a step above which columns are integrated anew; and residual
DIVERGED = 1e9  # residual at which nothing more is tried
MOST_RISES = 3  # of the residual in single shooting
SHORTEST_STEP, MOST_HALVINGS = 0.13, 20  # of multiple shooting


@njit(**INLINED)
def distance_to_target(md, un, wk, tasks, s):
    """Set dqv or dxv (world axes) to what is still missing to the target of row s; return its largest magnitude.

    Where some but not all rotations are controlled, they are those about the axes of the target's plate, so that
    (rx, ry) hold its normal and leave the turn about it free.
    """
    qq, xx, controlled = un.Q, un.X, tasks.controlled
    q_target, x_target, inverse = tasks.q[s], tasks.x[s], tasks.inverse
    worst = 0.0
    wk.dxv[:] = 0.0
    wk.dqv[:] = 0.0
    if inverse:
        gap = np.empty(6)
        for t in range(3):
            gap[t] = x_target[POS_X + t] - xx[POS_X + t]
        rotation_log(x_target, xx, gap[3:])
        turned = in_plate_axes(md, inverse, controlled)
        free = 5 if not controlled[5] else (4 if not controlled[4] else 3)
        if turned and controlled[3] + controlled[4] + controlled[5] == 2:
            # the smallest turn that brings the free axis home, whatever the plate has turned about it
            f = free - 3
            a0, a1, a2 = xx[f], xx[3 + f], xx[6 + f]
            b0, b1, b2 = x_target[f], x_target[3 + f], x_target[6 + f]
            c0, c1, c2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
            sine = np.sqrt(c0 * c0 + c1 * c1 + c2 * c2)
            v = np.arctan2(sine, a0 * b0 + a1 * b1 + a2 * b2)
            k = v / sine if sine > 1e-12 else 1.0
            wk.dxv[3], wk.dxv[4], wk.dxv[5] = k * c0, k * c1, k * c2
            worst = v
        for c in range(md.size[FREEDOMS]):
            if controlled[c]:
                if turned and c > 2:
                    if controlled[3] + controlled[4] + controlled[5] == 2:
                        continue
                    v = x_target[c - 3] * gap[3] + x_target[c] * gap[4] + x_target[c + 3] * gap[5]
                    for t in range(3):
                        wk.dxv[3 + t] += x_target[3 * t + c - 3] * v
                else:
                    v = gap[md.plate_index[c]]
                    wk.dxv[c] = v
                worst = max(worst, abs(v))
    else:
        for i in range(md.size[LIMBS]):
            for j in range(md.joint_count[i]):
                a = md.actuator[i, j]
                if a >= 0:
                    wk.dqv[a] = q_target[a] - qq[i, j]
                    worst = max(worst, abs(wk.dqv[a]))
    return worst


@njit(**INLINED)
def node_gaps(md, wk, segments):
    """Largest gap at the nodes of multiple shooting, from the affine column where it was formed."""
    worst = 0.0
    for i in range(md.size[LIMBS]):
        c = JOINT_COLUMN + md.joint_count[i]
        for s in range(segments - 1):
            for t in range(STATE // LANES):
                v = abs(wk.node_cols[i, s, t, c]) * (1.0 / md.scale[MOMENT] if t >= BY_M else 1.0)
                if not v <= worst:
                    worst = v
    return worst


@njit(**INLINED)
def limit_shortening(md, un, wk, alpha):
    """Reduce alpha so that no extensible rod loses more than half of its length."""
    for i in range(md.size[LIMBS]):
        for j in range(md.joint_count[i]):
            if md.kind[i, j] == EXTENSION and md.actuator[i, j] >= 0:
                d = wk.dqv[md.actuator[i, j]]
                if d < 0.0:
                    alpha = min(alpha, -0.5 * un.Q[i, j] / d)
    return alpha


@njit(**INNER)
def copy_numbers(W, Q, X, to_W, to_Q, to_X):
    """Copy base wrenches, joint values and plate pose."""
    for i in range(W.shape[0]):
        for c in range(W.shape[1]):
            to_W[i, c] = W[i, c]
        for c in range(Q.shape[1]):
            to_Q[i, c] = Q[i, c]
    for c in range(len(X)):
        to_X[c] = X[c]


@njit(**INNER)
def copy_unknowns(source, target):
    """Copy unknowns; of nodes as many as both have."""
    copy_numbers(source.W, source.Q, source.X, target.W, target.Q, target.X)
    for i in range(source.nodes.shape[0]):
        for s in range(min(source.nodes.shape[1], target.nodes.shape[1])):
            for c in range(NODE_SIZE):
                target.nodes[i, s, c] = source.nodes[i, s, c]


@entry
def solve(md, wk, start, tasks, newton, rows):
    """Solve by Newton's method for each row of the tasks, each from the one before; return the number of rows done.

    After a step with fresh columns the rods are integrated without sensitivities; the old columns serve again while the
    residual falls a hundredfold at each step. With segments the nodes are unknowns, and a step that doubles the
    residual is halved. Rows that start apart are all done; one that fails has its last unknowns.

    Args:
        md: `Model`, the robot.
        wk: `Work`, changed in place.
        start: `Unknowns`, changed in place; nodes for each row that starts apart, shape (rows or 1, n, ..., 10).
        tasks: `Tasks`.
        newton: `Newton`.
        rows: `Rows`, written as far as rows are done, and the report of the row that fails, the last one looked at.
    """
    # Inner functions are called at one place as far as possible, for the time of compilation.
    yes, no = np.bool_(True), np.bool_(False)
    limit, segments = newton.limit, newton.segments
    fresh = newton.fresh
    for s in range(tasks.x.shape[0]):
        un = Unknowns(start.W, start.Q, start.X, start.nodes[s % start.nodes.shape[0]])
        if newton.apart:
            copy_numbers(rows.W[s], rows.Q[s], rows.X[s], un.W, un.Q, un.X)
            fresh = False
        steps, shots, rise = 0, 0, 0
        before, merit, alpha = np.inf, np.inf, 1.0
        retry = False
        exact = fresh
        todo = NO_INTEGRATION if fresh else (TIPS_ONLY if limit == RESIDUAL_ONLY else TIPS_AND_COLUMNS)
        ok = False
        report = rows.report[s]
        report[MARGIN] = NO_MARGIN
        while True:
            if todo != NO_INTEGRATION:
                exact = todo == TIPS_AND_COLUMNS
                place_bases(md, un, wk)
                if exact:
                    for i in range(md.size[LIMBS]):
                        shoot(md, un, wk, segments, i)
                    shots += 1
                else:
                    shoot_states(md, un, wk)
            todo = NO_INTEGRATION
            norm = residual(md, un, tasks.wrench[s], tasks.follower, wk, no, segments)
            norm = max(norm, distance_to_target(md, un, wk, tasks, s))
            if segments > 1:
                norm = max(norm, node_gaps(md, wk, segments))
            report[RESIDUAL], report[STEPS], report[INTEGRATIONS] = norm, steps, shots
            if norm < newton.tolerance and limit > 0:
                ok = True
                break
            if limit == RESIDUAL_ONLY or (steps >= limit and limit > 0) or not norm < DIVERGED:
                break
            if not exact and norm > SLOW * before:
                todo = TIPS_AND_COLUMNS
                continue
            if segments > 1 and not retry:
                if alpha > SHORTEST_STEP and norm > 2.0 * merit and rise < MOST_HALVINGS:
                    rise += 1
                    copy_unknowns(wk.kept, un)
                    alpha *= 0.5
                    retry = True
                    todo = TIPS_AND_COLUMNS
                    continue
                alpha = 1.0
                copy_unknowns(un, wk.kept)
                merit = norm
            retry = False
            if segments == 1 and norm > before:
                rise += 1
                if rise > MOST_RISES:
                    break
            before = norm
            residual(md, un, tasks.wrench[s], tasks.follower, wk, yes, segments)
            ok = condense(md, wk, segments, no)
            if not ok or limit == LINEARISE_ONLY:
                break
            ok = False
            report[MARGIN] = stability_margin(md, wk)
            solve_plate(md, wk, tasks.inverse, tasks.controlled, tasks.x[s])
            apply_step(md, un, segments, wk, limit_shortening(md, un, wk, alpha))
            steps += 1
            if segments > 1 or not exact or (steps == 1 and fresh) or norm > SLOW:
                todo = TIPS_AND_COLUMNS
            else:
                todo = TIPS_ONLY
        fresh = segments == 1 and limit != RESIDUAL_ONLY
        if not ok and limit > 0 and not newton.apart:
            return s
        copy_numbers(un.W, un.Q, un.X, rows.W[s], rows.Q[s], rows.X[s])
    return tasks.x.shape[0]
