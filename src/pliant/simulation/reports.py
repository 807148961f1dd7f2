"""Progress and result of a run."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Progress", "RunReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of a run."""

    done: float
    """Simulation time of this run so far [s]."""
    total: float | None
    """Duration of the run [s]; None if it runs until it is stopped."""
    time: float
    """Simulation time [s]."""
    wall: float
    """Wall time since the start of the run [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """Result of a run."""

    steps: int
    """Number of engine steps in this run."""
    time: float
    """Simulation time at the end [s]."""
    wall: float
    """Wall time of the run [s]."""
    achieved_rtf: float
    """Simulation time / wall time of this run; NaN if nothing ran."""
    halted: str
    """Why the run ended early: "" if it did not, "stopped", or the message of the time-out."""
