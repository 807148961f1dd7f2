"""ROS 2: its wire over DDS, without ROS 2, and the bridge on it."""

from pliant.bridges.ros2.bridge import Ros2Transport, make
from pliant.bridges.ros2.participant import Participant

__all__ = ["Participant", "Ros2Transport", "make"]
