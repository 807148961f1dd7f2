"""Services of ROS 2 over RTPS, answered in the convention of whoever asks.

rmw_fastrtps names the request beside the reply, in its inline parameters (DDS-RPC's related sample identity).
rmw_cyclonedds puts 16 bytes in front of request and reply: 8 that identify the client, and a number of 64 bits. Topics
and types are the same (``rq/<name>Request``, ``rr/<name>Reply``), so the maker of the client's participant decides.
"""

from __future__ import annotations

import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from pliant.base.errors import BridgeError, PliantError, WireError
from pliant.base.threads import WorkerPool
from pliant.ros.ros2.endpoints import Reader, Sample, Writer
from pliant.ros.ros2.participant import CYCLONE, RtpsParticipant
from pliant.ros.wire import CDR_LITTLE_ENDIAN, Codec, ServiceType, dds_type_name
from pliant.ros.wire.message import DeferredService, Message, Respond, ServiceCallback
from pliant.ros.wire.rtps.parameters import VENDOR_NAMES, related_parameters

DEPTH = 50
"""Replies that are kept until they have arrived."""
WORKERS = 4
"""Services that run at the same time."""
WAITING_LIMIT = 200
"""Requests that wait to be served, and replies that wait for their reader."""
MATCH_PATIENCE = 20.0
"""How long a reply waits until its client's reader is known [s]; under load discovery may take seconds."""
_HEADER = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asked, and how a reply finds back."""

    prefix: bytes
    """The client's participant."""
    header: bytes
    """Header that rmw_cyclonedds writes before the payload, little endian; empty for rmw_fastrtps."""
    related: tuple[bytes, int]
    """Reader or writer of the client and number of the request, as rmw_fastrtps pairs them."""


def convention(vendor: bytes) -> str:
    """Return the rmw whose convention a participant of this maker speaks."""
    return "rmw_cyclonedds" if vendor == CYCLONE else "rmw_fastrtps"


def read_request(sample: Sample) -> tuple[Asker, bytes]:
    """Return who asked, and the request as plain CDR.

    Raises:
        WireError: it is too short for its convention.
    """
    prefix, payload = sample.writer[:12], sample.payload
    # A client names the reader that waits for the reply, else its writer identifies it.
    client = sample.writer
    if sample.related is not None and any(sample.related[0]):
        client = sample.related[0]
    header = b""
    if convention(sample.vendor) == "rmw_cyclonedds":
        if len(payload) < 4 + _HEADER:
            raise WireError(f"a request of rmw_cyclonedds with {len(payload)} bytes; must be at least {4 + _HEADER}")
        order = "<" if payload[1] & 1 else ">"
        header = struct.pack("<Qq", *struct.unpack_from(f"{order}Qq", payload, 4))
        payload = payload[:4] + payload[4 + _HEADER :]
    return Asker(prefix=prefix, header=header, related=(client, sample.sequence)), payload


def write_reply(asker: Asker, reply: bytes) -> tuple[bytes, tuple[tuple[int, bytes], ...]]:
    """Return payload and inline parameters of a reply.

    Args:
        asker: who asked.
        reply: the reply as plain CDR, little endian.
    """
    if asker.header:
        return CDR_LITTLE_ENDIAN + asker.header + reply[4:], ()
    return reply, related_parameters(*asker.related)


@dataclass(slots=True, kw_only=True)
class _Service:
    name: str
    type: ServiceType
    callback: DeferredService
    waits: bool
    reader: Reader | None = None
    writer: Writer | None = None
    count: int = 0


