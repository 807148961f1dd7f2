"""`pliant reproduce`: run published experiments again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from pliant.base.errors import MissingDependency
from pliant.cli.checks import refuse_unused
from pliant.cli.options import Debug, Imports, Json, assignments, import_modules
from pliant.cli.output import emit, make_console, plain, print_table
from pliant.cli.progress import Bar
from pliant.films.options import DEFAULT_LOOK, FilmLook
from pliant.tasks.options import Dask, Processes, make_executor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from pliant.experiments import Result, Statement, Target
    from pliant.experiments.films import Video

_STYLE = {
    "pass": "green",
    "fail": "red",
    "checks pass": "green",
    "checks fail": "red",
    "reproduced": "green",
    "consistent": "cyan",
    "not reproduced": "red",
    "not judged": "yellow",
}


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOptions:
    """How experiments run."""

    set: Annotated[tuple[str, ...], Parameter(negative=(), consume_multiple=False, show_default=False)] = ()
    """Change an assumption, KEY=VALUE or EXPERIMENT.KEY=VALUE, and report which verdicts change; may be repeated.
    `pliant list EXPERIMENT` shows the keys."""
    quick: Annotated[bool, Parameter(negative=())] = False
    """Run the short versions."""
    seed: int = 0
    """Seed of all randomness, >= 0."""
    import_: Imports = ()


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """Content and folder of the report."""

    output: Path = Path("reports")
    """Folder of the reports."""
    curves: Path | None = None
    """Folder of measured curves to draw behind the simulated ones, EXPERIMENT/NAME.csv."""
    strict: Annotated[bool, Parameter(negative=())] = False
    """End with exit code 3 if a statement is not reproduced."""
    every: Annotated[bool, Parameter(name="--all-targets", negative=())] = False
    """Print every number of every statement and check."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class FilmsOptions:
    """Films of experiments, and how they look."""

    video: Annotated[bool, Parameter(negative=())] = False
    """Film what moves, two runs side by side; refused where nothing does."""
    video_format: Literal["mp4", "gif"] | None = None
    """Format of the films; default: mp4 if PyAV is installed, else gif."""
    look: FilmLook = DEFAULT_LOOK


DEFAULT_TRIAL, DEFAULT_REPORT, NO_FILMS = TrialOptions(), ReportOptions(), FilmsOptions()


