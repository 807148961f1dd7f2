"""The XML-RPC calls that a node of ROS 1 answers: http://wiki.ros.org/ROS/Slave_API."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeAlias

from pliant.base.errors import WireError
from pliant.ros.ros1.graph import Graph
from pliant.ros.ros1.master import Master
from pliant.ros.ros1.publishers import Publishers
from pliant.ros.ros1.sockets import Sockets
from pliant.ros.ros1.xml_rpc import XmlRpcServer, check_uris

Answer: TypeAlias = list[object]
"""Code, text and value; a value may be a list of such lists."""
MAX_WAITING_WORK = 1000
"""Updates of publishers that wait until the others have been contacted."""


class SlaveApi:
    """Answers the master and other nodes; each answer is a code, a text and a value.

    Args:
        graph: topics and services of the node.
        master: the master.
        sockets: the connections.
        publishers: the connections to publishers.
        host: address of this machine, told to others.
        on_shutdown: called with who wants this node to end, and why.
    """

    def __init__(
        self,
        graph: Graph,
        master: Master,
        sockets: Sockets,
        publishers: Publishers,
        host: str,
        on_shutdown: Callable[[str], None],
    ) -> None:
        self._graph, self._master, self._sockets, self._publishers = graph, master, sockets, publishers
        self._host, self._on_shutdown = host, on_shutdown

    def register(self, server: XmlRpcServer) -> None:
        """Let a server answer the calls."""
        for name in dir(self):
            if name.startswith("_api_"):
                server.register_function(getattr(self, name), name.removeprefix("_api_"))

    def _api_getName(self, _: str) -> Answer:
        return [1, "", self._graph.name]

    def _api_getPid(self, _: str) -> Answer:
        return [1, "", os.getpid()]

    def _api_getMasterUri(self, _: str) -> Answer:
        return [1, "", self._master.uri]

    def _api_shutdown(self, caller: object, reason: object = "") -> Answer:
        why = f"{str(caller)[:100]} asked this node to shut down ({str(reason)[:200] or 'no reason given'})"
        self._on_shutdown(why)
        return [1, "", 0]

    def _api_getSubscriptions(self, _: str) -> Answer:
        return [1, "", [[s.topic, s.type] for s in list(self._graph.subscriptions.values())]]

    def _api_getPublications(self, _: str) -> Answer:
        return [1, "", [[p.topic, p.type] for p in list(self._graph.publications.values())]]

    def _api_paramUpdate(self, _: str, __: str, ___: object) -> Answer:
        return [1, "", 0]

    def _api_publisherUpdate(self, _: object, topic: object, publishers: object) -> Answer:
        try:
            uris = check_uris(publishers)
        except WireError as error:
            self._graph.complain(f"publisherUpdate: {error}")
            return [-1, str(error), 0]
        with self._graph.lock:
            subscription = self._graph.subscriptions.get(topic) if isinstance(topic, str) else None
        if subscription is not None:
            if self._master.work.qsize() >= MAX_WAITING_WORK:
                return [0, f"{MAX_WAITING_WORK} tasks wait already", 0]
            self._master.work.put(lambda: self._publishers.update(subscription, uris, new=True))
        return [1, "", 0]

    def _api_requestTopic(self, caller: object, topic: object, protocols: object) -> Answer:
        if not isinstance(topic, str) or not isinstance(protocols, list):
            return [-1, "requestTopic takes the caller, a topic and a list of protocols", []]
        if topic not in self._graph.publications:
            return [0, f"{self._graph.name} does not publish {topic[:200]}", []]
        names = [item[0] for item in protocols if isinstance(item, list) and item and isinstance(item[0], str)]
        if "TCPROS" in names:
            return [1, "", ["TCPROS", self._host, self._sockets.port]]
        said = ", ".join(name[:20] for name in names[:5]) or "nothing"
        self._graph.complain(f"{str(caller)[:100]} wants {topic} by {said}; must be TCPROS")
        return [0, "only TCPROS is spoken", []]

    def _api_getBusStats(self, _: str) -> Answer:
        publications = [
            [p.topic, 0, [[i, 0, c.sent, c.drops, True] for i, c in enumerate(p.connections)]]
            for p in list(self._graph.publications.values())
        ]
        return [1, "", [publications, [], []]]

    def _api_getBusInfo(self, _: str) -> Answer:
        rows: list[Answer] = []
        for publication in list(self._graph.publications.values()):
            rows += [[len(rows), c.name, "o", "TCPROS", publication.topic, True] for c in publication.connections]
        for subscription in list(self._graph.subscriptions.values()):
            rows += [[len(rows), uri, "i", "TCPROS", subscription.topic, True] for uri in subscription.connections]
        return [1, "", rows]
