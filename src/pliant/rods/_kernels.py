"""Compiled kernels: the Cosserat rod, its sensitivities, a parallel robot's residual and its Newton solver.

Everything that numba compiles for the rods stands in this one file.

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

from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.base import codecache

__all__ = ["STAGES", "STAGE_ABSCISSAE", "TABLE_WIDTH", "Model", "Work", "solve", "survey"]

# Abscissae of the twelve stages of DOP853.
STAGE_ABSCISSAE = (
    0.0,
    0.05260015195876773,
    0.0789002279381516,
    0.1183503419072274,
    0.2816496580927726,
    0.3333333333333333,
    0.25,
    0.3076923076923077,
    0.6512820512820513,
    0.6,
    0.8571428571428571,
    1.0,
)
STAGES = 12
TABLE_WIDTH = 15  # columns of a rod's table

# Columns of a rod's table.
SHEAR_1, SHEAR_2, AXIAL = 0, 1, 2  # 1/Kse
BEND_1, BEND_2, TWIST = 3, 4, 5  # 1/Kbt
CURVATURE_1, CURVATURE_2, CURVATURE_3 = 6, 7, 8  # u0
LOAD_X, LOAD_Y, LOAD_Z = 9, 10, 11  # F
COUPLE_X, COUPLE_Y, COUPLE_Z = 12, 13, 14  # l

# One work array holds all, at constant offsets: so the compiler sees that rows do not overlap and vectorises. A record
# has nine rows of sensitivity columns, then the state, then six unused numbers.
NC = 8  # sensitivity columns of one pass
REC = 88
DPHI_X, DPHI_Y, DPHI_Z = 0, 8, 16
DP_X, DP_Y, DP_Z = 24, 32, 40
DM_X, DM_Y, DM_Z = 48, 56, 64
BASE = 72  # where the state starts
P_X, P_Y, P_Z = 72, 73, 74
Q_W, Q_X, Q_Y, Q_Z = 75, 76, 77, 78
M_X, M_Y, M_Z = 79, 80, 81
T = 88  # record of the state at a stage; the record at 0 is the state itself
K0 = 176  # records of the twelve slopes
DN = 176 + 12 * 88  # dn at the base, three rows of columns
DN_X, DN_Y, DN_Z = DN, DN + 8, DN + 16
WORK = DN + 24

# The state at a rod's tip, and at a node of multiple shooting, which has no n and no length.
TIP_P, TIP_Q, TIP_M, TIP_N, TIP_LENGTH = 0, 3, 7, 10, 13
NODE_SIZE = 10
# A pose: rotation row-major, then position.
POS_X, POS_Y, POS_Z = 9, 10, 11
# Columns of the gradients of a joint's rows, by the tip and by the plate; rows of a tip's sensitivities.
BY_PHI, BY_P, BY_M, BY_N = 0, 3, 6, 9
BY_PLATE_P, BY_PLATE_PHI = 0, 3
# Unknowns of a limb, and so columns of its sensitivities: base force, base moment, then the base joints.
FORCE_COLUMN, MOMENT_COLUMN, JOINT_COLUMN = 0, 3, 6
# Model.size, Model.scale, and the columns that `solve` writes for each row.
LIMBS, JOINTS, ACTUATORS, FREEDOMS, UNKNOWNS = 0, 1, 2, 3, 4
FORCE, MOMENT = 0, 1
RESIDUAL, STEPS, INTEGRATIONS, MARGIN = 0, 1, 2, 3

FAST = {"contract", "nsz", "arcp", "reassoc"}
# Functions that only compiled code calls need no wrappers: that halves the time of the first compilation.
INNER = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _entry(function):
    """Compile a function that Python calls, cached on disk."""
    return codecache.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)


@njit(fastmath=FAST, **INNER)
def _slope(w, dst, tab, row, n0, n1, n2, length, column, lo):
    """Write the slope of the record at T to the record at dst; with lo == BASE of the state alone."""
    qw, qx, qy, qz = w[T + Q_W], w[T + Q_X], w[T + Q_Y], w[T + Q_Z]
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
    nx, ny, nz = n0 - length * tab[row, LOAD_X], n1 - length * tab[row, LOAD_Y], n2 - length * tab[row, LOAD_Z]
    mx, my, mz = w[T + M_X], w[T + M_Y], w[T + M_Z]
    s1, s2, s3 = length * tab[row, SHEAR_1], length * tab[row, SHEAR_2], length * tab[row, AXIAL]
    b1, b2, b3 = length * tab[row, BEND_1], length * tab[row, BEND_2], length * tab[row, TWIST]
    # local strains, times L
    v1 = s1 * (a * nx + d * ny + g * nz)
    v2 = s2 * (b * nx + e * ny + i * nz)
    v3 = s3 * (c * nx + f * ny + j * nz) + length
    u1 = b1 * (a * mx + d * my + g * mz) + length * tab[row, CURVATURE_1]
    u2 = b2 * (b * mx + e * my + i * mz) + length * tab[row, CURVATURE_2]
    u3 = b3 * (c * mx + f * my + j * mz) + length * tab[row, CURVATURE_3]
    px = a * v1 + b * v2 + c * v3
    py = d * v1 + e * v2 + f * v3
    pz = g * v1 + i * v2 + j * v3
    w[dst + P_X], w[dst + P_Y], w[dst + P_Z] = px, py, pz
    w[dst + Q_W] = -0.5 * (qx * u1 + qy * u2 + qz * u3)
    w[dst + Q_X] = 0.5 * (qw * u1 + qy * u3 - qz * u2)
    w[dst + Q_Y] = 0.5 * (qw * u2 + qz * u1 - qx * u3)
    w[dst + Q_Z] = 0.5 * (qw * u3 + qx * u2 - qy * u1)
    w[dst + M_X] = -(py * nz - pz * ny) - length * tab[row, COUPLE_X]
    w[dst + M_Y] = -(pz * nx - px * nz) - length * tab[row, COUPLE_Y]
    w[dst + M_Z] = -(px * ny - py * nx) - length * tab[row, COUPLE_Z]
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
    for t in range(NC):
        fx, fy, fz = w[T + DPHI_X + t], w[T + DPHI_Y + t], w[T + DPHI_Z + t]
        dnx, dny, dnz = w[DN_X + t], w[DN_Y + t], w[DN_Z + t]
        hx = w[T + DM_X + t] - (fy * mz - fz * my)
        hy = w[T + DM_Y + t] - (fz * mx - fx * mz)
        hz = w[T + DM_Z + t] - (fx * my - fy * mx)
        gx = dnx - (fy * nz - fz * ny)
        gy = dny - (fz * nx - fx * nz)
        gz = dnz - (fx * ny - fy * nx)
        dx = fy * pz - fz * py + sb * gx + sc * gy + sd * gz
        dy = fz * px - fx * pz + sc * gx + se * gy + sf * gz
        dz = fx * py - fy * px + sd * gx + sf * gy + sg * gz
        w[dst + DPHI_X + t] = bb * hx + bc * hy + bd * hz
        w[dst + DPHI_Y + t] = bc * hx + be * hy + bf * hz
        w[dst + DPHI_Z + t] = bd * hx + bf * hy + bg * hz
        w[dst + DP_X + t] = dx
        w[dst + DP_Y + t] = dy
        w[dst + DP_Z + t] = dz
        w[dst + DM_X + t] = -(dy * nz - dz * ny) - (py * dnz - pz * dny)
        w[dst + DM_Y + t] = -(dz * nx - dx * nz) - (pz * dnx - px * dnz)
        w[dst + DM_Z + t] = -(dx * ny - dy * nx) - (px * dny - py * dnx)
    if column >= 0:  # the column of the rest length: dn = -F, and every slope is proportional to L
        r = 1.0 / length
        dnx, dny, dnz = -tab[row, LOAD_X], -tab[row, LOAD_Y], -tab[row, LOAD_Z]
        dx = px * r + sb * dnx + sc * dny + sd * dnz
        dy = py * r + sc * dnx + se * dny + sf * dnz
        dz = pz * r + sd * dnx + sf * dny + sg * dnz
        w[dst + DPHI_X + column] += r * (a * u1 + b * u2 + c * u3)
        w[dst + DPHI_Y + column] += r * (d * u1 + e * u2 + f * u3)
        w[dst + DPHI_Z + column] += r * (g * u1 + i * u2 + j * u3)
        w[dst + DP_X + column] += dx
        w[dst + DP_Y + column] += dy
        w[dst + DP_Z + column] += dz
        w[dst + DM_X + column] += -(dy * nz - dz * ny) - (py * dnz - pz * dny) - tab[row, COUPLE_X]
        w[dst + DM_Y + column] += -(dz * nx - dx * nz) - (pz * dnx - px * dnz) - tab[row, COUPLE_Y]
        w[dst + DM_Z + column] += -(dx * ny - dy * nx) - (px * dny - py * dnx) - tab[row, COUPLE_Z]


@njit(fastmath=FAST, **INNER)
def _early(w, lo, a0, a1, a2, a3, a4):
    """Combine the first five slopes into the state of a stage."""
    if lo == 0:
        for t in range(BASE):
            w[T + t] = w[t] + (
                a0 * w[K0 + t]
                + a1 * w[K0 + REC + t]
                + a2 * w[K0 + 2 * REC + t]
                + a3 * w[K0 + 3 * REC + t]
                + a4 * w[K0 + 4 * REC + t]
            )
    for t in range(BASE, REC):
        w[T + t] = w[t] + (
            a0 * w[K0 + t]
            + a1 * w[K0 + REC + t]
            + a2 * w[K0 + 2 * REC + t]
            + a3 * w[K0 + 3 * REC + t]
            + a4 * w[K0 + 4 * REC + t]
        )


@njit(fastmath=FAST, **INNER)
def _late(w, lo, a0, a3, a4, a5, a6, a7, a8, a9, a10):
    """Combine the slopes that the later stages and the step itself use."""
    if lo == 0:
        for t in range(BASE):
            w[T + t] = w[t] + (
                a0 * w[K0 + t]
                + a3 * w[K0 + 3 * REC + t]
                + a4 * w[K0 + 4 * REC + t]
                + a5 * w[K0 + 5 * REC + t]
                + a6 * w[K0 + 6 * REC + t]
                + a7 * w[K0 + 7 * REC + t]
                + a8 * w[K0 + 8 * REC + t]
                + a9 * w[K0 + 9 * REC + t]
                + a10 * w[K0 + 10 * REC + t]
            )
    for t in range(BASE, REC):
        w[T + t] = w[t] + (
            a0 * w[K0 + t]
            + a3 * w[K0 + 3 * REC + t]
            + a4 * w[K0 + 4 * REC + t]
            + a5 * w[K0 + 5 * REC + t]
            + a6 * w[K0 + 6 * REC + t]
            + a7 * w[K0 + 7 * REC + t]
            + a8 * w[K0 + 8 * REC + t]
            + a9 * w[K0 + 9 * REC + t]
            + a10 * w[K0 + 10 * REC + t]
        )


@njit(fastmath=FAST, **INNER)
def _advance(w, tab, first, last, steps, n0, n1, n2, length, column, lo):
    """Advance the record at 0 from step first to step last of `steps` equal steps over [0, 1].

    Slopes that a stage does not use are combined with the weight zero, so they must hold finite numbers.
    """
    h = 1.0 / steps
    zero = 0.0 * h
    for t in range(K0, DN):
        w[t] = 0.0
    for step in range(first, last):
        row = STAGES * step
        _early(w, lo, zero, zero, zero, zero, zero)
        _slope(w, row * 0 + K0, tab, row, n0, n1, n2, length, column, lo)
        _early(w, lo, h * 0.05260015195876773, zero, zero, zero, zero)
        _slope(w, row * 0 + K0 + REC, tab, row + 1, n0, n1, n2, length, column, lo)
        _early(w, lo, h * 0.0197250569845379, h * 0.0591751709536137, zero, zero, zero)
        _slope(w, row * 0 + K0 + 2 * REC, tab, row + 2, n0, n1, n2, length, column, lo)
        _early(w, lo, h * 0.02958758547680685, zero, h * 0.08876275643042054, zero, zero)
        _slope(w, row * 0 + K0 + 3 * REC, tab, row + 3, n0, n1, n2, length, column, lo)
        _early(w, lo, h * 0.2413651341592667, zero, h * -0.8845494793282861, h * 0.924834003261792, zero)
        _slope(w, row * 0 + K0 + 4 * REC, tab, row + 4, n0, n1, n2, length, column, lo)
        _early(w, lo, h * 0.037037037037037035, zero, zero, h * 0.17082860872947386, h * 0.12546768756682242)
        _slope(w, row * 0 + K0 + 5 * REC, tab, row + 5, n0, n1, n2, length, column, lo)
        _late(
            w,
            lo,
            h * 0.037109375,
            h * 0.17025221101954405,
            h * 0.06021653898045596,
            h * -0.017578125,
            zero,
            zero,
            zero,
            zero,
            zero,
        )
        _slope(w, row * 0 + K0 + 6 * REC, tab, row + 6, n0, n1, n2, length, column, lo)
        _late(
            w,
            lo,
            h * 0.03709200011850479,
            h * 0.17038392571223998,
            h * 0.10726203044637328,
            h * -0.015319437748624402,
            h * 0.008273789163814023,
            zero,
            zero,
            zero,
            zero,
        )
        _slope(w, row * 0 + K0 + 7 * REC, tab, row + 7, n0, n1, n2, length, column, lo)
        _late(
            w,
            lo,
            h * 0.6241109587160757,
            h * -3.3608926294469414,
            h * -0.868219346841726,
            h * 27.59209969944671,
            h * 20.154067550477894,
            h * -43.48988418106996,
            zero,
            zero,
            zero,
        )
        _slope(w, row * 0 + K0 + 8 * REC, tab, row + 8, n0, n1, n2, length, column, lo)
        _late(
            w,
            lo,
            h * 0.47766253643826434,
            h * -2.4881146199716677,
            h * -0.590290826836843,
            h * 21.230051448181193,
            h * 15.279233632882423,
            h * -33.28821096898486,
            h * -0.020331201708508627,
            zero,
            zero,
        )
        _slope(w, row * 0 + K0 + 9 * REC, tab, row + 9, n0, n1, n2, length, column, lo)
        _late(
            w,
            lo,
            h * -0.9371424300859873,
            h * 5.186372428844064,
            h * 1.0914373489967295,
            h * -8.149787010746927,
            h * -18.52006565999696,
            h * 22.739487099350505,
            h * 2.4936055526796523,
            h * -3.0467644718982196,
            zero,
        )
        _slope(w, row * 0 + K0 + 10 * REC, tab, row + 10, n0, n1, n2, length, column, lo)
        _late(
            w,
            lo,
            h * 2.273310147516538,
            h * -10.53449546673725,
            h * -2.0008720582248625,
            h * -17.9589318631188,
            h * 27.94888452941996,
            h * -2.8589982771350235,
            h * -8.87285693353063,
            h * 12.360567175794303,
            h * 0.6433927460157636,
        )
        _slope(w, row * 0 + K0 + 2 * REC, tab, row + 11, n0, n1, n2, length, column, lo)
        _late(
            w,
            lo,
            h * 0.054293734116568765,
            zero,
            zero,
            h * 4.450312892752409,
            h * 1.8915178993145003,
            h * -5.801203960010585,
            h * 0.3111643669578199,
            h * -0.1521609496625161,
            h * 0.20136540080403034,
        )
        if lo == 0:
            for t in range(BASE):
                w[t] = w[T + t] + h * 0.04471061572777259 * w[K0 + 2 * REC + t]
        for t in range(BASE, REC):
            w[t] = w[T + t] + h * 0.04471061572777259 * w[K0 + 2 * REC + t]


# --- the robot ---------------------------------------------------------------------------------------------

PRISMATIC, REVOLUTE, EXTENSION = 0, 1, 2
FIXED_JOINT, REVOLUTE_JOINT, UNIVERSAL_JOINT, SPHERICAL_JOINT, PRISMATIC_JOINT = 0, 1, 2, 3, 4
COLUMNS = 16  # 6 base wrench components, at most 9 base freedoms, one affine column for multiple shooting


class Model(NamedTuple):
    """A robot as the kernels read it: n limbs, k base joints at most in a limb. Poses are R row-major, then p."""

    size: np.ndarray  # n, k, actuators, plate freedoms (6 or 3), wrench unknowns of a limb (6 or 3)
    joint_count: np.ndarray  # (n,)
    kind: np.ndarray  # (n, k) PRISMATIC, REVOLUTE, EXTENSION
    actuator: np.ndarray  # (n, k) index of the actuator, -1 for a passive joint
    base: np.ndarray  # (n, 12) first joint frame in the world
    offset: np.ndarray  # (n, k, 12) joint frame in the frame that the joint before it moves
    axis: np.ndarray  # (n, k, 3) in the joint frame
    attach: np.ndarray  # (n, 12) rod base in the frame of the last joint
    rest: np.ndarray  # (n,) rest length, unless a base joint extends the rod
    tip: np.ndarray  # (n, 12) distal joint frame in the frame of the rod's tip
    plate_joint: np.ndarray  # (n, 12) distal joint frame in the plate frame
    distal: np.ndarray  # (n,) FIXED_JOINT ...
    rows: np.ndarray  # (n, 6) which of the six joint rows count
    wrench_index: np.ndarray  # (6,) which wrench components are unknown
    plate_index: np.ndarray  # (6,) which plate freedoms exist
    weight: np.ndarray  # (3,) world [N]
    com: np.ndarray  # (3,) plate frame [m]
    scale: np.ndarray  # force [N], moment [N m] that count as much as 1 m
    load: np.ndarray  # (n, 3) F(1)
    table: np.ndarray  # (n, 12 N, 15)


class Work(NamedTuple):
    """Memory of the kernels, and the linearisation that they leave behind."""

    w: np.ndarray
    tips: np.ndarray  # (n, 16): p, quaternion, m, n, L
    cols: np.ndarray  # (n, 12, 16): d(phi, p, m, n) of the tip by column
    node_cols: np.ndarray  # (n, 8, 9, 16)
    axes: np.ndarray  # (n, k, 3)
    origins: np.ndarray  # (n, k, 3)
    roots: np.ndarray  # (n, 12) pose of each rod's base
    r: np.ndarray  # (n, 6 + k) scaled joint rows, then passive rows
    d: np.ndarray  # (n, 6 + k, 16) their derivative by column
    dx: np.ndarray  # (n, 6, 6) derivative of the joint rows by the plate's twist
    g: np.ndarray  # (12, 12) scratch
    pw: np.ndarray  # (n, 6, 16) derivative of the limb's wrench on the plate, scaled
    b: np.ndarray  # (6,) scaled plate balance
    bx: np.ndarray  # (6, 6) its direct derivative by the plate's twist
    e: np.ndarray  # (6 + k, 14 + 2 k) scratch of the elimination
    y: np.ndarray  # (n, 6 + k, 8 + k): local unknowns = y0 + Yx dX + Yq dq
    bc: np.ndarray  # (6,) condensed plate balance
    stiffness: np.ndarray  # (6, 6) d balance / dX, condensed
    influence: np.ndarray  # (6, actuators) d balance / dq, condensed
    u: np.ndarray  # (6 + actuators, 7 + actuators + 8) scratch
    dxv: np.ndarray  # (6,) plate step
    dqv: np.ndarray  # (actuators,) joint step
    keep_w: np.ndarray
    keep_q: np.ndarray
    keep_x: np.ndarray
    keep_nodes: np.ndarray


@njit(**INNER)
def _mul(a, b, out):
    """out = a b for poses of 12 numbers; out may not be a or b."""
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j]
        out[9 + i] = a[3 * i] * b[9] + a[3 * i + 1] * b[10] + a[3 * i + 2] * b[11] + a[9 + i]


@njit(**INNER)
def _turn(x, y, z, out):
    """Left-multiply the rotation in out[:9] by the rotation vector (x, y, z)."""
    angle2 = x * x + y * y + z * z
    if angle2 < 1e-12:
        s, c = 1.0 - angle2 / 6.0, 0.5 - angle2 / 24.0
    else:
        angle = np.sqrt(angle2)
        s, c = np.sin(angle) / angle, (1.0 - np.cos(angle)) / angle2
    for j in range(3):
        a, b, d = out[j], out[3 + j], out[6 + j]
        t0, t1, t2 = y * d - z * b, z * a - x * d, x * b - y * a
        out[j] = a + s * t0 + c * (y * t2 - z * t1)
        out[3 + j] = b + s * t1 + c * (z * t0 - x * t2)
        out[6 + j] = d + s * t2 + c * (x * t1 - y * t0)


@njit(**INNER)
def _quaternion(m, w, at):
    """Write the quaternion of the rotation m[:9] to w[at:at + 4]."""
    t = m[0] + m[4] + m[8]
    if t > 0.0:
        s = 2.0 * np.sqrt(1.0 + t)
        w[at], w[at + 1], w[at + 2], w[at + 3] = 0.25 * s, (m[7] - m[5]) / s, (m[2] - m[6]) / s, (m[3] - m[1]) / s
    elif m[0] >= m[4] and m[0] >= m[8]:
        s = 2.0 * np.sqrt(1.0 + m[0] - m[4] - m[8])
        w[at], w[at + 1], w[at + 2], w[at + 3] = (m[7] - m[5]) / s, 0.25 * s, (m[1] + m[3]) / s, (m[2] + m[6]) / s
    elif m[4] >= m[8]:
        s = 2.0 * np.sqrt(1.0 + m[4] - m[0] - m[8])
        w[at], w[at + 1], w[at + 2], w[at + 3] = (m[2] - m[6]) / s, (m[1] + m[3]) / s, 0.25 * s, (m[5] + m[7]) / s
    else:
        s = 2.0 * np.sqrt(1.0 + m[8] - m[0] - m[4])
        w[at], w[at + 1], w[at + 2], w[at + 3] = (m[3] - m[1]) / s, (m[2] + m[6]) / s, (m[5] + m[7]) / s, 0.25 * s


@njit(**INNER)
def _rotation_log(rot, ref, out):
    """out[:3] = rotation vector, world axes, that takes the rotation ref[:9] to rot[:9]."""
    d = np.empty(9)
    for i in range(3):
        for j in range(3):
            d[3 * i + j] = rot[3 * i] * ref[3 * j] + rot[3 * i + 1] * ref[3 * j + 1] + rot[3 * i + 2] * ref[3 * j + 2]
    q = np.empty(4)
    _quaternion(d, q, q.size - 4)
    n = np.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    k = 2.0 if n < 1e-12 else 2.0 * np.arctan2(n, abs(q[0])) / n
    if q[0] < 0.0:
        k = -k
    out[0], out[1], out[2] = k * q[1], k * q[2], k * q[3]


@njit(**INNER)
def _shoot(md, ww, qq, nodes, segments, wk, i, sens):
    """Integrate limb i from its base to its tip; write tips, and with sens the columns too.

    With more than one segment the rod restarts at the given nodes, and the last column is affine: the
    displacement of the tip that closes the gaps of the nodes (multiple shooting, condensed).
    """
    w = wk.w
    k = md.joint_count[i]
    steps = md.table.shape[1] // STAGES
    here, nxt = np.empty(12), np.empty(12)
    for t in range(12):
        here[t] = md.base[i, t]
    length = md.rest[i]
    for j in range(k):
        _mul(here, md.offset[i, j], nxt)
        for t in range(12):
            here[t] = nxt[t]
        ax, ay, az = md.axis[i, j, 0], md.axis[i, j, 1], md.axis[i, j, 2]
        ex = here[0] * ax + here[1] * ay + here[2] * az
        ey = here[3] * ax + here[4] * ay + here[5] * az
        ez = here[6] * ax + here[7] * ay + here[8] * az
        wk.axes[i, j, 0], wk.axes[i, j, 1], wk.axes[i, j, 2] = ex, ey, ez
        for t in range(3):
            wk.origins[i, j, t] = here[POS_X + t]
        q = qq[i, j]
        if md.kind[i, j] == PRISMATIC:
            here[POS_X] += q * ex
            here[POS_Y] += q * ey
            here[POS_Z] += q * ez
        elif md.kind[i, j] == REVOLUTE:
            _turn(q * ex, q * ey, q * ez, here)
        else:
            length = q
    _mul(here, md.attach[i], nxt)
    for t in range(12):
        wk.roots[i, t] = nxt[t]
    columns = JOINT_COLUMN + k + (1 if segments > 1 else 0)
    blocks = (columns + NC - 1) // NC if sens else 1
    n0, n1, n2 = ww[i, 0], ww[i, 1], ww[i, 2]
    rot, ref, gap = np.empty(9), np.empty(9), np.empty(3)
    for block in range(blocks):
        extend = k * 0 - 1
        if sens:
            w[:REC] = 0.0
            w[DN:WORK] = 0.0
            for c in range(NC):
                col = NC * block + c
                if col < MOMENT_COLUMN:
                    w[DN + NC * col + c] = 1.0
                elif col < JOINT_COLUMN:
                    w[DM_X + NC * (col - MOMENT_COLUMN) + c] = 1.0
                elif col < JOINT_COLUMN + k:
                    j = col - JOINT_COLUMN
                    ex, ey, ez = wk.axes[i, j, 0], wk.axes[i, j, 1], wk.axes[i, j, 2]
                    if md.kind[i, j] == PRISMATIC:
                        w[DP_X + c], w[DP_Y + c], w[DP_Z + c] = ex, ey, ez
                    elif md.kind[i, j] == REVOLUTE:
                        rx, ry, rz = (
                            nxt[POS_X] - wk.origins[i, j, 0],
                            nxt[POS_Y] - wk.origins[i, j, 1],
                            nxt[POS_Z] - wk.origins[i, j, 2],
                        )
                        w[DPHI_X + c], w[DPHI_Y + c], w[DPHI_Z + c] = ex, ey, ez
                        w[DP_X + c], w[DP_Y + c], w[DP_Z + c] = ey * rz - ez * ry, ez * rx - ex * rz, ex * ry - ey * rx
                    else:
                        extend = c
        w[P_X], w[P_Y], w[P_Z] = nxt[POS_X], nxt[POS_Y], nxt[POS_Z]
        _quaternion(nxt, w, k * 0 + Q_W)
        w[M_X], w[M_Y], w[M_Z] = ww[i, 3], ww[i, 4], ww[i, 5]
        first = k * 0
        for seg in range(segments):
            last = (seg + 1) * steps // segments
            if seg > 0:
                node = nodes[i, seg - 1]
                c = columns - 1 - NC * block
                _unpack(w, first * 0 + Q_W, rot)
                _unpack(node, first * 0 + TIP_Q, ref)
                _rotation_log(rot, ref, gap)
                if sens:
                    if 0 <= c < NC:
                        for t in range(3):
                            w[DPHI_X + NC * t + c] += gap[t]
                            w[DP_X + NC * t + c] += w[P_X + t] - node[TIP_P + t]
                            w[DM_X + NC * t + c] += w[M_X + t] - node[TIP_M + t]
                    for t in range(9):
                        for c in range(NC):
                            wk.node_cols[i, seg - 1, t, NC * block + c] = w[NC * t + c]
                for t in range(NODE_SIZE):
                    w[P_X + t] = node[t]
            _advance(w, md.table[i], first, last, steps, n0, n1, n2, length, extend, 0 if sens else BASE)
            first = last
        if sens:
            for t in range(9):
                for c in range(NC):
                    wk.cols[i, t, NC * block + c] = w[NC * t + c]
            for t in range(3):
                for c in range(NC):
                    wk.cols[i, BY_N + t, NC * block + c] = w[DN + NC * t + c]
            if extend >= 0:
                for t in range(3):
                    wk.cols[i, BY_N + t, NC * block + extend] -= md.load[i, t]
    tip = wk.tips[i]
    h = 1.0 / np.sqrt(w[Q_W] * w[Q_W] + w[Q_X] * w[Q_X] + w[Q_Y] * w[Q_Y] + w[Q_Z] * w[Q_Z])
    for t in range(3):
        tip[TIP_P + t] = w[P_X + t]
        tip[TIP_M + t] = w[M_X + t]
        tip[TIP_N + t] = ww[i, t] - length * md.load[i, t]
    for t in range(4):
        tip[TIP_Q + t] = w[Q_W + t] * h
    tip[TIP_LENGTH] = length


@njit(**INNER)
def _unpack(w, at, out):
    """out[:9] = rotation of the quaternion w[at:at + 4], of any norm."""
    a, x, y, z = w[at], w[at + 1], w[at + 2], w[at + 3]
    k = 2.0 / (a * a + x * x + y * y + z * z)
    out[0], out[1], out[2] = 1.0 - k * (y * y + z * z), k * (x * y - a * z), k * (x * z + a * y)
    out[3], out[4], out[5] = k * (x * y + a * z), 1.0 - k * (x * x + z * z), k * (y * z - a * x)
    out[6], out[7], out[8] = k * (x * z - a * y), k * (y * z + a * x), 1.0 - k * (x * x + y * y)


@njit(**INNER)
def _cross(g, row, at, ax, ay, az, bx, by, bz):
    """g[row, at:at + 3] += a x b."""
    g[row, at] += ay * bz - az * by
    g[row, at + 1] += az * bx - ax * bz
    g[row, at + 2] += ax * by - ay * bx


@njit(**INNER)
def _joint(kind, tip, tip_frame, plate_joint, scale, xx, r, g, h, b, bx, sens):
    """Write the six scaled rows of a distal joint; with sens their derivatives.

    J_a: axes of the joint frame on the plate, B_a: of the same frame carried by the rod; e: position error;
    g: gradient by (phi, p, m, n) of the tip, h: by the plate's (p, phi), b, bx: plate balance;
    M = rho x n - m: moment of the rod on the joint about the point that the rod carries.
    """
    zero = kind * 0  # not a constant for numba, which would compile a function anew for each constant
    rot, jj, bb = np.empty(12), np.empty(12), np.empty(12)
    _unpack(tip, zero + TIP_Q, rot)
    rot[POS_X], rot[POS_Y], rot[POS_Z] = tip[TIP_P], tip[TIP_P + 1], tip[TIP_P + 2]
    _mul(rot, tip_frame, bb)
    _mul(xx, plate_joint, jj)
    ro0, ro1, ro2 = bb[POS_X] - tip[TIP_P], bb[POS_Y] - tip[TIP_P + 1], bb[POS_Z] - tip[TIP_P + 2]
    e0, e1, e2 = bb[POS_X] - jj[POS_X], bb[POS_Y] - jj[POS_Y], bb[POS_Z] - jj[POS_Z]
    n0, n1, n2 = tip[TIP_N], tip[TIP_N + 1], tip[TIP_N + 2]
    m0 = ro1 * n2 - ro2 * n1 - tip[TIP_M]
    m1 = ro2 * n0 - ro0 * n2 - tip[TIP_M + 1]
    m2 = ro0 * n1 - ro1 * n0 - tip[TIP_M + 2]
    fs, ms = 1.0 / scale[FORCE], 1.0 / scale[MOMENT]
    if sens:
        g[:6, :] = 0.0
        h[:, :] = 0.0
    a0, a1, a2 = jj[POS_X] - xx[POS_X], jj[POS_Y] - xx[POS_Y], jj[POS_Z] - xx[POS_Z]
    # position rows, along world axes or, for a slider, the two plate axes across it
    rows = 2 if kind == PRISMATIC_JOINT else 3
    for t in range(rows):
        if kind == PRISMATIC_JOINT:
            c0, c1, c2 = jj[t], jj[3 + t], jj[6 + t]
        else:
            c0, c1, c2 = 1.0 * (t == 0), 1.0 * (t == 1), 1.0 * (t == 2)
        r[t] = e0 * c0 + e1 * c1 + e2 * c2
        if sens:
            _cross(g, t, zero + BY_PHI, ro0, ro1, ro2, c0, c1, c2)
            g[t, BY_P] += c0
            g[t, BY_P + 1] += c1
            g[t, BY_P + 2] += c2
            h[t, BY_PLATE_P] -= c0
            h[t, BY_PLATE_P + 1] -= c1
            h[t, BY_PLATE_P + 2] -= c2
            _cross(h, t, zero + BY_PLATE_PHI, c0, c1, c2, a0, a1, a2)
            if kind == PRISMATIC_JOINT:
                _cross(h, t, zero + BY_PLATE_PHI, c0, c1, c2, e0, e1, e2)
    if kind == PRISMATIC_JOINT:
        c0, c1, c2 = jj[2], jj[5], jj[8]
        r[2] = -fs * (n0 * c0 + n1 * c1 + n2 * c2)
        if sens:
            g[2, BY_N], g[2, BY_N + 1], g[2, BY_N + 2] = -fs * c0, -fs * c1, -fs * c2
            _cross(h, 2 + zero, zero + BY_PLATE_PHI, -fs * c0, -fs * c1, -fs * c2, n0, n1, n2)
    # rotation rows: sums of J_a . B_b; their gradient by the relative rotation is B_b x J_a
    if kind in (FIXED_JOINT, PRISMATIC_JOINT):
        for t in range(3):
            u, v = (t + 1) % 3, (t + 2) % 3
            plus = jj[v] * bb[u] + jj[3 + v] * bb[3 + u] + jj[6 + v] * bb[6 + u]
            minus = jj[u] * bb[v] + jj[3 + u] * bb[3 + v] + jj[6 + u] * bb[6 + v]
            r[3 + t] = 0.5 * (plus - minus)
            if sens:
                _cross(
                    g, 3 + t, zero + BY_PHI, 0.5 * bb[u], 0.5 * bb[3 + u], 0.5 * bb[6 + u], jj[v], jj[3 + v], jj[6 + v]
                )
                _cross(
                    g,
                    3 + t,
                    zero + BY_PHI,
                    -0.5 * bb[v],
                    -0.5 * bb[3 + v],
                    -0.5 * bb[6 + v],
                    jj[u],
                    jj[3 + u],
                    jj[6 + u],
                )
    elif kind in (REVOLUTE_JOINT, UNIVERSAL_JOINT):
        count = 2 if kind == REVOLUTE_JOINT else 1
        for t in range(count):
            if kind == UNIVERSAL_JOINT:
                u, v = 0, 1  # J_x . B_y
            else:
                u, v = 1 - t, 2  # J_y . B_z, J_x . B_z
            r[3 + t] = jj[u] * bb[v] + jj[3 + u] * bb[3 + v] + jj[6 + u] * bb[6 + v]
            if sens:
                _cross(g, 3 + t, zero + BY_PHI, bb[v], bb[3 + v], bb[6 + v], jj[u], jj[3 + u], jj[6 + u])
    if sens:
        for t in range(3, 6):
            for c in range(3):
                h[t, BY_PLATE_PHI + c] -= g[t, BY_PHI + c]
    # moments along the free axes
    free = 0
    if kind == REVOLUTE_JOINT:
        free = 1
    elif kind == UNIVERSAL_JOINT:
        free = 2
    elif kind == SPHERICAL_JOINT:
        free = 3
    for t in range(free):
        row = 6 - free + t
        if kind == REVOLUTE_JOINT:
            c0, c1, c2 = bb[2], bb[5], bb[8]
        elif kind == UNIVERSAL_JOINT:
            if t == 0:
                c0, c1, c2 = jj[0], jj[3], jj[6]
            else:
                c0, c1, c2 = bb[1], bb[4], bb[7]
        else:
            c0, c1, c2 = 1.0 * (t == 0), 1.0 * (t == 1), 1.0 * (t == 2)
        r[row] = ms * (m0 * c0 + m1 * c1 + m2 * c2)
        if sens:
            s0, s1, s2 = ms * c0, ms * c1, ms * c2
            g[row, BY_M], g[row, BY_M + 1], g[row, BY_M + 2] = -s0, -s1, -s2
            # (rho x dn) . c = dn . (c x rho)
            _cross(g, row, zero + BY_N, s0, s1, s2, ro0, ro1, ro2)
            # ((dphi x rho) x n) . c = dphi . (rho x (n x c))
            k0, k1, k2 = n1 * s2 - n2 * s1, n2 * s0 - n0 * s2, n0 * s1 - n1 * s0
            _cross(g, row, zero + BY_PHI, ro0, ro1, ro2, k0, k1, k2)
            if kind == REVOLUTE_JOINT or (kind == UNIVERSAL_JOINT and t == 1):
                _cross(g, row, zero + BY_PHI, s0, s1, s2, m0, m1, m2)
            elif kind == UNIVERSAL_JOINT:
                _cross(h, row, zero + BY_PLATE_PHI, s0, s1, s2, m0, m1, m2)
    # the rod's wrench on the plate, about the plate's origin
    l0, l1, l2 = tip[TIP_P] - xx[POS_X], tip[TIP_P + 1] - xx[POS_Y], tip[TIP_P + 2] - xx[POS_Z]
    b[0] -= fs * n0
    b[1] -= fs * n1
    b[2] -= fs * n2
    b[3] -= ms * (tip[TIP_M] + l1 * n2 - l2 * n1)
    b[4] -= ms * (tip[TIP_M + 1] + l2 * n0 - l0 * n2)
    b[5] -= ms * (tip[TIP_M + 2] + l0 * n1 - l1 * n0)
    if not sens:
        return
    g[6:, :] = 0.0
    for t in range(3):
        g[6 + t, BY_N + t] = -fs
        g[9 + t, BY_M + t] = -ms
    # -(dp x n) and -(l x dn)
    g[9, BY_P + 1], g[9, BY_P + 2], g[10, BY_P + 2] = -ms * n2, ms * n1, -ms * n0
    g[10, BY_P], g[11, BY_P], g[11, BY_P + 1] = ms * n2, -ms * n1, ms * n0
    g[9, BY_N + 1], g[9, BY_N + 2], g[10, BY_N + 2] = ms * l2, -ms * l1, ms * l0
    g[10, BY_N], g[11, BY_N], g[11, BY_N + 1] = -ms * l2, ms * l1, -ms * l0
    for t in range(3):
        for c in range(3):
            bx[3 + t, c] -= g[9 + t, BY_P + c]


@njit(fastmath=FAST, **INNER)
def _chain(g, cols, joint, plate, columns):
    """Multiply the row gradients g by the tip columns: joint and plate rows."""
    wide = 8 if columns <= 8 else 16
    for t in range(6):
        d, pw = joint[t], plate[t]
        for c in range(wide):
            d[c] = 0.0
            pw[c] = 0.0
        for s in range(12):
            a, b = g[t, s], g[6 + t, s]
            if a != 0.0:
                for c in range(wide):
                    d[c] += a * cols[s, c]
            if b != 0.0:
                for c in range(wide):
                    pw[c] += b * cols[s, c]


@njit(**INNER)
def _passive(count, kinds, actuators, wrench, axes, origins, root, scale, r, derivative, sens):
    """Write the rows of a limb's passive base joints: the rod's force or moment along each is zero."""
    row = 6
    n0, n1, n2 = wrench[0], wrench[1], wrench[2]
    px, py, pz = root[POS_X], root[POS_Y], root[POS_Z]
    for j in range(count):
        if actuators[j] >= 0:
            continue
        d = derivative[row]
        ex, ey, ez = axes[j, 0], axes[j, 1], axes[j, 2]
        turns = kinds[j] == REVOLUTE
        if sens:
            d[:] = 0.0
        if not turns:
            s = 1.0 / scale[FORCE]
            r[row] = s * (ex * n0 + ey * n1 + ez * n2)
            gx, gy, gz = s * n0, s * n1, s * n2  # gradient by the axis
            fx, fy, fz = 0.0, 0.0, 0.0  # gradient by the root relative to the origin
            if sens:
                d[0], d[1], d[2] = s * ex, s * ey, s * ez
        else:
            s = 1.0 / scale[MOMENT]
            lx, ly, lz = px - origins[j, 0], py - origins[j, 1], pz - origins[j, 2]
            gx = s * (wrench[3] + ly * n2 - lz * n1)
            gy = s * (wrench[4] + lz * n0 - lx * n2)
            gz = s * (wrench[5] + lx * n1 - ly * n0)
            r[row] = ex * gx + ey * gy + ez * gz
            fx, fy, fz = s * (n1 * ez - n2 * ey), s * (n2 * ex - n0 * ez), s * (n0 * ey - n1 * ex)
            if sens:
                d[0], d[1], d[2] = s * (ey * lz - ez * ly), s * (ez * lx - ex * lz), s * (ex * ly - ey * lx)
                d[3], d[4], d[5] = s * ex, s * ey, s * ez
        if sens:
            for c in range(count):
                ax, ay, az = axes[c, 0], axes[c, 1], axes[c, 2]
                if kinds[c] == EXTENSION:
                    continue
                if kinds[c] == PRISMATIC:
                    dx, dy, dz = ax, ay, az
                    if c < j:
                        dx, dy, dz = 0.0, 0.0, 0.0  # moves root and origin alike
                else:
                    ox, oy, oz = origins[c, 0], origins[c, 1], origins[c, 2]
                    if c < j:
                        ox, oy, oz = origins[j, 0], origins[j, 1], origins[j, 2]
                        d[JOINT_COLUMN + c] += (
                            gx * (ay * ez - az * ey) + gy * (az * ex - ax * ez) + gz * (ax * ey - ay * ex)
                        )
                    hx, hy, hz = px - ox, py - oy, pz - oz
                    dx, dy, dz = ay * hz - az * hy, az * hx - ax * hz, ax * hy - ay * hx
                d[JOINT_COLUMN + c] += fx * dx + fy * dy + fz * dz
        row += 1
    return row - 6


@njit(**INNER)
def _residual(md, ww, xx, wrench, follower, wk, sens, segments):
    """Write all residual rows, with sens all derivatives; return the largest magnitude."""
    b, bx = wk.b, wk.bx
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
    if sens:
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
    worst = 0.0
    for i in range(md.size[LIMBS]):
        _joint(
            md.distal[i], wk.tips[i], md.tip[i], md.plate_joint[i], md.scale, xx, wk.r[i], wk.g, wk.dx[i], b, bx, sens
        )  # fmt: skip
        columns = JOINT_COLUMN + md.joint_count[i] + (1 if segments > 1 else 0)
        if sens:
            _chain(wk.g, wk.cols[i], wk.d[i], wk.pw[i], columns)
        passive = _passive(
            md.joint_count[i], md.kind[i], md.actuator[i], ww[i], wk.axes[i], wk.origins[i], wk.roots[i], md.scale,
            wk.r[i], wk.d[i], sens,
        )  # fmt: skip
        for t in range(6):
            row = md.rows[i, t]
            if row >= 0 and not abs(wk.r[i, row]) <= worst:
                worst = abs(wk.r[i, row])
        for t in range(passive):
            if not abs(wk.r[i, 6 + t]) <= worst:
                worst = abs(wk.r[i, 6 + t])
    for t in range(md.size[FREEDOMS]):
        if not abs(b[md.plate_index[t]]) <= worst:
            worst = abs(b[md.plate_index[t]])
    return worst


@njit(fastmath=FAST, **INNER)
def _eliminate(e, rows, width):
    """Gauss-Jordan with row pivoting on e[:rows, :width]; False if singular."""
    for p in range(rows):
        best, at = abs(e[p, p]), p
        for t in range(p + 1, rows):
            if abs(e[t, p]) > best:
                best, at = abs(e[t, p]), t
        if not best > 1e-300:
            return False
        if at != p:
            for c in range(p, width):
                e[p, c], e[at, c] = e[at, c], e[p, c]
        inv = 1.0 / e[p, p]
        for c in range(p + 1, width):
            e[p, c] *= inv
        for t in range(rows):
            if t != p:
                k = e[t, p]
                if k != 0.0:
                    for c in range(p + 1, width):
                        e[t, c] -= k * e[p, c]
    return True


@njit(fastmath=FAST, **INNER)
def _condense(md, wk, segments):
    """Eliminate each limb's unknowns; leave bc + stiffness dX + influence dq = 0 of the plate."""
    n, nw, npl = md.size[LIMBS], md.size[UNKNOWNS], md.size[FREEDOMS]
    bc, kx, kq = wk.bc, wk.stiffness, wk.influence
    for t in range(npl):
        bc[t] = wk.b[md.plate_index[t]]
        for c in range(npl):
            kx[t, c] = wk.bx[md.plate_index[t], md.plate_index[c]]
    kq[:, :] = 0.0
    local = np.empty(32, np.int64)
    driven = np.empty(16, np.int64)
    for i in range(n):
        k = md.joint_count[i]
        size = nw
        for c in range(nw):
            local[c] = md.wrench_index[c]
        count = 0
        for j in range(k):
            if md.actuator[i, j] < 0:
                local[size] = JOINT_COLUMN + j
                size += 1
            else:
                driven[count] = JOINT_COLUMN + j
                count += 1
        affine = JOINT_COLUMN + k
        width = size + 1 + npl + count
        e = wk.e
        for t in range(size):
            row = md.rows[i, t] if t < nw else 6 + t - nw
            for c in range(size):
                e[t, c] = wk.d[i, row, local[c]]
            e[t, size] = -wk.r[i, row]
            if segments > 1:
                e[t, size] -= wk.d[i, row, affine]
            for c in range(npl):
                e[t, size + 1 + c] = -wk.dx[i, row, md.plate_index[c]] if t < nw else 0.0
            for c in range(count):
                e[t, size + 1 + npl + c] = -wk.d[i, row, driven[c]]
        if not _eliminate(e, size, width):
            return False
        y = wk.y[i]
        for t in range(size):
            for c in range(1 + npl + count):
                y[t, c] = e[t, size + c]
        for t in range(npl):
            pw = wk.pw[i, md.plate_index[t]]
            if segments > 1:
                bc[t] += pw[affine]
            for s in range(size):
                a = pw[local[s]]
                bc[t] += a * y[s, 0]
                for c in range(npl):
                    kx[t, c] += a * y[s, 1 + c]
                for c in range(count):
                    kq[t, md.actuator[i, driven[c] - JOINT_COLUMN]] += a * y[s, 1 + npl + c]
            for c in range(count):
                kq[t, md.actuator[i, driven[c] - JOINT_COLUMN]] += pw[driven[c]]
    return True


