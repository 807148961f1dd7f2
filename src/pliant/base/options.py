"""Options: one frozen dataclass declares what can be set on a robot, a bridge, a sensor, an experiment or a viewer.

A field is declared with its type, default, unit and limits; the docstring under the field says what it means.
Everything else is derived from that declaration: parsing of text and mappings, help, tables of the documentation and
"did you mean" in messages.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class LidarOptions:
        rate: float = option(10.0, unit="Hz", low=0.0, above=True)
        '''Scans per second.'''
        frame: str = option("map", choices=("map", "base"))
        '''Frame of the points.'''

    parse_text(LidarOptions, "rate=20,frame=base")

The types are bool, int, float, str, Path, enumerations, tuples of these, and each of them or None. Units are SI and
radians (`UNITS`). A declaration that is wrong is refused where it stands, with file and line.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import inspect
import linecache
import math
import numbers
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from pliant.base.errors import ModelError, PliantError, nearest

__all__ = [
    "UNITS",
    "OptionInfo",
    "Registry",
    "check_declaration",
    "check_unit",
    "check_values",
    "describe",
    "markdown_table",
    "option",
    "options_of",
    "parse",
    "parse_bool",
    "parse_number",
    "parse_text",
    "parse_value",
    "parse_vector",
    "place_of",
]

T = TypeVar("T")

UNITS: dict[str, str] = {
    "": "a number without unit",
    "1/rad": "inverse angle",
    "1/s": "rate",
    "A": "current",
    "H": "inductance",
    "Hz": "frequency",
    "J": "energy",
    "K": "temperature",
    "N": "force",
    "N m": "torque",
    "N m s/rad": "rotary damping",
    "N m s/rad^2": "growth of a rotary damping with an angle",
    "N m/(rad s)": "integral gain of an angle",
    "N m/A": "torque constant",
    "N m/rad": "rotary stiffness",
    "N m/rad^2": "growth of a rotary stiffness with an angle",
    "N m/s": "rate of torque",
    "N s": "impulse",
    "N s/m": "linear damping",
    "N/m": "linear stiffness",
    "Pa": "pressure, modulus",
    "T": "magnetic flux density",
    "V": "voltage",
    "V s/rad": "back EMF constant",
    "W": "power",
    "kg": "mass",
    "kg m^2": "inertia",
    "kg/m^3": "density",
    "m": "length",
    "m/N": "compliance",
    "m/s": "speed",
    "m/s^2": "acceleration",
    "m/s^3": "jerk",
    "m^2": "area",
    "m^4": "second moment of area",
    "ns": "time of the integer clock",
    "ohm": "resistance",
    "pixel": "position in an image",
    "rad": "angle",
    "rad/(N m)": "rotary compliance",
    "rad/m": "curvature",
    "rad/s": "angular speed",
    "rad/s^2": "angular acceleration",
    "rad/s^3": "angular jerk",
    "s": "time",
}
"""The known units, with their quantities: SI and radians."""

_SI_OF = {
    "deg": "rad", "degree": "rad", "degrees": "rad", "mm": "m", "cm": "m", "ms": "s", "us": "s", "min": "s", "g": "kg",
    "rpm": "rad/s", "deg/s": "rad/s", "Nm": "N m", "Nm/rad": "N m/rad", "kHz": "Hz", "meter": "m", "second": "s",
    "C": "K", "bar": "Pa", "MPa": "Pa", "GPa": "Pa", "mA": "A", "mV": "V",
}  # fmt: skip

_TRUE = ("true", "1", "yes", "on")
_FALSE = ("false", "0", "no", "off")


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
        found = (_documentation(base).get(self.name, (0, ""))[1] for base in self.owner.__mro__)
        return next(filter(None, found), "")

    @property
    def place(self) -> str:
        """Where the field is declared, ``file:line``."""
        line = _documentation(self.owner).get(self.name, (0, ""))[0]
        return f"{_file_of(self.owner)}:{line}" if line else place_of(self.owner)

    @property
    def must_be(self) -> str:
        """What a value must be, such as ``a number from 0 to 3 [rad]``."""
        if self.choices:
            return "one of " + ", ".join(str(choice) for choice in self.choices)
        kinds = [kind for kind in _members(self.type) if kind is not types.NoneType]
        text = " or ".join(
            dict.fromkeys(_kind_text(kind, f" {self.range_text}" if self.range_text else "") for kind in kinds)
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
        return "" if self.default is dataclasses.MISSING else _as_text(self.default)

    def check(self, value: Any, what: str, error: Callable[..., PliantError] = PliantError) -> None:
        """Raise unless a value of the right type keeps the declared limits.

        Args:
            value: the value, already of the field's type.
            what: how the message names it.
            error: the exception to raise.
        """
        if self.choices and value not in self.choices:
            raise error(f"{what} is {value!r}; {_nearest_choice(value, self.choices)}", field=self.name)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, bool | enum.Enum) or not isinstance(number, numbers.Real):
                continue
            x = float(number)
            inside = self.low <= x <= self.high and not (self.above and x <= self.low)
            if not inside or (math.isinf(x) and not self.infinite):
                must_be = self.must_be if math.isfinite(x) else self.must_be.replace("a number", "a finite number")
                raise error(f"{what} is {x:g}; must be {must_be}", field=self.name)

    def parse(self, value: Any, what: str, error: Callable[..., PliantError] = PliantError) -> Any:
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
            raise error(f"{what} is {value!r}; {_nearest_choice(value, self.choices)}", field=self.name)
        try:
            result = parse_value(value, self.type, what)
        except PliantError:
            raise error(f"{what} is {value!r}; must be {self.must_be}", field=self.name) from None
        self.check(result, what, error)
        return result


# -- declaring ------------------------------------------------------------------------------------------------


def option(
    default: T,
    *,
    unit: str = "",
    choices: tuple[Any, ...] = (),
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
    return typing.cast("T", dataclasses.field(default=default, metadata={_KEY: declared}, kw_only=only))  # type: ignore[call-overload]


_KEY = "pliant.option"


def check_unit(unit: str, what: str, error: Callable[..., PliantError] = PliantError) -> None:
    """Raise unless a unit is one of `UNITS`, or several of them: "m, rad" of a pose, "m or rad" of a joint.

    Args:
        unit: the unit.
        what: how the message names it.
        error: the exception to raise.
    """
    for part in unit.replace(" or ", ", ").split(", "):
        if part in UNITS:
            continue
        if part in _SI_OF:
            raise error(f"{what} is {unit!r}; must be SI and radians: {_SI_OF[part]!r}", field="unit")
        known = [name for name in UNITS if name]
        raise error(f"{what} is {unit!r}, which is not known; {nearest(part, known, limit=60)}", field="unit")


def describe(cls: type) -> tuple[OptionInfo, ...]:
    """Return the declared fields of a dataclass, in order.

    Raises:
        PliantError: `cls` is no dataclass, a field has a type that no text can give, a default outside its limits, or a
            name that a base class declares with another type or unit; the message has the places.
    """
    return _described(cls)


@functools.cache
def _described(cls: type) -> tuple[OptionInfo, ...]:
    if not dataclasses.is_dataclass(cls):
        raise PliantError(f"{place_of(cls)}: {cls.__qualname__} must be a dataclass", field=cls.__qualname__)
    try:
        hints = typing.get_type_hints(cls)
    except Exception as fault:
        raise PliantError(f"{place_of(cls)}: the types of {cls.__qualname__} cannot be read: {fault}") from fault
    found = []
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        owner = _owner(cls, field.name)
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        declared = _declared(cls, field.name)
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


def _declared(cls: type, name: str) -> dict[str, Any]:
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
            _documentation(base, strict=True)


def _owner(cls: type, name: str) -> type:
    """Return the class of the MRO whose body declares a field."""
    for base in cls.__mro__:
        if name in vars(base).get("__annotations__", {}):
            return base
    return cls


def _check_type(info: OptionInfo, hint: Any) -> None:
    for kind in _members(hint):
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
            f"{info.place}: the option {info.name!r} has the type {_type_text(kind)}; must be bool, int, float, str, "
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
            line = _documentation(other).get(info.name, (0, ""))[0]
            raise PliantError(
                f"the option {info.name!r} is declared twice: {_type_text(there)} [{unit}] at "
                f"{_file_of(other)}:{line}, {_type_text(info.type)} [{info.unit}] at {info.place}; "
                "must be one type and unit, or two names",
                field=info.name,
            )


def options_of(function: Callable[..., Any], *, skip: int = 0) -> tuple[type, Callable[..., Any]]:
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
                    metadata={_DESCRIBED: described.get(p.name, "")},
                ),
            )
        )
    made = dataclasses.make_dataclass(f"{function.__name__}_options", fields, frozen=True, kw_only=True)
    made.__module__ = function.__module__
    made.__pliant_place__ = place_of(function)  # type: ignore[attr-defined]
    describe(made)

    def call(*arguments: Any) -> Any:
        *first, options = arguments
        return function(*first, **{field.name: getattr(options, field.name) for field in dataclasses.fields(options)})

    call.__pliant_place__ = place_of(function)  # type: ignore[attr-defined]
    return made, call


def _annotation(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """Return a parameter's type; None where it has none, or one that only a type checker can resolve."""
    hint = parameter.annotation
    if not isinstance(hint, str):
        return None if hint is parameter.empty else hint
    try:
        return eval(hint, dict(getattr(function, "__globals__", {})))
    except Exception:
        return None


