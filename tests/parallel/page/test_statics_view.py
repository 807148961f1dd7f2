"""The page of the statics alone: what it draws, and a real browser that moves sliders, drags the plate, opens files."""

import contextlib
import importlib.util
import json
import threading
from pathlib import Path

import numpy as np
import pytest
from running import eventually
from tripod import TRIPOD

from pliant.base.errors import BridgeError, PliantError
from pliant.base.spatial import rotation_from_quaternion
from pliant.page.server import PageServer
from pliant.parallel.page.section import statics_choice
from pliant.parallel.page.statics_view import StaticsView
from pliant.rods import catalogue, load_robot

pytestmark = pytest.mark.network

_spec = importlib.util.spec_from_file_location("chromium", Path(__file__).resolve().parents[2] / "page" / "chromium.py")
chromium = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(chromium)
with_browser = pytest.mark.skipif(chromium.find() is None, reason="no Chromium is installed")


@contextlib.contextmanager
def running(name, tmp_path, **options):
    """Draw the statics of a robot, in a thread."""
    with (
        PageServer() as server,
        StaticsView(load_robot(name), server, store=tmp_path / "saved.json", **options) as view,
    ):
        thread = threading.Thread(target=view.run, name="test-statics")
        thread.start()
        try:
            yield server, view
        finally:
            view.stop()
            thread.join(60.0)


@pytest.mark.parametrize("name", catalogue())
def test_every_parallel_robot_is_drawn_where_its_equilibrium_is(name, tmp_path):
    with PageServer() as server, StaticsView(load_robot(name), server, store=tmp_path / "s.json") as view:
        shown = view.panel.shown
        frame = view._scene.bodies[1]
        np.testing.assert_allclose(frame.position, shown.plate[:3, 3], atol=1e-9)
        turn = rotation_from_quaternion(np.array(frame.wxyz, dtype=float))
        np.testing.assert_allclose(turn, shown.plate[:3, :3], atol=1e-9)
        rods, links = view._drawing._handle.points, view._links.points
        np.testing.assert_allclose(rods[0, 0], shown.lines[0, 0], atol=1e-6)
        assert len(links) == 2 * len(shown.lines)
        assert np.isfinite(rods).all()
        assert 0.05 < view._scene.size < 20.0
        low, high = view._scene.low - 1e-6, view._scene.high + 1e-6
        assert ((rods >= low) & (rods <= high)).all()


def test_the_plate_follows_the_pointer_in_the_plane_of_the_screen(tmp_path):
    import asyncio

    with running("6PFR", tmp_path) as (_, view):
        plate, point = view.panel.shown.plate.copy(), np.array([0.2, 0.0, 1.1])
        for phase, target in (("start", point), ("update", point), ("end", point + np.array([0.0, 0.01, 0.02]))):
            asyncio.run(view._dragged(phase, 1, point, np.asarray(target)))
        eventually(lambda: not view.panel.busy and view.panel.shown.plate[2, 3] != plate[2, 3])
        np.testing.assert_allclose(view.panel.shown.plate[:3, 3], plate[:3, 3] + [0.0, 0.01, 0.02], atol=1e-7)
        eventually(lambda: abs(view._scene.bodies[1].position[2] - plate[2, 3] - 0.02) < 1e-6)


def test_what_is_drawn_fades_where_there_is_no_equilibrium_and_comes_back(tmp_path):
    with running("2RR", tmp_path) as (_, view):
        bright = view._drawing._handle.colors.copy()
        far = view.panel.shown.plate.copy()
        far[0, 3] += 50.0
        view.panel.move_plate(far)
        eventually(lambda: view.panel.faint and not np.array_equal(view._drawing._handle.colors, bright))
        view.panel.home()
        eventually(lambda: not view.panel.faint and np.array_equal(view._drawing._handle.colors, bright))


def test_another_robot_is_chosen_and_one_from_a_file_is_handed_over(tmp_path):
    with running("2RR", tmp_path, choice=statics_choice(["2RR", "3RR"])) as (server, view):
        choice = next(h for h in server.gui._gui_input_handle_from_uuid.values() if h.label == "robot")
        choice.value = "3RR"
        eventually(lambda: view._stopping.is_set())
        assert (view.choice.wanted, view.choice.opened) == ("3RR", [])
        for name, data, message in (
            ("a.yaml", b"limbs: 3", "a.yaml"),
            ("a.yml", TRIPOD.replace("name: tripod", "name: 3RR").encode(), "already"),
            ("a.exe", b"", r"must end in \.yaml"),
            ("", b"", r"must end in \.yaml"),
        ):
            with pytest.raises(PliantError, match=message):
                view.choice.open(name, data)
        view.choice.open("tripod.yaml", TRIPOD.encode())
        assert view.choice.wanted == "tripod"
        assert [one.name for one in view.choice.opened] == ["tripod"]


def test_a_server_that_ends_is_an_error_of_the_page(tmp_path):
    with PageServer() as server, StaticsView(load_robot("2RR"), server, store=tmp_path / "s.json") as view:
        server.stop()
        eventually(lambda: not server.alive)
        with pytest.raises(BridgeError, match="the server of the page ended"):
            view.run()


