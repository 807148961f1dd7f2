"""An MCAP writer (https://mcap.dev/spec). A run that is killed leaves a file that every MCAP reader opens.

rosbags' writer was tried first. It keeps up to 1 MiB of messages and the whole index in memory until ``close``, so a
killed run leaves a file without its last seconds and without a footer, which rosbags' own reader then refuses; it
makes a folder with a metadata.yaml instead of one file; and it takes 17 us a message. This writer differs in how a
chunk reaches the disk. Each flush appends the new message records; `RecordFile` keeps the file valid after each write.
A private record reserves the place of the chunk's header, and becomes the header when the chunk is complete: message
records are valid inside and outside of a chunk. After a kill only the index is missing.

Where chunks end depends on the data alone, never on the time of a flush: equal messages give equal bytes.

A file that is to be replaced keeps its content until the first message of the new one is on the disk: a run that never
begins destroys nothing.
"""

from __future__ import annotations

import atexit
import os
import struct
import sys
import threading
import time
import zlib
from array import array
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pliant.base.errors import RecordingError
from pliant.recording.record_file import (
    CHANNEL,
    CHUNK,
    CHUNK_INDEX,
    DATA_END_RECORD,
    FOOTER,
    HEADER,
    MAGIC,
    MESSAGE_INDEX,
    METADATA,
    METADATA_INDEX,
    PRIVATE,
    SCHEMA,
    STATISTICS,
    SUMMARY_OFFSET,
    RecordFile,
    padding,
    record,
    splits_a_page,
)

CHUNK_HEADER = struct.Struct("<BQQQQIIQ")
MESSAGE_HEADER = struct.Struct("<BQHIQQ")
"""Header of a message record: opcode, remaining length, channel, sequence number, log time, publish time."""

CHUNK_SIZE = 512 * 1024  # a chunk ends with the message that reaches this size [bytes]
FLUSH_INTERVAL = 0.25  # longest time from a message to the disk [s of wall time]
MAX_LOSS_NS = 100_000_000  # longest simulated time whose messages wait in memory [ns]
PENDING_LIMIT = 32 * 1024 * 1024  # the loop waits for the disk above this [bytes]


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def _mapping(value: Mapping[str, str]) -> bytes:
    data = b"".join(_text(key) + _text(item) for key, item in sorted(value.items()))
    return struct.pack("<I", len(data)) + data


RESERVED = record(PRIVATE, bytes(CHUNK_HEADER.size - 9))  # stands where the header of an open chunk will be


@dataclass(slots=True, eq=False)
class _Chunk:
    """A chunk on its way to the disk."""

    size: int = 0
    """Bytes of message records so far."""
    begin: int = 0
    """Earliest log time [ns]."""
    end: int = 0
    """Latest log time [ns]."""
    index: dict[int, array] = field(default_factory=dict)
    """Channel -> log time, offset, log time, offset, ..."""
    pending: bytearray = field(default_factory=bytearray)
    """Records that are not on the disk."""
    closed: bool = False
    """No message will be added."""
    offset: int = -1
    """Where the chunk begins in the file; -1 before its first flush."""
    written: int = 0
    """Bytes of message records in the file."""
    crc: int = 0
    """Checksum of the message records in the file."""
    held: bytes = b""
    """Records that the last flush held back."""


