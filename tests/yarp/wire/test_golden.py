"""Every recorded stream of YARP 3.12.3 and 4.0.0: no byte is left over, and encoding gives the same bytes again."""

import json

import pytest
from shared_files import SHARED, shared_file

from pliant.base.errors import WireError
from pliant.yarp.wire import control_board, control_board_v3
from pliant.yarp.wire.binary import decode_bottle, encode_bottle, read_bottle
from pliant.yarp.wire.board_calls import CALLS, encode_request
from pliant.yarp.wire.connection import (
    ACKNOWLEDGEMENT,
    WAKE_UP,
    DatagramAssembler,
    Framer,
    Hello,
    LineFramer,
    Message,
    TextHello,
    TextMessage,
    carrier_of,
    decode_number,
    encode_datagrams,
    encode_number,
)
from pliant.yarp.wire.nameserver import Query, decode_answer, encode_answer, is_complete
from pliant.yarp.wire.text import format_bottle, parse_bottle

pytestmark = pytest.mark.shared

FILE = SHARED / "data" / "yarp_golden.json"
RECORDED = json.loads(FILE.read_text()) if FILE.is_file() else {}
PROTOCOL_VERSION = bytes.fromhex("0001000001000000 0000040000000000")
"""The one reply that is no Bottle: four int16 without tags behind the header of a list."""

STREAMS = [
    pytest.param(group, stream, id=f"{group}-{stream['stream']}")
    for group, streams in RECORDED.items()
    for stream in streams
    if "stream" in stream
]
DATAGRAMS = [
    pytest.param(group, bytes.fromhex(d["hex"]), id=f"{group}-{i}")
    for group, datagrams in RECORDED.items()
    for i, d in enumerate(datagrams)
    if "hex" in d
]


def dialect_of(group):
    return int(group[1])


def test_the_recorded_streams_are_there():
    shared_file("data/yarp_golden.json")
    assert len(STREAMS) > 150
    assert len(DATAGRAMS) > 40


def both_ways(stream):
    sent, answered = bytes.fromhex(stream["client_to_server"]), bytes.fromhex(stream["server_to_client"])
    return sent, answered, stream["truncated"]


def select(*carriers):
    return [s for s in STREAMS if carrier_of(both_ways(s.values[1])[0]) in carriers]


def same_bottle(payload, dialect):
    """Decode a payload, ask for the same bytes back, and return the Bottle."""
    bottle = decode_bottle(payload, dialect)
    assert encode_bottle(bottle, dialect) == payload
    return bottle


@pytest.mark.parametrize(("group", "stream"), select("tcp", "fast_tcp", "udp", "mcast"))
def test_a_binary_connection_is_read_to_its_last_byte_and_written_back(group, stream):
    sent, answered, truncated = both_ways(stream)
    dialect = dialect_of(group)
    hello, end = Hello.read(sent)
    framer = Framer()
    messages = list(framer.feed(sent[end:]))
    again = hello.encode() + b"".join(m.encode() for m in messages)
    assert sent.startswith(again)
    assert len(again) + framer.pending == len(sent)
    assert truncated or not framer.pending
    for message in messages:
        if message.payload:
            same_bottle(message.payload, dialect)
    assert_answers(hello, messages, answered, dialect, truncated)


SECOND = ("get pwm", "get mtnm", "getPWMRPC", "getNumberOfMotorsRPC")
"""Calls that read what another call reads too."""


@pytest.mark.parametrize("dialect", [3, 4])
def test_the_table_of_calls_gives_the_recorded_requests_of_clients_of_a_control_board(dialect):
    wire = control_board if dialect == 4 else control_board_v3
    done = set()
    for group, stream in (s.values for s in select("tcp")):
        sent = both_ways(stream)[0]
        hello, end = Hello.read(sent)
        if dialect_of(group) != dialect or not hello.sender.endswith("/rpc:o"):
            continue
        for payload in (m.payload for m in Framer().feed(sent[end:]) if m.payload):
            try:
                name, values = wire.decode_request(decode_bottle(payload, dialect))
            except WireError:  # versions and remote variables are not in the table
                continue
            call = CALLS[dialect].get(name)
            if call is None or call.verb == "do" or name in SECOND:
                continue
            request = encode_request(dialect, call.verb, call.quantity, call.axes, *values)
            assert encode_bottle(request, dialect) == payload
            done.add(name)
    assert len(done) > 60
    with pytest.raises(WireError, match=f"dialect {dialect} has no call to get warp of one"):
        encode_request(dialect, "get", "warp", "one", 0)