def pixel(browser, server, point):
    """Return where a point of the world is in the browser's window."""
    left, top, width, height = browser.run(
        "(() => { const all = [...document.querySelectorAll('canvas')].map(c => c.getBoundingClientRect());"
        " const r = all.sort((a, b) => b.width * b.height - a.width * a.height)[0];"
        " return [r.left, r.top, r.width, r.height]; })()"
    )
    (client,) = server.viser.get_clients().values()
    camera = client.camera
    x, y, z = rotation_from_quaternion(np.array(camera.wxyz)).T @ (np.asarray(point) - np.array(camera.position))
    scale = 0.5 * height / np.tan(0.5 * camera.fov)
    return left + 0.5 * width + scale * x / z, top + 0.5 * height + scale * y / z


UPLOAD = """(() => {{ const d = new DataTransfer(); d.items.add(new File([{text}], {name}));
 const f = document.querySelector('input[type=file]'); f.files = d.files;
 f.dispatchEvent(new Event('change', {{bubbles: true}})); return true; }})()"""


def upload(browser, name, text):
    browser.run(UPLOAD.format(text=json.dumps(text), name=json.dumps(name)))


@with_browser
def test_in_a_browser_sliders_the_plate_and_its_handle_move_the_robot_and_files_are_opened(tmp_path):
    with running("6PFR", tmp_path, choice=statics_choice(["6PFR"])) as (server, view):
        panel = view.panel
        with chromium.Page(server.url, 1280, 800, webgl=True) as browser:
            browser.until(
                "document.querySelectorAll('[role=slider]').length > 10 && !!document.querySelector('canvas')"
            )
            eventually(lambda: len(server.viser.get_clients()) == 1)
            home = panel.shown
            # A slider of a joint: the direct model.
            first = panel._joints[0]
            goal = first.min + 0.6 * (first.max - first.min)
            browser.move_slider(first.label, 0.6)
            # The browser sends some values on the way, the last one a moment later.
            eventually(lambda: abs(first.value - goal) < 0.02 * (first.max - first.min) and not panel.busy)
            found = panel.shown
            assert found.q[0] == pytest.approx(first.value, abs=1e-9)
            exact = load_robot("6PFR").solve_dgm(found.q)
            np.testing.assert_allclose(found.plate, exact.plate_pose, atol=1e-6)
            browser.until("document.body.innerText.includes('smallest stiffness')")
            panel.home()
            eventually(lambda: not panel.busy and np.allclose(panel.shown.plate, home.plate, atol=1e-7))
            # The plate itself, beside its handle: in the plane of the screen, and it stays under the pointer.
            reach = 0.8 * panel._robot.characteristic_length()
            held = home.plate[:3, 3] + reach * np.array([np.cos(0.6), np.sin(0.6), 0.0])
            x, y = pixel(browser, server, held)
            browser.hover(x, y)
            browser.drag((x, y), (x + 8, y - 6), (x + 20, y - 15), (x + 30, y - 25))
            eventually(lambda: not panel.busy and view._held is None and panel.shown.pose[2] > home.pose[2] + 0.01)
            np.testing.assert_allclose(panel.shown.plate[:3, :3], home.plate[:3, :3], atol=1e-6)
            moved = held + panel.shown.plate[:3, 3] - home.plate[:3, 3]
            np.testing.assert_allclose(pixel(browser, server, moved), (x + 30, y - 25), atol=4.0)
            assert panel._mode.value == "plate pose"
            # An arrow of the handle: along its axis only.
            before = panel.shown.plate.copy()
            length = 0.2 * view._scene.size
            start = pixel(browser, server, before[:3, 3] + 0.9 * length * before[:3, 2])
            end = pixel(browser, server, before[:3, 3] + 1.1 * length * before[:3, 2])
            browser.hover(*start)
            browser.drag(start, tuple(0.5 * np.add(start, end)), end)
            eventually(
                lambda: not panel.busy and not panel._handle.held and panel.shown.plate[2, 3] > before[2, 3] + 0.01
            )
            np.testing.assert_allclose(panel.shown.plate[:2, 3], before[:2, 3], atol=1e-3)
            # Files: a table becomes the path, a fault is told, a robot is handed over.
            upload(browser, "rows.csv", "q1,q2,q3,q4,q5,q6\n0,0,0,0,0,0\n0.01,0,0,0,0,0\n")
            eventually(lambda: len(panel.path.rows) == 2)
            upload(browser, "bad.csv", "1,2\n")
            browser.until("document.body.innerText.includes('bad.csv')")
            upload(browser, "large.csv", "x" * (1 << 21))
            browser.until("document.body.innerText.includes('must be at most 1048576')")
            upload(browser, "tripod.yaml", TRIPOD)
            eventually(lambda: view.choice.opened)
            assert view.choice.opened[0].name == "tripod"
            # viser's own, after a drag in the scene.
            assert [e for e in browser.errors if "inside passive event listener" not in e] == []


def test_a_pointer_that_moves_without_a_start_is_ignored(tmp_path):
    import asyncio

    with PageServer() as server, StaticsView(load_robot("2RR"), server, store=tmp_path / "s.json") as view:
        asyncio.run(view._dragged("update", 1, np.zeros(3), np.ones(3)))
        assert view.panel._solver.asked == 0
