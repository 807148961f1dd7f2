"""Tables in files: NPZ archives as arrays, checked before any of them is expanded; CSV and Parquet that are written."""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pliant.base.documents.files import open_file
from pliant.base.errors import ModelError, PliantError
from pliant.base.replacing import replacing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_EXPANDED = 256 * 2**20
"""Largest size of all arrays of an archive together [bytes]."""
MAX_ITEMS = 2**26
"""Largest number of items of an array."""
MAX_ARRAYS = 10_000
"""Largest number of arrays in an archive."""
MAX_HEADER = 10_000
"""Largest header of an array, as NumPy's [bytes]."""
_KINDS = "biufcUS"
"""Kinds of arrays that are read: truth values, integers, floats, complex numbers and texts."""


def read_npz(
    path: str | Path, error: type[PliantError] = ModelError, *, max_expanded: int = MAX_EXPANDED
) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of an NPZ archive by name.

    Sizes and types are read from the headers first, so that neither a small file that expands to gigabytes nor a header
    that claims 10^12 items costs memory. Pickled objects are not read.

    Args:
        path: the archive.
        error: the exception to raise.
        max_expanded: largest size of all arrays together [bytes].

    Raises:
        PliantError: of the class ``error``: it is not an NPZ archive, one of its arrays is no array of numbers or
            texts, or the arrays are too large.
    """
    path = Path(path)
    with open_file(path, error, max_bytes=max_expanded) as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                return _arrays(archive, path, error, max_expanded)
        except PliantError:
            raise
        # The archive is untrusted: zipfile, zlib and NumPy's parser of headers raise a dozen kinds of exceptions.
        except Exception as fault:
            reason = " ".join(str(fault).split()) or type(fault).__name__
            raise error(f"the file is not an NPZ archive: {reason}", file=path) from fault


def _arrays(
    archive: zipfile.ZipFile, path: Path, error: type[PliantError], max_expanded: int
) -> dict[str, NDArray[np.generic]]:
    import numpy as np

    entries = archive.infolist()
    if len(entries) > MAX_ARRAYS:
        raise error(f"the archive has {len(entries)} arrays; must be at most {MAX_ARRAYS}", file=path)
    size = sum(entry.file_size for entry in entries)
    if size > max_expanded + MAX_HEADER * len(entries):
        raise error(f"the archive expands to {size} bytes; must be at most {max_expanded}", file=path)
    names: dict[str, zipfile.ZipInfo] = {}
    total = 0
    for entry in entries:
        name = entry.filename.removesuffix(".npy")
        if name in names:
            raise error(f"array {name!r} occurs twice in the archive", file=path, field=name)
        with archive.open(entry) as member:
            shape, dtype = _header(member, name, path, error)
        items = math.prod(shape)
        total += max(items * dtype.itemsize, items)
        if items > MAX_ITEMS or total > max_expanded:
            raise error(
                f"array {name!r} has {items} items of {dtype.itemsize} bytes; an array must have at most {MAX_ITEMS} "
                f"items, and an archive {max_expanded} bytes",
                file=path,
                field=name,
            )
        names[name] = entry
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, entry in names.items():
        with archive.open(entry) as member:
            arrays[name] = np.lib.format.read_array(member, allow_pickle=False)
    return arrays


def _header(
    member: IO[bytes], name: str, path: Path, error: type[PliantError]
) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    """Return shape and type of an array from its header."""
    from numpy.lib import format as npy

    try:
        version = npy.read_magic(member)
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
        if read is None:
            raise ValueError(f"version {version[0]}.{version[1]} of the format is not read")
        shape, _, dtype = read(member)
    except (ValueError, EOFError) as fault:
        raise error(f"{name!r} is not an array: {' '.join(str(fault).split())}", file=path, field=name) from None
    if dtype.kind not in _KINDS:
        raise error(f"array {name!r} has the type {dtype}; must be numbers or texts", file=path, field=name)
    if any(isinstance(n, bool) or n < 0 for n in shape):
        raise error(f"array {name!r} has the shape {shape}", file=path, field=name)
    return shape, dtype


_HEADING = re.compile(r"([^\[(]*)(?:[\[(]([^\])]*)[\])])?")


def split_unit(heading: str) -> tuple[str, str | None]:
    """Return the name and the unit of a heading, ``name [unit]`` or ``name (unit)``; None where it has no unit."""
    text = heading.strip()
    found = _HEADING.fullmatch(text)
    name, unit = found.groups() if found else (text, None)
    return name.strip(), None if unit is None else unit.strip()


def write_table(path: str | Path, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a table to a CSV or Parquet file, by its suffix; an existing file is replaced when the new one is whole.

    Raises:
        PliantError: the file cannot be written.
    """
    path = Path(path)
    try:
        with replacing(path) as file:
            if path.suffix.lower() == ".csv":
                text = io.StringIO(newline="")
                csv.writer(text).writerows([columns, *(exact_texts(row) for row in rows)])
                file.write_text(text.getvalue(), encoding="utf-8", newline="")
            else:
                _write_parquet(file, columns, rows)
    except OSError as error:
        raise PliantError(f"the table cannot be written: {error.strerror or error}", file=path) from None


def _write_parquet(path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    import pyarrow
    import pyarrow.parquet

    cells = zip(*rows, strict=True) if rows else [() for _ in columns]
    arrays = []
    for column in cells:
        mixed = len({type(cell) for cell in column}) > 1 and any(isinstance(cell, str) for cell in column)
        arrays.append(pyarrow.array([str(cell) for cell in column] if mixed else list(column)))
    pyarrow.parquet.write_table(pyarrow.table(arrays, names=list(columns)), path)


def exact_texts(row: Sequence[object]) -> list[object]:
    """Return the cells of a row with numbers as texts that read as the same number again."""
    return [repr(cell) if isinstance(cell, float) else cell for cell in row]
