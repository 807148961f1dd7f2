"""One arm on ROS: what pliant offers for every device, and the vendor's topics, services and actions by name.

ROS 1 has the names of franka_ros (nodes ``franka_control``, ``franka_state_controller``, ``franka_gripper``), ROS 2
those of franka_ros2 (``franka_robot_state_broadcaster``, ``service_server``, ``action_server``, ``franka_gripper``).
They stand at the root of the graph, as one arm has them; of several arms, each below its name.
"""

from __future__ import annotations

from pliant.devices.base import SampleSource
from pliant.franka.device.arm import FrankaArm
from pliant.franka_ros.arm import serve_trajectories
from pliant.franka_ros.hand import serve_hand
from pliant.franka_ros.names import names_of
from pliant.franka_ros.point_to_point import serve_point_to_point
from pliant.franka_ros.setters import serve_recovery, serve_setters
from pliant.franka_ros.states import serve_states
from pliant.ros.bridge.fields import serve_fields
from pliant.ros.bridge.topics import RosTopics


def serve_arm(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve an arm; a recorded one only by its fields."""
    serve_fields(topics, name, device)
    if not isinstance(device, FrankaArm):
        return
    hand = device.description.hand is not None
    names = names_of(topics, name, device)
    serve_states(topics, name, names, hand=hand)
    if topics.node.has_services:
        serve_setters(topics, device, names.space)
    serve_trajectories(topics, name, device, names)
    if topics.node.has_actions:
        serve_recovery(topics, device, names.space)
        if topics.node.codec.version == 2:
            serve_point_to_point(topics, device, names.space)
        if hand:
            serve_hand(topics, device, names)
