"""A continuum parallel robot: direct and inverse geometrico-static model, path following, analysis.

The inverse model (IGM) finds the joint values that hold the plate at a pose, the direct model (DGM) finds the
plate pose for joint values, both under a wrench on the plate and gravity. What is known is eliminated: the
unknowns are the base wrenches of the rods and the joint values (IGM) or the plate pose (DGM).
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import ModelError, PliantError, nearest
from pliant.rods import _kernels as kernels
from pliant.rods import analysis
from pliant.rods._build import build_model, build_work, flatten, unflatten
from pliant.rods._cache import warn_if_compiling
from pliant.rods.analysis import Identification, Workspace, WrenchEstimate
from pliant.rods.description import RobotDescription
from pliant.rods.failure import Reach, free_motion
from pliant.rods.solution import Solution
from pliant.rods.statics import State, Task
from pliant.spatial import exp_so3, log_so3, pose, quaternion_from_rotation, rotation_from_rpy

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

    def __init__(self, robot: ContinuumParallelRobot, problem: Task, steps: int, W, Q, X, out, wrenches) -> None:
        self._robot, self._problem, self._steps = robot, problem, steps
        self._W, self._Q, self._X, self._wrenches = W, Q, X, wrenches
        self.residual: Array = out[:, 0]
        """Largest scaled residual of each row."""
        self.iterations: Array = out[:, 1].astype(int)
        """Newton steps of each row."""

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
        warn_if_compiling()
        self.description = description
        self.accuracy = accuracy
        self._models: dict[int, kernels.Model] = {}
        self._length: float | None = None
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
            start: a solution nearby; the solve then takes a fraction of a millisecond. None: a cold start.
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
        return self._solve(problem, start, self._steps(accuracy, start), seed, restarts)

    def solve_dgm(
        self,
        q: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        start: Solution | None = None,
        follower: bool = False,
        accuracy: str | None = None,
        seed: int = 0,
        restarts: int = 12,
    ) -> Solution:
        """Find the plate pose for given joint values (direct geometrico-static model).

        Args:
            q: actuated joint values, shape (actuators,) [m or rad]; for an extension the rest length.
            wrench, start, follower, accuracy, seed, restarts: as for :meth:`solve_igm`.
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
        return self._solve(problem, start, self._steps(accuracy, start), seed, restarts)

    def home(self) -> Solution:
        """Return the solution at the description's home pose (solved once, then kept)."""
        if self._home is None:
            self._home = False
            try:
                self._home = self.solve_igm(self.description.home)
            except PliantError:
                if self.description.home_joints is None:
                    raise
                self._home = self.solve_dgm(self.description.home_joints)
            finally:
                if self._home is False:
                    self._home = None
        if self._home is False:
            raise ModelError("the home pose is being solved", field="home")
        return self._home

    def follow(
        self,
        path: Sequence[ArrayLike],
        wrench: ArrayLike | None = None,
        *,
        start: Solution | None = None,
        inverse: bool = True,
        controlled: Sequence[str] | None = None,
        follower: bool = False,
        accuracy: str | None = None,
        one_step: bool = False,
    ) -> Path:
        """Solve along a path, each row from the one before.

        Args:
            path: poses (IGM) or joint values (DGM, ``inverse=False``), one a row.
            wrench: one for all rows, or one a row.
            start: a solution near the first row; None: a cold start there.
            one_step: one Newton step a row, for a control loop: residuals are small if the rows are close.

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
        first = self._solve(problems[0], start, self._steps(accuracy, start), 0, 12)
        return self._follow(problems, first, first.steps, one_step)

    def _follow(self, problems: list[Task], first: Solution, steps: int, one_step: bool) -> Path:
        """Follow from the solution of the first problem with a number of steps a rod, or more."""
        rows, inverse = len(problems), problems[0].inverse
        mask, follower = problems[0].controlled, problems[0].follower
        xs, qs = np.array([p.x for p in problems]), np.array([p.q for p in problems]).reshape(rows, -1)
        wrenches = np.array([p.wrench for p in problems])
        state = State(*(a.copy() for a in first._state))
        W, Q, X = np.zeros((rows, self._n, 6)), np.zeros((rows, self._n, self._k)), np.zeros((rows, 12))
        out = np.zeros((rows, 4))
        W[0], Q[0], X[0], out[0, 0], out[0, 1] = *first._state, first.residual, first.iterations
        at, fresh = 1, False
        while at < rows:
            done, o, w, q_, x_ = self._call(
                state, steps, inverse, qs[at:], xs[at:], mask, wrenches[at:], follower, fresh=fresh, single=one_step
            )
            W[at : at + done], Q[at : at + done], X[at : at + done] = w[:done], q_[:done], x_[:done]
            out[at : at + done] = o[:done]
            at += done
            if at >= rows:
                break
            state = State(W[at - 1].copy(), Q[at - 1].copy(), X[at - 1].copy())
            reached, fraction = self._continue(state, problems[at - 1], problems[at], steps)
            if reached is None:
                raise self._failure(
                    problems[at],
                    [(f"continuation from row {at - 1}", state, self._wk_residual())],
                    steps,
                    f"path row {at}: no equilibrium beyond {100.0 * fraction:.1f} % of the way from row {at - 1}",
                )
            state = reached
            W[at], Q[at], X[at] = state.W, state.Q, state.X
            out[at, 0] = TOLERANCE
            at += 1
            fresh = False
        path_out = Path(self, problems[0], steps, W, Q, X, out, wrenches)
        if not one_step and steps < MAX_STEPS:
            looked_at = {*range(0, rows, max(1, rows // 50)), rows - 1}
            worst = max(self._refined_residual(W[r], Q[r], X[r], wrenches[r], follower, 2 * steps) for r in looked_at)
            if worst > problems[0].tolerance:  # more strongly bent further on: the whole path again, finer
                return self._follow(problems, first, 2 * steps, one_step)
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
                raise ModelError(f"pose holds a number that is not finite: {X}", field="pose")
            c, s = np.cos(X[2]), np.sin(X[2])
            return np.array([c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0, X[0], X[1], 0.0])
        if X.shape != (4, 4):
            valid = "a 4x4 matrix or (x, y, angle)" if self.planar else "a 4x4 matrix"
            raise ModelError(f"pose has shape {X.shape}; must be {valid}", field="pose")
        if not np.isfinite(X).all():
            raise ModelError("pose holds a number that is not finite", field="pose")
        R = X[:3, :3]
        if not _is_rotation(R):
            raise ModelError("pose is no rigid pose: its rotation is not orthonormal", field="pose")
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
        out = np.atleast_1d(np.asarray(q, dtype=float))
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
                f"{self.name} has {self._na} actuators for {self._npl} plate freedoms: name the {self._na} that they"
                f" control, as in controlled={list(names[: self._na])}; valid names: {', '.join(names)}",
                field="controlled",
            )
        for name in controlled:
            if name not in names:
                raise ModelError(f"{name!r} is no freedom of the plate; {nearest(name, names)}", field="controlled")
            mask[names.index(name)] = True
        if mask.sum() > self._na:
            raise ModelError(
                f"{self.name}: {self._na} actuators cannot control {int(mask.sum())} freedoms", field="controlled"
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

    def _solve(self, problem: Task, start: Solution | None, steps: int, seed: int, restarts: int) -> Solution:
        tries: list = []
        if start is None:
            self._refuse_out_of_reach(problem, steps)
        else:
            if start._robot.description is not self.description:
                raise ModelError(f"start belongs to {start._robot.name!r}, not to this robot", field="start")
            state = State(*(a.copy() for a in start._state))
            fresh = start.steps == steps and start._tips is not None
            if fresh:
                self._wk.tips[:] = start._tips
                self._wk.cols[:] = start._cols
            ok, out = self._one(state, problem, steps, fresh=fresh, limit=12)
            if ok and out[1] <= 7:
                return self._finish(state, problem, steps, out, tries)
            jumped = (state, out) if ok else None
            tries.append(("warm start", state, float(out[0])))
            self._refuse_out_of_reach(problem, steps)
            state = State(*(a.copy() for a in start._state))
            before = Task(
                problem.inverse,
                start.q,
                state.X.copy(),
                problem.controlled,
                start.wrench,
                problem.follower,
                problem.tolerance,
            )
            reached, fraction = self._continue(state, before, problem, steps)
            if reached is not None:
                ok, out = self._one(reached, problem, steps)
                if ok:
                    return self._finish(reached, problem, steps, out, tries)
            if jumped is not None:  # far away, but an equilibrium
                ok, out = self._one(jumped[0], problem, steps)
                if ok:
                    return self._finish(jumped[0], problem, steps, out, tries)
            tries.append((f"continuation to {100.0 * fraction:.0f} %", state, self._wk_residual()))
        return self._cold(problem, steps, seed, restarts, tries)

    def _pack(self, problem: Task, state, steps: int, residual: float, iterations: int, wrench) -> Solution:
        return Solution(
            self, state, wrench=wrench, follower=problem.follower, steps=steps, residual=residual,
            iterations=iterations, inverse=problem.inverse, controlled=problem.controlled,
        )  # fmt: skip

    def _finish(self, state: State, problem: Task, steps: int, out, tries) -> Solution:
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
            linearisation=(tips, cols), starts=tuple(name for name, *_ in tries),
        )  # fmt: skip

    def _continue(self, state: State, before: Task, after: Task, steps: int):
        """Move the target from one problem to another in steps that adapt; (state, 1) or (None, fraction)."""
        p0, R0 = before.x[9:], before.x[:9].reshape(3, 3)
        p1, R1 = after.x[9:], after.x[:9].reshape(3, 3)
        turn = log_so3(R1 @ R0.T) if after.inverse else np.zeros(3)
        done, step = 0.0, 0.25
        state = state.copy()
        while done < 1.0:
            t = min(1.0, done + step)
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
            ok, out = self._one(trial, problem, steps, limit=10)
            if ok and np.abs(trial.W - state.W).max() > 2.0 * max(self._model(steps).scale[0], np.abs(state.W).max()):
                ok = False  # jumped to another branch
            if ok:
                state, done = trial, t
                step = min(0.5, step * (2.0 if out[1] <= 4 else 1.0))
            else:
                step *= 0.5
                if step < 1e-3:
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
            if not np.isfinite(cost) or not np.all(np.isfinite(J)):
                return False, np.inf, it
            scale = np.sum(J * J, axis=0) + 1e-12
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

    def _cold(self, problem: Task, steps: int, seed: int, restarts: int, tries: list) -> Solution:
        """Start from nothing: lifted Newton, Levenberg-Marquardt, continuation from home, seeded restarts."""
        best: tuple[float, Solution] | None = None

        def consider(name: str, state: State, ok: bool, worst: float, iterations: int) -> Solution | None:
            nonlocal best
            if not ok or not self._proper(state):
                tries.append((name, state, worst if not ok else np.inf))
                return None
            solution = self._finish(state, problem, steps, np.array([worst, iterations, 0, 0]), [*tries, (name, 0, 0)])
            index = solution.morse_index
            tries.append((f"{name} (unstable, index {index})" if index else name, state, worst))
            if best is None or index < best[0]:
                best = (index, solution)
            return solution if index == 0 else None

        state = self._guess(problem)
        got = consider("lifted Newton", state, *self._lifted(state, problem, steps, self._nodes(state)))
        if got is not None:
            return got
        state = self._guess(problem)
        got = consider("Levenberg-Marquardt", state, *self._levenberg(state, problem, steps))
        if got is not None:
            return got
        if problem.inverse and any(j.kind == "extension" for limb in self.description.limbs for j in limb.joints):
            state = self._guess(problem, slack=1.0)
            got = consider("lifted Newton, rods taut", state, *self._lifted(state, problem, steps, self._nodes(state)))
            if got is not None:
                return got
        if self.description.home_joints is not None:
            state = self._guess(problem)
            if problem.inverse:
                state.Q[self._actuators] = self.description.home_joints
                got = consider(
                    "lifted Newton from the home joints",
                    state,
                    *self._lifted(state, problem, steps, self._nodes(state)),
                )
                if got is not None:
                    return got
        if self._home is not False:
            got = self._from_home(problem, steps, consider)
            if got is not None:
                return got
        rng = np.random.default_rng(seed)
        for trial in range(restarts):
            state = self._guess(problem, aim=0.0 if trial % 2 == 0 else rng.uniform(-1.0, 1.0))
            if problem.inverse:
                for _a, (i, j) in enumerate(self.description.actuators):
                    L = self.description.limbs[i].rod.length
                    kind = self.description.limbs[i].joints[j].kind
                    if kind == "extension":
                        state.Q[i, j] *= rng.uniform(0.97, 1.15)
                    elif kind == "prismatic":
                        state.Q[i, j] = rng.uniform(-0.2, 0.2) * L
                    else:
                        state.Q[i, j] += rng.uniform(-0.5, 0.5)
            elif trial > 0:
                state.X[9:11] += rng.uniform(-0.1, 0.1, 2) * self.description.limbs[0].rod.length
            nodes = self._nodes(state, rng, 0.1)
            got = consider(
                f"random restart {trial + 1} of seed {seed}", state, *self._lifted(state, problem, steps, nodes)
            )
            if got is not None:
                return got
        if best is not None:
            return best[1]
        raise self._failure(problem, tries, steps)

    def _from_home(self, problem: Task, steps: int, consider) -> Solution | None:
        try:
            home = self.home()
        except PliantError:
            return None
        state = State(*(a.copy() for a in home._state))
        before = dataclasses.replace(problem, q=home.q, x=state.X.copy(), wrench=home.wrench)
        if home.follower != problem.follower:
            return None
        reached, fraction = self._continue(state, before, problem, steps)
        if reached is None:
            consider(f"continuation from home (to {100.0 * fraction:.0f} %)", state, False, np.inf, 0)
            return None
        ok, out = self._one(reached, problem, steps)
        return consider("continuation from home", reached, ok, float(out[0]), int(out[1]))

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
        reach = Reach(d, STRETCH).missing(X) if problem.inverse else None
        reasons = [] if reach is None else [f"the rod of {reach[0]} is too short by {1e3 * reach[1]:.4g} mm"]
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
