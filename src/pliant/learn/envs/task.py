"""Tasks for reinforcement learning: robot, actions, observations, rewards and ends of episodes.

Observations, rewards and terminations are functions of a `World`. They use arrays with one row for each world, so the
same function works for one robot and for thousands of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import ModelError, PliantError, nearest
from pliant.base.numerics import is_finite_number, is_number
from pliant.batch.distributions import Distribution
from pliant.engine.base import PortInfo
from pliant.simulation.channels import Channel, find_channels

if TYPE_CHECKING:
    from pliant.devices.base import DeviceBase
    from pliant.model import Robot


class World(Protocol):
    """Argument of the functions of a task; all arrays have one row for each world."""

    worlds: int
    """Number of worlds."""

    def port(self, name: str) -> NDArray[np.float64]:
        """Return the values of an engine port such as ``joint_1/position``, shape (worlds, ...), in its unit.

        The array cannot be modified; it changes with the next step.

        Raises:
            PortError: the port does not exist. The message suggests the nearest name.
        """
        ...

    def ports(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return the values of several ports side by side, shape (worlds, sum of n); faster than one after another.

        Raises:
            PortError: a port does not exist. The message suggests the nearest name.
        """
        ...

    @property
    def time(self) -> NDArray[np.float64]:
        """Time since the last reset of each world [s], shape (worlds,)."""
        ...

    @property
    def action(self) -> NDArray[np.float64]:
        """Last action of each world, from -1 to 1, shape (worlds, actions); 0 after a reset."""
        ...


Function = Callable[[World], NDArray[Any]]
"""Function of a `World` that returns an array of shape (worlds,) or (worlds, n)."""
Curriculum = Callable[[int], Mapping[str, Distribution]]
"""Function of the number of episodes that have ended that returns the distributions of the next ones."""
Start = Callable[[np.random.Generator, int], Mapping[str, ArrayLike]]
"""Function of a random generator and a number of worlds that returns start positions: joint name -> a number, or one
for each world [rad or m]."""


@dataclass(frozen=True, slots=True)
class Action:
    """One element of an action, mapped from -1 to 1 to ``low`` to ``high`` of a command.

    The same command is given in a batch, to the devices of a simulation, and to the robot by `pliant policy run`.
    """

    command: str
    """Command of a device, ``<device>/<field>`` or ``<device>/<field>[<i>]``: a reference, a stiffness, a velocity, a
    pose, a torque; or a port that it stands for: ``<joint>/reference_1``, ``<actuator>/control``."""
    low: float = -1.0
    """Value of the command for -1, in its unit."""
    high: float = 1.0
    """Value of the command for 1, in its unit; may be less than ``low``."""

    def __post_init__(self) -> None:
        for name, value in (("low", self.low), ("high", self.high)):
            if not is_finite_number(value):
                raise ModelError(f"Action {self.command!r}: {name} is {value!r}; must be a finite number", field=name)


