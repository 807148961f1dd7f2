"""Python's garbage collector between the steps instead of inside them.

The collector runs whenever enough objects were made, so it runs inside steps: 1 or 2 ms for the young objects, tens of
milliseconds for all of them. While somebody waits for the step's end, `Collector` holds it off and collects itself, in
the time that the pacer would sleep away. What was there before the run is set aside (`gc.freeze`), so that even a full
collection looks only at what the run has made.

Held off is not switched off: where the loop stands still for long, as in a wait for a client, while other threads make
objects, the automatic collection still comes, after very many.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from typing import Protocol

YOUNG = 1_000
"""New objects after which the young generation is collected where there is time."""
OVERDUE = 5_000
"""New objects after which it is collected whether there is time or not: the longer it waits, the longer it takes."""
SAFETY = 500_000
"""New objects after which Python collects by itself all the same."""
PER_GENERATION = 10
"""Collections of a generation after which the next older one is collected with it."""
FULL_INTERVAL_NS = 10_000_000_000
"""Shortest time between two full collections [ns of wall time]."""
MARGIN = 2.0
"""How many times as long as the recent collections the slack must be."""
FORGET = 0.99
"""Fraction of a measured length that remains after a step in which the slack was too short for it."""
FIRST_GUESS_NS = (100_000.0, 300_000.0, 3_000_000.0)
"""How long a collection of each generation is taken to last before one was measured [ns]; assumed."""


class _Switch:
    """Holds the automatic collection off while anyone wants that; several simulations may run at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._threshold = gc.get_threshold()
        self._froze = self._others_froze = False

    def off(self) -> None:
        with self._lock:
            self._users += 1
            if self._users > 1:
                return
            self._threshold = gc.get_threshold()
            if self._threshold[0] > 0:  # 0 is switched off already
                gc.set_threshold(max(SAFETY, self._threshold[0]), *self._threshold[1:])
            # Whoever froze objects before us wants them to stay frozen. To count them takes long, so it is done once.
            self._others_froze = self._others_froze or gc.get_freeze_count() > 0
            self._froze = not self._others_froze
            if self._froze:
                gc.freeze()

    def restore(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users:
                return
            if self._froze:
                gc.unfreeze()
            gc.set_threshold(*self._threshold)


_SWITCH = _Switch()


class GarbageCollector(Protocol):
    """Functions of the module `gc` that are used."""

    def get_count(self) -> tuple[int, int, int]: ...

    def collect(self, generation: int = 2, /) -> int: ...


class Collector:
    """Collects garbage between steps. One thread uses it: ``start``, ``between`` after each step, ``stop``.

    Args:
        clock: returns wall time [ns].
        collector: what has ``get_count`` and ``collect``, as the module `gc`.
    """

    def __init__(self, *, clock: Callable[[], int] = time.perf_counter_ns, collector: GarbageCollector = gc) -> None:
        self._clock = clock
        self._count = collector.get_count
        self._collect = collector.collect
        self._running = False
        self._expected = list(FIRST_GUESS_NS)
        self._young = self._middle = 0
        self._last_full = 0
        self._collections = [0, 0, 0]
        self._overdue = 0
        self._worst_ns = 0

    @property
    def running(self) -> bool:
        """True between ``start`` and ``stop``."""
        return self._running

    def start(self) -> None:
        """Hold the automatic collection off; may be called twice."""
        if not self._running:
            self._running = True
            self._last_full = self._clock()
            _SWITCH.off()

    def stop(self) -> None:
        """Leave the automatic collection as it was found; may be called twice."""
        if self._running:
            self._running = False
            _SWITCH.restore()

    @property
    def due(self) -> bool:
        """Whether `between` may have something to do."""
        return self._running and self._count()[0] >= YOUNG

    def between(self, slack_ns: float) -> None:
        """Collect if it is time to.

        Args:
            slack_ns: wall time until the next step has to begin [ns]; infinity where no step has to.
        """
        count = self._count()[0]
        if count < YOUNG:
            return
        generation = 0
        if self._young >= PER_GENERATION:
            generation = 1
            if self._middle >= PER_GENERATION and self._clock() - self._last_full >= FULL_INTERVAL_NS:
                generation = 2
        if generation == 2 and not self._fits(2, slack_ns):
            generation = 1  # the full collection waits for a long slack; the others do not wait for ever
        if not self._fits(generation, slack_ns):
            if count < OVERDUE:
                return
            self._overdue += 1
        self._run(generation)

    def _fits(self, generation: int, slack_ns: float) -> bool:
        if slack_ns >= MARGIN * self._expected[generation]:
            return True
        # One collection that was long for another reason must not end all others: it is forgotten within seconds.
        self._expected[generation] *= FORGET
        return False

    def _run(self, generation: int) -> None:
        began = self._clock()
        self._collect(generation)
        ended = self._clock()
        took = ended - began
        self._expected[generation] = 0.5 * (took + self._expected[generation])
        self._worst_ns = max(self._worst_ns, took)
        self._collections[generation] += 1
        if generation == 0:
            self._young += 1
            return
        self._young = 0
        self._middle += 1
        if generation == 2:
            self._middle = 0
            self._last_full = ended

    def health(self) -> dict[str, object]:
        """Return how many collections of each generation there were, those without slack, and the longest [s]."""
        return {
            "collections": list(self._collections),
            "overdue": self._overdue,
            "worst": self._worst_ns * 1e-9,
        }
