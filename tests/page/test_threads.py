"""viser is asked from pliant's threads while browsers come and go: nothing is raised, and every page is whole."""

import contextlib
import sys
import threading
import time
import traceback
from importlib.metadata import version

import numpy as np
import pytest
from running import free_port
from viser._messages import RemoveNotificationMessage
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.page import PageServer, PageView
from pliant.page.replay import ReplayView
from pliant.recording import Recorder
from pliant.recording.recording import read_recording
from pliant.robots.loading import load
from pliant.simulation import Simulation, paced

pytestmark = pytest.mark.network

CLIENTS = 6


class Crowd:
    """Pages that open, read a little, close and open again, until the block ends."""

    def __init__(self, url: str) -> None:
        self._url, self._over = url.replace("http", "ws", 1), threading.Event()
        self._threads = [threading.Thread(target=self._come_and_go, args=(k,), daemon=True) for k in range(CLIENTS)]
        self._pages: dict[int, ClientConnection] = {}
        self.sizes: list[int] = []
        """Length of the first message of every connection [bytes]."""
        self.refused: list[Exception] = []

    def _come_and_go(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        while not self._over.is_set():
            try:
                with connect(self._url, subprotocols=[f"viser-v{version('viser')}"], max_size=None) as page:
                    self._pages[seed] = page
                    self.sizes.append(len(page.recv(30)))
                    for _ in range(random.integers(0, 12)):
                        page.recv(10)
            except (OSError, WebSocketException, TimeoutError) as error:
                if not self._over.is_set():
                    self.refused.append(error)

    def __enter__(self) -> "Crowd":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for page in list(self._pages.values()):
            page.close()  # it may wait for a message, and none comes any more
        for thread in self._threads:
            thread.join(60.0)
            assert not thread.is_alive()


@contextlib.contextmanager
def nothing_raised(caplog, server):
    """Switch threads as often as possible; afterwards no thread may have raised, nor a task of the page's loop."""
    raised: list[str] = []
    hook, interval = threading.excepthook, sys.getswitchinterval()

    def note(arguments):
        raised.append("".join(traceback.format_exception(arguments.exc_value)))

    threading.excepthook = note
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        threading.excepthook = hook
    assert not raised, raised[0]
    shown = [record.getMessage() for record in caplog.records if record.name == "pliant.view"]
    assert not shown, shown[0]
    assert server.faults == 0


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    file = tmp_path_factory.mktemp("threads") / "run.mcap"
    devices = make_devices(load("qbmove-1dof"))
    with Simulation(
        MujocoEngine(load("qbmove-1dof")), devices, [], pacer="free", recorder=Recorder(file)
    ) as simulation:
        simulation.devices["joint"].inbox.put({"equilibrium_position": 0.5})
        simulation.run(1.0)
    return read_recording(file)


LENGTHS = [2.5, pytest.param(60.0, marks=pytest.mark.nightly)]


@pytest.mark.parametrize("seconds", LENGTHS)
def test_a_recording_is_played_while_six_pages_open_and_close(recording, seconds, caplog, capfd):
    with PageServer(port=free_port()) as server:
        view = ReplayView(recording, load("qbmove-1dof").compile(), server)
        with nothing_raised(caplog, server), Crowd(view._server.url) as crowd:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                view.advance(0.01)
                view.play(True)
                view.draw()
                view.draw_panel()
                time.sleep(0.02)  # the pages have waited for something new since the last picture
    assert not crowd.refused, crowd.refused[0]
    assert len(crowd.sizes) >= CLIENTS
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("seconds", LENGTHS)
def test_a_run_is_shown_while_six_pages_open_and_close(seconds, caplog, capfd):
    robot = load("qbmove-1dof")
    engine = MujocoEngine(robot)
    view = PageView(engine, port=free_port())
    with Simulation(engine, make_devices(robot), [view], pacer=paced(1.0)) as simulation:
        simulation.start()
        with nothing_raised(caplog, view._server), Crowd(view.url) as crowd:
            simulation.run(seconds)
        assert view.health()["last_error"] == ""
        assert not view._broken
    assert not crowd.refused, crowd.refused[0]
    assert len(crowd.sizes) >= CLIENTS
    assert capfd.readouterr() == ("", "")


class Waiter:
    """Stands where a task waits for messages, and notes which thread wakes it."""

    def __init__(self) -> None:
        self.thread, self.woken = 0, threading.Event()

    def done(self) -> bool:
        return self.woken.is_set()

    def set_result(self, _) -> None:
        self.thread = threading.get_ident()
        self.woken.set()


def test_a_message_of_any_thread_is_announced_on_the_loop_of_the_server():
    with PageServer(port=free_port()) as server:
        connection = server.viser._websock_server
        with connect(server.url.replace("http", "ws", 1), subprotocols=[f"viser-v{version('viser')}"]) as page:
            page.recv(30)
            (state,) = connection._client_state_from_id.values()
            for buffer, send in (
                (connection._broadcast_buffer, lambda: server.gui.add_html("text")),
                (state.message_buffer, lambda: state.message_buffer.push(RemoveNotificationMessage(uuid="none"))),
            ):
                waiter = Waiter()
                buffer.message_event._value = False
                buffer.message_event._waiters.append(waiter)
                send()
                assert waiter.woken.wait(10.0)
                assert waiter.thread == connection._server_thread.ident
                buffer.message_event._waiters.remove(waiter)