@njit(**INNER)
def _pivot_solve(u, rows, cols):
    """Solve u[:rows, :cols] x = u[:rows, cols] by Gauss-Jordan with complete pivoting.

    Unknowns that no equation determines (a plate free to turn about a shared pin) stay at zero. The solution
    is left in u[:cols, cols + 1]; returns the rank.
    """
    order = np.arange(cols)
    top, rank = 0.0, 0
    for p in range(min(rows, cols)):
        best, r0, c0 = -1.0, p, p
        for t in range(p, rows):
            for c in range(p, cols):
                if abs(u[t, c]) > best:
                    best, r0, c0 = abs(u[t, c]), t, c
        if p == 0:
            top = best
        if not best > 1e-14 * top:
            break
        rank += 1
        if r0 != p:
            for c in range(cols + 1):
                u[p, c], u[r0, c] = u[r0, c], u[p, c]
        if c0 != p:
            for t in range(rows):
                u[t, p], u[t, c0] = u[t, c0], u[t, p]
            order[p], order[c0] = order[c0], order[p]
        inv = 1.0 / u[p, p]
        for c in range(p, cols + 1):
            u[p, c] *= inv
        for t in range(rows):
            if t != p and u[t, p] != 0.0:
                k = u[t, p]
                for c in range(p, cols + 1):
                    u[t, c] -= k * u[p, c]
    for c in range(cols):
        u[order[c], cols + 1] = u[c, cols] if c < rank else 0.0
    return rank


