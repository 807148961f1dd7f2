"""Participants of our own: with each other, with Cyclone DDS, and with nonsense from the network."""

import random
import socket

import pytest
from ros2_clients import DOMAINS, until

from pliant.base.errors import BridgeError
from pliant.ros.ros2.participant import CYCLONE, RtpsParticipant
from pliant.ros.wire.rtps.messages import Data, Header, encode_message
from pliant.ros.wire.rtps.parameters import Qos, related_parameters

pytestmark = pytest.mark.network
FLOAT = "std_msgs::msg::dds_::Float64_"


@pytest.fixture
def domain():
    return next(DOMAINS)


@pytest.fixture
def join(domain):
    open_ = []

    def make(name="one", **options):
        faults = []
        made = RtpsParticipant(name, domain=domain, complain=faults.append, **options)
        made.faults = faults
        made.start()
        open_.append(made)
        return made

    yield make
    for participant in reversed(open_):
        participant.stop()


def test_two_find_each_other_and_everything_arrives_in_order(join):
    one, two = join("one"), join("two")
    got = []
    reader = one.reader("rt/x", FLOAT, got.append)
    writer = two.writer("rt/x", FLOAT, depth=300)
    until(lambda: len(writer.proxies) == len(reader.proxies) == 1)
    sent = [b"\0\1\0\0" + bytes([k % 256]) * (k * 100 % 20_000) for k in range(300)]
    for k, payload in enumerate(sent):
        two.write(writer, payload, inline=related_parameters(reader.guid, k + 1))
    until(lambda: len(got) == len(sent))
    assert [s.payload[: len(p)] for s, p in zip(got, sent)] == sent
    assert [s.related for s in got] == [(reader.guid, k + 1) for k in range(len(sent))]
    assert {s.writer for s in got} == {writer.guid}
    assert not one.faults
    assert not two.faults


def test_a_sample_for_one_is_not_heard_by_the_other(join):
    one, two, three = join("one"), join("two"), join("three")
    heard = {name: [] for name in ("two", "three")}
    two.reader("rt/x", FLOAT, heard["two"].append)
    three.reader("rt/x", FLOAT, heard["three"].append)
    writer = one.writer("rt/x", FLOAT)
    until(lambda: len(writer.proxies) == 2)
    for k in range(20):
        one.write(writer, b"\0\1\0\0" + bytes([k]) * 4, only=frozenset(((two if k % 2 else three).prefix,)))
    until(lambda: len(heard["two"]) == len(heard["three"]) == 10)
    assert [s.payload[4] for s in heard["two"]] == list(range(1, 20, 2))
    assert [s.payload[4] for s in heard["three"]] == list(range(0, 20, 2))


def test_who_goes_is_forgotten_and_who_is_removed_does_not_match(join):
    one, two = join("one"), join("two")
    reader = one.reader("rt/x", FLOAT, lambda _: None)
    writer = two.writer("rt/x", FLOAT)
    second = two.writer("rt/x", FLOAT)
    until(lambda: len(reader.proxies) == 2)
    two.remove(second)
    until(lambda: len(reader.proxies) == 1)
    until(lambda: len(writer.proxies) == 1)  # each side learns of the other's endpoints by its own datagrams
    two.stop()
    until(lambda: len(reader.proxies) == 0 and not one.remotes)


def test_a_silent_participant_is_forgotten_when_its_lease_ends(join):
    one, two = join("one"), join("two")
    reader = one.reader("rt/x", FLOAT, lambda _: None)
    two.writer("rt/x", FLOAT)
    until(lambda: len(reader.proxies) == 1)
    two._say_goodbye = lambda: None
    two.stop()
    assert len(reader.proxies) == 1
    with one.lock:
        one.remotes[two.prefix].expires = 0.0
    until(lambda: len(reader.proxies) == 0 and two.prefix not in one.remotes)


