"""Parameter sweeps: thousands of simulations of one robot, over a grid or random parameters, on all cores.

A sweep is divided into chunks of simulations that share a compiled model. Each chunk runs as one `mujoco.batch.Batch`,
without Python code in the step. Actuator parameters may vary within a chunk; each value of another parameter (mass,
option) needs its own compiled model. Finished chunks are appended to the result at once, so an interrupted sweep can
be resumed.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import hashlib
import itertools
import json
import math
import os
import re
import signal
import time
from asyncio import CancelledError as AsyncCancelledError
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pliant.base.errors import MissingDependency, PliantError, nearest

if TYPE_CHECKING:
    import mujoco

    from pliant.engine.measures import Measures
    from pliant.model.robot import Robot

__all__ = ["METRICS", "SweepPlan", "SweepResult", "Variation", "parse_variation", "run_sweep", "run_tasks"]

T = TypeVar("T")

CHUNK = 500
"""Number of simulations per chunk."""
MOST_STEPS = 10_000_000
"""Maximum number of steps of one simulation."""
MAX_COUNT = 10_000_000
"""Most values of one parameter in a sweep."""
MOST_VALUES = 1_000_000_000
"""Maximum number of joint positions that a chunk stores during its run, 4 bytes each."""

METRICS = {
    "final": "joint position at the end [rad]",
    "min": "smallest joint position [rad]",
    "max": "largest joint position [rad]",
    "rms_error": "root mean square of reference 1 minus position, in modes whose reference 1 is an angle [rad]",
    "final_error": "reference 1 minus position at the end, likewise [rad]",
    "peak_torque": "largest magnitude of the actuator's torque on the link [N m]",
    "peak_velocity": "largest magnitude of the joint velocity [rad/s]",
    "settling_time": "time after which the position stays within 2 % of its range of the final one [s]",
}
"""Metrics that a sweep reports for each compliant joint: name -> description with unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """Variation of one parameter over a sweep."""

    path: str
    """Dotted path of the parameter, as in `Robot.set`."""
    values: tuple[Any, ...] = ()
    """Grid values; empty for a random parameter."""
    distribution: str = ""
    """"uniform", "loguniform" or "normal"; empty for a grid."""
    a: float = 0.0
    """Lower bound, or mean of a normal distribution, in the unit of the parameter."""
    b: float = 0.0
    """Upper bound, or standard deviation of a normal distribution, in the unit of the parameter."""

    def draw(self, rng: np.random.Generator) -> float:
        """Return one random value."""
        if self.distribution == "uniform":
            return float(rng.uniform(self.a, self.b))
        if self.distribution == "loguniform":
            return float(math.exp(rng.uniform(math.log(self.a), math.log(self.b))))
        return float(rng.normal(self.a, self.b))


