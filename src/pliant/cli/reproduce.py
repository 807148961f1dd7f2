"""`pliant reproduce`: run a published experiment again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pliant.cli.options import Debug, Imports, Json, import_modules
from pliant.cli.output import emit, make_console, plain, print_table
from pliant.cli.progress import Bar

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["reproduce"]


def reproduce(
    experiment: Annotated[str, Parameter(help="Name of an experiment, or all.")] = "all",
    *,
    output: Annotated[Path, Parameter(help="Folder of the reports.")] = Path("reports"),
    quick: Annotated[bool, Parameter(negative=(), help="Run the short versions.")] = False,
    every: Annotated[
        bool, Parameter(name="--all-targets", negative=(), help="Print every target of a long list.")
    ] = False,
    seed: int = 0,
    import_: Imports = [],
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Run a published experiment again and compare its numbers with the published ones.

    Writes a self-contained HTML report with figures. The exit code is 3 if a target is missed.
    """
    import_modules(import_)
    from pliant.experiments import find_experiment, list_experiments
    from pliant.experiments import reproduce as run_experiments

    console = make_console(quiet=json)
    chosen = [e.name for e in list_experiments()] if experiment == "all" else [find_experiment(experiment).name]
    with Bar(console, "reproducing", "", shown=not json) as bar:

        def progress(name: str, fraction: float, note: str = "") -> None:
            bar(round(chosen.index(name) + fraction, 2), len(chosen), f"{name} {note}")

        results: list[Any] = []
        interrupted = False
        try:
            run_experiments(chosen, output, quick=quick, seed=seed, progress=progress, on_result=results.append)
        except KeyboardInterrupt:  # the reports of completed experiments are written
            interrupted = True
    index = output / "index.html"
    failed = [r for r in results if not r.passed]
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
    from rich.table import Table

    for result in results:
        verdict = "[green]pass[/green]" if result.passed else "[red]FAIL[/red]"
        table = Table(title=f"{result.name}: {verdict}", title_justify="left", box=None)
        for column, justify in (("target", "left"), ("measured", "right"), ("expected", "left"), ("", "left")):
            table.add_column(column, justify=justify)  # type: ignore[arg-type]
        for name, measured, expected, passed in _target_rows(result.targets, every):
            table.add_row(
                plain(name), plain(measured), plain(expected), "[green]pass[/green]" if passed else "[red]FAIL[/red]"
            )
        print_table(console, table, prose=True)
        if result.error:
            console.print(f"[red]{plain(result.error)}[/red]")
        console.print()
    total = sum(len(r.targets) for r in results)
    passed = sum(t.passed for r in results for t in r.targets)
    console.print(f"{passed} of {total} targets met" + (f"; report: {index}" if results else ""), soft_wrap=True)
    if interrupted:
        left = ", ".join(chosen[len(results) :])
        console.print(
            f"[yellow]interrupted[/yellow] after {len(results)} of {len(chosen)} experiments; not done: {left}",
            soft_wrap=True,
        )
    return code


def _target_rows(targets: list[Any], every: bool) -> Iterator[tuple[str, str, str, bool]]:
    """Yield name, measured, expected, verdict; in a long list, one row for each group that passed."""

    def row(target: Any) -> tuple[str, str, str, bool]:
        measured = "-" if target.measured is None else f"{target.measured:.6g} {target.unit}"
        return target.name, measured, target.expected, target.passed

    if every or len(targets) <= 25:
        yield from map(row, targets)
        return
    groups: dict[str, list[Any]] = {}
    for target in targets:
        groups.setdefault(target.name.split(":")[0], []).append(target)
    for name, members in groups.items():
        good = sum(t.passed for t in members)
        if len(members) == 1:
            yield row(members[0])
            continue
        yield name, f"{good} of {len(members)}", "all (the report lists them)", good == len(members)
        yield from (row(t) for t in members if not t.passed)
