"""The node of ROS 1 against clients that speak its wire by hand: what roscpp asks for, and what nobody should."""

import gzip
import http.client
import socket
import struct
import threading
import xmlrpc.client
from contextlib import contextmanager, suppress
from urllib.parse import urlparse
from xmlrpc.server import SimpleXMLRPCServer

import pytest
from fake_master import Handler
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ros1_world import read, until

from pliant.base.errors import BridgeError
from pliant.ros.ros1 import Ros1Node
from pliant.ros.ros1.clients import MAX_WAITING_REQUESTS, Clients
from pliant.ros.ros1.xml_rpc import MAX_REQUEST_BYTES
from pliant.ros.wire import Codec, decode_header, encode_header

pytestmark = pytest.mark.network
CODEC = Codec(1)
TRIGGER = CODEC.types.service("std_srvs/Trigger")


@pytest.fixture
def node(master):
    made = []

    def make(name="/server", **kwargs):
        node = Ros1Node(name, master=master.uri, host="127.0.0.1", **kwargs)
        node.start()
        node.announce()
        made.append(node)
        return node

    yield make
    for node in made:
        node.stop()


@contextmanager
def connected(node, **header):
    """Connect by TCP, say a header, yield the socket and the header that comes back."""
    with socket.create_connection(("127.0.0.1", node.tcp_port), timeout=30) as sock:
        sock.sendall(encode_header({"callerid": "/by_hand", **header}))
        yield sock, decode_header(read(sock, struct.unpack("<I", read(sock, 4))[0]))


def frame(sock):
    size = read(sock, 4)
    return size + read(sock, struct.unpack("<I", size)[0])


def answer(sock):
    good = read(sock, 1) == b"\1"
    return good, frame(sock)


def slave(node):
    return xmlrpc.client.ServerProxy(node.uri)


def test_a_subscriber_that_wants_udp_gets_tcp_or_a_reason(node):
    node = node()
    node.advertise("/clock", "rosgraph_msgs/Clock")
    udp = ["UDPROS", b"", "127.0.0.1", 5000, 1500]
    code, text, value = slave(node).requestTopic("/roscpp", "/clock", [udp])
    assert (code, value) == (0, [])
    assert "TCPROS" in text
    assert any("/roscpp wants /clock" in fault for fault in node.errors)
    assert slave(node).requestTopic("/roscpp", "/clock", [udp, ["TCPROS"]])[2] == ["TCPROS", "127.0.0.1", node.tcp_port]
    assert slave(node).requestTopic("/roscpp", "/nothing", [["TCPROS"]])[0] == 0
    assert slave(node).requestTopic("/roscpp", "/clock", [[]])[0] == 0


def test_any_type_is_served_to_who_asks_for_any(node):
    node = node()
    publication = node.advertise("/clock", "rosgraph_msgs/Clock")
    with connected(node, topic="/clock", md5sum="*", type="*") as (sock, header):
        assert header["type"] == "rosgraph_msgs/Clock"
        assert header["md5sum"] == publication.md5sum
        assert header["latching"] == "0"
        assert "time clock" in header["message_definition"]
        until(lambda: publication.connections)
        # small messages must not wait for company
        assert publication.connections[0].sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        publication.send(CODEC.encode("rosgraph_msgs/Clock", {"clock": 7}))
        assert CODEC.decode(CODEC.types.message("rosgraph_msgs/Clock"), frame(sock)) == {"clock": 7}


def test_what_is_latched_comes_at_once_and_what_is_newer_after_it(node):
    node = node()
    publication = node.advertise("/map", "std_msgs/UInt64", latch=True)
    stop = threading.Event()
    count = [0]

    def publish():
        while not stop.wait(0.0002):
            count[0] += 1
            publication.send(CODEC.encode("std_msgs/UInt64", {"data": count[0]}))

    publisher = threading.Thread(target=publish)
    publisher.start()
    try:
        for _ in range(20):
            until(lambda: count[0] > 10)
            with connected(node, topic="/map", md5sum="*") as (sock, header):
                assert header["latching"] == "1"
                seen = [struct.unpack("<IQ", frame(sock))[1] for _ in range(20)]
            assert seen == list(range(seen[0], seen[0] + 20))  # nothing falls between the latched one and the next
    finally:
        stop.set()
        publisher.join()


