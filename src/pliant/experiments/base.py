"""Experiments: published results, reproduced, with numbers that pass or fail.

An experiment is a function from a `Context` to a `Result`, registered by a decorator in a module of this room (the
module ``ilc.py`` holds the experiment ``ilc``, ``maker_pro.py`` holds ``maker-pro``) or of another package (entry point
group ``pliant.experiments``):

    @experiment("ilc", title="Iterative learning control", paper="Mengacci et al. 2021", section="4.3")
    def ilc(context: Context) -> Result:
        worst = run(...)
        return Result(targets=[Target("largest error", high=0.08, unit="rad", source="section 4.3").measure(worst)])
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pliant.errors import PliantError

__all__ = [
    "Context",
    "Experiment",
    "Figure",
    "Result",
    "Table",
    "Target",
    "experiment",
    "registered_experiments",
]

Progress = Callable[[float, str], None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Target:
    """A number that an experiment must reach: inside [low, high], or within a tolerance of a value."""

    name: str
    """Description of the measured quantity."""
    measured: float | None = None
    """The value of this run; None if it was not measured, which fails."""
    low: float | None = field(default=None, kw_only=True)
    """Smallest value that passes, itself included."""
    high: float | None = field(default=None, kw_only=True)
    """Largest value that passes, itself included."""
    equals: float | None = field(default=None, kw_only=True)
    """Value to be met."""
    tolerance: float = field(default=0.0, kw_only=True)
    """Largest difference from ``equals`` that passes, in the unit of the value."""
    relative: float = field(default=0.0, kw_only=True)
    """Largest difference from ``equals`` that passes, as a fraction of it; added to ``tolerance``."""
    unit: str = field(default="", kw_only=True)
    """Unit of the numbers."""
    source: str = field(default="", kw_only=True)
    """Where the expectation comes from: section, figure, table, or "law and statics"."""
    note: str = field(default="", kw_only=True)
    """Remark on this number."""

    def __post_init__(self) -> None:
        if self.equals is None and self.low is None and self.high is None:
            raise PliantError(f"target {self.name!r} expects nothing; give low, high or equals", field=self.name)
        if self.equals is not None and not (self.low is None and self.high is None):
            raise PliantError(f"target {self.name!r} has equals and a range; give one of them", field=self.name)

    def measure(self, value: float | bool) -> Target:
        """Return the target with its measured value."""
        return dataclasses.replace(self, measured=float(value))

    @property
    def passed(self) -> bool:
        """Whether the measured value is where it must be; a value that is missing or not a number is not."""
        value = self.measured
        if value is None or math.isnan(value):
            return False
        if self.equals is not None:
            return abs(value - self.equals) <= self.tolerance + self.relative * abs(self.equals)
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    @property
    def expected(self) -> str:
        """The expectation as text, such as "0.8 +- 0.0002" or "at most 0.08"."""
        if self.equals is not None:
            text = _number(self.equals)
            if self.relative:
                text += f" \u00b1 {_number(100.0 * self.relative)} %"
            if self.tolerance:
                text += f" {'and ' if self.relative else ''}\u00b1 {_number(self.tolerance)}"
            return text
        if self.low is not None and self.high is not None:
            return f"{_number(self.low)} to {_number(self.high)}"
        return f"at least {_number(self.low)}" if self.high is None else f"at most {_number(self.high)}"

    def as_dict(self) -> dict[str, Any]:
        """Return all fields with ``passed`` and ``expected``, for JSON."""
        return {**dataclasses.asdict(self), "passed": self.passed, "expected": self.expected}


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of a report."""

    title: str
    """What it shows."""
    columns: Sequence[str]
    """Headings, with units."""
    rows: Sequence[Sequence[Any]]
    """Cells: numbers, texts, or None for an empty one."""
    note: str = ""
    """A sentence under the table."""

    def as_dict(self) -> dict[str, Any]:
        """Return the table for JSON."""
        return {"title": self.title, "columns": list(self.columns), "rows": [list(r) for r in self.rows]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of a report."""

    name: str
    """Name of its files, without suffix."""
    caption: str
    """What it shows and what to see in it; the first sentence is its title."""
    figure: Any
    """A `matplotlib.figure.Figure` (see `pliant.experiments.style`), or PNG bytes."""


@dataclass(slots=True, kw_only=True)
class Result:
    """Result of an experiment; `reproduce` fills in name, duration and files."""

    targets: list[Target] = field(default_factory=list)
    """Numbers with their expected values."""
    tables: list[Table] = field(default_factory=list)
    """Further numbers."""
    figures: list[Figure] = field(default_factory=list)
    """Figures, in the order of the report."""
    summary: str = ""
    """Method and outcome, one paragraph."""
    notes: list[str] = field(default_factory=list)
    """Remarks: differences from the source, time steps."""
    assumptions: list[str] = field(default_factory=list)
    """Assumptions about what the source does not state."""
    traces: dict[str, np.ndarray] = field(default_factory=dict)
    """Arrays written to ``<name>/traces.npz``; names with units, such as "time_s"."""
    name: str = ""
    """Name of the experiment."""
    title: str = ""
    """Its title."""
    paper: str = ""
    """The publication."""
    section: str = ""
    """Section, figure or table of it."""
    quick: bool = False
    """Whether it was the short version."""
    seed: int = 0
    """Seed of the random numbers."""
    duration: float = 0.0
    """Wall time of the run [s]."""
    error: str = ""
    """Why the run did not finish; empty if it did."""
    files: dict[str, str] = field(default_factory=dict)
    """Files written: "report", "json", "traces" and the figures by name."""

    @property
    def passed(self) -> bool:
        """Whether the run reached its end and every target passed."""
        return not self.error and bool(self.targets) and all(target.passed for target in self.targets)

    @property
    def failures(self) -> list[Target]:
        """The targets that did not pass."""
        return [target for target in self.targets if not target.passed]

    def as_dict(self) -> dict[str, Any]:
        """Return everything but arrays and figures, for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "paper": self.paper,
            "section": self.section,
            "passed": self.passed,
            "error": self.error,
            "quick": self.quick,
            "seed": self.seed,
            "duration_s": self.duration,
            "summary": self.summary,
            "targets": [target.as_dict() for target in self.targets],
            "tables": [table.as_dict() for table in self.tables],
            "figures": [{"name": f.name, "caption": f.caption} for f in self.figures],
            "notes": list(self.notes),
            "assumptions": list(self.assumptions),
            "files": dict(self.files),
        }


