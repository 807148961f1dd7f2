"""Arrays that the kernels read and write: the robot, their memory, unknowns, tasks and results.

In each, n is the number of limbs, k the number of base joints in a limb at most, and a pose is a rotation, row-major,
followed by a position. The offsets into a row stand in `pliant.rods.kernels.layout`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Unknowns(NamedTuple):
    """Unknowns of a solve at its starting point."""

    W: np.ndarray  # (n, 6) base wrenches, world [N, N m]
    Q: np.ndarray  # (n, k) base joint values [m or rad]
    X: np.ndarray  # (12,) plate pose
    nodes: np.ndarray  # (n, segments - 1 or more, 10) states of the rods between segments


class Model(NamedTuple):
    """A robot as the kernels read it."""

    size: np.ndarray  # (5,)
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
    scale: np.ndarray  # (2,)
    load: np.ndarray  # (n, 3) F(1)
    table: np.ndarray  # (n, STAGES steps, TABLE_WIDTH)


class Work(NamedTuple):
    """Memory of the kernels, and the linearisation that they leave behind."""

    w: np.ndarray  # (WORK_SIZE,) records of the integrator
    side: np.ndarray  # (SIDE_SIZE,) records of the states of rods side by side
    tips: np.ndarray  # (n, 16): state of each tip
    cols: np.ndarray  # (n, 12, 16): d(phi, p, m, n) of the tip by column
    node_cols: np.ndarray  # (n, 8, 9, 16)
    axes: np.ndarray  # (n, k, 3)
    origins: np.ndarray  # (n, k, 3)
    roots: np.ndarray  # (n, 12) pose of each rod's base
    r: np.ndarray  # (n, 6 + k) scaled joint rows, then passive rows
    d: np.ndarray  # (n, 6 + k, 16) their derivative by column
    dx: np.ndarray  # (n, 6, 6) derivative of the joint rows by the plate's twist
    g: np.ndarray  # (12, 12) scratch
    poses: np.ndarray  # (3, 12) scratch
    pw: np.ndarray  # (n, 6, 16) derivative of the limb's wrench on the plate, scaled
    b: np.ndarray  # (6,) scaled plate balance
    bx: np.ndarray  # (6, 6) its direct derivative by the plate's twist
    e: np.ndarray  # (6 + k, 20 + 3 k) scratch of the elimination
    inverse: np.ndarray  # (n, 6 + k, 6 + k) of each limb's rows by its unknowns, where it was asked for
    y: np.ndarray  # (n, 6 + k, 8 + k): local unknowns = y0 + Yx dX + Yq dq
    bc: np.ndarray  # (6,) condensed plate balance
    stiffness: np.ndarray  # (6, 6) d balance / dX, condensed
    influence: np.ndarray  # (6, actuators) d balance / dq, condensed
    u: np.ndarray  # (6 + actuators, 7 + actuators + 8) scratch
    dxv: np.ndarray  # (6,) plate step
    dqv: np.ndarray  # (actuators,) joint step
    kept: Unknowns  # before the last step


class Tasks(NamedTuple):
    """Tasks of a solve, one per row."""

    inverse: bool  # the pose is given, and the joint values are unknown
    q: np.ndarray  # (rows, actuators) joint values [m or rad]; read if not inverse
    x: np.ndarray  # (rows, 12) plate poses; read if inverse
    controlled: np.ndarray  # (6,) of bool: plate freedoms that are held at the pose
    wrench: np.ndarray  # (rows, 6) on the plate about its origin [N, N m]
    follower: bool  # the wrench is given in plate axes


class Newton(NamedTuple):
    """How a task is solved."""

    tolerance: float  # largest scaled residual of a solution
    limit: int  # most steps, or LINEARISE_ONLY or RESIDUAL_ONLY
    segments: int  # of multiple shooting; 1: single shooting
    fresh: bool  # Work.tips and Work.cols belong to the unknowns already: the first step costs no integration
    apart: bool = False  # each row starts from its own numbers in Rows


class Rows(NamedTuple):
    """Where results go, a row per task."""

    report: np.ndarray  # (rows, REPORT_SIZE)
    W: np.ndarray  # (rows, n, 6)
    Q: np.ndarray  # (rows, n, k)
    X: np.ndarray  # (rows, 12)
