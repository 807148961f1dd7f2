"""A compliant joint: the topics of the toolbox's joint plugin."""

from __future__ import annotations

from collections.abc import Callable

from pliant.devices.base import Sample, SampleSource
from pliant.devices.compliant_joint import CompliantJoint
from pliant.laws import COMMAND_NAMES, Mode
from pliant.model.interface import JointInterface
from pliant.ros.bridge.joint_state import joint_state_writer
from pliant.ros.bridge.qb import serve_qb
from pliant.ros.bridge.reconfigure import serve_reconfigure
from pliant.ros.bridge.topics import RosTopics

__all__ = ["is_joint", "serve_joint"]


def is_joint(device: SampleSource) -> bool:
    """Return whether a device, live or recorded, samples as a compliant joint does."""
    return "reported_stiffness" in device.samples


def serve_joint(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve state, elastic torques, motors, references, external torque, and what the qb_move packages have."""
    joint = device.joint if isinstance(device, CompliantJoint) else name
    info = topics.interface.joints.get(joint) or JointInterface(joint=joint)
    writers = topics.writers[name]
    if info.publish_elastic_torque:
        for k in (1, 2):
            writers.append(_float(topics, topics.name(joint, f"torque_el{k}_state"), f"load_{k}"))
    if info.publish_state:
        writers.append(_state(topics, topics.name(joint, "link_state")))
    if device.metadata.get("motors", "1") == "1":
        for k in (1, 2):
            fields = (f"motor_{k}_position", f"motor_{k}_velocity", f"motor_{k}_effort")
            topic = topics.name(joint, f"motor_{k}_state")
            writers.append(joint_state_writer(topics, topic, [], fields, size=1, stamped=False))
    if not isinstance(device, CompliantJoint):  # of a recording
        return
    _listen_to_references(topics, device)
    if info.subscribe_external_torque:
        topics.listen(
            topics.name(joint, "external_torque"),
            "std_msgs/Float64",
            lambda m: device.inbox.put({"external_torque": m["data"]}),
        )
    if topics.options.qb:
        serve_qb(topics, name, device)
    if topics.node.has_services and topics.node.codec.version == 1:
        serve_reconfigure(topics, device)


def _float(topics: RosTopics, topic: str, field: str) -> Callable[[Sample], None]:
    handle = topics.advertise(topic, "std_msgs/Float64")
    fill = topics.template("std_msgs/Float64", {}, ["data"])

    def write(sample: Sample) -> None:
        if handle.active:
            handle.send(fill(sample.values[field]))

    return write


def _state(topics: RosTopics, topic: str) -> Callable[[Sample], None]:
    kind = topics.node.state_type
    handle = topics.advertise(topic, kind)
    fill = topics.template(kind, {}, ["q", "dq", "ref_1", "ref_2", "tau", "stiff"])
    fields = ("position", "velocity", "reference_1", "reference_2", "elastic_torque", "reported_stiffness")

    def write(sample: Sample) -> None:
        if handle.active:
            v = sample.values
            q, dq, first, second, torque, stiffness = (v[field] for field in fields)
            if torque != torque:  # modes 0 and 1 have no spring
                torque = v["torque"]
            handle.send(fill(q, dq, first, second, torque, stiffness))

    return write


def _listen_to_references(topics: RosTopics, device: CompliantJoint) -> None:
    """Listen to the two topics of the joint's mode, and to those of the new mode when it is switched or reset."""
    heard: tuple[Mode | None, list[str]] = (None, [])

    def follow(_: int = 0) -> None:
        nonlocal heard
        mode = device.mode
        if mode is heard[0]:
            return
        before = heard[1]
        heard = mode, [topics.name(device.joint, command) for command in COMMAND_NAMES[mode]]
        for topic in before:
            topics.unlisten(topic)
        fields = device.commands[mode.name.lower()]
        for command, topic in zip(COMMAND_NAMES[mode], heard[1], strict=True):
            if command in fields:
                topics.listen(topic, "std_msgs/Float64", lambda m, c=command: device.inbox.put({c: m["data"]}))
            else:  # the original listens, and does nothing with it
                topics.listen(topic, "std_msgs/Float64", lambda _: None)

    follow()
    topics.ticks.append(follow)
