"""Arguments of the commands for parallel robots: robots, numbers, poses, tables."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.errors import PliantError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

__all__ = [
    "JOINTS",
    "POSE",
    "WRENCH",
    "Robot",
    "numbers",
    "plate_columns",
    "read_table",
]

Robot = Annotated[
    str, Parameter(help="A name of `pliant list`, a YAML or JSON file, or a folder of the Gazebo simulator.")
]
WRENCH = "Wrench on the plate about its origin, world axes: fx,fy,fz,mx,my,mz (planar: fx,fy,mz) [N, N m]."
POSE = "Plate pose: x,y,z,roll,pitch,yaw (planar: x,y,angle) [m, rad]; solves for the joint values."
JOINTS = "Actuated joint values, separated by commas [m or rad]; solves for the plate pose."


_KNOWN = re.compile("x|y|z|roll|pitch|yaw|angle|[fm][xyz]|q[0-9]+")
"""Names of columns that tables of this package have: plate pose, wrench, joint values."""


def numbers(text: str, option: str, count: Sequence[int] | None = None) -> np.ndarray:
    """Read numbers separated by commas or spaces.

    Raises:
        PliantError: a word is not a finite number, or the count is wrong.
    """
    import numpy as np

    words = text.replace(",", " ").split()
    values = []
    for word in words:
        try:
            values.append(float(word))
        except ValueError:
            raise PliantError(f"{option} {text!r}: {word!r} is not a number", field=option) from None
        if not math.isfinite(values[-1]):
            raise PliantError(f"{option} {text!r}: {word!r} is not finite", field=option)
    if count is not None and len(values) not in count:
        wanted = " or ".join(str(c) for c in count)
        raise PliantError(f"{option} {text!r} has {len(values)} numbers; must be {wanted}", field=option)
    return np.array(values)


def plate_columns(planar: bool) -> tuple[list[str], list[str]]:
    """Return the columns that a table has for the plate pose and for the wrench."""
    if planar:
        return ["x", "y", "angle"], ["fx", "fy", "mz"]
    return ["x", "y", "z", "roll", "pitch", "yaw"], ["fx", "fy", "fz", "mx", "my", "mz"]


def read_table(path: Path, count: Sequence[int], columns: Sequence[str] = ()) -> np.ndarray:
    """Read a CSV file of numbers, with or without a header line.

    Args:
        path: the file.
        count: how many numbers a row may have.
        columns: what the columns are, in this order. A header may have other words, but no known name in the place of
            another column.

    Raises:
        PliantError: the file is wrong; the message has file and line.
    """
    import numpy as np

    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise PliantError(f"the table cannot be read: {error.strerror}", file=path) from None
    except UnicodeDecodeError:
        raise PliantError("the table cannot be read: it is not UTF-8 text", file=path) from None
    rows, width = [], None
    for number, line in enumerate(lines, 1):
        text = line.split("#")[0].strip()
        if not text:
            continue
        if ";" in text and "," in text:
            raise PliantError(
                f"commas and semicolons in one row: {text[:80]!r}; a decimal comma is not read", file=path, line=number
            )
        words = [w for w in text.replace(";", ",").replace(",", " ").split() if w]
        try:
            row = [float(w) for w in words]
        except ValueError:
            if rows or number > 1:
                raise PliantError(f"not numbers: {text[:80]!r}", file=path, line=number) from None
            _check_header(text, columns, path, number)
            continue
        if not all(math.isfinite(v) for v in row):
            raise PliantError(f"a number is not finite: {text[:80]!r}", file=path, line=number)
        width = len(row) if width is None else width
        if len(row) != width or len(row) not in count:
            wanted = " or ".join(str(c) for c in count)
            raise PliantError(f"{len(row)} numbers in a row; must be {wanted}", file=path, line=number)
        rows.append(row)
    if not rows:
        raise PliantError("the table has no rows", file=path)
    return np.array(rows)


def _check_header(text: str, columns: Sequence[str], path: Path, line: int) -> None:
    """Refuse a header that names the columns in another order than they are read."""
    cells = re.split("[,;]", text) if re.search("[,;]", text) else text.split()
    for k, (cell, wanted) in enumerate(zip(cells, columns), 1):
        name = next(iter(re.findall("[a-z0-9_]+", cell.lower())), "")  # without its unit
        if name != wanted and _KNOWN.fullmatch(name):
            raise PliantError(
                f"the header names column {k} {name!r}, which is read as {wanted!r}; the order must be "
                f"{','.join(columns[: len(cells)])}",
                file=path, line=line,
            )  # fmt: skip
