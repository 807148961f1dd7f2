"""Playable 3D scenes: small files, pages in one piece, and a browser that plays them."""

import base64
import functools
import http.server
import importlib.util
import re
import threading
from pathlib import Path

import msgspec
import mujoco
import numpy as np
import pytest
import zstandard

from pliant.base.errors import PliantError
from pliant.page.playable import MAX_FRAMES, playable_page, playable_scene, write_client, write_page
from pliant.recording.motion import Motion

_spec = importlib.util.spec_from_file_location("chromium", Path(__file__).with_name("chromium.py"))
chromium = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(chromium)
pytestmark = pytest.mark.network

SWING = """<mujoco><worldbody><body name="link"><joint name="hinge" axis="0 1 0"/><geom type="capsule" size="0.05"
fromto="0 0 0 0 0 -0.4" rgba="0.9 0.3 0 1"/></body></worldbody></mujoco>"""


def swing(seconds=1.0):
    time = np.linspace(0.0, seconds, round(25 * seconds) + 1)
    poses = 1.2 * np.sin(2.0 * np.pi * time / seconds)[:, None]
    return Motion(model=mujoco.MjModel.from_xml_string(SWING), time=time, poses=poses)


def content(scene):
    """Return what a recorded scene says: its length [s], and (time, message) of every message."""
    raw = zstandard.ZstdDecompressor().decompress(scene[8:], max_output_size=int.from_bytes(scene[:8], "little"))
    size = int.from_bytes(raw[:8], "little")
    found = msgspec.msgpack.decode(raw[8 : 8 + size])
    return found["durationSeconds"], found["messages"]


@pytest.fixture(scope="module")
def scene():
    return playable_scene(swing())


def test_a_scene_is_small_and_turns_the_body_as_it_moved(scene):
    assert len(scene) < 20_000
    duration, messages = content(scene)
    assert duration == pytest.approx(26 / 25)
    turns = [(t, m["wxyz"]) for t, m in messages if m["type"] == "SetOrientationMessage" and m["name"] == "/body/1"]
    motion = swing()
    assert len(turns) >= 20
    for time, wxyz in turns:
        angle = motion.poses[round(25 * time), 0]
        assert wxyz == pytest.approx([np.cos(0.5 * angle), 0.0, np.sin(0.5 * angle), 0.0], abs=1e-4)


def test_a_long_motion_has_fewer_pictures_a_second():
    motion = swing()
    slow = Motion(model=motion.model, time=motion.time * 1000.0, poses=motion.poses)
    duration, messages = content(playable_scene(slow))
    assert duration == pytest.approx(1000.0, rel=2.0 / MAX_FRAMES)
    assert len({t for t, _ in messages}) <= MAX_FRAMES + 1


def test_a_page_holds_its_scene_and_escapes_its_name(tmp_path):
    page = playable_page(swing(), title="</title><script>alert(1)</script>")
    assert "<script>alert(1)" not in page
    (inside,) = re.findall(r'__VISER_EMBED_DATA__="([^"]+)"', page)
    assert content(base64.b64decode(inside))[0] > 1.0
    assert not re.findall(r'(?:src|href)="https?://', page)  # nothing comes from a network


def test_a_page_that_cannot_be_written_is_said_in_words(tmp_path):
    (tmp_path / "a.html").mkdir()
    with pytest.raises(PliantError, match="the page cannot be written"):
        write_page(tmp_path / "a.html", swing(0.1))
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


TIME = "Number(document.querySelector('[role=slider]').getAttribute('aria-valuenow'))"


@pytest.mark.skipif(chromium.find() is None, reason="no Chromium")
@pytest.mark.parametrize("way", ["page", "player"])
def test_a_browser_plays_the_scene(scene, tmp_path, way):
    with Files(tmp_path) as url:
        if way == "page":
            size = write_page(tmp_path / "swing.html", swing(), title="swing")
            assert size < 2_000_000
            address = (tmp_path / "swing.html").as_uri()
        else:
            (tmp_path / "swing.viser").write_bytes(scene)
            write_client(tmp_path)
            address = f"{url}/player.html?playbackPath=swing.viser"
        with chromium.Page(address, 320, 240, webgl=True) as page:
            page.until("document.querySelector('canvas') !== null && document.querySelector('[role=slider]') !== null")
            # Pictures are not compared: drawing in software takes seconds on a machine that is busy.
            begin = page.run(TIME)
            page.until(f"Math.abs({TIME} - {begin}) > 0.1")
            assert not [error for error in page.errors if "favicon" not in error]


class Files:
    """Serves a folder on this machine."""

    def __init__(self, folder):
        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass

        handler = functools.partial(Quiet, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, name="test-files", daemon=True)

    def __enter__(self):
        self._thread.start()
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join(5.0)
        self._server.server_close()


@pytest.mark.parametrize(
    ("time", "poses"),
    [
        ([], np.zeros((0, 1))),
        ([0.0, 1.0, 0.5], np.zeros((3, 1))),
        ([0.0, 1.0], np.zeros((1, 1))),
        ([0.0, 1.0], np.zeros((2, 7))),
        ([0.0, 1.0], np.full((2, 1), np.nan)),
    ],
)
def test_a_motion_that_cannot_be_shown_is_refused(time, poses):
    with pytest.raises(PliantError, match="of a motion"):
        Motion(model=mujoco.MjModel.from_xml_string(SWING), time=np.array(time), poses=poses)


def test_the_camera_looks_at_the_first_pose_and_not_at_the_models_own():
    slide = """<mujoco><worldbody><body name="link"><joint type="slide" axis="0 0 1"/>
    <geom type="sphere" size="0.1"/></body></worldbody></mujoco>"""
    time = np.array([0.0, 0.04, 0.08])
    motion = Motion(model=mujoco.MjModel.from_xml_string(slide), time=time, poses=np.full((3, 1), 7.0))
    _, messages = content(playable_scene(motion))
    (look_at,) = {tuple(m["look_at"]) for _, m in messages if m["type"] == "SetCameraLookAtMessage"}
    assert look_at[2] == pytest.approx(7.0, abs=0.05)
