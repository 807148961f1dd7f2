"""AprilTags: the picture of a tag, and a detector that finds tags in images and tells their poses.

Detection is done by the AprilTag library (E. Olson, AprilTag: A robust and flexible visual fiducial system, ICRA 2011;
J. Wang and E. Olson, AprilTag 2, IROS 2016) through the package pyapriltags, which the extra ``vision`` installs.

Conventions. Pixels have their centres at whole numbers, as everywhere in pliant; the library puts (0, 0) at the corner
of the first pixel. A tag's frame has x to the right, y up and z out of the print; the library's has y down and z into
the print. The corners come in the order of `tag_corners`. The size of a tag is the edge of its black border.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import importing
from pliant.camera.conditions import Array, Condition, VisionError, number, whole_number
from pliant.camera.model import CameraModel
from pliant.vision.detector import estimate_planar_pose, tag_corners
from pliant.vision.points import project_points

if TYPE_CHECKING:
    import pyapriltags

FAMILIES = ("tag36h11", "tag25h9", "tag16h5")
"""Families whose tags are squares with a black border."""
MAX_HAMMING = 1
"""Corrected bits up to which a detection counts; assumed, with more the library invents tags in plain texture."""
LUMA = (77, 150, 29)
"""Weights of red, green and blue in the brightness, of 256 (ITU-R BT.601)."""


def _detector(families: str, *, decimate: float = 1.0, threads: int = 1) -> pyapriltags.Detector:
    with importing("pyapriltags", command='pip install "pliant[vision]"', purpose="drawing and detecting AprilTags"):
        import pyapriltags
    if families not in FAMILIES:
        raise VisionError(
            Condition.OUT_OF_RANGE, f"the family is {families!r}; must be one of {', '.join(FAMILIES)}", field="family"
        )
    return pyapriltags.Detector(families=families, quad_decimate=decimate, nthreads=threads)


def _known(tag_id: Any, family: str, count: int) -> int:
    """Return the number of a tag, if its family has it."""
    whole = isinstance(tag_id, int | np.integer) and not isinstance(tag_id, bool)
    if not whole or not 0 <= tag_id < count:
        raise VisionError(
            Condition.OUT_OF_RANGE, f"the tag is {tag_id!r}; {family} has tags 0 to {count - 1}", field="tag_id"
        )
    return int(tag_id)


def tag_cells(tag_id: int, family: str = "tag36h11") -> np.ndarray:
    """Return the cells of a tag as printed, its white margin included.

    Args:
        tag_id: number of the tag in its family.
        family: one of `FAMILIES`.

    Returns:
        shape (n, n), bool, true where it is white, rows from above; n is 10 for tag36h11, whose border has 8.

    Raises:
        MissingDependency: the package pyapriltags is not installed.
        VisionError: OUT_OF_RANGE: an unknown family, a number that it does not have.
    """
    detector = _detector(family)
    tags = detector.tag_families[family].contents
    count = int(tags.ncodes)
    border, code, bits = int(tags.width_at_border), int(tags.codes[_known(tag_id, family, count)]), int(tags.nbits)
    cells = np.zeros((border + 2, border + 2), dtype=bool)
    cells[[0, -1], :] = cells[:, [0, -1]] = True
    for k in range(bits):
        cells[tags.bit_y[k] + 1, tags.bit_x[k] + 1] = bool(code >> (bits - 1 - k) & 1)
    return cells


def tag_image(
    tag_id: int, family: str = "tag36h11", *, pixels: int = 16, white: int = 255, black: int = 0
) -> np.ndarray:
    """Return the picture of a tag, its white margin of one cell included.

    Args:
        tag_id: number of the tag in its family.
        family: one of `FAMILIES`.
        pixels: edge of a cell [pixels].
        white: value of a white pixel.
        black: value of a black pixel.

    Returns:
        shape (n, n), uint8; n is 10 times `pixels` for tag36h11.

    Raises:
        MissingDependency, VisionError: as `tag_cells`.
    """
    pixels = whole_number("pixels", pixels, low=1, high=1000)
    white, black = (whole_number(name, value, low=0, high=255) for name, value in (("white", white), ("black", black)))
    cells = tag_cells(tag_id, family)
    return np.kron(np.where(cells, white, black).astype(np.uint8), np.ones((pixels, pixels), dtype=np.uint8))


@dataclass(frozen=True, slots=True, kw_only=True)
class TagDetection:
    """A tag that was found in an image."""

    tag_id: int
    """Its number."""
    pixels: Array
    """(column, row) of its corners, in the order of `tag_corners`, shape (4, 2)."""
    xy: Array
    """Their normalised coordinates, distortion removed, shape (4, 2)."""
    X_CO: Array
    """Pose of the tag in the optical frame, shape (4, 4)."""
    error: float
    """Root mean square of the distance between the corners found and those of the pose [pixels]."""
    hamming: int
    """Bits that were corrected."""
    margin: float
    """Contrast of its bits, as the library counts it; below some 20 it is doubtful."""

    Z: Array
    """Depths of the corners by the pose, shape (4,) [m]."""


class AprilTagDetector:
    """Finds AprilTags in images of a camera.

    Args:
        camera: the camera's model. An image with distortion is rectified first: the library fits straight edges.
        size: edge of the black border [m], of all tags or of each by its number; tags without a size are passed over.
        family: one of `FAMILIES`.
        decimate: factor by which the image is made smaller for the search; 1 finds the smallest tags.
        threads: of the library, 1 to 64.

    Raises:
        MissingDependency: the package pyapriltags is not installed.
        VisionError: OUT_OF_RANGE: an unknown family, a number of a tag that it does not have, a size of zero or less.

    Example:
        >>> detector = AprilTagDetector(device.camera, size=0.08)
        >>> detector.find(sample.values["image"], tag_id=0).X_CO
    """

    def __init__(
        self,
        camera: CameraModel,
        size: float | Mapping[int, float],
        *,
        family: str = "tag36h11",
        decimate: float = 1.0,
        threads: int = 1,
    ) -> None:
        self.camera, self.family = camera, family
        self._one = None if isinstance(size, Mapping) else number("size", size, low=0.0, above=True)
        sizes = size.items() if isinstance(size, Mapping) else ()
        number("decimate", decimate, low=1.0, high=8.0)
        threads = whole_number("threads", threads, low=1, high=64)
        self._pinhole = camera.pinhole()
        self._lookup = _Lookup(camera, self._pinhole) if camera.distortion.any() else None
        self._library = _detector(family, decimate=float(decimate), threads=threads)
        self._count = int(self._library.tag_families[family].contents.ncodes)
        self._sizes = {
            _known(tag, family, self._count): number(f"size of tag {tag}", s, low=0.0, above=True) for tag, s in sizes
        }

    def detect(self, image: np.ndarray) -> list[TagDetection]:
        """Return the tags in an image, by number; where one number is seen twice, both.

        Args:
            image: shape (height, width) or (height, width, 3), RGB, uint8.

        Raises:
            VisionError: SHAPE: another size than the camera's, or no bytes.
        """
        gray = self._gray(image)
        if self._lookup is not None:
            gray = self._lookup(gray)
        found = []
        for raw in self._library.detect(gray):
            size = self._one if self._one is not None else self._sizes.get(int(raw.tag_id))
            if size is None or raw.hamming > MAX_HAMMING:
                continue
            try:
                xy = self._pinhole.normalized(np.array(raw.corners, dtype=float) - 0.5)
                pixels = self.camera.pixels(xy)
                X_CO = estimate_planar_pose(xy, tag_corners(size))
                seen, Z = project_points(tag_corners(size), X_CO)
                miss = self.camera.pixels(seen) - pixels
            except VisionError as error:
                if error.condition in (Condition.DEGENERATE, Condition.DISTORTION, Condition.BEHIND_CAMERA):
                    continue  # a patch that no tag can look like
                raise
            found.append(
                TagDetection(
                    tag_id=int(raw.tag_id),
                    pixels=pixels,
                    xy=xy,
                    X_CO=X_CO,
                    error=float(np.sqrt(np.mean(np.sum(miss**2, axis=1)))),
                    hamming=int(raw.hamming),
                    margin=float(raw.decision_margin),
                    Z=Z,
                )
            )
        return sorted(found, key=lambda tag: (tag.tag_id, tag.error))

    def find(self, image: np.ndarray, tag_id: int) -> TagDetection:
        """Return one tag in an image.

        Raises:
            VisionError: OUT_OF_VIEW: it is not seen, the message names those that are; OUT_OF_RANGE: the family has no
                such tag; SHAPE as in `detect`.
        """
        tag_id = _known(tag_id, self.family, self._count)
        seen = self.detect(image)
        for tag in seen:
            if tag.tag_id == tag_id:
                return tag
        others = ", ".join(str(tag.tag_id) for tag in seen) or "none"
        raise VisionError(
            Condition.OUT_OF_VIEW, f"tag {tag_id} of {self.family} is not in the image; seen: {others}", field="image"
        )

    def _gray(self, image: np.ndarray) -> np.ndarray:
        try:
            pixels = np.asarray(image)
        except ValueError:
            raise VisionError(Condition.SHAPE, "the image is no array of bytes", field="image") from None
        wanted = (self.camera.height, self.camera.width)
        if pixels.dtype != np.uint8 or pixels.shape not in (wanted, (*wanted, 3)):
            raise VisionError(
                Condition.SHAPE,
                f"the image has shape {pixels.shape} and type {pixels.dtype}; must be {wanted} or {(*wanted, 3)}, "
                "uint8, as the camera's model says",
                field="image",
            )
        if pixels.ndim == 3:
            r, g, b = (pixels[..., k].astype(np.uint16) * LUMA[k] for k in range(3))
            pixels = ((r + g + b) >> 8).astype(np.uint8)
        return np.ascontiguousarray(pixels)


class _Lookup:
    """Rectifies images: each pixel of a pinhole is interpolated linearly in the picture of a camera with distortion."""

    def __init__(self, camera: CameraModel, pinhole: CameraModel) -> None:
        column, row = np.meshgrid(np.arange(pinhole.width, dtype=float), np.arange(pinhole.height, dtype=float))
        xy = pinhole.normalized(np.stack([column.ravel(), row.ravel()], axis=1))
        at = camera.pixels(xy)
        # What lies beyond the edge of the image, or beyond the fold of the lens, is nowhere in the picture.
        J = camera.distort_jacobian(xy)
        inside = camera.in_view(at) & (np.linalg.det(J) > 0.0) & (J[:, 0, 0] + J[:, 1, 1] > 0.0)
        at = np.clip(at, 0.0, np.array([camera.width, camera.height]) - 1.001)
        first = np.floor(at).astype(np.intp)
        u, v = ((at - first).T * 256.0).astype(np.uint32)
        self._corner = np.where(inside, first[:, 1] * camera.width + first[:, 0], 0)
        self._weights = [(256 - u) * (256 - v), u * (256 - v), (256 - u) * v, u * v]
        self._weights = [np.where(inside, weight, 0).astype(np.uint32) for weight in self._weights]
        self._steps = (0, 1, camera.width, camera.width + 1)
        self._shape = pinhole.height, pinhole.width

    def __call__(self, gray: np.ndarray) -> np.ndarray:
        flat, total = gray.ravel(), np.full(self._corner.shape, 1 << 15, dtype=np.uint32)
        for step, weight in zip(self._steps, self._weights, strict=True):
            total += weight * flat[self._corner + step]
        return (total >> 16).astype(np.uint8).reshape(self._shape)
