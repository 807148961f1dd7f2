"""Announcements of participants and endpoints: the parameter lists of SPDP and SEDP.

Numbers of parameters: OMG DDSI-RTPS 2.3, table 9.13, and DDS-RPC 1.0 for the related sample identity. Absent
parameters have the defaults of DDS 1.4, 2.2.3.
"""

from __future__ import annotations

import math
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pliant.base.errors import WireError
from pliant.ros.wire.rtps.messages import Parameters, read_parameters, write_parameters

TEXT_LIMIT = 4096
"""Longest name that is read [bytes]."""
USER_DATA_LIMIT = 8192
LOCATOR_LIMIT = 32
"""Most addresses of one kind that are kept."""
UDP4 = 1

PARTICIPANT_LEASE = 0x0002
TOPIC_NAME = 0x0005
TYPE_NAME = 0x0007
DOMAIN_ID = 0x000F
PROTOCOL_VERSION = 0x0015
VENDOR_ID = 0x0016
RELIABILITY = 0x001A
LIVELINESS = 0x001B
DURABILITY = 0x001D
OWNERSHIP = 0x001F
DEADLINE = 0x0023
PARTITION = 0x0029
USER_DATA = 0x002C
UNICAST_LOCATOR = 0x002F
DEFAULT_UNICAST = 0x0031
METATRAFFIC_UNICAST = 0x0032
HISTORY = 0x0040
PARTICIPANT_GUID = 0x0050
BUILTIN_ENDPOINTS = 0x0058
ENDPOINT_GUID = 0x005A
ENTITY_NAME = 0x0062
KEY_HASH = 0x0070
STATUS_INFO = 0x0071
DATA_REPRESENTATION = 0x0073
RELATED_IDENTITY = 0x0083
RELATED_IDENTITY_FAST = 0x800F
"""Number that Fast DDS used before it took that of the standard, and still understands."""

VENDOR_NAMES = {b"\x01\x01": "RTI Connext", b"\x01\x0f": "Fast DDS", b"\x01\x10": "Cyclone DDS"}
"""Number -> maker, of those below the rmws of ROS 2 (list of the OMG)."""
XCDR1 = 0
_BILLION = 1_000_000_000
_FRACTION = 1 << 32
_INFINITE = (0x7FFFFFFF, 0xFFFFFFFF)
_DURABILITIES = ("volatile", "transient local", "transient", "persistent")
_LIVELINESS = ("automatic", "manual by participant", "manual by topic")
_OWNERSHIPS = ("shared", "exclusive")


@dataclass(frozen=True, slots=True, kw_only=True)
class Locator:
    """An address."""

    address: str
    """IPv4 address; "" for an address of another kind."""
    port: int
    """UDP port."""
    kind: int = UDP4
    """Transport: 1 is UDP over IPv4, 2 over IPv6; makers have others for shared memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Qos:
    """Quality of service of an endpoint, as far as it decides who matches."""

    reliable: bool = True
    """Whether samples are sent again until they have arrived."""
    durability: int = 0
    """0 volatile, 1 transient local, 2 transient, 3 persistent."""
    depth: int = 10
    """How many samples are kept; 0 for all."""
    deadline: float = math.inf
    """Longest time between two samples [s]."""
    liveliness: int = 0
    """0 automatic, 1 manual by participant, 2 manual by topic."""
    liveliness_lease: float = math.inf
    """How long a silent writer is believed to live [s]."""
    ownership: int = 0
    """0 shared, 1 exclusive."""
    partitions: tuple[str, ...] = ()
    """Names of partitions; none is the same as one that is empty."""
    representations: tuple[int, ...] = (XCDR1,)
    """How samples may be encoded: 0 is XCDR1, 2 is XCDR2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticipantData:
    """Announced data of a participant."""

    guid: bytes
    """Its identifier, 16 bytes."""
    vendor: bytes = b"\0\0"
    """Its maker."""
    version: tuple[int, int] = (2, 3)
    """Its version of the protocol."""
    domain: int | None = None
    """Its domain, if it says so."""
    builtin: int = 0
    """Bits of the endpoints for discovery that it has."""
    lease: float = 100.0
    """How long it is believed to live when it is silent [s]."""
    metatraffic: tuple[Locator, ...] = ()
    """Where its discovery listens."""
    default: tuple[Locator, ...] = ()
    """Where its endpoints listen."""
    name: str = ""
    """Its name."""
    user_data: bytes = b""
    """User data, set by its application."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointData:
    """Announced data of a writer or a reader."""

    guid: bytes
    """Its identifier, 16 bytes."""
    topic: str
    """Name of its topic on the wire."""
    type: str
    """Name of its type on the wire."""
    qos: Qos = field(default_factory=Qos)
    """Its quality of service."""
    locators: tuple[Locator, ...] = ()
    """Where it listens; none: where its participant does."""
    user_data: bytes = b""
    """User data, set by its application."""


# ---------------------------------------------------------------------- encode
def _text(value: str) -> bytes:
    data = value.encode() + b"\0"
    return struct.pack("<I", len(data)) + data


def _octets(value: bytes) -> bytes:
    return struct.pack("<I", len(value)) + value


def _duration(seconds: float) -> bytes:
    if math.isinf(seconds):
        return struct.pack("<II", *_INFINITE)
    whole = int(seconds)
    return struct.pack("<iI", whole, min(_FRACTION - 1, int((seconds - whole) * _FRACTION)))


def _locator(locator: Locator) -> bytes:
    return struct.pack("<iI12x", locator.kind, locator.port) + socket.inet_aton(locator.address)


def encode_participant(data: ParticipantData) -> bytes:
    """Return the payload of a participant's announcement, its encapsulation included."""
    parameters = [
        (PROTOCOL_VERSION, bytes(data.version)),
        (VENDOR_ID, data.vendor),
        (PARTICIPANT_GUID, data.guid),
        (BUILTIN_ENDPOINTS, struct.pack("<I", data.builtin)),
        (PARTICIPANT_LEASE, _duration(data.lease)),
    ]
    if data.domain is not None:
        parameters.append((DOMAIN_ID, struct.pack("<I", data.domain)))
    parameters += [(METATRAFFIC_UNICAST, _locator(item)) for item in data.metatraffic]
    parameters += [(DEFAULT_UNICAST, _locator(item)) for item in data.default]
    if data.name:
        parameters.append((ENTITY_NAME, _text(data.name)))
    if data.user_data:
        parameters.append((USER_DATA, _octets(data.user_data)))
    return b"\0\3\0\0" + write_parameters(parameters)


