"""First-order model at an equilibrium, from what the kernels leave behind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.base.numerics import Array
from pliant.base.spatial import exp_so3
from pliant.rods import kernels
from pliant.rods.kernels import layout
from pliant.rods.statics import Statics


@dataclass(frozen=True, slots=True, kw_only=True)
class Linearisation:
    """First-order model at a solution, world axes, plate origin; planar robots have (x, y, angle) rows."""

    stiffness: Array
    """Plate stiffness with locked actuators, shape (freedoms, freedoms) [N/m, N, N m/rad]: wrench = K dX."""
    influence: Array
    """Change of the wrench on the held plate by the joint values, shape (freedoms, actuators)."""
    limb_matrices: tuple[Array, ...]
    """Each limb's scaled joint residuals by its scaled base wrench (and passive joints)."""


def linearisation_left(robot: Statics, steps: int) -> Linearisation:
    """Return the linearisation that the kernels left in the memory of a robot with a number of integration steps."""
    md, wk, npl = robot._model(steps), robot._wk, robot._npl
    scale = np.repeat(md.scale, 3)
    unit = scale[md.plate_index[:npl], None]
    matrices = []
    for i in range(robot._n):
        rows, cols = limb_rows(robot, i)
        wrench = [col < 6 for col in cols]
        A = wk.d[i][np.ix_(rows, cols)].copy()
        A[:, wrench] *= scale[[col for col in cols if col < 6]]
        matrices.append(A)
    return Linearisation(
        stiffness=stiffness_left(robot, md),
        influence=wk.influence[:npl, : robot._na] * unit,
        limb_matrices=tuple(matrices),
    )


def stiffness_left(robot: Statics, md: kernels.Model) -> Array:
    """Return the plate's stiffness that the kernels left in the memory of a robot, shape (freedoms, freedoms)."""
    npl = robot._npl
    return -robot._wk.stiffness[:npl, :npl] * np.repeat(md.scale, 3)[md.plate_index[:npl], None]


def limb_rows(robot: Statics, i: int) -> tuple[list[int], list[int]]:
    """Return the residual rows and the unknown columns of limb i in the kernels' arrays."""
    cache = robot.__dict__.setdefault("_limb_rows", {})
    if i in cache:
        return cache[i]
    md = robot._model(robot._steps(None, None))
    nw = int(md.size[layout.UNKNOWNS])
    rows = [int(v) for v in md.rows[i, :nw]]
    cols = [int(v) for v in md.wrench_index[:nw]]
    passive = [j for j in range(int(md.joint_count[i])) if md.actuator[i, j] < 0]
    cache[i] = rows + [6 + t for t in range(len(passive))], cols + [6 + j for j in passive]
    return cache[i]


def dense_step(robot: Statics, state, problem):
    """Return residual, Jacobian and a function that applies a step, from the kernels' last linearisation."""
    md, wk = robot._model(robot._steps(None, None)), robot._wk
    n, npl, na = robot._n, robot._npl, robot._na
    layout = [limb_rows(robot, i) for i in range(n)]
    plate = [c for c in range(npl) if not (problem.inverse and problem.controlled[c])]
    axes = plate_axes(problem, npl)  # columns: the plate's freedoms as twists in world axes
    local = sum(len(cols) for _, cols in layout)
    width = local + len(plate) + (na if problem.inverse else 0)
    height = sum(len(rows) for rows, _ in layout) + npl
    r, J = np.zeros(height), np.zeros((height, width))
    pidx = [int(v) for v in md.plate_index[:npl]]
    free = axes[:, plate]
    at = ac = 0
    for i, (rows, cols) in enumerate(layout):
        m, k = len(rows), len(cols)
        r[at : at + m] = wk.r[i, rows]
        J[at : at + m, ac : ac + k] = wk.d[i][np.ix_(rows, cols)]
        J[height - npl :, ac : ac + k] = wk.pw[i][np.ix_(pidx, cols)]
        joint_rows = [t for t, row in enumerate(rows) if row < 6]
        for t in joint_rows:
            J[at + t, local : local + len(plate)] = wk.dx[i, rows[t], pidx] @ free
        if problem.inverse:
            for j in range(int(md.joint_count[i])):
                a = int(md.actuator[i, j])
                if a >= 0:
                    J[at : at + m, local + len(plate) + a] = wk.d[i, rows, 6 + j]
                    J[height - npl :, local + len(plate) + a] = wk.pw[i, pidx, 6 + j]
        at, ac = at + m, ac + k
    r[height - npl :] = wk.b[pidx]
    J[height - npl :, local : local + len(plate)] = wk.bx[np.ix_(pidx, pidx)] @ free

    def unpack(target, step) -> None:
        ac = 0
        for i, (_, cols) in enumerate(layout):
            for c in cols:
                if c < 6:
                    target.W[i, c] += step[ac]
                else:
                    target.Q[i, c - 6] += step[ac]
                ac += 1
        twist = np.zeros(6)
        twist[pidx] = free @ step[local : local + len(plate)]
        target.X[9:] += twist[:3]
        target.X[:9] = (exp_so3(twist[3:]) @ target.X[:9].reshape(3, 3)).ravel()
        if problem.inverse:
            target.Q[robot._actuators] += step[local + len(plate) :]

    return r, J, unpack


def plate_axes(problem, npl: int) -> Array:
    """Return the plate's freedoms as columns of twists in world axes.

    Where some but not all rotations are controlled, they are those about the axes of the target's plate.
    """
    axes = np.eye(npl)
    if problem.inverse and npl == 6 and len(set(problem.controlled[3:6].tolist())) > 1:
        axes[3:, 3:] = problem.x[:9].reshape(3, 3)
    return axes
