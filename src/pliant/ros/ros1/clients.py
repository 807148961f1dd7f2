"""The answers of a node of ROS 1 to those who connect to it: subscribers, and callers of services."""

from __future__ import annotations

import time
from collections.abc import Mapping

from pliant.base.errors import PliantError, WireError
from pliant.base.threads import WorkerPool
from pliant.ros.ros1.graph import Connection, Graph, Publication, Service
from pliant.ros.ros1.sockets import Sockets
from pliant.ros.wire import Framer, decode_header, encode_header, service_response
from pliant.ros.wire.tcpros import REQUEST_LIMIT

MAX_WAITING_REQUESTS = 64
"""Requests on one connection that wait for their answer."""


class Clients:
    """Answers the headers and the calls of clients.

    Args:
        graph: topics and services of the node.
        sockets: the connections.
        pool: runs the services.
    """

    def __init__(self, graph: Graph, sockets: Sockets, pool: WorkerPool) -> None:
        self._graph, self._sockets, self._pool = graph, sockets, pool

    def _refuse(self, connection: Connection, text: str) -> None:
        self._graph.complain(text)
        connection.out.append(encode_header({"error": text, "callerid": self._graph.name}))
        connection.role = "closing"
        connection.on_frame = None

    def _fits(self, connection: Connection, header: Mapping[str, str], name: str, ours: Publication | Service) -> bool:
        """Refuse a client that wants another type; return whether it wants ours."""
        md5sum = header.get("md5sum", "")
        if md5sum in ("*", ours.md5sum):
            return True
        self._refuse(
            connection,
            f"{name} is a {ours.type} [{ours.md5sum}], but {connection.name} wants "
            f"{header.get('type', '?')} [{md5sum}]",
        )
        return False

    def asked(self, connection: Connection, frame: bytes) -> None:
        """Answer the header of a client: a subscriber, or a caller of a service."""
        header = decode_header(frame[4:])
        connection.name = header.get("callerid", "?")
        if "service" in header:
            self._service_asked(connection, header)
            return
        topic = header.get("topic", "")
        with self._graph.lock:
            publication = self._graph.publications.get(topic)
        if publication is None:
            self._refuse(connection, f"{self._graph.name} does not publish {topic!r}")
            return
        if not self._fits(connection, header, topic, publication):
            return
        connection.out.append(
            encode_header(
                {
                    "callerid": self._graph.name,
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
        with self._graph.lock:
            publication.join(connection)

    def _service_asked(self, connection: Connection, header: Mapping[str, str]) -> None:
        name = header["service"]
        with self._graph.lock:
            service = self._graph.services.get(name)
        if service is None:
            self._refuse(connection, f"{self._graph.name} does not serve {name!r}")
            return
        if not self._fits(connection, {"md5sum": "*", **header}, name, service):
            return
        types = service.type
        connection.out.append(
            encode_header(
                {
                    "callerid": self._graph.name,
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
        connection.framer = Framer(REQUEST_LIMIT)

        def asked(link: Connection, frame: bytes) -> None:
            with self._graph.lock:
                waiting = len(link.requests) + link.serving
                # What comes behind the only request is not looked at.
                if link.role == "service" or (link.role == "once" and not waiting):
                    link.requests.append(frame)
            if waiting >= MAX_WAITING_REQUESTS:
                raise WireError(f"{waiting} requests wait for their answer, which is the maximum")
            self._serve_next(service, link)

        connection.on_frame = asked

    def _serve_next(self, service: Service, link: Connection) -> None:
        """Let a thread answer the next request of a connection: one at a time, so that the answers keep the order."""
        with self._graph.lock:
            if link.serving or not link.requests:
                return
            link.serving = True
            frame = link.requests.popleft()

        def serve() -> None:
            try:
                self.answer(service, link, frame)
            except Exception as error:  # one service must not end the thread of all
                self._graph.fail(f"the service {service.name}", error)
            with self._graph.lock:
                if link.role == "once":  # as rospy and roscpp do: one answer, then the end
                    link.role = "closing"
                link.serving = False
                link.since = time.monotonic()
            self._sockets.flush()
            self._serve_next(service, link)

        if not self._pool.submit(serve):
            with self._graph.lock:
                link.serving = False
            self._sockets.shut(link)

    def answer(self, service: Service, connection: Connection, frame: bytes) -> None:
        """Run the callback of a service and queue its response."""
        types = self._graph.codec.types.service(service.type)
        service.count += 1
        try:
            response = service.callback(self._graph.codec.decode(types.request, frame))
            data = service_response(self._graph.codec.encode(types.response, response))
        except PliantError as error:
            self._graph.complain(f"{service.name}: {error}")
            data = service_response(None, str(error))
        except Exception as error:  # the caller must hear of it, and the thread must live on
            self._graph.fail(f"the service {service.name}", error)
            data = service_response(None, f"{type(error).__name__}: {error}")
        connection.out.append(data)
        self._sockets.flush()
