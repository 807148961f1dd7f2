"""Measured traces of an actuator: columns with units, read from CSV or NPZ or given as arrays."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.documents.files import check_file, read_text
from pliant.base.documents.tables import read_npz, split_unit
from pliant.base.errors import LawError, RecordingError, nearest
from pliant.base.numerics import Array
from pliant.laws.actuator import CompliantActuator
from pliant.laws.modes import Mode

QUANTITIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "time": ("s", ("t", "stamp")),
    "link_position": ("rad", ("q", "position", "link")),
    "link_velocity": ("rad/s", ("dq", "velocity")),
    "torque": ("N m", ("tau", "link_torque")),
    "external_torque": ("N m", ("tau_ext", "applied_torque", "load_torque")),
    "deflection": ("rad", ("phi",)),
    "motor_1_position": ("rad", ("theta_1", "theta1", "motor_1")),
    "motor_2_position": ("rad", ("theta_2", "theta2", "motor_2")),
    "equilibrium": ("rad", ("theta_eq", "equilibrium_position")),
    "preset": ("rad", ("theta_sr", "stiffness_preset")),
    "reference_1": ("rad", ("ref_1", "ref1")),
    "reference_2": ("rad", ("ref_2", "ref2")),
}
"""Quantity -> SI unit and alternative column names. ``torque`` is the torque of the actuator on the link;
``external_torque`` is the torque of the environment on the link, which is -``torque`` in slow motion; ``deflection``
is the link position minus the equilibrium position."""

_JOINT_FIELDS = ("torque", "reference_1", "motor_1_position", "external_torque", "equilibrium")
"""Columns beside the position of which a device has one that is a joint."""
_OWN_FIELD = "/reported_stiffness"
"""End of a column that exports of pliant's recordings have, and no other table."""
COMMANDED = ("reference_1", "reference_2")
"""Quantities that are commanded; all others are measured."""

UNITS: dict[str, tuple[str, float]] = {
    "s": ("s", 1.0),
    "ms": ("s", 1e-3),
    "us": ("s", 1e-6),
    "rad": ("rad", 1.0),
    "mrad": ("rad", 1e-3),
    "deg": ("rad", np.pi / 180.0),
    "rad/s": ("rad/s", 1.0),
    "deg/s": ("rad/s", np.pi / 180.0),
    "rpm": ("rad/s", np.pi / 30.0),
    "n m": ("N m", 1.0),
    "nm": ("N m", 1.0),
    "mn m": ("N m", 1e-3),
    "mnm": ("N m", 1e-3),
    "n mm": ("N m", 1e-3),
    "nmm": ("N m", 1e-3),
    "n cm": ("N m", 1e-2),
    "ncm": ("N m", 1e-2),
    "m": ("m", 1.0),
    "mm": ("m", 1e-3),
}
"""Unit of a column -> its SI unit and the factor to convert to it."""


