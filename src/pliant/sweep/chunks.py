"""Simulate a chunk of a sweep: simulations that share a compiled model run as one `mujoco.batch.Batch`.

There is no Python code in the step. Actuator parameters may vary within a chunk; each value of another parameter (mass,
option) needs its own compiled model. A chunk runs in any process, or on another machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import PliantError, nearest
from pliant.sweep.backends import CPU, find_backend
from pliant.sweep.device_runs import DEVICE_METRICS, check_devices, simulate_devices
from pliant.sweep.events import joined, joint_events
from pliant.sweep.plan import SweepPlan, is_command_path
from pliant.sweep.table import Row

if TYPE_CHECKING:
    import mujoco
    from mujoco.batch import Batch

    from pliant.batch.measures import Measures
    from pliant.model.robot import Robot

MOST_STEPS = 10_000_000
"""Maximum number of steps of one simulation."""
MOST_VALUES = 1_000_000_000
"""Maximum number of joint positions that a chunk stores during its run, 4 bytes each."""

METRICS = {
    "final": "joint position at the end [rad]",
    "min": "smallest joint position [rad]",
    "max": "largest joint position [rad]",
    "rms_error": "root mean square of reference 1 minus position, in modes whose reference 1 is an angle [rad]",
    "final_error": "reference 1 minus position at the end, likewise [rad]",
    "peak_torque": "largest magnitude of the actuator's torque on the link, before the joint's effort limit [N m]",
    "peak_velocity": "largest magnitude of the joint velocity [rad/s]",
    "settling_time": "time after which the position stays within 2 % of its range of the final one [s]",
}
"""Metrics that a sweep reports for each compliant joint: name -> description with unit."""


def load_robots(plan: SweepPlan, points: Iterable[Mapping[str, object]]) -> list[Robot]:
    """Return the robot of each point. Points that agree in the options that the robot is built with share one loading.

    Args:
        plan: specification of the sweep.
        points: values by path.

    Raises:
        PliantError: the robot cannot be loaded, or has no such parameter or value.
    """
    from pliant.base.plugins import import_user_module
    from pliant.robots.loading import load_with_settings

    for name in plan.imports:
        import_user_module(name)
    varied = _option_paths(plan)
    commands = [variation.path for variation in plan.variations if is_command_path(variation.path)]
    built: dict[object, Robot] = {}
    robots = []
    for point in points:
        options = {path: _whole(value) for path, value in point.items() if path in varied}
        key = tuple(options.items())
        if key not in built:
            built[key] = load_with_settings(
                plan.source, {**plan.settings, **options}, timestep=plan.timestep, package_paths=plan.package_paths
            )
        robot = built[key].copy()
        if commands and robot.actuators:
            raise PliantError(
                f"{commands[0]}: commands vary only in sweeps of robots without compliant joints; give a constant "
                "command with --reference, or a table with --command",
                field=commands[0],
            )
        parameters = {path: value for path, value in point.items() if path not in options and path not in commands}
        robots.append(robot.update(parameters))
    return robots


def _option_paths(plan: SweepPlan) -> list[str]:
    """Return the varied paths that name options which the robot is built with."""
    from pliant.robots.loading import is_option_path

    return [variation.path for variation in plan.variations if is_option_path(variation.path)]


def _whole(value: object) -> object:
    """Return a number without a fraction as an integer, which options of either type take."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def measured(plan: SweepPlan, robot: Robot) -> dict[str, str]:
    """Return the columns with results of one robot and their units: of its compliant joints, or else of its devices.

    Raises:
        PliantError: a device refuses the commands, or none measures anything.
    """
    from pliant.laws.fields import linear
    from pliant.sweep.plot import UNITS

    if robot.actuators:
        return {
            f"{joint}/{metric}": linear(UNITS[metric]) if robot.slides(joint) else UNITS[metric]
            for joint in robot.actuators
            for metric in METRICS
        }
    return {f"{name}/{m}": unit for name, unit in check_devices(plan, robot).items() for m in DEVICE_METRICS}


