"""A continuum parallel robot: direct and inverse geometrico-static model, path following, analysis.

The inverse model (IGM) finds the joint values that hold the plate at a pose, the direct model (DGM) finds the
plate pose for joint values, both under a wrench on the plate and gravity. What is known is eliminated: the
unknowns are the base wrenches of the rods and the joint values (IGM) or the plate pose (DGM).
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import ModelError, PliantError
from pliant.base.numerics import Array, for_kernels
from pliant.base.spatial import pose, rotation_from_rpy
from pliant.rods import analysis, batch, branches, kernels
from pliant.rods._build import build_model, build_work, characteristic_length, flatten, unflatten
from pliant.rods.accuracy import ACCURACIES, FINEST, MAX_STEPS, TOLERANCE, Accuracy, accuracy_named
from pliant.rods.analysis import Identification, Workspace, WrenchEstimate
from pliant.rods.arguments import checked_seed, controlled_mask, joint_row, pose_row, pose_rows, wrench_row
from pliant.rods.branches import Equilibrium
from pliant.rods.cold_start import cold_starts, guess, is_proper
from pliant.rods.continuation import continue_to, routes
from pliant.rods.description import RobotDescription
from pliant.rods.failure import Reach
from pliant.rods.gradients import models_of
from pliant.rods.kernels import layout
from pliant.rods.no_equilibrium import COARSE, no_equilibrium
from pliant.rods.path import Path, follow_tasks
from pliant.rods.solution import Solution
from pliant.rods.stability import softest_rod
from pliant.rods.statics import SURE_STEPS, State, Task


class ContinuumParallelRobot:
    """A robot of elastic rods between joints on the ground and a rigid plate.

    Args:
        description: what the robot is made of.
        accuracy: ``"accurate"`` (joint values within 1e-6 m of a reference with 400 steps) or ``"fast"`` (1e-5 m).

    A robot keeps scratch memory: use one object a thread (:meth:`fork`).
    """

    def __init__(self, description: RobotDescription, *, accuracy: str = "accurate") -> None:
        accuracy_named(accuracy)
        self._begin(description, accuracy, {})

    def _begin(self, description: RobotDescription, accuracy: str, models: dict[int, kernels.Model]) -> None:
        self.description = description
        self.accuracy = accuracy
        self._models = models
        self._length: float | None = None
        self._ended = ""
        self._home: Solution | bool | None = None
        self._reach: Reach | None = None
        self._renew()

    def _renew(self) -> None:
        md = self._model(ACCURACIES[self.accuracy].steps)
        self._n, self._k, self._na, self._npl = (int(v) for v in md.size[:4])
        self._wk = build_work(self._n, self._k, self._na)
        self._no_nodes = np.zeros((1, self._n, 1, 10))
        self._actuators = tuple(np.array(self.description.actuators, dtype=int).reshape(-1, 2).T)

    def fork(self) -> Self:
        """Return a robot that shares the description and tables but has its own memory, for another thread."""
        other = copy.copy(self)
        other._wk = build_work(self._n, self._k, self._na)
        return other

    # --- plain facts -----------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self.description.name

    @property
    def planar(self) -> bool:
        """True if the robot moves in the x-y plane."""
        return self.description.planar

    @property
    def actuator_count(self) -> int:
        """Number of actuated joint values."""
        return self._na

    def pose_numbers(self, X: ArrayLike) -> list[float]:
        """Return a 4x4 pose as (x, y, z, roll, pitch, yaw), of a planar robot as (x, y, angle) [m, rad]."""
        X = np.asarray(X, dtype=float)
        yaw = float(np.arctan2(X[1, 0], X[0, 0]))
        if self.planar:
            return [float(X[0, 3]), float(X[1, 3]), yaw]
        pitch = float(np.arctan2(-X[2, 0], np.hypot(X[0, 0], X[1, 0])))
        return [*map(float, X[:3, 3]), float(np.arctan2(X[2, 1], X[2, 2])), pitch, yaw]

    def pose_from_numbers(self, values: ArrayLike) -> Array:
        """Return a pose as the solver takes it: 4x4 from (x, y, z[, roll, pitch, yaw]), planar (x, y, angle)."""
        v = np.asarray(values, dtype=float)
        return v if self.planar else pose(v[:3], rotation_from_rpy(v[3:] if len(v) == 6 else np.zeros(3)))

    def characteristic_length(self) -> float:
        """Return the length that makes rotations comparable with translations [m]: see `_build`."""
        if self._length is None:
            self._length = characteristic_length(self.description.limbs)
        return self._length

    # --- models ----------------------------------------------------------------------------------------------

    def solve_igm(
        self,
        pose: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        start: Solution | None = None,
        branch: str = "home",
        controlled: Sequence[str] | None = None,
        follower: bool = False,
        accuracy: str | None = None,
        seed: int = 0,
        restarts: int = 12,
    ) -> Solution:
        """Find the joint values that hold the plate at a pose (inverse geometrico-static model).

        Args:
            pose: plate pose, 4x4, or (x, y, angle) [m, rad] for a planar robot.
            wrench: on the plate about its origin, world axes: (fx, fy, fz, mx, my, mz) or planar (fx, fy, mz).
            start: a solution nearby; the solve then takes a fraction of a millisecond. None: the home equilibrium.
            branch: which of several equilibria: ``"home"``, the one continued from the start, or the stable one beside
                it where it has lost its stability; ``"smooth"``, the continued one even where it is unstable;
                ``"lowest"``, the stable one of the lowest energy. `Solution.note` says if another one had to be taken.
            controlled: which plate freedoms are held at the pose, if there are fewer actuators than freedoms; rotations
                are about the plate's axes where not all three are named.
            follower: True if the wrench turns with the plate (given in plate axes).
            accuracy: another accuracy than the robot's.
            seed: of the random restarts.
            restarts: how many random restarts are tried at most.

        Raises:
            NoEquilibrium: nothing converged.
            ModelError: the arguments do not fit the robot.
        """
        x = self._pose(pose)
        problem = Task(
            True,
            np.zeros(self._na),
            x,
            self._controlled(controlled),
            self.checked_wrench(wrench),
            bool(follower),
            self._tolerance(accuracy),
        )
        return self._solve(problem, start, self._steps(accuracy, start), seed, restarts, branch)

    def solve_dgm(
        self,
        q: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        start: Solution | None = None,
        branch: str = "home",
        follower: bool = False,
        accuracy: str | None = None,
        seed: int = 0,
        restarts: int = 12,
    ) -> Solution:
        """Find the plate pose for given joint values (direct geometrico-static model).

        Args:
            q: actuated joint values, shape (actuators,) [m or rad]; for an extension the rest length.
            wrench, start, branch, follower, accuracy, seed, restarts: as for :meth:`solve_igm`.
        """
        problem = Task(
            False,
            self.checked_joints(q),
            np.zeros(12),
            np.zeros(6, bool),
            self.checked_wrench(wrench),
            bool(follower),
            self._tolerance(accuracy),
        )
        return self._solve(problem, start, self._steps(accuracy, start), seed, restarts, branch)

    def equilibria(
        self,
        pose: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
        *,
        q: ArrayLike | None = None,
        controlled: Sequence[str] | None = None,
        follower: bool = False,
        starts: int = 60,
        seed: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Equilibrium]:
        """Find the equilibria at a pose (inverse model) or at joint values (direct model), by energy.

        Args:
            pose, wrench, controlled, follower: as for :meth:`solve_igm`; without pose and q the home pose.
            q: actuated joint values, for the equilibria of the direct model.
            starts: how many random starts are tried; about a hundred take a second.
            seed: of the random starts.
            progress: called with (starts done, starts).

        Returns:
            The equilibria with their energy, index, strain and connection with home. More may exist.
        """
        if pose is not None and q is not None:
            raise ModelError("pose and q exclude each other; give one of them", field="pose")
        if starts < 0:
            raise ModelError(f"starts must be >= 0, found {starts}", field="starts")
        checked_seed(seed)
        load = self.checked_wrench(wrench)
        if q is None:
            x = self._pose(self.description.home if pose is None else pose)
            mask = self._controlled(controlled)
            task = Task(True, np.zeros(self._na), x, mask, load, bool(follower), self._tolerance(None))
        else:
            none = np.zeros(6, bool)
            task = Task(False, self.checked_joints(q), np.zeros(12), none, load, bool(follower), self._tolerance(None))
        return branches.find_all(self, task, starts, seed, progress)

    def home(self) -> Solution:
        """Return the solution at the description's home pose (solved once, then kept).

        Of several equilibria it is a stable one, and of these the one nearest to the joint values of the home, if the
        description has them. A robot without actuators has its home where its plate comes to rest.
        """
        if self._home is False:
            raise ModelError("the home pose is being solved", field="home")
        home = self._home
        if not isinstance(home, Solution):
            self._home = False
            try:
                home = self._solve_home()
            except BaseException:
                self._home = None
                raise
        elif home._robot is not self:  # of the robot that this one was forked from
            home = home.belonging_to(self)
        self._home = home
        return home

    def _solve_home(self) -> Solution:
        d = self.description
        tolerance, load, steps = self._tolerance(None), np.zeros(6), self._steps(None, None)
        joints = np.array(d.home_joints, dtype=float) if d.home_joints else None
        tasks: list[Task] = []
        fault: PliantError | None = None
        try:
            mask = self._controlled(None)
            tasks.append(Task(True, np.zeros(self._na), flatten(d.home), mask, load, False, tolerance))
        except ModelError as error:
            fault = error
        if joints is not None or self._na == 0:
            q = self.checked_joints(np.zeros(0) if joints is None else joints)
            tasks.append(Task(False, q, np.zeros(12), np.zeros(6, bool), load, False, tolerance))
        for task in tasks:
            try:
                return self._best_home(task, steps, joints)
            except PliantError as error:
                fault = fault or error
        assert fault is not None
        raise fault

    def _best_home(self, task: Task, steps: int, joints: Array | None) -> Solution:
        """Return the stable solution that is nearest to joint values, or else the first stable one."""
        found: list[tuple[int, float, Solution]] = []
        tries: list = []
        for name, state, run in cold_starts(self, task, steps, 12, 0):
            ok, worst, iterations = run(self, state)
            tries.append((name, state, worst))
            if not ok or not is_proper(self, state):
                continue
            near = state.Q.copy()
            if joints is None:
                near[:] = 0.0
            else:
                near[self._actuators] = joints
            if task.inverse:
                branches.wrap(self, state, near, only_into_limits=False)
            out = np.array([worst, iterations, 0, 0])
            solution = self._finish(state, task, steps, out, tries[:-1], name, branch="home")
            if solution is None:
                tries[-1] = (name + COARSE, state, np.inf)
                continue
            gap = 0.0 if joints is None else float(np.abs(branches.without_turns(self, solution.q - joints)).max())
            found.append((solution.morse_index, gap, solution))
            if solution.morse_index == 0 and gap < 1e-2:
                break
        if not found:
            raise no_equilibrium(self, task, tries, steps)
        return min(found, key=lambda one: one[:2])[2]

    def follow(
        self,
        path: Sequence[ArrayLike],
        wrench: ArrayLike | None = None,
        *,
        start: Solution | None = None,
        branch: str = "home",
        inverse: bool = True,
        controlled: Sequence[str] | None = None,
        follower: bool = False,
        accuracy: str | None = None,
        one_step: bool = False,
        first_row: int = 0,
    ) -> Path:
        """Solve along a path, each row from the one before.

        Args:
            path: poses (IGM) or joint values (DGM, ``inverse=False``), one per row.
            wrench: one for all rows, or one per row.
            start: a solution near the first row; None: the home equilibrium.
            branch: which equilibrium the first row has: as for :meth:`solve_igm`. The rows after it are continued; with
                ``"home"`` on the stable side where the path loses its stability in a bifurcation.
            one_step: for a control loop: neither the stability nor the accuracy of the integration is looked at.
            first_row: number of the first row in messages, for a part of a longer path.

        Returns:
            The solutions. Where Newton's method fails between two rows, smaller steps are taken between them.

        Raises:
            NoEquilibrium: between two rows even the smallest steps fail, as at a limit point.
        """
        if len(path) == 0:
            raise ModelError("the path has no rows", field="path")
        rows = len(path)
        xs, qs = np.zeros((rows, 12)), np.zeros((rows, self._na))
        if inverse:
            xs = self._poses(path)
        else:
            qs = np.array([self.checked_joints(row) for row in path])
        loads = (
            [wrench] * rows if wrench is None or np.ndim(wrench) == 1 else [np.asarray(wrench)[r] for r in range(rows)]
        )
        wrenches = np.array([self.checked_wrench(load) for load in loads])
        mask = self._controlled(controlled) if inverse else np.zeros(6, bool)
        tolerance = self._tolerance(accuracy)
        problems = [Task(inverse, qs[r], xs[r], mask, wrenches[r], bool(follower), tolerance) for r in range(rows)]
        first = self._solve(problems[0], start, self._steps(accuracy, start), 0, 12, branch)
        leave = branch == "home" and not one_step
        return follow_tasks(self, problems, first, one_step=one_step, leave=leave, first_row=first_row)

    def estimate_wrench(self, measured, **options) -> WrenchEstimate:
        """Estimate the wrench on the plate: see :func:`pliant.rods.analysis.estimate_wrench`."""
        return analysis.estimate_wrench(self, measured, **options)

    def identify(self, measurements, parameters) -> Identification:
        """Find parameters from measured poses: see :func:`pliant.rods.analysis.identify`."""
        return analysis.identify(self, measurements, parameters)

    def workspace(self, axes, **options) -> Workspace:
        """Map where the robot can go: see :func:`pliant.rods.analysis.workspace`."""
        return analysis.workspace(self, axes, **options)

    def solve_batch(self, rows, wrenches=None, **options) -> list:
        """Solve many rows on all cores: see :func:`pliant.rods.batch.solve_batch`."""
        return batch.solve_batch(self, rows, wrenches, **options)

    def _with(self, description: RobotDescription) -> Self:
        """Return a robot of the same kind with other numbers, but the same parts."""
        other = object.__new__(type(self))
        other._begin(description, self.accuracy, models_of(self, description))
        return other

    # --- arguments -------------------------------------------------------------------------------------------

    def _pose(self, pose: ArrayLike) -> Array:
        return pose_row(self.description, pose)

    def _poses(self, rows: Sequence[ArrayLike]) -> Array:
        return pose_rows(self.description, rows)

    def checked_wrench(self, wrench: ArrayLike | None) -> Array:
        """Return a wrench on the plate, shape (6,) [N, N m]; None for none: see `pliant.rods.arguments.wrench_row`."""
        return wrench_row(self.description, wrench)

    def checked_joints(self, q: ArrayLike) -> Array:
        """Return actuated joint values, shape (actuators,) [m or rad]: see `pliant.rods.arguments.joint_row`."""
        return joint_row(self.description, q)

    def _controlled(self, controlled: Sequence[str] | None) -> NDArray[np.bool_]:
        return controlled_mask(self.description, controlled)

    def _accuracy(self, accuracy: str | None) -> Accuracy:
        return accuracy_named(self.accuracy if accuracy is None else accuracy)

    def _steps(self, accuracy: str | None, start: Solution | None) -> int:
        """Return the steps to begin with: those of the accuracy, or of a start that had to be refined."""
        least = self._accuracy(accuracy).steps
        return max(least, start.steps) if start is not None and start.steps > 4 else least

    def _tolerance(self, accuracy: str | None) -> float:
        return self._accuracy(accuracy).tolerance

    # --- the compiled solver ---------------------------------------------------------------------------------

    def _model(self, steps: int) -> kernels.Model:
        if steps not in self._models:
            self._models[steps] = build_model(self.description, steps)
        return self._models[steps]

    def _call(
        self, state: State, steps: int, tasks: kernels.Tasks, *, limit: int = 25,
        fresh: bool = False, model: kernels.Model | None = None,
    ) -> tuple[int, kernels.Rows]:  # fmt: skip
        """Solve rows of tasks in the compiled loop, each from the one before; see `pliant.rods.kernels.solve`.

        Args:
            state: where the first row starts; changed in place.
            model: in place of the robot's own.

        Returns:
            The number of rows that were solved, and all rows.
        """
        rows = self._rows(len(tasks.x))
        done = kernels.solve(
            self._model(steps) if model is None else model, self._wk, kernels.Unknowns(*state, self._no_nodes), tasks,
            kernels.Newton(TOLERANCE, limit, 1, fresh), rows,
        )  # fmt: skip
        return done, rows

    def _follow(
        self, state: State, steps: int, tasks: kernels.Tasks, *, margins: bool
    ) -> tuple[int, kernels.Rows]:  # fmt: skip
        """Follow rows of tasks that are near each other in the compiled loop; see `pliant.rods.kernels.follow`."""
        rows = self._rows(len(tasks.x))
        unknowns = kernels.Unknowns(*state, self._no_nodes[0])
        return kernels.follow(self._model(steps), self._wk, unknowns, tasks, margins, rows), rows

    def _rows(self, count: int) -> kernels.Rows:
        return kernels.Rows(
            np.zeros((count, layout.REPORT_SIZE)), np.empty((count, self._n, 6)), np.empty((count, self._n, self._k)),
            np.empty((count, layout.POSE_SIZE)),
        )  # fmt: skip

    def _one(self, state: State, problem: Task, steps: int, **options: Any) -> tuple[bool, Array]:
        done, rows = self._call(state, steps, problem.rows(), **options)
        return done == 1, rows.report[0]

    def _refined_residual(self, states: State, wrenches: Array, follower: bool, steps: int) -> Array:
        """Return the residuals of states with a number of integration steps, whatever the targets, shape (states,).

        Args:
            states: arrays of all states, a row each.
            wrenches: on the plate, one for each.
        """
        count = len(states.X)
        rows, wrenches = kernels.Rows(np.zeros((count, layout.REPORT_SIZE)), *states), for_kernels(wrenches)
        kernels.solve(
            self._model(steps), self._wk, kernels.Unknowns(*(a[0].copy() for a in states), self._no_nodes),
            kernels.Tasks(True, np.zeros((count, self._na)), states.X, np.zeros(6, bool), wrenches, follower),
            kernels.Newton(TOLERANCE, layout.RESIDUAL_ONLY, 1, False, True), rows,
        )  # fmt: skip
        return rows.report[:, layout.RESIDUAL]

    def _confirms(self, states: State, wrenches: Array, task: Task, steps: int) -> NDArray[np.bool_]:
        """Return which states are equilibria with twice the integration steps, too; otherwise as `_refined_residual`.

        Args:
            task: one of those that they solve.
        """
        allowed = task.tolerance * (FINEST if steps >= MAX_STEPS else 1.0)
        return self._refined_residual(states, wrenches, task.follower, 2 * steps) <= allowed

    def _solve(
        self, problem: Task, start: Solution | None, steps: int, seed: int, restarts: int, branch: str = "home"
    ) -> Solution:
        checked_seed(seed)
        if start is not None and start._robot.description is not self.description:
            raise ModelError(f"start belongs to {start._robot.name!r}, not to this robot", field="start")
        if branch != "home" and branches.checked_branch(branch) == "lowest":
            return self._lowest(problem, seed, restarts)
        tries: list = []
        note = ""
        if start is not None:
            state = start._state.copy()
            fresh = start.steps == steps and start._tips is not None
            if fresh:
                self._wk.tips[:] = start._tips
                self._wk.cols[:] = start._cols
            ok, out = self._one(state, problem, steps, fresh=fresh, limit=12)
            if ok and out[1] <= SURE_STEPS:
                solution = self._finish(state, problem, steps, out, [], "warm start", branch=start.branch)
                if solution is None:
                    tries.append(("warm start" + COARSE, state, np.inf))
                elif branch != "home" or self._surely_stable(solution._state, start, float(out[layout.MARGIN])):
                    return solution
                else:
                    return self._settled(solution, problem, start)
            else:
                tries.append(("warm start", state, float(out[0])))
            jumped = state if ok and out[1] > SURE_STEPS else None
            self._refuse_out_of_reach(problem, steps)
            state = start._state.copy()
            reached, fraction = continue_to(self, state, self._task_of(start, problem), problem, steps)
            if reached is not None:
                solution = self._checked(reached, problem, steps, tries, "continuation", branch=start.branch)
                if solution is not None:
                    return self._settled(solution, problem, start) if branch == "home" else solution
            note = f"the equilibrium of the start ends after {100.0 * fraction:.0f} % of the way"
            tries.append((f"continuation to {100.0 * fraction:.0f} %", state, float(np.max(np.abs(self._wk.r)))))
            got = self._from_home(problem, steps, branch)
            if got is not None:
                got.note = f"{note}; this one is continued from home"
                return got
            if jumped is not None:  # far away, but an equilibrium
                solution = self._checked(jumped, problem, steps, tries, "warm start")
                if solution is not None and solution.morse_index == 0:
                    solution.note = f"{note}; this is another one"
                    return solution
        else:
            self._refuse_out_of_reach(problem, steps)
            got = self._from_home(problem, steps, branch)
            if got is not None:
                return got
            note = self._ended
            if self._ended:
                tries.append(("continuation from home", guess(self, problem), np.inf))
        return self._cold(problem, steps, seed, restarts, tries, note)

    def _surely_stable(self, state: State, start: Solution, margin: float) -> bool:
        """Whether a solution beside a start cannot have lost its stability: spares the full count in fast loops.

        Forces change the stiffness of a rod by about 1.2 times their change by its length, so a plate stiffness that is
        several times larger, in the same units, keeps its sign.
        """
        length, moment = softest_rod(self)
        change = np.abs(state.W - start._state.W)
        largest = max(float(change[:, :3].max()) * length, float(change[:, 3:].max())) / moment
        return margin > 4.0 * largest

    def _task_of(self, start: Solution, problem: Task) -> Task:
        """Return the task that a start solves, as a problem like another one."""
        return dataclasses.replace(problem, q=start.q, x=start._state.X.copy(), wrench=start.wrench)

    def _from_home(self, problem: Task, steps: int, branch: str) -> Solution | None:
        """Return the solution continued from home, or None; `_ended` then says why."""
        self._ended = ""
        if self._home is False:
            return None
        try:
            home = self.home()
        except PliantError:
            self._ended = "there is no home equilibrium"
            return None
        if home.follower != problem.follower and home.wrench.any():
            return None
        before = self._task_of(home, problem)
        state = home._state.copy()
        steps = max(steps, home.steps)
        for name, route in routes(before, problem):
            reached, at = state, before
            for then in route:
                reached, fraction = continue_to(self, reached, at, then, steps)
                if reached is None:
                    if then is route[0] and not name:
                        self._ended = f"the branch from home ends after {100.0 * fraction:.0f} % of the way"
                    break
                at = dataclasses.replace(then, x=reached.X.copy())
            if reached is None:
                continue
            solution = self._checked(reached, problem, steps, [], f"continuation from home{name}", branch="home")
            if solution is not None:
                if problem.inverse:
                    branches.wrap(self, solution._state, home._state.Q, only_into_limits=True)
                return self._settled(solution, problem, home) if branch == "home" else solution
        return None

    def _settled(self, solution: Solution, problem: Task, origin: Solution) -> Solution:
        """Return the solution, or the stable one beside it if it is unstable and has one."""
        if solution.morse_index == 0:
            return solution
        if origin._alone:  # it was looked for already, and the branch has gone on
            solution.note, solution._alone = origin.note, True
            return solution
        if origin.morse_index:
            origin = self.home() if self._home is not False else origin
        state = None
        if origin.morse_index == 0:
            at = (origin._state.copy(), self._task_of(origin, problem))
            state = branches.stable_neighbour(self, problem, solution, at)
        if state is None:
            solution.note = "this equilibrium is unstable, and no stable one is connected with it"
            solution._alone = True
            return solution
        found = self._checked(state, problem, solution.steps, [], "stable neighbour", branch="neighbour")
        if found is not None:
            kind = found.stability().verdict  # neutral: a round column may buckle to any side
            found.note = f"the equilibrium on the straight way has lost its stability; this is the {kind} one beside it"
        return solution if found is None else found

    def _lowest(self, problem: Task, seed: int, restarts: int) -> Solution:
        """Return the stable equilibrium of the lowest energy among those that are found."""
        found = branches.find_all(self, problem, max(restarts, 40), seed)
        if not found:
            raise no_equilibrium(
                self, problem, [("random starts", guess(self, problem), np.inf)], self._steps(None, None)
            )
        best = min(found, key=lambda one: (one.index > 0, one.energy))
        solution = best.solution
        if best.index:
            solution.note = f"none of the {len(found)} equilibria that were found is stable"
        elif solution.branch == "other":
            solution.note = "not the branch from home"
        return solution

    def _finish(
        self, state: State, problem: Task, steps: int, out: Array, tries: list, name: str, branch: str = "other"
    ) -> Solution | None:
        """Check a converged state with twice the integration steps, refine it if needed, and pack it.

        Args:
            out: report of its solve.
            tries: what was tried before.
            name: of the start that led to the state.

        Returns:
            None if the state solves the equations of a coarse integration only.
        """
        wk = self._wk
        tips, cols = wk.tips.copy(), wk.cols.copy()
        while not self._confirms(State(*(a[None] for a in state)), problem.wrench[None], problem, steps)[0]:
            if steps >= MAX_STEPS:
                return None
            state = state.copy()
            ok, out = self._one(state, problem, 2 * steps)
            if not ok or not is_proper(self, state):
                return None
            steps *= 2
            if out[layout.STEPS] > SURE_STEPS:
                branch = "other"
            tips, cols = wk.tips.copy(), wk.cols.copy()
        return Solution(
            self, state, problem, steps=steps, residual=float(out[layout.RESIDUAL]), iterations=int(out[layout.STEPS]),
            linearisation=(tips, cols), starts=(*(one for one, *_ in tries), name), branch=branch,
        )  # fmt: skip

    def _checked(
        self, state: State, problem: Task, steps: int, tries: list, name: str, branch: str = "other"
    ) -> Solution | None:
        """Solve once more from a state and return what `_finish` does; None also where no joint may be like that."""
        ok, out = self._one(state, problem, steps)
        if not ok or not is_proper(self, state):
            return None
        solution = self._finish(state, problem, steps, out, tries, name, branch)
        if solution is None:
            tries.append((name + COARSE, state, np.inf))
        return solution

    # --- cold start ------------------------------------------------------------------------------------------

    def _cold(self, problem: Task, steps: int, seed: int, restarts: int, tries: list, note: str) -> Solution:
        """Search where no continuation leads to: the first stable solution, else the one of the lowest index."""
        best: tuple[int, Solution] | None = None
        near = self._home._state.Q if isinstance(self._home, Solution) else None
        for name, state, run in cold_starts(self, problem, steps, restarts, seed):
            ok, worst, iterations = run(self, state)
            if not ok or not is_proper(self, state):
                tries.append((name, state, worst if not ok else np.inf))
                continue
            if problem.inverse:
                branches.wrap(self, state, np.zeros_like(state.Q) if near is None else near, only_into_limits=False)
            out = np.array([worst, iterations, 0, 0])
            solution = self._finish(state, problem, steps, out, tries, name)
            if solution is None:
                tries.append((name + COARSE, state, np.inf))
                continue
            index = solution.morse_index
            tries.append((f"{name} (unstable, index {index})" if index else name, state, worst))
            solution.note = f"{note}; this is another one, found by {name}" if note else ""
            if best is None or index < best[0]:
                best = (index, solution)
            if index == 0:
                break
        if best is None:
            raise no_equilibrium(self, problem, tries, steps)
        index, solution = best
        if index and note:
            solution.note += "; it is unstable, `--branch lowest` searches for a stable one"
        return solution

    def _refuse_out_of_reach(self, problem: Task, steps: int) -> None:
        """Raise where a whole pose is given that a rod cannot reach by far: no start can help.

        Raises:
            NoEquilibrium: a rod is too short by more than its material can stretch.
        """
        if problem.inverse and problem.controlled[: self._npl].all():
            if self._reach is None:
                self._reach = Reach(self.description)
            if self._reach.missing(unflatten(problem.x)) is not None:
                raise no_equilibrium(self, problem, [], steps)
