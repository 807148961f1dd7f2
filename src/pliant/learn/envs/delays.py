"""Latency and noise of the actions and observations of many worlds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import PliantError, nearest
from pliant.base.numerics import is_finite_number, is_number
from pliant.learn.envs.task import joined_ports

if TYPE_CHECKING:
    from pliant.learn.envs.task import World

MAX_DELAY = 10.0
"""Longest delay [s]; all measurements of this time are kept."""


def check_delays(delays: Mapping[str, float]) -> dict[str, float]:
    """Return delays by name [s].

    Raises:
        PliantError: one of them is no time of 0 to `MAX_DELAY`.
    """
    for name, value in delays.items():
        if not is_number(value) or not 0.0 <= value <= MAX_DELAY:
            raise PliantError(f"{name} is {value!r}; must be a time of 0 to {MAX_DELAY:g} s", field=name)
    return dict(delays)


class AgedWorld:
    """Many worlds as a policy sees them: what devices measure arrives late, by another number of steps in each world.

    Ports that no device measures, the time and the last action are the present ones, as on one robot.

    Args:
        world: the worlds.
        frames: steps of the engine for each action.
        measured: names of what devices measure.
    """

    def __init__(self, world: World, frames: int, measured: Collection[str]) -> None:
        self.worlds = world.worlds
        self.age = np.zeros(world.worlds, dtype=np.int64)
        """Age of a measurement in steps, shape (worlds,)."""
        self._world, self._frames, self._measured = world, frames, measured
        self._past: dict[str, deque[NDArray[np.float64]]] = {}  # of those that were read, the newest at the end

    @property
    def _periods(self) -> int:
        return int(self.age.max()) // self._frames + 1

    def port(self, name: str) -> NDArray[np.float64]:
        if name not in self._measured:
            return self._world.port(name)
        past = self._past.get(name)
        if past is None:
            past = self._past[name] = deque(np.array(self._world.port(name)) for _ in range(self._periods))
        back = np.minimum(self.age // self._frames, len(past) - 1)
        out = past[-1].copy()
        for periods in np.unique(back[back > 0]):
            rows = back == periods
            out[rows] = past[-1 - int(periods)][rows]
        return out

    def ports(self, names: Sequence[str]) -> NDArray[np.float64]:
        return joined_ports(self, names)

    @property
    def time(self) -> NDArray[np.float64]:
        return self._world.time

    @property
    def action(self) -> NDArray[np.float64]:
        return self._world.action

    def measure(self, rows: NDArray[np.bool_], *, first: bool) -> None:
        """Keep the present values of some worlds; the first of a period begins a row for all of them."""
        for name, past in self._past.items():
            if first:
                past.append(np.array(self._world.port(name)))
                while len(past) > self._periods:
                    past.popleft()
            else:
                past[-1][rows] = self._world.port(name)[rows]

    def clear(self, mask: NDArray[np.bool_]) -> None:
        """Forget what was measured in worlds that were reset; they have seen nothing but their present state."""
        for name, past in self._past.items():
            while len(past) < self._periods:
                past.appendleft(past[0].copy())
            for values in past:
                values[mask] = self._world.port(name)[mask]


class Delays:
    """Holds back actions by whole steps of the engine, by another number in each world, and measures in between.

    Args:
        frames: steps of the engine for each action.
        apply: writes the values of actions, shape (worlds, actions), to some worlds, a mask of shape (worlds,).
        step: advances all worlds by a number of steps.
        seen: the worlds as they are measured.
    """

    def __init__(
        self,
        frames: int,
        apply: Callable[[NDArray[np.float64], NDArray[np.bool_]], None],
        step: Callable[[int], None],
        seen: AgedWorld,
    ) -> None:
        self.command = np.zeros(seen.worlds, dtype=np.int64)
        """Steps from an action to its effect, shape (worlds,)."""
        self.seen = seen
        """The worlds as they are measured."""
        self._frames, self._apply, self._step = frames, apply, step
        self._now = 0
        self._line: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []

    def clear(self, mask: NDArray[np.bool_]) -> None:
        """Forget what is on its way in worlds that were reset."""
        for due, _ in self._line:
            due[mask] = -1
        self.seen.clear(mask)

    def advance(self, values: NDArray[np.float64]) -> None:
        """Advance by one action."""
        self._line.append((self._now + self.command, values.copy()))
        rest = self.seen.age % self._frames
        offsets = np.where(rest > 0, self._frames - rest, self._frames)
        at, first = 0, True
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
                self.seen.measure(here, first=first)
                first = False
        self._now += self._frames
        self._line = [(due, row) for due, row in self._line if (due >= 0).any()]


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
