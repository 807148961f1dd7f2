"""Results of `pliant bench compliance`: their file, scores with intervals, and verdicts on claims."""

from __future__ import annotations

import dataclasses
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from pliant.base.documents.files import write_files
from pliant.base.documents.json_text import read_json
from pliant.base.errors import PliantError
from pliant.base.numerics import holm
from pliant.learn.compliance.listing import find_task
from pliant.learn.compliance.runs import Budget, Outcome
from pliant.learn.compliance.statistics import Interval, Verdict, interval, judge, sign_flip
from pliant.learn.compliance.task import Claim, ComplianceTask, Measure

FILE = "compliance.json"
"""Name of the result file in the output folder."""
VERSION = 2
"""Version of the result file; since 2 it has the family of claims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A measure of a method."""

    task: str
    """Name of the task."""
    method: str
    """Name of the method."""
    measure: Measure
    """What was measured."""
    found: Interval
    """Interquartile mean over runs, with its interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedClaim:
    """A claim with its verdict."""

    task: str
    """Name of the task."""
    claim: Claim
    """The two methods."""
    measure: Measure
    """The primary measure of the task."""
    difference: Interval
    """The first method's minus the second's, in the unit of the measure."""
    p: float
    """Two-sided p-value of the sign-flip test of the runs."""
    corrected: float
    """The same after Holm's correction over all registered claims."""
    verdict: Verdict
    """Verdict on the first method."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Outcomes of one seed and budget."""

    seed: int
    """Seed of the benchmark."""
    budget: Budget
    """Budget of each method."""
    family: tuple[tuple[str, str, str], ...]
    """All claims that were registered when the benchmark was run, whether their tasks were run or not: task, better
    method, other method. p-values are corrected for as many claims, whatever tasks are added later."""
    outcomes: tuple[Outcome, ...]
    """Outcomes, sorted by task, method and run."""

    @property
    def tasks(self) -> list[ComplianceTask]:
        """The tasks that were run."""
        return [find_task(name) for name in dict.fromkeys(outcome.task for outcome in self.outcomes)]

    def only(self, names: Sequence[str]) -> Results:
        """Return the outcomes of some tasks; of all for no name.

        Raises:
            PliantError: a task does not exist or was not run.
        """
        kept = {outcome.task for outcome in self.outcomes}
        for name in names:
            if find_task(name).name not in kept:
                raise PliantError(
                    f"the results have no task {name!r}; they have {', '.join(sorted(kept))}", field="task"
                )
        return dataclasses.replace(
            self, outcomes=tuple(outcome for outcome in self.outcomes if not names or outcome.task in names)
        )

    def require(self, *, seed: int, budget: Budget | None = None) -> None:
        """Refuse these results for a run with another seed or budget.

        Raises:
            PliantError: they differ; the message says in what.
        """
        if seed != self.seed:
            raise PliantError(
                f"the results have the seed {self.seed} and not {seed}; give --seed {self.seed} or another folder",
                field="seed",
            )
        if budget is not None:
            for field in dataclasses.fields(budget):
                asked, kept = getattr(budget, field.name), getattr(self.budget, field.name)
                if asked != kept:
                    raise PliantError(
                        f"the results have a budget with {field.name} = {kept} and not {asked}; give the same budget "
                        "or another folder",
                        field=field.name,
                    )

    def matrix(self, task: str, method: str, measure: str) -> NDArray[np.float64]:
        """Return a measure of a method, shape (runs, held-out episodes)."""
        rows = [o.measures[measure] for o in self.outcomes if (o.task, o.method) == (task, method)]
        return np.array(rows, dtype=float)

    def scores(self) -> list[Score]:
        """Return every measure of every method."""
        return [
            Score(
                task=task.name,
                method=method.name,
                measure=measure,
                found=interval(
                    self.matrix(task.name, method.name, measure.name), self._rng(task.name, method.name, measure.name)
                ),
            )
            for task in self.tasks
            for method in task.methods
            for measure in task.measures
        ]

    def claims(self) -> list[JudgedClaim]:
        """Return all claims of the tasks with their verdicts."""
        asked = [(task, claim) for task in self.tasks for claim in task.claims]
        count = len(self.family)
        found = []
        for task, claim in asked:
            first, second = (self.matrix(task.name, name, task.primary.name) for name in (claim.better, claim.than))
            differences = first - second  # a method without a search has one run, which is compared with each run
            rng = self._rng(task.name, claim.better, claim.than)
            found.append((differences, interval(differences, rng), sign_flip(differences.mean(axis=1), rng)))
        corrected = holm([p for *_, p in found], count)
        judged = []
        for (task, claim), (differences, difference, p), family_p in zip(asked, found, corrected, strict=True):
            signed = difference
            if task.primary.better == "lower":
                signed = Interval(-difference.value, -difference.high, -difference.low)
            judged.append(
                JudgedClaim(
                    task=task.name,
                    claim=claim,
                    measure=task.primary,
                    difference=difference,
                    p=p,
                    corrected=family_p,
                    verdict=judge(signed, family_p, runs=len(differences), count=count),
                )
            )
        return judged

    def _rng(self, *words: str) -> np.random.Generator:
        """Return the generator of one interval, which does not depend on which others are computed."""
        return np.random.default_rng([self.seed, zlib.crc32("/".join(words).encode())])

    def as_dict(self) -> dict[str, object]:
        """Return scores and claims as plain types, for JSON."""
        return {
            "version": VERSION,
            "seed": self.seed,
            "budget": dataclasses.asdict(self.budget),
            "claims": [
                {**dataclasses.asdict(c), "measure": c.measure.name, "unit": c.measure.unit} for c in self.claims()
            ],
            "scores": [
                {**dataclasses.asdict(s), "measure": s.measure.name, "unit": s.measure.unit} for s in self.scores()
            ],
        }

    def write(self, path: Path) -> None:
        """Write the outcomes as one JSON file; equal results give equal bytes.

        Raises:
            PliantError: the file cannot be written.
        """
        head = {
            "version": VERSION,
            "seed": self.seed,
            "budget": dataclasses.asdict(self.budget),
            "family": self.family,
        }
        lines = ",\n".join(json.dumps(dataclasses.asdict(outcome)) for outcome in self.outcomes)
        text = f'{json.dumps(head)[:-1]}, "outcomes": [\n{lines}\n]}}\n'
        write_files(path.parent, {path.name: text.encode()}, "the results", PliantError, overwrite=True)


