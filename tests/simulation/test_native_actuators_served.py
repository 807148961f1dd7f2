"""MuJoCo's own actuators of every transmission on every bridge: commands and states pass, or it says what to do.

conformance/ros repeats the sweep with rospy and rclpy.
"""

import contextlib
import functools
import socket
import threading
import time

import mujoco
import numpy as np
import pytest
from fake_master import FakeMaster
from native_actuators import continuum_robot, every_transmission
from ros2_clients import DOMAINS

from pliant.base.errors import BridgeError, MissingDependency
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Robot
from pliant.simulation import Simulation, sync
from pliant.simulation.bridges import list_bridges, make_bridge

pytestmark = pytest.mark.network

MODELS = {"every transmission": every_transmission, "cables": continuum_robot}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Ros:
    """A node of its own on a wire of ROS."""

    def __init__(self, make, options, stack):
        self.options, self._make, self._stack, self.got, self.publications = options, make, stack, {}, {}

    def open(self, bridge, devices):
        self.bridge = bridge
        self.node = self._make()
        self.node.start()
        self._stack.callback(self.node.stop)
        self.kinds = {}
        for name, device in devices.items():
            for field, info in device.samples.items():
                kind = "std_msgs/Float64MultiArray" if info.shape else "std_msgs/Float64"
                self.got[name, field] = []
                self.node.subscribe(f"/{bridge.namespace}/{name}/{field}", kind, self.got[name, field].append)
            info = device.commands["control"]["control"]
            kind = "std_msgs/Float64MultiArray" if info.shape else "std_msgs/Float64"
            topic = f"/{bridge.namespace}/{name}/command/control"
            self.publications[name] = self.node.advertise(topic, kind), kind
        announce = getattr(self.node, "announce", None)
        if announce is not None:
            announce()

    def command(self, name, value):
        publication, kind = self.publications[name]
        message = {"data": value}
        if isinstance(value, list):
            message["layout"] = {"dim": [], "data_offset": 0}
        publication.send(self.node.codec.encode(kind, message))

    def heard(self, name, field):
        return [np.ravel(message["data"]) for message in list(self.got[name, field])]


def ros1(stack):
    from pliant.ros.ros1 import Ros1Node

    master = FakeMaster()
    stack.callback(master.close)
    return Ros(lambda: Ros1Node("/client", master=master.uri, host="127.0.0.1"), f"master={master.uri}", stack)


def ros2(stack):
    from pliant.ros.ros2 import Ros2Node

    domain = next(DOMAINS)
    return Ros(lambda: Ros2Node("client", domain=domain), f"domain={domain}", stack)


def cyclone(stack):
    from cyclone_peer import CyclonePeer

    domain = next(DOMAINS)
    return Ros(lambda: CyclonePeer("client", domain=domain), f"domain={domain}", stack)


def zenoh(stack):
    from pliant.ros_zenoh import ZenohNode

    port = free_port()
    node = functools.partial(ZenohNode, "client", mode="peer", connect=(f"tcp/127.0.0.1:{port}",))
    return Ros(node, f"mode=router,listen=tcp/127.0.0.1:{port}", stack)


class Yarp:
    """Ports of a client of YARP."""

    options = "server=127.0.0.1:0"

    def __init__(self, stack):
        self._stack, self.got = stack, {}

    def open(self, bridge, devices):
        from pliant.yarp.client import YarpNetwork

        network = self._stack.enter_context(YarpNetwork(str(bridge.server.address)))
        (prefix,) = {row["topic"].rsplit("/", 2)[0] for row in bridge.report() if row["topic"].endswith("/command:i")}
        self.readers, self.writers = {}, {}
        for name in devices:
            self.readers[name] = network.open_input(f"/client/{name}", strict=False)
            network.connect(f"{prefix}/{name}/state:o", f"/client/{name}")
            self.writers[name] = network.open_output(f"/client/{name}/command")
            network.connect(f"/client/{name}/command", f"{prefix}/{name}/command:i")

    def command(self, name, value):
        from pliant.yarp.wire import parse_bottle

        text = f"({' '.join(map(repr, value))})" if isinstance(value, list) else repr(value)
        self.writers[name].write_bottle(parse_bottle(f"(control {text})"))

    def heard(self, name, field):
        from pliant.yarp.wire.objects import properties

        with contextlib.suppress(BridgeError):  # nothing more has come
            while True:
                for key, value in properties(self.readers[name].read(timeout=0.001).content).items():
                    self.got.setdefault((name, key), []).append(np.ravel(getattr(value, "items", value)))
        return self.got.get((name, field), [])


