"""Connections, messages, datagrams, lines and the name server's text: published bytes, round trips, bad input."""

import contextlib
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.errors import WireError
from pliant.yarp.wire import connection
from pliant.yarp.wire.connection import (
    MAX_DATAGRAM,
    MAX_HEADER,
    MAX_MESSAGE,
    MAX_NAME,
    WAKE_UP,
    Command,
    DatagramAssembler,
    Framer,
    Hello,
    LineFramer,
    Message,
    TextHello,
    TextMessage,
    carrier_of,
    decode_datagram,
    decode_number,
    encode_datagrams,
    encode_number,
)
from pliant.yarp.wire.nameserver import (
    MAX_QUERY,
    NO_SUCH_PORT,
    Contact,
    Query,
    decode_answer,
    encode_answer,
    is_complete,
    parse_contact,
)
from pliant.yarp.wire.text import format_bottle
from pliant.yarp.wire.values import Incomplete

NAMES = st.text("abcxyz/:._0123456789", min_size=1, max_size=30)
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)
COMMANDS = st.one_of(
    st.sampled_from(["D", "d", "a", "q", "r", "*"]).map(Command),
    st.builds(Command, st.sampled_from(["D", "d"]), TEXTS),
    NAMES.map(lambda name: Command("/" + name)),
)


@st.composite
def messages(draw):
    command, payload = draw(COMMANDS), draw(st.binary(max_size=60))
    size = len(command.encode()) + len(payload)
    cuts = draw(st.none() | st.lists(st.integers(0, size), max_size=6).map(sorted))
    if cuts is None:
        return Message(command, payload)
    return Message(command, payload, tuple(b - a for a, b in zip([0, *cuts], [*cuts, size])))


def test_yarp_numbers_have_the_published_bytes():
    assert encode_number(10) == bytes.fromhex("59410a0000005250")
    assert encode_number(0) == connection.ACKNOWLEDGEMENT
    assert decode_number(bytes.fromhex("59412327 00005250")) == 10019
    with pytest.raises(Incomplete):
        decode_number(b"YA\n")
    with pytest.raises(WireError, match="not a YARP number"):
        decode_number(b"YA\n\0\0\0RX")


@pytest.mark.parametrize(
    ("first", "carrier"),
    [
        ("5941e41e00005250", "tcp"),
        ("5941641e00005250", "fast_tcp"),
        ("5941611e00005250", "udp"),
        ("5941621e00005250", "mcast"),
        (b"CONNECT ".hex(), "text"),
        (b"CONNACK ".hex(), "text_ack"),
        (b"NAME_SER".hex(), "name_ser"),
        (b"GET / HT".hex(), "http"),
    ],
)
def test_the_first_bytes_name_the_carrier(first, carrier):
    assert carrier_of(bytes.fromhex(first)) == carrier


@pytest.mark.parametrize("first", [b"GARBAGE!", b"\0" * 8, b"YA\0\0\0\0RP", b"CONNECTX"])
def test_other_first_bytes_are_refused(first):
    with pytest.raises(WireError):
        carrier_of(first)
    with pytest.raises(Incomplete):
        carrier_of(first[:7])


def test_a_hello_has_the_published_bytes():
    expected = bytes.fromhex("5941e41e00005250 14000000") + b"/cbclient/nwc/rpc:o\0"
    assert Hello(carrier="tcp", sender="/cbclient/nwc/rpc:o").encode() == expected
    group = Hello(carrier="mcast", sender="/w", group=("224.1.1.3", 10017)).encode()
    assert group.endswith(bytes.fromhex("e0010103 2721"))


@given(st.sampled_from(["tcp", "fast_tcp", "udp", "mcast"]), NAMES, st.binary(max_size=8))
def test_a_hello_comes_back_and_its_cuts_are_incomplete(carrier, name, behind):
    hello = Hello(carrier=carrier, sender=name, group=("224.1.1.3", 10017) if carrier == "mcast" else None)
    raw = hello.encode()
    assert Hello.read(raw + behind) == (hello, len(raw))
    for cut in range(len(raw)):
        with pytest.raises(Incomplete):
            Hello.read(raw[:cut])


