"""Actions and sums of rewards, as every environment treats them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import ModelError, PortError
from pliant.laws.compile import bound
from pliant.learn.envs.task import Action, Task, World, evaluate


class _Target(NamedTuple):
    """Where the values of the actions go."""

    values: NDArray[np.float64]
    """The numbers (C array)."""
    stride: int
    """Numbers from one world to the next."""
    columns: NDArray[np.int64]
    """Place of each action in a world."""


def write_actions(given, worlds, count, middle, half, target, last, elapsed, wrong):
    """Write the values of actions and count the step, unless one is not finite (C arrays, see `ActionWriter`)."""
    odd = 0
    for i in range(worlds * count):
        odd += given[i] - given[i] != 0.0  # NaN or infinity
    wrong[0] = odd
    if odd > 0:
        return
    for i in range(worlds * count):
        last[i] = min(max(given[i], -1.0), 1.0)
    for k in range(count):
        first, gain, offset = target.columns[k], half[k], middle[k]
        for w in range(worlds):
            target.values[w * target.stride + first] = gain * last[w * count + k] + offset
    for w in range(worlds):
        elapsed[w] += 1


class ActionWriter:
    """Writes the actions of all worlds as values of ports, in one call of machine code.

    Args:
        scale: the map from actions to values.
        target: receives the values, shape (worlds, ...), with rows of contiguous float64; it must stay where it is.
        columns: of ``target``, one for each action.
        last: receives the clipped actions, shape (worlds, actions).
        elapsed: counts the actions of each world.
    """

    def __init__(
        self,
        scale: Scale,
        target: NDArray[np.float64],
        columns: NDArray[np.int64],
        last: NDArray[np.float64],
        elapsed: NDArray[np.int64],
    ) -> None:
        self._given = np.zeros(last.shape)
        self._wrong = np.zeros(1, dtype=np.int64)
        where = _Target(target, target.strides[0] // target.itemsize, columns)
        self._write = bound(
            write_actions, self._given, *last.shape, scale.middle, scale.half, where, last, elapsed, self._wrong
        )

    def write(self, actions: ArrayLike) -> None:
        """Write actions of shape (worlds, actions), from -1 to 1; what lies outside is clipped.

        Raises:
            PortError: another shape, text, NaN or infinity. Nothing was written then.
        """
        array = _shaped(actions, self._given.shape)
        self._given[...] = array
        self._write()
        if self._wrong[0]:
            raise _not_finite(array)


class Scale:
    """The map from actions of -1 to 1 to the values of ports."""

    def __init__(self, actions: Sequence[Action]) -> None:
        low = np.array([a.low for a in actions], dtype=float)
        high = np.array([a.high for a in actions], dtype=float)
        self.middle, self.half = 0.5 * (low + high), 0.5 * (high - low)
        """Value at 0, and what an action of 1 adds to it, shape (actions,)."""

    def values(self, actions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values of the ports, shape as the actions."""
        values = self.half * actions
        values += self.middle
        return values


def checked_actions(actions: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return actions as numbers from -1 to 1; what lies outside is clipped.

    Raises:
        PortError: another shape, text, NaN or infinity.
    """
    array = _shaped(actions, shape).astype(float)
    if not np.isfinite(array).all():
        raise _not_finite(array)
    return np.minimum(np.maximum(array, -1.0), 1.0)


def _shaped(actions: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.generic]:
    try:
        array = np.asarray(actions)
        if array.dtype.kind == "c":
            raise TypeError
        if array.dtype.kind not in "fiub":
            array = array.astype(float)
    except (TypeError, ValueError):
        raise PortError(f"the action {actions!r} is not an array of numbers", field="action") from None
    if array.shape != shape:
        raise PortError(f"the action has shape {array.shape}; must be {shape}", field="action")
    return array


def _not_finite(array: NDArray[np.generic]) -> PortError:
    where = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
    place = f"number {where[-1]}" + (f" of environment {where[0]}" if len(where) > 1 else "")
    return PortError(f"the action's {place} is {array[where]}; must be finite, from -1 to 1", field="action")


def observe(task: Task, world: World, sane: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
    """Return the observation of every world, shape (worlds, n).

    Args:
        task: the task.
        world: what its functions see.
        sane: worlds that did not diverge; None for all.

    Raises:
        ModelError: a function gave NaN or infinity in a world that did not diverge.
    """
    return joined_observation(task, evaluate("observation", task.observation, world), sane)


def joined_observation(
    task: Task, parts: list[NDArray[np.float64]], sane: NDArray[np.bool_] | None
) -> NDArray[np.float32]:
    """Return the parts of an observation side by side, of shape (worlds, n) each.

    Raises:
        ModelError: a part is not finite in a world that did not diverge.
    """
    out = np.concatenate(parts, axis=1, dtype=np.float32, casting="same_kind")
    finite = np.isfinite(out)
    if np.count_nonzero(finite) < out.size:
        rows = ~finite.all(axis=1) if sane is None else ~finite.all(axis=1) & sane
        if rows.any():
            _refuse("observation", list(task.observation), parts, int(np.flatnonzero(rows)[0]))
    return out


def reward_terms(
    task: Task, world: World, sane: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Return the reward of every world and its terms by name.

    Raises:
        ModelError: a function gave NaN or infinity in a world that did not diverge, or more than one number per world.
    """
    terms: dict[str, NDArray[np.float64]] = {}
    for name, part in zip(task.reward, evaluate("reward", task.reward, world)):
        if part.shape[1] != 1:
            raise ModelError(f"reward {name!r} returned shape {part.shape}; must be ({world.worlds},)", field=name)
        terms[name] = part[:, 0].copy()
    first, *others = terms.values()
    total = first.copy()
    for term in others:
        total += term
    finite = np.isfinite(total)
    if np.count_nonzero(finite) < world.worlds:
        rows = ~finite if sane is None else ~finite & sane
        if rows.any():
            _refuse("reward", list(terms), list(terms.values()), int(np.flatnonzero(rows)[0]))
    return total, terms


def _refuse(kind: str, names: list[str], parts: list[NDArray[np.float64]], world: int) -> None:
    name = next((n for n, part in zip(names, parts) if not np.isfinite(part[world]).all()), names[0])
    raise ModelError(
        f"{kind} {name!r} is not finite in environment {world}, whose state is finite; correct the function", field=name
    )
