"""The bridge to ROS 2 nodes that run on zenoh (rmw_zenoh_cpp): the topics and services of ROS 2, other wire."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pliant.bridges.ros import RosBridge, RosOptions, TopicHandle
from pliant.bridges.ros.action_services import ActionServices
from pliant.bridges.ros.names import node_name
from pliant.bridges.ros.switching import SwitchInterval
from pliant.bridges.zenoh.node import Respond, ZenohNode
from pliant.bridges.zenoh.session import endpoints

if TYPE_CHECKING:
    from pliant.bridges.ros.actions import ActionServer

__all__ = ["ZenohOptions", "ZenohTransport", "make"]


class ZenohTransport:
    """zenoh as the wire below a `RosBridge`.

    Args:
        node: the node on the wire.
    """

    name = "zenoh"
    state_type = "viactors_plugins/StateInfo"
    services = True
    actions = True
    lockstep = False

    def __init__(self, node: ZenohNode) -> None:
        self.node = node
        self.codec = node.codec
        self.sync_topics: tuple[str, ...] = ()
        self._interval = SwitchInterval()
        self.on_complaint: Callable[[str], None] = lambda text: None
        node.on_complaint = lambda text: self.on_complaint(text)
        self.on_publication: Callable[[str, str], None] = lambda topic, who: None
        node.on_publication = lambda topic, who: self.on_publication(topic, who)

    def start(self) -> None:
        """Open the session."""
        self._interval.shorten()
        self.node.outbox.direct = self.lockstep
        try:
            self.node.start()
        except BaseException:
            self._interval.restore()
            raise

    def announce(self) -> None:
        """Do nothing: each topic has its token from the moment it is there."""

    def stop(self) -> None:
        """Close the session."""
        self.node.stop()
        self._interval.restore()

    def advertise(self, topic: str, type_name: str, *, latch: bool = False) -> TopicHandle:
        """Publish a topic."""
        return self.node.advertise(topic, type_name, latch=latch)

    def subscribe(self, topic: str, type_name: str, callback: Callable[[dict[str, Any]], None]) -> None:
        """Listen to a topic."""
        self.node.subscribe(topic, type_name, callback)

    def unsubscribe(self, topic: str) -> None:
        """Stop listening."""
        self.node.unsubscribe(topic)

    def serve(self, name: str, type_name: str, callback: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Answer a service."""
        self.node.serve(name, type_name, callback)

    def serve_later(self, name: str, type_name: str, callback: Callable[[dict[str, Any], Respond], None]) -> None:
        """Answer a service whose reply comes later; the callback must not wait."""
        self.node.serve_later(name, type_name, callback)

    def serve_action(self, name: str, type_name: str, server: ActionServer) -> None:
        """Take the goals of an action by the services and topics of rcl_action."""
        ActionServices(self, name, type_name, server)

    def set_param(self, name: str, value: Any) -> None:
        """Do nothing: ROS 2 has no parameter server."""

    def get_param(self, name: str) -> Any:
        """Return None: ROS 2 has no parameter server."""

    def taken(self, topics: list[str]) -> dict[str, list[str]]:
        """Return the topics that another node publishes already."""
        return self.node.taken(topics)

    def complain(self, text: str) -> None:
        """Note a fault of the other side."""
        self.node.complain(text)

    def lost(self) -> str:
        """Return that the router is gone, "" while it is there."""
        return self.node.lost_text

    def flush(self) -> None:
        """Send what is queued, in the caller's thread."""
        self.node.outbox.flush()

    def wait_for(self, condition: threading.Condition, answered: Callable[[], bool], timeout: float) -> bool:
        """Wait until zenoh's threads have brought the answer."""
        with condition:
            return condition.wait_for(answered, timeout)

    def where(self) -> str:
        """Return mode, addresses and domain."""
        node = self.node
        at = f"listening to {', '.join(node.listen)}" if node.mode == "router" else f"router {', '.join(node.connect)}"
        return f"zenoh {node.mode}, {at}, ROS domain {node.domain}"

    def health(self) -> dict[str, Any]:
        """Return mode, domain, who is connected, what waits, and the last faults."""
        node = self.node
        return {
            "domain": node.domain,
            "mode": node.mode,
            "connected": node.connected,
            "waiting": len(node.outbox),
            "refused_requests": node.refused_requests,
            "lost": node.lost_text,
            "faults": node.error_count,
            "last_faults": list(node.errors),
        }


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


def make(robot: Any, options: ZenohOptions) -> RosBridge:
    """Return the bridge of a robot; None for a replay."""
    interface = getattr(robot, "interface", None)
    space = (options.namespace or getattr(interface, "namespace", None) or "robot").strip("/")
    node = ZenohNode(
        node_name(options.node, space),
        domain=None if options.domain == -1 else options.domain,
        mode=options.mode,
        connect=endpoints(options.connect, "connect"),
        listen=endpoints(options.listen, "listen"),
    )
    return RosBridge(robot, ZenohTransport(node), options, name="zenoh")
