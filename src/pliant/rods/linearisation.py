"""First-order model at an equilibrium, from what the kernels leave behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.base.numerics import Array
from pliant.base.spatial import exp_so3
from pliant.rods import kernels
from pliant.rods.geometry import freedom_indices
from pliant.rods.kernels import layout
from pliant.rods.statics import State, Statics, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Linearisation:
    """First-order model at a solution, world axes, plate origin; planar robots have (x, y, angle) rows."""

    stiffness: Array
    """Plate stiffness with locked actuators, shape (freedoms, freedoms) [N/m, N, N m/rad]: wrench = K dX."""
    influence: Array
    """Change of the wrench on the held plate by the joint values, shape (freedoms, actuators)."""


def linearisation_left(robot: Statics, steps: int) -> Linearisation:
    """Return the linearisation that the kernels left in the memory of a robot with a number of integration steps."""
    md, npl = robot._model(steps), robot._npl
    unit = np.repeat(md.scale, 3)[md.plate_index[:npl], None]
    return Linearisation(stiffness=stiffness_left(robot, md), influence=robot._wk.influence[:npl, : robot._na] * unit)


def limb_matrices_left(robot: Statics) -> list[Array]:
    """Return each limb's scaled joint residuals by its scaled base wrench (and passive joints), as the kernels left."""
    md, out = robot._model(robot._steps(None, None)), []
    unit = np.ones(layout.COLUMNS)
    unit[: layout.JOINT_COLUMN] = np.repeat(md.scale, 3)
    for i in range(robot._n):
        rows, cols = limb_rows(robot, i)
        out.append(robot._wk.d[i][np.ix_(rows, cols)] * unit[cols])
    return out


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


class _Places(NamedTuple):
    """Where the kernels' numbers stand in the rows and columns of `dense_step`, as index arrays."""

    residual: tuple[Array, Array]  # of the rows of the limbs in Work.r
    local: tuple[Array, Array]  # in J, and in Work.d
    local_from: tuple[Array, Array, Array]
    balance: tuple[Array, Array]  # in J, and in Work.pw
    balance_from: tuple[Array, Array, Array]
    joint: Array  # rows of distal joints
    joint_from: tuple[Array, Array]  # in Work.dx
    unknown: tuple[Array, Array]  # limb and column of each local unknown
    shape: tuple[int, int]


def _places(robot: Statics, free: int, inverse: bool) -> _Places:
    """Return the places for a number of free motions of the plate; found once."""
    known = robot.__dict__.setdefault("_places", {})
    if (free, inverse) in known:
        return known[free, inverse]
    md, npl = robot._model(robot._steps(None, None)), robot._npl
    each = [limb_rows(robot, i) for i in range(robot._n)]
    height, local = sum(len(rows) for rows, _ in each), sum(len(cols) for _, cols in each)
    d, pw, joint, residual, unknown = [], [], [], [], []
    for i, (rows, cols) in enumerate(each):
        columns = [(len(unknown) + t, c) for t, c in enumerate(cols)]
        if inverse:
            actuated = [(int(md.actuator[i, j]), j) for j in range(int(md.joint_count[i])) if md.actuator[i, j] >= 0]
            columns += [(local + free + a, layout.JOINT_COLUMN + j) for a, j in actuated]
        for t, row in enumerate(rows, len(residual)):
            d += [(t, at, i, row, c) for at, c in columns]
            joint += [(t, i, row)] * (row < layout.PASSIVE_ROW)
        pw += [(height + t, at, i, md.plate_index[t], c) for t in range(npl) for at, c in columns]
        residual += [(i, row) for row in rows]
        unknown += [(i, c) for c in cols]
    (r, c, *of), (br, bc, *b_of), (jr, *j_of) = (np.array(one).reshape(len(one), -1).T for one in (d, pw, joint))
    known[free, inverse] = out = _Places(
        residual=tuple(np.array(residual).T), local=(r, c), local_from=tuple(of), balance=(br, bc),
        balance_from=tuple(b_of), joint=jr, joint_from=tuple(j_of), unknown=tuple(np.array(unknown).T),
        shape=(height + npl, local + free + (robot._na if inverse else 0)),
    )  # fmt: skip
    return out


def _free_motions(robot: Statics, problem: Task) -> Array:
    """Return the plate's free motions as columns of twists in world axes.

    Where some but not all rotations are controlled, they are those about the axes of the target's plate.
    """
    axes = np.eye(robot._npl)
    if problem.inverse and not robot.planar and len(set(problem.controlled[3:6].tolist())) > 1:
        axes[3:, 3:] = problem.x[:9].reshape(3, 3)
    return axes[:, [c for c in range(robot._npl) if not (problem.inverse and problem.controlled[c])]]


def dense_step(robot: Statics, problem: Task) -> tuple[Array, Array]:
    """Return residual and Jacobian from the kernels' last linearisation; `directions` reads the columns."""
    wk, free = robot._wk, _free_motions(robot, problem)
    to, count, npl = _places(robot, free.shape[1], problem.inverse), free.shape[1], robot._npl
    index = robot._model(robot._steps(None, None)).plate_index[:npl]
    local = len(to.unknown[0])
    J = np.zeros(to.shape)
    J[to.local], J[to.balance] = wk.d[to.local_from], wk.pw[to.balance_from]
    J[to.joint, local : local + count] = wk.dx[to.joint_from][:, index] @ free
    J[len(J) - npl :, local : local + count] = wk.bx[index[:, None], index] @ free
    return np.concatenate([wk.r[to.residual], wk.b[index]]), J


@dataclass(frozen=True, slots=True)
class Direction:
    """A change of the unknowns."""

    W: Array
    Q: Array
    twist: Array  # of the plate, world axes, shape (6,)

    def moved(self, state: State, by: float) -> State:
        """Return a state that is moved along."""
        X = state.X.copy()
        X[layout.POS_X :] += by * self.twist[:3]
        X[: layout.POS_X] = (exp_so3(by * self.twist[3:]) @ X[: layout.POS_X].reshape(3, 3)).ravel()
        return State(state.W + by * self.W, state.Q + by * self.Q, X)


def directions(robot: Statics, task: Task, steps: Array) -> list[Direction]:
    """Return the changes of the unknowns that columns of `dense_step` stand for."""
    free = _free_motions(robot, task)
    to, end = _places(robot, free.shape[1], task.inverse), free.shape[1]
    (limb, column), local, count = to.unknown, len(to.unknown[0]), steps.shape[1]
    z, twist = np.zeros((count, robot._n, layout.JOINT_COLUMN + robot._k)), np.zeros((count, 6))
    z[:, limb, column] = steps[:local].T
    twist[:, freedom_indices(robot.planar)] = (free @ steps[local : local + end]).T
    W, Q = z[..., : layout.JOINT_COLUMN], z[..., layout.JOINT_COLUMN :]
    if task.inverse:
        rows, columns = robot._actuators
        Q[:, rows, columns] = steps[local + end :].T
    return [Direction(W[p], Q[p], twist[p]) for p in range(count)]
