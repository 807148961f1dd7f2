"""A box that is sucked, lifted and dropped through the interface, with a client in a few lines."""

import contextlib
import socket

import mujoco
import numpy as np
import pytest
from fci_clients import TIMEOUT, Client, serve

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.robots import kinematics
from pliant.franka.robots.build import Q_START, ArmMount, build_arms, world
from pliant.franka.robots.parameters import CUP, EE_OF_CUP, FR3
from pliant.franka.wire import fci
from pliant.model import Robot
from pliant.simulation import Simulation

pytestmark = pytest.mark.network
MOUNT = ArmMount(arm=FR3, hand="vacuum", position=(0.0, 0.0, 0.5))
SIDE = 0.08
BASE = np.array(MOUNT.position)
CENTRE = BASE + kinematics.forward_kinematics(Q_START, F_T_EE=EE_OF_CUP)[:3, 3]


def robot_over_a_box(*, mass=0.5, aside=0.0, box=True):
    """Return an arm whose cup is 1 mm above a box, or beside its middle."""
    described = build_arms([MOUNT], friction=False)
    spec = world([MOUNT])
    qpos = list(described.spec.keys[0].qpos)
    if box:
        top = CENTRE + np.array([aside, 0.0, -0.001])
        body = spec.worldbody.add_body(name="box", pos=(top - [0, 0, 0.5 * SIDE]).tolist())
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5 * SIDE] * 3, mass=mass)
        height = 0.5 * (top[2] - SIDE)
        place = [*top[:2], height]
        spec.worldbody.add_geom(name="pedestal", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, height], pos=place)
        qpos += [*body.pos, 1.0, 0.0, 0.0, 0.0]
    spec.add_key(name="rest", qpos=qpos)
    return Robot(spec, devices=described.devices)


class VacuumClient:
    """A client of the vacuum gripper."""

    def __init__(self, server, version=1):
        hand = server.arms[0].hand
        self.tcp = socket.create_connection((hand.host, hand.port), timeout=TIMEOUT)
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.udp.settimeout(TIMEOUT)
        self.framer, self.frames, self.count = fci.Framer("gripper"), [], 0
        self.status = self.ask(fci.Connect(version=version, udp_port=self.udp.getsockname()[1]))

    def send(self, request):
        self.count += 1
        self.tcp.sendall(fci.encode_vacuum_request(request, command_id=self.count))
        return self.count

    def answer(self, number):
        while True:
            for frame in self.frames:
                if frame.command_id == number:
                    return fci.decode_vacuum_response(frame)[0]
            data = self.tcp.recv(1000)
            assert data, "the server closed the connection"
            self.frames += self.framer.feed(data)

    def ask(self, request):
        return self.answer(self.send(request))

    def state(self):
        """Return the newest state, as the vendor's client does."""
        self.udp.setblocking(False)
        try:
            while True:
                self.udp.recv(100)
        except BlockingIOError:
            self.udp.settimeout(TIMEOUT)
        return fci.decode_vacuum_state(self.udp.recv(100))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tcp.close()
        self.udp.close()


def lift(client, cycles=1000, speed=-0.2):
    """Raise the cup by a motion of joint 2."""
    number, state = client.begin(0, 1)
    for k in range(cycles):
        motion = np.zeros(38)
        motion[8] = speed * 0.5 * (1.0 - np.cos(2.0 * np.pi * k / cycles))
        client.command(state, motion=motion, motion_generation_finished=k == cycles - 1)
        state = client.state()
    assert client.answer(number).status == "success"


def height_of_the_box(server):
    data = server.simulation.engine.data
    return float(data.body("box").xpos[2])


