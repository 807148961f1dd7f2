"""Pacers: the relation between simulation time and wall time.

Three clock modes:

- ``sync()``: as fast as possible, but the loop waits for lock-step bridges. A run does not depend on the speed of the
  machine or of clients and is bit-reproducible.
- ``paced(rtf)``: simulation time runs at ``rtf`` times wall time. The loop waits for lock-step bridges as well.
- ``free()``: as fast as possible, without waiting for bridges.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from pliant.base.errors import PliantError, nearest
from pliant.base.numerics import is_number

_log = logging.getLogger("pliant.pacer")
BEGINNING_NS = 20_000_000
"""Simulated time at the start of a run in which lateness is not told [ns]: the first steps load what they need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacerStats:
    """Statistics of simulation time and wall time."""

    mode: str
    """Clock mode: "sync", "paced" or "free"."""
    requested_rtf: float
    """Requested real-time factor; infinity if none was requested."""
    simulated: float
    """Simulation time that passed while running [s]."""
    wall: float
    """Wall time that passed while running, pauses excluded [s]."""
    achieved_rtf: float
    """Real-time factor of the whole run, ``simulated / wall``; NaN before the first step."""
    recent_rtf: float
    """Real-time factor since the previous call of ``stats``; NaN if nothing ran since."""
    late_steps: int
    """Number of steps that ended after their deadline (paced only)."""
    worst_lag: float
    """Longest delay after a deadline [s of wall time] (paced only)."""
    dropped: float
    """Lag that was discarded because it exceeded ``max_lag`` [s of wall time] (paced only)."""


class Pacer:
    """Synchronises simulation time with wall time. Create one with ``sync()``, ``paced()`` or ``free()``.

    Args:
        mode: clock mode, "sync", "paced" or "free".
        rtf: real-time factor, simulation time per wall time, > 0; infinity for no pace.
        max_lag: lag above which it is discarded instead of caught up [s of wall time].
        clock: function that returns wall time [ns]; tests replace it.
        sleep: function that sleeps for a duration [s]; tests replace it.
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
        self._told = False

    def __repr__(self) -> str:
        return f"{self.mode}({self.rtf:g})" if self.paces else f"{self.mode}()"

    @property
    def running(self) -> bool:
        """True between ``start`` and ``suspend``."""
        return self._running

    def start(self, time_ns: int) -> None:
        """Start, or continue after a pause or a reset, at this simulation time [ns]."""
        if self._running:
            return
        self._running = True
        self._wall_start = self._base = self._clock()
        self._sim_start = time_ns

    def suspend(self, time_ns: int) -> None:
        """Stop counting time at this simulation time [ns], until ``start``."""
        if not self._running:
            return
        self._running = False
        self._sim_done += time_ns - self._sim_start
        self._wall_done += self._clock() - self._wall_start

    def change(self, rtf: float, time_ns: int) -> None:
        """Change the real-time factor from this simulation time [ns] on.

        Args:
            rtf: simulation time per wall time, > 0.
            time_ns: simulation time [ns].

        Raises:
            PliantError: the pacer is not paced, or the factor is not a finite number > 0.
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
            self._worst = max(self._worst, lag)
            if lag > self._max_lag_ns:
                self._base += lag
                self._dropped += lag
                if not self._told and time_ns - self._sim_start > BEGINNING_NS:
                    self._tell(time_ns, lag)

    @property
    def lost(self) -> float:
        """Wall time by which the run fell behind and that it does not catch up [s]."""
        return self._dropped * 1e-9

    def _tell(self, time_ns: int, lag: float) -> None:
        """Say once, while it happens, that the run does not keep its pace."""
        self._told = True
        passed = time_ns - self._sim_start
        factor = passed / (passed / self.rtf + lag) if passed > 0 else 0.0
        _log.warning(
            "%s",
            f"the simulation falls behind {'real time' if self.rtf == 1.0 else f'{self.rtf:g} x real time'}: at "
            f"{time_ns * 1e-9:.4g} s it is {lag * 1e-9:.2g} s late ({factor:.2f} x real time so far) and does not "
            "catch up. Programs that count on its clock see it slower; close programs, or choose a lower speed (--rtf, "
            "or on the page)",
        )

    def slack(self, time_ns: int) -> float:
        """Return the wall time until the deadline of ``pace`` [ns]; <= 0 if it has passed, infinity if not paced."""
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
    """Return a pacer that ignores wall time and waits for lock-step bridges."""
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
        rtf: real-time factor, simulation time per wall time, > 0; 1 is real time.
        max_lag: lag above which it is discarded instead of caught up [s of wall time].
        clock: function that returns wall time [ns].
        sleep: function that sleeps for a duration [s].

    Raises:
        PliantError: ``rtf`` is not a finite number > 0.
    """
    return Pacer("paced", rtf, max_lag=max_lag, clock=clock, sleep=sleep)


def free() -> Pacer:
    """Return a pacer that runs as fast as possible and does not wait for bridges."""
    return Pacer("free")


def as_pacer(value: Pacer | str | float) -> Pacer:
    """Return a pacer from the name of its clock mode or from a real-time factor.

    Raises:
        PliantError: the value is neither "sync", "paced" or "free" nor a number > 0.
    """
    if isinstance(value, Pacer):
        return value
    if isinstance(value, str):
        makers = {"sync": sync, "paced": paced, "free": free}
        if value not in makers:
            raise PliantError(f"there is no pacer {value!r}; {nearest(value, makers)}", field="pacer")
        return makers[value]()
    if is_number(value):
        return paced(value)
    raise PliantError(
        f"pacer is {value!r}; must be sync(), paced(rtf), free(), their names, or a real-time factor",
        field="pacer",
    )