@dataclass(frozen=True, slots=True)
class Measurement(Mapping[str, Array]):
    """Measured columns of one trial with the names of `QUANTITIES`, in SI units, each of shape (n,).

    Example:
        >>> trial = Measurement.of({"q": q, "theta_eq": 0.0, "preset": 0.2, "tau_ext": torque})
    """

    columns: Mapping[str, Array]
    """Name -> values, finite, shape (n,)."""
    source: str = "arrays"
    """Source of the data for messages: a file, or a name given by the caller."""
    unused: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    """Column -> rows in which it is not compared with a simulation, shape (n,); missing for all rows compared."""
    ignored: tuple[str, ...] = ()
    """Columns of the file that are no quantity."""

    @property
    def described(self) -> str:
        """The quantities, and the columns that are none, for messages."""
        unknown = f"; not known: {', '.join(self.ignored[:12])} (--column QUANTITY=COLUMN)" if self.ignored else ""
        return ", ".join(self) + unknown

    @classmethod
    def of(
        cls,
        columns: Mapping[str, ArrayLike],
        units: Mapping[str, str] | None = None,
        source: str = "arrays",
        *,
        ordered: bool = True,
    ) -> Measurement:
        """Return a measurement made from arrays; a scalar is a constant column.

        Args:
            columns: name -> values. Names may have a unit, as in a header: "q", "deflection [deg]".
            units: name -> unit, for columns without a unit in the name; SI is the default.
            source: name of the source in messages.
            ordered: require a time that increases; `find_faults` names why one does not.

        Raises:
            RecordingError: a name or unit is unknown, columns differ in length, a value is not finite, or the time does
                not increase.
        """
        out: dict[str, Array] = {}
        for header, values in columns.items():
            name, factor = _resolve(header, (units or {}).get(header), source)
            try:
                array = np.asarray(values, dtype=float)
            except (TypeError, ValueError):
                raise RecordingError(f"{source}: column {header!r} holds no numbers", field=header) from None
            if array.ndim > 1:
                raise RecordingError(f"{source}: column {header!r} has shape {array.shape}; must be (n,)", field=header)
            bad = np.flatnonzero(~np.isfinite(np.atleast_1d(array)))
            if bad.size:
                value = np.atleast_1d(array)[bad[0]]
                raise RecordingError(
                    f"{source}: column {header!r}, row {bad[0] + 1} is {value}; must be finite", field=header
                )
            if name in out:
                raise RecordingError(f"{source}: two columns are {name!r}, the second is {header!r}", field=header)
            out[name] = factor * array
        sizes = {name: a.size for name, a in out.items() if a.ndim == 1}
        if not sizes:
            raise RecordingError(f"{source}: there are no columns with samples; valid names: {', '.join(QUANTITIES)}")
        n = max(sizes.values())
        for name, size in sizes.items():
            if size != n:
                longest = max(sizes, key=lambda k: sizes[k])
                raise RecordingError(
                    f"{source}: column {name!r} has {size} rows, {longest!r} has {n}; must be the same number",
                    field=name,
                )
        full = {name: np.array(np.broadcast_to(a, (n,))) for name, a in out.items()}
        found = cls(full, source)
        if ordered:
            found.check_order()
        return found

    def check_order(self) -> None:
        """Raise RecordingError if the time does not increase."""
        time = self.columns.get("time")
        if time is None or not np.any(np.diff(time) <= 0.0):
            return
        row = int(np.flatnonzero(np.diff(time) <= 0.0)[0]) + 2
        again = time[row - 1] == time[row - 2]
        raise RecordingError(
            f"{self.source}: the time does not increase at row {row}: {time[row - 1]:g} s after {time[row - 2]:g} s; "
            + (f"leave out row {row}" if again else f"the rows before {row} and those from {row} on are two logs"),
            field="time",
        )

    def rows(self, rows: NDArray[np.int64], unused: Mapping[str, NDArray[np.bool_]] | None = None) -> Measurement:
        """Return some rows of the measurement.

        Args:
            rows: indices, increasing, shape (k,).
            unused: as the field of that name, of all rows; None for that of the measurement.
        """
        whole = self.unused if unused is None else unused
        columns = {name: a[rows] for name, a in self.columns.items()}
        return replace(self, columns=columns, unused={n: m[rows] for n, m in whole.items()})

    def compared(self, column: str) -> NDArray[np.bool_]:
        """Return in which rows a column is compared with a simulation, shape (n,)."""
        mask = self.unused.get(column)
        return np.ones(self.samples, dtype=bool) if mask is None else ~mask

    def without(self, rows: NDArray[np.bool_]) -> Measurement:
        """Return the measurement with rows that are not compared, of any column, beside those that are not yet."""
        return replace(self, unused={n: rows | ~self.compared(n) for n in self.columns})

    def __getitem__(self, name: str) -> Array:
        try:
            return self.columns[name]
        except KeyError:
            raise RecordingError(
                f"{self.source}: there is no column {name!r}; {nearest(name, self.columns)}", field=name
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def samples(self) -> int:
        """Number of rows."""
        return int(next(iter(self.columns.values())).size)

    def without_rest(self, limit: float) -> Measurement:
        """Return the measurement with all rest periods shortened, and later times shifted accordingly.

        A rest is an interval in which every column except the time stays within a band of 1/500 of its range. Without
        a time column the measurement is unchanged.

        Args:
            limit: longest rest that is kept [s].
        """
        if "time" not in self or self.samples < 3 or not 0.0 <= limit < np.inf:
            return self
        time = self["time"]
        values = np.stack([a for name, a in self.columns.items() if name != "time"])
        band = np.ptp(values, axis=1) / 500.0
        keep = np.ones(self.samples, dtype=bool)
        shift = np.zeros(self.samples)
        first = 0
        low = high = values[:, 0]
        for i in range(1, self.samples + 1):
            if i < self.samples:
                below, above = np.minimum(low, values[:, i]), np.maximum(high, values[:, i])
                if np.all(above - below <= band):
                    low, high = below, above
                    continue
            if time[i - 1] - time[first] > limit:
                inside = slice(first, i)
                drop = time[inside] - time[first] > limit
                drop[-1] = False  # the last sample of the rest begins the motion
                keep[inside] = ~drop
                shift[i - 1 :] += time[i - 1] - time[first] - limit
            if i < self.samples:
                first, low, high = i, values[:, i], values[:, i]
        # The last sample of a rest moves to its limit, behind the samples that are kept.
        shifted = replace(self, columns={**self.columns, "time": time - shift})
        kept = np.flatnonzero(keep)
        distinct = np.r_[True, np.diff(shifted["time"][kept]) > 0.0]
        return shifted.rows(kept[distinct])

    def with_references_of_next_steps(self) -> Measurement:
        """Return the measurement with each reference one row earlier, so that it acts from its row on.

        A recording of pliant has, in the sample at the end of a step, the references of the step that has ended. Those
        that change at times of samples, as from a command table of the recording's rate, are then exact.
        """
        moved = {name: np.r_[self[name][1:], self[name][-1:]] for name in COMMANDED if name in self}
        return replace(self, columns={**self.columns, **moved})

    def link_torque(self) -> Array:
        """Return the torque of the actuator on the link [N m]: the measured one, or minus the external torque."""
        if "torque" in self:
            return self["torque"]
        if "external_torque" in self:
            return -self["external_torque"]
        raise RecordingError(
            f"{self.source}: there is no torque; add a column 'torque' (of the actuator on the link) or "
            "'external_torque' (of the world on the link, slow motion)",
            field="torque",
        )

    def spring_angles(self, second_input: str = "angle") -> tuple[Array, Array, Array]:
        """Return the positions of link, motor 1 and motor 2, from motor positions or from equilibrium and preset.

        If only a ``deflection`` is given, the equilibrium is 0.

        Args:
            second_input: second input of the law: "angle" (two motors, agonist and antagonist) [rad], "lever" (the
                preset is the position of the lever) [m], "pressure" (gauge pressures of muscles) [Pa], or "none" (one
                motor).

        Returns:
            Three arrays of shape (n,) [rad]; the third one is in m for a lever.

        Raises:
            RecordingError: columns are missing; the message lists sufficient ones.
        """
        if "link_position" in self:
            q = self["link_position"]
        elif "deflection" in self:
            q = self["deflection"] + self.columns.get("equilibrium", 0.0)
        else:
            raise RecordingError(
                f"{self.source}: there is no column 'link_position' or 'deflection'; found: {self.described}",
                field="link_position",
            )
        zero = np.zeros_like(q)
        one = second_input == "none"
        if "motor_1_position" in self and (one or "motor_2_position" in self):
            return q, self["motor_1_position"], zero if one else self["motor_2_position"]
        if second_input != "pressure" and ("equilibrium" in self or "deflection" in self):
            eq = self.columns.get("equilibrium", zero)
            if one:
                return q, eq, zero
            if "preset" in self and second_input == "lever":
                return q, eq, self["preset"]
            if "preset" in self:
                return q, eq + self["preset"], eq - self["preset"]
        if one:
            wanted = "'motor_1_position' or 'equilibrium'"
        elif second_input == "pressure":
            wanted = "'motor_1_position' and 'motor_2_position', the gauge pressures [Pa]"
        else:
            wanted = "'motor_1_position' and 'motor_2_position', or 'equilibrium' and 'preset'"
        raise RecordingError(
            f"{self.source}: the motors' positions are missing; must be {wanted}, or name by --law a law without them; "
            f"found: {self.described}",
            field="motor_1_position",
        )


def read_measurement(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    *,
    device: str | None = None,
    ordered: bool = True,
) -> Measurement:
    """Read a CSV or NPZ file of measured columns.

    CSV: a header line, then numbers, separated by ",", ";" or tab; lines that begin with "#" are comments. A header
    may include a unit: ``q [deg]``. Rows in which a used column is empty are skipped, so exported recordings can be
    read; their references are those of `Measurement.with_references_of_next_steps`. An export has the column
    ``<device>/reported_stiffness``. Columns with other names are ignored unless ``columns`` names them.

    Args:
        path: file with the suffix .csv, .txt, .tsv or .npz.
        columns: quantity (see `QUANTITIES`) -> name of the column in the file; other quantities are found by their
            known names.
        units: unit by the name of the column in the file, or by quantity.
        device: device whose columns ``<device>/<name>`` of an exported recording are read; None for its only joint.
        ordered: as for `Measurement.of`.

    Raises:
        RecordingError: the file cannot be read or has an invalid value. The message names file, line and column.
    """
    path = Path(path)
    check_file(path, RecordingError, max_bytes=None)
    suffix = path.suffix.lower()
    try:
        if suffix == ".npz":
            raw, lines = _read_npz(path), None
        elif suffix in (".csv", ".txt", ".tsv"):
            raw, lines = _read_csv(path)
        else:
            raise RecordingError(f"the file ends in {suffix!r}; must be .csv, .txt, .tsv or .npz", file=path)
    except OSError as error:
        raise RecordingError(f"the file cannot be read: {error.strerror or error}", file=path) from None
    chosen, used_units = _chosen(raw, columns, units, device, path)
    exported = any(name.endswith(_OWN_FIELD) for name in raw)
    if lines is not None:
        # Every used column: numbers or empty; rows with an empty cell are left out.
        for name, cells in chosen.items():
            chosen[name] = _numbers(path, name, cells, lines)
        keep = np.all([np.isfinite(a) for a in chosen.values()], axis=0)
        if not keep.any():
            raise RecordingError("no row has a number in every used column", file=path)
        chosen = {name: a[keep] for name, a in chosen.items()}
    found = Measurement.of(chosen, used_units, source=str(path), ordered=ordered)
    found = replace(found, ignored=_ignored(raw))
    return found.with_references_of_next_steps() if exported else found


def measurement_of(
    raw: Mapping[str, ArrayLike],
    source: str,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    *,
    ordered: bool = True,
) -> Measurement:
    """Return a measurement made from columns with the names of a file: those of `QUANTITIES` or their alternatives.

    Args:
        raw: column -> values, shape (n,); columns with other names are ignored unless ``columns`` names them.
        source: name of the file in messages.
        columns: quantity (see `QUANTITIES`) -> name of the column; other quantities are found by their known names.
        units: unit by the name of the column, or by quantity; SI is the default.
        ordered: as for `Measurement.of`.

    Raises:
        RecordingError: no column is known, two columns are the same quantity, or a column has an invalid unit or value.
    """
    chosen, used_units = _chosen(raw, columns, units, None, Path(source))
    return replace(Measurement.of(chosen, used_units, source=source, ordered=ordered), ignored=_ignored(raw))


def _ignored(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the headers that are no quantity; those of a recording's devices, ``<device>/<name>``, are left out."""
    return tuple(header for header in raw if "/" not in header and _quantity(split_unit(header)[0]) is None)


def _chosen(
    raw: Mapping[str, Any],
    columns: Mapping[str, str] | None,
    units: Mapping[str, str] | None,
    device: str | None,
    path: Path,
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the columns that are quantities, by their names, and the units that are said."""
    chosen: dict[str, Any] = {}
    used_units: dict[str, str] = {}
    taken: dict[str, str] = {}  # quantity -> its column
    units = units or {}
    for name, header in (columns or {}).items():
        if header not in raw:
            raise RecordingError(f"there is no column {header!r}; {nearest(header, raw)}", file=path, field=header)
        quantity, _ = _resolve(name, None, str(path))
        chosen[quantity], taken[quantity] = raw[header], header
        unit = units.get(header) or units.get(quantity) or units.get(name) or split_unit(header)[1]
        if unit:
            used_units[quantity] = unit
    named = set(taken)
    only = device if device is not None else _only_device(raw, path, several=bool(columns))
    by_alias: set[str] = set()
    for header, values in raw.items():
        short = header
        if only is not None and header.startswith(f"{only}/"):
            short = header[len(only) + 1 :]
        name, written_unit = split_unit(short)
        key = _key(name)
        quantity = _quantity(key)
        if quantity is None or quantity in named or header in taken.values() or _is_empty(values):
            continue
        exact = key == quantity
        if quantity in taken and not (exact and quantity in by_alias):
            if exact or quantity in by_alias:
                raise RecordingError(
                    f"two columns are {quantity!r}, {taken[quantity]!r} and {header!r}; "
                    f"--column {quantity}=COLUMN chooses one",
                    file=path,
                    field=header,
                )
            continue  # the name of the quantity itself stands before its other names, as time before stamp
        chosen[quantity], taken[quantity] = values, header
        (by_alias.discard if exact else by_alias.add)(quantity)
        used_units.pop(quantity, None)
        unit = units.get(header) or units.get(key) or units.get(quantity) or written_unit
        if unit:
            used_units[quantity] = unit
    if not chosen.keys() - {"time"}:
        what = "no column is known beside the time" if chosen else "no column is known"
        found = ", ".join(list(raw)[:12])
        raise RecordingError(f"{what}; found: {found}; valid names: {', '.join(QUANTITIES)}", file=path)
    return chosen, used_units


def _only_device(raw: Mapping[str, Any], path: Path, *, several: bool) -> str | None:
    """Return the device of columns ``<device>/<name>`` that has a joint's position and another quantity of a joint;
    None without devices.

    Args:
        raw: the columns.
        path: the file, for messages.
        several: return None where there are several.

    Raises:
        RecordingError: there are several.
    """
    found = [name.removesuffix("/position") for name in raw if name.endswith("/position")]
    found = [device for device in found if any(f"{device}/{name}" in raw for name in _JOINT_FIELDS)]
    if len(found) > 1:
        if several:
            return None
        raise RecordingError(
            f"the file has several joints; {nearest('', found)} (--device NAME)", file=path, field="device"
        )
    return found[0] if found else None


def _is_empty(values: Any) -> bool:
    """Return whether a column has no value, as that of a motor which the joint does not have."""
    if isinstance(values, list) and all(isinstance(v, str) for v in values):
        return all(v.strip().lower() in ("", "nan") for v in values)
    array = np.asarray(values)
    return array.dtype.kind == "f" and array.size > 0 and bool(np.isnan(array).all())


def _key(name: str) -> str:
    """Return a name as those of `QUANTITIES` are written: "Motor 1 position" is motor_1_position."""
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _quantity(key: str) -> str | None:
    key = _key(key)
    if key in QUANTITIES:
        return key
    for name, (_, aliases) in QUANTITIES.items():
        if key in aliases:
            return name
    return None


def _resolve(header: str, unit: str | None, source: str) -> tuple[str, float]:
    """Return (quantity, factor to SI) of a header."""
    key, found_unit = split_unit(str(header))
    name = _quantity(key)
    if name is None:
        known = [*QUANTITIES, *(alias for _, aliases in QUANTITIES.values() for alias in aliases)]
        raise RecordingError(f"{source}: the column {header!r} is not known; {nearest(key, known)}", field=str(header))
    text = unit if unit is not None else found_unit
    wanted = QUANTITIES[name][0]
    if not text:
        return name, 1.0
    found = _unit(text)
    kinds = (wanted, "m") if name in ("preset", "motor_2_position", "reference_2") else (wanted,)
    if found is None or found[0] not in kinds:
        known = ", ".join(u for u, (kind, _) in UNITS.items() if kind in kinds)
        raise RecordingError(
            f"{source}: column {header!r} has the unit {text!r}; must be one of {known}", field=str(header)
        )
    return name, found[1]


def _unit(text: str) -> tuple[str, float] | None:
    """Return what a unit measures and its factor to SI, None if it is not known; N mm, N*mm and N.mm are the same."""
    if text.strip().startswith("M"):
        return None  # a million, not a thousandth
    return UNITS.get(" ".join(re.sub("[*.·⋅]", " ", text.lower()).split()))


def _read_npz(path: Path) -> dict[str, Any]:
    arrays = read_npz(path, RecordingError)
    return {name: array for name, array in arrays.items() if array.dtype.kind in "fiu" and array.ndim <= 1}


def _read_csv(path: Path) -> tuple[dict[str, list[str]], list[int]]:
    text = read_text(path, RecordingError, allow_empty=True)
    rows = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if len(rows) < 2:
        raise RecordingError("the file has no header and data; must be a header line, then numbers", file=path)
    first = rows[0][1]
    separator = max(",;\t", key=first.count) if any(c in first for c in ",;\t") else ","
    table: list[list[str]] = []
    for number, line in rows:
        control = next((c for c in line if c < " " and c != "\t"), None)
        if control is not None:
            raise RecordingError(f"the line has the control character {control!r}", file=path, line=number)
        try:
            cells = next(csv.reader([line], delimiter=separator, strict=True))
        except csv.Error as error:
            raise RecordingError(f"the line is not valid CSV: {error}", file=path, line=number) from None
        table.append(cells)
    header = [cell.strip() for cell in table[0]]
    repeated = {name for name in header if header.count(name) > 1}
    if repeated:
        raise RecordingError(f"two columns are named {sorted(repeated)[0]!r}", file=path, line=rows[0][0])
    lines = [i for i, _ in rows[1:]]
    for line, row in zip(lines, table[1:], strict=True):
        if len(row) != len(header):
            raise RecordingError(
                f"the line has {len(row)} cells, the header {len(header)}; was it cut off?", file=path, line=line
            )
    return {name: [row[j] for row in table[1:]] for j, name in enumerate(header)}, lines


def _numbers(path: Path, name: str, cells: list[str], lines: list[int]) -> Array:
    out = np.empty(len(cells))
    for i, cell in enumerate(cells):
        text = cell.strip()
        if not text:
            out[i] = np.nan
            continue
        try:
            value = float(text)
        except ValueError:
            point = ", with a point and no comma" if re.fullmatch(r"[-+]?\d+,\d+", text) else ""
            raise RecordingError(
                f"column {name!r} is {text!r}; must be a number{point}", file=path, line=lines[i], field=name
            ) from None
        if not np.isfinite(value):
            raise RecordingError(
                f"column {name!r} is {text}; must be a finite number", file=path, line=lines[i], field=name
            )
        out[i] = value
    return out


Trials = Mapping[str, ArrayLike] | Sequence[Mapping[str, ArrayLike]] | Iterator[Mapping[str, ArrayLike]]
"""One or several measurements, each a `Measurement` or a mapping from names to columns."""


def as_measurements(data: Trials) -> list[Measurement]:
    """Return one or several measurements as a list.

    Raises:
        LawError: there is no measurement.
        RecordingError: columns are missing or differ in length.
    """
    if isinstance(data, Measurement):
        data.check_order()
        return [data]
    if isinstance(data, Mapping):
        return [Measurement.of(data)]
    out: list[Measurement] = []
    for i, item in enumerate(data):
        out.append(item if isinstance(item, Measurement) else Measurement.of(item, source=f"trial {i + 1}"))
    if not out:
        raise LawError("there is no measurement to fit to", field="data")
    for one in out:
        one.check_order()
    return out


def motor_references(columns: Mapping[str, Array], actuator: CompliantActuator | None) -> dict[int, Array]:
    """Return motor -> its reference, shape (n,), as far as a log and an actuator's mode tell it.

    In mode 6, and where a log has equilibrium and preset alone, the law maps these to the motors.
    """
    named = "reference_1" in columns
    names = ("reference_1", "reference_2") if named else ("equilibrium", "preset")
    if actuator is None or (actuator.mode != Mode.PID_EQ_PRESET and (named or not actuator.mode.has_motors)):
        return {j: columns[f"reference_{j}"] for j in (1, 2) if f"reference_{j}" in columns}
    if actuator.law.second_input == "pressure" or names[0] not in columns:
        return {}
    first = columns[names[0]]
    second = columns[names[1]] if names[1] in columns else np.zeros_like(first)
    both = [actuator.law.map_references(float(a), float(b)) for a, b in zip(first, second, strict=True)]
    return {j + 1: np.array(both)[:, j] for j in range(actuator.law.motors)}
