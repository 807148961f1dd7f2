"""Measured tips of a tendon-driven robot: CSV files with commanded lengths and places of a marker."""

from __future__ import annotations

import csv
import dataclasses
import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.base.documents.files import read_text
from pliant.base.errors import PliantError
from pliant.base.numerics import Array

NEIGHBOURS = 1.0
"""Rows less than this apart are of one motion [s]."""


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
    rate: Array | None = None
    """How fast the lengths change [m/s], shape (rows, N); None: not known."""

    def thinned(self, every: int) -> TipTable:
        """Return every n-th row, from the first."""
        thin = slice(None, None, every)
        return dataclasses.replace(
            self, pull=self.pull[thin], tip=self.tip[thin], pattern=self.pattern[thin],
            rate=None if self.rate is None else self.rate[thin],
        )  # fmt: skip

    def folds(self, count: int) -> list[NDArray[np.bool_]]:
        """Return masks of the rows that each fold leaves out; whole patterns, dealt in the order they appear."""
        order = list(dict.fromkeys(self.pattern))
        fold = {name: i % count for i, name in enumerate(order)}
        of_row = np.array([fold[name] for name in self.pattern])
        return [of_row == i for i in range(count)]


def _rates(time: Array, values: Array) -> Array:
    """Return how fast columns change; 0 where no other row is within `NEIGHBOURS`."""
    near = np.append(np.diff(time) < NEIGHBOURS, False)
    low, high = np.arange(len(time)) - np.roll(near, 1), np.arange(len(time)) + near
    out, moved = np.zeros_like(values), high > low
    low, high = low[moved], high[moved]
    out[moved] = (values[high] - values[low]) / (time[high] - time[low])[:, None]
    return out


def read_tips(path: str | Path) -> TipTable:
    """Read a file with the columns pattern_label, one ``NAME_mm`` for each tendon, tip_x, tip_y, tip_z [mm].

    A column ``timestamp`` [s], which grows, is optional.

    Raises:
        PliantError: a column is missing, or a cell is no finite number.
    """
    rows = list(csv.reader(io.StringIO(read_text(Path(path)))))
    head = rows[0] if rows else []
    tendons = [i for i, name in enumerate(head) if name.endswith("_mm")]
    try:
        label, tips = head.index("pattern_label"), [head.index(f"tip_{axis}") for axis in "xyz"]
    except ValueError:
        raise PliantError(
            f"{path}: needs the columns pattern_label, tip_x, tip_y, tip_z and NAME_mm of each tendon; found "
            f"{', '.join(head) or 'an empty file'}"
        ) from None
    columns = [*tendons, *tips, *(i for i, name in enumerate(head) if name == "timestamp")]
    try:
        table = np.array([[float(row[c]) for c in columns] for row in rows[1:]])
        patterns = tuple(re.sub(r"^rep\d+_|_hold$", "", row[label]) for row in rows[1:])
    except (ValueError, IndexError) as error:
        raise PliantError(f"{path}: a row has no number where one belongs: {error}") from None
    if not tendons or not len(table) or not np.all(np.isfinite(table)):
        raise PliantError(f"{path}: needs rows of finite numbers for at least one tendon")
    time, count = table[:, len(tendons) + 3 :].ravel(), len(tendons)
    if np.any(np.diff(time) <= 0.0):
        raise PliantError(f"{path}: row {int(np.argmax(np.diff(time) <= 0.0)) + 3}: timestamp must grow")
    return TipTable(
        names=tuple(head[i][:-3] for i in tendons),
        pull=1e-3 * table[:, :count],
        tip=1e-3 * table[:, count : count + 3],
        pattern=patterns,
        rate=_rates(time, 1e-3 * table[:, :count]) if len(time) else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseTable:
    """A rod along z that a load at its middle and its tip let go at t = 0."""

    damping: float
    """Time constant of the material [s]."""
    gravity: Array
    """[m/s^2], shape (3,)."""
    wrench: Array
    """Moment and force at middle and tip before, shape (2, 6) [N m, N]."""
    time: Array
    """[s], shape (rows,)."""
    tip: Array
    """Places of the tip [m], shape (rows, 3)."""


TO_Z = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
"""From the axes of the files of a steel rod (rod along x) to those of the package (rod along z)."""


def read_release(path: str | Path) -> ReleaseTable:
    """Read a file of a released rod: damping and gravity, wrenches, then t and poses of middle and tip.

    Raises:
        PliantError: the file has not these numbers.
    """
    try:
        rows = [[float(word) for word in line.split()] for line in read_text(Path(path)).splitlines()]
        table = np.array(rows)
    except ValueError as error:
        raise PliantError(f"{path}: every line needs 13 numbers: {error}") from None
    if table.ndim != 2 or len(table) < 4 or table.shape[1] != 13 or not np.all(np.isfinite(table)):
        raise PliantError(f"{path}: needs at least 4 lines of 13 finite numbers, found the shape {table.shape}")
    turned = np.kron(np.eye(4), TO_Z)
    return ReleaseTable(
        damping=float(table[0, 0]), gravity=TO_Z @ table[0, 10:], wrench=(turned @ table[1, 1:]).reshape(2, 6),
        time=table[2:, 0], tip=table[2:, 10:] @ TO_Z.T,
    )  # fmt: skip


def read_shapes(path: str | Path) -> Array:
    """Read a file of rods at rest under loads, shape (shapes, 2, 3, columns), turned to the axes of the package.

    The second axis is moment or rotation vector, and force or place; columns are gravity, the loads at middle and tip,
    14 stations.

    Raises:
        PliantError: the file has not these numbers.
    """
    try:
        rows = [[float(cell) for cell in row[1:]] for row in list(csv.reader(io.StringIO(read_text(Path(path)))))[2:]]
        table = np.array(rows).reshape(-1, 2, 3, 17)
    except ValueError as error:
        raise PliantError(f"{path}: needs two head lines, then six rows of 17 numbers a shape: {error}") from None
    return np.einsum("ij,nkjc->nkic", TO_Z, table)