def test_other_types_and_other_quality_are_complained_about(join):
    one, two = join("one"), join("two")
    reader = one.reader("rt/x", FLOAT, lambda _: None)
    two.writer("rt/x", "std_msgs::msg::dds_::String_")
    until(lambda: one.faults)
    assert "the participant 'two' writes std_msgs::msg::dds_::String_; the type must be " + FLOAT in one.faults[0]
    kept = two.reader("rt/y", FLOAT, lambda _: None)
    object.__setattr__(kept.data, "qos", Qos(durability=1))
    one.writer("rt/y", FLOAT)
    until(lambda: any("durability" in fault for fault in two.faults))
    assert len(reader.proxies) == 0


@pytest.mark.parametrize("first", ["own", "cyclone"])
def test_cyclone_dds_is_met_whoever_comes_first(join, domain, first):
    from cyclone_peer import CyclonePeer

    cyclone = CyclonePeer("cyclone", domain=domain)
    own = join("own") if first == "own" else None
    try:
        cyclone.start()
        heard, got = [], []
        cyclone.subscribe("/x", "std_msgs/Float64", heard.append)
        publication = cyclone.advertise("/x", "std_msgs/Float64")
        own = own or join("own")
        writer = own.writer("rt/x", FLOAT)
        reader = own.reader("rt/x", FLOAT, got.append)
        until(lambda: len(writer.proxies) == len(reader.proxies) == publication.matched == 1)
        messages = [cyclone.codec.encode("std_msgs/Float64", {"data": float(k)}) for k in range(200)]
        for message in messages:
            publication.send(message)
        until(lambda: len(got) == 200)
        assert [s.payload for s in got] == messages
        assert got[0].vendor == CYCLONE
        # A reader of Cyclone's takes what comes after it has met the writer: it answers the first heartbeat.
        (proxy,) = writer.proxies.values()
        until(lambda: proxy.count >= 0)
        for message in messages:
            own.write(writer, message)
        until(lambda: heard and heard[-1]["data"] == 199.0)
        assert [m["data"] for m in heard][-100:] == [float(k) for k in range(100, 200)]
    finally:
        cyclone.stop()
    until(lambda: len(writer.proxies) == 0)


def test_nonsense_from_the_network_is_counted_and_does_no_harm(join):
    one, two = join("one"), join("two")
    got = []
    reader = one.reader("rt/x", FLOAT, got.append)
    writer = two.writer("rt/x", FLOAT)
    until(lambda: len(writer.proxies) == len(reader.proxies) == 1)
    chance = random.Random(5)
    template = encode_message(
        Header(prefix=two.prefix),
        [Data(reader=reader.guid[12:], writer=b"\0\0\3\xc2", sequence=99, payload=b"\0\3\0\0" + bytes(60))],
    )
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for _ in range(400):
            data = bytearray(template)
            for _ in range(chance.randrange(1, 8)):
                data[chance.randrange(20, len(data))] = chance.randrange(256)
            sock.sendto(data[: chance.randrange(1, len(data))], ("127.0.0.1", one.sockets.port))
            sock.sendto(chance.randbytes(chance.randrange(1, 80)), ("127.0.0.1", one.sockets.port))
    until(lambda: one.malformed > 100)
    two.write(writer, b"\0\1\0\0good")
    until(lambda: any(s.payload == b"\0\1\0\0good" for s in got))
    assert len(one.faults) <= 30


def test_what_another_domain_says_is_not_taken(join, domain):
    one = join("one")
    stranger = RtpsParticipant("stranger", domain=domain)
    stranger.sockets.port = 9  # nobody answers there
    for number, taken in ((domain + 1, False), (domain, True)):
        stranger.domain = number
        announcement = encode_message(Header(prefix=stranger.prefix), [stranger._announcement()])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(announcement, ("127.0.0.1", one.sockets.port))
            marker = join(f"after {number}")  # what it says comes behind that
            until(lambda marker=marker: marker.prefix in one.remotes)
        assert (stranger.prefix in one.remotes) is taken


def test_a_domain_without_a_free_port_is_refused(domain, monkeypatch):
    real = socket.socket.bind

    def taken(sock, address):
        if address[1] >= 7400:
            raise OSError("in use")
        return real(sock, address)

    class Full(socket.socket):
        bind = taken

    monkeypatch.setattr("pliant.ros.ros2.udp.socket.socket", Full)
    with pytest.raises(BridgeError, match=f"no UDP port of domain {domain} is free"):
        RtpsParticipant("one", domain=domain).start()
