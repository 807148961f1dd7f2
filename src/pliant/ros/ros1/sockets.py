"""The sockets of a node of ROS 1, all served by one thread."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Callable

from pliant.base.errors import PliantError, WireError
from pliant.base.unread import unread_bytes
from pliant.ros.ros1.graph import Connection, Graph

MAX_CONNECTIONS = 512
"""Connections at once; further ones are closed."""
LONG_FRAME_BYTES = 1 << 20
MAX_PARTIAL_BYTES = 1 << 26
"""Bytes of frames that have not ended, of all connections together; one with a long frame is closed beyond."""
MAX_DRAIN_S = 5.0
"""Longest time that subscribers may take for what is queued at the end of a run [s]."""
IDLE_DRAIN_S = 0.5
"""How long no subscriber may take anything at the end of a run [s]."""
READ_S = 0.1
"""How long nothing may be unread before a subscriber that does not close its side is taken to have read all [s]."""


class Sockets:
    """The listening socket and the connections of a node.

    Args:
        graph: topics and services of the node.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.links: set[Connection] = set()
        """The connections."""
        self.port = 0
        """Number of the listening port."""
        self._sleeping = False
        self._stopping = threading.Event()

    def open(self, listener: socket.socket, on_client: Callable[[Connection, bytes], None]) -> None:
        """Listen.

        Args:
            listener: takes the connections of clients.
            on_client: takes the first frame of a client.
        """
        listener.setblocking(False)
        self._listener, self._on_client = listener, on_client
        self.port = listener.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, None)
        self._wake_out, self._wake_in = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self._selector.register(self._wake_in, selectors.EVENT_READ, "wake")

    def drain(self) -> None:
        """Send what is queued as long as somebody takes some of it, at most `MAX_DRAIN_S`; count and tell the rest.

        Then let the subscribers read what the kernel holds for them: rospy closes its connection when the master says
        that the publisher has gone, and what it has not read by then is lost.
        """
        end = time.monotonic() + MAX_DRAIN_S
        left, moved_at = -1, time.monotonic()
        while left and (now := time.monotonic()) < min(end, moved_at + IDLE_DRAIN_S):
            links = list(self.links)
            before, left = left, sum(len(c.out) + len(c.partial or b"") for c in links)
            if left != before:
                moved_at = now
            time.sleep(0.002 if left else 0.0)
        for connection in list(self.links):
            publication = self._graph.publications.get(connection.topic)
            if publication is not None and connection in publication.connections:
                unsent = len(connection.out) + (connection.partial is not None)
                connection.drops += unsent
                publication.drops += unsent
                if unsent:
                    self._graph.complain(
                        f"{connection.topic}: the last {unsent} messages did not reach {connection.name}, which read "
                        "them too slowly; the run has ended"
                    )
        self._let_read(end)

    def _let_read(self, end: float) -> None:
        """End our side of the subscribers' connections and wait until they end theirs, or have read all."""
        with self._graph.lock:
            links = {link for item in self._graph.publications.values() for link in item.connections}
        links = {link for link in links if not link.out and link.partial is None}
        ports = set()
        for link in links:
            with contextlib.suppress(OSError):  # it has just ended
                link.sock.shutdown(socket.SHUT_WR)
                ports.add(link.sock.getpeername()[1])
        state, moved_at, read_at = None, time.monotonic(), None
        while links & self.links and (now := time.monotonic()) < min(end, moved_at + IDLE_DRAIN_S):
            unread = unread_bytes(("tcp", "tcp6"), ports, peer=self.port)
            before, state = state, (unread, len(links & self.links))
            if state != before:
                moved_at = now
            read_at = None if unread else read_at or now
            if read_at is not None and now - read_at > READ_S:
                return
            time.sleep(0.01)

    def stop(self) -> None:
        """Let the thread end."""
        self._stopping.set()
        self.kick()

    def close(self) -> None:
        """Close every socket; the thread has ended."""
        for connection in list(self.links):
            self.end(connection)
        self._selector.close()
        self._listener.close()
        self._wake_in.close()
        self._wake_out.close()

    def flush(self) -> None:
        """Let the thread of the sockets look at the queues."""
        if self._sleeping:
            self._sleeping = False
            self.kick()

    def kick(self) -> None:
        """Wake the thread of the sockets."""
        with contextlib.suppress(OSError):
            self._wake_out.send(b"w")

    def adopt(self, connection: Connection) -> None:
        """Serve a connection from now on."""
        with self._graph.lock:
            self.links.add(connection)
        with contextlib.suppress(OSError, ValueError, KeyError):
            self._selector.register(connection.sock, selectors.EVENT_READ, connection)
        self.kick()

    def shut(self, connection: Connection) -> None:
        """Ask the thread of the sockets to close a connection, from any thread."""
        with contextlib.suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)

    def run(self) -> None:
        """Serve the sockets until `stop` is called; a thread of its own does this."""
        selector = self._selector
        blocked: set[Connection] = set()
        while not self._stopping.is_set():
            busy = False
            for connection in list(self.links):
                if connection.out or connection.partial is not None or connection.role == "closing":
                    self._flush(connection)
                    waits = connection.partial is not None
                    if waits != (connection in blocked):
                        self._watch_writable(connection, waits)
                        (blocked.add if waits else blocked.discard)(connection)
            self._sleeping = True
            # A message that was queued, or an end, after the flush and before this line would wait for the next one.
            if any((c.out or c.role == "closing") and c not in blocked for c in list(self.links)):
                busy = True
            try:
                events = selector.select(0.0 if busy else 0.2)
            except OSError:
                continue
            self._sleeping = False
            for key, _ in events:
                if key.data is None:
                    self._accept()
                elif key.data == "wake":
                    with contextlib.suppress(OSError):
                        self._wake_in.recv(4096)
                elif key.data in self.links:
                    self._receive(key.data)
            blocked &= self.links

    def _watch_writable(self, connection: Connection, waits: bool) -> None:
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if waits else 0)
        with contextlib.suppress(OSError, ValueError, KeyError):
            self._selector.modify(connection.sock, events, connection)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            sock, _ = self._listener.accept()
            if len(self.links) >= MAX_CONNECTIONS:
                sock.close()
                self._graph.complain(
                    f"there are {MAX_CONNECTIONS} connections, which is the most; a further one was closed"
                )
                return
            connection = Connection(sock, "unknown")
            connection.on_frame = self._on_client
            self.adopt(connection)

    def _flush(self, connection: Connection) -> None:
        out = connection.out
        while True:
            data = connection.partial
            if data is None:
                count = len(out)
                if not count:
                    if connection.role == "closing":
                        self._finish(connection)
                    return
                try:
                    # The sender may drop the oldest meanwhile; it never takes what is already here.
                    pieces = [out.popleft() for _ in range(min(count, 256))]
                except IndexError:
                    continue
                data = memoryview(pieces[0] if len(pieces) == 1 else b"".join(pieces))
                connection.sent += len(pieces)
            try:
                sent = connection.sock.send(data)
            except (BlockingIOError, InterruptedError):
                connection.partial = data
                return
            except OSError:
                self.end(connection)
                return
            connection.partial = data[sent:] if sent < len(data) else None

    def _receive(self, connection: Connection) -> None:
        try:
            data = connection.sock.recv(1 << 16)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.end(connection)
            return
        try:
            while data:
                if connection.on_frame is None:
                    return  # a subscriber has nothing to say
                if connection.role in ("unknown", "subscriber"):  # its header, then perhaps messages
                    frame, data = connection.framer.one(data)
                    if frame is None:
                        return
                    connection.on_frame(connection, frame)
                    continue
                for frame in connection.framer.feed(data):
                    connection.on_frame(connection, frame)
                self._bound(connection)
                return
        except Exception as error:
            if not isinstance(error, PliantError):  # one connection must not cost the thread
                self._graph.fail(f"a connection from {connection.name}", error)
            subscription = self._graph.subscriptions.get(connection.topic) if connection.role != "publisher" else None
            told = subscription is not None and connection.name in subscription.faulty
            if subscription is not None:
                subscription.faulty.add(connection.name)
                if connection.role == "subscriber":  # it did not even begin
                    subscription.refused.add(connection.name)
            if not told:
                self._graph.complain(f"{connection.topic or 'a connection'} from {connection.name}: {error}; closed")
            self.end(connection)

    def _bound(self, connection: Connection) -> None:
        """Refuse a long frame while too many bytes wait.

        Raises:
            WireError: they do.
        """
        if len(connection.framer) > LONG_FRAME_BYTES:
            waiting = sum(len(link.framer) for link in self.links)
            if waiting > MAX_PARTIAL_BYTES:
                raise WireError(f"{waiting} bytes of unfinished messages wait; must be at most {MAX_PARTIAL_BYTES}")

    def _finish(self, connection: Connection) -> None:
        """End our side of a connection; it is closed when the peer ends its side, or CLIENT_TIMEOUT_S later.

        If it were closed while bytes of the peer are unread, the kernel would reset it, and the peer would lose what
        it has not read yet, such as the answer to the only request that a connection may make.
        """
        connection.role = "draining"
        connection.on_frame = None
        connection.since = time.monotonic()
        try:
            connection.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self.end(connection)

    def end(self, connection: Connection) -> None:
        """Close a connection and forget it."""
        with self._graph.lock:
            self.links.discard(connection)
            publication = self._graph.publications.get(connection.topic)
            if publication is not None and connection in publication.connections:
                publication.connections = tuple(c for c in publication.connections if c is not connection)
            subscription = self._graph.subscriptions.get(connection.topic)
            if subscription is not None and subscription.connections.get(connection.name) is connection:
                del subscription.connections[connection.name]
        with contextlib.suppress(OSError, ValueError, KeyError):
            self._selector.unregister(connection.sock)
        with contextlib.suppress(OSError):
            connection.sock.close()
        connection.out.clear()
        connection.partial = None
