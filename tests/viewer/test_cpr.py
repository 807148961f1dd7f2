"""The page of parallel robots: its requests, and a real browser that moves its sliders."""

import http.client
import importlib.util
import json
import socket
import struct
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from pliant.errors import BridgeError
from pliant.rods import load_robot
from pliant.viewer.cpr import MAX_LOADED, MAX_REQUEST_BYTES, ParallelView

pytestmark = pytest.mark.network

_spec = importlib.util.spec_from_file_location("chromium", Path(__file__).with_name("chromium.py"))
chromium = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(chromium)


@pytest.fixture
def page(tmp_path):
    with ParallelView("Stewart_Gough_6PFR", port=0, store=tmp_path / "saved.json") as view:
        yield view


def ask(view, path, data=None, *, raw=None, **headers):
    body = json.dumps(data).encode() if raw is None else raw
    request = urllib.request.Request(
        view.url.rstrip("/") + path, data=body, headers={"Content-Type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_the_page_comes_in_one_piece(page):
    with urllib.request.urlopen(page.url, timeout=10) as answer:
        text = answer.read().decode()
    assert "Stewart_Gough_6PFR" in text
    assert "__ROBOT__" not in text
    assert "http://" not in text.replace(page.url, "")
    assert "https://" not in text


def test_both_models_are_solved_as_the_library_solves_them(page):
    status, robot = ask(page, "/api/robot", {"session": "a"})
    assert status == 200
    assert len(robot["robots"]) == 12
    pose = [0.03, -0.02, 1.12, 0.05, 0.0, 0.1]
    _, found = ask(page, "/api/solve", {"session": "a", "mode": "igm", "pose": pose, "wrench": [0.1, 0, 0, 0, 0, 0]})
    assert found["ok"]
    np.testing.assert_allclose(found["pose"], pose, atol=1e-9)
    statics = load_robot("Stewart_Gough_6PFR")
    exact = statics.solve_dgm(found["q"], [0.1, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(exact.plate_pose[:3, 3], pose[:3], atol=1e-6)
    _, back = ask(page, "/api/solve", {"session": "a", "mode": "dgm", "q": found["q"]})
    assert back["stable"]
    assert len(back["rods"]) == 6
    assert len(back["rods"][0]) == 3 * len(back["strain"][0])


def test_the_reason_is_told_where_there_is_no_solution(page):
    _, found = ask(page, "/api/solve", {"session": "b", "mode": "igm", "pose": [3.0, 0, 1.1, 0, 0, 0]})
    assert found["ok"] is False
    assert "too short" in found["reason"]


def test_an_underactuated_robot_lets_the_freedoms_be_chosen(page):
    robot = {"session": "c", "robot": "3PFR_spatial"}
    _, described = ask(page, "/api/robot", robot)
    assert described["underactuated"]
    goal = {**robot, "mode": "igm", "pose": [0, 0, 1.19, 0.02, 0, 0]}
    _, found = ask(page, "/api/solve", {**goal, "controlled": ["z", "rx", "ry"]})
    assert found["ok"]
    assert found["pose"][2] == pytest.approx(1.19, abs=1e-8)
    _, found = ask(page, "/api/solve", {**goal, "controlled": ["z", "rx"]})
    assert found["ok"] is False
    assert "freedoms" in found["reason"]


def test_configurations_are_saved_and_deleted(page):
    entry = {"mode": "dgm", "q": [0.01] * 6, "pose": [0.0] * 6, "wrench": [0.0] * 6}
    status, saved = ask(page, "/api/save", {"name": "low", **entry})
    assert status == 200
    assert saved["configurations"]["low"]["q"] == [0.01] * 6
    _, robot = ask(page, "/api/robot", {})
    assert robot["configurations"]["low"]["own"] is False
    _, saved = ask(page, "/api/save", {"name": "low", "delete": True})
    assert saved["configurations"] == {}
    status, answer = ask(page, "/api/save", {"name": "low", "delete": True})
    assert status == 400
    assert "no saved configuration" in answer["reason"]


@pytest.mark.parametrize(
    ("path", "data", "message"),
    [
        ("/api/solve", {"mode": "dgm", "q": [0.0]}, "q must be a list of 6 numbers"),
        ("/api/solve", {"mode": "dgm", "q": [0, 0, 0, 0, 0, "x"]}, "finite numbers"),
        ("/api/solve", {"mode": "dgm", "q": [0, 0, 0, 0, 0, True]}, "finite numbers"),
        ("/api/solve", {"mode": "fgm"}, "did you mean"),
        ("/api/robot", {"robot": "../../etc/passwd"}, "there is no robot"),
        ("/api/robot", {"session": "x" * 100}, "64 characters"),
        ("/api/save", {"name": "", "mode": "dgm"}, "1 to 60"),
        ("/api/nothing", {}, "there is no request"),
    ],
)
def test_wrong_requests_are_answered_with_what_is_valid(page, path, data, message):
    status, answer = ask(page, path, data)
    assert status == 400
    assert message in answer["reason"]


def test_requests_are_bounded_and_only_this_machines_pages_are_answered(page):
    assert ask(page, "/api/solve", raw=b"{" * 2000)[0] == 400
    assert ask(page, "/api/solve", raw=b"[]")[0] == 400
    assert ask(page, "/api/solve", raw=b" " * (MAX_REQUEST_BYTES + 1))[0] == 413
    assert ask(page, "/api/robot", {}, **{"Content-Type": "text/plain"})[0] == 415
    assert ask(page, "/api/robot", {}, Host="evil.example")[0] == 403
    assert ask(page, "/api/solve", raw=b'{"mode":"dgm","q":[NaN,0,0,0,0,0]}')[0] == 400
    assert ask(page, "/api/robot", {})[0] == 200


TRIPOD = """
name: tripod
home: {xyz: [0, 0, 0.48], q: [0, 0, 0]}
plate: {mass: 50 g}
controlled: [z, rx, ry]
limb:
  rod: {length: 0.5, radius: 1 mm}
  joints: [{type: prismatic, axis: [0, 0, 1], limits: [-0.1, 0.1]}]
  plate_joint: {type: universal, axis: [1, 0, 0], axis_2: [0, 1, 0]}
limbs:
  - {name: front, base: {xyz: [0.10, 0, 0]}, plate_joint: {xyz: [0.06, 0, 0]}}
  - {name: left, base: {xyz: [-0.05, 0.0866, 0], rpy: [0, 0, 120 deg]}, plate_joint: {xyz: [-0.03, 0.052, 0], rpy: [0, 0, 120 deg]}}
  - {name: right, base: {xyz: [-0.05, -0.0866, 0], rpy: [0, 0, 240 deg]}, plate_joint: {xyz: [-0.03, -0.052, 0], rpy: [0, 0, 240 deg]}}
"""  # noqa: E501


def test_a_robot_is_loaded_from_the_text_of_a_yaml_file_and_solved(page):
    status, robot = ask(page, "/api/load", {"session": "y", "file": "tripod.yaml", "text": TRIPOD})
    assert status == 200
    assert robot["name"] == "tripod"
    assert robot["limbs"] == ["front", "left", "right"]
    assert robot["robots"][:2] == ["Stewart_Gough_6PFR", "tripod"]
    _, found = ask(page, "/api/solve", {"session": "y", "robot": "tripod", "mode": "dgm", "q": [0.01, 0.0, 0.0]})
    assert found["ok"]
    # The same name again: what another page remembers of the old robot is no start for the new one.
    ask(page, "/api/load", {"session": "z", "file": "tripod.yaml", "text": TRIPOD.replace("50 g", "60 g")})
    _, found = ask(page, "/api/solve", {"session": "y", "robot": "tripod", "mode": "dgm", "q": [0.01, 0.0, 0.0]})
    assert found["ok"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "text must be the text of a YAML file"),
        ({"text": 3}, "text must be the text of a YAML file"),
        ({"text": "limbs: 3"}, "needs a list of one limb or more"),
        ({"text": TRIPOD.replace("universal", "uniwersal"), "file": "my.yaml"}, "my.yaml"),
        ({"text": TRIPOD.replace("name: tripod", "name: 3RR")}, "there is a robot '3RR' already"),
        ({"text": "[" * 20000}, ""),
    ],
)
def test_a_file_that_describes_no_robot_is_answered_with_the_reason(page, data, message):
    status, answer = ask(page, "/api/load", data)
    assert status == 400
    assert message in answer["reason"]
    assert ask(page, "/api/robot", {})[0] == 200


def test_no_more_robots_than_a_page_needs_are_kept(page):
    for k in range(MAX_LOADED + 2):
        text = TRIPOD.replace("name: tripod", f"name: tripod{k}")
        assert ask(page, "/api/load", {"file": "a.yaml", "text": text})[0] == 200
    _, robot = ask(page, "/api/robot", {})
    assert "tripod1" not in robot["robots"]
    assert "tripod2" in robot["robots"]
    assert len(robot["robots"]) == 12 + MAX_LOADED


def test_a_change_of_branch_is_told(page):
    start = {"session": "n", "mode": "dgm"}
    _, robot = ask(page, "/api/robot", {"session": "n"})
    q = robot["solution"]["q"]
    assert robot["solution"]["note"] == ""
    # Under 60 N the plate has buckled: the straight equilibrium is left for the stable one beside it, or for another.
    notes = []
    for load in (10.0, 20.0, 30.0, 34.0, 38.0, 42.0):
        _, found = ask(page, "/api/solve", {**start, "q": q, "wrench": [0, 0, -load, 0, 0, 0]})
        notes.append(found.get("note", "no solution"))
    assert notes[0] == ""
    assert any(notes), "no branch was left"


def test_an_answer_does_not_wait_for_the_acknowledgement_of_its_first_half(page):
    """Header and body in two pieces cost 40 ms each time (Nagle's algorithm against a delayed acknowledgement)."""
    connection = http.client.HTTPConnection("127.0.0.1", int(page.url.rsplit(":", 1)[1].rstrip("/")), timeout=20)
    spent = []
    for _ in range(25):
        began = time.perf_counter()
        connection.request("POST", "/api/nothing", b"{}", {"Content-Type": "application/json"})
        connection.getresponse().read()
        spent.append(time.perf_counter() - began)
    connection.close()
    assert np.median(spent) < 0.025


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://site.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000"},
        {"Host": "site.example"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_another_site_can_neither_read_nor_solve_nor_save(page, headers, tmp_path):
    entry = {"name": "low", "mode": "dgm", "q": [0.01] * 6, "pose": [0.0] * 6, "wrench": [0.0] * 6}
    for path, data in (("/api/robot", {}), ("/api/solve", {"mode": "dgm", "q": [0.0] * 6}), ("/api/save", entry)):
        assert ask(page, path, data, **headers)[0] == 403
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(urllib.request.Request(page.url, headers=headers), timeout=20)
    assert not (tmp_path / "saved.json").exists()


def test_no_answer_may_be_framed_embedded_or_read_by_another_site(page):
    with urllib.request.urlopen(page.url, timeout=20) as answer:
        headers = answer.headers
    assert "Access-Control-Allow-Origin" not in headers
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


def test_a_page_on_every_interface_is_refused():
    with pytest.raises(BridgeError, match="every interface"):
        ParallelView("2RR", port=0, host="0.0.0.0").start()


def test_a_connection_that_is_broken_off_says_nothing_on_the_console(page, capfd):
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", int(page.url.rsplit(":", 1)[1].rstrip("/"))), timeout=20) as client:
            client.sendall(
                b"POST /api/solve HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n"
                b"Content-Type: application/json\r\n\r\n{"
            )
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert ask(page, "/api/robot", {})[0] == 200
    assert "Traceback" not in "".join(capfd.readouterr())


def test_a_port_in_use_is_named(page):
    other = ParallelView("2RR", port=int(page.url.rsplit(":", 1)[1].rstrip("/")))
    with pytest.raises(BridgeError, match="another port"):
        other.start()
    other.stop()


def test_a_broken_file_of_configurations_is_named(tmp_path):
    file = tmp_path / "saved.json"
    file.write_text("{")
    with ParallelView("2RR", port=0, store=file) as view:
        status, answer = ask(view, "/api/robot", {})
    assert status == 400
    assert "saved.json" in answer["reason"]


@pytest.mark.skipif(chromium.find() is None, reason="no Chromium is installed")
def test_in_a_browser_a_slider_moves_the_plate_and_its_failure_is_explained(page):
    with chromium.Page(page.url) as browser:
        browser.until("window.pliant && pliant.ready")
        before = browser.run("pliant.sol.pose")
        # The mouse drags the slider of the first joint to the right.
        box = browser.run(
            "(() => { const b = document.querySelector('#joints input[type=range]').getBoundingClientRect();"
            " return [b.left, b.top + b.height / 2, b.width]; })()"
        )
        value = browser.run("Number(document.querySelector('#joints input[type=range]').value)")
        low, high = browser.run(
            "(() => { const r = document.querySelector('#joints input[type=range]'); return [+r.min, +r.max]; })()"
        )
        at = box[0] + 8 + (box[2] - 16) * (value - low) / (high - low)
        browser.drag((at, box[1]), (at + 4, box[1]), (at + 9, box[1]))
        browser.until("pliant.solves > 0 && !pliant.busy")
        moved = browser.run("pliant.q[0]")
        assert moved > value + 0.02
        after = browser.run("pliant.sol.pose")
        exact = load_robot("Stewart_Gough_6PFR").solve_dgm(browser.run("pliant.q"))
        np.testing.assert_allclose(after[:3], exact.plate_pose[:3, 3], atol=1e-6)
        assert np.abs(np.subtract(after, before)).max() > 1e-3
        shown = float(browser.run("document.querySelectorAll('#poses input[type=number]')[2].value"))
        assert shown == pytest.approx(after[2], abs=1e-5)
        # A pose typed in: the inverse model takes over.
        browser.run(
            "(() => { const n = document.querySelectorAll('#poses input[type=number]')[2]; n.value = '1.15';"
            " n.dispatchEvent(new Event('change')); })()"
        )
        browser.until("pliant.mode === 'igm' && !pliant.busy && Math.abs(pliant.sol.pose[2] - 1.15) < 1e-8")
        assert browser.run("document.querySelector('input[value=igm]').checked")
        # Out of reach: the reason stands on the page.
        browser.run(
            "(() => { const n = document.querySelectorAll('#poses input[type=number]')[0]; n.value = '4';"
            " n.dispatchEvent(new Event('change')); })()"
        )
        browser.until("document.querySelector('#reason').style.display === 'block'")
        assert "too short" in browser.run("document.querySelector('#reason').textContent")
        assert browser.run("document.querySelector('#badge').textContent") == "no solution"
        # Home, save, and the drawing has the colours of the rods.
        browser.run("document.querySelector('#home').click()")
        browser.until("document.querySelector('#badge').textContent === 'stable' && pliant.sol.pose[0] < 1e-6")
        browser.run("document.querySelector('#name').value = 'start'; document.querySelector('#save').click()")
        browser.until("document.querySelector('#saved button') !== null")
        colours = browser.run(
            "(() => { const c = document.querySelector('#view'), d = c.getContext('2d').getImageData(0, 0, c.width,"
            " c.height).data, s = new Set(); for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200)"
            " s.add(d[i] + ',' + d[i + 1] + ',' + d[i + 2]); return s.size; })()"
        )
        assert colours > 100
        assert browser.screenshot()[:4] == b"\x89PNG"


@pytest.mark.skipif(chromium.find() is None, reason="no Chromium is installed")
def test_in_a_browser_the_plate_is_dragged_a_path_is_played_and_a_file_is_loaded(page):
    with chromium.Page(page.url) as browser:
        browser.until("window.pliant && pliant.ready && pliant.handle")
        before = browser.run("pliant.sol.pose")
        x, y = browser.run(
            "(() => { const b = document.querySelector('#view').getBoundingClientRect();"
            " return [b.left + pliant.handle[0], b.top + pliant.handle[1]]; })()"
        )
        browser.run("document.querySelector('#add').click()")  # joint values of home
        browser.drag((x, y), (x + 10, y - 8), (x + 30, y - 25))
        browser.until("pliant.mode === 'igm' && pliant.solves > 0 && !pliant.busy")
        after = browser.run("pliant.sol.pose")
        assert after[2] > before[2] + 0.02  # up on the screen is up
        assert np.linalg.norm(np.subtract(after, before)[:2]) > 0.02
        np.testing.assert_allclose(after[3:], before[3:], atol=1e-6)
        at = browser.run(
            "(() => { const b = document.querySelector('#view').getBoundingClientRect();"
            " return [b.left + pliant.handle[0], b.top + pliant.handle[1]]; })()"
        )
        np.testing.assert_allclose(at, (x + 30, y - 25), atol=2.0)  # the plate is under the mouse
        # A path of two rows of joint values is played to its end.
        browser.run("document.querySelector('input[value=dgm]').click()")
        browser.until("pliant.mode === 'dgm' && !pliant.busy")
        browser.run("document.querySelector('#add').click()")
        assert browser.run("document.querySelector('#rows').textContent") == "2 joint rows"
        goal = browser.run("pliant.path[1].v")
        browser.run("pliant.solves = 0; document.querySelector('#play').click()")
        browser.until("pliant.playing === 0 && !pliant.busy && document.querySelector('#at').value === '1'")
        assert browser.run("pliant.solves") > 4
        np.testing.assert_allclose(browser.run("pliant.sol.q"), goal, atol=1e-6)
        np.testing.assert_allclose(browser.run("pliant.sol.pose"), after, atol=1e-5)
        # A file.
        browser.run(
            "(() => { const d = new DataTransfer(); d.items.add(new File([" + json.dumps(TRIPOD) + "], 'tripod.yaml'));"
            " const f = document.querySelector('#file'); f.files = d.files; f.dispatchEvent(new Event('change')); })()"
        )
        browser.until("pliant.ready && pliant.robot.name === 'tripod'")
        assert browser.run("document.querySelector('#robot').value") == "tripod"
        assert browser.run("document.querySelector('#reason').style.display") != "block"


@pytest.mark.skipif(chromium.find() is None, reason="no Chromium is installed")
def test_in_a_browser_every_robot_of_the_catalogue_is_drawn(page):
    with chromium.Page(page.url) as browser:
        browser.until("window.pliant && pliant.ready")
        names = browser.run("pliant.robot.robots")
        for name in names:
            browser.run(
                f"(() => {{ pliant.ready = false; const r = document.querySelector('#robot'); r.value = {name!r};"
                " r.dispatchEvent(new Event('change')); })()"
            )
            browser.until(f"pliant.ready && pliant.robot.name === {name!r}")
            badge = browser.run("document.querySelector('#badge').textContent")
            assert badge == "stable" or badge.startswith("the plate turns freely")
            assert browser.run("document.querySelector('#reason').style.display") != "block"
