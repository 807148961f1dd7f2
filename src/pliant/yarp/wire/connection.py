r"""The connections of YARP: the first bytes, messages, acknowledgements, datagrams and text lines.

An initiator opens with a `Hello` that names the carrier; the acceptor answers with a "YARP number", 8 bytes that hold
an integer: ``YA``, int32, ``RP``. Then messages follow:

| part | bytes |
|---|---|
| marker | YARP number 10 |
| index | number of blocks n (uint8), number of reply blocks (uint8, 1), 8 times ff |
| lengths | n int32 block lengths, then one int32 0 for each reply block |
| blocks | concatenated; a receiver uses the sum of the lengths only |

The blocks begin with the port command header of 8 bytes: int32 length, ``~``, a letter, 0, 1. Length 0 means that the
letter is the command (``D`` data, ``d`` data that wants a reply, ``a`` administration). Else the letter is NUL and a
NUL-terminated text of that length follows: ``D`` and an envelope, ``q`` to leave, ``/name`` to add an output, and more.

A reply has no header at all: its bytes are those of the answered object. Carriers that acknowledge send the YARP
number 0 after each message, and behind its reply. A server that does not understand a request may send no reply; then
the acknowledgement follows at once.

Source: recorded traffic of YARP 3.12.3 and 4.0.0. All integers are little-endian but the port of mcast.
"""

from __future__ import annotations

import ipaddress
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pliant.base.errors import WireError, nearest
from pliant.yarp.wire.binary import MAX_BYTES
from pliant.yarp.wire.text import MAX_TEXT, is_open
from pliant.yarp.wire.values import Incomplete

CARRIERS = {"udp": 0, "mcast": 1, "fast_tcp": 3, "tcp": 3 + 128}
"""Binary carriers and the number that follows 7777 in their first bytes; 128 is the flag of acknowledgements."""
_CARRIER_BASE = 7777
_NAME_OF = {number: name for name, number in CARRIERS.items()}
_INDEX = 10
"""YARP number in front of every message."""
MAX_NAME = 1024
"""Longest name of a sender, its modifiers included [bytes]. # assumed"""
MAX_DATAGRAM = 65507
"""Largest datagram that UDP over IPv4 carries [bytes]."""
MAX_PARTS = 2048
"""Most datagrams of one message; times `MAX_DATAGRAM` it exceeds the longest message. # assumed"""
MAX_LINES = 64
"""Most lines of text over which one Bottle goes on. # assumed"""
MAX_HEADER = 1 << 16
"""Longest text of a port command header [bytes]: an envelope or a port name. # assumed"""
MAX_MESSAGE = MAX_BYTES + MAX_HEADER + 8
"""Longest sum of the blocks of one message [bytes]."""
ACKNOWLEDGEMENT = b"YA\x00\x00\x00\x00RP"
"""Bytes that an acknowledging acceptor sends after every message (YARP number 0)."""
WAKE_UP = bytes.fromhex("76688ae3ffffffff") + bytes(10)
"""Datagram by which a port wakes itself: packet code -1 and ten bytes 0; receivers ignore it."""
NOT_FOUND = (
    b"* Error. Protocol not found.\r\n"
    b"* The first 8 bytes of a connection name its carrier; these name none that this port speaks.\r\n"
    b"* Try CONNECT <name> or CONNACK <name> and an end of line for a connection of text.\r\n"
)
"""Answer to first bytes of no known carrier, before the connection is closed."""

_NUMBER = struct.Struct("<2si2s")
_I32 = struct.Struct("<i")
_PACKET = struct.Struct("<Ii")


def encode_number(value: int) -> bytes:
    """Return a YARP number, 8 bytes."""
    return _NUMBER.pack(b"YA", value, b"RP")


def decode_number(data: bytes | bytearray | memoryview, at: int = 0) -> int:
    """Return the integer of the YARP number at a byte.

    Raises:
        Incomplete: fewer than 8 bytes are there.
        WireError: the bytes are no YARP number.
    """
    if len(data) < at + 8:
        raise Incomplete(f"a YARP number takes 8 bytes, {max(0, len(data) - at)} are there")
    head, value, tail = _NUMBER.unpack_from(data, at)
    if head != b"YA" or tail != b"RP":
        raise WireError(f"{bytes(data[at : at + 8])!r} at byte {at} is not a YARP number; must be YA, int32, RP")
    return value


# -- first bytes ---------------------------------------------------------------------------------------------------

FirstBytes: TypeAlias = Literal["udp", "mcast", "tcp", "fast_tcp", "text", "text_ack", "name_ser", "http"]


