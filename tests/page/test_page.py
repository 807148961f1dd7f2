"""The page of robots: what it answers, what it does to the simulation, and a real browser that moves its sliders."""

import contextlib
import importlib.util
import ipaddress
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import msgspec
import mujoco
import numpy as np
import pytest
import zstandard
from running import eventually, free_port, running
from websockets.sync.client import connect

from pliant.base.errors import BridgeError, DeadThreadError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.page import PageServer, PageView
from pliant.page.choice import RobotChoice
from pliant.page.scene import THINNEST_TENDON
from pliant.robots.loading import load
from pliant.simulation import Simulation, paced

pytestmark = pytest.mark.network

_spec = importlib.util.spec_from_file_location("chromium", Path(__file__).with_name("chromium.py"))
chromium = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(chromium)
with_browser = pytest.mark.skipif(chromium.find() is None, reason="no Chromium is installed")


@pytest.fixture
def engine():
    return MujocoEngine(load("qbmove-1dof"), check=False)


def test_the_page_is_served_to_this_machine_while_the_simulation_runs(engine, capfd):
    view = PageView(engine, port=free_port())
    with Simulation(engine, [], [view], pacer="free") as simulation:
        simulation.run(0.05)
        with urllib.request.urlopen(view.url, timeout=60) as answer:
            assert answer.status == 200
            assert answer.headers["X-Frame-Options"] == "DENY"
            assert b"<html" in answer.read(4096).lower()
        simulation.run(0.05)
        assert view.health()["last_error"] == ""
    assert view.health()["pictures"] >= 1
    with pytest.raises(OSError):
        urllib.request.urlopen(view.url, timeout=2)
    assert capfd.readouterr().out == ""


def test_the_threads_of_the_page_have_names_and_end_with_it(engine):
    before = set(threading.enumerate())
    view = PageView(engine, port=free_port())
    with Simulation(engine, [], [view], pacer="free") as simulation:
        simulation.run(0.01)
        names = {thread.name for thread in set(threading.enumerate()) - before}
        assert {"pliant-view", "pliant-page-server"} <= names
    for thread in set(threading.enumerate()) - before:
        thread.join(60.0)
    assert not [t for t in set(threading.enumerate()) - before if t.name.startswith("pliant")]


def test_a_part_of_the_page_that_cannot_be_drawn_is_told_once_and_the_rest_goes_on(engine, caplog):
    def fail(*_):
        raise RuntimeError("no picture")

    view = PageView(engine, port=free_port())
    with Simulation(engine, make_devices(load("qbmove-1dof")), [view], pacer="free") as simulation:
        simulation.start()
        tried = threading.Event()
        view._scene.update = fail
        view._plots.take = fail
        view._run.draw = tried.set
        simulation.run(0.1)
        eventually(lambda: len(view._broken) == 2)
        for _ in range(3):  # it is tried again and again
            tried.clear()
            simulation.run(0.1)
            assert tried.wait(10.0)
        assert view.threads.dead == {}
        with urllib.request.urlopen(view.url, timeout=60) as answer:
            assert answer.status == 200
    told = sorted(r.getMessage() for r in caplog.records if r.name == "pliant.view" and r.levelname == "ERROR")
    assert told == [
        f"the page: {part} cannot be drawn (RuntimeError: no picture); the rest of the page goes on"
        for part in ("the points of the curves", "the robot")
    ]


def test_a_page_that_ends_leaves_the_simulation_running_and_says_why_once(engine, caplog):
    view = PageView(engine, port=free_port())
    with Simulation(engine, make_devices(load("qbmove-1dof")), [view], pacer="free") as simulation:
        simulation.run(0.05)
        view._server.stop()
        eventually(lambda: view._over)
        assert simulation.run(0.5) is not None
        assert simulation.time >= 0.5
        assert "the server of the page ended" in view.health()["last_error"]
        assert view.threads.dead == {}
    told = [r.getMessage() for r in caplog.records if r.levelname == "ERROR"]
    assert told == [
        "the page has ended (BridgeError: the server of the page ended); the simulation goes on without it"
    ], told


