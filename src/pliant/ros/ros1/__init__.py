"""ROS 1: a node that speaks TCPROS by itself, and the bridge on it."""

from pliant.ros.ros1.bridge import make
from pliant.ros.ros1.node import Ros1Node

__all__ = ["Ros1Node", "make"]