@dataclass(slots=True, kw_only=True)
class Context:
    """Arguments of an experiment."""

    output: Path
    """Folder for files of the experiment's own; it exists and is writable."""
    quick: bool = False
    """Asks for a short version with the same targets where possible: for tests and a first look."""
    seed: int = 0
    """Seed for everything random."""
    report: Progress | None = None
    """Receives the completed fraction and a text; None if nobody listens."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the robot that the caller changes, by name; an experiment may refuse them."""

    @property
    def rng(self) -> np.random.Generator:
        """A new generator with the run's seed."""
        return np.random.default_rng(self.seed)

    def refuse_options(self) -> None:
        """Raise PliantError where the caller changes options and the experiment has none to change."""
        if self.options:
            raise PliantError(f"this experiment takes no options; found {', '.join(sorted(self.options))}")

    def progress(self, fraction: float, text: str = "") -> None:
        """Say how far the experiment is, 0 to 1, and what it does now."""
        if self.report is not None:
            self.report(min(max(float(fraction), 0.0), 1.0), text)

    def track(
        self, items: Iterable[T], text: str | Callable[[T], str] = "", *, low: float = 0.0, high: float = 1.0
    ) -> Iterator[T]:
        """Yield the items and report the progress between two fractions of the whole."""
        every = list(items)
        for i, item in enumerate(every):
            self.progress(low + (high - low) * i / len(every), text(item) if callable(text) else text)
            yield item
        self.progress(high, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A registered experiment."""

    name: str
    """Name on the command line."""
    title: str
    """Title of the report."""
    paper: str
    """The publication."""
    section: str
    """Section, figure or table of it."""
    function: Callable[[Context], Result]
    """Runs it."""

    @property
    def summary(self) -> str:
        """The first line of the function's documentation, or the title."""
        return (self.function.__doc__ or self.title).strip().splitlines()[0]

    def run(self, context: Context) -> Result:
        """Run it and fill in what the registry knows."""
        start = time.perf_counter()
        result = self.function(context)
        result.duration = time.perf_counter() - start
        return self.stamp(result, context)

    def stamp(self, result: Result, context: Context) -> Result:
        """Write name, source and settings into a result."""
        result.name, result.title = self.name, self.title
        result.paper, result.section = self.paper, self.section
        result.quick, result.seed = context.quick, context.seed
        return result


_EXPERIMENTS: dict[str, Experiment] = {}


def experiment(
    name: str, *, title: str = "", paper: str = "", section: str = ""
) -> Callable[[Callable[[Context], Result]], Callable[[Context], Result]]:
    """Register the decorated function as an experiment.

    Args:
        name: name on the command line; the module is named after it, with underscores.
        title: title of the report; the name where it is left out.
        paper: what it reproduces.
        section: where in it.
    """

    def decorate(function: Callable[[Context], Result]) -> Callable[[Context], Result]:
        _EXPERIMENTS[name] = Experiment(name=name, title=title or name, paper=paper, section=section, function=function)
        return function

    return decorate


def registered_experiments() -> dict[str, Experiment]:
    """Return the experiments whose modules have been imported, by name."""
    return dict(_EXPERIMENTS)
