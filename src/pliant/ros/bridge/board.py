"""The board over all joints: the topics of the toolbox's plugin manager, and ``/joint_states``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.devices.base import SampleSource
from pliant.devices.board import BOARD_STATES
from pliant.devices.signatures import BOARD
from pliant.model.interface import PluginManager
from pliant.ros.bridge.control_topics import topic_joints
from pliant.ros.bridge.joint_state import joint_state
from pliant.ros.bridge.names import topic_name
from pliant.ros.bridge.publication import Publication, picked
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message
from pliant.simulation.rate_timer import RateTimer


def board_joints(device: SampleSource) -> list[str]:
    """Return the names of a board's joints; those of a recorded board stand in its fields."""
    size = device.samples["motor_1_position"].size
    return list(device.joints) or [f"joint_{i + 1}" for i in range(size)]


def serve_board(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve the aggregated states, the true stiffness, ``/joint_states``, and the reference arrays."""
    joints = board_joints(device)
    n = len(joints)
    _serve_states(topics, name, device, joints)
    described = topics.interface.joints
    if BOARD.live(device) and not any(described[j].compliant for j in joints if j in described):
        return  # no joint of it is the toolbox's
    options, manager = topics.options, topics.interface.manager
    rate = options.aggregate_rate
    if not rate and manager is not None:
        rate = 1.0 / manager.sample_time
    else:
        topics.every("aggregate_rate", rate, device)
    for topic, fields in BOARD_STATES.items():
        joint_state(topics.name(topic), joints, fields, size=n, every=RateTimer(rate)).serve(topics, name)
    # The true slopes, which the original collects and throws away.
    layout = {"dim": [{"label": ",".join(joints), "size": n, "stride": n}]}
    Publication(
        topic=topics.name("stiffness_state"),
        type="std_msgs/Float64MultiArray",
        paths=["data"],
        numbers=picked("stiffness"),
        values={"layout": layout, "data": [0.0] * n},
        stamp="none",
        every=RateTimer(rate),
    ).serve(topics, name)
    if "references" in device.commands:  # a recorded board takes none
        _listen_to_arrays(topics, device)


def _serve_states(topics: RosTopics, name: str, device: SampleSource, joints: Sequence[str]) -> None:
    """Serve ``/joint_states``, but for the joints that another controller manager sends."""
    others = topic_joints(topics)
    mine = [i for i, joint in enumerate(joints) if joint not in others]
    if not mine:
        return
    every = topics.every("joint_states", topics.options.joint_states, device)
    fields, size = BOARD_STATES["robot_state"], len(mine)
    more = {} if size == len(joints) else {"numbers": lambda v: [np.asarray(v[field])[mine] for field in fields]}
    names = [joints[i] for i in mine]
    joint_state("/joint_states", names, fields, size=size, every=every, whole=True, **more).serve(topics, name)


def _listen_to_arrays(topics: RosTopics, device: SampleSource) -> None:
    references: list[np.ndarray | None] = [None, None]
    topics.rewinds.append(lambda: references.__setitem__(slice(None), [None, None]))
    for k, field in enumerate(("reference_1", "reference_2")):

        def command(message: Message, k: int = k, field: str = field) -> None:
            device.inbox.put({field: message["data"]}, mode="references")
            references[k] = message["data"]

        topics.listen(topics.name(field), "std_msgs/Float64MultiArray", command)
    manager = topics.interface.manager
    if manager is not None:
        _forward(topics, manager, references)


def _forward(topics: RosTopics, manager: PluginManager, references: list[np.ndarray | None]) -> None:
    """Send element i of the arrays to joint i's topic, as the original's manager does for all to see."""
    every = RateTimer(1.0 / manager.sample_time)
    fill = topics.template("std_msgs/Float64", {}, ["data"])
    rows = []
    for k, suffixes in enumerate((manager.ref_1, manager.ref_2)):
        for i, (joint, suffix) in enumerate(zip(manager.joints, suffixes, strict=True)):
            handle = topics.advertise(topic_name(topics.namespace, joint, suffix), "std_msgs/Float64")
            rows.append((handle, k, i))

    def forward(stamp_ns: int) -> None:
        if not every.due(stamp_ns):
            return
        for handle, k, i in rows:
            values = references[k]
            if values is not None and handle.active:
                handle.send(fill(values[i]))

    topics.ticks.append(forward)
