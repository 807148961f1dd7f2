"""The view in a browser."""

import contextlib
import socket
import urllib.request

import pytest

from pliant.engine import MujocoEngine
from pliant.errors import BridgeError
from pliant.loading import load
from pliant.simulation import Simulation

pytest.importorskip("mujoco.studio.launch_web")
pytestmark = pytest.mark.network


def free_port() -> int:
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture
def engine():
    return MujocoEngine(load("qbmove-1dof"), check=False)


def test_the_page_is_served_to_this_machine_while_the_simulation_runs(engine, capfd):
    from pliant.viewer import StudioView

    view = StudioView(engine, port=free_port())
    with Simulation(engine, [], [view], pacer="free") as simulation:
        simulation.run(0.05)
        with urllib.request.urlopen(view.url, timeout=10) as answer:
            assert answer.status == 200
            assert b"<html" in answer.read(4096).lower()
        simulation.run(0.05)
        assert view.health()["last_error"] == ""
    assert view.health()["pictures"] >= 1
    with pytest.raises(OSError):
        urllib.request.urlopen(view.url, timeout=2)


def test_a_port_in_use_is_named(engine):
    from pliant.viewer import StudioView

    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        view = StudioView(engine, port=taken.getsockname()[1])
        with pytest.raises(BridgeError, match="another port"):
            view.start({})
        view.stop()
