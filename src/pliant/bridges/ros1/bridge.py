"""The bridge to ROS 1: every topic of the robot, registered with a real master."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.bridges.ros import RosBridge, RosOptions, TopicHandle
from pliant.bridges.ros.actions import ActionServer
from pliant.bridges.ros.names import node_name
from pliant.bridges.ros.switching import SwitchInterval
from pliant.bridges.ros1.actionlib import ActionTopics
from pliant.bridges.ros1.node import Node
from pliant.wire.ros import Codec

__all__ = ["Ros1Options", "Ros1Transport", "make"]


class Ros1Transport:
    """TCPROS as the wire below a `RosBridge`.

    Args:
        node: name of the node.
        master: see `Node`.
        host: see `Node`.
    """

    name = "ros1"
    state_type = "viactors_plugins/state_info"
    services = True
    actions = True
    lockstep = False

    def __init__(self, node: str, *, master: str | None = None, host: str | None = None) -> None:
        self.node = Node(node, master=master, host=host)
        self.codec: Codec = self.node.codec
        self.sync_topics: tuple[str, ...] = ()
        self._interval = SwitchInterval()
        self.on_complaint: Callable[[str], None] = lambda text: None
        self.node.on_complaint = lambda text: self.on_complaint(text)
        self.on_publication: Callable[[str, str], None] = lambda topic, who: None
        self.node.on_publication = lambda topic, who: self.on_publication(topic, who)

    def start(self) -> None:
        """Find the master and open the sockets."""
        self._interval.shorten()
        self.node.start()

    def announce(self) -> None:
        """Tell the master every topic."""
        self.node.register()

    def stop(self) -> None:
        """Unregister and close."""
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
        """Serve a service."""
        self.node.serve(name, type_name, callback)

    def serve_action(self, name: str, type_name: str, server: ActionServer) -> None:
        """Serve an action, as actionlib does."""
        ActionTopics(self.node, name, type_name, server)

    def set_param(self, name: str, value: Any) -> None:
        """Set a parameter of the server."""
        self.node.set_param(name, value)

    def get_param(self, name: str) -> Any:
        """Return a parameter of the server; None where it has none of that name, or does not answer."""
        try:
            return self.node.get_param(name)
        except OSError:
            return None

    def taken(self, topics: list[str]) -> dict[str, list[str]]:
        """Return the topics that another living node publishes already."""
        return self.node.publishers_of(topics)

    def complain(self, text: str) -> None:
        """Note a fault of the other side."""
        self.node.complain(text)

    def lost(self) -> str:
        """Return why the wire is lost, "" if it is not."""
        gone = self.node.master_gone_since
        return "" if gone is None else f"the ROS master at {self.node.master_uri} is gone"

    def flush(self) -> None:
        """Let the sockets' thread send what is queued."""
        self.node.wake()

    def wait_for(self, condition: threading.Condition, answered: Callable[[], bool], timeout: float) -> bool:
        """Wait until the other threads have made ``answered()`` true."""
        with condition:
            return condition.wait_for(answered, timeout)

    def where(self) -> str:
        """Return the master's address."""
        return self.node.master_uri

    def health(self) -> dict[str, Any]:
        """Return the state of the master and the last faults."""
        node = self.node
        return {
            "master": node.master_uri,
            "master_state": "ok" if node.master_gone_since is None else "gone",
            "master_losses": node.master_losses,
            "faults": node.error_count,
            "last_faults": list(node.errors),
        }


@dataclass(frozen=True, kw_only=True)
class Ros1Options(RosOptions):
    """The options of ``--bridge ros1``."""

    master: str = ""
    """Address of the master; "" takes ``ROS_MASTER_URI``, else ``http://127.0.0.1:11311``."""
    host: str = ""
    """Address to listen on; "" takes ``ROS_IP``, ``ROS_HOSTNAME``, else 127.0.0.1."""


def make(robot: Any, options: Ros1Options) -> RosBridge:
    """Return the bridge of a robot; None for a replay."""
    interface = getattr(robot, "interface", None)
    space = (options.namespace or getattr(interface, "namespace", None) or "robot").strip("/")
    name = node_name(options.node, space)
    transport = Ros1Transport(name, master=options.master or None, host=options.host or None)
    bridge = RosBridge(robot, transport, options, name="ros1")
    transport.node.on_shutdown = bridge.end
    return bridge
