"""The names that a robot's joints, frames and topics have on ROS: the wing's own, a prefix, and remapped topics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pliant.base.errors import BridgeError
from pliant.ros.bridge.names import topic_name

WORLD = "world"
"""The frame that all robots of a graph share; it has no prefix."""


ROBOTS = "/pliant/robots"
"""Topic on which each pliant says which names it has."""


@dataclass(slots=True)
class GraphNames:
    """Names on ROS of what the model, or a wing, calls by names of its own."""

    prefix: str = ""
    """Put before the names of joints and links."""
    frame_prefix: str = ""
    """Put before the names of frames, in front of the prefix, as robot_state_publisher does."""
    remaps: Mapping[str, str] = field(default_factory=dict)
    """Topic, service or action -> its name on the graph."""
    joints: dict[str, str] = field(default_factory=dict)
    """Joint of the model -> its name on ROS without prefix, where it differs; interfaces of devices add to this."""
    links: dict[str, str] = field(default_factory=dict)
    """Body of the model -> its link on ROS without prefix, where it differs."""
    frames: list[tuple[str, str, tuple[float, ...], tuple[float, ...]]] = field(default_factory=list)
    """Further fixed frames: parent, child (links on ROS), position [m], quaternion (w, x, y, z)."""

    _claimed: dict[str, str] = field(default_factory=dict)
    """Name on the graph, without slashes around it -> what has it."""

    def joint(self, name: str) -> str:
        """Return the name of a joint."""
        return self.prefix + self.joints.get(name, name)

    def link(self, name: str) -> str:
        """Return the name of a link in the description."""
        return name if name in ("", WORLD) else self.prefix + self.links.get(name, name)

    def frame(self, name: str) -> str:
        """Return the name of a frame on tf and in headers."""
        return name if name in ("", WORLD) else self.frame_prefix + self.link(name)

    def topic(self, name: str) -> str:
        """Return the name of a topic, service or action on the graph; a remap of /a holds for /a/b too."""
        if not self.remaps:
            return name
        head = name
        while head:
            if head in self.remaps:
                return self.remaps[head] + name[len(head) :]
            head = head.rpartition("/")[0]
        return name

    def claim(self, name: str) -> str:
        """Return the name on the graph of a topic, service or action that is served.

        Raises:
            BridgeError: a remap gives it the name of another one.
        """
        full = self.topic(name)
        if self.remaps:
            other = self._claimed.setdefault(full.strip("/"), name)
            if other.strip("/") != name.strip("/"):
                raise BridgeError(
                    f"remap: {other} and {name} would both be {full}; must be names that nothing else of the robot has",
                    field="remap",
                )
        return full

    def message(self, values: Any) -> Any:
        """Return the contents of a message with the names of joints and frames that it has on the graph."""
        if not (self.prefix or self.frame_prefix or self.joints or self.links):
            return values
        if isinstance(values, Mapping):
            return {key: self._part(key, value) for key, value in values.items()}
        return [self.message(v) for v in values] if isinstance(values, list) else values

    def _part(self, key: str, value: Any) -> Any:
        if key in ("frame_id", "child_frame_id"):
            return self.frame(value)
        if key in ("name", "joint_names") and isinstance(value, list):
            return [self.joint(name) for name in value]
        return self.message(value)


def read_remaps(text: str) -> dict[str, str]:
    """Return the remaps of ``/a:/b+/c:/d``.

    Raises:
        BridgeError: a part is not of this form, or a name stands twice on one side.
    """
    found: dict[str, str] = {}
    for part in filter(None, text.split("+")):
        old, _, new = part.partition(":")
        for name in (old, new):
            if len(name) < 2 or name != topic_name(name):
                raise BridgeError(
                    f"remap is {part!r}; must be full names, FROM:TO, such as /joint_states:/left/joint_states",
                    field="remap",
                )
        if ROBOTS in (old, new):
            raise BridgeError(
                f"remap: {ROBOTS} has one name for all robots of a graph; must be another one", field="remap"
            )
        if old in found or new in found.values():
            raise BridgeError(
                f"remap: {old if old in found else new} stands there twice; each name must stand once on each side",
                field="remap",
            )
        found[old] = new
    return found
