"""The loop waits for the controller: each step is answered by one message on each of the awaited topics."""

from __future__ import annotations

from collections.abc import Callable

from pliant.ros.bridge.topics import RosTopics
from pliant.simulation.rate_timer import RateTimer

AGAIN_AFTER = 0.25
"""How long the first contact waits before it sends the samples again [s of wall time]."""
QUIET_FOR = 0.3
"""How long no answer may come before what was sent again counts as answered [s of wall time]."""


class Lockstep:
    """Counts the answers on the awaited topics.

    Args:
        topics: the topics of the bridge.
        awaited: full names of the awaited topics; none for a bridge that does not wait.
        rate: how often the loop waits [Hz of simulation time]; 0 for every step.
    """

    def __init__(self, topics: RosTopics, awaited: tuple[str, ...], rate: float) -> None:
        self.awaited = awaited
        self._served = topics
        self._every = RateTimer(rate)
        topics.arrivals.update(dict.fromkeys(awaited, 0))
        self._taken = dict.fromkeys(awaited, 0)
        self._begun = False
        self._stopping = False

    def wait(self, stamp_ns: int, timeout: float, again: Callable[[], None]) -> bool:
        """Wait until every awaited topic has brought one message more; return False if the time [s] ran out.

        Before the first answer there is no time-out: the controller may come whenever it likes. Until then ``again``,
        which sends the samples once more, is called now and then, for the controller may connect its two ends one
        after the other.
        """
        if not self._every.due(stamp_ns):
            return True
        node, arrival = self._served.node, self._served.arrival
        node.flush()
        if not self._begun:
            self._first_contact(again)
            self._begun = True
            return True
        if not node.wait_for(arrival, self._answered, timeout) and not self._answered():
            return False
        for topic in self._taken:
            self._taken[topic] += 1
        return True

    def stop(self) -> None:
        """Let a waiting loop go on."""
        self._stopping = True
        with self._served.arrival:
            self._served.arrival.notify_all()

    def _answered(self) -> bool:
        arrivals = self._served.arrivals
        return self._stopping or all(arrivals[topic] > count for topic, count in self._taken.items())

    def _first_contact(self, again: Callable[[], None]) -> None:
        node, arrival, arrivals = self._served.node, self._served.arrival, self._served.arrivals
        while not node.wait_for(arrival, self._answered, AGAIN_AFTER):
            if self._answered():
                break
            again()
            node.flush()
        # What was sent again may be answered again: those answers must not count for later steps.
        seen = -1
        while seen != sum(arrivals.values()) and not self._stopping:
            seen = sum(arrivals.values())
            node.wait_for(arrival, lambda seen=seen: False, QUIET_FOR)
        self._taken = dict(arrivals)
