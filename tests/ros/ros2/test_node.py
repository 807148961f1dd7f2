"""Services of ROS 2, asked in both conventions: by a participant of our own, and by Cyclone DDS."""

import struct
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ros2_clients import DOMAINS, CycloneClient, FastClient, until

from pliant.base.errors import BridgeError, DeviceError, WireError
from pliant.ros.ros2 import Ros2Node
from pliant.ros.ros2.endpoints import Sample
from pliant.ros.ros2.participant import CYCLONE, RtpsParticipant
from pliant.ros.ros2.services import Asker, Services, read_request, write_reply
from pliant.ros.wire import Codec, dds_type_name, registry
from pliant.ros.wire.rtps.parameters import related_identity

pytestmark = pytest.mark.network
FAST = b"\x01\x0f"


@pytest.fixture
def domain():
    return next(DOMAINS)


@pytest.fixture
def node(domain):
    faults = []
    participant = RtpsParticipant("server", domain=domain, complain=faults.append)
    made = Services(participant, Codec(2), faults.append)
    made.faults = faults
    made.start()
    participant.start()
    yield made
    participant.stop()
    made.stop()


@pytest.fixture
def fast(domain):
    made = []

    def make(name, type_name):
        participant = RtpsParticipant("client", domain=domain)
        participant.start()
        made.append(participant)
        return FastClient(participant, name, type_name)

    yield make
    for participant in made:
        participant.stop()


def test_who_publishes_and_what_got_lost_is_known_of_each_topic_that_is_heard(domain):
    one, other = Ros2Node("one", domain=domain), Ros2Node("other", domain=domain)
    for item in (one, other):
        item.start()
        item.announce()
    try:
        got = []
        one.subscribe("/speed", "std_msgs/Float64", got.append)
        out = other.advertise("/speed", "std_msgs/Float64")
        until(lambda: out.matched)
        out.send(other.codec.encode("std_msgs/Float64", {"data": 1.0}))
        until(lambda: got)
        until(lambda: one.publishers_of("/speed") == ["/other"])
        assert one.lost_commands() == {"/speed": 0}
        assert one.publishers_of("/nothing") == []
    finally:
        one.stop()
        other.stop()


@pytest.fixture
def cyclone(domain):
    made = []

    def make(name, type_name, guid):
        client = CycloneClient(domain, name, type_name, guid)
        made.append(client.participant)
        return client

    yield make
    for participant in reversed(made):  # the first one owns the settings of the domain
        participant.stop()


def switch(request):
    if request["data"]:
        return {"success": True, "message": "on"}
    raise DeviceError("there is no off")


def test_both_conventions_are_answered_side_by_side(node, fast, cyclone):
    node.serve("/robot/switch", "std_srvs/SetBool", switch)
    first = fast("/robot/switch", "std_srvs/SetBool")
    second = fast("/robot/switch", "std_srvs/SetBool")
    third = cyclone("/robot/switch", "std_srvs/SetBool", guid=7)
    fourth = cyclone("/robot/switch", "std_srvs/SetBool", guid=1 << 63)
    service = node._services["/robot/switch"]
    until(lambda: first.ready and second.ready and len(service.reader.proxies) == len(service.writer.proxies) == 4)
    until(lambda: third.publication.matched == fourth.publication.matched == 1)
    for k in range(10):
        on = bool(k % 2)
        for client in (first, third, second, fourth):
            reply = client.call(data=on)
            assert reply["success"] is on
            assert reply["message"] == ("on" if on else "there is no off")
    # Clients of Cyclone DDS know their own replies; those of rmw_fastrtps hear nothing else.
    until(lambda: third.others == fourth.others == 10)
    assert sorted(first.replies) == sorted(second.replies) == list(range(1, 11))
    assert node.calls == {"/robot/switch": 40}
    assert node.faults.count("/robot/switch: there is no off") == 20
    assert set(node.faults) == {"/robot/switch: there is no off"}


def test_many_requests_at_once_are_each_answered(node, fast):
    node.serve("/step", "pliant_msgs/Step", lambda r: {"success": True, "message": str(r["count"])})
    client = fast("/step", "pliant_msgs/Step")
    until(lambda: client.ready)
    numbers = {client.ask(count=k): str(k) for k in range(60)}
    until(lambda: len(client.replies) == 60)
    assert {n: reply["message"] for n, reply in client.replies.items()} == numbers


def test_a_reply_may_come_later(node, fast):
    held = []
    node.serve_later("/wait", "std_srvs/Trigger", lambda request, respond: held.append(respond))
    client = fast("/wait", "std_srvs/Trigger")
    until(lambda: client.ready)
    first, second = client.ask(), client.ask()
    until(lambda: len(held) == 2)
    assert not client.replies
    held[1]({"success": True, "message": "second"})
    until(lambda: second in client.replies)
    held[0]({"success": True, "message": "first"})
    held[0]({"success": True, "message": "again"})
    assert until(lambda: client.replies.get(first))["message"] == "first"


def test_a_reply_waits_for_a_reader_that_is_not_known_yet(node, domain):
    node.serve("/late", "std_srvs/Trigger", lambda _: {"success": True, "message": "here"})
    participant = RtpsParticipant("client", domain=domain)
    participant.start()
    try:
        types = registry(2).service("std_srvs/Trigger")
        writer = participant.writer("rq/lateRequest", dds_type_name(types.request.name))
        until(lambda: len(writer.proxies) == 1)
        participant.write(writer, Codec(2).encode(types.request, {}))
        until(lambda: node._waiting)
        got = []
        participant.reader("rr/lateReply", dds_type_name(types.response.name), got.append)
        until(lambda: got)
        # This one said no reader, so its writer is what the reply names.
        assert got[0].related == (writer.guid, 1)
    finally:
        participant.stop()