def test_a_big_message_comes_whole_to_a_slow_reader(node):
    node = node()
    publication = node.advertise("/image", "sensor_msgs/Image")
    pixels = bytes(range(256)) * 16384  # 4 MiB
    data = CODEC.encode("sensor_msgs/Image", {"height": 1024, "width": 4096, "step": 4096, "data": pixels})
    with connected(node, topic="/image", md5sum="*") as (sock, _):
        until(lambda: publication.connections)
        publication.send(data)
        publication.send(data)
        for _ in range(2):
            size = struct.unpack("<I", read(sock, 4))[0]
            body = bytearray()
            while len(body) < size:
                body += sock.recv(min(50_000, size - len(body)))
            assert struct.pack("<I", size) + body == data


def test_a_persistent_service_answers_one_after_the_other_also_after_a_fault(node):
    node = node()
    count = [0]

    def serve(_):
        count[0] += 1
        if count[0] == 2:
            raise BridgeError("not the second time")
        return {"success": True, "message": str(count[0])}

    node.serve("/count", "std_srvs/Trigger", serve)
    with connected(node, service="/count", md5sum="*", persistent="1") as (sock, header):
        assert header["type"] == "std_srvs/Trigger"
        found = []
        for _ in range(4):
            sock.sendall(CODEC.encode(TRIGGER.request, {}))
            good, data = answer(sock)
            found.append(CODEC.decode(TRIGGER.response, data)["message"] if good else data[4:].decode())
        assert found == ["1", "not the second time", "3", "4"]


@pytest.mark.parametrize("count", [1, 60])
def test_requests_that_come_in_one_piece_are_answered_in_their_order_and_harm_nothing(node, count):
    node = node()
    numbers = iter(range(1000))
    node.serve("/count", "std_srvs/Trigger", lambda _: {"success": True, "message": str(next(numbers))})
    with connected(node, service="/count", md5sum="*", persistent="1") as (sock, _):
        sock.sendall(CODEC.encode(TRIGGER.request, {}) * count)
        found = [CODEC.decode(TRIGGER.response, answer(sock)[1])["message"] for _ in range(count)]
    assert found == [str(k) for k in range(count)]
    assert node.health()["dead_threads"] == {}
    assert node.health()["internal_faults"] == 0


def test_sixty_requests_at_once_on_a_connection_for_one_get_one_answer_and_leave_the_node_alive(node):
    node = node()
    node.serve("/count", "std_srvs/Trigger", lambda _: {"success": True})
    for _ in range(20):
        header = encode_header({"callerid": "/by_hand", "service": "/count", "md5sum": "*"})
        with socket.create_connection(("127.0.0.1", node.tcp_port), timeout=30) as sock:
            sock.sendall(header + CODEC.encode(TRIGGER.request, {}) * 60)
            read(sock, struct.unpack("<I", read(sock, 4))[0])
            assert answer(sock)[0]
            assert sock.recv(1) == b""
    assert node.services["/count"].count == 20
    assert node.health()["dead_threads"] == {}
    assert node.health()["internal_faults"] == 0
    with connected(node, service="/count", md5sum="*") as (sock, _):
        sock.sendall(CODEC.encode(TRIGGER.request, {}))
        assert answer(sock)[0]


def test_who_reads_late_loses_no_answer_to_requests_that_are_not_looked_at(node):
    node = node()
    node.serve("/count", "std_srvs/Trigger", lambda _: {"success": True})
    header = encode_header({"callerid": "/by_hand", "service": "/count", "md5sum": "*"})
    with socket.create_connection(("127.0.0.1", node.tcp_port), timeout=30) as sock:
        sock.sendall(header + CODEC.encode(TRIGGER.request, {}))
        until(lambda: any(link.role == "draining" for link in list(node.sockets.links)))
        for _ in range(60):
            sock.sendall(CODEC.encode(TRIGGER.request, {}))
        read(sock, struct.unpack("<I", read(sock, 4))[0])
        assert answer(sock)[0]
        assert sock.recv(1) == b""
    until(lambda: not node.sockets.links)


