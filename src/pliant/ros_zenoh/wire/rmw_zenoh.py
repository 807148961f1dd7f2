"""Zenoh format of ROS 2 nodes with rmw_zenoh_cpp: keys, liveliness tokens, attachments. Pure text and bytes.

Facts from rmw_zenoh 0.2.5 (docs/design.md and src/detail; Jazzy and Kilted write the same):

- topics and services: ``<domain>/<name>/<DDS type>/<RIHS01 hash>``;
- every endpoint is a liveliness token whose key says node, name, type and quality of service;
- the hash of that token (XXH3-128) identifies the endpoint;
- every message, request and reply carries 33 bytes: sequence number, time of sending, identifier of the sender.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import xxhash

from pliant.base.errors import WireError, nearest

ADMIN_SPACE = "@ros2_lv"
KINDS: dict[str, str] = {"NN": "node", "MP": "publisher", "MS": "subscription", "SS": "service", "SC": "client"}
"""Kind of an endpoint in a token -> what it is."""
GID_SIZE = 16
"""Bytes of an identifier."""
TOKEN_LIMIT = 4096
"""Longest token that is read [characters]; a token of ROS names of the longest kind (255 each) has fewer than 1500."""
DEFAULT_DEPTH = 42
"""History that rmw_zenoh takes where none is asked for (src/detail/qos.cpp)."""
NUMBER_LIMIT = 10**10
# Numbers of rmw's policies (rmw/types.h).
RELIABLE, BEST_EFFORT = 1, 2
TRANSIENT_LOCAL, VOLATILE = 1, 2
KEEP_LAST, KEEP_ALL = 1, 2
_POLICIES = {"reliability": range(5), "durability": range(5), "history": range(4)}
_ATTACHMENT = struct.Struct(f"<qqB{GID_SIZE}s")


def topic_key(domain: int, name: str, dds_type: str, type_hash: str) -> str:
    """Return the key under which a topic's messages, or a service's requests, travel.

    Args:
        domain: number of the ROS domain.
        name: full name of the topic or service, such as ``/robot/reference_1``.
        dds_type: such as ``std_msgs::msg::dds_::Float64_``.
        type_hash: such as ``RIHS01_...``.
    """
    return f"{domain}/{name.strip('/')}/{dds_type}/{type_hash}"


def token_selector(domain: int) -> str:
    """Return the key expression that matches the tokens of a domain, given by its number."""
    return f"{ADMIN_SPACE}/{domain}/**"


@dataclass(frozen=True, slots=True, kw_only=True)
class Qos:
    """Quality of service of an endpoint, as far as rmw_zenoh acts on it."""

    reliable: bool = True
    """Whether lost messages are sent again; else best effort."""
    transient_local: bool = False
    """Whether late joiners get the last messages."""
    keep_all: bool = False
    """Whether the history has no bound."""
    depth: int = DEFAULT_DEPTH
    """Messages of the history."""

    def text(self) -> str:
        """Return the last part of a token; what is rmw_zenoh's default is left out."""
        reliability = "" if self.reliable else str(BEST_EFFORT)
        durability = str(TRANSIENT_LOCAL) if self.transient_local else ""
        history = str(KEEP_ALL) if self.keep_all else ""
        depth = "" if self.depth == DEFAULT_DEPTH else str(self.depth)
        # Deadline, lifespan and liveliness (with its lease) stay at their defaults.
        return f"{reliability}:{durability}:{history},{depth}:,:,:,,"

    @classmethod
    def parse(cls, text: str) -> Qos:
        """Return the quality of service that a token says.

        Raises:
            WireError: parts are missing, or are no numbers of rmw's policies.
        """
        parts = text.split(":")
        pairs = [part.split(",") for part in parts]
        if len(parts) < 6 or len(pairs[2]) < 2:
            raise WireError(
                f"quality of service {text[:80]!r} has {len(parts)} parts; must be "
                "RELIABILITY:DURABILITY:HISTORY,DEPTH:DEADLINE:LIFESPAN:LIVELINESS",
                field="qos",
            )
        reliability = cls._policy("reliability", parts[0], RELIABLE)
        durability = cls._policy("durability", parts[1], VOLATILE)
        history = cls._policy("history", pairs[2][0], KEEP_LAST)
        depth = _number("depth", pairs[2][1]) if pairs[2][1] else DEFAULT_DEPTH
        return cls(
            reliable=reliability != BEST_EFFORT,
            transient_local=durability == TRANSIENT_LOCAL,
            keep_all=history == KEEP_ALL,
            depth=depth,
        )

    @staticmethod
    def _policy(what: str, text: str, default: int) -> int:
        value = _number(what, text) if text else default
        if value not in _POLICIES[what]:
            raise WireError(f"{what} is {value}; must be 0 to {_POLICIES[what][-1]}", field=what)
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A node, or something that a node offers or listens to."""

    domain: int
    """Number of the ROS domain."""
    session: str
    """Identifier of the zenoh session, as zenoh prints it: hexadecimal."""
    node_id: int
    """Number of the node in its session."""
    entity_id: int
    """Number of the endpoint in its session; that of a node is its `node_id`."""
    kind: str
    """One of `KINDS`."""
    node: str
    """Name of the node."""
    namespace: str = "/"
    """Name space of the node."""
    enclave: str = "/"
    """Enclave of the node (security)."""
    name: str = ""
    """Full name of the topic or service; "" for a node."""
    dds_type: str = ""
    """Its type, as DDS says it."""
    type_hash: str = ""
    """Hash of its type, or ``TypeHashNotSupported`` (Humble)."""
    qos: Qos = Qos()
    """Its quality of service."""

    @property
    def node_name(self) -> str:
        """The node's name with its name space: ``/arm/controller``."""
        return f"{self.namespace.rstrip('/')}/{self.node}"

    @property
    def key(self) -> str:
        """The key of its messages or requests."""
        return topic_key(self.domain, self.name, self.dds_type, self.type_hash)

    def token(self) -> str:
        """Return the key of its liveliness token."""
        parts = [
            ADMIN_SPACE,
            str(self.domain),
            self.session,
            str(self.node_id),
            str(self.entity_id),
            self.kind,
            *map(_mangled, (self.enclave, self.namespace, self.node)),
        ]
        if self.kind != "NN":
            parts += [*map(_mangled, (self.name, self.dds_type, self.type_hash)), self.qos.text()]
        return "/".join(parts)

    @property
    def gid(self) -> bytes:
        """The identifier of the endpoint: the hash of its token, lower half first, 16 bytes."""
        value = xxhash.xxh3_128_intdigest(self.token().encode())
        return struct.pack("<QQ", value & (1 << 64) - 1, value >> 64)

    @classmethod
    def parse(cls, token: str) -> Endpoint:
        """Return the endpoint that a token describes; what later versions write behind it is passed over.

        Raises:
            WireError: the text is no token.
        """
        if len(token) > TOKEN_LIMIT:
            raise WireError(f"a token of {len(token)} characters; must be at most {TOKEN_LIMIT}", field="token")
        parts = token.split("/")
        shown = repr(token[:200])
        if parts[0] != ADMIN_SPACE or len(parts) < 9 or not all(parts):
            raise WireError(
                f"{shown} is not a token of rmw_zenoh; must be {ADMIN_SPACE}/DOMAIN/SESSION/NODE/ENTITY/KIND/ENCLAVE/"
                "NAMESPACE/NAME[/TOPIC/TYPE/HASH/QOS], no part empty",
                field="token",
            )
        kind = parts[5]
        if kind not in KINDS:
            raise WireError(f"{shown}: kind is {kind!r}; {nearest(kind, KINDS)}", field="token")
        if kind != "NN" and len(parts) < 13:
            raise WireError(f"{shown}: a {KINDS[kind]} needs topic, type, hash and quality of service", field="token")
        fields = ("enclave", "namespace", "node", "name", "dds_type", "type_hash")
        known = fields[:3] if kind == "NN" else fields
        names = {field: _unmangled(part) for field, part in zip(known, parts[6:])}
        return cls(
            domain=_number("domain", parts[1]),
            session=parts[2],
            node_id=_number("node", parts[3]),
            entity_id=_number("entity", parts[4]),
            kind=kind,
            qos=Qos() if kind == "NN" else Qos.parse(parts[12]),
            **names,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Attachment of a message, a request or a reply."""

    sequence_number: int
    """Count of the sender, from 1 on."""
    timestamp_ns: int
    """When it was sent [ns since 1970]."""
    gid: bytes
    """Identifier of the sender, 16 bytes; a reply bears that of the client."""

    def encode(self) -> bytes:
        """Return the bytes, as zenoh's serializer writes two int64 and an array of 16 bytes with its length."""
        return _ATTACHMENT.pack(self.sequence_number, self.timestamp_ns, GID_SIZE, self.gid)

    @classmethod
    def decode(cls, data: bytes) -> Attachment:
        """Return what the bytes say.

        Raises:
            WireError: another length, or a negative number.
        """
        if len(data) != _ATTACHMENT.size or data[16] != GID_SIZE:
            raise WireError(
                f"an attachment of {len(data)} bytes ({data[:24].hex()}); must be {_ATTACHMENT.size}: int64 sequence "
                f"number, int64 time [ns], {GID_SIZE}, {GID_SIZE} bytes of identifier",
                field="attachment",
            )
        number, stamp, _, gid = _ATTACHMENT.unpack(data)
        if number < 0 or stamp < 0:
            raise WireError(
                f"an attachment with sequence number {number} and time {stamp} ns; they must be >= 0",
                field="attachment",
            )
        return cls(sequence_number=number, timestamp_ns=stamp, gid=gid)


def _mangled(name: str) -> str:
    return name.replace("/", "%")


def _unmangled(name: str) -> str:
    return name.replace("%", "/")


def _number(what: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 11 and int(text) < NUMBER_LIMIT):
        raise WireError(f"{what} is {text[:20]!r}; must be a number", field=what)
    return int(text)
