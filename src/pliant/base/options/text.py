"""Text about values: defaults and kinds of values as a user writes them."""

from __future__ import annotations

import dataclasses
import enum
import typing
from pathlib import Path
from typing import Literal

from pliant.base.options.values import type_text


def default_text(value: object) -> str:
    """Return a value as a user would write it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, enum.Enum):
        return value.name.lower()
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    if dataclasses.is_dataclass(value):
        return type(value).__name__
    if isinstance(value, tuple):
        return "[" + ", ".join(map(default_text, value)) + "]"
    return str(value)


_NOUNS = {bool: "true or false", float: "a number", int: "a whole number", str: "text", Path: "a path"}


def kind_text(kind: object, limits: str) -> str:
    """Return what a value of a type must be, such as "a number from 0 to 3"; ``limits`` follow the noun."""
    if kind in _NOUNS:
        return _NOUNS[kind] + (limits if kind in (int, float) else "")
    if typing.get_origin(kind) is Literal:
        return "one of " + ", ".join(str(choice) for choice in typing.get_args(kind))
    if typing.get_origin(kind) is tuple:
        items = typing.get_args(kind)
        many = len(items) == 2 and items[1] is Ellipsis
        what = {float: "numbers", int: "whole numbers", str: "words"}.get(items[0], "values")
        return f"{what}{limits}" if many else f"{len(items)} {what}{limits}"
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return "one of " + ", ".join(f"{choice.value} {choice.name.lower()}" for choice in kind)
    return f"a {type_text(kind)}"
