"""Residual of a robot: the rows of all limbs and the balance of the plate, with their derivatives."""

from __future__ import annotations

from numba import njit

from pliant.rods.kernels.jit import INLINED, INNER
from pliant.rods.kernels.joint_rows import chain_columns, joint_rows, passive_rows
from pliant.rods.kernels.layout import FORCE, FREEDOMS, JOINT_COLUMN, LIMBS, MOMENT, PASSIVE_ROW


@njit(**INLINED)
def external_wrench(md, xx, wrench, follower, b, bx, sens):
    """Write the scaled weight of the plate and the wrench on it to the balance b, with sens its derivative to bx."""
    fs, ms = 1.0 / md.scale[FORCE], 1.0 / md.scale[MOMENT]
    c0 = xx[0] * md.com[0] + xx[1] * md.com[1] + xx[2] * md.com[2]
    c1 = xx[3] * md.com[0] + xx[4] * md.com[1] + xx[5] * md.com[2]
    c2 = xx[6] * md.com[0] + xx[7] * md.com[1] + xx[8] * md.com[2]
    w0, w1, w2 = md.weight[0], md.weight[1], md.weight[2]
    if follower:
        f0 = xx[0] * wrench[0] + xx[1] * wrench[1] + xx[2] * wrench[2]
        f1 = xx[3] * wrench[0] + xx[4] * wrench[1] + xx[5] * wrench[2]
        f2 = xx[6] * wrench[0] + xx[7] * wrench[1] + xx[8] * wrench[2]
        t0 = xx[0] * wrench[3] + xx[1] * wrench[4] + xx[2] * wrench[5]
        t1 = xx[3] * wrench[3] + xx[4] * wrench[4] + xx[5] * wrench[5]
        t2 = xx[6] * wrench[3] + xx[7] * wrench[4] + xx[8] * wrench[5]
    else:
        f0, f1, f2, t0, t1, t2 = wrench[0], wrench[1], wrench[2], wrench[3], wrench[4], wrench[5]
    b[0], b[1], b[2] = fs * (w0 + f0), fs * (w1 + f1), fs * (w2 + f2)
    b[3] = ms * (t0 + c1 * w2 - c2 * w1)
    b[4] = ms * (t1 + c2 * w0 - c0 * w2)
    b[5] = ms * (t2 + c0 * w1 - c1 * w0)
    if not sens:
        return
    bx[:, :] = 0.0
    # (dphi x c) x w = c (dphi . w) - dphi (c . w)
    cw = c0 * w0 + c1 * w1 + c2 * w2
    for t in range(3):
        c = c0 if t == 0 else (c1 if t == 1 else c2)
        bx[3 + t, 3] += ms * c * w0
        bx[3 + t, 4] += ms * c * w1
        bx[3 + t, 5] += ms * c * w2
        bx[3 + t, 3 + t] -= ms * cw
    if follower:
        bx[0, 4], bx[0, 5], bx[1, 5] = fs * f2, -fs * f1, fs * f0
        bx[1, 3], bx[2, 3], bx[2, 4] = -fs * f2, fs * f1, -fs * f0
        bx[3, 4] += ms * t2
        bx[3, 5] -= ms * t1
        bx[4, 5] += ms * t0
        bx[4, 3] -= ms * t2
        bx[5, 3] += ms * t1
        bx[5, 4] -= ms * t0


@njit(**INNER)
def residual(md, un, wrench, follower, wk, sens, segments):
    """Write all residual rows, with sens all derivatives; return the largest magnitude."""
    external_wrench(md, un.X, wrench, follower, wk.b, wk.bx, sens)
    worst = 0.0
    for i in range(md.size[LIMBS]):
        joint_rows(md, wk, un.X, i, sens)
        if sens:
            columns = JOINT_COLUMN + md.joint_count[i] + (1 if segments > 1 else 0)
            chain_columns(wk.g, wk.cols[i], wk.d[i], wk.pw[i], columns)
        passive = passive_rows(md, un.W[i], wk, i, sens)
        for t in range(PASSIVE_ROW):
            row = md.rows[i, t]
            if row >= 0 and not abs(wk.r[i, row]) <= worst:
                worst = abs(wk.r[i, row])
        for t in range(passive):
            if not abs(wk.r[i, PASSIVE_ROW + t]) <= worst:
                worst = abs(wk.r[i, PASSIVE_ROW + t])
    for t in range(md.size[FREEDOMS]):
        if not abs(wk.b[md.plate_index[t]]) <= worst:
            worst = abs(wk.b[md.plate_index[t]])
    return worst
