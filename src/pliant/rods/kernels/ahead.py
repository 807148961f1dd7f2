"""Following a path from a prediction of fourth order, with derivatives that serve for many rows.

All unknowns and the target are extrapolated by a polynomial through the last rows. What is then missing to the next
target, a high order of the way where the path is smooth, is a step with the last derivatives. Newton steps with these
follow, each after an integration of the states alone (`pliant.rods.kernels.side_by_side`), while they reduce the
residual well; where they do not, or where margins of stability are asked for, the derivatives are integrated anew.
By how much a step reduces the residual is measured, by another integration of the states, until its growth with the
way since the derivatives says that a row is converged; the residual of such a row is this estimate, times `SAFETY`.
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
    RESIDUAL,
    STEPS,
)
from pliant.rods.kernels.newton import copy_numbers, distance_to_target
from pliant.rods.kernels.shooting import place_bases, shoot
from pliant.rods.kernels.side_by_side import shoot_states
from pliant.rods.kernels.stability import stability_margin
from pliant.rods.kernels.step import apply_step, condense, condense_again, solve_plate

ONE_STEP = 2e-6  # residual from which one Newton step with its own derivatives converges
AFTER = 1e3  # residual after such a step by the square of that before it, at most
CONVERGED = 1e-8  # residual of a row before its last step, whose derivatives may be old
ESTIMATED = 5e-10  # residual of a row after its last step, where it is estimated only
SLOW = 0.1  # factor of the residual in a step with old derivatives above which they are integrated anew
RENEW = 0.03  # the same above which the next row begins with new ones
SAFETY, LEAST_FACTOR = 3.0, 1e-4  # of that factor, where it is estimated from that of an earlier row
MOST_STEPS = 6  # of a row
FAR, ROUNDED = 0.3, 1e-8  # of a matrix from a rotation: more is none; less is rounding after one more step
POINTS = 5  # rows behind that the prediction reads


@njit(**INNER)
def weights_ahead(places, first, s, weights):
    """Write Lagrange's weights, at the place of row s, of the rows before it back to `first`; return their number."""
    count = min(POINTS, s - first)
    for a in range(count):
        v = 1.0
        for b in range(count):
            if b != a:
                v *= (places[s] - places[s - 1 - b]) / (places[s - 1 - a] - places[s - 1 - b])
        weights[a] = v
    return count


@njit(**INNER)
def combine(rows, s, weights, count, out):
    """Write the sum of the rows before row s, by their weights, to out."""
    for c in range(len(out)):
        v = 0.0
        for a in range(count):
            v += weights[a] * rows[s - 1 - a, c]
        out[c] = v


@njit(**INNER)
def orthonormalise(x):
    """Move x[:9] to the nearest rotation (Newton and Schulz: R (3 - R^T R) / 2); return False if it is far from one."""
    g, r = np.empty(9), np.empty(9)
    off = 1.0
    while off > ROUNDED:
        off = 0.0
        for i in range(3):
            for j in range(3):
                d = x[i] * x[j] + x[3 + i] * x[3 + j] + x[6 + i] * x[6 + j] - (i == j)
                off = max(off, abs(d))
                g[3 * i + j] = (i == j) - 0.5 * d
        if not off < FAR:
            return False
        for i in range(3):
            for j in range(3):
                r[3 * i + j] = x[3 * i] * g[j] + x[3 * i + 1] * g[3 + j] + x[3 * i + 2] * g[6 + j]
        for c in range(9):
            x[c] = r[c]
    return True


