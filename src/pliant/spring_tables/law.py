"""Series elastic actuator with a measured spring: a table of deflection and torque, and a monotone spline through it.

The table stands behind the other parameters of an actuator, from `PARAMETERS` of `pliant.laws.layout` on, so that only
models with such a spring carry it.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from pliant.base.documents.files import read_text
from pliant.base.errors import LawError, nearest
from pliant.base.numerics import Array
from pliant.base.options import option
from pliant.laws.base import LAW_PARAMETERS, Law, law
from pliant.laws.layout import PARAMETERS

T_COUNT = PARAMETERS
"""Place of the number of knots: behind the parameters of every actuator."""
T_KNOTS = PARAMETERS + 1
"""Place of position, torque, slope and energy of each knot."""
T_KNOT = 4
"""Numbers of a knot."""

MIN_ROWS = 3
"""Smallest number of rows of a table."""
MAX_ROWS = 64
"""Largest number of rows of a table."""
MAX_BYTES = 65_536
"""Largest file of a table [bytes]."""
MAX_GAP = 20.0
"""Largest interval between two rows, as a multiple of the median interval."""
MAX_DEFLECTION = 100.0
"""Largest deflection in a table [rad]."""
MAX_TORQUE = 1.0e5
"""Largest torque in a table [N m]."""
MAX_SLOPE = 1.0e6
"""Largest stiffness between two rows of a table [N m/rad]: above it, a model saved as XML loses digits."""

COLUMNS = {"deflection": "rad", "torque": "N m"}
"""Columns of a table, with their units."""

Table = tuple[tuple[float, float], ...]
"""Rows (deflection [rad], torque [N m]) of a table."""


# -- the file ----------------------------------------------------------------------------------------------


def read_spring_table(path: Path, odd: bool = False) -> Table:
    """Return the rows (deflection [rad], torque [N m]) of a CSV file.

    The first line that is neither empty nor a comment (``#``) names the columns ``deflection`` and ``torque``, with or
    without their units ``[rad]`` and ``[N m]``.

    Args:
        path: the file.
        odd: whether the table has the half at deflections >= 0 only, and begins with the row 0, 0.

    Raises:
        LawError: the file cannot be read or is no valid table; the message has file and line.
    """
    rows, lines = _rows(path)

    def fail(message: str, line: int | None = None) -> LawError:
        return LawError(message, file=path, line=line, field="table")

    if not MIN_ROWS <= len(rows) <= MAX_ROWS:
        raise fail(f"the table has {len(rows)} rows; must be {MIN_ROWS} to {MAX_ROWS}", lines[-1] if lines else None)
    for (x0, t0), (x1, t1), line in zip(rows, rows[1:], lines[1:]):
        if not x1 > x0:
            raise fail(f"deflection goes from {x0:g} to {x1:g} rad; must increase from row to row", line)
        if t1 < t0:
            raise fail(
                f"torque goes from {t0:g} to {t1:g} N m while the deflection increases; must not decrease, because the "
                "torque of a spring is a monotone function of its deflection",
                line,
            )
        if not t1 - t0 <= MAX_SLOPE * (x1 - x0):
            raise fail(f"the stiffness to this row is above {MAX_SLOPE:g} N m/rad; must be below", line)
    widest = MAX_GAP * float(np.median(np.diff([x for x, _ in rows])))
    for (x0, _), (x1, _), line in zip(rows, rows[1:], lines[1:]):
        if x1 - x0 > widest:
            raise fail(
                f"a gap of {x1 - x0:g} rad between the rows; must be at most {widest:g} rad, {MAX_GAP:g} times the "
                "median interval",
                line,
            )
    if odd:
        if rows[0] != (0.0, 0.0):
            raise fail(
                f"the first row is {rows[0][0]:g}, {rows[0][1]:g}; must be 0, 0 with odd=true, where the rows at "
                "negative deflections follow from the others",
                lines[0],
            )
    elif not rows[0][0] <= 0.0 <= rows[-1][0]:
        raise fail(
            f"deflections from {rows[0][0]:g} to {rows[-1][0]:g} rad; must contain 0, the rest position", lines[0]
        )
    elif not rows[0][1] <= 0.0 <= rows[-1][1]:
        raise fail(
            f"torques from {rows[0][1]:g} to {rows[-1][1]:g} N m; must contain 0, where the spring is in equilibrium",
            lines[0],
        )
    if rows[0][1] == rows[-1][1]:
        raise fail(f"the torque is {rows[0][1]:g} N m in every row; must increase somewhere", lines[-1])
    return tuple(rows)


def _rows(path: Path) -> tuple[list[tuple[float, float]], list[int]]:
    """Return the rows of a table as numbers in the order of `COLUMNS`, and their lines."""
    text = read_text(path, LawError, max_bytes=MAX_BYTES)
    order: list[int] | None = None
    rows: list[tuple[float, float]] = []
    lines: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        for cells in reader:
            line = reader.line_num
            if not any(cell.strip() for cell in cells) or cells[0].lstrip().startswith("#"):
                continue
            if order is None:
                order = _header(cells, path, line)
                continue
            if len(cells) != len(COLUMNS):
                raise LawError(
                    f"the row has {len(cells)} cells; must be {len(COLUMNS)}: {', '.join(COLUMNS)}",
                    file=path, line=line, field="table",
                )  # fmt: skip
            x, torque = (_number(cells[i], name, path, line) for i, name in zip(order, COLUMNS, strict=True))
            rows.append((x, torque))
            lines.append(line)
    except csv.Error as error:
        raise LawError(f"the file is not CSV text: {error}", file=path, line=reader.line_num, field="table") from None
    if order is None:
        raise LawError("the file has no header; must begin with the line 'deflection,torque'", file=path, field="table")
    return rows, lines


def _header(cells: list[str], path: Path, line: int) -> list[int]:
    """Return the place of each of `COLUMNS` in the rows."""
    found: dict[str, int] = {}
    for i, cell in enumerate(cells):
        name, _, unit = cell.strip().partition("[")
        name, unit = name.strip().lower(), unit.removesuffix("]").strip()
        if name not in COLUMNS:
            raise LawError(
                f"unknown column {cell.strip()!r}; {nearest(name, COLUMNS)}. The header must be 'deflection,torque'",
                file=path, line=line, field="table",
            )  # fmt: skip
        if name in found:
            raise LawError(f"column {name!r} occurs twice", file=path, line=line, field="table")
        if unit and unit != COLUMNS[name]:
            raise LawError(f"{name} is in {unit!r}; must be in {COLUMNS[name]!r}", file=path, line=line, field="table")
        found[name] = i
    missing = [name for name in COLUMNS if name not in found]
    if missing:
        raise LawError(
            f"column {missing[0]!r} is missing; must be deflection,torque", file=path, line=line, field="table"
        )
    return [found[name] for name in COLUMNS]


def _number(cell: str, name: str, path: Path, line: int) -> float:
    text = cell.strip()
    limit = MAX_DEFLECTION if name == "deflection" else MAX_TORQUE
    must = f"must be a number from {-limit:g} to {limit:g} [{COLUMNS[name]}]"
    if not text:
        raise LawError(f"{name} is missing in this row; {must}", file=path, line=line, field="table")
    if not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text, re.ASCII):
        raise LawError(f"{name} is {text[:40]!r}; {must}", file=path, line=line, field="table")
    value = float(text)
    if not abs(value) <= limit:
        raise LawError(f"{name} is {value:g}; {must}", file=path, line=line, field="table")
    return value + 0.0  # not -0.0


# -- the spline --------------------------------------------------------------------------------------------


def monotone_slopes(x: Array, y: Array) -> Array:
    """Return slopes at the knots that make the cubic Hermite spline through them monotone between the knots.

    Inside, the weighted harmonic mean of the two secants (Fritsch and Butland 1984, SIAM J. Sci. Stat. Comput. 5(2),
    equation 5), which satisfies the condition of Fritsch and Carlson 1980 (SIAM J. Numer. Anal. 17(2)); at the ends the
    three-point formula, limited to keep the shape (Moler 2004, Numerical Computing with MATLAB, section 3.6).

    Args:
        x: increasing positions, shape (n,), n >= 3.
        y: values, shape (n,).
    """
    h = np.diff(x)
    secant = np.diff(y) / h
    out = np.zeros_like(y)
    for i in range(1, len(x) - 1):
        before, after = secant[i - 1], secant[i]
        if before * after > 0.0:
            w1, w2 = 2.0 * h[i] + h[i - 1], h[i] + 2.0 * h[i - 1]
            out[i] = (w1 + w2) / (w1 / before + w2 / after)
    out[0] = _end_slope(h[0], h[1], secant[0], secant[1])
    out[-1] = _end_slope(h[-1], h[-2], secant[-1], secant[-2])
    return out


def _end_slope(h0: float, h1: float, d0: float, d1: float) -> float:
    slope = ((2.0 * h0 + h1) * d0 - h0 * d1) / (h0 + h1)
    if slope * d0 <= 0.0:
        return 0.0
    if d0 * d1 < 0.0 and abs(slope) > 3.0 * abs(d0):
        return 3.0 * d0
    return slope


def _knots(rows: Table, odd: bool) -> Array:
    """Return position, torque, slope and energy of each knot, shape (n, T_KNOT); the least energy is 0."""
    half = np.array(rows)
    data = np.vstack([-half[:0:-1], half]) if odd else half
    x, torque = data.T
    slope = monotone_slopes(x, torque)
    h = np.diff(x)
    # The exact integral of a cubic Hermite segment.
    work = 0.5 * h * (torque[:-1] + torque[1:]) + h * h / 12.0 * (slope[:-1] - slope[1:])
    knots = np.column_stack([x, torque, slope, np.concatenate([[0.0], np.cumsum(work)])])
    # The torque increases with the deflection, so that the energy is least where the torque passes 0.
    p = np.concatenate([np.zeros(T_KNOTS), knots.ravel()])
    p[T_COUNT] = len(knots)
    p[0] = 1.0
    low, high = float(x[0]), float(x[-1])
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if spline(middle, p)[0] < 0.0 else (low, middle)
    knots[:, 3] -= spline(high, p)[2]
    return knots


def segment(x, p):
    """Return the index of the first knot of the segment that contains a deflection inside the table."""
    low = 0
    high = int(p[T_COUNT]) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if x < p[T_KNOTS + T_KNOT * middle]:
            high = middle
        else:
            low = middle
    return low


def spline(x, p):
    """Return torque, slope and energy of the spline at a deflection inside the table."""
    k = T_KNOTS + T_KNOT * segment(x, p)
    h = p[k + T_KNOT] - p[k]
    u = (x - p[k]) / h
    secant = (p[k + T_KNOT + 1] - p[k + 1]) / h
    a = p[k + 2]
    b = 3.0 * secant - 2.0 * a - p[k + T_KNOT + 2]
    c = a + p[k + T_KNOT + 2] - 2.0 * secant
    torque = p[k + 1] + h * u * (a + u * (b + u * c))
    slope = a + u * (2.0 * b + 3.0 * u * c)
    energy = p[k + 3] + h * u * (p[k + 1] + h * u * (0.5 * a + u * (b / 3.0 + 0.25 * u * c)))
    return torque, slope, energy


def spring(x, p):
    """Return torque, slope and energy of the spring at any deflection: beyond the table as `TableSEA` says."""
    first = p[T_KNOTS]
    last = p[T_KNOTS + T_KNOT * (int(p[T_COUNT]) - 1)]
    d = min(max(x, first), last)
    torque, slope, energy = spline(d, p)
    torque = p[0] * torque
    slope = p[0] * slope
    energy = p[0] * energy
    if x > last or x < first:
        e = x - d
        if p[1] >= 0.0:
            slope = p[1]
        energy = energy + torque * e + 0.5 * slope * e * e
        torque = torque + slope * e
    return torque, slope, energy


# -- the law -----------------------------------------------------------------------------------------------


@law("sea_table")
@dataclass(frozen=True)
class TableSEA(Law):
    """Series elastic actuator whose spring is a table of deflection and torque.

    With the deflection delta = q - theta_1 and the spline f through the rows of the table:

        load_1 = torque = -torque_scale f(delta),    stiffness = torque_scale f'(delta)
        H = torque_scale * integral of f from its zero to delta

    f is a piecewise cubic Hermite spline, monotone between any two rows (`monotone_slopes`), so that the stiffness is
    continuous and never negative; H is its exact integral. Valid inside the table. Beyond it, ``clip="linear"``
    continues with the slope at the end of the table, "flat" keeps the torque, "stop" adds the torque of an end stop.
    """

    table: Path | None = None
    """CSV file with a header line ``deflection [rad],torque [N m]`` and 3 to 64 rows; a relative path counts from the
    robot file that names it. None for a hardening spring of 40 to 230 N m/rad up to 0.4 rad, with ``odd`` (assumed)."""
    odd: bool = True
    """Whether the table has deflections >= 0 only and the spring behaves equally in both directions. The first row must
    then be 0, 0."""
    torque_scale: float = option(1.0, low=0.0)
    """Factor on all torques of the table, for identification."""
    clip: str = option("linear", choices=("linear", "flat", "stop"), kw_only=True)
    """Behaviour beyond the table: "linear" continues with the slope at its end, "flat" keeps the torque constant,
    "stop" adds the torque of a stiff end stop."""

    motors: ClassVar[int] = 1
    second_input: ClassVar[str] = "none"

    def validate(self) -> None:
        path = Path(__file__).with_name("hardening_spring.csv") if self.table is None else self.table
        if self.table is None and not self.odd:
            raise LawError("TableSEA: odd=false needs a table; set table, or odd=true", field="odd")
        try:
            rows = read_spring_table(path, self.odd)
        except LawError as error:
            error.field = "table"
            raise
        object.__setattr__(self, "_rows", rows)
        object.__setattr__(self, "_knots", _knots(rows, self.odd))

    @property
    def rows(self) -> Table:
        """Rows (deflection [rad], torque [N m]) of the file, as it was when the law was made."""
        return self._rows  # type: ignore[attr-defined]

    @property
    def max_deflection(self) -> float:
        """Largest magnitude of a deflection in the table [rad]."""
        return max(abs(x) for x, _ in self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableSEA) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[object, ...]:
        """Everything that two equal laws share: not the file, which may change between two loads."""
        return self.rows, self.odd, self.torque_scale, self.clip, self.stop_stiffness

    @property
    def stop(self) -> float:
        return -1.0 if self.clip == "linear" else super().stop

    def default_stop_stiffness(self) -> float:
        # Ten times the largest slope of the table at a row: assumed.
        return 10.0 * self.torque_scale * float(self._knots[:, 2].max())  # type: ignore[attr-defined]

    def parameters(self) -> Array:
        """Return ``p``: torque scale, stop stiffness (-1 for the slope of the table's end), and from T_COUNT on the
        number of knots and their position, torque, slope and energy."""
        knots = self._knots  # type: ignore[attr-defined]
        out = np.zeros(T_KNOTS + knots.size)
        out[:LAW_PARAMETERS] = super().parameters()
        out[T_COUNT] = len(knots)
        out[T_KNOTS:] = knots.ravel()
        return out

    @staticmethod
    def torques(q, theta_1, theta_2, p):
        torque, _, _ = spring(q - theta_1, p)
        return -torque, -torque, 0.0

    @staticmethod
    def stiffness(q, theta_1, theta_2, p):
        _, slope, _ = spring(q - theta_1, p)
        return slope

    @staticmethod
    def energy(q, theta_1, theta_2, p):
        _, _, energy = spring(q - theta_1, p)
        return energy

    @staticmethod
    def references(equilibrium, preset, p):
        return equilibrium, 0.0
