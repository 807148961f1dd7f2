"""What every bridge must do. A bridge that is registered is under this contract without a line here."""

import contextlib
import ipaddress
import math
import re
import socket
import threading
from pathlib import Path

import pytest
from fake_master import FakeMaster
from ros2_clients import DOMAINS
from threads_killed import kill

from pliant.base.errors import BridgeError, DeadThreadError, MissingDependency, PliantError
from pliant.base.options import describe
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
from pliant.simulation import Bridge, BridgeBase, LockstepBridge, Simulation, sync
from pliant.simulation.bridges import bridge_options, list_bridges, make_bridge, register_bridge

pytestmark = pytest.mark.network

MIN_SOCKETS = {"ros1": 2, "ros2": 1, "zenoh": 1, "fci": 2, "yarp": 3, "foxglove": 1}
"""Sockets that a bridge listens with at least: what `listening` finds is not nothing."""
KEPT_SOCKETS = {"foxglove": 3}
"""Sockets that a library opens with the first bridge of a process and keeps: the SDK's runtime wakes its threads."""
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
            "ros2": f":domain={next(DOMAINS)}",
            "zenoh": f":mode=router,listen=tcp/127.0.0.1:{free_port()}",
            "fci": ":port=0,gripper_port=0",
            "yarp": ":server=127.0.0.1:0",
            "foxglove": ":port=0",
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
    """Return the sockets with which this process takes connections and datagrams: (protocol, address, port)."""
    own = {target[8:-1] for target in open_sockets()}
    found = set()
    for protocol, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        for line in Path(f"/proc/net/{protocol}").read_text().splitlines()[1:]:
            row = line.split()
            if row[3] == state and row[9] in own:
                address, _, port = row[1].partition(":")
                words = [bytes.fromhex(address[k : k + 8])[::-1] for k in range(0, len(address), 8)]
                found.add((protocol, str(ipaddress.ip_address(b"".join(words))), int(port, 16)))
    return found


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
    assert len(open_sockets()) <= sockets + KEPT_SOCKETS.get(name, 0)


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
        opened = listening() - before
        # Discovery of ROS 2 also listens to its multicast group, and passes over what other machines say there.
        assert all(address.startswith("127.") or address == "239.255.0.1" for _, address, _ in opened), opened
        assert len(opened) >= MIN_SOCKETS.get(name, 0), opened
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
    assert len(open_sockets()) <= sockets + KEPT_SOCKETS.get(name, 0)


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
    # A thread of another language that has called Python once is a dummy to it; the master of the test has its own.
    dummy = threading._DummyThread
    came = {t for t in set(threading.enumerate()) - before if not isinstance(t, dummy)}
    return simulation, bridge, {t for t in came if not t.name.startswith("fake-master")}


@pytest.mark.parametrize(
    "text",
    [
        "fci:host=0.0.0.0,port=0,gripper_port=0",
        "zenoh:mode=router,listen=tcp/0.0.0.0:0",
        "zenoh:mode=router,listen=tcp/[::]:0",
        "zenoh:listen=tcp/127.0.0.1:0+tcp/0.0.0.0:0",
        "ros1:master=http://127.0.0.1:{port},host=0.0.0.0",
        "yarp:server=127.0.0.1:0,host=0.0.0.0",
        "yarp:server=0.0.0.0:0",
        "foxglove:host=0.0.0.0,port=0",
    ],
)
def test_a_bridge_on_every_interface_is_refused(text):
    master = FakeMaster()
    robot = load(ROBOTS.get(text.partition(":")[0], "qbmove-1dof"))
    before = listening()
    try:
        bridge = make_bridge(text.format(port=master.port), robot)
        simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=sync())
        with pytest.raises(BridgeError, match="every interface"):
            simulation.start()
        assert listening() <= before
    except MissingDependency as error:
        pytest.skip(str(error))
    finally:
        master.close()


def test_ros_2_in_the_subnet_listens_on_the_address_of_its_interface_and_on_127_0_0_1_only():
    robot = load("qbmove-1dof")
    bridge = make_bridge(f"ros2:domain={next(DOMAINS)},loopback=false", robot)
    before = listening()
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=sync()) as simulation:
        simulation.start()
        opened = {address for _, address, _ in listening() - before}
    assert opened
    assert not any(ipaddress.ip_address(address).is_unspecified for address in opened), opened


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
