"""The measured columns of a run: one object that statements, tables, figures and files read.

A loop of its own fills a `Recorder`, which gives the `Trace`; `pliant.experiments.runs.drive` returns one:

    recorder = Recorder(time="s", q=("rad", 7))
    for k in range(1000):
        recorder.add(time=1e-3 * k, q=robot.get_position())
    run = recorder.trace()
    run.q[:, 0].max(), run[run.time > 0.5], run.line("q", 0, color="soft")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import PliantError, nearest

if TYPE_CHECKING:
    from pliant.experiments.panels import Line

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Column:
    """Declaration of a column."""

    name: str
    """Name, such as "time" or "joint/position"."""
    unit: str = ""
    """Unit of its values; empty for none."""
    shape: tuple[int, ...] = ()
    """Shape of one row; () for a number."""

    @property
    def key(self) -> str:
        """Name with unit for files, such as "joint_position_rad"."""
        unit = self.unit.replace("/", "_").replace(" ", "").replace("^", "")
        return "_".join(filter(None, (self.name.replace("/", "_"), unit)))


class Trace(Mapping[str, Array]):
    """Columns of equally many rows, by name; a column whose name is an identifier is also an attribute.

    Args:
        columns: name -> values, shape (n, ...).
        units: name -> unit; a column that is not named has none.

    Raises:
        PliantError: the columns have different numbers of rows.
    """

    def __init__(self, columns: Mapping[str, ArrayLike], units: Mapping[str, str] | None = None) -> None:
        self._values = {name: np.asarray(values) for name, values in columns.items()}
        units = units or {}
        self.columns = {
            name: Column(name, units.get(name, ""), values.shape[1:]) for name, values in self._values.items()
        }
        rows = {name: len(values) for name, values in self._values.items()}
        if len(set(rows.values())) > 1:
            raise PliantError(f"the columns of a trace have different numbers of rows: {rows}", field="columns")
        self.rows = next(iter(rows.values()), 0)
        """Number of rows."""

    def __getitem__(self, key: Any) -> Any:
        """Return a column by name, or the trace of some rows by a slice, a mask or an array of indices."""
        if not isinstance(key, str):
            return Trace(
                {name: values[key] for name, values in self._values.items()},
                {name: column.unit for name, column in self.columns.items()},
            )
        try:
            return self._values[key]
        except KeyError:
            raise PliantError(f"the trace has no column {key!r}; {nearest(key, self._values)}", field=key) from None

    def __getattr__(self, name: str) -> Array:
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(f"the trace has no column {name!r}; {nearest(name, values)}")
        return values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of columns; `rows` is that of the rows."""
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def extended(self, units: Mapping[str, str] | None = None, **columns: ArrayLike) -> Trace:
        """Return the trace with further columns, and the units of those that have one."""
        known = {name: column.unit for name, column in self.columns.items()}
        return Trace({**self._values, **columns}, {**known, **(units or {})})

    def line(
        self, name: str, part: int | slice | None = None, *, scale: float = 1.0, over: str = "time", **style: Any
    ) -> Line:
        """Return a column as the line of a figure.

        Args:
            name: the column.
            part: index of the component of a column of vectors; None for a column of numbers.
            scale: factor on the values, such as 1e3 from metres to millimetres.
            over: column of the horizontal axis.
            style: further arguments of `pliant.experiments.panels.Line`.
        """
        from pliant.experiments.panels import Line

        values = self[name] if part is None else self[name][:, part]
        return Line(self[over], values if scale == 1.0 else scale * values, **style)

    def arrays(self, *names: str, prefix: str = "") -> dict[str, Array]:
        """Return columns for ``Result.traces``, with units in their names; all columns if none is named."""
        return {f"{prefix}{self.columns[name].key}": self[name] for name in names or self._values}


class Recorder:
    """Rows of a run, taken one after the other.

    Args:
        columns: name -> unit, or (unit, size) for vectors, or (unit, shape) for arrays.
    """

    def __init__(self, **columns: str | tuple[str, int | tuple[int, ...]]) -> None:
        self.columns: dict[str, Column] = {}
        for name, given in columns.items():
            unit, shape = (given, ()) if isinstance(given, str) else given
            self.columns[name] = Column(name, unit, (shape,) if isinstance(shape, int) else shape)
        self._rows: dict[str, list[ArrayLike]] = {name: [] for name in columns}

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self._rows.values())))

    def add(self, *values: ArrayLike, **named: ArrayLike) -> None:
        """Take a row: a value of each column, in the order of their declaration or by name; arrays are copied."""
        for name, value in {**dict(zip(self._rows, values, strict=not named)), **named}.items():
            self._rows[name].append(np.array(value, dtype=float) if isinstance(value, np.ndarray) else value)

    def take(self, sources: Mapping[str, Callable[[], ArrayLike]]) -> None:
        """Take a row from functions, by the name of the column."""
        self.add(**{name: source() for name, source in sources.items()})

    def trace(self) -> Trace:
        """Return what was taken; without rows, columns of the declared shapes."""
        values = {
            name: np.array(rows, dtype=float).reshape(len(rows), *self.columns[name].shape)
            for name, rows in self._rows.items()
        }
        return Trace(values, {name: column.unit for name, column in self.columns.items()})


class Traced:
    """Mixin of a run with a field ``trace``: its columns are attributes of the run."""

    __slots__ = ()
    trace: Trace

    def __getattr__(self, name: str) -> Array:
        if name.startswith("__") or name == "trace":
            raise AttributeError(name)
        return getattr(self.trace, name)
