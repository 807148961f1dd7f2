"""Ports: carriers, order and losses, replies, administration, and peers that behave badly."""

import contextlib
import socket
import struct
import threading
from pathlib import Path

import pytest
from fuzz import until
from yarp_world import Peer, exchange, yarp_world

from pliant.base.errors import BridgeError, WireError
from pliant.yarp.bridge import inputs
from pliant.yarp.bridge.calls import RpcConnection, ask_administration, connect_ports, disconnect_ports
from pliant.yarp.bridge.outputs import OUTPUT_CARRIERS, Output, dial
from pliant.yarp.wire import (
    ACKNOWLEDGEMENT,
    Bottle,
    Command,
    Contact,
    Hello,
    Message,
    Vocab,
    bottle,
    encode_bottle,
    format_bottle,
    parse_bottle,
)
from pliant.yarp.wire.connection import NOT_FOUND, encode_number
from pliant.yarp.wire.values import FAIL

pytestmark = pytest.mark.network


def connected(network, source, target, carrier="tcp"):
    connect_ports(network.names, source.name, target.name, carrier)
    until(lambda: target.inputs, f"an input by {carrier}")


@pytest.mark.parametrize("carrier", OUTPUT_CARRIERS)
@pytest.mark.parametrize("dialect", [3, 4])
def test_a_message_and_its_envelope_arrive_by_every_carrier(carrier, dialect):
    content = parse_bottle('1 2.5 hello [set] ("a b" (3 4.0)) {4 5 6} true')
    heard = []
    with yarp_world() as (_, _, network):
        target = network.open("/in", on_data=lambda a: heard.append((a.bottle(), a.envelope, a.sender)))
        source = network.open("/out", dialect=dialect)
        connected(network, source, target, carrier)
        source.write_bottle(content, "7 0.25")
        until(lambda: heard, "the message")
        disconnect_ports(network.names, "/out", "/in")
        until(lambda: not target.inputs, "the input has ended")
    assert heard == [(content, "7 0.25", "/out")]


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "text_ack"])
def test_nothing_is_lost_and_the_order_is_kept_up_to_the_bound(carrier):
    heard = []
    with yarp_world() as (_, _, network):
        target = network.open("/in", on_data=lambda a: heard.append(a.bottle()[0]))
        source = network.open("/out", queue=3000)
        connected(network, source, target, carrier)
        for k in range(2000):
            source.write_bottle(bottle(k, "x" * 100))
        until(lambda: len(heard) == 2000, "all messages")
        assert heard == list(range(2000))
        assert source.dropped == 0


def test_a_message_of_many_datagrams_arrives_whole_by_udp():
    heard = []
    content = bottle(bytes(range(256)) * 800)
    with yarp_world() as (_, _, network):
        target = network.open("/in", on_data=lambda a: heard.append(a.bottle()))
        source = network.open("/out")
        connected(network, source, target, "udp")
        for _ in range(20):  # udp may lose some
            source.write_bottle(content)
            with contextlib.suppress(AssertionError):
                until(lambda: heard, "the message", 0.5)
                break
    assert heard[0] == content


@pytest.mark.parametrize(("line", "count"), [(b"x" * 60_000, 40), (b"x", 600_000), (b"", 1_100_000)])
def test_an_answer_without_end_to_an_administrator_is_refused(line, count):
    endless = Peer([(1, b"Welcome admin\r\n" + (line + b"\r\n") * count)])
    try:
        with pytest.raises(WireError, match="an answer of more than 1048576 characters"):
            ask_administration(Contact(name="/endless", host="127.0.0.1", port=endless.port), bottle("help"), 60.0)
    finally:
        endless.close()


def test_a_datagram_message_that_is_too_long_or_wrong_is_counted_and_told_and_the_next_one_arrives():
    heard, told = [], []
    with yarp_world() as (_, _, network):
        network.on_complaint = told.append
        target = network.open("/in", on_data=lambda a: heard.append(a.bottle()[0]), limit=1000)
        source = network.open("/out")
        connected(network, source, target, "udp")
        source.write_bottle(bottle(b"x" * 2000))
        until(lambda: target.rejected == 1, "the long message")
        source.write(lambda dialect: b"no Bottle")
        until(lambda: target.rejected == 2, "the wrong message")
        source.write_bottle(bottle(7))
        until(lambda: heard == [7], "the next message")
    assert "/in: /out: a message of 2012 bytes; must be at most 1000" in told[0]


