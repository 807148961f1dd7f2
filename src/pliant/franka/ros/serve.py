"""One arm on ROS: what pliant offers for every device, and the vendor's topics, services and actions by name.

ROS 1 has the names of franka_ros (nodes ``franka_control``, ``franka_state_controller``, ``franka_gripper``), ROS 2
those of franka_ros2 (``franka_robot_state_broadcaster``, ``service_server``, ``action_server``, ``franka_gripper``).
They stand at the root of the graph, as one arm has them; of several arms, each below its name.
"""

from __future__ import annotations

from pliant.devices.base import SampleSource
from pliant.franka.device.arm import FrankaArm
from pliant.franka.ros.hand import serve_hand
from pliant.franka.ros.names import ArmNames
from pliant.franka.ros.setters import serve_recovery, serve_setters
from pliant.franka.ros.states import serve_states
from pliant.ros.bridge.fields import serve_fields
from pliant.ros.bridge.topics import RosTopics

__all__ = ["serve_arm"]


def serve_arm(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve an arm; a recorded one only by its fields."""
    serve_fields(topics, name, device)
    if not isinstance(device, FrankaArm):
        return
    arms = [other for other in topics.devices.values() if isinstance(other, FrankaArm)]
    alone = len(arms) <= 1
    arm_id = {"fer": "panda", "fr3": "fr3"}[device.description.arm.name] if alone else name
    hand = device.description.hand is not None
    names = ArmNames(
        space="" if alone else f"/{name}",
        arm_id=arm_id,
        tool=f"{arm_id}_hand_tcp" if hand else f"{arm_id}_link8",
    )
    serve_states(topics, name, names, hand=hand)
    if topics.node.has_services:
        serve_setters(topics, device, names.space)
    if topics.node.has_actions:
        serve_recovery(topics, device, names.space)
        if hand:
            serve_hand(topics, device, names.space)
