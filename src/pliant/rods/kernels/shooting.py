"""Integration of a limb from its base to its tip, with the derivatives of the tip by the limb's unknowns."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.rods.kernels.integrator import advance
from pliant.rods.kernels.jit import INLINED, INNER
from pliant.rods.kernels.layout import (
    BY_N,
    DM_X,
    DN,
    DP_X,
    DP_Y,
    DP_Z,
    DPHI_X,
    DPHI_Y,
    DPHI_Z,
    FORCE_COLUMN,
    JOINT_COLUMN,
    LANES,
    LIMBS,
    M_X,
    M_Y,
    M_Z,
    MOMENT_COLUMN,
    NODE_SIZE,
    P_X,
    P_Y,
    P_Z,
    POS_X,
    POS_Y,
    POS_Z,
    POSE_SIZE,
    PRISMATIC,
    Q_W,
    Q_X,
    Q_Y,
    Q_Z,
    RECORD,
    REVOLUTE,
    STAGES,
    STATE,
    TIP_LENGTH,
    TIP_M,
    TIP_N,
    TIP_P,
    TIP_Q,
    WORK_SIZE,
)
from pliant.rods.kernels.poses import multiply, read_quaternion, rotation_log, turn, write_quaternion


@njit(**INLINED)
def start_record(w, root, wrench):
    """Write the state at a rod's base, with the pose `root`, to the record at 0."""
    w[P_X], w[P_Y], w[P_Z] = root[POS_X], root[POS_Y], root[POS_Z]
    write_quaternion(root, w, np.int64(Q_W))
    w[M_X], w[M_Y], w[M_Z] = wrench[3], wrench[4], wrench[5]


@njit(**INLINED)
def quaternion_scale(w):
    """Return the factor that makes the quaternion of the record at 0 one of length 1."""
    return 1.0 / np.sqrt(w[Q_W] * w[Q_W] + w[Q_X] * w[Q_X] + w[Q_Y] * w[Q_Y] + w[Q_Z] * w[Q_Z])


@njit(**INLINED)
def place_base(md, un, wk, i):
    """Write base pose, joint axes and joint origins of limb i, and the rest length of its rod to its tip."""
    here, nxt = wk.poses[0], wk.poses[1]
    for t in range(POSE_SIZE):
        here[t] = md.base[i, t]
    length = md.rest[i]
    for j in range(md.joint_count[i]):
        multiply(here, md.offset[i, j], nxt)
        for t in range(POSE_SIZE):
            here[t] = nxt[t]
        ax, ay, az = md.axis[i, j, 0], md.axis[i, j, 1], md.axis[i, j, 2]
        ex = here[0] * ax + here[1] * ay + here[2] * az
        ey = here[3] * ax + here[4] * ay + here[5] * az
        ez = here[6] * ax + here[7] * ay + here[8] * az
        wk.axes[i, j, 0], wk.axes[i, j, 1], wk.axes[i, j, 2] = ex, ey, ez
        for t in range(3):
            wk.origins[i, j, t] = here[POS_X + t]
        q = un.Q[i, j]
        if md.kind[i, j] == PRISMATIC:
            here[POS_X] += q * ex
            here[POS_Y] += q * ey
            here[POS_Z] += q * ez
        elif md.kind[i, j] == REVOLUTE:
            turn(q * ex, q * ey, q * ez, here)
        else:
            length = q
    multiply(here, md.attach[i], wk.roots[i])
    wk.tips[i, TIP_LENGTH] = length


@njit(**INNER)
def place_bases(md, un, wk):
    """Write the pose of each rod's base, the axes and origins of its joints, and its rest length."""
    for i in range(md.size[LIMBS]):
        place_base(md, un, wk, i)


