"""A compliant joint: the topics of the toolbox's joint plugin."""

from __future__ import annotations

import numpy as np

from pliant.devices.base import SampleSource
from pliant.devices.fields import Values
from pliant.devices.signatures import JOINT, JointDevice
from pliant.laws import COMMAND_NAMES, Mode
from pliant.model.interface import JointInterface
from pliant.ros.bridge.joint_state import joint_state
from pliant.ros.bridge.publication import Publication, picked
from pliant.ros.bridge.qb import serve_qb
from pliant.ros.bridge.reconfigure import serve_reconfigure
from pliant.ros.bridge.topics import RosTopics


def serve_joint(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve state, elastic torques, motors, references, external torque, and what the qb_move packages have.

    A joint that only ros2_control's tags describe has none of these.
    """
    joint = device.joint if JOINT.live(device) else name
    info = topics.interface.joints.get(joint) or JointInterface(joint=joint)
    if not info.compliant:
        return
    if info.publish_elastic_torque:
        for k in (1, 2):
            topic = topics.name(joint, f"torque_el{k}_state")
            Publication(
                topic=topic, type="std_msgs/Float64", paths=["data"], numbers=picked(f"load_{k}"), stamp="none"
            ).serve(topics, name)
    if info.publish_state:
        Publication(
            topic=topics.name(joint, "link_state"),
            type=topics.node.state_type,
            paths=["q", "dq", "ref_1", "ref_2", "tau", "stiff"],
            numbers=_state,
            stamp="none",
        ).serve(topics, name)
    if device.metadata.get("motors", "1") == "1":
        for k in (1, 2):
            fields = (f"motor_{k}_position", f"motor_{k}_velocity", f"motor_{k}_effort")
            topic = topics.name(joint, f"motor_{k}_state")
            joint_state(topic, [], fields, size=1, stamp="sample" if topics.options.motor_stamps else "zero").serve(
                topics, name
            )
    if not JOINT.live(device):  # of a recording
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


_state_fields = picked("position", "velocity", "reference_1", "reference_2", "elastic_torque", "reported_stiffness")


def _state(v: Values) -> tuple[float | np.ndarray, ...]:
    q, dq, first, second, torque, stiffness = _state_fields(v)
    if torque != torque:  # modes 0 and 1 have no spring
        torque = v["torque"]
    return q, dq, first, second, torque, stiffness


def _listen_to_references(topics: RosTopics, device: JointDevice) -> None:
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