def test_a_reply_that_nobody_waits_for_is_told_and_dropped(node, domain, monkeypatch):
    monkeypatch.setattr("pliant.ros.ros2.services.MATCH_PATIENCE", 0.0)
    node.serve("/lost", "std_srvs/Trigger", lambda _: {"success": True})
    participant = RtpsParticipant("client", domain=domain)
    participant.start()
    try:
        writer = participant.writer("rq/lostRequest", "std_srvs::srv::dds_::Trigger_Request_")
        until(lambda: len(writer.proxies) == 1)
        participant.write(writer, b"\0\1\0\0\0\0\0\0")
        until(lambda: any("no reader for the reply" in fault for fault in node.faults))
        assert node.refused == 1
    finally:
        participant.stop()


def test_requests_that_cannot_be_read_are_told(node, fast):
    node.serve("/step", "pliant_msgs/Step", lambda r: {"success": True, "message": str(r["count"])})
    client = fast("/step", "pliant_msgs/Step")
    until(lambda: client.ready)
    client.participant.write(client.writer, b"\0\1\0\0")
    until(lambda: node.faults)
    assert "/step: a request of 0000 is not in the convention of its rmw" in node.faults[0]
    assert client.call(count=4)["message"] == "4"
    assert node.refused == 1


def test_too_many_requests_are_refused_and_told(node, fast, monkeypatch):
    monkeypatch.setattr("pliant.ros.ros2.services.WAITING_LIMIT", 6)
    go = threading.Event()

    def slow(_):
        go.wait(25)
        return {"success": True, "message": "done"}

    node.serve("/slow", "std_srvs/Trigger", slow)
    client = fast("/slow", "std_srvs/Trigger")
    until(lambda: client.ready)
    for _ in range(9):
        client.ask()
    until(lambda: node.refused == 3)
    go.set()
    until(lambda: len(client.replies) == 6)
    assert "6 requests wait already" in node.faults[0]


def test_a_service_has_one_server(node):
    node.serve("/one", "std_srvs/Empty", lambda _: {})
    with pytest.raises(BridgeError, match="/one is served already"):
        node.serve("/one", "std_srvs/Empty", lambda _: {})


def test_a_fault_of_a_service_ends_in_an_empty_reply_or_none_and_the_next_is_served(node, fast, caplog):
    calls = []

    def act(_):
        calls.append(1)
        if len(calls) == 1:
            raise ZeroDivisionError("a fault of ours")
        raise DeviceError("not now")

    node.serve("/act", "std_srvs/Empty", act)
    client = fast("/act", "std_srvs/Empty")
    until(lambda: client.ready)
    first, second = client.ask(), client.ask()
    until(lambda: second in client.replies)
    assert first not in client.replies
    assert client.replies[second] == {}
    assert "/act: not now" in node.faults


GUID = bytes(range(16))


def test_the_conventions_have_their_golden_bytes():
    reply = Codec(2).encode("std_srvs/srv/SetBool_Response", {"success": True, "message": "on"})
    sample = Sample(payload=b"\0\1\0\0\1", writer=GUID, sequence=5, related=None, vendor=FAST)
    asker, request = read_request(sample)
    assert request == b"\0\1\0\0\1"
    payload, inline = write_reply(asker, reply)
    assert payload == reply
    assert related_identity(inline) == (GUID, 5)
    named = Sample(payload=b"\0\1\0\0\1", writer=GUID, sequence=5, related=(GUID[::-1], -1 << 32), vendor=FAST)
    assert related_identity(write_reply(read_request(named)[0], reply)[1]) == (GUID[::-1], 5)
    for order, kind in (("<", 1), (">", 0)):
        header = struct.pack(f"{order}Qq", 0x1122334455667788, 3)
        body = bytes([0, kind, 0, 0]) + header + b"\1"
        asker, request = read_request(Sample(payload=body, writer=GUID, sequence=9, related=None, vendor=CYCLONE))
        assert request == bytes([0, kind, 0, 0, 1])
        payload, inline = write_reply(asker, reply)
        assert inline == ()
        assert payload.hex() == "00010000" "8877665544332211" "0300000000000000" + reply[4:].hex()  # fmt: skip


@given(st.binary(max_size=40), st.sampled_from([CYCLONE, FAST, b"\0\0"]))
def test_any_request_is_taken_apart_or_refused(payload, vendor):
    try:
        asker, request = read_request(Sample(payload=payload, writer=GUID, sequence=1, related=None, vendor=vendor))
    except WireError:
        assert vendor == CYCLONE
        assert len(payload) < 20
    else:
        assert isinstance(asker, Asker)
        assert len(request) == len(payload) - len(asker.header)


def test_a_topic_that_is_found_while_another_is_subscribed_to_stops_neither_thread(domain):
    node = Ros2Node("ear", domain=domain)
    inside, make = threading.Event(), node.participant.reader

    def reader(*arguments, **options):
        inside.set()  # whoever subscribes is about to ask for the participant
        return make(*arguments, **options)

    node.participant.reader = reader

    def found():
        with node.participant.lock:  # as while a publication is taken that has arrived
            held.set()
            inside.wait(0.5)
            node.subscribe("/found", "std_msgs/Float64", lambda message: None)

    held = threading.Event()
    threads = [threading.Thread(target=found, daemon=True)]
    threads[0].start()
    assert held.wait(10.0)
    threads.append(
        threading.Thread(target=node.subscribe, args=("/asked", "std_msgs/Float64", lambda message: None), daemon=True)
    )
    threads[1].start()
    for thread in threads:
        thread.join(10.0)
    assert not any(thread.is_alive() for thread in threads)
    node.stop()
