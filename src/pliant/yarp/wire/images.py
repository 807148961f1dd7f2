"""Images as YARP's frame grabbers send them: a list of ``[mat]``, a pixel code, five numbers, and one blob of rows.

The numbers are bytes per pixel and of all rows, the quantum of a row, width and height.

The header of one RGB image was recorded; the other pixel codes follow the published ones.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import WireError, nearest
from pliant.yarp.wire.binary import LIST, tag_of
from pliant.yarp.wire.values import Bottle, Vocab, integer, text

PIXELS: dict[str, tuple[str, int]] = {
    "rgb": ("<u1", 3),
    "rgba": ("<u1", 4),
    "bgr": ("<u1", 3),
    "bgra": ("<u1", 4),
    "mono": ("<u1", 1),
    "mo16": ("<u2", 1),
    "int": ("<i4", 1),
    "dec": ("<f4", 1),
    "rgb.": ("<f4", 3),
}
"""Pixel codes: type of a number and numbers per pixel. ``dec`` is depth [m], ``rgb.`` colour as floats."""
MAX_SIDE = 1 << 14
"""Largest width and height of an image [pixels]. # assumed"""


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """An image as frame grabbers send it."""

    pixels: NDArray[np.generic]
    """Shape (height, width) or (height, width, channels), of the type of the code."""
    code: str
    """Key of `PIXELS`."""
    quantum: int = 8
    """Rows are filled up to a multiple of this [bytes]."""

    @classmethod
    def decode(cls, data: Bottle) -> Image:
        """Return the image of a Bottle.

        Raises:
            WireError: the Bottle is no image, its numbers contradict each other, or a side exceeds the limit.
        """
        header = data[2] if len(data) == 4 and data[0] == Vocab.of("mat") else None
        if not isinstance(header, Bottle) or len(header) != 5:
            raise WireError("an image must be [mat], a pixel code, a list of 5 integers and a blob")
        code, blob = text(data[1]), data[3]
        depth, size, quantum, width, height = [integer(v) for v in header.items]
        kind, channels, row = _layout(code, width, quantum)
        if not 0 < height <= MAX_SIDE or not isinstance(blob, bytes) or not len(blob) == size == row * height:
            raise WireError(f"an image of {width} x {height} [{code}] must hold {row * height} bytes, not {size}")
        if depth != channels * np.dtype(kind).itemsize:
            raise WireError(f"{depth} bytes per pixel of [{code}]; must be {channels * np.dtype(kind).itemsize}")
        rows = np.frombuffer(blob, np.uint8).reshape(height, row)[:, : width * depth]
        pixels = np.ascontiguousarray(rows).view(kind).reshape(height, width, *([channels] if channels > 1 else []))
        return cls(pixels, code, quantum)


def encode_image(pixels: NDArray[np.generic], code: str, quantum: int = 8) -> bytes:
    """Return the bytes of an image, which are the same in both dialects; the pixels are copied once.

    Args:
        pixels: shape (height, width) or (height, width, channels).
        code: key of `PIXELS`, whose type the numbers get.
        quantum: rows are filled up to a multiple of this [bytes].

    Raises:
        WireError: an unknown pixel code, or an array of another shape or size.
    """
    shape = pixels.shape
    height, width = shape[:2] if len(shape) > 1 else (0, 0)
    kind, channels, row = _layout(code, width, quantum)
    if shape[2:] not in ((channels,), () if channels == 1 else (channels,)) or not 0 < height <= MAX_SIDE:
        raise WireError(f"pixels of shape {shape} for [{code}]; must be (height, width, {channels})")
    size = channels * np.dtype(kind).itemsize
    data = np.ascontiguousarray(pixels, kind)
    if row != width * size:
        padded = np.zeros((height, row), np.uint8)
        padded[:, : width * size] = data.reshape(height, -1).view(np.uint8)
        data = padded
    vocabulary, int32 = tag_of("vocab32", 3), tag_of("int32", 3)
    head = struct.pack("<6i", LIST, 4, vocabulary, Vocab.of("mat").code, vocabulary, Vocab.of(code).code)
    numbers = struct.pack("<7i", LIST | int32, 5, size, height * row, quantum, width, height)
    return b"".join((head, numbers, struct.pack("<2i", tag_of("blob", 3), height * row), data.data))


def _layout(code: str, width: int, quantum: int) -> tuple[str, int, int]:
    """Return the type of a number, numbers per pixel, and the length of a row [bytes]."""
    if code not in PIXELS:
        raise WireError(f"pixel code {code!r}: {nearest(code, PIXELS)}", field="code")
    if not 0 < width <= MAX_SIDE or not 1 <= quantum <= 4096:
        raise WireError(f"rows of {width} pixels in steps of {quantum} bytes; must be 1 to {MAX_SIDE}, 1 to 4096")
    kind, channels = PIXELS[code]
    row = -(-width * channels * np.dtype(kind).itemsize // quantum) * quantum
    return kind, channels, row
