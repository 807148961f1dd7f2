"""A shadow on YARP hears the state ports of a served robot, and nothing of it reaches the robot's command ports."""

import pytest
from fuzz import until

import pliant
from pliant.base.errors import BridgeError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.recording.live import Inbox, make_listener
from pliant.simulation import Simulation, sync
from pliant.simulation.bridges import make_bridge
from pliant.yarp.bridge.nameserver import NameServer

pytestmark = pytest.mark.network


@pytest.fixture
def name_server():
    with NameServer(port=0) as server:
        yield server


@pytest.mark.parametrize("dialect", [3, 4])
def test_states_and_references_are_heard_and_no_command_port_gets_a_connection(name_server, dialect):
    where = f"{name_server.address.host}:{name_server.address.port}"
    robot = pliant.load("qbmove-1dof")
    bridge = make_bridge(f"yarp:server={where},own_server=never,dialect={dialect}", robot)
    listener = make_listener("yarp", f"{where}/qbmove_1dof", pliant.load("qbmove-1dof"))
    inbox, found = Inbox(), []
    with Simulation(MujocoEngine(robot), make_devices(robot), [bridge], pacer=sync()) as simulation:
        simulation.start()
        simulation.devices["joint"].inbox.put({"equilibrium_position": 0.4})
        try:
            listener.start(inbox)

            def more():
                simulation.run(0.02)
                found.extend(inbox.take(0.0)[0])
                return len(found) >= 20

            until(more, "states")
            last = found[-1]
            assert last.stamped
            assert last.time == pytest.approx(simulation.time, abs=0.5)
            assert last.values["joint/reference_1"] == pytest.approx(0.4)
            assert set(last.values) >= {"joint/position", "joint/motor_1_position", "joint/reference_2"}
            commanded = [port for port in bridge.network.ports if port.name.endswith((":i", "/rpc"))]
            assert {port.name for port in commanded} >= {"/qbmove_1dof/joint/command:i", "/qbmove_1dof/joint/rpc:i"}
            for port in commanded:
                assert not port.inputs, port.name
                assert port.received == 0, port.name
            assert all(not port.outputs for port in listener.ports.values())
            assert simulation.devices["joint"].inbox._count == 1
        finally:
            listener.stop()


def test_without_a_robot_the_ports_of_others_are_told(name_server):
    where = f"{name_server.address.host}:{name_server.address.port}"
    listener = make_listener("yarp", where, pliant.load("sea-1dof"))
    try:
        listener.start(Inbox())
        listener._network.open_output("/other/head/state:o")
        assert "/other/head/state:o; choose with name=" in listener.silent()
    finally:
        listener.stop()


def test_without_a_name_server_the_listener_says_what_to_start():
    listener = make_listener("yarp", "127.0.0.1:1", pliant.load("sea-1dof"))
    with pytest.raises(BridgeError, match="name server"):
        listener.start(Inbox())
    listener.stop()
