"""From a description to the arrays that the kernels read."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pliant.base.spatial import inverse
from pliant.rods import kernels
from pliant.rods.description import BaseJoint, DistalJoint, Limb, RobotDescription, Rod
from pliant.rods.kernels import layout

KIND = {"prismatic": layout.PRISMATIC, "revolute": layout.REVOLUTE, "extension": layout.EXTENSION}
DISTAL = {
    "fixed": layout.FIXED_JOINT,
    "revolute": layout.REVOLUTE_JOINT,
    "universal": layout.UNIVERSAL_JOINT,
    "spherical": layout.SPHERICAL_JOINT,
    "prismatic": layout.PRISMATIC_JOINT,
}
# Rows of a planar robot: see `pliant.rods.kernels.joint_rows` for their order.
PLANAR_ROWS = {"fixed": (0, 1, 5), "revolute": (0, 1, 5), "prismatic": (0, 2, 4)}


def flatten(X) -> np.ndarray:
    """Return the 12 numbers of a 4x4 pose: rotation row-major, then position."""
    X = np.asarray(X, dtype=float)
    return np.concatenate([X[:3, :3].ravel(), X[:3, 3]])


def unflatten(x) -> np.ndarray:
    """Return the 4x4 pose of 12 numbers."""
    X = np.eye(4)
    X[:3, :3] = np.reshape(x[:9], (3, 3))
    X[:3, 3] = x[9:12]
    return X


def rod_load(rod: Rod, gravity, s: float) -> np.ndarray:
    """Return F(s), the integral of the distributed force from 0 to s, shape (3,) [N/m].

    Simpson's rule is exact: the mass per length is at most quadratic in s.
    """
    mean = (rod.values(0.0).mass + 4.0 * rod.values(0.5 * s).mass + rod.values(s).mass) / 6.0
    return s * (mean * np.asarray(gravity) + np.asarray(rod.distributed_force))


def rod_table(rod: Rod, gravity, steps: int) -> np.ndarray:
    """Return the table of a rod for a number of integration steps, shape (12 steps, 15)."""
    table = np.zeros((layout.STAGES * steps, layout.TABLE_WIDTH))
    rows = np.arange(len(table))
    s = (rows // layout.STAGES + np.array(kernels.STAGE_ABSCISSAE)[rows % layout.STAGES]) / steps
    each = [rod.values(at) for at in s] if rod.is_tapered else [rod.values(0.0)]
    table[:, layout.SHEAR_1 : layout.CURVATURE_1] = 1.0 / np.array(
        [(*v.shear, v.axial, *v.bending, v.torsion) for v in each]
    )
    if rod.precurvature:
        table[:, layout.CURVATURE_1 : layout.LOAD_X] = [rod.curvature(at) for at in s]
    if len(each) == 1:
        load = np.outer(s, each[0].mass * np.asarray(gravity) + np.asarray(rod.distributed_force))
    else:
        load = np.array([rod_load(rod, gravity, at) for at in s])
    table[:, layout.LOAD_X : layout.COUPLE_X] = load
    table[:, layout.COUPLE_X :] = rod.distributed_moment
    return table


def joint_frame(axis, axis_2, kind: str, planar: bool, near: np.ndarray | None = None) -> np.ndarray:
    """Return the 4x4 rotation whose axes the rows of the joint use: third axis = free axis.

    A universal joint has its plate axis first and its rod axis second.

    Args:
        near: frame of an axis nearby, from which this one turns as little as possible about the axis.
    """
    X = np.eye(4)
    if kind in ("fixed", "spherical"):
        return X
    a = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    if kind == "universal":
        b = np.asarray(axis_2, dtype=float) / np.linalg.norm(axis_2)
        b = b - (a @ b) * a
        b /= np.linalg.norm(b)
        X[:3, :3] = np.column_stack([a, b, np.cross(a, b)])
        return X
    if kind == "prismatic" and planar:
        x = np.cross([0.0, 0.0, 1.0], a)
    elif near is not None:
        x = near[:3, 0] - a * (a @ near[:3, 0])
    else:
        x = np.cross(np.eye(3)[int(np.argmin(np.abs(a)))], a)
        x = np.eye(3)[0] if abs(a[2]) > 1.0 - 1e-12 else x
    x = x / np.linalg.norm(x)
    X[:3, :3] = np.column_stack([x, np.cross(a, x), a])
    return X


def scales(description: RobotDescription) -> tuple[float, float]:
    """Return the force and the moment that count as much as one metre in the scaled residual.

    32 E I / L^2 and 3.2 E I / L of the softest rod: 5 N and 0.5 N m for a steel rod of 1 m and 1 mm radius.
    """
    soft = min(
        (0.5 * sum(limb.rod.values(0.5).bending) / limb.rod.length**2, limb.rod.length) for limb in description.limbs
    )
    return 32.0 * soft[0], 3.2 * soft[0] * soft[1]


def bending_unit(limbs: Sequence[Limb]) -> tuple[float, float]:
    """Return length [m] and E I / L [N m/rad] of the softest rod, about its weaker axis: the units of stability."""
    rods = [limb.rod for limb in limbs]
    bending = [min(rod.values(0.5).bending) for rod in rods]
    lengths = [rod.length for rod in rods]
    i = int(np.argmin([EI / L**2 for EI, L in zip(bending, lengths)]))
    return lengths[i], bending[i] / lengths[i]


def characteristic_length(limbs: Sequence[Limb]) -> float:
    """Return the length that makes rotations comparable with translations [m].

    The mean distance of the plate joints from the plate origin, or a tenth of the mean rod if they meet there.
    """
    reach = sum(math.hypot(*limb.distal.pose[:3, 3]) for limb in limbs) / len(limbs)
    rods = sum(limb.rod.length for limb in limbs) / len(limbs)
    return float(reach if reach > 1e-3 * rods else 0.1 * rods)


def joint_rows(joint: BaseJoint) -> tuple[np.ndarray, np.ndarray]:
    """Return the frame of a base joint as the kernels read it, and its axis of length 1."""
    return flatten(joint.pose), np.asarray(joint.axis, dtype=float) / np.linalg.norm(joint.axis)


def distal_rows(joint: DistalJoint, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the frame of a distal joint in the rod's tip and in the plate, as the kernels read them.

    Args:
        C: `joint_frame` of the joint.
    """
    return flatten(inverse(joint.attach) @ C), flatten(np.asarray(joint.pose, dtype=float) @ C)


