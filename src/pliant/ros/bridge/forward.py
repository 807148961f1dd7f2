"""Controllers that hand values on: forward_command_controller of ros2_control, one for each command interface.

They serve the joints that ros2_control's tags describe: ``/<namespace>/forward_<interface>_controller/commands``, an
array with one value for each joint that this interface moves.
"""

from __future__ import annotations

import numpy as np

from pliant.base.errors import DeviceError
from pliant.ros.bridge.control_topics import INTERFACES, ControlledJoint, controlled_joints, topic_systems
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message

__all__ = ["ForwardController", "serve_forward_controllers"]

TAKE_TOPICS = {1: "command", 2: "commands"}
"""Topic in each generation of ROS: that of JointGroupPositionController, and that of forward_command_controller."""


class ForwardController:
    """Hands the values of a topic on to joints.

    Args:
        topics: the topics of the bridge.
        name: full name of the controller.
        interface: the command interface.
        joints: the joints that it moves.
    """

    kind = "forward_command_controller/ForwardCommandController"

    def __init__(self, topics: RosTopics, name: str, interface: str, joints: list[ControlledJoint]) -> None:
        self.name, self.interface, self._joints = name, interface, joints
        self.joints = [joint.name for joint in joints]
        self.enabled = True
        """Whether it was not deactivated."""
        self._rivals = [c for c in topics.controllers if set(c.limb.owned) & {j.joint for j in joints}]
        self._commands: np.ndarray | None = None
        self.topic = f"{name}/{TAKE_TOPICS[topics.node.codec.version]}"
        self._refuse = topics.refuse
        topics.listen(self.topic, "std_msgs/Float64MultiArray", self.take)
        topics.ticks.append(self.tick)
        topics.rewinds.append(self._rewind)

    @property
    def active(self) -> bool:
        """Whether its commands move the joints."""
        return self.enabled and all(joint.interface == self.interface for joint in self._joints)

    @property
    def claimed(self) -> list[str]:
        """The command interfaces that it needs."""
        return [f"{joint}/{self.interface}" for joint in self.joints]

    def take(self, message: Message) -> None:
        """Leave an array for the loop; NaN leaves a joint as it is.

        Raises:
            DeviceError: it is not valid, or the controller is not active.
        """
        values = np.asarray(message["data"], dtype=float)
        if values.size != len(self.joints):
            raise DeviceError(f"{values.size} values came; must be {len(self.joints)}, one for each of {self.joints}")
        if np.isinf(values).any():
            raise DeviceError(f"{self.joints[int(np.argmax(np.isinf(values)))]} is infinite; must be finite")
        if not self.active:
            raise DeviceError("the controller is not active; the service switch_controller activates it")
        self._commands = values

    def tick(self, stamp_ns: int) -> None:
        """Command the joints, once for each array."""
        values, self._commands = self._commands, None
        if values is None or not self.active:
            return
        for rival in self._rivals:
            rival.release(f"commands on {self.topic} took its place")
        try:
            for joint, value in zip(self._joints, values.tolist(), strict=True):
                if value == value:
                    joint.put(value)
        except DeviceError as error:
            self._refuse(f"{self.topic}: {error}")

    def activate(self) -> None:
        """Take commands."""
        self.enabled = True

    def deactivate(self) -> None:
        """Take no more commands; the joints keep the last one."""
        self.enabled, self._commands = False, None

    def _rewind(self) -> None:
        self.enabled, self._commands = True, None


def serve_forward_controllers(topics: RosTopics) -> list[ForwardController]:
    """Serve a controller for each interface that moves joints which only ros2_control's tags describe; return them.

    Components that talk over topics of their own have controllers elsewhere.
    """
    described = topics.interface.joints
    elsewhere = topic_systems(topics)
    systems = [system for system in topics.interface.systems if system not in elsewhere]
    joints = [
        joint
        for system in systems
        for joint in controlled_joints(topics, system)
        if joint.joint not in described or not described[joint.joint].compliant
    ]
    found = []
    for interface in INTERFACES:
        mine = [joint for joint in joints if joint.interface == interface]
        if mine:
            found.append(ForwardController(topics, topics.name(f"forward_{interface}_controller"), interface, mine))
    return found