@pytest.mark.parametrize("part", ["Plots", "DeviceControls", "RunPanel"])
def test_a_fault_while_the_page_is_built_leaves_the_simulation_running_and_says_why_once(
    part, engine, caplog, monkeypatch
):
    def broken(*args, **options):
        raise RuntimeError("no panel")

    monkeypatch.setattr(f"pliant.page.page.{part}", broken)
    view = PageView(engine, port=free_port())
    with Simulation(engine, make_devices(load("qbmove-1dof")), [view], pacer="free") as simulation:
        simulation.run(0.05)
        assert simulation.time >= 0.05
        assert "no panel" in view.health()["last_error"]
    told = [r.getMessage() for r in caplog.records if r.levelname == "ERROR"]
    assert told == ["the page has ended (RuntimeError: no panel); the simulation goes on without it"], told


def test_a_run_that_is_for_the_page_only_ends_with_an_error_when_the_page_does(engine):
    view = PageView(engine, port=free_port(), needed=True)
    with Simulation(engine, [], [view], pacer=paced(1.0)) as simulation:
        simulation.start()
        view._server.stop()
        with pytest.raises(DeadThreadError, match="the server of the page ended"):
            simulation.run(30.0)


def test_the_tab_of_the_browser_has_the_name_of_the_robot_and_a_line_while_it_loads():
    with PageServer(port=free_port(), title="<b>elbow") as server:
        with urllib.request.urlopen(server.url, timeout=60) as answer:
            text = answer.read().decode()
        assert "<title>&lt;b&gt;elbow - pliant</title>" in text
        assert "Loading &lt;b&gt;elbow ...</div>" in text
        server.rename("wrist")
        with urllib.request.urlopen(server.url + "?showStats", timeout=60) as answer:
            assert "<title>wrist - pliant</title>" in answer.read().decode()


OWN = {"Host": "localhost:8080", "Origin": "http://localhost:8080"}
FOREIGN = [
    {"Host": "localhost:8080", "Origin": "http://site.example"},
    {"Host": "localhost:8080", "Origin": "http://localhost:3000"},
    {"Host": "site.example:8080", "Origin": "http://site.example:8080"},
    {"Host": "localhost:8080", "Origin": "null"},
    {"Host": "localhost:8080", "Sec-Fetch-Site": "cross-site"},
]


