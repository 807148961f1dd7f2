"""Branches of equilibria: the one continued from home, its stable neighbour after buckling, and all that are found.

A pose or a set of joint values has several equilibria. Those along a continuous change of the task from the home
equilibrium form the branch from home. At a bifurcation it loses its stability, and a stable branch leaves it to both
sides; a small disturbance in the unstable direction leads the continuation there, as it does with a real rod.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.base.errors import ModelError, PliantError, nearest
from pliant.base.numerics import Array
from pliant.rods import kernels
from pliant.rods._build import bending_unit, unflatten
from pliant.rods.batch import share, told
from pliant.rods.cold_start import Lifted, cold_starts, is_proper, lifted_newton
from pliant.rods.continuation import continue_to
from pliant.rods.geometry import freedom_indices, root_pose
from pliant.rods.kernels import layout
from pliant.rods.solution import Solution
from pliant.rods.statics import State, Statics, Task

BRANCHES: dict[str, str] = {
    "home": "continued from the start, or from home; its stable neighbour where it has lost its stability",
    "smooth": "continued from the start, or from home, also where it is unstable",
    "lowest": "the stable equilibrium of the lowest energy that is found",
}
# Disturbances that lead to the stable neighbour, in units of the softest rod (E I / L^2); the first that does is used.
DISTURBANCES = (0.3, 0.05, 1.0)
TOGETHER = 4  # starts that a thread solves in one call
SAME = 1e-5  # two equilibria are the same below it: scaled base wrenches, metres, radians


@dataclass(frozen=True, kw_only=True)
class Equilibrium:
    """One of the equilibria of a task."""

    solution: Solution
    """The equilibrium itself."""
    q: Array
    """Actuated joint values, shape (actuators,) [m or rad]."""
    plate_pose: Array
    """Plate pose, shape (4, 4)."""
    energy: float
    """Elastic energy and potentials of the loads [J]: see `Solution.energy`."""
    index: int
    """Number of unstable directions with locked actuators; 0: stable, or free in the motions of the stability."""
    strain: float
    """Largest bending strain in a rod."""
    branch: str
    """As `Solution.branch` for the equilibria continued from home, else empty."""

    @cached_property
    def connection(self) -> str:
        """``home`` for the branch continued from home, ``neighbour`` for its stable neighbour, else what becomes of
        this equilibrium on the straight way back to home: followed when first read, by the memory of the robot."""
        return self.branch or _way_back(self.solution)


def checked_branch(branch: str) -> str:
    """Return the name of a branch, or raise ModelError."""
    if branch not in BRANCHES:
        raise ModelError(f"branch {branch!r} is not known; {nearest(branch, BRANCHES)}", field="branch")
    return branch


def distances(robot: Statics, states: Sequence[State]) -> Array:
    """Return how far apart states are, two by two: base wrenches in the robot's units, turns modulo a whole turn."""
    md, count = robot._model(robot._steps(None, None)), len(states)
    W, Q, X = (np.array(each) for each in zip(*states))
    gap = np.abs(W[:, None] - W) / np.repeat(md.scale, 3)
    turns = Q[:, None] - Q
    turning = md.kind == layout.REVOLUTE
    turns[..., turning] = (turns[..., turning] + np.pi) % (2.0 * np.pi) - np.pi
    parts = (gap, np.abs(turns), np.abs(X[:, None] - X))
    return np.max([part.reshape(count, count, -1).max(axis=2, initial=0.0) for part in parts], axis=0)


def distance(robot: Statics, one: State, two: State) -> float:
    """Return how far apart two states are; see `distances`."""
    return float(distances(robot, [one, two])[0, 1])


def _distinct(robot: Statics, states: Sequence[State]) -> list[int]:
    """Return the numbers of the states that are not the same as one before them that counts."""
    kept: list[int] = []
    for k, row in enumerate(distances(robot, states) <= SAME if states else ()):
        if not row[kept].any():
            kept.append(k)
    return kept


def without_turns(robot: Statics, change: Array) -> Array:
    """Return a change of actuated joint values without the whole turns of revolute joints."""
    kinds = [robot.description.limbs[i].joints[j].kind for i, j in robot.description.actuators]
    turning = np.array([kind == "revolute" for kind in kinds], dtype=bool)
    return np.where(turning, (change + np.pi) % (2.0 * np.pi) - np.pi, change)