def run_chunk(
    plan: SweepPlan, first: int, points: Sequence[Mapping[str, object]], columns: Sequence[str], nthread: int = 0
) -> list[Row]:
    """Simulate consecutive points of a plan.

    Args:
        plan: specification of the sweep.
        first: index of the first point.
        points: values by path.
        columns: results that each simulation must have.
        nthread: threads of a batch; 0 takes all cores.

    Returns:
        One row per point: index, parameters, metrics, diverged, happened.

    Raises:
        PliantError: a simulation fails, or a robot has other results than the first.
    """
    variants = load_robots(plan, points)
    if not variants[0].actuators:
        return [
            [first + i, *point.values(), *_simulate_alone(plan, variant, point, columns)]
            for i, (point, variant) in enumerate(zip(points, variants, strict=True))
        ]
    for point, variant in zip(points, variants, strict=True):
        _check_equal(plan, point, measured(plan, variant), columns)
    options = _option_paths(plan)
    others = [path for path in points[0] if not is_actuator_path(variants[0], path)]
    shape_of: dict[Any, list[int]] = {}
    for i, (point, variant) in enumerate(zip(points, variants, strict=True)):
        # What must agree inside a batch: law, mode (what a reference is), number of states, all that is no actuator's.
        actuators = (
            *(
                (joint, a.law.name, a.mode, a.states(variant.timestep), a.commands)
                for joint, a in variant.actuators.items()
            ),
            *((path, str(point[path])) for path in options),
        )
        rest = tuple(sorted((path, str(point[path])) for path in others))
        shape_of.setdefault((actuators, rest), []).append(i)
    rows: list[Row] = [[] for _ in points]
    by_layout: dict[Any, list[list[int]]] = {}
    for key, members in shape_of.items():
        by_layout.setdefault((key[0], variants[members[0]].timestep), []).append(members)
    for layouts in by_layout.values():
        members = [i for group in layouts for i in group]
        if plan.device != CPU:
            values = _simulate_on_device(plan, [variants[i] for i in members], [points[i] for i in members])
        else:
            values = _simulate(plan, [variants[i] for i in members], layouts, variants, nthread)
        for i, row in zip(members, values, strict=True):
            rows[i] = [first + i, *(points[i].values()), *row]
    return rows


def _simulate_alone(plan: SweepPlan, robot: Robot, point: Mapping[str, object], columns: Sequence[str]) -> list[object]:
    """Simulate one robot without compliant joints."""
    quantities, row = simulate_devices(plan, robot, step_count(plan, robot.timestep), point)
    _check_equal(plan, point, [f"{name}/{metric}" for name in quantities for metric in DEVICE_METRICS], columns)
    return list(row)


def _check_equal(plan: SweepPlan, point: Mapping[str, object], found: Iterable[str], columns: Sequence[str]) -> None:
    """Refuse a point whose robot has other results than the first one of the sweep."""
    if list(found) != list(columns):
        raise PliantError(
            f"with {', '.join(f'{p}={v}' for p, v in point.items())} the robot has other joints or devices than in "
            "the first simulation; a sweep needs the same in all: make a sweep of each",
            file=plan.source,
        )


def is_actuator_path(robot: Robot, path: str) -> bool:
    """Return whether a path names a parameter of actuators and of nothing else."""
    from pliant.robots.loading import is_option_path

    if is_option_path(path) or is_command_path(path):
        return False
    return {kind for kind, _, _ in robot._resolve(path)} == {"actuator"}


def _simulate(
    plan: SweepPlan, variants: Sequence[Robot], layouts: Sequence[Sequence[int]], every: Sequence[Robot], nthread: int
) -> list[Row]:
    """Simulate variants whose actuators have equal states on the cores."""
    first = variants[0]
    steps = step_count(plan, first.timestep)
    _check_memory(len(variants), len(first.actuators), steps)
    batch, model = _make_batch(variants, layouts, every, nthread)
    table = _command_rows(plan, first, model, steps, first.timestep)
    found, diverged_at = _run_measured(batch, model, list(first.actuators), table, steps)
    models = [every[group[0]].compile() if len(layouts) > 1 else model for group in layouts for _ in group]
    act = batch.bind("act") if model.na else None
    happened = []
    for i, step in enumerate(diverged_at.tolist()):
        state = None if act is None else act[i]
        events = [] if step else joint_events(found, i, variants[i], models[i], state)
        happened.append(f"diverged at {step * first.timestep:.4g} s" if step else joined(events))
    return _rows(found, first, first.timestep, diverged_at == 0, happened)


