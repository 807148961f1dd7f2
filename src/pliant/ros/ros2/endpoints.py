"""Reliable writers and readers of RTPS, without sockets and clocks (OMG DDSI-RTPS 2.3, 8.4.9 and 8.4.12).

A writer keeps its last samples and knows how far every reader has come; a reader knows which number it expects next
from every writer. Both return what has to be sent, as datagrams with their addresses. Times are passed in.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from dataclasses import dataclass, field

from pliant.ros.wire.rtps.messages import (
    AckNack,
    Data,
    DataFrag,
    Gap,
    Header,
    Heartbeat,
    InfoDestination,
    NackFrag,
    Parameters,
    Submessage,
    data_submessage,
    encode_message,
    encode_submessage,
    heartbeat_submessage,
)
from pliant.ros.wire.rtps.parameters import EndpointData

FRAGMENT_SIZE = 60_000
"""Longer samples are sent in fragments of this length [bytes]: a datagram has at most 65507."""
HISTORY_BYTES = 32 * 2**20
"""Bytes of samples that a writer keeps, whatever its depth; images reach this before their number."""
SAMPLE_LIMIT = 1 << 22
"""Longest sample that is put together from fragments [bytes]."""
FRAGMENTS_LIMIT = 8192
"""Most fragments of a sample: those of Cyclone DDS have 1344 bytes, those of Fast DDS up to 64 KiB."""
ASSEMBLIES = 4
"""Samples of one writer that are put together at the same time."""
WAITING_BYTES = 4 * SAMPLE_LIMIT
"""Bytes that wait in one reader, of all writers together, for an earlier sample or for further fragments."""
HELD_LIMIT = 512
"""Samples of one writer that wait for an earlier one."""
WINDOW = 255
"""How many numbers one answer asks for."""
FIRST_BEAT, LAST_BEAT = 0.05, 2.0
"""Shortest and longest time between two heartbeats to a reader that does not answer [s]."""
GREETING = 0.1
"""How often a writer that has sent no heartbeat is asked for one [s]."""
PATIENCE = 1.0
"""How long samples wait for the first heartbeat of their writer [s]."""
SEEN_LIMIT = 256
"""Writers of a reader, and readers of a writer, whose identifiers are kept."""
READER_KINDS = (0x04, 0x07)
"""Last bytes of identifiers of readers that programs make, without and with a key (RTPS 2.5, table 9.1)."""
NACK_PERIOD = 0.01
"""Shortest time between two answers that a late sample causes [s]."""
QUIET = 0.03
"""Time after a question in which no other heartbeat follows [s]: Fast DDS answers after 5 ms, and not at all if the
last heartbeat by then wants no answer."""

Address = tuple[str, int]
"""IPv4 address and port."""
Outgoing = tuple[Address, bytes]
"""Where a datagram goes, and its bytes."""
Delivered = tuple[bytes, Data]
"""Identifier of the writer, and what it wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Sample that a reader received."""

    payload: bytes
    """Encapsulation and content."""
    writer: bytes
    """Identifier of the writer, 16 bytes."""
    sequence: int
    """Its number."""
    related: tuple[bytes, int] | None
    """Writer or reader, and number, of the sample that this one belongs to."""
    vendor: bytes
    """Who made the writer's participant."""


