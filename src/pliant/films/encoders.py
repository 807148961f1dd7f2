"""Pictures one after the other become a film file: MP4 (H.264) by PyAV, GIF by Pillow."""

from __future__ import annotations

import struct
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import importing

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = (".mp4", ".gif")
MAX_GIF_FPS = 50.0
"""Browsers show a picture of a GIF for at least 20 ms."""
TRANSPARENT = 255
"""Index of the palette that stands for an unchanged pixel of a GIF."""
PALETTE_ERROR = 5.0
"""Mean difference of a picture from the first one's palette beyond which it gets its own [levels of 255]."""
NEW_COLOR, NEW_SHARE = 40, 2e-4
"""A picture gets a palette of its own if more than this share of its pixels is off by so many levels: an arrow."""

Pixels = NDArray[np.uint8]


class Encoder(Protocol):
    """Takes the pictures of a film in order."""

    def add(self, pixels: Pixels, count: int) -> None:
        """Append a picture, shape (height, width, 3), that is shown for ``count`` frames."""
        ...

    def close(self) -> None:
        """Finish the file."""
        ...


def require(suffix: str) -> None:
    """Raise `MissingDependency` if films of this kind cannot be written here."""
    if suffix == ".mp4":
        with importing(
            "PyAV", command="pip install 'pliant[video]' (GIF films need nothing more)", purpose="an MP4 film"
        ):
            import av  # noqa: F401  # pyright: ignore[reportMissingImports]


def make_encoder(path: Path, suffix: str, width: int, height: int, fps: float) -> Encoder:
    """Return the encoder of a kind of film.

    Args:
        path: file to write.
        suffix: ".mp4" or ".gif".
        width: of the pictures [pixels].
        height: of the pictures [pixels].
        fps: frames per second.
    """
    if suffix == ".mp4":
        return Mp4Encoder(path, width, height, fps)
    return GifEncoder(path.open("wb"), width, height, fps)


class Mp4Encoder:
    """H.264 in MP4, which every browser plays."""

    def __init__(self, path: Path, width: int, height: int, fps: float) -> None:
        require(".mp4")
        import av  # pyright: ignore[reportMissingImports]

        self._av = av
        self._container = av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"})
        rate = Fraction(fps).limit_denominator(1000)
        self._stream = self._container.add_stream("h264", rate=rate, options={"crf": "20", "preset": "veryfast"})
        self._stream.width, self._stream.height, self._stream.pix_fmt = width, height, "yuv420p"

    def add(self, pixels: Pixels, count: int) -> None:
        """Append a picture."""
        frame = self._av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24")
        frame = frame.reformat(format="yuv420p")
        for _ in range(count):
            frame.pts = None
            self._container.mux(self._stream.encode(frame))

    def close(self) -> None:
        """Finish the file."""
        self._container.mux(self._stream.encode(None))
        self._container.close()


class GifEncoder:
    """An animated GIF that repeats, written picture by picture.

    The pictures share the palette of the first one; one whose colours differ too much gets its own. Only the rectangle
    that changes is stored, with unchanged pixels left transparent.
    """

    def __init__(self, file: BinaryIO, width: int, height: int, fps: float) -> None:
        self._file, self._size, self._fps = file, (width, height), fps
        self._palette: Any = None
        self._own = False
        self._shown: Pixels | None = None
        self._waiting: tuple[Pixels, int] | None = None
        self._frames = 0

    def add(self, pixels: Pixels, count: int) -> None:
        """Append a picture; equal neighbours become one that is shown longer."""
        if self._waiting is not None and np.array_equal(self._waiting[0], pixels):
            self._waiting = (self._waiting[0], self._waiting[1] + count)
            return
        self._flush()
        self._waiting = (np.array(pixels), count)

    def close(self) -> None:
        """Finish the file."""
        try:
            self._flush()
            self._file.write(b";")
        finally:
            self._file.close()

    def _flush(self) -> None:
        """Write the picture that waits for its duration."""
        from PIL import Image

        if self._waiting is None:
            return
        pixels, count = self._waiting
        self._waiting = None
        before, self._frames = self._frames, self._frames + count
        delay = round(100 * self._frames / self._fps) - round(100 * before / self._fps)
        image = Image.fromarray(pixels)
        if self._palette is None:
            self._palette = _reduced(image)
            self._write_header()
        indexed, own = image.quantize(palette=self._palette, dither=Image.Dither.NONE), False
        if _differs(indexed, pixels):
            indexed, own = _reduced(image), True
        self._write(indexed, own, min(delay, 65535))

    def _write_header(self) -> None:
        width, height = self._size
        self._file.write(b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF7, 0, 0))
        self._file.write(_table(self._palette))
        self._file.write(b"!\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<HB", 0, 0))

    def _write(self, image: Image, own: bool, delay: int) -> None:
        from PIL import GifImagePlugin
        from PIL.Image import fromarray

        index = np.array(image)
        rgb = np.frombuffer(_table(image), dtype=np.uint8).reshape(-1, 3)[index]
        corner = (0, 0)
        if self._shown is not None:
            same = (rgb == self._shown).all(axis=2)
            rows, columns = np.flatnonzero(~same.all(axis=1)), np.flatnonzero(~same.all(axis=0))
            if not rows.size:
                rows, columns = np.array([0]), np.array([0])
            top, left = int(rows[0]), int(columns[0])
            area = (slice(top, int(rows[-1]) + 1), slice(left, int(columns[-1]) + 1))
            index = np.where(same[area], TRANSPARENT, index[area]).astype(np.uint8)
            corner = (left, top)
        self._shown = rgb
        part = fromarray(index)
        part.putpalette(_table(image))
        options = {"duration": 10 * delay, "disposal": 1, "transparency": TRANSPARENT, "include_color_table": own}
        for data in GifImagePlugin.getdata(part, corner, **options):
            self._file.write(data)


def _reduced(image: Image) -> Image:
    """Return an image in 255 colours of its own."""
    from PIL.Image import Dither, Quantize

    return image.quantize(255, method=Quantize.MAXCOVERAGE, dither=Dither.NONE)


def _table(image: Image) -> bytes:
    """Return the palette of an image, 256 colours."""
    palette = bytes(image.getpalette() or ())[: 3 * TRANSPARENT]
    return palette + bytes(3 * 256 - len(palette))


def _differs(image: Image, pixels: Pixels) -> bool:
    """Return whether an image differs too much from its pixels: in the mean, or in a small thing of a new colour."""
    colors = np.frombuffer(_table(image), dtype=np.uint8).reshape(-1, 3)[np.array(image)]
    errors = np.abs(colors.astype(np.int16) - pixels)
    return bool(errors.mean() > PALETTE_ERROR or (errors.max(axis=2) > NEW_COLOR).mean() > NEW_SHARE)
