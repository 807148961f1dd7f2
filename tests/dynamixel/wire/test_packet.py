"""Packets of the protocol 2.0: the published examples, stuffing, and a reader that survives any bytes."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.errors import WireError
from pliant.dynamixel.wire import Instruction, PacketReader, crc16, encode_instruction, encode_status
from pliant.dynamixel.wire.packet import MAX_LENGTH, SILENCE_S

# ROBOTIS e-Manual, "DYNAMIXEL Protocol 2.0", "Instruction Details": ID, instruction, parameters, bytes.
EXAMPLES = {
    "ping": (1, 0x01, "", "FF FF FD 00 01 03 00 01 19 4E"),
    "ping of all": (254, 0x01, "", "FF FF FD 00 FE 03 00 01 31 42"),
    "read": (1, 0x02, "84 00 04 00", "FF FF FD 00 01 07 00 02 84 00 04 00 1D 15"),
    "write": (1, 0x03, "74 00 00 02 00 00", "FF FF FD 00 01 09 00 03 74 00 00 02 00 00 CA 89"),
    "reg write": (1, 0x04, "68 00 C8 00 00 00", "FF FF FD 00 01 09 00 04 68 00 C8 00 00 00 AE 8E"),
    "action": (1, 0x05, "", "FF FF FD 00 01 03 00 05 02 CE"),
    "factory reset": (1, 0x06, "01", "FF FF FD 00 01 04 00 06 01 A1 E6"),
    "reboot": (1, 0x08, "", "FF FF FD 00 01 03 00 08 2F 4E"),
    "clear": (1, 0x10, "01 44 58 4C 22", "FF FF FD 00 01 08 00 10 01 44 58 4C 22 B1 DC"),
    "sync read": (254, 0x82, "84 00 04 00 01 02", "FF FF FD 00 FE 09 00 82 84 00 04 00 01 02 CE FA"),
    "sync write": (
        254, 0x83, "74 00 04 00 01 96 00 00 00 02 AA 00 00 00",
        "FF FF FD 00 FE 11 00 83 74 00 04 00 01 96 00 00 00 02 AA 00 00 00 82 87",
    ),
    "bulk read": (
        254, 0x92, "01 90 00 02 00 02 92 00 01 00",
        "FF FF FD 00 FE 0D 00 92 01 90 00 02 00 02 92 00 01 00 1A 05",
    ),
    "bulk write": (
        254, 0x93, "01 20 00 02 00 A0 00 02 1F 00 01 00 50",
        "FF FF FD 00 FE 10 00 93 01 20 00 02 00 A0 00 02 1F 00 01 00 50 B7 68",
    ),
    "status of a ping": (1, 0x55, "00 06 04 26", "FF FF FD 00 01 07 00 55 00 06 04 26 65 5D"),
    "status of ID 2": (2, 0x55, "00 06 04 26", "FF FF FD 00 02 07 00 55 00 06 04 26 6F 6D"),
    "status of a read": (1, 0x55, "00 A6 00 00 00", "FF FF FD 00 01 08 00 55 00 A6 00 00 00 8C C0"),
    "status of a sync read": (2, 0x55, "00 1F 08 00 00", "FF FF FD 00 02 08 00 55 00 1F 08 00 00 BA BE"),
    "status of a bulk read": (2, 0x55, "00 24", "FF FF FD 00 02 05 00 55 00 24 8B A9"),
    "status of a write": (1, 0x55, "00", "FF FF FD 00 01 04 00 55 00 A1 0C"),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_published_packet_is_written_and_read(name):
    servo_id, instruction, parameters, text = EXAMPLES[name]
    raw = bytes.fromhex(text)
    assert encode_instruction(servo_id, instruction, bytes.fromhex(parameters)) == raw
    (packet,) = PacketReader().feed(raw)
    assert (packet.id, packet.instruction, packet.parameters.hex(" ").upper()) == (servo_id, instruction, parameters)
    assert packet.intact
    assert packet.size == len(raw)
    assert crc16(raw[:-2]) == int.from_bytes(raw[-2:], "little")
    assert crc16(raw[5:-2], crc16(raw[:5])) == crc16(raw[:-2])


@given(st.integers(0, 252), st.binary(max_size=300), st.integers(1, 40))
def test_any_parameters_pass_in_pieces_of_any_size(servo_id, parameters, size):
    # Headers inside the parameters are what stuffing is for.
    parameters = parameters.replace(b"\x00\x01", b"\xff\xff\xfd")
    raw = encode_instruction(servo_id, Instruction.WRITE, parameters)
    assert raw.find(b"\xff\xff\xfd\x00", 1, len(raw) - 2) < 0
    reader, found = PacketReader(), []
    for at in range(0, len(raw), size):
        found += reader.feed(raw[at : at + size])
    (packet,) = found
    assert (packet.id, packet.parameters, packet.intact) == (servo_id, parameters, True)
    assert reader.skipped == 0


@pytest.mark.parametrize(
    "parameters", ["FF FF FD", "FF FF FD FD", "FF FF FD FF FF FD", "FD FF FF FD 00 FF FF", "FF FF"]
)
def test_a_header_in_the_parameters_is_stuffed(parameters):
    data = bytes.fromhex(parameters)
    raw = encode_status(7, 0, data)
    assert raw[8:-2].count(b"\xff\xff\xfd\xfd") == data.count(b"\xff\xff\xfd")
    (packet,) = PacketReader().feed(raw)
    assert packet.parameters == b"\0" + data


def test_a_packet_in_which_one_bit_is_wrong_is_not_intact():
    raw = encode_instruction(1, Instruction.WRITE, b"\x74\x00\x00\x02\x00\x00")
    for bit in range(8 * 7, 8 * len(raw)):  # behind the length; before it, it is another packet or none
        damaged = bytearray(raw)
        damaged[bit // 8] ^= 1 << bit % 8
        assert not any(p.intact for p in PacketReader().feed(bytes(damaged)))


def test_packets_are_found_between_bytes_that_are_none():
    draw = random.Random(5)
    reader, sent, found = PacketReader(), [], []
    for k in range(300):
        noise = draw.randbytes(draw.randrange(20)).replace(b"\xff", b"\x00")
        sent.append(bytes(draw.randrange(256) for _ in range(draw.randrange(12))))
        found += reader.feed(noise + encode_instruction(k % 253, Instruction.WRITE, sent[-1]))
    assert [p.parameters for p in found] == sent
    assert all(p.intact for p in found)
    assert reader.skipped > 0


def test_a_new_header_ends_a_packet_that_is_not_complete():
    reader = PacketReader()
    assert reader.feed(encode_instruction(1, Instruction.WRITE, bytes(20))[:15]) == []
    (packet,) = reader.feed(encode_instruction(2, Instruction.PING))
    assert packet.id == 2


def test_silence_ends_a_packet_that_is_not_complete():
    raw = encode_instruction(1, Instruction.WRITE, bytes(20))
    reader = PacketReader()
    assert reader.feed(raw[:15], 10.0) == []
    assert len(reader.feed(raw[15:], 10.0 + 0.9 * SILENCE_S)) == 1
    assert reader.feed(raw[:15], 20.0) == []
    assert reader.feed(raw[15:], 20.0 + 1.1 * SILENCE_S) == []


def test_a_length_beyond_the_largest_packet_is_not_waited_for():
    reader = PacketReader()
    assert reader.feed(b"\xff\xff\xfd\x00\x01" + (MAX_LENGTH + 1).to_bytes(2, "little") + b"\x02") == []
    assert len(reader.feed(encode_instruction(1, Instruction.PING))) == 1


@pytest.mark.parametrize(("servo_id", "size", "said"), [(256, 0, "0 to 255"), (-1, 0, "0 to 255"), (1, 1022, "1024")])
def test_a_packet_that_cannot_be_sent_is_refused(servo_id, size, said):
    with pytest.raises(WireError, match=said):
        encode_instruction(servo_id, Instruction.WRITE, bytes(size))


def test_the_reader_keeps_at_most_one_packet_of_what_never_ends():
    draw = random.Random(1)
    reader = PacketReader()
    for _ in range(300):
        reader.feed(draw.choice([b"\xff\xff\xfd\x00\x01\xff\x03", draw.randbytes(500), b"\xff" * 500]))
        assert len(reader._rest) <= MAX_LENGTH + 7
