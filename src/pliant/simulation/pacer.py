"""Pacers: what simulation time has to do with wall time.

Three clock modes:

- ``sync()``: none. A lock-step bridge is waited for, so a run does not depend on how fast anything is, and is
  bit-reproducible.
- ``paced(rtf)``: simulation time runs at ``rtf`` times wall time. Lock-step bridges are waited for as well.
- ``free()``: as fast as possible, and nobody is waited for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from pliant.errors import PliantError, nearest

__all__ = ["Pacer", "PacerStats", "as_pacer", "free", "paced", "sync"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PacerStats:
    """How simulation time and wall time went together."""

    mode: str
    """"sync", "paced" or "free"."""
    requested_rtf: float
    """Real-time factor that was asked for; infinity where none was."""
    simulated: float
    """Simulation time that passed while running [s]."""
    wall: float
    """Wall time that passed while running, pauses excluded [s]."""
    achieved_rtf: float
    """simulated / wall over the whole run; NaN before the first step."""
    recent_rtf: float
    """simulated / wall since the statistics were last asked for; NaN if nothing ran since."""
    late_steps: int
    """Steps that ended after their deadline (paced only)."""
    worst_lag: float
    """Longest time past a deadline [s] (paced only)."""
    dropped: float
    """Wall time given up because the lag exceeded ``max_lag`` [s] (paced only)."""


class Pacer:
    """Keeps simulation time beside wall time. Make one with ``sync()``, ``paced()`` or ``free()``.

    Args:
        mode: "sync", "paced" or "free".
        rtf: simulation seconds per wall second, > 0; infinity for no pace.
        max_lag: when the simulation is later than this [s of wall time], the lag is given up instead of caught up.
        clock: returns wall time [ns]; tests pass their own.
        sleep: sleeps for some seconds; tests pass their own.
    """

    def __init__(
        self,
        mode: str,
        rtf: float = math.inf,
        *,
        max_lag: float = 0.25,
        clock: Callable[[], int] = time.perf_counter_ns,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if isinstance(rtf, str) or not rtf > 0.0 or (mode == "paced" and not math.isfinite(rtf)):
            raise PliantError(f"the real-time factor is {rtf!r}; must be a finite number above 0", field="rtf")
        if not max_lag >= 0.0:
            raise PliantError(f"max_lag is {max_lag!r}; must be a number of seconds >= 0", field="max_lag")
        self.mode = mode
        self.rtf = float(rtf)
        self.waits = mode != "free"
        self.paces = mode == "paced"
        self._max_lag_ns = max_lag * 1e9
        self._clock = clock
        self._sleep = sleep
        self._running = False
        self._wall_start = self._sim_start = 0.0
        self._base = 0.0
        self._wall_done = self._sim_done = 0.0
        self._seen = (0.0, 0.0)
        self._late = 0
        self._worst = 0.0
        self._dropped = 0.0

    def __repr__(self) -> str:
        return f"{self.mode}({self.rtf:g})" if self.paces else f"{self.mode}()"

    @property
    def running(self) -> bool:
        """True between ``start`` and ``suspend``."""
        return self._running

    def start(self, time_ns: int) -> None:
        """Start, or go on after a pause or a reset, at this simulation time [ns]."""
        if self._running:
            return
        self._running = True
        self._wall_start = self._base = self._clock()
        self._sim_start = time_ns

    def suspend(self, time_ns: int) -> None:
        """Stop counting at this simulation time [ns], until ``start``."""
        if not self._running:
            return
        self._running = False
        self._sim_done += time_ns - self._sim_start
        self._wall_done += self._clock() - self._wall_start

    def change(self, rtf: float, time_ns: int) -> None:
        """Keep another pace from this simulation time [ns] on.

        Raises:
            PliantError: it keeps no pace, or the factor is not a finite number above 0.
        """
        if not self.paces:
            raise PliantError(
                "the run keeps no pace that can be changed: it goes as fast as it can, or as its clients let it",
                field="rtf",
            )
        factor = Pacer(self.mode, rtf).rtf
        running = self._running
        self.suspend(time_ns)
        self.rtf = factor
        if running:
            self.start(time_ns)

    def pace(self, time_ns: int) -> None:
        """Wait until wall time has caught up with this simulation time [ns]; returns at once if it has."""
        if not self.paces:
            return
        due = self._base + (time_ns - self._sim_start) / self.rtf
        lag = self._clock() - due
        if lag < 0.0:
            self._sleep(-lag * 1e-9)
            return
        if lag > 0.0:
            self._late += 1
            if lag > self._worst:
                self._worst = lag
            if lag > self._max_lag_ns:
                self._base += lag
                self._dropped += lag

    def slack(self, time_ns: int) -> float:
        """Return the wall time until ``pace`` would return [ns], 0 or less if at once; infinity without a pace."""
        if not self.paces:
            return math.inf
        return self._base + (time_ns - self._sim_start) / self.rtf - self._clock()

    def stats(self, time_ns: int) -> PacerStats:
        """Return the statistics up to this simulation time [ns]."""
        simulated, wall = self._sim_done, self._wall_done
        if self._running:
            simulated += time_ns - self._sim_start
            wall += self._clock() - self._wall_start
        seen_simulated, seen_wall = self._seen
        self._seen = (simulated, wall)
        return PacerStats(
            mode=self.mode,
            requested_rtf=self.rtf,
            simulated=simulated * 1e-9,
            wall=wall * 1e-9,
            achieved_rtf=simulated / wall if wall > 0.0 else math.nan,
            recent_rtf=(simulated - seen_simulated) / (wall - seen_wall) if wall > seen_wall else math.nan,
            late_steps=self._late,
            worst_lag=self._worst * 1e-9,
            dropped=self._dropped * 1e-9,
        )


def sync() -> Pacer:
    """Return a pacer that leaves wall time out: lock-step bridges are waited for."""
    return Pacer("sync")


def paced(
    rtf: float = 1.0,
    *,
    max_lag: float = 0.25,
    clock: Callable[[], int] = time.perf_counter_ns,
    sleep: Callable[[float], None] = time.sleep,
) -> Pacer:
    """Return a pacer that keeps simulation time at ``rtf`` times wall time.

    Args:
        rtf: simulation seconds per wall second, > 0; 1 is real time.
        max_lag: lag [s of wall time] above which it is given up instead of caught up.
        clock: returns wall time [ns].
        sleep: sleeps for some seconds.

    Raises:
        PliantError: rtf is not a finite number above 0.
    """
    return Pacer("paced", rtf, max_lag=max_lag, clock=clock, sleep=sleep)


def free() -> Pacer:
    """Return a pacer that runs as fast as possible and waits for nobody."""
    return Pacer("free")


def as_pacer(value: Pacer | str | float) -> Pacer:
    """Return a pacer from its name or from a real-time factor.

    Raises:
        PliantError: neither "sync", "paced", "free", nor a number above 0.
    """
    if isinstance(value, Pacer):
        return value
    if isinstance(value, str):
        makers = {"sync": sync, "paced": paced, "free": free}
        if value not in makers:
            raise PliantError(f"there is no pacer {value!r}; {nearest(value, makers)}", field="pacer")
        return makers[value]()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return paced(value)
    raise PliantError(
        f"pacer is {value!r}; must be sync(), paced(rtf), free(), their names, or a real-time factor",
        field="pacer",
    )
