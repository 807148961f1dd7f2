"""`pliant list`: what there is by name."""

from __future__ import annotations

from pliant.cli.options import Debug, Imports, Json, import_modules
from pliant.cli.output import emit, make_console, plain, print_table

__all__ = ["list_"]


def list_(*, import_: Imports = [], json: Json = False, debug: Debug = False) -> int:
    """List the robots of the catalogue, the experiments, the laws and the bridges."""
    import_modules(import_)
    from pliant.bridges import list_bridges
    from pliant.experiments import list_experiments
    from pliant.laws import registered_laws
    from pliant.robots import list_robots

    robots = {r.name: r.summary for r in list_robots()}
    experiments = {e.name: e.summary for e in list_experiments()}
    laws = {
        name: {f: getattr(cls(), f) for f in cls.parameter_fields()} for name, cls in sorted(registered_laws().items())
    }
    bridges = list_bridges()
    if json:
        emit({"robots": robots, "experiments": experiments, "laws": laws, "bridges": bridges})
        return 0
    from rich.table import Table

    console = make_console()
    for title, rows in (
        ("robots", robots),
        ("experiments", experiments),
        ("laws", {n: ", ".join(f"{k}={v:g}" for k, v in p.items()) for n, p in laws.items()}),
        ("bridges", bridges),
    ):
        table = Table(title=title, title_justify="left", box=None, show_header=False)
        for name, text in rows.items():
            table.add_row(f"[bold]{name}[/bold]", plain(text))
        print_table(console, table, prose=True)
        console.print()
    return 0
