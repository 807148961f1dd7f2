"""Gradient-free search: the cross-entropy method (Rubinstein 1999)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import PliantError

if TYPE_CHECKING:
    from pliant.learn.envs.vector import BatchEnv


class CrossEntropy:
    """Cross-entropy method: fit a normal distribution of parameters to the best quarter of the samples of each round.

    Args:
        size: number of parameters.
        population: number of samples in each round, >= 8.
        rng: random generator.
        spread: initial standard deviation of the parameters: a number, or shape (size,).
        floor: standard deviation added in each round, so that the search does not converge too early.

    Raises:
        PliantError: an argument is out of range.

    Example:
        >>> search = CrossEntropy(2, 32, np.random.default_rng(1))
        >>> for _ in range(40):
        ...     draws = search.ask()
        ...     search.tell(-np.sum((draws - 0.5) ** 2, axis=1))
        >>> bool(np.allclose(search.mean, 0.5, atol=0.1))
        True
    """

    def __init__(
        self, size: int, population: int, rng: np.random.Generator, *, spread: ArrayLike = 0.7, floor: float = 0.02
    ) -> None:
        if size < 1 or population < 8:
            raise PliantError(f"size is {size} and population {population}; must be >= 1 and >= 8", field="population")
        spreads = np.asarray(spread, dtype=float)
        if spreads.shape not in ((), (size,)) or not (spreads > 0.0).all() or not floor >= 0.0:
            raise PliantError(
                f"spread is {spread} and floor {floor:g}; must be > 0, one or {size} of them, and >= 0", field="spread"
            )
        self.mean = np.zeros(size)
        """Centre of the distribution, shape (size,): the result."""
        self.spread = np.full(size, spreads)
        """Its standard deviations, shape (size,)."""
        self._population, self._rng, self._floor = population, rng, floor
        self._draws: NDArray[np.float64] | None = None

    def ask(self) -> NDArray[np.float64]:
        """Return samples of the parameters, shape (population, size); the first one is the mean."""
        draws = self.mean + self.spread * self._rng.standard_normal((self._population, len(self.mean)))
        draws[0] = self.mean
        self._draws = draws
        return draws.copy()

    def tell(self, scores: ArrayLike) -> None:
        """Update the distribution with the scores of the samples.

        Args:
            scores: score of each sample, shape (population,); higher is better.

        Raises:
            PliantError: `ask` was not called, or the scores have another shape or contain NaN.
        """
        values = np.asarray(scores, dtype=float)
        if self._draws is None:
            raise PliantError("tell() was called before ask()")
        if values.shape != (self._population,) or np.isnan(values).any():
            raise PliantError(
                f"scores have shape {values.shape}; must be ({self._population},), without NaN", field="scores"
            )
        best = self._draws[np.argsort(-values)[: self._population // 4]]
        self.mean = 0.3 * self.mean + 0.7 * best.mean(axis=0)
        self.spread = 0.3 * self.spread + 0.7 * best.std(axis=0) + self._floor
        self._draws = None


def episode_returns(
    env: BatchEnv,
    act: Callable[[NDArray[np.float32]], NDArray[np.float64]],
    *,
    seed: int | None = None,
    options: dict[str, object] | None = None,
) -> NDArray[np.float64]:
    """Run one episode in every world; return the sum of its rewards, shape (worlds,).

    Args:
        env: vector environment.
        act: function from observations, shape (worlds, n), to actions, shape (worlds, m).
        seed: argument of `BatchEnv.reset`.
        options: argument of `BatchEnv.reset`.
    """
    observations, _ = env.reset(seed=seed, options=options)
    total, live = np.zeros(env.num_envs), np.ones(env.num_envs, dtype=bool)
    while live.any():
        observations, rewards, terminated, truncated, _ = env.step(act(cast("NDArray[np.float32]", observations)))
        total[live] += rewards[live]
        live &= ~(terminated | truncated)
    return total
