"""ROS 1 bags, format 2.0 (https://wiki.ros.org/Bags/Format/2.0), read in one linear pass.

The index at the file's end is not needed, so a bag that rosbag did not close (``.bag.active``) is read as well. Every
length is held against the file before anything is taken.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from pliant.bags.base import BagTopic, IndexedFile, MessageIndex, plain_type
from pliant.base.errors import RecordingError, WireError
from pliant.recording.mcap_reader import CutOff
from pliant.ros.wire.tcpros import header_fields

MAGIC = b"#ROSBAG V2.0\n"
MESSAGE, BAG_HEADER, CHUNK, CONNECTION = 2, 3, 5, 7
HEADER_LIMIT = 1 << 20
"""Longest header of a record [bytes]; real ones have up to some kilobytes (the definition of a type)."""
_U32 = struct.Struct("<I")


class Rosbag1(IndexedFile):
    """One ROS 1 bag.

    Args:
        path: the file.
        data: the whole file, as a map of it; it is closed by `close`.

    Raises:
        RecordingError: it is no ROS 1 bag of format 2.0, or it is encrypted.
    """

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        super().__init__(path, data, MessageIndex(path), [])
        self._connections: dict[int, BagTopic] = {}
        self._check_magic()
        self._scan()
        self._list(self._connections)

    # ------------------------------------------------------------------ inside
    def _check_magic(self) -> None:
        head = bytes(self._data[: len(MAGIC)])
        if head == MAGIC:
            return
        if head.startswith((b"#ROSBAG V", b"#ROSRECORD")):
            found = head.strip().decode("ascii", "replace")
            raise RecordingError(
                f"the bag has the format {found!r}; must be {MAGIC.strip().decode()!r} (rosbag fix converts it)",
                file=self.path,
            )
        raise RecordingError(f"the file begins with {head!r}; a ROS 1 bag begins with {MAGIC!r}", file=self.path)

    def _scan(self) -> None:
        data, size = self._data, len(self._data)
        at = len(MAGIC)
        closed = False
        try:
            while at < size:
                header, begin, end = _record(data, at, size)
                op = _number(header, b"op", 1)
                if op == BAG_HEADER:
                    closed = _number(header, b"index_pos", 8) != 0
                    if header.get(b"encryptor"):
                        raise RecordingError(
                            f"the bag is encrypted by {header[b'encryptor'].decode('utf-8', 'replace')!r}; it "
                            "must not be encrypted",
                            file=self.path,
                        )
                elif op == CHUNK:
                    self._scan_chunk(header, begin, end)
                elif op == CONNECTION:
                    self._connect(header, bytes(data[begin:end]))
                elif op == MESSAGE:
                    self._note(header, -1, begin, end)
                at = end
        except CutOff as error:
            why = f" ({error})" if str(error) else ""
            self.fault = f"it is cut off or damaged in the record at byte {at} of {size}{why}"
        if not self.fault and not closed:
            self.fault = "it was not closed: its recorder was interrupted (`rosbag reindex` makes an index)"

    def _scan_chunk(self, header: dict[bytes, bytes], begin: int, end: int) -> None:
        compression = header.get(b"compression", b"").decode("ascii", "replace")
        size = _number(header, b"size", 4)
        plain = compression == "none"
        number = -1 if plain else len(self._chunks)
        if plain:
            records, at, stop = self._data, begin, end
        else:
            self._chunks.append((begin, end - begin, compression, size))
            records = self._chunk(number)
            at, stop = 0, len(records)
        if stop - at != size:
            raise CutOff(f"a chunk of {stop - at} bytes states {size}")
        while at < stop:
            inner, first, last = _record(records, at, stop)
            op = _number(inner, b"op", 1)
            if op == CONNECTION:
                self._connect(inner, bytes(records[first:last]))
            elif op == MESSAGE:
                self._note(inner, number, first, last)
            at = last

    def _connect(self, header: dict[bytes, bytes], body: bytes) -> None:
        number = _number(header, b"conn", 4)
        if number in self._connections:
            return
        try:
            about = _fields(body)
            name = header[b"topic"].decode()
            self._connections[number] = BagTopic(
                name="/" + "/".join(filter(None, name.split("/"))),
                type=plain_type(about[b"type"].decode()),
                version=1,
                text=about.get(b"message_definition", b"").decode("utf-8", "replace"),
                latched=about.get(b"latching", b"0") == b"1",
            )
        except KeyError as error:
            raise CutOff(f"a connection without {error}") from None
        except UnicodeDecodeError:
            raise CutOff("a connection whose names are no text") from None

    def _note(self, header: dict[bytes, bytes], chunk: int, begin: int, end: int) -> None:
        number = _number(header, b"conn", 4)
        if number not in self._connections:
            raise CutOff(f"a message of connection {number}, which was not declared")
        stamp = header.get(b"time", b"")
        if len(stamp) != 8:
            raise CutOff("a message without its time")
        sec, nanosec = struct.unpack("<II", stamp)
        self._index.add(sec * 1_000_000_000 + nanosec, number, chunk, begin, end - begin)


def _record(data: bytes | mmap.mmap, at: int, stop: int) -> tuple[dict[bytes, bytes], int, int]:
    """Return the header's fields of the record at a place, and where its data begin and end."""
    if at + 4 > stop:
        raise CutOff("a record without its length")
    (length,) = _U32.unpack_from(data, at)
    begin = at + 4 + length
    if length > HEADER_LIMIT or begin + 4 > stop:
        raise CutOff(f"a header of {length} bytes where {stop - at - 4} are left")
    header = _fields(bytes(data[at + 4 : begin]))
    (size,) = _U32.unpack_from(data, begin)
    if begin + 4 + size > stop:
        raise CutOff(f"a record of {size} bytes where {stop - begin - 4} are left")
    return header, begin + 4, begin + 4 + size


def _fields(data: bytes) -> dict[bytes, bytes]:
    try:
        return header_fields(data, "a header of the bag")
    except WireError as error:
        raise CutOff(str(error)) from None


def _number(header: dict[bytes, bytes], name: bytes, size: int) -> int:
    value = header.get(name, b"")
    if len(value) != size:
        raise CutOff(f"a record whose {name.decode()} has {len(value)} bytes; must be {size}")
    return int.from_bytes(value, "little")
