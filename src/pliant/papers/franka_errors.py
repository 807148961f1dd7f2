"""Every error of a Franka arm that a client or a guiding hand can raise, provoked through the robot's interface."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import BridgeError
from pliant.base.numerics import Array
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.panels import Line, Panel, draw
from pliant.franka.device.settings import CHECKS, ERROR_ORIGINS
from pliant.franka.wire import fci
from pliant.papers.arms.fci_client import PATIENCE_S, FciClient
from pliant.papers.arms.franka_server import build_arm
from pliant.simulation import Simulation

if TYPE_CHECKING:
    from pliant.papers.arms.fci_recipes import Recipe

__all__ = ["Outcome", "provoke", "serving"]

PAPER = "Franka Robotics: libfranka (franka/errors.h, franka/robot_state.h) and the documentation of the interface"
SILENCE_S = 0.005
"""How long the arm waits for a command of a client that falls silent [s]; else nothing is lost, whatever the load."""
LONGEST = 4000
"""Cycles after which a recipe has failed."""
SETTLING = 200
"""Cycles within which the estimates of external torques follow a load that was announced."""
REST = 1e-3
"""Joint speed below which an arm stands still [rad/s]: ours."""
QUICK = (
    "joint_reflex",
    "max_path_pose_deviation_violation",
    "communication_constraints_violation",
    "power_limit_violation",
    "cartesian_motion_generator_elbow_sign_inconsistent",
)
"""Recipes of the quick version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a recipe led to."""

    recipe: Recipe
    """The recipe."""
    errors: tuple[str, ...]
    """Errors of the first state that has any."""
    cycles: int
    """Cycles from the first command, or from the inadmissible one, to that state [ms]; of a guided arm from the press
    of the button."""
    ended: str
    """How the motion was answered."""
    mode: str
    """Mode of the robot with the error."""
    refused: bool
    """Whether the arm refuses a motion then."""
    speeds: Array
    """Largest joint speed in each cycle from the error until the arm stands [rad/s]."""
    recovery: str
    """How automatic error recovery was answered."""
    recovered: bool
    """Whether the robot was idle without errors afterwards."""
    moves: bool
    """Whether it took a motion afterwards."""
    recovery_ms: int
    """How long the recovery took [ms]."""

    @property
    def standing(self) -> bool:
        """Whether it came to rest."""
        return bool(self.speeds[-1] <= REST)

    @property
    def raised(self) -> bool:
        """Whether the recipe raised its error."""
        return self.recipe.error in self.errors


@contextlib.contextmanager
def serving(recipe: Recipe) -> Iterator[tuple[FciClient, Simulation]]:
    """Yield a client of an arm that this process serves, at the start of a recipe, and the simulation."""
    from pliant.franka.bridge import FciBridge, FciOptions
    from pliant.franka.robots.build import MOTOR_INERTIA

    robot = build_arm(friction=False, motor_inertia=MOTOR_INERTIA, q=recipe.q, height=recipe.height)
    bridge = FciBridge(
        FciOptions(
            port=0,
            gripper_port=0,
            mode="lockstep",
            system_version="any",
            command_timeout=SILENCE_S if recipe.silent else PATIENCE_S,
        )
    )
    with Simulation(MujocoEngine(robot, guard=False), make_devices(robot), [bridge]) as simulation:
        simulation.start()
        loop = threading.Thread(target=simulation.run, name="pliant-errors", daemon=True)
        loop.start()
        try:
            arm = bridge.arms[0]
            with FciClient(arm.host, arm.port) as client:
                yield client, simulation
        finally:
            simulation.stop()
            loop.join(PATIENCE_S)


def provoke(recipe: Recipe) -> Outcome:
    """Follow a recipe until its error, and recover from it.

    Raises:
        BridgeError: the arm refuses what comes before the motion.
    """
    with serving(recipe) as (client, simulation):
        for request in recipe.before:
            if (status := client.ask(request)) != "success":
                raise BridgeError(f"{type(request).__name__} was refused: {status}", field="before")
        for _ in range(SETTLING if len(recipe.before) > 1 else 0):
            client.state()
        if recipe.command is None:
            state, cycles, ended = _guided(client, simulation)
        else:
            state, cycles, ended = _moved(client, recipe)
        errors, mode = tuple(state.error_names()), fci.RobotMode(state.robot_mode).name.lower()
        hold = fci.Move(controller=fci.Controller.JOINT_IMPEDANCE, motion_generator=fci.MotionGenerator.JOINT_VELOCITY)
        refused = client.ask(hold) == "not_possible"
        speeds = [float(np.abs(state.dq).max())]
        while speeds[-1] > REST and len(speeds) < LONGEST and errors:
            speeds.append(float(np.abs(client.state().dq).max()))
        for request in recipe.cure:
            client.ask(request)
        recovery = client.ask(fci.AutomaticErrorRecovery())
        lasted, waited = 0, 0
        state = client.state()  # the states of the recovery wait in the socket
        while state.robot_mode != fci.RobotMode.IDLE and waited < LONGEST:
            lasted += state.robot_mode == fci.RobotMode.AUTOMATIC_ERROR_RECOVERY
            state, waited = client.state(), waited + 1
        recovered = state.robot_mode == fci.RobotMode.IDLE and not state.error_names()
        moves = recovered and _takes_a_motion(client, hold)
    return Outcome(
        recipe=recipe,
        errors=errors,
        cycles=cycles,
        ended=ended,
        mode=mode,
        refused=refused,
        speeds=np.array(speeds),
        recovery=recovery,
        recovered=recovered,
        moves=moves,
        recovery_ms=lasted,
    )


def _moved(client: FciClient, recipe: Recipe) -> tuple[fci.RobotState, int, str]:
    """Start the motion of a recipe and send its commands; return the first state with an error, cycles and answer."""
    assert recipe.command is not None
    number, state = client.begin(
        fci.Move(
            controller=recipe.controller,
            motion_generator=recipe.generator,
            maximum_path_deviation=recipe.path,
            maximum_goal_deviation=recipe.goal,
        )
    )
    first, k = state, 0
    while not state.error_names() and state.robot_mode == fci.RobotMode.MOVE and k < LONGEST:
        given = recipe.command(k, first, state)
        if given is not None:
            client.command(state, **given)
        state, k = client.state(), k + 1
    if not state.error_names() and k == LONGEST:
        client.ask(fci.StopMove())
    return state, state.message_id - first.message_id - (recipe.wrong if recipe.at_once else 0), client.answer(number)


def _takes_a_motion(client: FciClient, move: fci.Move) -> bool:
    """Return whether the arm takes a motion with velocities of zero, and ends it well."""
    try:
        number, state = client.begin(move)
    except BridgeError:  # it is in its reflex mode again
        return False
    if state.error_names():
        return False
    client.command(state, dq=np.zeros(7), finish=True)
    return client.answer(number) == "success"


def _guided(client: FciClient, simulation: Simulation) -> tuple[fci.RobotState, int, str]:
    """Press the guiding button until the arm has an error."""
    simulation.request("franka", "guide").result(PATIENCE_S)
    cycles, k = 0, 0
    state = client.state()
    while not state.error_names() and k < LONGEST:
        cycles += state.robot_mode == fci.RobotMode.GUIDING
        state, k = client.state(), k + 1
    simulation.request("franka", "guide", pressed=False).result(PATIENCE_S)
    return state, cycles, "no motion"


# --------------------------------------------------------------------------------------------------------- statements


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
            Target(
                "largest time from an inadmissible command to its error",
                max(at_once),
                equals=1,
                unit="ms",
                source="the interface checks each command in its cycle",
            )
        )
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
    from pliant.papers.arms.fci_recipes import RECIPES  # not above: `pliant list` imports this module

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
    from pliant.papers.arms.fci_recipes import RECIPES

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