def build_model(description: RobotDescription, steps: int) -> kernels.Model:
    """Return the kernels' view of a robot."""
    limbs = description.limbs
    n, k = len(limbs), max(1, max(len(limb.joints) for limb in limbs))
    planar = description.planar
    kind, actuator = np.zeros((n, k), np.int64), np.full((n, k), -1, np.int64)
    offset, axis = np.zeros((n, k, 12)), np.zeros((n, k, 3))
    for i, limb in enumerate(limbs):
        for j, joint in enumerate(limb.joints):
            kind[i, j] = KIND[joint.kind]
            offset[i, j], axis[i, j] = joint_rows(joint)
    for a, (i, j) in enumerate(description.actuators):
        actuator[i, j] = a
    tip, plate_joint, rows = np.zeros((n, 12)), np.zeros((n, 12)), np.full((n, 6), -1, np.int64)
    for i, limb in enumerate(limbs):
        d = limb.distal
        tip[i], plate_joint[i] = distal_rows(d, joint_frame(d.axis, d.axis_2, d.kind, planar))
        rows[i, : 3 if planar else 6] = PLANAR_ROWS[d.kind] if planar else range(6)
    index = np.array([0, 1, 5, 0, 0, 0] if planar else range(6), np.int64)
    size = 3 if planar else 6
    return kernels.Model(
        size=np.array([n, k, len(description.actuators), size, size], np.int64),
        joint_count=np.array([len(limb.joints) for limb in limbs], np.int64),
        kind=kind,
        actuator=actuator,
        base=np.array([flatten(limb.base) for limb in limbs]),
        offset=offset,
        axis=axis,
        attach=np.array([flatten(limb.attach) for limb in limbs]),
        rest=np.array([limb.rod.length for limb in limbs]),
        tip=tip,
        plate_joint=plate_joint,
        distal=np.array([DISTAL[limb.distal.kind] for limb in limbs], np.int64),
        rows=rows,
        wrench_index=index,
        plate_index=index.copy(),
        weight=description.plate.mass * np.asarray(description.gravity, dtype=float),
        com=np.array(description.plate.com, dtype=float),
        scale=np.array(scales(description)),
        load=np.array([rod_load(limb.rod, description.gravity, 1.0) for limb in limbs]),
        table=np.array([rod_table(limb.rod, description.gravity, steps) for limb in limbs]),
    )


def build_work(n: int, k: int, actuators: int) -> kernels.Work:
    """Return memory for the kernels."""
    z = np.zeros
    return kernels.Work(
        w=z(layout.WORK_SIZE),
        side=z(layout.SIDE_SIZE),
        tips=z((n, 16)),
        cols=z((n, 12, 16)),
        node_cols=z((n, 8, 9, 16)),
        axes=z((n, k, 3)),
        origins=z((n, k, 3)),
        roots=z((n, 12)),
        r=z((n, 6 + k)),
        d=z((n, 6 + k, 16)),
        dx=z((n, 6, 6)),
        g=z((12, 12)),
        poses=z((3, 12)),
        pw=z((n, 6, 16)),
        b=z(6),
        bx=z((6, 6)),
        e=z((6 + k, 20 + 3 * k)),
        inverse=z((n, 6 + k, 6 + k)),
        y=z((n, 6 + k, 8 + k)),
        bc=z(6),
        stiffness=z((6, 6)),
        influence=z((6, max(1, actuators))),
        u=z((8 + actuators, 16 + actuators)),
        dxv=z(6),
        dqv=z(max(1, actuators)),
        kept=kernels.Unknowns(z((n, 6)), z((n, k)), z(12), z((n, 8, 10))),
    )
