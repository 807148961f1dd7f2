"""A node of ROS 2 on zenoh: what rmw_zenoh_cpp would put there for it, without ROS 2.

Topics are publishers and subscribers of zenoh, services are queryables; each has a liveliness token by which the nodes
of rmw_zenoh and their graph tools know it. Latched topics have a cache that late joiners ask.

Threads: zenoh's own call the callbacks of topics; ``zenoh-writer`` sends, ``zenoh-service`` answers services,
``zenoh-watch`` looks whether anybody is connected.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import threading
import time
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar, cast

from pliant.base.errors import BridgeError, PliantError, WireError, nearest
from pliant.base.threads import WorkerPool
from pliant.ros.bridge.action_services import ActionServices
from pliant.ros.bridge.actions import ActionServer
from pliant.ros.bridge.names import domain_number
from pliant.ros.bridge.node import Node, TopicHandle
from pliant.ros.bridge.outbox import Outbox
from pliant.ros.wire import Codec, ServiceType, dds_type_name
from pliant.ros.wire.message import DeferredService, Message, MessageCallback, ServiceCallback
from pliant.ros_zenoh.graph import Graph
from pliant.ros_zenoh.session import MODES, load_zenoh, open_session
from pliant.ros_zenoh.wire.rmw_zenoh import Attachment, Endpoint, Qos, token_selector

if TYPE_CHECKING:
    from zenoh import (
        LivelinessToken,
        MatchingListener,
        MatchingStatus,
        Publisher,
        Query,
        Queryable,
        Sample,
        Session,
        Subscriber,
    )
    from zenoh.ext import AdvancedPublisher, AdvancedSubscriber
    from zenoh.handlers import Callback

DEPTH = 1000
"""History of a reliable topic, as told to others."""
SERVICE_DEPTH = 10
"""History of ROS's services profile."""
HEARTBEAT = 0.5
"""How often late joiners of a latched topic hear which message is the last [s]; rmw_zenoh's number."""
PAYLOAD_LIMIT = 16 * 2**20
"""Longest message that is read [bytes]."""
REQUEST_LIMIT = 4 * 2**20
"""Longest request [bytes]: `REQUESTS` of them may wait."""
ATTACHMENT_LIMIT = 1024
"""Longest attachment that is looked at [bytes]."""
REQUESTS = 64
"""Requests that wait for a service; further ones are refused."""
SERVICE_THREADS = 4
"""Requests that are answered at once: one that waits for the loop does not hold up the others."""
DISCOVERY = 0.5
"""How long others may take to be known [s]."""
WATCH = 0.25
"""How often the connections are looked at [s]."""
NAMES = 100
"""Names of subscribers that a topic keeps."""
DEFAULT_QOS = Qos()
Item = TypeVar("Item")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")


class Publication(TopicHandle):
    """A topic that is published."""

    def __init__(self, node: ZenohNode, topic: str, type_name: str, latch: bool, endpoint: Endpoint) -> None:
        super().__init__(topic, type_name, latch)
        self._node = node
        self.endpoint = endpoint
        self.gid = endpoint.gid
        self.matched = False
        self.sequence = 0
        self._period = 0
        self.publisher: Publisher | AdvancedPublisher | None = None
        self.listener: MatchingListener[None] | None = None

    @property
    def active(self) -> bool:
        """Whether a message would go anywhere."""
        return self.matched or self.latch

    @property
    def subscribers(self) -> list[str]:
        """Names of the nodes that listen or have listened; programs that are no ROS nodes have none."""
        return super().subscribers or (["a program without a node"] if self.matched else [])

    def match(self, matched: bool) -> None:
        """Note whether anybody listens."""
        self._period += matched and not self.matched
        self.matched = matched

    def send(self, data: bytes) -> None:
        """Queue one message, its encapsulation included; never waits."""
        self.count += 1
        # Who listens to a latched topic is not told.
        self.rate.sent(1 if self.latch else self._period if self.matched else 0)
        self._node.outbox.send(self, data)