def preset_actions(joints: Sequence[str], preset: float | None, limits: tuple[float, float]) -> list[Action]:
    """Return the actions that command the stiffness presets of joints.

    Args:
        joints: names of the joints.
        preset: constant preset of the whole episode [rad]; None if the actions change it.
        limits: smallest and largest preset [rad].

    Raises:
        ModelError: the preset is outside the limits.
    """
    low, high = limits
    if preset is not None:
        if not low <= preset <= high:
            raise ModelError(f"preset is {preset!r}; must be {low:g} to {high:g} rad", field="preset")
        low = high = float(preset)
    return [Action(f"{joint}/reference_2", low, high) for joint in joints]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Task to learn with a robot.

    Raises:
        ModelError: there is no action, the period or duration is not positive, or a function is not callable.
    """

    robot: Callable[[], Robot]
    """Function that returns the robot, including the objects of the task."""
    actions: Sequence[Action]
    """Elements of an action, at least one."""
    observation: Mapping[str, Function]
    """Name -> function of a `World`; the results are concatenated in this order."""
    reward: Mapping[str, Function]
    """Name -> function that returns shape (worlds,). The reward is their sum; infos contain each term."""
    terminated: Mapping[str, Function] = field(default_factory=dict)
    """Reason -> function that returns shape (worlds,); the episode of a world ends if it is true."""
    period: float = 0.02
    """Time between two actions [s], rounded to a whole number of time steps >= 1."""
    duration: float = 10.0
    """Time after which an episode is truncated [s]."""
    start: Start | None = None
    """Start positions of an episode; all other joints start in the initial pose of the robot."""
    key: str | None = None
    """Key frame of the model with the start positions of an episode; None for the initial pose of the robot."""
    randomize: Mapping[str, Distribution] | Curriculum = field(default_factory=dict)
    """Path of a parameter, as in `RobotBatch.set_parameters` -> distribution of its value, drawn in each world for each
    episode; ``latency`` and ``command_latency`` [s] stand for those of the environment. Or a curriculum: a function of
    the number of episodes that have ended that returns such a dictionary, always with the same paths."""
    diverged_reward: float = 0.0
    """Reward of the step in which a world diverges."""
    camera: str | None = None
    """Camera for images; None for the first camera of the model, or for a view of the whole model if it has none."""
    detach: Sequence[str] = ()
    """Names of devices that the environment leaves out, so that actions command the motors that these devices drive."""

    def __post_init__(self) -> None:
        if not self.actions or not all(isinstance(a, Action) for a in self.actions):
            raise ModelError("actions must be one or more Action(command, low, high)", field="actions")
        for name in ("observation", "reward", "terminated", "randomize"):
            value = getattr(self, name)
            if name == "randomize" and callable(value):
                value = value(0)
            if not isinstance(value, Mapping):
                of = "distribution" if name == "randomize" else "function of a World"
                raise ModelError(f"{name} is {value!r}; must be a dictionary: name -> {of}", field=name)
        if not self.observation or not self.reward:
            empty = "observation" if not self.observation else "reward"
            raise ModelError(f"{empty} is empty; must name one function or more", field=empty)
        for name in ("observation", "reward", "terminated"):
            for key, function in getattr(self, name).items():
                if not callable(function):
                    raise ModelError(f"{name} {key!r} is {function!r}; must be a function of a World", field=name)
        for name in ("period", "duration"):
            value = getattr(self, name)
            if not is_number(value) or not 0.0 < value < math.inf:
                raise ModelError(f"{name} is {value!r}; must be a time above 0 s", field=name)
        if not is_finite_number(self.diverged_reward):
            raise ModelError(
                f"diverged_reward is {self.diverged_reward!r}; must be a finite number", field="diverged_reward"
            )
        if self.start is not None and not callable(self.start):
            raise ModelError(
                f"start is {self.start!r}; must be a function of a random generator and a number of worlds",
                field="start",
            )
        if not callable(self.robot):
            raise ModelError(f"robot is {self.robot!r}; must be a function that returns a Robot", field="robot")

    def distributions(self, episodes: int) -> Mapping[str, Distribution]:
        """Return the distributions of the parameters after a number of ended episodes."""
        return self.randomize(episodes) if callable(self.randomize) else self.randomize

    def replace(self, **changes: object) -> Task:
        """Return a copy of this task with changed fields."""
        return replace(self, **changes)

    def frames(self, dt: float) -> int:
        """Return the number of engine steps per period, for a time step ``dt`` [s]."""
        return max(1, round(self.period / dt))

    def limit(self, dt: float) -> int:
        """Return the number of actions in a full episode, for a time step ``dt`` [s]."""
        return max(1, math.ceil(self.duration / (self.frames(dt) * dt) - 1e-9))

    def kept_devices(self, devices: Sequence[DeviceBase]) -> list[DeviceBase]:
        """Close the devices that the task detaches, and return the others.

        Raises:
            ModelError: the robot has no device of a name in ``detach``.
        """
        names = [device.name for device in devices]
        for name in self.detach:
            if name not in names:
                raise ModelError(
                    f"detach: the robot has no device {name!r}; {nearest(str(name), names)}", field="detach"
                )
        for device in devices:
            if device.name in self.detach:
                device.close()
        return [device for device in devices if device.name not in self.detach]

    def channels(self, ports: Mapping[str, PortInfo], devices: Sequence[DeviceBase]) -> list[Channel]:
        """Return what each action commands.

        Args:
            ports: ports of the engine.
            devices: devices of the environment, as `kept_devices` returns them.

        Raises:
            PortError: a command does not exist, or cannot be given; see `pliant.simulation.channels.find_channels`.
        """
        return find_channels([action.command for action in self.actions], ports, devices)


def evaluate(kind: str, functions: Mapping[str, Function], world: World) -> list[NDArray[np.float64]]:
    """Evaluate functions of a task; return one array of shape (worlds, n) for each.

    Args:
        kind: kind of the functions in error messages.
        functions: name -> function.
        world: argument of the functions.

    Raises:
        ModelError: a result does not have one row for each world.
    """
    return [checked_rows(kind, name, function(world), world.worlds) for name, function in functions.items()]


def checked_rows(kind: str, name: str, value: object, worlds: int) -> NDArray[np.float64]:
    """Return what a function of a task returned as an array of shape (worlds, n).

    Raises:
        ModelError: it does not have one row for each world.
    """
    if not isinstance(value, np.ndarray) or value.dtype != np.float64:
        try:
            value = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise ModelError(f"{kind} {name!r} returned {value!r}; must be an array of numbers", field=name) from None
    rows = value[:, None] if value.ndim == 1 else value
    if rows.ndim != 2 or len(rows) != worlds:
        raise ModelError(
            f"{kind} {name!r} returned shape {value.shape}; must be ({worlds},) or ({worlds}, n)", field=name
        )
    return rows


def joined_ports(world: World, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the values of ports side by side, shape (worlds, sum of n)."""
    return np.concatenate([world.port(name) for name in names], axis=1)


