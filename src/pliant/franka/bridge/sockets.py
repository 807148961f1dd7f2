"""Sockets that never block: a listener, and a TCP connection with its UDP socket."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from collections.abc import Iterator
from typing import Literal

from pliant.base.errors import WireError
from pliant.base.unread import unread_bytes
from pliant.franka.wire import fci

CONNECT_TIMEOUT = 2.0
"""Longest time from the TCP connection to the request Connect [s of wall time]; clients send it at once."""

SECOND_TIMEOUT = 0.3
"""How long a second client waits for the first to leave before it is refused [s of wall time]: the operating system
needs some milliseconds to close the sockets of a process that was killed."""
MAX_HELD = 64
"""Most requests of a client that waits."""
MAX_PENDING_BYTES = 1 << 22
"""Most bytes that wait for a client to read them."""
_RESET = struct.pack("ii", 1, 0)
_KEEP_ALIVE = (
    ((socket.SOL_SOCKET, socket.SO_KEEPALIVE), 1),
    ((socket.IPPROTO_TCP, socket.TCP_KEEPIDLE), 1),
    ((socket.IPPROTO_TCP, socket.TCP_KEEPINTVL), 1),
    ((socket.IPPROTO_TCP, socket.TCP_KEEPCNT), 3),
)
"""Idle time, interval and number of probes, those of libfranka."""


def accepted(listener: socket.socket) -> Iterator[socket.socket]:
    """Yield the connections that wait at a listener."""
    while True:
        try:
            sock, _ = listener.accept()
        except OSError:
            return
        yield sock


def refuse(sock: socket.socket) -> None:
    """Reset a connection, so that its client sees the refusal at once."""
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    sock.close()


class Connection:
    """A TCP connection with bounded input, split into frames, and queued output; later a UDP socket for the states.

    Args:
        sock: the accepted socket.
        port: which of the robot's ports it belongs to.
    """

    def __init__(self, sock: socket.socket, port: Literal["robot", "gripper"]) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A peer whose machine is gone is found within some seconds, as the clients find the robot's.
        for option, value in _KEEP_ALIVE:
            sock.setsockopt(*option, value)
        self.since = time.monotonic()
        self.sock = sock
        self.peer: str = sock.getpeername()[0]
        self.framer = fci.Framer(port)
        self.out = bytearray()
        self.udp: socket.socket | None = None
        self.asked: list[fci.Frame] = []
        """Frames of a client that waits for its predecessor to leave, Connect first."""

    def ask(self, frames: list[fci.Frame]) -> None:
        """Keep the frames of a client that waits; the first ones start its time.

        Raises:
            WireError: too many.
        """
        if not self.asked:
            self.since = time.monotonic()
        if len(self.asked) + len(frames) > MAX_HELD:
            raise WireError(f"more than {MAX_HELD} requests before the first answer", field="size")
        self.asked += frames

    @property
    def refused(self) -> bool:
        """Whether the peer has said Connect and has waited for its predecessor for long enough."""
        return bool(self.asked) and time.monotonic() - self.since > SECOND_TIMEOUT

    @property
    def overdue(self) -> bool:
        """Whether the peer should have said Connect and has not."""
        return self.udp is None and not self.asked and time.monotonic() - self.since > CONNECT_TIMEOUT

    def receive(self) -> list[fci.Frame] | None:
        """Return the frames that have arrived; None if the peer has closed."""
        try:
            data = self.sock.recv(65536)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError:
            return None
        return self.framer.feed(data) if data else None

    def send(self, data: bytes) -> None:
        """Send, or queue what the peer has no room for.

        Raises:
            WireError: more than `MAX_PENDING_BYTES` wait.
        """
        if len(self.out) + len(data) > MAX_PENDING_BYTES:
            raise WireError(f"the client does not read its answers; {len(self.out)} bytes wait", field="size")
        self.out += data
        self.flush()

    def flush(self) -> None:
        """Send what is queued, as far as the peer takes it."""
        while self.out:
            try:
                sent = self.sock.send(self.out)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self.out.clear()
                return
            del self.out[:sent]

    def open_udp(self, host: str, port: int) -> None:
        """Open the socket that sends states and receives commands.

        Raises:
            WireError: the peer cannot be reached at that port.
        """
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            udp.bind((host, 0))
            if port == 0:
                raise OSError("port 0")
            udp.connect((self.peer, port))
        except OSError as fault:
            udp.close()
            raise WireError(f"states cannot be sent to {self.peer}:{port}: {fault}", field="udp_port") from None
        udp.setblocking(False)
        self.udp = udp

    def send_datagram(self, data: bytes | bytearray) -> None:
        """Send a datagram, if the UDP socket is open; a full or refused one is dropped, as UDP drops it."""
        if self.udp is None:
            return
        try:  # noqa: SIM105 (suppress costs more, and this is called in every cycle)
            self.udp.send(data)
        except OSError:
            pass

    @property
    def unread(self) -> bool:
        """Whether a peer on this machine has datagrams to read; False where the system does not tell."""
        return self.udp is not None and unread_bytes(("udp",), (self.udp.getpeername()[1],)) > 0

    def close(self, *, reset: bool = False) -> None:
        """Close both sockets; reset the connection instead of ending it where asked."""
        if reset:
            refuse(self.sock)
        else:
            self.sock.close()
        if self.udp is not None:
            self.udp.close()

    @property
    def gone(self) -> bool:
        """Whether the peer has closed, even if data that it sent before is still unread."""
        poll = select.poll()
        poll.register(self.sock, select.POLLRDHUP)
        return bool(poll.poll(0))
