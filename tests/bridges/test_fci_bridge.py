"""The FCI bridge in the simulation loop: what `pliant run franka --bridge fci` is, spoken to byte by byte."""

import contextlib
import os
import socket
import struct
import threading

import numpy as np
import pytest

from pliant.bridges.fci_bridge import FciBridge
from pliant.bridges.registry import make_bridge
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.errors import BridgeError
from pliant.robots import build_robot
from pliant.robots.franka.build import Q_START
from pliant.simulation import Simulation
from pliant.wire import fci

pytestmark = pytest.mark.network
TIMEOUT = 5.0
PORT = 1337
NET = f"127.{50 + os.getpid() % 150}"


@contextlib.contextmanager
def running(name="franka", *, host, options=None, **bridge_options):
    """Serve a robot of the catalogue while the block runs; yields the bridge and the simulation."""
    robot = build_robot(name, {"friction": False, **(options or {})})
    bridge = FciBridge(host=host, **bridge_options)
    devices = make_devices(robot)
    simulation = Simulation(MujocoEngine(robot, guard=False), devices, [bridge], pacer="sync")
    fault = []

    def loop():
        try:
            simulation.run()
        except BaseException as error:
            fault.append(error)

    try:
        simulation.start()
        thread = threading.Thread(target=loop)
        thread.start()
        try:
            yield bridge, simulation
        finally:
            simulation.stop()
            thread.join(TIMEOUT)
    finally:
        simulation.close()
    assert not fault, fault


class Client:
    """The least that a client of the interface is: requests by number, states, commands."""

    def __init__(self, host, version=10):
        self.version = version
        self.tcp = socket.create_connection((host, PORT), timeout=TIMEOUT)
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind((self.tcp.getsockname()[0], 0))
        self.udp.settimeout(TIMEOUT)
        self.framer, self.frames, self.count = fci.Framer(limit=1 << 22), [], 1
        self.tcp.sendall(struct.pack("<IIIHH", 0, 0, 16, version, self.udp.getsockname()[1]))
        assert self.answer(0).status == "success"

    def answer(self, number):
        while True:
            for frame in self.frames:
                if frame.command_id == number:
                    self.frames.remove(frame)
                    return fci.decode_response(frame, version=self.version)
            data = self.tcp.recv(65536)
            if not data:
                raise ConnectionResetError
            self.frames += self.framer.feed(data)

    def send(self, request):
        number, self.count = self.count, self.count + 1
        self.tcp.sendall(fci.encode_request(request, version=self.version, command_id=number))
        return number

    def state(self):
        data, self.peer = self.udp.recvfrom(4096)
        return fci.decode_state(data, version=self.version)

    def command(self, state, **fields):
        command = fci.RobotCommand(message_id=state.message_id, **fields)
        self.udp.sendto(fci.encode_command(command, version=self.version), self.peer)

    def begin(self, controller, generator):
        """Start a motion; return its number and the state that the first command answers."""
        number = self.send(fci.Move(controller=controller, motion_generator=generator))
        assert self.answer(number).status == "started"
        state = self.state()
        while state.robot_mode != fci.RobotMode.MOVE:
            state = self.state()
        return number, self.state()

    def swing(self, cycles, seen=None):
        """Run a torque motion of a given length; return its last state of motion."""
        number, state = self.begin(2, 4)
        first = state.message_id
        for k in range(cycles):
            assert state.message_id == first + k, "a state was lost"
            if seen is not None:
                seen.append(state.reals.tobytes())
            torque = np.array([1, 1, 1, 1, 0.2, 0.2, 0.05]) * 0.3 * np.sin(0.01 * k)
            self.command(state, tau_J_d=torque)
            state = self.state()
        last = state
        while state.robot_mode == fci.RobotMode.MOVE:
            self.command(state, torque_command_finished=True)
            state = self.state()
        assert self.answer(number).status == "success"
        return last

    def close(self):
        self.tcp.close()
        self.udp.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def test_a_client_connects_reads_states_and_runs_a_torque_motion():
    with running(host=f"{NET}.1.1") as (bridge, simulation), Client(f"{NET}.1.1") as client:
        assert bridge.addresses == {"franka": f"{NET}.1.1:1337"}
        state = client.state()
        assert state.robot_mode == fci.RobotMode.IDLE
        np.testing.assert_allclose(state.q, Q_START, atol=1e-6)
        assert state.m_ee[0] == pytest.approx(0.73)
        assert client.state().message_id == state.message_id + 1
        last = client.swing(300)
        assert np.abs(last.q - Q_START).max() > 1e-3
        # the device's own sample is what went over the wire
        sample = simulation.submit(lambda: simulation.sample("franka")).result(TIMEOUT)
        assert set(sample.values) >= {"q", "dq", "tau_J", "O_T_EE", "robot_mode"}
        health = bridge.health()["arms"][0]
        assert (health["lost"], health["timeouts"], health["malformed"]) == (0, 0, 0)


