"""Many solves on all cores: over poses or joint values, robots, and numbers of a robot."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import ModelError, PliantError
from pliant.base.numerics import Array
from pliant.rods import kernels
from pliant.rods.kernels import layout
from pliant.rods.path import first_coarse_row, state_at, unsure_rows
from pliant.rods.solution import Solution
from pliant.rods.statics import SURE_STEPS, Statics, Task, check_statics
from pliant.rods.variation import with_parameters

LOOP_ROWS = 128
"""Most rows of a call of the compiled loop; the threads then take turns in it and in the interpreter."""


def share(
    work: Callable[[Iterable[int]], None], count: int, workers: int | None, *, in_turn: bool = False
) -> None:  # fmt: skip
    """Call ``work`` in threads, each with its part of ``count`` rows.

    Args:
        in_turn: whether a thread takes the next row when it is free, where rows differ in time; else its part is a
            range.
    """
    from pliant.tasks.executor import Executor, run_tasks  # here, as `import pliant.rods` has no use for it

    workers = max(1, min(count, workers or os.cpu_count() or 1))
    edges = np.linspace(0, count, workers + 1).astype(int)
    parts = [(iter(range(count)),)] * workers if in_turn else [(range(a, b),) for a, b in pairwise(edges) if b > a]
    run_tasks(work, parts, lambda *_: None, executor=Executor(threads=workers))


def told(progress: Callable[[int, int], None] | None, count: int) -> Callable[[int], None]:
    """Return a function that threads call with the number of rows they have done; it ends them after Ctrl-C."""
    from pliant.tasks.executor import is_interrupted

    lock, done = threading.Lock(), [0]

    def tell(number: int) -> None:
        if is_interrupted():
            raise KeyboardInterrupt
        if progress is not None:
            with lock:
                done[0] += number
                progress(done[0], count)

    return tell


def _loop_solutions(robot: Statics, before: Solution, tasks: kernels.Tasks, task: Task) -> list[Solution]:
    """Return what the compiled loop solves from a solution on, as far as it is surely stable and accurate.

    Args:
        task: one of the tasks.
    """
    ready, rows = robot._call(before._state.copy(), before.steps, tasks, limit=SURE_STEPS)
    ready = min([ready, *unsure_rows(rows.report[:ready]).tolist()])
    if ready:
        coarse = first_coarse_row(robot, rows, ready, tasks.wrench, task, before.steps, 10)
        ready = ready if coarse is None else max(0, coarse - 9)
    residuals, steps = rows.report[:, layout.RESIDUAL].tolist(), rows.report[:, layout.STEPS].astype(int).tolist()

    def row(k: int) -> Solution:
        one = Task(
            task.inverse, tasks.q[k], tasks.x[k], task.controlled, tasks.wrench[k], task.follower, task.tolerance
        )  # fmt: skip
        return Solution(
            robot, state_at(rows, k), one, steps=before.steps, residual=residuals[k], iterations=steps[k]
        )  # fmt: skip

    return [row(k) for k in range(ready)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """Rows of one robot in a batch."""

    robot: Statics
    inverse: bool
    x: Array
    q: Array
    wrenches: Array
    numbers: NDArray[np.intp]  # of the rows in the whole batch
    values: list[dict[str, float]]  # of the parameters of each row; empty for none

    def task(self, k: int) -> Task:
        mask = self.robot._controlled(None) if self.inverse else np.zeros(6, bool)
        return Task(self.inverse, self.q[k], self.x[k], mask, self.wrenches[k], False, self.robot._tolerance(None))


def _checked_rows(
    robots: Sequence[Statics], rows: Sequence[ArrayLike], wrenches: Sequence[ArrayLike] | None, inverse: bool,
    parameters: Mapping[str, ArrayLike],
) -> list[_Rows]:  # fmt: skip
    """Return the rows of each robot, in their order.

    Raises:
        ModelError: numbers of rows differ, or a row does not fit its robot.
    """
    count = len(rows)
    if wrenches is not None and len(wrenches) != count:
        raise ModelError(f"{count} rows, but {len(wrenches)} wrenches", field="wrenches")
    given = {name: np.asarray(values, dtype=float) for name, values in parameters.items()}
    for name, column in given.items():
        if column.shape != (count,) or not np.all(np.isfinite(column)):
            raise ModelError(
                f"parameter {name!r} needs a finite number for each of the {count} rows", field="parameters"
            )
    identities = np.array([id(robot) for robot in robots])
    groups = {robot: np.flatnonzero(identities == robot).tolist() for robot in dict.fromkeys(identities.tolist())}
    out = []
    for numbers in groups.values():
        robot = robots[numbers[0]]
        check_statics(robot, "solve_batch")
        mine = [rows[k] for k in numbers]
        out.append(
            _Rows(
                robot=robot, inverse=inverse, numbers=np.array(numbers),
                x=robot._poses(mine) if inverse else np.zeros((len(mine), 12)),
                q=np.zeros((len(mine), robot.actuator_count)) if inverse
                else np.array([robot.checked_joints(row) for row in mine]).reshape(len(mine), -1),
                wrenches=np.zeros((len(mine), 6)) if wrenches is None
                else np.array([robot.checked_wrench(wrenches[k]) for k in numbers]),
                values=[{name: float(column[k]) for name, column in given.items()} for k in numbers] if given else [],
            )
        )  # fmt: skip
    return out


def solve_batch(
    robot: Statics | Sequence[Statics],
    rows: Sequence[ArrayLike],
    wrenches: Sequence[ArrayLike] | None = None,
    *,
    inverse: bool = True,
    parameters: Mapping[str, ArrayLike] | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Solution | PliantError]:
    """Solve many poses (or joint values) on all cores; a row without equilibrium gives its error.

    Each worker runs its rows through the compiled loop, which holds no interpreter lock, each row from the one
    before; a row that is not near enough for that is solved by continuation or cold.

    Args:
        robot: one for all rows, or one for each row.
        rows: plate poses, or joint values.
        wrenches: on the plate, one for each row; None for none.
        inverse: whether rows are poses.
        parameters: a value for each row by name of `pliant.rods.parameters.parameter_names`: the row is solved for the
            robot with these values, continued from the one with its own.
        workers: threads; None for one a core.
        progress: called with (rows done, rows).

    Raises:
        ModelError: numbers of rows differ, or a row does not fit its robot.
    """
    count = len(rows)
    several = isinstance(robot, Sequence) and not isinstance(robot, str)
    if not several:
        check_statics(robot, "solve_batch")
    robots = list(robot) if several else [robot] * count
    if len(robots) != count:
        raise ModelError(f"{len(robots)} robots; must be one, or {count}: one for each row", field="robot")
    out: list = [None] * count
    tell = told(progress, count)
    for group in _checked_rows(robots, rows, wrenches, inverse, parameters or {}):
        with contextlib.suppress(PliantError):
            group.robot.home()  # once, and not by each thread
        share(lambda part, group=group: _solve_part(group, part, out, tell), len(group.numbers), workers)
    return out


def _solve_part(group: _Rows, part: range, out: list, tell: Callable[[int], None]) -> None:
    """Solve a part of the rows of one robot."""
    mine, before, at = group.robot.fork(), None, part.start
    least, mask = mine._steps(None, None), group.task(part.start).controlled

    def put(k: int, solution: Solution | PliantError) -> None:
        if group.values and isinstance(solution, Solution):
            try:
                solution = with_parameters(solution, group.values[k])
            except PliantError as fault:
                solution = fault
        out[group.numbers[k]] = solution

    while at < part.stop:
        if before is not None:
            rest = slice(at, min(at + LOOP_ROWS, part.stop))
            tasks = kernels.Tasks(group.inverse, group.q[rest], group.x[rest], mask, group.wrenches[rest], False)
            found = _loop_solutions(mine, before, tasks, group.task(at))
            for k, solution in enumerate(found):
                put(at + k, solution)
            before = found[-1] if found else before
            at += len(found)
            tell(len(found))
        if at < part.stop:
            try:
                before = mine._solve(group.task(at), before, least if before is None else before.steps, 0, 12)
                put(at, before)
            except PliantError as fault:
                out[group.numbers[at]] = fault
            at += 1
            tell(1)
