"""A page of another site, open in a browser of this machine, reads nothing from a run and commands nothing.

The bridges are those that pliant lists, the sockets those that the process listens on while each of them runs.
"""

import contextlib
import dataclasses
import importlib.metadata
import importlib.util
import json
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fake_master import FakeMaster
from running import free_port

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.page import PageView
from pliant.robots.loading import load
from pliant.simulation import Simulation, paced
from pliant.simulation.bridges import bridge_options, find_bridge, list_bridges, make_bridge

pytestmark = pytest.mark.network

EVIL = "https://evil.example"
ROBOTS = {"fci": "fr3"}
"""Bridges that serve one kind of robot."""
UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
CALL = "<?xml version='1.0'?><methodCall><methodName>getPid</methodName><params></params></methodCall>"


def listening() -> set[tuple[str, int]]:
    """Return address and port of each TCP socket that this process listens on."""
    mine = set()
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            mine.add(str(entry.readlink()))
    found = set()
    for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "0A" and f"socket:[{words[9]}]" in mine:
            address, port = words[1].split(":")
            found.add((socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)))
    return found


def ask(where, text: str) -> bytes:
    """Return what a server answers to a request."""
    with socket.create_connection(where, timeout=10.0) as connection:
        connection.settimeout(0.5)  # a server that waits for more says nothing
        connection.sendall(text.encode())
        answer = b""
        with contextlib.suppress(TimeoutError, ConnectionError):
            while len(answer) < 1 << 16 and (data := connection.recv(4096)):
                answer += data
                if data.startswith(b"HTTP/1.1 101"):
                    break
        return answer


def requests(port: int, headers: str, protocol: str = "") -> dict[str, str]:
    """Return a request of each kind; a protocol is offered to WebSockets alone."""
    offered = f"Sec-WebSocket-Protocol: {protocol}\r\n" if protocol else ""
    return {
        "read": f"GET / HTTP/1.1\r\n{headers}\r\n",
        "WebSocket": f"GET / HTTP/1.1\r\n{headers}{UPGRADE}{offered}\r\n",
        "call": f"POST / HTTP/1.1\r\n{headers}Content-Type: text/plain\r\nContent-Length: {len(CALL)}\r\n\r\n{CALL}",
    }


PROTOCOLS = ("foxglove.sdk.v1", f"viser-v{importlib.metadata.version('viser')}")


@contextlib.contextmanager
def serving(name: str):
    """Run a robot with a bridge, or with the page; yields the sockets that listen, and the simulation."""
    before = listening()
    robot = load(ROBOTS.get(name, "qbmove-1dof"))
    with contextlib.ExitStack() as stack:
        if name == "page":
            bridge = PageView(MujocoEngine(robot, check=False), port=free_port())
            engine = bridge._engine
        else:
            options = [
                f"{field.name}={free_port()}"
                for field in dataclasses.fields(bridge_options(name))
                if field.name in ("port", "gripper_port")
            ]
            if name == "ros1":
                master = stack.enter_context(contextlib.closing(FakeMaster()))
                options += [f"master={master.uri}", "host=127.0.0.1"]
                before = listening()  # the master of the test is none of pliant's servers
            elif name == "yarp":
                options += ["server=127.0.0.1:0"]
            bridge = make_bridge(f"{name}:{','.join(options)}", robot)
            engine = MujocoEngine(robot, check=False)
        simulation = stack.enter_context(Simulation(engine, make_devices(robot), [bridge], pacer=paced(1.0)))
        simulation.start()
        thread = threading.Thread(target=simulation.run, daemon=True)
        thread.start()
        try:
            yield listening() - before, simulation, bridge
        finally:
            simulation.stop()
            thread.join(30.0)


def hidden(where) -> bool:
    """Return whether a socket is one that no site can find: behind the gate, on one of 16 million addresses."""
    return where[0].startswith("127.") and where[0] != "127.0.0.1"


