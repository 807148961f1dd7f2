"""Integration of one rod and its sensitivities along its length.

Rod (s in [0, 1], rest length L, cross-section frame R = (d1, d2, d3), d3 along the undeformed rod)::

    p' = L R v      v = (0, 0, 1) + Kse^-1 R^T n        R' = L R hat(u)     u = u0 + Kbt^-1 R^T m
    n(s) = n0 - L F(s)      F(s) = integral of the distributed force, world axes [N/m]
    m' = -p' x n - L l

(Antman, Nonlinear Problems of Elasticity; Till et al., ICRA 2015). ``p'`` holds L already, so there is one
length factor in m'. R is carried by a quaternion that is normalised where it is used.

Sensitivities are propagated with the state, in world axes: a column is (dphi, dp, dm, dn) with
dR = hat(dphi) R, S = L R Kse^-1 R^T and B = L R Kbt^-1 R^T::

    dphi' = B (dm - dphi x m)    dp' = dphi x p' + S (dn - dphi x n)    dm' = -dp' x n - p' x dn

and the column of the rest length adds p'/L - S F to dp', R u to dphi' and the matching terms to dm'.

Integrator: the eighth-order, twelve-stage formula of Dormand and Prince (Hairer, Norsett and Wanner, Solving
Ordinary Differential Equations I, code DOP853) with a fixed number of steps. For a rod of a parallel robot
three steps (36 slopes) do what thirty steps of the classical fourth-order formula (120 slopes) do.
"""

from __future__ import annotations

import numpy as np
from numba import njit

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
    DM_X,
    DM_Y,
    DM_Z,
    DN,
    DN_X,
    DN_Y,
    DN_Z,
    DP_X,
    DP_Y,
    DP_Z,
    DPHI_X,
    DPHI_Y,
    DPHI_Z,
    LANES,
    LOAD_X,
    LOAD_Y,
    LOAD_Z,
    M_X,
    M_Y,
    M_Z,
    P_X,
    P_Y,
    P_Z,
    Q_W,
    Q_X,
    Q_Y,
    Q_Z,
    RECORD,
    SHEAR_1,
    SHEAR_2,
    SLOPE,
    SLOPES,
    STAGE,
    STAGES,
    STATE,
    TWIST,
)

# The formula. Stage i is at STAGE_ABSCISSAE[i] of a step. The first stages use the slopes 0 to 4 (EARLY); the later
# ones use 0 and 3 to 10 (LATE), so the slope of the last stage takes the place of slope 2.
STAGE_ABSCISSAE = (
    0.0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726, 0.3333333333333333, 0.25,
    0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571, 1.0,
)  # fmt: skip
EARLY = np.array([
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [0.05260015195876773, 0.0, 0.0, 0.0, 0.0],
    [0.0197250569845379, 0.0591751709536137, 0.0, 0.0, 0.0],
    [0.02958758547680685, 0.0, 0.08876275643042054, 0.0, 0.0],
    [0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792, 0.0],
    [0.037037037037037035, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242],
])  # fmt: skip
LATE = np.array([
    [0.037109375, 0.17025221101954405, 0.06021653898045596, -0.017578125, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.03709200011850479, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402, 0.008273789163814023, 0.0,
     0.0, 0.0, 0.0],
    [0.6241109587160757, -3.3608926294469414, -0.868219346841726, 27.59209969944671, 20.154067550477894,
     -43.48988418106996, 0.0, 0.0, 0.0],
    [0.47766253643826434, -2.4881146199716677, -0.590290826836843, 21.230051448181193, 15.279233632882423,
     -33.28821096898486, -0.020331201708508627, 0.0, 0.0],
    [-0.9371424300859873, 5.186372428844064, 1.0914373489967295, -8.149787010746927, -18.52006565999696,
     22.739487099350505, 2.4936055526796523, -3.0467644718982196, 0.0],
    [2.273310147516538, -10.53449546673725, -2.0008720582248625, -17.9589318631188, 27.94888452941996,
     -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636],
])  # fmt: skip
RESULT = np.array([
    0.054293734116568765, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585, 0.3111643669578199,
    -0.1521609496625161, 0.20136540080403034,
])  # fmt: skip
LAST_SLOPE = 2  # place of the slope of the last stage
LAST_WEIGHT = 0.04471061572777259  # its weight in the result


