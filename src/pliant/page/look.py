"""The tab Look of a page: what is drawn beside the robot's shapes, key frames, the camera, and light or dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.engine.base import mujoco_state
from pliant.model.scene import find_root
from pliant.page.controls import REQUEST_TIMEOUT, Say, guarded, plain_name
from pliant.page.following import FollowingCamera
from pliant.page.panel import theme_button
from pliant.page.scene import Scene
from pliant.page.server import PageServer
from pliant.simulation.answers import answered
from pliant.simulation.bridge import SimulationControl

if TYPE_CHECKING:
    import viser

    from pliant.engine.base import Engine

LAYERS = (
    ("contacts", "contact forces"),
    ("forces", "forces from outside"),
    ("joints", "joint axes"),
    ("frames", "body frames"),
    ("inertia", "inertia boxes"),
    ("collision", "collision shapes"),
    ("tendons", "tendons"),
    ("shadows", "shadows"),
)
"""Fields of `pliant.page.scene.Layers` and their labels."""
MAX_KEYS = 100
"""Longest list of key frames."""
NO_KEY = "(choose)"


class LookPanel:
    """A checkbox for each layer of a scene, the camera that follows the robot, key frames, and light or dark.

    Args:
        gui: viser's GUI.
        server: the page's server.
        scene: the scene whose layers are shown and hidden.
        model: its model.
        simulation: what runs; None where nothing does, so that there are no key frames to go to.
        say: tells what was refused.
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        server: PageServer,
        scene: Scene,
        model: mujoco.MjModel,
        simulation: SimulationControl | None = None,
        say: Say = print,
    ) -> None:
        self._server, self._scene, self._simulation = server, scene, simulation
        self.boxes: dict[str, viser.GuiCheckboxHandle] = {}
        """Layer -> its checkbox."""
        for layer, label in LAYERS:
            if scene.empty(layer):
                continue
            box = gui.add_checkbox(label, initial_value=getattr(scene.layers, layer))

            def switch(_: object, layer: str = layer, box: viser.GuiCheckboxHandle = box) -> None:
                scene.show(layer, bool(box.value))

            box.on_update(switch)
            self.boxes[layer] = box
        self.body = find_root(model)
        """The body that the camera follows; -1 where the robot stands on the world."""
        self._start: np.ndarray | None = None
        self._cameras: dict[int, FollowingCamera] = {}
        """Page -> its camera."""
        self._following: viser.GuiCheckboxHandle | None = None
        if self.body >= 0:
            self._following = gui.add_checkbox("camera follows", initial_value=True)
        keys = [model.key(k).name or f"key {k}" for k in range(min(model.nkey, MAX_KEYS))]
        self._keys = {plain_name(name): k for k, name in enumerate(keys)}
        if simulation is not None and len(keys) > 1:
            self._choice = gui.add_dropdown("key frame", [NO_KEY, *self._keys], initial_value=NO_KEY)
            self._choice.on_update(guarded(say, self._chosen))
        theme_button(gui)

    def follow(self, data: mujoco.MjData) -> None:
        """Move every page's camera as far as the robot went, beside what a person does with it; that of a new page too.

        Args:
            data: positions of the bodies that are drawn.
        """
        if self._following is None:
            return
        now = data.xpos[self.body].copy()
        if self._start is None:
            self._start = now
        pages, first, before = self._server.viser.get_clients(), self._server.viser.initial_camera, self._cameras
        seen = np.array([first.position, first.look_at])
        self._cameras = {
            page: before.get(page) or FollowingCamera(client, seen, self._scene.size) for page, client in pages.items()
        }
        for camera in self._cameras.values():
            camera.follow(now - self._start, bool(self._following.value))

    def _chosen(self, _: object) -> None:
        key = self._keys.get(str(self._choice.value))
        if key is None or self._simulation is None:
            return
        simulation = self._simulation
        answered(simulation.submit(lambda: _go_to(simulation.engine, key)), REQUEST_TIMEOUT)
        self._choice.value = NO_KEY


def _go_to(engine: Engine, key: int) -> None:
    """Put joints, motors and controls where a key frame has them; time, forces and payloads stay."""
    state = mujoco_state(engine, "a key frame")
    model, data = state.model, state.data
    data.qpos[:], data.qvel[:] = model.key_qpos[key], model.key_qvel[key]
    data.act[:], data.ctrl[:] = model.key_act[key], model.key_ctrl[key]
    mujoco.mj_forward(model, data)
