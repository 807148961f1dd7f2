import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.base.errors import WireError
from pliant.ros.wire.rtps.messages import (
    AckNack,
    Data,
    DataFrag,
    Gap,
    Header,
    Heartbeat,
    InfoDestination,
    InfoSource,
    InfoTimestamp,
    NackFrag,
    decode_message,
    encode_message,
)

PREFIX = bytes(range(1, 13))
READER, WRITER = b"\0\0\4\xc7", b"\0\0\4\xc2"
HEADER = Header(prefix=PREFIX, vendor=b"\1\x0f", version=(2, 2))
HEAD = "525450530202010f0102030405060708090a0b0c"


KINDS = (
    "data", "frag", "heartbeat", "acknack", "gap", "nack_frag", "heartbeat_frag", "time", "dst", "src",
)  # fmt: skip


def entities():
    return st.binary(min_size=4, max_size=4)


def numbers():
    return st.integers(1, 1 << 60)


def parameters():
    one = st.tuples(st.integers(2, 0xFFFF), st.binary(max_size=40).map(lambda b: b + bytes(-len(b) % 4)))
    return st.lists(one, max_size=5).map(tuple)


def bodies():
    return st.binary(max_size=200).map(lambda b: b + bytes(-len(b) % 4))


@st.composite
def sets(draw):
    base = draw(numbers())
    offsets = draw(st.sets(st.integers(0, 255), max_size=12))
    return base, tuple(base + o for o in sorted(offsets))


@st.composite
def submessages(draw):
    kind = draw(st.sampled_from(["data", "frag", "heartbeat", "acknack", "gap", "nack_frag", "time", "dst", "src"]))
    ids = {"reader": draw(entities()), "writer": draw(entities())}
    if kind == "data":
        payload = draw(st.none() | bodies())
        key = payload is not None and draw(st.booleans())
        return Data(**ids, sequence=draw(numbers()), inline=draw(parameters()), payload=payload, key=key)
    if kind == "frag":
        return DataFrag(
            **ids, sequence=draw(numbers()), first=draw(st.integers(1, 1000)), count=draw(st.integers(1, 9)),
            fragment_size=draw(st.integers(1, 65535)), sample_size=draw(st.integers(0, 1 << 31)),
            inline=draw(parameters()), payload=draw(bodies()), key=draw(st.booleans()),
        )  # fmt: skip
    if kind == "heartbeat":
        first = draw(numbers())
        last = first + draw(st.integers(-1, 1000))
        flags = {"final": draw(st.booleans()), "liveliness": draw(st.booleans())}
        return Heartbeat(**ids, first=first, last=last, count=draw(st.integers(0, 2**32 - 1)), **flags)
    base, members = draw(sets())
    if kind == "acknack":
        return AckNack(**ids, base=base, missing=members, count=7, final=draw(st.booleans()))
    if kind == "gap":
        return Gap(**ids, start=max(1, base - 5), base=base, others=members)
    if kind == "nack_frag":
        missing = draw(st.sets(st.integers(1, 200), min_size=1, max_size=9))
        return NackFrag(**ids, sequence=base, missing=tuple(sorted(missing)), count=3)
    if kind == "time":
        return InfoTimestamp(time_ns=draw(st.none() | st.integers(0, (2**32 - 2) * 10**9)))
    if kind == "dst":
        return InfoDestination(prefix=draw(st.binary(min_size=12, max_size=12)))
    return InfoSource(prefix=draw(st.binary(min_size=12, max_size=12)), vendor=b"\1\x10", version=(2, 1))


def with_order(message, little):
    if isinstance(message, Data | DataFrag):
        return dataclasses.replace(message, little=little)
    return message


@given(st.lists(submessages(), max_size=4), st.booleans())
def test_what_is_written_is_read_back_in_both_byte_orders(messages, little):
    header, found = decode_message(encode_message(HEADER, messages, little=little))
    assert header == HEADER
    assert found == [with_order(m, little) for m in messages]


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data):
    for datagram in (data, b"RTPS\2\2\0\0" + PREFIX + data):
        try:
            header, found = decode_message(datagram)
        except WireError:
            continue
        else:
            assert header.version[0] == 2
            assert len(found) <= len(datagram) // 4


