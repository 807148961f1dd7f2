"""Cameras as foxglove.RawImage and foxglove.CameraCalibration."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import BridgeError
from pliant.devices.base import Sample
from pliant.devices.signatures import CameraSource
from pliant.recording.sample_message import sample_topic

if TYPE_CHECKING:
    from foxglove.channels import CameraCalibrationChannel, RawImageChannel

ENCODINGS = {"image": ("rgb8", 3), "depth": ("32FC1", 4)}
"""Field of a sample -> encoding of foxglove.RawImage, bytes per pixel."""


class CameraTopics:
    """The topics of one camera: ``/<camera>/image``, ``/<camera>/depth``, ``/<camera>/calibration``.

    Args:
        sdk: the package ``foxglove``.
        context: where its channels are.
        device: the camera, attached.

    Raises:
        BridgeError: it is not attached.
    """

    def __init__(self, sdk: ModuleType, context: object, device: CameraSource) -> None:
        if device.camera is None:
            raise BridgeError(f"the camera {device.name!r} is not attached to an engine", field=device.name)
        self._messages, self._lens, self._frame = sdk.messages, device.camera, device.frame
        topic = sample_topic(device.name)
        images = sdk.channels.RawImageChannel
        fields = [field for field in ENCODINGS if field in device.samples]
        self.images = {field: images(f"{topic}/{field}", context=context) for field in fields}
        self.calibration = sdk.channels.CameraCalibrationChannel(f"{topic}/calibration", context=context)

    @property
    def channels(self) -> list[RawImageChannel | CameraCalibrationChannel]:
        """Its channels."""
        return [*self.images.values(), self.calibration]

    def jobs(self, sample: Sample) -> list[Callable[[], None]]:
        """Return what sends a sample to those who listen; another thread may run it."""
        found: list[Callable[[], None]] = [
            partial(self._send_image, field, channel, sample)
            for field, channel in self.images.items()
            if channel.has_sinks()
        ]
        if self.calibration.has_sinks():
            found.append(partial(self._send_calibration, sample.stamp_ns))
        return found

    def _send_image(self, field: str, channel: RawImageChannel, sample: Sample) -> None:
        encoding, size = ENCODINGS[field]
        message = self._messages.RawImage(
            timestamp=self._messages.Timestamp(*divmod(sample.stamp_ns, 1_000_000_000)),
            frame_id=self._frame,
            width=self._lens.width,
            height=self._lens.height,
            encoding=encoding,
            step=size * self._lens.width,
            data=np.ascontiguousarray(sample.values[field]).tobytes(),
        )
        channel.log(message, log_time=sample.stamp_ns)

    def _send_calibration(self, stamp_ns: int) -> None:
        lens = self._lens
        message = self._messages.CameraCalibration(
            timestamp=self._messages.Timestamp(*divmod(stamp_ns, 1_000_000_000)),
            frame_id=self._frame,
            width=lens.width,
            height=lens.height,
            distortion_model="plumb_bob",
            D=lens.distortion.tolist(),
            K=[lens.fx, 0.0, lens.cx, 0.0, lens.fy, lens.cy, 0.0, 0.0, 1.0],
            R=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            P=[lens.fx, 0.0, lens.cx, 0.0, 0.0, lens.fy, lens.cy, 0.0, 0.0, 0.0, 1.0, 0.0],
        )
        self.calibration.log(message, log_time=stamp_ns)