@dataclass(slots=True, kw_only=True)
class ReaderProxy:
    """A reader elsewhere, as its writer sees it."""

    guid: bytes
    """Its identifier."""
    address: Address
    """Where it listens."""
    reliable: bool = True
    """Whether it wants everything."""
    start: int = 1
    """First number that matters to it."""
    acknowledged: int = 0
    """Everything up to here is there, or does not matter."""
    count: int = -1
    """Its last answer; older ones are stale."""
    quiet_until: float = 0.0
    """When a heartbeat may follow the question that was asked last [s]."""
    beat_at: float = 0.0
    """When it is asked next [s]."""
    beat_period: float = FIRST_BEAT
    """Time to the question after that [s]."""
    head: bytes = b""
    """First bytes of every datagram to it; its writer sets them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    sequence: int
    payload: bytes
    inline: Parameters
    only: frozenset[bytes] | None
    key: bool


def _newer(count: int, last: int) -> bool:
    """Whether a count that wraps at 32 bits is newer."""
    return last < 0 or 0 < (count - last) & 0xFFFFFFFF < 0x80000000


class Writer:
    """A writer.

    Args:
        guid: its identifier.
        reliable: whether samples are sent again until they have arrived.
        transient_local: whether readers that come later get what is kept.
        depth: how many samples are kept; 0 for all.
        data: what is announced of it; None for a writer of discovery.
    """

    def __init__(
        self,
        guid: bytes,
        *,
        reliable: bool = True,
        transient_local: bool = False,
        depth: int = 100,
        data: EndpointData | None = None,
    ) -> None:
        self.guid = guid
        self.entity = guid[12:]
        self.data = data or EndpointData(guid=guid, topic="", type="")
        """What is announced of it."""
        self.seen: dict[bytes, None] = {}
        """Identifiers of the readers there are and were."""
        self.reliable = reliable
        self.transient_local = transient_local
        self.depth = depth
        self.last = 0
        self.proxies: dict[bytes, ReaderProxy] = {}
        self.lost = 0
        """Samples that left the history before every reliable reader had acknowledged them, and cannot be sent again;
        a latched sample is meant to be replaced by the next."""
        self.periods = 0
        """How often a reader came where there was none."""
        self._kept: OrderedDict[int, _Change] = OrderedDict()
        self._kept_bytes = 0
        self._beats = 0

    def add(self, proxy: ReaderProxy, now: float) -> list[Outgoing]:
        """Serve a reader from now on."""
        proxy.start = self._first() if self.transient_local else self.last + 1
        proxy.acknowledged = proxy.start - 1
        proxy.reliable = proxy.reliable and self.reliable
        proxy.head = _head(self.guid, proxy.guid)
        self.periods += not self.proxies
        self.proxies[proxy.guid] = proxy
        if len(self.seen) < SEEN_LIMIT:
            self.seen[proxy.guid] = None
        out: list[Outgoing] = []
        for change in self._kept.values():
            if change.sequence >= proxy.start and (change.only is None or proxy.guid[:12] in change.only):
                out += self._data(proxy, change)
        if proxy.reliable:
            # Also where there is nothing yet: a reader takes this for the sign that it is matched.
            out.append(self._out(proxy, self._beat(proxy, final=False)))
            self._delay(proxy, now)
        return out

    def remove(self, guid: bytes) -> None:
        """Forget a reader."""
        self.proxies.pop(guid, None)

    def write(
        self,
        payload: bytes,
        now: float,
        *,
        inline: Parameters = (),
        only: frozenset[bytes] | None = None,
        key: bool = False,
    ) -> list[Outgoing]:
        """Send a sample.

        Args:
            payload: encapsulation and content.
            now: time [s].
            inline: parameters beside it.
            only: prefixes of the participants that it is for; None for every reader. The others hear of a gap.
            key: whether the payload is a key alone.
        """
        self.last += 1
        change = _Change(sequence=self.last, payload=payload, inline=inline, only=only, key=key)
        self._kept[self.last] = change
        self._kept_bytes += len(payload)
        while len(self._kept) > 1 and (
            (self.depth and len(self._kept) > self.depth) or self._kept_bytes > HISTORY_BYTES
        ):
            gone, change_gone = self._kept.popitem(last=False)
            self._kept_bytes -= len(change_gone.payload)
            self.lost += not self.transient_local and any(
                p.reliable and p.start <= gone > p.acknowledged for p in self.proxies.values()
            )
        out: list[Outgoing] = []
        quarter = self.depth // 4  # a fast run fills the history between two calls of `tick`
        for proxy in self.proxies.values():
            if only is None or proxy.guid[:12] in only:
                out += self._data(proxy, change, beat=proxy.reliable and now >= proxy.quiet_until)
                if proxy.reliable and quarter and not (self.last - proxy.acknowledged) % quarter:
                    out.append(self._ask(proxy, now))
            elif proxy.reliable:
                out.append(self._out(proxy, self._gap(proxy, self.last, self.last)))
            if proxy.acknowledged == self.last - 1:  # else it is to be asked already
                proxy.beat_period = FIRST_BEAT
                self._delay(proxy, now)
        return out

    def reaches(self, client: bytes) -> bool:
        """Return whether a reader is matched, or, where another endpoint is named, any of its participant."""
        if client[-1] in READER_KINDS:
            return client in self.proxies
        return any(guid[:12] == client[:12] for guid in list(self.proxies))

    @property
    def slowest(self) -> int:
        """Number of the last sample that every reliable reader has acknowledged; without one the last of all."""
        return min((proxy.acknowledged for proxy in self.proxies.values() if proxy.reliable), default=self.last)

    def answer(self, prefix: bytes, message: AckNack, now: float) -> list[Outgoing]:
        """Return what a reader lacks."""
        proxy = self.proxies.get(prefix + message.reader)
        if proxy is None or not proxy.reliable or not _newer(message.count, proxy.count):
            return []
        proxy.count = message.count
        proxy.quiet_until = now
        if message.base > proxy.acknowledged + 1:
            proxy.acknowledged = min(message.base - 1, self.last)
            proxy.beat_period = FIRST_BEAT
        out: list[Outgoing] = []
        gaps: list[int] = []
        for sequence in message.missing:
            change = self._kept.get(sequence)
            if change is not None and sequence >= proxy.start and (change.only is None or prefix in change.only):
                out += self._data(proxy, change)
            elif sequence <= self.last:
                gaps.append(sequence)
        while gaps:
            start = end = gaps.pop(0)
            while gaps and gaps[0] == end + 1:
                end = gaps.pop(0)
            out.append(self._out(proxy, self._gap(proxy, start, end)))
        if message.missing or not message.final:
            out.append(self._out(proxy, self._beat(proxy, final=not message.missing)))
        self._delay(proxy, now)
        return out

    def answer_fragments(self, prefix: bytes, message: NackFrag) -> list[Outgoing]:
        """Return the fragments that a reader lacks."""
        proxy = self.proxies.get(prefix + message.reader)
        change = self._kept.get(message.sequence)
        if proxy is None or change is None or (change.only is not None and prefix not in change.only):
            return []
        found = self._data(proxy, change)
        return [found[number - 1] for number in message.missing if 0 < number <= len(found)]

    def tick(self, now: float) -> list[Outgoing]:
        """Ask the readers that have not said that everything is there."""
        out: list[Outgoing] = []
        for proxy in self.proxies.values():
            if proxy.reliable and proxy.acknowledged < self.last and now >= proxy.beat_at:
                out.append(self._ask(proxy, now))
                proxy.beat_period = min(LAST_BEAT, 2.0 * proxy.beat_period)
                self._delay(proxy, now)
        return out

    def _first(self) -> int:
        return next(iter(self._kept), self.last + 1)

    def _delay(self, proxy: ReaderProxy, now: float) -> None:
        proxy.beat_at = now + proxy.beat_period

    def _beat(self, proxy: ReaderProxy, *, final: bool) -> bytes:
        self._beats += 1
        first = min(max(self._first(), proxy.start), self.last + 1)
        return heartbeat_submessage(proxy.guid[12:], self.entity, first, self.last, self._beats, final=final)

    def _ask(self, proxy: ReaderProxy, now: float) -> Outgoing:
        """Ask a reader what it has, and leave it the time to answer."""
        proxy.quiet_until = now + QUIET
        return self._out(proxy, self._beat(proxy, final=False))

    def _gap(self, proxy: ReaderProxy, start: int, end: int) -> Gap:
        return Gap(reader=proxy.guid[12:], writer=self.entity, start=start, base=end + 1)

    @staticmethod
    def _out(proxy: ReaderProxy, said: bytes | Submessage) -> Outgoing:
        return proxy.address, proxy.head + (said if isinstance(said, bytes) else encode_submessage(said))

    def _data(self, proxy: ReaderProxy, change: _Change, *, beat: bool = False) -> list[Outgoing]:
        """Return the datagrams of a sample.

        A heartbeat rides along, so that a reader that lacks an earlier sample asks at once. It wants no answer: that
        would be one per sample; `tick` asks for one now and then. Only after fragments an answer is wanted at once.
        """
        reader, payload = proxy.guid[12:], change.payload
        if len(payload) <= FRAGMENT_SIZE:
            data = data_submessage(reader, self.entity, change.sequence, payload, inline=change.inline, key=change.key)
            return [(proxy.address, b"".join((proxy.head, data, self._beat(proxy, final=True) if beat else b"")))]
        out = [
            self._out(
                proxy,
                DataFrag(
                    reader=reader, writer=self.entity, sequence=change.sequence, first=at // FRAGMENT_SIZE + 1, count=1,
                    fragment_size=FRAGMENT_SIZE, sample_size=len(payload), payload=payload[at : at + FRAGMENT_SIZE],
                    inline=change.inline, key=change.key,
                ),
            )
            for at in range(0, len(payload), FRAGMENT_SIZE)
        ]  # fmt: skip
        if beat:
            out.append(self._out(proxy, self._beat(proxy, final=False)))
        return out


@dataclass(slots=True, kw_only=True)
class _Assembly:
    size: int
    whole: int
    parts: dict[int, bytes] = field(default_factory=dict)
    got: int = 0

    def lacking(self, most: int) -> tuple[int, ...]:
        """Return the first fragments that are not there, at most so many apart."""
        numbers = (n for n in range(1, -(-self.whole // self.size) + 1) if n not in self.parts)
        first = next(numbers, None)
        return () if first is None else (first, *itertools.takewhile(lambda n: n < first + most, numbers))


@dataclass(slots=True, kw_only=True)
class WriterProxy:
    """A writer elsewhere, as its reader sees it."""

    guid: bytes
    """Its identifier."""
    address: Address
    """Where it listens to answers."""
    reliable: bool = True
    """Whether what is lacking is asked for."""
    base_zero: bool = True
    """Whether a question for the first heartbeat has the base 0, as Fast DDS wants it; Cyclone DDS wants 1."""
    expected: int | None = None
    """Number that comes next; None as long as the writer has not said what it has."""
    held: dict[int, Data | None] = field(default_factory=dict)
    """Samples that wait for an earlier one; None where a number does not matter."""
    assemblies: OrderedDict[int, _Assembly] = field(default_factory=OrderedDict)
    """Samples of which some fragments are there."""
    count: int = -1
    """Its last heartbeat; older ones are stale."""
    answers: int = 0
    """Counts what was answered."""
    last: int = 0
    """Last number that it has."""
    since: float = 0.0
    """When it was met [s]."""
    asked_at: float = 0.0
    """When it was asked or answered last [s]."""
    lost: int = 0
    """Samples that it no longer had."""

    @property
    def waiting(self) -> int:
        """Bytes that wait for an earlier sample or for further fragments."""
        held = sum(len(data.payload) for data in self.held.values() if data is not None and data.payload)
        return held + sum(assembly.got for assembly in self.assemblies.values())

    def let_go(self, keep: int | None) -> int:
        """Drop what waits but for the fragments of one sample; return how many bytes that were."""
        before = self.waiting
        self.held = {sequence: data for sequence, data in self.held.items() if data is None}
        for sequence in [sequence for sequence in self.assemblies if sequence != keep]:
            del self.assemblies[sequence]
        return before - self.waiting


class Reader:
    """A reader.

    Args:
        guid: its identifier.
        reliable: whether what is lacking is asked for.
        data: what is announced of it; None for a reader of discovery.
    """

    def __init__(self, guid: bytes, *, reliable: bool = True, data: EndpointData | None = None) -> None:
        self.guid = guid
        self.entity = guid[12:]
        self.data = data or EndpointData(guid=guid, topic="", type="")
        """What is announced of it."""
        self.reliable = reliable
        self.proxies: dict[bytes, WriterProxy] = {}
        self.seen: dict[bytes, None] = {}
        """Identifiers of the writers there are and were."""
        self._gone = 0

    @property
    def lost(self) -> int:
        """Samples that were written for it and did not arrive."""
        return self._gone + sum(proxy.lost for proxy in list(self.proxies.values()))

    def add(self, proxy: WriterProxy, now: float) -> list[Outgoing]:
        """Listen to a writer from now on."""
        proxy.reliable = proxy.reliable and self.reliable
        proxy.since = now
        self.proxies[proxy.guid] = proxy
        if len(self.seen) < SEEN_LIMIT:
            self.seen[proxy.guid] = None
        return [self._greet(proxy, now)] if proxy.reliable else []

    def remove(self, guid: bytes) -> None:
        """Forget a writer."""
        proxy = self.proxies.pop(guid, None)
        if proxy is not None:
            self._gone += proxy.lost

    def take(self, prefix: bytes, message: Data, now: float) -> tuple[list[Delivered], list[Outgoing]]:
        """Return the samples that can be handed over now, in their order, and what is to be asked."""
        proxy = self.proxies.get(prefix + message.writer)
        if proxy is None:
            return [], []
        sequence = message.sequence
        if not proxy.reliable:
            if proxy.expected is not None and sequence < proxy.expected:
                return [], []
            if proxy.expected is not None:
                proxy.lost += sequence - proxy.expected
            proxy.expected = sequence + 1
            return [(proxy.guid, message)], []
        if proxy.expected is None and sequence == 1:
            proxy.expected = 1
        if (proxy.expected is not None and sequence < proxy.expected) or sequence in proxy.held:
            return [], []
        if sequence != proxy.expected:
            if len(proxy.held) >= HELD_LIMIT:
                return [], []  # it is asked for again when its turn comes
            self._make_room(proxy, len(message.payload or b""))
        proxy.held[sequence] = message
        proxy.last = max(proxy.last, sequence)
        ready = self._ready(proxy)
        if proxy.held and now - proxy.asked_at >= NACK_PERIOD:
            return ready, [self._greet(proxy, now) if proxy.expected is None else self._ask(proxy, now)]
        return ready, []

    def take_fragments(self, prefix: bytes, message: DataFrag, now: float) -> tuple[list[Delivered], list[Outgoing]]:
        """Put a sample together; return what `take` returns once it is complete."""
        proxy = self.proxies.get(prefix + message.writer)
        size, whole = message.fragment_size, message.sample_size
        if proxy is None or not 0 < whole <= SAMPLE_LIMIT:
            return [], []
        if message.sequence in proxy.held or message.sequence < (proxy.expected or 0):
            return [], []
        total = -(-whole // size)
        if total > FRAGMENTS_LIMIT:
            return [], []
        assembly = proxy.assemblies.get(message.sequence)
        if assembly is None or (assembly.size, assembly.whole) != (size, whole):
            assembly = proxy.assemblies[message.sequence] = _Assembly(size=size, whole=whole)
            while len(proxy.assemblies) > ASSEMBLIES:
                proxy.assemblies.popitem(last=False)
        for number in range(message.first, min(message.first + message.count, total + 1)):
            offset = (number - message.first) * size
            length = min(size, whole - (number - 1) * size)
            part = message.payload[offset : offset + length]
            if len(part) == length and number not in assembly.parts:
                self._make_room(proxy, length)
                assembly.parts[number] = part
                assembly.got += length
        if len(assembly.parts) < total:
            return [], []
        proxy.assemblies.pop(message.sequence, None)
        payload = b"".join(assembly.parts[number] for number in range(1, total + 1))
        data = Data(
            reader=message.reader, writer=message.writer, sequence=message.sequence, payload=payload,
            inline=message.inline, key=message.key, little=message.little,
        )  # fmt: skip
        return self.take(prefix, data, now)

    def hear(self, prefix: bytes, message: Heartbeat, now: float) -> tuple[list[Delivered], list[Outgoing]]:
        """Take what a writer says that it has."""
        proxy = self.proxies.get(prefix + message.writer)
        if proxy is None or not proxy.reliable or not _newer(message.count, proxy.count):
            return [], []
        proxy.count = message.count
        ready = self._pass(proxy, message.first, lost=True)
        proxy.last = max(proxy.last, message.last)
        ready += self._ready(proxy)
        assert proxy.expected is not None  # the heartbeat has told it
        lacks = proxy.expected <= proxy.last
        return ready, [self._ask(proxy, now)] if lacks or not message.final else []

    def skip(self, prefix: bytes, message: Gap) -> list[Delivered]:
        """Pass over numbers that do not matter; return the samples that waited for them."""
        proxy = self.proxies.get(prefix + message.writer)
        if proxy is None or not proxy.reliable:
            return []
        if proxy.expected is None:
            if message.start != 1:
                return []  # the first heartbeat says where to begin
            proxy.expected = 1
        ready: list[Delivered] = []
        if message.start <= proxy.expected:
            ready = self._pass(proxy, message.base)
        else:
            for sequence in range(message.start, min(message.base, message.start + HELD_LIMIT)):
                self._skip_one(proxy, sequence)
        for sequence in message.others:
            self._skip_one(proxy, sequence)
        return ready + self._ready(proxy)

    def tick(self, now: float) -> tuple[list[Delivered], list[Outgoing]]:
        """Ask the writers that have not said what they have; hand over what has waited too long for that."""
        ready: list[Delivered] = []
        out: list[Outgoing] = []
        for proxy in self.proxies.values():
            if not proxy.reliable or proxy.expected is not None:
                continue
            if proxy.held and now - proxy.since > PATIENCE:
                proxy.expected = min(proxy.held)
                ready += self._ready(proxy)
            elif now - proxy.asked_at >= GREETING * (1 if now - proxy.since < 2.0 else 10):
                out.append(self._greet(proxy, now))
        return ready, out

    def _make_room(self, proxy: WriterProxy, more: int) -> None:
        """Let so many bytes of a writer wait: writers of which the most wait are asked again, if they are reliable."""
        total = more + sum(other.waiting for other in self.proxies.values())
        if total <= WAITING_BYTES:
            return
        for other in sorted(self.proxies.values(), key=lambda other: -other.waiting):
            if total > WAITING_BYTES:
                total -= other.let_go(other.expected if other is proxy else None)

    def _pass(self, proxy: WriterProxy, first: int, *, lost: bool = False) -> list[Delivered]:
        """Go on at a number; return the samples before it that are there, in their order.

        A writer that keeps few samples no longer has the one that is missing; those behind it have arrived all the
        same.
        """
        if proxy.expected is not None and first <= proxy.expected:
            return []
        passed = sorted(s for s in proxy.held if s < first)
        found = [(proxy.guid, data) for data in map(proxy.held.pop, passed) if data is not None]
        if proxy.expected is None:
            found = []  # of the time before the writer was met
        elif lost:
            proxy.lost += first - proxy.expected - len(passed)
        for sequence in [s for s in proxy.assemblies if s < first]:
            del proxy.assemblies[sequence]
        proxy.expected = first
        return found

    @staticmethod
    def _skip_one(proxy: WriterProxy, sequence: int) -> None:
        if proxy.expected is not None and sequence >= proxy.expected and len(proxy.held) < 2 * HELD_LIMIT:
            proxy.held.setdefault(sequence, None)

    @staticmethod
    def _ready(proxy: WriterProxy) -> list[Delivered]:
        found: list[Delivered] = []
        while proxy.expected is not None and proxy.expected in proxy.held:
            data = proxy.held.pop(proxy.expected)
            if data is not None:
                found.append((proxy.guid, data))
            proxy.expected += 1
        return found

    def _greet(self, proxy: WriterProxy, now: float) -> Outgoing:
        proxy.answers += 1
        proxy.asked_at = now
        message = AckNack(
            reader=self.entity, writer=proxy.guid[12:], base=0 if proxy.base_zero else 1, count=proxy.answers,
            final=False,
        )  # fmt: skip
        return self._out(proxy, [message])

    def _ask(self, proxy: WriterProxy, now: float) -> Outgoing:
        assert proxy.expected is not None
        proxy.answers += 1
        proxy.asked_at = now
        end = min(proxy.last, proxy.expected + WINDOW)
        writer = proxy.guid[12:]
        missing = tuple(s for s in range(proxy.expected, end + 1) if s not in proxy.held and s not in proxy.assemblies)
        said: list[Submessage] = [
            AckNack(
                reader=self.entity, writer=writer, base=proxy.expected, missing=missing, count=proxy.answers, final=True
            )
        ]
        for sequence, assembly in proxy.assemblies.items():  # of these only the fragments that are lacking
            missing = assembly.lacking(WINDOW)
            said.append(
                NackFrag(reader=self.entity, writer=writer, sequence=sequence, missing=missing, count=proxy.answers)
            )
        return self._out(proxy, said)

    def _out(self, proxy: WriterProxy, said: list[Submessage]) -> Outgoing:
        to = InfoDestination(prefix=proxy.guid[:12])
        return proxy.address, encode_message(Header(prefix=self.guid[:12]), (to, *said))


def _head(own: bytes, other: bytes) -> bytes:
    """Return what a datagram to the participant of another endpoint begins with."""
    return encode_message(Header(prefix=own[:12]), (InfoDestination(prefix=other[:12]),))
