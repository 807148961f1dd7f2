"""The tab Look: a checkbox for each layer that the robot has."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import mujoco
import numpy as np
import pytest
from running import free_port

from pliant.engine import MujocoEngine
from pliant.model.scene import ARROW_SHARE
from pliant.page import PageServer, following
from pliant.page.look import LAYERS, LookPanel
from pliant.page.scene import HEAD_SHARE, Layers, Scene
from pliant.robots.loading import load

TENDON = """<mujoco><worldbody><site name="a"/><body><joint/><geom size="0.1"/><site name="b"/></body></worldbody>
<tendon><spatial><site site="a"/><site site="b"/></spatial></tendon></mujoco>"""


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

    def __init__(self, *nothing):
        self.layers, self.calls, self.nothing = Layers(), [], nothing

    def show(self, layer, on):
        self.calls.append((layer, on))

    def empty(self, layer):
        return layer in self.nothing


@pytest.mark.parametrize("nothing", [(), ("tendons", "collision")])
def test_each_layer_of_the_scene_that_has_something_to_show_has_a_box_that_switches_it(nothing):
    scene = Shown(*nothing)
    boxes = LookPanel(Gui(), None, scene, mujoco.MjModel.from_xml_string("<mujoco/>")).boxes
    assert set(Layers.__dataclass_fields__) - set(boxes) == set(nothing)
    for layer, box in boxes.items():
        assert box.label == dict(LAYERS)[layer]
        assert box.value == getattr(scene.layers, layer)
        box.value = not box.value
        box.changed(None)
    assert scene.calls == [(layer, not getattr(scene.layers, layer)) for layer in boxes]


WALKER = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="trunk" pos="0 0 1"><freejoint/>
<geom size="0.1"/><body><joint/><geom size="0.1"/></body></body></worldbody>
<keyframe><key name="rest" qpos="0 0 1 1 0 0 0 0"/><key name="away" qpos="2 0 1 1 0 0 0 0"/></keyframe></mujoco>"""


class Server:
    def __init__(self):
        client = MagicMock()
        client.camera = SimpleNamespace(position=np.array([3.0, 0.0, 1.0]), look_at=np.zeros(3))
        self.camera = client.camera
        first = SimpleNamespace(position=np.array([3.0, 0.0, 1.0]), look_at=np.zeros(3))
        self.viser = SimpleNamespace(get_clients=lambda: {0: client}, initial_camera=first)


def at(data, x):
    data.qpos[0] = x
    mujoco.mj_kinematics(data.model, data)
    return data


@pytest.fixture
def walker(monkeypatch):
    """A robot that walks along x, its page, and the page's panel."""
    model, scene, server = mujoco.MjModel.from_xml_string(WALKER), Shown(), Server()
    scene.size = 1.0
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(following.time, "monotonic", lambda: clock.now)
    return mujoco.MjData(model), server, LookPanel(Gui(), server, scene, model), clock


def test_the_camera_follows_what_walks_and_what_begins_anew(walker):
    data, server, panel, clock = walker
    panel.follow(at(data, 0.0))
    clock.now = 10.0
    for x in (0.5, 1.0):
        panel.follow(at(data, x))
    np.testing.assert_allclose(server.camera.position, [4.0, 0.0, 1.0])
    np.testing.assert_allclose(server.camera.look_at, [1.0, 0.0, 0.0])
    panel.follow(at(data, 100.0))
    panel.follow(at(data, 0.0))  # a reset
    np.testing.assert_allclose(server.camera.position, [3.0, 0.0, 1.0])


def test_a_page_that_is_opened_late_sees_the_robot_where_it_is(walker):
    data, server, panel, clock = walker
    panel.follow(at(data, 0.0))
    clock.now = 10.0
    panel.follow(at(data, 20.0))
    late = MagicMock()
    late.camera = SimpleNamespace(position=np.zeros(3), look_at=np.ones(3))  # what a browser tells while it loads
    early = server.viser.get_clients()[0]
    server.viser.get_clients = lambda: {0: early, 1: late}
    panel.follow(at(data, 21.0))
    np.testing.assert_allclose(early.camera.position, [24.0, 0.0, 1.0])
    np.testing.assert_allclose(late.camera.position, [24.0, 0.0, 1.0])
    np.testing.assert_allclose(late.camera.look_at, [21.0, 0.0, 0.0])


def test_what_a_slow_browser_tells_of_its_camera_is_no_choice_of_a_person(walker):
    data, server, panel, clock = walker
    panel.follow(at(data, 0.0))
    clock.now = 10.0
    for x in (1.0, 2.0, 3.0):
        panel.follow(at(data, x))
    server.camera.position, server.camera.look_at = np.array([4.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])  # as at 1 m
    panel.follow(at(data, 4.0))
    np.testing.assert_allclose(server.camera.position, [7.0, 0.0, 1.0])
    server.camera.position = np.array([4.0, 5.0, 1.0])  # a person turned the view of the robot at 1 m
    server.camera.look_at = np.array([1.0, 0.0, 0.0])
    panel.follow(at(data, 5.0))
    np.testing.assert_allclose(server.camera.position, [8.0, 5.0, 1.0])
    np.testing.assert_allclose(server.camera.look_at, [5.0, 0.0, 0.0])


def test_a_camera_that_does_not_follow_stays(walker):
    data, server, panel, clock = walker
    panel.follow(at(data, 0.0))
    clock.now = 10.0
    panel._following.value = False
    panel.follow(at(data, 5.0))
    panel._following.value = True
    panel.follow(at(data, 6.0))
    np.testing.assert_allclose(server.camera.position, [4.0, 0.0, 1.0])


def test_a_key_frame_is_gone_to():
    model = mujoco.MjModel.from_xml_string(WALKER)
    engine = MujocoEngine(model)
    gui = Gui()
    gui.add_dropdown = lambda label, options, initial_value: SimpleNamespace(
        options=options, value=initial_value, on_update=lambda changed: setattr(gui, "changed", changed)
    )
    done = SimpleNamespace(result=lambda timeout: None)
    simulation = SimpleNamespace(engine=engine, submit=lambda work: (work(), done)[1])
    panel = LookPanel(gui, Server(), Shown(), model, simulation)
    panel._choice.value = "away"
    gui.changed(None)
    assert engine.data.qpos[0] == 2.0
    assert engine.data.xpos[1, 0] == 2.0


def test_no_arrow_is_shorter_than_its_head_and_the_largest_has_its_share():
    server, model = MagicMock(), load("softfoot").compile()
    scene = Scene(server, model)
    forces = np.array([[0.0, 0.0, 90.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    scene._draw_arrows("contacts", None, (1.0, 0.0, 0.0, 1.0), np.zeros((3, 3)), forces)
    call = server.scene.add_arrows.call_args
    ends = call.args[1][:, 1, 2]
    assert ends == pytest.approx([ARROW_SHARE * scene.size, HEAD_SHARE * scene.size], rel=1e-6)
    assert call.kwargs["head_length"] == pytest.approx(HEAD_SHARE * scene.size)


@pytest.mark.network
@pytest.mark.parametrize(
    ("model", "nothing"),
    [(TENDON, {"collision"}), ('<mujoco><worldbody><body><geom size="1"/></body></worldbody></mujoco>', None)],
)
def test_a_scene_knows_which_layers_have_nothing_to_show(model, nothing):
    with PageServer(port=free_port()) as server:
        scene = Scene(server, mujoco.MjModel.from_xml_string(model))
        found = {layer for layer, _ in LAYERS if scene.empty(layer)}
    assert found == (nothing or {"tendons", "collision", "joints"})
