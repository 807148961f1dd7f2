"""`pliant cpr tubes`: shape, stability and equilibria of a concentric-tube robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.cli.options import Debug, Json
from pliant.cli.output import emit, make_console, print_table
from pliant.rods.commands.inputs import numbers

if TYPE_CHECKING:
    from pliant.tubes import TubeSolution


def tubes(
    robot: Annotated[str, Parameter(help="ctr-3, or a YAML file of tubes.")],
    *,
    rotation: Annotated[
        str | None, Parameter(help="Angles of the tubes' bases, innermost first [rad].", allow_leading_hyphen=True)
    ] = None,
    translation: Annotated[
        str | None, Parameter(help="Places of their bases behind the guide's end, <= 0 [m].", allow_leading_hyphen=True)
    ] = None,
    force: Annotated[
        str | None, Parameter(help="Force at the tip, world axes: x,y,z [N].", allow_leading_hyphen=True)
    ] = None,
    moment: Annotated[
        str | None, Parameter(help="Moment at the tip, world axes: x,y,z [N m].", allow_leading_hyphen=True)
    ] = None,
    all_equilibria: Annotated[bool, Parameter(name="--all", negative=(), help="List all equilibria found.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Solve a concentric-tube robot: tip, twist of the tubes, energy, stability.

    Examples:
        pliant cpr tubes ctr-3 --rotation 0,1.2,-0.7
        pliant cpr tubes ctr-3 --rotation 0,3.1,3.1 --all
    """
    from rich.table import Table

    from pliant.tubes import ConcentricTubes
    from pliant.tubes.files import load_tubes

    description = load_tubes(robot)
    statics, N = ConcentricTubes(description), len(description.tubes)
    alpha = [0.0] * N if rotation is None else numbers(rotation, "--rotation", (N,))
    beta = None if translation is None else numbers(translation, "--translation", (N,))
    load = {
        key: (0.0, 0.0, 0.0) if text is None else numbers(text, f"--{key}", (3,))
        for key, text in (("force", force), ("moment", moment))
    }
    if all_equilibria:
        found = statics.equilibria(alpha, beta, **load)
    else:
        found = [statics.solve(alpha, beta, **load)]
    if json:
        emit({"robot": description.name, "equilibria": [_row(one) for one in found]})
        return 0
    console, table = make_console(quiet=json), Table(box=None)
    for column in ("stability", "measure", "energy [J]", "tip [mm]", "twist [rad]"):
        table.add_column(column, justify="left")
    for one in found:
        word = one.name or ("stable" if one.stable else "unstable")
        table.add_row(
            word if one.stable else f"{word} ({one.index})", f"{one.measure:.4g}", f"{one.energy:.5f}",
            ", ".join(f"{1e3 * v:.3f}" for v in one.tip[:3, 3]), ", ".join(f"{v:.4f}" for v in one.twist),
        )  # fmt: skip
    print_table(console, table)
    if all_equilibria:
        console.print(f"{len(found)} equilibria; more may exist", soft_wrap=True)
    return 0


def _row(one: TubeSolution) -> dict[str, object]:
    return {
        "name": one.name, "stable": one.stable, "unstable_directions": one.index, "measure": one.measure,
        "energy": one.energy, "tip": one.tip, "twist": one.twist, "rotation": one.rotation,
        "translation": one.translation,
    }  # fmt: skip
