"""Declaration of ROS bags as a format of recordings."""

from pliant.bags.columns import read_bag
from pliant.bags.opening import BAG_SUFFIXES, is_bag, open_bag
from pliant.bags.traces import read_traces
from pliant.recording.foreign import RecordingFormat

BAGS = RecordingFormat(
    name="bag", suffixes=BAG_SUFFIXES, accepts=is_bag, open=open_bag, commands=read_bag, traces=read_traces
)
"""Bags of ROS 1 and ROS 2."""
