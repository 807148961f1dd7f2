"""A node of ROS 2: topics, services and actions on a participant of RTPS, without ROS 2.

What ROS 2 adds to RTPS is here: names (``rt/`` in front, ``dds_`` in the types), quality of service, the hash of a type
in the user data, and ``ros_discovery_info``, by which graph tools list the node. Services are in `services`.

Threads: ``ros2-rtps`` receives and calls the callbacks of topics; ``ros2-writer`` sends messages, ``ros2-images`` those
that need fragments, so that these hold up nothing; ``ros2-service`` threads answer services.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from pliant.base.errors import BridgeError, WireError, nearest
from pliant.ros.bridge.action_services import ActionServices
from pliant.ros.bridge.actions import ActionServer
from pliant.ros.bridge.names import domain_number
from pliant.ros.bridge.node import Node, TopicHandle
from pliant.ros.bridge.outbox import Outbox
from pliant.ros.ros2.discovery import discovery
from pliant.ros.ros2.endpoints import FRAGMENT_SIZE, Reader, Sample, Writer
from pliant.ros.ros2.names import NodeNames
from pliant.ros.ros2.participant import RtpsParticipant
from pliant.ros.ros2.services import Services
from pliant.ros.wire import Codec, Registry, dds_type_name
from pliant.ros.wire.definitions_node import KILTED_TEXTS
from pliant.ros.wire.message import DeferredService, MessageCallback, ServiceCallback

DISTROS: dict[str, int] = {"humble": 24, "iron": 16, "jazzy": 16, "kilted": 16, "rolling": 16}
"""Distribution of ROS 2 -> bytes of a global identifier in ``ros_discovery_info``."""
DEPTH = 1000
"""Messages that a writer keeps until they have arrived."""
DISCOVERY_TOPIC = "ros_discovery_info"
DISCOVERY_TYPE = "rmw_dds_common/ParticipantEntitiesInfo"
USER_DATA = b"enclave=/;"
"""User data of a participant, as rmw announces it."""
TAKEN_TIMEOUT_S = 0.4
"""How long other publishers of a topic may take to be known [s]."""
SPIN_S = 5e-4
"""How long the lock-step looks for an answer before its thread sleeps [s]."""


class Publication(TopicHandle):
    """A topic that is published."""

    def __init__(self, node: Ros2Node, topic: str, type_name: str, latch: bool, writer: Writer) -> None:
        super().__init__(topic, type_name, latch)
        self._node = node
        self.writer = writer

    @property
    def matched(self) -> int:
        """How many readers it has."""
        return len(self.writer.proxies)

    @property
    def active(self) -> bool:
        """Whether a message would go anywhere."""
        return self.latch or bool(self.writer.proxies)

    @property
    def subscribers(self) -> list[str]:
        """Names of the nodes that listen, or have listened; readers of no node are counted."""
        return self._node.names.of(self.writer.seen)

    def send(self, data: bytes) -> None:
        """Queue one message, its encapsulation included; never waits."""
        self.count += 1
        state = self.writer
        self.rate.sent(state.periods if state.proxies else 0)
        self._node.queue(self, data)


class Ros2Node(Node):
    """One node on the wire of ROS 2.

    Args:
        node: name of the node.
        namespace: its name space, beginning with a slash.
        domain: number of the domain; None for ``ROS_DOMAIN_ID``, else 0.
        loopback: talk on 127.0.0.1 only; False follows ``ROS_AUTOMATIC_DISCOVERY_RANGE`` and ``ROS_STATIC_PEERS``.
        distro: distribution of ROS 2 that graph tools are of.

    Raises:
        BridgeError: no such domain or distribution.
    """

    wire = "ros2"

    def __init__(
        self,
        node: str,
        *,
        namespace: str = "/",
        domain: int | None = None,
        loopback: bool = True,
        distro: str = "jazzy",
    ) -> None:
        if distro not in DISTROS:
            raise BridgeError(f"the distribution is {distro!r}; {nearest(distro, DISTROS)}", field="distro")
        self.node = node
        self.namespace = "/" + namespace.strip("/")
        self.domain = domain_number(domain)
        self.distro = distro
        registry = Registry(2)
        registry.add({"rmw_dds_common/Gid": f"uint8[{DISTROS[distro]}] data\n"})
        if distro in ("kilted", "rolling"):
            registry.add(KILTED_TEXTS)
        super().__init__(Codec(2, registry))
        self.names = NodeNames()
        self.participant = RtpsParticipant(
            node,
            domain=self.domain,
            discovery=discovery(loopback),
            complain=self.complain,
            fail=self.fail,
            threads=self.threads,
            user_data=USER_DATA,
        )
        self.participant.on_publication = lambda topic, who: self.on_publication(topic, who)
        self.service_server = Services(self.participant, self.codec, self.complain)
        self.outbox = Outbox("ros2-writer", self._put, threads=self.threads)
        self.images = Outbox("ros2-images", self._put, threads=self.threads)
        self.publications: dict[str, Publication] = {}
        self._readers: dict[str, Reader] = {}
        # One lock for both: what arrives may subscribe to a topic while another thread does.
        self._lock = self.participant.lock
        self._graph: Publication | None = None
        self._announced = False
        self._running = False

    # ------------------------------------------------------------------ life
    def start(self) -> None:
        """Join the domain.

        Raises:
            BridgeError: no port of the domain is free.
        """
        self._interval.shorten()
        self.outbox.direct = self.participant.direct = self.lockstep
        try:
            self.service_server.start()
            self.participant.start()
        except BaseException:
            self._interval.restore()
            raise
        self._running = True
        self.outbox.start()
        self.images.start()
        self._graph = self._publish(DISCOVERY_TOPIC, DISCOVERY_TOPIC, DISCOVERY_TYPE, latch=True)
        self.participant.reader(
            DISCOVERY_TOPIC,
            dds_type_name(DISCOVERY_TYPE),
            lambda sample: self._guard(DISCOVERY_TOPIC, lambda: self.names.take(sample.payload)),
            transient_local=True,
            depth=DEPTH,
        )

    def announce(self) -> None:
        """Tell graph tools which topics and services the node has, now and whenever that changes."""
        self._announced = True
        self._tell_graph()

    def _tell_graph(self) -> None:
        if not self._announced or self._graph is None or not self._running:
            return
        size = DISTROS[self.distro]

        def gid(raw: bytes) -> dict[str, bytes]:
            return {"data": raw.ljust(size, b"\0")}

        readers, writers = self.service_server.gids
        with self._lock:
            writers += [publication.writer.guid for publication in self.publications.values()]
            readers += [reader.guid for reader in self._readers.values()]
        entities = {
            "node_namespace": self.namespace,
            "node_name": self.node,
            "reader_gid_seq": [gid(guid) for guid in readers],
            "writer_gid_seq": [gid(guid) for guid in writers],
        }
        values = {"gid": gid(self.participant.guid), "node_entities_info_seq": [entities]}
        self._graph.send(self.codec.encode(DISCOVERY_TYPE, values))

    def stop(self) -> None:
        """Send what is queued, leave the domain, join the threads. May be called twice."""
        self._running = False
        self.threads.close()
        self.outbox.stop()
        self.images.stop()
        self.participant.stop()
        self.service_server.stop()
        self.threads.join(5.0)
        for publication in self.publications.values():
            publication.latch = False
            publication.writer.proxies.clear()
        self._interval.restore()

    # ------------------------------------------------------------------ topics
    def advertise(self, topic: str, type_name: str, *, latch: bool = False, reliable: bool = True) -> Publication:
        """Publish a topic; a latched one is transient local."""
        name = "/" + topic.strip("/")
        with self._lock:
            if name not in self.publications:
                made = self._publish(name, f"rt{name}", type_name, latch=latch, reliable=reliable)
                self.publications[name] = made
                self._tell_graph()
            return self.publications[name]

    def _publish(self, name: str, wire_name: str, type_name: str, *, latch: bool, reliable: bool = True) -> Publication:
        writer = self.participant.writer(
            wire_name,
            dds_type_name(type_name),
            reliable=reliable,
            transient_local=latch,
            depth=1 if latch else DEPTH,
            user_data=self._type_hash(type_name),
        )
        return Publication(self, name, type_name, latch, writer)

    def _type_hash(self, type_name: str) -> bytes:
        return f"typehash={self.codec.types.rihs01(type_name)};".encode()

    def subscribe(
        self, topic: str, type_name: str, callback: MessageCallback, *, latch: bool = False, reliable: bool = True
    ) -> None:
        """Listen to a topic; the callback runs in the participant's thread and must be short.

        Args:
            topic: its name in ROS.
            type_name: its type.
            callback: takes the messages.
            latch: take also what latched publishers sent before; others then do not match.
            reliable: ask again for messages that are lost; best-effort publishers then do not match.
        """
        name = "/" + topic.strip("/")
        kind = self.codec.types.message(type_name)

        def arrived(sample: Sample) -> None:
            self._guard(name, lambda: callback(self.codec.decode(kind, sample.payload)))

        with self._lock:
            self._readers[name] = self.participant.reader(
                f"rt{name}",
                dds_type_name(type_name),
                arrived,
                reliable=reliable,
                transient_local=latch,
                depth=DEPTH,
                user_data=self._type_hash(type_name),
            )
        self._tell_graph()

    def subscribe_latched(self, topic: str, type_name: str, callback: MessageCallback) -> None:
        """Listen to latched publishers of a topic, and to what they have sent before."""
        self.subscribe(topic, type_name, callback, latch=True)

    def unsubscribe(self, topic: str) -> None:
        with self._lock:
            reader = self._readers.pop("/" + topic.strip("/"), None)
        if reader is not None:
            self.participant.remove(reader)
            self._tell_graph()

    def _guard(self, name: str, call: Callable[[], None]) -> None:
        """Call what takes a message; a fault must not stop the thread."""
        try:
            call()
        except WireError as error:
            self.complain(f"{name}: {error}")
        except Exception as error:  # one message must not end the thread of all
            self.fail(f"a message on {name}", error)

    def taken(self, topics: list[str]) -> dict[str, list[str]]:
        """Return the topics that other participants write already, and which ones."""
        end = time.monotonic() + TAKEN_TIMEOUT_S
        while True:
            found = self.participant.publishers_of({f"rt/{topic.strip('/')}": topic for topic in topics})
            if found or time.monotonic() > end:
                return found
            time.sleep(0.02)

    def lost_commands(self) -> dict[str, int]:
        """Return the topics that are heard -> messages that were sent and did not arrive."""
        with self._lock:
            return {name: reader.lost for name, reader in self._readers.items()}

    def unacknowledged(self) -> dict[str, tuple[int, int]]:
        """Return the topics -> the last message that every reliable reader has acknowledged, and how many wait."""
        with self._lock:
            states = {name: publication.writer for name, publication in self.publications.items()}
            return {name: (state.slowest, state.last - state.slowest) for name, state in states.items()}

    def publishers_of(self, topic: str) -> list[str]:
        """Return the nodes that publish a topic that is heard, or have published it."""
        with self._lock:
            reader = self._readers.get(topic)
        return [] if reader is None else self.names.of(dict(reader.seen), "writer")

    # ------------------------------------------------------------------ services, actions
    def serve(self, name: str, type_name: str, callback: ServiceCallback) -> None:
        """Answer a service, in the convention of rmw_fastrtps or rmw_cyclonedds, whichever asks."""
        self.service_server.serve(name, type_name, callback)

    def serve_later(self, name: str, type_name: str, callback: DeferredService) -> None:
        """Answer a service whose reply comes later; the callback must not wait."""
        self.service_server.serve_later(name, type_name, callback)

    def serve_action(self, name: str, type_name: str, server: ActionServer) -> None:
        """Take the goals of an action by the services and topics of rcl_action."""
        ActionServices(self, name, type_name, server)

    # ------------------------------------------------------------------ sending
    def queue(self, publication: Publication, data: bytes) -> None:
        """Queue a message; never waits."""
        (self.outbox if len(data) <= FRAGMENT_SIZE else self.images).send(publication, data)

    def _put(self, publication: Publication, data: bytes) -> None:
        state = publication.writer
        before = state.lost
        self.participant.write(publication.writer, data)
        publication.drops += state.lost - before

    def flush(self) -> None:
        self.outbox.flush()

    def wait_for(self, condition: threading.Condition, answered: Callable[[], bool], timeout: float) -> bool:
        """Receive in the caller's thread until ``answered()``: no other thread stands between controller and loop."""
        end = time.monotonic() + timeout
        while not answered():
            left = end - time.monotonic()
            if left <= 0.0:
                return False
            self.participant.pump(min(left, 0.02), SPIN_S)
        return True

    # ------------------------------------------------------------------ state
    def where(self) -> str:
        """Return the domain."""
        return f"DDS domain {self.domain}{' on 127.0.0.1' if self.participant.loopback else ''}"

    def health(self) -> dict[str, object]:
        """Return the domain, how much is connected, and the last faults."""
        return {
            "domain": self.domain,
            "loopback": self.participant.loopback,
            "participants": len(self.participant.remotes),
            "matched_readers": sum(item.matched for item in self.publications.values()),
            "service_calls": sum(self.service_server.calls.values()),
            "refused_requests": self.service_server.refused,
            "malformed_datagrams": self.participant.malformed,
            "unsent_datagrams": self.participant.sockets.unsent,
            **super().health(),
        }
