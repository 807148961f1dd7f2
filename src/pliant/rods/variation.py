"""An equilibrium followed to the robot with other numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from pliant.rods import kernels
from pliant.rods._build import build_model
from pliant.rods.continuation import continue_to
from pliant.rods.gradients import gradients, moved_along
from pliant.rods.no_equilibrium import no_equilibrium
from pliant.rods.parameters import parameter_value, with_values
from pliant.rods.solution import Solution
from pliant.rods.statics import SURE_STEPS

ANOTHER = "another robot"  # name of the start


def with_parameters(solution: Solution, values: Mapping[str, float]) -> Solution:
    """Return the equilibrium of the robot with other numbers: at the same pose, or the same joint values.

    The unknowns move along their gradients, and Newton's method does the rest; where that needs many steps, the numbers
    are changed little by little, so that the equilibrium stays on its branch.

    Args:
        solution: of the robot with its own numbers.
        values: new values by name, as in `pliant.rods.parameters.parameter_names`.

    Raises:
        ModelError: a name or a value is not valid.
        NoEquilibrium: the equilibrium ends before the values are reached.
    """
    robot, d, steps = solution.robot, solution.robot.description, solution.steps
    other = robot._with(with_values(d, values))
    task = dataclasses.replace(solution._task, q=solution.q, x=solution._state.X)
    before = {name: parameter_value(d, name) for name in values}
    state = moved_along(solution, gradients(solution, list(values)), [values[name] - before[name] for name in values])
    tries: list = []
    ok, _ = other._one(state, task, steps, limit=SURE_STEPS)
    found = other._checked(state, task, steps, tries, ANOTHER, solution.branch) if ok else None
    if found is None:

        def model(t: float) -> kernels.Model:
            return build_model(with_values(d, {n: before[n] + t * (v - before[n]) for n, v in values.items()}), steps)

        reached, fraction = continue_to(other, solution._state, task, task, steps, model)
        tries.append((f"change of parameters to {100.0 * fraction:.0f} %", solution._state, 1.0))
        if reached is not None:
            found = other._checked(reached, task, steps, tries, ANOTHER, solution.branch)
        if found is None:
            raise no_equilibrium(other, task, tries, steps)
    return found
