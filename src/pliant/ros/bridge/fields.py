"""Devices without a message of their own kind: each field on a topic and each button as a service of its name."""

from __future__ import annotations

import numpy as np

from pliant.devices.base import Device, FieldInfo, SampleSource
from pliant.ros.bridge.publication import Publication, picked
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message, ServiceCallback
from pliant.simulation.answers import answered
from pliant.simulation.commands import command_mode


def serve_fields(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve each field as ``<namespace>/<name>/<field>``: std_msgs/Float64, arrays as Float64MultiArray.

    Each field of its commands is taken from ``<namespace>/<name>/command/<field>``, of the same types.

    Each of the device's buttons is a service ``<namespace>/<name>/<button>``: std_srvs/SetBool for one that is
    switched, std_srvs/Trigger for one that is only pressed. A topic that the device's description gives stands in place
    of ``<namespace>/<name>``.
    """
    for field, info in device.samples.items():
        _serve_field(topics, name, topics.of(device, name, field), field, info)
    taken = device.commands.values() if device.inbox.accepted else ()  # an arm takes commands of its client only
    for field, info in {f: info for fields in taken for f, info in fields.items()}.items():
        _listen_to_field(topics, topics.of(device, name, f"command/{field}"), device, field, info)
    if isinstance(device, Device) and topics.node.has_services:
        for request, argument in device.buttons.items():
            kind = "std_srvs/SetBool" if argument else "std_srvs/Trigger"
            topics.serve(topics.of(device, name, request), kind, _service(device, request, argument))


def _listen_to_field(topics: RosTopics, topic: str, device: SampleSource, field: str, info: FieldInfo) -> None:
    def command(message: Message) -> None:
        value = message["data"]
        if info.shape:
            numbers = np.asarray(value, dtype=float)
            value = numbers.reshape(info.shape) if numbers.size == info.size else numbers
        values = {field: value}
        device.inbox.put(values, mode=command_mode(device, values))

    topics.listen(topic, "std_msgs/Float64MultiArray" if info.shape else "std_msgs/Float64", command)


def _service(device: Device, request: str, argument: str) -> ServiceCallback:
    """Return what answers a service that gives a request; it runs in a thread of the wire."""

    def answer(message: Message) -> Message:
        answered(device.request(request, **({argument: bool(message["data"])} if argument else {})))
        return {}

    return answer


def _serve_field(topics: RosTopics, name: str, topic: str, field: str, info: FieldInfo) -> None:
    if not info.shape:
        Publication(topic=topic, type="std_msgs/Float64", paths=["data"], numbers=picked(field), stamp="none").serve(
            topics, name
        )
        return
    strides = np.cumprod((1, *info.shape[::-1]))[:0:-1].tolist()
    dim = [{"label": "", "size": n, "stride": s} for n, s in zip(info.shape, strides, strict=True)]
    Publication(
        topic=topic,
        type="std_msgs/Float64MultiArray",
        paths=["data"],
        numbers=lambda v: (np.asarray(v[field], dtype=float).ravel(),),
        values={"layout": {"dim": dim}, "data": [0.0] * info.size},
        stamp="none",
    ).serve(topics, name)
