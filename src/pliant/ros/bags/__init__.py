"""Bags of ROS: what other programs recorded, read without ROS.

`open_bag` gives topics and messages of a ROS 1 bag, an MCAP or .db3 file, or a folder of ``ros2 bag``; `read_bag` makes
commands of them, `read_traces` measurements.
"""

from pliant.ros.bags.base import Bag, BagMessage, BagTopic
from pliant.ros.bags.columns import BagCommands, read_bag
from pliant.ros.bags.opening import BAG_SUFFIXES, is_bag, open_bag
from pliant.ros.bags.traces import read_traces

__all__ = [
    "BAG_SUFFIXES",
    "Bag",
    "BagCommands",
    "BagMessage",
    "BagTopic",
    "is_bag",
    "open_bag",
    "read_bag",
    "read_traces",
]
