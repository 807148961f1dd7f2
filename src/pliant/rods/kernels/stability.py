"""Stability: the margin of the plate's stiffness, and the negative modes inside one rod."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.rods.kernels.elimination import eliminate, inertia_pivots
from pliant.rods.kernels.integrator import advance
from pliant.rods.kernels.jit import INNER, entry
from pliant.rods.kernels.layout import (
    DM_X,
    DN,
    DP_X,
    DPHI_X,
    FORCE,
    FREEDOMS,
    LANES,
    LOAD_X,
    MOMENT,
    MOMENT_COLUMN,
    NODE_SIZE,
    P_X,
    RECORD,
    SINGULAR_CUT,
    STAGES,
    STATE,
    TIP_LENGTH,
    TIP_M,
    TIP_N,
    TIP_Q,
    WORK_SIZE,
)
from pliant.rods.kernels.shooting import quaternion_scale, start_record


@njit(**INNER)
def stability_margin(md, wk):
    """Smallest pivot of the condensed plate stiffness but for free motions, in about the bending of the softest rod."""
    npl = md.size[FREEDOMS]
    length = 10.0 * md.scale[MOMENT] / md.scale[FORCE]
    a, pivots = np.empty((6, 6)), np.empty(6)
    for t in range(npl):
        row = -3.2 if md.plate_index[t] > 2 else -32.0  # for E I / L; 10 is length * scale[FORCE] / scale[MOMENT]
        for c in range(npl):
            a[t, c] = row * wk.stiffness[t, c] * (1.0 if md.plate_index[c] > 2 else length)
    inertia_pivots(a, npl, pivots)
    least = np.inf
    for t in range(npl):
        if abs(pivots[t]) > 1e-9 and pivots[t] < least:
            least = pivots[t]
    return least


@njit(**INNER)
def clamp_base(w):
    """Write the sensitivities at a clamped base by its own wrench to the record at 0."""
    w[:STATE] = 0.0
    for c in range(3):
        w[DM_X + LANES * c + MOMENT_COLUMN + c] = 1.0


@njit(**INNER)
def tip_by_base_wrench(w, pick, out, first):
    """out[a, first + b] = displacement pick[a] of the tip by component pick[b] of the base wrench."""
    size = len(pick)
    for a in range(size):
        r = pick[a]
        at = DP_X + LANES * r if r < 3 else DPHI_X + LANES * (r - 3)
        for b in range(size):
            out[a, first + b] = w[at + pick[b]]


@njit(**INNER)
def count_negative(y, e, pick, scale, d, pivots):
    """Return the negative pivots of the symmetric part of y Z, with Z in the right half of e."""
    size = len(pick)
    for a in range(size):
        for b in range(size):
            v = 0.0
            for c in range(size):
                v += y[a, c] * e[c, size + b]
            d[a, b] = v
    for a in range(size):
        for b in range(a):
            v = 0.5 * (d[a, b] + d[b, a])
            d[a, b] = v
            d[b, a] = v
    for a in range(size):
        for b in range(size):
            d[a, b] /= (1.0 if pick[a] < 3 else 1.0 / scale) * (1.0 if pick[b] < 3 else 1.0 / scale)
    inertia_pivots(d, size, pivots)
    count = 0
    for a in range(size):
        if pivots[a] < 0.0:
            count += 1
    return count


@njit(**INNER)
def write_point(w, table, row, wrench, length, out):
    """Write the state in the record at 0, with the force at a row of the table, to out, as that of a tip."""
    for t in range(NODE_SIZE):
        out[t] = w[P_X + t]
    h = quaternion_scale(w)
    for t in range(TIP_Q, TIP_M):
        out[t] *= h
    for t in range(3):
        out[TIP_N + t] = wrench[t] - length * table[row, LOAD_X + t]
    out[TIP_LENGTH] = length


@entry
def survey(table, root, wrench, length, scale, planar, index, states, w):
    """Integrate one rod and record its states; with index count the negative modes of the clamped rod.

    The rod is cut at every step; the energy Hessian of the cuts, both ends clamped, is block tridiagonal, and the
    inertia of each diagonal block of its factorisation is that of Y_k Y_{k+1}^-1 B_k, with Y_k the tip displacement by
    the base wrench of the part up to cut k and B_k that of the step behind it.

    Args:
        table: of the rod, for one step per cut.
        root: pose of the rod's base, shape (12,).
        wrench: at its base, world, shape (6,) [N, N m].
        length: rest length [m].
        scale: length that makes moments comparable with forces [m].
        planar: whether only motions in the plane count.
        index: whether modes are counted.
        states: written, shape (steps + 1, TIP_SIZE): states as those of a tip.
        w: memory, shape (WORK_SIZE,).

    Returns:
        The count, or SINGULAR_CUT.
    """
    steps = table.shape[0] // STAGES
    pick = np.array([0, 1, 5]) if planar else np.array([0, 1, 2, 3, 4, 5])
    size = len(pick)
    y, e, d, pivots = np.zeros((6, 6)), np.zeros((6, 12)), np.zeros((6, 6)), np.zeros(6)
    keep = np.zeros(RECORD)
    count = 0
    n0, n1, n2, none, zero = wrench[0], wrench[1], wrench[2], np.int64(-1), np.int64(0)
    lo = zero if index else np.int64(STATE)
    w[DN:WORK_SIZE] = 0.0
    for c in range(3):
        w[DN + LANES * c + c] = 1.0
    clamp_base(w)
    start_record(w, root, wrench)
    for k in range(steps):
        write_point(w, table, STAGES * k, wrench, length, states[k])
        if index:
            for c in range(RECORD):  # numba takes 2 s to compile an assignment of an array to a slice
                keep[c] = w[c]
            if k > 0:
                tip_by_base_wrench(w, pick, y, zero)
            clamp_base(w)  # the step alone, its columns by its own base wrench
            advance(w, table, k, k + 1, steps, n0, n1, n2, length, none, zero)
            tip_by_base_wrench(w, pick, e, size)
            for c in range(RECORD):
                w[c] = keep[c]
        advance(w, table, k, k + 1, steps, n0, n1, n2, length, none, lo)
        if index and k > 0:
            tip_by_base_wrench(w, pick, e, zero)
            if not eliminate(e, size, 2 * size):
                return SINGULAR_CUT
            count += count_negative(y, e, pick, scale, d, pivots)
    write_point(w, table, STAGES * steps - 1, wrench, length, states[steps])
    return count