def test_a_receiver_that_never_reads_delays_nobody_and_its_losses_are_counted():
    heard = []
    deaf = Peer([(17, encode_number(1))], read=False)
    try:
        with yarp_world() as (_, _, network):
            target = network.open("/in", on_data=lambda a: heard.append(a.bottle()[0]))
            source = network.open("/out", queue=20)
            connected(network, source, target)
            contact = Contact(name="/deaf", host="127.0.0.1", port=deaf.port)
            output = Output(source, "/deaf", contact, "fast_tcp", dial("/out", contact, "fast_tcp"))
            network.reactor.call(lambda: source.add_output(output))
            until(lambda: "/deaf" in source.outputs, "the deaf receiver")
            for k in range(400):
                source.write_bottle(bottle(k, b"x" * 50_000))
                until(lambda k=k: len(heard) > k, "the other receiver gets each message")
            assert heard == list(range(400))
            assert output.dropped > 0
            assert network.health()["dropped"] == output.dropped
        assert source.dropped + output.sent == 400  # what waited is lost at the end
    finally:
        deaf.close()


def test_writing_without_a_receiver_queues_nothing():
    with yarp_world() as (_, _, network):
        source = network.open("/out")
        source.write(lambda dialect: pytest.fail("nobody listens"))
        assert (source.sent, source.dropped) == (0, 0)


def test_an_object_is_encoded_once_for_each_dialect():
    encoded = []

    def encode(dialect):
        encoded.append(dialect)
        return encode_bottle(bottle(1.5), dialect)

    heard = []
    with yarp_world() as (_, _, network):
        source = network.open("/out", dialect_of=lambda receiver: 4 if receiver.endswith("4") else 3)
        for name in ("/a3", "/b3", "/c4", "/d4"):
            target = network.open(name, on_data=lambda a: heard.append(a.bottle_and_dialect()))
            connected(network, source, target)
        source.write(encode)
        until(lambda: len(heard) == 4, "all four")
    assert sorted(encoded) == [3, 4]
    assert sorted(d for _, d in heard) == [3, 3, 4, 4]
    assert {b.items for b, _ in heard} == {(1.5,)}


def test_a_port_that_latches_gives_a_new_receiver_the_newest_message_once_and_in_order():
    first, second = [], []
    with yarp_world() as (_, _, network):
        source = network.open("/out", latch=True)
        for k in range(3):
            source.write_bottle(bottle(k))
        for name, heard in (("/a", first), ("/b", second)):
            target = network.open(name, on_data=lambda a, heard=heard: heard.append(a.bottle()[0]))
            connected(network, source, target)
        until(lambda: first and second, "the newest message")
        for k in range(3, 200):
            source.write_bottle(bottle(k))
            if k % 20 == 0:
                until(lambda k=k: second[-1] == k, "no queue is full")
        until(lambda: first[-1] == second[-1] == 199, "the last message")
    assert first == second == list(range(2, 200))


def test_a_call_is_answered_and_a_handler_that_refuses_answers_fail():
    def answer(arrival):
        content = arrival.bottle()
        return bottle(Vocab.of("is"), *content.items) if content.items else content[0]

    with yarp_world() as (_, _, network):
        port = network.open("/rpc", on_data=lambda a: bottle(Vocab.of("is"), *a.bottle(3).items))
        with RpcConnection(port.contact) as connection:
            assert connection.call(bottle("x", 2.5)) == bottle(Vocab.of("is"), "x", 2.5)
            assert connection.call_bytes(b"\x01\x02") == encode_bottle(bottle(FAIL), 3)
            assert connection.call(bottle(1)) == bottle(Vocab.of("is"), 1)
        assert port.rejected == 1


def test_an_answer_of_another_thread_keeps_the_order_of_a_connection():
    from concurrent.futures import Future

    waiting = []

    def later(arrival):
        waiting.append((Future(), arrival.bottle()[0]))
        return waiting[-1][0]

    with yarp_world() as (_, _, network):
        port = network.open("/rpc", on_data=later)
        hello = Hello(carrier="tcp", sender="anon").encode()
        calls = [Message(Command("d"), encode_bottle(bottle(k), 3)).encode() for k in range(3)]
        with socket.create_connection(("127.0.0.1", port.number), timeout=10.0) as sock:
            sock.sendall(hello + b"".join(calls))
            said = b""
            for k in range(3):
                until(lambda k=k: len(waiting) == k + 1, "one call at a time")
                waiting[k][0].set_result(bottle(10 * k))
            expected = b"".join(encode_bottle(bottle(10 * k), 3) + ACKNOWLEDGEMENT for k in range(3))
            while len(said) < 8 + len(expected):
                said += sock.recv(4096)
        assert said[8:] == expected


