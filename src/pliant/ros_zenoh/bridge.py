"""The bridge to ROS 2 nodes that run on zenoh (rmw_zenoh_cpp): the topics and services of ROS 2, other wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.ros.bridge import RosBridge, RosOptions
from pliant.ros_zenoh.node import ZenohNode
from pliant.ros_zenoh.session import endpoints

if TYPE_CHECKING:
    from pliant.model.robot import Robot
    from pliant.simulation.replayed import Replayed


@dataclass(frozen=True, kw_only=True)
class ZenohOptions(RosOptions):
    """The options of ``--bridge zenoh``."""

    domain: int = -1
    """Number of the ROS domain; -1 takes ``ROS_DOMAIN_ID``, else 0."""
    mode: str = "peer"
    """``peer``: a node beside a router, as nodes of rmw_zenoh are; ``router``: they connect to pliant, no rmw_zenohd is
    needed; ``client``: everything goes through the router."""
    connect: str = ""
    """Addresses to connect to, joined by ``+``; "" takes ``tcp/127.0.0.1:7447``, none for a router."""
    listen: str = ""
    """Addresses to listen to, joined by ``+``; "" takes ``tcp/127.0.0.1:7447`` for a router, else a free port."""


def make(robot: Robot | Replayed | None, options: ZenohOptions) -> RosBridge:
    """Return the bridge of a robot, or of what is replayed; None where there is neither."""
    node = ZenohNode(
        options.node_name(robot),
        domain=None if options.domain == -1 else options.domain,
        mode=options.mode,
        connect=endpoints(options.connect, "connect"),
        listen=endpoints(options.listen, "listen"),
    )
    return RosBridge(robot, node, options, name="zenoh")
