"""Pictures of a MuJoCo model without a window: the graphics library is chosen, the pictures are exact.

A graphics context belongs to the thread that made it. `Renderer` is made, used and closed by one thread; `RenderThread`
is such a thread with a queue in front.
"""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pliant.base.errors import DeviceError, MissingDependency
from pliant.base.graphics import APT, choose_backend
from pliant.camera.lens import Lens, gaussian_blur
from pliant.camera.model import CameraModel
from pliant.model.scene import place_bodies

if TYPE_CHECKING:
    import mujoco

T = TypeVar("T")

# Contexts are made and freed one at a time: the libraries keep lists of their own.
_MAKING = threading.Lock()


def _context(backend: str, width: int, height: int, purpose: str) -> object:
    try:
        if backend == "egl":
            from mujoco.egl import GLContext
        elif backend == "osmesa":
            from mujoco.osmesa import GLContext
        elif backend == "cgl":
            from mujoco.cgl import GLContext
        else:
            from mujoco.glfw import GLContext
        context = GLContext(width, height)
        context.make_current()
    except Exception as error:  # a driver raises whatever it likes: ImportError, AttributeError, RuntimeError, GLError
        raise _unusable(backend, error, purpose) from error
    return context


def _unusable(backend: str, error: Exception, purpose: str) -> MissingDependency:
    reason = " ".join(str(error).split())[:200]
    return MissingDependency(
        f"a graphics library that works ({backend}: {type(error).__name__}: {reason})",
        command=f"{APT} (or apt-get install libosmesa6, and MUJOCO_GL=osmesa)",
        purpose=purpose,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Result of one rendering; None for images that were not requested."""

    color: np.ndarray | None = None
    """RGB, shape (height, width, 3), uint8."""
    depth: np.ndarray | None = None
    """Distance along the optical axis, shape (height, width), float32 [m]; infinite where nothing is in reach."""
    segmentation: np.ndarray | None = None
    """(number, type of `mujoco.mjtObj`) of the object, shape (height, width, 2), int32; -1 where nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """How the sensor of a camera collects light."""

    gain: float = 1.0
    """Factor on the colours, which end at 255."""
    time: float = 0.0
    """Time over which the colours are averaged, up to the state that is rendered [s]."""
    pictures: int = 8
    """Pictures of that average."""
    blur: float = 0.0
    """Standard deviation of the blur of a lens out of focus [pixels]."""


class Renderer:
    """Renders one camera of a model; made, used and closed by one thread.

    Args:
        model: the compiled model.
        camera: name of its camera.
        size: columns and rows.
        clip: nearest and farthest distance [m].
        shadows: whether light throws shadows.
        samples: samples a pixel.
        lens: fields of `CameraModel` that differ from those of the model's camera.
        exposure: how it collects light.
        purpose: how messages name what needs it.

    Raises:
        MissingDependency: no graphics library.
        DeviceError: there is no such camera, it has no perspective, or its distortion folds the picture.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        camera: str,
        size: tuple[int, int],
        *,
        clip: tuple[float, float],
        shadows: bool = False,
        samples: int = 0,
        lens: Mapping[str, float] = MappingProxyType({}),
        exposure: Exposure | None = None,
        purpose: str = "rendering",
    ) -> None:
        import mujoco

        self._mujoco = mujoco
        self._model = model
        self._clip = clip
        self._exposure = exposure or Exposure()
        self._data = mujoco.MjData(model)
        index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, camera)
        if index < 0:
            raise DeviceError(f"{purpose}: the model has no camera {camera!r}; was it described and enabled before?")
        if int(model.cam_projection[index]) != int(mujoco.mjtProjection.mjPROJ_PERSPECTIVE):
            raise DeviceError(f"{purpose}: camera {camera!r} is orthographic; must be one with a perspective")
        self.backend = choose_backend(purpose)
        native = _model_of(model, index, *size)
        self.camera = replace(native, **lens)
        """The camera's model: how points in its optical frame become pixels."""
        self._lens = Lens.of(self.camera, purpose)
        # A camera of the model that nothing changes keeps the view that MuJoCo gives it.
        self._own_view = self._lens.source != native
        self._size = width, height = self._lens.source.width, self._lens.source.height
        self._gl: Any = None
        self._context: Any = None
        self._textures: dict[int, int] = {}
        with _MAKING:
            self._gl = _context(self.backend, width, height, purpose)
            try:
                self._context = self._make_context(width, height, shadows, samples)
            except Exception as error:  # graphics libraries raise classes of their own
                self._gl.free()
                raise _unusable(self.backend, error, purpose) from error
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._scene = mujoco.MjvScene(model, maxgeom=max(1000, 2 * model.ngeom + 1000))
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = int(shadows)
        self._option = mujoco.MjvOption()
        self._option.sitegroup[:] = 0  # marks for people, which a camera does not see
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._camera.fixedcamid = index
        self._viewport = mujoco.MjrRect(0, 0, width, height)
        # MuJoCo draws the sky as a box, whose distance is none.
        self._sky = bool((model.tex_type == int(mujoco.mjtTexture.mjTEXTURE_SKYBOX)).any())
        spec = mujoco.mjtState.mjSTATE_PHYSICS | mujoco.mjtState.mjSTATE_MOCAP_POS | mujoco.mjtState.mjSTATE_MOCAP_QUAT
        self.state_spec = int(spec)
        """Specification of the state from `mujoco.mj_getState` that `render` takes."""

    def _make_context(self, width: int, height: int, shadows: bool, samples: int) -> object:
        """Return MuJoCo's buffers for this size; the model says their size, so it is told for a moment."""
        mujoco, quality, size = self._mujoco, self._model.vis.quality, self._model.vis.global_
        before = quality.offsamples, quality.shadowsize, size.offwidth, size.offheight
        quality.offsamples, size.offwidth, size.offheight = samples, width, height
        if not shadows:
            quality.shadowsize = 0
        try:
            context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
        finally:
            quality.offsamples, quality.shadowsize, size.offwidth, size.offheight = before
        return context

    def _update(self) -> None:
        mujoco = self._mujoco
        mujoco.mjv_updateScene(
            self._model,
            self._data,
            self._option,
            None,
            self._camera,
            mujoco.mjtCatBit.mjCAT_ALL.value,
            self._scene,
        )
        near, far = self._clip
        for camera in self._scene.camera:
            if self._own_view:
                bottom, top, center, half = self._lens.frustum(near)
                camera.frustum_bottom, camera.frustum_top = bottom, top
                camera.frustum_center, camera.frustum_width = center, half
                camera.frustum_near, camera.frustum_far = near, far
                continue
            scale = near / camera.frustum_near
            camera.frustum_bottom *= scale
            camera.frustum_top *= scale
            camera.frustum_center *= scale
            camera.frustum_width *= scale
            camera.frustum_near, camera.frustum_far = near, far

    def load_textures(self, versions: Mapping[int, int]) -> None:
        """Load the textures of the model that have changed since this was last called.

        Args:
            versions: index of each texture that ever changed -> how often it has.
        """
        for texture, version in versions.items():
            if self._textures.get(texture) != version:
                self._mujoco.mjr_uploadTexture(self._model, self._context, texture)
                self._textures[texture] = version

    def render(
        self, state: np.ndarray, *, color: bool = False, depth: bool = False, segmentation: bool = False
    ) -> Picture:
        """Return a picture of a state.

        Args:
            state: positions, velocities and mocap poses, of `state_spec`.
            color: whether colours are wanted.
            depth: whether distances are wanted.
            segmentation: whether the objects of the pixels are wanted.
        """
        self._place(state, 0.0)
        colors, distances = self._read(color and not self._exposure.time, depth)
        labels = self._labels() if segmentation else None
        if color and colors is None:
            colors = self._exposed(state)
        lens, exposure = self._lens, self._exposure
        if colors is not None:
            colors = lens.colors(colors)
            if exposure.blur:
                colors = gaussian_blur(colors, exposure.blur)
            if exposure.gain != 1.0:
                colors = np.minimum(np.rint(colors * exposure.gain), 255.0).astype(np.uint8)
        return Picture(
            color=colors,
            depth=None if distances is None else lens.depths(distances),
            segmentation=None if labels is None else lens.labels(labels),
        )

    def _place(self, state: np.ndarray, ago: float) -> None:
        """Put everything where it is in a state, or was some time [s] before it at the same velocities."""
        mujoco, model, data = self._mujoco, self._model, self._data
        mujoco.mj_setState(model, data, state, self.state_spec)
        if ago:
            mujoco.mj_integratePos(model, data.qpos, data.qvel, -ago)
        place_bodies(model, data)
        self._update()

    def _read(self, color: bool, depth: bool) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Render what is in place."""
        mujoco = self._mujoco
        width, height = self._size
        colors = np.empty((height, width, 3), dtype=np.uint8) if color else None
        raw = np.empty((height, width), dtype=np.float32) if depth else None
        passes = [(colors, raw)] if colors is None or raw is None or not self._sky else [(colors, None), (None, raw)]
        for pixels, distances in passes:
            if pixels is None and distances is None:
                continue
            self._scene.flags[mujoco.mjtRndFlag.mjRND_SKYBOX] = int(pixels is not None)
            mujoco.mjr_render(self._viewport, self._scene, self._context)
            mujoco.mjr_readPixels(pixels, distances, self._viewport, self._context)
        # OpenGL counts rows from below.
        if colors is not None:
            colors = np.ascontiguousarray(colors[::-1])
        return colors, None if raw is None else self._distance(raw[::-1])

    def _exposed(self, state: np.ndarray) -> np.ndarray:
        """Return the mean of the colours over the time of the exposure, which ends with the state."""
        count = self._exposure.pictures
        total = np.zeros((self._size[1], self._size[0], 3), dtype=np.uint16)
        for k in range(count):
            self._place(state, self._exposure.time * (count - 1 - k) / (count - 1))
            total += self._read(True, False)[0]  # pyright: ignore[reportOperatorIssue]
        return ((total + count // 2) // count).astype(np.uint8)

    def _labels(self) -> np.ndarray:
        """Return (number, type) of the object in each pixel: MuJoCo draws each object in a colour of its own."""
        mujoco, scene = self._mujoco, self._scene
        width, height = self._size
        flags = mujoco.mjtRndFlag
        wanted = {flags.mjRND_SEGMENT: 1, flags.mjRND_IDCOLOR: 1, flags.mjRND_SKYBOX: 0}
        before = {flag: int(scene.flags[flag]) for flag in wanted}
        pixels = np.empty((height, width, 3), dtype=np.uint8)
        try:
            for flag, value in wanted.items():
                scene.flags[flag] = value
            mujoco.mjr_render(self._viewport, scene, self._context)
            mujoco.mjr_readPixels(pixels, None, self._viewport, self._context)
        finally:
            for flag, value in before.items():
                scene.flags[flag] = value
        number = pixels[..., 0].astype(np.int32) + (pixels[..., 1].astype(np.int32) << 8)
        number += pixels[..., 2].astype(np.int32) << 16
        table = np.full((scene.ngeom + 1, 2), -1, dtype=np.int32)
        for geom in scene.geoms[: scene.ngeom]:
            if 0 <= geom.segid < scene.ngeom:
                table[geom.segid + 1] = geom.objid, geom.objtype
        return np.ascontiguousarray(table[np.where(number <= scene.ngeom, number, 0)][::-1])

    def _distance(self, raw: np.ndarray) -> np.ndarray:
        """Undo the projection: the buffer holds 1 at `near` and 0 at `far`, linear in the inverse of the distance."""
        near, far = self._clip
        inverse = raw.astype(np.float64) * (1.0 / near - 1.0 / far) + 1.0 / far
        return np.where(raw > 0.0, 1.0 / inverse, np.inf).astype(np.float32)

    def close(self) -> None:
        """Free what the graphics library holds; may be called twice."""
        with _MAKING:
            if self._context is not None:
                self._context.free()
                self._context = None
            if self._gl is not None:
                self._gl.free()
                self._gl = None


def _model_of(model: mujoco.MjModel, index: int, width: int, height: int) -> CameraModel:
    """Return how a camera of MuJoCo maps points to pixels, whose centres are at whole numbers.

    MuJoCo gives focal lengths and principal point as lengths on the sensor. The principal point is where the middle of
    the image lies, from the optical axis to the right and upwards.
    """
    sensor = model.cam_sensorsize[index].tolist()
    if not all(sensor):
        return CameraModel.from_field_of_view(math.radians(float(model.cam_fovy[index])), width, height)
    fx, fy, right, up = model.cam_intrinsic[index].tolist()
    return CameraModel(
        fx=fx * width / sensor[0],
        fy=fy * height / sensor[1],
        cx=0.5 * (width - 1) - right * width / sensor[0],
        cy=0.5 * (height - 1) - up * height / sensor[1],
        width=width,
        height=height,
    )


class RenderThread:
    """A thread that makes a renderer, renders what is asked for in order, and closes it.

    Args:
        name: of the thread.
        make: makes the renderer, in the thread.
    """

    def __init__(self, name: str, make: Callable[[], Renderer]) -> None:
        self._jobs: queue.SimpleQueue[Callable[[Renderer], None] | None] = queue.SimpleQueue()
        self._ready: Future[Renderer] = Future()
        self._thread = threading.Thread(
            target=_serve, args=(make, self._jobs, self._ready), name=f"camera-{name}", daemon=True
        )
        self._thread.start()

    def renderer(self, timeout: float) -> Renderer:
        """Return the renderer, whose constants may be read; only the thread renders.

        Args:
            timeout: longest wait for it [s].

        Raises:
            PliantError: whatever making it raised.
            TimeoutError: it is not made in time.
        """
        return self._ready.result(timeout)

    def submit(self, job: Callable[[Renderer], T]) -> Future[T]:
        """Let the thread call ``job(renderer)`` after those that were asked for before."""
        future: Future[T] = Future()

        def run(renderer: Renderer) -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(job(renderer))
            except BaseException as error:  # whoever asked gets it
                future.set_exception(error)

        self._jobs.put(run)
        return future

    def stop(self) -> None:
        """Finish what was asked for, close the renderer, join the thread; may be called twice."""
        self._jobs.put(None)
        if self._thread is not threading.current_thread():
            self._thread.join()


def _serve(
    make: Callable[[], Renderer],
    jobs: queue.SimpleQueue[Callable[[Renderer], None] | None],
    ready: Future[Renderer],
) -> None:
    try:
        renderer = make()
    except BaseException as error:  # the thread that waits for the renderer gets it
        ready.set_exception(error)
        return
    ready.set_result(renderer)
    try:
        while (job := jobs.get()) is not None:
            job(renderer)
    finally:
        renderer.close()
