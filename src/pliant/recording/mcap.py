"""A small MCAP writer and reader (https://mcap.dev/spec) that loses nothing when a run is cut off.

rosbags' writer was tried first. It keeps up to 1 MiB of messages and the whole index in memory until ``close``, so a
killed run leaves a file without its last seconds and without a footer, which rosbags' own reader then refuses; it
makes a folder with a metadata.yaml instead of one file; and it takes 17 us a message. This writer differs in how a
chunk reaches the disk. A chunk grows in the file: each flush writes the new message records behind the old ones,
then an end (DataEnd, Footer, magic) behind them, then the chunk's new length and checksum into its header. Message
records are valid inside and outside of a chunk, so the file is a valid MCAP after each of these writes, and a killed
process leaves one that Foxglove, ``ros2 bag``, the mcap package and rosbags open. Only the index is missing then.

Where chunks end depends on the data alone, never on the time of a flush: equal messages give equal bytes.

A file that is to be replaced keeps its content until the first message of the new one is on the disk: a run that never
begins destroys nothing.
"""

from __future__ import annotations

import atexit
import importlib
import mmap
import os
import struct
import sys
import threading
import time
import zlib
from array import array
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pliant.errors import RecordingError

__all__ = ["Channel", "Contents", "CutOff", "McapScan", "McapWriter", "decompressed", "read_mcap"]

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06
MESSAGE_INDEX, CHUNK_INDEX, STATISTICS, METADATA, METADATA_INDEX = 0x07, 0x08, 0x0B, 0x0C, 0x0D
SUMMARY_OFFSET, DATA_END = 0x0E, 0x0F
CHUNK_HEADER = struct.Struct("<BQQQQIIQ")
MESSAGE_HEADER = struct.Struct("<BQHIQQ")  # opcode, length, channel, sequence, log time, publish time

CHUNK_SIZE = 512 * 1024  # a chunk ends with the message that reaches this size [bytes]
FLUSH_INTERVAL = 0.25  # longest time from a message to the disk [s of wall time]
PLAIN_LIMIT = 1 << 30  # the longest chunk that is decompressed [bytes]; recorders make chunks of about 1 MB
_DECOMPRESSORS = {
    "lz4": (("lz4.frame", "LZ4FrameDecompressor"),),
    "zstd": (("compression.zstd", "ZstdDecompressor"), ("backports.zstd", "ZstdDecompressor")),
    "bz2": (("bz2", "BZ2Decompressor"),),
}
PENDING_LIMIT = 32 * 1024 * 1024  # the loop waits for the disk above this [bytes]


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def _mapping(value: Mapping[str, str]) -> bytes:
    data = b"".join(_text(key) + _text(item) for key, item in sorted(value.items()))
    return struct.pack("<I", len(data)) + data


def _record(opcode: int, content: bytes) -> bytes:
    return struct.pack("<BQ", opcode, len(content)) + content


