"""Residuals of an equilibrium, by the shapes of its rods alone and not by the equations of the solver."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pliant.rods.path import Path
    from pliant.rods.solution import Solution

POINTS = 201
"""Points of a rod's shape; the last one is its tip."""


def plate_imbalance(solution: Solution) -> float:
    """Return the largest force or moment that the rods, gravity and the load leave on the plate [N, N m]."""
    X = solution.plate_pose
    total = np.array(solution.wrench, dtype=float)
    d = solution.robot.description
    gravity = d.plate.mass * np.asarray(d.gravity)
    total[:3] += gravity
    total[3:] += np.cross(X[:3, :3] @ np.asarray(d.plate.com), gravity)
    for i in range(len(d.limbs)):
        line = solution.centreline(i, POINTS)
        total[:3] -= line.force[-1]
        total[3:] -= line.moment[-1] + np.cross(line.position[-1] - X[:3, 3], line.force[-1])
    return float(np.abs(total).max())


def joint_faults(solution: Solution) -> tuple[float, float, float]:
    """Return what the rods leave in the joints at the plate, the largest of all limbs.

    Returns:
        Gap [m], misalignment in the directions that a joint holds [rad], and moment about its free axes [N m].
    """
    X = solution.plate_pose
    gap = turn = moment = 0.0
    for i, limb in enumerate(solution.robot.description.limbs):
        d, line = limb.distal, solution.centreline(i, POINTS)
        J = X @ np.asarray(d.pose)
        attach = np.asarray(d.attach)
        R = line.rotation[-1] @ attach[:3, :3].T  # axes of the joint, as the rod carries them
        p = line.position[-1] - R @ attach[:3, 3]
        gap = max(gap, float(np.linalg.norm(p - J[:3, 3])))
        M = line.moment[-1] + np.cross(line.position[-1] - p, line.force[-1])
        a = J[:3, :3] @ np.asarray(d.axis) / np.linalg.norm(d.axis)
        if d.kind == "fixed":
            turn = max(turn, float(np.abs(R - J[:3, :3]).max()))
        elif d.kind == "revolute":
            turn = max(turn, float(np.linalg.norm(np.cross(R @ np.asarray(d.axis), a))))
            moment = max(moment, abs(float(M @ a)))
        elif d.kind == "universal":
            b = R @ np.asarray(d.axis_2) / np.linalg.norm(d.axis_2)
            turn = max(turn, abs(float(a @ b)))
            moment = max(moment, abs(float(M @ a)), abs(float(M @ b)))
        else:
            moment = max(moment, float(np.linalg.norm(M)))
    return gap, turn, moment


def round_trip(path: Path, count: int = 25) -> float:
    """Return the largest difference between poses of a path and the direct model at their joint values [m, 1].

    The direct model starts from another pose of the path.

    Args:
        path: equilibria in a row.
        count: how many of its poses are tried.
    """
    worst = 0.0
    picks = np.linspace(0, len(path) - 1, count).astype(int)
    for before, k in pairwise(picks):
        s = path[int(k)]
        back = s.robot.solve_dgm(s.q, s.wrench, start=path[int(before)])
        worst = max(worst, float(np.abs(back.plate_pose - s.plate_pose).max()))
    return worst
