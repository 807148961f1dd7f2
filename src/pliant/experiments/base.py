"""Experiments: simulations of published results, with one verdict for each statement of the publication.

An experiment is a function that returns a `Result`, registered by a decorator in a module of a package that a wing
declares (`Wing.experiments`; ``ilc.py`` holds the experiment ``ilc``, ``maker_pro.py`` holds ``maker-pro``) or in a
file of ``--import``. It takes a `Context` and, where it has assumptions that can be changed, a frozen dataclass of
options (`pliant.base.options.option`):

    @dataclass(frozen=True, slots=True, kw_only=True)
    class IlcOptions:
        mass: float = option(1.0, unit="kg", low=0.0, above=True, source="assumed")
        '''Mass of a link.'''

    @experiment("ilc", title="Iterative learning control", paper="Mengacci et al. 2021", section="4.3")
    def ilc(context: Context, options: IlcOptions) -> Result:
        runs, change = learn(options.mass)
        statement = Statement(
            what="The learning stops after 11 runs.",
            where="section 4.3",
            targets=[Target("number of runs", equals=11, source="section 4.3").measure(runs)],
            found=f"The learning stops after {runs} runs.",
            rests_on="The mass of the links was never published.",
        )
        half = Target("change with half the time step", high=0.01, source="ours: convergence").measure(change)
        return Result(statements=[statement], targets=[half])

A `Statement` is what the publication says, at a place that it names. Its verdict follows from its targets and is never
given. A result of ours is no statement and has no verdict: it belongs to a table or a note. The ``targets`` of a
`Result` are checks of the simulation: another integrator, convergence, energy.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pliant.base.errors import PliantError
from pliant.base.options import describe, options_of
from pliant.experiments.films import NO_SCENE, Films, WrittenFilm
from pliant.tasks.executor import Executor

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Progress = Callable[[float, str], None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Target:
    """An expected number: a value in [low, high], or within a tolerance of ``equals``."""

    name: str
    """Description of the measured quantity."""
    measured: float | None = None
    """Value in this run; None if it was not measured, in which case the target is not met."""
    low: float | None = field(default=None, kw_only=True)
    """Lower limit, inclusive; None for no limit."""
    high: float | None = field(default=None, kw_only=True)
    """Upper limit, inclusive; None for no limit."""
    equals: float | None = field(default=None, kw_only=True)
    """Expected value, within ``tolerance`` and ``relative``; None if limits are given."""
    tolerance: float = field(default=0.0, kw_only=True)
    """Largest difference from ``equals`` that passes, in the unit of the value."""
    relative: float = field(default=0.0, kw_only=True)
    """Largest difference from ``equals`` that passes, as a fraction of it; added to ``tolerance``."""
    unit: str = field(default="", kw_only=True)
    """Unit of the numbers."""
    source: str = field(kw_only=True)
    """Source of the expected number: "section 4.2.3", "figure 12", or "ours: statics of the law"."""
    note: str = field(default="", kw_only=True)
    """Remark on this number."""

    def __post_init__(self) -> None:
        if self.equals is None and self.low is None and self.high is None:
            raise PliantError(f"target {self.name!r} expects nothing; give low, high or equals", field=self.name)
        if self.equals is not None and not (self.low is None and self.high is None):
            raise PliantError(f"target {self.name!r} has equals and a range; give one of them", field=self.name)
        if not self.source.strip():
            raise PliantError(
                f"target {self.name!r} has no source; must be a section, figure or table, or 'ours: ...'",
                field=self.name,
            )

    def measure(self, value: float | bool) -> Target:
        """Return the target with its measured value."""
        return dataclasses.replace(self, measured=float(value))

    @property
    def passed(self) -> bool:
        """Whether the measured value meets the expectation; a missing value or NaN does not."""
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

    @property
    def beyond(self) -> float:
        """How far the measured value lies outside the expectation, in its unit; 0 inside it, NaN if not measured."""
        value = math.nan if self.measured is None else self.measured
        if self.equals is not None:
            return max(0.0, abs(value - self.equals) - self.tolerance - self.relative * abs(self.equals))
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return math.nan if math.isnan(value) else max(0.0, low - value, value - high)

    @property
    def difference(self) -> str:
        """Measured and expected value, as text."""
        measured = "not measured" if self.measured is None else f"{_number(self.measured)} {self.unit}".strip()
        text = f"{self.name}: {measured}; expected {self.expected} {self.unit}".rstrip()
        return text if self.passed or not math.isfinite(self.beyond) else f"{text}; {_number(self.beyond)} beyond"

    def as_dict(self) -> dict[str, object]:
        """Return all fields with ``passed`` and ``expected``, for JSON."""
        return {**dataclasses.asdict(self), "passed": self.passed, "expected": self.expected}


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


_PLACE = re.compile(r"\b(abstract|(?:section|figure|table|equation|footnote)s?|video)\b", re.IGNORECASE)
"""What the place of a statement names."""
_OURS = re.compile(r"\s*ours\b", re.IGNORECASE)


class Verdict(enum.StrEnum):
    """Verdict on a statement of a publication."""

    REPRODUCED = "reproduced"
    """All targets are met, and nothing is assumed."""
    CONSISTENT = "consistent"
    """All targets are met, but the result depends on data that were never published."""
    NOT_REPRODUCED = "not reproduced"
    """At least one target is not met."""
    NOT_JUDGED = "not judged"
    """The statement has no targets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement, number or figure of a publication, and the result of the simulation for it."""

    what: str
    """The statement of the publication in our words, as a full sentence."""
    where: str
    """Place in the publication: "section 4.2.3", "figure 14, panel B". It names an abstract, section, figure, table,
    equation, footnote or video."""
    targets: Sequence[Target] = ()
    """The statement as measured numbers; empty if nothing can be measured."""
    found: str
    """One sentence with the numbers of this run; without targets, why the statement cannot be judged."""
    rests_on: str = ""
    """Assumptions that replace unpublished data; empty if there are none."""

    def __post_init__(self) -> None:
        for name in ("what", "where", "found"):
            if not getattr(self, name).strip():
                raise PliantError(f"statement {self.what!r}: {name} must not be empty", field=name)
        if _OURS.match(self.what) or not _PLACE.search(self.where):
            raise PliantError(
                f"statement {self.what!r} at {self.where!r} is not one of a publication; where must name its abstract, "
                "section, figure, table, equation, footnote or video; a result of ours belongs to a table or a note",
                field="where",
            )
        if self.targets and all(_OURS.match(target.source) for target in self.targets):
            raise PliantError(
                f"statement {self.what!r} is judged by numbers of ours alone; the source of at least one target must "
                "name the place in the publication, such as 'section 4.2.3; the limit is ours'",
                field="targets",
            )

    @property
    def verdict(self) -> Verdict:
        """The verdict, computed from ``targets`` and ``rests_on``."""
        if not self.targets:
            return Verdict.NOT_JUDGED
        if self.missed:
            return Verdict.NOT_REPRODUCED
        return Verdict.CONSISTENT if self.rests_on.strip() else Verdict.REPRODUCED

    @property
    def missed(self) -> list[Target]:
        """The targets that were not met."""
        return [target for target in self.targets if not target.passed]

    def as_dict(self) -> dict[str, object]:
        """Return all fields with ``verdict``, for JSON."""
        return {
            "what": self.what,
            "where": self.where,
            "verdict": str(self.verdict),
            "found": self.found,
            "rests_on": self.rests_on,
            "targets": [target.as_dict() for target in self.targets],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """An option of an experiment in one run."""

    name: str
    """Name of the option."""
    value: str
    """Value of this run, as text."""
    default: str
    """Default value, as text."""
    unit: str = ""
    """Unit of the value and the default."""
    meaning: str = ""
    """Description of the option."""
    source: str = ""
    """Source of the default value."""

    @property
    def changed(self) -> bool:
        """Whether the value differs from the default."""
        return self.value != self.default


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A verdict that differs from that of the run with the default options."""

    name: str
    """Text of the statement, or name of the check."""
    before: str
    """Verdict with the default options."""
    after: str
    """Verdict of this run."""
    found_before: str = ""
    """Finding with the default options."""
    found: str = ""
    """Finding of this run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of a report."""

    title: str
    """Title of the table."""
    columns: Sequence[str]
    """Column headings, with units."""
    rows: Sequence[Sequence[object]]
    """Cells: numbers, text, or None for an empty cell."""
    note: str = ""
    """Sentence below the table."""

    @classmethod
    def of(cls, title: str, rows: Iterable[Mapping[str, object]], note: str = "") -> Table:
        """Return a table of rows that name their cells: heading -> cell, the same headings in every row."""
        every = list(rows)
        return cls(
            title=title, columns=list(every[0]) if every else [], rows=[[*row.values()] for row in every], note=note
        )

    def as_dict(self) -> dict[str, object]:
        """Return the table for JSON."""
        return {"title": self.title, "columns": list(self.columns), "rows": [list(r) for r in self.rows]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of a report."""

    name: str
    """Name of its files, without suffix."""
    caption: str
    """Description of the figure; the first sentence is its title."""
    figure: Drawing | bytes
    """A `matplotlib.figure.Figure` (see `pliant.base.figures`), or PNG bytes."""


@dataclass(slots=True, kw_only=True)
class Result:
    """Result of an experiment; `reproduce` fills in name, duration and files."""

    statements: list[Statement] = field(default_factory=list)
    """Statements of the publication, each with a verdict."""
    targets: list[Target] = field(default_factory=list)
    """Checks of the simulation, such as convergence or an independent integration; each passes or fails."""
    tables: list[Table] = field(default_factory=list)
    """Tables with further results."""
    figures: list[Figure] = field(default_factory=list)
    """Figures, in the order of the report."""
    summary: str = ""
    """Method and outcome, one paragraph."""
    notes: list[str] = field(default_factory=list)
    """Remarks, such as differences from the publication or time steps."""
    assumptions: list[str] = field(default_factory=list)
    """Assumptions about values that the publication does not state."""
    settings: list[Setting] = field(default_factory=list)
    """Options of this run, filled in by the registry."""
    changes: list[Change] | None = None
    """Verdicts that differ from those with the default options; None if the options are the defaults."""
    traces: dict[str, np.ndarray] = field(default_factory=dict)
    """Arrays written to ``<name>/traces.npz``; names with units, such as "time_s"."""
    name: str = ""
    """Name of the experiment."""
    title: str = ""
    """Title of the experiment."""
    paper: str = ""
    """The publication."""
    section: str = ""
    """Section, figure or table of it."""
    quick: bool = False
    """Whether the short version was run."""
    seed: int = 0
    """Seed of the random numbers."""
    duration: float = 0.0
    """Wall time of the run [s]."""
    error: str = ""
    """Error that ended the run; empty if it finished."""
    files: dict[str, str] = field(default_factory=dict)
    """Names of the written files, with the keys "report", "json" and "traces" and the names of the figures."""
    films: list[WrittenFilm] = field(default_factory=list)
    """Films, if requested; filled in by the runner."""
    no_film: str = ""
    """Why a requested film does not exist; empty otherwise."""

    @property
    def passed(self) -> bool:
        """Whether the run finished and all checks passed.

        A statement that is not reproduced is a finding and not a failure.
        """
        return not self.error and bool(self.targets or self.statements) and not self.failures

    @property
    def failures(self) -> list[Target]:
        """Checks that did not pass."""
        return [target for target in self.targets if not target.passed]

    @property
    def not_reproduced(self) -> list[Statement]:
        """Statements that are not reproduced."""
        return [statement for statement in self.statements if statement.verdict is Verdict.NOT_REPRODUCED]

    @property
    def verdicts(self) -> dict[str, int]:
        """Verdict -> number of statements, for all four verdicts in their order."""
        found = Counter(statement.verdict for statement in self.statements)
        return {str(verdict): found[verdict] for verdict in Verdict}

    @property
    def every_target(self) -> list[Target]:
        """Targets of all statements, followed by the checks."""
        return [*(t for statement in self.statements for t in statement.targets), *self.targets]

    def as_dict(self) -> dict[str, object]:
        """Return all results except arrays and figures as plain types, for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "paper": self.paper,
            "section": self.section,
            "passed": self.passed,
            "verdicts": self.verdicts,
            "error": self.error,
            "quick": self.quick,
            "seed": self.seed,
            "duration_s": self.duration,
            "summary": self.summary,
            "statements": [statement.as_dict() for statement in self.statements],
            "targets": [target.as_dict() for target in self.targets],
            "tables": [table.as_dict() for table in self.tables],
            "figures": [{"name": f.name, "caption": f.caption} for f in self.figures],
            "notes": list(self.notes),
            "assumptions": list(self.assumptions),
            "options": [{**dataclasses.asdict(s), "changed": s.changed} for s in self.settings],
            "changes": None if self.changes is None else [dataclasses.asdict(change) for change in self.changes],
            "files": dict(self.files),
            "films": [dataclasses.asdict(film) for film in self.films],
            "no_film": self.no_film,
        }


