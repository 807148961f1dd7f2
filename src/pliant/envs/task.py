"""A task: a robot, what is commanded, what is observed, what is rewarded, and when an episode ends.

Observations, rewards and endings are functions of a `World`. They see arrays with one row a world, so that one
function serves one robot and thousands of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.engine.base import PortInfo
from pliant.engine.distributions import Distribution
from pliant.errors import ModelError, PortError, nearest

if TYPE_CHECKING:
    from pliant.model import Robot

__all__ = ["Action", "Function", "Start", "Task", "World", "evaluate", "flags", "positions", "preset_actions"]


class World(Protocol):
    """What the functions of a task see: one row a world."""

    worlds: int
    """Number of worlds."""

    def port(self, name: str) -> NDArray[np.float64]:
        """Return a port of the engine, shape (worlds, ...), such as ``joint_1/position``; do not write into it.

        Raises:
            PortError: there is no such port; the message names the nearest.
        """
        ...

    @property
    def time(self) -> NDArray[np.float64]:
        """Time since the last reset of each world, shape (worlds,) [s]."""
        ...

    @property
    def action(self) -> NDArray[np.float64]:
        """The last action of each world, shape (worlds, actions), from -1 to 1; 0 after a reset."""
        ...


Function = Callable[[World], NDArray[Any]]
"""Of a world to an array of one row a world: shape (worlds,) or (worlds, n)."""
Start = Callable[[np.random.Generator, int], Mapping[str, Any]]
"""Of a random generator and a number of worlds to start positions: joint name -> a number, or one for each world."""


@dataclass(frozen=True, slots=True)
class Action:
    """One number of an action: -1 to 1 becomes ``low`` to ``high`` at a port."""

    port: str
    """The port that is written: ``<joint>/reference_1``, ``<joint>/reference_2`` or ``<actuator>/control``."""
    low: float = -1.0
    """Value of the port at -1, in its unit."""
    high: float = 1.0
    """Value of the port at 1, in its unit; may be less than ``low``."""

    def __post_init__(self) -> None:
        for name, value in (("low", self.low), ("high", self.high)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ModelError(f"Action {self.port!r}: {name} is {value!r}; must be a finite number", field=name)


def preset_actions(joints: Sequence[str], preset: float | None, limits: tuple[float, float]) -> list[Action]:
    """Return the actions that command the stiffness presets of joints.

    Args:
        joints: the joints.
        preset: one preset for the whole episode [rad]; None lets the actions change it.
        limits: least and largest preset [rad].

    Raises:
        ModelError: a preset beyond the limits.
    """
    low, high = limits
    if preset is not None:
        if not low <= preset <= high:
            raise ModelError(f"preset is {preset!r}; must be {low:g} to {high:g} rad", field="preset")
        low = high = float(preset)
    return [Action(f"{joint}/reference_2", low, high) for joint in joints]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is learned with a robot.

    Raises:
        ModelError: no action, a period or a duration that is not positive, a function that is none.
    """

    robot: Callable[[], Robot]
    """Makes the robot, with the objects of the task."""
    actions: Sequence[Action]
    """What an action commands; 1 or more."""
    observation: Mapping[str, Function]
    """Name -> function; the results are joined in this order."""
    reward: Mapping[str, Function]
    """Name -> function of shape (worlds,); the reward is their sum, and infos have each."""
    terminated: Mapping[str, Function] = field(default_factory=dict)
    """Reason -> function of shape (worlds,): where it is true, the episode ends with this reason."""
    period: float = 0.02
    """Time between two actions [s]; rounded to a whole number of steps, 1 or more."""
    duration: float = 10.0
    """Time after which an episode is truncated [s]."""
    start: Start | None = None
    """Start positions of an episode; joints that it does not name start as the robot does."""
    key: str | None = None
    """Key frame of the model whose positions an episode starts from; None takes the robot's own pose."""
    randomize: Mapping[str, Distribution] = field(default_factory=dict)
    """Path of a parameter -> distribution from which each world draws it; paths as in `RobotBatch.set_parameters`."""
    diverged_reward: float = 0.0
    """Reward of the step in which a world diverges."""
    camera: str | None = None
    """Camera for pictures; None takes the first of the model, or one that looks at the whole of it."""

    def __post_init__(self) -> None:
        if not self.actions or not all(isinstance(a, Action) for a in self.actions):
            raise ModelError("actions must be one or more Action(port, low, high)", field="actions")
        if not self.observation or not self.reward:
            empty = "observation" if not self.observation else "reward"
            raise ModelError(f"{empty} is empty; must name one function or more", field=empty)
        for name in ("observation", "reward", "terminated"):
            for key, function in getattr(self, name).items():
                if not callable(function):
                    raise ModelError(f"{name} {key!r} is {function!r}; must be a function of a World", field=name)
        for name in ("period", "duration"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < math.inf:
                raise ModelError(f"{name} is {value!r}; must be a time above 0 s", field=name)
        if not math.isfinite(self.diverged_reward):
            raise ModelError(
                f"diverged_reward is {self.diverged_reward!r}; must be a finite number", field="diverged_reward"
            )
        if not callable(self.robot):
            raise ModelError(f"robot is {self.robot!r}; must be a function that returns a Robot", field="robot")

    def replace(self, **changes: Any) -> Task:
        """Return this task with other fields."""
        return replace(self, **changes)

    def frames(self, dt: float) -> int:
        """Return the steps of the engine in one period."""
        return max(1, round(self.period / dt))

    def limit(self, dt: float) -> int:
        """Return the actions of a full episode."""
        return max(1, math.ceil(self.duration / (self.frames(dt) * dt) - 1e-9))

    def check_ports(self, ports: Mapping[str, PortInfo]) -> None:
        """Refuse actions whose port does not exist, is a result, or is not one number.

        Raises:
            PortError: such an action, or two on one port.
        """
        seen: set[str] = set()
        for action in self.actions:
            info = ports.get(action.port)
            if info is None:
                writable = [name for name, port in ports.items() if port.writable and port.shape == (1,)]
                raise PortError(
                    f"the action has no port {action.port!r}; {nearest(action.port, writable)}", field="actions"
                )
            if not info.writable or info.shape != (1,):
                why = f"has shape {info.shape}" if info.writable else "is a result"
                raise PortError(
                    f"the port {action.port!r} {why}; an action must write one number, such as a reference or a "
                    "control",
                    field="actions",
                )
            if action.port in seen:
                raise PortError(f"two actions write {action.port!r}; every port must differ", field="actions")
            seen.add(action.port)


def evaluate(kind: str, functions: Mapping[str, Function], world: World) -> list[NDArray[np.float64]]:
    """Return what functions give, one array (worlds, n) each.

    Raises:
        ModelError: a result that has not one row a world.
    """
    found = []
    for name, function in functions.items():
        value = np.asarray(function(world), dtype=float)
        if value.ndim not in (1, 2) or value.shape[0] != world.worlds:
            raise ModelError(
                f"{kind} {name!r} returned shape {value.shape}; must be ({world.worlds},) or ({world.worlds}, n)",
                field=name,
            )
        found.append(value if value.ndim == 2 else value[:, None])
    return found


def flags(functions: Mapping[str, Function], world: World) -> list[NDArray[np.bool_]]:
    """Return in which worlds each ending holds.

    Raises:
        ModelError: a result of another shape than (worlds,).
    """
    found = []
    for name, function in functions.items():
        value = np.asarray(function(world), dtype=bool)
        if value.shape != (world.worlds,):
            raise ModelError(f"terminated {name!r} returned shape {value.shape}; must be ({world.worlds},)", field=name)
        found.append(value)
    return found


def positions(task: Task, rng: np.random.Generator, worlds: int) -> dict[str, NDArray[np.float64]]:
    """Draw start positions for every world, so that those of one do not depend on which others start with it."""
    if task.start is None:
        return {}
    drawn = {}
    for joint, values in task.start(rng, worlds).items():
        array = np.asarray(values, dtype=float)
        if array.shape not in ((), (worlds,)):
            raise ModelError(
                f"start: {joint!r} has shape {array.shape}; must be a number or ({worlds},)", field="start"
            )
        drawn[joint] = np.broadcast_to(array, (worlds,))
    return drawn
