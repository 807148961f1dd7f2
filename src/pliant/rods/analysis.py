"""Force sensing, identification, workspace maps, batches over cores."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import ModelError, PliantError, nearest, require
from pliant.base.numerics import Array
from pliant.base.spatial import exp_so3, pose_error
from pliant.rods._build import unflatten
from pliant.rods.batch import share, told
from pliant.rods.description import RobotDescription
from pliant.rods.failure import Reach
from pliant.rods.geometry import freedom_indices
from pliant.rods.parameters import offset_actuator, parameter_value, with_parameter
from pliant.rods.solution import Solution
from pliant.rods.statics import Statics


@dataclass(frozen=True, slots=True, kw_only=True)
class WrenchEstimate:
    """An external wrench that explains measurements."""

    wrench: Array
    """World axes, about the plate origin, shape (6,) or planar (3,) [N, N m]."""
    misfit: float
    """Norm of what remains unexplained, in the units of the scaled measurements."""
    covariance: Array
    """Covariance of the wrench for independent errors of unit size in the scaled measurements."""
    solution: Solution
    """The direct model under that wrench."""


def _checked_measurement(robot: Statics, measured: Mapping[str, ArrayLike]) -> tuple[Array, Array | None, Array | None]:
    """Return joint values, measured pose and measured actuator forces; None for what was not measured.

    Raises:
        ModelError: q is missing, nothing else is measured, or a name is not known.
    """
    valid = ("q", "pose", "actuator_forces")
    for key in measured:
        if key not in valid:
            raise ModelError(f"measured: {key!r} is not known; {nearest(key, valid)}", field="measured")
    if "q" not in measured or len(measured) < 2:
        raise ModelError("measured needs q and pose or actuator_forces", field="measured")
    q = robot.checked_joints(measured["q"])
    target = unflatten(robot._pose(measured["pose"])) if "pose" in measured else None
    forces = None
    if "actuator_forces" in measured:
        forces = np.asarray(measured["actuator_forces"], dtype=float)
        if forces.shape != (robot.actuator_count,) or not np.all(np.isfinite(forces)):
            raise ModelError(f"actuator_forces needs {robot.actuator_count} finite numbers", field="actuator_forces")
    return q, target, forces


def _difference_quotients(
    robot: Statics, q: Array, s: Solution, w: Array, steps: Array, misfit: Callable[[Solution], Array]
) -> Array:
    """Return the derivative of a misfit by the wrench w about a solution s, by central differences."""
    columns = []
    for c, h in enumerate(steps):
        ends = []
        for sign in (1.0, -1.0):
            trial = w.copy()
            trial[c] += sign * h
            ends.append(misfit(robot.solve_dgm(q, trial, start=s, branch="smooth")))
        columns.append((ends[0] - ends[1]) / (2.0 * h))
    return np.column_stack(columns)


def estimate_wrench(
    robot: Statics,
    measured: Mapping[str, ArrayLike],
    *,
    start: Solution | None = None,
    position_error: float = 1e-4,
    force_error: float = 1e-2,
) -> WrenchEstimate:
    """Estimate the wrench on the plate from joint values and a measured pose or measured actuator forces.

    Args:
        measured: ``q`` and one or both of ``pose`` (4x4 or (x, y, angle)) and ``actuator_forces``.
        start: a solution nearby; None: the direct model without load.
        position_error: standard error of the pose [m], of rotations divided by the characteristic length.
        force_error: standard error of the actuator forces [N].

    Raises:
        ModelError: q is missing, or nothing else is measured, or too little to find the wrench.
    """
    q, target, forces = _checked_measurement(robot, measured)
    size = 3 if robot.planar else 6
    pick = freedom_indices(robot.planar)
    length = robot.characteristic_length()
    step_size = np.array([1.0, 1.0, length] if robot.planar else [1.0, 1.0, 1.0, length, length, length])
    weight = step_size / position_error
    if (0 if target is None else size) + (0 if forces is None else len(forces)) < size:
        raise ModelError(
            f"{robot.actuator_count} forces cannot determine {size} components of a wrench", field="measured"
        )

    def misfit(s: Solution) -> Array:
        parts = []
        if target is not None:
            parts.append(weight * pose_error(s.plate_pose, target)[pick])
        if forces is not None:
            parts.append((s.actuator_forces() - forces) / force_error)
        return np.concatenate(parts)

    s = robot.solve_dgm(q, start=start) if start is not None else robot.solve_dgm(q)
    w = s.wrench[pick].copy()
    r = misfit(s)
    J = np.zeros((len(r), size))
    for _ in range(30):
        if forces is None:
            J = weight[:, None] * s.compliance()
        else:
            J = _difference_quotients(robot, q, s, w, 1e-4 * step_size * robot._model(s.steps).scale[0], misfit)
        step = -np.linalg.lstsq(J, r, rcond=1e-10)[0]
        alpha = 1.0
        while True:
            try:
                trial = robot.solve_dgm(q, w + alpha * step, start=s, branch="smooth", restarts=0)
                rt = misfit(trial)
                if np.linalg.norm(rt) <= np.linalg.norm(r) * (1.0 + 1e-9) or alpha < 1e-3:
                    break
            except PliantError:
                if alpha < 1e-3:
                    raise
            alpha *= 0.5
        w, s, r = w + alpha * step, trial, rt
        if np.linalg.norm(alpha * step / step_size) < 1e-9 * robot._model(s.steps).scale[0]:
            break
    return WrenchEstimate(wrench=w, misfit=float(np.linalg.norm(r)), covariance=np.linalg.pinv(J.T @ J), solution=s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One measured equilibrium."""

    q: ArrayLike
    """Commanded joint values, shape (actuators,)."""
    pose: ArrayLike
    """Measured plate pose, 4x4 or (x, y, angle)."""
    wrench: ArrayLike | None = None
    """External wrench during the measurement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identification:
    """Parameters found from measurements."""

    values: dict[str, float]
    """Identified values."""
    deviations: dict[str, float]
    """Standard deviations from the misfit and the sensitivities; inf where the data say nothing."""
    misfit: float
    """Root mean square of the pose errors, rotations by the characteristic length [m]."""
    description: RobotDescription
    """The robot with the identified values (offsets belong to the commands and are not in it)."""


def identify(robot: Statics, measurements: Sequence[Measurement], parameters: Sequence[str]) -> Identification:
    """Find parameters by least squares on the measured plate poses (direct model).

    Args:
        measurements: at least one; several poses and loads tell more parameters.
        parameters: names as in :func:`parameter_names`, for instance ``["young_modulus", "limb1.offset"]``.

    Raises:
        ModelError: no measurements or parameters, or a name is not known.
    """
    require("scipy", extra="fit", purpose="identification")
    from scipy.optimize import least_squares

    if not measurements or not parameters:
        raise ModelError("identification needs measurements and parameters", field="measurements")
    d = robot.description
    offsets = [offset_actuator(d, name) for name in parameters]
    first = np.array([parameter_value(d, name) for name in parameters])
    length = robot.characteristic_length()
    rods = d.mean_rod_length
    unit = np.array([abs(v) if v != 0.0 else 0.01 * rods for v in first])
    weight = np.array([1, 1, 1, length, length, length])
    targets = [unflatten(robot._pose(m.pose)) for m in measurements]
    starts: list = [None] * len(measurements)

    def build(x: Array) -> tuple[Statics, Array]:
        one, shift = d, np.zeros(robot.actuator_count)
        for name, a, value in zip(parameters, offsets, first + x * unit):
            if a is None:
                one = with_parameter(one, name, float(value))
            else:
                shift[a] += value
        return robot._with(one), shift

    @functools.lru_cache(maxsize=1)  # the slopes are asked for where the misfit was asked for last
    def solved(x: tuple[float, ...]) -> list[Solution]:
        model, shift = build(np.array(x))
        out = []
        for k, m in enumerate(measurements):
            q = robot.checked_joints(m.q) + shift
            start = None if starts[k] is None else starts[k]._moved_to(model)
            out.append(model.solve_dgm(q, m.wrench, start=start))
            if starts[k] is None:
                starts[k] = out[-1]
        return out

    def misfit(x: Array) -> Array:
        return np.concatenate([weight * pose_error(s.plate_pose, X) for s, X in zip(solved(tuple(x)), targets)])

    def slopes(x: Array) -> Array:
        out = np.zeros((len(targets), 6, len(parameters)))
        for rows, s in zip(out, solved(tuple(x))):
            rows[freedom_indices(robot.planar)] = s.gradients(parameters).pose.T * unit
        return (weight[:, None] * out).reshape(-1, len(parameters))

    got = least_squares(misfit, np.zeros(len(parameters)), slopes, x_scale=0.05, xtol=1e-12, ftol=1e-12)
    model, _ = build(got.x)
    values = first + got.x * unit
    freedom = max(1, len(got.fun) - len(parameters))
    variance = float(got.fun @ got.fun) / freedom
    H = got.jac.T @ got.jac
    covariance = np.linalg.pinv(H, rcond=1e-12) * variance
    blind = np.diag(H) < 1e-18
    return Identification(
        values={name: float(v) for name, v in zip(parameters, values)},
        deviations={
            name: float("inf") if b else float(np.sqrt(abs(c)) * u)
            for name, c, u, b in zip(parameters, np.diag(covariance), unit, blind)
        },
        misfit=float(np.sqrt(np.mean(got.fun**2))),
        description=model.description,
    )


STATES = ("stable", "unstable", "beyond the joint limits", "no equilibrium", "out of reach", "neutral")
"""States of a cell of a workspace map, by its number in `Workspace.state`."""
STABLE, UNSTABLE, BEYOND_LIMITS, NO_EQUILIBRIUM, OUT_OF_REACH, NEUTRAL = range(len(STATES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A map over a grid of plate poses; every array has the shape of the grid."""

    axes: dict[str, Array]
    """The freedoms that were varied and their values."""
    state: NDArray[np.int64]
    """State of each cell: an index into ``STATES``. "beyond the joint limits" has an equilibrium, stable or not, with a
    joint value outside its limits; "out of reach" was not solved, because a rod is too short; in
    "neutral" a motion of the plate costs no energy, and none releases it."""
    morse_index: NDArray[np.int64]
    """Unstable directions with locked actuators; -1 where there is no equilibrium."""
    stiffness: Array
    """Smallest scaled eigenvalue of the plate stiffness [N/m]; nan where there is no equilibrium."""
    serial: Array
    """Smallest singular value of dW/dq (0: an inverse singularity); nan where there is no equilibrium."""
    missing: Array
    """By how much a rod is too short [m]; 0 within reach."""
    q: Array
    """Joint values, shape (*grid, actuators)."""

    @property
    def solved(self) -> NDArray[np.bool_]:
        """An equilibrium was found, with joint values inside their limits."""
        return np.isin(self.state, (STABLE, UNSTABLE, NEUTRAL))

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Solved and stable."""
        return self.state == STABLE

    def counts(self) -> dict[str, int]:
        """Return the number of cells of each state."""
        return {name: int(np.sum(self.state == k)) for k, name in enumerate(STATES)}


def _checked_axes(names: Sequence[str], axes: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Return the values of each axis of a map."""
    for name in axes:
        if name not in names:
            raise ModelError(
                f"axis {name!r} is not a degree of freedom of the plate; {nearest(name, names)}", field="axes"
            )
    if not axes:
        raise ModelError("name at least one axis", field="axes")
    values = {name: np.atleast_1d(np.asarray(v, dtype=float)) for name, v in axes.items()}
    for name, v in values.items():
        if v.ndim != 1 or not v.size or not np.isfinite(v).all():
            raise ModelError(f"axis {name!r} must have one finite value or more", field="axes")
    return values


