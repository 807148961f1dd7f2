"""The newest picture of a simulated camera in a file that another process maps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pliant.devices.base import Sample, SampleSource
from pliant.simulation.bridge import BridgeBase

__all__ = ["PictureFile", "map_pictures"]


class PictureFile(BridgeBase):
    """Keeps the newest picture of a camera in a file that another process maps.

    It stands before the interface among the bridges: a client that holds the state of a cycle of a motion finds the
    picture of that cycle.

    Args:
        path: of the file.
        camera: name of the device.
    """

    def __init__(self, path: str | Path, camera: str) -> None:
        super().__init__()
        self._path, self._camera = Path(path), camera

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Make the file: the stamp of the picture [ns], and its pixels."""
        shape = devices[self._camera].samples["image"].shape
        self._stamp, self._pixels = map_pictures(self._path, shape, mode="w+")
        self._stamp[0] = -1

    def publish(self, sample: Sample) -> None:
        """Write a picture."""
        if sample.device == self._camera:
            self._pixels[:] = sample.values["image"]
            self._stamp[0] = sample.stamp_ns


def map_pictures(path: str | Path, shape: tuple[int, ...], mode: Any = "r") -> tuple[np.ndarray, np.ndarray]:
    """Return stamp [ns], shape (1,), and pixels of a file of `PictureFile`."""
    size = int(np.prod(shape))
    data = np.memmap(path, dtype=np.uint8, mode=mode, shape=(8 + size,))
    return data[:8].view(np.int64), data[8:].reshape(shape)
