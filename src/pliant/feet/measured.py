"""Measurements of the SoftFoot's bench: a CSV file of the user's, and the errors as the paper defines them.

The measured forces and rotations of Crotti et al. 2024 were never published. Who has such data writes one line per
trial, with a line of headings; units are those of the headings, and SI where there are none:

    load [N],height [mm],position,F_h [N],F_p [N],F_m [N],pitch_m1 [deg],...,pitch_m6 [deg]
    50,5,1,21.3,36.0,0.2,18.0,9.5,2.4,-3.0,-7.0,-9.5

``position`` is the module under which the obstacle stood, 1 to 6 or p1 to p6; forces are positive where a block
carries; a rotation is positive where the front of the module goes up, from any zero. Cells are separated by commas and
have decimal points.

A file whose units cannot be right is refused: in each trial the three blocks must carry between half and twice the load
(with `WEIGHT` for the foot), and each block at least `LEAST_SHARE` of the load in some trial.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.documents.files import read_text
from pliant.base.documents.tables import split_unit
from pliant.base.errors import PliantError, nearest
from pliant.feet.trials import Trial, Trials

if TYPE_CHECKING:
    from pliant.base.numerics import Array

FORCES = {"F_h": "heel", "F_p": "fascia", "F_m": "metatarsus"}
PITCHES = tuple(f"pitch_m{i}" for i in range(1, 7))
COLUMNS = ("load", "height", "position", *FORCES, *PITCHES)
"""Columns of a file of measurements; their order is free, and others are ignored."""
MAX_BYTES = 10_000_000
"""Largest file that is read [bytes]."""
LONGEST = 0.1
"""A height of more metres than this is taken for a forgotten unit [m]."""
WIDEST = 1.6
"""A rotation of more radians than this is taken for a forgotten unit [rad]."""
WEIGHT = 10.0
"""The blocks may carry this beside twice the load, for the weight of foot and slide [N]."""
LEAST_SHARE = 0.01
"""A block that never carries this share of the load is taken for a wrong unit: in the paper every block carries in
every trial, as it has relative errors for all."""

_DEGREE = math.pi / 180.0
_UNITS: dict[str, dict[str, float]] = {
    "force": {"N": 1.0, "kN": 1e3},
    "length": {"m": 1.0, "mm": 1e-3, "cm": 1e-2},
    "angle": {"rad": 1.0, "deg": _DEGREE},
    "count": {},
}
_KIND = {
    "load": "force",
    "height": "length",
    "position": "count",
    **dict.fromkeys(FORCES, "force"),
    **dict.fromkeys(PITCHES, "angle"),
}


# -- reading ----------------------------------------------------------------------------------------------------


def read_trials(path: str | Path, *, count: int = 48) -> Trials:
    """Read measured trials.

    Args:
        path: CSV file of `COLUMNS`; ``#`` begins a comment.
        count: number of trials that the file must have; 48 are 2 loads, 4 heights and 6 positions.

    Returns:
        The trials, sorted by load, height and position.

    Raises:
        PliantError: the file cannot be read; a column is missing or twice; a unit is unknown or forgotten; a cell is no
            finite number; a trial is missing or twice. The message has file and line.
    """
    path = Path(path)
    rows = _rows(path)
    place, heading = next(rows, (0, []))
    columns, factors = _columns(path, place, heading)
    values: list[list[float]] = []
    trials: list[Trial] = []
    lines: dict[Trial, int] = {}
    for line, cells in rows:
        if len(cells) != len(heading):
            raise _fault(path, line, f"it has {len(cells)} cells; must have {len(heading)}, as the headings")
        row = [_number(path, line, name, cells[columns[name]]) * factors[name] for name in COLUMNS]
        trial = Trial(round(row[0], 9), round(row[1], 9), _position(path, line, row[2]))
        if not trial.load > 0.0:
            raise _fault(path, line, f"load is {trial.load:g} N; must be > 0")
        if trial in lines:
            raise _fault(path, line, f"the trial {trial} occurs twice; first in line {lines[trial]}")
        lines[trial] = line
        trials.append(trial)
        values.append(row[3:])
    _complete(path, trials, count)
    order = sorted(range(len(trials)), key=trials.__getitem__)
    table, trials = np.array([values[i] for i in order]), [trials[i] for i in order]
    _plausible(path, trials, table)
    return Trials(trials=tuple(trials), force=table[:, :3], pitch=table[:, 3:])


def write_trials(path: str | Path, measured: Trials) -> None:
    """Write trials, measured or simulated, as `read_trials` reads them: heights in mm, rotations in degrees."""
    units = {"force": " [N]", "length": " [mm]", "angle": " [deg]", "count": ""}
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([f"{name}{units[_KIND[name]]}" for name in COLUMNS])
        for trial, force, pitch in zip(measured.trials, measured.force, measured.pitch, strict=True):
            cells = [trial.load, 1e3 * trial.height, trial.position, *force, *np.degrees(pitch)]
            writer.writerow([f"{cell:.10g}" for cell in cells])


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    text = read_text(path, PliantError, max_bytes=MAX_BYTES, allow_empty=True)
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if line:
            yield number, next(csv.reader(io.StringIO(line)))


def _fault(path: Path, line: int, message: str) -> PliantError:
    return PliantError(f"{path}:{line}: {message}", field="data")


def _columns(path: Path, line: int, heading: Sequence[str]) -> tuple[dict[str, int], dict[str, float]]:
    """Return where each column is, and the factor of its unit."""
    places: dict[str, int] = {}
    factors: dict[str, float] = {}
    for i, text in enumerate(heading):
        name, unit = split_unit(text)
        if name not in _KIND:
            continue
        if name in places:
            raise _fault(path, line, f"the column {name} occurs twice")
        units = _UNITS[_KIND[name]]
        if unit is not None and unit not in units:
            valid = " or ".join(f"[{known}]" for known in units) or "a number without unit"
            raise _fault(path, line, f"the unit of {name} is [{unit}]; must be {valid}")
        places[name], factors[name] = i, units.get(unit or "", 1.0)
    missing = [name for name in COLUMNS if name not in places]
    for separator, called in ((";", "semicolons"), ("\t", "tabs")):
        if missing and separator in "".join(heading):
            raise _fault(
                path,
                line,
                f"the headings are separated by {called}; cells must be separated by commas and have decimal points",
            )
    if missing:
        found = [text.strip() for text in heading]
        near = "; " + nearest(missing[0], found) if found else ""
        raise _fault(
            path, max(line, 1), f"columns are missing: {', '.join(missing)}; must have {', '.join(COLUMNS)}{near}"
        )
    return places, factors


def _number(path: Path, line: int, name: str, cell: str) -> float:
    text = cell.strip()
    if name == "position":
        text = text.removeprefix("p")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _fault(path, line, f"{name} is {cell.strip()!r}; must be a finite number")
    return value


def _position(path: Path, line: int, value: float) -> int:
    if value not in range(1, 7):
        raise _fault(path, line, f"position is {value:g}; must be a whole number from 1 to 6")
    return int(value)


def _complete(path: Path, trials: Sequence[Trial], count: int) -> None:
    if len(trials) != count:
        raise PliantError(
            f"{path} has {len(trials)} trials; must have {count}. For another number of trials set data_trials",
            field="data",
        )
    loads, heights, places = ({getattr(t, k) for t in trials} for k in ("load", "height", "position"))
    every = {Trial(a, b, c) for a in loads for b in heights for c in places}
    left = sorted(every - set(trials))
    if left:
        some = "; ".join(map(str, left[:3])) + ("; ..." if len(left) > 3 else "")
        raise PliantError(
            f"{path} has {len(loads)} loads, {len(heights)} heights and {len(places)} positions, and must have a trial "
            f"for each of the {len(every)} combinations; missing: {some}",
            field="data",
        )


def _plausible(path: Path, trials: Sequence[Trial], table: Array) -> None:
    """Refuse units that were forgotten and forces of the wrong sign."""
    highest = max(abs(t.height) for t in trials)
    if highest > LONGEST:
        raise PliantError(
            f"{path}: the largest height is {highest:g} m; must be <= {LONGEST:g} m. Write the unit in the heading: "
            "'height [mm]' for millimetres, 'height [cm]' for centimetres",
            field="data",
        )
    widest = float(np.abs(table[:, 3:]).max())
    if widest > WIDEST:
        raise PliantError(
            f"{path}: the largest rotation is {widest:g} rad; must be <= {WIDEST:g} rad. For degrees write "
            "the headings 'pitch_m1 [deg]'",
            field="data",
        )
    for name, column in zip(FORCES, table.T, strict=False):
        if column.mean() < 0.0:
            raise PliantError(
                f"{path}: the mean of {name} is {column.mean():.4g} N; must be positive where a block carries",
                field="data",
            )
    load = np.array([t.load for t in trials])
    for name, column in zip(FORCES, table.T, strict=False):
        share = float((column / load).max())
        if share < LEAST_SHARE:
            raise PliantError(
                f"{path}: {name} is at most {share:.2g} times the load; must reach {LEAST_SHARE:g} times the load in "
                f"some trial. Forces are in N where the heading has no unit; for kilonewtons write '{name} [kN]'",
                field="data",
            )
    total = table[:, :3].sum(axis=1)
    off = np.maximum(0.5 * load - total, total - 2.0 * load - WEIGHT)
    worst = int(np.argmax(off / load))
    if off[worst] > 0.0:
        raise PliantError(
            f"{path}: in the trial {trials[worst]} the three blocks carry {total[worst]:.4g} N; must be between half "
            "and twice the load. Forces and loads are in N where the heading has no unit; for kilonewtons write [kN]",
            field="data",
        )


# -- errors, as section III-B defines them ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ForceErrors:
    """Errors of simulated forces. Columns: heel, fascia, metatarsus."""

    relative: Array
    """|simulated - measured| / measured, shape (n, 3); NaN where no force was measured."""
    absolute: Array
    """Simulated - measured, shape (n, 3) [N]: positive where the simulation is too high."""
    total: Array
    """|simulated - measured| / measured of the sum of the three forces, shape (n,)."""
    total_of_load: Array
    """Simulated - measured sum of the three forces, as a part of the load, shape (n,)."""

    @property
    def mean(self) -> Array:
        """Mean relative error of each part, shape (3,)."""
        return np.array([float(np.nanmean(column)) for column in self.relative.T])

    @property
    def filtered_mean(self) -> Array:
        """Mean relative error of each part without outliers, shape (3,)."""
        return np.array([float(filtered(column).mean()) for column in self.relative.T])

    @property
    def undefined(self) -> int:
        """Number of relative errors without a value, because no force was measured."""
        return int(np.isnan(self.relative).sum())


def force_errors(simulated: Trials, measured: Trials) -> ForceErrors:
    """Return the errors of the forces.

    Raises:
        PliantError: the two have other trials.
    """
    if simulated.trials != measured.trials:
        raise PliantError("simulated and measured trials differ; simulate measured.trials", field="trials")
    difference = simulated.force - measured.force
    total = simulated.total - measured.total
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(measured.force > 0.0, np.abs(difference) / measured.force, np.nan)
        return ForceErrors(
            relative=relative,
            absolute=difference,
            total=np.abs(total) / measured.total,
            total_of_load=total / measured.load,
        )


def filtered(values: Array) -> Array:
    """Return the values that are not above their mean plus one standard deviation; NaN is left out."""
    known = values[np.isfinite(values)]
    return known[known <= known.mean() + known.std()] if known.size else known


def rotation_errors(simulated: Trials, measured: Trials) -> Array:
    """Return simulated minus measured rotations, without the mean difference of each module, shape (n, 6) [rad].

    The mean difference is the unknown mounting of a module's IMU (section III-B).
    """
    difference = simulated.pitch - measured.pitch
    return difference - difference.mean(axis=0)
