"""Commands for continuum parallel robots: solve."""

from pliant.rods.commands.application import cpr

__all__ = ["cpr"]
