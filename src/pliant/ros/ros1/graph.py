"""Connections, publications, subscriptions and services of a ROS 1 node."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from pliant.ros.bridge.node import Node, TopicHandle
from pliant.ros.wire import Codec, Framer
from pliant.ros.wire.message import MessageCallback, ServiceCallback
from pliant.ros.wire.tcpros import HEADER_LIMIT

QUEUE = 1000
"""Messages that wait for one subscriber before the oldest is dropped."""
QUEUE_BYTES = 16 * 2**20
"""Bytes of one topic that wait for one subscriber before the oldest message is dropped: images reach this first."""
HEARTBEAT = 1.0
"""How often the master is asked whether it lives [s of wall time]."""


class Connection:
    """One TCP connection: bounded output, framed input."""

    __slots__ = (
        "drops",
        "framer",
        "limit",
        "name",
        "on_frame",
        "out",
        "partial",
        "requests",
        "role",
        "sent",
        "serving",
        "since",
        "sock",
        "topic",
    )  # fmt: skip

    def __init__(self, sock: socket.socket, role: str) -> None:
        sock.setblocking(False)
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self.role = role
        self.name = "?"
        self.topic = ""
        self.framer = Framer(HEADER_LIMIT)
        self.on_frame: Callable[[Connection, bytes], None] | None = None
        self.out: deque[bytes] = deque()
        self.partial: memoryview | None = None
        self.limit = QUEUE
        self.drops = 0
        self.sent = 0
        self.since = time.monotonic()
        self.requests: deque[bytes] = deque()
        self.serving = False


class Publication(TopicHandle):
    """A topic that this node publishes."""

    def __init__(self, node: Node, topic: str, type_name: str, latch: bool, limit: int) -> None:
        super().__init__(topic, type_name, latch)
        self._node = node
        self.md5sum = node.codec.types.md5sum(type_name)
        self.text = node.codec.types.full_text(type_name)
        self.limit = limit
        self.connections: tuple[Connection, ...] = ()
        self._joining = threading.Lock()
        self.last: bytes | None = None
        self._period = 0

    @property
    def active(self) -> bool:
        return bool(self.connections) or self.latch

    def send(self, data: bytes) -> None:
        """Queue one message, its length included, for every subscriber; never waits."""
        self.count += 1
        self.rate.sent(self._period if self.connections else 0)
        if self.latch:
            with self._joining:
                self.last = data
                self._queue(data)
        else:
            self._queue(data)
        if self.connections:
            self._node.flush()

    def join(self, connection: Connection) -> None:
        """Add a subscriber, and queue the latched message for it: nothing falls between that and what follows."""
        with self._joining:
            if self.last is not None:
                connection.out.append(self.last)
            self._period += not self.connections
            self.connections = (*self.connections, connection)
        self.seen.add(connection.name)

    def _queue(self, data: bytes) -> None:
        fit = max(2, QUEUE_BYTES // max(1, len(data)))  # messages of one topic are about equally long
        for connection in self.connections:
            out = connection.out
            if len(out) >= min(connection.limit, fit):
                with contextlib.suppress(IndexError):
                    out.popleft()
                connection.drops += 1
                self.drops += 1
            out.append(data)


class Subscription:
    """A topic that this node listens to."""

    __slots__ = (
        "backoff", "callback", "connections", "count", "faulty", "heard", "malformed", "md5sum", "pending",
        "publishers", "refused", "retry_at", "topic", "type",
    )  # fmt: skip

    def __init__(self, topic: str, type_name: str, md5sum: str, callback: MessageCallback) -> None:
        self.topic = topic
        self.type = type_name
        self.md5sum = md5sum
        self.callback = callback
        self.connections: dict[str, Connection] = {}
        self.pending: set[str] = set()
        self.heard: dict[str, None] = {}
        """Names of the nodes that publish it, or have published it."""
        self.publishers: frozenset[str] = frozenset()
        """Addresses of the publishers, as the master told last."""
        self.faulty: set[str] = set()
        """Publishers that were complained about; they are tried on in silence."""
        self.refused: set[str] = set()
        """Publishers of another type; they are not tried until the master tells of publishers anew."""
        self.backoff = HEARTBEAT
        self.retry_at = 0.0
        self.count = 0
        self.malformed = 0


class Service:
    """A service of this node."""

    __slots__ = ("callback", "count", "md5sum", "name", "type")

    def __init__(self, name: str, type_name: str, md5sum: str, callback: ServiceCallback):
        self.name = name
        self.type = type_name
        self.md5sum = md5sum
        self.callback = callback
        self.count = 0


@dataclass(slots=True)
class Graph:
    """The topics and services of one node, and whom faults are told."""

    name: str
    """Global name of the node."""
    codec: Codec
    """Turns messages into bytes."""
    complain: Callable[[str], None]
    """Takes the faults of the other side."""
    fail: Callable[[str, BaseException], None]
    """Takes faults of ours that one message or connection caused."""
    uri: str = ""
    """Address of the node's XML-RPC server, once it listens."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Held while the tables change."""
    publications: dict[str, Publication] = field(default_factory=dict)
    """Topic -> what is published."""
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    """Topic -> what is listened to."""
    services: dict[str, Service] = field(default_factory=dict)
    """Name -> service."""
