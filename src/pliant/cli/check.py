"""`pliant check`: check a robot."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pliant.base.wing import offers
from pliant.cli.checks import refuse_unused
from pliant.cli.options import NO_SETTINGS, Debug, Json, RobotOptions, Source, Timestep, import_modules
from pliant.cli.output import counted, emit, make_console, plain, print_table


def check(
    source: Source,
    *,
    robot: RobotOptions = NO_SETTINGS,
    manager: Annotated[Path | None, Parameter(help="File (YAML) of the toolbox's plugin manager.")] = None,
    timestep: Timestep = None,
    simulate: Annotated[
        bool,
        Parameter(negative=(), help="Also simulate a parallel robot and compare it with its statics and with theory."),
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Check a robot: time-step bounds, parameters, limits, names, equilibrium, default values.

    Prints all findings together, of robots with rods also the first six natural frequencies with their damping ratios.
    The exit code is 3 if one of them is an error.

    Examples:
        pliant check qbmove-5dof
        pliant check robot.urdf --timestep 0.002
    """
    import_modules(robot.import_)
    loaded = robot.load(source, timestep, manager)
    problems = loaded.check()
    if not any(p.severity == "error" for p in problems):
        problems += [problem for offer in offers("findings") for problem in offer.load()(loaded) or ()]
    if simulate:
        found = [offer.load()(loaded) for offer in offers("comparisons")]
        refuse_unused(all(one is None for one in found), "--simulate", "a parallel robot")
        problems += [problem for one in found for problem in one or ()]
    errors = sum(p.severity == "error" for p in problems)
    if json:
        emit(
            {
                "source": source,
                "ok": errors == 0,
                "problems": [asdict(problem) for problem in problems],
                "notes": loaded.notes,
            }
        )
        return 3 if errors else 0
    from rich.table import Table

    console = make_console()
    table = Table(box=None, show_header=False, padding=(0, 1))
    style = {"error": "red", "warning": "yellow", "info": "dim"}
    for p in problems:
        hint = f"\n[dim]{plain(p.hint)}[/dim]" if p.hint else ""
        table.add_row(f"[{style[p.severity]}]{p.severity}[/]", p.subject, plain(p.message) + hint)
    for note in loaded.notes:
        table.add_row("[dim]note[/dim]", "", plain(note))
    print_table(console, table, prose=True)
    warnings = sum(p.severity == "warning" for p in problems)
    console.print(f"{source}: {counted(errors, 'error')}, {counted(warnings, 'warning')}")
    return 3 if errors else 0
