"""The process that renders and encodes a film: states come on standard input, JSON lines go to standard output.

Graphics drivers can end a process or hold Python's lock for long. In a process of its own, neither reaches the
simulation. Started by `pliant.films.film.FilmWriter`.
"""

from __future__ import annotations

import functools
import json
import math
import shutil
import struct
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pliant.base.numerics import Array
from pliant.films.encoders import make_encoder
from pliant.model.contacts import MAX_CONTACTS

if TYPE_CHECKING:
    import mujoco

HEADER = struct.Struct("<IB")
"""Of a frame: how many frames long it is shown, and whether constants of the models follow the states."""
PATCHED = (
    "geom_type", "geom_size", "geom_pos", "geom_quat", "geom_sameframe", "geom_rgba", "body_mass", "body_ipos",
)  # fmt: skip
"""Constants of a model that change while it runs: objects that are made at run time, and payloads of bodies."""
PAPER = (255, 255, 255)
TITLE_SHARE = 0.09
"""Height of a title over that of the film."""
FOLLOW = 0.15
"""Share of its way that the camera goes after a walking robot in each frame."""
CURVE_POINTS = 25
"""Points of the drawn centre line of a rod."""
CURVE_SHARE = 0.01
"""Least thickness of a drawn rod over the size of the robot; real rods are often thinner than a pixel."""
CONTACT_NUMBERS = 1 + 6 * MAX_CONTACTS
"""Numbers that follow a state where contact forces are drawn: how many there are, then point and force of each."""
CHECK_EVERY = 10
"""Frames between two looks at the free space."""


def view_angles(camera: str) -> dict[str, float] | None:
    """Return azimuth, elevation and perhaps distance of a camera that is given in numbers; None if it is a name."""
    try:
        numbers = [float(part) for part in camera.split(",")]
    except ValueError:
        return None
    if len(numbers) not in (2, 3) or not all(math.isfinite(n) for n in numbers):
        return None
    return dict(zip(("azimuth", "elevation", "distance"), numbers))


