"""``/rosout``: what pliant has to say, where programs of ROS look for it: rqt_console, rosout.log, rostopic."""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque

from pliant.base.ratelimit import RateLimit
from pliant.model.robot import Robot
from pliant.ros.bridge.names import node_name
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message

INFO, WARN = "INFO", "WARN"
LEVELS = {1: {INFO: 2, WARN: 4}, 2: {INFO: 20, WARN: 30}}
"""Generation of ROS -> the numbers of rosgraph_msgs/Log and of rcl_interfaces/Log."""
BURST = 20
"""Messages that are sent at once."""
RATE = 5.0
"""Messages a second that are sent after that [1/s of wall time]."""
LENGTH = 2000
"""Characters of a message that are sent."""
BACKLOG = 20
"""Messages that wait for the first listener; the oldest go first."""


class Rosout:
    """The log of one node. Any thread may speak.

    Args:
        topics: the topics of the bridge.
    """

    def __init__(self, topics: RosTopics) -> None:
        self._codec = topics.node.codec
        first = self._codec.version == 1
        self._type = "rosgraph_msgs/Log" if first else "rcl_interfaces/Log"
        # Programs of ROS 2 ask for what was said before they came; those of ROS 1 do not.
        self._handle = topics.advertise("/rosout", self._type, latch=not first)
        self._name = node_name(topics.options.node, topics.namespace)
        self._limit = RateLimit(burst=BURST, rate=RATE)
        self._count = itertools.count()
        self._backlog: deque[bytes] = deque(maxlen=BACKLOG)
        self._speaking = threading.local()
        self._now_ns = 0

    def say(self, text: str, level: str = WARN) -> None:
        """Send a message, or count it where too much is said."""
        if getattr(self._speaking, "now", False):  # a fault of sending what is said
            return
        held = self._limit.admit()
        if held is None:
            return
        if held:
            text += f" ({held} messages before it were held back)"
        self._speaking.now = True
        try:
            data = self._codec.encode(self._type, self._message(text, level))
            if self._handle.subscribers or not self._waiting():
                self._handle.send(data)
            else:
                self._backlog.append(data)
        finally:
            self._speaking.now = False

    def tick(self, stamp_ns: int) -> None:
        """Hear the simulation's time [ns]; send what waited for a listener."""
        self._now_ns = stamp_ns
        if self._backlog and self._handle.subscribers:
            while self._backlog:
                self._handle.send(self._backlog.popleft())

    def _waiting(self) -> bool:
        """Whether messages are kept for who comes first; ROS 2 keeps the last one by itself."""
        return self._codec.version == 1

    def _message(self, text: str, level: str) -> Message:
        if len(text) > LENGTH:
            text = f"{text[:LENGTH]} ... ({len(text)} characters)"
        common = {"level": LEVELS[self._codec.version][level], "msg": text, "file": "pliant", "function": ""}
        if self._codec.version == 1:
            head = {"seq": next(self._count) & 0xFFFFFFFF, "stamp": self._now_ns}
            return {"header": head, "name": f"/{self._name}", **common}
        return {"stamp": time.time_ns(), "name": self._name, **common}  # rcl's log has the time of the wall


def serve_rosout(topics: RosTopics) -> Rosout:
    """Serve the log, and say what the loader of the robot noted."""
    rosout = Rosout(topics)
    topics.ticks.append(rosout.tick)
    if isinstance(topics.robot, Robot):
        for note in topics.robot.notes[:BACKLOG]:
            rosout.say(str(note), INFO)
    return rosout