def test_an_answer_that_never_comes_is_fail(monkeypatch):
    from concurrent.futures import Future

    monkeypatch.setattr(inputs, "ANSWER_TIMEOUT_S", 0.1)
    with yarp_world() as (_, _, network):
        port = network.open("/rpc", on_data=lambda a: Future())
        with RpcConnection(port.contact) as connection:
            assert connection.call(bottle(1)) == bottle(FAIL)


def test_a_second_connection_of_the_same_name_replaces_the_first():
    with yarp_world() as (_, _, network):
        port = network.open("/in", on_data=lambda a: None)
        hello = Hello(carrier="tcp", sender="/twice").encode()
        with socket.create_connection(("127.0.0.1", port.number), timeout=10.0) as first:
            first.sendall(hello)
            assert len(first.recv(8)) == 8
            assert len(exchange(port.number, hello, 8)) == 8
            assert first.recv(8) == b""


def administer(port, text):
    return format_bottle(ask_administration(port.contact, parse_bottle(text)))


def test_administrators_list_add_delete_and_ask_for_properties():
    with yarp_world() as (_, _, network):
        target = network.open("/in", on_data=lambda a: None)
        source = network.open("/out", type_name="Vector")
        assert administer(source, "[ver]") == "[ver] 1 2 3"
        assert administer(source, "[help]").startswith("[many] ")
        assert administer(source, '[add] "fast_tcp://in"') == ('0 "Added connection from /out to fast_tcp://in\\r\\n"')
        assert administer(source, "[list] [out]") == '"/in"'
        assert administer(source, '[list] [out] "/in"') == '(from "/out") (to "/in") (carrier fast_tcp)'
        assert administer(target, '[list] [in] "/out"') == '(from "/out") (to "/in") (carrier fast_tcp)'
        assert administer(source, "[list] [out] /other") == ""
        assert administer(source, "[del] /in") == '0 "Removed connection from /out to /in\\r\\n"'
        assert administer(source, "[del] /in").startswith('-1 "Could not find an outgoing connection to /in')
        assert administer(source, "[add] /nonexist") == '-1 "Do not know how to connect to /nonexist\\r\\n"'
        assert administer(source, "[add] mcast://in").startswith("-1 ")
        assert administer(target, "[add] /out").startswith("0 ")  # may send as well
        assert administer(source, "[prop] [set] k (1 2)") == "[ok]"
        assert administer(source, "[prop] [get] k") == "(1 2)"
        own = ask_administration(source.contact, parse_bottle("[prop] [get] /out"))
        assert own.find("port").find("type") == "Vector"
        assert administer(source, "[nonsense] 1") == '[fail] "send [help] for list of valid commands"'
        assert administer(source, "[atch] [out] (a b)").startswith("[fail]")
        assert administer(source, "[get] [out] /x").startswith("-1 ")


def test_a_port_that_only_takes_connections_does_not_dial():
    with yarp_world() as (_, _, network):
        port = network.open("/in", output=False, on_data=lambda a: None)
        assert administer(port, "[add] /in").startswith("-1 ")


def test_a_person_at_a_terminal_gets_a_description_and_help():
    with yarp_world() as (_, _, network):
        port = network.open("/in", on_data=lambda a: bottle("you said", *a.bottle().items))
        said = exchange(
            port.number, b"CONNACK me\r\n*\r\n?\r\nnonsense\r\nd\r\n1 (2\r\n3)\r\n~/x\r\nq\r\n", 10_000
        ).decode()
        assert said.startswith(f"Welcome me\r\nThis is /in at tcp://127.0.0.1:{port.number}/\r\n")
        assert "There is an input connection from me to /in using text_ack" in said
        assert '"you said" 1 (2 3)\r\n<ACK>\r\n' in said
        assert "Could not find an incoming connection from /x\r\n" in said
        assert said.count("<ACK>") == 6


def test_a_browser_gets_a_page_and_other_requests_are_refused():
    with yarp_world() as (_, _, network):
        port = network.open("/in", on_data=lambda a: None)
        page = exchange(port.number, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 10_000).decode()
        assert page.startswith("HTTP/1.1 200 OK")
        assert "This is /in at" in page
        other = exchange(port.number, b"GET / HTTP/1.1\r\nHost: site.example\r\n\r\n", 10_000)
        assert other.startswith(b"HTTP/1.1 403")
        assert b"/in" not in other
        assert exchange(port.number, b"POST / HTTP/1.1\r\n\r\n", 10_000).startswith(b"HTTP/1.1 405")


