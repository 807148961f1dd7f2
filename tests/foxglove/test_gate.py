"""The gate before servers of WebSockets: a client that drips its request keeps no place."""

import contextlib
import socket

import pytest

from pliant.base.threads import Threads
from pliant.foxglove import gate

pytestmark = pytest.mark.network


def test_a_client_that_drips_its_request_is_sent_away(monkeypatch):
    monkeypatch.setattr(gate, "HEAD_TIMEOUT_S", 0.3)
    threads = Threads()
    listener = socket.create_server(("127.0.0.1", 0))
    made = gate.RequestGate(listener, ("127.0.0.1", 9), lambda headers: "", threads, "gate")
    sent, answer = 0, b""
    try:
        with socket.create_connection(listener.getsockname(), timeout=0.05) as client, contextlib.suppress(OSError):
            while not answer and sent < 1000:
                client.sendall(b"a")
                sent += 1
                with contextlib.suppress(TimeoutError):
                    answer = client.recv(100)
    finally:
        made.close()
        threads.join(5.0)
    assert answer.startswith(b"HTTP/1.1 403")
    assert sent < 1000
