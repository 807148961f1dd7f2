"""A line with servos: which of them take an instruction, and what they answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pliant.dynamixel.memory import Refused
from pliant.dynamixel.servo import Servo
from pliant.dynamixel.wire import BROADCAST, Error, Instruction, Packet, crc16, encode_status
from pliant.dynamixel.wire.packet import HEADER, MAX_LENGTH

PING_ONLY, READS = 0, 1
"""Status Return Level: packets are sent for pings only, for pings and reads; with 2 for all instructions."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Bytes that servos send."""

    data: bytes
    """The bytes."""
    delay: float
    """Time before their first byte [s], the Return Delay Time of the servos that send them."""
    baud: int
    """Rate at which they are sent [bit/s]."""


class Line:
    """Several servos on one line.

    Args:
        servos: the servos; they answer in the order of their IDs.
    """

    def __init__(self, servos: Iterable[Servo]) -> None:
        self.servos = list(servos)
        self.refusals = 0
        """Instructions that were refused."""
        self.last_refusal = ""
        """Why the last one was."""
        self._one: dict[int, Callable[[Servo, bytes], bytes | None]] = {
            Instruction.PING: _ping,
            Instruction.READ: _read,
            Instruction.WRITE: lambda servo, p: servo.write(*_written(p)),
            Instruction.REG_WRITE: lambda servo, p: servo.register(*_written(p)),
            Instruction.ACTION: lambda servo, _: servo.act(),
            Instruction.FACTORY_RESET: _factory_reset,
            Instruction.REBOOT: lambda servo, _: servo.reboot(),
            Instruction.CLEAR: _clear,
        }
        self._many: dict[int, Callable[[bytes], list[Reply]]] = {
            Instruction.SYNC_READ: lambda p: self._read_each(_sync_read_parts(p)),
            Instruction.BULK_READ: lambda p: self._read_each(_bulk_read_parts(p)),
            Instruction.FAST_SYNC_READ: lambda p: self._read_chain(_sync_read_parts(p)),
            Instruction.FAST_BULK_READ: lambda p: self._read_chain(_bulk_read_parts(p)),
            Instruction.SYNC_WRITE: lambda p: self._write_each(_sync_write_parts(p)),
            Instruction.BULK_WRITE: lambda p: self._write_each(_bulk_write_parts(p)),
        }

    def answer(self, packet: Packet) -> list[Reply]:
        """Carry out an instruction.

        Args:
            packet: the instruction; a status packet, which only servos send, is ignored.

        Returns:
            What the servos send, in their order; nothing where a real line stays silent.
        """
        if packet.instruction == Instruction.STATUS:
            return []
        addressed = self._addressed(packet.id)
        if not packet.intact:
            replies = [self._status(servo, Error.CRC) for servo in addressed if packet.id != BROADCAST]
            return self._collide([reply for reply in replies if reply is not None])
        for servo in self.servos:
            servo.hear()
        many = self._many.get(packet.instruction)
        if many is not None:
            return many(packet.parameters) if packet.id == BROADCAST else []
        if packet.id == BROADCAST:
            return self._broadcast(packet)
        shadows = [s for s in self.servos if s.memory["Secondary(Shadow) ID"] == packet.id and s not in addressed]
        for servo in shadows:
            self._carry_out(servo, packet)
        replies = [self._carry_out(servo, packet) for servo in addressed]
        return self._collide([reply for reply in replies if reply is not None])

    # ------------------------------------------------------------------ one servo
    def _addressed(self, servo_id: int) -> list[Servo]:
        if servo_id == BROADCAST:
            return sorted(self.servos, key=lambda servo: servo.id)
        return [servo for servo in self.servos if servo.id == servo_id]

    def _carry_out(self, servo: Servo, packet: Packet) -> Reply | None:
        """Let one servo carry out an instruction, and return its status packet if it sends one."""
        action = self._one.get(packet.instruction)
        # What decides about the answer is what was in force when the instruction came.
        servo_id, level = servo.id, servo.memory["Status Return Level"]
        error, parameters = Error.NONE, b""
        try:
            if action is None:
                raise Refused(Error.INSTRUCTION, f"there is no instruction 0x{packet.instruction:02x}")
            parameters = action(servo, packet.parameters) or b""
        except Refused as refused:
            error = refused.number
            self._refuse(servo_id, refused)
        if packet.instruction == Instruction.PING or level > READS:
            return self._reply(servo, servo_id, error, parameters)
        if packet.instruction == Instruction.READ and level > PING_ONLY:
            return self._reply(servo, servo_id, error, parameters)
        return None

    def _status(self, servo: Servo, error: Error) -> Reply | None:
        if servo.memory["Status Return Level"] <= READS:
            return None
        return self._reply(servo, servo.id, error, b"")

    def _reply(self, servo: Servo, servo_id: int, error: int, parameters: bytes) -> Reply:
        return Reply(encode_status(servo_id, error | servo.alert, parameters), servo.return_delay, servo.baud)

    def _collide(self, replies: list[Reply]) -> list[Reply]:
        """Return one damaged packet where several servos of the same ID have answered at once."""
        if len(replies) < 2:
            return replies
        first = replies[0]
        return [Reply(first.data[:-2] + bytes(byte ^ 0xFF for byte in first.data[-2:]), first.delay, first.baud)]

    def _refuse(self, servo_id: int, refused: Refused) -> None:
        self.refusals += 1
        self.last_refusal = f"ID {servo_id}: {refused}"

    # ------------------------------------------------------------------ several servos
    def _broadcast(self, packet: Packet) -> list[Reply]:
        servos = self._addressed(BROADCAST)
        if packet.instruction == Instruction.PING:
            replies: dict[int, list[Reply]] = {}
            for servo in servos:
                replies.setdefault(servo.id, []).append(self._reply(servo, servo.id, 0, _ping(servo, b"")))
            return [reply for same in replies.values() for reply in self._collide(same)]
        if packet.instruction == Instruction.READ:
            return []
        if packet.instruction == Instruction.FACTORY_RESET and packet.parameters == b"\xff":
            return []  # all servos would have the ID 1
        for servo in servos:
            self._carry_out(servo, packet)
        return []

    def _find(self, servo_id: int) -> Servo | None:
        return next((servo for servo in self.servos if servo.id == servo_id), None)

    def _read_each(self, parts: Iterable[tuple[int, int, int]]) -> list[Reply]:
        """Return one status packet of each servo."""
        replies = []
        for servo_id, address, length in _first_of_each(parts):
            servo = self._find(servo_id)
            if servo is None or servo.memory["Status Return Level"] <= PING_ONLY:
                continue
            error, data = self._read(servo, address, length)
            replies.append(self._reply(servo, servo_id, error, data))
        return replies

    def _read_chain(self, parts: Iterable[tuple[int, int, int]]) -> list[Reply]:
        """Return one packet to which each servo adds its part; it ends at the first that is not there."""
        wanted = list(_first_of_each(parts))
        length = 1 + sum(4 + size for _, _, size in wanted)
        if not wanted or length > MAX_LENGTH:
            return []
        data = HEADER + bytes((BROADCAST, length & 255, length >> 8, Instruction.STATUS))
        last, delay = None, 0.0
        for servo_id, address, size in wanted:
            servo = self._find(servo_id)
            if servo is None or servo.memory["Status Return Level"] <= PING_ONLY:
                break
            error, read = self._read(servo, address, size)
            data += bytes((error | servo.alert, servo_id)) + read.ljust(size, b"\0")
            data += crc16(data).to_bytes(2, "little")
            last = servo
            delay = max(delay, servo.return_delay)
        return [] if last is None else [Reply(data, delay, last.baud)]

    def _read(self, servo: Servo, address: int, length: int) -> tuple[int, bytes]:
        try:
            return Error.NONE, servo.read(address, length)
        except Refused as refused:
            self._refuse(servo.id, refused)
            return refused.number, b""

    def _write_each(self, parts: Iterable[tuple[int, int, bytes]]) -> list[Reply]:
        for servo_id, address, data in _first_of_each(parts):
            servo = self._find(servo_id)
            if servo is None:
                continue
            try:
                servo.write(address, data)
            except Refused as refused:
                self._refuse(servo_id, refused)
        return []


