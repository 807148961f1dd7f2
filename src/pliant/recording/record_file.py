"""The MCAP file on the disk: it grows by records and is a valid MCAP file after each write.

A reader of MCAP needs whole records from the beginning and a footer at the end of the file, so neither a record nor the
footer may be written over what a reader needs. The file therefore always has three parts::

    records | one private record that fills the space | end (DataEnd, Footer, magic)

MCAP readers skip private records. New records go into the filled space, where nobody sees them, together with the head
of a shorter filling record behind them. Then 9 bytes, the opcode and the length of the first new record, replace the
head of the old filling record: this one write makes the new records visible. No write that makes something visible
crosses a page, and a kernel completes a write inside a page even when it kills the process, so the process may be
killed (SIGKILL) at any instant. A power failure may reorder writes; the file then ends at the first damaged record.
"""

from __future__ import annotations

import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

from pliant.base.errors import RecordingError
from pliant.base.replacing import replacing

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06
MESSAGE_INDEX, CHUNK_INDEX, STATISTICS, METADATA, METADATA_INDEX = 0x07, 0x08, 0x0B, 0x0C, 0x0D
SUMMARY_OFFSET, DATA_END, PRIVATE = 0x0E, 0x0F, 0x80
HEAD = struct.Struct("<BQ")  # opcode and length of a record
PAGE = 4096
GROWTH = 64 * 1024
"""The file grows in steps of this size [bytes]; a multiple of PAGE."""


def record(opcode: int, content: bytes) -> bytes:
    """Return an MCAP record."""
    return HEAD.pack(opcode, len(content)) + content


DATA_END_RECORD = record(DATA_END, bytes(4))


def _tail(summary: int) -> bytes:
    """Return the end of a file that is being written; ``summary`` is where its summary begins, 0 for none."""
    return DATA_END_RECORD + record(FOOTER, struct.pack("<QQI", summary, 0, 0)) + MAGIC


TAIL_SIZE = len(_tail(0))


def splits_a_page(offset: int) -> bool:
    """Return whether the head of a record at this offset would cross a page."""
    return offset % PAGE > PAGE - HEAD.size


def padding(offset: int) -> bytes:
    """Return the record that must stand at this offset, so that the head of the next one does not cross a page."""
    return record(PRIVATE, b"") if splits_a_page(offset) else b""


