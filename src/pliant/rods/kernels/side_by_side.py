"""States of up to eight rods integrated side by side, a rod a lane, without sensitivities.

The equations and the formula of `pliant.rods.kernels.integrator`; eight rods take the time of one and a half.
"""

from __future__ import annotations

from numba import njit

from pliant.rods.kernels.integrator import EARLY, LAST_SLOPE, LAST_WEIGHT, LATE, RESULT
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

__all__ = ["shoot_states"]


@njit(fastmath=FAST, **INNER)
def write_slopes(w):
    """Write the slopes of the states at SIDE_STAGE to the record at SIDE_SLOPE, a fixed place, for the compiler."""
    for t in range(RODS):
        qw, qx = w[SIDE_STAGE + SIDE_Q_W + t], w[SIDE_STAGE + SIDE_Q_X + t]
        qy, qz = w[SIDE_STAGE + SIDE_Q_Y + t], w[SIDE_STAGE + SIDE_Q_Z + t]
        k = 2.0 / (qw * qw + qx * qx + qy * qy + qz * qz)
        a = 1.0 - k * (qy * qy + qz * qz)
        b = k * (qx * qy - qw * qz)
        c = k * (qx * qz + qw * qy)
        d = k * (qx * qy + qw * qz)
        e = 1.0 - k * (qx * qx + qz * qz)
        f = k * (qy * qz - qw * qx)
        g = k * (qx * qz - qw * qy)
        i = k * (qy * qz + qw * qx)
        j = 1.0 - k * (qx * qx + qy * qy)
        nx = w[SIDE_FORCE + t] - w[SIDE_ROW + RODS * LOAD_X + t]
        ny = w[SIDE_FORCE + RODS + t] - w[SIDE_ROW + RODS * LOAD_Y + t]
        nz = w[SIDE_FORCE + 2 * RODS + t] - w[SIDE_ROW + RODS * LOAD_Z + t]
        mx, my, mz = w[SIDE_STAGE + SIDE_M_X + t], w[SIDE_STAGE + SIDE_M_Y + t], w[SIDE_STAGE + SIDE_M_Z + t]
        v1 = w[SIDE_ROW + RODS * SHEAR_1 + t] * (a * nx + d * ny + g * nz)
        v2 = w[SIDE_ROW + RODS * SHEAR_2 + t] * (b * nx + e * ny + i * nz)
        v3 = w[SIDE_ROW + RODS * AXIAL + t] * (c * nx + f * ny + j * nz) + w[SIDE_LENGTH + t]
        u1 = w[SIDE_ROW + RODS * BEND_1 + t] * (a * mx + d * my + g * mz) + w[SIDE_ROW + RODS * CURVATURE_1 + t]
        u2 = w[SIDE_ROW + RODS * BEND_2 + t] * (b * mx + e * my + i * mz) + w[SIDE_ROW + RODS * CURVATURE_2 + t]
        u3 = w[SIDE_ROW + RODS * TWIST + t] * (c * mx + f * my + j * mz) + w[SIDE_ROW + RODS * CURVATURE_3 + t]
        px = a * v1 + b * v2 + c * v3
        py = d * v1 + e * v2 + f * v3
        pz = g * v1 + i * v2 + j * v3
        w[SIDE_SLOPE + SIDE_P_X + t], w[SIDE_SLOPE + SIDE_P_Y + t], w[SIDE_SLOPE + SIDE_P_Z + t] = px, py, pz
        w[SIDE_SLOPE + SIDE_Q_W + t] = -0.5 * (qx * u1 + qy * u2 + qz * u3)
        w[SIDE_SLOPE + SIDE_Q_X + t] = 0.5 * (qw * u1 + qy * u3 - qz * u2)
        w[SIDE_SLOPE + SIDE_Q_Y + t] = 0.5 * (qw * u2 + qz * u1 - qx * u3)
        w[SIDE_SLOPE + SIDE_Q_Z + t] = 0.5 * (qw * u3 + qx * u2 - qy * u1)
        w[SIDE_SLOPE + SIDE_M_X + t] = -(py * nz - pz * ny) - w[SIDE_ROW + RODS * COUPLE_X + t]
        w[SIDE_SLOPE + SIDE_M_Y + t] = -(pz * nx - px * nz) - w[SIDE_ROW + RODS * COUPLE_Y + t]
        w[SIDE_SLOPE + SIDE_M_Z + t] = -(px * ny - py * nx) - w[SIDE_ROW + RODS * COUPLE_Z + t]


@njit(fastmath=FAST, **INNER)
def combine_first(w, h, weights):
    """Write the states at one of the first stages to the record at SIDE_STAGE."""
    a0, a1, a2, a3, a4 = h * weights[0], h * weights[1], h * weights[2], h * weights[3], h * weights[4]
    for t in range(SIDE_RECORD):
        w[SIDE_STAGE + t] = w[t] + (
            a0 * w[SIDE_SLOPES + t]
            + a1 * w[SIDE_SLOPES + SIDE_RECORD + t]
            + a2 * w[SIDE_SLOPES + 2 * SIDE_RECORD + t]
            + a3 * w[SIDE_SLOPES + 3 * SIDE_RECORD + t]
            + a4 * w[SIDE_SLOPES + 4 * SIDE_RECORD + t]
        )


@njit(fastmath=FAST, **INNER)
def combine_last(w, h, weights, last):
    """Write the states at one of the later stages, or with the weight `last` at the end, to the one at SIDE_STAGE."""
    a0, a3, a4, a5, a6 = h * weights[0], h * weights[1], h * weights[2], h * weights[3], h * weights[4]
    a7, a8, a9, a10, a2 = h * weights[5], h * weights[6], h * weights[7], h * weights[8], h * last
    for t in range(SIDE_RECORD):
        w[SIDE_STAGE + t] = w[t] + (
            a0 * w[SIDE_SLOPES + t]
            + a2 * w[SIDE_SLOPES + LAST_SLOPE * SIDE_RECORD + t]
            + a3 * w[SIDE_SLOPES + 3 * SIDE_RECORD + t]
            + a4 * w[SIDE_SLOPES + 4 * SIDE_RECORD + t]
            + a5 * w[SIDE_SLOPES + 5 * SIDE_RECORD + t]
            + a6 * w[SIDE_SLOPES + 6 * SIDE_RECORD + t]
            + a7 * w[SIDE_SLOPES + 7 * SIDE_RECORD + t]
            + a8 * w[SIDE_SLOPES + 8 * SIDE_RECORD + t]
            + a9 * w[SIDE_SLOPES + 9 * SIDE_RECORD + t]
            + a10 * w[SIDE_SLOPES + 10 * SIDE_RECORD + t]
        )


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
            if stage < len(EARLY):
                combine_first(w, h, EARLY[stage])
            else:
                combine_last(w, h, LATE[stage - len(EARLY)], 0.0)
            for t in range(RODS):
                i, length = min(first + t, len(tables) - 1), w[SIDE_LENGTH + t]
                for c in range(TABLE_WIDTH):
                    w[SIDE_ROW + RODS * c + t] = length * tables[i, STAGES * step + stage, c]
            slope = LAST_SLOPE if stage == STAGES - 1 else stage
            write_slopes(w)
            copy_record(w, SIDE_SLOPE, SIDE_SLOPES + SIDE_RECORD * slope)
        combine_last(w, h, RESULT, LAST_WEIGHT)
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
