"""Gradients of an equilibrium by the numbers of its robot, by the implicit function theorem.

An equilibrium solves F(z, p) = 0 in the unknowns z: base wrenches, joint values, plate pose. So dz/dp = -F_z^-1 F_p,
where F_z is the exact linearisation that Newton's method uses. F_p is a central difference of the residual at fixed z:
all parameters at once in one call of the kernels, each as one more limb. What depends on z and p, such as the
stiffness, is differentiated along (dz, dp) by a central difference, without another solve. The differences span 1e-5
and 1e-4 of a parameter's scale, so that gradients agree with exact ones to about 1e-7.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array
from pliant.base.spatial import cross, hat, rotation_from_quaternion
from pliant.rods import kernels
from pliant.rods._build import (
    bending_unit,
    build_work,
    characteristic_length,
    distal_rows,
    flatten,
    joint_frame,
    joint_rows,
    rod_load,
    rod_table,
    scales,
)
from pliant.rods.description import RobotDescription
from pliant.rods.geometry import FORCE, MOMENT, QUATERNION, freedom_indices, simpson_weights
from pliant.rods.kernels import layout
from pliant.rods.linearisation import Direction, dense_step, directions, limb_rows, stiffness_left
from pliant.rods.parameters import Change, changed, offset_actuator, parameter_scale, parameter_value
from pliant.rods.stability import plate_curvatures, softest_rod, survey_tables
from pliant.rods.statics import Solution, State, Statics, Task

LimbRows = dict[str, Any]
"""Rows of a limb in the kernels' model, by field."""
OUTPUTS: dict[str, str] = {
    "joints": "actuated joint values (inverse model) [m or rad]",
    "pose": "twist of the plate, world axes [m, rad]",
    "base_wrenches": "force and moment of each rod at its base, world axes [N, N m]",
    "actuator_forces": "force or moment of each actuator [N, N m]",
    "stiffness": "stiffness of the plate with locked actuators [N/m, N, N m/rad]",
    "smallest_stiffness": "its smallest eigenvalue, rotations by the characteristic length [N/m]",
    "stability_margin": "the smallest curvature of the energy by a motion of the plate, in units of the softest rod",
}
SOLVED = ("joints", "pose", "base_wrenches")
RESIDUAL_STEP, LINE_STEP = 1e-5, 1e-4  # of a parameter's scale
LENGTH_STEPS = 60  # of a rod that is not uniform, over which the force of its extension is integrated
LARGEST_MOVE = 1e-3  # of the unknowns, in the robot's units, that a difference along (dz, dp) makes


@dataclass(frozen=True, slots=True, kw_only=True)
class Gradients:
    """Derivatives of an equilibrium; the first index of each array is the parameter. What was not asked for is None."""

    parameters: tuple[str, ...]
    """Names of the parameters."""
    joints: Array
    """Of the actuated joint values, shape (parameters, actuators); of the direct model only by offsets not zero."""
    pose: Array
    """Of the plate's pose: twists in world axes, shape (parameters, freedoms)."""
    base_joints: Array
    """Of the values of all base joints, shape (parameters, limbs, most joints of a limb)."""
    base_wrenches: Array
    """Of the base wrenches, shape (parameters, limbs, 6)."""
    actuator_forces: Array | None = None
    """Of the actuator forces, shape (parameters, actuators)."""
    stiffness: Array | None = None
    """Of the plate's stiffness, shape (parameters, freedoms, freedoms)."""
    smallest_stiffness: Array | None = None
    """Of `Solution.smallest_stiffness`, shape (parameters,)."""
    stability_margin: Array | None = None
    """Of `Solution.stability_margin`, shape (parameters,); its unit jumps where another rod becomes the softest."""

    def of(self, parameter: str) -> dict[str, Array]:
        """Return the derivatives by one parameter, by name of the output."""
        k = self.parameters.index(parameter)
        return {name: value[k] for name in OUTPUTS if (value := getattr(self, name)) is not None}