def parse_variation(text: str) -> Variation:
    """Parse a variation in the syntax of the command line.

    ``elbow.k1=0.001,0.002`` lists values. ``elbow.k1=0.001:0.01:10`` gives ten evenly spaced values, and ``...:10:log``
    ten values with equal ratios. ``uniform(low,high)``, ``loguniform(low,high)`` and ``normal(mean,std)`` are random.

    Raises:
        PliantError: the syntax is not valid.
    """
    path, eq, rest = text.partition("=")
    path, rest = path.strip(), rest.strip()
    forms = (
        "must be PATH=v1,v2,...  PATH=low:high:count[:log]  PATH=uniform(low,high)  PATH=loguniform(low,high)  "
        "PATH=normal(mean,std)"
    )
    if not eq or not path or not rest:
        raise PliantError(f"the variation {text!r} has no '=' between a path and its values; {forms}")

    def number(part: str) -> float:
        try:
            value = float(part)
        except ValueError:
            raise PliantError(f"{path}: {part!r} is not a number; {forms}", field=path) from None
        if not math.isfinite(value):
            raise PliantError(f"{path}: {part!r} is not finite; {forms}", field=path)
        return value

    if rest.endswith(")") and "(" in rest:
        name, _, arguments = rest[:-1].partition("(")
        parts = [number(p) for p in arguments.split(",")] if arguments else []
        if name not in ("uniform", "loguniform", "normal"):
            raise PliantError(
                f"{path}: no distribution {name!r}; {nearest(name, ('uniform', 'loguniform', 'normal'))}", field=path
            )
        if len(parts) != 2:
            raise PliantError(f"{path}: {name} takes two numbers; found {len(parts)}", field=path)
        a, b = parts
        if name != "normal" and not a < b:
            raise PliantError(f"{path}: {name}({a:g},{b:g}): the lower bound is not below the upper", field=path)
        if name == "loguniform" and a <= 0.0:
            raise PliantError(f"{path}: loguniform needs bounds above 0; found {a:g}", field=path)
        if name == "normal" and b < 0.0:
            raise PliantError(f"{path}: normal needs a standard deviation of 0 or more; found {b:g}", field=path)
        return Variation(path=path, distribution=name, a=a, b=b)
    if ":" in rest:
        parts = rest.split(":")
        if len(parts) not in (3, 4) or (len(parts) == 4 and parts[3] not in ("log", "lin")):
            raise PliantError(f"{path}: {rest!r}; {forms}", field=path)
        low, high = number(parts[0]), number(parts[1])
        try:
            count = int(parts[2])
        except ValueError:
            raise PliantError(f"{path}: the count {parts[2]!r} is not a whole number; {forms}", field=path) from None
        if not 1 <= count <= MAX_COUNT:
            raise PliantError(f"{path}: the count is {count}; must be from 1 to {MAX_COUNT}", field=path)
        if parts[3:] == ["log"]:
            if low <= 0.0 or high <= 0.0:
                raise PliantError(f"{path}: equal ratios need bounds above 0", field=path)
            values = np.geomspace(low, high, count)
        else:
            values = np.linspace(low, high, count)
        return Variation(path=path, values=tuple(float(v) for v in values))
    values_: list[Any] = []
    for part in rest.split(","):
        part = part.strip()
        try:
            values_.append(float(part))
        except ValueError:
            values_.append(part)
    return Variation(path=path, values=tuple(values_))


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlan:
    """Specification of a sweep, as plain data: it is hashed, stored with the result and sent to other machines."""

    source: str
    """File or catalogue name of the robot."""
    variations: tuple[Variation, ...]
    """Parameters that vary. All combinations of grid values are simulated; random values are drawn per simulation."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that are equal in all simulations, by path."""
    commands: Mapping[str, Any] = field(default_factory=dict)
    """Constant commands from t = 0 on: "<joint>/<command>" -> value, in the unit of the command."""
    command_file: str | None = None
    """File with a table of commands, as for `pliant run --command`; only commands of joints are accepted."""
    duration: float = 1.0
    """Length of each simulation [s]."""
    samples: int = 1
    """Number of draws of the random parameters per grid point."""
    seed: int = 0
    """Seed of the random parameters."""
    timestep: float | None = None
    """Time step [s]; None uses the time step of the robot."""
    package_paths: tuple[str, ...] = ()
    """Folders that contain ROS packages."""
    imports: tuple[str, ...] = ()
    """Python files or modules with the user's laws and robots, imported in every process that runs a chunk."""
    device: str = "cpu"
    """"cpu": the cores; "cuda" or "cuda:N": a GPU in MuJoCo Warp; "warp-cpu": MuJoCo Warp without a GPU, for tests."""

    def __post_init__(self) -> None:
        if self.device not in ("cpu", "cuda", "warp-cpu") and not re.fullmatch(r"cuda:\d{1,3}", self.device):
            raise PliantError(f"device is {self.device!r}; must be cpu, cuda, cuda:N or warp-cpu", field="device")
        if not (math.isfinite(self.duration) and self.duration > 0.0):
            raise PliantError(f"duration is {self.duration!r}; must be more than 0 s", field="duration")
        if self.samples < 1:
            raise PliantError(f"samples is {self.samples}; must be at least 1", field="samples")
        if self.seed < 0:
            raise PliantError(f"seed is {self.seed}; must be a whole number >= 0", field="seed")
        seen = set()
        for v in self.variations:
            if v.path in seen:
                raise PliantError(f"{v.path} is varied twice; combine the two", field=v.path)
            seen.add(v.path)

    @property
    def size(self) -> int:
        """Number of simulations."""
        grid = math.prod(len(v.values) for v in self.variations if not v.distribution)
        return grid * self.samples

    def points(self) -> Iterator[dict[str, Any]]:
        """Yield the parameters of each simulation, in order; they do not depend on the division into chunks."""
        grids = [[(v.path, value) for value in v.values] for v in self.variations if not v.distribution]
        random = [v for v in self.variations if v.distribution]
        index = 0
        for combination in itertools.product(*grids):
            for _ in range(self.samples):
                rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(index,)))
                yield {**dict(combination), **{v.path: v.draw(rng) for v in random}}
                index += 1

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return dataclasses.asdict(self)

    def digest(self) -> str:
        """Return a hash of the plan and of the files that it refers to."""
        digest = hashlib.sha256(json.dumps(self.as_dict(), sort_keys=True, default=str).encode())
        for name in (self.source, self.command_file, *self.imports):
            if name and Path(name).is_file():
                digest.update(Path(name).read_bytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class SweepResult:
    """Result table of a sweep."""

    columns: tuple[str, ...]
    """Column names: ``index``, the varied paths, ``<joint>/<metric>``, ``diverged``."""
    rows: list[list[Any]]
    """One row per simulation, in the order of the index."""
    wall: float
    """Wall time of this call [s]."""
    done_before: int
    """Number of simulations that an earlier call had completed."""
    interrupted: bool = False
    """Whether Ctrl-C ended the sweep before all simulations were complete."""

    def column(self, name: str) -> np.ndarray:
        """Return one column as an array.

        Raises:
            PliantError: there is no column of that name.
        """
        if name not in self.columns:
            raise PliantError(f"no column {name!r}; {nearest(name, self.columns)}", field=name)
        i = self.columns.index(name)
        return np.array([row[i] for row in self.rows])


def _load(plan: SweepPlan) -> Any:
    from pliant.base.plugins import import_user_module
    from pliant.robots.loading import load_with_settings

    for name in plan.imports:
        import_user_module(name)
    return load_with_settings(plan.source, plan.settings, timestep=plan.timestep, package_paths=plan.package_paths)


# -- one chunk: runs in this process, in another one, or on another machine ---------------------------------


def run_chunk(plan: SweepPlan, first: int, points: Sequence[Mapping[str, Any]], nthread: int = 0) -> list[list[Any]]:
    """Simulate consecutive points of a plan.

    Returns:
        One row per point: index, parameters, metrics, diverged.
    """
    robot = _load(plan)
    variants = []
    for point in points:
        variant = robot.copy()
        variant.update(point)
        variants.append(variant)
    shape_of: dict[Any, list[int]] = {}
    for i, variant in enumerate(variants):
        # What must agree inside a batch: law, number of states and of references, and all that is not an actuator's.
        actuators = tuple(
            (joint, a.law.name, a.states(variant.timestep), a.commands) for joint, a in variant.actuators.items()
        )
        rest = tuple(sorted((p, str(v)) for p, v in points[i].items() if not _is_actuator_path(robot, p)))
        shape_of.setdefault((actuators, rest), []).append(i)
    rows: list[list[Any]] = [[] for _ in points]
    by_layout: dict[Any, list[list[int]]] = {}
    for key, members in shape_of.items():
        by_layout.setdefault((key[0], variants[members[0]].timestep), []).append(members)
    for layouts in by_layout.values():
        members = [i for group in layouts for i in group]
        if plan.device != "cpu":
            values = _simulate_on_device(plan, [variants[i] for i in members], [points[i] for i in members])
        else:
            values = _simulate(plan, [variants[i] for i in members], layouts, variants, nthread)
        for i, row in zip(members, values, strict=True):
            rows[i] = [first + i, *(points[i].values()), *row]
    return rows


def _is_actuator_path(robot: Robot, path: str) -> bool:
    kinds = {kind for kind, _, _ in robot._resolve(path)}
    return kinds == {"actuator"}


def _simulate(
    plan: SweepPlan, variants: Sequence[Any], layouts: Sequence[Sequence[int]], every: Sequence[Any], nthread: int
) -> list[list[Any]]:
    import mujoco

    from pliant.engine import make_batch, put_at_rest, set_actuators
    from pliant.engine.measures import Measures

    first = variants[0]
    dt = first.timestep
    steps = _steps(plan, dt)
    kept = steps * len(variants) * len(first.actuators)
    if kept > MOST_VALUES:
        fits = max(1, MOST_VALUES // (steps * len(first.actuators)))
        raise PliantError(
            f"a chunk of {len(variants)} simulations of {steps} steps would keep {kept:.2g} positions, more than "
            f"{MOST_VALUES:.0e}; use a chunk of {fits} or fewer, or a shorter duration",
            field="chunk",
        )
    models = [every[group[0]].compile() for group in layouts]
    batch = make_batch(first, len(variants), nthread=nthread, model=models[0])
    if len(models) > 1:
        batch.set_models([model for model, group in zip(models, layouts, strict=True) for _ in group])
    joints = list(first.actuators)
    if len(models) == 1 and len(variants) > 1:
        for joint in joints:
            set_actuators(batch, joint, [v.actuators[joint] for v in variants], dt)
    elif len(models) > 1:
        for model, group in zip(models, layouts, strict=True):
            if any(every[i].actuators != every[group[0]].actuators for i in group):
                raise PliantError(
                    "a sweep varies actuators and other parameters at once in one chunk of several models; this "
                    "should have been split"
                )
            model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    batch.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)

    model_of = {i: model for model, group in zip(models, layouts, strict=True) for i in group}
    members = [i for group in layouts for i in group]
    put_at_rest(batch, variants, [model_of[i] for i in members])
    model = models[0]
    qpos, qvel, ctrl = batch.bind("qpos"), batch.bind("qvel"), batch.bind("ctrl")
    force = batch.bind("actuator_force")
    ids = np.array([model.actuator(j).id for j in joints], dtype=int)
    joint_ids = [model.actuator(j).trnid[0] for j in joints]
    adr = model.jnt_qposadr[joint_ids]
    dof = model.jnt_dofadr[joint_ids]
    out = model.actuator_outadr[ids]
    references = model.actuator_ctrladr[ids]
    table = _command_rows(plan, first, model, steps, dt)

    n = len(variants)
    low = np.full((n, len(joints)), np.inf)
    high = -low
    square = np.zeros_like(low)
    torque = np.zeros_like(low)
    speed = np.zeros_like(low)
    trace = np.empty((steps, n, len(joints)), dtype=np.float32)
    for k in range(steps):
        for column, value in table[k]:
            ctrl[:, column] = value
        batch.step()
        q = qpos[:, adr]
        np.minimum(low, q, out=low)
        np.maximum(high, q, out=high)
        square += (ctrl[:, references] - q) ** 2
        np.maximum(torque, np.abs(force[:, out]), out=torque)
        np.maximum(speed, np.abs(qvel[:, dof]), out=speed)
        trace[k] = q
    final, reference = qpos[:, adr].copy(), ctrl[:, references]
    fine = np.isfinite(final).all(axis=1) & np.isfinite(qvel).all(axis=1)
    return _rows(Measures(final, low, high, square, torque, speed, reference, trace), first, dt, fine)


def _rows(found: Measures, robot: Robot, dt: float, fine: np.ndarray) -> list[list[Any]]:
    """Return the metrics of each simulation and whether it diverged."""
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
        values: list[Any] = [float(columns[m][i, j]) for j in range(len(joints)) for m in METRICS]
        rows.append([*values, not bool(fine[i])])
    return rows


def _simulate_on_device(
    plan: SweepPlan, variants: Sequence[Any], points: Sequence[Mapping[str, Any]]
) -> list[list[Any]]:
    """Simulate variants whose actuators have equal states in MuJoCo Warp."""
    from pliant.learn.warp import WarpBatch
    from pliant.learn.warp_measures import run_measured

    first = variants[0]
    dt = first.timestep
    steps = _steps(plan, dt)
    batch = WarpBatch(first, len(variants), plan.device.removeprefix("warp-"), check=False)
    rest = [p for p in points[0] if not _is_actuator_path(first, p)]
    alone = [p for p in rest if any(q[p] != points[0][p] for q in points) and not batch.can_differ(p)]
    if alone:  # what only a model can hold: a batch for each of its values
        groups: dict[Any, list[int]] = {}
        for i, point in enumerate(points):
            groups.setdefault(tuple(str(point[p]) for p in alone), []).append(i)
        rows: list[list[Any]] = [[] for _ in points]
        for members in groups.values():
            done = _simulate_on_device(plan, [variants[i] for i in members], [points[i] for i in members])
            for i, row in zip(members, done, strict=True):
                rows[i] = row
        return rows
    for joint in batch.joints:
        batch.put_actuators(joint, [v.actuators[joint] for v in variants])
    shared = [p for p in rest if batch.can_differ(p)]
    batch.set_parameters({p: [point[p] for point in points] for p in shared})
    batch.reset()
    found = run_measured(batch, list(first.actuators), _command_rows(plan, first, batch.model, steps, dt), steps)
    fine = np.isfinite(found.final).all(axis=1) & np.isfinite(batch.read("state/qvel")).all(axis=1)
    return _rows(found, first, dt, fine)


def _steps(plan: SweepPlan, dt: float) -> int:
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
    from pliant.laws import COMMAND_NAMES
    from pliant.simulation.commands import read_commands

    columns: dict[str, int] = {}
    for joint, actuator in robot.actuators.items():
        names = COMMAND_NAMES[actuator.mode][: actuator.commands]
        first = model.actuator_ctrladr[model.actuator(joint).id]
        for offset, name in enumerate(names):
            columns[f"{joint}/{name}"] = int(first) + offset
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


# -- the whole sweep ---------------------------------------------------------------------------------------


def _chunks(plan: SweepPlan, robot: Robot, chunk: int) -> list[tuple[int, list[dict[str, Any]]]]:
    """Cut the points into runs of at most ``chunk``; on the cores, of those that differ in actuators only (if any)."""
    actuators = [v.path for v in plan.variations if _is_actuator_path(robot, v.path)]
    others = [v.path for v in plan.variations if v.path not in actuators]
    parts: list[tuple[int, list[dict[str, Any]]]] = []
    previous: Any = None
    for index, point in enumerate(plan.points()):
        rest = tuple(point[p] for p in others) if actuators and others and plan.device == "cpu" else None
        if not parts or len(parts[-1][1]) >= chunk or rest != previous:
            parts.append((index, []))
        parts[-1][1].append(point)
        previous = rest
    return parts


def run_sweep(
    plan: SweepPlan,
    output: str | Path | None = None,
    *,
    processes: int = 1,
    dask: str | None = None,
    chunk: int = CHUNK,
    progress: Callable[[int, int], None] | None = None,
    keep_interrupted: bool = False,
) -> SweepResult:
    """Run a sweep, or resume an interrupted one.

    Args:
        plan: specification of the sweep.
        output: folder of the result, with ``plan.json`` and ``results.csv``; every finished chunk is appended to the
            latter. A sweep is resumed if the folder contains the same plan. A folder in use by another sweep is
            refused. None keeps the result in memory only.
        processes: number of processes that share the chunks and the cores.
        dask: address of the scheduler of a `distributed` cluster, which then runs the chunks.
        chunk: number of simulations per chunk.
        progress: called with (done, total) after every chunk.
        keep_interrupted: whether Ctrl-C returns the finished part instead of raising KeyboardInterrupt.

    Raises:
        PliantError: the plan is not valid, or the output folder cannot be written, contains another plan or is in use.
        MissingDependency: ``dask`` is given and `distributed` is not installed.
    """
    robot = _load(plan)
    if not robot.actuators:
        raise PliantError(f"{plan.source} has no compliant joint to report on", file=plan.source)
    _steps(plan, robot.timestep)
    for variation in plan.variations:
        if variation.path.startswith("robot."):
            raise PliantError(
                f"{variation.path} cannot be varied: options of a catalogue robot (robot.*) are set for all "
                "simulations with --set; vary a parameter of the robot itself, such as <joint>.initial_preset, "
                "<joint>.damping or <body>.mass",
                field=variation.path,
            )
    probe = next(plan.points(), {})
    robot.copy().update(probe)  # unknown paths fail here, not in a worker
    if plan.device != "cpu" and dask is None:  # a cluster's workers have devices of their own
        from pliant.learn.laws import warp_device
        from pliant.learn.warp import load_mujoco_warp

        load_mujoco_warp()
        warp_device(plan.device.removeprefix("warp-"))
        if processes > 1:
            raise PliantError(
                f"processes is {processes} and the device {plan.device}, which runs one batch at a time; must be 1",
                field="processes",
            )
    columns = (
        "index",
        *probe,
        *(f"{joint}/{metric}" for joint in robot.actuators for metric in METRICS),
        "diverged",
    )
    began = time.perf_counter()
    with _Store(output, plan, columns) if output is not None else contextlib.nullcontext() as store:
        rows: dict[int, list[Any]] = dict(store.rows) if store else {}
        before = len(rows)
        total = plan.size
        pending = [
            (i, points)
            for i, points in _chunks(plan, robot, chunk)
            if any(i + k not in rows for k in range(len(points)))
        ]
        if progress is not None:
            progress(before, total)

        def finish(result: list[list[Any]]) -> None:
            fresh = [row for row in result if row[0] not in rows]
            if store is not None:
                store.append(fresh)
            rows.update((row[0], row) for row in fresh)
            if progress is not None:
                progress(len(rows), total)

        interrupted = False
        try:
            if dask is not None:
                _on_cluster(dask, plan, pending, finish)
            else:
                several = processes > 1 and len(pending) > 1
                threads = max(1, (os.cpu_count() or 1) // processes) if several else 0
                run_tasks(
                    run_chunk,
                    [(plan, first, points, threads) for first, points in pending],
                    lambda _, result: finish(result),
                    processes=processes if several else 1,
                )
        except KeyboardInterrupt:
            if not keep_interrupted:
                raise
            interrupted = True
    return SweepResult(columns, [rows[i] for i in sorted(rows)], time.perf_counter() - began, before, interrupted)


def run_tasks(
    function: Callable[..., T],
    tasks: Iterable[tuple[Any, ...]],
    finish: Callable[[tuple[Any, ...], T], None],
    *,
    processes: int = 1,
) -> None:
    """Call a function once per task, in several processes, and pass on each result as soon as it is available.

    Only a few tasks are queued at a time, so that an interruption loses only the tasks in progress. Sweeps use it for
    their chunks, experiments for simulations that are not sweeps of a compiled model.

    Args:
        function: function at module level, called with the arguments of a task. Function, arguments and result must be
            picklable.
        tasks: arguments of each call.
        finish: called in this process with each task and its result, in the order of completion.
        processes: number of processes, >= 1; 1 runs all calls in this process, one after the other.

    Raises:
        PliantError: ``processes`` is less than 1.
        BaseException: any exception of the function or of `finish`; the other calls then end with their processes.
    """
    if processes < 1:
        raise PliantError(f"processes is {processes}; must be >= 1", field="processes")
    if processes == 1:
        for task in tasks:
            finish(task, function(*task))
        return
    import multiprocessing

    # Ctrl-C reaches every process of a terminal: this one decides what becomes of the others.
    with ProcessPoolExecutor(
        processes, mp_context=multiprocessing.get_context("spawn"), initializer=_ignore_interrupts
    ) as pool:
        waiting: dict[Future[T], tuple[Any, ...]] = {}
        queue = iter(tasks)
        try:
            for task in itertools.islice(queue, 2 * processes):
                waiting[pool.submit(function, *task)] = task
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    finish(waiting.pop(future), future.result())
                    for task in itertools.islice(queue, 1):
                        waiting[pool.submit(function, *task)] = task
        except BaseException:
            workers = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:  # a task may take minutes, and nobody wants it any more
                worker.terminate()
            for worker in workers:
                worker.join()
                while worker.is_alive():  # a thread of the pool has taken its exit status, and has not noted it yet
                    time.sleep(1e-3)
            raise


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that has started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _on_cluster(
    address: str,
    plan: SweepPlan,
    pending: Sequence[tuple[int, list[dict[str, Any]]]],
    finish: Callable[[list[list[Any]]], None],
) -> None:
    try:
        import distributed
    except ImportError:
        raise MissingDependency(
            "distributed", command="pip install 'pliant[cluster]'", purpose="a sweep on a cluster (--dask)"
        ) from None
    try:
        client = distributed.Client(address, timeout="10s")
    except (OSError, TimeoutError, ValueError) as error:
        raise PliantError(
            f"no scheduler answers at {address!r} ({type(error).__name__}); start one with: dask scheduler",
            field="dask",
        ) from None
    lost = PliantError(
        f"the scheduler at {address!r} was lost. The simulations that were finished before are in the folder of the "
        "sweep (--output); start the scheduler again and repeat the command, and the sweep continues",
        field="dask",
    )
    with client:
        futures = [client.submit(run_chunk, plan, first, points, 0, pure=False) for first, points in pending]
        try:
            for _, result in distributed.as_completed(futures, with_results=True):
                if isinstance(result, BaseException):  # of a future that was cancelled, it is given and not raised
                    raise result
                finish(result)
        except (CancelledError, AsyncCancelledError, distributed.comm.CommClosedError) as error:
            raise lost from error


class _Store:
    """The folder of a sweep: the plan, and a table that only grows. One sweep at a time holds it."""

    def __init__(self, folder: str | Path, plan: SweepPlan, columns: Sequence[str]) -> None:
        self._folder = Path(folder)
        self._columns = list(columns)
        self._table = self._folder / "results.csv"
        settings = self._folder / "plan.json"
        self._lock: Any = None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._acquire()
            if settings.exists():
                if _digest_of(settings) != plan.digest():
                    raise PliantError(
                        "the folder holds the result of another sweep (or the robot's file has changed since); name "
                        "another folder, or delete it",
                        file=settings,
                    )
            else:
                settings.write_text(
                    json.dumps({"digest": plan.digest(), "plan": plan.as_dict()}, indent=2, default=str)
                )
            self.rows = self._read()
            self.done = len(self.rows)
            if not self._table.exists():
                with self._table.open("w", newline="") as file:
                    csv.writer(file).writerow(self._columns)
        except OSError as error:
            self._release()
            raise PliantError(f"the output folder cannot be written: {error.strerror}", file=self._folder) from None
        except BaseException:
            self._release()
            raise

    def __enter__(self) -> _Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._release()

    def _acquire(self) -> None:
        """Hold the folder; the system lets go of it when the process ends, however it does."""
        try:
            import fcntl
        except ImportError:  # not on Windows: there nothing is locked
            return
        self._lock = (self._folder / ".lock").open("a")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PliantError(
                "another sweep is running in this folder; wait until it ends, or name another folder", file=self._folder
            ) from None

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _read(self) -> dict[int, list[Any]]:
        if not self._table.exists():
            return {}
        rows: dict[int, list[Any]] = {}
        try:
            text = self._table.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise PliantError(
                f"the table is not UTF-8 text: {error.reason} at byte {error.start}; name another folder",
                file=self._table,
            ) from None
        kept = text if text.endswith("\n") else text[: text.rfind("\n") + 1]
        if kept != text:  # a crash cut the last line: drop it, its chunk runs again
            self._table.write_text(kept)
        for i, cells in enumerate(csv.reader(kept.splitlines())):
            if i == 0:
                if cells != self._columns:
                    raise PliantError(
                        "the header is not that of this sweep; name another folder", file=self._table, line=1
                    )
                continue
            if len(cells) != len(self._columns):
                raise PliantError(
                    f"{len(cells)} cells, the header has {len(self._columns)}", file=self._table, line=i + 1
                )
            if not cells[0].isdecimal():
                raise PliantError(f"the index is {cells[0]!r}; must be a whole number", file=self._table, line=i + 1)
            rows[int(cells[0])] = [int(cells[0]), *(_cell(c) for c in cells[1:])]
        return rows

    def append(self, rows: Sequence[Sequence[Any]]) -> None:
        """Add finished rows and push them to the disk."""
        try:
            with self._table.open("a", newline="") as file:
                csv.writer(file).writerows([[repr(c) if isinstance(c, float) else c for c in row] for row in rows])
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            # The last line may be cut; `_read` drops it and its chunk runs again.
            raise PliantError(
                f"the table cannot be written: {error.strerror}; it holds {self.done} simulations, and the same "
                "command continues the sweep",
                file=self._table,
            ) from None
        self.done += len(rows)


def _digest_of(settings: Path) -> str | None:
    try:
        found = json.loads(settings.read_text())
    except (ValueError, UnicodeDecodeError):
        found = None
    if not isinstance(found, dict):
        raise PliantError("this is not the plan of a sweep; name another folder, or delete the file", file=settings)
    return found.get("digest")


def _cell(text: str) -> Any:
    if text in ("True", "False"):
        return text == "True"
    try:
        return float(text)
    except ValueError:
        return text
