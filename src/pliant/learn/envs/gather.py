"""Columns of many arrays gathered into one by machine code, which costs less than NumPy for the arrays of a step."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.laws.compile import bound
from pliant.learn.envs.actions import joined_observation
from pliant.learn.envs.task import checked_rows

if TYPE_CHECKING:
    from pliant.learn.envs.task import Task, World

TRIES = 3
"""How often an `Observer` looks whether the functions of a task return the same arrays again."""


def gather_columns(source, starts, strides, count, worlds, out):
    """Copy columns, which begin some numbers after ``source``, side by side (C arrays)."""
    for k in range(count):
        for w in range(worlds):
            out[w * count + k] = source[starts[k] + w * strides[k]]


def gather_observation(source, starts, strides, count, worlds, out, wrong):
    """Do the same in single precision, and count the numbers that are not finite there (C arrays)."""
    odd = 0
    for k in range(count):
        for w in range(worlds):
            out[w * count + k] = source[starts[k] + w * strides[k]]
            odd += out[w * count + k] - out[w * count + k] != 0.0
    wrong[0] = odd


def can_gather(parts: Sequence[object], worlds: int) -> bool:
    """Return whether parts are arrays of double precision with a row for each world, shape (worlds,) or (worlds, n)."""
    return all(
        isinstance(part, np.ndarray) and part.dtype == np.float64 and part.ndim in (1, 2) and len(part) == worlds
        for part in parts
    )


def gathered(parts: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the first part, where each column begins after it, and numbers from row to row of each column."""
    starts, strides = [], []
    for part in parts:
        for k in range(part.shape[1] if part.ndim == 2 else 1):
            column = part[:, k] if part.ndim == 2 else part
            starts.append((column.ctypes.data - parts[0].ctypes.data) // 8)
            strides.append(column.strides[0] // 8)
    return parts[0], np.array(starts, dtype=np.int64), np.array(strides, dtype=np.int64)


class JoinedPorts:
    """Live ports side by side.

    Args:
        parts: the ports, shape (worlds, n) each; they must stay where they are.
    """

    def __init__(self, parts: Sequence[NDArray[np.float64]]) -> None:
        self._kept = parts
        source, starts, strides = gathered(parts)
        values = np.zeros((len(source), len(starts)))
        self._gather = bound(gather_columns, source, starts, strides, len(starts), len(source), values)
        self._values = values.view()
        self._values.flags.writeable = False

    def read(self) -> NDArray[np.float64]:
        """Return the present values, shape (worlds, sum of n): always the same array."""
        self._gather()
        return self._values


class Observer:
    """Observes all worlds of a batch.

    Functions that return the same arrays in each step, with other numbers, such as ports, are gathered at once.

    Args:
        task: the task.
        world: what its functions see.
    """

    def __init__(self, task: Task, world: World) -> None:
        self._task, self._world = task, world
        self._functions = tuple(task.observation.values())
        self._kept: list[object] = []
        self._tries = 0

    def __call__(self, sane: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
        """Return the observation of every world, shape (worlds, n), as `pliant.learn.envs.actions.observe`.

        Args:
            sane: worlds that did not diverge; None for all.

        Raises:
            ModelError: a function gave NaN or infinity in a world that did not diverge.
        """
        world = self._world
        values = [function(world) for function in self._functions]
        if self._kept and all(map(is_, values, self._kept)):
            self._gather()
            if not self._wrong[0]:
                return self._out.copy()
        elif self._tries < TRIES and can_gather(values, world.worlds):
            self._tries += 1
            self._keep(values)
        names = self._task.observation
        parts = [checked_rows("observation", name, value, world.worlds) for name, value in zip(names, values)]
        return joined_observation(self._task, parts, sane)

    def _keep(self, values: list[NDArray[np.float64]]) -> None:
        self._kept = list(values)
        source, starts, strides = gathered(values)
        self._out = np.zeros((len(source), len(starts)), dtype=np.float32)
        self._wrong = np.zeros(1, dtype=np.int64)
        size = (len(starts), len(source))
        self._gather = bound(gather_observation, source, starts, strides, *size, self._out, self._wrong)