@njit(fastmath=FAST, **INLINED)
def rod_slope(q, n, m, s, k, u0, couple, length):
    """Return the rotation, row by row, the strains u times L, and the slopes of position, quaternion and moment.

    Args:
        q: quaternion of any norm.
        n, m: force and moment, world.
        s, k: compliances of shear and stretch and of bending and twist, times L.
        u0, couple: curvature of the undeformed rod and distributed moment, times L.
        length: rest length L.
    """
    qw, qx, qy, qz = q
    nx, ny, nz = n
    mx, my, mz = m
    r = 2.0 / (qw * qw + qx * qx + qy * qy + qz * qz)
    a, b, c = 1.0 - r * (qy * qy + qz * qz), r * (qx * qy - qw * qz), r * (qx * qz + qw * qy)
    d, e, f = r * (qx * qy + qw * qz), 1.0 - r * (qx * qx + qz * qz), r * (qy * qz - qw * qx)
    g, i, j = r * (qx * qz - qw * qy), r * (qy * qz + qw * qx), 1.0 - r * (qx * qx + qy * qy)
    v1, v2 = s[0] * (a * nx + d * ny + g * nz), s[1] * (b * nx + e * ny + i * nz)
    v3 = s[2] * (c * nx + f * ny + j * nz) + length
    u1 = k[0] * (a * mx + d * my + g * mz) + u0[0]
    u2 = k[1] * (b * mx + e * my + i * mz) + u0[1]
    u3 = k[2] * (c * mx + f * my + j * mz) + u0[2]
    px, py, pz = a * v1 + b * v2 + c * v3, d * v1 + e * v2 + f * v3, g * v1 + i * v2 + j * v3
    turning = -0.5 * (qx * u1 + qy * u2 + qz * u3), 0.5 * (qw * u1 + qy * u3 - qz * u2)
    turning_2 = 0.5 * (qw * u2 + qz * u1 - qx * u3), 0.5 * (qw * u3 + qx * u2 - qy * u1)
    my_, mz_ = -(pz * nx - px * nz) - couple[1], -(px * ny - py * nx) - couple[2]
    slope = px, py, pz, *turning, *turning_2, -(py * nz - pz * ny) - couple[0], my_, mz_
    return (a, b, c, d, e, f, g, i, j), (u1, u2, u3), slope