@njit(**INNER)
def _in_plate_axes(md, inverse, controlled):
    """Whether rotations are controlled in the axes of the target's plate: some of the three are, and others not."""
    if not inverse or md.size[FREEDOMS] < 6:
        return False
    return controlled[3] != controlled[4] or controlled[4] != controlled[5]


@njit(**INNER)
def _global_step(md, wk, inverse, controlled, x_target):
    """Find dX and dq. On entry the known ones are set; controlled: mask (6,) of the plate freedoms that are."""
    npl, na = md.size[FREEDOMS], md.size[ACTUATORS]
    u = wk.u
    cols = npl * 0
    turned = _in_plate_axes(md, inverse, controlled)
    for t in range(npl):
        u[t, :] = 0.0
    for c in range(npl):
        if not (inverse and controlled[c]):
            for t in range(npl):
                if turned and c > 2:
                    u[t, cols] = (
                        wk.stiffness[t, 3] * x_target[c - 3]
                        + wk.stiffness[t, 4] * x_target[c]
                        + wk.stiffness[t, 5] * x_target[c + 3]
                    )
                else:
                    u[t, cols] = wk.stiffness[t, c]
            cols += 1
    if inverse:
        for c in range(na):
            for t in range(npl):
                u[t, cols] = wk.influence[t, c]
            cols += 1
    for t in range(npl):
        s = -wk.bc[t]
        for c in range(npl):
            if inverse and (controlled[c] or (turned and c > 2)):
                s -= wk.stiffness[t, c] * wk.dxv[c]
        if not inverse:
            for c in range(na):
                s -= wk.influence[t, c] * wk.dqv[c]
        u[t, cols] = s
    if cols > npl:  # more actuators than freedoms: the smallest step
        a = np.empty((npl, cols))
        for t in range(npl):
            for c in range(cols):
                a[t, c] = u[t, c]
        s = np.empty(npl)
        for t in range(npl):
            s[t] = u[t, cols]
        for t in range(npl):
            for c in range(npl):
                v = 0.0
                for j in range(cols):
                    v += a[t, j] * a[c, j]
                u[t, c] = v
            u[t, npl] = s[t]
        _pivot_solve(u, npl, npl)
        x = np.empty(cols)
        for c in range(cols):
            v = 0.0
            for t in range(npl):
                v += a[t, c] * u[t, npl + 1]
            x[c] = v
        for c in range(cols):
            u[c, cols + 1] = x[c]
    else:
        _pivot_solve(u, npl, cols)
    at = 0
    for c in range(npl):
        if not (inverse and controlled[c]):
            if turned and c > 2:
                wk.dxv[3] += x_target[c - 3] * u[at, cols + 1]
                wk.dxv[4] += x_target[c] * u[at, cols + 1]
                wk.dxv[5] += x_target[c + 3] * u[at, cols + 1]
            else:
                wk.dxv[c] = u[at, cols + 1]
            at += 1
    if inverse:
        for c in range(na):
            wk.dqv[c] = u[at, cols + 1]
            at += 1


