"""A continuum parallel robot: direct and inverse geometrico-static model, path following, analysis.

The inverse model (IGM) finds the joint values that hold the plate at a pose, the direct model (DGM) finds the
plate pose for joint values, both under a wrench on the plate and gravity. What is known is eliminated: the
unknowns are the base wrenches of the rods and the joint values (IGM) or the plate pose (DGM).
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import ModelError, PliantError, nearest
from pliant.base.spatial import exp_so3, log_so3, pose, quaternion_from_rotation, rotation_from_rpy
from pliant.rods import _kernels as kernels
from pliant.rods import analysis, branches
from pliant.rods._build import build_model, build_work, flatten, unflatten
from pliant.rods.analysis import Identification, Workspace, WrenchEstimate
from pliant.rods.branches import Equilibrium
from pliant.rods.description import RobotDescription
from pliant.rods.failure import Reach, free_motion
from pliant.rods.solution import Solution, softest_rod
from pliant.rods.statics import SURE_STEPS, State, Task

__all__ = ["ACCURACIES", "Accuracy", "ContinuumParallelRobot", "NoEquilibrium", "Path"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """How finely the rods are integrated."""

    steps: int
    """Steps of the eighth-order formula a rod, at least; doubled while the check below fails."""
    tolerance: float
    """Largest change of the scaled residual (metres for positions) when the number of steps is doubled."""


# Against a reference with 400 steps: errors of joint values below 1e-5 m and 1e-6 m.
ACCURACIES = {
    "fast": Accuracy(steps=2, tolerance=1e-5),
    "accurate": Accuracy(steps=4, tolerance=1e-6),
}
TOLERANCE = 1e-8  # largest scaled residual of a solution
STRETCH = 1e-3  # beyond which a rod is called too short once no start has converged
SEGMENTS = 4  # of multiple shooting in a cold start
MAX_STEPS = 128
# Continuation: most steps of Newton's method, most relative change of the rate of the unknowns, least part of the way.
MOST_STEPS, MOST_BEND, LEAST_STEP = 5, 0.7, 2e-5


class NoEquilibrium(PliantError):
    """No equilibrium was found; says how near the solver came and why it may have failed.

    Attributes:
        residual: smallest scaled residual that was reached.
        limb: name of the limb with the worst row, or "plate".
        reach: name of a limb whose rod is too short, with the missing length [m], or None.
        starts: names of the starts that were tried.
    """

    def __init__(
        self, message: str, *, residual: float, limb: str, reach: tuple[str, float] | None, starts: Sequence[str]
    ) -> None:
        super().__init__(message, field=limb)
        self.residual = residual
        self.limb = limb
        self.reach = reach
        self.starts = tuple(starts)


class Path(Sequence[Solution]):
    """Solutions along a path; arrays first, Solution objects when asked for."""

    def __init__(
        self, robot: ContinuumParallelRobot, problem: Task, steps: int, W, Q, X, out, wrenches,
        notes: Sequence[tuple[int, str]] = (),
    ) -> None:  # fmt: skip
        self._robot, self._problem, self._steps = robot, problem, steps
        self._W, self._Q, self._X, self._wrenches = W, Q, X, wrenches
        self.residual: Array = out[:, 0]
        """Largest scaled residual of each row."""
        self.iterations: Array = out[:, 1].astype(int)
        """Newton steps of each row."""
        self.notes: tuple[tuple[int, str], ...] = tuple(notes)
        """(row, sentence) where the path changed to another branch, or lost its stability."""

    @property
    def q(self) -> Array:
        """Actuated joint values, shape (rows, actuators) [m or rad]."""
        pairs = self._robot.description.actuators
        return np.stack([self._Q[:, i, j] for i, j in pairs], axis=1) if pairs else np.zeros((len(self), 0))

    @property
    def plate_poses(self) -> Array:
        """Plate poses, shape (rows, 4, 4)."""
        return np.array([unflatten(x) for x in self._X])

    def __len__(self) -> int:
        return len(self._X)

    def __getitem__(self, row):
        if isinstance(row, slice):
            return [self[r] for r in range(*row.indices(len(self)))]
        row = range(len(self))[row]
        return Solution(
            self._robot,
            (self._W[row], self._Q[row], self._X[row]),
            wrench=self._wrenches[row],
            follower=self._problem.follower,
            steps=self._steps,
            residual=float(self.residual[row]),
            iterations=int(self.iterations[row]),
            inverse=self._problem.inverse,
            controlled=self._problem.controlled,
        )


class ContinuumParallelRobot:
    """A robot of elastic rods between joints on the ground and a rigid plate.

    Args:
        description: what the robot is made of.
        accuracy: ``"accurate"`` (joint values within 1e-6 m of a reference with 400 steps) or ``"fast"`` (1e-5 m).

    A robot keeps scratch memory: use one object a thread (:meth:`fork`).
    """

    def __init__(self, description: RobotDescription, *, accuracy: str = "accurate") -> None:
        if accuracy not in ACCURACIES:
            raise ModelError(f"accuracy {accuracy!r} is not known; {nearest(accuracy, ACCURACIES)}", field="accuracy")
        self.description = description
        self.accuracy = accuracy
        self._models: dict[int, kernels.Model] = {}
        self._length: float | None = None
        self._ended = ""
        self._home: Solution | bool | None = None
        self._reach: Reach | None = None
        self._renew()

    def _renew(self) -> None:
        md = self._model(ACCURACIES[self.accuracy].steps)
        self._n, self._k, self._na, self._npl = (int(v) for v in md.size[:4])
        self._wk = build_work(self._n, self._k, self._na)
        self._no_nodes = np.zeros((self._n, 1, 10))
        self._actuators = tuple(np.array(self.description.actuators, dtype=int).reshape(-1, 2).T)

    def fork(self) -> ContinuumParallelRobot:
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
        """Return the length that makes rotations comparable with translations [m].

        The mean distance of the plate joints from the plate origin, or a tenth of the mean rod if they meet there.
        """
        if self._length is None:
            limbs = self.description.limbs
            reach = np.mean([np.linalg.norm(np.asarray(limb.distal.pose)[:3, 3]) for limb in limbs])
            rods = np.mean([limb.rod.length for limb in limbs])
            self._length = float(reach if reach > 1e-3 * rods else 0.1 * rods)
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
        joints = None if d.home_joints is None else np.array(d.home_joints, dtype=float)
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
        for name, state, run in self._cold_starts(task, steps, 12, 0):
            ok, worst, iterations = run(state)
            tries.append((name, state, worst))
            if not ok or not self._proper(state):
                continue
            near = state.Q.copy()
            if joints is None:
                near[:] = 0.0
            else:
                near[self._actuators] = joints
            if task.inverse:
                branches.wrap(self, state, near, only_into_limits=False)
            out = np.array([worst, iterations, 0, 0])
            solution = self._finish(state, task, steps, out, [*tries[:-1], (name, 0, 0)], branch="home")
            gap = 0.0 if joints is None else float(np.abs(branches.without_turns(self, solution.q - joints)).max())
            found.append((solution.morse_index, gap, solution))
            if solution.morse_index == 0 and gap < 1e-2:
                break
        if not found:
            raise self._failure(task, tries, steps)
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
            path: poses (IGM) or joint values (DGM, ``inverse=False``), one a row.
            wrench: one for all rows, or one a row.
            start: a solution near the first row; None: the home equilibrium.
            branch: which equilibrium the first row has: as for :meth:`solve_igm`. The rows after it are continued; with
                ``"home"`` on the stable side where the path loses its stability in a bifurcation.
            one_step: one Newton step a row, for a control loop: residuals are small if the rows are close.
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
        return self._follow(problems, first, first.steps, one_step, leave, first_row)

    def _follow(
        self, problems: list[Task], first: Solution, steps: int, one_step: bool, leave: bool, first_row: int
    ) -> Path:
        """Follow from the solution of the first problem with a number of steps a rod, or more.

        Args:
            leave: where the path loses its stability in a bifurcation, it goes on on the stable side.
            first_row: number of the first row in messages.
        """
        rows, inverse = len(problems), problems[0].inverse
        mask, follower = problems[0].controlled, problems[0].follower
        xs, qs = np.array([p.x for p in problems]), np.array([p.q for p in problems]).reshape(rows, -1)
        wrenches = np.array([p.wrench for p in problems])
        state = State(*(a.copy() for a in first._state))
        W, Q, X = np.zeros((rows, self._n, 6)), np.zeros((rows, self._n, self._k)), np.zeros((rows, 12))
        out = np.zeros((rows, 4))
        W[0], Q[0], X[0], out[0, 0], out[0, 1] = *first._state, first.residual, first.iterations
        at, fresh = 1, False
        notes = [(0, first.note)] if first.note else []
        stable, common = leave and first.morse_index == 0, {"steps": steps, "residual": 0.0, "iterations": 0}
        while at < rows:
            done, o, w, q_, x_ = self._call(
                state, steps, inverse, qs[at:], xs[at:], mask, wrenches[at:], follower, fresh=fresh, single=one_step,
                limit=SURE_STEPS,
            )  # fmt: skip
            lost = np.flatnonzero((o[:done, kernels.MARGIN] <= 0.0) & (o[:done, kernels.STEPS] > 0)) if stable else []
            if len(lost):  # the margin is that before the last step: the row before may have lost it already
                done = int(lost[0])
                while done > 0 and self._pack(
                    problems[at + done - 1], (w[done - 1], q_[done - 1], x_[done - 1]),
                    wrench=wrenches[at + done - 1], **common,
                ).morse_index:  # fmt: skip
                    done -= 1
            W[at : at + done], Q[at : at + done], X[at : at + done] = w[:done], q_[:done], x_[:done]
            out[at : at + done] = o[:done]
            at += done
            if at >= rows:
                break
            state = State(W[at - 1].copy(), Q[at - 1].copy(), X[at - 1].copy())
            if len(lost):
                last = self._pack(problems[at - 1], (state.W, state.Q, state.X), wrench=wrenches[at - 1], **common)
                last.branch = first.branch
                here = self._solve(problems[at], last, steps, 0, 0)
                stable = here.morse_index == 0
                notes += [(at, here.note)] if here.note else []
                state = State(*(a.copy() for a in here._state))
                W[at], Q[at], X[at], out[at, 0], out[at, 1] = *here._state, here.residual, here.iterations
                at, fresh = at + 1, False
                continue
            reached, fraction = self._continue(state, problems[at - 1], problems[at], steps)
            if reached is None:
                row = first_row + at
                raise self._failure(
                    problems[at],
                    [(f"continuation from row {row - 1}", state, self._wk_residual())],
                    steps,
                    f"path row {row}: no equilibrium beyond {100.0 * fraction:.1f} % of the way from row {row - 1}",
                )
            state = reached
            W[at], Q[at], X[at] = state.W, state.Q, state.X
            out[at, 0] = TOLERANCE
            at += 1
            fresh = False
        path_out = Path(self, problems[0], steps, W, Q, X, out, wrenches, notes)
        if not one_step and steps < MAX_STEPS:
            looked_at = {*range(0, rows, max(1, rows // 50)), rows - 1}
            worst = max(self._refined_residual(W[r], Q[r], X[r], wrenches[r], follower, 2 * steps) for r in looked_at)
            if worst > problems[0].tolerance:  # more strongly bent further on: the whole path again, finer
                return self._follow(problems, first, 2 * steps, one_step, leave, first_row)
        return path_out

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
        """Solve many rows on all cores: see :func:`pliant.rods.analysis.solve_batch`."""
        return analysis.solve_batch(self, rows, wrenches, **options)

    def _with(self, description: RobotDescription) -> ContinuumParallelRobot:
        """Return a robot of the same kind with other parameters."""
        return ContinuumParallelRobot(description, accuracy=self.accuracy)

    def _nudge(self, solution: Solution) -> tuple[Array, Array]:
        """Take one Newton step of this robot from another robot's solution; return q and the plate pose."""
        state = State(*(a.copy() for a in solution._state))
        _, _, _, Q, X = self._call(
            state, solution.steps, solution.inverse, solution.q[None], solution._state[2][None], solution.controlled,
            solution.wrench[None], solution.follower, single=True,
        )  # fmt: skip
        return Q[0][self._actuators], unflatten(X[0])

    # --- arguments -------------------------------------------------------------------------------------------

    def _accuracy(self, accuracy: str | None) -> Accuracy:
        accuracy = self.accuracy if accuracy is None else accuracy
        if accuracy not in ACCURACIES:
            raise ModelError(f"accuracy {accuracy!r} is not known; {nearest(accuracy, ACCURACIES)}", field="accuracy")
        return ACCURACIES[accuracy]

    def _steps(self, accuracy: str | None, start: Solution | None) -> int:
        """Return the steps to begin with: those of the accuracy, or of a start that had to be refined."""
        least = self._accuracy(accuracy).steps
        return max(least, start.steps) if start is not None and start.steps > 4 else least

    def _tolerance(self, accuracy: str | None) -> float:
        return self._accuracy(accuracy).tolerance

    def _pose(self, pose: ArrayLike) -> Array:
        X = np.asarray(pose, dtype=float)
        if X.shape == (3,) and self.planar:
            if not np.all(np.isfinite(X)):
                raise ModelError(f"pose contains a number that is not finite: {X}", field="pose")
            c, s = np.cos(X[2]), np.sin(X[2])
            return np.array([c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0, X[0], X[1], 0.0])
        if X.shape != (4, 4):
            valid = "a 4x4 matrix or (x, y, angle)" if self.planar else "a 4x4 matrix"
            raise ModelError(f"pose has shape {X.shape}; must be {valid}", field="pose")
        if not np.isfinite(X).all():
            raise ModelError("pose contains a number that is not finite", field="pose")
        R = X[:3, :3]
        if not _is_rotation(R):
            raise ModelError("pose is not a rigid pose: its rotation is not orthonormal", field="pose")
        if self.planar and (abs(X[2, 3]) > 1e-9 or abs(X[2, 2] - 1.0) > 1e-9):
            raise ModelError("pose leaves the plane z = 0 of a planar robot", field="pose")
        return flatten(X)

    def _poses(self, rows: Sequence[ArrayLike]) -> Array:
        """Return many poses as rows of 12 numbers, checked together where they are 4x4."""
        X = np.asarray(rows, dtype=float) if len({np.shape(row) for row in rows}) == 1 else None
        if X is not None and X.shape[1:] == (4, 4) and np.isfinite(X).all():
            R = X[:, :3, :3]
            straight = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() < 1e-6 and np.linalg.det(R).min() > 0.0
            flat = not self.planar or (np.abs(X[:, 2, 3]).max() < 1e-9 and np.abs(X[:, 2, 2] - 1.0).max() < 1e-9)
            if straight and flat:
                return np.concatenate([R.reshape(-1, 9), X[:, :3, 3]], axis=1)
        return np.array([self._pose(row) for row in rows])

    def checked_wrench(self, wrench: ArrayLike | None) -> Array:
        """Return a wrench on the plate as an array, shape (6,) [N, N m]; None for none.

        Raises:
            ModelError: a wrong number of values, one that is not finite, or one out of a planar robot's plane.
        """
        if wrench is None:
            return np.zeros(6)
        w = np.asarray(wrench, dtype=float)
        if self.planar and w.shape == (3,):
            w = np.array([w[0], w[1], 0.0, 0.0, 0.0, w[2]])
        if w.shape != (6,) or not np.isfinite(w).all():
            valid = "(fx, fy, mz)" if self.planar else "(fx, fy, fz, mx, my, mz)"
            raise ModelError(f"wrench must be {valid}, finite, found {wrench!r}", field="wrench")
        if self.planar and (w[2] != 0.0 or w[3] != 0.0 or w[4] != 0.0):
            raise ModelError("wrench leaves the plane of a planar robot: fz, mx, my must be zero", field="wrench")
        return w

    def checked_joints(self, q: ArrayLike) -> Array:
        """Return actuated joint values as an array, shape (actuators,) [m or rad].

        Raises:
            ModelError: a wrong number of values, one that is not finite, or a length that is not positive.
        """
        try:
            out = np.atleast_1d(np.asarray(q, dtype=float))
        except (TypeError, ValueError):
            raise ModelError(f"q needs {self._na} finite joint values, found {q!r}", field="q") from None
        if out.shape != (self._na,) or not np.isfinite(out).all():
            raise ModelError(f"q needs {self._na} finite joint values, found {np.asarray(q).tolist()}", field="q")
        for a, (i, j) in enumerate(self.description.actuators):
            if self.description.limbs[i].joints[j].kind == "extension" and not out[a] > 0.0:
                raise ModelError(
                    f"q[{a}] is the length of {self.description.limb_name(i)} and must be positive, found {out[a]:g}",
                    field="q",
                )
        return out

    def _controlled(self, controlled: Sequence[str] | None) -> NDArray[np.bool_]:
        names = self.description.freedoms
        mask = np.zeros(6, bool)
        if controlled is None:
            controlled = self.description.controlled
        if self._na >= self._npl and controlled is None:
            mask[: self._npl] = True
            return mask
        if controlled is None:
            raise ModelError(
                f"{self.name} has {self._na} actuators for {self._npl} degrees of freedom of the plate: name the "
                f"{self._na} that they control, as in controlled={list(names[: self._na])}; valid names: "
                f"{', '.join(names)}",
                field="controlled",
            )
        for name in controlled:
            if name not in names:
                raise ModelError(
                    f"{name!r} is not a degree of freedom of the plate; {nearest(name, names)}", field="controlled"
                )
            mask[names.index(name)] = True
        if mask.sum() > self._na:
            raise ModelError(
                f"{self.name}: {self._na} actuators cannot control {int(mask.sum())} degrees of freedom",
                field="controlled",
            )
        if mask.sum() < min(self._na, self._npl):
            raise ModelError(
                f"{self.name}: {self._na} actuators control {min(self._na, self._npl)} freedoms,"
                f" found {int(mask.sum())}: {', '.join(controlled)}",
                field="controlled",
            )
        return mask

    # --- the compiled solver ---------------------------------------------------------------------------------

    def _model(self, steps: int) -> kernels.Model:
        if steps not in self._models:
            self._models[steps] = build_model(self.description, steps)
        return self._models[steps]

    def _call(
        self, state, steps, inverse, q, x, mask, wrench, follower, *, segments=1, nodes=None, limit=25, fresh=False,
        single=False, tol=TOLERANCE, model=None
    ):  # fmt: skip
        rows = len(x)
        out = np.zeros((rows, 4))
        W, Q, X = np.empty((rows, self._n, 6)), np.empty((rows, self._n, self._k)), np.empty((rows, 12))
        done = kernels.solve(
            self._model(steps) if model is None else model, state.W, state.Q, state.X,
            self._no_nodes if nodes is None else nodes, segments, q, x, inverse, mask, wrench, follower, self._wk, tol,
            limit, fresh, single, out, W, Q, X,
        )  # fmt: skip
        return done, out, W, Q, X

    def _one(self, state: State, problem: Task, steps: int, **options) -> tuple[bool, Array]:
        done, out, _, _, _ = self._call(
            state, steps, problem.inverse, problem.q[None], problem.x[None], problem.controlled, problem.wrench[None],
            problem.follower, **options
        )  # fmt: skip
        return done == 1, out[0]

    def _refined_residual(self, W, Q, X, wrench, follower, steps) -> float:
        state = State(W.copy(), Q.copy(), X.copy())
        _, out, _, _, _ = self._call(
            state, steps, True, np.zeros((1, self._na)), X[None], np.zeros(6, bool), wrench[None], follower, limit=-1
        )
        return float(out[0, 0])

    def _wk_residual(self) -> float:
        return float(np.max(np.abs(self._wk.r)))

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
            state = State(*(a.copy() for a in start._state))
            fresh = start.steps == steps and start._tips is not None
            if fresh:
                self._wk.tips[:] = start._tips
                self._wk.cols[:] = start._cols
            ok, out = self._one(state, problem, steps, fresh=fresh, limit=12)
            if ok and out[1] <= SURE_STEPS:
                solution = self._finish(state, problem, steps, out, tries, branch=start.branch)
                if branch != "home" or self._surely_stable(state, start, float(out[kernels.MARGIN])):
                    return solution
                return self._settled(solution, problem, start)
            jumped = (state, out) if ok else None
            tries.append(("warm start", state, float(out[0])))
            self._refuse_out_of_reach(problem, steps)
            state = State(*(a.copy() for a in start._state))
            reached, fraction = self._continue(state, self._task_of(start, problem), problem, steps)
            if reached is not None:
                ok, out = self._one(reached, problem, steps)
                if ok:
                    solution = self._finish(reached, problem, steps, out, tries, branch=start.branch)
                    return self._settled(solution, problem, start) if branch == "home" else solution
            note = f"the equilibrium of the start ends after {100.0 * fraction:.0f} % of the way"
            tries.append((f"continuation to {100.0 * fraction:.0f} %", state, self._wk_residual()))
            got = self._from_home(problem, steps, branch)
            if got is not None:
                got.note = f"{note}; this one is continued from home"
                return got
            if jumped is not None:  # far away, but an equilibrium
                ok, out = self._one(jumped[0], problem, steps)
                if ok and self._proper(jumped[0]):
                    solution = self._finish(jumped[0], problem, steps, out, tries, branch="other")
                    solution.note = f"{note}; this is another one"
                    if solution.morse_index == 0:
                        return solution
        else:
            self._refuse_out_of_reach(problem, steps)
            got = self._from_home(problem, steps, branch)
            if got is not None:
                return got
            note = self._ended
            if self._ended:
                tries.append(("continuation from home", self._guess(problem), np.inf))
        return self._cold(problem, steps, seed, restarts, tries, note)

    def _surely_stable(self, state: State, start: Solution, margin: float) -> bool:
        """Whether a solution beside a start cannot have lost its stability: spares the full count in fast loops.

        Forces change the stiffness of a rod by about 1.2 times their change by its length, so a plate stiffness that is
        several times larger, in the same units, keeps its sign.
        """
        length, moment = softest_rod(self)
        change = np.abs(state.W - start._state[0])
        largest = max(float(change[:, :3].max()) * length, float(change[:, 3:].max())) / moment
        return margin > 4.0 * largest

    def _task_of(self, start: Solution, problem: Task) -> Task:
        """Return the task that a start solves, as a problem like another one."""
        return dataclasses.replace(problem, q=start.q, x=start._state[2].copy(), wrench=start.wrench)

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
        state = State(*(a.copy() for a in home._state))
        steps = max(steps, home.steps)
        for name, route in self._routes(before, problem):
            reached, at = state, before
            for then in route:
                reached, fraction = self._continue(reached, at, then, steps)
                if reached is None:
                    if then is route[0] and not name:
                        self._ended = f"the branch from home ends after {100.0 * fraction:.0f} % of the way"
                    break
                at = dataclasses.replace(then, x=reached.X.copy())
            if reached is None:
                continue
            ok, out = self._one(reached, problem, steps)
            if ok and self._proper(reached):
                if problem.inverse:
                    branches.wrap(self, reached, home._state[1], only_into_limits=True)
                tries = [(f"continuation from home{name}", 0, 0)]
                solution = self._finish(reached, problem, steps, out, tries, branch="home")
                return self._settled(solution, problem, home) if branch == "home" else solution
        return None

    def _routes(self, before: Task, after: Task) -> Iterator[tuple[str, list[Task]]]:
        """Yield ways from home to a task, by name: straight, then in two parts."""
        yield "", [after]
        if np.any(after.wrench != before.wrench):
            yield ", the load first", [dataclasses.replace(before, wrench=after.wrench), after]
            yield ", the load last", [dataclasses.replace(after, wrench=before.wrench), after]
        if after.inverse:
            turned, moved = after.x.copy(), after.x.copy()
            turned[9:], moved[:9] = before.x[9:], before.x[:9]
            yield ", the turn first", [dataclasses.replace(after, x=turned), after]
            yield ", the turn last", [dataclasses.replace(after, x=moved), after]

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
            at = (State(*(a.copy() for a in origin._state)), self._task_of(origin, problem))
            state = branches.stable_neighbour(self, problem, solution, at)
        if state is None:
            solution.note = "this equilibrium is unstable, and no stable one is connected with it"
            solution._alone = True
            return solution
        ok, out = self._one(state, problem, solution.steps)
        if not ok:
            return solution
        found = self._finish(state, problem, solution.steps, out, [("stable neighbour", 0, 0)], branch="neighbour")
        found.note = "the equilibrium on the straight way has lost its stability; this is the stable one beside it"
        return found

    def _lowest(self, problem: Task, seed: int, restarts: int) -> Solution:
        """Return the stable equilibrium of the lowest energy among those that are found."""
        found = branches.find_all(self, problem, max(restarts, 40), seed)
        if not found:
            raise self._failure(problem, [("random starts", self._guess(problem), np.inf)], self._steps(None, None))
        best = min(found, key=lambda one: (one.index > 0, one.energy))
        solution = best.solution
        if best.index:
            solution.note = f"none of the {len(found)} equilibria that were found is stable"
        elif solution.branch == "other":
            solution.note = "not the branch from home"
        return solution

    def _pack(self, problem: Task, state, steps: int, residual: float, iterations: int, wrench) -> Solution:
        return Solution(
            self, state, wrench=wrench, follower=problem.follower, steps=steps, residual=residual,
            iterations=iterations, inverse=problem.inverse, controlled=problem.controlled,
        )  # fmt: skip

    def _finish(self, state: State, problem: Task, steps: int, out, tries, branch: str = "other") -> Solution:
        """Check the accuracy of a converged state, refine it if needed, and pack it."""
        wk = self._wk
        tips, cols = wk.tips.copy(), wk.cols.copy()
        while steps < MAX_STEPS:
            worst = self._refined_residual(state.W, state.Q, state.X, problem.wrench, problem.follower, 2 * steps)
            if worst <= problem.tolerance:
                break
            trial = state.copy()
            ok, finer = self._one(trial, problem, 2 * steps)
            if not ok:
                break
            state, out, steps = trial, finer, 2 * steps
            tips, cols = wk.tips.copy(), wk.cols.copy()
        return Solution(
            self, (state.W, state.Q, state.X), wrench=problem.wrench, follower=problem.follower, steps=steps,
            residual=float(out[0]), iterations=int(out[1]), inverse=problem.inverse, controlled=problem.controlled,
            linearisation=(tips, cols), starts=tuple(name for name, *_ in tries), branch=branch,
        )  # fmt: skip

    def _continue(
        self, state: State, before: Task, after: Task, steps: int,
        models: Callable[[float], kernels.Model] | None = None,
    ) -> tuple[State | None, float]:  # fmt: skip
        """Move the target from one problem to another in steps that adapt; (state, 1) or (None, fraction).

        A step is kept if Newton's method needs few iterations and if the unknowns change about as they did in the step
        before, so that it does not jump to another branch.

        Args:
            models: the kernels' model by the fraction of the way, if it changes too.
        """
        p0, R0 = before.x[9:], before.x[:9].reshape(3, 3)
        p1, R1 = after.x[9:], after.x[:9].reshape(3, 3)
        turn = log_so3(R1 @ R0.T) if after.inverse else np.zeros(3)
        done, step = 0.0, 0.05
        state = state.copy()
        unit = np.repeat(self._model(steps).scale, 3)
        at, rate = np.concatenate([(state.W / unit).ravel(), state.Q.ravel(), state.X]), None
        while done < 1.0:
            t = done + step if done + 1.001 * step < 1.0 else 1.0
            x = np.concatenate([(exp_so3(t * turn) @ R0).ravel(), p0 + t * (p1 - p0)]) if after.inverse else after.x
            problem = Task(
                after.inverse,
                before.q + t * (after.q - before.q),
                x,
                after.controlled,
                before.wrench + t * (after.wrench - before.wrench),
                after.follower,
                after.tolerance,
            )
            trial = state.copy()
            model = None if models is None else models(t)
            ok, out = self._one(trial, problem, steps, limit=MOST_STEPS, model=model)
            if ok:
                new = np.concatenate([(trial.W / unit).ravel(), trial.Q.ravel(), trial.X])
                change = (new - at) / (t - done)
                if rate is not None:
                    ok = bool(np.abs(change - rate).max() < MOST_BEND * (np.abs(rate).max() + 0.1))
            if ok:
                state, done, at, rate = trial, t, new, change
                step = min(0.25, step * (2.0 if out[1] <= 3 else 1.0))
            else:
                step *= 0.5
                if step < LEAST_STEP:
                    return None, done
        return state, 1.0

    # --- cold start ------------------------------------------------------------------------------------------

    def _guess(self, problem: Task, aim: float = 0.0, slack: float = 1.06) -> State:
        """Return a first guess: zero wrenches, plate at the target or at home, joints aimed at the plate."""
        d = self.description
        X = problem.x.copy() if problem.inverse else flatten(d.home)
        Q = np.zeros((self._n, self._k))
        XP = unflatten(X)
        for i, limb in enumerate(d.limbs):
            target = (XP @ limb.distal.pose @ limb.distal.attach)[:3, 3]
            frame = np.asarray(limb.base, dtype=float)
            for j, joint in enumerate(limb.joints):
                frame = frame @ joint.pose
                axis = np.asarray(joint.axis, dtype=float) / np.linalg.norm(joint.axis)
                if joint.kind == "revolute":
                    rest = np.eye(4)
                    for later in limb.joints[j + 1 :]:
                        rest = rest @ later.pose
                    d3 = (rest @ limb.attach)[:3, 2]
                    to = frame[:3, :3].T @ (target - frame[:3, 3])
                    a, b = d3 - axis * (axis @ d3), to - axis * (axis @ to)
                    if np.linalg.norm(a) > 1e-6 and np.linalg.norm(b) > 1e-6:
                        Q[i, j] = np.arctan2(axis @ np.cross(a, b), a @ b) + aim
                    turned = np.eye(4)
                    turned[:3, :3] = exp_so3(Q[i, j] * axis)
                    frame = frame @ turned
                elif joint.kind == "extension":
                    Q[i, j] = slack * np.linalg.norm(target - (frame @ limb.attach)[:3, 3])
        if not problem.inverse:
            Q[self._actuators] = problem.q
        return State(np.zeros((self._n, 6)), Q, X)

    def _nodes(self, state: State, rng: np.random.Generator | None = None, amplitude: float = 0.0) -> Array:
        """Return nodes on cubic Hermite curves between the base and tip frames, zero moments."""
        from pliant.rods.solution import root_pose

        nodes = np.zeros((self._n, SEGMENTS - 1, 10))
        XP = unflatten(state.X)
        md = self._model(ACCURACIES[self.accuracy].steps)
        for i, limb in enumerate(self.description.limbs):
            A, L = root_pose(limb, state.Q[i], md.rest[i])
            B = XP @ np.asarray(limb.distal.pose) @ np.asarray(limb.distal.attach)
            p0, p1 = A[:3, 3], B[:3, 3]
            t0 = A[:3, 2] * L
            t1 = B[:3, 2] * L if limb.distal.kind in ("fixed", "revolute", "prismatic") else p1 - p0
            if limb.distal.kind == "revolute":
                # the rod may leave the joint in any direction about its axis: take the one nearest the chord
                J = XP @ np.asarray(limb.distal.pose)
                axis = J[:3, :3] @ (np.asarray(limb.distal.axis) / np.linalg.norm(limb.distal.axis))
                d = B[:3, 2] - axis * (axis @ B[:3, 2])
                if np.linalg.norm(d) > 1e-6:
                    to = (p1 - p0) - axis * (axis @ (p1 - p0))
                    if np.linalg.norm(to) > 1e-9:
                        arm = B[:3, 3] - J[:3, 3]
                        angle = np.arctan2(axis @ np.cross(d, to), d @ to)
                        turn = exp_so3(angle * axis)
                        p1 = J[:3, 3] + turn @ arm
                        t1 = turn @ B[:3, 2] * L
            bump = np.zeros(3)
            if rng is not None:
                bump = rng.normal(size=3) * amplitude * L
                t0 = t0 * rng.uniform(0.6, 1.6)
                t1 = t1 * rng.uniform(0.6, 1.6)
            R, tangent = A[:3, :3], A[:3, 2]
            for s in range(SEGMENTS - 1):
                t = (s + 1) / SEGMENTS
                p = (
                    (2 * t**3 - 3 * t**2 + 1) * p0
                    + (t**3 - 2 * t**2 + t) * t0
                    + (-2 * t**3 + 3 * t**2) * p1
                    + (t**3 - t**2) * t1
                    + 16.0 * t**2 * (1.0 - t) ** 2 * bump
                )
                v = (
                    (6 * t**2 - 6 * t) * p0
                    + (3 * t**2 - 4 * t + 1) * t0
                    + (-6 * t**2 + 6 * t) * p1
                    + (3 * t**2 - 2 * t) * t1
                    + 32.0 * (t * (1.0 - t) ** 2 - t**2 * (1.0 - t)) * bump
                )
                size = np.linalg.norm(v)
                v = v / size if size > 1e-9 else tangent
                turn = np.cross(tangent, v)
                sine = np.linalg.norm(turn)
                if sine > 1e-9:
                    R = exp_so3(turn / sine * np.arctan2(sine, tangent @ v)) @ R
                tangent = v
                nodes[i, s, :3] = p
                nodes[i, s, 3:7] = quaternion_from_rotation(R)
        if self.planar:
            nodes[:, :, 2] = 0.0
        return nodes

    def _lifted(self, state: State, problem: Task, steps: int, nodes: Array) -> tuple[bool, float, int]:
        ok, out = self._one(state, problem, max(steps, SEGMENTS), segments=SEGMENTS, nodes=nodes, limit=40)
        worst, iterations = float(out[0]), int(out[1])
        if ok or worst < 1e-2:
            good, out = self._one(state, problem, steps, limit=15)
            worst, iterations = float(out[0]), iterations + int(out[1])
            ok = good
        return ok, worst, iterations

    def _levenberg(self, state: State, problem: Task, steps: int, limit: int = 40) -> tuple[bool, float, int]:
        """Levenberg and Marquardt's method on single shooting, with the exact Jacobian."""
        from pliant.rods.solution import dense_step

        damping = 1e-3
        _, out = self._one(state, problem, steps, limit=0)
        r, J, unpack = dense_step(self, state, problem)
        cost = float(r @ r)
        worst = float(out[0])
        for it in range(limit):
            with np.errstate(over="ignore"):
                scale = np.sum(J * J, axis=0) + 1e-12
            if not np.isfinite(cost) or not np.all(np.isfinite(scale)):
                return False, np.inf, it
            step = np.linalg.lstsq(
                np.vstack([J, np.diag(np.sqrt(damping * scale))]),
                np.concatenate([-r, np.zeros(len(scale))]),
                rcond=None,
            )[0]
            trial = state.copy()
            unpack(trial, step)
            if any(
                joint.kind == "extension" and trial.Q[i, j] < 0.05 * self.description.limbs[i].rod.length
                for i, limb in enumerate(self.description.limbs)
                for j, joint in enumerate(limb.joints)
            ):
                damping = min(damping * 8.0, 1e8)
                continue
            _, out = self._one(trial, problem, steps, limit=0)
            r1, J1, unpack1 = dense_step(self, trial, problem)
            c1 = float(r1 @ r1)
            if np.isfinite(c1) and c1 < cost:
                state.W[:], state.Q[:], state.X[:] = trial.W, trial.Q, trial.X
                r, J, unpack, cost, worst = r1, J1, unpack1, c1, float(out[0])
                damping = max(damping * 0.2, 1e-12)
                if worst < 1e-4:
                    ok, out = self._one(state, problem, steps, limit=12)
                    return ok, float(out[0]), it + 1
            else:
                damping *= 5.0
                if damping > 1e9:
                    break
        return False, worst, limit

    def _cold_starts(self, problem: Task, steps: int, restarts: int, seed: int) -> Iterator:
        """Yield (name, state, function that solves from it): lifted Newton, Levenberg-Marquardt, seeded restarts."""

        def lifted(state: State) -> tuple[bool, float, int]:
            return self._lifted(state, problem, steps, self._nodes(state))

        if problem.inverse and self.description.home_joints is not None:
            state = self._guess(problem)
            state.Q[self._actuators] = self.description.home_joints
            yield "lifted Newton from the home joints", state, lifted
        yield "lifted Newton", self._guess(problem), lifted
        yield "Levenberg-Marquardt", self._guess(problem), lambda state: self._levenberg(state, problem, steps)
        if problem.inverse and any(j.kind == "extension" for limb in self.description.limbs for j in limb.joints):
            yield "lifted Newton, rods taut", self._guess(problem, slack=1.0), lifted
        for name, state, nodes in branches.random_starts(self, problem, restarts, seed):
            yield name, state, lambda state, nodes=nodes: self._lifted(state, problem, steps, nodes)

    def _cold(self, problem: Task, steps: int, seed: int, restarts: int, tries: list, note: str) -> Solution:
        """Search where no continuation leads to: the first stable solution, else the one of the lowest index."""
        best: tuple[int, Solution] | None = None
        near = self._home._state[1] if isinstance(self._home, Solution) else None
        for name, state, run in self._cold_starts(problem, steps, restarts, seed):
            ok, worst, iterations = run(state)
            if not ok or not self._proper(state):
                tries.append((name, state, worst if not ok else np.inf))
                continue
            if problem.inverse:
                branches.wrap(self, state, np.zeros_like(state.Q) if near is None else near, only_into_limits=False)
            out = np.array([worst, iterations, 0, 0])
            solution = self._finish(state, problem, steps, out, [*tries, (name, 0, 0)])
            index = solution.morse_index
            tries.append((f"{name} (unstable, index {index})" if index else name, state, worst))
            solution.note = f"{note}; this is another one, found by {name}" if note else ""
            if best is None or index < best[0]:
                best = (index, solution)
            if index == 0:
                break
        if best is None:
            raise self._failure(problem, tries, steps)
        index, solution = best
        if index and note:
            solution.note += "; it is unstable, `--branch lowest` searches for a stable one"
        return solution

    def _proper(self, state: State) -> bool:
        """True if no joint sits at the mirrored zero of its rows (turned by pi) and all lengths are positive."""
        from pliant.rods.solution import tip_joint_frames

        on_plate, on_tip, _ = tip_joint_frames(self, state.X)
        for i, limb in enumerate(self.description.limbs):
            Q = on_plate[i].T @ on_tip[i]
            if limb.distal.kind in ("fixed", "prismatic") and np.trace(Q) < 0.0:
                return False
            if limb.distal.kind == "revolute" and Q[2, 2] < 0.0:
                return False
            for j, joint in enumerate(limb.joints):
                if joint.kind == "extension" and state.Q[i, j] <= 0.0:
                    return False
        return True

    def _refuse_out_of_reach(self, problem: Task, steps: int) -> None:
        """Raise where a whole pose is given that a rod cannot reach by far: no start can help.

        Raises:
            NoEquilibrium: a rod is too short by more than its material can stretch.
        """
        if problem.inverse and problem.controlled[: self._npl].all():
            if self._reach is None:
                self._reach = Reach(self.description)
            if self._reach.missing(unflatten(problem.x)) is not None:
                raise self._failure(problem, [], steps)

    def _failure(self, problem: Task, tries: list, steps: int, head: str | None = None) -> NoEquilibrium:
        d = self.description
        real = [t for t in tries if np.isfinite(t[2])]
        name, state, worst = min(real, key=lambda t: t[2]) if real else ("none", self._guess(problem), np.inf)
        limb = "plate"
        if real:
            _, _out = self._one(state.copy(), problem, steps, limit=0)
            rows = np.abs(self._wk.r).max(axis=1)
            limb = "plate" if np.abs(self._wk.b).max() > rows.max() else d.limb_name(int(np.argmax(rows)))
        X = unflatten(problem.x if problem.inverse else state.X)
        within = Reach(d, STRETCH)
        reach, short = (within.missing(X), within.reason(X)) if problem.inverse else (None, None)
        reasons = [] if short is None else [short]
        held = problem.inverse and bool(problem.controlled[: self._npl].all())
        freely = free_motion(d, X, problem.wrench, held=held, follower=problem.follower)
        if freely is not None:
            reasons.append(freely)
        starts = [t[0] for t in tries]
        ends = [t for t in starts if t.startswith("continuation")]
        if not reasons and ends:
            reasons.append(f"the {ends[-1]} ends before it (a rod or the robot gives way there)")
        who = head or f"{self.name}: no equilibrium for the {'pose' if problem.inverse else 'joint values'}"
        message = f"{who}: {'; '.join(reasons) or 'none of the starts converges'}"
        if starts:
            restarts = [t for t in starts if t.startswith("random restart")]
            tried = [t for t in starts if t not in restarts]
            if restarts:
                tried.append(f"{len(restarts)} random restart{'s' if len(restarts) > 1 else ''}")
            message += f". Smallest scaled residual {worst:.2g} by {name}, worst at {limb}; tried: {', '.join(tried)}"
        return NoEquilibrium(message, residual=worst, limb=reach[0] if reach else limb, reach=reach, starts=starts)


def _is_rotation(R: Array) -> bool:
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    if a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0.0:
        return False
    G = R.T @ R
    G[0, 0] -= 1.0
    G[1, 1] -= 1.0
    G[2, 2] -= 1.0
    return bool(np.abs(G).max() < 1e-6)


def checked_seed(seed: int) -> None:
    """Refuse what cannot seed a generator of random numbers.

    Raises:
        ModelError: it is negative or no integer.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ModelError(f"seed must be an integer >= 0, found {seed!r}", field="seed")
