"""Message types: parsed from their texts, with the MD5 sums of ROS 1 and the RIHS01 hashes of ROS 2."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pliant.base.errors import WireError, nearest
from pliant.base.wing import offers
from pliant.ros.wire.definitions import SERVICES, TEXTS, TEXTS_2
from pliant.ros.wire.definitions_node import ACTIONS, NODE_SERVICES, NODE_TEXTS, action_parts
from pliant.ros.wire.definitions_ros1 import ROS1_SERVICES, ROS1_TEXTS

PRIMITIVES: dict[str, str] = {
    "bool": "?", "byte": "b", "char": "B", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
    "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d",
    "string": "", "time": "", "duration": "",
}  # fmt: skip
"""Primitive -> its `struct` letter, "" for those that are no plain number."""

_LINE = re.compile(
    r"(?P<base>[A-Za-z][\w/]*)(?:<=(?P<bound>\d+))?(?:\[(?P<size>(?:<=)?\d*)\])?\s+(?P<name>[A-Za-z]\w*)"
    r"(?:\s*=\s*(?P<value>.+))?"
)
_RIHS_IDS = {
    "int8": 2, "uint8": 3, "int16": 4, "uint16": 5, "int32": 6, "uint32": 7, "int64": 8, "uint64": 9,
    "float32": 10, "float64": 11, "char": 3, "bool": 15, "byte": 16, "string": 17,
}  # fmt: skip
_ROS2_TIME = {"time": "builtin_interfaces/msg/Time", "duration": "builtin_interfaces/msg/Duration"}
_TIME_FIELDS = (("sec", "int32"), ("nanosec", "uint32"))


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message."""

    name: str
    """Its name."""
    base: str
    """A primitive or ``package/Type``."""
    size: int | None = None
    """None for one value, -1 for an array of any length, n for an array of exactly n."""
    bound: int = 0
    """Longest text or array, 0 for none; it changes nothing on the wire."""

    @property
    def primitive(self) -> bool:
        """Whether the base is a primitive."""
        return self.base in PRIMITIVES


@dataclass(frozen=True, slots=True)
class MessageType:
    """A message type."""

    name: str
    """``package/Type``; for parts of services and actions of ROS 2 ``package/srv/Type_Request`` and the like."""
    fields: tuple[Field, ...]
    """Its fields, in the order of the wire."""
    constants: tuple[tuple[str, str, str], ...] = ()
    """(type, name, value)."""
    text: str = ""
    """The definition."""


@dataclass(frozen=True, slots=True)
class ServiceType:
    """A service type."""

    name: str
    """``package/Type``."""
    request: MessageType
    """Type of the request."""
    response: MessageType
    """Type of the response."""

    @property
    def tells_success(self) -> bool:
        """Whether the response says by ``success`` and ``message`` that it refuses the request, and why."""
        return {"success", "message"} <= {field.name for field in self.response.fields}


def parse(name: str, text: str) -> MessageType:
    """Return the type that a definition describes.

    Raises:
        WireError: a line that is no field, constant or comment.
    """
    package = name.split("/")[0]
    fields: list[Field] = []
    constants: list[tuple[str, str, str]] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw if re.match(r"\s*string\s+\w+\s*=", raw) else raw.split("#")[0]
        line = line.strip()
        if not line:
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise WireError(f"{name}: line {number} is {raw!r}; must be 'type name' or 'type NAME=value'", field=name)
        base = match["base"].replace("/msg/", "/")
        if base == "Header":
            base = "std_msgs/Header"
        elif base not in PRIMITIVES and "/" not in base:
            base = f"{package}/{base}"
        if base in ("builtin_interfaces/Time", "builtin_interfaces/Duration"):
            base = base.rpartition("/")[2].lower()
        if match["value"] is not None:
            constants.append((base, match["name"], match["value"].strip()))
            continue
        size, bound = None, int(match["bound"] or 0)
        if match["size"] is not None:
            if match["size"].startswith("<="):
                size, bound = -1, int(match["size"][2:])
            else:
                size = int(match["size"]) if match["size"] else -1
        fields.append(Field(match["name"], base, size, bound))
    return MessageType(name, tuple(fields), tuple(constants), text)


