"""A client with bytes of its own (peer.py) speaks both dialects against a running simulation; no YARP is needed.

python -m pytest conformance/yarp/test_both_dialects.py
"""

import itertools
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from peer import Reader, Stream, V, admin, names, read, where, write  # noqa: E402

pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def server():
    process = subprocess.Popen([sys.executable, HERE / "serve.py", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    host, _, port = process.stdout.readline().strip().partition(":")
    assert port, "serve.py did not start"
    yield host, int(port)
    process.terminate()
    process.wait(30)


def float_tag(dialect):
    return 10 if dialect == 3 else 20


def test_every_port_of_the_bench_is_registered(server):
    listed = names(server, "list /robot")
    board = ["rpc:i", "nws/rpc:i", "command:i", "state:o", "stateExt:o"]
    sensors = ["imu", "imu/measures:o", "imu/rpc:o", "ft/measures:o", "ft/rpc:o", "ft/analog:o"]
    for name in [f"arm/{port}" for port in board] + sensors:
        assert f"registration name /robot/{name} ip 127.0.0.1 " in listed
    assert names(server, "query /clock/rpc").startswith("registration name /clock/rpc ip 127.0.0.1 ")


def test_calls_of_yarp_3(server):
    stream = Stream(where(server, "/robot/arm/rpc:i"), "/c3/rpc:o")

    def call(*words):
        return stream.call(write(list(words), 3), 3)

    assert call(V("get"), V("prot"))[:4] == ["prot", 1, 9, 0]
    axes = call(V("get"), V("axes"))
    assert axes[:4] == ["is", "axes", 2, "tsta"]
    assert axes[-1] == "ok"
    assert isinstance(axes[4], int)
    assert isinstance(axes[5], float)
    assert call(V("get"), V("name"), 1)[2] == "elbow"
    encoders = call(V("get"), V("encs"))[2]
    assert len(encoders) == 2
    assert all(isinstance(x, float) for x in encoders)
    assert call("get", "axes")[2] == 2  # as a person types it
    assert call(V("get"), V("nope"), 0) == ["fail"]
    assert call("foo") == ["nak"]
    stream.close()


def test_calls_of_yarp_4(server):
    stream = Stream(where(server, "/robot/arm/nws/rpc:i"), "/c4/nwc/rpc:o")

    def call(*words):
        return stream.call(write(list(words), 4, tagged=True), 4)

    assert call("getAxesRPC") == [["ok"], 2]
    assert call("getAxisNameRPC", 0) == [["ok"], "shoulder"]
    done, encoders = call("getEncoderAllRPC")
    assert done == ["ok"]
    assert all(isinstance(x, float) for x in encoders)
    assert call("setControlModeAllRPC", [code_of("posd"), code_of("posd")]) == ["ok"]
    assert call("nosuch", 1) == ["fail"]
    flags = call("getDeviceInterfacesRPC")[1]
    assert [name for name, flag in flags if flag == "ok"].count("iPositionDirect") == 1
    stream.close()


def code_of(word):
    return int.from_bytes(word.encode().ljust(4, b"\0"), "little")


@pytest.mark.parametrize("dialect", [3, 4])
@pytest.mark.parametrize(("carrier", "number"), [("tcp", 131), ("fast_tcp", 3)])
def test_the_state_comes_in_the_dialect_of_the_client(server, dialect, carrier, number):
    prefix = f"/client_{dialect}_{carrier}"
    ending, port = {3: ("/rpc:o", "rpc:i"), 4: ("/nwc/rpc:o", "nws/rpc:i")}[dialect]
    rpc = Stream(where(server, f"/robot/arm/{port}"), prefix + ending)
    reader = Reader(server, f"{prefix}/stateExt:i", dialect)
    source = where(server, "/robot/arm/stateExt:o")
    reply = admin(source, f'[add] "{carrier}:/{reader.name}"')
    assert reply.startswith('0 "Added connection from /robot/arm/stateExt:o')
    reader.accept()
    assert (reader.carrier, reader.sender) == (number, "/robot/arm/stateExt:o")
    last = None
    for _ in range(5):
        envelope, payload = reader.message()
        count, stamp = envelope.split()
        fields, end = read(payload, dialect)
        assert end == len(payload)  # no byte is left over
        assert len(fields) == {3: 22, 4: 24}[dialect]
        assert payload[8:12] == struct.pack("<i", 256 | float_tag(dialect))
        assert fields[1::2] == ["ok"] * (len(fields) // 2)
        if last is not None:
            assert int(count) == last[0] + 1
            assert float(stamp) == pytest.approx(last[1] + 0.01)
        last = int(count), float(stamp)
    assert admin(source, f"[del] {reader.name}").startswith('0 "Removed connection')
    reader.close()
    rpc.close()


@pytest.mark.parametrize("dialect", [3, 4])
@pytest.mark.parametrize("number", [131, 3, 0])
def test_commands_by_every_carrier_move_the_arm(server, dialect, number):
    rpc = Stream(where(server, "/robot/arm/rpc:i"), "/mover/rpc:o")

    def call(*words):
        return rpc.call(write(list(words), 3), 3)

    assert call(V("set"), V("icmd"), V("cmds"), [V("posd"), V("posd")]) == ["ok"]
    target = 4.0 + dialect + number / 100
    head = [V("dpos")] if dialect == 3 else [V("ipod"), V("dpos")]
    stream = Stream(where(server, "/robot/arm/command:i"), f"/mover{dialect}{number}/command:o", number)
    end = time.monotonic() + 20
    while abs(call(V("get"), V("encs"))[2][1] - target) > 1.0:
        stream.send(write([head, [0.0, target]], dialect))
        assert time.monotonic() < end, "the arm does not move"
    stream.close()
    rpc.close()


@pytest.mark.parametrize("dialect", [3, 4])
def test_sensors_tell_their_names_and_send_twelve_groups(server, dialect):
    stream = Stream(where(server, "/robot/ft/rpc:o"), "/names")
    groups = stream.call(write(["getMetadata"], dialect, tagged=True), dialect)
    assert len(groups) == 12
    assert groups[5] == [["ft", "lower", ""]]  # name, frame
    reader = Reader(server, "/ft_reader", dialect)
    admin(where(server, "/robot/ft/measures:o"), '[add] "tcp://ft_reader"')
    reader.accept()
    _, payload = reader.message()
    measured, end = read(payload, dialect)
    assert end == len(payload)
    assert len(measured[5][0][0]) == 6
    assert isinstance(measured[5][0][1], float)
    reader.close()
    stream.close()


def test_the_clock_sends_seconds_and_nanoseconds_of_each_step(server):
    reader = Reader(server, "/clock_reader")
    admin(where(server, "/clock"), '[add] "tcp://clock_reader"')
    reader.accept()
    times = []
    for _ in range(20):
        _, payload = reader.message()
        assert payload[:8] == struct.pack("<2i", 257, 2)
        seconds, nanoseconds = struct.unpack_from("<2i", payload, 8)
        assert len(payload) == 16
        times.append(10**9 * seconds + nanoseconds)
    assert {b - a for a, b in itertools.pairwise(times)} == {1_000_000}
    reader.close()
