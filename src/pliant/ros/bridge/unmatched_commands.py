"""Commands that nobody takes: published under the robot's name space, for a joint or a mode that it does not have."""

from __future__ import annotations

from pliant.base.errors import nearest
from pliant.devices.signatures import JOINT
from pliant.laws import COMMAND_NAMES
from pliant.ros.bridge.names import topic_name
from pliant.ros.bridge.topics import RosTopics

COMMANDS = {name for names in COMMAND_NAMES.values() for name in names} - {"disabled"} | {"external_torque"}
LIMIT = 200
"""So many topics are told of; further ones are not."""


class UnmatchedCommands:
    """Tells, once per topic, of commands that go nowhere, which ROS itself connects to nothing without a word.

    Args:
        topics: the topics of the bridge.
    """

    def __init__(self, topics: RosTopics) -> None:
        self._served = topics
        self._told: set[str] = set()
        self._early: list[tuple[str, str]] | None = []

    def begin(self) -> None:
        """Tell of what was heard before the robot's own topics were known, and of all that comes."""
        early, self._early = self._early or [], None
        for topic, who in early:
            self.heard(topic, who)

    def heard(self, topic: str, who: str) -> None:
        """Take note that ``who`` publishes a topic; the wire calls this, in any thread."""
        if self._early is not None:
            if len(self._early) < LIMIT:
                self._early.append((topic, who))
            return
        topics = self._served
        space = topic_name(topics.namespace) + "/"
        if not topic.startswith(space) or topic in topics.incoming or topic in self._told:
            return
        joint, slash, command = topic.removeprefix(space).partition("/")
        modes = {topic_name(device.joint)[1:]: device.mode for device in topics.devices.values() if JOINT.live(device)}
        if not slash or command not in COMMANDS or not modes or len(self._told) >= LIMIT:
            return
        self._told.add(topic)
        if joint not in modes:
            text = f"{topic}: {who} commands {joint!r}, which the robot does not have; {nearest(joint, modes)}"
            topics.node.complain(text)
            return
        mode = modes[joint]
        valid = ", ".join(name for name in COMMAND_NAMES[mode] if name != "disabled")
        topics.node.complain(
            f"{topic}: {who} publishes it, and {joint} in mode {int(mode)} does not take it; valid names: {valid}"
        )
