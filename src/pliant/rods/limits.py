"""Joints of a solution beyond their limits, in words; the solver itself knows no limits."""

from __future__ import annotations

from pliant.rods.solution import Solution

__all__ = ["beyond_limits"]


def beyond_limits(solution: Solution) -> list[str]:
    """Return one clause for each actuated joint of a solution that is outside its limits."""
    d = solution.robot.description
    limits = [d.limbs[i].joints[j].limits for i, j in d.actuators]
    return [
        f"{d.limb_name(i)} at {q:.4g} is outside {limit[0]:g} to {limit[1]:g}"
        for (i, _), q, limit in zip(d.actuators, solution.q, limits)
        if limit is not None and not limit[0] - 1e-9 <= q <= limit[1] + 1e-9
    ]
