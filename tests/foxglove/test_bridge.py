"""The bridge to Foxglove, with a client that speaks its protocol over a real WebSocket."""

import itertools
import json
import random
import socket
import struct
import threading

import mujoco
import numpy as np
import pytest
from foxglove_client import FoxgloveClient
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

pytest.importorskip("foxglove", reason="no foxglove-sdk; type: pip install 'pliant[foxglove]'")

from pliant.base.errors import BridgeError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
from pliant.simulation import Simulation, sync
from pliant.simulation.bridges import make_bridge

pytestmark = pytest.mark.network


class World:
    """A robot that is served; the test's own thread is the loop, unless `run` is asked for."""

    def __init__(self, robot="qbmove-1dof", options="", objects=()):
        self.robot = load(robot)
        self.bridge = make_bridge(f"foxglove:port=0{options}", self.robot)
        devices = [*make_devices(self.robot), *objects]
        self.simulation = Simulation(MujocoEngine(self.robot, check=False), devices, [self.bridge], pacer=sync())
        self.simulation.start()
        self.address = self.bridge.addresses["Foxglove"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.simulation.close()

    def step_until(self, client, condition, steps=20):
        """Step, and take what comes, until a condition holds."""
        for _ in range(500):
            self.simulation.step(steps)
            while True:
                try:
                    client.take(client.socket.recv(timeout=0.02))
                except TimeoutError:
                    break
            if found := condition():
                return found
        raise AssertionError("it never came")


@pytest.fixture
def world():
    with World() as made:
        yield made


@pytest.fixture
def client(world):
    with FoxgloveClient(world.address) as made:
        yield made


def varints(data):
    """Return the fields of a protobuf message: number -> list of values."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        number, kind = key >> 3, key & 7
        size = varint() if kind in (0, 2) else {1: 8, 5: 4}[kind]
        if kind == 0:
            found.setdefault(number, []).append(size)
            continue
        found.setdefault(number, []).append(data[at : at + size])
        at += size
    return found


def test_every_device_is_a_topic_with_the_fields_and_values_of_its_samples(world, client):
    client.subscribe("/joint")
    world.simulation.devices["joint"].inbox.put({"equilibrium_position": 0.4})
    world.step_until(client, lambda: client.of("/joint"))
    channel = client.channels["/joint"]
    assert (channel["encoding"], channel["schemaEncoding"]) == ("cdr", "ros2msg")
    store = get_typestore(Stores.ROS2_HUMBLE)
    store.register(get_types_from_msg(channel["schema"], channel["schemaName"]))
    name, stamp, data = client.messages[-1]
    assert name == "/joint"
    found = store.deserialize_cdr(data, channel["schemaName"])
    assert found.header.stamp.sec * 10**9 + found.header.stamp.nanosec == stamp
    sample = world.simulation.sample("joint")
    if sample.stamp_ns == stamp:
        assert found.position == sample.values["position"]
    for field in world.simulation.devices["joint"].samples:
        assert hasattr(found, field)


def test_samples_are_sent_at_the_rate_that_was_asked_for():
    with World(options=",rate=20") as world, FoxgloveClient(world.address) as client:
        client.subscribe("/joint")
        world.step_until(client, lambda: len(client.of("/joint")) > 5, steps=50)
        stamps = [stamp for _, stamp, _ in client.messages]
        assert {b - a for a, b in itertools.pairwise(stamps)} == {50_000_000}


def test_the_scene_has_an_entity_for_each_body_that_is_seen_and_comes_to_each_who_subscribes(world, client):
    client.subscribe("/scene")
    client.wait(lambda: client.of("/scene"))
    entities = [varints(entity) for entity in varints(client.of("/scene")[0])[2]]
    names = {entity[3][0].decode() for entity in entities}
    model = world.simulation.engine.model
    assert names == {model.body(b).name or f"body_{b}" for b in set(model.geom_bodyid[model.geom_group < 3].tolist())}
    assert client.channels["/scene"]["schemaName"] == "foxglove.SceneUpdate"
    with FoxgloveClient(world.address) as late:
        late.subscribe("/scene")
        late.wait(lambda: late.of("/scene"))


def test_the_poses_of_all_bodies_and_the_time_come_at_their_rate(world, client):
    client.subscribe("/tf")
    world.step_until(client, lambda: client.of("/tf") and client.times)
    frames = [varints(frame) for frame in varints(client.of("/tf")[-1])[1]]
    model = world.simulation.engine.model
    assert len(frames) == model.nbody - 1
    assert {frame[2][0] for frame in frames} == {b"world"}
    assert client.times[-1] % 20_000_000 == 0


def test_the_poses_of_a_time_are_those_of_the_positions_at_that_time(world, client):
    client.subscribe("/tf")
    world.step_until(client, lambda: client.of("/tf"))
    world.simulation.devices["joint"].inbox.put({"equilibrium_position": 0.8})
    engine, positions, turned = world.simulation.engine, {}, 0
    for _ in range(400):
        world.simulation.step()
        positions[engine.time_ns] = engine.data.qpos.copy()
    client.wait(lambda: client.messages[-1][1] >= max(positions) - 20_000_000)
    data = mujoco.MjData(engine.model)
    for _, stamp, message in client.messages:
        if stamp not in positions:
            continue
        data.qpos[:] = positions[stamp]
        mujoco.mj_kinematics(engine.model, data)
        for frame in map(varints, varints(message)[1]):
            rotation = {number: struct.unpack("<d", value[0])[0] for number, value in varints(frame[5][0]).items()}
            found = [rotation.get(number, 0.0) for number in (4, 1, 2, 3)]
            np.testing.assert_allclose(found, data.body(frame[3][0].decode()).xquat, atol=1e-12)
            turned += abs(found[0]) < 0.9999
    assert turned > 3


def test_a_command_of_a_client_moves_the_robot_and_is_echoed(world, client):
    client.subscribe("/joint/command")
    client.advertise(1, "/joint/command")
    client.publish(1, {"equilibrium_position": 0.5, "stiffness_preset": 0.3})
    world.step_until(client, lambda: client.of("/joint/command"))
    echoed = json.loads(client.of("/joint/command")[-1])
    assert (echoed["equilibrium_position"], echoed["stiffness_preset"]) == (0.5, 0.3)
    world.simulation.step(2000)
    assert world.simulation.sample("joint").values["position"] > 0.2
    assert world.bridge.health()["commands"]["/joint/command"] == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no json", "must be one JSON object"),
        (b"[1, 2]", "must be one JSON object"),
        (b'{"position_of": 1}', "no command field"),
        (b'{"equilibrium_position": "far"}', "must be a finite number"),
        (b'{"equilibrium_position": [1, 2]}', "must be a finite number"),
        (b'{"mode": "warp", "equilibrium_position": 1}', "no command mode"),
        (b"{}", "no values"),
        (b"[" * 60000, "must be one JSON object"),
        (b'{"equilibrium_position": 1' + b" " * 70000 + b"}", "must be at most 65536"),
    ],
)
def test_a_command_that_is_wrong_is_refused_in_words_and_changes_nothing(world, client, data, reason):
    client.advertise(1, "/joint/command")
    client.publish(1, data)
    status = client.wait(lambda: client.text("status"))
    assert reason in status["message"]
    assert world.simulation.devices["joint"].inbox.peek() is None
    assert world.bridge.health()["rejected"] == 1


def test_a_topic_that_takes_no_commands_and_an_encoding_that_is_not_json_are_refused(world, client):
    client.advertise(1, "/elbow/command")
    assert "/joint/command" in client.wait(lambda: client.text("status"))["message"]
    client.texts.clear()
    client.advertise(2, "/joint/command", encoding="protobuf")
    assert client.wait(lambda: client.text("status"))


def test_parameters_are_listed_and_set_while_it_runs_and_wrong_values_are_refused():
    with World("qbmove-2dof") as world, FoxgloveClient(world.address) as client:
        client.send("getParameters", parameterNames=[], id="all")
        names = {p["name"] for p in client.wait(lambda: client.text("parameterValues"))["parameters"]}
        assert {"joint_1.operation_mode", "joint_1.kp_1", "joint_2.kd_2"} <= names
        client.texts.clear()
        ends = threading.Event()
        loop = threading.Thread(target=lambda: [world.simulation.step(5) for _ in iter(ends.is_set, True)], name="loop")
        loop.start()
        try:
            for value in (12.5, -3.0):
                client.texts.clear()
                asked = [{"name": "joint_1.kp_1", "value": value, "type": "float64"}]
                client.send("setParameters", parameters=asked, id=f"set {value}")
                answer = client.wait(lambda: client.text("parameterValues"))
                assert answer["parameters"][0]["value"] == 12.5
            assert "must be 0 to" in client.wait(lambda: client.text("status"))["message"]
        finally:
            ends.set()
            loop.join()


def test_services_pause_step_and_reset_the_simulation(world, client):
    refused = client.call("/step")
    assert not refused["success"]
    assert "call /pause first" in refused["message"]
    assert client.call("/pause") == {"success": True, "message": "paused"}
    assert world.simulation.paused
    assert client.call("/resume")["success"]
    world.simulation.step(50)
    ends = threading.Event()
    loop = threading.Thread(target=lambda: [world.simulation.step() for _ in iter(ends.is_set, True)], name="loop")
    loop.start()
    try:
        assert client.call("/reset") == {"success": True, "message": "time is 0"}
    finally:
        ends.set()
        loop.join()


def test_a_reset_begins_a_new_session_for_clients_and_sends_the_scene_again(world, client):
    client.subscribe("/scene")
    client.wait(lambda: client.of("/scene"))
    world.simulation.step(100)
    before = client.info["sessionId"]
    world.simulation.reset()
    world.step_until(client, lambda: client.text("serverInfo")["sessionId"] != before and len(client.of("/scene")) > 1)


def test_a_client_that_reads_nothing_delays_no_step_and_memory_stays_bounded(world):
    with FoxgloveClient(world.address) as client:
        for topic in ("/joint", "/tf", "/scene"):
            client.subscribe(topic)
        client.wait(lambda: client.of("/scene"))
        world.simulation.step(20_000)  # the client's socket and the queues are full long before the end
        assert world.simulation.time == pytest.approx(world.simulation.engine.dt * 20_000)
    with FoxgloveClient(world.address) as other:
        other.subscribe("/joint")
        world.step_until(other, lambda: other.of("/joint"))


def test_a_port_in_use_is_told_with_its_number(world):
    port = world.address.rpartition(":")[2]
    robot = load("qbmove-1dof")
    bridge = make_bridge(f"foxglove:port={port}", robot)
    simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=sync())
    with pytest.raises(BridgeError, match=f"cannot listen on 127.0.0.1:{port}"):
        simulation.start()
    simulation.close()


def test_bytes_that_are_no_websocket_and_frames_that_are_no_protocol_leave_others_served(world):
    chance = random.Random(3)
    host, port = world.address[5:].split(":")
    for _ in range(20):
        with socket.create_connection((host, int(port))) as raw:
            raw.sendall(bytes(chance.randrange(256) for _ in range(chance.randrange(1, 400))))
    for _ in range(20):
        with FoxgloveClient(world.address) as client:
            client.advertise(1, "/joint/command")
            for _ in range(10):
                body = bytes(chance.randrange(256) for _ in range(chance.randrange(0, 60)))
                kind = chance.randrange(4)
                if kind == 0:
                    client.socket.send(body)
                elif kind == 1:
                    client.publish(chance.choice([1, 2, 2**32 - 1]), body)
                elif kind == 2:
                    client.socket.send(body.decode("latin-1"))
                else:
                    ops = ["subscribe", "unsubscribe", "setParameters", "getParameters", "advertise", "nonsense"]
                    client.send(chance.choice(ops), subscriptions=[{"id": 1, "channelId": 10**9}], parameters=[{}],
                                parameterNames=["\0"] * 50, channels=[{"id": -1}], subscriptionIds=[7])  # fmt: skip
    world.simulation.step(10)
    assert not world.bridge.threads.dead
    with FoxgloveClient(world.address) as client:
        client.subscribe("/joint")
        world.step_until(client, lambda: client.of("/joint"))


def test_a_layout_names_topics_that_are_served_and_is_kept_where_it_was_asked_for(tmp_path):
    path = tmp_path / "arm.json"
    with World("qbmove-5dof", f",layout={path}") as world, FoxgloveClient(world.address) as client:
        client.wait(lambda: len(client.channels) >= 14)
        text = path.read_text()
        assert str(path) in world.bridge.notes[1]
        assert json.loads(text)["content"]["type"] == "split"
        for topic in ("/joint_1.", "/joint_5.", "/joint_1/command", "/scene"):
            assert topic in text
            assert topic.rstrip(".") in client.channels
    assert path.exists()


def test_without_a_name_the_layout_is_removed_at_the_end(world):
    from pathlib import Path

    path = Path(world.bridge.notes[1].rpartition(": ")[2])
    assert path.exists()
    world.simulation.close()
    assert not path.exists()
