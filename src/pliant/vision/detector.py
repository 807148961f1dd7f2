"""A detector without an image: exact corners of a target, with noise if asked for, and the pose that they tell.

It is the oracle for tests of servo loops and of detectors that read images. A square tag's frame has x to the right,
y up and z out of the printed side, as it hangs on the wall; its corners come in the order (-h, -h), (h, -h), (h, h),
(-h, h). AprilTag libraries have y down and z into the tag: `TAG_FROM_APRILTAG` turns one into the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.spatial import pose
from pliant.camera.conditions import Array, Condition, VisionError, finite_array, finite_result, number
from pliant.camera.model import CameraModel
from pliant.vision.kinematics import camera_moved
from pliant.vision.points import point_interaction, project_points

TAG_FROM_APRILTAG = pose(R=np.diag([1.0, -1.0, -1.0]))
"""Pose of the tag frame of AprilTag libraries in pliant's; its own inverse.

X_CO = X_CA @ TAG_FROM_APRILTAG, where X_CA is the pose that such a library returns.
"""


def tag_corners(size: float) -> Array:
    """Return the corners of a square tag in its frame, shape (4, 3) [m].

    Args:
        size: edge of the square that the detector finds, the outer edge of the black border [m].

    Raises:
        VisionError: a size of zero or less.
    """
    h = 0.5 * number("size", size, low=0.0, above=True)
    return np.array([[-h, -h, 0.0], [h, -h, 0.0], [h, h, 0.0], [-h, h, 0.0]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """Result of a detector."""

    pixels: Array
    """(column, row) of each point, with noise and distortion, shape (n, 2)."""
    xy: Array
    """Normalised coordinates, distortion removed, shape (n, 2)."""
    Z: Array
    """True depths, without noise, shape (n,) [m]."""


class ExactDetector:
    """Points of a target, projected through a camera.

    Args:
        camera: the camera model.
        points: in the target's frame, shape (n, 3) [m].
        noise: standard deviation of each pixel coordinate [pixels].
        rng: source of the noise; needed where noise is not 0.
        need_view: whether a point outside the image is an error (OUT_OF_VIEW).

    Raises:
        VisionError: bad points or noise; noise without a source.

    Example:
        >>> detector = ExactDetector(CameraModel.from_field_of_view(0.8, 640, 480), tag_corners(0.08))
        >>> detector.detect(facing_pose(0.24)).Z
        array([0.24, 0.24, 0.24, 0.24])
    """

    def __init__(
        self,
        camera: CameraModel,
        points: ArrayLike,
        *,
        noise: float = 0.0,
        rng: np.random.Generator | None = None,
        need_view: bool = True,
    ) -> None:
        self.camera, self.rng, self.need_view = camera, rng, need_view
        self.points = finite_array("points", points, (None, 3))
        self.noise = number("noise", noise, low=0.0)
        if self.noise > 0.0 and rng is None:
            raise VisionError(Condition.OUT_OF_RANGE, "noise needs rng=np.random.default_rng(seed)", field="rng")

    def detect(self, X_CO: ArrayLike) -> Detection:
        """Return what the camera sees of the target.

        Args:
            X_CO: pose of the target in the optical frame, shape (4, 4).

        Raises:
            VisionError: BEHIND_CAMERA, OUT_OF_VIEW, DISTORTION; not a pose.
        """
        xy, Z = project_points(self.points, X_CO)
        pixels = self.camera.pixels(xy)
        if self.noise > 0.0 and self.rng is not None:
            pixels = pixels + self.rng.normal(0.0, self.noise, pixels.shape)
        if self.need_view and not np.all(seen := self.camera.in_view(pixels)):
            i = int(np.flatnonzero(~seen)[0])
            raise VisionError(
                Condition.OUT_OF_VIEW,
                f"point {i} is at column {pixels[i, 0]:.1f}, row {pixels[i, 1]:.1f}; "
                f"the image has {self.camera.width} x {self.camera.height} pixels",
                field="X_CO",
            )
        return Detection(pixels=pixels, xy=self.camera.normalized(pixels), Z=Z)


def estimate_planar_pose(xy: ArrayLike, points: ArrayLike, *, iterations: int = 50) -> Array:
    """Return the pose of a plane target from its points in the image.

    A homography gives the start, Gauss-Newton steps on the reprojection error the end; their matrix is the interaction
    matrix of the points (virtual visual servoing, Marchand and Chaumette 2002). A target nearly parallel to the image
    has two poses of nearly equal error, of which the one near the homography's is returned.

    Args:
        xy: normalised coordinates, shape (n, 2), n >= 4.
        points: in the target's frame, z = 0, shape (n, 3) [m].
        iterations: steps at most.

    Returns:
        X_CO, shape (4, 4).

    Raises:
        VisionError: DEGENERATE where the points do not fix a pose (too few, in a line, not in the plane z = 0, or
            the steps do not converge); BEHIND_CAMERA; bad arrays.
    """
    s, p = finite_array("xy", xy, (None, 2)), finite_array("points", points, (None, 3))
    if len(s) != len(p):
        raise VisionError(Condition.SHAPE, f"xy has {len(s)} points, points has {len(p)}", field="xy")
    if len(p) < 4:
        raise VisionError(
            Condition.DEGENERATE, f"{len(p)} points do not fix a pose; must be at least 4", field="points"
        )
    size = float(np.abs(p[:, :2]).max())
    if not size > 0.0 or np.abs(p[:, 2]).max() > 1e-9 * size:
        raise VisionError(Condition.DEGENERATE, "the points must lie in the plane z = 0 of the target", field="points")
    X = _pose_of_homography(s, p[:, :2] / size, size)
    for _ in range(iterations):
        found, Z = project_points(p, X)
        step, _, rank, _ = np.linalg.lstsq(point_interaction(found, Z), (s - found).ravel(), rcond=1e-9)
        if rank < 6:
            break
        X = camera_moved(X, step, 1.0)
        if np.abs(step).max() < 1e-13 * max(1.0, float(np.linalg.norm(X[:3, 3]))):
            return X
    # The last bits of the steps go up and down: accept what no longer moves by anything that can be measured.
    found, Z = project_points(p, X)
    step, _, rank, _ = np.linalg.lstsq(point_interaction(found, Z), (s - found).ravel(), rcond=1e-9)
    if rank < 6 or np.abs(step).max() > 1e-8:
        raise VisionError(Condition.DEGENERATE, "the points in the image do not fix a pose", field="xy")
    return X


def _pose_of_homography(s: Array, q: Array, size: float) -> Array:
    """Return the pose of the homography from the plane's coordinates q, of order one, to the image's s."""
    n = len(s)
    A = np.zeros((2 * n, 9))
    A[0::2, 0:2], A[0::2, 2], A[0::2, 6:8], A[0::2, 8] = q, 1.0, -s[:, :1] * q, -s[:, 0]
    A[1::2, 3:5], A[1::2, 5], A[1::2, 6:8], A[1::2, 8] = q, 1.0, -s[:, 1:] * q, -s[:, 1]
    _, values, Vt = np.linalg.svd(finite_result("equations", A))
    if values[7] <= 1e-10 * values[0]:
        raise VisionError(Condition.DEGENERATE, "the points lie in a line or coincide", field="points")
    H = Vt[-1].reshape(3, 3)
    scale = 0.5 * float(np.linalg.norm(H[:, 0]) + np.linalg.norm(H[:, 1]))
    if not scale > 1e-12:
        raise VisionError(Condition.DEGENERATE, "the points in the image coincide", field="xy")
    H = H / (scale if H[2, 2] > 0.0 else -scale)
    U, _, Wt = np.linalg.svd(np.column_stack([H[:, 0], H[:, 1], np.cross(H[:, 0], H[:, 1])]))
    R = U @ np.diag([1.0, 1.0, np.linalg.det(U @ Wt)]) @ Wt
    return pose(H[:, 2] * size, R)