def _rows_of(robot: Statics, i: int, change: Change, steps: int) -> LimbRows:
    """Return the rows of limb i in the kernels' model that a change makes different."""
    d = robot.description
    old, new, out = d.limbs[i], change.limbs.get(i, d.limbs[i]), {}
    if new.base is not old.base:
        out["base"] = flatten(new.base)
    if new.attach is not old.attach:
        out["attach"] = flatten(new.attach)
    if new.joints is not old.joints:
        md = robot._model(steps)
        offset, axis = md.offset[i].copy(), md.axis[i].copy()
        for j, joint in enumerate(new.joints):
            offset[j], axis[j] = joint_rows(joint)
        out["offset"], out["axis"] = offset, axis
    if new.distal is not old.distal:
        C, one, two = _joint_frame(robot, i), new.distal, old.distal
        if one.axis is not two.axis or one.axis_2 is not two.axis_2:
            C = joint_frame(one.axis, one.axis_2, one.kind, d.planar, near=C)
        out["tip"], out["plate_joint"] = distal_rows(one, C)
    if new.rod is not old.rod or change.gravity is not d.gravity:
        out["rest"] = new.rod.length
        out["load"] = rod_load(new.rod, change.gravity, 1.0)
        out["table"] = rod_table(new.rod, change.gravity, steps)
    return out


def _joint_frame(robot: Statics, i: int) -> Array:
    """Return the frame that the rows of limb i's distal joint use, made once."""
    frames = robot.__dict__.setdefault("_joint_frames", {})
    if i not in frames:
        joint = robot.description.limbs[i].distal
        frames[i] = joint_frame(joint.axis, joint.axis_2, joint.kind, robot.description.planar)
    return frames[i]


def _touched(robot: Statics, change: Change) -> list[int]:
    return list(range(robot._n)) if change.gravity is not robot.description.gravity else list(change.limbs)


def _changed_model(robot: Statics, change: Change, steps: int) -> kernels.Model:
    """Return the kernels' model of a robot with a change; forces and moments are scaled as in its own."""
    md, d, fields = robot._model(steps), robot.description, {}
    for i in _touched(robot, change):
        for name, row in _rows_of(robot, i, change, steps).items():
            if name not in fields:
                fields[name] = getattr(md, name).copy()
            fields[name][i] = row
    if change.plate is not d.plate or change.gravity is not d.gravity:
        fields["weight"] = change.plate.mass * np.asarray(change.gravity, dtype=float)
        fields["com"] = np.array(change.plate.com, dtype=float)
    return md._replace(**fields) if fields else md


def models_of(robot: Statics, description: RobotDescription) -> dict[int, kernels.Model]:
    """Return the kernels' models of a robot with other numbers, from those that its parent has; faster than anew."""
    limbs = {
        i: limb for i, (limb, old) in enumerate(zip(description.limbs, robot.description.limbs)) if limb is not old
    }
    change, scale = Change(limbs, description.plate, description.gravity), np.array(scales(description))
    return {steps: _changed_model(robot, change, steps)._replace(scale=scale) for steps in robot._models}


def _weight(change: Change, state: State, scale: Array) -> Array:
    """Return the scaled weight of the plate in the plate's balance, shape (6,)."""
    force = change.plate.mass * np.asarray(change.gravity, dtype=float)
    arm = state.X[:9].reshape(3, 3) @ np.asarray(change.plate.com, dtype=float)
    return np.concatenate([force / scale[0], cross(arm, force) / scale[1]])


