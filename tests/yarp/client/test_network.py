"""The client of YARP ports: connections, reading, calls, and what it says where something is missing."""

import pytest
from fuzz import until
from yarp_world import answers_of

from pliant.base.errors import BridgeError
from pliant.yarp.bridge.nameserver import NameServer
from pliant.yarp.client import YarpNetwork, find_server
from pliant.yarp.wire import Stamp, Vocab, bottle, encode_bottle

pytestmark = pytest.mark.network


@pytest.fixture
def yarp():
    with NameServer(port=0) as server, YarpNetwork(str(server.address), timeout=5.0) as network:
        yield network


def test_what_is_written_is_read_with_its_stamp_sender_and_dialect(yarp):
    reader = yarp.open_input("/reader")
    writer = yarp.open_output("/writer")
    assert yarp.connect("/writer", "/reader", "fast_tcp") == "Added connection from /writer to fast_tcp://reader"
    assert yarp.is_connected("/writer", "/reader")
    writer.write_bottle(bottle(1, 2.5), "7 0.25")
    message = reader.read()
    assert (message.content, message.stamp, message.sender) == (bottle(1, 2.5), Stamp(7, 0.25), "/writer")
    assert message.dialect == 3
    assert "already" in yarp.connect("/writer", "/reader", "fast_tcp")
    yarp.disconnect("/writer", "/reader")
    until(lambda: not yarp.is_connected("/writer", "/reader"), "the end of the connection")


@pytest.mark.parametrize("default", [3, 4])
@pytest.mark.parametrize("version", [3, 4, None])
def test_a_port_gets_messages_and_calls_in_its_dialect_and_else_in_the_default(yarp, version, default):
    spoken, heard = version or default, []

    def take(arrival):
        heard.append(arrival.payload)
        return bottle(0.5) if arrival.wants_reply else None

    administer = None if version is None else answers_of(version)
    yarp.network.open("/stock", output=False, on_data=take, administer=administer)
    with YarpNetwork(str(yarp.names.address), dialect=default) as client:
        with client.open_rpc("/stock") as connection:
            assert connection.call(bottle("f", 2.5)) == bottle(0.5)
        for given in (None, 3, 4):
            writer = client.open_output(dialect=given)
            client.connect(writer.name, "/stock")
            writer.write_bottle(bottle("f", 2.5))
            until(lambda given=given: len(heard) == (given or 2), "the message")
    dialects = (spoken, spoken, 3, 4)
    assert heard == [encode_bottle(bottle("f", 2.5), dialect) for dialect in dialects]


def test_a_connection_that_the_sender_still_lists_and_the_receiver_does_not_is_made_again(yarp):
    """Yarpserver gives the name of a port that was closed to the next one, before its sender has noticed."""
    asked = []

    def administer(command):
        asked.append(command[0].name)
        if command[0] == Vocab.of("list"):
            return bottle(("from", "/sender"), ("to", "/reader"), ("carrier", "tcp"))
        return bottle(0, "Added") if command[0] == Vocab.of("add") else None

    yarp.network.open("/sender", administer=administer)
    yarp.open_input("/reader")
    assert yarp.connect("/sender", "/reader") == "Added"
    assert asked == ["list", "add"]


def test_the_carrier_of_a_uri_is_taken(yarp):
    reader = yarp.open_input("/reader")
    yarp.open_output("/writer")
    assert yarp.connect("/writer", "udp://reader").endswith("udp://reader")
    assert reader.name == "/reader"


def test_a_reader_that_is_not_strict_keeps_the_newest_message(yarp):
    newest, every = yarp.open_input("/newest", strict=False), yarp.open_input("/every")
    writer = yarp.open_output("/writer")
    yarp.connect("/writer", "/newest")
    yarp.connect("/writer", "/every")
    for k in range(50):
        writer.write_bottle(bottle(k))
    until(lambda: newest.port.received == every.port.received == 50, "all messages")
    assert newest.read().content == bottle(49)
    assert [every.read().content[0] for _ in range(50)] == list(range(50))
    assert (newest.dropped, every.dropped) == (49, 0)


def test_ports_are_listed_found_and_asked(yarp):
    reader = yarp.open_input("/a/reader")
    assert [c.name for c in yarp.list("/a")] == ["/a/reader"]
    assert yarp.query("/a/reader") == reader.port.contact
    assert yarp.exists("/a/reader")
    assert not yarp.exists("/b")
    reader.close()
    until(lambda: not yarp.exists("/a/reader"), "the end of the port")


def test_a_port_without_a_name_gets_one(yarp):
    assert yarp.open_input().name.startswith("/tmp/port/")


def test_what_is_missing_is_told(yarp):
    writer = yarp.open_output("/writer")
    for call in (lambda: yarp.connect("/nobody", "/writer"), lambda: yarp.rpc("/nobody", bottle(1))):
        with pytest.raises(BridgeError, match="no port '/nobody' is registered"):
            call()
    with pytest.raises(BridgeError, match="is not connected"):
        yarp.disconnect(writer.name, "/nobody")
    yarp.open_input("/reader")
    with pytest.raises(BridgeError, match="cannot be connected"):
        yarp.connect("/writer", "/reader", "nonsense")
    with pytest.raises(BridgeError, match=r"nothing arrived at /late within 0\.01 s"):
        yarp.open_input("/late").read(0.01)


def test_a_name_server_that_does_not_answer_is_told():
    with NameServer(port=0) as server:
        address = str(server.address)
    said = r"the name server at .* cannot be reached: Connection refused; start a name server: pliant yarpserver"
    with YarpNetwork(address) as network, pytest.raises(BridgeError, match=said):
        network.list()


def test_the_configured_server_is_found(monkeypatch, tmp_path):
    monkeypatch.setenv("YARP_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("YARP_NAMESPACE", raising=False)
    assert str(find_server()) == "127.0.0.1:10000"
    (tmp_path / "yarp.conf").write_text("127.0.0.1 10123 yarp\n")
    assert str(find_server()) == "127.0.0.1:10123"
    assert str(find_server("127.0.0.1:1")) == "127.0.0.1:1"


def test_ports_that_do_not_answer_are_removed_and_others_stay(yarp):
    reader = yarp.open_input("/a/reader")
    yarp.names.register("/a/gone", "tcp", "127.0.0.1", 9)
    yarp.names.register("/b/gone", "tcp", "127.0.0.1", 9)
    assert yarp.clean("/a", 0.5) == ["/a/gone"]
    assert [c.name for c in yarp.list("/a")] == [reader.name]
    assert yarp.clean() == ["/b/gone"]
    assert yarp.clean() == []