def test_modifiers_of_a_carrier_stand_behind_the_senders_name():
    hello = Hello(carrier="tcp", sender="/src (recv portmonitor) (type dll)")
    assert hello.name == "/src"
    assert hello.acknowledged


@pytest.mark.parametrize("size", [-1, 0, MAX_NAME + 1, (1 << 31) - 1])
def test_a_senders_name_of_a_wrong_length_is_refused_at_once(size):
    with pytest.raises(WireError) as caught:
        Hello.read(encode_number(7777 + 3) + struct.pack("<i", size))
    assert not isinstance(caught.value, Incomplete)


@pytest.mark.parametrize(
    "hello",
    [
        Hello(carrier="tcpp", sender="/a"),
        Hello(carrier="tcp", sender="/a\0b"),
        Hello(carrier="tcp", sender="/" + "a" * MAX_NAME),
        Hello(carrier="tcp", sender="/a", group=("224.1.1.3", 1)),
        Hello(carrier="mcast", sender="/a"),
        Hello(carrier="mcast", sender="/a", group=("224.1.1.300", 1)),
        Hello(carrier="mcast", sender="/a", group=("224.1.1.3", 70000)),
    ],
)
def test_a_hello_that_nobody_could_read_is_refused(hello):
    with pytest.raises(WireError):
        hello.encode()


def test_messages_have_the_published_bytes():
    payload = bytes.fromhex("00010000 01000000 04000000 0a000000") + b"getAxesRPC"
    head = "59410a0000005250 02 01 ffffffffffffffff 08000000 1a000000 00000000 00000000 7e640001"
    assert Message(Command("d"), payload).encode() == bytes.fromhex(head) + payload
    leave = "59410a0000005250 0101 ffffffffffffffff 0a000000 00000000 02000000 7e000001 7100"
    assert Message(Command("q")).encode() == bytes.fromhex(leave)
    assert Command("D", "280 1.5").encode() == struct.pack("<i", 10) + b"~\0\0\1D 280 1.5\0"


