"""Declaring options: fields with unit, limits and default, and the checks of the declaration."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import math
import numbers
import sys
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pliant.base.errors import PliantError
from pliant.base.options.places import DESCRIBED, field_documentation, file_of, place_of
from pliant.base.options.text import default_text, kind_text
from pliant.base.options.units import check_unit
from pliant.base.options.values import members, nearest_choice, parse_value, type_text

T = TypeVar("T")
_KEY = "pliant.option"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionInfo:
    """One declared field: what an option may be, or what a field of a block carries."""

    name: str
    """Name of the field."""
    type: Any
    """Its annotation, resolved."""
    default: Any
    """Default value; `dataclasses.MISSING` where there is none."""
    unit: str = ""
    """Unit, one of `UNITS`."""
    choices: tuple[Any, ...] = ()
    """The valid values; empty where every value of the type inside the limits is valid."""
    low: float = -math.inf
    """Smallest valid number."""
    high: float = math.inf
    """Largest valid number."""
    above: bool = False
    """Whether ``low`` itself is not valid."""
    infinite: bool = False
    """Whether plus and minus infinity are valid."""
    source: str = ""
    """Where the default comes from; "assumed" where nobody has published it."""
    other_meaning: bool = False
    """Whether the field may have another unit or type than a base class gives it."""
    owner: type
    """The dataclass that declares the field."""

    @property
    def description(self) -> str:
        """The docstring under the field, or under that of a base class, in one line; "" without one."""
        found = (field_documentation(base).get(self.name, (0, ""))[1] for base in self.owner.__mro__)
        return next(filter(None, found), "")

    @property
    def place(self) -> str:
        """Where the field is declared, ``file:line``."""
        line = field_documentation(self.owner).get(self.name, (0, ""))[0]
        return f"{file_of(self.owner)}:{line}" if line else place_of(self.owner)

    @property
    def must_be(self) -> str:
        """Condition on a valid value, such as ``a number from 0 to 3 [rad]``."""
        if self.choices:
            return "one of " + ", ".join(str(choice) for choice in self.choices)
        kinds = [kind for kind in members(self.type) if kind is not types.NoneType]
        text = " or ".join(
            dict.fromkeys(kind_text(kind, f" {self.range_text}" if self.range_text else "") for kind in kinds)
        )
        return f"{text} [{self.unit}]" if self.unit else text

    @property
    def range_text(self) -> str:
        """The limits, such as ``from 0 to 3`` or ``> 0``; "" without any."""
        low, high = math.isfinite(self.low), math.isfinite(self.high)
        if low and high and not self.above:
            return f"from {self.low:g} to {self.high:g}"
        lower = f"{'>' if self.above else '>='} {self.low:g}" if low else ""
        return lower + (" and " if low and high else "") + (f"<= {self.high:g}" if high else "")

    @property
    def default_text(self) -> str:
        """The default as a user would write it; "" where there is none."""
        return "" if self.default is dataclasses.MISSING else default_text(self.default)

    def holds(self, x: float) -> bool:
        """Return whether a number keeps the declared limits; one that is not a number does not."""
        return self.low <= x <= self.high and not (self.above and x <= self.low) and (self.infinite or math.isfinite(x))

    def check(self, value: object, what: str, error: Callable[..., PliantError] = PliantError) -> None:
        """Raise unless a value of the right type keeps the declared limits.

        Args:
            value: the value, already of the field's type.
            what: how the message names it.
            error: the exception to raise.
        """
        if self.choices and value not in self.choices:
            raise error(f"{what} is {value!r}; {nearest_choice(value, self.choices)}", field=self.name)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, bool | enum.Enum) or not isinstance(number, numbers.Real):
                continue
            x = float(number)
            if not self.holds(x):
                must_be = self.must_be if math.isfinite(x) else self.must_be.replace("a number", "a finite number")
                raise error(f"{what} is {x:g}; must be {must_be}", field=self.name)

    def parse(self, value: object, what: str, error: Callable[..., PliantError] = PliantError) -> object:
        """Return a value, given as text or as an object, in the field's type.

        Args:
            value: what was given.
            what: how the message names it.
            error: the exception to raise.
        """
        if self.choices and isinstance(value, str):
            for choice in self.choices:
                if str(choice) == value.strip():
                    return choice
            raise error(f"{what} is {value!r}; {nearest_choice(value, self.choices)}", field=self.name)
        try:
            result = parse_value(value, self.type, what)
        except PliantError:
            raise error(f"{what} is {value!r}; must be {self.must_be}", field=self.name) from None
        self.check(result, what, error)
        return result


def option(
    default: T,
    *,
    unit: str = "",
    choices: tuple[object, ...] = (),
    low: float = -math.inf,
    high: float = math.inf,
    above: bool = False,
    infinite: bool = False,
    source: str = "",
    kw_only: bool | None = None,
    other_meaning: bool = False,
) -> T:
    """Declare a field of a dataclass of options; the docstring under the field describes it.

    Args:
        default: default value.
        unit: unit, one of `UNITS`.
        choices: the valid values, where only these are valid.
        low: smallest valid number.
        high: largest valid number.
        above: whether ``low`` itself is not valid.
        infinite: whether plus and minus infinity are valid.
        source: where the default comes from; "assumed" where nobody has published it.
        kw_only: whether the field is given by keyword only; None follows the class.
        other_meaning: whether the field may have another unit or type than a base class gives it.

    Raises:
        PliantError: an unknown unit, limits in the wrong order, or a default outside them; with file and line.
    """
    frame = sys._getframe(1)
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    check_unit(unit, f"{place}: the option's unit")
    if low > high:
        raise PliantError(f"{place}: low is {low:g} and high is {high:g}; low must be <= high", field="low")
    declared = {
        "unit": unit,
        "choices": choices,
        "low": low,
        "high": high,
        "above": above,
        "infinite": infinite,
        "source": source,
        "other_meaning": other_meaning,
    }
    if default is not None:
        probe = OptionInfo(name="default", type=type(default), default=default, owner=object, **declared)
        probe.check(default, f"{place}: the default")
    only = dataclasses.MISSING if kw_only is None else kw_only
    return typing.cast("T", dataclasses.field(default=default, metadata={_KEY: declared}, kw_only=only))


@functools.cache
def describe(cls: type) -> tuple[OptionInfo, ...]:
    """Return the declared fields of a dataclass, in order.

    Raises:
        PliantError: `cls` is no dataclass, a field has a type that no text can give, a default outside its limits, or a
            name that a base class declares with another type or unit; the message has the places.
    """
    if not dataclasses.is_dataclass(cls):
        raise PliantError(f"{place_of(cls)}: {cls.__qualname__} must be a dataclass", field=cls.__qualname__)
    try:
        hints = typing.get_type_hints(cls)
    except Exception as fault:  # evaluates a user's annotations
        raise PliantError(f"{place_of(cls)}: the types of {cls.__qualname__} cannot be read: {fault}") from fault
    found = []
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        owner = _owner(cls, field.name)
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        declared: dict[str, Any] = _declared(cls, field.name)
        hint = hints[field.name]
        if typing.get_origin(hint) is Literal:
            declared["choices"] = typing.get_args(hint)
        info = OptionInfo(name=field.name, type=hint, default=default, owner=owner, **declared)
        _check_type(info, hint)
        _check_bases(cls, info)
        if default is not None and default is not dataclasses.MISSING:
            try:
                info.check(default, f"the default of {cls.__qualname__}.{info.name}")
            except PliantError as fault:
                raise PliantError(f"{info.place}: {fault.message}", field=info.name) from None
        found.append(info)
    return tuple(found)


def _declared(cls: type, name: str) -> dict[str, object]:
    """Return unit, limits and so on of a field; one that gives a plain default keeps those of a base class."""
    for base in cls.__mro__:
        field = vars(base).get("__dataclass_fields__", {}).get(name)
        if field is not None and _KEY in field.metadata:
            return dict(field.metadata[_KEY])
    return {}


def check_declaration(cls: type) -> None:
    """Raise where a dataclass of options is declared wrongly, a field written twice included.

    Raises:
        PliantError: as `describe`, or two fields of one name in the class; the message has both places.
    """
    describe(cls)
    for base in cls.__mro__:
        if dataclasses.is_dataclass(base):
            field_documentation(base, strict=True)


def _owner(cls: type, name: str) -> type:
    """Return the class of the MRO whose body declares a field."""
    for base in cls.__mro__:
        if name in vars(base).get("__annotations__", {}):
            return base
    return cls


def _check_type(info: OptionInfo, hint: object) -> None:
    for kind in members(hint):
        if kind in (types.NoneType, bool, int, float, str, Path) or typing.get_origin(kind) is Literal:
            continue
        if isinstance(kind, type) and (issubclass(kind, enum.Enum) or dataclasses.is_dataclass(kind)):
            continue
        if typing.get_origin(kind) is tuple:
            for item in typing.get_args(kind):
                if item is not Ellipsis:
                    _check_type(info, item)
            continue
        raise PliantError(
            f"{info.place}: the option {info.name!r} has the type {type_text(kind)}; must be bool, int, float, str, "
            "Path, an enumeration, a tuple of these, or one of them or None",
            field=info.name,
        )


def _check_bases(cls: type, info: OptionInfo) -> None:
    if info.other_meaning:
        return
    for base in cls.__mro__[1:]:
        if base is info.owner or not dataclasses.is_dataclass(base) or info.name not in base.__dataclass_fields__:
            continue
        field = base.__dataclass_fields__[info.name]
        other = _owner(base, info.name)
        if other is info.owner:
            continue
        there = typing.get_type_hints(base)[info.name]
        unit = field.metadata.get(_KEY, {}).get("unit", "")
        if (there, unit) != (info.type, info.unit):
            line = field_documentation(other).get(info.name, (0, ""))[0]
            raise PliantError(
                f"the option {info.name!r} is declared twice: {type_text(there)} [{unit}] at "
                f"{file_of(other)}:{line}, {type_text(info.type)} [{info.unit}] at {info.place}; "
                "must be one type and unit, or two names",
                field=info.name,
            )


def options_of(function: Callable[..., T], *, skip: int = 0) -> tuple[type, Callable[..., T]]:
    """Return the dataclass of a function's options, and the function as one that takes an instance of it last.

    The function takes that dataclass as its last argument, or keyword arguments with defaults, from which a dataclass
    is made: their types are their annotations, or those of the defaults.

    Args:
        function: such as a factory of a bridge, a builder of a robot.
        skip: how many leading arguments are no options.

    Raises:
        PliantError: an argument without default, or a declaration that is wrong.
    """
    parameters = list(inspect.signature(function).parameters.values())[skip:]
    if len(parameters) == 1:
        kind = _annotation(function, parameters[0])
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            check_declaration(kind)
            return kind, function
    described = _argument_docs(inspect.getdoc(function) or "")
    fields = []
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        if p.default is p.empty:
            raise PliantError(
                f"{place_of(function)}: the argument {p.name!r} of {function.__qualname__} has no default and is no "
                "dataclass of options",
                field=p.name,
            )
        default = p.default
        fields.append(
            (
                p.name,
                _annotation(function, p) or type(default),
                dataclasses.field(
                    default_factory=lambda value=default: value,
                    metadata={DESCRIBED: described.get(p.name, "")},
                ),
            )
        )
    made = dataclasses.make_dataclass(f"{function.__name__}_options", fields, frozen=True, kw_only=True)
    made.__module__ = function.__module__
    made.__pliant_place__ = place_of(function)
    describe(made)

    def call(*arguments: object) -> T:
        *first, options = arguments
        return function(*first, **{name: getattr(options, name) for name, *_ in fields})

    vars(call)["__pliant_place__"] = place_of(function)
    return made, call


def _annotation(function: Callable[..., object], parameter: inspect.Parameter) -> object:
    """Return a parameter's type; None where it has none, or one that only a type checker can resolve."""
    hint = parameter.annotation
    if not isinstance(hint, str):
        return None if hint is parameter.empty else hint
    try:
        return eval(hint, dict(getattr(function, "__globals__", {})))
    except Exception:  # evaluates a user's annotation, which may name anything
        return None


def _argument_docs(doc: str) -> dict[str, str]:
    """Return the descriptions of the arguments in the ``Args:`` section of a docstring."""
    found: dict[str, str] = {}
    current = ""
    inside = False
    for line in doc.splitlines():
        if not inside:
            inside = line.strip() == "Args:"
            continue
        if line.strip() and not line.startswith(" "):
            break
        name, colon, text = line.strip().partition(": ")
        if colon and name.isidentifier() and len(line) - len(line.lstrip()) <= 4:
            current = name
            found[current] = text
        elif current and line.strip():
            found[current] += f" {line.strip()}"
    return found
