"""The group of commands `pliant cpr`."""

from __future__ import annotations

from cyclopts import App

from pliant.cli.cpr.batch import batch
from pliant.cli.cpr.equilibria import equilibria
from pliant.cli.cpr.identify import identify
from pliant.cli.cpr.solve import solve
from pliant.cli.cpr.workspace import workspace

__all__ = ["cpr"]

cpr = App(
    name="cpr",
    help="Statics of continuum parallel robots: both models, equilibria, workspace maps, batches, identification.",
    help_on_error=False,
    suppress_keyboard_interrupt=False,
)

cpr.command(solve)
cpr.command(equilibria)
cpr.command(workspace)
cpr.command(batch)
cpr.command(identify)
