"""Environments for the tasks of pliant and for other robots."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco

from pliant.base.errors import ModelError, PliantError, nearest
from pliant.learn.envs.task import Action, Function, Task, named_options
from pliant.model.wanted import check_robot

if TYPE_CHECKING:
    from pliant.learn.envs.single import RobotEnv
    from pliant.learn.envs.vector import BatchEnv
    from pliant.model import Robot


def task_names() -> list[str]:
    """Return the names of the tasks in ``pliant.learn.envs.tasks``, which are the names of its files."""
    from pliant.learn.envs import tasks

    return sorted(module.name for module in pkgutil.iter_modules(tasks.__path__))


def find_task(name: str, **options: Any) -> Task:
    """Return a task of pliant by name.

    Args:
        name: name of the task.
        options: options of the function that creates the task.

    Raises:
        PliantError: the task does not exist, or does not have one of the options.
    """
    names = task_names()
    if name not in names:
        raise PliantError(f"no task {name!r}; {nearest(name, names)}", field="task")
    function = importlib.import_module(f"pliant.learn.envs.tasks.{name}").task
    valid = function.__kwdefaults__ or {}
    for option in options:
        if option not in valid:
            raise PliantError(f"the task {name} has no option {option!r}; {nearest(option, valid)}", field=option)
    return function(**options)


def task_of(
    robot: Robot | Callable[[], Robot] | str,
    *,
    observation: Mapping[str, Function] | None = None,
    reward: Mapping[str, Function] | Function | None = None,
    actions: Sequence[Action] | None = None,
    **rest: Any,
) -> Task:
    """Return a task for a robot.

    Args:
        robot: a robot, a function that returns one, or an argument of `pliant.load`: a file or a name in the catalogue.
        observation: name -> function of a `World`; must be given.
        reward: name -> function of a `World`, or one such function; must be given.
        actions: commanded quantities; None for reference 1 of every compliant joint, within its limits, or from -pi to
            pi rad if it has none; for a robot without one, the controls of its actuators, within their ranges.
        rest: further fields of `Task`.

    Raises:
        ModelError: a field is unknown, ``observation`` or ``reward`` is missing, or ``actions`` is None and the robot
            has neither compliant joints nor actuators with ranges.
    """
    valid = {f.name for f in fields(Task)} - {"robot", "observation", "reward", "actions"}
    for name in rest:
        if name not in valid:
            raise ModelError(f"a task has no field {name!r}; {nearest(name, valid)}", field=name)

    if observation is None or reward is None:
        name = "observation" if observation is None else "reward"
        raise ModelError(
            f"{name} is missing; must be a function of a World by its name, such as "
            f"{name}={{'q': lambda world: world.port('joint/position')}}",
            field=name,
        )
    if isinstance(robot, type | mujoco.MjSpec) or not (
        isinstance(robot, str | Path) or callable(robot) or hasattr(robot, "devices")
    ):
        raise ModelError(
            f"task_of got {robot!r:.100}; must be a Robot, a function that returns one, a file or a name in the "
            "catalogue",
            field="robot",
        )

    def build() -> Robot:
        if isinstance(robot, str | Path):
            from pliant.robots.loading import load

            return load(robot)
        if not callable(robot):
            return robot.copy()
        made = robot()
        check_robot(made, "task_of", compiled=False)
        return made

    return Task(
        robot=build,
        actions=_references(build()) if actions is None else actions,
        observation=observation,
        reward={"reward": reward} if callable(reward) else reward,
        **rest,
    )


def _references(robot: Robot) -> list[Action]:
    if not robot.actuators:
        return _controls(robot)
    limits = {}
    model = robot.compile()
    for joint in robot.actuators:
        index = next((j for j in range(model.njnt) if model.joint(j).name == joint), None)
        limited = index is not None and bool(model.jnt_limited[index])
        limits[joint] = tuple(map(float, model.jnt_range[index])) if limited else (-math.pi, math.pi)
    return [Action(f"{joint}/reference_1", *limits[joint]) for joint in robot.actuators]


def _controls(robot: Robot) -> list[Action]:
    """Return the controls of a robot's own actuators, within their ranges."""
    from pliant.devices import make_devices
    from pliant.devices.native_actuator import NativeActuator

    names = [actuator.name for actuator in robot.spec.actuators]
    if not names:
        raise ModelError("the robot has no actuator, so that an action can command nothing", field="actions")
    actions = []
    devices = make_devices(robot)
    for device in devices:
        if isinstance(device, NativeActuator) and device.commands:
            control = device.commands["control"]["control"]
            if control.shape == () and math.isfinite(control.high - control.low):
                actions.append(Action(f"{device.actuator}/control", control.low, control.high))
    if len(actions) == len(names):
        return actions
    of_devices = (
        f"{device.name}/{field}{'[0]' if info.shape else ''}"
        for device in devices
        if not isinstance(device, NativeActuator)
        for fields_of_mode in device.commands.values()
        for field, info in fields_of_mode.items()
    )
    example = next(of_devices, f"{names[0]}/control")
    raise ModelError(
        f"the robot has no compliant joint, and not every actuator has a control range and is free of a device; name "
        f"the commands of an action, such as actions=[Action('{example}')]; its actuators are "
        f"{', '.join(names[:12])}",
        field="actions",
    )


