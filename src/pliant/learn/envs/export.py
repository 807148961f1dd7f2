"""Export a trained model of a task as a `Policy` that runs on the robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import pliant
from pliant.base.errors import ModelError
from pliant.learn.envs.plant import commanded_channels
from pliant.learn.envs.task import Task
from pliant.learn.onnx import Network
from pliant.learn.policy import Policy


def export_policy(
    task: Task,
    layers: Sequence[tuple[ArrayLike, ArrayLike]] | NDArray[np.float64] | Network,
    observations: Sequence[str],
    *,
    robot: str | None = None,
    settings: Mapping[str, Any] | None = None,
    mean: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    seen: ArrayLike | None = None,
    **options: Any,
) -> Policy:
    """Return a policy for the devices of the robot of a task.

    Args:
        task: the trained task, whose actions define the commands and their limits.
        layers: weights (outputs, inputs) and biases (outputs,) of each layer; or one array of shape
            (actions, observations + 1) for a linear policy, with the biases in the last column; or the `Network` of an
            ONNX file, which gives mean, scale, activation and output, too.
        observations: name of each element of the observation, as in `Policy.observations`.
        robot: name of the robot in the catalogue; None for the name of the model.
        settings: options with which the robot of the catalogue is created.
        mean: mean of the observations, which is subtracted, shape (observations,); None for 0.
        scale: scale by which the result is divided, shape (observations,); None for 1.
        seen: observations of the training, shape (any, observations), with whose least and largest values
            `pliant policy run` compares what the robot measures; None for no comparison.
        options: ``activation``, ``output`` and ``start`` of `Policy`.

    Raises:
        ModelError: no device of the robot accepts one of the actions.
        PolicyError: the shapes are inconsistent.
        OnnxError: the outputs of a network are no actions of -1 to 1.
    """
    made = task.robot()
    commands = []
    for action, channel in zip(task.actions, commanded_channels(made, task)):
        if not channel.device:
            raise ModelError(
                f"the action on {action.command!r} is not a command of a device of the robot, so that nothing can give "
                "it on the robot",
                field="actions",
            )
        commands.append(channel.name)
    if isinstance(layers, Network):
        network = layers
        layers, mean, scale = network.actor(), network.mean, network.scale
        options = {"activation": network.activation or "tanh", "output": network.output or "clip", **options}
    if isinstance(layers, np.ndarray):
        layers = [(layers[:, :-1], layers[:, -1])]
    count = len(observations)
    if seen is not None:
        rows = np.asarray(seen, dtype=float).reshape(-1, count)
        options |= {"range_low": rows.min(axis=0), "range_high": rows.max(axis=0)}
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
