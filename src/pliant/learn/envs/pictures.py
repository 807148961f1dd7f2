"""Pictures of environments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import PliantError, nearest
from pliant.learn.envs.optional import load_gymnasium

if TYPE_CHECKING:
    from gymnasium import Space

    from pliant.model import Robot

gymnasium = load_gymnasium()

VIEW = "environment"
"""Name of the camera that is added to a robot without one."""
MAX_SIZE = 4096
"""Most columns or rows of a picture."""


def add_camera(robot: Robot) -> Robot:
    """Return a robot with a camera: itself, or a copy with one that looks at the whole of it."""
    if len(robot.spec.cameras):
        return robot
    from pliant.robots.parts import look_at

    stat = robot.compile().stat
    center, extent = np.array(stat.center), float(stat.extent)
    twin = robot.copy()
    eye = center + extent * np.array([1.0, -1.6, 0.8])
    camera = twin.spec.worldbody.add_camera(name=VIEW, pos=eye.tolist())
    look_at(camera, eye.tolist(), center.tolist())
    return twin


def chosen_camera(model: mujoco.MjModel, name: str | None) -> str:
    """Return the name of the camera to look through.

    Raises:
        PliantError: there is none of this name.
    """
    names = [model.camera(i).name for i in range(model.ncam)]
    if name is not None and name not in names:
        raise PliantError(f"no camera {name!r}; {nearest(name, names)}", field="camera")
    return name or names[0]


def picture_size(width: int, height: int) -> tuple[int, int]:
    """Return the size of a picture.

    Raises:
        PliantError: no whole numbers from 1 to 4096.
    """
    for name, value in (("width", width), ("height", height)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_SIZE:
            raise PliantError(f"{name} is {value!r}; must be a whole number, 1 to {MAX_SIZE}", field=name)
    return width, height


class Pictures:
    """Renders states of a model in the thread that calls it.

    Args:
        model: the compiled model.
        camera: name of its camera.
        width: columns.
        height: rows.
    """

    def __init__(self, model: mujoco.MjModel, camera: str, width: int, height: int) -> None:
        from pliant.camera.renderer import Renderer

        extent = float(model.stat.extent)
        self._renderer = Renderer(
            model,
            camera,
            (width, height),
            clip=(float(model.vis.map.znear) * extent, float(model.vis.map.zfar) * extent),
            shadows=True,
            samples=4,
            purpose="rendering an environment",
        )
        self._model = model
        self._data = mujoco.MjData(model)
        self._state = np.zeros(mujoco.mj_stateSize(model, self._renderer.state_spec))

    def render(self, qpos: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Return a picture of positions, shape (height, width, 3)."""
        self._data.qpos[:] = qpos
        mujoco.mj_getState(self._model, self._data, self._state, self._renderer.state_spec)
        color = self._renderer.render(self._state, color=True).color
        assert color is not None
        return color

    def close(self) -> None:
        """Free what the graphics library holds; may be called twice."""
        self._renderer.close()


Observations: TypeAlias = "NDArray[np.float32] | dict[str, NDArray[np.generic]]"
"""What a task observes; with cameras also their pictures, by name."""


class Cameras:
    """Pictures of cameras of a model; the graphics library is loaded for the first picture.

    Args:
        model: the compiled model.
        names: its cameras.
        size: columns and rows.

    Raises:
        PliantError: the model has no such camera.
    """

    def __init__(self, model: mujoco.MjModel, names: Iterable[str | None], size: tuple[int, int]) -> None:
        if not isinstance(names, Iterable):
            raise PliantError(f"cameras is {names!r}; must be names of cameras", field="cameras")
        names = [names] if isinstance(names, str) else names
        self.names = tuple(dict.fromkeys(chosen_camera(model, name) for name in names))
        self._model, self._size = model, size
        self._pictures: dict[str, Pictures] = {}

    def space(self, state: Space) -> Space:
        """Return the space of observations: that of the state, or with cameras a dictionary of it and each picture."""
        picture = gymnasium.spaces.Box(0, 255, (self._size[1], self._size[0], 3), np.uint8)
        pictures = dict.fromkeys(self.names, picture)
        return gymnasium.spaces.Dict({"state": state, **pictures}) if pictures else state

    def render(self, qpos: NDArray[np.float64]) -> dict[str, NDArray[np.uint8]]:
        """Return a picture of each camera, shape (height, width, 3)."""
        if not self._pictures:
            self._pictures = {name: Pictures(self._model, name, *self._size) for name in self.names}
        return {name: pictures.render(qpos) for name, pictures in self._pictures.items()}

    def close(self) -> None:
        """Free what the graphics library holds; may be called twice."""
        while self._pictures:
            self._pictures.popitem()[1].close()