@njit(**INNER)
def _apply(md, ww, qq, xx, nodes, segments, wk, alpha):
    """Move every unknown by alpha times the Newton step."""
    n, nw, npl = md.size[LIMBS], md.size[UNKNOWNS], md.size[FREEDOMS]
    z = np.empty(COLUMNS)
    for i in range(n):
        k = md.joint_count[i]
        size, count = nw, 0
        for j in range(k):
            if md.actuator[i, j] < 0:
                size += 1
        y = wk.y[i]
        z[:] = 0.0
        passive = nw
        for t in range(size):
            v = y[t, 0]
            for c in range(npl):
                v += y[t, 1 + c] * wk.dxv[c]
            count = 0
            for j in range(k):
                if md.actuator[i, j] >= 0:
                    v += y[t, 1 + npl + count] * wk.dqv[md.actuator[i, j]]
                    count += 1
            if t < nw:
                z[md.wrench_index[t]] = v
            else:
                while True:
                    j = passive - nw
                    passive += 1
                    if md.actuator[i, j] < 0:
                        z[JOINT_COLUMN + j] = v
                        break
        for j in range(k):
            if md.actuator[i, j] >= 0:
                z[JOINT_COLUMN + j] = wk.dqv[md.actuator[i, j]]
        for c in range(6):
            ww[i, c] += alpha * z[c]
        for j in range(k):
            qq[i, j] += alpha * z[JOINT_COLUMN + j]
        if segments > 1:
            z[JOINT_COLUMN + k] = 1.0
            for s in range(segments - 1):
                node = nodes[i, s]
                cols = wk.node_cols[i, s]
                v0, v1, v2 = 0.0, 0.0, 0.0
                for c in range(JOINT_COLUMN + k + 1):
                    v0 += cols[BY_PHI, c] * z[c]
                    v1 += cols[BY_PHI + 1, c] * z[c]
                    v2 += cols[BY_PHI + 2, c] * z[c]
                    node[TIP_P] += alpha * cols[BY_P, c] * z[c]
                    node[TIP_P + 1] += alpha * cols[BY_P + 1, c] * z[c]
                    node[TIP_P + 2] += alpha * cols[BY_P + 2, c] * z[c]
                    node[TIP_M] += alpha * cols[BY_M, c] * z[c]
                    node[TIP_M + 1] += alpha * cols[BY_M + 1, c] * z[c]
                    node[TIP_M + 2] += alpha * cols[BY_M + 2, c] * z[c]
                v0, v1, v2 = 0.5 * alpha * v0, 0.5 * alpha * v1, 0.5 * alpha * v2
                h = np.sqrt(v0 * v0 + v1 * v1 + v2 * v2)
                a, f = np.cos(h), (np.sin(h) / h if h > 1e-9 else 1.0)
                b, c_, d = f * v0, f * v1, f * v2
                q0, q1, q2, q3 = node[TIP_Q], node[TIP_Q + 1], node[TIP_Q + 2], node[TIP_Q + 3]
                node[TIP_Q] = a * q0 - b * q1 - c_ * q2 - d * q3
                node[TIP_Q + 1] = a * q1 + b * q0 + c_ * q3 - d * q2
                node[TIP_Q + 2] = a * q2 - b * q3 + c_ * q0 + d * q1
                node[TIP_Q + 3] = a * q3 + b * q2 - c_ * q1 + d * q0
    v = np.zeros(6)
    for t in range(npl):
        v[md.plate_index[t]] = alpha * wk.dxv[t]
    xx[POS_X] += v[0]
    xx[POS_Y] += v[1]
    xx[POS_Z] += v[2]
    _turn(v[3], v[4], v[5], xx)


