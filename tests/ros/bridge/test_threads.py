"""A thread of a wire that dies is logged, told, and kept in health()."""

import pytest
from ros2_clients import DOMAINS, until

from pliant.base.threads import Threads
from pliant.ros.bridge.outbox import Outbox
from pliant.ros.ros2 import Ros2Node


def fail():
    raise ZeroDivisionError("a fault of ours")


def test_a_writer_whose_wire_fails_is_a_dead_thread():
    threads = Threads()
    outbox = Outbox("writer-test", lambda sender, data: fail(), threads=threads)
    assert threads.dead == {}
    outbox.start()
    outbox.send(None, b"x")
    until(lambda: threads.dead)
    assert threads.dead == {"writer-test": "ZeroDivisionError: a fault of ours"}
    outbox.stop()


@pytest.mark.network
def test_the_health_of_a_node_names_its_dead_threads():
    node = Ros2Node("robot", domain=next(DOMAINS))
    node.start()
    try:
        assert node.health()["dead_threads"] == {}
        node.participant.on_tick = lambda now: fail()
        until(lambda: node.health()["dead_threads"])
        assert node.health()["dead_threads"] == {"ros2-rtps": "ZeroDivisionError: a fault of ours"}
    finally:
        node.stop()
