"""sensor_msgs/JointState from the fields of a sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pliant.devices.base import Sample
from pliant.ros.bridge.topics import RosTopics
from pliant.simulation.rate_timer import RateTimer

__all__ = ["joint_state_writer"]

TYPE = "sensor_msgs/JointState"


def joint_state_writer(
    topics: RosTopics,
    topic: str,
    names: Sequence[str],
    fields: tuple[str, str, str],
    *,
    size: int,
    every: RateTimer | None = None,
    stamped: bool = True,
) -> Callable[[Sample], None]:
    """Advertise a topic and return what sends a sample on it.

    Args:
        topics: the topics of the bridge.
        topic: full name.
        names: names of the joints; may be empty, as the toolbox's motor states have none.
        fields: fields of the sample for position [rad], velocity [rad/s], effort [N m].
        size: number of elements of each field.
        every: when it is sent; None for each sample.
        stamped: whether the header has the sample's time; the toolbox's motor states have none.
    """
    handle = topics.advertise(topic, TYPE)
    every = every or RateTimer(0.0)
    first, second, third = fields
    zeros = [0.0] * size
    values = {"name": list(names), "position": zeros, "velocity": zeros, "effort": zeros}
    fill = topics.stamped(TYPE, values, ["position", "velocity", "effort"])

    def write(sample: Sample) -> None:
        if every.due(sample.stamp_ns) and handle.active:
            v = sample.values
            handle.send(fill(sample.stamp_ns if stamped else 0, v[first], v[second], v[third]))

    return write