@njit(**INNER)
def _task(md, qq, xx, q_target, x_target, inverse, controlled, wk):
    """Set dqv or dxv (world axes) to what is still missing to the target; return its largest magnitude.

    Where some but not all rotations are controlled, they are those about the axes of the target's plate, so that
    (rx, ry) hold its normal and leave the turn about it free.
    """
    worst = 0.0
    wk.dxv[:] = 0.0
    wk.dqv[:] = 0.0
    if inverse:
        gap = np.empty(6)
        for t in range(3):
            gap[t] = x_target[POS_X + t] - xx[POS_X + t]
        _rotation_log(x_target, xx, gap[3:])
        turned = _in_plate_axes(md, inverse, controlled)
        free = 5 if not controlled[5] else (4 if not controlled[4] else 3)
        if turned and controlled[3] + controlled[4] + controlled[5] == 2:
            # the smallest turn that brings the free axis home, whatever the plate has turned about it
            f = free - 3
            a0, a1, a2 = xx[f], xx[3 + f], xx[6 + f]
            b0, b1, b2 = x_target[f], x_target[3 + f], x_target[6 + f]
            c0, c1, c2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
            s = np.sqrt(c0 * c0 + c1 * c1 + c2 * c2)
            v = np.arctan2(s, a0 * b0 + a1 * b1 + a2 * b2)
            k = v / s if s > 1e-12 else 1.0
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


