"""Bottles as bytes, in the dialects of YARP 3 and YARP 4.

The dialects differ in the tags of floats only, but nothing on the wire says which one is spoken:

| kind | dialect 3 | dialect 4 |
|---|---|---|
| float64 | 10 | 20 |
| float32 | 128 | 10 |
| vocab64 | none | 18 |

A list is a tag (256, plus the tag of its elements where all are of one primitive kind), a count, and the elements,
each with a tag in front unless the list's tag names it. A float64 vector is therefore a list of float64, and so
`yarp read` can show it.

Source: recorded traffic of YARP 3.12.3 and 4.0.0. All numbers are little-endian.
"""

from __future__ import annotations

import struct
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import WireError
from pliant.yarp.wire.values import Bottle, Float32, Incomplete, Int8, Int16, Int64, Value, Vocab, Vocab64, kind_of

Dialect: TypeAlias = Literal[3, 4]
"""Which YARP the other side is of."""

MAX_BYTES = 1 << 26
"""Longest Bottle that is read or written [bytes]; an image of 4096 x 4096 RGB pixels fits. # assumed"""
MAX_DEPTH = 32
"""Deepest nesting of lists that is read or written. # assumed: recorded messages nest 4 deep"""
MAX_ITEMS = 1 << 22
"""Most values, nested ones included, that one Bottle may hold; a million points of x, y, z fit. # assumed"""

LIST = 256
"""Flag of a list in a tag."""
DICTIONARY = 512
"""Flag of a dictionary in a tag: a list of (key value) lists."""

_COMMON = {"int8": 32, "int16": 64, "int32": 1, "int64": 17, "vocab32": 9, "string": 4, "blob": 12}
_TAGS: dict[int, dict[str, int]] = {
    3: _COMMON | {"float32": 128, "float64": 10},
    4: _COMMON | {"float32": 10, "float64": 20, "vocab64": 18},
}
_KINDS = {dialect: {tag: kind for kind, tag in tags.items()} for dialect, tags in _TAGS.items()}
_CODES = {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "vocab32": "i", "vocab64": "q"} | {
    "float32": "f",
    "float64": "d",
}
_SIZES = {kind: struct.calcsize("<" + code) for kind, code in _CODES.items()}
_CLASSES = {"int8": Int8, "int16": Int16, "int64": Int64, "vocab32": Vocab, "vocab64": Vocab64, "float32": Float32}
_PAIR = struct.Struct("<ii")
_I32 = struct.Struct("<i")


def _check_dialect(dialect: int) -> None:
    if dialect not in get_args(Dialect):
        raise WireError(f"dialect {dialect} of YARP; must be 3 or 4", field="dialect")


def tag_of(kind: str, dialect: Dialect) -> int:
    """Return the tag of a primitive kind.

    Raises:
        WireError: the dialect has no such kind.
    """
    _check_dialect(dialect)
    tag = _TAGS[dialect].get(kind)
    if tag is None:
        raise WireError(f"dialect {dialect} of YARP has no {kind}; must be one of {', '.join(_TAGS[dialect])}")
    return tag


# -- writing -------------------------------------------------------------------------------------------------------


def encode_bottle(bottle: Bottle, dialect: Dialect) -> bytes:
    """Return the bytes of a Bottle, which is also how a list is written inside another.

    Raises:
        WireError: an element is no value of the dialect, does not fit its kind, or the Bottle exceeds a limit.
    """
    _check_dialect(dialect)
    parts: list[bytes] = []
    _write_list(parts, bottle, dialect, MAX_DEPTH)
    data = b"".join(parts)
    if len(data) > MAX_BYTES:
        raise WireError(f"a Bottle of {len(data)} bytes; must be at most {MAX_BYTES}")
    return data


def encode_value(value: Value, dialect: Dialect) -> bytes:
    """Return the bytes of one value with its tag, as it stands in a list whose elements carry their own."""
    _check_dialect(dialect)
    if isinstance(value, Bottle):
        return encode_bottle(value, dialect)
    kind = kind_of(value)
    parts = [_I32.pack(tag_of(kind, dialect))]
    _write_primitives(parts, (value,), kind)
    return b"".join(parts)


