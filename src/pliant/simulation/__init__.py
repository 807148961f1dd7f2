"""The loop: clock, pacing, lock-step, recording, scenarios."""

from pliant.simulation.bridge import Bridge, LockstepBridge
from pliant.simulation.loop import Progress, RunReport, Simulation
from pliant.simulation.pacer import Pacer, PacerStats, free, paced, sync

__all__ = [
    "Bridge",
    "LockstepBridge",
    "Pacer",
    "PacerStats",
    "Progress",
    "RunReport",
    "Simulation",
    "free",
    "paced",
    "sync",
]