@njit(**INNER)
def _gaps(md, wk, segments):
    """Largest gap at the nodes of multiple shooting, from the affine column where it was formed."""
    worst = 0.0
    for i in range(md.size[LIMBS]):
        c = JOINT_COLUMN + md.joint_count[i]
        for s in range(segments - 1):
            for t in range(9):
                v = abs(wk.node_cols[i, s, t, c]) * (1.0 / md.scale[MOMENT] if t >= BY_M else 1.0)
                if not v <= worst:
                    worst = v
    return worst


@njit(**INNER)
def _shortest(md, qq, wk, alpha):
    """Reduce alpha so that no extensible rod loses more than half of its length."""
    for i in range(md.size[LIMBS]):
        for j in range(md.joint_count[i]):
            if md.kind[i, j] == EXTENSION and md.actuator[i, j] >= 0:
                d = wk.dqv[md.actuator[i, j]]
                if d < 0.0:
                    alpha = min(alpha, -0.5 * qq[i, j] / d)
    return alpha


@njit(**INNER)
def _restore(ww, qq, xx, nodes, wk, keep):
    """Keep the unknowns, or take them back."""
    for i in range(ww.shape[0]):
        for c in range(6):
            if keep:
                wk.keep_w[i, c] = ww[i, c]
            else:
                ww[i, c] = wk.keep_w[i, c]
        for c in range(qq.shape[1]):
            if keep:
                wk.keep_q[i, c] = qq[i, c]
            else:
                qq[i, c] = wk.keep_q[i, c]
        for s in range(nodes.shape[1]):
            for c in range(NODE_SIZE):
                if keep:
                    wk.keep_nodes[i, s, c] = nodes[i, s, c]
                else:
                    nodes[i, s, c] = wk.keep_nodes[i, s, c]
    for c in range(12):
        if keep:
            wk.keep_x[c] = xx[c]
        else:
            xx[c] = wk.keep_x[c]


