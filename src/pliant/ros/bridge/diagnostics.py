"""``/diagnostics``: whether the run keeps real time, and which topic that is heard or sent loses messages."""

from __future__ import annotations

import time
from collections import deque

from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message
from pliant.simulation.bridge import bound

PERIOD_S = 0.25
"""How often is looked and told [s of wall time]."""
LOOKS = 2
"""Periods over which messages are counted: a fault is told within one of them."""
OK, WARN = 0, 1
"""diagnostic_msgs/DiagnosticStatus."""
MIN_SHARE = 0.99
"""Share of the messages of a topic that must arrive; below it the topic is starved."""
HEARD = "The machine is too slow for its rate; send less often, or give the publisher a deeper history"
MIN_WAITING = 250
"""Messages that wait for a reader which acknowledges nothing, from which on it is told: a reader that takes messages
acknowledges this many at once, and a thousand are kept."""
SENT = "The reader is slower than pliant sends; lower the rates of the bridge, or read fewer topics in one process"


class Diagnostics:
    """Sends the state of the run four times a second, and tells each starved topic on the console once.

    Args:
        topics: the topics of the bridge, all served.
        node: name of the node, which the names of the states begin with.
    """

    def __init__(self, topics: RosTopics, node: str) -> None:
        self._topics, self._name = topics, node
        self._due = 0.0
        self._before: dict[str, deque[tuple[int, ...]]] = {}
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
        rows = [self._real_time(stamp_ns, now), *self._flows()]
        if self._handle.active:
            codec = self._topics.node.codec
            number = {"seq": next(self._topics.numbers[self._handle.topic])} if codec.version == 1 else {}
            values = {"header": {"stamp": stamp_ns, **number}, "status": rows}
            self._handle.send(codec.encode("diagnostic_msgs/DiagnosticArray", values))

    def _real_time(self, stamp_ns: int, now: float) -> Message:
        lost = bound(self._topics.simulation).lost_time
        wall = max(now - self._looked_at, 1e-9)
        factor = max(0.0, (stamp_ns - self._simulated_ns) * 1e-9 / wall)
        more, self._lost_time = lost - self._lost_time, lost
        self._looked_at, self._simulated_ns = now, stamp_ns
        text = f"{more:.2g} s of real time lost in the last {wall:.2g} s" if more > 0.0 else "keeps its pace"
        return _row(
            f"{self._name}: real time", WARN if more > 0.0 else OK, text,
            {"real-time factor": f"{factor:.3f}", "lost time [s]": f"{lost:.3f}"},
        )  # fmt: skip

    def _flows(self) -> list[Message]:
        """Return a row for each topic that is heard or sent, and tell the starved ones."""
        topics = self._topics
        lost, waiting = topics.node.lost_commands(), topics.node.unacknowledged()
        rows = []
        for topic, item in list(topics.incoming.items()):
            gone = lost.get(topic, 0)
            count = int(item["count"]) + gone
            all_, missed = self._since(topic, count, gone)
            if count:
                text = f"{missed} of {all_} messages did not arrive" if missed > 0 else "all messages arrived"
                rows.append(self._flow(topic, count, gone, text, _starved(missed, all_), HEARD))
        for handle in topics.handles:
            topic, count, gone = f"{handle.topic} (out)", handle.count, handle.drops
            acknowledged, wait = waiting.get(handle.topic, (0, 0))
            all_, missed, taken = self._since(topic, count, gone, acknowledged)
            stands = wait >= MIN_WAITING and not taken
            if gone or stands:
                text = "all messages arrived"
                if missed > 0:  # of what was sent earlier too, to one reader or several
                    text = f"{missed} messages dropped, {all_} sent"
                elif stands:
                    text = f"{wait} messages wait, none acknowledged"
                advice = f"Read by {', '.join(handle.subscribers)}. {SENT}"
                rows.append(self._flow(topic, count, gone, text, stands or _starved(missed, all_), advice))
        return rows

    def _since(self, topic: str, *counts: int) -> list[int]:
        """Return by how much the counts of a topic have grown in the last `LOOKS` periods."""
        before = self._before.setdefault(topic, deque([(0, 0, -1)[: len(counts)]], maxlen=LOOKS))
        grown = [now - then for now, then in zip(counts, before[0], strict=True)]
        before.append(counts)
        return grown

    def _flow(self, topic: str, count: int, gone: int, text: str, starved: bool, advice: str) -> Message:
        """Return the row of a topic; tell the first time that it is starved."""
        if starved and topic not in self._told:
            self._told.add(topic)
            late = f"; the run has lost {self._lost_time:.2g} s of real time" if self._lost_time else ""
            said = f"{topic} is starved: {text} in the last {LOOKS * PERIOD_S:g} s{late}. {advice}"
            self._topics.node.complain(said)
        values = {"arrived": str(count - gone), "lost": str(gone)}
        return _row(f"{self._name}: {topic}", WARN if starved else OK, text, values)


def _starved(missed: int, all_: int) -> bool:
    return missed > all_ * (1.0 - MIN_SHARE)


def _row(name: str, level: int, text: str, values: dict[str, str]) -> Message:
    pairs = [{"key": key, "value": value} for key, value in values.items()]
    return {"level": level, "name": name, "message": text, "hardware_id": "pliant", "values": pairs}
