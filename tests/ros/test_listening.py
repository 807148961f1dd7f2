"""A shadow on ROS hears the states and commands of a served robot, and nothing of it reaches the robot."""

import contextlib
import json
import socket
import struct
import subprocess
import sys

import pytest
from ros1_world import until
from ros2_clients import DOMAINS

import pliant
from pliant.base.errors import BridgeError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.recording.live import Inbox, make_listener
from pliant.ros.ros2 import Ros2Node
from pliant.simulation import Simulation, sync
from pliant.simulation.bridges import make_bridge

pytestmark = pytest.mark.network

PORTS = {"position", "motor_1_position", "motor_2_position", "reference_1", "reference_2"}


def take(inbox, simulation, count, what):
    """Run the simulation until so many messages have come; return them."""
    found = []

    def more():
        simulation.run(0.01)
        found.extend(inbox.take(0.0)[0])
        return len(found) >= count

    until(more, what)
    return found


@pytest.fixture
def served(master):
    """Return a function that serves a robot and returns its bridge, its simulation, and a listener beside it."""
    made = []

    def serve(wire, robot=None, options=""):
        robot = robot or pliant.load("qbmove-1dof")
        where = f"master={master.uri},host=127.0.0.1" if wire == "ros1" else f"domain={next(DOMAINS)}"
        bridge = make_bridge(f"{wire}:{where}", robot)
        simulation = Simulation(MujocoEngine(robot), make_devices(robot), [bridge], pacer=sync())
        simulation.start()
        listener = make_listener(wire, f"{where}{options}", pliant.load("qbmove-1dof"))
        made.extend([listener.stop, simulation.close])
        return bridge, simulation, listener

    yield serve
    for close in made:
        close()


@pytest.mark.parametrize("wire", ["ros1", "ros2"])
def test_states_and_references_are_heard_and_nothing_reaches_the_robot(served, wire):
    bridge, simulation, listener = served(wire)
    before = set(bridge.node.publications)
    inbox = Inbox()
    listener.start(inbox)
    simulation.devices["joint"].inbox.put({"equilibrium_position": 0.4})
    found = take(inbox, simulation, 40, f"states on {wire}")
    heard = {port.rpartition("/")[2] for message in found for port in message.values}
    assert heard >= {"position", "reference_1", "reference_2"}
    assert heard <= PORTS
    last = [message for message in found if "joint/reference_1" in message.values][-1]
    assert last.values["joint/reference_1"] == pytest.approx(0.4)
    assert last.time == pytest.approx(simulation.time, abs=0.5)  # of /clock, not of this machine
    incoming = bridge.topics.incoming
    assert incoming
    assert all(item["count"] == 0 for item in incoming.values())
    assert simulation.devices["joint"].inbox._count == 1
    assert set(bridge.node.publications) == before


def test_the_master_knows_no_publication_and_no_service_of_the_listener(served, master):
    _, simulation, listener = served("ros1")
    inbox = Inbox()
    listener.start(inbox)
    take(inbox, simulation, 5, "states")
    name = listener.node.name
    assert any(name in nodes for nodes in master.subscribers.values())
    assert not any(name in nodes for nodes in master.publishers.values())
    assert not [one for one in master.services if name in one]
    assert listener.node.publications == {}


def bytes_received(link):
    """Return how many bytes have come over a connection: tcpi_bytes_received of Linux."""
    return struct.unpack_from("Q", link.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192), 128)[0]


@pytest.mark.skipif(sys.platform != "linux", reason="TCP_INFO of Linux")
def test_a_shadow_in_its_own_process_writes_the_headers_of_its_subscriptions_and_no_byte_more(served, master):
    bridge, simulation, _ = served("ros1")
    where = f"master={master.uri},host=127.0.0.1"
    command = [sys.executable, "-m", "pliant", "shadow", "qbmove-1dof", "--ros1", where, "--duration", "2", "--json"]
    sockets, written = bridge.node.sockets, {}

    def look(link):
        with contextlib.suppress(OSError):  # closed in between
            written.setdefault(link, set()).add(bytes_received(link))

    def end(link, end=sockets.end):
        look(link)  # one that came and went between two looks below is seen here
        end(link)

    sockets.end = end
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as shadow:
        while shadow.poll() is None:
            simulation.run(0.02)
            for link in list(sockets.links):
                look(link)
        said, errors = shadow.communicate()
    assert shadow.returncode == 0, errors
    summary = json.loads(said.splitlines()[-1])["summary"]
    assert summary["messages"] > 100
    assert len(written) >= 3  # states of the link and of both motors, the clock
    for counts in written.values():
        header, *more = sorted(counts - {0})  # a header, and nothing while hundreds of messages came
        assert more in ([], [header + 1])  # the end of a connection counts as one byte
        assert max(counts) < 500
    others = {method for caller, method in master.calls if caller != bridge.node.name}
    assert others <= {
        "registerSubscriber",
        "unregisterSubscriber",
        "getSystemState",
        "lookupNode",
        "getPid",
        "getParam",
    }


def test_the_only_writers_on_ros_2_are_those_of_discovery(served):
    _, simulation, listener = served("ros2")
    inbox = Inbox()
    listener.start(inbox)
    take(inbox, simulation, 5, "states")
    assert {writer.data.topic for writer in listener.node.participant.writers.values()} == {"ros_discovery_info"}


@pytest.mark.parametrize("wire", ["ros1", "ros2"])
@pytest.mark.parametrize("call", ["advertise", "serve", "serve_action", "set_param"])
def test_a_listening_node_refuses_to_send(wire, call):
    node = make_listener(wire, "", pliant.load("sea-1dof")).node
    with pytest.raises(BridgeError, match="only listens"):
        getattr(node, call)("/joint/equilibrium_position", "std_msgs/Float64")


def test_the_joints_of_another_robot_are_named(served):
    _, simulation, listener = served("ros1", pliant.load("qbmove-2dof"), ",namespace=qbmove_2dof")
    inbox = Inbox()
    listener.start(inbox)
    notes = []

    def told():
        simulation.run(0.01)
        notes.extend(inbox.take(0.0)[1])
        return notes

    until(told, "a note")
    assert any("joint_1" in note for note in notes)


def test_without_a_master_the_listener_says_what_to_start():
    listener = make_listener("ros1", "http://127.0.0.1:1", pliant.load("sea-1dof"))
    with pytest.raises(BridgeError, match="master"):
        listener.start(Inbox())
    listener.stop()


def test_best_effort_publishers_of_ros_2_are_heard():
    domain = next(DOMAINS)
    robot = Ros2Node("robot", domain=domain)
    listener = make_listener("ros2", f"domain={domain},clock=wall", pliant.load("sea-1dof"))
    inbox, found = Inbox(), []
    try:
        robot.start()
        state = robot.advertise("/sea_1dof/joint/link_state", robot.state_type, reliable=False)
        listener.start(inbox)

        def more():
            state.send(robot.codec.encode(robot.state_type, {"q": 0.25, "ref_1": 0.5}))
            found.extend(inbox.take(0.0)[0])
            return found

        until(more, "a state")
        assert found[0].values["joint/position"] == pytest.approx(0.25)
        assert not found[0].stamped
    finally:
        listener.stop()
        robot.stop()
