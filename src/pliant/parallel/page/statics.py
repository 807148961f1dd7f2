"""The statics of a parallel robot for a page: what it may be asked, and a thread that solves the newest of it.

Only the thread asks the solver, because a robot keeps scratch memory; what it found leaves it as plain numbers.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pliant.base.errors import PliantError
from pliant.base.numerics import Array
from pliant.rods import ContinuumParallelRobot, Solution
from pliant.rods.limits import beyond_limits
from pliant.rods.solving import Solver
from pliant.rods.tables import plate_columns

Model = Literal["direct", "inverse"]
POINTS = 41
"""Points of a rod that are drawn."""
RESTARTS = 4
"""Random restarts of a cold start: a page must answer soon."""
TURNING = ("roll", "pitch", "yaw", "angle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A number that a page offers."""

    name: str
    """Name of the joint, the coordinate or the component."""
    unit: str
    """Its unit."""
    low: float
    """Lower end."""
    high: float
    """Upper end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Requested target: joint values or a plate pose, and a wrench."""

    model: Model
    """direct: joint values are given; inverse: the plate pose."""
    values: tuple[float, ...]
    """Joint values [m or rad], or the numbers of the pose (x, y, z, roll, pitch, yaw; planar: x, y, angle)."""
    wrench: tuple[float, ...]
    """On the plate about its origin, world axes: 6 numbers, planar 3 [N, N m]."""
    controlled: tuple[str, ...] | None = None
    """Freedoms that the pose is held in; None: as the robot's description says."""
    cold: bool = False
    """Search without the present shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainEquilibrium:
    """Equilibrium that was found, as numbers and words."""

    q: tuple[float, ...]
    """Actuated joint values [m or rad]."""
    pose: tuple[float, ...]
    """Numbers of the plate pose [m, rad]."""
    wrench: tuple[float, ...]
    """On the plate, 6 numbers, planar 3 [N, N m]."""
    plate: Array
    """Plate pose, shape (4, 4)."""
    lines: Array
    """Centre lines of the rods, shape (limbs, POINTS, 3) [m]."""
    strain: Array
    """Bending strain at the surface of the rods, shape (limbs, POINTS)."""
    stable: bool
    """Whether every small motion costs energy."""
    index: int
    """Number of unstable directions."""
    free: tuple[str, ...]
    """Motions that cost no energy."""
    stiffness: float
    """Smallest stiffness of the plate [N/m]."""
    branch: str
    """Branch of equilibria, see `Solution.branch`."""
    note: str
    """A change of branch, else empty."""
    singular: tuple[tuple[str, float], ...]
    """Smallest singular values by name."""
    residual: float
    """Of the equations."""
    iterations: int
    """Of the solver."""
    beyond: tuple[str, ...]
    """Joints outside their limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The answer to one target."""

    number: int
    """Number of the target, from 1."""
    target: Target
    """Requested target."""
    equilibrium: PlainEquilibrium | None
    """Equilibrium that was found; None: nothing."""
    reason: str
    """Why nothing was found."""
    seconds: float
    """How long it took [s]."""


class StaticsSolver:
    """Solves in a thread of its own; of several targets that wait only the newest is solved.

    Args:
        robot: the robot; a fork of it is solved.
        found: called by the thread with each answer; it must not raise.

    Raises:
        PliantError: the robot has no equilibrium at its home pose.
    """

    def __init__(self, robot: ContinuumParallelRobot, found: Callable[[Found], None] | None = None) -> None:
        self.robot = robot.fork()
        """The robot that is solved; only its facts may be read."""
        self._found = found
        self._solver = Solver("pliant-statics")
        self._last = self.robot.home()
        self._lock = threading.Lock()
        self._asked = self._answered = 0
        self.home = plain_equilibrium(self._last)
        """The equilibrium at the home pose."""

    @property
    def busy(self) -> bool:
        """Whether the newest target has no answer yet."""
        return self._answered < self._asked

    @property
    def asked(self) -> int:
        """Number of the newest target."""
        return self._asked

    @property
    def replaced(self) -> int:
        """Targets that gave way to newer ones."""
        return self._solver.replaced

    def ask(self, target: Target) -> int:
        """Queue a target in the place of one that waits; return its number. Any thread may call this."""
        with self._lock:
            self._asked += 1
            number = self._asked
            self._solver.submit("target", lambda: self._solve(number, target))
        return number

    def work(self, name: str, job: Callable[[ContinuumParallelRobot, Solution], None]) -> None:
        """Run a job with the robot and its present solution in the thread that may use them; it must not raise."""

        def run() -> None:
            self._solver.results()
            job(self.robot, self._last)

        self._solver.submit(name, run)

    def close(self) -> None:
        """End the thread; may be called twice."""
        self._solver.clear()
        self._solver.close()

    def _solve(self, number: int, target: Target) -> None:
        self._solver.results()  # answers go to `found`; nothing is kept
        began = time.perf_counter()
        equilibrium, reason = None, ""
        try:
            # Absurd numbers overflow in the solver before it gives up; that is no news.
            with np.errstate(all="ignore"):
                solution = self._solution(target)
                equilibrium = plain_equilibrium(solution)
                self._last = solution
        except PliantError as error:
            reason = str(error)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
            reason = f"no equilibrium: the numbers leave every range ({error})"
        except Exception as error:  # a fault of ours: the page says so instead of waiting
            reason = f"an internal fault: {type(error).__name__}: {error}"
        spent = time.perf_counter() - began
        answer = Found(number=number, target=target, equilibrium=equilibrium, reason=reason, seconds=spent)
        self._answered = number
        if self._found is not None:
            self._found(answer)

    def _solution(self, target: Target) -> Solution:
        robot, start = self.robot, None if target.cold else self._last
        if target.model == "direct":
            return robot.solve_dgm(target.values, target.wrench, start=start, restarts=RESTARTS)
        pose = robot.pose_from_numbers(target.values)
        return robot.solve_igm(pose, target.wrench, start=start, controlled=target.controlled, restarts=RESTARTS)


def plain_equilibrium(solution: Solution) -> PlainEquilibrium:
    """Return a solution as numbers.

    Raises:
        ValueError: it is not finite.
    """
    robot: Any = solution.robot
    lines = solution.centrelines(POINTS)
    stability = solution.stability()
    wrench = np.asarray(solution.wrench, dtype=float)
    made = PlainEquilibrium(
        q=tuple(map(float, solution.q)),
        pose=tuple(map(float, robot.pose_numbers(solution.plate_pose))),
        wrench=tuple(map(float, wrench[[0, 1, 5]] if robot.planar else wrench)),
        plate=np.array(solution.plate_pose, dtype=float),
        lines=np.array([line.position for line in lines]),
        strain=np.array([line.bending_strain for line in lines]),
        stable=bool(solution.stable),
        index=int(stability.index),
        free=tuple(stability.free),
        stiffness=float(solution.smallest_stiffness),
        branch=solution.branch,
        note=solution.note,
        singular=tuple((name, float(value)) for name, value in solution.singular_values().items()),
        residual=float(solution.residual),
        iterations=int(solution.iterations),
        beyond=tuple(beyond_limits(solution)),
    )
    if not (np.isfinite(made.q).all() and np.isfinite(made.plate).all() and np.isfinite(made.lines).all()):
        raise ValueError("the equilibrium is not finite")
    return made


def joint_ranges(robot: ContinuumParallelRobot, home: PlainEquilibrium) -> list[Range]:
    """Return what joint values a page offers: those within the limits, and not far from home."""
    d = robot.description
    length = _longest(robot)
    out = []
    for a, (i, j) in enumerate(d.actuators):
        joint = d.limbs[i].joints[j]
        turning = joint.kind == "revolute"
        low, high = joint.limits or (-math.inf, math.inf)
        if joint.kind == "extension":
            low, high = max(low, 0.05 * length), min(high, 3.0 * length)
        reach = math.pi if turning else length
        # The ends have few digits, and lie within the limits and beyond home.
        low, high = max(low, _rounded(home.q[a] - reach)), min(high, _rounded(home.q[a] + reach))
        alone = sum(limb == i for limb, _ in d.actuators) == 1
        name = d.limb_name(i) if alone else f"{d.limb_name(i)} {joint.kind}"
        out.append(Range(name=name, unit="rad" if turning else "m", low=low, high=high))
    return out


def pose_ranges(robot: ContinuumParallelRobot, home: PlainEquilibrium) -> list[Range]:
    """Return what plate poses a page offers."""
    half = 0.5 * _longest(robot)
    names = plate_columns(robot.planar)[0]
    out = []
    for name, value in zip(names, home.pose):
        reach, unit = (1.6, "rad") if name in TURNING else (half, "m")
        out.append(Range(name=name, unit=unit, low=_rounded(value - reach), high=_rounded(value + reach)))
    return out


def wrench_ranges(robot: ContinuumParallelRobot) -> list[Range]:
    """Return what wrenches a page offers: such that bend rods of this size visibly, a few times E I / L^2."""
    limbs = robot.description.limbs
    load = max(limb.rod.values(0.5).bending[0] / limb.rod.length**2 for limb in limbs)
    force = 10.0 ** math.ceil(math.log10(max(10.0 * load, 1e-6)))
    moment = force * _longest(robot)
    out = []
    for name in plate_columns(robot.planar)[1]:
        most, unit = (moment, "N m") if name.startswith("m") else (force, "N")
        out.append(Range(name=name, unit=unit, low=-most, high=most))
    return out


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _longest(robot: ContinuumParallelRobot) -> float:
    return max(limb.rod.length for limb in robot.description.limbs)
