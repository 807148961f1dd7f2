"""Single questions to the other side that wait for the answer: to a name server, and to a port.

These block for at most a time limit, so they run in threads that may wait, never in the step or in the reactor.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterable

from pliant.base.errors import BridgeError, WireError
from pliant.yarp.bridge.configuration import ServerAddress
from pliant.yarp.wire import (
    ACKNOWLEDGEMENT,
    Bottle,
    Command,
    Contact,
    Dialect,
    Hello,
    Message,
    Query,
    TextHello,
    TextMessage,
    Vocab,
    bottle,
    decode_either,
    encode_bottle,
    format_bottle,
    parse_bottle,
    read_bottle,
)
from pliant.yarp.wire.binary import MAX_BYTES
from pliant.yarp.wire.connection import decode_number
from pliant.yarp.wire.nameserver import Answer, decode_answer, is_complete, parse_contact
from pliant.yarp.wire.text import MAX_TEXT

CALL_TIMEOUT_S = 5.0
"""Longest wait for an answer [s]."""
ACCEPTS = ("tcp", "fast_tcp", "udp", "text", "text_ack")
"""Carriers that a port of ours sends and takes."""


def open_socket(host: str, port: int, timeout: float, what: str) -> socket.socket:
    """Return a connected TCP socket with a time limit.

    Raises:
        BridgeError: nobody answers there.
    """
    try:
        sock = socket.create_connection((host, port), timeout=timeout)
    except (OSError, OverflowError) as fault:
        why = getattr(fault, "strerror", None) or fault
        raise BridgeError(f"{what} at {host}:{port} cannot be reached: {why}", field=what) from None
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


class Stream:
    """A blocking socket with one time limit for a whole exchange."""

    def __init__(self, sock: socket.socket, timeout: float, what: str) -> None:
        self.sock, self.what = sock, what
        self.buffer = bytearray()
        self.renew(timeout)

    def renew(self, timeout: float) -> None:
        self.end = time.monotonic() + timeout

    def send(self, data: bytes) -> None:
        self.sock.settimeout(max(0.001, self.end - time.monotonic()))
        try:
            self.sock.sendall(data)
        except OSError as fault:
            raise BridgeError(f"{self.what} broke the connection: {fault}", field=self.what) from None

    def more(self) -> bool:
        """Read what is there; False at the end of the stream."""
        left = self.end - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self.sock.settimeout(left)
            data = self.sock.recv(1 << 16)
        except TimeoutError:
            raise BridgeError(f"{self.what} did not answer in time", field=self.what) from None
        except OSError as fault:
            raise BridgeError(f"{self.what} broke the connection: {fault}", field=self.what) from None
        self.buffer += data
        if len(self.buffer) > MAX_BYTES:
            raise WireError(f"an answer of more than {MAX_BYTES} bytes", field=self.what)
        return bool(data)

    def need(self) -> None:
        if not self.more():
            raise BridgeError(f"{self.what} closed the connection without an answer", field=self.what)

    def take(self, size: int) -> bytes:
        while len(self.buffer) < size:
            self.need()
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def line(self) -> str:
        while (end := self.buffer.find(b"\n")) < 0:
            if len(self.buffer) > MAX_TEXT:
                raise WireError(f"a line of more than {MAX_TEXT} bytes", field=self.what)
            self.need()
        return self.take(end + 1).rstrip(b"\r\n").decode("utf-8", "surrogateescape")


def greet(contact: Contact, hello: Hello | TextHello, timeout: float) -> tuple[Stream, int]:
    """Return a connection to a port that has answered a greeting, and the number that the port names; 0 for text.

    Raises:
        BridgeError: the port cannot be reached or does not answer.
        WireError: it does not answer as a port.
    """
    what = f"port {contact.name}"
    sock = open_socket(contact.host, contact.port, timeout, what)
    try:
        stream = Stream(sock, timeout, what)
        stream.send(hello.encode())
        if isinstance(hello, Hello):
            return stream, decode_number(stream.take(8))
        answer = stream.line()
        if not answer.startswith("Welcome"):
            raise WireError(f"{what} answers {answer[:80]!r} to a connection of text", field=contact.name)
        return stream, 0
    except BaseException:
        sock.close()
        raise


class NameClient:
    """Asks a name server, one connection per question, as YARP's own programs do.

    Args:
        address: where it listens.
        timeout: longest wait for an answer [s].
    """

    def __init__(self, address: ServerAddress, timeout: float = CALL_TIMEOUT_S) -> None:
        self.address = address
        self.timeout = timeout
        self.advice = ""
        """Text appended to the fault's message if nobody answers at the address."""

    def ask_text(self, *words: str) -> bytes:
        """Return the answer to a command as it came.

        Raises:
            BridgeError: the server cannot be reached or does not answer.
            WireError: a word is empty or holds a space, or the answer is too long.
        """
        query = Query(words)
        what = "the name server"
        try:
            sock = open_socket(self.address.host, self.address.port, self.timeout, what)
        except BridgeError as fault:
            raise BridgeError(fault.message + self.advice, field=what) from None
        with contextlib.closing(sock):
            stream = Stream(sock, self.timeout, what)
            stream.send(query.encode())
            while not is_complete(bytes(stream.buffer), query):
                stream.need()
            return bytes(stream.buffer)

    def ask(self, *words: str) -> list[Answer]:
        """Return the lines of the answer to a command.

        Raises:
            BridgeError: the server cannot be reached or does not answer.
            WireError: the answer is not understood.
        """
        return decode_answer(self.ask_text(*words))

    def reachable(self) -> bool:
        """Return whether the server answers."""
        try:
            self.ask("query", "/root")
        except (BridgeError, WireError):
            return False
        return True

    def query(self, name: str) -> Contact | None:
        """Return where a port is, or None if the server does not know it."""
        return next((c for c in self.ask("query", name) if isinstance(c, Contact)), None)

    def register(self, name: str, carrier: str = "...", host: str = "...", port: int = -1) -> Contact:
        """Register a port and return where it shall be.

        Raises:
            BridgeError: the server cannot be reached or refuses.
        """
        answer = self.ask("register", name, carrier, host, str(port))
        contact = next((c for c in answer if isinstance(c, Contact)), None)
        if contact is None:
            raise BridgeError(f"the name server at {self.address} did not register {name!r}: {answer}", field=name)
        return contact

    def unregister(self, name: str) -> None:
        """Remove a port."""
        self.ask("unregister", name)

    def describe(self, name: str, addresses: Iterable[str], carriers: Iterable[str] = ACCEPTS) -> None:
        """Tell the server what a port offers, and that it is open: what YARP's ports say in this order."""
        carriers = tuple(carriers)
        self.ask("set", name, "offers", *carriers)
        self.ask("set", name, "accepts", *carriers)
        self.ask("set", name, "ips", *addresses)
        self.ask("set", name, "process", str(os.getpid()))
        self.ask_text("announce", name)

    def list(self, prefix: str = "") -> list[Contact]:
        """Return every port, or those below a prefix."""
        return [c for c in self.ask("list", *([prefix] if prefix else [])) if isinstance(c, Contact)]

    def find(self, target: str) -> Contact:
        """Return where a port is, given by name, by URI or by address (``tcp://127.0.0.1:10012``).

        Raises:
            BridgeError: no such port, or no server.
            WireError: the text names no port.
        """
        carrier, rest = parse_contact(target)
        if not rest.startswith("/"):
            host, _, port = rest.rpartition(":")
            return Contact(name=f"/{rest}", host=host, port=int(port), carrier=carrier or "tcp")
        contact = self.query(rest)
        if contact is None:
            raise BridgeError(f"no port {rest!r} is registered with the name server at {self.address}", field=rest)
        return contact


