"""A node of ROS 1: the master's XML-RPC, the node's own XML-RPC, TCPROS topics and services.

It needs no ROS on this side, only a master (roscore) to register with; every client that speaks TCPROS (rospy, roscpp,
rosbag, rqt) connects to it. The wire is the public one: http://wiki.ros.org/ROS/TCPROS and /ROS/Master_API.

Threads: ``ros1-io`` owns the sockets, ``ros1-slave`` takes XML-RPC connections and ``ros1-xmlrpc`` threads answer them,
``ros1-master`` talks to the master and to other nodes, ``ros1-service`` threads run services. The caller of
`Publication.send` only appends to bounded queues. What a connection does wrong ends that connection.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import selectors
import socket
import threading
import time
import urllib.parse
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pliant.base.errors import BridgeError, PliantError, WireError
from pliant.base.listening import listening_address
from pliant.base.threads import WorkerPool
from pliant.ros.bridge.actions import ActionServer
from pliant.ros.bridge.node import Node
from pliant.ros.bridge.send_rate import SendRate
from pliant.ros.ros1.actionlib import ActionTopics
from pliant.ros.ros1.xml_rpc import XML_RPC_ERRORS, XmlRpcServer, check_uris, proxy, read_tcpros_address
from pliant.ros.wire import Codec, Framer, decode_header, encode_header, service_response
from pliant.ros.wire.tcpros import HEADER_LIMIT

__all__ = ["Publication", "Ros1Node"]

QUEUE = 1000
"""Messages that wait for one subscriber before the oldest is dropped."""
QUEUE_BYTES = 16 * 2**20
"""Bytes of one topic that wait for one subscriber before the oldest message is dropped: images reach this first."""
CALL_TIMEOUT = 2.0
"""Longest wait for an XML-RPC answer [s]."""
HEARTBEAT = 1.0
"""How often the master is asked whether it lives [s of wall time]."""
MAX_BACKOFF_S = 32.0
"""Longest time between two tries to reach a publisher that the master lists [s]; the first come sooner."""
CLIENT_TIMEOUT_S = 10.0
"""How long a client may take to say what it wants, and a publisher to answer [s]."""
SERVICE_IDLE_S = 300.0
"""How long a persistent connection to a service may ask nothing before it is closed [s]."""
SERVICE_THREADS = 4
"""Services that run at the same time."""
MAX_CONNECTIONS = 512
"""Connections at once; further ones are closed."""
MAX_WAITING_REQUESTS = 64
"""Requests on one connection that wait for their answer."""
MAX_WAITING_WORK = 1000
"""Updates of publishers that wait until the others have been contacted."""
_log = logging.getLogger("pliant.ros1")


def _check_master(uri: str) -> None:
    try:
        parts = urllib.parse.urlsplit(uri)
        good = parts.scheme == "http" and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, or too large; brackets that do not close
        good = False
    if not good:
        raise BridgeError(
            f"the address of the ROS master is {uri!r}; must be http://HOST:PORT, such as http://127.0.0.1:11311, as "
            "ros1:master= or in ROS_MASTER_URI",
            field="master",
        )


class _Connection:
    """One TCP connection: bounded output, framed input."""

    __slots__ = (
        "drops",
        "framer",
        "limit",
        "name",
        "on_frame",
        "out",
        "partial",
        "requests",
        "role",
        "sent",
        "serving",
        "since",
        "sock",
        "topic",
    )  # fmt: skip

    def __init__(self, sock: socket.socket, role: str) -> None:
        sock.setblocking(False)
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self.role = role
        self.name = "?"
        self.topic = ""
        self.framer = Framer(HEADER_LIMIT)
        self.on_frame: Callable[[_Connection, bytes], None] | None = None
        self.out: deque[bytes] = deque()
        self.partial: memoryview | None = None
        self.limit = QUEUE
        self.drops = 0
        self.sent = 0
        self.since = time.monotonic()
        self.requests: deque[bytes] = deque()
        self.serving = False


class Publication:
    """A topic that this node publishes."""

    __slots__ = (
        "_joining", "_node", "_period", "connections", "count", "drops", "last", "latch", "limit", "md5sum", "rate",
        "seen", "text", "topic", "type",
    )  # fmt: skip

    def __init__(self, node: Ros1Node, topic: str, type_name: str, latch: bool, limit: int) -> None:
        self._node = node
        self.topic = topic
        self.type = type_name
        self.md5sum = node.codec.types.md5sum(type_name)
        self.text = node.codec.types.full_text(type_name)
        self.latch = latch
        self.limit = limit
        self.connections: tuple[_Connection, ...] = ()
        self._joining = threading.Lock()
        self.count = 0
        self.drops = 0
        self.last: bytes | None = None
        self.rate = SendRate()
        self._period = 0
        self.seen: set[str] = set()

    @property
    def active(self) -> bool:
        """Whether a message would go anywhere; if not, it need not be encoded."""
        return bool(self.connections) or self.latch

    @property
    def subscribers(self) -> list[str]:
        """Names of the nodes that listen, or have listened."""
        return sorted(self.seen)

    def send(self, data: bytes) -> None:
        """Queue one message, its length included, for every subscriber; never waits."""
        self.count += 1
        self.rate.sent(self._period if self.connections else 0)
        if self.latch:
            with self._joining:
                self.last = data
                self._queue(data)
        else:
            self._queue(data)
        if self.connections:
            self._node.flush()

    def join(self, connection: _Connection) -> None:
        """Add a subscriber, and queue the latched message for it: nothing falls between that and what follows."""
        with self._joining:
            if self.last is not None:
                connection.out.append(self.last)
            self._period += not self.connections
            self.connections = (*self.connections, connection)
        self.seen.add(connection.name)

    def _queue(self, data: bytes) -> None:
        fit = max(2, QUEUE_BYTES // max(1, len(data)))  # messages of one topic are about equally long
        for connection in self.connections:
            out = connection.out
            if len(out) >= min(connection.limit, fit):
                with contextlib.suppress(IndexError):
                    out.popleft()
                connection.drops += 1
                self.drops += 1
            out.append(data)


class _Subscription:
    __slots__ = (
        "backoff", "callback", "connections", "count", "faulty", "malformed", "md5sum", "pending", "publishers",
        "refused", "retry_at", "topic", "type",
    )  # fmt: skip

    def __init__(self, topic: str, type_name: str, md5sum: str, callback: Callable[[dict[str, Any]], None]) -> None:
        self.topic = topic
        self.type = type_name
        self.md5sum = md5sum
        self.callback = callback
        self.connections: dict[str, _Connection] = {}
        self.pending: set[str] = set()
        self.publishers: frozenset[str] = frozenset()
        """Addresses of the publishers, as the master told last."""
        self.faulty: set[str] = set()
        """Publishers that were complained about; they are tried on in silence."""
        self.refused: set[str] = set()
        """Publishers of another type; they are not tried until the master tells of publishers anew."""
        self.backoff = HEARTBEAT
        self.retry_at = 0.0
        self.count = 0
        self.malformed = 0


class _Service:
    __slots__ = ("callback", "count", "md5sum", "name", "type")

    def __init__(self, name: str, type_name: str, md5sum: str, callback: Callable[[dict[str, Any]], dict[str, Any]]):
        self.name = name
        self.type = type_name
        self.md5sum = md5sum
        self.callback = callback
        self.count = 0


class Ros1Node(Node):
    """A node of ROS 1.

    Args:
        name: global name, such as ``"/pliant"``.
        master: address of the master; None for ``ROS_MASTER_URI``, else ``http://127.0.0.1:11311``.
        host: address to listen on, told to other nodes; None for ``ROS_IP``, ``ROS_HOSTNAME``, else 127.0.0.1.
    """

    wire = "ros1"
    state_type = "viactors_plugins/state_info"

    def __init__(self, name: str, *, master: str | None = None, host: str | None = None) -> None:
        super().__init__(Codec(1))
        self.name = "/" + name.strip("/")
        self.master_uri = master or os.environ.get("ROS_MASTER_URI") or "http://127.0.0.1:11311"
        self.host = host or os.environ.get("ROS_IP") or os.environ.get("ROS_HOSTNAME") or "127.0.0.1"
        self.publications: dict[str, Publication] = {}
        self.subscriptions: dict[str, _Subscription] = {}
        self.services: dict[str, _Service] = {}
        self.on_shutdown: Callable[[str], None] | None = None
        """Called, in any thread, with who wants this node to end, and why (``rosnode kill``); None: it goes on."""
        self.master_gone_since: float | None = None
        self.master_losses = 0
        self._master_pid = 0
        self._lock = threading.RLock()
        self._selector: selectors.BaseSelector | None = None
        self._sleeping = False
        self._stopping = threading.Event()
        self._stopped = False
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._pool: WorkerPool | None = None
        self._links: set[_Connection] = set()
        self._registered = False
        self._parameters: dict[str, Any] = {}
        self.uri = ""
        self.tcp_port = 0

    # ------------------------------------------------------------------ life
    def start(self) -> None:
        """Open the sockets, check the master, start the threads; `register` then tells the master what is there.

        Raises:
            BridgeError: no master answers, or another living node has this name.
        """
        _check_master(self.master_uri)
        try:
            socket.getaddrinfo(self.host, None)
        except (OSError, UnicodeError) as error:
            raise BridgeError(
                f"the host is {self.host!r}, a name without an address ({error}): no node could connect. Valid is a "
                "name or an address of this machine, such as 127.0.0.1; it comes from host=, ROS_IP, ROS_HOSTNAME",
                field="host",
            ) from None
        master = proxy(self.master_uri)
        try:
            self._master_pid = self._call(master.getPid, self.name)
        except XML_RPC_ERRORS as error:
            raise BridgeError(
                f"no ROS master answers at {self.master_uri} ({error}). Start one with: roscore "
                "(on Debian: apt-get install python3-roslaunch python3-rosmaster), or set ROS_MASTER_URI",
                field="master",
            ) from None
        taken = ""
        with contextlib.suppress(*XML_RPC_ERRORS):  # most often it does not know that name
            other = self._call(master.lookupNode, self.name, self.name)
            if self._lives(other):
                taken = other
        if taken:
            raise BridgeError(
                f"another node is called {self.name} ({taken}); give this one another name or name space", field="name"
            )
        try:
            bind = listening_address(self.host, "host")
            listener = socket.create_server((bind, 0), backlog=64)
            self._slave = XmlRpcServer((bind, 0))
        except OSError as error:
            raise BridgeError(f"cannot listen on {self.host}: {error}", field="host") from None
        listener.setblocking(False)
        self._listener = listener
        self.tcp_port = listener.getsockname()[1]
        self.uri = f"http://{self.host}:{self._slave.server_address[1]}/"
        for method in (
            "getBusStats", "getBusInfo", "getMasterUri", "shutdown", "getPid", "getSubscriptions", "getPublications",
            "paramUpdate", "publisherUpdate", "requestTopic", "getName",
        ):  # fmt: skip
            self._slave.register_function(getattr(self, f"_api_{method}"), method)
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, None)
        self._wake_out, self._wake_in = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self._selector.register(self._wake_in, selectors.EVENT_READ, "wake")
        self._pool = WorkerPool(self.threads, "ros1-service", workers=SERVICE_THREADS, limit=MAX_CONNECTIONS)
        for name, target in (
            ("ros1-io", self._io_loop),
            ("ros1-slave", lambda: self._slave.serve_forever(poll_interval=0.1)),
            ("ros1-master", self._master_loop),
        ):
            self.threads.start(name, target)
        self._interval.shorten()

    def announce(self) -> None:
        """Register every topic, service and parameter with the master; later ones follow as they are made.

        Raises:
            BridgeError: the master refuses or does not answer.
        """
        self._registered = True
        try:
            self._register_all()
        except XML_RPC_ERRORS as error:
            raise BridgeError(f"the ROS master at {self.master_uri} did not accept the topics: {error}") from None

    def stop(self) -> None:
        """Take everything back from the master, close the sockets, join the threads. May be called twice."""
        if self._stopped or self._selector is None:
            return
        self._stopped = True
        deadline = time.monotonic() + 0.5  # give what is queued a chance
        while time.monotonic() < deadline and any(c.out or c.partial is not None for c in list(self._links)):
            time.sleep(0.002)
        self.threads.close()
        self._stopping.set()
        if self.master_gone_since is None:
            with contextlib.suppress(Exception):
                self._unregister_all()
        self._work.put(None)
        self._kick()
        self._slave.shutdown()
        self._slave.server_close()
        if self._pool is not None:
            self._pool.close()
        self.threads.join(5.0)
        for connection in list(self._links):
            self._close(connection)
        self._selector.close()
        self._listener.close()
        self._wake_in.close()
        self._wake_out.close()
        self._interval.restore()

    # ------------------------------------------------------------------ topics, services, parameters
    def advertise(self, topic: str, type_name: str, *, latch: bool = False, limit: int = QUEUE) -> Publication:
        """Publish a topic; a second call of the same topic gives the same publication."""
        topic = "/" + topic.strip("/")
        with self._lock:
            found = self.publications.get(topic)
            if found is not None:
                return found
            publication = self.publications[topic] = Publication(self, topic, type_name, latch, limit)
        if self._registered:
            self._work.put(lambda: self._register_publication(proxy(self.master_uri), publication))
        return publication

    def subscribe(self, topic: str, type_name: str, callback: Callable[[dict[str, Any]], None]) -> None:
        """Listen to a topic; the callback runs in the thread of the sockets and must be short."""
        topic = "/" + topic.strip("/")
        subscription = _Subscription(topic, type_name, self.codec.types.md5sum(type_name), callback)
        with self._lock:
            self.subscriptions[topic] = subscription
        if self._registered:
            self._work.put(lambda: self._register_subscription(proxy(self.master_uri), subscription))

    def unsubscribe(self, topic: str) -> None:
        """Stop listening."""
        topic = "/" + topic.strip("/")
        with self._lock:
            subscription = self.subscriptions.pop(topic, None)
        if subscription is None:
            return
        for connection in list(subscription.connections.values()):
            self._shut(connection)
        if self._registered:
            self._work.put(lambda: self._call(proxy(self.master_uri).unregisterSubscriber, self.name, topic, self.uri))

    def serve(self, name: str, type_name: str, callback: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Serve a service; the callback runs in a thread of its own and may wait.

        Its `PliantError` becomes the error that the caller gets.
        """
        name = "/" + name.strip("/")
        service = _Service(name, type_name, self.codec.types.md5sum(type_name), callback)
        with self._lock:
            self.services[name] = service
        if self._registered:
            self._work.put(lambda: self._register_service(proxy(self.master_uri), service))

    def set_param(self, name: str, value: Any) -> None:
        """Set a parameter of the server, now and whenever the master comes back."""
        name = "/" + name.strip("/")
        with self._lock:
            self._parameters[name] = value
        if self._registered:
            self._work.put(lambda: self._call(proxy(self.master_uri).setParam, self.name, name, value))

    def serve_action(self, name: str, type_name: str, server: ActionServer) -> None:
        """Serve an action, as actionlib does."""
        ActionTopics(self, self.name, name, type_name, server)

    def get_param(self, name: str) -> Any:
        """Return a parameter of the server; None where it has none of that name, or does not answer."""
        try:
            return self._call(proxy(self.master_uri).getParam, self.name, name)
        except XML_RPC_ERRORS:
            return None

    def taken(self, topics: list[str]) -> dict[str, list[str]]:
        """Return those of the topics that living nodes other than this one publish, with the nodes."""
        wanted = {"/" + topic.strip("/") for topic in topics}
        found: dict[str, list[str]] = {}
        alive: dict[str, bool] = {}
        for topic, node in self._published():
            if topic not in wanted or node == self.name:
                continue
            if node not in alive:
                try:
                    alive[node] = self._lives(self._call(proxy(self.master_uri).lookupNode, self.name, node))
                except XML_RPC_ERRORS:
                    alive[node] = False
            if alive[node]:
                found.setdefault(topic, []).append(node)
        return found

    # ------------------------------------------------------------------ state
    def lost(self) -> str:
        """Return that the master is gone, "" while it is there."""
        return "" if self.master_gone_since is None else f"the ROS master at {self.master_uri} is gone"

    def where(self) -> str:
        """Return the master's address."""
        return self.master_uri

    def health(self) -> dict[str, Any]:
        """Return the state of the master and the last faults."""
        return {
            "master": self.master_uri,
            "master_state": "ok" if self.master_gone_since is None else "gone",
            "master_losses": self.master_losses,
            **super().health(),
        }

    # ------------------------------------------------------------------ master
    @staticmethod
    def _call(method: Any, *args: Any) -> Any:
        answer = method(*args)
        if not isinstance(answer, list) or len(answer) != 3:
            raise WireError(f"the ROS master answered {str(answer)[:80]!r}; must be [code, message, value]")
        code, message, value = answer
        if code != 1:
            raise BridgeError(f"the ROS master refused: {str(message)[:200]}")
        return value

    @staticmethod
    def _lives(uri: str) -> bool:
        try:
            answer = proxy(check_uris([uri])[0]).getPid("/pliant_probe")
        except XML_RPC_ERRORS:
            return False
        return isinstance(answer, list) and answer[:1] == [1]

    def _register_all(self) -> None:
        master = proxy(self.master_uri)
        with self._lock:
            publications = list(self.publications.values())
            subscriptions = list(self.subscriptions.values())
            services = list(self.services.values())
            parameters = dict(self._parameters)
        for name, value in parameters.items():
            self._call(master.setParam, self.name, name, value)
        for publication in publications:
            self._register_publication(master, publication)
        for service in services:
            self._register_service(master, service)
        for subscription in subscriptions:
            self._register_subscription(master, subscription)

    def _register_publication(self, master: Any, publication: Publication) -> None:
        self._call(master.registerPublisher, self.name, publication.topic, publication.type, self.uri)

    def _register_subscription(self, master: Any, subscription: _Subscription) -> None:
        uris = check_uris(
            self._call(master.registerSubscriber, self.name, subscription.topic, subscription.type, self.uri)
        )
        self._work.put(lambda: self._connect_publishers(subscription, uris, new=True))

    def _register_service(self, master: Any, service: _Service) -> None:
        api = f"rosrpc://{self.host}:{self.tcp_port}"
        self._call(master.registerService, self.name, service.name, api, self.uri)

    def _unregister_all(self) -> None:
        master = proxy(self.master_uri)
        api = f"rosrpc://{self.host}:{self.tcp_port}"
        for publication in self.publications.values():
            master.unregisterPublisher(self.name, publication.topic, self.uri)
        for subscription in self.subscriptions.values():
            master.unregisterSubscriber(self.name, subscription.topic, self.uri)
        for service in self.services.values():
            master.unregisterService(self.name, service.name, api)

    def _master_loop(self) -> None:
        due = time.monotonic() + HEARTBEAT
        while not self._stopping.is_set():
            try:
                work = self._work.get(timeout=max(0.01, due - time.monotonic()))
                if work is None:
                    return
                self._guard(work)
                continue
            except queue.Empty:
                pass
            due = time.monotonic() + HEARTBEAT
            for task in (self._heartbeat, self._look_at_publications, self._look_after_connections):
                self._guard(task)

    def _guard(self, work: Callable[[], None]) -> None:
        """Do something that talks to others; what they do wrong costs this work, not the thread."""
        try:
            work()
        except XML_RPC_ERRORS as error:
            if not self._stopping.is_set():
                self.complain(f"talking to {self.master_uri} or a node failed: {str(error)[:200]}")
        except Exception as error:
            self.fail("talking to the master or a node", error)

    def _heartbeat(self) -> None:
        try:
            pid = self._call(proxy(self.master_uri).getPid, self.name)
        except XML_RPC_ERRORS:
            if self.master_gone_since is None:
                self.master_gone_since = time.time()
                self.master_losses += 1
                self.complain(f"the ROS master at {self.master_uri} is gone; known subscribers are served on")
            return
        if self.master_gone_since is not None or pid != self._master_pid:
            self._master_pid = pid
            try:
                self._register_all()
            except XML_RPC_ERRORS as error:
                self.complain(f"the ROS master came back, but did not accept the topics: {error}")
                return
            self.master_gone_since = None
            _log.warning("the ROS master at %s is back; everything is registered again", self.master_uri)

    def _look_at_publications(self) -> None:
        if self.master_gone_since is not None or not self._registered:
            return
        with contextlib.suppress(*XML_RPC_ERRORS):
            for topic, node in self._published():
                if node != self.name:
                    self.on_publication(topic, node)

    def _published(self) -> list[tuple[str, str]]:
        """Return the topics that the master knows, with each node that publishes them.

        Raises:
            WireError: the master answers something else.
        """
        try:
            rows = self._call(proxy(self.master_uri).getSystemState, self.name)[0]
            found = [(topic, node) for topic, nodes in rows for node in nodes]
        except (TypeError, ValueError, LookupError) as error:
            raise WireError(f"the ROS master did not return the state of the system: {error}") from None
        if not all(isinstance(item, str) for row in found for item in row):
            raise WireError("the ROS master returned names that are not text")
        return found

    def _look_after_connections(self) -> None:
        """Close who says nothing; try those publishers again that are not connected though the master lists them."""
        now = time.monotonic()
        for connection in list(self._links):
            if connection.role in ("unknown", "subscriber", "closing", "draining", "once"):
                limit = CLIENT_TIMEOUT_S
            elif connection.role == "service":
                limit = SERVICE_IDLE_S
            else:
                continue
            if not connection.serving and now - connection.since > limit:
                self._shut(connection)
        with self._lock:
            subscriptions = list(self.subscriptions.values())
        for subscription in subscriptions:
            missing = subscription.publishers - set(subscription.connections) - subscription.refused - {self.uri}
            if not missing:
                subscription.backoff = HEARTBEAT
            elif now >= subscription.retry_at:
                subscription.backoff = min(2.0 * subscription.backoff, MAX_BACKOFF_S)
                subscription.retry_at = now + subscription.backoff
                self._connect_publishers(subscription, subscription.publishers)

    def _connect_publishers(self, subscription: _Subscription, uris: Iterable[str], *, new: bool = False) -> None:
        """Connect to those publishers that are not connected, and leave those that are none any more.

        Args:
            subscription: the topic.
            uris: the publishers.
            new: whether the master has just told of them.
        """
        subscription.publishers = frozenset(uris)
        subscription.faulty &= subscription.publishers
        if new:
            subscription.refused.clear()
            subscription.backoff, subscription.retry_at = HEARTBEAT, time.monotonic() + HEARTBEAT
        wanted = {uri for uri in subscription.publishers - subscription.refused if uri != self.uri}
        for uri, connection in list(subscription.connections.items()):
            if uri not in wanted:
                self._shut(connection)
        for uri in wanted - set(subscription.connections) - subscription.pending:
            subscription.pending.add(uri)
            try:
                self._connect(subscription, uri)
            except XML_RPC_ERRORS as error:
                if uri not in subscription.faulty:
                    subscription.faulty.add(uri)
                    text = f"{subscription.topic}: its publisher at {uri[:200]} cannot be reached: {str(error)[:200]}"
                    self.complain(text)
            finally:
                subscription.pending.discard(uri)

    def _connect(self, subscription: _Subscription, uri: str) -> None:
        answer = proxy(uri).requestTopic(self.name, subscription.topic, [["TCPROS"]])
        sock = socket.create_connection(read_tcpros_address(answer), timeout=CALL_TIMEOUT)
        connection = _Connection(sock, "subscriber")
        connection.topic = subscription.topic
        connection.name = uri
        connection.on_frame = self._publisher_answered
        connection.out.append(
            encode_header(
                {
                    "callerid": self.name,
                    "topic": subscription.topic,
                    "type": subscription.type,
                    "md5sum": subscription.md5sum,
                    "message_definition": self.codec.types.full_text(subscription.type),
                    "tcp_nodelay": "1",
                }
            )
        )
        subscription.connections[uri] = connection
        self._adopt(connection)

    # ------------------------------------------------------------------ sockets
    def flush(self) -> None:
        """Let the thread of the sockets look at the queues."""
        if self._sleeping:
            self._sleeping = False
            self._kick()

    def _kick(self) -> None:
        with contextlib.suppress(OSError):
            self._wake_out.send(b"w")

    def _adopt(self, connection: _Connection) -> None:
        with self._lock:
            self._links.add(connection)
        assert self._selector is not None
        with contextlib.suppress(OSError, ValueError, KeyError):
            self._selector.register(connection.sock, selectors.EVENT_READ, connection)
        self._kick()

    def _shut(self, connection: _Connection) -> None:
        """Ask the thread of the sockets to close a connection, from any thread."""
        with contextlib.suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)

    def _io_loop(self) -> None:
        selector = self._selector
        assert selector is not None
        blocked: set[_Connection] = set()
        while not self._stopping.is_set():
            busy = False
            for connection in list(self._links):
                if connection.out or connection.partial is not None or connection.role == "closing":
                    self._flush(connection)
                    waits = connection.partial is not None
                    if waits != (connection in blocked):
                        self._watch_writable(connection, waits)
                        (blocked.add if waits else blocked.discard)(connection)
            self._sleeping = True
            # A message that was queued, or an end, after the flush and before this line would wait for the next one.
            if any((c.out or c.role == "closing") and c not in blocked for c in list(self._links)):
                busy = True
            try:
                events = selector.select(0.0 if busy else 0.2)
            except OSError:
                continue
            self._sleeping = False
            for key, _ in events:
                if key.data is None:
                    self._accept()
                elif key.data == "wake":
                    with contextlib.suppress(OSError):
                        self._wake_in.recv(4096)
                elif key.data in self._links:
                    self._receive(key.data)
            blocked &= self._links

    def _watch_writable(self, connection: _Connection, waits: bool) -> None:
        assert self._selector is not None
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if waits else 0)
        with contextlib.suppress(OSError, ValueError, KeyError):
            self._selector.modify(connection.sock, events, connection)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            sock, _ = self._listener.accept()
            if len(self._links) >= MAX_CONNECTIONS:
                sock.close()
                self.complain(f"there are {MAX_CONNECTIONS} connections, which is the most; a further one was closed")
                return
            connection = _Connection(sock, "unknown")
            connection.on_frame = self._client_asked
            self._adopt(connection)

    def _flush(self, connection: _Connection) -> None:
        out = connection.out
        while True:
            data = connection.partial
            if data is None:
                count = len(out)
                if not count:
                    if connection.role == "closing":
                        self._finish(connection)
                    return
                try:
                    # The sender may drop the oldest meanwhile; it never takes what is already here.
                    pieces = [out.popleft() for _ in range(min(count, 256))]
                except IndexError:
                    continue
                data = memoryview(pieces[0] if len(pieces) == 1 else b"".join(pieces))
                connection.sent += len(pieces)
            try:
                sent = connection.sock.send(data)
            except (BlockingIOError, InterruptedError):
                connection.partial = data
                return
            except OSError:
                self._close(connection)
                return
            connection.partial = data[sent:] if sent < len(data) else None

    def _receive(self, connection: _Connection) -> None:
        try:
            data = connection.sock.recv(1 << 16)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self._close(connection)
            return
        try:
            while data:
                if connection.on_frame is None:
                    return  # a subscriber has nothing to say
                if connection.role in ("unknown", "subscriber"):  # its header, then perhaps messages
                    frame, data = connection.framer.one(data)
                    if frame is None:
                        return
                    connection.on_frame(connection, frame)
                    continue
                for frame in connection.framer.feed(data):
                    connection.on_frame(connection, frame)
                return
        except Exception as error:
            if not isinstance(error, PliantError):  # one connection must not cost the thread
                self.fail(f"a connection from {connection.name}", error)
            subscription = self.subscriptions.get(connection.topic) if connection.role != "publisher" else None
            told = subscription is not None and connection.name in subscription.faulty
            if subscription is not None:
                subscription.faulty.add(connection.name)
                if connection.role == "subscriber":  # it did not even begin
                    subscription.refused.add(connection.name)
            if not told:
                self.complain(f"{connection.topic or 'a connection'} from {connection.name}: {error}; closed")
            self._close(connection)

    def _finish(self, connection: _Connection) -> None:
        """End our side of a connection; it is closed when the peer ends its side, or CLIENT_TIMEOUT_S later.

        If it were closed while bytes of the peer are unread, the kernel would reset it, and the peer would lose what
        it has not read yet, such as the answer to the only request that a connection may make.
        """
        connection.role = "draining"
        connection.on_frame = None
        connection.since = time.monotonic()
        try:
            connection.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._close(connection)

    def _close(self, connection: _Connection) -> None:
        with self._lock:
            self._links.discard(connection)
            publication = self.publications.get(connection.topic)
            if publication is not None and connection in publication.connections:
                publication.connections = tuple(c for c in publication.connections if c is not connection)
            subscription = self.subscriptions.get(connection.topic)
            if subscription is not None and subscription.connections.get(connection.name) is connection:
                del subscription.connections[connection.name]
        assert self._selector is not None
        with contextlib.suppress(OSError, ValueError, KeyError):
            self._selector.unregister(connection.sock)
        with contextlib.suppress(OSError):
            connection.sock.close()
        connection.out.clear()
        connection.partial = None

    # ------------------------------------------------------------------ what clients ask
    def _refuse(self, connection: _Connection, text: str) -> None:
        self.complain(text)
        connection.out.append(encode_header({"error": text, "callerid": self.name}))
        connection.role = "closing"
        connection.on_frame = None

    def _client_asked(self, connection: _Connection, frame: bytes) -> None:
        header = decode_header(frame[4:])
        connection.name = header.get("callerid", "?")
        if "service" in header:
            self._service_asked(connection, header)
            return
        topic = header.get("topic", "")
        with self._lock:
            publication = self.publications.get(topic)
        if publication is None:
            self._refuse(connection, f"{self.name} does not publish {topic!r}")
            return
        md5sum = header.get("md5sum", "")
        if md5sum not in ("*", publication.md5sum):
            self._refuse(
                connection,
                f"{topic} is a {publication.type} [{publication.md5sum}], but {connection.name} wants "
                f"{header.get('type', '?')} [{md5sum}]",
            )
            return
        connection.out.append(
            encode_header(
                {
                    "callerid": self.name,
                    "topic": topic,
                    "type": publication.type,
                    "md5sum": publication.md5sum,
                    "message_definition": publication.text,
                    "latching": "1" if publication.latch else "0",
                }
            )
        )
        connection.topic = topic
        connection.role = "publisher"
        connection.limit = publication.limit + 2
        connection.on_frame = None
        with self._lock:
            publication.join(connection)

    def _service_asked(self, connection: _Connection, header: Mapping[str, str]) -> None:
        name = header["service"]
        with self._lock:
            service = self.services.get(name)
        if service is None:
            self._refuse(connection, f"{self.name} does not serve {name!r}")
            return
        md5sum = header.get("md5sum", "*")
        if md5sum not in ("*", service.md5sum):
            self._refuse(
                connection,
                f"{name} is a {service.type} [{service.md5sum}], but {connection.name} wants "
                f"{header.get('type', '?')} [{md5sum}]",
            )
            return
        types = service.type
        connection.out.append(
            encode_header(
                {
                    "callerid": self.name,
                    "type": types,
                    "md5sum": service.md5sum,
                    "request_type": f"{types}Request",
                    "response_type": f"{types}Response",
                }
            )
        )
        if header.get("probe") == "1":
            connection.role = "closing"
            connection.on_frame = None
            return
        persistent = header.get("persistent", "").lower() in ("1", "true")
        connection.since = time.monotonic()
        connection.role = "service" if persistent else "once"
        connection.framer = Framer()

        def asked(link: _Connection, frame: bytes) -> None:
            with self._lock:
                waiting = len(link.requests) + link.serving
                # What comes behind the only request is not looked at.
                if link.role == "service" or (link.role == "once" and not waiting):
                    link.requests.append(frame)
            if waiting >= MAX_WAITING_REQUESTS:
                raise WireError(f"{waiting} requests wait for their answer, which is the maximum")
            self._serve_next(service, link)

        connection.on_frame = asked

    def _serve_next(self, service: _Service, link: _Connection) -> None:
        """Let a thread answer the next request of a connection: one at a time, so that the answers keep the order."""
        with self._lock:
            if link.serving or not link.requests:
                return
            link.serving = True
            frame = link.requests.popleft()

        def serve() -> None:
            try:
                self._answer(service, link, frame)
            except Exception as error:
                self.fail(f"the service {service.name}", error)
            with self._lock:
                if link.role == "once":  # as rospy and roscpp do: one answer, then the end
                    link.role = "closing"
                link.serving = False
                link.since = time.monotonic()
            self.flush()
            self._serve_next(service, link)

        if self._pool is None or not self._pool.submit(serve):
            with self._lock:
                link.serving = False
            self._shut(link)

    def _answer(self, service: _Service, connection: _Connection, frame: bytes) -> None:
        types = self.codec.types.service(service.type)
        service.count += 1
        try:
            response = service.callback(self.codec.decode(types.request, frame))
            data = service_response(self.codec.encode(types.response, response))
        except PliantError as error:
            self.complain(f"{service.name}: {error}")
            data = service_response(None, str(error))
        except Exception as error:  # the caller must hear of it, and the thread must live on
            self.fail(f"the service {service.name}", error)
            data = service_response(None, f"{type(error).__name__}: {error}")
        connection.out.append(data)
        self.flush()

    def _publisher_answered(self, connection: _Connection, frame: bytes) -> None:
        header = decode_header(frame[4:])
        with self._lock:
            subscription = self.subscriptions.get(connection.topic)
        if subscription is None:
            self._close(connection)
            return
        if "error" in header:
            raise WireError(f"the publisher refused: {header['error']}")
        md5sum = header.get("md5sum", "")
        if md5sum not in ("*", subscription.md5sum):
            raise WireError(
                f"the publisher {header.get('callerid', '?')} sends {header.get('type', '?')} [{md5sum}]; "
                f"must be {subscription.type} [{subscription.md5sum}]"
            )
        connection.role = "messages"
        connection.framer = Framer()
        codec, types = self.codec, self.codec.types.message(subscription.type)

        def arrived(_: _Connection, frame: bytes) -> None:
            try:
                subscription.count += 1
                subscription.callback(codec.decode(types, frame))
            except WireError as error:
                subscription.malformed += 1
                self.complain(f"{subscription.topic}: {error}")
            except Exception as error:  # a fault of ours must not stop the sockets
                self.fail(f"a message on {subscription.topic}", error)

        connection.on_frame = arrived

    # ------------------------------------------------------------------ XML-RPC of the node
    def _api_getName(self, _: str) -> list[Any]:
        return [1, "", self.name]

    def _api_getPid(self, _: str) -> list[Any]:
        return [1, "", os.getpid()]

    def _api_getMasterUri(self, _: str) -> list[Any]:
        return [1, "", self.master_uri]

    def _api_shutdown(self, caller: Any, reason: Any = "") -> list[Any]:
        why = f"{str(caller)[:100]} asked this node to shut down ({str(reason)[:200] or 'no reason given'})"
        if self.on_shutdown is None:
            self.complain(f"{why}; it goes on")
        else:
            self.on_shutdown(why)
        return [1, "", 0]

    def _api_getSubscriptions(self, _: str) -> list[Any]:
        return [1, "", [[s.topic, s.type] for s in list(self.subscriptions.values())]]

    def _api_getPublications(self, _: str) -> list[Any]:
        return [1, "", [[p.topic, p.type] for p in list(self.publications.values())]]

    def _api_paramUpdate(self, _: str, __: str, ___: Any) -> list[Any]:
        return [1, "", 0]

    def _api_publisherUpdate(self, _: Any, topic: Any, publishers: Any) -> list[Any]:
        try:
            uris = check_uris(publishers)
        except WireError as error:
            self.complain(f"publisherUpdate: {error}")
            return [-1, str(error), 0]
        with self._lock:
            subscription = self.subscriptions.get(topic) if isinstance(topic, str) else None
        if subscription is not None:
            if self._work.qsize() >= MAX_WAITING_WORK:
                return [0, f"{MAX_WAITING_WORK} tasks wait already", 0]
            self._work.put(lambda: self._connect_publishers(subscription, uris, new=True))
        return [1, "", 0]

    def _api_requestTopic(self, caller: Any, topic: Any, protocols: Any) -> list[Any]:
        if not isinstance(topic, str) or not isinstance(protocols, list):
            return [-1, "requestTopic takes the caller, a topic and a list of protocols", []]
        if topic not in self.publications:
            return [0, f"{self.name} does not publish {topic[:200]}", []]
        names = [item[0] for item in protocols if isinstance(item, list) and item and isinstance(item[0], str)]
        if "TCPROS" in names:
            return [1, "", ["TCPROS", self.host, self.tcp_port]]
        said = ", ".join(name[:20] for name in names[:5]) or "nothing"
        self.complain(f"{str(caller)[:100]} wants {topic} by {said}; must be TCPROS")
        return [0, "only TCPROS is spoken", []]

    def _api_getBusStats(self, _: str) -> list[Any]:
        publications = [
            [p.topic, 0, [[i, 0, c.sent, c.drops, True] for i, c in enumerate(p.connections)]]
            for p in list(self.publications.values())
        ]
        return [1, "", [publications, [], []]]

    def _api_getBusInfo(self, _: str) -> list[Any]:
        rows: list[list[Any]] = []
        for publication in list(self.publications.values()):
            rows += [[len(rows), c.name, "o", "TCPROS", publication.topic, True] for c in publication.connections]
        for subscription in list(self.subscriptions.values()):
            rows += [[len(rows), uri, "i", "TCPROS", subscription.topic, True] for uri in subscription.connections]
        return [1, "", rows]
