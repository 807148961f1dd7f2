"""Which module serves which device on ROS: a new signature is a module and one line here, or one in a wing."""

from __future__ import annotations

from typing import Any

from pliant.ros.bridge.topics import RosTopics
from pliant.simulation.interfaces import InterfaceTable

INTERFACES: InterfaceTable[RosTopics] = InterfaceTable(
    "ros",
    {
        "joint": "pliant.ros.bridge.joint:serve_joint",
        "board": "pliant.ros.bridge.board:serve_board",
        "sole": "pliant.ros.bridge.sensors:serve_sole",
        "imu": "pliant.ros.bridge.sensors:serve_imu",
        "wrench": "pliant.ros.bridge.sensors:serve_wrench",
        "laser": "pliant.ros.bridge.sensors:serve_laser",
        "camera": "pliant.ros.bridge.camera:serve_camera",
        "joint_states": "pliant.ros.bridge.sensors:serve_joint_states",
        "recorded_topic": "pliant.ros.bridge.recorded:serve_recorded_topic",
    },
    otherwise="pliant.ros.bridge.fields:serve_fields",
)
"""Signature of a device -> function that serves it; every other device is served by its field table."""


def _keep(topics: RosTopics, name: str, device: Any) -> None:
    """Leave the names of a device's joints and links as the model has them."""


NAMES: InterfaceTable[RosTopics] = InterfaceTable("ros_names", {}, otherwise=_keep)
"""Signature of a device -> function that adds to `RosTopics.names` before anything is served; wings have entries."""