def assert_answers(hello, messages, answered, dialect, truncated):
    if hello.carrier == "mcast":
        assert answered == b""
        return
    number = decode_number(answered)
    at = 8
    written = encode_number(number)
    acknowledged = 0
    for message in messages:
        if at == len(answered) and truncated:
            break
        if message.command.wants_reply:
            if answered.startswith(ACKNOWLEDGEMENT, at):  # a request that the server did not understand
                end = at
            elif answered.startswith(PROTOCOL_VERSION, at):
                end = at + len(PROTOCOL_VERSION)
                written += PROTOCOL_VERSION
            else:
                reply, end = read_bottle(answered, dialect, at)
                written += encode_bottle(reply, dialect)
            at = end
        if hello.acknowledged:
            assert answered.startswith(ACKNOWLEDGEMENT, at)
            at += len(ACKNOWLEDGEMENT)
            written += ACKNOWLEDGEMENT
            acknowledged += 1
    if truncated:
        rest = answered[at:]
        assert rest == ACKNOWLEDGEMENT * (len(rest) // 8) * hello.acknowledged
        written += rest
    assert written == answered


@pytest.mark.parametrize(("group", "stream"), select("text", "text_ack"))
def test_a_connection_of_text_is_read_to_its_last_byte_and_written_back(group, stream):
    sent, answered, _ = both_ways(stream)
    framer = LineFramer()
    first, rest = sent.split(b"\n", 1)
    hello = TextHello.decode(first.rstrip().decode())
    messages = list(framer.feed(rest))
    assert not framer.pending
    assert hello.encode() + b"".join(m.encode() for m in messages) == sent
    for message in messages:
        if message.body is not None:
            assert format_bottle(parse_bottle(message.body)) == message.body
    assert answered.startswith(hello.welcome)
    lines = answered.removeprefix(hello.welcome).decode().split("\r\n")
    assert lines.pop() == ""
    assert lines.count("<ACK>") == (len(messages) if hello.acknowledged else 0)
    for message in messages:
        if message.wants_reply:
            line = lines.pop(0)
            assert format_bottle(parse_bottle(line)) == line
            assert lines.pop(0) == "<ACK>"


@pytest.mark.parametrize(("group", "stream"), select("name_ser"))
def test_a_query_to_the_name_server_and_its_answer_are_read_and_written_back(group, stream):
    sent, answered, _ = both_ways(stream)
    query = Query.decode(sent)
    assert query.encode() == sent
    assert is_complete(answered, query)
    assert not is_complete(answered[:-1], query)
    if query.answered_by_bottle:
        line = answered.decode()
        assert format_bottle(parse_bottle(line.removesuffix("\r\n"))) + "\r\n" == line
    else:
        assert encode_answer(decode_answer(answered)) == answered


@pytest.mark.parametrize(("group", "datagram"), DATAGRAMS)
def test_a_datagram_is_one_message_and_is_written_back(group, datagram):
    assembler = DatagramAssembler()
    messages = assembler.feed(datagram)
    assert assembler.dropped == 0
    if datagram == WAKE_UP:
        assert messages == []
        return
    (message,) = messages
    assert encode_datagrams(message.encode()) == [datagram]
    if message.payload:
        same_bottle(message.payload, dialect_of(group))


def test_a_stream_is_the_same_messages_however_it_is_cut():
    for _, stream in (s.values for s in select("tcp", "fast_tcp")[:12]):
        sent, _, _ = both_ways(stream)
        _, end = Hello.read(sent)
        whole = list(Framer().feed(sent[end:]))
        framer = Framer()
        parts = [m for at in range(end, len(sent)) for m in framer.feed(sent[at : at + 1])]
        assert parts == whole
        assert all(isinstance(m, Message) for m in parts)


def test_text_is_the_same_commands_however_it_is_cut():
    for _, stream in (s.values for s in select("text", "text_ack")[:12]):
        sent, _, _ = both_ways(stream)
        rest = sent.split(b"\n", 1)[1]
        framer = LineFramer()
        parts = [m for at in range(len(rest)) for m in framer.feed(rest[at : at + 1])]
        assert parts == list(LineFramer().feed(rest))
        assert all(isinstance(m, TextMessage) for m in parts)