@settings(max_examples=300)
@given(st.lists(submessages(), min_size=1, max_size=3), st.data())
def test_changed_bytes_are_read_or_refused(messages, data):
    datagram = bytearray(encode_message(HEADER, messages))
    for _ in range(data.draw(st.integers(1, 4))):
        datagram[data.draw(st.integers(0, len(datagram) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(datagram)))
    for mutated in (bytes(datagram), bytes(datagram[:cut])):
        try:
            _, found = decode_message(mutated)
        except WireError:
            continue
        else:
            assert len(found) <= len(mutated) // 4


@pytest.mark.parametrize(
    ("message", "golden", "big"),
    [
        (
            Heartbeat(reader=READER, writer=WRITER, first=1, last=3, count=9, final=True),
            "07031c00" "000004c7" "000004c2" "0000000001000000" "0000000003000000" "09000000",
            "0702001c" "000004c7" "000004c2" "0000000000000001" "0000000000000003" "00000009",
        ),
        (
            AckNack(reader=READER, writer=WRITER, base=2, missing=(2, 4), count=5, final=False),
            "06011c00" "000004c7" "000004c2" "0000000002000000" "03000000" "000000a0" "05000000",
            "0600001c" "000004c7" "000004c2" "0000000000000002" "00000003" "a0000000" "00000005",
        ),
        (
            Data(writer=WRITER, sequence=(1 << 32) + 2, inline=((0x71, b"\0\0\0\3"),), payload=b"\0\1\0\0\7"),
            "15072800" "00001000" "00000000" "000004c2" "0100000002000000" "71000400" "00000003" "01000000"
            "00010000" "07000000",
            None,
        ),
        (
            Gap(reader=READER, writer=WRITER, start=4, base=6, others=()),
            "08011c00" "000004c7" "000004c2" "0000000004000000" "0000000006000000" "00000000",
            "0800001c" "000004c7" "000004c2" "0000000000000004" "0000000000000006" "00000000",
        ),
        (
            InfoTimestamp(time_ns=1_500_000_000),
            "09010800" "01000000" "00000080",
            "09000008" "00000001" "80000000",
        ),
        (InfoDestination(prefix=PREFIX), "0e010c00" + PREFIX.hex(), "0e00000c" + PREFIX.hex()),
    ],
)  # fmt: skip
def test_golden_bytes(message, golden, big):
    data = encode_message(HEADER, [message])
    assert data.hex() == HEAD + golden
    if big is not None:
        assert encode_message(HEADER, [message], little=False).hex() == HEAD + big


def test_unknown_submessages_are_passed_over_and_a_length_of_zero_goes_to_the_end():
    beat = Heartbeat(writer=WRITER, first=1, last=0, count=1)
    data = bytearray(encode_message(HEADER, [beat]))
    data[20:20] = bytes.fromhex("80010400 deadbeef 01010000".replace(" ", ""))
    data[20 + 12 + 2 : 20 + 12 + 4] = b"\0\0"
    assert decode_message(bytes(data))[1] == [beat]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("06011c00" "000004c7" "000004c2" "0000000002000000" "01010000" "000000a0" "05000000", "257 numbers"),
        ("07031c00" "000004c7" "000004c2" "0000000009000000" "0000000003000000" "09000000", "from 9 to 3"),
        ("07031c00" "000004c7" "000004c2" "ffffffff01000000" "0000000003000000" "09000000", "sequence number"),
        ("15071c00" "00001000" "00000000" "000004c2" "0000000002000000" "71000400" "00000003", "has no end"),
        ("15070800" "00001000" "00000000", "ends before"),
        ("07ff", "header of a submessage"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_its_reason(body, says):
    with pytest.raises(WireError, match=says):
        decode_message(bytes.fromhex(HEAD + body))


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (Data(writer=b"123", sequence=1), "entity of 3 bytes"),
        (Data(writer=WRITER, sequence=1 << 70), "does not fit"),
        (AckNack(reader=READER, writer=WRITER, base=1, missing=(1, 300)), "256 numbers"),
        (
            DataFrag(writer=WRITER, sequence=1, first=1, count=70000, fragment_size=1, sample_size=1, payload=b""),
            "70000",
        ),
        (Data(writer=WRITER, sequence=1, inline=((5, bytes(70000)),)), "70000 bytes"),
    ],
)
def test_what_does_not_fit_is_not_written(message, says):
    with pytest.raises(WireError, match=says):
        encode_message(HEADER, [message])


def test_a_header_has_its_lengths():
    with pytest.raises(WireError, match="a prefix of 3"):
        encode_message(Header(prefix=b"abc"), [])
    with pytest.raises(WireError, match="version 3"):
        decode_message(b"RTPS\3\0\0\0" + PREFIX)
