"""Tables of parallel robots as text: joint values, plate poses, wrenches, one row per line."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pliant.base.documents.files import read_file
from pliant.base.errors import PliantError
from pliant.rods.solution import Solution

SHAPE_COLUMNS = ("limb", "s", "x", "y", "z", "nx", "ny", "nz", "mx", "my", "mz", "bending_strain")
"""Columns of `shape_rows`."""

_KNOWN = re.compile("x|y|z|roll|pitch|yaw|angle|[fm][xyz]|q[0-9]+")
"""Names of columns that tables of this package have: plate pose, wrench, joint values."""


def joint_columns(count: int) -> list[str]:
    """Return the columns that a table has for the joint values."""
    return [f"q{a + 1}" for a in range(count)]


def plate_columns(planar: bool) -> tuple[list[str], list[str]]:
    """Return the columns that a table has for the plate pose and for the wrench."""
    if planar:
        return ["x", "y", "angle"], ["fx", "fy", "mz"]
    return ["x", "y", "z", "roll", "pitch", "yaw"], ["fx", "fy", "fz", "mx", "my", "mz"]


def read_table(path: Path, count: Sequence[int], columns: Sequence[str] = ()) -> np.ndarray:
    """Read a CSV file of numbers, with or without a header line; see `parse_table`."""
    data = read_file(path, PliantError, allow_empty=True)
    return parse_table(data, path, count, columns)


def parse_table(data: bytes, file: str | Path, count: Sequence[int], columns: Sequence[str] = ()) -> np.ndarray:
    """Return the numbers of a CSV text, with or without a header line, shape (rows, numbers per row).

    Args:
        data: the text, in UTF-8.
        file: name of the file, for messages.
        count: how many numbers a row may have.
        columns: what the columns are, in this order. A header may have other words, but no known name in the place of
            another column.

    Raises:
        PliantError: the text is wrong; the message has file and line.
    """
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise PliantError("the table cannot be read: it is not UTF-8 text", file=file) from None
    rows: list[list[float]] = []
    width = None
    for number, line in enumerate(lines, 1):
        text = line.split("#")[0].strip()
        if not text:
            continue
        if ";" in text and "," in text:
            raise PliantError(
                f"commas and semicolons in one row: {text[:80]!r}; a decimal comma is not read", file=file, line=number
            )
        words = [w for w in text.replace(";", ",").replace(",", " ").split() if w]
        try:
            row = [float(w) for w in words]
        except ValueError:
            if rows or number > 1:
                raise PliantError(f"not numbers: {text[:80]!r}", file=file, line=number) from None
            _check_header(text, columns, file, number)
            continue
        if not all(math.isfinite(v) for v in row):
            raise PliantError(f"a number is not finite: {text[:80]!r}", file=file, line=number)
        width = len(row) if width is None else width
        if len(row) != width or len(row) not in count:
            wanted = " or ".join(str(c) for c in count)
            raise PliantError(f"{len(row)} numbers in a row; must be {wanted}", file=file, line=number)
        rows.append(row)
    if not rows:
        raise PliantError("the table has no rows", file=file)
    return np.array(rows)


def _check_header(text: str, columns: Sequence[str], file: str | Path, line: int) -> None:
    """Refuse a header that names the columns in another order than they are read."""
    cells = re.split("[,;]", text) if re.search("[,;]", text) else text.split()
    for k, (cell, wanted) in enumerate(zip(cells, columns), 1):
        name = next(iter(re.findall("[a-z0-9_]+", cell.lower())), "")  # without its unit
        if name != wanted and _KNOWN.fullmatch(name):
            raise PliantError(
                f"the header names column {k} {name!r}, which is read as {wanted!r}; the order must be "
                f"{','.join(columns[: len(cells)])}",
                file=file, line=line,
            )  # fmt: skip


def table_text(columns: Sequence[str], rows: np.ndarray) -> str:
    """Return a table as CSV with a header line."""
    lines = [",".join(columns), *(",".join(f"{v:.9g}" for v in row) for row in np.atleast_2d(rows))]
    return "\n".join(lines) + "\n"


def shape_rows(solution: Solution, points: int = 101) -> np.ndarray:
    """Return the shapes and loads of all rods, one row per point, in the order of SHAPE_COLUMNS."""
    parts = []
    for i, line in enumerate(solution.centrelines(points)):
        parts.append(
            np.column_stack(
                [np.full(len(line.s), i + 1), line.s, line.position, line.force, line.moment, line.bending_strain]
            )
        )
    return np.vstack(parts)
