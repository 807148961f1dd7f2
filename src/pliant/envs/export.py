"""Turn what was trained on a task into a `Policy` that runs on the robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import pliant
from pliant.control import Policy
from pliant.envs.task import Task
from pliant.errors import ModelError
from pliant.laws import COMMAND_NAMES

__all__ = ["export_policy"]


def export_policy(
    task: Task,
    layers: Sequence[tuple[ArrayLike, ArrayLike]] | NDArray[np.float64],
    observations: Sequence[str],
    *,
    robot: str | None = None,
    settings: Mapping[str, Any] | None = None,
    mean: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    **options: Any,
) -> Policy:
    """Return a policy for the devices of the task's robot.

    Args:
        task: what was learned; its actions give the commands and their limits.
        layers: weights and biases; or one array (actions, observations + 1) of a linear policy, biases last.
        observations: what each number of the observation is: ``<device>/<quantity>`` or ``input/<name>``.
        robot: name in the catalogue; None takes the name of the model.
        settings: options with which the catalogue makes the robot.
        mean: what is subtracted from the observations; None for 0.
        scale: what they are divided by; None for 1.
        options: ``activation`` and ``output`` of `Policy`.

    Raises:
        ModelError: an action that no device of the robot takes.
        PolicyError: shapes that do not fit.
    """
    made = task.robot()
    commands = []
    for action in task.actions:
        joint, _, port = action.port.rpartition("/")
        if joint not in made.actuators or port not in ("reference_1", "reference_2"):
            raise ModelError(
                f"the action on {action.port!r} is not a command of a compliant joint; only references can be exported",
                field="actions",
            )
        commands.append(f"{joint}/{COMMAND_NAMES[made.actuators[joint].mode][port == 'reference_2']}")
    if isinstance(layers, np.ndarray):
        layers = [(layers[:, :-1], layers[:, -1])]
    count = len(observations)
    return Policy(
        robot=robot or made.spec.modelname,
        observations=tuple(observations),
        commands=tuple(commands),
        low=np.array([a.low for a in task.actions]),
        high=np.array([a.high for a in task.actions]),
        layers=tuple((np.asarray(w, dtype=float), np.asarray(b, dtype=float)) for w, b in layers),
        period=task.period,
        mean=np.zeros(count) if mean is None else np.asarray(mean, dtype=float),
        scale=np.ones(count) if scale is None else np.asarray(scale, dtype=float),
        namespace=made.interface.namespace,
        joints=tuple(made.actuators),
        settings=dict(settings or {}),
        version=pliant.__version__,
        **options,
    )
