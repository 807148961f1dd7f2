"""Progress and result of a run."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

INTERVAL_NS = 100_000_000
"""Wall time between reports of the progress of a run [ns]."""


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


class RunClock:
    """Wall time of one run, and the reports of its progress.

    Args:
        dt_ns: time of a step [ns].
        total: number of steps; None if it runs until it is stopped.
        progress: takes the reports; None if nobody does.
    """

    __slots__ = ("_began", "_dt", "_progress", "_total", "due_ns")

    def __init__(self, dt_ns: int, total: int | None, progress: Callable[[Progress], None] | None) -> None:
        self._dt, self._total, self._progress = dt_ns * 1e-9, total, progress
        self._began = time.perf_counter_ns()
        self.due_ns = self._began + INTERVAL_NS
        """Wall time of the next report, as `time.perf_counter_ns` counts it [ns]."""

    def tell(self, done: int, time_s: float) -> None:
        """Report ``done`` steps at a simulation time [s]."""
        if self._progress is None:
            return
        now = time.perf_counter_ns()
        self.due_ns = now + INTERVAL_NS
        total = None if self._total is None else self._total * self._dt
        self._progress(Progress(done=done * self._dt, total=total, time=time_s, wall=(now - self._began) * 1e-9))

    def report(self, done: int, now_ns: int, halted: str) -> RunReport:
        """Return the result of the run after ``done`` steps at a simulation time [ns]."""
        wall = (time.perf_counter_ns() - self._began) * 1e-9
        rtf = done * self._dt / wall if done else math.nan
        return RunReport(steps=done, time=now_ns * 1e-9, wall=wall, achieved_rtf=rtf, halted=halted)
