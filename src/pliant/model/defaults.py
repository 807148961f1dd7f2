"""Defaults of a description: they belong to the elements of its file, not to those that pliant adds."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sized
from typing import Any

import mujoco
import numpy as np

_KINDS = (
    *("actuator", "camera", "equality", "flex", "geom", "joint"),
    *("light", "material", "mesh", "pair", "site", "tendon"),
)
"""Kinds of element that a class of defaults has."""
_NO_VALUES = frozenset(("classname", "info", "inertia", "name", "plugin", "refsite", "slidersite", "target"))
"""Attributes of an element that are no values of its class; MuJoCo's bindings fail on some of them."""
_ORIENTATION = ("type", "axisangle", "xyaxes", "zaxis", "euler")


def _plain(value: object) -> object:
    """Return a value as a number, an enum, text or a list, which no longer changes with its element."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, str) or not isinstance(value, Sized):
        return value
    items: Any = value  # one of MuJoCo's vectors, whose iterator ends with an exception that costs 30 us
    return [items[k] for k in range(len(items))]


def _values(defaults: mujoco.MjsDefault) -> Iterator[tuple[object, str, object]]:
    """Yield each value of a class of defaults: its holder, its attribute and the value."""
    for kind in _KINDS:
        element = getattr(defaults, kind)
        for name in _names(type(element)):
            if name == "alt":
                yield from ((element.alt, part, _plain(getattr(element.alt, part))) for part in _ORIENTATION)
            else:
                yield element, name, _plain(getattr(element, name))


@functools.cache
def _names(kind: type) -> tuple[str, ...]:
    settable = (name for name in dir(kind) if getattr(getattr(kind, name), "fset", None) is not None)
    return tuple(name for name in settable if name not in _NO_VALUES)


@functools.cache
def _neutral() -> tuple[object, ...]:
    """Return MuJoCo's own defaults, in the order of `_values`."""
    spec = mujoco.MjSpec()
    return tuple(value for _, _, value in _values(spec.default))


@contextlib.contextmanager
def neutral_defaults(spec: mujoco.MjSpec) -> Iterator[None]:
    """Let new elements of a spec have MuJoCo's own defaults, not those of its ``<default>`` and ``childclass``.

    Without this, a gear that the file gives to its motors would also be a gear of every compliant actuator.

    Args:
        spec: the description; its elements keep their values, and its defaults return at the end.

    Example:
        >>> with neutral_defaults(spec):
        ...     spec.add_actuator(name="elbow")
    """
    names = sorted({body.childclass for body in spec.bodies} - {"", spec.default.name})
    changed = [
        (holder, name, value, neutral)
        for defaults in (spec.default, *map(spec.find_default, names))
        for (holder, name, value), neutral in zip(_values(defaults), _neutral(), strict=True)
        if not _same(value, neutral)
    ]
    for holder, name, _, neutral in changed:
        setattr(holder, name, neutral)
    try:
        yield
    finally:
        for holder, name, value, _ in changed:
            setattr(holder, name, value)


def _same(a: object, b: object) -> bool:
    return a == b or repr(a) == repr(b)  # NaN stands for a value that is not given
