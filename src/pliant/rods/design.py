"""Design of a parallel robot: numbers of its file that make it stiffer, or its workspace larger, by gradients.

The stiffness is the smallest eigenvalue of the plate's stiffness, rotations by the characteristic length, and of
several poses the smallest. The workspace is seen from the home pose: the plate goes straight in many directions,
without turning, until a joint reaches its limit, the plate loses its stability, or the equilibrium ends. The sum over
the directions of r^d / d is its volume, or its area in the plane (d = 3, 2). Where a condition g(r, p) = 0 ends the
way, dr/dp is -(dg/dp) / (dg/dr), from `pliant.rods.gradients`; where the equilibrium ends, it is a difference of ways.

Each start is improved by the bounded quasi-Newton method of Byrd, Lu, Nocedal and Zhu (L-BFGS-B, SIAM J. Sci. Comput.
16, 1995). It finds a local optimum; how many starts end in the same one says how far the best can be trusted.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.base.errors import ModelError, PliantError, nearest, require
from pliant.base.numerics import Array
from pliant.rods.kernels import layout
from pliant.rods.loaders import load_robot
from pliant.rods.parameters import offset_actuator, parameter_value, with_values
from pliant.rods.solution import Solution
from pliant.rods.statics import SURE_STEPS
from pliant.rods.variation import with_parameters
from pliant.tasks.executor import Executor
from pliant.tasks.journal import Journal, map_tasks

GOALS = {"stiffness": "N/m", "workspace": "m^3, planar m^2"}
"""What can be made largest, and its unit."""
CODE = ("pliant.rods",)
DIRECTIONS = {True: 24, False: 32}
"""Directions in which the workspace is measured, of planar and of spatial robots."""
FIRST_STEP, LAST_STEP = 0.02, 1e-6  # of the mean rod length, along a way
SAME = 1e-2  # starts end in the same optimum below it: differences of parameters by their range
SAME_VALUE = 1e-3  # and of the objective, relatively
DIFFERENCE = 1e-3  # of a parameter's range, where ways are differentiated by differences


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Quantity that is made largest."""

    quantity: str
    """A name of ``GOALS``."""
    poses: tuple[tuple[float, ...], ...] = ()
    """Of the stiffness: plate poses as numbers, all of them; empty for the home pose."""

    def __post_init__(self) -> None:
        if self.quantity not in GOALS:
            raise ModelError(
                f"{self.quantity!r} cannot be made largest; {nearest(self.quantity, GOALS)}", field="maximise"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One start of the search, and where it ended."""

    start: dict[str, float]
    """Parameters at the start."""
    values: dict[str, float]
    """Parameters at the end."""
    before: float
    """Objective at the start; NaN where the robot has no equilibrium there."""
    objective: float
    """Objective at the end."""
    history: list[float]
    """Best objective after each evaluation."""
    at_bounds: list[str]
    """Parameters that ended at a bound."""
    ends: dict[str, int]
    """Of the workspace: how many ways end for which reason."""
    stable: bool
    """Whether the home pose of the result is stable."""
    note: str
    """Why the search ended."""


def stiffness_of(home: Solution, names: Sequence[str], poses: Sequence[Sequence[float]]) -> tuple[float, Array]:
    """Return the smallest stiffness at poses, or at home, and its gradient.

    Raises:
        NoEquilibrium: a pose is not reached from home.
    """
    robot, worst = home.robot, home
    for k, numbers in enumerate(poses):
        pose = robot.pose_from_numbers(numbers)  # type: ignore[attr-defined]
        s = robot.solve_igm(pose, start=home, branch="smooth", restarts=0)
        if k == 0 or s.smallest_stiffness < worst.smallest_stiffness:
            worst = s
    slope = worst.gradients(list(names), ["smallest_stiffness"]).smallest_stiffness
    assert slope is not None
    return worst.smallest_stiffness, slope


def _directions(planar: bool) -> Array:
    """Return unit vectors spread evenly over the circle, or over the sphere by Fibonacci's spiral."""
    k = np.arange(DIRECTIONS[planar]) + 0.5
    if planar:
        angle = 2.0 * np.pi * k / len(k)
        return np.column_stack([np.cos(angle), np.sin(angle), 0.0 * k])
    z, angle = 1.0 - 2.0 * k / len(k), np.pi * (1.0 + np.sqrt(5.0)) * k
    across = np.sqrt(1.0 - z * z)
    return np.column_stack([across * np.cos(angle), across * np.sin(angle), z])


class _Way:
    """The plate goes from home straight in a direction, as far as the robot allows."""

    def __init__(self, home: Solution, direction: Array) -> None:
        self.home, self.direction, self.robot = home, direction, home.robot
        d = self.robot.description
        limits = [d.limbs[i].joints[j].limits or (-np.inf, np.inf) for i, j in d.actuators]
        self.low, self.high = np.array(limits).reshape(-1, 2).T
        self.length = d.mean_rod_length

    def conditions(self, s: Solution) -> Array:
        """Return what must stay positive: distances of the joints from their limits, then the margin of stability."""
        return np.concatenate([self.high - s.q, s.q - self.low, [s.stability_margin]])

    def at(self, before: Solution, r: float) -> Solution | None:
        """Return the equilibrium at a distance, next to one before it, or None."""
        x = self.home._state.X.copy()
        x[layout.POS_X :] += r * self.direction
        task, state = dataclasses.replace(self.home._task, inverse=True, x=x), before._state.copy()
        ok, _ = self.robot._one(state, task, self.home.steps, limit=SURE_STEPS)
        return self.robot._checked(state, task, self.home.steps, [], "the point before") if ok else None

    def go(self) -> tuple[float, int | None, Solution]:
        """Return how far the way goes, the condition that ends it (None: the equilibrium ends), the last solution."""
        r, s, step, violated = 0.0, self.home, FIRST_STEP * self.length, None
        g = self.conditions(s)
        if g.min() <= 0.0:
            return 0.0, int(np.argmin(g)), s
        while step > LAST_STEP * self.length and r < self.length:
            trial = self.at(s, r + step)
            ahead = None if trial is None else self.conditions(trial)
            if trial is None or ahead is None or ahead.min() <= 0.0:
                violated = None if ahead is None else (step, ahead)
                step *= 0.5
                continue
            r, s, g = r + step, trial, ahead
            if violated is None:
                continue
            step = min(step, 0.5 * violated[0])
        if r >= self.length or violated is None:
            return r, None, s
        step, ahead = violated
        crossing = [g[c] / (g[c] - ahead[c]) if ahead[c] <= 0.0 else np.inf for c in range(len(g))]
        c = int(np.argmin(crossing))
        return r + step * crossing[c], c, s

    def slope(self, s: Solution, c: int, names: Sequence[str]) -> Array:
        """Return dr/dp where condition c ends the way, from the last solution on it."""
        h, n = 10.0 * LAST_STEP * self.length, len(self.low)
        r = float((s._state.X - self.home._state.X)[layout.POS_X :] @ self.direction)
        back = self.at(s, r - h) if names else None
        if back is None:
            return np.zeros(len(names))
        by_r = (self.conditions(s)[c] - self.conditions(back)[c]) / h
        if c < 2 * n:
            found = s.gradients(list(names)).joints
            by_p = -found[:, c] if c < n else found[:, c - n]
        else:
            by_p = s.gradients(list(names), ["stability_margin"]).stability_margin
        return -np.asarray(by_p) / by_r


def workspace_of(
    home: Solution, names: Sequence[str], ranges: Mapping[str, float] | None = None
) -> tuple[float, Array, dict[str, int]]:
    """Return volume or area of the workspace about home, its gradient, and how many ways end for which reason.

    Args:
        names: parameters of the gradient.
        ranges: of the parameters, for the differences of ways whose equilibrium ends; None: their values.
    """
    planar = home.robot.planar
    each = (2.0 * np.pi if planar else 4.0 * np.pi) / DIRECTIONS[planar]
    power, total, slope = (2 if planar else 3), 0.0, np.zeros(len(names))
    ends = {"a joint limit": 0, "loss of stability": 0, "end of the equilibrium": 0, "a rod's length": 0}
    moved: list[tuple[Solution, Solution, float]] | None = None
    for direction in _directions(planar):
        way = _Way(home, direction)
        r, c, last = way.go()
        total += each * r**power / power
        if c is not None:
            ends["a joint limit" if c < 2 * len(way.low) else "loss of stability"] += 1
            by_p = way.slope(last, c, names) if r > 0.0 else np.zeros(len(names))
        elif r >= way.length:
            ends["a rod's length"] += 1
            by_p = _by_length(home, names)
        else:
            ends["end of the equilibrium"] += 1
            moved = moved or [_both_sides(home, name, (ranges or {}).get(name)) for name in names]
            by_p = np.array([(_Way(a, direction).go()[0] - _Way(b, direction).go()[0]) / h for a, b, h in moved])
        slope += each * r ** (power - 1) * by_p
    return total, slope, {name: count for name, count in ends.items() if count}


def _by_length(home: Solution, names: Sequence[str]) -> Array:
    """Return the derivative of the mean rod length, at which ways end, by parameters."""
    d, out = home.robot.description, []
    for name in names:
        value, h = parameter_value(d, name), DIFFERENCE * (abs(parameter_value(d, name)) or 1.0)
        longer, shorter = (with_values(d, {name: value + k * h}).mean_rod_length for k in (1, -1))
        out.append((longer - shorter) / (2.0 * h))
    return np.array(out)


def _both_sides(home: Solution, name: str, span: float | None) -> tuple[Solution, Solution, float]:
    value = parameter_value(home.robot.description, name)
    h = DIFFERENCE * (span or abs(value) or 1.0)
    return with_parameters(home, {name: value + h}), with_parameters(home, {name: value - h}), 2.0 * h


class _Search:
    """One search from a start, in units of the parameters' ranges."""

    def __init__(self, source: str, accuracy: str, goal: Goal, bounds: Mapping[str, tuple[float, float]]) -> None:
        self.home, self.goal, self.names = load_robot(source, accuracy=accuracy).home(), goal, list(bounds)
        self.low = np.array([low for low, _ in bounds.values()])
        self.range = np.array([high - low for low, high in bounds.values()])
        self.history: list[float] = []
        self.unit = 1.0
        self.ends: dict[str, int] = {}

    def values(self, u: Array) -> dict[str, float]:
        return {name: float(v) for name, v in zip(self.names, self.low + np.clip(u, 0.0, 1.0) * self.range)}

    def evaluate(self, u: Array) -> tuple[float, Array]:
        """Return the objective and its gradient by u."""
        home = with_parameters(self.home, self.values(u))
        if self.goal.quantity == "stiffness":
            value, slope = stiffness_of(home, self.names, self.goal.poses)
        else:
            value, slope, self.ends = workspace_of(home, self.names, dict(zip(self.names, self.range)))
        return value, slope * self.range

    def descend(self, u: Array) -> tuple[float, Array]:
        """Return minus the objective for the minimiser; a robot without equilibrium is as bad as can be."""
        try:
            value, slope = self.evaluate(u)
        except PliantError:
            worst = min(self.history, default=0.0)
            return -(worst - abs(worst)) / self.unit + 1.0, np.zeros(len(u))
        self.history.append(max(value, self.history[-1]) if self.history else value)
        return -value / self.unit, -slope / self.unit

    def run(self, u: Array) -> Attempt:
        from scipy.optimize import minimize

        start = self.values(u)
        try:
            before = self.evaluate(u)[0]
        except PliantError as fault:
            return Attempt(
                start=start, values=start, before=float("nan"), objective=float("nan"), history=[], at_bounds=[],
                ends={}, stable=False, note=f"no equilibrium at the start: {fault}",
            )  # fmt: skip
        self.unit = abs(before) or 1.0
        got = minimize(
            self.descend, u, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * len(u),
            options={"maxiter": 60, "ftol": 1e-7, "gtol": 1e-5},
        )  # fmt: skip
        end = np.clip(got.x, 0.0, 1.0)
        objective, _ = self.evaluate(end)
        edges = [name for name, v in zip(self.names, end) if v < 1e-6 or v > 1.0 - 1e-6]
        return Attempt(
            start=start, values=self.values(end), before=before, objective=objective, history=self.history,
            at_bounds=edges, ends=self.ends, stable=with_parameters(self.home, self.values(end)).stable,
            note=str(got.message).replace("CONVERGENCE: ", "").lower(),
        )  # fmt: skip


def _attempt(
    source: str, accuracy: str, goal: Goal, bounds: dict[str, tuple[float, float]], start: list[float]
) -> Attempt:
    """Search from one start: a task of the executor."""
    return _Search(source, accuracy, goal, bounds).run(np.array(start))


def checked_bounds(source: str, bounds: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Return the robot's own values of the parameters, after a check of names and bounds.

    Raises:
        ModelError: a name is not known, bounds are not in order, or the robot cannot have a value at a bound.
    """
    d = load_robot(source).description
    if not bounds:
        raise ModelError("at least one parameter must vary", field="vary")
    own = {}
    for name, (low, high) in bounds.items():
        if offset_actuator(d, name) is not None:
            raise ModelError(f"{name}: an offset changes the commands, not the robot", field="vary")
        own[name] = parameter_value(d, name)
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise ModelError(f"{name} varies from {low:g} to {high:g}; the first must be the smaller one", field="vary")
        for value in (low, high):
            with_values(d, {name: value})
    return own


def design(
    source: str,
    bounds: Mapping[str, tuple[float, float]],
    goal: Goal,
    *,
    accuracy: str = "accurate",
    starts: int = 6,
    seed: int = 0,
    folder: Path | None = None,
    workers: int = 1,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[Attempt]:
    """Search the parameters within bounds that make a goal largest, from several starts; the best first.

    Args:
        source: name or file of the robot.
        bounds: lowest and highest value by name of a parameter.
        goal: what is made largest.
        accuracy: of the statics.
        starts: how many starts: the robot itself, within the bounds, then random ones.
        seed: of the random starts.
        folder: of a journal, from which a later call goes on; None for none.
        workers: processes.
        progress: called with (starts done, starts, name of the last).

    Raises:
        ModelError: the arguments do not fit the robot.
    """
    require("scipy", extra="fit", purpose="design")
    own = checked_bounds(source, bounds)
    if starts < 1:
        raise ModelError(f"starts is {starts}; must be >= 1", field="starts")
    plain = {name: (float(low), float(high)) for name, (low, high) in bounds.items()}
    first = [float(np.clip((own[n] - low) / (high - low), 0.0, 1.0)) for n, (low, high) in plain.items()]
    rng = np.random.default_rng(seed)
    points = [first, *(rng.uniform(0.0, 1.0, len(plain)).tolist() for _ in range(starts - 1))]
    tasks = {f"start {k + 1}": (source, accuracy, goal, plain, point) for k, point in enumerate(points)}
    with Journal(folder / "starts.jsonl", Attempt) if folder is not None else contextlib.nullcontext() as journal:
        found = map_tasks(
            _attempt, tasks, code=CODE, journal=journal, executor=Executor(processes=workers), progress=progress
        )
    return sorted(found.values(), key=lambda one: (not np.isfinite(one.objective), -one.objective))


def same_optimum(attempts: Sequence[Attempt], bounds: Mapping[str, tuple[float, float]]) -> int:
    """Return how many attempts ended where the best did: parameters within 1 % of their ranges, goals within 0.1 %."""
    best, count = attempts[0], 0
    for one in attempts:
        apart = max(abs(one.values[n] - best.values[n]) / (high - low) for n, (low, high) in bounds.items())
        close = abs(one.objective - best.objective) <= SAME_VALUE * abs(best.objective)
        count += bool(apart < SAME and close)
    return count
