"""ROS 2 on zenoh: the wire of rmw_zenoh_cpp, without ROS 2, and the bridge on it."""

from pliant.ros.zenoh.bridge import ZenohOptions, make
from pliant.ros.zenoh.node import ZenohNode

__all__ = ["ZenohNode", "ZenohOptions", "make"]
