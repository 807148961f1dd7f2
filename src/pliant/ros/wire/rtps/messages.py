"""Messages of RTPS: a header and submessages (OMG DDSI-RTPS 2.3, chapters 8.3 and 9.4).

Identifiers are bytes in the order of the wire: 12 of a participant's prefix, 4 of an entity, 16 of both together.
Sequence numbers count from 1. Everything is written little endian unless asked otherwise; both orders are read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pliant.base.errors import WireError

SET_LIMIT = 256
"""Most numbers in a set of sequence numbers (9.4.2.6)."""
UNKNOWN_ENTITY = bytes(4)
UNKNOWN_PREFIX = bytes(12)
SENTINEL = 0x0001
PAD_PARAMETER = 0x0000
PARAMETER_LIMIT = 1000
"""Most parameters that are read from one list."""

Parameters = tuple[tuple[int, bytes], ...]
"""Parameters of a list: (identifier, value)."""

_PAD, _ACKNACK, _HEARTBEAT, _GAP, _INFO_TS = 0x01, 0x06, 0x07, 0x08, 0x09
_INFO_SRC, _INFO_DST = 0x0C, 0x0E
_NACK_FRAG, _DATA, _DATA_FRAG = 0x12, 0x15, 0x16
_FRACTION = 1 << 32
_BILLION = 1_000_000_000
_INVALID_TIME = (0xFFFFFFFF, 0xFFFFFFFF)
_DATA_HEAD = {order: struct.Struct(f"{order}BBHHH4s4siI") for order in "<>"}
"""Kind, flags, length, extra flags, octets to the inline parameters, reader, writer, sequence number."""
_HEARTBEAT_FORM = {order: struct.Struct(f"{order}BBH4s4siIiII") for order in "<>"}
"""Kind, flags, length, reader, writer, first and last sequence number, count."""
_DATA_BODY = {order: struct.Struct(f"{order}HH4s4siI") for order in "<>"}
_HEARTBEAT_BODY = {order: struct.Struct(f"{order}4s4siIiII") for order in "<>"}
_LENGTH = {order: struct.Struct(f"{order}H") for order in "<>"}
_PADDING = (b"", bytes(1), bytes(2), bytes(3))


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Who sends."""

    prefix: bytes
    """Identifier of the sending participant, 12 bytes."""
    vendor: bytes = b"\0\0"
    """Who made the sender (1.16 is Cyclone DDS, 1.15 Fast DDS); zero where no number was assigned."""
    version: tuple[int, int] = (2, 3)
    """Version of the protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoTimestamp:
    """When the data that follow were written."""

    time_ns: int | None
    """Wall time [ns]; None takes the time of earlier data back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoDestination:
    """Whom the submessages that follow are for."""

    prefix: bytes
    """A participant; zeros for everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoSource:
    """From whom the submessages that follow are."""

    prefix: bytes
    """The participant."""
    vendor: bytes = b"\0\0"
    """Its maker."""
    version: tuple[int, int] = (2, 3)
    """Its version of the protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfSample:
    """Common fields of a sample and its fragments."""

    writer: bytes
    """Entity that wrote it."""
    sequence: int
    """Number of the sample."""
    reader: bytes = UNKNOWN_ENTITY
    """Entity that shall read it; zeros for every reader that is matched."""
    inline: Parameters = ()
    """Quality of service beside the sample."""
    key: bool = False
    """Whether the sample is a key alone, as when an instance is disposed of."""
    little: bool = True
    """Byte order of the numbers in ``inline``, as read; what is written has the order of its message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Data(_OfSample):
    """One sample."""

    payload: bytes | None = None
    """Encapsulation and content; None where there is neither data nor key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFrag(_OfSample):
    """Some fragments of a sample."""

    first: int
    """Number of the first fragment here, from 1."""
    count: int
    """How many fragments are here."""
    fragment_size: int
    """Length of each fragment but the last [bytes]."""
    sample_size: int
    """Length of the whole sample [bytes]."""
    payload: bytes
    """The fragments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """Heartbeat: the samples that a writer has."""

    writer: bytes
    """The writer."""
    first: int
    """First number it has."""
    last: int
    """Last number it has; ``first - 1`` if it has none."""
    count: int
    """Counts heartbeats; older ones are stale."""
    reader: bytes = UNKNOWN_ENTITY
    """Whom it asks."""
    final: bool = False
    """Whether no answer is needed."""
    liveliness: bool = False
    """Whether it says that the writer's application lives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AckNack:
    """Acknowledgement: the samples that a reader has, and those that it lacks."""

    reader: bytes
    """The reader."""
    writer: bytes
    """The writer."""
    base: int
    """Everything below is there."""
    missing: tuple[int, ...] = ()
    """Numbers that are lacking, from ``base`` on, ascending, at most 256 apart."""
    count: int = 0
    """Counts answers; older ones are stale."""
    final: bool = True
    """Whether the reader needs no heartbeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Numbers that do not matter to a reader."""

    reader: bytes
    """The reader."""
    writer: bytes
    """The writer."""
    start: int
    """First number that does not matter."""
    base: int
    """All numbers from ``start`` to before this one do not matter."""
    others: tuple[int, ...] = ()
    """Further ones, from ``base`` on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NackFrag:
    """Fragments that a reader lacks."""

    reader: bytes
    """The reader."""
    writer: bytes
    """The writer."""
    sequence: int
    """Number of the sample."""
    missing: tuple[int, ...]
    """Numbers of the fragments, from 1, ascending."""
    count: int = 0
    """Counts answers."""


Submessage = InfoTimestamp | InfoDestination | InfoSource | Data | DataFrag | Heartbeat | AckNack | Gap | NackFrag
"""Every kind that is spoken; others are passed over."""


# ---------------------------------------------------------------------- encode
def _entity(value: bytes) -> bytes:
    if len(value) != 4:
        raise WireError(f"an entity of {len(value)} bytes; must be 4")
    return value


def _number(value: int, order: str) -> bytes:
    if not -1 << 63 <= value < 1 << 63:
        raise WireError(f"the sequence number {value} does not fit 64 bits")
    return struct.pack(f"{order}iI", value >> 32, value & 0xFFFFFFFF)


def _bitmap(base: int, members: Iterable[int], order: str) -> bytes:
    """Return length and bits of a set, its base left out."""
    offsets = sorted(m - base for m in members)
    if offsets and not 0 <= offsets[0] <= offsets[-1] < SET_LIMIT:
        raise WireError(f"a set from {base} on has {offsets[-1] + base}; must be {SET_LIMIT} numbers from its base on")
    bits = offsets[-1] + 1 if offsets else 0
    words = [0] * (-(-bits // 32))
    for offset in offsets:
        words[offset // 32] |= 0x80000000 >> offset % 32
    return struct.pack(f"{order}I{len(words)}I", bits, *words)


def write_parameters(parameters: Iterable[tuple[int, bytes]], order: str = "<") -> bytes:
    """Return a parameter list with its end; values are padded to multiples of four."""
    out = bytearray()
    for identifier, value in parameters:
        padded = value + bytes(-len(value) % 4)
        if len(padded) > 0xFFFF:
            raise WireError(f"the parameter 0x{identifier:04x} has {len(value)} bytes; must be at most 65532")
        out += struct.pack(f"{order}HH", identifier, len(padded)) + padded
    return bytes(out + struct.pack(f"{order}HH", SENTINEL, 0))


def data_submessage(
    reader: bytes,
    writer: bytes,
    sequence: int,
    payload: bytes | None,
    *,
    inline: Parameters = (),
    key: bool = False,
    order: str = "<",
) -> bytes:
    """Return a DATA submessage; a writer calls this for each sample and each reader."""
    beside = write_parameters(inline, order) if inline else b""
    content = payload or b""
    flags = (0x02 if inline else 0) | (0 if payload is None else 0x08 if key else 0x04) | (order == "<")
    size = 20 + len(beside) + len(content)
    padding = _PADDING[-size % 4]
    length = size + len(padding)
    # A length of zero says that the last submessage goes to the end: that of one longer than 16 bits.
    head = _DATA_HEAD[order].pack(
        _DATA, flags, length if length <= 0xFFFF else 0, 0, 16, reader, writer, sequence >> 32, sequence & 0xFFFFFFFF
    )
    return b"".join((head, beside, content, padding))


def heartbeat_submessage(
    reader: bytes,
    writer: bytes,
    first: int,
    last: int,
    count: int,
    *,
    final: bool,
    liveliness: bool = False,
    order: str = "<",
) -> bytes:
    """Return a HEARTBEAT submessage; a writer adds one to each sample."""
    flags = (0x02 if final else 0) | (0x04 if liveliness else 0) | (order == "<")
    return _HEARTBEAT_FORM[order].pack(
        _HEARTBEAT, flags, 28, reader, writer, first >> 32, first & 0xFFFFFFFF, last >> 32, last & 0xFFFFFFFF,
        count & 0xFFFFFFFF,
    )  # fmt: skip


def _body(message: Submessage, order: str) -> tuple[int, int, bytes]:
    """Return kind, flags and content of a submessage."""
    match message:
        case InfoTimestamp():
            if message.time_ns is None:
                return _INFO_TS, 0x02, b""
            sec, ns = divmod(message.time_ns, _BILLION)
            return _INFO_TS, 0, struct.pack(f"{order}II", sec & 0xFFFFFFFF, ns * _FRACTION // _BILLION)
        case InfoDestination():
            return _INFO_DST, 0, message.prefix
        case InfoSource():
            return _INFO_SRC, 0, bytes(4) + bytes(message.version) + message.vendor + message.prefix
        case DataFrag():
            flags = (0x02 if message.inline else 0) | (0x04 if message.key else 0)
            body = struct.pack(f"{order}HH", 0, 28) + _entity(message.reader) + _entity(message.writer)
            body += _number(message.sequence, order)
            body += struct.pack(
                f"{order}IHHI", message.first, message.count, message.fragment_size, message.sample_size
            )
            if message.inline:
                body += write_parameters(message.inline, order)
            return _DATA_FRAG, flags, body + message.payload
        case AckNack():
            body = _entity(message.reader) + _entity(message.writer) + _number(message.base, order)
            body += _bitmap(message.base, message.missing, order) + struct.pack(f"{order}I", message.count)
            return _ACKNACK, 0x02 if message.final else 0, body
        case Gap():
            body = _entity(message.reader) + _entity(message.writer) + _number(message.start, order)
            return _GAP, 0, body + _number(message.base, order) + _bitmap(message.base, message.others, order)
        case NackFrag():
            base = message.missing[0] if message.missing else 1
            body = _entity(message.reader) + _entity(message.writer) + _number(message.sequence, order)
            body += struct.pack(f"{order}I", base) + _bitmap(base, message.missing, order)
            return _NACK_FRAG, 0, body + struct.pack(f"{order}I", message.count)
        case _:
            raise WireError(f"{message} is not a submessage of this kind")


def encode_submessage(message: Submessage, order: str = "<") -> bytes:
    """Return a submessage in a byte order, "<" little or ">" big endian."""
    match message:
        case Data():
            return data_submessage(
                _entity(message.reader), _entity(message.writer), message.sequence, message.payload,
                inline=message.inline, key=message.key, order=order,
            )  # fmt: skip
        case Heartbeat():
            return heartbeat_submessage(
                _entity(message.reader), _entity(message.writer), message.first, message.last, message.count,
                final=message.final, liveliness=message.liveliness, order=order,
            )  # fmt: skip
    kind, flags, body = _body(message, order)
    body += bytes(-len(body) % 4)
    length = len(body) if len(body) <= 0xFFFF else 0
    return struct.pack(f"{order}BBH", kind, flags | (order == "<"), length) + body


def encode_header(header: Header) -> bytes:
    """Return the 20 bytes that a message begins with.

    Raises:
        WireError: an identifier of another length.
    """
    if len(header.prefix) != 12 or len(header.vendor) != 2:
        raise WireError(
            f"a prefix of {len(header.prefix)} and a vendor of {len(header.vendor)} bytes; they must have 12 and 2"
        )
    return b"RTPS" + bytes(header.version) + header.vendor + header.prefix


def encode_message(header: Header, submessages: Iterable[Submessage], *, little: bool = True) -> bytes:
    """Return a message.

    Args:
        header: who sends.
        submessages: what is said.
        little: byte order of the submessages.

    Raises:
        WireError: an identifier of another length, a number that does not fit.
    """
    order = "<" if little else ">"
    parts = [encode_header(header)]
    for message in submessages:
        try:
            parts.append(encode_submessage(message, order))
        except struct.error as error:
            raise WireError(f"a number does not fit in {message}: {error}") from None
    return b"".join(parts)


# ---------------------------------------------------------------------- decode
def read_parameters(view: bytes | memoryview, order: str, at: int = 0) -> tuple[Parameters, int]:
    """Return the parameters of a list, and where it ends.

    Raises:
        WireError: the list has no end, or too many parameters.
    """
    found: list[tuple[int, bytes]] = []
    while True:
        if at + 4 > len(view):
            raise WireError(f"a parameter list of {len(view)} bytes has no end")
        identifier, length = struct.unpack_from(f"{order}HH", view, at)
        at += 4
        if identifier == SENTINEL:
            return tuple(found), at
        if at + length > len(view):
            raise WireError(
                f"the parameter 0x{identifier:04x} has {length} bytes at {at}, the list ends at {len(view)}"
            )
        if identifier != PAD_PARAMETER:
            if len(found) >= PARAMETER_LIMIT:
                raise WireError(f"a parameter list has more than {PARAMETER_LIMIT} parameters")
            found.append((identifier, bytes(view[at : at + length])))
        at += length


def _sequence(high: int, low: int, least: int = 1) -> int:
    value = (high << 32) | low
    if value < least:
        raise WireError(f"the sequence number is {value}; it must be >= {least}")
    return value


class _Cursor:
    """Reads the content of one submessage."""

    __slots__ = ("at", "order", "view")

    def __init__(self, view: memoryview, order: str) -> None:
        self.view = view
        self.order = order
        self.at = 0

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.view):
            raise WireError(f"a submessage of {len(self.view)} bytes ends before byte {end}")
        found = bytes(self.view[self.at : end])
        self.at = end
        return found

    def unpack(self, letters: str) -> tuple[int, ...]:
        form = self.order + letters
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def read(self, forms: dict[str, struct.Struct]) -> tuple[Any, ...]:
        """Return the values of a form that stands for each byte order."""
        form, at = forms[self.order], self.at
        if at + form.size > len(self.view):
            raise WireError(f"a submessage of {len(self.view)} bytes ends before byte {at + form.size}")
        self.at = at + form.size
        return form.unpack_from(self.view, at)

    def number(self, least: int = 1) -> int:
        high, low = self.unpack("iI")
        return _sequence(high, low, least)

    def members(self, base: int) -> tuple[int, ...]:
        (bits,) = self.unpack("I")
        if bits > SET_LIMIT:
            raise WireError(f"a set of {bits} numbers; must be at most {SET_LIMIT}")
        words = self.unpack(f"{-(-bits // 32)}I")
        return tuple(base + i for i in range(bits) if words[i // 32] & (0x80000000 >> i % 32))

    def inline(self) -> Parameters:
        found, self.at = read_parameters(self.view, self.order, self.at)
        return found

    def skip_to_inline(self, start: int, octets: int) -> None:
        """Go on where the quality of service begins: ``octets`` behind the field that says so."""
        if start + octets < self.at or start + octets > len(self.view):
            raise WireError(f"the inline parameters begin at {start + octets} of {len(self.view)} bytes")
        self.at = start + octets

    def rest(self) -> bytes:
        return self.take(len(self.view) - self.at)


def _decode(kind: int, flags: int, cursor: _Cursor) -> Submessage | None:
    match kind:
        case 0x09:
            if flags & 0x02:
                return InfoTimestamp(time_ns=None)
            sec, fraction = cursor.unpack("II")
            if (sec, fraction) == _INVALID_TIME:
                return InfoTimestamp(time_ns=None)
            # Rounded up, so that what was written comes back.
            return InfoTimestamp(time_ns=sec * _BILLION + -(-fraction * _BILLION // _FRACTION))
        case 0x0E:
            return InfoDestination(prefix=cursor.take(12))
        case 0x0C:
            cursor.take(4)
            major, minor = cursor.take(2)
            return InfoSource(version=(major, minor), vendor=cursor.take(2), prefix=cursor.take(12))
        case 0x15:
            _, octets, reader, writer, high, low = cursor.read(_DATA_BODY)
            sequence = _sequence(high, low)
            if octets != 16:
                cursor.skip_to_inline(4, octets)
            inline = cursor.inline() if flags & 0x02 else ()
            payload = cursor.rest() if flags & 0x0C else None
            return Data(
                reader=reader, writer=writer, sequence=sequence, inline=inline, payload=payload,
                key=bool(flags & 0x08), little=bool(flags & 0x01),
            )  # fmt: skip
        case 0x16:
            _, octets = cursor.unpack("HH")
            start = cursor.at
            reader, writer, sequence = cursor.take(4), cursor.take(4), cursor.number()
            first, count, size, whole = cursor.unpack("IHHI")
            cursor.skip_to_inline(start, octets)
            inline = cursor.inline() if flags & 0x02 else ()
            if not first or not count or not size:
                raise WireError(f"fragment {first}, {count} of them, {size} bytes each; each must be >= 1")
            return DataFrag(
                reader=reader, writer=writer, sequence=sequence, first=first, count=count, fragment_size=size,
                sample_size=whole, inline=inline, payload=cursor.rest(), key=bool(flags & 0x04),
                little=bool(flags & 0x01),
            )  # fmt: skip
        case 0x07:
            reader, writer, high, low, last_high, last_low, count = cursor.read(_HEARTBEAT_BODY)
            first, last = _sequence(high, low), _sequence(last_high, last_low, 0)
            if last < first - 1:
                raise WireError(
                    f"a heartbeat from {first} to {last}; it must begin at >= 1 and not end before its first"
                )
            return Heartbeat(
                reader=reader, writer=writer, first=first, last=last, count=count, final=bool(flags & 0x02),
                liveliness=bool(flags & 0x04),
            )  # fmt: skip
        case 0x06:
            reader, writer, base = cursor.take(4), cursor.take(4), cursor.number(0)  # 0: nothing is known yet
            missing = cursor.members(base)
            (count,) = cursor.unpack("I")
            return AckNack(
                reader=reader, writer=writer, base=base, missing=missing, count=count, final=bool(flags & 0x02)
            )
        case 0x08:
            reader, writer, start, base = cursor.take(4), cursor.take(4), cursor.number(), cursor.number()
            if base < start:
                raise WireError(f"a gap from {start} to {base}; the end must not be before the start")
            return Gap(reader=reader, writer=writer, start=start, base=base, others=cursor.members(base))
        case 0x12:
            reader, writer, sequence = cursor.take(4), cursor.take(4), cursor.number()
            (base,) = cursor.unpack("I")
            missing = cursor.members(base)
            (count,) = cursor.unpack("I")
            return NackFrag(reader=reader, writer=writer, sequence=sequence, missing=missing, count=count)
    return None


def _split(view: memoryview) -> Iterator[tuple[int, int, memoryview]]:
    at = 20
    while at < len(view):
        if at + 4 > len(view):
            raise WireError(f"a message of {len(view)} bytes ends in the header of a submessage at {at}")
        kind, flags = view[at], view[at + 1]
        (length,) = _LENGTH["<" if flags & 0x01 else ">"].unpack_from(view, at + 2)
        at += 4
        if length == 0 and kind not in (_PAD, _INFO_TS):
            length = len(view) - at
        if at + length > len(view):
            raise WireError(f"a submessage 0x{kind:02x} of {length} bytes at {at}, the message ends at {len(view)}")
        yield kind, flags, view[at : at + length]
        at += length


def decode_message(datagram: bytes | memoryview) -> tuple[Header, list[Submessage]]:
    """Return the header and the submessages that are known; others are passed over.

    Raises:
        WireError: no RTPS, another major version, a submessage that ends too early or has numbers that cannot be.
    """
    view = memoryview(datagram)
    if len(view) < 20 or bytes(view[:4]) != b"RTPS":
        raise WireError(f"{len(view)} bytes that begin with {bytes(view[:4]).hex()!r} are not an RTPS message")
    if view[4] != 2:
        raise WireError(f"version {view[4]}.{view[5]} of RTPS; must be 2")
    header = Header(version=(view[4], view[5]), vendor=bytes(view[6:8]), prefix=bytes(view[8:20]))
    found = []
    for kind, flags, body in _split(view):
        message = _decode(kind, flags, _Cursor(body, "<" if flags & 0x01 else ">"))
        if message is not None:
            found.append(message)
    return header, found