def test_a_connection_for_one_request_ends_at_once_also_if_its_answer_leaves_first(node, monkeypatch):
    monkeypatch.setattr("pliant.ros.ros1.publishers.CLIENT_TIMEOUT_S", 1e6)
    node = node()
    node.serve("/count", "std_srvs/Trigger", lambda _: {"success": True})
    answer_one = Clients.answer

    def slowly(clients, service, link, frame):
        answer_one(clients, service, link, frame)
        until(lambda: link.sent == 2 and link.partial is None)  # header and answer are on the wire

    monkeypatch.setattr(Clients, "answer", slowly)
    header = encode_header({"callerid": "/by_hand", "service": "/count", "md5sum": "*"})
    with socket.create_connection(("127.0.0.1", node.tcp_port), timeout=30) as sock:
        sock.sendall(header + CODEC.encode(TRIGGER.request, {}))
        read(sock, struct.unpack("<I", read(sock, 4))[0])
        assert answer(sock)[0]
        assert sock.recv(1) == b""


@pytest.mark.usefixtures("fast_heartbeat")
def test_a_service_connection_that_asks_nothing_is_closed(node, monkeypatch):
    monkeypatch.setattr("pliant.ros.ros1.publishers.SERVICE_IDLE_S", 0.1)
    monkeypatch.setattr("pliant.ros.ros1.publishers.CLIENT_TIMEOUT_S", 0.1)
    node = node()
    node.serve("/count", "std_srvs/Trigger", lambda _: {"success": True})
    for header in ({"persistent": "1"}, {}):
        with connected(node, service="/count", md5sum="*", **header) as (sock, _):
            assert sock.recv(1) == b""
    assert node.health()["dead_threads"] == {}


def test_a_service_that_takes_long_is_not_idle(node, monkeypatch):
    monkeypatch.setattr("pliant.ros.ros1.publishers.CLIENT_TIMEOUT_S", 0.0)
    monkeypatch.setattr("pliant.ros.ros1.publishers.SERVICE_IDLE_S", 0.0)
    node = node()
    looked = threading.Event()

    def slow(_):
        node.publishers.look_after()
        looked.set()
        return {"success": True}

    node.serve("/slow", "std_srvs/Trigger", slow)
    header = encode_header({"callerid": "/by_hand", "service": "/slow", "md5sum": "*"})
    with socket.create_connection(("127.0.0.1", node.tcp_port), timeout=30) as sock:
        sock.sendall(header + CODEC.encode(TRIGGER.request, {}))
        read(sock, struct.unpack("<I", read(sock, 4))[0])
        assert answer(sock)[0]
    assert looked.is_set()


def test_a_probe_of_a_service_asks_nothing(node):
    node = node()
    called = []
    node.serve("/count", "std_srvs/Trigger", lambda _: called.append(1) or {})
    with connected(node, service="/count", md5sum="*", probe="1") as (sock, header):
        assert header["type"] == "std_srvs/Trigger"
        assert sock.recv(1) == b""
    assert called == []


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"service": "/count", "md5sum": "0" * 32}, "is a std_srvs/Trigger"),
        ({"service": "/nothing", "md5sum": "*"}, "does not serve '/nothing'"),
        ({"topic": "/clock", "md5sum": "0" * 32, "type": "std_msgs/Bool"}, "/by_hand wants std_msgs/Bool"),
        ({"topic": "/nothing", "md5sum": "*"}, "does not publish '/nothing'"),
        ({}, "does not publish ''"),
    ],
)
def test_a_client_hears_why_it_is_refused(node, header, said):
    node = node()
    node.advertise("/clock", "rosgraph_msgs/Clock")
    node.serve("/count", "std_srvs/Trigger", lambda _: {})
    with connected(node, **header) as (sock, reply):
        assert said in reply["error"]
        assert sock.recv(1) == b""


