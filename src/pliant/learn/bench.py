"""`pliant bench`: benchmarks that judge claims."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from pliant.base.errors import PliantError
from pliant.cli.options import Debug, Imports, Json, import_modules
from pliant.cli.output import emit, make_console, plain, print_table
from pliant.cli.progress import Bar
from pliant.tasks.options import Processes, make_executor

if TYPE_CHECKING:
    from rich.console import Console

    from pliant.learn.compliance import Budget, Results
    from pliant.learn.compliance.statistics import Interval

bench = App(name="bench", help="Run a benchmark that judges claims about compliance.")

_STYLE = {"better": "green", "worse": "red", "no difference": "yellow", "not judged": "default"}


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetOptions:
    """Budget of each method; default: the registered budget, or a small one with --quick."""

    quick: Annotated[bool, Parameter(negative=())] = False
    """Use a budget that is too small for verdicts."""
    runs: int | None = None
    """Independent searches of each method."""
    population: int | None = None
    """Controllers in a round of a search."""
    rounds: int | None = None
    """Rounds of a search."""
    episodes: int | None = None
    """Training episodes of each controller in a round."""
    held_out: int | None = None
    """Held-out episodes that judge a controller."""

    @property
    def given(self) -> dict[str, int]:
        """The numbers that differ from the registered budget."""
        numbers = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "quick"}
        return {name: value for name, value in numbers.items() if value is not None}

    def budget(self) -> Budget:
        """Return the budget.

        Raises:
            PliantError: a number is out of range.
        """
        from pliant.learn.compliance.runs import QUICK, Budget

        return dataclasses.replace(QUICK if self.quick else Budget(), **self.given)


REGISTERED = BudgetOptions()


@bench.command
def compliance(
    *,
    task: Annotated[tuple[str, ...], Parameter(negative=(), help="Run this task only; may be repeated.")] = (),
    seed: Annotated[int | None, Parameter(help="Seed of all randomness; default 0.")] = None,
    budget: BudgetOptions = REGISTERED,
    results: Annotated[Path | None, Parameter(help="Print a result file instead of running anything.")] = None,
    output: Annotated[
        Path | None, Parameter(help="Folder of results and report; default: compliance. A run continues what it holds.")
    ] = None,
    processes: Processes = None,
    import_: Imports = (),
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Compare variable stiffness with the best fixed one and with a rule, in tasks in which compliance may decide.

    Searches each method several times with the same budget, judges the controllers in held-out episodes, and prints
    each claim with its interval of 95 % and a verdict. Tasks, seeds, budgets and statistics are registered on the page
    "Compliance".

    Examples:
        pliant bench compliance --task insertion --output compliance
        pliant bench compliance --results compliance/compliance.json
        pliant bench compliance --quick
    """
    import_modules(import_)
    executor = make_executor(processes, None)
    from pliant.learn.compliance.benchmark import run_benchmark
    from pliant.learn.compliance.report import write_report
    from pliant.learn.compliance.results import read_results

    if results is not None:
        if budget.given or budget.quick or output is not None or processes is not None:
            raise PliantError("--results runs nothing; omit budgets, --output and --processes", field="results")
        found = read_results(results)
        found.require(seed=found.seed if seed is None else seed)
        return _show(make_console(quiet=json), found.only(task), None, json=json)
    chosen, folder = budget.budget(), output or Path("compliance")
    console = make_console(quiet=json)
    with Bar(console, "bench compliance", "runs", shown=not json) as bar:
        found = run_benchmark(
            task, folder, budget=chosen, seed=seed or 0, executor=executor, progress=lambda *now: bar(*now)
        )
    return _show(console, found, write_report(found, folder), json=json)


def _show(console: Console, found: Results, report: Path | None, *, json: bool) -> int:
    """Print claims and scores."""
    if json:
        emit(found.as_dict() | {"report": None if report is None else str(report)})
        return 0
    from rich.table import Table

    budget = found.budget
    claims = Table(title="claims, primary measure", title_justify="left", box=None)
    for column in ("task", "method", "minus", "difference (95 %)", "p", "verdict"):
        claims.add_column(column)
    for c in found.claims():
        claims.add_row(
            plain(c.task),
            plain(c.claim.better),
            plain(c.claim.than),
            f"{_interval(c.difference, sign='+')} {c.measure.unit}",
            f"{c.corrected:.2g}",
            f"[{_STYLE[c.verdict]}]{c.verdict}[/]",
        )
    print_table(console, claims)
    scores = Table(title="scores, interquartile mean of runs", title_justify="left", box=None)
    for column in ("task", "measure", "method", "score (95 %)", "unit", "is"):
        scores.add_column(column)
    for s in sorted(found.scores(), key=lambda s: s.task):
        scores.add_row(
            plain(s.task), plain(s.measure.name), plain(s.method), _interval(s.found), s.measure.unit, s.measure.better
        )
    print_table(console, scores)
    console.print(
        f"{budget.runs} runs, {budget.searched} training and {budget.held_out} held-out episodes each, "
        f"seed {found.seed}" + (f"; report: {report}" if report else ""),
        soft_wrap=True,
    )
    return 0


def _interval(found: Interval, sign: str = "") -> str:
    return f"{found.value:{sign}.3g} ({found.low:{sign}.3g} to {found.high:{sign}.3g})"
