"""A visual that shows images of other programs."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from pliant.base.errors import DeviceError
from pliant.devices.base import DeviceBase, DeviceOptions, FieldInfo, request
from pliant.devices.kinds import device_for
from pliant.devices.sensors import sample_period
from pliant.engine.base import Engine, mujoco_state
from pliant.model.robot import Robot
from pliant.yarp.model.services import VideoTexture

RATE = 100.0
"""Samples a second [Hz]."""
MAX_SIDE = 8192
"""Longest side of an image [pixels]."""


@device_for(VideoTexture)
class VideoTextureDevice(DeviceBase):
    """Shows images on a visual; cameras see the newest one from the next step on.

    Args:
        description: the device.
        robot: the robot, whose model has the texture.
        options: of `DeviceBase`; without ``sample_period`` it samples a hundred times a second.
    """

    signatures = ("video_texture",)

    def __init__(self, description: VideoTexture, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        options.setdefault("sample_period", sample_period(RATE, float(robot.spec.option.timestep)))
        super().__init__(
            description.name,
            samples={"images": FieldInfo((), "", "number of images that were shown since the start")},
            **options,
        )
        self.description = description
        self.metadata = {"port": description.port, "source": description.source}

    def _connect(self, engine: Engine) -> None:
        import mujoco

        self._state = mujoco_state(engine, self.name)
        model = self._state.model
        self._texture = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_TEXTURE, self.description.texture)
        if self._texture < 0:
            raise DeviceError(
                f"{self.name}: the model has no texture {self.description.texture!r}", field=self.description.texture
            )
        start = int(model.tex_adr[self._texture])
        height, width = int(model.tex_height[self._texture]), int(model.tex_width[self._texture])
        self._pixels = model.tex_data[start : start + 3 * height * width].reshape(height, width, 3)
        self._initial = self._pixels.copy()
        self._shown = 0

    def _restart(self, rng: np.random.Generator) -> None:
        if self._shown:
            self._change(self._initial)
        self._shown = 0

    def _measure(self) -> dict[str, float | np.ndarray]:
        return {"images": float(self._shown)}

    def _change(self, pixels: np.ndarray) -> None:
        state = self._state
        with state.change_model():
            self._pixels[:] = pixels
        state.textures[self._texture] = state.textures.get(self._texture, 0) + 1

    @request
    def show(self, pixels: np.ndarray) -> None:
        """Show an image, scaled to the texture's size: each pixel of the texture is the image's nearest one.

        Args:
            pixels: RGB, shape (height, width, 3), uint8, rows from above.

        Raises:
            DeviceError: another shape or type.
        """
        image = np.asarray(pixels)
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or not min(image.shape) > 0:
            raise DeviceError(
                f"{self.name}: the image has shape {image.shape} of {image.dtype}; must be (height, width, 3) of uint8",
                field="pixels",
            )
        if max(image.shape) > MAX_SIDE:
            raise DeviceError(
                f"{self.name}: the image is {image.shape[1]} x {image.shape[0]}; must be at most {MAX_SIDE} a side",
                field="pixels",
            )
        if image.shape != self._pixels.shape:
            height, width = self._pixels.shape[:2]
            rows = (np.arange(height) * 2 + 1) * image.shape[0] // (2 * height)
            columns = (np.arange(width) * 2 + 1) * image.shape[1] // (2 * width)
            image = image.take(rows, 0).take(columns, 1)
        self._change(image)  # MuJoCo counts rows of a texture as pictures have them, from above
        self._shown += 1
