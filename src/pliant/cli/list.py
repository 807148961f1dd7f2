"""`pliant list`: robots, experiments, laws, bridges, and the options of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Annotated, Any

from cyclopts import Parameter

from pliant.base.documents.yaml_tree import read_yaml
from pliant.base.errors import PliantError, nearest
from pliant.cli.options import Debug, Imports, Json, import_modules
from pliant.cli.output import emit, make_console, plain, print_table

__all__ = ["list_"]


def list_(
    name: Annotated[str | None, Parameter(help="A robot, experiment, bridge or law; its options are listed.")] = None,
    /,
    *,
    import_: Imports = [],
    json: Json = False,
    debug: Debug = False,
) -> int:
    """List catalogue robots, experiments, laws and bridges, or the options of one of them.

    For a robot it also lists the scenarios that fit it.
    """
    import_modules(import_)
    from pliant.laws import registered_laws
    from pliant.papers import list_experiments
    from pliant.robots import list_robots
    from pliant.simulation.bridges import list_bridges

    laws = registered_laws()
    bridges = list_bridges()
    robots = {r.name: r for r in list_robots()}
    if name is not None:
        return _show_options(name, robots, bridges, laws, json)
    summaries = {r.name: r.summary for r in robots.values()}
    experiments = {e.name: e.summary for e in list_experiments()}
    parameters = {n: {f: getattr(cls(), f) for f in cls.parameter_fields()} for n, cls in sorted(laws.items())}
    if json:
        emit({"robots": summaries, "experiments": experiments, "laws": parameters, "bridges": bridges})
        return 0
    from rich.table import Table

    console = make_console()
    for title, rows in (
        ("robots", summaries),
        ("experiments", experiments),
        ("laws", {n: ", ".join(f"{k}={v:g}" for k, v in p.items()) for n, p in parameters.items()}),
        ("bridges", bridges),
    ):
        table = Table(title=title, title_justify="left", box=None, show_header=False)
        for key, text in rows.items():
            table.add_row(f"[bold]{key}[/bold]", plain(text))
        print_table(console, table, prose=True)
        console.print()
    return 0


def _show_options(name: str, robots: dict[str, Any], bridges: dict[str, str], laws: dict[str, type], json: bool) -> int:
    """Show the options of a robot, an experiment, a bridge or a law."""
    from pliant.base.options import describe
    from pliant.papers import list_experiments
    from pliant.robots import find_robot
    from pliant.simulation.bridges import bridge_options

    experiments = {found.name: found for found in list_experiments()}
    known = [*robots, *experiments, *bridges, *laws, *(alias for robot in robots.values() for alias in robot.aliases)]
    scenarios: tuple[str, ...] = ()
    if name in bridges:
        kind, written = bridge_options(name), f"--bridge {name}:KEY=VALUE,..."
    elif name in laws:
        kind, written = laws[name], "--set JOINT.KEY=VALUE"
    elif name in experiments:
        kind, written = experiments[name].options_class, f"pliant reproduce {name} --set KEY=VALUE"
    elif name in known:
        robot = find_robot(name)
        kind, written, scenarios = robot.options_class, "--set robot.KEY=VALUE", robot.scenarios
    else:
        raise PliantError(
            f"no robot, experiment, bridge or law {name!r}; {nearest(name, known, limit=40)}", field="name"
        )
    infos = describe(kind)
    fitting = _descriptions(scenarios)
    if json:
        rows = [
            {"name": i.name, "default": i.default_text, "unit": i.unit, "must_be": i.must_be, "meaning": i.description,
             "source": i.source}
            for i in infos
        ]  # fmt: skip
        emit({"name": name, "written": written, "options": rows, "scenarios": fitting})
        return 0
    from rich.table import Table

    console = make_console()
    table = Table(title=f"{name}: {written}", title_justify="left", box=None)
    for column in ("option", "default", "meaning"):
        table.add_column(column)
    for info in infos:
        meaning = f"{info.description.replace('``', '')} Must be {info.must_be}."
        source = f" Default: {info.source}." if info.source else ""
        default = f"{info.default_text} {info.unit}".strip()
        table.add_row(f"[bold]{info.name}[/bold]", plain(default), plain((meaning + source).strip()))
    print_table(console, table, prose=True)
    if fitting:
        table = Table(title=f"scenarios: pliant run {name} --scenario NAME", title_justify="left", box=None)
        for title in ("name", "what happens"):
            table.add_column(title)
        for key, text in fitting.items():
            table.add_row(f"[bold]{key}[/bold]", plain(text))
        console.print()
        print_table(console, table, prose=True)
    return 0


def _descriptions(names: Sequence[str]) -> dict[str, str]:
    """Return the description of each of these scenarios of pliant."""
    # Not through pliant.simulation, whose import takes longer than this command.
    folder = resources.files("pliant") / "simulation" / "scenarios"
    return {name: read_yaml(str(folder / f"{name}.yaml"), PliantError).value["description"] for name in names}
