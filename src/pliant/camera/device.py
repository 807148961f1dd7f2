"""A camera as a device: pictures and distances, rendered by a thread of its own.

The state is copied at the sample's time and rendered elsewhere; the sample is given out when its latency has passed.
With a latency the loop goes on meanwhile and waits only for a picture that is not ready when it is due; without one it
waits for every picture. What is in a picture depends on neither.
"""

from __future__ import annotations

import atexit
import time
import weakref
from collections import deque
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeout
from types import MappingProxyType
from typing import Unpack

import numpy as np

from pliant.base.errors import DeviceError
from pliant.camera.model import CameraModel
from pliant.camera.renderer import Exposure, Renderer, RenderThread
from pliant.devices.base import DeviceOptions, FieldInfo, Mount, Sample
from pliant.devices.kinds import device_for
from pliant.devices.sensors import SensorDevice
from pliant.engine.base import Engine, mujoco_state
from pliant.model.noise import Noise
from pliant.model.robot import Robot
from pliant.model.sensors import Camera

RENDER_TIMEOUT = 60.0
"""Longest wait for one picture [s of wall time]; assumed, a thousand times what one takes."""


@device_for(Camera)
class CameraDevice(SensorDevice):
    """Device of a camera: its images.

    Samples have ``image``, shape (height, width, 3), uint8, RGB; ``depth``, shape (height, width), float32: the
    distance along the optical axis [m], infinite where nothing is between `near` and `far`; ``segmentation``, shape
    (height, width, 2), int32: number and type (`mujoco.mjtObj`) of the object, -1 where nothing is. Their stamp is that
    of the state that they show, which ends the exposure. The picture shows what MuJoCo's viewer shows, without sites.

    Args:
        description: the camera.
        robot: the robot that it is described on.
        options: of `DeviceBase`.
    """

    signatures = ("camera",)
    description: Camera

    noise_of_its_own = "set noise and depth_noise of its description"

    def __init__(self, description: Camera, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        height, width = description.height, description.width
        fields: dict[str, FieldInfo] = {}
        if description.color:
            fields["image"] = FieldInfo((height, width, 3), "", "colours, RGB, rows from above", dtype="uint8")
        if description.depth:
            text = "distance along the optical axis, infinite where there is nothing"
            fields["depth"] = FieldInfo((height, width), "m", text, dtype="float32")
        if description.segmentation:
            text = "number and type (mjtObj) of the object, -1 where there is nothing"
            fields["segmentation"] = FieldInfo((height, width, 2), "", text, dtype="int32")
        super().__init__(description, fields, {}, dt=float(robot.spec.option.timestep), **options)
        self.noise = {"image": description.noise, "depth": description.depth_noise, "segmentation": Noise()}
        self.topics = {
            "image": description.image_topic,
            "image_info": description.info_topic,
            "depth": description.depth_topic,
            "depth_info": description.depth_info_topic,
            "segmentation": description.segmentation_topic,
            "segmentation_info": description.segmentation_info_topic,
        }
        """Published quantity -> topic, below `topic` where it is not absolute."""
        self.camera: CameraModel | None = None
        """How points in its optical frame become pixels, distortion included; known once it is attached."""
        self._thread: RenderThread | None = None
        self._finalizer: weakref.finalize | None = None
        self._pictures: deque[tuple[int, Future[Mapping[str, np.ndarray]]]] = deque()
        self._waited_ns = self._worst_ns = self._late = 0

    # -- the loop thread ----------------------------------------------------------------------------------------

    def _connect(self, engine: Engine) -> None:
        state = mujoco_state(engine, f"camera {self.name!r}")
        model, data = state.model, state.data
        import mujoco

        self.close()
        described = self.description
        purpose = f"camera {self.name!r} (or switch it off: --set {self.name}.enabled=false)"

        def make() -> Renderer:
            return Renderer(
                model,
                described.model_camera,
                (described.width, described.height),
                clip=(described.near, described.far),
                shadows=described.shadows,
                samples=described.samples,
                lens=described.lens,
                exposure=Exposure(
                    gain=described.exposure,
                    time=described.exposure_time,
                    pictures=described.exposure_samples,
                    blur=described.blur,
                ),
                purpose=purpose,
            )

        thread = RenderThread(self.name, make)
        try:
            renderer = thread.renderer(RENDER_TIMEOUT)
        except FutureTimeout:
            raise DeviceError(
                f"{self.name}: the graphics library did not start within {RENDER_TIMEOUT:g} s", field=self.name
            ) from None
        except BaseException:
            thread.stop()
            raise
        _at_exit(self)
        self._thread = thread
        state.watch_model(self._finish_pictures)
        self._finalizer = weakref.finalize(self, thread.stop)
        self._finalizer.atexit = False
        self.camera = renderer.camera
        self._model, self._data, self._spec = model, data, renderer.state_spec
        self._size = mujoco.mj_stateSize(model, self._spec)
        self._get_state = mujoco.mj_getState
        self._textures = state.textures
        if not described.frame:
            place = model.camera(described.model_camera)
            self.mount = Mount(
                body=model.body(int(place.bodyid[0])).name,
                position=tuple(place.pos.tolist()),
                orientation=_about_x(tuple(place.quat.tolist())),
            )

    def _restart(self, rng: np.random.Generator) -> None:
        self._drain()
        self._waited_ns = self._worst_ns = self._late = 0
        bias = {key: float(rng.normal(0.0, noise.bias)) for key, noise in self.noise.items() if key in self.samples}
        self._errors = {key: _Errors(self.noise[key], value, rng) for key, value in bias.items()}

    def read(self, stamp_ns: int) -> Sample:
        """Let the present state be rendered; return the newest picture whose latency has passed.

        Raises:
            DeviceError: the graphics library does not answer.
        """
        if self._thread is None:
            raise DeviceError(f"{self.name}: the camera is closed, or was never attached", field=self.name)
        state = np.empty(self._size)
        self._get_state(self._model, self._data, state, self._spec)
        errors = self._errors
        wanted = {"color": "image" in errors, "depth": "depth" in errors, "segmentation": "segmentation" in errors}

        textures = dict(self._textures)

        def job(renderer: Renderer) -> Mapping[str, np.ndarray]:
            if textures:
                renderer.load_textures(textures)
            picture = renderer.render(state, **wanted)
            found = {"image": picture.color, "depth": picture.depth, "segmentation": picture.segmentation}
            return MappingProxyType({key: errors[key](array) for key, array in found.items() if array is not None})

        line = self._pictures
        line.append((stamp_ns, self._thread.submit(job)))
        while len(line) > 1 and line[1][0] <= stamp_ns - self.latency_ns:
            line.popleft()
        measured_ns, picture = line[0]
        if not picture.done():
            began = time.perf_counter_ns()
            self._await(picture)
            waited = time.perf_counter_ns() - began
            self._late += 1
            self._waited_ns += waited
            self._worst_ns = max(self._worst_ns, waited)
        values = self._await(picture)
        return self._sample(measured_ns if self._stamp_measurement else stamp_ns, values)

    def close(self) -> None:
        """Free the graphics library and join the thread; may be called twice. The simulation calls it."""
        self._pictures.clear()
        thread, self._thread = self._thread, None
        if self._finalizer is not None:
            self._finalizer.detach()
        if thread is not None:
            thread.stop()

    def health(self) -> Mapping[str, object]:
        """Return the counters, with how often and how long the loop waited for a picture [s of wall time]."""
        return {
            **super().health(),
            "waits": self._late,
            "waited": self._waited_ns * 1e-9,
            "worst_wait": self._worst_ns * 1e-9,
        }

    # -- inside -------------------------------------------------------------------------------------------------

    def _await(self, picture: Future[Mapping[str, np.ndarray]]) -> Mapping[str, np.ndarray]:
        try:
            return picture.result(RENDER_TIMEOUT)
        except (FutureTimeout, CancelledError):
            raise DeviceError(
                f"{self.name}: the graphics library gave no picture within {RENDER_TIMEOUT:g} s", field=self.name
            ) from None
        except Exception as error:  # whatever the driver raises
            raise DeviceError(
                f"{self.name}: the picture cannot be rendered: {type(error).__name__}: {error}", field=self.name
            ) from error

    def _finish_pictures(self) -> None:
        """Wait for what is being rendered, which shows the model as it is."""
        for _, picture in self._pictures:
            self._await(picture)

    def _drain(self) -> None:
        """Wait for what is being rendered: the next run's noise must not meet the last one's pictures."""
        for _, picture in self._pictures:
            if not picture.cancel():
                self._await(picture)
        self._pictures.clear()


class _Errors:
    """Noise of a picture, applied in the order of the pictures."""

    def __init__(self, noise: Noise, bias: float, rng: np.random.Generator) -> None:
        self._silent, self._offset, self._rng = noise.silent, float(np.asarray(noise.mean) + bias), rng
        self._std, self._step = np.float32(np.asarray(noise.std)), np.float32(np.asarray(noise.resolution))

    def __call__(self, picture: np.ndarray) -> np.ndarray:
        if not self._silent:
            value = picture.astype(np.float32) + np.float32(self._offset)
            if self._std:
                value += self._std * self._rng.standard_normal(picture.shape, dtype=np.float32)
            if self._step:
                value = np.round(value / self._step) * self._step
            whole = picture.dtype == np.uint8
            picture = np.clip(np.round(value), 0, 255).astype(np.uint8) if whole else value.astype(np.float32)
        picture.flags.writeable = False
        return picture


def _about_x(q: tuple[float, ...]) -> tuple[float, float, float, float]:
    """Return the orientation of the optical frame, from that of MuJoCo's camera, and back."""
    w, x, y, z = q
    return (-x, w, z, -y)


_OPEN: weakref.WeakSet[CameraDevice] = weakref.WeakSet()
_REGISTERED: list[bool] = []


def _at_exit(camera: CameraDevice) -> None:
    """Close the camera before the graphics library ends itself: what is registered last runs first."""
    if not _REGISTERED:
        _REGISTERED.append(True)
        atexit.register(_close_all)
    _OPEN.add(camera)


def _close_all() -> None:
    for camera in list(_OPEN):
        camera.close()
