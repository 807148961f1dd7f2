"""Commands out of ROS bags: ROS 1 (.bag), ROS 2 (.mcap, or a folder that ``ros2 bag`` wrote).

Topics become columns by the toolbox's names: ``/<ns>/<joint>/<command>`` (std_msgs/Float64) is the column
``<joint>/<command>``, ``/<ns>/reference_1`` and ``reference_2`` (Float64MultiArray) are the board's arrays. All other
topics are left out. Time 0 is the first of these messages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import DeviceError, WireError
from pliant.laws import COMMAND_NAMES
from pliant.wire.ros import Codec

__all__ = ["BAG_SUFFIXES", "read_bag"]

BAG_SUFFIXES = (".bag", ".mcap", ".db3")
COMMANDS = {name for pair in COMMAND_NAMES.values() for name in pair} - {"disabled"} | {"external_torque"}
ARRAYS = ("reference_1", "reference_2")
LIMIT = 50_000_000
"""Messages that are read at most."""


def read_bag(path: str | Path, board: str = "board") -> dict[str, np.ndarray]:
    """Return the commands of a bag as columns: "time" [s] and one column a command.

    Args:
        path: a .bag, a .mcap, or a folder of ``ros2 bag``.
        board: name of the device that takes the arrays.

    Raises:
        DeviceError: no bag, or no command topic in it; the message names the topics that are there.
    """
    from rosbags.highlevel import AnyReader, AnyReaderError

    path = Path(path)
    rows: dict[str, list[tuple[int, Any]]] = {}
    topics: set[str] = set()
    try:
        with AnyReader([path]) as reader:
            codec = Codec(2 if reader.is2 else 1)
            wanted = {}
            for connection in reader.connections:
                topics.add(f"{connection.topic} ({connection.msgtype})")
                column = _column(connection.topic, connection.msgtype, board)
                if column is not None:
                    wanted[connection.id] = (connection, column)
            for connection, stamp, raw in reader.messages([c for c, _ in wanted.values()]) if wanted else ():
                body = raw if reader.is2 else len(raw).to_bytes(4, "little") + bytes(raw)
                value = codec.decode(connection.msgtype, body)["data"]
                rows.setdefault(wanted[connection.id][1], []).append((stamp, value))
                if sum(map(len, rows.values())) > LIMIT:
                    raise DeviceError(f"the bag has more than {LIMIT} commands", file=path)
    except (AnyReaderError, OSError, WireError) as error:
        raise DeviceError(f"the bag cannot be read: {error}", file=path) from None
    if not rows:
        raise DeviceError(
            "the bag has no command; valid are topics .../<joint>/<command> of type std_msgs/Float64 and "
            f".../reference_1, .../reference_2 of type std_msgs/Float64MultiArray. Its topics: "
            f"{', '.join(sorted(topics)[:12]) or 'none'}",
            file=path,
        )
    stamps = np.unique(np.concatenate([[stamp for stamp, _ in items] for items in rows.values()]))
    columns: dict[str, np.ndarray] = {"time": (stamps - stamps[0]) * 1e-9}
    for name, items in rows.items():
        width = np.size(items[0][1]) if np.ndim(items[0][1]) else None
        values = np.full((len(stamps),) if width is None else (len(stamps), width), np.nan)
        for stamp, value in items:
            if width is not None and np.size(value) != width:
                raise DeviceError(
                    f"{name} has arrays of {width} and of {np.size(value)} numbers", file=path, field=name
                )
            values[np.searchsorted(stamps, stamp)] = value
        columns[name] = values
    return columns


def _column(topic: str, kind: str, board: str) -> str | None:
    """The column of a topic, or None if it is no command."""
    parts = topic.strip("/").split("/")
    kind = kind.replace("/msg/", "/")
    if kind == "std_msgs/Float64" and len(parts) >= 2 and parts[-1] in COMMANDS:
        return f"{parts[-2]}/{parts[-1]}"
    if kind == "std_msgs/Float64MultiArray" and parts[-1] in ARRAYS:
        return f"{board}/{parts[-1]}"
    return None
