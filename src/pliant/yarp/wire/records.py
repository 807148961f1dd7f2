"""Records: structures that YARP's interface compiler writes, as Bottles with a tag in front of every field.

A record at top level is a list of its fields. A record that is a field of another has no list of its own: its fields
stand in the outer list. A record that is an element of a list is a nested list.

| type here | written as | read from |
|---|---|---|
| `i16`, `i32` | int16, int32 | any integer |
| `f64` | float64 | any number |
| `str` | string | string, vocabulary |
| `bool` | ``[ok]`` or ``[fail]`` | any integer or vocabulary |
| `mode` | vocabulary (enumerations of dialect 3) | any integer or vocabulary |
| `vocab` | int32 that holds a vocabulary (enumerations) | any integer or vocabulary |
| `bottle` | nested list | nested list |
| `pid` | nested list of 10 numbers, in the order of dialect 4 | the same |
| `f64*9` and so on | that many fields | the same |
| `i32[]`, `f64[]`, `vocab[]` | vector | list |
| `str[]` | list of strings | the same |
| `pid[]`, `bottle[]` | list of nested lists | the same |
| `flags` | list of (name, bool) lists | the same |

Source: recorded calls between programs of YARP 4.0.0.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from pliant.base.errors import WireError
from pliant.yarp.wire.binary import MAX_ITEMS, Dialect
from pliant.yarp.wire.values import FAIL, OK, Bottle, Int16, Value, Vocab, boolean, integer, number, text, vocabulary

PROTOCOL_CALL = "getRemoteProtocolVersion"
"""First call of every client of YARP 4 that calls by records; it does not open without the reply."""
PROTOCOL_VERSION = struct.pack("<ii4h", 256, 1, 0, 4, 0, 0)
"""Reply to `PROTOCOL_CALL`: four int16 without tags behind the header of a list of one: protocol, major, minor, patch.
Clients compare the first number only, and it must be 0."""
Fields: TypeAlias = tuple[Any, ...]
"""Values of a record, or arguments or results of a call; its `Argument` rows name their types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pid:
    """Gains of a joint's controller; units are those of the user's side of the control board."""

    kp: float = 0.0
    """Proportional gain."""
    kd: float = 0.0
    """Derivative gain."""
    ki: float = 0.0
    """Integral gain."""
    max_int: float = 0.0
    """Limit of the integral part of the output."""
    max_output: float = 0.0
    """Limit of the output."""
    offset: float = 0.0
    """Constant that is added to the output."""
    scale: float = 0.0
    """Scale of the gains."""
    stiction_up: float = 0.0
    """Output added for positive errors, against static friction."""
    stiction_down: float = 0.0
    """Output added for negative errors, against static friction."""
    kff: float = 0.0
    """Feedforward gain."""

    def encode(self, dialect: Dialect) -> Bottle:
        """Return the list of 10 numbers; its order differs between the dialects."""
        values = tuple([float(getattr(self, name)) for name in _PID_ORDER[dialect]])
        return Bottle(values, layout="tagged" if dialect == 4 else "")

    @classmethod
    def decode(cls, value: Value, dialect: Dialect) -> Pid:
        """Return the gains of such a list.

        Raises:
            WireError: the value is no list of 10 numbers.
        """
        if not isinstance(value, Bottle) or len(value) != len(_PID_ORDER[dialect]):
            raise WireError("gains must be a list of 10 numbers", field="pid")
        return cls(**dict(zip(_PID_ORDER[dialect], map(number, value))))


_PID_ORDER: dict[int, tuple[str, ...]] = {
    3: tuple([f.name for f in fields(Pid)]),
    4: ("kp", "kd", "ki", "max_int", "scale", "max_output", "offset", "stiction_up", "stiction_down", "kff"),
}


@dataclass(frozen=True, slots=True)
class _Type:
    """How the values of one type are written and read."""

    encode: Callable[[Any, Dialect], Value]
    """Returns the element of a value."""
    decode: Callable[[Value, Dialect], object]
    """Returns the value of an element."""
    empty: object
    """Value where there is none."""
    layout: str | None = ""
    """Layout of an empty list of them; None for a type that no list has."""


