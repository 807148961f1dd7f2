"""Searches and held-out evaluations of `pliant bench compliance`."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from pliant.base.errors import PliantError
from pliant.learn.compliance.listing import find_task
from pliant.learn.compliance.task import measured
from pliant.learn.envs.search import CrossEntropy

SPREAD = 0.25
"""Standard deviation with which searches begin, as a fraction of each range; ours: a quarter covers the range."""
FLOOR = 0.01
"""Standard deviation added in each round, as a fraction of each range; ours."""
BLOCK = 10_000
"""Seeds of one run's training, and of the held-out episodes."""
MAX_RUNS = 900
"""Largest number of runs, so that the seeds of two benchmark seeds cannot meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Budget of a method, the same for all that search.

    Raises:
        PliantError: a number is out of range.
    """

    runs: int = 10
    """Independent searches of each method, 1 to 900."""
    population: int = 12
    """Controllers in a round of a search, >= 8."""
    rounds: int = 10
    """Rounds of a search, >= 1."""
    episodes: int = 6
    """Training episodes of each controller in a round, new ones in every round, >= 1."""
    held_out: int = 50
    """Held-out episodes that judge the result of a search, 1 to 10,000."""

    def __post_init__(self) -> None:
        lowest = {"population": 8}
        highest = {"runs": MAX_RUNS, "held_out": BLOCK}
        for name in (f.name for f in fields(self)):
            value, low, high = getattr(self, name), lowest.get(name, 1), highest.get(name)
            if value < low or (high is not None and value > high):
                text = f">= {low}" if high is None else f"{low} to {high}"
                raise PliantError(f"{name} is {value}; must be {text}", field=name)
        if self.rounds * self.episodes > BLOCK:
            raise PliantError(
                f"rounds x episodes is {self.rounds * self.episodes}; must be <= {BLOCK}", field="episodes"
            )

    @property
    def searched(self) -> int:
        """Number of training episodes of one search."""
        return self.population * self.rounds * self.episodes


QUICK = Budget(runs=2, population=8, rounds=1, episodes=1, held_out=2)
"""Budget of a first look, too small for verdicts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Result of one run of a method."""

    task: str
    """Name of the task."""
    method: str
    """Name of the method."""
    run: int
    """Number of the run, from 0; methods without a search have run 0 only."""
    parameters: dict[str, float]
    """Parameters of the controller, in their units."""
    history: list[float]
    """Training measure of the centre of the search in each round."""
    measures: dict[str, list[float]]
    """Measure -> value in each held-out episode."""


def held_out_seeds(seed: int, budget: Budget) -> range:
    """Return the seeds of the episodes that judge, the same for all methods and runs."""
    first = seed * BLOCK * (MAX_RUNS + 1)
    return range(first, first + budget.held_out)


def training_seeds(seed: int, run: int, round_: int, budget: Budget) -> range:
    """Return the seeds of the training episodes in one round of a run, the same for all methods."""
    first = (seed * (MAX_RUNS + 1) + run + 1) * BLOCK + round_ * budget.episodes
    return range(first, first + budget.episodes)


def run_method(name: str, method_name: str, run: int, seed: int, budget: Budget) -> Outcome:
    """Search the parameters of one method, and evaluate them in held-out episodes.

    Args:
        name: name of the task.
        method_name: name of the method.
        run: number of the run.
        seed: seed of the benchmark.
        budget: budget of the search.
    """
    task = find_task(name)
    method = task.method(method_name)
    free = len(task.free(method))
    history: list[float] = []
    center = np.zeros((1, free))
    if free:
        search = CrossEntropy(free, budget.population, np.random.default_rng([seed, run]), spread=SPREAD, floor=FLOOR)
        search.mean[:] = 0.5
        for k in range(budget.rounds):
            values = task.values(method, search.ask())
            scores = measured(task, values, training_seeds(seed, run, k, budget))[task.objective.name].mean(axis=1)
            history.append(_rounded(scores[0]))
            search.tell(task.objective.sign * scores)
        center = search.mean[None]
    parameters = task.values(method, center)
    found = measured(task, parameters, held_out_seeds(seed, budget))
    return Outcome(
        task=name,
        method=method_name,
        run=run,
        parameters={p.name: _rounded(v) for p, v in zip(task.parameters, parameters[0], strict=True)},
        history=history,
        measures={key: [_rounded(v) for v in values[0]] for key, values in found.items()},
    )


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
