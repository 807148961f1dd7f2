"""Bags of ROS: what other programs recorded, read without ROS.

`open_bag` gives topics and messages of a ROS 1 bag, an MCAP or .db3 file, or a folder of ``ros2 bag``; `read_bag` makes
commands of them, `read_traces` measurements.
"""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "BAG_SUFFIXES": "pliant.bags.opening",
    "Bag": "pliant.bags.base",
    "BagMessage": "pliant.bags.base",
    "BagTopic": "pliant.bags.base",
    "is_bag": "pliant.bags.opening",
    "open_bag": "pliant.bags.opening",
    "read_bag": "pliant.bags.columns",
    "read_traces": "pliant.bags.traces",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
