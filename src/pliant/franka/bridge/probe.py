"""Recognition of the server at the address of an arm, pliant or a real robot, for ``pliant doctor --bridge fci``."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import socket
import struct
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pliant.base.errors import WireError
from pliant.base.finding import Finding
from pliant.franka.wire import fci

if TYPE_CHECKING:
    from pliant.franka.bridge.options import FciOptions

ANSWER_S = 1.0
"""Longest wait for an answer and for a state, as libfranka waits [s]."""
MEASURED_S = 0.5
"""How long states are counted [s]."""
KEEPS_UP = 0.98
"""Fraction of 1 kHz below which robot time is said to be slower than the wall clock."""  # assumed
CLIENTS = {"pylibfranka": 10, "franky": 10, "panda_py": 5}
"""Package -> protocol version of its builds on the package index."""


def probe(options: FciOptions) -> Iterator[Finding]:
    """Yield findings on the robot's port, its protocol versions, the rate of its states, hand, and installed clients.

    Only Connect is sent: nothing moves, and nothing is set.

    Args:
        options: host and ports; the others are not looked at.
    """
    place = f"{options.host}:{options.port}"
    try:
        with ClientConnection(options.host, options.port, fci.VERSIONS[-1]) as first:
            theirs = first.theirs
        answered = [version for version in fci.VERSIONS if _answers(options, version)]
        with ClientConnection(options.host, options.port, max(answered, default=theirs)) as last:
            rate = list(_rate(last)) if answered else []
    except ConnectionRefusedError:
        advice = "start one: pliant run fr3 --bridge fci"
        yield Finding(group="fci", name="robot", status="error", found=f"nothing listens at {place}", advice=advice)
        return
    except ConnectionResetError:
        text, advice = f"{place} refuses: it serves another client", "end the other client"
        yield Finding(group="fci", name="robot", status="warning", found=text, advice=advice)
        return
    except (OSError, WireError, struct.error) as fault:
        text = f"{place} does not answer as a Franka arm: {fault}"
        yield Finding(group="fci", name="robot", status="error", found=text)
        return
    yield Finding(group="fci", name="robot", status="ok", found=f"answers at {place}")
    text = ", ".join(f"{v} (libfranka {fci.LIBRARIES[v]})" for v in answered) or f"{theirs}, which pliant does not know"
    yield Finding(group="fci", name="protocol", status="ok" if answered else "error", found=text)
    for status, found, advice in rate:
        yield Finding(group="fci", name="real-time rate", status=status, found=found, advice=advice)
    for port, name, version in (
        (options.gripper_port, "hand", fci.GRIPPER_VERSION),
        (options.vacuum_port, "vacuum gripper", fci.VACUUM_VERSION),
    ):
        try:
            with ClientConnection(options.host, port, version, "gripper") as tool:
                found = f"answers at port {port}, version {tool.theirs}"
        except (OSError, WireError, struct.error):
            found = f"none at port {port}"
        yield Finding(group="fci", name=name, status="note" if found.startswith("none") else "ok", found=found)
    for package, version in CLIENTS.items():
        if importlib.util.find_spec(package) is not None:
            fits = version in answered
            text = f"speaks version {version}" + ("" if fits else ", which this arm refuses")
            advice = "" if fits else "run the arm of that version, or --bridge fci:system_version=any"
            yield Finding(group="fci", name=package, status="ok" if fits else "note", found=text, advice=advice)


def _answers(options: FciOptions, version: int) -> bool:
    with ClientConnection(options.host, options.port, version) as tried:
        return tried.accepted


def _rate(connection: ClientConnection) -> Iterator[tuple[str, str, str]]:
    """Yield status, text and advice on the states that come in `MEASURED_S`."""
    arrivals: list[tuple[int, float]] = []
    until = time.perf_counter() + MEASURED_S
    try:
        while time.perf_counter() < until:
            data = connection.udp.recv(4096)
            arrivals.append((int.from_bytes(data[:8], "little"), time.perf_counter()))
    except OSError:
        yield "error", f"no state came within {ANSWER_S:g} s", "a firewall may drop UDP between the machines"
        return
    (first, began), (last, ended) = arrivals[0], arrivals[-1]
    cycles, wall = last - first, ended - began
    rate = cycles / wall / 1000.0 if wall > 0.0 else 0.0
    lost = cycles + 1 - len(arrivals)
    gap = max((b - a for (_, a), (_, b) in itertools.pairwise(arrivals)), default=0.0)
    text = f"{rate:.3f}: {cycles} cycles in {wall:.2f} s, {lost} states lost, longest gap {gap * 1e3:.1f} ms"
    slow = rate < KEEPS_UP
    advice = "the machine is loaded; mode=lockstep and mode=paced lose nothing all the same" if slow else ""
    yield "warning" if slow else "ok", text, advice


class ClientConnection:
    """A client's connection to a port of an arm that has said Connect.

    Args:
        host: address of the arm.
        port: of the arm, the hand or the vacuum gripper.
        version: protocol version of the client.
        kind: whose header the frames have.

    Raises:
        OSError: nobody answers there.
        WireError, struct.error: what answers is no such tool.
    """

    def __init__(self, host: str, port: int, version: int, kind: Literal["robot", "gripper"] = "robot") -> None:
        self._stack = contextlib.ExitStack()
        with self._stack:
            self.tcp = tcp = self._stack.enter_context(socket.create_connection((host, port), timeout=ANSWER_S))
            self.udp = self._stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            self.udp.bind((tcp.getsockname()[0], 0))
            self.udp.settimeout(ANSWER_S)
            payload = struct.pack("<HH", version, self.udp.getsockname()[1])
            tcp.sendall(fci.encode_frame(kind, 0, 0, payload))
            self._framer = fci.Framer(kind)
            frames: list[fci.Frame] = []
            while not frames:
                frames = self.receive()
            status, self.theirs = struct.unpack("<BH" if kind == "robot" else "<HH", frames[0].payload)
            self.accepted = status == 0
            """Whether the version is served."""
            self._stack = self._stack.pop_all()

    def receive(self) -> list[fci.Frame]:
        """Return the answers that have arrived.

        Raises:
            OSError: the connection was closed, or nothing came in the time of the socket.
            WireError: the bytes are no frames.
        """
        data = self.tcp.recv(4096)
        if not data:
            raise ConnectionResetError("the connection was closed")
        return self._framer.feed(data)

    def close(self) -> None:
        """Close both sockets; may be called twice."""
        self._stack.close()

    def __enter__(self) -> ClientConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
