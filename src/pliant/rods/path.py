"""Solutions along a path of tasks."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pliant.base.numerics import Array
from pliant.rods import kernels
from pliant.rods._build import unflatten
from pliant.rods.accuracy import MAX_STEPS, TOLERANCE
from pliant.rods.continuation import continue_to
from pliant.rods.kernels import layout
from pliant.rods.no_equilibrium import COARSE, no_equilibrium
from pliant.rods.solution import Solution
from pliant.rods.statics import State, Statics, Task, check_statics


class Path(Sequence[Solution]):
    """Solutions along a path; arrays first, Solution objects when asked for."""

    def __init__(
        self, robot: Statics, task: Task, steps: int, rows: kernels.Rows, wrenches: Array,
        notes: Sequence[tuple[int, str]] = (),
    ) -> None:  # fmt: skip
        check_statics(robot, "Path")
        self._robot, self._task, self._steps, self._rows, self._wrenches = robot, task, steps, rows, wrenches
        self.residual: Array = rows.report[:, layout.RESIDUAL]
        """Largest scaled residual of each row."""
        self.iterations: Array = rows.report[:, layout.STEPS].astype(int)
        """Newton steps of each row."""
        self.notes: tuple[tuple[int, str], ...] = tuple(notes)
        """(row, sentence) where the path changed to another branch, or lost its stability."""

    @property
    def q(self) -> Array:
        """Actuated joint values, shape (rows, actuators) [m or rad]."""
        pairs = self._robot.description.actuators
        return np.stack([self._rows.Q[:, i, j] for i, j in pairs], axis=1) if pairs else np.zeros((len(self), 0))

    @property
    def plate_poses(self) -> Array:
        """Plate poses, shape (rows, 4, 4)."""
        return np.array([unflatten(x) for x in self._rows.X])

    def __len__(self) -> int:
        return len(self._rows.X)

    def __getitem__(self, row):
        if isinstance(row, slice):
            return [self[r] for r in range(*row.indices(len(self)))]
        row = range(len(self))[row]
        return Solution(
            self._robot,
            state_at(self._rows, row),
            dataclasses.replace(self._task, wrench=self._wrenches[row]),
            steps=self._steps,
            residual=float(self.residual[row]),
            iterations=int(self.iterations[row]),
        )


def state_at(rows: kernels.Rows, row: int) -> State:
    """Return the state in a row."""
    return State(rows.W[row], rows.Q[row], rows.X[row])


def unsure_rows(report: Array) -> NDArray[np.intp]:
    """Return the rows before which the plate's stiffness was not surely positive: an equilibrium may be unstable."""
    return np.flatnonzero((report[:, layout.MARGIN] <= 0.0) & (report[:, layout.STEPS] > 0))


def first_coarse_row(
    robot: Statics, rows: kernels.Rows, count: int, wrenches: Array, task: Task, steps: int, every: int
) -> int | None:  # fmt: skip
    """Return the first row whose state is no equilibrium with twice the integration steps, of those looked at, or None.

    The error of the integration grows with the forces, so the row of the largest is looked at beside each of `every`.

    Args:
        count: number of the rows.
        wrenches: on the plate, one for each row.
        task: one of those that they solve.
    """
    strongest = int(np.argmax(np.abs(rows.W[:count]).reshape(count, -1).max(axis=1)))
    looked = np.array(sorted({*range(0, count, every), strongest, count - 1}))
    good = robot._confirms(State(rows.W[looked], rows.Q[looked], rows.X[looked]), wrenches[looked], task, steps)
    return None if good.all() else int(looked[np.argmin(good)])


