"""The two ends of a line for programs: a pseudo-terminal, and a TCP port; one thread reads both."""

from __future__ import annotations

import contextlib
import functools
import os
import selectors
import socket
import time
import tty
from collections.abc import Callable
from pathlib import Path

from pliant.base.errors import BridgeError
from pliant.base.listening import listening_address
from pliant.base.replacing import replacing
from pliant.dynamixel.wire import Packet, PacketReader

READ_BYTES = 4096
"""Most bytes that are read at once."""
POLL_S = 0.5
"""Longest wait for bytes at once [s]."""
MAX_CLIENTS = 8
"""Most TCP clients at a time."""
SILENT_S = 5.0
"""Time without an instruction after which a TCP client makes room for another one [s]. # assumed"""


class Client:
    """Somebody who sends instructions: the pseudo-terminal, or one TCP connection.

    Args:
        write: function that sends bytes without blocking, and returns how many it has sent.
    """

    def __init__(self, write: Callable[[bytes], int]) -> None:
        self._write = write
        self.reader = PacketReader()
        self.heard = time.monotonic()
        """When its last instruction came [s]."""
        self.dropped = 0
        """Bytes of answers that nobody took."""

    def send(self, data: bytes) -> None:
        """Send an answer; what does not fit into the buffer of the port is dropped, as on a line."""
        try:
            sent = self._write(data)
        except OSError:
            sent = 0
        self.dropped += len(data) - sent


class Ports:
    """Pseudo-terminal and TCP port of one line.

    Args:
        link: path of a symbolic link to the pseudo-terminal; "" for none.
        host: address for TCP.
        tcp: TCP port, 0 for a free one, -1 for none.
        received: called in the reading thread with a client and the packets that have come from it.

    Raises:
        BridgeError: the link cannot be made, or the TCP port cannot be opened.
    """

    def __init__(self, link: str, host: str, tcp: int, received: Callable[[Client, list[Packet]], None]) -> None:
        self._received = received
        self._clients: dict[int, tuple[Client, socket.socket | None]] = {}
        self.refused = 0
        """TCP connections beyond `MAX_CLIENTS`, and those that made room for them."""
        self._skipped = self._dropped = 0
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._link: Path | None = None
        self._listener: socket.socket | None = None
        # The slave stays open: the master would report an error whenever no program has it open.
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.path = os.ttyname(self._slave)
        """Path of the pseudo-terminal."""
        self.address = ""
        """Host and port of TCP; "" for none."""
        try:
            if link:
                self._make_link(Path(link))
            if tcp >= 0:
                self._listen(host, tcp)
        except BaseException:
            self.close()
            raise
        self._clients[self._master] = Client(functools.partial(os.write, self._master)), None
        self._selector.register(self._master, selectors.EVENT_READ)

    def _make_link(self, link: Path) -> None:
        if os.path.lexists(link) and not link.is_symlink():
            raise BridgeError(
                f"dynamixel: {link} exists and is no symbolic link; choose another path with dynamixel:port=PATH",
                field="port",
            )
        try:
            with replacing(link) as beside:
                beside.unlink(missing_ok=True)
                beside.symlink_to(self.path)
        except OSError as error:
            raise BridgeError(
                f"dynamixel: the link {link} cannot be made: {error.strerror or error}", field="port"
            ) from None
        self._link = link

    def _listen(self, host: str, port: int) -> None:
        try:
            self._listener = socket.create_server((listening_address(host, "host"), port))
        except OSError as error:
            raise BridgeError(
                f"dynamixel: cannot listen on {host}:{port}: {error.strerror or error}; "
                "choose another with dynamixel:tcp=N, or 0 for a free one",
                field="tcp",
            ) from None
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        name, number = self._listener.getsockname()[:2]
        self.address = f"{name}:{number}"

    @property
    def clients(self) -> list[Client]:
        """The pseudo-terminal and the present TCP clients."""
        return [client for client, _ in list(self._clients.values())]

    @property
    def skipped(self) -> int:
        """Bytes that belonged to no packet."""
        return self._skipped + sum(client.reader.skipped for client in self.clients)

    @property
    def dropped(self) -> int:
        """Bytes of answers that nobody took."""
        return self._dropped + sum(client.dropped for client in self.clients)

    def work(self) -> None:
        """Read until `end` is called."""
        while True:
            for key, _ in self._selector.select(POLL_S):
                if key.fileobj is self._woken:
                    return
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._take(key.fd)

    def _accept(self) -> None:
        assert self._listener is not None
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # it has gone again
        if len(self._clients) > MAX_CLIENTS:
            self.refused += 1
            others = [(c.heard, fd, c, sock) for fd, (c, sock) in self._clients.items() if sock is not None]
            heard, descriptor, client, silent = min(others, key=lambda other: other[0])
            if time.monotonic() - heard < SILENT_S:
                connection.close()
                return
            self._forget(descriptor, client, silent)
        connection.setblocking(False)
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._clients[connection.fileno()] = Client(connection.send), connection
        self._selector.register(connection, selectors.EVENT_READ)

    def _take(self, descriptor: int) -> None:
        client, connection = self._clients[descriptor]
        try:
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            if connection is not None:
                self._forget(descriptor, client, connection)
            return
        packets = client.reader.feed(data, time.monotonic())
        if packets:
            client.heard = time.monotonic()
            self._received(client, packets)

    def _forget(self, descriptor: int, client: Client, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        del self._clients[descriptor]
        self._skipped += client.reader.skipped
        self._dropped += client.dropped
        connection.close()

    def end(self) -> None:
        """Let `work` return. Any thread may call this."""
        with contextlib.suppress(OSError):
            self._wake.send(b"\0")

    def close(self) -> None:
        """Close everything, after the reading thread has ended; the link is removed if it is still ours."""
        for _, connection in self._clients.values():
            if connection is not None:
                connection.close()
        self._clients.clear()
        if self._listener is not None:
            self._listener.close()
        self._selector.close()
        self._wake.close()
        self._woken.close()
        if self._link is not None and self._link.is_symlink() and str(self._link.readlink()) == self.path:
            self._link.unlink(missing_ok=True)
        os.close(self._master)
        os.close(self._slave)
