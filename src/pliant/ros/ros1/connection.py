"""One TCP connection of a node of ROS 1."""

from __future__ import annotations

import contextlib
import socket
import time
from collections import deque
from collections.abc import Callable

from pliant.ros.wire import Framer
from pliant.ros.wire.tcpros import HEADER_LIMIT

QUEUE = 1000
"""Messages that wait for one subscriber before the oldest is dropped."""


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