def _variants_residual(
    robot: Statics, state: State, task: Task, steps: int, variants: list[tuple[int, LimbRows]]
) -> tuple[Array, Array]:
    """Return the residual rows of limbs with other numbers, and their wrenches in the plate's balance.

    All are limbs of one robot, whose rods the kernels integrate in one call.

    Args:
        variants: index of the limb that is varied, and its rows in the model that differ.
    """
    md, of = robot._model(steps), np.array([i for i, _ in variants])
    size = md.size.copy()
    size[layout.LIMBS] = len(of)
    each = ("joint_count", "kind", "actuator", "base", "offset", "axis", "attach", "rest", "tip", "plate_joint",
            "distal", "rows", "load", "table")  # fmt: skip
    arrays = {name: getattr(md, name)[of] for name in each}
    for v, (_, rows) in enumerate(variants):
        for name, row in rows.items():
            arrays[name][v] = row
    wk = build_work(len(of), robot._k, robot._na)
    W, Q, X = state.W[of], state.Q[of], state.X.copy()
    held = kernels.Tasks(True, np.zeros((1, robot._na)), X[None], np.zeros(6, bool), task.rows().wrench, task.follower)
    report = kernels.Rows(np.zeros((1, layout.REPORT_SIZE)), np.empty((1, *W.shape)), np.empty((1, *Q.shape)), X[None])
    kernels.solve(
        md._replace(size=size, **arrays), wk, kernels.Unknowns(W, Q, X, np.zeros((1, len(of), 1, 10))), held,
        kernels.Newton(0.0, layout.RESIDUAL_ONLY, 1, False), report,
    )  # fmt: skip
    n = wk.tips[:, layout.TIP_N : layout.TIP_LENGTH]
    arm = wk.tips[:, layout.TIP_P : layout.TIP_Q] - X[layout.POS_X :]
    m = wk.tips[:, layout.TIP_M : layout.TIP_N] + (hat(arm) @ n[:, :, None])[..., 0]
    return wk.r, -np.hstack([n / md.scale[layout.FORCE], m / md.scale[layout.MOMENT]])


@dataclass(frozen=True, slots=True)
class _Ends:
    """A parameter a little larger and smaller: what then differs in the kernels' model."""

    scale: float  # a large change of the parameter
    variants: list[tuple[int, LimbRows, float]]  # limb, rows that differ, factor of the difference
    plates: tuple[tuple[Change, float], ...]  # where the weight of the plate differs


def _ends(robot: Statics, name: str, steps: int) -> _Ends:
    """Return the ends of a parameter, found once: they do not depend on the equilibrium."""
    known = robot.__dict__.setdefault("_parameter_ends", {})
    if (name, steps) not in known:
        d = robot.description
        value, scale = parameter_value(d, name), parameter_scale(d, name)
        h = RESIDUAL_STEP * scale
        middle = value + h if value == 0.0 and name.endswith(("mass", "density")) else value
        ends = [(changed(d, name, middle + h), 0.5 / h), (changed(d, name, middle - h), -0.5 / h)]
        variants = [(i, _rows_of(robot, i, one, steps), factor) for one, factor in ends for i in _touched(robot, one)]
        heavy = any(one.plate is not d.plate or one.gravity is not d.gravity for one, _ in ends)
        known[name, steps] = _Ends(scale, variants, tuple(ends) if heavy else ())
    return known[name, steps]


def _residual_gradient(robot: Statics, state: State, task: Task, steps: int, ends: list[_Ends]) -> Array:
    """Return dF/dp, the rows of `dense_step`, a column per parameter."""
    scale, rows_of = robot._model(steps).scale, [limb_rows(robot, i)[0] for i in range(robot._n)]
    first = np.concatenate([[0], np.cumsum([len(rows) for rows in rows_of])])
    index = robot._model(steps).plate_index[: robot._npl]
    out = np.zeros((first[-1] + robot._npl, len(ends)))
    for p, end in enumerate(ends):
        for change, factor in end.plates:
            out[first[-1] :, p] += factor * _weight(change, state, scale)[index]
    variants = [(p, *one) for p, end in enumerate(ends) for one in end.variants]
    if variants:
        residual, balance = _variants_residual(robot, state, task, steps, [(i, rows) for _, i, rows, _ in variants])
        balance = balance[:, index]
        for v, (p, i, _, factor) in enumerate(variants):
            out[first[i] : first[i + 1], p] += factor * residual[v, rows_of[i]]
            out[first[-1] :, p] += factor * balance[v]
    return out


