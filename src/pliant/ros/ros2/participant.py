"""A participant of DDS: discovery (SPDP and SEDP), writers and readers on UDP sockets.

It finds others over multicast and over unicast to the well-known ports of this machine. One thread, ``ros2-rtps``,
receives; any thread may write. A caller that waits for an answer may receive itself (`RtpsParticipant.pump`).
"""

from __future__ import annotations

import os
import select
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from pliant.base.errors import WireError
from pliant.base.threads import Threads
from pliant.ros.ros2.discovery import Discovery
from pliant.ros.ros2.endpoints import (
    FRAGMENT_SIZE,
    Address,
    Delivered,
    Outgoing,
    Reader,
    ReaderProxy,
    Sample,
    Writer,
    WriterProxy,
)
from pliant.ros.ros2.udp import GROUP, UdpSockets
from pliant.ros.wire.rtps.messages import (
    UNKNOWN_ENTITY,
    UNKNOWN_PREFIX,
    AckNack,
    Data,
    DataFrag,
    Gap,
    Header,
    Heartbeat,
    InfoDestination,
    InfoSource,
    InfoTimestamp,
    NackFrag,
    Parameters,
    Submessage,
    decode_message,
    encode_message,
)
from pliant.ros.wire.rtps.parameters import (
    EndpointData,
    Locator,
    ParticipantData,
    Qos,
    decode_endpoint,
    decode_participant,
    disposed,
    encode_endpoint,
    encode_key,
    encode_participant,
    mismatch,
    related_identity,
)

SPREAD = 62
"""How many participants of this machine are looked for by their well-known ports."""
LEASE = 20.0
"""How long others assume that this participant lives when it is silent [s]."""
ANNOUNCE_EARLY = (0.0, 0.05, 0.15, 0.4)
"""When this participant announces itself after its start [s]."""
ANNOUNCE_PERIOD = 0.7
"""Time between two announcements after that [s]: a node that starts later is found within it."""
PACE_S = 5e-4
"""Pause between two fragments [s]: the receiver's socket holds three of them by default (208 KiB)."""
PUMP_FRESH_S = 0.1
"""How long the own thread leaves the sockets to a caller that received last [s]."""
REMOTE_LIMIT = 200
"""Most participants that are remembered."""
SILENT_S = 10.0
"""Silence after which a participant makes room for a new one, where there are too many [s]: Fast DDS
announces itself every 3 s, Cyclone DDS every 8 s (0.8 of its lease of 10 s)."""
MAX_LEASE = 3600.0
"""Longest time that a silent participant is remembered, whatever it asks for [s]."""
ENDPOINT_LIMIT = 4000
"""Most endpoints of one participant that are remembered."""
TICK = 0.02
"""How often timers are looked at while somebody has to be asked [s]; ten times as seldom otherwise."""
BATCH = 64

CYCLONE = b"\x01\x10"
"""Number of Cyclone DDS among the makers (list of the OMG)."""
_PARTICIPANT = b"\0\0\1\xc1"
_SPDP_WRITER, _SPDP_READER = b"\0\1\0\xc2", b"\0\1\0\xc7"
_PUB_WRITER, _SUB_WRITER = b"\0\0\3\xc2", b"\0\0\4\xc2"
"""The writers of discovery: of a participant's writers, and of its readers."""
_PUB_READER, _SUB_READER = b"\0\0\3\xc7", b"\0\0\4\xc7"
_BUILTIN = 0x3F
"""Announcer and detector of participants, writers and readers."""


@dataclass(slots=True, kw_only=True)
class _Remote:
    data: ParticipantData
    metatraffic: Address
    default: Address
    expires: float
    heard: float
    endpoints: dict[bytes, tuple[EndpointData, bool]] = field(default_factory=dict)