def _moved(middle: Array, values: Mapping[str, float]) -> Array:
    """Return a pose with some positions replaced and a rotation vector added, world axes, shape (4, 4)."""
    X, turn = middle.copy(), np.zeros(3)
    for name, v in values.items():
        if name in ("x", "y", "z"):
            X["xyz".index(name), 3] = v
        else:
            turn[{"rx": 0, "ry": 1, "rz": 2, "angle": 2}[name]] = v
    X[:3, :3] = exp_so3(turn) @ X[:3, :3]
    return X


def _state_of(s: Solution) -> int:
    """Return the state of a cell with a solution."""
    d = s.robot.description
    limits = [d.limbs[i].joints[j].limits for i, j in d.actuators]
    if not all(limit is None or limit[0] - 1e-9 <= v <= limit[1] + 1e-9 for v, limit in zip(s.q, limits)):
        return BEYOND_LIMITS
    return UNSTABLE if s.morse_index else STABLE if s.stable else NEUTRAL


def workspace(
    robot: Statics,
    axes: Mapping[str, ArrayLike],
    *,
    pose: ArrayLike | None = None,
    wrench: ArrayLike | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Workspace:
    """Map where the robot can go and how stable it is there.

    Args:
        axes: freedom (x y z rx ry rz; planar x y angle) -> values; rotations are rotation vectors added to the
            middle pose in world axes.
        pose: the middle pose that the axes vary, default the home pose. Position axes are absolute.
        workers: threads; default all cores.
        progress: called with (cells done, cells) now and then, for a progress bar.

    Cells that a rod cannot reach are not solved. Another cell is reached from its nearest solved neighbour by
    continuation, or cold if that fails.
    """
    values = _checked_axes(robot.description.freedoms, axes)
    middle = unflatten(robot._pose(robot.description.home if pose is None else pose))
    robot.checked_wrench(wrench)
    shape = tuple(len(v) for v in values.values())
    count = int(np.prod(shape))
    state, index = np.full(count, NO_EQUILIBRIUM), np.full(count, -1)
    stiff, serial, missing = np.full(count, np.nan), np.full(count, np.nan), np.zeros(count)
    q = np.full((count, robot.actuator_count), np.nan)
    # Where a freedom is not controlled the whole pose is not known, and neither is the reach.
    mask = robot._controlled(None)
    reach = Reach(robot.description) if mask[: len(robot.description.freedoms)].all() else None
    tell = told(progress, count)

    def target(cell: int) -> Array:
        return _moved(middle, {n: v[k] for (n, v), k in zip(values.items(), np.unravel_index(cell, shape))})

    within = []
    for cell in range(count):
        short = None if reach is None else reach.missing(target(cell))
        if short is None:
            within.append(cell)
        else:
            state[cell], missing[cell] = OUT_OF_REACH, short[1]
            tell(1)
    home = robot.home()
    grid = np.array(np.unravel_index(within, shape)).T if within else np.zeros((0, len(shape)), dtype=int)

    def work(part: range) -> None:
        mine = robot.fork()
        solved: list[int] = []
        starts: list[Solution] = []
        for k in part:
            cell = within[k]
            start = starts[int(np.argmin(np.abs(grid[solved] - grid[k]).sum(axis=1)))] if solved else home
            try:
                s = mine.solve_igm(target(cell), wrench, start=start, restarts=0)
                index[cell], stiff[cell] = s.morse_index, s.smallest_stiffness
                serial[cell] = s.singular_values().get("serial", np.nan)
            except PliantError:
                tell(1)
                continue
            q[cell] = s.q
            state[cell] = _state_of(s)
            solved.append(k)
            starts.append(s)
            if len(solved) > 2 * shape[-1]:  # the last two rows are near enough
                del solved[: shape[-1] // 2 + 1], starts[: shape[-1] // 2 + 1]
            tell(1)

    share(work, len(within), workers)
    return Workspace(
        axes=values,
        state=state.reshape(shape),
        morse_index=index.reshape(shape),
        stiffness=stiff.reshape(shape),
        serial=serial.reshape(shape),
        missing=missing.reshape(shape),
        q=q.reshape(*shape, -1),
    )