def _write_list(parts: list[bytes], bottle: Bottle, dialect: Dialect, depth: int) -> None:
    if not depth:
        raise WireError(f"lists are nested more than {MAX_DEPTH} deep")
    items = bottle.items
    sub = 0
    kind = ""
    if items and bottle.layout != "tagged" and not bottle.dictionary:
        kinds = set(map(type, items))
        kind = kind_of(items[0]) if len(kinds) == 1 else ""
        sub = tag_of(kind, dialect) if kind and kind != "list" else 0
    elif not items and bottle.layout not in ("", "tagged"):
        sub = tag_of(bottle.layout, dialect)
    parts.append(_PAIR.pack((DICTIONARY if bottle.dictionary else LIST) | sub, len(items)))
    if sub and items:
        _write_primitives(parts, items, kind)
        return
    for item in items:
        if isinstance(item, Bottle):
            _write_list(parts, item, dialect, depth - 1)
        else:
            kind = kind_of(item)
            parts.append(_I32.pack(tag_of(kind, dialect)))
            _write_primitives(parts, (item,), kind)


def _write_primitives(parts: list[bytes], items: tuple[Any, ...], kind: str) -> None:
    if kind in ("string", "blob"):
        for item in items:
            raw = item.encode("utf-8", "surrogateescape") if isinstance(item, str) else item
            parts.append(_I32.pack(len(raw)) + raw)
        return
    if kind.startswith("vocab"):
        numbers = [item.code for item in items]
    elif kind in _CLASSES:
        numbers = [item.value for item in items]
    else:
        numbers = items
    try:
        parts.append(struct.pack(f"<{len(items)}{_CODES[kind]}", *numbers))
    except (struct.error, OverflowError) as fault:
        raise WireError(f"a value does not fit {kind}: {fault}") from None


def encode_vector(values: ArrayLike, dialect: Dialect) -> bytes:
    """Return the bytes of a vector of float64, the same as of a Bottle that holds only such numbers.

    Args:
        values: the numbers, shape (n,).
        dialect: 3 or 4.
    """
    array = np.ascontiguousarray(values, dtype="<f8")
    if array.ndim != 1:
        raise WireError(f"a vector of shape {array.shape}; must have one dimension")
    return _PAIR.pack(LIST | tag_of("float64", dialect), len(array)) + array.tobytes()


# -- reading -------------------------------------------------------------------------------------------------------


class _Reader:
    """Walks through the bytes of one Bottle; counts what it reads against the limits."""

    __slots__ = ("at", "data", "dialect", "end", "items_left")

    def __init__(self, data: bytes | bytearray | memoryview, at: int, dialect: Dialect) -> None:
        _check_dialect(dialect)
        self.data = data
        self.at = at
        self.end = len(data)
        self.dialect = dialect
        self.items_left = MAX_ITEMS

    def take(self, size: int) -> int:
        """Return where the next bytes begin, and step over them."""
        at = self.at
        if at + size > self.end:
            raise Incomplete(f"{size} bytes are needed at {at}, {self.end - at} are there")
        self.at = at + size
        return at

    def int32(self) -> int:
        return _I32.unpack_from(self.data, self.take(4))[0]

    def length(self, what: str) -> int:
        size = self.int32()
        if not 0 <= size <= MAX_BYTES:
            raise WireError(f"a {what} of length {size} at byte {self.at - 4}; must be 0 to {MAX_BYTES}")
        return size

    def kind(self, tag: int, where: int) -> str:
        kind = _KINDS[self.dialect].get(tag)
        if kind is None:
            known = ", ".join(f"{t} {k}" for t, k in sorted(_KINDS[self.dialect].items()))
            raise WireError(f"tag {tag} at byte {where} is unknown in dialect {self.dialect}; must be one of {known}")
        return kind

    def value(self, depth: int) -> Value:
        where = self.at
        tag = self.int32()
        if tag & (LIST | DICTIONARY):
            return self.read_list(tag, where, depth)
        kind = self.kind(tag, where)
        return self.primitives(kind, 1)[0]

    def read_list(self, tag: int, where: int, depth: int) -> Bottle:
        if not depth:
            raise WireError(f"lists are nested more than {MAX_DEPTH} deep at byte {where}")
        dictionary = bool(tag & DICTIONARY)
        sub = tag & ~(DICTIONARY if dictionary else LIST)
        kind = self.kind(sub, where) if sub else ""
        if dictionary and sub:
            raise WireError(f"tag {tag} at byte {where}: a dictionary of {kind}; its elements must be lists")
        count = self.length("list")
        self.items_left -= count
        if self.items_left < 0:
            raise WireError(f"a Bottle of more than {MAX_ITEMS} values at byte {where}")
        if kind:
            return Bottle(self.primitives(kind, count), layout="" if count else kind)
        items = tuple([self.value(depth - 1) for _ in range(count)])
        plain = bool(items) and not dictionary and len(set(map(type, items))) == 1 and type(items[0]) is not Bottle
        return Bottle(items, layout="tagged" if plain else "", dictionary=dictionary)

    def primitives(self, kind: str, count: int) -> tuple[Value, ...]:
        if kind == "string":
            return tuple([self.raw(kind).decode("utf-8", "surrogateescape") for _ in range(count)])
        if kind == "blob":
            return tuple([self.raw(kind) for _ in range(count)])
        at = self.take(count * _SIZES[kind])
        numbers = struct.unpack_from(f"<{count}{_CODES[kind]}", self.data, at)
        wrap = _CLASSES.get(kind)
        return numbers if wrap is None else tuple([wrap(n) for n in numbers])

    def raw(self, kind: str) -> bytes:
        size = self.length(kind)
        at = self.take(size)
        return bytes(self.data[at : at + size])


