"""The tab Look of a page: what is drawn beside the robot's shapes, key frames, the camera, and light or dark."""

from __future__ import annotations

import time
from typing import Any

import mujoco
import numpy as np

from pliant.model.scene import find_root
from pliant.page.controls import REQUEST_TIMEOUT, Say, guarded, plain_name
from pliant.page.panel import theme_button
from pliant.page.scene import Scene
from pliant.page.server import PageServer
from pliant.simulation.answers import answered
from pliant.simulation.bridge import SimulationControl

__all__ = ["LAYERS", "LookPanel"]

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
        gui: Any,
        server: PageServer,
        scene: Scene,
        model: mujoco.MjModel,
        simulation: SimulationControl | None = None,
        say: Say = print,
    ) -> None:
        self._server, self._scene, self._simulation = server, scene, simulation
        self.boxes: dict[str, Any] = {}
        """Layer -> its checkbox."""
        for layer, label in LAYERS:
            if layer == "tendons" and not model.ntendon:
                continue
            box = gui.add_checkbox(label, initial_value=getattr(scene.layers, layer))

            def switch(_: Any, layer: str = layer, box: Any = box) -> None:
                scene.show(layer, bool(box.value))

            box.on_update(switch)
            self.boxes[layer] = box
        self.body = find_root(model)
        """The body that the camera follows; -1 where the robot stands on the world."""
        self._start: np.ndarray | None = None
        self._gone: dict[int, tuple[float, np.ndarray]] = {}
        """Page -> when it came [s], and how far its camera has followed [m]."""
        self._following: Any = None
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
        whole = now - self._start
        viser, before = self._server.viser, self._gone
        pages, first, clock = viser.get_clients(), viser.initial_camera, time.monotonic()
        self._gone = {page: before.get(page, (clock, np.zeros(3))) for page in pages}
        for page, client in pages.items():
            since, gone = self._gone[page]
            way = whole - gone
            if page in before and np.abs(way).max() < FOLLOW_STEP * self._scene.size:
                continue
            self._gone[page] = since, whole
            if clock - since < LOADING_S:
                place, target = first.position + whole, first.look_at + whole
            elif self._following.value:
                place, target = client.camera.position + way, client.camera.look_at + way
            else:
                continue
            with client.atomic():
                client.camera.position, client.camera.look_at = place, target

    def _chosen(self, _: Any) -> None:
        key = self._keys.get(str(self._choice.value))
        if key is None or self._simulation is None:
            return
        simulation = self._simulation
        answered(simulation.submit(lambda: _go_to(simulation.engine, key)), REQUEST_TIMEOUT)
        self._choice.value = NO_KEY


LOADING_S = 3.0
"""How long a new page may tell another place of its camera than it was given [s]: its browser still loads."""
FOLLOW_STEP = 0.002
"""Smallest way that the camera follows, over the size of the robot."""


def _go_to(engine: Any, key: int) -> None:
    """Put joints, motors and controls where a key frame has them; time, forces and payloads stay."""
    model, data = engine.model, engine.data
    data.qpos[:], data.qvel[:] = model.key_qpos[key], model.key_qvel[key]
    data.act[:], data.ctrl[:] = model.key_act[key], model.key_ctrl[key]
    mujoco.mj_forward(model, data)