def _jacobian(solution: Solution) -> tuple[Array, Task]:
    """Return F_z at a solution, by `dense_step`, and the task whose unknowns it has."""
    robot = solution._robot
    task = dataclasses.replace(solution._task, q=solution.q, x=solution._state.X)
    if solution._gradient_matrix is None:
        robot._call(solution._state.copy(), solution.steps, task.rows(), limit=layout.LINEARISE_ONLY)
        solution._gradient_matrix = dense_step(robot, task)[1]
    return solution._gradient_matrix, task


def _offset(solution: Solution, a: int) -> Direction:
    """Return the change by the offset of an actuator: of the direct model as by its joint value."""
    robot, state = solution._robot, solution._state
    Q, zero = np.zeros_like(state.Q), np.zeros_like(state.W)
    i, j = robot.description.actuators[a]
    if solution.inverse:  # the shape stays; the command takes the offset back
        Q[i, j] = -1.0
        return Direction(zero, Q, np.zeros(6))
    J, task = _jacobian(solution)
    wk, column = robot._wk, np.zeros(len(J))
    first = sum(len(limb_rows(robot, k)[0]) for k in range(i))
    rows = limb_rows(robot, i)[0]
    robot._call(state.copy(), solution.steps, task.rows(), limit=layout.LINEARISE_ONLY)
    column[first : first + len(rows)] = wk.d[i, rows, layout.JOINT_COLUMN + j]
    index = freedom_indices(robot.planar)
    column[len(J) - robot._npl :] = wk.pw[i, index, layout.JOINT_COLUMN + j]
    way = directions(robot, task, np.linalg.lstsq(J, -column[:, None], rcond=None)[0])[0]
    way.Q[i, j] = 1.0
    return way


def gradients(solution: Solution, parameters: Sequence[str], of: Sequence[str] = SOLVED) -> Gradients:
    """Return the derivatives of an equilibrium by numbers of its robot.

    Args:
        solution: the equilibrium.
        parameters: names as in `pliant.rods.parameters.parameter_names`, such as ``["limb1.base.x", "radius"]``.
        of: what is differentiated: names of `OUTPUTS`. Those of ``joints``, ``pose`` and ``base_wrenches`` are always
            there. The others cost about the time of one more solve for each parameter.

    Raises:
        ModelError: a name is not known, or the robot has no such number.
    """
    for name in of:
        if name not in OUTPUTS:
            raise ModelError(f"gradients of {name!r} are not known; {nearest(name, OUTPUTS)}", field="of")
    robot, state, steps = solution._robot, solution._state, solution.steps
    d = robot.description
    actuators = [offset_actuator(d, name) for name in parameters]
    ends = [_ends(robot, name, steps) for name, a in zip(parameters, actuators) if a is None]
    scales = iter(end.scale for end in ends)
    J, task = _jacobian(solution)
    ways: list[Direction] = []
    if ends:
        right = -_residual_gradient(robot, state, task, steps, ends)
        square = J.shape[0] == J.shape[1]
        z = np.linalg.solve(J, right) if square else np.linalg.lstsq(J, right, rcond=None)[0]
        ways = directions(robot, task, z)
    solved = iter(ways)
    ways = [next(solved) if a is None else _offset(solution, a) for a in actuators]
    index = freedom_indices(robot.planar)
    rows, columns = robot._actuators
    out: LimbRows = {
        "joints": np.array([way.Q[rows, columns] for way in ways]).reshape(len(ways), robot._na),
        "pose": np.array([way.twist[index] for way in ways]).reshape(len(ways), len(index)),
        "base_joints": np.array([way.Q for way in ways]).reshape(len(ways), *state.Q.shape),
        "base_wrenches": np.array([way.W for way in ways]).reshape(len(ways), *state.W.shape),
    }
    asked = [name for name in OUTPUTS if name in of and name not in SOLVED]
    if asked and parameters:
        lines = _Lines(solution, task, asked)
        values = [
            lines.along(name, a, 1.0 if a is not None else next(scales), way)
            for name, a, way in zip(parameters, actuators, ways)
        ]
        out |= {name: np.array([value[name] for value in values]) for name in asked}
    return Gradients(parameters=tuple(parameters), **out)