class RtpsParticipant:
    """A participant.

    Args:
        name: what others call it.
        domain: number of the domain.
        discovery: whom it looks for, and whether it talks on 127.0.0.1 only.
        complain: takes the faults of others.
        fail: takes faults of ours that one datagram caused.
        threads: whose thread it is; None for threads of its own.
        user_data: what is told of it.
    """

    def __init__(
        self,
        name: str,
        *,
        domain: int,
        discovery: Discovery | None = None,
        complain: Callable[[str], None] = lambda _: None,
        fail: Callable[[str, BaseException], None] | None = None,
        threads: Threads | None = None,
        user_data: bytes = b"",
    ) -> None:
        self.name = name
        self.domain = domain
        self.discovery = discovery or Discovery()
        self.loopback = self.discovery.loopback
        self.prefix = bytes(2) + os.urandom(10)
        self.writers: dict[bytes, Writer] = {}
        self.readers: dict[bytes, Reader] = {}
        self.remotes: dict[bytes, _Remote] = {}
        self.malformed = 0
        """Datagrams that could not be read."""
        self.on_tick: Callable[[float], None] = lambda now: None
        """Called now and then, in the participant's thread, with the time [s, monotonic]."""
        self.on_publication: Callable[[str, str], None] = lambda topic, who: None
        """Called, in the participant's thread, with each topic of ROS that another participant writes, and who."""
        self.threads = threads or Threads()
        self._complain = complain
        self.fail = fail or (lambda what, error: complain(f"{what}: {type(error).__name__}: {error}"))
        """Takes faults of ours that one datagram or request caused."""
        self._user_data = user_data
        self.lock = threading.RLock()
        """Held while something that arrived is taken, `on_publication` and callbacks included."""
        self.direct = False
        """Whether a caller's thread receives, in `pump`."""
        self._pumped_at = 0.0
        self._later: list[Callable[[], None]] = []
        self._idle = True
        self._gone: deque[bytes] = deque(maxlen=64)
        self._entities = 0
        self._announced = 0
        self._announcements: list[float] = []
        self._stopping = False
        self._thread: threading.Thread | None = None
        self.sockets = UdpSockets(self.loopback)
        """Where it talks and listens."""
        self._pub = Writer(self.prefix + _PUB_WRITER, transient_local=True, depth=0)
        self._sub = Writer(self.prefix + _SUB_WRITER, transient_local=True, depth=0)
        self._pub_reader = Reader(self.prefix + _PUB_READER)
        self._sub_reader = Reader(self.prefix + _SUB_READER)
        self._writer_of: dict[bytes, Writer] = {_PUB_WRITER: self._pub, _SUB_WRITER: self._sub}
        self._callbacks: dict[bytes, Callable[[Sample], None]] = {}
        self._listening: dict[bytes, list[Reader]] = {}
        """Writer elsewhere -> the readers that listen to it."""

    # ------------------------------------------------------------------ life
    def start(self) -> None:
        """Open the sockets and look for others.

        Raises:
            BridgeError: no port of the domain is free.
        """
        self.sockets.open(self.domain, multicast=self.discovery.multicast)
        now = time.monotonic()
        self._announcements = [now + t for t in ANNOUNCE_EARLY]
        self._thread = self.threads.start("ros2-rtps", self._run)

    def stop(self) -> None:
        """Say goodbye, close the sockets, join the thread. May be called twice."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self.threads.close()
        with self.lock:
            self._say_goodbye()
            self._stopping = True
        self.sockets.nudge()
        thread.join(5.0)
        self.sockets.close()

    @property
    def guid(self) -> bytes:
        """Its identifier, 16 bytes."""
        return self.prefix + _PARTICIPANT

    # ------------------------------------------------------------------ endpoints
    def writer(
        self,
        topic: str,
        type_name: str,
        *,
        reliable: bool = True,
        transient_local: bool = False,
        depth: int = 100,
        user_data: bytes = b"",
    ) -> Writer:
        """Make a writer.

        Args:
            topic: name of the topic on the wire.
            type_name: name of its type on the wire.
            reliable: whether samples are sent again until they have arrived.
            transient_local: whether readers that come later get what is kept.
            depth: how many samples are kept.
            user_data: what is told of it.
        """
        with self.lock:
            guid = self._guid(3)
            qos = Qos(reliable=reliable, durability=int(transient_local), depth=depth)
            data = EndpointData(guid=guid, topic=topic, type=type_name, qos=qos, user_data=user_data)
            made = Writer(guid, reliable=reliable, transient_local=transient_local, depth=depth, data=data)
            self.writers[guid] = self._writer_of[guid[12:]] = made
            self._tell_of(made, self._pub)
        self._nudge()
        return made

    def reader(
        self,
        topic: str,
        type_name: str,
        callback: Callable[[Sample], None],
        *,
        reliable: bool = True,
        transient_local: bool = False,
        depth: int = 100,
        user_data: bytes = b"",
    ) -> Reader:
        """Make a reader.

        Args:
            topic: name of the topic on the wire.
            type_name: name of its type on the wire.
            callback: takes what arrives, in this participant's thread; it must be short.
            reliable: whether it asks again for what is lost; best-effort writers then do not match.
            transient_local: whether it wants what was sent before; volatile writers then do not match.
            depth: how many samples others take it to keep.
            user_data: what is told of it.
        """
        with self.lock:
            guid = self._guid(4)
            qos = Qos(reliable=reliable, durability=int(transient_local), depth=depth)
            data = EndpointData(guid=guid, topic=topic, type=type_name, qos=qos, user_data=user_data)
            made = self.readers[guid] = Reader(guid, reliable=reliable, data=data)
            self._callbacks[guid] = callback
            self._tell_of(made, self._sub)
        self._nudge()
        return made

    def _tell_of(self, made: Writer | Reader, teller: Writer) -> None:
        self._send_all(teller.write(encode_endpoint(made.data), time.monotonic()))
        for remote in self.remotes.values():
            for endpoint, writes in list(remote.endpoints.values()):
                if writes == isinstance(made, Reader):
                    self._match(made, remote, endpoint)

    def remove(self, endpoint: Writer | Reader) -> None:
        """Take a writer or a reader back."""
        inline, payload = encode_key(endpoint.guid)
        with self.lock:
            teller = self._pub if isinstance(endpoint, Writer) else self._sub
            self.writers.pop(endpoint.guid, None)
            self.readers.pop(endpoint.guid, None)
            self._writer_of.pop(endpoint.guid[12:], None)
            self._callbacks.pop(endpoint.guid, None)
            if isinstance(endpoint, Reader):
                for readers in self._listening.values():
                    if endpoint in readers:
                        readers.remove(endpoint)
            self._send_all(teller.write(payload, time.monotonic(), inline=inline, key=True))

    def write(
        self,
        writer: Writer,
        payload: bytes,
        *,
        inline: Parameters = (),
        only: frozenset[bytes] | None = None,
    ) -> None:
        """Send a sample. It waits only between the fragments of a long one.

        Args:
            writer: who writes.
            payload: encapsulation and content.
            inline: parameters beside it.
            only: prefixes of the participants that it is for; None for every reader.
        """
        with self.lock:
            if self._stopping:
                return
            out = writer.write(payload, time.monotonic(), inline=inline, only=only)
            if len(payload) <= FRAGMENT_SIZE:
                self._send_all(out)
                out = []
        for k, (address, datagram) in enumerate(out):
            if k:
                time.sleep(PACE_S)
            self._send_bytes(address, datagram)
        if self._idle:
            self._idle = False
            self._nudge()

    def publishers_of(self, topics: Mapping[str, str]) -> dict[str, list[str]]:
        """Return which of some topics others write, and who.

        Args:
            topics: name on the wire -> how the result calls it.
        """
        found: dict[str, list[str]] = {}
        with self.lock:
            for remote in self.remotes.values():
                for endpoint, writes in remote.endpoints.values():
                    if writes and endpoint.topic in topics:
                        found.setdefault(topics[endpoint.topic], []).append(_called(remote.data))
        return {topic: sorted(set(names)) for topic, names in found.items()}

    def made_by(self, vendor: bytes) -> frozenset[bytes]:
        """Return the participants of a maker."""
        with self.lock:
            return frozenset(prefix for prefix, remote in self.remotes.items() if remote.data.vendor == vendor)

    def _guid(self, kind: int) -> bytes:
        self._entities += 1
        return self.prefix + struct.pack(">I", self._entities << 8 | kind)

    # ------------------------------------------------------------------ sending
    def _send_bytes(self, address: Address, datagram: bytes) -> None:
        if not self._stopping and self.sockets.all:
            self.sockets.send(address, datagram)

    def _send_all(self, out: list[Outgoing]) -> None:
        for address, datagram in out:
            self._send_bytes(address, datagram)

    def _announcement(self) -> Data:
        self._announced += 1
        here = (Locator(address=self.sockets.host, port=self.sockets.port),)
        data = ParticipantData(
            guid=self.guid, domain=self.domain, builtin=_BUILTIN, lease=LEASE, metatraffic=here, default=here,
            name=self.name, user_data=self._user_data,
        )  # fmt: skip
        return Data(
            reader=UNKNOWN_ENTITY, writer=_SPDP_WRITER, sequence=self._announced, payload=encode_participant(data)
        )

    def _everywhere(self) -> list[Address]:
        base, discovery = 7400 + 250 * self.domain, self.discovery
        found = [(GROUP, base)] if discovery.multicast else []
        for host in ("127.0.0.1", *discovery.peers) if discovery.multicast else discovery.peers:
            ports = (base + 10 + 2 * i for i in range(SPREAD))
            found += [(host, port) for port in ports if (host, port) != ("127.0.0.1", self.sockets.port)]
        known = {remote.metatraffic for remote in self.remotes.values()}
        return found + sorted(known.difference(found))

    def _announce(self, addresses: list[Address]) -> None:
        stamp = InfoTimestamp(time_ns=time.time_ns())
        datagram = encode_message(Header(prefix=self.prefix), (stamp, self._announcement()))
        for address in addresses:
            self._send_bytes(address, datagram)

    def _say_goodbye(self) -> None:
        inline, payload = encode_key(self.guid, participant=True)
        self._announced += 1
        data = Data(writer=_SPDP_WRITER, sequence=self._announced, inline=inline, payload=payload, key=True)
        datagram = encode_message(Header(prefix=self.prefix), (data,))
        for remote in self.remotes.values():
            self._send_bytes(remote.metatraffic, datagram)

    # ------------------------------------------------------------------ the thread
    def _nudge(self) -> None:
        """Let the thread look at its timers."""
        if threading.current_thread() is not self._thread and self._thread is not None:
            self.sockets.nudge()

    def _run(self) -> None:
        everything, wake = list(self.sockets.all), [self.sockets.wake]
        ticked = 0.0
        busy = True
        while not self._stopping:
            # Where a caller receives, this thread only looks at the timers.
            pumped = self.direct and time.monotonic() - self._pumped_at < PUMP_FRESH_S
            self._idle = not busy
            readable, _, _ = select.select(wake if pumped else everything, (), (), TICK if busy else 10 * TICK)
            for sock in readable:
                self._receive(sock)
            now = time.monotonic()
            if now - ticked >= TICK:
                ticked = now
                self._do_later()
                with self.lock:
                    busy = self._tick(now)
            self.on_tick(now)

    def pump(self, timeout: float, spin: float) -> None:
        """Do what was put off if there is something, else receive in the caller's thread until a datagram has arrived.

        Args:
            timeout: longest wait [s].
            spin: how long the sockets are looked at again and again before the thread sleeps [s].
        """
        self._pumped_at = time.monotonic()
        if self._later:
            self._do_later()
            return
        sockets = [sock for sock in self.sockets.all if sock is not self.sockets.wake]
        end = time.perf_counter() + min(timeout, spin)
        while time.perf_counter() < end:
            if self._receive(sockets[0], 1):
                return
        for sock in select.select(sockets, (), (), timeout)[0]:
            self._receive(sock)

    def _do_later(self) -> None:
        """Do what was put off until the loop has its message: answers, and heartbeats that came with it."""
        with self.lock:
            later, self._later = self._later, []
            for act in later:
                try:
                    act()
                except Exception as error:  # one heartbeat must not end the loop
                    self.fail("an answer that was put off", error)

    def _receive(self, sock: socket.socket, most: int = BATCH) -> int:
        """Handle what has arrived; return how many datagrams."""
        for count in range(most):
            try:
                datagram, source = sock.recvfrom(65536)
            except OSError:
                return count
            if sock is self.sockets.wake or not datagram or (self.loopback and not self.sockets.is_local(source[0])):
                continue
            try:
                header, submessages = decode_message(datagram)
                if header.prefix != self.prefix:
                    with self.lock:
                        self._handle(header, submessages, source)
            except WireError as error:
                self.malformed += 1
                if self.malformed <= 10:
                    self._complain(f"{source[0]}:{source[1]} sent what is no RTPS: {error}")
            except Exception as error:  # one datagram must not cost the thread
                self.fail(f"a datagram of {source[0]}:{source[1]}", error)
        return most

    def _tick(self, now: float) -> bool:
        """Do what is due; return whether something is to be asked soon."""
        due = [t for t in self._announcements if t <= now]
        if due:
            self._announcements = [t for t in self._announcements if t > now] or [now + ANNOUNCE_PERIOD]
            self._announce(self._everywhere())
        for remote in [r for r in self.remotes.values() if r.expires < now]:
            self._forget(remote.data.guid[:12])
        busy = False
        for writer in list(self._writer_of.values()):
            if not writer.proxies:  # most of them, most of the time
                continue
            self._send_all(writer.tick(now))
            busy = busy or any(p.reliable and p.acknowledged < writer.last for p in writer.proxies.values())
        readers = (self._pub_reader, self._sub_reader, *self.readers.values())
        for reader in readers:
            if not reader.proxies:
                continue
            ready, out = reader.tick(now)
            self._send_all(out)
            self._deliver(reader, ready)
            busy = busy or any(p.reliable and p.expected is None for p in reader.proxies.values())
        return busy or any(t < now + 10 * TICK for t in self._announcements)

    # ------------------------------------------------------------------ receiving
    def _handle(self, header: Header, submessages: list[Submessage], source: Address) -> None:
        if self._stopping:
            return
        now = time.monotonic()
        prefix = header.prefix
        ours = True
        for message in submessages:
            match message:
                case InfoDestination():
                    ours = message.prefix in (UNKNOWN_PREFIX, self.prefix)
                case InfoSource():
                    prefix = message.prefix
                case Data() if ours and message.writer == _SPDP_WRITER:
                    self._participant_told(prefix, message, source, now)
                case Data() if ours:
                    for reader in self._readers_of(prefix, message.reader, message.writer):
                        self._act(reader, *reader.take(prefix, message, now))
                case DataFrag() if ours:
                    for reader in self._readers_of(prefix, message.reader, message.writer):
                        self._act(reader, *reader.take_fragments(prefix, message, now))
                case Heartbeat() if ours:
                    if self.direct:
                        self._later.append(partial(self._hear, prefix, message, now))
                    else:
                        self._hear(prefix, message, now)
                case Gap() if ours:
                    for reader in self._readers_of(prefix, message.reader, message.writer):
                        self._deliver(reader, reader.skip(prefix, message))
                case AckNack() if ours:
                    writer = self._writer_of.get(message.writer)
                    if writer is not None:
                        self._send_all(writer.answer(prefix, message, now))
                case NackFrag() if ours:
                    writer = self._writer_of.get(message.writer)
                    if writer is not None:
                        self._send_all(writer.answer_fragments(prefix, message))
        remote = self.remotes.get(prefix)
        if remote is not None:
            remote.heard = now
            remote.expires = max(remote.expires, now + min(remote.data.lease, MAX_LEASE))

    def _readers_of(self, prefix: bytes, reader: bytes, writer: bytes) -> list[Reader]:
        if writer == _PUB_WRITER:
            return [self._pub_reader]
        if writer == _SUB_WRITER:
            return [self._sub_reader]
        if reader != UNKNOWN_ENTITY:
            found = self.readers.get(self.prefix + reader)
            return [] if found is None else [found]
        return self._listening.get(prefix + writer, [])

    def _hear(self, prefix: bytes, message: Heartbeat, now: float) -> None:
        for reader in self._readers_of(prefix, message.reader, message.writer):
            self._act(reader, *reader.hear(prefix, message, now))

    def _act(self, reader: Reader, ready: list[Delivered], out: list[Outgoing]) -> None:
        self._deliver(reader, ready)
        if self.direct and out:
            self._later.append(partial(self._send_all, out))  # the loop waits for what was delivered, not for this
        else:
            self._send_all(out)

    def _deliver(self, reader: Reader, ready: list[Delivered]) -> None:
        for guid, data in ready:
            if reader is self._pub_reader or reader is self._sub_reader:
                self._endpoint_told(guid, data, writes=reader is self._pub_reader)
                continue
            callback = self._callbacks.get(reader.guid)
            if callback is None or data.payload is None or data.key:
                continue
            remote = self.remotes.get(guid[:12])
            callback(
                Sample(
                    payload=data.payload, writer=guid, sequence=data.sequence,
                    related=related_identity(data.inline, little=data.little),
                    vendor=b"\0\0" if remote is None else remote.data.vendor,
                )
            )  # fmt: skip

    # ------------------------------------------------------------------ discovery
    def _participant_told(self, prefix: bytes, message: Data, source: Address, now: float) -> None:
        guid = disposed(message.inline, message.payload)
        if guid is not None:
            # What it said before may still lie in the other socket.
            self._gone.append(guid[:12])
            self._forget(guid[:12])
            return
        if message.payload is None or prefix in self._gone:
            return
        data = decode_participant(message.payload)
        if data.guid[:12] != prefix or (data.domain is not None and data.domain != self.domain):
            return
        remote = self.remotes.get(prefix)
        metatraffic = self.sockets.reach(data.metatraffic, source)
        default = self.sockets.reach(data.default or data.metatraffic, source)
        if metatraffic is None or default is None:
            return
        if remote is not None:
            remote.data, remote.metatraffic, remote.default = data, metatraffic, default
            return
        if len(self.remotes) >= REMOTE_LIMIT:
            # Who announced itself and fell silent makes room; participants speak several times a second.
            silent = min(self.remotes.values(), key=lambda item: item.heard)
            if silent.heard < now - SILENT_S:
                self._forget(silent.data.guid[:12])
        if len(self.remotes) >= REMOTE_LIMIT:
            self._complain(
                f"more than {REMOTE_LIMIT} participants are in domain {self.domain}; {data.name!r} is left out"
            )
            return
        lease = min(data.lease, MAX_LEASE)
        remote = _Remote(data=data, metatraffic=metatraffic, default=default, expires=now + lease, heard=now)
        self.remotes[prefix] = remote
        self._announce([metatraffic])
        out: list[Outgoing] = []
        for bit, writer, entity in ((3, self._pub, _PUB_READER), (5, self._sub, _SUB_READER)):
            if data.builtin >> bit & 1:
                out += writer.add(ReaderProxy(guid=prefix + entity, address=metatraffic), now)
        for bit, reader, entity in ((2, self._pub_reader, _PUB_WRITER), (4, self._sub_reader, _SUB_WRITER)):
            if data.builtin >> bit & 1:
                proxy = WriterProxy(guid=prefix + entity, address=metatraffic, base_zero=data.vendor != CYCLONE)
                out += reader.add(proxy, now)
        self._send_all(out)

    def _forget(self, prefix: bytes) -> None:
        """Drop a participant that is gone."""
        remote = self.remotes.pop(prefix, None)
        if remote is None:
            return
        for guid, (_, writes) in remote.endpoints.items():
            self._unmatch(guid, writes)
        for writer, entity in ((self._pub, _PUB_READER), (self._sub, _SUB_READER)):
            writer.remove(prefix + entity)
        for reader, entity in ((self._pub_reader, _PUB_WRITER), (self._sub_reader, _SUB_WRITER)):
            reader.remove(prefix + entity)

    def _unmatch(self, guid: bytes, writes: bool) -> None:
        if writes:
            for reader in self._listening.pop(guid, []):
                reader.remove(guid)
        else:
            for writer in self.writers.values():
                writer.remove(guid)

    def _endpoint_told(self, teller: bytes, data: Data, *, writes: bool) -> None:
        remote = self.remotes.get(teller[:12])
        if remote is None:
            return
        guid = disposed(data.inline, data.payload)
        if guid is not None:
            if remote.endpoints.pop(guid, None) is not None:
                self._unmatch(guid, writes)
            return
        if data.payload is None or data.key:
            return
        endpoint = decode_endpoint(data.payload, writer=writes)
        if endpoint.guid[:12] != teller[:12]:
            return
        known = endpoint.guid in remote.endpoints
        if not known and len(remote.endpoints) >= ENDPOINT_LIMIT:
            self._complain(
                f"{remote.data.name!r} has more than {ENDPOINT_LIMIT} endpoints; {endpoint.topic} is left out"
            )
            return
        remote.endpoints[endpoint.guid] = (endpoint, writes)
        if known:
            return
        for own in (self.readers if writes else self.writers).values():
            self._match(own, remote, endpoint)
        if writes and endpoint.topic.startswith("rt/"):
            self.on_publication(endpoint.topic[2:], _called(remote.data))

    def _fits(self, ours: EndpointData, theirs: EndpointData, *, writes: bool, name: str) -> bool:
        """Return whether two endpoints match; complain where they nearly do."""
        if ours.topic != theirs.topic:
            return False
        what = "writes" if writes else "reads"
        if ours.type != theirs.type:
            self._complain(f"{ours.topic}: {name} {what} {theirs.type}; the type must be {ours.type}")
            return False
        reason = mismatch(theirs.qos, ours.qos) if writes else mismatch(ours.qos, theirs.qos)
        if reason:
            self._complain(f"{ours.topic}: {name} {what} it with another quality of service: {reason}")
        return not reason

    def _match(self, own: Writer | Reader, remote: _Remote, endpoint: EndpointData) -> None:
        if not self._fits(own.data, endpoint, writes=isinstance(own, Reader), name=_called(remote.data)):
            return
        address = self.sockets.reach(endpoint.locators, remote.default) or remote.default
        reliable = endpoint.qos.reliable and own.data.qos.reliable
        if isinstance(own, Writer):
            out = own.add(ReaderProxy(guid=endpoint.guid, address=address, reliable=reliable), time.monotonic())
        else:
            base_zero = remote.data.vendor != CYCLONE
            proxy = WriterProxy(guid=endpoint.guid, address=address, reliable=reliable, base_zero=base_zero)
            self._listening.setdefault(endpoint.guid, []).append(own)
            out = own.add(proxy, time.monotonic())
        self._send_all(out)


def _called(data: ParticipantData) -> str:
    return f"the participant {data.name!r}" if data.name else f"the participant {data.guid[:12].hex()}"
