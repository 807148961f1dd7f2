"""`pliant yarp` and `pliant yarpserver`."""

import io
import json
import os
import signal
import subprocess
import sys

import pytest
from fuzz import until
from yarp_world import answers_of

from pliant.yarp.bridge.nameserver import NameServer
from pliant.yarp.client import YarpNetwork
from pliant.yarp.wire import bottle, encode_bottle

pytestmark = pytest.mark.network


@pytest.fixture
def server():
    with NameServer(port=0) as server:
        yield str(server.address)


@pytest.fixture
def network(server):
    with YarpNetwork(server) as network:
        yield network


def test_ports_are_listed_connected_asked_and_disconnected(call, server, network):
    network.open_input("/reader")
    network.open_output("/writer")
    code, out, _ = call("yarp", "list", "--server", server)
    assert code == 0
    assert "/reader" in out
    assert "/writer" in out
    code, out, _ = call("yarp", "connect", "/writer", "/reader", "fast_tcp", "--server", server)
    assert (code, out.strip()) == (0, "Added connection from /writer to fast_tcp://reader")
    code, out, _ = call("yarp", "ping", "/writer", "--server", server, "--json")
    assert json.loads(out)["out"] == '"/reader"'
    code, out, _ = call("yarp", "disconnect", "/writer", "/reader", "--server", server)
    assert (code, out.strip()) == (0, "Removed connection from /writer to /reader")


@pytest.mark.parametrize("version", [3, 4])
def test_calls_and_messages_are_in_the_dialect_of_the_port(call, server, network, monkeypatch, version):
    heard = []

    def take(arrival):
        heard.append(arrival.payload)
        return bottle(0.5) if arrival.wants_reply else None

    network.network.open("/stock", output=False, on_data=take, administer=answers_of(version))
    other = ("--dialect", str(7 - version))  # for ports that do not say
    assert call("yarp", "rpc", "/stock", "f 2.5", "--server", server, *other)[1].strip() == "Response: 0.5"
    monkeypatch.setattr("sys.stdin", io.StringIO("f 2.5\n"))
    assert call("yarp", "write", "...", "/stock", "--server", server, *other)[0] == 0
    until(lambda: len(heard) == 2, "the message")
    assert heard == [encode_bottle(bottle("f", 2.5), version)] * 2


def test_ports_of_killed_programs_are_removed(call, server, network):
    network.open_input("/alive")
    network.names.register("/killed", "tcp", "127.0.0.1", 9)
    code, out, _ = call("yarp", "clean", "/killed", "--server", server, "--json")
    assert (code, json.loads(out)) == (0, {"removed": ["/killed"]})
    code, out, _ = call("yarp", "clean", "--server", server)
    assert (code, out.strip()) == (0, "every registered port answers")
    code, _, err = call("yarp", "clean", "--timeout", "0", "--server", server)
    assert code != 0
    assert "--timeout is 0; must be > 0 s" in err
    code, _, err = call("yarp", "read", "...", "--count", "-1", "--server", server)
    assert code != 0
    assert "--count is -1; must be >= 0" in err


def test_a_call_is_answered_from_the_line_and_from_the_standard_input(call, server, network, monkeypatch):
    network.network.open("/rpc", on_data=lambda a: bottle("you said", *a.bottle().items))
    code, out, _ = call("yarp", "rpc", "/rpc", "1", "2.5", "--server", server)
    assert (code, out) == (0, 'Response: "you said" 1 2.5\n')
    monkeypatch.setattr(sys, "stdin", io.StringIO("a\n\n(b [c])\n"))
    code, out, _ = call("yarp", "rpc", "/rpc", "--server", server, "--json")
    assert json.loads(out)["replies"] == ['"you said" a', '"you said" (b [c])']


def test_lines_are_written_and_read(call, server, network, monkeypatch):
    reader = network.open_input("/reader")
    monkeypatch.setattr(sys, "stdin", io.StringIO("1 2.5 hello\n[set] (a b)\n"))
    code, out, _ = call("yarp", "write", "/writer", "/reader", "--server", server, "--json")
    assert (code, json.loads(out)) == (0, {"port": "/writer", "sent": 2})
    assert reader.read().content == bottle(1, 2.5, "hello")


def test_messages_are_printed_until_their_number_is_reached(call, server, network):
    import threading

    writer = network.open_output("/source")
    done = threading.Event()

    def write():
        k = 0
        while not done.wait(0.01):
            writer.write_bottle(bottle(k, 2.5), f"{k} 0.5")
            k += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        code, out, err = call("yarp", "read", "...", "/source", "--count", "3", "--envelope", "--server", server)
    finally:
        done.set()
        thread.join()
    assert code == 0, err
    rows = [line.split() for line in out.splitlines()]
    assert [row[1:] for row in rows] == [["0.5", row[0], "2.5"] for row in rows]
    assert len(rows) == 3


def test_a_connection_that_persists_is_made_by_the_name_server(call, server, network):
    from fuzz import until

    code, out, _ = call("yarp", "connect", "/writer", "/reader", "--persist", "--server", server)
    assert (code, out.strip()) == (0, "[ok]")
    network.open_output("/writer")
    network.open_input("/reader")
    until(lambda: network.is_connected("/writer", "/reader"), "the connection")
    assert call("yarp", "disconnect", "/writer", "/reader", "--persist", "--server", server)[0] == 0
    until(lambda: not network.is_connected("/writer", "/reader"), "its end")


def test_the_name_server_answers_a_command(call, server):
    code, out, _ = call("yarp", "name", "query", "/root", "--server", server)
    assert code == 0
    assert out.startswith("registration name /root ip 127.0.0.1 port ")
    assert out.splitlines()[1:] == ["*** end of message"]


def test_a_server_that_does_not_answer_and_a_port_that_is_not_there_are_told(call, server):
    code, _, err = call("yarp", "ping", "/nobody", "--server", server)
    assert code == 1
    assert "no port '/nobody' is registered" in err
    code, out, _ = call("yarp", "where", "--server", "127.0.0.1:1")
    assert code == 1
    assert "does not answer; start one: pliant yarpserver" in out
    code, _, err = call("yarp", "list", "--server", "127.0.0.1:1")
    assert code == 1
    assert "cannot be reached" in err
    code, _, err = call("yarp", "rpc", "/x", "1", "--server", server, "--dialect", "5")
    assert code == 1
    assert "must be 3 or 4" in err


def test_yarpserver_writes_its_configuration_and_ends_with_ctrl_c(tmp_path):
    environment = {**os.environ, "YARP_CONFIG_HOME": str(tmp_path)}
    environment.pop("YARP_NAMESPACE", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "pliant", "yarpserver", "--socket", "0", "--write"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert "name server /root at 127.0.0.1:" in process.stdout.readline()
        assert "written:" in process.stdout.readline()
        host, port, mode = (tmp_path / "yarp.conf").read_text().split()
        assert (host, mode) == ("127.0.0.1", "yarp")
        with YarpNetwork(f"{host}:{port}") as network:
            assert [c.name for c in network.list()] == ["/root", "fallback"]
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize(
    ("option", "value", "text"), [("--socket", "70000", "must be 0 to 65535"), ("--ip", "0.0.0.0", "every interface")]
)
def test_yarpserver_refuses_what_it_cannot_listen_on(call, option, value, text):
    code, _, err = call("yarpserver", option, value)
    assert code == 1
    assert text in err
