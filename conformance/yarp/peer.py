"""A client of YARP ports with bytes of its own: nothing of pliant is imported, so a mistake in pliant's is seen.

Floats are written as the dialect has them: tag 10 (YARP 3) or 20 (YARP 4). Values: int, float, str, list, `V` for a
vocabulary.
"""

from __future__ import annotations

import socket
import struct
import threading
import zlib

ACK = b"YA\0\0\0\0RP"


class V(str):
    """A vocabulary."""


def code(word: str) -> int:
    """Return the integer of a vocabulary."""
    return int.from_bytes(word.encode().ljust(4, b"\0"), "little")


def tag(value: object, dialect: int) -> int:
    """Return the tag of a value."""
    if isinstance(value, V):
        return 9
    if isinstance(value, str):
        return 4
    if isinstance(value, float):
        return 10 if dialect == 3 else 20
    return 1


def write(value: object, dialect: int, tagged: bool = False) -> bytes:
    """Return the bytes of a list; with ``tagged`` each element has a tag, as the calls of YARP 4 have them."""
    if not isinstance(value, list):
        if isinstance(value, V):
            return struct.pack("<I", code(value))
        if isinstance(value, str):
            return struct.pack("<i", len(value)) + value.encode()
        return struct.pack("<d" if isinstance(value, float) else "<i", value)
    kinds = {tag(v, dialect) if not isinstance(v, list) else 0 for v in value}
    if len(kinds) == 1 and kinds != {0} and not tagged:
        return struct.pack("<2i", 256 | kinds.pop(), len(value)) + b"".join(write(v, dialect) for v in value)
    parts = [struct.pack("<2i", 256, len(value))]
    for v in value:
        parts.append(b"" if isinstance(v, list) else struct.pack("<i", tag(v, dialect)))
        parts.append(write(v, dialect))
    return b"".join(parts)


def read(data: bytes, dialect: int, at: int = 0) -> tuple[object, int]:
    """Return the value whose tag begins at a byte, and where it ends; a byte too few is an IndexError."""
    (kind,) = struct.unpack_from("<i", data, at)
    at += 4
    if kind & 256:
        (count,) = struct.unpack_from("<i", data, at)
        at += 4
        items = []
        for _ in range(count):
            if kind == 256:
                item, at = read(data, dialect, at)
            else:
                item, at = plain(data, kind & ~256, dialect, at)
            items.append(item)
        return items, at
    return plain(data, kind, dialect, at)


def plain(data: bytes, kind: int, dialect: int, at: int) -> tuple[object, int]:
    """Return a value without a tag, and where it ends."""
    if kind == 9:
        return V(data[at : at + 4].rstrip(b"\0").decode()), at + 4
    if kind in (4, 12):
        (size,) = struct.unpack_from("<i", data, at)
        raw = data[at + 4 : at + 4 + size]
        return (raw.decode() if kind == 4 else raw), at + 4 + size
    forms = {1: "<i", 32: "<b", 64: "<h", 17: "<q"} | ({10: "<d", 128: "<f"} if dialect == 3 else {20: "<d", 10: "<f"})
    form = forms[kind]
    return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)


def message(payload: bytes, letter: bytes) -> bytes:
    """Return a message with its index and its command header."""
    header = b"\0\0\0\0~" + letter + b"\0\1"
    return b"YA\x0a\0\0\0RP\x02\x01" + b"\xff" * 8 + struct.pack("<3i", len(header), len(payload), 0) + header + payload


def names(server: tuple[str, int], line: str) -> str:
    """Return the name server's answer to a line."""
    with socket.create_connection(server, timeout=10) as sock:
        sock.sendall(f"NAME_SERVER {line}\r\n".encode())
        said = b""
        while not said.endswith(b"*** end of message\r\n") and said != b"[ok]\r\n":
            said += sock.recv(65536)
    return said.decode()


def where(server: tuple[str, int], name: str) -> tuple[str, int]:
    """Return the address of a port."""
    words = names(server, f"query {name}").split()
    return words[words.index("ip") + 1], int(words[words.index("port") + 1])


def admin(address: tuple[str, int], line: str) -> str:
    """Return the reply to an administrative command as text."""
    with socket.create_connection(address, timeout=10) as sock:
        sock.sendall(f"CONNACK admin\r\na\r\n{line}\r\n".encode())
        said = b""
        while not said.endswith(b"<ACK>\r\n"):
            said += sock.recv(65536)
    assert said.startswith(b"Welcome admin\r\n")
    return said[len(b"Welcome admin\r\n") : -len(b"<ACK>\r\n")].decode()


