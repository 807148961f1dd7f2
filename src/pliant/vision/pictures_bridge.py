"""Pictures of cameras in files that other processes of this machine map: no copy through a socket, no wait."""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import BridgeError, nearest
from pliant.base.options import option
from pliant.base.replacing import replacing
from pliant.devices.base import Sample, SampleSource
from pliant.simulation.bridge import BridgeBase
from pliant.vision.wire.pictures import COUNTER, HEADER_BYTES, MAGIC, STAMP, PictureHeader, encode_header

if TYPE_CHECKING:
    from pliant.model import Robot


@dataclass(frozen=True, slots=True, kw_only=True)
class PicturesOptions:
    """Options of the bridge."""

    folder: str = option("")
    """Folder of the files, one named as each camera; it is made if it is not there. A file of that name which is none
    of this bridge is refused. "" makes a folder of its own, which is removed at the end."""
    camera: str = option("")
    """Camera whose images are written; "" for all."""


class _File:
    """One mapped file."""

    def __init__(self, path: Path, height: int, width: int) -> None:
        self.path = path
        header = PictureHeader(height=height, width=width)
        _check_own(path)
        # Nobody finds half a header or loses what it has mapped.
        with replacing(path) as beside:
            beside.unlink(missing_ok=True)
            descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(descriptor, encode_header(header))
                os.truncate(descriptor, header.file_bytes)
                self._own = os.fstat(descriptor)
                self._map = mmap.mmap(descriptor, header.file_bytes)
            finally:
                os.close(descriptor)
        found = np.frombuffer(self._map, dtype=np.uint8)
        self.counter, self.stamp = found[COUNTER].view(np.int64), found[STAMP].view(np.int64)
        self.pixels = found[HEADER_BYTES:].reshape(height, width, 3)
        self.count = 0

    def write(self, sample: Sample) -> None:
        """Write a picture between two counts."""
        self.counter[0] += 1
        self.pixels[:] = sample.values["image"]
        self.stamp[0] = sample.stamp_ns
        self.counter[0] += 1
        self.count += 1

    def close(self) -> None:
        """Remove the file, unless a later run has put its own there; who has mapped it keeps what is in it."""
        del self.counter, self.stamp, self.pixels
        self._map.close()
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(self.path.lstat(), self._own):
                self.path.unlink()


def _check_own(path: Path) -> None:
    """Raise an error for a file that is there and holds no picture of a camera."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return
    try:
        begin = os.pread(descriptor, len(MAGIC), 0)
    finally:
        os.close(descriptor)
    if begin not in (b"", MAGIC):
        raise BridgeError(
            f"pictures: {path} is there and holds no picture of a camera; remove it, or use another folder",
            field="folder",
        )


class Pictures(BridgeBase):
    """Writes the newest picture of each camera into a file.

    A client that holds the state of a cycle of a lock-step bridge finds the pictures of that cycle if this bridge
    stands before the other among the bridges. `pliant.vision.client.SharedPictures` reads them.

    Args:
        options: folder and camera.
    """

    def __init__(self, options: PicturesOptions | None = None) -> None:
        super().__init__()
        self.options = options or PicturesOptions()
        self._files: dict[str, _File] = {}
        self._own = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """That there is nothing to serve, if the robot has no camera."""
        without = "pictures: the robot has no camera, so nothing is served; add one to its file"
        return () if self._files else (without,)

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Make the files.

        Raises:
            BridgeError: there is no such camera, or a file cannot be written.
        """
        cameras = {
            name: device.samples["image"].shape
            for name, device in devices.items()
            if "image" in device.samples and len(device.samples["image"].shape) == 3
        }
        wanted = self.options.camera
        if wanted and wanted not in cameras:
            raise BridgeError(f"pictures: no camera {wanted!r}; {nearest(wanted, cameras)}", field="camera")
        folder = Path(self.options.folder).expanduser()
        try:
            if not self.options.folder:
                self._own = self._own or tempfile.mkdtemp(prefix="pliant-pictures-")
                folder = Path(self._own)
            folder.mkdir(parents=True, exist_ok=True)
            for name, (height, width, _) in cameras.items():
                if wanted not in ("", name):
                    continue
                path = (folder / name.replace("/", "_")).absolute()
                for other, file in self._files.items():
                    if file.path == path:
                        raise BridgeError(
                            f"pictures: the cameras {other!r} and {name!r} have the same file {path}; rename one, or "
                            "choose one by the option camera",
                            field="camera",
                        )
                self._files[name] = _File(path, height, width)
            self._where = {name: str(file.path) for name, file in self._files.items()}
        except BridgeError:
            self.stop()
            raise
        except OSError as fault:
            self.stop()
            raise BridgeError(f"pictures: {fault}", field="folder") from None

    def publish(self, sample: Sample) -> None:
        """Write a picture."""
        if (file := self._files.get(sample.device)) is not None:
            file.write(sample)

    def stop(self) -> None:
        """Remove the files."""
        for file in self._files.values():
            file.close()
        self._files.clear()
        self._where = {}
        if self._own:
            shutil.rmtree(self._own, ignore_errors=True)
            self._own = ""

    def health(self) -> Mapping[str, object]:
        """Return how many pictures were written, by camera."""
        return {"pictures": {name: file.count for name, file in self._files.items()}}


def make(robot: Robot | None, options: PicturesOptions) -> Pictures:
    """Return the bridge for a robot."""
    return Pictures(options)
