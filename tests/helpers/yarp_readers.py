"""Ports that read, refuse, acknowledge and answer like those of a version of YARP, with bytes of their own."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading

ACKNOWLEDGEMENT = b"YA\0\0\0\0RP"
DIALECTS = {"3.5": 3, "3.10": 3, "3.11": 3, "3.12": 3, "4.0": 4}
LISTS = {"3.5": 10, "3.10": 10, "3.11": 12, "3.12": 12, "4.0": 12}
"""Lists of a sensor message that each version reads."""

GROUPS = (
    "ThreeAxisGyroscopes", "ThreeAxisLinearAccelerometers", "ThreeAxisMagnetometers", "OrientationSensors",
    "TemperatureSensors", "SixAxisForceTorqueSensors", "ContactLoadCellArrays", "EncoderArrays", "SkinPatches",
    "PositionSensors", "LinearVelocitySensors", "ThreeAxisAngularAccelerometers",
)  # fmt: skip
"""Fields of SensorStreamingData in multipleAnalogSensorsSerializations.thrift; tags up to 3.10 have the first ten."""
FLOAT64 = {3: 10, 4: 20}
"""Tag of a double by dialect, Bottle.h of the tags."""


def write_streaming_data(version: str, groups: dict[str, list[tuple[tuple[float, ...], float]]]) -> bytes:
    """Return the bytes that the generated code of a version writes for measurements: (numbers, time) by field."""
    tag = FLOAT64[DIALECTS[version]]
    data = struct.pack("<2i", 256, LISTS[version])
    for field in GROUPS[: LISTS[version]]:
        records = groups.get(field, [])
        data += struct.pack("<2i", 256, len(records))
        for numbers, stamp in records:
            data += struct.pack(f"<4i{len(numbers)}d", 256, 2, 256 + tag, len(numbers), *numbers)
            data += struct.pack("<id", tag, stamp)
    return data


def read_streaming_data(version: str, data: bytes) -> dict[str, list[tuple[tuple[float, ...], float]]]:
    """Return what the generated code of a version reads; it asserts each tag and length, as that code refuses."""
    tag, at, found = FLOAT64[DIALECTS[version]], 0, {}

    def take(form: str) -> tuple:
        nonlocal at
        values = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        return values

    assert take("<2i") == (256, LISTS[version])
    for field in GROUPS[: LISTS[version]]:
        kind, count = take("<2i")
        assert kind == 256
        for _ in range(count):
            assert take("<2i") == (256, 2)
            kind, size = take("<2i")
            assert kind == 256 + tag
            numbers = take(f"<{size}d")
            kind, stamp = take("<id")
            assert kind == tag
            found.setdefault(field, []).append((numbers, stamp))
    assert at == len(data)
    return found


class StockReader:
    """A port of a version of YARP at which programs read; use as a context.

    Args:
        version: one of `DIALECTS`.
        kind: ``sensors`` reads messages of multiple analog sensors and refuses others; ``any`` reads all; ``deaf``
            accepts connections and says nothing.
    """

    def __init__(self, version: str, kind: str = "sensors") -> None:
        self.version, self.kind = version, kind
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.messages: list[bytes] = []
        """Payloads that were read as a whole."""
        self.refused = 0
        """Payloads of another layout."""
        self._arrived = threading.Condition()
        self._threads = [threading.Thread(target=self._accept)]
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> StockReader:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for sock in self._sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10.0)

    def wait(self, count: int, timeout: float = 10.0) -> list[bytes]:
        """Return the first messages."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.messages) >= count, timeout), (
                f"{len(self.messages)} messages, {self.refused} refused"
            )
            return self.messages[:count]

    def _accept(self) -> None:
        while True:
            try:
                sock = self.listener.accept()[0]
            except OSError:
                return
            self._sockets.append(sock)
            thread = threading.Thread(target=self._serve, args=(sock,))
            thread.start()
            self._threads.append(thread)

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError), contextlib.closing(sock):
            if self.kind == "deaf":
                sock.recv(1)
                while sock.recv(4096):
                    pass
                return
            first = _take(sock, 8)
            if first == b"CONNACK ":
                self._administrate(sock)
                return
            (size,) = struct.unpack("<i", _take(sock, 4))
            _take(sock, size)
            sock.sendall(b"YA" + struct.pack("<i", self.port) + b"RP")
            while True:
                self._read(sock)

    def _administrate(self, sock: socket.socket) -> None:
        lines = sock.makefile("rb")
        lines.readline()
        sock.sendall(b"Welcome admin\r\n")
        while lines.readline().strip() == b"a":
            known = lines.readline().strip() == b"[pid]" and DIALECTS[self.version] == 3
            reply = f'1 "" {os.getpid()}' if known else '[fail] "send [help] for list of valid commands"'
            sock.sendall(reply.encode() + b"\r\n<ACK>\r\n")

    def _read(self, sock: socket.socket) -> None:
        """Read a message, as YARP's generated records do: element by element, whatever length is announced."""
        head = _take(sock, 18)
        assert head[:8] == b"YA\x0a\0\0\0RP"
        lengths = struct.unpack(f"<{head[8] + head[9]}i", _take(sock, 4 * (head[8] + head[9])))
        header = _take(sock, lengths[0])
        assert header[4:5] == b"~", header
        if header[5:6] != b"D" and not header[8:].startswith(b"D "):
            return  # a farewell
        start = _take(sock, 8)
        _, count = struct.unpack("<2i", start)
        if self.kind == "sensors" and count != LISTS[self.version]:
            self.refused += 1
            rest = sum(lengths) - len(header) - 8
            sock.sendall(ACKNOWLEDGEMENT)
            _take(sock, rest)
            return
        rest = max(1, sum(lengths) - len(header) - 8)  # it waits for elements that were not sent
        payload = start + _take(sock, rest)
        sock.sendall(ACKNOWLEDGEMENT)
        with self._arrived:
            self.messages.append(payload)
            self._arrived.notify_all()


def _take(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = sock.recv(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data
