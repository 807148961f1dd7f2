"""Parsing options: instances of a dataclass from text or a mapping, and the check of an instance."""

from __future__ import annotations

import math
import numbers
import typing
from collections.abc import Callable, Iterator, Mapping
from types import NoneType
from typing import Literal, TypeVar

from pliant.base.errors import PliantError, nearest
from pliant.base.options.declaration import describe
from pliant.base.options.values import members

T = TypeVar("T")


def parse(
    cls: type[T], values: Mapping[str, object], *, where: str = "", error: Callable[..., PliantError] = PliantError
) -> T:
    """Return an instance of a dataclass of options.

    Args:
        cls: the dataclass.
        values: value by field; text is converted. Other fields keep their default.
        where: put in front of messages, such as ``--bridge fci: ``.
        error: the exception to raise.

    Raises:
        PliantError: a field that does not exist, or a value that it does not take; of the type ``error``.
    """
    infos = {info.name: info for info in describe(cls)}
    parsed = {}
    for name, value in values.items():
        if name not in infos:
            raise error(f"{where}no option {name!r}; {nearest(str(name), infos, limit=40)}", field=str(name))
        parsed[name] = infos[name].parse(value, f"{where}{name}", error)
    return cls(**parsed)


def parse_text(cls: type[T], text: str, *, where: str = "", error: Callable[..., PliantError] = PliantError) -> T:
    """Return an instance of a dataclass of options from ``key=value,key=value``; commas in brackets separate numbers.

    Raises:
        PliantError: an item without ``=``, a field twice, or as `parse`; of the type ``error``.
    """
    values: dict[str, str] = {}
    for item in _split(text):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            names = [info.name for info in describe(cls)]
            raise error(f"{where}{item!r} must be KEY=VALUE; {nearest(key, names, limit=40)}", field=key)
        if key in values:
            raise error(f"{where}{key} is given twice, as {values[key]!r} and {value!r}", field=key)
        values[key] = value
    return parse(cls, values, where=where, error=error)


def _split(text: str) -> Iterator[str]:
    depth, item = 0, ""
    for character in text:
        depth += (character in "[(") - (character in "])")
        if character == "," and depth <= 0:
            if item.strip():
                yield item.strip()
            item = ""
        else:
            item += character
    if item.strip():
        yield item.strip()


def check_values(
    instance: object, error: Callable[..., PliantError] = PliantError, *, names: Callable[[str], str] | None = None
) -> None:
    """Raise unless every field of a dataclass has a value of its declared type inside its limits.

    Args:
        instance: the instance; call this in ``__post_init__``.
        error: the exception to raise.
        names: how messages name a field; None writes ``Class: field``.
    """
    for info in describe(type(instance)):
        value, kinds = getattr(instance, info.name), members(info.type)
        # The usual cases first: fits make many instances.
        if value is None and NoneType in kinds and not info.choices:
            continue
        if type(value) is float and float in kinds and not info.choices and info.holds(value):
            continue
        what = f"{type(instance).__name__}: {info.name}" if names is None else names(info.name)
        if not any(_is_a(value, kind) for kind in kinds):
            raise error(f"{what} is {value!r}, a {type(value).__name__}; must be {info.must_be}", field=info.name)
        if isinstance(value, numbers.Real) and math.isnan(value):
            must_be = info.must_be.replace("a number", "a finite number")
            raise error(f"{what} is nan; must be {must_be}", field=info.name)
        if value is not None:
            info.check(value, what, error)


def _is_a(value: object, kind: object) -> bool:
    if kind is float:
        return isinstance(value, numbers.Real) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if typing.get_origin(kind) is Literal:
        return value in typing.get_args(kind)
    if typing.get_origin(kind) is tuple:
        items = typing.get_args(kind)
        if not isinstance(value, tuple):
            return False
        if len(items) == 2 and items[1] is Ellipsis:
            return all(_is_a(item, items[0]) for item in value)
        return len(value) == len(items) and all(map(_is_a, value, items))
    return isinstance(kind, type) and isinstance(value, kind)
