"""The name server: names, properties, connections that it keeps, limits."""

import itertools
import socket

import pytest
from fuzz import until
from threads_killed import kill
from yarp_world import exchange, yarp_world

from pliant.base.errors import BridgeError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge
from pliant.yarp.bridge import inputs, nameserver
from pliant.yarp.bridge.calls import NameClient, ask_administration
from pliant.yarp.bridge.nameserver import LAST_FIRST_PORT, NameServer, first_client_port
from pliant.yarp.bridge.network import Network
from pliant.yarp.wire import format_bottle, parse_bottle

pytestmark = pytest.mark.network


def ask_root(server, text):
    return format_bottle(ask_administration(server.port.contact, parse_bottle(text), data=True))


def test_every_client_gets_another_number_and_a_name_is_listed_below_its_prefix():
    with yarp_world() as (_, names, _):
        numbers = [names.register(f"/a/{k}").port for k in range(5)]
        assert len(set(numbers)) == 5
        names.register("/ab")
        assert [c.name for c in names.list("/a")] == [f"/a/{k}" for k in range(5)]


def test_a_port_that_registers_again_keeps_its_number():
    with yarp_world() as (_, names, _):
        first = names.register("/a", host="127.0.0.1")
        assert names.register("/a", host="127.0.0.1") == first


def test_the_entry_of_a_port_that_owns_others_takes_them_along():
    with yarp_world() as (_, names, _):
        for name in ("/a", "/b"):
            names.register(name)
        names.ask("set", "/a", "owns", "/b")
        names.unregister("/a")
        assert names.query("/b") is None


def test_the_server_itself_cannot_be_unregistered():
    with yarp_world() as (_, names, _):
        names.unregister("/root")
        assert names.query("/root") is not None


@pytest.mark.parametrize("name", ["/root", "fallback"])
def test_the_entries_of_the_server_itself_cannot_be_registered_by_others(name):
    with yarp_world() as (server, names, _):
        told, before = [], names.list()
        server.on_complaint = told.append
        names.ask("set", "/root", "process", "7")
        with pytest.raises(BridgeError, match="did not register"):
            names.register(name, "tcp", "127.0.0.1", 12345)
        assert "is an entry of the name server itself; must be another name" in told[0]
        assert names.ask_text("register", name) == b"*** end of message\r\n"
        refused = parse_bottle(names.ask_text("bot", "register", name, "tcp", "127.0.0.1", "12345").decode())
        assert (refused[0], refused[1][1]) == ("port", -1)
        assert ask_root(server, f"register {name} tcp 127.0.0.1 12345") == "[fail]"
        assert names.list() == before
        assert names.ask("get", "/root", "process") == ["port /root property process = 7"]


def test_a_name_without_a_slash_is_kept_as_it_is():
    """As by the yarpserver of YARP 4.0: what is registered as ``b`` is no ``/b``."""
    with yarp_world() as (_, names, _):
        assert names.register("b", "tcp", "127.0.0.1", 12345).name == "b"
        assert names.query("b") is not None
        assert names.query("/b") is None
        names.unregister("b")
        assert names.query("b") is None


def test_a_server_of_another_name_space_gives_away_the_name_of_the_default_one():
    with yarp_world(name="/lab") as (_, names, _):
        assert names.register("/root").name == "/root"
        with pytest.raises(BridgeError, match="did not register"):
            names.register("/lab")


def test_a_query_for_a_network_gets_the_address_there():
    with yarp_world() as (_, names, _):
        names.register("/a", "tcp", "127.0.0.1", 12000)
        names.ask("set", "/a", "ips", "127.0.0.1", "10.0.0.7")
        assert names.ask("query", "/net=10.0/a")[0].host == "10.0.0.7"


def test_a_number_that_another_program_has_is_not_given():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        with yarp_world(first_port=taken) as (_, names, _):
            assert names.register("/a", host="127.0.0.1").port != taken


def test_a_number_that_another_program_has_at_another_address_is_not_given():
    # Programs of YARP register one address and listen on all: they could not open the port.
    import socket

    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        with yarp_world(first_port=taken) as (_, names, _):
            assert names.register("/a", host="127.0.0.2").port != taken


def test_a_subscription_connects_ports_when_both_are_there_and_again_after_either_was_restarted():
    with yarp_world() as (server, _, network):
        assert ask_root(server, 'subscribe "tcp://clock" "fast_tcp://reader"') == "[ok]"
        source = network.open("/clock")
        reader = network.open("/reader", on_data=lambda a: None)
        until(lambda: source.active, "the first connection")
        assert source.outputs["/reader"].carrier == "fast_tcp"
        network.shut(reader)
        until(lambda: not source.outputs, "the reader has gone")
        network.open("/reader", on_data=lambda a: None)
        until(lambda: source.active, "a connection to the new reader")
        network.shut(source)
        again = network.open("/clock")
        until(lambda: again.active, "a connection of the new source")
        assert ask_root(server, "subscribe") == (
            'subscriptions (subscription (src "/clock") (dest "/reader") (mode fast_tcp))'
        )
        ended = '(from "/clock") (to "/reader") (carrier tcp)'
        assert ask_root(server, "unsubscribe /clock /reader") == ended
        until(lambda: not again.outputs, "the connection is removed")
        assert ask_root(server, "subscribe") == "subscriptions"


