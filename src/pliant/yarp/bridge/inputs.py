"""A connection into a port: first bytes, handshake, messages, replies and acknowledgements, of every carrier."""

from __future__ import annotations

import contextlib
import errno
import html
import socket
import time
from collections import deque
from concurrent.futures import Future
from functools import partial

from pliant.base.errors import PliantError, WireError
from pliant.base.origin import foreign, headers_of
from pliant.yarp.bridge.messages import Answer, Arrival, answered
from pliant.yarp.bridge.port import Port
from pliant.yarp.bridge.reactor import READ, WRITE
from pliant.yarp.wire import (
    ACKNOWLEDGEMENT,
    Bottle,
    DatagramAssembler,
    Framer,
    Hello,
    Incomplete,
    LineFramer,
    Message,
    TextHello,
    TextMessage,
    carrier_of,
    decode_bottle,
    encode_bottle,
    format_bottle,
    parse_bottle,
)
from pliant.yarp.wire.connection import NOT_FOUND, encode_number
from pliant.yarp.wire.nameserver import MAX_QUERY
from pliant.yarp.wire.values import FAIL, bottle

MAX_INPUTS = 64
"""Most connections into one port at once; a further one is closed."""
MAX_CONNECTIONS = 600
"""Most connections into all ports of a reactor at once: the program needs file descriptors for other things too."""
ACCEPT_PAUSE_S = 0.2
"""How long a port accepts nothing when the process has no more file descriptors [s]."""
GREETING_TIMEOUT_S = 5.0
"""How long a peer may take to say who it is [s]."""
ANSWER_TIMEOUT_S = 30.0
"""How long an answer may take that another thread gives [s]; then the caller gets ``[fail]``."""
MAX_PENDING = 1 << 16
"""Bytes of replies that wait for a peer before nothing more is read from it."""
MAX_WAITING = 256
"""Messages of one connection that wait to be handled before nothing more is read from it."""
MAX_UDP_INPUTS = 16
"""Most udp connections into one port; the one that has been silent for longest ends for a further one. They have no
stream whose end could be seen."""
RECEIVE_BYTES = 1 << 16
_TEXT_HELP = (
    "This is a YARP port.  Here are the commands it responds to:",
    "*       Gives a description of this port",
    "d       Signals the beginning of input for the port's owner",
    'do      The same as "d" except replies should be suppressed.',
    "q       Disconnects",
    "r       Reverse connection type to be a reader",
    "/port   Requests to send output to /port",
    "!/port  Requests to stop sending output to /port",
    "~/port  Requests to stop receiving input from /port",
    "a       Signals the beginning of an administrative message",
    "?       Gives this help",
)


def listen(port: Port) -> None:
    """Accept connections into a port from now on; for the reactor's thread."""
    if not port.closed:
        port.reactor.watch(port.listener, READ, lambda _: _accept(port))


def _accept(port: Port) -> None:
    for _ in range(16):
        try:
            sock, _address = port.listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionError):
            return
        except OSError as fault:
            if fault.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                raise
            port.complain(f"{port.name}: no connection can be accepted: {fault.strerror}")
            port.reactor.forget(port.listener)
            port.reactor.after(ACCEPT_PAUSE_S, lambda: listen(port))
            return
        if len(port.inputs) >= (port.max_inputs or MAX_INPUTS) or port.reactor.connections >= MAX_CONNECTIONS:
            port.refused += 1
            sock.close()
            continue
        connection = Input(port, sock)
        port.inputs[id(connection)] = connection
        port.reactor.connections += 1
        connection.start()


