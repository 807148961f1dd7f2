"""Requests to control boards as a client of YARP writes them; replies and messages of sensors as it reads them."""

from __future__ import annotations

import struct

from pliant.base.errors import WireError, nearest
from pliant.yarp.wire import control_board_v3 as v3
from pliant.yarp.wire.control_board import REFUSED, RETURN_VALUES, method
from pliant.yarp.wire.objects import Stamp, floats
from pliant.yarp.wire.records import Fields, Method, decode_fields, encode_fields
from pliant.yarp.wire.sensors import EARLY_GROUPS, SENSOR_GROUPS, Measurement, SensorNames
from pliant.yarp.wire.values import IS, OK, TSTA, Bottle, Value, Vocab, integer, number, text

UNTIMED = ("pid", "ipwm", "icur", "reca", "ijfl")
"""Interfaces of dialect 3 whose replies have no stamp."""
VERSION = struct.Struct("<2i4h")
"""Header of a list of one, and four int16."""


def encode_request(method: Method, *values: object) -> Bottle:
    """Return the request of a method of dialect 4, or of another interface, with its arguments."""
    return Bottle((method.name, *encode_fields(method.arguments, values)), layout="tagged")


def encode_words(words: str, *values: object) -> Bottle:
    """Return the request of dialect 3 of these words with its arguments."""
    return Bottle((*[Vocab.of(w) for w in words.split()], *encode_fields(v3.METHODS[words].arguments, values, 3)))


def decode_reply_3(request: Bottle, reply: Bottle) -> tuple[Fields, Stamp | None]:
    """Return the results of a reply of dialect 3 to a request, and its stamp: None for replies that have none.

    Raises:
        WireError: the control board refused the request, or the reply does not fit it.
    """
    words, _ = v3.decode_request(request)
    if reply.items[-1:] != (OK,):
        raise WireError(f"the control board refused {words!r}", field="method")
    if not words.startswith("get "):
        return (), None
    _, interface, *item = words.split()
    items, stamp = reply.items[:-1], None
    if interface not in UNTIMED:
        if len(items) < 3 or items[-3] != TSTA:
            raise WireError(f"the reply to {words!r} has no stamp", field="stamp")
        stamp, items = Stamp(integer(items[-2]), number(items[-1])), items[:-3]
    at = 3 if item == ["cmod"] else 2 if interface == "icmd" else 1
    echo = {"intm": (), "ijfl": (IS,)}.get(interface, (IS, request[at]))
    if items[: len(echo)] != echo:
        raise WireError(f"the reply to {words!r} belongs to another request", field="echo")
    return decode_fields(v3.METHODS[words].results, items[len(echo) :], 3), stamp


def decode_reply(name: str, reply: Bottle) -> tuple[str, Fields]:
    """Return the status of a reply and its results.

    Raises:
        WireError: the server refused the method, or the reply does not fit it.
    """
    results = method(name).results
    if not results:
        return status_of(reply), ()
    if reply.items == REFUSED.items:
        raise WireError(f"the control board refused {name}: [fail]", field="method")
    if not reply.items:
        raise WireError(f"an empty reply to {name}", field="status")
    return status_of(reply.items[0]), decode_fields(results, reply.items[1:])


def status_of(value: Value) -> str:
    first = value.items[0] if isinstance(value, Bottle) and len(value) == 1 else 0
    name = first.name if isinstance(first, Vocab) else ""
    if name == "fail":
        raise WireError("the control board refused the method: [fail]", field="method")
    if name not in RETURN_VALUES:
        raise WireError(f"no return value in a reply; {nearest(name, RETURN_VALUES)}", field="status")
    return name


def decode_protocol_version(data: bytes) -> tuple[int, int, int, int]:
    """Return protocol, major, minor and patch number of such a reply.

    Raises:
        WireError: the reply has another length or header.
    """
    if len(data) != VERSION.size:
        raise WireError(f"a protocol version of {len(data)} bytes; must be {VERSION.size}")
    tag, count, *numbers = VERSION.unpack(data)
    if (tag, count) != (256, 1):
        raise WireError(f"a protocol version behind tag {tag} and count {count}; must be 256 and 1")
    return tuple(numbers)


def decode_measurements(data: Bottle) -> dict[str, tuple[Measurement, ...]]:
    """Return the measurements of each group that has any.

    Raises:
        WireError: the Bottle is no such stream.
    """
    return {
        name: tuple([Measurement(tuple(floats(m[0]).tolist()), number(m[1])) for m in group])
        for name, group in _groups(data, 2)
    }


def decode_metadata(data: Bottle) -> dict[str, tuple[SensorNames, ...]]:
    """Return the names of the sensors of each group that has any.

    Raises:
        WireError: the Bottle is no such reply.
    """
    return {
        name: tuple([SensorNames(text(s[0]), text(s[1]), text(s[2])) for s in group])
        for name, group in _groups(data, 3)
    }


def _groups(data: Bottle, size: int) -> list[tuple[str, list[Bottle]]]:
    if len(data) not in (EARLY_GROUPS, len(SENSOR_GROUPS)):
        raise WireError(f"{len(data)} groups of sensors; must be {EARLY_GROUPS} or {len(SENSOR_GROUPS)}")
    found = []
    for name, group in zip(SENSOR_GROUPS, data.items):
        records = [r for r in group.items if isinstance(r, Bottle)] if isinstance(group, Bottle) else []
        if not isinstance(group, Bottle) or len(records) != len(group) or any(len(r) != size for r in records):
            raise WireError(f"group {name} must be a list of lists of {size}", field=name)
        if records:
            found.append((name, records))
    return found
