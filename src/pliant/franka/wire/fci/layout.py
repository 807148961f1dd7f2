"""Tables of the real fields of a state and of a command: name, count, unit, meaning, and where each field begins."""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

__all__ = ["StateField", "in_order", "offsets"]


class StateField(NamedTuple):
    """One real field of the state or of a command's motion."""

    offset: int
    """Where it begins in `RobotState.reals` or `RobotCommand.motion`."""
    count: int
    """How many numbers it has."""
    unit: str
    """Unit of each number."""
    description: str
    """Meaning."""

    @property
    def end(self) -> int:
        """Where the next field begins."""
        return self.offset + self.count

    @property
    def place(self) -> slice:
        """The numbers of the field."""
        return slice(self.offset, self.end)


def in_order(rows: Iterable[tuple[str, int, str, str]]) -> dict[str, StateField]:
    """Return fields that follow each other, by name.

    Args:
        rows: name, count of numbers, unit and meaning of each field.
    """
    rows = tuple(rows)
    ends = itertools.accumulate(count for _, count, _, _ in rows)
    return {name: StateField(end - count, count, *said) for end, (name, count, *said) in zip(ends, rows, strict=True)}


def offsets(fields: Mapping[str, StateField]) -> Any:
    """Return where each field begins, as a named tuple, which compiled code can read: ``offsets(REALS).q``."""
    return namedtuple("Offsets", fields)(*(field.offset for field in fields.values()))