def carrier_of(first: bytes) -> FirstBytes:
    """Return the carrier that the first 8 bytes of a connection name.

    Raises:
        Incomplete: fewer than 8 bytes are there.
        WireError: the bytes name no known carrier; `NOT_FOUND` is the answer.
    """
    if len(first) < 8:
        raise Incomplete(f"the first 8 bytes name the carrier, {len(first)} are there")
    first = bytes(first[:8])
    known: dict[bytes, FirstBytes] = {b"CONNECT ": "text", b"CONNACK ": "text_ack", b"NAME_SER": "name_ser"}
    if first in known:
        return known[first]
    if first.startswith((b"GET /", b"POST /")):
        return "http"
    if first[:2] == b"YA" and first[6:] == b"RP":
        number = decode_number(first) - _CARRIER_BASE
        if number in _NAME_OF:
            return _NAME_OF[number]  # type: ignore[return-value]
        raise WireError(f"carrier number {number}; must be one of {CARRIERS}", field="carrier")
    raise WireError(f"the first bytes {first!r} are not the name of a carrier", field="carrier")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """First data from the initiator of a binary connection."""

    carrier: str
    """A name of `CARRIERS`."""
    sender: str
    """Name of the initiator, with a slash in front; without one it is anonymous and not deduplicated. Modifiers of the
    carrier may stand behind a space: ``/src (recv portmonitor)``."""
    group: tuple[str, int] | None = None
    """IPv4 address and port of the multicast group: for mcast, and only for it."""

    @property
    def name(self) -> str:
        """The sender's name without modifiers."""
        return self.sender.split(" ", 1)[0]

    @property
    def acknowledged(self) -> bool:
        """Whether the acceptor acknowledges every message."""
        return bool(CARRIERS[self.carrier] & 128)

    def encode(self) -> bytes:
        """Return the bytes.

        Raises:
            WireError: an unknown carrier, a name that is too long or holds a NUL, a group that does not fit.
        """
        if self.carrier not in CARRIERS:
            raise WireError(f"carrier {self.carrier!r}: {nearest(self.carrier, CARRIERS)}", field="carrier")
        name = self.sender.encode("utf-8", "surrogateescape") + b"\0"
        if len(name) > MAX_NAME or b"\0" in name[:-1]:
            raise WireError(f"the sender's name must have at most {MAX_NAME - 1} bytes and no NUL", field="sender")
        head = encode_number(_CARRIER_BASE + CARRIERS[self.carrier]) + _I32.pack(len(name)) + name
        if (self.carrier == "mcast") != (self.group is not None):
            raise WireError("a group must be given for mcast, and for it only", field="group")
        if self.group is None:
            return head
        try:
            return head + ipaddress.IPv4Address(self.group[0]).packed + struct.pack(">H", self.group[1])
        except (ValueError, struct.error) as fault:
            raise WireError(f"multicast group {self.group}: {fault}", field="group") from None

    @classmethod
    def read(cls, data: bytes) -> tuple[Hello, int]:
        """Return the hello at the beginning of a stream, and where it ends.

        Raises:
            Incomplete: more bytes are needed.
            WireError: another carrier, or a name that is too long or not ended by NUL.
        """
        carrier = carrier_of(data)
        if carrier not in CARRIERS:
            raise WireError(f"carrier {carrier} has no binary hello", field="carrier")
        if len(data) < 12:
            raise Incomplete("the length of the sender's name is missing")
        size = _I32.unpack_from(data, 8)[0]
        if not 1 <= size <= MAX_NAME:
            raise WireError(f"a sender's name of {size} bytes; must be 1 to {MAX_NAME}", field="sender")
        end = 12 + size
        if len(data) < end + 6 * (carrier == "mcast"):
            raise Incomplete("the sender's name is not complete")
        name = bytes(data[12:end])
        if name[-1] or 0 in name[:-1]:
            raise WireError("the sender's name must hold one NUL, at its end", field="sender")
        sender = name[:-1].decode("utf-8", "surrogateescape")
        if carrier != "mcast":
            return cls(carrier=carrier, sender=sender), end
        group = (str(ipaddress.IPv4Address(bytes(data[end : end + 4]))), struct.unpack_from(">H", data, end + 4)[0])
        return cls(carrier=carrier, sender=sender, group=group), end + 6


