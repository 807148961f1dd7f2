"""ROS 2: its wire, RTPS, without ROS 2, and the bridge on it."""

from pliant.ros.ros2.bridge import make
from pliant.ros.ros2.node import Ros2Node

__all__ = ["Ros2Node", "make"]
