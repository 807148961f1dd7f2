"""Listening to a robot on ROS 2 over zenoh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.base.options import option
from pliant.ros.listening import NAME, ListenOptions, Mute, RosListener
from pliant.ros_zenoh.node import ZenohNode
from pliant.ros_zenoh.session import endpoints

if TYPE_CHECKING:
    from pliant.model.robot import Robot


@dataclass(frozen=True, kw_only=True)
class ListenZenohOptions(ListenOptions):
    """The options of a listener on ROS 2 over zenoh."""

    connect: str = ""
    """Addresses to connect to, joined by ``+``; "" takes the router at ``tcp/127.0.0.1:7447``."""
    domain: int = option(-1, low=-1, high=232)
    """Number of the ROS domain; -1 takes ``ROS_DOMAIN_ID``, else 0."""


class _ZenohEar(Mute, ZenohNode):
    """A node of ROS 2 on zenoh with subscriptions only: a client, which listens on no address and relays nothing."""


def listen_zenoh(robot: Robot, options: ListenZenohOptions) -> RosListener:
    """Return what listens to a robot on ROS 2 over zenoh."""
    domain = None if options.domain == -1 else options.domain
    ear = _ZenohEar(NAME, domain=domain, mode="client", connect=endpoints(options.connect, "connect"))
    return RosListener(robot, ear, options)