class McapWriter:
    """Writes one MCAP file from one thread, through a thread of its own.

    Args:
        path: the file.
        overwrite: replace a file that exists, with the first message.
        library: name and version of the writing program.
        keep_empty: leave a file without messages where none came; else there is none then.
        flush_interval: longest time from a message to the disk [s of wall time].
        pending_limit: bytes in memory above which ``append`` waits for the disk.

    Raises:
        RecordingError: the file exists, its folder does not, or it may not be written.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        library: str = "pliant",
        keep_empty: bool = True,
        flush_interval: float = FLUSH_INTERVAL,
        pending_limit: int = PENDING_LIMIT,
    ) -> None:
        self.path = Path(path)
        header = record(HEADER, _text("ros2") + _text(library))
        self._file = RecordFile(self.path, overwrite=overwrite, head=MAGIC + header)
        self._keep_empty = keep_empty
        self._flush_interval = flush_interval
        self._pending_limit = pending_limit
        self._condition = threading.Condition()
        self._chunks: deque[_Chunk] = deque([_Chunk()])
        self._open_chunk = self._chunks[0]
        self._pending = 0
        self._waiting_since: int | None = None  # log time of the oldest message that no flush has taken [ns]
        self._due = False
        self._schemas: list[bytes] = []
        self._channels: list[bytes] = []
        self._metadata: list[tuple[int, int, str]] = []
        self._chunk_indexes: list[bytes] = []
        self._written_ns: int | None = None  # latest log time on the disk
        self._counts: dict[int, int] = {}
        self._begin = self._end = 0
        self._error: RecordingError | None = None
        self._closing = self._closed = False
        self.blocked = 0
        self.blocked_ns = 0
        self.worst_block_ns = 0
        self._thread = threading.Thread(target=self._run, name=f"recorder {self.path.name}", daemon=True)
        self._thread.start()
        if not keep_empty:
            atexit.register(self._drop_empty)  # a run that never begins leaves no empty file, even if nobody closes it

    # ------------------------------------------------------------------ one thread
    def add_schema(self, name: str, encoding: str, data: str, *, late: bool = False) -> int:
        """Declare a message type; returns its id. After the first message it must be ``late``: it stands among them."""
        number = len(self._schemas) + 1
        schema = record(SCHEMA, struct.pack("<H", number) + _text(name) + _text(encoding) + _text(data))
        self._schemas.append(schema)
        self._declare(schema, late)
        return number

    def add_channel(
        self, schema: int, topic: str, encoding: str, metadata: Mapping[str, str], *, late: bool = False
    ) -> int:
        """Declare a topic; returns its id. After the first message it must be ``late``: it stands among them."""
        number = len(self._channels) + 1
        channel = record(
            CHANNEL, struct.pack("<HH", number, schema) + _text(topic) + _text(encoding) + _mapping(metadata)
        )
        self._channels.append(channel)
        with self._condition:
            self._counts[number] = 0
        self._declare(channel, late)
        return number

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Write a named table of texts. Only before the first message."""
        table = record(METADATA, _text(name) + _mapping(values))
        self._metadata.append((self._file.end, len(table), name))
        self._append(table)

    def append(self, channel: int, log_time: int, message: bytes) -> None:
        """Add one message; returns at once unless more than ``pending_limit`` bytes wait for the disk.

        Args:
            channel: id of the topic.
            log_time: the message's log time [ns].
            message: the whole message record, with its ``MESSAGE_HEADER``.

        Raises:
            RecordingError: the disk refused an earlier message.
        """
        if self._error is not None:
            raise self._error
        with self._condition:
            chunk = self._open_chunk
            if not chunk.index:
                chunk.begin = chunk.end = log_time
            elif log_time > chunk.end:
                chunk.end = log_time
            elif log_time < chunk.begin:
                chunk.begin = log_time
            index = chunk.index.get(channel)
            if index is None:
                index = chunk.index[channel] = array("Q")
            index.append(log_time)
            index.append(chunk.size)
            chunk.pending += message
            chunk.size += len(message)
            self._pending += len(message)
            if self._waiting_since is None:
                self._waiting_since = log_time
            elif log_time - self._waiting_since >= 3 * MAX_LOSS_NS // 10:
                self._keep_up(log_time)
            if chunk.size >= CHUNK_SIZE:
                chunk.closed = True
                self._open_chunk = _Chunk()
                self._chunks.append(self._open_chunk)
                self._condition.notify_all()
                if self._pending > self._pending_limit:
                    self._block(lambda: self._pending > self._pending_limit)

    def close(self) -> None:
        """Write what is left, then the index; may be called twice.

        Raises:
            RecordingError: the disk refused; the file is readable up to what the message says.
        """
        if self._closed:
            return
        self._closed = True
        with self._condition:
            self._closing = True
            self._open_chunk.closed = True
            self._condition.notify_all()
        self._thread.join()
        try:
            if self._error is None:
                try:
                    if self._keep_empty:
                        self._file.create()
                    if self._file.exists:
                        self._write_summary()
                except OSError as error:
                    self._fail(error)
        finally:
            self._file.close()
            self._drop_empty()
            atexit.unregister(self._drop_empty)
        if self._error is not None:
            raise self._error

    @property
    def messages(self) -> int:
        """Messages in the file and on their way to it."""
        with self._condition:
            return sum(self._counts.values()) + sum(
                len(index) // 2 for chunk in self._chunks for index in chunk.index.values()
            )

    # ------------------------------------------------------------------ the writer's own thread
    def _run(self) -> None:
        while True:
            with self._condition:
                if not self._closing and len(self._chunks) < 2 and not self._due:
                    self._condition.wait(self._flush_interval)
                self._due = False
                closing = self._closing
            try:
                self._flush()
            except Exception as error:  # the thread that records hands it on
                self._fail(error)
                with self._condition:
                    self._condition.notify_all()
                return
            if closing:
                return

    def _flush(self) -> None:
        while True:
            with self._condition:
                if not self._chunks:
                    return
                chunk = self._chunks[0]
                data = bytes(chunk.pending)
                chunk.pending.clear()
                if chunk is self._open_chunk:
                    self._waiting_since = None
                closed = chunk.closed
                begin, end = chunk.begin, chunk.end
            if data or (closed and chunk.size):
                self._write_chunk(chunk, data, closed, begin, end)
            with self._condition:
                self._pending -= len(data)
                if closed:
                    self._chunks.popleft()
                    for channel, index in chunk.index.items():
                        self._counts[channel] += len(index) // 2
                self._condition.notify_all()
                if not closed:
                    return

    def _write_chunk(self, chunk: _Chunk, data: bytes, closed: bool, begin: int, end: int) -> None:
        """Append messages to a chunk; complete it if it is closed."""
        head = RESERVED if chunk.offset < 0 else b""
        offset = self._file.end
        data = chunk.held + data
        if not closed:
            whole = _fitting(data, offset + len(head))
            data, chunk.held = data[:whole], data[whole:]
            if not data:
                return
        if chunk.offset < 0:
            chunk.offset = offset
        chunk.crc = zlib.crc32(data, chunk.crc)
        chunk.written += len(data)
        records = head + data
        if closed:
            records += self._indexes(chunk)
            records += padding(offset + len(records))
        try:
            self._file.append(records, create=True)
        except OSError:
            self._append_what_fits(head, data)
            raise
        if not chunk.held:
            self._written_ns = end
        if closed:
            size = chunk.written
            self._file.change(chunk.offset, CHUNK_HEADER.pack(CHUNK, 40 + size, begin, end, size, chunk.crc, 0, size))

    def _append_what_fits(self, head: bytes, data: bytes) -> None:
        """Append the longest beginning of message records for which a full disk has room, within a factor of two."""
        while data and self._file.exists:
            data = data[: _fitting(data, self._file.end + len(head), len(data) // 2)]
            with suppress(OSError):
                if data:
                    self._file.append(head + data)
                return

    def _indexes(self, chunk: _Chunk) -> bytes:
        """Note the index of a complete chunk for the summary; return the records that stand behind the chunk."""
        length = CHUNK_HEADER.size + chunk.written
        offsets = b""
        blocks = []
        position = begin = chunk.offset + length
        for channel, index in sorted(chunk.index.items()):
            offsets += struct.pack("<HQ", channel, position)
            if sys.byteorder != "little":
                index.byteswap()
            pairs = index.tobytes()
            blocks.append(record(MESSAGE_INDEX, struct.pack("<HI", channel, len(pairs)) + pairs))
            position += len(blocks[-1])
        content = (
            struct.pack("<QQQQI", chunk.begin, chunk.end, chunk.offset, length, len(offsets))
            + offsets
            + struct.pack("<QIQQ", position - begin, 0, chunk.written, chunk.written)
        )
        self._begin = chunk.begin if not self._chunk_indexes else min(self._begin, chunk.begin)
        self._end = max(self._end, chunk.end)
        self._chunk_indexes.append(record(CHUNK_INDEX, content))
        return b"".join(blocks)

    def _write_summary(self) -> None:
        begin = self._file.end + len(DATA_END_RECORD)
        counts = b"".join(struct.pack("<HQ", channel, count) for channel, count in sorted(self._counts.items()))
        statistics = record(
            STATISTICS,
            struct.pack(
                "<QHIIIIQQI",
                sum(self._counts.values()),
                len(self._schemas),
                len(self._channels),
                0,
                len(self._metadata),
                len(self._chunk_indexes),
                self._begin,
                self._end,
                len(counts),
            )
            + counts,
        )
        metadata = [
            record(METADATA_INDEX, struct.pack("<QQ", offset, length) + _text(name))
            for offset, length, name in self._metadata
        ]
        groups = [
            (SCHEMA, self._schemas),
            (CHANNEL, self._channels),
            (CHUNK_INDEX, self._chunk_indexes),
            (METADATA_INDEX, metadata),
            (STATISTICS, [statistics]),
        ]
        summary = b""
        offsets = b""
        for opcode, records in groups:
            data = b"".join(records)
            if data:
                offsets += record(SUMMARY_OFFSET, struct.pack("<BQQ", opcode, begin + len(summary), len(data)))
            summary += data
        footer = struct.pack("<BQQQ", FOOTER, 20, begin, begin + len(summary))
        crc = zlib.crc32(summary + offsets + footer)
        self._file.finish(summary + offsets, footer + struct.pack("<I", crc))

    # ------------------------------------------------------------------ inside
    def _declare(self, declaration: bytes, late: bool) -> None:
        if not late:
            self._append(declaration)
            return
        with self._condition:
            self._open_chunk.pending += declaration
            self._open_chunk.size += len(declaration)
            self._pending += len(declaration)

    def _append(self, declaration: bytes) -> None:
        try:
            self._file.append(declaration + padding(self._file.end + len(declaration)))
        except OSError as error:
            raise self._fail(error) from None

    def _drop_empty(self) -> None:
        """Delete a file that has got no message."""
        if not self._keep_empty and self._file.exists and not self.messages:
            self._file.remove()

    def _keep_up(self, log_time: int) -> None:
        """Ask for a flush, and wait for it where more simulated time than MAX_LOSS_NS would be lost with the process.

        It is asked for at 30 % of this time and awaited at 40 % of it, so that what a flush is writing and
        what waits behind it are less than MAX_LOSS_NS together.
        """
        if not self._due:
            self._due = True
            self._condition.notify_all()

        def late() -> bool:
            since = self._waiting_since
            return since is not None and log_time - since >= 2 * MAX_LOSS_NS // 5

        if late():
            self._block(late)

    def _block(self, behind: Callable[[], bool]) -> None:
        """Wait until the disk has caught up; raise its error."""
        self.blocked += 1
        began = time.perf_counter_ns()
        while behind() and self._error is None:
            self._condition.wait()
        waited = time.perf_counter_ns() - began
        self.blocked_ns += waited
        self.worst_block_ns = max(self.worst_block_ns, waited)
        if self._error is not None:
            raise self._error

    def _fail(self, error: Exception) -> RecordingError:
        """Keep and return the error that the next ``append`` or ``close`` raises."""
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        kept = sum(self._counts.values())
        until = f" and up to {self._written_ns * 1e-9:g} s" if self._written_ns is not None else ""
        left = f"it is readable up to what was written before ({self._file.end} bytes, at least {kept} messages{until})"
        if not self._file.exists:
            left = "the file that was to be replaced is as it was"
        self._error = RecordingError(f"the recording stopped: {reason}; {left}", file=self.path)
        return self._error


def _fitting(messages: bytes, offset: int, limit: int | None = None) -> int:
    """Return how many bytes of message records, at most ``limit``, can stand at an offset with a head behind them."""
    if limit is None:
        limit = len(messages)
        if not splits_a_page(offset + limit):
            return limit
    size = position = 0
    while position < len(messages):
        position += 9 + struct.unpack_from("<Q", messages, position + 1)[0]
        if position > limit:
            break
        if not splits_a_page(offset + position):
            size = position
    return size
