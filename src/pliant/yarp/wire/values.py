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
from typing import Any, ClassVar, Self, TypeAlias, overload

from pliant.base.errors import WireError


class Incomplete(WireError):
    """The bytes end before the value does: more of the stream must be read first."""


def _check_range(value: int, bits: int, kind: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise WireError(f"{value!r} is no {kind}{bits}: must be an integer of {bits} bits")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A few characters that are packed into an integer; `Vocab` and `Vocab64` say how many."""

    code: int
    """The characters, the first in the lowest byte, as a signed integer."""
    size: ClassVar[int]
    """Most characters."""

    def __post_init__(self) -> None:
        _check_range(self.code, 8 * self.size, "vocab")

    @classmethod
    def of(cls, name: str) -> Self:
        """Return the vocabulary of a name of at most `size` characters."""
        raw = name.encode("latin-1", "replace")
        if len(raw) > cls.size or "\0" in name:
            raise WireError(f"vocabulary {name!r} must have at most {cls.size} characters, none of them NUL")
        return cls(int.from_bytes(raw.ljust(cls.size, b"\0"), "little", signed=True))

    @property
    def name(self) -> str:
        """The characters, without the NUL bytes behind them."""
        return self.code.to_bytes(self.size, "little", signed=True).rstrip(b"\0").decode("latin-1")


class Vocab(Vocabulary):
    """A vocabulary of up to four characters, such as ``[pos]`` (vocab32)."""

    __slots__ = ()
    size = 4


class Vocab64(Vocabulary):
    """A vocabulary of up to eight characters (dialect 4 only)."""

    __slots__ = ()
    size = 8


@dataclass(frozen=True, slots=True)
class SizedInteger:
    """An integer of another size than 32 bits; its class says which."""

    value: int
    """The number."""
    bits: ClassVar[int]
    """Size of the number."""

    def __post_init__(self) -> None:
        _check_range(self.value, self.bits, "int")


class Int8(SizedInteger):
    """An integer of 8 bits."""

    __slots__ = ()
    bits = 8


class Int16(SizedInteger):
    """An integer of 16 bits."""

    __slots__ = ()
    bits = 16


class Int64(SizedInteger):
    """An integer of 64 bits."""

    __slots__ = ()
    bits = 64


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
    return value == key or (isinstance(value, Vocabulary) and value.name == key)


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
    if isinstance(value, SizedInteger):
        return value.value
    if isinstance(value, Vocabulary):
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
    if isinstance(value, int | SizedInteger):
        return float(integer(value))
    raise WireError(f"a {kind_of(value)} where a number must be")


def text(value: Value) -> str:
    """Return a text: a string, or the characters of a vocabulary.

    Raises:
        WireError: the value is of another kind.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Vocabulary):
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


def plain_value(value: Value) -> Any:
    """Return a value as Python has it: numbers, truths, texts, tuples; a vocabulary is its characters."""
    if isinstance(value, Bottle):
        return tuple([plain_value(item) for item in value.items])
    if value in (TRUE, FALSE):
        return value == TRUE
    if isinstance(value, Vocabulary):
        return value.name
    if isinstance(value, SizedInteger | Float32):
        return value.value
    return tuple(value) if isinstance(value, bytes) else value
