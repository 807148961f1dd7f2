"""The master of ROS 1: registration, heartbeat, and who publishes."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Any
from xmlrpc.client import ServerProxy

from pliant.base.errors import BridgeError, WireError
from pliant.ros.ros1.graph import HEARTBEAT, Graph, Publication, Service, Subscription
from pliant.ros.ros1.publishers import Publishers
from pliant.ros.ros1.sockets import Sockets
from pliant.ros.ros1.xml_rpc import XML_RPC_ERRORS, check_uris, is_address, proxy

_log = logging.getLogger("pliant.ros1")


def check_master(uri: str) -> None:
    """Raise BridgeError unless this is the address of a master."""
    if not is_address(uri):
        raise BridgeError(
            f"the address of the ROS master is {uri!r}; must be http://HOST:PORT, such as http://127.0.0.1:11311, as "
            "ros1:master= or in ROS_MASTER_URI",
            field="master",
        )


class Master:
    """Calls of a node to the master, and the master's answers.

    Args:
        uri: address of the master.
        host: address of this machine, told to others.
        graph: topics and services of the node.
        sockets: the connections.
        publishers: the connections to publishers.
        on_publication: called with each topic of another node, and its name.
    """

    def __init__(
        self,
        uri: str,
        host: str,
        graph: Graph,
        sockets: Sockets,
        publishers: Publishers,
        on_publication: Callable[[str, str], None],
    ) -> None:
        self.uri = uri
        self._host = host
        self._graph, self._sockets, self._publishers = graph, sockets, publishers
        self._on_publication = on_publication
        self.gone_since: float | None = None
        """Wall time since which the master does not answer [s]; None while it does."""
        self.losses = 0
        """How often it was lost."""
        self.pid = 0
        """Number of the master's process."""
        self.registered = False
        """Whether the master knows what the node has; later topics are registered as they are made."""
        self.parameters: dict[str, object] = {}
        """Parameters that are set whenever the master comes back."""
        self.work: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        """Calls to the master and to other nodes that wait for the thread; None ends it."""
        self._stopping = threading.Event()

    def later(self, work: Callable[[ServerProxy], object]) -> None:
        """Call ``work(master)`` in the thread, once the node is registered; before that `register_all` does it."""
        if self.registered:
            self.work.put(lambda: work(proxy(self.uri)))

    def meet(self) -> None:
        """Look whether the master lives, and whether it knows another living node of this name.

        Raises:
            BridgeError: no master answers, or another living node has this name.
        """
        master, name = proxy(self.uri), self._graph.name
        try:
            self.pid = self.call(master.getPid, name)
        except XML_RPC_ERRORS as error:
            raise BridgeError(
                f"no ROS master answers at {self.uri} ({error}). Start one with: roscore "
                "(on Debian: apt-get install python3-roslaunch python3-rosmaster), or set ROS_MASTER_URI",
                field="master",
            ) from None
        taken = ""
        with contextlib.suppress(*XML_RPC_ERRORS):  # most often it does not know that name
            other = self.call(master.lookupNode, name, name)
            if self.lives(other):
                taken = other
        if taken:
            raise BridgeError(
                f"another node is called {name} ({taken}): another robot uses its name space. Stop it, or give this "
                "one another name space (ros1:namespace=NAME) or, for other topics, another name (ros1:node=NAME)",
                field="name",
            )

    def stop(self) -> None:
        """Take everything back from the master and end the thread."""
        self._stopping.set()
        if self.gone_since is None:
            with contextlib.suppress(Exception):  # the master may go at the same time
                self.unregister_all()
        self.work.put(None)

    @staticmethod
    def call(method: Callable[..., object], *args: object) -> Any:
        """Call the master and return the value of its answer."""
        answer = method(*args)
        if not isinstance(answer, list) or len(answer) != 3:
            raise WireError(f"the ROS master answered {str(answer)[:80]!r}; must be [code, message, value]")
        code, message, value = answer
        if code != 1:
            raise BridgeError(f"the ROS master refused: {str(message)[:200]}")
        return value

    @staticmethod
    def lives(uri: str) -> bool:
        """Return whether a node answers at an address."""
        try:
            answer = proxy(check_uris([uri])[0]).getPid("/pliant_probe")
        except XML_RPC_ERRORS:
            return False
        return isinstance(answer, list) and answer[:1] == [1]

    def register_all(self) -> None:
        """Tell the master of all parameters, topics and services."""
        master = proxy(self.uri)
        with self._graph.lock:
            graph, parameters = self._graph, dict(self.parameters)
            items = [*graph.publications.values(), *graph.services.values(), *graph.subscriptions.values()]
        for name, value in parameters.items():
            self.call(master.setParam, self._graph.name, name, value)
        for item in items:
            self.register(master, item)

    def register(self, master: ServerProxy, item: Publication | Service | Subscription) -> None:
        """Tell the master of a topic or a service; connect to the publishers of a topic that is listened to."""
        name, uri = self._graph.name, self._graph.uri
        if isinstance(item, Service):
            self.call(master.registerService, name, item.name, self._api, uri)
        elif isinstance(item, Publication):
            self.call(master.registerPublisher, name, item.topic, item.type, uri)
        else:
            uris = check_uris(self.call(master.registerSubscriber, name, item.topic, item.type, uri))
            self.work.put(lambda: self._publishers.update(item, uris, new=True))

    @property
    def _api(self) -> str:
        """Address of the node's services."""
        return f"rosrpc://{self._host}:{self._sockets.port}"

    def unregister_all(self) -> None:
        """Take everything back from the master."""
        master = proxy(self.uri)
        for publication in self._graph.publications.values():
            master.unregisterPublisher(self._graph.name, publication.topic, self._graph.uri)
        for subscription in self._graph.subscriptions.values():
            master.unregisterSubscriber(self._graph.name, subscription.topic, self._graph.uri)
        for service in self._graph.services.values():
            master.unregisterService(self._graph.name, service.name, self._api)

    def run(self) -> None:
        """Do what is queued, and look after master and connections; a thread of its own does this."""
        due = time.monotonic() + HEARTBEAT
        while not self._stopping.is_set():
            try:
                work = self.work.get(timeout=max(0.01, due - time.monotonic()))
                if work is None:
                    return
                self._guard(work)
                continue
            except queue.Empty:
                pass
            due = time.monotonic() + HEARTBEAT
            for task in (self._heartbeat, self._look_at_publications, self._publishers.look_after):
                self._guard(task)

    def _guard(self, work: Callable[[], object]) -> None:
        """Do something that talks to others; what they do wrong costs this work, not the thread."""
        try:
            work()
        except XML_RPC_ERRORS as error:
            if not self._stopping.is_set():
                self._graph.complain(f"talking to {self.uri} or a node failed: {str(error)[:200]}")
        except Exception as error:  # the thread goes on with the next call
            self._graph.fail("talking to the master or a node", error)

    def _heartbeat(self) -> None:
        try:
            pid = self.call(proxy(self.uri).getPid, self._graph.name)
        except XML_RPC_ERRORS:
            if self.gone_since is None:
                self.gone_since = time.time()
                self.losses += 1
                self._graph.complain(f"the ROS master at {self.uri} is gone; known subscribers are served on")
            return
        if self.gone_since is not None or pid != self.pid:
            self.pid = pid
            try:
                self.register_all()
            except XML_RPC_ERRORS as error:
                self._graph.complain(f"the ROS master came back, but did not accept the topics: {error}")
                return
            self.gone_since = None
            _log.warning("the ROS master at %s is back; everything is registered again", self.uri)

    def _look_at_publications(self) -> None:
        if self.gone_since is not None or not self.registered:
            return
        with contextlib.suppress(*XML_RPC_ERRORS):
            for topic, node in self.published():
                if node != self._graph.name:
                    self._on_publication(topic, node)

    def published(self) -> list[tuple[str, str]]:
        """Return the topics that the master knows, with each node that publishes them.

        Raises:
            WireError: the master answers something else.
        """
        try:
            rows = self.call(proxy(self.uri).getSystemState, self._graph.name)[0]
            found = [(topic, node) for topic, nodes in rows for node in nodes]
        except (TypeError, ValueError, LookupError) as error:
            raise WireError(f"the ROS master did not return the state of the system: {error}") from None
        if not all(isinstance(item, str) for row in found for item in row):
            raise WireError("the ROS master returned names that are not text")
        return found

    def get_param(self, name: str) -> object:
        """Return a parameter of the server; None where it has none of that name, or does not answer."""
        try:
            return self.call(proxy(self.uri).getParam, self._graph.name, name)
        except XML_RPC_ERRORS:
            return None

    def taken(self, wanted: set[str]) -> dict[str, list[str]]:
        """Return those of the topics that other living nodes publish, with the nodes."""
        found: dict[str, list[str]] = {}
        alive: dict[str, bool] = {}
        for topic, node in self.published():
            if topic not in wanted or node == self._graph.name:
                continue
            if node not in alive:
                try:
                    alive[node] = self.lives(self.call(proxy(self.uri).lookupNode, self._graph.name, node))
                except XML_RPC_ERRORS:
                    alive[node] = False
            if alive[node]:
                found.setdefault(topic, []).append(node)
        return found
