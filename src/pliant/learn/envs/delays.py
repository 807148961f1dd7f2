"""Latency and noise of the actions and observations of many worlds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import PliantError, nearest
from pliant.base.numerics import is_finite_number, is_number

MAX_DELAY = 10.0
"""Longest delay [s]; all observations of this time are kept."""


def check_delays(delays: Mapping[str, float]) -> dict[str, float]:
    """Return delays by name [s].

    Raises:
        PliantError: one of them is no time of 0 to `MAX_DELAY`.
    """
    for name, value in delays.items():
        if not is_number(value) or not 0.0 <= value <= MAX_DELAY:
            raise PliantError(f"{name} is {value!r}; must be a time of 0 to {MAX_DELAY:g} s", field=name)
    return dict(delays)


class Delays:
    """Holds back actions and observations by whole steps of the engine, by another number in each world.

    Args:
        worlds: number of worlds.
        frames: steps of the engine for each action.
        apply: writes the values of actions, shape (worlds, actions), to some worlds, a mask of shape (worlds,).
        step: advances all worlds by a number of steps.
        observe: returns the observation of all worlds, shape (worlds, n).
    """

    def __init__(
        self,
        worlds: int,
        frames: int,
        apply: Callable[[NDArray[np.float64], NDArray[np.bool_]], None],
        step: Callable[[int], None],
        observe: Callable[[], NDArray[np.float32]],
    ) -> None:
        self.command = np.zeros(worlds, dtype=np.int64)
        """Steps from an action to its effect, shape (worlds,)."""
        self.age = np.zeros(worlds, dtype=np.int64)
        """Age of an observation in steps, shape (worlds,)."""
        self._frames, self._apply, self._step, self._observe = frames, apply, step, observe
        self._now = 0
        self._line: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        self._seen: deque[NDArray[np.float32]] = deque()

    def clear(self, mask: NDArray[np.bool_], observation: NDArray[np.float32]) -> None:
        """Forget what is on its way in worlds that were reset; they have seen nothing but this observation."""
        for due, _ in self._line:
            due[mask] = -1
        periods = int(self.age.max()) // self._frames + 1
        while len(self._seen) < periods:
            self._seen.appendleft(self._seen[0].copy() if self._seen else observation.copy())
        for seen in self._seen:
            seen[mask] = observation[mask]

    def advance(self, values: NDArray[np.float64]) -> None:
        """Advance by one action; `seen` then returns the observations."""
        self._line.append((self._now + self.command, values.copy()))
        whole, rest = np.divmod(self.age, self._frames)
        offsets = np.where(rest > 0, self._frames - rest, self._frames)
        current: NDArray[np.float32] | None = None
        at = 0
        while at < self._frames:
            for due, row in self._line:
                ready = (due >= 0) & (due <= self._now + at)
                if ready.any():
                    self._apply(row, ready)
                    due[ready] = -1
            later = [int(d) - self._now for due, _ in self._line for d in np.unique(due[due > self._now + at])]
            cuts = [c for c in [*later, *np.unique(offsets).tolist(), self._frames] if at < c <= self._frames]
            self._step(min(cuts) - at)
            at = min(cuts)
            here = offsets == at
            if here.any():
                observation = self._observe()
                current = observation.copy() if current is None else current
                current[here] = observation[here]
        self._now += self._frames
        self._line = [(due, row) for due, row in self._line if (due >= 0).any()]
        if current is not None:
            self._seen.append(current)
        while len(self._seen) > int(whole.max()) + 1:
            self._seen.popleft()

    def seen(self) -> NDArray[np.float32]:
        """Return the observations that arrive now, shape (worlds, n)."""
        back = np.minimum(self.age // self._frames, len(self._seen) - 1)
        out = self._seen[-1].copy()
        for periods in np.unique(back[back > 0]):
            rows = back == periods
            out[rows] = self._seen[-1 - int(periods)][rows]
        return out


class ObservationNoise:
    """Adds normal noise to observations, from a generator of each world.

    Args:
        noise: name of an observation -> standard deviation, in its unit.
        sizes: name of an observation -> its number of elements, in order.

    Raises:
        PliantError: there is no such observation, or a deviation is negative.
    """

    def __init__(self, noise: object, sizes: Mapping[str, int]) -> None:
        if not isinstance(noise, Mapping):
            raise PliantError(f"noise is {noise!r}; must be a dictionary: observation -> deviation", field="noise")
        for name, value in noise.items():
            if name not in sizes:
                known = nearest(str(name), sizes)
                raise PliantError(f"noise: the task has no observation {name!r}; {known}", field=name)
            if not is_finite_number(value) or value < 0.0:
                raise PliantError(f"noise: {name!r} is {value!r}; must be >= 0", field=name)
        self._deviation = np.concatenate([np.full(size, float(noise.get(name, 0.0))) for name, size in sizes.items()])
        self.active = bool(self._deviation.any())
        """Whether there is any."""

    def add(self, observation: NDArray[np.float32], rngs: Sequence[np.random.Generator]) -> NDArray[np.float32]:
        """Return observations with noise, shape (worlds, n)."""
        drawn = np.stack([rng.standard_normal(len(self._deviation)) for rng in rngs])
        return (observation + self._deviation * drawn).astype(np.float32)
