"""Names that robots of one graph must not share: joints, frames, services, actions, commands; on a latched topic."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from pliant.base.errors import BridgeError
from pliant.ros.bridge.graph_names import ROBOTS
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message

PATIENCE = 5.0
"""How long the manifests of others may take [s of wall time]; without others nothing waits."""
MAX_TEXT = 1_000_000
"""Longest manifest that is read [characters]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Names of one robot on the graph."""

    node: str
    """Name of its node."""
    joints: Mapping[str, frozenset[str]]
    """Topic of joint states -> the joints on it."""
    frames: Mapping[str, frozenset[str]]
    """Topic of transforms -> the frames on it."""
    services: frozenset[str]
    """Names of its services and actions."""
    commands: frozenset[str] = frozenset()
    """Topics that command it; what several robots may hear, such as the topics of ``sync``, is left out."""

    def text(self) -> str:
        """Return the manifest as JSON."""
        tables = {
            key: {topic: sorted(names) for topic, names in getattr(self, key).items()} for key in ("joints", "frames")
        }
        names = {"services": sorted(self.services), "commands": sorted(self.commands)}
        return json.dumps({"node": self.node, **tables, **names})

    @classmethod
    def read(cls, text: str) -> Manifest | None:
        """Return the manifest of a text; None for one that is none."""
        try:
            found = json.loads(text) if len(text) <= MAX_TEXT else {}
            tables = {
                key: {str(t): frozenset(map(str, n)) for t, n in found[key].items()} for key in ("joints", "frames")
            }
            names = {key: frozenset(map(str, found.get(key, ()))) for key in ("services", "commands")}
            return cls(node=str(found["node"]), **names, **tables)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None


def serve_manifest(topics: RosTopics, node: str, frames: frozenset[str]) -> Manifest:
    """Say what the robot has, for all who come later; return it.

    Args:
        topics: the topics of the bridge, all served.
        node: name of the node.
        frames: the frames on ``/tf`` and ``/tf_static``; empty where these are not sent.
    """
    names = topics.names
    joints = frozenset(map(names.joint, topics.stated)) if topics.options.joint_states is not None else frozenset()
    manifest = Manifest(
        node=node,
        joints={names.topic("/joint_states"): joints},
        frames={names.topic("/tf"): frames},
        services=frozenset((*topics.services, *topics.actions)),
        commands=frozenset(topics.incoming.keys() - topics.arrivals.keys()),
    )
    handle = topics.node.advertise(ROBOTS, "std_msgs/String", latch=True)
    handle.send(topics.node.codec.encode("std_msgs/String", {"data": manifest.text()}))
    return manifest


def refuse_shared(topics: RosTopics, bridge: str, mine: Manifest, others: list[str]) -> None:
    """Hear what the robots that came first have, and refuse to share it.

    Args:
        topics: the topics of the bridge.
        bridge: name of the bridge, for the options in the message.
        mine: what this robot has.
        others: nodes that publish manifests already.

    Raises:
        BridgeError: a joint, a frame, a service, an action or a topic of commands is another robot's too.
    """
    heard: dict[str, Manifest] = {}
    arrived = threading.Condition()

    def take(message: Message) -> None:
        manifest = Manifest.read(message["data"])
        if manifest is not None and manifest.node != mine.node:
            with arrived:
                heard[manifest.node] = manifest
                arrived.notify_all()

    topics.node.subscribe_latched(ROBOTS, "std_msgs/String", take)
    try:
        if not topics.node.wait_for(arrived, lambda: len(heard) >= len(others), PATIENCE):
            silent = ", ".join(sorted(others)[:8])
            topics.node.complain(
                f"{len(others) - len(heard)} of the robots {silent} did not say within {PATIENCE:g} s what they have "
                "on this graph: whether their joints, frames, services and commands are others is not known"
            )
    finally:
        topics.node.unsubscribe(ROBOTS)
    for other in heard.values():
        _compare(bridge, mine, other)


def _compare(bridge: str, mine: Manifest, other: Manifest) -> None:
    for topic, joints in mine.joints.items():
        for joint in sorted(joints & other.joints.get(topic, frozenset())):
            raise BridgeError(
                f"{topic} has the joint {joint!r} of {other.node} already: two robots would mix their states. Give "
                f"this one other names ({bridge}:prefix=NAME_) or another topic ({bridge}:remap={topic}:/NAME{topic})",
                field="prefix",
            )
    for topic, frames in mine.frames.items():
        for frame in sorted(frames & other.frames.get(topic, frozenset())):
            raise BridgeError(
                f"{topic} has the frame {frame!r} of {other.node} already. Give this robot other frames "
                f"({bridge}:frame_prefix=NAME/) or none ({bridge}:tf=false)",
                field="frame_prefix",
            )
    for what, shared in (
        ("service or action", mine.services & other.services),
        ("topic of commands", mine.commands & other.commands),
    ):
        names = sorted(shared)
        fixed = [name for name in names if not name.startswith(f"/{mine.node}/")]
        if names:
            remap = "+".join([f"{name}:/NAME{name}" for name in fixed])
            wanted = f"other names ({bridge}:remap={remap})" if fixed else f"another node name ({bridge}:node=NAME)"
            text = f"the {what} {(fixed or names)[0]} is that of {other.node} already. Give this robot {wanted}"
            raise BridgeError(text, field="remap" if fixed else "node")
