"""A message for many receivers gives way to other sockets, and comes to each receiver in order and once."""

import socket
import threading

import pytest

from pliant.base.threads import Threads
from pliant.yarp.bridge import reactor as reactor_module
from pliant.yarp.bridge.messages import Publication
from pliant.yarp.bridge.port import MAX_AT_ONCE, Port
from pliant.yarp.bridge.reactor import Reactor
from pliant.yarp.wire import bottle, encode_bottle


class Receiver:
    def __init__(self):
        self.got = []

    def send(self, publication):
        self.got.append(publication.number)


class Calls:
    """A reactor whose calls are run one by one."""

    def __init__(self):
        self.waiting = []

    def call(self, action):
        self.waiting.append(action)


@pytest.mark.network
def test_a_message_for_many_receivers_comes_to_a_few_at_once_and_to_each_in_order():
    calls = Calls()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = Port("/many", calls, listener)
        receivers = [Receiver() for _ in range(3 * MAX_AT_ONCE + 1)]
        port.outputs = {f"/r{i}": receiver for i, receiver in enumerate(receivers)}
        port.active = True
        for _ in range(5):
            port.write(lambda dialect: encode_bottle(bottle(1), dialect))
        most = 0
        while calls.waiting:
            before = sum(len(receiver.got) for receiver in receivers)
            calls.waiting.pop(0)()
            most = max(most, sum(len(receiver.got) for receiver in receivers) - before)
    assert most == MAX_AT_ONCE
    assert all(receiver.got == [1, 2, 3, 4, 5] for receiver in receivers)


def test_a_socket_has_its_turn_while_calls_wait(monkeypatch):
    monkeypatch.setattr(reactor_module, "TURN_S", 0.0)
    order, threads, done = [], Threads(), threading.Event()
    reactor = Reactor(threads)
    near, far = socket.socketpair()
    with near, far:
        far.send(b"x")

        def ready(_):
            order.append("socket")
            reactor.forget(near)

        reactor.call(lambda: reactor.watch(near, reactor_module.READ, ready))
        for _ in range(3):
            reactor.call(lambda: order.append("call"))
        reactor.call(done.set)
        reactor.start()
        assert done.wait(10.0)
        reactor.close()
        threads.join(10.0)
    assert order == ["socket", "call", "call", "call"]


def test_a_message_is_framed_once_for_all_receivers_that_read_the_same_bytes():
    publication = Publication(lambda dialect: encode_bottle(bottle(1.0), dialect), "1 0.5")
    assert publication.payload(3) is publication.payload(3)
    assert publication.payload(3) != publication.payload(4)
