"""A topic that is made of the samples of a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Literal

import numpy as np

from pliant.devices.base import Sample
from pliant.devices.fields import Values
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire import Template
from pliant.ros.wire.message import MessageView
from pliant.simulation.rate_timer import RateTimer


def picked(*fields: str) -> Callable[[Values], Sequence[float | np.ndarray]]:
    """Return what takes fields out of a sample as they are."""
    if len(fields) == 1:
        (only,) = fields
        return lambda values: (values[only],)
    return itemgetter(*fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A topic whose messages differ in some numbers, which are taken from the samples of one device.

    Example:
        >>> Publication(topic="/temperature", type="std_msgs/Float64", paths=["data"], numbers=picked("temperature"),
        ...             stamp="none").serve(topics, "thermometer")  # doctest: +SKIP
    """

    topic: str
    """Full name of the topic."""
    type: str
    """Type of its messages, ``package/Name``."""
    paths: Sequence[str]
    """Places in a message that change; see `pliant.ros.wire.Template`."""
    numbers: Callable[[Values], Sequence[float | np.ndarray]]
    """Returns the contents of these places, in their order, from the values of a sample."""
    values: MessageView = field(default_factory=dict)
    """The rest of the message, and the lengths of its arrays."""
    stamp: Literal["sample", "zero", "none"] = "sample"
    """Time in the header: that of the sample, or 0; "none" for a message without a header."""
    every: RateTimer | None = None
    """When a sample is sent; None for each sample."""
    when: Callable[[Values], bool] | None = None
    """Whether a sample is sent; None for each sample."""
    whole: bool = False
    """Whether it has the joints of the robot, which the option ``joint_states`` turns off."""
    reliable: bool = True
    """Whether lost messages are sent again on ROS 2; a best-effort topic is not read by who asks for that."""

    def serve(self, topics: RosTopics, name: str) -> None:
        """Advertise the topic and send each sample of the device of this name on it, while somebody listens."""
        if self.whole:
            topics.stated.update(self.values["name"])
            if topics.options.joint_states is None:
                return
        handle = topics.advertise(self.topic, self.type, reliable=self.reliable)
        headed = self.stamp != "none"
        paths = [*(["header.stamp"] if headed else []), *self.paths]
        values, counted = topics.names.message(self.values), topics.numbers[self.topic]
        fill = Template(topics.node.codec, self.type, values, paths, numbers=counted).fill_from
        numbers, stamped, when = self.numbers, self.stamp == "sample", self.when
        # A timer of rate 0 lets every sample through.
        due = None if self.every is None or self.every.period_ns <= 1 else self.every.due

        def write_stamped(sample: Sample) -> None:
            stamp_ns = sample.stamp_ns
            if (due is None or due(stamp_ns)) and handle.active:
                handle.send(fill((stamp_ns if stamped else 0, *numbers(sample.values))))

        def write_plain(sample: Sample) -> None:
            if (due is None or due(sample.stamp_ns)) and handle.active:
                handle.send(fill(numbers(sample.values)))

        write = write_stamped if headed else write_plain

        def write_some(sample: Sample) -> None:
            if when is not None and when(sample.values):
                write(sample)

        topics.writers[name].append(write if when is None else write_some)
