"""A bag as the wire of a ROS bridge: what the bridges would serve of a recording goes into a file."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pliant.bags import Bag
from pliant.bags.writing import BagWriter
from pliant.base.errors import RecordingError
from pliant.recording.recording import Recording
from pliant.replay.player import open_replay
from pliant.ros.bridge import RosBridge
from pliant.ros.bridge.node import SilentNode, TopicHandle
from pliant.ros.bridge.options import RosOptions
from pliant.ros.wire import Codec


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedTopic:
    """One topic of an exported bag."""

    topic: str
    """Its name."""
    type: str
    """Its type, ``package/Type``."""
    count: int
    """Its messages."""


class _Handle(TopicHandle):
    """A topic that is written."""

    active = True

    def __init__(self, node: BagNode, topic: str, type_name: str, latch: bool) -> None:
        super().__init__(topic, type_name, latch)
        self._node = node

    def send(self, data: bytes) -> None:
        """Write one message at the node's present time."""
        if not self.count:  # a topic without messages is not declared
            self._node.writer.add_topic(self.topic, self.type, latch=self.latch)
        self.count += 1
        self._node.writer.write(self.topic, self._node.now_ns, data)


class BagNode(SilentNode):
    """A file as the node below a `RosBridge`; nothing comes back from it.

    Args:
        writer: the bag.
    """

    wire = "bag"
    has_services = False
    has_actions = False

    def __init__(self, writer: BagWriter) -> None:
        super().__init__(Codec(writer.version))
        self.writer = writer
        self.now_ns = 0
        """Log time of what is sent [ns]."""
        self._handles: dict[str, _Handle] = {}

    def advertise(self, topic: str, type_name: str, *, latch: bool = False, reliable: bool = True) -> _Handle:
        """Return a topic of the bag."""
        if topic not in self._handles:
            self._handles[topic] = _Handle(self, topic, type_name, latch)
        return self._handles[topic]

    def wait_for(self, condition: threading.Condition, answered: Callable[[], bool], timeout: float) -> bool:
        """Return at once: nobody answers."""
        return answered()

    def where(self) -> str:
        """Return the file."""
        return str(self.writer.path)


def export_bag(
    source: str | Path | Recording | Bag,
    output: str | Path,
    *,
    namespace: str = "",
    overwrite: bool = False,
    progress: Callable[[float, float], None] | None = None,
) -> list[ExportedTopic]:
    """Write a recording, or a bag of any kind, as a bag of ROS: the topics that the bridges serve, and ``/clock``.

    Args:
        source: a recording of pliant, or a bag; an open one stays open.
        output: a .bag (ROS 1), .mcap or .db3 file, or a folder of rosbag2 (a name without suffix).
        namespace: prefix of the toolbox's topics; "" takes the recorded robot's.
        overwrite: replace what is there.
        progress: called now and then with the time that is done and that there is [s].

    Returns:
        The topics that have messages.

    Raises:
        RecordingError: it cannot be read or written, nothing of it has a topic, or a name space for what is a bag.
    """
    replay = open_replay(source)
    try:
        if namespace and isinstance(replay.source, Bag):
            raise RecordingError(
                f"the name space {namespace!r} is for recordings of pliant; the topics of a bag keep their names",
                file=replay.path,
                field="namespace",
            )
        with BagWriter(output, overwrite=overwrite) as writer:
            node = BagNode(writer)
            bridge = RosBridge(replay, node, RosOptions(namespace=namespace, tf=False), name="bag")
            bridge.start(replay.devices)
            begin = replay.begin_ns
            for row, (log_ns, tick, sample) in enumerate(replay.events()):
                node.now_ns = log_ns
                if tick is not None:
                    bridge.tick(tick)
                if sample is not None:
                    bridge.publish(sample)
                if progress is not None and not row % 1000:
                    progress((log_ns - begin) * 1e-9, replay.length)
            topics = [
                ExportedTopic(topic=row["topic"], type=row["type"], count=row["count"])
                for row in bridge.report()
                if row["count"]
            ]
            if not any(topic.topic != "/clock" for topic in topics):
                names = ", ".join(replay.unserved or replay.devices) or "none"
                raise RecordingError(f"it contains no ROS topic; recorded:  {names}", file=replay.path)
        return topics
    finally:
        if not isinstance(source, Bag):
            replay.close()