@pytest.mark.parametrize("name", ["page", *sorted(list_bridges())])
def test_a_page_of_a_foreign_site_reads_and_commands_nothing(name):
    if name != "page" and (lacking := [m for m in find_bridge(name).needs if importlib.util.find_spec(m) is None]):
        pytest.skip(f"{lacking} is not installed")
    with serving(name) as (sockets, simulation, _):
        names = [*simulation.devices, "joint"]
        for where in sorted(sockets):
            if hidden(where):
                continue
            host = f"{where[0]}:{where[1]}"
            ways = {
                "cross-site": f"Host: {host}\r\nOrigin: {EVIL}\r\nSec-Fetch-Site: cross-site\r\n",
                "an old browser": f"Host: {host}\r\nOrigin: {EVIL}\r\n",
                "a sandboxed frame": f"Host: {host}\r\nOrigin: null\r\n",
                "its name pointed here": f"Host: evil.example:{where[1]}\r\nOrigin: http://evil.example:{where[1]}\r\n",
            }
            asked = {
                (way, kind, text)
                for way, headers in ways.items()
                for protocol in PROTOCOLS
                for kind, text in requests(where[1], headers, protocol).items()
            }
            with ThreadPoolExecutor(len(asked)) as pool:  # each waits for a server that says nothing
                answers = pool.map(lambda one, where=where: ask(where, one[2]), asked)
                for (way, kind, _), answer in zip(asked, answers, strict=True):
                    told = (name, where, way, kind, answer[:200])
                    assert not re.match(rb"HTTP/1\.[01] [123]", answer), told
                    assert not [n for n in names if n.encode() in answer], told


def test_programs_and_pages_of_this_machine_are_served():
    """The same requests as above, without the foreign origin: the sweep refuses because of it."""
    pytest.importorskip("foxglove")
    for name, kind, protocol in (
        ("page", "WebSocket", PROTOCOLS[1]),
        ("foxglove", "WebSocket", PROTOCOLS[0]),
        ("yarp", "read", ""),
    ):
        with serving(name) as (sockets, _, _):
            seen = []
            for where in sockets:
                if not hidden(where):
                    host = f"Host: {where[0]}:{where[1]}\r\n"
                    seen.append(ask(where, requests(where[1], host, protocol)[kind])[:12])
            assert any(answer in (b"HTTP/1.1 101", b"HTTP/1.1 200") for answer in seen), (name, seen)


@pytest.mark.parametrize(
    ("option", "origin", "served"),
    [
        ("", "https://app.foxglove.dev", False),
        ("", "http://localhost:8080", True),
        ("", "file://", True),
        ("", "null", False),
        (",origins=https://app.foxglove.dev", "https://app.foxglove.dev", True),
        (",origins=https://app.foxglove.dev", "https://app.foxglove.dev.evil.example", False),
        (",origins=https://app.foxglove.dev", EVIL, False),
        (",origins=https://a.example https://b.example", "https://b.example", True),
    ],
)
def test_foxglove_of_a_site_is_allowed_by_name(option, origin, served):
    pytest.importorskip("foxglove")
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    robot = load("qbmove-1dof")
    bridge = make_bridge(f"foxglove:port=0{option}", robot)
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer="free") as simulation:
        simulation.start()
        address = bridge.addresses["Foxglove"]
        expected = contextlib.nullcontext() if served else pytest.raises(InvalidStatus, match="403")
        with expected, connect(address, subprotocols=[PROTOCOLS[0]], origin=origin, compression=None) as page:
            assert json.loads(page.recv(10.0))["op"] == "serverInfo"


def test_two_runs_have_different_hidden_addresses():
    from pliant.foxglove.gate import hidden_address

    assert len({hidden_address() for _ in range(50)}) > 45


@pytest.mark.parametrize("text", ["app.foxglove.dev", "https://app.foxglove.dev/", "*", "https://a.example/x"])
def test_an_origin_that_browsers_never_send_is_refused(text):
    from pliant.base.errors import PliantError

    with pytest.raises(PliantError, match="must be sites such as"):
        make_bridge(f"foxglove:origins={text}", load("qbmove-1dof"))