def wrap(robot: Statics, state: State, near: Array, only_into_limits: bool) -> None:
    """Add whole turns to revolute base joints: into their limits if that is possible, else next to `near`.

    A joint value and the same with a whole turn more are one shape.
    """
    turn = 2.0 * np.pi
    for i, limb in enumerate(robot.description.limbs):
        for j, joint in enumerate(limb.joints):
            if joint.kind != "revolute":
                continue
            q = state.Q[i, j]
            low, high = joint.limits or (-np.inf, np.inf)
            if only_into_limits and low - 1e-9 <= q <= high + 1e-9:
                continue
            first = q + turn * np.round((near[i, j] - q) / turn)
            choices = [first + k * turn for k in sorted(range(-3, 4), key=lambda k: abs(first + k * turn - near[i, j]))]
            inside = [value for value in choices if low - 1e-9 <= value <= high + 1e-9]
            if inside:
                state.Q[i, j] = inside[0]
            elif not only_into_limits:
                state.Q[i, j] = choices[0]


def disturbed_rods(robot: Statics, steps: int, state: State, size: float, angle: float):
    """Return the kernels' model with a transverse load on every rod that grows towards its tip.

    Args:
        size: mean load times length, in units of the softest rod (E I / L^2).
        angle: direction about the line from the rod's base to its tip [rad].
    """
    md = robot._model(steps)
    table, load = md.table.copy(), md.load.copy()
    XP = unflatten(state.X)
    unit = np.divide(*bending_unit(robot.description.limbs)[::-1])
    stage = np.arange(table.shape[1])
    s = (stage // layout.STAGES + np.array(kernels.STAGE_ABSCISSAE)[stage % layout.STAGES]) / steps
    for i, limb in enumerate(robot.description.limbs):
        root, length = root_pose(limb, state.Q[i], md.rest[i])
        chord = (XP @ np.asarray(limb.distal.pose))[:3, 3] - root[:3, 3]
        across = np.array([0.0, 0.0, 1.0]) if robot.planar else root[:3, 0]
        one = np.cross(chord, across)
        if np.linalg.norm(one) < 1e-9 * length:
            one = root[:3, 1]
        one = one / np.linalg.norm(one)
        two = np.zeros(3) if robot.planar else np.cross(chord, one) / max(1e-12, float(np.linalg.norm(chord)))
        force = unit * size / length * (np.cos(angle) * one + np.sin(angle) * two)
        table[i, :, layout.LOAD_X : layout.COUPLE_X] += np.outer(0.5 * s + 0.5 * s**2, force)
        load[i] += force
    return md._replace(table=table, load=load)


def stable_neighbour(robot: Statics, task: Task, solution: Solution, origin: tuple[State, Task]) -> State | None:
    """Return the stable equilibrium beside an unstable one, or None.

    The way from the origin is gone again with a small disturbance, a wrench on the plate in the unstable direction or
    a load across the rods, which is then taken away. Where the way passed a bifurcation, the disturbance leads it to
    the stable side.
    """
    stability = solution.stability()
    state, before = origin
    steps = solution.steps
    ways: list[tuple[Array | None, float]] = []
    if stability.plate and not (task.inverse and task.controlled[: robot._npl].all()):
        length, moment = bending_unit(robot.description.limbs)
        pick = freedom_indices(robot.planar)
        twist = np.zeros(6)
        twist[pick] = solution._unstable[:, 0]
        ways.append((np.concatenate([twist[:3] / length**2, twist[3:]]) * moment, 0.0))
    ways += [(None, 0.4), (None, 0.4 + 0.5 * np.pi)] if not robot.planar else [(None, 0.0)]

    def go(start: State, one: Task, two: Task, models) -> State | None:
        return continue_to(robot, start, one, two, steps, models=models)[0]

    for wrench, angle in ways:
        for size in DISTURBANCES:
            for sign in (1.0, -1.0):
                if wrench is None:

                    def models(t: float, amount: float = sign * size, angle: float = angle):
                        return disturbed_rods(robot, steps, state, t * amount, angle)

                    at = go(state, before, before, models)
                    at = None if at is None else go(at, before, task, lambda t, models=models: models(1.0))
                    at = None if at is None else go(at, task, task, lambda t, models=models: models(1.0 - t))
                else:
                    first, last = (
                        dataclasses.replace(one, wrench=one.wrench + sign * size * wrench) for one in (before, task)
                    )
                    at = go(state, before, first, None)
                    at = None if at is None else go(at, first, last, None)
                    at = None if at is None else go(at, last, task, None)
                if at is None:
                    continue
                ok, _ = robot._one(at, task, steps, limit=12)
                if not ok or not is_proper(robot, at):
                    continue
                found = Solution(robot, at, task, steps=steps, residual=0.0, iterations=0)
                if found.morse_index == 0:
                    return at
    return None


def find_all(
    robot: Statics, task: Task, starts: int, seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[Equilibrium]:  # fmt: skip
    """Return the equilibria that are found, by energy: from home, by every cold start, by random starts.

    All cores search; the result does not depend on their number.
    """
    steps = robot._steps(None, None)
    home: Solution | None
    try:
        home = robot.home()
    except PliantError:
        home = None
    solved, continued = _solved_starts(robot, task, steps, starts, seed, progress, home)
    near = np.zeros((robot._n, robot._k)) if home is None else home._state.Q
    for _, state in solved:
        wrap(robot, state, near, only_into_limits=False)
    every: list[Solution | tuple[str, State]] = [*continued, *solved]
    states = [one._state if isinstance(one, Solution) else one[1] for one in every]
    candidates = [every[k] for k in _distinct(robot, states)]
    found: list[Equilibrium | None] = [None] * len(candidates)

    def finish(mine: Statics, k: int) -> None:
        one = candidates[k]
        if isinstance(one, Solution):
            solution, branch = one.belonging_to(mine), one.branch
        else:
            solution = mine._checked(one[1], task, steps, [], one[0])
            if solution is None:
                return
            branch = ""
        lines = solution.centrelines(61)
        found[k] = Equilibrium(
            solution=solution, q=solution.q, plate_pose=solution.plate_pose, energy=solution.energy(lines),
            index=solution.morse_index, strain=max(float(line.bending_strain.max()) for line in lines),
            branch=branch,
        )  # fmt: skip

    _by_forks(robot, finish, len(candidates))
    out = [one for one in found if one is not None]
    out = [out[k] for k in _distinct(robot, [one.solution._state for one in out])]
    out = [dataclasses.replace(one, solution=one.solution.belonging_to(robot)) for one in out]
    return sorted(out, key=lambda one: one.energy)


def _by_forks(robot: Statics, job: Callable[[Statics, int], None], count: int) -> None:
    """Call a job with a fork of a robot and each number below ``count``, on all cores."""

    def work(part: Iterable[int]) -> None:
        mine = robot.fork()
        for k in part:
            job(mine, k)

    share(work, count, None, in_turn=True)


def _solved_starts(
    robot: Statics, task: Task, steps: int, starts: int, seed: int, progress: Callable[[int, int], None] | None,
    home: Solution | None,
) -> tuple[list[tuple[str, State]], list[Solution]]:  # fmt: skip
    """Return name and state of each cold start that reaches an equilibrium, in the order of the starts.

    They are solved in the integration steps of a first solve. Beside them the equilibrium is continued from home; it
    and what is beside it, if it has lost its stability, are the second list.
    """
    cold = list(cold_starts(robot, task, steps, starts, seed))
    tell = told(progress, len(cold))
    solved, continued = [False] * len(cold), []
    lifted = [k for k, (_, _, run) in enumerate(cold) if isinstance(run, Lifted)]
    groups = [[k] for k in range(len(cold)) if k not in lifted] + [
        lifted[k : k + TOGETHER] for k in range(0, len(lifted), TOGETHER)
    ]

    def job(mine: Statics, number: int) -> None:
        if number == 0:
            if home is not None:
                continued.extend(_from_home(mine, task, steps))
            return
        group = groups[number - 1]
        states, runs = [cold[k][1] for k in group], [cold[k][2] for k in group]
        if isinstance(runs[0], Lifted):
            out = lifted_newton(mine, states, task, steps, [run.nodes for run in runs], polished=False)
        else:
            out = [runs[0](mine, states[0])]
        for k, (ok, *_) in zip(group, out):
            solved[k] = ok
        tell(len(group))

    _by_forks(robot, job, 1 + len(groups))
    return [(name, state) for (name, state, _), ok in zip(cold, solved) if ok], continued


def _from_home(robot: Statics, task: Task, steps: int) -> list[Solution]:
    """Return the equilibrium that is continued from home, and the one of the branch ``home``."""
    out: list[Solution] = []
    with contextlib.suppress(PliantError):
        solution = robot._from_home(task, steps, "smooth")
        if solution is not None:
            out.append(solution)
            out.append(robot._settled(solution, task, robot.home()))
    return out


def _way_back(solution: Solution) -> str:
    """Say what becomes of an equilibrium on the straight way to the home task."""
    robot, task, state = solution._robot, solution._task, solution._state.copy()
    try:
        home = robot.home()
    except PliantError:
        return "there is no home equilibrium"
    before = dataclasses.replace(task, q=solution.q, x=state.X.copy(), wrench=solution.wrench)
    after = dataclasses.replace(task, q=home.q, x=home._state.X, wrench=home.wrench)
    reached, fraction = continue_to(robot, state, before, after, solution.steps)
    if reached is None:
        return f"ends after {100.0 * fraction:.0f} % of the way to home"
    if distance(robot, reached, home._state) < 1e-4:
        return "home"
    return "leads to another equilibrium at home"
