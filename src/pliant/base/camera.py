"""The numbers of a camera: focal lengths, principal point, plumb-bob distortion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.base.numerics import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraParameters:
    """A pinhole camera with plumb-bob distortion (Brown 1966, as OpenCV and ROS's CameraInfo write it)."""

    fx: float
    """Focal length along a row [pixels], more than 0."""
    fy: float
    """Focal length along a column [pixels], more than 0."""
    cx: float
    """Column of the principal point [pixels]; (width - 1)/2 in the middle."""
    cy: float
    """Row of the principal point [pixels]; (height - 1)/2 in the middle."""
    width: int
    """Columns, at least 1."""
    height: int
    """Rows, at least 1."""
    k1: float = 0.0
    """Radial distortion, order 2."""
    k2: float = 0.0
    """Radial distortion, order 4."""
    p1: float = 0.0
    """Tangential distortion, along y."""
    p2: float = 0.0
    """Tangential distortion, along x."""
    k3: float = 0.0
    """Radial distortion, order 6."""

    @property
    def distortion(self) -> Array:
        """k1, k2, p1, p2, k3, the order of OpenCV and of ROS's CameraInfo, shape (5,)."""
        return np.array([self.k1, self.k2, self.p1, self.p2, self.k3])