def test_a_client_that_asks_without_reading_is_cut_off(node):
    node = node()
    free = threading.Event()
    node.serve("/slow", "std_srvs/Trigger", lambda _: free.wait(60) and {})
    try:
        with connected(node, service="/slow", md5sum="*", persistent="1") as (sock, _):
            sock.sendall(CODEC.encode(TRIGGER.request, {}) * (MAX_WAITING_REQUESTS + 5))
            assert sock.recv(1) == b""
        until(lambda: any("wait for their answer" in fault for fault in node.errors))
    finally:
        free.set()


def test_who_is_connected_is_told_to_rosnode(node):
    server, client = node("/server"), node("/client")
    server.advertise("/clock", "rosgraph_msgs/Clock")
    got = []
    client.subscribe("/clock", "rosgraph_msgs/Clock", got.append)
    until(lambda: server.publications["/clock"].connections)
    [[_, who, way, how, topic, open_]] = slave(server).getBusInfo("/rosnode")[2]
    assert (who, way, how, topic, open_) == ("/client", "o", "TCPROS", "/clock", True)
    [[_, who, way, how, topic, open_]] = slave(client).getBusInfo("/rosnode")[2]
    assert (who, way, how, topic, open_) == (server.uri, "i", "TCPROS", "/clock", True)
    server.publications["/clock"].send(CODEC.encode("rosgraph_msgs/Clock", {"clock": 7}))
    until(lambda: got)
    assert client.publishers_of("/clock") == ["/server"]
    [topic, _, [[_, _, sent, drops, open_]]] = slave(server).getBusStats("/rosnode")[2][0][0]
    assert (topic, sent >= 1, drops, open_) == ("/clock", True, 0, True)
    assert slave(server).getPublications("/rosnode")[2] == [["/clock", "rosgraph_msgs/Clock"]]
    assert slave(client).getSubscriptions("/rosnode")[2] == [["/clock", "rosgraph_msgs/Clock"]]
    assert slave(server).getName("/rosnode")[2] == "/server"
    assert slave(server).getMasterUri("/rosnode")[2] == server.master_uri


@pytest.mark.usefixtures("fast_heartbeat")
def test_a_publisher_whose_connection_breaks_is_tried_again(node):
    server, client = node("/server"), node("/client")
    publication = server.advertise("/clock", "rosgraph_msgs/Clock")
    client.subscribe("/clock", "rosgraph_msgs/Clock", lambda _: None)
    first = until(lambda: publication.connections)[0]
    server.sockets.shut(first)
    until(lambda: publication.connections and publication.connections[0] is not first, "a new connection")
    assert client.errors == server.errors  # nobody complains


def test_a_message_is_counted_when_its_callback_has_returned(node):
    listener, seen = node(), []
    listener.subscribe("/text", "std_msgs/Float64", lambda _: seen.append(listener.subscriptions["/text"].count))
    publication = node("/talker").advertise("/text", "std_msgs/Float64")
    until(lambda: publication.connections)
    publication.send(CODEC.encode("std_msgs/Float64", {}))
    until(lambda: listener.subscriptions["/text"].count == 1)
    assert seen == [0]


@pytest.mark.usefixtures("fast_heartbeat")
def test_a_publisher_of_another_type_is_complained_about_once(node):
    server, client = node("/server"), node("/client")
    server.advertise("/clock", "std_msgs/Bool")
    client.subscribe("/clock", "rosgraph_msgs/Clock", lambda _: None)
    until(lambda: client.errors)
    beats = threading.Event()
    look = client.publishers.look_after
    client.publishers.look_after = lambda: (look(), beats.set())
    for _ in range(2):
        beats.clear()
        until(beats.is_set)
    assert client.error_count == 1
    assert server.error_count == 1


