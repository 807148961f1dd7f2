"""Broken causes for the experiments on parallel robots."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pliant.rods import ContinuumParallelRobot, Round, Solution
from pliant.rods.cold_start import curved_nodes, disturbance, guess, is_proper, lifted_newton
from pliant.rods.robot import build_model
from pliant.rods.statics import Task

__all__ = ["loose_solver", "offset_joints", "section", "unstable", "weight"]


def loose_solver(patch: pytest.MonkeyPatch) -> None:
    """Let the solver stop at a residual of 0.01, and confirm what it finds."""
    for module in ("robot", "cold_start"):
        patch.setattr(f"pliant.rods.{module}.TOLERANCE", 1e-2)
    patch.setattr(ContinuumParallelRobot, "_refined_residual", lambda self, states, *_: np.zeros(len(states.X)))


def offset_joints(patch: pytest.MonkeyPatch) -> None:
    """Let the direct model take joint values that are 1 mm (1 mrad) off."""
    original = ContinuumParallelRobot.checked_joints
    patch.setattr(ContinuumParallelRobot, "checked_joints", lambda self, q: original(self, q) + 1e-3)


def section(**factors: float) -> Callable[[pytest.MonkeyPatch], None]:
    """Multiply stiffnesses of round sections: bending, bending_2 (about one axis only), torsion."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        original = Round.values

        def values(self: Round, s: float, E: float, G: float, density: float) -> Any:
            v = original(self, s, E, G, density)
            k = factors.get("bending", 1.0)
            return dataclasses.replace(
                v,
                bending=(k * v.bending[0], k * factors.get("bending_2", 1.0) * v.bending[1]),
                torsion=factors.get("torsion", 1.0) * v.torsion,
            )

        monkeypatch.setattr(Round, "values", values)

    return patch


def weight(factor: float) -> Callable[[pytest.MonkeyPatch], None]:
    """Let the solver weigh the plate wrongly."""

    def wrong(*arguments: Any) -> Any:
        md = build_model(*arguments)
        md.weight[:] *= factor
        return md

    return lambda patch: patch.setattr("pliant.rods.robot.build_model", wrong)


def unstable(robot: ContinuumParallelRobot, pose: Any, tries: int = 400) -> Solution:
    """Return an unstable equilibrium at a pose, from random shapes."""
    rng = np.random.default_rng(1)
    x = robot._pose(pose)
    task = Task(
        True, np.zeros(robot.actuator_count), x, robot._controlled(None), np.zeros(6), False, robot._tolerance(None)
    )
    for _ in range(tries):
        state = guess(robot, task)
        if robot.description.limbs[0].joints[0].kind == "revolute":
            state.Q[:] += rng.uniform(-2.0, 2.0) + rng.uniform(-1.5, 1.5, state.Q.shape)
        change = disturbance(rng, len(state.Q), rng.uniform(0.1, 0.8))
        ok, worst, count = lifted_newton(robot, [state], task, 4, list(curved_nodes(robot, [state], [change])))[0]
        if ok and is_proper(robot, state):
            found = robot._finish(state, task, 4, np.array([worst, count, 0.0, 0.0]), [], "")
            if found is not None and found.morse_index:
                return found
    raise AssertionError(f"{robot.name}: no unstable equilibrium found")
