"""Random problems of planar and spatial robots, and the branch from home in small steps as a reference.

Run `python tests/helpers/branch_problems.py 500` for the full set; the tests take a sample.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import PliantError
from pliant.base.spatial import exp_so3
from pliant.rods import ContinuumParallelRobot, catalogue, load_robot
from pliant.rods._build import bending_unit, flatten
from pliant.rods.branches import distance
from pliant.rods.statics import State, Task

STEPS = 300  # of the reference
FINEST = 1.0 / (STEPS * 1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchProblem:
    """One task of one robot: a pose, or joint values, under a load."""

    robot: ContinuumParallelRobot
    inverse: bool
    pose: np.ndarray
    q: np.ndarray
    wrench: np.ndarray


def refined_residual(solution, steps: int) -> float:
    """Return the residual of an equilibrium with another number of integration steps."""
    state = State(*(each[None] for each in solution._state))
    return float(solution.robot._refined_residual(state, solution.wrench[None], solution.follower, steps)[0])


def problems(count: int, seed: int = 0):
    """Yield random tasks within about a quarter of a rod's length, half a radian and half the buckling load."""
    rng = np.random.default_rng(seed)
    robots = {name: load_robot(name) for name in catalogue()}
    for k in range(count):
        robot = robots[catalogue()[k % len(robots)]]
        home = robot.home()
        length, moment = bending_unit(robot.description.limbs)
        size = rng.uniform(0.05, 0.25)
        inverse = bool(rng.random() < 0.6)
        load = rng.normal(size=6) * moment * np.array([*[1.0 / length] * 3, *[0.3] * 3]) * rng.choice([0.0, 0.5, 2.0])
        X, q = home.plate_pose, home.q.copy()
        if len(robot.description.limbs) < 3:
            load[3:] = 0.0  # two limbs on one pin carry no moment
        if robot.planar:
            load[2:5] = 0.0
            X[:2, 3] += rng.uniform(-size, size, 2) * length
            X[:3, :3] = exp_so3([0.0, 0.0, rng.uniform(-2.0, 2.0) * size]) @ X[:3, :3]
        else:
            X[:3, 3] += rng.uniform(-size, size, 3) * length
            X[:3, :3] = exp_so3(rng.uniform(-2.0, 2.0, 3) * size) @ X[:3, :3]
        for a, (i, j) in enumerate(robot.description.actuators):
            turning = robot.description.limbs[i].joints[j].kind == "revolute"
            q[a] += rng.uniform(-1.0, 1.0) * size * (2.0 if turning else length)
        yield BranchProblem(robot=robot, inverse=inverse, pose=X, q=q, wrench=load)


def solve(problem: BranchProblem, **options):
    """Solve a problem as a user does."""
    robot = problem.robot
    if problem.inverse:
        return robot.solve_igm(problem.pose, problem.wrench, **options)
    return robot.solve_dgm(problem.q, problem.wrench, **options)


def tasks(problem: BranchProblem, steps: int):
    """Return the home state, and a function that gives the task at a fraction of the straight way from home."""
    robot, home = problem.robot, problem.robot.home()
    start = home.plate_pose
    mask = robot._controlled(None) if problem.inverse else np.zeros(6, bool)
    from pliant.base.spatial import log_so3

    turn = log_so3(problem.pose[:3, :3] @ start[:3, :3].T)

    def at(t: float) -> Task:
        X = problem.pose.copy()
        X[:3, 3] = start[:3, 3] + t * (problem.pose[:3, 3] - start[:3, 3])
        X[:3, :3] = exp_so3(t * turn) @ start[:3, :3]
        q = home.q + t * (problem.q - home.q)
        return Task(problem.inverse, q, flatten(X), mask, t * problem.wrench, False, 1e-6)

    return State(*(a.copy() for a in home._state)), at


