"""What every bridge must do. A bridge that is registered is under this contract without a line here."""

import contextlib
import math
import re
import socket
import threading
from pathlib import Path

import pytest
from fake_master import FakeMaster
from threads_killed import kill

from pliant.bridges import bridge_options, list_bridges, make_bridge, register_bridge
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.errors import BridgeError, DeadThreadError, MissingDependency, PliantError
from pliant.loading import load
from pliant.options import describe
from pliant.simulation import Bridge, BridgeBase, LockstepBridge, Simulation, sync

pytestmark = pytest.mark.network

ROBOTS = {"fci": "franka"}
"""Bridges that serve another robot than a compliant joint."""


class Nowhere(BridgeBase):
    """A bridge as short as it can be."""


@register_bridge("contract_of_a_test", "For this file: a bridge of a user's")
def make(robot, port: int = 0):
    return Nowhere()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def options():
    """Return the options with which a bridge finds a world of its own on this machine."""
    masters = []

    def found(name):
        if name == "ros1":
            masters.append(FakeMaster())
            return f":master={masters[-1].uri},host=127.0.0.1"
        return {
            "ros2": ":domain=173",
            "zenoh": f":mode=router,listen=tcp/127.0.0.1:{free_port()}",
            "fci": ":port=0,gripper_port=0",
        }.get(name, "")

    yield found
    for master in masters:
        master.close()


def made(name, options, robot=None):
    try:
        return make_bridge(name + options(name), robot)
    except MissingDependency as error:
        pytest.skip(str(error))


@pytest.fixture(params=sorted(list_bridges()))
def name(request):
    return request.param


def open_sockets():
    return {target for fd in Path("/proc/self/fd").iterdir() if (target := _target(fd)).startswith("socket:")}


def _target(fd):
    try:
        return str(fd.readlink())
    except OSError:
        return ""


def listening():
    """Return the addresses on which this process takes TCP connections, as /proc writes them."""
    own = {target[8:-1] for target in open_sockets()}
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and row[9] in own}


def plain(value):
    if isinstance(value, dict):
        return all(isinstance(k, str) and plain(v) for k, v in value.items())
    if isinstance(value, list | tuple):
        return all(map(plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def test_it_has_the_members_of_a_bridge(name, options):
    bridge = made(name, options, load("qbmove-1dof"))
    assert isinstance(bridge, Bridge)
    assert bridge.name
    assert not bridge.lockstep or isinstance(bridge, LockstepBridge)
    valid = {info.name for info in describe(bridge_options(name))}
    assert not bridge.own_timeout or bridge.own_timeout in valid
    bridge.stop()
    bridge.stop()


def test_an_option_that_does_not_exist_is_refused(name):
    with pytest.raises(PliantError, match="no option"):
        make_bridge(f"{name}:no_such_option=1", None)


def test_it_starts_without_devices_or_says_why_not_and_leaves_nothing_open(name, options):
    bridge = made(name, options)
    threads, sockets = set(threading.enumerate()), len(open_sockets())
    try:
        with contextlib.suppress(BridgeError):  # such as the FCI's, which serves arms only
            bridge.start({})
    except MissingDependency as error:
        pytest.skip(str(error))
    bridge.stop()
    bridge.stop()
    assert not {t for t in set(threading.enumerate()) - threads if t.is_alive() and "pliant" in t.name}
    assert len(open_sockets()) <= sockets


def test_a_run_is_served_on_this_machine_only_and_leaves_nothing_open(name, options):
    robot = load(ROBOTS.get(name, "qbmove-1dof"))
    bridge = made(name, options, robot)
    threads, sockets, before = set(threading.enumerate()), len(open_sockets()), listening()
    simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=sync())
    try:
        try:
            simulation.start()
        except MissingDependency as error:
            pytest.skip(str(error))
        simulation.step(20)
        assert listening() - before <= {"0100007F"}
        health = simulation.health()["bridges"]
        assert plain(health), health
        for row in bridge.report():
            assert {"topic", "type", "direction", "count", "rate", "peers"} <= set(row)
            assert row["direction"] in ("in", "out")
            assert math.isfinite(row["rate"])
        assert all(isinstance(k, str) and isinstance(v, str) for k, v in bridge.addresses.items())
    finally:
        simulation.close()
    bridge.stop()
    assert not {t for t in set(threading.enumerate()) - threads if t.is_alive() and "pliant" in t.name}
    assert len(open_sockets()) <= sockets


def running(name, options, **policy):
    """Return the simulation of a robot with a bridge, started, and the threads that came with the bridge."""
    robot = load(ROBOTS.get(name, "qbmove-1dof"))
    bridge = made(name, options, robot)
    before = set(threading.enumerate())
    simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=sync(), **policy)
    try:
        simulation.start()
    except MissingDependency as error:
        pytest.skip(str(error))
    # A thread of another language that has called Python once is a dummy to it.
    dummy = threading._DummyThread
    return simulation, bridge, {t for t in set(threading.enumerate()) - before if not isinstance(t, dummy)}


def kinds(bridge):
    """Return one thread of each kind; those of a pool differ by their number."""
    return {re.sub(r"-\d+$", "", thread.name): thread for thread in bridge.threads.alive}


def test_every_thread_has_a_name_and_its_death_is_noticed(name, options):
    simulation, bridge, started = running(name, options)
    try:
        assert started <= set(bridge.threads.alive)
        assert not [thread.name for thread in started if thread.name.startswith("Thread-")]
    finally:
        simulation.close()
    assert bridge.threads.alive == ()
    assert bridge.threads.dead == {}


def test_the_death_of_any_thread_ends_the_run_with_its_name(name, options):
    simulation, bridge, _ = running(name, options)
    names = list(kinds(bridge))
    simulation.close()
    for kind in names:
        simulation, bridge, _ = running(name, options)
        try:
            thread = kinds(bridge)[kind]
            kill(thread)
            with pytest.raises(DeadThreadError, match=f"the thread {thread.name} died") as caught:
                simulation.run(1.0)
            assert caught.value.thread == thread.name
            assert set(simulation.health()["dead_threads"]) == {f"{bridge.name}: {thread.name}"}
        finally:
            simulation.close()


def test_by_another_policy_the_run_goes_on_without_the_thread(name, options):
    simulation, bridge, _ = running(name, options, on_dead_thread="hold")
    try:
        for thread in list(kinds(bridge).values())[:1]:
            kill(thread)
            simulation.run(0.01)
            assert set(simulation.health()["dead_threads"]) == {f"{bridge.name}: {thread.name}"}
    finally:
        simulation.close()
