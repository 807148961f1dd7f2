"""Measured curves from publications, digitised by the user and drawn below the simulated curves.

The measured curves of a publication are often available only as printed figures. A user can digitise a curve into a
text file of two columns, ``FOLDER/<experiment>/<place>.csv``, and run ``pliant reproduce --curves FOLDER``. Each
experiment documents its places, such as ``figure13-soft-joint_1``. Several curves of one place are named
``<place>-<anything>.csv``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.documents.files import read_text
from pliant.base.errors import PliantError
from pliant.base.figures import INK
from pliant.experiments.base import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from pliant.base.numerics import Array
    from pliant.experiments.base import Context

MAX_BYTES = 10_000_000
"""Maximum size of a file [bytes]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A digitised curve."""

    name: str
    """Name of the file, without suffix."""
    x: Array
    """First column, increasing, shape (n,), in the unit of the horizontal axis of the simulated figure."""
    y: Array
    """Second column, shape (n,), in the unit of the vertical axis of the simulated figure."""


def read_curve(path: Path) -> Curve:
    """Read two columns of numbers, separated by a comma, with at most one header line; ``#`` begins a comment.

    Raises:
        PliantError: the file cannot be read, or a line is not two finite numbers. The message names file and line.
    """
    lines = read_text(path, PliantError, max_bytes=MAX_BYTES, allow_empty=True).splitlines()
    rows: list[tuple[float, float]] = []
    headings = 0
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            x, y = (float(cell) for cell in text.split(","))
        except ValueError:
            x = y = math.nan
        if not (math.isfinite(x) and math.isfinite(y)):
            if not rows and not headings:
                headings = number
                continue
            raise PliantError(f"{path}:{number}: {text!r} must be two finite numbers, X,Y", field=path.name)
        rows.append((x, y))
    if len(rows) < 2:
        raise PliantError(f"{str(path)!r} has {len(rows)} points; must have 2 or more", field=path.name)
    x, y = np.array(sorted(rows)).T
    return Curve(name=path.stem, x=x, y=y)


def read_curves(context: Context, place: str) -> list[Curve]:
    """Return the measured curves of a place: the files ``<place>.csv`` and ``<place>-*.csv`` of the curve folder."""
    if context.curves is None:
        return []
    paths = [p for p in context.curves.glob(f"{place}*.csv") if p.stem == place or p.stem.startswith(f"{place}-")]
    return [read_curve(path) for path in sorted(paths, key=lambda p: p.stem)]


def draw_curves(context: Context, axis: Axes, place: str) -> None:
    """Draw the measured curves of a place below the simulated curves."""
    for i, curve in enumerate(read_curves(context, place)):
        axis.plot(
            curve.x, curve.y, color=INK, linewidth=1.6, alpha=0.45, zorder=1, label="measured" if i == 0 else None
        )


def compare_curves(context: Context, place: str, x: ArrayLike, y: ArrayLike) -> Sequence[list[object]]:
    """Return a table row for each measured curve of a place: name, points, RMS and largest difference.

    Differences are between the measured and the simulated curve, in the unit of ``y``.

    Args:
        context: context of the experiment.
        place: place of the curve.
        x: simulated curve, first column, increasing, shape (n,).
        y: simulated curve, second column, shape (n,).
    """
    ours = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    rows = []
    for curve in read_curves(context, place):
        difference = np.interp(curve.x, *ours) - curve.y
        rms = float(np.sqrt(np.mean(difference**2)))
        rows.append([curve.name, curve.x.size, rms, float(np.abs(difference).max())])
    return rows


def table_of_curves(context: Context, places: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> list[Table]:
    """Return the table of measured curves against ours; none without curves.

    Args:
        context: context of the experiment.
        places: place -> the simulated curve, both columns as in `compare_curves`, the second in radians.
    """
    rows = [row for place, curve in places.items() for row in compare_curves(context, place, *curve)]
    columns = ["curve", "points", "RMS difference [rad]", "largest [rad]"]
    return [Table(title="Measured curves against ours", columns=columns, rows=rows)] if rows else []
