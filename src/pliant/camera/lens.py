"""The lens of a camera: from the picture of an ideal pinhole to the one that a camera with distortion takes.

A graphics library renders pinholes only. For a lens with distortion a pinhole that sees everything the lens sees is
rendered, with pixels that are nowhere coarser than those of the camera, and each pixel of the camera is looked up in
it. Without distortion nothing is looked up: the pinhole itself has the focal lengths and the principal point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import DeviceError
from pliant.camera.conditions import Condition, VisionError
from pliant.camera.model import CameraModel

MAX_SOURCE_SIDE = 8192
"""Most pixels along a side of the pinhole's picture; assumed, what graphics drivers hold."""
MAX_SOURCE_PIXELS = 2**25
"""Most pixels of the pinhole's picture: 100 MB of colours; assumed."""
ROWS_AT_ONCE = 64
"""Rows of an image whose distortion is inverted at once."""
EDGE = 0.02
"""Relative difference of neighbouring depths that counts as an edge, across which depths are not mixed; assumed."""
BLUR_REACH = 4.0
"""Radius of the blur's window in standard deviations: beyond it lies less than 1e-4 of the weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lens:
    """Rendering data of a camera: its model, the pinhole behind it, and where its pixels lie in that."""

    camera: CameraModel
    """The camera, distortion included."""
    source: CameraModel
    """The pinhole that is rendered."""
    columns: np.ndarray | None
    """Column in the pinhole's picture of each pixel, float32, shape (height, width); None without distortion."""
    rows: np.ndarray | None
    """Row likewise."""

    @classmethod
    def of(cls, camera: CameraModel, who: str) -> Lens:
        """Return the lens of a camera.

        Args:
            camera: its model.
            who: the camera, for messages.

        Raises:
            DeviceError: the distortion folds the picture, or needs a pinhole's picture that is too large.
        """
        if not camera.distortion.any():
            return cls(camera=camera, source=camera, columns=None, rows=None)
        try:
            source = camera.pinhole()
        except VisionError as error:
            if error.condition is not Condition.DISTORTION:
                raise
            corners = [(c, r) for c in (0, camera.width - 1) for r in (0, camera.height - 1)]
            radius = max(math.hypot((c - camera.cx) / camera.fx, (r - camera.cy) / camera.fy) for c, r in corners)
            raise DeviceError(
                f"{who}: the {_told(camera)} folds within the image, whose corner is {radius:.3g} focal lengths from "
                "the axis; must be one that grows up to there, such as weaker coefficients or a longer focal length",
                field="distortion",
            ) from None
        if max(source.width, source.height) > MAX_SOURCE_SIDE or source.width * source.height > MAX_SOURCE_PIXELS:
            raise DeviceError(
                f"{who}: the {_told(camera)} needs a picture of {source.width} x {source.height} pixels behind it; "
                f"must be at most {MAX_SOURCE_SIDE} along a side and {MAX_SOURCE_PIXELS} in all, with a weaker "
                "distortion",
                field="distortion",
            )
        columns, rows = (np.empty((camera.height, camera.width), dtype=np.float32) for _ in range(2))
        for first in range(0, camera.height, ROWS_AT_ONCE):
            last = min(first + ROWS_AT_ONCE, camera.height)
            c, r = np.meshgrid(np.arange(camera.width, dtype=float), np.arange(first, last, dtype=float))
            at = source.pixels(camera.normalized(np.stack([c.ravel(), r.ravel()], axis=1)))
            columns[first:last], rows[first:last] = at[:, 0].reshape(c.shape), at[:, 1].reshape(c.shape)
        return cls(camera=camera, source=source, columns=columns, rows=rows)

    def frustum(self, near: float) -> tuple[float, float, float, float]:
        """Return (bottom, top, center, half width) of what the pinhole sees, at distance `near` [m]."""
        s = self.source
        top = near * (s.cy + 0.5) / s.fy
        bottom = -near * (s.height - 0.5 - s.cy) / s.fy
        half = 0.5 * near * s.width / s.fx
        center = near * (0.5 * (s.width - 1) - s.cx) / s.fx
        return bottom, top, center, half

    def colors(self, picture: np.ndarray) -> np.ndarray:
        """Return the camera's colours, shape (height, width, 3), from the pinhole's."""
        if self.columns is None or self.rows is None:
            return picture
        from pliant.camera.kernels import look_up_colors

        out = np.empty((*self.columns.shape, 3), dtype=np.uint8)
        look_up_colors(picture, self.columns, self.rows, out)
        return out

    def depths(self, picture: np.ndarray) -> np.ndarray:
        """Return the camera's depths, shape (height, width), from the pinhole's.

        Between the pixels of one surface the inverse depth is interpolated, which is exact for a plane; across an edge
        the nearest pixel is taken.
        """
        if self.columns is None or self.rows is None:
            return picture
        from pliant.camera.kernels import look_up_depths

        out = np.empty(self.columns.shape, dtype=np.float32)
        look_up_depths(picture, self.columns, self.rows, EDGE, out)
        return out

    def labels(self, picture: np.ndarray) -> np.ndarray:
        """Return the camera's labels, shape (height, width, 2), from the pinhole's: those of the nearest pixel."""
        if self.columns is None or self.rows is None:
            return picture
        nearest = np.rint(self.rows).astype(np.intp), np.rint(self.columns).astype(np.intp)
        return np.ascontiguousarray(picture[nearest])


def _told(camera: CameraModel) -> str:
    names = ("k1", "k2", "p1", "p2", "k3")
    return "distortion " + ", ".join(f"{name} {getattr(camera, name):g}" for name in names)


def gaussian_blur(picture: np.ndarray, sigma: float) -> np.ndarray:
    """Return colours, shape (height, width, 3), blurred by a Gaussian of standard deviation `sigma` [pixels]."""
    from pliant.camera.kernels import blur

    radius = max(1, math.ceil(BLUR_REACH * sigma))
    k = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * (k / sigma) ** 2)
    out = np.empty_like(picture)
    blur(picture, (weights / weights.sum()).astype(np.float32), out)
    return out