def definition(message: MessageType, version: int) -> str:
    """Return the definition of a message, or of a half of a service, in the words of a generation of ROS."""

    def word(base: str) -> str:
        return f"builtin_interfaces/{base.capitalize()}" if version == 2 and base in _ROS2_TIME else base

    lines = [f"{word(base)} {name}={value}" for base, name, value in message.constants]
    for item in message.fields:
        base = word(item.base)
        bound = f"<={item.bound}" if item.bound and version == 2 else ""
        if item.size is not None:
            base += f"[{bound if item.size < 0 else item.size}]"
        elif item.base == "string":
            base += bound
        lines.append(f"{base} {item.name}")
    return "".join(f"{line}\n" for line in lines)


class Registry:
    """Types by name.

    Args:
        version: 1 or 2, the generation of ROS.
    """

    def __init__(self, version: int) -> None:
        self.version = version
        self._types: dict[str, MessageType] = {}
        self._services: dict[str, ServiceType] = {}
        texts = {**TEXTS, **({**TEXTS_2, **NODE_TEXTS} if version == 2 else ROS1_TEXTS)}
        self.add(texts)
        self.add_services({**SERVICES, **(NODE_SERVICES if version == 2 else ROS1_SERVICES)})
        for offer in offers("messages"):
            if offer.key == "ros":
                module = offer.load()
                self.add({**module.TEXTS, **getattr(module, f"TEXTS_{version}", {})})
                self.add_services({**module.SERVICES, **getattr(module, f"SERVICES_{version}", {})})
        if version == 2:
            for name, parts in ACTIONS.items():
                messages, services = action_parts(name, *parts)
                self.add(messages)
                self.add_services(services)

    def __contains__(self, name: object) -> bool:
        return name in self._types

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def add(self, definitions: Mapping[str, str]) -> None:
        """Learn further types: name -> definition."""
        for name, text in definitions.items():
            plain = name.replace("/msg/", "/")
            self._types[plain] = parse(plain, text)

    def add_services(self, definitions: Mapping[str, tuple[str, str]]) -> None:
        """Learn further service types: name -> (request, response).

        ROS 2 knows requests, responses and events as types of their own; they are learnt as messages too.
        """
        for name, (request, response) in definitions.items():
            plain = name.replace("/srv/", "/")
            if self.version == 1:
                self._services[plain] = ServiceType(
                    plain, parse(f"{plain}Request", request), parse(f"{plain}Response", response)
                )
                continue
            full = _ros2_name(plain, "srv")
            parts = (parse(f"{full}_Request", request), parse(f"{full}_Response", response))
            self._services[plain] = ServiceType(plain, *parts)
            event = MessageType(
                f"{full}_Event",
                (
                    Field("info", "service_msgs/ServiceEventInfo"),
                    Field("request", parts[0].name, -1, 1),
                    Field("response", parts[1].name, -1, 1),
                ),
            )
            for part in (*parts, event):
                self._types[part.name] = part

    def message(self, name: str) -> MessageType:
        """Return a type; ``package/msg/Type`` is the same as ``package/Type``.

        Raises:
            WireError: there is no such type.
        """
        found = self._types.get(name) or self._types.get(name.replace("/msg/", "/"))
        if found is None:
            raise WireError(f"there is no message type {name!r}; {nearest(name, self._types)}", field=name)
        return found

    def service(self, name: str) -> ServiceType:
        """Return a service type; ``package/srv/Type`` is the same as ``package/Type``.

        Raises:
            WireError: there is no such type.
        """
        found = self._services.get(name) or self._services.get(name.replace("/srv/", "/"))
        if found is None:
            raise WireError(f"there is no service type {name!r}; {nearest(name, self._services)}", field=name)
        return found

    def inside(self, of: MessageType) -> dict[str, MessageType]:
        """Return every type inside of one, in the order in which they are met, itself excluded."""
        found: dict[str, MessageType] = {}
        todo = [of]
        while todo:
            for field in todo.pop(0).fields:
                if not field.primitive and field.base not in found:
                    found[field.base] = self.message(field.base)
                    todo.append(found[field.base])
        return found

    def full_text(self, name: str) -> str:
        """Return the definition with those of all types inside, as ROS 1 sends it in a connection header."""
        message = self.message(name)
        parts = [message.text]
        for inner in self.inside(message).values():
            # genpy finds the name of a type without fields only before an empty line
            parts.append(f"{'=' * 80}\nMSG: {inner.name}\n{inner.text or chr(10)}")
        return "".join(parts)

    def _md5_text(self, message: MessageType) -> str:
        lines = [f"{base} {name}={value}" for base, name, value in message.constants]
        for field in message.fields:
            if field.primitive:
                array = "" if field.size is None else f"[{'' if field.size < 0 else field.size}]"
                lines.append(f"{field.base}{array} {field.name}")
            else:
                lines.append(f"{self.md5sum(field.base)} {field.name}")
        return "\n".join(lines)

    def md5sum(self, name: str) -> str:
        """Return the sum by which ROS 1 tells whether two sides mean the same type."""
        if name in self._services:
            service = self._services[name]
            text = self._md5_text(service.request) + self._md5_text(service.response)
        else:
            text = self._md5_text(self.message(name))
        return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()

    def rihs01(self, name: str) -> str:
        """Return the hash by which ROS 2 (Iron and later) tells whether two sides mean the same type (REP 2016).

        The hash of a service covers its request, its response and the event by which services are watched.
        """
        text = json.dumps(self.description(name), separators=(", ", ": "))
        return "RIHS01_" + hashlib.sha256(text.encode()).hexdigest()

    def description(self, name: str) -> dict[str, object]:
        """Return the description of a type of ROS 2 with those inside it, as type_description_interfaces has it.

        Fields have no defaults, which take no part in the hash.
        """
        message = self._service_as_message(name) if self._is_service(name) else self.message(name)
        inner = {_ros2_name(m.name): m for m in self.inside(message).values()}
        described = {full: self._describe(full, m) for full, m in inner.items()}
        for m in (message, *inner.values()):
            for field in m.fields:
                if field.base in _ROS2_TIME:
                    full = _ROS2_TIME[field.base]
                    described[full] = {
                        "type_name": full,
                        "fields": [{"name": n, "type": _type_json(_RIHS_IDS[t])} for n, t in _TIME_FIELDS],
                    }
        return {
            "type_description": self._describe(_ros2_name(message.name), message),
            "referenced_type_descriptions": [described[key] for key in sorted(described)],
        }

    def sources(self, name: str) -> list[tuple[str, str, str]]:
        """Return (name, encoding, definition) of a message of ROS 2 and of those inside; none for a service."""
        if self._is_service(name):
            return []
        message = self.message(name)
        found = [message, *self.inside(message).values()]
        return [(_ros2_name(m.name), "msg", m.text) for m in found if m.text]

    def _is_service(self, name: str) -> bool:
        return name.replace("/srv/", "/") in self._services and name not in self._types

    def _service_as_message(self, name: str) -> MessageType:
        full = _ros2_name(self.service(name).name, "srv")
        parts = (("request", "Request"), ("response", "Response"), ("event", "Event"))
        return MessageType(full, tuple(Field(f"{field}_message", f"{full}_{kind}") for field, kind in parts))

    def _describe(self, full: str, message: MessageType) -> dict[str, object]:
        fields = []
        for field in message.fields or (Field("structure_needs_at_least_one_member", "uint8"),):
            nested = ""
            string_bound = 0
            if field.base in _ROS2_TIME:
                number, nested = 1, _ROS2_TIME[field.base]
            elif field.primitive:
                number = _RIHS_IDS[field.base]
            else:
                number, nested = 1, _ros2_name(field.base)
            capacity = 0
            if field.size is None:
                if field.base == "string" and field.bound:
                    number, string_bound = 21, field.bound
            elif field.size >= 0:
                number, capacity = number + 48, field.size
            elif field.bound:
                number, capacity = number + 96, field.bound
            else:
                number += 144
            fields.append({"name": field.name, "type": _type_json(number, capacity, string_bound, nested)})
        return {"type_name": full, "fields": fields}


def _type_json(number: int, capacity: int = 0, string_capacity: int = 0, nested: str = "") -> dict[str, object]:
    return {
        "type_id": number,
        "capacity": capacity,
        "string_capacity": string_capacity,
        "nested_type_name": nested,
    }


def _ros2_name(name: str, room: str = "msg") -> str:
    if name.count("/") == 2:
        return name
    package, _, kind = name.partition("/")
    return f"{package}/{room}/{kind}"


def dds_type_name(name: str, room: str = "msg") -> str:
    """Return the name of a type on the wire of ROS 2: ``std_msgs::msg::dds_::Float64_``.

    Args:
        name: ``package/Type``; parts of services and actions have a room already: ``std_srvs/srv/Trigger_Request``.
        room: ``msg``, or ``srv`` for a service.
    """
    package, room, kind = _ros2_name(name, room).split("/")
    return f"{package}::{room}::dds_::{kind}_"


_REGISTRIES: dict[int, Registry] = {}


def registry(version: int) -> Registry:
    """Return the shared registry of ROS 1 or ROS 2."""
    if version not in _REGISTRIES:
        _REGISTRIES[version] = Registry(version)
    return _REGISTRIES[version]
