"""rosbag2's SQLite files (.db3), read with Python's own sqlite3."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pliant.bags.base import MESSAGE_LIMIT, BagMessage, BagTopic, plain_type
from pliant.base.documents.files import open_file
from pliant.base.errors import RecordingError

MAGIC = b"SQLite format 3\0"
BODY_LIMIT = 1 << 28
"""Longest message [bytes]."""
FAULTS = (sqlite3.Error, OverflowError, MemoryError, UnicodeDecodeError, ValueError, TypeError)
"""Exceptions that sqlite3 raises for a damaged file."""


class SqliteBag:
    """One .db3 file.

    Raises:
        RecordingError: it is no such file, damaged, or lacks rosbag2's tables.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fault = ""
        try:
            with open_file(path, RecordingError, max_bytes=None) as file:
                head = file.read(len(MAGIC))
        except OSError as error:
            raise RecordingError(f"the bag cannot be read: {error.strerror}", file=path) from None
        if not head:
            raise RecordingError("the file is empty; it must be a .db3 file of rosbag2", file=path)
        if head != MAGIC:
            raise RecordingError(f"the file begins with {head!r}; a .db3 file begins with {MAGIC!r}", file=path)
        self._connection: sqlite3.Connection | None = None
        try:
            self._connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, check_same_thread=False)
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, BODY_LIMIT)
            self._connection.execute("PRAGMA trusted_schema = OFF")
            self._read_topics()
        except FAULTS as error:
            self.close()
            raise RecordingError(f"the bag cannot be read: {error}", file=path) from None
        except RecordingError:
            self.close()
            raise

    def messages(self, topics: Collection[str]) -> Iterator[BagMessage]:
        """Yield the messages of these topics in the order of their log time."""
        numbers = [number for number, topic in self._by_number.items() if topic.name in topics]
        if not numbers:
            return
        marks = ",".join("?" * len(numbers))
        query = f"SELECT timestamp, topic_id, data FROM messages WHERE topic_id IN ({marks}) ORDER BY timestamp, id"
        try:
            for time, number, data in self._ask(query, numbers):
                if not isinstance(time, int) or not isinstance(data, bytes) or number not in self._by_number:
                    raise RecordingError(
                        f"a message has the time {time!r} and {type(data).__name__} as data; they must be a "
                        "number of nanoseconds and bytes",
                        file=self.path,
                    )
                yield BagMessage(time, self._by_number[number], data)
        except FAULTS as error:
            raise RecordingError(f"the bag is damaged among its messages: {error}", file=self.path) from None

    def close(self) -> None:
        """Close the file."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    # ------------------------------------------------------------------ inside
    def _ask(self, query: str, values: Collection[int | str] = ()) -> Iterator[tuple[Any, ...]]:
        assert self._connection is not None
        yield from self._connection.execute(query, tuple(values))

    def _columns(self, table: str) -> list[str]:
        return [str(row[1]) for row in self._ask(f"PRAGMA table_info({table})")]

    def _read_topics(self) -> None:
        tables = {str(row[0]) for row in self._ask("SELECT name FROM sqlite_master WHERE type = 'table'")}
        missing = {"topics", "messages"} - tables
        if missing:
            raise RecordingError(
                f"the database has no table {sorted(missing)[0]!r}; it must be a database of rosbag2; its tables: "
                f"{', '.join(sorted(tables)[:12]) or 'none'}",
                file=self.path,
            )
        for table in sorted({"topics", "messages"}):
            # A column that is computed can make gigabytes of a small file.
            computed = [str(row[1]) for row in self._ask(f"PRAGMA table_xinfo({table})") if row[6]]
            if computed:
                raise RecordingError(
                    f"the column {computed[0]!r} of {table} is computed; must be stored, as rosbag2 stores it",
                    file=self.path,
                )
        texts: dict[str, str] = {}
        if "message_definitions" in tables:
            for name, encoding, text in self._ask(
                "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"
            ):
                if encoding == "ros2msg":
                    texts[str(name)] = str(text)
        qos = "offered_qos_profiles" if "offered_qos_profiles" in self._columns("topics") else "''"
        counts = dict(self._ask("SELECT topic_id, count(*) FROM messages GROUP BY topic_id"))
        if sum(counts.values()) > MESSAGE_LIMIT:
            raise RecordingError(f"the bag has more than {MESSAGE_LIMIT} messages; split it", file=self.path)
        self._by_number: dict[int, BagTopic] = {}
        for number, name, kind, encoding, offered in self._ask(
            f"SELECT id, name, type, serialization_format, {qos} FROM topics"
        ):
            if not (isinstance(number, int) and isinstance(name, str) and isinstance(kind, str)):
                raise RecordingError(f"topic {number!r} has the name {name!r} and the type {kind!r}", file=self.path)
            profile = str(offered)
            self._by_number[number] = BagTopic(
                name=name,
                type=plain_type(kind),
                version=2 if encoding == "cdr" else 0,
                count=counts.get(number, 0),
                text=texts.get(kind, ""),
                latched="durability: 1" in profile or "transient_local" in profile,
            )
        self.topics = list(self._by_number.values())
        begin, end = next(self._ask("SELECT min(timestamp), max(timestamp) FROM messages"))
        if not all(isinstance(x, int | None) for x in (begin, end)):
            raise RecordingError(f"the messages' times are {begin!r} to {end!r}; must be numbers", file=self.path)
        self.begin_ns, self.end_ns = begin or 0, end or 0
