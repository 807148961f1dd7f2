"""The bridge to ROS 1: every topic of the robot, registered with a real master."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.ros.bridge import RosBridge, RosOptions
from pliant.ros.ros1.node import Ros1Node

if TYPE_CHECKING:
    from pliant.model.robot import Robot
    from pliant.simulation.replayed import Replayed


@dataclass(frozen=True, kw_only=True)
class Ros1Options(RosOptions):
    """The options of ``--bridge ros1``."""

    master: str = ""
    """Address of the master; "" takes ``ROS_MASTER_URI``, else ``http://127.0.0.1:11311``."""
    host: str = ""
    """Address to listen on; "" takes ``ROS_IP``, ``ROS_HOSTNAME``, else 127.0.0.1."""


def make(robot: Robot | Replayed | None, options: Ros1Options) -> RosBridge:
    """Return the bridge of a robot, or of what is replayed; None where there is neither."""
    node = Ros1Node(options.node_name(robot), master=options.master or None, host=options.host or None)
    bridge = RosBridge(robot, node, options, name="ros1")
    node.on_shutdown = bridge.end
    return bridge