@njit(**INLINED)
def start_columns(md, wk, i, block):
    """Write the sensitivities at the base of limb i by a block of its unknowns to the record at 0.

    Returns the lane of the rest length, -1 if it is not in this block.
    """
    w, root = wk.w, wk.roots[i]
    extend = np.int64(-1)
    w[:RECORD] = 0.0
    w[DN:WORK_SIZE] = 0.0
    for c in range(LANES):
        col = LANES * block + c
        if col < MOMENT_COLUMN:
            w[DN + LANES * (col - FORCE_COLUMN) + c] = 1.0
        elif col < JOINT_COLUMN:
            w[DM_X + LANES * (col - MOMENT_COLUMN) + c] = 1.0
        elif col < JOINT_COLUMN + md.joint_count[i]:
            j = col - JOINT_COLUMN
            ex, ey, ez = wk.axes[i, j, 0], wk.axes[i, j, 1], wk.axes[i, j, 2]
            if md.kind[i, j] == PRISMATIC:
                w[DP_X + c], w[DP_Y + c], w[DP_Z + c] = ex, ey, ez
            elif md.kind[i, j] == REVOLUTE:
                rx = root[POS_X] - wk.origins[i, j, 0]
                ry = root[POS_Y] - wk.origins[i, j, 1]
                rz = root[POS_Z] - wk.origins[i, j, 2]
                w[DPHI_X + c], w[DPHI_Y + c], w[DPHI_Z + c] = ex, ey, ez
                w[DP_X + c], w[DP_Y + c], w[DP_Z + c] = ey * rz - ez * ry, ez * rx - ex * rz, ex * ry - ey * rx
            else:
                extend = c
    return extend


@njit(**INNER)
def pass_node(node, node_cols, w, affine, block):
    """Go on from a node of multiple shooting; the gap to it goes into the lane `affine`."""
    if 0 <= affine < LANES:
        rot, ref, gap = np.empty(9), np.empty(9), np.empty(3)
        read_quaternion(w, np.int64(Q_W), rot)
        read_quaternion(node, np.int64(TIP_Q), ref)
        rotation_log(rot, ref, gap)
        for t in range(3):
            w[DPHI_X + LANES * t + affine] += gap[t]
            w[DP_X + LANES * t + affine] += w[P_X + t] - node[TIP_P + t]
            w[DM_X + LANES * t + affine] += w[M_X + t] - node[TIP_M + t]
    for t in range(STATE // LANES):
        for c in range(LANES):
            node_cols[t, LANES * block + c] = w[LANES * t + c]
    for t in range(NODE_SIZE):
        w[P_X + t] = node[t]


@njit(**INNER)
def shoot(md, un, wk, segments, i):
    """Integrate limb i from its base, which `place_bases` has placed, to its tip; write the tip and its columns.

    With more than one segment the rod restarts at the given nodes, and the last column is affine: the
    displacement of the tip that closes the gaps of the nodes (multiple shooting, condensed).
    """
    w, wrench, tip = wk.w, un.W[i], wk.tips[i]
    steps, length = md.table.shape[1] // STAGES, tip[TIP_LENGTH]
    columns = JOINT_COLUMN + md.joint_count[i] + (1 if segments > 1 else 0)
    for block in range((columns + LANES - 1) // LANES):
        extend = start_columns(md, wk, i, block)
        start_record(w, wk.roots[i], wrench)
        first = np.int64(0)
        for seg in range(segments):
            last = (seg + 1) * steps // segments
            if seg > 0:
                pass_node(un.nodes[i, seg - 1], wk.node_cols[i, seg - 1], w, columns - 1 - LANES * block, block)
            advance(w, md.table[i], first, last, steps, wrench[0], wrench[1], wrench[2], length, extend, np.int64(0))
            first = last
        for c in range(LANES):
            col = LANES * block + c
            for t in range(STATE // LANES):
                wk.cols[i, t, col] = w[LANES * t + c]
            for t in range(3):
                wk.cols[i, BY_N + t, col] = w[DN + LANES * t + c]
        if extend >= 0:
            for t in range(3):
                wk.cols[i, BY_N + t, LANES * block + extend] -= md.load[i, t]
    h = quaternion_scale(w)
    for t in range(3):
        tip[TIP_P + t] = w[P_X + t]
        tip[TIP_M + t] = w[M_X + t]
        tip[TIP_N + t] = wrench[t] - length * md.load[i, t]
    for t in range(4):
        tip[TIP_Q + t] = w[Q_W + t] * h