class _Scene:
    """One panel: a model, its renderer and its camera."""

    def __init__(self, model: mujoco.MjModel, width: int, height: int, camera: str, contacts: bool) -> None:
        import mujoco

        from pliant.model.scene import find_root, visual_options
        from pliant.recording.drawing import curves_of

        self._mujoco, self._model, self._data = mujoco, model, mujoco.MjData(model)
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        model.vis.quality.offsamples = 4
        self._aspect = width / height
        self._renderer = mujoco.Renderer(model, height, width)
        self._option = visual_options(model)
        self._asked = camera
        self._camera: str | mujoco.MjvCamera | None = None
        self._root = find_root(model)
        self._sky = bool((model.tex_type == int(mujoco.mjtTexture.mjTEXTURE_SKYBOX)).any())
        self._floor = (0.0, 1.0)
        self._curves, self._largest = curves_of(model, self._data, CURVE_POINTS), 1e-6
        self._bare = model.body_mass.copy(), model.body_ipos.copy()
        self.spec = state_spec()
        self._numbers = mujoco.mj_stateSize(model, self.spec)
        self.size = self._numbers + (CONTACT_NUMBERS if contacts else 0)

    def picture(self, state: Array) -> NDArray[np.uint8]:
        """Render a state."""
        from pliant.model.scene import CONTACT_COLOR, FORCE_COLOR, add_floor, place_bodies

        mujoco, model, data = self._mujoco, self._model, self._data
        mujoco.mj_setState(model, data, state[: self._numbers], self.spec)
        place_bodies(model, data)
        if self._camera is None:
            self._camera = self._place()
        camera = self._camera
        if self._root >= 0 and not isinstance(camera, str):
            way = data.xpos[self._root] - self._start
            camera.lookat[:2] += FOLLOW * (self._look[:2] + way[:2] - camera.lookat[:2])
        self._renderer.update_scene(data, camera, self._option)
        add_floor(model, self._renderer.scene, *self._floor)
        self._draw_curves()
        self._draw_arrows(data.xipos, data.xfrc_applied[:, :3], FORCE_COLOR)
        if len(state) > self._numbers:
            touching = state[self._numbers + 1 :].reshape(-1, 6)[: int(state[self._numbers])]
            self._draw_arrows(touching[:, :3], touching[:, 3:], CONTACT_COLOR)
        self._draw_payloads()
        pixels = self._renderer.render()
        if not self._sky:
            from pliant.model.scene import sky

            self._renderer.enable_depth_rendering()
            empty = self._renderer.render() > 0.99 * model.vis.map.zfar * model.stat.extent
            self._renderer.disable_depth_rendering()
            pixels[empty] = sky(*empty.shape)[empty]
        return pixels

    def _place(self) -> str | mujoco.MjvCamera:
        from pliant.model.scene import bounds, overview

        low, high = bounds(self._model, self._data)
        self._floor = float(low[2]) - 1e-3, float(np.linalg.norm(high - low)) / 2.0
        angles = view_angles(self._asked)
        if self._asked and angles is None:
            return self._asked
        camera = overview(self._model, self._data, aspect=self._aspect, **(angles or {}))
        self._look = np.array(camera.lookat)
        self._start = self._data.xpos[max(self._root, 0)].copy()
        return camera

    def _draw_curves(self) -> None:
        """Draw the curves of wings, such as rods, with the colours of their quantity."""
        from pliant.model.scene import add_geom
        from pliant.recording.drawing import scale_colours

        if self._curves is None:
            return
        lines = self._curves()
        values = self._curves.values(lines)
        self._largest = max(self._largest, float(values.max()))
        colours = scale_colours(values / self._largest) / 255.0
        mujoco, scene = self._mujoco, self._renderer.scene
        width = max(1.5 * self._curves.radius, CURVE_SHARE * self._floor[1])
        kind = mujoco.mjtGeom.mjGEOM_CAPSULE
        for line, shades in zip(lines, colours):
            for k in range(min(len(line) - 1, scene.maxgeom - scene.ngeom)):
                geom = add_geom(scene, kind, np.append(0.5 * (shades[k] + shades[k + 1]), 1.0))
                mujoco.mjv_connector(geom, kind, width, line[k], line[k + 1])
                geom.category = int(mujoco.mjtCatBit.mjCAT_DYNAMIC)  # it casts a shadow

    def _draw_arrows(self, points: Array, forces: Array, colour: tuple[float, ...]) -> None:
        """Draw forces as arrows, the largest of them `ARROW_SHARE` of the size of the robot, as the page does."""
        from pliant.model.scene import ARROW_RADIUS, ARROW_SHARE, add_geom

        sizes = np.linalg.norm(forces, axis=1)
        if sizes.max(initial=0.0) < 1e-9:
            return
        mujoco, scene, kind = self._mujoco, self._renderer.scene, self._mujoco.mjtGeom.mjGEOM_ARROW
        size = 2.0 * self._floor[1]
        length = ARROW_SHARE * size / sizes.max()
        for start, force in zip(points[sizes > 1e-9], forces[sizes > 1e-9]):
            if scene.ngeom == scene.maxgeom:
                break
            geom = add_geom(scene, kind, np.array(colour))
            # MuJoCo 4.0 draws half of an arrow's length.
            mujoco.mjv_connector(geom, kind, ARROW_RADIUS * size, start, start + 2.0 * length * force)

    def _draw_payloads(self) -> None:
        """Draw what bodies weigh more than at the start as balls, where they must be for the centres of mass."""
        from pliant.model.scene import PAYLOAD_COLOR, add_geom, payload_radius

        model, (masses, centres) = self._model, self._bare
        added = model.body_mass - masses
        scene, kind = self._renderer.scene, self._mujoco.mjtGeom.mjGEOM_SPHERE
        for body in np.flatnonzero(added > 1e-9)[: scene.maxgeom - scene.ngeom]:
            place = (model.body_mass[body] * model.body_ipos[body] - masses[body] * centres[body]) / added[body]
            pos = self._data.xpos[body] + self._data.xmat[body].reshape(3, 3) @ place
            radius = payload_radius(float(added[body]), 2.0 * self._floor[1])
            add_geom(scene, kind, np.array(PAYLOAD_COLOR), size=np.full(3, radius), pos=pos)

    def patch(self, data: bytes) -> None:
        """Take constants that have changed."""
        offset = 0
        for name in PATCHED:
            array = getattr(self._model, name)
            array[:] = np.frombuffer(data, array.dtype, array.size, offset).reshape(array.shape)
            offset += array.nbytes

    @property
    def patch_size(self) -> int:
        """Bytes that `patch` takes."""
        return sum(getattr(self._model, name).nbytes for name in PATCHED)


