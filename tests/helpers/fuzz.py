"""Seeded fuzzing of everything that pliant listens with.

Valid frames are mutated, cut, joined, and lie about their lengths; others are random. Afterwards every thread must be
alive, no frame may have raised in our code, memory is bounded, and a client is served. At every port that is open,
strangers talk besides (`strangers`).

Also a program, for long runs:

    python tests/helpers/fuzz.py 100000 ros1 ros2 fci zenoh yarp dynamixel foxglove view statics --seed 1
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import itertools
import os
import random
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
import xmlrpc.client
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
from strangers import listening, strangers

LIES = (0, 1, 2, 3, 4, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 20, (1 << 20) + 1, 1 << 24)
TIMEOUT_S = 30.0
"""Longest wait for anything that must come."""


class Stuck(AssertionError):
    """A server did not close or answer in time."""


class Mutator:
    """Makes frames from valid ones.

    Args:
        chance: where randomness comes from.
        seeds: valid frames.
    """

    def __init__(self, chance: random.Random, seeds: list[bytes]) -> None:
        self.chance, self.seeds = chance, seeds

    def valid(self) -> bytes:
        return self.chance.choice(self.seeds)

    def __call__(self) -> bytes:
        chance = self.chance
        data = bytearray(self.valid())
        kind = chance.random()
        if kind < 0.1:
            pass
        elif kind < 0.4:  # other bytes
            for _ in range(chance.randrange(1, 9)):
                data[chance.randrange(len(data))] = chance.randrange(256)
        elif kind < 0.5:  # truncated
            del data[chance.randrange(len(data)) :]
        elif kind < 0.7:  # a length that lies
            form, size = chance.choice((("<I", 4), (">I", 4), ("<H", 2), (">H", 2), ("B", 1)))
            if len(data) > size:
                at = chance.randrange(len(data) - size)
                lie = chance.choice((*LIES, len(data), len(data) + 1, max(0, len(data) - 5)))
                struct.pack_into(form, data, at, lie & ((1 << 8 * size) - 1))
        elif kind < 0.8:  # a piece twice, elsewhere, or gone
            a, b = sorted((chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)))
            piece, at = data[a:b], chance.randrange(len(data) + 1)
            if chance.random() < 0.5:
                del data[a:b]
            else:
                data[at:at] = piece
        elif kind < 0.9:  # in one piece with others
            for _ in range(chance.randrange(1, 6)):
                data += self.valid()
        else:
            data = bytearray(chance.randbytes(chance.randrange(200)))
        return bytes(data)


def exchange(port: int, frames: list[bytes], *, half_close: bool = True) -> bytes:
    """Send frames on a new connection and read until the server closes it; return how its answer begins."""
    said = b""
    address = ("127.0.0.1", port)
    with contextlib.suppress(ConnectionError), socket.create_connection(address, timeout=TIMEOUT_S) as sock:
        try:
            for frame in frames:
                sock.sendall(frame)
            if half_close:
                with contextlib.suppress(OSError):  # the server was faster
                    sock.shutdown(socket.SHUT_WR)
            while piece := sock.recv(1 << 16):
                said = (said + piece)[:4096]
        except TimeoutError:
            raise Stuck(f"port {port} neither closes nor answers to {[f[:80] for f in frames]}") from None
    return said


def reset(port: int, frames: list[bytes]) -> None:
    """Send frames on a new connection, and break it off."""
    address = ("127.0.0.1", port)
    with contextlib.suppress(ConnectionError), socket.create_connection(address, timeout=TIMEOUT_S) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        for frame in frames:
            sock.sendall(frame)


def until(condition: Callable[[], Any], what: str, timeout: float = TIMEOUT_S) -> Any:
    """Wait for another thread."""
    end, pause = time.monotonic() + timeout, threading.Event()
    while not (found := condition()):
        if time.monotonic() > end:
            raise Stuck(f"not within {timeout} s: {what}")
        pause.wait(0.002)
    return found


@contextlib.contextmanager
def running(name: str, robot: str = "qbmove-1dof") -> Iterator[Any]:
    """Run a robot with a bridge in a thread; the end of the block fails if the run has ended before."""
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.robots.loading import load
    from pliant.simulation import Simulation
    from pliant.simulation.bridges import make_bridge

    loaded = load(robot)
    before = listening()
    bridge = make_bridge(name, loaded)
    simulation = Simulation(MujocoEngine(loaded, check=False), make_devices(loaded), [bridge], pacer=1.0)
    faults: list[BaseException] = []

    def run() -> None:
        try:
            simulation.run()
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=run, name="simulation")
    try:
        simulation.start()
        thread.start()
        yield SimpleNamespace(bridge=bridge, simulation=simulation, faults=faults, ports=lambda: listening() - before)
        if faults:
            raise faults[0]
        health = simulation.health()
        assert health["dead_threads"] == {}, health["dead_threads"]
        wire = health["bridges"][bridge.name]
        assert wire.get("internal_faults", 0) == 0, wire["last_faults"]
    finally:
        simulation.stop()
        if thread.ident is not None:
            thread.join(TIMEOUT_S)
        simulation.close()
    assert bridge.threads.alive == ()


# ---------------------------------------------------------------------------- ROS 1
def ros1(frames: int, chance: random.Random) -> int:
    """TCPROS as subscriber, as caller of services, and as publisher; XML-RPC of the node and of a publisher."""
    from fake_master import FakeMaster

    from pliant.ros.ros1 import Ros1Node
    from pliant.ros.wire import Codec, encode_header

    codec = Codec(1)
    master = FakeMaster()
    sent = 0
    try:
        with running(f"ros1:master={master.uri},host=127.0.0.1") as world:
            node = world.bridge.node
            node.advertise("/image", "std_msgs/Float64", latch=True).send(codec.encode("std_msgs/Float64", {}))
            heard: list[Any] = []
            node.subscribe("/fuzz", "std_msgs/Float64MultiArray", heard.append)
            headers = [
                encode_header({"callerid": "/x", **fields})
                for fields in (
                    {"topic": "/clock", "md5sum": "*", "type": "rosgraph_msgs/Clock"},
                    {"topic": "/image", "md5sum": "*", "tcp_nodelay": "1"},
                    {"service": "/pliant/pause", "md5sum": "*"},
                    {"service": "/pliant/resume", "md5sum": "*", "persistent": "1"},
                    {"service": "/pliant/step", "md5sum": "*", "persistent": "1"},
                    {"service": "/pliant/resume", "md5sum": "*", "probe": "1"},
                    {"topic": "/nothing", "md5sum": "0"},
                )
            ]
            requests = [b"\0\0\0\0", codec.encode(codec.types.service("pliant_msgs/Step").request, {"count": 1})]
            head, request = Mutator(chance, headers), Mutator(chance, requests)
            calls = [
                xmlrpc.client.dumps(arguments, method, allow_none=True).encode()
                for method, arguments in (
                    ("requestTopic", ("/x", "/clock", [["TCPROS"]])),
                    ("requestTopic", ("/x", "/clock", [["UDPROS", b"x", "h", 1, 2]])),
                    ("publisherUpdate", ("/x", "/fuzz", ["http://127.0.0.1:1/"])),
                    ("publisherUpdate", ("/x", "/clock", [[1], {"a": 2.5}, None])),
                    ("paramUpdate", ("/x", "/a", {"b": [1, 2, True]})),
                    ("getBusInfo", ("/x",)), ("getBusStats", ("/x",)), ("getPid", ("/x",)),
                    ("getPublications", ("/x",)), ("system.listMethods", ()), ("nonsense", (1, "x")),
                )
            ]  # fmt: skip
            call = Mutator(chance, calls)
            port = node.uri.rstrip("/").rsplit(":", 1)[1]
            liar = Publisher(chance, codec)
            try:
                while sent < frames:
                    kind = chance.random()
                    if kind < 0.55:
                        count = chance.choice((0, 0, 1, 2, 5, 60))
                        batch = [head() if chance.random() < 0.4 else head.valid()]
                        batch += [request() if chance.random() < 0.3 else request.valid() for _ in range(count)]
                        if chance.random() < 0.3:
                            batch = [b"".join(batch)]
                            sent += count
                        (reset if chance.random() < 0.2 else exchange)(node.tcp_port, batch)
                        sent += len(batch)
                    elif kind < 0.97:
                        exchange(int(port), [http_frame(chance, call)], half_close=False)
                        sent += 1
                    else:
                        before = liar.sent
                        uri = f"http://127.0.0.1:{liar.port}/{sent}/"
                        with contextlib.suppress(xmlrpc.client.Error, OSError):
                            xmlrpc.client.ServerProxy(node.uri).publisherUpdate("/x", "/fuzz", [uri])
                        until(lambda before=before: liar.sent > before, "the node contacts the publisher")
                        sent += liar.sent - before
            finally:
                liar.close()
            world.simulation.resume()
            with strangers(chance, world.ports(), frames // 2) as others:
                sent += others.sent
                client = Ros1Node("/client", master=master.uri, host="127.0.0.1")
                client.start()
                try:
                    client.announce()
                    clock: list[Any] = []
                    client.subscribe("/clock", "rosgraph_msgs/Clock", clock.append)
                    # A frame of above may still end in a pause, and so may a mutated probe of a stranger.
                    until(lambda: world.simulation.resume() or len(clock) > 3, "a subscriber is served")
                finally:
                    client.stop()
                served = exchange(
                    node.tcp_port,
                    [encode_header({"callerid": "/x", "service": "/pliant/resume", "md5sum": "*"}), requests[0]],
                    half_close=False,
                )
                assert b"running" in served, served
            assert {t.name for t in node.threads.alive} >= {"ros1-io", "ros1-slave", "ros1-master", "ros1-service-3"}
    finally:
        master.close()
    return sent


def http_frame(chance: random.Random, body: Mutator, path: bytes = b"/", extra: bytes = b"") -> bytes:
    """Return an HTTP request with a body that is mutated, or is so as a whole."""
    content = body() if chance.random() < 0.6 else body.valid()
    frame = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n" % (
        path, extra, len(content),
    )  # fmt: skip
    frame += content
    if chance.random() < 0.3:
        frame = Mutator(chance, [frame])()
    # Whoever says too large a length is waited for; the end that a client closes is the other way out.
    if b"\r\n\r\n" not in frame or chance.random() < 0.1:
        frame = b"GET / HTTP/9.9\r\n\r\n" + frame
    return frame if complete(frame) else b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n" + frame[:1000]


def complete(frame: bytes) -> bool:
    """Return whether a server that believes the length has all of it."""
    head, _, rest = frame.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            with contextlib.suppress(ValueError):
                return int(value) <= len(rest)
    return True


class Publisher:
    """A publisher of ROS 1 that answers to everything with mutated frames: XML-RPC and TCPROS on one port."""

    def __init__(self, chance: random.Random, codec: Any) -> None:
        from pliant.ros.wire import encode_header

        self._chance = random.Random(chance.random())
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self.sent = 0
        kind = "std_msgs/Float64MultiArray"
        self._headers = Mutator(
            self._chance,
            [
                encode_header({"callerid": "/p", "type": kind, "md5sum": codec.types.md5sum(kind), "topic": "/fuzz"}),
                encode_header({"error": "no"}),
            ],
        )
        self._messages = Mutator(self._chance, [codec.encode(kind, {"data": [float(k) for k in range(9)]})])
        good = xmlrpc.client.dumps(([1, "", ["TCPROS", "127.0.0.1", self.port]],), methodresponse=True).encode()
        bad = xmlrpc.client.dumps(([1, "", ["TCPROS", [], {}]],), methodresponse=True).encode()
        self._answers = Mutator(self._chance, [good, good, bad])
        self._thread = threading.Thread(target=self._run, name="publisher", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                sock = self._listener.accept()[0]
            except OSError:
                return
            with sock, contextlib.suppress(OSError):
                sock.settimeout(5.0)
                data = sock.recv(1 << 16)
                if data[:4] == b"POST":
                    while b"</methodCall>" not in data and (piece := sock.recv(1 << 16)):
                        data += piece
                    body = self._answers() if self._chance.random() < 0.6 else self._answers.valid()
                    answer = b"HTTP/1.0 200 OK\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n" % len(body)
                    answer += body
                    sock.sendall(Mutator(self._chance, [answer])() if self._chance.random() < 0.2 else answer)
                    self.sent += 1
                    continue
                sock.sendall(self._headers() if self._chance.random() < 0.3 else self._headers.valid())
                for _ in range(20):
                    sock.sendall(self._messages() if self._chance.random() < 0.3 else self._messages.valid())
                self.sent += 21

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(TIMEOUT_S)


# ---------------------------------------------------------------------------- FCI
def fci(frames: int, chance: random.Random) -> int:
    """Requests to the robot and to the hand over TCP, commands over UDP, on connections that are and are not valid."""
    import dataclasses

    from fci_clients import Client, serve

    from pliant.franka.wire import fci as wire
    from pliant.franka.wire.fci.requests import COMMANDS

    sent = 0
    before = listening()
    with serve(command_timeout=0.001) as server:
        arm = server.arms[0]
        ports = listening() - before
        health = lambda: server.health()["arms"][0]  # noqa: E731
        requests = []
        for version in wire.VERSIONS:
            for kind in COMMANDS[version]:
                if kind in (wire.Connect, wire.LoadModelLibrary):
                    continue
                with contextlib.suppress(Exception):
                    values = {f.name: _value(f, kind, wire) for f in dataclasses.fields(kind)}
                    requests.append(wire.encode_request(kind(**values), version=version, command_id=len(requests)))
        assert len(requests) > 40, len(requests)
        hand_requests = [
            wire.encode_gripper_request(request, command_id=k)
            for k, request in enumerate(
                (
                    wire.Connect(version=wire.GRIPPER_VERSION, udp_port=1),
                    wire.GripperHoming(), wire.GripperStop(), wire.GripperMove(width=0.02, speed=0.1),
                    wire.GripperGrasp(width=0.02, epsilon_inner=0.1, epsilon_outer=0.1, speed=0.1, force=10.0),
                )
            )
        ]  # fmt: skip
        request, hand = Mutator(chance, requests), Mutator(chance, hand_requests)
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        move = wire.encode_request(
            wire.Move(controller=wire.Controller.JOINT_IMPEDANCE, motion_generator=wire.MotionGenerator.JOINT_VELOCITY),
            version=10, command_id=77,
        )  # fmt: skip
        commands = Mutator(
            chance, [wire.encode_command(wire.RobotCommand(message_id=k), version=10) for k in (0, 1, 1 << 40)]
        )
        while sent < frames:
            kind = chance.random()
            connect = struct.pack("<IIIHH", 0, 0, 16, chance.choice((5, 6, 7, 8, 9, 10, 10)), udp.getsockname()[1])
            many = [request() if chance.random() < 0.25 else request.valid() for _ in range(chance.randrange(12))]
            if kind < 0.25:
                batch = [Mutator(chance, [connect])(), *many]
                exchange(arm.port, batch)
            elif kind < 0.5:
                batch = [connect, *many]
                exchange(arm.port, batch)
            elif kind < 0.6:
                batch = [b"".join((connect, *many))]
                reset(arm.port, batch)
            elif kind < 0.85:
                batch = [hand() if chance.random() < 0.3 else hand.valid() for _ in range(chance.randrange(1, 12))]
                exchange(arm.hand.port, batch)
            else:  # commands over UDP, to a motion
                batch = []
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", arm.port), 5.0) as sock:
                    sock.settimeout(5.0)
                    sock.sendall(connect + move)
                    udp.settimeout(0.02)
                    peer = udp.recvfrom(4096)[1]
                    for _ in range(40):
                        batch.append(commands() if chance.random() < 0.7 else commands.valid())
                        udp.sendto(batch[-1][:2000] or b"x", peer)
                udp.setblocking(False)
                with contextlib.suppress(OSError):
                    while True:
                        udp.recv(4096)
            sent += len(batch)
        udp.close()
        assert health()["connections"] > 0
        until(lambda: not health()["connected"], "the last connection is closed")
        with strangers(chance, ports, frames // 2) as others:
            sent += others.sent
            until(lambda: not health()["connected"], "the last stranger is sent away")
            client = Client(server)
            try:
                assert client.status == "success"
                assert client.ask(wire.AutomaticErrorRecovery()).status in ("success", "command_not_possible_rejected")
                first = client.state().message_id
                until(lambda: client.state().message_id > first + 5, "states come")
            finally:
                client.tcp.close()
                client.udp.close()
    return sent


def _value(field: Any, kind: Any, wire: Any) -> Any:
    """Return some value for a field of a request."""
    text = str(field.type)
    if "Controller" in text:
        return wire.Controller.JOINT_IMPEDANCE
    if "MotionGenerator" in text:
        return wire.MotionGenerator.JOINT_POSITION
    if "tuple" in text:
        size = {"SetEEToK": 16, "SetNEToEE": 16, "SetLoad": 3, "SetJointImpedance": 7, "SetGuidingMode": 6}
        count = size.get(kind.__name__, 6)
        if "inertia" in field.name:
            count = 9
        if "torque" in field.name:
            count = 7
        return (True,) * count if "bool" in text else (1.0,) * count
    return {"bool": True, "float": 0.5}.get(text, 1)


# ---------------------------------------------------------------------------- ROS 2
def ros2(frames: int, chance: random.Random) -> int:
    """RTPS datagrams: those that a peer sends while it is met, writes, listens, asks and leaves, mutated."""
    from ros2_clients import DOMAINS, FastClient

    from pliant.ros.ros2.participant import RtpsParticipant
    from pliant.ros.wire import Codec, dds_type_name
    from pliant.ros.wire.rtps.messages import DataFrag, Gap, Header, InfoDestination, NackFrag, encode_message

    domain = next(DOMAINS)
    codec = Codec(2)
    sent = 0
    with running(f"ros2:domain={domain}") as world:
        node = world.bridge.node
        heard: list[Any] = []
        node.subscribe("/fuzz", "std_msgs/Float64MultiArray", heard.append)
        address = ("127.0.0.1", node.participant.sockets.port)
        corpus: list[bytes] = []

        class Peer(RtpsParticipant):
            def _send_bytes(self, to: Any, datagram: bytes) -> None:
                if to == address and len(corpus) < 4000:
                    corpus.append(datagram)
                super()._send_bytes(to, datagram)

        def peer(name: str, faults: list[str]) -> Any:
            made = Peer(name, domain=domain, complain=faults.append)
            made.start()
            return made

        faults: list[str] = []
        one = peer("one", faults)
        kind = "std_msgs/Float64MultiArray"
        writer = one.writer("rt/fuzz", dds_type_name(kind))
        clock: list[Any] = []
        one.reader("rt/clock", dds_type_name("rosgraph_msgs/Clock"), clock.append)
        ask = FastClient(one, "/pliant/resume", "std_srvs/Trigger")
        until(lambda: len(writer.proxies) and ask.ready and len(clock) > 2, "the peer is met")
        for k in range(30):
            one.write(writer, codec.encode(kind, {"data": [float(k)] * 8}))
            ask.ask()
        guid, reader = writer.guid, next(iter(writer.proxies))
        to = InfoDestination(prefix=node.participant.prefix)
        for k in range(20):
            corpus.append(encode_message(Header(prefix=one.prefix), (to, Gap(
                reader=reader[12:], writer=guid[12:], start=40 + k, base=42 + k))))  # fmt: skip
            corpus.append(encode_message(Header(prefix=one.prefix), (to, NackFrag(
                reader=b"\0\0\0\7", writer=b"\0\0\1\3", sequence=k, missing=(1, 2), count=k))))  # fmt: skip
            corpus.append(encode_message(Header(prefix=one.prefix), (to, DataFrag(
                reader=reader[12:], writer=guid[12:], sequence=50 + k, first=1, count=1, fragment_size=100,
                sample_size=1000, payload=bytes(100)))))  # fmt: skip
        until(lambda: len(heard) >= 30, "messages arrive")
        make = Mutator(chance, corpus)
        waiting = bytearray(4)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            while sent < frames:
                for _ in range(64):
                    data = make()
                    if chance.random() < 0.2 and len(data) >= 20:  # another participant says it
                        prefix = chance.randbytes(12)
                        data = data.replace(one.prefix, prefix)
                    sock.sendto(data[:60000] or b"x", address)
                sent += 64

                def read(waiting: bytearray = waiting) -> bool:
                    if node.participant._stopping:
                        raise Stuck("the participant has stopped")
                    fcntl.ioctl(node.participant.sockets.data, termios.FIONREAD, waiting)
                    return waiting == bytearray(4)

                until(read, "the datagrams are read")
        one.stop()
        with strangers(chance, world.ports(), frames // 4) as others:
            sent += others.sent
        two = peer("two", faults)
        try:
            again = two.writer("rt/fuzz", dds_type_name(kind))
            ticks: list[Any] = []
            two.reader("rt/clock", dds_type_name("rosgraph_msgs/Clock"), ticks.append)
            client = FastClient(two, "/pliant/resume", "std_srvs/Trigger")
            until(lambda: again.proxies and client.ready and len(ticks) > 3, "a new peer is served")
            heard.clear()
            two.write(again, codec.encode(kind, {"data": [123.0]}))
            until(lambda: any(list(message["data"]) == [123.0] for message in heard), "its message arrives")
            assert client.call()["success"]
        finally:
            two.stop()
        assert len(node.participant.remotes) <= 200
        names = {t.name for t in node.threads.alive}
        assert names >= {"ros2-rtps", "ros2-writer", "ros2-images", "ros2-service-3"}, names
    return sent


# ---------------------------------------------------------------------------- zenoh
def zenoh(frames: int, chance: random.Random) -> int:
    """Payloads, attachments, requests and tokens of ours; one in seven raw frames, which eclipse-zenoh parses."""
    import zenoh as library
    import zenoh.ext

    from pliant.ros.wire import Codec

    codec = Codec(2)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    domain = 7
    sent = 0

    def open_session() -> Any:
        config = library.Config()
        for key, value in {
            "mode": '"client"', "connect/endpoints": f'["tcp/127.0.0.1:{port}"]', "listen/endpoints": "[]",
            "scouting/multicast/enabled": "false",
        }.items():  # fmt: skip
            config.insert_json5(key, value)
        return library.open(config)

    with running(f"zenoh:mode=router,listen=tcp/127.0.0.1:{port},domain={domain}") as world:
        node = world.bridge.node
        heard: list[Any] = []
        kind = "std_msgs/Float64MultiArray"
        node.subscribe("/fuzz", kind, heard.append)
        key = node._subscriptions["/fuzz"][0].key_expr
        service = str(node._services["/pliant/resume"][0].key_expr)
        session = open_session()
        ext = library.ext
        attachment = bytes(ext.z_serialize((ext.Int64(1), ext.Int64(2), bytes(range(16)))))
        beside = Mutator(chance, [attachment])
        payload = Mutator(chance, [codec.encode(kind, {"data": [1.0] * 8, "layout": {"data_offset": 3}})])
        token = Mutator(chance, [
            f"@ros2_lv/{domain}/{session.zid()}/0/11/MP/%/%/x/%fuzz/std_msgs::msg::dds_::Float64_/RIHS01_0/::,10:,:,:,,"
            .encode()
        ])  # fmt: skip
        publisher = session.declare_publisher(key)
        tokens: list[Any] = []
        while sent < frames:
            for _ in range(200):
                kind_of = chance.random()
                if kind_of < 0.8:
                    publisher.put(
                        payload(), attachment=beside() if chance.random() < 0.5 else attachment
                    ) if chance.random() < 0.98 else publisher.put(payload())
                elif kind_of < 0.9:
                    session.get(
                        service, lambda reply: None, payload=payload() if chance.random() < 0.5 else b"\0\1\0\0\0",
                        attachment=beside() if chance.random() < 0.5 else attachment, timeout=5.0,
                    )  # fmt: skip
                elif kind_of < 0.95:
                    with contextlib.suppress(library.ZError, UnicodeDecodeError, ValueError):
                        text = token().decode("utf-8", "ignore").replace("\0", "")
                        tokens.append(session.liveliness().declare_token(text))
                    while len(tokens) > 200:
                        tokens.pop(0).undeclare()
                else:
                    reset(port, [chance.randbytes(chance.randrange(1, 80)) for _ in range(3)])
                    sent += 2
                sent += 1
            if not sent % 10_000:
                number = len(heard)
                until(lambda number=number: len(heard) > number or publisher.put(
                    payload.seeds[0], attachment=attachment), "messages arrive")  # fmt: skip
                heard.clear()
        session.close()
        with strangers(chance, world.ports(), frames // 4) as others:
            sent += others.sent
        last = open_session()
        goal, question = codec.encode(kind, {"data": [123.0]}), b"\0\1\0\0\0"

        def said() -> bool:
            speaker.put(goal, attachment=attachment)
            return any(list(message["data"]) == [123.0] for message in heard)

        def served() -> bool:
            replies = last.get(service, payload=question, attachment=attachment, timeout=10.0)
            return any(reply.ok is not None for reply in replies)

        try:
            speaker = last.declare_publisher(key)
            until(lambda: speaker.matching_status.matching, "the topic is met")
            until(said, "a message of a new session arrives")
            until(served, "a request is served")
        finally:
            last.close()
        names = {t.name for t in node.threads.alive}
        assert names >= {"zenoh-writer", "zenoh-watch", "zenoh-service-3"}, names
    return sent


# ---------------------------------------------------------------------------- YARP
def yarp(frames: int, chance: random.Random) -> int:
    """Ports of every kind and the name server: binary and text connections, messages, administration, datagrams."""
    from pliant.yarp.bridge.calls import NameClient, RpcConnection, ask_administration
    from pliant.yarp.wire import (
        Command,
        Hello,
        Message,
        Query,
        TextHello,
        Vocab,
        bottle,
        encode_bottle,
        encode_datagrams,
        parse_bottle,
    )  # fmt: skip

    sent = 0
    with running("yarp:server=127.0.0.1:0,host=127.0.0.1") as world:
        names = NameClient(world.bridge.server.address)
        contacts = [c for c in names.list() if c.carrier == "tcp"]
        requests = [
            "help",
            "1 2.5 (a b) [set] {1 2}",
            "getSimulationTime",
            "(equilibrium_position 0.1)",
            "[get] [axes]",
            "stepSimulation 3",
            "query /clock",
            "subscribe /a /b",
            "(mode x) (y 1)",
        ]
        admin = [
            "[list] [out]",
            "[add] /nobody",
            "[del] /x",
            "[prop] [get]",
            "[prop] [set] a (b 1)",
            "[ver]",
            "[help]",
            "[get] [in] /x",
            "[set] [out] /x (a 1)",
            "[atch] [in] (x y)",
        ]
        greetings = [Hello(carrier=c, sender=s).encode() for c in ("tcp", "fast_tcp") for s in ("/x", "anon_rpc", "/y")]
        messages = [
            Message(Command(kind, envelope), encode_bottle(parse_bottle(text), dialect)).encode()
            for kind, envelope in (("d", None), ("D", "3 4.5"), ("a", None))
            for text in (admin if kind == "a" else requests)
            for dialect in (3, 4)
        ] + [Message(Command(kind)).encode() for kind in ("q", "*", "?", "/z", "!z", "~/x", "r")]  # fmt: skip
        deep = b"d\r\n" + b"(" * 40 + b")" * 40 + b"\r\n"
        texts = [f"{kind}\r\n{text}\r\n".encode() for kind in ("d", "D 1 2", "do") for text in requests]
        texts += [f"a\r\n{text}\r\n".encode() for text in admin] + [b"*\r\n", b"?\r\n", b"~/x\r\n", b"q\r\n", deep]
        hellos = [TextHello(s, a).encode() for s in ("admin", "/x") for a in (True, False)]
        queries = [
            Query(tuple(line.split())).encode()
            for line in (
                "list",
                "register /a ... 127.0.0.1 -1",
                "query /a",
                "set /a b c d",
                "get /a b",
                "help",
                "check /a b c",
                "unregister /a",
                "bot list",
                "bot query /a",
                "announce /a",
                "route /a /b",
                "register =x",
                "register /m mcast",
            )
        ]
        others = [b"GET / HTTP/1.1\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n", b"YA\x62\x1e\x00\x00RP\x02\0\0\0/\0123456",
                  Hello(carrier="tcp", sender="/src (recv portmonitor) (type dll)").encode()]  # fmt: skip
        greet, message = Mutator(chance, greetings), Mutator(chance, messages)
        hello, text, query, other = (Mutator(chance, seeds) for seeds in (hellos, texts, queries, others))
        datagrams = Mutator(chance, [d for m in messages[:20] for d in encode_datagrams(m, 60)])
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            while sent < frames:
                contact, kind = chance.choice(contacts), chance.random()
                if kind < 0.4:
                    batch = [greet() if chance.random() < 0.3 else greet.valid()]
                    batch += [
                        message() if chance.random() < 0.4 else message.valid() for _ in range(chance.randrange(9))
                    ]
                elif kind < 0.65:
                    batch = [hello() if chance.random() < 0.3 else hello.valid()]
                    batch += [text() if chance.random() < 0.4 else text.valid() for _ in range(chance.randrange(9))]
                elif kind < 0.8:
                    contact = contacts[-1] if chance.random() < 0.2 else next(c for c in contacts if c.name == "/root")
                    batch = [query() if chance.random() < 0.5 else query.valid() for _ in range(chance.randrange(1, 6))]
                elif kind < 0.9:
                    batch = [other()]
                else:
                    with socket.create_connection((contact.host, contact.port), timeout=TIMEOUT_S) as sock:
                        sock.sendall(Hello(carrier="udp", sender=f"/u{chance.randrange(99)}").encode())
                        answer = sock.recv(8)
                    if len(answer) == 8:
                        address = ("127.0.0.1", int.from_bytes(answer[2:6], "little"))
                        for _ in range(chance.randrange(6)):
                            udp.sendto(datagrams() if chance.random() < 0.6 else datagrams.valid(), address)
                            sent += 1
                    continue
                (reset if chance.random() < 0.2 else exchange)(contact.port, batch)
                sent += len(batch)
            world.simulation.resume()
            with strangers(chance, world.ports(), frames // 4) as others:
                sent += others.sent
                clock = names.find("/clock/rpc")
                with RpcConnection(clock) as connection:
                    until(lambda: connection.call(bottle("getSimulationTime")).items, "the clock answers")
                assert ask_administration(names.find("/clock"), bottle(Vocab.of("ver"))).items[1:] == (1, 2, 3)
            until(lambda: world.bridge.health()["inputs"] <= 16 * len(contacts), "connections end")
        finally:
            udp.close()
    return sent


def websocket(payload: bytes, opcode: int = 2, *, fin: bool = True) -> bytes:
    """Return a masked frame of a client."""
    head = bytes([(0x80 if fin else 0) | opcode])
    size = len(payload)
    head += bytes([0x80 | size]) if size < 126 else bytes([0xFE]) + struct.pack(">H", size)
    return head + bytes(4) + payload


VIEW_MESSAGES: tuple[dict[str, object], ...] = (
    {"type": "GuiUpdateMessage", "uuid": "x", "updates": {"value": 1.0}},
    {"type": "ShareUrlRequest"},
    {"type": "ViewerCameraMessage", "wxyz": [1, 0, 0, 0], "position": [0, 0, 1], "fov": 1.0, "near": 0.1, "far": 9.0,
     "image_height": 100, "image_width": 100, "look_at": [0, 0, 0], "up_direction": [0, 0, 1]},
    {"type": "SceneNodeDragMessage", "name": "/body/1/seen0", "phase": "start"},
    {"type": "FileTransferStartUpload", "source_component_uuid": "x", "transfer_uuid": "y", "filename": "../f",
     "mime_type": "a", "part_count": 1, "size_bytes": 10**9},
    {"type": "FileTransferPart", "source_component_uuid": "x", "transfer_uuid": "y", "part_index": 0, "content": b"x"},
    {"type": "TransformControlsDragStartMessage", "name": "/plate-handle", "owner": ""},
    {"type": "TransformControlsUpdateMessage", "name": "/plate-handle", "wxyz": [1, 0, 0, 0],
     "position": [0, 0, float("nan")], "owner": ""},
    {"type": "TransformControlsUpdateMessage", "name": "/plate-handle", "wxyz": [1, 0, 0, 0],
     "position": [0.01, 0.4, 0.0], "owner": ""},
    {"type": "NoSuchMessage"},
)  # fmt: skip
"""What a browser sends to the pages, and what it does not."""


def view(frames: int, chance: random.Random) -> int:
    """The page of a robot that is simulated: see `_page`."""
    return _page(["qbmove-1dof"], frames, chance)


def statics(frames: int, chance: random.Random) -> int:
    """The page of a parallel robot's statics, which takes files and a dragged plate: see `_page`."""
    return _page(["2RR", "--statics"], frames, chance)


