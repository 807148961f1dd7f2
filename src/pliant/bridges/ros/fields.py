"""Devices without a message of their own kind: every field of their table on a topic of its name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.bridges.ros.names import topic_name
from pliant.bridges.ros.topics import RosTopics
from pliant.devices.base import FieldInfo, Sample, SampleSource

__all__ = ["serve_fields"]


def serve_fields(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve each field as ``<namespace>/<name>/<field>``: std_msgs/Float64, arrays as Float64MultiArray.

    A topic that the device's description gives stands in place of ``<namespace>/<name>``.
    """
    base = device.topic or name
    for field, info in device.samples.items():
        topic = topic_name(base, field) if base.startswith("/") else topics.name(base, field)
        topics.writers[name].append(_writer(topics, topic, field, info))


def _writer(topics: RosTopics, topic: str, field: str, info: FieldInfo) -> Callable[[Sample], None]:
    if not info.shape:
        handle = topics.advertise(topic, "std_msgs/Float64")
        fill = topics.template("std_msgs/Float64", {}, ["data"])

        def write(sample: Sample) -> None:
            if handle.active:
                handle.send(fill(sample.values[field]))

        return write
    handle = topics.advertise(topic, "std_msgs/Float64MultiArray")
    strides = np.cumprod((1, *info.shape[::-1]))[:0:-1].tolist()
    dim = [{"label": "", "size": n, "stride": s} for n, s in zip(info.shape, strides, strict=True)]
    fill = topics.template("std_msgs/Float64MultiArray", {"layout": {"dim": dim}, "data": [0.0] * info.size}, ["data"])

    def write_array(sample: Sample) -> None:
        if handle.active:
            handle.send(fill(np.asarray(sample.values[field], dtype=float).ravel()))

    return write_array
