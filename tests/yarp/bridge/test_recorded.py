"""The recorded exchanges of YARP 4.0 (name server, carriers), played against our server and ports, byte for byte."""

import os
import re
import socket

import pytest
from fuzz import until
from yarp_world import Peer, exchange, recorded, yarp_world

from pliant.yarp.bridge.outputs import Output, dial
from pliant.yarp.wire import Contact, parse_bottle
from pliant.yarp.wire.connection import encode_number

pytestmark = [pytest.mark.network, pytest.mark.shared]

FIRST_MESSAGE = parse_bottle('1 2.5 hello [set] ("a b" 3) {4 5 6} true')
SECOND_MESSAGE = parse_bottle("(1.0 2.0 3.0)")


def free_numbers(count):
    """Return the first of so many TCP ports in a row that nobody has."""
    begin = 21000 + 4 * (os.getpid() % 2000)  # other runs on this machine look elsewhere
    for first in range(begin, 60000, 97):
        probes = []
        try:
            for k in range(count):
                probes.append(socket.create_server(("127.0.0.1", first + k)))
        except OSError:
            continue
        finally:
            for probe in probes:
                probe.close()
        return first
    raise AssertionError("no free ports")


def test_the_name_server_answers_the_recorded_queries_byte_for_byte():
    streams = {k: v for k, v in recorded("v4_01_nameserver").items() if v[0].startswith(b"NAME_SERVER")}
    assert len(streams) > 30
    first = free_numbers(4)
    with yarp_world(first_port=first) as (server, names, _):
        numbers = {10000: server.address.port, 10002: first, 10003: first + 1, 10004: first + 2}

        def here(data):
            # The name server's own number and those that it gave; the entry of discovery keeps 10000.
            text = data.replace(b"fallback ip 224.2.1.1 port 10000", b"FALLBACK").replace(
                b'"224.2.1.1") (port_number 10000)', b"FALLBOT"
            )
            text = re.sub(rb"\b1000[0234]\b", lambda m: str(numbers[int(m[0])]).encode(), text)
            return text.replace(b"FALLBACK", b"fallback ip 224.2.1.1 port 10000").replace(
                b"FALLBOT", b'"224.2.1.1") (port_number 10000)'
            )

        # A port was there already when the recording began.
        assert names.register("...", "tcp", "127.0.0.1", first + 1).name == "/tmp/port/1"
        for name, (asked, answered) in streams.items():
            expected = here(answered)
            assert exchange(server.address.port, here(asked), len(expected)) == expected, name


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "text", "text_ack"])
def test_an_input_answers_a_recorded_writer_byte_for_byte(carrier):
    streams = recorded("v4_02_carriers")
    start = {"tcp": b"YA\xe4", "fast_tcp": b"YA\x64", "text": b"CONNECT /w_", "text_ack": b"CONNACK /w_"}[carrier]
    said, answered = next(v for v in streams.values() if v[0].startswith(start))
    heard = []
    with yarp_world() as (_, _, network):
        port = network.open(f"/r_{carrier}", on_data=lambda a: heard.append(a.bottle()))
        if answered.startswith(b"YA"):  # its first number is the TCP port, which nobody reads
            answered = encode_number(port.number) + answered[8:]
        assert exchange(port.number, said, len(answered) + 1) == answered
    assert heard[0] == FIRST_MESSAGE
    assert heard[1].items in (SECOND_MESSAGE.items, SECOND_MESSAGE.items[0].items)


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp"])
def test_an_output_says_what_the_recorded_writer_said_byte_for_byte(carrier):
    start = {"tcp": b"YA\xe4", "fast_tcp": b"YA\x64"}[carrier]
    said, answered = next(v for v in recorded("v4_02_carriers").values() if v[0].startswith(start))
    greeting = 12 + len(f"/w_{carrier}") + 1
    peer = Peer([(greeting, answered[:8])])
    try:
        with yarp_world() as (_, _, network):
            port = network.open(f"/w_{carrier}", dialect=4)
            contact = Contact(name=f"/r_{carrier}", host="127.0.0.1", port=peer.port)
            sock = dial(port.name, contact, carrier)
            output = Output(port, contact.name, contact, carrier, sock)
            network.reactor.call(lambda: port.add_output(output))
            until(lambda: port.active, "the output is there")
            port.write_bottle(FIRST_MESSAGE)
            port.write_bottle(SECOND_MESSAGE)
            until(lambda: output.sent == 2, "both are sent")
            network.reactor.call(lambda: output.close(quit=True))
            assert peer.wait(len(said)) == said
    finally:
        peer.close()


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "udp", "text", "text_ack"])
def test_administrators_get_the_recorded_replies_byte_for_byte(carrier):
    streams = recorded("v4_02_carriers")
    mark = f'r_{carrier}"'.encode()
    admin = [v for v in streams.values() if mark in v[0] and v[0].startswith(b"CONNACK admin")]
    assert len(admin) == 2
    with yarp_world() as (_, _, network):
        network.open(f"/r_{carrier}", on_data=lambda a: None)
        port = network.open(f"/w_{carrier}")
        for asked, answered in admin:
            assert exchange(port.number, asked, len(answered)) == answered


def test_a_udp_sender_that_leaves_out_of_band_gets_the_recorded_reply():
    asked, answered = next(v for v in recorded("v4_02_carriers").values() if v[0].endswith(b"~/w_udp\r\nq\r\n"))
    greeting = next(v[0] for v in recorded("v4_02_carriers").values() if v[0].startswith(b"YA\x61"))
    with yarp_world() as (_, _, network):
        port = network.open("/r_udp", on_data=lambda a: None)
        assert len(exchange(port.number, greeting, 8)) == 8
        assert [c.sender for c in port.inputs.values() if c.is_udp] == ["/w_udp"]
        assert exchange(port.number, asked, len(answered) + 1) == answered
        until(lambda: not port.inputs, "the connection has gone")