def test_two_runs_publish_the_same_bytes_whatever_the_pauses_before():
    def run(host, pause):
        seen = []
        with running(host=host) as _, Client(host) as client:
            for _ in range(pause):
                client.state()
            client.swing(300, seen)
        return seen

    first, second = run(f"{NET}.2.1", 5), run(f"{NET}.2.2", 70)
    assert len(first) == 300
    assert first == second


def test_each_arm_of_a_robot_has_its_own_address_and_client():
    host = f"{NET}.3.1"
    with running("franka-dual", host=host) as (bridge, _):
        assert bridge.addresses == {"left": f"{NET}.3.1:1337", "right": f"{NET}.3.2:1337"}
        with Client(f"{NET}.3.1") as left, Client(f"{NET}.3.2", version=7) as right:
            # gravity differs in the two bases
            np.testing.assert_allclose(left.state().O_ddP_O[1], -right.state().O_ddP_O[1], atol=1e-5)
            assert abs(left.state().O_ddP_O[1]) > 5.0
            moved = left.swing(100)
            assert np.abs(moved.q - Q_START).max() > 1e-4
            still = right.state()
            while still.message_id < moved.message_id:
                still = right.state()
            np.testing.assert_allclose(still.q, Q_START, atol=1e-3)
            right.swing(20)
        assert all(arm["lost"] == 0 for arm in bridge.health()["arms"])


def test_a_client_that_leaves_in_a_motion_is_followed_by_the_next():
    host = f"{NET}.4.1"
    with running(host=host, command_timeout=0.05) as (bridge, _):
        client = Client(host)
        _, state = client.begin(2, 4)
        client.command(state)
        client.state()
        client.close()
        with Client(host) as second:
            state = second.state()
            while state.robot_mode != fci.RobotMode.IDLE:
                state = second.state()
            second.swing(20)
        assert bridge.health()["arms"][0]["connections"] == 2


def test_a_robot_without_arms_is_refused():
    robot = build_robot("qbmove-1dof")
    bridge = FciBridge(host=f"{NET}.5.1")
    with (
        Simulation(MujocoEngine(robot, guard=False), make_devices(robot), [bridge]) as simulation,
        pytest.raises(BridgeError, match="Franka arm"),
    ):
        simulation.start()


@pytest.mark.parametrize("port", [1337, 1338], ids=["robot", "gripper"])
def test_a_busy_port_is_named_and_nothing_stays_open(port):
    host = f"{NET}.6.{port - 1336}"
    robot = build_robot("franka")
    with socket.socket() as other:
        other.bind((host, port))
        other.listen()
        with (
            Simulation(MujocoEngine(robot, guard=False), make_devices(robot), [FciBridge(host=host)]) as simulation,
            pytest.raises(BridgeError, match=f"port {port} of {host} is in use"),
        ):
            simulation.start()
    for free in (1337, 1338):
        with socket.socket() as again:
            again.bind((host, free))


def test_bad_options_are_named():
    with pytest.raises(BridgeError, match="lockstep"):
        make_bridge("fci:mode=lockstp", None)
    with pytest.raises(BridgeError, match="host"):
        make_bridge("fci:hots=127.0.0.1", None)
    robot = build_robot("franka-dual")
    with (
        Simulation(
            MujocoEngine(robot, guard=False), make_devices(robot), [FciBridge(host="localhost", port=0)]
        ) as simulation,
        pytest.raises(BridgeError, match="successor"),
    ):
        simulation.start()