_DESCRIBED = "pliant.description"


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


# -- reading values -------------------------------------------------------------------------------------------


def parse(
    cls: type[T], values: Mapping[str, Any], *, where: str = "", error: Callable[..., PliantError] = PliantError
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
    instance: Any, error: Callable[..., PliantError] = PliantError, *, names: Callable[[str], str] | None = None
) -> None:
    """Raise unless every field of a dataclass has a value of its declared type inside its limits.

    Args:
        instance: the instance; call this in ``__post_init__``.
        error: the exception to raise.
        names: how messages name a field; None writes ``Class: field``.
    """
    for info in describe(type(instance)):
        value = getattr(instance, info.name)
        what = f"{type(instance).__name__}: {info.name}" if names is None else names(info.name)
        if not any(_is_a(value, kind) for kind in _members(info.type)):
            raise error(f"{what} is {value!r}, a {type(value).__name__}; must be {info.must_be}", field=info.name)
        if isinstance(value, numbers.Real) and math.isnan(value):
            must_be = info.must_be.replace("a number", "a finite number")
            raise error(f"{what} is nan; must be {must_be}", field=info.name)
        if value is not None:
            info.check(value, what, error)


def _is_a(value: Any, kind: Any) -> bool:
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
    return isinstance(value, kind)


def parse_value(value: Any, kind: Any, what: str, error: Callable[..., PliantError] = ModelError) -> Any:
    """Return a value, given as text or as an object, in a type that options can have.

    Args:
        value: what was given.
        kind: the type: bool, int, float, str, Path, an enumeration, a tuple of these, or one of them or None.
        what: how the message names it.
        error: the exception to raise.
    """
    kinds = _members(kind)
    if types.NoneType in kinds:
        if value is None or (isinstance(value, str) and value.strip().lower() in ("none", "null")):
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
        raise error(f"{what} is {value!r}; {_nearest_choice(value, typing.get_args(member))}", field=what)
    if origin is tuple:
        items = typing.get_args(member)
        parts = _parts(value)
        kinds = items[:1] * len(parts) if len(items) == 2 and items[1] is Ellipsis else items
        if len(parts) != len(kinds):
            raise error(f"{what} is {value!r}, {len(parts)} values; must be {len(kinds)} values", field=what)
        return tuple(parse_value(part, k, what, error) for part, k in zip(parts, kinds, strict=True))
    if isinstance(member, type) and isinstance(value, member):
        return value
    if isinstance(member, type) and issubclass(member, enum.Enum):
        text = str(value).strip().lower()
        for choice in member:
            if text in (choice.name.lower(), str(choice.value).lower()):
                return choice
        raise error(f"{what} is {value!r}; {_nearest_choice(text, [c.name.lower() for c in member])}", field=what)
    raise error(f"{what} is {value!r}; must be {_type_text(member)}", field=what)