def encode_endpoint(data: EndpointData) -> bytes:
    """Return the payload of an endpoint's announcement, its encapsulation included."""
    qos, forms = data.qos, data.qos.representations
    partitions = b"".join((text := _text(name)) + bytes(-len(text) % 4) for name in qos.partitions)
    parameters = [
        (ENDPOINT_GUID, data.guid),
        (PARTICIPANT_GUID, data.guid[:12] + b"\0\0\1\xc1"),
        (TOPIC_NAME, _text(data.topic)),
        (TYPE_NAME, _text(data.type)),
        (RELIABILITY, struct.pack("<I", 2 if qos.reliable else 1) + _duration(0.1)),
        (DURABILITY, struct.pack("<I", qos.durability)),
        (HISTORY, struct.pack("<II", 0 if qos.depth else 1, qos.depth or 1)),
        (DEADLINE, _duration(qos.deadline)),
        (LIVELINESS, struct.pack("<I", qos.liveliness) + _duration(qos.liveliness_lease)),
        (OWNERSHIP, struct.pack("<I", qos.ownership)),
        (DATA_REPRESENTATION, struct.pack(f"<I{len(forms)}h", len(forms), *forms)),
    ]  # fmt: skip
    if qos.partitions:
        parameters.append((PARTITION, struct.pack("<I", len(qos.partitions)) + partitions))
    parameters += [(UNICAST_LOCATOR, _locator(item)) for item in data.locators]
    if data.user_data:
        parameters.append((USER_DATA, _octets(data.user_data)))
    return b"\0\3\0\0" + write_parameters(parameters)


def encode_key(guid: bytes, *, participant: bool = False) -> tuple[Parameters, bytes]:
    """Return inline parameters and payload that say that a participant or an endpoint is gone."""
    inline = ((KEY_HASH, guid), (STATUS_INFO, b"\0\0\0\3"))
    return inline, b"\0\3\0\0" + write_parameters([(PARTICIPANT_GUID if participant else ENDPOINT_GUID, guid)])


def related_parameters(guid: bytes, sequence: int) -> Parameters:
    """Return the inline parameters by which a reply names its request, under the standard's and Fast DDS' number."""
    value = guid + struct.pack("<iI", sequence >> 32, sequence & 0xFFFFFFFF)
    return ((RELATED_IDENTITY, value), (RELATED_IDENTITY_FAST, value))