# The end of a file that is still being written: no summary.
TAIL = _record(DATA_END, b"\0\0\0\0") + _record(FOOTER, b"\0" * 20) + MAGIC


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
        self._head: bytearray | None = None  # what stands before the first message, while the old file is still there
        self._file: Any = self._open(overwrite)
        self._keep_empty = keep_empty
        self._flush_interval = flush_interval
        self._pending_limit = pending_limit
        self._condition = threading.Condition()
        self._chunks: deque[_Chunk] = deque([_Chunk()])
        self._open_chunk = self._chunks[0]
        self._pending = 0
        self._schemas: list[bytes] = []
        self._channels: list[bytes] = []
        self._metadata: list[tuple[int, int, str]] = []
        self._chunk_indexes: list[bytes] = []
        self._counts: dict[int, int] = {}
        self._begin = self._end = 0
        self._error: RecordingError | None = None
        self._closing = self._closed = False
        self.blocked = 0
        self.blocked_ns = 0
        self.worst_block_ns = 0
        self._good = 0  # everything before this offset is complete records
        self._write(MAGIC + _record(HEADER, _text("ros2") + _text(library)))
        self._thread = threading.Thread(target=self._run, name=f"recorder {self.path.name}", daemon=True)
        self._thread.start()
        if not keep_empty:
            atexit.register(self._drop_empty)  # a run that never begins leaves no empty file, even if nobody closes it

    # ------------------------------------------------------------------ one thread
    def add_schema(self, name: str, encoding: str, data: str) -> int:
        """Declare a message type; returns its id. Only before the first message."""
        number = len(self._schemas) + 1
        record = _record(SCHEMA, struct.pack("<H", number) + _text(name) + _text(encoding) + _text(data))
        self._schemas.append(record)
        self._write(record)
        return number

    def add_channel(self, schema: int, topic: str, encoding: str, metadata: Mapping[str, str]) -> int:
        """Declare a topic; returns its id. Only before the first message."""
        number = len(self._channels) + 1
        record = _record(
            CHANNEL, struct.pack("<HH", number, schema) + _text(topic) + _text(encoding) + _mapping(metadata)
        )
        self._channels.append(record)
        self._counts[number] = 0
        self._write(record)
        return number

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Write a named table of texts. Only before the first message."""
        record = _record(METADATA, _text(name) + _mapping(values))
        self._metadata.append((self._good, len(record), name))
        self._write(record)

    def append(self, channel: int, log_time: int, record: bytes) -> None:
        """Add one message; returns at once unless more than ``pending_limit`` bytes wait for the disk.

        Args:
            channel: id of the topic.
            log_time: the message's log time [ns].
            record: the whole message record, with its ``MESSAGE_HEADER``.

        Raises:
            RecordingError: the disk refused an earlier message.
        """
        if self._error is not None:
            raise self._error
        with self._condition:
            chunk = self._open_chunk
            if not chunk.size:
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
            chunk.pending += record
            chunk.size += len(record)
            self._pending += len(record)
            if chunk.size >= CHUNK_SIZE:
                chunk.closed = True
                self._open_chunk = _Chunk()
                self._chunks.append(self._open_chunk)
                self._condition.notify_all()
                if self._pending > self._pending_limit:
                    self._block()

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
                    if self._head is not None and self._keep_empty:
                        self._replace()
                    if self._file is not None:
                        self._write_summary()
                except OSError as error:
                    self._fail(error)
        finally:
            if self._file is not None:
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
                if not self._closing and len(self._chunks) < 2:
                    self._condition.wait(self._flush_interval)
                closing = self._closing
            try:
                self._flush()
            except Exception as error:
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
                closed = chunk.closed
                begin, end = chunk.begin, chunk.end
            if data:
                self._write_chunk(chunk, data, begin, end)
            if closed and chunk.written:
                self._finish_chunk(chunk)
            with self._condition:
                self._pending -= len(data)
                if closed:
                    self._chunks.popleft()
                    for channel, index in chunk.index.items():
                        self._counts[channel] += len(index) // 2
                self._condition.notify_all()
                if not closed:
                    return

    def _write_chunk(self, chunk: _Chunk, data: bytes, begin: int, end: int) -> None:
        first = chunk.offset < 0
        if first:
            chunk.offset = self._good
        chunk.crc = zlib.crc32(data, chunk.crc)
        chunk.written += len(data)
        header = CHUNK_HEADER.pack(CHUNK, 40 + chunk.written, begin, end, chunk.written, chunk.crc, 0, chunk.written)
        if first:
            self._write(header + data)
            if self._head is not None:
                self._replace()
        else:
            self._write(data)
            self._file.seek(chunk.offset)
            _write_all(self._file, header)

    def _finish_chunk(self, chunk: _Chunk) -> None:
        length = self._good - chunk.offset
        offsets = b""
        blocks = []
        position = self._good
        for channel, index in sorted(chunk.index.items()):
            offsets += struct.pack("<HQ", channel, position)
            if sys.byteorder != "little":
                index.byteswap()
            pairs = index.tobytes()
            blocks.append(_record(MESSAGE_INDEX, struct.pack("<HI", channel, len(pairs)) + pairs))
            position += len(blocks[-1])
        content = (
            struct.pack("<QQQQI", chunk.begin, chunk.end, chunk.offset, length, len(offsets))
            + offsets
            + struct.pack("<QIQQ", position - self._good, 0, chunk.written, chunk.written)
        )
        self._write(b"".join(blocks))
        self._begin = chunk.begin if not self._chunk_indexes else min(self._begin, chunk.begin)
        self._end = max(self._end, chunk.end)
        self._chunk_indexes.append(_record(CHUNK_INDEX, content))

    def _write_summary(self) -> None:
        begin = self._good + len(_record(DATA_END, b"\0\0\0\0"))
        counts = b"".join(struct.pack("<HQ", channel, count) for channel, count in sorted(self._counts.items()))
        statistics = _record(
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
            _record(METADATA_INDEX, struct.pack("<QQ", offset, length) + _text(name))
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
                offsets += _record(SUMMARY_OFFSET, struct.pack("<BQQ", opcode, begin + len(summary), len(data)))
            summary += data
        footer = struct.pack("<BQQQ", FOOTER, 20, begin, begin + len(summary))
        crc = zlib.crc32(summary + offsets + footer)
        end = _record(DATA_END, b"\0\0\0\0") + summary + offsets + footer + struct.pack("<I", crc) + MAGIC
        self._file.seek(self._good)
        _write_all(self._file, end)

    # ------------------------------------------------------------------ inside
    def _open(self, overwrite: bool) -> Any:
        path = self.path
        if path.suffix != ".mcap":
            raise RecordingError(
                f"a recording was asked for as {path.name!r}; valid is a name that ends in .mcap", file=path
            )
        if not path.parent.is_dir():
            raise RecordingError(f"the folder {path.parent} does not exist; make it first", file=path)
        try:
            if overwrite and path.is_file() and path.stat().st_size:
                path.open("r+b").close()  # says at once what would forbid it
                self._head = bytearray()
                return None
            return path.open("wb" if overwrite else "xb", buffering=0)
        except FileExistsError:
            raise RecordingError("the file exists; ask for overwriting or choose another name", file=path) from None
        except OSError as error:
            raise RecordingError(f"the recording cannot be written: {error.strerror}", file=path) from None

    def _replace(self) -> None:
        """Write what was kept to a new file beside the old one, and give it the old one's name."""
        assert self._head is not None
        path = Path(os.path.realpath(self.path))
        beside = path.with_name(f".{path.name[:200]}.{os.getpid()}.part")
        try:
            self._file = beside.open("wb", buffering=0)
            _write_all(self._file, bytes(self._head) + TAIL)
            with suppress(OSError):  # a file system without modes
                beside.chmod(path.stat().st_mode & 0o777)
            beside.replace(path)
        except OSError:
            _remove(beside)
            raise
        self._head = None

    def _drop_empty(self) -> None:
        """Take away a file that has got no message."""
        if not (self._keep_empty or self._head is not None or self.messages):
            _remove(self.path)

    def _write(self, data: bytes) -> None:
        """Put records where the end of the file stood, and the end behind them."""
        if self._head is not None:
            self._head += data
        else:
            self._file.seek(self._good)
            _write_all(self._file, data + TAIL)
        self._good += len(data)

    def _block(self) -> None:
        self.blocked += 1
        began = time.perf_counter_ns()
        while self._pending > self._pending_limit and self._error is None:
            self._condition.wait()
        waited = time.perf_counter_ns() - began
        self.blocked_ns += waited
        self.worst_block_ns = max(self.worst_block_ns, waited)
        if self._error is not None:
            raise self._error

    def _fail(self, error: Exception) -> None:
        """Cut the file back to whole records and keep the error for the next ``append`` or ``close``."""
        if self._head is None:
            with suppress(OSError):
                self._file.seek(self._good)
                _write_all(self._file, TAIL)
            with suppress(OSError):
                self._file.truncate(self._good + len(TAIL))
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        kept = sum(self._counts.values())
        left = f"it is readable up to what was written before ({self._good} bytes, at least {kept} messages)"
        if self._head is not None:
            left = "the file that was to be replaced is as it was"
        self._error = RecordingError(f"the recording stopped: {reason}; {left}", file=self.path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _write_all(file: Any, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


# ---------------------------------------------------------------------- reading


@dataclass(slots=True, eq=False)
class Channel:
    """One topic of a file with all its messages."""

    topic: str
    """Name of the topic."""
    type: str
    """Name of the message type."""
    encoding: str
    """How the bodies are encoded: "cdr", "ros1"."""
    schema_encoding: str
    """In which language the type is described: "ros2msg", "ros1msg", "ros2idl"; "" if it is not."""
    text: bytes
    """The description of the type."""
    metadata: dict[str, str]
    """What the writer noted about the topic."""
    log_times: array
    """Log time of every message [ns]."""
    data: list[bytes]
    """Body of every message."""


@dataclass(slots=True, eq=False)
class Contents:
    """Everything in a file."""

    channels: list[Channel]
    """Topics, in the order of their declaration."""
    metadata: dict[str, dict[str, str]]
    """Named tables of texts."""
    fault: str
    """What is wrong with the file, "" if it was closed properly."""


class CutOff(Exception):
    """The file ends inside a record, or the record is damaged."""


def read_mcap(path: str | Path) -> Contents:
    """Read a whole MCAP file in file order; of a damaged one everything before the damage.

    Args:
        path: the file.

    Returns:
        Topics with their messages; ``fault`` says whether the file was cut off.

    Raises:
        RecordingError: there is no such file, or it is no MCAP.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise RecordingError("the file is empty; valid is an MCAP file", file=path)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return McapScan(data, path).run()
    except OSError as error:
        raise RecordingError(f"the recording cannot be read: {error.strerror}", file=path) from None


class McapScan:
    """One linear pass over a file; a subclass may take the messages in another way.

    Args:
        data: the whole file, as a map of it.
        path: the file, for messages.
    """

    def __init__(self, data: Any, path: Path) -> None:
        self.data = data
        self.path = path
        self.place: tuple[int, int, str, int] = (0, 0, "", 0)
        """The present chunk: where its records begin in the file, their length there, compression, plain length."""
        self.schemas: dict[int, tuple[str, str, bytes]] = {}
        self.channels: dict[int, Channel] = {}
        self.metadata: dict[str, dict[str, str]] = {}

    def run(self) -> Contents:
        """Read everything; a damage ends it and becomes the ``fault``."""
        data = self.data
        if data[:8] != MAGIC:
            raise RecordingError(
                f"the file begins with {data[:8]!r}; an MCAP file begins with {MAGIC!r}", file=self.path
            )
        fault = "it has no end: the writer was interrupted or the file was cut off"
        offset, size = 8, len(data)
        try:
            while offset + 9 <= size:
                opcode = data[offset]
                (length,) = struct.unpack_from("<Q", data, offset + 1)
                begin = offset + 9
                if opcode == FOOTER:
                    if data[begin + length : begin + length + 8] != MAGIC:
                        raise CutOff
                    closed = length == 20 and struct.unpack_from("<Q", data, begin)[0] != 0
                    fault = "" if closed else "it was not closed: the run that wrote it was interrupted"
                    break
                if opcode == DATA_END:
                    pass
                elif opcode == CHUNK:
                    self.chunk(begin, min(begin + length, size))
                elif begin + length > size:
                    raise CutOff
                elif opcode == MESSAGE:
                    self.message(data, begin, length)
                else:
                    self.other(opcode, data[begin : begin + length])
                offset = begin + length
            else:
                if offset < size:
                    raise CutOff
        except (CutOff, struct.error, UnicodeDecodeError, IndexError, zlib.error):
            fault = f"it is cut off or damaged in the record at byte {offset} of {size}"
        return Contents(list(self.channels.values()), self.metadata, fault)

    def chunk(self, begin: int, end: int) -> None:
        """Read a chunk's records."""
        _, _, plain_size, crc = struct.unpack_from("<QQQI", self.data, begin)
        (name_length,) = struct.unpack_from("<I", self.data, begin + 28)
        name = self.data[begin + 32 : begin + 32 + name_length].decode()
        (length,) = struct.unpack_from("<Q", self.data, begin + 32 + name_length)
        begin += 40 + name_length
        whole = begin + length <= end
        records = self.data[begin : min(begin + length, end)]
        self.place = begin, length, name, plain_size
        if name:
            if not whole:
                raise CutOff
            records = decompressed(name, records, plain_size, self.path)
        if whole and (len(records) != plain_size or (crc and zlib.crc32(records) != crc)):
            raise CutOff
        offset, size = 0, len(records)
        while offset + 9 <= size:
            (record_length,) = struct.unpack_from("<Q", records, offset + 1)
            if offset + 9 + record_length > size:
                break
            if records[offset] == MESSAGE:
                self.message(records, offset + 9, record_length)
            else:
                self.other(records[offset], records[offset + 9 : offset + 9 + record_length])
            offset += 9 + record_length
        if offset != size or not whole:
            raise CutOff

    def message(self, data: Any, begin: int, length: int) -> None:
        """Take the message record at ``data[begin : begin + length]``."""
        if length < 22:
            raise CutOff
        number, _, log_time, _ = struct.unpack_from("<HIQQ", data, begin)
        channel = self.channels.get(number)
        if channel is None:
            raise CutOff
        channel.log_times.append(log_time)
        channel.data.append(data[begin + 22 : begin + length])

    def other(self, opcode: int, content: bytes) -> None:
        """Take a record that is no message."""
        if opcode == SCHEMA:
            (number,) = struct.unpack_from("<H", content)
            name, offset = _take_text(content, 2)
            encoding, offset = _take_text(content, offset)
            (size,) = struct.unpack_from("<I", content, offset)
            self.schemas[number] = name, encoding, bytes(content[offset + 4 : offset + 4 + size])
        elif opcode == CHANNEL:
            number, schema = struct.unpack_from("<HH", content)
            topic, offset = _take_text(content, 4)
            encoding, offset = _take_text(content, offset)
            metadata = _take_mapping(content, offset)
            if number not in self.channels:
                kind = self.schemas.get(schema, ("", "", b""))
                self.channels[number] = Channel(topic, kind[0], encoding, kind[1], kind[2], metadata, array("Q"), [])
        elif opcode == METADATA:
            name, offset = _take_text(content, 0)
            self.metadata[name] = _take_mapping(content, offset)


def _take_text(content: bytes, offset: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<I", content, offset)
    end = offset + 4 + length
    if end > len(content):
        raise CutOff
    return content[offset + 4 : end].decode(), end


def _take_mapping(content: bytes, offset: int) -> dict[str, str]:
    (length,) = struct.unpack_from("<I", content, offset)
    offset += 4
    end = offset + length
    result = {}
    while offset < end:
        key, offset = _take_text(content, offset)
        result[key], offset = _take_text(content, offset)
    return result


def decompressed(name: str, data: bytes, size: int, path: Path) -> bytes:
    """Undo a compression that another program applied; this writer applies none.

    Args:
        name: "lz4", "zstd" or "bz2".
        data: the compressed bytes.
        size: length that the file states for the plain bytes.
        path: the file, for messages.

    Raises:
        CutOff: the bytes are damaged, or longer than stated.
        RecordingError: the compression is not known here, or the stated length is beyond `PLAIN_LIMIT`.
    """
    if size > PLAIN_LIMIT:
        raise RecordingError(
            f"a chunk states {size} bytes of messages; valid are at most {PLAIN_LIMIT}: it is damaged", file=path
        )
    for module, kind in _DECOMPRESSORS.get(name, ()):
        try:
            make = getattr(importlib.import_module(module), kind)
        except ImportError:
            continue
        try:
            plain = make().decompress(data, max_length=size + 1)
        except Exception as error:  # each library has an error of its own for damaged data
            raise CutOff from error
        if len(plain) > size:
            raise CutOff
        return plain
    raise RecordingError(
        f"the chunks are compressed with {name!r}, which cannot be undone here; valid: {', '.join(_DECOMPRESSORS)}",
        file=path,
    )