def ask_administration(
    contact: Contact, command: Bottle, timeout: float = CALL_TIMEOUT_S, *, data: bool = False
) -> Bottle:
    """Return the reply of a port to an administrative command, or to a line of data.

    Raises:
        BridgeError: the port cannot be reached or does not answer.
        WireError: the reply is no Bottle.
    """
    what = f"port {contact.name}"
    hello = TextHello("admin")
    with contextlib.closing(open_socket(contact.host, contact.port, timeout, what)) as sock:
        stream = Stream(sock, timeout, what)
        stream.send(hello.encode() + TextMessage("d" if data else "a", format_bottle(command)).encode())
        stream.line()
        lines, size = [], 0
        while (line := stream.line()) != "<ACK>":
            lines.append(line)
            size += len(line) + 1
            if size > MAX_TEXT:
                raise WireError(f"an answer of more than {MAX_TEXT} characters", field=what)
        return parse_bottle(" ".join(lines))


def tell_removed(contact: Contact, sender: str, timeout: float = CALL_TIMEOUT_S) -> None:
    """Tell a port that a connection without a stream (udp) ends, as YARP's senders do."""
    what = f"port {contact.name}"
    with contextlib.closing(open_socket(contact.host, contact.port, timeout, what)) as sock:
        stream = Stream(sock, timeout, what)
        stream.send(TextHello("admin", False).encode() + TextMessage(f"~{sender}").encode() + b"q\r\n")
        with contextlib.suppress(BridgeError):
            while stream.more():
                pass


def _connection(reply: Bottle) -> tuple[bool, str]:
    """Return whether ``[add]`` or ``[del]`` succeeded, and its text."""
    text = next((item for item in reply if isinstance(item, str)), "")
    return bool(reply.items) and reply[0] == 0, text.strip()


