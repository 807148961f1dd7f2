"""The bridge to ROS 2: the topics of ROS 1, with ROS 2's names and types, over RTPS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.ros.bridge import RosBridge, RosOptions
from pliant.ros.ros2.node import Ros2Node

if TYPE_CHECKING:
    from pliant.model.robot import Robot
    from pliant.simulation.replayed import Replayed


@dataclass(frozen=True, kw_only=True)
class Ros2Options(RosOptions):
    """The options of ``--bridge ros2``."""

    domain: int = -1
    """Number of the domain; -1 takes ``ROS_DOMAIN_ID``, else 0."""
    loopback: bool = True
    """Talk on 127.0.0.1 only; false follows ``ROS_AUTOMATIC_DISCOVERY_RANGE`` and ``ROS_STATIC_PEERS``."""
    distro: str = "jazzy"
    """ROS 2 distribution of the graph tools: humble, iron, jazzy, kilted, rolling."""


def make(robot: Robot | Replayed | None, options: Ros2Options) -> RosBridge:
    """Return the bridge of a robot, or of what is replayed; None where there is neither."""
    node = Ros2Node(
        options.node_name(robot),
        domain=None if options.domain == -1 else options.domain,
        loopback=options.loopback,
        distro=options.distro,
    )
    return RosBridge(robot, node, options, name="ros2")