def make_env(
    robot: Robot | Callable[[], Robot] | str, *, options: Mapping[str, Any] | None = None, **of: Any
) -> RobotEnv:
    """Return an environment with one robot and all its devices.

    Args:
        robot: a robot, a function that returns one, a file, or a name in the catalogue.
        options: options of `RobotEnv`: render_mode, latency, command_latency, cameras, width, height.
        of: arguments of `task_of`: observation, reward, actions, terminated, period, duration, start, randomize, ...

    Example:
        >>> env = make_env(
        ...     "qbmove-2dof",
        ...     observation={"q": lambda w: w.port("joint_1/position")},
        ...     reward=lambda w: -abs(w.port("joint_1/position")[:, 0] - 0.5),
        ... )
    """
    from pliant.learn.envs.single import RobotEnv

    return RobotEnv(task_of(robot, **of), **named_options(options, _SINGLE, "RobotEnv"))


def make_vec(
    robot: Robot | Callable[[], Robot] | str, num_envs: int, *, options: Mapping[str, Any] | None = None, **of: Any
) -> BatchEnv:
    """Return a vector environment with many worlds of a robot in one batch.

    Args:
        robot: a robot, a function that returns one, a file, or a name in the catalogue.
        num_envs: number of worlds.
        options: options of `BatchEnv`: autoreset_mode, batch, latency, noise, cameras, render_mode, ...
        of: arguments of `task_of`: observation, reward, actions, terminated, period, duration, start, randomize, ...
    """
    from pliant.learn.envs.vector import BatchEnv

    return BatchEnv(task_of(robot, **of), num_envs, **named_options(options, _VECTOR, "BatchEnv"))


_SINGLE = ("render_mode", "width", "height", "latency", "command_latency", "cameras")
_VECTOR = (*_SINGLE, "autoreset_mode", "max_episode_steps", "batch", "noise")


def single_env(task: str, **options: Any) -> RobotEnv:
    """Return the environment of a task of pliant for `gymnasium.make`, with options of environment and task."""
    from pliant.learn.envs.single import RobotEnv

    mine = {name: options.pop(name) for name in _SINGLE if name in options}
    if other := next((name for name in options if name in _VECTOR), ""):
        raise PliantError(
            f"{other!r} is an option of BatchEnv; must be given to gymnasium.make_vec of pliant/{task.title()}-v0",
            field=other,
        )
    return RobotEnv(find_task(task, **options), **mine)


def vector_env(task: str, num_envs: int = 1, **options: Any) -> BatchEnv:
    """Return the environment of a task of pliant for `gymnasium.make_vec`, with options of environment and task."""
    from pliant.learn.envs.vector import BatchEnv

    mine = {name: options.pop(name) for name in _VECTOR if name in options}
    return BatchEnv(find_task(task, **options), num_envs, **mine)


# What Gymnasium asks of an entry point before it makes anything.
single_env.metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # pyright: ignore[reportFunctionMemberAccess]
