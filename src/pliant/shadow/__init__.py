"""A simulation beside a real robot: the same commands, and which physical parameter explains the difference.

A `ShadowLog` holds what a robot was told and what it did. `Bank` simulates the same commands in many worlds at once,
one as described and two for each parameter that may drift. `find_drift` compares them with the log, window by window.
"""

from pliant.shadow.bank import Bank
from pliant.shadow.candidates import Candidate, candidates_of
from pliant.shadow.drift import Drift, Estimate, find_drift
from pliant.shadow.log import ShadowLog, read_shadow_log

__all__ = [
    "Bank",
    "Candidate",
    "Drift",
    "Estimate",
    "ShadowLog",
    "candidates_of",
    "find_drift",
    "read_shadow_log",
]