def moved_along(solution: Solution, found: Gradients, changes: Sequence[float]) -> State:
    """Return the unknowns of an equilibrium after changes of parameters, to first order.

    Args:
        found: gradients by these parameters.
    """
    state = solution._state.copy()
    for p, change in enumerate(changes):
        twist = np.zeros(6)
        twist[freedom_indices(solution._robot.planar)] = found.pose[p]
        state = Direction(found.base_wrenches[p], found.base_joints[p], twist).moved(state, change)
    return state


class _Lines:
    """Differentiates what depends on unknowns and parameters along lines through an equilibrium."""

    def __init__(self, solution: Solution, task: Task, asked: Sequence[str]) -> None:
        self.solution, self.robot, self.task, self.asked = solution, solution._robot, task, asked
        self.unit = solution._unit()
        self.eigenvectors = {}
        if "smallest_stiffness" in asked:
            K = solution.linearisation().stiffness
            self.eigenvectors["smallest_stiffness"] = (
                self.unit * np.linalg.eigh(0.5 * (K + K.T) * np.outer(self.unit, self.unit))[1][:, 0]
            )
        if "stability_margin" in asked:
            self.eigenvectors["stability_margin"] = plate_curvatures(self.robot, solution.linearisation(), True)[1][
                :, 0
            ]

    def along(self, name: str, actuator: int | None, scale: float, way: Direction) -> LimbRows:
        """Return the derivatives by a parameter, in whose direction the unknowns change."""
        robot, steps, d = self.robot, self.solution.steps, self.robot.description
        md, state = robot._model(steps), self.solution._state
        move = max(
            float(np.abs(way.W / np.repeat(md.scale, 3)).max()), float(np.abs(way.Q).max(initial=0.0)),
            float(np.abs(way.twist).max()), 1e-12,
        )  # fmt: skip
        h = min(LINE_STEP * scale, LARGEST_MOVE / move)
        value = 0.0 if actuator is not None else parameter_value(d, name)
        middle = h if value == 0.0 and name.endswith(("mass", "density")) else 0.0
        if actuator is not None and self.task.inverse:  # the shape does not change
            way = Direction(way.W, np.zeros_like(way.Q), way.twist)
        ends = []
        for by in (middle + h, middle - h):
            change = Change({}, d.plate, d.gravity) if actuator is not None else changed(d, name, value + by)
            ends.append(self._at(change, way.moved(state, by), md))
        found = {key: (ends[0][key] - ends[1][key]) / (2.0 * h) for key in ends[0]}
        return {key: found[key] for key in self.asked}

    def _at(self, change: Change, state: State, md: kernels.Model) -> LimbRows:
        """Return the asked quantities at a state of a robot with a changed number."""
        robot, steps = self.robot, self.solution.steps
        model = _changed_model(robot, change, steps)
        held = dataclasses.replace(self.task, inverse=False, q=state.Q[robot._actuators], x=state.X)
        only_forces = list(self.asked) == ["actuator_forces"]
        limit = layout.RESIDUAL_ONLY if only_forces else layout.LINEARISE_ONLY
        robot._call(state, steps, held.rows(), limit=limit, model=model)
        out: LimbRows = {}
        if "actuator_forces" in self.asked:
            out["actuator_forces"] = actuator_forces_left(robot, state, model, change)
        if only_forces:
            return out
        out["stiffness"] = stiffness_left(robot, model)
        for name, vector in self.eigenvectors.items():
            out[name] = self._along_eigenvector(name, vector, out["stiffness"], change)
        return out

    def _along_eigenvector(self, name: str, vector: Array, K: Array, change: Change) -> float:
        """Return an eigenvalue to first order: its eigenvector stays, while its units change with the robot."""
        d, turns = self.robot.description, slice(2, 3) if self.robot.planar else slice(3, 6)
        limbs, v = tuple(change.limbs.get(i, limb) for i, limb in enumerate(d.limbs)), vector.copy()
        if name == "smallest_stiffness":
            v[turns] *= self.robot.characteristic_length() / characteristic_length(limbs)
            return float(v @ K @ v)
        (length, moment), (before, _) = bending_unit(limbs), softest_rod(self.robot)
        keep = v[turns].copy()
        v *= length / before
        v[turns] = keep
        return float(v @ K @ v) / moment