class RecordFile:
    """A file of MCAP records that is readable after every write, and after every page of a write.

    Args:
        path: the file; its name ends in .mcap.
        overwrite: replace a file that exists, with the first `append` for which ``create`` is set.
        head: magic and header record.

    Raises:
        RecordingError: the file exists, its folder does not, or it may not be written.
    """

    def __init__(self, path: Path, *, overwrite: bool, head: bytes) -> None:
        self.path = path
        self.end = len(head)
        """Where the next record begins [bytes]."""
        self._tail = 0
        self._kept: bytearray | None = None  # all records so far, while the file to be replaced is still there
        self._file: Any = None
        self._open(overwrite, head)

    @property
    def exists(self) -> bool:
        """Whether the records are on the disk; not yet while the file to be replaced is still there."""
        return self._kept is None

    def append(self, records: bytes, *, create: bool = False) -> None:
        """Add whole records.

        Args:
            records: one record or more; the offset behind them must not satisfy `splits_a_page`.
            create: replace the file that is to be replaced now.

        Raises:
            OSError: the disk refused; the file holds the records before.
        """
        end = self.end + len(records)
        if self._kept is not None:
            self._kept += records
            self.end = end
            if create:
                self.create()
            return
        self._reserve(end)
        self._write(self.end + HEAD.size, records[HEAD.size :] + HEAD.pack(PRIVATE, self._tail - end - HEAD.size))
        self._write(self.end, records[: HEAD.size])
        self.end = end

    def change(self, offset: int, head: bytes) -> None:
        """Replace the beginning of a private record: its content first, then its opcode and length."""
        self._write(offset + HEAD.size, head[HEAD.size :])
        self._write(offset, head[: HEAD.size])

    def create(self) -> None:
        """Write all records to a new file beside the one that is to be replaced, and give it the other's name."""
        if self._kept is None:
            return
        path = Path(os.path.realpath(self.path))
        with replacing(path) as beside:
            self._file = beside.open("wb", buffering=0)
            self._hold(self._file)
            self._begin(bytes(self._kept))
            with suppress(OSError):  # a file system without modes
                beside.chmod(path.stat().st_mode & 0o777)
        self._kept = None

    def finish(self, summary: bytes, footer: bytes) -> None:
        """End the records with a summary and cut the filled space off.

        Args:
            summary: records of the summary section.
            footer: the footer record.
        """
        end = DATA_END_RECORD + summary + footer + MAGIC
        self._reserve(self.end + len(end))
        self._write(self.end + HEAD.size, end[HEAD.size :])
        self._write(self._tail, _tail(self.end + len(DATA_END_RECORD)))  # readers at the end of the file find it
        self._write(self.end, end[: HEAD.size])  # readers from the beginning find it
        self._file.truncate(self.end + len(end))

    def close(self) -> None:
        """Close the file as it is."""
        if self._file is not None:
            self._file.close()

    def remove(self) -> None:
        """Delete the file."""
        with suppress(OSError):
            self.path.unlink()

    # ------------------------------------------------------------------ inside
    def _open(self, overwrite: bool, head: bytes) -> None:
        path = self.path
        if path.suffix != ".mcap":
            raise RecordingError(f"the name of a recording must end in .mcap; got {path.name!r}", file=path)
        if not path.parent.is_dir():
            raise RecordingError(f"the folder {path.parent} does not exist; make it first", file=path)
        try:
            if overwrite and path.is_file() and path.stat().st_size:
                with path.open("r+b") as present:  # says at once what would forbid it
                    self._hold(present)
                self._kept = bytearray(head)
            else:
                self._file = path.open("wb" if overwrite else "xb", buffering=0)
                self._hold(self._file)
                self._begin(head)
        except FileExistsError:
            raise RecordingError("the file exists; replace it with --overwrite, or name another", file=path) from None
        except OSError as error:
            raise RecordingError(f"the recording cannot be written: {error.strerror}", file=path) from None

    def _hold(self, file: Any) -> None:
        """Refuse a file that another run is writing; keep others from replacing this one until it is closed."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RecordingError("another run is writing this file; choose another name", file=self.path) from None
        except OSError:
            return  # a file system without locks

    def _begin(self, head: bytes) -> None:
        """Write the first records, the filling record and the end at once."""
        size = -(-(len(head) + HEAD.size + TAIL_SIZE) // PAGE) * PAGE
        self._tail = size - TAIL_SIZE
        filling = self._tail - len(head) - HEAD.size
        self._write(0, head + record(PRIVATE, bytes(filling)) + _tail(0))

    def _reserve(self, end: int) -> None:
        """Enlarge the filled space, so that records up to ``end`` and the head of a filling record have room in it."""
        if end + HEAD.size <= self._tail:
            return
        # The new end says that the data stop at the footer of the old one, until the filling record reaches it.
        for growth in (GROWTH, PAGE):  # a disk that is nearly full has no room for the larger step
            tail = -(-(end + HEAD.size + TAIL_SIZE) // growth) * growth - TAIL_SIZE
            try:
                self._write(tail, _tail(self._tail + len(DATA_END_RECORD)))
                break
            except OSError:
                self._file.truncate(self._tail + TAIL_SIZE)
                if growth == PAGE:
                    raise
        self._write(self.end, HEAD.pack(PRIVATE, tail - self.end - HEAD.size))
        self._write(tail, _tail(0))
        self._tail = tail

    def _write(self, offset: int, data: bytes) -> None:
        self._file.seek(offset)
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]
