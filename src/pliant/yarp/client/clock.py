"""The simulation's clock for programs: what `yarp::os::Time` does in a program of YARP with ``YARP_CLOCK``."""

from __future__ import annotations

import contextlib
import math
import threading
from typing import TYPE_CHECKING

from pliant.base.errors import BridgeError
from pliant.yarp.client.network import InputPort

if TYPE_CHECKING:
    from pliant.yarp.client.network import YarpNetwork

MAX_TICKS = 20_000
"""Most ticks that wait to be read at one port."""


class ClockReader:
    """A port that receives every tick of a clock, in order.

    Args:
        yarp: the program's network.
        source: port of the clock.
        name: name of the port that receives; "..." lets the name server choose.

    Raises:
        BridgeError: there is no such clock.
    """

    def __init__(self, yarp: YarpNetwork, source: str = "/clock", *, name: str = "...") -> None:
        self._port = InputPort(yarp.network, name, limit=MAX_TICKS)
        yarp.connect(source, self._port.name)

    def read(self, timeout: float) -> int:
        """Return the time of the next tick [ns].

        Raises:
            BridgeError: none came within ``timeout`` [s].
        """
        seconds, nanoseconds = self._port.read(timeout).content[:2]
        return int(seconds) * 1_000_000_000 + int(nanoseconds)


class NetworkClock:
    """The newest time of a clock, kept by a thread; other threads sleep until a simulated time.

    Args:
        yarp: the program's network.
        source: port of the clock.
        name: name of the port that receives; "..." lets the name server choose.
        timeout: longest sleep in wall time [s].

    Example:
        >>> with NetworkClock(yarp) as clock:  # doctest: +SKIP
        ...     now = clock.sleep_until(0)
        ...     while True:
        ...         now = clock.sleep_until(now + 1_000_000)  # a loop of 1 kHz in simulated time
    """

    def __init__(self, yarp: YarpNetwork, source: str = "/clock", *, name: str = "...", timeout: float = 120.0) -> None:
        self._changed = threading.Condition()
        self._now, self._ticks, self._ended, self._timeout = -1, 0, False, timeout
        self._reader = ClockReader(yarp, source, name=name)
        self._thread = threading.Thread(target=self._follow, name="pliant-yarp-clock")

    def __enter__(self) -> NetworkClock:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._thread.join(10.0)

    def _follow(self) -> None:
        while not self._ended:
            with contextlib.suppress(BridgeError):  # the simulation stands still
                now = self._reader.read(0.1)
                with self._changed:
                    self._now = now
                    self._ticks += 1
                    self._changed.notify_all()

    def sleep_until(self, time_ns: int, ticks: float = math.inf) -> int:
        """Sleep until a simulated time, or until a number of ticks arrived, and return the newest time [ns].

        Raises:
            BridgeError: no such time came in the clock's ``timeout``, or the clock is not followed any more.
        """
        with self._changed:
            come = self._changed.wait_for(
                lambda: self._ended or self._now >= time_ns or self._ticks >= ticks, self._timeout
            )
            if self._ended or not come:
                raise BridgeError(f"the clock did not reach {time_ns} ns", field="clock")
            return self._now
