"""States of up to eight rods integrated side by side, a rod a lane, without sensitivities.

The equations and the formula of `pliant.rods.kernels.integrator`; eight rods take the time of one and a half.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.rods.kernels.integrator import (
    EARLY,
    LAST_SLOPE,
    LAST_WEIGHT,
    LATE,
    RESULT,
    combine_early,
    combine_late,
    rod_slope,
)
from pliant.rods.kernels.jit import FAST, INLINED, INNER
from pliant.rods.kernels.layout import (
    AXIAL,
    BEND_1,
    BEND_2,
    COUPLE_X,
    COUPLE_Y,
    COUPLE_Z,
    CURVATURE_1,
    CURVATURE_2,
    CURVATURE_3,
    LIMBS,
    LOAD_X,
    LOAD_Y,
    LOAD_Z,
    POS_X,
    RODS,
    SHEAR_1,
    SHEAR_2,
    SIDE_FORCE,
    SIDE_LENGTH,
    SIDE_M_X,
    SIDE_M_Y,
    SIDE_M_Z,
    SIDE_P_X,
    SIDE_P_Y,
    SIDE_P_Z,
    SIDE_Q_W,
    SIDE_Q_X,
    SIDE_Q_Y,
    SIDE_Q_Z,
    SIDE_RECORD,
    SIDE_ROW,
    SIDE_SLOPE,
    SIDE_SLOPES,
    SIDE_STAGE,
    STAGES,
    TABLE_WIDTH,
    TIP_LENGTH,
    TIP_M,
    TIP_N,
    TIP_P,
    TIP_Q,
    TWIST,
)
from pliant.rods.kernels.poses import write_quaternion


@njit(fastmath=FAST, **INNER)
def write_slopes(w):
    """Write the slopes of the states at SIDE_STAGE to the record at SIDE_SLOPE, a fixed place, for the compiler."""
    for t in range(RODS):
        at = SIDE_ROW + t
        q = (
            w[SIDE_STAGE + SIDE_Q_W + t], w[SIDE_STAGE + SIDE_Q_X + t], w[SIDE_STAGE + SIDE_Q_Y + t],
            w[SIDE_STAGE + SIDE_Q_Z + t],
        )  # fmt: skip
        n = (
            w[SIDE_FORCE + t] - w[at + RODS * LOAD_X], w[SIDE_FORCE + RODS + t] - w[at + RODS * LOAD_Y],
            w[SIDE_FORCE + 2 * RODS + t] - w[at + RODS * LOAD_Z],
        )  # fmt: skip
        m = w[SIDE_STAGE + SIDE_M_X + t], w[SIDE_STAGE + SIDE_M_Y + t], w[SIDE_STAGE + SIDE_M_Z + t]
        s = w[at + RODS * SHEAR_1], w[at + RODS * SHEAR_2], w[at + RODS * AXIAL]
        k = w[at + RODS * BEND_1], w[at + RODS * BEND_2], w[at + RODS * TWIST]
        u0 = w[at + RODS * CURVATURE_1], w[at + RODS * CURVATURE_2], w[at + RODS * CURVATURE_3]
        couple = w[at + RODS * COUPLE_X], w[at + RODS * COUPLE_Y], w[at + RODS * COUPLE_Z]
        slope = rod_slope(q, n, m, s, k, u0, couple, w[SIDE_LENGTH + t])[2]
        out = SIDE_SLOPE + t
        w[out + SIDE_P_X], w[out + SIDE_P_Y], w[out + SIDE_P_Z] = slope[0], slope[1], slope[2]
        w[out + SIDE_Q_W], w[out + SIDE_Q_X] = slope[3], slope[4]
        w[out + SIDE_Q_Y], w[out + SIDE_Q_Z] = slope[5], slope[6]
        w[out + SIDE_M_X], w[out + SIDE_M_Y], w[out + SIDE_M_Z] = slope[7], slope[8], slope[9]


@njit(fastmath=FAST, **INNER)
def combine(w, h, stage, last):
    """Write the states at a stage to the record at SIDE_STAGE; after the last one those of the end of the step."""
    if stage < len(EARLY):
        combine_early(w, 0, SIDE_RECORD, SIDE_STAGE, SIDE_SLOPES, SIDE_RECORD, h, EARLY[stage])
    else:
        weights = LATE[stage - len(EARLY)] if stage < STAGES else RESULT
        combine_late(w, 0, SIDE_RECORD, SIDE_STAGE, SIDE_SLOPES, SIDE_RECORD, h, weights, last)


@njit(**INNER)
def copy_record(w, source, target):
    """Copy a record of states."""
    for t in range(SIDE_RECORD):
        w[target + t] = w[source + t]


@njit(**INLINED)
def advance_side(w, tables, first, steps):
    """Advance the states at 0 along whole rods; lane t is the rod first + t, or the last one beyond it.

    Slopes that a stage does not use are combined with the weight zero, so they must hold finite numbers.
    """
    h = 1.0 / steps
    for t in range(SIDE_SLOPES, SIDE_ROW):
        w[t] = 0.0
    for step in range(steps):
        for stage in range(STAGES):
            combine(w, h, stage, 0.0)
            for t in range(RODS):
                i, length = min(first + t, len(tables) - 1), w[SIDE_LENGTH + t]
                for c in range(TABLE_WIDTH):
                    w[SIDE_ROW + RODS * c + t] = length * tables[i, STAGES * step + stage, c]
            slope = LAST_SLOPE if stage == STAGES - 1 else stage
            write_slopes(w)
            copy_record(w, SIDE_SLOPE, SIDE_SLOPES + SIDE_RECORD * slope)
        combine(w, h, np.int64(STAGES), LAST_WEIGHT)
        copy_record(w, SIDE_STAGE, 0)


@njit(**INNER)
def shoot_states(md, un, wk):
    """Integrate all limbs from their bases, which stand in wk.roots with wk.tips[:, TIP_LENGTH], to wk.tips."""
    w, n = wk.side, md.size[LIMBS]
    steps = md.table.shape[1] // STAGES
    for first in range(0, n, RODS):
        for t in range(RODS):
            i = min(first + t, n - 1)
            root, length, tip = wk.roots[i], wk.tips[i, TIP_LENGTH], wk.tips[i]
            write_quaternion(root, tip, TIP_Q)
            w[SIDE_LENGTH + t] = length
            for c in range(4):
                w[SIDE_Q_W + RODS * c + t] = tip[TIP_Q + c]
            for c in range(3):
                w[SIDE_P_X + RODS * c + t] = root[POS_X + c]
                w[SIDE_M_X + RODS * c + t] = un.W[i, 3 + c]
                w[SIDE_FORCE + RODS * c + t] = un.W[i, c]
                tip[TIP_N + c] = un.W[i, c] - length * md.load[i, c]
        advance_side(w, md.table, first, steps)
        for t in range(min(RODS, n - first)):
            tip, square = wk.tips[first + t], 0.0
            for c in range(4):
                square += w[SIDE_Q_W + RODS * c + t] * w[SIDE_Q_W + RODS * c + t]
            for c in range(4):
                tip[TIP_Q + c] = w[SIDE_Q_W + RODS * c + t] / square**0.5
            for c in range(3):
                tip[TIP_P + c] = w[SIDE_P_X + RODS * c + t]
                tip[TIP_M + c] = w[SIDE_M_X + RODS * c + t]
