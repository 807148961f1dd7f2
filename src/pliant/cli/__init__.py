"""The command line: a module a command.

Exit codes: 0 done; 1 wrong input (the message says what); 2 wrong usage; 3 a check or an experiment failed its
targets; 4 the simulation diverged; 130 interrupted.
"""

from pliant.cli.application import app, main

__all__ = ["app", "main"]
