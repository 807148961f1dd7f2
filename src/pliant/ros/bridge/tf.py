"""``/tf`` and ``/tf_static``: where each link is in the link before it; odometry of free bases."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.base.spatial import conjugate, rotate
from pliant.ros.bridge.description import Description
from pliant.ros.bridge.kinematics import Edge
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message

TF_RATE = 50.0
"""[Hz], the default of robot_state_publisher."""
ODOMETRY_RATE = 50.0
"""[Hz], the default of diff_drive_controller."""
TRANSFORMS = "tf2_msgs/TFMessage"


def serve_tf(topics: RosTopics, description: Description) -> frozenset[str]:
    """Send each moving link relative to the link before it at 50 Hz, and the fixed ones once, latched; return them."""
    fixed = _serve_fixed(topics, description)
    tree = description.tree
    frames = frozenset(map(topics.names.frame, [*fixed, *(edge.child for edge in tree.moving)]))
    if not tree.moving or topics.simulation is None:
        return frames
    qpos = topics.simulation.engine.port("state/qpos")
    handle = topics.advertise("/tf", TRANSFORMS)
    values = {"transforms": [_transform(e.parent, e.child, e.position, e.orientation) for e in tree.moving]}
    paths: list[str] = []
    for i in range(len(tree.moving)):
        at = f"transforms[{i}]."
        paths += [f"{at}header.stamp", *(f"{at}transform.translation.{a}" for a in "xyz")]
        paths += [f"{at}transform.rotation.{a}" for a in "wxyz"]
    fill = topics.template(TRANSFORMS, values, paths)

    def write(stamp_ns: int) -> None:
        if handle.active:
            numbers: list[float] = []
            for position, orientation in zip(*(rows.tolist() for rows in tree.places(qpos)), strict=True):
                numbers.append(stamp_ns)
                numbers += position
                numbers += orientation
            handle.send(fill(*numbers))

    topics.at(TF_RATE, write)
    return frames


def _serve_fixed(topics: RosTopics, description: Description) -> list[str]:
    """Send the fixed links, the frames of wings, and the frames of sensors that are not those of their bodies."""
    fixed = [_transform(e.parent, e.child, e.position, e.orientation) for e in description.tree.fixed]
    fixed += [
        _transform(parent, child, np.array(position), np.array(orientation))
        for parent, child, position, orientation in topics.names.frames
    ]
    fixed += sensor_frames(topics, description.offsets)
    if fixed:
        handle = topics.advertise("/tf_static", TRANSFORMS, latch=True)
        handle.send(topics.node.codec.encode(TRANSFORMS, topics.names.message({"transforms": fixed})))
    return [item["child_frame_id"] for item in fixed]


def sensor_frames(topics: RosTopics, offsets: Mapping[str, np.ndarray]) -> list[Message]:
    """Return the frames of sensors that are fixed to a body and not the body's own.

    Args:
        topics: the topics of the bridge.
        offsets: place of each link's frame in its body [m]: on the axis of its joint.
    """
    mounts = {topics.frame(device): device.mount for device in topics.devices.values() if device.mount is not None}
    return [
        _transform(
            mount.body,
            frame,
            np.array(mount.position) - offsets.get(mount.body, np.zeros(3)),
            np.array(mount.orientation),
        )
        for frame, mount in mounts.items()
        if frame != mount.body
    ]


def _transform(parent: str, child: str, position: np.ndarray, orientation: np.ndarray) -> Message:
    return {
        "header": {"frame_id": parent},
        "child_frame_id": child,
        "transform": {
            "translation": dict(zip("xyz", position.tolist(), strict=True)),
            "rotation": dict(zip("wxyz", orientation.tolist(), strict=True)),
        },
    }


def serve_odometry(topics: RosTopics, description: Description) -> None:
    """Send the true pose and velocity of each free base: ``/<namespace>/odom``, of several below the base's name."""
    bases = description.tree.bases()
    for edge in bases:
        topic = topics.name("odom") if len(bases) == 1 else topics.name(edge.child, "odom")
        _serve_base(topics, description, edge, topic)


def _serve_base(topics: RosTopics, description: Description, edge: Edge, topic: str) -> None:
    if topics.simulation is None:
        return
    model, engine = description.tree.model, topics.simulation.engine
    q, v = int(model.jnt_qposadr[edge.joint]), int(model.jnt_dofadr[edge.joint])
    place, motion = engine.port("state/qpos")[q : q + 7], engine.port("state/qvel")[v : v + 6]
    kind = "nav_msgs/Odometry"
    handle = topics.advertise(topic, kind)
    paths = [f"pose.pose.position.{a}" for a in "xyz"] + [f"pose.pose.orientation.{a}" for a in "wxyz"]
    paths += [f"twist.twist.{part}.{a}" for part in ("linear", "angular") for a in "xyz"]
    fill = topics.stamped(kind, {"header": {"frame_id": edge.parent}, "child_frame_id": edge.child}, paths)

    def write(stamp_ns: int) -> None:
        if handle.active:  # the twist is in the axes of the base, by the message's definition
            linear = rotate(conjugate(place[3:]), motion[:3])
            handle.send(fill(stamp_ns, *place.tolist(), *linear.tolist(), *motion[3:].tolist()))

    topics.at(ODOMETRY_RATE, write)