class _Request:
    """A request of a client, from zenoh's thread to the end of the query."""

    __slots__ = ("_asked", "_codec", "_key", "_node", "_query", "_service", "name", "values")

    def __init__(self, node: ZenohNode, name: str, key: str, service: ServiceType, query: Query) -> None:
        self._node = node
        self._codec = node.codec
        self._key = key
        self._service = service
        self._query: Query | None = query
        self._asked: Attachment | None = None
        self.name = name
        self.values: Message = {}

    def answer(self, take: Callable[[_Request], None]) -> None:
        """Read what is asked and let it be answered; whatever goes wrong is told to the client."""
        try:
            if self._asked is None and self._query is not None:
                self._asked, data = _read(self._query, "a request")
                self.values = self._codec.decode(self._service.request, data)
            take(self)
        except PliantError as error:
            self._node.complain(f"{self.name}: {error}")
            self.refuse(str(error))
        except Exception as error:  # a fault of ours: the client must not wait for ever
            self._node.fail(f"the service {self.name}", error)
            self.refuse(f"{type(error).__name__}: {error}")

    def reply(self, response: Message) -> None:
        """Send the response; a request is answered once."""
        assert self._asked is not None
        data = self._codec.encode(self._service.response, response)
        query, self._query = self._query, None
        if query is None:
            return
        beside = Attachment(
            sequence_number=self._asked.sequence_number, timestamp_ns=time.time_ns(), gid=self._asked.gid
        )
        with query:
            try:
                query.reply(self._key, data, attachment=beside.encode())
            except Exception as error:  # the client is gone, or the session
                self._node.complain(f"{self.name}: the answer was not taken: {error}")

    def refuse(self, text: str) -> None:
        """Tell the client why there is no response."""
        query, self._query = self._query, None
        if query is not None:
            with query, contextlib.suppress(Exception):  # the client is gone, or the session
                query.reply_err(text.encode())


