"""A robot on the ROS 1 bridge with a client beside it, for the tests; conftest.py has the fixtures."""

import re
import socket
import struct
from pathlib import Path
from urllib.parse import urlparse

from waiting import until

from pliant.base.errors import BridgeError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
from pliant.ros.ros1 import Ros1Node
from pliant.ros.wire import Codec, decode_header, encode_header
from pliant.simulation import Simulation, sync
from pliant.simulation.bridges import make_bridge

DATA = Path(__file__).resolve().parents[1] / "data"


def template(tmp_path, mode=6, joint="joint", flags=("true", "true", "true")):
    """A robot of one qbMove in the format of the toolbox, in another mode."""
    text = (DATA / "qbmove_joint.urdf").read_text()
    text = re.sub(r"<operation_mode>\d", f"<operation_mode>{mode}", text)
    for tag, value in zip(("pub_eltau", "pub_state", "sub_ext_tau"), flags):
        text = re.sub(rf"<{tag}>\w+<", f"<{tag}>{value}<", text)
    path = tmp_path / f"robot{mode}.urdf"
    path.write_text(text)
    return path


class World:
    """A robot, its simulation and bridge, and a client node."""

    def __init__(self, master, source, options="", manager=None, **simulation):
        self.robot = load(source, manager=manager)
        self.bridge = make_bridge(f"ros1:master={master.uri},host=127.0.0.1{options}", self.robot)
        self.simulation = Simulation(
            MujocoEngine(self.robot, check=False), make_devices(self.robot), [self.bridge], pacer=sync(), **simulation
        )
        self.node = self.bridge.node
        self.simulation.start()
        self.client = None
        self.master = master

    def connect(self, name="/client"):
        self.client = Ros1Node(name, master=self.master.uri, host="127.0.0.1")
        self.client.start()
        self.client.announce()
        return self.client

    def hear(self, topic, kind):
        """Subscribe; return the list that fills."""
        got = []
        self.client.subscribe(topic, kind, got.append)
        until(lambda: self.node.publications[topic].connections, f"{topic} is connected")
        return got

    def speak(self, topic, kind):
        """Publish; return a function that sends and waits for the arrival."""
        publication = self.client.advertise(topic, kind)
        until(lambda: publication.connections, f"{topic} is connected")
        subscription = self.node.subscriptions[topic]

        def send(**values):
            before = subscription.count
            publication.send(self.client.codec.encode(kind, values))
            until(lambda: subscription.count > before, f"a message on {topic}")

        return send

    def call(self, name, kind, **request):
        """Call a service as rospy does; while it waits, the simulation is run by another thread."""
        codec = Codec(1)
        service = codec.types.service(kind)
        where = urlparse(self.master.services[name])
        with socket.create_connection((where.hostname, where.port), timeout=10) as sock:
            sock.sendall(
                encode_header({"callerid": "/client", "service": name, "md5sum": codec.types.md5sum(kind)})
                + codec.encode(service.request, request)
            )
            header = decode_header(read(sock, struct.unpack("<I", read(sock, 4))[0]))
            assert "error" not in header, header
            good = read(sock, 1)
            size = read(sock, 4)
            body = read(sock, struct.unpack("<I", size)[0])
        if good == b"\0":
            raise BridgeError(body.decode())
        return codec.decode(service.response, size + body)

    def close(self):
        if self.client is not None:
            self.client.stop()
        self.simulation.close()


def read(sock, size):
    data = b""
    while len(data) < size:
        piece = sock.recv(size - len(data))
        assert piece, "the connection was closed"
        data += piece
    return data