# -- messages ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Command:
    """The port command header: what a message is, and its envelope."""

    kind: str
    """``D`` data, ``d`` data that wants a reply, ``a`` administration, or a text command: ``q`` quit, ``/name`` add an
    output, ``!name`` and ``~name`` remove an output or an input, ``r`` reverse, ``*`` describe, ``i`` and others."""
    envelope: str | None = None
    """Text behind ``D`` or ``d``: usually a stamp, ``280 1795221787.22998``."""

    @property
    def wants_reply(self) -> bool:
        """Whether the sender waits for a reply."""
        return self.kind in ("d", "a")

    def encode(self) -> bytes:
        """Return the bytes.

        Raises:
            WireError: the text is empty, too long or holds a NUL.
        """
        if self.envelope is None and self.kind in ("D", "d", "a"):
            return b"\0\0\0\0~" + self.kind.encode() + b"\0\1"
        if self.envelope is not None and self.kind not in ("D", "d"):
            raise WireError(f"command {self.kind!r} has no envelope; only D and d have", field="envelope")
        line = self.kind if self.envelope is None else f"{self.kind} {self.envelope}"
        raw = line.encode("utf-8", "surrogateescape") + b"\0"
        if not self.kind or len(raw) > MAX_HEADER or 0 in raw[:-1]:
            raise WireError(f"a command must have 1 to {MAX_HEADER - 1} bytes and no NUL", field="kind")
        return _I32.pack(len(raw)) + b"~\0\0\1" + raw

    @classmethod
    def read(cls, data: bytes | memoryview) -> tuple[Command, int]:
        """Return the command at the beginning of the blocks, and where the payload begins.

        Raises:
            WireError: the bytes are no port command header.
        """
        if len(data) < 8:
            raise WireError(f"a port command header takes 8 bytes, the message has {len(data)}", field="header")
        size = _I32.unpack_from(data)[0]
        marker, letter = bytes(data[4:5]), bytes(data[5:6])
        if marker != b"~" or bytes(data[6:8]) != b"\0\1" or not 0 <= size <= MAX_HEADER:
            raise WireError(f"{bytes(data[:8])!r} is not a port command header", field="header")
        if letter != b"\0":
            if size or letter not in (b"D", b"d", b"a"):
                raise WireError(f"command {letter!r} with a text of {size} bytes; must be D, d or a", field="header")
            return cls(letter.decode()), 8
        raw = bytes(data[8 : 8 + size])
        if len(raw) != size or size < 2 or raw[-1] or 0 in raw[:-1]:
            raise WireError(f"a command of {size} bytes must be a text with one NUL, at its end", field="header")
        line = raw[:-1].decode("utf-8", "surrogateescape")
        if line[:2] in ("D ", "d "):
            return cls(line[0], line[2:]), 8 + size
        if line in ("D", "d", "a"):
            raise WireError(f"command {line!r} as a text without an envelope", field="header")
        return cls(line), 8 + size


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a binary connection."""

    command: Command
    """The port command header."""
    payload: bytes = b""
    """The bytes of the object that is sent."""
    blocks: tuple[int, ...] | None = field(default=None, compare=False)
    """Lengths of the blocks [bytes]; None for the header and the payload. They carry no meaning."""
    reply_blocks: int = field(default=1, compare=False)
    """Number of reply lengths in the index, all 0."""

    def encode(self) -> bytes:
        """Return the bytes, the index included.

        Raises:
            WireError: the blocks do not add up to the content, or exceed a limit.
        """
        head = self.command.encode()
        data = head + self.payload
        blocks = self.blocks
        if blocks is None:
            blocks = (len(head), len(self.payload)) if self.payload else (len(data),)
        if sum(blocks) != len(data) or len(data) > MAX_MESSAGE or min(blocks, default=0) < 0:
            raise WireError(f"blocks of {sum(blocks)} bytes for {len(data)}; must be the same, at most {MAX_MESSAGE}")
        if len(blocks) > 255 or not 0 <= self.reply_blocks <= 255:
            raise WireError(f"{len(blocks)} blocks and {self.reply_blocks} reply blocks; must be at most 255 each")
        index = bytes((len(blocks), self.reply_blocks)) + b"\xff" * 8
        lengths = struct.pack(f"<{len(blocks) + self.reply_blocks}i", *blocks, *([0] * self.reply_blocks))
        return encode_number(_INDEX) + index + lengths + data

    @classmethod
    def read(cls, data: bytes | bytearray | memoryview, at: int = 0) -> tuple[Message, int]:
        """Return the message that begins at a byte, and where it ends.

        Raises:
            Incomplete: more bytes are needed.
            WireError: the bytes are no message, or exceed a limit.
        """
        number = decode_number(data[at : at + 8])
        if number != _INDEX:
            raise WireError(f"YARP number {number} in front of a message; must be {_INDEX}", field="index")
        if len(data) < at + 18:
            raise Incomplete("the index of a message is not complete")
        n_in, n_out = data[at + 8], data[at + 9]
        if bytes(data[at + 10 : at + 18]) != b"\xff" * 8:
            raise WireError(f"{bytes(data[at + 10 : at + 18])!r} in the index; must be 8 bytes ff", field="index")
        begin = at + 18 + 4 * (n_in + n_out)
        if len(data) < begin:
            raise Incomplete("the block lengths of a message are not complete")
        lengths = struct.unpack_from(f"<{n_in + n_out}i", data, at + 18)
        blocks = lengths[:n_in]
        size = sum(blocks)
        if min(blocks, default=0) < 0 or size > MAX_MESSAGE:
            raise WireError(f"a message of {n_in} blocks, {size} bytes; must be at most {MAX_MESSAGE}", field="index")
        if any(lengths[n_in:]):
            raise WireError("reply blocks of a message must have length 0", field="index")
        if len(data) < begin + size:
            raise Incomplete(f"a message of {size} bytes is not complete")
        content = bytes(data[begin : begin + size])
        command, end = Command.read(content)
        payload = content[end:]
        plain = blocks == ((end, len(payload)) if payload else (end,))
        return cls(command, payload, None if plain else blocks, n_out), begin + size


class Framer:
    """Cuts the stream of a binary connection into messages; feed it what a socket gives.

    Args:
        limit: longest message [bytes].
    """

    __slots__ = ("_buffer", "limit")

    def __init__(self, limit: int = MAX_MESSAGE + 18 + 4 * 510) -> None:
        self._buffer = bytearray()
        self.limit = limit

    @property
    def pending(self) -> int:
        """Bytes of a message that is not complete yet."""
        return len(self._buffer)

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the messages that are complete.

        Raises:
            WireError: the bytes are no messages, or a message exceeds the limit; the stream is then lost.
        """
        self._buffer += data
        at = 0
        try:
            while at < len(self._buffer):
                message, at = Message.read(self._buffer, at)
                yield message
        except Incomplete:
            if len(self._buffer) - at > self.limit:
                raise WireError(f"a message of more than {self.limit} bytes") from None
        finally:
            del self._buffer[:at]