@given(st.lists(messages(), max_size=5), st.data())
def test_messages_come_back_however_the_stream_is_cut(sent, data):
    stream = b"".join(m.encode() for m in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    framer = Framer()
    found = [m for a, b in zip([0, *cuts], [*cuts, len(stream)]) for m in framer.feed(stream[a:b])]
    assert found == sent
    assert b"".join(m.encode() for m in found) == stream
    assert framer.pending == 0


@given(st.binary(max_size=100))
def test_noise_behind_the_marker_is_read_or_refused_with_a_message(noise):
    with contextlib.suppress(WireError):
        for message in Framer().feed(encode_number(10) + noise):
            assert message.encode()


def raw_message(blocks, content, n_out=(0,)):
    index = bytes((len(blocks), len(n_out))) + b"\xff" * 8
    return encode_number(10) + index + struct.pack(f"<{len(blocks) + len(n_out)}i", *blocks, *n_out) + content


@pytest.mark.parametrize(
    "raw",
    [
        encode_number(0),
        encode_number(10) + b"\1\1" + bytes(8),
        raw_message((-1,), b""),
        raw_message((-1, 9), bytes(8)),
        raw_message((MAX_MESSAGE + 1,), b""),
        raw_message((1 << 30,) * 4, b""),
        raw_message((8,), b"\0\0\0\0~D\0\1", (1,)),
        raw_message((), b""),
        raw_message((4,), b"\0\0\0\0"),
        raw_message((8,), b"\0\0\0\0~X\0\1"),
        raw_message((8,), b"\0\0\0\0~\0\0\1"),
        raw_message((8,), b"\0\0\0\0!D\0\1"),
        raw_message((8,), b"\xff\xff\xff\xff~\0\0\1"),
        raw_message((8,), struct.pack("<i", MAX_HEADER + 1) + b"~\0\0\1"),
        raw_message((9,), b"\2\0\0\0~\0\0\1q"),
        raw_message((10,), b"\2\0\0\0~\0\0\1qq"),
        raw_message((11,), b"\3\0\0\0~\0\0\1\0q\0"),
    ],
)
def test_a_message_that_contradicts_itself_is_refused(raw):
    with pytest.raises(WireError) as caught:
        list(Framer().feed(raw))
    assert not isinstance(caught.value, Incomplete)


def test_a_message_longer_than_the_limit_of_a_framer_is_refused():
    framer = Framer(limit=1000)
    with pytest.raises(WireError, match="1000"):
        list(framer.feed(Message(Command("D"), bytes(2000)).encode()[:1500]))


@pytest.mark.parametrize(
    "message",
    [
        Message(Command("D"), b"abc", (8,)),
        Message(Command("D"), b"abc", (12, -1)),
        Message(Command("D"), b"", (8, *[0] * 255)),
        Message(Command("q", "1 2")),
        Message(Command("")),
        Message(Command("a\0b")),
    ],
)
def test_a_message_that_nobody_could_read_is_not_written(message):
    with pytest.raises(WireError):
        message.encode()


@given(messages(), st.integers(9, 60))
def test_a_message_comes_back_from_its_datagrams(message, size):
    assembler = DatagramAssembler()
    datagrams = encode_datagrams(message.encode(), size)
    assert max(map(len, datagrams)) <= size
    assert [m for d in datagrams for m in assembler.feed(d)] == [message]
    assert assembler.dropped == 0


def test_a_datagram_has_the_crc_of_its_content():
    data = Message(Command("D"), b"payload").encode()
    (datagram,) = encode_datagrams(data)
    assert datagram == struct.pack("<Ii", zlib.crc32(data), 0) + data
    assert decode_datagram(datagram) == (0, data)
    assert decode_datagram(WAKE_UP) is None
    assert DatagramAssembler().feed(WAKE_UP) == []


def test_a_lost_or_broken_datagram_drops_its_message_and_the_next_one_arrives():
    message = Message(Command("D"), bytes(range(200)))
    parts = encode_datagrams(message.encode(), 60)
    broken = parts[1][:-1] + bytes([parts[1][-1] ^ 1])
    for stream in ([parts[0], *parts[2:]], [parts[0], broken, *parts[2:]], parts[1:], [b"", b"abc"], [bytes(20)]):
        assembler = DatagramAssembler()
        assert [m for d in stream for m in assembler.feed(d)] == []
        assert assembler.dropped > 0
        assert [m for d in parts for m in assembler.feed(d)] == [message]


def test_datagrams_have_limits():
    assert max(map(len, encode_datagrams(bytes(200_000)))) == MAX_DATAGRAM
    for data, size in ((b"", 8), (b"", MAX_DATAGRAM + 1), (bytes(connection.MAX_PARTS + 1), 9)):
        with pytest.raises(WireError):
            encode_datagrams(data, size)
    far = struct.pack("<Ii", zlib.crc32(b"x"), connection.MAX_PARTS) + b"x"
    with pytest.raises(WireError, match="packet"):
        decode_datagram(far)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_commands_of_text_are_read_with_either_end_of_line(end):
    lines = ["a", "[list] [out]", "d", '(1 "a', 'b")', "D 1 2.5", "3", "*", "", "~/w", "q", ""]
    found = list(LineFramer().feed(end.join(lines).encode()))
    commands = ["a", "d", "D 1 2.5", "*", "~/w", "q"]
    assert [m.command for m in found] == commands
    assert [m.body for m in found] == ["[list] [out]", '(1 "a\nb")', "3", None, None, None]
    assert [m.wants_reply for m in found] == [True, True, False, False, False, False]


@given(st.lists(st.one_of(st.sampled_from(["q", "*", "/a", "!/a"]), st.sampled_from(["d", "a", "do"]))))
def test_commands_of_text_come_back(commands):
    sent = [TextMessage(c, '("a b" 3)' if TextMessage.has_body(c) else None) for c in commands]
    assert list(LineFramer().feed(b"".join(m.encode() for m in sent))) == sent


def test_lines_have_limits():
    with pytest.raises(WireError, match="100"):
        list(LineFramer(limit=100).lines(b"a" * 101))
    with pytest.raises(WireError, match="100"):
        list(LineFramer(limit=100).lines(b"a" * 101 + b"\n"))
    with pytest.raises(WireError, match="lines"):
        list(LineFramer().feed(b"d\n" + b"(\n" * (connection.MAX_LINES + 1)))


def test_a_hello_of_text_comes_back_and_others_are_refused():
    for hello in (TextHello("/a"), TextHello("admin", acknowledged=False)):
        assert TextHello.decode(hello.encode().decode().rstrip()) == hello
    assert TextHello("admin").welcome == b"Welcome admin\r\n"
    for line in ("CONNECT", "CONNACK ", "HELLO /a", "CONNECT " + "a" * (MAX_NAME + 1)):
        with pytest.raises(WireError):
            TextHello.decode(line)
    for message in (TextMessage("d"), TextMessage("q", "1")):
        with pytest.raises(WireError, match="body"):
            message.encode()


# -- the name server -----------------------------------------------------------------------------------------------

WORDS = st.text("abcxyz/:._-0123456789", min_size=1, max_size=20)
CONTACTS = st.builds(Contact, name=WORDS, host=WORDS, port=st.integers(0, 65535), carrier=WORDS)


@given(st.lists(CONTACTS, max_size=5))
def test_an_answer_of_the_name_server_comes_back(contacts):
    raw = encode_answer(contacts)
    assert decode_answer(raw) == contacts
    assert is_complete(raw, Query(("list",)))
    assert not is_complete(raw[:-2], Query(("list",)))


@given(st.lists(WORDS, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_a_query_comes_back(words, end):
    query = Query(tuple(words), end)
    assert Query.decode(query.encode()) == query
    assert Query.decode(query.encode()).encode() == query.encode()


def test_lines_that_are_no_registrations_come_back_as_they_are():
    lines = [
        "port /a property ips = 127.0.0.1 ::1",
        "port /a property x =",
        "port /a property x value y present false",
        "port /a route /b = tcp://b",
        "garbage collection done.",
    ]
    assert decode_answer(encode_answer(lines)) == lines


def test_the_answer_for_an_unknown_port_is_the_recorded_one():
    assert format_bottle(NO_SUCH_PORT) == 'port (error -2 "port not known")'


@pytest.mark.parametrize("raw", [b"", b"\n", b"NAME_SERVER list", b"NAME list\n", b"NAME_SERVER a\nb\n"])
def test_what_is_no_query_is_refused(raw):
    with pytest.raises(WireError):
        Query.decode(raw)


def test_queries_and_contacts_have_limits():
    for words in (("a b",), ("",), ("a\n",), ("a" * MAX_QUERY,)):
        with pytest.raises(WireError):
            Query(words).encode()
    with pytest.raises(WireError, match=str(MAX_QUERY)):
        Query.decode(b"NAME_SERVER " + b"a" * MAX_QUERY + b"\n")
    for port, name in ((65536, "/a"), (-1, "/a"), (1, "/a b"), (1, ""), (1, "a" * 2000)):
        with pytest.raises(WireError):
            Contact(name=name, host="127.0.0.1", port=port)
    with pytest.raises(WireError, match="65535"):
        decode_answer(b"registration name /a ip 1.2.3.4 port 70000 type tcp\r\n*** end of message\r\n")
    with pytest.raises(WireError, match="end"):
        decode_answer(b"registration name /a ip 1.2.3.4 port 1 type tcp\r\n")


@pytest.mark.parametrize(
    ("target", "contact"),
    [
        ("/a/b:i", ("", "/a/b:i")),
        ("tcp://a/b:i", ("tcp", "/a/b:i")),
        ("fast_tcp:/a/b:i", ("fast_tcp", "/a/b:i")),
        ("tcp://127.0.0.1:10002", ("tcp", "127.0.0.1:10002")),
        ("tcp+recv.portmonitor+type.dll://a", ("tcp+recv.portmonitor+type.dll", "/a")),
    ],
)
def test_a_connect_command_names_a_carrier_and_a_port(target, contact):
    assert parse_contact(target) == contact


@pytest.mark.parametrize("target", ["", "tcp://", "/a b", "/" + "a" * 2000])
def test_a_target_that_names_no_port_is_refused(target):
    with pytest.raises(WireError):
        parse_contact(target)