class Input:
    """One connection into a port. Everything runs in the reactor's thread.

    Args:
        port: whose it is.
        sock: the accepted socket.
    """

    def __init__(self, port: Port, sock: socket.socket) -> None:
        self.port = port
        self.sock = sock
        try:
            self.peer: str = sock.getpeername()[0]
        except OSError:  # it is gone already
            self.peer = ""
        self.sender = ""
        self.carrier = ""
        self.greeted = False
        """Whether the peer has said who it is."""
        self._buffer = bytearray()
        self._framer: Framer | None = None
        self._lines: LineFramer | None = None
        self._mark = b""
        """What acknowledges a message; nothing without acknowledgements."""
        self._waiting: deque[Message | TextMessage | str] = deque()
        self._welcome = b""
        """What the peer waits for before its first message, until that is said."""
        self._busy = False
        self._resuming = False
        self._out = bytearray()
        self._ended = False
        self._fault: WireError | None = None
        self._closed = False
        self._udp: socket.socket | None = None
        self._assembler = DatagramAssembler()
        self.heard = 0.0
        """When the last datagram, or question to the name server, came [s]."""

    @property
    def rooted(self) -> bool:
        """Whether the sender is a port, which is not anonymous."""
        return self.sender.startswith("/")

    @property
    def is_udp(self) -> bool:
        """Whether messages come as datagrams."""
        return self._udp is not None

    # ------------------------------------------------------------------ life
    def start(self) -> None:
        """Begin to read."""
        self.sock.setblocking(False)
        with contextlib.suppress(OSError):
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch()
        self.port.reactor.after(GREETING_TIMEOUT_S, self._check_greeting)

    def _check_greeting(self) -> None:
        if not self.greeted and not self._closed:
            self.close()

    def _check_question(self) -> None:
        """Close a connection to the name server that has asked nothing: its clients connect for each question."""
        left = self.heard + ANSWER_TIMEOUT_S - time.monotonic()
        if left <= 0.0:
            self.close()
        elif not self._closed:
            self.port.reactor.after(left, self._check_question)

    def close(self) -> None:
        """End the connection; may be called twice."""
        if self._closed:
            return
        self._closed = True
        for sock in (self.sock, self._udp):
            if sock is not None:
                self.port.reactor.forget(sock)
                sock.close()
        self._waiting.clear()
        self.port.drop_input(self)

    def hold(self, until: Future[None]) -> None:
        """Handle no message before something is done; a caller that waits to be welcomed makes no call meanwhile."""
        self._busy = True

        def go_on() -> None:
            self._busy = False
            if not self._closed:
                self._say_welcome()
                self._go_on()

        until.add_done_callback(lambda _: self.port.reactor.call(go_on))

    def _watch(self) -> None:
        if self._closed or self.sock.fileno() < 0:
            return
        events = WRITE if self._out else 0
        if not (self._ended or self._busy or len(self._out) > MAX_PENDING or len(self._waiting) > MAX_WAITING):
            events |= READ
        self.port.reactor.watch(self.sock, events, self._ready)

    def _ready(self, events: int) -> None:
        try:
            if events & WRITE:
                self._flush()
            if events & READ and not self._closed:
                self._receive()
        except OSError:
            self.close()

    def _receive(self) -> None:
        try:
            data = self.sock.recv(RECEIVE_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        if not data:
            if self._udp is not None:  # its messages come elsewhere
                self.port.reactor.forget(self.sock)
                self.sock.close()
                return
            self._ended = True
        else:
            self._take(data)
        self._go_on()

    def _take(self, data: bytes) -> None:
        """Cut what has come into messages; a fault is kept until those in front of it are done."""
        try:
            if not self.greeted:
                self._buffer += data
                data = self._greet()
                if not data:
                    return
            if self._framer is not None:
                for message in self._framer.feed(data):
                    self._waiting.append(message)
            elif self._lines is not None:
                feed = self._lines.lines if self.carrier == "name_ser" else self._lines.feed
                for item in feed(data):
                    self._waiting.append(item)
        except Incomplete:
            return
        except WireError as fault:
            self._fault = fault

    # ------------------------------------------------------------------ who it is
    def _greet(self) -> bytes:
        """Read the first bytes, answer them, and return what stands behind them."""
        try:
            carrier = carrier_of(bytes(self._buffer[:8]))
        except Incomplete:
            raise
        except WireError:
            self._say(NOT_FOUND)
            raise
        if carrier == "http":
            return self._greet_http()
        if carrier == "name_ser":
            if self.port.answer_names is None:
                self._say(NOT_FOUND)
                raise WireError(f"{self.port.name} is not a name server", field="carrier")
            self._lines = LineFramer(MAX_QUERY)
            self.heard = time.monotonic()
            self._check_question()
            return self._greeted("", carrier, 0)
        if carrier in ("text", "text_ack"):
            end = self._buffer.find(b"\n")
            if end < 0:
                if len(self._buffer) > 4096:
                    raise WireError("a greeting of more than 4096 bytes", field="sender")
                raise Incomplete("the sender's name is not complete")
            greeting = TextHello.decode(bytes(self._buffer[:end]).rstrip(b"\r").decode("utf-8", "surrogateescape"))
            self._lines = LineFramer(self.port.limit)
            self._mark = b"<ACK>\r\n" if greeting.acknowledged else b""
            rest = self._greeted(greeting.sender.split(" ", 1)[0], carrier, end + 1)
            self._say(greeting.welcome)
            return rest
        hello, end = Hello.read(bytes(self._buffer))
        if " " in hello.sender:  # modifiers of the carrier, of which none is served
            raise WireError(
                f"{hello.name} asks for {hello.sender.partition(' ')[2][:80]!r}; no modifier of a carrier is served",
                field="carrier",
            )
        if carrier == "mcast":
            raise WireError(f"{hello.name} connects by mcast, which is not served; use udp", field="carrier")
        if carrier == "udp":
            return self._greet_udp(hello, end)
        self._framer = Framer(self.port.limit)
        self._mark = ACKNOWLEDGEMENT if hello.acknowledged else b""
        rest = self._greeted(hello.name, carrier, end)
        self._welcome = encode_number(self.port.number)
        if not self._busy:
            self._say_welcome()
        return rest

    def _greeted(self, sender: str, carrier: str, end: int) -> bytes:
        self.sender, self.carrier, self.greeted = sender, carrier, True
        rest = bytes(self._buffer[end:])
        self._buffer.clear()
        if carrier != "name_ser":
            self.port.greeted(self)
        return rest

    def _say_welcome(self) -> None:
        self._say(self._welcome)
        self._welcome = b""

    def _greet_udp(self, hello: Hello, end: int) -> bytes:
        others = [c for c in self.port.inputs.values() if c.is_udp]
        if len(others) >= MAX_UDP_INPUTS:
            min(others, key=lambda c: c.heard).close()
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            udp.setblocking(False)
            with contextlib.suppress(OSError):
                udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            udp.bind((self.port.host, 0))
        except OSError:
            udp.close()
            raise
        self._udp = udp
        self.heard = time.monotonic()
        self._greeted(hello.name, "udp", end)
        self.port.reactor.watch(udp, READ, self._receive_datagrams)
        self._say(encode_number(udp.getsockname()[1]))
        return b""

    def _receive_datagrams(self, _: int) -> None:
        udp = self._udp
        for _ in range(64):
            if udp is None or self._closed:
                return
            try:
                datagram = udp.recv(1 << 16)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                continue
            self.heard = time.monotonic()
            for message in self._assembler.feed(datagram):
                try:
                    if len(message.payload) > self.port.limit:
                        raise WireError(f"a message of {len(message.payload)} bytes; must be at most {self.port.limit}")
                    self._handle(message)
                except WireError as fault:  # the next message may be right
                    self.port.reject(f"{self.sender[:80]}: {fault.message}")

    def _greet_http(self) -> bytes:
        if b"\r\n\r\n" not in self._buffer and b"\n\n" not in self._buffer:
            if len(self._buffer) > 1 << 14:
                raise WireError("an HTTP request of more than 16384 bytes", field="carrier")
            raise Incomplete("the HTTP request is not complete")
        get = self._buffer.startswith(b"GET ")
        if get:
            lines = "\n".join(self.port.describe())
            page = f"<html><head><title>{html.escape(self.port.name)}</title></head><body><pre>{html.escape(lines)}"
            body = f"{page}</pre></body></html>\n".encode("utf-8", "surrogateescape")
        else:
            body = b"A port of YARP answers GET only.\n"
        reason = foreign(headers_of(bytes(self._buffer)), self.port.host) if get else ""
        if reason:
            body = f"{reason}\n".encode()
        status, kind = (b"200 OK", b"text/html") if get else (b"405 Method Not Allowed", b"text/plain")
        if reason:
            status, kind = b"403 Forbidden", b"text/plain"
        head = b"HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
        self._greeted("", "http", len(self._buffer))
        self._say(head % (status, kind, len(body)) + body)
        self._ended = True
        return b""

    # ------------------------------------------------------------------ messages
    def _go_on(self) -> None:
        """Handle what waits, one after another; an answer of another thread stops this until it is there."""
        try:
            while self._waiting and not self._busy and not self._closed and len(self._out) <= MAX_PENDING:
                message = self._waiting.popleft()
                if not isinstance(message, str):
                    self._handle(message)
                elif self.port.answer_names is not None:
                    self.heard = time.monotonic()
                    self._say(self.port.answer_names(message, self.peer))
        except WireError as fault:
            self._fault = fault
            self._waiting.clear()
        if self._closed:
            return
        if self._fault is not None and not self._busy and not self._waiting:
            if self.greeted:
                self.port.reject(f"{self.sender[:80] or 'a peer'}: {self._fault.message}")
            else:
                self.port.rejected += 1
            self._fault = None
            self._ended = True
            self._waiting.clear()
        if self._ended and not self._busy and not self._waiting:
            self._flush()
            if not self._out or self._closed:
                self.close()
                return
        self._watch()

    def _resume(self) -> None:
        """Go on with what waited for the peer to read its replies."""
        self._resuming = False
        if not self._closed:
            self._go_on()

    def _handle(self, message: Message | TextMessage) -> None:
        """Do what a message asks for, and answer it."""
        if isinstance(message, Message):
            kind, envelope, data = message.command.kind, message.command.envelope, message.command.kind in ("D", "d")
        else:
            kind, _, rest = message.command.partition(" ")
            envelope, data = rest or None, message.body is not None and kind != "a"
        if kind == "q":
            self._say(self._mark)
            self._waiting.clear()
            self._ended = True
            if self._udp is not None:
                self.close()
        elif kind == "a":
            self._answer(self._administer(message))
        elif data:
            wants = kind == "d"
            payload, text = (message.payload, None) if isinstance(message, Message) else (b"", message.body)
            reply = self.port.deliver(Arrival(payload, text, envelope, self.sender, wants))
            self._answer(reply if wants and self._udp is None else None)
        else:
            self._tell(kind if isinstance(message, Message) else message.command)

    def _administer(self, message: Message | TextMessage) -> Answer:
        """Return the answer to an administrative command."""
        if isinstance(message, Message):
            return self.port.answer_administrator(decode_bottle(message.payload, self.port.dialect))
        try:
            return self.port.answer_administrator(parse_bottle(message.body or ""))
        except WireError:  # a person may try again
            return bottle(FAIL)

    def _tell(self, command: str) -> None:
        """Do a command that is a text; only a connection of text gets the lines for a person."""

        def told(lines: str) -> str | None:
            return lines if self._lines is not None else None

        found = self._plain_command(command)
        if self._closed:
            return
        if isinstance(found, Future):
            why = f"Do not know how to connect to {command}\r\n"
            self._answer(answered(found, lambda said: told(f"{said}\r\n"), lambda _: told(why)))
        else:
            self._answer(told("".join([f"{line}\r\n" for line in found])))

    def _plain_command(self, kind: str) -> list[str] | Future[str]:
        """Do a command that is a text, and return the lines that a person gets, or a future of one."""
        name = kind[1:]
        if kind == "*":
            return self.port.describe()
        if kind == "?":
            return list(_TEXT_HELP)
        if kind.startswith("/"):
            return self.port.add(kind)
        if kind.startswith("!"):
            output = self.port.outputs.get(name)
            if output is None:
                return [f"Could not find an outgoing connection to {name}"]
            output.close(quit=True)
            return [f"Removed connection from {self.port.name} to {name}"]
        if kind.startswith("~"):
            if name == self.sender:
                return []
            return [self.port.remove_input(name) or f"Could not find an incoming connection from {name}"]
        if kind in ("i", "r"):
            return []
        return ["This command is not known to a port.", "Type ? for help."]

    # ------------------------------------------------------------------ answers
    def _answer(self, reply: Answer) -> None:
        if isinstance(reply, Future):
            self._busy = True
            reply.add_done_callback(lambda done: self.port.reactor.call(partial(self._answered, done)))
            self.port.reactor.after(ANSWER_TIMEOUT_S, partial(self._give_up, reply))
            return
        data = b""
        try:
            data = self._encoded(reply)
        except WireError as fault:
            self.port.reject(f"an answer to {self.sender[:80]}: {fault.message}")
            data = self._encoded(bottle(FAIL))
        self._say(data + self._mark)

    def _encoded(self, reply: Bottle | bytes | str | None) -> bytes:
        if reply is None:
            return b""
        if isinstance(reply, str):
            return reply.encode("utf-8", "surrogateescape")
        if self._lines is None:
            return reply if isinstance(reply, bytes) else encode_bottle(reply, self.port.dialect_for(self.sender))
        if isinstance(reply, bytes):
            try:
                reply = decode_bottle(reply, self.port.dialect)
            except WireError:  # a record without tags has no text
                reply = bottle(FAIL)
        return f"{format_bottle(reply)}\r\n".encode("utf-8", "surrogateescape")

    def _give_up(self, reply: Future[Bottle | bytes | str | None]) -> None:
        if not reply.done() and not reply.cancel():
            with contextlib.suppress(Exception):  # it may have ended just now
                reply.set_exception(WireError("no answer in time"))

    def _answered(self, done: Future[Bottle | bytes | str | None]) -> None:
        self._busy = False
        if self._closed:
            return
        reply: Bottle | bytes | str | None = bottle(FAIL)
        if not done.cancelled():
            fault = done.exception()
            if fault is None:
                reply = done.result()
            elif not isinstance(fault, PliantError):
                self.port.reactor.guard(_raise, fault)
            else:
                self.port.reject(f"a request of {self.sender[:80]}: {fault}")
        try:
            self._answer(reply)
            self._go_on()
        except OSError:
            self.close()

    def _say(self, data: bytes) -> None:
        if data and not self._closed:
            self._out += data
            self._flush()

    def _flush(self) -> None:
        while self._out and self.sock.fileno() >= 0:
            try:
                sent = self.sock.send(self._out)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                self._out.clear()
                self._ended = True
                break
            del self._out[:sent]
        if self._ended and not self._busy and not self._waiting and not self._out:
            self.port.reactor.call(self.close)
            return
        if self._waiting and not self._busy and len(self._out) <= MAX_PENDING and not self._resuming:
            self._resuming = True
            self.port.reactor.call(self._resume)
        if self._udp is not None and not self._out:
            return
        self._watch()


def _raise(fault: BaseException) -> None:
    raise fault
