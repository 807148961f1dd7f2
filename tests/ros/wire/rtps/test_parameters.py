import dataclasses
import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.base.errors import WireError
from pliant.ros.wire.rtps.messages import write_parameters
from pliant.ros.wire.rtps.parameters import (
    EndpointData,
    Locator,
    ParticipantData,
    Qos,
    decode_endpoint,
    decode_participant,
    disposed,
    encode_endpoint,
    encode_key,
    encode_participant,
    mismatch,
    related_identity,
    related_parameters,
)

GUID = bytes(range(16))
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
LOCATORS = st.lists(
    st.builds(Locator, address=st.sampled_from(["127.0.0.1", "10.1.2.3"]), port=st.integers(0, 65535)), max_size=3
).map(tuple)
DURATIONS = st.sampled_from([0.0, 0.5, 3.25, 100.0, math.inf])
QOS = st.builds(
    Qos, reliable=st.booleans(), durability=st.integers(0, 3), depth=st.integers(0, 5000), deadline=DURATIONS,
    liveliness=st.integers(0, 2), liveliness_lease=DURATIONS, ownership=st.integers(0, 1),
    partitions=st.lists(TEXTS, max_size=3).map(tuple), representations=st.sampled_from([(0,), (0, 2), (2,)]),
)  # fmt: skip


@given(
    st.builds(
        ParticipantData, guid=st.binary(min_size=16, max_size=16), vendor=st.binary(min_size=2, max_size=2),
        version=st.tuples(st.integers(0, 9), st.integers(0, 9)), domain=st.none() | st.integers(0, 232),
        builtin=st.integers(0, 2**32 - 1), lease=DURATIONS, metatraffic=LOCATORS, default=LOCATORS, name=TEXTS,
        user_data=st.binary(max_size=50),
    )
)  # fmt: skip
def test_a_participant_comes_back(data):
    assert decode_participant(encode_participant(data)) == data


@given(
    st.builds(
        EndpointData, guid=st.binary(min_size=16, max_size=16), topic=TEXTS.filter(bool), type=TEXTS.filter(bool),
        qos=QOS, locators=LOCATORS, user_data=st.binary(max_size=50),
    ),
    st.booleans(),
)  # fmt: skip
def test_an_endpoint_comes_back(data, writer):
    assert decode_endpoint(encode_endpoint(data), writer=writer) == data


@settings(max_examples=300)
@given(st.binary(max_size=200), st.lists(st.tuples(st.integers(2, 0x90), st.binary(max_size=40)), max_size=6))
def test_any_bytes_are_read_or_refused(data, parameters):
    for payload in (data, b"\0\3\0\0" + data, b"\0\3\0\0" + write_parameters(parameters)):
        for read in (decode_participant, lambda p: decode_endpoint(p, writer=True)):
            try:
                found = read(payload)
            except WireError:
                continue
            else:
                assert len(found.guid) == 16


def test_golden_bytes_of_an_endpoint():
    data = EndpointData(guid=GUID, topic="rt/a", type="T", qos=Qos(depth=5), user_data=b"x")
    golden = (
        "00030000"
        "5a001000" + GUID.hex() + "50001000" + GUID[:12].hex() + "000001c1"
        "05000c00" "05000000" "72742f6100000000"
        "07000800" "02000000" "54000000"
        "1a000c00" "02000000" "00000000" "99999919"
        "1d000400" "00000000"
        "40000800" "00000000" "05000000"
        "23000800" "ffffff7f" "ffffffff"
        "1b000c00" "00000000" "ffffff7f" "ffffffff"
        "1f000400" "00000000"
        "73000800" "01000000" "00000000"
        "2c000800" "01000000" "78000000"
        "01000000"
    )  # fmt: skip
    assert encode_endpoint(data).hex() == golden


def test_numbers_of_the_other_byte_order_are_read():
    parameters = [
        (0x5A, GUID), (0x05, struct.pack(">I", 2) + b"a\0"), (0x07, struct.pack(">I", 2) + b"b\0"),
        (0x1A, struct.pack(">IiI", 1, 0, 0)), (0x2F, struct.pack(">iI12x", 1, 7411) + bytes([127, 0, 0, 1])),
    ]  # fmt: skip
    found = decode_endpoint(b"\0\2\0\0" + write_parameters(parameters, ">"), writer=True)
    assert found == EndpointData(
        guid=GUID, topic="a", type="b", qos=Qos(reliable=False, depth=1),
        locators=(Locator(address="127.0.0.1", port=7411),),
    )  # fmt: skip


