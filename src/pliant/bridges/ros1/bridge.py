"""The bridge to ROS 1: every topic of the robot, registered with a real master."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from pliant.bridges.ros import RosBridge, TopicHandle, sync_names
from pliant.bridges.ros1.node import Node
from pliant.wire.ros import Codec

__all__ = ["Ros1Transport", "make"]

SWITCH_INTERVAL = 5e-4
"""Longest time [s] that a thread of the bridge keeps the interpreter while the loop wants it; Python's default is ten
times as long, more than the step may be late."""


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
    lockstep = False

    def __init__(self, node: str, *, master: str | None = None, host: str | None = None) -> None:
        self.node = Node(node, master=master, host=host)
        self.codec: Codec = self.node.codec
        self.sync_topics: tuple[str, ...] = ()
        self._interval: float | None = None

    def start(self) -> None:
        """Find the master and open the sockets."""
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(min(self._interval, SWITCH_INTERVAL))
        self.node.start()

    def announce(self) -> None:
        """Tell the master every topic."""
        self.node.register()

    def stop(self) -> None:
        """Unregister and close."""
        self.node.stop()
        if self._interval is not None:
            sys.setswitchinterval(self._interval)
            self._interval = None

    def advertise(self, topic: str, type_name: str, *, latch: bool = False, sensor: bool = False) -> TopicHandle:
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

    def set_param(self, name: str, value: Any) -> None:
        """Set a parameter of the server."""
        self.node.set_param(name, value)

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


def make(
    robot: Any,
    *,
    namespace: str = "",
    master: str = "",
    host: str = "",
    node: str = "",
    clock: bool = True,
    tf: bool = True,
    qb: bool = True,
    aggregate_rate: float = 0.0,
    joint_states: float = 0.0,
    sync: str = "",
    sync_rate: float = 0.0,
    on_lost: str = "continue",
) -> RosBridge:
    """Return the bridge of a robot.

    Args:
        robot: a `pliant.model.Robot`, or None for a replay.
        namespace: prefix of the toolbox's topics; "" takes the robot's.
        master: address of the master; "" takes ``ROS_MASTER_URI``, else ``http://127.0.0.1:11311``.
        host: address to listen on; "" takes ``ROS_IP``, ``ROS_HOSTNAME``, else 127.0.0.1.
        node: name of the node; "" takes ``pliant_<namespace>``.
        clock: publish ``/clock``.
        tf: publish ``/tf``.
        qb: serve the topics of the qb_move packages.
        aggregate_rate: see `RosBridge`.
        joint_states: see `RosBridge`.
        sync: topics that the loop waits for after each step, ``reference_1+reference_2`` or ``trigger``; "" for none.
        sync_rate: see `RosBridge`.
        on_lost: "continue" or "halt" when the master is gone.

    Raises:
        BridgeError: a wrong value.
    """
    interface = getattr(robot, "interface", None)
    space = (namespace or getattr(interface, "namespace", None) or "robot").strip("/")
    transport = Ros1Transport(node or f"pliant_{space.replace('/', '_')}", master=master or None, host=host or None)
    return RosBridge(
        robot,
        transport,
        namespace=namespace or None,
        clock=clock,
        tf=tf,
        qb=qb,
        aggregate_rate=aggregate_rate,
        joint_states=joint_states,
        sync=sync_names(sync),
        sync_rate=sync_rate,
        on_lost=on_lost,
        name="ros1",
    )