@njit(**INNER)
def _pivots(a, n, out):
    """Write the pivots of the symmetric a[:n, :n] to out[:n] (as many are negative as eigenvalues); changes a."""
    out[:n] = 0.0
    for p in range(n):
        best, at = abs(a[p, p]), p
        for t in range(p + 1, n):
            if abs(a[t, t]) > best:
                best, at = abs(a[t, t]), t
        if at != p:
            for c in range(n):
                a[p, c], a[at, c] = a[at, c], a[p, c]
            for c in range(n):
                a[c, p], a[c, at] = a[c, at], a[c, p]
        out[p] = a[p, p]
        if best == 0.0:
            break
        for t in range(p + 1, n):
            k = a[t, p] / a[p, p]
            for c in range(p + 1, n):
                a[t, c] -= k * a[p, c]


@njit(**INNER)
def _margin(md, wk):
    """Smallest pivot of the condensed plate stiffness but for free motions, in about the bending of the softest rod."""
    npl = md.size[FREEDOMS]
    length = 10.0 * md.scale[MOMENT] / md.scale[FORCE]
    a, pivots = np.empty((6, 6)), np.empty(6)
    for t in range(npl):
        row = -3.2 if md.plate_index[t] > 2 else -32.0  # for E I / L; 10 is length * scale[FORCE] / scale[MOMENT]
        for c in range(npl):
            a[t, c] = row * wk.stiffness[t, c] * (1.0 if md.plate_index[c] > 2 else length)
    _pivots(a, npl, pivots)
    least = np.inf
    for t in range(npl):
        if abs(pivots[t]) > 1e-9 and pivots[t] < least:
            least = pivots[t]
    return least


