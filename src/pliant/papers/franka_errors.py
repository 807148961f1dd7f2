"""Every error of a Franka arm that a client or a guiding hand can raise, provoked through the robot's interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.panels import Line, Panel, draw

if TYPE_CHECKING:
    from pliant.papers.arms.fci_recipes import Outcome

PAPER = "Franka Robotics: libfranka (franka/errors.h, franka/robot_state.h) and the documentation of the interface"
QUICK = (
    "joint_reflex",
    "max_path_pose_deviation_violation",
    "communication_constraints_violation",
    "power_limit_violation",
    "cartesian_motion_generator_elbow_sign_inconsistent",
)
"""Recipes of the quick version."""


def _count(outcomes: Sequence[Outcome], name: str, found: int, source: str) -> Target:
    """Return the target that none of the outcomes is an exception."""
    return Target(name, len(outcomes) - found, equals=0, source=source)


def reflex_statement(outcomes: Sequence[Outcome]) -> Statement:
    """Judge what an error does to the motion and to the robot."""
    moved = [outcome for outcome in outcomes if outcome.recipe.command is not None]
    ended = sum(outcome.ended in ("reflex", "input_error") for outcome in moved)
    held = [outcome for outcome in outcomes if outcome.mode == "reflex" and outcome.refused and outcome.standing]
    source = "robot_state.h: kReflex; ControlException"
    return Statement(
        what="An error ends the motion with a control exception, and the robot is in its reflex mode.",
        where="documentation of the control interface, section Errors; libfranka's robot_state.h and exception.h",
        targets=[
            _count(moved, "motions that their error did not end", ended, source),
            _count(outcomes, "robots that are not in reflex mode, move, or take a motion", len(held), source),
        ],
        found=f"{ended} of {len(moved)} motions were ended by their error, and {len(held)} of {len(outcomes)} robots "
        "came to rest in reflex mode and refused the next motion.",
        rests_on="Thresholds that the vendor does not publish, such as the power limit, are assumed.",
    )


def recovery_statement(outcomes: Sequence[Outcome]) -> Statement:
    """Judge the recovery."""
    back = sum(outcome.recovery == "success" and outcome.recovered for outcome in outcomes)
    free = [outcome for outcome in outcomes if not outcome.recipe.stays]
    moves = sum(outcome.moves for outcome in free)
    stays = [outcome.recipe.error for outcome in outcomes if outcome.recipe.stays]
    return Statement(
        what="Automatic error recovery clears the errors, and the robot moves again.",
        where="documentation of the control interface, section Errors; libfranka's robot.h",
        targets=[
            _count(outcomes, "robots that the recovery did not make idle without errors", back, "robot.h"),
            _count(free, "robots that took no motion afterwards", moves, "robot.h"),
        ],
        found=f"{back} of {len(outcomes)} robots were idle without errors after it, and {moves} of {len(free)} took a "
        "motion."
        + (f" Where the cause remains ({', '.join(stays)}), a hand must guide the arm out first." if stays else ""),
        rests_on="The duration of a recovery is assumed.",
    )


def checks(outcomes: Sequence[Outcome]) -> list[Target]:
    """Return the checks of the recipes."""
    raised = sum(outcome.raised for outcome in outcomes)
    targets = [_count(outcomes, "recipes that do not raise their own error", raised, "ours: else the recipe is wrong")]
    # the first command of a motion may come later than the first state
    at_once = [outcome.cycles for outcome in outcomes if outcome.recipe.at_once and outcome.recipe.wrong > 0]
    if at_once:
        targets.append(
            Target("largest time from an inadmissible command to its error", max(at_once), equals=1, unit="ms",
                   source="the interface checks each command in its cycle")
        )  # fmt: skip
    return targets


def _figure(outcomes: Sequence[Outcome]) -> Figure:
    """Return how the arms that move when the error is raised come to rest."""
    fast = [outcome for outcome in outcomes if outcome.speeds[0] > 0.1 and not outcome.recipe.at_once]
    items = [Line(np.arange(len(o.speeds)), o.speeds, label=o.recipe.error, color=i) for i, o in enumerate(fast)]
    panel = Panel(items, "time since the error [ms]", "largest joint speed [rad/s]", xlim=(0.0, 400.0))
    return draw(
        "rest",
        "How arms that move when their error is raised come to rest.",
        [panel],
        legend=0,
        legend_options={"ncols": 2, "fontsize": 7},
        height=4.6,
    )


def missing_recipes() -> Target:
    """Return the check that each error that can be raised has a recipe."""
    from pliant.franka.device.settings import CHECKS  # not above: `pliant list` imports this module
    from pliant.papers.arms.fci_recipes import RECIPES

    missing = CHECKS - {recipe.error for recipe in RECIPES}
    return Target("errors that can be raised and have no recipe", len(missing), equals=0, source="ours: all have one")


@experiment(
    "franka-errors",
    title="Every error as a recipe",
    paper=PAPER,
    section="Errors",
    films="no scene: states of the interface",
)
def franka_errors(context: Context) -> Result:
    """Provoke each error that a client or a guiding hand can raise through the interface, and recover from it."""
    from pliant.franka.device.settings import CHECKS, ERROR_ORIGINS
    from pliant.papers.arms.fci_recipes import RECIPES, provoke

    recipes = [recipe for recipe in RECIPES if not context.quick or recipe.error in QUICK]
    outcomes = [provoke(recipe) for recipe in context.track(recipes, lambda recipe: recipe.error)]
    rows = [
        {
            "error": outcome.recipe.error,
            "provoked by a client that": outcome.recipe.does,
            "raised": ", ".join(outcome.errors),
            "after [ms]": outcome.cycles,
            "motion ended with": outcome.ended,
            "mode": outcome.mode,
            "automatic recovery": outcome.recovery,
            "within [ms]": outcome.recovery_ms,
            "then takes a motion": "yes" if outcome.moves else "no",
        }
        for outcome in outcomes
    ]
    others: dict[str, list[str]] = {}
    for name, origin in ERROR_ORIGINS.items():
        if name not in CHECKS:
            others.setdefault(origin, []).append(name)
    return Result(
        statements=[reflex_statement(outcomes), recovery_statement(outcomes)],
        targets=[*checks(outcomes), missing_recipes()],
        tables=[
            Table.of(
                "Errors",
                rows,
                "after: from the inadmissible command where one command is inadmissible, else from the first command "
                "or the press of the guiding button. A FER without friction.",
            )
        ],
        figures=[_figure(outcomes)],
        summary=f"{sum(o.raised for o in outcomes)} of {len(outcomes)} recipes raise their error.",
        notes=[
            f"Errors of the robot's {origin} are not raised: {', '.join(names)}."
            if origin == "desk"
            else f"Errors that are {origin}: {', '.join(names)}."
            for origin, names in others.items()
        ],
        assumptions=["Thresholds, margins and times that the vendor does not publish; see the cabinet's settings."],
    )