@dataclass(slots=True, kw_only=True)
class Context:
    """Arguments of an experiment."""

    output: Path
    """Existing, writable folder for files of the experiment."""
    quick: bool = False
    """Whether to run a short version for tests and a first look, if possible with the same targets."""
    seed: int = 0
    """Seed of all random numbers."""
    curves: Path | None = None
    """Folder of measured curves digitised by the user (`pliant.experiments.curves`); None if there is none."""
    executor: Executor = field(default_factory=Executor)
    """Where an experiment of many simulations runs them."""
    report: Progress | None = None
    """Callback with the completed fraction, 0 to 1, and a text; None to report nothing."""

    @property
    def rng(self) -> np.random.Generator:
        """Return a new random generator with the seed of the run."""
        return np.random.default_rng(self.seed)

    def progress(self, fraction: float, text: str = "") -> None:
        """Report the completed fraction of the experiment, 0 to 1, and its current activity."""
        if self.report is not None:
            self.report(min(max(float(fraction), 0.0), 1.0), text)

    def track(
        self, items: Iterable[T], text: str | Callable[[T], str] = "", *, low: float = 0.0, high: float = 1.0
    ) -> Iterator[T]:
        """Yield the items and report progress from ``low`` to ``high``, fractions of the whole experiment."""
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
    function: Callable[[Context, Any], Result]
    """Function that runs the experiment with a context and an instance of ``options_class``."""
    options_class: type
    """Frozen dataclass of its options, without fields if there are none."""
    documentation: str = ""
    """Docstring of the decorated function."""
    check: Callable[[Any], None] | None = None
    """Function that raises a `PliantError` for invalid options, such as a file that cannot be read; None if the types
    and ranges of the options are sufficient."""
    films: Films | str = NO_SCENE
    """Function that computes its films (`pliant.experiments.films`), or a text that says why there are none."""
    cameras: tuple[str, ...] = ()
    """Names of the cameras that all scenes of its films have; () for none."""
    uses_executor: bool = False
    """Whether it runs many simulations with `Context.executor`."""

    @property
    def summary(self) -> str:
        """First line of the docstring of the function, or the title."""
        return (self.documentation or self.title).strip().splitlines()[0]

    def run(self, context: Context, options: object = None) -> Result:
        """Run the experiment and fill in name, source and settings.

        Args:
            context: output folder, seed and progress callback.
            options: instance of ``options_class``; None for the defaults.

        Raises:
            PliantError: two targets or two statements have the same name.
        """
        options = self.options_class() if options is None else options
        start = time.perf_counter()
        result = self.function(context, options)
        result.duration = time.perf_counter() - start
        for names in ([t.name for t in result.every_target], [s.what for s in result.statements]):
            twice = [name for name, count in Counter(names).items() if count > 1]
            if twice:
                raise PliantError(
                    f"experiment {self.name!r}: {twice[0]!r} occurs twice; names must differ", field="name"
                )
        return self.stamp(result, context, options)

    def stamp(self, result: Result, context: Context, options: object = None) -> Result:
        """Write name, source and settings into a result."""
        result.name, result.title = self.name, self.title
        result.paper, result.section = self.paper, self.section
        result.quick, result.seed = context.quick, context.seed
        options = self.options_class() if options is None else options
        result.settings = [
            Setting(
                name=info.name,
                value=dataclasses.replace(info, default=getattr(options, info.name)).default_text,
                default=info.default_text,
                unit=info.unit,
                meaning=info.description,
                source=info.source,
            )
            for info in describe(self.options_class)
        ]
        return result


