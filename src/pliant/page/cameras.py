"""Pictures of the robot's cameras on the page, with what was found in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pliant.base.errors import PliantError
from pliant.base.wing import offer
from pliant.devices.base import FieldInfo, Sample, SampleSource
from pliant.page.controls import Say, plain_name

if TYPE_CHECKING:
    import viser
    from numpy.typing import ArrayLike
    from PIL import ImageDraw

    from pliant.base.camera import CameraParameters

MAX_WIDTH = 480
"""Width of a picture on the page [pixels]; larger ones are made smaller."""
MAX_MARKS = 200
"""Most points that are marked in a picture."""
TAG_COLOUR = (46, 204, 113)
MARK_COLOUR = (231, 76, 60)
TAG_SIZE = 0.08
"""Edge of a tag that is taken to draw its outline [m]; the outline does not depend on it."""


class _Tag(Protocol):
    """A tag in a picture."""

    @property
    def pixels(self) -> ArrayLike: ...

    @property
    def tag_id(self) -> int: ...


class _Detector(Protocol):
    """Finds tags in pictures; a wing offers one."""

    def detect(self, image: np.ndarray) -> Sequence[_Tag]: ...


@dataclass(slots=True)
class _Picture:
    """One camera on the page."""

    field: str
    """Field with the colours."""
    handle: viser.GuiImageHandle
    """viser's image."""
    tags: viser.GuiCheckboxHandle
    """Box that turns the search for tags on."""
    camera: CameraParameters | None
    """Model of the camera, None where the source has none."""
    detector: _Detector | None = None
    """Finds tags; made when it is asked for."""
    seq: int = -1
    """Sample that is shown."""
    marks: np.ndarray | None = None
    """Points that a program has found, shape (n, 2) [pixels]."""


class Cameras:
    """The pictures of all cameras, in a GUI container.

    Args:
        gui: viser's GUI.
        devices: name -> source of samples.
        say: tells what cannot be done.
    """

    def __init__(self, gui: viser.GuiApi, devices: Mapping[str, SampleSource], say: Say) -> None:
        self._say = say
        self._pictures: dict[str, _Picture] = {}
        for name, device in devices.items():
            for field, info in device.samples.items():
                if _colours(info):
                    empty = np.full((info.shape[0] // 4, info.shape[1] // 4, 3), 128, dtype=np.uint8)
                    handle = gui.add_image(empty, label=plain_name(name), format="jpeg", jpeg_quality=80)
                    box = gui.add_checkbox("mark tags", initial_value=True, hint="AprilTags of the family 36h11")
                    self._pictures[name] = _Picture(field, handle, box, getattr(device, "camera", None))

    @staticmethod
    def wanted(devices: Mapping[str, SampleSource]) -> bool:
        """Return whether a robot has a camera with colours."""
        return any(_colours(info) for device in devices.values() for info in device.samples.values())

    def mark(self, camera: str, pixels: ArrayLike) -> None:
        """Mark points in a camera's picture until the next call, such as the features that a controller uses.

        Args:
            camera: name of the device.
            pixels: (column, row) of each point, shape (n, 2); empty: none.
        """
        picture = self._pictures.get(camera)
        if picture is not None:
            points = np.asarray(pixels, dtype=float).reshape(-1, 2)[:MAX_MARKS]
            picture.marks = points[np.isfinite(points).all(axis=1)]

    def draw(self, latest: Mapping[str, Sample]) -> None:
        """Send the newest pictures."""
        for name, picture in self._pictures.items():
            sample = latest.get(name)
            if sample is None or sample.seq == picture.seq:
                continue
            picture.seq = sample.seq
            image = np.asarray(sample.values[picture.field])
            picture.handle.image = self._drawn(picture, image)

    def _drawn(self, picture: _Picture, image: np.ndarray) -> np.ndarray:
        from PIL import Image, ImageDraw

        canvas = Image.fromarray(np.ascontiguousarray(image))
        draw = ImageDraw.Draw(canvas)
        width = max(2, image.shape[1] // 200)
        for corners, number in self._tags(picture, image):
            loop = [tuple(corner) for corner in corners]
            draw.line([*loop, loop[0]], fill=TAG_COLOUR, width=width)
            for k, corner in enumerate(loop):
                _dot(draw, corner, 2.0 * width, MARK_COLOUR if k == 0 else TAG_COLOUR)
            middle = np.mean(loop, axis=0)
            draw.text((float(middle[0]), float(middle[1])), str(number), fill=MARK_COLOUR)
        for point in picture.marks if picture.marks is not None else ():
            _dot(draw, point, 2.0 * width, MARK_COLOUR)
        if canvas.width > MAX_WIDTH:
            canvas = canvas.resize((MAX_WIDTH, round(canvas.height * MAX_WIDTH / canvas.width)))
        return np.asarray(canvas)

    def _tags(self, picture: _Picture, image: np.ndarray) -> list[tuple[np.ndarray, int]]:
        if not picture.tags.value or picture.camera is None:
            return []
        try:
            found = picture.detector
            if found is None:
                detector = offer("detectors", "tags")
                if detector is None:
                    picture.tags.value = False
                    self._say("no wing that detects tags is installed")
                    return []
                found = picture.detector = detector.load()(picture.camera, size=TAG_SIZE, decimate=2.0)
            return [(np.asarray(tag.pixels), int(tag.tag_id)) for tag in found.detect(image)]
        except PliantError as error:
            picture.tags.value = False
            self._say(str(error))
        return []


def _colours(info: FieldInfo) -> bool:
    return info.dtype == "uint8" and len(info.shape) == 3 and info.shape[2] == 3


def _dot(
    draw: ImageDraw.ImageDraw, at: Sequence[float] | np.ndarray, radius: float, colour: tuple[int, int, int]
) -> None:
    x, y = float(at[0]), float(at[1])
    draw.ellipse([x - radius, y - radius, x + radius, y + radius], outline=colour, width=2)
