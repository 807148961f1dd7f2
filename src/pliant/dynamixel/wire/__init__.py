"""Packets of the Dynamixel protocol 2.0, as bytes."""

from pliant.dynamixel.wire.packet import (
    BROADCAST,
    Error,
    Instruction,
    Packet,
    PacketReader,
    crc16,
    encode_instruction,
    encode_status,
)

__all__ = [
    "BROADCAST",
    "Error",
    "Instruction",
    "Packet",
    "PacketReader",
    "crc16",
    "encode_instruction",
    "encode_status",
]
