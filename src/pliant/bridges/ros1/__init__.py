"""ROS 1: a node that speaks TCPROS by itself, and the bridge on it."""

from pliant.bridges.ros1.bridge import Ros1Transport, make
from pliant.bridges.ros1.node import Node

__all__ = ["Node", "Ros1Transport", "make"]
