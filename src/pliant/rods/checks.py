"""Checks of descriptions: a number, three numbers, a rigid pose."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import Array, is_finite_number
from pliant.base.spatial import is_rotation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def quantity(kind: str, default: Any = dataclasses.MISSING, *, size: int | None = None) -> Any:
    """Return the field of a dataclass that files hold as a quantity: ``length``, ``angle``, ..., ``whole`` numbers.

    Args:
        kind: the quantity.
        default: value where a file has none; without it the file must have one.
        size: number of elements; None for one number.
    """
    return dataclasses.field(default=default, metadata={"quantity": kind, "size": size})


def check_above(owner: str, low: float, **values: object) -> None:
    """Refuse values that are not finite numbers above a bound.

    Args:
        owner: whose values they are, for the message.
        low: the bound.
        values: values by the names of their fields.

    Raises:
        ModelError: names owner, field and what is valid.
    """
    valid = "a positive number" if low == 0.0 else f"a number > {low:g}"
    _check(owner, values, valid, lambda value: value > low)


def check_least(owner: str, low: float, **values: object) -> None:
    """Refuse values that are not finite numbers of at least ``low``; otherwise as `check_above`."""
    _check(owner, values, f"a number >= {low:g}", lambda value: value >= low)


def check_finite(owner: str, **values: object) -> None:
    """Refuse values that are not finite numbers; otherwise as `check_above`."""
    _check(owner, values, "a finite number", lambda value: True)


def _check(owner: str, values: Mapping[str, object], valid: str, accepted: Callable[[float], bool]) -> None:
    for name, value in values.items():
        if not (is_finite_number(value) and accepted(value)):
            raise ModelError(f"{owner}: {name} must be {valid}, found {value!r}", field=name)


def check_whole(owner: str, low: int | None, **values: object) -> None:
    """Refuse values that are not whole numbers of at least ``low`` (None: any); otherwise as `check_above`."""
    valid = "a whole number" if low is None else f"a whole number >= {low}"
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or (low is not None and value < low):
            raise ModelError(f"{owner}: {name} must be {valid}, found {value!r}", field=name)


def given(**values: object) -> dict[str, object]:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def check_name(kind: str, name: object) -> None:
    """Refuse a name that is no text or empty.

    Args:
        kind: what has the name, for the message.
        name: the name.
    """
    if not isinstance(name, str) or not name:
        raise ModelError(f"{kind}: name is {name!r}; must be a word", field="name")


def check_parts(owner: str, name: str, values: object, kind: type) -> None:
    """Refuse what is no tuple or list of objects of one class."""
    if not isinstance(values, tuple | list) or not all(isinstance(value, kind) for value in values):
        raise ModelError(f"{owner}: {name} must be a tuple of {kind.__name__} objects, found {values!r}", field=name)


def vector(owner: str, name: str, value: object) -> Array:
    """Return three finite numbers, shape (3,).

    Raises:
        ModelError: names owner and field.
    """
    return finite(owner, name, value, 3)


def finite(owner: str, name: str, value: object, count: int) -> Array:
    """Return an array of so many finite numbers, shape (count,); otherwise as `vector`."""
    array = numbers(value)
    if array is None or array.shape != (count,) or not np.all(np.isfinite(array)):
        words = "three" if count == 3 else str(count)
        raise ModelError(f"{owner}: {name} is {value!r}; must be {words} numbers", field=name)
    return array


def pose_fault(X: object) -> str | None:
    """Return why a matrix is no rigid 4x4 pose, None if it is one."""
    array = numbers(X)
    if array is None or array.shape != (4, 4):
        return f"must be a 4x4 pose, found {'no numbers' if array is None else f'shape {array.shape}'}"
    if not np.all(np.isfinite(array)):
        return "contains a number that is not finite"
    if not is_rotation(array[:3, :3]):
        return "is no rigid 4x4 pose: its rotation is not orthonormal"
    return None


def rigid_pose(owner: str, name: str, X: object) -> Array:
    """Return a rigid pose, shape (4, 4).

    Raises:
        ModelError: names owner and field.
    """
    fault, array = pose_fault(X), numbers(X)
    if fault or array is None:
        raise ModelError(f"{owner}: {name} {fault}", field=name)
    return array


def numbers(value: object) -> Array | None:
    """Return an array of numbers of any shape, None if it is something else."""
    try:
        return np.asarray(cast("ArrayLike", value), dtype=float)
    except (TypeError, ValueError):
        return None