def test_subscriptions_and_names_are_limited(monkeypatch):
    monkeypatch.setattr(nameserver, "MAX_SUBSCRIPTIONS", 2)
    monkeypatch.setattr(nameserver, "MAX_CONTACTS", 4)
    with yarp_world() as (server, names, _):
        assert [ask_root(server, f"subscribe /a /b{k}") for k in range(3)] == ["[ok]", "[ok]", "[fail]"]
        names.register("/a")
        names.register("/b")
        with pytest.raises(BridgeError, match="did not register"):
            names.register("/c")
        names.register("/a")


def test_properties_are_limited():
    with yarp_world() as (_, names, _):
        names.register("/a")
        for k in range(nameserver.MAX_PROPERTIES + 5):
            names.ask("set", "/a", f"k{k}", "v")
        beyond = f"k{nameserver.MAX_PROPERTIES + 1}"
        assert names.ask("get", "/a", beyond) == [f"port /a property {beyond} ="]
        assert names.ask("set", "/a", "k0", *map(str, range(nameserver.MAX_VALUES + 1))) == []


@pytest.mark.parametrize(
    "line",
    [
        b"NAME_SERVER register /x tcp 127.0.0.1 99999\r\n",
        b"NAME_SERVER register /x tcp a.host.of.nobody -1\r\n",
        b"NAME_SERVER register /x tcp 127\x00.0.0.1 -1\r\n",
        b"NAME_SERVER register " + b"/x" * 2000 + b"\r\n",
        b"NAME_SERVER register\r\n" * 3,
        b"NAME_SERVER set\r\nNAME_SERVER get\r\nNAME_SERVER check /root\r\nNAME_SERVER query\r\n",
        b"NAME_SERVER \xff\xfe\x00\r\n",
        b"NAME_SERVER " + b"x" * 100_000,
    ],
)
def test_a_wrong_line_leaves_the_server_working(line):
    with yarp_world() as (server, names, _):
        exchange(server.address.port, line, 20 if line.endswith(b"\n") else 1)
        assert names.query("/root") == server.port.contact


def test_several_commands_share_a_connection():
    with yarp_world() as (server, _, _):
        asked = b"NAME_SERVER query /root\nNAME_SERVER bot query /nope\r\nNAME_SERVER announce /root\n"
        answered = (
            server.port.contact.line.encode()
            + b'\r\n*** end of message\r\nport (error -2 "port not known")\r\n[ok]\r\n'
        )
        assert exchange(server.address.port, asked, len(answered)) == answered


@pytest.mark.parametrize("said", [b"", b" query /root\n NAME_SERVER query", b" query /ro"])
def test_a_client_that_asks_no_further_question_keeps_no_place(said, monkeypatch):
    monkeypatch.setattr(inputs, "ANSWER_TIMEOUT_S", 0.1)
    monkeypatch.setattr(nameserver, "MAX_CLIENTS", 1)
    with NameServer(port=0) as server:
        with socket.create_connection(("127.0.0.1", server.address.port), timeout=10.0) as sock:
            sock.sendall(b"NAME_SERVER" + said)
            while sock.recv(1 << 12):
                pass
        assert NameClient(server.address).query("/root") == server.port.contact


def test_a_port_that_is_in_use_is_refused():
    with NameServer(port=0) as server, pytest.raises(BridgeError, match="is in use by another program"):
        NameServer(port=server.address.port).start()


def test_every_interface_is_refused():
    with pytest.raises(BridgeError, match="every interface"):
        NameServer(port=0, host="0.0.0.0")


def test_ports_register_again_with_a_server_that_has_lost_them(monkeypatch):
    from pliant.yarp.bridge import network as module

    monkeypatch.setattr(module, "WATCH_PERIOD_S", 0.1)
    first = NameServer(port=0)
    first.start()
    names = NameClient(first.address)
    with Network(names) as network:
        port = network.open("/a/state:o")
        reader = network.open("/reader", on_data=lambda a: None)
        network.connect(port, "/reader")
        first.close()
        until(lambda: network.lost, "the loss is noticed")
        assert port.active  # what is connected stays connected
        with NameServer(port=first.address.port):
            until(lambda: network.registrations >= 2, "the ports are registered again")
            assert names.query("/a/state:o") == port.contact
            assert names.query("/reader") == reader.contact
            until(lambda: not network.lost, "the server is found again")


def test_clients_get_the_ports_above_the_server_and_servers_of_one_machine_different_ones():
    assert first_client_port(10_000) == 10_002
    assert first_client_port(21_500) == 21_502
    system = [first_client_port(own) for own in range(32_768, 65_536)]
    assert min(system) >= 10_000
    assert max(system) <= LAST_FIRST_PORT
    assert all(abs(a - b) >= 64 for a, b in itertools.pairwise(system))


def test_a_bridge_whose_own_name_server_died_ends_without_asking_it(monkeypatch):
    asked = []
    robot = load("qbmove-1dof")
    bridge = make_bridge("yarp:server=127.0.0.1:0", robot)
    with Simulation(
        MujocoEngine(robot), make_devices(robot), [bridge], pacer="free", on_dead_thread="hold"
    ) as simulation:
        simulation.start()
        (thread,) = (thread for thread in bridge.threads.alive if thread.name == nameserver.THREAD)
        kill(thread)
        monkeypatch.setattr(NameClient, "unregister", lambda client, name: asked.append(name))
    assert asked == []