# ---------------------------------------------------------------------- decode
class _Values:
    """Reads single values out of a parameter."""

    def __init__(self, order: str) -> None:
        self.order = order

    def unpack(self, letters: str, value: bytes) -> tuple[int, ...]:
        size = struct.calcsize("<" + letters)
        if len(value) < size:
            raise WireError(f"a parameter of {len(value)} bytes; must be at least {size}")
        return struct.unpack_from(self.order + letters, value)

    def number(self, value: bytes) -> int:
        return self.unpack("I", value)[0]

    def octets(self, value: bytes, limit: int) -> bytes:
        length = self.number(value)
        if length > min(limit, len(value) - 4):
            raise WireError(f"{length} octets in a parameter of {len(value)} bytes; must be at most {limit}")
        return value[4 : 4 + length]

    def text(self, value: bytes) -> str:
        return self.octets(value, TEXT_LIMIT).rstrip(b"\0").decode("utf-8", "replace")

    def duration(self, value: bytes) -> float:
        seconds, fraction = self.unpack("iI", value)
        if seconds == _INFINITE[0] or (seconds, fraction) == (-1, _INFINITE[1]):
            return math.inf
        return max(0.0, seconds + fraction / _FRACTION)

    def locator(self, value: bytes) -> Locator:
        kind, port = self.unpack("iI", value)
        if len(value) < 24:
            raise WireError(f"an address of {len(value)} bytes; must be 24")
        return Locator(kind=kind, port=port & 0xFFFF, address=socket.inet_ntoa(value[20:24]) if kind == UDP4 else "")

    def guid(self, value: bytes) -> bytes:
        if len(value) < 16:
            raise WireError(f"an identifier of {len(value)} bytes; must be 16")
        return value[:16]

    def shorts(self, value: bytes) -> tuple[int, ...]:
        count = self.number(value)
        if count > 32:
            raise WireError(f"{count} data representations; must be at most 32")
        return self.unpack(f"I{count}h", value)[1:]

    def texts(self, value: bytes) -> tuple[str, ...]:
        count, at = self.number(value), 4
        if count > 64:
            raise WireError(f"{count} partitions; must be at most 64")
        found = []
        for _ in range(count):
            item = self.octets(value[at:], TEXT_LIMIT)
            found.append(item.rstrip(b"\0").decode("utf-8", "replace"))
            at += 4 + len(item) + -len(item) % 4
        return tuple(found)


def _list(payload: bytes) -> tuple[Parameters, _Values]:
    if len(payload) < 4 or payload[0] != 0 or payload[1] not in (2, 3):
        raise WireError(f"encapsulation {payload[:2].hex()}; must be 0002 or 0003, parameter lists")
    order = "<" if payload[1] == 3 else ">"
    return read_parameters(payload, order, 4)[0], _Values(order)


def decode_participant(payload: bytes) -> ParticipantData:
    """Return what an announcement tells of a participant.

    Raises:
        WireError: no parameter list, or it lacks the participant's identifier.
    """
    parameters, value = _list(payload)
    guid, vendor, version, domain, builtin, lease = b"", b"\0\0", (2, 0), None, 0, 100.0
    name, user_data = "", b""
    metatraffic: list[Locator] = []
    default: list[Locator] = []
    for identifier, data in parameters:
        match identifier:
            case 0x0050:
                guid = value.guid(data)
            case 0x0016:
                vendor = data[:2].ljust(2, b"\0")
            case 0x0015:
                version = (data[0], data[1]) if len(data) >= 2 else version
            case 0x000F:
                domain = value.number(data)
            case 0x0058:
                builtin = value.number(data)
            case 0x0002:
                lease = value.duration(data)
            case 0x0032 if len(metatraffic) < LOCATOR_LIMIT:
                metatraffic.append(value.locator(data))
            case 0x0031 if len(default) < LOCATOR_LIMIT:
                default.append(value.locator(data))
            case 0x0062:
                name = value.text(data)
            case 0x002C:
                user_data = value.octets(data, USER_DATA_LIMIT)
    if not guid:
        raise WireError("an announcement of a participant without its identifier")
    return ParticipantData(
        guid=guid, vendor=vendor, version=version, domain=domain, builtin=builtin, lease=lease,
        metatraffic=tuple(metatraffic), default=tuple(default), name=name, user_data=user_data,
    )  # fmt: skip


