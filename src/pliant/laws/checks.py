"""Checks of parameters that the blocks of an actuator share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.errors import LawError

__all__ = ["check_flag", "check_kind", "check_number"]


def check_number(
    owner: str,
    field: str,
    value: Any,
    unit: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    above: bool = False,
    infinite: bool = False,
) -> None:
    """Raise LawError unless value is a number inside the range.

    Args:
        owner: the block that the field belongs to, for the message.
        field: the field's name.
        value: what was given.
        unit: unit, for the message.
        low: smallest valid value.
        high: largest valid value.
        above: whether the value must be larger than ``low``, not only equal.
        infinite: whether plus or minus infinity is valid.

    Raises:
        LawError: value is not a number, not finite, or out of range.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise LawError(
            f"{owner}: {field} is {value!r}, a {type(value).__name__}; valid: a number [{unit}]", field=field
        )
    if math.isnan(value) or (math.isinf(value) and not infinite):
        raise LawError(f"{owner}: {field} is {value}; valid: a finite number [{unit}]", field=field)
    if value < low or value > high or (above and value <= low):
        bounds = f"above {low:g}" if above else f"{low:g} or more" if math.isfinite(low) else ""
        upper = f"at most {high:g}" if math.isfinite(high) else ""
        raise LawError(
            f"{owner}: {field} is {value:g}; valid: {' and '.join(x for x in (bounds, upper) if x)} {unit}",
            field=field,
        )


def check_flag(owner: str, field: str, value: Any) -> None:
    """Raise LawError unless value is True or False."""
    if not isinstance(value, bool):
        raise LawError(f"{owner}: {field} is {value!r}; valid: True or False", field=field)


def check_kind(owner: str, field: str, value: Any, kind: type, *, optional: bool = False) -> None:
    """Raise LawError unless value is of a kind, or None where that is valid."""
    if isinstance(value, kind) or (optional and value is None):
        return
    raise LawError(
        f"{owner}: {field} is {value!r}, a {type(value).__name__}; valid: a {kind.__name__}"
        + (" or None" if optional else ""),
        field=field,
    )
