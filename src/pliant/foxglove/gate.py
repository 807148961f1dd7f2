"""A gate before a server of WebSockets that lets every site in: it looks at each request and passes the rest on."""

from __future__ import annotations

import contextlib
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable

from pliant.base.origin import headers_of
from pliant.base.threads import Threads

MAX_HEAD = 1 << 14
"""Longest head of a request [bytes]."""
HEAD_TIMEOUT_S = 5.0
"""How long a client may take for its request [s]."""
ACCEPT_TIMEOUT_S = 0.5
"""Longest wait in one call, so that the thread sees soon that it has to end."""
MAX_CONNECTIONS = 64
"""Connections at once; further ones are closed."""
CHUNK = 1 << 18
REFUSAL = (
    "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n"
    "Connection: close\r\n\r\n"
)

Judge = Callable[[list[tuple[str, str]]], str]
"""Returns why a request with these headers is not answered, "" where it is."""


def hidden_address() -> str:
    """Return an address of the loopback network that no site can guess; 127.0.0.1 where there is one only."""
    if sys.platform != "linux":
        return "127.0.0.1"
    return f"127.{1 + secrets.randbelow(254)}.{secrets.randbelow(256)}.{1 + secrets.randbelow(254)}"


class RequestGate:
    """Listens in place of a server, and hands it the connections whose request may be answered.

    Args:
        listener: a bound socket that listens.
        target: address and port of the server.
        judge: looks at the headers of each request.
        threads: where the thread of the listener belongs.
        name: of the threads.
    """

    def __init__(
        self, listener: socket.socket, target: tuple[str, int], judge: Judge, threads: Threads, name: str
    ) -> None:
        self._listener, self._target, self._judge, self._threads, self._name = listener, target, judge, threads, name
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closing = False
        self.refused = 0
        """Requests that were not passed on."""
        listener.settimeout(ACCEPT_TIMEOUT_S)
        threads.start(name, self._accept)

    def close(self) -> None:
        """Close the listener and every connection; may be called twice."""
        self._closing = True
        with self._lock:
            still = [self._listener, *self._open]
        for each in still:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while not self._closing:
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                if self._closing or self._threads.closing:
                    return
                threading.Event().wait(0.1)  # no descriptor is free, or the client has gone
                continue
            with self._lock:
                full = len(self._open) >= 2 * MAX_CONNECTIONS or self._closing
                if not full:  # before its thread begins: a burst does not slip through
                    self._open.add(client)
            if full:
                client.close()
                continue
            threading.Thread(target=self._serve, args=(client,), name=self._name, daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with self._kept(client):
            head = _read_head(client)
            reason = "this is no request" if head is None else self._judge(headers_of(head))
            if head is None or reason:
                self.refused += 1
                body = f"{reason}\n".encode()
                with contextlib.suppress(OSError):
                    client.sendall(REFUSAL.format(len(body)).encode() + body)
                    client.shutdown(socket.SHUT_WR)
                    client.recv(CHUNK)  # what is unread would reset the connection before the answer is read
                return
            try:
                server = socket.create_connection(self._target, timeout=HEAD_TIMEOUT_S)
            except OSError:
                return
            with self._kept(server):
                for each in (client, server):
                    each.settimeout(None)
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                back = threading.Thread(target=_pass_on, args=(server, client), name=self._name, daemon=True)
                back.start()
                with contextlib.suppress(OSError):
                    server.sendall(head)
                    _pass_on(client, server)
                back.join()

    @contextlib.contextmanager
    def _kept(self, connection: socket.socket):
        with self._lock:
            self._open.add(connection)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()


def _read_head(client: socket.socket) -> bytes | None:
    """Return what a client sends up to the end of its headers and perhaps more; None if that is no request."""
    head, end = b"", time.monotonic() + HEAD_TIMEOUT_S  # for all of it: who drips keeps no thread
    try:
        while b"\r\n\r\n" not in head:
            client.settimeout(max(1e-3, end - time.monotonic()))
            data = client.recv(4096)
            head += data
            if not data or len(head) > MAX_HEAD:
                return None
    except OSError:
        return None
    return head


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    """Send what one side says to the other until either ends."""
    buffer = memoryview(bytearray(CHUNK))
    with contextlib.suppress(OSError):
        while count := source.recv_into(buffer):
            sink.sendall(buffer[:count])
    for each in (source, sink):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