def _list_of(value: Value) -> Bottle:
    if not isinstance(value, Bottle):
        raise WireError("must be a list")
    return value


def _bottle_of(value: object) -> Bottle:
    if not isinstance(value, Bottle):
        raise WireError(f"a {type(value).__name__}; must be a Bottle")
    return value


def _vocabulary_of(value: Vocab | str) -> Vocab:
    return value if isinstance(value, Vocab) else Vocab.of(value)


def _flags_of(value: Value) -> dict[str, bool]:
    items = _list_of(value).items
    pairs = [p for p in items if isinstance(p, Bottle) and len(p) == 2]
    if len(pairs) != len(items) or len(pairs) > MAX_ITEMS:
        raise WireError("must be a list of (name, flag) lists")
    return {text(key): boolean(flag) for key, flag in (p.items for p in pairs)}


def _truth(value: object) -> Vocab:
    return OK if value else FAIL


TYPES: Mapping[str, _Type] = {
    "i16": _Type(lambda v, _: Int16(int(v)), lambda v, _: integer(v), 0, None),
    "i32": _Type(lambda v, _: int(v), lambda v, _: integer(v), 0, "int32"),
    "f64": _Type(lambda v, _: float(v), lambda v, _: number(v), 0.0, "float64"),
    "str": _Type(lambda v, _: str(v), lambda v, _: text(v), "", "string"),
    "bool": _Type(lambda v, _: _truth(v), lambda v, _: boolean(v), False, None),
    "vocab": _Type(lambda v, _: _vocabulary_of(v).code, lambda v, _: vocabulary(v), Vocab(0), "int32"),
    "mode": _Type(lambda v, _: _vocabulary_of(v), lambda v, _: vocabulary(v), Vocab(0), "vocab32"),
    "bottle": _Type(lambda v, _: _bottle_of(v), lambda v, _: _list_of(v), Bottle()),
    "pid": _Type(lambda v, dialect: v.encode(dialect), Pid.decode, Pid()),
    "flags": _Type(
        lambda v, _: Bottle(tuple([Bottle((key, _truth(flag))) for key, flag in v.items()])),
        lambda v, _: _flags_of(v),
        {},
        None,
    ),
}
"""The types of fields; `[]` behind one makes a list, `*n` repeats it."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One field of a record, one argument or one result of a method."""

    name: str
    """Name in the interface; it is not on the wire."""
    type: str
    """One of `TYPES`, with ``[]`` or ``*n`` behind it where it is a list or several fields."""

    def __post_init__(self) -> None:
        _split(self.type)

    @property
    def empty(self) -> object:
        """Value in place of one that could not be had."""
        kind, is_list, repeat = _split(self.type)
        return () if is_list else (kind.empty,) * repeat if repeat else kind.empty


@functools.cache
def _split(type_: str) -> tuple[_Type, bool, int]:
    """Return a type, whether it is a list, and how many fields it takes."""
    match = re.match(r"(\w+?)(\[\])?(?:\*(\d{1,2}))?\Z", type_)
    kind = None if match is None else TYPES.get(match[1])
    if match is None or kind is None or (match[2] and kind.layout is None):
        raise WireError(f"type {type_!r} of a record; must be one of {', '.join(TYPES)}, with [] or *n behind it")
    return kind, match[2] is not None, int(match[3] or 0)


