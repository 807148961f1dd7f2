"""The view in a browser."""

import contextlib
import ipaddress
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from pliant.engine import MujocoEngine
from pliant.errors import BridgeError
from pliant.loading import load
from pliant.simulation import Simulation

pytest.importorskip("mujoco.studio.launch_web")
pytestmark = pytest.mark.network


def free_port() -> int:
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture
def engine():
    return MujocoEngine(load("qbmove-1dof"), check=False)


def test_the_page_is_served_to_this_machine_while_the_simulation_runs(engine, capfd):
    from pliant.viewer import StudioView

    view = StudioView(engine, port=free_port())
    with Simulation(engine, [], [view], pacer="free") as simulation:
        simulation.run(0.05)
        with urllib.request.urlopen(view.url, timeout=10) as answer:
            assert answer.status == 200
            assert b"<html" in answer.read(4096).lower()
        simulation.run(0.05)
        assert view.health()["last_error"] == ""
    assert view.health()["pictures"] >= 1
    with pytest.raises(OSError):
        urllib.request.urlopen(view.url, timeout=2)


OWN = {"Host": "localhost:8080", "Origin": "http://localhost:8080"}
FOREIGN = [
    {"Host": "localhost:8080", "Origin": "http://site.example"},
    {"Host": "localhost:8080", "Origin": "http://localhost:3000"},
    {"Host": "site.example:8080", "Origin": "http://site.example:8080"},
    {"Host": "localhost:8080", "Origin": "null"},
    {"Host": "localhost:8080", "Sec-Fetch-Site": "cross-site"},
]


@contextlib.contextmanager
def serving_a_view(port):
    """Run `pliant view` in a process of its own: MuJoCo Studio does not survive two views in one process."""
    command = [sys.executable, "-m", "pliant", "view", "qbmove-1dof", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr.readline().startswith("view: ")
            yield process
        finally:
            process.kill()


def listening(pid):
    """Return the addresses on which a process takes TCP connections."""
    own = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            own.add(str(descriptor.readlink()))
    found = []
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
            row = line.split()
            if row[3] == "0A" and f"socket:[{row[9]}]" in own:
                address = row[1].partition(":")[0]
                words = [bytes.fromhex(address[k : k + 8])[::-1] for k in range(0, len(address), 8)]
                found.append(str(ipaddress.ip_address(b"".join(words))))
    return found


def answer_to(port, path, headers):
    """Return the head of what is answered to a request, or to a WebSocket's handshake."""
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if not path.startswith("/model"):
        key = "dGhlIHNhbXBsZSBub25jZQ=="
        lines += ["Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall("\r\n".join([*lines, "", ""]).encode())
        data = b""
        while b"\r\n\r\n" not in data:
            piece = client.recv(4096)
            if not piece:
                break
            data += piece
    return data.partition(b"\r\n\r\n")[0].decode().lower()


def test_another_site_can_neither_read_the_model_nor_take_control_nor_drop_a_file():
    port = free_port()
    with serving_a_view(port) as process:
        addresses = listening(process.pid)
        assert len(addresses) >= 2
        assert set(addresses) == {"127.0.0.1"}, addresses
        for path in ("/model", "/model?total_bytes", "/ui?sid=a", "/state?sid=a", "/drop?sid=a"):
            for headers in FOREIGN:
                answer = answer_to(port, path, headers)
                assert answer.startswith("http/1.1 403"), (path, headers, answer)
                assert "access-control-allow-origin" not in answer
            answer = answer_to(port, path, OWN)
            assert answer.startswith("http/1.1 200" if path.startswith("/model") else "http/1.1 101"), (path, answer)
            assert "access-control-allow-origin" not in answer
            assert "cross-origin-resource-policy: same-origin" in answer
            assert "x-frame-options: deny" in answer


def test_the_view_on_every_interface_is_refused(engine):
    from pliant.viewer import StudioView

    for host in ("::", "0.0.0.0"):
        with pytest.raises(BridgeError, match="every interface"):
            StudioView(engine, host=host).start({})


def test_a_port_in_use_is_named(engine):
    from pliant.viewer import StudioView

    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        view = StudioView(engine, port=taken.getsockname()[1])
        with pytest.raises(BridgeError, match="another port"):
            view.start({})
        view.stop()