class ZenohNode(Node):
    """One node of ROS 2 on zenoh.

    Args:
        node: name of the node.
        namespace: its name space, beginning with a slash.
        domain: number of the ROS domain; None for ``ROS_DOMAIN_ID``, else 0.
        mode: ``peer`` (as nodes of rmw_zenoh are), ``router`` (they connect to it) or ``client``.
        listen: addresses to listen to; none takes the mode's, on 127.0.0.1.
        connect: addresses to connect to; none takes the mode's, on 127.0.0.1.

    Raises:
        BridgeError: no such domain or mode, or no name for a node.
    """

    wire = "zenoh"

    def __init__(
        self,
        node: str,
        *,
        namespace: str = "/",
        domain: int | None = None,
        mode: str = "peer",
        listen: tuple[str, ...] = (),
        connect: tuple[str, ...] = (),
    ) -> None:
        if mode not in MODES:
            raise BridgeError(f"mode is {mode!r}; {nearest(mode, MODES)}", field="mode")
        if mode == "client" and listen:
            raise BridgeError("mode=client does not listen; omit listen, or use mode=peer", field="listen")
        if not _NAME.fullmatch(node):
            raise BridgeError(
                f"node is {node!r}; must be a name of letters, digits and underscores that does not begin with a digit",
                field="node",
            )
        self.node = node
        self.namespace = "/" + namespace.strip("/")
        self.domain = domain_number(domain)
        self.mode = mode
        self.listen = listen or MODES[mode][0]
        self.connect = connect or MODES[mode][1]
        super().__init__(Codec(2))
        self.publications: dict[str, Publication] = {}
        self.outbox = Outbox("zenoh-writer", self._put, threads=self.threads)
        self.refused_requests = 0
        """Requests refused because too many waited."""
        self.connected = 0
        """Routers, peers and clients that this session is connected to."""
        self.lost_text = ""
        """Why the wire is lost; "" while somebody is connected, or before anybody was."""
        self._session: Session
        self._zenoh: ModuleType
        self._graph: Graph | None = None
        self._liveliness: Subscriber[None] | None = None
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._tokens: list[LivelinessToken] = []
        self._subscriptions: dict[str, tuple[Subscriber[None] | AdvancedSubscriber[None], LivelinessToken]] = {}
        self._services: dict[str, tuple[Queryable[None], LivelinessToken]] = {}
        self._pool: WorkerPool | None = None
        self._stopping = threading.Event()

    # ------------------------------------------------------------------ life
    def start(self) -> None:
        """Open the session and start the threads.

        Raises:
            MissingDependency: eclipse-zenoh is not installed.
            BridgeError: an address is in use, or no router answers a client.
        """
        self._zenoh = zenoh = load_zenoh()
        self._interval.shorten()
        self.outbox.direct = self.lockstep
        try:
            self._open(zenoh)
        except BaseException:
            self._interval.restore()
            raise

    def _open(self, zenoh: ModuleType) -> None:
        self._session = session = open_session(zenoh, self.mode, self.listen, self.connect)
        self._graph = Graph(str(session.zid()), self.complain)
        self._liveliness = session.liveliness().declare_subscriber(
            token_selector(self.domain), self._direct(self._token_changed), history=True
        )
        self._tokens.append(session.liveliness().declare_token(self._endpoint("NN").token()))
        self.outbox.start()
        self._pool = WorkerPool(self.threads, "zenoh-service", workers=SERVICE_THREADS, limit=REQUESTS)
        self.threads.start("zenoh-watch", self._watch_loop)

    def stop(self) -> None:
        """Send what is queued, leave, join the threads. May be called twice."""
        if self._graph is None or self._stopping.is_set():
            return
        self.threads.close()
        self._stopping.set()
        self.outbox.stop()
        if self._pool is not None:
            self._pool.close()
        self.threads.join(5.0)
        with self._lock:
            for publication in self.publications.values():
                publication.matched = publication.latch = False
                publication.publisher = None
            self._subscriptions.clear()
            self._services.clear()
            self._tokens.clear()
        self._session.close()
        self._interval.restore()

    # ------------------------------------------------------------------ endpoints
    def _endpoint(
        self, kind: str, name: str = "", dds_type: str = "", type_hash: str = "", qos: Qos = DEFAULT_QOS
    ) -> Endpoint:
        return Endpoint(
            domain=self.domain,
            session=str(self._session.zid()),
            node_id=0,
            entity_id=0 if kind == "NN" else next(self._numbers),
            kind=kind,
            namespace=self.namespace,
            node=self.node,
            name=name,
            dds_type=dds_type,
            type_hash=type_hash,
            qos=qos,
        )

    def _message_endpoint(self, kind: str, topic: str, type_name: str, qos: Qos) -> Endpoint:
        return self._endpoint(kind, topic, dds_type_name(type_name), self.codec.types.rihs01(type_name), qos)

    def _direct(self, call: Callable[[Item], None]) -> Callback[Item]:
        """A callback that zenoh's receiving thread calls itself: no thread per topic, no queue in between."""

        def guarded(item: Item) -> None:
            try:
                call(item)
            except Exception as error:  # a fault of ours must not reach zenoh's threads
                self.fail("a callback of zenoh", error)

        return self._zenoh.handlers.Callback(guarded, indirect=False)

    def _declare_token(self, endpoint: Endpoint) -> LivelinessToken:
        assert self._graph is not None
        self._graph.add_own(endpoint)
        return self._session.liveliness().declare_token(endpoint.token())

    def _token_changed(self, sample: Sample) -> None:
        assert self._graph is not None
        token = str(sample.key_expr)
        if sample.kind == self._zenoh.SampleKind.DELETE:
            self._graph.vanished(token)
            return
        endpoint = self._graph.appeared(token)
        if endpoint is not None and endpoint.kind == "MP":
            self.on_publication(endpoint.name, endpoint.node_name)
        if endpoint is not None and endpoint.kind == "MS":
            publication = self.publications.get(endpoint.name)
            if publication is not None:
                self._note_subscriber(publication, endpoint)

    @staticmethod
    def _note_subscriber(publication: Publication, endpoint: Endpoint) -> None:
        if endpoint.key == publication.endpoint.key and len(publication.seen) < NAMES:
            publication.seen.add(endpoint.node_name)

    # ------------------------------------------------------------------ topics
    def advertise(self, topic: str, type_name: str, *, latch: bool = False, reliable: bool = True) -> Publication:
        """Publish a topic; zenoh sends each reliably, ``reliable`` is what is announced."""
        zenoh, session = self._zenoh, self._session
        name = "/" + topic.strip("/")
        with self._lock:
            if name in self.publications:
                return self.publications[name]
            depth = 1 if latch else DEPTH
            qos = Qos(reliable=reliable, transient_local=latch, depth=depth)
            endpoint = self._message_endpoint("MP", name, type_name, qos)
            publication = Publication(self, name, type_name, latch, endpoint)
            options = {
                "congestion_control": zenoh.CongestionControl.DROP,
                "reliability": zenoh.Reliability.RELIABLE,
                # The node hears itself where it forwards references.
                "allowed_destination": zenoh.Locality.REMOTE,
            }
            try:
                if latch:
                    publication.publisher = zenoh.ext.declare_advanced_publisher(
                        session,
                        endpoint.key,
                        **options,
                        cache=zenoh.ext.CacheConfig(depth),
                        publisher_detection=True,
                        sample_miss_detection=zenoh.ext.MissDetectionConfig(
                            heartbeat=None, sporadic_heartbeat=HEARTBEAT
                        ),
                    )
                else:
                    publication.publisher = publisher = session.declare_publisher(endpoint.key, **options)
                    publication.listener = self._listen_for_matches(publication, publisher)
                self._tokens.append(self._declare_token(endpoint))
            except zenoh.ZError as error:
                raise BridgeError(f"{name} cannot be published: {error}", field=name) from None
            self.publications[name] = publication
        if self._graph is not None:
            for other in self._graph.endpoints("MS", name):
                self._note_subscriber(publication, other)
        return publication

    def _listen_for_matches(self, publication: Publication, publisher: Publisher) -> MatchingListener[None]:
        def changed(status: MatchingStatus) -> None:
            publication.match(bool(status.matching))

        listener = publisher.declare_matching_listener(self._direct(changed))
        # The listener hears changes only.
        if cast("MatchingStatus", publisher.matching_status).matching:
            publication.match(True)
        return listener

    def subscribe(self, topic: str, type_name: str, callback: MessageCallback) -> None:
        """Listen to a topic; the callback runs in a thread of zenoh and must be short."""
        self._listen(topic, type_name, callback, latched=False)

    def subscribe_latched(self, topic: str, type_name: str, callback: MessageCallback) -> None:
        """Listen to a topic and to what latched publishers have sent before; see `subscribe`."""
        self._listen(topic, type_name, callback, latched=True)

    def _listen(self, topic: str, type_name: str, callback: MessageCallback, *, latched: bool) -> None:
        zenoh = self._zenoh
        name = "/" + topic.strip("/")
        kind = self.codec.types.message(type_name)

        def arrived(sample: Sample) -> None:
            if self._stopping.is_set() or sample.kind != zenoh.SampleKind.PUT:
                return
            try:
                callback(self.codec.decode(kind, _read(sample, "a message")[1]))
            except WireError as error:
                self.complain(f"{name}: {error}")

        endpoint = self._message_endpoint("MS", name, type_name, Qos(transient_local=latched, depth=DEPTH))
        given = endpoint.key, self._direct(arrived)
        with self._lock:
            try:
                if latched:
                    history = zenoh.ext.HistoryConfig(detect_late_publishers=True, max_samples=1)
                    subscriber = zenoh.ext.declare_advanced_subscriber(
                        self._session, *given, allowed_origin=zenoh.Locality.REMOTE, history=history
                    )
                else:
                    subscriber = self._session.declare_subscriber(*given, allowed_origin=zenoh.Locality.REMOTE)
                self._subscriptions[name] = subscriber, self._declare_token(endpoint)
            except zenoh.ZError as error:
                raise BridgeError(f"{name} cannot be listened to: {error}", field=name) from None

    def unsubscribe(self, topic: str) -> None:
        name = "/" + topic.strip("/")
        with self._lock:
            found = self._subscriptions.pop(name, None)
        if found is not None:
            subscriber, token = found
            subscriber.undeclare()
            token.undeclare()
            if self._graph is not None:
                self._graph.remove_own("MS", name)

    def taken(self, topics: list[str], patience: float = DISCOVERY) -> dict[str, list[str]]:
        """Return the topics that nodes of other sessions publish already, and which nodes.

        Args:
            topics: names in ROS.
            patience: how long others may take to be known [s]: the tokens come after the session is open.
        """
        assert self._graph is not None
        end = time.monotonic() + patience
        while True:
            found = {
                topic: sorted({endpoint.node_name for endpoint in endpoints})
                for topic in topics
                if (endpoints := self._graph.endpoints("MP", topic))
            }
            # Nobody can have come to a router that has just begun to listen.
            if found or time.monotonic() > end or not self.connect:
                return found
            self._stopping.wait(0.02)

    # ------------------------------------------------------------------ services
    def serve(self, name: str, type_name: str, callback: ServiceCallback) -> None:
        """Answer a service; a `PliantError` of the callback goes to the client as zenoh's error reply."""
        self._serve(name, type_name, lambda request: request.reply(callback(request.values)))

    def serve_later(self, name: str, type_name: str, callback: DeferredService) -> None:
        """Answer a service whose reply comes later."""

        def take(request: _Request) -> None:
            callback(request.values, lambda response: self._respond(request, response))

        self._serve(name, type_name, take)

    def serve_action(self, name: str, type_name: str, server: ActionServer) -> None:
        """Take the goals of an action by the services and topics of rcl_action."""
        ActionServices(self, name, type_name, server)

    def _respond(self, request: _Request, response: Message) -> None:
        """Reply in a thread of the services: the caller may be the loop, and a client that does not read blocks."""
        if not self._submit(lambda: request.answer(lambda _: request.reply(response))):
            self.complain(f"{request.name}: {REQUESTS} requests and answers wait already; one more answer is lost")

    def _submit(self, job: Callable[[], None]) -> bool:
        """Let a thread of the services do a job; count it where too many wait."""
        taken = self._pool is not None and self._pool.submit(job)
        self.refused_requests += not taken
        return taken

    def _serve(self, name: str, type_name: str, take: Callable[[_Request], None]) -> None:
        zenoh = self._zenoh
        full = "/" + name.strip("/")
        types = self.codec.types
        service = types.service(type_name)
        qos = Qos(depth=SERVICE_DEPTH)
        endpoint = self._endpoint("SS", full, dds_type_name(type_name, "srv"), types.rihs01(type_name), qos)

        def asked(query: Query) -> None:
            request = _Request(self, full, endpoint.key, service, query)
            size = 0 if query.payload is None else len(query.payload)
            if size > REQUEST_LIMIT:
                self.complain(f"{full}: a request of {size} bytes; must be at most {REQUEST_LIMIT}")
                request.refuse(f"{size} bytes; must be at most {REQUEST_LIMIT}")
                return
            if not self._submit(lambda: request.answer(take)):
                self.complain(f"{full}: {REQUESTS} requests wait already; one more is refused")
                request.refuse(f"{REQUESTS} requests wait already")

        with self._lock:
            try:
                queryable = self._session.declare_queryable(endpoint.key, self._direct(asked), complete=True)
                self._services[full] = queryable, self._declare_token(endpoint)
            except zenoh.ZError as error:
                raise BridgeError(f"{full} cannot be served: {error}", field=full) from None

    # ------------------------------------------------------------------ threads
    def _put(self, publication: Publication, data: bytes) -> None:
        publisher = publication.publisher
        if publisher is None:
            return
        publication.sequence += 1
        attachment = Attachment(
            sequence_number=publication.sequence, timestamp_ns=time.time_ns(), gid=publication.gid
        ).encode()
        try:
            publisher.put(data, attachment=attachment)
        except Exception as error:  # whatever zenoh says, the writer goes on
            publication.drops += 1
            self.complain(f"{publication.topic}: not sent: {error}")

    def _watch_loop(self) -> None:
        info = self._session.info
        # Before zenoh 1.9 there are no transports, and clients of a router are not counted.
        count = getattr(info, "transports", lambda: [*info.routers_zid(), *info.peers_zid()])
        began, told, ever = time.monotonic(), False, False
        where = ", ".join(self.connect)
        while not self._stopping.wait(WATCH):
            try:
                self.connected = len(count())
            except Exception:  # the session is being closed, or this once it cannot be asked
                continue
            if not self.connect:
                continue
            if self.connected:
                if self.lost_text:
                    self.complain(f"connected again to {where}")
                self.lost_text, ever, told = "", True, False
            elif ever and not self.lost_text:
                self.lost_text = f"nobody is connected any more: the zenoh router at {where} is gone"
                self.complain(self.lost_text)
            elif not (ever or told) and time.monotonic() - began > 4 * WATCH:
                told = True
                self.complain(
                    f"no zenoh router answers at {where} yet: start one (ros2 run rmw_zenoh_cpp rmw_zenohd), or let "
                    "pliant be the router (mode=router)"
                )

    # ------------------------------------------------------------------ state
    def flush(self) -> None:
        self.outbox.flush()

    def lost(self) -> str:
        """Return that the router is gone, "" while it is there."""
        return self.lost_text

    def where(self) -> str:
        """Return mode, addresses and domain."""
        router = self.mode == "router"
        at = f"listening to {', '.join(self.listen)}" if router else f"router {', '.join(self.connect)}"
        return f"zenoh {self.mode}, {at}, ROS domain {self.domain}"

    def health(self) -> dict[str, object]:
        """Return mode, domain, who is connected, what waits, and the last faults."""
        return {
            "domain": self.domain,
            "mode": self.mode,
            "connected": self.connected,
            "waiting": len(self.outbox),
            "refused_requests": self.refused_requests,
            "lost": self.lost_text,
            **super().health(),
        }


def _read(item: Sample | Query, what: str) -> tuple[Attachment, bytes]:
    """Return what travels beside a message or request, and its content.

    Raises:
        WireError: one of them is missing, too long or not valid.
    """
    beside, payload = item.attachment, item.payload
    if beside is None:
        raise WireError(
            f"{what} without attachment; a node of rmw_zenoh sends sequence number, time and identifier with each",
            field="attachment",
        )
    if len(beside) > ATTACHMENT_LIMIT:
        raise WireError(f"{what} with an attachment of {len(beside)} bytes", field="attachment")
    if payload is None:
        raise WireError(f"{what} without content", field="payload")
    if len(payload) > PAYLOAD_LIMIT:
        raise WireError(f"{what} of {len(payload)} bytes; must be at most {PAYLOAD_LIMIT}", field="payload")
    return Attachment.decode(bytes(beside)), bytes(payload)
