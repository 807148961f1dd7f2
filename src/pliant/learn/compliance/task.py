"""Declaration of a task of `pliant bench compliance`.

A task is a module of `pliant.learn.compliance.tasks` with one `ComplianceTask` named ``TASK``. Nothing else lists it:

    def evaluate(parameters, seeds):  # (candidates, 3) in the parameters' units; one world for each pair
        error = np.array([[episode(row, seed) for seed in seeds] for row in parameters])
        return {"error": error}  # measure -> shape (candidates, seeds)

    TASK = ComplianceTask(
        name="hold",
        title="Hold a hand still while a load falls onto it",
        claim="A stiffness that follows the load holds the hand better than any constant one.",
        primary=Measure("error", unit="mm", better="lower", meaning="mean distance from the target"),
        parameters=(
            TaskParameter("stiffness_before", 10.0, 1000.0, 100.0, unit="N/m", stiffness="arm", log=True),
            TaskParameter("stiffness_after", 10.0, 1000.0, 800.0, unit="N/m", stiffness="arm", log=True),
            TaskParameter("feedforward", 0.0, 2.0, 1.0),
        ),
        evaluate=evaluate,
    )

The frame derives three methods from the parameters. `VARIABLE` searches all of them. `FIXED` searches the same ones,
but all parameters with the same ``stiffness`` group have one common value, so that each fixed controller is also a
variable one. `RULE` uses the values that were written by hand, without a search. Both searches begin in the middle of
all ranges, with the same spread, seeds, number of episodes and worlds. A task can add methods, such as a rigid joint,
and claims that compare them.

The world of an episode depends on its seed alone and on no parameter, so that methods are compared in the same worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import PliantError, nearest

Evaluate = Callable[[NDArray[np.float64], Sequence[int]], Mapping[str, NDArray[np.float64]]]
"""Function of parameters, shape (candidates, n), and seeds that returns each measure, shape (candidates, seeds)."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that each episode gives."""

    name: str
    """Its name in the dictionary that `ComplianceTask.evaluate` returns."""
    unit: str = field(kw_only=True)
    """Unit; "1" for a fraction or a probability."""
    better: Literal["lower", "higher"] = field(kw_only=True)
    """Which direction is better."""
    meaning: str = field(kw_only=True)
    """What is measured, in one sentence."""

    @property
    def sign(self) -> float:
        """1 if higher values are better, else -1."""
        return 1.0 if self.better == "higher" else -1.0


