"""Error of a task without an equilibrium."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.base.errors import PliantError
from pliant.rods._build import unflatten
from pliant.rods.cold_start import guess
from pliant.rods.failure import Reach, free_motion
from pliant.rods.kernels import layout
from pliant.rods.statics import Statics, Task

COARSE = ", which solves a coarse integration of the rods only"  # behind the name of a start
STRETCH = 1e-3  # beyond which a rod is called too short once no start has converged


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


def no_equilibrium(robot: Statics, problem: Task, tries: list, steps: int, head: str | None = None) -> NoEquilibrium:
    """Return the error of a task that no start solved, with the reasons that can be named.

    Args:
        tries: (name, state, residual) of each start.
        head: begin of the message, in place of the robot and the kind of task.
    """
    d = robot.description
    real = [t for t in tries if np.isfinite(t[2])]
    name, state, worst = min(real, key=lambda t: t[2]) if real else ("none", guess(robot, problem), np.inf)
    limb = "plate"
    if real:
        _, _out = robot._one(state.copy(), problem, steps, limit=layout.LINEARISE_ONLY)
        rows = np.abs(robot._wk.r).max(axis=1)
        limb = "plate" if np.abs(robot._wk.b).max() > rows.max() else d.limb_name(int(np.argmax(rows)))
    X = unflatten(problem.x if problem.inverse else state.X)
    within = Reach(d, STRETCH)
    reach, short = (within.missing(X), within.reason(X)) if problem.inverse else (None, None)
    reasons = [] if short is None else [short]
    held = problem.inverse and bool(problem.controlled[: robot._npl].all())
    freely = free_motion(d, X, problem.wrench, held=held, follower=problem.follower)
    if freely is not None:
        reasons.append(freely)
    starts = [t[0] for t in tries]
    ends = [t for t in starts if t.startswith("continuation")]
    if not reasons and any(t.endswith(COARSE) for t in starts):
        reasons.append("what was found is no equilibrium any more when the rods are integrated in more steps")
    if not reasons and ends:
        reasons.append(f"the {ends[-1]} ends before it (a rod or the robot gives way there)")
    who = head or f"{robot.name}: no equilibrium for the {'pose' if problem.inverse else 'joint values'}"
    message = f"{who}: {'; '.join(reasons) or 'none of the starts converges'}"
    if starts:
        restarts = [t for t in starts if t.startswith("random restart")]
        tried = [t for t in starts if t not in restarts]
        if restarts:
            tried.append(f"{len(restarts)} random restart{'s' if len(restarts) > 1 else ''}")
        message += f". Smallest scaled residual {worst:.2g} by {name}, worst at {limb}; tried: {', '.join(tried)}"
    return NoEquilibrium(message, residual=worst, limb=reach[0] if reach else limb, reach=reach, starts=starts)
