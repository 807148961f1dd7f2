"""An MCAP reader (https://mcap.dev/spec), of whole files and of those that were cut off or damaged."""

from __future__ import annotations

import importlib
import mmap
import os
import struct
import zlib
from array import array
from dataclasses import dataclass
from pathlib import Path

from pliant.base.documents.files import open_file
from pliant.base.errors import RecordingError
from pliant.recording.record_file import CHANNEL, CHUNK, DATA_END, FOOTER, MAGIC, MESSAGE, METADATA, SCHEMA

PLAIN_LIMIT = 1 << 30  # the longest chunk that is decompressed [bytes]; recorders make chunks of about 1 MB
_DECOMPRESSORS = {
    "lz4": (("lz4.frame", "LZ4FrameDecompressor"),),
    "zstd": (("compression.zstd", "ZstdDecompressor"), ("backports.zstd", "ZstdDecompressor")),
    "bz2": (("bz2", "BZ2Decompressor"),),
}


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
    """The writer's notes about the topic."""
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
    """Fault of the file, "" if it was closed properly."""


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
        with open_file(path, RecordingError, max_bytes=None) as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise RecordingError("the file is empty; it must be an MCAP file", file=path)
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

    def __init__(self, data: mmap.mmap, path: Path) -> None:
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
                    closed = length == 20 and self.summary_follows(struct.unpack_from("<Q", data, begin)[0])
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

    def summary_follows(self, summary: int) -> bool:
        """Return whether a footer names a summary; while a file grows, it names an older footer (`RecordFile`)."""
        return 0 < summary < len(self.data) and self.data[summary] != FOOTER

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

    def message(self, data: mmap.mmap | bytes, begin: int, length: int) -> None:
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
            f"a chunk states {size} bytes of messages; must be at most {PLAIN_LIMIT}: it is damaged", file=path
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
        f"the chunks are compressed with {name!r}, which is not supported; known: {', '.join(_DECOMPRESSORS)}",
        file=path,
    )
