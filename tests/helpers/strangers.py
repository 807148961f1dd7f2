"""What a stranger may do at every port that a process listens on, whatever is spoken there.

Random bytes, the first packets of all protocols of pliant whole, cut, mutated and with lengths that lie, at each port;
connections that say nothing and connections that drip a byte now and then stay open meanwhile, and until a client has
been served.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import random
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

Port = tuple[str, str, int]
"""Protocol, address and number."""

MOST_GROWN = 150e6
"""Most memory that strangers may cost [bytes]: what they send in a sweep of the long form is some hundred MB."""
FRANKA_CONNECT = struct.pack("<II", 0, 0)
"""Begin of the packet with which a client takes a Franka arm."""
FILLER = 60_000
"""Bytes behind a packet whose length lies, so that a reader that believes it has begun to collect."""


def listening(pid: int | str = "self") -> set[Port]:
    """Return the ports of TCP that a process listens on, and those of UDP that it reads."""
    inodes = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.add(str(entry.readlink()).removeprefix("socket:[").rstrip("]"))
    found: set[Port] = set()
    for kind, state in (("tcp", "0A"), ("udp", "07")):
        for line in Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()[1:]:
            words = line.split()
            address, number = words[1].split(":")
            if words[3] == state and words[9] in inodes:
                host = socket.inet_ntoa(struct.pack("=I", int(address, 16)))
                found.add((kind, host, int(number, 16)))
    return found


def first_packets() -> list[bytes]:
    """Return what programs say first to pliant, in each of its protocols."""
    from pliant.dynamixel.wire import Instruction, encode_instruction
    from pliant.ros.wire import encode_header
    from pliant.ros.wire.rtps.messages import (
        AckNack,
        Data,
        DataFrag,
        Gap,
        Header,
        Heartbeat,
        InfoDestination,
        NackFrag,
        encode_message,
    )
    from pliant.ros.wire.rtps.parameters import ParticipantData, encode_participant
    from pliant.yarp.wire import Command, Hello, Message, Query, TextHello, encode_bottle, parse_bottle

    upgrade = (
        b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        b"Sec-WebSocket-Version: 13\r\n"
    )
    said = Message(Command("d"), encode_bottle(parse_bottle("[set] (a 1)"), 3)).encode()
    prefix = bytes(range(12))
    guid = prefix + b"\0\0\1\xc1"
    to, entity = InfoDestination(prefix=prefix), b"\0\0\1\3"
    told = encode_participant(ParticipantData(guid=guid, name="stranger"))
    submessages = (
        Data(writer=b"\0\1\0\xc2", sequence=1, payload=told),
        Heartbeat(writer=entity, first=1, last=9, count=1),
        AckNack(reader=entity, writer=b"\0\0\3\xc2", base=1, missing=(1, 2, 200), count=1),
        Gap(reader=entity, writer=entity, start=1, base=5, others=(7,)),
        NackFrag(reader=entity, writer=entity, sequence=1, missing=(1, 9), count=1),
        DataFrag(writer=b"\0\0\3\xc2", sequence=1, first=1, count=1, fragment_size=1, sample_size=1 << 22,
                 payload=bytes(40)),
    )  # fmt: skip
    return [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + upgrade + b"\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 00000000000000000000999999999\r\n\r\n<a>",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n",
        encode_header({"callerid": "/x", "topic": "/clock", "md5sum": "*", "type": "rosgraph_msgs/Clock"}),
        encode_header({"callerid": "/x", "service": "/pliant/pause", "md5sum": "*", "probe": "1"}) + b"\0\0\0\0",
        Hello(carrier="tcp", sender="/stranger").encode() + said,
        Hello(carrier="fast_tcp", sender="/stranger").encode() + said,
        Hello(carrier="udp", sender="/stranger").encode(),
        TextHello("/stranger", True).encode() + b"d\r\n(1 2)\r\n",
        Query(("query", "/clock")).encode(),
        FRANKA_CONNECT + struct.pack("<IHH", 16, 10, 1),
        FRANKA_CONNECT + struct.pack("<IHH", 16, 3, 1),
        encode_instruction(1, Instruction.PING, b""),
        encode_instruction(254, Instruction.SYNC_READ, b"\x84\0\4\0\1\2"),
        *(encode_message(Header(prefix=prefix), (to, submessage)) for submessage in submessages),
    ]


class Strangers:
    """Talks to ports.

    Args:
        chance: where randomness comes from.
        ports: the ports.
        stay: connections of TCP that stay, of all ports together; half of them say nothing.
    """

    def __init__(self, chance: random.Random, ports: set[Port], stay: int) -> None:
        from fuzz import LIES, Mutator

        self._lies, self._chance = LIES, chance
        self._ports = sorted(ports)
        self._packet = Mutator(chance, first_packets())
        self.sent = 0
        """Frames that were sent."""
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
        self._idle: list[socket.socket] = []
        self._drips: list[tuple[socket.socket, Iterator[int]]] = []
        tcp = [(host, number) for kind, host, number in self._ports if kind == "tcp"]
        for address in tcp * max(2, stay // (2 * max(1, len(tcp)))):
            with contextlib.suppress(OSError):
                self._idle.append(socket.create_connection(address, timeout=5.0))
                sock = socket.create_connection(address, timeout=5.0)
                self._drips.append((sock, itertools.chain(self._said_first(), itertools.repeat(0x61))))

    def _said_first(self) -> bytes:
        """Return a packet whose sender may stay without keeping others out, as the one client of a Franka arm does."""
        while (packet := self._packet.valid()).startswith(FRANKA_CONNECT):
            pass
        return packet

    def go_on(self, frames: int) -> None:
        """Send at least so many frames, to each port in turn."""
        for (kind, host, number), _ in zip(itertools.cycle(self._ports), range(frames), strict=False):
            if kind == "udp":
                with contextlib.suppress(OSError):
                    self._udp.sendto(self._frame()[:60_000] or b"x", (host, number))
            else:
                self._connect(host, number)
            self.sent += 1
            if self._drips:
                sock, text = self._drips[self.sent % len(self._drips)]
                with contextlib.suppress(OSError):
                    sock.send(bytes([next(text)]), socket.MSG_DONTWAIT)

    def _frame(self) -> bytes:
        chance, packet = self._chance, self._packet
        kind = chance.randrange(6)
        if kind == 0:
            return chance.randbytes(chance.choice((1, 3, 20, 200, 3000)))
        if kind == 1:  # cut
            data = packet.valid()
            return data[: chance.randrange(1, len(data))]
        if kind == 2:  # a length that lies, and more to come
            data = bytearray(packet.valid())
            form, size = chance.choice((("<I", 4), (">I", 4), ("<H", 2), (">H", 2)))
            lie = chance.choice(self._lies) & ((1 << 8 * size) - 1)
            struct.pack_into(form, data, chance.randrange(len(data) - size), lie)
            return bytes(data) + chance.randbytes(chance.choice((0, 100, FILLER)))
        if kind == 3:
            return packet.valid() + chance.randbytes(chance.randrange(300))
        if kind == 4:  # a line, a name or a header without end
            return packet.valid()[:12] + b"a" * chance.choice((100, FILLER))
        return packet()

    def _connect(self, host: str, number: int) -> None:
        with contextlib.suppress(OSError), socket.create_connection((host, number), timeout=5.0) as sock:
            if self._chance.random() < 0.3:  # it breaks off
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            for _ in range(self._chance.choice((1, 1, 2, 4))):
                sock.sendall(self._frame())
            if self._chance.random() < 0.3:
                sock.shutdown(socket.SHUT_WR)
                sock.settimeout(0.02)  # some wait a little for an answer
                sock.recv(1 << 16)

    def close(self) -> None:
        """Leave."""
        for sock in (self._udp, *self._idle, *(sock for sock, _ in self._drips)):
            sock.close()


@contextlib.contextmanager
def strangers(chance: random.Random, ports: set[Port], frames: int, *, pid: int | str = "self") -> Iterator[Strangers]:
    """Let strangers talk to ports, and stay while the block serves its clients.

    Args:
        chance: where randomness comes from.
        ports: the ports.
        frames: how many frames are sent.
        pid: the process that listens.

    Raises:
        AssertionError: no port is open, the process grows, or it has printed a traceback.
    """
    from fuzz import memory

    assert ports, "the process listens nowhere"
    said = io.StringIO()
    made = Strangers(chance, ports, stay=20 if frames < 2000 else 300)
    try:
        with contextlib.redirect_stderr(said):
            made.go_on(frames // 10)  # what is imported and kept for the first client is no growth
            before = memory(pid)
            made.go_on(frames)
            grown = memory(pid) - before
            yield made
    finally:
        made.close()
        sys.stderr.write(said.getvalue())
    assert grown < MOST_GROWN, f"{made.sent} frames to {sorted(ports)} cost {grown / 1e6:.0f} MB"
    assert "Traceback" not in said.getvalue(), said.getvalue()[-3000:]