def test_a_request_that_is_too_long_is_not_read(node):
    node = node()
    where = urlparse(node.uri)
    for size in (str(MAX_REQUEST_BYTES + 1), "-5", "many", "0" * 20 + "999999999"):
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=30)
        connection.putrequest("POST", "/")
        connection.putheader("Content-Length", size)
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()
    assert slave(node).getName("/x")[2] == "/server"


def dripped(sock, data, over):
    """Send bytes one by one, faster than any time-out between them, until the other side has had enough."""
    with suppress(OSError):
        for byte in data:
            sock.send(bytes([byte]))
            if over.wait(0.02):
                return


BODY = b"<?xml version='1.0'?><methodCall><methodName>getPid</methodName><params>"


@pytest.mark.parametrize(
    "begun", [b"POST / HTTP/1.1\r\nX: " + b"a" * 9999, b"POST / HTTP/1.1\r\nContent-Length: 99999\r\n\r\n" + BODY * 99]
)
def test_clients_that_drip_their_requests_keep_no_place_of_others(node, begun, monkeypatch):
    monkeypatch.setattr("pliant.ros.ros1.xml_rpc.CLIENT_TIMEOUT_S", 0.3)
    monkeypatch.setattr("pliant.ros.ros1.xml_rpc.ConnectionThreads.max_connections", 4)
    node, over = node(), threading.Event()
    address = urlparse(node.uri)
    socks = [socket.create_connection((address.hostname, address.port), timeout=30) for _ in range(4)]
    drips = [threading.Thread(target=dripped, args=(sock, begun, over)) for sock in socks]
    for drip in drips:
        drip.start()
    try:

        def served():
            with suppress(OSError, http.client.HTTPException):
                return slave(node).getPid("/me")[0] == 1

        until(served, "a client is served")
    finally:
        over.set()
        for drip, sock in zip(drips, socks, strict=True):
            drip.join()
            sock.close()


def test_a_publisher_that_drips_its_answer_holds_up_no_other(node, master, monkeypatch):
    monkeypatch.setattr("pliant.ros.ros1.xml_rpc.ANSWER_TIMEOUT_S", 0.3)
    listener, over = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def serve():
        with suppress(OSError):
            while not over.is_set():
                sock, _ = listener.accept()
                dripped(sock, b"HTTP/1.1 200 OK\r\nX: " + b"a" * 9999, over)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        listening, heard = node(), []
        listening.subscribe("/clock", "rosgraph_msgs/Clock", heard.append)
        slave(listening).publisherUpdate("/master", "/clock", [f"http://127.0.0.1:{listener.getsockname()[1]}/"])
        until(lambda: any("cannot be reached" in fault for fault in listening.errors), "its slowness is told")
    finally:
        over.set()
        listener.close()
        thread.join()


@pytest.mark.parametrize(
    ("header", "body", "status"),
    [
        ({"Content-Encoding": "gzip"}, gzip.compress(b"<methodCall/>", mtime=0), 415),
        ({"Content-Encoding": "identity"}, b"<methodCall/>", 415),
        ({"Origin": "http://site.example"}, b"<methodCall/>", 403),
        ({}, b'<!DOCTYPE x [<!ENTITY a "aaaa">]><methodCall>&a;</methodCall>', 400),
    ],
)
def test_a_request_that_is_encoded_of_a_browser_or_defines_entities_is_refused(node, header, body, status):
    node = node()
    where = urlparse(node.uri)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=30)
    connection.request("POST", "/", body, header)
    assert connection.getresponse().status == status
    connection.close()
    assert slave(node).getName("/x")[2] == "/server"


def test_a_connection_that_is_reset_says_nothing_on_the_console(node, capfd):
    node = node()
    for port in (node.tcp_port, urlparse(node.uri).port):
        for data in (b"", b"POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n<", b"\x10\0\0\0abc"):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
                sock.sendall(data)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert slave(node).getName("/x")[2] == "/server"
    node.stop()
    assert "Traceback" not in "".join(capfd.readouterr())


