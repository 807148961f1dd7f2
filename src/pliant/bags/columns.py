"""Commands out of bags: what was sent to a robot, as columns over time.

Topics become columns by the toolbox's names: ``/<ns>/<joint>/<command>`` (std_msgs/Float64) is the column
``<joint>/<command>``, ``/<ns>/reference_1`` and ``reference_2`` (Float64MultiArray) are the board's arrays. With a
recorded ``/clock`` time 0 is the clock's first value, without it the first command.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.bags.base import BagTopic
from pliant.bags.opening import open_bag
from pliant.bags.times import CLOCK, collect
from pliant.base.errors import DeviceError, WireError
from pliant.laws import COMMAND_NAMES
from pliant.recording.foreign import ForeignCommands

COMMANDS = {name for pair in COMMAND_NAMES.values() for name in pair} - {"disabled"} | {"external_torque"}
ARRAYS = ("reference_1", "reference_2")


def read_bag(path: str | Path, board: str = "board") -> ForeignCommands:
    """Return the commands of a bag as columns.

    Args:
        path: a .bag, .mcap or .db3 file, or a folder of ``ros2 bag``.
        board: name of the device that takes the arrays.

    Raises:
        DeviceError: no command topic in it, two for one column, values that are not finite; the message names them.
        RecordingError: no such file, or it is no bag.
    """
    path = Path(path)
    with open_bag(path) as bag:
        topics: dict[str, str] = {}
        for topic in bag.topics:
            column = column_of(topic, board) if topic.count else None
            if column is None:
                continue
            if column in topics:
                raise DeviceError(
                    f"topics {topics[column]} and {topic.name} are both the column {column}; give only one of them "
                    "(rosbag filter or ros2 bag convert removes the other)",
                    file=path,
                    field=column,
                )
            topics[column] = topic.name
        unused = tuple(f"{t.name} ({t.type})" for t in bag.topics if t.name not in topics.values() and t.name != CLOCK)
        if not topics:
            raise DeviceError(
                "the bag has no command; it must have topics .../<joint>/<command> of type std_msgs/Float64 and "
                ".../reference_1, .../reference_2 of type std_msgs/Float64MultiArray. Its topics: "
                f"{bag.listed()}",
                file=path,
            )
        try:
            found, axis = collect(bag, set(topics.values()))
        except WireError as error:
            raise DeviceError(f"the bag has a damaged message: {error}", file=path) from None
    times = {name: axis.of(series) for name, series in found.items()}
    stamps = np.unique(np.concatenate(list(times.values())))
    begin = axis.begin_ns
    origin = int(stamps[0]) if begin is None else min(begin, int(stamps[0]))
    columns: dict[str, np.ndarray] = {"time": (stamps - origin) * 1e-9}
    for column, name in topics.items():
        rows = np.searchsorted(stamps, times[name])
        values = [value["data"] for value in found[name].values]
        columns[column] = _table(path, column, name, rows, values, len(stamps))
    return ForeignCommands(columns=columns, topics=topics, unused=unused)


def column_of(topic: BagTopic, board: str) -> str | None:
    """Return the column of a topic, or None if it is no command."""
    parts = topic.name.strip("/").split("/")
    kind = topic.known_type()
    if kind == "std_msgs/Float64" and len(parts) >= 2 and parts[-1] in COMMANDS:
        return f"{parts[-2]}/{parts[-1]}"
    if kind == "std_msgs/Float64MultiArray" and parts[-1] in ARRAYS:
        return f"{board}/{parts[-1]}"
    return None


def _table(path: Path, column: str, topic: str, rows: np.ndarray, values: list, count: int) -> np.ndarray:
    width = np.size(values[0]) if np.ndim(values[0]) else None
    wrong = next((v for v in values if width is not None and np.size(v) != width), None)
    if wrong is not None:
        raise DeviceError(
            f"{topic} has arrays of {width} and of {np.size(wrong)} numbers; all must have one length",
            file=path,
            field=column,
        )
    data = np.array(values, dtype=float)
    bad = np.flatnonzero(~np.isfinite(data.reshape(len(data), -1)).all(axis=1))
    if bad.size:
        raise DeviceError(
            f"{topic}: message {bad[0]} is {np.asarray(values[bad[0]]).tolist()}; must be finite numbers",
            file=path,
            field=column,
        )
    table = np.full((count,) if width is None else (count, width), np.nan)
    table[rows] = data  # of several at one time the last one holds
    return table
