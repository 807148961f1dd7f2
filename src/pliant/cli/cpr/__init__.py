"""Commands for continuum parallel robots: solve."""

from pliant.cli.cpr.application import cpr

__all__ = ["cpr"]
