"""Continuation: a task is changed into another one in small steps, so that the equilibrium stays on its branch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from pliant.base.spatial import exp_so3, log_so3
from pliant.rods import kernels
from pliant.rods.kernels import layout
from pliant.rods.statics import State, Statics, Task

# Most steps of Newton's method, most relative change of the rate of the unknowns, least part of the way.
MOST_STEPS, MOST_BEND, LEAST_STEP = 5, 0.7, 2e-5


def continue_to(robot: Statics, state: State, before: Task, after: Task, steps: int,
    models: Callable[[float], kernels.Model] | None = None,
) -> tuple[State | None, float]:  # fmt: skip
    """Move the target from one problem to another in steps that adapt; (state, 1) or (None, fraction).

    A step is kept if Newton's method needs few iterations and if the unknowns change about as they did in the step
    before, so that it does not jump to another branch.

    Args:
        models: the kernels' model by the fraction of the way, if it changes too.
    """
    p0, R0 = before.x[layout.POS_X :], before.x[: layout.POS_X].reshape(3, 3)
    p1, R1 = after.x[layout.POS_X :], after.x[: layout.POS_X].reshape(3, 3)
    turn = log_so3(R1 @ R0.T) if after.inverse else np.zeros(3)
    done, step = 0.0, 0.05
    fresh = False  # whether the robot's memory holds the derivatives at the state
    state = state.copy()
    unit = np.repeat(robot._model(steps).scale, 3)
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
        ok, out = robot._one(trial, problem, steps, limit=MOST_STEPS, model=model, fresh=fresh)
        fresh = False
        if ok:
            new = np.concatenate([(trial.W / unit).ravel(), trial.Q.ravel(), trial.X])
            change = (new - at) / (t - done)
            if rate is not None:
                ok = bool(np.abs(change - rate).max() < MOST_BEND * (np.abs(rate).max() + 0.1))
        if ok:
            state, done, at, rate, fresh = trial, t, new, change, True
            step = min(0.25, step * (2.0 if out[1] <= 3 else 1.0))
        else:
            step *= 0.5
            if step < LEAST_STEP:
                return None, done
    return state, 1.0


def routes(before: Task, after: Task) -> Iterator[tuple[str, list[Task]]]:
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