# -- datagrams -----------------------------------------------------------------------------------------------------


def encode_datagrams(data: bytes, size: int = MAX_DATAGRAM) -> list[bytes]:
    """Return the datagrams of a message: CRC-32 of the content, number of the packet, content.

    Args:
        data: the bytes of the message, its index included.
        size: largest datagram [bytes], its header of 8 bytes included.

    Raises:
        WireError: the message needs more than `MAX_PARTS` datagrams.
    """
    room = size - 8
    if not 0 < room <= MAX_DATAGRAM - 8:
        raise WireError(f"datagrams of {size} bytes; must be 9 to {MAX_DATAGRAM}")
    parts = [data[at : at + room] for at in range(0, len(data), room)]
    if len(parts) > MAX_PARTS:
        raise WireError(f"a message of {len(data)} bytes needs {len(parts)} datagrams; must be at most {MAX_PARTS}")
    return [_PACKET.pack(zlib.crc32(part), code) + part for code, part in enumerate(parts)]


def decode_datagram(datagram: bytes) -> tuple[int, bytes] | None:
    """Return the number of a packet within its message and its content; None for a packet that wakes the receiver.

    Raises:
        WireError: the datagram is too short or its CRC is wrong.
    """
    if len(datagram) < 8:
        raise WireError(f"a datagram of {len(datagram)} bytes; must have a header of 8", field="size")
    crc, code = _PACKET.unpack_from(datagram)
    if code == -1:
        return None
    content = datagram[8:]
    if zlib.crc32(content) != crc:
        raise WireError(f"packet {code} of {len(content)} bytes has CRC {zlib.crc32(content):08x}, not {crc:08x}")
    if not 0 <= code < MAX_PARTS:
        raise WireError(f"packet {code}; must be 0 to {MAX_PARTS - 1}", field="code")
    return code, content


class DatagramAssembler:
    """Puts the datagrams of a udp or mcast connection together to messages.

    A wrong CRC, a missing packet or bytes that are no message drop everything up to the next packet 0, as YARP does.
    """

    __slots__ = ("_framer", "_next", "dropped")

    def __init__(self) -> None:
        self._framer = Framer()
        self._next = 0
        self.dropped = 0
        """Datagrams that were not used."""

    def feed(self, datagram: bytes) -> list[Message]:
        """Return the messages that a datagram completes; none of them is lost by what stands behind it."""
        messages: list[Message] = []
        try:
            part = decode_datagram(datagram)
            if part is None:
                return messages
            code, content = part
            if code == 0:
                self._framer, self._next = Framer(), 0
            if code != self._next:
                raise WireError(f"packet {code} where {self._next} must be")
            self._next += 1
            messages.extend(self._framer.feed(content))
        except WireError:
            self.dropped += 1
            self._framer, self._next = Framer(), 0
        return messages


