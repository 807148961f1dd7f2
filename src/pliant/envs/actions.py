"""Actions and sums of rewards, as every environment treats them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.envs.task import Action, Task, World, evaluate
from pliant.errors import ModelError, PortError

__all__ = ["Scale", "checked_actions", "observe", "reward_terms"]


class Scale:
    """The map from actions of -1 to 1 to the values of ports."""

    def __init__(self, actions: Sequence[Action]) -> None:
        low = np.array([a.low for a in actions], dtype=float)
        high = np.array([a.high for a in actions], dtype=float)
        self._middle, self._half = 0.5 * (low + high), 0.5 * (high - low)

    def values(self, actions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values of the ports, shape as the actions."""
        values = self._half * actions
        values += self._middle
        return values


def checked_actions(actions: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return actions as numbers from -1 to 1; what lies outside is clipped.

    Raises:
        PortError: another shape, text, NaN or infinity.
    """
    try:
        array = np.asarray(actions, dtype=float)
    except (TypeError, ValueError):
        raise PortError(f"the action {actions!r} is not an array of numbers", field="action") from None
    if array.shape != shape:
        raise PortError(f"the action has shape {array.shape}; must be {shape}", field="action")
    finite = np.isfinite(array)
    if not finite.all():
        where = tuple(int(k) for k in np.argwhere(~finite)[0])
        place = f"number {where[-1]}" + (f" of environment {where[0]}" if len(where) > 1 else "")
        raise PortError(f"the action's {place} is {array[where]}; must be finite, from -1 to 1", field="action")
    return np.minimum(np.maximum(array, -1.0), 1.0)


def observe(task: Task, world: World, sane: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
    """Return the observation of every world, shape (worlds, n).

    Args:
        task: the task.
        world: what its functions see.
        sane: worlds that did not diverge; None for all.

    Raises:
        ModelError: a function gave NaN or infinity in a world that did not diverge.
    """
    parts = evaluate("observation", task.observation, world)
    out = np.concatenate(parts, axis=1, dtype=np.float32, casting="unsafe")
    finite = np.isfinite(out)
    if not finite.all():
        rows = ~finite.all(axis=1) if sane is None else ~finite.all(axis=1) & sane
        if rows.any():
            _refuse("observation", list(task.observation), parts, int(np.flatnonzero(rows)[0]))
    return out


def reward_terms(
    task: Task, world: World, sane: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Return the reward of every world and its terms by name.

    Raises:
        ModelError: a function gave NaN or infinity in a world that did not diverge, or more than a number a world.
    """
    parts = evaluate("reward", task.reward, world)
    for name, part in zip(task.reward, parts):
        if part.shape[1] != 1:
            raise ModelError(f"reward {name!r} returned shape {part.shape}; must be ({world.worlds},)", field=name)
    terms = {name: part[:, 0].copy() for name, part in zip(task.reward, parts)}
    total = np.zeros(world.worlds)
    for term in terms.values():
        total += term
    finite = np.isfinite(total)
    if not finite.all():
        rows = ~finite if sane is None else ~finite & sane
        if rows.any():
            _refuse("reward", list(task.reward), parts, int(np.flatnonzero(rows)[0]))
    return total, terms


def _refuse(kind: str, names: list[str], parts: list[NDArray[np.float64]], world: int) -> None:
    name = next((n for n, part in zip(names, parts) if not np.isfinite(part[world]).all()), names[0])
    raise ModelError(
        f"{kind} {name!r} is not finite in environment {world}, whose state is finite; mend the function", field=name
    )
