"""Connection headers and frames of TCPROS, the wire of ROS 1."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from pliant.base.errors import WireError

HEADER_LIMIT = 1 << 20
"""Longest connection header [bytes]; full message definitions are in it."""
MESSAGE_LIMIT = 1 << 24
"""Longest message that is read [bytes]."""
REQUEST_LIMIT = 1 << 20
"""Longest request of a service [bytes]: some wait for each client."""
_U32 = struct.Struct("<I")


def encode_header(fields: Mapping[str, str]) -> bytes:
    """Return a connection header with its length in front."""
    body = b""
    for name, value in fields.items():
        item = f"{name}={value}".encode()
        body += _U32.pack(len(item)) + item
    return _U32.pack(len(body)) + body


def decode_header(body: bytes) -> dict[str, str]:
    """Return the fields of a connection header, its length taken off.

    Raises:
        WireError: as `header_fields`.
    """
    fields = header_fields(body, "connection header")
    return {n.decode("utf-8", "replace"): v.decode("utf-8", "replace") for n, v in fields.items()}


def header_fields(body: bytes, what: str) -> dict[bytes, bytes]:
    """Return the fields of a header of a connection or in a bag, its length taken off.

    Args:
        body: the header.
        what: what an error calls it.

    Raises:
        WireError: a field that ends behind the header or has no ``=``.
    """
    fields: dict[bytes, bytes] = {}
    at = 0
    while at < len(body):
        if at + 4 > len(body):
            raise WireError(f"{what}: {len(body) - at} bytes are left at {at}; a length takes 4")
        size = _U32.unpack_from(body, at)[0]
        at += 4
        if at + size > len(body):
            raise WireError(f"{what}: a field of {size} bytes at {at}, the header has {len(body)}")
        name, equals, value = body[at : at + size].partition(b"=")
        if not equals:
            raise WireError(f"{what}: the field {name[:40]!r} has no '='")
        fields[name] = value
        at += size
    return fields


def service_response(body: bytes | None, error: str = "") -> bytes:
    """Return what a server answers: the response with its prefix, or the reason why there is none."""
    if body is not None:
        return b"\x01" + body
    text = error.encode()
    return b"\x00" + _U32.pack(len(text)) + text


class Framer:
    """Cuts a stream into frames, each with its length in front.

    Args:
        limit: longest frame [bytes].
    """

    __slots__ = ("_buffer", "limit")

    def __init__(self, limit: int = MESSAGE_LIMIT) -> None:
        self._buffer = bytearray()
        self.limit = limit

    def __len__(self) -> int:
        """Return how many bytes wait for the end of their frame."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes]:
        """Return the frames that are complete, their lengths included.

        Raises:
            WireError: a frame is longer than the limit.
        """
        buffer = self._buffer
        buffer += data
        frames = []
        at = 0
        while len(buffer) - at >= 4:
            size = _U32.unpack_from(buffer, at)[0]
            if size > self.limit:
                raise WireError(f"a frame of {size} bytes; must be at most {self.limit}")
            if len(buffer) - at < 4 + size:
                break
            frames.append(bytes(buffer[at : at + 4 + size]))
            at += 4 + size
        if at:
            del buffer[:at]
        return frames

    def one(self, data: bytes) -> tuple[bytes | None, bytes]:
        """Return the first frame, if it is complete, and what came behind it."""
        self._buffer += data
        if len(self._buffer) >= 4:
            size = _U32.unpack_from(self._buffer, 0)[0]
            if size > self.limit:
                raise WireError(f"a frame of {size} bytes; must be at most {self.limit}")
            if len(self._buffer) >= 4 + size:
                frame, rest = bytes(self._buffer[: 4 + size]), bytes(self._buffer[4 + size :])
                self._buffer.clear()
                return frame, rest
        return None, b""
