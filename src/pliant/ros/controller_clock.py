"""Clock for controllers: the simulation time from ``/clock``."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from pliant.base.errors import BridgeError
from pliant.ros.wire.message import MessageView

if TYPE_CHECKING:
    from pliant.ros.bridge.node import Node

CLOCKS = ("auto", "wall", "ros")
"""Names of the clocks; ``auto`` uses ``/clock`` if it is published."""
CLOCK_TOPIC = "/clock"
POLL_S = 0.05
"""Interval at which a wait checks the event that ends it [s of wall time]."""


class RosClock:
    """The simulation time from ``/clock``, made monotonic: if ``/clock`` is set back, this time continues.

    Args:
        arrived: condition that is notified at each message.
        timeout: longest time without progress of ``/clock`` [s of wall time].
    """

    def __init__(self, arrived: threading.Condition, timeout: float) -> None:
        self.timeout = timeout
        """Wall time for which the time may stand still [s]."""
        self.count = 0
        """Messages that moved the time."""
        self._arrived = arrived
        self._stamp = 0
        self._offset = 0
        self._moved = time.monotonic()

    def subscribe(self, node: Node) -> None:
        """Subscribe to the topic."""
        node.subscribe(CLOCK_TOPIC, "rosgraph_msgs/Clock", self._take)

    def _take(self, message: MessageView) -> None:
        with self._arrived:
            stamp = int(message["clock"])
            if self.count and stamp < self._stamp:  # the simulation was reset
                self._offset += self._stamp - stamp
            elif self.count and stamp == self._stamp:
                return
            self._stamp, self._moved = stamp, time.monotonic()
            self.count += 1
            self._arrived.notify_all()

    def now(self) -> float:
        """Return the time [s]."""
        return (self._stamp + self._offset) * 1e-9

    def wait_until(self, due: float, stop: threading.Event) -> None:
        """Wait until a time, or until ``stop`` is set.

        Raises:
            BridgeError: the time made no progress for longer than the timeout.
        """
        with self._arrived:
            while self.now() < due - 1e-9 and not stop.is_set():
                still = time.monotonic() - self._moved
                if still > self.timeout:
                    raise BridgeError(
                        f"the policy stopped: {CLOCK_TOPIC} has stood still for {still:.2f} s, more than "
                        f"{self.timeout:g} s; the robot keeps its last references",
                        field="timeout",
                    )
                self._arrived.wait(POLL_S)