class Stream:
    """A connection into a port.

    Args:
        address: of the port.
        sender: name of the port that it claims to come from.
        carrier: number of the carrier: 131 tcp, 3 fast_tcp, 0 udp.
    """

    def __init__(self, address: tuple[str, int], sender: str, carrier: int = 131) -> None:
        self.sock = socket.create_connection(address, timeout=10)
        self.carrier = carrier
        name = sender.encode() + b"\0"
        self.sock.sendall(b"YA" + struct.pack("<i", 7777 + carrier) + b"RP" + struct.pack("<i", len(name)) + name)
        answer = self.take(8)
        assert answer[:2] == b"YA"
        assert answer[6:] == b"RP"
        self.number = struct.unpack_from("<i", answer, 2)[0]
        self.address = address

    def take(self, size: int) -> bytes:
        """Return so many bytes."""
        data = b""
        while len(data) < size:
            piece = self.sock.recv(size - len(data))
            assert piece, f"the port closed after {data!r}"
            data += piece
        return data

    def send(self, payload: bytes) -> None:
        """Send data that wants no reply."""
        data = message(payload, b"D")
        if self.carrier == 0:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
                udp.sendto(struct.pack("<Ii", zlib.crc32(data), 0) + data, (self.address[0], self.number))
            return
        self.sock.sendall(data)
        if self.carrier & 128:
            assert self.take(8) == ACK

    def call(self, payload: bytes, dialect: int) -> object:
        """Return the reply to a call; what is behind it must be the acknowledgement."""
        self.sock.sendall(message(payload, b"d"))
        data = b""
        while True:
            piece = self.sock.recv(65536)
            assert piece, f"the port closed after {data!r}"
            data += piece
            if data.endswith(ACK):
                if data == ACK:
                    return None
                try:
                    value, end = read(data, dialect)
                except (struct.error, IndexError):
                    continue
                assert data[end:] == ACK, data
                return value

    def close(self) -> None:
        """Close the connection."""
        self.sock.close()


class Reader:
    """A registered port that takes one stream by tcp or fast_tcp and reads what is in its messages.

    Args:
        server: the name server.
        name: of the port.
        dialect: of its YARP; the administrative command [pid] was removed in YARP 4.
    """

    def __init__(self, server: tuple[str, int], name: str, dialect: int = 3) -> None:
        self.server, self.name = server, name
        self.pid = '1 "" 4711' if dialect == 3 else '[fail] "send [help] for list of valid commands"'
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(10)
        names(server, f"register {name} tcp 127.0.0.1 {self.listener.getsockname()[1]}")
        names(server, f"announce {name}")
        # Whoever connects waits for the answer to its greeting, and the administrator for it.
        self.greeter = threading.Thread(target=self._greet, daemon=True)
        self.greeter.start()

    def accept(self) -> None:
        """Wait for a connection whose greeting was answered."""
        self.greeter.join(15)
        assert hasattr(self, "sender"), "nobody connected"

    def _greet(self) -> None:
        while True:
            self.sock = self.listener.accept()[0]
            self.sock.settimeout(10)
            head = self.take(12)
            if not head.startswith(b"CONNACK "):
                break
            with self.sock:  # an administrator asks for one thing
                question = head
                while question.count(b"\n") < 3:
                    question += self.take(1)
                assert question == b"CONNACK admin\r\na\r\n[pid]\r\n"
                self.sock.sendall(f"Welcome admin\r\n{self.pid}\r\n<ACK>\r\n".encode())
        self.carrier = struct.unpack_from("<i", head, 2)[0] - 7777
        sender = self.take(struct.unpack_from("<i", head, 8)[0])[:-1].decode()
        self.sock.sendall(b"YA" + struct.pack("<i", 1) + b"RP")
        self.sender = sender

    def take(self, size: int) -> bytes:
        """Return so many bytes."""
        data = b""
        while len(data) < size:
            piece = self.sock.recv(size - len(data))
            assert piece, "the writer closed"
            data += piece
        return data

    def message(self) -> tuple[str, bytes]:
        """Return the envelope and the payload of the next message."""
        head = self.take(18)
        assert head[:8] == b"YA\x0a\0\0\0RP"
        lengths = struct.unpack(f"<{head[8] + head[9]}i", self.take(4 * (head[8] + head[9])))
        data = self.take(sum(lengths))
        if self.carrier & 128:
            self.sock.sendall(ACK)
        (size,) = struct.unpack_from("<i", data)
        assert data[4:5] == b"~"
        text = data[8 : 8 + size].rstrip(b"\0").decode()
        assert text.startswith("D ") if size else data[5:6] == b"D"
        return text[2:], data[8 + size :]

    def close(self) -> None:
        """Unregister and close."""
        names(self.server, f"unregister {self.name}")
        self.listener.close()
        if hasattr(self, "sock"):
            self.sock.close()