def flags(functions: Mapping[str, Function], world: World) -> list[NDArray[np.bool_]]:
    """Evaluate terminations; return one array of shape (worlds,) for each.

    Raises:
        ModelError: a result does not have the shape (worlds,).
    """
    found = []
    for name, function in functions.items():
        value = np.asarray(function(world), dtype=bool)
        if value.shape != (world.worlds,):
            raise ModelError(f"terminated {name!r} returned shape {value.shape}; must be ({world.worlds},)", field=name)
        found.append(value)
    return found


def positions(task: Task, rng: np.random.Generator, worlds: int) -> dict[str, NDArray[np.float64]]:
    """Draw start positions of all worlds, so that those of one world do not depend on which worlds are reset."""
    if task.start is None:
        return {}
    drawn = {}
    for joint, array in start_positions(task.start(rng, worlds), "start").items():
        if array.shape not in ((), (worlds,)):
            raise ModelError(
                f"start: {joint!r} has shape {array.shape}; must be a number or ({worlds},)", field="start"
            )
        drawn[joint] = np.broadcast_to(array, (worlds,))
    return drawn


def start_positions(given: object, name: str = "positions") -> dict[str, NDArray[np.float64]]:
    """Return start positions as arrays: joint name -> positions [rad or m].

    Args:
        given: positions as the user gave them.
        name: its name in messages.

    Raises:
        ModelError: not a dictionary, or a value is not numeric or not finite.
    """
    if not isinstance(given, Mapping):
        raise ModelError(f"{name}: {given!r} is not a dictionary; must be joint -> position", field=name)
    found = {}
    for joint, values in given.items():
        try:
            found[joint] = np.asarray(values, dtype=float)
        except (TypeError, ValueError):
            raise ModelError(f"{name}: {joint!r} is {values!r}; must be a number or numbers", field=name) from None
        if not np.isfinite(found[joint]).all():
            raise ModelError(f"{name}: {joint!r} is {values!r}; must be finite", field=name)
    return found


def reset_options(options: object, valid: Sequence[str]) -> dict[str, Any]:
    """Return a copy of the options of a reset.

    Raises:
        PliantError: not a dictionary, or an option does not exist.
    """
    if options is not None and not isinstance(options, Mapping):
        raise PliantError(f"the options of reset are {options!r}; must be a dictionary", field="options")
    chosen = dict(options or {})
    for name in chosen:
        if name not in valid:
            raise PliantError(f"reset has no option {name!r}; {nearest(str(name), valid)}")
    return chosen


def named_options(options: object, valid: Sequence[str], owner: str) -> dict[str, Any]:
    """Return a copy of the options of an environment.

    Args:
        options: options as the user gave them.
        valid: their names.
        owner: the class that has them.

    Raises:
        PliantError: not a dictionary, or an option does not exist.
    """
    if options is not None and not isinstance(options, Mapping):
        raise PliantError(f"options is {options!r}; must be a dictionary of options of {owner}", field="options")
    for name in options or {}:
        if name not in valid:
            raise PliantError(f"{owner} has no option {name!r}; {nearest(str(name), valid)}", field="options")
    return dict(options or {})
