"""Result of a sweep, in memory and in a folder."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pliant.base.documents.json_text import read_json
from pliant.base.documents.tables import exact_texts
from pliant.base.errors import PliantError, nearest, require
from pliant.sweep.plan import SweepPlan
from pliant.tasks.journal import FolderLock, GrowingFile

if TYPE_CHECKING:
    from pliant.model.robot import Robot

Row = list[Any]
"""Index of a simulation, its parameters, its metrics, whether it diverged, and what happened in it."""


@dataclass(frozen=True, slots=True)
class SweepResult:
    """Result table of a sweep."""

    columns: tuple[str, ...]
    """Column names: ``index``, the varied paths, ``<joint>/<metric>``, ``diverged``, ``happened``."""
    rows: list[Row]
    """One row per simulation, in the order of the index."""
    wall: float
    """Wall time of this call [s]."""
    done_before: int
    """Number of simulations that an earlier call had completed."""
    interrupted: bool = False
    """Whether Ctrl-C ended the sweep before all simulations were complete."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Units of the columns with results."""

    def column(self, name: str) -> np.ndarray:
        """Return one column as an array.

        Raises:
            PliantError: there is no column of that name.
        """
        if name not in self.columns:
            raise PliantError(f"no column {name!r}; {nearest(name, self.columns)}", field=name)
        i = self.columns.index(name)
        return np.array([row[i] for row in self.rows])


TABLES = (".csv", ".parquet")
"""Suffixes of a result that is one file."""
_OTHER_TABLES = (".arrow", ".feather", ".h5", ".hdf5", ".json", ".npz", ".tsv", ".txt", ".xls", ".xlsx")


def is_table(path: str | Path) -> bool:
    """Return whether a result goes to this file rather than to a folder of this name."""
    return Path(path).suffix.lower() in TABLES


def check_table(path: str | Path) -> None:
    """Refuse a file that a result cannot be written to.

    Raises:
        PliantError: a file of a type that is not written, in a folder that does not exist, or a folder.
        MissingDependency: the package of this type of file is not installed.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix in _OTHER_TABLES:
        raise PliantError(
            f"a sweep cannot be written as {suffix}; must end in {' or '.join(TABLES)}, or be a folder", file=path
        )
    if not is_table(path):
        return
    if path.is_dir():
        raise PliantError("this is a folder; name a file, or a folder without this suffix", file=path)
    if not path.parent.is_dir():
        raise PliantError(f"there is no folder {str(path.parent)!r}", file=path)
    if suffix == ".parquet":
        require("pyarrow", extra="parquet", purpose="writing a Parquet file")


class ResultFolder:
    """The folder of a sweep: the plan, and a table that only grows. One sweep at a time holds it.

    Args:
        folder: created if it does not exist.
        plan: the sweep; a folder with the result of another one is refused.
        columns: of the table.
        robot: the robot of the first point; a folder with the result of another one is refused.

    Raises:
        PliantError: the folder cannot be written, or contains another sweep, or is in use.
    """

    def __init__(self, folder: str | Path, plan: SweepPlan, columns: Sequence[str], robot: Robot | None = None) -> None:
        self._folder = Path(folder)
        self._columns = list(columns)
        self._table = GrowingFile(self._folder / "results.csv", kind="table", content="simulations")
        self._lock: FolderLock | None = None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(self._folder, "sweep")
            self._keep(plan, plan.digest(robot))
            self.rows = self._read()
            """Rows of the table by index."""
            self._table.count = len(self.rows)
        except OSError as error:
            self.__exit__()
            raise PliantError(f"the output folder cannot be written: {error.strerror}", file=self._folder) from None
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.release()

    def _keep(self, plan: SweepPlan, digest: str) -> None:
        settings = self._folder / "plan.json"
        if not settings.exists():
            settings.write_text(json.dumps({"digest": digest, "plan": plan.as_dict()}, indent=2, default=str))
        elif _digest_of(settings) != digest:
            raise PliantError(
                "the folder holds the result of another sweep (or the robot, its files or the code of pliant have "
                "changed since); name another folder, or delete it",
                file=settings,
            )

    def _read(self) -> dict[int, list[object]]:
        path = self._table.path
        text = self._table.read()
        if not text:
            with path.open("w", newline="") as file:
                csv.writer(file).writerow(self._columns)
            return {}
        try:
            header, *lines = csv.reader(text.splitlines())
        except csv.Error as error:
            raise PliantError(f"the table cannot be read: {error}; name another folder", file=path) from None
        if header != self._columns:
            raise PliantError("the header is not that of this sweep; name another folder", file=path, line=1)
        rows: dict[int, Row] = {}
        for line, cells in enumerate(lines, start=2):
            if len(cells) != len(self._columns):
                raise PliantError(f"{len(cells)} cells, the header has {len(self._columns)}", file=path, line=line)
            if not (cells[0].isdecimal() and len(cells[0]) < 10):
                raise PliantError(f"the index is {cells[0]!r}; must be a whole number", file=path, line=line)
            rows[int(cells[0])] = [int(cells[0]), *(_cell(c) for c in cells[1:])]
        return rows

    def append(self, rows: Sequence[Sequence[Any]]) -> None:
        """Add finished rows and push them to the disk.

        Raises:
            PliantError: the table cannot be written; the message says how many simulations it holds.
        """
        text = io.StringIO(newline="")
        csv.writer(text).writerows(exact_texts(row) for row in rows)
        self._table.append(text.getvalue(), len(rows))


def _digest_of(settings: Path) -> str | None:
    try:
        found = read_json(settings)
    except PliantError:
        found = None
    if not isinstance(found, dict):
        raise PliantError("this is not the plan of a sweep; name another folder, or delete the file", file=settings)
    return found.get("digest")


def _cell(text: str) -> object:
    if text in ("True", "False"):
        return text == "True"
    try:
        return float(text)
    except ValueError:
        return text
