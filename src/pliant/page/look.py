"""The tab Look of a page: what is drawn beside the robot's shapes, and light or dark."""

from __future__ import annotations

from typing import Any

from pliant.page.panel import theme_button
from pliant.page.scene import Scene

__all__ = ["LAYERS", "add_layers"]

LAYERS = (
    ("contacts", "contact forces"),
    ("joints", "joint axes"),
    ("inertia", "inertia boxes"),
    ("collision", "collision shapes"),
    ("tendons", "tendons"),
    ("shadows", "shadows"),
)
"""Fields of `pliant.page.scene.Layers` and their labels."""


def add_layers(gui: Any, scene: Scene, *, tendons: bool) -> dict[str, Any]:
    """Add a checkbox for each layer of a scene, and the button of light and dark.

    Args:
        gui: viser's GUI.
        scene: the scene whose layers are shown and hidden.
        tendons: whether the robot has tendons.

    Returns:
        Layer -> its checkbox.
    """
    boxes: dict[str, Any] = {}
    for layer, label in LAYERS:
        if layer == "tendons" and not tendons:
            continue
        box = gui.add_checkbox(label, initial_value=getattr(scene.layers, layer))

        def switch(_: Any, layer: str = layer, box: Any = box) -> None:
            scene.show(layer, bool(box.value))

        box.on_update(switch)
        boxes[layer] = box
    theme_button(gui)
    return boxes
