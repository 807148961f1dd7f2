"""The group of commands `pliant cpr`."""

from __future__ import annotations

from cyclopts import App

from pliant.rods.commands.batch import batch
from pliant.rods.commands.equilibria import equilibria
from pliant.rods.commands.identify import identify
from pliant.rods.commands.solve import solve
from pliant.rods.commands.workspace import workspace

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
