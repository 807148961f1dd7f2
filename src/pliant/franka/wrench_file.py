"""The newest wrench of a force/torque sensor in a file that two processes map."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from pliant.base.numerics import Array
from pliant.simulation.bridge import BridgeBase

if TYPE_CHECKING:
    from pliant.devices.base import Sample, SampleSource


class WrenchFile(BridgeBase):
    """Keeps the newest wrench of a force/torque sensor in a file that another process maps.

    It stands before the interface among the bridges: a client that holds the state of a cycle finds its wrench.

    Args:
        path: of the file.
        device: name of the sensor.
    """

    def __init__(self, path: str | Path, device: str) -> None:
        super().__init__()
        self._path, self._device = Path(path), device

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Make the file."""
        self._values = map_wrench(self._path, mode="w+")

    def publish(self, sample: Sample) -> None:
        """Write a wrench."""
        if sample.device == self._device:
            self._values[:3] = sample.values["force"]
            self._values[3:] = sample.values["torque"]


def map_wrench(path: str | Path, mode: Literal["r", "w+"] = "r") -> Array:
    """Return the wrench of a file of `WrenchFile`, shape (6,) [N, N m]."""
    return np.memmap(path, dtype=np.float64, mode=mode, shape=(6,))