class _Page:
    """Puts the pictures of the panels side by side, with titles and a clock."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._titles, self._colors = job["titles"], job["colors"]
        self._clock, self._speed, self._fps = job["clock"], job["speed"], job["fps"]
        self._width, self._height = job["width"] // len(self._titles), job["height"]
        self.header = round(TITLE_SHARE * self._height) if any(self._titles) or self._clock else 0

    @property
    def panel(self) -> tuple[int, int]:
        """Width and height of a panel [pixels]."""
        return self._width, self._height - self.header

    def compose(self, pictures: list[NDArray[np.uint8]], frame: int) -> NDArray[np.uint8]:
        """Return the whole picture of a frame."""
        row = np.concatenate(pictures, axis=1)
        for k in range(1, len(pictures)):
            row[:, k * self._width - 1 : k * self._width + 1] = PAPER
        if not self.header:
            return row
        return self._labelled(np.concatenate([np.full((self.header, row.shape[1], 3), 255, np.uint8), row]), frame)

    def _labelled(self, pixels: NDArray[np.uint8], frame: int) -> NDArray[np.uint8]:
        """Write the titles, and the time: beside the last title, or where it has no room in the corner below."""
        from PIL import Image, ImageDraw

        image = Image.fromarray(pixels)
        draw = ImageDraw.Draw(image)
        end = 0.0
        for k, (title, color) in enumerate(zip(self._titles, self._colors)):
            place, font = ((k + 0.5) * self._width, 0.5 * self.header), _font(round(0.62 * self.header), "-Bold")
            draw.text(place, title, fill=color, anchor="mm", font=font)
            end = draw.textbbox(place, title, anchor="mm", font=font)[2]
        if self._clock:
            text = f"{frame * self._speed / self._fps:.1f} s"
            if self._speed != 1.0:
                text = f"speed {self._speed:g}   {text}"
            font = _font(round(0.42 * self.header), "")
            place = image.width - 0.3 * self.header, 0.5 * self.header
            if draw.textbbox(place, text, anchor="rm", font=font)[0] < end + 0.3 * self.header:
                place = place[0], image.height - 0.5 * self.header
            draw.text(place, text, fill="#57606a", anchor="rm", font=font)
        return np.asarray(image)


@functools.cache
def _font(size: int, style: str) -> Any:
    """Return matplotlib's font DejaVu Sans, without importing matplotlib."""
    from PIL import ImageFont

    found = find_spec("matplotlib")
    if found is not None and found.origin:
        path = Path(found.origin).parent / "mpl-data" / "fonts" / "ttf" / f"DejaVuSans{style}.ttf"
        if path.is_file():
            return ImageFont.truetype(str(path), size)
    return ImageFont.load_default(size)


def state_spec() -> int:
    """Return what a frame takes of a state: what moves, and the forces from outside."""
    import mujoco

    state = mujoco.mjtState
    return int(state.mjSTATE_PHYSICS | state.mjSTATE_MOCAP_POS | state.mjSTATE_MOCAP_QUAT | state.mjSTATE_XFRC_APPLIED)


def _read(stream: BinaryIO, size: int) -> bytes:
    """Read so many bytes, or fewer at the end."""
    parts = []
    while size:
        part = stream.read(size)
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _say(**message: object) -> None:
    print(json.dumps(message), flush=True)


def _main(folder: str) -> None:
    import mujoco

    job = json.loads((Path(folder) / "job.json").read_text(encoding="utf-8"))
    page = _Page(job)
    models = [mujoco.MjModel.from_binary_path(str(Path(folder) / name)) for name in job["models"]]
    scenes = [_Scene(model, *page.panel, job["camera"], job["contacts"]) for model in models]
    path = Path(job["path"])
    encoder = make_encoder(path, job["suffix"], job["width"], job["height"], job["fps"])
    _say(event="ready")
    frames, drawn, fault = 0, 0, ""
    stream = sys.stdin.buffer
    while len(head := _read(stream, HEADER.size)) == HEADER.size:
        count, patched = HEADER.unpack(head)
        sizes = [8 * scene.size for scene in scenes]
        body = [_read(stream, size) for size in sizes]
        if [len(part) for part in body] != sizes:
            break
        if patched:
            for scene in scenes:
                scene.patch(_read(stream, scene.patch_size))
        if drawn % CHECK_EVERY == 0 and shutil.disk_usage(path.parent).free < job["reserve"]:
            fault = (
                f"less than {job['reserve'] / 2**20:g} MiB are free in the folder, so the film ends at "
                f"{frames / job['fps']:.1f} s"
            )
            break
        pictures = [scene.picture(np.frombuffer(part)) for scene, part in zip(scenes, body)]
        try:
            encoder.add(page.compose(pictures, frames), count)
        except OSError as error:
            fault = f"the film cannot be written: {error.strerror or error}"
            break
        frames, drawn = frames + count, drawn + 1
        _say(event="drawn", drawn=drawn)
    try:
        encoder.close()
    except OSError as error:
        fault = fault or f"the film cannot be written: {error.strerror or error}"
        frames = 0
    _say(event="done", frames=frames, fault=fault)


if __name__ == "__main__":
    _main(sys.argv[1])
