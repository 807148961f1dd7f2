"""Common part of the ROS 1 and ROS 2 bridges: topics, types and rates of each kind of device.

A wire is a `Node`; `RosBridge` serves a robot on it. ``interfaces.py`` has the table of the kinds of devices.
"""

from pliant.ros.bridge.bridge import RosBridge
from pliant.ros.bridge.names import sync_names, topic_name
from pliant.ros.bridge.node import Node, TopicHandle
from pliant.ros.bridge.options import RosOptions
from pliant.ros.bridge.trajectory import Trajectory

__all__ = ["Node", "RosBridge", "RosOptions", "TopicHandle", "Trajectory", "sync_names", "topic_name"]