def decode_endpoint(payload: bytes, *, writer: bool) -> EndpointData:
    """Return what an announcement tells of an endpoint.

    Args:
        payload: encapsulation and parameter list.
        writer: whether it is a writer's: writers are reliable by default, readers are not.

    Raises:
        WireError: no parameter list, or it lacks identifier, topic or type.
    """
    parameters, value = _list(payload)
    guid, topic, kind, user_data = b"", "", "", b""
    locators: list[Locator] = []
    qos = Qos(reliable=writer, depth=1)
    readers: dict[int, Callable[[bytes, Qos], Qos]] = {
        RELIABILITY: lambda data, qos: replace(qos, reliable=value.number(data) >= 2),
        DURABILITY: lambda data, qos: replace(qos, durability=value.number(data)),
        HISTORY: lambda data, qos: replace(qos, depth=0 if value.number(data) else value.unpack("Ii", data)[1]),
        DEADLINE: lambda data, qos: replace(qos, deadline=value.duration(data)),
        LIVELINESS: lambda data, qos: replace(
            qos, liveliness=value.number(data), liveliness_lease=value.duration(data[4:])
        ),
        OWNERSHIP: lambda data, qos: replace(qos, ownership=value.number(data)),
        PARTITION: lambda data, qos: replace(qos, partitions=value.texts(data)),
        DATA_REPRESENTATION: lambda data, qos: replace(qos, representations=value.shorts(data) or (XCDR1,)),
    }
    for identifier, data in parameters:
        if identifier in readers:
            qos = readers[identifier](data, qos)
        elif identifier == ENDPOINT_GUID:
            guid = value.guid(data)
        elif identifier == TOPIC_NAME:
            topic = value.text(data)
        elif identifier == TYPE_NAME:
            kind = value.text(data)
        elif identifier == UNICAST_LOCATOR and len(locators) < LOCATOR_LIMIT:
            locators.append(value.locator(data))
        elif identifier == USER_DATA:
            user_data = value.octets(data, USER_DATA_LIMIT)
    if not (guid and topic and kind):
        raise WireError(f"an announcement of an endpoint without identifier, topic or type ({topic!r}, {kind!r})")
    return EndpointData(guid=guid, topic=topic, type=kind, qos=qos, locators=tuple(locators), user_data=user_data)


def disposed(inline: Parameters, payload: bytes | None) -> bytes | None:
    """Return the identifier of what a sample says is gone, None if it says no such thing."""
    values = dict(inline)
    if not (values.get(STATUS_INFO, bytes(4)).ljust(4, b"\0")[3] & 0x03):
        return None
    guid = values.get(KEY_HASH, b"")
    if len(guid) < 16 and payload:
        parameters, value = _list(payload)
        found = dict(parameters)
        guid = value.guid(found.get(ENDPOINT_GUID) or found.get(PARTICIPANT_GUID) or b"")
    return guid[:16] if len(guid) >= 16 else None


def related_identity(inline: Parameters, *, little: bool = True) -> tuple[bytes, int] | None:
    """Return the writer or reader and the number that a sample is related to, None if it says nothing."""
    values = dict(inline)
    data = values.get(RELATED_IDENTITY) or values.get(RELATED_IDENTITY_FAST)
    if data is None or len(data) < 24:
        return None
    high, low = struct.unpack_from("<iI" if little else ">iI", data, 16)
    return data[:16], (high << 32) | low


# ---------------------------------------------------------------------- matching
def mismatch(offered: Qos, requested: Qos) -> str:
    """Return why a reader cannot have a writer, "" if it can (DDS 1.4, 2.2.3: requested versus offered).

    Args:
        offered: the writer's quality of service.
        requested: the reader's.
    """
    if requested.reliable and not offered.reliable:
        return "reliability: the reader wants reliable, the writer is best effort"
    if requested.durability > offered.durability:
        return (
            f"durability: the reader wants {_name(_DURABILITIES, requested.durability)}, "
            f"the writer is {_name(_DURABILITIES, offered.durability)}"
        )
    if requested.deadline < offered.deadline:
        return f"deadline: the reader wants {requested.deadline:g} s, the writer offers {offered.deadline:g} s"
    if requested.liveliness > offered.liveliness:
        return (
            f"liveliness: the reader wants {_name(_LIVELINESS, requested.liveliness)}, "
            f"the writer is {_name(_LIVELINESS, offered.liveliness)}"
        )
    if requested.liveliness_lease < offered.liveliness_lease:
        return (
            f"liveliness: the reader wants a sign within {requested.liveliness_lease:g} s, "
            f"the writer offers {offered.liveliness_lease:g} s"
        )
    if requested.ownership != offered.ownership:
        return (
            f"ownership: the reader wants {_name(_OWNERSHIPS, requested.ownership)}, "
            f"the writer is {_name(_OWNERSHIPS, offered.ownership)}"
        )
    if set(offered.partitions or ("",)).isdisjoint(requested.partitions or ("",)):
        return f"partition: the reader is in {list(requested.partitions)}, the writer in {list(offered.partitions)}"
    if offered.representations[0] not in requested.representations:
        return (
            f"data representation: the reader takes {list(requested.representations)}, "
            f"the writer writes {offered.representations[0]} (0 is XCDR1, 2 is XCDR2)"
        )
    return ""


def _name(names: tuple[str, ...], number: int) -> str:
    return names[number] if number < len(names) else str(number)
