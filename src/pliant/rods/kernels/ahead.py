"""Following a path with one integration and one Newton step a row, from a prediction of third order.

The linearisation at a row gives its Newton step and the first-order step to the next row. How far the first-order step
to a row was wrong, its predicted correction plus its Newton step, grows with the square of the way; its rate is
extrapolated from the last two rows. With it the prediction is wrong by the fourth order of the way only, and one Newton
step, whose error is the square of that, converges. A row whose residual is too large for that is integrated again.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.rods.kernels.balance import residual
from pliant.rods.kernels.jit import INNER, entry
from pliant.rods.kernels.layout import (
    FORCE,
    FREEDOMS,
    INTEGRATIONS,
    LIMBS,
    MARGIN,
    MOMENT,
    NO_MARGIN,
    POS_X,
    RESIDUAL,
    STEPS,
)
from pliant.rods.kernels.newton import copy_numbers, distance_to_target
from pliant.rods.kernels.poses import turn
from pliant.rods.kernels.shooting import shoot
from pliant.rods.kernels.stability import stability_margin
from pliant.rods.kernels.step import apply_step, condense, solve_plate

__all__ = ["follow"]

ONE_STEP = 2e-6  # residual from which one Newton step converges
AFTER = 1e3  # residual after a Newton step by the square of that before it, at most
MOST_STEPS = 5  # of a row


@njit(**INNER)
def wrench_change(md, un, tasks, s, bc):
    """Write the scaled change of the wrench on the plate from row s - 1 to row s as the plate's condensed balance."""
    x, d = un.X, np.empty(6)
    for t in range(6):
        d[t] = tasks.wrench[s, t] - tasks.wrench[s - 1, t]
    for t in range(md.size[FREEDOMS]):
        c = md.plate_index[t]
        v = d[c]
        if tasks.follower:
            r, at = 3 * (c % 3), 3 * (c // 3)
            v = x[r] * d[at] + x[r + 1] * d[at + 1] + x[r + 2] * d[at + 2]
        bc[t] = v / (md.scale[FORCE] if c < 3 else md.scale[MOMENT])


@njit(**INNER)
def remember(un, W, Q):
    """Write minus the unknowns to W and Q, to which the unknowns are added later."""
    for i in range(W.shape[0]):
        for c in range(6):
            W[i, c] -= un.W[i, c]
        for c in range(Q.shape[1]):
            Q[i, c] -= un.Q[i, c]


@njit(**INNER)
def add(un, W, Q, factor, to_W, to_Q):
    """Add factor times the unknowns' W and Q to others."""
    for i in range(W.shape[0]):
        for c in range(6):
            to_W[i, c] += factor * W[i, c]
        for c in range(Q.shape[1]):
            to_Q[i, c] += factor * Q[i, c]


@njit(**INNER)
def extrapolated(rates, c, rate, linear):
    """Return the next rate after the last and this one, and keep this one in rates[c]."""
    v = 2.0 * rate - rates[c] if linear else rate
    rates[c] = rate
    return v


@entry
def follow(md, wk, un, tasks, margins, rows):
    """Solve each row of the tasks from the one before; return the number of rows done.

    Args:
        md: `Model`, the robot.
        wk: `Work`, changed in place.
        un: `Unknowns`, near the first row; changed in place.
        tasks: `Tasks`.
        margins: whether the margin of stability is written for each row.
        rows: `Rows`; the residual is a bound of that after the last Newton step.
    """
    yes, one, once = np.bool_(True), 1.0, np.int64(1)
    error_W, error_Q, error_X = np.zeros_like(un.W), np.zeros_like(un.Q), np.zeros(6)
    rate_W, rate_Q, rate_X = np.zeros_like(un.W), np.zeros_like(un.Q), np.zeros(6)
    way_before, known = 0.0, False
    for s in range(tasks.x.shape[0]):
        report = rows.report[s]
        report[MARGIN] = NO_MARGIN
        steps, norm = 0, np.inf
        while norm > ONE_STEP:
            if steps == MOST_STEPS:
                return s
            for i in range(md.size[LIMBS]):
                shoot(md, un, wk, once, i, yes)
            before = norm
            norm = residual(md, un, tasks.wrench[s], tasks.follower, wk, yes, once)
            norm = max(norm, distance_to_target(md, un, wk, tasks, s))
            if not norm < before or not condense(md, wk, once):
                return s
            solve_plate(md, wk, tasks.inverse, tasks.controlled, tasks.x[s])
            remember(un, error_W, error_Q)
            apply_step(md, un, once, wk, one)
            add(un, un.W, un.Q, one, error_W, error_Q)
            for t in range(md.size[FREEDOMS]):
                error_X[t] += wk.dxv[t]
            steps += 1
        report[RESIDUAL], report[STEPS], report[INTEGRATIONS] = min(norm, AFTER * norm * norm), steps, steps
        if margins:
            report[MARGIN] = stability_margin(md, wk)
        copy_numbers(un.W, un.Q, un.X, rows.W[s], rows.Q[s], rows.X[s])
        if s + 1 == tasks.x.shape[0]:
            break
        way = distance_to_target(md, un, wk, tasks, s + 1)
        wrench_change(md, un, tasks, s + 1, wk.bc)
        for i in range(md.size[LIMBS]):
            for t in range(wk.y.shape[1]):
                wk.y[i, t, 0] = 0.0
        solve_plate(md, wk, tasks.inverse, tasks.controlled, tasks.x[s + 1])
        apply_step(md, un, once, wk, one)
        if s > 0 and way_before > 0.0 and way < 2.0 * way_before:
            k, before, linear = way * way, 1.0 / (way_before * way_before), known
            for i in range(un.W.shape[0]):
                for c in range(6):
                    error_W[i, c] = k * extrapolated(rate_W[i], c, before * error_W[i, c], linear)
                    un.W[i, c] += error_W[i, c]
                for c in range(un.Q.shape[1]):
                    error_Q[i, c] = k * extrapolated(rate_Q[i], c, before * error_Q[i, c], linear)
                    un.Q[i, c] += error_Q[i, c]
            for t in range(6):
                error_X[t] = k * extrapolated(rate_X, t, before * error_X[t], linear)
            known = True
        else:
            known = False
            error_W[:, :] = 0.0
            error_Q[:, :] = 0.0
            error_X[:] = 0.0
        way_before = way
        v = np.zeros(6)
        for t in range(md.size[FREEDOMS]):
            v[md.plate_index[t]] = error_X[t]
        for t in range(3):
            un.X[POS_X + t] += v[t]
        turn(v[3], v[4], v[5], un.X)
    return tasks.x.shape[0]
