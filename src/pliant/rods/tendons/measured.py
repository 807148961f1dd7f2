"""Measured tips of a tendon-driven robot: CSV files with commanded lengths and places of a marker."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import PliantError

__all__ = ["TipTable", "read_tips"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TipTable:
    """Commands and tips in the order of their measurement."""

    names: tuple[str, ...]
    """Names of the tendons."""
    pull: Array
    """Lengths drawn in, positive shortens a tendon [m], shape (rows, N)."""
    tip: Array
    """Places of the marker [m], shape (rows, 3)."""
    pattern: tuple[str, ...]
    """Motion that each row belongs to, without repetition and ``_hold``."""

    def folds(self, count: int) -> list[NDArray[np.bool_]]:
        """Return masks of the rows that each fold leaves out; whole patterns, dealt in the order they appear."""
        order = list(dict.fromkeys(self.pattern))
        fold = {name: i % count for i, name in enumerate(order)}
        of_row = np.array([fold[name] for name in self.pattern])
        return [of_row == i for i in range(count)]


def read_tips(path: str | Path) -> TipTable:
    """Read a file with the columns timestamp, pattern_label, one ``NAME_mm`` for each tendon, tip_x, tip_y, tip_z [mm].

    Raises:
        PliantError: a column is missing, or a cell is no finite number.
    """
    with Path(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    head = rows[0] if rows else []
    tendons = [i for i, name in enumerate(head) if name.endswith("_mm")]
    try:
        label, tips = head.index("pattern_label"), [head.index(f"tip_{axis}") for axis in "xyz"]
    except ValueError:
        raise PliantError(
            f"{path}: needs the columns pattern_label, tip_x, tip_y, tip_z and NAME_mm of each tendon; found "
            f"{', '.join(head) or 'an empty file'}"
        ) from None
    columns = [*tendons, *tips]
    try:
        table = np.array([[float(row[c]) for c in columns] for row in rows[1:]])
        patterns = tuple(re.sub(r"^rep\d+_|_hold$", "", row[label]) for row in rows[1:])
    except (ValueError, IndexError) as error:
        raise PliantError(f"{path}: a row has no number where one belongs: {error}") from None
    if not tendons or not len(table) or not np.all(np.isfinite(table)):
        raise PliantError(f"{path}: needs rows of finite numbers for at least one tendon")
    return TipTable(
        names=tuple(head[i][:-3] for i in tendons),
        pull=1e-3 * table[:, :-3],
        tip=1e-3 * table[:, -3:],
        pattern=patterns,
    )
