"""Newton's step: limbs are condensed onto the plate, the plate is solved, and every unknown is moved."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.rods.kernels.elimination import eliminate, solve_pivoted
from pliant.rods.kernels.jit import FAST, INNER
from pliant.rods.kernels.layout import (
    ACTUATORS,
    BY_M,
    BY_P,
    BY_PHI,
    COLUMNS,
    FREEDOMS,
    JOINT_COLUMN,
    LIMBS,
    PASSIVE_ROW,
    POS_X,
    POS_Y,
    POS_Z,
    TIP_M,
    TIP_P,
    TIP_Q,
    UNKNOWNS,
)
from pliant.rods.kernels.poses import turn


@njit(fastmath=FAST, **INNER)
def condense(md, wk, segments, inverse):
    """Eliminate each limb's unknowns; leave bc + stiffness dX + influence dq = 0 of the plate.

    Args:
        inverse: whether the inverse of each limb's rows is kept for `condense_again`.
    """
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
            row = md.rows[i, t] if t < nw else PASSIVE_ROW + t - nw
            for c in range(size):
                e[t, c] = wk.d[i, row, local[c]]
            e[t, size] = -wk.r[i, row]
            if segments > 1:
                e[t, size] -= wk.d[i, row, affine]
            for c in range(npl):
                e[t, size + 1 + c] = -wk.dx[i, row, md.plate_index[c]] if t < nw else 0.0
            for c in range(count):
                e[t, size + 1 + npl + c] = -wk.d[i, row, driven[c]]
        if inverse:
            for t in range(size):
                for c in range(size):
                    e[t, width + c] = 1.0 * (c == t)
        if not eliminate(e, size, width + size if inverse else width):
            return False
        if inverse:
            for t in range(size):
                for c in range(size):
                    wk.inverse[i, t, c] = e[t, width + c]
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


@njit(fastmath=FAST, **INNER)
def condense_again(md, wk):
    """Bring new residuals into the condensed balance, with the derivatives and inverses of an earlier `condense`."""
    nw, npl = md.size[UNKNOWNS], md.size[FREEDOMS]
    for t in range(npl):
        wk.bc[t] = wk.b[md.plate_index[t]]
    for i in range(md.size[LIMBS]):
        size, joint = nw, JOINT_COLUMN
        for j in range(md.joint_count[i]):
            if md.actuator[i, j] < 0:
                size += 1
        for t in range(size):
            v = 0.0
            for c in range(size):
                v -= wk.inverse[i, t, c] * wk.r[i, md.rows[i, c] if c < nw else PASSIVE_ROW + c - nw]
            wk.y[i, t, 0] = v
            column = md.wrench_index[min(t, nw - 1)]
            if t >= nw:
                while md.actuator[i, joint - JOINT_COLUMN] >= 0:
                    joint += 1
                column = joint
                joint += 1
            for c in range(npl):
                wk.bc[c] += wk.pw[i, md.plate_index[c], column] * v


@njit(**INNER)
def in_plate_axes(md, inverse, controlled):
    """Whether rotations are controlled in the axes of the target's plate: some of the three are, and others not."""
    if not inverse or md.size[FREEDOMS] < 6:
        return False
    return controlled[3] != controlled[4] or controlled[4] != controlled[5]


@njit(**INNER)
def solve_smallest(u, rows, cols):
    """Solve u[:rows, :cols] x = u[:rows, cols], with fewer rows than unknowns, by the smallest x.

    The solution is left in u[:cols, cols + 1].
    """
    a, s = np.empty((rows, cols)), np.empty(rows)
    for t in range(rows):
        for c in range(cols):
            a[t, c] = u[t, c]
        s[t] = u[t, cols]
    for t in range(rows):
        for c in range(rows):
            v = 0.0
            for j in range(cols):
                v += a[t, j] * a[c, j]
            u[t, c] = v
        u[t, rows] = s[t]
    solve_pivoted(u, rows, rows)
    for t in range(rows):
        s[t] = u[t, rows + 1]
    for c in range(cols):
        v = 0.0
        for t in range(rows):
            v += a[t, c] * s[t]
        u[c, cols + 1] = v


@njit(**INNER)
def solve_plate(md, wk, inverse, controlled, x_target):
    """Find dX and dq. On entry the known ones are set; controlled: mask (6,) of the plate freedoms that are."""
    npl, na = md.size[FREEDOMS], md.size[ACTUATORS]
    u = wk.u
    cols = np.int64(0)
    turned = in_plate_axes(md, inverse, controlled)
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
    if cols > npl:
        solve_smallest(u, npl, cols)
    else:
        solve_pivoted(u, npl, cols)
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
def move_node(node, cols, z, count, alpha):
    """Move a node of multiple shooting by alpha times its columns times the step z of the limb's unknowns."""
    v0, v1, v2 = 0.0, 0.0, 0.0
    for c in range(count):
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


@njit(**INNER)
def apply_step(md, un, segments, wk, alpha):
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
            un.W[i, c] += alpha * z[c]
        for j in range(k):
            un.Q[i, j] += alpha * z[JOINT_COLUMN + j]
        if segments > 1:
            z[JOINT_COLUMN + k] = 1.0
            for s in range(segments - 1):
                move_node(un.nodes[i, s], wk.node_cols[i, s], z, JOINT_COLUMN + k + 1, alpha)
    v = np.zeros(6)
    for t in range(npl):
        v[md.plate_index[t]] = alpha * wk.dxv[t]
    un.X[POS_X] += v[0]
    un.X[POS_Y] += v[1]
    un.X[POS_Z] += v[2]
    turn(v[3], v[4], v[5], un.X)