def actuator_forces_left(robot: Statics, state: State, md: kernels.Model, change: Change | None = None) -> Array:
    """Return the force or moment of each actuator, from joint axes that the kernels left; see `actuator_forces`."""
    d, wk, out = robot.description, robot._wk, np.zeros(robot._na)
    limbs, gravity = (change.limbs, change.gravity) if change else ({}, d.gravity)
    for a, (i, j) in enumerate(d.actuators):
        w, root, axis = state.W[i], wk.roots[i], wk.axes[i, j]
        if md.kind[i, j] == layout.PRISMATIC:
            out[a] = -axis @ w[:3]
        elif md.kind[i, j] == layout.REVOLUTE:
            out[a] = -axis @ (w[3:] + cross(root[layout.POS_X :] - wk.origins[i, j], w[:3]))
        else:
            rod, length = limbs.get(i, d.limbs[i]).rod, float(state.Q[i, j])
            if rod.is_uniform:
                out[a] = _length_force(md.table[i, :1], root[: layout.POS_X].reshape(1, 3, 3), w[None], length)
                continue
            changed = i in limbs or gravity is not d.gravity
            table = rod_table(rod, gravity, LENGTH_STEPS) if changed else survey_tables(robot, LENGTH_STEPS)[i]
            states = np.zeros((LENGTH_STEPS + 1, layout.TIP_SIZE))
            kernels.survey(table, root, w, length, 1.0, d.planar, False, states, wk.w)
            rows = table[np.minimum(np.arange(len(states)) * layout.STAGES, len(table) - 1)]
            wrenches = np.hstack([states[:, FORCE], states[:, MOMENT]])
            out[a] = _length_force(rows, rotation_from_quaternion(states[:, QUATERNION]), wrenches, length)
    return out


def _length_force(rows: Array, rotation: Array, wrench: Array, length: float) -> float:
    """Return the derivative of a rod's energy by its length L, its weight measured from the height of its base [N].

    It is the integral over s of H - L ((F(1) - F(s)).v + (1 - s) l.u) with H = W - n.v - m.u, W the elastic energy per
    length, v and u the strains, F the integral of the distributed force and l the distributed moment. Along a uniform
    rod, dH/ds is L (f.v + l.u), so that the integral is H at the base.

    Args:
        rows: of the rod's table at equal distances, or at the base only if the rod is uniform.
        rotation: of the cross-sections there, shape (points, 3, 3).
        wrench: internal force and moment there, world axes, shape (points, 6).
    """
    back = np.swapaxes(rotation, 1, 2)
    n, m = ((back @ part[..., None])[..., 0] for part in (wrench[:, :3], wrench[:, 3:]))
    dv, du = n * rows[:, layout.SHEAR_1 : layout.BEND_1], m * rows[:, layout.BEND_1 : layout.CURVATURE_1]
    v, u = dv + np.array([0.0, 0.0, 1.0]), du + rows[:, layout.CURVATURE_1 : layout.LOAD_X]
    H = (0.5 * (n * dv + m * du) - n * v - m * u).sum(axis=1)
    if len(rows) == 1:
        return float(H[0])
    left = rows[-1, layout.LOAD_X : layout.COUPLE_X] - rows[:, layout.LOAD_X : layout.COUPLE_X]
    couple = np.linspace(1.0, 0.0, len(rows))[:, None] * rows[:, layout.COUPLE_X :]
    fed = ((back @ left[..., None])[..., 0] * v + (back @ couple[..., None])[..., 0] * u).sum(axis=1)
    return float(simpson_weights(len(rows)) @ (H - length * fed))
