"""Walks over bars in numbers: cells of feet and bar height, seeds, a pool of processes, and what the seeds prove.

A walk that was simulated is kept in a journal, so that a run that was interrupted goes on where it was. Its key holds
everything that the walk depends on, the code of the walking robot included.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pliant.base.errors import PliantError
from pliant.tasks.executor import Executor
from pliant.tasks.journal import Journal, map_tasks
from pliant.walking.control.settings import REFERENCE_HEIGHT, REFERENCE_MASS, WalkSettings
from pliant.walking.walk import WalkResult, WalkRow, run_walk

LEVEL = 0.95
"""Confidence of the intervals."""
CODE = (
    "pliant.walking.control", "pliant.walking.device", "pliant.walking.model", "pliant.walking.walk",
    "pliant.feet.model", "pliant.walking.bars", "pliant.walking.robots.biped", "pliant.walking.robots.humanoids",
    "pliant.feet.softfoot", "pliant.model.contacts",
)  # fmt: skip
"""Packages and modules that a walk depends on."""
ARCHES = (-0.053, 0.107)
"""From the hinge of the heel to the metatarsal joint of the SoftFoot, from its ankle [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """Requirements on a walk of a robot of this size: lengths, times and pushes are those of the biped, scaled."""

    mass: float
    """Of the robot with its own feet [kg]."""
    height: float
    """Of its centre of mass over the ground where it starts to walk [m]."""
    sole: tuple[float, float]
    """Ends of the rigid sole, from the robot's ankle [m]."""
    foot: float
    """Place of the soft foot's ankle ahead of the robot's [m]."""
    support: str = ""
    """Known limits of soft feet under this robot; "" where they carry it."""

    @property
    def length(self) -> float:
        """Ratio of the lengths to those of the biped."""
        return self.height / REFERENCE_HEIGHT

    @property
    def impulse(self) -> float:
        """Ratio of the pushes: of mass times speed."""
        return self.mass / REFERENCE_MASS * math.sqrt(self.length)

    @property
    def ankle_stiffness(self) -> float:
        """Impedance of its loaded ankles where none is chosen [N m/rad]."""
        return WalkSettings().ankle_stiffness * self.mass / REFERENCE_MASS * self.length

    @property
    def between(self) -> tuple[float, float]:
        """From the posterior to the anterior arch of the soft foot, from the robot's ankle [m]."""
        return self.foot + ARCHES[0], self.foot + ARCHES[1]


COURSES = {
    "biped": Course(mass=REFERENCE_MASS, height=REFERENCE_HEIGHT, sole=(-0.07, 0.13), foot=0.02),
    # Numbers of the descriptions in example-robot-data, as the catalogue makes the robots stand.
    "g1": Course(mass=33.34, height=0.6629, sole=(-0.055, 0.125), foot=0.025),
    "talos": Course(
        mass=90.27, height=0.8806, sole=(-0.1163, 0.1046), foot=-0.0159,
        support="The pitch stiffness of a SoftFoot is 0.91 of the m g h of Talos on one foot (0.85 straight under the "
        "ankle): with held joints Talos falls from it, and the controller balances it by the torque of the ankle.",
    ),
}  # fmt: skip
"""By robot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """One walk: what distinguishes it from the others."""

    robot: str = "biped"
    """Which robot walks, one of `COURSES`."""
    feet: str
    """"rigid" or "soft"."""
    height: float
    """Height and length of the bar [m]; 0: none."""
    seed: int
    """Of the bar's position and of the variations."""
    goal: float = 1.45
    """Distance at which the walk is completed [m]."""
    duration: float = 15.0
    """Time that it may take [s]."""
    bar_range: tuple[float, float] = (0.25, 1.15)
    """Where the bar may be, ahead of the ankles at the start [m]."""
    push: float = 2.0
    """Largest push on the torso [N s]."""
    ankle_stiffness: float | None = None
    """Impedance of the loaded ankles towards a level foot [N m/rad]; None: that of the robot."""

    def options(self, controller: Mapping[str, object]) -> dict[str, object]:
        """Return the options of the robot for this walk."""
        ankles = {} if self.ankle_stiffness is None else {"ankle_stiffness": self.ankle_stiffness}
        return {"bar_range": self.bar_range, "bar_count": 1, **ankles, **controller}


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """How one walk went, and where a foot stood on the bar."""

    result: WalkResult
    """Result of `run_walk`."""
    offset: float
    """Place of the bar ahead of the robot's ankle under the foot that first stood on it [m]; NaN if none did."""


def _run(walk: Walk, controller: Mapping[str, object]) -> Crossing:
    trace: list[WalkRow] = []
    result = run_walk(
        robot=walk.robot,
        feet=walk.feet,
        bar_height=walk.height,
        seed=walk.seed,
        duration=walk.duration,
        goal=walk.goal,
        push=walk.push,
        options=walk.options(controller),
        trace=trace,
    )
    sole = COURSES[walk.robot].sole
    return Crossing(result=result, offset=_first_offset(trace, result.bars[0], sole) if result.bars else math.nan)


def _first_offset(trace: Sequence[WalkRow], bar: float, sole: tuple[float, float]) -> float:
    """Return where the bar is under the first foot that carries more than half of the weight on it [m]."""
    rear, front = sole
    for row in trace:
        load = sum(row.load)
        for foot, share in zip(row.feet, row.load, strict=True):
            ahead = bar - float(foot[0])
            if share > 0.5 * load > 0.0 and rear < ahead < front:
                return ahead
    return math.nan


def walk_many(
    walks: Iterable[Walk],
    *,
    settings: Mapping[str, Mapping[str, object]] | None = None,
    file: Path | None = None,
    executor: Executor | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> dict[Walk, Crossing]:
    """Simulate walks and keep each in a file as soon as it is finished.

    Args:
        walks: what to simulate, in this order.
        settings: feet -> further options of the robot that walks on them.
        file: where walks are kept and found again; None keeps none.
        executor: where they are simulated; None: in this process.
        progress: called with the fraction done and a text.

    Returns:
        The result of every walk.
    """
    tasks = {walk: (walk, dict((settings or {}).get(walk.feet, {}))) for walk in walks}

    def tell(done: int, count: int, walk: Walk) -> None:
        if progress is not None:
            bar = f"{1e3 * walk.height:g} mm" if walk.height else "flat"
            progress(done / count, f"{walk.robot}, {walk.feet} feet, {bar}, seed {walk.seed}")

    with Journal(file, Crossing) if file is not None else contextlib.nullcontext() as journal:
        return map_tasks(_run, tasks, code=CODE, journal=journal, executor=executor, progress=tell)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often something succeeded."""

    successes: int
    """Times it did."""
    trials: int
    """Times it was tried."""

    @property
    def value(self) -> float:
        """The fraction; NaN without trials."""
        return self.successes / self.trials if self.trials else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Its confidence interval, `wilson`."""
        return wilson(self.successes, self.trials)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.successes} of {self.trials} ({100 * low:.0f} to {100 * high:.0f} %)"


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the score interval of a probability (Wilson 1927) with the confidence `LEVEL`, 0 to 1 without trials.

    Args:
        successes: times it happened.
        trials: times it could have.
    """
    if trials == 0:
        return 0.0, 1.0
    from scipy.stats import binomtest

    found = binomtest(successes, trials).proportion_ci(LEVEL, "wilson")
    return float(found.low), float(found.high)


def fisher(one: Rate, two: Rate) -> float:
    """Return the probability, by chance alone, of rates at least as different as these (Fisher's exact test).

    The test is two-sided.

    Args:
        one: of one sample.
        two: of an independent one.
    """
    from scipy.stats import fisher_exact

    table = [[rate.successes, rate.trials - rate.successes] for rate in (one, two)]
    return float(fisher_exact(table)[1])  # type: ignore[index]


def fisher_stratified(strata: Iterable[tuple[Rate, Rate]]) -> float:
    """Return the probability, by chance alone, of rates at least as different as these within the strata.

    The strata, such as heights of a bar, may differ in their rates: only differences within them count. This is the
    exact two-sided test of Mantel and Haenszel: the distribution of the successes of the first samples, given all
    sums of each stratum, is the convolution of their hypergeometric distributions. One stratum gives `fisher`.

    Args:
        strata: pairs of rates of independent samples.
    """
    import numpy as np
    from scipy.stats import hypergeom

    chance, observed = np.ones(1), 0
    for one, two in strata:
        k = np.arange(one.trials + 1)
        chance = np.convolve(
            chance, hypergeom.pmf(k, one.trials + two.trials, one.successes + two.successes, one.trials)
        )
        observed += one.successes
    # Equal probabilities that differ by rounding count as equal, as in scipy's test.
    return float(min(1.0, chance[chance <= chance[observed] * (1.0 + 1e-7)].sum()))


def mcnemar(one: Sequence[bool], two: Sequence[bool]) -> tuple[int, int, float]:
    """Compare two samples of the same seeds (McNemar's test, exact, two-sided).

    Args:
        one: success of each seed.
        two: success of the same seeds.

    Returns:
        Seeds that only the first one passed, seeds that only the second one passed, probability by chance alone.

    Raises:
        PliantError: the samples have different lengths.
    """
    if len(one) != len(two):
        raise PliantError(f"pairs of {len(one)} and {len(two)} seeds; must be equally many", field="seeds")
    from scipy.stats import binomtest

    first = sum(a and not b for a, b in zip(one, two, strict=True))
    second = sum(b and not a for a, b in zip(one, two, strict=True))
    if first + second == 0:
        return 0, 0, 1.0
    return first, second, float(binomtest(first, first + second).pvalue)