@njit(fastmath=FAST, **INNER)
def write_slope(w, tab, row, n0, n1, n2, length, column, lo):
    """Write the slope of the record at STAGE to the record at SLOPE; with lo == STATE of the state alone.

    The compiler vectorises loops that write to a fixed place; `keep_slope` then copies the record.
    """
    q = w[STAGE + Q_W], w[STAGE + Q_X], w[STAGE + Q_Y], w[STAGE + Q_Z]
    n = nx, ny, nz = n0 - length * tab[row, LOAD_X], n1 - length * tab[row, LOAD_Y], n2 - length * tab[row, LOAD_Z]
    m = mx, my, mz = w[STAGE + M_X], w[STAGE + M_Y], w[STAGE + M_Z]
    s = s1, s2, s3 = length * tab[row, SHEAR_1], length * tab[row, SHEAR_2], length * tab[row, AXIAL]
    k = b1, b2, b3 = length * tab[row, BEND_1], length * tab[row, BEND_2], length * tab[row, TWIST]
    u0 = length * tab[row, CURVATURE_1], length * tab[row, CURVATURE_2], length * tab[row, CURVATURE_3]
    couple = length * tab[row, COUPLE_X], length * tab[row, COUPLE_Y], length * tab[row, COUPLE_Z]
    (a, b, c, d, e, f, g, i, j), (u1, u2, u3), slope = rod_slope(q, n, m, s, k, u0, couple, length)
    px, py, pz = slope[0], slope[1], slope[2]
    w[SLOPE + P_X], w[SLOPE + P_Y], w[SLOPE + P_Z] = px, py, pz
    w[SLOPE + Q_W], w[SLOPE + Q_X], w[SLOPE + Q_Y], w[SLOPE + Q_Z] = slope[3], slope[4], slope[5], slope[6]
    w[SLOPE + M_X], w[SLOPE + M_Y], w[SLOPE + M_Z] = slope[7], slope[8], slope[9]
    if lo > 0:
        return
    # S and B are symmetric; C = -B hat(m)' s counterpart, D gathers what multiplies dphi in dp'.
    bb = b1 * a * a + b2 * b * b + b3 * c * c
    bc = b1 * a * d + b2 * b * e + b3 * c * f
    bd = b1 * a * g + b2 * b * i + b3 * c * j
    be = b1 * d * d + b2 * e * e + b3 * f * f
    bf = b1 * d * g + b2 * e * i + b3 * f * j
    bg = b1 * g * g + b2 * i * i + b3 * j * j
    sb = s1 * a * a + s2 * b * b + s3 * c * c
    sc = s1 * a * d + s2 * b * e + s3 * c * f
    sd = s1 * a * g + s2 * b * i + s3 * c * j
    se = s1 * d * d + s2 * e * e + s3 * f * f
    sf = s1 * d * g + s2 * e * i + s3 * f * j
    sg = s1 * g * g + s2 * i * i + s3 * j * j
    for t in range(LANES):
        fx, fy, fz = w[STAGE + DPHI_X + t], w[STAGE + DPHI_Y + t], w[STAGE + DPHI_Z + t]
        dnx, dny, dnz = w[DN_X + t], w[DN_Y + t], w[DN_Z + t]
        hx = w[STAGE + DM_X + t] - (fy * mz - fz * my)
        hy = w[STAGE + DM_Y + t] - (fz * mx - fx * mz)
        hz = w[STAGE + DM_Z + t] - (fx * my - fy * mx)
        gx = dnx - (fy * nz - fz * ny)
        gy = dny - (fz * nx - fx * nz)
        gz = dnz - (fx * ny - fy * nx)
        dx = fy * pz - fz * py + sb * gx + sc * gy + sd * gz
        dy = fz * px - fx * pz + sc * gx + se * gy + sf * gz
        dz = fx * py - fy * px + sd * gx + sf * gy + sg * gz
        w[SLOPE + DPHI_X + t] = bb * hx + bc * hy + bd * hz
        w[SLOPE + DPHI_Y + t] = bc * hx + be * hy + bf * hz
        w[SLOPE + DPHI_Z + t] = bd * hx + bf * hy + bg * hz
        w[SLOPE + DP_X + t] = dx
        w[SLOPE + DP_Y + t] = dy
        w[SLOPE + DP_Z + t] = dz
        w[SLOPE + DM_X + t] = -(dy * nz - dz * ny) - (py * dnz - pz * dny)
        w[SLOPE + DM_Y + t] = -(dz * nx - dx * nz) - (pz * dnx - px * dnz)
        w[SLOPE + DM_Z + t] = -(dx * ny - dy * nx) - (px * dny - py * dnx)
    if column >= 0:  # the column of the rest length: dn = -F, and every slope is proportional to L
        r = 1.0 / length
        dnx, dny, dnz = -tab[row, LOAD_X], -tab[row, LOAD_Y], -tab[row, LOAD_Z]
        dx = px * r + sb * dnx + sc * dny + sd * dnz
        dy = py * r + sc * dnx + se * dny + sf * dnz
        dz = pz * r + sd * dnx + sf * dny + sg * dnz
        w[SLOPE + DPHI_X + column] += r * (a * u1 + b * u2 + c * u3)
        w[SLOPE + DPHI_Y + column] += r * (d * u1 + e * u2 + f * u3)
        w[SLOPE + DPHI_Z + column] += r * (g * u1 + i * u2 + j * u3)
        w[SLOPE + DP_X + column] += dx
        w[SLOPE + DP_Y + column] += dy
        w[SLOPE + DP_Z + column] += dz
        w[SLOPE + DM_X + column] += -(dy * nz - dz * ny) - (py * dnz - pz * dny) - tab[row, COUPLE_X]
        w[SLOPE + DM_Y + column] += -(dz * nx - dx * nz) - (pz * dnx - px * dnz) - tab[row, COUPLE_Y]
        w[SLOPE + DM_Z + column] += -(dx * ny - dy * nx) - (px * dny - py * dnx) - tab[row, COUPLE_Z]