def _hears(receiver: Contact, sender: str) -> bool:
    """Return whether a port lists a connection from a sender."""
    return bool(ask_administration(receiver, bottle(Vocab.of("list"), Vocab.of("in"), sender)).items)


def connect_ports(names: NameClient, source: str, target: str, carrier: str = "") -> str:
    """Connect an output port to an input port, as ``yarp connect`` does, and return what the source says.

    Raises:
        BridgeError: a port does not exist, or the source cannot connect.
    """
    asked, _ = parse_contact(target)
    carrier = carrier or asked or parse_contact(source)[0] or "tcp"
    sender, receiver = names.find(source), names.find(target)
    reply = ask_administration(sender, bottle(Vocab.of("list"), Vocab.of("out"), receiver.name))
    present = reply.find("carrier")
    # A sender that has not noticed yet that a receiver is gone still lists it, and another may have its name by now.
    if reply.items and present in (None, carrier) and _hears(receiver, sender.name):
        return f"{sender.name} is connected to {receiver.name} already"
    done, text = _connection(
        ask_administration(sender, bottle(Vocab.of("add"), f"{carrier}:/{receiver.name}"), 3 * CALL_TIMEOUT_S)
    )
    if not done:
        raise BridgeError(f"{sender.name} cannot be connected to {receiver.name}: {text}", field=receiver.name)
    return text


def disconnect_ports(names: NameClient, source: str, target: str) -> str:
    """Disconnect an output port from an input port, and return what the source says.

    Raises:
        BridgeError: a port does not exist, or they are not connected.
    """
    sender = names.find(source)
    receiver = parse_contact(target)[1]
    done, text = _connection(ask_administration(sender, bottle(Vocab.of("del"), receiver)))
    if not done:
        raise BridgeError(f"{sender.name} is not connected to {receiver}: {text}", field=receiver)
    return text


class RpcConnection:
    """A connection to a port for calls that are answered.

    Args:
        contact: where the port is.
        sender: name of the caller; anonymous without a slash in front.
        dialect: of the floats in requests and replies.
        timeout: longest wait for a reply [s].

    Raises:
        BridgeError: the port cannot be reached or does not answer as one.
    """

    def __init__(
        self, contact: Contact, sender: str = "anon_rpc", dialect: Dialect = 3, timeout: float = CALL_TIMEOUT_S
    ) -> None:
        self.contact, self.timeout = contact, timeout
        self.dialect: Dialect = dialect
        self._stream, _ = greet(contact, Hello(carrier="tcp", sender=sender), timeout)

    @property
    def _other(self) -> Dialect:
        return 4 if self.dialect == 3 else 3

    def call_bytes(self, payload: bytes) -> bytes:
        """Send the bytes of a request and return those of its reply; nothing if it was only acknowledged.

        Raises:
            BridgeError: the port does not answer.
            WireError: the reply has no end that is understood.
        """
        stream = self._stream
        stream.renew(self.timeout)
        stream.send(Message(Command("d"), payload).encode())
        while True:
            if stream.buffer[:8] == ACKNOWLEDGEMENT:
                stream.take(8)
                return b""
            # A reply has no length: it ends where its Bottle does; a record may hold fields without tags, which no
            # Bottle has, so the acknowledgement behind it counts as well.
            end = self._end(stream.buffer)
            if end is not None:
                reply = stream.take(end)
                if stream.take(8) != ACKNOWLEDGEMENT:
                    raise WireError(f"no acknowledgement after the reply of {self.contact.name}", field="reply")
                return reply
            stream.need()

    def _end(self, data: bytearray) -> int | None:
        if len(data) >= 8 and data[-8:] == ACKNOWLEDGEMENT:
            return len(data) - 8
        for dialect in (self.dialect, self._other):
            try:
                end = read_bottle(data, dialect)[1]
            except WireError:
                continue
            if data[end : end + 8] == ACKNOWLEDGEMENT:
                return end
        return None

    def call(self, request: Bottle) -> Bottle:
        """Send a request and return its reply, an empty Bottle if it was only acknowledged.

        Raises:
            BridgeError: the port does not answer.
            WireError: the reply is no Bottle.
        """
        reply = self.call_bytes(encode_bottle(request, self.dialect))
        if not reply:
            return Bottle()
        try:
            return decode_either(reply, self.dialect)[0]
        except WireError as fault:
            raise WireError(
                f"the reply of {self.contact.name} is not a Bottle of dialect {self.dialect}: {fault}. It may be a "
                "record of fields without tags, which only programs that know the call can read",
                field="reply",
            ) from None

    def close(self) -> None:
        """Say goodbye and close the connection; may be called twice."""
        with contextlib.suppress(OSError):
            self._stream.sock.sendall(Message(Command("q")).encode())
        self._stream.sock.close()

    def __enter__(self) -> RpcConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
