"""Who is on the other side: the endpoints of ROS nodes, from their liveliness tokens."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pliant.base.errors import WireError
from pliant.ros_zenoh.wire.rmw_zenoh import KINDS, Endpoint

ENDPOINTS = 20_000
"""Endpoints that are kept; tokens beyond are passed over."""
COUNTERPART = {"MP": "MS", "MS": "MP", "SS": "SC", "SC": "SS"}


class Graph:
    """The endpoints of other sessions; any thread may ask.

    Args:
        session: identifier of the own session, whose tokens are passed over.
        complain: called with tokens that cannot be read and with endpoints that will never meet ours.
        limit: most endpoints that are kept.
    """

    def __init__(self, session: str, complain: Callable[[str], None], *, limit: int = ENDPOINTS) -> None:
        self._session = session
        self._complain = complain
        self._limit = limit
        self._lock = threading.Lock()
        self._endpoints: dict[str, Endpoint] = {}
        self._by_topic: dict[tuple[str, str], dict[str, Endpoint]] = {}
        self._own: dict[tuple[str, str], Endpoint] = {}
        self._full = False

    def __len__(self) -> int:
        return len(self._endpoints)

    def appeared(self, token: str) -> Endpoint | None:
        """Note a token; return the endpoint if it is a new one of somebody else."""
        endpoint = self._read(token)
        if endpoint is None:
            return None
        with self._lock:
            if token in self._endpoints:
                return None
            full, self._full = self._full, len(self._endpoints) >= self._limit
            if not self._full:
                self._endpoints[token] = endpoint
                self._by_topic.setdefault((endpoint.kind, endpoint.name), {})[token] = endpoint
            own = self._own.get((COUNTERPART.get(endpoint.kind, ""), endpoint.name))
        if self._full and not full:
            self._complain(f"more than {self._limit} endpoints of other nodes; the names of further ones are not kept")
        if own is not None:
            self._compare(own, endpoint)
        return endpoint

    def vanished(self, token: str) -> None:
        """Forget a token."""
        with self._lock:
            endpoint = self._endpoints.pop(token, None)
            if endpoint is not None:
                group = self._by_topic[endpoint.kind, endpoint.name]
                del group[token]
                if not group:
                    del self._by_topic[endpoint.kind, endpoint.name]

    def add_own(self, endpoint: Endpoint) -> None:
        """Note an endpoint of ours; those of others that will not meet it are told."""
        with self._lock:
            self._own[endpoint.kind, endpoint.name] = endpoint
        for other in self.endpoints(COUNTERPART.get(endpoint.kind, ""), endpoint.name):
            self._compare(endpoint, other)

    def remove_own(self, kind: str, name: str) -> None:
        """Forget an endpoint of ours."""
        with self._lock:
            self._own.pop((kind, name), None)

    def endpoints(self, kind: str, name: str) -> list[Endpoint]:
        """Return the endpoints of a kind on a topic or service."""
        with self._lock:
            return list(self._by_topic.get((kind, name), {}).values())

    def _read(self, token: str) -> Endpoint | None:
        try:
            endpoint = Endpoint.parse(token)
        except WireError as error:
            self._complain(f"liveliness: {error}")
            return None
        return None if endpoint.session == self._session else endpoint

    def _compare(self, own: Endpoint, other: Endpoint) -> None:
        """Tell why an endpoint of the same name never meets ours: the keys differ."""
        if other.key == own.key:
            return
        if other.dds_type != own.dds_type:
            why = f"its type is {_plain(other.dds_type)}, here it is {_plain(own.dds_type)}"
        else:
            why = (
                f"the hash of its type {_plain(own.dds_type)} is {other.type_hash}, here it is {own.type_hash}: the "
                "definitions differ, or it is a node of another distribution (valid: Jazzy, Kilted and later)"
            )
        self._complain(f"{own.name}: the {KINDS[other.kind]} of {other.node_name} is not connected: {why}")


def _plain(dds_type: str) -> str:
    return dds_type.replace("::dds_", "").replace("::", "/").removesuffix("_")
