"""The page of a recording: time, poses, curves, and the command that opens it."""

import contextlib
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from importlib.metadata import version

import msgspec
import numpy as np
import pytest
from page_storm import CAMERA
from running import eventually
from websockets.sync.client import connect

from pliant.base.errors import RecordingError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.page import PageServer
from pliant.page.replay import ReplayView
from pliant.recording import Recorder
from pliant.recording.recording import read_recording
from pliant.robots.loading import load
from pliant.simulation import Simulation

pytestmark = pytest.mark.network


def free_port() -> int:
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A recording of one joint that goes to 0.5 rad."""
    file = tmp_path_factory.mktemp("replay") / "run.mcap"
    robot = load("qbmove-1dof")
    devices = make_devices(robot)
    recorder = Recorder(file, command_line="pliant run qbmove-1dof")
    with Simulation(MujocoEngine(robot), devices, [], pacer="free", recorder=recorder) as simulation:
        simulation.devices["joint"].inbox.put({"equilibrium_position": 0.5, "stiffness_preset": 0.2})
        simulation.run(1.0)
    return file


@pytest.fixture
def page(path):
    with PageServer(port=free_port()) as server:
        yield ReplayView(read_recording(path), load("qbmove-1dof").compile(), server)


def test_the_robot_stands_where_it_was_recorded_at_the_time_of_the_slider(page, path):
    recording = read_recording(path)
    for seconds in (0.0, 0.3, 1.0):
        page.seek(seconds)
        page.draw()
        expected = np.interp(seconds, recording["joint/time"], recording["joint/position"])
        # A picture shows a pose at most half a step of the poses away.
        slack = 0.5 * page._step * np.abs(recording["joint/velocity"]).max() + 1e-9
        assert abs(float(page._data.qpos[0]) - expected) <= slack


def test_curves_end_at_the_time_that_is_shown(page, path):
    recording = read_recording(path)
    page.seek(0.4)
    page.draw_panel()
    curve = next(s for s in page._plots.signals if s.label == "joint/position")
    stamps = np.array([stamp for stamp, _ in curve.points]) * 1e-9
    assert stamps[0] == pytest.approx(recording["joint/time"][0])
    assert 0.39 < stamps[-1] <= 0.4
    values = [value for _, value in curve.points]
    np.testing.assert_allclose(values, np.interp(stamps, recording["joint/time"], recording["joint/position"]))


def test_time_goes_on_at_the_chosen_speed_waits_at_the_end_and_begins_again(page):
    page._rate.value = "2"
    page._changed(None)
    page.advance(0.25)
    assert page.position == pytest.approx(0.5)
    page.play(False)
    page.advance(0.25)
    assert page.position == pytest.approx(0.5)
    page.play(True)
    page.advance(10.0)
    assert page.position == page.duration
    assert not page.playing
    page.play(True)
    assert page.position == 0.0
    for wrong in (float("nan"), -3.0):
        page.seek(wrong)
        assert page.position == 0.0


def test_a_recording_waits_for_the_first_browser_and_has_a_curve_for_a_phone(page):
    thread = threading.Thread(target=page.run)
    thread.start()
    try:
        eventually(lambda: "pliant-phone" in page._sketch.content)
        assert page.position == 0.0
        with connect(page._server.url.replace("http", "ws"), subprotocols=[f"viser-v{version('viser')}"]) as browser:
            browser.send(msgspec.msgpack.encode(CAMERA))
            eventually(lambda: page.position > 0.0)
    finally:
        page.stop()
        thread.join(60.0)


def test_a_recording_of_another_robot_is_refused(path):
    with PageServer(port=free_port()) as server, pytest.raises(RecordingError, match="another robot"):
        ReplayView(read_recording(path), load("qbmove-5dof").compile(), server)


def test_the_command_serves_the_page_until_it_is_interrupted(path):
    command = [sys.executable, "-m", "pliant", "replay", str(path), "--view", "--view-port", str(free_port())]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stderr.readline()
            assert line.startswith("view: "), line
            with urllib.request.urlopen(line.split()[1], timeout=60) as answer:
                assert b"<title>run.mcap - pliant</title>" in answer.read()
            process.send_signal(signal.SIGINT)
            assert process.wait(60.0) == 0
        finally:
            process.kill()


def test_a_recording_that_begins_later_is_shown_from_its_begin_on(tmp_path):
    file = tmp_path / "late.mcap"
    robot = load("qbmove-1dof")
    with Simulation(MujocoEngine(robot), make_devices(robot), [], pacer="free") as simulation:
        simulation.devices["joint"].inbox.put({"equilibrium_position": 0.5, "stiffness_preset": 0.2})
        simulation.run(0.5)
        simulation.record(file)
        simulation.run(0.2)
    recording = read_recording(file)
    with PageServer(port=free_port()) as server:
        page = ReplayView(recording, robot.compile(), server)
        assert page.duration == pytest.approx(0.2)
        for seconds in (0.0, 0.1, 0.2):
            page.seek(seconds)
            page.draw()
            expected = np.interp(0.5 + seconds, recording["joint/time"], recording["joint/position"])
            slack = 0.5 * page._step * np.abs(recording["joint/velocity"]).max() + 1e-9
            assert abs(float(page._data.qpos[0]) - expected) <= slack
        page.draw_panel()
        curve = next(s for s in page._plots.signals if s.label == "joint/position")
        np.testing.assert_allclose([stamp * 1e-9 for stamp, _ in curve.points], recording["joint/time"])


def test_recorded_payloads_and_forces_are_drawn_at_their_times(tmp_path):
    robot, file = load("qbmove-1dof"), tmp_path / "run.mcap"
    engine = MujocoEngine(robot)
    with Simulation(engine, make_devices(robot), [], pacer="free", recorder=Recorder(file)) as simulation:
        body = engine.model.body(engine.payloads.bodies()[0])
        simulation.run(0.2)
        engine.set_payload(body.name, 0.3, (0.0, 0.0, 0.01))
        engine.data.xfrc_applied[body.id, 0] = 2.5
        simulation.run(0.2)
        engine.data.xfrc_applied[body.id] = 0.0
        simulation.run(0.2)
    recording = read_recording(file)
    assert [event.name for event in recording.events] == ["payloads", "forces", "forces"]
    assert str(recording.events[1]).endswith(f"forces: (2.5, 0, 0) N on {body.name}")
    with PageServer(port=free_port()) as server:
        page = ReplayView(recording, robot.compile(), server)
        for seconds, mass, force in ((0.1, 0.0, 0.0), (0.3, 0.3, 2.5), (0.55, 0.3, 0.0)):
            page.seek(seconds)
            page.draw()
            loads, wrenches, _ = page._acting(seconds)
            assert sum(load for load, _ in loads.values()) == mass
            assert wrenches[body.id, 0] == force
            assert len(page._balls._balls) == (mass > 0.0)
            assert bool(page._scene._forces is not None and page._scene._forces.visible) == (force > 0.0)