class Liar:
    """A publisher that answers to requestTopic what it is told, as XML-RPC or as raw bytes."""

    def __init__(self, answer):
        self.asked = threading.Event()
        self.server = SimpleXMLRPCServer(("127.0.0.1", 0), requestHandler=Handler, logRequests=False, allow_none=True)
        self.server.register_function(self.request_topic, "requestTopic")
        self.answer = answer
        self.uri = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.thread = threading.Thread(target=lambda: self.server.serve_forever(0.02), daemon=True)
        self.thread.start()

    def request_topic(self, *_):
        self.asked.set()
        return self.answer

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.mark.parametrize(
    "answered",
    [
        7, None, "text", [], [1], [1, ""], [1, "", [], 4], {"a": 1}, [0, "no", []], [[], [], []], [1, "", 7],
        [1, "", ["UDPROS"]], [1, "", ["TCPROS"]], [1, "", ["TCPROS", "127.0.0.1"]], [1, "", ["TCPROS", 7, 7]],
        [1, "", ["TCPROS", "127.0.0.1", []]], [1, "", ["TCPROS", "127.0.0.1", "x"]],
        [1, "", ["TCPROS", "127.0.0.1", 70000]], [1, "", ["TCPROS", "127.0.0.1", -1]], [1, "", ["TCPROS", "", 80]],
        [1, "", ["TCPROS", "\n", 80]], [1, "", ["TCPROS", "127.0.0.1", {"a": 1}]], [1, "", {"TCPROS": 1}],
    ],
)  # fmt: skip
def test_what_a_publisher_answers_to_request_topic_is_checked(node, answered):
    node = node()
    node.subscribe("/clock", "rosgraph_msgs/Clock", lambda _: None)
    liar = Liar(answered)
    try:
        assert slave(node).publisherUpdate("/master", "/clock", [liar.uri])[0] == 1
        until(lambda: any("cannot be reached" in fault for fault in node.errors), "it is told")
        assert liar.asked.is_set()
        assert node.health()["dead_threads"] == {}
        assert node.health()["internal_faults"] == 0
        assert node.subscriptions["/clock"].connections == {}
    finally:
        liar.close()


@pytest.mark.parametrize(
    "publishers",
    [7, "http://127.0.0.1:1/", {"a": 1}, [7], [[]], [["a"]], [{"a": []}], [None], ["a"] * 1001, ["x" * 1001], ["\n"]],
)
def test_an_update_of_publishers_is_checked(node, publishers):
    node = node()
    node.subscribe("/clock", "rosgraph_msgs/Clock", lambda _: None)
    server = xmlrpc.client.ServerProxy(node.uri, allow_none=True)
    assert server.publisherUpdate("/master", "/clock", publishers)[0] == -1
    assert any("publisherUpdate" in fault for fault in node.errors)
    until(lambda: node.threads.alive and not node.master.work.qsize())
    assert node.health()["dead_threads"] == {}


@pytest.mark.parametrize("uri", ["", "x", "http://", "https://127.0.0.1/", "http://[::1", "http://127.0.0.1:99999/"])
def test_a_publisher_at_no_address_of_http_is_told(node, uri):
    node = node()
    node.subscribe("/clock", "rosgraph_msgs/Clock", lambda _: None)
    slave(node).publisherUpdate("/master", "/clock", [uri])
    until(lambda: any("cannot be reached" in fault for fault in node.errors), "it is told")
    assert node.health()["dead_threads"] == {}
    assert node.health()["internal_faults"] == 0


@pytest.mark.usefixtures("fast_heartbeat")
def test_a_publisher_that_never_answers_its_header_is_closed_and_tried_again(node, master, monkeypatch):
    monkeypatch.setattr("pliant.ros.ros1.publishers.CLIENT_TIMEOUT_S", 0.1)
    node = node()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        liar = Liar([1, "", ["TCPROS", "127.0.0.1", silent.getsockname()[1]]])
        master.publishers["/clock"] = {"/silent": liar.uri}
        try:
            node.subscribe("/clock", "rosgraph_msgs/Clock", lambda _: None)
            silent.settimeout(30)
            with silent.accept()[0] as first:
                while first.recv(4096):
                    pass
            silent.accept()[0].close()
        finally:
            liar.close()


