"""Streams are written as the version of each receiver reads them."""

import threading
import time

import pytest
from yarp_readers import DIALECTS, LISTS, StockReader, read_streaming_data, write_streaming_data
from yarp_replies import decode_measurements, decode_metadata
from yarp_simulation import served

import pliant
from pliant.base.errors import WireError
from pliant.yarp.bridge.calls import RpcConnection, ask_administration
from pliant.yarp.bridge.recognition import RECOGNITION_TIMEOUT_S, Receiver, Receivers, recognise
from pliant.yarp.wire import Contact, Vocab, bottle, decode_bottle, encode_bottle, parse_bottle
from pliant.yarp.wire.sensors import (
    Measurement,
    cut_measurements,
    encode_measurements,
)
from pliant.yarp.wire.values import OK

pytestmark = pytest.mark.network
VERSIONS = list(DIALECTS)


def contact(reader, name="/client/measures:i"):
    return Contact(name=name, host="127.0.0.1", port=reader.port)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_sensor_client_is_recognised_and_gets_no_measurement_by_that(version):
    with StockReader(version) as reader:
        found = recognise("/client/measures:i", contact(reader))
        assert found == Receiver(dialect=DIALECTS[version], sensor_groups=LISTS[version])
        assert reader.messages == []
        assert reader.refused == (DIALECTS[version] == 3)


def test_a_receiver_that_says_nothing_is_served_as_before_after_a_limited_wait():
    with StockReader("3.5", kind="deaf") as reader:
        began = time.monotonic()
        assert recognise("/client/measures:i", contact(reader), 0.2) == Receiver(dialect=None, sensor_groups=12)
        assert time.monotonic() - began < 0.2 + RECOGNITION_TIMEOUT_S
    assert recognise("/client/measures:i", contact(reader), 0.2) == Receiver()  # it is gone


def test_a_reader_of_any_list_gets_the_newest_layout():
    with StockReader("3.5", kind="any") as reader:
        assert recognise("/client/measures:i", contact(reader), 0.2) == Receiver(dialect=3, sensor_groups=12)
        assert reader.messages == []


def test_a_new_program_under_an_old_name_is_asked_again_and_old_names_are_forgotten(monkeypatch):
    monkeypatch.setattr("pliant.yarp.bridge.recognition.MAX_RECEIVERS", 2)
    receivers = Receivers(3)
    with StockReader("4.0") as new, StockReader("3.5") as old:
        receivers.meet("/client/measures:i", contact(old))
        assert (receivers.dialect_of("/client/measures:i"), receivers.sensor_groups_of("/client/rpc:i")) == (3, 10)
        receivers.meet("/client/measures:i", contact(new))
        assert (receivers.dialect_of("/client/measures:i"), receivers.sensor_groups_of("/client/rpc:i")) == (4, 12)
        for name in ("/a", "/b"):
            receivers.meet(name, contact(old, name))
        assert receivers.told_dialect("/client/measures:i") is None
        assert receivers.told_dialect("/a") == 3


def test_an_early_client_gets_the_groups_that_it_knows_whatever_is_behind_them():
    known = {"gyroscopes": [Measurement((1.0, 2.0, 3.0), 0.5)], "positions": [Measurement((4.0, 5.0, 6.0), 0.5)]}
    later = {"linear_velocities": [Measurement((1.0, 2.0, 3.0), 0.0)]}
    full = encode_bottle(encode_measurements({**known, **later}), 3)
    assert cut_measurements(full, 12) == full
    early = decode_bottle(cut_measurements(full, 10), 3)
    assert len(early) == 10
    assert decode_measurements(early) == {name: tuple(group) for name, group in known.items()}
    assert cut_measurements(encode_bottle(encode_measurements(known), 3), 10) == cut_measurements(full, 10)
    with pytest.raises(WireError, match="cannot be cut"):
        cut_measurements(cut_measurements(full, 10), 12)


@pytest.fixture(scope="module")
def biped():
    with served(pliant.load("biped")) as run:
        yield run


def streams(run, type_name=""):
    """Return the names of the ports that send messages with floats."""
    ports = [(port, kind) for port, kind, way in run.bridge.served.ports if way == "out" and port.meet is not None]
    return [port.name for port, kind in ports if type_name in (kind, "")]


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_reads_every_sensor_of_a_run_with_default_options(biped, version):
    names, dialect = biped.bridge.network.names, DIALECTS[version]
    ports = streams(biped, "SensorStreamingData")
    assert len(ports) >= 2
    client = f"/v{version.replace('.', '_')}"
    for source in ports:
        with StockReader(version) as reader:
            names.register(f"{client}/measures:i", "tcp", "127.0.0.1", reader.port)
            biped.yarp.connect(source, f"{client}/measures:i")
            payload = reader.wait(3)[2]
            by_table = read_streaming_data(version, payload)  # as the generated code of the version reads
            assert write_streaming_data(version, by_table) == payload
            measured = decode_measurements(decode_bottle(payload, dialect))
            assert [[m.values for m in group] for group in measured.values()] == [
                [numbers for numbers, _ in group] for group in by_table.values()
            ]
            # The client calls from a port of its own, next to that of the stream.
            rpc = names.find(source.replace("/measures:o", "/rpc:o"))
            call = RpcConnection(rpc, f"{client}/rpc:i", dialect)
            reply = call.call(bottle("getMetadata"))
            call.close()
            assert len(reply) == LISTS[version]
            told = decode_metadata(reply)
            assert {g: len(m) for g, m in measured.items()} == {g: len(m) for g, m in told.items()} != {}
            assert reader.refused == (dialect == 3)  # a question; no measurement
            names.unregister(f"{client}/measures:i")


