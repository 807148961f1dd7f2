"""Datagrams that other implementations sent: Fast DDS 2.9 (a C++ client of a service) and Cyclone DDS 11."""

from pliant.ros.wire.rtps.messages import AckNack, Data, Heartbeat, InfoDestination, InfoTimestamp, decode_message
from pliant.ros.wire.rtps.parameters import decode_endpoint, related_identity

FAST_READER = bytes.fromhex(
    "525450530203010f010f78fd6c623fbd000000000e010c000000d8d5fda500effe87ad57090108007e60026b88ceb96d150584010000"
    "1000000004c7000004c20000000001000000000300002f00180001000000675d00000000000000000000000000007f00000143000400"
    "0000000050001000010f78fd6c623fbd00000000000001c1050010000a00000072722f735265706c7900000007002c00270000007374"
    "645f737276733a3a7372763a3a6464735f3a3a547269676765725f526573706f6e73655f000070001000010f78fd6c623fbd00000000"
    "000001045a001000010f78fd6c623fbd0000000000000104150004000203000016000400010f00001d000400000000001e001c000000"
    "0000000000000000000001000000ffffffffffffffffffffffff23000800ffffff7fffffffff2700080000000000000000001b000c00"
    "00000000ffffff7fffffffff1a000c0002000000000000009a9999192b000800ffffff7fffffffff2c000400000000001f0004000000"
    "0000250004000000000021000800000000000000000029000400000000002e000400000000002d000400000000007400080001000101"
    "00000000010000008001380001000000665d00000000000000000000000000007f0000018060026b4864e9f60f000000000000003817"
    "0000000000000000000000000000"
)
FAST_REQUEST = bytes.fromhex(
    "525450530203010f010f78fd6c623fbd000000000e010c000000d8d5fda500effe87ad57090108008160026b22a3bb0815073c000000"
    "1000000002040000020300000000010000000f801800010f78fd6c623fbd0000000000000104ffffffff000000000100000000010000"
    "000000008001380001000000665d00000000000000000000000000007f0000018160026ba20ec3081800000000000000d01b00000000"
    "00000000000000000000"
)
FAST_HEARTBEAT = bytes.fromhex(
    "525450530203010f010f78fd6c623fbd000000000e010c000000d8d5fda500effe87ad5707011c00000003c7000003c2000000000100"
    "00000000000001000000040000008001380001000000665d00000000000000000000000000007f0000018060026b15645bf60b000000"
    "0000000050120000000000000000000000000000"
)
CYCLONE_READER = bytes.fromhex(
    "52545053020501100110794a37b6ed07774a28d2090108007e60026b1fcab14e150560010000100000000000000004c2000000000100"
    "0000000300002c0058005100000074797065686173683d5249485330315f373035626139633364316130396466343337333765623637"
    "303935353334646533366664343236633035383737373962646132626335316665373930313832613b00000005000c00050000007274"
    "2f7800000000070024001e0000007374645f6d7367733a3a6d73673a3a6464735f3a3a466c6f617436345f0000001a000c0002000000"
    "00000000295c8f024000080000000000e8030000750064006000000001100040280000002400000014000000f1a1dac2375e1e9a79d1"
    "28e3c8faa0000000000000000000040000000000000002100040280000002400000014000000f27273374beb5a4544fee38ae338c300"
    "00000000000000000400000000000000150004000205000016000400011000005a0010000110794a37b6ed07774a28d2000004040c80"
    "04000100000001000000"
)
CYCLONE_ACKNACK = bytes.fromhex(
    "52545053020501100110794a37b6ed07774a28d20e010c000000d8d5fda500effe87ad5706011800000003c7000003c2000000000100"
    "0000000000000000000006011800000004c7000004c200000000010000000000000000000000"
)


def only(kind, submessages):
    (found,) = [m for m in submessages if isinstance(m, kind)]
    return found


def test_a_reader_of_fast_dds_is_understood():
    header, submessages = decode_message(FAST_READER)
    assert (header.vendor, header.version) == (b"\x01\x0f", (2, 3))
    assert len(only(InfoDestination, submessages).prefix) == 12
    data = only(Data, submessages)
    assert (data.writer, data.reader, data.sequence) == (b"\0\0\4\xc2", b"\0\0\4\xc7", 1)
    assert data.payload is not None
    endpoint = decode_endpoint(data.payload, writer=False)
    assert endpoint.guid[:12] == header.prefix
    assert (endpoint.topic, endpoint.type) == ("rr/sReply", "std_srvs::srv::dds_::Trigger_Response_")
    assert endpoint.qos.reliable
    assert endpoint.qos.durability == 0
    assert endpoint.qos.representations == (0,)
    assert [item.address for item in endpoint.locators] == ["127.0.0.1"]


def test_a_request_of_fast_dds_names_the_reader_that_waits():
    header, submessages = decode_message(FAST_REQUEST)
    data = only(Data, submessages)
    assert [identifier for identifier, _ in data.inline] == [0x800F]
    reader, number = related_identity(data.inline, little=data.little) or (b"", 0)
    assert reader == header.prefix + b"\0\0\1\4"
    assert number == (-1 << 32) + 0
    assert data.payload == bytes.fromhex("0001000000000000")


def test_a_heartbeat_of_fast_dds_says_what_there_is():
    beat = only(Heartbeat, decode_message(FAST_HEARTBEAT)[1])
    assert (beat.first, beat.last, beat.writer) == (1, 1, b"\0\0\3\xc2")
    assert not beat.final


def test_a_reader_of_cyclone_dds_is_understood():
    header, submessages = decode_message(CYCLONE_READER)
    assert header.vendor == b"\x01\x10"
    assert only(InfoTimestamp, submessages).time_ns
    data = only(Data, submessages)
    assert data.payload is not None
    endpoint = decode_endpoint(data.payload, writer=False)
    assert (endpoint.topic, endpoint.type) == ("rt/x", "std_msgs::msg::dds_::Float64_")
    assert endpoint.user_data.startswith(b"typehash=RIHS01_")
    assert endpoint.qos.reliable
    assert endpoint.locators == ()


def test_cyclone_dds_asks_for_a_heartbeat_with_base_one_and_nothing_missing():
    answers = [m for m in decode_message(CYCLONE_ACKNACK)[1] if isinstance(m, AckNack)]
    assert {(a.base, a.missing, a.final) for a in answers} == {(1, (), False)}
    assert [a.writer for a in answers] == [b"\0\0\3\xc2", b"\0\0\4\xc2"]