def _page(words: list[str], frames: int, chance: random.Random) -> int:
    """HTTP, handshakes and frames of WebSockets behind our check of hosts and origins."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "pliant", "view", *words, "--view-port", str(port)]
    own = f"Host: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n".encode()
    other = b"Host: site.example\r\nOrigin: http://site.example\r\n"
    upgrade = (
        b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: viser-v" + version("viser").encode() + b"\r\n"
    )
    places = (b"/", b"/index.html", b"/report/", b"/../../etc/passwd", b"/%2e%2e/%2e%2e/etc/passwd", b"/?x=1")
    heads = [
        b"GET %s HTTP/1.1\r\n%s%s\r\n" % (path, who, what)
        for path, who, what in itertools.product(places, (own, other), (b"", upgrade))
    ]
    texts = [msgspec.msgpack.encode(message) for message in VIEW_MESSAGES]
    bodies = [websocket(text) for text in texts] + [
        websocket(b"", 8), websocket(b"x", 9), websocket(b"\4\0\0\0abcdxyz"), websocket(b""), websocket(b"x" * 300),
        websocket(b"a", 1, fin=False),
    ]  # fmt: skip
    head, body = Mutator(chance, heads), Mutator(chance, bodies)
    sent = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        printed: list[str] = []
        drain = threading.Thread(target=lambda: printed.extend(process.stderr or ()), name="fuzz-drain", daemon=True)
        try:
            assert process.stderr.readline().startswith("view: ")
            drain.start()
            before = memory(process.pid)
            while sent < frames:
                batch = [head() if chance.random() < 0.4 else head.valid()]
                batch += [body() if chance.random() < 0.3 else body.valid() for _ in range(chance.randrange(20))]
                (reset if chance.random() < 0.5 else exchange)(port, batch)
                sent += len(batch)
                assert process.poll() is None, f"the view ended with {process.returncode}"
            ports = {p for p in listening(process.pid) if p[0] == "tcp"}
            assert ("tcp", "127.0.0.1", port) in ports
            with strangers(chance, ports, frames // 4, pid=process.pid) as others:
                sent += others.sent
                assert exchange(port, [heads[0]], half_close=False).startswith(b"HTTP/1.1 200")
            with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S) as sock:
                sock.sendall(b"GET / HTTP/1.1\r\n%s%s\r\n" % (own, upgrade))
                said = sock.recv(100)
            assert said.startswith(b"HTTP/1.1 101"), said[:200]
            assert memory(process.pid) - before < 300e6
            assert not any("Traceback" in line for line in printed), "".join(printed)[-3000:]
        finally:
            process.kill()
            if drain.is_alive():
                drain.join(TIMEOUT_S)
    return sent


# ---------------------------------------------------------------------------- Dynamixel and Foxglove
def dynamixel(frames: int, chance: random.Random) -> int:
    """The TCP port of a serial line; `tests/dynamixel/test_bridge.py` has the packets."""
    from pliant.dynamixel.wire import Instruction, PacketReader, encode_instruction

    with running("dynamixel:tcp=0") as world:
        with strangers(chance, world.ports(), frames) as others:

            def answered() -> bool:
                reader = PacketReader()
                with socket.create_connection((host, number), timeout=TIMEOUT_S) as sock, contextlib.suppress(OSError):
                    sock.sendall(encode_instruction(1, Instruction.PING, b""))
                    while piece := sock.recv(1 << 12):
                        if any(packet.instruction == Instruction.STATUS for packet in reader.feed(piece, 0.0)):
                            return True
                return False

            ((_, host, number),) = world.ports()
            until(answered, "a servo answers")
        return others.sent


def foxglove(frames: int, chance: random.Random) -> int:
    """The gate before the SDK's server, and that server, which listens on an address of its own."""
    from foxglove_client import FoxgloveClient

    with running("foxglove:port=0") as world:
        with strangers(chance, world.ports(), frames) as others:
            address = world.bridge._where["Foxglove"]
            with FoxgloveClient(address):  # it waits for what the server says of itself
                pass
        return others.sent


