"""Images as YARP's frame grabbers send them: a list of a header and one blob of rows.

The header of one RGB image was recorded; the other pixel codes follow the published ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import WireError, nearest
from pliant.yarp.wire.values import Bottle, Vocab, bottle, integer, text

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

    def encode(self) -> Bottle:
        """Return the Bottle: ``[mat]``, pixel code, (depth, size, quantum, width, height), bytes.

        Raises:
            WireError: an unknown pixel code, or an array of another shape or size.
        """
        shape = self.pixels.shape
        height, width = shape[:2] if len(shape) > 1 else (0, 0)
        kind, channels, row = self._layout(self.code, width, self.quantum)
        if shape[2:] not in ((channels,), () if channels == 1 else (channels,)) or not 0 < height <= MAX_SIDE:
            raise WireError(f"pixels of shape {shape} for [{self.code}]; must be (height, width, {channels})")
        used = width * channels * np.dtype(kind).itemsize
        padded = np.zeros((height, row), np.uint8)
        padded[:, :used] = np.ascontiguousarray(self.pixels, kind).reshape(height, -1).view(np.uint8)
        numbers = (channels * np.dtype(kind).itemsize, height * row, self.quantum, width, height)
        return bottle(Vocab.of("mat"), Vocab.of(self.code), numbers, padded.tobytes())

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
        kind, channels, row = cls._layout(code, width, quantum)
        if not 0 < height <= MAX_SIDE or not isinstance(blob, bytes) or not len(blob) == size == row * height:
            raise WireError(f"an image of {width} x {height} [{code}] must hold {row * height} bytes, not {size}")
        if depth != channels * np.dtype(kind).itemsize:
            raise WireError(f"{depth} bytes per pixel of [{code}]; must be {channels * np.dtype(kind).itemsize}")
        rows = np.frombuffer(blob, np.uint8).reshape(height, row)[:, : width * depth]
        pixels = np.ascontiguousarray(rows).view(kind).reshape(height, width, *([channels] if channels > 1 else []))
        return cls(pixels, code, quantum)

    @staticmethod
    def _layout(code: str, width: int, quantum: int) -> tuple[str, int, int]:
        """Return the type of a number, numbers per pixel, and the length of a row [bytes]."""
        if code not in PIXELS:
            raise WireError(f"pixel code {code!r}: {nearest(code, PIXELS)}", field="code")
        if not 0 < width <= MAX_SIDE or not 1 <= quantum <= 4096:
            raise WireError(f"rows of {width} pixels in steps of {quantum} bytes; must be 1 to {MAX_SIDE}, 1 to 4096")
        kind, channels = PIXELS[code]
        row = -(-width * channels * np.dtype(kind).itemsize // quantum) * quantum
        return kind, channels, row