@dataclass(frozen=True, slots=True)
class TaskParameter:
    """A parameter of a controller with the range in which it is searched."""

    name: str
    """Name."""
    low: float
    """Smallest value, in its unit."""
    high: float
    """Largest value, in its unit."""
    rule: float
    """Value of the hand-written controller."""
    unit: str = field(default="1", kw_only=True)
    """Unit."""
    stiffness: str = field(default="", kw_only=True)
    """Group of stiffnesses that the method `FIXED` gives one common value; "" if it is no stiffness."""
    log: bool = field(default=False, kw_only=True)
    """Whether the search uses the logarithm."""
    meaning: str = field(default="", kw_only=True)
    """What it does."""

    def value(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values for places from 0 (``low``) to 1 (``high``) of the range; others are clipped."""
        u = np.clip(u, 0.0, 1.0)
        if self.log:
            return np.asarray(self.low * (self.high / self.low) ** u)
        return np.asarray(self.low + (self.high - self.low) * u)


@dataclass(frozen=True, slots=True)
class Method:
    """How the parameters of a controller are found."""

    name: str
    """Name in tables and files."""
    searched: bool = field(default=True, kw_only=True)
    """Whether they are searched; otherwise they are the rule's."""
    tied: bool = field(default=False, kw_only=True)
    """Whether the stiffnesses of a group have one common value."""
    pinned: Mapping[str, float] = field(default_factory=dict, kw_only=True)
    """Parameters that this method does not search -> their constant values, such as a rigid joint."""


FIXED = Method("fixed", tied=True)
"""The best constant stiffness that the search finds."""
VARIABLE = Method("variable")
"""The best stiffnesses that the same search finds."""
RULE = Method("rule", searched=False)
"""The hand-written controller."""
METHODS = (FIXED, VARIABLE, RULE)
"""The methods of every task."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A comparison of two methods by the primary measure."""

    better: str
    """Name of the method that is claimed to be better."""
    than: str
    """Name of the other method."""


CLAIMS = (Claim("variable", "fixed"), Claim("variable", "rule"))
"""The claims of every task that names no others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplianceTask:
    """A task in which stiffness may decide.

    Raises:
        PliantError: names occur twice, a range is empty, a group of stiffnesses has different ranges, or a claim or the
            training measure does not exist.
    """

    name: str
    """Name on the command line."""
    title: str
    """What is done, in one line."""
    claim: str
    """The claim that is tested, in one sentence."""
    primary: Measure
    """The measure that claims are judged by."""
    secondary: tuple[Measure, ...] = ()
    """Measures that are printed and not judged."""
    parameters: tuple[TaskParameter, ...]
    """Parameters of the controller, in the order of the columns of `evaluate`."""
    evaluate: Evaluate
    """Simulates episodes: (parameters, seeds) -> measure -> shape (candidates, seeds)."""
    training: Measure | None = None
    """Measure that the search improves; None for the primary one. A probability is often too coarse to search with."""
    methods: tuple[Method, ...] = METHODS
    """Methods that are compared; the three of `METHODS` and further ones."""
    claims: tuple[Claim, ...] = CLAIMS
    """Comparisons that are judged, fixed before the runs."""
    code: tuple[str, ...] = ()
    """Dotted names of modules that the results depend on, beside the frame and the module of `evaluate`."""

    def __post_init__(self) -> None:
        for kind, names in (
            ("parameter", [p.name for p in self.parameters]),
            ("measure", [m.name for m in self.measures]),
            ("method", [m.name for m in self.methods]),
        ):
            twice = sorted({n for n in names if names.count(n) > 1})
            if twice or not names:
                found = f"the {kind} {twice[0]!r} twice" if twice else f"no {kind}"
                raise PliantError(f"task {self.name!r} has {found}; must be different names", field=kind)
        groups: dict[str, tuple[float, float, bool]] = {}
        for p in self.parameters:
            if not (p.low < p.high and p.low <= p.rule <= p.high and (p.low > 0.0 or not p.log)):
                raise PliantError(
                    f"task {self.name!r}: {p.name} is {p.low:g} to {p.high:g} with the rule {p.rule:g}; the range must "
                    "contain the rule, and be positive where log is set",
                    field=p.name,
                )
            scale = (p.low, p.high, p.log)
            if p.stiffness and groups.setdefault(p.stiffness, scale) != scale:
                raise PliantError(
                    f"task {self.name!r}: the stiffnesses of group {p.stiffness!r} have different ranges", field=p.name
                )
        methods = [m.name for m in self.methods]
        for name in (name for claim in self.claims for name in (claim.better, claim.than)):
            if name not in methods:
                raise PliantError(f"task {self.name!r}: no method {name!r}; {nearest(name, methods)}", field="claims")
        known = [p.name for p in self.parameters]
        for name in (name for method in self.methods for name in method.pinned):
            if name not in known:
                raise PliantError(f"task {self.name!r}: no parameter {name!r}; {nearest(name, known)}", field="pinned")

    @property
    def objective(self) -> Measure:
        """The measure that the search improves."""
        return self.training or self.primary

    @property
    def measures(self) -> tuple[Measure, ...]:
        """All measures: the primary one first, then the secondary ones, then that of the training if it is another."""
        return (self.primary, *self.secondary, *(() if self.training is None else (self.training,)))

    def method(self, name: str) -> Method:
        """Return a method by name."""
        return next(method for method in self.methods if method.name == name)

    def free(self, method: Method) -> list[str]:
        """Return the names of what a method searches: parameters, and groups of tied stiffnesses."""
        names = [
            p.stiffness if method.tied and p.stiffness else p.name
            for p in self.parameters
            if p.name not in method.pinned
        ]
        return list(dict.fromkeys(names)) if method.searched else []

    def values(self, method: Method, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the parameters of candidates.

        Args:
            method: the method.
            u: places in the ranges of `free`, 0 to 1, shape (candidates, free).

        Returns:
            The parameters in their units, shape (candidates, parameters).
        """
        names = self.free(method)
        columns = []
        for p in self.parameters:
            if p.name in method.pinned or not method.searched:
                columns.append(np.full(len(u), float(method.pinned.get(p.name, p.rule))))
            else:
                columns.append(p.value(u[:, names.index(p.stiffness if method.tied and p.stiffness else p.name)]))
        return np.stack(columns, axis=1)


def measured(
    task: ComplianceTask, parameters: NDArray[np.float64], seeds: Sequence[int]
) -> dict[str, NDArray[np.float64]]:
    """Evaluate candidates and check what comes back: measure -> shape (candidates, seeds).

    Raises:
        PliantError: a measure is missing, has another shape, or is not finite.
    """
    given = task.evaluate(parameters, seeds)
    shape = (len(parameters), len(seeds))
    found = {}
    for measure in task.measures:
        if measure.name not in given:
            raise PliantError(
                f"task {task.name!r} gave no measure {measure.name!r}; it gave {', '.join(given) or 'none'}",
                field=measure.name,
            )
        values = np.asarray(given[measure.name], dtype=float)
        if values.shape != shape or not np.isfinite(values).all():
            raise PliantError(
                f"task {task.name!r}: {measure.name} has shape {values.shape}; must be {shape}, all finite",
                field=measure.name,
            )
        found[measure.name] = values
    return found


_TASKS: dict[str, ComplianceTask] = {}


def register_task(task: ComplianceTask) -> ComplianceTask:
    """Add a task of another package; one of the same name is replaced."""
    _TASKS[task.name] = task
    return task


def registered_tasks() -> dict[str, ComplianceTask]:
    """Return the tasks of other packages by name."""
    return dict(_TASKS)
