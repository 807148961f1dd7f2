"""A connection out of a port: dialling it, and sending to it without ever waiting for its reader."""

from __future__ import annotations

import contextlib
import socket
from collections import deque

from pliant.base.errors import BridgeError, WireError, nearest
from pliant.yarp.bridge.calls import CALL_TIMEOUT_S, greet
from pliant.yarp.bridge.messages import Publication
from pliant.yarp.bridge.port import Port
from pliant.yarp.bridge.reactor import READ, WRITE
from pliant.yarp.wire import (
    ACKNOWLEDGEMENT,
    Command,
    Contact,
    Hello,
    Message,
    TextHello,
    TextMessage,
    decode_bottle,
    encode_datagrams,
    format_bottle,
)

OUTPUT_CARRIERS = ("tcp", "fast_tcp", "udp", "text", "text_ack")
"""Carriers by which a port sends."""
MAX_UNACKNOWLEDGED = 8
"""Most messages on their way that the receiver has not acknowledged (tcp, text_ack); stock writers have one."""
MAX_QUEUED_BYTES = 16 << 20
"""Most bytes that wait for one receiver; an image or a scan larger than this is sent to a receiver that waits."""
MAX_REFUSED = 50
"""Datagrams in a row that nobody takes before a udp connection ends: its reader is gone."""
STREAM_BUFFER = 1 << 16
"""Buffer of a stream's socket [bytes]: a receiver that reads nothing is soon one that costs nothing."""
SEND_BUFFER = 1 << 20
"""Buffer of a udp socket [bytes]."""


def dial(port_name: str, contact: Contact, carrier: str, timeout: float = CALL_TIMEOUT_S) -> socket.socket:
    """Return the socket of a connection to a port, its handshake done; it blocks.

    Raises:
        BridgeError: the port cannot be reached, or the carrier is none of `OUTPUT_CARRIERS`.
        WireError: the port does not answer as one.
    """
    if carrier not in OUTPUT_CARRIERS:
        raise BridgeError(f"carrier {carrier!r}: {nearest(carrier, OUTPUT_CARRIERS)}", field="carrier")
    binary = not carrier.startswith("text")
    hello = Hello(carrier=carrier, sender=port_name) if binary else TextHello(port_name, carrier == "text_ack")
    stream, number = greet(contact, hello, timeout)
    sock, what = stream.sock, stream.what
    if carrier != "udp":
        return sock
    sock.close()
    if not 0 < number <= 65535:
        raise WireError(f"{what} names UDP port {number}; must be 1 to 65535", field=contact.name)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        with contextlib.suppress(OSError):
            udp.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        udp.connect((contact.host, number))
    except OSError as fault:
        udp.close()
        where = f"{contact.host}:{number}"
        raise BridgeError(f"{what} accepts no datagrams at {where}: {fault}", field=contact.name) from None
    return udp


