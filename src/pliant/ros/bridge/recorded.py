"""Topics of a bag, published again as they are."""

from __future__ import annotations

from typing import Any

from pliant.devices.base import Sample
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire import Codec
from pliant.simulation.replayed import RecordedTopic


def serve_recorded_topic(topics: RosTopics, name: str, device: RecordedTopic) -> None:
    """Publish a topic under its own name; one whose type is not known, or is another here, is left away.

    Messages that come from the other generation of ROS are encoded anew.
    """
    topic = device.recorded
    codec = topics.node.codec
    kind = topic.known_type(codec.version)
    if not kind:
        return
    handle = topics.advertise(name, kind, latch=topic.latched)
    device.served_by.append(topics.node.wire)
    if topic.version == codec.version:

        def write(sample: Sample) -> None:
            if handle.active or topic.latched:
                handle.send(sample.values["body"])

    else:
        source = Codec(topic.version)

        def write(sample: Sample) -> None:
            if handle.active or topic.latched:
                values = source.decode(topic.type, sample.values["body"])
                handle.send(codec.encode(kind, _without_number(values) if codec.version == 2 else values))

    topics.writers[name].append(write)


def _without_number(value: Any) -> Any:
    """Leave the running numbers of ROS 1's headers away for ROS 2, which has none."""
    if isinstance(value, dict):
        header = {"seq", "stamp", "frame_id"} == set(value)
        return {k: _without_number(v) for k, v in value.items() if not (header and k == "seq")}
    return [_without_number(v) for v in value] if isinstance(value, list) else value
