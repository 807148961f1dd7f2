"""Reading single values: numbers, truth values, vectors, enumerations and paths from text or objects."""

from __future__ import annotations

import enum
import functools
import math
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from pliant.base.errors import ModelError, PliantError, nearest

_TRUE = ("true", "1", "yes", "on")
_FALSE = ("false", "0", "no", "off")


def parse_value(value: object, kind: object, what: str, error: Callable[..., PliantError] = ModelError) -> object:
    """Return a value, given as text or as an object, in a type that options can have.

    Args:
        value: what was given.
        kind: the type: bool, int, float, str, Path, an enumeration, a tuple of these, or one of them or None.
        what: how the message names it.
        error: the exception to raise.
    """
    kinds = members(kind)
    if types.NoneType in kinds:
        words = ("none", "null") if {bool, str} & set(kinds) else ("none", "null", "off")
        if value is None or (isinstance(value, str) and value.strip().lower() in words):
            return None
        kinds = tuple(k for k in kinds if k is not types.NoneType)
    for member in kinds[:-1]:
        try:
            return parse_value(value, member, what)
        except PliantError:
            continue
    member = kinds[-1]
    if member is bool:
        return parse_bool(value, what, error)
    if member is int or member is float:
        return parse_number(value, what, integer=member is int, error=error)
    if member is str or member is Path:
        if isinstance(value, str | Path):
            return member(value)
        if member is str and isinstance(value, int | float):
            return str(value)
        raise error(f"{what} is {value!r}; must be text", field=what)
    origin = typing.get_origin(member)
    if origin is Literal:
        for choice in typing.get_args(member):
            if value == choice or (isinstance(value, str) and value.strip() == str(choice)):
                return choice
        raise error(f"{what} is {value!r}; {nearest_choice(value, typing.get_args(member))}", field=what)
    if origin is tuple:
        items = typing.get_args(member)
        parts = _parts(value)
        kinds = items[:1] * len(parts) if len(items) == 2 and items[1] is Ellipsis else items
        if len(parts) != len(kinds):
            noun = "numbers" if {int, float} >= set(kinds) else "values"
            raise error(f"{what} is {value!r}, {len(parts)} {noun}; must be {len(kinds)} {noun}", field=what)
        return tuple(parse_value(part, k, what, error) for part, k in zip(parts, kinds, strict=True))
    if isinstance(member, type) and isinstance(value, member):
        return value
    if isinstance(member, type) and issubclass(member, enum.Enum):
        text = str(value).strip().lower()
        for choice in member:
            if text in (choice.name.lower(), str(choice.value).lower()):
                return choice
        raise error(f"{what} is {value!r}; {nearest_choice(text, [c.name.lower() for c in member])}", field=what)
    raise error(f"{what} is {value!r}; must be {type_text(member)}", field=what)


def parse_number(
    value: object, what: str, *, integer: bool = False, error: Callable[..., PliantError] = ModelError
) -> float | int:
    """Return a number given as text or number; "inf" and "-inf" are numbers, "nan" is not.

    Args:
        value: text or number.
        what: how the message names it.
        integer: whether only whole numbers are valid.
        error: the exception to raise.
    """
    kind = "a whole number" if integer else "a number"
    if isinstance(value, bool) or (not isinstance(value, str | int | float) and not hasattr(value, "__float__")):
        raise error(f"{what} is {value!r}; must be {kind}", field=what)
    text: Any = value.strip() if isinstance(value, str) else value
    try:
        # float() also takes "1_000", which in a file is a typing error.
        number = float(text) if not isinstance(text, str) or "_" not in text else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isnan(number) or (integer and (math.isinf(number) or number != int(number))):
        raise error(f"{what} is {value!r}; must be {kind}", field=what)
    if not integer:
        return number
    try:
        return int(text)  # every digit of a large number
    except ValueError:
        return int(number)


def parse_bool(value: object, what: str, error: Callable[..., PliantError] = ModelError) -> bool:
    """Return a truth value given as true/false, 1/0, yes/no, on/off, or as a bool.

    Args:
        value: text or bool.
        what: how the message names it.
        error: the exception to raise.
    """
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise error(f"{what} is {value!r}; must be true or false", field=what)


def parse_vector(
    value: object, what: str, length: int | None = None, error: Callable[..., PliantError] = ModelError
) -> list[float]:
    """Return numbers given as a sequence or as text with blanks or commas.

    Args:
        value: the numbers.
        what: how the message names them.
        length: how many there must be; None for any count.
        error: the exception to raise.
    """
    numbers_ = [float(parse_number(part, what, error=error)) for part in _parts(value)]
    if length is not None and len(numbers_) != length:
        raise error(f"{what} is {value!r}, {len(numbers_)} numbers; must be {length} numbers", field=what)
    return numbers_


def nearest_choice(value: object, choices: Iterable[object]) -> str:
    """Return the end of a message: the nearest valid value, then the valid values."""
    return nearest(str(value), map(str, choices), limit=40)


def _parts(value: object) -> Sequence[object]:
    if isinstance(value, str):
        return value.strip().strip("[]()").replace(",", " ").split()
    return list(value) if isinstance(value, Iterable) and hasattr(value, "__len__") else [value]


@functools.cache
def members(hint: object) -> tuple[object, ...]:
    """Return the members of a union, or the type itself."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def type_text(kind: object) -> str:
    """Return the name of a type for a message."""
    return getattr(kind, "__name__", None) or str(kind)
