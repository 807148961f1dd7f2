"""The newest picture of a camera in a file that several processes map.

The file is a header of 64 bytes and the pixels, rows from above, RGB, one byte a colour:

| bytes | content |
|---|---|
| 0 to 7 | b"PLIANTP1" |
| 8 to 15 | height, width: unsigned, 32 bits, little-endian |
| 16 to 23 | counter: odd while a picture is written, signed, 64 bits |
| 24 to 31 | stamp of the state that the picture shows [ns], signed, 64 bits; -1 before the first |

A reader takes the counter, the pixels, and the counter again; if both are the same even number, the picture is whole.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from pliant.base.errors import WireError

MAGIC = b"PLIANTP1"
"""First bytes of a file."""
HEADER_BYTES = 64
MAX_SIDE = 16384
"""Most rows or columns that a reader accepts."""
_FORMAT = struct.Struct("<8sIIqq")
COUNTER = slice(16, 24)
"""Bytes of the counter."""
STAMP = slice(24, 32)
"""Bytes of the stamp."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureHeader:
    """Header before the pixels."""

    height: int
    """Rows, 1 to `MAX_SIDE`."""
    width: int
    """Columns, 1 to `MAX_SIDE`."""
    counter: int = 0
    """Odd while a picture is written."""
    stamp_ns: int = -1
    """Stamp of the state that the picture shows [ns]; -1 before the first."""

    @property
    def file_bytes(self) -> int:
        """Length of the file."""
        return HEADER_BYTES + 3 * self.height * self.width


def encode_header(header: PictureHeader) -> bytes:
    """Return the 64 bytes of a header."""
    packed = _FORMAT.pack(MAGIC, header.height, header.width, header.counter, header.stamp_ns)
    return packed.ljust(HEADER_BYTES, b"\0")


def decode_header(data: bytes) -> PictureHeader:
    """Return the header at the beginning of a file.

    Raises:
        WireError: too few bytes, another kind of file, or a size beyond the limits.
    """
    if len(data) < HEADER_BYTES:
        raise WireError(f"{len(data)} bytes are not the header of a picture file; must be {HEADER_BYTES}")
    magic, height, width, counter, stamp = _FORMAT.unpack_from(data)
    if magic != MAGIC:
        raise WireError(f"the file begins with {magic!r}; must be {MAGIC!r}")
    if not (1 <= height <= MAX_SIDE and 1 <= width <= MAX_SIDE):
        raise WireError(f"the picture has {width} x {height} pixels; must be 1 to {MAX_SIDE} each")
    return PictureHeader(height=height, width=width, counter=counter, stamp_ns=stamp)