@contextlib.contextmanager
def serving_a_view(port):
    """Run `pliant view` in a process of its own."""
    command = [sys.executable, "-m", "pliant", "view", "qbmove-1dof", "--view-port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr.readline().startswith("view: ")
            yield process
        finally:
            process.kill()


def listening(pid):
    """Return the addresses on which a process takes TCP connections."""
    own = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            own.add(str(descriptor.readlink()))
    found = []
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
            row = line.split()
            if row[3] == "0A" and f"socket:[{row[9]}]" in own:
                address = row[1].partition(":")[0]
                words = [bytes.fromhex(address[k : k + 8])[::-1] for k in range(0, len(address), 8)]
                found.append(str(ipaddress.ip_address(b"".join(words))))
    return found


def answer_to(port, path, headers, *, upgrade):
    """Return the head of what is answered to a request, or to a WebSocket's handshake."""
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if upgrade:
        key = "dGhlIHNhbXBsZSBub25jZQ=="
        lines += ["Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall("\r\n".join([*lines, "", ""]).encode())
        data = b""
        while b"\r\n\r\n" not in data:
            piece = client.recv(4096)
            if not piece:
                break
            data += piece
    return data.partition(b"\r\n\r\n")[0].decode().lower()


def test_another_site_can_neither_read_the_page_nor_open_its_websocket():
    port = free_port()
    with serving_a_view(port) as process:
        addresses = listening(process.pid)
        assert set(addresses) == {"127.0.0.1"}, addresses
        for upgrade in (False, True):
            for headers in FOREIGN:
                answer = answer_to(port, "/", headers, upgrade=upgrade)
                assert answer.startswith("http/1.1 403"), (upgrade, headers, answer)
                assert "access-control-allow-origin" not in answer
            answer = answer_to(port, "/", OWN, upgrade=upgrade)
            assert answer.startswith("http/1.1 101" if upgrade else "http/1.1 200"), (upgrade, answer)
            assert "access-control-allow-origin" not in answer


def test_a_page_drawn_without_a_graphics_card_switches_the_shadows_off_once():
    with running("qbmove-1dof") as (_, view):
        port = int(view.url.rstrip("/").rpartition(":")[2])
        assert answer_to(port, "/drawn-in-software", FOREIGN[0], upgrade=False).startswith("http/1.1 403")
        view._scene.spare()
        assert view._scene.layers.shadows
        own = {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}
        assert answer_to(port, "/drawn-in-software", own, upgrade=False).startswith("http/1.1 204")
        eventually(lambda: not view._scene.layers.shadows)
        eventually(lambda: not view._look.boxes["shadows"].value)
        view._scene.show("shadows", True)  # who wants them gets them
        assert not view._scene.spare()
        assert view._scene.layers.shadows


def test_the_page_cannot_be_opened_to_the_internet_and_takes_no_files(engine):
    from viser import _messages

    view = PageView(engine, port=free_port())
    view.start({})
    try:
        handlers = view._server.viser._websock_server._incoming_handlers
        assert not {_messages.ShareUrlRequest, _messages.FileTransferStartUpload} & set(handlers)
    finally:
        view.stop()


def test_the_view_on_every_interface_is_refused(engine):
    for host in ("::", "0.0.0.0"):
        with pytest.raises(BridgeError, match="every interface"):
            PageView(engine, host=host).start({})


def test_a_port_in_use_is_named(engine):
    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        view = PageView(engine, port=taken.getsockname()[1])
        with pytest.raises(BridgeError, match="another port"):
            view.start({})
        view.stop()


def test_an_address_of_another_machine_is_named(engine):
    with pytest.raises(BridgeError, match="name an address of this machine"):
        PageView(engine, host="192.0.2.1").start({})  # reserved for documentation


@pytest.mark.parametrize("port", [-1, 65536, 99999])
def test_a_port_that_does_not_exist_is_refused_instead_of_wrapped(engine, port):
    with pytest.raises(BridgeError, match="from 0 to 65535"):
        PageView(engine, port=port).start({})


def test_a_robot_without_any_geom_is_shown_while_it_runs(tmp_path):
    bare = tmp_path / "bare.urdf"
    bare.write_text(
        '<robot name="bare"><link name="base"/><link name="arm"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/>'
        '<inertia ixx="0.002" iyy="0.002" izz="0.0005" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>'
        "</robot>"
    )
    with running(str(bare)) as (_, view):
        assert view._scene is not None
        view._scene.refresh()


def test_the_report_is_served_beside_the_page_and_nothing_above_it(engine, tmp_path):
    (tmp_path / "report").mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "report" / "index.html").write_text("<p>verdicts</p>")
    view = PageView(engine, port=free_port(), report=tmp_path / "report")
    view.start({})
    try:
        with urllib.request.urlopen(view.url + "report/", timeout=60) as answer:
            assert b"verdicts" in answer.read()
        for path in ("report/../secret.txt", "report/%2e%2e/secret.txt", "../secret.txt"):
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(view.url + path, timeout=60)
    finally:
        view.stop()


def test_pulling_a_body_bends_the_arm_and_letting_go_clears_the_force():
    robot = load("qbmove-1dof")
    engine = MujocoEngine(robot, check=False)
    view = PageView(engine, port=free_port())
    with Simulation(engine, make_devices(robot), [view], pacer="free") as simulation:
        simulation.run(0.5)
        body = engine.model.nbody - 1
        point, turn = engine.data.xipos[body].copy(), engine.data.xmat[body].reshape(3, 3).copy()
        before = float(engine.data.qpos[0])
        target = point + np.array([0.0, 0.3, 0.3])
        view._pull.hold(body, point, target, position=engine.data.xpos[body].copy(), rotation=turn)
        simulation.run(0.5)
        assert abs(float(engine.data.qpos[0]) - before) > 0.05
        assert np.abs(engine.data.xfrc_applied[body]).max() > 0.0
        view._pull.release()
        simulation.run(0.01)
        np.testing.assert_allclose(engine.data.xfrc_applied[body], 0.0, atol=1e-12)


def test_a_pull_that_is_not_finite_is_ignored(engine):
    view = PageView(engine)
    nothing = np.full(3, np.nan)
    view._pull.hold(1, nothing, nothing, position=np.zeros(3), rotation=np.eye(3))
    assert not view._pull.active


def canvas(browser):
    """Return the mean brightness and the spread of the 3D picture in a screenshot."""
    import io

    from PIL import Image

    image = np.asarray(Image.open(io.BytesIO(browser.screenshot())).convert("L"), dtype=float)
    height, width = image.shape
    return image[height // 4 : -20, int(0.42 * width) : int(0.58 * width)]


READY = "document.querySelectorAll('[role=slider]').length > 0 && !!document.querySelector('canvas')"


def test_the_page_records_while_the_simulation_runs_and_the_recording_is_complete(tmp_path, monkeypatch):
    from pliant.recording.recording import read_recording

    monkeypatch.chdir(tmp_path)
    with running("qbmove-1dof") as (simulation, view):
        panel = view._run
        panel._recorded(None)
        assert simulation.recording.parent == tmp_path
        before = simulation.time
        eventually(lambda: simulation.time >= before + 0.2)
        panel._recorded(None)
        assert simulation.recording is None
    (path,) = tmp_path.glob("*.mcap")
    found = read_recording(path)
    assert found.complete
    assert found.duration >= 0.1


def test_speed_pause_and_step_of_the_page_reach_the_simulation():
    with running("qbmove-1dof") as (simulation, view):
        panel = view._run
        panel._speed.value = "0.5"
        eventually(lambda: simulation.pacer.rtf == 0.5)
        panel._paused(None)
        assert simulation.paused
        before = simulation.steps
        panel._buttons.value = "Step"
        panel._pressed(None)
        assert simulation.steps >= before + 10
        panel._buttons.value = "Reset"
        panel._pressed(None)
        assert simulation.time < 0.1
        panel._paused(None)
        assert not simulation.paused


def test_sliders_are_made_from_the_field_tables_and_refuse_nothing_that_they_offer():
    with running("qbmove-1dof") as (simulation, view):
        eventually(lambda: view._filled)
        labels = {h.label for h in view._server.gui._gui_input_handle_from_uuid.values() if hasattr(h, "label")}
        assert {"equilibrium position [rad]", "stiffness preset [rad]", "external torque [N m]", "mode"} <= labels
        device = simulation.devices["joint"]
        slider = next(
            h for h in view._server.gui._gui_input_handle_from_uuid.values() if h.label == "equilibrium position [rad]"
        )
        slider.value = slider.max
        eventually(lambda: device.inbox.peek() is not None)
        assert device.inbox.peek().values["equilibrium_position"] == slider.max
        view._controls.restart()  # sliders are made anew from measured values, of which three digits are shown
        values = [h.value for h in view._server.gui._gui_input_handle_from_uuid.values() if hasattr(h, "step")]
        assert values
        assert all(value == float(f"{value:.3g}") for value in values if isinstance(value, float)), values


def test_a_choice_of_another_robot_ends_the_run_and_the_server_goes_on(engine):
    with PageServer(port=free_port()) as server:
        view = PageView(engine, server=server, title="qbmove-1dof", choice=RobotChoice(["qbmove-1dof", "sea-1dof"]))
        with Simulation(engine, make_devices(load("qbmove-1dof")), [view], pacer="free") as simulation:
            simulation.start()
            gui = server.gui
            choice = next(h for h in gui._gui_input_handle_from_uuid.values() if h.label == "robot")
            choice.value = "sea-1dof"
            eventually(lambda: view.choice.wanted == "sea-1dof")
        with urllib.request.urlopen(server.url, timeout=60) as answer:
            assert answer.status == 200


BARE = """<robot name="bare"><link name="world"/>
<joint name="f" type="fixed"><origin xyz="0 0 1"/><parent link="world"/><child link="base"/></joint>
<link name="base"><inertial><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
</inertial></link>
<joint name="&lt;img src=x onerror=alert(1)&gt;" type="revolute"><origin xyz="0 0 -0.1"/><parent link="base"/>
<child link="low"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="10" velocity="5"/></joint>
<link name="low"><inertial><origin xyz="0 0 -0.1"/><mass value="1"/>
<inertia ixx="0.004" iyy="0.004" izz="0.0004" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def test_a_robot_without_shapes_is_drawn_by_boxes_of_its_inertia_and_its_joint_axes(tmp_path):
    path = tmp_path / "bare.urdf"
    path.write_text(BARE)
    with running(str(path)) as (_, view):
        scene = view._scene
        assert scene.naked
        assert scene.layers.joints
        names = [node.name for node in scene._nodes["seen"]]
        assert len(names) == np.count_nonzero(view._engine.model.body_mass[1:] > 0.0)
        assert all("img" not in name for nodes in scene._nodes.values() for name in [n.name for n in nodes])
        before = view.health()["pictures"]
        eventually(lambda: view.health()["pictures"] > before + 20)  # its shapes were looked at again meanwhile


@pytest.mark.parametrize(
    "name",
    ["awas2-1dof", "bavs-1dof", "sea-1dof", "qbmove-2dof", "qbmove-5dof", "softfoot", "softfoot-bench", "franka"],
)
def test_robots_of_the_catalogue_have_a_scene_with_something_to_see_and_to_move(name):
    robot = load(name)
    engine = MujocoEngine(robot, check=False)
    view = PageView(engine, port=free_port(), title=name)
    with Simulation(engine, make_devices(robot), [view], pacer="free") as simulation:
        simulation.run(2.0 * engine.dt)
        scene = view._scene
        assert scene._nodes["seen"]
        assert 0.01 < scene.size < 20.0
        position, middle = scene.camera()
        assert np.linalg.norm(position - middle) > 0.5 * scene.size
        eventually(lambda: view.health()["pictures"] > 1)
        assert view.health()["last_error"] == ""


@pytest.mark.parametrize("name", ["qbmove-1dof", "qbmove-5dof", "softfoot-bench"])
def test_no_stand_and_no_loose_object_is_between_the_camera_and_the_links_of_the_robot(name):
    engine = MujocoEngine(load(name), check=False)
    view = PageView(engine, port=free_port())
    view.start({})
    try:
        position, _ = view._scene.camera()
    finally:
        view.stop()
    model, data = engine.model, engine.data
    hit = np.zeros(1, dtype=np.int32)
    seen = np.array([1, 1, 1, 0, 0, 0], dtype=np.uint8)
    objects = {model.body(name).id for name in ("box",) if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name) > 0}
    hidden = []
    for body in range(1, model.nbody):
        if body in objects or model.body_weldid[body] == 0:
            continue
        ray = data.xipos[body] - position
        far = np.linalg.norm(ray)
        met = mujoco.mj_ray(model, data, position, ray / far, seen, 1, -1, hit)
        by = int(model.geom_bodyid[hit[0]]) if 0.0 <= met < far else body
        if by in objects or model.body_weldid[by] == 0:
            hidden.append(model.body(body).name)
    assert hidden == []


def test_names_of_a_robot_do_not_become_part_of_the_scene_or_of_html():
    from pliant.page.controls import plain_name

    assert plain_name("a\n\x00b" + 100 * "c").isprintable()
    assert len(plain_name(100 * "c")) == 60


LOADING = "getComputedStyle(document.getElementById('pliant-loading')).display"


@with_browser
def test_in_a_browser_a_slider_moves_the_joint_and_the_picture():
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(PageServer(port=free_port(), title="qbmove-1dof"))
        browser = stack.enter_context(chromium.Page(server.url, 1000, 420, webgl=True))
        browser.until(f"{LOADING} === 'flex' && document.title === 'qbmove-1dof - pliant'")
        assert browser.run("document.getElementById('pliant-loading').textContent") == "Loading qbmove-1dof ..."
        simulation, view = stack.enter_context(running("qbmove-1dof", server=server))
        browser.until(READY)
        browser.until(f"{LOADING} === 'none' && !document.body.innerText.includes('Software WebGL')")
        eventually(lambda: canvas(browser).std() > 5.0)  # there is something, and it is not one colour
        eventually(lambda: abs(simulation.sample("joint").values["velocity"]) < 1e-3)
        first = canvas(browser)
        browser.move_slider("equilibrium position", 0.75)
        eventually(lambda: simulation.sample("joint").values["position"] > 0.5)
        eventually(lambda: np.abs(canvas(browser) - first).mean() > 1.0)
        assert browser.errors == []
        assert not view._scene.layers.shadows  # this browser draws in software
        assert view.health()["last_error"] == ""


@with_browser
def test_a_page_that_is_closed_in_the_middle_of_a_drag_does_not_stop_the_simulation():
    with running("qbmove-1dof") as (simulation, view):
        with chromium.Page(view.url, 700, 300) as browser:
            browser.until("document.querySelectorAll('[role=slider]').length > 0")
            browser.press(350, 200)
        before = simulation.time
        eventually(lambda: simulation.time >= before + 0.2)
        assert not view._pull.active


def named_messages(data):
    """Return the kinds and names of the messages in a bundle of viser; their values change while the view draws."""
    size = int.from_bytes(data[8:16], "little")
    bundle = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(data[16 : 16 + size]))
    messages = bundle["messages"] if isinstance(bundle, dict) else bundle
    return [(m["type"], m.get("name", m.get("uuid"))) for m in messages]


def test_two_pages_at_once_get_the_same_scene(engine):
    from importlib.metadata import version

    view = PageView(engine, port=free_port())
    view.start({})
    try:
        address = view.url.replace("http", "ws")
        name = f"viser-v{version('viser')}"
        with connect(address, subprotocols=[name]) as one, connect(address, subprotocols=[name]) as two:
            first, second = named_messages(one.recv(10)), named_messages(two.recv(10))
            assert len(first) > 20
            assert first == second
    finally:
        view.stop()


def test_a_page_that_opens_while_the_robot_is_loaded_gets_its_camera():
    from importlib.metadata import version

    from page_storm import CAMERA, read

    with PageServer(port=free_port()) as server:
        address = server.url.replace("http", "ws")
        with connect(address, subprotocols=[f"viser-v{version('viser')}"], max_size=None) as page:
            eventually(lambda: server.viser._websock_server._live_connections)
            server.look((1.0, 2.0, 3.0), (0.0, 0.0, 0.5), 0.01)
            page.send(msgspec.msgpack.encode(CAMERA))
            places = []
            while not places:
                places = [m for m in read(page.recv(10)) if "CameraPosition" in m["type"] and not m["initial"]]
        assert places[0]["position"] == [1.0, 2.0, 3.0]


def test_bodies_tendons_and_rods_of_a_picture_are_sent_together():
    with running("tdcr", begin="opening") as (_, view):
        eventually(lambda: view.health()["pictures"] > 2)
        buffer = view._server.viser._websock_server._broadcast_buffer
        push, sent = buffer.push, {"body": [], "tendons": [], "rods": []}

        def noted(message):
            part = str(getattr(message, "name", "")).strip("/").partition("/")[0]
            if part in sent:
                sent[part].append(buffer.atomic_counter)
            push(message)

        buffer.push = noted
        eventually(lambda: all(sent.values()))
    assert all(count > 0 for counts in sent.values() for count in counts)


def test_what_moves_many_joints_comes_before_single_joints_and_is_open():
    with running("tdcr") as (_, view):
        gui = view._server.gui
        folders = [h for h in gui._container_handle_from_uuid.values() if getattr(h, "label", None)]
        shown = {h.label: h.expand_by_default for h in folders if h.label.startswith("tendon")}
    assert list(shown) == ["tendons", *(f"tendon{k}" for k in range(1, 7))]
    assert [label for label, opened in shown.items() if opened] == ["tendons"]


def test_tendons_are_drawn_as_thick_as_they_are_and_so_that_they_are_seen():
    with running("tdcr") as (_, view):
        eventually(lambda: view.health()["pictures"] > 0)
        scene = view._scene
        assert scene._tendons.thickness == pytest.approx(max(6e-4, THINNEST_TENDON * scene.size))