@njit(**INNER)
def wrench_change(md, un, tasks, s, before, bc):
    """Write the scaled change of the wrench on the plate from `before` to that of row s as the condensed balance."""
    x = un.X
    for t in range(md.size[FREEDOMS]):
        c = md.plate_index[t]
        v = tasks.wrench[s, c] - before[c]
        if tasks.follower:
            r, at = 3 * (c % 3), 3 * (c // 3)
            v = 0.0
            for a in range(3):
                v += x[r + a] * (tasks.wrench[s, at + a] - before[at + a])
        bc[t] = v / (md.scale[FORCE] if c < 3 else md.scale[MOMENT])


@njit(**INNER)
def length_of_way(wk):
    """Return the length of what `distance_to_target` has found."""
    v = 0.0
    for c in wk.dxv:
        v += c * c
    for c in wk.dqv:
        v += c * c
    return np.sqrt(v)


@njit(**INNER)
def predict(md, wk, un, tasks, rows, s, weights, count):
    """Set the unknowns for row s from the rows before it."""
    combine(rows.X, s, weights, count, un.X)
    if not orthonormalise(un.X):  # rows that are far apart: the last one alone serves
        weights[0], count = 1.0, 1
        combine(rows.X, s, weights, count, un.X)
    for i in range(un.W.shape[0]):
        combine(rows.W[:, i], s, weights, count, un.W[i])
        combine(rows.Q[:, i], s, weights, count, un.Q[i])
    wrench = np.empty(6)
    combine(tasks.wrench, s, weights, count, wrench)
    wrench_change(md, un, tasks, s, wrench, wk.bc)
    wk.y[:, :, 0] = 0.0
    distance_to_target(md, un, wk, tasks, s)
    solve_plate(md, wk, tasks.inverse, tasks.controlled, tasks.x[s])
    apply_step(md, un, np.int64(1), wk, 1.0)


@entry
def follow(md, wk, un, tasks, margins, rows):
    """Solve each row of the tasks from those before; return the number of rows done.

    Args:
        md: `Model`, the robot.
        wk: `Work`, changed in place.
        un: `Unknowns`, near the first row; changed in place.
        tasks: `Tasks`.
        margins: whether the margin of stability is written for each row.
        rows: `Rows`; the residual is that of the row, or an estimate from above after its last step.
    """
    yes, once = np.bool_(True), np.int64(1)
    count = tasks.x.shape[0]
    places, weights, first, way_before = np.zeros(count), np.zeros(POINTS), 0, 0.0
    fresh, since = True, 0.0  # whether the next step needs new derivatives; the way since the last ones
    factor = np.inf  # of the residual in a step, for a way of one since the derivatives
    for s in range(count):
        report = rows.report[s]
        report[MARGIN] = NO_MARGIN
        steps, shots, before, limit = 0, 0, np.inf, np.inf
        fresh = fresh or margins
        while True:
            place_bases(md, un, wk)
            if fresh:
                for i in range(md.size[LIMBS]):
                    shoot(md, un, wk, once, i)
                shots += 1
            else:
                shoot_states(md, un, wk)
            norm = residual(md, un, tasks.wrench[s], tasks.follower, wk, fresh, once)
            norm = max(norm, distance_to_target(md, un, wk, tasks, s))
            if not fresh and steps == 1:
                factor = max(norm / before, LEAST_FACTOR) / since if since > 0.0 else np.inf
            if not fresh and norm > CONVERGED and norm > SLOW * before:
                fresh = True
                continue
            if steps == MOST_STEPS or not norm < limit:
                return s
            if not fresh:
                condense_again(md, wk)
            elif not condense(md, wk, once, yes):
                return s
            solve_plate(md, wk, tasks.inverse, tasks.controlled, tasks.x[s])
            apply_step(md, un, once, wk, 1.0)
            steps += 1
            before = norm
            if fresh:
                limit, factor, since, fresh = norm, np.inf, 0.0, False
                if norm < ONE_STEP:
                    norm = min(norm, AFTER * norm * norm)
                    break
            else:
                limit, estimate = np.inf, SAFETY * factor * since * norm
                if norm < CONVERGED or (steps == 1 and estimate < ESTIMATED):
                    norm = min(norm, estimate) if steps == 1 else norm
                    break
        fresh = factor * since > RENEW and factor < np.inf
        report[RESIDUAL], report[STEPS], report[INTEGRATIONS] = norm, steps, shots
        if margins:
            report[MARGIN] = stability_margin(md, wk)
        copy_numbers(un.W, un.Q, un.X, rows.W[s], rows.Q[s], rows.X[s])
        if s + 1 == count:
            break
        distance_to_target(md, un, wk, tasks, s + 1)
        way = length_of_way(wk)
        if not 0.0 < way < 2.0 * way_before:  # at a rest, or after it, the last row alone serves
            first = s
        way_before, since = way, since + way
        places[s + 1] = places[s] + way
        predict(md, wk, un, tasks, rows, s + 1, weights, weights_ahead(places, first, s + 1, weights))
    return count