def _first_of_each(parts: Iterable[tuple]) -> Iterator[tuple]:
    """Yield the first part of each ID; an ID may not be used twice."""
    seen: set[int] = set()
    for part in parts:
        if part[0] not in seen and part[0] < 253:
            seen.add(part[0])
            yield part


def _word(data: bytes, at: int) -> int:
    return data[at] | data[at + 1] << 8


def _sync_read_parts(p: bytes) -> Iterator[tuple[int, int, int]]:
    if len(p) > 4:
        address, length = _word(p, 0), _word(p, 2)
        yield from ((servo_id, address, length) for servo_id in p[4:])


def _bulk_read_parts(p: bytes) -> Iterator[tuple[int, int, int]]:
    for at in range(0, len(p) - 4, 5):
        yield p[at], _word(p, at + 1), _word(p, at + 3)


def _sync_write_parts(p: bytes) -> Iterator[tuple[int, int, bytes]]:
    if len(p) > 4:
        address, length = _word(p, 0), _word(p, 2)
        for at in range(4, len(p) - length, length + 1):
            yield p[at], address, p[at + 1 : at + 1 + length]


def _bulk_write_parts(p: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at + 5 < len(p):
        length = _word(p, at + 3)
        if at + 5 + length > len(p):
            return
        yield p[at], _word(p, at + 1), p[at + 5 : at + 5 + length]
        at += 5 + length


def _ping(servo: Servo, _: bytes) -> bytes:
    return servo.memory["Model Number"].to_bytes(2, "little") + bytes((servo.memory["Firmware Version"],))


def _read(servo: Servo, p: bytes) -> bytes:
    if len(p) != 4:
        raise Refused(Error.DATA_LENGTH, f"a read has {len(p)} parameters; must be 4")
    length = _word(p, 2)
    if length > MAX_LENGTH - 6:
        raise Refused(Error.DATA_LENGTH, f"a read of {length} bytes; must be at most {MAX_LENGTH - 6}")
    return servo.read(_word(p, 0), length)


def _written(p: bytes) -> tuple[int, bytes]:
    """Return the address and the bytes of a write."""
    if len(p) < 3:
        raise Refused(Error.DATA_LENGTH, f"a write has {len(p)} parameters; must be at least 3")
    return _word(p, 0), p[2:]


def _factory_reset(servo: Servo, p: bytes) -> None:
    if len(p) != 1:
        raise Refused(Error.DATA_LENGTH, f"a factory reset has {len(p)} parameters; must be 1")
    servo.factory_reset(p[0])


def _clear(servo: Servo, p: bytes) -> None:
    if p != b"\x01\x44\x58\x4c\x22":
        raise Refused(Error.DATA_RANGE, "the parameters of a clear instruction must be 01 44 58 4c 22")
    servo.clear_turns()
