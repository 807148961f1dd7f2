"""`pliant list`: robots, experiments, laws, bridges, and the options of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.base.documents.yaml_tree import read_yaml
from pliant.base.errors import PliantError, nearest
from pliant.base.wing import Listed, offer, offers
from pliant.cli.options import Debug, Imports, Json, import_modules
from pliant.cli.output import emit, make_console, plain, print_table

if TYPE_CHECKING:
    from pliant.robots import CatalogueRobot


def list_(
    name: Annotated[
        str | None,
        Parameter(help="A robot, experiment, bridge or law, to list its options; or `robots`, `laws`, ...: one table."),
    ] = None,
    /,
    *,
    import_: Imports = (),
    json: Json = False,
    debug: Debug = False,
) -> int:
    """List catalogue robots, experiments, laws and bridges, or the options of one of them.

    For a robot it also lists the scenarios that fit it.

    Examples:
        pliant list
        pliant list robots
        pliant list fr3
        pliant list ros1
    """
    import_modules(import_)
    from pliant.laws import registered_laws
    from pliant.robots import list_robots
    from pliant.simulation.bridges import list_bridges

    laws = registered_laws()
    bridges = list_bridges()
    robots = {r.name: r for r in list_robots()}
    further = {offer.key: {row.name: row for row in offer.load()()} for offer in offers("lists")}
    listed = ("robots", *further, "laws", "bridges")
    if name is not None and name not in listed:
        return _show_options(name, robots, bridges, laws, further, json)
    summaries = {r.name: r.summary for r in robots.values()}
    rows = {title: {row.name: row.summary for row in found.values()} for title, found in further.items()}
    parameters = {n: {f: getattr(cls(), f) for f in cls.parameter_fields()} for n, cls in sorted(laws.items())}
    if json:
        tables = {"robots": summaries, **rows, "laws": parameters, "bridges": bridges}
        emit({title: table for title, table in tables.items() if name in (None, title)})
        return 0
    from rich.table import Table

    console = make_console()
    shown = {n: ", ".join(f"{k}={v:g}" for k, v in p.items()) for n, p in parameters.items()}
    for title, texts in {"robots": summaries, **rows, "laws": shown, "bridges": bridges}.items():
        if name not in (None, title):
            continue
        table = Table(title=title, title_justify="left", box=None, show_header=False)
        for key, text in texts.items():
            table.add_row(f"[bold]{key}[/bold]", plain(text))
        print_table(console, table, prose=True)
        console.print()
    return 0


def _show_options(
    name: str,
    robots: dict[str, CatalogueRobot],
    bridges: dict[str, str],
    laws: dict[str, type],
    further: dict[str, dict[str, Listed]],
    json: bool,
) -> int:
    """Show the options of a robot, a bridge, a law or an entry of a wing's table."""
    from pliant.base.options import describe
    from pliant.robots import find_robot
    from pliant.simulation.bridges import bridge_options

    others = {key: row for found in further.values() for key, row in found.items()}
    aliases = (alias for robot in robots.values() for alias in robot.aliases)
    known = ["robots", *further, "laws", "bridges", *robots, *others, *bridges, *laws, *aliases]
    scenarios: tuple[str, ...] = ()
    if name in bridges:
        kind, written = bridge_options(name), f"--bridge {name}:KEY=VALUE,..."
    elif name in laws:
        kind, written = laws[name], "--set JOINT.KEY=VALUE"
    elif name in others:
        kind, written = others[name].options, others[name].written
    elif name in known:
        robot = find_robot(name)
        kind, written, scenarios = robot.options_class, "--set robot.KEY=VALUE", robot.scenarios
    else:
        kinds = ["robot", *(title.removesuffix("s") for title in further), "bridge"]
        raise PliantError(f"no {', '.join(kinds)} or law {name!r}; {nearest(name, known, limit=40)}", field="name")
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
    """Return the description of each of these scenarios; none where no wing plays scenarios."""
    from pliant.robots.catalogue import scenario_file

    if offer("additions", "scenario") is None:
        return {}
    files = {name: scenario_file(name, found.value) for name in names if (found := offer("scenarios", name))}
    return {name: read_yaml(str(file), PliantError).value["description"] for name, file in files.items()}