def read_bottle(data: bytes | bytearray | memoryview, dialect: Dialect, at: int = 0) -> tuple[Bottle, int]:
    """Return the Bottle that begins at a byte, and where it ends: replies have no length in front.

    Raises:
        Incomplete: the bytes end before the Bottle does.
        WireError: the bytes are no Bottle of the dialect, or exceed a limit.
    """
    reader = _Reader(data, at, dialect)
    where = reader.at
    tag = reader.int32()
    if not tag & (LIST | DICTIONARY):
        raise WireError(f"a Bottle begins with tag {tag} at byte {where}; must be a list", field="tag")
    found = reader.read_list(tag, where, MAX_DEPTH)
    if reader.at - at > MAX_BYTES:
        raise WireError(f"a Bottle of {reader.at - at} bytes; must be at most {MAX_BYTES}")
    return found, reader.at


def read_value(data: bytes | memoryview, dialect: Dialect, at: int = 0) -> tuple[Value, int]:
    """Return the value whose tag begins at a byte, and where it ends.

    Raises:
        Incomplete: the bytes end before the value does.
        WireError: the bytes are no value of the dialect, or exceed a limit.
    """
    reader = _Reader(data, at, dialect)
    found = reader.value(MAX_DEPTH)
    return found, reader.at


def decode_bottle(data: bytes | memoryview, dialect: Dialect) -> Bottle:
    """Return the Bottle that fills the bytes.

    Raises:
        WireError: the bytes are no Bottle of the dialect, exceed a limit, end early or go on behind it.
    """
    found, end = read_bottle(data, dialect)
    if end != len(data):
        raise WireError(f"{len(data) - end} bytes remain after a Bottle of {end} bytes")
    return found


def decode_either(data: bytes | memoryview, first: Dialect = 4) -> tuple[Bottle, Dialect]:
    """Return the Bottle that fills the bytes, and the dialect in which it does.

    Nothing on the wire names the dialect. Tag 10 is a float of 4 bytes in one and of 8 in the other, so that bytes with
    floats fit one of them only; bytes without floats fit both.

    Args:
        data: the bytes.
        first: the dialect that is tried first.

    Raises:
        WireError: the bytes are no Bottle in either dialect; the message is that of the first.
    """
    try:
        return decode_bottle(data, first), first
    except WireError as fault:
        other: Dialect = 3 if first == 4 else 4
        try:
            return decode_bottle(data, other), other
        except WireError:
            raise fault from None
