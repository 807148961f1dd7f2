"""The group of commands `pliant cpr`."""

from __future__ import annotations

from cyclopts import App

from pliant.cli.cpr.solve import solve

__all__ = ["cpr"]

cpr = App(
    name="cpr",
    help="Statics of continuum parallel robots: the direct and inverse geometrico-static model.",
    help_on_error=False,
    suppress_keyboard_interrupt=False,
)

cpr.command(solve)