def reproduce(
    *experiments: Annotated[str, Parameter(help="Names of experiments; all, or no name: every experiment.")],
    report: ReportOptions = DEFAULT_REPORT,
    trial: TrialOptions = DEFAULT_TRIAL,
    films: FilmsOptions = NO_FILMS,
    processes: Processes = None,
    dask: Dask = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Run published experiments again and judge each statement of the publication.

    Writes self-contained HTML reports with figures. The exit code is 3 if a check of the simulation fails; a statement
    that is not reproduced is a result; it gives the exit code 3 only with --strict.

    Examples:
        pliant reproduce viactors-step --output report
        pliant reproduce all --quick
    """
    import_modules(trial.import_)
    executor = make_executor(processes, dask)
    video = _films(films)
    from pliant.experiments import find_experiment, list_experiments
    from pliant.experiments import reproduce as run_experiments

    console = make_console(quiet=json)
    chosen = list(
        dict.fromkeys(
            found.name
            for name in experiments or ("all",)
            for found in (list_experiments() if name == "all" else [find_experiment(name)])
        )
    )
    options = assignments(trial.set)
    with Bar(console, "reproducing", "", shown=not json) as bar:

        def progress(name: str, fraction: float, note: str = "") -> None:
            bar(round(chosen.index(name) + fraction, 2), len(chosen), f"{name} {note}")

        results: list[Result] = []
        interrupted = False
        try:
            run_experiments(
                experiments or "all",
                report.output,
                quick=trial.quick,
                seed=trial.seed,
                options=options,
                curves=report.curves,
                video=video,
                executor=executor,
                progress=progress,
                on_result=results.append,
            )
        except KeyboardInterrupt:  # the reports of completed experiments are written
            interrupted = True
    index = report.output / "index.html"
    failed = [r for r in results if not r.passed or (report.strict and r.not_reproduced)]
    code = 130 if interrupted else 3 if failed else 0
    if json:
        emit(
            {
                "passed": not failed and not interrupted,
                "interrupted": interrupted,
                "experiments": [r.as_dict() for r in results],
                "report": str(index) if results else None,
            }
        )
        return code
    for result in results:
        _print_result(console, result, report.every)
        _print_films(console, result, report.output)
    if results:
        console.print("; ".join([*_totals(results), f"report: {index}"]), soft_wrap=True)
    if interrupted:
        left = ", ".join(chosen[len(results) :])
        when = f"after {len(results)} of {len(chosen)} experiments" if results else "before any experiment ended"
        console.print(f"[yellow]interrupted[/yellow] {when}; not done: {left}", soft_wrap=True)
    return code


def _films(films: FilmsOptions) -> Video | None:
    """Return how films are written, or None without --video; refuse what is wrong before anything runs."""
    kind = films.video_format
    refuse_unused(kind is not None and not films.video, "--video-format", "--video")
    looks = films.look.of(films.video)
    if looks is None:
        return None
    from pliant.experiments.films import Video
    from pliant.films.encoders import require
    from pliant.films.film import check_film

    if kind is None:
        try:
            require(".mp4")
            kind = "mp4"
        except MissingDependency:
            kind = "gif"
    check_film(Path(f"film.{kind}"), looks, "--video", folder=False)
    return Video(
        suffix=f".{kind}",
        size=films.look.video_size,
        fps=looks.fps,
        speed=films.look.video_speed,
        camera=films.look.video_camera,
    )


def _print_films(console: Console, result: Result, output: Path) -> None:
    for film in result.films:
        if film.file:
            console.print(f"film: {output / film.file} ({film.duration:g} s)", soft_wrap=True)
    if result.no_film:
        console.print(f"no film: {plain(result.no_film)}", soft_wrap=True)


def _colored(verdict: str) -> str:
    return f"[{_STYLE.get(verdict, 'default')}]{verdict}[/]"


def _totals(results: list[Result]) -> Iterator[str]:
    """Yield the numbers of verdicts and of checks."""
    verdicts = {name: sum(r.verdicts[name] for r in results) for name in (results[0].verdicts if results else ())}
    if any(verdicts.values()):
        yield ", ".join(f"{count} {name}" for name, count in verdicts.items())
    targets = [t for r in results for t in r.targets]
    yield f"{sum(t.passed for t in targets)} of {len(targets)} checks pass"


def _print_result(console: Console, result: Result, every: bool) -> None:
    """Print the verdicts of an experiment, its checks, and what its changed options change."""
    changed = ", ".join(f"{s.name}={s.value}" for s in result.settings if s.changed)
    head = f"{result.name}: {_colored('checks pass' if result.passed else 'checks fail')}" + (
        f" with {plain(changed)}" * bool(changed)
    )
    if result.statements:
        _print_statements(console, head, result.statements)
        head = "checks of the simulation"
    if every and result.statements:
        rows = [_target_row(t) for s in result.statements for t in s.targets]
        _print_rows(console, "numbers behind the verdicts", ("target", "measured", "expected", ""), rows)
    shown = list(_target_rows(result.targets, every))
    good = sum(t.passed for t in result.targets)
    if result.statements and not every:
        shown = [_target_row(t) for t in result.failures]
        if result.targets:
            console.print(f"{head}: {good} of {len(result.targets)} pass" + (":" if shown else ""))
    if shown or not result.statements:
        _print_rows(console, head, ("target", "measured", "expected", ""), shown)
    if result.error:
        console.print(f"[red]{plain(result.error)}[/red]")
    if result.changes is not None:
        if not result.changes:
            console.print("against the default options no verdict changes")
        rows = [
            (plain(c.name), f"{_colored(c.before)}: {plain(c.found_before)}", f"{_colored(c.after)}: {plain(c.found)}")
            for c in result.changes
        ]
        if rows:
            _print_rows(console, "verdicts that change", ("", "default options", "this run"), rows, markup=True)
    console.print()


def _print_statements(console: Console, title: str, statements: Sequence[Statement]) -> None:
    """Print verdict and place of each statement, what the paper says, and what was found, one below the other."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for statement in statements:
        table.add_row(_colored(str(statement.verdict)), f"[bold]{plain(statement.where)}[/bold]")
        table.add_row("  the paper says", plain(statement.what))
        table.add_row("  we get", plain(statement.found))
    print_table(console, table, prose=True)


def _print_rows(
    console: Console, title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]], *, markup: bool = False
) -> None:
    """Print a table; with ``markup`` the cells are rich's markup already, otherwise only those of the last column."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None)
    for column in columns:
        table.add_column(column, justify="right" if column == "measured" else "left", no_wrap=column == "verdict")
    for *cells, last in rows:
        table.add_row(*(cells if markup else map(plain, cells)), last)
    print_table(console, table, prose=True)


def _target_row(target: Target) -> tuple[str, str, str, str]:
    measured = "-" if target.measured is None else f"{target.measured:.6g} {target.unit}"
    return target.name, measured, target.expected, _colored("pass" if target.passed else "fail")


def _target_rows(targets: list[Target], every: bool) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, measured, expected, verdict; in a long list, one row for each group that passed."""
    if every or len(targets) <= 25:
        yield from map(_target_row, targets)
        return
    groups: dict[str, list[Target]] = {}
    for target in targets:
        groups.setdefault(target.name.split(":")[0], []).append(target)
    for name, members in groups.items():
        good = sum(t.passed for t in members)
        if len(members) == 1:
            yield _target_row(members[0])
            continue
        verdict = _colored("pass" if good == len(members) else "fail")
        yield name, f"{good} of {len(members)}", "all (the report lists them)", verdict
        yield from (_target_row(t) for t in members if not t.passed)