def registered_claims(tasks: Sequence[ComplianceTask]) -> tuple[tuple[str, str, str], ...]:
    """Return the claims of tasks as `Results.family` has them."""
    return tuple((task.name, claim.better, claim.than) for task in tasks for claim in task.claims)


def read_results(path: str | Path) -> Results:
    """Read a result file.

    Raises:
        PliantError: the file cannot be read, is of another version, its outcomes do not fit its tasks or budget, or a
            claim of a task is not in its family.
    """
    file = Path(path)
    document = read_json(file)
    version = document.get("version") if isinstance(document, dict) else None
    if version != VERSION:
        raise PliantError(
            f"the results are of version {version!r}; this pliant reads version {VERSION}; run the benchmark again",
            file=file,
        )
    try:
        results = msgspec.convert({k: v for k, v in document.items() if k != "version"}, Results)
    except msgspec.ValidationError as error:
        raise PliantError(f"this is no result of pliant bench compliance: {error}", file=file) from None
    for task in results.tasks:
        _check(results, task, file)
    for claim in registered_claims(results.tasks):
        if claim not in results.family:
            raise PliantError(
                f"the claim {claim[1]!r} against {claim[2]!r} of task {claim[0]!r} is not in the family that was "
                "registered for these results; run the benchmark again",
                file=file,
                field="family",
            )
    return results


def _check(results: Results, task: ComplianceTask, file: Path) -> None:
    """Refuse outcomes that are not those of a task's methods, runs, measures and held-out episodes."""
    for method in task.methods:
        mine = [o for o in results.outcomes if (o.task, o.method) == (task.name, method.name)]
        runs = results.budget.runs if task.free(method) else 1
        if [o.run for o in mine] != list(range(runs)):
            raise PliantError(
                f"task {task.name!r}: {method.name} has the runs {[o.run for o in mine]}; must be 0 to {runs - 1}",
                file=file,
            )
        for outcome in mine:
            for measure in task.measures:
                values = outcome.measures.get(measure.name, [])
                if len(values) != results.budget.held_out or not np.isfinite(values).all():
                    raise PliantError(
                        f"task {task.name!r}: {method.name}, run {outcome.run} has {len(values)} values of "
                        f"{measure.name}; must be {results.budget.held_out}, all finite",
                        file=file,
                    )