class Output:
    """One connection out of a port. Everything runs in the reactor's thread.

    Args:
        port: whose it is.
        target: name of the receiver.
        contact: where the receiver is.
        carrier: one of `OUTPUT_CARRIERS`.
        sock: its socket, the handshake done.
    """

    def __init__(self, port: Port, target: str, contact: Contact, carrier: str, sock: socket.socket) -> None:
        self.port = port
        self.target = target
        self.contact = contact
        self.carrier = carrier
        self.sock = sock
        self.sent = 0
        self.dropped = 0
        """Messages that the receiver was too slow for."""
        self.seen = 0
        """Number of the message that it got when it was connected; those up to it are not sent again."""
        self._acknowledged = carrier in ("tcp", "text_ack")
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._out: memoryview | None = None
        self._open_replies = 0
        self._replies = bytearray()
        self._refused = 0
        self._taken = 0
        self._closed = False
        self._events = 0

    def start(self) -> None:
        """Begin to send."""
        self.sock.setblocking(False)
        if self.carrier != "udp":
            with contextlib.suppress(OSError):
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, STREAM_BUFFER)
        self._events = READ
        self.port.reactor.watch(self.sock, READ, self._ready)

    def send(self, publication: Publication) -> None:
        """Send a message, queue it, or drop it where too many wait."""
        if self._closed or publication.number <= self.seen:
            return
        if len(self._queue) >= self.port.queue or self._queued > MAX_QUEUED_BYTES:
            self.dropped += 1
            return
        try:
            data = self._encode(publication)
        except WireError as fault:
            self.dropped += 1
            self.port.complain(f"{self.port.name}: a message cannot be sent: {fault.message}")
            return
        if self.carrier == "udp":
            self._send_datagrams(data)
            return
        self._queue.append(data)
        self._queued += len(data)
        self._flush()

    def _encode(self, publication: Publication) -> bytes:
        dialect = self.port.dialect_for(self.target)
        payload = self.port.adapted(self.target, publication.payload(dialect))
        key = (payload, self.carrier.startswith("text"))
        data = publication.framed.get(key)
        if data is None:
            if key[1]:
                word = "D" if publication.envelope is None else f"D {publication.envelope}"
                data = TextMessage(word, format_bottle(decode_bottle(payload, dialect))).encode()
            else:
                data = Message(Command("D", publication.envelope), payload).encode()
            publication.framed[key] = data
        return data

    def _send_datagrams(self, data: bytes) -> None:
        try:
            for datagram in encode_datagrams(data):
                self.sock.send(datagram)
        except ConnectionRefusedError:
            self.dropped += 1
            self._refuse()
            return
        except (BlockingIOError, InterruptedError, OSError):
            self.dropped += 1
            return
        self._taken += 1
        if self._taken > 3:  # what nobody takes is only known when the next datagram is sent
            self._refused = 0
        self._count()

    def _refuse(self) -> None:
        """Count a datagram that nobody took."""
        self._taken = 0
        self._refused += 1
        if self._refused >= MAX_REFUSED:
            self.close()

    def _count(self) -> None:
        self.sent += 1
        self.port.sent += 1

    def _flush(self) -> None:
        """Send as much as the receiver takes now."""
        try:
            while True:
                if self._out is None:
                    if not self._queue or (self._acknowledged and self._open_replies >= MAX_UNACKNOWLEDGED):
                        break
                    data = self._queue.popleft()
                    self._queued -= len(data)
                    self._out = memoryview(data)
                    self._open_replies += self._acknowledged
                sent = self.sock.send(self._out)
                self._out = self._out[sent:]
                if not self._out:
                    self._out = None
                    self._count()
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self.close()
            return
        events = READ | (WRITE if self._out is not None else 0)
        if events != self._events:
            self._events = events
            self.port.reactor.watch(self.sock, events, self._ready)

    def _ready(self, events: int) -> None:
        if events & READ:
            try:
                data = self.sock.recv(1 << 14)
            except (BlockingIOError, InterruptedError):
                data = b"-"
            except ConnectionRefusedError:  # a datagram that nobody took
                self._refuse()
                return
            except OSError:
                data = b""
            if self.carrier == "udp":
                return
            if not data:
                self.close()
                return
            if data != b"-" and not self._acknowledge(data):
                self.close()
                return
        if not self._closed and self.carrier != "udp":
            self._flush()

    def _acknowledge(self, data: bytes) -> bool:
        """Count acknowledgements; return False where the receiver says anything else."""
        if not self._acknowledged:
            return True  # nothing has a meaning here
        self._replies += data
        mark = ACKNOWLEDGEMENT if self.carrier == "tcp" else b"<ACK>\r\n"
        size = len(mark)
        while len(self._replies) >= size:
            if self._replies[:size] != mark:
                self.port.complain(f"{self.port.name}: {self.target} does not acknowledge but says other bytes")
                return False
            del self._replies[:size]
            self._open_replies = max(0, self._open_replies - 1)
        return True

    def close(self, *, quit: bool = False) -> None:
        """End the connection; may be called twice.

        Args:
            quit: say goodbye to the receiver first.
        """
        if self._closed:
            return
        self._closed = True
        self.dropped += len(self._queue) + (self._out is not None)
        if quit and self._out is None and self.carrier != "udp":
            bye = b"q\r\n" if self.carrier.startswith("text") else Message(Command("q")).encode()
            with contextlib.suppress(OSError):
                self.sock.send(bye)
        self._queue.clear()
        self.port.reactor.forget(self.sock)
        self.sock.close()
        self.port.drop_output(self)
        if quit and self.carrier == "udp" and self.port.undial is not None:
            self.port.undial(self.port, self.contact)