NUMBER = encode_number(10)
BAD = {
    "first bytes of no carrier": (b"garbage garbage", NOT_FOUND),
    "an unknown carrier number": (b"YA\x65\x1e\x00\x00RP\x02\0\0\0x\0", NOT_FOUND),
    "a name without an end": (b"YA\xe4\x1e\x00\x00RP\x04\0\0\0/abc", b""),
    "a name of 2 GB": (b"YA\xe4\x1e\x00\x00RP\xff\xff\xff\x7f", b""),
    "a negative name": (b"YA\xe4\x1e\x00\x00RP\xff\xff\xff\xff", b""),
    "modifiers of a carrier": (Hello(carrier="tcp", sender="/s (recv portmonitor) (type dll)").encode(), b""),
    "mcast": (Hello(carrier="mcast", sender="/s", group=("224.1.1.1", 10017)).encode(), b""),
    "a query to a port that is no server": (b"NAME_SERVER list\r\n", NOT_FOUND),
    "nothing": (b"", b""),
}


@pytest.mark.parametrize("what", BAD)
def test_a_connection_that_cannot_be_greeted_is_answered_and_closed(what):
    data, expected = BAD[what]
    with yarp_world() as (_, _, network):
        port = network.open("/in", on_data=lambda a: None)
        with socket.create_connection(("127.0.0.1", port.number), timeout=10.0) as sock:
            sock.sendall(data)
            if not data:
                sock.shutdown(socket.SHUT_WR)
            said = b""
            with contextlib.suppress(ConnectionError):
                while piece := sock.recv(4096):
                    said += piece
        assert said == expected
        until(lambda: not port.inputs, "the connection has gone")
        with RpcConnection(port.contact):
            pass


HELLO = Hello(carrier="tcp", sender="/s").encode()
BAD_MESSAGES = {
    "no index": b"x" * 100,
    "a length of 2 GB": NUMBER + b"\x01\x01" + b"\xff" * 8 + struct.pack("<ii", 2**31 - 1, 0),
    "a negative length": NUMBER + b"\x02\x01" + b"\xff" * 8 + struct.pack("<iii", 100, -50, 0),
    "no header": NUMBER + b"\x01\x01" + b"\xff" * 8 + struct.pack("<ii", 4, 0) + b"abcd",
    "an unknown command letter": NUMBER + b"\x01\x01" + b"\xff" * 8 + struct.pack("<ii", 8, 0) + b"\0\0\0\0~z\0\1",
    "more than the port takes": NUMBER
    + b"\x01\x01"
    + b"\xff" * 8
    + struct.pack("<ii", 2_000_000, 0)
    + b"x" * 1_500_000,
}


@pytest.mark.parametrize("what", BAD_MESSAGES)
def test_a_message_that_is_none_ends_its_connection_only(what):
    with yarp_world() as (_, _, network):
        port = network.open("/in", on_data=lambda a: None)
        with (
            socket.create_connection(("127.0.0.1", port.number), timeout=10.0) as sock,
            contextlib.suppress(ConnectionError),
        ):
            sock.sendall(HELLO + BAD_MESSAGES[what])
            while sock.recv(4096):
                pass
        until(lambda: not port.inputs and port.rejected == 1, "the connection has gone")
        with RpcConnection(port.contact):
            pass


def test_lists_nested_without_end_are_refused_in_both_forms():
    deep = struct.pack("<ii", 256, 1) * 10_000
    with yarp_world() as (_, _, network):
        port = network.open("/in", on_data=lambda a: a.bottle())
        with RpcConnection(port.contact) as connection:
            assert connection.call_bytes(deep) == encode_bottle(bottle(FAIL), 3)
        text = b"CONNACK x\r\nd\r\n" + b"(" * 100_000 + b")" * 100_000 + b"\r\n"
        assert b"[fail]" in exchange(port.number, text, 26)
        assert port.rejected == 2


def test_a_peer_that_says_nothing_is_closed_after_a_time(monkeypatch):
    monkeypatch.setattr(inputs, "GREETING_TIMEOUT_S", 0.1)
    with yarp_world() as (_, _, network):
        port = network.open("/in", on_data=lambda a: None)
        with socket.create_connection(("127.0.0.1", port.number), timeout=10.0) as sock:
            assert sock.recv(8) == b""


def test_a_peer_that_does_not_read_its_replies_is_not_read_either():
    with yarp_world() as (_, _, network):
        port = network.open("/in", on_data=lambda a: bottle(b"x" * 100_000))
        call = Message(Command("d"), encode_bottle(bottle(1), 3)).encode()
        with socket.create_connection(("127.0.0.1", port.number), timeout=10.0) as sock:
            sock.sendall(HELLO + call * 2000)
            until(lambda: port.received > 5, "some calls")
            with RpcConnection(port.contact) as other:
                assert len(other.call(bottle(1))[0]) == 100_000
            assert port.received < 1000


