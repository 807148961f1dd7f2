"""Rows of a limb's residual: its distal joint and its passive base joints, with their derivatives.

A distal joint has six rows: its position, then its rotation, and a moment in place of each rotation that is free (a
force in place of the position along a slider). J_a are the axes of the joint frame on the plate, B_a those of the same
frame carried by the rod, e is the position of the second against the first, rho the lever from the tip to it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.rods.kernels.jit import FAST, INLINED, INNER
from pliant.rods.kernels.layout import (
    BY_M,
    BY_N,
    BY_P,
    BY_PHI,
    BY_PLATE_P,
    BY_PLATE_PHI,
    EXTENSION,
    FIXED_JOINT,
    FORCE,
    JOINT_COLUMN,
    MOMENT,
    PASSIVE_ROW,
    PLATE_FORCE_ROW,
    PLATE_MOMENT_ROW,
    POS_X,
    POS_Y,
    POS_Z,
    POSITION_ROW,
    PRISMATIC,
    PRISMATIC_JOINT,
    REVOLUTE,
    REVOLUTE_JOINT,
    ROTATION_ROW,
    SPHERICAL_JOINT,
    TIP_M,
    TIP_N,
    TIP_P,
    TIP_Q,
    UNIVERSAL_JOINT,
)
from pliant.rods.kernels.poses import add_cross, multiply, read_quaternion


@njit(**INLINED)
def joint_rows(md, wk, xx, i, sens):
    """Write the six scaled rows of the distal joint of limb i, and add its rod's wrench to the plate's balance.

    With sens also write their derivatives: wk.g by (phi, p, m, n) of the tip, wk.dx by the plate's (p, phi).
    """
    kind, tip, r, g, h = md.distal[i], wk.tips[i], wk.r[i], wk.g, wk.dx[i]
    force, moment = 1.0 / md.scale[FORCE], 1.0 / md.scale[MOMENT]
    rot, jj, bb = wk.poses[0], wk.poses[1], wk.poses[2]
    read_quaternion(tip, np.int64(TIP_Q), rot)
    rot[POS_X], rot[POS_Y], rot[POS_Z] = tip[TIP_P], tip[TIP_P + 1], tip[TIP_P + 2]
    multiply(rot, md.tip[i], bb)
    multiply(xx, md.plate_joint[i], jj)
    if sens:
        g[:, :] = 0.0
        h[:, :] = 0.0
    position_rows(kind, jj, bb, tip, xx, force, r, g, h, sens)
    rotation_rows(kind, jj, bb, r, g, h, sens)
    moment_rows(kind, jj, bb, tip, moment, r, g, h, sens)
    wrench_on_plate(tip, xx, force, moment, wk.b, wk.bx, g, sens)


@njit(**INLINED)
def position_rows(kind, jj, bb, tip, xx, force, r, g, h, sens):
    """Write the position of a distal joint along world axes, or of a slider along the two plate axes across it.

    The third row of a slider is the force along it.
    """
    turn, plate_turn = np.int64(BY_PHI), np.int64(BY_PLATE_PHI)
    ro0, ro1, ro2 = bb[POS_X] - tip[TIP_P], bb[POS_Y] - tip[TIP_P + 1], bb[POS_Z] - tip[TIP_P + 2]
    e0, e1, e2 = bb[POS_X] - jj[POS_X], bb[POS_Y] - jj[POS_Y], bb[POS_Z] - jj[POS_Z]
    a0, a1, a2 = jj[POS_X] - xx[POS_X], jj[POS_Y] - xx[POS_Y], jj[POS_Z] - xx[POS_Z]
    slides = kind == PRISMATIC_JOINT
    for t in range(2 if slides else 3):
        row = POSITION_ROW + t
        if slides:
            c0, c1, c2 = jj[t], jj[3 + t], jj[6 + t]
        else:
            c0, c1, c2 = 1.0 * (t == 0), 1.0 * (t == 1), 1.0 * (t == 2)
        r[row] = e0 * c0 + e1 * c1 + e2 * c2
        if sens:
            add_cross(g, row, turn, ro0, ro1, ro2, c0, c1, c2)
            g[row, BY_P] += c0
            g[row, BY_P + 1] += c1
            g[row, BY_P + 2] += c2
            h[row, BY_PLATE_P] -= c0
            h[row, BY_PLATE_P + 1] -= c1
            h[row, BY_PLATE_P + 2] -= c2
            add_cross(h, row, plate_turn, c0, c1, c2, a0, a1, a2)
            if slides:
                add_cross(h, row, plate_turn, c0, c1, c2, e0, e1, e2)
    if slides:
        row = np.int64(POSITION_ROW + 2)
        n0, n1, n2 = tip[TIP_N], tip[TIP_N + 1], tip[TIP_N + 2]
        c0, c1, c2 = jj[2], jj[5], jj[8]
        r[row] = -force * (n0 * c0 + n1 * c1 + n2 * c2)
        if sens:
            g[row, BY_N], g[row, BY_N + 1], g[row, BY_N + 2] = -force * c0, -force * c1, -force * c2
            add_cross(h, row, plate_turn, -force * c0, -force * c1, -force * c2, n0, n1, n2)


@njit(**INNER)
def add_axes_turn(g, row, weight, bb, b, jj, j):
    """Add the gradient of weight J_j . B_b by the turn of the tip to a row: weight B_b x J_j."""
    add_cross(
        g, row, np.int64(BY_PHI), weight * bb[b], weight * bb[3 + b], weight * bb[6 + b], jj[j], jj[3 + j], jj[6 + j]
    )


@njit(**INLINED)
def rotation_rows(kind, jj, bb, r, g, h, sens):
    """Write the rows of the rotations that a distal joint holds: sums of J_a . B_b."""
    if kind in (FIXED_JOINT, PRISMATIC_JOINT):
        for t in range(3):
            u, v = (t + 1) % 3, (t + 2) % 3
            plus = jj[v] * bb[u] + jj[3 + v] * bb[3 + u] + jj[6 + v] * bb[6 + u]
            minus = jj[u] * bb[v] + jj[3 + u] * bb[3 + v] + jj[6 + u] * bb[6 + v]
            r[ROTATION_ROW + t] = 0.5 * (plus - minus)
            if sens:
                add_axes_turn(g, ROTATION_ROW + t, 0.5, bb, u, jj, v)
                add_axes_turn(g, ROTATION_ROW + t, -0.5, bb, v, jj, u)
    elif kind in (REVOLUTE_JOINT, UNIVERSAL_JOINT):
        for t in range(2 if kind == REVOLUTE_JOINT else 1):
            if kind == UNIVERSAL_JOINT:
                u, v = 0, 1  # J_x . B_y
            else:
                u, v = 1 - t, 2  # J_y . B_z, J_x . B_z
            r[ROTATION_ROW + t] = jj[u] * bb[v] + jj[3 + u] * bb[3 + v] + jj[6 + u] * bb[6 + v]
            if sens:
                add_axes_turn(g, ROTATION_ROW + t, 1.0, bb, v, jj, u)
    if sens:
        for row in range(ROTATION_ROW, PASSIVE_ROW):
            for c in range(3):
                h[row, BY_PLATE_PHI + c] -= g[row, BY_PHI + c]


@njit(**INLINED)
def moment_rows(kind, jj, bb, tip, moment, r, g, h, sens):
    """Write the moments rho x n - m of the rod about the free axes of a distal joint."""
    turn, plate_turn, by_force = np.int64(BY_PHI), np.int64(BY_PLATE_PHI), np.int64(BY_N)
    ro0, ro1, ro2 = bb[POS_X] - tip[TIP_P], bb[POS_Y] - tip[TIP_P + 1], bb[POS_Z] - tip[TIP_P + 2]
    n0, n1, n2 = tip[TIP_N], tip[TIP_N + 1], tip[TIP_N + 2]
    m0 = ro1 * n2 - ro2 * n1 - tip[TIP_M]
    m1 = ro2 * n0 - ro0 * n2 - tip[TIP_M + 1]
    m2 = ro0 * n1 - ro1 * n0 - tip[TIP_M + 2]
    free = 0
    if kind == REVOLUTE_JOINT:
        free = 1
    elif kind == UNIVERSAL_JOINT:
        free = 2
    elif kind == SPHERICAL_JOINT:
        free = 3
    for t in range(free):
        row = PASSIVE_ROW - free + t
        if kind == REVOLUTE_JOINT:
            c0, c1, c2 = bb[2], bb[5], bb[8]
        elif kind == UNIVERSAL_JOINT:
            if t == 0:
                c0, c1, c2 = jj[0], jj[3], jj[6]
            else:
                c0, c1, c2 = bb[1], bb[4], bb[7]
        else:
            c0, c1, c2 = 1.0 * (t == 0), 1.0 * (t == 1), 1.0 * (t == 2)
        r[row] = moment * (m0 * c0 + m1 * c1 + m2 * c2)
        if sens:
            s0, s1, s2 = moment * c0, moment * c1, moment * c2
            g[row, BY_M], g[row, BY_M + 1], g[row, BY_M + 2] = -s0, -s1, -s2
            # (rho x dn) . c = dn . (c x rho)
            add_cross(g, row, by_force, s0, s1, s2, ro0, ro1, ro2)
            # ((dphi x rho) x n) . c = dphi . (rho x (n x c))
            k0, k1, k2 = n1 * s2 - n2 * s1, n2 * s0 - n0 * s2, n0 * s1 - n1 * s0
            add_cross(g, row, turn, ro0, ro1, ro2, k0, k1, k2)
            if kind == REVOLUTE_JOINT or (kind == UNIVERSAL_JOINT and t == 1):
                add_cross(g, row, turn, s0, s1, s2, m0, m1, m2)
            elif kind == UNIVERSAL_JOINT:
                add_cross(h, row, plate_turn, s0, s1, s2, m0, m1, m2)


@njit(**INLINED)
def wrench_on_plate(tip, xx, force, moment, b, bx, g, sens):
    """Add a rod's scaled wrench on the plate, about the plate's origin, to the balance b and its derivative bx."""
    n0, n1, n2 = tip[TIP_N], tip[TIP_N + 1], tip[TIP_N + 2]
    l0, l1, l2 = tip[TIP_P] - xx[POS_X], tip[TIP_P + 1] - xx[POS_Y], tip[TIP_P + 2] - xx[POS_Z]
    b[0] -= force * n0
    b[1] -= force * n1
    b[2] -= force * n2
    b[3] -= moment * (tip[TIP_M] + l1 * n2 - l2 * n1)
    b[4] -= moment * (tip[TIP_M + 1] + l2 * n0 - l0 * n2)
    b[5] -= moment * (tip[TIP_M + 2] + l0 * n1 - l1 * n0)
    if not sens:
        return
    x, y, z = PLATE_MOMENT_ROW, PLATE_MOMENT_ROW + 1, PLATE_MOMENT_ROW + 2
    for t in range(3):
        g[PLATE_FORCE_ROW + t, BY_N + t] = -force
        g[PLATE_MOMENT_ROW + t, BY_M + t] = -moment
    # -(dp x n) and -(l x dn)
    g[x, BY_P + 1], g[x, BY_P + 2], g[y, BY_P + 2] = -moment * n2, moment * n1, -moment * n0
    g[y, BY_P], g[z, BY_P], g[z, BY_P + 1] = moment * n2, -moment * n1, moment * n0
    g[x, BY_N + 1], g[x, BY_N + 2], g[y, BY_N + 2] = moment * l2, -moment * l1, moment * l0
    g[y, BY_N], g[z, BY_N], g[z, BY_N + 1] = -moment * l2, moment * l1, -moment * l0
    for t in range(3):
        for c in range(3):
            bx[3 + t, BY_PLATE_P + c] -= g[PLATE_MOMENT_ROW + t, BY_P + c]


@njit(fastmath=FAST, **INNER)
def chain_columns(g, cols, joint, plate, columns):
    """Multiply the row gradients g by the tip columns: joint and plate rows."""
    wide = 8 if columns <= 8 else 16
    for t in range(6):
        d, pw = joint[t], plate[t]
        for c in range(wide):
            d[c] = 0.0
            pw[c] = 0.0
        for s in range(12):
            a, b = g[t, s], g[PLATE_FORCE_ROW + t, s]
            if a != 0.0:
                for c in range(wide):
                    d[c] += a * cols[s, c]
            if b != 0.0:
                for c in range(wide):
                    pw[c] += b * cols[s, c]


@njit(**INLINED)
def passive_rows(md, wrench, wk, i, sens):
    """Write the rows of limb i's passive base joints: the rod's force or moment along each is zero."""
    count, kinds, axes, origins, root = md.joint_count[i], md.kind[i], wk.axes[i], wk.origins[i], wk.roots[i]
    r, derivative = wk.r[i], wk.d[i]
    row = PASSIVE_ROW
    n0, n1, n2 = wrench[0], wrench[1], wrench[2]
    px, py, pz = root[POS_X], root[POS_Y], root[POS_Z]
    for j in range(count):
        if md.actuator[i, j] >= 0:
            continue
        d = derivative[row]
        ex, ey, ez = axes[j, 0], axes[j, 1], axes[j, 2]
        if sens:
            d[:] = 0.0
        if kinds[j] != REVOLUTE:
            s = 1.0 / md.scale[FORCE]
            r[row] = s * (ex * n0 + ey * n1 + ez * n2)
            gx, gy, gz = s * n0, s * n1, s * n2  # gradient by the axis
            fx, fy, fz = 0.0, 0.0, 0.0  # gradient by the root relative to the origin
            if sens:
                d[0], d[1], d[2] = s * ex, s * ey, s * ez
        else:
            s = 1.0 / md.scale[MOMENT]
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
    return row - PASSIVE_ROW