# -- text ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextHello:
    """The first line of a connection of text, ``CONNECT name`` or ``CONNACK name``, answered by ``Welcome name``."""

    sender: str
    """Name of the initiator; anonymous without a slash in front."""
    acknowledged: bool = True
    """Whether every line is answered by ``<ACK>`` behind its reply."""

    def encode(self) -> bytes:
        """Return the line."""
        return _line(f"{'CONNACK' if self.acknowledged else 'CONNECT'} {self.sender}")

    @property
    def welcome(self) -> bytes:
        """The acceptor's answer."""
        return _line(f"Welcome {self.sender}")

    @classmethod
    def decode(cls, line: str) -> TextHello:
        """Return the hello of a line, its end taken off.

        Raises:
            WireError: the line is no hello, or the name is too long.
        """
        word, _, sender = line.partition(" ")
        if word not in ("CONNECT", "CONNACK") or not sender or len(sender) > MAX_NAME:
            raise WireError(f"{line[:80]!r} does not open a text connection; must be CONNECT or CONNACK and a name")
        return cls(sender, word == "CONNACK")


@dataclass(frozen=True, slots=True)
class TextMessage:
    """One command of a connection of text."""

    command: str
    """``d`` data, ``D`` or ``do`` data without a reply, ``a`` administration, ``*`` describe, ``q`` quit, ``?`` help,
    ``/port``, ``!/port``, ``~/port``, or ``D`` and an envelope."""
    body: str | None = None
    """Text of the Bottle: for data and administration only."""

    @staticmethod
    def has_body(command: str) -> bool:
        """Return whether a line with a Bottle follows a command."""
        return command.split(" ", 1)[0] in ("d", "D", "do", "a")

    @property
    def wants_reply(self) -> bool:
        """Whether the sender waits for the text of a Bottle."""
        return self.command in ("d", "a")

    def encode(self) -> bytes:
        """Return the lines.

        Raises:
            WireError: the command needs a body that is not given, or the other way round.
        """
        if self.has_body(self.command) != (self.body is not None):
            raise WireError(f"command {self.command!r} must{'' if self.body is None else ' not'} have a body")
        return _line(self.command) + (b"" if self.body is None else _line(self.body))


def _line(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape") + b"\r\n"


class LineFramer:
    r"""Cuts a stream of text into lines and commands; lines end in ``\n`` or ``\r\n``.

    Args:
        limit: longest line [bytes].
    """

    __slots__ = ("_body", "_buffer", "_command", "_lines", "limit")

    def __init__(self, limit: int = MAX_TEXT) -> None:
        self._buffer = bytearray()
        self._command: str | None = None
        self._body = ""
        self._lines = 0
        self.limit = limit

    @property
    def pending(self) -> int:
        """Bytes and characters of a command that is not complete yet."""
        return len(self._buffer) + len(self._body) + (self._command is not None)

    def lines(self, data: bytes) -> Iterator[str]:
        """Yield the lines that are complete, without their ends.

        Raises:
            WireError: a line exceeds the limit.
        """
        self._buffer += data
        while (end := self._buffer.find(b"\n")) >= 0:
            if end > self.limit:
                break
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            yield line.removesuffix(b"\r").decode("utf-8", "surrogateescape")
        if len(self._buffer) > self.limit:
            raise WireError(f"a line of more than {self.limit} bytes")

    def feed(self, data: bytes) -> Iterator[TextMessage]:
        """Yield the commands that are complete; a line with an open bracket or quote goes on in the next.

        Raises:
            WireError: a line or a body exceeds the limit.
        """
        for line in self.lines(data):
            if self._command is None:
                if TextMessage.has_body(line):
                    self._command = line
                elif line:
                    yield TextMessage(line)
                continue
            self._body += line
            self._lines += 1
            if len(self._body) > self.limit or self._lines > MAX_LINES:
                raise WireError(f"a Bottle of more than {self.limit} characters or {MAX_LINES} lines")
            if is_open(self._body):
                self._body = self._body.removesuffix("\\") + "\n"
                continue
            message = TextMessage(self._command, self._body)
            self._command, self._body, self._lines = None, "", 0
            yield message
