"""Command files: references over time, played into the mailboxes of devices.

A table has a column ``time`` [s] and columns ``<device>/<field>``; one element of an array field is
``<device>/<field>[i]``. The formats are:

- CSV: a header line, then numbers. An empty cell keeps the previous value; lines that begin with # are skipped.
- NPZ: named arrays of equal length. An array field is one array of shape (n, size).
- YAML and JSON: named lists, and optionally ``interpolation``.
- Recordings of other programs whose format a wing declares, such as bags, see `pliant.recording.foreign`.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.base.documents.files import read_text
from pliant.base.documents.tables import read_npz
from pliant.base.documents.yaml_tree import read_yaml
from pliant.base.errors import DeviceError, PliantError, nearest
from pliant.base.numerics import is_finite_number
from pliant.devices.base import Device, DeviceBase, FieldInfo, SampleSource
from pliant.model.robot import actuator_hint
from pliant.recording.foreign import foreign_format, foreign_suffixes

INTERPOLATIONS = ("hold", "linear")
SUFFIXES = (".csv", ".npz", ".yaml", ".yml", ".json")
COLUMN = re.compile(r"(?P<device>.+)/(?P<field>[^/\[\]]+)(?:\[(?P<index>\d+)\])?")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CommandTable:
    """References over time."""

    time: np.ndarray
    """Times [s], shape (n,), strictly increasing, >= 0."""
    columns: Mapping[str, np.ndarray]
    """"<device>/<field>" or "<device>/<field>[i]" -> values, shape (n,) or (n, size), in the unit of the field; NaN
    keeps the previous value."""
    interpolation: str = "hold"
    """Interpolation between two times: "hold" keeps the earlier value, "linear" interpolates linearly. After the last
    time the last value is held."""
    file: Path | None = None
    """File that the table was read from; None for a table made in code."""
    topics: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """For a bag: column -> topic it was read from. Columns of a bag that match no device are skipped."""
    unused: tuple[str, ...] = ()
    """For a bag: topics that are not commands, with their types."""

    def __post_init__(self) -> None:
        time = np.asarray(self.time)
        if time.dtype.kind not in "fiu":
            raise self._fault(f"column 'time' is {time.dtype}; must be numbers [s]", "time")
        time = time.astype(np.float64)
        object.__setattr__(self, "time", time)
        if self.interpolation not in INTERPOLATIONS:
            known = nearest(str(self.interpolation), INTERPOLATIONS)
            raise self._fault(f"interpolation is {self.interpolation!r}; {known}", "interpolation")
        if time.ndim != 1 or not len(time):
            raise self._fault(f"column 'time' has shape {time.shape}; must be at least one time", "time")
        wrong = np.flatnonzero(~(np.isfinite(time) & (time >= 0.0)))
        if wrong.size:
            found = f"{float(time[wrong[0]])!r} in row {wrong[0]}"
            raise self._fault(f"column 'time' has {found}; must be a finite number >= 0 [s]", "time")
        wrong = np.flatnonzero(np.diff(time) <= 0.0)
        if wrong.size:
            row = int(wrong[0]) + 1
            found = f"from {time[row - 1]:g} to {time[row]:g} s in row {row}"
            raise self._fault(f"column 'time' goes {found}; times must increase", "time")
        if not self.columns:
            raise self._fault("there is no column besides 'time'; other columns must be <device>/<field>")
        for name, values in self.columns.items():
            if not COLUMN.fullmatch(name):
                raise self._fault(f"column {name!r} is not of the form <device>/<field> or <device>/<field>[i]", name)
            array = np.asarray(values)
            if array.ndim not in (1, 2) or len(array) != len(time) or array.dtype.kind not in "fiu":
                found, wanted = f"shape {array.shape} of {array.dtype}", f"{len(time)} numbers, one for each time"
                raise self._fault(f"column {name!r} has {found}; must be {wanted}", name)
            if np.isinf(array).any():
                row = int(np.argwhere(np.isinf(array))[0][0])
                raise self._fault(f"column {name!r} is infinite in row {row}; must be finite numbers", name)

    def _fault(self, message: str, column: str | None = None) -> DeviceError:
        return DeviceError(message, file=self.file, field=column)

    def player(self, devices: Mapping[str, Device], start_ns: int = 0) -> CommandPlayer:
        """Return a player of this table for some devices.

        Args:
            devices: name -> device.
            start_ns: run time that corresponds to time 0 of the table [ns].

        Raises:
            DeviceError: a column names a device, a field or an element that does not exist.
        """
        return CommandPlayer(self, devices, start_ns)


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


class CommandPlayer:
    """Puts the values of a table into the mailboxes at their times.

    Args:
        table: the references.
        devices: name -> device.
        start_ns: run time that corresponds to time 0 of the table [ns].

    Raises:
        DeviceError: a column names a device, a field or an element that does not exist, or, for a bag, no column
            matches a device.

    Attributes:
        left_out: columns of a bag that match no device.
    """

    def __init__(self, table: CommandTable, devices: Mapping[str, Device], start_ns: int) -> None:
        self._times = (np.round(table.time * 1e9).astype(np.int64) + start_ns).tolist()
        self._linear = table.interpolation == "linear"
        valid = _valid_names(devices)
        fields: dict[str, dict[str, np.ndarray]] = {}
        self.left_out: list[str] = []
        for name, values in table.columns.items():
            match = COLUMN.fullmatch(name)
            device = devices.get(match["device"]) if match else None
            info = _info(device, match["field"]) if match and device else None
            if match is None or device is None or info is None:
                if name in table.topics and len(self.left_out) + 1 < len(table.columns):
                    self.left_out.append(name)
                    continue
                raise _no_column(table, name, valid)
            array = np.asarray(values, dtype=np.float64)
            own = fields.setdefault(device.name, {})
            if match["index"] is not None:
                index = int(match["index"])
                if not info.shape or index >= info.size or array.ndim != 1:
                    raise _no_column(table, name, valid)
                whole = own.setdefault(match["field"], np.full((len(self._times), info.size), np.nan))
                whole[:, index] = array
                continue
            if array.shape[1:] != info.shape:
                wanted = f"{info.size} numbers" if info.shape else "one number"
                found = f"{array.shape[1]} numbers" if array.ndim == 2 else "one number"
                raise DeviceError(
                    f"column {name!r} gives {found} a row; the field takes {wanted}"
                    + (f": use {name}[0] to {name}[{info.size - 1}]" if info.shape else ""),
                    file=table.file,
                    field=name,
                )
            own[match["field"]] = array
        self._devices = [devices[name] for name in fields]
        self._columns: list[list[tuple[str, np.ndarray]]] = []
        for name, own in fields.items():
            columns = []
            for field, values in own.items():
                filled = _filled(values, np.asarray(self._times, dtype=np.float64), self._linear)
                missing = np.isnan(filled).reshape(len(filled), -1)
                partly = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
                if partly.size:
                    element = int(np.flatnonzero(missing[partly[0]])[0])
                    raise DeviceError(
                        f"column '{name}/{field}[{element}]' has no value in row {partly[0]} or before, while others "
                        "of the array have; give all elements their first value in one row",
                        file=table.file,
                        field=f"{name}/{field}[{element}]",
                    )
                columns.append((field, filled))
            self._columns.append(columns)
        self._row = -1

    def restart(self) -> None:
        """Restart from the first row, after a reset has emptied the mailboxes."""
        self._row = -1

    def __call__(self, elapsed_ns: int) -> None:
        """Put the values that are due at this run time [ns]; called by the loop thread at every step."""
        times = self._times
        row = self._row
        last = len(times) - 1
        before = row
        while row < last and times[row + 1] <= elapsed_ns:
            row += 1
        if row < 0:
            return
        self._row = row
        if row == before and (not self._linear or row == last):
            return
        share = 0.0
        if self._linear and row < last:
            share = (elapsed_ns - times[row]) / (times[row + 1] - times[row])
        for device, columns in zip(self._devices, self._columns, strict=True):
            values: dict[str, object] = {}
            for field, table in columns:
                value = table[row]
                if share:
                    ahead = value + share * (table[row + 1] - value)
                    value = ahead if not np.isnan(ahead).any() else value
                if not np.isnan(value).any():
                    values[field] = value
            if values:
                device.inbox.put(values, mode=command_mode(device, values))


def put_constants(devices: Mapping[str, Device], constants: Mapping[str, object], where: str = "") -> None:
    """Give the devices constant commands, all fields of a device at once.

    Args:
        devices: the devices by name.
        constants: DEVICE/FIELD -> a number, an array, or text of one or several numbers with commas.
        where: what the names are of, for messages: "--reference ".

    Raises:
        PliantError: no such command, or text that is no number.
        DeviceError: values that the device does not take.
    """
    asked: dict[str, dict[str, float | list[float]]] = {}
    for name, value in constants.items():
        device, slash, field = name.rpartition("/")
        found = devices.get(device) if slash else None
        infos = (
            [] if found is None else [found.commands[m][field] for m in found.commands if field in found.commands[m]]
        )
        if not infos:
            valid = [f"{d.name}/{f}" for d in devices.values() for m in d.inbox.accepted for f in d.commands[m]]
            if not valid:
                raise PliantError(f"{where}{name}: {_no_commands(devices, device)}", field=name)
            raise PliantError(f"{where}{name}: no such command; {nearest(name, valid)}", field=name)
        try:
            numbers = value.tolist() if isinstance(value, np.ndarray) else [float(v) for v in str(value).split(",")]
        except ValueError:
            raise PliantError(
                f"{where}{name}={value}: must be one number, or several with commas", field=name
            ) from None
        single = len(numbers) == 1 and not any(info.shape for info in infos)
        asked.setdefault(device, {})[field] = numbers[0] if single else numbers
    for device, values in asked.items():
        found = devices[device]
        mode = command_mode(found, values)
        found.inbox.put(values, mode=mode)
        if isinstance(found, DeviceBase):
            try:
                found.verify(mode or "", values)
            except PliantError as error:
                raise PliantError(f"{where}{device}/...: {error}", field=error.field or device) from None


def _no_commands(devices: Mapping[str, Device], asked: str) -> str:
    """Return why no device takes a constant command, and what moves the robot."""
    own = [device.name for device in devices.values() if device.commands]
    if not own:
        hint = actuator_hint(asked or "JOINT")
        return f"the robot has no compliant actuator and no other device that takes commands; {hint}"
    takes = "takes no constant commands: a bridge, a scenario or requests (--console) command it"
    if len(own) > 1:
        takes = "take no constant commands: bridges, scenarios or requests (--console) command them"
    return f"{' and '.join(own)} {takes}"


def command_mode(device: SampleSource, values: Mapping[str, object]) -> str | None:
    """Return the command mode to use for some values.

    Returns:
        None if the device accepts one mode only, or if no accepted mode has all the fields; otherwise the first
        accepted mode that has all the fields.
    """
    accepted = device.inbox.accepted
    if len(accepted) == 1:
        return None
    return next(
        (mode for mode, fields in device.commands.items() if mode in accepted and all(v in fields for v in values)),
        None,
    )


def _filled(values: np.ndarray, times: np.ndarray, linear: bool) -> np.ndarray:
    """Replace NaN by the value before it, or by the straight line between its neighbours."""
    table = np.array(values.reshape(len(values), -1))
    for column in table.T:
        known = np.flatnonzero(~np.isnan(column))
        if not known.size or known.size == len(column):
            continue
        first = known[0]
        if linear:
            column[first:] = np.interp(times[first:], times[known], column[known])
        else:
            source = np.maximum.accumulate(np.where(np.isnan(column), -1, np.arange(len(column))))
            column[first:] = column[source[first:]]
    return table.reshape(values.shape)


def _info(device: Device, field: str) -> FieldInfo | None:
    return next((fields[field] for fields in device.commands.values() if field in fields), None)


def _valid_names(devices: Mapping[str, Device]) -> list[str]:
    names: dict[str, None] = {}
    for device in devices.values():
        for fields in device.commands.values():
            for field, info in fields.items():
                names[f"{device.name}/{field}"] = None
                if info.shape:
                    names[f"{device.name}/{field}[{info.size - 1}]"] = None
    return list(names)


def _no_column(table: CommandTable, name: str, valid: Iterable[str]) -> DeviceError:
    line = 1 if table.file is not None and table.file.suffix.lower() == ".csv" else None
    return DeviceError(
        f"column {name!r} is no command of these devices; {nearest(name, valid)}",
        file=table.file,
        line=line,
        field=name,
    )


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