_EXPERIMENTS: dict[str, Experiment] = {}

F = TypeVar("F", bound=Callable[..., Result])


def experiment(
    name: str,
    *,
    title: str = "",
    paper: str = "",
    section: str = "",
    check: Callable[[object], None] | None = None,
    films: Films | str = NO_SCENE,
    cameras: tuple[str, ...] = (),
    uses_executor: bool = False,
) -> Callable[[F], F]:
    """Register the decorated function as an experiment.

    The function takes a `Context` and, if it has options, an instance of a frozen dataclass of them.

    Args:
        name: name on the command line; the module has the same name, with underscores.
        title: title of the report; by default the name.
        paper: the publication that is reproduced.
        section: section, figure or table of the publication.
        check: called with the options before the run; raises a `PliantError` if they are invalid.
        films: called with context and options after the run if films are requested, or a text that says why there are
            none.
        cameras: names of the cameras that all scenes of the films have, from which a user may choose.
        uses_executor: whether it runs many simulations with `Context.executor`.
    """

    def decorate(function: F) -> F:
        kind, call = options_of(function, skip=1)
        _EXPERIMENTS[name] = Experiment(
            name=name,
            title=title or name,
            paper=paper,
            section=section,
            function=call,
            options_class=kind,
            documentation=function.__doc__ or "",
            check=check,
            films=films,
            cameras=cameras,
            uses_executor=uses_executor,
        )
        return function

    return decorate


def registered_experiments() -> dict[str, Experiment]:
    """Return the experiments of all imported modules, by name."""
    return dict(_EXPERIMENTS)
