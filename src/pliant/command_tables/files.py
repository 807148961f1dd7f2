"""Files of tables of commands.

A table has a column ``time`` [s] and columns ``<device>/<field>``; one element of an array field is
``<device>/<field>[i]``. The formats are:

- CSV: a header line, then numbers. An empty cell keeps the previous value; lines that begin with # are skipped.
- NPZ: named arrays of equal length. An array field is one array of shape (n, size).
- YAML and JSON: named lists, and optionally ``interpolation``.
- Recordings of other programs whose format a wing declares, such as bags, see `pliant.recording.foreign`.
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np

from pliant.base.documents.files import read_text
from pliant.base.documents.tables import read_npz
from pliant.base.documents.yaml_tree import read_yaml
from pliant.base.errors import DeviceError, nearest
from pliant.base.numerics import is_finite_number
from pliant.command_tables.table import INTERPOLATIONS, CommandTable
from pliant.recording.foreign import foreign_format, foreign_suffixes

SUFFIXES = (".csv", ".npz", ".yaml", ".yml", ".json")


def read_commands(path: str | Path, *, interpolation: str | None = None) -> CommandTable:
    """Read a table of commands from CSV, NPZ, YAML or JSON, or from a bag (.bag, .mcap, .db3, a folder of rosbag2).

    Args:
        path: the file, or the folder of a bag.
        interpolation: "hold" or "linear"; None for the value given in the file, or "hold" if it gives none.

    Raises:
        DeviceError: the file does not exist, its suffix is unknown, a value is not a number, or a row has the wrong
            length. The message names file, line and column.
        RecordingError: a bag cannot be read.
    """
    path = Path(path)
    foreign = foreign_format(path)
    if foreign is not None:
        bag = foreign.commands(path)
        time = bag.columns.pop("time")
        return CommandTable(
            time=time,
            columns=bag.columns,
            interpolation=interpolation or "hold",
            file=path,
            topics=bag.topics,
            unused=bag.unused,
        )
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES or path.is_dir():
        raise DeviceError(
            f"a command file ends in {path.suffix!r}; {nearest(path.suffix, (*SUFFIXES, *foreign_suffixes()))}",
            file=path,
            field="suffix",
        )
    said = None
    if suffix == ".csv":
        columns = _read_csv(path)
    elif suffix == ".npz":
        columns = _read_npz(path)
    else:
        columns, said = _read_lists(path)
    time = columns.pop("time", None)
    if time is None:
        raise DeviceError(
            f"there is no column 'time'; found: {', '.join(columns) or 'no column'}", file=path, line=1, field="time"
        )
    return CommandTable(time=time, columns=columns, interpolation=interpolation or said or "hold", file=path)


def _read_csv(path: Path) -> dict[str, np.ndarray]:
    header: list[str] | None = None
    rows: list[list[float]] = []
    try:
        with io.StringIO(read_text(path, DeviceError, allow_empty=True), newline="") as file:
            reader = csv.reader(file)
            for cells in reader:
                line = reader.line_num
                if not any(cell.strip() for cell in cells) or cells[0].lstrip().startswith("#"):
                    continue
                if header is None:
                    header = [cell.strip() for cell in cells]
                    double = next((name for name in header if header.count(name) > 1), None)
                    if double is not None:
                        raise DeviceError(f"column {double!r} occurs twice", file=path, line=line, field=double)
                    continue
                if len(cells) != len(header):
                    raise DeviceError(
                        f"the row has {len(cells)} cells; the header has {len(header)} columns", file=path, line=line
                    )
                rows.append([_number(cell, name, path, line) for cell, name in zip(cells, header, strict=True)])
                if len(rows) > 1 and "time" in header:
                    column = header.index("time")
                    if not rows[-1][column] > rows[-2][column]:
                        raise DeviceError(
                            f"column 'time' goes from {rows[-2][column]:g} to {rows[-1][column]:g} s; "
                            "times must increase",
                            file=path,
                            line=line,
                            field="time",
                        )
    except csv.Error as error:
        raise DeviceError(f"the command file is not CSV text: {error}", file=path) from None
    if header is None or not rows:
        raise DeviceError(
            "the command file has no rows; it must have a header line 'time,<device>/<field>,...' and at least one row",
            file=path,
        )
    table = np.array(rows)
    return {name: table[:, i] for i, name in enumerate(header)}


def _number(cell: str, column: str, path: Path, line: int) -> float:
    text = cell.strip()
    if not text and column != "time":
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        empty = "" if column == "time" else ", or an empty cell to keep the value"
        raise DeviceError(
            f"column {column!r} has {text!r}; must be a finite number{empty}", file=path, line=line, field=column
        )
    return value


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    return {name: a for name, a in read_npz(path, DeviceError).items() if name not in ("metadata", "units")}


def _read_lists(path: Path) -> tuple[dict[str, np.ndarray], str | None]:
    document = read_yaml(path, DeviceError)
    if not isinstance(document.value, dict):
        raise document.fault(DeviceError, "a command file is a mapping of names to lists of numbers")
    columns: dict[str, np.ndarray] = {}
    interpolation: str | None = None
    for key, value in document.value.items():
        name = str(key)
        if name == "interpolation":
            if value not in INTERPOLATIONS:
                known = nearest(str(value), INTERPOLATIONS)
                raise document.fault(DeviceError, f"interpolation is {value!r}; {known}", name)
            interpolation = value
            continue
        if not isinstance(value, list):
            raise document.fault(DeviceError, f"column {name!r} is {value!r}; must be a list of numbers", name)
        width = len(value[0]) if value and isinstance(value[0], list) else None
        for row, item in enumerate(value):
            items = item if isinstance(item, list) else [item]
            size = len(item) if isinstance(item, list) else None
            good = all(map(is_finite_number, map(_as_number, items)))
            if size != width or not good:
                wanted = "a finite number" if width is None else f"a list of {width} finite numbers"
                message = f"column {name!r} has {item!r} at index {row}; must be {wanted}"
                raise document.fault(DeviceError, message, name, row)
        columns[name] = np.array(
            [[_as_number(x) for x in item] if isinstance(item, list) else _as_number(item) for item in value],
            dtype=np.float64,
        )
    return columns, interpolation


def _as_number(value: object) -> object:
    """YAML 1.1 reads 1e-3 as text; it is meant as a number."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value
