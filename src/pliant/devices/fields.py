"""Field tables: shape, unit and limits of every quantity that a device measures or takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.base.options import check_unit, place_of

Values = Mapping[str, "float | np.ndarray"]
"""Field -> number, or read-only array."""
DTYPES = ("float64", "float32", "int32", "uint8")


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """Shape, unit and range of a field of a sample or a command."""

    shape: tuple[int, ...] = ()
    """Shape: () for a number, (n,) for an array of length n, (height, width) or (height, width, 3) for an image."""
    unit: str = ""
    """Unit of every element, one of `pliant.base.options.UNITS`, such as "rad"; "" for none, "m, rad" for a pose."""
    description: str = ""
    """One sentence: the quantity and its sign convention."""
    low: float = -math.inf
    """Lower limit of a command, inclusive; not used for samples."""
    high: float = math.inf
    """Upper limit of a command, inclusive; not used for samples."""
    dtype: str = "float64"
    """Type of the elements: "float64", or "uint8" and "float32" for camera images."""

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


def check_fields(
    device: object, device_name: str, samples: Mapping[str, FieldInfo], commands: Mapping[str, Mapping[str, FieldInfo]]
) -> None:
    """Refuse a field table that is wrong, or commands that declare one field with two units."""
    where = f"{place_of(type(device))}: {device_name}"
    known: dict[str, tuple[FieldInfo, str]] = {}
    tables = {"samples": samples, **{f"commands of mode {mode!r}": fields for mode, fields in commands.items()}}
    for table, fields in tables.items():
        for name, info in fields.items():
            what = f"{where}: field {name!r} of its {table}"
            check_unit(info.unit, f"{where}: the unit of the field {name!r}", DeviceError)
            if info.dtype not in DTYPES:
                raise DeviceError(f"{what} has the type {info.dtype!r}; {nearest(info.dtype, DTYPES)}", field=name)
            if not info.low <= info.high:
                raise DeviceError(
                    f"{what} has the limits {info.low:g} to {info.high:g}; must be low <= high", field=name
                )
            if table == "samples":
                continue  # a reference is sampled in the unit of the mode that is in force
            other, place = known.setdefault(name, (info, table))
            if other.unit != info.unit and other.unit and info.unit:
                raise DeviceError(
                    f"{what} has the unit {info.unit!r}, and the field of its {place} has {other.unit!r}; one name "
                    "must have one unit",
                    field=name,
                )