def parse_number(
    value: Any, what: str, *, integer: bool = False, error: Callable[..., PliantError] = ModelError
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
    text = value.strip() if isinstance(value, str) else value
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


def parse_bool(value: Any, what: str, error: Callable[..., PliantError] = ModelError) -> bool:
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
    value: Any, what: str, length: int | None = None, error: Callable[..., PliantError] = ModelError
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


def _nearest_choice(value: Any, choices: Iterable[Any]) -> str:
    """Return the end of a message: the nearest valid value, then the valid values."""
    return nearest(str(value), map(str, choices), limit=40)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, str):
        return value.strip().strip("[]()").replace(",", " ").split()
    return list(value) if hasattr(value, "__len__") else [value]


# -- telling --------------------------------------------------------------------------------------------------


def markdown_table(cls: type, names: Iterable[str] | None = None) -> str:
    """Return the options of a dataclass as a Markdown table: option, default, meaning.

    Args:
        cls: the dataclass.
        names: the options that are shown; None for all.
    """
    shown = None if names is None else set(names)
    rows = ["| option | default | meaning |", "|---|---|---|"]
    for info in describe(cls):
        if shown is not None and info.name not in shown:
            continue
        meaning = info.description.replace("|", "\\|").replace("``", "`")
        if info.choices:
            meaning += f" Must be one of {', '.join(f'`{choice}`' for choice in info.choices)}."
        elif info.range_text:
            meaning += f" Must be {info.range_text}."
        unit = f" {info.unit}" if info.unit else ""
        default = f"`{info.default_text}`{unit}" if info.default_text else ""
        rows.append(f"| `{info.name}` | {default} | {meaning.strip()} |")
    return "\n".join(rows)