def test_what_is_left_out_has_the_defaults_of_dds():
    plain = b"\0\3\0\0" + write_parameters([(0x5A, GUID), (0x05, b"\2\0\0\0a\0"), (0x07, b"\2\0\0\0b\0")])
    assert decode_endpoint(plain, writer=True).qos == Qos(reliable=True, depth=1)
    assert decode_endpoint(plain, writer=False).qos == Qos(reliable=False, depth=1)


def test_addresses_of_shared_memory_have_no_ip():
    payload = b"\0\3\0\0" + write_parameters([(0x50, GUID), (0x31, struct.pack("<iI", 16, 7411) + bytes(16))])
    (locator,) = decode_participant(payload).default
    assert locator == Locator(kind=16, port=7411, address="")


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ([(0x05, b"\2\0\0\0a\0")], "without identifier"),
        ([(0x5A, GUID), (0x05, b"\xff\0\0\0a\0")], "255 octets"),
        ([(0x5A, GUID[:8])], "identifier of 8 bytes"),
        ([(0x2F, bytes(8))], "address of 8 bytes"),
        ([(0x29, b"\xff\xff\0\0")], "65535 partitions"),
    ],
)
def test_wrong_endpoints_are_refused_with_their_reason(parameters, says):
    with pytest.raises(WireError, match=says):
        decode_endpoint(b"\0\3\0\0" + write_parameters(parameters), writer=True)


def test_a_participant_without_its_identifier_is_refused():
    with pytest.raises(WireError, match="without its identifier"):
        decode_participant(b"\0\3\0\0" + write_parameters([(0x16, b"\1\x0f\0\0")]))


@pytest.mark.parametrize("participant", [True, False])
def test_what_is_gone_is_told_by_key_hash_or_by_key(participant):
    inline, payload = encode_key(GUID, participant=participant)
    assert disposed(inline, payload) == disposed(inline[1:], payload) == GUID
    assert disposed((), payload) is None
    assert disposed(((0x71, bytes(4)),), payload) is None


def test_a_reply_names_its_request_under_both_numbers():
    inline = related_parameters(GUID, 7)
    golden = GUID.hex() + "0000000007000000"
    assert [(hex(k), v.hex()) for k, v in inline] == [("0x83", golden), ("0x800f", golden)]
    assert related_identity(inline) == related_identity(inline[1:]) == (GUID, 7)
    assert related_identity(((0x83, GUID + struct.pack(">iI", 0, 7)),), little=False) == (GUID, 7)
    assert related_identity(((0x83, GUID),)) is None
    unknown = GUID + struct.pack("<iI", -1, 0)
    assert related_identity(((0x83, unknown),)) == (GUID, -1 << 32)


OFFER = Qos()


@pytest.mark.parametrize(
    ("offered", "requested", "says"),
    [
        ({}, {}, ""),
        ({"reliable": False}, {}, "reliability"),
        ({}, {"reliable": False}, ""),
        ({}, {"durability": 1}, "wants transient local, the writer is volatile"),
        ({"durability": 1}, {}, ""),
        ({}, {"deadline": 1.0}, "wants 1 s, the writer offers inf s"),
        ({}, {"liveliness": 2}, "manual by topic"),
        ({}, {"liveliness_lease": 1.0}, "sign within 1 s"),
        ({"ownership": 1}, {}, "wants shared, the writer is exclusive"),
        ({"partitions": ("a",)}, {"partitions": ("b",)}, "partition"),
        ({"partitions": ("a", "b")}, {"partitions": ("b",)}, ""),
        ({}, {"representations": (2,)}, "the writer writes 0"),
        ({}, {"representations": (2, 0)}, ""),
    ],
)
def test_who_can_have_what(offered, requested, says):
    found = mismatch(dataclasses.replace(OFFER, **offered), dataclasses.replace(OFFER, **requested))
    assert (says in found) if says else not found
