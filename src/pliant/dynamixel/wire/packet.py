"""Packets of the Dynamixel protocol 2.0: header, length, byte stuffing, CRC-16.

``FF FF FD 00 ID LENGTH_L LENGTH_H INSTRUCTION PARAMETERS... CRC_L CRC_H``. The length counts what follows it. Wherever
``FF FF FD`` stands between instruction and CRC, another ``FD`` is put behind it, so that the header is unique.
Source: ROBOTIS e-Manual, "DYNAMIXEL Protocol 2.0" and "CRC Calculation".
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from pliant.base.errors import WireError

HEADER = b"\xff\xff\xfd\x00"
BROADCAST = 0xFE
"""ID that every servo listens to."""
MAX_LENGTH = 1024
"""Largest length field that is accepted; ROBOTIS' own SDK sends and takes packets of at most 1024 bytes."""
SILENCE_S = 0.1
"""Silence on the line after which an unfinished packet is given up [s]. # assumed"""
_PATTERN, _STUFFED = b"\xff\xff\xfd", b"\xff\xff\xfd\xfd"
_INSTRUCTION = 7
"""Index of the instruction."""


class Instruction(enum.IntEnum):
    """Instructions of the protocol."""

    PING = 0x01
    READ = 0x02
    WRITE = 0x03
    REG_WRITE = 0x04
    ACTION = 0x05
    FACTORY_RESET = 0x06
    REBOOT = 0x08
    CLEAR = 0x10
    STATUS = 0x55
    SYNC_READ = 0x82
    SYNC_WRITE = 0x83
    FAST_SYNC_READ = 0x8A
    BULK_READ = 0x92
    BULK_WRITE = 0x93
    FAST_BULK_READ = 0x9A


class Error(enum.IntEnum):
    """Error numbers in a status packet; `ALERT` is a bit beside them."""

    NONE = 0
    RESULT_FAIL = 1
    INSTRUCTION = 2
    CRC = 3
    DATA_RANGE = 4
    DATA_LENGTH = 5
    DATA_LIMIT = 6
    ACCESS = 7
    ALERT = 0x80


def _make_table() -> tuple[int, ...]:
    rows = []
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ (0x8005 if crc & 0x8000 else 0)
        rows.append(crc & 0xFFFF)
    return tuple(rows)


_TABLE = _make_table()


def crc16(data: bytes, crc: int = 0) -> int:
    """Return the CRC-16 of the protocol: polynomial 0x8005, most significant bit first, initial value 0.

    Args:
        data: bytes from the header on.
        crc: the CRC of what stands before them.
    """
    table = _TABLE
    for byte in data:
        crc = ((crc << 8) & 0xFF00) ^ table[(crc >> 8) ^ byte]
    return crc


@dataclass(frozen=True, slots=True)
class Packet:
    """One packet without its stuffing."""

    id: int
    """ID of the servo that it is for, or that it is from; `BROADCAST` for all."""
    instruction: int
    """One of `Instruction`, or a number that is none."""
    parameters: bytes = b""
    """What follows the instruction; in a status packet the first byte is the error."""
    intact: bool = True
    """Whether its CRC is right."""
    size: int = 0
    """Bytes on the line; 0 if it has not been on one."""


def encode_instruction(servo_id: int, instruction: int, parameters: bytes = b"") -> bytes:
    """Return the bytes of a packet.

    Raises:
        WireError: the ID is no byte, or the packet is too long.

    Example:
        >>> encode_instruction(1, Instruction.PING).hex(" ")
        'ff ff fd 00 01 03 00 01 19 4e'
    """
    if not 0 <= servo_id <= 255:
        raise WireError(f"the ID is {servo_id}; must be from 0 to 255", field="id")
    body = (bytes((instruction,)) + parameters).replace(_PATTERN, _STUFFED)
    length = len(body) + 2
    if length > MAX_LENGTH:
        raise WireError(f"the length of a packet is {length}; must be at most {MAX_LENGTH}", field="length")
    head = HEADER + bytes((servo_id, length & 255, length >> 8)) + body
    return head + crc16(head).to_bytes(2, "little")


def encode_status(servo_id: int, error: int, parameters: bytes = b"") -> bytes:
    """Return the bytes of a status packet."""
    return encode_instruction(servo_id, Instruction.STATUS, bytes((error,)) + parameters)


class PacketReader:
    """Finds the packets in a stream of bytes that may contain anything.

    At most one packet of the largest length is kept. What is no packet is skipped and counted.

    Example:
        >>> reader = PacketReader()
        >>> [p.instruction for p in reader.feed(b"noise" + encode_instruction(1, Instruction.PING))]
        [1]
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._last = 0.0
        self.skipped = 0
        """Bytes that belonged to no packet."""

    def feed(self, data: bytes, now: float | None = None) -> list[Packet]:
        """Return the packets that are complete with these bytes; a damaged one is not ``intact``.

        Args:
            data: what has arrived.
            now: time of arrival [s] of any clock; an unfinished packet is dropped after `SILENCE_S`. None: no limit.
        """
        rest = self._rest
        if now is not None:
            if rest and now - self._last > SILENCE_S:
                self.skipped += len(rest)
                rest.clear()
            self._last = now
        rest += data
        found = []
        while (packet := self._next()) is not None:
            found.append(packet)
        return found

    def _next(self) -> Packet | None:
        rest = self._rest
        while True:
            start = rest.find(HEADER)
            if start < 0:
                # The end may be the beginning of a header.
                keep = next((k for k in (3, 2, 1) if rest.endswith(HEADER[:k])), 0)
                self._skip(len(rest) - keep)
                return None
            self._skip(start)
            if len(rest) < _INSTRUCTION:
                return None
            length = rest[5] | rest[6] << 8
            if not 3 <= length <= MAX_LENGTH:
                self._skip(len(HEADER))
                continue
            total = _INSTRUCTION + length
            # Stuffing keeps headers out of packets: another one before the CRC begins a new packet.
            other = rest.find(HEADER, len(HEADER), min(len(rest), total - 2))
            if other >= 0:
                self._skip(other)
                continue
            if len(rest) < total:
                return None
            raw = bytes(rest[:total])
            del rest[:total]
            body = raw[_INSTRUCTION:-2].replace(_STUFFED, _PATTERN)
            intact = crc16(raw[:-2]) == raw[-2] | raw[-1] << 8
            return Packet(raw[4], body[0], body[1:], intact, total)

    def _skip(self, count: int) -> None:
        if count:
            self.skipped += count
            del self._rest[:count]
