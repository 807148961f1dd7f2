"""Export a trained model of a task as a `Policy` that runs on the robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import pliant
from pliant.base.errors import ModelError
from pliant.laws import COMMAND_NAMES
from pliant.learn.envs.task import Task
from pliant.learn.policy import Policy

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
    """Return a policy for the devices of the robot of a task.

    Args:
        task: the trained task, whose actions define the commands and their limits.
        layers: weights (outputs, inputs) and biases (outputs,) of each layer; or one array of shape
            (actions, observations + 1) for a linear policy, with the biases in the last column.
        observations: name of each element of the observation: ``<device>/<quantity>`` or ``input/<name>``.
        robot: name of the robot in the catalogue; None for the name of the model.
        settings: options with which the robot of the catalogue is created.
        mean: mean of the observations, which is subtracted, shape (observations,); None for 0.
        scale: scale by which the result is divided, shape (observations,); None for 1.
        options: ``activation`` and ``output`` of `Policy`.

    Raises:
        ModelError: no device of the robot accepts one of the actions.
        PolicyError: the shapes are inconsistent.
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
