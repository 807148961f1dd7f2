"""What robots, recordings and equilibria of rods show in a notebook."""

import base64
import re
from html.parser import HTMLParser

import mujoco
import pytest

from pliant.base.figures import html_picture, html_table
from pliant.model import Robot
from pliant.robots import build_robot

HOSTILE = "<script>alert(1)</script>"


class Reader(HTMLParser):
    """The tags and the text of a page; a tag that is not closed is an error."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data + " "


def pictures(text):
    found = re.findall(r'src="data:image/png;base64,([^"]+)"', text)
    return [base64.b64decode(part) for part in found]


def test_a_robot_shows_its_picture_and_its_joints():
    text = build_robot("qbmove-2dof", {})._repr_html_()
    page = Reader(text)
    assert {"img", "table"} <= set(page.tags)
    assert "joint_1" in page.text
    assert "QbMove" in page.text
    assert [p.startswith(b"\x89PNG") for p in pictures(text)] == [True]


def test_a_robot_without_a_renderer_shows_its_table(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "off")
    page = Reader(build_robot("qbmove-1dof", {})._repr_html_())
    assert "img" not in page.tags
    assert "1 compliant" in page.text


def test_hostile_names_stay_text(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "off")
    spec = mujoco.MjSpec()
    spec.modelname = HOSTILE
    body = spec.worldbody.add_body(name="link")
    body.add_joint(name=HOSTILE)
    body.add_geom(size=[0.1, 0, 0])
    page = Reader(Robot(spec)._repr_html_())
    assert "script" not in page.tags
    assert page.text.count(HOSTILE) == 2
    assert "script" not in Reader(html_table([HOSTILE], [[HOSTILE]])).tags
    assert Reader(html_picture(b"", '"><script>')).tags == ["img"]


def test_a_robot_that_cannot_be_compiled_shows_its_table():
    spec = mujoco.MjSpec()
    spec.worldbody.add_body(name="link").add_joint(name="elbow")  # without mass
    page = Reader(Robot(spec)._repr_html_())
    assert "img" not in page.tags
    assert "elbow" in page.text


def test_a_long_table_says_what_it_leaves_out():
    page = Reader(html_table(["a"], [[i] for i in range(40)], limit=30))
    assert page.tags.count("tr") == 31
    assert "10 more" in page.text


def test_a_recording_shows_plots_and_signals(tmp_path):
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.recording import Recorder, read_recording
    from pliant.simulation import Simulation

    robot = build_robot("qbmove-1dof", {})
    path = tmp_path / "<b>.mcap"
    with Simulation(MujocoEngine(robot), make_devices(robot), recorder=Recorder(path)) as simulation:
        simulation.run(0.05)
    text = read_recording(path)._repr_html_()
    page = Reader(text)
    assert page.tags.count("b") == 1  # that of the title, not of the name
    assert "<b>.mcap" in page.text
    assert "joint/position" in page.text
    assert len(pictures(text)) == 1


@pytest.mark.parametrize("name", ["2RR", "3PFR_spatial"])
def test_an_equilibrium_shows_its_rods_and_its_numbers(name):
    from pliant.rods import load_robot

    text = load_robot(name).home()._repr_html_()
    page = Reader(text)
    assert "potential energy [J]" in page.text
    assert "position of the plate [m]" in page.text
    assert len(pictures(text)) == 1
