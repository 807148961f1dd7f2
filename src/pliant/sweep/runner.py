"""Run a sweep: cut it into chunks, run them where an executor says, and keep the rows of each as it ends."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.base.documents.tables import write_table
from pliant.base.errors import PliantError
from pliant.sweep.backends import CPU, find_backend
from pliant.sweep.chunks import (
    is_actuator_path,
    load_robots,
    measured,
    run_chunk,
    step_count,
)
from pliant.sweep.plan import SweepPlan
from pliant.sweep.table import ResultFolder, Row, SweepResult, check_table, is_table
from pliant.tasks.executor import Executor, Task, run_tasks

if TYPE_CHECKING:
    from pliant.model.robot import Robot

CHUNK = 500
"""Number of simulations per chunk."""


def run_sweep(
    plan: SweepPlan,
    output: str | Path | None = None,
    *,
    executor: Executor | None = None,
    chunk: int = CHUNK,
    progress: Callable[[int, int], None] | None = None,
    keep_interrupted: bool = False,
) -> SweepResult:
    """Run a sweep, or resume an interrupted one.

    Args:
        plan: specification of the sweep.
        output: folder of the result, with ``plan.json`` and ``results.csv``; every finished chunk is appended to the
            latter. A sweep is resumed if the folder contains the same plan. A folder in use by another sweep is
            refused. A name that ends in .csv or .parquet is a file, written when the sweep ends, also by Ctrl-C with
            ``keep_interrupted``; it is not resumed. None keeps the result in memory only.
        executor: what runs the chunks: processes share the cores; None: this process, whose batches use all cores.
        chunk: number of simulations per chunk.
        progress: called with (done, total) after every chunk.
        keep_interrupted: whether Ctrl-C returns the finished part instead of raising KeyboardInterrupt.

    Raises:
        PliantError: the plan is not valid, the output folder cannot be written, contains another plan or is in use, or
            the executor cannot run the chunks.
        MissingDependency: a package of the executor or of the device is not installed.
    """
    executor = executor or Executor()
    probe = next(plan.points(), {})
    (robot,) = load_robots(plan, [probe])
    _check(plan, robot, executor)
    units = measured(plan, robot)
    columns = ("index", *probe, *units, "diverged", "happened")
    began = time.perf_counter()
    if output is not None:
        check_table(output)
    folder_of = None if output is None or is_table(output) else output
    with ResultFolder(folder_of, plan, columns, robot) if folder_of is not None else contextlib.nullcontext() as folder:
        rows: dict[int, Row] = dict(folder.rows) if folder else {}
        before = len(rows)
        total = plan.size
        if progress is not None:
            progress(before, total)

        def finish(_: Task, result: list[Row]) -> None:
            fresh = [row for row in result if row[0] not in rows]
            if folder is not None:
                folder.append(fresh)
            rows.update((row[0], row) for row in fresh)
            if progress is not None:
                progress(len(rows), total)

        pending = [
            (first, points)
            for first, points in _chunks(plan, robot, chunk)
            if any(first + k not in rows for k in range(len(points)))
        ]
        if executor.dask is None and len(pending) < 2:
            executor = Executor()
        threads = max(1, (os.cpu_count() or 1) // executor.workers) if executor.workers > 1 else 0
        interrupted = False
        try:
            run_tasks(
                run_chunk,
                [(plan, first, points, tuple(units), threads) for first, points in pending],
                finish,
                executor=executor,
            )
        except KeyboardInterrupt:
            if not keep_interrupted:
                raise
            interrupted = True
    kept = [rows[i] for i in sorted(rows)]
    if output is not None and is_table(output):
        write_table(output, columns, kept)
    return SweepResult(columns, kept, time.perf_counter() - began, before, interrupted, units)


def _check(plan: SweepPlan, robot: Robot, executor: Executor) -> None:
    """Refuse before anything runs what would fail in a worker."""
    step_count(plan, robot.timestep)
    if not robot.actuators and plan.device != CPU:
        raise PliantError(
            f"the device {plan.device} simulates compliant joints, and {plan.source} has none; must be {CPU}",
            field="device",
        )
    if plan.device != CPU and executor.dask is None:  # a cluster's workers have devices of their own
        find_backend(plan.device).check_device(plan.device)
        if executor.workers > 1:
            raise PliantError(
                f"processes is {executor.workers} and the device {plan.device}, which runs one batch at a time; must "
                "be 1",
                field="processes",
            )


def _chunks(plan: SweepPlan, robot: Robot, chunk: int) -> list[tuple[int, list[dict[str, object]]]]:
    """Cut the points into runs of at most ``chunk``; on the cores, of those that differ in actuators only (if any)."""
    actuators = [v.path for v in plan.variations if is_actuator_path(robot, v.path)]
    others = [v.path for v in plan.variations if v.path not in actuators]
    parts: list[tuple[int, list[dict[str, object]]]] = []
    previous: tuple[object, ...] | None = None
    for index, point in enumerate(plan.points()):
        rest = tuple(point[p] for p in others) if actuators and others and plan.device == CPU else None
        if not parts or len(parts[-1][1]) >= chunk or rest != previous:
            parts.append((index, []))
        parts[-1][1].append(point)
        previous = rest
    return parts
