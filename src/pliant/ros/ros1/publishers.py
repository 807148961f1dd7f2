"""The connections of a node of ROS 1 to the publishers of the topics that it listens to."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable

from pliant.base.errors import WireError
from pliant.ros.ros1.graph import HEARTBEAT, Connection, Graph, Subscription
from pliant.ros.ros1.sockets import Sockets
from pliant.ros.ros1.xml_rpc import CALL_TIMEOUT_S, CLIENT_TIMEOUT_S, XML_RPC_ERRORS, proxy, read_tcpros_address
from pliant.ros.wire import Framer, decode_header, encode_header

MAX_NAMES = 256
"""Names of publishers of one topic that are kept."""
MAX_BACKOFF_S = 32.0
"""Longest time between two tries to reach a publisher that the master lists [s]; the first come sooner."""
SERVICE_IDLE_S = 300.0
"""How long a persistent connection to a service may ask nothing before it is closed [s]."""


class Publishers:
    """Connects subscriptions to the publishers that the master tells of, and closes who says nothing.

    Args:
        graph: topics and services of the node.
        sockets: the connections.
    """

    def __init__(self, graph: Graph, sockets: Sockets) -> None:
        self._graph, self._sockets = graph, sockets

    def look_after(self) -> None:
        """Close who says nothing; try those publishers again that are not connected though the master lists them."""
        now = time.monotonic()
        for connection in list(self._sockets.links):
            if connection.role in ("unknown", "subscriber", "closing", "draining", "once"):
                limit = CLIENT_TIMEOUT_S
            elif connection.role == "service":
                limit = SERVICE_IDLE_S
            else:
                continue
            if not connection.serving and now - connection.since > limit:
                self._sockets.shut(connection)
        with self._graph.lock:
            subscriptions = list(self._graph.subscriptions.values())
        for subscription in subscriptions:
            missing = subscription.publishers - set(subscription.connections) - subscription.refused - {self._graph.uri}
            if not missing:
                subscription.backoff = HEARTBEAT
            elif now >= subscription.retry_at:
                subscription.backoff = min(2.0 * subscription.backoff, MAX_BACKOFF_S)
                subscription.retry_at = now + subscription.backoff
                self.update(subscription, subscription.publishers)

    def update(self, subscription: Subscription, uris: Iterable[str], *, new: bool = False) -> None:
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
        wanted = {uri for uri in subscription.publishers - subscription.refused if uri != self._graph.uri}
        for uri, connection in list(subscription.connections.items()):
            if uri not in wanted:
                self._sockets.shut(connection)
        for uri in wanted - set(subscription.connections) - subscription.pending:
            subscription.pending.add(uri)
            try:
                self._connect(subscription, uri)
            except XML_RPC_ERRORS as error:
                if uri not in subscription.faulty:
                    subscription.faulty.add(uri)
                    text = f"{subscription.topic}: its publisher at {uri[:200]} cannot be reached: {str(error)[:200]}"
                    self._graph.complain(text)
            finally:
                subscription.pending.discard(uri)

    def _connect(self, subscription: Subscription, uri: str) -> None:
        answer = proxy(uri).requestTopic(self._graph.name, subscription.topic, [["TCPROS"]])
        sock = socket.create_connection(read_tcpros_address(answer), timeout=CALL_TIMEOUT_S)
        connection = Connection(sock, "subscriber")
        connection.topic = subscription.topic
        connection.name = uri
        connection.on_frame = self._answered
        connection.out.append(
            encode_header(
                {
                    "callerid": self._graph.name,
                    "topic": subscription.topic,
                    "type": subscription.type,
                    "md5sum": subscription.md5sum,
                    "message_definition": self._graph.codec.types.full_text(subscription.type),
                    "tcp_nodelay": "1",
                }
            )
        )
        subscription.connections[uri] = connection
        self._sockets.adopt(connection)

    def _answered(self, connection: Connection, frame: bytes) -> None:
        header = decode_header(frame[4:])
        with self._graph.lock:
            subscription = self._graph.subscriptions.get(connection.topic)
        if subscription is None:
            self._sockets.end(connection)
            return
        if "error" in header:
            raise WireError(f"the publisher refused: {header['error']}")
        md5sum = header.get("md5sum", "")
        if md5sum not in ("*", subscription.md5sum):
            raise WireError(
                f"the publisher {header.get('callerid', '?')} sends {header.get('type', '?')} [{md5sum}]; "
                f"must be {subscription.type} [{subscription.md5sum}]"
            )
        if len(subscription.heard) < MAX_NAMES:
            subscription.heard[header.get("callerid", "?")] = None
        connection.role = "messages"
        connection.framer = Framer()
        codec, types = self._graph.codec, self._graph.codec.types.message(subscription.type)

        def arrived(_: Connection, frame: bytes) -> None:
            try:
                subscription.callback(codec.decode(types, frame))
            except WireError as error:
                subscription.malformed += 1
                self._graph.complain(f"{subscription.topic}: {error}")
            except Exception as error:  # a fault of ours must not stop the sockets
                self._graph.fail(f"a message on {subscription.topic}", error)
            subscription.count += 1  # whoever waits for the count finds what the message did

        connection.on_frame = arrived