class Foxglove:
    """A client of Foxglove's protocol."""

    options = "port=0"

    def __init__(self, stack):
        self._stack = stack

    def open(self, bridge, devices):
        from foxglove_client import FoxgloveClient
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore

        client = self._stack.enter_context(FoxgloveClient(bridge.addresses["Foxglove"]))
        self.client, self.types = client, get_typestore(Stores.EMPTY)
        self.names = {}
        for k, name in enumerate(devices):
            client.subscribe(f"/{name}")
            client.advertise(k + 1, f"/{name}/command")
            self.names[name] = k + 1
            channel = client.channels[f"/{name}"]
            kind = channel["schemaName"]
            self.types.register(get_types_from_msg(channel["schema"], kind))
            self.names[name, "kind"] = kind

    def command(self, name, value):
        self.client.publish(self.names[name], {"control": value})

    def heard(self, name, field):
        with contextlib.suppress(TimeoutError):
            while True:
                self.client.take(self.client.socket.recv(timeout=0.001))
        kind = self.names[name, "kind"]
        return [np.ravel(getattr(self.types.deserialize_cdr(data, kind), field)) for data in self.client.of(f"/{name}")]


CLIENTS = {
    "ros1": ros1,
    "ros2": ros2,
    "ros2 for Cyclone DDS": cyclone,
    "zenoh": zenoh,
    "yarp": Yarp,
    "foxglove": Foxglove,
}
REFUSED = {
    "fci": "serves Franka arms",
    "pictures": "the robot has no camera",
}
"""Bridges that do not serve actuators, and what they say."""
ELSEWHERE = {"dynamixel": "tests/dynamixel: the servos of joints, on a line that knows no other actuators"}
"""Bridges that serve some actuators, and where that is tested."""


def step_until(simulation, condition, what):
    """Step until another thread has done something."""
    pause, end = threading.Event(), time.monotonic() + 60.0
    while time.monotonic() < end:
        simulation.step(5)
        if condition():
            return
        pause.wait(0.02)  # a client that decodes in Python must keep up
    pytest.fail(f"not within 60 s: {what}")


def number_bytes(value):
    return np.ravel(np.asarray(value, dtype=float)).tobytes()


def test_every_registered_bridge_is_in_the_sweep():
    assert {name for name in list_bridges() if "test" not in name} == {
        *(name.split()[0] for name in CLIENTS),
        *REFUSED,
        *ELSEWHERE,
    }


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("model", MODELS)
def test_a_bridge_carries_commands_and_states_of_every_actuator(model, name):
    robot = Robot(mujoco.MjSpec.from_string(MODELS[model]()))
    with contextlib.ExitStack() as stack:
        try:
            client = CLIENTS[name](stack)
            bridge = make_bridge(f"{name.split()[0]}:{client.options}", robot)
            simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=sync())
            stack.callback(simulation.close)
            simulation.start()
        except MissingDependency as missing:
            pytest.skip(str(missing))
        devices = simulation.devices
        client.open(bridge, devices)
        for device in devices.values():
            info = device.commands["control"]["control"]
            low, high = max(info.low, -0.4), min(info.high, 0.3)
            value = 0.7 * low + 0.3 * high
            port = simulation.engine.port(f"{device.name}/control")
            sent = [value] * info.size if info.shape else value

            def arrived(name=device.name, sent=sent, port=port, value=value):
                client.command(name, sent)
                return (port == value).all()

            step_until(simulation, arrived, f"a command of {device.name}")
        for device in devices.values():
            waiting, past = set(device.samples), {field: set() for field in device.samples}

            def told(device=device, waiting=waiting, past=past):
                for field, value in simulation.sample(device.name).values.items():
                    past[field].add(number_bytes(value))
                for field in list(waiting):
                    if past[field] & {number_bytes(heard) for heard in client.heard(device.name, field)}:
                        waiting.discard(field)
                return not waiting

            step_until(simulation, told, f"the state of {device.name}")
        assert not simulation.health()["bridges"][bridge.name].get("rejected")


@pytest.mark.parametrize("name", REFUSED)
def test_a_bridge_that_serves_no_actuators_says_what_it_serves(name):
    robot = Robot(mujoco.MjSpec.from_string(continuum_robot()))
    try:
        bridge = make_bridge(name, robot)
        with Simulation(MujocoEngine(robot), make_devices(robot), [bridge], pacer=sync()) as simulation:
            simulation.start()
            said = " ".join(bridge.notes)
    except BridgeError as error:
        said = str(error)
    assert REFUSED[name] in said
