"""The contract of a robot of rods that solutions and analyses are computed with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import ModelError
from pliant.base.numerics import Array, for_kernels
from pliant.rods import kernels
from pliant.rods.description import RobotDescription

Solution = Any  # pliant.rods.solution.Solution, which imports this module
SURE_STEPS = 5
"""Steps of Newton's method from a start; more may have led to another branch."""


class State(NamedTuple):
    """The unknowns of a solve; solvers change the arrays in place."""

    W: Array
    """Base wrenches, world axes, shape (limbs, 6) [N, N m]."""
    Q: Array
    """Base joint values, shape (limbs, most joints of a limb) [m or rad]."""
    X: Array
    """Plate pose, shape (12,)."""

    def copy(self) -> State:
        """Return a copy with arrays of its own."""
        return State(self.W.copy(), self.Q.copy(), self.X.copy())


@dataclass(frozen=True, slots=True)
class Task:
    """One solve: what is wanted and under which load."""

    inverse: bool
    q: Array
    x: Array
    controlled: NDArray[np.bool_]
    wrench: Array
    follower: bool
    tolerance: float
    """Of the accuracy check: see Accuracy."""

    def rows(self) -> kernels.Tasks:
        """Return the task as the kernels take it, as one row."""
        return kernels.Tasks(
            self.inverse, for_kernels(self.q)[None], for_kernels(self.x)[None], self.controlled,
            for_kernels(self.wrench)[None], self.follower,
        )  # fmt: skip


class Statics(Protocol):
    """A robot of rods with its solvers and work arrays; `pliant.rods.robot.ContinuumParallelRobot` is one."""

    description: RobotDescription
    """Description of the robot's parts."""
    accuracy: str
    """How finely the rods are integrated: a name of `pliant.rods.accuracy.ACCURACIES`."""
    _models: dict[int, kernels.Model]
    _n: int
    _k: int
    _na: int
    _npl: int
    _wk: kernels.Work
    _actuators: tuple[NDArray[np.intp], ...]

    @property
    def name(self) -> str:
        """Name of the robot."""
        ...

    @property
    def planar(self) -> bool:
        """Whether it moves in a plane."""
        ...

    @property
    def actuator_count(self) -> int:
        """Number of actuated joints."""
        ...

    def characteristic_length(self) -> float:
        """Return the length that makes rotations and positions comparable [m]."""
        ...

    def home(self) -> Solution:
        """Return the solution at its home pose."""
        ...

    def fork(self) -> Self:
        """Return a copy with work arrays of its own, for another thread."""
        ...

    def solve_dgm(self, q: ArrayLike, wrench: ArrayLike | None = None, **options: Any) -> Solution:
        """Return the solution of the direct model."""
        ...

    def solve_igm(self, pose: ArrayLike, wrench: ArrayLike | None = None, **options: Any) -> Solution:
        """Return the solution of the inverse model."""
        ...

    def checked_wrench(self, wrench: ArrayLike | None) -> Array:
        """Return a wrench on the plate, shape (6,) [N, N m]."""
        ...

    def checked_joints(self, q: ArrayLike) -> Array:
        """Return actuated joint values, shape (actuators,)."""
        ...

    def _call(self, state: State, steps: int, tasks: kernels.Tasks, **options: Any) -> Any: ...
    def _follow(self, state: State, steps: int, tasks: kernels.Tasks, *, margins: bool) -> tuple[int, kernels.Rows]: ...
    def _one(self, state: State, problem: Task, steps: int, **options: Any) -> tuple[bool, Array]: ...
    def _from_home(self, problem: Task, steps: int, branch: str) -> Solution: ...
    def _checked(
        self, state: State, problem: Task, steps: int, tries: list, name: str, branch: str = ...
    ) -> Solution | None: ...
    def _confirms(self, states: State, wrenches: Array, task: Task, steps: int) -> NDArray[np.bool_]: ...
    def _settled(self, solution: Solution, problem: Task, origin: Solution) -> Solution: ...
    def _solve(
        self, problem: Task, start: Solution | None, steps: int, seed: int, restarts: int, branch: str = ...
    ) -> Solution: ...
    def _with(self, description: RobotDescription) -> Self: ...
    def _model(self, steps: int) -> kernels.Model: ...
    def _steps(self, accuracy: str | None, start: Solution | None) -> int: ...
    def _tolerance(self, accuracy: str | None) -> float: ...
    def _pose(self, pose: ArrayLike) -> Array: ...
    def _poses(self, rows: Sequence[ArrayLike]) -> Array: ...
    def _controlled(self, controlled: Sequence[str] | None) -> NDArray[np.bool_]: ...


def check_statics(given: object, asker: str) -> None:
    """Refuse what is no robot of rods, and say how to make one.

    Args:
        given: what was passed.
        asker: the class or function that expects it.

    Raises:
        ModelError: it is no robot of rods.
    """
    if isinstance(given, type) or not (hasattr(given, "solve_dgm") and hasattr(given, "_npl")):
        raise ModelError(
            f"{asker} got {given!r:.100}; must be a ContinuumParallelRobot of pliant.rods, whose solve_dgm, solve_igm "
            "and follow make solutions and paths",
            field="robot",
        )