WIRES: dict[str, Callable[[int, random.Random], int]] = {
    "ros1": ros1, "ros2": ros2, "fci": fci, "zenoh": zenoh, "yarp": yarp, "dynamixel": dynamixel,
    "foxglove": foxglove, "view": view, "statics": statics,
}  # fmt: skip


def memory(pid: int | str = "self") -> int:
    """Return the memory that a process holds [bytes]."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def fuzz(name: str, frames: int, seed: int) -> SimpleNamespace:
    """Fuzz one wire; raises if a thread died, a frame raised, nobody is served, or memory grows."""
    began, before = time.monotonic(), memory()
    sent = WIRES[name](frames, random.Random(seed))
    return SimpleNamespace(sent=sent, seconds=time.monotonic() - began, grown=memory() - before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("frames", type=int, help="how many are sent to each wire")
    parser.add_argument("wires", nargs="+", choices=sorted(WIRES))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    import logging

    logging.disable(logging.WARNING)
    for name, seed in zip(options.wires, itertools.count(options.seed)):
        done = fuzz(name, options.frames, seed)
        print(
            f"{name}: {done.sent} frames in {done.seconds:.0f} s, memory +{done.grown / 1e6:.0f} MB: all alive, served"
        )


if __name__ == "__main__":
    main()
