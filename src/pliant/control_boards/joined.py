"""Axes of one or several control boards as one part, in an order of their own.

A whole-body controller asks one group of ports for all axes of a robot, and a part that is called an arm may be two
boards, that of the arm and that of the hand. A joined board is an index of axes: it finds the boards of the axes that a
client asks for, and lets a function read or write each of them. It is no device: it has no firmware and no samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pliant.base.errors import DeviceError
from pliant.control_boards.device import ControlBoardDevice
from pliant.control_boards.state import Array, Axes, chosen_axes, finite_values

Column: TypeAlias = Sequence[Any] | Array
"""One value per axis: numbers, truths, texts, vocabularies or gains; the quantity says which."""
Columns = Sequence[Column]
"""One sequence per field, of one value per axis."""
Reader = Callable[[ControlBoardDevice, Axes], Columns]
"""Takes a board and axes, and returns the columns of their values."""
Writer = Callable[..., None]
"""Takes a board, axes, and the columns of their values."""


class JoinedBoard:
    """Axes of one or several control boards in front of clients; all methods belong to the loop's thread.

    Axes are numbered from 0 in the order given. Numbers that are not finite, and lists of another length, are refused
    before a board is called. Otherwise every board is called, and the first refusal is raised at the end: a part with
    one fake board moves its other axes, and its client is told that not all of them did.

    Args:
        name: of the part, for messages.
        axes: board and index on it of each axis.

    Raises:
        DeviceError: there is no axis, an axis is named twice, or a board has no axis of that number.
    """

    def __init__(self, name: str, axes: Sequence[tuple[ControlBoardDevice, int]]) -> None:
        if not axes:
            raise DeviceError(f"{name} has no axes; must be at least one", field="axes")
        for board, i in axes:
            if not 0 <= i < len(board.axes):
                raise DeviceError(f"{name}: the axis {i} of {board.name!r}; must be 0 to {len(board.axes) - 1}")
        if len({(id(board), i) for board, i in axes}) != len(axes):
            raise DeviceError(f"{name} shows an axis twice; its axes must be different", field="axes")
        self.name = name
        self.axes: tuple[str, ...] = tuple([board.axes[i] for board, i in axes])
        """Names of the axes."""
        self.slides = [board.slides[i] for board, i in axes]
        """Whether each axis is prismatic."""
        self._axes = list(axes)
        first = axes[0][0]
        every = [(first, i) for i in range(len(first.axes))]
        self._whole = first if self._axes == every else None
        """The board that is shown as it is; None for a choice of axes."""

    @property
    def time(self) -> float:
        """Time of the measurements [s]."""
        return self._axes[0][0].time

    def split(self, axes: Axes) -> list[tuple[ControlBoardDevice, list[int], list[int]]]:
        """Return the boards of axes, with their own axes and the places of these in what was asked for.

        Raises:
            DeviceError: the part has no such axis, or one is named twice.
        """
        found: dict[int, tuple[ControlBoardDevice, list[int], list[int]]] = {}
        for place, a in enumerate(chosen_axes(self.name, len(self.axes), axes)):
            board, i = self._axes[a]
            _, own, places = found.setdefault(id(board), (board, [], []))
            own.append(i)
            places.append(place)
        return list(found.values())

    def gather(self, axes: Axes, read: Reader) -> Columns:
        """Return the values that a reader finds for axes, one column per field, in the order asked for."""
        if self._whole is not None:
            return read(self._whole, axes)
        parts = self.split(axes)
        count = sum([len(own) for _, own, _ in parts])
        columns: list[list[object]] = []
        for board, own, places in parts:
            for k, column in enumerate(read(board, own)):
                if k == len(columns):
                    columns.append([None] * count)
                for place, value in zip(places, column):
                    columns[k][place] = value
        return columns

    def give(self, axes: Axes, columns: Columns, what: str, write: Writer) -> None:
        """Let a writer take columns of values for axes: each board is called, then the first refusal is raised.

        Raises:
            DeviceError: an axis or a value is refused; `what` names the values in the message.
        """
        if self._whole is not None:
            write(self._whole, axes, *columns)
            return
        parts = self.split(axes)
        count = sum([len(own) for _, own, _ in parts])
        for column in columns:
            if len(column) != count:
                raise DeviceError(f"{self.name}: {len(column)} values of {what} for {count} axes", field=what)
            if len(parts) > 1 and all(isinstance(value, float) for value in column):
                finite_values(self.name, column, count, what)
        refused: list[DeviceError] = []
        for board, own, places in parts:
            try:
                write(board, own, *[[column[k] for k in places] for column in columns])
            except DeviceError as fault:
                refused.append(fault)
        if refused:
            raise refused[0]
