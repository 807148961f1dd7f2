"""Frames of the TCP streams, and the packing of a message's fields."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, fields
from typing import Any, Generic, Literal, TypeVar

from pliant.base.errors import WireError

__all__ = [
    "LIBRARIES",
    "SYSTEMS",
    "VERSIONS",
    "FieldCodec",
    "Frame",
    "Framer",
    "check_version",
    "encode_frame",
    "protocol_of_system",
]

M = TypeVar("M")
VERSIONS = range(4, 11)
"""Robot protocol versions that this module speaks (libfranka 0.8 to 0.21)."""

LIBRARIES = {
    4: "0.8",
    5: "0.9",
    6: "0.10 to 0.13.2",
    7: "0.13.3 to 0.13.6",
    8: "0.14",
    9: "0.15 to 0.17",
    10: "0.18 to 0.21",
}
"""Versions of libfranka that speak each protocol version."""

SYSTEMS = {4: (4, 0, 0), 5: (4, 2, 1), 6: (5, 2, 0), 7: (5, 5, 0), 8: (5, 7, 0), 9: (5, 7, 2), 10: (5, 9, 0)}
"""First version of the robot's system that answers each protocol version; the vendor's compatibility table. Systems 4
are those of a FER, systems 5 those of an FR3."""


def protocol_of_system(system: str) -> int:
    """Return the protocol version that a version of the robot's system answers.

    Args:
        system: such as "5.7.2" or "5.9".

    Raises:
        WireError: no version number, or one whose protocol is unknown.
    """
    if not re.fullmatch(r"\d{1,3}\.\d{1,3}(\.\d{1,3})?", system):
        raise WireError(f"{system!r} is no version of the robot's system; must be like 5.9.0", field="system_version")
    number = tuple(int(part) for part in (system + ".0").split(".")[:3])
    found = [version for version, first in SYSTEMS.items() if first[0] == number[0] and first <= number]
    if not found:
        known = ", ".join(".".join(map(str, first)) for first in SYSTEMS.values())
        text = f"the protocol of system version {system} is not known; known are those from {known} on"
        raise WireError(text, field="system_version")
    return max(found)


def check_version(version: int) -> None:
    """Raise a `WireError` for a protocol version that is not one of `VERSIONS`."""
    if version not in VERSIONS:
        raise WireError(f"protocol version {version} is not one of {VERSIONS[0]} to {VERSIONS[-1]}", field="version")


_HEADERS = {"robot": struct.Struct("<III"), "gripper": struct.Struct("<HII")}


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of a TCP stream."""

    command: int
    """Command number, by version."""
    command_id: int
    """The client's running number, repeated in the answer."""
    payload: bytes
    """Bytes that follow the header."""


class Framer:
    """Cut a TCP stream into frames, as the bytes come.

    Args:
        port: ``"robot"`` (12-byte header) or ``"gripper"`` (10 bytes; the vacuum gripper has the same).
        limit: largest frame that is accepted, header included [bytes]. Requests need at most 428.
    """

    def __init__(self, port: Literal["robot", "gripper"] = "robot", *, limit: int = 4096) -> None:
        self._header = _HEADERS[port]
        self._limit = limit
        self._buffer = bytearray()

    @property
    def pending(self) -> int:
        """How many bytes wait for the rest of their frame."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes and return the frames that they complete.

        Raises:
            WireError: a size smaller than the header or larger than the limit; the stream is then lost, since
                the start of the next frame is unknown.
        """
        self._buffer += data
        frames: list[Frame] = []
        head = self._header.size
        start = 0
        try:
            while len(self._buffer) - start >= head:
                command, command_id, size = self._header.unpack_from(self._buffer, start)
                if not head <= size <= self._limit:
                    raise WireError(f"a frame has {size} bytes; must be {head} to {self._limit}", field="size")
                if len(self._buffer) - start < size:
                    break
                frames.append(Frame(command, command_id, bytes(self._buffer[start + head : start + size])))
                start += size
        finally:
            del self._buffer[:start]
        return frames


def encode_frame(port: Literal["robot", "gripper"], command: int, command_id: int, payload: bytes) -> bytes:
    """Return a frame, header included.

    Args:
        port: as of `Framer`.
        command: command number.
        command_id: the client's running number.
        payload: what follows the header.

    Raises:
        WireError: a number does not fit the header.
    """
    header = _HEADERS[port]
    try:
        return header.pack(command, command_id, header.size + len(payload)) + payload
    except struct.error as fault:
        raise WireError(f"command {command}, id {command_id}: {fault}", field="command_id") from None


class FieldCodec(Generic[M]):
    """Pack the fields of one message type as its payload, and unpack them.

    Args:
        kind: the dataclass of the message.
        codes: struct code of each field, a letter and a count such as ``"d7"``; ``"?"`` is a byte that must be 0 or 1.
            Fields beyond the codes are not packed and keep their defaults.
    """

    def __init__(self, kind: type[M], codes: tuple[str, ...]) -> None:
        self.kind = kind
        self._fields = [(f.name, code[0], int(code[1:])) for f, code in zip(fields(kind), codes, strict=False)]
        self._struct = struct.Struct("<" + "".join(code[1:] + code[0].replace("?", "B") for code in codes))

    def pack(self, message: M) -> bytes:
        """Return the payload of a message.

        Raises:
            WireError: a field has another count of numbers, or does not fit.
        """
        flat: list[Any] = []
        for name, _, count in self._fields:
            value = getattr(message, name)
            if count == 1:
                flat.append(value)
            elif len(value) != count:
                raise WireError(f"{self.kind.__name__}.{name} has {len(value)} numbers, not {count}", field=name)
            else:
                flat.extend(value)
        try:
            return self._struct.pack(*flat)
        except (struct.error, TypeError, OverflowError) as fault:
            raise WireError(f"{self.kind.__name__}: {fault}") from None

    def unpack(self, payload: bytes) -> M:
        """Return the message of a payload.

        Raises:
            WireError: a payload of the wrong size, or a flag that is neither 0 nor 1.
        """
        name_of_kind, size = self.kind.__name__, self._struct.size
        if len(payload) != size:
            raise WireError(f"{name_of_kind} has {len(payload)} bytes of payload, not {size}", field="size")
        flat = self._struct.unpack(payload)
        values: dict[str, Any] = {}
        position = 0
        for name, code, count in self._fields:
            part: tuple[Any, ...] = flat[position : position + count]
            position += count
            if code == "?":
                if any(b > 1 for b in part):
                    found = part[0] if count == 1 else part
                    raise WireError(f"{name_of_kind}.{name} is {found}; must be 0 or 1", field=name)
                part = tuple(bool(b) for b in part)
            values[name] = part[0] if count == 1 else part
        return self.kind(**values)