@_entry
def solve(
    md, ww, qq, xx, nodes, segments, q_targets, x_targets, inverse, controlled, wrenches, follower, wk, tol,
    limit, fresh, single, out, w_out, q_out, x_out
):  # fmt: skip
    """Solve by Newton's method for each row of q_targets, x_targets and wrenches, each from the one before.

    fresh: wk.tips and wk.cols belong to (ww, qq) already, so the first step costs no integration. After a step
    with fresh columns the rods are integrated without sensitivities; the old columns serve again while the
    residual falls a hundredfold at each step. limit 0: evaluate and linearise only; limit -1: residual without
    sensitivities. single: one Newton step a row, whatever the residual. With segments the nodes are unknowns,
    and a step that doubles the residual is halved.

    ww, qq, xx, nodes and wk are changed in place; rows are written to out (rows, 4: residual, steps,
    integrations with sensitivities, margin of the plate's stiffness before the last step or -1 without a step), w_out,
    q_out, x_out. Stops at the first row that fails and returns the
    number of rows done. Inner functions are called at one place as far as possible, for the time of compilation.
    """
    n = md.size[LIMBS]
    yes, no = n > 0, n < 0  # variables: numba would compile a function anew for each constant it is called with
    for s in range(x_targets.shape[0]):
        steps, shots, rise = n * 0, n * 0, n * 0
        before, merit, alpha = np.inf, np.inf, 1.0
        retry = False
        exact = fresh
        todo = 0 if fresh else (1 if limit < 0 else 2)
        ok = False
        out[s, MARGIN] = -1.0
        while True:
            if todo > 0:
                exact = todo == 2
                for i in range(n):
                    _shoot(md, ww, qq, nodes, segments, wk, i, exact)
                if exact:
                    shots += 1
            todo = 0
            norm = _residual(md, ww, xx, wrenches[s], follower, wk, no, segments)
            norm = max(norm, _task(md, qq, xx, q_targets[s], x_targets[s], inverse, controlled, wk))
            if segments > 1:
                norm = max(norm, _gaps(md, wk, segments))
            out[s, RESIDUAL], out[s, STEPS], out[s, INTEGRATIONS] = norm, steps, shots
            if single and steps == 1:
                ok = norm < 1e3
                break
            if norm < tol and not single and limit > 0:
                ok = True
                break
            if limit < 0 or (steps >= limit and limit > 0) or not norm < 1e9:
                break
            if not exact and norm > 1e-2 * before:
                todo = 2
                continue
            if segments > 1 and not retry:
                if alpha > 0.13 and norm > 2.0 * merit and rise < 20:
                    rise += 1
                    _restore(ww, qq, xx, nodes, wk, no)
                    alpha *= 0.5
                    retry = True
                    todo = 2
                    continue
                alpha = 1.0
                _restore(ww, qq, xx, nodes, wk, yes)
                merit = norm
            retry = False
            if segments == 1 and norm > before:
                rise += 1
                if rise > 3:
                    break
            before = norm
            _residual(md, ww, xx, wrenches[s], follower, wk, yes, segments)
            ok = _condense(md, wk, segments)
            if not ok or limit == 0:
                break
            ok = False
            out[s, MARGIN] = _margin(md, wk)
            _global_step(md, wk, inverse, controlled, x_targets[s])
            _apply(md, ww, qq, xx, nodes, segments, wk, _shortest(md, qq, wk, alpha))
            steps += 1
            todo = 2 if single or segments > 1 or not exact or (steps == 1 and fresh) or norm > 1e-2 else 1
        fresh = segments == 1 and limit >= 0
        if not ok and limit > 0:
            return s
        for i in range(n):
            for c in range(6):
                w_out[s, i, c] = ww[i, c]
            for c in range(qq.shape[1]):
                q_out[s, i, c] = qq[i, c]
        for c in range(12):
            x_out[s, c] = xx[c]
    return x_targets.shape[0]


@_entry
def survey(table, root, wrench, length, scale, planar, index, states, w):
    """Integrate one rod and record its states; with index count the negative modes of the clamped rod.

    root (12,): pose of the rod's base. states (steps + 1, 14): p, R row-major columns as quaternion (4), m, n,
    L. The count: the rod is cut at every step; the energy Hessian of the cuts, both ends clamped, is block
    tridiagonal, and the inertia of each diagonal block of its factorisation is that of Y_k Y_{k+1}^-1 B_k, with
    Y_k the tip displacement by the base wrench of the part up to cut k and B_k that of the step behind it.
    """
    steps = table.shape[0] // STAGES
    size = 3 if planar else 6
    pick = np.array([0, 1, 5]) if planar else np.array([0, 1, 2, 3, 4, 5])
    unit = np.array([1.0, 1.0, 1.0, 1.0 / scale, 1.0 / scale, 1.0 / scale])
    y0, e, d, pivots = np.zeros((6, 6)), np.zeros((6, 12)), np.zeros((6, 6)), np.zeros(6)
    keep = np.zeros(REC)
    count = 0
    w[:REC] = 0.0
    w[DN:WORK] = 0.0
    for c in range(3):
        w[DN + NC * c + c] = 1.0
        w[DM_X + NC * c + MOMENT_COLUMN + c] = 1.0
    w[P_X], w[P_Y], w[P_Z] = root[POS_X], root[POS_Y], root[POS_Z]
    _quaternion(root, w, steps * 0 + Q_W)
    w[M_X], w[M_Y], w[M_Z] = wrench[3], wrench[4], wrench[5]
    none = steps * 0 - 1
    lo = none + 1 if index else none + 1 + BASE
    for k in range(steps + 1):
        for t in range(NODE_SIZE):
            states[k, t] = w[P_X + t]
        h = 1.0 / np.sqrt(w[Q_W] * w[Q_W] + w[Q_X] * w[Q_X] + w[Q_Y] * w[Q_Y] + w[Q_Z] * w[Q_Z])
        for t in range(TIP_Q, TIP_M):
            states[k, t] *= h
        row = STAGES * k if k < steps else STAGES * steps - 1
        for t in range(3):
            states[k, TIP_N + t] = wrench[t] - length * table[row, LOAD_X + t]
        states[k, TIP_LENGTH] = length
        if k == steps:
            break
        if index:
            for t in range(REC):
                keep[t] = w[t]
            if k > 0:
                for a in range(size):
                    for b in range(size):
                        r = pick[a]
                        y0[a, b] = w[(DP_X + NC * r if r < 3 else DPHI_X + NC * (r - 3)) + pick[b]]
            # the step alone, base clamped, columns by its own base wrench
            w[:BASE] = 0.0
            for c in range(3):
                w[DM_X + NC * c + MOMENT_COLUMN + c] = 1.0
            _advance(w, table, k, k + 1, steps, wrench[0], wrench[1], wrench[2], length, none, none + 1)
            for a in range(size):
                for b in range(size):
                    r = pick[a]
                    e[a, size + b] = w[(DP_X + NC * r if r < 3 else DPHI_X + NC * (r - 3)) + pick[b]]
            for t in range(REC):
                w[t] = keep[t]
        _advance(w, table, k, k + 1, steps, wrench[0], wrench[1], wrench[2], length, none, lo)
        if index and k > 0:
            for a in range(size):
                for b in range(size):
                    r = pick[a]
                    e[a, b] = w[(DP_X + NC * r if r < 3 else DPHI_X + NC * (r - 3)) + pick[b]]
            if not _eliminate(e, size, 2 * size):
                return -1
            for a in range(size):
                for b in range(size):
                    v = 0.0
                    for c in range(size):
                        v += y0[a, c] * e[c, size + b]
                    d[a, b] = v
            for a in range(size):
                for b in range(a):
                    v = 0.5 * (d[a, b] + d[b, a])
                    d[a, b] = v
                    d[b, a] = v
            for a in range(size):
                for b in range(size):
                    d[a, b] /= unit[pick[a]] * unit[pick[b]]
            _pivots(d, size, pivots)
            for a in range(size):
                if pivots[a] < 0.0:
                    count += 1
    return count
