"""A node of ROS 1: the master's XML-RPC, the node's own XML-RPC, TCPROS topics and services.

It needs no ROS on this side, only a master (roscore) to register with; every client that speaks TCPROS (rospy, roscpp,
rosbag, rqt) connects to it. The wire is the public one: http://wiki.ros.org/ROS/TCPROS and /ROS/Master_API.

Threads: ``ros1-io`` owns the sockets, ``ros1-slave`` takes XML-RPC connections and ``ros1-xmlrpc`` threads answer them,
``ros1-master`` talks to the master and to other nodes, ``ros1-service`` threads run services. The caller of
`Publication.send` only appends to bounded queues. What a connection does wrong ends that connection.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable

from pliant.base.errors import BridgeError
from pliant.base.listening import listening_address
from pliant.base.threads import WorkerPool
from pliant.ros.bridge.actions import ActionServer
from pliant.ros.bridge.node import Node
from pliant.ros.ros1.actionlib import ActionTopics
from pliant.ros.ros1.clients import Clients
from pliant.ros.ros1.graph import QUEUE, Graph, Publication, Service, Subscription
from pliant.ros.ros1.master import Master, check_master
from pliant.ros.ros1.publishers import Publishers
from pliant.ros.ros1.slave_api import SlaveApi
from pliant.ros.ros1.sockets import MAX_CONNECTIONS, Sockets
from pliant.ros.ros1.xml_rpc import XML_RPC_ERRORS, XmlRpcServer, proxy
from pliant.ros.wire import Codec
from pliant.ros.wire.message import MessageCallback, ServiceCallback

SERVICE_THREADS = 4
"""Services that run at the same time."""


class Ros1Node(Node):
    """A node of ROS 1.

    Args:
        name: global name, such as ``"/pliant"``.
        master: address of the master; None for ``ROS_MASTER_URI``, else ``http://127.0.0.1:11311``.
        host: address to listen on, told to other nodes; None for ``ROS_IP``, ``ROS_HOSTNAME``, else 127.0.0.1.
    """

    wire = "ros1"

    def __init__(self, name: str, *, master: str | None = None, host: str | None = None) -> None:
        super().__init__(Codec(1))
        self.name = "/" + name.strip("/")
        self.master_uri = master or os.environ.get("ROS_MASTER_URI") or "http://127.0.0.1:11311"
        self.host = host or os.environ.get("ROS_IP") or os.environ.get("ROS_HOSTNAME") or "127.0.0.1"
        self.on_shutdown: Callable[[str], None] | None = None
        """Called, in any thread, with who wants this node to end, and why (``rosnode kill``); None: it goes on."""
        self._graph = Graph(self.name, self.codec, self.complain, self.fail)
        self.publications: dict[str, Publication] = self._graph.publications
        self.subscriptions: dict[str, Subscription] = self._graph.subscriptions
        self.services: dict[str, Service] = self._graph.services
        self._lock = self._graph.lock
        self.sockets = Sockets(self._graph)
        self.publishers = Publishers(self._graph, self.sockets)
        self.master = Master(
            self.master_uri,
            self.host,
            self._graph,
            self.sockets,
            self.publishers,
            lambda topic, node: self.on_publication(topic, node),
        )
        self._pool: WorkerPool | None = None
        self._stopped = False

    @property
    def uri(self) -> str:
        """Address of the node's XML-RPC server; "" before the start."""
        return self._graph.uri

    @property
    def tcp_port(self) -> int:
        """Number of the port for TCPROS; 0 before the start."""
        return self.sockets.port

    # ------------------------------------------------------------------ life
    def start(self) -> None:
        """Open the sockets, check the master, start the threads; `register` then tells the master what is there.

        Raises:
            BridgeError: no master answers, or another living node has this name.
        """
        check_master(self.master_uri)
        try:
            socket.getaddrinfo(self.host, None)
        except (OSError, UnicodeError) as error:
            raise BridgeError(
                f"the host is {self.host!r}, a name without an address ({error}): no node could connect. Valid is a "
                "name or an address of this machine, such as 127.0.0.1; it comes from host=, ROS_IP, ROS_HOSTNAME",
                field="host",
            ) from None
        self.master.meet()
        try:
            bind = listening_address(self.host, "host")
            listener = socket.create_server((bind, 0), backlog=64)
            self._slave = XmlRpcServer((bind, 0))
        except OSError as error:
            raise BridgeError(f"cannot listen on {self.host}: {error}", field="host") from None
        self._graph.uri = f"http://{self.host}:{self._slave.server_address[1]}/"
        SlaveApi(self._graph, self.master, self.sockets, self.publishers, self.host, self._shutdown_asked).register(
            self._slave
        )
        self._pool = WorkerPool(self.threads, "ros1-service", workers=SERVICE_THREADS, limit=MAX_CONNECTIONS)
        self.sockets.open(listener, Clients(self._graph, self.sockets, self._pool).asked)
        for name, target in (
            ("ros1-io", self.sockets.run),
            ("ros1-slave", lambda: self._slave.serve_forever(poll_interval=0.1)),
            ("ros1-master", self.master.run),
        ):
            self.threads.start(name, target)
        self._interval.shorten()

    def announce(self) -> None:
        """Register every topic, service and parameter with the master; later ones follow as they are made.

        Raises:
            BridgeError: the master refuses or does not answer.
        """
        self.master.registered = True
        try:
            self.master.register_all()
        except XML_RPC_ERRORS as error:
            raise BridgeError(f"the ROS master at {self.master_uri} did not accept the topics: {error}") from None

    def stop(self) -> None:
        """Take everything back from the master, close the sockets, join the threads. May be called twice."""
        if self._stopped or self._pool is None:
            return
        self._stopped = True
        self.sockets.drain()
        self.threads.close()
        self.master.stop()
        self.sockets.stop()
        self._slave.shutdown()
        self._slave.server_close()
        self._pool.close()
        self.threads.join(5.0)
        self.sockets.close()
        self._interval.restore()

    def _shutdown_asked(self, why: str) -> None:
        if self.on_shutdown is None:
            self.complain(f"{why}; it goes on")
        else:
            self.on_shutdown(why)

    def flush(self) -> None:
        """Let the thread of the sockets look at the queues."""
        self.sockets.flush()

    # ------------------------------------------------------------------ topics, services, parameters
    def advertise(
        self, topic: str, type_name: str, *, latch: bool = False, reliable: bool = True, limit: int = QUEUE
    ) -> Publication:
        """Publish a topic, always reliably; a second call of the same topic gives the same publication."""
        topic = "/" + topic.strip("/")
        with self._lock:
            found = self.publications.get(topic)
            if found is not None:
                return found
            publication = self.publications[topic] = Publication(self, topic, type_name, latch, limit)
        self.master.later(lambda master: self.master.register(master, publication))
        return publication

    def subscribe(self, topic: str, type_name: str, callback: MessageCallback) -> None:
        """Listen to a topic; the callback runs in the thread of the sockets and must be short."""
        topic = "/" + topic.strip("/")
        subscription = Subscription(topic, type_name, self.codec.types.md5sum(type_name), callback)
        with self._lock:
            self.subscriptions[topic] = subscription
        self.master.later(lambda master: self.master.register(master, subscription))

    def subscribe_latched(self, topic: str, type_name: str, callback: MessageCallback) -> None:
        """Listen to a topic at once, also before the node is announced."""
        self.subscribe(topic, type_name, callback)
        if not self.master.registered:
            with contextlib.suppress(*XML_RPC_ERRORS):  # without the master `announce` fails
                self.master.register(proxy(self.master_uri), self.subscriptions["/" + topic.strip("/")])

    def unsubscribe(self, topic: str) -> None:
        topic = "/" + topic.strip("/")
        with self._lock:
            subscription = self.subscriptions.pop(topic, None)
        if subscription is None:
            return
        for connection in list(subscription.connections.values()):
            self.sockets.shut(connection)
        self.master.later(lambda master: self.master.call(master.unregisterSubscriber, self.name, topic, self.uri))
        if not self.master.registered:  # it was listened to before the node was announced
            with contextlib.suppress(*XML_RPC_ERRORS):
                self.master.call(proxy(self.master_uri).unregisterSubscriber, self.name, topic, self.uri)

    def serve(self, name: str, type_name: str, callback: ServiceCallback) -> None:
        """Serve a service; the callback runs in a thread of its own and may wait.

        Its `PliantError` becomes the error that the caller gets.
        """
        name = "/" + name.strip("/")
        service = Service(name, type_name, self.codec.types.md5sum(type_name), callback)
        with self._lock:
            self.services[name] = service
        self.master.later(lambda master: self.master.register(master, service))

    def set_param(self, name: str, value: object) -> None:
        """Set a parameter of the server, now and whenever the master comes back."""
        name = "/" + name.strip("/")
        with self._lock:
            self.master.parameters[name] = value
        self.master.later(lambda master: self.master.call(master.setParam, self.name, name, value))

    def serve_action(self, name: str, type_name: str, server: ActionServer) -> None:
        """Serve an action, as actionlib does."""
        ActionTopics(self, self.name, name, type_name, server)

    def get_param(self, name: str) -> object:
        """Return a parameter of the server; None where it has none of that name, or does not answer."""
        return self.master.get_param(name)

    def taken(self, topics: list[str]) -> dict[str, list[str]]:
        """Return those of the topics that living nodes other than this one publish, with the nodes."""
        return self.master.taken({"/" + topic.strip("/") for topic in topics})

    def publishers_of(self, topic: str) -> list[str]:
        """Return the nodes that publish a topic that is heard, or have published it."""
        with self._graph.lock:
            subscription = self.subscriptions.get(topic)
        return [] if subscription is None else sorted(dict(subscription.heard))

    # ------------------------------------------------------------------ state
    def lost(self) -> str:
        """Return that the master is gone, "" while it is there."""
        return "" if self.master.gone_since is None else f"the ROS master at {self.master_uri} is gone"

    def where(self) -> str:
        """Return the master's address."""
        return self.master_uri

    def health(self) -> dict[str, object]:
        """Return the state of the master and the last faults."""
        return {
            "master": self.master_uri,
            "master_state": "ok" if self.master.gone_since is None else "gone",
            "master_losses": self.master.losses,
            **super().health(),
        }
