"""How much a robot carries while its actuators are locked: loads along one direction, up to the loss of stability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.rods.no_equilibrium import NoEquilibrium

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pliant.base.numerics import Array
    from pliant.rods.robot import ContinuumParallelRobot
    from pliant.rods.solution import Solution


def critical_load(
    robot: ContinuumParallelRobot, q: Array, direction: Sequence[float], low: float, high: float
) -> tuple[float, int]:
    """Return the load at which an equilibrium loses its stability, within 1e-5 of it, and the index beyond.

    Args:
        robot: the robot.
        q: joint values, shape (actuators,) [m or rad].
        direction: wrench of the unit load on the plate, dead, shape (6,).
        low: load under which the equilibrium is stable.
        high: load under which it is not.
    """
    unit = np.asarray(direction, dtype=float)
    start = robot.solve_dgm(q, low * unit)
    index = 0
    while high - low > 1e-5 * high:
        middle = 0.5 * (low + high)
        s = robot.solve_dgm(q, middle * unit, start=start, branch="smooth", restarts=0)
        if s.morse_index == 0:
            low = middle
        else:
            high, index = middle, s.morse_index
    return 0.5 * (low + high), index


def load_until_unstable(
    start: Solution, direction: Sequence[float], largest: float, *, step: float = 0.25
) -> tuple[Array, list[Solution]]:
    """Load a robot until no stable equilibrium is left; return the loads, from 0 on, and the equilibria.

    Args:
        start: stable equilibrium without a load, whose joint values are held.
        direction: wrench of the unit load on the plate, dead, shape (6,).
        largest: load at which the search ends.
        step: of the load; it is halved down to 1e-3 where there is no stable equilibrium.

    Example:
        >>> home = load_robot("Stewart_Gough_6PFR").home()
        >>> loads, equilibria = load_until_unstable(home, (0, 0, -1, 0, 0, 0), 40.0)  # newtons that the plate carries
    """
    unit, s, q = np.asarray(direction, dtype=float), start, start.q
    loads, found, load = [0.0], [start], 0.0
    while s.morse_index == 0 and step > 1e-3 and load < largest:
        try:
            trial = s.robot.solve_dgm(q, (load + step) * unit, start=s, branch="smooth", restarts=0)
        except NoEquilibrium:
            step *= 0.5
            continue
        if trial.morse_index:
            step *= 0.5
            continue
        s, load = trial, load + step
        loads.append(load)
        found.append(s)
    return np.array(loads), found