def test_a_box_is_lifted_and_dropped_through_the_interface():
    with serve(robot=robot_over_a_box()) as server, Client(server) as arm, VacuumClient(server) as cup:
        assert cup.status == "success"
        before = height_of_the_box(server)
        assert not cup.state().part_present
        assert cup.ask(fci.Vacuum(vacuum=100, timeout=1000)) == "success"
        state = cup.state()
        assert state.in_control_range
        assert state.part_present
        assert state.vacuum == pytest.approx(750, abs=5)
        lift(arm)
        assert height_of_the_box(server) > before + 0.03
        assert cup.state().part_present
        assert cup.ask(fci.VacuumDropOff(timeout=1000)) == "success"
        state = cup.state()
        assert state.part_detached
        assert not state.part_present
        for _ in range(500):
            arm.state()
        assert height_of_the_box(server) == pytest.approx(before, abs=0.005)
        assert arm.newest().robot_mode == fci.RobotMode.IDLE


@pytest.mark.parametrize(("part", "held"), [(0.9, True), (1.1, False)])
def test_the_cup_holds_area_times_pressure_and_a_torn_off_part_is_noticed(part, held):
    robot = robot_over_a_box()
    with Simulation(MujocoEngine(robot, guard=False), make_devices(robot)) as simulation:
        simulation.step()
        data, cup = simulation.engine.data, simulation.devices["franka"].vacuum
        simulation.request("franka", "vacuum", vacuum=75, timeout=1000)
        simulation.step(500)
        assert cup.part_present
        simulation.engine.model.geom("pedestal").contype = 0
        simulation.engine.model.geom("pedestal").conaffinity = 0
        weight = 0.5 * 9.81
        for k in range(500):
            pull = part * 100.0 * cup.vacuum * CUP.area - weight
            data.body("box").xfrc_applied[2] = -pull * min(1.0, k / 250)
            simulation.step()
        assert cup.part_present is held
        assert cup.in_control_range is held
        distance = data.site("franka_ee").xpos[2] - (data.body("box").xpos[2] + 0.5 * SIDE)
        assert bool(distance < 0.002) is held


@pytest.mark.parametrize("place", ["nothing", "edge"])
def test_a_vacuum_over_nothing_or_over_an_edge_is_unsuccessful(place):
    robot = robot_over_a_box(box=place == "edge", aside=0.5 * SIDE)
    with serve(robot=robot) as server, VacuumClient(server) as cup:
        assert cup.ask(fci.Vacuum(vacuum=60, timeout=300)) == "unsuccessful"
        state = cup.state()
        assert not state.in_control_range
        assert not state.part_present


def test_stop_gets_through_a_running_vacuum_and_a_wrong_version_is_told():
    with serve(robot=robot_over_a_box(box=False)) as server:
        with VacuumClient(server) as cup:
            running = cup.send(fci.Vacuum(vacuum=60, timeout=60_000))
            assert cup.ask(fci.VacuumStop()) == "success"
            assert cup.answer(running) == "aborted"
        with VacuumClient(server, version=9) as cup:
            assert cup.status == "incompatible_version"


def test_noise_on_the_vacuum_port_ends_that_connection_only():
    with serve(robot=robot_over_a_box(box=False)) as server:
        hand = server.arms[0].hand
        with socket.create_connection((hand.host, hand.port), timeout=TIMEOUT) as tcp:
            tcp.sendall(b"\x07" * 40)
            with contextlib.suppress(ConnectionResetError):
                assert tcp.recv(100) == b""
        with VacuumClient(server) as cup:
            assert cup.status == "success"
        assert server.health()["arms"][0]["malformed"] == 1


def test_the_vacuum_gripper_is_asked_like_the_hand():
    with serve(robot=robot_over_a_box()) as server:
        answers = []
        asked = server.simulation.request("franka", "vacuum", vacuum=60, timeout=1000, answered=answers.append)
        assert asked.result(TIMEOUT) == ""
        with Client(server) as arm:
            while not answers:
                arm.state()
            values = server.simulation.sample("franka").values
        assert [a.status for a in answers] == ["success"]
        assert values["vacuum_part_present"] == 1.0
        assert values["vacuum"] == pytest.approx(6e4, abs=1e3)
