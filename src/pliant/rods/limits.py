"""Joints beyond their limits, in words; the solver itself knows no limits."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import DeviceError, ModelError
from pliant.rods.solution import Solution


def beyond_limits(solution: Solution) -> list[str]:
    """Return one clause for each actuated joint of a solution that is outside its limits."""
    d = solution.robot.description
    limits = [d.limbs[i].joints[j].limits for i, j in d.actuators]
    return [
        f"{d.limb_name(i)} at {q:.4g} is outside {limit[0]:g} to {limit[1]:g}"
        for (i, _), q, limit in zip(d.actuators, solution.q, limits)
        if limit is not None and not limit[0] - 1e-9 <= q <= limit[1] + 1e-9
    ]


def refuse_beyond(
    names: Iterable[str],
    limits: Iterable[tuple[float, float] | None],
    values: ArrayLike,
    error: type[DeviceError | ModelError],
) -> None:
    """Refuse joint values beyond limits, None where a joint has none; the error names the joint and its limits."""
    for name, limit, value in zip(names, limits, np.asarray(values, dtype=float), strict=True):
        if limit is not None and not limit[0] - 1e-9 <= value <= limit[1] + 1e-9:
            raise error(
                f"{name} would have to be at {value:g}; its limits are {limit[0]:g} and {limit[1]:g}", field=name
            )