def encode_fields(arguments: Sequence[Argument], values: Sequence[Any], dialect: Dialect = 4) -> tuple[Value, ...]:
    """Return the elements of a record's fields.

    Raises:
        WireError: the number of values differs, or one does not fit its type; the message names the field.
    """
    if len(values) != len(arguments):
        names = ", ".join([a.name for a in arguments])
        raise WireError(f"{len(values)} values for {len(arguments)} fields ({names})")
    items: list[Value] = []
    for argument, value in zip(arguments, values):
        kind, is_list, repeat = _split(argument.type)
        try:
            if repeat and len(value) != repeat:
                raise WireError(f"{len(value)} numbers; must be {repeat}")
            if repeat or is_list:
                found = tuple([kind.encode(v, dialect) for v in value])
                items += found if repeat else [Bottle(found, layout="" if found else kind.layout or "")]
            else:
                items.append(kind.encode(value, dialect))
        except (WireError, TypeError, ValueError, OverflowError, AttributeError) as fault:
            reason = fault.message if isinstance(fault, WireError) else str(fault)
            raise WireError(f"{argument.name} ({argument.type}): {reason}", field=argument.name) from None
    return tuple(items)


def decode_fields(arguments: Sequence[Argument], items: Sequence[Value], dialect: Dialect = 4) -> Fields:
    """Return the values of a record's fields.

    Raises:
        WireError: elements are missing or left over, or one is of another type; the message names the field.
    """
    values: list[object] = []
    at = 0
    for argument in arguments:
        kind, is_list, repeat = _split(argument.type)
        count = repeat or 1
        if at + count > len(items):
            raise WireError(f"{argument.name} ({argument.type}) is missing after {at} elements", field=argument.name)
        try:
            if repeat or is_list:
                given = items[at : at + count] if repeat else _list_of(items[at])
                values.append(tuple([kind.decode(v, dialect) for v in given]))
            else:
                values.append(kind.decode(items[at], dialect))
        except WireError as fault:
            raise WireError(f"{argument.name} ({argument.type}): {fault.message}", field=argument.name) from None
        at += count
    if at != len(items):
        raise WireError(f"{len(items) - at} elements remain after the {len(arguments)} fields of a record")
    return tuple(values)


def call_of(request: Bottle) -> tuple[str, tuple[Value, ...]]:
    """Return the name of a call, "" for an empty request, and its elements from the name on."""
    items = request.items[1:] if request.items[:1] == ("__direct__",) else request.items
    return text(items[0]) if items else "", items


def return_value(code: str) -> Bottle:
    """Return what a call of YARP 4 returns, ``ok`` or ``err1`` and so on: a list that clients read as 16 bytes.

    Without a tag in front of its element it is 4 bytes shorter, for which they wait.
    """
    return Bottle((Vocab.of(code),), layout="tagged")


@dataclass(frozen=True, slots=True)
class Method:
    """One remote call: its name, what it takes and what it gives."""

    name: str
    """First element of the request."""
    arguments: tuple[Argument, ...] = ()
    """Arguments of the call."""
    results: tuple[Argument, ...] = ()
    """Values in the reply."""

    def decode_request(self, request: Bottle) -> Fields:
        """Return the arguments of a request of this method.

        Raises:
            WireError: its arguments do not fit.
        """
        return decode_fields(self.arguments, call_of(request)[1][1:])

    def encode_reply(self, *values: object) -> Bottle:
        """Return the reply with these results."""
        return Bottle(encode_fields(self.results, values), layout="tagged")


def parse_method(line: str) -> Method:
    """Return the method of a line such as ``getImpedanceRPC(j: i32) -> stiffness: f64, damping: f64``.

    Raises:
        WireError: the line has another form, or names a type that does not exist.
    """
    match = re.match(r"(\w+)\(([^()]*)\)(?: -> (.+))?\Z", line)
    if match is None:
        raise WireError(f"{line!r} must be like 'name(argument: type) -> result: type'")
    lists = [_parse_arguments(part) for part in (match[2], match[3] or "")]
    return Method(match[1], *lists)


def _parse_arguments(part: str) -> tuple[Argument, ...]:
    pairs = [item.split(":") for item in part.split(",") if item.strip()]
    if any(len(pair) != 2 for pair in pairs):
        raise WireError(f"{part!r} must be 'name: type' items separated by commas")
    return tuple([Argument(name.strip(), type_.strip()) for name, type_ in pairs])
