"""Franka arms served over the interface by a simulation in a thread, and a client in a few lines."""

import contextlib
import importlib.util
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from audited import AuditedEngine

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.bridge import FciBridge, FciOptions
from pliant.franka.robots.build import ArmMount, build_arms
from pliant.franka.robots.parameters import FR3
from pliant.franka.wire import fci
from pliant.simulation import Simulation

TIMEOUT = 60.0
"""Longest wait for what must come [s]: a machine that is busy may take seconds."""
ONE = (ArmMount(arm=FR3),)


def own_host(last):
    """Return an address of this machine that no other process takes, for a server whose ports are fixed."""
    return f"127.{210 + (os.getpid() >> 8) % 40}.{os.getpid() & 255}.{last}"


def make(mounts=ONE, *, robot=None, audit=False, **options):
    """Return a bridge and a simulation that has not started."""
    robot = robot or build_arms(mounts, friction=False)
    own_ports = {"port": 0, "gripper_port": 0, "vacuum_port": 0}
    bridge = FciBridge(FciOptions(**{**own_ports, "mode": "lockstep", "system_version": "any", **options}))
    engine = (AuditedEngine if audit else MujocoEngine)(robot, guard=False)
    return bridge, Simulation(engine, make_devices(robot), [bridge])


@contextlib.contextmanager
def serve(mounts=ONE, *, robot=None, prepare=None, audit=False, **options):
    """Serve arms while the block runs; yields bridge, its arms, its health and the simulation."""
    bridge, simulation = make(mounts, robot=robot, audit=audit, **options)
    fault = []

    def loop():
        try:
            simulation.run()
        except BaseException as error:
            fault.append(error)

    try:
        simulation.start()
        if prepare is not None:
            prepare(bridge)
        thread = threading.Thread(target=loop, name="simulation")
        thread.start()
        try:
            yield SimpleNamespace(bridge=bridge, arms=bridge.arms, health=bridge.health, simulation=simulation)
        finally:
            simulation.stop()
            thread.join(TIMEOUT)
    finally:
        simulation.close()
    assert not fault, fault


@contextlib.contextmanager
def served(name):
    """Run `pliant run NAME --bridge fci` on an address of its own while the block runs."""
    if importlib.util.find_spec("pylibfranka") is None:
        pytest.skip("pylibfranka is not installed")
    host = own_host(1)
    command = [
        sys.executable,
        "-m",
        "pliant",
        "run",
        name,
        "--bridge",
        f"fci:host={host},mode=lockstep,system_version=any",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            until = time.monotonic() + 240.0
            while True:
                assert server.poll() is None, server.stdout.read()
                try:
                    socket.create_connection((host, 1337), timeout=1.0).close()
                    break
                except OSError:
                    assert time.monotonic() < until, "the server does not listen"
            yield host
        finally:
            server.terminate()


class Client:
    """A client in a few lines: numbers its requests, keeps answers by number, reads states."""

    def __init__(self, server, version=10, arm=0):
        self.version = version
        self.tcp = socket.create_connection((server.arms[arm].host, server.arms[arm].port), timeout=TIMEOUT)
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind((self.tcp.getsockname()[0], 0))
        self.udp.settimeout(TIMEOUT)
        self.framer = fci.Framer(limit=1 << 22)
        self.frames = []
        self.count = 1
        self.peer = None
        self.tcp.sendall(struct.pack("<IIIHH", 0, 0, 16, version, self.udp.getsockname()[1]))
        self.connected = self.answer(0)
        self.status = self.connected.status

    def send(self, request, version=None):
        number = self.count
        self.count += 1
        data = fci.encode_request(request, version=version or self.version, command_id=number)
        self.tcp.sendall(data)
        return number

    def answer(self, number):
        while True:
            for frame in self.frames:
                if frame.command_id == number:
                    self.frames.remove(frame)
                    known = self.version in fci.VERSIONS
                    return fci.decode_response(frame, version=self.version if known else 10)
            data = self.tcp.recv(65536)
            if not data:
                raise ConnectionResetError
            self.frames += self.framer.feed(data)

    def ask(self, request, version=None):
        return self.answer(self.send(request, version))

    def state(self):
        data, self.peer = self.udp.recvfrom(4096)
        return fci.decode_state(data, version=self.version)

    def newest(self):
        state = self.state()
        self.udp.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                state = fci.decode_state(self.udp.recv(4096), version=self.version)
        self.udp.settimeout(TIMEOUT)
        return state

    def command(self, state, **options):
        self.udp.sendto(
            fci.encode_command(fci.RobotCommand(message_id=state.message_id, **options), version=self.version),
            self.peer,
        )

    def start(self, controller, generator):
        number = self.send(fci.Move(controller=controller, motion_generator=generator))
        assert self.answer(number).status == "started"
        while self.state().robot_mode != fci.RobotMode.MOVE:  # each state: a motion without commands soon ends
            pass
        return number

    def close(self):
        self.tcp.close()
        self.udp.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def begin(self, controller, generator):
        """Start a motion; return its number and the state that the first command answers."""
        number = self.send(fci.Move(controller=controller, motion_generator=generator))
        assert self.answer(number).status == "started"
        state = self.state()
        while state.robot_mode != fci.RobotMode.MOVE:
            state = self.state()
        return number, self.state()

    def swing(self, cycles, seen=None, size=0.3):
        """Run a torque motion of a given length and size [N m]; return its last state of motion."""
        number, state = self.begin(2, 4)
        first = state.message_id
        for k in range(cycles):
            assert state.message_id == first + k, "a state was lost"
            if seen is not None:
                seen.append(state.reals.tobytes())
            torque = np.array([1, 1, 1, 1, 0.2, 0.2, 0.05]) * size * np.sin(0.01 * k)
            self.command(state, tau_J_d=torque)
            state = self.state()
        last = state
        while state.robot_mode == fci.RobotMode.MOVE:
            self.command(state, torque_command_finished=True)
            state = self.state()
        assert self.answer(number).status == "success"
        return last


def torque_loop(client, cycles, collect=None):
    number = client.start(2, 4 if client.version >= 7 else 1)
    state = client.newest()
    for k in range(cycles):
        last = k == cycles - 1
        client.command(
            state,
            tau_J_d=np.array([1, 1, 1, 1, 0.1, 0.1, 0.01]) * 0.2 * np.sin(0.01 * k),
            torque_command_finished=last,
            motion_generation_finished=last and client.version < 7,
        )
        if collect is not None:
            collect.append((state.message_id, state))
        if not last:
            state = client.state()
    while state.robot_mode == fci.RobotMode.MOVE:
        state = client.newest()
        if state.robot_mode == fci.RobotMode.MOVE:
            client.command(state, torque_command_finished=True, motion_generation_finished=True)
    assert client.answer(number).status == "success"
    return state
