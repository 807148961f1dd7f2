"""Tables of commands over time, played into the mailboxes of devices."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.devices.base import Device, FieldInfo
from pliant.simulation.commands import command_mode

INTERPOLATIONS = ("hold", "linear")
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