def _check_memory(simulations: int, joints: int, steps: int) -> None:
    kept = steps * simulations * joints
    if kept > MOST_VALUES:
        fits = max(1, MOST_VALUES // (steps * joints))
        raise PliantError(
            f"a chunk of {simulations} simulations of {steps} steps would keep {kept:.2g} positions, more than "
            f"{MOST_VALUES:.0e}; use a chunk of {fits} or fewer, or a shorter duration",
            field="chunk",
        )


def _make_batch(
    variants: Sequence[Robot], layouts: Sequence[Sequence[int]], every: Sequence[Robot], nthread: int
) -> tuple[Batch, mujoco.MjModel]:
    """Return a batch at rest, with a model for each layout, and the first of the models."""
    import mujoco

    from pliant.batch import make_batch, put_at_rest, set_actuators

    first = variants[0]
    models = [every[group[0]].compile() for group in layouts]
    batch = make_batch(first, len(variants), nthread=nthread, model=models[0])
    if len(models) > 1:
        batch.set_models([model for model, group in zip(models, layouts, strict=True) for _ in group])
        for model, group in zip(models, layouts, strict=True):
            if any(every[i].actuators != every[group[0]].actuators for i in group):
                raise PliantError(
                    "a sweep varies actuators and other parameters at once in one chunk of several models; this "
                    "should have been split"
                )
            model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    elif len(variants) > 1:
        for joint in first.actuators:
            set_actuators(batch, joint, [v.actuators[joint] for v in variants], first.timestep)
    batch.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    put_at_rest(batch, variants, [model for model, group in zip(models, layouts, strict=True) for _ in group])
    return batch, models[0]


def _run_measured(
    batch: Batch,
    model: mujoco.MjModel,
    joints: Sequence[str],
    commands: Sequence[Sequence[tuple[int, float]]],
    steps: int,
) -> tuple[Measures, np.ndarray]:
    """Run a batch; return the results of its joints, and the step at which each simulation diverged, or 0."""
    from pliant.batch.live_worlds import LiveWorlds
    from pliant.batch.measures import Measures

    qpos, qvel, ctrl = batch.bind("qpos"), batch.bind("qvel"), batch.bind("ctrl")
    force = batch.bind("actuator_force")
    ids = np.array([model.actuator(j).id for j in joints], dtype=int)
    joint_ids = [model.actuator(j).trnid[0] for j in joints]
    adr = model.jnt_qposadr[joint_ids]
    dof = model.jnt_dofadr[joint_ids]
    out = model.actuator_outadr[ids]
    references = model.actuator_ctrladr[ids]
    n = len(qpos)
    live = LiveWorlds(batch, n, warn=False)
    low = np.full((n, len(joints)), np.inf)
    high = -low
    square = np.zeros_like(low)
    torque = np.zeros_like(low)
    speed = np.zeros_like(low)
    trace = np.empty((steps, n, len(joints)), dtype=np.float32)
    for k in range(steps):
        for column, value in commands[k]:
            ctrl[:, column] = value
        live.step(1)
        q = qpos[:, adr]
        np.minimum(low, q, out=low)
        np.maximum(high, q, out=high)
        square += (ctrl[:, references] - q) ** 2
        np.maximum(torque, np.abs(force[:, out]), out=torque)
        np.maximum(speed, np.abs(qvel[:, dof]), out=speed)
        trace[k] = q
    final, reference = qpos[:, adr].copy(), ctrl[:, references]
    diverged_at = np.where(np.isfinite(final).all(axis=1), live.diverged_at, np.maximum(live.diverged_at, 1))
    return Measures(final, low, high, square, torque, speed, reference, trace), diverged_at


def _rows(found: Measures, robot: Robot, dt: float, fine: np.ndarray, happened: Sequence[str]) -> list[Row]:
    """Return the metrics of each simulation, whether it diverged, and what happened."""
    joints = list(robot.actuators)
    angle = np.array([robot.actuators[j].mode in (1, 3, 6) for j in joints])
    steps, n = len(found.trace), len(found.final)
    error = np.where(angle, found.reference - found.final, np.nan)
    rms = np.where(angle, np.sqrt(found.square / steps), np.nan)
    band = 0.02 * np.maximum(found.high - found.low, 1e-12)
    outside = np.abs(found.trace - found.final.astype(np.float32)) > band
    last = steps - np.argmax(outside[::-1], axis=0)
    settling = np.where(outside.any(axis=0), last, 0) * dt
    metrics = (found.final, found.low, found.high, rms, error, found.torque, found.speed, settling)
    columns = dict(zip(METRICS, metrics, strict=True))
    rows = []
    for i in range(n):
        values: Row = [float(columns[m][i, j]) for j in range(len(joints)) for m in METRICS]
        rows.append([*values, not bool(fine[i]), happened[i]])
    return rows


def _simulate_on_device(
    plan: SweepPlan, variants: Sequence[Robot], points: Sequence[Mapping[str, object]]
) -> list[Row]:
    """Simulate variants whose actuators have equal states on a device of a back end."""
    backend = find_backend(plan.device)
    first = variants[0]
    dt = first.timestep
    steps = step_count(plan, dt)
    batch = backend.make_batch(first, len(variants), plan.device)
    rest = [p for p in points[0] if not is_actuator_path(first, p)]
    alone = [p for p in rest if any(q[p] != points[0][p] for q in points) and not batch.can_differ(p)]
    if alone:  # what only a model can hold: a batch for each of its values
        groups: dict[object, list[int]] = {}
        for i, point in enumerate(points):
            groups.setdefault(tuple(str(point[p]) for p in alone), []).append(i)
        rows: list[Row] = [[] for _ in points]
        for members in groups.values():
            done = _simulate_on_device(plan, [variants[i] for i in members], [points[i] for i in members])
            for i, row in zip(members, done, strict=True):
                rows[i] = row
        return rows
    for joint in batch.joints:
        batch.put_actuators(joint, [v.actuators[joint] for v in variants])
    shared = [p for p in rest if batch.can_differ(p)]
    batch.set_parameters({p: np.array([point[p] for point in points]) for p in shared})
    batch.reset()
    table = _command_rows(plan, first, batch.model, steps, dt)
    found = backend.run_measured(batch, list(first.actuators), table, steps)
    fine = np.asarray(np.isfinite(found.final).all(axis=1) & np.isfinite(batch.read("state/qvel")).all(axis=1))
    act = np.asarray(batch.read("state/act")) if batch.model.na else None
    happened = [
        joined(joint_events(found, i, robot, batch.model, None if act is None else act[i])) if fine[i] else "diverged"
        for i, robot in enumerate(variants)
    ]
    return _rows(found, first, dt, fine, happened)


def step_count(plan: SweepPlan, dt: float) -> int:
    """Return the number of steps of a simulation, or raise a `PliantError` if there are too many."""
    if plan.duration / dt > MOST_STEPS:
        raise PliantError(
            f"{plan.duration:g} s are {plan.duration / dt:.3g} steps of {dt:g} s; must be at most {MOST_STEPS}",
            field="duration",
        )
    return max(1, round(plan.duration / dt))


def _command_rows(
    plan: SweepPlan, robot: Robot, model: mujoco.MjModel, steps: int, dt: float
) -> list[list[tuple[int, float]]]:
    """Return, for each step, the controls that change in it."""
    from pliant.command_tables import read_commands
    from pliant.laws import COMMAND_NAMES

    columns: dict[str, int] = {}
    for joint, actuator in robot.actuators.items():
        names = COMMAND_NAMES[actuator.mode][: actuator.commands]
        first = model.actuator_ctrladr[model.actuator(joint).id]
        for offset, name in enumerate(names):
            columns[f"{joint}/{name}"] = int(first) + offset
    for own in robot.spec.actuators:
        columns[f"{own.name}/control"] = int(model.actuator_ctrladr[model.actuator(own.name).id])
    rows: list[list[tuple[int, float]]] = [[] for _ in range(steps)]

    def column(name: str, file: str | None = None) -> int:
        if name not in columns:
            raise PliantError(f"no command {name!r}; {nearest(name, columns)}", file=file, field=name)
        return columns[name]

    for name, value in plan.commands.items():
        try:
            rows[0].append((column(name), float(value)))
        except (TypeError, ValueError):
            raise PliantError(f"command {name!r} is {value!r}; must be a number", field=name) from None
    if plan.command_file is not None:
        table = read_commands(plan.command_file)
        grid = np.arange(steps) * dt
        for name, values in table.columns.items():
            c = column(name, plan.command_file)
            known = ~np.isnan(values)
            if table.interpolation == "linear":
                for k in np.flatnonzero(grid >= table.time[known][0]):
                    rows[k].append((c, float(np.interp(grid[k], table.time[known], values[known]))))
            else:
                for t, value in zip(table.time[known], values[known], strict=True):
                    k = math.ceil(t / dt - 1e-9)
                    if k < steps:
                        rows[k].append((c, float(value)))
    return rows