@njit(**INNER)
def keep_slope(w, target):
    """Copy the record at SLOPE."""
    for t in range(RECORD):
        w[target + t] = w[SLOPE + t]


@njit(fastmath=FAST, **INLINED)
def combine_early(w, begin, end, stage, slopes, record, h, weights):
    """Write numbers begin to end of the state of one of the first stages to the record at `stage`.

    Where the ends are constants it takes half the time. `record` is the size of the records that begin at `slopes`.
    """
    a0, a1, a2, a3, a4 = h * weights[0], h * weights[1], h * weights[2], h * weights[3], h * weights[4]
    for t in range(begin, end):
        w[stage + t] = w[t] + (
            a0 * w[slopes + t]
            + a1 * w[slopes + record + t]
            + a2 * w[slopes + 2 * record + t]
            + a3 * w[slopes + 3 * record + t]
            + a4 * w[slopes + 4 * record + t]
        )


@njit(fastmath=FAST, **INLINED)
def combine_late(w, begin, end, stage, slopes, record, h, weights, last):
    """Write those of one of the later stages, or with the weight `last` of the end of the step: see `combine_early`."""
    a0, a3, a4, a5, a6 = h * weights[0], h * weights[1], h * weights[2], h * weights[3], h * weights[4]
    a7, a8, a9, a10, a2 = h * weights[5], h * weights[6], h * weights[7], h * weights[8], h * last
    for t in range(begin, end):
        w[stage + t] = w[t] + (
            a0 * w[slopes + t]
            + a2 * w[slopes + LAST_SLOPE * record + t]
            + a3 * w[slopes + 3 * record + t]
            + a4 * w[slopes + 4 * record + t]
            + a5 * w[slopes + 5 * record + t]
            + a6 * w[slopes + 6 * record + t]
            + a7 * w[slopes + 7 * record + t]
            + a8 * w[slopes + 8 * record + t]
            + a9 * w[slopes + 9 * record + t]
            + a10 * w[slopes + 10 * record + t]
        )


@njit(fastmath=FAST, **INNER)
def combine(w, lo, h, stage, last):
    """Write the state at a stage to the record at STAGE; at the one after the last that of the end of the step."""
    if stage < len(EARLY):
        if lo == 0:
            combine_early(w, 0, STATE, STAGE, SLOPES, RECORD, h, EARLY[stage])
        combine_early(w, STATE, RECORD, STAGE, SLOPES, RECORD, h, EARLY[stage])
    else:
        weights = LATE[stage - len(EARLY)] if stage < STAGES else RESULT
        if lo == 0:
            combine_late(w, 0, STATE, STAGE, SLOPES, RECORD, h, weights, last)
        combine_late(w, STATE, RECORD, STAGE, SLOPES, RECORD, h, weights, last)


@njit(fastmath=FAST, **INNER)
def advance(w, tab, first, last, steps, n0, n1, n2, length, column, lo):
    """Advance the record at 0 from step first to step last of `steps` equal steps over [0, 1].

    Slopes that a stage does not use are combined with the weight zero, so they must hold finite numbers.

    Args:
        tab: the rod's table.
        n0, n1, n2: force at the base, world [N].
        column: of the rest length; -1 for none.
        lo: 0 with sensitivities, STATE for the state alone.
    """
    h = 1.0 / steps
    for t in range(SLOPE, DN):
        w[t] = 0.0
    for step in range(first, last):
        for stage in range(STAGES):
            combine(w, lo, h, stage, 0.0)
            slope = LAST_SLOPE if stage == STAGES - 1 else stage
            write_slope(w, tab, STAGES * step + stage, n0, n1, n2, length, column, lo)
            keep_slope(w, SLOPES + RECORD * slope)
        combine(w, lo, h, np.int64(STAGES), LAST_WEIGHT)
        for t in range(lo, RECORD):
            w[t] = w[STAGE + t]
