"""The pose of a robot at a transform server."""

import math
import socket
import struct
import threading
import time

import mujoco
import numpy as np
import pytest
from fuzz import until
from yarp_simulation import served
from yarp_world import answers_of

from pliant.devices.base import Sample
from pliant.model import Interface, Robot
from pliant.yarp.bridge.calls import NameClient
from pliant.yarp.bridge.model_pose import REQUESTS, SERVER, pose_record, pose_request
from pliant.yarp.bridge.network import Network
from pliant.yarp.model.services import ModelPose, YarpInterface
from pliant.yarp.wire import bottle, decode_bottle, encode_bottle
from pliant.yarp.wire.values import FAIL, OK, Int8

PERIOD = 0.01
FALLING = """
<mujoco model="r"><option timestep="0.001"/><worldbody><body name="base" pos="1 2 300" quat="0.6 0 0 0.8">
<freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>
"""


def robot_with_pose():
    robot = Robot(mujoco.MjSpec.from_string(FALLING))
    pose = ModelPose(name="model_pose", period=PERIOD, link="base", model="r")
    robot.interface = Interface(extensions={"yarp": YarpInterface(robot="sim", devices=(pose,))})
    return robot


TAKEN = bottle(OK)


class TransformServer:
    """Takes calls as YARP's transform servers do."""

    def __init__(self, world, answer=TAKEN, dialect=None, port=SERVER):
        self.calls = []
        self.payloads = []
        self.senders = set()
        self.answer = answer
        self.called = threading.Event()
        self.network = Network(NameClient(world.bridge.server.address), watch=False)
        self.network.start()
        administer = None if dialect is None else answers_of(dialect)
        self.port = self.network.open(port, output=False, is_rpc=True, on_data=self.take, administer=administer)

    def take(self, arrival):
        self.calls.append(arrival.bottle())
        self.payloads.append(arrival.payload)
        self.senders.add(arrival.sender)
        self.called.set()
        return self.answer

    def wait(self, count):
        until(lambda: len(self.calls) >= count, f"{count} calls", 20.0)

    def close(self):
        self.network.close()


def test_the_call_is_the_one_that_clients_of_yarp_make():
    """Vocabularies itrf and tfst, both frames, lifetime, position, quaternion with w first: 12 items."""
    sample = Sample("p", 0, 0, {"position": np.array([1.0, 2.0, 3.0]), "orientation": np.array([0.5, 0.1, 0.2, 0.3])})
    request = pose_request("/r/frame", sample)
    assert len(request) == 12
    assert [str(item) for item in request.items[2:4]] == ["/inertial", "/r/frame"]
    assert request.items[4:] == (1000.0, 1.0, 2.0, 3.0, 0.5, 0.1, 0.2, 0.3)
    assert b"itrf" in encode_bottle(request, 3)
    assert b"tfst" in encode_bottle(request, 3)


def test_the_record_is_the_one_that_clients_of_frame_transform_servers_write(monkeypatch):
    """Both frames, time, a byte for "static", position, quaternion with w last: 11 items."""
    monkeypatch.setattr("time.time", lambda: 1700000000.5)
    sample = Sample("p", 0, 0, {"position": np.array([1.0, 2.0, 3.0]), "orientation": np.array([0.5, 0.1, 0.2, 0.3])})
    name, record = pose_record("/r/frame", sample).items
    assert name == "setTransformRPC"
    assert record.items == ("/inertial", "/r/frame", 1700000000.5, Int8(0), 1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 0.5)


@pytest.mark.network
@pytest.mark.parametrize("answer", [bottle(OK), struct.pack("<2i", 1, 0)], ids=["list", "number of YARP 3.12"])
@pytest.mark.parametrize("port", [port for port in REQUESTS if port != SERVER])
def test_a_frame_transform_server_gets_records_with_times_of_the_system(port, answer):
    begin = time.time()
    with served(robot_with_pose()) as world:
        told = []
        world.bridge.on_complaint = told.append
        server = TransformServer(world, answer, port=port)
        try:
            server.wait(6)
        finally:
            server.close()
    records = [call[1].items for call in server.calls if call[0] == "setTransformRPC"]
    assert len(records) == len(server.calls)
    stamps = [record[2] for record in records]
    assert stamps == sorted(set(stamps))
    assert begin < stamps[0] < stamps[-1] < time.time()
    assert all(record[3] == Int8(0) for record in records)
    heights = [record[6] for record in records]
    assert heights == sorted(set(heights), reverse=True)
    assert records[-1][7:] == pytest.approx((0.0, 0.0, 0.8, 0.6), abs=1e-12)
    assert not [text for text in told if "answers" in text]


@pytest.mark.network
def test_a_transform_server_that_is_registered_and_gone_gives_way_to_the_next():
    later = next(port for port in REQUESTS if port != SERVER)
    with served(robot_with_pose()) as world:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            closed = probe.getsockname()[1]
        NameClient(world.bridge.server.address).register(SERVER, "tcp", "127.0.0.1", closed)
        server = TransformServer(world, port=later)
        try:
            server.wait(2)
        finally:
            server.close()


@pytest.mark.network
def test_the_server_gets_the_pose_of_a_falling_robot_at_its_period():
    with served(robot_with_pose()) as world:
        server = TransformServer(world)
        try:
            server.wait(6)
        finally:
            server.close()
    assert server.senders == {"/r/transformClient/rpc:o"}
    for call in server.calls[1:]:
        assert call.items[5:7] == (1.0, 2.0)
        assert call.items[8:] == pytest.approx((0.6, 0.0, 0.0, 0.8), abs=1e-12)
    # Semi-implicit Euler from rest: after n steps of h it has fallen g h^2 n (n + 1) / 2.
    heights = [call[7] for call in server.calls]
    for height in heights:
        triangular = 2.0 * (300.0 - height) / (9.81 * 0.001**2)
        n = round(0.5 * (math.sqrt(1.0 + 4.0 * triangular) - 1.0))
        assert triangular == pytest.approx(n * (n + 1), abs=1e-3)
        assert n % 10 in (0, 9)  # a sample shows the start of the step that has just ended
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == len(heights)


@pytest.mark.network
@pytest.mark.parametrize(("option", "version", "spoken"), [(3, 4, 4), (4, 3, 3), (4, None, 4)])
def test_the_pose_is_written_as_the_server_reads_it_and_else_by_the_option(option, version, spoken):
    with served(robot_with_pose(), f",dialect={option}") as world:
        server = TransformServer(world, dialect=version)
        try:
            server.wait(1)
        finally:
            server.close()
    decode_bottle(server.payloads[0], spoken)


@pytest.mark.network
def test_a_server_that_is_not_there_or_refuses_is_told_once_and_the_run_goes_on(monkeypatch):
    monkeypatch.setattr("pliant.yarp.bridge.model_pose.RETRY_S", 0.1)
    told = []
    with served(robot_with_pose()) as world:
        world.bridge.on_complaint = told.append
        until(lambda: world.simulation.time_ns > 200_000_000, "0.2 s")
        server = TransformServer(world, bottle(FAIL))
        try:
            server.wait(1)
            until(lambda: any("answers [fail] to the pose" in text for text in told), "the refusal")
        finally:
            server.close()
        assert world.bridge.health()["last_complaint"].count(SERVER) == 1
        assert "pliant-yarp-model_pose" not in world.bridge.threads.dead
    assert len(told) == len(set(told))
