"""``/diagnostics``: whether the run keeps real time, and which topic of commands is starved."""

from __future__ import annotations

import time

from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message

__all__ = ["serve_diagnostics"]

PERIOD_S = 0.5
"""How often is looked and told [s of wall time]; at 0.5 s a fault is told within 1 s."""
OK, WARN = 0, 1
"""diagnostic_msgs/DiagnosticStatus."""
MIN_SHARE = 0.99
"""Share of the messages of a topic that must arrive; below it the topic is starved."""


def serve_diagnostics(topics: RosTopics, node: str) -> None:
    """Send the state of the run twice a second, and tell each starved topic on the console once.

    Args:
        topics: the topics of the bridge, all served.
        node: name of the node, which the names of the states begin with.
    """
    Diagnostics(topics, node)


class Diagnostics:
    """The state of a run; see `serve_diagnostics`."""

    def __init__(self, topics: RosTopics, node: str) -> None:
        self._topics, self._name = topics, node
        self._due = 0.0
        self._before: dict[str, tuple[int, int]] = {}
        self._lost_time, self._looked_at = 0.0, time.monotonic()
        self._simulated_ns = 0
        self._told: set[str] = set()
        self._handle = topics.advertise("/diagnostics", "diagnostic_msgs/DiagnosticArray")
        topics.ticks.append(self.tick)

    def tick(self, stamp_ns: int) -> None:
        """Look and tell, if it is time."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + PERIOD_S
        rows = [self._real_time(stamp_ns, now), *self._commands()]
        if self._handle.active:
            values = {"header": {"stamp": stamp_ns}, "status": rows}
            self._handle.send(self._topics.node.codec.encode("diagnostic_msgs/DiagnosticArray", values))

    def _real_time(self, stamp_ns: int, now: float) -> Message:
        lost = self._topics.bound().lost_time
        wall = max(now - self._looked_at, 1e-9)
        factor = max(0.0, (stamp_ns - self._simulated_ns) * 1e-9 / wall)
        more, self._lost_time = lost - self._lost_time, lost
        self._looked_at, self._simulated_ns = now, stamp_ns
        text = f"{more:.2g} s of real time lost in the last {wall:.2g} s" if more > 0.0 else "keeps its pace"
        return _row(
            f"{self._name}: real time", WARN if more > 0.0 else OK, text,
            {"real-time factor": f"{factor:.3f}", "lost time [s]": f"{lost:.3f}"},
        )  # fmt: skip

    def _commands(self) -> list[Message]:
        rows = []
        lost = self._topics.node.lost_commands()
        for topic, item in list(self._topics.incoming.items()):
            count, gone = int(item["count"]), lost.get(topic, 0)
            if not count and not gone:
                continue
            before = self._before.get(topic, (0, 0))
            self._before[topic] = count, gone
            came, missed = count - before[0], gone - before[1]
            starved = missed > (came + missed) * (1.0 - MIN_SHARE)
            text = f"{missed} of {came + missed} messages did not arrive" if missed > 0 else "all messages arrived"
            if starved and topic not in self._told:
                self._told.add(topic)
                late = f"; the run has lost {self._lost_time:.2g} s of real time" if self._lost_time else ""
                self._topics.node.complain(
                    f"{topic} is starved: {text} in the last {PERIOD_S:g} s{late}. The machine is too slow for its "
                    "rate; send less often, or give the publisher a deeper history"
                )
            values = {"arrived": str(count), "lost": str(gone)}
            rows.append(_row(f"{self._name}: {topic}", WARN if starved else OK, text, values))
        return rows


def _row(name: str, level: int, text: str, values: dict[str, str]) -> Message:
    pairs = [{"key": key, "value": value} for key, value in values.items()]
    return {"level": level, "name": name, "message": text, "hardware_id": "pliant", "values": pairs}
