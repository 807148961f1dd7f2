"""The tab Look: a checkbox for each layer that the robot has."""

from types import SimpleNamespace

import pytest

from pliant.page.look import LAYERS, add_layers
from pliant.page.scene import Layers


class Gui:
    """Keeps what is added."""

    def add_checkbox(self, label, *, initial_value):
        box = SimpleNamespace(label=label, value=initial_value)
        box.on_update = lambda changed: setattr(box, "changed", changed)
        return box

    def add_button(self, *_, **__):
        return SimpleNamespace(on_click=lambda changed: changed)


class Shown:
    """A scene that notes which layers are switched."""

    def __init__(self):
        self.layers, self.calls = Layers(), []

    def show(self, layer, on):
        self.calls.append((layer, on))


@pytest.mark.parametrize("tendons", [False, True])
def test_each_layer_of_the_scene_has_a_box_that_switches_it_and_tendons_only_where_there_are_some(tendons):
    scene = Shown()
    boxes = add_layers(Gui(), scene, tendons=tendons)
    assert set(Layers.__dataclass_fields__) - set(boxes) == (set() if tendons else {"tendons"})
    for layer, box in boxes.items():
        assert box.label == dict(LAYERS)[layer]
        assert box.value == getattr(scene.layers, layer)
        box.value = not box.value
        box.changed(None)
    assert scene.calls == [(layer, not getattr(scene.layers, layer)) for layer in boxes]
