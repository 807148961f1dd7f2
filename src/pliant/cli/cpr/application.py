"""The group of commands `pliant cpr`."""

from __future__ import annotations

from cyclopts import App

from pliant.cli.cpr.check import check
from pliant.cli.cpr.list import list_
from pliant.cli.cpr.run import run
from pliant.cli.cpr.solve import solve
from pliant.cli.cpr.view import view

__all__ = ["cpr"]

cpr = App(
    name="cpr",
    help="Continuum parallel robots: solve, simulate, check and move robots of elastic rods.",
    help_on_error=False,
    suppress_keyboard_interrupt=False,
)

for command in (solve, run, check, view):
    cpr.command(command)
cpr.command(list_, name="list")
