"""The values of YARP: what a Bottle holds, and how a program reads them.

Native Python types stand for the common kinds; small frozen classes stand for the others:

| kind | Python | wire |
|---|---|---|
| int32, float64, string, blob | `int`, `float`, `str`, `bytes` | 4 bytes, 8 bytes, length and bytes, length and bytes |
| int8, int16, int64 | `Int8`, `Int16`, `Int64` | 1, 2, 8 bytes |
| float32 | `Float32` | 4 bytes |
| vocab32, vocab64 | `Vocab`, `Vocab64` | up to 4 or 8 characters, packed into an integer |
| list, dictionary | `Bottle` | a count and the elements |

Python's `bool` is not a value: YARP writes true and false as vocabularies (`TRUE`, `FALSE`) in Bottles and as
``[ok]`` and ``[fail]`` in records, so a caller says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, overload

from pliant.base.errors import WireError


class Incomplete(WireError):
    """The bytes end before the value does: more of the stream must be read first."""


def _pack(name: str, size: int) -> int:
    raw = name.encode("latin-1", "replace")
    if len(raw) > size or "\0" in name:
        raise WireError(f"vocabulary {name!r} must have at most {size} characters, none of them NUL")
    return int.from_bytes(raw, "little", signed=False)


def _unpack(code: int, size: int) -> str:
    return (code % (1 << (8 * size))).to_bytes(size, "little").rstrip(b"\0").decode("latin-1")


def _check_range(value: int, bits: int, kind: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise WireError(f"{value!r} is no {kind}: must be an integer of {bits} bits")


@dataclass(frozen=True, slots=True)
class Vocab:
    """A vocabulary of up to four characters, such as ``[pos]`` (vocab32)."""

    code: int
    """The characters, the first in the lowest byte, as a signed integer of 32 bits."""

    def __post_init__(self) -> None:
        _check_range(self.code, 32, "vocab32")

    @classmethod
    def of(cls, name: str) -> Vocab:
        """Return the vocabulary of a name of at most four characters."""
        code = _pack(name, 4)
        return cls(code - (1 << 32) if code >= 1 << 31 else code)

    @property
    def name(self) -> str:
        """The characters, without the NUL bytes behind them."""
        return _unpack(self.code, 4)


@dataclass(frozen=True, slots=True)
class Vocab64:
    """A vocabulary of up to eight characters (dialect 4 only)."""

    code: int
    """The characters, the first in the lowest byte, as a signed integer of 64 bits."""

    def __post_init__(self) -> None:
        _check_range(self.code, 64, "vocab64")

    @classmethod
    def of(cls, name: str) -> Vocab64:
        """Return the vocabulary of a name of at most eight characters."""
        code = _pack(name, 8)
        return cls(code - (1 << 64) if code >= 1 << 63 else code)

    @property
    def name(self) -> str:
        """The characters, without the NUL bytes behind them."""
        return _unpack(self.code, 8)


@dataclass(frozen=True, slots=True)
class Int8:
    """An integer of 8 bits."""

    value: int
    """-128 to 127."""

    def __post_init__(self) -> None:
        _check_range(self.value, 8, "int8")


@dataclass(frozen=True, slots=True)
class Int16:
    """An integer of 16 bits."""

    value: int
    """-32768 to 32767."""

    def __post_init__(self) -> None:
        _check_range(self.value, 16, "int16")


@dataclass(frozen=True, slots=True)
class Int64:
    """An integer of 64 bits."""

    value: int
    """-2**63 to 2**63 - 1."""

    def __post_init__(self) -> None:
        _check_range(self.value, 64, "int64")


@dataclass(frozen=True, slots=True)
class Float32:
    """A float of single precision."""

    value: float
    """The number; it is rounded to single precision when it is written."""


@dataclass(frozen=True, slots=True)
class Bottle:
    """A list of values, which is also what every YARP message without a type of its own is.

    Two Bottles are equal when their elements are. `layout` only says how the list was or shall be written.
    """

    items: tuple[Value, ...] = ()
    """The elements."""
    layout: str = field(default="", compare=False)
    """How the elements are tagged. Empty: as a stock Bottle, one tag for all when all are of one primitive kind, else
    a tag each. ``tagged``: a tag each in any case, as records write them. A name of `KINDS`: the kind of the elements
    that an empty vector would have."""
    dictionary: bool = False
    """True for the dictionary flag of the wire: a list of (key value) lists that stands for a Property."""

    def __iter__(self) -> Iterator[Value]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Value, ...]: ...
    def __getitem__(self, index: int | slice) -> Value | tuple[Value, ...]:
        return self.items[index]

    def find(self, key: str) -> Value | None:
        """Return the value behind a key: of a ``(key value)`` list first, else the element after the key itself.

        Args:
            key: the text of the key; a vocabulary of the same characters matches too.

        Returns:
            The value, a Bottle of all values where a ``(key value...)`` list holds several, or None without the key.
        """
        for item in self.items:
            if isinstance(item, Bottle) and item.items and _names(item.items[0], key):
                rest = item.items[1:]
                return rest[0] if len(rest) == 1 else Bottle(rest)
        for at, item in enumerate(self.items[:-1]):
            if _names(item, key):
                return self.items[at + 1]
        return None


def _names(value: Value, key: str) -> bool:
    return value == key or (isinstance(value, Vocab | Vocab64) and value.name == key)


Value: TypeAlias = "int | float | str | bytes | Int8 | Int16 | Int64 | Float32 | Vocab | Vocab64 | Bottle"
"""One element of a Bottle."""

KINDS = ("int8", "int16", "int32", "int64", "vocab32", "vocab64", "float32", "float64", "string", "blob")
"""The primitive kinds: those whose tag a list can carry once for all its elements."""

OK = Vocab.of("ok")
FAIL = Vocab.of("fail")
IS = Vocab.of("is")
NAK = Vocab.of("nak")
ACK = Vocab.of("ack")
TSTA = Vocab.of("tsta")
TRUE = Vocab(ord("1"))
"""How a Bottle holds true; its text is ``true``."""
FALSE = Vocab(0)
"""How a Bottle holds false; its text is ``false``."""

_KIND_OF: dict[type, str] = {
    int: "int32",
    float: "float64",
    str: "string",
    bytes: "blob",
    Int8: "int8",
    Int16: "int16",
    Int64: "int64",
    Float32: "float32",
    Vocab: "vocab32",
    Vocab64: "vocab64",
    Bottle: "list",
}


def kind_of(value: Value) -> str:
    """Return the name of a value's kind: one of `KINDS`, or ``list``.

    Raises:
        WireError: the object is no value of YARP.
    """
    kind = _KIND_OF.get(type(value))
    if kind is None:
        raise WireError(f"{type(value).__name__} is no value of a Bottle; must be one of {', '.join(KINDS)}, list")
    return kind


Nested: TypeAlias = "Value | Sequence[Nested]"
"""A value, or a list of values that may hold lists."""


def bottle(*items: Nested) -> Bottle:
    """Return a Bottle of values; a tuple or a list among them becomes a list of its own.

    ``bottle(Vocab.of("is"), 3, (1.0, 2.0))`` is ``[is] 3 (1.0 2.0)``.
    """
    values: list[Any] = [bottle(*item) if isinstance(item, list | tuple) else item for item in items]
    return Bottle(tuple(values))


def integer(value: Value) -> int:
    """Return a whole number: an integer of any size, or the code of a vocabulary.

    Raises:
        WireError: the value is of another kind.
    """
    if isinstance(value, Int8 | Int16 | Int64):
        return value.value
    if isinstance(value, Vocab | Vocab64):
        return value.code
    if isinstance(value, int):
        return value
    raise WireError(f"a {kind_of(value)} where an integer must be")


def number(value: Value) -> float:
    """Return a number as a float: a float or an integer of any size.

    Raises:
        WireError: the value is of another kind.
    """
    if isinstance(value, float):
        return value
    if isinstance(value, Float32):
        return value.value
    if isinstance(value, int | Int8 | Int16 | Int64):
        return float(integer(value))
    raise WireError(f"a {kind_of(value)} where a number must be")


def text(value: Value) -> str:
    """Return a text: a string, or the characters of a vocabulary.

    Raises:
        WireError: the value is of another kind.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Vocab | Vocab64):
        return value.name
    raise WireError(f"a {kind_of(value)} where a string must be")


def vocabulary(value: Value) -> Vocab:
    """Return a vocabulary: also the one that a string of at most four characters or an int32 stands for.

    Raises:
        WireError: the value is of another kind, or the string is longer.
    """
    if isinstance(value, Vocab):
        return value
    if isinstance(value, str):
        return Vocab.of(value)
    return Vocab(integer(value))


def boolean(value: Value) -> bool:
    """Return a truth value: false for 0 and for ``[fail]``, true for any other integer or vocabulary.

    Raises:
        WireError: the value is neither an integer nor a vocabulary.
    """
    return value != FAIL and integer(value) != 0
