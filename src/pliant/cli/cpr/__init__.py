"""The commands that only continuum parallel robots have: solve.

Exit codes as of `pliant`: 0 done; 1 wrong input or no equilibrium (the message says why); 2 wrong usage; 3 a check
failed its targets; 4 the simulation diverged.
"""

from pliant.cli.cpr.application import cpr

__all__ = ["cpr"]