@pytest.mark.usefixtures("fast_heartbeat")
def test_a_client_that_says_nothing_is_closed(node, monkeypatch):
    monkeypatch.setattr("pliant.ros.ros1.publishers.CLIENT_TIMEOUT_S", 0.1)
    node = node()
    with socket.create_connection(("127.0.0.1", node.tcp_port), timeout=30) as sock:
        assert sock.recv(1) == b""


def test_only_so_many_connections_are_taken(node, monkeypatch):
    monkeypatch.setattr("pliant.ros.ros1.sockets.MAX_CONNECTIONS", 3)
    node = node()
    crowd = [socket.create_connection(("127.0.0.1", node.tcp_port), timeout=30) for _ in range(4)]
    try:
        assert crowd[3].recv(1) == b""
        until(lambda: any("which is the most" in fault for fault in node.errors))
    finally:
        for sock in crowd:
            sock.close()


def test_rosnode_kill_ends_the_run(world):
    item = world()
    runner = threading.Thread(target=lambda: item.simulation.run(None), daemon=True)
    runner.start()
    until(lambda: item.simulation.time_ns > 0)
    assert slave(item.node).shutdown("/rosnode-7", "user request")[0] == 1
    runner.join(30)
    assert not runner.is_alive()
    assert any("/rosnode-7 asked this node to shut down (user request)" in f for f in item.node.errors)


def test_rosnode_kill_ends_also_a_loop_that_waits_for_its_controller(world):
    item = world(options=",sync=joint/equilibrium_position")
    runner = threading.Thread(target=lambda: item.simulation.run(None), daemon=True)
    runner.start()
    until(lambda: item.simulation.time_ns > 0)
    slave(item.node).shutdown("/rosnode-7", "user request")
    runner.join(30)
    assert not runner.is_alive()


def test_a_node_without_a_run_goes_on(node):
    node = node()
    slave(node).shutdown("/rosnode-7", "")
    assert "it goes on" in node.errors[-1]
    assert slave(node).getName("/x")[2] == "/server"


@pytest.fixture
def lasting(node):
    node = node()
    node.advertise("/clock", "rosgraph_msgs/Clock")
    node.serve("/count", "std_srvs/Trigger", lambda _: {})
    return node


HEADERS = st.dictionaries(
    st.sampled_from(["topic", "service", "md5sum", "type", "callerid", "persistent", "probe", "x"]),
    st.sampled_from(["/clock", "/count", "*", "1", "", "std_srvs/Trigger", "\x00"]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.one_of(st.binary(max_size=200), HEADERS.map(encode_header)), rest=st.binary(max_size=200))
def test_no_bytes_bring_the_node_down(lasting, start, rest):
    with socket.create_connection(("127.0.0.1", lasting.tcp_port), timeout=30) as sock:
        sock.sendall(start + rest)
        sock.shutdown(socket.SHUT_WR)
        while True:
            try:
                if not sock.recv(4096):
                    break
            except ConnectionError:
                break
    with connected(lasting, topic="/clock", md5sum="*") as (_, header):
        assert header["type"] == "rosgraph_msgs/Clock"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    method=st.sampled_from(["requestTopic", "publisherUpdate", "getBusInfo", "shutdown", "paramUpdate", "nonsense"]),
    arguments=st.lists(
        st.recursive(
            st.one_of(st.text("ab/\u00e9", max_size=5), st.integers(-9, 9), st.booleans()),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=5,
        ),
        max_size=4,
    ),
)
def test_no_call_brings_the_node_down(lasting, method, arguments):
    with suppress(xmlrpc.client.Fault, xmlrpc.client.ProtocolError):
        getattr(slave(lasting), method)(*arguments)
    assert slave(lasting).getName("/x")[2] == "/server"