@pytest.mark.parametrize("version", ["3.12", "4.0"])
def test_every_stream_is_in_the_dialect_of_its_receiver(biped, version):
    names, dialect = biped.bridge.network.names, DIALECTS[version]
    sources = streams(biped)
    assert len(sources) > 10
    for number, source in enumerate(sources):
        with StockReader(version, kind="any") as reader:
            target = f"/plain{number}:i"
            names.register(target, "tcp", "127.0.0.1", reader.port)
            biped.yarp.connect(source, target)
            assert biped.bridge.served.receivers.told_dialect(target) == dialect, source
            payload = reader.wait(1)[0]
            decode_bottle(payload, dialect)
            names.unregister(target)


@pytest.mark.parametrize("version", ["3.12", "4.0"])
def test_a_caller_is_answered_in_its_own_dialect_by_ports_whose_replies_have_floats(biped, version):
    names, dialect = biped.bridge.network.names, DIALECTS[version]
    with StockReader(version, kind="any") as reader:
        names.register("/asking/rpc:o", "tcp", "127.0.0.1", reader.port)
        call = RpcConnection(names.find("/clock/rpc"), "/asking/rpc:o", dialect)
        assert call.call(bottle("getStepSize")).items == (biped.simulation.engine.dt,)
        call.close()
        names.unregister("/asking/rpc:o")


@pytest.mark.parametrize("version", ["3.12", "4.0"])
def test_a_caller_that_calls_at_once_was_asked_before_it_could(biped, version, monkeypatch):
    """A port of YARP answers no question while it waits for a reply: it is welcomed when it has answered."""
    names, dialect, welcomed = biped.bridge.network.names, DIALECTS[version], threading.Event()

    def slow(name, contact):
        return Receiver() if welcomed.wait(0.5) else recognise(name, contact)

    monkeypatch.setattr("pliant.yarp.bridge.recognition.recognise", slow)
    with StockReader(version, kind="any") as reader:
        names.register("/hasty/rpc:o", "tcp", "127.0.0.1", reader.port)
        call = RpcConnection(names.find("/clock/rpc"), "/hasty/rpc:o", dialect)  # returns when it is welcomed
        welcomed.set()
        assert call.call(bottle("getStepSize")).items == (biped.simulation.engine.dt,)
        call.close()
        names.unregister("/hasty/rpc:o")
        assert biped.bridge.served.receivers.told_dialect("/hasty/rpc:o") == dialect


@pytest.mark.parametrize("count", [4, 8, 9])
def test_a_client_reads_as_many_motor_parameters_as_it_has_sent(biped, count):
    values = tuple(float(k) for k in range(1, count + 1))
    with biped.yarp.open_rpc("/biped/left_arm/rpc:i", f"/old{count}/rpc:o") as board:
        ask = parse_bottle("[get] [torq] [mtps] 1")
        assert len(board.call(ask)[2]) == 9  # of the option, before it has sent any
        request = parse_bottle(f"[set] [torq] [mtps] 1 ({' '.join(map(str, values))})")
        assert board.call(request) == bottle(OK)
        assert board.call(ask)[2].items == values


def test_a_port_of_pliant_reads_both_dialects_and_says_neither(biped):
    port = biped.yarp.open_input("/ours/measures:i")
    where = biped.bridge.network.names.find("/ours/measures:i")
    assert ask_administration(where, bottle(Vocab.of("pid")))[1] == "pliant"
    assert recognise("/ours/measures:i", where) == Receiver()
    assert (port.port.received, port.port.rejected) == (0, 0)


def test_a_caller_that_does_not_say_is_written_to_as_the_port_above_it(monkeypatch):
    """A client of YARP's rangefinder calls as soon as it is connected, and its port then answers no question."""
    said = {"/tester/scan": 4}
    monkeypatch.setattr("pliant.yarp.bridge.recognition.recognise", lambda name, _: Receiver(dialect=said.get(name)))
    receivers = Receivers(3)
    for name in ("/tester/scan", "/tester/scan/rpc:o", "/tester/scanner/rpc:o"):
        receivers.meet(name, Contact(name=name, host="127.0.0.1", port=10002))
    assert [receivers.dialect_of(name) for name in ("/tester/scan/rpc:o", "/tester/scanner/rpc:o", "")] == [4, 3, 3]