class _Following:
    """Follows tasks from the solution of the first one, with a number of steps a rod.

    Args:
        leave: where the path loses its stability in a bifurcation, it goes on on the stable side.
        first_row: number of the first row in messages.
    """

    def __init__(
        self, robot: Statics, tasks: list[Task], first: Solution, steps: int, *,
        one_step: bool, leave: bool, first_row: int,
    ) -> None:  # fmt: skip
        count = len(tasks)
        self.robot, self.tasks, self.first, self.steps = robot, tasks, first, steps
        self.one_step, self.first_row = one_step, first_row
        self.stable = leave and first.morse_index == 0
        self.joined = kernels.Tasks(
            tasks[0].inverse, np.array([t.q for t in tasks]).reshape(count, -1), np.array([t.x for t in tasks]),
            tasks[0].controlled, np.array([t.wrench for t in tasks]), tasks[0].follower,
        )  # fmt: skip
        self.rows = kernels.Rows(
            np.zeros((count, layout.REPORT_SIZE)), *(np.zeros((count, *a.shape)) for a in first._state)
        )
        self.at = 0
        self.notes: list[tuple[int, str]] = []
        self._put_solution(first)

    def _put(self, state: State, residual: float, iterations: int) -> None:
        self.rows.W[self.at], self.rows.Q[self.at], self.rows.X[self.at] = state
        self.rows.report[self.at, layout.RESIDUAL], self.rows.report[self.at, layout.STEPS] = residual, iterations
        self.at += 1

    def _put_solution(self, solution: Solution) -> None:
        self.notes += [(self.at, solution.note)] if solution.note else []
        self._put(solution._state, solution.residual, solution.iterations)

    def _solution(self, rows: kernels.Rows, row: int, task: Task) -> Solution:
        return Solution(self.robot, state_at(rows, row), task, steps=self.steps, residual=0.0, iterations=0)

    def run(self) -> Path:
        """Follow all tasks."""
        state = self.first._state.copy()
        while self.at < len(self.tasks):
            lost = self._loop(state)
            if self.at >= len(self.tasks):
                break
            state = state_at(self.rows, self.at - 1).copy()
            state = self._settle(state) if lost else self._bridge(state)
        return Path(self.robot, self.tasks[0], self.steps, self.rows, self.joined.wrench, self.notes)

    def _loop(self, state: State) -> bool:
        """Run the compiled loop as far as it comes; return whether it ended because the stability is lost."""
        at, joined = self.at, self.joined
        rest = joined._replace(q=joined.q[at:], x=joined.x[at:], wrench=joined.wrench[at:])
        done, rows = self.robot._follow(state, self.steps, rest, margins=bool(self.stable))
        lost = unsure_rows(rows.report[:done]) if self.stable else []
        if len(lost):  # the margin is a bound: the row before may have lost its stability already
            done = int(lost[0])
            while done > 0 and self._solution(rows, done - 1, self.tasks[at + done - 1]).morse_index:
                done -= 1
        for mine, theirs in zip(self.rows, rows):
            mine[at : at + done] = theirs[:done]
        self.at += done
        return len(lost) > 0

    def _settle(self, state: State) -> State:
        """Solve the next row on the stable side of a bifurcation."""
        last = Solution(self.robot, state, self.tasks[self.at - 1], steps=self.steps, residual=0.0, iterations=0)
        last.branch = self.first.branch
        here = self.robot._solve(self.tasks[self.at], last, self.steps, 0, 0)
        self.stable = here.morse_index == 0
        self._put_solution(here)
        return here._state.copy()

    def _bridge(self, state: State) -> State:
        """Solve the next row in small steps from the one before."""
        at = self.at
        reached, fraction = continue_to(self.robot, state, self.tasks[at - 1], self.tasks[at], self.steps)
        if reached is None:
            row = self.first_row + at
            raise no_equilibrium(
                self.robot,
                self.tasks[at],
                [(f"continuation from row {row - 1}", state, float(np.max(np.abs(self.robot._wk.r))))],
                self.steps,
                f"path row {row}: no equilibrium beyond {100.0 * fraction:.1f} % of the way from row {row - 1}",
            )
        self._put(reached, TOLERANCE, 0)
        return reached


def follow_tasks(
    robot: Statics, tasks: list[Task], first: Solution, *, one_step: bool, leave: bool, first_row: int
) -> Path:
    """Return the path of tasks from the solution of the first one; see `ContinuumParallelRobot.follow`.

    Args:
        leave: where the path loses its stability in a bifurcation, it goes on on the stable side.
        first_row: number of the first row in messages.
    """
    steps, count = first.steps, len(tasks)
    while True:
        following = _Following(robot, tasks, first, steps, one_step=one_step, leave=leave, first_row=first_row)
        path = following.run()
        if one_step:
            return path
        coarse = first_coarse_row(robot, path._rows, count, path._wrenches, tasks[0], steps, max(1, count // 50))
        if coarse is None:
            return path
        if steps >= MAX_STEPS:
            head = f"path row {first_row + coarse}: no equilibrium"
            state = state_at(path._rows, coarse)
            raise no_equilibrium(robot, tasks[coarse], [("the row before" + COARSE, state, np.inf)], steps, head)
        steps *= 2  # more strongly bent further on: the whole path again, finer
