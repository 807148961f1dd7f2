"""`pliant cpr check`: a robot against itself."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from pliant.cli.cpr.inputs import Robot, load_parallel
from pliant.cli.options import Debug, Json
from pliant.cli.output import emit, make_console, print_table
from pliant.errors import PliantError

__all__ = ["check"]


def check(
    robot: Robot,
    *,
    variant: Annotated[str | None, Parameter(help="chain (hinges, the default) or flex (MuJoCo's flex).")] = None,
    segments: Annotated[int | None, Parameter(help="Elements a rod; default 10.")] = None,
    timestep: Annotated[float | None, Parameter(help="Time step [s]; default 0.001.")] = None,
    statics_only: Annotated[bool, Parameter(negative=(), help="Leave the dynamic model out.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Check a robot: its home equilibrium, direct against inverse model, and the dynamic model against the statics.

    Exit code 3 where a number is outside its limit.
    """
    import numpy as np

    from pliant.model.parallel import Finding, RodModel, check_parallel

    chosen = {"variant": variant, "segments": segments, "timestep": timestep}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if statics_only and chosen:
        raise PliantError(
            f"--{next(iter(chosen))} does nothing with --statics-only, which leaves the dynamic model out",
            field="statics-only",
        )
    console = make_console(quiet=json)
    statics = load_parallel(robot, console=console)
    home = statics.home()
    findings = []

    def add(name: str, value: float, limit: float, unit: str) -> None:
        findings.append(Finding(name=name, value=value, limit=limit, unit=unit, passed=value <= limit))

    add("scaled residual at home", home.residual, 1e-8, "")
    add("unstable directions at home", float(home.morse_index), 0.0, "")
    back = statics.solve_dgm(home.q, home.wrench, start=home)
    add("direct against inverse model", 1e3 * float(np.abs(back.plate_pose - home.plate_pose).max()), 1e-3, "mm")
    fine = statics.solve_dgm(home.q, home.wrench, start=home.with_steps(4 * max(home.steps, 4)))
    add("against four times the steps", 1e3 * float(np.abs(fine.plate_pose - home.plate_pose).max()), 1e-2, "mm")
    if not statics_only:
        options = RodModel(**{"variant": "chain", "segments": 10, "timestep": 1e-3, **chosen})  # type: ignore[arg-type]
        findings += check_parallel(statics, options=options)
    good = all(f.passed for f in findings)
    if json:
        emit(
            {
                "robot": statics.name,
                "passed": good,
                "findings": [
                    {"name": f.name, "value": f.value, "limit": f.limit, "unit": f.unit, "passed": f.passed}
                    for f in findings
                ],
            }
        )
        return 0 if good else 3
    from rich.table import Table

    table = Table(title=statics.name, title_justify="left", box=None)
    for column in ("what", "found", "limit", "unit", ""):
        table.add_column(column, justify="right" if column in ("found", "limit") else "left")
    for f in findings:
        verdict = "[green]pass[/green]" if f.passed else "[red]FAIL[/red]"
        table.add_row(f.name, f"{f.value:.3g}", f"{f.limit:g}", f.unit, verdict)
    print_table(console, table)
    return 0 if good else 3