def continued(problem: BranchProblem, at, state: State, begin: float = 0.0, end: float = 1.0, steps: int = 8):
    """Continue from one fraction of the way to another in small steps; return (state or None, fraction reached).

    A step counts if Newton's method needs three steps at most, and if the unknowns go on about as they came: the change
    may differ from the one before it, per length of the way, by half of it. Else the step is shortened.
    """
    robot, count = problem.robot, 0
    t, h = begin, np.sign(end - begin) / STEPS
    rate = None
    while t != end:
        count += 1
        if count > 20 * STEPS:
            return None, t
        then = t + h
        if (then - end) * h >= 0.0 or abs(then - end) < FINEST:
            then = end
        trial = state.copy()
        ok, out = robot._one(trial, at(then), steps, limit=8)
        if ok and out[1] <= 3:
            md = robot._model(steps)
            new = np.concatenate(
                [((trial.W - state.W) / np.repeat(md.scale, 3)).ravel(), (trial.Q - state.Q).ravel(), trial.X - state.X]
            ) / abs(then - t)
            bend = 0.0 if rate is None else np.abs(new - rate).max() / (np.abs(rate).max() + 0.1)
            if bend < 0.5 or abs(then - t) <= 8.0 * FINEST:
                state, t, rate = trial, then, new
                h = np.sign(h) * min(1.0 / STEPS, abs(h) * 1.6)
                continue
        h *= 0.5
        if abs(h) < FINEST:
            return None, t
    return state, t


def within_limits(robot: ContinuumParallelRobot, state: State) -> bool:
    """Whether the joints of a state are within their limits; a pose that needs more is refused as out of reach."""
    joints = [(state.Q[i, j], robot.description.limbs[i].joints[j].limits) for i, j in robot.description.actuators]
    return all(limits is None or limits[0] <= q <= limits[1] for q, limits in joints)


def judge(problem: BranchProblem) -> tuple[str, str]:
    """Solve by default and compare with the reference; return a verdict in one word, and details."""
    robot = problem.robot
    try:
        found = solve(problem)
    except PliantError as error:
        found, reason = None, str(error)
    start, at = tasks(problem, 8)
    reference, fraction = continued(problem, at, start)
    if found is None:
        if reference is not None and not within_limits(robot, reference):
            return "limits", reason[:100]
        return ("none" if reference is None else "LOST"), reason[:100]
    state = State(*found._state)
    if reference is None:
        verdict = "ended" if found.branch == "other" else "detour"
        return verdict, f"{fraction:.3f} {found.branch} {found.morse_index} {found.note} {found.starts}"
    if distance(robot, state, reference) < 1e-4:
        if found.branch != "home":
            return "MISNAMED", found.branch
        return ("home" if found.morse_index == 0 else "unstable"), f"index {found.morse_index}: {found.note}"
    if found.branch == "neighbour" and found.morse_index == 0:
        return "neighbour", ""
    return "OTHER", f"{fraction:.3f} {found.branch} {found.morse_index} {found.note} {found.starts}"


def connected_stable(problem: BranchProblem, starts: int = 40):
    """Of an unstable default, return a stable equilibrium that the straight way connects with home, or None."""
    robot = problem.robot
    arguments = {"pose": problem.pose} if problem.inverse else {"q": problem.q}
    start, at = tasks(problem, 8)
    for one in robot.equilibria(wrench=problem.wrench, starts=starts, **arguments):
        if one.index:
            continue
        state = State(*(a.copy() for a in one.solution._state))
        back, _ = continued(problem, at, state, 1.0, 0.0)
        if back is not None and distance(robot, back, start) < 1e-4:
            return one
    return None


def main(count: int, seed: int) -> None:
    verdicts: Counter = Counter()
    began = time.perf_counter()
    for k, problem in enumerate(problems(count, seed)):
        verdict, details = judge(problem)
        if verdict == "unstable" and connected_stable(problem) is not None:
            verdict = "MISSED"
        verdicts[verdict] += 1
        if verdict not in ("home", "neighbour"):
            kind = "IGM" if problem.inverse else "DGM"
            print(f"{k:4d} {problem.robot.name:<24} {kind} {verdict:<9} {details}", flush=True)
    print(dict(verdicts), f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