class Services:
    """The services of a node.

    Args:
        participant: the wire.
        codec: turns requests and replies into bytes.
        complain: takes the faults of clients.
    """

    def __init__(self, participant: RtpsParticipant, codec: Codec, complain: Callable[[str], None]) -> None:
        self.participant = participant
        self._codec = codec
        self._complain = complain
        self._services: dict[str, _Service] = {}
        self._lock = threading.Lock()
        self._waiting: deque[tuple[float, _Service, Asker, bytes]] = deque()
        self._pending = 0
        self._refused = 0
        self._pool: WorkerPool | None = None

    def start(self) -> None:
        """Start the threads; call this before the participant starts."""
        # Answers that come later wait in the pool beside the requests.
        self._pool = WorkerPool(self.participant.threads, "ros2-service", workers=WORKERS, limit=2 * WAITING_LIMIT)
        self.participant.on_tick = self._send_waiting

    def stop(self) -> None:
        """Let the threads end; requests that wait are forgotten."""
        if self._pool is not None:
            self._pool.close()

    @property
    def calls(self) -> dict[str, int]:
        """Services, and how often each was called."""
        return {name: service.count for name, service in list(self._services.items())}

    @property
    def refused(self) -> int:
        """Requests that were not read, and replies that reached nobody."""
        return self._refused

    @property
    def gids(self) -> tuple[list[bytes], list[bytes]]:
        """Identifiers of the readers and of the writers, for the graph."""
        found = list(self._services.values())
        return [s.reader.guid for s in found if s.reader], [s.writer.guid for s in found if s.writer]

    # ------------------------------------------------------------------ serving
    def serve(self, name: str, type_name: str, callback: ServiceCallback) -> None:
        """Serve a service; the callback runs in a thread of its own and may wait.

        ROS 2 has no replies that say that there is none. Where the callback raises a `PliantError`, the reply has
        ``success`` false and the text in ``message`` if the type has these, else it is empty; the text is complained.
        """

        def run(request: Message, respond: Respond) -> None:
            try:
                reply = callback(request)
            except PliantError as error:
                self._complain(f"{name}: {error}")
                reply = {"success": False, "message": str(error)} if kind.tells_success else {}
            respond(reply)

        kind = self._codec.types.service(type_name)
        self._add(_Service(name=name, type=kind, callback=run, waits=True))

    def serve_later(self, name: str, type_name: str, callback: DeferredService) -> None:
        """Serve a service whose reply comes later; the callback runs in the participant's thread and must not wait."""
        self._add(_Service(name=name, type=self._codec.types.service(type_name), callback=callback, waits=False))

    def _add(self, service: _Service) -> None:
        if service.name in self._services:
            raise BridgeError(f"the service {service.name} is served already", field=service.name)
        topic = service.name.strip("/")
        user_data = f"typehash={self._codec.types.rihs01(service.type.name)};".encode()
        self._services[service.name] = service
        # The writer first: who finds the reader may ask at once.
        service.writer = self.participant.writer(
            f"rr/{topic}Reply", dds_type_name(service.type.response.name), depth=DEPTH, user_data=user_data
        )
        service.reader = self.participant.reader(
            f"rq/{topic}Request",
            dds_type_name(service.type.request.name),
            lambda sample: self._asked(service, sample),
            depth=DEPTH,
            user_data=user_data,
        )

    def _asked(self, service: _Service, sample: Sample) -> None:
        try:
            asker, data = read_request(sample)
            request = self._codec.decode(service.type.request, data)
        except WireError as error:
            self._refused += 1
            maker = VENDOR_NAMES.get(sample.vendor, sample.vendor.hex())
            self._complain(f"{service.name}: a request of {maker} is not in the convention of its rmw: {error}")
            return
        service.count += 1
        answered = False

        def respond(reply: Message) -> None:
            nonlocal answered
            if answered:
                return
            answered = True
            if service.waits:
                self._reply(service, asker, reply)
            elif self._pool is not None:
                # Whoever answers later may be the loop, which waits for no lock of the wire.
                self._submit(service, lambda: self._reply(service, asker, reply))

        if not service.waits:
            self._run(service, request, respond)
            return
        with self._lock:
            full = self._pending >= WAITING_LIMIT
            self._pending += not full
        if full or self._pool is None:
            self._refused += 1
            self._complain(f"{service.name}: {WAITING_LIMIT} requests wait already; this one is not answered")
            return
        if not self._submit(service, lambda: self._serve(service, request, respond)):
            with self._lock:
                self._pending -= 1

    def _submit(self, service: _Service, job: Callable[[], None]) -> bool:
        """Let a thread of the services do a job; a fault costs one request, not the thread."""

        def guarded() -> None:
            try:
                job()
            except Exception as error:  # a pool's thread would keep it to itself
                self.participant.fail(f"the service {service.name}", error)

        return self._pool is not None and self._pool.submit(guarded)

    def _serve(self, service: _Service, request: Message, respond: Respond) -> None:
        try:
            self._run(service, request, respond)
        finally:
            with self._lock:
                self._pending -= 1

    def _run(self, service: _Service, request: Message, respond: Respond) -> None:
        try:
            service.callback(request, respond)
        except PliantError as error:
            self._complain(f"{service.name}: {error}")
        except Exception as error:  # a fault of ours must not stop the thread
            self.participant.fail(f"the service {service.name}", error)

    # ------------------------------------------------------------------ replying
    def _reply(self, service: _Service, asker: Asker, values: Message) -> None:
        try:
            reply = self._codec.encode(service.type.response, values)
        except WireError as error:
            self._complain(f"{service.name}: {error}")
            reply = self._codec.encode(service.type.response, {})
        if not self._send(service, asker, reply):
            with self._lock:
                if len(self._waiting) < WAITING_LIMIT:
                    self._waiting.append((time.monotonic() + MATCH_PATIENCE, service, asker, reply))
                    return
            self._lose(service)

    def _send(self, service: _Service, asker: Asker, reply: bytes) -> bool:
        """Send a reply, if the reader that waits for it is known."""
        writer = service.writer
        if writer is None or not writer.reaches(asker.related[0]):
            return False
        payload, inline = write_reply(asker, reply)
        only = frozenset((asker.prefix,))
        if asker.header:
            # Cyclone DDS keeps one account of a writer for all participants of a process: what is a gap for one of them
            # is one for all. Its clients know their own replies.
            only |= self.participant.made_by(CYCLONE)
        self.participant.write(writer, payload, inline=inline, only=only)
        return True

    def _send_waiting(self, now: float) -> None:
        """Send the replies whose readers were not known; the participant calls this now and then."""
        if not self._waiting:
            return
        with self._lock:
            waiting, self._waiting = self._waiting, deque()
        for item in waiting:
            end, service, asker, reply = item
            if self._send(service, asker, reply):
                continue
            if now > end:
                self._lose(service)
                continue
            with self._lock:
                self._waiting.append(item)

    def _lose(self, service: _Service) -> None:
        self._refused += 1
        self._complain(f"{service.name}: a client asked and has no reader for the reply; it is dropped")
