"""The command line: a module a command.

Exit codes: 0 done; 1 wrong input (the message says what); 2 wrong usage; 3 a check or an experiment failed its
targets; 4 the simulation diverged; 130 interrupted.
"""

import os

# OpenBLAS divides matrices of a few hundred rows among all cores, whose threads wait for each other by spinning: an
# equilibrium of a rod then takes several times the processor time, and many times as long beside other programs.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pliant.cli.application import app, main

__all__ = ["app", "main"]