def test_connections_into_a_port_and_udp_senders_are_limited(monkeypatch):
    monkeypatch.setattr(inputs, "MAX_INPUTS", 20)
    with yarp_world() as (_, _, network):
        port = network.open("/in", on_data=lambda a: None)
        for k in range(40):
            assert len(exchange(port.number, Hello(carrier="udp", sender=f"/u{k}").encode(), 8)) == 8
        until(lambda: len(port.inputs) <= inputs.MAX_UDP_INPUTS, "the oldest senders have gone")
        with contextlib.ExitStack() as stack:
            for _ in range(30):
                stack.enter_context(socket.create_connection(("127.0.0.1", port.number)))
            until(lambda: port.refused >= 10, "further ones are closed")
            assert len(port.inputs) <= 20


def test_connections_into_all_ports_together_are_limited(monkeypatch):
    monkeypatch.setattr(inputs, "MAX_CONNECTIONS", 30)
    with yarp_world() as (_, _, network):
        ports = [network.open(f"/in{k}", on_data=lambda a: None) for k in range(4)]
        with contextlib.ExitStack() as stack:
            for k in range(60):
                stack.enter_context(socket.create_connection(("127.0.0.1", ports[k % 4].number)))
            until(lambda: sum(p.refused for p in ports) >= 30, "further ones are closed")
            assert sum(len(p.inputs) for p in ports) <= 30
        until(lambda: network.reactor.connections == 0, "all have gone")
        with RpcConnection(ports[0].contact):
            pass


def test_a_udp_connection_ends_when_nobody_takes_its_datagrams():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gone:
        gone.bind(("127.0.0.1", 0))
        number = gone.getsockname()[1]
    peer = Peer([(17, encode_number(number))])
    try:
        with yarp_world() as (_, _, network):
            source = network.open("/out")
            contact = Contact(name="/gone", host="127.0.0.1", port=peer.port)
            output = Output(source, "/gone", contact, "udp", dial("/out", contact, "udp"))
            network.reactor.call(lambda: source.add_output(output))
            until(lambda: source.active, "the connection")

            def written():
                source.write_bottle(bottle(1))
                return not source.active

            until(written, "the connection has ended")
    finally:
        peer.close()


def test_two_ports_of_one_name_are_refused_while_the_first_answers():
    with yarp_world() as (_, _, network):
        network.open("/a")
        with pytest.raises(BridgeError, match="is open already"):
            network.open("/a")


@pytest.mark.parametrize("name", ["", "a", "/", "/a b", "/" + "x" * 2000])
def test_a_name_that_is_none_is_refused(name):
    with yarp_world() as (_, _, network), pytest.raises(BridgeError, match="must begin with a slash"):
        network.open(name)


def sockets():
    found = set()
    for fd in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if str(target := fd.readlink()).startswith("socket:"):
                found.add(str(target))
    return found


def test_clients_that_connect_and_leave_leave_nothing_open():
    threads, before = set(threading.enumerate()), sockets()
    with yarp_world() as (_, _, network):
        port = network.open("/in", on_data=lambda a: Bottle())
        inside = len(sockets())
        for k in range(300):
            with socket.create_connection(("127.0.0.1", port.number)) as sock:
                if k % 3:
                    sock.sendall(Hello(carrier="tcp", sender=f"/c{k}").encode() + (b"YA" if k % 3 > 1 else b""))
                    assert len(sock.recv(8)) == 8
        until(lambda: not port.inputs, "all have gone")
        assert len(sockets()) <= inside
    assert sockets() <= before
    assert set(threading.enumerate()) <= threads


@pytest.mark.parametrize("dialect", [3, 4])
def test_a_reply_that_is_no_bottle_is_told_with_the_dialect_that_was_asked_for(dialect):
    """Four integers without tags, as the protocol's version is answered."""
    record = struct.pack("<4i", 1, 9, 0, 0)
    connection = object.__new__(RpcConnection)
    connection.dialect, connection.contact = dialect, Contact(name="/arm/nws/rpc:i", host="h", port=1)
    connection.call_bytes = lambda payload: record
    with pytest.raises(WireError, match=f"/arm/nws/rpc:i is not a Bottle of dialect {dialect}: .*without tags"):
        connection.call(bottle("getRemoteProtocolVersion"))
