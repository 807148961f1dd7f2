"""The camera model: focal lengths, principal point, plumb-bob distortion; projection and its derivatives.

Pixels: column to the right, row down; the centre of the first pixel is (0, 0), as OpenCV and pliant's cameras have
it. AprilTag's libraries put the corner of the first pixel at (0, 0); `CameraModel.corner_origin_parameters` gives
their numbers, with the principal point half a pixel further; take 0.5 from the corners that they return.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.camera import CameraParameters
from pliant.camera.conditions import (
    Array,
    Condition,
    VisionError,
    finite_array,
    finite_result,
    number,
    positive_depth,
    whole_number,
)

NEWTON_STEPS = 30
"""Steps of Newton's method at most; a lens that needs more is outside its valid field."""  # assumed
ROWS_AT_ONCE = 64
"""Rows of an image whose distortion is inverted at once."""
EDGE_PIXELS = 2.0
"""Pixels beyond the outermost that are seen, for interpolation."""
NEWTON_TOLERANCE = 1e-13
"""Residual that ends it, in normalised coordinates: a ten-millionth of a pixel at any focal length in use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraModel(CameraParameters):
    """A pinhole camera with plumb-bob distortion (Brown 1966, as OpenCV and ROS's CameraInfo write it).

        r^2 = x^2 + y^2,  f = 1 + k1 r^2 + k2 r^4 + k3 r^6
        x_d = x f + 2 p1 x y + p2 (r^2 + 2 x^2),   y_d = y f + p1 (r^2 + 2 y^2) + 2 p2 x y
        column = fx x_d + cx,   row = fy y_d + cy

    Example:
        >>> camera = CameraModel(fx=600.0, fy=600.0, cx=319.5, cy=239.5, width=640, height=480)
        >>> camera.project([[0.0, 0.0, 1.0]])
        array([[319.5, 239.5]])
    """

    def __post_init__(self) -> None:
        for field in ("fx", "fy"):
            number(field, getattr(self, field), low=0.0, above=True)
        for field in ("cx", "cy", "k1", "k2", "p1", "p2", "k3"):
            number(field, getattr(self, field))
        for field in ("width", "height"):
            whole_number(field, getattr(self, field), low=1)

    @classmethod
    def from_field_of_view(cls, fovy: float, width: int, height: int) -> CameraModel:
        """Return a camera with square pixels, the principal point in the middle.

        Args:
            fovy: vertical field of view, between the outer edges of the image [rad].
            width: columns.
            height: rows.
        """
        number("fovy", fovy, low=0.0, above=True, high=math.pi - 1e-6)
        width, height = whole_number("width", width, low=1), whole_number("height", height, low=1)
        f = 0.5 * height / math.tan(0.5 * fovy)
        return cls(fx=f, fy=f, cx=0.5 * (width - 1), cy=0.5 * (height - 1), width=width, height=height)

    @property
    def K(self) -> Array:
        """The camera matrix, shape (3, 3)."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    @property
    def corner_origin_parameters(self) -> tuple[float, float, float, float]:
        """(fx, fy, cx + 1/2, cy + 1/2): for libraries that put (0, 0) at the corner of the first pixel."""
        return self.fx, self.fy, self.cx + 0.5, self.cy + 0.5

    def distort(self, xy: ArrayLike) -> Array:
        """Return where the lens puts normalised coordinates, shape (n, 2)."""
        x, y = finite_array("xy", xy, (None, 2)).T
        with np.errstate(over="ignore", invalid="ignore"):
            r2 = x * x + y * y
            f = 1.0 + r2 * (self.k1 + r2 * (self.k2 + r2 * self.k3))
            out = np.stack(
                [
                    x * f + 2.0 * self.p1 * x * y + self.p2 * (r2 + 2.0 * x * x),
                    y * f + self.p1 * (r2 + 2.0 * y * y) + 2.0 * self.p2 * x * y,
                ],
                axis=1,
            )
        return finite_result("distorted coordinates", out)

    def distort_jacobian(self, xy: ArrayLike) -> Array:
        """Return the derivative of `distort` by (x, y), shape (n, 2, 2)."""
        x, y = finite_array("xy", xy, (None, 2)).T
        with np.errstate(over="ignore", invalid="ignore"):
            r2 = x * x + y * y
            f = 1.0 + r2 * (self.k1 + r2 * (self.k2 + r2 * self.k3))
            g = 2.0 * (self.k1 + r2 * (2.0 * self.k2 + 3.0 * self.k3 * r2))  # (df/dr^2) * 2, so df/dx = g x
            J = np.empty((len(x), 2, 2))
            J[:, 0, 0] = f + g * x * x + 2.0 * self.p1 * y + 6.0 * self.p2 * x
            J[:, 0, 1] = J[:, 1, 0] = g * x * y + 2.0 * self.p1 * x + 2.0 * self.p2 * y
            J[:, 1, 1] = f + g * y * y + 6.0 * self.p1 * y + 2.0 * self.p2 * x
        return finite_result("distortion Jacobian", J)

    def undistort(self, xy: ArrayLike) -> Array:
        """Return the normalised coordinates that the lens puts at given places, by Newton's method.

        Args:
            xy: distorted normalised coordinates, shape (n, 2).

        Returns:
            shape (n, 2).

        Raises:
            VisionError: DISTORTION where no point of the valid field is seen there; bad arrays.
        """
        wanted = finite_array("xy", xy, (None, 2))
        if not self.distortion.any():
            return wanted
        s = wanted.copy()
        for _ in range(NEWTON_STEPS):
            try:
                error = self.distort(s) - wanted
                if not error.size or np.abs(error).max() < NEWTON_TOLERANCE * (1.0 + np.abs(wanted).max()):
                    # Beyond the fold of the lens the map is reversed: a root there is not what the camera sees.
                    J = self.distort_jacobian(s)
                    if np.all(np.linalg.det(J) > 0.0) and np.all(J[:, 0, 0] + J[:, 1, 1] > 0.0):
                        return s
                    break
                s = s - np.linalg.solve(self.distort_jacobian(s), error[:, :, None])[:, :, 0]
            except (np.linalg.LinAlgError, VisionError):
                break
        raise VisionError(
            Condition.DISTORTION, "a point is outside the field in which the distortion can be inverted", field="xy"
        )

    def pixels(self, xy: ArrayLike) -> Array:
        """Return (column, row) of normalised coordinates, distortion included, shape (n, 2) [pixels]."""
        return finite_result("pixels", self.distort(xy) * (self.fx, self.fy) + (self.cx, self.cy))

    def normalized(self, pixels: ArrayLike) -> Array:
        """Return the normalised coordinates of (column, row), distortion removed, shape (n, 2).

        Raises:
            VisionError: DISTORTION; bad arrays.
        """
        p = finite_array("pixels", pixels, (None, 2))
        return self.undistort(finite_result("coordinates", (p - (self.cx, self.cy)) / (self.fx, self.fy)))

    def project(self, points: ArrayLike) -> Array:
        """Return (column, row) of points in the optical frame.

        Args:
            points: x right, y down, z forward, shape (n, 3) [m].

        Returns:
            shape (n, 2) [pixels]; it may be outside the image, see `in_view`.

        Raises:
            VisionError: BEHIND_CAMERA; bad arrays.
        """
        p = finite_array("points", points, (None, 3))
        Z = positive_depth("depth of points", p[:, 2], condition=Condition.BEHIND_CAMERA)
        return self.pixels(finite_result("xy", p[:, :2] / Z[:, None]))

    def pinhole(self) -> CameraModel:
        """Return the camera without distortion that sees all that this one sees, with pixels nowhere coarser.

        Raises:
            VisionError: DISTORTION where the lens folds the picture within the image.
        """
        if not self.distortion.any():
            return self
        low, high, stretch = np.full(2, np.inf), np.full(2, -np.inf), 1.0
        column = np.arange(self.width, dtype=float)
        for row in range(0, self.height, ROWS_AT_ONCE):
            rows = np.arange(row, min(row + ROWS_AT_ONCE, self.height), dtype=float)
            c, r = np.meshgrid(column, rows)
            xy = self.normalized(np.stack([c.ravel(), r.ravel()], axis=1))
            low, high = np.minimum(low, xy.min(axis=0)), np.maximum(high, xy.max(axis=0))
            stretch = max(stretch, float(np.linalg.norm(self.distort_jacobian(xy), 2, axis=(1, 2)).max()))
        fx, fy = self.fx * stretch, self.fy * stretch
        return CameraModel(
            fx=fx,
            fy=fy,
            cx=EDGE_PIXELS - float(low[0]) * fx,
            cy=EDGE_PIXELS - float(low[1]) * fy,
            width=math.ceil((high[0] - low[0]) * fx + 2 * EDGE_PIXELS) + 1,
            height=math.ceil((high[1] - low[1]) * fy + 2 * EDGE_PIXELS) + 1,
        )

    def in_view(self, pixels: ArrayLike) -> np.ndarray:
        """Return which pixels lie in the image, between the outer edges of its first and last pixels.

        Args:
            pixels: (column, row), shape (n, 2).

        Returns:
            shape (n,), bool.
        """
        p = finite_array("pixels", pixels, (None, 2))
        return np.all((p >= -0.5) & (p <= np.array([self.width, self.height]) - 0.5), axis=1)
