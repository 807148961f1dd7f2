"""A shadow on every wire: it names the spring that differs, and the robot that is heard finds nobody who could send."""

import contextlib
import math
import os
import socket
import threading

import pytest
from fake_master import FakeMaster
from ros2_clients import DOMAINS

import pliant
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.recording.live import Inbox, list_listeners, make_listener
from pliant.shadow import LiveShadow
from pliant.simulation import Simulation, sync
from pliant.simulation.bridges import make_bridge
from pliant.yarp.bridge.nameserver import NameServer

pytestmark = pytest.mark.network

STIFFER = {"joint.mode": 6, "joint.k1": 0.00228, "joint.k2": 0.00228}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def ros1():
    master = FakeMaster()
    try:
        yield (f"ros1:master={master.uri},host=127.0.0.1",) * 2
    finally:
        master.close()


@contextlib.contextmanager
def ros2():
    yield (f"ros2:domain={next(DOMAINS)}",) * 2


@contextlib.contextmanager
def zenoh():
    pytest.importorskip("zenoh", reason="no eclipse-zenoh; type: pip install 'pliant[zenoh]'")
    router, domain = f"tcp/127.0.0.1:{free_port()}", 1 + os.getpid() % 200
    yield f"zenoh:mode=router,listen={router},domain={domain}", f"zenoh:connect={router},domain={domain}"


@contextlib.contextmanager
def yarp():
    with NameServer(port=0) as server:
        where = f"{server.address.host}:{server.address.port}"
        yield f"yarp:server={where},own_server=never", f"yarp:{where}/qbmove_1dof"


WIRES = {"ros1": ros1, "ros2": ros2, "yarp": yarp, "zenoh": zenoh}


def test_every_listener_is_tried_here():
    assert set(WIRES) == set(list_listeners())


@pytest.mark.parametrize("name", WIRES)
def test_the_stiffer_spring_is_named_on_every_wire_and_the_robot_gets_no_command(name):
    real, described = pliant.load("qbmove-1dof"), pliant.load("qbmove-1dof")
    real.update(STIFFER)
    described.update({"joint.mode": 6})
    shadow = LiveShadow(described, watched=["joint spring", "link load"], window=2.0, step=5e-4)
    inbox, windows, pause = Inbox(), [], threading.Event()
    with WIRES[name]() as (served, heard):
        bridge = make_bridge(served, real)
        listener = make_listener(name, heard.partition(":")[2], described)
        with Simulation(MujocoEngine(real), make_devices(real), [bridge], pacer=sync()) as simulation:
            simulation.start()
            joint = simulation.devices["joint"]
            try:
                listener.start(inbox)
                for k in range(2000):
                    t = 0.01 * k
                    joint.inbox.put({"equilibrium_position": 0.3 * math.sin(3.1 * t) + 0.15 * math.sin(10.7 * t)})
                    simulation.run(0.01)
                    messages, _, _ = inbox.take(0.0)
                    shadow.hear(messages)
                    windows += shadow.advance()
                    if windows:
                        break
                    pause.wait(0.003)  # the other threads have their turn
                commands = simulation.health()["bridges"][bridge.name]
                assert joint.inbox._count == k + 1  # those of this test alone
                assert commands["received"] == 0
            finally:
                listener.stop()
    assert windows, shadow.missing() or shadow.notes
    assert windows[0].drifted[:1] == ("joint spring",), windows[0].verdict
    assert windows[0].estimates[0].value == pytest.approx(1.2, abs=0.03)