def _as_text(value: Any) -> str:
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
        return "[" + ", ".join(map(_as_text, value)) + "]"
    return str(value)


def _members(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the type itself."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _type_text(kind: Any) -> str:
    return getattr(kind, "__name__", None) or str(kind)


def _kind_text(kind: Any, limits: str) -> str:
    if kind is bool:
        return "true or false"
    if kind is float:
        return f"a number{limits}"
    if kind is int:
        return f"a whole number{limits}"
    if kind is str:
        return "text"
    if kind is Path:
        return "a path"
    if typing.get_origin(kind) is Literal:
        return "one of " + ", ".join(str(choice) for choice in typing.get_args(kind))
    if typing.get_origin(kind) is tuple:
        items = typing.get_args(kind)
        many = len(items) == 2 and items[1] is Ellipsis
        what = {float: "numbers", int: "whole numbers", str: "words"}.get(items[0], "values")
        return f"{what}{limits}" if many else f"{len(items)} {what}{limits}"
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return "one of " + ", ".join(f"{choice.value} {choice.name.lower()}" for choice in kind)
    return f"a {_type_text(kind)}"


# -- where things are declared --------------------------------------------------------------------------------


def place_of(thing: Any) -> str:
    """Return where a class or function is defined, ``file:line``; its dotted name where there is no file."""
    known = getattr(thing, "__pliant_place__", None)
    if known is not None:
        return known
    thing = getattr(thing, "func", thing)  # of functools.partial
    code = getattr(inspect.unwrap(thing) if callable(thing) else thing, "__code__", None)
    if code is not None:
        return f"{code.co_filename}:{code.co_firstlineno}"
    if isinstance(thing, type):
        file = _file_of(thing)
        node = _class_node(thing)
        return f"{file}:{node.lineno}" if file and node is not None else f"{thing.__module__}.{thing.__qualname__}"
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def _file_of(cls: type) -> str:
    return getattr(sys.modules.get(cls.__module__), "__file__", None) or ""


def _class_node(cls: type) -> ast.ClassDef | None:
    """Return the definition of a class in its file; of several with its name, the one that declares its fields."""
    file = _file_of(cls)
    if not file:
        return None
    fields = list(vars(cls).get("__annotations__", {}))
    text = "".join(linecache.getlines(file))

    def declares_them(node: ast.ClassDef) -> bool:
        return list(dict.fromkeys(name for name, _, _ in _declared_fields(node))) == fields

    alone = _only_class(cls.__qualname__, text)
    if alone is not None and declares_them(alone):
        return alone
    found = _classes_of(file, text).get(cls.__qualname__, ())
    return next((node for node in reversed(found) if declares_them(node)), found[-1] if found else None)


def _only_class(name: str, text: str) -> ast.ClassDef | None:
    """Return a class that begins at the margin once in a text; None where that is unclear.

    It parses the lines of the class alone: parsing whole files took half the time of a list of experiments.
    """
    head = f"\nclass {name}"
    start = text.find(head)
    if start < 0 or text.find(head + "(", start + 1) >= 0 or text.find(head + ":", start + 1) >= 0:
        return None
    end = re.search(r"\n(?![\s#])", text[start + 1 :])
    lines = text[start + 1 : start + 1 + end.start()] if end else text[start + 1 :]
    try:
        (node,) = ast.parse("\n" * (text.count("\n", 0, start) + 1) + lines).body
    except (SyntaxError, ValueError):  # a text or a header with lines at the margin
        return None
    return node if isinstance(node, ast.ClassDef) and node.name == name else None


@functools.lru_cache(maxsize=64)
def _classes_of(file: str, text: str) -> dict[str, list[ast.ClassDef]]:
    found: dict[str, list[ast.ClassDef]] = {}

    def walk(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                found.setdefault(f"{prefix}{child.name}", []).append(child)
                walk(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                walk(child, f"{prefix}{child.name}.<locals>.")
            elif isinstance(child, ast.stmt):
                walk(child, prefix)

    try:
        walk(ast.parse(text, file), "")
    except SyntaxError:  # the file has changed since it was imported
        return {}
    return found


def _declared_fields(node: ast.ClassDef) -> Iterator[tuple[str, int, str]]:
    """Yield name, line and docstring of the annotated names of a class."""
    for statement, after in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        doc = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            doc = " ".join(after.value.value.split())
        yield statement.target.id, statement.lineno, doc


@functools.cache
def _documentation(cls: type, strict: bool = False) -> dict[str, tuple[int, str]]:
    """Return line and docstring of the fields that a class declares itself."""
    found: dict[str, tuple[int, str]] = {}
    node = _class_node(cls)
    if node is not None:
        for name, line, doc in _declared_fields(node):
            if name in found and strict:
                file = _file_of(cls)
                raise PliantError(
                    f"the option {name!r} of {cls.__qualname__} is declared twice, at {file}:{found[name][0]} and "
                    f"{file}:{line}",
                    field=name,
                )
            found[name] = (line, doc)
    for field in dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ():
        if _DESCRIBED in field.metadata:
            found[field.name] = (0, field.metadata[_DESCRIBED])
    return found


class Registry(Generic[T]):
    """Things of one kind by name; a second one under a taken name is refused, with both places.

    Args:
        kind: what is registered, for messages: "bridge", "law".
        error: the exception to raise.
    """

    def __init__(self, kind: str, error: Callable[..., PliantError] = PliantError) -> None:
        self._kind, self._error = kind, error
        self._things: dict[str, T] = {}
        self._places: dict[str, str] = {}

    def add(self, name: str, thing: T, *, place: str = "") -> T:
        """Register a thing and return it; the same thing from the same place may be registered again.

        Args:
            name: its name.
            thing: the thing.
            place: where it is declared; "" takes `place_of` it.

        Raises:
            PliantError: the name is taken by another one; of the type of the registry.
        """
        where = place or place_of(thing)
        if name in self._things and self._places[name] != where:
            raise self._error(
                f"the {self._kind} {name!r} is registered twice, at {self._places[name]} and {where}; "
                "give one of them another name",
                field=name,
            )
        self._things[name] = thing
        self._places[name] = where
        return thing

    def __getitem__(self, name: str) -> T:
        if name not in self._things:
            raise self._error(f"no {self._kind} {name!r}; {nearest(name, self._things, limit=40)}", field=self._kind)
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._things))

    def __len__(self) -> int:
        return len(self._things)

    def items(self) -> Iterable[tuple[str, T]]:
        """Return names and things, by name."""
        return sorted(self._things.items())

    def place(self, name: str) -> str:
        """Return where the thing of a name is declared."""
        self[name]
        return self._places[name]
